"""The store keeps what it said it keeps, on both databases, whatever is done to them."""

import contextlib
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import psycopg
import pytest
import sqlalchemy
from nacl.utils import random as random_bytes
from sqlalchemy.engine import make_url

from postgres import conninfo, require_own_postgres, require_postgres

import fairdeal
from fairdeal.server import database, schema
from fairdeal.server.database import Database, translated
from fairdeal.server.store import (
    Append,
    Begin,
    HandName,
    HandRow,
    Sitting,
    Store,
    StoreConflict,
    StoreError,
    StoreUnavailable,
    TableRow,
)
from fairdeal.server.vault import Box, Vault, VaultError, key_id
from fairdeal.whole_game import read_game, write_game

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
ONE = HandName("t", "g", 1, 1)
TWO = HandName("t", "g", 1, 2)
SECRET = b"the hand's seeds and salts"


def entry(seq, text="x"):
    return b'{"seq":%d,"text":"%b"}' % (seq, text.encode())


def entries(count, first=0):
    return [entry(seq) for seq in range(first, first + count)]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    return require_postgres().new_database()


@pytest.fixture
def lite(tmp_path):
    return f"sqlite:///{tmp_path}/store.db"


@contextlib.contextmanager
def opened(url, *keys, table="t", read_only=False):
    store = Store.open(url, Vault(keys or (KEY,)), read_only=read_only)
    try:
        if table and not read_only:
            store.create_table(table, b"{}", 1)
        yield store
    finally:
        store.close()


@pytest.fixture
def store(url):
    with opened(url) as store:
        yield store


@contextlib.contextmanager
def raw(url):
    """A connection past the store, in autocommit."""
    if url.startswith("sqlite"):
        connection = sqlite3.connect(path_of(url), isolation_level=None)
    else:
        connection = psycopg.connect(conninfo(url), autocommit=True)
    try:
        yield connection
    finally:
        connection.close()


def path_of(url):
    return make_url(url).database


def mode(path):
    return stat.S_IMODE(Path(path).stat().st_mode)


def names_of(rows):
    return [row.table for row in rows]


def texts(results):
    return [None if one is None else str(one) for one in results]


# -- logs --


def test_a_hand_is_written_and_read_back_byte_for_byte(store):
    assert (
        store.write([Begin(ONE, SECRET, entries(2)), Append(ONE, 2, entries(3, 2))]) == [None] * 2
    )
    assert store.write([Append(ONE, 5, [entry(5)]), Begin(TWO, b"2", entries(1))]) == [
        None,
        None,
    ]
    assert store.entries(ONE) == entries(6)
    assert store.log(ONE) == b'{"entries":[%b],"fairdeal":1}' % b",".join(entries(6))
    assert store.hands("t") == [HandRow(ONE, 6), HandRow(TWO, 1)]
    assert store.hands("u") == []
    assert store.game("t") == write_game([store.log(ONE), store.log(TWO)])
    assert read_game(store.game("t")) == [store.log(ONE), store.log(TWO)]


def test_what_is_not_there(store):
    assert store.entries(ONE) == []
    assert store.log(ONE) is store.secret(ONE) is store.game("t") is None
    assert store.write([]) == []
    with pytest.raises(ValueError, match="at least one entry"):
        store.write([Append(ONE, 0, [])])


def test_it_is_there_after_closing(url):
    with opened(url) as store:
        store.write([Begin(ONE, SECRET, entries(2))])
    with opened(url) as store:
        assert store.entries(ONE) == entries(2)
        assert store.secret(ONE) == SECRET


def test_hands_come_in_the_order_of_their_beginning(store):
    names = [HandName("t", "g", hand, attempt) for hand in (9, 10) for attempt in (1, 2)]
    store.write([Begin(name, SECRET, entries(1)) for name in names])
    assert [one.name for one in store.hands("t")] == names


# -- again, and against another --


def test_a_write_that_is_there_is_a_success(store):
    first = [Begin(ONE, SECRET, entries(2)), Append(ONE, 2, entries(2, 2))]
    store.write(first)
    assert store.write(first) == [None, None]
    last = Append(ONE, 4, [entry(4)])
    store.write([last])
    assert store.write([*first, last]) == [None] * 3
    assert store.entries(ONE) == entries(5)


