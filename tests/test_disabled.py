"""Each check is needed: with it alone disabled, its cheats are no longer found, by any other.

A check is disabled where it looks: the row's problems, the table's own findings, or the function.
What it would have handed on to later checks is then missing too; nobody makes up for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cheats import CHEATS, Case
from helpers import Table

from fairdeal import verify
from fairdeal.checks import OPENED, Looked
from fairdeal.findings import CHECKS, CODES
from fairdeal.record import read_record, write_record
from fairdeal.verify import _Examination

#: looks at nothing, and has nothing to look at
NOTHING = Looked(0, "disabled", applies=False)
#: how a check is a step of the driver
STEPS = {
    2: "_check_chain",
    4: "_check_signatures",
    5: "_check_coverage",
    19: "_check_pins",
    20: "_check_record",
    21: "_check_head",
}
#: a late void is excused by what was found before it, and by nothing else
EXCUSED = {"chain-seq-by-server": {"void-after-reveals"}}
#: the checks whose findings are the table's
TABLE = (3, 6, 7, 12)


def disable(number: int, patch: pytest.MonkeyPatch) -> None:
    if number in STEPS:
        patch.setattr(_Examination, STEPS[number], lambda _: NOTHING)
    if number in OPENED:
        patch.setitem(OPENED, number, lambda _: NOTHING)
    if number in TABLE:
        patch.setattr(_Examination, "_blame_table", without(number))


def without(number: int) -> Callable[[Any], None]:
    """The table's findings, but for those of one check."""
    blame = _Examination._blame_table

    def blamed(run: Any) -> None:
        run.deviations = [
            tuple(one for one in found if CODES[one.code].check != number)
            for found in run.deviations
        ]
        blame(run)

    return blamed


@pytest.fixture(scope="module")
def made() -> dict[str, Case]:
    return {name: make() for name, make in CHEATS.items()}


@pytest.mark.parametrize("name", CHEATS)
def test_nothing_else_catches_a_cheat(
    name: str, made: dict[str, Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = made[name]
    data = case.log.encoded()
    assert verify(data).status == "invalid"
    disable(CODES[case.code].check, monkeypatch)
    verdict = verify(data)
    excused = EXCUSED.get(name, set())
    assert {one.code for one in verdict.findings} == excused
    assert excused or verdict.status in ("valid", "incomplete")


def pinned() -> dict[int, tuple[bytes, dict[str, Any]]]:
    """A good transcript against pins that do not fit."""
    table, other = Table(3, seed="pins").run(), Table(3, seed="other pins")
    record = read_record(table.seats[1].record)
    changed = record.__class__(
        **{name: getattr(record, name) for name in record.__struct_fields__} | {"seed": "00" * 64}
    )
    data = table.log.encoded()
    return {
        19: (data, {"server_key": other.server.public, "seat_keys": {0: other.keys[0].public}}),
        20: (data, {"record": write_record(changed)}),
        21: (data, {"head": "ab" * 32}),
    }


@pytest.mark.parametrize("number", [19, 20, 21])
def test_nothing_else_looks_at_a_pin(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data, pins = pinned()[number]
    assert verify(data, **pins).status == "invalid"
    disable(number, monkeypatch)
    assert verify(data, **pins).status == "valid"


def test_every_check_but_the_first_was_disabled(made: dict[str, Case]) -> None:
    """Without the first there is nothing to judge."""
    tried = {CODES[case.code].check for case in made.values()} | {19, 20, 21}
    assert tried == CHECKS.keys() - {1}
