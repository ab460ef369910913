"""A whole game: every hand judged, and the checks 22 to 27 across them (spec section 9).

A game's file holds all hands in order, voided attempts too. Each is judged on its own first, and a
damaged one hides no other. Then each is held against the one before it. The server is named only
where its `open` names that very log by `previous`: then it has signed what it departs from. Where
it does not, hands may be missing from the file, and whoever made the file may have left them out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import Meta

from fairdeal import encoding
from fairdeal.checks import Case
from fairdeal.encoding import Shape
from fairdeal.errors import MalformedError
from fairdeal.findings import (
    GAME_CHECKS,
    GAME_REMARKS,
    CheckReport,
    GameFinding,
    GameVerdict,
    Pinned,
    Status,
    Verdict,
    game_finding,
    worst,
)
from fairdeal.games.base import Policy
from fairdeal.games.policies import POLICIES
from fairdeal.log import Log, read_log
from fairdeal.messages import FORMAT_VERSION, Bot, Open, Person
from fairdeal.parties import SEATS, SERVER
from fairdeal.record import Record, read_record
from fairdeal.verify import examine

MAX_HANDS: Final = 4096


class _Hand(Shape, frozen=True):
    entries: msgspec.Raw


class _File(Shape, frozen=True):
    fairdeal: Annotated[int, Meta(ge=FORMAT_VERSION, le=FORMAT_VERSION)]
    hands: Annotated[list[msgspec.Raw], Meta(min_length=1, max_length=MAX_HANDS)]


_files: Final = msgspec.json.Decoder(_File)
_hands: Final = msgspec.json.Decoder(_Hand)


_OUTER: Final = len(b'{"fairdeal":1,"hands":[]}')
_AROUND: Final = len(b'{"entries":}')


def read_game(data: bytes) -> list[bytes]:
    """The transcripts of a game's file, in order, as files of their own. Raises MalformedError.

    What is wrong inside one hand is left to be told there.
    """
    try:
        hands = [bytes(raw) for raw in encoding.shape(data, _files).hands]
    except MalformedError:
        encoding.check(data)  # a fault of the text is named first
        raise
    entries = [_entries(raw) for raw in hands]
    # As in `encoding.strict`: if nothing stands around the entries but what must, that is in order
    members = (len(raw) + _AROUND if raw else len(one) for one, raw in zip(hands, entries))
    if len(data) != _OUTER + sum(members) + len(hands) - 1:
        encoding.check(data)
    return [_transcript(raw) if raw else _no_transcript(one) for one, raw in zip(hands, entries)]


def _entries(hand: bytes) -> bytes:
    """The entries of a hand, or nothing if it is of another shape."""
    try:
        return bytes(encoding.shape(hand, _hands).entries)
    except MalformedError:
        return b""


def _no_transcript(hand: bytes) -> bytes:
    return b'{"fairdeal":%d,"hand":%b}' % (FORMAT_VERSION, hand)


def _transcript(entries: bytes) -> bytes:
    return b'{"entries":%b,"fairdeal":%d}' % (entries, FORMAT_VERSION)


def write_game(hands: Iterable[bytes]) -> bytes:
    """A game's file of transcripts in order. Raises MalformedError if one of them is none."""
    members = []
    for data in hands:
        entries = encoding.parse(data)["entries"]
        members.append(b'{"entries":%b}' % encoding.canonical(entries))
    return b'{"fairdeal":%d,"hands":[%b]}' % (FORMAT_VERSION, b",".join(members))


class _Before(NamedTuple):
    """What is known of the hand before, and its place in the file."""

    place: int
    case: Case

    @property
    def opened(self) -> Open:
        return self.case.opened

    @property
    def head(self) -> str | None:
        """The entry hash of its `close` or `void`, if that ends a log unbroken from `open`."""
        end = self.case.hand.end
        return None if end is None or self.case.marks.roots[end] else self.case.log.hashes[end]

    def leads_to(self, opened: Open) -> bool:
        """Whether that hand is linked to this one; the first of another game is of no game here."""
        begins = (opened.hand, opened.attempt) == (1, 1) and opened.game != self.opened.game
        return self.head is not None and opened.previous == self.head and not begins


class _Seed(NamedTuple):
    """Where a seed was opened first, and the key that committed to it, if that is sure."""

    place: int
    by: str
    key: str | None