def test_what_is_missing_of_a_write_is_added(store):
    store.write([Begin(ONE, SECRET, entries(2))])
    assert store.write([Begin(ONE, SECRET, entries(3)), Append(ONE, 1, entries(4, 1))]) == [
        None,
        None,
    ]
    assert store.hands("t") == [HandRow(ONE, 5)]


def test_a_conflict_leaves_the_others_in(store):
    store.write([Begin(ONE, SECRET, entries(2))])
    results = store.write(
        [
            Append(ONE, 1, [entry(1, "another")]),
            Append(ONE, 3, [entry(3)]),
            Append(HandName("t", "g", 7, 1), 0, [entry(0)]),
            Begin(HandName("nowhere", "g", 1, 1), SECRET, entries(1)),
            Begin(ONE, b"another secret", entries(2)),
            Append(ONE, 2, [entry(2)]),
            Begin(TWO, b"two", entries(1)),
            Append(TWO, -1, [entry(0)]),
        ]
    )
    assert texts(results) == [
        "hand 1, attempt 1 of game g at t has another entry there",
        "hand 1, attempt 1 of game g at t has no place for entry 3",
        "hand 7, attempt 1 of game g at t has not begun",
        "there is no table nowhere",
        "hand 1, attempt 1 of game g at t has another entry there",
        None,
        None,
        "hand 1, attempt 2 of game g at t has no place for entry -1",
    ]
    assert store.entries(ONE) == entries(3)
    assert store.entries(TWO) == entries(1)


def test_of_two_processes_at_one_place_the_second_has_a_conflict():
    url = require_postgres().new_database()
    with opened(url) as store, psycopg.connect(conninfo(url)) as rival:
        store.write([Begin(ONE, SECRET, entries(1))])
        rival.execute("INSERT INTO fairdeal_entry VALUES (1, 1, 'rival''s')")
        results = []
        thread = threading.Thread(
            target=lambda: results.extend(store.write([Append(ONE, 1, [entry(1)])]))
        )
        thread.start()
        time.sleep(0.2)
        assert results == []  # it waits for how the other ends
        rival.commit()
        thread.join()
        assert texts(results) == ["hand 1, attempt 1 of game g at t has another entry there"]


def test_who_loses_a_race_looks_again(store, monkeypatch):
    store.write([Begin(ONE, SECRET, entries(1))])
    real, calls = Store._one, []

    def raced(self, connection, write, sealed):
        calls.append(write)
        if len(calls) < 3:
            raise StoreConflict("it is there now")
        return real(self, connection, write, sealed)

    monkeypatch.setattr(Store, "_one", raced)
    assert store.write([Begin(ONE, SECRET, entries(1))]) == [None]

    def always_raced(*_):
        raise StoreConflict("it is there now")

    monkeypatch.setattr(Store, "_one", always_raced)
    with pytest.raises(StoreUnavailable, match="all the time"):
        store.write([Begin(ONE, SECRET, entries(1))])


# -- what the database itself refuses --

REFUSED = {
    "an entry changed": "UPDATE fairdeal_entry SET seq = 9",
    "an entry deleted": "DELETE FROM fairdeal_entry WHERE seq = 1",
    "a hand renamed": "UPDATE fairdeal_hand SET game = 'h'",
    "a hand deleted": "DELETE FROM fairdeal_hand",
    "a gap": "INSERT INTO fairdeal_entry (hand_id, seq, data) VALUES (1, 3, 'x')",
    "another entry": "INSERT INTO fairdeal_entry (hand_id, seq, data) VALUES (1, 1, 'x')",
    "before the first": "INSERT INTO fairdeal_entry (hand_id, seq, data) VALUES (1, -1, 'x')",
    "not from the first": "INSERT INTO fairdeal_entry (hand_id, seq, data) VALUES (4, 1, 'x')",
    "a second hand": "INSERT INTO fairdeal_hand (table_id, game, hand, attempt) VALUES ('t', 'g', 1, 1)",
}
SQLITE_REFUSED = {
    "an entry replaced": "INSERT OR REPLACE INTO fairdeal_entry VALUES (1, 1, 'x')",
    "an entry moved": "UPDATE OR REPLACE fairdeal_entry SET seq = 0 WHERE seq = 1",
    "a hand replaced": "INSERT OR REPLACE INTO fairdeal_hand VALUES (1, 't', 'g', 9, 1)",
    "a hand's name replaced": "REPLACE INTO fairdeal_hand VALUES (9, 't', 'g', 1, 1)",
}
POSTGRESQL_REFUSED = {
    "entries truncated": "TRUNCATE fairdeal_entry",
    "tables truncated": "TRUNCATE fairdeal_table CASCADE",
    "an entry put over": "INSERT INTO fairdeal_entry VALUES (1, 1, 'x')"
    " ON CONFLICT (hand_id, seq) DO UPDATE SET data = 'x'",
}


