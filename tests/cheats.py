"""A cheat for every finding code: an honest hand with one step changed, and the rest signed again.

Each function returns the log, the code that it must give, the culprits, and the entries cited. A
cheat that a live party commits is a subclass of the real `Dealer` or `Seat`; what a live party would
refuse at once is bent afterwards with the keys the cheater holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from helpers import SEATS, SERVER, Bend, Key, Table
from msgspec import UNSET

from fairdeal import sealing
from fairdeal.dealer import Dealer
from fairdeal.encoding import encode
from fairdeal.log import Log
from fairdeal.messages import (
    Ack,
    Cards,
    Clock,
    Deck,
    Dispute,
    Exchange,
    Pass,
    Play,
    Replace,
    Reveal,
    Void,
)
from fairdeal.seat import Outgoing, Seat


class Case(NamedTuple):
    log: Log
    code: str
    culprits: tuple[str, ...]
    entries: tuple[int, ...]


CHEATS: dict[str, Callable[[], Case]] = {}


def cheat(make: Callable[[], Case]) -> Callable[[], Case]:
    CHEATS[make.__name__.replace("_", "-")] = make
    return make


def bent(**options: Any) -> Bend:
    return Table(**options).run().bend()


def case(bend: Bend, code: str, *culprits: str, at: tuple[Any, ...]) -> Case:
    log = bend.build()
    places = (one if isinstance(one, int) else bend.place(one) for one in at)
    return Case(log, code, culprits, tuple(sorted(places)))


# -- 2 chain -------------------------------------------------------------------------------------


@cheat
def chain_prev_last_entry() -> Case:
    """Anyone: another `prev` in the last ack."""
    bend = bent()
    bend[-1].prev = "11" * 32
    return case(bend, "chain-prev", at=(bend[-1],))


@cheat
def chain_seq_by_server() -> Case:
    """The server numbers an entry wrongly and goes on over it."""
    table = Table(2)
    table.run(lambda t: t.hand.deal is not None)
    bend = table.bend()
    bend.insert(len(bend.drafts), SERVER, void_of(table, "operator"))
    del bend.drafts[-2]  # the deal: nobody answered it, so the server alone signs what follows
    bend[-2].seq = 90
    return case(bend, "chain-seq", SERVER, at=(bend[-2],))


@cheat
def chain_seq_last_entry() -> Case:
    """Anyone: another number in the last ack, which nothing covers."""
    bend = bent()
    bend[-1].seq = 99
    return case(bend, "chain-seq", at=(bend[-1],))


@cheat
def chain_time_by_server() -> Case:
    """The server dates an entry back, and signs over it."""
    bend = bent()
    draft = bend.one("exchange")
    draft.at = 5
    return case(bend, "chain-time", SERVER, at=(draft,))


@cheat
def chain_time_last_entry() -> Case:
    """Anyone: the last ack dated back."""
    bend = bent()
    bend[-1].at = 5
    return case(bend, "chain-time", at=(bend[-1],))


# -- 3 terms -------------------------------------------------------------------------------------


def only_open(**members: Any) -> Bend:
    bend = Table(3).bend().cut(1)
    bend[0].change(**members)
    return bend


@cheat
def open_key_of_small_order() -> Case:
    bend = Table(3).bend().cut(1)
    seats = bend[0].body.seats
    bad = msgspec.structs.replace(seats[0], key="01" + "00" * 31)
    bend[0].change(seats=(bad, *seats[1:]))
    return case(bend, "open-key", SERVER, at=(0,))


@cheat
def open_key_twice() -> Case:
    bend = Table(3).bend().cut(1)
    seats = bend[0].body.seats
    same = msgspec.structs.replace(seats[1], key=seats[0].key)
    bend[0].change(seats=(seats[0], same, *seats[2:]))
    return case(bend, "open-key", SERVER, at=(0,))


@cheat
def open_key_of_server_at_a_person() -> Case:
    bend = Table(3).bend().cut(1)
    seats = bend[0].body.seats
    same = msgspec.structs.replace(seats[1], key=bend[0].body.server_key)
    bend[0].change(seats=(seats[0], same, *seats[2:]))
    return case(bend, "open-key", SERVER, at=(0,))


@cheat
def open_key_of_another_at_a_bot() -> Case:
    bend = Table(3).bend().cut(1)
    seats = bend[0].body.seats
    other = msgspec.structs.replace(seats[3], key=Key(b"7" * 32).public.hex())
    bend[0].change(seats=(*seats[:3], other))
    return case(bend, "open-key", SERVER, at=(0,))


@cheat
def open_hand_key_of_small_order() -> Case:
    return case(only_open(hand_key="01" + "00" * 31), "open-hand-key", SERVER, at=(0,))


@cheat
def open_previous_left_out() -> Case:
    return case(only_open(attempt=2), "open-previous", SERVER, at=(0,))


@cheat
def open_terms_without_sense() -> Case:
    return case(only_open(deck=Deck(packs=1, removed=("2D",))), "open-terms", SERVER, at=(0,))


@cheat
def open_scores_in_the_first_hand() -> Case:
    return case(only_open(scores=(1, 0, 0, 0)), "open-scores", SERVER, at=(0,))


# -- 4, 5 signatures and coverage ----------------------------------------------------------------


@cheat
def signature_invalid_of_a_play() -> Case:
    bend = bent()
    draft = bend.of("play")[20]
    draft.sign = "00" * 64
    return case(bend, "signature-invalid", at=(draft,))


@cheat
def signature_missing_at_the_end() -> Case:
    bend = bent()
    bend[-1].sign = False
    return case(bend, "signature-missing", at=(bend[-1],))


# -- 6 order -------------------------------------------------------------------------------------


@cheat
def seen_unknown_ack() -> Case:
    """A seat acknowledged a close that is not on this log."""
    bend = bent()
    bend[-1].seen = "22" * 32
    return case(bend, "seen-unknown", at=(bend[-1],))


@cheat
def seen_not_previous_by_server() -> Case:
    """The server answers an older entry, and signs over it."""
    bend = bent()
    draft = bend.one("exchange")
    draft.seen = bend.one("deal")
    return case(bend, "seen-not-previous", SERVER, at=(draft,))


@cheat
def seen_not_previous_last_entry() -> Case:
    """Anyone: the close taken out and put back after a cut; nothing covers its place."""
    table = Table(4)
    table.run(lambda t: t.hand.end is not None)
    bend = table.bend()
    close = bend.one("close")
    close.seen = bend[bend.place(close) - 2]
    return case(bend, "seen-not-previous", at=(close,))


@cheat
def out_of_turn_play_by_person() -> Case:
    """A seat plays before the one on turn: two plays of a trick change places, both signed so."""
    bend = bent(seed=3)
    plays = bend.of("play")
    one, two = plays[21], plays[22]
    place = bend.place(one)
    bend.drafts[place : place + 2] = [two, one]
    two.seen, one.seen = plays[20], two
    one.at, two.at = two.at, one.at
    after = plays[23]
    after.seen = one
    return case(bend, "out-of-turn", two.by, at=(two,))


@cheat
def out_of_turn_deal_before_reveals() -> Case:
    """The server deals before the last reveal."""
    table = Table(3)
    table.run(lambda t: t.hand.deal is not None)
    bend = table.bend().cut(table.hand.deal + 1)
    deal, reveal = bend[-1], bend[-2]
    bend.drafts[-2:] = [deal]
    del reveal
    return case(bend, "out-of-turn", SERVER, at=(deal,))


@cheat
def out_of_turn_reveal_before_commits() -> Case:
    """A seat reveals over the first person's commitment."""
    table = Table(4)
    table.run(lambda t: len(t.hand.commits) == 4)
    bend = table.bend().cut(3)
    first = bend.one("commit")
    draft = bend.insert(3, first.by, Reveal(sealed="00" * 112), seen=first)
    return case(bend, "out-of-turn", first.by, at=(draft,))


