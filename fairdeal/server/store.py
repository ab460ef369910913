"""The durable store of a live table's server: tables, seats, hands, their logs and their secrets.

What `write` has returned for survives a crash of the program, the machine, or the database. An
entry that is stored is never changed; a second, different one in its place is a `StoreConflict`,
and one that is there byte for byte is a success: a write whose answer was lost is simply repeated.
A hand's secret lies sealed under the vault's first key, apart, and goes when the next hand begins
or the game is over: until then its last acks may come. Of several processes at one PostgreSQL, one
has a table at a time (`claim`).

One thread writes; any may read. Not here: what an entry means, who may sit where, and the time,
which is the caller's (milliseconds since the Unix epoch).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import (
    BindParameter,
    Connection,
    Select,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    update,
)

from fairdeal.encoding import frame
from fairdeal.messages import FORMAT_VERSION
from fairdeal.server.database import Database, StoreConflict, StoreUnavailable
from fairdeal.server.schema import StoreError, entry, hand, seat, secret, table
from fairdeal.server.vault import Box, Vault, VaultError

__all__ = [
    "Append",
    "Begin",
    "HandName",
    "HandRow",
    "Sitting",
    "State",
    "Store",
    "StoreConflict",
    "StoreError",
    "StoreUnavailable",
    "TableRow",
    "Write",
]

State: TypeAlias = Literal["waiting", "playing", "over"]
#: how often a write looks again after another process was faster
_LOOKS: Final = 8


class HandName(NamedTuple):
    """A hand's name in the store; each attempt is a hand of its own."""

    table: str
    game: str
    hand: int
    attempt: int

    def __str__(self) -> str:
        return f"hand {self.hand}, attempt {self.attempt} of game {self.game} at {self.table}"


class Begin(NamedTuple):
    """A hand with its first entries and its secret. With it the secrets of the table's hands before
    go, and the table is one that plays.
    """

    name: HandName
    secret: bytes
    entries: Sequence[bytes]

    def __repr__(self) -> str:
        return f"Begin({self.name}, {len(self.entries)} entries)"


class Append(NamedTuple):
    """A hand's next entries from `first` on."""

    name: HandName
    first: int
    entries: Sequence[bytes]


Write: TypeAlias = Begin | Append


class TableRow(NamedTuple):
    """A table: its setup as it was given, and which process has it until when."""

    table: str
    setup: bytes
    state: State
    made_at: int
    owner: str | None
    owner_url: str | None
    lease_until: int


class Sitting(NamedTuple):
    """A person at a table."""

    seat: int
    key: str
    name: str


class HandRow(NamedTuple):
    """A hand, and how many entries it has."""

    name: HandName
    entries: int


