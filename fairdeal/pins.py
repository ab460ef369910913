"""What a user pins on the command line, and the verdict on a file that follows from it.

Keys are 64 lower-case hexadecimal digits; another writing of one is told what it looks like.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import click

from fairdeal import files
from fairdeal.collection import Document
from fairdeal.encoding import unhex
from fairdeal.errors import MalformedError
from fairdeal.findings import GameVerdict, Pinned, Verdict
from fairdeal.kinds import kind_of
from fairdeal.record import read_record
from fairdeal.verify import verify


class Pins(NamedTuple):
    """What the user knows from elsewhere, read and checked."""

    server_key: bytes | None
    seat_keys: dict[int, bytes]
    record: bytes | None
    head: str | None

    def judge(self, data: bytes) -> Verdict:
        """The verdict on a transcript. Raises MalformedError if the record is of another hand."""
        return verify(data, **self._asdict())

    def judge_game(self, hands: Iterable[bytes]) -> GameVerdict:
        """The verdict on a game. Raises MalformedError if the record is of no hand of it."""
        from fairdeal.whole_game import verify_game  # here: start-up time

        return verify_game(hands, **self._asdict())

    def judge_any(self, data: bytes) -> Verdict | GameVerdict:
        """The verdict on a transcript, a proof or a game's file."""
        if kind_of(data) != "game":
            return self.judge(data)
        from fairdeal.whole_game import read_game

        return self.judge_game(read_game(data))

    def pinned(self) -> Pinned:
        """The pins as a verdict names them."""
        return Pinned(
            head=self.head,
            record=read_record(self.record).seat if self.record is not None else None,
            seat_keys={f"seat/{seat}": key.hex() for seat, key in self.seat_keys.items()},
            server_key=self.server_key.hex() if self.server_key is not None else None,
        )


class Judged(NamedTuple):
    """A document and its verdict; `problem` if it could not be read or judged at all."""

    file: str
    verdict: Verdict | GameVerdict
    problem: str | None


def _hex_option(text: str, option: str) -> bytes:
    try:
        return unhex(text, 32)
    except MalformedError as error:
        raise click.UsageError(f"{option}: {error.problem}") from None


def _seat_keys(given: tuple[str, ...]) -> dict[int, bytes]:
    keys: dict[int, bytes] = {}
    for text in given:
        name, equals, digits = text.partition("=")
        number = name.removeprefix("seat/")
        if not equals or number not in tuple("0123456789"):
            wanted = "expected SEAT=HEX with a SEAT like 1 or seat/1"
            raise click.UsageError(f"--seat-key: {wanted}, found {text[:40]}")
        key = _hex_option(digits, f"--seat-key {name}")
        if keys.setdefault(int(number), key) != key:
            raise click.UsageError(f"--seat-key: expected one key for {name}, found two")
    return keys


def read_pins(
    server_key: str | None, seat_key: tuple[str, ...], mine: str | None, head: str | None
) -> Pins:
    """The pins that the options name. Raises UsageError, or FileError for the record's file."""
    record = None
    if mine is not None:
        record = files.read(mine)
        try:
            read_record(record)
        except MalformedError as error:
            raise files.FileError(mine, f"expected a seat's own record; {error}") from error
    return Pins(
        server_key=None if server_key is None else _hex_option(server_key, "--server-key"),
        seat_keys=_seat_keys(seat_key),
        record=record,
        head=None if head is None else _hex_option(head, "--head").hex(),
    )


def judge(document: Document, pins: Pins) -> Judged:
    """The verdict on one document, whatever is there or not."""
    file, data, problem = document
    if problem is None:
        try:
            return Judged(file, pins.judge_any(data), None)
        except MalformedError as error:  # the record is of another hand, or no game's file
            problem = str(error)
    from fairdeal.report.machine import unreadable

    return Judged(file, unreadable(problem, pins.pinned()), problem)
