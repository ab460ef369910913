"""The course of a hand, from its log: for showing it, and for finding the keys behind it.

It follows a log as far as the table can, as the verifier does, and says nothing about whether it
was right: whoever shows it shows the verdict's status first.
"""

from __future__ import annotations

from typing import NamedTuple

from fairdeal.hand import Hand
from fairdeal.log import Log, compacted
from fairdeal.messages import Open


class Course(NamedTuple):
    """Where a log leads: the hand at its end, and the key each entry is signed with."""

    hand: Hand
    keys: list[bytes]


def course_of(log: Log) -> Course:
    """Follow a log that begins with `open` (`read_log` has seen to that)."""
    hand, keys = Hand(), []
    opened = log.entries[0].message.body
    server = bytes.fromhex(opened.server_key) if isinstance(opened, Open) else b""
    for entry, digest, seen in zip(log.entries, log.message_hashes, log.seen, strict=True):
        said = entry.message
        judged = hand.judge(said, digest, seen)
        keys.append(server if not hand.size else hand.key_of(said.by))
        if any(one.code == "open-terms" for one in judged.deviations):
            break  # there is no game to follow
        hand.take(judged)
    return Course(hand, keys)


def compacted_log(log: Log) -> Log:
    """A valid log without the signatures that later ones cover; the caller has verified it."""
    return compacted(log, course_of(log).keys)