class Store:
    """Open with `Store.open`; every method raises StoreError, StoreUnavailable if it may pass."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._vault = vault
        #: if set, `write` touches only tables that are this owner's
        self.owner: str | None = None

    @classmethod
    def open(cls, url: str, vault: Vault, *, read_only: bool = False) -> Store:
        """The store at ``sqlite:///PATH`` or ``postgresql://…``; makes or migrates its schema.

        An SQLite file is one server's at a time; that server has then no living rival, and all
        claims on tables are void. With `read_only` anybody may look, while a server runs too; the
        vault may then be without keys. Raises StoreError for another's file, a newer schema or a
        second server, ValueError for a server's vault without keys.
        """
        if vault.key_id is None and not read_only:
            raise ValueError("a server's vault needs a key")
        store = cls(Database(url, read_only=read_only), vault)
        if store._database.alone:
            store._release_all()
        return store

    def _release_all(self) -> None:
        try:
            with self._database.writing() as connection:
                connection.execute(update(table).where(table.c.owner.is_not(None)).values(_FREE))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give up the connections and, of an SQLite file, the lock."""
        self._database.close()

    # -- writing logs ----------------------------------------------------------------------------

    def write(self, writes: Sequence[Write]) -> list[StoreConflict | None]:
        """All of them in one transaction, which is on the disk when this returns.

        The result of each, in order: None, or the conflict for which it alone was left out. A write
        that is there already is a success. Raises StoreUnavailable where nothing is known to be in:
        repeat the whole call later. Raises ValueError for a write without entries.
        """
        if not all(one.entries for one in writes):
            raise ValueError("a write has at least one entry")
        sealed = [self._seal(one) for one in writes]
        try:
            with self._database.writing() as connection:
                if not self._lost(connection, writes):
                    _insert(connection, writes, sealed)
                    return [None] * len(writes)
        except StoreConflict:
            pass
        return self._settle(writes, sealed)

    def _seal(self, write: Write) -> Box | None:
        if isinstance(write, Append):
            return None
        return self._vault.seal(write.secret, _about(write.name))

    def _settle(
        self, writes: Sequence[Write], sealed: Sequence[Box | None]
    ) -> list[StoreConflict | None]:
        """One by one, still in one transaction; who loses a race looks again at what won it."""
        for _ in range(_LOOKS):
            try:
                with self._database.writing() as connection:
                    lost = self._lost(connection, writes)
                    return [
                        StoreConflict(f"another process has table {one.name.table}")
                        if one.name.table in lost
                        else self._one(connection, one, box)
                        for one, box in zip(writes, sealed)
                    ]
            except StoreConflict:
                continue
        raise StoreUnavailable("another process writes the same hands all the time")

    def _lost(self, connection: Connection, writes: Sequence[Write]) -> set[str]:
        """Tables that are another's; nobody takes the rest before this transaction ends.

        Or whoever took one over would not know of an entry that comes late.
        """
        if self.owner is None or self._database.alone:
            return set()
        names = {one.name.table for one in writes}
        query = select(table.c.table_id, table.c.owner).where(table.c.table_id.in_(names))
        rows = connection.execute(query.order_by(table.c.n).with_for_update(read=True))
        return {row.table_id for row in rows if row.owner != self.owner}

    def _one(
        self, connection: Connection, write: Write, sealed: Box | None
    ) -> StoreConflict | None:
        """What is missing of a write, put in; or what it collides with."""
        hand_id = connection.execute(_hand_id(write.name)).scalar()
        if hand_id is None:
            if isinstance(write, Append):
                return StoreConflict(f"{write.name} has not begun")
            if _row(connection, write.name.table) is None:
                return StoreConflict(f"there is no table {write.name.table}")
            _insert(connection, [write], [sealed])
            return None
        first, entries = _first(write), list(write.entries)
        there = _from(connection, hand_id, first, len(entries))
        if there != entries[: len(there)] or not self._same_secret(connection, hand_id, write):
            return StoreConflict(f"{write.name} has another entry there")
        if len(there) == len(entries):
            return None
        if not _from(connection, hand_id, first + len(there) - 1, 1):
            return StoreConflict(f"{write.name} has no place for entry {first + len(there)}")
        rest = Append(write.name, first + len(there), entries[len(there) :])
        _insert(connection, [rest], [None])
        return None

    def _same_secret(self, connection: Connection, hand_id: int, write: Write) -> bool:
        """Whether what is there is not another secret than that of the write."""
        if isinstance(write, Append):
            return True
        row = connection.execute(_box(hand_id)).one_or_none()
        kept = None if row is None else self._unseal(write.name, Box(row.key_id, row.sealed))
        return kept in (None, write.secret)

    # -- tables ----------------------------------------------------------------------------------

    def create_table(self, table_id: str, setup: bytes, at: int) -> None:
        """A new table, waiting and nobody's. Raises StoreConflict if another has that name."""
        row = {"table_id": table_id, "setup": setup, "state": "waiting", "made_at": at}
        try:
            with self._database.writing() as connection:
                connection.execute(insert(table).values(**row, lease_until=0))
        except StoreConflict:
            there = self.table(table_id)
            if there is None or (there.setup, there.made_at) != (setup, at):
                raise StoreConflict(f"there is another table {table_id}") from None

    def finish(self, table_id: str) -> None:
        """The table's game is over: no secret of its hands is kept, nobody has it."""
        ours = select(hand.c.id).where(hand.c.table_id == table_id)
        with self._database.writing() as connection:
            connection.execute(delete(secret).where(secret.c.hand_id.in_(ours)))
            connection.execute(update(table).where(_is(table_id)).values(state="over", **_FREE))

    def sit(self, table_id: str, number: int, key: str, name: str, at: int) -> None:
        """Give a person a seat; who sits there already keeps it, and the name they had.

        Raises StoreConflict if the seat is another's, or the person sits elsewhere at the table.
        """
        row = {"table_id": table_id, "seat": number, "key": key, "name": name, "at": at}
        try:
            with self._database.writing() as connection:
                connection.execute(insert(seat).values(row))
        except StoreConflict:
            if (number, key) not in [(one.seat, one.key) for one in self.seats(table_id)]:
                raise StoreConflict(f"seat {number} at {table_id} is taken") from None

    def seats(self, table_id: str) -> list[Sitting]:
        """Who sits at a table, by seat."""
        with self._database.reading() as connection:
            query = select(seat.c.seat, seat.c.key, seat.c.name)
            rows = connection.execute(
                query.where(seat.c.table_id == table_id).order_by(seat.c.seat)
            )
            return [Sitting(*row) for row in rows]

    def table(self, table_id: str) -> TableRow | None:
        """One table, or None."""
        with self._database.reading() as connection:
            return _row(connection, table_id)

    def tables(self, after: str | None, limit: int) -> list[TableRow]:
        """At most `limit` tables in the order of their making, those after the table `after`."""
        query = _ROWS.limit(limit)
        if after is not None:
            query = query.where(table.c.n > select(table.c.n).where(_is(after)).scalar_subquery())
        return self._tables(query)

    def orphans(self, now: int) -> list[TableRow]:
        """The tables not over that nobody has: to be claimed, and their hands resumed."""
        return self._tables(_ROWS.where(_OPEN, _unowned(now)))

    def _tables(self, query: Select[Any]) -> list[TableRow]:
        with self._database.reading() as connection:
            return [TableRow(*row) for row in connection.execute(query)]

    # -- who has a table -------------------------------------------------------------------------

    def claim(self, table_id: str, owner: str, url: str, now: int, lease_ms: int) -> TableRow:
        """Take a table if it is free, expired or this owner's; its row afterwards says who has it.

        Raises StoreError if there is no such table.
        """
        mine = {"owner": owner, "owner_url": url, "lease_until": now + lease_ms}
        free = or_(_unowned(now), table.c.owner == owner)
        with self._database.writing() as connection:
            connection.execute(update(table).where(_is(table_id), free).values(mine))
            row = _row(connection, table_id)
        if row is None:
            raise StoreError(f"there is no table {table_id}")
        return row

    def renew(self, owner: str, now: int, lease_ms: int) -> list[str]:
        """Prolong this owner's leases; the tables it still has. Others it has lost: let them go."""
        # in the order in which `write` locks them, or the two could wait for each other
        ours = select(table.c.n).where(table.c.owner == owner, _OPEN).order_by(table.c.n)
        query = update(table).where(table.c.n.in_(ours.with_for_update()))
        query = query.values(lease_until=now + lease_ms)
        with self._database.writing() as connection:
            return list(connection.execute(query.returning(table.c.table_id)).scalars())

    def release(self, owner: str) -> None:
        """Give up all tables of this owner, as it ends."""
        with self._database.writing() as connection:
            connection.execute(update(table).where(table.c.owner == owner).values(_FREE))

    # -- reading logs ----------------------------------------------------------------------------

    def hands(self, table_id: str) -> list[HandRow]:
        """A table's hands, voided attempts too, in the order in which they began."""
        query = select(*_NAME, func.count()).join_from(hand, entry, hand.c.id == entry.c.hand_id)
        query = query.group_by(hand.c.id, *_NAME)
        with self._database.reading() as connection:
            rows = connection.execute(query.where(hand.c.table_id == table_id).order_by(hand.c.id))
            return [HandRow(HandName(*row[:4]), row[4]) for row in rows]

    def entries(self, name: HandName) -> list[bytes]:
        """A hand's entries, byte for byte; none if there is no such hand."""
        query = select(entry.c.data).join_from(hand, entry, hand.c.id == entry.c.hand_id)
        with self._database.reading() as connection:
            found = connection.execute(query.where(*_named(name)).order_by(entry.c.seq))
            return list(found.scalars())

    def log(self, name: HandName) -> bytes | None:
        """A hand's transcript so far, as a file; None if there is no such hand."""
        entries = self.entries(name)
        if not entries:
            return None
        return b'{"entries":[%b],"fairdeal":%d}' % (b",".join(entries), FORMAT_VERSION)

    def game(self, table_id: str) -> bytes | None:
        """A table's game so far, as a file of all its hands in order; None before the first."""
        query = select(hand.c.id, entry.c.data).join_from(hand, entry, hand.c.id == entry.c.hand_id)
        query = query.where(hand.c.table_id == table_id).order_by(hand.c.id, entry.c.seq)
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        hands = [
            b'{"entries":[%b]}' % b",".join(row.data for row in group)
            for _, group in itertools.groupby(rows, lambda row: row.id)
        ]
        if not hands:
            return None
        return b'{"fairdeal":%d,"hands":[%b]}' % (FORMAT_VERSION, b",".join(hands))

    # -- secrets ---------------------------------------------------------------------------------

    def secret(self, name: HandName) -> bytes | None:
        """A hand's secret while it runs, else None. Raises StoreError if it does not open."""
        with self._database.reading() as connection:
            query = _box(_hand_id(name).scalar_subquery())
            row = connection.execute(query).one_or_none()
        return None if row is None else self._unseal(name, Box(row.key_id, row.sealed))

    def _unseal(self, name: HandName, box: Box) -> bytes:
        try:
            return self._vault.open(box, _about(name))
        except VaultError as error:
            raise StoreError(f"the secret of {name} does not open: {error}") from None

    def reseal(self) -> int:
        """Seal under the vault's first key what lies under another; how many those were.

        Raises StoreError, with nothing changed, if one does not open.
        """
        query = select(*_NAME, secret.c.hand_id, secret.c.key_id, secret.c.sealed)
        query = query.join_from(hand, secret, hand.c.id == secret.c.hand_id)
        query = query.where(secret.c.key_id != self._vault.key_id)
        with self._database.writing() as connection:
            rows = connection.execute(query).all()
            for row in rows:
                name = HandName(*row[:4])
                plain = self._unseal(name, Box(row.key_id, row.sealed))
                box = self._vault.seal(plain, _about(name))._asdict()
                one = update(secret).where(secret.c.hand_id == row.hand_id)
                connection.execute(one.values(box))
        return len(rows)