@cheat
def out_of_turn_commit_of_a_bot_after_a_person() -> Case:
    """The server commits for its bot after it has seen a person's commitment."""
    table = Table(3)
    table.run(lambda t: len(t.hand.commits) == 4)
    bend = table.bend()
    bots, person = bend.one("commit", "seat/3"), bend.one("commit", "seat/0")
    bend.drafts[1:3] = [person, bots]
    person.seen, person.at = bend[0], bots.at
    for draft in bend.of("commit")[2:]:
        draft.seen = bots
    return case(bend.cut(3), "out-of-turn", "seat/0", at=(person,))


@cheat
def out_of_place_play_moved_by_server() -> Case:
    """The server puts a late pass, right where it was said, behind the exchange it made without it."""
    table = Table(4)
    table.run(lambda t: len(t.hand.passes) == 4)
    bend = table.bend()
    late = bend.of("reveal")[-1]
    bend.drafts.remove(late)
    deal = bend.place(bend.one("deal"))
    bend.cut(deal)
    bend.insert(deal, SERVER, void_of(table, "no-reveal", int(late.by[-1])))
    bend.drafts.append(late)
    return case(bend, "out-of-place", at=(late,))


@cheat
def repeated_play_by_server() -> Case:
    """The server appends a seat's play twice, and goes on."""
    bend = bent()
    play = bend.of("play")[30]
    place = bend.place(play)
    bend.insert(place + 1, play.by, play.body, seen=play.seen)
    return case(bend, "repeated", SERVER, at=(place, place + 1))


