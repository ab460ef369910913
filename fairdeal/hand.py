"""THE TABLE: who may say what when, and what it changes (spec section 4).

Everything that moves a hand's public state lives here. The engine does not know which role drives
it: `Dealer`, `Seat` and the verifier feed it the same entries and get the same answers. It sees
only what is public on the log; boxes, openings and signatures are its drivers' business.

`judge` says what deviates and changes nothing; `take` applies an entry. A live party refuses
whatever deviates. The verifier takes it as far as it can be followed, so that one deviation does
not accuse everybody after it.

A person's message is judged by the log up to its `seen` (spec section 7.2): `steps` remembers what
was a person's to say over which entry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple

from msgspec import UNSET

from fairdeal import messages
from fairdeal.cards import french_deck, listed_deck
from fairdeal.games import Game, game_of
from fairdeal.games.base import Moon, Play
from fairdeal.messages import (
    Ack,
    Bot,
    Choose,
    Close,
    Commit,
    Deal,
    Deck,
    Dispute,
    Exchange,
    Message,
    Open,
    Pass,
    Replace,
    Reveal,
    Share,
    Void,
)
from fairdeal.sealing import is_hand_key
from fairdeal.signing import is_public_key

SERVER = "server"
HOUSE = "house"


def seat_name(seat: int) -> str:
    """A seat as written in `by`."""
    return SEATS[seat]


def seat_number(by: str) -> int | None:
    """The seat number in `by`, or None for server and house."""
    return _NUMBERS.get(by)


SEATS = tuple(f"seat/{seat}" for seat in range(10))
_ALONE = tuple(frozenset((name,)) for name in SEATS)
_NUMBERS = {name: seat for seat, name in enumerate(SEATS)}


class Phase(Enum):
    """Where a hand stands: what comes next."""

    START = "start"
    COMMIT = "commit"
    REVEAL = "reveal"
    DEAL = "deal"
    PASS = "pass"
    EXCHANGE = "exchange"
    PLAY = "play"
    CHOOSE = "choose"
    CLOSE = "close"
    CLOSED = "closed"
    DISPUTED = "disputed"
    VOIDED = "voided"


class Fault(Enum):
    """Whom a deviation accuses, if the message is theirs and the log up to it is whole."""

    AUTHOR = "author"  # the message is wrong by itself, or was wrong where its author saw the log
    PLACE = "place"  # it was right there, and stands in the wrong place: whoever ordered the log
    NOBODY = "nobody"


class Deviation(NamedTuple):
    """What is wrong with a message where it stands. `other` is a second entry that shows it."""

    code: str
    fault: Fault
    expected: str
    found: str
    other: int | None = None


Slot = tuple[str, str, str, str]


class Judgement(NamedTuple):
    """A message judged where it would stand next; `Hand.take` applies it there.

    `follows`: it can be applied. `slots`: under what it may be said once.
    """

    message: Message
    digest: bytes
    deviations: tuple[Deviation, ...]
    follows: bool
    slots: tuple[Slot, ...]


class Step(NamedTuple):
    """What is for persons to say over one entry."""

    type: str
    parties: frozenset[str]


class Hand:
    """The public state of one hand, in every phase a valid one."""

    def __init__(self) -> None:
        self.phase = Phase.START
        self.size = 0
        self.hand_id = b""
        self.terms: Open
        self.game: Game
        #: how often each card is in the deck
        self.copies: Counter[str] = Counter()
        #: the entry that persons of the current phase must have seen, and all such entries so far
        self.since = 0
        self.steps: dict[int, Step] = {}
        #: deal and exchange entries, and the persons who may dispute them
        self.boxes: dict[int, frozenset[str]] = {}
        #: who disputes, and in which entry
        self.disputed: str | None = None
        self.dispute: int | None = None
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
        #: (entry, by, card) of each play, and who played each card
        self.plays: list[tuple[int, str, str]] = []
        self.players: dict[str, list[str]] = {}
        self.moon: Moon | None = None
        self.choice: int | None = None
        self.replaced: dict[str, int] = {}
        self.acks: dict[str, int] = {}
        #: the last entry whose place or author was wrong; persons' messages over a log that held
        #: one already are not held against them: an honest seat says nothing there
        self.astray: int | None = None
        self._said: dict[Slot, int] = {}
        self._digests: list[bytes] = []
        self._keys: dict[str, bytes] = {}

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
        return self._keys[by] if by in self.persons else self._keys[SERVER]

    def party_of(self, by: str) -> str:
        """Who answers for `by` now: a person's seat itself, else the server."""
        return by if by in self.persons else SERVER

    def due(self) -> frozenset[tuple[str, str]]:
        """The (type, by) that carry the hand on from here. Empty once it has ended."""
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
        signer = by if person else SERVER
        slots: tuple[Slot, ...] = ((signer, by, kind, message.seen),)
        once = (_ONCE_PERSON if person else _ONCE_SERVER).get(kind)
        if once and seen is not None:  # what saw another log may be of another hand
            slots = (*slots, (signer, by, once, ""))
        for slot in slots:
            if slot in self._said:
                return self._second(message, digest, self._said[slot])
        fits = self.phase in rule.phases and by in rule.authors(self)
        if person:
            misplaced = self._person_misplaced(fits, message, seen)
        else:
            misplaced = self._server_misplaced(fits, message, seen)
        found = tuple(rule.body(self, message)) if fits else ()
        if misplaced is not None:
            found = (misplaced, *found)
        return Judgement(message, digest, found, fits or self._skips(message), slots)

    def _second(self, message: Message, digest: bytes, other: int) -> Judgement:
        """A message said before, or one that cannot be true beside entry `other`."""
        if self._digests[other] == digest:
            one = Deviation("repeated", Fault.PLACE, "each message once", f"entry {other}", other)
        else:
            expected = f"one {message.type} by {message.by} there"
            found = f"another than entry {other}"
            one = Deviation("equivocation", Fault.AUTHOR, expected, found, other)
        return Judgement(message, digest, (one,), follows=False, slots=())

    def _person_misplaced(self, fits: bool, message: Message, seen: int | None) -> Deviation | None:
        if seen is None:
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
        self._digests.append(judged.digest)
        if any(one.code in _ASTRAY for one in judged.deviations):
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
        return all(seat != _NUMBERS[message.by] for seat, _ in self._play().trick)

    # -- steps --

    def _await(self, kind: str, parties: frozenset[str], place: int) -> None:
        """From entry `place` on it is for these persons to say this."""
        self.since = place
        self.steps[place] = Step(kind, parties & self.persons)

    def _after_commit(self, place: int) -> None:
        if not self.queue and len(self.commits) < len(self.shufflers):
            if self.steps == {}:
                self._await("commit", frozenset(self.shufflers) - self.commits.keys(), place)
        elif not self.queue:
            self.phase = Phase.REVEAL
            self._await("reveal", self.revealers, place)
            self._after_reveal()

    def _after_reveal(self) -> None:
        if len(self.reveals) == len(self.revealers):
            self.phase = Phase.DEAL

    def _after_pass(self, place: int) -> None:
        if not self.queue and len(self.passes) < len(self.seats):
            if self.steps.get(self.since, _NO_STEP).type != "pass":
                self._await("pass", frozenset(self.seats) - self.passes.keys(), place)
        elif not self.queue:
            self.phase = Phase.EXCHANGE

    def _after_play(self, place: int) -> None:
        """The next turn, or what follows the last card."""
        play = self._play()
        if not play.over:
            turn = play.turn
            self._await("play", frozenset(self.seats) if turn is None else _ALONE[turn], place)
            return
        shooter = self.game.moon_shooter(play)
        self.phase = Phase.CLOSE if shooter is None else Phase.CHOOSE
        if shooter is not None:
            self._await("choose", frozenset((SEATS[shooter],)), place)

    def _play(self) -> Play:
        if self.play is None:  # pragma: no cover - the phase is never PLAY before
            raise RuntimeError("the play has not begun")
        return self.play


