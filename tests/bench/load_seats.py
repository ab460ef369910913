"""The other side of `load.py`: many tables' light seats in one process, over plain sockets.

A light seat signs, commits, seals and opens its boxes as a seat does, and plays a legal card at
random. What it spares: the four seats of a table follow one log together (every entry is read,
hashed and judged once, by `fairdeal.hand`), no signature of others is verified, nothing is stored,
and its WebSocket is the little of RFC 6455 that a client of this server needs, masked with zeros.
Whether the hands are right is seen by `fairdeal.verify`, after the measured time.
"""

from __future__ import annotations

import asyncio
import json
import random
import secrets
import time
import urllib.request
from multiprocessing.connection import Connection
from typing import NamedTuple
from urllib.parse import urlsplit

from fairdeal import encoding, sealing
from fairdeal.commitment import cards_commitment, seed_commitment
from fairdeal.hand import Hand
from fairdeal.log import Log, read_one_entry
from fairdeal.messages import Ack, Cards, Choose, Commit, Pass, Play, Reveal, Signed, message
from fairdeal.parties import SEATS, SERVER
from fairdeal.signing import SigningKey

_MAKERS = 8  # requests at once, while tables are made
_OPENINGS = 100  # tables that come to their starting point at once


class Plan(NamedTuple):
    """What one process of seats has to do."""

    address: str
    tables: int
    people: int
    rules: str
    #: plays a second at a table; 0: as fast as it goes
    rate: float
    seconds: float


class Counts(NamedTuple):
    """What one process of seats saw in the measured time."""

    plays: int
    entries: int
    #: seconds from sending a play to having its broadcast
    waits: list[float]
    #: (table, hand, attempt) of those that ended
    ended: list[tuple[str, int, int]]
    trouble: list[str]
    cpu: float


# -- a socket ------------------------------------------------------------------------------------


class Socket(asyncio.Protocol):
    """One WebSocket; `got` is called with each text frame."""

    def __init__(self, host: str, path: str, got) -> None:
        self._hello = (
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        ).encode()
        self._got, self._open, self._rest = got, False, b""

    def connection_made(self, transport) -> None:
        self._transport = transport
        transport.write(self._hello)

    def data_received(self, data: bytes) -> None:
        data = self._rest + data if self._rest else data
        if not self._open:
            head, found, data = data.partition(b"\r\n\r\n")
            if not found:
                self._rest = head
                return
            if not head.startswith(b"HTTP/1.1 101 "):
                raise RuntimeError(head[:60])
            self._open = True
        at, end = 0, len(data)
        while end - at >= 2:
            size, start = data[at + 1], at + 2
            if size == 126:
                size, start = int.from_bytes(data[at + 2 : at + 4], "big"), at + 4
            elif size == 127:
                size, start = int.from_bytes(data[at + 2 : at + 10], "big"), at + 10
            if start + size > end:
                break
            self._frame(data[at], data[start : start + size])
            at = start + size
        self._rest = data[at:]

    def _frame(self, first: int, payload: bytes) -> None:
        if first == 0x81:
            self._got(payload)
        elif first == 0x89:
            self._write(0x8A, payload)
        elif first == 0x88:
            self._got(b"closed " + payload[2:])
            self._transport.close()

    def send(self, text: bytes) -> None:
        self._write(0x81, text)

    def _write(self, first: int, payload: bytes) -> None:
        if self._transport.is_closing():
            return
        size = len(payload)
        head = (
            bytes((first, 0x80 | size))
            if size < 126
            else bytes((first, 0xFE)) + size.to_bytes(2, "big")
        )
        self._transport.write(b"%b\0\0\0\0%b" % (head, payload))

    def close(self) -> None:
        self._transport.close()


# -- a table's seats -----------------------------------------------------------------------------


class LightSeat:
    """A person's secrets in one hand, and the socket."""

    def __init__(self, place: int) -> None:
        self.name, self.place = SEATS[place], place
        self.key = SigningKey.generate()
        self.socket: Socket
        self.own_play = b'"by":"%b"' % self.name.encode()
        self.sent_at: float | None = None

    def begin(self) -> None:
        self.seed, self.hand_key = secrets.token_bytes(64), secrets.token_bytes(32)
        self.salt = secrets.token_hex(32)
        self.cards: list[str] = []

    def sealed(self, hand: Hand, kind: str, plain: bytes) -> str:
        info = sealing.info(kind, hand.hand_id, SERVER, self.name)
        return sealing.seal(plain, bytes.fromhex(hand.terms.hand_key), info).hex()

    def opened(self, hand: Hand, kind: str, body) -> list[str]:
        box = bytes.fromhex(body.hands[self.place].sealed)
        info = sealing.info(kind, hand.hand_id, self.name, SERVER)
        return json.loads(sealing.unseal(box, self.hand_key, info))["cards"]


