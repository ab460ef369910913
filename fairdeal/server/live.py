"""One table while it is played: its dealer, its connections, and its time.

All of it happens under one lock, in the order: judge, store, broadcast. Between the last two the
table stands still, so nobody ever sees what is not stored. What is asked of whom, and until when,
follows from the log alone (`_deadlines`), so a table that another process resumes goes on alike.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from fairdeal.clock import over_at
from fairdeal.dealer import Dealer, Terms
from fairdeal.errors import FairdealError, LocalProtocolError
from fairdeal.hand import Hand
from fairdeal.log import Log
from fairdeal.messages import Close, Entry, Person, ReplaceReason
from fairdeal.parties import SEATS
from fairdeal.server.lines import GOING_AWAY, OVER, Frames, Line
from fairdeal.server.setup import GAME, Course, Kept, described, first_terms, person
from fairdeal.server.store import (
    Append,
    Begin,
    HandName,
    StoreConflict,
    StoreError,
    StoreUnavailable,
)

if TYPE_CHECKING:
    from fairdeal.server.hall import Hall

_log = logging.getLogger("fairdeal.server")
#: after a write that took longer, nobody loses a seat for a while
_STALL_MS: Final = 1000
#: seconds until what could not be done is tried again
_RETRY: Final = 1.0


class RefusedError(Exception):
    """What was asked for cannot be had; `code` and the text are for whoever asked."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class Control(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a seat says beside the protocol's messages."""

    leave: bool = False
    expel: int | None = None


#: a protocol's message has a signature of 128 digits, so it is longer than any of these
_CONTROL_BYTES: Final = 64
_DECISIONS: Final = ("pass", "play", "choose")
_controls: Final = msgspec.json.Decoder(Control)


class Deadline(NamedTuple):
    """When (ms) something is done to a seat, or to the hand, if nobody has acted."""

    at: int
    seat: int | None


class Asked(NamedTuple):
    """What the hand waits for: a message of a person's; and of a decision within a time, when that
    time is used up.
    """

    kind: str
    seat: int
    over_at: int | None


def trouble(error: StoreError) -> str:
    """What is told of it to whoever asked: where the database lies is not theirs to know."""
    return "the store cannot be reached now" if isinstance(error, StoreUnavailable) else str(error)


def now_ms() -> int:
    """The time of the log: milliseconds since the Unix epoch."""
    return time.time_ns() // 1_000_000


