"""What most tests play with: `Table`, a dealer and seats in one process, and `Bend`, which signs again.

`Table` drives the real `Dealer` and `Seat`, message by message, with anybody replaced by a cheat.
`Bend` takes a finished log and everybody's keys, lets a test change any message, and then signs and
hashes everything after it again: only the change itself is wrong.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import msgspec

from fairdeal import Verdict, verify
from fairdeal.dealer import Dealer, Terms, bot
from fairdeal.errors import RemoteProtocolError
from fairdeal.games.policies import POLICIES
from fairdeal.games.presets import S0
from fairdeal.hand import Hand
from fairdeal.log import Log
from fairdeal.messages import Clock, Deck, Entry, Person, message
from fairdeal.parties import SEATS, SERVER
from fairdeal.seat import Outgoing, Seat
from fairdeal.shuffle import words
from fairdeal.signing import SigningKey as Key

FRENCH = Deck(packs=1, removed=())
#: twenty cards, so that a hand is short
SHORT = Deck(packs=1, removed=tuple(rank + suit for suit in "CDHS" for rank in "23456789"))


class Table:
    """A table of four, `people` of them persons with keys; everything drawn from `seed`."""

    def __init__(
        self,
        people: int = 4,
        *,
        seed: object = 0,
        rules: Any = S0,
        deck: Deck = FRENCH,
        seats: int = 4,
        house: bool = False,
        hand: int = 1,
        clock: Clock | None = None,
        scores: tuple[int, ...] | None = None,
        dealer: type[Dealer] = Dealer,
        seat: dict[int, type[Seat]] | None = None,
        bots: str = "low/1",
        left: tuple[int, ...] = (),
        moves: dict[int, Callable[[Seat], Outgoing | None]] | None = None,
        policy: str = "random/1",
    ) -> None:
        rng = random.Random(f"{seed}")
        self.rng = rng
        self.entropy = rng.randbytes
        self.keys = {n: Key(rng.randbytes(32)) for n in range(people)}
        self.server = Key(rng.randbytes(32))
        self.at = 1_700_000_000_000
        kinds = dict(seat or {})
        self.terms = Terms(
            table="t-1",
            game="g-1",
            hand=hand,
            previous=None if hand == 1 else "ab" * 32,
            rules=rules,
            deck=deck,
            house=house,
            clock=clock,
            scores=scores,
            left=left,
            seats=tuple(
                Person(key=self.keys[n].public.hex(), name=f"P{n}")
                if n < people
                else bot(f"B{n}", bots)
                for n in range(seats)
            ),
        )
        self.dealer = dealer(self.terms, self.server, at=self.at, entropy=rng.randbytes)
        self.seats = {
            n: kinds.get(n, Seat)(key, server_key=self.server.public, entropy=rng.randbytes)
            for n, key in self.keys.items()
        }
        self.stores: dict[int, bytes] = {}
        self.moves = moves or {}
        self.word = words(rng.randbytes(64), b"test").__next__
        self.policy = POLICIES[policy]
        #: what each seat refused, and has not heard since
        self.refused: dict[int, RemoteProtocolError] = {}
        self.heard = dict.fromkeys(self.seats, 0)
        #: what the dealer refused
        self.rejected: list[RemoteProtocolError] = []

    @property
    def log(self) -> Log:
        return self.dealer.log

    @property
    def hand(self) -> Hand:
        return self.dealer.hand

    # -- playing --

    def tell(self, n: int) -> list[Outgoing]:
        """Give seat `n` what it has not heard; what it says to that by itself."""
        said = []
        while n not in self.refused and self.heard[n] < len(self.log):
            entry = self.log.entries[self.heard[n]]
            try:
                answer = self.seats[n].receive(entry.encoded())
            except RemoteProtocolError as error:
                self.refused[n] = error
                break
            self.heard[n] += 1
            if answer:
                said.append(answer)
        if not said and n not in self.refused and (decided := self.decide(n)):
            said.append(decided)
        return said

    def decide(self, n: int) -> Outgoing | None:
        """What the person at seat `n` decides, if it is its turn."""
        seat = self.seats[n]
        if n in self.moves:
            return self.moves[n](seat)
        if seat.turn == "pass":
            return seat.pass_cards(self.policy.pass_cards(seat.view(), self.word))
        if seat.turn == "play":
            return seat.play(self.policy.play_card(seat.view(), self.word))
        return seat.choose(self.policy.choose_moon(seat.view(), self.word)) if seat.turn else None

    def give(self, n: int, out: Outgoing) -> list[Entry]:
        """Store, then send, as an honest caller does."""
        self.stores[n] = out.store
        self.at += 100
        return self.dealer.receive(out.send, self.at)

    def step(self) -> bool:
        """Every seat hears and answers once. Whether anything was said."""
        said = [(n, out) for n in self.seats for out in self.tell(n)]
        for n, out in said:
            try:
                self.give(n, out)
            except RemoteProtocolError as error:
                self.rejected.append(error)
        return bool(said)

    def run(self, until: Callable[[Table], bool] = lambda table: False) -> Table:
        """Play on until nothing more is said, or `until` holds."""
        while not until(self) and self.step():
            pass
        return self

    # -- afterwards --

    @property
    def secrets(self) -> dict[str, Key]:
        """Everybody's signing key, by party."""
        return {SERVER: self.server} | {SEATS[n]: key for n, key in self.keys.items()}

    def verify(self, **pins: Any) -> Verdict:
        return verify(self.log.encoded(), **pins)

    def bend(self) -> Bend:
        return Bend(self.log, self.secrets)


