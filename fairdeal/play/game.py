"""One run of `fairdeal play`: find the table, sit down, play it to its end, and judge.

It joins what the other modules do; what is shown goes line by line to `report.screen`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, NamedTuple

from fairdeal.errors import MalformedError, RemoteProtocolError
from fairdeal.games.policies import POLICIES
from fairdeal.play.address import Address, find_table, open_table
from fairdeal.play.connection import Pace, Session
from fairdeal.play.draw import Look
from fairdeal.play.keyboard import Lines, in_thread, stdin_lines
from fairdeal.play.outcome import Outcome
from fairdeal.play.player import Ended, Gone, Over, Player, Told
from fairdeal.play.records import Folder
from fairdeal.play.robot import Robot
from fairdeal.play.stream import Free, RefusedError
from fairdeal.play.terminal import Terminal
from fairdeal.report import screen
from fairdeal.report.harmless import harmless

#: the exit code of a run that ended because the server's words were refused
REFUSED = 1


class Wish(NamedTuple):
    """What the user asked for; `terms` of a new table where `here` names none."""

    here: Address
    terms: dict[str, object] | None
    name: str | None
    server_key: bytes | None
    policy: str | None
    think: float = 0.0
    lines: Lines | None = None
    pace: Pace | None = None


def play(wish: Wish, folder: str) -> int:
    """The whole run; its exit code. Raises FairdealError, whose text is for the user."""
    return asyncio.run(Run(wish, Folder(folder)).whole())


class Run:
    """What one run knows."""

    def __init__(self, wish: Wish, folder: Folder) -> None:
        self.wish = wish
        self.folder = folder
        self.outcome = Outcome()
        self.key = folder.key()

    async def whole(self) -> int:
        """From the table's address to the exit code."""
        here = await self._table()
        with self.folder.alone(here.url):
            player = self._player(here)
            try:
                await self._play(player, here)
            except (RemoteProtocolError, MalformedError) as error:
                return self._refused(error)
            except RefusedError as error:
                if self.outcome.last is None and player.hand is None:
                    raise
                return self._refused(error)
        return self.outcome.exit_code()

    async def _table(self) -> Address:
        wish, here = self.wish, self.wish.here
        if wish.terms is not None:
            here = await in_thread(open_table, here.server, wish.terms)
            screen.show([screen.line("table: ", here.url)])
        found, state = await in_thread(find_table, here)
        if state.state == "over":
            raise RefusedError("over", f"the game at this table is over: see {found.url}/game")
        mine = self.key.public.hex()
        sits = any(getattr(one, "key", "") == mine for one in state.seats)
        free = any(isinstance(one, Free) for one in state.seats)
        if not sits and (not free or state.state != "waiting"):
            raise RefusedError("full", "no seat is free at this table")
        return found

    def _player(self, here: Address) -> Player:
        wish, known = self.wish, self.wish.server_key
        if known is None:
            known = self.folder.pinned(wish.here.server)
        name = wish.name or f"guest-{self.key.public.hex()[:4]}"
        return Player(
            self.key,
            table=here.table or "",
            name=name,
            recall=self.folder.record,
            server_key=known,
        )

    async def _play(self, player: Player, here: Address) -> None:
        wish = self.wish
        front: Robot | Terminal
        if wish.policy is not None:
            front = Robot(POLICIES[wish.policy], wish.think, self.tell)
        else:
            front = Terminal(self.tell, wish.lines or stdin_lines(), Look(screen.has_symbols()))
        session = Session(player, self.folder, here, front, wish.pace)
        await first_of(session.run(), front.play(session))

    # -- what is shown --

    def tell(self, act: Told) -> None:
        """Show what happened."""
        if isinstance(act, Ended):
            screen.show(self.outcome.hand(act))
        elif isinstance(act, Over):
            last = self.outcome.last
            copies = self.folder.copies(last.hand) if last else {}
            screen.show(self.outcome.game(copies, self.key.public))
        else:
            if isinstance(act, Gone):
                self.outcome.unfinished()
            screen.show([screen.line(harmless(act.text))])

    def _refused(self, error: Exception) -> int:
        if getattr(error, "code", "") == "pin-server-key":
            text = (
                f"the server at {self.wish.here.server} shows another key than before; if it has "
                "published a new one, say so with --server-key"
            )
        else:
            text = f"refused: {error}"
        screen.complain(f"fairdeal: {text}; your records are kept in {self.folder.path}")
        return REFUSED


async def first_of(*jobs: Coroutine[Any, Any, None]) -> None:
    """Run jobs until one ends, then cancel the others. Raises what that one raises."""
    tasks = [asyncio.ensure_future(one) for one in jobs]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in tasks:
            one.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for one in done:
        one.result()
