"""Exit codes of the commands that judge: 0 valid, 1 invalid, 2 malformed or usage, 3 incomplete."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fairdeal.findings import Status, worst

EXIT: Final = {"valid": 0, "invalid": 1, "malformed": 2, "incomplete": 3}


def exit_code(statuses: Iterable[Status]) -> int:
    """The exit code of the worst status: invalid, then malformed, then incomplete."""
    return EXIT[worst(statuses)]
