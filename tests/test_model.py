"""spec/model: the exhaustive search of the phases, and that it can fail."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

MODEL = Path(__file__).parent.parent / "spec/model"
MISSING = "spin is not installed (apt-get install spin)"


def run(model: Path, *names: str) -> subprocess.CompletedProcess[str]:
    if shutil.which("spin") is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    return subprocess.run(
        ["bash", model / "run.sh", *names], check=False, capture_output=True, text=True, timeout=900
    )


def changed(tmp_path: Path, old: str, new: str) -> Path:
    """A copy of the model with one line of it otherwise."""
    copy = tmp_path / "model"
    shutil.copytree(MODEL, copy)
    text = (copy / "fairdeal.pml").read_text()
    assert text.count(old) == 1
    (copy / "fairdeal.pml").write_text(text.replace(old, new))
    return copy


def lines() -> list[str]:
    return re.findall(
        r"^([a-z0-9-]+) +(?:holds|reached|fails) +-D", (MODEL / "run.sh").read_text(), re.MULTILINE
    )


def test_model_holds_and_every_mutant_fails() -> None:
    done = run(MODEL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(line.split()[1] for line in done.stdout.splitlines()) == sorted(lines())


def test_a_broken_model_is_noticed(tmp_path: Path) -> None:
    done = run(changed(tmp_path, "#define REPEAT_BLAMED 0", "#define REPEAT_BLAMED 1"), "clear-1")
    assert done.returncode == 1 and done.stdout.startswith("NOT"), done.stdout + done.stderr


def test_a_mutant_that_passes_is_noticed(tmp_path: Path) -> None:
    done = run(changed(tmp_path, "BEFORE(view[me]), 1)", "view[me], 1)"), "prefix")
    assert done.returncode == 1 and done.stdout.startswith("NOT"), done.stdout + done.stderr


def test_readme_names_every_line() -> None:
    named = set(re.findall(r"`([a-z0-9-]+)`", (MODEL / "README.md").read_text()))
    assert set(lines()) <= named
