"""A player's folder: its key, the servers it knows, and of each hand its record and copy.

    seat.key                             the private key, made at first use (mode 0600)
    pins                                 a server's address and its key on each line
    game-HASH/hand-0001-1.record         what the seat remembers, secret (hand 1, attempt 1)
    game-HASH/hand-0001-1.json           the player's own copy of the log

No name from the server becomes part of a path: HASH is over the server's key, table and game. Of a
copy nothing is ever lost: a log that does not extend the one before is kept beside it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from typing import Final

from fairdeal import files
from fairdeal.encoding import tagged_hash, unhex
from fairdeal.errors import MalformedError
from fairdeal.play.player import HandName
from fairdeal.signing import SigningKey, is_public_key

_COPY: Final = re.compile(r"hand-([0-9]{4,16})-([0-9]{1,16})\.json")
_TAIL: Final = b'],"fairdeal":1}'


class Folder:
    """The folder at `path`; whatever fails in it is a FileError that names the file."""

    def __init__(self, path: str) -> None:
        """Makes the folder, for its owner alone, where it is missing. Raises FileError."""
        self.path = path
        files.make_folder(path, secret=True)

    def key(self) -> SigningKey:
        """The player's key, made at first use. Raises FileError if the file is damaged."""
        path = files.inside(self.path, "seat.key")
        if not os.path.exists(path):  # noqa: PTH110
            with contextlib.suppress(files.FileError):  # another made it just now
                files.create_secret(path, f"{secrets.token_hex(32)}\n".encode())
        try:
            seed = unhex(files.read(path, 1 << 10).decode("ascii", "replace").strip(), 32)
        except MalformedError:  # what is wrong with it could show it
            raise files.FileError(path, "expected 64 lower-case hexadecimal digits") from None
        return SigningKey(seed)

    # -- servers --

    def pinned(self, server: str) -> bytes | None:
        """The key that this server showed before, or None. Raises FileError."""
        return self._pins().get(server)

    def pin(self, server: str, key: bytes) -> None:
        """Remember a server's key. Raises FileError."""
        pins = {**self._pins(), server: key}
        text = "".join(f"{name} {one.hex()}\n" for name, one in sorted(pins.items()))
        files.write(files.inside(self.path, "pins"), text.encode(), secret=True)

    def _pins(self) -> dict[str, bytes]:
        path = files.inside(self.path, "pins")
        if not os.path.exists(path):  # noqa: PTH110
            return {}
        pins = {}
        for row in files.read(path, 1 << 20).decode("utf-8", "replace").splitlines():
            name, _, digits = row.rpartition(" ")
            try:
                pins[name] = unhex(digits, 32)
            except MalformedError as error:
                raise files.FileError(path, f"expected ADDRESS KEY lines; {error}") from error
            if not is_public_key(pins[name]):
                raise files.FileError(path, "expected a public key on each line")
        return pins

    # -- hands --

    def record(self, hand: HandName) -> bytes | None:
        """What was stored of a hand; empty where only its copy is left; None of a new one."""
        for end, found in (("record", None), ("json", b"")):
            path = self._path(hand, end)
            if os.path.exists(path):  # noqa: PTH110
                return files.read(path) if found is None else found
        return None

    def keep_record(self, hand: HandName, record: bytes) -> None:
        """Store what a seat remembers, on the disk before this returns. Raises FileError."""
        files.make_folder(self._game(hand), secret=True)
        files.write(self._path(hand, "record"), record, secret=True)

    def keep_copy(self, hand: HandName, log: bytes) -> str:
        """Store the log of a hand; the file it is in. Raises FileError."""
        files.make_folder(self._game(hand), secret=True)
        path = self._path(hand, "json")
        old = files.read(path) if os.path.exists(path) else _TAIL  # noqa: PTH110
        if old.startswith(log.removesuffix(_TAIL)):
            return path  # it holds all of that
        if not log.startswith(old.removesuffix(_TAIL)):
            path = self._path(hand, f"other-{secrets.token_hex(4)}.json")
        files.write(path, log)
        return path

    def keep_refused(self, hand: HandName, frame: bytes) -> str:
        """Store a frame that was refused, as evidence; its file. Raises FileError."""
        files.make_folder(self._game(hand), secret=True)
        path = self._path(hand, f"refused-{secrets.token_hex(4)}")
        files.write(path, frame, secret=True)
        return path

    def copies(self, hand: HandName) -> dict[tuple[int, int], bytes]:
        """The copies of the game of this hand, by hand and attempt, in order. Raises FileError."""
        folder = self._game(hand)
        if not os.path.isdir(folder):  # noqa: PTH112
            return {}
        found = (_COPY.fullmatch(name) for name in os.listdir(folder))  # noqa: PTH208
        names = sorted((int(one[1]), int(one[2]), one[0]) for one in found if one)
        return {(n, attempt): files.read(files.inside(folder, name)) for n, attempt, name in names}

    @contextlib.contextmanager
    def alone(self, table: str) -> Iterator[None]:
        """Hold a table for this process: two at once could sign different words for one seat.

        Raises FileError if another has it. On a system without such locks it does nothing.
        """
        path = files.inside(self.path, f"{_hash('lock', table)}.lock")
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(handle, path)
            yield
        finally:
            os.close(handle)

    def _game(self, hand: HandName) -> str:
        return files.inside(self.path, f"game-{_hash(hand.server, hand.table, hand.game)}")

    def _path(self, hand: HandName, end: str) -> str:
        return files.inside(self._game(hand), f"hand-{hand.hand:04}-{hand.attempt}.{end}")


def _hash(*names: str) -> str:
    return tagged_hash("fairdeal/play/name", *names).hex()[:32]


def _lock(handle: int, path: str) -> None:
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise files.FileError(path, "another fairdeal plays at this table with this key") from None
