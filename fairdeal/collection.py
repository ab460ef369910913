"""What a path holds: one document, JSON Lines, or a folder of such; read one after another.

A document is the bytes of one transcript, game, record or proof. No more than one of them is in
memory at a time, and of a folder only the names. JSON Lines are told by their first line, which is
a whole object with another line after it. What cannot be read is a `Document` with its problem: it
does not hide the others.
"""
# pathlib would be a good part of the time that `verify` has to start
# ruff: noqa: PTH112, PTH118

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final, NamedTuple

from fairdeal import files
from fairdeal.encoding import MAX_BYTES

#: what a folder is searched for
SUFFIXES: Final = (".json", ".jsonl", ".ndjson")
#: what `fairdeal demo --secrets` writes beside transcripts
_SECRETS: Final = ".secrets.json"


class Document(NamedTuple):
    """One document: where it is, and its bytes, empty if there is a `problem` instead."""

    name: str
    data: bytes
    problem: str | None = None


def documents(path: str, limit: int = MAX_BYTES) -> Iterator[Document]:
    """Every document that a path holds, in the order of names and lines; `limit` bytes each."""
    if path != files.STDIN and os.path.isdir(path):
        yield from _of_folder(path, limit)
    else:
        yield from _of_file(path, limit)


def _of_folder(folder: str, limit: int) -> Iterator[Document]:
    """The files of a folder and those below it. Links to folders are not followed."""
    empty = True
    for at, below, names in os.walk(folder):
        below.sort()
        for name in sorted(names):
            if name.endswith(SUFFIXES) and not name.endswith(_SECRETS):
                empty = False
                yield from _of_file(os.path.join(at, name), limit)
    if empty:
        wanted = " or ".join(SUFFIXES)
        yield Document(folder, b"", f"expected a folder with files named {wanted}, found none")


def _of_file(path: str, limit: int) -> Iterator[Document]:
    try:
        with files.lines(path, limit) as lines:
            yield from _of_lines(path, lines)
    except files.FileError as error:
        yield Document(path, b"", error.problem)


def _of_lines(path: str, lines: files.Lines) -> Iterator[Document]:
    first = lines.next()
    second = lines.next() if _is_object(first) else b""
    while second and not second.strip():  # blank lines after one document
        second = lines.next()
    if not second:
        yield Document(path, first + lines.rest(len(first)))
        return
    number, line = 1, first
    while line:
        if len(line) > lines.limit:  # it may have no end at all
            problem = f"{files.too_large(lines.limit)}; nothing after this line was read"
            yield Document(f"{path}:{number}", b"", problem)
            return
        if line.strip():
            yield Document(f"{path}:{number}", line)
        number, line = number + 1, second or lines.next()
        second = b""


def _is_object(line: bytes) -> bool:
    text = line.strip()
    return text.startswith(b"{") and text.endswith(b"}") and line.endswith(b"\n")
