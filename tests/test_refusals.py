"""What a live party refuses at once, and that it goes on afterwards as if nothing had been said.

Each case stops an honest table somewhere, gives one party a cheat's entry or message, asserts the
code and whom it names, and then plays the hand to its end, which must be valid.
"""

# ruff: noqa: ARG005 - tables of lambdas of one shape
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import pytest
from cheats import ForeignPass, Lawless, Rubbish, UnreadablePass, void_of
from helpers import SEATS, SERVER, Key, Table

from fairdeal.errors import LocalProtocolError, MalformedError, RemoteProtocolError
from fairdeal.games.presets import S0
from fairdeal.log import Log
from fairdeal.messages import (
    Ack,
    Cards,
    Close,
    Commit,
    Deck,
    Entry,
    Play,
    Replace,
    Reveal,
    Signed,
    message,
)
from fairdeal.seat import Outgoing, Seat


class Refusal(NamedTuple):
    until: Callable[[Table], bool]
    entry: Callable[[Table], Entry]
    code: str
    culprit: str | None
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed


def head(table: Table) -> Entry:
    """The entry that seat 0 is to hear next."""
    return table.log.entries[table.heard[0]]


def signed(table: Table, by: str, body: Any, seen: str | None = None, **other: Any) -> Entry:
    """An entry after all that seat 0 has heard, by whoever holds the key."""
    log = Log(table.log.entries[: table.heard[0]])
    key = table.secrets[by] if by in table.hand.persons else table.server
    said = message(by, seen or log.head, body)
    sig = key.sign(said.digest()).hex()
    return msgspec.structs.replace(log.next_entry(said, sig, table.at), **other)


def resigned(table: Table, **members: Any) -> Entry:
    """The next entry with another body, signed again."""
    said = head(table).message
    body = msgspec.structs.replace(said.body, **members)
    return signed(table, said.by, body, said.seen)


def at(kind: str) -> Callable[[Table], bool]:
    """Until seat 0 is about to hear the first entry of this type."""
    return lambda table: table.heard[0] < len(table.log) and head(table).message.type == kind


def tricks(count: int) -> Callable[[Table], bool]:
    """Until so many cards are played and seat 0 has heard them all."""
    return lambda table: len(table.hand.plays) >= count and table.heard[0] == len(table.log)


def other_close(**change: Any) -> Callable[[Table], Entry]:
    def make(table: Table) -> Entry:
        body = head(table).message.body
        assert isinstance(body, Close)
        members: dict[str, Any] = {}
        for name, how in change.items():
            members[name] = how(getattr(body, name))
        return resigned(table, **members)

    return make


def salted(openings: tuple[Cards, ...]) -> tuple[Cards, ...]:
    return (Cards(cards=openings[0].cards, salt="12" * 32), *openings[1:])


def waiting_play(table: Table) -> str:
    turn = table.hand.tricks.turn
    return SEATS[turn if turn is not None else 0]


def someone_else(table: Table) -> str:
    turn = table.hand.tricks.turn
    return SEATS[next(n for n in (1, 2, 3) if n != turn)]


def play_by_next(table: Table, card: str) -> Entry:
    return signed(table, waiting_play(table), Play(card=card))


def others_turn(table: Table) -> bool:
    return tricks(9)(table) and table.hand.tricks.turn not in (0, None)


