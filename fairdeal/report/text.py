"""A verdict for people: the status first, what was found, what was looked at, what follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from fairdeal.findings import (
    CHECKS,
    GAME_CHECKS,
    CheckReport,
    Finding,
    GameFinding,
    HandLabel,
    Pinned,
    Status,
    Stop,
    Verdict,
)
from fairdeal.report.harmless import harmless, width
from fairdeal.report.screen import Line, Span, line

STYLES: Final[dict[Status, str]] = {
    "valid": "bold green",
    "invalid": "bold red",
    "malformed": "bold red",
    "incomplete": "bold yellow",
}
_WIDTH: Final = 96
_LONGEST: Final = 4000


def verdict(file: str, judged: Verdict) -> Iterator[Line]:
    """Everything a verdict says, about the file of this name."""
    yield line(Span(harmless(file), "bold"), ": ", status(judged))
    if judged.hand:
        yield line("  ", hand_label(judged.hand))
        yield line("  hand id  ", judged.hand.id)
    if judged.head:
        yield line("  head     ", judged.head)
    yield from pinned(judged.pinned)
    if judged.stop:
        yield from wrapped("  stopped  ", _stopped(judged.stop))
    if judged.given_up:
        yield from wrapped("  given up  the deck ", " ".join(judged.given_up))
    yield from _findings("Findings", judged.findings)
    yield from _findings("Remarks", judged.remarks)
    yield from checks(judged.checks)
    yield from guarantee(judged.guarantee)


def status(judged: Verdict) -> Span:
    """The status, in its colour."""
    return Span(judged.status, STYLES[judged.status])


def malformed(file: str, judged: Verdict) -> str:
    """The one line about a file that is no transcript."""
    one = judged.findings[0]
    return f"{file}: malformed: expected {one.expected}; {one.found}"


def hand_label(hand: HandLabel) -> str:
    """Which hand it is, in words."""
    return (
        f'hand {hand.hand} (attempt {hand.attempt}) of game "{harmless(hand.game)}" '
        f'at table "{harmless(hand.table)}"'
    )


def guarantee(what: str) -> Iterator[Line]:
    """What follows from the verdict, and for whom."""
    yield line()
    yield from wrapped("  Guarantee: ", what)


def summary(checks: Iterable[CheckReport]) -> str:
    """How the checks went, in numbers."""
    counts = {"passed": 0, "failed": 0, "not run": 0}
    for one in checks:
        counts[one.status] += 1
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def pinned(pinned: Pinned) -> Iterator[Line]:
    """What the caller knew from elsewhere."""
    parts = ["the server's key"] if pinned.server_key else []
    parts += [f"the key of {seat}" for seat in sorted(pinned.seat_keys)]
    parts += [] if pinned.record is None else [f"the record of seat/{pinned.record}"]
    parts += ["the end"] if pinned.head else []
    yield from wrapped("  pinned   ", ", ".join(parts) or "nothing")


def _stopped(stop: Stop) -> str:
    due = f"; next: {', '.join(stop.next)}" if stop.next else ""
    return f"after entry {stop.entry}: {stop.reason}{due}"


def _findings(title: str, findings: tuple[Finding, ...]) -> Iterator[Line]:
    if findings:
        yield line()
        yield line("  ", Span(f"{title} ({len(findings)})", "bold"))
    for number, one in enumerate(findings, 1):
        where = ", ".join(map(str, one.entries)) or "none"
        yield from finding(number, one, f"entries {where}")


def finding(number: int, one: Finding | GameFinding, where: str) -> Iterator[Line]:
    """One finding, with its code, whom it names, and where it is."""
    yield from wrapped(f"  {number:>3}. ", one.message)
    named = ", ".join(one.culprits) or "nobody"
    name = (CHECKS | GAME_CHECKS)[one.check]
    yield from wrapped(
        "       ",
        f"{one.code}, check {one.check} ({name}); names {named} ({one.attribution}); {where}",
    )
    yield from wrapped("       expected  ", one.expected)
    yield from wrapped("       found     ", one.found)


def checks(reports: tuple[CheckReport, ...]) -> Iterator[Line]:
    """How each numbered check went."""
    yield line()
    yield line("  ", Span("Checks", "bold"), f" ({summary(reports)})")
    for one in reports:
        style = {"passed": "green", "failed": "red"}.get(one.status, "dim")
        head = line(f"  {one.number:>3} {one.name:<13}", Span(f"{one.status:<8}", style))
        yield [*head, Span(_looked(one))]


def _looked(one: CheckReport) -> str:
    if one.looked_at:
        return f"looked at {one.looked_at}"
    return harmless(one.reason or "there was nothing to look at")


def wrapped(head: str, text: str) -> Iterator[Line]:
    """A text from anywhere behind a head of ours, over as many lines as it needs."""
    room = _WIDTH - width(head)
    rows = list(_rows(harmless(text, _LONGEST).split(" "), room))
    for number, row in enumerate(rows):
        yield line(head if not number else " " * width(head), row)


def _rows(words: list[str], room: int) -> Iterator[str]:
    row = words[0]
    for word in words[1:]:
        if width(row) + 1 + width(word) > room:
            yield row
            row = word
        else:
            row += " " + word
    yield row
