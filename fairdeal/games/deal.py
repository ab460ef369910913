"""No game: shuffle and deal only, for a server whose game is another (spec section 6.1)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fairdeal.encoding import Shape
from fairdeal.games.base import Moon, Outcome, Play


class DealRules(Shape, frozen=True, tag_field="game", tag="deal"):
    """`{"game": "deal"}`."""


class DealGame:
    """A table that only shuffles and deals."""

    plays = False
    pass_count = 0

    def __init__(self, rules: DealRules, deck: tuple[str, ...], seats: int) -> None:
        """Raises ValueError if there are fewer cards than seats."""
        if len(deck) < seats:
            raise ValueError(f"{len(deck)} cards cannot be dealt to {seats} seats")
        self.rules = rules
        self.deck = deck
        self.seats = seats

    def pass_offset(self, hand: int) -> int:
        """Nothing is passed."""
        return 0

    def begin(self, hand: int) -> Play:
        """There is no play to begin."""
        raise ValueError("a deal-only hand has no play")

    def moon_shooter(self, play: Play) -> int | None:
        """Nobody."""
        return None

    def points(self, play: Play, kitty: Sequence[str], moon: Moon | None) -> tuple[int, ...]:
        """None: an empty list."""
        return ()

    def totals(self, before: Sequence[int], points: Sequence[int]) -> tuple[int, ...]:
        """None: an empty list."""
        return ()

    def opening_problem(self, hand: int, scores: Sequence[int]) -> str | None:
        """A deal-only hand keeps no scores."""
        return "a deal-only hand keeps no scores" if scores else None

    def outcome(
        self, totals: Sequence[int], points: Sequence[int], left: Collection[int]
    ) -> Outcome | None:
        """It never ends here."""
        return None
