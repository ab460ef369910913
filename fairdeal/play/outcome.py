"""What a player's own copies say at a hand's and at a game's end: a line, the sheet, the exit code.

Nothing is asked of the server here: the scores and places shown are those of the logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fairdeal.cli_exit import exit_code
from fairdeal.findings import Status, Verdict
from fairdeal.log import Log, read_log
from fairdeal.play.player import Ended
from fairdeal.report import text
from fairdeal.report.harmless import harmless
from fairdeal.report.screen import Line, line
from fairdeal.report.whole import ScoreSheet
from fairdeal.whole_game import verify_game


class Outcome:
    """Everything judged in one run of `fairdeal play`."""

    def __init__(self) -> None:
        self.last: Ended | None = None
        self._statuses: list[Status] = []

    def hand(self, ended: Ended) -> Iterator[Line]:
        """The line of a hand that ended, and what was found in it."""
        self.last = ended
        verdict = ended.verdict
        self._statuses.append("valid" if voided(verdict) else verdict.status)
        stop = verdict.stop
        why = f": {harmless(stop.reason)}" if stop else ""
        label = f"hand {ended.hand.hand}"
        if ended.hand.attempt > 1:
            label += f", attempt {ended.hand.attempt}"
        own = "by your own record" if ended.record is not None else "without a record of yours"
        yield line(f"{label}: ", text.status(verdict), why, f", {len(ended.log)} entries, {own}")
        for number, one in enumerate(verdict.findings, 1):
            yield from text.finding(number, one, f"entries {', '.join(map(str, one.entries))}")

    def game(self, copies: Mapping[tuple[int, int], bytes], key: bytes) -> Iterator[Line]:
        """The sheet of the game whose last hand ended, from its copies in order."""
        if self.last is None:
            self._statuses.append("incomplete")
            yield line("The game is over; you have no copy of any of its hands.")
            return
        server = bytes.fromhex(self.last.hand.server)
        hands = list(copies.values())
        logs = [read_log(data) for data in hands]
        judged = verify_game(hands, server_key=server, seat_keys=_seat(logs, key))
        if whole(copies, judged.hands):
            self._statuses.append(judged.status)
            yield from ScoreSheet(logs, judged).whole()
            return
        self._statuses.append("incomplete")
        yield line("Your copies do not hold the whole game, so it is not judged; its last hand:")
        yield from ScoreSheet(logs, judged)._hand(logs[-1], judged.hands[-1])

    def unfinished(self) -> None:
        """The game went on without this player."""
        self._statuses.append("incomplete")

    def exit_code(self) -> int:
        """As of `fairdeal verify`; a voided attempt is a part of a game like any other."""
        return exit_code(self._statuses) if self._statuses else 0


def voided(verdict: Verdict) -> bool:
    """Whether an attempt was given up as the protocol has it."""
    stop = verdict.stop
    return verdict.status == "incomplete" and stop is not None and not stop.next


def whole(numbers: Iterable[tuple[int, int]], verdicts: Iterable[Verdict]) -> bool:
    """Whether these are all hands and attempts from the first on, each to its end."""
    before = (0, 0)
    for hand, attempt in numbers:
        if (hand, attempt) not in ((before[0], before[1] + 1), (before[0] + 1, 1)):
            return False
        before = (hand, attempt)
    return all(one.status != "incomplete" or voided(one) for one in verdicts)


def _seat(logs: Iterable[Log], key: bytes) -> dict[int, bytes]:
    """The player's own key at its own seat, from the first hand that has it."""
    for log in logs:
        for n, one in enumerate(getattr(log.entries[0].message.body, "seats", ())):
            if getattr(one, "key", "") == key.hex():
                return {n: key}
    return {}