# -- statements ----------------------------------------------------------------------------------

_NAME: Final = (hand.c.table_id, hand.c.game, hand.c.hand, hand.c.attempt)
_ROWS: Final = select(
    table.c.table_id,
    table.c.setup,
    table.c.state,
    table.c.made_at,
    table.c.owner,
    table.c.owner_url,
    table.c.lease_until,
).order_by(table.c.n)
_OPEN: Final = table.c.state != "over"
_FREE: Final = {"owner": None, "owner_url": None, "lease_until": 0}
_PARAMETERS: Final[tuple[BindParameter[Any], ...]] = tuple(
    bindparam(f"of_{column}") for column in HandName._fields
)
_HAND_ID: Final = (
    select(hand.c.id)
    .where(*(column == value for column, value in zip(_NAME, _PARAMETERS)))
    .scalar_subquery()
)
_NEW_HANDS: Final = insert(hand)
_NEW_SECRETS: Final = insert(secret).values(
    hand_id=_HAND_ID, key_id=bindparam("key_id"), sealed=bindparam("sealed")
)
# Entries go in by one statement, however many they are: after each row the writing thread would
# have to wait for the interpreter, which the thread that plays is loath to give away. `rows` is
# JSON, a row its hand's name, `seq`, and where in `data` the entry begins (from 1) and how long.
_NEW_ENTRIES: Final = {
    "sqlite": text("""
        INSERT INTO fairdeal_entry (hand_id, seq, data)
        SELECT
            (SELECT id FROM fairdeal_hand
                WHERE table_id = json_extract(row.value, '$[0]')
                AND game = json_extract(row.value, '$[1]')
                AND hand = json_extract(row.value, '$[2]')
                AND attempt = json_extract(row.value, '$[3]')),
            json_extract(row.value, '$[4]'),
            substr(:data, json_extract(row.value, '$[5]'), json_extract(row.value, '$[6]'))
        FROM json_each(:rows) AS row ORDER BY row.key
    """),
    "postgresql": text("""
        INSERT INTO fairdeal_entry (hand_id, seq, data)
        SELECT
            (SELECT id FROM fairdeal_hand
                WHERE table_id = row.value->>0 AND game = row.value->>1
                AND hand = CAST(row.value->>2 AS integer)
                AND attempt = CAST(row.value->>3 AS integer)),
            CAST(row.value->>4 AS integer),
            substr(
                CAST(:data AS bytea),
                CAST(row.value->>5 AS integer), CAST(row.value->>6 AS integer)
            )
        FROM json_array_elements(CAST(:rows AS json)) WITH ORDINALITY AS row(value, key)
        ORDER BY row.key
    """),
}
_FORMER_SECRETS: Final = delete(secret).where(
    secret.c.hand_id.in_(select(hand.c.id).where(hand.c.table_id == bindparam("of_table")))
)
_PLAYING: Final = (
    update(table).where(table.c.table_id == bindparam("of_table")).values(state="playing")
)


