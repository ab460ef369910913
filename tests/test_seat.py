"""A person's side: what it refuses, what it disputes, and that it never says two things."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import pytest
from helpers import SEATS, SERVER, Key, Table, assert_only
from test_dealer import CHOOSER, H, play_on, shows, synced, until

from fairdeal import sealing, verify
from fairdeal.cards import canonical
from fairdeal.commitment import cards_commitment
from fairdeal.dealer import Dealer
from fairdeal.encoding import encode
from fairdeal.errors import LocalProtocolError, MalformedError, RemoteProtocolError
from fairdeal.games import DealRules
from fairdeal.log import Log, read_message
from fairdeal.messages import (
    Ack,
    Cards,
    Choose,
    Close,
    Deck,
    Dispute,
    Entry,
    Pass,
    Play,
    Replace,
    Reveal,
    Share,
    Void,
    message,
)
from fairdeal.record import read_record, write_record
from fairdeal.seat import Outgoing, Seat


def state(seat: Seat) -> tuple[Any, ...]:
    """Everything a seat holds, to compare."""
    own = (seat.seat, seat._sent, seat._dealt, seat._passed, seat._received, seat._seed)
    return seat.log.encoded(), pickle.dumps(seat.hand), pickle.dumps(own)


def make(
    table: Table,
    by: str,
    body: Any,
    *,
    seen: str | None = None,
    key: Key | None = None,
    **members: Any,
) -> Entry:
    """The next entry, signed by who should sign it or by `key`, and then changed."""
    said = message(by, seen or table.log.head, body)
    own = by in table.hand.persons
    signer = key or (table.keys[int(by[-1])] if own else table.server)
    sig = signer.sign(said.digest()).hex()
    entry = Entry(
        at=table.log.last_at, message=said, prev=table.log.head, seq=len(table.log), sig=sig
    )
    return msgspec.structs.replace(entry, **members)


def following(table: Table, **members: Any) -> Entry:
    """The next entry, of another seat than 1, changed; the dealer has taken the true one."""
    for n, seat in table.seats.items():
        out = None if n == 1 else seat.pending() or table.decide(n)
        entries = table.dealer.receive(out.send, table.at) if out else []
        if entries:
            return msgspec.structs.replace(entries[0], **members)
    raise AssertionError("somebody else has something to say")


# -- what it refuses -----------------------------------------------------------------------------


def closing(table: Table, **members: Any) -> Entry:
    """The close of a table whose last card was just played, with other members."""
    end = table.hand.end
    body = msgspec.structs.replace(table.log.entries[end].message.body, **members)
    before = Log(table.log.entries[:end])
    said = message(SERVER, before.head, body)
    sig = table.server.sign(said.digest()).hex()
    return Entry(table.log.entries[end].at, said, before.head, end, sig)


def close_of(table: Table) -> Close:
    return table.log.entries[table.hand.end].message.body


def other(cards: tuple[Cards, ...], n: int) -> tuple[Cards, ...]:
    """The openings with another salt at seat `n`."""
    return (*cards[:n], msgspec.structs.replace(cards[n], salt="cd" * 32), *cards[n + 1 :])


def before_close() -> Table:
    """Closed, and no seat has heard of it."""
    table = until(close=1)
    for n, seat in table.seats.items():
        for entry in table.log.entries[table.heard[n] : table.hand.end]:
            seat.receive(entry)
        table.heard[n] = table.hand.end
    return table


def not_mine(table: Table) -> str:
    """The seat on turn is not seat 1."""
    return SEATS[table.hand.tricks.turn]


def midway() -> Table:
    """In the play, and another seat than 1 is on turn."""
    table = Table(4).run(lambda t: len(t.hand.plays) > 9 and t.hand.tricks.turn not in (None, 1))
    return synced(table)


REFUSED: dict[str, tuple[Callable[[], Table], Callable[[Table], Entry], str, str | None]] = {
    # table, entry, code, culprit; always at seat 1
    "unsigned": (midway, lambda t: following(t, sig=None), "signature-invalid", None),
    "wrong signature": (midway, lambda t: following(t, sig="00" * 64), "signature-invalid", None),
    "signed by another": (midway, lambda t: make(t, "seat/0", Ack(), key=t.keys[2]), "signature-invalid", None),
    "wrong link": (midway, lambda t: following(t, prev=H), "chain-prev", None),
    "wrong number": (midway, lambda t: following(t, seq=999), "chain-seq", None),
    "dated back": (midway, lambda t: following(t, at=5), "chain-time", None),
    "one left out": (lambda: synced(until(commit=4)), lambda t: (following(t), following(t))[1], "chain-prev", None),
    "fork": (midway, lambda t: msgspec.structs.replace(t.log.entries[4], at=5), "record-head", None),
    "fork of open": (midway, lambda t: msgspec.structs.replace(t.log.entries[0], prev=H), "record-head", None),
    "in its own name": (lambda: synced(until(commit=4)), lambda t: make(t, "seat/1", Reveal(sealed="00" * 112)), "record-message", None),
    "server out of turn": (midway, lambda t: make(t, SERVER, Ack()), "out-of-turn", SERVER),
    "server over an older entry": (midway, lambda t: make(t, SERVER, Replace(seat=0, reason="left"), seen=t.log.hashes[3]), "seen-not-previous", None),
    "person out of turn": (midway, lambda t: make(t, "seat/0", Choose(moon="add")), "out-of-turn", "seat/0"),
    "person over another log": (midway, lambda t: make(t, "seat/0", Play(card="2C"), seen=H), "seen-unknown", None),
    "card in its own hand": (midway, lambda t: make(t, not_mine(t), Play(card=t.seats[1].cards[0])), "card-twice", None),
    "void without reason": (midway, lambda t: make(t, SERVER, Void(hand_key=H, reason="left", seat=9, seeds={})), "void-reason", SERVER),
    "close with another seed": (before_close, lambda t: closing(t, seeds={**close_of(t).seeds, "seat/1": "00" * 64}), "record-seed", SERVER),
    "close with another hand": (before_close, lambda t: closing(t, deals=other(close_of(t).deals, 1)), "record-cards", SERVER),
    "close with other cards received": (before_close, lambda t: closing(t, exchanges=other(close_of(t).exchanges, 1)), "record-cards", SERVER),
    "close with other cards passed": (before_close, lambda t: closing(t, passes=other(close_of(t).passes, 1)), "record-cards", SERVER),
    "close without its seed": (before_close, lambda t: closing(t, seeds={}), "close-form", SERVER),
}  # fmt: skip


@pytest.mark.parametrize("as_bytes", [True, False])
@pytest.mark.parametrize("name", REFUSED)
def test_refusal_has_no_effect(name: str, *, as_bytes: bool) -> None:
    begin, make_entry, code, culprit = REFUSED[name]
    table = begin()
    entry = make_entry(table)
    seat = table.seats[1]
    before = state(seat)
    with pytest.raises(RemoteProtocolError) as refused:
        seat.receive(entry.encoded() if as_bytes else entry)
    assert (refused.value.code, refused.value.culprit) == (code, culprit)
    assert state(seat) == before
    play_on(table)
    assert not table.refused
    assert table.verify(record=seat.record).status == "valid"


def test_other_seats_are_not_asked_about_a_close() -> None:
    """What it does not remember it cannot refuse; the verifier does."""
    table = before_close()
    entry = closing(table, seeds={**close_of(table).seeds, "seat/2": "00" * 64})
    assert table.seats[1].receive(entry) is not None
    with pytest.raises(RemoteProtocolError, match="another seed"):
        table.seats[2].receive(entry)


def test_close_of_a_seat_that_was_replaced_before_it_revealed_nothing() -> None:
    """Its seed is the server's: the person's own was never used."""
    table = Table(3)
    out = table.seats[1].receive(table.log.entries[0])
    assert out is None  # the bots commit first
    table.dealer.replace(1, "left", table.at)
    table.run()
    assert not table.refused
    assert table.seats[1].cards == ()
    assert table.seats[1].log.head == table.log.head
    assert table.seats[1].hand.phase.value == "closed"


def test_first_entry_is_an_open() -> None:
    table = Table(4)
    seat = table.seats[1]
    before = state(seat)
    entry = make(table, SERVER, Ack(), prev="0" * 64, seq=0)
    with pytest.raises(RemoteProtocolError, match="begins with open") as refused:
        seat.receive(entry)
    assert refused.value.code == "out-of-turn"
    assert state(seat) == before
    with pytest.raises(LocalProtocolError):
        _ = seat.record


def test_pinned_server() -> None:
    table = Table(4)
    seat = Seat(table.keys[1], server_key=Key(b"0" * 32).public)
    with pytest.raises(RemoteProtocolError) as refused:
        seat.receive(table.log.entries[0])
    assert (refused.value.code, refused.value.culprit) == ("pin-server-key", None)
    assert seat.name == ""
    assert Seat(table.keys[1]).receive(table.log.entries[0]) is not None


def test_not_seated() -> None:
    table = Table(3)
    for key in (Key(b"0" * 32), table.server):
        seat = Seat(key, server_key=table.server.public)
        with pytest.raises(RemoteProtocolError) as refused:
            seat.receive(table.log.entries[0])
        assert refused.value.code == "pin-seat-key"
        assert len(seat.log) == 0


def test_open_that_deviates_is_refused() -> None:
    bend = Table(4).bend().cut(1)
    key = bend.keys["seat/1"]
    bend[0].change(deck=Deck(packs=1, removed=("2D",)))
    with pytest.raises(RemoteProtocolError) as refused:
        Seat(key).receive(bend.build().entries[0])
    assert (refused.value.code, refused.value.culprit) == ("open-terms", SERVER)


@pytest.mark.parametrize("change", [b"", b"{}", b"[1]", b"\xff", b'{"entries":[]}', b"upper case"])
def test_bytes_that_are_no_entry(change: bytes) -> None:
    table = midway()
    seat = table.seats[1]
    if change == b"upper case":
        last = table.log.entries[-1]
        change = last.encoded().replace(last.prev.encode(), last.prev.upper().encode())
    before = state(seat)
    with pytest.raises(MalformedError):
        seat.receive(change)
    assert state(seat) == before


def test_entries_it_has_are_passed_over() -> None:
    table = midway()
    seat = table.seats[1]
    before = state(seat)
    for entry in table.log.entries:
        assert seat.receive(entry.encoded()) is None
    assert state(seat) == before


def test_own_words_come_back() -> None:
    """Its own entry must be what it stored; the same words signed again are the same words."""
    table = synced(until(commit=4))
    own = table.seats[1].pending()
    assert own is not None
    (entry,) = table.dealer.receive(own.send, table.at)[:1]
    twin = Seat.resume(table.seats[1].record, table.keys[1])
    for one in table.log.entries:
        twin.receive(one)
    assert twin.log.head == table.log.head
    assert entry.message.by == "seat/1"


def test_server_speaks_for_a_seat_that_was_replaced() -> None:
    table = synced(until(play=9))
    table.dealer.replace(1, "left", table.at)
    seat = table.seats[1]
    for entry in table.log.entries[table.heard[1] :]:
        assert seat.receive(entry) is None
    assert (seat.cards, seat.turn, seat.legal(), seat.pending()) == ((), None, (), None)
    with pytest.raises(LocalProtocolError):
        seat.play("2C")


# -- what it disputes ----------------------------------------------------------------------------

Boxed = tuple[tuple[str, ...], bytes | None, tuple[str, ...] | None]


class Bent(NamedTuple):
    """What a box holds: the cards committed to, and the plaintext; None: no box at all."""

    committed: tuple[str, ...]
    plain: bytes | None
    salt: str = H


def opening(cards: tuple[str, ...], salt: str = H) -> bytes:
    return encode(Cards(cards=cards, salt=salt))


def bent_deal(name: str, cards: tuple[str, ...]) -> Bent:
    return {
        "does not open": Bent(cards, None),
        "other cards": Bent(cards, opening(cards[::-1])),
        "other salt": Bent(cards, opening(cards, "cd" * 32)),
        "one too few": Bent(cards[1:], opening(cards[1:])),
        "one too many": Bent((*cards, "2C"), opening((*cards, "2C"))),
        "none": Bent((), opening(())),
        "not canonical": Bent(cards, opening(cards) + b" "),
        "other order of members": Bent(
            cards, b'{"salt":"%b","cards":%b}' % (H.encode(), encode(cards))
        ),
        "no opening": Bent(cards, b'{"cards":7}'),
        "no text": Bent(cards, b"\xff"),
        "nested": Bent(cards, b"[" * 4000),
        "card of no deck": Bent((*cards[1:], "1X"), opening((*cards[1:], "1X"))),
        "one card twice": Bent((*cards[1:], cards[1]), opening((*cards[1:], cards[1]))),
    }[name]


def bent_exchange(name: str, cards: tuple[str, ...], dealt: tuple[str, ...]) -> Bent:
    if name == "no order":
        return Bent(cards[::-1], opening(cards[::-1]))
    if name == "a card it was dealt":
        mixed = tuple(sorted((*cards[1:], dealt[0]), key=DECK.index))
        return Bent(mixed, opening(mixed))
    return bent_deal(name, cards)


DECK = tuple(rank + suit for suit in "CDHS" for rank in "23456789TJQKA")
DEALS = (
    *("does not open", "other cards", "other salt", "one too few", "one too many", "none"),
    *("not canonical", "other order of members", "no opening", "no text", "nested"),
    *("card of no deck", "one card twice"),
)
EXCHANGES = (*DEALS, "no order", "a card it was dealt")


def bent_box(kind: str, name: str) -> type[Dealer]:
    class BentBox(Dealer):
        def _share(self, of: str, by: str, cards: Any) -> Share:
            share = super()._share(of, by, cards)
            if (of, by) != (kind, "seat/1"):
                return share
            bent = (
                bent_deal(name, tuple(cards))
                if kind == "deal"
                else bent_exchange(name, tuple(cards), self._dealt[1])
            )
            commitment = cards_commitment(
                kind, self.hand.hand_id, by, bent.committed, bytes.fromhex(bent.salt)
            )
            key = bytes.fromhex(str(self._commit_of(by).hand_key))
            info = sealing.info(kind, self.hand.hand_id, by, SERVER)
            box = b"\x00" * 80 if bent.plain is None else sealing.seal(bent.plain, key, info)
            return Share(commitment=commitment.hex(), sealed=box.hex())

    return BentBox


KINDS = [*(("deal", name) for name in DEALS), *(("exchange", name) for name in EXCHANGES)]


@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_box_that_cannot_be_used_is_disputed(kind: str, name: str) -> None:
    table = Table(3, dealer=bent_box(kind, name)).run()
    dispute, void = (entry.message for entry in table.log.entries[-2:])
    assert isinstance(dispute.body, Dispute)
    assert dispute.by == "seat/1"
    assert isinstance(void.body, Void)
    assert void.body.reason == "dispute"
    seat = table.seats[1]
    assert dispute.body.hand_key == read_record(seat.record).hand_key
    verdict = table.verify()
    assert_only(verdict, "dispute-founded", SERVER)
    assert verify(table.log.encoded(), record=seat.record).culprits == (SERVER,)
    assert seat.pending() is None
    assert seat.turn is None


@pytest.mark.parametrize("kind", ["deal", "exchange"])
def test_dispute_is_said_once_and_again_after_a_restart(kind: str) -> None:
    """And while it is on its way the seat asks its caller for nothing."""
    table = Table(3, dealer=bent_box(kind, "other cards"))
    seat, said = table.seats[1], []
    while not (table.hand.deal if kind == "deal" else table.hand.exchange):
        table.step()
    while table.heard[1] < len(table.log):
        out = seat.receive(table.log.entries[table.heard[1]])
        table.heard[1] += 1
        said += [out] if out else []
    (out,) = said
    assert isinstance(read_message(out.send).message.body, Dispute)
    assert seat.pending().send == out.send
    again = Seat.resume(out.store, table.keys[1], server_key=table.server.public)
    for entry in table.log.entries:
        assert again.receive(entry) is None
    assert again.pending().send == out.send
    for one in (seat, again):
        assert one.turn is None
        assert one.legal() == ()
        for speak in (
            lambda one=one: one.pass_cards(one.cards[:3]),
            lambda one=one: one.play("2C"),
            lambda one=one: one.choose("add"),
        ):
            with pytest.raises(LocalProtocolError):
                speak()


def test_seat_whose_dispute_is_ignored_goes_no_further() -> None:
    """The server plays on without it; the seat follows, says nothing more, and keeps the proof."""

    class Deaf(bent_box("deal", "other cards")):  # type: ignore[misc]
        def receive(self, data: Any, at: int) -> list[Entry]:
            said = read_message(data).message
            return [] if isinstance(said.body, Dispute) else super().receive(data, at)

    table = Table(3, dealer=Deaf).run()
    assert table.hand.phase.value == "pass"
    seat = table.seats[1]
    own = seat.pending()
    assert own is not None
    assert isinstance(read_message(own.send).message.body, Dispute)
    table.dealer.replace(1, "unresponsive", table.at)
    table.run()
    assert table.hand.phase.value == "closed"
    verdict = table.verify(record=seat.record)
    assert "record-message" in [one.code for one in verdict.findings]


def test_watcher_disputes_nothing() -> None:
    table = Table(3, dealer=bent_box("deal", "does not open")).run(
        lambda t: t.hand.deal is not None
    )
    seat = Seat.watch(table.keys[1])
    for entry in table.log.entries:
        assert seat.receive(entry) is None
    assert seat.pending() is None


# -- it remembers before it sends ----------------------------------------------------------------


class Sent(NamedTuple):
    n: int
    size: int
    out: Outgoing


class Watched(Table):
    """Keeps everything that was said, with the length of the log its author had."""

    def tell(self, n: int) -> list[Outgoing]:
        self.__dict__.setdefault("sent", [])
        said = super().tell(n)
        self.sent += [Sent(n, len(self.seats[n].log), out) for out in said]
        return said


def watched(**options: Any) -> Watched:
    table = Watched(2, **{"bots": "random/1", **options})
    table.run()
    return table


def test_store_holds_the_message_before_it_is_sent() -> None:
    table = watched(**CHOOSER, seed=1)
    kinds = set()
    for n, size, out in table.sent:
        record = read_record(out.store)
        said = read_message(out.send)
        assert record.messages()[-1] == said
        assert (record.seat, record.key) == (n, table.keys[n].public.hex())
        assert record.head.seq < size
        assert table.log.hashes[record.head.seq] == record.head.hash
        assert write_record(record) == out.store
        kinds.add(said.message.type)
    assert kinds >= {"commit", "reveal", "play", "ack"}


@pytest.mark.parametrize("options", [{}, {**CHOOSER, "seed": 1}, {"rules": DealRules()}])
def test_resumed_seat_says_the_same_again_and_nothing_else(options: Any) -> None:
    table = watched(**options)
    assert {one.n for one in table.sent} == {0, 1}
    for n, size, out in table.sent:
        seat = Seat.resume(out.store, table.keys[n], server_key=table.server.public)
        head = read_record(out.store).head.seq
        for entry in table.log.entries[: head + 1]:
            assert seat.pending() is None, "shown a shorter log it stays silent"
            assert (seat.turn, seat.legal()) == (None, ())
            assert not len(seat.log) or seat.record == out.store, "and forgets nothing"
            assert seat.receive(entry) is None, "it has said it already"
        again = seat.pending()
        assert again is not None
        assert again.send == out.send
        assert again.store == out.store
        _says_nothing_else(seat, out)
        assert size > head
        _refuses_what_it_has_not_stored(seat, table.log.entries[head + 1 :])


def _refuses_what_it_has_not_stored(seat: Seat, entries: list[Entry]) -> None:
    """A store older than the last message is not the last store: the seat knows nothing of it."""
    for entry in entries:
        own = {one.message.digest() for one in read_record(seat.record).messages()}
        if entry.message.by == seat.name and entry.message.digest() not in own:
            with pytest.raises(RemoteProtocolError) as refused:
                seat.receive(entry)
            assert refused.value.code == "record-message"
            return
        seat.receive(entry)


def _says_nothing_else(seat: Seat, out: Outgoing) -> None:
    """Another message of the type in the same place is refused; the same gives the same bytes."""
    said = read_message(out.send).message
    assert seat.turn is None
    if isinstance(said.body, Pass):
        passed = seat._passed.cards
        others = canonical([c for c in seat.cards if c not in passed][:3], seat.hand.game.deck)
        with pytest.raises(LocalProtocolError, match="other cards already"):
            seat.pass_cards(others)
        assert seat.pass_cards(passed[::-1]).send == out.send
    elif isinstance(said.body, Play):
        for card in seat.legal():
            if card == said.body.card:
                assert seat.play(card).send == out.send
            else:
                with pytest.raises(LocalProtocolError, match="another play"):
                    seat.play(card)
    elif isinstance(said.body, Choose):
        assert seat.choose(said.body.moon).send == out.send
        with pytest.raises(LocalProtocolError, match="another choose"):
            seat.choose("subtract" if said.body.moon == "add" else "add")


@pytest.mark.parametrize("options", [{}, {**CHOOSER, "seed": 1}])
def test_resumed_seat_follows_to_the_end(options: Any) -> None:
    table = watched(**options)
    for n in table.seats:
        last = [one for one in table.sent if one.n == n][-1]
        seat = Seat.resume(last.out.store, table.keys[n])
        for entry in table.log.entries:
            assert seat.receive(entry) is None
        assert seat.pending() is None
        assert seat.record == table.seats[n].record
        assert seat.cards == ()


def test_record_follows_the_log() -> None:
    table = synced(until(play=9))
    seat = table.seats[1]
    assert read_record(seat.record).head.seq == len(table.log) - 1
    assert table.verify(record=seat.record).findings == ()


def test_resume_refuses_another_key_or_hand() -> None:
    table, elsewhere = synced(until(deal=1)), synced(until(deal=1, seed="other"))
    store = table.seats[1].record
    with pytest.raises(LocalProtocolError, match="another seat's key"):
        Seat.resume(store, table.keys[0])
    seat = Seat.resume(store, table.keys[1])
    again = Dealer(table.terms, table.server, at=table.at)
    with pytest.raises(LocalProtocolError, match="another hand"):
        seat.receive(again.log.entries[0])
    assert len(seat.log) == 0
    for entry in table.log.entries:
        seat.receive(entry)
    assert seat.cards == table.seats[1].cards
    with pytest.raises(RemoteProtocolError):
        Seat.resume(store, table.keys[1]).receive(elsewhere.log.entries[0])


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"entries":[],"fairdeal":1}'])
def test_resume_refuses_what_is_no_record(data: bytes) -> None:
    with pytest.raises(MalformedError):
        Seat.resume(data, Key(b"0" * 32))


def test_resume_refuses_a_record_of_messages_that_are_none() -> None:
    record = read_record(synced(until(deal=1)).seats[1].record)
    bad = write_record(msgspec.structs.replace(record, sent=(msgspec.Raw(b'{"by":"seat/1"}'),)))
    with pytest.raises(MalformedError, match="damaged"):
        Seat.resume(bad, Key(b"0" * 32))


def test_resumed_seat_is_shown_a_fork_at_its_head() -> None:
    """The entry it had seen last is another: it signs nothing over that."""
    table = synced(until(commit=4))
    store = table.seats[1].record
    head = len(table.log) - 1
    seat = Seat.resume(store, table.keys[1])
    for entry in table.log.entries[:head]:
        seat.receive(entry)
    before = state(seat)
    last = table.log.entries[head]
    with pytest.raises(RemoteProtocolError, match="compare copies") as refused:
        seat.receive(msgspec.structs.replace(last, at=last.at + 1))
    assert refused.value.code == "record-head"
    assert state(seat) == before
    assert seat.receive(last) is None
    assert seat.pending() is not None


# -- a seat without its store --------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {**CHOOSER, "seed": 1}])
def test_watcher_never_speaks(options: Any) -> None:
    table = watched(**options)
    for n in table.seats:
        seat = Seat.watch(table.keys[n], server_key=table.server.public)
        for entry in table.log.entries:
            assert seat.receive(entry) is None
            assert (seat.turn, seat.legal(), seat.pending()) == (None, (), None)
            assert seat.cards == ()
            for speak in (
                lambda seat=seat: seat.pass_cards(("2C", "3C", "4C")),
                lambda seat=seat: seat.play("2C"),
                lambda seat=seat: seat.choose("add"),
                lambda seat=seat: seat.record,
            ):
                with pytest.raises(LocalProtocolError):
                    speak()
        assert seat.log.head == table.log.head


def test_watcher_refuses_what_deviates() -> None:
    table = midway()
    seat = Seat.watch(table.keys[1], server_key=table.server.public)
    for entry in table.log.entries:
        seat.receive(entry)
    before = state(seat)
    for name in ("unsigned", "wrong link", "server out of turn"):
        with pytest.raises(RemoteProtocolError):
            seat.receive(REFUSED[name][1](midway()))
    assert state(seat) == before
    with pytest.raises(RemoteProtocolError):
        Seat.watch(table.keys[1], server_key=Key(b"0" * 32).public).receive(table.log.entries[0])


# -- misuse --------------------------------------------------------------------------------------


MISUSES: dict[str, Callable[[Seat], Any]] = {
    "pass": lambda seat: seat.pass_cards(("2C", "3C", "4C")),
    "play": lambda seat: seat.play("2C"),
    "choose": lambda seat: seat.choose("add"),
}


@pytest.mark.parametrize("what", MISUSES)
@pytest.mark.parametrize("moment", ["before open", "commit", "reveal", "closed"])
def test_speaking_at_the_wrong_time(moment: str, what: str) -> None:
    table = {
        "before open": lambda: Table(3),
        "commit": lambda: synced(Table(3)),
        "reveal": lambda: synced(until(commit=4)),
        "closed": lambda: Table(3).run(),
    }[moment]()
    seat = table.seats[1]
    before = state(seat)
    with pytest.raises(LocalProtocolError):
        MISUSES[what](seat)
    assert state(seat) == before


@pytest.mark.parametrize(
    "pick",
    [
        lambda own, _: own[:2],
        lambda own, _: own[:4],
        lambda own, others: (*own[:2], others[0]),
        lambda own, _: (own[0], own[0], own[1]),
        lambda own, _: (*own[:2], "1X"),
        lambda *_: (),
    ],
)
def test_cards_that_cannot_be_passed(pick: Any) -> None:
    table = synced(until(deal=1))
    seat = table.seats[1]
    own = seat.cards
    others = [card for card in seat.hand.game.deck if card not in own]
    before = state(seat)
    with pytest.raises(LocalProtocolError, match="3 of the seat's own cards"):
        seat.pass_cards(pick(own, others))
    assert state(seat) == before
    seat.pass_cards(list(own[:3]))
    with pytest.raises(LocalProtocolError, match="other cards already"):
        seat.pass_cards(own[3:6])


def test_cards_that_may_not_be_played() -> None:
    table = Table(4).run(lambda t: t.hand.play is not None and t.hand.tricks.turn == 1)
    seat = synced(table).seats[1]
    assert seat.turn == "play"
    before = state(seat)
    legal = seat.legal()
    for card in (*(c for c in seat.hand.game.deck if c not in legal), "1X", "", "\x1b[2J"):
        with pytest.raises(LocalProtocolError, match="no card that this seat may play") as error:
            seat.play(card)
        assert "\x1b" not in str(error.value)
    assert state(seat) == before
    out = seat.play(legal[-1])
    assert seat.play(legal[-1]) == out
    for card in legal[:-1]:
        with pytest.raises(LocalProtocolError, match="another play here already"):
            seat.play(card)


@pytest.mark.parametrize("moon", ["", "both", None])
def test_choice_that_is_none(moon: Any) -> None:
    table = Table(4, **CHOOSER).run(lambda t: t.hand.phase.value == "choose")
    n = table.hand.game.moon_shooter(table.hand.tricks)
    seat = synced(table).seats[n]
    before = state(seat)
    with pytest.raises(LocalProtocolError, match="nothing to choose"):
        seat.choose(moon)
    assert state(seat) == before
    with pytest.raises(LocalProtocolError, match="nothing to choose"):
        table.seats[(n + 1) % 4].choose("add")
    assert seat.turn == "choose"
    out = seat.choose("subtract")
    assert seat.turn is None
    table.give(n, out)
    assert table.run().verify().status == "valid"


# -- questions -----------------------------------------------------------------------------------


def test_questions_before_open() -> None:
    seat = Seat(Key(b"1" * 32))
    assert (seat.name, seat.seat, seat.cards) == ("", None, ())
    assert (seat.turn, seat.legal(), seat.pending()) == (None, (), None)
    assert repr(seat) == "Seat(, start, 0 entries)"
    with pytest.raises(LocalProtocolError):
        seat.view()
    with pytest.raises(LocalProtocolError):
        _ = seat.record


def test_questions_all_along_a_hand() -> None:
    """What a seat knows is what the dealer knows of it, at every entry."""
    turns = []

    class Asked(Table):
        def decide(self, n: int) -> Outgoing | None:
            seat, before = self.seats[n], state(self.seats[n])
            turn = seat.turn
            if turn is not None:
                turns.append(turn)
                view, hand = seat.view(), seat.hand
                deck = hand.game.deck
                assert view.cards == seat.cards == canonical(seat.cards, deck)
                assert (view.seat, view.hand, view.game) == (n, hand.terms.hand, hand.game)
                assert set(seat.legal()) <= set(seat.cards)
                if hand.phase == self.hand.phase:
                    assert seat.cards == canonical(self.dealer.cards_of(n), deck)
                assert (turn == "play") == bool(seat.legal())
                assert len(view.passed) == (3 if self.hand.exchange is not None else 0)
                assert len(view.received) == (3 if hand.exchange is not None else 0)
            assert state(seat) == before
            return super().decide(n)

    assert Asked(4, seed=8).run().verify().status == "valid"
    assert turns.count("pass") == 4
    assert turns.count("play") == 52
    asked = Asked(4, **CHOOSER)
    asked.policy = Table(0).policy
    turns.clear()
    assert asked.run().verify().status == "valid"
    assert turns.count("choose") == 1


def test_only_the_holder_of_the_card_that_begins_is_asked() -> None:
    table = synced(until(4, exchange=1))
    asked = [n for n, seat in table.seats.items() if seat.turn == "play"]
    assert len(asked) == 1
    assert "2C" in table.seats[asked[0]].cards
    assert table.seats[asked[0]].legal() == ("2C",)
    for n, seat in table.seats.items():
        if n not in asked:
            assert seat.legal() == ()
            assert seat.hand.phase.value == "play"


def test_pending_until_the_log_shows_it() -> None:
    table = synced(until(deal=1))
    seat = table.seats[1]
    assert (seat.turn, seat.pending()) == ("pass", None)
    out = seat.pass_cards(seat.cards[:3])
    assert seat.turn is None
    assert seat.pending() == out
    assert seat.cards == canonical(table.dealer.cards_of(1), seat.hand.game.deck)
    for entry in table.dealer.receive(out.send, table.at):
        seat.receive(entry)
    assert seat.pending() is None
    assert len(seat.cards) == 10


def test_pending_after_the_turn_was_taken_away() -> None:
    """What was signed and never got there is not sent to a log that has gone on without it."""
    table = synced(until(deal=1))
    seat = table.seats[1]
    seat.pass_cards(seat.cards[:3])
    table.dealer.replace(1, "expelled", table.at)
    for entry in table.log.entries[len(seat.log) :]:
        seat.receive(entry)
    assert seat.pending() is None
    assert table.run().verify(record=seat.record).status == "valid"


def test_seats_know_themselves() -> None:
    table = Table(3)
    for n, seat in table.seats.items():
        seat.receive(table.log.entries[0])
        assert (seat.seat, seat.name) == (n, SEATS[n])
        assert repr(seat) == f"Seat(seat/{n}, commit, 1 entries)"


def test_outgoing_does_not_show_the_store() -> None:
    table = Table(4)
    out = table.seats[1].receive(table.log.entries[0])
    assert out is not None
    secret = {read_record(out.store).seed, read_record(out.store).hand_key}
    assert not shows(repr(out), secret)
    assert shows(out.store.decode(), secret)


@pytest.mark.parametrize("kind", ["commit", "reveal", "pass"])
def test_a_second_one_in_a_hand_is_never_signed_over_another_entry(kind: str) -> None:
    """Whatever a server shows it: the last line of defence, below the check of the head."""
    table = Table(3).run(lambda t: t.hand.exchange is not None)
    seat = table.seats[0]
    body = next(one.message.body for (said, _), one in seat._sent.items() if said == kind)
    with pytest.raises(LocalProtocolError, match="already"):
        seat._say(body, "ab" * 32)