@cheat
def repeated_ack_at_the_end() -> Case:
    bend = bent()
    last = bend[-1]
    bend.insert(len(bend.drafts), last.by, Ack(), seen=last.seen)
    return case(bend, "repeated", at=(-2 + len(bend.drafts), -1 + len(bend.drafts)))


@cheat
def after_end_replace() -> Case:
    """The server goes on after its close."""
    bend = bent()
    draft = bend.insert(len(bend.drafts), SERVER, Replace(seat=1, reason="left"))
    return case(bend, "after-end", SERVER, at=(draft,))


@cheat
def body_form_box_for_a_bot() -> Case:
    table = Table(3)
    table.run(lambda t: t.hand.deal is not None)
    bend = table.bend().cut(table.hand.deal + 1)
    hands = bend[-1].body.hands
    bad = msgspec.structs.replace(hands[3], sealed="00" * 48)
    bend[-1].change(hands=(*hands[:3], bad))
    return case(bend, "body-form", SERVER, at=(bend[-1],))


@cheat
def body_form_commit_without_hand_key() -> Case:
    table = Table(4)
    table.run(lambda t: len(t.hand.commits) == 4)
    bend = table.bend().cut(2)
    bend[1].change(hand_key=UNSET)
    return case(bend, "body-form", "seat/0", at=(1,))


@cheat
def commit_hand_key_of_small_order() -> Case:
    bend = Table(4).run(lambda t: len(t.hand.commits) == 4).bend().cut(2)
    bend[1].change(hand_key="00" * 32)
    return case(bend, "commit-hand-key", "seat/0", at=(1,))


@cheat
def close_form_without_the_house_seed() -> Case:
    bend = bent(house=True)
    close = bend.one("close")
    close.change(seeds={by: seed for by, seed in close.body.seeds.items() if by != "house"})
    return case(bend, "close-form", SERVER, at=(close,))


@cheat
def replace_nobody_at_a_bot() -> Case:
    table = Table(3)
    bend = table.bend()
    draft = bend.insert(len(bend.drafts), SERVER, Replace(seat=3, reason="left"))
    return case(bend, "replace-nobody", SERVER, at=(draft,))


