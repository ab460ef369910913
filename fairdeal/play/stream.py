"""The frames of a live table's stream (spec/live.md section 3), read and written.

A frame is read strictly as JSON and for what this client needs of it; members of a `TABLE` that it
does not know are passed over. What a frame means is `player`'s business, and whether an entry is
right, `Seat`'s.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, Union

import msgspec
from msgspec import UNSET, Meta, UnsetType

from fairdeal import encoding
from fairdeal.errors import FairdealError, MalformedError
from fairdeal.messages import MAX_SEATS, Count, Hex32, Int, SeatNumber

#: bytes of a frame: more than the longest entry of a table that people sit at
MAX_FRAME: Final = 1 << 20


class StreamError(FairdealError):
    """The server does not keep to the stream, or refuses this client. Says nothing of a hand."""


class RefusedError(StreamError):
    """The server's own `error` frame or answer, with its `code`."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"the server refuses: {text} ({code})")
        self.code = code


class Free(msgspec.Struct, frozen=True, tag_field="kind", tag="free"):
    """A seat that nobody has taken yet."""


class Guest(msgspec.Struct, frozen=True, tag_field="kind", tag="person"):
    """A seat of a person, known by its key."""

    key: Hex32
    name: str


class Robot(msgspec.Struct, frozen=True, tag_field="kind", tag="bot"):
    """A seat that the server plays."""

    name: str
    policy: str


Numbers = Annotated[tuple[Int, ...], Meta(max_length=MAX_SEATS)]


class TableState(msgspec.Struct, frozen=True):
    """What the server says about its table; nothing here is proven by a log."""

    table: str
    state: Literal["waiting", "playing", "over"]
    seats: Annotated[tuple[Union[Free, Guest, Robot], ...], Meta(min_length=1, max_length=10)]
    scores: Numbers = ()


class Trouble(msgspec.Struct, frozen=True):
    """Why something was refused, for a program and for people."""

    code: str
    text: str


class Clock(msgspec.Struct, frozen=True):
    """For whom the hand waits, and after how many milliseconds they may be expelled."""

    awaited: Annotated[tuple[SeatNumber, ...], Meta(max_length=MAX_SEATS)]
    left_ms: Count


class Frame(encoding.Shape, frozen=True):
    """One frame: exactly one kind of it is set (a challenge and a welcome have two members)."""

    challenge: Hex32 | UnsetType = UNSET
    server_key: Hex32 | UnsetType = UNSET
    welcome: TableState | UnsetType = UNSET
    seat: SeatNumber | UnsetType | None = UNSET
    entry: msgspec.Raw | UnsetType = UNSET
    refused: Trouble | UnsetType = UNSET
    clock: Clock | UnsetType = UNSET
    over: TableState | UnsetType = UNSET
    error: Trouble | UnsetType = UNSET


_frames: Final = msgspec.json.Decoder(Frame)
_KINDS: Final = (
    ("challenge", "server_key"),
    ("welcome", "seat"),
    *(("entry",), ("refused",), ("clock",), ("over",), ("error",)),
)


def read_frame(data: str | bytes) -> tuple[str, Frame]:
    """A frame from the server and its kind. Raises MalformedError for anything else."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if len(raw) > MAX_FRAME:
        raise MalformedError("a frame is too large", "the frame")
    encoding.check(raw)
    frame = encoding.shape(raw, _frames)
    present = tuple(one for one in Frame.__struct_fields__ if getattr(frame, one) is not UNSET)
    kind = next((names[0] for names in _KINDS if set(names) == set(present)), None)
    if kind is None:
        raise MalformedError("it is no frame of the stream", "the frame")
    return kind, frame


def write_frame(**members: object) -> str:
    """A frame to the server."""
    return encoding.encode(members).decode()
