"""Nobody can frame a person: whatever a server and its friends put together, an honest seat is not named.

Seat 0 is honest. The adversary holds every other key, decides what seat 0 is shown, and builds any
log from what seat 0 signed in whatever hand. The table below has a test for every code that can
name a person; the search at the end puts logs together at random, always aiming at what fits.
"""

# ruff: noqa: ARG005, SIM105 - tables of lambdas of one shape
from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from forge import Forge, World, hands_of, history, play_out, regrouped
from helpers import SEATS, SERVER, Table

from fairdeal import sealing, verify
from fairdeal.dealer import Dealer
from fairdeal.encoding import encode
from fairdeal.errors import MalformedError, RemoteProtocolError
from fairdeal.evidence import compare
from fairdeal.findings import CODES, Verdict
from fairdeal.log import Log
from fairdeal.messages import (
    Ack,
    Cards,
    Choose,
    Close,
    Commit,
    Dispute,
    Entry,
    Pass,
    Play,
    Replace,
    Reveal,
    Share,
    Void,
)
from fairdeal.seat import Seat

HONEST = "seat/0"
LONG = bool(os.environ.get("FAIRDEAL_LONG"))
Logs = list[Log]
FRAMES: dict[str, list[Callable[[], Logs]]] = {}


def frame(*codes: str) -> Callable[[Callable[[], Logs]], Callable[[], Logs]]:
    """An attempt to have the honest seat named under one of these codes."""

    def keep(make: Callable[[], Logs]) -> Callable[[], Logs]:
        for code in codes:
            FRAMES.setdefault(code, []).append(make)
        return make

    return keep


def clear(log: Log, honest: str = HONEST) -> Verdict:
    """The verdict, which does not name the honest seat."""
    verdict = verify(log.encoded())
    assert honest not in verdict.culprits, verdict.findings
    return verdict


def until(log: Log, place: int) -> Forge:
    return Forge(log.entries[:place])


def places(log: Log, kind: str, by: str = HONEST) -> list[int]:
    return [
        n
        for n, one in enumerate(log.entries)
        if one.message.type == kind and one.message.by in (by, "*")
    ]


def world(**options: Any) -> World:
    options.setdefault("seed", "frame")
    return World(**options)


def void_for(table: Table, reason: Any, seat: int | None, **members: Any) -> Void:
    dealer = table.dealer
    seeds = {by: seed.hex() for by, seed in dealer._seeds.items() if by in dealer.hand.commits}
    body = Void(hand_key=dealer._hand_key.hex(), reason=reason, seat=seat, seeds=seeds)
    return msgspec.structs.replace(body, **members)


# -- order ---------------------------------------------------------------------------------------


@frame("out-of-turn", "after-end", "equivocation")
def every_honest_message_everywhere() -> Logs:
    """Each of seat 0's messages put in every place of its own log, the rest chained again or as it was."""
    w = world()
    logs = []
    rng = random.Random(1)
    for one in w.honest:
        for place in rng.sample(range(1, len(w.log)), 6):
            for rechain in (True, False):
                forge = until(w.log, place).chain(one)
                for entry in w.log.entries[place:]:
                    forge.chain(entry) if rechain else forge.raw(entry)
                logs.append(forge.log)
    return logs


@frame("out-of-turn", "after-end", "out-of-turn")
def honest_message_behind_a_replace_or_an_end() -> Logs:
    """What seat 0 said just before it was replaced, or before the server closed or voided, comes after."""
    w = world()
    logs = []
    for one in w.honest:
        place = w.log.positions[one.message.seen] + 1
        ends = (
            Replace(seat=0, reason="left"),
            Replace(seat=1, reason="left"),
            void_for(w.table, "operator", None),
            w.close,
        )
        for body in ends:
            for sign in (w.server, None):
                forge = until(w.log, place).say(SERVER, body, key=sign, sig="00" * 64)
                forge.chain(one)
                logs.append(forge.log)
                logs.append(Forge(forge.log.entries).chain(one).log)
    return logs


