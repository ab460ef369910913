"""The names of parties, as written in `by` (spec section 1)."""

from __future__ import annotations

from typing import Final

SERVER: Final = "server"
HOUSE: Final = "house"
SEATS: Final = tuple(f"seat/{seat}" for seat in range(10))
PARTIES: Final = frozenset((SERVER, HOUSE, *SEATS))
SEAT_NUMBERS: Final = {name: seat for seat, name in enumerate(SEATS)}


def seat_number(by: str) -> int | None:
    """The seat number in `by`, or None for server and house."""
    return SEAT_NUMBERS.get(by)
