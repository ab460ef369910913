"""Nobody who holds honest logs can frame the server with them.

The adversary has no key: it cuts, repeats, swaps, dates, chains again, splices in entries of other
honest logs of the table (another hand, another attempt, a voided one), strips signatures, writes
wrong ones, and writes entries of its own, unsigned. A friend of it may add what its seat signed and
the server never had. The server is honest, so no finding may name it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec
import pytest
from cheats import UnreadablePass
from forge import Forge, history
from helpers import SEATS, SERVER, Table

from fairdeal import sealing, verify
from fairdeal.hand import Hand
from fairdeal.log import Log, compacted, read_message
from fairdeal.messages import (
    Ack,
    Choose,
    Clock,
    Commit,
    Dispute,
    Entry,
    Pass,
    Play,
    Replace,
    Reveal,
    Void,
)
from fairdeal.seat import Seat

LONG = bool(os.environ.get("FAIRDEAL_LONG"))
Logs = list[Log]


def clear(log: Log) -> None:
    verdict = verify(log.encoded())
    assert SERVER not in verdict.culprits, verdict.findings


def keys_of(log: Log) -> list[bytes]:
    hand, keys = Hand(), []
    for place, (entry, digest) in enumerate(zip(log.entries, log.message_hashes, strict=True)):
        judged = hand.judge(entry.message, digest, log.seen_by(place))
        party = hand.party_of(entry.message.by) if hand.size else SERVER
        hand.take(judged)
        keys.append(hand.keys[party])
    return keys


# -- honest logs ---------------------------------------------------------------------------------


class LateReveal(Seat):
    """Reveals something else, and last of all."""

    def _reveal(self) -> Reveal:
        return Reveal(sealed=self._seal("reveal", b"\x77" * 64))


def committed(**options: Any) -> Table:
    options.setdefault("people", 4)
    return Table(**options).run(lambda t: len(t.hand.commits) == len(t.hand.shufflers))


def over_a_bad_reveal() -> Table:
    """The last reveal is bad: the server, which has all others, must void."""
    table = committed(seed="bad reveal", seat={2: LateReveal})
    for n in (0, 1, 3, 2):
        table.give(n, table.tell(n)[0])
    return table


def expelled() -> Table:
    """A seat uses its whole reserve and is expelled; the hand goes on."""
    table = Table(4, seed="expelled", clock=Clock(grace_ms=5000, reserve_ms=60000))
    table.run(lambda t: len(t.hand.plays) == 7)
    table.at += 70_000
    table.dealer.replace(int(table.hand.tricks.turn or 0), "expelled", table.at)
    return table.run()


def last_hand() -> Table:
    """A hand that ends its game."""
    return Table(4, seed="last", hand=8, scores=(95, 96, 97, 98)).run()


def voided(phase: str) -> Table:
    table = Table(4, seed=("voided", phase))
    if phase != "open":
        table.give(1, table.tell(1)[0])
    if phase == "reveal":
        table = committed(seed=("voided", phase))
        table.give(3, table.tell(3)[0])
    table.dealer.void("operator", None, table.at)
    return table


def silent() -> Table:
    table = committed(seed="silent")
    for n in (0, 1, 3):
        table.give(n, table.tell(n)[0])
    table.dealer.void("no-reveal", 2, table.at)
    return table


@lru_cache(maxsize=1)
def honest() -> dict[str, Log]:
    """Logs of an honest server, whatever its seats do; some compacted."""
    first, second, third = history(1)[0]
    odd = history(0)[0]
    tables = {
        "attempt": first,
        "second": second,
        "next": third,
        "other": odd[1],
        "other next": odd[2],
        "last": last_hand(),
        "expelled": expelled(),
        "bad reveal": over_a_bad_reveal(),
        "bad pass": Table(4, seed="bad pass", seat={2: UnreadablePass}).run(),
        "silent": silent(),
        "voided open": voided("open"),
        "voided commit": voided("commit"),
        "voided reveal": voided("reveal"),
        "dispute": disputed(),
    }
    logs = {name: table.log for name, table in tables.items()}
    return logs | {f"compact {name}": compacted(log, keys_of(log)) for name, log in logs.items()}


class Liar(Seat):
    """Disputes a box that is in order."""

    def _due_answer(self) -> Any:
        if (
            self.hand.deal is not None
            and ("dispute", self.log.hashes[self.hand.deal]) not in self._sent
        ):
            return self._say(
                Dispute(hand_key=self._hand_key.hex()), self.log.hashes[self.hand.deal]
            )
        return super()._due_answer()


def disputed() -> Table:
    return Table(4, seed="liar", seat={3: Liar}).run()


def test_the_logs_name_no_server_as_they_are() -> None:
    for log in honest().values():
        clear(log)


# -- by hand -------------------------------------------------------------------------------------

FRAMES: dict[str, Callable[[], Logs]] = {}


def frame(make: Callable[[], Logs]) -> Callable[[], Logs]:
    FRAMES[make.__name__] = make
    return make


def fakes(log: Log, rng: random.Random) -> list[tuple[str, Any]]:
    """Entries that anyone can write, unsigned."""
    by = rng.choice(SEATS[:4])
    seat = SEATS.index(by)
    return [
        (SERVER, Replace(seat=seat, reason=rng.choice(("left", "expelled", "unresponsive")))),
        (by, Commit(commitment="33" * 32)),
        (by, Commit(commitment="33" * 32, hand_key="09" + "00" * 31)),
        (by, Reveal(sealed="44" * 112)),
        (by, Pass(commitment="55" * 32)),
        (by, Pass(commitment="55" * 32, sealed="66" * 90)),
        (by, Play(card=rng.choice(("2C", "AS", "QS", "TH", "3D", "ZZ")))),
        (by, Choose(moon="add")),
        (by, Dispute(hand_key="77" * 32)),
        (by, Ack()),
        (SERVER, Void(hand_key="88" * 32, reason="operator", seat=None, seeds={})),
    ]


@frame
def one_made_up_entry_anywhere() -> Logs:
    """Every kind of unsigned entry in every place, the rest chained again or as it was, stripped or not."""
    logs = []
    rng = random.Random(1)
    for name, log in honest().items():
        for place in rng.sample(range(1, len(log) + 1), min(len(log), 5)):
            for by, body in rng.sample(fakes(log, rng), 3):
                forge = Forge(log.entries[:place]).say(by, body)
                for entry in log.entries[place:]:
                    forge.raw(entry)
                logs.append(forge.log)
        assert name
    return logs


@frame
def replace_before_the_end() -> Logs:
    """A made-up `replace` just before a server's message: it was not said of this table."""
    logs = []
    for log in honest().values():
        for place, entry in enumerate(log.entries):
            if place and entry.message.type in ("close", "void", "deal", "exchange", "replace"):
                for seat in range(4):
                    forge = Forge(log.entries[:place])
                    forge.say(SERVER, Replace(seat=seat, reason="left"))
                    for rest in log.entries[place:]:
                        forge.raw(rest)
                    logs.append(forge.log)
    return logs


