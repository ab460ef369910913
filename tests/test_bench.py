"""The load bench works: a few tables are played and every hand that ended is valid. No time counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LOAD = Path(__file__).parent / "bench" / "load.py"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="it looks at processes in /proc")
@pytest.mark.parametrize("more", [(), ("--bots", "3", "--processes", "2")])
def test_a_short_load_ends_in_valid_hands(more: tuple[str, ...]) -> None:
    command = [sys.executable, str(LOAD), "--short", *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    row = done.stdout.splitlines()[-1].split()
    valid, looked_at = row[3].split("/")
    assert valid == looked_at
    assert int(looked_at) > 0
    assert "trouble" not in done.stderr