def _is(table_id: str) -> Any:
    return table.c.table_id == table_id


def _unowned(now: int) -> Any:
    return or_(table.c.owner.is_(None), table.c.lease_until <= now)


def _named(name: HandName) -> list[Any]:
    return [column == value for column, value in zip(_NAME, name)]


def _hand_id(name: HandName) -> Select[Any]:
    return select(hand.c.id).where(*_named(name))


def _box(hand_id: Any) -> Select[Any]:
    return select(secret.c.key_id, secret.c.sealed).where(secret.c.hand_id == hand_id)


def _row(connection: Connection, table_id: str) -> TableRow | None:
    row = connection.execute(_ROWS.where(_is(table_id))).one_or_none()
    return None if row is None else TableRow(*row)


def _about(name: HandName) -> bytes:
    """What a hand's box is bound to."""
    return frame("fairdeal/v1/store", name.table, name.game, str(name.hand), str(name.attempt))


def _of(name: HandName) -> dict[str, Any]:
    return {f"of_{column}": value for column, value in zip(HandName._fields, name)}


def _first(write: Write) -> int:
    return write.first if isinstance(write, Append) else 0


def _from(connection: Connection, hand_id: int, first: int, count: int) -> list[bytes]:
    """At most `count` entries from `first` on."""
    query = select(entry.c.data).where(entry.c.hand_id == hand_id)
    query = query.where(entry.c.seq >= first, entry.c.seq < first + count).order_by(entry.c.seq)
    return list(connection.execute(query).scalars())


