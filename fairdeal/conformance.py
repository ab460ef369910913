"""Another verifier held against the transcript vectors (spec/README.md).

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


def folders(vectors: str) -> list[Path]:
    """The folders that hold a transcript and what is expected. Raises FairdealError if none do."""
    found = sorted(path.parent for path in Path(vectors).glob("*/transcript.json"))
    if not found:
        raise FairdealError(f"{vectors}: expected folders with transcript.json, found none")
    return found


def differs(command: Sequence[str], folder: Path) -> str | None:
    """How a verifier's verdict on a folder's transcript differs from the expected, or None."""
    try:
        expected = _plain(encoding.parse((folder / "expected.json").read_bytes()))
        found = _plain(_verdict([*command, *_pins(folder)], folder / "transcript.json"))
    except (MalformedError, OSError, subprocess.SubprocessError, TypeError, KeyError) as error:
        return f"no verdict: {type(error).__name__}: {error}"
    for name, wanted in expected.items():
        if found[name] != wanted:
            return f"{name}: expected {wanted}, found {found[name]}"
    return None


def _pins(folder: Path) -> list[str]:
    """What the verifier is told beside the transcript, as options of `fairdeal verify`."""
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
    """What two verdicts must agree on: status, and code, culprits and entries of each finding."""
    return {
        "status": verdict["status"],
        "findings": sorted(
            (one["code"], list(one["culprits"]), list(one["entries"]))
            for one in verdict["findings"]
        ),
    }
