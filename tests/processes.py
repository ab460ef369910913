"""A live table's server as a process that can be killed, and seats that survive it.

`Server` is a `fairdeal serve` on a data folder and a port that stay; `Player` is a person's client
as a real one would be: it stores, then sends; it connects again by itself; what is not in its
records is lost when it is killed. `Witness` remembers every entry that any of them ever received.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

import websockets
from inside import Answer, Served, login

import fairdeal
from fairdeal.games.policies import POLICIES
from fairdeal.seat import Outgoing, Seat
from fairdeal.signing import SigningKey
from websockets.asyncio.client import ClientConnection

#: the form that takes minutes: every entry, not every sixth
LONG = bool(os.environ.get("FAIRDEAL_LONG"))
_RETRY = 0.02


def run(test: Coroutine[Any, Any, None], seconds: float = 60.0) -> None:
    """Run a test in a loop of its own, bounded."""

    async def bounded() -> None:
        async with asyncio.timeout(seconds * (10 if LONG else 1)):
            await test

    asyncio.run(bounded())


# -- the server ----------------------------------------------------------------------------------


class _Nursery:
    """The process from which servers are forked; one for all tests of a process."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program = Path(__file__).with_name("nursery.py")
        here = {"PYTHONPATH": str(program.parent.parent)}  # not another one that is installed
        self.process = subprocess.Popen(
            [sys.executable, program], stdin=theirs, env={**os.environ, **here}
        )
        self.lock = threading.Lock()
        theirs.close()
        atexit.register(self.end)

    def end(self) -> None:
        self.control.close()
        self.process.wait()

    def ask(self, request: dict[str, Any], fds: Sequence[int] = ()) -> int:
        with self.lock:
            socket.send_fds(self.control, [json.dumps(request).encode()], list(fds))
            return int(json.loads(self.control.recv(65536)))


@lru_cache(maxsize=1)
def nursery() -> _Nursery:
    return _Nursery()


class Server:
    """One process of a server, again and again; on the same folder and port."""

    def __init__(self, folder: Path, *arguments: str, key: Path | None = None) -> None:
        self.folder, self.arguments, self.port = folder, arguments, 0
        self.key_file = key
        self.base = ""
        self.key = b""
        self.pid = 0
        #: how often it was started, and how often killed
        self.starts = self.kills = 0
        #: set while it serves
        self.up = asyncio.Event()
        self._end: asyncio.Future[int] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    async def start(self, **faults: Any) -> None:
        """Start, and wait until it serves."""
        line, output = await asyncio.to_thread(self._start, faults)
        self._end = asyncio.ensure_future(asyncio.to_thread(self._reaped, self.pid, output))
        assert line.startswith("fairdeal serves at "), self.log()
        *_, self.base, _, _, _, key = line.split()
        self.port, self.key = int(self.base.rpartition(":")[2]), bytes.fromhex(key)
        self.starts += 1
        self.up.set()

    def _start(self, faults: dict[str, Any]) -> tuple[str, Any]:
        read, write = os.pipe()
        arguments = ["--data", str(self.folder), "--port", str(self.port), "--pause", "0"]
        if self.key_file:
            arguments += ["--key", str(self.key_file)]
        with (self.folder / "stderr").open("ab") as errors:
            request = {"arguments": [*arguments, *self.arguments], "faults": faults}
            self.pid = nursery().ask(request, [write, errors.fileno()])
        os.close(write)
        output = os.fdopen(read)
        return output.readline(), output

    @staticmethod
    def _reaped(pid: int, output: Any) -> int:
        with output:
            output.read()
        return nursery().ask({"wait": pid})

    @property
    def served(self) -> Served:
        return Served(None, self.base)  # type: ignore[arg-type]

    def log(self) -> str:
        return (self.folder / "stderr").read_text()

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Kill -9, at once. Nothing of it is awaited: `ended` does that."""
        self.up.clear()
        self.kills += number == signal.SIGKILL
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    async def ended(self) -> int:
        """Wait for its end; how it ended."""
        assert self._end
        code = await asyncio.shield(self._end)
        self.up.clear()
        return code

    @property
    def alive(self) -> bool:
        return self._end is not None and not self._end.done()

    async def stop(self) -> int:
        self.kill(signal.SIGTERM)
        return await self.ended()

    async def close(self) -> None:
        """The end of a test: it ends cleanly, and never had a fault of its own."""
        if self.alive:
            assert await self.stop() == 0, self.log()
        assert "trace" not in self.log().lower(), self.log()
        print(f"counted: {self.starts} starts, {self.kills} of {self.starts - 1} ends by us")


@contextlib.asynccontextmanager
async def serving(folder: Path, *arguments: str, **faults: Any) -> AsyncIterator[Server]:
    server = Server(folder / "server", *arguments)
    await server.start(**faults)
    try:
        yield server
    except BaseException:
        print(server.log()[-4000:])
        raise
    finally:
        if server.alive and sys.exc_info()[0]:
            server.kill()
            await server.ended()
    await server.close()


# -- the clients ---------------------------------------------------------------------------------


class Witness:
    """Every entry that any client ever received, by hand and place; no two ever differ."""

    def __init__(self) -> None:
        self.hands: dict[str, list[fairdeal.Entry]] = {}
        self.raw: dict[str, list[bytes]] = {}
        #: called with each entry when it is new
        self.on_entry: list[Callable[[str, fairdeal.Entry], None]] = []
        self._waiting: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []
        self._read = lru_cache(maxsize=1024)(fairdeal.read_entry)

    def read(self, raw: bytes) -> fairdeal.Entry:
        """An entry, which all clients of this process parse but once."""
        return self._read(raw)

    def see(self, hand: str, raw: bytes, entry: fairdeal.Entry) -> None:
        log, seen = self.hands.setdefault(hand, []), self.raw.setdefault(hand, [])
        assert entry.seq <= len(seen), "an entry is left out"
        if entry.seq < len(seen):
            assert seen[entry.seq] == raw, "two entries at one place"
            return
        log.append(entry)
        seen.append(raw)
        for tell in self.on_entry:
            tell(hand, entry)
        self.look()

    def look(self) -> None:
        for holds, done in self._waiting:
            if not done.done() and holds():
                done.set_result(None)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until it holds; asked after every new entry."""
        if not holds():
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((holds, done))
            await done

    def kinds(self, hand: str) -> Counter[str]:
        return Counter(one.message.type for one in self.hands[hand])

    @property
    def now(self) -> str:
        """The hand that began last."""
        return next(reversed(self.hands))

    @property
    def entries(self) -> int:
        return sum(map(len, self.raw.values()))

    def complete(self) -> int:
        """Hands with a close and every ack; of one before the last, nobody may have got an ack."""
        return sum(
            kinds["close"] > 0
            and (hand != self.now or kinds["ack"] == kinds["reveal"] - kinds["replace"])
            for hand, kinds in ((hand, self.kinds(hand)) for hand in self.hands)
        )


