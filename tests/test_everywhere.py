"""The cheats that can be done in several phases, or by or to several seats: done in all of them.

`cheats.py` has one of each. Here a hand of twenty cards is bent in every place where it makes sense;
each time there is exactly one finding, with its code, its entries and whom it names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec
import pytest
from cheats import (
    BadBox,
    BentExchange,
    BentShuffle,
    Blind,
    Lawless,
    Rubbish,
    UnreadablePass,
    void_of,
)
from helpers import SEATS, SERVER, SHORT, Bend, Draft, Table, assert_only

from fairdeal.dealer import Dealer
from fairdeal.messages import Ack, Cards, Choose, Clock, Play, Replace, Reveal
from fairdeal.seat import Outgoing, Seat

PEOPLE = range(4)
Stop = Callable[[Table], bool]
PHASES: dict[str, Stop] = {
    "commit": lambda t: len(t.hand.commits) == 2,
    "reveal": lambda t: len(t.hand.reveals) == 2,
    "pass": lambda t: len(t.hand.passes) == 2,
    "play": lambda t: len(t.hand.plays) == 6,
    "close": lambda t: t.hand.end is not None,
}


def hand_until(stop: Stop, **options: Any) -> Table:
    """A table whose seats speak one at a time, so that it can be stopped anywhere."""
    table = Table(**{"people": 4, "seed": "everywhere", "deck": SHORT} | options)
    while not stop(table):
        said = next(((n, out) for n in table.seats for out in table.tell(n)), None)
        if said is None:
            break
        table.give(*said)
    return table


@lru_cache(maxsize=8)
def honest(people: int = 4, *, house: bool = False) -> Table:
    return Table(people, seed="everywhere", deck=SHORT, house=house).run()


def other(body: Any) -> Any:
    """The same kind of message, saying something else."""
    if hasattr(body, "commitment"):
        return msgspec.structs.replace(body, commitment="33" * 32)
    if isinstance(body, Reveal):
        return msgspec.structs.replace(body, sealed=body.sealed[::-1])
    return Play(card=next(card for card in ("AS", "KS") if card != body.card))


# -- every person, every kind of message --------------------------------------------------------------

SAID = [(kind, n) for kind in ("commit", "reveal", "pass", "play", "ack") for n in PEOPLE]


SIGNED = [(kind, SEATS[n]) for kind, n in SAID]
SIGNED += [(kind, SERVER) for kind in ("open", "deal", "exchange", "close")]


@pytest.mark.parametrize(("kind", "by"), SIGNED)
def test_a_forged_signature_names_nobody(kind: str, by: str) -> None:
    bend = honest().bend()
    draft = bend.of(kind, by)[-1]
    draft.sign = "00" * 64
    assert_only(bend.verify(), "signature-invalid", entries=(bend.place(draft),))


@pytest.mark.parametrize(("kind", "n"), SAID)
def test_a_message_over_another_log_names_nobody(kind: str, n: int) -> None:
    bend = honest().bend()
    draft = bend.of(kind, SEATS[n])[-1]
    draft.seen = "22" * 32
    assert_only(bend.verify(), "seen-unknown", entries=(bend.place(draft),))


@pytest.mark.parametrize(("kind", "n"), [one for one in SAID if one[0] != "ack"])
def test_two_messages_for_one_turn_name_their_author(kind: str, n: int) -> None:
    bend = honest().bend()
    draft = bend.of(kind, SEATS[n])[0]
    place = bend.place(draft)
    twin = bend.insert(place + 1, draft.by, other(draft.body), seen=draft.seen)
    twin.at = draft.at
    assert_only(bend.verify(), "equivocation", draft.by, entries=(place, place + 1))


@pytest.mark.parametrize("kind", ["deal", "exchange", "close"])
def test_the_server_says_two_things(kind: str) -> None:
    """The second one over its first: both of one hand, which has one."""
    bend = honest().bend()
    draft = bend.one(kind)
    place = bend.place(draft)
    members = {"deal": "hands", "exchange": "hands", "close": "deals"}[kind]
    swapped = tuple(reversed(getattr(draft.body, members)))
    twin = bend.insert(place + 1, SERVER, msgspec.structs.replace(draft.body, **{members: swapped}))
    assert_only(bend.verify(), "equivocation", SERVER, entries=(place, bend.place(twin)))


@pytest.mark.parametrize(("kind", "n"), [one for one in SAID if one[0] != "ack"])
def test_a_message_taken_twice_names_the_server(kind: str, n: int) -> None:
    """It signed over the second one, which is the author's own words."""
    bend = honest().bend()
    draft = bend.of(kind, SEATS[n])[0]
    place = bend.place(draft)
    bend.insert(place + 1, draft.by, draft.body, seen=draft.seen)
    assert_only(bend.verify(), "repeated", SERVER, entries=(place, place + 1))


