"""Bytes: canonical JSON, strict parsing, hexadecimal, frames and tagged hashes (spec section 2).

Everything that is hashed or signed passes through here. Two promises:

* `canonical` is RFC 8785 on the integer profile (objects, arrays, strings, booleans, null,
  integers of magnitude below 2^53, ASCII member names).
* `decode` accepts exactly the JSON texts of that profile that have the asked-for shape. White
  space, member order and string escapes may differ; nothing else may.

What a decoded value means, and who is to blame for it, is not decided here.
"""

from __future__ import annotations

import hashlib
import re
import struct
from functools import lru_cache
from typing import Any, Final, TypeVar

import msgspec

from fairdeal.errors import MalformedError

MAX_INT: Final = 2**53 - 1
MAX_BYTES: Final = 16 * 1024 * 1024
MAX_DEPTH: Final = 16
MAX_EXPLAINED: Final = 100_000  # members, looked through for a better explanation

T = TypeVar("T")


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of everything that is read from JSON: no unknown member, no default, no change."""


_encoder = msgspec.json.Encoder(order="sorted")
_generic = msgspec.json.Decoder()

#: canonical JSON of a value that is known to be on the profile: our own message types
encode: Final = _encoder.encode


def canonical(value: Any) -> bytes:
    """RFC 8785 bytes of any `value`. Raises ValueError for a value outside the profile."""
    try:
        _require_plain(value)
        data = _encoder.encode(value)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise ValueError("the value has no canonical JSON") from error
    try:
        check(data)
    except MalformedError as error:
        raise ValueError(str(error)) from error
    return data


def _require_plain(value: Any) -> None:
    """Only what JSON has: a library would turn dates, sets or NaN into something."""
    if isinstance(value, dict):
        for name, member in value.items():
            _require_plain(member)
            if type(name) is not str:
                raise TypeError("a member's name is a text")
    elif isinstance(value, list | tuple):
        for member in value:
            _require_plain(member)
    elif value is not None and type(value) not in (str, bool, int):
        raise TypeError(f"{type(value).__name__} is no value of the profile")


# -- strict parsing ------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"[ \t\n\r]*(?:([\[\]{}:,])"  # 1: punctuation
    r'|"((?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+)"'  # 2: a string's inside
    r"|([0-9A-Za-z.+-]+))"  # 3: a number or a word
)
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,15}")
_SPACE = re.compile(r"[ \t\n\r]*")
_BLANKS: Final = b" \t\n\r"
_NAME_TOKEN = re.compile(r"[A-Za-z0-9_./-]{1,40}")


class _Frame:
    """One open array or object of `check`: its members so far and where in it we are."""

    __slots__ = ("index", "is_object", "name", "names")

    def __init__(self, *, is_object: bool) -> None:
        self.is_object = is_object
        self.index = 0
        self.name = ""
        self.names: set[str] = set()

    def step(self) -> str:
        if not self.is_object:
            return f"[{self.index}]"
        plain = _NAME_TOKEN.fullmatch(self.name)
        return f".{self.name}" if plain else f"[{self.name[:42]!a}]"


def check(data: bytes) -> None:
    """Refuse every text outside the profile, naming the place. Syntax only: shapes are `decode`'s.

    Raises MalformedError for what is not UTF-8 or not JSON, a byte order mark, trailing data, a
    duplicate or non-ASCII member name, a number that is not a plain integer of magnitude < 2^53, a
    lone surrogate, or nesting over 16.
    """
    _Checker(_text(data)).run()


def _text(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise MalformedError(f"it is larger than {MAX_BYTES // 2**20} MiB", f"byte {MAX_BYTES}")
    if not data.strip(_BLANKS):
        raise MalformedError("it is empty", "byte 0")
    if data.startswith(b"\xef\xbb\xbf"):
        raise MalformedError("it starts with a byte order mark", "byte 0")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedError("it is not UTF-8 text", f"byte {error.start}") from error


class _Checker:
    """A pass over the tokens of a text with a stack of open containers, and no recursion."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.stack: list[_Frame] = []

    def fail(self, problem: str) -> MalformedError:
        path = "$" + "".join(frame.step() for frame in self.stack)
        return MalformedError(problem, path if self.stack else f"character {self.at}")

    def token(self) -> tuple[str, str]:
        """The next token as (kind, text); kind is the punctuation, ``string`` or ``word``."""
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            left = self.text[self.at :].lstrip(" \t\n\r")
            cut = not left or (left[0] == '"' and '"' not in left[1:])
            raise self.fail(
                "it ends too early" if cut else f"it is no JSON near character {self.at}"
            )
        self.at = match.end()
        punctuation, string, word = match.groups()
        if punctuation:
            return punctuation, punctuation
        return ("word", word) if string is None else ("string", self.unescaped(string))

    def unescaped(self, raw: str) -> str:
        if "\\" not in raw:
            return raw
        try:
            text = _generic.decode(f'"{raw}"'.encode())
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            raise self.fail("a string holds half of a surrogate pair") from error
        return str(text)

    def run(self, members: int | None = None) -> None:
        """The whole text, or only so many members of it."""
        self.value(*self.token())
        while self.stack:
            if members is not None and (members := members - 1) < 0:
                return
            self.next_member()
        if _SPACE.fullmatch(self.text, self.at) is None:
            raise self.fail("there is more after the end of the JSON value")

    def value(self, kind: str, text: str) -> None:
        if kind in ("{", "["):
            if len(self.stack) == MAX_DEPTH:
                raise self.fail(f"it is nested more than {MAX_DEPTH} deep")
            self.stack.append(_Frame(is_object=kind == "{"))
            self.first_member()
        elif kind == "word":
            self.word(text)
        elif kind != "string":
            raise self.fail(f"a value is missing near character {self.at}")

    def word(self, text: str) -> None:
        if text in ("true", "false", "null"):
            return
        if not text.lstrip("+-.")[:1].isdigit():
            raise self.fail(f"{text[:24]!a} is no JSON value")
        if _INTEGER.fullmatch(text) is None or abs(int(text)) > MAX_INT:
            shown = ascii(text[:24]) + ("…" if len(text) > 24 else "")
            raise self.fail(f"{shown} is no integer of magnitude below 2^53, written plainly")

    def first_member(self) -> None:
        frame = self.stack[-1]
        kind, text = self.token()
        if kind == ("}" if frame.is_object else "]"):
            self.stack.pop()
        else:
            self.member(kind, text)

    def next_member(self) -> None:
        frame = self.stack[-1]
        kind, _ = self.token()
        if kind == ("}" if frame.is_object else "]"):
            self.stack.pop()
        elif kind == ",":
            frame.index += 1
            self.member(*self.token())
        else:
            raise self.fail(f"a comma or a closing bracket is missing near character {self.at}")

    def member(self, kind: str, text: str) -> None:
        frame = self.stack[-1]
        if frame.is_object:
            self.name(frame, kind, text)
            kind, text = self.token()
        self.value(kind, text)

    def name(self, frame: _Frame, kind: str, text: str) -> None:
        if kind != "string":
            raise self.fail(f"a member's name is missing near character {self.at}")
        frame.name = text
        if not text.isascii():
            raise self.fail("a member's name is not ASCII")
        if text in frame.names:
            raise self.fail("this member's name stands twice")
        frame.names.add(text)
        if self.token()[0] != ":":
            raise self.fail("a colon is missing after the member's name")


