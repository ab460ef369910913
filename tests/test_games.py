"""The games of a table: deal-only, the choice by rules, presets against the rules' table."""

import random

import msgspec
import pytest
from helpers_primitives import FULL_PACK, HEARTS

from fairdeal import simulate, verify
from fairdeal.cards import french_deck
from fairdeal.games import DealRules, HeartsRules, game_of
from fairdeal.games.deal import DealGame
from fairdeal.games.hearts import HeartsGame
from fairdeal.games.presets import PRESETS, S0


def test_the_rules_choose_the_game():
    deck = tuple(FULL_PACK)
    hearts = game_of(msgspec.convert(HEARTS, HeartsRules), deck, 4)
    deal = game_of(DealRules(), deck, 4)
    assert isinstance(hearts, HeartsGame)
    assert isinstance(deal, DealGame)
    assert (hearts.plays, deal.plays) == (True, False)
    for one in (hearts, deal):
        assert (one.deck, one.seats) == (deck, 4)


def test_terms_that_make_no_sense_are_refused_with_the_reason():
    with pytest.raises(ValueError, match="at least 3 seats"):
        game_of(msgspec.convert(HEARTS, HeartsRules), tuple(FULL_PACK), 2)
    with pytest.raises(ValueError, match="1 cards cannot be dealt to 2 seats"):
        game_of(DealRules(), ("a",), 2)


def test_a_deal_only_table_deals_and_nothing_more():
    one = DealGame(DealRules(), ("a", "b"), 2)
    assert [one.pass_offset(hand) for hand in range(1, 5)] == [0, 0, 0, 0]
    assert one.pass_count == 0
    assert one.moon_shooter(object()) is None
    assert one.points(object(), ("a",), None) == ()
    assert one.totals((), ()) == ()
    assert one.outcome((), (), {1}) is None
    assert one.opening_problem(1, []) is None
    assert one.opening_problem(1, [0, 0]) == "a deal-only hand keeps no scores"
    with pytest.raises(ValueError, match="no play"):
        one.begin(1)


def test_deal_rules_are_nothing_but_their_name():
    assert msgspec.json.encode(DealRules()) == b'{"game":"deal"}'
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"game": "deal", "more": 1}, DealRules)


#: every preset as the rules' page has it: what differs from `HEARTS` there, the deck's cards, a hand's
DISCARDED = {"hearts_broken_by": "discard"}
PAGE = {
    "hearts": ({}, 52, {4: 13}),
    "hearts-50": ({"end_score": 50}, 52, {4: 13}),
    "hearts-discard": (DISCARDED, 52, {4: 13}),
    "hearts-last-hand": (DISCARDED | {"tie": "last-hand"}, 52, {4: 13}),
    "hearts-queen": (DISCARDED | {"queen_breaks_hearts": True}, 52, {4: 13}),
    "hearts-points-at-once": (DISCARDED | {"first_trick_points": "allowed"}, 52, {4: 13}),
    "hearts-subtract": (DISCARDED | {"moon": "shooter-subtracts"}, 52, {4: 13}),
    "hearts-choose": (DISCARDED | {"moon": "shooter-chooses"}, 52, {4: 13}),
    "hearts-exact": (DISCARDED | {"exact_reset": [100, 50]}, 52, {4: 13}),
    "omnibus": (DISCARDED | {"card_points": {"QS": 13, "JD": -10}}, 52, {4: 13}),
    "hearts-3": (DISCARDED | {"pass_cycle": [1, 2, 0]}, 51, {3: 17}),
    "hearts-5": (DISCARDED | {"pass_cycle": [1, 4, 2, 3, 0]}, 50, {5: 10}),
    "black-maria": (DISCARDED | {"pass_cycle": [1, 2, 0]}, 51, {3: 17}),
    "black-maria-traditional": (
        DISCARDED
        | {"card_points": {"QS": 13, "KS": 10, "AS": 7}, "first_lead": "left-of-dealer"}
        | {"moon": "none", "pass_cycle": [2]},
        51,
        {3: 17},
    ),
    "cancellation": (
        DISCARDED
        | {"cancellation": True, "first_lead": "left-of-dealer"}
        | {"kitty": "first-trick", "pass_cycle": [0]},
        104,
        {6: 17, 7: 14, 8: 13, 9: 11, 10: 10},
    ),
}
#: the lowest club, where it leads
LEADS = {
    "hearts-5": "3C",
    "black-maria": "3C",
    "black-maria-traditional": None,
    "cancellation": None,
}
EACH = [(name, seats) for name, (_, _, hands) in PAGE.items() for seats in hands]


def test_the_presets_are_those_of_the_rules_page():
    assert PRESETS.keys() == PAGE.keys()
    for name, (changed, _, hands) in PAGE.items():
        rules = msgspec.to_builtins(PRESETS[name].rules)
        assert msgspec.json.decode(msgspec.json.encode(rules)) == HEARTS | changed, name
        assert PRESETS[name].seats == tuple(hands)
    assert PRESETS["hearts"].rules == S0


@pytest.mark.parametrize(("name", "seats"), EACH)
def test_a_preset_deals_and_leads_as_the_rules_page_says(name, seats):
    preset = PRESETS[name]
    deck = french_deck(preset.packs, preset.removed)
    one = game_of(preset.rules, deck, seats)
    assert (len(deck), len(deck) // seats) == (PAGE[name][1], PAGE[name][2][seats])
    assert one.begin(1).opening_card == LEADS.get(name, "2C")


@pytest.mark.parametrize(("name", "seats"), EACH)
def test_a_hand_of_every_preset_is_played_and_verifies(name, seats):
    """By real dealers and seats; half of them bots, so that policies are replayed."""
    rng = random.Random(f"{name} {seats}")
    table = simulate.preset_table(
        PRESETS[name], seats=seats, people=seats // 2, entropy=rng.randbytes
    )
    played = simulate.play_hand(table, at=1, entropy=rng.randbytes, policy="careful/1")
    verdict = verify(played.log.encoded())
    assert (verdict.status, verdict.findings) == ("valid", ())
    hand = played.dealer.hand
    assert len(hand.plays) == PAGE[name][2][seats] * seats