# -- out of turn: every kind that is not due, in every phase, by every seat ----------------------------


@lru_cache(maxsize=8)
def stopped(phase: str) -> Table:
    return hand_until(PHASES[phase])


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("kind", ["commit", "reveal", "pass", "play", "choose", "ack"])
@pytest.mark.parametrize("n", PEOPLE)
def test_what_is_not_due_names_its_author(phase: str, kind: str, n: int) -> None:
    table = stopped(phase)
    hand, by = table.hand, SEATS[n]
    step = hand.steps[hand.since]
    if step.type == kind and by in step.parties:
        return  # it is due, or was
    bend = table.bend()
    draft = bend.insert(len(bend.drafts), by, body_of(kind), seen=bend[hand.since])
    place = bend.place(draft)
    first = {"commit": hand.commits, "reveal": hand.reveals}.get(kind, {}).get(by)
    if first is not None:  # of which a hand has one by each
        assert_only(bend.verify(), "equivocation", by, entries=(first, place))
    else:
        assert_only(
            bend.verify(), "after-end" if hand.ended else "out-of-turn", by, entries=(place,)
        )


def body_of(kind: str) -> Any:
    if kind == "choose":
        return Choose(moon="add")
    return Ack() if kind == "ack" else honest().bend().one(kind).body


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("kind", ["deal", "exchange", "close"])
def test_what_is_not_due_from_the_server_names_it(phase: str, kind: str) -> None:
    table = stopped(phase)
    said = {"deal": table.hand.deal, "exchange": table.hand.exchange, "close": table.hand.end}
    bend = table.bend()
    earlier = said[kind]
    draft = bend.insert(len(bend.drafts), SERVER, body_of(kind))
    code = "equivocation" if earlier is not None else "out-of-turn"
    entries = (bend.place(draft),) if earlier is None else (earlier, bend.place(draft))
    assert_only(bend.verify(), code, SERVER, entries=entries)


@pytest.mark.parametrize("end", ["close", "void"])
def test_nothing_comes_after_an_end(end: str) -> None:
    table = stopped("close") if end == "close" else hand_until(PHASES["commit"])
    for n in PEOPLE:
        bend = table.bend()
        if end == "void":
            bend.insert(len(bend.drafts), SERVER, void_of(table, "operator"))
        draft = bend.insert(len(bend.drafts), SERVER, Replace(seat=n, reason="left"))
        assert_only(bend.verify(), "after-end", SERVER, entries=(bend.place(draft),))


# -- the close: every shuffler, every seat -------------------------------------------------------------


@pytest.mark.parametrize("by", ["house", *SEATS[:4]])
def test_another_seed_at_the_close(by: str) -> None:
    bend = honest(3, house=True).bend()
    close = bend.one("close")
    close.change(seeds={**close.body.seeds, by: "44" * 64})
    places = (bend.place(bend.one("commit", by)), bend.place(close))
    assert_only(bend.verify(), "seed-mismatch", SERVER, entries=places)


@pytest.mark.parametrize("n", PEOPLE)
@pytest.mark.parametrize(
    ("member", "entry", "code"),
    [
        ("deals", "deal", "deal-opening"),
        ("passes", "pass", "pass-opening"),
        ("exchanges", "exchange", "exchange-opening"),
    ],
)
def test_another_opening_at_the_close(member: str, entry: str, code: str, n: int) -> None:
    bend = honest(3).bend()
    close = bend.one("close")
    openings = list(getattr(close.body, member))
    openings[n] = Cards(cards=openings[n].cards, salt="55" * 32)
    close.change(**{member: tuple(openings)})
    draft = bend.one(entry, SEATS[n] if entry == "pass" else None)
    assert_only(bend.verify(), code, SERVER, entries=(bend.place(draft), bend.place(close)))