_NO_STEP = Step("", frozenset())
_ONCE_SERVER = {"deal": "deal", "exchange": "exchange", "close": "end", "void": "end"}
_ONCE_PERSON = {"commit": "commit", "reveal": "reveal"}
_ASTRAY = frozenset(
    (
        *("repeated", "equivocation", "seen-unknown", "seen-not-previous"),
        *("out-of-turn", "out-of-place", "after-end"),
    )
)

# -- effects -------------------------------------------------------------------------------------


def _open(hand: Hand, body: Open, by: str, place: int) -> None:
    hand.terms = body
    hand.hand_id = hand._digests[place]
    hand.game = game_of(body.rules, deck_of(body.deck), len(body.seats))
    hand.copies = Counter(hand.game.deck)
    hand.persons = {SEATS[n] for n, seat in enumerate(body.seats) if not isinstance(seat, Bot)}
    hand._keys = {SEATS[n]: bytes.fromhex(seat.key) for n, seat in enumerate(body.seats)}
    hand._keys[SERVER] = bytes.fromhex(body.server_key)
    hand.seats = SEATS[: len(body.seats)]
    hand.shufflers = ((HOUSE,) if body.house else ()) + hand.seats
    hand.queue = [by for by in hand.shufflers if by not in hand.persons]
    hand.phase = Phase.COMMIT
    hand._after_commit(place)


