"""A table as its player sees it: lines for a terminal, from what the player's own log says.

Pure: nothing is printed here. Whatever text came from the server is shown harmless.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fairdeal.cards import PACK, SUITS
from fairdeal.games.hearts import Tricks
from fairdeal.hand import Hand
from fairdeal.messages import Choose, Close, Deal, Entry, Exchange, Open, Play, Replace, Void
from fairdeal.parties import SEATS
from fairdeal.play.player import Player
from fairdeal.play.stream import Free, TableState
from fairdeal.report.harmless import harmless
from fairdeal.report.screen import Line, Span, line
from fairdeal.report.sheet import card
from fairdeal.seat import Seat

_NAME = 24
_FRENCH = frozenset(PACK)

HELP = (
    "Type the number of a card in your hand, or its code: 3, qs, 10h. To pass, type several.",
    "Cards in [brackets] may be played now.",
    "  Enter     show the table again",
    "  add, subtract   if you shot the moon and may choose",
    "  e N       expel seat N, whose time is over; a bot takes that seat",
    "  leave     leave the game for good; a bot takes your seat",
    "  quit      leave this terminal and keep the seat; the table's address leads back",
)


class Look(NamedTuple):
    """How things are shown: whether suits may be ♣ ♦ ♥ ♠."""

    symbols: bool = True

    # -- who --

    def name(self, hand: Hand, seat: int, me: int | None) -> str:
        """A seat's name as others may read it."""
        name = harmless(hand.terms.seats[seat].name, _NAME)
        return f"{name} (you)" if seat == me else name

    def waiting(self, table: TableState, me: int | None) -> Iterator[Line]:
        """Who has sat down, before the first hand."""
        free = sum(isinstance(one, Free) for one in table.seats)
        names = [
            harmless(getattr(one, "name", "free"), _NAME) + (" (you)" if n == me else "")
            for n, one in enumerate(table.seats)
        ]
        yield line(f"at the table: {', '.join(names)}", f"; {free} to come" if free else "")

    # -- what happened --

    def news(self, seat: Seat, entry: Entry) -> Iterator[Line]:
        """What the entry that the log now ends with says, if it is for people."""
        hand, body, me = seat.hand, entry.message.body, seat.seat
        who = self._who(hand, entry.message.by, me)
        if isinstance(body, Open):
            yield line()
            attempt = f", attempt {body.attempt}" if body.attempt > 1 else ""
            names = ", ".join(f"{n} {self.name(hand, n, me)}" for n in range(len(body.seats)))
            yield line(Span(f"hand {body.hand}{attempt}", "bold"), f": {names}")
        elif isinstance(body, Deal) and hand.game.plays and not hand.pass_offset:
            yield line("cards are dealt; nothing is passed in this hand")
        elif isinstance(body, Exchange) and seat.cards:
            yield [Span("you receive "), *self._cards(seat.view().received)]
        elif isinstance(body, Play):
            yield [Span(f"  {who} plays "), card(body.card, symbols=self.symbols)]
            yield from self._taken(hand, me)
        elif isinstance(body, Choose):
            yield line(f"{who} shot the moon and chooses: {body.moon}")
        elif isinstance(body, Replace):
            yield line(f"a bot plays for {self.name(hand, body.seat, me)} ({body.reason})")
        elif isinstance(body, Close):
            yield line(f"points: {self._numbers(hand, body.points, me)}")
            yield line(f"scores: {self._numbers(hand, body.scores, me)}")
        elif isinstance(body, Void):
            yield line(f"this attempt is given up ({body.reason}); the hand is dealt again")

    def _who(self, hand: Hand, by: str, me: int | None) -> str:
        return self.name(hand, SEATS.index(by), me) if by in hand.seats else by

    def _taken(self, hand: Hand, me: int | None) -> Iterator[Line]:
        play = hand.play
        if isinstance(play, Tricks) and play.tricks and not play.trick:
            winner = play._winner(play.tricks[-1])
            if winner is not None:
                yield line(f"{self.name(hand, winner, me)} takes the trick")

    def _numbers(self, hand: Hand, values: Sequence[int], me: int | None) -> str:
        return ", ".join(f"{self.name(hand, n, me)} {value}" for n, value in enumerate(values))

    # -- the table --

    def table(self, player: Player, seconds: float | None = None) -> Iterator[Line]:
        """Scores, the trick, the hand, and who is to decide; `seconds` are left for that."""
        seat = player.seat
        if seat is None or not seat.hand.size:
            if player.table is not None:
                yield from self.waiting(player.table, player.number)
            return
        hand, me = seat.hand, seat.seat
        yield line()
        yield line(f"scores: {self._numbers(hand, hand.terms.scores, me)}")
        if hand.play is not None and hand.play.trick:
            yield [Span("trick:  "), *self._trick(hand, me)]
        yield from self.hand(seat.cards, seat.legal())
        yield from self.asked(player, seconds)

    def _trick(self, hand: Hand, me: int | None) -> Line:
        spans: Line = []
        for n, code in hand.play.trick if hand.play else ():
            spans += [Span(f"{self.name(hand, n, me)} "), card(code, symbols=self.symbols)]
            spans.append(Span("  "))
        return spans

    def hand(self, cards: Sequence[str], legal: Sequence[str]) -> Iterator[Line]:
        """The own cards, numbered from 1, a suit a line; legal ones in brackets."""
        numbered = list(enumerate(cards, 1))
        if not _FRENCH.issuperset(cards):
            groups = [numbered]
        else:
            groups = [[one for one in numbered if one[1][1] == suit] for suit in SUITS]
        for group in groups:
            spans: Line = []
            for number, code in group:
                may = code in legal
                shown = card(code, symbols=self.symbols)
                style = f"bold {shown.style}".strip() if may else f"dim {shown.style}".strip()
                spans.append(Span(f"[{number:>2}]" if may else f" {number:>2} "))
                spans.append(Span(f"{shown.text:<4}", style if legal else shown.style))
            if spans:
                yield [Span("  "), *spans]

    def asked(self, player: Player, seconds: float | None) -> Iterator[Line]:
        """Who is to decide what."""
        seat = player.seat
        if seat is None:
            return
        hand, time = seat.hand, "" if seconds is None else f" ({max(0, round(seconds))} s left)"
        if player.turn == "pass":
            count, to = hand.game.pass_count, self._to(hand, seat.seat)
            yield line(
                Span(f"Pass {count} cards to {to}{time}:", "bold"), " their numbers or codes"
            )
        elif player.turn == "play":
            yield line(Span(f"Your turn{time}:", "bold"), " a card's number or code, ? for help")
        elif player.turn == "choose":
            yield line(Span(f"You shot the moon{time}:", "bold"), " add or subtract")
        elif not hand.ended:
            yield line(f"waiting for {self._awaited(hand, player)}{time}")

    def _to(self, hand: Hand, me: int | None) -> str:
        return self.name(hand, ((me or 0) + hand.pass_offset) % hand.game.seats, None)

    def _awaited(self, hand: Hand, player: Player) -> str:
        if player.clock is not None:
            seats = [n for n in player.clock.awaited if n < len(hand.seats)]
        else:
            seats = sorted({SEATS.index(by) for _, by in hand.due() if by in hand.seats})
        names = [f"seat {n}, {self.name(hand, n, player.number)}" for n in seats]
        return " and ".join(names) or "the server"

    def _cards(self, cards: Sequence[str]) -> Line:
        spans: Line = []
        for code in cards:
            spans += [card(code, symbols=self.symbols), Span(" ")]
        return spans
