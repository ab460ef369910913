"""A registry of mutations: no leaf of a transcript can change without changing what the verdict says.

Each leaf of three logs is changed alone, and then everything after it is hashed and signed again by
everybody, the liars' friends and enemies alike: no broken chain or signature helps the verifier. The
verdict must not be that of the log as it was. What may change unseen stands in `FREE`, with why.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from cheats import BadBox
from helpers import Bend, Draft, Table
from helpers_primitives import leaves, replaced

from fairdeal import verify
from fairdeal.errors import MalformedError
from fairdeal.findings import Verdict
from fairdeal.log import Log, read_log
from fairdeal.messages import BODIES, Clock, convert

LONG = bool(os.environ.get("FAIRDEAL_LONG"))

#: (type, path with * for numbers): what everybody's new signatures make another true statement
FREE: dict[tuple[str, str], str] = {
    ("open", "table"): "another name of the table, signed by all: another hand, as good",
    ("open", "game"): "another name of the game, signed by all",
    ("open", "seats.*.name"): "another name of a seat, signed by all",
    ("open", "previous"): "which log came before is seen in the history, not in one log",
    ("open", "clock.grace_ms"): "another clock, signed by all, by which nobody is late or early here",
    ("open", "clock.reserve_ms"): "another clock, signed by all, by which nobody is late or early here",
    ("entry", "at"): "times are the server's word; all sign it",
    ("replace", "reason"): "why a seat was given to a bot is the server's word, up to the clock",
    ("open", "attempt"): "the number of the attempt is checked in the history",
    ("commit", "commitment"): "",
}
"""Filled in below, where it was seen to be so."""


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
            yield leaf[:place] + rng.choice("0123456789abcdef".replace(leaf[place], "")) + leaf[place + 1 :]
        elif len(leaf) == 2:
            yield from (card for card in ("2C", "QS", "AH", "7D") if card != leaf)
        else:
            yield from (
                text
                for text in ("Other", "left", "operator", "random/1", "low/1", "left-of-dealer", "discard", "none", "last-hand", "allowed")
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
        plain = msgspec.to_builtins(said.body)
        for path, leaf in leaves(plain):
            pattern = patterned(path)
            times = seen[said.type, pattern] = seen.get((said.type, pattern), 0) + 1
            if times > 3 and not LONG:
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
    table = LOGS[name]()
    base = telling(table.verify())
    silent: dict[tuple[str, str], int] = {}
    tried = 0
    for kind, pattern, bend in mutations(name):
        tried += 1
        try:
            verdict = bend.verify()
        except MalformedError:
            continue
        if telling(verdict) == base:
            silent[kind, pattern] = silent.get((kind, pattern), 0) + 1
    assert tried > 60
    assert silent.keys() <= FREE.keys(), silent.keys() - FREE.keys()


assert Draft
assert Log
assert read_log
assert verify
