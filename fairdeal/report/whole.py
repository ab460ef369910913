"""A game's verdict for people: each hand in a line, what was found, and the score sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairdeal.findings import GameFinding, GameVerdict, Verdict
from fairdeal.log import Log
from fairdeal.messages import Close, Open, Person, Void
from fairdeal.report import text
from fairdeal.report.harmless import fit, harmless
from fairdeal.report.screen import Line, Span, line

_NAME = 12


def verdict(file: str, judged: GameVerdict) -> Iterator[Line]:
    """Everything a game's verdict says; of its hands in full only those with findings."""
    status = Span(judged.status, text.STYLES[judged.status])
    yield line(Span(harmless(file), "bold"), ": ", status, f", {len(judged.hands)} hands")
    yield from text.pinned(judged.pinned)
    for place, one in enumerate(judged.hands):
        yield line(f"  {place:>3}. ", text.status(one), _label(one))
    yield from _findings("Findings between the hands", judged.findings)
    yield from _findings("Remarks", judged.remarks)
    yield from text.checks(judged.checks)
    for place, one in enumerate(judged.hands):
        if one.findings:
            yield line()
            yield from text.verdict(f"{file}, hand {place} of the file", one)
    yield from text.guarantee(judged.guarantee)


def _label(one: Verdict) -> str:
    if one.hand is None:
        return ""
    stop = f": {one.stop.reason}" if one.stop else ""
    return f"  hand {one.hand.hand} (attempt {one.hand.attempt}){harmless(stop)}"


def _findings(title: str, findings: Sequence[GameFinding]) -> Iterator[Line]:
    if findings:
        yield line()
        yield line("  ", Span(f"{title} ({len(findings)})", "bold"))
    for number, one in enumerate(findings, 1):
        where = f"hands {', '.join(map(str, one.hands))} of the file"
        yield from text.finding(number, one, where)


class ScoreSheet:
    """The scores of a game, hand by hand."""

    def __init__(self, logs: Sequence[Log | None], judged: GameVerdict) -> None:
        self.logs = logs
        self.judged = judged

    def whole(self) -> Iterator[Line]:
        """Who sits there, a row for each hand, and the result."""
        opened = next((_opened(log) for log in self.logs if log), None)
        status = Span(self.judged.status, text.STYLES[self.judged.status])
        if opened is None:
            yield line(status, ": no hand can be read")
            return
        yield line(status, f': game "{harmless(opened.game)}" at table "{harmless(opened.table)}"')
        if self.judged.status == "invalid":
            warning = "Something deviates from the protocol: do not take what follows for true."
            yield line(Span(warning, "bold red"))
        for one in self.judged.findings:
            yield from text.wrapped(f"  check {one.check}: ", one.message)
        yield line()
        names = "".join(" " + fit(harmless(seat.name), _NAME) for seat in opened.seats)
        yield line(Span(f"{'hand':<10}", "bold"), names)
        for log, hand in zip(self.logs, self.judged.hands, strict=True):
            yield from self._hand(log, hand)

    def _hand(self, log: Log | None, judged: Verdict) -> Iterator[Line]:
        if log is None:
            yield line(f"{'?':<10} ", Span("cannot be read", "bold red"))
            return
        opened, end = _opened(log), _end(log)
        head = f"{opened.hand}.{opened.attempt}"
        mark = "" if judged.status in ("valid", "incomplete") else judged.status
        if isinstance(end, Close):
            yield self._row(head + " points", end.points, mark)
            yield self._row("  scores", end.scores)
            yield from self._result(opened, end)
        elif isinstance(end, Void):
            who = "" if end.seat is None else f" (seat/{end.seat})"
            yield line(f"{head:<10}  attempt given up: {end.reason}{who}  {mark}")
        else:
            yield line(f"{head:<10}  not closed  {mark}")

    def _row(self, head: str, values: Sequence[int], mark: str = "") -> Line:
        cells = "".join(" " + fit(str(value), _NAME) for value in values)
        return line(f"{head:<10}", cells, Span(mark and f" {mark}", "bold red"))

    def _result(self, opened: Open, close: Close) -> Iterator[Line]:
        if close.result is None:
            return
        yield self._row("  places", close.result.places)
        seats = dict(enumerate(opened.seats))
        winners = " and ".join(harmless(seats[n].name) for n in close.result.winners if n in seats)
        yield line(Span(f"The game is over: won by {winners or 'nobody'}.", "bold"))
        yield from self._pairs(opened, close)

    def _pairs(self, opened: Open, close: Close) -> Iterator[Line]:
        """Each pair of seats by place, as a rating counts them: won, split or lost."""
        places = close.result.places if close.result else ()
        for seat, place in enumerate(places[: len(opened.seats)]):
            others = [other for n, other in enumerate(places) if n != seat]
            won = sum(place < other for other in others)
            split = sum(place == other for other in others)
            left = "; left" if close.result and seat in close.result.left else ""
            who = "person" if isinstance(opened.seats[seat], Person) else "bot"
            name = fit(harmless(opened.seats[seat].name), _NAME)
            lost = len(others) - won - split
            yield line(f"  {name} ({who}{left}): {won} won, {split} split, {lost} lost")


def _opened(log: Log) -> Open:
    body = log.entries[0].message.body
    assert isinstance(body, Open), "a log that was read begins with open"
    return body


def _end(log: Log) -> Close | Void | None:
    ends = (one.message.body for one in log.entries if isinstance(one.message.body, Close | Void))
    return next(ends, None)
