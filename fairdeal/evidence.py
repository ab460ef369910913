"""Two copies side by side, and proofs that stand alone (spec section 8).

A server can show two people two logs that each verify. `compare` finds where two copies of a hand
part, and whether somebody signed two messages that cannot both be true, or the server two that
cannot stand in one log. Such a pair is a *proof*: a small file that `fairdeal.verify` confirms
without the transcripts. What merely looks so (two persons' messages in another order, a copy that
is shorter) is no proof, and is said to be what it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, NamedTuple

import msgspec
from msgspec import Meta, Struct

from fairdeal import encoding
from fairdeal.encoding import Shape, tagged_hash, u64
from fairdeal.errors import MalformedError
from fairdeal.findings import Finding, finding
from fairdeal.hand import CONTRADICTS_PERSON, CONTRADICTS_SERVER, Hand, Slot, hand_name
from fairdeal.log import GENESIS, Log, read_log
from fairdeal.messages import (
    FORMAT_VERSION,
    MAX_ENTRIES,
    Count,
    Hex32,
    Message,
    Open,
    Person,
    Signed,
    WireMessage,
    message,
    read_signed,
)
from fairdeal.parties import SERVER, seat_number
from fairdeal.record import Record, read_record
from fairdeal.signing import verifies


class Link(Shape, frozen=True):
    """What an entry hash needs of one entry: its time and its message's hash."""

    at: Count
    message: Hex32


class Claim(Shape, frozen=True):
    """One signed message, and the chain from `open` to the entry it saw; empty at the genesis."""

    chain: Annotated[tuple[Link, ...], Meta(max_length=MAX_ENTRIES)]
    message: msgspec.Raw


class Proof(Shape, frozen=True):
    """Two claims of one author that contradict each other, and the body of the hand's `open`.

    `key` signed both messages. Who signs over a chain from `open` endorses its terms, so that needs
    no signature of its own.
    """

    claims: tuple[Claim, Claim]
    key: Hex32
    open: Open


class _File(Shape, frozen=True):
    fairdeal: Annotated[int, Meta(ge=FORMAT_VERSION, le=FORMAT_VERSION)]
    proof: Proof


_file: Final = msgspec.json.Decoder(_File)
_message: Final = msgspec.json.Decoder(WireMessage)


class Comparison(Struct, frozen=True):
    """What two copies say together.

    `same`: they hold the same entries. `parts_at`: the first entry in which they differ, or that
    only one has. `text`: what that means, in one sentence. `culprit` and `proof` (a file's bytes)
    if somebody signed what cannot both be true.
    """

    culprit: str | None
    parts_at: int | None
    proof: bytes | None
    same: bool
    text: str


# -- comparing -----------------------------------------------------------------------------------


def compare(one: bytes, other: bytes) -> Comparison:
    """Two copies of a hand; the second may also be a seat's own record (spec 8.1).

    Raises MalformedError, naming nobody, if either cannot be read.
    """
    mine = read_log(one)
    record = _record(other)
    if record is not None:
        return _compare_record(mine, record)
    theirs = read_log(other)
    if mine.message_hashes[0] != theirs.message_hashes[0]:
        return _compare_opens(mine, theirs)
    return _compare_logs(mine, theirs)


def _record(data: bytes) -> Record | None:
    try:
        return read_record(data)
    except MalformedError:
        return None


def _compare_opens(mine: Log, theirs: Log) -> Comparison:
    """Two hands; or one hand that was opened twice."""
    one, other = _opened(mine), _opened(theirs)
    names = hand_name(one), hand_name(other)
    if one.server_key != other.server_key:
        return _no_proof("the copies are of tables of two different servers", 0)
    if names[0] != names[1]:
        return _no_proof(
            f"the copies are of two hands: hand {one.hand}, attempt {one.attempt} of game "
            f"{one.game}, and hand {other.hand}, attempt {other.attempt} of game {other.game}",
            0,
        )
    if not all(any(found.place == 0 for found in _signed(log)) for log in (mine, theirs)):
        return _no_proof("one hand was opened twice, but not both `open`s carry a signature", 0)
    return _proven(mine, theirs, _Said(0, one.server_key, SERVER), 0, 0)


def _compare_logs(mine: Log, theirs: Log) -> Comparison:
    pairs = zip(mine.hashes, theirs.hashes, strict=False)
    parts = next((n for n, (one, other) in enumerate(pairs) if one != other), None)
    found = _contradiction(mine, theirs) or _left_out(mine, theirs)
    if found is not None:
        return _proven(
            mine, theirs, *found, min(len(mine), len(theirs)) if parts is None else parts
        )
    if parts is not None:
        return _no_proof(
            f"the copies part at entry {parts}, but nobody's signatures contradict each other: "
            "one of them shows nothing that the server signed over that entry",
            parts,
        )
    short, long = sorted((len(mine), len(theirs)))
    if short == long:
        return Comparison(
            culprit=None, parts_at=None, proof=None, same=True, text="the copies are the same"
        )
    return _no_proof(f"one copy ends after entry {short - 1}, where the other goes on", short)