class LightTable:
    """The seats of one table, and the log that they follow together."""

    def __init__(self, bench: Bench, name: str, fast_plays: int) -> None:
        self.bench, self.name = bench, name
        self.seats = [LightSeat(place) for place in range(bench.plan.people)]
        self.log, self.hand = Log(), Hand()
        self.timer: asyncio.TimerHandle | None = None
        self.due = 0.0
        #: plays until it stands at its starting point, then until the measured time begins
        self.fast_plays = fast_plays
        self.waiting = None
        self.ready = asyncio.get_running_loop().create_future()
        self.over = asyncio.get_running_loop().create_future()

    async def sit_down(self) -> None:
        loop, url = asyncio.get_running_loop(), urlsplit(self.bench.plan.address)
        for seat in self.seats:
            hello = loop.create_future()
            socket = Socket(url.netloc, f"/v1/tables/{self.name}/seat", hello.set_result)
            await loop.create_connection(lambda socket=socket: socket, url.hostname, url.port)
            said = json.loads(await hello)
            welcome = loop.create_future()
            socket._got = lambda frame, welcome=welcome, seat=seat: self.greeted(
                seat, frame, welcome
            )
            server, name = bytes.fromhex(said["server_key"]), f"P{seat.place}"
            challenge = bytes.fromhex(said["challenge"])
            digest = encoding.tagged_hash(
                "fairdeal/v1/login", server, self.name, challenge, seat.key.public, name
            )
            login = {"key": seat.key.public.hex(), "name": name, "sig": seat.key.sign(digest).hex()}
            seat.socket = socket
            socket.send(json.dumps({"login": login}).encode())
            await welcome

    def greeted(self, seat: LightSeat, frame: bytes, welcome) -> None:
        seat.socket._got = lambda frame: self.got(seat, frame)
        if frame.startswith(b'{"welcome"'):
            welcome.set_result(None)
        else:
            welcome.set_exception(RuntimeError(frame.decode()))

    def got(self, seat: LightSeat, frame: bytes) -> None:
        """A frame at a seat. The log is followed at the first seat's socket."""
        if frame.startswith(b'{"entry"'):
            if (
                seat.sent_at is not None
                and frame.endswith(b'"type":"play"}}')
                and seat.own_play in frame
            ):
                self.bench.waited(time.perf_counter() - seat.sent_at)
                seat.sent_at = None
            if seat.place == 0:
                self.follow(frame[9:-1])
        elif frame.startswith(b'{"over"'):
            if not self.over.done():
                self.over.set_result(None)
        elif not frame.startswith((b'{"clock"', b'{"welcome"')) and not self.over.done():
            self.bench.trouble.append(f"{self.name} {seat.name}: {frame[:200]!r}")

    def follow(self, raw: bytes) -> None:
        entry = read_one_entry(raw)
        said = entry.message
        if entry.seq == 0:
            self.log, self.hand = Log(), Hand()
            for seat in self.seats:
                seat.begin()
        hand, place = self.hand, len(self.log)
        self.log.append(entry)
        hand.take(hand.judge(said, self.log.message_hashes[-1], self.log.position_of(said.seen)))
        self.bench.entries += 1
        if said.type == "deal":
            for seat in self.seats:
                seat.cards = seat.opened(hand, "deal", said.body)
        elif said.type == "exchange":
            for seat in self.seats:
                seat.cards += seat.opened(hand, "exchange", said.body)
        elif said.type == "play" and int(said.by[5:]) < len(self.seats):
            self.seats[int(said.by[5:])].cards.remove(said.body.card)
        elif said.type == "close":
            self.bench.ended.append((self.name, hand.terms.hand, hand.terms.attempt))
        if hand.since == place:  # persons have something to say over this entry
            for by in sorted(hand.now.parties):
                self.answer(self.seats[int(by[5:])], hand.now.type)

    def answer(self, seat: LightSeat, kind: str) -> None:
        hand = self.hand
        if kind == "commit":
            key = sealing.public_hand_key(seat.hand_key).hex()
            digest = seed_commitment(hand.hand_id, seat.name, seat.seed).hex()
            self.say(seat, Commit(commitment=digest, hand_key=key))
        elif kind == "reveal":
            self.say(seat, Reveal(sealed=seat.sealed(hand, "reveal", seat.seed)))
        elif kind == "pass":
            count = hand.game.pass_count
            passed = [card for card in hand.game.deck if card in seat.cards][:count]
            seat.cards = [card for card in seat.cards if card not in passed]
            opening = Cards(cards=tuple(passed), salt=seat.salt)
            digest = cards_commitment(
                "pass", hand.hand_id, seat.name, passed, bytes.fromhex(seat.salt)
            )
            box = seat.sealed(hand, "pass", encoding.encode(opening))
            self.say(seat, Pass(commitment=digest.hex(), sealed=box))
        elif kind == "play":
            legal = hand.tricks.legal(seat.cards)
            if legal:  # else another holds the card that begins
                self.in_time(seat, Play(card=random.choice(legal)))
        elif kind == "choose":
            self.say(seat, Choose(moon="add"))
        else:
            self.say(seat, Ack())

    def in_time(self, seat: LightSeat, body: Play) -> None:
        """Play now, or when a play's time has passed since the one before."""
        if self.fast_plays > 0:
            self.fast_plays -= 1
            self.say(seat, body)
        elif not self.bench.running:
            self.waiting = seat, body
            if not self.ready.done():
                self.ready.set_result(None)
        elif self.bench.plan.rate == 0:
            self.say(seat, body)
        else:
            now = time.perf_counter()
            self.due = max(now, self.due + 1 / self.bench.plan.rate)
            asyncio.get_running_loop().call_later(self.due - now, self.say, seat, body)

    def go(self) -> None:
        """The measured time begins; tables start apart from each other."""
        if self.waiting is not None:
            seat, body = self.waiting
            rate = self.bench.plan.rate
            self.due = time.perf_counter() + (random.random() / rate - 1 / rate if rate else 0)
            self.in_time(seat, body)

    def say(self, seat: LightSeat, body) -> None:
        said = message(seat.name, self.log.hashes[self.hand.since], body)
        signed = Signed(message=said, sig=seat.key.sign(said.digest()).hex())
        if said.type == "play":
            seat.sent_at = time.perf_counter()
        seat.socket.send(signed.encoded())

    def leave(self) -> None:
        if not self.over.done():
            self.over.set_result(None)
        for seat in self.seats:
            seat.socket.close()


