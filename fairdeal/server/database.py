"""How a database is reached: its URL, its connections, its transactions, and what fails there.

Each transaction that writes is on the disk when it returns: SQLite with WAL and `synchronous=FULL`,
PostgreSQL with `synchronous_commit`. A connection that was lost is made anew by the next
transaction. What fails is a `StoreError` in one line, without the URL's password and without data.

An SQLite file is one server process's, which holds `FILE.lock` as long as it runs; the lock goes
with the process, however that ends. It must lie on a local disk of a POSIX system.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, SQLAlchemyError

from fairdeal.server import schema
from fairdeal.server.schema import StoreError


class StoreUnavailable(StoreError):  # noqa: N818 - it is a state, not a fault
    """The store cannot be written or read now: away, full, locked, read-only. Try again later."""


class StoreConflict(StoreError):  # noqa: N818
    """Something else stands there already: another process has the table."""


#: seconds: how long to wait for another's lock, for a connection, for an answer
_LOCK_WAIT: Final = 5
_CONNECT_WAIT: Final = 5
_ANSWER_WAIT: Final = 30
#: the number of PostgreSQL's advisory lock for who makes the schema: any, but always the same
_SCHEMA_LOCK: Final = 0x66616972
_PRIVATE: Final = 0o600
#: how a transaction begins on SQLite, as an option of its connection
_BEGIN: Final = "fairdeal_begin"


class Database:
    """One database, from several threads. Made with `Database(url)`, ended with `close`."""

    def __init__(self, url: str, *, read_only: bool) -> None:
        """Opens it and, unless `read_only`, makes or migrates the schema. Raises StoreError."""
        self._url = _parsed(url)
        self._lock: int | None = None
        #: whether what another process left here is no living one's
        self.alone = self._url.drivername == "sqlite" and not read_only
        path = self._url.database or ""
        if self.alone:
            self._lock = _locked(path)
        elif self._url.drivername == "sqlite" and not Path(path).exists():
            raise StoreError("there is no such file")
        self._engine = _engine(self._url, read_only=read_only)
        try:
            self._prepare(path, read_only=read_only)
        except BaseException:
            self.close()
            raise

    def _prepare(self, path: str, *, read_only: bool) -> None:
        if read_only:
            with self.reading() as connection:
                if schema.found(connection) != len(schema.MIGRATIONS):
                    raise StoreError("the store is of an older fairdeal, or none: start its server")
            return
        if self.alone:
            with self.reading() as connection:
                schema.found(connection)  # nothing of another's file is touched
            _make_private(path)
            with self._connected() as connection:
                outside = connection.execution_options(**{_BEGIN: None})
                outside.exec_driver_sql("PRAGMA journal_mode=WAL")
        with self.writing() as connection:
            if not self.alone:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_SCHEMA_LOCK})")
            schema.migrate(connection)

    def close(self) -> None:
        """Give up the connections and the lock."""
        self._engine.dispose()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that reads. Raises StoreError."""
        with self._connected() as connection, connection.begin():
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is on the disk at its end, or has not been. Raises StoreError.

        StoreConflict where the database refuses a row; after StoreUnavailable it may yet be there.
        """
        with self._connected() as connection:
            connection = connection.execution_options(**{_BEGIN: "BEGIN IMMEDIATE"})
            with connection.begin():
                yield connection

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Connection]:
        try:
            with self._engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise translated(error, self._url.password) from None


# -- opening -------------------------------------------------------------------------------------


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise StoreError(_WANTED) from None
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    in_file = parsed.drivername == "sqlite" and parsed.database not in (None, "", ":memory:")
    if not in_file and parsed.drivername != "postgresql+psycopg":
        raise StoreError(_WANTED)
    return parsed


_WANTED: Final = "the store's URL must be sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME"


def _locked(path: str) -> int:
    """The lock of an SQLite file, and the file if there is none, both their owner's alone."""
    import fcntl  # only POSIX has it

    real = os.path.realpath(path)
    try:
        os.close(os.open(real, os.O_RDWR | os.O_CREAT, _PRIVATE))
        lock = os.open(real + ".lock", os.O_RDWR | os.O_CREAT, _PRIVATE)
    except OSError as error:
        raise StoreUnavailable(f"{path}: {(error.strerror or 'no access').lower()}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise StoreError("another server has this store") from None
    return lock


def _make_private(path: str) -> None:
    """Take from others what an earlier program let them read; WAL files follow the file's mode."""
    for each in (path, path + "-wal", path + "-shm"):
        with contextlib.suppress(OSError):
            Path(each).chmod(_PRIVATE)


def _engine(url: URL, *, read_only: bool) -> Engine:
    if url.drivername == "sqlite":
        return _sqlite(url, read_only=read_only)
    waits = {"connect_timeout": _CONNECT_WAIT, "tcp_user_timeout": _ANSWER_WAIT * 1000}
    engine = create_engine(url, hide_parameters=True, pool_pre_ping=True, connect_args=waits)
    settings = (
        "SET synchronous_commit = on",
        f"SET lock_timeout = '{_LOCK_WAIT}s'",
        f"SET statement_timeout = '{_ANSWER_WAIT}s'",
    )
    guard = ("SET default_transaction_read_only = on",) if read_only else ()
    _on_connect(engine, settings + guard)
    return engine


def _sqlite(url: URL, *, read_only: bool) -> Engine:
    own_begin = {"timeout": _LOCK_WAIT, "isolation_level": None}
    engine = create_engine(url, hide_parameters=True, connect_args=own_begin)
    settings = (
        "PRAGMA foreign_keys=ON",
        "PRAGMA synchronous=FULL",
        "PRAGMA secure_delete=ON",
        f"PRAGMA query_only={'ON' if read_only else 'OFF'}",
    )
    _on_connect(engine, settings)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        """A writer takes the lock first, or two that have read would wait for each other."""
        if statement := connection.get_execution_options().get(_BEGIN, "BEGIN"):
            connection.exec_driver_sql(statement)

    return engine


def _on_connect(engine: Engine, statements: tuple[str, ...]) -> None:
    @event.listens_for(engine, "connect")
    def connect(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
        cursor.close()
        connection.commit()


# -- what fails ----------------------------------------------------------------------------------

#: SQLite's primary result codes that pass
_PASSING: Final = {
    sqlite3.SQLITE_BUSY: "the database is locked",
    sqlite3.SQLITE_LOCKED: "the database is locked",
    sqlite3.SQLITE_PROTOCOL: "the database is locked",
    sqlite3.SQLITE_NOMEM: "there is no memory left",
    sqlite3.SQLITE_READONLY: "the database is read-only",
    sqlite3.SQLITE_IOERR: "the disk does not work",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_CANTOPEN: "the database file cannot be opened",
}
_BROKEN: Final = {
    sqlite3.SQLITE_CORRUPT: "the database file is damaged",
    sqlite3.SQLITE_NOTADB: "this file is no store of fairdeal's",
}
#: PostgreSQL's classes and codes that pass: connections, transactions that lost, resources, locks
_PASSING_STATES: Final = ("08", "25006", "28", "3D", "40", "53", "55", "57", "58")


def translated(error: SQLAlchemyError, password: str | None) -> StoreError:
    """What went wrong, as an error of the store's own: in one line, and nothing of the data."""
    if isinstance(error, IntegrityError):
        return StoreConflict("something else stands there already")
    if not isinstance(error, DBAPIError):  # no connection became free in time, or a fault of ours
        return StoreUnavailable(f"the database was not asked: {type(error).__name__}")
    if isinstance(error.orig, sqlite3.Error):
        return _of_sqlite(error.orig)
    return _of_postgresql(error.orig, password)


def _of_sqlite(error: sqlite3.Error) -> StoreError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if text := _PASSING.get(code & 0xFF):
        return StoreUnavailable(text)
    return StoreError(_BROKEN.get(code & 0xFF, f"the database refuses: SQLite's code {code}"))


def _of_postgresql(error: BaseException | None, password: str | None) -> StoreError:
    state = getattr(error, "sqlstate", None)
    if state is None:  # it never came to the database, and the text is about the connection
        text = " ".join(str(error).split())[:300]
        return StoreUnavailable(text.replace(password, "***") if password else text)
    if state.startswith(_PASSING_STATES):
        name = type(error).__name__
        return StoreUnavailable(f"the database is not available: {name} ({state})")
    return StoreError(f"the database refuses: {type(error).__name__} ({state})")