def _no_proof(text: str, parts: int) -> Comparison:
    return Comparison(culprit=None, parts_at=parts, proof=None, same=False, text=text)


def _opened(log: Log) -> Open:
    body = log.entries[0].message.body
    assert isinstance(body, Open), "a log that was read begins with open"
    return body


class _Said(NamedTuple):
    """A signed entry: where, by which key, and whose that is."""

    place: int
    key: str
    party: str


def _contradiction(mine: Log, theirs: Log) -> tuple[_Said, int] | None:
    """The first two signed messages that cannot both be true: one of mine, and where theirs is."""
    first: dict[Slot, tuple[_Said, bytes]] = {}
    for one in _signed(mine):
        for slot in _slots(mine.entries[one.place].message, one):
            first.setdefault(slot, (one, mine.message_hashes[one.place]))
    for other in _signed(theirs):
        for slot in _slots(theirs.entries[other.place].message, other):
            said, digest = first.get(slot, (other, theirs.message_hashes[other.place]))
            if digest != theirs.message_hashes[other.place]:
                return said, other.place
    return None


def _left_out(mine: Log, theirs: Log) -> tuple[_Said, int] | None:
    """The first two of the server's where one saw another message in the other's place (8.2)."""
    ours, others = _followed(mine), _followed(theirs)
    last = min(max(ours, default=0), max(others, default=0))
    for place in sorted({*ours, *others}):
        if place > last:
            break
        if mine.message_hashes[place] != theirs.message_hashes[place]:
            one, other = (min(at for at in found if at >= place) for found in (ours, others))
            return ours[one], other
    return None


def _followed(log: Log) -> dict[int, _Said]:
    """The server's signed entries that saw the entry just before them, by place."""
    return {
        said.place: said
        for said in _signed(log)
        if said.party == SERVER and log.seen_by(said.place) == said.place - 1
    }


def _signed(log: Log) -> Iterator[_Said]:
    """The entries of the unbroken chain that carry a valid signature and saw an entry of it."""
    hand, prev = Hand(), GENESIS
    for place, (entry, digest) in enumerate(zip(log.entries, log.message_hashes, strict=True)):
        said, seen = entry.message, log.seen_by(place)
        judged = hand.judge(said, digest, seen)
        if entry.prev != prev or any(one.code == "open-terms" for one in judged.deviations):
            return
        party = hand.party_of(said.by) if hand.size else SERVER
        hand.take(judged)
        prev, key = log.hashes[place], hand.keys[party]
        signed = entry.sig and verifies(key, digest, bytes.fromhex(entry.sig))
        if signed and seen is not None:
            yield _Said(place, key.hex(), party)


def _slots(message: Message, said: _Said) -> Iterator[Slot]:
    """Under what a message may be said once (step 7.1)."""
    if isinstance(message.body, Open):
        return
    yield said.key, message.by, message.type, message.seen
    family = CONTRADICTS_SERVER if said.party == SERVER else CONTRADICTS_PERSON
    once = family.get(message.type)
    if once:
        yield said.key, message.by, once, ""


def _proven(mine: Log, theirs: Log, one: _Said, other: int, parts: int) -> Comparison:
    claims = (_claim(mine, one.place), _claim(theirs, other))
    proof = Proof(claims=claims, key=one.key, open=_opened(mine))
    pair = mine.entries[one.place].message.type, theirs.entries[other].message.type
    what = ", ".join(dict.fromkeys(pair))
    return Comparison(
        culprit=one.party,
        parts_at=parts,
        proof=encoding.encode(_File(fairdeal=FORMAT_VERSION, proof=proof)),
        same=False,
        text=f"{one.party} signed two messages ({what}) that cannot both be true",
    )


def _claim(log: Log, place: int) -> Claim:
    entry = log.entries[place]
    seen = log.seen_by(place)
    size = 0 if seen is None else seen + 1
    links = zip(log.entries[:size], log.message_hashes[:size], strict=True)
    chain = tuple(Link(at=one.at, message=digest.hex()) for one, digest in links)
    signed = Signed(message=entry.message, sig=entry.sig or "")
    return Claim(chain=chain, message=msgspec.Raw(signed.encoded()))


def _compare_record(log: Log, record: Record) -> Comparison:
    """A dispute that the seat signed and the log leaves out: the log up to it, with it (8.3)."""
    if record.hand != log.message_hashes[0].hex():
        return _no_proof("the record is of another hand than the transcript", 0)
    for own in record.messages():
        box = log.position_of(own.message.seen)
        left_out = own.message.digest() not in log.message_hashes
        if own.message.type == "dispute" and box is not None and left_out:
            return _ignored_dispute(log, box, own)
    head = record.head
    if log.position_of(head.hash) == head.seq:
        text = "the log holds all that the seat had seen"
        return Comparison(culprit=None, parts_at=None, proof=None, same=True, text=text)
    text = f"the log does not hold entry {head.seq} as the seat saw it: get the seat's own copy"
    return _no_proof(text, min(head.seq, len(log)))


