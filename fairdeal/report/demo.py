"""What `fairdeal demo` prints: the hand it played, in brief, and the verdict on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairdeal.findings import Verdict
from fairdeal.log import Log
from fairdeal.report import text
from fairdeal.report.harmless import fit, harmless
from fairdeal.report.screen import Line, Span, line
from fairdeal.report.sheet import Sheet


def one_hand(log: Log, verdict: Verdict, *, symbols: bool) -> Iterator[Line]:
    """A single hand: who sat there, the tricks, the points, and what was checked."""
    table = Sheet(log, symbols=symbols)
    for part in (table.seats, table.tricks, table.count):
        yield from part()
    yield line()
    yield line(Span("Verdict", "bold"), ": ", text.status(verdict), f", {len(log)} entries")
    yield line(f"  {len(verdict.checks)} checks: {text.summary(verdict.checks)}")
    for one in verdict.findings:
        yield from text.wrapped("  ", one.message)
    yield from text.guarantee(verdict.guarantee)
    yield from text.wrapped(
        "  ", "One process played every part here, so it convinces nobody else."
    )


def one_of_many(log: Log, verdict: Verdict, *, symbols: bool) -> Iterator[Line]:
    """A line for one of several hands."""
    table, opened = Sheet(log, symbols=symbols), verdict.hand
    label = f"{harmless(opened.game)} hand {opened.hand}" if opened else ""
    points, scores = (table.close.points, table.close.scores) if table.close else ((), ())
    cells = f"  points {_numbers(points)}  scores {_numbers(scores)}  "
    over = "  the game is over" if table.close and table.close.result else ""
    yield line(fit(label, 16), cells, text.status(verdict), over)


def _numbers(values: Sequence[int]) -> str:
    return " ".join(f"{value:>3}" for value in values)


def afterwards(statuses: Sequence[str], folder: str | None) -> Iterator[Line]:
    """How many were valid, and what to do with the files."""
    valid = sum(status == "valid" for status in statuses)
    if len(statuses) > 1:
        yield line(f"{valid} of {len(statuses)} hands are valid.")
    if folder is not None:
        first = harmless(f"{folder.rstrip('/')}/hand-0001.json")
        yield line(f"Now judge them yourself: fairdeal verify {first}")
