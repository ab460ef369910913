"""Bots that cannot peek: deterministic functions of what their seat may see (spec section 6.3).

A verifier that knows a policy replays every decision, so a policy is never changed: a better one
gets a new name or version.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fairdeal.cards import RANKS, canonical
from fairdeal.games.base import Moon, Policy, View


class Low:
    """`low/1`: passes its highest cards and plays its lowest legal one. Uses no words."""

    def pass_cards(self, view: View, word: Callable[[], int]) -> tuple[str, ...]:
        """The highest by rank; of equal ranks the later in canonical order."""
        return _by_rank(view, view.cards)[-view.game.pass_count :]

    def play_card(self, view: View, word: Callable[[], int]) -> str:
        """The lowest legal by rank; of equal ranks the earlier in canonical order."""
        return _by_rank(view, view.play.legal(view.cards))[0]

    def choose_moon(self, view: View, word: Callable[[], int]) -> Moon:
        """Always `add`."""
        return "add"


class Random:
    """`random/1`: every legal choice alike, drawn from its seat's stream."""

    def pass_cards(self, view: View, word: Callable[[], int]) -> tuple[str, ...]:
        """One card after another, each drawn from those left in canonical order."""
        left = list(canonical(view.cards, view.game.deck))
        return tuple(left.pop(draw(len(left), word)) for _ in range(view.game.pass_count))

    def play_card(self, view: View, word: Callable[[], int]) -> str:
        """Drawn from the legal cards in canonical order."""
        legal = canonical(view.play.legal(view.cards), view.game.deck)
        return legal[draw(len(legal), word)]

    def choose_moon(self, view: View, word: Callable[[], int]) -> Moon:
        """0 is `add`, 1 is `subtract`."""
        return "subtract" if draw(2, word) else "add"


def draw(size: int, word: Callable[[], int]) -> int:
    """A number below `size` (at most 65536), exactly uniform; a draw of 1 takes no word."""
    if size == 1:
        return 0
    limit = 65536 - 65536 % size
    while (value := word()) >= limit:
        pass
    return value % size


def _by_rank(view: View, cards: Sequence[str]) -> tuple[str, ...]:
    ordered = canonical(cards, view.game.deck)
    return tuple(sorted(ordered, key=lambda card: RANKS.find(card[0])))


POLICIES: dict[str, Policy] = {"low/1": Low(), "random/1": Random()}
