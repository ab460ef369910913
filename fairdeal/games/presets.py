"""Rules by name, for a server's developer and the command line; a transcript never names one."""

from __future__ import annotations

from typing import Final

import msgspec

from fairdeal.games.hearts import HeartsRules

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

HEARTS: Final = {
    "hearts": S0,
    "hearts-50": msgspec.structs.replace(S0, end_score=50),
}
