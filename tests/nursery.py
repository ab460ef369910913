"""`fairdeal serve` for tests that kill it: forked from one process that has everything imported.

As a program it reads requests from the socket that is its standard input. A server is a child of
its own, killed as any process is; only its start is short. `faults` in a request let it kill itself
at an exact place, or let its database refuse writes while a file is there.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import psycopg  # noqa: F401 - the children have it
import uvicorn.protocols.http.auto
import uvicorn.protocols.websockets.auto  # noqa: F401 - as uvicorn finds them

from helpers import SHORT

from fairdeal.cli import main as command_line
from fairdeal.games.presets import PRESETS, S0, Preset
from fairdeal.server import serve  # noqa: F401
from fairdeal.server.database import Database
from fairdeal.server.lines import Line
from fairdeal.server.live import LiveTable
from fairdeal.server.store import Store, StoreError

#: forty cards and one heart: whoever takes it has shot the moon, and must choose
_ONE_HEART = tuple(f"{rank}H" for rank in "23456789TJQK")
MORE_PRESETS = {
    "quick": Preset("20 cards", msgspec.structs.replace(S0, end_score=14), (4,), 1, SHORT.removed),
    "choose": Preset(
        "40 cards, a moon in every hand",
        msgspec.structs.replace(
            S0, moon="shooter-chooses", card_points={}, end_score=1, pass_cycle=(0,)
        ),
        (4,),
        1,
        _ONE_HEART,
    ),
}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def install(faults: dict[str, Any]) -> None:
    """`die`: [where, n], the n-th time; `flags`: a folder in which ``full`` or ``read-only`` is."""
    where, n = faults.get("die", ("", 0))
    if where in ("before", "after"):
        die_at_write(where, n)
    elif where == "refuse":
        refuse_once(n)
    elif where == "between":
        die_between(n)
    if flags := faults.get("flags"):
        refuse_by(Path(flags))


def die_at_write(where: str, n: int) -> None:
    """Before or after the transaction of the n-th write: judged or stored, but not broadcast."""
    real, numbers = Store.write, itertools.count(1)

    def write(store: Store, writes: Any) -> Any:
        last = next(numbers) == n
        if last and where == "before":
            die()
        results = real(store, writes)
        if last:
            die()
        return results

    Store.write = write  # type: ignore[method-assign]


def refuse_once(n: int) -> None:
    """The n-th write fails for a reason that does not pass."""
    real, numbers = Store.write, itertools.count(1)

    def write(store: Store, writes: Any) -> Any:
        if next(numbers) == n:
            raise StoreError("the database refuses")
        return real(store, writes)

    Store.write = write  # type: ignore[method-assign]


def die_between(n: int) -> None:
    """In the n-th broadcast, when it has left to two connections: some have it, others do not."""
    real_broadcast, real_share = LiveTable._broadcast, Line.share
    broadcasts, shares = itertools.count(1), itertools.count(1)
    fatal: list[str] = []

    def broadcast(table: LiveTable, entries: Any, at: Any) -> None:
        if next(broadcasts) == n:
            fatal.append(f'"seq":{entries[0].seq},')
        real_broadcast(table, entries, at)

    def share(line: Line, frames: Any) -> None:
        real_share(line, frames)
        if fatal and fatal[0] in frames.texts[0] and next(shares) == 2:
            die()

    LiveTable._broadcast = broadcast  # type: ignore[method-assign]
    Line.share = share  # type: ignore[method-assign]


def refuse_by(folder: Path) -> None:
    """SQLite refuses to write while one of the two files is there, as on such a disk."""
    real = Database.writing

    @contextlib.contextmanager
    def writing(database: Database) -> Iterator[Any]:
        with real(database) as connection:
            if (folder / "full").exists():
                connection.exec_driver_sql("PRAGMA max_page_count=1")  # as many as there are
            else:
                connection.exec_driver_sql("PRAGMA max_page_count=1073741823")
            switch = "ON" if (folder / "read-only").exists() else "OFF"
            connection.exec_driver_sql(f"PRAGMA query_only={switch}")
            try:
                yield connection
            finally:  # with it no transaction that writes begins
                connection.exec_driver_sql("PRAGMA query_only=OFF")

    Database.writing = writing  # type: ignore[method-assign,assignment]


def serve_forked(control: socket.socket, fds: list[int], request: dict[str, Any]) -> None:
    """The child: its outputs are the pipe and the file that came with the request."""
    code = 70
    try:
        control.close()
        for number, fd in enumerate(fds, 1):
            os.dup2(fd, number)
            os.close(fd)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        PRESETS.update(MORE_PRESETS)
        install(request["faults"])
        sys.argv = ["fairdeal", "serve", *request["arguments"]]
        command_line()
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        sys.stdout.flush()
        os._exit(code)


def main() -> None:
    control = socket.socket(fileno=os.dup(0))
    while True:
        data, fds, *_ = socket.recv_fds(control, 65536, 2)
        if not data:
            return
        request = json.loads(data)
        if "wait" in request:
            _, status = os.waitpid(request["wait"], 0)
            control.send(json.dumps(os.waitstatus_to_exitcode(status)).encode())
        elif pid := os.fork():
            for fd in fds:
                os.close(fd)
            control.send(json.dumps(pid).encode())
        else:
            serve_forked(control, fds, request)


if __name__ == "__main__":
    main()