@frame
def commit_of_a_replaced_seat_before_a_void() -> Logs:
    """A `void` that does not disclose the seed of a commitment that was never made."""
    logs = []
    for name in ("voided open", "voided commit"):
        log = honest()[name]
        for seat in (0, 2):
            forge = Forge(log.entries[:-1]).say(SERVER, Replace(seat=seat, reason="left"))
            forge.say(SEATS[seat], Commit(commitment="33" * 32))
            logs.append(forge.raw(log.entries[-1]).log)
    return logs


@frame
def persons_messages_as_the_servers() -> Logs:
    """A made-up `replace` before persons' commits and passes, stripped: later signatures cover them."""
    logs = []
    for log in honest().values():
        for place, entry in enumerate(log.entries):
            if entry.message.type not in ("commit", "pass", "reveal", "play"):
                continue
            if entry.message.type == "play" and place % 9:
                continue
            forge = Forge(log.entries[:place])
            seat = SEATS.index(entry.message.by) if entry.message.by in SEATS else 0
            forge.say(SERVER, Replace(seat=seat, reason="left"))
            for rest in log.entries[place:]:
                mine = rest.message.by == entry.message.by
                forge.raw(msgspec.structs.replace(rest, sig=None) if mine else rest)
            logs.append(forge.log)
    return logs