def parse(data: bytes) -> Any:
    """A JSON text of the profile as Python values. Raises MalformedError, naming the place."""
    check(data)
    return _generic.decode(data)


def shape(data: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[T], place: str = "$") -> T:
    """Decode into the decoder's type without the strict check, which the caller owes.

    Raises MalformedError, with `place` before the path inside `data`.
    """
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise shape_error(error, place) from error


_UNKNOWN_FIELD = re.compile(r"unknown field `(.*?)`", re.DOTALL)


def shape_error(error: Exception, place: str) -> MalformedError:
    """Msgspec's complaint as ours: the path under `place`, and nothing from the file unescaped."""
    problem, _, path = str(error).partition(" - at `$")
    problem = _UNKNOWN_FIELD.sub(lambda m: f"unknown member {ascii(m[1])[:44]}", problem)
    where = place + path.removesuffix("`").encode("ascii", "backslashreplace").decode()
    return MalformedError(problem.encode("unicode_escape").decode().strip()[:200], where)


def strict(data: bytes, canonical_length: int) -> None:
    """Check the text `data`, given the length of the canonical form of what it decodes to.

    An ASCII text without a backslash differs from its canonical form by white space, member order,
    repeated members and `-0`. All but the order make it longer: so equal lengths prove it strict,
    and only other texts need the slow pass. (A value with `msgspec.Raw` in it proves nothing.)
    """
    if len(data) != canonical_length or b"\\" in data or not data.isascii():
        check(data)


