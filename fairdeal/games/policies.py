"""Bots that cannot peek: deterministic functions of what their seat may see (spec section 6.3).

A verifier that knows a policy replays every decision, so a policy is never changed: a better one
gets a new name or version.

A package can bring policies of its own: an entry point of the group `fairdeal.policies`, named as
the policy is, `acme/3`, that refers to an object with the three methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from fairdeal.cards import RANKS, canonical
from fairdeal.games.base import Moon, Policy, View
from fairdeal.games.careful import Careful

GROUP: Final = "fairdeal.policies"


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


@lru_cache(maxsize=64)
def installed(name: str) -> Policy | None:
    """What exactly one installed package offers by exactly this name, if it is a policy.

    The name may be a transcript's. So it is only compared with what whoever runs this has installed
    for this purpose; nothing is imported for any other name. Raises what loading raises.
    """
    from importlib.metadata import entry_points

    found = [one for one in entry_points(group=GROUP) if one.name == name]
    if len(found) != 1:  # of two nobody could say which one is meant
        return None
    loaded = found[0].load()
    asked = ("pass_cards", "play_card", "choose_moon")
    whole = all(callable(getattr(loaded, one, None)) for one in asked)
    return loaded if whole and not isinstance(loaded, type) else None


class _Known(Mapping[str, Policy]):
    """The built-in policies, which nothing replaces; by their names alone also installed ones."""

    def __init__(self, built_in: dict[str, Policy]) -> None:
        self._built_in = built_in

    def __getitem__(self, name: str) -> Policy:
        found = self._built_in.get(name) or self._installed(name)
        if found is None:
            raise KeyError(name)
        return found

    def _installed(self, name: str) -> Policy | None:
        try:
            return installed(name)
        except Exception:  # noqa: BLE001 - somebody else's code: it is not known here then
            return None

    def __iter__(self) -> Iterator[str]:
        return iter(self._built_in)

    def __len__(self) -> int:
        return len(self._built_in)


POLICIES: Final[Mapping[str, Policy]] = _Known(
    {"low/1": Low(), "random/1": Random(), "careful/1": Careful()}
)
