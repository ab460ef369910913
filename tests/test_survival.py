"""The live table survives: what is killed, cut, full, silent or away costs nobody the hand."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import socket
import struct
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from processes import (
    LONG,
    Player,
    Records,
    Server,
    Table,
    die,
    reviving,
    run,
    serving,
)
from postgres import require_own_postgres, require_postgres
from websockets.frames import Frame, Opcode

import fairdeal
from fairdeal.messages import Close, Open
from fairdeal.seat import Outgoing

#: entries of a hand of 52 cards with four people
WHOLE = 72
STEP = 1 if LONG else 6


def once_at(table: Table, places: set[int], act: Callable[[], Any]) -> set[int]:
    """Act when an entry at one of the places is seen, each once, if the server is there then."""
    left = set(places)

    def seen(_: str, entry: fairdeal.Entry) -> None:
        if entry.seq in left and table.servers[0].up.is_set():
            left.remove(entry.seq)
            act()

    table.witness.on_entry.append(seen)
    return left


async def whole_hands(table: Table) -> None:
    """Every hand that was begun is played to its last ack."""
    await table.witness.until(lambda: table.witness.complete() == len(table.witness.hands))


def house_too(table: Table) -> None:
    """The server shuffled as well, so there was a seed of its own to lose."""
    assert table.witness.kinds(next(iter(table.witness.hands)))["commit"] == 5


# -- the server is killed ------------------------------------------------------------------------


def test_the_server_is_killed_after_every_entry(tmp_path: Path) -> None:
    async def test() -> None:
        async with serving(tmp_path) as server, reviving(server):
            table = Table(server)
            left = once_at(table, set(range(0, WHOLE, STEP)), server.kill)
            async with table.playing(rules="hearts"):
                await table.witness.until(lambda: not left)
                await whole_hands(table)
                await table.check()
            assert server.kills == WHOLE // STEP

    run(test())


@pytest.mark.parametrize(
    ("where", "spared"), [("before", 1), ("after", 0), ("between", 0)], ids=str
)
def test_the_server_dies_within_a_write(tmp_path: Path, where: str, spared: int) -> None:
    """Judged and not stored, stored and not broadcast, broadcast to some: in each life one."""
    fault = {"die": [where, STEP + spared]}

    async def test() -> None:
        async with serving(tmp_path) as server:
            table = Table(server)
            async with table.playing([Player] * 3, rules="hearts", house=True):
                server.kill()
                await server.ended()
                await server.start(**fault)
                async with reviving(server, lambda: fault):
                    await table.witness.until(table.played(1))
                server.kill()  # it may be about to die
                await server.ended()
            await server.start()
            await table.check()
            house_too(table)
            assert server.starts > 40 // STEP

    run(test())


@pytest.mark.parametrize("n", [1, 2, 20])
def test_a_write_that_fails_for_good_leaves_no_table_ahead_of_its_store(
    tmp_path: Path, n: int
) -> None:
    """What was judged and could not be stored was never said; the hand goes on without it."""

    async def test() -> None:
        async with serving(tmp_path, die=["refuse", n]) as server:
            table = Table(server)
            async with table.playing(rules="hearts"):
                await table.witness.until(table.played(1))
                await table.check()
            assert server.starts == 1

    run(test())


# -- a seat is killed ----------------------------------------------------------------------------


class Mortal(Player):
    """Is killed before it stores, before it sends, and after it has sent, at every message."""

    def __init__(self, table: Table, name: str, folder: Path) -> None:
        super().__init__(table, name, Records(folder / name))
        self.lives: Counter[str] = Counter()
        self.words: dict[str, bytes] = {}

    def mortal(self, kind: str) -> bool:
        return LONG or kind != "play" or self.sent["play"] % 4 == 0

    async def say(self, line: Any, out: Outgoing, kind: str) -> None:
        slot = f"{self.hand} {kind} {json.loads(out.send)['seen']}"
        if not self.mortal(kind):
            await super().say(line, out, kind)
            return
        self.lives[slot] += 1
        if self.lives[slot] == 1:
            self.fall(line)
        self.keep(out)
        assert self.words.setdefault(slot, out.send) == out.send, "it says something else"
        if self.lives[slot] == 2:
            self.fall(line)
        await self.send(line, out, kind)
        if self.lives[slot] == 3:
            self.fall(line)

    def fall(self, line: Any) -> None:
        self.kills += 1
        die(line)


def test_every_seat_is_killed_at_every_message(tmp_path: Path) -> None:
    async def test() -> None:
        async with serving(tmp_path) as server:
            table = Table(server)
            kinds = [lambda table, name: Mortal(table, name, tmp_path)] * 4
            async with table.playing(kinds, rules="hearts"):
                await table.witness.until(table.played(1))
                await table.check()
            for player in table.players:
                assert player.kills >= 3 * (17 if LONG else 5)

    run(test())


def test_every_seat_is_killed_at_any_entry(tmp_path: Path) -> None:
    """Also while it waits for others."""

    class Frail(Player):
        async def _entry(self, line: Any, raw: bytes) -> None:
            await super()._entry(line, raw)
            if len(self.witness.hands) * 100 + self.witness.read(raw).seq == self.next:
                self.next += 7 if LONG else 23
                self.kills += 1
                die(line)

    def frail(n: int) -> Any:
        def make(table: Table, name: str) -> Frail:
            player = Frail(table, name)
            player.next = 100 + n
            return player

        return make

    async def test() -> None:
        async with serving(tmp_path) as server:
            table = Table(server)
            async with table.playing(map(frail, range(4)), rules="hearts"):
                await table.witness.until(table.played(1))
                await table.check()
            assert all(player.kills >= 3 for player in table.players)

    run(test())


# -- the server is stopped -----------------------------------------------------------------------


def test_sigterm_leaves_every_hand_to_go_on(tmp_path: Path) -> None:
    codes = []

    async def stopped(server: Server) -> None:
        codes.append(await server.stop())
        await server.start()

    async def test() -> None:
        async with serving(tmp_path) as server, asyncio.TaskGroup() as tasks:
            table, other = Table(server), Table(server)
            stop = lambda: (server.up.clear(), tasks.create_task(stopped(server)))  # noqa: E731
            left = once_at(table, {0, 3, 7, 11, 30, 60, 69}, stop)
            async with other.playing([Player], rules="hearts"), table.playing(rules="hearts"):
                await table.witness.until(lambda: not left)
                await whole_hands(table)
                await table.check()
                await other.witness.until(other.played(1))
            await other.check()
            assert codes == [0] * 7

    run(test())


# -- the store is away ---------------------------------------------------------------------------


class Flag:
    """SQLite itself refuses, told to by a file: a full disk or a read-only one."""

    def __init__(self, folder: Path, name: str) -> None:
        self.faults = {"flags": str(folder)}
        self.arguments: list[str] = []
        self.file = folder / name

    def away(self) -> None:
        self.file.touch()

    def back(self) -> None:
        self.file.unlink()


class FullDisk:
    """A small disk, filled to its last byte."""

    faults: dict[str, Any] = {}

    def __init__(self, disk: Path) -> None:
        self.disk = disk
        self.arguments = ["--store", f"sqlite:///{disk}/store.sqlite"]

    def away(self) -> None:
        with contextlib.suppress(OSError), (self.disk / "ballast").open("ab", 0) as ballast:
            while True:
                ballast.write(b"\0" * 4096)

    def back(self) -> None:
        (self.disk / "ballast").unlink()


class NoDatabase:
    """A PostgreSQL that is stopped, and started again."""

    faults: dict[str, Any] = {}

    def __init__(self) -> None:
        self.server = require_own_postgres()
        self.arguments = ["--store", self.server.new_database()]
        self.away, self.back = self.server.stop, self.server.start


@contextlib.contextmanager
def outage(kind: str, folder: Path) -> Any:
    if kind == "no-database":
        yield NoDatabase()
        return
    disk = folder / "disk"
    disk.mkdir()
    if kind in ("read-only", "full"):
        yield Flag(disk, kind)
        return
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        yield Flag(disk, "full")  # who may not mount has SQLite refuse
        return
    try:
        yield FullDisk(disk)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


async def health(server: Server, status: int) -> None:
    """Wait until the server says so of itself."""
    while (await server.served.get("/healthz")).status != status:
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("kind", ["full", "disk", "read-only", "no-database"])
def test_while_the_store_is_away_the_table_waits(tmp_path: Path, kind: str) -> None:
    seconds = 10.0 if LONG else 2.0
    clock = {"grace_ms": 500, "reserve_ms": 0}
    options = ["--patience", "1", "--lease", "1"]

    async def test(store: Any) -> None:
        loop = asyncio.get_running_loop()
        async with serving(tmp_path, *options, *store.arguments, **store.faults) as server:
            table = Table(server)
            reached: asyncio.Queue[None] = asyncio.Queue()

            def reach() -> None:
                if kind != "no-database":
                    store.away()  # at once, before anybody can answer
                reached.put_nowait(None)

            # once everybody has committed, so everybody sits
            places = {4, 7, 10, 30, 60, 65} if LONG else {4, 65}
            once_at(table, places, reach)
            async with table.playing(rules="hearts", clock=clock):
                for _ in places:
                    await reached.get()
                    await asyncio.to_thread(store.away)  # a full disk may have had some room left
                    until = loop.time() + seconds
                    await health(server, 503)
                    table.players[0].refused.clear()
                    await table.players[0].control(expel=1)
                    seen = table.witness.entries
                    while loop.time() < until:
                        assert (await server.served.get("/healthz")).status == 503
                        assert table.witness.entries == seen, "broadcast, and not stored"
                        await asyncio.sleep(0.05)
                    if kind != "no-database":
                        logs = await stored(table)
                        assert sum(map(len, logs)) == seen
                        said = [one.message.body for one in logs[-1].entries]
                        ends = [body.scores for body in said if isinstance(body, Open | Close)]
                        shown = (await table.get("")).json["scores"]
                        assert shown == list(ends[-1]), "not stored"
                    await asyncio.to_thread(store.back)
                    await table.witness.until(lambda: table.witness.entries > seen)  # noqa: B023
                await health(server, 200)
                await whole_hands(table)
                await table.check()

    with outage(kind, tmp_path) as store:
        run(test(store), 120)


async def stored(table: Table) -> list[fairdeal.Log]:
    hands = (await table.get("/hands")).json["hands"]
    names = (f"/hands/{one['hand']}-{one['attempt']}" for one in hands)
    return [fairdeal.read_log((await table.get(name)).body) for name in names]


@pytest.mark.parametrize("kind", ["read-only", "no-database"])
def test_sigterm_while_the_store_is_away(tmp_path: Path, kind: str) -> None:
    async def test(store: Any) -> None:
        async with serving(tmp_path, *store.arguments, **store.faults) as server:
            table = Table(server)
            reached = asyncio.Event()
            once_at(table, {30}, reached.set)
            async with table.playing(rules="hearts"):
                await reached.wait()
                await asyncio.to_thread(store.away)
                await health(server, 503)
                assert await server.stop() == 0
                await asyncio.to_thread(store.back)
                await server.start()
                await whole_hands(table)
                await table.check()

    with outage(kind, tmp_path) as store:
        run(test(store), 120)


# -- connections ---------------------------------------------------------------------------------


class Cut(Player):
    """Its connection is reset in the middle of each message, once."""

    async def say(self, line: Any, out: Outgoing, kind: str) -> None:
        self.keep(out)
        if out.send not in self.halves:
            self.halves.add(out.send)
            data = Frame(Opcode.TEXT, out.send).serialize(mask=True, extensions=[])
            line.transport.write(data[: 1 + secrets.randbelow(len(data) - 1)])
            linger = struct.pack("ii", 1, 0)  # what is left is thrown away, the peer gets RST
            end = line.transport.get_extra_info("socket")
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.kills += 1
            line.transport.abort()
            return
        await self.send(line, out, kind)

    def forget(self) -> None:
        super().forget()
        self.halves: set[bytes] = set()


def test_connections_cut_in_the_middle_of_a_message(tmp_path: Path) -> None:
    async def test() -> None:
        async with serving(tmp_path) as server:
            table = Table(server)
            async with table.playing([Cut] * 4, rules="hearts"):
                await table.witness.until(table.played(1))
                await table.check()
            assert all(player.kills >= 18 for player in table.players)

    run(test())


class Unruly(Player):
    """What it sends comes late, twice, in another order, with old things and rubbish between."""

    async def send(self, line: Any, out: Outgoing, kind: str) -> None:
        self.old.append(out.send.decode())
        said = [self.old[-1], *secrets.SystemRandom().choices(self.old, k=2), *RUBBISH]
        secrets.SystemRandom().shuffle(said)
        for text in said:
            await asyncio.sleep(0.001 * secrets.randbelow(10))
            await line.send(text)
        self.sent[kind] += 1

    def forget(self) -> None:
        super().forget()
        self.old: list[str] = []


RUBBISH = ('{"expel":1}', "{}x" * 30)


def test_messages_late_twice_and_in_another_order(tmp_path: Path) -> None:
    async def test() -> None:
        async with serving(tmp_path) as server:
            table = Table(server)
            async with table.playing([Unruly] * 4, rules="hearts"):
                await table.witness.until(table.played(2))
                await table.check()
            assert any(player.refused for player in table.players)

    run(test())


# -- silence -------------------------------------------------------------------------------------

KINDS = ("commit", "reveal", "pass", "play", "ack", "choose")


@pytest.mark.parametrize("kind", KINDS)
def test_a_seat_that_never_answers(tmp_path: Path, kind: str) -> None:
    """A bot takes over, or the attempt is void and the next one is played; nobody else is named."""

    class Silent(Player):
        async def say(self, line: Any, out: Outgoing, said: str) -> None:
            if said != kind:
                await super().say(line, out, said)

    clock = {"grace_ms": 500, "reserve_ms": 500}
    # any seat may shoot the moon
    seats = [Silent] * 4 if kind == "choose" else [Player, Silent, Player, Player]

    async def test() -> None:
        async with serving(tmp_path, "--patience", "0.5") as server:
            table = Table(server)
            rules = "choose" if kind == "choose" else "quick"
            async with table.playing(seats, rules=rules, clock=clock):
                await table.witness.until(table.ended)
            logs = await table.check(over=True, blamed=range(4) if kind == "choose" else [1])
            ends = [fairdeal.read_log(data).entries for data in logs]
            gone = [
                (one.message.type, one.message.body.reason)
                for log in ends
                for one in log
                if one.message.type in ("replace", "void")
            ]
            assert gone == {
                "reveal": [("void", "no-reveal")],
                "ack": [],
            }.get(kind, [("replace", "unresponsive")])

    run(test())


# -- claims and farewells ------------------------------------------------------------------------


def test_who_has_time_left_is_not_expelled_and_who_has_none_is(tmp_path: Path) -> None:
    class Sleeper(Player):
        async def say(self, line: Any, out: Outgoing, kind: str) -> None:
            if kind in ("pass", "play"):
                self.table.asked.set()
            else:
                await super().say(line, out, kind)

    async def answered(player: Player, code: str) -> None:
        while code not in player.refused:
            await asyncio.sleep(0.01)

    async def test() -> None:
        async with serving(tmp_path) as server:
            table = Table(server)
            table.asked = asyncio.Event()
            clock = {"grace_ms": 1000, "reserve_ms": 1000}
            async with table.playing([Player, Sleeper, Player, Player], rules="quick", clock=clock):
                await table.asked.wait()
                ana = table.players[0]
                await ana.control(expel=1)
                await answered(ana, "expelled-early")
                for other in (0, 7, -1):
                    ana.refused.clear()
                    await ana.control(expel=other)
                    await answered(ana, "not-awaited")
                gone = lambda: table.witness.kinds(table.witness.now)["replace"]  # noqa: E731
                assert not gone()
                while not gone():
                    await ana.control(expel=1)
                    await asyncio.sleep(0.1)
                await table.witness.until(table.ended)
            log = fairdeal.read_log((await table.check(over=True, blamed=[1]))[0])
            said = [one for one in log.entries if one.message.type == "replace"]
            assert [one.message.body.reason for one in said] == ["expelled"]
            dealt = next(one for one in log.entries if one.message.type == "deal")
            assert said[0].at - dealt.at >= 2000

    run(test())


#: in which phase somebody leaves: after an entry of that kind
MOMENTS = ("open", "commit", "reveal", "deal", "pass", "exchange", "play", "close", "ack")


class Leaver(Player):
    """Leaves for good when it sees an entry of a kind."""

    kind = ""

    async def _entry(self, line: Any, raw: bytes) -> None:
        await super()._entry(line, raw)
        if self.witness.read(raw).message.type == self.kind and not self.left:
            self.left = True
            await self.control(leave=True)

    def forget(self) -> None:
        super().forget()
        self.left = False


@pytest.mark.parametrize("people", [1, 2, 4])
@pytest.mark.parametrize("kind", MOMENTS)
def test_people_leave(tmp_path: Path, kind: str, people: int) -> None:
    """One, two, all of them: bots are there at once, and the game has an end."""
    leaver = type("Leaver", (Leaver,), {"kind": kind})
    seats = [leaver] * people + [Player] * (4 - people)

    async def test() -> None:
        async with serving(tmp_path) as server:
            table = Table(server)
            async with table.playing(seats, rules="quick"):
                await table.witness.until(table.ended)
            await table.check(over=True, blamed=range(people))
            over = table.players[0].over
            assert over
            bots = [seat for seat, one in enumerate(over["seats"]) if one["kind"] == "bot"]
            if over["hand"] > 1 or kind not in ("close", "ack"):
                assert bots == list(range(people))
                assert over["result"]["left"] == list(range(people))

    run(test())


# -- several processes ---------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def two_servers(
    folder: Path, keys: tuple[str, str] = ("key", "key")
) -> AsyncIterator[tuple[Server, Server]]:
    """Two processes on one new database, started at once, under one key and one vault."""
    store = require_postgres().new_database()
    for name in {*keys, "vault"}:
        (folder / name).write_text(secrets.token_hex(32))
        (folder / name).chmod(0o600)
    options = ["--store", store, "--secret-key", str(folder / "vault"), "--lease", "1"]
    servers = []
    for n, key in enumerate(keys):
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        servers.append(Server(folder / str(n), *options, "--key", str(folder / key), "--url", url))
        servers[-1].port = port
    await asyncio.gather(*(one.start() for one in servers))
    try:
        yield servers[0], servers[1]
    except BaseException:
        for one in servers:
            print(one.log()[-3000:])
            if one.alive:
                one.kill()
                await one.ended()
        raise
    for one in servers:
        await one.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


async def has(server: Server, table: Table) -> bool:
    """Whether it has the table: it does not send us away."""
    answer = await server.served.post(f"/v1/tables/{table.name}/challenge")
    return answer.status == 200


async def owner(table: Table, servers: tuple[Server, ...]) -> Server:
    """Who has the table."""
    while True:
        for one in servers:
            if one.alive and await has(one, table):
                return one
        await asyncio.sleep(0.05)


def test_two_processes_share_tables_and_one_takes_over(tmp_path: Path) -> None:
    async def test() -> None:
        async with two_servers(tmp_path) as (one, other), contextlib.AsyncExitStack() as stack:
            tables = [Table(one, other), Table(other, one), Table(one, other)]
            half = asyncio.Event()
            once_at(tables[0], {30}, half.set)
            for table in tables:
                await stack.enter_async_context(table.playing(rules="hearts"))
            moved = await other.served.post(f"/v1/tables/{tables[0].name}/challenge")
            assert moved.status == 307
            assert moved.headers["Location"] == f"{one.base}/v1/tables/{tables[0].name}/challenge"
            listed = (await other.served.get("/v1/tables")).json["tables"]
            assert {row["table"] for row in listed} == {table.name for table in tables}
            await half.wait()
            one.kill()
            await one.ended()
            for table in tables:
                begun = len(table.witness.hands)
                await table.witness.until(table.played(begun))
                assert await owner(table, (one, other)) is other
                await table.check()
            assert sum(player.moves for table in tables for player in table.players)
            await one.start()  # it comes back and takes nothing away
            for table in tables:
                assert await owner(table, (one, other)) is other
                begun = len(table.witness.hands)
                await table.witness.until(table.played(begun))
                await table.check()

    run(test(), 90)


def test_a_process_that_slept_lets_go(tmp_path: Path) -> None:
    """It was stopped for longer than its lease, with a person's message in its pocket."""

    async def test() -> None:
        async with two_servers(tmp_path) as (one, other):
            table = Table(one, other)
            asleep: list[int] = []

            class Waker(Player):
                """Its message comes to a process that sleeps."""

                async def send(self, line: Any, out: Outgoing, kind: str) -> None:
                    if kind == "play" and self.sent["play"] == 4 and not asleep:
                        asleep.append(1)
                        one.signal(signal.SIGSTOP)
                    await super().send(line, out, kind)

            async with table.playing([Player, Waker, Player, Player], rules="hearts"):
                while not asleep:
                    await asyncio.sleep(0.02)
                while not await has(other, table):
                    await asyncio.sleep(0.05)
                one.signal(signal.SIGCONT)
                begun = len(table.witness.hands)
                await table.witness.until(table.played(begun + 1))
                assert await owner(table, (one, other)) is other
                await table.check()

    run(test(), 90)


def test_a_process_without_the_key_leaves_the_table_alone(tmp_path: Path) -> None:
    async def test() -> None:
        async with two_servers(tmp_path, ("key", "other")) as (one, other):
            table = Table(one)
            killed = asyncio.Event()
            once_at(table, {30}, lambda: (one.kill(), killed.set()))
            async with table.playing(rules="hearts"):
                await killed.wait()
                await one.ended()
                while "cannot be resumed" not in other.log():  # the lease is over, and it tried
                    await asyncio.sleep(0.02)
                await one.start()
                await whole_hands(table)
                await table.check()

    run(test(), 90)
