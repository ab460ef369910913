"""A policy at a person's seat: it decides with the client's own randomness.

It is nobody's bot by the log: the seat is a person's, its key is here, and what it decides is not
replayed by a verifier.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable

from fairdeal.errors import FairdealError
from fairdeal.games.base import Policy
from fairdeal.play.connection import Session
from fairdeal.play.player import Act, Player, Told


class PolicyError(FairdealError):
    """A policy that fails, or decides what may not be decided."""


class Robot:
    """A `Front` that decides by a policy, `think` seconds after it is asked."""

    def __init__(self, policy: Policy, think: float, tell: Callable[[Told], None]) -> None:
        """`tell` shows what happens."""
        self.act = tell
        self._policy = policy
        self._think = think
        self._wake = asyncio.Event()

    def changed(self) -> None:
        """Look at the table again."""
        self._wake.set()

    async def play(self, session: Session) -> None:
        """Decide whatever is asked, until cancelled. Raises PolicyError."""
        player = session.player
        while True:
            await self._wake.wait()
            self._wake.clear()
            if player.turn is not None:
                await asyncio.sleep(self._think)
                await session.do(self._decided(player))

    def _decided(self, player: Player) -> list[Act]:
        try:
            return player.decide(self._policy, word)
        except Exception as error:
            text = f"the policy fails: {type(error).__name__}: {error}"
            raise PolicyError(text) from error


def word() -> int:
    """16 bits of the system's randomness."""
    return secrets.randbelow(1 << 16)
