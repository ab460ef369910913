"""The log of a hand: its entries, their chain, who endorsed what, reading and compacting.

Spec section 3. A `Log` computes every hash itself and believes none: `prev` and `seen` are what the
entries say, `hashes` what they are. Whether a link is right is asked with `link_problem`, by a seat
and by the verifier alike.

Not here: whose key is whose and what may be said when (`hand`), and files (`files`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from fairdeal import encoding
from fairdeal.encoding import Shape
from fairdeal.errors import MalformedError
from fairdeal.kinds import kind_of
from fairdeal.messages import (
    FORMAT_VERSION,
    LOWER_HEX,
    MAX_ENTRIES,
    Entry,
    Message,
    Signed,
    WireEntry,
    WireMessage,
    is_hex,
    message_hash,
    read_entry,
    read_signed,
)
from fairdeal.signing import verifies

GENESIS: Final = "0" * 64


class _Transcript(Shape, frozen=True):
    entries: Annotated[list[WireEntry], Meta(min_length=1, max_length=MAX_ENTRIES)]
    fairdeal: Annotated[int, Meta(ge=FORMAT_VERSION, le=FORMAT_VERSION)]


_transcripts: Final = msgspec.json.Decoder(_Transcript)
_entries: Final = msgspec.json.Decoder(WireEntry)
_messages: Final = msgspec.json.Decoder(WireMessage)


class Log:
    """Entries in order, with the hashes they really have. It only grows."""

    __slots__ = ("entries", "hashes", "message_hashes", "positions", "seen", "texts")

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries: list[Entry] = []
        #: entry hashes and message hashes, by position, in hex and in bytes
        self.hashes: list[str] = []
        self.message_hashes: list[bytes] = []
        #: entry hash to position
        self.positions: dict[str, int] = {}
        #: the canonical JSON of each message
        self.texts: list[bytes] = []
        #: where the entry stands that each answers: -1 for the genesis, None if not before it
        self.seen: list[int | None] = []
        self._extend(list(entries))

    def __len__(self) -> int:
        return len(self.entries)

    def append(self, entry: Entry) -> None:
        """Take an entry as it is."""
        self._extend([entry])

    def _extend(self, entries: list[Entry]) -> None:
        """Take entries as they are: all of a file's at once, step by step for speed."""
        texts = [encoding.encode(entry.message) for entry in entries]
        digests = [message_hash(text) for text in texts]
        hashes = [entry.digest(digest).hex() for entry, digest in zip(entries, digests)]
        positions = self.positions
        for place, (entry, own) in enumerate(zip(entries, hashes), len(self.entries)):
            seen = entry.message.seen
            self.seen.append(-1 if seen == GENESIS else positions.get(seen))
            positions.setdefault(own, place)
        self.entries += entries
        self.texts += texts
        self.hashes += hashes
        self.message_hashes += digests

    @property
    def head(self) -> str:
        """The hash of the last entry, which pins the whole log; 64 zeros if there is none."""
        return self.hashes[-1] if self.hashes else GENESIS

    @property
    def last_at(self) -> int:
        """The last entry's time in milliseconds since the Unix epoch, 0 if there is none."""
        return self.entries[-1].at if self.entries else 0

    def position_of(self, seen: str) -> int | None:
        """Where an entry hash stands; -1 for the genesis, None if it is no entry of this log."""
        return -1 if seen == GENESIS else self.positions.get(seen)

    def seen_by(self, place: int) -> int | None:
        """Where the entry stands that entry `place` answers; None if it is none before it."""
        return self.seen[place]

    def next_entry(self, message: Message, sig: str, at: int) -> Entry:
        """The entry that appends a message at the time `at` (ms), or at the last time if later."""
        return Entry(
            at=max(at, self.last_at), message=message, prev=self.head, seq=len(self), sig=sig
        )

    def encoded(self) -> bytes:
        """The transcript: canonical JSON, without white space or a final newline."""
        inner = b",".join(entry.encoded() for entry in self.entries)
        return b'{"entries":[%b],"fairdeal":%d}' % (inner, FORMAT_VERSION)


# -- reading -------------------------------------------------------------------------------------


def read_log(data: bytes) -> Log:
    """A transcript. Raises MalformedError, naming the place, for anything else."""
    if len(data) > encoding.MAX_BYTES:
        raise MalformedError(f"it is larger than {encoding.MAX_BYTES // 2**20} MiB", "the file")
    try:
        wire = encoding.shape(data, _transcripts)
    except MalformedError as error:
        raise _explained(data, error) from error
    entries = []
    for one in wire.entries:
        try:
            entries.append(read_entry(one))
        except MalformedError as error:
            raise error.under(f"$.entries[{len(entries)}]") from error
    _require_hex(entries)
    log = Log(entries)
    encoding.strict(data, _length(log))
    if entries[0].message.type != "open" or entries[0].message.by != "server":
        raise MalformedError("a log begins with `open` by the server", "$.entries[0]")
    return log


def _require_hex(entries: Sequence[Entry]) -> None:
    """All hashes and signatures in one go, and one by one only to name the wrong one."""
    texts = [entry.prev + entry.message.seen + (entry.sig or "") for entry in entries]
    if not is_hex("".join(texts)):
        place = next(place for place, text in enumerate(texts) if not is_hex(text))
        raise MalformedError(LOWER_HEX, f"$.entries[{place}]")