class Killed(Exception):
    """The client's process is no more."""


class Over(Exception):
    """The game is over."""


class Client:
    """A connection that is made anew whenever it ends, to any of the servers."""

    door = "watch"

    def __init__(self, table: Table) -> None:
        self.table, self.witness = table, table.witness
        self.hand = ""
        self.over: dict[str, Any] | None = None
        self.seated = asyncio.Event()
        #: how often it connected, was redirected, and what it was told
        self.connections = self.moves = 0
        self.refused: list[str] = []
        self.errors: list[str] = []
        self.clock: dict[str, Any] = {}
        self.line: ClientConnection | None = None
        self._moved_to: str | None = None
        self._turn = 0

    async def run(self) -> None:
        """Until the game is over."""
        while self.over is None:
            try:
                async with await self._connected() as self.line:
                    await self._talk(self.line)
            except Killed:
                self.forget()
            except websockets.ConnectionClosed as closed:
                if closed.rcvd and closed.rcvd.code == 4307:
                    self.moves += 1
                    self._moved_to = closed.rcvd.reason
                    assert self._moved_to.startswith("http"), "moved, but where to?"
            except (OSError, EOFError, TimeoutError, websockets.InvalidHandshake):
                await asyncio.sleep(_RETRY)

    async def _connected(self) -> Any:
        base, self._moved_to = self._moved_to, None
        if base is None:
            servers = [one for one in self.table.servers if one.up.is_set()]
            if not servers:
                servers = [self.table.servers[0]]
                await servers[0].up.wait()
            self._turn += 1
            base = servers[self._turn % len(servers)].base
        url = base.replace("http", "ws") + f"/v1/tables/{self.table.name}/{self.door}"
        return websockets.connect(
            url, max_size=None, compression=None, proxy=None, open_timeout=20, close_timeout=2
        )

    def forget(self) -> None:
        """The process is lost, with all that it did not store."""

    async def _talk(self, line: ClientConnection) -> None:
        self.connections += 1
        async for text in line:
            await self._frame(line, str(text))
        if self.over is None:
            await asyncio.sleep(_RETRY)

    async def _frame(self, line: ClientConnection, text: str) -> None:
        frame = json.loads(text)
        match frame:
            case {"entry": _}:
                await self._entry(line, text[len('{"entry":') : -1].encode())
            case {"welcome": table}:
                self.table.key = bytes.fromhex(table["server_key"])
                self.seated.set()
            case {"clock": clock}:
                self.clock = clock
            case {"refused": refused}:
                self.refused.append(refused["code"])
            case {"error": error}:
                self.errors.append(error["code"])
            case {"over": table}:
                self.over = table
                self.witness.look()
            case _:
                raise AssertionError(frame)

    async def _entry(self, line: ClientConnection, raw: bytes) -> None:
        entry = self.witness.read(raw)
        if entry.seq == 0:
            self.hand = entry.message.digest().hex()
        self.witness.see(self.hand, raw, entry)


