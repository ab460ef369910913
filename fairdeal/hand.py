"""The public state of a hand, and how a message is judged and taken (spec sections 4 and 7.2).

The engine does not know which role drives it: `Dealer`, `Seat` and the verifier feed it the same
entries and get the same answers. Who may say what when is `table`'s; signatures, boxes and openings
are its drivers' business.

`judge` says what deviates and changes nothing; `take` applies an entry. A live party refuses
whatever deviates. The verifier takes it as far as it can be followed, so that one deviation does
not accuse everybody after it.

A person's message is judged by the log up to its `seen`: `steps` remembers what was for whom to say
over which entry.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from msgspec import Struct

from fairdeal.games import Game
from fairdeal.games.base import Moon, Play
from fairdeal.messages import Message, Open
from fairdeal.parties import SERVER, seat_number
from fairdeal.table import TABLE, Deviation, Fault, Phase

Slot = tuple[str, str, str, str]


class Judgement(Struct, frozen=True, gc=False):
    """A message judged where it would stand next; `Hand.take` applies it there.

    `follows`: it can be applied. `slots`: under what it may be said once.
    """

    message: Message
    digest: bytes
    deviations: tuple[Deviation, ...]
    follows: bool
    slots: tuple[Slot, ...]


class Step(Struct, frozen=True, gc=False):
    """What is for persons to say over one entry."""

    type: str
    parties: frozenset[str]


#: before a person has anything to say
NOTHING: Final = Step("", frozenset())


class Hand:
    """The public state of one hand, in every phase a valid one."""

    def __init__(self) -> None:
        self.phase = Phase.START
        self.size = 0
        self.hand_id = b""
        self.terms: Open
        self.game: Game
        #: how often each card is in the deck, and how often it has not been played
        self.copies: Counter[str] = Counter()
        self.unplayed: Counter[str] = Counter()
        #: the entry that persons of the current phase must have seen, and all such entries so far
        self.since = -1
        self.now = NOTHING
        self.steps: dict[int, Step] = {}
        #: deal and exchange entries, and the persons who may dispute them
        self.boxes: dict[int, frozenset[str]] = {}
        #: who disputes
        self.disputed: str | None = None
        #: all seats, as written in `by`, and all shufflers in order
        self.seats: tuple[str, ...] = ()
        self.shufflers: tuple[str, ...] = ()
        self.persons: set[str] = set()
        #: bots of `open`, or of `deal`, that must speak first and in order
        self.queue: list[str] = []
        self.commits: dict[str, int] = {}
        self.revealers: frozenset[str] = frozenset()
        self.reveals: dict[str, int] = {}
        self.passes: dict[str, int] = {}
        self.deal: int | None = None
        self.exchange: int | None = None
        #: `close` or `void`, and for a void the phase it found
        self.end: int | None = None
        self.before_void: Phase | None = None
        self.play: Play | None = None
        #: (entry, by, card) of each play
        self.plays: list[tuple[int, str, str]] = []
        self.moon: Moon | None = None
        self.choice: int | None = None
        self.replaced: dict[str, int] = {}
        self.acks: dict[str, int] = {}
        #: the first entry whose place or author was wrong; persons' messages over a log that holds
        #: it are not held against them: an honest seat says nothing there
        self.astray: int | None = None
        #: message hashes by entry, and the public keys of seats and server
        self.digests: list[bytes] = []
        self.keys: dict[str, bytes] = {}
        self._said: dict[Slot, int] = {}

    # -- questions --

    @property
    def ended(self) -> bool:
        """Whether `close` or `void` has ended the log."""
        return self.phase in (Phase.CLOSED, Phase.VOIDED)

    @property
    def pass_offset(self) -> int:
        """How many seats to the left this hand's pass goes; 0: nothing is passed."""
        return self.game.pass_offset(self.terms.hand)

    def key_of(self, by: str) -> bytes:
        """The public key that signs for `by` now."""
        return self.keys[self.party_of(by)]

    def party_of(self, by: str) -> str:
        """Who answers for `by` now: a person's seat itself, else the server."""
        return by if by in self.persons else SERVER

    def due(self) -> frozenset[tuple[str, str]]:
        """The (type, by) that carry the hand on from here; after `close` the acks that may come."""
        return frozenset(
            (kind, by)
            for kind, rule in TABLE.items()
            if rule.carries_on and self.phase in rule.phases
            for by in rule.authors(self)
        )

    # -- judging --

    def judge(self, message: Message, digest: bytes, seen: int | None) -> Judgement:
        """What deviates if `message` (with hash `digest`) stands next. Changes nothing.

        `seen` is where the entry it saw stands: -1 for the genesis, None if not on this log.
        """
        by, kind = message.by, message.type
        rule = TABLE[kind]
        person = by in self.persons
        slots = self._slots(message, seen, person=person)
        for slot in slots:
            if slot in self._said:
                return self._second(message, digest, self._said[slot])
        if person and self._awaits(kind, by, seen) and self.phase in rule.phases:
            # the common case, shown without the rest
            found = tuple(rule.problems(self, message.body, by))
            return Judgement(message, digest, found, True, slots)
        fits = self.phase in rule.phases and by in rule.authors(self)
        placed = self._person_misplaced if person else self._server_misplaced
        misplaced = placed(fits, message, seen)
        found = () if misplaced is None else (misplaced,)
        # who spoke to another state is judged no further, but for terms, which need no state
        if fits and (misplaced is None or kind == "open"):
            found += tuple(rule.problems(self, message.body, by))
        return Judgement(message, digest, found, fits or self._skips(message), slots)

    def _slots(self, message: Message, seen: int | None, *, person: bool) -> tuple[Slot, ...]:
        """Under what it may be said once. What saw another log may be of another hand."""
        by, kind = message.by, message.type
        if kind == "play":
            return ((by if person else SERVER, by, kind, message.seen),)
        seen_or_name = hand_name(message.body) if isinstance(message.body, Open) else message.seen
        first = (by if person else SERVER, by, kind, seen_or_name)
        once = (CONTRADICTS_PERSON if person else CONTRADICTS_SERVER).get(kind)
        return (first,) if once is None or seen is None else (first, (*first[:2], once, ""))

    def _awaits(self, kind: str, by: str, seen: int | None) -> bool:
        """Whether this is what the hand waits for, over the entry that it must have seen."""
        step = self.now
        return seen == self.since and step.type == kind and by in step.parties

    def _second(self, message: Message, digest: bytes, other: int) -> Judgement:
        """A message said before, or one that cannot be true beside entry `other`."""
        if self.digests[other] == digest:
            one = Deviation("repeated", Fault.PLACE, "each message once", f"entry {other}", other)
        else:
            expected = f"one {message.type} by {message.by} there"
            found = f"another than entry {other}"
            one = Deviation("equivocation", Fault.AUTHOR, expected, found, other)
        return Judgement(message, digest, (one,), False, ())

    def _person_misplaced(self, fits: bool, message: Message, seen: int | None) -> Deviation | None:
        if seen is None or seen < 0:
            return Deviation("seen-unknown", Fault.NOBODY, "an entry of this log", message.seen)
        if self.astray is not None and seen >= self.astray:
            return None if fits else self._displaced(message, Fault.NOBODY)
        if message.by not in self._speakers(message.type, seen):
            return self._wrong(message, seen)
        if not fits or (message.type != "dispute" and seen != self.since):
            return self._displaced(message, Fault.PLACE)
        return None

    def _speakers(self, kind: str, seen: int) -> frozenset[str]:
        """The persons for whom it was right to say this over entry `seen`."""
        if kind == "dispute":
            return self.boxes.get(seen, frozenset())
        step = self.steps.get(seen)
        return step.parties if step and step.type == kind else frozenset()

    def _server_misplaced(self, fits: bool, message: Message, seen: int | None) -> Deviation | None:
        """Everything under the server's key has just seen the entry before it."""
        if seen != self.size - 1:
            found = "no entry of this log" if seen is None else f"entry {seen}"
            return Deviation("seen-not-previous", Fault.PLACE, f"entry {self.size - 1}", found)
        if fits:
            return None
        return (
            self._wrong(message, seen)
            if self.astray is None
            else self._displaced(message, Fault.NOBODY)
        )

    def _wrong(self, message: Message, seen: int) -> Deviation:
        """It was wrong where its author saw the log."""
        found = f"{message.type} by {message.by}"
        if self.ended:
            allowed = "nothing" if self.phase is Phase.VOIDED else "only acks"
            return Deviation("after-end", Fault.AUTHOR, allowed, found)
        step = self.steps.get(seen)
        if message.by in self.persons and step is not None:
            expected = f"{step.type} by {' or '.join(sorted(step.parties))}"
        else:
            expected = self.expectation()
        return Deviation("out-of-turn", Fault.AUTHOR, expected, found)

    def _displaced(self, message: Message, fault: Fault) -> Deviation:
        """It was right where its author saw the log, but stands elsewhere."""
        found = f"{message.type} by {message.by}"
        return Deviation("out-of-place", fault, self.expectation(), found)

    def expectation(self) -> str:
        """What carries the hand on from here, in words."""
        said: dict[str, list[str]] = {}
        for kind, by in sorted(self.due()):
            said.setdefault(kind, []).append(by)
        return "; ".join(f"{kind} by {' or '.join(bys)}" for kind, bys in said.items()) or "nothing"

    # -- taking --

    def take(self, judged: Judgement) -> None:
        """Apply the next entry as it was just judged.

        What stands out of place is applied too, if the phase and its author allow it.
        """
        place = self.size
        self.size += 1
        self.digests.append(judged.digest)
        codes = [one.code for one in judged.deviations]
        if codes and self.astray is None and not _ASTRAY.isdisjoint(codes):
            self.astray = place
        for slot in judged.slots:
            self._said[slot] = place
        if judged.follows:
            message = judged.message
            TABLE[message.type].effect(self, message.body, message.by, place)

    def _skips(self, message: Message) -> bool:
        """A play out of turn, by a seat that has not played to the trick: it can be followed."""
        if message.type != "play" or self.phase is not Phase.PLAY or message.by not in self.seats:
            return False
        return all(seat != seat_number(message.by) for seat, _ in self.tricks.trick)

    # -- for the rows of the table --

    @property
    def tricks(self) -> Play:
        """The play, which has begun."""
        if self.play is None:
            raise RuntimeError("the play has not begun")
        return self.play

    def wait_for(self, kind: str, parties: frozenset[str], place: int) -> None:
        """From entry `place` on it is for these persons to say this."""
        self.since = place
        if not parties <= self.persons:
            parties &= self.persons
        self.now = self.steps[place] = Step(kind, parties)


def hand_name(body: Open) -> str:
    """Which hand an `open` opens: every one of them has seen the genesis."""
    return repr((body.table, body.game, body.hand, body.attempt))


#: of what one hand has at most one by each author, although it saw another entry (7.1)
CONTRADICTS_SERVER: Final = {"deal": "deal", "exchange": "exchange", "close": "end", "void": "end"}
CONTRADICTS_PERSON: Final = {"commit": "commit", "reveal": "reveal"}
_ASTRAY: Final = frozenset(
    (
        *("repeated", "equivocation", "seen-unknown", "seen-not-previous"),
        *("out-of-turn", "out-of-place", "after-end"),
    )
)
