"""Measure a live server under load: `python tests/bench/load.py --tables 50 200 1000`.

For each number of tables a server is started on SQLite in a new folder (or on `--store`), and seats
of `load_seats.py` play at all tables at once over loopback. Before the measured time each table is
played, as fast as it goes, to a point of its first hand that is another for each; so hands begin
and end all the time. Then each table plays `--rate` plays a second. Afterwards the transcripts of
the hands that ended are fetched and verified, at most `--verify` of them, and counted as far.

Read it so: `hands/s` ended in the measured time; `p50`, `p99` and `max` are milliseconds from
sending a play to having its broadcast at the sender, everything of both sides' queues included;
`ms/play` is the server's CPU time, user and system, for a play and its share of all else, and says
most on a machine that does other work too; `server` and `seats` are CPU in percent of one core (the busiest process of seats); `KiB/table` is
what the server grew by, from one table that was played before. A process of seats near 100 % is
itself the bottleneck: use `--processes 2`. No figure here fails anything, but a hand that is not
valid does. Linux only (/proc).
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import fairdeal
from load_seats import Counts, Plan, seats

HEAD = ("tables", "seats", "hands/s", "verified", "plays/s", "p50 ms", "p99 ms", "max ms",
        "ms/play", "server", "seats", "KiB/table")  # fmt: skip
ROW = "{:>7} {:>6} {:>8} {:>10} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7} {:>7} {:>10}"

#: nobody here is a stranger: no limit on requests, and on frames only one for `--rate 0`
SERVER = """
import sys
from fairdeal.server import logs
from fairdeal.server.options import Options
from fairdeal.server.serve import Settings, serve
logs.log_to_stderr("info")
options = Options(pause=0, request_rate=1e6, request_burst=10**6, frame_rate=1e6, frame_burst=10**6)
settings = Settings(sys.argv[1], "127.0.0.1", 0, sys.argv[2] or None)
serve(settings, options, lambda address, key: print(address, flush=True))
"""


class Server:
    """The process that is measured."""

    def __init__(self, folder: Path, store: str) -> None:
        command = [sys.executable, "-P", "-c", SERVER, str(folder / "data"), store]
        with (folder / "server.log").open("wb") as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
        self.address = self.process.stdout.readline().decode().strip()
        if not self.address:
            sys.exit((folder / "server.log").read_text())

    def cpu(self) -> float:
        """User and system seconds so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kib(self) -> int:
        """Resident memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0])

    def get(self, path: str) -> bytes:
        with urllib.request.urlopen(self.address + path, timeout=60) as answer:
            return answer.read()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Seats:
    """Processes of seats, told what to do through a pipe each."""

    def __init__(self, plan: Plan, processes: int) -> None:
        spawn = get_context("spawn")
        self.pipes, self.processes = [], []
        for n in range(processes):
            ours, theirs = spawn.Pipe()
            tables = plan.tables * (n + 1) // processes - plan.tables * n // processes
            one = spawn.Process(
                target=seats, args=(plan._replace(tables=tables), theirs), daemon=True
            )
            one.start()
            self.pipes.append(ours)
            self.processes.append(one)

    def heard(self, seconds: float) -> list:
        """The next thing that each process says."""
        for pipe in self.pipes:
            if not pipe.poll(seconds):
                sys.exit("the seats did not come so far in time")
        return [pipe.recv() for pipe in self.pipes]

    def tell(self) -> None:
        for pipe in self.pipes:
            pipe.send("go")

    def stop(self) -> None:
        self.tell()
        for one in self.processes:
            one.join(30)
            if one.is_alive():
                one.kill()


def verified(server: Server, ended: list[tuple[str, int, int]], most: int) -> Counter[str]:
    """How often which status, of at most so many hands, from all over the measured time."""
    chosen = ended if len(ended) <= most else [ended[n * len(ended) // most] for n in range(most)]
    files = (
        server.get(f"/v1/tables/{table}/hands/{hand}-{attempt}") for table, hand, attempt in chosen
    )
    return Counter(fairdeal.verify(fairdeal.read_log(data)).status for data in files)


def one(tables: int, given: argparse.Namespace) -> bool:
    """Measure so many tables and print the row; False if a hand was not valid."""
    people = 4 - given.bots
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), given.store)
        try:
            plan = Plan(server.address, tables, people, "hearts", given.rate, given.seconds)
            first = Seats(plan._replace(tables=1, rate=0, seconds=0.5), 1)
            first.heard(60)
            first.tell()
            first.heard(60)
            first.stop()
            idle = server.kib()
            all_seats = Seats(plan, given.processes)
            all_seats.heard(60 + tables)
            time.sleep(min(2, given.seconds / 4))
            cpu, began = server.cpu(), time.perf_counter()
            all_seats.tell()
            if given.pid:
                print("pid", server.process.pid, file=sys.stderr, flush=True)
            counts: list[Counts] = all_seats.heard(60 + given.seconds)
            cpu = (server.cpu() - cpu) / (time.perf_counter() - began)
            grown = (server.kib() - idle) / tables
            all_seats.stop()
            ended = [hand for one in counts for hand in one.ended]
            found = verified(server, ended, given.verify)
        finally:
            server.stop()
        if given.errors:
            print((Path(folder) / "server.log").read_text()[-3000:], file=sys.stderr)
    for text in [text for one in counts for text in one.trouble][:10]:
        print("trouble:", text, file=sys.stderr)
    waits = sorted(1000 * wait for one in counts for wait in one.waits) or [0.0]
    ms = (waits[len(waits) // 2], waits[len(waits) * 99 // 100], waits[-1])
    plays = sum(one.plays for one in counts) / given.seconds
    looked_at = f"{found['valid']}/{found.total()}"
    print(ROW.format(
        tables, tables * people, f"{len(ended) / given.seconds:.2f}", looked_at, f"{plays:.0f}",
        *(f"{each:.1f}" for each in ms), f"{1000 * cpu / max(plays, 1):.2f}", f"{cpu:.0%}", f"{max(one.cpu for one in counts):.0%}",
        f"{grown:.0f}",
    ), flush=True)  # fmt: skip
    return found.total() == found["valid"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tables", type=int, nargs="+", default=[50, 200, 1000])
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="measured time of each number of tables"
    )
    parser.add_argument(
        "--rate", type=float, default=1.0, help="plays a second at a table; 0: as fast as it goes"
    )
    parser.add_argument(
        "--bots", type=int, default=0, choices=range(4), help="seats that the server's bots play"
    )
    parser.add_argument("--processes", type=int, default=1, help="processes of seats")
    parser.add_argument("--store", default="", help="URL of an empty PostgreSQL; by default SQLite")
    parser.add_argument("--verify", type=int, default=500, help="verify at most so many hands")
    parser.add_argument(
        "--short", action="store_true", help="a few tables for a few seconds, to see that it works"
    )
    parser.add_argument(
        "--pid", action="store_true", help="tell the server's process, to look into it"
    )
    parser.add_argument("--errors", action="store_true", help="show the end of the server's log")
    given = parser.parse_args()
    if given.short:
        given.tables, given.seconds, given.rate = [10], 3.0, 10.0
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 65536)), hard))
    print(ROW.format(*HEAD), flush=True)
    rows = [one(tables, given) for tables in given.tables]
    if not all(rows):
        sys.exit("not every hand was valid")


if __name__ == "__main__":
    main()
