"""fairdeal: a shuffle that nobody has to believe.

`Dealer` and `Seat` play a hand without I/O of their own; `verify` judges what they leave behind.
"""

from __future__ import annotations

from fairdeal.dealer import Dealer, Terms, bot
from fairdeal.errors import (
    FairdealError,
    InvalidKeyError,
    LocalProtocolError,
    MalformedError,
    RemoteProtocolError,
    SealingError,
)
from fairdeal.findings import Finding, Verdict
from fairdeal.log import Log, read_log, read_message
from fairdeal.log import read_one_entry as read_entry
from fairdeal.messages import Bot, Clock, Deck, Entry, Person
from fairdeal.seat import Outgoing, Seat
from fairdeal.signing import SigningKey
from fairdeal.verify import verify

__all__ = [
    "Bot",
    "Clock",
    "Dealer",
    "Deck",
    "Entry",
    "FairdealError",
    "Finding",
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
    "read_message",
    "read_log",
    "verify",
]
