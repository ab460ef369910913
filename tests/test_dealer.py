"""The server's side: what it refuses stays without effect, and a restart changes nothing."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from cheats import BadBox, Blind, void_of
from helpers import FRENCH, SEATS, SERVER, Key, Table, assert_only, found
from msgspec import UNSET

from fairdeal import sealing
from fairdeal.cards import canonical
from fairdeal.commitment import cards_commitment
from fairdeal.dealer import Dealer, Terms, bot
from fairdeal.encoding import encode
from fairdeal.errors import LocalProtocolError, MalformedError, RemoteProtocolError
from fairdeal.games import DealRules
from fairdeal.games.policies import POLICIES
from fairdeal.games.presets import S0
from fairdeal.log import Log, compacted
from fairdeal.messages import (
    Ack,
    Cards,
    Choose,
    Clock,
    Close,
    Commit,
    Deck,
    Dispute,
    Entry,
    Open,
    Pass,
    Person,
    Play,
    Replace,
    Reveal,
    Signed,
    Void,
    message,
)
from fairdeal.seat import Outgoing, Seat

H = "ab" * 32
AT = 1_700_000_000_000
ONE_HEART = Deck(packs=1, removed=tuple(f"{rank}H" for rank in "23456789TJQK"))
CHOOSING = msgspec.structs.replace(S0, moon="shooter-chooses", card_points={})
CHOOSER: dict[str, Any] = {"rules": CHOOSING, "deck": ONE_HEART, "hand": 4}


def until(people: int = 3, *, seed: Any = 0, options: Any = None, **happened: int) -> Table:
    """A table played until so many messages of a type are on the log."""
    kind, number = happened.popitem()
    return Table(people, seed=seed, **(options or {})).run(
        lambda t: sum(one.message.type == kind for one in t.log.entries) >= number
    )


def state(dealer: Dealer) -> tuple[Any, ...]:
    """Everything a dealer holds, to compare."""
    private = (dealer._seeds, dealer._dealt, dealer._kitty, dealer._passed)
    more = (dealer._cards, dealer._decided, sorted(dealer._bots))
    return dealer.log.encoded(), dealer.secret, pickle.dumps((dealer.hand, private, more))


def says(
    table: Table,
    n: int,
    body: Any,
    *,
    seen: str | None = None,
    by: str = "",
    key: Key | None = None,
) -> bytes:
    """What seat `n` signs over what it should have seen, or over `seen`."""
    said = message(by or SEATS[n], seen or table.log.hashes[table.hand.since], body)
    return Signed(message=said, sig=(key or table.keys[n]).sign(said.digest()).hex()).encoded()


def commit(**members: Any) -> Commit:
    own = sealing.public_hand_key(b"\x05" * 32).hex()
    return msgspec.structs.replace(Commit(commitment=H, hand_key=own), **members)


# -- terms ---------------------------------------------------------------------------------------


def terms(**members: Any) -> Terms:
    seats = (Person(key=Key(b"1" * 32).public.hex(), name="Ana"), bot("B"), bot("C"), bot("D"))
    base = Terms(table="t", game="g", seats=seats, rules=S0)
    return msgspec.structs.replace(base, **members)


def person(key: str, name: str = "X") -> Person:
    return Person(key=key, name=name)


SERVER_KEY = Key(b"9" * 32)
A, B = Key(b"1" * 32).public.hex(), Key(b"2" * 32).public.hex()

REFUSED_TERMS: dict[str, tuple[dict[str, Any], str]] = {
    "no table name": ({"table": ""}, "1 to 64"),
    "long game name": ({"game": "x" * 65}, "1 to 64"),
    "control character": ({"table": "a\x07"}, "U\\+0007"),
    "override in a name": ({"seats": (person(A, "a\u202eb"), bot("B"), bot("C"))}, "U\\+202E"),
    "zero width name": ({"seats": (person(A), bot("\u200b"), bot("C"))}, "U\\+200B"),
    "half a surrogate": ({"game": "\ud800"}, "U\\+D800"),
    "name is no text": ({"seats": (person(A, 7), bot("B"), bot("C"))}, "Expected `str`"),
    "one seat": ({"seats": (person(A),)}, "length >= 2"),
    "two seats for hearts": ({"seats": (person(A), bot("B"))}, "at least 3 seats"),
    "eleven seats": ({"seats": tuple(bot("B") for _ in range(11))}, "length <= 10"),
    "key is no key": ({"seats": (person("xyz"), bot("B"), bot("C"))}, "matching regex"),
    "key of small order": ({"seats": (person("01" + "00" * 31), bot("B"), bot("C"), bot("D"))}, "open-key"),
    "one key twice": ({"seats": (person(A), person(A), bot("C"), bot("D"))}, "open-key"),
    "server's key": ({"seats": (person(SERVER_KEY.public.hex()), bot("C"), bot("D"), bot("E"))}, "open-key"),
    "unknown policy": ({"seats": (person(A), bot("B", "magic/1"), bot("C"), bot("D"))}, "no policy magic/1"),
    "unknown substitute": ({"substitute": "gone/2"}, "no policy gone/2"),
    "policy's form": ({"substitute": "Low"}, "no policy Low"),
    "hand 0": ({"hand": 0}, ">= 1"),
    "attempt 0": ({"attempt": 0}, ">= 1"),
    "hand 2 of nothing": ({"hand": 2}, "open-previous"),
    "attempt 2 of nothing": ({"attempt": 2}, "open-previous"),
    "previous is no hash": ({"hand": 2, "previous": "ff"}, "matching regex"),
    "scores of three": ({"scores": (0, 0, 0)}, "open-scores"),
    "scores at first": ({"scores": (1, 0, 0, 0)}, "open-scores"),
    "scores over the end": ({"hand": 2, "previous": H, "scores": (100, 0, 0, 0)}, "open-scores"),
    "scores out of range": ({"hand": 2, "previous": H, "scores": (-(2**52), 0, 0, 0)}, "open-scores"),
    "huge score": ({"hand": 2, "previous": H, "scores": (2**53, 0, 0, 0)}, "refused"),
    "score is no number": ({"scores": ("0", 0, 0, 0)}, "refused"),
    "scores of a deal": ({"rules": DealRules(), "scores": (0, 0, 0, 0)}, "open-scores"),
    "deck does not divide": ({"deck": Deck(packs=1, removed=("2D",))}, "open-terms"),
    "deck of two forms": ({"deck": Deck(packs=1, cards=("A", "B"))}, "open-terms"),
    "deck of nine packs": ({"deck": Deck(packs=9, removed=())}, "refused"),
    "strange cards": ({"deck": Deck(cards=("A", "B", "C", "D"))}, "French cards"),
    "few cards": ({"rules": DealRules(), "deck": Deck(cards=("A", "B", "C"))}, "cannot be dealt"),
    "no rules": ({"rules": None}, "refused"),
    "negative grace": ({"clock": Clock(grace_ms=-1, reserve_ms=0)}, "refused"),
    "house is no answer": ({"house": "yes"}, "refused"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED_TERMS)
def test_terms_are_refused_with_the_reason(name: str) -> None:
    members, reason = REFUSED_TERMS[name]
    bad = terms(**members)
    before = repr(bad)
    with pytest.raises(LocalProtocolError, match=reason):
        Dealer(bad, SERVER_KEY, at=AT)
    assert repr(bad) == before
    assert Dealer(terms(), SERVER_KEY, at=AT).hand.phase.value == "commit"


@pytest.mark.parametrize("left", [(0,), (12,), (-1,), (1, 1)])
def test_left_are_seats_of_bots(left: tuple[int, ...]) -> None:
    """Who left an earlier hand has no person's seat here; the result would name it wrongly."""
    with pytest.raises(LocalProtocolError):
        Dealer(terms(left=left), SERVER_KEY, at=AT)


