"""A person at a terminal: what happens is printed line by line, what is typed is done.

Nothing is drawn over: it works on a dumb terminal and in a pipe. Lines that are typed count when
they are typed; lines of a pipe wait for the decision they are for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from fairdeal.errors import LocalProtocolError
from fairdeal.play.connection import Session
from fairdeal.play.draw import HELP, Look
from fairdeal.play.keyboard import Command, Lines, MoveError, at_any_time, command
from fairdeal.play.player import Act, HandName, Player, Told
from fairdeal.play.stream import Clock, TableState
from fairdeal.report import screen
from fairdeal.report.harmless import harmless

Asked = tuple[HandName | None, int, str]


class Terminal:
    """A `Front` for a person."""

    def __init__(self, tell: Callable[[Told], None], lines: Lines, look: Look) -> None:
        self.act = tell
        self._lines = lines
        self._look = look
        self._session: Session | None = None
        self._hand: HandName | None = None
        self._shown = 0
        self._table: TableState | None = None
        self._asked: Asked | None = None
        self._clock: Clock | None = None
        self._until = 0.0
        self._leaving = False
        self._wake = asyncio.Event()

    # -- what happens --

    def changed(self) -> None:
        """Show what is new, and ask if something is to be decided."""
        if self._session is None:
            return
        player = self._session.player
        fresh = self._note_clock(player)
        self._show_news(player)
        turn = player.turn
        asked = None if turn is None or player.seat is None else self._now(player, turn)
        if asked is not None and asked != self._asked:
            screen.show(self._look.table(player, self._seconds()))
        elif asked is not None and fresh and (left := self._seconds()) is not None:
            _say(f"({max(0, round(left))} s left)")
        self._asked = asked
        self._wake.set()

    def _now(self, player: Player, turn: str) -> Asked:
        return player.hand, player.seat.hand.since if player.seat else 0, turn

    def _note_clock(self, player: Player) -> bool:
        """Whether the server has just said how much time is left."""
        if player.clock is self._clock:
            return False
        self._clock = player.clock
        if player.clock is None:
            return False
        self._until = asyncio.get_running_loop().time() + player.clock.left_ms / 1000
        return True

    def _seconds(self) -> float | None:
        if self._clock is None:
            return None
        return self._until - asyncio.get_running_loop().time()

    def _show_news(self, player: Player) -> None:
        seat = player.seat
        if seat is None:
            if player.table is not None and player.table != self._table:
                self._table = player.table
                screen.show(self._look.waiting(player.table, player.number))
            return
        if player.hand != self._hand:
            self._hand, self._shown = player.hand, 0
        entries = seat.log.entries[self._shown :]
        self._shown = len(seat.log)
        for entry in entries:
            screen.show(self._look.news(seat, entry))

    # -- what is typed --

    async def play(self, session: Session) -> None:
        """Until `quit`, or the end of input: of a pipe, once something more is to be decided."""
        self._session = session
        self.changed()
        while True:
            text = await self._lines.next()
            if not self._lines.typed and (text is None or not at_any_time(text)):
                await self._due(session.player)
            if text is None:
                break
            try:
                if await self._line(text):
                    break
            except (MoveError, LocalProtocolError) as error:
                _say(str(error))
        _say(f"your seat is kept and its clock runs; back to it: fairdeal play {session.home.url}")

    async def _due(self, player: Player) -> None:
        while player.turn is None:
            self._wake.clear()
            await self._wake.wait()

    async def _line(self, text: str) -> bool:
        """Do what a line says; whether that was to quit."""
        player = self._player
        wanted = command(text, self._cards())
        self._leaving = self._leaving and wanted.kind == "leave"
        if wanted.kind == "quit":
            return True
        if wanted.kind == "help":
            screen.show([screen.line(row) for row in HELP])
        elif wanted.kind == "look":
            screen.show(self._look.table(player, self._seconds()))
        else:
            await self._do(wanted)
        return False

    async def _do(self, wanted: Command) -> None:
        if self._session is None:
            return
        acts = self._acts(wanted)
        await self._session.do(acts)

    def _acts(self, wanted: Command) -> list[Act]:
        player = self._player
        if wanted.kind == "expel":
            return player.expel(wanted.seat)
        if wanted.kind == "leave":
            return self._leave(player)
        if wanted.kind in ("add", "subtract"):
            return player.choose("add" if wanted.kind == "add" else "subtract")
        if player.turn == "pass":
            return player.pass_cards(wanted.cards)
        if player.turn != "play":
            raise MoveError("it is not your turn")
        if len(wanted.cards) != 1:
            raise MoveError("expected one card")
        if player.seat is not None and wanted.cards[0] not in player.seat.legal():
            raise MoveError("that card may not be played now; those in [brackets] may")
        return player.play(wanted.cards[0])

    def _leave(self, player: Player) -> list[Act]:
        if self._lines.typed and not self._leaving:
            self._leaving = True
            _say("a bot takes your seat for good: type leave again to leave")
            return []
        return player.leave()

    @property
    def _player(self) -> Player:
        if self._session is None:
            raise MoveError("there is no table yet")
        return self._session.player

    def _cards(self) -> tuple[str, ...]:
        seat = self._player.seat
        return seat.cards if seat is not None else ()


def _say(text: str) -> None:
    lines: Iterable[screen.Line] = [screen.line(harmless(text))]
    screen.show(lines)