class _Chain:
    """The hands taken so far, and what is wrong between them."""

    def __init__(self) -> None:
        self.findings: list[GameFinding] = []
        self.remarks: list[GameFinding] = []
        self.looked = dict.fromkeys(GAME_CHECKS, 0)
        self.before: _Before | None = None
        #: seats at which a person has sat, and those of them who left
        self.sat: set[int] = set()
        self.left: set[int] = set()
        #: whether every hand so far follows from the one before it, from the game's first on
        self.whole = True
        self.over = False
        #: the first of the hands that lead to this one without a gap
        self.since = 0
        self._seeds: dict[bytes, _Seed] = {}
        self._ids: set[bytes] = set()

    def take(self, place: int, case: Case) -> None:
        """Hold a hand against the one before it."""
        opened = case.opened
        if self.before is None:
            self.since = place
            self._begins(place, opened)
        else:
            self._follows(place, case, self.before)
        self._check_seeds(place, case)
        self._leaves(case)
        self._check_end(place, case)
        self.before = _Before(place, case)

    def skip(self) -> None:
        """A hand that cannot be read stood here: what follows it cannot be held against it."""
        self.before, self.whole = None, False

    def _begins(self, place: int, opened: Open) -> None:
        self.looked[22] += 1
        first = (opened.hand, opened.attempt) == (1, 1)
        if not first:
            self.whole = False
        if place == 0 and not first:
            self._note("hand-missing", place, "hand 1, attempt 1", _number(opened))

    def _follows(self, place: int, case: Case, before: _Before) -> None:
        opened, old = case.opened, before.opened
        self.looked[22] += 1
        if not before.leads_to(opened):
            self.whole, self.since = False, place
            self._note("hand-missing", place, *_gap(opened, before), before.place)
            return
        named = SERVER if opened.server_key == old.server_key and case.marks.authentic[0] else None
        self._check_number(place, opened, before, named)
        self._check_terms(place, opened, before, named)
        self._check_scores(place, opened, before, named)

    def _check_number(self, place: int, opened: Open, before: _Before, named: str | None) -> None:
        """Hands count up after a close, attempts after a void; of one game and table (23)."""
        self.looked[23] += 1
        old, closed = before.opened, before.case.close is not None
        wanted = (old.hand + 1, 1) if closed else (old.hand, old.attempt + 1)
        right = (opened.table, opened.game, opened.hand, opened.attempt)
        if right != (old.table, old.game, *wanted):
            text = f"hand {wanted[0]}, attempt {wanted[1]} of the same game"
            self._note("number-wrong", place, text, _number(opened), before.place, culprit=named)
        if self.over:
            text = "no hand after the result"
            self._note("game-over", place, text, _number(opened), before.place, culprit=named)

    def _check_terms(self, place: int, opened: Open, before: _Before, named: str | None) -> None:
        """Nothing that a table agrees on changes, but that bots sit down for who left (24)."""
        self.looked[24] += 1
        changed = [
            name
            for name in ("rules", "deck", "house", "server_key", "substitute", "clock")
            if getattr(opened, name) != getattr(before.opened, name)
        ]
        changed += _changed_seats(opened, before)
        if changed:
            text = "terms and seats as in the hand before"
            self._note(
                "terms-changed", place, text, ", ".join(changed), before.place, culprit=named
            )

    def _check_scores(self, place: int, opened: Open, before: _Before, named: str | None) -> None:
        """Scores carry over, unchanged by a void (25)."""
        self.looked[25] += 1
        close = before.case.close
        scores = before.opened.scores if close is None else close.scores
        if opened.scores != scores:
            self._note("scores-not-carried", place, _numbers(scores), _numbers(opened.scores),
                       before.place, culprit=named)  # fmt: skip

    def _leaves(self, case: Case) -> None:
        """Who is a bot from here on although a person sat there."""
        seats = enumerate(case.opened.seats)
        persons = {seat for seat, one in seats if isinstance(one, Person)}
        self.left |= (self.sat - persons) | {SEATS.index(by) for by in case.hand.replaced}
        self.sat |= persons

    def _check_end(self, place: int, case: Case) -> None:
        """The result lists exactly those who left (26); the rest of it is the hand's own check."""
        close = case.close
        self.over = close is not None and close.result is not None
        if close is None or close.result is None or not self.whole:
            return
        self.looked[26] += 1
        if set(close.result.left) != self.left:
            named = SERVER if case.whole(case.end) else None
            expected, found = (_numbers(sorted(some)) for some in (self.left, close.result.left))
            self._note("left-wrong", place, expected, found, culprit=named)

    def _check_seeds(self, place: int, case: Case) -> None:
        """No seed is used twice (27): a warning, and to whoever drew it again.

        Which of two hands is the later, only links between them show: whoever made the file chose
        its order. Where one key committed in both, it is the same whichever it is. A hand that
        stands in the file twice uses no seed a second time, and within one hand nobody could have
        copied: who did it, the log does not show.
        """
        hand_id = case.log.message_hashes[0]
        again = hand_id in self._ids
        self._ids.add(hand_id)
        for by, seed in () if again else case.seeds.items():
            self.looked[27] += 1
            commit = case.hand.commits[by]
            key = _key_of(case, commit) if case.whole(commit) else None
            digest, mine = hashlib.sha256(seed).digest(), _Seed(place, by, key)
            first = self._seeds.setdefault(digest, mine)
            if first is mine:
                continue
            later = first.place < place and (first.place >= self.since or first.key == key)
            text = f"the one of {first.by} in hand {first.place} of the file"
            named = case.parties[commit] if key and later else None
            self._note(
                "seed-reused", place, f"a fresh seed of {by}", text, first.place, culprit=named
            )

    def _note(
        self,
        code: str,
        place: int,
        expected: str,
        found: str,
        *others: int,
        culprit: str | None = None,
    ) -> None:
        one = game_finding(
            code,
            hands=tuple(sorted({*others, place})),
            expected=expected,
            found=found,
            culprit=culprit,
        )
        (self.remarks if code in GAME_REMARKS else self.findings).append(one)


