"""A live table in memory: the server's side of spec/live.md section 3, with real dealers.

`Live` has lines, one a connection, each with an outbox of frames; what a seat sends is given to
`hear`. It plays hand after hand until the game is over, or so many hands as it is told.
"""

from __future__ import annotations

import json
import random
from typing import Any

from helpers import SHORT

from fairdeal.dealer import Dealer, Terms, bot
from fairdeal.errors import LocalProtocolError, RemoteProtocolError
from fairdeal.games.presets import S0
from fairdeal.messages import Clock, Close, Person
from fairdeal.play.player import Act, Copy, Ended, Gone, HandName, Player, Send, login_hash
from fairdeal.signing import SigningKey as Key
from fairdeal.signing import verifies

ID = "t-1"


class Line:
    """One connection: what the server has sent on it, and who is at its other end."""

    def __init__(self) -> None:
        self.outbox: list[str] = []
        self.challenge = ""
        self.seat: int | None = None
        self.open = True

    def send(self, **members: Any) -> None:
        self.outbox.append(json.dumps(members))


class Live:
    """A table with `people` free seats; the others are bots'."""

    def __init__(
        self,
        people: int = 1,
        *,
        seed: object = 0,
        rules: Any = S0,
        deck: Any = SHORT,
        hands: int = 1,
        clock: Clock | None = None,
        bots: str = "low/1",
    ) -> None:
        self.rng = random.Random(f"live {seed}")
        self.server = Key(self.rng.randbytes(32))
        self.signer = self.server  # of the hands, as it should be
        self.people, self.rules, self.deck, self.hands = people, rules, deck, hands
        self.clock, self.bots = clock, bots
        self.keys: dict[int, tuple[str, str]] = {}
        self.lines: list[Line] = []
        self.dealer: Dealer | None = None
        self.logs: list[Any] = []
        self.at = 1_700_000_000_000
        self.over = False
        self.refusals: list[str] = []

    # -- what it says of itself --

    def state(self) -> dict[str, Any]:
        seats: list[dict[str, str]] = []
        for n in range(4):
            if n in self.keys:
                seats.append({"kind": "person", "key": self.keys[n][0], "name": self.keys[n][1]})
            elif n < self.people:
                seats.append({"kind": "free"})
            else:
                seats.append({"kind": "bot", "name": f"B{n}", "policy": self.bots})
        state = "over" if self.over else "playing" if self.dealer else "waiting"
        terms = self.dealer.hand.terms if self.dealer else None
        return {
            "table": ID,
            "state": state,
            "rules": "hearts",
            "seats": seats,
            "hand": terms.hand if terms else 0,
            "attempt": terms.attempt if terms else 0,
            "scores": list(terms.scores) if terms else [0, 0, 0, 0],
            "result": None,
        }

    # -- its lines --

    def connect(self) -> Line:
        line = Line()
        line.challenge = self.rng.randbytes(32).hex()
        line.send(challenge=line.challenge, server_key=self.server.public.hex())
        self.lines.append(line)
        return line

    def drop(self, line: Line) -> None:
        line.open = False
        self.lines.remove(line)

    def hear(self, line: Line, text: str) -> None:
        frame = json.loads(text)
        self.at += 100
        if line.seat is None:
            self._login(line, frame["login"])
        elif "leave" in frame:
            self.replace(line.seat, "left")
        elif "expel" in frame:
            self.replace(frame["expel"], "expelled")
        else:
            self._message(line, text)

    def _login(self, line: Line, login: dict[str, str]) -> None:
        key = bytes.fromhex(login["key"])
        challenge = bytes.fromhex(line.challenge)
        said = login_hash(self.server.public, ID, challenge, key, login["name"])
        if not verifies(key, said, bytes.fromhex(login["sig"])):
            line.send(error={"code": "login", "text": "the signature is wrong"})
            return
        seat = next((n for n, one in self.keys.items() if one[0] == login["key"]), None)
        if seat is None:
            seat = next((n for n in range(self.people) if n not in self.keys), None)
        if seat is None:
            line.send(error={"code": "full", "text": "no seat is free"})
            return
        self.keys.setdefault(seat, (login["key"], login["name"]))
        line.seat = seat
        for one in self.lines:
            if one.seat is not None:
                one.send(welcome=self.state(), seat=one.seat)
        if self.dealer is None and len(self.keys) == self.people:
            self._open(self._terms())
        elif self.dealer is not None:
            for entry in self.dealer.log.entries:
                line.send(entry=json.loads(entry.encoded()))
            if self.over:
                line.send(over=self.state())

    def _message(self, line: Line, text: str) -> None:
        assert self.dealer is not None
        try:
            self._broadcast(self.dealer.receive(text.encode(), self.at))
        except RemoteProtocolError as error:
            self.refusals.append(error.code)
            line.send(refused={"code": error.code, "text": str(error)})

    # -- its hands --

    def _terms(self) -> Terms:
        return Terms(
            table=ID,
            game="g-1",
            rules=self.rules,
            deck=self.deck,
            clock=self.clock,
            seats=tuple(
                Person(key=self.keys[n][0], name=self.keys[n][1])
                if n < self.people
                else bot(f"B{n}", self.bots)
                for n in range(4)
            ),
        )

    def _open(self, terms: Terms) -> None:
        self.dealer = Dealer(terms, self.signer, at=self.at, entropy=self.rng.randbytes)
        self.logs.append(self.dealer.log)
        self._broadcast(self.dealer.log.entries[:])

    def _broadcast(self, entries: list[Any]) -> None:
        for entry in entries:
            for line in self.lines:
                if line.seat is not None:
                    line.send(entry=json.loads(entry.encoded()))
        if self.clock and self.dealer and (awaited := self.dealer.awaited()):
            for line in self.lines:
                line.send(clock={"awaited": [n for _, n in awaited], "left_ms": 1000})
        self._next()

    def _next(self) -> None:
        """Another hand, or the end, once all who can have acknowledged."""
        assert self.dealer is not None
        hand = self.dealer.hand
        waits = self.over or len(hand.acks) < len(hand.persons)
        if hand.end is None or (waits and hand.phase.value != "voided"):
            return
        body = self.dealer.log.entries[hand.end or 0].message.body
        done = isinstance(body, Close) and (body.result or len(self.logs) >= self.hands)
        if done:
            self.over = True
            for line in self.lines:
                line.send(over=self.state())
        else:
            self._open(self.dealer.next_terms())

    def replace(self, seat: int, reason: Any) -> None:
        assert self.dealer is not None
        try:
            entries = self.dealer.replace(seat, reason, self.at)
        except LocalProtocolError:
            return
        self._broadcast(entries)


