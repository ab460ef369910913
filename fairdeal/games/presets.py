"""Tables by name, for a server's developer and the command line; a transcript never names one.

A preset is rules with the deck and the numbers of seats that they are for.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from fairdeal.games.hearts import HeartsRules


class Preset(NamedTuple):
    """A table to sit down at: the rules, the packs and what is removed from them, how many sit."""

    about: str
    rules: HeartsRules
    seats: tuple[int, ...] = (4,)
    packs: int = 1
    removed: tuple[str, ...] = ()


S0: Final = HeartsRules(
    cancellation=False,
    card_points={"QS": 13},
    end_score=100,
    exact_reset=None,
    first_lead="lowest-club",
    first_trick_points="forbidden",
    hearts_broken_by="heart",
    kitty=None,
    lead_from_points=False,
    moon="others-add",
    pass_count=3,
    pass_cycle=(1, 3, 2, 0),
    queen_breaks_hearts=False,
    tie="shared",
)


def _with(rules: HeartsRules, **changes: Any) -> HeartsRules:
    return msgspec.structs.replace(rules, **changes)


#: hearts are broken by one thrown on another suit alone; what most of the variants vary
DISCARD: Final = _with(S0, hearts_broken_by="discard")
_THREE: Final = _with(DISCARD, pass_cycle=(1, 2, 0))

PRESETS: Final = {
    "hearts": Preset("four players to 100; any heart played breaks hearts", S0),
    "hearts-50": Preset("the same to 50", _with(S0, end_score=50)),
    "hearts-discard": Preset("only a heart thrown on another suit breaks hearts", DISCARD),
    "hearts-last-hand": Preset(
        "hearts-discard, and of equal totals the lower last hand wins",
        _with(DISCARD, tie="last-hand"),
    ),
    "hearts-queen": Preset(
        "hearts-discard, and the queen of spades breaks hearts too",
        _with(DISCARD, queen_breaks_hearts=True),
    ),
    "hearts-points-at-once": Preset(
        "hearts-discard, with points allowed in the first trick",
        _with(DISCARD, first_trick_points="allowed"),
    ),
    "hearts-subtract": Preset(
        "hearts-discard, and whoever shoots the moon subtracts 26",
        _with(DISCARD, moon="shooter-subtracts"),
    ),
    "hearts-choose": Preset(
        "hearts-discard, and whoever shoots the moon chooses who pays",
        _with(DISCARD, moon="shooter-chooses"),
    ),
    "hearts-exact": Preset(
        "hearts-discard, and a total of exactly 100 becomes 50",
        _with(DISCARD, exact_reset=(100, 50)),
    ),
    "omnibus": Preset(
        "hearts-discard, and the jack of diamonds takes 10 off",
        _with(DISCARD, card_points={"QS": 13, "JD": -10}),
    ),
    "hearts-3": Preset("three players, without the 2 of diamonds", _THREE, (3,), 1, ("2D",)),
    "hearts-5": Preset(
        "five players, without the black and red 2 that do not divide; the 3 of clubs leads",
        _with(DISCARD, pass_cycle=(1, 4, 2, 3, 0)),
        (5,),
        1,
        ("2C", "2D"),
    ),
    "black-maria": Preset(
        "three players, without the 2 of clubs; otherwise as hearts-3", _THREE, (3,), 1, ("2C",)
    ),
    "black-maria-traditional": Preset(
        "three players: K♠ 10 and A♠ 7 too, passes to the right, left of the dealer leads, no moon",
        _with(
            DISCARD,
            card_points={"AS": 7, "KS": 10, "QS": 13},
            first_lead="left-of-dealer",
            moon="none",
            pass_cycle=(2,),
        ),
        (3,),
        1,
        ("2C",),
    ),
    "cancellation": Preset(
        "six to ten players with two packs; twins in a trick cancel; no pass, a kitty",
        _with(
            DISCARD,
            cancellation=True,
            first_lead="left-of-dealer",
            kitty="first-trick",
            pass_cycle=(0,),
        ),
        (6, 7, 8, 9, 10),
        2,
    ),
}
