"""The games a table can play. A new one is a module beside these and a line in both of these."""

from __future__ import annotations

from functools import lru_cache
from typing import Union

import msgspec

from fairdeal.encoding import encode
from fairdeal.games.base import Game
from fairdeal.games.deal import DealGame, DealRules
from fairdeal.games.hearts import HeartsGame, HeartsRules

Rules = Union[HeartsRules, DealRules]


def game_of(rules: Rules, deck: tuple[str, ...], seats: int) -> Game:
    """The game of a table. Raises ValueError, with the reason, if the terms make no sense."""
    return _game_of(encode(rules), type(rules), deck, seats)


@lru_cache(maxsize=64)
def _game_of(rules: bytes, kind: type[Rules], deck: tuple[str, ...], seats: int) -> Game:
    """A game is never changed, and who judges many hands meets few: so each is made once."""
    read = msgspec.json.decode(rules, type=kind)
    if isinstance(read, HeartsRules):
        return HeartsGame(read, deck, seats)
    return DealGame(read, deck, seats)


__all__ = ["DealRules", "Game", "HeartsRules", "Rules", "game_of"]
