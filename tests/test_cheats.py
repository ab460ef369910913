"""Every cheat is caught by exactly the check that is meant for it, and blamed as the spec says."""

from __future__ import annotations

import pytest
from cheats import CHEATS

from fairdeal import verify
from fairdeal.findings import CODES, REMARKS


@pytest.mark.parametrize("name", CHEATS)
def test_cheat_is_caught_and_blamed(name: str) -> None:
    case = CHEATS[name]()
    verdict = verify(case.log.encoded())
    assert verdict.status == "invalid"
    assert {one.code for one in verdict.findings} == {case.code}, verdict.findings
    first = verdict.findings[0]
    assert (first.culprits, first.entries) == (case.culprits, case.entries)
    assert all(one.culprits == case.culprits for one in verdict.findings)
    assert first.attribution == ("proven" if case.culprits else "unattributed")


def test_every_code_has_a_cheat() -> None:
    caught = {CHEATS[name]().code for name in CHEATS}
    by_pins = {code for code, (check, _) in CODES.items() if check in (1, 19, 20, 21)}
    assert caught == CODES.keys() - REMARKS - by_pins