@frame("out-of-turn", "equivocation", "after-end", "body-form", "commit-hand-key")
def messages_of_other_hands_and_attempts() -> Logs:
    """What seat 0 said in other attempts and hands of the table, put in every phase of this one."""
    logs = []
    rng = random.Random(2)
    for seed in (0, 1):
        tables, pool = history(seed)
        foreign = [one for one in pool if one.message.by == HONEST]
        for table in tables:
            for _ in range(20):
                size = rng.randrange(1, len(table.log))
                forge = until(table.log, size)
                for one in rng.sample(foreign, 4):
                    rng.choice((forge.chain, forge.raw))(one)
                logs.append(forge.log)
    return logs


@frame("equivocation", "out-of-turn")
def whole_logs_of_one_table_in_a_row() -> Logs:
    """Two attempts and the next hand, one behind the other, as they are and chained."""
    logs = []
    for seed in (0, 1):
        tables, _ = history(seed)
        for one in tables:
            for other in tables:
                raw, chained = Forge(one.log.entries), Forge(one.log.entries)
                for entry in other.log.entries:
                    raw.raw(entry)
                    chained.chain(entry)
                logs += [raw.log, chained.log]
    return logs


# -- body-form, commit-hand-key: no honest message has them in its own hand -----------------------


@frame("body-form", "commit-hand-key")
def commit_and_pass_while_its_seat_is_the_servers() -> Logs:
    """Seat 0's commit and pass in a log in which a bot sits there, or it was replaced before."""
    w = world()
    logs = []
    for kind in ("commit", "pass", "reveal"):
        (place,) = places(w.log, kind)
        for strip in (True, False):
            seen = w.log.positions[w.log.entries[place].message.seen]
            forge = until(w.log, seen + 1)
            forge.say(SERVER, Replace(seat=0, reason="left"), key=w.server)
            for entry in w.log.entries[seen + 1 :]:
                forge.raw(
                    Entry(
                        entry.at,
                        entry.message,
                        entry.prev,
                        entry.seq,
                        None if strip and entry.message.by == HONEST else entry.sig,
                    )
                )
            logs.append(forge.log)
    opened = w.log.entries[0].message.body
    seats = (msgspec.structs.replace(opened.seats[1], key=opened.seats[0].key), *opened.seats[1:])
    for terms in (
        msgspec.structs.replace(opened, server_key=opened.seats[0].key),
        msgspec.structs.replace(opened, seats=seats),
        msgspec.structs.replace(
            opened,
            seats=tuple(msgspec.structs.replace(s, key=opened.seats[0].key) for s in opened.seats),
        ),
    ):
        for strip in (False, True):
            forge = Forge().say(SERVER, terms, seen="0" * 64, key=w.server)
            for entry in w.log.entries[1:]:
                forge.raw(msgspec.structs.replace(entry, sig=None if strip else entry.sig))
            logs.append(forge.log)
    return logs


# -- equivocation --------------------------------------------------------------------------------


@frame("equivocation")
def unsigned_entry_under_a_later_signature() -> Logs:
    """Another message in seat 0's name, unsigned, beside the real one; its later signatures follow."""
    w = world()
    logs = []
    for one in w.honest:
        place = w.log.positions[one.message.seen] + 1
        fake: Any = {
            "play": Play(card="2C"),
            "commit": Commit(commitment="33" * 32, hand_key="44" * 32),
            "reveal": Reveal(sealed="55" * 112),
            "pass": Pass(commitment="66" * 32, sealed="77" * 80),
            "ack": Ack(),
        }[one.message.type]
        for sig in (None, "00" * 64):
            for rechain in (True, False):
                forge = until(w.log, place).say(HONEST, fake, seen=one.message.seen, sig=sig)
                for entry in w.log.entries[place:]:
                    forge.chain(entry) if rechain else forge.raw(entry)
                logs.append(forge.log)
    return logs


@frame("equivocation")
def its_message_lost_and_asked_for_again() -> Logs:
    """The server loses messages and has the seat restart and say them again, in two forks of the log."""
    logs = []
    for lost in ("commit", "reveal", "pass", "play"):
        table = Table(4, seed=("again", lost))
        said: list[Entry] = []
        while True:
            outs = table.tell(0)
            if outs and lost in (_kind(outs[0].send), ""):
                break
            for out in outs:
                table.give(0, out)
            for n in (1, 2, 3):
                for out in table.tell(n):
                    table.give(n, out)
        store = outs[0].store
        answers = {outs[0].send}
        for late in (0, 1, 500):
            seat = Seat.resume(store, table.keys[0], server_key=table.server.public)
            forge = Forge(table.log.entries)
            if late:
                forge.say(SERVER, Replace(seat=1, reason="left"), key=table.server, late=late)
            for entry in forge.log.entries:
                try:
                    answer = seat.receive(entry)
                except RemoteProtocolError:
                    break
                if answer:
                    answers.add(answer.send)
            if seat.turn == "play":
                answers.add(seat.play(seat.legal()[-1]).send)
            if pending := seat.pending():
                answers.add(pending.send)
        forge = Forge(table.log.entries)
        for data in sorted(answers):
            one = _signed(data)
            forge.signed(one.message, one.sig)
            said.append(forge.log.entries[-1])
        logs.append(forge.log)
    return logs