def _key_of(case: Case, place: int) -> str:
    party, opened = case.parties[place], case.opened
    return opened.server_key if party == SERVER else opened.seats[SEATS.index(party)].key


def _number(opened: Open) -> str:
    return f"hand {opened.hand}, attempt {opened.attempt} of game {opened.game!a}"


def _numbers(values: Iterable[int]) -> str:
    return " ".join(map(str, values)) or "none"


def _gap(opened: Open, before: _Before) -> tuple[str, str]:
    """What was expected and found where a hand does not name the one before it."""
    old = before.opened
    after = f"a hand that names the end of {_number(old)} as the log before it"
    if before.head is None:
        return f"an end of {_number(old)}", _number(opened)
    if (opened.table, opened.game) != (old.table, old.game):
        return after, f"one of another game or table: {_number(opened)}"
    if (opened.hand, opened.attempt) == (old.hand, old.attempt):
        return after, f"the same number again: {_number(opened)}"
    if (opened.hand, opened.attempt) < (old.hand, old.attempt):
        return after, f"an earlier one: {_number(opened)}"
    return after, f"{_number(opened)}: what was between them is not here"


def _changed_seats(opened: Open, before: _Before) -> Iterator[str]:
    """Seats that are not who they were, where nothing explains it."""
    old = before.opened.seats
    if len(old) != len(opened.seats):
        yield "the number of seats"
        return
    gone = {SEATS.index(by) for by in before.case.hand.replaced}
    void = before.case.void
    may = gone if void is None or void.seat is None else gone | {void.seat}
    must = gone if void is None or void.reason not in ("no-reveal", "left") else may
    for seat, (was, now) in enumerate(zip(old, opened.seats, strict=True)):
        if isinstance(was, Person) and seat in must:
            right = _is_substitute(now, opened)
        else:
            right = now == was or (
                isinstance(was, Person) and seat in may and _is_substitute(now, opened)
            )
        if not right:
            yield SEATS[seat]


def _is_substitute(seat: Person | Bot, opened: Open) -> bool:
    return isinstance(seat, Bot) and seat.policy == opened.substitute


class _Pins(NamedTuple):
    """What the caller knows from elsewhere, handed to each hand as far as it is about it."""

    server_key: bytes | None
    seat_keys: Mapping[int, bytes]
    record: bytes | None
    mine: Record | None
    head: str | None

    def of_hand(
        self, hand: Log, sat: Collection[int], left: Collection[int], *, last: bool
    ) -> dict[str, Any]:
        """The record is of one hand only, and who has left has no key there: `sat` are those who
        were persons before, and `left` those of them who were replaced.
        """
        body = hand.entries[0].message.body
        seats = dict(enumerate(body.seats)) if isinstance(body, Open) else {}
        gone = {*left, *(seat for seat in sat if isinstance(seats.get(seat), Bot))}
        own = self.mine is not None and self.mine.hand == hand.message_hashes[0].hex()
        return {
            "server_key": self.server_key,
            "seat_keys": {seat: key for seat, key in self.seat_keys.items() if seat not in gone},
            "record": self.record if own else None,
            "head": self.head if last else None,
        }