def _commit(hand: Hand, body: Commit, by: str, place: int) -> None:
    hand.commits[by] = place
    if by in hand.queue:
        hand.queue.remove(by)
    if by in hand.persons:
        hand.revealers |= {by}
    hand._after_commit(place)


def _reveal(hand: Hand, body: Reveal, by: str, place: int) -> None:
    hand.reveals[by] = place
    hand._after_reveal()


def _deal(hand: Hand, body: Deal, by: str, place: int) -> None:
    hand.deal = place
    hand.boxes[place] = frozenset(hand.persons)
    if not hand.game.plays:
        hand.phase = Phase.CLOSE
    elif hand.pass_offset:
        hand.phase = Phase.PASS
        hand.queue = [seat for seat in hand.seats if seat not in hand.persons]
        hand._after_pass(place)
    else:
        _begin(hand, place)


def _pass(hand: Hand, body: Pass, by: str, place: int) -> None:
    hand.passes[by] = place
    if by in hand.queue:
        hand.queue.remove(by)
    hand._after_pass(place)


def _exchange(hand: Hand, body: Exchange, by: str, place: int) -> None:
    hand.exchange = place
    hand.boxes[place] = frozenset(hand.persons)
    _begin(hand, place)


def _begin(hand: Hand, place: int) -> None:
    hand.phase = Phase.PLAY
    hand.play = hand.game.begin(hand.terms.hand)
    hand._after_play(place)


def _play(hand: Hand, body: messages.Play, by: str, place: int) -> None:
    hand.plays.append((place, by, body.card))
    hand.players.setdefault(body.card, []).append(by)
    hand._play().play(_NUMBERS[by], body.card)
    hand._after_play(place)


def _choose(hand: Hand, body: Choose, by: str, place: int) -> None:
    hand.moon = body.moon
    hand.choice = place
    hand.phase = Phase.CLOSE


def _close(hand: Hand, body: Close, by: str, place: int) -> None:
    hand.end = place
    hand.phase = Phase.CLOSED
    hand._await("ack", frozenset(hand.persons), place)


def _ack(hand: Hand, body: Ack, by: str, place: int) -> None:
    hand.acks[by] = place


def _replace(hand: Hand, body: Replace, by: str, place: int) -> None:
    seat = SEATS[body.seat]
    if seat in hand.persons:
        hand.persons.discard(seat)
        hand.replaced[seat] = place


def _dispute(hand: Hand, body: Dispute, by: str, place: int) -> None:
    hand.disputed = by
    hand.dispute = place
    hand.phase = Phase.DISPUTED


def _void(hand: Hand, body: Void, by: str, place: int) -> None:
    hand.end = place
    hand.before_void = hand.phase
    hand.phase = Phase.VOIDED


# -- what is publicly wrong with a body ----------------------------------------------------------

Found = Iterator[Deviation]


def _fault(code: str, expected: str, found: str) -> Deviation:
    return Deviation(code, Fault.AUTHOR, expected, found)


def _no_problem(hand: Hand, message: Message) -> Found:
    return iter(())