def _signed(data: bytes) -> Any:
    from fairdeal.log import read_message

    return read_message(data)


def _kind(data: bytes) -> str:
    return _signed(data).message.type


# -- pass-cards and plays: other openings --------------------------------------------------------


def openings(name: str, size: int) -> Logs:
    w = world()
    bend = w.table.bend()
    close = bend.one("close")
    stated = list(getattr(close.body, name))
    logs = []
    for n in range(4):
        changed = list(stated)
        changed[n] = regrouped(stated[n], size)
        close.body = w.close
        close.change(**{name: tuple(changed)})
        logs.append(bend.build())
    return logs


@frame("pass-cards")
def pass_opened_with_its_codes_cut_elsewhere() -> Logs:
    """Codes are committed to joined: two cards of two letters also read as one of four."""
    return [log for size in (1, 3, 4, 6, 8) for log in openings("passes", size)]


@frame("play-not-held", "play-revoke")
def exchange_opened_with_its_codes_cut_elsewhere() -> Logs:
    """What seat 0 received reads as other cards, and the giver's pass is not opened, so nobody compares."""
    logs = openings("exchanges", 6)
    w = world()
    giver = (0 - w.table.hand.pass_offset) % 4
    for size in (1, 3, 4, 6):
        bend = w.table.bend()
        close = bend.one("close")
        passes, given = list(close.body.passes), list(close.body.exchanges)
        passes[giver] = Cards(cards=passes[giver].cards, salt="12" * 32)
        given[0] = regrouped(given[0], size)
        close.change(passes=tuple(passes), exchanges=tuple(given))
        logs.append(bend.build())
    return logs


@frame(
    "pass-cards", "play-not-held", "play-revoke", "play-hearts-unbroken", "play-first-trick-points"
)
def close_opens_otherwise() -> Logs:
    """The close gives seat 0 other cards, salts and seeds, in every combination of two."""
    w = world()
    rng = random.Random(3)
    logs = []
    for _ in range(80):
        bend = w.table.bend()
        close = bend.one("close")
        for name in rng.sample(("deals", "passes", "exchanges"), 2):
            stated = list(getattr(close.body, name))
            kind = rng.randrange(5)
            one, two = rng.randrange(4), rng.choice((0, 1))
            if kind == 0:
                stated[one], stated[two] = stated[two], stated[one]
            elif kind == 1:
                stated[two] = Cards(cards=stated[two].cards, salt="12" * 32)
            elif kind == 2:
                stated[two] = Cards(cards=stated[two].cards[::-1], salt=stated[two].salt)
            elif kind == 3:
                stated[two] = Cards(cards=stated[two].cards[1:], salt=stated[two].salt)
            else:
                stated[two] = Cards(cards=(), salt=stated[two].salt)
            close.change(**{name: tuple(stated)})
        if rng.random() < 0.3:
            close.change(seeds={**close.body.seeds, "seat/0": "44" * 64})
        logs.append(bend.build())
    return logs


class Doubles(Dealer):
    """Deals seat 0 cards that it also deals to seat 1."""

    def _shuffle(self) -> None:
        super()._shuffle()
        mine, other = self._dealt[0], list(self._dealt[1])
        other[:4] = mine[:4]
        self._dealt = (mine, tuple(other), *self._dealt[2:])

    def _refuse_privately(self, by: str, body: Any) -> None:
        return

    def _learn(self, by: str, body: Any) -> None:
        try:
            super()._learn(by, body)
        except ValueError:
            return


