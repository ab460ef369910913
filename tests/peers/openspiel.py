"""Hearts held against OpenSpiel's: `python tests/peers/openspiel.py [--hands 2000] [--seed 1]`.

Needs the package `open_spiel`. Both play the same random hands, for every set of OpenSpiel's options
that our rules can express: 64 sets. At every play the seat on turn and its legal cards must be equal;
after every trick who won it, the points so far and whether hearts are broken; at the end the points.
Who won the last trick OpenSpiel does not say: that shows in the points, if the trick has any.
A line for each set counts the hands, the plays compared and the differences, and how often the hands
came to what chance alone seldom brings: moons, a seat with nothing but points in the first trick
(`exempt`), a leader with nothing but hearts and the queen of spades, unbroken (`cornered`).

How OpenSpiel (2.0.2) differs, and what was made of it:

* Its hand stands alone: it draws the pass's direction, and the two of clubs says who leads. Ours are
  by the hand's number. So two numbers are used: for the pass the one whose offset in S0's cycle is
  the direction drawn (without `pass_cards` always the fourth), and for the play, where anybody may
  lead (see `can_lead_any_club`), the one that gives the lead to the two of clubs.
* A seat passes its three cards one by one; ours takes them at once.
* Its returns are 26 less the points.
* It breaks hearts as soon as the card is played, ours when the trick is over. Only a leader is bound
  by it, so no legal card depends on that, and it is compared between tricks.
* It bans from the first trick the hearts and the queen of spades by name, ours what scores against
  its taker: with the jack of diamonds at -10 the same cards.
* `can_lead_any_club`: whoever holds the two of clubs leads with any club. Ours is either that card
  itself, or any card at all from the left of the dealer. The latter is used, and of our legal cards
  for this one play only the clubs are compared and played.
* What it has no option for is always as in our S0: `moon` others-add, `hearts_broken_by` heart.

Left out, since our rules cannot say so:

* `must_break_hearts` false: hearts may be led from the start. Ours always have to be broken.
* `avoid_all_tricks_bonus` true: -5 for who took no trick, unless the moon was shot. It changes no
  legal card, and we have no such score.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from typing import Any

import msgspec

from fairdeal.cards import RANKS, french_deck
from fairdeal.games.hearts import HeartsGame, HeartsRules
from fairdeal.games.presets import S0

#: OpenSpiel's number of a card is 4 × rank + suit
CODES = tuple(rank + suit for rank in RANKS for suit in "CDHS")
NUMBER = {code: number for number, code in enumerate(CODES)}
POINTS = frozenset(code for code in CODES if code[1] == "H" or code == "QS")
NO_PASS = 0
#: by OpenSpiel's number of a direction, which is the offset: the hand of S0's cycle that passes so
HAND = {1: 1, 3: 2, 2: 3, NO_PASS: 4}
OPTIONS = (
    "pass_cards",
    "no_pts_on_first_trick",
    "can_lead_any_club",
    "jd_bonus",
    "qs_breaks_hearts",
    "can_lead_hearts_instead_of_qs",
)
#: the options that our rules cannot express, each with the one value they can
FIXED = {"must_break_hearts": True, "avoid_all_tricks_bonus": False}

Options = dict[str, bool]
#: a state of OpenSpiel's, which has no types
State = Any


@dataclass
class Tally:
    """What the hands of one option set came to."""

    hands: int = 0
    plays: int = 0
    moons: int = 0
    exempt: int = 0
    cornered: int = 0
    differences: list[str] = field(default_factory=list)


class Different(Exception):
    """The two do not agree; the rest of the hand would only follow from that."""


def option_sets() -> list[Options]:
    """Every set of options that our rules can express."""
    values = itertools.product((True, False), repeat=len(OPTIONS))
    return [dict(zip(OPTIONS, each, strict=True)) | FIXED for each in values]


def rules_of(options: Options) -> HeartsRules:
    """Our rules for a set of options."""
    return msgspec.structs.replace(
        S0,
        card_points={"QS": 13, "JD": -10} if options["jd_bonus"] else {"QS": 13},
        first_lead="left-of-dealer" if options["can_lead_any_club"] else "lowest-club",
        first_trick_points="forbidden" if options["no_pts_on_first_trick"] else "allowed",
        lead_from_points=options["can_lead_hearts_instead_of_qs"],
        queen_breaks_hearts=options["qs_breaks_hearts"],
    )


def label(options: Options) -> str:
    """The options that are on, by name."""
    return " ".join(name for name in OPTIONS if options[name]) or "none"


def peer(options: Options) -> Any:
    """OpenSpiel's game. Imported late: the option sets can be listed where it is not installed."""
    return import_module("pyspiel").load_game("hearts", options)


