"""Every legal continuation of fixed deals, counted, as chess programs count their moves (perft).

`counts` are the ways to play the next 1, 2, 3 … cards; `points` are what each seat scores in all
whole hands together, where the count goes to the end. Two of the same card in a hand are one way.

The numbers are not from the code under test. `Position` below, written from the rules' text and
sharing nothing with it, gave them (`python tests/test_perft.py` prints them anew) and is held to
them here. For the cases marked `peer`, test_peers.py counts them a third time, with OpenSpiel.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import pytest
from helpers_primitives import FULL_PACK, HEARTS

from fairdeal.games.hearts import HeartsGame, HeartsRules, Tricks

ORDER = "23456789TJQKA"
FREE = {"first_lead": "left-of-dealer", "pass_cycle": [0]}
MARIA = FREE | {"card_points": {"QS": 13, "KS": 10, "AS": 7}, "moon": "none"}
TWO_PACKS = FREE | {"cancellation": True, "kitty": "first-trick"}
OMNIBUS = {"card_points": {"QS": 13, "JD": -10}}
NO_QUEEN: dict[str, Any] = {"card_points": {}}

Counts = tuple[int, ...]


class Case(NamedTuple):
    """A deal, and how many ways lead on from it."""

    name: str
    changes: dict[str, Any]
    hands: str
    counts: Counts
    points: Counts = ()
    #: what was played before the counting begins, from the whole deal
    plays: str = ""
    kitty: str = ""
    #: whether OpenSpiel can be given it
    peer: bool = False

    def cards(self) -> list[list[str]]:
        """The hands by seat."""
        return [hand.split() for hand in self.hands.split("/")]

    def rules(self) -> dict[str, Any]:
        """Every parameter."""
        return HEARTS | self.changes

    def deck(self) -> tuple[str, ...]:
        """All cards dealt, as a pack is ordered."""
        every = [card for hand in self.cards() for card in hand] + self.kitty.split()
        return tuple(sorted(every, key=FULL_PACK.index))


CASES: list[Case] = [
    Case(
        "S0, from the first card",
        {},
        (
            "8C 9C 2D 8D KD TS QS KS 7H 8H 9H QH AH / "
            "3C 4C 3D 4D 7D 9D TD 2S 4S 5S 7S 5H JH / "
            "2C 5C 6C TC QC AC JD AD 6S 8S 3H 4H TH / "
            "7C JC KC 5D 6D QD 3S 9S JS AS 2H 6H KH"
        ),
        (1, 3, 6, 12, 100, 296),
        peer=True,
    ),
    Case(
        "S0, from the first card of another deal",
        {},
        (
            "3C 6C QC TD QD KD AD 2S 7S 9S AS 3H 9H / "
            "2C 4C 9C 2D 3D 6D 7D 9D JD 6S 8S 4H JH / "
            "7C JC 8D 3S TS JS QS 2H 5H 6H 7H 8H TH / "
            "5C 8C TC KC AC 4D 5D 4S 5S KS QH KH AH"
        ),
        (1, 2, 10, 30, 252, 808),
        peer=True,
    ),
    Case(
        "S0, the last four tricks",
        {},
        (
            "2C 3C JC 2D 6D 8D JD AD 9S KS AS 3H 7H / "
            "4C 8C 9C TC 3S 7S 8S TS QS 2H 9H TH QH / "
            "5C 7C QC 3D 4D TD QD KD 4S 5S JS 5H 8H / "
            "6C KC AC 5D 7D 9D 2S 6S 4H 6H JH KH AH"
        ),
        (4, 7, 18, 54, 162, 350, 849, 2199, 4398, 7716, 13440, 24736, 24736, 24736, 24736, 24736),
        (24792, 126832, 296, 491216),
        plays=(
            "2C TC 7C KC 6S AS TS 4S 8D 3S 3D 5D AD 2H 4D 9D JC 9C QC 6C "
            "5H KH 3H 9H 2S KS 8S JS 2D 7S KD 7D 8H 6H 7H QH"
        ),
        peer=True,
    ),
    Case(
        "S0, the last four tricks of another deal",
        {},
        (
            "2C 7C 8C TC KC 5D 6D 9D 7S JS QS KS TH / "
            "5C 6C 9C AC 4D 7D 8D TD KD 6S 3H 5H QH / "
            "3C 4C JC 2D JD QD AD 3S 5S 9S TS AS 9H / "
            "QC 3D 2S 4S 8S 2H 4H 6H 7H 8H JH KH AH"
        ),
        (4, 4, 16, 40, 120, 232, 642, 1638, 3276, 5388, 9768, 17088, 17088, 17088, 17088, 17088),
        (301296, 64208, 55200, 23584),
        plays=(
            "2C 6C 4C QC 4S KS 6S TS 7S 5C 9S 2S AD 3D 5D 7D 5S 8S QS QH "
            "7C AC 3C KH TD JD 2H 9D JC 6H 8C 9C QD AH 6D KD"
        ),
        peer=True,
    ),
    Case(
        "S0, the middle",
        {},
        (
            "3C 4C 6C 3D 5D 7D KD 7S 9S QS 2H 3H QH / "
            "5C QC 6D TD JD 4S 8S TS 6H 7H JH KH AH / "
            "8C 9C TC AC QD AD 2S 3S 6S JS KS AS 8H / "
            "2C 7C JC KC 2D 4D 8D 9D 5S 4H 5H 9H TH"
        ),
        (8, 16, 16, 88, 328),
        plays=("2C 3C 5C TC KS 5S 7S 8S 8C KC 6C QC JC 4C TS 9C 4D 5D JD AD 3S"),
        peer=True,
    ),
    Case(
        "queen breaks hearts",
        FREE | {"queen_breaks_hearts": True, "hearts_broken_by": "discard"},
        ("QS QH AH / QD KD AD / QC KC KS / AC AS KH"),
        (3, 9, 18, 54, 108, 216, 432, 864, 864, 864, 864, 864),
        (13824, 0, 13824, 13824),
    ),
    Case(
        "lead from points",
        FREE | {"lead_from_points": True, "first_trick_points": "allowed"},
        ("QS AS AH / QC AC KD / KS QH KH / KC QD AD"),
        (3, 9, 12, 36, 72, 144, 216, 432, 432, 432, 432, 432),
        (3840, 3456, 3840, 3456),
    ),
    Case(
        "Omnibus, the moon subtracts",
        FREE | OMNIBUS | {"moon": "shooter-subtracts"},
        ("JC QC KC KS / AD QS JH KH / AC QD KD AH / JD JS AS QH"),
        (1, 2, 2, 8, 8, 24, 48, 72, 120, 216, 336, 672, 672, 672, 672, 672),
        (-336, -5832, 816, 1080),
    ),
    Case(
        "three seats, who may choose",
        FREE | {"moon": "shooter-chooses"},
        ("KC AC AD KS / QC QD QH AH / KD QS AS KH"),
        (2, 3, 5, 15, 33, 74, 145, 254, 404, 404, 404, 404),
        (-3716, 78, 54),
    ),
    Case(
        "Black Maria of three",
        MARIA,
        ("QC KC QS KS / AC QD QH AH / KD AD AS KH"),
        (2, 4, 8, 12, 24, 72, 112, 192, 304, 304, 304, 304),
        (0, 1420, 8612),
    ),
    Case(
        "two packs, cancelled tricks, a kitty",
        TWO_PACKS | {"moon": "none"},
        ("QC QD KD AD / QC KC AS AH / KC AC QS QH"),
        (3, 5, 8, 17, 43, 69, 99, 186, 318, 318, 318, 318),
        (3504, 1548, 36),
        kitty="KS KH",
    ),
    Case(
        "five seats, no queen of spades",
        FREE | NO_QUEEN,
        ("QC QH AH / KC QD KS / JD KD AD / AC JH KH / JS QS AS"),
        (3, 9, 9, 27, 27, 54, 108, 216, 432, 864, 864, 864, 864, 864, 864),
        (2272, 2208, 1664, 2848, 2144),
    ),
]


# -- the rules again --------------------------------------------------------------------------------


class Position(NamedTuple):
    """All that the rules let the rest of a hand depend on. The dealer is seat 0: hand 1."""

    case: Case
    hands: tuple[tuple[str, ...], ...]
    turn: int
    opening: str | None
    table: tuple[str, ...] = ()
    first_trick: bool = True
    broken: bool = False
    #: cards of cancelled tricks
    pot: tuple[str, ...] = ()
    #: (seat, cards), for the first trick won to the last
    won: tuple[tuple[int, tuple[str, ...]], ...] = ()


def deal(case: Case) -> Position:
    """Before the first card; the lowest club in the deck leads, or who sits left of the dealer."""
    hands = tuple(map(tuple, case.cards()))
    if case.rules()["first_lead"] == "left-of-dealer":
        return Position(case, hands, 1, None)
    clubs = [rank + "C" for rank in ORDER if rank + "C" in case.deck()]
    return Position(case, hands, next(n for n in range(9) if clubs[0] in hands[n]), clubs[0])


def value(case: Case, card: str) -> int:
    """1 for each heart, beside the card points."""
    return 1 if card[1] == "H" else case.rules()["card_points"].get(card, 0)


def choices(at: Position) -> set[str]:
    """The cards that may be played next."""
    rules, hand = at.case.rules(), set(at.hands[at.turn])
    if at.opening:
        return {at.opening}
    if at.table:
        hand = {card for card in hand if card[1] == at.table[0][1]} or hand
    if at.first_trick and rules["first_trick_points"] == "forbidden":
        hand = {card for card in hand if value(at.case, card) <= 0} or hand
    if at.table or at.broken:
        return hand
    plain = {card for card in hand if card[1] != "H"}
    if plain == {"QS"} and rules["lead_from_points"]:
        return hand
    return plain or hand


def after(at: Position, card: str) -> Position:
    """One play later."""
    left = list(at.hands[at.turn])
    left.remove(card)
    hands = (*at.hands[: at.turn], tuple(left), *at.hands[at.turn + 1 :])
    turn = (at.turn + 1) % len(hands)
    at = at._replace(hands=hands, turn=turn, table=(*at.table, card), opening=None)
    return finished(at) if len(at.table) == len(hands) else at


def finished(at: Position) -> Position:
    """A full trick, whose leader has the turn again, goes to its winner or stays in the pot."""
    rules, table = at.case.rules(), at.table
    suit = table[0][1]
    for card in table:
        if card[1] == "H" and (rules["hearts_broken_by"] == "heart" or suit != "H"):
            at = at._replace(broken=True)
        if card == "QS" and rules["queen_breaks_hearts"]:
            at = at._replace(broken=True)
    # in one pack every card is there once, so cancelling needs no looking up in the rules
    able = [card for card in table if card[1] == suit and table.count(card) == 1]
    at = at._replace(table=(), first_trick=False, pot=at.pot + table)
    turn = at.turn
    if able:
        best = max(able, key=lambda card: ORDER.index(card[0]))
        turn = (at.turn + table.index(best)) % len(at.hands)
    if able or not any(at.hands):
        return at._replace(turn=turn, won=(*at.won, (turn, at.pot)), pot=())
    return at


def score(at: Position) -> Counts:
    """What a whole hand scores; who may choose what a moon means lets it subtract."""
    case, rules, seats = at.case, at.case.rules(), range(len(at.hands))
    taken = [[card for owner, cards in at.won if owner == seat for card in cards] for seat in seats]
    if rules["kitty"]:
        taken[at.won[0 if rules["kitty"] == "first-trick" else -1][0]] += case.kitty.split()
    points = [[value(case, card) for card in pile] for pile in taken]
    bad = [sum(n for n in pile if n > 0) for pile in points]
    good = [sum(n for n in pile if n < 0) for pile in points]
    whole = sum(bad)
    if whole in bad and rules["moon"] != "none":
        others, shooter = (whole, 0) if rules["moon"] == "others-add" else (0, -whole)
        bad = [shooter if taker == whole else others for taker in bad]
    return tuple(map(sum, zip(bad, good, strict=True)))


def by_the_text(case: Case, depth: int) -> tuple[Counts, Counts]:
    """Counts and points from `Position`."""
    at = deal(case)
    for card in case.plays.split():
        assert card in choices(at)
        at = after(at, card)
    counts, points = [0] * depth, [0] * len(at.hands)

    def walk(at: Position, level: int) -> None:
        if not any(at.hands):
            points[:] = map(sum, zip(points, score(at), strict=True))
        if level < depth:
            for card in choices(at):
                counts[level] += 1
                walk(after(at, card), level + 1)

    walk(at, 0)
    return tuple(counts), tuple(points)


# -- the code under test ----------------------------------------------------------------------------


class Walk:
    """The same by the code under test."""

    def __init__(self, case: Case) -> None:
        rules = msgspec.convert(case.rules(), HeartsRules)
        self.kitty = case.kitty.split()
        self.hands = case.cards()
        self.game = HeartsGame(rules, case.deck(), len(self.hands))
        self.counts = [0] * len(case.counts)
        self.points = [0] * len(self.hands)
        course = self.game.begin(1)
        for card in case.plays.split():
            seat = self.seat(course)
            assert course.breach(self.hands[seat], card) is None
            self.hands[seat].remove(card)
            course.play(seat, card)
        self.walk(course, 0)

    def seat(self, course: Tricks) -> int:
        """Who is on turn."""
        if course.turn is not None:
            return course.turn
        return next(n for n, hand in enumerate(self.hands) if course.opening_card in hand)

    def walk(self, course: Tricks, level: int) -> None:
        """Count what follows, to the depth of the stored counts."""
        if course.over:
            scored = self.game.points(course, self.kitty, "subtract")
            self.points = [old + new for old, new in zip(self.points, scored, strict=True)]
        if level == len(self.counts):
            return
        seat = self.seat(course)
        hand = self.hands[seat]
        for card in set(course.legal(hand)):
            self.counts[level] += 1
            hand.remove(card)
            then = course.copy()
            then.play(seat, card)
            self.walk(then, level + 1)
            hand.append(card)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_game_has_as_many_continuations(case: Case) -> None:
    found = Walk(case)
    assert tuple(found.counts) == case.counts
    assert tuple(found.points) == (case.points or (0,) * len(found.hands))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_counts_are_those_of_the_text(case: Case) -> None:
    assert by_the_text(case, len(case.counts)) == (
        case.counts,
        case.points or (0,) * len(case.cards()),
    )


if __name__ == "__main__":
    for one in CASES:
        print(one.name, *by_the_text(one, len(one.counts)))
