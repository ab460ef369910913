"""The verifier: the numbered checks, the driver, and the guarantee that follows (spec section 7).

`verify` takes any bytes whatever and returns a `Verdict`. It runs the one table over the entries,
collecting what deviates instead of raising; then the checks of `checks`; then it compares with what
the caller pinned. It believes nothing because the file says so: without a pinned key the verdict
says that the log agrees with itself, and no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from fairdeal import guarantee
from fairdeal.checks import OPENED, Case, Looked
from fairdeal.errors import MalformedError
from fairdeal.findings import (
    CHECKS,
    CheckReport,
    Finding,
    HandLabel,
    Pinned,
    Status,
    Stop,
    Verdict,
    finding,
)
from fairdeal.games.base import Policy
from fairdeal.games.policies import POLICIES
from fairdeal.hand import Hand
from fairdeal.kinds import kind_of
from fairdeal.log import GENESIS, Log, Marks, link_problem, read_log
from fairdeal.messages import MAX_SEATS, Open, Person
from fairdeal.parties import SEATS, SERVER
from fairdeal.record import Record, read_record
from fairdeal.table import Deviation, Fault, Phase


def verify(
    data: bytes,
    *,
    server_key: bytes | None = None,
    seat_keys: Mapping[int, bytes] | None = None,
    record: bytes | None = None,
    head: str | None = None,
    policies: Mapping[str, Policy] = POLICIES,
) -> Verdict:
    """Judge a transcript of one hand, or a proof (spec sections 7, 8). Never raises for `data`.

    Pins: `server_key` and `seat_keys` are Ed25519 public keys (32 bytes) that the caller knows from
    elsewhere, by seat number; `record` is a seat's own record; `head` is the entry hash (64 hex
    digits) at which the caller knows the log to end. `policies` are the bots to replay.

    Raises MalformedError if `record` is none, or of another hand than the transcript, ValueError
    for a seat number that no table has.
    """
    return examine(
        data,
        server_key=server_key,
        seat_keys=seat_keys,
        record=record,
        head=head,
        policies=policies,
    )[0]


def examine(
    data: bytes | Log,
    *,
    server_key: bytes | None = None,
    seat_keys: Mapping[int, bytes] | None = None,
    record: bytes | None = None,
    head: str | None = None,
    policies: Mapping[str, Policy] = POLICIES,
) -> tuple[Verdict, Case | None]:
    """As `verify`, with the case that the verdict was made of; None if there was no transcript.

    A log that was read already is taken as it is.
    """
    keys = dict(seat_keys or {})
    if any(seat not in range(MAX_SEATS) for seat in keys):
        raise ValueError(f"a seat's number is 0 to {MAX_SEATS - 1}")
    mine = read_record(record) if record is not None else None
    pinned = Pinned(
        head=head,
        record=None if mine is None else mine.seat,
        seat_keys={SEATS[seat]: key.hex() for seat, key in keys.items()},
        server_key=server_key.hex() if server_key is not None else None,
    )
    try:
        log = data if isinstance(data, Log) else read_log(data)
    except MalformedError as error:
        assert not isinstance(data, Log), "a log that was read"
        proof = kind_of(data) == "proof"
        return (_judge_proof(data, pinned) if proof else _malformed(error, pinned)), None
    examination = _Examination(log, policies, pinned, mine)
    return examination.verdict(), examination.case


_UNPLAYABLE = Looked(0, "the terms of the hand cannot be played", applies=False)


class _Examination:
    """One run over one log."""

    def __init__(
        self, log: Log, policies: Mapping[str, Policy], pinned: Pinned, record: Record | None
    ) -> None:
        self.log = log
        self.pinned = pinned
        self.record = record
        self.hand = Hand()
        self.deviations: list[tuple[Deviation, ...]] = []
        keys, parties = self._run_table()
        marks = Marks(log, keys, bytes.fromhex(self._opened.server_key))
        self.case = Case(log, self.hand, marks, parties, policies)
        self.looked: dict[int, Looked] = {1: Looked(len(log))}

    @property
    def _opened(self) -> Open:
        body = self.log.entries[0].message.body
        if not isinstance(body, Open):  # pragma: no cover - read_log refuses any other beginning
            raise TypeError("a log begins with open")
        return body

    def _run_table(self) -> tuple[list[bytes], list[str]]:
        """Feed every entry to the table; the key each should be signed with, and who answers."""
        log, hand = self.log, self.hand
        parties = [SERVER]
        opening = hand.judge(log.entries[0].message, log.message_hashes[0], log.seen_by(0))
        self.deviations.append(opening.deviations)
        if any(one.code == "open-terms" for one in opening.deviations):
            self.deviations += [()] * (len(log) - 1)
            parties += [self._first_party(entry.message.by) for entry in log.entries[1:]]
            return [self._first_key(party) for party in parties], parties
        hand.take(opening)
        rest = islice(zip(log.entries, log.message_hashes, log.seen), 1, None)
        for entry, digest, seen in rest:
            judged = hand.judge(entry.message, digest, seen)
            self.deviations.append(judged.deviations)
            parties.append(hand.party_of(entry.message.by))
            hand.take(judged)
        return [hand.keys[party] for party in parties], parties

    def _first_party(self, by: str) -> str:
        """Who answers for an entry where the table has not begun: at `open`, or if it cannot be."""
        seats = self._opened.seats
        return (
            by
            if any(by == SEATS[n] and isinstance(one, Person) for n, one in enumerate(seats))
            else SERVER
        )

    def _first_key(self, party: str) -> bytes:
        opened = self._opened
        return bytes.fromhex(
            opened.server_key if party == SERVER else opened.seats[SEATS.index(party)].key
        )

    # -- the checks --

    def verdict(self) -> Verdict:
        """Run every check and say what follows."""
        case, hand = self.case, self.hand
        self.looked[2] = self._check_chain()
        self.looked[3] = Looked(1)
        self.looked[4] = self._check_signatures()
        self.looked[5] = self._check_coverage()
        self._blame_table()
        self.looked[6] = self.looked[7] = Looked(len(self.log)) if hand.size else _UNPLAYABLE
        for number, check in OPENED.items():
            self.looked[number] = check(case) if hand.size else _UNPLAYABLE
        self.looked[19] = self._check_pins()
        self.looked[20] = self._check_record()
        self.looked[21] = self._check_head()
        findings = tuple(sorted(_merged(case.findings), key=lambda one: (one.check, one.entries)))
        return self._conclude(findings)

    def _check_chain(self) -> Looked:
        """Each entry follows from the one before it (2.1 to 2.3)."""
        prev, at = GENESIS, 0
        for place, entry in enumerate(self.log.entries):
            problem = link_problem(entry, prev, place, at)
            if problem:
                code, expected, found = problem
                by_server = code != "chain-prev" and self.case.placed(place)
                culprit = SERVER if by_server else None
                self.case.note(code, place, expected, found, culprit=culprit)
            prev, at = self.log.hashes[place], max(at, entry.at)
        return Looked(len(self.log))

    def _check_signatures(self) -> Looked:
        """Every signature that is there verifies (4.1); a wrong one accuses nobody."""
        valid = self.case.marks.valid
        for place, good in enumerate(valid):
            if good is False:
                self.case.note(
                    "signature-invalid", place, "a signature of its author's key", "another"
                )
        return Looked(sum(good is not None for good in valid))

    def _check_coverage(self) -> Looked:
        """What has no signature is endorsed by a later one of the same key (5.1)."""
        marks = self.case.marks
        for place, good in enumerate(marks.valid):
            if good is None and not marks.authentic[place]:
                self.case.note("signature-missing", place, "a signature, here or later", "none")
        return Looked(len(marks.valid))

    def _blame_table(self) -> None:
        """Findings for what the table found: whom each deviation accuses (7.2)."""
        case = self.case
        for place, deviations in enumerate(self.deviations):
            for one in deviations:
                case.misplaced.add(place)
                others = () if one.other is None else (one.other,)
                culprit = self._culprit(one, place)
                case.note(one.code, place, one.expected, one.found, *others, culprit=culprit)

    def _culprit(self, one: Deviation, place: int) -> str | None:
        case = self.case
        if one.fault is Fault.NOBODY:
            return None
        if one.fault is Fault.PLACE:
            return SERVER if case.placed(place) else None
        places = (place,) if one.other is None else (place, one.other)
        if one.code == "equivocation" and self._same_seen(*places):
            # two messages over one entry contradict each other whatever stands around them
            whole = all(case.marks.authentic[each] for each in places)
        elif one.code == "equivocation":
            whole = all(case.bound(each) for each in places)
        else:
            whole = all(case.whole(each) for each in places)
        return case.parties[place] if whole else None

    def _same_seen(self, first: int, second: int) -> bool:
        return self.case.said(first).seen == self.case.said(second).seen

    # -- 19 to 21: what the caller pinned --

    def _check_pins(self) -> Looked:
        """The keys of the transcript are the pinned ones (19.1, 19.2)."""
        opened, pinned = self._opened, self.pinned
        if pinned.server_key is not None and pinned.server_key != opened.server_key:
            near = _owner(opened, pinned.server_key)
            self.case.note("pin-server-key", 0, pinned.server_key + near, opened.server_key)
        for by, key in pinned.seat_keys.items():
            found = _person_key(opened, SEATS.index(by))
            if found != key:
                near = _owner(opened, key)
                self.case.note("pin-seat-key", 0, f"{key} at {by}{near}", found)
        count = len(pinned.seat_keys) + (pinned.server_key is not None)
        return Looked(count, None if count else "no key was pinned", applies=count > 0)

    def _check_record(self) -> Looked:
        """The transcript is what the seat itself remembers (20.1 to 20.5)."""
        record = self.record
        if record is None:
            return Looked(0, "no seat's own record was given", applies=False)
        self._require_same_hand(record)
        self._check_record_key(record)
        count = 1 + self._check_record_messages(record)
        by, close = SEATS[record.seat], self.case.close
        if close is None:
            return Looked(count)
        if by in self.hand.revealers and close.seeds.get(by) != record.seed:
            self.case.note("record-seed", self.case.end, "the seed of the record", "another")
        remembered = (
            (record.dealt, close.deals),
            (record.passed if self._passed_itself(by) else None, close.passes),
            (record.received, close.exchanges),
        )
        for mine, stated in remembered:
            if mine is not None and (record.seat >= len(stated) or stated[record.seat] != mine):
                self.case.note(
                    "record-cards", self.case.end, " ".join(mine.cards), "others, or none"
                )
        return Looked(count + 2)

    def _passed_itself(self, by: str) -> bool:
        """Whether the pass of a seat is its person's, not a bot's that replaced it."""
        return by in self.hand.passes and self.case.parties[self.hand.passes[by]] == by

    def _require_same_hand(self, record: Record) -> None:
        hand_id = self.log.message_hashes[0].hex()
        if record.hand != hand_id:
            near = _owner(self._opened, record.key)
            whose = (
                f"of another hand or attempt of the same person{near}"
                if near
                else "and nobody here has its key"
            )
            raise MalformedError(
                f"the record is of the hand {record.hand[:16]}…, the transcript of "
                f"{hand_id[:16]}…: {whose}",
                "$.record.hand",
            )

    def _check_record_key(self, record: Record) -> None:
        found = _person_key(self._opened, record.seat)
        if found != record.key:
            self.case.note("record-key", 0, record.key, found)

    def _check_record_messages(self, record: Record) -> int:
        """What the seat had seen is here, and everything here in its name is its own."""
        by, own = SEATS[record.seat], {one.message.digest(): one for one in record.messages()}
        if self.log.position_of(record.head.hash) != record.head.seq:
            last = len(self.log) - 1
            text = f"entry {record.head.seq}, {record.head.hash}"
            self.case.note("record-head", min(record.head.seq, last), text, "another, or none")
        for place, digest in enumerate(self.log.message_hashes):
            if self.case.parties[place] == by and digest not in own:
                self.case.note(
                    "record-message", place, "a message that the seat remembers", "another"
                )
        there = set(self.log.message_hashes)
        for digest, one in own.items():
            if one.message.type == "dispute" and digest not in there and self.case.close:
                self.case.note("record-message", self.case.end, "the seat's dispute", "none")
        return len(own)

    def _check_head(self) -> Looked:
        """The log ends where it was pinned; only acks may follow (21.1)."""
        head = self.pinned.head
        if head is None:
            return Looked(0, "no end was pinned", applies=False)
        place = self.log.positions.get(head)
        last = len(self.log) - 1
        if place is None:
            near = self._near_head(head)
            self.case.note("head-missing", last, head + near, self.log.head)
        elif any(entry.message.type != "ack" for entry in self.log.entries[place + 1 :]):
            self.case.note(
                "head-passed", place + 1, "the end, or acks", self.case.said(place + 1).type
            )
        return Looked(1)

    def _near_head(self, head: str) -> str:
        """A near miss is said to be what it is: an entry's other hash (see 3.1)."""
        hashes = [digest.hex() for digest in self.log.message_hashes]
        if head == hashes[0]:
            return " (that is the hand id, which pins no end)"
        if head in hashes:
            return f" (that is the message hash of entry {hashes.index(head)}, not its entry hash)"
        return ""

    # -- the verdict --

    def _conclude(self, findings: tuple[Finding, ...]) -> Verdict:
        failed = {one.check for one in findings}
        checks = tuple(
            _report(number, looked.looked_at, looked.reason, failed=number in failed)
            for number, looked in self.looked.items()
        )
        closed = self.hand.phase is Phase.CLOSED
        ran = all(one.looked_at or not one.applies for one in self.looked.values())
        status: Status = "invalid" if findings else "valid" if closed and ran else "incomplete"
        opened, acks = self._opened, tuple(sorted(self.hand.acks))
        return Verdict(
            acknowledged=acks,
            checks=checks,
            findings=findings,
            given_up=self._given_up(),
            guarantee=guarantee.of(status, self.case, self.pinned),
            hand=HandLabel(
                attempt=opened.attempt,
                game=opened.game,
                hand=opened.hand,
                id=self.log.message_hashes[0].hex(),
                table=opened.table,
            ),
            head=self.log.head,
            pinned=self.pinned,
            remarks=tuple(self.case.remarks),
            status=status,
            stop=None if closed or not self.hand.size else self._stop(),
        )

    def _given_up(self) -> tuple[str, ...] | None:
        """The deck of an attempt that was voided, if its seeds are all known (17.8)."""
        deck = self.case.deck
        return None if self.case.void is None or deck is None else tuple(deck)

    def _stop(self) -> Stop:
        void = self.case.void
        if void is not None:
            seat = "" if void.seat is None else f" (seat/{void.seat})"
            return Stop(
                entry=self.case.end,
                next=(),
                reason=f"the server voided the attempt: {void.reason}{seat}",
            )
        due = tuple(f"{kind} by {by}" for kind, by in sorted(self.hand.due()))
        return Stop(
            entry=len(self.log) - 1,
            next=due,
            reason="the log stops here; that a message did not come is the server's word",
        )


