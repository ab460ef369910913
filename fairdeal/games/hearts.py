"""Hearts, with every rule that a table can choose (spec section 6.2).

`HeartsRules` carries all parameters in full; `HeartsGame` refuses combinations that make no sense;
`Tricks` is the public course of a hand. All three are pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Annotated, Literal

from msgspec import Meta

from fairdeal.cards import RANKS
from fairdeal.encoding import MAX_INT, Shape
from fairdeal.games.base import Breach, Moon, Outcome, Play

_RANK = {rank: place for place, rank in enumerate(RANKS)}
QUEEN = "QS"
#: what a card that is not in the deck counts as in a trick: of no suit, below every rank
NO_CARD = "--"

_Points = Annotated[int, Meta(ge=-1000, le=1000)]
_Code = Annotated[str, Meta(min_length=2, max_length=2)]
_Total = Annotated[int, Meta(ge=1, le=MAX_INT // 2)]


class HeartsRules(Shape, frozen=True, tag_field="game", tag="hearts"):
    """Every parameter, never a preset's name, so that an old transcript keeps its meaning."""

    cancellation: bool
    card_points: Annotated[dict[_Code, _Points], Meta(max_length=52)]
    end_score: _Total
    exact_reset: tuple[_Total, Annotated[int, Meta(ge=0, le=MAX_INT // 2)]] | None
    first_lead: Literal["lowest-club", "left-of-dealer"]
    first_trick_points: Literal["forbidden", "allowed"]
    hearts_broken_by: Literal["heart", "discard"]
    kitty: Literal["first-trick", "last-trick"] | None
    lead_from_points: bool
    moon: Literal["others-add", "shooter-subtracts", "shooter-chooses", "none"]
    pass_count: Annotated[int, Meta(ge=1, le=26)]
    pass_cycle: Annotated[
        tuple[Annotated[int, Meta(ge=0, le=9)], ...], Meta(min_length=1, max_length=20)
    ]
    queen_breaks_hearts: bool
    tie: Literal["shared", "last-hand"]


class Tricks:
    """The public course of a hand's tricks (`base.Play`)."""

    __slots__ = (
        *("broken", "game", "leader", "opening_card", "over", "size", "taken"),
        *("trick", "tricks", "turn", "waiting"),
    )

    def __init__(self, game: HeartsGame, hand: int) -> None:
        self.game = game
        self.size = len(game.deck) // game.seats
        by_club = game.rules.first_lead == "lowest-club"
        self.leader: int | None = None if by_club else hand % game.seats
        self.turn = self.leader
        self.over = False
        self.opening_card: str | None = game.lowest_club if by_club else None
        self.tricks: list[tuple[tuple[int, str], ...]] = []
        self.trick: list[tuple[int, str]] = []
        #: who has yet to play to the trick on the table, in turn
        self.waiting: list[int] = []
        #: (winner, cards) in the order won; cancelled tricks join the next winner's
        self.taken: list[tuple[int, list[str]]] = []
        self.broken = False

    def copy(self) -> Tricks:
        """The same course, to be continued apart from this one."""
        twin = object.__new__(Tricks)
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(twin, name, list(value) if isinstance(value, list) else value)
        return twin

    # -- legal cards --

    def legal(self, cards: Collection[str]) -> tuple[str, ...]:
        """Which cards of a hand may be played next, in the hand's order."""
        if self.trick:
            led = self.trick[0][1][1]
            follow = [card for card in cards if card[1] == led]
            return self._first_trick(tuple(follow or cards))
        return self._leads(tuple(cards))

    def _first_trick(self, cards: tuple[str, ...]) -> tuple[str, ...]:
        """The ban on points in the first trick; who has nothing else is exempt."""
        if self.tricks or self.game.rules.first_trick_points == "allowed":
            return cards
        scoring = self.game.scoring
        return tuple([card for card in cards if card not in scoring]) or cards

    def _leads(self, cards: tuple[str, ...]) -> tuple[str, ...]:
        opening = self.opening_card
        if opening is not None:
            return (opening,) if opening in cards else ()
        cards = self._first_trick(cards)
        if self.broken:
            return cards
        others = tuple([card for card in cards if card[1] != "H"])
        if self.game.rules.lead_from_points and set(others) == {QUEEN}:
            return cards
        return others or cards

    def breach(self, cards: Collection[str], card: str) -> Breach | None:
        """The rule that playing `card` from the hand `cards` breaks; the first that applies."""
        if self.tricks and self._plainly_legal(cards, card[1]):
            return None
        legal = self.legal(cards)
        if card in legal:
            return None
        expected = "one of " + " ".join(legal) if legal else "a seat that holds the opening card"
        if self.opening_card is not None:
            return Breach("play-first-lead", self.opening_card)
        led = self.trick[0][1][1] if self.trick else ""
        allowed = tuple(one for one in cards if one[1] == led) or tuple(cards)
        if card not in allowed:
            return Breach("play-revoke", expected)
        if card not in self._first_trick(allowed):
            return Breach("play-first-trick-points", expected)
        return Breach("play-hearts-unbroken", expected)

    def _plainly_legal(self, cards: Collection[str], suit: str) -> bool:
        """Whether a card of `suit` needs no look at the other legal ones, after the first trick.

        A suit's letter is no rank's, so it is looked for in all the codes at once.
        """
        if self.trick:
            led = self.trick[0][1][1]
            return suit == led or led not in "".join(cards)
        return suit != "H" or self.broken

    # -- course --

    def play(self, seat: int, card: str) -> None:
        """Put a card on the table; a full trick goes to its winner.

        The next is the first seat, from the leader to the left, that has not played to the trick.
        That is the seat after this one, except in a log with a play out of turn, which can be
        followed so.
        """
        if self.trick:
            self.waiting.remove(seat)
        else:
            self.waiting = self.game.after(seat)
        self.trick.append((seat, card if card in self.game.ranks else NO_CARD))
        self.opening_card = None
        if self.waiting:
            self.turn = self.waiting[0]
        else:
            self._finish()

    def _finish(self) -> None:
        trick = tuple(self.trick)
        winner = self._winner(trick)
        self.tricks.append(trick)
        self.trick = []
        self.over = len(self.tricks) == self.size
        if not self.broken:
            self._break_hearts(trick)
        cards = [card for _, card in trick]
        if self.taken and self.taken[-1][0] < 0:  # a cancelled trick waits on the table
            cards = self.taken.pop()[1] + cards
        leader = trick[0][0]
        if winner is None and self.over:
            winner = leader
        self.taken.append((-1 if winner is None else winner, cards))
        self.leader = leader if winner is None else winner
        self.turn = None if self.over else self.leader

    def _winner(self, trick: tuple[tuple[int, str], ...]) -> int | None:
        led, ranks = trick[0][1][1], self.game.ranks
        twins: Collection[str] = ()
        if self.game.rules.cancellation:
            twins = {card for card, n in Counter(card for _, card in trick).items() if n > 1}
        winner: int | None = None
        best = -1
        for seat, card in trick:
            if card[1] == led and ranks[card] > best and card not in twins:
                winner, best = seat, ranks[card]
        return winner

    def _break_hearts(self, trick: tuple[tuple[int, str], ...]) -> None:
        rules = self.game.rules
        counts = rules.hearts_broken_by == "heart" or trick[0][1][1] != "H"
        for _, card in trick:
            if (card[1] == "H" and counts) or (card == QUEEN and rules.queen_breaks_hearts):
                self.broken = True

    def won(self, kitty: Sequence[str] = ()) -> list[list[str]]:
        """The cards each seat took, with the kitty where the rules give it."""
        piles: list[list[str]] = [[] for _ in range(self.game.seats)]
        for seat, cards in self.taken:
            piles[seat] += cards
        if kitty:
            place = 0 if self.game.rules.kitty == "first-trick" else -1
            piles[self.taken[place][0]] += kitty
        return piles


class HeartsGame:
    """One table's Hearts (`base.Game`)."""

    plays = True

    def __init__(self, rules: HeartsRules, deck: tuple[str, ...], seats: int) -> None:
        """Raises ValueError, with the reason, for a combination that makes no sense."""
        self.rules = rules
        self.deck = deck
        self.seats = seats
        self.values = {card: 1 for card in deck if card[1:] == "H"}
        self.values |= rules.card_points
        self.scoring = frozenset(card for card, value in self.values.items() if value > 0)
        #: how high each card is in its suit; what is not in the deck is below all
        self.ranks = {card: _RANK.get(card[:1], 0) for card in deck} | {NO_CARD: 0}
        self._left_of = [[(seat + n) % seats for n in range(1, seats)] for seat in range(seats)]
        self.pass_count = rules.pass_count
        clubs = [card for card in deck if card[1:] == "C"]
        self.lowest_club = min(clubs, key=lambda card: _RANK.get(card[0], 0), default="")
        #: what the cards that score against their taker are worth together
        self.total = sum(self.values[card] for card in deck if card in self.scoring)
        problem = self._problem()
        if problem:
            raise ValueError(problem)

    def _problem(self) -> str | None:
        rules, deck, seats = self.rules, self.deck, self.seats
        hand, left_over = divmod(len(deck), seats)
        known, by_club = set(deck), rules.first_lead == "lowest-club"
        checks = (
            (any(len(c) != 2 or c[0] not in _RANK or c[1] not in "CDHS" for c in deck),
             "Hearts needs French cards"),
            (seats < 3, "Hearts needs at least 3 seats"),
            (hand < 1, "there are fewer cards than seats"),
            (not set(rules.card_points) <= known,
             "card_points names a card that is not in the deck"),
            (any(card[1] == "H" for card in rules.card_points),
             "a heart scores 1, not by card_points"),
            (left_over and rules.kitty is None,
             f"{left_over} cards do not divide and no kitty takes them"),
            (by_club and not self.lowest_club, "there is no club to lead"),
            (by_club and deck.count(self.lowest_club) > 1,
             "two seats can hold the lowest club, so it cannot say who leads"),
            (by_club and left_over, "the lowest club may lie in the kitty"),
            (any(offset >= seats for offset in rules.pass_cycle), "a pass goes to no seat"),
            (any(rules.pass_cycle) and rules.pass_count > hand, "more cards are passed than dealt"),
            (rules.cancellation and len(deck) == len(known), "no two cards can cancel in one pack"),
            (not rules.cancellation and len(deck) != len(known),
             "two packs need cancellation, or two cards can win one trick"),
            (rules.moon == "shooter-chooses" and rules.kitty is not None,
             "nobody can know of a moon before close with a kitty"),
            (rules.moon != "none" and not self.total, "there is no moon to shoot"),
        )  # fmt: skip
        found = next((text for wrong, text in checks if wrong), None)
        return found or self._reset_problem()

    def _reset_problem(self) -> str | None:
        reset = self.rules.exact_reset
        if reset is None:
            return None
        if reset[1] >= self.rules.end_score or reset[1] >= reset[0]:
            return "exact_reset does not lower a total to one that goes on"
        if reset[0] > self.rules.end_score - 1 + max(self.total, 1):
            return "exact_reset names a total that cannot be reached"
        return None

    def after(self, seat: int) -> list[int]:
        """The other seats, from the left of this one on."""
        return self._left_of[seat].copy()

    def pass_offset(self, hand: int) -> int:
        """The offset by the pass cycle; seat + 1 is the player on the left."""
        cycle = self.rules.pass_cycle
        return cycle[(hand - 1) % len(cycle)]

    def begin(self, hand: int) -> Tricks:
        """The tricks of a hand, before the first card."""
        return Tricks(self, hand)

    def moon_shooter(self, play: Play) -> int | None:
        """The seat that took every scoring card, where it may choose what that means."""
        if self.rules.moon != "shooter-chooses" or not isinstance(play, Tricks):
            return None
        return self._shooter(play.won())

    def _shooter(self, piles: list[list[str]]) -> int | None:
        """Whoever took every card that scores against its taker."""
        takers = {
            seat for seat, pile in enumerate(piles) if any(card in self.scoring for card in pile)
        }
        return takers.pop() if len(takers) == 1 else None

    def points(self, play: Play, kitty: Sequence[str], moon: Moon | None) -> tuple[int, ...]:
        """What the tricks took, and the moon."""
        if not isinstance(play, Tricks):
            raise TypeError("these are not the tricks of Hearts")
        piles = play.won(kitty)
        points = [sum(self.values.get(card, 0) for card in pile) for pile in piles]
        shooter = None if self.rules.moon == "none" else self._shooter(piles)
        if shooter is None:
            return tuple(points)
        subtract = self.rules.moon == "shooter-subtracts" or (
            self.rules.moon == "shooter-chooses" and moon == "subtract"
        )
        points[shooter] -= 2 * self.total if subtract else self.total
        if not subtract:
            points = [
                value if seat == shooter else value + self.total
                for seat, value in enumerate(points)
            ]
        return tuple(points)

    def totals(self, before: Sequence[int], points: Sequence[int]) -> tuple[int, ...]:
        """The scores after a hand; a total of exactly `exact_reset[0]` becomes the other."""
        totals = [old + new for old, new in zip(before, points, strict=True)]
        reset = self.rules.exact_reset
        if reset is not None:
            totals = [reset[1] if total == reset[0] else total for total in totals]
        return tuple(totals)

    def opening_problem(self, hand: int, scores: Sequence[int]) -> str | None:
        """Scores are by seat, 0 before the first hand, and below the end before any."""
        if len(scores) != self.seats:
            return f"there are {len(scores)} scores for {self.seats} seats"
        if hand == 1 and any(scores):
            return "a game begins at 0"
        if max(scores) >= self.rules.end_score:
            return f"a game to {self.rules.end_score} was over before this hand"
        if max(map(abs, scores)) > MAX_INT // 2:
            return "a score is out of range"
        return None

    def outcome(
        self, totals: Sequence[int], points: Sequence[int], left: Collection[int]
    ) -> Outcome | None:
        """The game ends after a hand that leaves somebody at or over `end_score`."""
        if max(totals) < self.rules.end_score:
            return None
        stayed = [seat for seat in range(self.seats) if seat not in left]
        key = {seat: (totals[seat], 0) for seat in stayed}
        if self.rules.tie == "last-hand" and stayed:  # it decides among the lowest totals only
            lowest = min(totals[seat] for seat in stayed)
            key |= {s: (lowest, points[s]) for s in stayed if totals[s] == lowest}
        places = tuple(
            1 + (sum(key[other] < key[seat] for other in stayed) if seat in key else len(stayed))
            for seat in range(self.seats)
        )
        winners = tuple(seat for seat, place in enumerate(places) if place == 1)
        return Outcome(winners, places, tuple(sorted(left)))
