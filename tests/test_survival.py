"""The live table survives: what is killed, cut, full, silent or away costs nobody the hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fairdeal
from live import LONG, Player, Table, reviving, run, serving

#: entries of a hand of 52 cards with four people
WHOLE = 72
STEP = 1 if LONG else 6


def test_the_server_is_killed_after_every_entry(tmp_path: Path) -> None:
    async def test() -> None:
        left = set(range(0, WHOLE, STEP))
        async with serving(tmp_path) as server, reviving(server):
            table = Table(server)

            def kill(_: str, entry: fairdeal.Entry) -> None:
                if entry.seq in left and server.up.is_set():
                    left.remove(entry.seq)
                    server.kill()

            table.witness.on_entry.append(kill)
            async with table.playing(rules="hearts"):
                await table.witness.until(lambda: not left)
                await table.witness.until(table.played(len(table.witness.hands)))
            await table.check()
            assert server.kills == WHOLE // STEP
            print(server.starts, server.kills, len(table.witness.hands), table.witness.entries)

    run(test())
