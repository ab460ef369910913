"""Files where the system is not what it usually is: no standard input, a slow pipe, another system."""

from __future__ import annotations

import io
import os
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from fairdeal import files


def test_no_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(files.FileError, match="no standard input"):
        files.read("-")


@pytest.mark.parametrize("size", [0, 10, 11])
def test_standard_input_is_bounded(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"x" * size)))
    if size > 10:
        with pytest.raises(files.FileError, match="too large"):
            files.read("-", limit=10)
    else:
        assert files.read("-", limit=10) == b"x" * size


def test_writer_that_takes_its_time(tmp_path: Path) -> None:
    """A pipe that has a writer is waited for, however long that thinks."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    ready = threading.Event()

    def write() -> None:
        with path.open("wb", buffering=0) as stream:
            ready.set()
            time.sleep(0.2)
            stream.write(b"late")

    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # lets the writer open it
    writer = threading.Thread(target=write)
    writer.start()
    ready.wait()
    try:
        assert files.read(str(path)) == b"late"
    finally:
        writer.join()
        os.close(reader)


def test_system_that_cannot_change_blocking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"bytes")
    monkeypatch.delattr(os, "set_blocking")
    assert files.read(str(path)) == b"bytes"
