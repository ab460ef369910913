"""A whole server from its settings: keys, store, hall, uvicorn."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from socket import socket
from typing import NamedTuple

import uvicorn

from fairdeal import files
from fairdeal.errors import FairdealError
from fairdeal.server.app import application
from fairdeal.server.hall import Hall
from fairdeal.server.options import Options
from fairdeal.server.store import Store
from fairdeal.server.vault import Vault
from fairdeal.signing import SigningKey


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

    started_at: Callable[[str], None]

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Listen, then tell."""
        await super().startup(sockets)
        for server in self.servers:
            for one in server.sockets:
                host, port = one.getsockname()[:2]
                self.started_at(f"http://{f'[{host}]' if ':' in host else host}:{port}")
                return


def serve(settings: Settings, options: Options, started: Callable[[str, str], None]) -> bool:
    """Serve until a signal says stop; False if it could not start.

    `started` gets the address and the server's public key. Raises FairdealError for keys and stores
    that cannot be used.
    """
    if not (settings.store and settings.keys and settings.secret_keys):
        files.make_folder(settings.data)
    keys = [SigningKey(one) for one in _read_keys(settings, settings.keys, "server.key")]
    vault = Vault(_read_keys(settings, settings.secret_keys, "secrets.key"))
    url = settings.store or f"sqlite:///{files.inside(settings.data, 'fairdeal.sqlite')}"
    hall = Hall(Store.open(url, vault), keys, options, url=settings.url)
    server = _Server(_config(hall, settings, options))
    server.started_at = lambda address: started(address, keys[0].public.hex())
    server.run()
    return server.started


def _config(hall: Hall, settings: Settings, options: Options) -> uvicorn.Config:
    return uvicorn.Config(
        application(hall),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
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
        return bytes.fromhex(files.read(path, limit=128).decode("ascii").strip())
    except ValueError:
        raise FairdealError(f"{path}: expected a key of 64 hexadecimal digits") from None