@cheat
def void_reason_of_a_seat_that_revealed() -> Case:
    """The server calls a seat silent that has revealed."""
    table = Table(4)
    table.run(lambda t: len(t.hand.commits) == 4)
    table.give(1, table.tell(1)[0])
    bend = table.bend()
    draft = bend.insert(len(bend.drafts), SERVER, void_of(table, "no-reveal", 1))
    return case(bend, "void-reason", SERVER, at=(draft,))


# -- 7 equivocation ------------------------------------------------------------------------------


@cheat
def equivocation_of_a_person_two_plays() -> Case:
    bend = bent()
    play = bend.of("play")[30]
    place = bend.place(play)
    bend.insert(place + 1, play.by, Play(card=bend.of("play")[40].body.card), seen=play.seen)
    return case(bend, "equivocation", play.by, at=(place, place + 1))


@cheat
def equivocation_of_the_server_two_ends() -> Case:
    table = Table(2).run()
    bend = table.bend()
    draft = bend.insert(len(bend.drafts), SERVER, void_of(table, "operator"))
    return case(bend, "equivocation", SERVER, at=(bend.one("close"), draft))


@cheat
def equivocation_of_a_person_two_commits() -> Case:
    table = Table(4)
    table.run(lambda t: len(t.hand.commits) == 4)
    bend = table.bend()
    first = bend.one("commit", "seat/1")
    other = msgspec.structs.replace(first.body, commitment="33" * 32)
    draft = bend.insert(len(bend.drafts), "seat/1", other, seen=first.seen)
    return case(bend, "equivocation", "seat/1", at=(first, draft))


# -- 8 to 11: what the close opens ---------------------------------------------------------------


@cheat
def seed_mismatch_of_a_bot() -> Case:
    """The server closes with another seed for its bot than it committed to."""
    bend = bent(people=3)
    close = bend.one("close")
    close.change(seeds={**close.body.seeds, "seat/3": "44" * 64})
    return case(bend, "seed-mismatch", SERVER, at=(bend.one("commit", "seat/3"), close))


@cheat
def seed_mismatch_of_a_person() -> Case:
    """The server makes up a person's seed at the close: that names the server, not the person."""
    bend = bent()
    close = bend.one("close")
    close.change(seeds={**close.body.seeds, "seat/2": "44" * 64})
    return case(bend, "seed-mismatch", SERVER, at=(bend.one("commit", "seat/2"), close))


@cheat
def deal_opening_with_another_salt() -> Case:
    bend = bent()
    close = bend.one("close")
    deals = close.body.deals
    close.change(deals=(Cards(cards=deals[0].cards, salt="55" * 32), *deals[1:]))
    return case(bend, "deal-opening", SERVER, at=(bend.one("deal"), close))


class BentShuffle(Dealer):
    """Deals one card of the one seat to the other and the other way round."""

    between = (0, 1)

    def _shuffle(self) -> None:
        super()._shuffle()
        hands = [list(cards) for cards in self._dealt]
        one, two = (hands[n] for n in self.between)
        one[0], two[0] = two[0], one[0]
        self._dealt = tuple(map(tuple, hands))


@cheat
def deal_cards_swapped() -> Case:
    table = Table(4, dealer=BentShuffle).run()
    return case(table.bend(), "deal-cards", SERVER, at=(table.hand.deal, table.hand.end))


@cheat
def pass_opening_with_another_salt() -> Case:
    bend = bent()
    close = bend.one("close")
    passes = close.body.passes
    close.change(passes=(Cards(cards=passes[0].cards, salt="55" * 32), *passes[1:]))
    return case(bend, "pass-opening", SERVER, at=(bend.one("pass", "seat/0"), close))


