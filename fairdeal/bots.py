"""A bot at its seat: a policy, its stream of words, and nothing that its seat may not see.

The dealer plays with it and the verifier replays it, so both decide alike (spec section 6.3).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal

from fairdeal.cards import canonical
from fairdeal.encoding import frame
from fairdeal.games.base import Policy, View
from fairdeal.hand import Hand
from fairdeal.messages import Bot
from fairdeal.parties import SEATS
from fairdeal.shuffle import words

Decision = Literal["pass", "play", "choose"]


class BotSeat:
    """One seat's bot for one hand. Its decisions are asked for in order, each once."""

    __slots__ = ("_policy", "_word", "seat")

    def __init__(self, policy: Policy, seed: bytes, hand_id: bytes, seat: int) -> None:
        """`seed` is the seat's shuffle seed; its policy stream is bound to hand and seat."""
        self.seat = seat
        self._policy = policy
        label = frame("fairdeal/v1/policy", hand_id, SEATS[seat])
        self._word: Callable[[], int] = words(seed, label).__next__

    def decide(self, kind: Decision, view: View) -> tuple[str, ...]:
        """Its cards to pass in canonical order, its card to play, or what to do with the moon."""
        if kind == "pass":
            return canonical(self._policy.pass_cards(view, self._word), view.game.deck)
        if kind == "play":
            return (self._policy.play_card(view, self._word),)
        return (self._policy.choose_moon(view, self._word),)


def policy_name(hand: Hand, seat: int) -> str:
    """The policy of a bot's seat, or of the substitute at a seat whose person left."""
    one = hand.terms.seats[seat]
    return one.policy if isinstance(one, Bot) else hand.terms.substitute


def remaining(
    dealt: Collection[str], passed: Collection[str], received: Collection[str]
) -> list[str]:
    """A hand after the exchange. Raises ValueError if a passed card is not among the dealt."""
    cards = list(dealt)
    for card in passed:
        cards.remove(card)
    return cards + list(received)