def decode(data: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """A strict JSON text of the decoder's shape. Raises MalformedError, naming the place."""
    if len(data) > MAX_BYTES:
        raise MalformedError(f"it is larger than {MAX_BYTES // 2**20} MiB", f"byte {MAX_BYTES}")
    try:
        value = shape(data, decoder)
    except MalformedError as error:
        raise explained(data, error) from error
    strict(data, len(encode(value)))
    return value


def explained(data: bytes, error: MalformedError) -> MalformedError:
    """A fault of the text itself where there is one: the better explanation of a wrong shape.

    Only so far into it: nobody's file is worth seconds for a finer message.
    """
    try:
        _Checker(_text(data)).run(MAX_EXPLAINED)
    except MalformedError as syntax:
        return syntax
    return error


# -- hexadecimal ---------------------------------------------------------------------------------


def unhex(text: str, size: int, place: str = "$") -> bytes:
    """`size` bytes from lower-case hexadecimal. Raises MalformedError saying what is off."""
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        raw = b""
    if len(raw) == size and raw.hex() == text:
        return raw
    raise MalformedError(_hex_problem(text, size), place)


def _hex_problem(text: str, size: int) -> str:
    wanted = f"{size} bytes as {2 * size} lower-case hexadecimal digits"
    if len(text) == 2 * size and re.fullmatch(r"[0-9a-fA-F]+", text):
        return f"expected {wanted}, found upper-case ones"
    if len(text) == 2 * size:
        return f"expected {wanted}, found other characters"
    base64_digits = (size * 4 + 2) // 3
    if re.fullmatch(rf"[A-Za-z0-9+/_-]{{{base64_digits}}}={{0,2}}", text):
        return f"expected {wanted}, found what looks like base64"
    return f"expected {wanted}, found {len(text)} characters"


# -- frames and hashes ---------------------------------------------------------------------------


def frame(tag: str, *fields: bytes | str) -> bytes:
    """`u8(len tag) ‖ tag ‖ u32(len f1) ‖ f1 ‖ …`: an injective encoding of a tag and its fields."""
    framed = _framed_tag(tag)
    for field in fields:
        raw = field.encode() if isinstance(field, str) else field
        framed += _u32(len(raw)) + raw
    return framed


_u32: Final = struct.Struct(">I").pack


@lru_cache(maxsize=64)
def _framed_tag(tag: str) -> bytes:
    """`u8(len tag) ‖ tag`; there are few tags, and every hash begins with one."""
    raw = tag.encode()
    return len(raw).to_bytes(1, "big") + raw


def tagged_hash(tag: str, *fields: bytes | str) -> bytes:
    """`H(tag, f1, …) = SHA-256(frame(tag, f1, …))`, 32 bytes."""
    return hashlib.sha256(frame(tag, *fields)).digest()


def u16(number: int) -> bytes:
    """`number` as two big-endian bytes."""
    return number.to_bytes(2, "big")


def u32(number: int) -> bytes:
    """`number` as four big-endian bytes."""
    return number.to_bytes(4, "big")


def u64(number: int) -> bytes:
    """`number` as eight big-endian bytes."""
    return number.to_bytes(8, "big")
