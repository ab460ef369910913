"""The same pairs under pytest-benchmark: `python -m pytest tests/bench -o addopts=""`.

For looking closer at one of them; `ratios.py` prints the ratios. No time is asserted.
"""

import pytest
from hands import cases

CASES = {f"{case.name} [{side}]": run for case in cases() for side, run in
         (("run", case.run), ("bare", case.bare))}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_speed(benchmark, name):
    benchmark(CASES[name])