class DoubleExchange(Doubles):
    """Gives seat 0 what it has passed itself, or what seat 1 holds."""

    back = True

    def _shuffle(self) -> None:
        Dealer._shuffle(self)

    def _received(self) -> dict[str, tuple[str, ...]]:
        given = super()._received()
        if self.back:
            given["seat/0"] = self._passed["seat/0"].cards
        else:
            deck = self.hand.game.deck
            given["seat/0"] = tuple(
                sorted((*given["seat/0"][:-1], self._cards["seat/2"][-1]), key=deck.index)
            )
        return given


class DoubleExchange2(DoubleExchange):
    back = False


@frame("play-not-held", "card-twice", "pass-cards", "dispute-unfounded", "play-revoke")
def one_card_in_two_hands() -> Logs:
    """The server deals or hands on a card twice; whatever happens then, played out in any way."""
    logs = []
    for cheater in (Doubles, DoubleExchange, DoubleExchange2):
        for seed in range(6):
            table = Table(4, seed=("doubles", seed), dealer=cheater)
            with contextlib.suppress(ValueError, KeyError):
                table.run()
            w = World("frame")
            w.table, w.log = table, table.log
            w.keys = {by: key for by, key in table.secrets.items() if by != HONEST}
            w.server = table.server
            forge = Forge(table.log.entries)
            cards = {by: list(held) for by, held in table.dealer._cards.items()}
            play_out(forge, w, random.Random(seed), cards)
            if forge.hand.phase.value == "close":
                close = _close_of(table, forge)
                forge.say(SERVER, close, key=table.server)
            logs.append(forge.log)
    return logs


def _close_of(table: Table, forge: Forge) -> Close:
    """The close that the server would make, were the play its own."""
    dealer = table.dealer
    dealer.hand = forge.hand
    return dealer._close()


# -- plays: a made-up entry between ---------------------------------------------------------------


@frame("play-not-held", "play-first-lead", "play-unknown-card")
def its_play_after_a_made_up_play_of_the_same_card() -> Logs:
    """An unsigned play in seat 0's name of the card that it plays itself; then its own, a trick later."""
    w = world()
    logs = []
    for place in places(w.log, "play")[:11]:
        one = w.log.entries[place]
        seen = w.log.positions[one.message.seen]
        for sig in (None, "00" * 64):
            forge = until(w.log, seen + 1)
            forge.say(HONEST, one.message.body, seen="11" * 32, sig=sig)
            used = {card for _, _, card in forge.hand.plays}
            for _ in range(8):
                turn = forge.hand.tricks.turn
                if turn in (0, None):
                    break
                card = next(c for c in forge.hand.game.deck if c not in used)
                used.add(card)
                forge.say(SEATS[turn], Play(card=card), key=w.keys[SEATS[turn]])
            forge.chain(one)
            logs.append(forge.log)
    return logs


@frame("play-first-lead")
def its_first_play_before_the_first_lead() -> Logs:
    """Seat 0's plays where the card that begins has not been played."""
    logs = []
    for seed in range(4):
        w = world(seed=("lead", seed))
        (exchange,) = places(w.log, "exchange", SERVER)
        for place in places(w.log, "play")[:4]:
            logs.append(until(w.log, exchange + 1).chain(w.log.entries[place]).log)
            forge = until(w.log, exchange + 1).say(HONEST, Play(card="2C"), seen="11" * 32)
            logs.append(forge.chain(w.log.entries[place]).log)
    return logs


# -- reveals and passes: voided over ---------------------------------------------------------------


@frame("bad-reveal", "bad-pass")
def voided_over_its_good_messages() -> Logs:
    """The server voids over seat 0's reveal and pass, with its key, another key, and other commitments."""
    w = world()
    logs = []
    for kind, reason in (("reveal", "bad-reveal"), ("pass", "bad-pass")):
        (place,) = places(w.log, kind)
        for members in (
            {},
            {"hand_key": "66" * 32},
            {"hand_key": "00" * 32},
            {"hand_key": _same_key(w.table.dealer._hand_key)},
            {"seeds": {}},
            {"seeds": {"seat/0": "11" * 64}},
        ):
            for seat in (0, 1, None):
                body = void_for(w.table, reason, seat, **members)
                forge = until(w.log, place + 1).say(SERVER, body, key=w.server)
                logs.append(forge.log)
        # another commitment in its name, before and after
        for fake in (
            Commit(commitment="33" * 32, hand_key="44" * 32),
            Commit(commitment="33" * 32),
        ):
            (own,) = places(w.log, "commit")
            forge = until(w.log, own)
            forge.say(HONEST, fake, seen=w.log.entries[own].message.seen)
            for entry in w.log.entries[own + 1 : place + 1]:
                forge.raw(entry)
            forge.say(SERVER, void_for(w.table, reason, 0), key=w.server)
            logs.append(forge.log)
    return logs