def verify_game(
    hands: Iterable[bytes],
    *,
    server_key: bytes | None = None,
    seat_keys: Mapping[int, bytes] | None = None,
    record: bytes | None = None,
    head: str | None = None,
    policies: Mapping[str, Policy] = POLICIES,
) -> GameVerdict:
    """Judge a game by its transcripts in order (spec section 9). Never raises for `hands`.

    Pins are as those of `verify`: a seat's key counts until its person has left, `record` is of one
    of the hands, `head` is the end of the last. Only what the next hand needs is kept of each.

    Raises MalformedError if `record` is none, or of no hand here, ValueError for a seat number that
    no table has.
    """
    mine = None if record is None else read_record(record)
    pins = _Pins(server_key, dict(seat_keys or {}), record, mine, head)
    chain, verdicts = _Chain(), list[Verdict]()
    for place, (data, last) in enumerate(_with_last(hands)):
        verdict, case = _judged(data, pins, chain, policies, last=last)
        verdicts.append(verdict)
        if case is None:
            chain.skip()
        else:
            chain.take(place, case)
    if mine is not None and all(one.pinned.record is None for one in verdicts):
        raise MalformedError("the record is of none of the hands here", "$.record.hand")
    return _conclude(verdicts, chain, pins)


def _judged(
    data: bytes, pins: _Pins, chain: _Chain, policies: Mapping[str, Policy], *, last: bool
) -> tuple[Verdict, Case | None]:
    try:
        log = read_log(data)
    except MalformedError:
        return examine(data, server_key=pins.server_key, seat_keys=pins.seat_keys)
    return examine(log, policies=policies, **pins.of_hand(log, chain.sat, chain.left, last=last))


def verify_game_file(data: bytes, **pins: Any) -> GameVerdict:
    """Judge a game's file, with the pins of `verify_game`. Raises MalformedError if it is none."""
    return verify_game(read_game(data), **pins)


def _with_last(hands: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Each, and whether it is the last."""
    waiting: bytes | None = None
    for data in hands:
        if waiting is not None:
            yield waiting, False
        waiting = data
    if waiting is not None:
        yield waiting, True


def _conclude(verdicts: list[Verdict], chain: _Chain, pins: _Pins) -> GameVerdict:
    failed = {one.check for one in chain.findings}
    checks = tuple(
        CheckReport(
            looked_at=chain.looked[number],
            name=name,
            number=number,
            reason=None if chain.looked[number] else _NOT_RUN[number],
            status="failed"
            if number in failed
            else "passed"
            if chain.looked[number]
            else "not run",
        )
        for number, name in GAME_CHECKS.items()
    )
    # a voided attempt is a part of a game like any other
    statuses: list[Status] = ["valid" if _voided(one) else one.status for one in verdicts]
    statuses.append("invalid" if chain.findings else "valid" if chain.over else "incomplete")
    status = worst(statuses)
    return GameVerdict(
        checks=checks,
        findings=tuple(chain.findings),
        guarantee=_guarantee(status, chain, pins),
        hands=tuple(verdicts),
        pinned=Pinned(
            head=pins.head,
            record=None if pins.mine is None else pins.mine.seat,
            seat_keys={SEATS[seat]: key.hex() for seat, key in pins.seat_keys.items()},
            server_key=None if pins.server_key is None else pins.server_key.hex(),
        ),
        remarks=tuple(chain.remarks),
        status=status,
    )


def _voided(verdict: Verdict) -> bool:
    return verdict.status == "incomplete" and verdict.stop is not None and not verdict.stop.next


_NOT_RUN: Final = {
    22: "no hand could be read",
    23: "no hand names the one before it",
    24: "no hand names the one before it",
    25: "no hand names the one before it",
    26: "the game does not end here, or not all of it is here",
    27: "no seed was opened",
}


def _guarantee(status: Status, chain: _Chain, pins: _Pins) -> str:
    """What follows for the game as a whole; each hand's verdict says what follows for it."""
    if status in ("invalid", "malformed"):
        return "Not everything here is right: what each finding proves, it says itself."
    shown = "It names every hand of the game in order" if chain.whole else "Hands are missing"
    basis = (
        "as far as the pinned keys signed them"
        if pins.seat_keys or pins.record is not None
        else "but no person's key was pinned: one party can make all of that up"
    )
    end = "" if chain.over else " The game does not end here."
    return f"{shown}, {basis}. What holds for each hand, its own verdict says.{end}"
