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
    #: files with 64 hexadecimal digits; by default in the data folder, made if missing
    key: str | None = None
    #: the first encrypts, all decrypt
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
    if not (settings.store and settings.key and settings.secret_keys):
        files.make_folder(settings.data)
    key = SigningKey(read_key(settings.key or files.inside(settings.data, "server.key"), make=True))
    default = (files.inside(settings.data, "secrets.key"),)
    vault = Vault([read_key(path, make=True) for path in settings.secret_keys or default])
    url = settings.store or f"sqlite:///{files.inside(settings.data, 'fairdeal.sqlite')}"
    hall = Hall(Store.open(url, vault), key, options, url=settings.url)
    server = _Server(_config(hall, settings, options))
    server.started_at = lambda address: started(address, key.public.hex())
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


def read_key(path: str, *, make: bool = False) -> bytes:
    """The 32 bytes of a key's file, which is made with `make` if it is not there."""
    if make and not Path(path).exists():
        files.create_secret(path, f"{secrets.token_hex(32)}\n".encode())
    try:
        return bytes.fromhex(files.read(path, limit=128).decode("ascii").strip())
    except ValueError:
        raise FairdealError(f"{path}: expected a key of 64 hexadecimal digits") from None