@pytest.mark.parametrize(("one", "two"), [(0, 2), (1, 3), (2, 3), (3, 0)])
def test_cards_dealt_to_another(one: int, two: int) -> None:
    class Swapped(BentShuffle):
        between = (one, two)

    table = Table(4, seed="everywhere", deck=SHORT, dealer=Swapped).run()
    assert_both(table, "deal", one, two)


@pytest.mark.parametrize(("one", "two"), [(0, 2), (1, 3)])
def test_cards_exchanged_with_another(one: int, two: int) -> None:
    class Swapped(BentExchange):
        between = (one, two)

    table = Table(4, seed="everywhere", deck=SHORT, dealer=Swapped).run()
    assert_both(table, "exchange", one, two)


@pytest.mark.parametrize("n", PEOPLE)
def test_its_own_cards_given_back_are_disputed_at_once(n: int) -> None:
    """A seat knows what it passed, so it need not wait for the close."""

    class Swapped(BentExchange):
        between = (n, (n + 1) % 4)  # what it passed to the left comes back to it

    table = Table(4, seed="everywhere", deck=SHORT, dealer=Swapped).run()
    bend = table.bend()
    shown = (bend.one("commit", SEATS[n]), bend.one("exchange"), bend.one("dispute", SEATS[n]))
    places = tuple(map(bend.place, shown))
    assert places in [one.entries for one in table.verify().findings]
    assert {(one.code, one.culprits) for one in table.verify().findings} == {
        ("dispute-founded", (SERVER,))
    }


def assert_both(table: Table, kind: str, one: int, two: int) -> None:
    """A finding for each of the two seats, that names the server."""
    bend, found = table.bend(), table.verify().findings
    places = (bend.place(bend.one(kind)), bend.place(bend.one("close")))
    assert [(each.code, each.culprits, each.entries) for each in found] == [
        (f"{kind}-cards", (SERVER,), places)
    ] * 2
    said = sorted(each.found.rsplit(" ", 1)[1] for each in found)
    assert said == sorted((SEATS[one], SEATS[two]))


@pytest.mark.parametrize("n", PEOPLE)
@pytest.mark.parametrize("member", ["points", "scores"])
def test_one_seats_count_is_wrong(member: str, n: int) -> None:
    bend = honest().bend()
    close = bend.one("close")
    counts = list(getattr(close.body, member))
    counts[n] += 1
    close.change(**{member: tuple(counts)})
    if member == "points":
        close.change(scores=tuple(counts))
    assert_only(bend.verify(), f"{member}-wrong", SERVER, entries=(bend.place(close),))


# -- boxes: every seat, at the reveal, the pass, the deal and the exchange -----------------------------


@pytest.mark.parametrize("n", PEOPLE)
@pytest.mark.parametrize(
    ("seat", "code", "kind"),
    [(Rubbish, "bad-reveal", "reveal"), (UnreadablePass, "bad-pass", "pass")],
)
def test_a_bad_box_of_any_seat(seat: type[Seat], code: str, kind: str, n: int) -> None:
    table = Table(4, seed="everywhere", deck=SHORT, seat={n: seat}).run()
    bend = table.bend()
    shown = [bend.one(kind, SEATS[n]), bend.one("void")]
    if kind == "reveal":
        shown.insert(0, bend.one("commit", SEATS[n]))
    places = tuple(map(bend.place, shown))
    assert_only(table.verify(), code, SEATS[n], entries=places)


@pytest.mark.parametrize("n", PEOPLE)
@pytest.mark.parametrize("kind", ["deal", "exchange"])
def test_a_bad_box_for_any_seat_is_disputed_at_once(kind: str, n: int) -> None:
    class Boxes(BadBox):
        victim, box = SEATS[n], kind

    table = Table(4, seed="everywhere", deck=SHORT, dealer=Boxes).run()
    bend = table.bend()
    dispute = bend.one("dispute")
    assert dispute.by == SEATS[n]
    shown = (bend.one("commit", SEATS[n]), bend.one(kind), dispute)
    assert_only(table.verify(), "dispute-founded", SERVER, entries=tuple(map(bend.place, shown)))