def _same_key(key: bytes) -> str:
    """Another private key with the same public one: the clamped bits do not matter."""
    return (bytes([key[0] ^ 7]) + key[1:31] + bytes([key[31] ^ 128])).hex()


@frame("bad-reveal", "bad-pass")
def sealed_to_a_key_that_the_server_half_knows() -> Logs:
    """`open` has a hand key with a component of small order, or on the twist; seat 0 seals to it."""
    logs = []
    for public in ("02" + "00" * 31, "05" + "00" * 31, "09" + "00" * 31):
        table = Table(4, seed="twist")
        opened = msgspec.structs.replace(table.log.entries[0].message.body, hand_key=public)
        forge = Forge().say(SERVER, opened, seen="0" * 64, key=table.server)
        seat = table.seats[0]
        outs = [seat.receive(forge.log.entries[0])]
        commit = _signed(outs[0].send)
        forge.signed(commit.message, commit.sig)
        outs.append(seat.receive(forge.log.entries[1]))
        for n in (1, 2, 3):
            body = Commit(
                commitment=f"{n}{n}" * 32, hand_key=sealing.public_hand_key(bytes([n]) * 32).hex()
            )
            forge.say(SEATS[n], body, seen=forge.log.hashes[0], key=table.keys[n])
            outs.append(seat.receive(forge.log.entries[-1]))
        reveal = _signed(outs[-1].send)
        forge.signed(reveal.message, reveal.sig)
        for key in ("09" + "00" * 31, "01" + "00" * 31, "66" * 32):
            body = Void(hand_key=key, reason="bad-reveal", seat=0, seeds={})
            logs.append(Forge(forge.log.entries).say(SERVER, body, key=table.server).log)
    return logs


# -- disputes ------------------------------------------------------------------------------------


def box_for(dealer: Dealer, kind: str, opening: bytes) -> str:
    key = bytes.fromhex(str(dealer._commit_of(HONEST).hand_key))
    info = sealing.info(kind, dealer.hand.hand_id, HONEST, SERVER)
    return sealing.seal(opening, key, info).hex()


def bad_boxes(kind: str) -> dict[str, Callable[[Dealer, Share, Cards], Share]]:
    def committed(dealer: Dealer, cards: tuple[str, ...], salt: str) -> Share:
        opening = Cards(cards=cards, salt=salt)
        commitment = dealer._commitment(kind, HONEST, opening)
        return Share(commitment=commitment, sealed=box_for(dealer, kind, encode(opening)))

    own = sealing.info
    return {
        "another commitment": lambda d, s, c: msgspec.structs.replace(s, commitment="99" * 32),
        "noise": lambda d, s, c: msgspec.structs.replace(s, sealed="ab" * 90),
        "short": lambda d, s, c: msgspec.structs.replace(s, sealed="ab"),
        "no json": lambda d, s, c: msgspec.structs.replace(s, sealed=box_for(d, kind, b"\xff")),
        "spaced": lambda d, s, c: msgspec.structs.replace(
            s, sealed=box_for(d, kind, encode(c).replace(b":", b": "))
        ),
        "other box kind": lambda d, s, c: msgspec.structs.replace(
            s, sealed=box_for(d, "reveal", encode(c))
        ),
        "too few": lambda d, s, c: committed(d, c.cards[1:], c.salt),
        "too many": lambda d, s, c: committed(d, (*c.cards, c.cards[0]), c.salt),
        "one twice": lambda d, s, c: committed(d, (c.cards[0], *c.cards[:-1]), c.salt),
        "no card": lambda d, s, c: committed(d, ("ZZ", *c.cards[1:]), c.salt),
        "joined": lambda d, s, c: committed(
            d,
            ("".join(c.cards[:3]), *c.cards[3:]) if len(c.cards) > 3 else ("".join(c.cards),),
            c.salt,
        ),
        "split": lambda d, s, c: committed(d, tuple("".join(c.cards)), c.salt),
        "backwards": lambda d, s, c: committed(d, c.cards[::-1], c.salt),
        "dealt": lambda d, s, c: committed(
            d, tuple(sorted(d._dealt[0][: len(c.cards)], key=d.hand.game.deck.index)), c.salt
        ),
        "other sender": lambda d, s, c: msgspec.structs.replace(
            s,
            sealed=sealing.seal(
                encode(c),
                bytes.fromhex(str(d._commit_of(HONEST).hand_key)),
                own(kind, d.hand.hand_id, HONEST, "seat/1"),
            ).hex(),
        ),
    }


