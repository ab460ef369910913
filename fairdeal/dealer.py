"""The server's side of a hand, sans I/O (spec section 4).

A `Dealer` takes what seats send and returns the entries to broadcast: its own and the bots' moves
follow at once. The caller brings transport, clock and storage, and keeps one order: **store, then
broadcast**. `secret` is stored before the first entry is broadcast, every returned entry before it
is. A dealer restarted with `Dealer.resume` from the two goes on where it was, with the same seeds.

It refuses what deviates by `RemoteProtocolError` and stays as it was. What only it can see to be
wrong, a box that does not hold what was committed to, it answers with `void`, as the protocol asks.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Final, cast

import msgspec
from msgspec import UNSET, Meta, Struct

from fairdeal import encoding, sealing
from fairdeal.bots import BotSeat, Decision, policy_name, remaining
from fairdeal.cards import canonical, contains
from fairdeal.commitment import SALT_BYTES, SEED_BYTES, cards_commitment, seed_commitment
from fairdeal.encoding import Shape
from fairdeal.errors import LocalProtocolError, MalformedError, RemoteProtocolError
from fairdeal.games import DealRules, Rules
from fairdeal.games.base import Policy, View
from fairdeal.games.policies import POLICIES
from fairdeal.hand import Hand, Judgement
from fairdeal.log import Log, link_problem, read_log, read_message
from fairdeal.messages import (
    FORMAT_VERSION,
    Body,
    Bot,
    Cards,
    Choose,
    Clock,
    Close,
    Commit,
    Deal,
    Deck,
    Entry,
    Exchange,
    Hex32,
    Hex64,
    Open,
    Party,
    Pass,
    Person,
    Play,
    Replace,
    ReplaceReason,
    Result,
    Reveal,
    SeatNumber,
    Share,
    Signed,
    Void,
    VoidReason,
    convert,
    message,
    text_problem,
)
from fairdeal.opening import are_passed, cards_open, revealed_seed, sealed_cards
from fairdeal.parties import SEATS, SERVER, seat_number
from fairdeal.shuffle import apply, hands_of, permutation
from fairdeal.signing import SigningKey, verifies
from fairdeal.table import Deviation, Fault, Phase

Entropy = Callable[[int], bytes]


class Terms(Struct, frozen=True, kw_only=True):
    """What a table agrees on before a hand; `open` adds the server's keys (spec section 4.2).

    `seats` are `Person` and `Bot` values; a bot's key is left to the dealer (`bot()` makes one).
    `previous` is the entry hash of the `close` or `void` before this hand at the table, or None.
    `left` are seats whose person left in an earlier hand of the game: they come last at its end.
    """

    table: str
    game: str
    seats: tuple[Person | Bot, ...]
    rules: Rules
    deck: Deck = Deck(packs=1, removed=())
    hand: int = 1
    attempt: int = 1
    previous: str | None = None
    house: bool = False
    substitute: str = "low/1"
    scores: tuple[int, ...] | None = None
    clock: Clock | None = None
    left: tuple[int, ...] = ()


class _Salts(Shape, frozen=True):
    deal: tuple[Hex32, ...]
    exchange: tuple[Hex32, ...]
    pass_: tuple[Hex32, ...] = msgspec.field(name="pass")


class _Secret(Shape, frozen=True):
    fairdeal: Annotated[int, Meta(ge=FORMAT_VERSION, le=FORMAT_VERSION)]
    hand_key: Hex32
    left: tuple[SeatNumber, ...]
    salts: _Salts
    seeds: dict[Party, Hex64]

    def __repr__(self) -> str:
        return "_Secret(hidden)"


_secrets: Final = msgspec.json.Decoder(_Secret)


class Dealer:
    """One hand of a table, from `open` to `close` or `void`."""

    def __init__(
        self,
        terms: Terms,
        signing_key: SigningKey,
        *,
        at: int,
        entropy: Entropy = secrets.token_bytes,
        policies: Mapping[str, Policy] = POLICIES,
    ) -> None:
        """Open a hand at the time `at` (ms since the Unix epoch).

        Everything secret is drawn here, from `entropy`. Store `secret` before broadcasting
        `log.entries`. Raises LocalProtocolError if the terms are refused, with the reason.
        """
        _require_time(at)
        _require_left(terms)
        self._start(signing_key, policies, _draw(terms, entropy))
        self._append(SERVER, self._opening(terms), at)
        self._advance(at)

    def _start(
        self, signing_key: SigningKey, policies: Mapping[str, Policy], secret: _Secret
    ) -> None:
        self.log = Log()
        self.hand = Hand()
        self._key = signing_key
        self._policies = policies
        self._secret = secret
        self._hand_key = bytes.fromhex(secret.hand_key)
        self._seeds: dict[str, bytes] = {}
        self._dealt: tuple[tuple[str, ...], ...] = ()
        self._kitty: tuple[str, ...] = ()
        self._passed: dict[str, Cards] = {}
        self._cards: dict[str, list[str]] = {}
        self._bots: dict[str, BotSeat] = {}
        self._decided: dict[str, tuple[str, ...]] = {}

    def __repr__(self) -> str:
        return f"Dealer({self.hand.phase.value}, {len(self.log)} entries)"

    @classmethod
    def resume(
        cls,
        log: bytes | Log,
        secret: bytes,
        signing_key: SigningKey,
        *,
        policies: Mapping[str, Policy] = POLICIES,
    ) -> Dealer:
        """A dealer that goes on from what was stored. Call `proceed` to make its next moves.

        Raises MalformedError for bytes that are no log or secret, LocalProtocolError if the log is
        not this dealer's own, sound one.
        """
        stored = read_log(log) if isinstance(log, bytes) else log
        if not len(stored):
            raise LocalProtocolError("the stored log is empty: nothing was opened")
        dealer = object.__new__(cls)
        dealer._start(signing_key, policies, _read_secret(secret))
        for entry in stored.entries:
            dealer._restore(entry)
        return dealer

    @property
    def secret(self) -> bytes:
        """The hand secret: its hand key, seeds and salts. Store it before anything is broadcast."""
        return encoding.encode(self._secret)

    # -- what the caller does --

    def receive(self, data: bytes | Signed, at: int) -> list[Entry]:
        """Take a seat's message at the time `at` (ms); returns the entries to store and broadcast.

        A message that is on the log already gives none: a seat that reconnects may send it again.
        Raises MalformedError for bytes that are no message, RemoteProtocolError for one that
        deviates; the dealer is as it was.
        """
        _require_time(at)
        signed = read_message(data) if isinstance(data, bytes) else data
        said = signed.message
        if said.by not in self.hand.persons:
            raise RemoteProtocolError("out-of-place", f"{said.by} is no person's seat now")
        digest = said.digest()
        if not verifies(self.hand.key_of(said.by), digest, bytes.fromhex(signed.sig)):
            raise RemoteProtocolError("signature-invalid", f"{said.by}: its signature is wrong")
        if digest in self.log.message_hashes:
            return []
        judged = self.hand.judge(said, digest, self.log.position_of(said.seen))
        if judged.deviations:
            raise _refusal(judged.deviations[0], said.by)
        self._refuse_privately(said.by, said.body)
        first = len(self.log)
        self._take(self.log.next_entry(said, signed.sig, at), judged)
        self._advance(at)
        return self.log.entries[first:]

    def proceed(self, at: int) -> list[Entry]:
        """Make the server's own moves that are due, after `resume`; returns the new entries."""
        _require_time(at)
        first = len(self.log)
        self._advance(at)
        return self.log.entries[first:]

    def replace(self, seat: int, reason: ReplaceReason, at: int) -> list[Entry]:
        """Give a person's seat to a bot: `reason` is left, expelled or unresponsive.

        If the person has committed and not revealed, the deck can never be known: the attempt is
        voided instead, and the next one seats the bot. Returns the entries to store and broadcast.
        Raises LocalProtocolError if nobody can be replaced there now.
        """
        _require_time(at)
        if reason not in ("left", "expelled", "unresponsive"):
            raise LocalProtocolError("a seat is replaced as left, expelled or unresponsive")
        name = SEATS[seat] if seat in range(len(self.hand.seats)) else ""
        if name not in self.hand.persons:
            raise LocalProtocolError(f"no person sits at {name or seat}")
        first = len(self.log)
        if name in self.hand.revealers and name not in self.hand.reveals:
            silent = reason == "unresponsive"
            return self.void("no-reveal" if silent else "left", seat, at)
        self._append(SERVER, Replace(seat=seat, reason=reason), at)
        self._advance(at)
        return self.log.entries[first:]

    def void(self, reason: VoidReason, seat: int | None, at: int) -> list[Entry]:
        """Give up the attempt; discloses the hand key and the known seeds. Returns the entry.

        Raises LocalProtocolError if the reason does not fit what is on the log.
        """
        _require_time(at)
        seeds = {by: seed.hex() for by, seed in self._seeds.items() if by in self.hand.commits}
        body = Void(hand_key=self._hand_key.hex(), reason=reason, seat=seat, seeds=seeds)
        self._append(SERVER, body, at)
        return self.log.entries[-1:]

    def next_terms(self) -> Terms:
        """The terms of the next hand, or of the next attempt after a void.

        Seats whose person left, or held the attempt up, are bots from then on. Raises
        LocalProtocolError while the hand goes on or if the game is over.
        """
        end = self.hand.end
        if end is None:
            raise LocalProtocolError("the hand goes on")
        opened, body = self.hand.terms, self.log.entries[end].message.body
        gone = {SEATS.index(by) for by in self.hand.replaced}
        hand, attempt, scores = opened.hand, opened.attempt + 1, opened.scores
        if isinstance(body, Close):
            if body.result is not None:
                raise LocalProtocolError("the game is over")
            hand, attempt, scores = opened.hand + 1, 1, body.scores
        elif isinstance(body, Void) and body.seat is not None:
            gone.add(body.seat)  # also after a dispute: this server's boxes are in order
        return Terms(
            table=opened.table,
            game=opened.game,
            seats=tuple(
                bot(one.name, opened.substitute)
                if seat in gone and isinstance(one, Person)
                else one
                for seat, one in enumerate(opened.seats)
            ),
            rules=opened.rules,
            deck=opened.deck,
            hand=hand,
            attempt=attempt,
            previous=self.log.hashes[end],
            house=opened.house,
            substitute=opened.substitute,
            scores=scores,
            clock=opened.clock,
            left=tuple(sorted({*self._secret.left, *gone})),
        )

    def cards_of(self, seat: int) -> tuple[str, ...]:
        """The cards a seat holds now, as the server knows them. For its bots, never for display."""
        return tuple(self._cards.get(SEATS[seat], ()))

    def awaited(self) -> tuple[tuple[str, int], ...]:
        """The persons whom the hand waits for, as (message type, seat number).

        Whoever must begin the play is known to the server, so it alone is named there.
        """
        return tuple(
            (kind, SEATS.index(by))
            for kind, by in sorted(self.hand.due())
            if by in self.hand.persons and (kind != "play" or self._leads(by))
        )

    # -- appending --

    def _append(self, by: str, body: Body, at: int) -> None:
        """Say something under the server's key."""
        said = message(by, self.log.head, body)
        digest = said.digest()
        judged = self.hand.judge(said, digest, len(self.log) - 1)
        if judged.deviations:
            one = judged.deviations[0]
            raise LocalProtocolError(f"{one.code}: expected {one.expected}, not {one.found}")
        sig = self._key.sign(digest).hex()
        self._take(self.log.next_entry(said, sig, at), judged)

    def _take(self, entry: Entry, judged: Judgement) -> None:
        self.log.append(entry)
        self.hand.take(judged)
        self._learn(entry.message.by, entry.message.body)

    def _restore(self, entry: Entry) -> None:
        """Take an entry from the store, with every check that its first taking had."""
        said = entry.message
        judged = self.hand.judge(said, said.digest(), self.log.position_of(said.seen))
        at_place = link_problem(entry, self.log.head, len(self.log), self.log.last_at) is None
        key = self.hand.key_of(said.by) if self.hand.size else self._key.public
        signed = entry.sig and verifies(key, judged.digest, bytes.fromhex(entry.sig))
        if not at_place or not signed or judged.deviations:
            raise LocalProtocolError(f"entry {len(self.log)} of the stored log is not sound")
        by_server = said.by not in self.hand.persons
        if isinstance(said.body, Open):
            mine = said.body.server_key == self._key.public.hex()
            if not mine or said.body.hand_key != sealing.public_hand_key(self._hand_key).hex():
                raise LocalProtocolError("the stored log was opened with other keys")
        elif by_server and isinstance(said.body, Pass | Play | Choose):
            self._decide(
                said.by, cast("Decision", said.type)
            )  # it draws the words that it drew the first time
        self._take(entry, judged)

    def _learn(self, by: str, body: Body) -> None:
        """What the server alone knows once an entry is on the log."""
        if isinstance(body, Commit) and by not in self.hand.persons:
            self._seeds[by] = bytes.fromhex(self._secret.seeds[by])
        elif isinstance(body, Reveal):
            seed = self._revealed(by, body)
            if seed is not None:
                self._seeds[by] = seed
        elif isinstance(body, Deal):
            self._cards = {
                by: list(hand) for by, hand in zip(SEATS, self._dealt_hands(), strict=False)
            }
        elif isinstance(body, Pass) and body.sealed is not UNSET:
            passed = self._opened_pass(by, body)
            if passed is not None:
                self._passed[by] = passed
        elif isinstance(body, Pass):
            self._passed[by] = self._bot_pass(by, self._decided[by])
        elif isinstance(body, Exchange):
            for seat, cards in self._received().items():
                own = self._passed[seat].cards
                self._cards[seat] = remaining(self._cards[seat], own, cards)
        elif isinstance(body, Play):
            self._cards[by].remove(body.card)

    # -- judging what only the server can --

    def _refuse_privately(self, by: str, body: Body) -> None:
        """What must not get onto the log at all. Raises RemoteProtocolError."""
        if isinstance(body, Commit):
            self._refuse_copy(by, body)
        elif isinstance(body, Play):
            cards = self._cards[by]
            if body.card not in cards:
                raise RemoteProtocolError("play-not-held", f"{by} does not hold {body.card}", by)
            breach = self.hand.play and self.hand.play.breach(cards, body.card)
            if breach:
                raise RemoteProtocolError(breach.code, f"{by}: expected {breach.expected}", by)
        elif isinstance(body, Pass):
            passed = self._opened_pass(by, body)
            if passed is not None and not contains(self._cards[by], passed.cards):
                raise RemoteProtocolError("pass-cards", f"{by} passes cards it was not dealt", by)

    def _refuse_copy(self, by: str, body: Commit) -> None:
        for place in self.hand.commits.values():
            other = self.log.entries[place].message
            if isinstance(other.body, Commit) and other.body.commitment == body.commitment:
                raise RemoteProtocolError("commitment-copied", f"{by} copied {other.by}", by)

    def _revealed(self, by: str, body: Reveal) -> bytes | None:
        return revealed_seed(
            body.sealed,
            self._commit_of(by).commitment,
            hand_key=self._hand_key,
            hand_id=self.hand.hand_id,
            seat=by,
        )

    def _commit_of(self, by: str) -> Commit:
        body = self.log.entries[self.hand.commits[by]].message.body
        assert isinstance(body, Commit)
        return body

    def _opened_pass(self, by: str, body: Pass) -> Cards | None:
        """A person's pass, or None if its box is not in order."""
        hand = self.hand
        passed = sealed_cards(
            str(body.sealed),
            kind="pass",
            hand_key=self._hand_key,
            hand_id=hand.hand_id,
            recipient=SERVER,
            sender=by,
        )
        if passed is None or not are_passed(passed.cards, hand.game.deck, hand.game.pass_count):
            return None
        fits = cards_open(
            passed, body.commitment, hand.game.deck, kind="pass", hand_id=hand.hand_id, seat=by
        )
        return passed if fits else None

    def _complaint(self) -> tuple[VoidReason, str] | None:
        """What cannot be gone on with, and whose message it is."""
        hand = self.hand
        if hand.disputed is not None:
            return "dispute", hand.disputed
        for by in hand.reveals:
            if by not in self._seeds:
                return "bad-reveal", by
        return next((("bad-pass", by) for by in hand.passes if by not in self._passed), None)

    # -- the server's own moves --

    def _advance(self, at: int) -> None:
        """Say everything that is for the server to say now."""
        complaint = None if self.hand.ended else self._complaint()
        if complaint:
            self.void(complaint[0], seat_number(complaint[1]), at)
        while not self.hand.ended:
            mine = sorted((by, kind) for kind, by in self.hand.due() if by not in self.hand.persons)
            if self.hand.phase is Phase.PLAY:
                mine = [(by, kind) for by, kind in mine if self._leads(by)]
            if not mine:
                return
            by, kind = mine[0]
            self._append(by, self._move(by, kind), at)

    def _leads(self, by: str) -> bool:
        """Whether a seat on turn can play: of all who may begin, only one holds the card."""
        opening = self.hand.play.opening_card if self.hand.play else None
        return opening is None or opening in self._cards[by]

    def _move(self, by: str, kind: str) -> Body:
        if kind == "commit":
            return self._commit(by)
        if kind == "deal":
            self._shuffle()
            return Deal(hands=self._shares("deal", dict(zip(SEATS, self._dealt, strict=False))))
        if kind == "exchange":
            return Exchange(hands=self._shares("exchange", self._received()))
        if kind == "close":
            return self._close()
        decided = self._decide(by, cast("Decision", kind))
        if kind == "pass":
            return Pass(commitment=self._commitment("pass", by, self._bot_pass(by, decided)))
        if kind == "play":
            return Play(card=decided[0])
        return Choose(moon="subtract" if decided[0] == "subtract" else "add")

    def _commit(self, by: str) -> Commit:
        seed = bytes.fromhex(self._secret.seeds[by])
        return Commit(commitment=seed_commitment(self.hand.hand_id, by, seed).hex())

    def _shuffle(self) -> None:
        deck: Sequence[str] = self.hand.game.deck
        for shuffler in self.hand.shufflers:
            seed = self._seeds[shuffler]
            deck = apply(permutation(seed, self.hand.hand_id, shuffler, len(deck)), deck)
        self._dealt, self._kitty = hands_of(deck, len(self.hand.seats))

    def _dealt_hands(self) -> tuple[tuple[str, ...], ...]:
        if not self._dealt:
            self._shuffle()
        return self._dealt

    def _received(self) -> dict[str, tuple[str, ...]]:
        """What each seat receives, in canonical order."""
        seats, offset = len(self.hand.seats), self.hand.pass_offset
        return {
            SEATS[(giver + offset) % seats]: self._passed[SEATS[giver]].cards
            for giver in range(seats)
        }

    def _salt(self, kind: str, by: str) -> str:
        salts = {"deal": self._secret.salts.deal, "exchange": self._secret.salts.exchange,
                 "pass": self._secret.salts.pass_}  # fmt: skip
        return salts[kind][SEATS.index(by)]

    def _opening_of(self, kind: str, by: str, cards: Sequence[str]) -> Cards:
        return Cards(cards=tuple(cards), salt=self._salt(kind, by))

    def _bot_pass(self, by: str, cards: Sequence[str]) -> Cards:
        return self._opening_of("pass", by, canonical(cards, self.hand.game.deck))

    def _commitment(self, kind: str, by: str, opening: Cards) -> str:
        salt = bytes.fromhex(opening.salt)
        return cards_commitment(kind, self.hand.hand_id, by, opening.cards, salt).hex()

    def _shares(self, kind: str, hands: Mapping[str, Sequence[str]]) -> tuple[Share, ...]:
        return tuple(self._share(kind, by, hands[by]) for by in self.hand.seats)

    def _share(self, kind: str, by: str, cards: Sequence[str]) -> Share:
        opening = self._opening_of(kind, by, cards)
        commitment = self._commitment(kind, by, opening)
        if by not in self.hand.persons:
            return Share(commitment=commitment)
        key = bytes.fromhex(str(self._commit_of(by).hand_key))
        info = sealing.info(kind, self.hand.hand_id, by, SERVER)
        box = sealing.seal(encoding.encode(opening), key, info)
        return Share(commitment=commitment, sealed=box.hex())

    def _decide(self, by: str, kind: Decision) -> tuple[str, ...]:
        """A bot's decision, from its own cards and what is public."""
        seat = SEATS.index(by)
        if by not in self._bots:
            policy = self._policies[policy_name(self.hand, seat)]
            self._bots[by] = BotSeat(policy, self._seeds[by], self.hand.hand_id, seat)
        view = self._view(by, seat)
        decided = self._bots[by].decide(kind, view)
        self._decided[by] = decided
        return decided

    def _view(self, by: str, seat: int) -> View:
        hand = self.hand
        received = self._received()[by] if hand.exchange is not None else ()
        passed = self._passed[by].cards if by in self._passed else ()
        play = hand.play or hand.game.begin(hand.terms.hand)
        cards = tuple(self._cards[by])
        return View(hand.game, seat, hand.terms.hand, cards, passed, received, play)

    def _close(self) -> Close:
        hand = self.hand
        points = hand.game.points(hand.play, self._kitty, hand.moon) if hand.play else ()
        scores = hand.game.totals(hand.terms.scores, points)
        left = {SEATS.index(by) for by in hand.replaced} | set(self._secret.left)
        outcome = hand.game.outcome(scores, points, left)
        exchanged = hand.exchange is not None
        received = self._received() if exchanged else {}
        return Close(
            deals=tuple(
                self._opening_of("deal", by, cards)
                for by, cards in zip(hand.seats, self._dealt_hands(), strict=True)
            ),
            exchanges=tuple(self._opening_of("exchange", by, received[by]) for by in hand.seats)
            if exchanged
            else (),
            passes=tuple(self._passed[by] for by in hand.seats) if exchanged else (),
            points=points,
            result=outcome
            and Result(left=outcome.left, places=outcome.places, winners=outcome.winners),
            scores=scores,
            seeds={by: self._seeds[by].hex() for by in hand.shufflers},
        )

    def _opening(self, terms: Terms) -> Open:
        for name in (
            terms.substitute,
            *(one.policy for one in terms.seats if isinstance(one, Bot)),
        ):
            if name not in self._policies:
                raise LocalProtocolError(f"no policy {name} is registered")
        key = self._key.public.hex()
        seats = tuple(
            Bot(key=key, name=one.name, policy=one.policy) if isinstance(one, Bot) else one
            for one in terms.seats
        )
        plays = not isinstance(terms.rules, DealRules)
        scores = terms.scores if terms.scores is not None else (0,) * (len(seats) if plays else 0)
        opening = Open(
            attempt=terms.attempt,
            clock=terms.clock,
            deck=terms.deck,
            game=terms.game,
            hand=terms.hand,
            hand_key=sealing.public_hand_key(self._hand_key).hex(),
            house=terms.house,
            previous=terms.previous,
            rules=terms.rules,
            scores=scores,
            seats=seats,
            server_key=key,
            substitute=terms.substitute,
            table=terms.table,
        )
        for text in (terms.table, terms.game, *(one.name for one in terms.seats)):
            if problem := text_problem(str(text)):
                raise LocalProtocolError(problem)
        try:
            return cast("Open", convert(msgspec.to_builtins(opening), Open))
        except MalformedError as error:
            raise LocalProtocolError(f"the terms are refused: {error}") from error


