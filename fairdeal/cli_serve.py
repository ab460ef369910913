"""`fairdeal serve`: a live table's server on the command line."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from fairdeal.errors import FairdealError
from fairdeal.report import screen

_SECONDS = click.FloatRange(min=0)
_shown = partial(click.option, show_default=True)


@click.command(context_settings={"auto_envvar_prefix": "FAIRDEAL"})
@_shown("--host", default="127.0.0.1", help="Where to listen.")
@_shown("--port", default=8000, help="0: any that is free.")
@_shown("--data", default="fairdeal-data", help="Folder for all of it.")
@click.option("--store", metavar="URL", help="postgresql://… or sqlite:///…; by default in --data.")
@click.option("--url", help="How others reach this process; for several on one store.")
@click.option(
    "--key", metavar="FILE", multiple=True,
    help="The server's signing key; of several the first opens new tables.",
)  # fmt: skip
@click.option(
    "--secret-key", metavar="FILE", multiple=True,
    help="Encrypts the secrets of unfinished hands; of several the first, all decrypt.",
)  # fmt: skip
@_shown("--patience", type=_SECONDS, default=30.0, help="Seconds for a machine's answer.")
@_shown("--idle", type=_SECONDS, default=120.0, help="Seconds for a move without a clock.")
@_shown("--pause", type=_SECONDS, default=5.0, help="Seconds between two hands.")
@_shown("--joining", type=_SECONDS, default=300.0, help="Seconds until bots join.")
@_shown("--lease", type=click.FloatRange(min=0.1), default=10.0,
        help="Seconds until another process of the store takes over.")  # fmt: skip
@_shown("--max-tables", type=click.IntRange(1), default=10_000, help="Tables at once.")
@_shown("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info",
        help="What is logged, as JSON lines on standard error.")  # fmt: skip
def serve(  # noqa: PLR0917
    host: str, port: int, data: str, store: str | None, url: str | None, key: tuple[str, ...],
    secret_key: tuple[str, ...], log_level: str, **options: Any,
) -> int:  # fmt: skip
    """Serve live tables over HTTP and WebSockets, for `fairdeal play`.

    With no option at all it listens on this machine and keeps its keys and a SQLite file in
    ./fairdeal-data. Every option can be given by the environment: FAIRDEAL_PORT, FAIRDEAL_STORE;
    FAIRDEAL_KEY may name several files, parted by spaces. It stops on SIGTERM or Ctrl-C; every hand
    goes on when it is started again.

    \b
    Examples:
      fairdeal serve
      fairdeal serve --port 9000 --store postgresql://fairdeal@db/fairdeal
    """  # noqa: D301
    try:
        from fairdeal.server import logs
        from fairdeal.server.options import Options
        from fairdeal.server.serve import Settings
        from fairdeal.server.serve import serve as run
    except ModuleNotFoundError as error:
        raise FairdealError(f"serve needs {error.name}: pip install 'fairdeal[server]'") from None
    logs.log_to_stderr(log_level)
    settings = Settings(data, host, port, store, url, key, secret_key)
    run(settings, Options(**options), _started)
    return 0


def _started(address: str, public: str) -> None:
    text = f"fairdeal serves at {address} with the key {public}"
    screen.show([screen.line(text)])
