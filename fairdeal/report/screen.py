"""The way to the terminal: colour only there, and a reader that has gone away is no error.

Lines are made of spans, so that nothing is ever parsed for markup. `rich` is imported only to draw
on a terminal; `NO_COLOR` and a dumb terminal get what a pipe gets.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple, TextIO

from fairdeal.files import FileError
from fairdeal.report.harmless import harmless


class Span(NamedTuple):
    """A piece of a line. `style` is rich's: ``bold red``."""

    text: str
    style: str = ""


Line = list[Span]


def line(*parts: str | Span) -> Line:
    """A line of plain and styled pieces."""
    return [part if isinstance(part, Span) else Span(part) for part in parts]


def plain(lines: Iterable[Line]) -> str:
    """The lines as text, without trailing blanks."""
    return "".join("".join(span.text for span in one).rstrip() + "\n" for one in lines)


def show(lines: Iterable[Line]) -> None:
    """Print lines on standard output."""
    if _colours(sys.stdout):
        _draw(lines)
    else:
        write(plain(lines).encode(_encoding(sys.stdout), "backslashreplace"))


def write(data: bytes) -> None:
    """Bytes to standard output. Raises FileError unless its reader has only gone away."""
    stream = sys.stdout
    if stream is None:
        return
    try:
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    except BrokenPipeError:
        _give_up(stream)
    except OSError as error:
        _give_up(stream)
        raise FileError(
            "standard output", (error.strerror or "cannot be written").lower()
        ) from error


def complain(text: str) -> None:
    """One line on standard error, whatever is in the text."""
    if sys.stderr is None:
        return
    raw = (harmless(text, 1000) + "\n").encode(_encoding(sys.stderr), "backslashreplace")
    try:
        sys.stderr.flush()
        sys.stderr.buffer.write(raw)
        sys.stderr.buffer.flush()
    except OSError:
        _give_up(sys.stderr)


def has_symbols() -> bool:
    """Whether standard output can take the symbols of the suits."""
    try:
        "♣♦♥♠→…".encode(_encoding(sys.stdout))
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _encoding(stream: TextIO | None) -> str:
    return (stream and stream.encoding) or "utf-8"


def _colours(stream: Any) -> bool:
    quiet = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not quiet and stream is not None and stream.isatty()


def _draw(lines: Iterable[Line]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    with console.capture() as drawn:
        for one in lines:
            console.print(Text.assemble(*((span.text, span.style) for span in one)))
    write(drawn.get().encode(_encoding(sys.stdout), "backslashreplace"))


def _give_up(stream: TextIO) -> None:
    """Nobody reads any more: let the rest, and the flush at exit, go nowhere."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # pragma: no cover - a stream without a handle, in a test
        pass
