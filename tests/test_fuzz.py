"""The checked-in fuzzing corpus, and mutations of it, through every target (see tests/fuzz)."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parent / "fuzz"
sys.path.insert(0, str(FUZZ))

from targets import TARGETS  # noqa: E402

CORPUS = {name: sorted((FUZZ / "corpus" / name).glob("*")) for name in TARGETS}


@pytest.mark.parametrize("name", TARGETS)
def test_corpus_passes(name: str) -> None:
    assert CORPUS[name]
    for path in CORPUS[name]:
        TARGETS[name](path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_mutations_of_the_corpus_pass(name: str) -> None:
    rng = random.Random(name)
    small = [path.read_bytes() for path in CORPUS[name]]
    tokens = (
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b",",
        b":",
        b"-",
        b"1e9",
        b"null",
        b"9" * 20,
        b"\xff",
        b"\\ud800",
        b'{"a":1,"a":1}',
    )
    for _ in range(400):
        data = bytearray(rng.choice(small))
        for _ in range(rng.randrange(1, 4)):
            place = rng.randrange(len(data) + 1)
            change = rng.choice(("set", "cut", "insert", "copy"))
            if change == "set" and place < len(data):
                data[place] = rng.randrange(256)
            elif change == "cut":
                del data[place : place + rng.randrange(1, 40)]
            elif change == "insert":
                data[place:place] = rng.choice(tokens)
            elif change == "copy":
                other = rng.choice(small)
                start = rng.randrange(len(other) + 1)
                data[place:place] = other[start : start + rng.randrange(400)]
        TARGETS[name](bytes(data))