def cheating_boxes(kind: str, name: str) -> type[Dealer]:
    class Cheater(Dealer):
        def _share(self, which: str, by: str, cards: Any) -> Share:
            share = super()._share(which, by, cards)
            if which != kind or by != HONEST:
                return share
            return bad_boxes(kind)[name](self, share, self._opening_of(which, by, cards))

        def _complaint(self) -> Any:
            return None if self.hand.disputed else super()._complaint()

    return Cheater


@frame("dispute-key", "dispute-unfounded")
def every_bad_box_disputed() -> Logs:
    """Seat 0 disputes each bad box; the server voids with any key and reason, ignores it, or moves it."""
    logs = []
    for kind in ("deal", "exchange"):
        for name in bad_boxes(kind):
            table = Table(4, seed=("boxes", kind), dealer=cheating_boxes(kind, name)).run()
            log = table.log
            found = places(log, "dispute")
            logs.append(log)
            if not found:
                continue
            one = log.entries[found[0]]
            for reason in ("dispute", "operator", "bad-pass"):
                for key in (table.dealer._hand_key.hex(), "66" * 32):
                    body = void_for(table, reason, 0, hand_key=key)
                    logs.append(until(log, found[0] + 1).say(SERVER, body, key=table.server).log)
            (deal,) = places(log, "deal", SERVER)
            logs.append(until(log, deal).chain(one).log)
            # the box exchanged for a good one under the dispute
            good = Table(4, seed=("boxes", kind)).run(lambda t: t.hand.exchange is not None)
            forge = Forge(good.log.entries).chain(one)
            logs.append(forge.log)
            box = log.entries[log.positions[one.message.seen]]
            honest = next(e for e in good.log.entries if e.message.type == kind)
            forge = until(log, log.positions[one.message.seen])
            forge.raw(msgspec.structs.replace(box, message=honest.message))
            logs.append(forge.raw(one).log)
    return logs


@frame("play-revoke", "play-not-held", "play-first-trick-points", "play-hearts-unbroken")
def bad_exchange_whose_dispute_is_lost() -> Logs:
    """The server commits to what it must hand on, seals noise, loses the dispute, and closes rightly.

    Seat 0 does not know what it received: whatever it plays may break the rules.
    """
    logs = []
    for seed in range(12):
        kind = type("Careless", (cheating_boxes("exchange", "noise"),), {"_refuse_privately": _let})
        table = Table(4, seed=("lost", seed), dealer=kind)
        for last in (False, True):
            if last and HONEST in table.hand.persons:
                table.dealer.replace(0, "left", table.at)
            while True:
                said = [(n, out) for n in table.seats for out in table.tell(n)]
                said = [(n, out) for n, out in said if _kind(out.send) != "dispute"]
                if not said:
                    break
                for n, out in said:
                    try:
                        table.give(n, out)
                    except RemoteProtocolError:
                        continue
        logs.append(table.log)
    return logs


def _let(*_: Any) -> None:
    """Refuses nothing."""


@frame("dispute-key", "dispute-unfounded")
def disputes_made_up() -> Logs:
    """A dispute in seat 0's name with its real key, or another, unsigned, over good boxes."""
    w = world()
    logs = []
    for kind in ("deal", "exchange"):
        (box,) = places(w.log, kind, SERVER)
        for key in (w.table.seats[0]._hand_key.hex(), "66" * 32):
            for sig in (None, "00" * 64, w.honest[2].sig):
                for rechain in (True, False):
                    forge = until(w.log, box + 1)
                    forge.say(HONEST, Dispute(hand_key=key), seen=w.log.hashes[box], sig=sig)
                    for entry in w.log.entries[box + 1 :]:
                        forge.chain(entry) if rechain else forge.raw(entry)
                    logs.append(forge.log)
    return logs


