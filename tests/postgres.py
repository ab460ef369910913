"""A PostgreSQL for the tests: one cluster a process, in a folder of its own, started when asked for.

`postgres()` is None where there is none: with FAIRDEAL_POSTGRES_URL it is that server, which cannot
be stopped; else one is made from /usr/lib/postgresql. In CI a missing one is a failure.
"""

import atexit
import contextlib
import itertools
import os
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.engine import make_url

_numbers = itertools.count(1)


class Postgres:
    """A server that makes empty databases. `folder` is None if it is not ours to stop."""

    def __init__(self, url: str, folder: Path | None = None, programs: Path | None = None) -> None:
        self.base = make_url(url)
        self.folder = folder
        self.programs = programs

    def new_database(self) -> str:
        """The URL of a fresh database."""
        name = f"fairdeal_{os.getpid()}_{next(_numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        return self.base.set(database=name).render_as_string(hide_password=False)

    def execute(self, statement: str) -> None:
        """One statement of the server's owner."""
        with psycopg.connect(conninfo(self.base), autocommit=True) as connection:
            connection.execute(statement)

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses= -c max_connections=40 -c fsync=on"
        self._ctl("start", "-l", str(self.folder / "log"), "-o", options)

    def stop(self) -> None:
        self._ctl("stop", "-m", "fast")

    def kill(self) -> None:
        """As after a crash: nothing is written back, the next start recovers."""
        self._ctl("stop", "-m", "immediate")

    def _ctl(self, *arguments: str) -> None:
        self._run("pg_ctl", "-s", "-w", "-D", str(self.folder / "data"), *arguments)

    def _run(self, program: str, *arguments: str) -> None:
        user = "postgres" if os.geteuid() == 0 else None  # it refuses to be root's
        subprocess.run(
            [str(self.programs / program), *arguments],
            check=True,
            user=user,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # the server keeps it open
            stderr=subprocess.DEVNULL,
        )

    def make(self) -> None:
        arguments = ("-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")
        self._run("initdb", "-D", str(self.folder / "data"), *arguments)


def conninfo(url) -> str:
    """What psycopg takes for one of our URLs."""
    plain = make_url(url).set(drivername="postgresql")
    return plain.render_as_string(hide_password=False)


@lru_cache(maxsize=1)
def postgres() -> Postgres | None:
    """The server, the same one for the whole process."""
    if given := os.environ.get("FAIRDEAL_POSTGRES_URL"):
        return Postgres(given)
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda one: float(one.parent.name)
    )
    if not found:
        return None
    folder = Path(tempfile.mkdtemp(prefix="fairdeal-pg-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    url = f"postgresql://postgres@/postgres?host={folder}"
    server = Postgres(url, folder, found[-1])
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    server.make()
    server.start()
    atexit.register(_end, server)
    return server


def _end(server: Postgres) -> None:
    with contextlib.suppress(subprocess.CalledProcessError):  # a test left it stopped
        server.kill()


def require_postgres() -> Postgres:
    """The server, or the test is skipped; in CI it fails."""
    server = postgres()
    if server is None:
        if os.environ.get("CI"):
            pytest.fail("CI needs a PostgreSQL: FAIRDEAL_POSTGRES_URL or /usr/lib/postgresql")
        pytest.skip("there is no PostgreSQL here")
    return server


def require_own_postgres() -> Postgres:
    """One that the test may stop and start; whoever does starts it again."""
    server = require_postgres()
    if server.folder is None:
        pytest.skip("the PostgreSQL of FAIRDEAL_POSTGRES_URL is not ours to stop")
    return server