# -- all of them ---------------------------------------------------------------------------------


class Bench:
    """The tables of one process."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.running = plan, False
        self.tables: set[LightTable] = set()
        self.entries = 0
        self.waits: list[float] = []
        self.ended: list[tuple[str, int, int]] = []
        self.trouble: list[str] = []
        self._makers = asyncio.Semaphore(_MAKERS)

    def waited(self, seconds: float) -> None:
        if self.running:
            self.waits.append(seconds)

    def _post(self) -> str:
        body = {"rules": self.plan.rules, "bots": 4 - self.plan.people}
        asked = urllib.request.Request(f"{self.plan.address}/v1/tables", json.dumps(body).encode())
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return json.load(answer)["table"]

    async def opened(self, fast_plays: int) -> LightTable:
        async with self._makers:
            name = await asyncio.to_thread(self._post)
        table = LightTable(self, name, fast_plays)
        self.tables.add(table)
        await table.sit_down()
        return table

    async def keep(self, fast_plays: int, room: asyncio.Semaphore, started) -> None:
        """One table after another: where a game is over, the next begins."""
        while True:
            async with room:
                table = await self.opened(fast_plays)
                await asyncio.wait([table.ready, table.over], return_when="FIRST_COMPLETED")
            if not started.done():
                started.set_result(None)
            await table.over
            table.leave()
            self.tables.discard(table)
            fast_plays = 0

    async def run(self, told: Connection) -> None:
        loop, count = asyncio.get_running_loop(), self.plan.tables
        own = 52 // 4 * self.plan.people
        room, started = asyncio.Semaphore(_OPENINGS), [loop.create_future() for _ in range(count)]
        # each begins at another play of its first hand, so that hands end all the time
        keeping = [
            asyncio.create_task(self.keep(own * n // count, room, one))
            for n, one in enumerate(started)
        ]
        for task in keeping:
            task.add_done_callback(self._fell)
        await asyncio.wait(started)
        told.send("ready")
        await asyncio.to_thread(told.recv)
        self.entries, self.ended, self.running = 0, [], True
        cpu, began = time.process_time(), time.perf_counter()
        for table in list(self.tables):
            table.go()
        await asyncio.sleep(self.plan.seconds)
        took = time.perf_counter() - began
        cpu = (time.process_time() - cpu) / took
        counts = Counts(len(self.waits), self.entries, self.waits, self.ended, self.trouble, cpu)
        told.send(counts)
        await asyncio.to_thread(told.recv)  # the server is looked at under load until then
        self.running = False
        for task in keeping:
            task.cancel()
        for table in list(self.tables):
            table.leave()

    def _fell(self, task: asyncio.Task) -> None:
        if not task.cancelled() and task.exception():
            self.trouble.append(repr(task.exception()))


def seats(plan: Plan, told: Connection) -> None:
    """The whole life of one process of seats."""
    try:
        import uvloop as loops
    except ModuleNotFoundError:
        import asyncio as loops
    loops.run(Bench(plan).run(told))
