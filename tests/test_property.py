"""The property that everything rests on: whoever cheats, in whatever weather, no honest party is named.

A machine runs a dealer and seats with any schedule, losses, late and doubled messages, restarts and
departures; any of them may be a cheat, and a cheating server may show two logs. At the end of every
run:

* no finding about any log, or any honest seat's own copy, names an honest party, and neither did any
  refusal on the way;
* no log on which a cheat stands is valid;
* two honest seats that both finished hold the same messages up to `close`, or their copies prove
  that the server signed two logs.

120 examples in CI, always the same; 10,000 with FAIRDEAL_LONG.
"""

from __future__ import annotations

import os
import random
from typing import Any

import msgspec
from cheats import (
    BadBox,
    BentExchange,
    BentShuffle,
    Blind,
    Lawless,
    Rubbish,
    UnreadablePass,
)
from forge import hpke_with
from helpers import SEATS, SERVER, SHORT, Key
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from fairdeal import sealing, verify
from fairdeal.dealer import Dealer, Terms, bot
from fairdeal.errors import LocalProtocolError, RemoteProtocolError
from fairdeal.evidence import compare
from fairdeal.findings import Verdict
from fairdeal.games.policies import POLICIES
from fairdeal.games.presets import S0
from fairdeal.log import Log, compacted, read_message
from fairdeal.messages import Cards, Clock, Close, Dispute, Person, Play, message
from fairdeal.parties import SEATS as NAMES
from fairdeal.seat import Outgoing, Seat
from fairdeal.shuffle import words

