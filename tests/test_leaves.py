"""A registry of mutations: no leaf of a transcript can change without changing what the verdict says.

Each leaf of three logs is changed alone, and then everything after it is hashed and signed again by
everybody, the liars' friends and enemies alike: no broken chain or signature helps the verifier. The
verdict must not be that of the log as it was. What may change unseen stands in `FREE`, with why.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cheats import BadBox
from helpers import Bend, Table
from helpers_primitives import leaves, replaced

from fairdeal import verify
from fairdeal.encoding import encode
from fairdeal.errors import MalformedError
from fairdeal.findings import Verdict
from fairdeal.messages import BODIES, Clock, convert

LONG = bool(os.environ.get("FAIRDEAL_LONG"))

#: (log, type, path with * for numbers): what may change unseen, with all signatures made again, and why
FREE: dict[tuple[str, str, str], str] = {}


def free(logs: str, kind: str, paths: str, why: str) -> None:
    FREE.update({(log, kind, path): why for log in logs.split() for path in paths.split()})


ALL = "complete voided disputed"
CLOSED = "a box that nobody disputed or gave up over: the close opens what it was committed to"
VOIDED = "a void opens neither the deal nor the passes of bots, only the box that is disputed"
free(ALL, "commit", "hand_key", "only its owner opens boxes to it, and disputes what does not open")
free("voided", "commit", "commitment", "of a person who has not revealed: a void cannot open it")
free("complete", "reveal", "sealed", CLOSED)
free("complete", "pass", "sealed", CLOSED)
free("complete", "deal", "hands.*.sealed", CLOSED)
free("complete", "exchange", "hands.*.sealed", CLOSED)
free("disputed", "deal", "hands.*.sealed hands.*.commitment", VOIDED)
free("disputed", "pass", "commitment", VOIDED)
free(ALL, "entry", "at", "times are the server's word, as long as they do not go back")
free(ALL, "entry", "no-sig", "a later signature of the same key covers the entry")


def complete() -> Table:
    """Two persons, a bot, the house, an exchange, and a person who leaves in the play."""
    table = Table(3, seed="leaves", house=True, clock=Clock(grace_ms=50, reserve_ms=500))
    table.run(lambda t: len(t.hand.plays) == 9)
    table.dealer.replace(1, "left", table.at)
    return table.run()


def voided() -> Table:
    table = Table(3, seed="leaves void", house=True)
    table.run(lambda t: len(t.hand.commits) == len(t.hand.shufflers))
    table.give(0, table.tell(0)[0])
    table.dealer.void("no-reveal", 1, table.at)
    return table


def disputed() -> Table:
    return Table(3, seed="leaves dispute", dealer=BadBox).run()


LOGS: dict[str, Callable[[], Table]] = {
    "complete": complete,
    "voided": voided,
    "disputed": disputed,
}


def telling(verdict: Verdict) -> Any:
    """What a verdict says about the log, apart from the hashes that any change moves."""
    return (
        verdict.status,
        [(one.code, one.culprits, one.entries) for one in verdict.findings],
        [(one.code, one.entries) for one in verdict.remarks],
        verdict.acknowledged,
        verdict.stop and verdict.stop.reason,
    )


def other(leaf: Any, rng: random.Random) -> Iterator[Any]:
    """Values of the same kind."""
    if isinstance(leaf, bool):
        yield not leaf
    elif isinstance(leaf, int):
        yield leaf + 1
        yield max(0, leaf - 1) if leaf else leaf + 7
    elif leaf is None:
        yield 0
        yield "ab" * 32
    elif isinstance(leaf, str):
        if len(leaf) >= 32 and set(leaf) <= set("0123456789abcdef"):
            place = rng.randrange(len(leaf))
            yield (
                leaf[:place]
                + rng.choice("0123456789abcdef".replace(leaf[place], ""))
                + leaf[place + 1 :]
            )
        elif len(leaf) == 2:
            yield from (card for card in ("2C", "QS", "AH", "7D") if card != leaf)
        else:
            yield from (
                text
                for text in (
                    "Other",
                    "left",
                    "operator",
                    "random/1",
                    "low/1",
                    "left-of-dealer",
                    "discard",
                    "none",
                    "last-hand",
                    "allowed",
                )
                if text != leaf
            )


def patterned(path: tuple[Any, ...]) -> str:
    return ".".join("*" if isinstance(one, int) else str(one) for one in path)


def mutations(name: str) -> Iterator[tuple[str, str, Bend]]:
    """Every leaf of every body, changed alone; one of each pattern in each entry, unless it is a long run."""
    table = LOGS[name]()
    rng = random.Random(name)
    count = len(table.log)
    seen: dict[tuple[str, str], int] = {}
    for place in range(count):
        said = table.log.entries[place].message
        plain = json.loads(encode(said.body))
        for path, leaf in leaves(plain):
            pattern = patterned(path)
            times = seen[said.type, pattern] = seen.get((said.type, pattern), 0) + 1
            if times > (6 if said.type == "commit" else 3) and not LONG:
                continue
            for value in other(leaf, rng):
                try:
                    body = convert(replaced(plain, path, value), BODIES[said.type])
                except MalformedError:
                    continue
                bend = table.bend()
                bend[place].body = body
                yield said.type, pattern, bend


@pytest.mark.parametrize("name", LOGS)
def test_every_leaf_of_a_body_tells(name: str) -> None:
    base = telling(LOGS[name]().verify())
    silent: set[tuple[str, str, str]] = set()
    tried = 0
    for kind, pattern, bend in mutations(name):
        tried += 1
        if telling(bend.verify()) == base:
            silent.add((name, kind, pattern))
    assert tried > 50
    assert silent == {key for key in FREE if key[0] == name and key[1] != "entry"}


@pytest.mark.parametrize("name", LOGS)
def test_every_leaf_of_an_entry_tells(name: str) -> None:
    """`by`, `type` (with a body of it), `seen`, `prev`, `seq`, `at` and `sig`, in each entry."""
    table = LOGS[name]()
    base = telling(table.verify())
    silent: set[tuple[str, str, str]] = set()
    bodies = {entry.message.type: entry.message.body for entry in table.log.entries}
    first = {
        entry.message.type: place for place, entry in reversed(list(enumerate(table.log.entries)))
    }
    places = (
        range(len(table.log)) if LONG else sorted({*first.values(), len(table.log) - 1, 20, 45})
    )
    for place in places:
        if place >= len(table.log):
            continue
        for member in ("by", "type", "seen", "prev", "seq", "at", "at earlier", "sig", "no-sig"):
            bend = table.bend()
            draft = bend[place]
            if member == "by":
                draft.by = "seat/2" if draft.by != "seat/2" else "seat/1"
            elif member == "type":
                draft.body = next(body for kind, body in bodies.items() if kind != draft.type)
            elif member == "seen":
                draft.seen = "11" * 32
            elif member == "prev":
                draft.prev = "11" * 32
            elif member == "seq":
                draft.seq = place + 1
            elif member == "at":
                draft.at += 1
            elif member == "at earlier":
                draft.at -= 10_000_000
            else:
                draft.sign = "00" * 64 if member == "sig" else False
            if place == 0 and member in ("by", "type", "at earlier"):
                continue  # malformed, the table's own name, and nothing is earlier
            try:
                log = bend.build()
            except ValueError:
                continue
            if telling(verify(log.encoded())) == base:
                silent.add((name, "entry", member))
    assert silent == {key for key in FREE if key[0] == name and key[1] == "entry"}


def test_every_exception_has_its_reason() -> None:
    assert all(FREE.values())