def _report(number: int, looked_at: int, reason: str | None, *, failed: bool) -> CheckReport:
    return CheckReport(
        looked_at=looked_at,
        name=CHECKS[number],
        number=number,
        reason=reason,
        status="failed" if failed else "passed" if looked_at else "not run",
    )


def _person_key(terms: Open, seat: int) -> str:
    """The public key of the person at a seat, or words that no key equals."""
    one = terms.seats[seat] if seat < len(terms.seats) else None
    return one.key if isinstance(one, Person) else "no person's key"


def _owner(terms: Open, key: str) -> str:
    """Whose key it is in this hand, as a remark in brackets; empty if it is nobody's."""
    keys = {terms.server_key: SERVER}
    keys |= {one.key: SEATS[n] for n, one in enumerate(terms.seats) if isinstance(one, Person)}
    return f" (that is the key of {keys[key]} here)" if key in keys else ""


def _merged(findings: list[Finding]) -> list[Finding]:
    """One finding for a row of entries that all answer a log which is not this one."""
    rows: dict[tuple[str, tuple[str, ...]], Finding] = {}
    kept: list[Finding] = []
    for one in findings:
        if one.code not in ("seen-unknown", "seen-not-previous"):
            kept.append(one)
            continue
        first = rows.get((one.code, one.culprits))
        entries = (*first.entries, *one.entries) if first else one.entries
        base = first or one
        rows[one.code, one.culprits] = Finding(
            attribution=base.attribution,
            check=base.check,
            code=base.code,
            culprits=base.culprits,
            entries=entries,
            expected=base.expected,
            found=base.found,
            message=base.message,
        )
    return [*kept, *rows.values()]