@pytest.mark.parametrize("at", [2**53, 2**64, 1.5])
def test_a_time_is_milliseconds_that_a_log_can_hold(at: Any) -> None:
    with pytest.raises((LocalProtocolError, ValueError)):
        Dealer(terms(), SERVER_KEY, at=at)
    table = Table(2)
    before = state(table.dealer)
    out = table.tell(0)[0]
    with pytest.raises((LocalProtocolError, ValueError)):
        table.dealer.receive(out.send, at)
    assert state(table.dealer) == before


def test_a_clock_that_went_back_dates_as_the_last_entry() -> None:
    table = Table(4)
    (entry,) = table.dealer.receive(table.tell(0)[0].send, 5)
    assert entry.at == table.log.entries[0].at
    assert table.run().verify().status == "valid"


def test_terms_of_every_kind_are_taken() -> None:
    """Scores, clock, house, listed cards, ten seats."""
    for members in (
        {"hand": 3, "previous": H, "scores": (99, -5, 0, 26)},
        {"clock": Clock(grace_ms=0, reserve_ms=0)},
        {"house": True},
        {"rules": DealRules(), "deck": Deck(cards=tuple("ABCDEFGHIJ")), "seats": tuple(bot(f"B{n}") for n in range(10))},
    ):  # fmt: skip
        dealer = Dealer(terms(**members), SERVER_KEY, at=AT)
        assert isinstance(dealer.log.entries[0].message.body, Open)


# -- what it refuses -----------------------------------------------------------------------------

Say = Callable[[Table], bytes]


def other_pass(table: Table, n: int, cards: tuple[str, ...], **members: Any) -> Pass:
    """A pass of these cards as seat `n` would seal it."""
    body = table.seats[n]._sealed_pass(Cards(cards=cards, salt=H))
    return msgspec.structs.replace(body, **members)


def foreign(table: Table, n: int) -> tuple[str, ...]:
    own = table.seats[n].cards
    return canonical([c for c in table.hand.game.deck if c not in own][:3], table.hand.game.deck)


def synced(table: Table) -> Table:
    """Every seat has heard everything; what it says to that stays with it, to be sent again."""
    for n, seat in table.seats.items():
        for entry in table.log.entries[table.heard[n] :]:
            seat.receive(entry)
        table.heard[n] = len(table.log)
    return table


def played(table: Table, n: int, *, own: bool) -> str:
    return next(card for _, by, card in table.hand.plays if (by == SEATS[n]) == own)


def on_turn(table: Table) -> int:
    turn = table.hand.tricks.turn
    assert turn is not None
    return turn


def revoking(table: Table) -> bytes:
    """The next play of a seat that could follow suit and does not."""
    n = on_turn(table)
    led = table.hand.tricks.trick[0][1][1]
    wrong = next(card for card in table.seats[n].cards if card[1] != led)
    return says(table, n, Play(card=wrong))


def can_revoke(table: Table) -> bool:
    """Whether a person on turn has cards of the suit led, and others."""
    play = table.hand.play
    if play is None or not play.trick or not play.tricks or play.turn not in table.seats:
        return False
    suits = {card[1] for card in table.seats[play.turn].cards}
    return play.trick[0][1][1] in suits and len(suits) > 1


MOMENTS: dict[str, Callable[[], Table]] = {
    "commit": lambda: Table(3),
    "committed": lambda: until(commit=2),
    "reveal": lambda: until(commit=4),
    "pass": lambda: synced(until(deal=1)),
    "begin": lambda: synced(until(4, exchange=1)),
    "play": lambda: synced(Table(3).run(can_revoke)),
    "choose": lambda: Table(4, **CHOOSER).run(lambda t: t.hand.phase.value == "choose"),
    "closed": lambda: until(close=1),
}