class LiveTable:
    """A table that this process holds."""

    def __init__(
        self, hall: Hall, name: str, kept: Kept, people: Sequence[Person], dealer: Dealer | None
    ) -> None:
        self.name, self.kept, self.people, self.dealer = name, kept, list(people), dealer
        self.setup, self.key = kept.setup, hall.keys[kept.server_key]
        self.state = "playing" if dealer else "waiting"
        self._hall, self._options = hall, hall.options
        self._lock = asyncio.Lock()
        self._lines: set[Line] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._ticking: asyncio.Task[None] | None = None
        #: what the log asks for now, and from what that was counted
        self._asked: tuple[Asked, ...] = ()
        self._counted: tuple[Dealer | None, int, int] = (None, 0, 0)
        #: who left while no hand was open to leave
        self._leaving: set[int] = set()
        #: why this process does not have it any more: `over`, or `moved`
        self._gone = ""
        #: what is stored, so that anybody may know it; the dealer may be ahead
        self._shown = self._course()
        self._since = now_ms()
        #: until then nobody loses a seat because this server was away
        self._back = self._since + self._ms(self._options.patience) if dealer else 0

    # -- from outside --

    @contextlib.asynccontextmanager
    async def _held(self) -> AsyncIterator[None]:
        """The table for us alone; afterwards somebody waits for what comes next."""
        async with self._lock:
            if self._gone:
                raise RefusedError(self._gone, "this table is not here any more")
            try:
                yield
            except StoreConflict as error:
                self.drop("another process has this table")
                raise RefusedError("moved", "another process has this table") from error
            except StoreError as error:
                raise RefusedError("unavailable", trouble(error)) from error
            except FairdealError as error:
                raise RefusedError(getattr(error, "code", "refused"), str(error)) from error
            self._arm()

    async def start(self) -> None:
        """Go on from what was stored, or begin if no person is awaited."""
        async with self._held():
            if self.dealer is not None:
                await self._publish(self.dealer.proceed(self._now()))
            elif len(self.people) == self.setup.people:
                await self._open(first_terms(self.name, self.setup, self.people))

    async def sit(self, key: str, name: str) -> int:
        """The seat of a key that proved itself. Raises RefusedError."""
        async with self._held():
            for seat, one in enumerate(self.people):
                if one.key == key:
                    return seat
            if self.state != "waiting":
                raise RefusedError("begun", "the game has begun without you")
            new = person(key, name, self.key.public)
            seat = len(self.people)
            await self._hall.stored(lambda store: store.sit(self.name, seat, key, name, now_ms()))
            self.people.append(new)
            if len(self.people) == self.setup.people:
                await self._open(first_terms(self.name, self.setup, self.people))
            self._tell_all()
            return seat

    async def attach(self, line: Line) -> None:
        """Let a connection hear: who sits here, the log so far, and everything from now on."""
        async with self._held():
            entries = self.dealer.log.entries if self.dealer else []
            line.greet([self._welcome(line), *map(_frame, entries), *self._clock()])
            self._lines.add(line)

    def detach(self, line: Line) -> None:
        """A connection has gone; its seat stays."""
        self._lines.discard(line)

    async def hear(self, line: Line, data: bytes, at: int) -> None:
        """A seat's frame, which came at the time `at` (ms). What is refused, it is told."""
        try:
            async with self._held():
                await self._heard(line.seat, data, at)
        except RefusedError as error:
            self._hall.metrics.refused.labels(error.code).inc()
            line.send(_json(refused={"code": error.code, "text": str(error)}))

    def drop(self, reason: str, code: int = GOING_AWAY) -> None:
        """Let go of the table; everything is stored."""
        self._gone = "moved"
        self._disarm()
        for line in self._lines:
            line.end(code, reason)
        self._lines.clear()
        self._hall.forget(self)

    def description(self) -> dict[str, Any]:
        """TABLE of spec/live.md."""
        course = self._shown._replace(state=self.state)
        return described(self.name, self.kept, self.people, course)

    def _course(self) -> Course:
        if self.dealer is None:
            return Course(self.state)
        hand = self.dealer.hand
        replaced = [SEATS.index(by) for by in hand.replaced]
        return Course(self.state, hand.terms, self._closed(), replaced)

    # -- what happens --

    async def _heard(self, seat: int | None, data: bytes, at: int) -> None:
        if seat is None or self.dealer is None:
            raise RefusedError("not-open", "no hand is open here for you to speak in")
        if len(data) <= _CONTROL_BYTES:
            await self._control(seat, data)
        else:
            await self._publish(self.dealer.receive(data, self._now(at)), at)

    async def _control(self, seat: int, data: bytes) -> None:
        try:
            said = _controls.decode(data)
        except (msgspec.DecodeError, ValueError) as error:
            raise RefusedError("malformed", f"no frame of a seat: {error}") from error
        if said.leave:
            await self._leave(seat)
        elif said.expel is not None:
            await self._expel(seat, said.expel)

    async def _leave(self, seat: int) -> None:
        """At once; between two hands, as soon as the next one is open."""
        if self.dealer is not None and self.dealer.hand.ended:
            self._leaving.add(seat)
        else:
            await self._replace(seat, "left")

    async def _expel(self, by: int, seat: int) -> None:
        when = self._over_at(seat)
        if seat == by or when is None:
            raise RefusedError("not-awaited", "that seat has no decision to take within a time")
        if self._now() < when:
            raise RefusedError("expelled-early", "that seat has time left")
        await self._replace(seat, "expelled")

    async def _replace(self, seat: int, reason: ReplaceReason) -> None:
        if self.dealer is None:  # pragma: no cover - who speaks here has a dealer
            return
        entries = self.dealer.replace(seat, reason, self._now())
        self._hall.metrics.replaced.labels(reason).inc()
        _log.info("a bot takes a seat", extra={"table": self.name, "seat": seat, "reason": reason})
        await self._publish(entries)

    async def _open(self, terms: Terms) -> None:
        """Begin a hand: its secret and its first entries are stored together."""
        self.dealer = dealer = Dealer(terms, self.key, at=now_ms(), policies=self._hall.policies)
        self.state = "playing"
        first = dealer.log.entries
        await self._store(Begin(self._hand_name(), dealer.secret, [one.encoded() for one in first]))
        self._broadcast(first, None)
        leaving, self._leaving = self._leaving, set()
        for seat in leaving & {SEATS.index(by) for by in dealer.hand.persons}:
            await self._replace(seat, "left")

    async def _publish(self, entries: Sequence[Entry], at: int | None = None) -> None:
        """Store the entries, then let everybody have them."""
        if entries:
            new = [one.encoded() for one in entries]
            await self._store(Append(self._hand_name(), entries[0].seq, new))
            self._broadcast(entries, at)

    async def _store(self, write: Begin | Append) -> None:
        began = now_ms()
        try:
            await self._hall.writer.write(write)
        except BaseException:  # the dealer is ahead of the store now, and stays so
            self.drop("what was said could not be stored")
            raise
        if now_ms() - began > _STALL_MS:
            self._back = self._ms(self._options.patience) + now_ms()

    def _broadcast(self, entries: Sequence[Entry], at: int | None) -> None:
        self._shown = self._course()
        frames = Frames([*map(_frame, entries), *self._clock()])
        for line in self._lines:
            line.share(frames)
        metrics = self._hall.metrics
        metrics.entries.inc(len(entries))
        if at is not None:
            metrics.broadcast.observe(max(0, now_ms() - at) / 1000)
        for one in entries:
            if one.message.type in ("close", "void"):
                metrics.hands.labels(one.message.type).inc()
                _log.info("a hand ended", extra={
                    "table": self.name, "end": one.message.type, "entries": one.seq + 1
                })  # fmt: skip

    async def _end(self) -> None:
        """The game is over: nothing here is a secret any more."""
        if self.dealer is None:  # pragma: no cover - only a game that was played ends
            return
        await self._hall.stored(lambda store: store.finish(self.name))
        self._retire()
        self._hall.metrics.games.inc()

    def _retire(self) -> None:
        self.state = self._gone = "over"
        for line in self._lines:
            line.send(_json(over=self.description()))
            line.end(OVER, "the game is over")
        self._lines.clear()
        self._hall.forget(self)

    # -- time --

    def _deadlines(self) -> Iterator[Deadline]:
        """What is done when, if nobody acts before."""
        dealer, wait = self.dealer, self._ms(self._options.patience)
        if dealer is None:
            yield Deadline(self._since + self._ms(self._options.joining), None)
            return
        last, asked = dealer.log.last_at, self._awaited()
        if dealer.hand.ended:
            quiet = self._leaving >= {one.seat for one in asked}  # every ack is in
            pause = self._options.pause if self._lines and self._closed() else 0.0
            yield Deadline(last + self._ms(pause) if quiet else self._patient(last + wait), None)
            return
        for kind, seat, over in asked:
            if kind in _DECISIONS:
                idle = last + self._ms(self._options.idle)
                yield Deadline(self._patient(idle if over is None else over + wait), seat)
            else:
                yield Deadline(self._patient(last + wait), seat)

    def _patient(self, at: int) -> int:
        """Whoever was away because we were gets a while to come back."""
        return max(at, self._back)

    def _over_at(self, seat: int) -> int | None:
        """When a seat may be expelled, or None if no decision within a time is awaited of it."""
        return next((one.over_at for one in self._awaited() if one.seat == seat), None)

    def _awaited(self) -> tuple[Asked, ...]:
        """For what the hand waits. It follows from the log, so it is counted once an entry, and
        once more where a seat got time to come back.
        """
        dealer = self.dealer
        if dealer is None:
            return ()
        log, hand = dealer.log, dealer.hand
        if self._counted != (dealer, len(log), self._back):
            self._counted = dealer, len(log), self._back
            self._asked = tuple([
                Asked(kind, seat, self._over(log, hand, seat, kind))
                for kind, seat in dealer.awaited()
            ])  # fmt: skip
        return self._asked

    def _over(self, log: Log, hand: Hand, seat: int, kind: str) -> int | None:
        over = over_at(log, hand, SEATS[seat], kind) if kind in _DECISIONS else None
        return None if over is None else self._patient(over)

    def _arm(self, at_least: float = 0.001) -> None:
        """Wake up at the next deadline, but not before so many seconds."""
        self._disarm()
        if not self._gone:
            first = min(one.at for one in self._deadlines())
            delay = max(at_least, (first - now_ms()) / 1000)
            self._timer = asyncio.get_running_loop().call_later(delay, self._wake)

    def _disarm(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _wake(self) -> None:
        self._ticking = asyncio.create_task(self._tick())

    async def _tick(self) -> None:
        try:
            async with self._held():
                due = [one for one in self._deadlines() if one.at <= now_ms()]
                if due:
                    await self._act(due[0])
        except RefusedError as error:
            _log.warning("a table waits", extra={"table": self.name, "reason": str(error)})
            self._arm(at_least=_RETRY)

    async def _act(self, deadline: Deadline) -> None:
        if deadline.seat is not None:
            await self._replace(deadline.seat, "unresponsive")
        elif self.dealer is None and not self.people:
            await self._hall.stored(lambda store: store.finish(self.name))
            self._retire()  # nobody came
        elif self.dealer is None:
            await self._open(first_terms(self.name, self.setup, self.people))
        elif (closed := self._closed()) and closed.result is not None:
            await self._end()
        else:
            await self._open(self.dealer.next_terms())

    # -- small things --

    @staticmethod
    def _ms(seconds: float) -> int:
        return int(1000 * seconds)

    def _now(self, at: int | None = None) -> int:
        """The time for the next entry: never before the last one."""
        last = self.dealer.log.last_at if self.dealer and len(self.dealer.log) else 0
        return max(now_ms() if at is None else at, last)

    def _closed(self) -> Close | None:
        hand = self.dealer.hand if self.dealer else None
        if self.dealer is None or hand is None or hand.end is None:
            return None
        body = self.dealer.log.entries[hand.end].message.body
        return body if isinstance(body, Close) else None

    def _hand_name(self) -> HandName:
        if self.dealer is None:  # pragma: no cover - only what is open is stored
            raise LocalProtocolError("no hand is open")
        terms = self.dealer.hand.terms
        return HandName(self.name, GAME, terms.hand, terms.attempt)

    def _welcome(self, line: Line) -> str:
        return _json(welcome=self.description(), seat=line.seat)

    def _tell_all(self) -> None:
        for line in self._lines:
            line.send(self._welcome(line))

    def _clock(self) -> list[str]:
        """For whom the hand waits, and when the first of them may be expelled; if a clock runs."""
        asked = self._awaited()
        times = [one.over_at for one in asked if one.over_at is not None]
        if not times:
            return []
        left = max(0, min(times) - now_ms())
        return [_json(clock={"awaited": sorted({one.seat for one in asked}), "left_ms": left})]


def _json(**members: Any) -> str:
    return msgspec.json.encode(members).decode()


def _frame(entry: Entry) -> str:
    return f'{{"entry":{entry.encoded().decode()}}}'
