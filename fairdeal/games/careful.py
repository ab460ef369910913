"""`careful/1`: a bot for Hearts that passes its burdens, ducks, bleeds the queen out, stops a moon.

It looks at its seat's cards, the public plays and the rules, uses no words, and counts in integers.
A verifier replays every decision, so nothing here is ever changed.

A card's value is what the rules say it scores: a scoring card's is above 0, a bane is a scoring
card that is no heart, a prize's value is below 0. Cards are ordered by rank, equal ranks by suit
C D H S; highest, lowest and next mean this order. One card beats another of its suit by rank.
Unseen cards are those of the deck, each as often as the deck has it, less those it holds and those
played. A card is best if it beats all unseen cards of its suit, or there are none.

* A card's catch: the sum of the values of the unseen banes of its suit that it beats, each code
  once. When passing, those in its own hand count too, since they are passed on.
* A suit is fresh if none of the seats yet to play to this trick has failed to follow it before,
  and its unseen cards are at least twice as many as those seats.
* Piles are what was won, in order: a trick with the cancelled ones that joined it. Cancelled ones
  on the table are a last pile, which is nobody's. A taker is a seat with a scoring card in its
  piles. The moon is open if the rules have one and there is at most one taker.
* The suspect is a seat other than its own, while the moon is open: the one that won the last three
  piles, if there are three of one winner and no other seat is a taker; if that condition fails,
  the only taker, if 5 times the value of the scoring cards in all piles won is at least 3 times
  their value in the deck. Nobody's piles make no suspect.
* The burden of a card: 1000 + value of a bane; -1 of a prize; of others each · low div all, where
  each is 300 for a heart and 200 for others, low the number of unseen cards that it beats, all that
  of the unseen cards of its suit (at least 1), and 600 more if its catch is above 0.

Passing. The `pass_count` cards of the greatest burden, of equal burdens the highest.

Playing. If all legal cards are of one code, that. Else the first of these rules that names a card;
each looks at legal cards alone.

Leading:

1. There is a suspect and the highest heart is best, and hearts are unseen: it.
2. The highest prize that is best.
3. In the order C D H S, a suit with an unseen bane, where all cards have value 0 and the lowest
   such bane beats them: the highest of the suit.
4. The card of the least risk, of equal risks the highest. The risk is 1000000 if nothing of its
   suit is unseen; else 100000 for a prize; else 100 · low div all, and for others than hearts that
   times the sum of 1 if the suit is fresh or 3 if not, of its value and of its catch.

Following. A card is under if the card that wins so far beats it or a twin of it is in the trick;
else it is over. The trick's worth is the sum of its cards' values.

5. The worth is below 0: the highest over with which it is still below 0.
6. The suspect wins so far and a scoring card is in the trick: the highest over.
7. It is last: the highest prize over with which the worth is below 0.
8. The suspect does not win so far: the bane under of the greatest value, of equal ones the highest.
9. It is last and the worth is at most 0: the highest of value 0.
10. There is a suspect: the lowest under.
11. Of those under the one of the greatest value, of equal ones the highest.
12. It is last: of all the one of the least value, of equal ones the highest.
13. The worth is at most 0 and the suit is fresh: the highest of value 0 and catch 0.
14. The one with the value nearest to 0, of equal ones the lowest.

Discarding:

15. The suspect wins so far: the lowest that is not a scoring card, or the lowest.
16. There is a suspect: the scoring card of the greatest value, of equal ones the highest.
17. The card of the greatest burden, of equal ones the highest; but while the moon is open, the
    highest heart, if it is best and hearts are unseen, only if nothing else is legal.

Choosing. Always `add`: what it gains on each of the others is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from fairdeal.cards import RANKS, SUITS
from fairdeal.games.base import Moon, View
from fairdeal.games.hearts import HeartsGame, Tricks


class Careful:
    """`careful/1`, as the module says."""

    def pass_cards(self, view: View, word: Callable[[], int]) -> tuple[str, ...]:
        """The heaviest burdens: high banes, what catches them, high cards."""
        heaviest = sorted(view.cards, key=_Sight(view, view.cards).weight, reverse=True)
        return tuple(heaviest[: view.game.pass_count])

    def play_card(self, view: View, word: Callable[[], int]) -> str:
        """By the rules for leading, following or discarding."""
        legal = sorted(view.play.legal(view.cards), key=_order)
        if legal[0] == legal[-1]:
            return legal[0]
        sight = _Sight(view)
        if not view.play.trick:
            return _lead(sight, legal)
        trick = _Trick(sight)
        if legal[0][1] == trick.led:
            return _follow(sight, trick, legal)
        return _discard(sight, trick, legal)

    def choose_moon(self, view: View, word: Callable[[], int]) -> Moon:
        """Always `add`: what it gains on each of the others is the same."""
        return "add"


class _Sight:
    """What its seat can tell from its own cards and the public plays."""

    def __init__(self, view: View, passing: Collection[str] = ()) -> None:
        """What is `passing` may be caught as what is unseen: it is about to be."""
        game, play = view.game, view.play
        if not isinstance(game, HeartsGame) or not isinstance(play, Tricks):
            raise TypeError("careful/1 plays Hearts only")
        self.game, self.play, self.seat, self.cards = game, play, view.seat, view.cards
        self.ranks, self.scoring = game.ranks, game.scoring
        #: (seat, suit) of who did not follow
        self.void: set[tuple[int, str]] = set()
        #: the ranks of the unseen cards, by suit
        self.unseen: dict[str, list[int]] = {suit: [] for suit in SUITS}
        for card in game.deck:
            self.unseen[card[1]].append(self.ranks[card])
        self._see(view.cards)
        for trick in (*play.tricks, play.trick):
            self._see([card for _, card in trick])
            self.void.update(
                [(s, trick[0][1][1]) for s, card in trick if card[1] != trick[0][1][1]]
            )
        #: rank and value of the banes that may be caught, by suit
        self.banes: dict[str, list[tuple[int, int]]] = {suit: [] for suit in SUITS}
        for card, value in game.rules.card_points.items():
            if value > 0 and (card in passing or self.ranks[card] in self.unseen[card[1]]):
                self.banes[card[1]].append((self.ranks[card], value))

    def _see(self, cards: Iterable[str]) -> None:
        """Cards are no longer unseen. In a false log one may be played more often than there is."""
        for card in cards:
            left = self.unseen.get(card[1], [])
            if self.ranks[card] in left:
                left.remove(self.ranks[card])

    def value(self, card: str) -> int:
        """What a card scores."""
        return self.game.values.get(card, 0)

    def low(self, card: str) -> int:
        """How many unseen cards of its suit a card beats."""
        rank = self.ranks[card]
        return sum([other < rank for other in self.unseen[card[1]]])

    def caught(self, card: str) -> int:
        """A card's catch."""
        rank = self.ranks[card]
        return sum([value for other, value in self.banes[card[1]] if other < rank])

    def weight(self, card: str) -> tuple[int, int, int]:
        """A card's burden, and its place among equals."""
        value = self.value(card)
        if card[1] != "H" and value:
            return (1000 + value if value > 0 else -1, *_order(card))
        each = 300 if card[1] == "H" else 200
        burden = each * self.low(card) // max(1, len(self.unseen[card[1]]))
        return (burden + 600 * (self.caught(card) > 0), *_order(card))

    def is_best(self, card: str) -> bool:
        """Whether nothing unseen takes a trick from a card, or is its twin."""
        return self.low(card) == len(self.unseen[card[1]])

    def fresh(self, suit: str) -> bool:
        """Whether those yet to play can be expected to follow."""
        game = self.game
        rest = game.after(self.seat)[: game.seats - 1 - len(self.play.trick)]
        if any((seat, suit) in self.void for seat in rest):
            return False
        return len(self.unseen[suit]) >= 2 * len(rest)

    def takers(self) -> set[int]:
        """Who has taken scoring cards; cancelled tricks on the table are nobody's."""
        taken = self.play.taken
        return {who for who, pile in taken if who >= 0 and not self.scoring.isdisjoint(pile)}

    def moon(self) -> bool:
        """Whether a moon is possible still."""
        return self.game.rules.moon != "none" and len(self.takers()) < 2

    def suspect(self) -> int | None:
        """Who seems to shoot the moon: one that runs its tricks, or has most of the points."""
        takers = self.takers()
        runners = {who for who, _ in self.play.taken[-3:]}
        if len(self.play.taken) < 3 or len(runners) > 1 or not takers <= runners:
            runners = takers if self._much() else set()
        if not self.moon() or len(runners) != 1 or self.seat in runners:
            return None
        return runners.pop()

    def _much(self) -> bool:
        """Whether three fifths of the scoring cards' worth have been taken."""
        piles = [pile for who, pile in self.play.taken if who >= 0]
        worth = sum([self.value(card) for pile in piles for card in pile if card in self.scoring])
        return 5 * worth >= 3 * self.game.total


