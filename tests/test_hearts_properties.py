"""What holds for every table that Hearts can be played at, whatever its rules, deck and cards."""

from __future__ import annotations

import random
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal.cards import RANKS, french_deck
from fairdeal.games.hearts import HeartsGame, Tricks
from fairdeal.games.presets import PRESETS, S0

SEEDS = st.integers(min_value=0, max_value=2**32)
RULES = st.fixed_dictionaries(
    {
        "cancellation": st.booleans(),
        "card_points": st.sampled_from([{}, {"QS": 13}, {"QS": 13, "JD": -10}, {"QS": 13, "KS": 10, "AS": 7}]),
        "first_lead": st.sampled_from(["lowest-club", "left-of-dealer"]),
        "first_trick_points": st.sampled_from(["forbidden", "allowed"]),
        "hearts_broken_by": st.sampled_from(["heart", "discard"]),
        "kitty": st.sampled_from([None, "first-trick", "last-trick"]),
        "lead_from_points": st.booleans(),
        "moon": st.sampled_from(["others-add", "shooter-subtracts", "shooter-chooses", "none"]),
        "pass_count": st.integers(1, 4),
        "pass_cycle": st.sampled_from([(0,), (1, 2, 0), (1, 3, 2, 0)]),
        "queen_breaks_hearts": st.booleans(),
        "tie": st.sampled_from(["shared", "last-hand"]),
    }
)  # fmt: skip


def deal(game: HeartsGame, rng: random.Random) -> tuple[list[list[str]], list[str]]:
    """Each seat's cards, and the kitty."""
    pack = list(game.deck)
    rng.shuffle(pack)
    each = len(pack) // game.seats
    hands = [pack[n * each : (n + 1) * each] for n in range(game.seats)]
    return hands, pack[each * game.seats :]


def whose(course: Tricks, hands: list[list[str]]) -> int:
    if course.turn is not None:
        return course.turn
    return next(n for n, cards in enumerate(hands) if course.opening_card in cards)


def state(course: Tricks) -> dict[str, Any]:
    return {name: getattr(course, name) for name in Tricks.__slots__}


def play_through(game: HeartsGame, seed: int) -> None:
    """One hand at random; everything that must hold at each card and at the end."""
    rng = random.Random(seed)
    hands, kitty = deal(game, rng)
    held = [len(cards) for cards in hands]
    assert set(held) == {len(game.deck) // game.seats}
    if kitty and game.rules.first_lead == "lowest-club":
        raise AssertionError("the lowest club may lie in the kitty")
    number = rng.randrange(1, 9)
    course, said = game.begin(number), []
    while not course.over:
        seat = whose(course, hands)
        legal = course.legal(hands[seat])
        assert legal, "a seat on turn can always play"
        assert set(legal) <= set(hands[seat])
        assert all((course.breach(hands[seat], c) is None) == (c in legal) for c in hands[seat])
        card = rng.choice(legal)
        said.append((seat, card))
        hands[seat].remove(card)
        before = course.copy()
        course.play(seat, card)
        before.play(seat, card)
        assert state(before) == state(course), "a copy goes on as the course does"
    assert not any(hands)
    again = game.begin(number)
    for seat, card in said:
        again.play(seat, card)
    assert state(again) == state(course), "replayed, it is the same"
    assert sorted(c for pile in course.won(kitty) for c in pile) == sorted(game.deck)
    points_add_up(game, course, kitty)


def points_add_up(game: HeartsGame, course: Tricks, kitty: list[str]) -> None:
    """To the worth of all cards; a moon changes that as its rule says."""
    good = sum(v for v in (game.values.get(card, 0) for card in game.deck) if v < 0)
    takers = {
        n for n, pile in enumerate(course.won(kitty)) for c in pile if game.values.get(c, 0) > 0
    }
    for moon in ("add", "subtract"):
        expected = game.total
        if len(takers) == 1 and game.rules.moon != "none":
            adds = game.rules.moon == "others-add" or (
                game.rules.moon == "shooter-chooses" and moon == "add"
            )
            expected = game.total * (game.seats - 1) if adds else -game.total
        assert sum(game.points(course, kitty, moon)) == expected + good


@settings(max_examples=120, deadline=None, derandomize=True, database=None)
@given(RULES, st.integers(3, 10), st.integers(1, 2), st.integers(0, 3), SEEDS)
def test_any_rules_that_are_accepted(
    changes: dict[str, Any], seats: int, packs: int, gone: int, seed: int
) -> None:
    removed = [rank + suit for rank in RANKS for suit in "DCSH"][:gone]
    deck = tuple(card for card in french_deck(packs) if card not in removed)
    try:
        game = HeartsGame(msgspec.structs.replace(S0, **changes), deck, seats)
    except ValueError as error:
        assert str(error)
        return
    play_through(game, seed)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(SEEDS)
def test_every_preset_at_every_number_of_seats(seed: int) -> None:
    for preset in PRESETS.values():
        for seats in preset.seats:
            deck = tuple(c for c in french_deck(preset.packs) if c not in preset.removed)
            play_through(HeartsGame(preset.rules, deck, seats), seed)


def test_some_rules_are_accepted() -> None:
    """So that the first test is about something: it plays a good part of what it draws."""
    rng = random.Random(1)
    accepted = 0
    for _ in range(300):
        changes = {
            "kitty": rng.choice([None, "first-trick"]),
            "first_lead": rng.choice(["lowest-club", "left-of-dealer"]),
        }
        try:
            HeartsGame(
                msgspec.structs.replace(S0, pass_cycle=(0,), **changes),
                french_deck(1),
                rng.randrange(3, 8),
            )
        except ValueError:
            continue
        accepted += 1
    assert accepted > 60
