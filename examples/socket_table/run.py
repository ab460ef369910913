"""A whole socket table on this machine: a server, four seats, the verdicts. See README.md."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import fairdeal

HERE = Path(__file__).parent
#: from the worst on, with the exit codes of `fairdeal verify`
CODES = {"invalid": 1, "malformed": 2, "incomplete": 3, "valid": 0}


async def start(program: str, *args: object, stdout: int | None = None) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, HERE / program, *map(str, args), stdout=stdout
    )


def in_play(transcript: Path) -> bool:
    return transcript.exists() and b'"type":"play"' in transcript.read_bytes()


async def play(folder: Path, args: argparse.Namespace) -> tuple[bytes, bool]:
    """Play in processes of their own; the server's key, and whether they all ended well."""
    processes: list[Process] = []
    try:
        table = ("--hands", args.hands, "--patience", args.patience)
        server = await start("server.py", folder / "server", *table, stdout=PIPE)
        processes.append(server)
        hello = json.loads(await server.stdout.readline())
        pins = ("--server-key", hello["key"], "--think", args.think)
        for number in range(4):
            one = await start("seat.py", folder / f"seat-{number}", hello["port"], *pins)
            processes.append(one)
        if args.kill is not None:
            victim = processes[1 + args.kill]
            first = folder / "server" / "hand-0001-1.json"
            while not in_play(first):  # noqa: ASYNC110 - it is another process's file
                await asyncio.sleep(0.01)
            victim.kill()
            processes.remove(victim)
            await victim.wait()
        codes = [await process.wait() for process in processes]
        return bytes.fromhex(hello["key"]), not any(codes)
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
                await process.wait()


def judge(folder: Path, server_key: bytes) -> set[str]:
    """Verify every transcript, by itself and by the record of every seat that was there."""
    outcomes = set()
    for transcript in sorted((folder / "server").glob("hand-*.json")):
        for record in (None, *sorted(folder.glob(f"seat-*/{transcript.stem}.record"))):
            verdict = fairdeal.verify(
                transcript.read_bytes(),
                server_key=server_key,
                record=record and record.read_bytes(),
            )
            judge = record.parent.name if record else "anybody"
            print(f"{transcript.name} for {judge}: {verdict.status}")
            for found in verdict.findings:
                print(f"  {found.message}")
            outcomes.add(verdict.status)
        print(f"  {verdict.guarantee}")
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="for all files; made, must be new")
    parser.add_argument("--hands", type=int, default=2)
    parser.add_argument("--patience", type=float, default=10.0, help="seconds for a silent seat")
    parser.add_argument("--think", type=float, default=0.0, help="seconds before each decision")
    parser.add_argument("--kill", type=int, choices=range(4), help="kill this seat in mid-hand")
    args = parser.parse_args()
    if args.folder and args.folder.exists():
        parser.error(f"{args.folder} is there already")
    folder = args.folder or Path(tempfile.mkdtemp())
    try:
        limit = args.hands * (60 + 4 * args.patience + 56 * args.think)
        key, ended_well = asyncio.run(asyncio.wait_for(play(folder, args), limit))
    except TimeoutError:
        print("the table did not come to an end", file=sys.stderr)
        return 1
    outcomes = judge(folder, key)
    print(f"all files are in {folder}")
    return next((CODES[one] for one in CODES if one in outcomes), 1) if ended_well else 1


if __name__ == "__main__":
    sys.exit(main())