LONG = bool(os.environ.get("FAIRDEAL_LONG"))
settings.register_profile(
    "machine",
    max_examples=10_000 if LONG else 120,
    stateful_step_count=25,
    deadline=None,
    derandomize=not LONG,
    database=None,
    phases=(Phase.generate, Phase.shrink) if LONG else (Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


# -- cheating servers ----------------------------------------------------------------------------


class Peeking(Dealer):
    """Its bots play as if they saw all hands."""

    did = False

    def _decide(self, by: str, kind: Any) -> tuple[str, ...]:
        decided = super()._decide(by, kind)
        if kind == "play" and self.hand.play is not None:
            legal = self.hand.play.legal(self._cards[by])
            high = (max(legal, key=self.hand.game.deck.index),)
            if high != decided:
                self.did = True
            self._decided[by] = decided = high
        return decided


class Swapping(BentShuffle):
    did = True


class Exchanging(BentExchange):
    """Swaps two passed cards."""

    @property
    def did(self) -> bool:
        return self.hand.exchange is not None


class Boxing(BadBox):
    """Seals other cards to seat 1 than it commits to; no log need show it if seat 1 goes."""

    did = False


class Hiding(Blind):
    """Seals noise to seat 0 at the exchange, and loses its dispute: seat 0 must not play on blindly."""

    did = False

    def _share(self, kind: str, by: str, cards: Any) -> Any:
        share = super()._share(kind, by, cards)
        if kind == "exchange" and by == "seat/0" and by in self.hand.persons:
            return msgspec.structs.replace(share, sealed="ab" * 90)
        return share

    def receive(self, data: Any, at: int) -> Any:
        return [] if b'"type":"dispute"' in data else super().receive(data, at)


class WrongClose(Dealer):
    """Closes with something else than is true."""

    what = "points"

    @property
    def did(self) -> bool:
        return self.hand.phase.value == "closed"

    def _close(self) -> Close:
        close = super()._close()
        what = self.what
        if what == "seeds":
            return self._with(close, seeds={**close.seeds, "seat/0": "44" * 64})
        if what in ("deals", "passes", "exchanges"):
            stated = getattr(close, what) or close.deals
            other = (Cards(cards=stated[0].cards, salt="12" * 32), *stated[1:])
            return self._with(close, **{what if getattr(close, what) else "deals": other})
        if what == "cards":
            one, two = close.deals[:2]
            return self._with(close, deals=(two, one, *close.deals[2:]))
        if what == "result":
            from fairdeal.messages import Result

            return self._with(close, result=Result(left=(), places=(1, 1, 1, 1), winners=(0,)))
        return self._with(close, **{what: tuple(n + 1 for n in getattr(close, what))})

    @staticmethod
    def _with(close: Close, **members: Any) -> Close:
        return msgspec.structs.replace(close, **members)


class Repeating(Dealer):
    """Puts a person's message on the log twice."""

    did = False

    def _take(self, entry: Any, judged: Any) -> None:
        super()._take(entry, judged)
        if entry.message.by in self.hand.persons and not self.did and len(self.log) % 7 == 3:
            self.did = True
            twin = self.log.next_entry(entry.message, entry.sig, entry.at)
            again = self.hand.judge(
                twin.message, judged.digest, self.log.position_of(entry.message.seen)
            )
            self.log.append(twin)
            self.hand.take(again)


class Expelling(Dealer):
    """Expels whoever is on turn, with time left."""

    did = False

    def receive(self, data: Any, at: int) -> Any:
        entries = super().receive(data, at)
        play = self.hand.play
        if not self.did and play is not None and play.turn is not None and len(self.hand.plays) > 4:
            by = NAMES[play.turn]
            if by in self.hand.persons and self.hand.phase.value == "play":
                self.did = True
                entries += self.replace(play.turn, "expelled", at)
        return entries


class Voiding(Dealer):
    """Gives up the deck that it knows."""

    did = False

    def _advance(self, at: int) -> None:
        super()._advance(at)
        if (
            self.hand.deal is not None
            and not self.hand.ended
            and not self.hand.disputed
            and not self.did
        ):
            self.did = True
            self.void("operator", None, at)


class Careless(Blind):
    """Lets every play and pass through, and puts on the log what contradicts it."""

    did = False

    def _learn(self, by: str, body: Any) -> None:
        if not isinstance(body, Play) or body.card in self._cards[by]:
            super()._learn(by, body)

    def receive(self, data: Any, at: int) -> Any:
        try:
            return super().receive(data, at)
        except RemoteProtocolError as error:
            if error.code != "equivocation":
                raise
            one = read_message(data)
            judged = self.hand.judge(
                one.message, one.message.digest(), self.log.position_of(one.message.seen)
            )
            self.log.append(self.log.next_entry(one.message, one.sig, at))
            self.hand.take(judged)
            return self.log.entries[-1:]


def closing(what: str) -> type[Dealer]:
    return type(f"Close_{what}", (WrongClose,), {"what": what})


SERVERS: dict[str, type[Dealer]] = {
    "peek": Peeking,
    "swap": Swapping,
    "exchange": Exchanging,
    "box": Boxing,
    "hide": Hiding,
    "repeat": Repeating,
    "expel": Expelling,
    "void": Voiding,
    "careless": Careless,
    "fork": type("Forking", (Dealer,), {"did": False}),
} | {
    f"close {what}": closing(what)
    for what in ("seeds", "deals", "passes", "exchanges", "cards", "points", "scores", "result")
}


# -- cheating seats ------------------------------------------------------------------------------


class Unlawful(Lawless):
    """Now and then plays a card that it may not play."""

    def pick(self, rng: random.Random) -> str | None:
        wrong = sorted(set(self.cards) - set(self.legal()))
        if not wrong or rng.random() < 0.2:
            wrong = sorted(set(self.hand.game.deck) - set(self.cards))
        return rng.choice(wrong) if rng.random() < 0.4 else None


class WrongPass(Seat):
    """Passes a card it was not dealt."""

    def pass_cards(self, cards: Any) -> Outgoing:
        deck = self.hand.game.deck
        foreign = next(card for card in deck if card not in self.cards)
        wrong = tuple(sorted((foreign, *tuple(cards)[1:]), key=deck.index))
        self._passed = Cards(cards=wrong, salt=self._pass_salt)
        return self._say(self._sealed_pass(self._passed))


class Disputing(Seat):
    """Disputes what is in order."""

    def _due_answer(self) -> Any:
        deal = self.hand.deal
        if deal is not None and self.name in self.hand.persons and not self.hand.ended:
            seen = self.log.hashes[deal]
            if ("dispute", seen) not in self._sent:
                return self._say(Dispute(hand_key=self._hand_key.hex()), seen)
        return super()._due_answer()


#: some are drawn more often: what they do shows only together with others
SERVERS_DRAWN = (None, None, None, *SERVERS, *("fork", "careless", "hide") * 3)

SEATS_CHEATING: dict[str, type[Seat]] = {
    "rubbish": Rubbish,
    "unreadable": UnreadablePass,
    "unlawful": Unlawful,
    "wrong pass": WrongPass,
    "dispute": Disputing,
    "two": type("Twofold", (Lawless,), {}),
}


# -- the machine ---------------------------------------------------------------------------------


class Machine(RuleBasedStateMachine):
    """One table. `views[n]` is the dealer whose log seat `n` is shown."""

    @initialize(
        seed=st.integers(0, 2**32),
        people=st.integers(1, 4),
        server=st.sampled_from(SERVERS_DRAWN),
        cheats=st.dictionaries(
            st.integers(0, 3),
            st.sampled_from((*sorted(SEATS_CHEATING), "unlawful", "two")),
            max_size=2,
        ),
        hand=st.integers(1, 4),
        house=st.booleans(),
        clock=st.booleans(),
        compact=st.booleans(),
        finish=st.booleans(),
    )
    def start(
        self,
        seed: int,
        people: int,
        server: str | None,
        cheats: dict[int, str],
        hand: int,
        house: bool,
        clock: bool,
        compact: bool,
        finish: bool,
    ) -> None:
        rng = self.rng = random.Random(seed)
        self.compact, self.finish = compact, finish
        self.seal = sealing.seal
        sealing.seal = hpke_with(random.Random(f"boxes {seed}").randbytes)
        self.server_cheat = server
        self.kinds = {n: SEATS_CHEATING[c] for n, c in cheats.items() if n < people}
        self.twofold = {n for n, c in cheats.items() if c == "two"}
        self.keys = {n: Key(rng.randbytes(32)) for n in range(people)}
        self.server = Key(rng.randbytes(32))
        self.word = words(rng.randbytes(64), b"machine").__next__
        self.at = 1_700_000_000_000
        self.cls = SERVERS[server] if server else Dealer
        if server == "expel":
            clock = True
        self.done: list[tuple[Dealer, dict[int, Seat], dict[int, bytes]]] = []
        self.wrong: set[bytes] = set()
        terms = Terms(
            table="t",
            game="g",
            hand=hand,
            previous=None if hand == 1 else "ab" * 32,
            rules=S0,
            deck=SHORT,
            house=house,
            clock=Clock(grace_ms=50, reserve_ms=900_000) if clock else None,
            seats=tuple(
                Person(key=self.keys[n].public.hex(), name=f"P{n}") if n < people else bot(f"B{n}")
                for n in range(4)
            ),
        )
        self.begin(terms)

    def begin(self, terms: Terms) -> None:
        self.dealers: list[Dealer] = [
            self.cls(terms, self.server, at=self.at, entropy=self.rng.randbytes)
        ]
        self.broken: set[int] = set()
        people = [n for n, one in enumerate(terms.seats) if isinstance(one, Person)]
        self.seats = {n: self.new_seat(n) for n in people}
        self.follows = dict.fromkeys(people, 0)
        self.heard = dict.fromkeys(people, 0)
        self.stores: dict[int, bytes] = {}
        self.stuck: set[int] = set()
        self.wire: list[tuple[int, bytes]] = []

    def new_seat(self, n: int) -> Seat:
        kind = self.kinds.get(n, Seat)
        return kind(self.keys[n], server_key=self.server.public, entropy=self.rng.randbytes)

    # -- who is honest --

    def honest_seat(self, n: int) -> bool:
        return n not in self.kinds

    @property
    def honest(self) -> set[str]:
        honest = {SEATS[n] for n in self.keys if n not in self.kinds}
        return honest if self.server_cheat else honest | {SERVER}

    # -- steps --

    def hear(self, n: int, count: int) -> None:
        seat, log = self.seats[n], self.dealers[self.follows[n]].log
        for _ in range(count):
            if n in self.stuck or self.heard[n] >= len(log):
                break
            try:
                answer = seat.receive(log.entries[self.heard[n]].encoded())
            except RemoteProtocolError as error:
                assert error.culprit not in self.honest or not self.honest_seat(n), error
                assert self.server_cheat or not self.honest_seat(n), error
                self.stuck.add(n)
                break
            except (ValueError, LocalProtocolError):
                assert not self.honest_seat(n), "an honest seat does not break"
                self.stuck.add(n)
                break
            self.heard[n] += 1
            if answer:
                self.send(n, answer)
        if n not in self.stuck and self.heard[n] == len(log):
            try:
                self.decide(n)
            except (ValueError, IndexError, LocalProtocolError):
                assert not self.honest_seat(n), "an honest seat does not break"
                self.stuck.add(n)

    def decide(self, n: int) -> None:
        seat = self.seats[n]
        policy = POLICIES["random/1"]
        turn = seat.turn
        if turn == "pass" and not seat.cards:
            return  # its box was bad
        if turn == "pass":
            self.send(n, seat.pass_cards(policy.pass_cards(seat.view(), self.word)))
        elif turn == "play":
            wrong = seat.pick(self.rng) if isinstance(seat, Unlawful) else None
            out = seat.play(wrong or policy.play_card(seat.view(), self.word))
            self.send(n, out)
            if wrong:
                self.wrong.add(read_message(out.send).message.digest())
            if n in self.twofold:
                self.say_twice(n, seat, out)
        elif turn:
            self.send(n, seat.choose(policy.choose_moon(seat.view(), self.word)))

    def say_twice(self, n: int, seat: Seat, out: Outgoing) -> None:
        first = read_message(out.send).message
        other = next((card for card in seat.cards if card != first.body.card), None)
        if other:
            said = message(first.by, first.seen, Play(card=other))
            data = msgspec.structs.replace(
                read_message(out.send), message=said, sig=seat._key.sign(said.digest()).hex()
            ).encoded()
            self.wire.append((n, data))

    def send(self, n: int, out: Outgoing) -> None:
        self.stores[n] = out.store
        cheat = type(self.seats[n])
        if cheat in (Rubbish, UnreadablePass, WrongPass, Disputing):
            said = read_message(out.send).message
            kind = {Rubbish: "reveal", Disputing: "dispute"}.get(cheat, "pass")
            if said.type == kind:
                self.wrong.add(said.digest())
        self.wire.append((n, out.send))

    def deliver(self, place: int) -> None:
        n, data = self.wire.pop(place)
        self.at += 40
        for number, dealer in enumerate(self.dealers):
            if number in self.broken or (number != self.follows[n] and len(self.dealers) == 1):
                continue
            try:
                dealer.receive(data, self.at)
            except RemoteProtocolError as error:
                assert self.server_cheat or error.culprit not in self.honest, error
                if not self.honest_seat(n):
                    said = read_message(data).message
                    self.seats[n]._sent.pop((said.type, said.seen), None)
                    if said.type == "pass":
                        self.kinds_done(n)
            except LocalProtocolError:
                assert self.server_cheat
                self.broken.add(number)
            except (ValueError, KeyError, AssertionError):
                # a cheat that cannot go on is silent
                assert self.server_cheat, "an honest dealer does not break"
                self.broken.add(number)

    def kinds_done(self, n: int) -> None:
        """A pass that was refused is not tried again: the seat passes as it must."""
        seat = self.seats[n]
        seat._passed = None
        seat.__class__ = Seat

    @rule(n=st.integers(0, 3), count=st.integers(1, 30))
    def seat_hears(self, n: int, count: int) -> None:
        if n in self.seats:
            self.hear(n, count)

    @rule(rounds=st.integers(1, 12))
    def all_go_on(self, rounds: int) -> None:
        for _ in range(rounds):
            self.round()

    def round(self) -> bool:
        before = (sum(self.heard.values()), [len(d.log) for d in self.dealers])
        for n in self.seats:
            self.hear(n, 100)
        while self.wire:
            self.deliver(0)
        return before != (sum(self.heard.values()), [len(d.log) for d in self.dealers])

    @precondition(lambda self: self.wire)
    @rule(data=st.data())
    def message_arrives(self, data: Any) -> None:
        self.deliver(data.draw(st.integers(0, len(self.wire) - 1)))

    @precondition(lambda self: self.wire)
    @rule(data=st.data(), twice=st.booleans())
    def message_is_lost_or_doubled(self, data: Any, twice: bool) -> None:
        place = data.draw(st.integers(0, len(self.wire) - 1))
        if twice:
            self.wire.append(self.wire[place])
        else:
            del self.wire[place]

    @rule(n=st.integers(0, 3))
    def seat_restarts(self, n: int) -> None:
        if n not in self.seats:
            return
        self.heard[n] = 0
        self.stuck.discard(n)
        if n not in self.stores:
            self.seats[n] = self.new_seat(n)
            return
        kind = type(self.seats[n])
        key = self.keys[n]
        self.seats[n] = kind.resume(self.stores[n], key, server_key=self.server.public)

    @rule(n=st.integers(0, 3))
    def seat_sends_again(self, n: int) -> None:
        seat = self.seats.get(n)
        if seat and n not in self.stuck and seat.log.entries and (out := seat.pending()):
            self.send(n, out)

    @rule()
    def dealer_restarts(self) -> None:
        dealer = self.dealers[0]
        if self.server_cheat and self.server_cheat != "fork":
            return
        again = type(dealer).resume(dealer.log.encoded(), dealer.secret, self.server)
        again.proceed(self.at)
        self.dealers[0] = again

    @rule(n=st.integers(0, 3), used=st.booleans())
    def person_leaves(self, n: int, used: bool) -> None:
        dealer = self.dealers[0]
        if SEATS[n] not in dealer.hand.persons or dealer.hand.ended or 0 in self.broken:
            return
        try:
            dealer.replace(
                n, "unresponsive" if used and dealer.hand.deal is None else "left", self.at
            )
        except LocalProtocolError:
            assert self.server_cheat or dealer.hand.disputed
        except (ValueError, KeyError, AssertionError):
            assert self.server_cheat
            self.broken.add(0)

    @precondition(
        lambda self: self.server_cheat == "fork" and len(self.dealers) == 1 and self.seats
    )
    @rule(data=st.data())
    def server_forks(self, data: Any) -> None:
        """Some seats are shown another log from here, or from a little before."""
        log = self.dealers[0].log
        back = data.draw(st.integers(0, 3))
        size = max(1, len(log) - back)
        fork = type(self.dealers[0]).resume(
            Log(log.entries[:size]), self.dealers[0].secret, self.server
        )
        moved = data.draw(st.sets(st.sampled_from(sorted(self.seats)), min_size=1))
        late = data.draw(st.sampled_from((0, 1, 777)))
        how = data.draw(st.booleans())
        self.dealers.append(fork)
        try:
            if how and fork.hand.persons and not fork.hand.ended:
                fork.replace(SEATS.index(max(fork.hand.persons)), "left", self.at + late)
            fork.proceed(self.at + late)
        except LocalProtocolError:
            self.broken.add(1)
        for n in moved:
            if self.heard[n] <= size:
                self.follows[n] = 1

    @precondition(lambda self: self.dealers[0].hand.phase.value in ("commit", "reveal"))
    @rule()
    def server_gives_up(self) -> None:
        if 0 not in self.broken:
            self.dealers[0].void("operator", None, self.at)

    @precondition(
        lambda self: len(self.done) < 2 and self.dealers[0].hand.phase.value in ("voided", "closed")
    )
    @rule()
    def next_log(self) -> None:
        try:
            terms = self.dealers[0].next_terms()
        except LocalProtocolError:
            return
        if any(score >= 100 for score in terms.scores or ()):
            return
        self.judge()
        self.done.append((self.dealers[0], self.seats, self.stores))
        self.begin(terms)

    # -- the end --

    def teardown(self) -> None:
        if not hasattr(self, "dealers"):
            return
        try:
            for _ in range(80):
                if not self.round() and not self.send_again() and not self.part():
                    break
            self.judge()
        finally:
            sealing.seal = self.seal

    def send_again(self) -> bool:
        """Everybody reconnects; whether that brought anything."""
        for n, seat in self.seats.items():
            if n not in self.stuck and seat.log.entries and (out := seat.pending()):
                self.send(n, out)
        size = [len(dealer.log) for dealer in self.dealers]
        while self.wire:
            self.deliver(0)
        return size != [len(dealer.log) for dealer in self.dealers]

    def part(self) -> bool:
        """Whoever the hand still waits for leaves, in some runs; whether anybody did."""
        dealer = self.dealers[0]
        if not self.finish or dealer.hand.ended or dealer.hand.disputed or 0 in self.broken:
            return False
        waited = sorted(by for _, by in dealer.hand.due() if by in dealer.hand.persons)
        if not waited:
            return False
        self.person_leaves(SEATS.index(waited[0]), used=False)
        return 0 not in self.broken

    def verdict(self, log: Log, dealer: Dealer | None = None, **more: Any) -> Verdict:
        verdict = verify(log.encoded(), **more)
        named = self.honest & set(verdict.culprits)
        assert not named, (self.server_cheat, self.kinds, verdict.findings)
        if verdict.status == "valid":
            on_log = self.wrong & set(log.message_hashes)
            assert not on_log, (self.kinds, "a seat's cheat stands in a valid log")
            if dealer is not None:
                assert not getattr(dealer, "did", False), (self.server_cheat, "in a valid log")
        return verdict

    def judge(self) -> None:
        for number, dealer in enumerate(self.dealers):
            verdict = self.verdict(dealer.log, dealer)
            if not self.server_cheat and not self.kinds:
                assert verdict.findings == (), verdict.findings
            if self.compact and number == 0 and verdict.status == "valid":
                hand = dealer.hand
                keys = _keys(dealer.log)
                assert verify(compacted(dealer.log, keys).encoded()).status == "valid", hand
            self.edit(dealer.log)
        finished: list[Log] = []
        for n, seat in self.seats.items():
            if not self.honest_seat(n) or not seat.log.entries:
                continue
            self.verdict(seat.log)
            if n in self.stores:
                self.verdict(seat.log, record=self.stores[n])
                if not self.server_cheat:
                    own = verify(seat.log.encoded(), record=seat.record)
                    assert not [one for one in own.findings if one.check == 20], own.findings
            if seat.hand.phase.value == "closed":
                finished.append(seat.log)
        for one in finished:
            for other in finished:
                self.compare(one, other)

    def compare(self, one: Log, other: Log) -> None:
        ends = [_upto_close(log) for log in (one, other)]
        both = compare(one.encoded(), other.encoded())
        assert both.culprit not in self.honest, both
        if ends[0] != ends[1]:
            assert both.culprit == SERVER, (self.server_cheat, both)
            assert verify(both.proof or b"").culprits == (SERVER,)

    def edit(self, log: Log) -> None:
        """Somebody without keys changes the log: what is named then is not honest either."""
        from test_framing_server import edited

        rng = random.Random(self.rng.random())
        for _ in range(3):
            changed = edited(rng, log, [log, *(dealer.log for dealer, _, _ in self.done)])
            if changed.entries[0].message.type == "open":
                verdict = verify(changed.encoded())
                named = self.honest & set(verdict.culprits)
                assert not named, (self.server_cheat, self.kinds, verdict.findings)


def _upto_close(log: Log) -> list[bytes]:
    place = next(n for n, one in enumerate(log.entries) if isinstance(one.message.body, Close))
    return log.message_hashes[: place + 1]


def _keys(log: Log) -> list[bytes]:
    from test_framing_server import keys_of

    return keys_of(log)


Machine.TestCase.settings = settings.get_profile("machine")
TestMachine = Machine.TestCase