# -- chains --------------------------------------------------------------------------------------


@frame("out-of-turn", "play-not-held", "pass-cards", "play-hearts-unbroken", "equivocation")
def chain_broken_and_mended() -> Logs:
    """`prev`, `seq` and `at` altered anywhere, entries doubled with equal hashes, middles left out."""
    w = world()
    rng = random.Random(4)
    logs = []
    for _ in range(150):
        entries = list(w.log.entries)
        for _ in range(rng.randrange(1, 4)):
            place = rng.randrange(len(entries))
            one = entries[place]
            what = rng.randrange(6)
            if what == 0:
                entries[place] = msgspec.structs.replace(one, prev=rng.choice(w.log.hashes))
            elif what == 1:
                entries[place] = msgspec.structs.replace(one, seq=rng.randrange(80))
            elif what == 2:
                entries[place] = msgspec.structs.replace(one, at=rng.randrange(2**40))
            elif what == 3:
                entries.insert(rng.randrange(len(entries)), one)
            elif what == 4:
                del entries[place : place + rng.randrange(1, 6)]
            else:
                entries[place] = msgspec.structs.replace(one, sig=None)
        if entries and entries[0].message.type == "open":
            logs.append(Log(entries))
    return logs


def test_every_code_that_names_a_person_has_a_frame() -> None:
    """Those of which only the server is the author are left out; nobody else is."""
    persons = {
        *("out-of-turn", "after-end", "body-form", "commit-hand-key", "equivocation", "pass-cards"),
        *(code for code in CODES if code.startswith("play-")),
        *("bad-reveal", "bad-pass", "dispute-key", "dispute-unfounded"),
    }
    assert persons <= FRAMES.keys()


ALL = {make.__name__: make for makes in FRAMES.values() for make in makes}


@pytest.mark.parametrize(
    "name",
    list(ALL),
)
def test_frame_does_not_name_the_honest_seat(name: str) -> None:
    logs = ALL[name]()
    assert logs
    for log in logs:
        clear(log)


# -- at random -----------------------------------------------------------------------------------


def random_body(rng: random.Random, w: World, forge: Forge) -> Any:
    """Something that the server, a friend or nobody says now."""
    hand = forge.hand
    free = [card for card in hand.game.deck if hand.unplayed[card] > 0] or ["2C"]
    void = void_for(
        w.table,
        rng.choice(("operator", "bad-reveal", "bad-pass", "no-reveal", "dispute", "left")),
        rng.choice((0, 1, None)),
    )
    return rng.choice(
        (
            Replace(seat=rng.randrange(4), reason=rng.choice(("left", "expelled"))),
            void,
            Play(card=rng.choice(free)),
            Play(card=rng.choice(hand.game.deck)),
            rng.choice(w.log.entries).message.body,
            Dispute(hand_key=w.table.seats[rng.randrange(4)]._hand_key.hex()),
            Ack(),
            Choose(moon="add"),
        )
    )


def random_frame(rng: random.Random, worlds: list[World], pools: list[Entry]) -> Log:
    """A genuine beginning, anything after it, and often a hand played out and closed behind that."""
    w = rng.choice(worlds)
    start = rng.randrange(1, len(w.log))
    forge = until(w.log, start)
    for _ in range(rng.randrange(1, 8)):
        what = rng.random()
        if what < 0.3:
            honest = [one for one in w.honest if w.log.positions[one.message.seen] <= start + 4]
            one = rng.choice(honest or w.honest)
            rng.choice((forge.chain, forge.chain, forge.raw))(one)
        elif what < 0.45:
            one = rng.choice(w.log.entries if rng.random() < 0.7 else pools)
            rng.choice((forge.chain, forge.raw))(one)
        elif what < 0.6:
            for one in w.log.entries[start : start + rng.randrange(1, 30)]:
                rng.choice((forge.chain, forge.raw, forge.raw))(one)
        else:
            by = rng.choice((HONEST, HONEST, SERVER, "seat/1", "seat/2", "seat/3"))
            if forge.hand.play is not None and rng.random() < 0.5 and not forge.hand.play.over:
                by = SEATS[forge.hand.play.turn or 0]
            seen = rng.choice((None, forge.since, "11" * 32, rng.choice(w.log.hashes)))
            if by == HONEST and rng.random() < 0.6:
                body: Any = rng.choice(w.honest).message.body
            else:
                body = random_body(rng, w, forge)
            key = w.key(by) if by in forge.hand.persons else w.server
            forge.say(by, body, seen=seen, key=key if rng.random() < 0.8 else None)
    if rng.random() < 0.7 and forge.hand.play is not None:
        cards = hands_of(w)
        for _, by, card in forge.hand.plays:
            if card in cards[by]:
                cards[by].remove(card)
        rooted = [
            one
            for one in w.honest
            if one.message.type == "play" and forge.log.position_of(one.message.seen) is not None
        ]
        if rooted:
            play_until(forge, w, rng, cards, rng.choice(rooted[-2:]))
        play_out(forge, w, rng, cards)
        close = w.close
        if rng.random() < 0.3:
            stated = list(close.passes)
            if stated:
                n = rng.randrange(4)
                stated[n] = Cards(cards=stated[n].cards, salt="12" * 32)
                close = msgspec.structs.replace(close, passes=tuple(stated))
        forge.say(SERVER, close, key=w.server)
    return forge.log