def statements(url):
    own = SQLITE_REFUSED if url.startswith("sqlite") else POSTGRESQL_REFUSED
    return [*REFUSED.items(), *own.items()]


def test_the_database_keeps_the_logs_by_itself(store, url):
    store.write([Begin(ONE, SECRET, entries(2))])
    store.write([Begin(HandName("t", "g", 2, 1), SECRET, entries(1))])
    store.write([Begin(HandName("t", "g", 3, 1), SECRET, entries(1))])
    with raw(url) as connection:
        before = connection.execute("SELECT * FROM fairdeal_entry ORDER BY 1, 2").fetchall()
        connection.execute(
            "INSERT INTO fairdeal_hand (table_id, game, hand, attempt) VALUES ('t', 'h', 1, 1)"
        )
        for what, statement in statements(url):
            with pytest.raises((sqlite3.IntegrityError, psycopg.IntegrityError)):
                connection.execute(statement)
                pytest.fail(what)
        assert connection.execute("SELECT * FROM fairdeal_entry ORDER BY 1, 2").fetchall() == before


# -- tables --


def test_tables_in_the_order_of_their_making(url):
    with opened(url, table=None) as store:
        for number, name in enumerate(("c", "a", "b")):
            store.create_table(name, b"{%d}" % number, number)
        store.create_table("a", b"{1}", 1)  # again
        for other in ((b"{2}", 1), (b"{1}", 2)):
            with pytest.raises(StoreConflict, match="there is another table a"):
                store.create_table("a", *other)
        assert store.table("a") == TableRow("a", b"{1}", "waiting", 1, None, None, 0)
        assert store.table("d") is None
        assert names_of(store.tables(None, 2)) == ["c", "a"]
        assert names_of(store.tables("a", 2)) == ["b"]
        assert names_of(store.tables("d", 2)) == []
        store.claim("a", "me", "http://me", 0, 10)
        store.finish("a")
        assert store.table("a") == TableRow("a", b"{1}", "over", 1, None, None, 0)
        assert names_of(store.orphans(0)) == ["c", "b"]


def test_a_table_taken_away_between_is_a_conflict(store, monkeypatch):
    monkeypatch.setattr(Store, "table", lambda *_: None)
    with pytest.raises(StoreConflict):
        store.create_table("t", b"{}", 1)


def test_people_sit(store):
    store.sit("t", 1, "aa", "Ana", 5)
    store.sit("t", 0, "bb", "Ben", 6)
    store.sit("t", 1, "aa", "Anna", 7)
    assert store.seats("t") == [Sitting(0, "bb", "Ben"), Sitting(1, "aa", "Ana")]
    for taken in ((1, "cc"), (2, "aa")):
        with pytest.raises(StoreConflict, match="is taken"):
            store.sit("t", *taken, "Cleo", 8)
    assert store.seats("u") == []


def test_a_table_is_one_owner_s_until_its_lease_ends(store):
    mine = store.claim("t", "a", "http://a", 1000, 100)
    assert mine == TableRow("t", b"{}", "waiting", 1, "a", "http://a", 1100)
    assert store.claim("t", "b", "http://b", 1099, 100) == mine
    assert store.renew("b", 1050, 100) == []
    assert store.renew("a", 1050, 100) == ["t"]
    assert store.orphans(1149) == []
    assert [one.table for one in store.orphans(1150)] == ["t"]
    assert store.claim("t", "b", "http://b", 1150, 100).owner == "b"
    assert store.renew("a", 1151, 100) == []
    assert store.claim("t", "b", "http://b", 1200, 100).lease_until == 1300
    store.release("a")
    assert store.table("t").owner == "b"
    store.release("b")
    assert store.table("t") == TableRow("t", b"{}", "waiting", 1, None, None, 0)
    assert [one.table for one in store.orphans(0)] == ["t"]
    store.finish("t")
    assert store.orphans(0) == []
    with pytest.raises(StoreError, match="there is no table u"):
        store.claim("u", "a", "http://a", 0, 1)


