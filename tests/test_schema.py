"""spec/transcript.schema.json says what the types say, as far as a schema can."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cheats import CHEATS
from helpers import Table

from fairdeal import verify

SPEC = Path(__file__).parent.parent / "spec"
SCHEMA = json.loads((SPEC / "transcript.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("people", range(5))
def test_honest_hands_fit(people: int) -> None:
    VALIDATOR.validate(json.loads(Table(people, house=True).run().log.encoded()))


@pytest.mark.parametrize("name", list(CHEATS)[::4])
def test_bad_hands_fit_too(name: str) -> None:
    """What deviates is well formed: the schema judges nobody."""
    VALIDATOR.validate(json.loads(CHEATS[name]().log.encoded()))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [p for key, one in value.items() for p in [(*path, key), *leaves(one, (*path, key))]]
    if isinstance(value, list):
        return [p for key, one in enumerate(value) for p in leaves(one, (*path, key))]
    return []


WRONG = ({"x": 1}, [1], "x", "AB" * 32, -1, 1.5, True, 2**53)


def test_wrong_shapes_are_refused_by_both() -> None:
    """At every member of every type, a value of another shape: schema and reader agree."""
    whole = json.loads(Table(3, house=True).run().log.encoded())
    seen: set[Any] = set()
    for path in leaves(whole):
        kind = whole["entries"][path[1]]["type"] if len(path) > 1 else ""
        shape = (kind, *(step if isinstance(step, str) else 0 for step in path))
        if shape in seen or path[-1] in ("table", "name"):
            continue
        seen.add(shape)
        for wrong in (WRONG * 2)[len(seen) % len(WRONG) :][:2]:  # two of them, in turn
            copy = json.loads(json.dumps(whole))
            target = copy
            for step in path[:-1]:
                target = target[step]
            if type(target[path[-1]]) is type(wrong):
                continue
            target[path[-1]] = wrong
            fits = VALIDATOR.is_valid(copy)
            status = verify(json.dumps(copy).encode()).status
            assert (status == "malformed") == (not fits), (path, wrong, status, fits)
    assert len(seen) > 60
