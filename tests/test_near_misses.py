"""Most accusations are mix-ups: a near miss is said to be what it is. And what a void gave up is shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from cheats import void_of
from click.testing import CliRunner
from helpers import Bend, Table

from fairdeal import verify
from fairdeal.cli import cli
from fairdeal.errors import MalformedError
from fairdeal.games import DealRules
from fairdeal.messages import Deck
from fairdeal.shuffle import hands_of


@pytest.fixture(scope="module")
def hand() -> Table:
    return Table(3, seed="near", house=True).run()


def said(table: Table, **pins: object) -> str:
    verdict = table.verify(**pins)
    return "; ".join(f"{one.expected} / {one.found}" for one in verdict.findings)


# -- keys ----------------------------------------------------------------------------------------


def test_the_key_of_another_seat(hand: Table) -> None:
    assert "(that is the key of seat/2 here)" in said(hand, seat_keys={0: hand.keys[2].public})


def test_the_server_s_key_at_a_seat_and_a_seat_s_at_the_server(hand: Table) -> None:
    assert "(that is the key of server here)" in said(hand, seat_keys={0: hand.server.public})
    assert "(that is the key of seat/1 here)" in said(hand, server_key=hand.keys[1].public)


def test_a_stranger_s_key_is_nobody_s(hand: Table) -> None:
    stranger = Table(1, seed="stranger").server.public
    assert "that is" not in said(hand, server_key=stranger, seat_keys={0: stranger})


# -- ends ----------------------------------------------------------------------------------------


def test_the_hand_id_is_no_end(hand: Table) -> None:
    assert "(that is the hand id, which pins no end)" in said(
        hand, head=hand.log.message_hashes[0].hex()
    )


def test_a_message_hash_is_no_entry_hash(hand: Table) -> None:
    told = said(hand, head=hand.log.message_hashes[-1].hex())
    assert f"(that is the message hash of entry {len(hand.log) - 1}, not its entry hash)" in told


def test_an_unknown_end_is_just_that(hand: Table) -> None:
    assert "that is" not in said(hand, head="77" * 32)


# -- seeds and records ---------------------------------------------------------------------------


def test_the_seed_of_another_shuffler(hand: Table) -> None:
    bend = hand.bend()
    close = bend.one("close")
    seeds = close.body.seeds
    close.change(seeds=seeds | {"house": seeds["seat/3"]})
    assert [one.found for one in bend.verify().findings] == ["that of seat/3 for house"]
    close.change(seeds=seeds | {"house": "77" * 64})
    assert [one.found for one in bend.verify().findings] == ["another for house"]


def test_the_record_of_another_hand_of_the_same_person(hand: Table) -> None:
    later = Table(3, seed="near", hand=2).run()
    with pytest.raises(MalformedError, match="another hand or attempt of the same person.*seat/1"):
        verify(later.log.encoded(), record=hand.stores[1])


def test_the_record_of_somebody_else(hand: Table) -> None:
    other = Table(3, seed="elsewhere").run()
    with pytest.raises(MalformedError, match="nobody here has its key"):
        verify(hand.log.encoded(), record=other.stores[1])


# -- the deck that was given up ------------------------------------------------------------------


@dataclass
class Voided:
    table: Table
    bend: Bend


@pytest.fixture
def voided() -> Voided:
    """The server gives up a deck that it has dealt."""
    table = Table(4, seed="given up").run(lambda t: t.hand.deal is not None)
    bend = table.bend()
    bend.insert(len(bend.drafts), "server", void_of(table, "operator"))
    return Voided(table, bend)


def test_the_deck_given_up_is_the_one_that_was_dealt(voided: Voided) -> None:
    deck = voided.bend.verify().given_up
    assert deck is not None
    hands, _ = hands_of(deck, 4)
    dealt = [voided.table.dealer.cards_of(seat) for seat in range(4)]
    assert [sorted(cards) for cards in hands] == [sorted(cards) for cards in dealt]


def test_without_a_seed_no_deck_is_known(voided: Voided) -> None:
    void = voided.bend.one("void")
    void.change(seeds={by: seed for by, seed in void.body.seeds.items() if by != "seat/2"})
    assert voided.bend.verify().given_up is None


def test_a_closed_hand_gave_nothing_up(hand: Table) -> None:
    assert hand.verify().given_up is None


def test_it_is_told_and_shown(voided: Voided, tmp_path: Path) -> None:
    path = tmp_path / "void.json"
    path.write_bytes(voided.bend.encoded())
    deck = voided.bend.verify().given_up
    assert deck is not None
    told = CliRunner().invoke(cli, ["verify", str(path)]).output
    assert " ".join(told.split()).count("given up the deck " + " ".join(deck[:12])) == 1
    shown = CliRunner().invoke(cli, ["show", str(path)]).output
    assert "Given up" in shown
    rows = shown[shown.index("Given up") :].splitlines()[1:5]
    assert [row.split()[0] for row in rows] == ["0", "1", "2", "3"]


def test_a_kitty_is_given_up_too(tmp_path: Path) -> None:
    """A deal-only table whose deck does not divide."""
    five = Deck(cards=("a", "b", "c", "d", "e"))
    table = Table(3, seed="kitty", rules=DealRules(), deck=five, seats=3)
    table.run(lambda t: t.hand.deal is not None)
    bend = table.bend()
    bend.cut(bend.place(bend.one("deal")) + 1)
    bend.insert(len(bend.drafts), "server", void_of(table, "operator"))
    path = tmp_path / "void.json"
    path.write_bytes(bend.encoded())
    shown = CliRunner().invoke(cli, ["show", str(path)]).output
    assert "kitty" in shown[shown.index("Given up") :]