class _Trick:
    """The trick on the table: the suit led, the worth, who wins so far and with what rank."""

    def __init__(self, sight: _Sight) -> None:
        self.ranks = sight.ranks
        self.cards = [card for _, card in sight.play.trick]
        self.led = self.cards[0][1]
        self.worth = sum([sight.value(card) for card in self.cards])
        self.scores = not sight.scoring.isdisjoint(self.cards)
        self.last = len(self.cards) == sight.game.seats - 1
        self.winner, self.rank = -1, -1
        for seat, card in sight.play.trick:
            rank = sight.ranks[card]
            if card[1] == self.led and rank > self.rank and self.cards.count(card) == 1:
                self.winner, self.rank = seat, rank

    def is_over(self, card: str) -> bool:
        """Whether a card of the suit led would win so far."""
        return self.ranks[card] > self.rank and card not in self.cards


def _order(card: str) -> tuple[int, int]:
    return RANKS.find(card[0]), SUITS.find(card[1])


def _lead(sight: _Sight, legal: Sequence[str]) -> str:
    """`legal` is in ascending order, here and below."""
    # one heart taken from the suspect is the cheapest way to stop it
    top = _top_heart(sight, legal)
    if top and sight.suspect() is not None:
        return top
    # a prize that nobody can take is cashed
    for card in reversed(legal):
        if sight.value(card) < 0 and sight.is_best(card):
            return card
    # whoever holds the queen must play it in the end, if it is not ourselves who catch it
    for suit in SUITS:
        mine = [card for card in legal if card[1] == suit]
        if mine and sight.banes[suit] and _harmless(sight, mine):
            return mine[-1]
    # otherwise what will hardly win, or wins little
    return min(reversed(legal), key=lambda card: _risk(sight, card))


