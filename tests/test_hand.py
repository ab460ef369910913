"""The table: every phase × message × author has one defined answer, and asking changes nothing.

`may_follow` is section 4.1 written down a second time, from the text; the engine must accept exactly
that, over exactly the entries that the column *a person's seen* names.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import pytest
from cheats import void_of
from helpers import SEATS, SERVER, Bend, Table, assert_only, found
from msgspec import UNSET

from fairdeal.findings import CODES
from fairdeal.games import DealRules
from fairdeal.games.presets import S0
from fairdeal.hand import Hand
from fairdeal.log import GENESIS, Log
from fairdeal.messages import (
    BODIES,
    Ack,
    Cards,
    Choose,
    Close,
    Commit,
    Deal,
    Deck,
    Dispute,
    Exchange,
    Message,
    Pass,
    Play,
    Replace,
    Reveal,
    Share,
    Void,
    message,
)
from fairdeal.table import TABLE, Fault, Phase

H = "ab" * 32
BOX = "00" * 48
KEY = "09" + "00" * 31
AUTHORS = (SERVER, "house", *SEATS[:4], SEATS[9])

#: forty cards and one heart: whoever takes it has shot the moon, and must choose
ONE_HEART = Deck(packs=1, removed=tuple(f"{rank}H" for rank in "23456789TJQK"))
CHOOSING = msgspec.structs.replace(S0, moon="shooter-chooses", card_points={})


def replay(log: Log, size: int) -> Hand:
    """The public state after so many entries of a log."""
    hand = Hand()
    for place in range(size):
        said = log.entries[place].message
        hand.take(hand.judge(said, log.message_hashes[place], log.position_of(said.seen)))
    return hand


def states(log: Log) -> Iterator[Hand]:
    """The public state after 0, 1, … entries."""
    return (replay(log, size) for size in range(len(log) + 1))


def frozen(hand: Hand) -> bytes:
    """Everything that a state holds, to compare."""
    return pickle.dumps(hand)


# -- a second table, from the text ---------------------------------------------------------------


class Said(NamedTuple):
    place: int
    type: str
    by: str
    body: Any


class Account:
    """What section 4.1 allows after the entries of a log, told from those entries alone."""

    def __init__(self, log: Log, size: int) -> None:
        self.said = [
            Said(place, one.message.type, one.message.by, one.message.body)
            for place, one in enumerate(log.entries[:size])
        ]

    def of(self, kind: str) -> list[Said]:
        return [one for one in self.said if one.type == kind]

    def bys(self, kind: str) -> list[str]:
        return [one.by for one in self.of(kind)]

    @property
    def open(self) -> Any:
        return self.said[0].body

    @property
    def seats(self) -> list[str]:
        return list(SEATS[: len(self.open.seats)])

    def persons(self, place: int | None = None) -> set[str]:
        """The seats that are persons' just before entry `place`, or now."""
        born = {by for by, one in zip(SEATS, self.open.seats) if not hasattr(one, "policy")}
        gone = {
            f"seat/{one.body.seat}"
            for one in self.of("replace")
            if place is None or one.place < place
        }
        return born - gone

    @property
    def shufflers(self) -> list[str]:
        return (["house"] if self.open.house else []) + self.seats

    def may_follow(self) -> dict[tuple[str, str], set[int]]:
        """(type, by) to the entries its author must have seen: for the server's, the one before."""
        if not self.said:
            return {("open", SERVER): {-1}}
        now, last = self.persons(), self.said[-1].place
        allowed: dict[tuple[str, str], set[int]] = {}
        for kind, by, seen in self._rows(now):
            allowed[kind, by] = allowed.get((kind, by), set()) | ({seen} if by in now else {last})
        return allowed

    def _rows(self, now: set[str]) -> Iterator[tuple[str, str, int]]:
        if self.of("void"):
            return
        if self.of("close"):
            close = self.of("close")[0].place
            yield from (("ack", by, close) for by in now - set(self.bys("ack")))
            return
        yield "void", SERVER, -1
        if self.of("dispute"):
            return
        if now:  # else there is nobody to replace
            yield "replace", SERVER, -1
        for box in (*self.of("deal"), *self.of("exchange")):
            yield from (("dispute", by, box.place) for by in now & self.persons(box.place))
        yield from self._due(now)

    def _due(self, now: set[str]) -> Iterator[tuple[str, str, int]]:
        committed = self.bys("commit")
        if set(committed) != set(self.shufflers):
            yield from self._queued("commit", 0, self.shufflers, now)
            return
        must = {one.by for one in self.of("commit") if one.by in self.persons(one.place)}
        if must - set(self.bys("reveal")):
            seen = self.of("commit")[-1].place
            yield from (("reveal", by, seen) for by in (must & now) - set(self.bys("reveal")))
            return
        if not self.of("deal"):
            yield "deal", SERVER, -1
            return
        if isinstance(self.open.rules, DealRules):
            yield "close", SERVER, -1
            return
        yield from self._passing(now)

    def _queued(
        self, kind: str, opened: int, all_of_them: list[str], now: set[str]
    ) -> Iterator[tuple[str, str, int]]:
        """First the server's of the beginning in order, then everybody; replaced seats always."""
        done = self.bys(kind)
        at_first = [by for by in all_of_them if by not in self.persons(opened + 1)]
        waiting = [by for by in at_first if by not in done]
        if waiting:
            yield kind, waiting[0], -1
            replaced = {f"seat/{one.body.seat}" for one in self.of("replace")}
            yield from ((kind, by, -1) for by in replaced - set(done) - set(at_first))
            return
        places = [one.place for one in self.of(kind) if one.by in at_first]
        seen = max(places, default=opened)
        yield from ((kind, by, seen) for by in set(all_of_them) - set(done))

    def _passing(self, now: set[str]) -> Iterator[tuple[str, str, int]]:
        cycle = self.open.rules.pass_cycle
        deal = self.of("deal")[0].place
        if cycle[(self.open.hand - 1) % len(cycle)]:
            if set(self.bys("pass")) != set(self.seats):
                yield from self._queued("pass", deal, self.seats, now)
                return
            if not self.of("exchange"):
                yield "exchange", SERVER, -1
                return
        yield from self._playing(self.of("exchange")[0].place if self.of("exchange") else deal)

    def _playing(self, began: int) -> Iterator[tuple[str, str, int]]:
        plays, size = self.of("play"), 52 - len(self.open.deck.removed)
        if not plays:
            yield from (("play", by, began) for by in self.seats)
        elif len(plays) < size - size % len(self.seats):
            yield "play", self._turn(plays), plays[-1].place
        elif self.open.rules.moon == "shooter-chooses" and not self.of("choose"):
            hearts = {
                self._taker(plays, n) for n, one in enumerate(plays) if one.body.card[1] == "H"
            }
            if len(hearts) == 1:
                yield "choose", hearts.pop(), plays[-1].place
            else:
                yield "close", SERVER, -1
        else:
            yield "close", SERVER, -1

    def _turn(self, plays: list[Said]) -> str:
        n = len(self.seats)
        if len(plays) % n == 0:
            return self._taker(plays, len(plays) - 1)
        return self.seats[(self.seats.index(plays[-1].by) + 1) % n]

    def _taker(self, plays: list[Said], of: int) -> str:
        n = len(self.seats)
        trick = plays[of - of % n : of - of % n + n]
        led = [one for one in trick if one.body.card[1] == trick[0].body.card[1]]
        return max(led, key=lambda one: "23456789TJQKA".index(one.body.card[0])).by


