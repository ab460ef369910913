"""Another verifier held against the vectors of transcripts and of games (spec/README.md).

The entrance for any other implementation: it is a command that prints a verdict as JSON. It runs as
a process of its own, with a time limit, and what it prints is believed only as far as it parses.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from fairdeal import encoding
from fairdeal.errors import FairdealError, MalformedError

_SECONDS: Final = 60
_FILES: Final = ("transcript.json", "game.json")


def folders(vectors: str) -> list[Path]:
    """The folders, here or one deeper, that hold a file and what is expected of it.

    Raises FairdealError if none do.
    """
    names = [f"{depth}/{name}" for depth in ("*", "*/*") for name in _FILES]
    found = sorted(path.parent for name in names for path in Path(vectors).glob(name))
    if not found:
        wanted = " or ".join(_FILES)
        raise FairdealError(f"{vectors}: expected folders with {wanted}, found none")
    return found


def differs(command: Sequence[str], folder: Path) -> str | None:
    """How a verifier's verdict on a folder's file differs from the expected, or None."""
    try:
        expected = _plain(encoding.parse((folder / "expected.json").read_bytes()))
        file = next(path for name in _FILES if (path := folder / name).exists())
        found = _plain(_verdict([*command, *_pins(folder)], file))
    except (MalformedError, OSError, subprocess.SubprocessError, TypeError, KeyError) as error:
        return f"no verdict: {type(error).__name__}: {error}"
    for name, wanted in expected.items():
        if found.get(name) != wanted:
            return f"{name}: expected {wanted}, found {found.get(name)}"
    return None


def _pins(folder: Path) -> list[str]:
    """What the verifier is told beside the file, as options of `fairdeal verify`."""
    options: list[str] = []
    record, path = folder / "record.json", folder / "pins.json"
    if record.exists():
        options += ["--mine", str(record)]
    pins: Any = encoding.parse(path.read_bytes()) if path.exists() else {}
    for seat, key in pins.pop("seat_keys", {}).items():
        options += ["--seat-key", f"{seat}={key}"]
    for name, pin in pins.items():
        options += [f"--{name.replace('_', '-')}", pin]
    return options


def _verdict(command: Sequence[str], path: Path) -> Any:
    done = subprocess.run(  # noqa: S603 - see above
        [*command, str(path)], capture_output=True, timeout=_SECONDS, check=False
    )
    return encoding.parse(done.stdout)


def _plain(verdict: Any) -> dict[str, Any]:
    """What two verdicts must agree on.

    Status, and code, culprits and entries of each finding; of a game the hands of each finding, the
    same of its remarks, since they can name somebody, and the status of every hand.
    """
    if "hands" not in verdict:
        return {
            "status": verdict["status"],
            "findings": _said(verdict["findings"], "entries"),
        }
    return {
        "status": verdict["status"],
        "findings": _said(verdict["findings"], "hands"),
        "remarks": _said(verdict["remarks"], "hands"),
        "hands": [one if isinstance(one, str) else one["status"] for one in verdict["hands"]],
    }


def _said(findings: Any, cited: str) -> list[tuple[str, list[str], list[int]]]:
    return sorted((one["code"], list(one["culprits"]), list(one[cited])) for one in findings)
