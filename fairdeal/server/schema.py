"""How the store lies in a database: its tables, and the numbered steps that make them.

The tables below are what queries name. What makes them stands in `MIGRATIONS`, in plain SQL that
is never changed once released: version n of the schema is what the first n steps leave, and a
later version is one more function. The database itself keeps a log's rules: entries and hands are
only ever appended, an entry only right after the one before it.

Not here: how a database is reached and its transactions (`database`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    inspect,
    select,
    update,
)

from fairdeal.errors import FairdealError


class StoreError(FairdealError):
    """The store cannot do what was asked; says in one line what. Never holds a secret."""


_all: Final = MetaData()
version: Final = Table("fairdeal_schema", _all, Column("version", Integer))
#: one row a table; `n` is the order of their making
table: Final = Table(
    "fairdeal_table",
    _all,
    Column("n", Integer, primary_key=True),
    Column("table_id", Text),
    Column("setup", LargeBinary),
    Column("state", Text),
    Column("made_at", BigInteger),
    Column("owner", Text),
    Column("owner_url", Text),
    Column("lease_until", BigInteger),
)
seat: Final = Table(
    "fairdeal_seat",
    _all,
    Column("table_id", Text),
    Column("seat", Integer),
    Column("key", Text),
    Column("name", Text),
    Column("at", BigInteger),
)
#: the names of hands; `id` is the order of their beginning
hand: Final = Table(
    "fairdeal_hand",
    _all,
    Column("id", Integer, primary_key=True),
    Column("table_id", Text),
    Column("game", Text),
    Column("hand", Integer),
    Column("attempt", Integer),
)
#: the logs
entry: Final = Table(
    "fairdeal_entry",
    _all,
    Column("hand_id", Integer),
    Column("seq", Integer),
    Column("data", LargeBinary),
)
secret: Final = Table(
    "fairdeal_secret",
    _all,
    Column("hand_id", Integer),
    Column("key_id", Text),
    Column("sealed", LargeBinary),
)

_TYPES: Final = {
    "sqlite": {
        "serial": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "blob": "BLOB",
        "clustered": "WITHOUT ROWID",
    },
    "postgresql": {
        "serial": "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "blob": "bytea",
        "clustered": "",
    },
}
_TABLES_1: Final = """
CREATE TABLE fairdeal_table (
    n {serial},
    table_id text NOT NULL UNIQUE,
    setup {blob} NOT NULL,
    state text NOT NULL CHECK (state IN ('waiting', 'playing', 'over')),
    made_at bigint NOT NULL,
    owner text,
    owner_url text,
    lease_until bigint NOT NULL
);
CREATE INDEX fairdeal_table_open ON fairdeal_table (n) WHERE state <> 'over';
CREATE TABLE fairdeal_seat (
    table_id text NOT NULL REFERENCES fairdeal_table (table_id),
    seat integer NOT NULL CHECK (seat >= 0),
    key text NOT NULL,
    name text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (table_id, seat),
    UNIQUE (table_id, key)
);
CREATE TABLE fairdeal_hand (
    id {serial},
    table_id text NOT NULL REFERENCES fairdeal_table (table_id),
    game text NOT NULL,
    hand integer NOT NULL,
    attempt integer NOT NULL,
    UNIQUE (table_id, game, hand, attempt)
);
CREATE TABLE fairdeal_entry (
    hand_id bigint NOT NULL REFERENCES fairdeal_hand (id),
    seq integer NOT NULL,
    data {blob} NOT NULL,
    PRIMARY KEY (hand_id, seq)
) {clustered};
CREATE TABLE fairdeal_secret (
    hand_id bigint NOT NULL PRIMARY KEY REFERENCES fairdeal_hand (id),
    key_id text NOT NULL,
    sealed {blob} NOT NULL
)
"""
# REPLACE deletes without a trigger's notice, so what exists is refused before
_SQLITE_1: Final = (
    """
    CREATE TRIGGER fairdeal_entry_next BEFORE INSERT ON fairdeal_entry
    WHEN NEW.seq IS NOT
        coalesce((SELECT max(seq) + 1 FROM fairdeal_entry WHERE hand_id = NEW.hand_id), 0)
    BEGIN SELECT RAISE(ABORT, 'an entry comes right after the one before it'); END
    """,
    """
    CREATE TRIGGER fairdeal_hand_new BEFORE INSERT ON fairdeal_hand
    WHEN EXISTS (SELECT 1 FROM fairdeal_hand WHERE id = NEW.id OR (table_id = NEW.table_id
        AND game = NEW.game AND hand = NEW.hand AND attempt = NEW.attempt))
    BEGIN SELECT RAISE(ABORT, 'there is a hand of that name'); END
    """,
    *(
        f"""
        CREATE TRIGGER {name}_no_{event} BEFORE {event} ON {name}
        BEGIN SELECT RAISE(ABORT, 'entries and hands are only appended'); END
        """
        for name in ("fairdeal_entry", "fairdeal_hand")
        for event in ("UPDATE", "DELETE")
    ),
)
_POSTGRESQL_1: Final = (
    """
    CREATE FUNCTION fairdeal_next() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.seq <> coalesce(
            (SELECT max(seq) + 1 FROM fairdeal_entry WHERE hand_id = NEW.hand_id), 0
        ) THEN
            RAISE EXCEPTION 'an entry comes right after the one before it'
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NEW;
    END $$
    """,
    """
    CREATE TRIGGER fairdeal_entry_next BEFORE INSERT ON fairdeal_entry
    FOR EACH ROW EXECUTE FUNCTION fairdeal_next()
    """,
    """
    CREATE FUNCTION fairdeal_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'entries and hands are only appended'
            USING ERRCODE = 'restrict_violation';
    END $$
    """,
    *(
        f"""
        CREATE TRIGGER {name}_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON {name}
        FOR EACH STATEMENT EXECUTE FUNCTION fairdeal_refuse()
        """
        for name in ("fairdeal_entry", "fairdeal_hand")
    ),
)


def _version_1(connection: Connection) -> None:
    """Tables, seats, hands, entries, secrets, and the triggers that keep the logs."""
    dialect = connection.dialect.name
    tables = _TABLES_1.format_map(_TYPES[dialect]).split(";")
    triggers = _SQLITE_1 if dialect == "sqlite" else _POSTGRESQL_1
    for statement in (*tables, *triggers):
        connection.exec_driver_sql(statement)


Migration = Callable[[Connection], None]
#: step n makes version n of the schema from version n - 1
MIGRATIONS: tuple[Migration, ...] = (_version_1,)


def found(connection: Connection) -> int:
    """The version of the schema that is there, 0 in a database that is not ours yet.

    Raises StoreError for a version that this program does not know, and for an SQLite file that
    holds something else.
    """
    names = inspect(connection).get_table_names()
    if version.name not in names:
        if names and connection.dialect.name == "sqlite":
            raise StoreError("this file is no store of fairdeal's")
        return 0
    rows = connection.execute(select(version.c.version)).scalars().all()
    if len(rows) != 1:
        raise StoreError("this is no store of fairdeal's: its schema has no version")
    if rows[0] > len(MIGRATIONS):
        raise StoreError(
            f"the store is of a newer fairdeal: expected at most version {len(MIGRATIONS)} of the"
            f" schema, found {rows[0]}"
        )
    return int(rows[0])


def migrate(connection: Connection) -> None:
    """Bring the schema to this program's version, inside the caller's transaction.

    The caller keeps others out meanwhile. Raises StoreError as `found` does.
    """
    before = found(connection)
    if before == 0:
        connection.exec_driver_sql("CREATE TABLE fairdeal_schema (version integer NOT NULL)")
        connection.execute(version.insert().values(version=0))
    for step in MIGRATIONS[before:]:
        step(connection)
    if before < len(MIGRATIONS):
        connection.execute(update(version).values(version=len(MIGRATIONS)))
