"""Honest hands under any weather: schedules, lost and late messages, restarts, departures, voids.

`Chaos` owns a table and does one random thing after another, all of which honest parties may do.
Whatever happens, the logs it leaves must give no finding.
"""

from __future__ import annotations

import random
from typing import Any

from helpers import Table

from fairdeal import verify
from fairdeal.dealer import Dealer
from fairdeal.errors import LocalProtocolError, RemoteProtocolError
from fairdeal.findings import Verdict
from fairdeal.messages import Clock, Person
from fairdeal.seat import Outgoing, Seat

#: what the dealer may answer to an honest message that crossed another on its way
CROSSED = {"out-of-place", "seen-unknown", "out-of-turn", "after-end"}


class Chaos:
    """One table, `seed` deciding everything; `wild` is how often something goes wrong, 0 to 1."""

    def __init__(self, seed: object, wild: float = 0.2, **options: Any) -> None:
        self.rng = random.Random(f"chaos {seed}")
        self.wild = wild
        people = options.pop("people", self.rng.randrange(5))
        options.setdefault("house", self.rng.random() < 0.5)
        options.setdefault("hand", self.rng.randrange(1, 9))
        options.setdefault("bots", self.rng.choice(("low/1", "random/1")))
        options.setdefault("clock", self.rng.choice((None, Clock(grace_ms=50, reserve_ms=500))))
        self.table = Table(people, seed=seed, **options)
        #: messages on their way to the dealer
        self.wire: list[tuple[int, bytes]] = []
        self.attempts = 1
        self.events: list[str] = []

    # -- one random thing --

    def play(self, limit: int = 5000) -> Verdict:
        """Until nothing is left to do; the verdict of the last log."""
        for _ in range(limit):
            if self.rng.random() < self.wild * 0.1:
                self.trouble()
            if not self.turn():
                break
        return self.check()

    def turn(self) -> bool:
        """Deliver a message, or let a seat hear; whether there was anything to do."""
        table = self.table
        behind = [n for n in table.seats if table.heard[n] < len(table.log) or self._idle(n)]
        if self.wire and (not behind or self.rng.random() < 0.6):
            self.deliver()
            return True
        if not behind:
            return self.resend()
        n = self.rng.choice(behind)
        for out in table.tell(n):
            self.send(n, out)
        assert n not in table.refused, table.refused
        return True

    def _idle(self, n: int) -> bool:
        seat = self.table.seats[n]
        return seat.turn is not None

    def send(self, n: int, out: Outgoing) -> None:
        self.table.stores[n] = out.store
        if self.rng.random() >= self.wild * 0.3:  # else it is lost, and sent again later
            self.wire.append((n, out.send))
            if self.rng.random() < self.wild * 0.3:
                self.wire.append((n, out.send))

    def deliver(self) -> None:
        _, data = self.wire.pop(self.rng.randrange(len(self.wire)))
        self.table.at += self.rng.randrange(200)
        try:
            self.table.dealer.receive(data, self.table.at)
        except RemoteProtocolError as error:
            assert error.code in CROSSED, (error.code, error)
            assert error.culprit is None or error.code == "out-of-turn", error

    def resend(self) -> bool:
        """What is signed and not on the log is sent again, as after a reconnect."""
        waiting = [(n, seat.pending()) for n, seat in self.table.seats.items()]
        again = [(n, out.send) for n, out in waiting if out is not None]
        self.wire += again
        return bool(again)

    # -- trouble --

    def trouble(self) -> None:
        kind = self.rng.choice(
            (self.restart_dealer, self.restart_seat, self.restart_seat, self.leave, self.give_up)
        )
        self.events.append(f"{kind.__name__} at {len(self.table.log)}")
        kind()

    def restart_dealer(self) -> None:
        table = self.table
        table.dealer = Dealer.resume(table.log.encoded(), table.dealer.secret, table.server)
        table.dealer.proceed(table.at)

    def restart_seat(self) -> None:
        """From its store if it has one; one that never spoke starts anew, as it has signed nothing."""
        table = self.table
        if not table.seats:
            return
        n = self.rng.choice(list(table.seats))
        if n in table.stores:
            table.seats[n] = Seat.resume(
                table.stores[n], table.keys[n], server_key=table.server.public
            )
            table.heard[n] = 0

    def leave(self) -> None:
        table = self.table
        if not table.hand.persons:
            return
        seat = int(self.rng.choice(sorted(table.hand.persons))[-1])
        used_up = table.terms.clock is None or table.hand.deal is None
        reason = self.rng.choice(("left", "expelled", "unresponsive") if used_up else ("left",))
        try:
            table.dealer.replace(seat, reason, table.at)
        except LocalProtocolError:
            assert table.hand.ended
        if table.hand.end is not None and table.hand.phase.value == "voided":
            self.next_attempt()

    def give_up(self) -> None:
        table = self.table
        if table.hand.phase.value in ("commit", "reveal"):
            table.dealer.void("operator", None, table.at)
            self.next_attempt()

    def next_attempt(self) -> None:
        """The same hand again, with those who are still there."""
        table = self.table
        assert self.check().status == "incomplete"
        table.terms = table.dealer.next_terms()
        table.dealer = Dealer(table.terms, table.server, at=table.at, entropy=table.entropy)
        staying = [n for n, one in enumerate(table.terms.seats) if isinstance(one, Person)]
        table.seats = {
            n: Seat(table.keys[n], server_key=table.server.public, entropy=table.entropy)
            for n in staying
        }
        table.heard = dict.fromkeys(staying, 0)
        table.stores = {}
        self.wire = []
        self.attempts += 1

    # -- afterwards --

    def check(self) -> Verdict:
        """No finding and nobody named, with every pin that an honest party could give."""
        table = self.table
        data = table.log.encoded()
        verdict = verify(
            data,
            server_key=table.server.public,
            seat_keys={int(by[-1]): table.hand.keys[by] for by in table.hand.persons},
            head=table.log.head,
        )
        assert verdict.findings == (), (self.events, verdict.findings)
        for n, store in table.stores.items():
            seat = table.seats.get(n)
            if seat is not None and seat.log.positions:
                own = verify(data, record=store)
                assert own.findings == (), (self.events, own.findings)
        return verdict