# -- logs that reach every phase -----------------------------------------------------------------


def choosing() -> Log:
    """Three persons, a bot and the house; a person shoots the moon."""
    return Table(3, rules=CHOOSING, deck=ONE_HEART, house=True).run().log


def disputed() -> Log:
    table = Table(3, house=True).run(lambda t: t.hand.exchange is not None)
    bend = table.bend()
    deal = bend.one("deal")
    bend.cut(bend.place(deal) + 2)
    bend.insert(len(bend.drafts), "seat/1", Dispute(hand_key=H), seen=deal)
    bend.insert(len(bend.drafts), SERVER, void_of(table, "dispute", 1))
    return bend.build()


def replaced_early() -> Log:
    """One before it commits, one after it revealed, one before it passes, one in the play."""
    table = Table(4, seed="early", house=True)
    table.dealer.replace(2, "left", table.at)
    table.run(lambda t: len(t.hand.reveals) == 3)
    return _leave_later(table)


def _leave_later(table: Table) -> Log:
    table.run(lambda t: t.hand.deal is not None)
    table.dealer.replace(0, "left", table.at)
    table.run(lambda t: len(t.hand.plays) > 9)
    table.dealer.replace(3, "left", table.at)
    return table.run().log


def replaced_first() -> Log:
    """A replacement before house and bots have committed, which no dealer of ours writes."""
    bend = Table(2, seed="first", house=True).run(lambda t: t.hand.deal is not None).bend()
    bend.cut(2)
    bend.insert(1, SERVER, Replace(seat=0, reason="left"))
    for by in ("seat/0", "seat/2", "seat/3"):
        bend.insert(len(bend.drafts), by, Commit(commitment=H))
    return bend.build()


def replaced_first_pass() -> Log:
    """The same in the phase of passing."""
    table = Table(2, seed="passing").run(lambda t: t.hand.deal is not None)
    bend = table.bend().cut(table.hand.deal + 1)
    bend.insert(len(bend.drafts), SERVER, Replace(seat=0, reason="left"))
    for by in ("seat/0", "seat/2", "seat/3"):
        bend.insert(len(bend.drafts), by, Pass(commitment=H))
    return bend.build()