class Draft:
    """One entry of a bent log. `seen` is another draft, None for the entry before, or a hash."""

    def __init__(self, by: str, body: Any, at: int, seen: Draft | str | None, key: Key) -> None:
        self.by, self.body, self.at, self.seen, self.key = by, body, at, seen, key
        self.sign: bool | str = True  # False: no signature; a text: that one
        self.prev: str | None = None
        self.seq: int | None = None
        self.hash = ""

    @property
    def type(self) -> str:
        return message(self.by, "", self.body).type

    def change(self, **members: Any) -> Draft:
        """The body with other members."""
        self.body = msgspec.structs.replace(self.body, **members)
        return self


class Bend:
    """A log as drafts; `build` signs and hashes them in order."""

    def __init__(self, log: Log, keys: dict[str, Key]) -> None:
        self.keys = keys
        self.drafts: list[Draft] = []
        hand = Hand()
        for entry, digest in zip(log.entries, log.message_hashes, strict=True):
            said = entry.message
            seen = log.position_of(said.seen)
            judged = hand.judge(said, digest, seen)
            party = hand.party_of(said.by) if hand.size else SERVER
            own = None if party == SERVER else self.drafts[seen]  # type: ignore[index]
            self.drafts.append(Draft(said.by, said.body, entry.at, own, keys[party]))
            if entry.sig is None:
                self.drafts[-1].sign = False
            hand.take(judged)

    def __getitem__(self, place: int) -> Draft:
        return self.drafts[place]

    def of(self, kind: str, by: str | None = None) -> list[Draft]:
        """The drafts of a type, in order."""
        return [d for d in self.drafts if d.type == kind and by in (None, d.by)]

    def one(self, kind: str, by: str | None = None) -> Draft:
        return self.of(kind, by)[0]

    def place(self, draft: Draft) -> int:
        return self.drafts.index(draft)

    def insert(
        self,
        place: int,
        by: str,
        body: Any,
        *,
        seen: Draft | str | None = None,
        key: Key | None = None,
    ) -> Draft:
        """A message more, at `place`, dated as the entry before."""
        draft = Draft(
            by, body, self.drafts[place - 1].at, seen, key or self.keys.get(by, self.keys[SERVER])
        )
        self.drafts.insert(place, draft)
        return draft

    def cut(self, place: int) -> Bend:
        """Only the entries before `place`."""
        del self.drafts[place:]
        return self

    def build(self) -> Log:
        log = Log()
        for draft in self.drafts:
            log.append(self._entry(draft, log))
            draft.hash = log.head
        return log

    def _entry(self, draft: Draft, log: Log) -> Entry:
        seen = draft.seen.hash if isinstance(draft.seen, Draft) else draft.seen
        said = message(draft.by, log.head if seen is None else seen, draft.body)
        sig: str | None = draft.sign if isinstance(draft.sign, str) else None
        if draft.sign is True:
            sig = draft.key.sign(said.digest()).hex()
        prev = log.head if draft.prev is None else draft.prev
        seq = len(log) if draft.seq is None else draft.seq
        return Entry(at=draft.at, message=said, prev=prev, seq=seq, sig=sig)

    def encoded(self) -> bytes:
        return self.build().encoded()

    def verify(self, **pins: Any) -> Verdict:
        return verify(self.encoded(), **pins)


def found(verdict: Verdict) -> list[tuple[str, tuple[str, ...]]]:
    """Code and culprits of each finding."""
    return [(one.code, one.culprits) for one in verdict.findings]


def assert_only(
    verdict: Verdict, code: str, *culprits: str, entries: tuple[int, ...] | None = None
) -> None:
    """Exactly one finding, of this code, naming exactly these."""
    assert found(verdict) == [(code, culprits)], verdict.findings
    assert verdict.status == "invalid"
    one = verdict.findings[0]
    assert one.attribution == ("proven" if culprits else "unattributed")
    if entries is not None:
        assert one.entries == entries
    failed = [report.number for report in verdict.checks if report.status == "failed"]
    assert failed == [one.check]
