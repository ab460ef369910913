"""One connection's way out: frames in order, and nobody waits for whoever does not read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

Send = Callable[[str], Awaitable[None]]
Close = Callable[[int, str], Awaitable[None]]

OVER = 1000
TOO_SLOW = 1008
GOING_AWAY = 1012


class Line:
    """A person's or a spectator's connection."""

    __slots__ = ("_bytes", "_end", "_frames", "_limit", "_more", "seat")

    def __init__(self, seat: int | None, limit: int) -> None:
        """`limit` is how many characters may wait; a hand's whole log may always."""
        self.seat = seat
        self._limit = limit
        self._frames: deque[str] = deque()
        self._bytes = 0
        self._more = asyncio.Event()
        self._end: tuple[int, str] | None = None

    def send(self, frame: str) -> None:
        """Put a frame into the queue; never waits."""
        if self._end is None:
            self._frames.append(frame)
            self._bytes += len(frame)
            if self._bytes > self._limit:
                self._frames.clear()
                self.end(TOO_SLOW, "too much waits to be read")
            self._more.set()

    def greet(self, frames: list[str]) -> None:
        """What a connection begins with, of whatever length."""
        self._limit += sum(map(len, frames))
        for frame in frames:
            self.send(frame)

    def end(self, code: int, reason: str) -> None:
        """Close after what waits."""
        if self._end is None:
            self._end = (code, reason)
            self._more.set()

    async def pump(self, send: Send, close: Close) -> None:
        """Send until the end. Raises what the connection raises."""
        while True:
            while self._frames:
                frame = self._frames.popleft()
                await send(frame)
                self._bytes -= len(frame)
            if self._end is not None:
                await close(*self._end)
                return
            self._more.clear()
            await self._more.wait()
