"""What the protocol needs of a game: pure rules, no roles, no secrets kept, no I/O.

A game is made for one table's terms and answers questions about hands of it. Cards are codes,
seats are numbers, hand numbers count from 1. The protocol never looks into the rules itself, so
another game is another module here and a line in `fairdeal.games`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal, NamedTuple, Protocol

Moon = Literal["add", "subtract"]


class Breach(NamedTuple):
    """A play that the rules forbid: the finding's code, what was expected."""

    code: str
    expected: str


class Outcome(NamedTuple):
    """The end of a game: seats that won, places by seat from 1, seats whose person left."""

    winners: tuple[int, ...]
    places: tuple[int, ...]
    left: tuple[int, ...]


class Play(Protocol):
    """The public course of one hand's play: what everybody at the table has seen."""

    @property
    def turn(self) -> int | None:
        """The seat that plays next; None: whoever holds `opening_card`, or the play is over."""

    @property
    def over(self) -> bool:
        """Whether every card has been played."""

    @property
    def opening_card(self) -> str | None:
        """The card that must begin the play, where the rules name one and nothing was played."""

    @property
    def tricks(self) -> Sequence[tuple[tuple[int, str], ...]]:
        """The finished tricks, each as (seat, card) in order of play."""

    @property
    def trick(self) -> Sequence[tuple[int, str]]:
        """The trick on the table."""

    def legal(self, cards: Collection[str]) -> tuple[str, ...]:
        """Which of a hand's cards may be played next; none only of one that cannot be on turn."""

    def breach(self, cards: Collection[str], card: str) -> Breach | None:
        """The rule that playing `card` from the hand `cards` breaks, if any."""

    def play(self, seat: int, card: str) -> None:
        """Put a card on the table. The caller has checked that it is the seat's turn."""

    def copy(self) -> Play:
        """The same course, to be continued apart from this one."""


class Game(Protocol):
    """One table's game: rules, deck and number of seats."""

    @property
    def deck(self) -> tuple[str, ...]:
        """The cards in canonical order."""

    @property
    def seats(self) -> int:
        """How many seats the table has."""

    @property
    def plays(self) -> bool:
        """Whether a hand is passed and played at all; if not, `close` follows `deal`."""

    @property
    def pass_count(self) -> int:
        """How many cards a seat passes, where any are passed."""

    def pass_offset(self, hand: int) -> int:
        """How many seats to the left this hand's pass goes; 0: nothing is passed."""

    def begin(self, hand: int) -> Play:
        """The play of a hand, before its first card."""

    def moon_shooter(self, play: Play) -> int | None:
        """Who must `choose` after the last play, if the rules let anybody."""

    def points(self, play: Play, kitty: Sequence[str], moon: Moon | None) -> tuple[int, ...]:
        """What a finished hand scores, by seat."""

    def totals(self, before: Sequence[int], points: Sequence[int]) -> tuple[int, ...]:
        """The scores after a hand."""

    def opening_problem(self, hand: int, scores: Sequence[int]) -> str | None:
        """Why the scores a hand opens with cannot be, or None."""

    def outcome(
        self, totals: Sequence[int], points: Sequence[int], left: Collection[int]
    ) -> Outcome | None:
        """The end of the game, or None if it goes on."""


class View(NamedTuple):
    """All that a bot may see: nothing here is another seat's secret."""

    game: Game
    seat: int
    hand: int
    cards: tuple[str, ...]
    passed: tuple[str, ...]
    received: tuple[str, ...]
    play: Play


class Policy(Protocol):
    """A bot: a deterministic function of a view and of its seat's stream of 16-bit words."""

    def pass_cards(self, view: View, word: Callable[[], int]) -> tuple[str, ...]:
        """The cards to pass, in any order."""

    def play_card(self, view: View, word: Callable[[], int]) -> str:
        """The card to play: one of `view.play.legal(view.cards)`."""

    def choose_moon(self, view: View, word: Callable[[], int]) -> Moon:
        """What to do with a moon that was shot."""