def replaced_unrevealed() -> Log:
    table = Table(3, seed="silent").run(lambda t: len(t.hand.commits) == 4)
    bend = table.bend()
    bend.insert(len(bend.drafts), SERVER, Replace(seat=1, reason="left"))
    return bend.build()


LOGS = {
    "choosing": choosing,
    "disputed": disputed,
    "voided": lambda: Table(2).run(lambda t: bool(t.hand.reveals)).bend().build(),
    "no pass": lambda: Table(4, hand=4).run().log,
    "dealt only": lambda: Table(3, rules=DealRules(), house=True).run().log,
    "all bots": lambda: Table(0).run().log,
    "replaced": replaced_early,
    "replaced first": replaced_first,
    "replaced, passing": replaced_first_pass,
    "replaced, unrevealed": replaced_unrevealed,
}


def well_formed(kind: str, by: str, hand: Hand, log: Log) -> Any:
    """A body that nobody can find fault with here, if it may be said at all."""
    person = by in hand.persons
    seats = hand.seats or SEATS[:4]
    shares = tuple(
        Share(commitment=H, sealed=BOX) if one in hand.persons else Share(commitment=H)
        for one in seats
    )
    opened = tuple(Cards(cards=(), salt=H) for _ in seats)
    passed = opened if hand.exchange is not None else ()
    left = sorted(hand.persons)
    opening = hand.play.opening_card if hand.play else None
    unplayed = [card for card, number in hand.unplayed.items() if number > 0]
    disputing = hand.phase is Phase.DISPUTED
    bodies = {
        "open": log.entries[0].message.body,
        "commit": Commit(commitment=H, hand_key=KEY if person else UNSET),
        "reveal": Reveal(sealed=BOX),
        "deal": Deal(hands=shares),
        "pass": Pass(commitment=H, sealed=BOX if person else UNSET),
        "exchange": Exchange(hands=shares),
        "play": Play(card=opening or (unplayed[-1] if unplayed else "2C")),
        "choose": Choose(moon="add"),
        "close": Close(
            deals=opened,
            exchanges=passed,
            passes=passed,
            points=(),
            result=None,
            scores=(),
            seeds=dict.fromkeys(hand.shufflers, "00" * 64),
        ),
        "ack": Ack(),
        "replace": Replace(seat=int(left[0][-1]) if left else 0, reason="left"),
        "dispute": Dispute(hand_key=H),
        "void": Void(
            hand_key=H,
            reason="dispute" if disputing else "operator",
            seat=int((hand.disputed or "seat/0")[-1]) if disputing else None,
            seeds={},
        ),
    }
    return bodies[kind]


@pytest.mark.parametrize("name", LOGS)
def test_exactly_what_the_table_says_may_follow(name: str) -> None:
    log = LOGS[name]()
    for size in range(len(log) + 1):
        hand = replay(log, size)
        before = frozen(hand)
        allowed = Account(log, size).may_follow()
        places = range(-1, size) if name == "choosing" or size % 7 == 0 else _near(allowed, size)
        for kind in BODIES:
            for by in AUTHORS:
                body = well_formed(kind, by, hand, log)
                accepted = {
                    seen for seen in places if not _judged(hand, log, by, body, seen).deviations
                }
                assert accepted == allowed.get((kind, by), set()), (size, hand.phase, kind, by)
        assert frozen(hand) == before


def _near(allowed: dict[tuple[str, str], set[int]], size: int) -> set[int]:
    return {-1, 0, size - 1}.union(*allowed.values())


def _judged(hand: Hand, log: Log, by: str, body: Any, seen: int | None) -> Any:
    where = "ee" * 32 if seen is None else GENESIS if seen < 0 else f"{seen:064x}"
    if seen is not None and 0 <= seen < len(log):
        where = log.hashes[seen]
    return hand.judge(message(by, where, body), b"another message" + bytes(17), seen)


def test_every_phase_was_reached() -> None:
    reached = {hand.phase for make in LOGS.values() for hand in states(make())}
    assert reached == set(Phase)


@pytest.mark.parametrize("name", LOGS)
def test_every_message_has_an_answer_everywhere(name: str) -> None:
    """No exception, a documented code or none, and the state as it was."""
    log, answers = LOGS[name](), set()
    hands = {(hand.phase, len(hand.queue), bool(hand.plays)): hand for hand in states(log)}
    for hand in hands.values():
        before = frozen(hand)
        for kind in BODIES:
            for by in AUTHORS:
                body = well_formed(kind, by, hand, log)
                for seen in {None, -1, 0, hand.since, hand.size - 1, *hand.boxes}:
                    judged = _judged(hand, log, by, body, seen)
                    answers |= {one.code for one in judged.deviations}
                    for one in judged.deviations:
                        assert isinstance(one.expected, str)
                        assert isinstance(one.found, str)
            assert frozen(hand) == before, kind
    assert {CODES[code].check for code in answers} <= {3, 6, 7, 12}
    assert answers >= {"out-of-turn", "seen-not-previous"}
    assert ("seen-unknown" in answers) == (name != "all bots")