@frame
def late_reveal_before_a_void() -> Logs:
    """A seat's real reveal, which came too late or got lost, put before the void that it crossed."""
    logs = []
    for reason, seat in (("no-reveal", 2), ("operator", None), ("left", 2)):
        table = committed(seed=("late", reason))
        for n in (0, 1, 3):
            table.give(n, table.tell(n)[0])
        late = read_message(table.tell(2)[0].send)
        table.dealer.void(reason, seat, table.at)
        forge = Forge(table.log.entries[:-1]).signed(late.message, late.sig)
        logs.append(forge.raw(table.log.entries[-1]).log)
        forge = Forge(table.log.entries[:-1]).signed(late.message, late.sig)
        logs.append(forge.chain(table.log.entries[-1]).log)
    return logs


@frame
def play_before_an_expulsion() -> Logs:
    """A made-up play of the seat that was expelled for its time, before the `replace`; or other times."""
    log = honest()["expelled"]
    place = next(n for n, one in enumerate(log.entries) if one.message.type == "replace")
    seat = SEATS[log.entries[place].message.body.seat]
    logs = []
    for card in ("2C", "AS", "ZZ"):
        for rechain in (True, False):
            forge = Forge(log.entries[:place]).say(seat, Play(card=card), seen="11" * 32)
            for rest in log.entries[place:]:
                forge.chain(rest) if rechain else forge.raw(rest)
            logs.append(forge.log)
    return logs


@frame
def signature_spoilt_under_a_bad_reveal() -> Logs:
    """What made the server give up is not proven any more once a signature under it is spoilt."""
    logs = []
    for name in ("bad reveal", "bad pass", "dispute", "compact bad reveal", "compact bad pass"):
        log = honest()[name]
        for place, one in enumerate(log.entries):
            for sig in ("00" * 64, None):
                changed = [*log.entries]
                changed[place] = msgspec.structs.replace(one, sig=sig)
                logs.append(Log(changed))
    return logs


@frame
def other_keys_in_a_made_up_open() -> Logs:
    """A made-up `open` gives people the server's key, or the server another's, and its log follows."""
    logs = []
    for name in ("second", "last", "compact last", "expelled"):
        log = honest()[name]
        opened = log.entries[0].message.body
        mine = opened.server_key
        seats = tuple(msgspec.structs.replace(one, key=mine) for one in opened.seats)
        for terms in (
            msgspec.structs.replace(opened, seats=seats),
            msgspec.structs.replace(opened, seats=(seats[0], *opened.seats[1:])),
            msgspec.structs.replace(opened, hand_key="09" + "00" * 31),
        ):
            for strip in (True, False):
                forge = Forge().say(SERVER, terms, seen="0" * 64)
                for rest in log.entries[1:]:
                    forge.raw(msgspec.structs.replace(rest, sig=None if strip else rest.sig))
                logs.append(forge.log)
    return logs


@frame
def logs_of_one_table_in_a_row() -> Logs:
    """Every honest log behind every other, as it is, chained, and without its signatures."""
    logs = []
    names = ("attempt", "second", "next", "bad reveal", "silent", "last")
    for one in names:
        for other in names:
            raw, chained = Forge(honest()[one].entries), Forge(honest()[one].entries)
            for entry in honest()[other].entries:
                raw.raw(entry)
                chained.chain(entry, strip=True)
            logs += [raw.log, chained.log]
    return logs


