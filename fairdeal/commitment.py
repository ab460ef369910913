"""Commitments and their openings (spec section 2.5).

Both bind the hand id and the party's name, so that a copied commitment opens nowhere else.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence

from fairdeal.encoding import tagged_hash

SEED_BYTES = 64
SALT_BYTES = 32


def seed_commitment(hand_id: bytes, shuffler: str, seed: bytes) -> bytes:
    """`H("fairdeal/v1/commit", hand id, shuffler, seed)`; shuffler is ``house`` or ``seat/n``."""
    return tagged_hash("fairdeal/v1/commit", hand_id, shuffler, seed)


def cards_commitment(
    kind: str, hand_id: bytes, seat: str, cards: Sequence[str], salt: bytes
) -> bytes:
    """`H("fairdeal/v1/cards/" + kind, hand id, seat, codes joined, salt)`.

    `kind` is ``deal``, ``pass`` or ``exchange``; a dealt hand is in deal order, the others in the
    deck's canonical order.
    """
    return tagged_hash(f"fairdeal/v1/cards/{kind}", hand_id, seat, "".join(cards), salt)


def opens(commitment: bytes, computed: bytes) -> bool:
    """Whether a recomputed commitment is the committed one, in constant time."""
    return hmac.compare_digest(commitment, computed)
