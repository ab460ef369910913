"""One person's seat at a socket table, played by a policy. See README.md."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import sys
from pathlib import Path

import fairdeal
from fairdeal.games.policies import POLICIES

LIMIT = 1 << 16  # bytes a line
TRIES = 5  # to reach a server that does not answer, 0.2 seconds apart


def store(path: Path, data: bytes) -> None:
    """Replace a file whole, for us alone to read, and on the disk before we go on."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


class Player:
    """A key that sits at a table hand after hand, and remembers in `folder` what it said."""

    seat: fairdeal.Seat | None = None
    path: Path

    def __init__(self, folder: Path, server_key: bytes | None, think: float) -> None:
        self.folder, self.server_key, self.think = folder, server_key, think
        if not (folder / "seat.key").exists():
            store(folder / "seat.key", secrets.token_bytes(32))
        self.key = fairdeal.SigningKey((folder / "seat.key").read_bytes())

    def hear(self, line: bytes) -> fairdeal.Outgoing | None:
        """Take the next entry; what the seat says to it by itself, if anything."""
        if self.seat and json.loads(line)["seq"] > 0:
            return self.seat.receive(line)
        seat = fairdeal.Seat(self.key, server_key=self.server_key)
        answer = seat.receive(line)  # a log begins: which hand's, the seat has read and judged
        terms = seat.hand.terms
        self.path = self.folder / f"hand-{terms.hand:04}-{terms.attempt}.record"
        if self.path.exists():  # we sat in that hand before: never a second seed, or another word
            seat = fairdeal.Seat.resume(
                self.path.read_bytes(), self.key, server_key=self.server_key
            )
            answer = seat.receive(line)
        self.seat = seat
        return answer

    async def decide(self) -> fairdeal.Outgoing | None:
        """What a person would click. What was said already is said again, not thought over."""
        seat, policy = self.seat, POLICIES["random/1"]
        if (again := seat.pending()) or not seat.turn:
            return again
        await asyncio.sleep(self.think)
        if seat.turn == "pass":
            return seat.pass_cards(policy.pass_cards(seat.view(), self.word))
        if seat.turn == "play":
            return seat.play(policy.play_card(seat.view(), self.word))
        return seat.choose(policy.choose_moon(seat.view(), self.word))

    @staticmethod
    def word() -> int:
        return secrets.randbelow(1 << 16)

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection. It begins with the whole log of the hand at the table."""
        writer.write(json.dumps({"key": self.key.public.hex()}).encode() + b"\n")
        said = b""
        while (line := await reader.readline()).endswith(b"\n"):
            answer = self.hear(line) or await self.decide()
            if answer and answer.send != said:
                store(self.path, answer.store)  # remember, then send
                said = answer.send
                writer.write(said + b"\n")
                await writer.drain()

    async def stay(self, port: int) -> int:
        """Play until the server is gone, through lost connections; the exit code."""
        tries = 0
        while tries < TRIES:
            tries += 1
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=LIMIT)
                tries = 0
                await self.converse(reader, writer)
                writer.close()
            except OSError:
                pass
            except (fairdeal.FairdealError, ValueError, TypeError, LookupError) as error:
                # nothing is said to a log that deviates; the records are our evidence
                print(f"{self.folder.name}: {error}", file=sys.stderr)
                return 0 if self.seat and getattr(error, "code", "") == "pin-seat-key" else 1
            await asyncio.sleep(0.2)
        return 0 if self.seat and self.seat.hand.ended else 1


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="for the seat's key and its records; kept")
    parser.add_argument("port", type=int)
    parser.add_argument("--server-key", type=bytes.fromhex, help="refuse any other server, in hex")
    parser.add_argument("--think", type=float, default=0.0, help="seconds before each decision")
    args = parser.parse_args()
    args.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    player = Player(args.folder, args.server_key, args.think)
    return await player.stay(args.port)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
