"""What a verdict guarantees, in one or two sentences that a player understands (spec section 7.4).

No more than what follows: a log made up from nothing by one party is internally perfect, so the
sentence depends on whose keys were pinned from outside the file.
"""

from __future__ import annotations

from fairdeal.checks import Case
from fairdeal.findings import Pinned, Status
from fairdeal.parties import SEATS

_KNOWS = "The server knew the cards once all seeds were in: that it told nobody is not shown."


def of(status: Status, case: Case, pinned: Pinned) -> str:
    """The guarantee of a verdict of this status, given what was pinned."""
    if status == "invalid":
        return (
            "Something deviates from the protocol: no fair hand is guaranteed. What each finding "
            "proves, it says itself."
        )
    basis = _basis(case, pinned)
    if status == "incomplete":
        return f"Nothing in it deviates, but the hand did not end here. {basis}"
    return f"{basis} {_KNOWS}{_blind(case)}{_completeness(case, pinned)}"


def _basis(case: Case, pinned: Pinned) -> str:
    """Whose honesty it rests on."""
    seats = sorted({*pinned.seat_keys, *(() if pinned.record is None else (SEATS[pinned.record],))})
    if not seats:
        server = "the pinned server's" if pinned.server_key else "one"
        return (
            f"No person's key was pinned, so this shows only that {server} log agrees with itself: "
            "one party can make all of that up."
        )
    names = " or ".join(seats)
    alone = len(case.hand.persons | set(case.hand.replaced)) <= 1 if case.hand.size else False
    if alone:
        return (
            f"The server and {names} may be one device: this convinces its owner and nobody else."
        )
    shuffled = [by for by in seats if by in case.hand.reveals]
    signed = " and ".join(_signed(case, by) for by in seats)
    if not shuffled:
        return f"{names} revealed no seed here, so how fair the shuffle was is not shown. {signed}."
    return (
        f"If {' or '.join(shuffled)} drew its seed at random and kept it secret until its reveal, "
        f"nobody could choose the deck. {signed}."
    )


def _signed(case: Case, by: str) -> str:
    """How far a seat's own signatures reach."""
    last = _last_seen(case, by)
    return f"{by} has signed nothing" if last < 0 else f"{by} has signed for entries 0 to {last}"


def _last_seen(case: Case, by: str) -> int:
    """The last entry that a seat's own signatures endorse; -1 if it signed nothing."""
    places = (place for place, party in enumerate(case.parties) if party == by)
    seen = (case.log.seen_by(place) for place in places if case.marks.authentic[place])
    return max((one for one in seen if one is not None), default=-1)


def _blind(case: Case) -> str:
    unknown = sorted({one.found for one in case.remarks if one.code == "policy-unknown"})
    if not unknown:
        return ""
    return f" These bots were not shown to play blind: {', '.join(unknown)}."


def _completeness(case: Case, pinned: Pinned) -> str:
    acks = sorted(case.hand.acks)
    seen = (
        f" {', '.join(acks)} acknowledged the result."
        if acks
        else " Nobody acknowledged the result."
    )
    return seen + ("" if pinned.head else " Nothing is said about what may have followed this log.")