def compare(
    options: Options, hands: int, seed: object = 1, rules: HeartsRules | None = None
) -> Tally:
    """Play hands by both; `rules` other than the set's own show that a difference is found."""
    ours = HeartsGame(rules or rules_of(options), french_deck(1), 4)
    theirs = peer(options)
    tally = Tally()
    for number in range(hands):
        rng = random.Random(f"{seed} {label(options)} {number}")
        state = theirs.new_initial_state()
        try:
            _Hand(ours, state, rng, tally).run(any_club=options["can_lead_any_club"])
        except Different as difference:
            done = " ".join(CODES[action] for action in state.history()[53:])
            tally.differences.append(f"hand {number} ({done}): {difference}")
        tally.hands += 1
    return tally


def continuations(hands: Sequence[Sequence[str]], plays: Sequence[str], depth: int) -> list[int]:
    """How many ways OpenSpiel has to go on from a deal and plays, for 1 to `depth` more plays.

    Its options are those of S0, whatever scores: that changes no legal card in a hand of its cards.
    """
    options = dict.fromkeys(OPTIONS, False) | FIXED | {"no_pts_on_first_trick": True}
    state = peer(options).new_initial_state()
    state.apply_action(NO_PASS)
    for card in [*itertools.chain(*zip(*hands, strict=True)), *plays]:
        state.apply_action(NUMBER[card])
    counts = [0] * depth
    _count(state, counts, 0)
    return counts


def _count(state: State, counts: list[int], level: int) -> None:
    actions = state.legal_actions()
    counts[level] += len(actions)
    if level + 1 < len(counts):
        for action in actions:
            _count(state.child(action), counts, level + 1)


def _same(what: str, ours: object, theirs: object) -> None:
    if ours != theirs:
        raise Different(f"{what}: {ours} by fairdeal, {theirs} by OpenSpiel")


def deal(rng: random.Random) -> list[set[str]]:
    """Four hands.

    A quarter of the deals are plain. In the others suits lie together, or one seat gets most of the
    points, or mostly high cards: so that voids, hands of nothing but points and moons occur.
    """
    pack = list(CODES)
    rng.shuffle(pack)
    kind = rng.randrange(4)
    if kind == 1:
        pack.sort(key=lambda card: "CDHS".index(card[1]) + rng.random() * 3)
    elif kind == 2:
        some = rng.sample(sorted(POINTS), rng.randrange(9, 14))
        pack = some + [card for card in pack if card not in some]
    elif kind == 3:
        pack.sort(key=lambda card: -RANKS.index(card[0]) - rng.random() * 4)
        rest = pack[13:]
        rng.shuffle(rest)
        pack[13:] = rest
    hands = [set(pack[n * 13 : n * 13 + 13]) for n in range(4)]
    rng.shuffle(hands)
    return hands


def _strength(hand: set[str]) -> int:
    return sum(RANKS.index(card[0]) for card in hand)