START = at("open")
SEAT: dict[str, Refusal] = {
    "open of another server": Refusal(START, lambda t: head(Table(4, seed="else")), "pin-server-key", None),
    "open without its key": Refusal(
        START,
        lambda t: resigned(t, seats=(msgspec.structs.replace(head(t).message.body.seats[0], key=Key(b"8" * 32).public.hex()), *head(t).message.body.seats[1:])),
        "pin-seat-key",
        None,
    ),
    "open with one key twice": Refusal(
        START,
        lambda t: resigned(t, seats=(*head(t).message.body.seats[:3], msgspec.structs.replace(head(t).message.body.seats[1], name="X"))),
        "open-key",
        SERVER,
    ),
    "open with a bad hand key": Refusal(START, lambda t: resigned(t, hand_key="01" + "00" * 31), "open-hand-key", SERVER),
    "open without its past": Refusal(START, lambda t: resigned(t, attempt=2), "open-previous", SERVER),
    "open with odd terms": Refusal(START, lambda t: resigned(t, deck=Deck(packs=1, removed=("2D",))), "open-terms", SERVER),
    "open with odd scores": Refusal(START, lambda t: resigned(t, scores=(1, 0, 0, 0)), "open-scores", SERVER),
    "not an open": Refusal(START, lambda t: signed(t, SERVER, Ack(), "0" * 64), "out-of-turn", None),
    "unsigned": Refusal(at("deal"), lambda t: msgspec.structs.replace(head(t), sig=None), "signature-invalid", None),
    "signed by another": Refusal(tricks(9), lambda t: msgspec.structs.replace(signed(t, waiting_play(t), Play(card="2D")), sig="00" * 64), "signature-invalid", None),
    "another prev": Refusal(at("deal"), lambda t: msgspec.structs.replace(head(t), prev="11" * 32), "chain-prev", None),
    "another seq": Refusal(at("deal"), lambda t: msgspec.structs.replace(head(t), seq=77), "chain-seq", None),
    "an earlier time": Refusal(at("deal"), lambda t: msgspec.structs.replace(head(t), at=5), "chain-time", None),
    "another entry where it has one": Refusal(tricks(9), lambda t: msgspec.structs.replace(t.log.entries[5], at=t.log.entries[5].at + 1), "record-head", None),
    "bot commits after a person": Refusal(
        lambda t: t.heard[0] == 1 and len(t.log) > 1,
        lambda t: signed(t, "seat/1", Commit(commitment="33" * 32, hand_key="09" + "00" * 31)),
        "out-of-turn",
        "seat/1",
        {"people": 3},
    ),
    "commit with a bad hand key": Refusal(at("commit"), lambda t: signed(t, "seat/1", Commit(commitment="33" * 32, hand_key="00" * 32)), "commit-hand-key", "seat/1"),
    "commit without a hand key": Refusal(at("commit"), lambda t: signed(t, "seat/1", Commit(commitment="33" * 32)), "body-form", "seat/1"),
    "deal before the reveals": Refusal(at("reveal"), lambda t: signed(t, SERVER, _deal_of(t)), "out-of-turn", SERVER),
    "deal with a box for a bot": Refusal(at("deal"), lambda t: resigned(t, hands=tuple(msgspec.structs.replace(s, sealed="ab" * 60) for s in head(t).message.body.hands)), "body-form", SERVER, {"people": 3}),
    "deal answers an older entry": Refusal(at("deal"), lambda t: signed(t, SERVER, head(t).message.body, t.log.hashes[2]), "seen-not-previous", None),
    "second deal": Refusal(at("exchange"), lambda t: signed(t, SERVER, _deal_of(t)), "equivocation", SERVER),
    "replace of a bot": Refusal(tricks(9), lambda t: signed(t, SERVER, Replace(seat=3, reason="left")), "replace-nobody", SERVER, {"people": 3}),
    "void for a false reason": Refusal(tricks(9), lambda t: signed(t, SERVER, void_of(t, "no-reveal", 1)), "void-reason", SERVER),
    "play out of turn": Refusal(tricks(9), lambda t: signed(t, someone_else(t), Play(card="2D")), "out-of-turn", "*"),
    "play of no card": Refusal(others_turn, lambda t: play_by_next(t, "ZZ"), "play-unknown-card", "*"),
    "play of its own card": Refusal(others_turn, lambda t: play_by_next(t, t.seats[0].cards[0]), "card-twice", None),
    "play of a card played before": Refusal(
        others_turn,
        lambda t: play_by_next(t, next(card for _, by, card in t.hand.plays if by == waiting_play(t))),
        "play-not-held",
        "*",
    ),
    "a play twice": Refusal(tricks(9), lambda t: signed(t, t.log.entries[-1].message.by, t.log.entries[-1].message.body, t.log.entries[-1].message.seen), "repeated", None),
    "two plays of one seat": Refusal(lambda t: tricks(9)(t) and t.log.entries[-1].message.by != "seat/0", lambda t: signed(t, t.log.entries[-1].message.by, Play(card=t.seats[0].cards[0]), t.log.entries[-1].message.seen), "equivocation", "*"),
    "a play over another log": Refusal(others_turn, lambda t: signed(t, waiting_play(t), Play(card="2D"), "22" * 32), "seen-unknown", None),
    "first lead of another card": Refusal(
        lambda t: t.hand.exchange is not None and t.heard[0] == len(t.log) and not t.hand.plays,
        lambda t: signed(t, "seat/2", Play(card="KD")),
        "play-first-lead",
        "seat/2",
    ),
    "close with another seed of it": Refusal(at("close"), other_close(seeds=lambda s: {**s, "seat/0": "44" * 64}), "record-seed", SERVER),
    "close with other cards dealt": Refusal(at("close"), other_close(deals=salted), "record-cards", SERVER),
    "close with other cards received": Refusal(at("close"), other_close(exchanges=salted), "record-cards", SERVER),
    "close with another pass of it": Refusal(at("close"), other_close(passes=salted), "record-cards", SERVER),
    "close without a seed": Refusal(at("close"), other_close(seeds=lambda s: dict(list(s.items())[1:])), "close-form", SERVER),
    "close before the last card": Refusal(tricks(9), lambda t: signed(t, SERVER, Table(4).run().bend().one("close").body), "out-of-turn", SERVER),
    "replace after the close": Refusal(at("ack"), lambda t: signed(t, SERVER, Replace(seat=1, reason="left")), "after-end", SERVER),
    "void after the close": Refusal(at("ack"), lambda t: signed(t, SERVER, void_of(t, "operator")), "equivocation", SERVER),
    "its own name": Refusal(
        lambda t: tricks(9)(t) and t.hand.tricks.turn == 0,
        lambda t: signed(t, "seat/0", Play(card=t.seats[0].legal()[-1])),
        "record-message",
        None,
    ),
}  # fmt: skip