def test_what_a_dead_server_left_in_a_file_is_free_at_once(lite):
    with opened(lite) as store:
        store.claim("t", "a", "http://a", 0, 10**12)
    with opened(lite, table=None) as store:
        assert store.table("t").owner is None


def test_a_lease_in_a_shared_database_outlives_another_s_start():
    url = require_postgres().new_database()
    with opened(url) as store, opened(url, table=None) as other:
        store.claim("t", "a", "http://a", 0, 1000)
        assert other.table("t").owner == "a"


CLAIMING = """
import sys
from fairdeal.server.store import Store
from fairdeal.server.vault import Vault
url, owner = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
store = Store.open(url, Vault([b"k" * 32]))
for n in range(40):
    store.create_table(f"t{n}", b"{}", 1)
got = [n for n in range(40) if store.claim(f"t{n}", owner, "http://" + owner, 0, 1000).owner == owner]
print(*got, flush=True)
store.close()
"""


def program(text, *args):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", text, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(fairdeal.__file__).parent.parent)},
    )


def test_two_processes_start_at_once_and_share_the_tables():
    url = require_postgres().new_database()
    both = [program(CLAIMING, url, owner) for owner in ("a", "b")]
    assert [one.stdout.readline() for one in both] == ["ready\n"] * 2
    for one in both:
        one.stdin.write("go\n")
        one.stdin.flush()
    got = [one.communicate(timeout=60)[0] for one in both]
    assert [one.returncode for one in both] == [0, 0]
    assert sorted(int(n) for part in got for n in part.split()) == list(range(40))


# -- secrets --


def test_secrets_are_sealed_at_rest_and_go_with_the_next_hand_or_the_game(url):
    secret = random_bytes(600)
    with opened(url) as store:
        store.write([Begin(ONE, secret, entries(1))])
        assert store.secret(ONE) == secret
        with raw(url) as connection:
            rows = connection.execute("SELECT key_id, sealed FROM fairdeal_secret").fetchall()
            assert [row[0] for row in rows] == [key_id(KEY)]
            sealed = rows[0][1]
        held = bytes_on_disk(url)
        assert sealed[30:60] in held
        assert all(part not in held for part in (secret[:16], secret[300:316], KEY))
        store.write([Append(ONE, 1, [entry(1)])])
        assert store.secret(ONE) == secret
        assert store.table("t").state == "playing"
        store.write([Begin(TWO, b"2", entries(1))])
        assert (store.secret(ONE), store.secret(TWO)) == (None, b"2")
        store.finish("t")
        assert store.secret(TWO) is None
        with raw(url) as connection:
            assert not connection.execute("SELECT * FROM fairdeal_secret").fetchall()
    if url.startswith("sqlite"):
        assert sealed[30:60] not in bytes_on_disk(url)  # overwritten, not only unlinked


def bytes_on_disk(url):
    if url.startswith("sqlite"):
        path = Path(path_of(url))
        return b"".join(one.read_bytes() for one in path.parent.glob(path.name + "*"))
    folder = require_own_postgres().folder / "data" / "pg_wal"
    return b"".join(one.read_bytes() for one in folder.iterdir() if one.is_file())


def test_keys_are_rotated(url):
    with opened(url) as store:
        store.write([Begin(ONE, SECRET, entries(1)), Begin(TWO, b"two", entries(1))])
    with opened(url, OTHER_KEY, table=None) as store:
        with pytest.raises(StoreError) as caught:
            store.secret(ONE)
        assert str(caught.value) == (
            "the secret of hand 1, attempt 1 of game g at t does not open: it is sealed under the"
            f" key {key_id(KEY)}, which is not here"
        )
        with pytest.raises(StoreError):
            store.reseal()
    with opened(url, OTHER_KEY, KEY, table=None) as store:
        assert store.secret(TWO) == b"two"
        assert store.reseal() == 2
        assert store.reseal() == 0
    with opened(url, OTHER_KEY, table=None) as store:
        assert store.secret(ONE) == SECRET