# -- plays: every seat, in several tricks --------------------------------------------------------------


def lawless(n: int, trick: int, pick: Callable[[Seat], str | None]) -> tuple[Table, int] | None:
    """A hand in which seat `n` plays what `pick` says in that trick; in which entry, if it could."""
    done: list[int] = []

    def move(seat: Seat) -> Outgoing | None:
        if seat.turn == "pass":
            return seat.pass_cards(table.policy.pass_cards(seat.view(), table.word))
        if seat.turn != "play":
            return None
        there = seat is table.seats[n] and len(seat.hand.tricks.tricks) == trick and not done
        card = pick(seat) if there else None
        if card is None:
            return seat.play(table.policy.play_card(seat.view(), table.word))
        done.append(len(table.log))
        return seat.play(card)

    for seed in range(60):
        table = Table(
            4,
            seed=("lawless", n, trick, seed),
            dealer=Blind,
            deck=SHORT,
            seat={n: Lawless},
            moves=dict.fromkeys(PEOPLE, move),
        )
        table.run()
        if done:
            return table, done[0]
    return None


@pytest.mark.parametrize("n", PEOPLE)
@pytest.mark.parametrize("trick", [0, 1, 3])
def test_a_revoke_by_any_seat(trick: int, n: int) -> None:
    def pick(seat: Seat) -> str | None:
        played = seat.hand.tricks.trick
        if not played or seat.legal()[0][1] != played[0][1][1]:
            return None
        plain = (card for card in seat.cards if card[1] in "DS" and card != "QS")
        return next((card for card in plain if card[1] != played[0][1][1]), None)

    found = lawless(n, trick, pick)
    assert found is not None
    table, place = found
    assert_only(table.verify(), "play-revoke", SEATS[n], entries=(place,))


@pytest.mark.parametrize("n", PEOPLE)
def test_hearts_led_unbroken_by_any_seat(n: int) -> None:
    def pick(seat: Seat) -> str | None:
        if seat.hand.tricks.trick or seat.legal() == seat.cards:
            return None
        return next((c for c in seat.cards if c[1] == "H" and c not in seat.legal()), None)

    found = lawless(n, 1, pick)
    assert found is not None
    table, place = found
    assert_only(table.verify(), "play-hearts-unbroken", SEATS[n], entries=(place,))


def last_play(table: Table, n: int) -> tuple[Bend, Draft]:
    bend = table.bend()
    return bend, bend.of("play", SEATS[n])[-1]


@pytest.mark.parametrize("n", PEOPLE)
def test_a_card_of_no_deck_by_any_seat(n: int) -> None:
    table = hand_until(
        lambda t: (
            any(by == SEATS[n] for _, by, _ in t.hand.plays) and t.hand.plays[-1][1] == SEATS[n]
        )
    )
    bend, play = last_play(table, n)
    play.change(card="1X")
    assert_only(bend.verify(), "play-unknown-card", SEATS[n], entries=(bend.place(play),))


@pytest.mark.parametrize("n", PEOPLE)
@pytest.mark.parametrize("rounds", [2, 4])
def test_its_own_card_again_by_any_seat(rounds: int, n: int) -> None:
    """The seat itself played that card before: it does not hold it now, whoever dealt it."""
    table = hand_until(
        lambda t: (
            sum(by == SEATS[n] for _, by, _ in t.hand.plays) == rounds
            and t.hand.plays[-1][1] == SEATS[n]
        )
    )
    bend, play = last_play(table, n)
    play.change(card=bend.of("play", SEATS[n])[0].body.card)
    assert_only(bend.verify(), "play-not-held", SEATS[n], entries=(bend.place(play),))


