"""A whole server from its settings: keys, store, hall, uvicorn."""

from __future__ import annotations

import contextlib
import gc
import logging
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import uvicorn

from fairdeal import encoding, files
from fairdeal.errors import FairdealError
from fairdeal.server.app import application
from fairdeal.server.hall import Hall
from fairdeal.server.options import Options
from fairdeal.server.store import Store
from fairdeal.server.vault import Vault
from fairdeal.server.wire import protocol
from fairdeal.signing import SigningKey

_log = logging.getLogger("fairdeal.server")
#: seconds after which the thread that writes may have the interpreter from the one that plays
_SWITCH: Final = 0.001


class Settings(NamedTuple):
    """Where a server listens and what it keeps."""

    data: str
    host: str
    port: int
    #: the store's URL; by default a SQLite file in the data folder
    store: str | None = None
    #: how others reach this process, for redirects between processes of one store
    url: str | None = None
    #: files with 64 hexadecimal digits; by default one in the data folder, made if missing.
    #: The first opens new tables, each plays on those that it opened
    keys: tuple[str, ...] = ()
    #: files alike; the first encrypts, all decrypt
    secret_keys: tuple[str, ...] = ()


class _Server(uvicorn.Server):
    """Says where it listens once it does."""

    listening: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then tell."""
        await super().startup(sockets)
        self.listening()


def serve(settings: Settings, options: Options, started: Callable[[str, str], None]) -> None:
    """Serve until SIGTERM or SIGINT; then every hand can be resumed.

    `started` gets the address and the server's public key. Raises FairdealError for an address,
    keys and stores that cannot be used.
    """
    if not (settings.store and settings.keys and settings.secret_keys):
        files.make_folder(settings.data, secret=True)
    keys = [SigningKey(one) for one in _read_keys(settings, settings.keys, "server.key")]
    vault = Vault(_read_keys(settings, settings.secret_keys, "secrets.key"))
    url = settings.store or f"sqlite:///{files.inside(settings.data, 'fairdeal.sqlite')}"
    with _listening(settings.host, settings.port) as door:
        hall = Hall(Store.open(url, vault), keys, options, url=settings.url)
        server = _Server(_config(hall, options))
        address, public = _address(door), keys[0].public.hex()
        server.listening = lambda: _started(address, public, started)
        _tune()
        with _signals_end_here():
            _run(server, door)
        _log.info("stopped", extra={"address": address})


def _started(address: str, public: str, started: Callable[[str, str], None]) -> None:
    _log.info("serving", extra={"address": address, "server_key": public})
    started(address, public)


def _tune() -> None:
    """Prepare the interpreter for thousands of tables, whose objects live long and in no cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    sys.setswitchinterval(_SWITCH)


def _run(server: uvicorn.Server, door: socket.socket) -> None:
    try:
        server.run(sockets=[door])
    except SystemExit:
        raise FairdealError("the server did not start: its log says why") from None


def _listening(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=2048)
    except OSError as error:
        why = (error.strerror or "no such address").lower().partition(" (while")[0]
        raise FairdealError(f"cannot listen at {host}, port {port}: {why}") from None


def _address(door: socket.socket) -> str:
    host, port = door.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


@contextlib.contextmanager
def _signals_end_here() -> Iterator[None]:
    """Uvicorn raises the signal that stopped it again, for whoever was before it: for nobody."""
    if threading.current_thread() is threading.main_thread():
        for one in (signal.SIGTERM, signal.SIGINT):
            signal.signal(one, lambda *_: None)
    yield


def _config(hall: Hall, options: Options) -> uvicorn.Config:
    return uvicorn.Config(
        application(hall),
        log_config=None,
        access_log=False,
        ws=protocol(),
        ws_max_size=options.max_frame,
        ws_per_message_deflate=False,
        server_header=False,
        timeout_graceful_shutdown=5,
    )


def _read_keys(settings: Settings, given: tuple[str, ...], name: str) -> list[bytes]:
    """The keys of the given files, or of the one in the data folder, which is made if missing."""
    default = files.inside(settings.data, name)
    if not given and not Path(default).exists():
        files.create_secret(default, f"{secrets.token_hex(32)}\n".encode())
    return [read_key(path) for path in given or (default,)]


def read_key(path: str) -> bytes:
    """The 32 bytes of a key's file. Raises FairdealError."""
    try:
        return encoding.unhex(files.read(path, limit=128).decode("ascii").strip(), 32)
    except ValueError:
        raise FairdealError(f"{path}: expected a key of 64 hexadecimal digits") from None
