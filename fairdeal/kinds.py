"""What a file is, by the members of its object and nothing else.

Every file of this version is an object with `fairdeal` and one member that names its kind. A reader
that was given another kind can say which.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from fairdeal.messages import FORMAT_VERSION


class _Top(msgspec.Struct):
    """The members of a file's object that tell what it is, not looked into."""

    entries: msgspec.Raw | UnsetType = UNSET
    fairdeal: msgspec.Raw | UnsetType = UNSET
    hands: msgspec.Raw | UnsetType = UNSET
    proof: msgspec.Raw | UnsetType = UNSET
    record: msgspec.Raw | UnsetType = UNSET


_tops: Final = msgspec.json.Decoder(_Top)


def kind_of(data: bytes) -> str:
    """What a file is by its members: transcript, game, record, proof, another version, or other."""
    try:
        top = _tops.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return "other"
    if top.fairdeal is UNSET:
        return "other"
    if bytes(top.fairdeal).isdigit() and int(bytes(top.fairdeal)[:9]) != FORMAT_VERSION:
        return f"version {bytes(top.fairdeal)[:9].decode()}"
    named = {"transcript": top.entries, "game": top.hands, "record": top.record, "proof": top.proof}
    return next((kind for kind, member in named.items() if member is not UNSET), "other")