def _open_problems(hand: Hand, message: Message) -> Found:
    """Terms that no honest server publishes: keys, numbers, rules, scores, policies."""
    body: Open = message.body
    persons = [one.key for one in body.seats if not isinstance(one, Bot)]
    for key in (body.server_key, *persons):
        if not is_public_key(bytes.fromhex(key)):
            yield _fault("open-key", "an Ed25519 key of the prime-order subgroup", key)
    if len({*persons, body.server_key}) != len(persons) + 1:
        yield _fault(
            "open-key", "a key for each person and another for the server", "one key twice"
        )
    if any(one.key != body.server_key for one in body.seats if isinstance(one, Bot)):
        yield _fault("open-key", "the server's key at a bot's seat", "another key")
    if not is_hand_key(bytes.fromhex(body.hand_key)):
        yield _fault("open-hand-key", "a canonical X25519 key of full order", body.hand_key)
    if body.previous is None and (body.hand, body.attempt) != (1, 1):
        yield _fault("open-previous", "the entry hash of the log before this one", "null")
    try:
        game = game_of(body.rules, deck_of(body.deck), len(body.seats))
    except ValueError as error:
        yield _fault("open-terms", "terms that make sense", str(error))
        return
    problem = game.opening_problem(body.hand, body.scores)
    if problem:
        yield _fault("open-scores", problem, " ".join(map(str, body.scores)))


def _commit_problems(hand: Hand, message: Message) -> Found:
    key = message.body.hand_key
    if (key is UNSET) == (message.by in hand.persons):
        yield _fault("body-form", "a hand key if and only if by a person", "otherwise")
    elif key is not UNSET and not is_hand_key(bytes.fromhex(key)):
        yield _fault("commit-hand-key", "a canonical X25519 key of full order", key)


def _deal_problems(hand: Hand, message: Message) -> Found:
    """`deal` and `exchange`: a share for each seat, sealed for persons only."""
    shares: tuple[Share, ...] = message.body.hands
    if len(shares) != len(hand.seats):
        yield _fault("body-form", f"{len(hand.seats)} hands", str(len(shares)))
        return
    for seat, share in zip(hand.seats, shares, strict=True):
        if (share.sealed is UNSET) == (seat in hand.persons):
            yield _fault(
                "body-form", "a box for a person and for nobody else", f"otherwise for {seat}"
            )


def _pass_problems(hand: Hand, message: Message) -> Found:
    if (message.body.sealed is UNSET) == (message.by in hand.persons):
        yield _fault("body-form", "a box if and only if by a person", "otherwise")


def _play_problems(hand: Hand, message: Message) -> Found:
    card, by = message.body.card, message.by
    opening = hand._play().opening_card
    copies = hand.copies.get(card, 0)
    if not copies:
        yield _fault("play-unknown-card", "a card of the deck", ascii(card))
    elif opening is not None and card != opening:
        yield _fault("play-first-lead", opening, card)
    else:
        before = hand.players.get(card, ())
        if before.count(by) >= copies:
            yield _fault("play-not-held", "a card it still holds", card)
        elif len(before) >= copies:
            yield Deviation("card-twice", Fault.NOBODY, f"{card} at most {copies} times", card)


def _close_problems(hand: Hand, message: Message) -> Found:
    """Only that everything is there; what is in it is the verifier's."""
    body: Close = message.body
    seats = len(hand.seats)
    passing = seats if hand.exchange is not None else 0
    if body.seeds.keys() != set(hand.shufflers):
        yield _fault("close-form", "a seed for each of " + " ".join(hand.shufflers), "others")
    if (len(body.deals), len(body.passes), len(body.exchanges)) != (seats, passing, passing):
        yield _fault("close-form", f"{seats} deals, {passing} passes, {passing} exchanges",
                     f"{len(body.deals)}, {len(body.passes)}, {len(body.exchanges)}")  # fmt: skip


def _replace_problems(hand: Hand, message: Message) -> Found:
    if message.body.seat >= len(hand.seats) or SEATS[message.body.seat] not in hand.persons:
        yield _fault("replace-nobody", "a seat with a person", f"seat/{message.body.seat}")


def _void_problems(hand: Hand, message: Message) -> Found:
    """Whether the reason can be, as far as everybody saw."""
    body: Void = message.body
    seat = None if body.seat is None else SEATS[body.seat]
    disputed = hand.phase is Phase.DISPUTED
    can_be = {
        "dispute": disputed and seat == hand.disputed,
        "no-reveal": seat in hand.revealers and seat not in hand.reveals,
        "bad-reveal": seat in hand.reveals,
        "bad-pass": seat in hand.passes,
        "left": seat is not None and body.seat in range(len(hand.seats)),
        "operator": seat is None,
    }
    if not can_be[body.reason] or disputed != (body.reason == "dispute"):
        yield _fault(
            "void-reason", "a reason that the log bears out", f"{body.reason} {seat or ''}".strip()
        )