class Records:
    """What a client stores, by hand: in files, or as if."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.kept: dict[str, bytes] = {}
        if folder:
            folder.mkdir()

    def store(self, hand: str, record: bytes) -> None:
        if self.folder:
            new = self.folder / "new"
            new.write_bytes(record)
            new.rename(self.folder / hand)
        else:
            self.kept[hand] = record

    def get(self, hand: str) -> bytes | None:
        if self.folder:
            path = self.folder / hand
            return path.read_bytes() if path.exists() else None
        return self.kept.get(hand)


class Player(Client):
    """A person: one key, a seat in each hand, and its records."""

    door = "seat"
    policy = "careful/1"

    def __init__(self, table: Table, name: str, records: Records | None = None) -> None:
        super().__init__(table)
        self.name, self.key = name, SigningKey.generate()
        self.records = records or Records()
        self.kills = 0
        #: the record of each hand as it was at its end
        self.ends: dict[str, bytes] = {}
        self.sent: Counter[str] = Counter()
        self.word = iter(lambda: 0, None).__next__
        self.forget()

    def forget(self) -> None:
        self.seat: Seat | None = None
        self._of, self._said = "", b""

    async def _talk(self, line: ClientConnection) -> None:
        self._said = b""
        hello = json.loads(await line.recv())
        if "error" in hello or "over" in hello:
            await self._frame(line, json.dumps(hello))
            return
        server = bytes.fromhex(hello["server_key"])
        said = login(self.key, self.name, server, self.table.name, hello["challenge"])
        await line.send(json.dumps({"login": said}))
        await super()._talk(line)

    async def _entry(self, line: ClientConnection, raw: bytes) -> None:
        await super()._entry(line, raw)
        if self._of != self.hand:
            self._begin(raw)
        if self.seat is None:
            return
        out = (
            self.seat.receive(self.witness.read(raw))
            or self.seat.pending()
            or self.decide(self.seat)
        )
        if self.seat.hand.ended and self.seat.name in self.seat.hand.persons:
            self.ends[self.hand] = self.seat.record
        if out is not None and out.send != self._said:
            self._said = out.send
            await self.say(line, out, json.loads(out.send)["type"])

    def _begin(self, raw: bytes) -> None:
        self._of, kept = self.hand, self.records.get(self.hand)
        pin = self.table.key
        if self.key.public.hex().encode() not in raw:
            self.seat = None  # a bot has the seat now
        elif kept:
            self.seat = Seat.resume(kept, self.key, server_key=pin)
        else:
            self.seat = Seat(self.key, server_key=pin)

    def decide(self, seat: Seat) -> Outgoing | None:
        policy = POLICIES[self.policy]
        if seat.turn == "pass":
            return seat.pass_cards(policy.pass_cards(seat.view(), self.word))
        if seat.turn == "play":
            return seat.play(policy.play_card(seat.view(), self.word))
        return seat.choose(policy.choose_moon(seat.view(), self.word)) if seat.turn else None

    async def say(self, line: ClientConnection, out: Outgoing, kind: str) -> None:
        """Store, then send."""
        self.keep(out)
        await self.send(line, out, kind)

    def keep(self, out: Outgoing) -> None:
        self.records.store(self.hand, out.store)

    async def send(self, line: ClientConnection, out: Outgoing, kind: str) -> None:
        await line.send(out.send.decode())
        self.sent[kind] += 1

    async def control(self, **frame: Any) -> None:
        """Something that is no message of the protocol: a claim, or that it leaves."""
        assert self.line
        await self.line.send(json.dumps(frame))


# -- a table -------------------------------------------------------------------------------------


class Table:
    """A table at one or several servers, its people and a spectator, while it is played."""

    def __init__(self, *servers: Server, witness: Witness | None = None) -> None:
        self.servers = servers
        self.witness = witness or Witness()
        self.name = ""
        self.key = b""
        self.players: list[Player] = []
        self.watcher: Client | None = None
        self._tasks = asyncio.TaskGroup()

    @contextlib.asynccontextmanager
    async def playing(
        self,
        kinds: Iterable[Callable[[Table, str], Player]] = (Player,) * 4,
        *,
        watched: bool = True,
        **body: Any,
    ) -> AsyncIterator[Table]:
        """Made and taken seat by seat; the clients end with the block."""
        kinds = tuple(kinds)
        body = {"rules": "hearts-50", "bots": 4 - len(kinds), **body}
        self.name = await self.servers[0].served.table(**body)
        running = []
        async with asyncio.TaskGroup() as tasks:
            if watched:
                self.watcher = Client(self)
                running.append(tasks.create_task(self.watcher.run()))
                await self.watcher.seated.wait()
            for n, kind in enumerate(kinds):
                player = kind(self, f"P{n}")
                self.players.append(player)
                running.append(tasks.create_task(player.run()))
                await player.seated.wait()
            yield self
            for task in running:
                task.cancel()

    def played(self, hands: int) -> Callable[[], bool]:
        return lambda: self.witness.complete() >= hands

    def ended(self) -> bool:
        return all(one.over is not None for one in (*self.players, self.watcher) if one)

    # -- afterwards --

    async def get(self, path: str) -> Answer:
        up = [one for one in self.servers if one.up.is_set()]
        await (up or self.servers)[0].up.wait()
        answer = await (up or self.servers)[0].served.get(f"/v1/tables/{self.name}{path}")
        assert answer.status == 200, answer.body
        return answer

    async def check(self, *, over: bool = False, blamed: Iterable[int] = ()) -> list[bytes]:
        """All of it, as it is downloaded at the end: right, complete, and what everybody saw."""
        seen = {hand: list(raw) for hand, raw in self.witness.raw.items()}
        file = (await self.get("/game")).body
        game = fairdeal.verify_game_file(file, server_key=self.key)
        assert not game.findings, game.findings
        for verdict in game.hands:
            assert not verdict.findings, verdict.findings
        assert game.status in ("valid", "valid" if over else "incomplete"), game.status
        logs = []
        for one in (await self.get("/hands")).json["hands"]:
            logs.append((await self.get(f"/hands/{one['hand']}-{one['attempt']}")).body)
        deaths = sum(player.kills for player in self.players)
        print(f"counted: {len(logs)} hands, {sum(map(len, seen.values()))} entries, {deaths} cuts")
        for data in logs:
            self._check_hand(data, seen, frozenset(blamed))
        stored = {fairdeal.read_log(data).entries[0].message.digest().hex() for data in logs}
        assert set(seen) <= stored, "a hand is lost"
        return logs

    def _check_hand(
        self, data: bytes, seen: dict[str, list[bytes]], blamed: frozenset[int]
    ) -> None:
        log = fairdeal.read_log(data)
        hand = log.entries[0].message.digest().hex()
        ours = [one.encoded() for one in log.entries]
        theirs = seen.get(hand, [])
        assert ours[: len(theirs)] == theirs, "what somebody received is not in the transcript"
        gone = {
            one.message.body.seat for one in log.entries if one.message.type in ("replace", "void")
        }
        assert gone <= blamed, f"{gone} lost their seats"
        ended = any(one.message.type == "close" for one in log.entries)
        for player in self.players:
            record = player.ends.get(hand) or player.records.get(hand)
            if record is not None:
                verdict = fairdeal.verify(data, record=record, server_key=self.key)
                assert not verdict.findings, verdict.findings
                assert verdict.status == "valid" or not ended, verdict.status


def die(line: ClientConnection) -> NoReturn:
    """The client's process is killed: nothing more is sent, nothing is closed."""
    line.transport.abort()
    raise Killed


async def kept_up(server: Server, faults: Callable[[], dict[str, Any]] = dict) -> None:
    """Start a server again whenever it has died, until this is cancelled."""
    while True:
        await server.ended()
        await server.start(**faults())


@contextlib.asynccontextmanager
async def reviving(
    server: Server, faults: Callable[[], dict[str, Any]] = dict
) -> AsyncIterator[None]:
    """While this is entered, the server is started again whenever it has died."""
    task = asyncio.create_task(kept_up(server, faults))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
