"""What is said: one frozen type per message body, the message around it, the entry around that.

The members and their JSON are spec section 4.2, exact to the byte. A value of these types has the
right shape and ranges; whether it may be said now is `hand`'s business, whether it is true
`verify`'s. No type here has a field for a secret, except where the protocol discloses one.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from collections.abc import Callable
from hashlib import sha256
from typing import Annotated, Any, Final, Literal, Union

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from fairdeal.encoding import (
    MAX_INT,
    Shape,
    encode,
    frame,
    shape_error,
)
from fairdeal.errors import MalformedError
from fairdeal.games import Rules
from fairdeal.parties import PARTIES

#: the version of the transcript format, as `"fairdeal": 1`
FORMAT_VERSION: Final = 1
#: the revision of spec/protocol.md that this code implements; a test holds the two together
SPEC_VERSION: Final = "1.0.0"
MAX_ENTRIES: Final = 4096
MAX_SEATS: Final = 10

Hex32 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Hex64 = Annotated[str, Meta(pattern=r"^[0-9a-f]{128}\Z")]
#: hexadecimal too, which `_require_boxes` sees to: a pattern takes its time over long texts
Sealed = Annotated[str, Meta(min_length=2, max_length=16384)]
Int = Annotated[int, Meta(ge=-MAX_INT, le=MAX_INT)]
Count = Annotated[int, Meta(ge=0, le=MAX_INT)]
Positive = Annotated[int, Meta(ge=1, le=MAX_INT)]
SeatNumber = Annotated[int, Meta(ge=0, lt=MAX_SEATS)]
Text = Annotated[str, Meta(min_length=1, max_length=64)]
Code = Annotated[str, Meta(min_length=1, max_length=8)]
Codes = Annotated[tuple[Code, ...], Meta(max_length=1024)]
PARTY_PATTERN: Final = r"^(?:server|house|seat/[0-9])\Z"
Party = Annotated[str, Meta(pattern=PARTY_PATTERN)]
Shuffler = Annotated[str, Meta(pattern=r"^(?:house|seat/[0-9])\Z")]
PolicyName = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9-]{0,31}/[0-9]{1,4}\Z")]


# -- parts ---------------------------------------------------------------------------------------


class Deck(Shape, frozen=True):
    """Either `packs` and `removed`, or `cards`; `hand` turns it into the codes."""

    cards: Codes | UnsetType = UNSET
    packs: Annotated[int, Meta(ge=1, le=8)] | UnsetType = UNSET
    removed: Annotated[tuple[Code, ...], Meta(max_length=51)] | UnsetType = UNSET


class Person(Shape, frozen=True, tag_field="kind", tag="person"):
    """A seat with a key of its own."""

    key: Hex32
    name: Text


class Bot(Shape, frozen=True, tag_field="kind", tag="bot"):
    """A seat the server plays, by a policy."""

    key: Hex32
    name: Text
    policy: PolicyName


class Clock(Shape, frozen=True):
    """Milliseconds: free for every decision, and then from a reserve for the hand."""

    grace_ms: Count
    reserve_ms: Count


class Cards(Shape, frozen=True):
    """An opening: the cards and the 32-byte salt of their commitment."""

    cards: Codes
    salt: Hex32


class Share(Shape, frozen=True):
    """What a seat gets: a commitment, and for a person the cards and salt in a box."""

    commitment: Hex32
    sealed: Sealed | UnsetType = UNSET


class Result(Shape, frozen=True):
    """How the game ended. `places` by seat from 1, equal ones alike; `left` come last."""

    left: Annotated[tuple[SeatNumber, ...], Meta(max_length=MAX_SEATS)]
    places: Annotated[tuple[Positive, ...], Meta(max_length=MAX_SEATS)]
    winners: Annotated[tuple[SeatNumber, ...], Meta(max_length=MAX_SEATS)]


Seats = Annotated[tuple[Union[Person, Bot], ...], Meta(min_length=2, max_length=MAX_SEATS)]
Shares = Annotated[tuple[Share, ...], Meta(max_length=MAX_SEATS)]
Openings = Annotated[tuple[Cards, ...], Meta(max_length=MAX_SEATS)]
Scores = Annotated[tuple[Int, ...], Meta(max_length=MAX_SEATS)]
Seeds = Annotated[dict[Shuffler, Hex64], Meta(max_length=MAX_SEATS + 1)]

# -- bodies --------------------------------------------------------------------------------------


class Open(Shape, frozen=True):
    """The table, the terms and the keys of one hand."""

    attempt: Positive
    clock: Clock | None
    deck: Deck
    game: Text
    hand: Positive
    hand_key: Hex32
    house: bool
    previous: Hex32 | None
    rules: Rules
    scores: Scores
    seats: Seats
    server_key: Hex32
    substitute: PolicyName
    table: Text


class Commit(Shape, frozen=True):
    """A shuffler's commitment to its seed; a person's also brings its hand key."""

    commitment: Hex32
    hand_key: Hex32 | UnsetType = UNSET


class Reveal(Shape, frozen=True):
    """A person's seed, sealed to the server's hand key."""

    sealed: Sealed


class Deal(Shape, frozen=True):
    """What each seat is dealt."""

    hands: Shares


class Pass(Shape, frozen=True):
    """The cards a seat passes."""

    commitment: Hex32
    sealed: Sealed | UnsetType = UNSET


class Exchange(Shape, frozen=True):
    """What each seat receives."""

    hands: Shares


class Play(Shape, frozen=True):
    """A card."""

    card: Code


class Choose(Shape, frozen=True):
    """What the seat that shot the moon does with it."""

    moon: Literal["add", "subtract"]


class Close(Shape, frozen=True):
    """Everything is opened, and the hand counted."""

    deals: Openings
    exchanges: Openings
    passes: Openings
    points: Scores
    result: Result | None
    scores: Scores
    seeds: Seeds


class Ack(Shape, frozen=True):
    """A person has seen the close."""


ReplaceReason = Literal["left", "expelled", "unresponsive"]


class Replace(Shape, frozen=True):
    """A bot plays the seat to the end of the game."""

    reason: ReplaceReason
    seat: SeatNumber


class Dispute(Shape, frozen=True):
    """A person discloses its private hand key, to show a box it could not use."""

    hand_key: Hex32


VoidReason = Literal["no-reveal", "bad-reveal", "bad-pass", "dispute", "left", "operator"]


class Void(Shape, frozen=True):
    """The attempt is over; the server discloses its private hand key and the seeds it knows."""

    hand_key: Hex32
    reason: VoidReason
    seat: SeatNumber | None
    seeds: Seeds


Body = Union[
    Open, Commit, Reveal, Deal, Pass, Exchange, Play, Choose, Close, Ack, Replace, Dispute, Void
]

#: every message type, in the order of a hand
BODIES: Final[dict[str, type[Body]]] = {
    "open": Open,
    "commit": Commit,
    "reveal": Reveal,
    "deal": Deal,
    "pass": Pass,
    "exchange": Exchange,
    "play": Play,
    "choose": Choose,
    "close": Close,
    "ack": Ack,
    "replace": Replace,
    "dispute": Dispute,
    "void": Void,
}
_TYPE_OF: Final[dict[type, str]] = {body: name for name, body in BODIES.items()}

# -- message and entry ---------------------------------------------------------------------------


class Message(Struct, frozen=True, gc=False):
    """What its author says: `by`, `type`, `seen`, `body` (spec section 3.1)."""

    body: Body
    by: str
    seen: str
    type: str

    def encoded(self) -> bytes:
        """Its canonical JSON, which is what is hashed."""
        return encode(self)

    def digest(self) -> bytes:
        """`message_hash`, 32 bytes."""
        return message_hash(self.encoded())


_MESSAGE_HEAD: Final = frame("fairdeal/v1/message")


def message_hash(encoded: bytes) -> bytes:
    """`H("fairdeal/v1/message", JCS(message))`, its frame written out."""
    return sha256(_MESSAGE_HEAD + _u32(len(encoded)) + encoded).digest()


_u32: Final = struct.Struct(">I").pack


def message(by: str, seen: str, body: Body) -> Message:
    """The message of a body; its `type` follows from the body's."""
    return Message(body, by, seen, _TYPE_OF[type(body)])


