"""A hand as people write it down: seats, deal, pass, tricks in a table, points, scores, result.

It shows what the log says, not what is true: the first line is the verdict's status. Of a hand that
is not closed it shows what is public, which is the plays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from fairdeal.cards import PACK, SUITS
from fairdeal.clock import used
from fairdeal.findings import Verdict
from fairdeal.games.hearts import HeartsGame, Tricks
from fairdeal.hand import Hand
from fairdeal.log import Log
from fairdeal.messages import Bot, Cards, Close, Replace, Result, Void
from fairdeal.report import text
from fairdeal.report.course import course_of
from fairdeal.report.harmless import fit, harmless, width
from fairdeal.report.screen import Line, Span, line
from fairdeal.shuffle import hands_of

_SYMBOLS: Final = dict(zip(SUITS, "♣♦♥♠", strict=True))
_FRENCH: Final = frozenset(PACK)
_RED: Final = ("D", "H")
_NAME: Final = 12
_CELL: Final = 9


class Sheet:
    """One log, ready to be shown. `symbols`: whether suits may be written ♣ ♦ ♥ ♠."""

    def __init__(self, log: Log, *, symbols: bool = True) -> None:
        self.log = log
        self.symbols = symbols
        self.hand: Hand = course_of(log).hand
        end = self.hand.end
        body = None if end is None else log.entries[end].message.body
        self.close = body if isinstance(body, Close) else None
        self.void = body if isinstance(body, Void) else None

    def whole(self, judged: Verdict) -> Iterator[Line]:
        """The hand from the first line to the last."""
        yield from self._heading(judged)
        if self.hand.size:
            yield from self.seats()
            yield from self.deal()
            yield from self.passes()
            yield from self.tricks()
            yield from self.count()
            yield from self.clock()
            yield from self._ending(judged)
            yield from self._given_up(judged.given_up)

    def _heading(self, judged: Verdict) -> Iterator[Line]:
        label = text.hand_label(judged.hand) if judged.hand else "no hand"
        yield line(text.status(judged), ": ", label)
        if judged.status == "invalid":
            warning = "Something deviates from the protocol: do not take what follows for true."
            yield line(Span(warning, "bold red"))
        for one in judged.findings:
            yield from text.wrapped(f"  check {one.check}: ", one.message)

    # -- who sits there --

    def seats(self) -> Iterator[Line]:
        """Who sits where, and who was replaced."""
        yield from _title("Seats")
        for seat, one in enumerate(self.hand.terms.seats):
            what = f"bot, {harmless(one.policy)}" if isinstance(one, Bot) else "person"
            yield line(f"  {seat}  {harmless(one.name)}  ({what})")
        for by, place in self.hand.replaced.items():
            body = self.log.entries[place].message.body
            why = body.reason if isinstance(body, Replace) else ""
            yield line(f"  {by} was replaced by a bot in entry {place}: {why}")

    def name(self, seat: int) -> str:
        """A seat's number and name, in the cells of a column."""
        return fit(f"{seat} {harmless(self.hand.terms.seats[seat].name)}", _NAME)

    # -- cards --

    def card(self, code: str) -> Span:
        """A card as it is written: `10♥`."""
        return card(code, symbols=self.symbols)

    def _listed(self, cards: Iterable[str]) -> Line:
        spans: Line = []
        for code in cards:
            spans += [self.card(code), Span(" ")]
        return spans

    def _by_suit(self, cards: Sequence[str]) -> Line:
        """A French hand suit by suit, highest first; other cards as they come."""
        if not _FRENCH.issuperset(cards):
            return self._listed(cards)
        spans: Line = []
        for suit in reversed(SUITS):
            held = sorted((c for c in cards if c[1] == suit), key=PACK.index, reverse=True)
            ranks = " ".join("10" if card[0] == "T" else card[0] for card in held) or "-"
            mark = _SYMBOLS[suit] if self.symbols else suit
            spans += [Span(mark, "red" if suit in _RED else ""), Span(" " + fit(ranks, 18))]
        return spans

    # -- deal and pass --

    def deal(self) -> Iterator[Line]:
        """Each seat's cards, and the kitty, once the close has opened them."""
        yield from _title("Deal")
        if self.close is None:
            yield line("  not opened: only a close makes the hands public")
            return
        hands = [opened.cards for opened in self.close.deals[: self.hand.game.seats]]
        kitty = Counter(self.hand.game.deck) - Counter(card for cards in hands for card in cards)
        yield from self._hands(hands, tuple(kitty.elements()))

    def _hands(self, hands: Iterable[Sequence[str]], kitty: Sequence[str]) -> Iterator[Line]:
        for seat, cards in enumerate(hands):
            yield [Span(f"  {self.name(seat)} "), *self._by_suit(cards)]
        if kitty:
            yield [Span(f"  {fit('kitty', _NAME)} "), *self._by_suit(kitty)]

    def passes(self) -> Iterator[Line]:
        """Who passed what to whom."""
        if not self.hand.game.plays:
            return
        offset, seats = self.hand.pass_offset, self.hand.game.seats
        yield from _title(f"Pass {_direction(offset, seats)}")
        if offset and self.close is None:
            yield line("  not opened")
        passed: tuple[Cards, ...] = self.close.passes if self.close else ()
        for seat, opened in enumerate(passed[:seats]):
            to = self.name((seat + offset) % seats)
            yield [Span(f"  {self.name(seat)} to {to}  "), *self._listed(opened.cards)]

    # -- tricks --

    def tricks(self) -> Iterator[Line]:
        """A table of the tricks: a row each, a column a seat, the lead and the winner marked."""
        play = self.hand.play
        if not isinstance(play, Tricks) or not self.hand.plays:
            return
        yield from _title("Tricks", "  (> leads, * takes it)")
        names = "".join(" " + fit(self.name(seat).rstrip(), _CELL) for seat in self._seats)
        yield line("      ", names, " points")
        for number, trick in enumerate(play.tricks, 1):
            yield self._trick(number, trick, play._winner(trick))
        if play.trick:
            yield self._trick(len(play.tricks) + 1, tuple(play.trick), None)

    @property
    def _seats(self) -> range:
        return range(self.hand.game.seats)

    def _trick(self, number: int, trick: tuple[tuple[int, str], ...], winner: int | None) -> Line:
        by_seat, leader = dict(trick), trick[0][0]
        spans = line(f"  {number:>3} ")
        for seat in self._seats:
            mark = ">" if seat == leader else " "
            spans += [Span(" " + mark), *self._cell(by_seat.get(seat), taken=seat == winner)]
        return [*spans, Span(f" {self._worth(by_seat.values()):>6}")]

    def _cell(self, code: str | None, *, taken: bool) -> Line:
        card = Span("") if code is None else self.card(code)
        if taken:
            card = Span(card.text + "*", f"bold {card.style}".strip())
        return [card, Span(" " * (_CELL - 1 - width(card.text)))]

    def _worth(self, cards: Iterable[str]) -> str:
        game = self.hand.game
        values = game.values if isinstance(game, HeartsGame) else {}
        return str(sum(values.get(card, 0) for card in cards))

    # -- points --

    def count(self) -> Iterator[Line]:
        """Points, scores, and the result if the game ended."""
        if self.hand.moon:
            yield line(f"  whoever shot the moon chose: {self.hand.moon}")
        if self.close is None or not self.hand.game.plays:
            return
        yield from _title("Count", "".join(" " + self.name(seat) for seat in self._seats))
        for head, values in (
            ("before", self.hand.terms.scores),
            ("points", self.close.points),
            ("scores", self.close.scores),
        ):
            cells = "".join(" " + fit(str(value), _NAME) for value in values)
            yield line(f"  {head}{cells}")
        yield from self._result(self.close.result)

    def clock(self) -> Iterator[Line]:
        """Who used how much time, by the times the server gave the entries."""
        clock = self.hand.terms.clock
        if clock is None or self.hand.deal is None:
            return
        yield from _title(
            "Clock", f"  ({_seconds(clock.grace_ms)} for each decision, then the reserve)"
        )
        for seat, one in enumerate(self.hand.terms.seats):
            if isinstance(one, Bot):
                continue
            by = self.hand.seats[seat]
            spent = used(self.log, self.hand, by, self.hand.replaced.get(by, len(self.log)))
            reserve = f"{_seconds(spent.reserve_ms)} of {_seconds(clock.reserve_ms)} reserve used"
            total = f"{spent.decisions} decisions took {_seconds(spent.taken_ms)}"
            yield line(f"  {self.name(seat)} {reserve}; {total}")

    def _result(self, result: Result | None) -> Iterator[Line]:
        if result is None:
            return
        places = "".join(" " + fit(str(place), _NAME) for place in result.places)
        yield line(f"  places{places}")
        winners = " and ".join(self._seat_title(seat) for seat in result.winners)
        yield line(Span(f"  The game is over: won by {winners or 'nobody'}.", "bold"))

    def _seat_title(self, seat: int) -> str:
        seats = self.hand.terms.seats
        return harmless(seats[seat].name) if seat < len(seats) else f"seat/{seat}"

    def _ending(self, judged: Verdict) -> Iterator[Line]:
        if judged.stop is None:
            return
        due = f"; next: {', '.join(judged.stop.next)}" if judged.stop.next else ""
        yield line()
        yield from text.wrapped("  ", f"Not closed: {judged.stop.reason}{due}.")

    def _given_up(self, deck: Sequence[str] | None) -> Iterator[Line]:
        """What the seeds would have dealt, had the attempt not been voided."""
        if deck is None:
            return
        yield from _title("Given up", "  (what this attempt's seeds would have dealt)")
        yield from self._hands(*hands_of(deck, self.hand.game.seats))


def card(code: str, *, symbols: bool) -> Span:
    """A card as it is written, by its code: `10♥`, or `10H` without symbols."""
    if code not in _FRENCH:
        return Span(harmless(code))
    rank, suit = code[0], code[1]
    mark = _SYMBOLS[suit] if symbols else suit
    return Span(("10" if rank == "T" else rank) + mark, "red" if suit in _RED else "")


def _title(title: str, rest: str = "") -> Iterator[Line]:
    yield line()
    yield line(Span(title, "bold"), " " * max(0, 8 - width(title)) if rest[:1] == " " else "", rest)


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.1f} s"


def _direction(offset: int, seats: int) -> str:
    if not offset:
        return "(none in this hand)"
    if offset == 1:
        return "to the left"
    if offset == seats - 1:
        return "to the right"
    return "across" if 2 * offset == seats else f"to the {offset} seats on the left"