@pytest.mark.parametrize("name", LOGS)
def test_what_was_judged_can_be_taken_whatever_it_was(name: str) -> None:
    """The verifier takes what deviates too; the state stays one that can be asked."""
    log = LOGS[name]()
    hands = {hand.phase: hand for hand in states(log)}
    for hand in hands.values():
        if not hand.size:
            continue
        for kind in BODIES:
            for by in AUTHORS:
                body = well_formed(kind, by, hand, log)
                for seen in {None, hand.since}:
                    other = pickle.loads(frozen(hand))
                    other.take(_judged(other, log, by, body, seen))
                    assert other.size == hand.size + 1
                    assert isinstance(other.due(), frozenset)
                    assert isinstance(other.expectation(), str)


def test_table_has_a_row_for_each_type() -> None:
    assert TABLE.keys() == BODIES.keys()


def test_play_is_not_asked_for_before_it_began() -> None:
    with pytest.raises(RuntimeError, match="not begun"):
        _ = Hand().tricks


def test_expectation_of_an_ended_log_is_nothing() -> None:
    log = disputed()
    assert replay(log, len(log)).expectation() == "nothing"
    assert replay(log, 0).expectation() == "open by server"


# -- check 6: order, rule by rule ----------------------------------------------------------------


def verdict_codes(bend: Bend) -> list[tuple[str, tuple[str, ...]]]:
    return found(bend.verify())


def until(people: int = 4, *, seed: Any = 0, **happened: Any) -> Table:
    """A table played until a person's message or the server's is there."""
    (kind, number), options = happened.popitem(), happened
    return Table(people, seed=seed, **options).run(
        lambda t: sum(one.message.type == kind for one in t.log.entries) >= number
    )


def test_6_1_repeated_by_place() -> None:
    """The same message twice: whoever ordered the log, if its key vouches for the place."""
    table = until(reveal=4)
    bend = table.bend()
    one = bend.of("reveal")[0]
    bend.cut(bend.place(one) + 2)
    bend.insert(bend.place(one) + 1, one.by, one.body, seen=one.seen)
    assert_only(bend.verify(), "repeated")
    void = bend.insert(len(bend.drafts), SERVER, void_of(table, "operator", seeds={}))
    void.change(seeds=_revealed(table, bend))
    assert_only(bend.verify(), "repeated", SERVER)


def _revealed(table: Table, bend: Bend) -> dict[str, str]:
    return {one.by: table.dealer._seeds[one.by].hex() for one in bend.of("reveal")}


def test_6_1_repeated_under_another_key_is_another_message() -> None:
    """A seat's commit, repeated by the server after it replaced the seat, is the server's word."""
    bend = until(commit=4).bend().cut(2)
    own = bend.one("commit")
    bend.insert(len(bend.drafts), SERVER, Replace(seat=0, reason="left"))
    bend.insert(len(bend.drafts), own.by, own.body, seen=own.seen, key=bend.keys[SERVER])
    assert verdict_codes(bend) == [("seen-not-previous", ())]


def test_6_2_seen_unknown_is_one_finding_for_all() -> None:
    """It names nobody: the seat may have been shown another log."""
    bend = Table(4).run(lambda t: len(t.hand.commits) == 4).bend().cut(4)
    for draft in bend.of("commit"):
        draft.seen = "22" * 32
    assert_only(bend.verify(), "seen-unknown", entries=(1, 2, 3))


@pytest.mark.parametrize("seen", [0, 1, 3])
def test_6_3_wrong_where_its_author_saw_the_log(seen: int) -> None:
    """A reveal over an entry that asks for none, although a reveal is right here."""
    bend = until(commit=4).bend()
    bend.insert(5, "seat/1", Reveal(sealed=BOX), seen=bend[seen])
    assert_only(bend.verify(), "out-of-turn", "seat/1", entries=(5,))


def test_6_3_another_seat_than_the_one_on_turn() -> None:
    bend = until(play=9).bend()
    last = bend[-1]
    other = next(by for by in SEATS[:4] if by != last.by and by != bend.of("play")[7].by)
    last.by, last.key = other, bend.keys[other]
    verdict = bend.verify()
    assert ("out-of-turn", (other,)) in found(verdict)


def test_6_3_after_the_end_is_its_own_code() -> None:
    table = Table(4).run()
    bend = table.bend()
    bend.insert(len(bend.drafts), "seat/1", Play(card="2C"), seen=bend.one("close"))
    assert_only(bend.verify(), "after-end", "seat/1")


