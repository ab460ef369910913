"""Seed to permutation, and permutations to a deck (spec section 5.2).

The words of HMAC-SHA-512 in counter mode (NIST SP 800-108) drive Fisher-Yates in Durstenfeld's
form. A word that would favour a position is rejected, so every order is exactly equally likely.
"""

from __future__ import annotations

import hmac
import struct
from collections.abc import Iterator, Sequence
from itertools import chain

from fairdeal.cards import MAX_DECK
from fairdeal.encoding import frame, u16, u32

_WORDS = struct.Struct(">32H").unpack

#: LIMITS[n]: words below it are spread evenly over n positions (spec step 5.2.3)
LIMITS = (0, *(65536 - 65536 % n for n in range(1, MAX_DECK + 1)))


def blocks(seed: bytes, label: bytes) -> Iterator[bytes]:
    """The 64-byte blocks `HMAC-SHA-512(seed, u32(i) ‖ label)`, i counting from 1."""
    number = 0
    while True:
        number += 1
        yield hmac.digest(seed, u32(number) + label, "sha512")


def words(seed: bytes, label: bytes) -> Iterator[int]:
    """The blocks read as big-endian 16-bit words."""
    return chain.from_iterable(map(_WORDS, blocks(seed, label)))


def permutation(seed: bytes, hand_id: bytes, shuffler: str, size: int) -> list[int]:
    """The permutation of `size` positions (1 to 1024) that `shuffler`'s seed gives in this hand.

    Raises ValueError for another size.
    """
    if not 1 <= size <= MAX_DECK:
        raise ValueError(f"a deck has 1 to {MAX_DECK} cards, not {size}")
    label = frame("fairdeal/v1/permutation", hand_id, shuffler, u16(size))
    perm = list(range(size))
    left = size
    for word in words(seed, label):  # pragma: no branch - they never end
        if left == 1:
            break
        if word < LIMITS[left]:  # else it would favour the low positions
            j = word % left
            left -= 1
            perm[left], perm[j] = perm[j], perm[left]
    return perm


def apply(perm: Sequence[int], before: Sequence[str]) -> list[str]:
    """One shuffler's turn: `deck[p] = before[perm[p]]`."""
    return [before[index] for index in perm]


def hands_of(
    deck: Sequence[str], seats: int
) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """Deal a shuffled deck: position p to seat `p mod n`; what does not divide is the kitty."""
    dealt = len(deck) - len(deck) % seats
    hands = tuple(tuple(deck[seat:dealt:seats]) for seat in range(seats))
    return hands, tuple(deck[dealt:])
