"""The games a table can play. A new one is a module beside these and a line in each of these two."""

from __future__ import annotations

from typing import Union

from fairdeal.games.base import Game
from fairdeal.games.deal import DealGame, DealRules
from fairdeal.games.hearts import HeartsGame, HeartsRules

Rules = Union[HeartsRules, DealRules]


def game_of(rules: Rules, deck: tuple[str, ...], seats: int) -> Game:
    """The game of a table. Raises ValueError, with the reason, if the terms make no sense."""
    if isinstance(rules, HeartsRules):
        return HeartsGame(rules, deck, seats)
    return DealGame(rules, deck, seats)


__all__ = ["DealRules", "Game", "HeartsRules", "Rules", "game_of"]