REFUSED: dict[str, tuple[str, Say, str, bool]] = {
    # moment, what is said, code, whether its author is named
    "server": ("commit", lambda t: says(t, 0, commit(), by=SERVER), "out-of-place", False),
    "house": ("commit", lambda t: says(t, 0, commit(), by="house"), "out-of-place", False),
    "a bot": ("commit", lambda t: says(t, 0, commit(), by="seat/3"), "out-of-place", False),
    "no seat": ("commit", lambda t: says(t, 0, commit(), by="seat/9"), "out-of-place", False),
    "another's name": ("commit", lambda t: says(t, 0, commit(), by="seat/1"), "signature-invalid", False),
    "server's key": ("commit", lambda t: says(t, 0, commit(), key=t.server), "signature-invalid", False),
    "another log": ("commit", lambda t: says(t, 0, commit(), seen=H), "seen-unknown", False),
    "too early": ("commit", lambda t: says(t, 0, Reveal(sealed="00" * 112)), "out-of-turn", True),
    "open": ("commit", lambda t: says(t, 0, t.hand.terms), "out-of-turn", True),
    "replace": ("commit", lambda t: says(t, 0, Replace(seat=1, reason="left")), "out-of-turn", True),
    "void": ("commit", lambda t: says(t, 0, void_of(t, "operator")), "out-of-turn", True),
    "dispute early": ("commit", lambda t: says(t, 0, Dispute(hand_key=H)), "out-of-turn", True),
    "no hand key": ("commit", lambda t: says(t, 0, commit(hand_key=UNSET)), "body-form", True),
    "small hand key": ("commit", lambda t: says(t, 0, commit(hand_key="00" * 32)), "commit-hand-key", True),
    "second commit": ("reveal", lambda t: says(t, 0, commit(), seen=t.log.hashes[1]), "equivocation", True),
    "old reveal": ("reveal", lambda t: says(t, 0, Reveal(sealed="00" * 112), seen=t.log.hashes[1]), "out-of-turn", True),
    "cards of others": ("pass", lambda t: says(t, 0, other_pass(t, 0, foreign(t, 0))), "pass-cards", True),
    "no box": ("pass", lambda t: says(t, 0, other_pass(t, 0, t.seats[0].cards[:3], sealed=UNSET)), "body-form", True),
    "play too early": ("pass", lambda t: says(t, 0, Play(card="2C")), "out-of-turn", True),
    "not the opening": ("begin", lambda t: says(t, 0, Play(card=t.seats[0].cards[-1])), "play-first-lead", True),
    "not its turn": ("play", lambda t: says(t, next(n for n in t.seats if n != on_turn(t)), Play(card="2C")), "out-of-turn", True),
    "no such card": ("play", lambda t: says(t, on_turn(t), Play(card="1X")), "play-unknown-card", True),
    "its card again": ("play", lambda t: says(t, on_turn(t), Play(card=played(t, on_turn(t), own=True))), "play-not-held", True),
    "a card again": ("play", lambda t: says(t, on_turn(t), Play(card=played(t, on_turn(t), own=False))), "card-twice", False),
    "revoke": ("play", revoking, "play-revoke", True),
    "not the shooter": ("choose", lambda t: says(t, (t.hand.game.moon_shooter(t.hand.tricks) + 1) % 4, Choose(moon="add")), "out-of-turn", True),
    "after the end": ("closed", lambda t: says(t, 0, Play(card="2C")), "after-end", True),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusal_has_no_effect(name: str) -> None:
    moment, say, code, named = REFUSED[name]
    table = MOMENTS[moment]()
    data = say(table)
    before = state(table.dealer)
    with pytest.raises(RemoteProtocolError) as refused:
        table.dealer.receive(data, table.at + 10**6)
    assert refused.value.code == code
    by = msgspec.json.decode(data)["by"]
    assert refused.value.culprit == (by if named else None)
    assert state(table.dealer) == before
    play_on(table)
    assert not table.rejected
    assert table.verify().status == "valid"


def test_card_of_another_seat_is_not_held() -> None:
    table = MOMENTS["play"]()
    n = on_turn(table)
    card = next(c for m in range(4) if m != n for c in table.dealer.cards_of(m))
    with pytest.raises(RemoteProtocolError, match="does not hold") as refused:
        table.dealer.receive(says(table, n, Play(card=card)), AT)
    assert (refused.value.code, refused.value.culprit) == ("play-not-held", SEATS[n])


def test_copied_commitment_is_refused() -> None:
    for moment in ("commit", "committed"):
        table = Table(3) if moment == "commit" else Table(3, house=True)
        copied = table.log.entries[1].message.body.commitment
        before = state(table.dealer)
        with pytest.raises(RemoteProtocolError, match="copied") as refused:
            table.dealer.receive(says(table, 0, commit(commitment=copied)), AT)
        assert (refused.value.code, refused.value.culprit) == ("commitment-copied", "seat/0")
        assert state(table.dealer) == before
        assert table.run().verify().status == "valid"


MALFORMED: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda _: b"",
    "cut": lambda good: good[:-1],
    "more": lambda good: good + b"x",
    "array": lambda good: b"[" + good + b"]",
    "no bytes of text": lambda good: b"\xff" + good,
    "twice a member": lambda good: b'{"by":"seat/0",' + good[1:],
    "another member": lambda good: b'{"at":1,' + good[1:],
    "unknown type": lambda good: good.replace(b'"commit"', b'"commix"'),
    "unknown party": lambda good: good.replace(b'"seat/0"', b'"seat/x"'),
    "upper case": lambda good: re.sub(b'"sig":"([^"]*)"', lambda m: m[0].upper().replace(b"SIG", b"sig"), good),
    "short signature": lambda good: re.sub(b'"sig":"..', b'"sig":"', good),
    "other body": lambda good: good.replace(b'"hand_key"', b'"hand_kex"'),
    "body is no object": lambda good: re.sub(b'"body":{[^}]*}', b'"body":7', good),
    "huge": lambda _: b" " * (16 * 2**20 + 1),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_bytes_that_are_no_message(name: str) -> None:
    table = Table(3)
    good = says(table, 0, commit())
    before = state(table.dealer)
    with pytest.raises(MalformedError) as error:
        table.dealer.receive(MALFORMED[name](good), AT)
    assert error.value.problem
    assert state(table.dealer) == before
    assert len(table.dealer.receive(good, AT)) == 1


def test_white_space_and_order_of_a_message_do_not_matter() -> None:
    table = Table(3)
    good = msgspec.json.decode(says(table, 0, commit()))
    loose = msgspec.json.format(msgspec.json.encode(dict(reversed(good.items()))))
    assert len(table.dealer.receive(loose, AT)) == 1


def test_message_that_is_there_already_gives_nothing() -> None:
    """Every message again after every step, as a seat that reconnects may send it."""
    table = Table(3)
    sent: list[bytes] = []
    while table.step():
        sent += [
            Signed(message=entry.message, sig=entry.sig or "").encoded()
            for entry in table.log.entries[len(sent) :]
            if entry.message.by in table.hand.persons
        ]
        before = state(table.dealer)
        for data in sent[-6:]:
            assert table.dealer.receive(data, AT * 2) == []
        assert state(table.dealer) == before
    assert table.verify().status == "valid"


def test_signed_values_are_taken_as_bytes_are() -> None:
    table = Table(3)
    said = message("seat/0", table.log.head, commit())
    signed = Signed(message=said, sig=table.keys[0].sign(said.digest()).hex())
    (entry,) = table.dealer.receive(signed, AT)
    assert (entry.message, entry.sig) == (said, signed.sig)


# -- what it answers with void -------------------------------------------------------------------


def seal(seat: Seat, plain: bytes, kind: str = "reveal") -> str:
    return seat._seal(kind, plain)


BAD_REVEALS: dict[str, Callable[[Seat], str]] = {
    "another seed": lambda seat: seal(seat, b"\x07" * 64),
    "half a seed": lambda seat: seal(seat, seat._seed[:32]),
    "no box": lambda _: "00" * 112,
    "a byte": lambda _: "00",
    "sealed as a pass": lambda seat: seal(seat, seat._seed, "pass"),
}


@pytest.mark.parametrize("name", BAD_REVEALS)
@pytest.mark.parametrize("last", [True, False])
def test_bad_reveal_is_answered_by_void(name: str, *, last: bool) -> None:
    class Bad(Seat):
        def _reveal(self) -> Reveal:
            return Reveal(sealed=BAD_REVEALS[name](self))

    n = 2 if last else 0
    table = Table(3, seat={n: Bad}).run()
    body = table.log.entries[-1].message.body
    assert isinstance(body, Void)
    assert (body.reason, body.seat) == ("bad-reveal", n)
    assert_only(table.verify(), "bad-reveal", SEATS[n])
    assert table.dealer.next_terms().seats[n] == bot(f"P{n}", "low/1")


def plain_pass(cards: tuple[str, ...], salt: str = H) -> bytes:
    return encode(Cards(cards=cards, salt=salt))


#: the cards that the box holds and the commitment is made to, and the box's bytes
BAD_PASSES: dict[str, Callable[[tuple[str, ...]], tuple[tuple[str, ...], bytes]]] = {
    "two cards": lambda own: (own[:2], plain_pass(own[:2])),
    "four cards": lambda own: (own[:4], plain_pass(own[:4])),
    "no order": lambda own: (own[2::-1], plain_pass(own[2::-1])),
    "one twice": lambda own: ((own[0], own[0], own[1]), plain_pass((own[0], own[0], own[1]))),
    "no card": lambda own: ((*own[:2], "1X"), plain_pass((*own[:2], "1X"))),
    "others than committed": lambda own: (own[:3], plain_pass(own[1:4])),
    "another salt": lambda own: (own[:3], plain_pass(own[:3], "cd" * 32)),
    "not canonical": lambda own: (own[:3], b" " + plain_pass(own[:3])),
    "no opening": lambda own: (own[:3], b'{"cards":[]}'),
    "no text": lambda own: (own[:3], b"\xff\xfe"),
    "nested": lambda own: (own[:3], b"[" * 4000),
    "nothing": lambda own: (own[:3], b""),
}


@pytest.mark.parametrize("name", [*BAD_PASSES, "no box"])
def test_bad_pass_is_answered_by_void(name: str) -> None:
    class Bad(Seat):
        def _sealed_pass(self, opening: Cards) -> Pass:
            if name == "no box":
                return msgspec.structs.replace(super()._sealed_pass(opening), sealed="00" * 60)
            cards, plain = BAD_PASSES[name](self.cards)
            commitment = cards_commitment(
                "pass", self.hand.hand_id, self.name, cards, bytes.fromhex(H)
            )
            return Pass(commitment=commitment.hex(), sealed=self._seal("pass", plain))

    table = Table(3, seat={1: Bad}).run()
    body = table.log.entries[-1].message.body
    assert isinstance(body, Void)
    assert (body.reason, body.seat) == ("bad-pass", 1)
    assert_only(table.verify(), "bad-pass", "seat/1")
    assert table.dealer.next_terms().left == (1,)


def test_pass_of_one_card_twice_from_a_deck_of_two_packs_is_refused() -> None:
    """The deck has the card twice, the seat but once."""
    rules = msgspec.structs.replace(S0, cancellation=True, first_lead="left-of-dealer")
    table = Table(4, rules=rules, deck=Deck(packs=2, removed=())).run(
        lambda t: t.hand.deal is not None
    )
    own = list(synced(table).seats[0].cards)
    once = [card for card in own if own.count(card) == 1][:2]
    cards = canonical((once[0], once[0], once[1]), table.hand.game.deck)
    before = state(table.dealer)
    with pytest.raises(RemoteProtocolError) as refused:
        table.dealer.receive(says(table, 0, other_pass(table, 0, cards)), AT)
    assert (refused.value.code, refused.value.culprit) == ("pass-cards", "seat/0")
    assert state(table.dealer) == before
    assert play_on(table).verify().status == "valid"


def test_dispute_is_answered_by_void() -> None:
    table = Table(4, dealer=BadBox).run()
    body = table.log.entries[-1].message.body
    assert isinstance(body, Void)
    assert (body.reason, body.seat) == ("dispute", 1)
    assert found(table.verify()) == [("dispute-founded", (SERVER,))]


@pytest.mark.parametrize("kind", ["deal", "exchange"])
def test_false_dispute_is_answered_by_void_too(kind: str) -> None:
    """The disclosed key shows whose fault it is."""
    table = until(4, **{kind: 1})
    seen = table.log.hashes[table.hand.deal if kind == "deal" else table.hand.exchange]
    claim = Dispute(hand_key=table.seats[2]._hand_key.hex())
    dispute, void = table.dealer.receive(says(table, 2, claim, seen=seen), AT)
    assert isinstance(void.message.body, Void)
    assert dispute.message.body == claim
    assert_only(table.verify(), "dispute-unfounded", "seat/2")
    assert isinstance(table.dealer.next_terms().seats[2], type(bot("B")))


# -- replace and void in every phase -------------------------------------------------------------

PHASES: dict[str, Callable[[], Table]] = {
    "nobody has committed": lambda: Table(4),
    "one has committed": lambda: _after(Table(4), 1),
    "all have committed": lambda: until(4, commit=4),
    "one has revealed": lambda: _after(until(4, commit=4), 1),
    "dealt": lambda: until(4, deal=1),
    "one has passed": lambda: _after(until(4, deal=1), 1),
    "exchanged": lambda: until(4, exchange=1),
    "begun": lambda: until(4, play=1),
    "later": lambda: until(4, play=23),
    "to choose": lambda: Table(4, **CHOOSER).run(lambda t: t.hand.phase.value == "choose"),
}


def _after(table: Table, persons: int) -> Table:
    """Only some persons answer; what the others have signed is not sent yet."""
    for n in range(persons):
        for out in table.tell(n):
            table.give(n, out)
    return table


@pytest.mark.parametrize("reason", ["left", "expelled", "unresponsive"])
@pytest.mark.parametrize("seat", range(4))
@pytest.mark.parametrize("phase", PHASES)
def test_replace_in_every_phase(phase: str, seat: int, reason: Any) -> None:
    table = PHASES[phase]()
    silent = SEATS[seat] in table.hand.revealers and SEATS[seat] not in table.hand.reveals
    entries = table.dealer.replace(seat, reason, table.at)
    assert entries == table.log.entries[-len(entries) :]
    first = entries[0].message.body
    if silent:
        expected = "no-reveal" if reason == "unresponsive" else "left"
        assert isinstance(first, Void)
        assert (first.reason, first.seat) == (expected, seat)
    else:
        assert first == Replace(seat=seat, reason=reason)
    table.run()
    verdict = table.verify()
    assert verdict.findings == ()
    assert verdict.status == ("incomplete" if silent else "valid")
    if verdict.status == "valid":
        assert SEATS[seat] not in verdict.acknowledged
        assert table.dealer.next_terms().left == (seat,)


def test_everybody_replaced() -> None:
    table = until(4, play=5)
    for seat in range(4):
        table.dealer.replace(seat, "left", table.at)
    verdict = table.verify()
    assert verdict.status == "valid"
    assert verdict.acknowledged == ()


@pytest.mark.parametrize(
    ("seat", "reason"),
    [(3, "left"), (4, "left"), (-1, "left"), (99, "left"), (0, "bored"), ("0", "left")],
)
def test_replace_of_nobody(seat: Any, reason: Any) -> None:
    table = Table(3)
    before = state(table.dealer)
    with pytest.raises(LocalProtocolError):
        table.dealer.replace(seat, reason, AT)
    assert state(table.dealer) == before


def test_replace_twice_or_after_the_end() -> None:
    table = until(play=3)
    table.dealer.replace(1, "left", AT)
    for seat in (1, 0):
        if seat == 0:
            table.run()
        before = state(table.dealer)
        with pytest.raises(LocalProtocolError):
            table.dealer.replace(seat, "left", AT)
        assert state(table.dealer) == before
    voided = Table(2)
    voided.dealer.void("operator", None, AT)
    with pytest.raises(LocalProtocolError, match="after-end"):
        voided.dealer.replace(0, "left", AT)


@pytest.mark.parametrize("phase", PHASES)
def test_void_in_every_phase(phase: str) -> None:
    """As the operator likes; once the deck is known that is a finding against the server."""
    table = PHASES[phase]()
    known = table.hand.deal is not None
    (entry,) = table.dealer.void("operator", None, table.at)
    assert isinstance(entry.message.body, Void)
    verdict = table.verify()
    assert found(verdict) == ([("void-after-reveals", (SERVER,))] if known else [])
    after = table.dealer.next_terms()
    assert (after.attempt, after.hand, after.left) == (2, table.terms.hand, ())
    assert after.previous == table.log.head
    before = state(table.dealer)
    with pytest.raises(LocalProtocolError, match="after-end|equivocation"):
        table.dealer.void("operator", None, table.at)
    assert state(table.dealer) == before


@pytest.mark.parametrize(
    ("phase", "reason", "seat"),
    [
        ("nobody has committed", "no-reveal", 0),
        ("nobody has committed", "bad-reveal", 0),
        ("nobody has committed", "dispute", 0),
        ("nobody has committed", "operator", 0),
        ("nobody has committed", "left", None),
        ("one has revealed", "no-reveal", 0),
        ("one has revealed", "bad-reveal", 1),
        ("dealt", "bad-pass", 0),
        ("begun", "dispute", None),
    ],
)
def test_void_for_a_reason_that_is_none(phase: str, reason: Any, seat: int | None) -> None:
    table = PHASES[phase]()
    before = state(table.dealer)
    with pytest.raises(LocalProtocolError, match="void-reason"):
        table.dealer.void(reason, seat, table.at)
    assert state(table.dealer) == before


def test_void_of_a_closed_hand() -> None:
    table = Table(2).run()
    before = state(table.dealer)
    with pytest.raises(LocalProtocolError):
        table.dealer.void("operator", None, AT)
    assert state(table.dealer) == before


# -- the next hand -------------------------------------------------------------------------------


def test_next_terms_while_the_hand_goes_on() -> None:
    for phase in PHASES.values():
        with pytest.raises(LocalProtocolError, match="goes on"):
            phase().dealer.next_terms()


def opened(after: Terms, table: Table) -> Dealer:
    return Dealer(after, table.server, at=table.at)


def test_next_hand_after_a_close() -> None:
    table = Table(3, clock=Clock(grace_ms=1, reserve_ms=2), house=True).run()
    after = table.dealer.next_terms()
    close = table.log.entries[table.hand.end].message.body
    assert isinstance(close, Close)
    assert (after.hand, after.attempt, after.scores) == (2, 1, close.scores)
    assert after.previous == table.log.hashes[table.hand.end]
    kept = ("table", "game", "rules", "deck", "house", "substitute", "clock", "left")
    assert all(getattr(after, name) == getattr(table.terms, name) for name in kept)
    assert opened(after, table).hand.pass_offset == 3


@pytest.mark.parametrize(
    ("phase", "reason", "seat", "gone"),
    [
        ("nobody has committed", "operator", None, ()),
        ("nobody has committed", "left", 2, (2,)),
        ("all have committed", "no-reveal", 1, (1,)),
    ],
)
def test_next_attempt_after_a_void(
    phase: str, reason: Any, seat: int | None, gone: tuple[int, ...]
) -> None:
    table = PHASES[phase]()
    table.dealer.void(reason, seat, table.at)
    after = table.dealer.next_terms()
    assert (after.hand, after.attempt, after.left) == (1, 2, gone)
    bots = tuple(n for n, one in enumerate(after.seats) if not isinstance(one, Person))
    assert bots == gone
    assert opened(after, table).hand.terms.attempt == 2


def test_next_attempt_of_a_bot_s_seat_that_is_called_left() -> None:
    """A bot stays the bot it is."""
    table = Table(3, bots="random/1")
    table.dealer.void("left", 3, table.at)
    assert table.dealer.next_terms().seats[3].policy == "random/1"


def test_who_left_stays_away_to_the_end_of_the_game() -> None:
    table = Table(4, hand=8, scores=(95, 96, 97, 98))
    table.dealer.replace(2, "left", table.at)
    table.dealer.void("operator", None, table.at)
    again = table.dealer.next_terms()
    assert again.left == (2,)
    dealer = Dealer(again, table.server, at=table.at)
    dealer.replace(0, "expelled", table.at)
    resumed = Dealer.resume(dealer.log.encoded(), dealer.secret, table.server)
    for n in (1, 3):
        resumed.replace(n, "left", table.at)
    close = resumed.log.entries[-1].message.body
    assert isinstance(close, Close)
    assert close.result is not None
    assert close.result.left == (0, 1, 2, 3)
    with pytest.raises(LocalProtocolError, match="game is over"):
        resumed.next_terms()


def test_next_terms_after_the_game() -> None:
    table = Table(4, hand=8, scores=(95, 96, 97, 98)).run()
    with pytest.raises(LocalProtocolError, match="game is over"):
        table.dealer.next_terms()


# -- restarts ------------------------------------------------------------------------------------


class Recorded(Table):
    """Remembers every seat's store as it was at each length of the log."""

    def give(self, n: int, out: Outgoing) -> list[Entry]:
        if not hasattr(self, "history"):
            self.history: list[tuple[int, dict[int, bytes]]] = [(0, {})]
        self.history.append((len(self.log), {**self.stores, n: out.store}))
        return super().give(n, out)

    def restarted(self, size: int) -> Table:
        """Everybody restarted when the log had `size` entries; nothing else is remembered."""
        twin = copy.copy(self)
        stored = Log(self.log.entries[:size])
        twin.dealer = Dealer.resume(stored.encoded(), self.dealer.secret, self.server)
        twin.stores = dict(next(s for at, s in reversed(self.history) if at <= size))
        twin.seats = {n: self._seat(n, twin.stores.get(n)) for n in self.keys}
        twin.heard = dict.fromkeys(twin.seats, 0)
        twin.refused, twin.rejected, twin.history = {}, [], [(0, {})]
        twin.dealer.proceed(twin.at)
        return twin

    def _seat(self, n: int, store: bytes | None) -> Seat:
        if store is None:
            return Seat(self.keys[n], server_key=self.server.public)
        return Seat.resume(store, self.keys[n], server_key=self.server.public)


def play_on(table: Table) -> Table:
    """To the end, and everything signed sent again where it was lost."""
    while True:
        table.run()
        waiting = [(n, out) for n, seat in table.seats.items() if (out := seat.pending())]
        if not waiting:
            return table
        for n, out in waiting:
            table.give(n, out)


@pytest.mark.parametrize(
    ("people", "options"),
    [
        (0, {"house": True, "bots": "random/1"}),
        (1, {"bots": "random/1"}),
        (3, {"house": True}),
        (2, {"bots": "random/1", **CHOOSER, "hand": 1}),
        (4, {"rules": DealRules()}),
    ],
)
def test_resume_from_every_prefix(people: int, options: dict[str, Any]) -> None:
    """The same secret goes on from any stored log to a valid hand with the same seeds."""
    table = Recorded(people, seed=("resume", people), **options)
    table.run()
    table.__dict__.setdefault("history", [(0, {})])
    close = table.log.entries[table.hand.end].message.body
    committed = max(table.hand.commits.values())
    for size in range(1, len(table.log) + 1):
        twin = play_on(table.restarted(size))
        assert not twin.rejected
        assert not twin.refused
        assert twin.log.hashes[:size] == table.log.hashes[:size]
        verdict = twin.verify()
        assert verdict.status == "valid", (size, verdict.findings)
        again = twin.log.entries[twin.hand.end].message.body
        own = [by for by in table.hand.shufflers if by not in table.hand.persons]
        assert all(again.seeds[by] == close.seeds[by] for by in own)
        if size > committed:
            assert (again.seeds, again.deals) == (close.seeds, close.deals)
        assert twin.dealer.next_terms().left == ()
        assert twin.dealer.secret == table.dealer.secret


@pytest.mark.parametrize("seat", [0, 1])
def test_resume_after_a_replacement(seat: int) -> None:
    """The substitute draws the words that it drew the first time."""
    terms_of = {"bots": "random/1"}
    table = Recorded(2, seed="replaced", **terms_of)
    table.dealer = Dealer(
        msgspec.structs.replace(table.terms, substitute="random/1"), table.server, at=table.at
    )
    table.run(lambda t: len(t.hand.plays) > 7)
    table.dealer.replace(seat, "left", table.at)
    place = len(table.log)
    table.run()
    for size in range(place - 2, len(table.log) + 1):
        twin = play_on(table.restarted(size))
        assert twin.verify().status == "valid", size


def test_resume_of_a_voided_log_says_nothing_more() -> None:
    table = Table(3)
    table.dealer.void("operator", None, AT)
    again = Dealer.resume(table.log, table.dealer.secret, table.server)
    assert again.proceed(AT) == []
    assert again.next_terms() == table.dealer.next_terms()
    assert state(again) == state(table.dealer)


def test_resume_finishes_what_was_begun() -> None:
    """Of what was stored just before a complaint was answered, the answer follows."""

    class Bad(Seat):
        def _reveal(self) -> Reveal:
            return Reveal(sealed="00" * 112)

    table = Table(3, seat={1: Bad}).run()
    cut = Log(table.log.entries[:-1])
    again = Dealer.resume(cut, table.dealer.secret, table.server)
    (entry,) = again.proceed(table.at)
    assert entry.message.body == table.log.entries[-1].message.body


def test_resume_of_nothing() -> None:
    """The secret was stored and the first entry was not: there is nothing to resume."""
    table = Table(3)
    with pytest.raises((LocalProtocolError, MalformedError)):
        Dealer.resume(Log(), table.dealer.secret, table.server)
    with pytest.raises(MalformedError):
        Dealer.resume(b'{"entries":[],"fairdeal":1}', table.dealer.secret, table.server)


def test_resume_refuses_a_forged_signature() -> None:
    """Of whichever entry, and one without any."""
    table = until(play=2)
    for place in range(len(table.log)):
        for sig in ("00" * 64, None, table.log.entries[place - 1].sig):
            bad = list(table.log.entries)
            one = bad[place]
            bad[place] = Entry(one.at, one.message, one.prev, one.seq, sig)
            with pytest.raises(LocalProtocolError, match=f"entry {place} .* not sound"):
                Dealer.resume(Log(bad), table.dealer.secret, table.server)


def test_resume_refuses_a_broken_or_bent_log() -> None:
    table = until(play=2)
    entries = table.log.entries
    swapped = [*entries[:3], entries[4], entries[3], *entries[5:]]
    for bad in (entries[1:], [*entries[:2], *entries[3:]], swapped, [*entries, entries[-1]]):
        with pytest.raises(LocalProtocolError, match="not sound"):
            Dealer.resume(Log(bad), table.dealer.secret, table.server)
    bend = table.bend()
    bend.one("exchange").change(hands=())
    with pytest.raises(LocalProtocolError, match="not sound"):
        Dealer.resume(bend.build(), table.dealer.secret, table.server)
    keys = [table.hand.key_of(entry.message.by) for entry in entries]
    small = compacted(table.log, keys)
    with pytest.raises(LocalProtocolError, match="not sound"):
        Dealer.resume(small, table.dealer.secret, table.server)


def test_resume_refuses_another_key_or_secret() -> None:
    table, other = until(play=2), until(play=2, seed="other")
    for secret, key in (
        (table.dealer.secret, other.server),
        (other.dealer.secret, table.server),
        (other.dealer.secret, other.server),
    ):
        with pytest.raises(LocalProtocolError):
            Dealer.resume(table.log, secret, key)
    same_key = Dealer(table.terms, table.server, at=AT)
    with pytest.raises(LocalProtocolError, match="other keys"):
        Dealer.resume(table.log, same_key.secret, table.server)


@pytest.mark.parametrize("data", [b"", b"{}", b"\x00", b'{"fairdeal":1}'])
def test_resume_refuses_bytes_that_are_no_secret(data: bytes) -> None:
    table = Table(2)
    with pytest.raises(MalformedError):
        Dealer.resume(table.log, data, table.server)
    with pytest.raises(MalformedError):
        Dealer.resume(data, table.dealer.secret, table.server)
    with pytest.raises(MalformedError):
        Dealer.resume(table.dealer.secret, table.log.encoded(), table.server)


# -- questions -----------------------------------------------------------------------------------


def test_awaited() -> None:
    table = Table(3)
    assert table.dealer.awaited() == (("commit", 0), ("commit", 1), ("commit", 2))
    _after(table, 1)
    assert table.dealer.awaited() == (("commit", 1), ("commit", 2))
    assert until(commit=4).dealer.awaited() == (("reveal", 0), ("reveal", 1), ("reveal", 2))
    table = until(deal=1)
    assert table.dealer.awaited() == (("pass", 0), ("pass", 1), ("pass", 2))
    table.dealer.replace(1, "left", table.at)
    assert table.dealer.awaited() == (("pass", 0), ("pass", 2))
    for seed in range(4):
        table = until(4, seed=seed, exchange=1)
        holder = next(n for n in range(4) if "2C" in table.dealer.cards_of(n))
        assert table.dealer.awaited() == (("play", holder),)
    table = until(3, play=9)
    assert table.dealer.awaited() == (("play", on_turn(table)),)
    table = MOMENTS["choose"]()
    assert table.dealer.awaited() == (("choose", table.hand.game.moon_shooter(table.hand.tricks)),)
    table = until(close=1)
    assert table.dealer.awaited() == (("ack", 0), ("ack", 1), ("ack", 2))
    assert table.run().dealer.awaited() == ()


def test_cards_of() -> None:
    table = Table(3)
    assert table.dealer.cards_of(0) == ()
    table = synced(until(play=9))
    for n, seat in table.seats.items():
        assert canonical(table.dealer.cards_of(n), table.hand.game.deck) == seat.cards
    assert len(table.dealer.cards_of(3)) in (10, 11)


def test_bots_of_a_policy_of_one_s_own() -> None:
    """Whoever registers it may use it; a verifier that does not know it says so."""
    mine = {**POLICIES, "mine/1": POLICIES["low/1"]}
    seats = tuple(bot(f"B{n}", "mine/1") for n in range(4))
    dealer = Dealer(terms(seats=seats), SERVER_KEY, at=AT, policies=mine)
    assert dealer.hand.phase.value == "closed"
    again = Dealer.resume(Log(dealer.log.entries[:30]), dealer.secret, SERVER_KEY, policies=mine)
    assert again.proceed(AT)[-1].message.body == dealer.log.entries[-1].message.body


# -- secrets -------------------------------------------------------------------------------------


def secrets_of(table: Table) -> set[str]:
    """All that must never show, in hexadecimal, as long as nobody has disclosed it."""
    words = set(re.findall(r"[0-9a-f]{64,}", table.dealer.secret.decode()))
    words |= {key.private_bytes().hex() for key in table.secrets.values()}
    for seat in table.seats.values():
        words |= {seat._seed.hex(), seat._hand_key.hex(), seat._pass_salt}
    return words


def shows(text: str, words: set[str], length: int = 16) -> bool:
    """Whether a text has as many digits in a row of a secret."""
    return any(
        word[at : at + length] in text for word in words for at in range(len(word) - length + 1)
    )


def test_secrets_do_not_show_in_a_repr() -> None:
    table = until(play=3)
    words = secrets_of(table)
    assert len(words) > 20
    assert shows(table.dealer.secret.decode(), words)
    said: list[Any] = []
    table.run(lambda t: len(t.hand.plays) >= 8)
    for n, seat in table.seats.items():
        record = seat._remember()
        said += [seat, record, Outgoing(table.stores[n], b"{}"), table.keys[n], [seat], {1: record}]
    said += [table.dealer, table.dealer._secret, table.server, table.hand, (table.dealer,)]
    for one in said:
        assert not shows(repr(one) + str(one), words), type(one)


def test_secrets_do_not_show_in_an_error() -> None:
    """Every way to be refused that this file and the seats' know, and every byte of a store changed."""
    texts: list[str] = []
    words: set[str] = set()
    for moment, say, _, _ in REFUSED.values():
        table = MOMENTS[moment]()
        words |= secrets_of(table)
        with pytest.raises(RemoteProtocolError) as error:
            table.dealer.receive(say(table), AT)
        texts += [str(error.value), repr(error.value), repr(error.value.__cause__)]
    for calls in (
        lambda: table.dealer.void("dispute", 1, AT),
        lambda: table.dealer.replace(9, "left", AT),
        MOMENTS["play"]().dealer.next_terms,
        lambda: Dealer.resume(table.log.encoded(), table.dealer.secret, Key(b"0" * 32)),
    ):
        with pytest.raises(LocalProtocolError) as local:
            calls()
        texts += [str(local.value), repr(local.value.__context__)]
    assert not shows(" ".join(texts), words)


@pytest.mark.parametrize("whose", ["dealer", "seat"])
def test_secrets_do_not_show_where_a_store_is_damaged(whose: str) -> None:
    table = until(1, deal=1)
    secret = table.dealer.secret if whose == "dealer" else table.seats[0].record
    words = secrets_of(table)
    for place in range(0, len(secret), 7 if whose == "dealer" else 5):
        for bad in (
            secret[:place] + secret[place + 1 :],
            secret[:place],
            secret[:place] + b"'" + secret[place + 1 :],
            secret[:place] + secret[place : place + 1] * 2 + secret[place + 1 :],
        ):
            try:
                if whose == "dealer":
                    Dealer.resume(table.log, bad, table.server)
                else:
                    Seat.resume(bad, table.keys[0])
            except (LocalProtocolError, MalformedError) as error:
                assert not shows(str(error), words), (place, str(error))


def test_wrong_store_is_refused_in_plain_words() -> None:
    """A cheat's dealer, for comparison, is no other: it resumes from its own log too."""
    table = Table(4, dealer=Blind).run()
    again = Dealer.resume(table.log.encoded(), table.dealer.secret, table.server)
    assert again.hand.phase is table.hand.phase
    assert again.proceed(AT) == []
    assert Ack() == table.log.entries[-1].message.body
    assert table.terms.deck == FRENCH
