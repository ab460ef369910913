"""A person's side of a hand, sans I/O (spec sections 3.4 and 4).

A `Seat` takes the log's entries one by one and answers with what it has to say: its commitment, its
reveal and its ack by itself, its pass, plays and choice when the caller says so. Every answer is an
`Outgoing`: **store `store`, then send `send`**. A seat resumed from its store says the same again,
never something else; a seat whose store is lost must not speak in that hand (`Seat.watch`).

It refuses what deviates by `RemoteProtocolError` and stays as it was; a box that it cannot use it
answers with `dispute`. It checks what it can before it signs. Whether everything was right is for
`fairdeal.verify`, with the finished log and this seat's record.
"""

from __future__ import annotations

import hmac
import secrets
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from msgspec import UNSET, Raw

from fairdeal import encoding, sealing
from fairdeal.bots import remaining
from fairdeal.cards import canonical, contains
from fairdeal.commitment import SALT_BYTES, SEED_BYTES, cards_commitment, seed_commitment
from fairdeal.errors import LocalProtocolError, MalformedError, RemoteProtocolError
from fairdeal.games.base import Moon, View
from fairdeal.hand import Hand
from fairdeal.log import Log, link_problem, read_one_entry
from fairdeal.messages import (
    Ack,
    Body,
    Cards,
    Choose,
    Close,
    Commit,
    Deal,
    Dispute,
    Entry,
    Exchange,
    Message,
    Open,
    Pass,
    Person,
    Play,
    Reveal,
    Share,
    Signed,
    message,
)
from fairdeal.opening import are_dealt, are_passed, cards_open, sealed_cards
from fairdeal.parties import SEATS, SERVER
from fairdeal.record import Head, Record, read_record, write_record
from fairdeal.signing import SigningKey, verifies
from fairdeal.table import Fault, Phase

Entropy = Callable[[int], bytes]


#: what a person signs once in a hand, whatever it is shown (spec section 3.4)
_ONCE = ("commit", "reveal", "pass")


class Outgoing(NamedTuple):
    """A message to send, and what to store before: the seat's whole record."""

    store: bytes
    send: bytes

    def __repr__(self) -> str:
        return f"Outgoing(send={self.send!r})"


