"""One connection's way out: frames in order, and nobody waits for whoever does not read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property

from fairdeal.server.wire import Put, text_frames

Send = Callable[[str], Awaitable[None]]
Close = Callable[[int, str], Awaitable[None]]

OVER = 1000
TOO_SLOW = 1008
GOING_AWAY = 1012


class Frames:
    """Frames for any number of connections, encoded once."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts

    @cached_property
    def encoded(self) -> bytes:
        """As they go over the wire."""
        return text_frames(self.texts)


class Line:
    """A person's or a spectator's connection."""

    __slots__ = ("_bytes", "_end", "_frames", "_limit", "_more", "_put", "seat")

    def __init__(self, seat: int | None, limit: int, put: Put | None = None) -> None:
        """`limit` is how many characters may wait; a hand's whole log may always.

        With `put` frames go out at once and wait there; without it they wait here for `pump`.
        """
        self.seat = seat
        self._limit = limit
        self._put = put
        self._frames: deque[str] = deque()
        self._bytes = 0
        self._more = asyncio.Event()
        self._end: tuple[int, str] | None = None

    def send(self, *frames: str) -> None:
        """Send frames to this connection alone; never waits."""
        self.share(Frames(frames))

    def share(self, frames: Frames) -> None:
        """Send frames that others get too; never waits."""
        if self._end is not None:
            return
        if self._put is not None:
            self._bytes = self._put(frames.encoded)
        else:
            self._frames.extend(frames.texts)
            self._bytes += sum(map(len, frames.texts))
            self._more.set()
        if self._bytes > self._limit:
            self._frames.clear()
            self.end(TOO_SLOW, "too much waits to be read")

    def greet(self, frames: list[str]) -> None:
        """What a connection begins with, of whatever length."""
        self._limit += sum(map(len, frames))
        self.send(*frames)

    def end(self, code: int, reason: str) -> None:
        """Close after what waits."""
        if self._end is None:
            self._end = (code, reason)
            self._more.set()

    async def pump(self, send: Send, close: Close) -> None:
        """Send what waits here, until the end. Raises what the connection raises."""
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
