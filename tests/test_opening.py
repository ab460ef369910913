"""What a box or an opening must hold (spec section 5.3)."""

import json

import pytest
from helpers_primitives import FULL_PACK, fixed, framed, jcs, sha
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal.messages import Cards
from fairdeal.opening import are_dealt, are_passed, cards_open, revealed_seed, sealed_cards
from fairdeal.sealing import public_hand_key, seal

DECK = tuple(FULL_PACK)
TWO_PACKS = DECK * 2

HAND = fixed("hand", size=32)
PRIVATE = fixed("hand key", size=32)
PUBLIC = public_hand_key(PRIVATE)
SEED = fixed("seed")
SALT = fixed("salt", size=32).hex()
PASSED = {"cards": ["2C", "QS"], "salt": SALT}


def box(plain, kind="reveal", recipient="server", sender="seat/1", hand=HAND, key=PUBLIC):
    return seal(plain, key, framed(f"fairdeal/v1/seal/{kind}", hand, recipient, sender)).hex()


def commitment(seed, seat="seat/1", hand=HAND):
    return sha("fairdeal/v1/commit", hand, seat, seed).hex()


def revealed(sealed, committed=None, seat="seat/1", key=PRIVATE, hand=HAND):
    committed = commitment(SEED) if committed is None else committed
    return revealed_seed(sealed, committed, hand_key=key, hand_id=hand, seat=seat)


# -- reveals ---------------------------------------------------------------------------------------------


def test_a_reveal_opens():
    assert revealed(box(SEED)) == SEED


@pytest.mark.parametrize("size", [0, 32, 63, 65, 128])
def test_a_seed_is_64_bytes_even_if_the_commitment_is_to_another_length(size):
    short = (SEED * 2)[:size]
    assert revealed(box(short), commitment(short)) is None


def test_a_reveal_that_opens_another_commitment():
    assert revealed(box(SEED), commitment(fixed("seed", 1))) is None
    assert revealed(box(SEED), commitment(SEED, "seat/2")) is None
    assert revealed(box(SEED), commitment(SEED, hand=fixed("hand", 1, 32))) is None


def test_a_reveal_that_was_sealed_otherwise():
    assert revealed(box(SEED, kind="pass")) is None
    assert revealed(box(SEED, sender="seat/2")) is None
    assert revealed(box(SEED, recipient="seat/1")) is None
    assert revealed(box(SEED, hand=fixed("hand", 1, 32))) is None
    assert revealed(box(SEED, key=public_hand_key(fixed("hand key", 1, 32)))) is None
    assert revealed(box(SEED), key=fixed("hand key", 1, 32)) is None


@pytest.mark.parametrize("sealed", ["00", "ab" * 48, "ff" * 112])
def test_a_reveal_that_is_no_box(sealed):
    assert revealed(sealed) is None


# -- cards in boxes ---------------------------------------------------------------------------------------


def opened(plain, **how):
    sealed = box(plain, **({"kind": "pass"} | how))
    return sealed_cards(
        sealed, kind="pass", hand_key=PRIVATE, hand_id=HAND, recipient="server", sender="seat/1"
    )


def test_cards_open():
    assert opened(jcs(PASSED)) == Cards(cards=("2C", "QS"), salt=SALT)
    assert opened(jcs({"cards": [], "salt": SALT})) == Cards(cards=(), salt=SALT)


def test_cards_that_were_sealed_otherwise():
    for how in (
        {"kind": "deal"},
        {"sender": "seat/0"},
        {"recipient": "seat/1"},
        {"hand": bytes(32)},
    ):
        assert opened(jcs(PASSED), **how) is None


@pytest.mark.parametrize(
    "plain",
    [
        b"",
        b"null",
        b"[]",
        b"\xff",
        b"[" * 10_000,
        json.dumps(PASSED).encode(),  # with blanks
        json.dumps(dict(reversed(PASSED.items())), separators=(",", ":")).encode(),
        jcs(PASSED) + b" ",
        b" " + jcs(PASSED),
        jcs(PASSED).replace(b"2C", b"\\u0032C"),
        jcs(PASSED).replace(b'"salt"', b'"salt":"' + SALT.encode() + b'","salt"'),
        jcs(PASSED | {"salt": SALT.upper()}),
        jcs(PASSED | {"salt": SALT[:-2]}),
        jcs(PASSED | {"salt": ""}),
        jcs(PASSED | {"more": 1}),
        jcs(PASSED | {"cards": "2CQS"}),
        jcs(PASSED | {"cards": ["2C", 1]}),
        jcs(PASSED | {"cards": [""]}),
        jcs(PASSED | {"cards": ["123456789"]}),
        jcs({"cards": ["2C"]}),
        jcs({"salt": SALT}),
    ],
    ids=lambda plain: ascii(plain[:40]),
)
def test_what_is_not_byte_for_byte_an_opening(plain):
    assert opened(plain) is None


