"""Exit codes of the commands that judge: 0 valid, 1 invalid, 2 malformed or usage, 3 incomplete."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

EXIT: Final = {"valid": 0, "invalid": 1, "malformed": 2, "incomplete": 3}
_WORST_FIRST: Final = ("invalid", "malformed", "incomplete", "valid")


def exit_code(statuses: Iterable[str]) -> int:
    """The exit code of the worst status: invalid, then malformed, then incomplete."""
    return EXIT[min(statuses, key=_WORST_FIRST.index)]