class ForeignPass(Seat):
    """Passes on a card that it was not dealt, in place of one of its own, and never plays it.

    `foreign` is what the seat before it has just passed to it, which its friend there told it.
    """

    foreign = ""

    def pass_cards(self, cards: Any) -> Outgoing:
        deck = self.hand.game.deck
        wrong = tuple(sorted((self.foreign, *tuple(cards)[1:]), key=deck.index))
        self._passed = Cards(cards=wrong, salt=self._pass_salt)
        return self._say(self._sealed_pass(self._passed))

    @property
    def cards(self) -> tuple[str, ...]:
        if self._dealt is None or self._received is None:
            return self._dealt.cards if self._dealt else ()
        gone = {self.foreign, *(self._passed.cards if self._passed else ())}
        gone |= {card for _, by, card in self.hand.plays if by == self.name}
        return tuple(
            card for card in (*self._dealt.cards, *self._received.cards) if card not in gone
        )


class Blind(Dealer):
    """A server that does not look at what seats pass or play."""

    def _refuse_privately(self, by: str, body: Any) -> None:
        return

    def _learn(self, by: str, body: Any) -> None:
        if not isinstance(body, Exchange):
            super()._learn(by, body)
            return
        for seat, cards in self._received().items():
            own = self._passed[seat].cards
            self._cards[seat] = [card for card in self._cards[seat] if card not in own] + list(
                cards
            )


@cheat
def pass_cards_not_held() -> Case:
    """A seat passes on a card of another's; the server hands it on, plays on and closes."""

    def wait(seat: Seat) -> Outgoing | None:
        passed = table.dealer._passed.get("seat/1")
        if seat.turn == "pass" and passed is None:
            return None
        if seat.turn == "pass":
            seat.foreign = passed.cards[0]
            return seat.pass_cards(table.policy.pass_cards(seat.view(), table.word))
        return seat.play(table.policy.play_card(seat.view(), table.word)) if seat.turn else None

    table = Table(4, dealer=Blind, seat={2: ForeignPass}, moves={2: wait})
    table.run()
    bend = table.bend()
    return case(bend, "pass-cards", "seat/2", at=(bend.one("pass", "seat/2"),))


class BentExchange(Dealer):
    """Gives the one seat a card that was passed to the other, and the other way round."""

    between = (1, 3)

    def _received(self) -> dict[str, tuple[str, ...]]:
        given = {by: list(cards) for by, cards in super()._received().items()}
        one, two = (given[SEATS[n]] for n in self.between)
        one[0], two[0] = two[0], one[0]
        order = self.hand.game.deck.index
        return {by: tuple(sorted(cards, key=order)) for by, cards in given.items()}


@cheat
def exchange_cards_swapped() -> Case:
    table = Table(4, dealer=BentExchange).run()
    bend = table.bend()
    return case(bend, "exchange-cards", SERVER, at=(table.hand.exchange, table.hand.end))


@cheat
def exchange_opening_with_another_salt() -> Case:
    bend = bent()
    close = bend.one("close")
    given = close.body.exchanges
    close.change(exchanges=(Cards(cards=given[0].cards, salt="55" * 32), *given[1:]))
    return case(bend, "exchange-opening", SERVER, at=(bend.one("exchange"), close))


# -- 12 plays ------------------------------------------------------------------------------------


class Lawless(Seat):
    """Plays what it likes: `wanted` picks a card of its hand, or any, when it may."""

    def play(self, card: str) -> Outgoing:
        return self._say(Play(card=card))


def lawless(
    pick: Callable[[Seat], str | None], seed: object, **options: Any
) -> tuple[Table, str, int]:
    """A hand in which seat 1 once plays what `pick` says; who, and in which entry."""
    done: list[int] = []

    def move(seat: Seat) -> Outgoing | None:
        if seat.turn != "play":
            return (
                seat.pass_cards(table.policy.pass_cards(seat.view(), table.word))
                if seat.turn
                else None
            )
        card = None if done else pick(seat)
        if card is None:
            return seat.play(table.policy.play_card(seat.view(), table.word))
        done.append(len(table.log))
        return seat.play(card)

    table = Table(
        4,
        seed=seed,
        dealer=Blind,
        seat=dict.fromkeys(range(4), Lawless),
        moves=dict.fromkeys(range(4), move),
        **options,
    )
    table.run()
    assert done, "the seed gives the chance"
    return table, table.log.entries[done[0]].message.by, done[0]


