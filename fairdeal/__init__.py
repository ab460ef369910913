"""fairdeal: a shuffle that nobody has to believe.

`Dealer` and `Seat` play a hand without I/O of their own; `verify` judges what they leave behind.
The players are imported when they are first named: who only verifies does not wait for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairdeal.errors import (
    FairdealError,
    InvalidKeyError,
    LocalProtocolError,
    MalformedError,
    RemoteProtocolError,
    SealingError,
)
from fairdeal.findings import Finding, GameFinding, GameVerdict, Verdict
from fairdeal.log import Log, read_log, read_message
from fairdeal.log import read_one_entry as read_entry
from fairdeal.messages import Bot, Clock, Deck, Entry, Person
from fairdeal.signing import SigningKey
from fairdeal.verify import verify

if TYPE_CHECKING:
    from fairdeal.dealer import Dealer, Terms, bot
    from fairdeal.seat import Outgoing, Seat
    from fairdeal.whole_game import verify_game, verify_game_file, write_game
else:

    def __getattr__(name: str) -> object:
        """A player's name, at its first use."""
        if name in ("Dealer", "Terms", "bot"):
            from fairdeal import dealer as home
        elif name in ("Outgoing", "Seat"):
            from fairdeal import seat as home
        elif name in ("verify_game", "verify_game_file", "write_game"):
            from fairdeal import whole_game as home
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return globals().setdefault(name, getattr(home, name))


__all__ = [
    "Bot",
    "Clock",
    "Dealer",
    "Deck",
    "Entry",
    "FairdealError",
    "Finding",
    "GameFinding",
    "GameVerdict",
    "InvalidKeyError",
    "LocalProtocolError",
    "Log",
    "MalformedError",
    "Outgoing",
    "Person",
    "RemoteProtocolError",
    "SealingError",
    "Seat",
    "SigningKey",
    "Terms",
    "Verdict",
    "bot",
    "read_entry",
    "read_log",
    "read_message",
    "verify",
    "verify_game",
    "verify_game_file",
    "write_game",
]
