"""The public names, each from where it is said to be; and hands that one process plays."""

from __future__ import annotations

import random

import msgspec
import pytest
from test_dealer import CHOOSING, ONE_HEART

import fairdeal
from fairdeal import simulate, verify


def test_every_public_name_is_there() -> None:
    for name in fairdeal.__all__:
        one = getattr(fairdeal, name)
        assert one is not None
        assert (getattr(one, "__doc__", "") or "").strip(), name
    assert fairdeal.Dealer is __import__("fairdeal.dealer", fromlist=["Dealer"]).Dealer
    assert fairdeal.Seat is __import__("fairdeal.seat", fromlist=["Seat"]).Seat
    assert len(set(fairdeal.__all__)) == len(fairdeal.__all__)


def test_other_names_are_not() -> None:
    assert not hasattr(fairdeal, "Cheat")
    with pytest.raises(AttributeError, match="no attribute 'Deeler'"):
        _ = fairdeal.Deeler
    with pytest.raises(ImportError):
        from fairdeal import Croupier  # noqa: F401


def test_players_names_come_at_their_first_use() -> None:
    for name in ("Dealer", "Terms", "bot", "Seat", "Outgoing"):
        fairdeal.__dict__.pop(name, None)
        first = getattr(fairdeal, name)
        assert fairdeal.__dict__.get(name, first) is first


@pytest.mark.parametrize("people", [0, 4])
def test_simulated_hand_in_which_the_moon_is_chosen(people: int) -> None:
    entropy = random.Random(people).randbytes
    table = simulate.new_table(people, rules=CHOOSING, deck=ONE_HEART, entropy=entropy)
    played = simulate.play_hand(table, at=1, entropy=entropy)
    assert verify(played.log.encoded()).status == "valid"
    assert "choose" in {entry.message.type for entry in played.log.entries}
    for record in played.records.values():
        assert verify(played.log.encoded(), record=record).status == "valid"


def test_simulated_hands_go_on_to_a_new_game() -> None:
    entropy = random.Random(7).randbytes
    rules = msgspec.structs.replace(CHOOSING, end_score=1)
    table = simulate.new_table(1, rules=rules, deck=ONE_HEART, entropy=entropy)
    hands = list(simulate.play_hands(table, 3, at=1, entropy=entropy))
    assert all(verify(one.log.encoded()).status == "valid" for one in hands)
    games = [one.log.entries[0].message.body.game for one in hands]
    assert games[0] == "game-1"
    assert len(set(games)) > 1
    assert repr(hands[0]).startswith("PlayedHand(")