class Seat:
    """One person's seat in one hand."""

    def __init__(
        self,
        signing_key: SigningKey,
        *,
        server_key: bytes | None = None,
        entropy: Entropy = secrets.token_bytes,
    ) -> None:
        """A seat that joins a hand for the first time; its secrets are drawn here.

        `server_key` pins the server: a hand opened by another key is refused.
        """
        self._start(signing_key, server_key)
        self._seed = entropy(SEED_BYTES)
        self._hand_key = entropy(sealing.KEY_BYTES)
        self._pass_salt = entropy(SALT_BYTES).hex()

    def _start(self, signing_key: SigningKey, server_key: bytes | None) -> None:
        self.log = Log()
        self.hand = Hand()
        self.seat: int | None = None
        self._key = signing_key
        self._server_key = server_key
        self._silent = False
        self._seed = b""
        self._hand_key = b""
        self._pass_salt = ""
        self._record: Record | None = None
        self._sent: dict[tuple[str, str], Signed] = {}
        self._dealt: Cards | None = None
        self._passed: Cards | None = None
        self._received: Cards | None = None

    @classmethod
    def resume(
        cls, store: bytes, signing_key: SigningKey, *, server_key: bytes | None = None
    ) -> Seat:
        """A seat that goes on from its store; feed it the log from its first entry.

        It says nothing new until the log has reached the entry it had seen last. Raises
        MalformedError for bytes that are no record, LocalProtocolError for another key's.
        """
        try:
            record = read_record(store)
        except MalformedError:  # what is wrong with it could show a secret
            raise MalformedError("the seat's record is damaged, or none", "the store") from None
        if record.key != signing_key.public.hex():
            raise LocalProtocolError("the record is of another seat's key")
        seat = object.__new__(cls)
        seat._start(signing_key, server_key)
        seat._record = record
        seat._seed = bytes.fromhex(record.seed)
        seat._hand_key = bytes.fromhex(record.hand_key)
        seat._passed = record.passed
        seat._pass_salt = (
            record.passed.salt if record.passed else secrets.token_bytes(SALT_BYTES).hex()
        )
        seat._sent = {(one.message.type, one.message.seen): one for one in record.messages()}
        return seat

    @classmethod
    def watch(cls, signing_key: SigningKey, *, server_key: bytes | None = None) -> Seat:
        """A seat whose store is lost: it follows the log and stays silent."""
        seat = object.__new__(cls)
        seat._start(signing_key, server_key)
        seat._silent = True
        return seat

    def __repr__(self) -> str:
        return f"Seat({self.name}, {self.hand.phase.value}, {len(self.log)} entries)"

    # -- questions --

    @property
    def name(self) -> str:
        """This seat as in `by`, or an empty text before `open`."""
        return "" if self.seat is None else SEATS[self.seat]

    @property
    def record(self) -> bytes:
        """What this seat remembers now; the same as the last `Outgoing.store`, with its new head.

        Raises LocalProtocolError before `open`, or for a seat that only watches.
        """
        return write_record(self._remember())

    @property
    def cards(self) -> tuple[str, ...]:
        """The cards in hand now, in canonical order; empty before the deal, or once replaced."""
        if self._dealt is None or self.name not in self.hand.persons:
            return ()
        passed = self._passed.cards if self._passed and self.name in self.hand.passes else ()
        received = self._received.cards if self._received else ()
        left = remaining(self._dealt.cards, passed, received)
        for _, by, card in self.hand.plays:
            if by == self.name:
                left.remove(card)
        return canonical(left, self.hand.game.deck)

    @property
    def turn(self) -> str | None:
        """What the caller must decide now: ``pass``, ``play``, ``choose`` or None.

        None too once it has decided: what was signed is in `pending` until the log shows it.
        """
        wanted = {Phase.PASS: "pass", Phase.PLAY: "play", Phase.CHOOSE: "choose"}
        kind = wanted.get(self.hand.phase)
        if kind is None or not self._may_say(kind) or self._said_before(kind):
            return None
        if kind == "play" and not self.legal():
            return None  # somebody else holds the card that begins
        return kind

    def legal(self) -> tuple[str, ...]:
        """The cards that may be played now, in canonical order; none if another seat is on turn."""
        play = self.hand.play
        if play is None or not self._may_say("play"):
            return ()
        return play.legal(self.cards)

    def view(self) -> View:
        """What a policy may see at this seat. Raises LocalProtocolError before `open`."""
        hand = self.hand
        if not hand.size:
            raise LocalProtocolError("this seat has seen no hand")
        passed = self._passed.cards if self._passed and self.name in hand.passes else ()
        received = self._received.cards if self._received else ()
        play = hand.play or hand.game.begin(hand.terms.hand)
        seat = SEATS.index(self.name)
        return View(hand.game, seat, hand.terms.hand, self.cards, passed, received, play)

    # -- what the caller does --

    def receive(self, data: bytes | Entry) -> Outgoing | None:
        """Take the next entry; returns what this seat has to say to it, if anything by itself.

        An entry it has already is passed over. Raises MalformedError for bytes that are no entry,
        RemoteProtocolError for one that deviates, does not extend the log, or speaks falsely in
        this seat's name, LocalProtocolError for an `open` of another hand than the record's; the
        seat is as it was.
        """
        entry = read_one_entry(data) if isinstance(data, bytes) else data
        if entry.seq < len(self.log):
            self._refuse_fork(entry)
            return None
        said, digest = entry.message, entry.message.digest()
        self._refuse_link(entry, digest)
        if isinstance(said.body, Open):
            self._refuse_open(said.body, digest)
        self._refuse_signature(entry, digest)
        judged = self.hand.judge(said, digest, self.log.position_of(said.seen))
        if judged.deviations:
            one = judged.deviations[0]
            culprit = self.hand.party_of(said.by) if one.fault is Fault.AUTHOR else None
            text = f"{said.by}: expected {one.expected}, not {one.found}"
            raise RemoteProtocolError(one.code, text, culprit)
        self._refuse_privately(said)
        self.log.append(entry)
        self.hand.take(judged)
        self._learn(said)
        return self._due_answer()

    def pass_cards(self, cards: tuple[str, ...] | list[str]) -> Outgoing:
        """Pass these cards. Raises LocalProtocolError if they cannot be passed now."""
        game = self.hand.game if self.hand.size else None
        if game is None or not self._may_say("pass"):
            raise LocalProtocolError("this seat has nothing to pass now")
        if not contains(self.cards, cards) or len(cards) != game.pass_count:
            raise LocalProtocolError(f"a pass is {game.pass_count} of the seat's own cards")
        opening = Cards(cards=canonical(cards, game.deck), salt=self._pass_salt)
        if self._passed is not None and self._passed != opening:
            raise LocalProtocolError("this seat has passed other cards already")
        again = self._said_before("pass")
        if again:
            return again
        self._passed = opening
        return self._say(self._sealed_pass(opening))

    def play(self, card: str) -> Outgoing:
        """Play a card. Raises LocalProtocolError if it may not be played now."""
        if card not in self.legal():
            raise LocalProtocolError(f"{card!a} is no card that this seat may play now")
        return self._say(Play(card=card))

    def choose(self, moon: Moon) -> Outgoing:
        """Say what the moon this seat shot shall do. Raises LocalProtocolError."""
        if not self._may_say("choose") or moon not in ("add", "subtract"):
            raise LocalProtocolError("this seat has nothing to choose now")
        return self._say(Choose(moon=moon))

    def pending(self) -> Outgoing | None:
        """What this seat has signed and the log does not show: send it again after a reconnect."""
        if (box := self._bad_box()) is not None and self._caught_up():
            own = self._sent.get(("dispute", self.log.hashes[box]))
            return None if own is None else Outgoing(self.record, own.encoded())
        kinds = ("commit", "reveal", "pass", "play", "choose", "ack")
        waiting = (self._said_before(kind) for kind in kinds if self._may_say(kind))
        return next((one for one in waiting if one), None)

    # -- refusing --

    def _refuse_fork(self, entry: Entry) -> None:
        if entry.digest(entry.message.digest()).hex() != self.log.hashes[entry.seq]:
            text = f"entry {entry.seq} is another than the one this seat has: compare copies"
            raise RemoteProtocolError("record-head", text)

    def _refuse_link(self, entry: Entry, digest: bytes) -> None:
        problem = link_problem(entry, self.log.head, len(self.log), self.log.last_at)
        if problem:
            code, expected, found = problem
            raise RemoteProtocolError(code, f"expected {expected}, found {found}")
        head = self._record and self._record.head
        if head and entry.seq == head.seq and entry.digest(digest).hex() != head.hash:
            text = f"entry {entry.seq} is another than the one this seat had seen: compare copies"
            raise RemoteProtocolError("record-head", text)

    def _refuse_open(self, body: Open, digest: bytes) -> None:
        server = bytes.fromhex(body.server_key)
        if self._server_key is not None and not hmac.compare_digest(server, self._server_key):
            raise RemoteProtocolError(
                "pin-server-key", "the hand is opened by another server's key"
            )
        if self._seat_of(body) is None:
            raise RemoteProtocolError("pin-seat-key", "no seat has this seat's key")
        if self._record is not None and digest.hex() != self._record.hand:
            raise LocalProtocolError("this seat's record is of another hand than this log")

    def _seat_of(self, body: Open) -> int | None:
        mine = self._key.public.hex()
        seats = (
            n for n, one in enumerate(body.seats) if isinstance(one, Person) and one.key == mine
        )
        return next(seats, None)

    def _refuse_signature(self, entry: Entry, digest: bytes) -> None:
        """Live, nothing unsigned is accepted, and nothing in this seat's name but its own words."""
        said = entry.message
        if isinstance(said.body, Open):
            key = bytes.fromhex(said.body.server_key)
        elif self.hand.phase is Phase.START:
            raise RemoteProtocolError("out-of-turn", "a log begins with open")
        else:
            key = self.hand.key_of(said.by)
        if entry.sig is None or not verifies(key, digest, bytes.fromhex(entry.sig)):
            raise RemoteProtocolError("signature-invalid", f"an entry of {said.by} is not signed")
        if said.by != self.name or said.by not in self.hand.persons or self._silent:
            return
        own = self._sent.get((said.type, said.seen))
        if own is None or own.message != said:
            raise RemoteProtocolError(
                "record-message", "an entry in this seat's name is not its own"
            )

    def _refuse_privately(self, said: Message) -> None:
        """What only this seat can see to be wrong."""
        body = said.body
        if isinstance(body, Play) and said.by != self.name:
            played = sum(card == body.card for _, _, card in self.hand.plays)
            mine = Counter(self.cards)[body.card]
            if played + mine >= self.hand.copies[body.card]:
                raise RemoteProtocolError("card-twice", f"{body.card} is in this seat's hand")
        if isinstance(body, Close) and not self._silent:
            self._refuse_close(body)

    def _refuse_close(self, body: Close) -> None:
        """A close that says other than what this seat remembers is not acknowledged."""
        own = self._seed.hex()
        revealed = self.name in self.hand.reveals
        if revealed and not hmac.compare_digest(body.seeds[self.name], own):
            raise RemoteProtocolError("record-seed", "the close has another seed", SERVER)
        seat = SEATS.index(self.name)
        passed = self._passed if self.name in self.hand.persons else None
        remembered = (
            (self._dealt, body.deals),
            (passed, body.passes),
            (self._received, body.exchanges),
        )
        for mine, stated in remembered:
            if mine is not None and stated[seat] != mine:
                raise RemoteProtocolError("record-cards", "the close has other cards", SERVER)

    # -- learning --

    def _learn(self, said: Message) -> None:
        body = said.body
        if isinstance(body, Open):
            self.seat = self._seat_of(body)
        elif self._silent:
            return
        elif isinstance(body, Deal):
            self._dealt = self._opened("deal", body.hands)
        elif isinstance(body, Exchange):
            self._received = self._opened("exchange", body.hands)

    def _opened(self, kind: str, shares: tuple[Share, ...]) -> Cards | None:
        """The cards sealed to this seat, or None if the box cannot be used."""
        share = shares[SEATS.index(self.name)]
        if share.sealed is UNSET:
            return None
        hand = self.hand
        cards = sealed_cards(
            share.sealed,
            kind=kind,
            hand_key=self._hand_key,
            hand_id=hand.hand_id,
            recipient=self.name,
            sender=SERVER,
        )
        if cards is None or not self._can_hold(kind, cards.cards):
            return None
        fits = cards_open(
            cards,
            share.commitment,
            hand.game.deck,
            kind=kind,
            hand_id=hand.hand_id,
            seat=self.name,
        )
        return cards if fits else None

    def _can_hold(self, kind: str, cards: tuple[str, ...]) -> bool:
        game = self.hand.game
        if kind == "deal":
            return are_dealt(cards, game.deck, game.seats)
        dealt = self._dealt.cards if self._dealt else ()
        return are_passed(cards, game.deck, game.pass_count) and contains(
            game.deck, (*dealt, *cards)
        )

    # -- speaking --

    def _may_say(self, kind: str) -> bool:
        return (
            not self._silent
            and self.name in self.hand.persons
            and self._caught_up()
            and (kind, self.name) in self.hand.due()
            and self._bad_box() is None
            and self.name in self.hand.steps[self.hand.since].parties
        )

    def _caught_up(self) -> bool:
        """Not shown a shorter log than the one this seat has seen before."""
        return self._record is None or len(self.log) > self._record.head.seq

    def _due_answer(self) -> Outgoing | None:
        """What this seat says by itself, once: to a bad box, and in commit, reveal and ack."""
        if not self._caught_up():
            return None
        if (box := self._bad_box()) is not None:
            seen = self.log.hashes[box]
            claim = Dispute(hand_key=self._hand_key.hex())
            return None if ("dispute", seen) in self._sent else self._say(claim, seen)
        bodies: dict[str, Callable[[], Body]] = {
            "commit": self._commit,
            "reveal": self._reveal,
            "ack": Ack,
        }
        for kind, body in bodies.items():
            if self._may_say(kind) and not self._said_before(kind):
                return self._say(body())
        return None

    def _bad_box(self) -> int | None:
        hand = self.hand
        if self._silent or hand.ended or hand.disputed or self.name not in hand.persons:
            return None
        if hand.deal is not None and self._dealt is None:
            return hand.deal
        return hand.exchange if self._received is None else None

    def _commit(self) -> Body:
        commitment = seed_commitment(self.hand.hand_id, self.name, self._seed)
        hand_key = sealing.public_hand_key(self._hand_key)
        return Commit(commitment=commitment.hex(), hand_key=hand_key.hex())

    def _reveal(self) -> Body:
        return Reveal(sealed=self._seal("reveal", self._seed))

    def _sealed_pass(self, opening: Cards) -> Pass:
        salt = bytes.fromhex(opening.salt)
        commitment = cards_commitment("pass", self.hand.hand_id, self.name, opening.cards, salt)
        box = self._seal("pass", encoding.encode(opening))
        return Pass(commitment=commitment.hex(), sealed=box)

    def _seal(self, kind: str, plaintext: bytes) -> str:
        info = sealing.info(kind, self.hand.hand_id, SERVER, self.name)
        return sealing.seal(plaintext, bytes.fromhex(self.hand.terms.hand_key), info).hex()

    def _said_before(self, kind: str) -> Outgoing | None:
        """The message of this type over the same entry, if it was signed already."""
        own = self._sent.get((kind, self.log.hashes[self.hand.since]))
        return None if own is None else Outgoing(self.record, own.encoded())

    def _say(self, body: Body, seen: str | None = None) -> Outgoing:
        """Sign, remember, hand out; or hand out again what was signed over the same entry."""
        said = message(self.name, seen or self.log.hashes[self.hand.since], body)
        slot = (said.type, said.seen)
        own = self._sent.get(slot)
        if own is not None and own.message != said:
            raise LocalProtocolError(f"this seat has said another {said.type} here already")
        if own is None and any(kind == said.type for kind, _ in self._sent) and said.type in _ONCE:
            raise LocalProtocolError(f"this seat has signed a {said.type} in this hand already")
        if own is None:
            own = Signed(message=said, sig=self._key.sign(said.digest()).hex())
            self._sent[slot] = own
        return Outgoing(self.record, own.encoded())

    def _remember(self) -> Record:
        if self.seat is None or self._silent:
            raise LocalProtocolError("this seat has nothing to remember")
        if self._record is not None and not self._caught_up():
            return self._record  # shown less than it has seen, it forgets nothing
        return Record(
            dealt=self._dealt,
            hand=self.hand.hand_id.hex(),
            hand_key=self._hand_key.hex(),
            head=Head(hash=self.log.head, seq=len(self.log) - 1),
            key=self._key.public.hex(),
            passed=self._passed,
            received=self._received,
            seat=self.seat,
            seed=self._seed.hex(),
            sent=tuple(Raw(one.encoded()) for one in self._sent.values()),
        )
