"""What a person types, as lines and as commands. Reading waits in a thread of its own.

The thread is nobody's to wait for: a program that ends while it reads ends at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Literal, NamedTuple, ParamSpec, TypeVar

from fairdeal.errors import FairdealError

P = ParamSpec("P")
T = TypeVar("T")
_LONGEST = 4096


class MoveError(FairdealError):
    """What was typed is no command now; says what would be."""


# -- commands ------------------------------------------------------------------------------------


class Command(NamedTuple):
    """What somebody wants; `cards` to pass or play, `seat` to expel."""

    kind: Literal["look", "help", "quit", "leave", "expel", "cards", "add", "subtract"]
    cards: tuple[str, ...] = ()
    seat: int = -1


_WORDS: dict[str, Command] = {
    "": Command("look"),
    "?": Command("help"),
    "help": Command("help"),
    "quit": Command("quit"),
    "leave": Command("leave"),
    "add": Command("add"),
    "subtract": Command("subtract"),
}
_MARKS = str.maketrans({"♣": "C", "♦": "D", "♥": "H", "♠": "S"})


def at_any_time(text: str) -> bool:
    """Whether a line can be done without anything to decide."""
    words = text.lower().split()
    known = _WORDS.get(" ".join(words))
    return words[0] in ("e", "expel") if known is None else known.kind not in ("add", "subtract")


def command(text: str, hand: Sequence[str]) -> Command:
    """What a line means, at a hand of these cards in their order. Raises MoveError."""
    words = text.lower().replace(",", " ").split()
    known = _WORDS.get(" ".join(words))
    if known is not None:
        return known
    if words[0] in ("e", "expel"):
        if len(words) != 2 or words[1] not in tuple("0123456789"):
            raise MoveError("expected `e N` with the number of a seat")
        return Command("expel", seat=int(words[1]))
    places: list[int] = []
    for word in words:
        places.append(_place(word, hand, places))
    return Command("cards", tuple(hand[place] for place in places))


def _place(word: str, hand: Sequence[str], taken: Sequence[int]) -> int:
    """Which card of the hand a word names: by number from 1, or by code."""
    left = [place for place in range(len(hand)) if place not in taken]
    if word.isascii() and word.isdigit() and len(word) < 5 and int(word) - 1 in left:
        return int(word) - 1
    code = word.upper().translate(_MARKS)
    code = f"T{code[2:]}" if code.startswith("10") and len(code) == 3 else code
    for place in left:
        if hand[place].upper() == code:
            return place
    raise MoveError(f"{word[:20]!a} is no card of your hand, and no command; ? for help")


# -- lines ---------------------------------------------------------------------------------------


class Lines:
    """Lines from a file descriptor, read in a thread; None at its end."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._started = False

    @property
    def typed(self) -> bool:
        """Whether a person types them as they come; else they wait for their turn."""
        return os.isatty(self._handle)

    async def next(self) -> str | None:
        """The next line without its end, or None at the end of input."""
        if not self._started:
            self._started = True
            loop = asyncio.get_running_loop()
            threading.Thread(target=self._read, args=(loop,), daemon=True).start()
        return await self._queue.get()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens
            for line in _lines(self._handle):
                loop.call_soon_threadsafe(self._queue.put_nowait, line)
            loop.call_soon_threadsafe(self._queue.put_nowait, None)


def _lines(handle: int) -> Iterator[str]:
    rest = b""
    with contextlib.suppress(OSError):
        while part := os.read(handle, _LONGEST):
            *whole, rest = (rest + part)[-_LONGEST:].split(b"\n")
            for line in whole:
                yield line.decode("utf-8", "replace").strip()
    if rest:
        yield rest.decode("utf-8", "replace").strip()


def stdin_lines() -> Lines:
    """The lines of standard input."""
    return Lines(sys.stdin.fileno() if sys.stdin is not None else -1)


async def in_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What a blocking call returns or raises; whoever is interrupted does not wait for it."""
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()

    def work() -> None:
        try:
            done.set_result(call(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - it is raised again where it is awaited
            done.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return await asyncio.wrap_future(done)