class Signed(Struct, frozen=True):
    """A message on its way to the server: with its author's signature, 128 hex digits."""

    message: Message
    sig: str

    def encoded(self) -> bytes:
        """Its canonical JSON, as sent."""
        inner = self.message.encoded()
        tail = b',"sig":"%b","type"' % self.sig.encode()
        head, _, kind = inner.rpartition(b',"type"')
        return head + tail + kind


class Entry(Struct, frozen=True, gc=False):
    """A message with its place in the log, which the server gave it (spec section 3.1)."""

    at: int
    message: Message
    prev: str
    seq: int
    sig: str | None

    def encoded(self) -> bytes:
        """Its canonical JSON."""
        m = self.message
        sig = b"" if self.sig is None else b'"sig":"%b",' % self.sig.encode()
        return b'{"at":%d,"body":%b,"by":"%b","prev":"%b","seen":"%b","seq":%d,%b"type":"%b"}' % (
            self.at,
            encode(m.body),
            m.by.encode(),
            self.prev.encode(),
            m.seen.encode(),
            self.seq,
            sig,
            m.type.encode(),
        )

    def digest(self, message_hash: bytes) -> bytes:
        """`entry_hash = H("fairdeal/v1/entry", u64(seq), prev, u64(at), message_hash)`, 32 bytes.

        Signatures are not under it. The frame is written out: it is built for every entry.
        """
        prev = bytes.fromhex(self.prev)
        framed = _framed_entry(_ENTRY_HEAD, 8, self.seq, 32, prev, 8, self.at, 32, message_hash)
        return sha256(framed).digest()


_ENTRY_HEAD: Final = frame("fairdeal/v1/entry")
_framed_entry: Final = struct.Struct(f">{len(_ENTRY_HEAD)}sIQI32sIQI32s").pack


