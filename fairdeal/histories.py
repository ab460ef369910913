"""Two copies of a table's history side by side (spec section 8.1): hand by hand, and across hands.

Each history is any number of transcripts. Hands are matched by the server's key, table, game, hand
and attempt. Whoever signed two `open`s of one of these is found in either history alone as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fairdeal.errors import MalformedError
from fairdeal.evidence import Comparison, compare
from fairdeal.hand import hand_name
from fairdeal.log import read_log
from fairdeal.messages import Open

#: which hand: the server's key, and the table, game, hand and attempt
Key = tuple[str, str]


class Copy(NamedTuple):
    """One transcript of a history: its name for people, and its bytes."""

    name: str
    data: bytes


class Parting(NamedTuple):
    """What two transcripts of one hand say together; `other` is None where there is but one."""

    one: str
    other: str | None
    comparison: Comparison


def compare_histories(mine: Iterable[Copy], theirs: Iterable[Copy]) -> Iterator[Parting]:
    """Every further transcript of a hand against its first, and every hand that one history lacks.

    What cannot be read is told, and hides nothing else. The first transcript of each hand is held
    in memory.
    """
    first: dict[Key, Copy] = {}
    held: tuple[set[Key], set[Key]] = (set(), set())
    for history, keys in zip((mine, theirs), held, strict=True):
        for copy in history:
            try:
                key = _key(copy.data)
            except MalformedError as error:
                yield Parting(copy.name, None, _told(f"malformed: {error}"))
                continue
            keys.add(key)
            if key in first:
                found = compare(first[key].data, copy.data)
                yield Parting(first[key].name, copy.name, found)
            else:
                first[key] = copy
    for key, copy in first.items():
        if not all(key in keys for keys in held):
            yield Parting(copy.name, None, _told("only one history has a transcript of this hand"))


def _key(data: bytes) -> Key:
    """Which hand a transcript is of."""
    body = read_log(data).entries[0].message.body
    assert isinstance(body, Open), "a log that was read begins with open"
    return body.server_key, hand_name(body)


def _told(text: str) -> Comparison:
    return Comparison(culprit=None, parts_at=None, proof=None, same=False, text=text)