def after_first_trick(seat: Seat) -> bool:
    return seat.hand.play is not None and len(seat.hand.play.tricks) >= 1


@cheat
def play_revoke_by_person() -> Case:
    def pick(seat: Seat) -> str | None:
        legal, play = seat.legal(), seat.hand.play
        if not after_first_trick(seat) or not play.trick or legal[0][1] != play.trick[0][1][1]:
            return None
        return next((card for card in seat.cards if card[1] != legal[0][1]), None)

    table, by, place = lawless(pick, 1)
    return case(table.bend(), "play-revoke", by, at=(place,))


@cheat
def play_first_trick_points_by_person() -> Case:
    def pick(seat: Seat) -> str | None:
        play = seat.hand.play
        if not play.trick or play.tricks or seat.legal()[0][1] == "C":
            return None
        return next((card for card in seat.cards if card[1] == "H" or card == "QS"), None)

    for seed in range(200):
        try:
            table, by, place = lawless(pick, seed)
        except AssertionError:
            continue
        return case(table.bend(), "play-first-trick-points", by, at=(place,))
    raise AssertionError("no seed gives a seat without clubs")


@cheat
def play_hearts_unbroken_by_person() -> Case:
    def pick(seat: Seat) -> str | None:
        play = seat.hand.play
        if play.trick or not play.tricks or play.broken:
            return None
        return next(
            (card for card in seat.cards if card[1] == "H" and card not in seat.legal()), None
        )

    table, by, place = lawless(pick, 2)
    return case(table.bend(), "play-hearts-unbroken", by, at=(place,))


@cheat
def play_first_lead_by_person() -> Case:
    """A seat that does not hold the card that begins leads another."""
    table = Table(4)
    table.run(lambda t: t.hand.exchange is not None)
    bend = table.bend()
    leads = [
        n
        for n in range(4)
        if "2C" not in table.seats[n].cards and "2C" not in table.dealer.cards_of(n)
    ]
    n = leads[0]
    card = table.dealer.cards_of(n)[0]
    draft = bend.insert(len(bend.drafts), SEATS[n], Play(card=card), seen=bend[-1])
    return case(bend, "play-first-lead", SEATS[n], at=(draft,))


@cheat
def play_unknown_card_by_person() -> Case:
    bend = Table(4, seed=5).run(lambda t: len(t.hand.plays) == 9).bend()
    bend[-1].change(card="1X")
    return case(bend, "play-unknown-card", bend[-1].by, at=(bend[-1],))


@cheat
def play_not_held_by_person() -> Case:
    """A seat plays a card of a hand that has played already... of another seat, which never plays it."""
    table = Table(4, seed=6).run()
    bend = table.bend()
    last = bend.of("play")[-1]
    before = next(p for p in bend.of("play") if p.by == last.by)
    last.change(card=before.body.card)
    close = bend.one("close")
    fix_points(table, bend, close)
    return case(bend, "play-not-held", last.by, at=(last,))


@cheat
def card_twice_by_different_seats() -> Case:
    """The second play of one card names nobody: the server may have dealt it twice."""
    bend = Table(4, seed=6).run(lambda t: len(t.hand.plays) == 11).bend()
    last = bend[-1]
    other = next(p for p in bend.of("play") if p.by != last.by and p.body.card != "2C")
    last.change(card=other.body.card)
    return case(bend, "card-twice", at=(last,))


# -- 13 bots -------------------------------------------------------------------------------------


class Peeking(Dealer):
    """Its bots look at other hands: they play their highest card if they can."""

    def _decide(self, by: str, kind: Any) -> tuple[str, ...]:
        decided = super()._decide(by, kind)
        if kind == "play" and self.hand.play is not None:
            legal = self.hand.play.legal(self._cards[by])
            decided = (max(legal, key=lambda card: "23456789TJQKA".index(card[0])),)
            self._decided[by] = decided
        return decided