def _deal_of(table: Table) -> Any:
    done = Table(4).run(lambda t: t.hand.deal is not None)
    return done.log.entries[done.hand.deal or 0].message.body


@pytest.mark.parametrize(
    "name",
    list(SEAT),
)
def test_seat_refuses_at_once_and_goes_on(name: str) -> None:
    case = SEAT[name]
    options = {"people": 4, "seed": "refusals"} | case.options
    people = options.pop("people")
    table = Table(people, **options)
    stop_at(table, case.until)
    entry = case.entry(table)
    before = table.seats[0].hand.size
    with pytest.raises(RemoteProtocolError) as refused:
        table.seats[0].receive(entry)
    culprit = entry.message.by if case.culprit == "*" else case.culprit
    assert (refused.value.code, refused.value.culprit) == (case.code, culprit)
    assert table.seats[0].hand.size == before
    for answer in table.tell(0):
        table.give(0, answer)
    table.run()
    assert table.verify().status == "valid"
    assert not table.refused
    assert table.verify(record=table.seats[0].record).status == "valid"


def stop_at(table: Table, until: Callable[[Table], bool]) -> None:
    """Seat 0 hears one entry at a time, so that it can be stopped before any."""
    for _ in range(3000):
        if until(table):
            return
        said: list[tuple[int, Outgoing]] = []
        if table.heard[0] < len(table.log):
            answer = table.seats[0].receive(head(table))
            table.heard[0] += 1
            said = [(0, answer)] if answer else []
        elif decided := table.decide(0):
            said = [(0, decided)]
        else:
            said = [(n, out) for n in table.seats if n for out in table.tell(n)][:1]
            said = said or [(n, out) for n, s in table.seats.items() if n and (out := s.pending())]
        for n, out in said:
            table.give(n, out)
    raise AssertionError("never came there")


@pytest.mark.parametrize("kind", ["deal", "exchange"])
def test_seat_disputes_a_bad_box_and_the_dealer_gives_up(kind: str) -> None:
    from test_framing import cheating_boxes

    table = Table(4, seed=kind, dealer=cheating_boxes(kind, "noise")).run()
    assert table.log.entries[-1].message.type == "dispute"
    assert not table.refused
    honest = Table(4, seed=kind).run(lambda t: t.hand.deal is not None)
    out = honest.seats[0]
    assert out.turn == "pass" or out.log.head != honest.log.head