def bot(name: str, policy: str = "low/1") -> Bot:
    """A bot's seat in `Terms`; the dealer fills in its key, which is the server's."""
    return Bot(key="0" * 64, name=name, policy=policy)


def _draw(terms: Terms, entropy: Entropy) -> _Secret:
    """Seeds for the house and every seat: a bot may take over any before it commits."""
    seats = len(terms.seats)
    names = ("house", *SEATS[:seats])
    return _Secret(
        fairdeal=FORMAT_VERSION,
        hand_key=entropy(sealing.KEY_BYTES).hex(),
        left=terms.left,
        salts=_Salts(
            deal=tuple(entropy(SALT_BYTES).hex() for _ in range(seats)),
            exchange=tuple(entropy(SALT_BYTES).hex() for _ in range(seats)),
            pass_=tuple(entropy(SALT_BYTES).hex() for _ in range(seats)),
        ),
        seeds={name: entropy(SEED_BYTES).hex() for name in names},
    )


def _read_secret(data: bytes) -> _Secret:
    try:
        return encoding.decode(data, _secrets)
    except MalformedError:  # what is wrong with it could show a secret
        raise MalformedError("the hand secret is damaged, or none", "the secret") from None


def _require_time(at: int) -> None:
    if not isinstance(at, int) or not 0 <= at <= encoding.MAX_INT:
        raise ValueError("a time is whole milliseconds since the Unix epoch, below 2^53")


def _require_left(terms: Terms) -> None:
    bots = {seat for seat, one in enumerate(terms.seats) if isinstance(one, Bot)}
    if len(set(terms.left)) != len(terms.left) or not set(terms.left) <= bots:
        raise LocalProtocolError("who left an earlier hand of the game has a bot at the seat, once")


def _refusal(deviation: Deviation, by: str) -> RemoteProtocolError:
    text = f"{by}: expected {deviation.expected}, not {deviation.found}"
    return RemoteProtocolError(
        deviation.code, text, by if deviation.fault is Fault.AUTHOR else None
    )