def _ignored_dispute(log: Log, box: int, dispute: Signed) -> Comparison:
    """The log up to the disputed box, and then the dispute: a transcript that says whose fault."""
    proof = Log(log.entries[: box + 1])
    proof.append(proof.next_entry(dispute.message, dispute.sig, log.entries[box].at))
    return Comparison(
        culprit=None,
        parts_at=box + 1,
        proof=proof.encoded(),
        same=False,
        text=f"the log leaves out a dispute of {dispute.message.by}: the proof shows whose fault",
    )


# -- proofs --------------------------------------------------------------------------------------


def judge_proof(data: bytes) -> tuple[Open, Finding]:
    """The finding that a proof proves (spec 8.2). Raises MalformedError if it proves nothing."""
    encoding.check(data)  # the whole text: messages in it are not looked into by its shape
    proof = encoding.shape(data, _file).proof
    terms = proof.open
    said = [_read(claim, n, proof.key) for n, claim in enumerate(proof.claims)]
    first, second = said
    _require(first != second, "both messages are the same", "$.proof.claims")
    culprit = _culprit(terms, proof.key, first)
    opens = [one.body for one in said if isinstance(one.body, Open)]
    if opens:
        same = len(opens) == 2 and hand_name(opens[0]) == hand_name(opens[1])
        _require(same, "the two `open`s are of two hands", "$.proof.claims")
    else:
        hand_id = message(SERVER, GENESIS, terms).digest()
        for n, (claim, one) in enumerate(zip(proof.claims, said, strict=True)):
            problem = "its chain does not lead from `open` to what it saw"
            _require(_leads(claim, one, hand_id), problem, f"$.proof.claims[{n}].chain")
        if not _contradict(first, second, culprit):
            left_out = culprit == SERVER and _leaves_out(proof.claims, said)
            _require(left_out, "both can be true", "$.proof.claims")
            return terms, finding(
                "equivocation",
                by=SERVER,
                entries=(),
                expected=f"{first.type} by {first.by} and {second.type} by {second.by} in one log",
                found="each in another, both signed",
                culprit=SERVER,
            )
    return terms, finding(
        "equivocation",
        by=first.by,
        entries=(),
        expected=f"one {first.type} by {first.by} there",
        found="two, both signed",
        culprit=culprit,
    )


def _read(claim: Claim, number: int, key: str) -> Message:
    """A claim's message, which the key has signed."""
    place = f"$.proof.claims[{number}].message"
    try:
        one = read_signed(encoding.shape(claim.message, _message))
    except MalformedError as error:
        raise error.under(place) from error
    good = verifies(bytes.fromhex(key), one.message.digest(), bytes.fromhex(one.sig))
    _require(good, "its signature does not verify", place)
    return one.message


def _require(true: bool, problem: str, place: str) -> None:
    if not true:
        raise MalformedError(f"the proof proves nothing: {problem}", place)


def _culprit(terms: Open, key: str, said: Message) -> str:
    """Whose key it is in this hand."""
    if key == terms.server_key:
        return SERVER
    seat = seat_number(said.by)
    one = terms.seats[seat] if seat is not None and seat < len(terms.seats) else None
    own = isinstance(one, Person) and one.key == key
    _require(own, "the key is nobody's of this hand", "$.proof.key")
    return said.by


def _leads(claim: Claim, said: Message, hand_id: bytes) -> bool:
    """Whether a chain of entries leads from this hand's `open` to what the message saw."""
    if not claim.chain or claim.chain[0].message != hand_id.hex():
        return False
    prev = GENESIS
    for seq, link in enumerate(claim.chain):
        fields = u64(seq), bytes.fromhex(prev), u64(link.at), bytes.fromhex(link.message)
        prev = tagged_hash("fairdeal/v1/entry", *fields).hex()
    return prev == said.seen


def _contradict(first: Message, second: Message, culprit: str) -> bool:
    """Step 7.1, of two different messages under one key in one hand."""
    if first.by != second.by:
        return False
    if (first.type, first.seen) == (second.type, second.seen):
        return True
    once = CONTRADICTS_SERVER if culprit == SERVER else CONTRADICTS_PERSON
    family = once.get(first.type)
    return family is not None and family == once.get(second.type)


def _leaves_out(claims: tuple[Claim, Claim], said: list[Message]) -> bool:
    """Whether what the later message of the server's saw has another in the earlier one's place."""
    (early, one), (late, other) = sorted(
        zip(claims, said, strict=True), key=lambda pair: len(pair[0].chain)
    )
    place = len(early.chain)
    stands = [link.message for link in late.chain] + [other.digest().hex()]
    return stands[place] != one.digest().hex()
