"""Hearts against OpenSpiel's (tests/peers/openspiel.py says how, and where the two differ).

8 hands of each option set; 2,000 with FAIRDEAL_LONG.
"""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import msgspec
import pytest
from helpers_primitives import LONG
from peers.openspiel import (
    OPTIONS,
    Options,
    compare,
    continuations,
    label,
    main,
    option_sets,
    rules_of,
)
from test_perft import CASES, Case

MISSING = "OpenSpiel is not installed (pip install open_spiel)"
#: whatever OpenSpiel could be told of: one pack, whole hands, the two of clubs leads
SHARED = [case for case in CASES if case.peer]


@pytest.fixture(autouse=True)
def _peer() -> None:
    if importlib.util.find_spec("pyspiel") is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)


def options_with(**changes: bool) -> Options:
    """S0's options but for these."""
    wanted = dict.fromkeys(OPTIONS, False) | {"no_pts_on_first_trick": True} | changes
    return next(each for each in option_sets() if wanted.items() <= each.items())


@pytest.mark.parametrize("options", option_sets(), ids=label)
def test_both_play_the_same_hearts(options: Options) -> None:
    tally = compare(options, 2000 if LONG else 8)
    assert tally.differences == []
    assert tally.plays == 52 * tally.hands
    if LONG:
        assert min(tally.moons, tally.exempt, tally.cornered) > 0


def test_the_hands_come_to_what_is_rare() -> None:
    tally = compare(options_with(pass_cards=True), 400)
    assert min(tally.moons, tally.exempt, tally.cornered) > 0


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        ({}, {"pass_cycle": (0, 0, 0, 1)}),
        ({}, {"first_trick_points": "allowed"}),
        ({}, {"first_lead": "left-of-dealer"}),
        ({}, {"hearts_broken_by": "discard"}),
        ({}, {"queen_breaks_hearts": True}),
        ({}, {"lead_from_points": True}),
        ({}, {"moon": "none"}),
        ({}, {"moon": "shooter-subtracts"}),
        ({}, {"card_points": {"QS": 12}}),
        ({"pass_cards": True}, {"pass_cycle": (3, 1, 2, 0)}),
        ({"can_lead_any_club": True}, {"first_lead": "lowest-club"}),
        ({"jd_bonus": True}, {"card_points": {"QS": 13}}),
    ],
    ids=str,
)
def test_one_rule_otherwise_is_noticed(options: dict[str, bool], changes: dict[str, Any]) -> None:
    chosen = options_with(**options)
    other = msgspec.structs.replace(rules_of(chosen), **changes)
    assert compare(chosen, 600, rules=other).differences


@pytest.mark.parametrize("case", SHARED, ids=lambda case: case.name)
def test_both_count_the_same_continuations(case: Case) -> None:
    assert tuple(continuations(case.cards(), case.plays.split(), len(case.counts))) == case.counts


def test_the_command_prints_a_line_for_each_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--hands", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("open_spiel ")
    assert [line.split(maxsplit=6)[-1] for line in lines[2:]] == list(map(label, option_sets()))