class Memory:
    """A folder in memory, and what a player did."""

    def __init__(self) -> None:
        self.records: dict[HandName, bytes] = {}
        self.copies: dict[HandName, bytes] = {}
        self.acts: list[Act] = []
        self.sent: list[str] = []

    def of(self, kind: type[Any]) -> list[Any]:
        return [one for one in self.acts if isinstance(one, kind)]

    def do(self, acts: list[Act]) -> list[str]:
        texts = []
        for act in acts:
            self.acts.append(act)
            if isinstance(act, Send):
                if act.hand is not None and act.record is not None:
                    self.records[act.hand] = act.record
                self.sent.append(act.text)
                texts.append(act.text)
            elif isinstance(act, Copy):
                self.copies[act.hand] = act.log
        return texts


class Client:
    """A `Player` on a line of a `Live` table, with its memory; `policy` decides."""

    def __init__(self, live: Live, key: Key, policy: Any, rng: random.Random, **options: Any):
        self.live, self.key, self.policy, self.options = live, key, policy, options
        self.word = lambda: rng.randrange(1 << 16)
        self.memory = Memory()
        self.restart()

    def restart(self) -> None:
        """A new process: all that is left is the memory."""
        options = {"server_key": None, "name": "Ana", "table": ID, **self.options}
        self.player = Player(self.key, recall=self.memory.records.get, **options)
        self.line: Line | None = None

    def connect(self) -> None:
        if self.line is not None:
            self.live.drop(self.line)
        self.player.connected()
        self.line = self.live.connect()
        self.heard = 0

    def step(self) -> bool:
        """Hear one frame, or decide; whether anything was done."""
        return self.hear() or self.send(self.player.decide(self.policy, self.word))

    def hear(self) -> bool:
        """Hear one frame, or that none comes; whether anything was done."""
        assert self.line is not None
        if self.memory.of(Gone):
            return False
        if self.heard < len(self.line.outbox):
            frame = self.line.outbox[self.heard]
            self.heard += 1
            self.send(self.player.hear(frame))
            return True
        if self.player.holds:
            self.send(self.player.idle())
            return True
        return False

    def send(self, acts: list[Act]) -> bool:
        for text in self.memory.do(acts):
            if self.line is not None and self.line.open:
                self.live.hear(self.line, text)
        return bool(acts)

    @property
    def verdicts(self) -> list[str]:
        return [one.verdict.status for one in self.memory.of(Ended)]


def listen(*clients: Client) -> None:
    """Until there is nothing more to hear; nobody decides anything."""
    while sum(client.hear() for client in clients):
        pass


def run(*clients: Client) -> None:
    """Step by step, everybody in turn, until nobody has anything to do."""
    while sum(client.step() for client in clients):
        pass