@given(
    st.lists(
        st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=8),
        max_size=15,
    )
)
@settings(deadline=None, max_examples=40)
def test_any_cards_survive_the_box(cards):
    one = opened(jcs({"cards": cards, "salt": SALT}))
    assert (list(one.cards), one.salt) == (cards, SALT)


# -- card commitments --------------------------------------------------------------------------------------


def committed(cards, kind="deal", seat="seat/3", hand=HAND, salt=SALT):
    return sha(f"fairdeal/v1/cards/{kind}", hand, seat, "".join(cards), bytes.fromhex(salt)).hex()


def test_cards_open_their_commitment_and_no_other():
    cards = Cards(cards=("2C", "QS"), salt=SALT)

    def opens(made, kind="deal", hand_id=HAND, seat="seat/3"):
        return cards_open(cards, made, DECK, kind=kind, hand_id=hand_id, seat=seat)

    made = committed(["2C", "QS"])
    assert opens(made)
    assert not opens(made, kind="exchange")
    assert not opens(made, seat="seat/2")
    assert not opens(made, hand_id=bytes(32))
    assert not opens(committed(["QS", "2C"]))
    assert not opens(committed(["2C", "QS"], salt="00" * 32))
    assert not opens(committed(["2C"]))


def test_codes_are_committed_to_joined_so_only_codes_of_the_decks_length_open():
    """The same commitment fits 2C QS, 2CQS and 2 CQS; the deck says which is meant."""
    made = committed(["2C", "QS"])
    where = {"kind": "deal", "hand_id": HAND, "seat": "seat/3"}
    for cards in (["2CQS"], ["2", "CQS"], ["2CQ", "S"], list("2CQS")):
        assert committed(cards) == made
        assert not cards_open(Cards(cards=tuple(cards), salt=SALT), made, DECK, **where)
    assert cards_open(Cards(cards=tuple("2CQS"), salt=SALT), made, tuple("ABCDQS2"), **where)


def test_no_cards_open_a_commitment_to_none():
    where = {"kind": "pass", "hand_id": HAND, "seat": "seat/3"}
    assert cards_open(Cards(cards=(), salt=SALT), committed([], "pass"), DECK, **where)


# -- what can be a hand or a pass ----------------------------------------------------------------------------


def test_a_hand_is_so_many_cards_of_the_deck():
    assert are_dealt(FULL_PACK[:13], DECK, 4)
    assert are_dealt(FULL_PACK[13:0:-1], DECK, 4)  # in any order
    assert not are_dealt(FULL_PACK[:12], DECK, 4)
    assert not are_dealt(FULL_PACK[:14], DECK, 4)
    assert not are_dealt(["2C", *FULL_PACK[:12]], DECK, 4)  # one twice
    assert not are_dealt(["1C", *FULL_PACK[:12]], DECK, 4)
    assert are_dealt(FULL_PACK[:10], DECK, 5)  # the rest is the kitty
    assert are_dealt(["2C", "2C", *FULL_PACK[1:12]], TWO_PACKS, 8)
    assert not are_dealt(["2C", "2C", "2C", *FULL_PACK[1:11]], TWO_PACKS, 8)


def test_a_pass_is_so_many_cards_in_canonical_order():
    assert are_passed(["2C", "5D", "AS"], DECK, 3)
    assert not are_passed(["5D", "2C", "AS"], DECK, 3)
    assert not are_passed(["2C", "5D"], DECK, 3)
    assert not are_passed(["2C", "5D", "AS"], DECK, 2)
    assert not are_passed(["2C", "2C", "AS"], DECK, 3)
    assert not are_passed(["2C", "5D", "1S"], DECK, 3)
    assert are_passed(["2C", "2C", "AS"], TWO_PACKS, 3)
    assert are_passed((), DECK, 0)