# -- reading -------------------------------------------------------------------------------------

_Digits64 = Annotated[str, Meta(min_length=64, max_length=64)]
_Digits128 = Annotated[str, Meta(min_length=128, max_length=128)]


class WireMessage(Shape, frozen=True, kw_only=True):
    """A signed message as JSON has it, its body not yet looked into."""

    body: msgspec.Raw
    by: Party
    seen: _Digits64
    sig: _Digits128
    type: Annotated[str, Meta(max_length=16)]


class WireEntry(Shape, frozen=True, kw_only=True):
    """An entry as JSON has it, its body not yet looked into."""

    at: Count
    body: msgspec.Raw
    by: str
    prev: _Digits64
    seen: _Digits64
    seq: Count
    sig: _Digits128 | UnsetType = UNSET
    type: Annotated[str, Meta(max_length=16)]


def read_entry(wire: WireEntry) -> Entry:
    """The entry of a wire entry, whose hexadecimal is still to be checked (`is_hex`).

    Raises MalformedError, its place counted from the entry.
    """
    kind, by, sig = wire.type, wire.by, wire.sig
    if by not in PARTIES:  # not by a pattern: it would be looked at in every entry
        raise MalformedError(_no_match(PARTY_PATTERN), "$.by")
    said = Message(_read_body(kind, wire.body), by, wire.seen, kind)
    return Entry(wire.at, said, wire.prev, wire.seq, None if sig is UNSET else sig)


def read_signed(wire: WireMessage) -> Signed:
    """The signed message of a wire message. Raises MalformedError, its place from the message."""
    if not is_hex(wire.seen + wire.sig):
        raise MalformedError(LOWER_HEX, "$")
    said = Message(_read_body(wire.type, wire.body), wire.by, wire.seen, wire.type)
    return Signed(message=said, sig=wire.sig)


_DECODE: Final[dict[str, Callable[[msgspec.Raw], Any]]] = {
    name: msgspec.json.Decoder(body).decode for name, body in BODIES.items()
}


def _read_body(kind: str, raw: msgspec.Raw) -> Any:
    try:
        body = _DECODE[kind](raw)
    except KeyError as error:
        raise MalformedError(f"unknown type {kind!a}", "$.type") from error
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise shape_error(error, "$.body") from error
    if kind == "open":
        _require_text(body, "$.body")
    elif kind in _BOXED:
        _require_boxes(body)
    return body


#: what has boxes
_BOXED: Final = ("reveal", "deal", "pass", "exchange")


def _require_boxes(body: Reveal | Deal | Pass | Exchange) -> None:
    """A box is whole bytes in lower-case hexadecimal."""
    if isinstance(body, Deal | Exchange):
        boxes = {f"$.body.hands[{n}].sealed": one.sealed for n, one in enumerate(body.hands)}
    else:
        boxes = {"$.body.sealed": body.sealed}
    found = [(place, box) for place, box in boxes.items() if box is not UNSET and not is_hex(box)]
    for place, box in found:
        if _DIGITS.fullmatch(box) is None:
            raise MalformedError(_no_match(_DIGITS.pattern), place)
    if found:
        raise MalformedError("a box has an odd number of hexadecimal digits", "$.body")


_DIGITS: Final = re.compile(r"^[0-9a-f]+\Z")


def _no_match(pattern: str) -> str:
    """What msgspec says of a text that a pattern does not fit, as `shape_error` passes it on."""
    return ascii(f"Expected `str` matching regex {pattern!r}")[1:-1]


LOWER_HEX: Final = "expected lower-case hexadecimal digits in prev, seen and sig"


def is_hex(text: str) -> bool:
    """Whether a text is an even number of lower-case hexadecimal digits."""
    try:
        return bytes.fromhex(text).hex() == text
    except ValueError:
        return False


# -- text that people chose ----------------------------------------------------------------------

#: control, bidirectional, zero-width and tag characters (spec section 3.5)
_REFUSED_TEXT: Final = re.compile(
    "[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def text_problem(text: str) -> str | None:
    """Why people's text is refused, or None: 1 to 64 code points, none of them invisible."""
    if not 1 <= len(text) <= 64:
        return f"a text is 1 to 64 code points, not {len(text)}"
    match = _REFUSED_TEXT.search(text)
    if match is None:
        return None
    code = ord(match[0])
    return f"a text holds U+{code:04X} ({unicodedata.name(match[0], 'a control character')})"


def _require_text(body: Open, place: str) -> None:
    texts = {".table": body.table, ".game": body.game}
    texts |= {f".seats[{seat}].name": one.name for seat, one in enumerate(body.seats)}
    for where, text in texts.items():
        if problem := text_problem(text):
            raise MalformedError(problem, place + where)


def convert(value: Any, kind: type[Any], place: str = "$") -> Any:
    """A value of one of these types from plain Python values. Raises MalformedError."""
    try:
        return msgspec.convert(value, kind, strict=True)
    except (msgspec.ValidationError, ValueError) as error:
        raise shape_error(error, place) from error