@cheat
def policy_departed_by_a_peeking_bot() -> Case:
    table = Table(3, dealer=Peeking).run()
    verdict = table.verify()
    place = verdict.findings[0].entries[0] if verdict.findings else 0
    assert table.log.entries[place].message.by == "seat/3"
    return case(table.bend(), "policy-departed", SERVER, at=(place, table.hand.end))


# -- 14 clock ------------------------------------------------------------------------------------


@cheat
def expelled_early() -> Case:
    """The server expels a seat that has used none of its reserve."""
    table = Table(4, clock=Clock(grace_ms=5000, reserve_ms=60000))
    table.run(lambda t: len(t.hand.plays) == 7)
    turn = table.hand.play.turn
    place = len(table.log)
    table.dealer.replace(turn, "expelled", table.at + 10_000)
    table.run()
    return case(table.bend(), "expelled-early", SERVER, at=(place,))


# -- 15, 16 score and result ---------------------------------------------------------------------


def fix_points(table: Table, bend: Bend, close: Any) -> None:
    """What the close must say once a play was changed."""
    game = table.hand.game
    play = game.begin(table.terms.hand)
    for draft in bend.of("play"):
        play.play(SEATS.index(draft.by), draft.body.card)
    points = game.points(play, (), None)
    close.change(points=points, scores=game.totals((0,) * 4, points))


@cheat
def points_wrong() -> Case:
    bend = bent()
    close = bend.one("close")
    wrong = tuple(reversed(close.body.points))
    close.change(points=wrong, scores=wrong)
    return case(bend, "points-wrong", SERVER, at=(close,))


@cheat
def scores_wrong() -> Case:
    bend = bent()
    close = bend.one("close")
    close.change(scores=tuple(score + 1 for score in close.body.scores))
    return case(bend, "scores-wrong", SERVER, at=(close,))


@cheat
def result_wrong_winner() -> Case:
    table = Table(4, hand=8, scores=(95, 96, 97, 98)).run()
    bend = table.bend()
    close = bend.one("close")
    result = close.body.result
    close.change(
        result=msgspec.structs.replace(
            result, winners=tuple(n for n in range(4) if n not in result.winners)
        )
    )
    return case(bend, "result-wrong", SERVER, at=(close,))


@cheat
def result_wrong_before_the_end() -> Case:
    """The server ends a game that goes on."""
    finished = Table(4, hand=8, scores=(95, 96, 97, 98)).run().bend().one("close").body.result
    bend = bent()
    close = bend.one("close")
    close.change(result=finished)
    return case(bend, "result-wrong", SERVER, at=(close,))


# -- 17 void -------------------------------------------------------------------------------------


def void_of(table: Table, reason: Any, seat: int | None = None, **members: Any) -> Void:
    """The void an honest dealer would make now, with these members changed."""
    dealer = table.dealer
    seeds = {by: seed.hex() for by, seed in dealer._seeds.items() if by in dealer.hand.commits}
    body = Void(hand_key=dealer._hand_key.hex(), reason=reason, seat=seat, seeds=seeds)
    return msgspec.structs.replace(body, **members)


def committed(people: int = 4, **options: Any) -> Table:
    return Table(people, **options).run(lambda t: len(t.hand.commits) == len(t.hand.shufflers))


@cheat
def void_key_of_another() -> Case:
    table = committed()
    bend = table.bend()
    draft = bend.insert(
        len(bend.drafts), SERVER, void_of(table, "no-reveal", 1, hand_key="66" * 32)
    )
    return case(bend, "void-key", SERVER, at=(0, draft))


@cheat
def void_seeds_left_out() -> Case:
    table = committed(3)
    bend = table.bend()
    draft = bend.insert(len(bend.drafts), SERVER, void_of(table, "no-reveal", 1, seeds={}))
    return case(bend, "void-seeds", SERVER, at=(draft,))


