"""A person at a live table, hand after hand, sans I/O (spec/live.md sections 2 and 3).

A `Player` takes the server's frames one by one and answers with acts, to be done in their order:
of a `Send`, **store `record`, then send `text`**. It promises:

* in a hand that it sat in it goes on from its record and never draws another seed; where that
  record is lost or damaged it only watches;
* what the seat signed and the log does not show is said again, after a new connection or when a
  message crossed an entry on its way, and never anything else in its place;
* at the end of each hand its own copy of the log is verified, with its record and the server's key.

What deviates is refused as `Seat` refuses it. Connecting, files and the clock are others' business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec import UNSET

from fairdeal.encoding import tagged_hash
from fairdeal.errors import LocalProtocolError, MalformedError, RemoteProtocolError
from fairdeal.findings import Verdict
from fairdeal.games.base import Moon, Policy
from fairdeal.log import Log, read_one_entry
from fairdeal.messages import Entry, Open, Replace, Void
from fairdeal.play.stream import (
    Clock,
    Frame,
    Guest,
    RefusedError,
    StreamError,
    TableState,
    Trouble,
    read_frame,
    write_frame,
)
from fairdeal.seat import Outgoing, Seat
from fairdeal.signing import SigningKey, verifies
from fairdeal.verify import verify

#: what the server answers to an honest message that crossed an entry on its way
CROSSED = frozenset(("out-of-place", "seen-unknown", "out-of-turn", "after-end"))


class HandName(NamedTuple):
    """Which hand: the server's key in hex, and how its `open` names it (anybody's text)."""

    server: str
    table: str
    game: str
    hand: int
    attempt: int


class Send(NamedTuple):
    """Store `record` under `hand`, where there is one; then send `text`."""

    text: str
    hand: HandName | None = None
    record: bytes | None = None

    def __repr__(self) -> str:
        return f"Send({self.text!r})"


class Copy(NamedTuple):
    """The log of a hand as far as it is known: keep it."""

    hand: HandName
    log: bytes


class Ended(NamedTuple):
    """A hand ended, or another began in its place; the verdict on this player's own copy."""

    hand: HandName
    log: Log
    verdict: Verdict
    record: bytes | None

    def __repr__(self) -> str:
        return f"Ended({self.hand}, {self.verdict.status})"


class Notice(NamedTuple):
    """A line for people; it may hold text from the server."""

    text: str


class Over(NamedTuple):
    """The server says that the game is over."""

    table: TableState


class Gone(NamedTuple):
    """This player no longer sits at the table."""

    text: str


#: what is told to whoever shows the table
Told = Ended | Notice | Over | Gone
Act = Send | Copy | Told
Recall = Callable[[HandName], bytes | None]


