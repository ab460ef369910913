"""Print what each thing costs as a multiple of its bare cost: `python tests/bench/ratios.py`.

Both sides of a ratio run alternately, in processor time, and the least of each counts, so that
other programs on the machine disturb little. Rounds are without garbage collection. `--rounds N`
for more of them. No figure here fails anything.
"""

import argparse
import gc
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from hands import Case, cases, table

ROW = "{:58} {:>10} {:>10} {:>7} {:>7} {:>6}"


def clock() -> float:
    """Processor seconds of this process and of the programs it has run."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def spent(run, times: int) -> float:
    """Processor seconds of one run, the mean of so many in a row."""
    began = clock()
    for _ in range(times):
        run()
    return (clock() - began) / times


def measure(case: Case, rounds: int) -> tuple[float, float]:
    """The least time of each side, in seconds."""
    times = [max(1, round(0.001 / max(spent(run, 3), 1e-7))) for run in (case.run, case.bare)]
    best = [float("inf")] * 2
    for _ in range(rounds):
        for side, run in enumerate((case.run, case.bare)):
            best[side] = min(best[side], spent(run, times[side]))
    return best[0], best[1]


def start_up(folder: Path) -> Case:
    """`fairdeal verify` on one file against the imports it cannot do without."""
    path = folder / "hand.json"
    path.write_bytes(table().log.encoded())
    program = [str(Path(sys.executable).with_name("fairdeal")), "verify", str(path)]
    bare = [sys.executable, "-c", "import nacl.bindings, msgspec, click"]

    # with bytecode, as installed; the first run of each writes what is not there yet
    env = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def runner(command: list[str]):
        return lambda: subprocess.run(command, check=True, capture_output=True, env=env)

    return Case("fairdeal verify FILE / its bare imports", runner(program), runner(bare), 2.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300, help="how often each side runs")
    rounds = parser.parse_args().rounds
    gc.disable()
    print(ROW.format("", "ms", "bare ms", "ratio", "limit", "aim"))
    with tempfile.TemporaryDirectory() as folder:
        for case in [*cases(), start_up(Path(folder))]:
            ours, bare = measure(case, rounds if "FILE" not in case.name else max(5, rounds // 15))
            aim = "" if case.aim is None else f"{case.aim:.2f}"
            numbers = f"{ours * 1e3:.4f}", f"{bare * 1e3:.4f}", f"{ours / bare:.3f}"
            print(ROW.format(case.name, *numbers, f"{case.limit:.2f}", aim))


if __name__ == "__main__":
    main()
