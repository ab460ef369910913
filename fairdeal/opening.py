"""What a box or an opening must hold (spec section 5.3): one judgement for all who open them.

A dealer judges reveals and passes with it, a seat its hand and what it receives, and the verifier
all of them again once a key or an opening is disclosed. Who is to blame is not decided here.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from fairdeal import sealing
from fairdeal.cards import canonical, in_deck
from fairdeal.commitment import SEED_BYTES, cards_commitment, opens, seed_commitment
from fairdeal.encoding import encode
from fairdeal.errors import SealingError
from fairdeal.messages import Cards

_cards = msgspec.json.Decoder(Cards)


def revealed_seed(
    sealed: str, commitment: str, *, hand_key: bytes, hand_id: bytes, seat: str
) -> bytes | None:
    """The seed in a reveal's box, or None if it does not open its seat's commitment."""
    try:
        seed = sealing.unseal(
            bytes.fromhex(sealed), hand_key, sealing.info("reveal", hand_id, "server", seat)
        )
    except SealingError:
        return None
    if len(seed) != SEED_BYTES:
        return None
    computed = seed_commitment(hand_id, seat, seed)
    return seed if opens(bytes.fromhex(commitment), computed) else None


def cards_open(
    cards: Cards, commitment: str, deck: Sequence[str], *, kind: str, hand_id: bytes, seat: str
) -> bool:
    """Whether an opening opens a card commitment made for that seat.

    Codes are committed to joined: only as long as the deck's are they the ones that were meant.
    """
    if not {len(deck[0])}.issuperset(map(len, cards.cards)):
        return False
    salt = bytes.fromhex(cards.salt)
    computed = cards_commitment(kind, hand_id, seat, cards.cards, salt)
    return opens(bytes.fromhex(commitment), computed)


def sealed_cards(
    sealed: str, *, kind: str, hand_key: bytes, hand_id: bytes, recipient: str, sender: str
) -> Cards | None:
    """The opening in a box, or None unless it is byte for byte the canonical JSON of one."""
    try:
        plain = sealing.unseal(
            bytes.fromhex(sealed), hand_key, sealing.info(kind, hand_id, recipient, sender)
        )
        cards = _cards.decode(plain)
    except (SealingError, msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return cards if encode(cards) == plain else None


def are_dealt(cards: Sequence[str], deck: tuple[str, ...], seats: int) -> bool:
    """Whether these can be one seat's hand: the right number of cards of the deck."""
    return len(cards) == len(deck) // seats and in_deck(cards, deck)


def are_passed(cards: Sequence[str], deck: tuple[str, ...], count: int) -> bool:
    """Whether these can be a pass: so many cards of the deck, in canonical order."""
    return len(cards) == count and in_deck(cards, deck) and tuple(cards) == canonical(cards, deck)