def test_a_box_in_another_hand_s_place_does_not_open(store, url):
    store.write([Begin(ONE, SECRET, entries(1)), Begin(TWO, b"two", entries(1))])
    with raw(url) as connection:
        connection.execute(
            "UPDATE fairdeal_secret SET sealed ="
            " (SELECT sealed FROM fairdeal_secret WHERE hand_id = 1) WHERE hand_id = 2"
        )
    assert store.secret(ONE) == SECRET
    with pytest.raises(StoreError) as caught:
        store.secret(TWO)
    assert str(caught.value) == (
        "the secret of hand 1, attempt 2 of game g at t does not open:"
        " the box is damaged, or belongs elsewhere"
    )


def test_the_vault():
    vault = Vault([KEY, OTHER_KEY])
    box = vault.seal(SECRET, b"here")
    assert vault.seal(SECRET, b"here") != box
    assert vault.open(box, b"here") == Vault([OTHER_KEY, KEY]).open(box, b"here") == SECRET
    assert SECRET not in box.sealed
    for wrong, about in (
        (box, b"there"),
        (Box(key_id(OTHER_KEY), box.sealed), b"here"),
        (Box(box.key_id, box.sealed[:-1]), b"here"),
        (Box(box.key_id, b""), b"here"),
        (Box("0" * 16, box.sealed), b"here"),
    ):
        with pytest.raises(VaultError) as caught:
            vault.open(wrong, about)
        assert SECRET.decode() not in str(caught.value)
    with pytest.raises(VaultError, match="no key"):
        Vault([]).seal(SECRET, b"here")
    with pytest.raises(ValueError, match="32 bytes"):
        Vault([KEY, b"short"])


def test_secrets_do_not_show():
    shown = [Vault([KEY]), Begin(ONE, SECRET, entries(1))]
    assert [str(one) for one in shown] == [
        f"Vault(key_id={key_id(KEY)})",
        "Begin(hand 1, attempt 1 of game g at t, 1 entries)",
    ]
    assert not any(KEY.decode() in repr(one) or SECRET.decode() in repr(one) for one in shown)


# -- schema --


def test_a_next_version_is_one_more_step(url, monkeypatch):
    with opened(url) as store:
        store.write([Begin(ONE, SECRET, entries(2))])

    def step(connection):
        connection.exec_driver_sql("CREATE TABLE fairdeal_more (x integer)")

    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, step))
    with pytest.raises(StoreError, match="of an older fairdeal"):
        Store.open(url, Vault([]), read_only=True)
    for _ in range(2):
        with opened(url, table=None) as store, raw(url) as connection:
            assert store.entries(ONE) == entries(2)
            assert connection.execute("SELECT * FROM fairdeal_more").fetchall() == []
            assert connection.execute("SELECT * FROM fairdeal_schema").fetchall() == [(2,)]
    monkeypatch.undo()
    for read_only in (False, True):
        with pytest.raises(
            StoreError, match=r"newer fairdeal: expected at most version 1 .* found 2"
        ):
            Store.open(url, Vault([KEY]), read_only=read_only)


def test_a_step_that_fails_leaves_the_version_before(url, monkeypatch):
    with opened(url) as store:
        store.write([Begin(ONE, SECRET, entries(2))])

    def broken(connection):
        connection.exec_driver_sql("CREATE TABLE fairdeal_more (x integer)")
        connection.exec_driver_sql("CREATE TABLE fairdeal_hand (x integer)")

    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, broken))
    with pytest.raises(StoreError, match="the database refuses"):
        Store.open(url, Vault([KEY]))
    monkeypatch.undo()
    with opened(url, table=None) as store:
        assert store.entries(ONE) == entries(2)


def test_a_schema_without_a_version_is_not_ours(url):
    with raw(url) as connection:
        connection.execute("CREATE TABLE fairdeal_schema (version integer)")
    with pytest.raises(StoreError, match="its schema has no version"):
        Store.open(url, Vault([KEY]))


@pytest.mark.parametrize("kind", ["database", "text"])
def test_another_s_file_is_left_as_it_is(lite, kind):
    path = Path(path_of(lite))
    if kind == "database":
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE somebody_s (x)")
    else:
        path.write_bytes(b"a letter to somebody, longer than a header of SQLite's " * 20)
    path.chmod(0o644)
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(StoreError, match="no store of fairdeal's"):
            Store.open(lite, Vault([KEY]), read_only=read_only)
    assert path.read_bytes() == before
    assert mode(path) == 0o644