def play_until(
    forge: Forge, w: World, rng: random.Random, cards: dict[str, list[str]], spot: Entry
) -> None:
    """Some plays, and then an honest one when its seat is on turn."""
    for _ in range(rng.randrange(12)):
        play = forge.hand.play
        if play is None or play.over or play.turn is None:
            return
        if play.turn == 0 and rng.random() < 0.4:
            forge.chain(spot)
            return
        by = SEATS[play.turn]
        card = rng.choice(cards[by] or ["2C"])
        if by == HONEST and rng.random() < 0.5:
            card = spot.message.body.card
        if card in cards[by]:
            cards[by].remove(card)
        key = w.key(by) if by in forge.hand.persons else w.server
        seen = forge.since if key else rng.choice((forge.since, "11" * 32))
        forge.say(by, Play(card=card), seen=seen if by in forge.hand.persons else None, key=key)


@pytest.mark.parametrize("batch", range(2))
def test_random_frames_name_nobody_honest(batch: int) -> None:
    worlds = [World(("random", batch, n), hand=1 + 3 * (n % 2)) for n in range(3)]
    pools = list(history(0)[1])
    for number in range(20_000 if LONG else 150):
        rng = random.Random(f"frame {batch} {number}")
        log = random_frame(rng, worlds, pools)
        verdict = verify(log.encoded())
        assert HONEST not in verdict.culprits, (batch, number, verdict.findings)


# -- a seat that forgets, and proofs -------------------------------------------------------------


def test_record_written_before_the_log_is_told_again_forgets_nothing() -> None:
    """A seat resumes, hears only `open`, and stores itself: it must still know how far it had seen.

    Else a server that then shows it other commitments of its bots gets a second commit signed, and a
    proof against it.
    """
    table = Table(2, seed="fork")
    first = table.tell(0)[0]
    fork = Log([table.log.entries[0]])
    for entry in table.log.entries[1:3]:
        said = _resigned_over(entry, fork.head)
        sig = table.server.sign(said.digest()).hex()
        fork.append(Entry(fork.last_at + 7, said, fork.head, len(fork), sig))
    seat = Seat.resume(first.store, table.keys[0], server_key=table.server.public)
    seat.receive(table.log.entries[0])
    store = seat.record
    seat = Seat.resume(store, table.keys[0], server_key=table.server.public)
    answers = []
    try:
        for entry in fork.entries:
            answers.append(seat.receive(entry))
    except RemoteProtocolError as error:
        assert error.code == "record-head"
    assert [one for one in answers if one] == []


def _resigned_over(entry: Entry, seen: str) -> Any:
    return msgspec.structs.replace(entry.message, seen=seen)


def test_comparing_copies_of_an_honest_seat_never_proves_anything_against_it() -> None:
    """Any two logs of the adversary's making, compared: no proof names seat 0."""
    w = world()
    rng = random.Random(9)
    _, pool = history(0)
    for _ in range(60):
        copies = [random_frame(rng, [w], list(pool)) for _ in range(2)]
        try:
            both = compare(copies[0].encoded(), copies[1].encoded())
        except MalformedError:
            continue
        assert both.culprit != HONEST, both
        if both.proof:
            assert HONEST not in verify(both.proof).culprits