def test_6_3_nothing_may_follow_a_void() -> None:
    table = until(commit=4)
    bend = table.bend()
    void = bend.insert(5, SERVER, void_of(table, "operator"))
    bend.insert(6, "seat/1", Ack(), seen=void)
    bend.insert(7, SERVER, Replace(seat=0, reason="left"))
    assert verdict_codes(bend) == [("after-end", ("seat/1",)), ("out-of-place", ())]


def test_6_3_over_a_log_gone_astray_it_is_not_held_against_its_author() -> None:
    """The bent log says whose turn it is; only what cannot stand here at all fails, for nobody."""
    table = until(commit=4)
    bend = table.bend().cut(3)
    astray = bend.insert(3, SERVER, Deal(hands=()))
    bend.insert(4, "seat/2", Commit(commitment=H, hand_key=KEY), seen=astray)
    bend.insert(5, "seat/3", Reveal(sealed=BOX), seen=astray)
    assert verdict_codes(bend) == [("out-of-turn", (SERVER,)), ("out-of-place", ())]


def test_6_3_before_the_log_went_astray_it_is() -> None:
    bend = until(commit=4).bend().cut(3)
    bend.insert(3, SERVER, Deal(hands=()))
    bend.insert(4, "seat/2", Reveal(sealed=BOX), seen=bend[1])
    assert verdict_codes(bend) == [("out-of-turn", (SERVER,)), ("out-of-turn", ("seat/2",))]


def test_6_4_right_there_but_not_here() -> None:
    """A commit kept back until all had committed but one, and its seat was played by the server."""
    table = until(commit=4)
    bend = table.bend()
    late = bend.of("commit")[-1]
    bend.cut(4)
    bend.insert(4, SERVER, Replace(seat=int(late.by[-1]), reason="left"))
    bend.insert(5, late.by, Commit(commitment=H))
    bend.insert(6, late.by, late.body, seen=late.seen, key=bend.keys[late.by])
    verdict = bend.verify()
    # it stands after the replacement, so its key is not the seat's any more
    assert {one.code for one in verdict.findings} == {"signature-invalid", "seen-not-previous"}
    assert verdict.culprits == ()


@pytest.mark.parametrize("goes_on", [False, True])
def test_6_4_another_entry_than_the_one_asked_for_now(*, goes_on: bool) -> None:
    """A seat on turn speaks over its turn; another's play out of turn was put before it."""
    table = until(play=15)
    bend = table.bend()
    first, second = bend[-2], bend[-1]
    bend.drafts[-2:] = [second, first]
    second.seen, second.at = first.seen, first.at
    if goes_on:
        bend.insert(len(bend.drafts), SERVER, void_of(table, "operator"))
    place = bend.place(first)
    verdict = bend.verify()
    assert found(verdict)[:2] == [
        ("out-of-turn", (second.by,)),
        ("out-of-place", (SERVER,) if goes_on else ()),
    ]
    assert [one.entries for one in verdict.findings[:2]] == [(place - 1,), (place,)]


def test_6_4_two_who_say_they_hold_the_card_that_begins() -> None:
    """Before the first play everybody may claim the turn; the second claim stands too late."""
    bend = until(play=2).bend()
    second = bend[-1]
    second.seen = bend.one("exchange")
    assert_only(bend.verify(), "out-of-place", entries=(bend.place(second),))


def test_6_4_a_dispute_of_somebody_who_has_left() -> None:
    """Right when it was said; its key is no seat's any more when it arrives."""
    table = until(deal=1)
    bend = table.bend()
    deal = bend.one("deal")
    bend.insert(len(bend.drafts), SERVER, Replace(seat=1, reason="left"))
    bend.insert(len(bend.drafts), "seat/1", Dispute(hand_key=H), seen=deal)
    codes = [("signature-invalid", ()), ("seen-not-previous", ()), ("dispute-key", ())]
    assert verdict_codes(bend) == codes


def test_6_4_a_second_dispute() -> None:
    """Both were right over the deal; only `void` may follow the first."""
    table = until(deal=1)
    bend = table.bend()
    deal = bend.one("deal")
    keys = [table.seats[n]._hand_key.hex() for n in (1, 2)]
    for n, key in zip((1, 2), keys, strict=True):
        bend.insert(len(bend.drafts), SEATS[n], Dispute(hand_key=key), seen=deal)
    codes = verdict_codes(bend)
    assert codes.count(("out-of-place", ())) == 1
    assert [code for code, _ in codes].count("dispute-unfounded") == 2


def test_6_5_the_server_answers_the_entry_before() -> None:
    table = until(commit=4)
    bend = table.bend()
    bend.insert(5, SERVER, void_of(table, "operator"), seen=bend[2])
    assert_only(bend.verify(), "seen-not-previous", entries=(5,))
    bend[5].seen = "33" * 32
    assert_only(bend.verify(), "seen-not-previous", entries=(5,))


