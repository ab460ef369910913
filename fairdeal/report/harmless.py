"""Text out of a file, made fit to be shown: it can neither act on a terminal nor hide.

Everything that anybody but us wrote passes through here: names, tables, cards, what a finding
expected and found, names of files, arguments.
"""

from __future__ import annotations

import unicodedata
from typing import Final

#: letters and marks that show as nothing (the rest of what does is of category Cf)
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
#: more combining marks than this on one letter grow out of their line
_MARKS: Final = 3


def harmless(text: str, limit: int = 400) -> str:
    r"""`text` with everything that acts or hides written out, cut after `limit` characters.

    Control and format characters (escape sequences, bidirectional controls, zero-width characters),
    lone surrogates, unassigned and private characters, line separators, and combining marks without
    a letter or beyond the third become ``\x1b``, ``\u202e``, …
    """
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    marks = _MARKS  # a mark at the beginning would sit on what we wrote before it
    for char in text[:limit]:
        marks = marks + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        acts = marks > _MARKS or _acts(char)
        shown.append(ascii(char)[1:-1] if acts else char)
    return "".join(shown) + ("…" if len(text) > limit else "")


def _acts(char: str) -> bool:
    kind = unicodedata.category(char)
    return kind[0] == "C" or kind in ("Zl", "Zp") or char in _BLANK or _selects(char)


def _selects(char: str) -> bool:
    """Variation selectors: invisible, and enough of them carry a hidden text."""
    return "\ufe00" <= char <= "\ufe0e" or "\U000e0100" <= char <= "\U000e01ef"


def width(text: str) -> int:
    """The cells that a harmless text takes on a terminal."""
    return sum(_cells(char) for char in text)


def _cells(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def fit(text: str, cells: int) -> str:
    """A harmless text in exactly so many cells: filled up, or cut with a `~` for the rest."""
    if width(text) > cells:
        while width(text) >= cells:
            text = text[:-1]
        text += "~"
    return text + " " * (cells - width(text))
