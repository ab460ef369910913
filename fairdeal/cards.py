"""Card codes, decks and their canonical order (spec section 5.1).

A French card is two characters, rank then suit: ``2C``, ``TH``, ``QS``. A deck is either `packs`
of the 52 cards less the `removed` ones, pack by pack, or a list of codes of one length. What a
card is worth and what beats it is a game's business, not this module's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

SUITS = "CDHS"
RANKS = "23456789TJQKA"
PACK = tuple(rank + suit for suit in SUITS for rank in RANKS)
MAX_DECK = 1024


def french_deck(packs: int = 1, removed: Iterable[str] = ()) -> tuple[str, ...]:
    """The cards of `packs` 52-card packs in canonical order, each pack less the `removed` codes.

    Raises ValueError for a number of packs that is not 1 to 8, or a removed code that is unknown
    or given twice.
    """
    return _french_deck(packs, tuple(removed))


@lru_cache(maxsize=64)
def _french_deck(packs: int, gone: tuple[str, ...]) -> tuple[str, ...]:
    if not 1 <= packs <= 8:
        raise ValueError(f"a deck has 1 to 8 packs, not {packs}")
    if len(set(gone)) != len(gone) or not set(gone) <= set(PACK):
        raise ValueError("a removed card is unknown or named twice")
    return tuple(card for card in PACK if card not in gone) * packs


def listed_deck(codes: Sequence[str]) -> tuple[str, ...]:
    """A deck of other cards: distinct codes of one length, in the order given.

    Raises ValueError if a code is not 1 to 8 printable ASCII characters, if two are equal, or if
    their lengths differ (a sealed card must not show itself by its size).
    """
    if not 1 <= len(codes) <= MAX_DECK:
        raise ValueError(f"a deck has 1 to {MAX_DECK} cards, not {len(codes)}")
    if len(set(codes)) != len(codes):
        raise ValueError("two cards of the deck have one code")
    if len({len(code) for code in codes}) != 1 or not 1 <= len(codes[0]) <= 8:
        raise ValueError("the codes of a deck have one length, 1 to 8 characters")
    if not all(" " < char <= "~" for code in codes for char in code):
        raise ValueError("a card's code is printable ASCII without spaces")
    return tuple(codes)


def canonical(cards: Iterable[str], deck: Sequence[str]) -> tuple[str, ...]:
    """`cards` in the deck's canonical order. Raises ValueError if one is not in the deck."""
    try:
        return tuple(sorted(cards, key=_places(tuple(deck)).__getitem__))
    except KeyError as error:
        raise ValueError("a card is not in the deck") from error


@lru_cache(maxsize=64)
def _places(deck: tuple[str, ...]) -> dict[str, int]:
    """The first place of each code in a deck. For whole decks, of which there are few."""
    return {card: place for place, card in reversed(tuple(enumerate(deck)))}


def in_deck(cards: Sequence[str], deck: tuple[str, ...]) -> bool:
    """`contains` for a whole deck, whose codes are looked up only once."""
    if len(set(cards)) == len(cards):
        return set(cards) <= _places(deck).keys()
    return contains(deck, cards)


def contains(deck: Iterable[str], cards: Iterable[str]) -> bool:
    """Whether `cards` can be taken out of `deck`, counting cards that it holds more than once."""
    wanted = tuple(cards)
    if len(set(wanted)) == len(wanted):
        return set(wanted).issubset(deck)
    return Counter(wanted) <= Counter(deck)
