"""How well the policies play: mean points a hand, over seeded hands by the bare rules.

    python tests/bench/policies.py [hands [table ...]]

Every line is one table: a seat's mean points against what the other seats took, and what a decision
of it costs. The seat of the odd one out goes round. No figure here fails anything; that every pass,
play and choice is in order is asserted, and `test_careful.py` plays with the same functions.
"""

import random
import sys
import time
from typing import NamedTuple

import msgspec

from fairdeal.bots import remaining
from fairdeal.cards import french_deck
from fairdeal.games.base import Policy, View
from fairdeal.games.hearts import HeartsGame
from fairdeal.games.policies import POLICIES
from fairdeal.games.presets import S0

HANDS = 600


def table(seats=4, removed=(), packs=1, **changes):
    return HeartsGame(msgspec.structs.replace(S0, **changes), french_deck(packs, removed), seats)


def two_packs(seats):
    return table(
        seats,
        (),
        2,
        pass_cycle=(0,),
        first_lead="left-of-dealer",
        cancellation=True,
        kitty="first-trick",
    )


_MARIA = {
    "card_points": {"QS": 13, "KS": 10, "AS": 7},
    "first_lead": "left-of-dealer",
    "moon": "none",
}
#: the tables of the rules' page, and those whose rules ask something else of a bot
TABLES = {
    "S0": table(),
    "S0, no pass": table(pass_cycle=(0,)),
    "S1": table(hearts_broken_by="discard", tie="last-hand"),
    "Omnibus": table(card_points={"QS": 13, "JD": -10}),
    "points at once": table(first_trick_points="allowed", queen_breaks_hearts=True),
    "hearts alone": table(card_points={}),
    "shooter chooses": table(moon="shooter-chooses"),
    "no moon": table(moon="none"),
    "one passed": table(pass_count=1),
    "ten passed": table(pass_count=10),
    "3 seats": table(3, ("2D",), pass_cycle=(1, 2, 0)),
    "5 seats": table(5, ("2D", "2C"), pass_cycle=(1, 4, 2, 3, 0)),
    "Black Maria": table(3, ("2C",), pass_cycle=(2,), **_MARIA),
    "Cancellation, 6": two_packs(6),
    "Cancellation, 8": two_packs(8),
    "Cancellation, 10": two_packs(10),
}  # fmt: skip


class Played(NamedTuple):
    """A hand's points by seat, how many decisions a seat took, and in how many seconds."""

    points: tuple[int, ...]
    decisions: list[int]
    seconds: list[float]


def play_hand(game: HeartsGame, hand: int, policies: list[Policy], rng: random.Random) -> Played:
    """One hand of pure rules; `rng` deals, and is every seat's stream of words."""
    seats = range(game.seats)
    decisions, seconds = [0] * game.seats, [0.0] * game.seats
    deck = list(game.deck)
    rng.shuffle(deck)
    size = len(deck) // game.seats
    held = [deck[seat * size : (seat + 1) * size] for seat in seats]
    passed: list[tuple[str, ...]] = [()] * game.seats
    received = list(passed)
    play = game.begin(hand)

    def ask(seat, what):
        view = View(game, seat, hand, tuple(held[seat]), passed[seat], received[seat], play)
        begun = time.perf_counter()
        answer = getattr(policies[seat], what)(view, lambda: rng.getrandbits(16))
        seconds[seat] += time.perf_counter() - begun
        decisions[seat] += 1
        return answer

    offset = game.pass_offset(hand)
    if offset:
        given = [tuple(ask(seat, "pass_cards")) for seat in seats]
        assert {len(cards) for cards in given} == {game.pass_count}
        for seat in seats:
            passed[seat], received[seat] = given[seat], given[(seat - offset) % game.seats]
            held[seat] = remaining(held[seat], passed[seat], received[seat])
    while not play.over:
        seat = play.turn
        if seat is None:
            seat = next(one for one in seats if play.opening_card in held[one])
        card = ask(seat, "play_card")
        assert card in play.legal(held[seat])
        held[seat].remove(card)
        play.play(seat, card)
    shooter = game.moon_shooter(play)
    moon = None if shooter is None else ask(shooter, "choose_moon")
    assert moon in (None, "add", "subtract")
    points = game.points(play, deck[game.seats * size :], moon)
    return Played(points, decisions, seconds)


def compare(game: HeartsGame, one: Policy, others: Policy, hands: int, seed="policies"):
    """Mean points of `one` and of each of the others; microseconds of a decision of `one`."""
    mine = theirs = decisions = 0
    seconds = 0.0
    for number in range(hands):
        seat = number % game.seats
        policies = [one if who == seat else others for who in range(game.seats)]
        played = play_hand(game, number + 1, policies, random.Random(f"{seed}/{number}"))
        mine += played.points[seat]
        theirs += sum(played.points) - played.points[seat]
        decisions += played.decisions[seat]
        seconds += played.seconds[seat]
    return mine / hands, theirs / hands / (game.seats - 1), 1e6 * seconds / decisions


def main() -> None:
    hands = int(sys.argv[1]) if len(sys.argv) > 1 else HANDS
    only = sys.argv[2:]
    pairs = [("careful/1", "low/1"), ("careful/1", "random/1"), ("low/1", "careful/1")]
    print(f"{hands} hands each: mean points of one seat / of each other seat (us a decision)")
    print(f"{'':18}" + "".join(f"{f'{one} among {others}':>32}" for one, others in pairs))
    for name, game in TABLES.items():
        if only and name not in only:
            continue
        cells = []
        for one, others in pairs:
            mine, theirs, cost = compare(game, POLICIES[one], POLICIES[others], hands)
            cells.append(f"{mine:.2f} / {theirs:.2f} ({cost:.0f})")
        print(f"{name:18}" + "".join(f"{cell:>32}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
