"""What is fuzzed: everything that takes bytes from somebody else.

Each target takes any bytes and may raise nothing. `fuzz.py` drives them with atheris; the test
replays the checked-in corpus through them without it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from helpers import Table

from fairdeal import encoding, verify
from fairdeal.dealer import Dealer
from fairdeal.errors import LocalProtocolError, MalformedError, RemoteProtocolError
from fairdeal.evidence import compare
from fairdeal.log import read_log, read_message, read_one_entry
from fairdeal.record import read_record
from fairdeal.report import text
from fairdeal.seat import Seat


CORPUS = Path(__file__).parent / "corpus"


def parser(data: bytes) -> None:
    """Every reader: a value or MalformedError; what is read is written back as the same value."""
    for read in (encoding.parse, read_log, read_one_entry, read_message, read_record):
        try:
            value = read(data)
        except MalformedError as error:
            assert str(error).isprintable(), error
            continue
        if read is encoding.parse:
            assert encoding.parse(encoding.canonical(value)) == value
        elif read is read_log:
            assert read_log(value.encoded()).hashes == value.hashes


def verifier(data: bytes) -> None:
    """Any bytes give a verdict, never `valid` unless they are an honest hand; all of it can be shown."""
    verdict = verify(data)
    assert verdict.status != "valid" or read_log(data).hashes[0] in honest_hands()
    for line in text.verdict("file", verdict):
        str(line)


def comparer(data: bytes) -> None:
    """A copy that anybody wrote, held against an honest one: names nobody."""
    try:
        found = compare(honest(), data)
    except MalformedError:
        return
    assert found.culprit is None


def dealer(data: bytes) -> None:
    """A message from a peer: refused, and the dealer is as it was, or taken."""
    log, secret, key, at = dealing()
    one = Dealer.resume(log, secret, key)
    size, state = len(one.log), one.hand.phase
    try:
        one.receive(data, at)
    except (MalformedError, RemoteProtocolError):
        assert (len(one.log), one.hand.phase) == (size, state)


def seat(data: bytes) -> None:
    """An entry from a server: refused, and the seat is as it was, or taken."""
    record, key, entries = sitting()
    one = Seat.resume(record, key)
    for entry in entries:
        one.receive(entry)
    size, state = len(one.log), one.hand.phase
    try:
        one.receive(data)
    except (MalformedError, RemoteProtocolError, LocalProtocolError):
        assert (len(one.log), one.hand.phase) == (size, state)


@lru_cache(maxsize=1)
def honest() -> bytes:
    """Not played anew: boxes are sealed with fresh randomness, so that would be another hand."""
    return (CORPUS / "comparer" / "honest").read_bytes()


@lru_cache(maxsize=1)
def honest_hands() -> frozenset[str]:
    """The first entry's hash of every honest transcript in the corpus: nobody can forge others."""
    hashes = {read_log(honest()).hashes[0]}
    for path in CORPUS.glob("*/*"):
        try:
            hashes.add(read_log(path.read_bytes()).hashes[0])
        except MalformedError:
            continue
    return frozenset(hashes)


@lru_cache(maxsize=1)
def dealing() -> tuple[bytes, bytes, object, int]:
    table = Table(2, seed="fuzz dealer").run(lambda t: len(t.hand.plays) == 10)
    return table.log.encoded(), table.dealer.secret, table.server, table.at


@lru_cache(maxsize=1)
def sitting() -> tuple[bytes, object, list[bytes]]:
    table = Table(2, seed="fuzz seat").run(lambda t: len(t.hand.plays) == 10)
    heard = table.log.entries[: table.heard[0]]
    return table.stores[0], table.keys[0], [entry.encoded() for entry in heard]


TARGETS: dict[str, Callable[[bytes], None]] = {
    "parser": parser,
    "verifier": verifier,
    "comparer": comparer,
    "dealer": dealer,
    "seat": seat,
}
