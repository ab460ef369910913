"""The games of a table: deal-only, the choice by rules, presets against the rules' table."""

import msgspec
import pytest
from helpers_primitives import FULL_PACK, HEARTS

from fairdeal.games import DealRules, HeartsRules, game_of
from fairdeal.games.deal import DealGame
from fairdeal.games.hearts import HeartsGame
from fairdeal.games.presets import HEARTS as PRESETS
from fairdeal.games.presets import S0


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


def test_the_presets_are_those_of_the_rules_page():
    """The column S0 of ../shared/rules/hearts.md, which `HEARTS` of the helpers spells out."""
    assert msgspec.to_builtins(S0) | {"pass_cycle": [1, 3, 2, 0]} == HEARTS
    assert PRESETS["hearts"] == S0
    shorter = msgspec.to_builtins(PRESETS["hearts-50"]) | {"pass_cycle": [1, 3, 2, 0]}
    assert shorter == HEARTS | {"end_score": 50}


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_preset_can_be_played_by_four(name):
    one = game_of(PRESETS[name], tuple(FULL_PACK), 4)
    assert one.begin(1).opening_card == "2C"