def _length(log: Log) -> int:
    """The length of `log.encoded()`, without encoding it again."""
    entries = log.entries
    numbers = [str([entry.at for entry in entries]), str([entry.seq for entry in entries])]
    sigs = len(entries) - [entry.sig for entry in entries].count(None)
    return (
        len('{"entries":[],"fairdeal":1}')
        + len(log) * (len(',"at":,"prev":"","seq":,') + 64)
        - len(",")
        + sigs * (len('"sig":"",') + 128)
        + sum(map(len, numbers))
        - 2 * 2 * len(log)  # each list has brackets, and commas with a blank
        + sum(map(len, log.texts))
    )


_NOT_A_TRANSCRIPT: Final = {
    "game": ("it is a game's file of several hands, not one hand", "$.hands"),
    "record": ("it is a seat's own record, not a transcript", "$.record"),
    "proof": ("it is a proof, not a transcript", "$.proof"),
    "other": ("it is JSON, but no fairdeal transcript", "$"),
}


def _explained(data: bytes, error: MalformedError) -> MalformedError:
    """Why bytes are no transcript, as plainly as it can be said."""
    better = encoding.explained(data, error)
    if better is not error or error.place.startswith("byte"):
        return better
    kind = kind_of(data)
    if kind.startswith("version"):
        found = f"expected {FORMAT_VERSION}, found {kind.removeprefix('version ')}"
        text = f"it is of another version of the format: {found}"
        return MalformedError(text, "$.fairdeal")
    return MalformedError(*_NOT_A_TRANSCRIPT[kind]) if kind in _NOT_A_TRANSCRIPT else error


def read_one_entry(data: bytes) -> Entry:
    """One entry as broadcast. Raises MalformedError."""
    entry = read_entry(_decode(data, _entries))
    if not is_hex(entry.prev + entry.message.seen + (entry.sig or "")):
        raise MalformedError(LOWER_HEX, "$")
    encoding.strict(data, len(entry.encoded()))
    return entry


def read_message(data: bytes) -> Signed:
    """One signed message as a seat sends it. Raises MalformedError."""
    signed = read_signed(_decode(data, _messages))
    encoding.strict(data, len(signed.encoded()))
    return signed


def _decode(data: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    if len(data) > encoding.MAX_BYTES:
        raise MalformedError(f"it is larger than {encoding.MAX_BYTES // 2**20} MiB", "the message")
    try:
        return encoding.shape(data, decoder)
    except MalformedError as error:
        raise encoding.explained(data, error) from error


# -- links ---------------------------------------------------------------------------------------


def link_problem(entry: Entry, prev: str, seq: int, at: int) -> tuple[str, str, str] | None:
    """What is wrong with an entry after one with hash `prev`, as number `seq`, not before `at`.

    Returns (code, expected, found), or None.
    """
    if entry.prev != prev:
        return "chain-prev", prev, entry.prev
    if entry.seq != seq:
        return "chain-seq", str(seq), str(entry.seq)
    if entry.at < at:
        return "chain-time", f"at least {at}", str(entry.at)
    return None


def runs(log: Log) -> list[int]:
    """For each entry, the first entry of the unbroken chain it is in (0 in a sound log)."""
    roots: list[int] = []
    root, before = 0, ""
    for place, (entry, own) in enumerate(zip(log.entries, log.hashes)):
        if entry.prev != before:
            root = place
        roots.append(root)
        before = own
    return roots


# -- signatures and what they endorse ------------------------------------------------------------


class Marks:
    """Which entries are whose word, given the key that each entry should be signed with.

    `valid[i]`: its own signature verifies; None if it has none. `authentic[i]`: it is its author's
    word, by its own signature or, if it has none, by a later one of the same key that endorses it.
    `vouched[i]`: the server's key endorses its place and time.
    """

    __slots__ = ("authentic", "roots", "valid", "vouched")

    def __init__(self, log: Log, keys: Sequence[bytes], server: bytes) -> None:
        self.roots = runs(log)
        self.valid = [
            None if entry.sig is None else verifies(key, digest, bytes.fromhex(entry.sig))
            for entry, key, digest in zip(log.entries, keys, log.message_hashes, strict=True)
        ]
        self.authentic = [valid is True for valid in self.valid]
        self.vouched = [False] * len(log)
        self._endorse(log, keys, server)

    def _endorse(self, log: Log, keys: Sequence[bytes], server: bytes) -> None:
        """Backwards, so that each entry sees what later signatures reach."""
        reach: dict[int, dict[bytes, int]] = {root: {} for root in self.roots}
        valid, roots = self.valid, self.roots
        for place in range(len(log) - 1, -1, -1):
            endorsed = reach[roots[place]]
            self.vouched[place] = endorsed.get(server, -1) >= place
            if valid[place] is None:
                rooted = roots[place] == 0  # else what stood before it is not here
                self.authentic[place] = rooted and endorsed.get(keys[place], -1) >= place
            elif valid[place]:
                seen = log.seen[place]
                if seen is not None and seen >= 0:
                    endorsed = reach[roots[seen]]
                    endorsed[keys[place]] = max(endorsed.get(keys[place], -1), seen)


def compacted(log: Log, keys: Sequence[bytes]) -> Log:
    """The same log without the signatures that a later one of the same key covers.

    `keys` are those the entries are signed with, by position. The caller has verified the log: what
    is stripped can never be checked again.
    """
    kept: list[Entry] = []
    reach: dict[bytes, int] = {}
    for place in range(len(log) - 1, -1, -1):
        entry, key = log.entries[place], keys[place]
        if reach.get(key, -1) >= place:
            entry = Entry(entry.at, entry.message, entry.prev, entry.seq, None)
        else:
            seen = log.positions.get(entry.message.seen, -1)
            reach[key] = max(reach.get(key, -1), seen)
        kept.append(entry)
    return Log(reversed(kept))
