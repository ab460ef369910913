"""A peer that floods, repeats, sends half a line or numbers of a million digits, in every phase.

Whatever it sends, the dealer and the seat raise documented errors only, are as they were, hold no
more than before, and the hand goes on to its valid end.
"""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from helpers import SHORT, Table, found
from test_everywhere import PHASES, hand_until

from fairdeal.dealer import Dealer
from fairdeal.errors import FairdealError, LocalProtocolError, MalformedError, RemoteProtocolError

DOCUMENTED = (MalformedError, RemoteProtocolError)
#: one of each shape JSON has, and the edges of numbers and texts
SHAPES: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**53,
    1.5,
    "",
    "\u202e<b>\x1b[2J",
    "\ud800",
    "0" * 5000,
    [],
    [[]],
    {},
    {"fairdeal": 1},
)
REFUSED = ("\x1b[31mred\x1b[0m", "\u202egnp.exe")
TAKEN = ("<script>alert(1)</script>", "a" + "\u0301" * 63)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside this one."""
    yield path
    members = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, inner in members:
        yield from places(inner, (*path, name))


def changed(value: Any, path: tuple[Any, ...], shape: Any) -> Any:
    if not path:
        return shape
    copy = value.copy()
    copy[path[0]] = changed(value[path[0]], path[1:], shape)
    return copy


def mangled(data: bytes) -> Iterator[bytes]:
    """Another shape at every place, a member less, a part: all that does not say the same."""
    good = json.loads(data)
    for bad in _attempts(data, good):
        try:
            same = json.loads(bad) == good
        except ValueError:
            same = False
        if not same:
            yield bad


def _attempts(data: bytes, value: Any) -> Iterator[bytes]:
    for path in places(value):
        for shape in SHAPES:
            yield json.dumps(changed(value, path, shape)).encode()
    for name in value:
        yield json.dumps({key: inner for key, inner in value.items() if key != name}).encode()
    for size in range(0, len(data), 7):
        yield data[:size]


def floods(data: bytes) -> Iterator[bytes]:
    """What costs the sender little."""
    yield b"9" * 1_000_000
    yield b'{"at":' + b"9" * 1_000_000 + b"}"
    yield data.replace(b'"seen":"', b'"seen":"' + b"a" * 1_000_000, 1)
    yield b"[" * 1_000_000
    yield b'{"a":' * 100_000
    yield b'"' + b"\\ud83d" * 100_000 + b'"'
    yield b" " * 3_000_000 + data[:-1]
    yield data * 2
    yield b"\x00" * 1_000_000


def refused(receive: Callable[[bytes], Any], data: bytes) -> bool:
    """Whether it was refused as documented, in one printable line."""
    try:
        receive(data)
    except DOCUMENTED as error:
        assert str(error).isprintable()
        assert len(str(error)) < 500
        return True
    return False


def due(phase: str) -> tuple[Table, int, bytes]:
    """A table in this phase, whom it waits for, and the message it would send."""
    table = hand_until(PHASES[phase])
    n, out = next((n, out) for n in table.seats for out in table.tell(n))
    return table, n, out.send


def goes_on(table: Table, n: int, data: bytes) -> None:
    table.dealer.receive(data, table.at)
    table.run()
    assert table.verify().status == "valid", found(table.verify())


@pytest.mark.parametrize("phase", PHASES)
def test_any_shape_at_every_place_of_a_message(phase: str) -> None:
    table, n, data = due(phase)
    before = (len(table.log), table.dealer.secret)
    for bad in mangled(data):
        assert refused(lambda one: table.dealer.receive(one, table.at), bad), bad
        assert (len(table.log), table.dealer.secret) == before
    goes_on(table, n, data)


@pytest.mark.parametrize("phase", PHASES)
def test_any_shape_at_every_place_of_an_entry(phase: str) -> None:
    table = hand_until(PHASES[phase])
    table.step()
    n = next(n for n in table.seats if table.heard[n] < len(table.log))
    seat, data = table.seats[n], table.log.entries[table.heard[n]].encoded()
    before = (len(seat.log), seat.record)
    for bad in mangled(data):
        assert refused(seat.receive, bad), bad
        assert (len(seat.log), seat.record) == before
    table.run()
    assert not table.refused
    assert table.verify(record=seat.record).status == "valid"


def flood(table: Table, n: int, data: bytes) -> None:
    for bad in floods(data):
        assert refused(lambda one: table.dealer.receive(one, table.at), bad)
        assert refused(table.seats[n].receive, bad)


@pytest.mark.parametrize("phase", PHASES)
def test_a_flood_costs_no_memory(phase: str) -> None:
    table, n, data = due(phase)
    for _ in range(2):  # the second time all that is made once is there
        tracemalloc.start()
        flood(table, n, data)
        gc.collect()
        held, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert held < 64 * 1024
    assert peak < 64 * 1024 * 1024
    goes_on(table, n, data)


@pytest.mark.parametrize("phase", PHASES)
def test_a_message_again_and_again_is_on_the_log_once(phase: str) -> None:
    table, n, data = due(phase)
    table.dealer.receive(data, table.at)
    size = len(table.log)
    for _ in range(200):
        assert table.dealer.receive(data, table.at) == []
    assert len(table.log) == size
    entry = table.log.entries[0].encoded()
    for _ in range(200):
        assert table.seats[n].receive(entry) is None
    table.run()
    assert table.verify().status == "valid"


def test_old_messages_of_everybody_in_every_phase() -> None:
    """A peer that keeps all it has heard and sends it again, at any time, under any name."""
    table, heard = Table(4, seed="replays", deck=SHORT), []
    for _ in range(400):
        said = [(n, out) for n in table.seats for out in table.tell(n)]
        if not said:
            break
        for n, out in said:
            heard.append(out.send)
            table.give(n, out)
        size = len(table.log)
        for one in heard:
            refused(lambda data: table.dealer.receive(data, table.at), one)
        assert len(table.log) == size
    assert table.verify().status == "valid"


def seated(name: str) -> Table:
    """A table whose seat 2 has this name."""
    table = Table(4, seed="names", deck=SHORT)
    seats = list(table.terms.seats)
    seats[2] = msgspec.structs.replace(seats[2], name=name)
    terms = msgspec.structs.replace(table.terms, seats=tuple(seats))
    table.dealer = Dealer(terms, table.server, at=table.at, entropy=table.entropy)
    return table


@pytest.mark.parametrize("name", REFUSED, ids=ascii)
def test_a_name_that_acts_on_a_terminal_is_refused_and_not_repeated(name: str) -> None:
    with pytest.raises(LocalProtocolError) as refusal:
        seated(name)
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize("name", TAKEN, ids=ascii)
def test_a_name_that_only_looks_odd_is_played_with(name: str) -> None:
    assert seated(name).run().verify().status == "valid"


def test_errors_are_one_family() -> None:
    assert all(issubclass(one, FairdealError) for one in DOCUMENTED)
