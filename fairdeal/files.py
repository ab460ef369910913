"""Files: bounded reading, atomic writing. The only module that touches them, beside `cli`.

`read` never takes more than its limit into memory and never waits for a pipe that nobody writes to.
`write` leaves either the old file or the whole new one, whatever happens in between. What fails is
a `FileError`, which names the file; show it escaped, since a file's name is anybody's text.
"""
# pathlib would be a good part of the time that `verify` has to start
# ruff: noqa: PTH101, PTH103, PTH105, PTH108, PTH110, PTH112, PTH113, PTH118, PTH120, PTH123

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO, Final

from fairdeal.encoding import MAX_BYTES
from fairdeal.errors import FairdealError

STDIN: Final = "-"
_CHUNK: Final = 1 << 18
#: how many hundredths of a second a pipe may be without a writer
_PATIENCE: Final = 50
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


class FileError(FairdealError):
    """A file that cannot be read or written: its `path`, and what the `problem` is."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


@contextlib.contextmanager
def _named(path: str) -> Iterator[None]:
    """What the system refuses, as a FileError of this path."""
    try:
        yield
    except OSError as error:
        raise FileError(path, (error.strerror or type(error).__name__).lower()) from error
    except ValueError as error:  # a name with a zero byte in it
        raise FileError(path, str(error)) from error


# -- reading -------------------------------------------------------------------------------------


def read(path: str, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a file, a pipe, or standard input for ``-``; at most `limit` of them.

    Raises FileError for what cannot be read, a directory, or more than `limit` bytes; of those no
    more is read than needed to know.
    """
    with _named(path):
        if path == STDIN:
            return _read_stdin(limit)
        handle = os.open(path, _FLAGS)
        try:
            return _read_handle(handle, path, limit)
        finally:
            os.close(handle)


def _read_stdin(limit: int) -> bytes:
    data = _stdin().read(limit + 1)
    if len(data) > limit:
        raise FileError(STDIN, too_large(limit))
    return data


def _stdin() -> BinaryIO:
    if sys.stdin is None:
        raise FileError(STDIN, "there is no standard input")
    return sys.stdin.buffer


def _read_handle(handle: int, path: str, limit: int) -> bytes:
    status = os.fstat(handle)
    if stat.S_ISREG(status.st_mode) and status.st_size > limit:
        raise FileError(path, too_large(limit, f"{status.st_size} bytes"))
    return _read_bounded(handle, path, limit, _ready(handle, path))


def _ready(handle: int, path: str) -> bytes:
    """Makes sure that reading waits for nobody in vain; what it read to know that."""
    mode = os.fstat(handle).st_mode
    if stat.S_ISDIR(mode):
        raise FileError(path, "expected a file, found a directory")
    first = _first_bytes(handle, path) if stat.S_ISFIFO(mode) else b""
    if hasattr(os, "set_blocking"):
        os.set_blocking(handle, True)
    return first


def _first_bytes(handle: int, path: str) -> bytes:
    """What a pipe has to say; its writer gets a moment to appear, as waiting could be for ever."""
    for _ in range(_PATIENCE):
        try:
            if part := os.read(handle, _CHUNK):
                return part
        except BlockingIOError:
            return b""  # it has a writer, whom we wait for
        time.sleep(0.01)  # without one it reads as if it had ended
    raise FileError(path, "expected a transcript, found a pipe that nobody writes to")


def _read_bounded(handle: int, path: str, limit: int, first: bytes) -> bytes:
    parts, size = [first], len(first)
    while part := os.read(handle, min(_CHUNK, max(limit + 1 - size, 0))):
        parts.append(part)
        size += len(part)
    if size > limit:
        raise FileError(path, too_large(limit))
    return b"".join(parts)


def too_large(limit: int, found: str = "more") -> str:
    """The problem of a file, or of a line, that has more than `limit` bytes."""
    return f"too large: expected at most {limit >> 20} MiB, found {found}"


class Lines:
    """A file's lines, one at a time, each held up to its limit and no further."""

    def __init__(self, read: Callable[[int], bytes], path: str, limit: int, first: bytes) -> None:
        self.limit = limit
        self._read = read
        self._path = path
        self._buffer = first

    def next(self) -> bytes:
        """The next line with its end; empty after the last. Of one over the limit, some more."""
        parts, size = [self._buffer], len(self._buffer)
        while b"\n" not in parts[-1] and size <= self.limit:
            part = self._read(_CHUNK)
            if not part:
                break
            parts.append(part)
            size += len(part)
        line, end, self._buffer = b"".join(parts).partition(b"\n")
        return line + end

    def rest(self, taken: int) -> bytes:
        """All that is left. Raises FileError if that and what was `taken` is over the limit."""
        parts, size = [self._buffer], len(self._buffer) + taken
        while size <= self.limit and (part := self._read(_CHUNK)):
            parts.append(part)
            size += len(part)
        if size > self.limit:
            raise FileError(self._path, too_large(self.limit))
        return b"".join(parts)


@contextlib.contextmanager
def lines(path: str, limit: int = MAX_BYTES) -> Iterator[Lines]:
    """The lines of a file, a pipe, or standard input for ``-``. Raises FileError."""
    with _named(path):
        if path == STDIN:
            yield Lines(_stdin().read, path, limit, b"")
            return
        handle = os.open(path, _FLAGS)
        try:
            yield Lines(partial(os.read, handle), path, limit, _ready(handle, path))
        finally:
            os.close(handle)


# -- writing -------------------------------------------------------------------------------------


def write(path: str, data: bytes, *, secret: bool = False) -> None:
    """Put `data` into the file at once: a reader, or a crash, finds the old file or the new one.

    A `secret` file is its owner's alone (mode 0600). A device or pipe is written to as it is.
    Raises FileError.
    """
    with _named(path):
        target = os.path.realpath(path)
        if os.path.exists(target) and not os.path.isfile(target):
            _write_through(target, path, data)
        else:
            _write_beside(target, data, 0o600 if secret else 0o666)


def _write_through(target: str, path: str, data: bytes) -> None:
    if os.path.isdir(target):
        raise FileError(path, "expected a file, found a directory")
    with open(target, "wb") as stream:
        stream.write(data)


def _write_beside(target: str, data: bytes, mode: int) -> None:
    """A temporary file in the same folder, then renamed over the target."""
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".fairdeal-{os.getpid()}-{os.urandom(6).hex()}.tmp")
    try:
        _write_new(temporary, data, mode)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _write_new(path: str, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, mode), "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _sync_folder(folder: str) -> None:
    """Make the new name itself survive a crash, on systems that can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def create_secret(path: str, data: bytes) -> None:
    """A new file of mode 0600. Raises FileError if there is one of that name already."""
    with _named(path):
        try:
            _write_new(path, data, 0o600)
        except FileExistsError:
            raise FileError(path, "expected a new file, found one that exists") from None
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise


def inside(folder: str, name: str) -> str:
    """The path of a file in a folder."""
    return os.path.join(folder, name)


def make_folder(path: str, *, secret: bool = False) -> None:
    """The folder and those above it, where they are missing. Raises FileError.

    A new `secret` folder is its owner's alone (mode 0700).
    """
    with _named(path):
        new = not os.path.isdir(path)
        os.makedirs(path, exist_ok=True)
        if secret and new:
            os.chmod(path, 0o700)