def test_6_6_the_server_out_of_turn_and_out_of_place() -> None:
    bend = until(commit=4).bend().cut(3)
    bend.insert(3, SERVER, Deal(hands=()))
    bend.insert(4, SERVER, Exchange(hands=()))
    assert verdict_codes(bend) == [("out-of-turn", (SERVER,)), ("out-of-place", ())]


def test_6_6_a_name_that_no_seat_has_is_the_server_s_word() -> None:
    bend = Table(4).bend()
    bend.insert(1, SEATS[9], Commit(commitment=H), key=bend.keys[SERVER])
    assert_only(bend.verify(), "out-of-turn", SERVER, entries=(1,))


BODY_FORM = {
    "commit": lambda: (until(3, commit=4), "commit", "seat/3", {"hand_key": KEY}, SERVER),
    "commit of a person": lambda: (
        until(3, commit=4), "commit", "seat/1", {"hand_key": UNSET}, "seat/1",
    ),
    "deal without a hand": lambda: (until(3, deal=1), "deal", SERVER, {"hands": ()}, SERVER),
    "deal without a person's box": lambda: (
        until(3, deal=1), "deal", SERVER, {"hands": tuple(Share(commitment=H) for _ in range(4))},
        SERVER,
    ),
    "exchange without a hand": lambda: (
        until(3, exchange=1), "exchange", SERVER, {"hands": ()}, SERVER,
    ),
    "exchange with a box for a bot": lambda: (
        until(3, exchange=1), "exchange", SERVER,
        {"hands": tuple(Share(commitment=H, sealed=BOX) for _ in range(4))}, SERVER,
    ),
    "pass with a box by a bot": lambda: (
        until(3, **{"pass": 1}), "pass", "seat/3", {"sealed": BOX}, SERVER,
    ),
    "pass without a box": lambda: (
        until(3, **{"pass": 2}), "pass", "seat/0", {"sealed": UNSET}, "seat/0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BODY_FORM)
def test_6_7_body_form(name: str) -> None:
    table, kind, by, members, culprit = BODY_FORM[name]()
    bend = table.bend()
    draft = bend.one(kind, by)
    bend.cut(bend.place(draft) + 1)
    draft.change(**members)
    codes = verdict_codes(bend)
    assert set(codes) == {("body-form", (culprit,))}


@pytest.mark.parametrize(
    "members",
    [
        {"passes": ()},
        {"exchanges": ()},
        {"deals": ()},
        {"seeds": {}},
        {"seeds": {"seat/9": "00" * 64}},
    ],
)
def test_6_7_close_form(members: dict[str, Any]) -> None:
    bend = Table(3).run().bend()
    bend.one("close").change(**members)
    assert set(verdict_codes(bend)) == {("close-form", (SERVER,))}


def test_6_7_close_form_where_nothing_was_passed() -> None:
    bend = Table(2, hand=4).run().bend()
    close = bend.one("close")
    close.change(passes=close.body.deals, exchanges=close.body.deals)
    assert_only(bend.verify(), "close-form", SERVER)


@pytest.mark.parametrize("seat", [3, 4, 9])
def test_6_7_replace_nobody(seat: int) -> None:
    bend = Table(3).bend()
    bend.insert(len(bend.drafts), SERVER, Replace(seat=seat, reason="left"))
    assert_only(bend.verify(), "replace-nobody", SERVER)


def test_6_7_replace_nobody_a_second_time() -> None:
    table = Table(3)
    table.dealer.replace(1, "left", table.at)
    bend = table.bend()
    bend.insert(len(bend.drafts), SERVER, Replace(seat=1, reason="expelled"))
    assert_only(bend.verify(), "replace-nobody", SERVER)


VOID_REASONS = [
    # phase, reason, seat, whether it can be
    ("commit", "operator", None, True),
    ("commit", "operator", 0, False),
    ("commit", "left", 0, True),
    ("commit", "left", 3, True),
    ("commit", "left", 9, False),
    ("commit", "left", None, False),
    ("commit", "no-reveal", 0, False),
    ("commit", "no-reveal", None, False),
    ("commit", "bad-reveal", 0, False),
    ("commit", "bad-pass", 0, False),
    ("commit", "dispute", 0, False),
    ("commit", "dispute", None, False),
    ("reveal", "no-reveal", 0, True),
    ("reveal", "no-reveal", 3, False),
    ("reveal", "bad-reveal", 0, False),
    ("revealed", "no-reveal", 0, False),
    ("revealed", "bad-reveal", 0, True),
    ("passed", "bad-pass", 3, True),
    ("passed", "bad-pass", 0, False),
    ("disputed", "dispute", 1, True),
    ("disputed", "dispute", 0, False),
    ("disputed", "dispute", None, False),
    ("disputed", "operator", None, False),
    ("disputed", "bad-reveal", 0, False),
]


def moment(phase: str) -> Hand:
    kinds: dict[str, dict[str, int]] = {
        "commit": {"open": 1},
        "reveal": {"commit": 4},
        "revealed": {"reveal": 1},
        "passed": {"pass": 1},
        "disputed": {"deal": 1},
    }
    log = until(3, **kinds[phase]).log if phase != "disputed" else disputed()
    number = kinds[phase].copy().popitem()
    count = 0
    for size, entry in enumerate(log.entries, 1):
        count += entry.message.type == number[0]
        if count == number[1] and phase != "disputed":
            return replay(log, size)
    return replay(log, len(log) - 1)


@pytest.mark.parametrize(("phase", "reason", "seat", "can_be"), VOID_REASONS)
def test_6_7_void_reason(phase: str, reason: Any, seat: int | None, *, can_be: bool) -> None:
    hand = moment(phase)
    body = Void(hand_key=H, reason=reason, seat=seat, seeds={})
    judged = hand.judge(message(SERVER, H, body), b"x" * 32, hand.size - 1)
    assert [one.code for one in judged.deviations] == ([] if can_be else ["void-reason"])
    assert judged.follows


def test_6_8_what_equivocates_takes_no_effect() -> None:
    """Two commits of one person: the first counts, whoever opens it."""
    table = until(commit=4)
    bend = table.bend()
    first = bend.one("commit", "seat/1")
    bend.insert(
        bend.place(first) + 1,
        "seat/1",
        msgspec.structs.replace(first.body, commitment="44" * 32),
        seen=first.seen,
    )
    log = bend.build()
    hand = replay(log, len(log))
    assert hand.commits["seat/1"] == bend.place(first)
    assert hand.phase is Phase.REVEAL


def test_6_8_a_card_that_is_not_in_the_deck_is_followed_as_one_of_no_suit() -> None:
    """It takes the seat's turn, wins nothing, and does not lead the log astray."""
    log = until(play=6).log
    hand = replay(log, len(log))
    for _ in range(2):
        by = SEATS[hand.tricks.turn]
        judged = _judged(hand, log, by, Play(card="AX"), hand.since)
        assert [one.code for one in judged.deviations] == ["play-unknown-card"]
        hand.take(judged)
    assert len(hand.plays) == 8
    (leader, led), (second, card), *_ = hand.tricks.tricks[-1]
    follows = card[1] == led[1] and "23456789TJQKA".index(card[0]) > "23456789TJQKA".index(led[0])
    assert hand.tricks.turn == (second if follows else leader)
    assert hand.astray is None


def test_6_8_a_play_out_of_turn_is_followed_once_a_trick() -> None:
    """The seats that were jumped over are still to play; who has played is not."""
    log = until(play=5).log
    hand = replay(log, len(log))
    leader, turn = hand.plays[-1][1], hand.tricks.turn
    jumped = SEATS[(turn + 1) % 4]
    judged = _judged(hand, log, jumped, Play(card=_any_card(hand)), hand.since)
    assert [one.code for one in judged.deviations] == ["out-of-turn"]
    hand.take(judged)
    assert hand.plays[-1][1] == jumped
    assert hand.tricks.turn == turn
    again = _judged(hand, log, leader, Play(card=_any_card(hand)), hand.since)
    hand.take(again)
    assert hand.plays[-1][1] == jumped, "whoever has played to the trick is not followed"
    third = _judged(hand, log, SEATS[turn], Play(card=_any_card(hand)), hand.since)
    hand.take(third)
    assert hand.tricks.turn == (turn + 2) % 4, "next is the first that has not played"


def _any_card(hand: Hand) -> str:
    return next(card for card, number in hand.unplayed.items() if number)


def test_6_8_what_does_not_fit_takes_no_effect() -> None:
    log = until(commit=4).log
    hand = replay(log, len(log))
    for kind, by in (("deal", SERVER), ("close", SERVER), ("pass", "seat/1"), ("play", "seat/2")):
        before = hand.phase
        hand.take(_judged(hand, log, by, well_formed(kind, by, hand, log), hand.since))
        assert hand.phase is before
    assert not hand.plays


def test_6_8_a_body_that_deviates_still_takes_effect() -> None:
    """So one deviation does not accuse everybody after it."""
    log = until(3, deal=1).log
    hand = replay(log, log_place(log, "deal"))
    hand.take(_judged(hand, log, SERVER, Deal(hands=()), hand.size - 1))
    assert hand.phase is Phase.PASS
    replacing = replay(log, 2)
    replacing.take(_judged(replacing, log, SERVER, Replace(seat=3, reason="left"), 1))
    assert not replacing.replaced
    assert replacing.persons == {"seat/0", "seat/1", "seat/2"}


def log_place(log: Log, kind: str) -> int:
    return next(place for place, one in enumerate(log.entries) if one.message.type == kind)


# -- check 7 -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["deal", "exchange", "close"])
def test_7_1_two_of_the_server_s_in_one_hand(kind: str) -> None:
    table = Table(2).run()
    bend = table.bend()
    one = bend.one(kind)
    place = bend.place(one)
    bend.cut(place + 1)
    body = one.body
    if kind == "close":
        body = msgspec.structs.replace(body, points=())
    else:
        body = msgspec.structs.replace(body, hands=body.hands[::-1])
    bend.insert(place + 1, SERVER, body)
    assert_only(bend.verify(), "equivocation", SERVER, entries=(place, place + 1))


def test_7_1_two_reveals_over_different_entries() -> None:
    table = until(reveal=4)
    bend = table.bend()
    first = bend.one("reveal")
    bend.cut(bend.place(first) + 1)
    bend.insert(len(bend.drafts), first.by, Reveal(sealed="00" * 112), seen=bend[2])
    assert_only(bend.verify(), "equivocation", first.by, entries=(5, 6))


def test_7_1_two_over_one_entry_of_another_log() -> None:
    """What is signed over one `seen` contradicts itself whatever stands around it."""
    bend = until(commit=4).bend().cut(2)
    bend[1].seen = "22" * 32
    body = msgspec.structs.replace(bend[1].body, commitment="44" * 32)
    bend.insert(2, "seat/0", body, seen="22" * 32)
    assert verdict_codes(bend) == [("seen-unknown", ()), ("equivocation", ("seat/0",))]


def test_7_1_what_saw_another_log_may_be_of_another_hand() -> None:
    bend = until(commit=4).bend().cut(2)
    body = msgspec.structs.replace(bend[1].body, commitment="44" * 32)
    bend.insert(2, "seat/0", body, seen="22" * 32)
    assert verdict_codes(bend) == [("seen-unknown", ())]


def test_7_1_opens_of_different_hands_do_not_contradict_each_other() -> None:
    """Every `open` has seen the genesis; those of one hand, attempt and game contradict."""
    table = Table(4)
    bend = table.bend().cut(1)
    other = msgspec.structs.replace(bend[0].body, hand=2, previous="ab" * 32)
    bend.insert(1, SERVER, other)
    log = bend.build()
    hand = replay(log, 1)
    judged = hand.judge(log.entries[1].message, log.message_hashes[1], 0)
    assert [one.code for one in judged.deviations] == ["out-of-turn"]
    same = msgspec.structs.replace(bend[0].body, clock=None, substitute="random/1")
    judged = hand.judge(message(SERVER, log.hashes[0], same), b"y" * 32, 0)
    assert [one.code for one in judged.deviations] == ["equivocation"]


# -- what else a row says of a body --------------------------------------------------------------


def test_decks_have_one_form() -> None:
    for deck in (
        Deck(),
        Deck(packs=1),
        Deck(cards=("A", "B"), packs=1),
        Deck(cards=("A", "B"), removed=()),
        Deck(removed=()),
    ):
        bend = Table(3).bend().cut(1)
        bend[0].change(deck=deck)
        verdict = bend.verify()
        assert_only(verdict, "open-terms", SERVER, entries=(0,))
        assert "either packs and removed, or cards" in verdict.findings[0].found


def test_terms_are_judged_whatever_the_open_has_seen() -> None:
    """An `open` over something else is not excused from terms that make sense (a fuzzer's find)."""
    bend = Table(3).bend().cut(1)
    bend[0].change(deck=Deck(packs=1, removed=("2D",)))
    bend[0].seen = "00" * 31 + "01"
    codes = [one.code for one in bend.verify().findings]
    assert codes == ["open-terms", "seen-not-previous"]


def test_first_card_that_is_not_in_the_deck() -> None:
    """It is told before the card that must begin; where none must, a card of no deck is seen too."""
    for hand_number, rules in (
        (1, S0),
        (4, msgspec.structs.replace(S0, first_lead="left-of-dealer")),
    ):
        log = Table(4, hand=hand_number, rules=rules).run(lambda t: t.hand.play is not None).log
        hand = replay(log, len(log))
        judged = _judged(hand, log, SEATS[0], Play(card="1X"), hand.since)
        assert [one.code for one in judged.deviations] == ["play-unknown-card"]
        assert judged.deviations[0].fault is Fault.AUTHOR


def test_state_keeps_who_answers() -> None:
    table = Table(3)
    hand = table.hand
    assert hand.party_of("seat/0") == "seat/0"
    assert hand.party_of("seat/3") == SERVER
    table.dealer.replace(0, "left", table.at)
    assert hand.party_of("seat/0") == SERVER
    assert hand.key_of("seat/0") == table.server.public
    assert hand.key_of("seat/1") == table.keys[1].public


def test_message_type_follows_from_its_body() -> None:
    for kind, body in BODIES.items():
        assert Message(None, "server", GENESIS, kind).type == kind
        assert issubclass(body, msgspec.Struct)
