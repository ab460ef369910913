"""What a seat remembers of one hand (spec section 3.4): its store, and its evidence afterwards.

The record holds the seat's secrets of this hand: keep the file to yourself. It never holds the
signing key. `Seat` writes it before it sends anything; the verifier reads it for `--mine`.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from fairdeal import encoding
from fairdeal.encoding import Shape
from fairdeal.errors import MalformedError
from fairdeal.kinds import kind_of
from fairdeal.messages import (
    FORMAT_VERSION,
    Cards,
    Count,
    Hex32,
    Hex64,
    SeatNumber,
    Signed,
    WireMessage,
    read_signed,
)


class Head(Shape, frozen=True):
    """The last entry a seat had seen: its number and its hash."""

    hash: Hex32
    seq: Count


class Record(Shape, frozen=True):
    """One seat's memory of one hand. Its `repr` hides what is secret."""

    dealt: Cards | None
    hand: Hex32
    hand_key: Hex32
    head: Head
    key: Hex32
    passed: Cards | None
    received: Cards | None
    seat: SeatNumber
    seed: Hex64
    sent: Annotated[tuple[msgspec.Raw, ...], Meta(max_length=256)]

    def __repr__(self) -> str:
        return f"Record(hand={self.hand}, seat={self.seat})"

    def messages(self) -> tuple[Signed, ...]:
        """Everything the seat has signed in this hand. Raises MalformedError."""
        sent = []
        for place, raw in enumerate(self.sent):
            try:
                sent.append(read_signed(encoding.shape(raw, _message)))
            except MalformedError as error:
                raise error.under(f"$.record.sent[{place}]") from error
        return tuple(sent)


class _File(Shape, frozen=True):
    fairdeal: Annotated[int, Meta(ge=FORMAT_VERSION, le=FORMAT_VERSION)]
    record: Record


_message: Final[msgspec.json.Decoder[WireMessage]] = msgspec.json.Decoder(WireMessage)
_file: Final = msgspec.json.Decoder(_File)


def read_record(data: bytes) -> Record:
    """A seat's record. Raises MalformedError, naming the place, for anything else."""
    encoding.check(data)  # the whole text: messages in it are not looked into by its shape
    try:
        record = encoding.shape(data, _file).record
    except MalformedError as error:
        raise _explained(data, error) from error
    record.messages()
    return record


_NOT_A_RECORD: Final = {
    "transcript": ("it is a transcript, not a seat's own record", "$.entries"),
    "proof": ("it is a proof, not a seat's own record", "$.proof"),
    "game": ("it is a game's file, not a seat's own record", "$.hands"),
    "other": ("it is JSON, but no seat's record", "$"),
}


def _explained(data: bytes, error: MalformedError) -> MalformedError:
    """A file of another kind is said to be that."""
    kind = kind_of(data)
    return MalformedError(*_NOT_A_RECORD[kind]) if kind in _NOT_A_RECORD else error


def write_record(record: Record) -> bytes:
    """The record's JSON."""
    return encoding.encode(_File(fairdeal=FORMAT_VERSION, record=record))