# -- the dealer ----------------------------------------------------------------------------------


def rejected(table: Table, n: int, out: Outgoing | bytes) -> RemoteProtocolError:
    size, head_before = len(table.log), table.log.head
    data = out if isinstance(out, bytes) else out.send
    with pytest.raises(RemoteProtocolError) as refused:
        table.dealer.receive(data, table.at)
    assert (len(table.log), table.log.head) == (size, head_before)
    return refused.value


def by_seat(
    table: Table, n: int, body: Any, seen: str | None = None, key: Key | None = None
) -> bytes:
    said = message(SEATS[n], seen or table.log.hashes[table.hand.since], body)
    return Signed(message=said, sig=(key or table.keys[n]).sign(said.digest()).hex()).encoded()


def goes_on(table: Table) -> None:
    table.run()
    assert table.verify().status == "valid", table.verify().findings


def test_dealer_refuses_another_name_and_a_wrong_signature() -> None:
    table = Table(4)
    data = by_seat(
        table, 1, Commit(commitment="33" * 32, hand_key="09" + "00" * 31), key=table.keys[2]
    )
    error = rejected(table, 1, data)
    assert (error.code, error.culprit) == ("signature-invalid", None)
    goes_on(table)


def test_dealer_refuses_what_is_not_a_message() -> None:
    table = Table(4)
    for data in (b"", b"{}", b"[1]", b"\xff", b'{"by":"seat/1"}', b"1" * 10_000):
        with pytest.raises(MalformedError):
            table.dealer.receive(data, table.at)
    goes_on(table)


def test_dealer_refuses_a_second_commitment_and_an_early_reveal() -> None:
    table = Table(4, seed=7)
    table.give(1, table.tell(1)[0])
    other = Commit(commitment="33" * 32, hand_key="09" + "00" * 31)
    error = rejected(table, 1, by_seat(table, 1, other))
    assert (error.code, error.culprit) == ("equivocation", "seat/1")
    error = rejected(table, 1, by_seat(table, 1, Reveal(sealed="00" * 112), table.log.head))
    assert (error.code, error.culprit) == ("out-of-turn", "seat/1")
    error = rejected(
        table, 2, by_seat(table, 2, msgspec.structs.replace(other, hand_key="00" * 32))
    )
    assert (error.code, error.culprit) == ("commit-hand-key", "seat/2")
    goes_on(table)


@pytest.mark.parametrize(
    "code", ["play-not-held", "play-revoke", "play-hearts-unbroken", "play-first-lead", "out-of-turn"]
)  # fmt: skip
def test_dealer_refuses_lawless_plays(code: str) -> None:
    """Whatever card a seat tries, it is refused under the right code and the seat named; then it plays on."""
    codes: set[str] = set()
    for seed in range(40):
        table = Table(4, seed=("lawless", seed), seat=dict.fromkeys(range(4), Lawless))
        for _ in range(40):
            if not table.step():
                break
            if table.hand.play is None or table.hand.ended or table.hand.phase.value != "play":
                continue
            for n, seat in table.seats.items():
                wrong = sorted(
                    set(table.hand.game.deck)
                    - set(seat.legal() if table.heard[n] == len(table.log) else ())
                )
                for card in table.rng.sample(wrong, min(2, len(wrong))):
                    due = table.hand.play.turn in (n, None)
                    if (
                        due
                        and card in seat.cards
                        and table.hand.play.breach(table.dealer._cards[SEATS[n]], card) is None
                    ):
                        continue
                    if (
                        table.hand.play.opening_card == card
                        and card in table.dealer._cards[SEATS[n]]
                    ):
                        continue
                    error = rejected(table, n, by_seat(table, n, Play(card=card)))
                    codes.add(error.code)
                    assert error.culprit in (SEATS[n], None), (error.code, error.culprit)
                    assert error.culprit == SEATS[n] or error.code == "card-twice", error
        if code in codes:
            goes_on(table)
            return
    raise AssertionError(codes)