def _insert(connection: Connection, writes: Sequence[Write], sealed: Sequence[Box | None]) -> None:
    """Put writes in, each kind of row at once. Raises IntegrityError if one has no place."""
    begun = [one.name for one in writes if isinstance(one, Begin)]
    boxes = [
        {**_of(one.name), **box._asdict()} for one, box in zip(writes, sealed) if box is not None
    ]
    named = [dict(zip((column.name for column in _NAME), name)) for name in begun]
    tables = [{"of_table": one.table} for one in begun]
    for statement, parameters in (
        (_FORMER_SECRETS, tables),
        (_PLAYING, tables),
        (_NEW_HANDS, named),
        (_NEW_SECRETS, boxes),
    ):
        if parameters:
            connection.execute(statement, parameters)
    connection.execute(_NEW_ENTRIES[connection.dialect.name], _packed(writes))


def _packed(writes: Sequence[Write]) -> dict[str, str | bytes]:
    """The parameters of `_NEW_ENTRIES`."""
    rows: list[tuple[Any, ...]] = []
    at = 1
    for one in writes:
        for seq, data in enumerate(one.entries, _first(one)):
            rows.append((*one.name, seq, at, len(data)))
            at += len(data)
    data = b"".join(data for one in writes for data in one.entries)
    return {"rows": msgspec.json.encode(rows).decode(), "data": data}