def test_a_shared_postgresql_database_may_hold_more():
    url = require_postgres().new_database()
    with raw(url) as connection:
        connection.execute("CREATE TABLE somebody_s (x integer)")
    with opened(url) as store:
        assert store.table("t") is not None


def test_a_damaged_file_is_said_to_be_damaged(lite):
    with opened(lite) as store:
        store.write([Begin(HandName("t", "g", n, 1), SECRET, [b"x" * 900] * 9) for n in range(9)])
    path = Path(path_of(lite))
    data = bytearray(path.read_bytes())
    data[2 * 4096 :] = b"\xff" * (len(data) - 2 * 4096)
    path.write_bytes(data)
    with pytest.raises(StoreError, match="damaged"), opened(lite) as store:
        store.game("t")


# -- opening --


def test_urls():
    for wrong in (
        "nonsense",
        "mysql://u:hidden@h/d",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite+pysqlite:///x.db",
        "postgresql+asyncpg://u:hidden@h/d",
    ):
        with pytest.raises(StoreError, match="URL must be") as caught:
            Store.open(wrong, Vault([KEY]))
        assert "hidden" not in str(caught.value)
    with pytest.raises(ValueError, match="needs a key"):
        Store.open("sqlite:///x.db", Vault([]))


def test_all_of_postgresql_s_names_are_taken():
    url = require_postgres().new_database()
    for scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        plain = make_url(url).set(drivername=scheme)
        Store.open(plain.render_as_string(hide_password=False), Vault([KEY])).close()


def test_a_server_alone_has_the_file(lite, monkeypatch):
    with opened(lite) as store:
        store.write([Begin(ONE, SECRET, entries(1))])
        with pytest.raises(StoreError, match="another server has this store"):
            Store.open(lite, Vault([KEY]))
        path = Path(path_of(lite))
        other = path.with_name("other.db")
        other.symlink_to(path)
        with pytest.raises(StoreError, match="another server has this store"):
            Store.open(f"sqlite:///{other}", Vault([KEY]))
        with contextlib.closing(Store.open(lite, Vault([]), read_only=True)) as reader:
            assert reader.entries(ONE) == entries(1)
            store.write([Append(ONE, 1, [entry(1)])])
            assert reader.entries(ONE) == entries(2)
    with opened(lite, table=None) as store:
        assert store.entries(ONE) == entries(2)


def test_who_only_reads_changes_nothing(url):
    with pytest.raises(StoreError, match="no such file|or none"):
        Store.open(url, Vault([]), read_only=True)
    if url.startswith("sqlite"):
        assert not Path(path_of(url)).exists()
    with opened(url) as store:
        store.write([Begin(ONE, SECRET, entries(1))])
        store.claim("t", "a", "http://a", 0, 1000)
        with opened(url, read_only=True) as reader:
            assert reader.secret(ONE) == SECRET
            with pytest.raises(StoreUnavailable, match=r"read-only|ReadOnlySqlTransaction"):
                reader.write([Append(ONE, 1, [entry(1)])])
        with contextlib.closing(Store.open(url, Vault([]), read_only=True)) as reader:
            assert reader.table("t").owner == "a"
            with pytest.raises(StoreError, match="not here"):
                reader.secret(ONE)


def test_a_file_is_its_owner_s_alone(lite):
    path = Path(path_of(lite))
    before = os.umask(0)
    try:
        with opened(lite) as store:
            store.write([Begin(ONE, SECRET, entries(1))])
            names = ("store.db", "store.db-wal", "store.db-shm", "store.db.lock")
            assert [mode(path.with_name(name)) for name in names] == [0o600] * 4
            path.chmod(0o644)
    finally:
        os.umask(before)
    with opened(lite, table=None):
        assert mode(path) == 0o600


def test_sqlite_is_set_to_keep_and_to_forget(lite):
    with opened(lite) as store, store._database.reading() as connection:
        for pragma, value in (
            ("journal_mode", "wal"),
            ("synchronous", 2),
            ("foreign_keys", 1),
            ("secure_delete", 1),
            ("busy_timeout", 5000),
        ):
            assert connection.exec_driver_sql(f"PRAGMA {pragma}").scalar() == value, pragma


def test_postgresql_is_set_to_keep():
    url = require_postgres().new_database()
    with raw(url) as connection:
        name = make_url(url).database
        connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    with opened(url) as store, store._database.writing() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"


