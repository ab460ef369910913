"""The server of a socket table: deals, relays, and plays for who is gone. See README.md."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import fairdeal
from fairdeal.games.presets import S0

NAMES = ("Ana", "Ben", "Cleo", "Dan")
LIMIT = 1 << 16  # bytes a line; also what may wait unread for a seat before we hang up
JOINING = 30.0  # seconds until bots take the chairs where nobody sits
ATTEMPTS = 8  # at one hand: a seat that disputes every deal must not keep the table for ever
#: what befalls an honest seat's message that crosses one of our entries on the wire
CROSSED = frozenset(("out-of-place", "seen-unknown"))


def now() -> int:
    return time.time_ns() // 1_000_000


def store(path: Path, data: bytes) -> None:
    """Replace a file whole, for us alone to read, and on the disk before we go on."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


async def quiet(event: asyncio.Event, seconds: float) -> bool:
    """Whether the event stays out for so long from now on."""
    event.clear()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
    return not event.is_set()


class Table:
    """One table. All of it runs in one thread, so every message is judged by a settled log."""

    dealer: fairdeal.Dealer | None = None

    def __init__(self, folder: Path, key: fairdeal.SigningKey, patience: float) -> None:
        self.folder, self.key, self.patience = folder, key, patience
        self.keys: list[str] = []  # the people's, by seat in the order of arrival
        self.lines: dict[str, asyncio.StreamWriter] = {}
        self.joined, self.moved = asyncio.Event(), asyncio.Event()

    def terms(self, keys: Sequence[str]) -> fairdeal.Terms:
        """The first hand with these people."""
        people = [fairdeal.Person(name=NAMES[seat], key=key) for seat, key in enumerate(keys)]
        seats = (*people, *map(fairdeal.bot, NAMES[len(keys) :]))
        deck = fairdeal.Deck(packs=1, removed=())
        return fairdeal.Terms(table="socket", game="1", seats=seats, rules=S0, deck=deck)

    def admit(self, hello: bytes) -> str | None:
        """The key in a connection's first line, if its owner sits here or may sit down."""
        try:
            key = bytes.fromhex(json.loads(hello)["key"]).hex()
            if key not in self.keys:
                if self.dealer or len(self.keys) == len(NAMES):
                    return None
                # the library knows with which keys a hand must not be opened
                fairdeal.Dealer(self.terms([*self.keys, key]), self.key, at=now())
                self.keys.append(key)
        except (ValueError, KeyError, TypeError, RecursionError, fairdeal.FairdealError):
            return None
        return key

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, from its first line to its last."""
        key = None
        try:
            key = self.admit(await asyncio.wait_for(reader.readline(), self.patience))
            if key is None:
                return
            if key in self.lines:  # it is back before we noticed that it was gone
                self.lines[key].close()
            self.lines[key] = writer
            self.joined.set()
            self.send(writer, self.dealer.log.entries if self.dealer else ())  # all it missed
            while (line := await reader.readline()).endswith(b"\n") and self.heard(key, line):
                pass
        except ValueError:  # a line over the limit
            self.replace(key, "expelled", "a line too long")
        except OSError:  # a time-out is one, too
            pass  # it may come back before our patience ends
        finally:
            if self.lines.get(key) is writer:
                del self.lines[key]
            writer.close()

    def heard(self, key: str, line: bytes) -> bool:
        """Take a seat's message. False if it was rubbish: the seat is a bot's from now on."""
        if self.dealer is None:
            return False  # there is nothing to say before a hand is open
        try:
            self.publish(self.dealer.receive(line, now()))
        except (fairdeal.MalformedError, fairdeal.RemoteProtocolError) as error:
            if getattr(error, "code", None) not in CROSSED:
                self.replace(key, "expelled", error)
                return False
        return True

    def replace(self, key: str | None, reason: str, why: object) -> None:
        """Give a seat to a bot; if that must be, the dealer voids the attempt instead."""
        hand = self.dealer and self.dealer.hand
        if hand and not hand.ended and key in self.keys:
            seat = self.keys.index(key)
            if f"seat/{seat}" in hand.persons:
                print(f"seat/{seat} {reason}: {why}", file=sys.stderr)
                self.publish(self.dealer.replace(seat, reason, now()))

    def path(self, suffix: str) -> Path:
        terms = self.dealer.hand.terms
        return self.folder / f"hand-{terms.hand:04}-{terms.attempt}{suffix}"

    def publish(self, entries: Sequence[fairdeal.Entry]) -> None:
        """Store, then broadcast. The table waits for the disk: a busy server takes a thread."""
        if entries:
            store(self.path(".json"), self.dealer.log.encoded())
            for writer in self.lines.values():
                self.send(writer, entries)
            self.moved.set()

    def send(self, writer: asyncio.StreamWriter, entries: Sequence[fairdeal.Entry]) -> None:
        writer.writelines([entry.encoded() + b"\n" for entry in entries])
        if writer.transport.get_write_buffer_size() > LIMIT:
            writer.transport.abort()  # it does not listen; it may come back for the whole log

    def awaited(self) -> list[int]:
        """The seats of persons without whom nothing goes on."""
        hand = self.dealer.hand
        due = {by for _, by in hand.due() if by in hand.persons}
        opening = hand.play.opening_card if hand.play and not hand.ended else None
        return [
            seat
            for seat in range(len(self.keys))
            if f"seat/{seat}" in due
            # of all who may begin the play, only the one who holds the card can
            and (opening is None or opening in self.dealer.cards_of(seat))
        ]

    async def attempt(self, terms: fairdeal.Terms) -> None:
        """Play from `open` to `close` or `void`, and wait a while for the acks."""
        self.dealer = fairdeal.Dealer(terms, self.key, at=now())
        store(self.path(".secret"), self.dealer.secret)  # before anything is broadcast
        self.publish(self.dealer.log.entries)
        while awaited := self.awaited():
            if await quiet(self.moved, self.patience):
                if self.dealer.hand.ended:
                    return  # an ack that is missing harms nobody
                for seat in awaited:
                    self.replace(self.keys[seat], "unresponsive", f"{self.patience} s of silence")

    async def play(self, hands: int) -> bool:
        """Play so many hands; whether they, or the game, came to their end."""
        while len(self.lines) < len(NAMES) and not await quiet(self.joined, JOINING):
            pass
        terms = self.terms(self.keys)
        while terms.hand <= hands and terms.attempt <= ATTEMPTS:
            await self.attempt(terms)
            try:
                terms = self.dealer.next_terms()  # after a void the same hand, with a bot there
            except fairdeal.LocalProtocolError:
                return True  # the game is over
        return terms.hand > hands

    async def hang_up(self) -> None:
        for writer in list(self.lines.values()):
            writer.close()
            with contextlib.suppress(OSError):
                await asyncio.wait_for(writer.wait_closed(), self.patience)


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="for transcripts and secrets; made, must be new")
    parser.add_argument("--hands", type=int, default=2)
    parser.add_argument("--patience", type=float, default=10.0, help="seconds for a silent seat")
    args = parser.parse_args()
    if args.folder.exists():  # an old hand's files are never written over
        parser.error(f"{args.folder} is there already")
    args.folder.mkdir(mode=0o700, parents=True)
    key = fairdeal.SigningKey(secrets.token_bytes(32))
    store(args.folder / "server.key", key.private_bytes())  # for `Dealer.resume` after a crash
    table = Table(args.folder, key, args.patience)
    server = await asyncio.start_server(table.connected, "127.0.0.1", 0, limit=LIMIT)
    port = server.sockets[0].getsockname()[1]
    print(json.dumps({"port": port, "key": key.public.hex()}), flush=True)
    ended = await table.play(args.hands)
    server.close()
    await table.hang_up()
    return 0 if ended else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
