"""How long each seat took to decide, by the log's own times (spec section 4.3)."""

from __future__ import annotations

from typing import NamedTuple

from fairdeal.hand import Hand
from fairdeal.log import Log

_DECISIONS = ("pass", "play", "choose")


class Used(NamedTuple):
    """What a seat used: its decisions, the milliseconds they took, and those beyond the grace."""

    decisions: int
    taken_ms: int
    reserve_ms: int


def used(log: Log, hand: Hand, by: str, until: int) -> Used:
    """What a seat has used until entry `until`, or until the log's end.

    An entry `until` ends a decision still to be taken, which counts; the log's end does not.
    """
    grace = hand.terms.clock.grace_ms if hand.terms.clock else 0
    decisions = taken = reserve = 0
    entries, end = log.entries, len(log)
    for since, step in hand.steps.items():
        if by not in step.parties or since >= until or step.type not in _DECISIONS:
            continue
        began = hand.deal if step.type == "pass" and hand.deal is not None else since
        done = _decided_at(log, by, step.type, since, until)
        if done is None or done == end:
            continue
        took = entries[done].at - entries[began].at
        decisions, taken = decisions + 1, taken + max(0, took)
        reserve += max(0, took - grace)
    return Used(decisions, taken, reserve)


def over_at(log: Log, hand: Hand, by: str, kind: str) -> int | None:
    """When the time of a seat that must take the decision `kind` now is used up, in milliseconds.

    None if the hand has no clock. Before the first play any seat may be on turn.
    """
    clock = hand.terms.clock
    if clock is None:
        return None
    began = hand.deal if kind == "pass" and hand.deal is not None else hand.since
    left = clock.reserve_ms - used(log, hand, by, len(log)).reserve_ms
    return log.entries[began].at + clock.grace_ms + max(0, left)


def _decided_at(log: Log, by: str, kind: str, since: int, until: int) -> int | None:
    """The entry that ended a seat's decision: its own, or `until`.

    None if another seat made the first play: then this one was not on turn.
    """
    for place in range(since + 1, until):
        said = log.entries[place].message
        if said.type == kind and said.by == by:
            return place
        if said.type == kind == "play":
            return None
    return until