# -- the table -----------------------------------------------------------------------------------


class Rule(NamedTuple):
    """When a message may come, from whom, what can be publicly wrong with it, what it does."""

    phases: frozenset[Phase]
    authors: Callable[[Hand], Collection[str]]
    body: Callable[[Hand, Message], Iterable[Deviation]]
    effect: Callable[[Hand, Any, str, int], None]
    #: whether the hand waits for it; `replace`, `dispute` and `void` interrupt
    carries_on: bool = True


def _server(hand: Hand) -> Collection[str]:
    return (SERVER,)


def _persons(hand: Hand) -> Collection[str]:
    return hand.persons


def _committers(hand: Hand) -> Collection[str]:
    """Bots of `open` in order; who replaced a person at any time; persons once the bots have."""
    if hand.queue:
        return (hand.queue[0], *(by for by in hand.replaced if by not in hand.commits))
    return [by for by in hand.shufflers if by not in hand.commits]


def _revealers(hand: Hand) -> Collection[str]:
    return [by for by in hand.revealers if by in hand.persons and by not in hand.reveals]


def _passers(hand: Hand) -> Collection[str]:
    if hand.queue:
        return (
            hand.queue[0],
            *(by for by in hand.replaced if by not in hand.passes and by not in hand.queue),
        )
    return [by for by in hand.seats if by not in hand.passes]


def _players(hand: Hand) -> Collection[str]:
    turn = hand._play().turn
    return hand.seats if turn is None else _ALONE[turn]


def _shooters(hand: Hand) -> Collection[str]:
    shooter = hand.game.moon_shooter(hand._play())
    return () if shooter is None else (SEATS[shooter],)


def _ackers(hand: Hand) -> Collection[str]:
    return hand.persons - hand.acks.keys()


_BOXES_OUT = frozenset((Phase.PASS, Phase.EXCHANGE, Phase.PLAY, Phase.CHOOSE, Phase.CLOSE))
_BEFORE_CLOSE = _BOXES_OUT | {Phase.COMMIT, Phase.REVEAL, Phase.DEAL}


def _rule(phase: Phase, authors: Any, body: Any, effect: Any) -> Rule:
    return Rule(frozenset((phase,)), authors, body, effect)


TABLE: dict[str, Rule] = {
    "open": _rule(Phase.START, _server, _open_problems, _open),
    "commit": _rule(Phase.COMMIT, _committers, _commit_problems, _commit),
    "reveal": _rule(Phase.REVEAL, _revealers, _no_problem, _reveal),
    "deal": _rule(Phase.DEAL, _server, _deal_problems, _deal),
    "pass": _rule(Phase.PASS, _passers, _pass_problems, _pass),
    "exchange": _rule(Phase.EXCHANGE, _server, _deal_problems, _exchange),
    "play": _rule(Phase.PLAY, _players, _play_problems, _play),
    "choose": _rule(Phase.CHOOSE, _shooters, _no_problem, _choose),
    "close": _rule(Phase.CLOSE, _server, _close_problems, _close),
    "ack": _rule(Phase.CLOSED, _ackers, _no_problem, _ack),
    "replace": Rule(_BEFORE_CLOSE, _server, _replace_problems, _replace, carries_on=False),
    "dispute": Rule(_BOXES_OUT, _persons, _no_problem, _dispute, carries_on=False),
    "void": Rule(
        _BEFORE_CLOSE | {Phase.DISPUTED}, _server, _void_problems, _void, carries_on=False
    ),
}


def deck_of(deck: Deck) -> tuple[str, ...]:
    """The codes of a deck in canonical order. Raises ValueError, with the reason."""
    if deck.cards is not UNSET:
        if deck.packs is not UNSET or deck.removed is not UNSET:
            raise ValueError("a deck has either packs and removed, or cards")
        return listed_deck(deck.cards)
    if deck.packs is UNSET or deck.removed is UNSET:
        raise ValueError("a deck has either packs and removed, or cards")
    return french_deck(deck.packs, deck.removed)
