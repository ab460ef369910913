"""Commitments (spec section 2.5), against frames written by hand and hashlib."""

import hashlib

import pytest
from helpers_primitives import fixed
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal.commitment import cards_commitment, opens, seed_commitment

HAND = fixed("hand", size=32)
SEED = fixed("seed")
SALT = fixed("salt", size=32)


def test_a_seed_commitment_by_hand():
    for name in (b"house", b"seat/0", b"seat/9"):
        frame = (
            b"\x12fairdeal/v1/commit"
             b"\x00\x00\x00\x20" + HAND
            + b"\x00\x00\x00" + bytes([len(name)]) + name
            + b"\x00\x00\x00\x40" + SEED
        )  # fmt: skip
        assert seed_commitment(HAND, name.decode(), SEED) == hashlib.sha256(frame).digest()


@pytest.mark.parametrize("kind", ["deal", "pass", "exchange"])
def test_a_card_commitment_by_hand(kind):
    tag = f"fairdeal/v1/cards/{kind}".encode()
    frame = (
        bytes([len(tag)]) + tag
        + b"\x00\x00\x00\x20" + HAND
        + b"\x00\x00\x00\x06seat/2"
        + b"\x00\x00\x00\x06QS2CTH"
        + b"\x00\x00\x00\x20" + SALT
    )  # fmt: skip
    made = cards_commitment(kind, HAND, "seat/2", ["QS", "2C", "TH"], SALT)
    assert made == hashlib.sha256(frame).digest()


def test_no_cards_are_committed_to_as_an_empty_field():
    tag = b"fairdeal/v1/cards/pass"
    frame = bytes([len(tag)]) + tag + b"\x00\x00\x00\x20" + HAND
    frame += b"\x00\x00\x00\x06seat/2" + bytes(4) + b"\x00\x00\x00\x20" + SALT
    assert cards_commitment("pass", HAND, "seat/2", (), SALT) == hashlib.sha256(frame).digest()


def test_everything_is_bound():
    made = seed_commitment(HAND, "seat/0", SEED)
    assert made != seed_commitment(HAND, "seat/1", SEED)  # a copied one opens nowhere else
    assert made != seed_commitment(HAND, "house", SEED)
    assert made != seed_commitment(fixed("hand", 1, 32), "seat/0", SEED)
    assert made != seed_commitment(HAND, "seat/0", fixed("seed", 1))
    cards = cards_commitment("deal", HAND, "seat/0", ["2C", "3C"], SALT)
    assert cards != cards_commitment("pass", HAND, "seat/0", ["2C", "3C"], SALT)
    assert cards != cards_commitment("deal", fixed("hand", 1, 32), "seat/0", ["2C", "3C"], SALT)
    assert cards != cards_commitment("deal", HAND, "seat/1", ["2C", "3C"], SALT)
    assert cards != cards_commitment("deal", HAND, "seat/0", ["3C", "2C"], SALT)
    assert cards != cards_commitment("deal", HAND, "seat/0", ["2C", "3C"], fixed("salt", 1, 32))


@given(st.binary(max_size=32), st.binary(max_size=32))
@settings(deadline=None)
def test_opens_is_equality(one, other):
    assert opens(one, other) == (one == other)
    assert opens(one, bytes(one))