# -- bots, the clock, voids, replacements: in every phase ----------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("kind", ["pass", "play"])
def test_a_bot_at_any_seat_departs_from_its_policy(kind: str, n: int) -> None:
    class Departing(Dealer):
        def _decide(self, by: str, wanted: Any) -> tuple[str, ...]:
            decided = super()._decide(by, wanted)
            if by != SEATS[n] or wanted != kind:
                return decided
            held = self._cards[by]
            if kind == "pass":
                order = self.hand.game.deck.index
                self._decided[by] = tuple(sorted(held, key=order)[: len(decided)])
            else:
                self._decided[by] = (self.hand.tricks.legal(held)[-1],)
            return self._decided[by]

    for seed in range(20):
        table = Table(1, seed=("bots", seed), deck=SHORT, dealer=Departing).run()
        verdict = table.verify()
        if verdict.findings:
            break
    assert {(one.code, one.culprits) for one in verdict.findings} == {
        ("policy-departed", (SERVER,))
    }
    authors = {table.log.entries[one.entries[0]].message.by for one in verdict.findings}
    assert authors == {SEATS[n]}


@pytest.mark.parametrize("n", PEOPLE)
@pytest.mark.parametrize("phase", ["pass", "play"])
def test_an_expulsion_with_time_left(phase: str, n: int) -> None:
    def waiting(table: Table) -> bool:
        if phase == "pass":
            return table.hand.deal is not None and not table.hand.passes
        return len(table.hand.plays) > 1 and table.hand.tricks.turn == n

    table = hand_until(waiting, clock=Clock(grace_ms=5000, reserve_ms=60000))
    place = len(table.log)
    table.dealer.replace(n, "expelled", table.at + 10_000)
    table.run()
    assert_only(table.verify(), "expelled-early", SERVER, entries=(place,))


@pytest.mark.parametrize("phase", ["commit", "reveal", "pass", "play"])
@pytest.mark.parametrize("n", [0, 3])
def test_a_bot_is_not_replaced(phase: str, n: int) -> None:
    table = hand_until(PHASES[phase] if phase != "commit" else lambda t: len(t.log) > 3, people=3)
    bend = table.bend()
    if n == 0:  # a person, replaced twice
        bend.insert(len(bend.drafts), SERVER, Replace(seat=0, reason="left"))
    draft = bend.insert(len(bend.drafts), SERVER, Replace(seat=n, reason="left"))
    assert_only(bend.verify(), "replace-nobody", SERVER, entries=(bend.place(draft),))


VOIDABLE = ("commit", "reveal", "pass", "play")


@pytest.mark.parametrize("phase", VOIDABLE)
def test_a_void_with_another_hand_key(phase: str) -> None:
    table = stopped(phase)
    early = phase in ("commit", "reveal")
    body = void_of(
        table,
        "no-reveal" if early else "operator",
        2 if phase == "reveal" else 0 if early else None,
    )
    bend = table.bend()
    draft = bend.insert(len(bend.drafts), SERVER, msgspec.structs.replace(body, hand_key="66" * 32))
    assert_only(bend.verify(), "void-key", SERVER, entries=(0, bend.place(draft)))


@pytest.mark.parametrize("phase", VOIDABLE)
@pytest.mark.parametrize("reason", ["no-reveal", "bad-reveal", "bad-pass", "dispute"])
@pytest.mark.parametrize("n", PEOPLE)
def test_a_void_for_what_did_not_happen(n: int, reason: str, phase: str) -> None:
    table = stopped(phase)
    hand, by = table.hand, SEATS[n]
    bend = table.bend()
    bend.insert(len(bend.drafts), SERVER, void_of(table, reason, n))
    verdict = bend.verify()
    withheld = by in hand.commits and by not in hand.reveals
    shown = {"bad-reveal": by in hand.reveals, "bad-pass": by in hand.passes}.get(reason, False)
    if reason == "no-reveal" and withheld:
        assert verdict.findings == ()  # true, as far as the log goes
    else:
        assert_only(verdict, "void-unfounded" if shown else "void-reason", SERVER)


@pytest.mark.parametrize("phase", ["pass", "play"])
def test_a_deck_that_is_known_is_given_up(phase: str) -> None:
    table = stopped(phase)
    bend = table.bend()
    draft = bend.insert(len(bend.drafts), SERVER, void_of(table, "operator"))
    places = (*map(bend.place, bend.of("reveal")), bend.place(draft))
    assert_only(bend.verify(), "void-after-reveals", SERVER, entries=places)