def _top_heart(sight: _Sight, legal: Sequence[str]) -> str | None:
    """The highest heart, if it takes one from whoever has others."""
    hearts = [card for card in legal if card[1] == "H"]
    return hearts[-1] if hearts and sight.unseen["H"] and sight.is_best(hearts[-1]) else None


def _harmless(sight: _Sight, suit: Sequence[str]) -> bool:
    """Whether none of these cards of one suit scores, or catches what does."""
    bane = min(sight.banes[suit[0][1]])[0]
    return all(sight.ranks[card] < bane and not sight.value(card) for card in suit)


def _risk(sight: _Sight, card: str) -> int:
    suit, value = card[1], sight.value(card)
    if not sight.unseen[suit]:
        return 1000000  # nobody can take the lead away
    if value < 0:
        return 100000
    chance = 100 * sight.low(card) // len(sight.unseen[suit])
    if suit == "H":
        return chance
    return chance * ((1 if sight.fresh(suit) else 3) + value + sight.caught(card))


def _follow(sight: _Sight, trick: _Trick, legal: Sequence[str]) -> str:
    over = [card for card in legal if trick.is_over(card)]
    under = [card for card in legal if card not in over]
    return (
        _take(sight, trick, over)
        or _unload(sight, trick, legal, under)
        or (_duck(sight, under) if under else _rise(sight, trick, over))
    )


def _take(sight: _Sight, trick: _Trick, over: Sequence[str]) -> str | None:
    """What wins a trick that is worth winning."""
    # it lowers the score
    gain = [card for card in over if trick.worth + sight.value(card) < 0]
    if trick.worth < 0 and gain:
        return gain[-1]
    # a point or more is taken from the suspect
    if over and trick.scores and trick.winner == sight.suspect():
        return over[-1]
    # nobody is left to take the prize
    prizes = [card for card in gain if sight.value(card) < 0]
    return prizes[-1] if trick.last and prizes else None


def _unload(sight: _Sight, trick: _Trick, legal: Sequence[str], under: Sequence[str]) -> str | None:
    """What is best got rid of here."""
    # the queen goes under the king or the ace, unless it helps to shoot the moon
    banes = [card for card in under if card[1] != "H" and card in sight.scoring]
    if banes and trick.winner != sight.suspect():
        return max(reversed(banes), key=sight.value)
    # a trick that costs nothing rids it of its highest card
    plain = [card for card in legal if not sight.value(card)]
    return plain[-1] if trick.last and trick.worth <= 0 and plain else None


def _duck(sight: _Sight, under: Sequence[str]) -> str:
    # high cards are what stops a moon; else it is ducked as high as it goes
    if sight.suspect() is not None:
        return under[0]
    return max(reversed(under), key=sight.value)


def _rise(sight: _Sight, trick: _Trick, over: Sequence[str]) -> str:
    # it takes the trick anyway, so with the highest
    if trick.last:
        return min(reversed(over), key=sight.value)
    # early in a suit a high card is cheap
    cheap = [card for card in over if not sight.value(card) and not sight.caught(card)]
    if trick.worth <= 0 and cheap and sight.fresh(trick.led):
        return cheap[-1]
    # else somebody may still go higher
    return min(over, key=lambda card: abs(sight.value(card)))


def _discard(sight: _Sight, trick: _Trick, legal: Sequence[str]) -> str:
    suspect = sight.suspect()
    scoring = [card for card in legal if card in sight.scoring]
    # the suspect gets nothing that it needs, and no high card that could stop it
    if suspect is not None and trick.winner == suspect:
        return ([card for card in legal if card not in sight.scoring] or legal)[0]
    # somebody else gets a point
    if suspect is not None and scoring:
        return max(reversed(scoring), key=sight.value)
    # the best heart is kept until no moon can be shot
    if sight.moon():
        top = _top_heart(sight, legal)
        legal = [card for card in legal if card != top]
    # the heaviest burden
    return max(legal, key=sight.weight)