def test_a_place_where_no_file_can_be(tmp_path):
    with pytest.raises(StoreUnavailable, match="no such file or directory"):
        Store.open(f"sqlite:///{tmp_path}/missing/store.db", Vault([KEY]))


def test_an_opening_that_fails_late_gives_the_lock_back(lite, monkeypatch):
    monkeypatch.setattr(Database, "writing", fails_after(Database.writing, 1))
    with pytest.raises(StoreUnavailable, match="just now"):
        Store.open(lite, Vault([KEY]))
    monkeypatch.undo()
    Store.open(lite, Vault([KEY])).close()


def fails_after(real, good):
    calls = iter([True] * good)

    def maybe(self):
        if not next(calls, False):
            raise StoreUnavailable("just now")
        return real(self)

    return maybe


# -- what passes --


def test_a_full_disk_passes(lite):
    with opened(lite) as store:
        store.write([Begin(ONE, SECRET, entries(1))])
        limit(store, 1)  # as many as there are
        big = [Append(ONE, 1, [b"x" * 100_000])]
        for writes in (big, [Begin(ONE, SECRET, entries(1)), *big]):
            with pytest.raises(StoreUnavailable, match="the disk is full"):
                store.write(writes)
            assert store.entries(ONE) == entries(1)
        limit(store, 1 << 30)
        assert store.write(big) == [None]


def limit(store, pages):
    with store._database.reading() as connection:
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")


def test_a_read_only_file_passes(lite):
    with opened(lite) as store:
        query_only(store, 1)
        with pytest.raises(StoreUnavailable, match="the database is read-only"):
            store.write([Begin(ONE, SECRET, entries(1))])
        query_only(store, 0)
        assert store.write([Begin(ONE, SECRET, entries(1))]) == [None]


def query_only(store, value):
    with store._database.reading() as connection:
        connection.exec_driver_sql(f"PRAGMA query_only={value}")


def test_a_read_only_database_passes():
    url = require_postgres().new_database()
    name = make_url(url).database
    with opened(url) as store:
        require_postgres().execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        store._database._engine.dispose()  # the setting is for connections made from now on
        with pytest.raises(StoreUnavailable, match="ReadOnlySqlTransaction"):
            store.write([Begin(ONE, SECRET, entries(1))])
        assert store.table("t") is not None


def test_a_lock_that_another_holds_passes(url, monkeypatch):
    monkeypatch.setattr(database, "_LOCK_WAIT", 0.1)
    lite = url.startswith("sqlite")
    with opened(url) as store, raw(url) as other:
        other.execute("BEGIN IMMEDIATE" if lite else "BEGIN")
        if not lite:
            other.execute("LOCK TABLE fairdeal_hand")
        with pytest.raises(StoreUnavailable, match=r"locked|LockNotAvailable"):
            store.write([Begin(ONE, SECRET, entries(1))])
        other.execute("ROLLBACK")
        assert store.write([Begin(ONE, SECRET, entries(1))]) == [None]


def test_postgresql_may_stop_and_start():
    server = require_own_postgres()
    url = server.new_database()
    with opened(url) as store:
        store.write([Begin(ONE, SECRET, entries(1))])
        for end, seq in ((server.stop, 1), (server.kill, 2)):
            end()
            try:
                with pytest.raises(StoreUnavailable) as caught:
                    store.write([Append(ONE, seq, [entry(seq)])])
                assert "\n" not in str(caught.value)
                with pytest.raises(StoreUnavailable):
                    store.table("t")
            finally:
                server.start()
            assert store.write([Append(ONE, seq, [entry(seq)])]) == [None]
        assert store.entries(ONE) == entries(3)


def test_a_connection_lost_in_a_transaction_passes():
    server = require_postgres()
    url = server.new_database()
    with opened(url) as store:
        with pytest.raises(StoreUnavailable), store._database.writing() as connection:
            pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
            server.execute(f"SELECT pg_terminate_backend({pid})")
            connection.exec_driver_sql("SELECT 1")
        assert store.write([Begin(ONE, SECRET, entries(1))]) == [None]