class Player:
    """One key at one table."""

    def __init__(
        self,
        signing_key: SigningKey,
        *,
        table: str,
        name: str,
        recall: Recall,
        server_key: bytes | None = None,
    ) -> None:
        """`recall` gives what was stored of a hand, or None; it may raise what reading raises.

        `server_key` pins the server; without it, the first challenge does.
        """
        self.server_key = server_key
        self.seat: Seat | None = None
        self.hand: HandName | None = None
        self.table: TableState | None = None
        self.number: int | None = None
        self.clock: Clock | None = None
        self.over = False
        #: how many entries were new to this player: whether a connection was good for anything
        self.news = 0
        self._key = signing_key
        self._id = table
        self._name = name
        self._recall = recall
        self.leaving = False
        self._watching = False
        self._stored = False
        self._judged = False
        self._lost = False
        self.connected()

    def __repr__(self) -> str:
        return f"Player({self._id!r}, {self.seat!r})"

    # -- questions --

    @property
    def holds(self) -> bool:
        """Whether a first word waits until the log so far is through: see `idle`."""
        return self._held is not None

    @property
    def seated(self) -> bool:
        """Whether this connection has let the player in."""
        return self._state == "playing"

    @property
    def turn(self) -> str | None:
        """What the caller must decide now: ``pass``, ``play``, ``choose`` or None."""
        if self.seat is None or not self.seated or self.over or self.leaving:
            return None
        return self.seat.turn

    # -- the stream --

    def connected(self) -> None:
        """A new connection: the stream begins again with a challenge."""
        self._state = "new"
        self._fresh = True
        self._first = False
        self._held: Outgoing | None = None
        self._last = ""
        self._sent_at = 0

    def hear(self, data: str | bytes) -> list[Act]:
        """Take the next frame; what is to be done about it.

        Raises MalformedError for what is no frame, StreamError for one out of its place,
        RefusedError for the server's own, RemoteProtocolError for an entry that deviates, another
        server's key or another word in this seat's name. The player is as it was.
        """
        kind, frame = read_frame(data)
        if isinstance(frame.error, Trouble):
            raise RefusedError(frame.error.code, frame.error.text)
        if kind not in _EXPECTED[self._state]:
            raise StreamError(f"the server sent {kind} where the stream has none")
        acts: list[Act] = getattr(self, f"_hear_{kind}")(frame)
        return acts

    def idle(self) -> list[Act]:
        """Nothing came for a moment: the log so far is through, and a held word may go.

        A seat without a record says its first word in a hand only then. Were the record lost, the
        log would have shown what it said; a second seed must never be signed.
        """
        held, self._held, self._first = self._held, None, False
        return [] if held is None else self._say(held)

    def _hear_challenge(self, frame: Frame) -> list[Act]:
        key = bytes.fromhex(str(frame.server_key))
        if self.server_key is not None and key != self.server_key:
            raise RemoteProtocolError("pin-server-key", "the server shows another key than before")
        self.server_key = key
        self._state = "login"
        challenge = bytes.fromhex(str(frame.challenge))
        sig = self._key.sign(login_hash(key, self._id, challenge, self._key.public, self._name))
        login = {"key": self._key.public.hex(), "name": self._name, "sig": sig.hex()}
        return [Send(write_frame(login=login))]

    def _hear_welcome(self, frame: Frame) -> list[Act]:
        assert isinstance(frame.welcome, TableState), "read_frame has seen to that"
        if not isinstance(frame.seat, int):
            raise StreamError("the server lets this client watch, but not sit")
        seats = frame.welcome.seats
        one = seats[frame.seat] if frame.seat < len(seats) else None
        if not isinstance(one, Guest) or one.key != self._key.public.hex():
            raise StreamError("the server gives this key's seat to somebody else")
        self.table, self.number, self._state = frame.welcome, frame.seat, "playing"
        return []

    def _hear_entry(self, frame: Frame) -> list[Act]:
        assert frame.entry is not UNSET, "read_frame has seen to that"
        entry = read_one_entry(bytes(frame.entry))
        if entry.seq == 0:
            return self._begin(entry)
        if self.seat is None or self._fresh:
            raise StreamError("the server begins a log in its middle")
        before = len(self.seat.log)
        acts, out = self._take(self.seat, entry)
        return acts + self._after(before, out)

    def _hear_refused(self, frame: Frame) -> list[Act]:
        """Said again over what follows; at once, if the log has gone on meanwhile."""
        trouble = frame.refused
        assert isinstance(trouble, Trouble), "read_frame has seen to that"
        self._last = ""
        acts: list[Act] = []
        if trouble.code not in CROSSED:
            acts.append(Notice(f"the server refused a message: {trouble.text} ({trouble.code})"))
        if self.seat is not None and len(self.seat.log) > self._sent_at:
            acts += self._again()
        return acts

    def _hear_clock(self, frame: Frame) -> list[Act]:
        assert isinstance(frame.clock, Clock), "read_frame has seen to that"
        self.clock = frame.clock
        return []

    def _hear_over(self, frame: Frame) -> list[Act]:
        assert isinstance(frame.over, TableState), "read_frame has seen to that"
        self.over, self.table = True, frame.over
        return [*self._cut_off(), Over(frame.over)]

    # -- what the caller does --

    def pass_cards(self, cards: tuple[str, ...] | list[str]) -> list[Act]:
        """Pass these cards. Raises LocalProtocolError if they cannot be passed now."""
        return self._say(self._seated().pass_cards(cards))

    def play(self, card: str) -> list[Act]:
        """Play a card. Raises LocalProtocolError if it may not be played now."""
        return self._say(self._seated().play(card))

    def choose(self, moon: Moon) -> list[Act]:
        """Say what the moon this seat shot shall do. Raises LocalProtocolError."""
        return self._say(self._seated().choose(moon))

    def decide(self, policy: Policy, word: Callable[[], int]) -> list[Act]:
        """Let a policy decide what `turn` asks for; nothing if it asks for nothing.

        Raises LocalProtocolError for what may not be decided so, and whatever the policy raises.
        """
        turn = self.turn
        if turn is None:
            return []
        view = self._seated().view()
        if turn == "pass":
            return self.pass_cards(policy.pass_cards(view, word))
        if turn == "play":
            return self.play(policy.play_card(view, word))
        return self.choose(policy.choose_moon(view, word))

    def leave(self) -> list[Act]:
        """Leave the table for good: a bot takes the seat."""
        self.leaving = True
        return [Send(write_frame(leave=True))]

    def expel(self, seat: int) -> list[Act]:
        """Claim that the time of a seat is over."""
        return [Send(write_frame(expel=seat))]

    def stop(self) -> list[Act]:
        """Keep a copy of the hand as far as it is known; for who turns away from the table."""
        return self._cut_off()

    def _seated(self) -> Seat:
        if self.seat is None or self.turn is None:
            raise LocalProtocolError("there is nothing to decide now")
        return self.seat

    # -- hands --

    def _begin(self, entry: Entry) -> list[Act]:
        """Entry 0: this hand again, after a reconnect, or another one."""
        body = entry.message.body
        if not isinstance(body, Open):
            raise RemoteProtocolError("out-of-turn", "a log begins with open")
        name = HandName(body.server_key, body.table, body.game, body.hand, body.attempt)
        if self.seat is not None and name == self.hand:
            self.seat.receive(entry)  # another one under this name is refused as a fork
            self._fresh = False
            return self._after(len(self.seat.log), None)
        return self._begin_other(name, entry)

    def _begin_other(self, name: HandName, entry: Entry) -> list[Act]:
        sitting = self._sit(name)
        try:
            out = sitting.seat.receive(entry)
        except LocalProtocolError as error:  # a record of this name, of another `open`
            raise RemoteProtocolError("record-head", str(error)) from error
        except RemoteProtocolError as error:
            expected = error.code == "pin-seat-key" and (self._lost or self._fresh)
            if expected and _is_signed(entry, bytes.fromhex(name.server)):
                return [*self._cut_off(), Gone("this key has no seat in the hand that begins")]
            raise
        acts = self._cut_off()
        if sitting.problem:
            acts.append(Notice(f"{sitting.problem}: you only watch this hand"))
        self.seat, self.hand, self._watching = sitting.seat, name, sitting.problem != ""
        self._first = self._fresh and sitting.new
        self._stored, self._judged, self._fresh = not sitting.new, False, False
        self._held = None
        return acts + self._after(0, out)

    def _sit(self, name: HandName) -> _Sitting:
        """The seat for a hand: new, from its record, or silent where that is damaged."""
        stored = self._recall(name)
        if stored is None:
            return _Sitting(Seat(self._key, server_key=self.server_key), new=True)
        try:
            seat = Seat.resume(stored, self._key, server_key=self.server_key)
        except (MalformedError, LocalProtocolError) as error:
            watcher = Seat.watch(self._key, server_key=self.server_key)
            return _Sitting(watcher, new=False, problem=str(error))
        return _Sitting(seat, new=False)

    def _take(self, seat: Seat, entry: Entry) -> tuple[list[Act], Outgoing | None]:
        try:
            return [], seat.receive(entry)
        except RemoteProtocolError as error:
            if error.code != "record-message" or self._stored:
                raise
        # signed with this key, in a hand of which nothing is stored here: the record is lost
        watcher = Seat.watch(self._key, server_key=self.server_key)
        for one in (*seat.log.entries, entry):
            watcher.receive(one)
        self.seat, self._watching, self._held = watcher, True, None
        return [Notice("this hand's record is lost: you only watch it")], None

    def _after(self, before: int, out: Outgoing | None) -> list[Act]:
        """What follows an entry: an answer, and at the hand's end the verdict."""
        seat = self._current()
        acts = self._again() if out is None else self._say(out)
        if len(seat.log) > before:
            self.news += 1
            self.clock = None
            acts += self._unseated(seat)
            if seat.hand.ended:
                acts += self._ended(seat)
        return acts

    def _unseated(self, seat: Seat) -> list[Act]:
        """Whether the last entry gave this seat to a bot, and what follows."""
        body = seat.log.entries[-1].message.body
        if not isinstance(body, Replace | Void) or body.seat != seat.seat:
            return []
        self._lost = True
        if self.leaving:
            return [*self._cut_off(), Gone("you left: a bot plays your seat")]
        return [Notice(f"a bot takes your seat ({body.reason})")]

    def _cut_off(self) -> list[Act]:
        """The hand so far, where it goes on without this player or is left unfinished."""
        return [] if self.seat is None or self._judged else self._ended(self.seat)

    def _ended(self, seat: Seat) -> list[Act]:
        assert self.hand is not None, "a seat has a hand"
        data = seat.log.encoded()
        acts: list[Act] = [Copy(self.hand, data)]
        if not self._judged:
            self._judged = True
            record = None if self._watching or not seat._caught_up() else seat.record
            known = {seat.seat: self._key.public} if seat.seat is not None else {}
            verdict = verify(data, server_key=self.server_key, seat_keys=known, record=record)
            acts.append(Ended(self.hand, seat.log, verdict, record))
        return acts

    # -- speaking --

    def _again(self) -> list[Act]:
        """What was signed and is not on the log, unless it was just said."""
        out = self._current().pending()
        return [] if out is None else self._say(out)

    def _say(self, out: Outgoing) -> list[Act]:
        text = out.send.decode()
        if self._first:
            self._held = out
            return []
        if text == self._last:
            return []
        self._last, self._sent_at, self._stored = text, len(self._current().log), True
        return [Send(text, self.hand, out.store)]

    def _current(self) -> Seat:
        if self.seat is None:
            raise StreamError("there is no hand yet")
        return self.seat


class _Sitting(NamedTuple):
    """A seat for a hand that begins: `new` if it never spoke, `problem` if it must be silent."""

    seat: Seat
    new: bool
    problem: str = ""


#: the frames that may come, by the state of the connection
_EXPECTED = {
    "new": ("challenge", "over"),
    "login": ("welcome",),
    "playing": ("welcome", "entry", "refused", "clock", "over"),
}


def _is_signed(entry: Entry, server: bytes) -> bool:
    sig = bytes.fromhex(entry.sig or "")
    return verifies(server, entry.message.digest(), sig)


def login_hash(server: bytes, table: str, challenge: bytes, key: bytes, name: str) -> bytes:
    """What a login signs in the place of a message hash (spec/live.md section 2)."""
    return tagged_hash("fairdeal/v1/login", server, table, challenge, key, name)