class _Hand:
    """One hand played by both."""

    def __init__(self, game: HeartsGame, state: State, rng: random.Random, tally: Tally) -> None:
        self.game, self.state, self.rng, self.tally = game, state, rng, tally
        self.hands = deal(rng)

    def run(self, *, any_club: bool) -> None:
        """Raises Different."""
        self._before_play()
        leader = next(seat for seat in range(4) if "2C" in self.hands[seat])
        # a number that leaves the lead to that seat; where the two of clubs leads it says nothing
        self.course = self.game.begin(leader or 4)
        self.points = [0] * 4
        self.shooter = self._shooter()
        while not self.course.over:
            first = not self.course.tricks and not self.course.trick
            self._play(leader, only_clubs=first and any_club)
            if not self.course.trick:
                self._after_trick()
        self._end()

    def _before_play(self) -> None:
        """The direction, the deal one card each in turn, the pass."""
        direction = self.rng.choice(self.state.legal_actions())
        offset = self.game.pass_offset(HAND[direction])
        self.state.apply_action(direction)
        for row in zip(*map(sorted, self.hands), strict=True):
            for card in row:
                self.state.apply_action(NUMBER[card])
        _same("the pass", offset != 0, direction != NO_PASS)
        if offset:
            self._pass(offset)

    def _pass(self, offset: int) -> None:
        """Three random cards from each, handed on by our offset."""
        given = [self._give(seat) for seat in range(4)]
        for seat in range(4):
            self.hands[seat] -= given[seat]
        for seat in range(4):
            self.hands[(seat + offset) % 4] |= given[seat]

    def _give(self, seat: int) -> set[str]:
        cards: set[str] = set()
        for _ in range(self.game.pass_count):
            _same("who passes", seat, self.state.current_player())
            may = {CODES[action] for action in self.state.legal_actions()}
            _same("what can be passed", self.hands[seat] - cards, may)
            card = self.rng.choice(sorted(may))
            self.state.apply_action(NUMBER[card])
            cards.add(card)
        return cards

    def _shooter(self) -> int | None:
        """In half of the hands the strongest plays high and the others low, so that moons occur."""
        if self.rng.random() < 0.5:
            return None
        return max(range(4), key=lambda seat: _strength(self.hands[seat]))

    def _play(self, leader: int, *, only_clubs: bool) -> None:
        """One play, after both have said whose turn it is and what is legal."""
        seat = leader if self.course.turn is None else self.course.turn
        _same("turn", seat, self.state.current_player())
        held = self.hands[seat]
        legal = sorted(self.course.legal(held), key=NUMBER.__getitem__)
        if only_clubs:
            legal = [card for card in legal if card[1] == "C"]
        theirs = [CODES[action] for action in sorted(self.state.legal_actions())]
        _same(f"legal cards of seat {seat}", " ".join(legal), " ".join(theirs))
        self._note(held)
        if self.shooter is None:
            card = self.rng.choice(legal)
        else:
            card = legal[-1 if seat == self.shooter else 0]
        held.discard(card)
        self.course.play(seat, card)
        self.state.apply_action(NUMBER[card])

    def _note(self, held: set[str]) -> None:
        """Count what seldom occurs, before a play from these cards."""
        self.tally.plays += 1
        if self.course.trick:
            self.tally.exempt += not self.course.tricks and held <= POINTS
        elif not self.course.broken:
            self.tally.cornered += held <= POINTS and "QS" in held and len(held) > 1

    def _after_trick(self) -> None:
        winner, cards = self.course.taken[-1]
        self.points[winner] += sum(self.game.values.get(card, 0) for card in cards)
        if self.course.over:  # OpenSpiel's points have the moon in them already
            return
        _same("who won the trick", winner, self.state.current_player())
        _same("points so far", self.points, [self.state.points(seat) for seat in range(4)])
        _same("hearts broken", self.course.broken, self.state.hearts_broken())

    def _end(self) -> None:
        _same("the end", True, self.state.is_terminal())
        points = list(self.game.points(self.course, (), None))
        _same("points", points, [26 - value for value in self.state.returns()])
        self.tally.moons += points != self.points


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each option set; 1 if there was any difference."""
    parser = argparse.ArgumentParser(description="Hearts held against OpenSpiel's.")
    parser.add_argument("--hands", type=int, default=2000, help="for each option set")
    parser.add_argument("--seed", default="1")
    chosen = parser.parse_args(arguments)
    print(f"open_spiel {version('open_spiel')}, seed {chosen.seed}")
    print("hands    plays  moons exempt cornered differences  options that are on")
    found = 0
    for options in option_sets():
        tally = compare(options, chosen.hands, chosen.seed)
        found += len(tally.differences)
        print(
            f"{tally.hands:5} {tally.plays:8} {tally.moons:6} {tally.exempt:6} {tally.cornered:8}"
            f" {len(tally.differences):11}  {label(options)}",
            flush=True,
        )
        for difference in tally.differences[:3]:
            print(f"    {difference}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