class Rubbish(Seat):
    """Reveals something else than it committed to."""

    def _reveal(self) -> Reveal:
        return Reveal(sealed=self._seal("reveal", b"\x77" * 64))


@cheat
def bad_reveal() -> Case:
    table = Table(4, seat={2: Rubbish}).run()
    bend = table.bend()
    return case(
        bend,
        "bad-reveal",
        "seat/2",
        at=(bend.one("commit", "seat/2"), bend.one("reveal", "seat/2"), bend.one("void")),
    )


class UnreadablePass(Seat):
    """Passes a box that holds something else than it committed to."""

    def _sealed_pass(self, opening: Cards) -> Pass:
        right = super()._sealed_pass(opening)
        return msgspec.structs.replace(right, commitment="88" * 32)


@cheat
def bad_pass() -> Case:
    table = Table(4, seat={2: UnreadablePass}).run()
    bend = table.bend()
    return case(bend, "bad-pass", "seat/2", at=(bend.one("pass", "seat/2"), bend.one("void")))


@cheat
def void_unfounded_over_a_good_reveal() -> Case:
    """The server says that a reveal was bad; its key shows that it was not."""
    table = committed()
    table.give(1, table.tell(1)[0])
    bend = table.bend()
    draft = bend.insert(len(bend.drafts), SERVER, void_of(table, "bad-reveal", 1))
    return case(bend, "void-unfounded", SERVER, at=(bend.one("reveal"), draft))


@cheat
def void_after_reveals() -> Case:
    """The server knows the deck and gives it up."""
    table = Table(4).run(lambda t: t.hand.deal is not None)
    bend = table.bend()
    draft = bend.insert(len(bend.drafts), SERVER, void_of(table, "operator"))
    return case(bend, "void-after-reveals", SERVER, at=(*bend.of("reveal"), draft))


# -- 18 dispute ----------------------------------------------------------------------------------


class BadBox(Dealer):
    """Seals other cards to a seat than it commits to giving it."""

    victim, box = "seat/1", "deal"

    def _share(self, kind: str, by: str, cards: Any) -> Any:
        share = super()._share(kind, by, cards)
        if (by, kind) != (self.victim, self.box) or share.sealed is UNSET:
            return share
        wrong = Cards(cards=tuple(reversed(cards)), salt=self._salt(kind, by))
        key = bytes.fromhex(str(self._commit_of(by).hand_key))
        info = sealing.info(kind, self.hand.hand_id, by, SERVER)
        return msgspec.structs.replace(share, sealed=sealing.seal(encode(wrong), key, info).hex())


@cheat
def dispute_founded() -> Case:
    table = Table(4, dealer=BadBox).run()
    bend = table.bend()
    return case(
        bend,
        "dispute-founded",
        SERVER,
        at=(bend.one("commit", "seat/1"), bend.one("deal"), bend.one("dispute")),
    )


def disputing(table: Table, hand_key: bytes) -> Bend:
    """Seat 1 disputes the deal with this key, and the server voids."""
    table.run(lambda t: t.hand.deal is not None)
    bend = table.bend()
    bend.insert(len(bend.drafts), "seat/1", Dispute(hand_key=hand_key.hex()), seen=bend.one("deal"))
    bend.insert(len(bend.drafts), SERVER, void_of(table, "dispute", 1))
    return bend


@cheat
def dispute_unfounded() -> Case:
    table = Table(4)
    bend = disputing(table, table.seats[1]._hand_key)
    return case(
        bend,
        "dispute-unfounded",
        "seat/1",
        at=(bend.one("commit", "seat/1"), bend.one("deal"), bend.one("dispute")),
    )


@cheat
def dispute_key_of_another() -> Case:
    table = Table(4)
    bend = disputing(table, b"\x99" * 32)
    return case(
        bend, "dispute-key", "seat/1", at=(bend.one("commit", "seat/1"), bend.one("dispute"))
    )


__all__ = ["CHEATS", "Case"]