class Twisted(Seat):
    """A seat whose hand key is a point on the twist, or has a component of small order."""

    public = "02" + "00" * 31

    def _commit(self) -> Commit:
        return msgspec.structs.replace(super()._commit(), hand_key=self.public)  # type: ignore[type-var]

    def _opened(self, kind: str, shares: Any) -> None:
        return None


@frame
def hand_key_that_has_no_private_one() -> Logs:
    """A seat's hand key that no private key has: its dispute must not stand against the server."""
    logs = []
    for n in (2, 3, 4, 5, 6, 7, 8, 9):
        kind = type("Twist", (Twisted,), {"public": f"{n:02x}" + "00" * 31})
        table = Table(4, seed=("twist", n), seat={1: kind}).run()
        assert sealing.is_hand_key(bytes.fromhex(kind.public))
        logs.append(table.log)
    return logs


@pytest.mark.parametrize(
    "name",
    list(FRAMES),
)
def test_frame_does_not_name_the_server(name: str) -> None:
    logs = FRAMES[name]()
    assert logs
    for log in logs:
        clear(log)


# -- at random -----------------------------------------------------------------------------------


def edited(rng: random.Random, log: Log, logs: list[Log]) -> Log:
    """An honest log after a few edits, chaining again from somewhere among them."""
    entries: list[Entry] = list(log.entries)
    for _ in range(rng.randrange(1, 5)):
        what = rng.randrange(10)
        place = rng.randrange(1, len(entries) + 1)
        low = max(1, place - 8)
        near = rng.randrange(low, min(len(entries), place + 8) + 1)
        if what == 0 and len(entries) > 2:
            del entries[place : place + rng.randrange(1, 4)]
        elif what == 1:
            entries.insert(near, entries[place - 1])
        elif what == 2 and place < len(entries):
            entries.insert(near, entries.pop(place))
        elif what == 3:
            one = entries[place - 1]
            entries[place - 1] = msgspec.structs.replace(
                one, at=max(0, one.at - 10 ** rng.randrange(9))
            )
        elif what == 4:
            other = rng.choice(logs).entries
            start = rng.randrange(len(other))
            entries[near:near] = other[start : start + rng.randrange(1, 30)]
        elif what == 5:
            end = place + rng.choice((1, 1, 50))
            entries[place - 1 : end] = [
                msgspec.structs.replace(one, sig=None) for one in entries[place - 1 : end]
            ]
        elif what == 6:
            one = entries[place - 1]
            entries[place - 1] = msgspec.structs.replace(one, sig="00" * 64)
        elif what == 7:
            entries = chained(entries, place)
        else:
            by, body = rng.choice(fakes(log, rng))
            forge = Forge(entries[:place])
            seen = rng.choice((None, forge.since, "11" * 32, rng.choice(log.hashes)))
            forge.say(by, body, seen=seen)
            entries.insert(place, forge.log.entries[-1])
    return Log(entries)


def chained(entries: list[Entry], place: int) -> list[Entry]:
    log = Log(entries[:place])
    for one in entries[place:]:
        log.append(Entry(max(one.at, log.last_at), one.message, log.head, len(log), one.sig))
    return log.entries


#: who did deviate in an honest server's log
CHEATS = {"bad reveal": {"seat/2"}, "bad pass": {"seat/2"}, "dispute": {"seat/3"}}


def test_random_edits_name_nobody_honest() -> None:
    logs = honest()
    names = list(logs)
    for number in range(100_000 if LONG else 350):
        rng = random.Random(f"edits {number}")
        name = rng.choice(names)
        log = edited(rng, logs[name], list(logs.values()))
        if log.entries[0].message.type != "open":
            continue
        verdict = verify(log.encoded())
        named = set(verdict.culprits) - CHEATS.get(name.removeprefix("compact "), set())
        assert not named, (number, name, verdict.findings)