def test_a_password_does_not_show():
    url = "postgresql://ana:hidden@127.0.0.1:1/hidden"
    with pytest.raises(StoreUnavailable) as caught:
        Store.open(url, Vault([KEY]))
    assert "hidden" not in str(caught.value)
    assert caught.value.__cause__ is None
    with pytest.raises(StoreUnavailable):
        Store.open("postgresql://ana@127.0.0.1:1/d", Vault([KEY]))


def test_errors_tell_what_passes():
    def of(orig):
        return translated(sqlalchemy.exc.DBAPIError("SQL", {}, orig), None)

    assert str(of(psycopg.errors.DiskFull("row (1)"))) == (
        "the database is not available: DiskFull (53100)"
    )
    assert type(of(psycopg.errors.DeadlockDetected())) is StoreUnavailable
    broken = of(psycopg.errors.UndefinedTable("row (1)"))
    assert type(broken) is StoreError
    assert str(broken) == "the database refuses: UndefinedTable (42P01)"
    assert type(of(sqlite3.OperationalError("odd"))) is StoreError
    busy = translated(sqlalchemy.exc.TimeoutError("pool"), None)
    assert type(busy) is StoreUnavailable
    assert str(busy) == "the database was not asked: TimeoutError"


# -- threads and crashes --


def test_readers_read_while_one_writes(store):
    store.write([Begin(ONE, SECRET, entries(1))])
    seen, ended = [], threading.Event()

    def read():
        while not ended.is_set():
            seen.append(len(store.entries(ONE)))

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for seq in range(1, 100):
        assert store.write([Append(ONE, seq, [entry(seq)])]) == [None]
    ended.set()
    for thread in threads:
        thread.join()
    assert set(seen) <= set(range(1, 101))
    assert store.entries(ONE) == entries(100)


WRITING = """
import sys
from fairdeal.server.store import Append, HandName, Store
from fairdeal.server.vault import Vault
name = HandName("t", "g", 1, 1)
store = Store.open(sys.argv[1], Vault([b"k" * 32]))
seq = len(store.entries(name))
while True:
    assert store.write([Append(name, seq, [b'{"seq":%d,"text":"x"}' % seq])]) == [None]
    seq += 1
    print(seq, flush=True)
"""


def test_nothing_is_lost_with_a_killed_writer(url):
    with opened(url) as store:
        store.write([Begin(ONE, SECRET, entries(1))])
    for after in (1, 7, 40):
        writer = program(WRITING, url)
        for _ in range(after):
            said = writer.stdout.readline()
        writer.kill()
        said = (said + writer.communicate(timeout=60)[0]).split("\n")
        said = int([line for line in said if line][-1])
        with opened(url, table=None) as store:
            there = store.entries(ONE)
            assert len(there) in (said, said + 1)
            assert there == entries(len(there))
            assert store.secret(ONE) == SECRET


def test_a_thousand_appends_are_one_short_transaction(lite):
    with opened(lite) as store:
        store.write([Begin(ONE, SECRET, entries(1))])
        times = []
        for first in range(1, 3001, 1000):
            writes = [Append(ONE, seq, [b"x" * 600]) for seq in range(first, first + 1000)]
            start = time.process_time()
            assert store.write(writes) == [None] * 1000
            times.append(time.process_time() - start)
        assert min(times) < 0.25  # 0.02 on an idle machine; some are slow


# -- the tests' own server --


def test_a_missing_postgresql_fails_in_ci_and_is_skipped_elsewhere(monkeypatch):
    monkeypatch.setattr("postgres.postgres", lambda: None)
    monkeypatch.setenv("CI", "1")
    with pytest.raises(pytest.fail.Exception):
        require_postgres()
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception):
        require_postgres()


def test_who_lost_a_table_writes_nothing_more_there():
    url = require_postgres().new_database()
    with opened(url) as store:
        store.create_table("u", b"{}", 1)
        store.owner = "a"
        for name in ("t", "u"):
            store.claim(name, "a", "", 0, 10)
        other = HandName("u", "g", 1, 1)
        assert store.write([Begin(ONE, SECRET, entries(1)), Begin(other, SECRET, entries(1))]) == [
            None,
            None,
        ]
        store.claim("t", "b", "", 10, 10)
        results = store.write([Append(ONE, 1, [entry(1)]), Append(other, 1, [entry(1)])])
        assert texts(results) == ["another process has table t", None]
        assert (store.entries(ONE), store.entries(other)) == (entries(1), entries(2))