def _judge_proof(data: bytes, pinned: Pinned) -> Verdict:
    """What a proof proves, whatever transcript it came from (spec 8.2)."""
    from fairdeal import evidence  # here: start-up time

    try:
        terms, proven = evidence.judge_proof(data)
    except MalformedError as error:
        return _malformed(error, pinned)
    findings = [proven]
    pins = [(SERVER, pinned.server_key, terms.server_key)] if pinned.server_key else []
    for by, key in pinned.seat_keys.items():
        pins.append((by, key, _person_key(terms, SEATS.index(by))))
    for by, expected, found in pins:
        if expected != found:
            code = "pin-server-key" if by == SERVER else "pin-seat-key"
            findings.append(
                finding(code, by=SERVER, entries=(), expected=f"{expected} at {by}", found=found)
            )
    looked = {1: 1, 7: 2, 19: len(pins)}
    return _without_log(findings, looked, "the file is a proof, not a transcript", pinned)


def _malformed(error: MalformedError, pinned: Pinned) -> Verdict:
    """What cannot be judged names nobody."""
    one = finding(
        "malformed", by="", entries=(), expected="a transcript of version 1", found=str(error)
    )
    return _without_log([one], {}, "the file is not a transcript", pinned)


_NOTHING_FOLLOWS = (
    "It is not a transcript that this version can judge: nothing follows, for or against anybody."
)
_PROOF_STANDS = (
    "The two messages are signed by one key and cannot both be true: that party has cheated, "
    "whatever else was right. Whose key it is, only a pinned key tells."
)


def _without_log(
    findings: list[Finding], looked: Mapping[int, int], reason: str, pinned: Pinned
) -> Verdict:
    failed = {one.check for one in findings}
    return Verdict(
        acknowledged=(),
        checks=tuple(
            _report(
                number,
                looked.get(number, 0),
                None if number in looked else reason,
                failed=number in failed,
            )
            for number in CHECKS
        ),
        findings=tuple(findings),
        given_up=None,
        guarantee=_NOTHING_FOLLOWS if 1 in failed else _PROOF_STANDS,
        hand=None,
        head=None,
        pinned=pinned,
        remarks=(),
        status="malformed" if 1 in failed else "invalid",
        stop=None,
    )
