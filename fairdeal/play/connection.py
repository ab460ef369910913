"""The connection to a live table: login, acts in their order, and again after it is lost.

A `Session` drives a `Player`: it stores before it sends, connects again with growing pauses for as
long as the game is not over, and follows a table to another process. What happens is told to a
`Front`, which shows it and decides. The extra `play` brings `websockets`.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import deque
from typing import Final, Protocol

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from fairdeal.errors import MalformedError, RemoteProtocolError
from fairdeal.play.address import Address, AddressError, UnreachableError, moved, reason
from fairdeal.play.player import Act, Copy, Gone, Notice, Over, Player, Send, Told
from fairdeal.play.records import Folder
from fairdeal.play.stream import MAX_FRAME, RefusedError

#: a table of another process: the address is the reason of the close
MOVED: Final = 4307
_NOT_FOUND: Final = (404, 410)
#: after how many failures in a row people are told
_TOLD: Final = 2


class Pace:
    """How patient a session is, in seconds; tests are less so."""

    quiet: float = 0.3  # after the last frame, before a new seat's first word
    first: float = 0.25  # before connecting again, doubled each time
    longest: float = 15.0
    timeout: float = 10.0
    ping: float = 20.0
    frames: int = 15  # a second, at most
    refusals: int = 8  # in a row, or ways to other processes, before giving up


class Front(Protocol):
    """Whoever shows the table and decides at it."""

    def act(self, act: Told) -> None:
        """Something happened: a hand ended, a notice, the end of the game."""

    def changed(self) -> None:
        """Something at the table may have changed."""


class Session:
    """A player's way through one game, over as many connections as it takes."""

    def __init__(
        self, player: Player, folder: Folder, here: Address, front: Front, pace: Pace | None = None
    ) -> None:
        self.player = player
        self.here = here
        #: that the table is there no more, in words; empty while it is
        self.ended = ""
        #: by which address the user came
        self.home = here
        self._server = here.server
        self._folder = folder
        self._front = front
        self._pace = pace or Pace()
        self._wire: ClientConnection | None = None
        self._times: deque[float] = deque(maxlen=self._pace.frames)
        self._welcomed = False
        self._failures = 0
        self._refusals = 0
        self._moves = 0

    async def run(self) -> None:
        """Until the game is over or this player gone.

        Raises UnreachableError if it never got in, RefusedError and StreamError for what the server
        answers, RemoteProtocolError and MalformedError for what it must not say, FileError.
        """
        while not self.ended:
            news = self.player.news
            try:
                await self._connection()
            except InvalidStatus as error:
                self._rejected(error)
            except RefusedError:
                self._refusals += 1
                if not self._welcomed or self._refusals >= self._pace.refusals:
                    raise
            except (OSError, WebSocketException) as error:
                if not self._welcomed:
                    raise UnreachableError(
                        f"cannot connect to {self.here.url}: {reason(error)}"
                    ) from error
                self.here = self.home  # whoever has the table now is known there
            self._wire = None
            if self.player.news > news:
                self._failures = self._refusals = self._moves = 0
            if not self.ended:
                await self._pause()

    async def do(self, acts: list[Act]) -> None:
        """Do what the player said, in its order: store, then send, then tell.

        What cannot be sent now is said again over the next connection.
        """
        for act in acts:
            if isinstance(act, Send):
                await self._send(act)
            elif isinstance(act, Copy):
                self._folder.keep_copy(act.hand, act.log)
            else:
                self._front.act(act)
                if isinstance(act, Over):
                    self.ended = "the game is over"
                elif isinstance(act, Gone):
                    self.ended = act.text

    # -- one connection --

    async def _connection(self) -> None:
        pace = self._pace
        async with connect(
            self.here.socket,
            max_size=MAX_FRAME,
            open_timeout=pace.timeout,
            close_timeout=1,
            ping_interval=pace.ping,
            ping_timeout=pace.ping,
        ) as wire:
            self._wire = wire
            self.player.connected()
            try:
                await self._converse(wire)
            except ConnectionClosed as error:
                self._closed(error)

    async def _converse(self, wire: ClientConnection) -> None:
        """Frame by frame; what is refused is kept as evidence, and ends it all."""
        player = self.player
        while not self.ended:
            frame = await self._next(wire)
            if frame is None:
                await self.do(player.idle())
                continue
            try:
                acts = player.hear(frame)
            except (RemoteProtocolError, MalformedError):
                self._keep(frame)
                raise
            self._pin()
            self._welcomed = self._welcomed or player.seated
            self._front.changed()
            await self.do(acts)

    async def _next(self, wire: ClientConnection) -> str | bytes | None:
        """The next frame; None if a held word may go. Raises TimeoutError if no stream begins."""
        held = self.player.holds
        limit = self._pace.quiet if held else None if self.player.seated else self._pace.timeout
        coming = asyncio.ensure_future(wire.recv())
        coming.add_done_callback(_looked_at)
        try:
            await asyncio.wait({coming}, timeout=limit)
            if coming.done():
                return coming.result()
        finally:
            coming.cancel()
        if not held:
            raise TimeoutError("the server says nothing")
        return None

    async def _send(self, act: Send) -> None:
        if act.hand is not None and act.record is not None:
            self._folder.keep_record(act.hand, act.record)
        wire = self._wire
        if wire is None:
            return
        now = asyncio.get_running_loop().time
        if len(self._times) == self._pace.frames:
            await asyncio.sleep(max(0.0, self._times[0] + 1 - now()))
        self._times.append(now())
        with contextlib.suppress(ConnectionClosed):  # whoever reads next finds it closed
            await wire.send(act.text)

    def _pin(self) -> None:
        """The key of the first use, or another one that the user named since."""
        key = self.player.server_key
        if key is not None and self._folder.pinned(self._server) != key:
            self._folder.pin(self._server, key)

    def _keep(self, frame: str | bytes) -> None:
        hand = self.player.hand
        if hand is None:
            return
        raw = frame.encode("utf-8", "surrogatepass") if isinstance(frame, str) else frame
        self._folder.keep_refused(hand, raw)
        for act in self.player.stop():
            if isinstance(act, Copy):
                self._folder.keep_copy(act.hand, act.log)

    # -- its end --

    def _closed(self, error: ConnectionClosed) -> None:
        close = error.rcvd
        if close is not None and close.code == MOVED:
            self._moves += 1
            if self._moves > self._pace.refusals and not self._welcomed:
                raise AddressError(f"{self._server}: redirected too often")
            # with growing pauses: one that died has its tables a while yet, and is named
            self.here = moved(self.here, close.reason)
        elif self.player.leaving:
            self.ended = "you left the table"
        else:
            raise error

    def _rejected(self, error: InvalidStatus) -> None:
        status = error.response.status_code
        if status in _NOT_FOUND:
            raise AddressError(f"{self.here.server} has no table {self.here.table}") from error
        if not self._welcomed:
            text = f"cannot connect to {self.here.url}: the server answers {status}"
            raise UnreachableError(text) from error
        self.here = self.home

    async def _pause(self) -> None:
        """Longer each time, and never quite the same: not all come back in one moment."""
        pace = self._pace
        wait = min(pace.longest, pace.first * 2**self._failures)
        if self._failures == _TOLD and self._welcomed:
            self._front.act(Notice("the connection is lost: trying again"))
        self._failures = min(self._failures + 1, 30)
        await asyncio.sleep(wait * (0.5 + secrets.randbelow(1000) / 2000))


def _looked_at(done: asyncio.Future[str | bytes]) -> None:
    """Whoever is cancelled meanwhile has nobody left to tell of a lost connection."""
    if not done.cancelled():
        done.exception()