def test_dealer_refuses_points_in_the_first_trick() -> None:
    for seed in range(300):
        table = Table(4, seed=("points", seed)).run(lambda t: t.hand.exchange is not None)
        for n in range(4):
            mine = table.dealer.cards_of(n)
            points = [card for card in mine if card[1] == "H" or card == "QS"]
            if any(card[1] == "C" for card in mine) or not points or len(points) == len(mine):
                continue
            table.run(lambda t, n=n: bool(t.hand.plays) and t.hand.tricks.turn == n)
            error = rejected(table, n, by_seat(table, n, Play(card=points[0])))
            assert (error.code, error.culprit) == ("play-first-trick-points", SEATS[n])
            goes_on(table)
            return
    raise AssertionError("no seed gives a seat without clubs")


def test_dealer_refuses_a_pass_of_foreign_cards() -> None:
    table = Table(4, seat={2: ForeignPass})
    table.run(lambda t: t.hand.deal is not None)
    table.tell(0)
    seat = table.seats[2]
    while table.heard[2] < len(table.log):
        seat.receive(table.log.entries[table.heard[2]])
        table.heard[2] += 1
    seat.foreign = table.dealer._dealt[1][0]  # type: ignore[attr-defined]
    error = rejected(table, 2, seat.pass_cards(seat._dealt.cards[:3]))  # type: ignore[union-attr]
    assert (error.code, error.culprit) == ("pass-cards", "seat/2")
    assert table.dealer.hand.phase.value == "pass"


class TwicePass(Seat):
    """Passes one card, of which the deck has two, twice; it holds it once."""

    def double(self) -> Outgoing:
        mine = self.cards
        card = next(c for c in mine if mine.count(c) == 1)
        rest = [c for c in mine if c != card][: self.hand.game.pass_count - 2]
        deck = self.hand.game.deck
        cards = tuple(sorted((card, card, *rest), key=deck.index))
        self._passed = Cards(cards=cards, salt=self._pass_salt)
        return self._say(self._sealed_pass(self._passed))


def test_dealer_refuses_a_pass_of_one_card_twice() -> None:
    """In a deck of two packs a seat that holds a card once passes it twice."""
    rules = msgspec.structs.replace(
        S0, cancellation=True, first_lead="left-of-dealer", end_score=200
    )
    deck = Deck(packs=2, removed=())
    table = Table(4, seed="twice", rules=rules, deck=deck, seat={1: TwicePass})
    table.run(lambda t: t.hand.deal is not None)
    while table.heard[1] < len(table.log):
        table.seats[1].receive(table.log.entries[table.heard[1]])
        table.heard[1] += 1
    error = rejected(table, 1, table.seats[1].double())  # type: ignore[attr-defined]
    assert (error.code, error.culprit) == ("pass-cards", "seat/1")


def test_dealer_answers_bad_boxes_with_a_void_that_names_the_seat() -> None:
    for kind, reason in ((Rubbish, "bad-reveal"), (UnreadablePass, "bad-pass")):
        table = Table(4, seat={2: kind}).run()
        body = table.log.entries[-1].message.body
        assert (body.reason, body.seat) == (reason, 2)
        assert table.verify().culprits == ("seat/2",)
        assert {(one.code, one.culprit) for one in table.rejected} <= {("out-of-place", None)}


def test_dealer_refuses_a_seat_that_was_replaced() -> None:
    table = Table(4, seed=4)
    table.run(lambda t: len(t.hand.plays) == 9 and t.hand.tricks.turn is not None)
    n = int(table.hand.tricks.turn or 0)
    out = table.tell(n)[0]
    table.dealer.replace(n, "left", table.at)
    error = rejected(table, n, out)
    assert (error.code, error.culprit) == ("out-of-place", None)
    goes_on(table)


def test_dealer_does_not_replace_or_void_against_the_log() -> None:
    table = Table(3)
    for seat in (3, 9, -1):
        with pytest.raises(LocalProtocolError):
            table.dealer.replace(seat, "left", table.at)
    for reason, seat in (("bad-reveal", 1), ("dispute", 1), ("no-reveal", 3), ("operator", 1)):
        with pytest.raises(LocalProtocolError):
            table.dealer.void(reason, seat, table.at)  # type: ignore[arg-type]
    goes_on(table)
