"""All tables that one process holds. A table belongs to one process at a time.

A process that has a table says so to the store again and again; if it falls silent, another takes
the table over where the log stands. Two that write to one table are told apart by the store: only
one entry has a place. So a lease decides who answers, and never what is true.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from fairdeal.dealer import Dealer
from fairdeal.errors import FairdealError
from fairdeal.games.base import Policy
from fairdeal.games.policies import POLICIES
from fairdeal.log import read_log
from fairdeal.messages import Close, Open, Person, Replace
from fairdeal.server.live import LiveTable, RefusedError, now_ms
from fairdeal.server.metrics import Metrics
from fairdeal.server.options import Options
from fairdeal.server.setup import Course, Kept, described, read_kept, read_setup
from fairdeal.server.store import Store, StoreError, TableRow
from fairdeal.server.writer import Writer
from fairdeal.signing import SigningKey

_log = logging.getLogger("fairdeal.server")
_PAGE: Final = 100
#: seconds for a table that is being resumed, as the server stops
_LOADING: Final = 5.0
T = TypeVar("T")


class ElsewhereError(Exception):
    """Another process has the table; `url` is its address, if it gave one."""

    def __init__(self, url: str | None) -> None:
        super().__init__(url or "")
        self.url = url


class Hall:
    """One process of a server."""

    def __init__(
        self, store: Store, keys: Sequence[SigningKey], options: Options, *, url: str | None = None,
        policies: Mapping[str, Policy] = POLICIES,
    ) -> None:  # fmt: skip
        #: by their public keys; the first opens new tables, all play on those that they opened
        self.keys = {one.public.hex(): one for one in keys}
        self.options, self.policies, self.url = options, policies, url
        self.metrics = Metrics()
        self.writer = Writer(store, self.metrics)
        self._store = store
        #: a name of this process, for leases
        self._owner = store.owner = secrets.token_hex(8)
        self._tables: dict[str, asyncio.Task[LiveTable]] = {}
        self.metrics.tables.set_function(lambda: len(self._tables))

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """While this is entered, tables are played; afterwards every hand can be resumed."""
        tasks = [asyncio.create_task(self.writer.run()), asyncio.create_task(self._keep())]
        try:
            yield
        finally:
            await self._let_go()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.writer.close()
            self._store.close()

    async def _let_go(self) -> None:
        """Drop all tables, and leave them to whoever comes."""
        if loading := [one for one in self._tables.values() if not one.done()]:
            await asyncio.wait(loading, timeout=_LOADING)  # one may wait for the store
            for one in loading:
                one.cancel()
        for table in filter(None, map(self._here, list(self._tables))):
            table.drop("the server stops")
        await self.writer.flush()
        with contextlib.suppress(StoreError):
            await self.stored(lambda store: store.release(self._owner))

    async def stored(self, ask: Callable[[Store], T]) -> T:
        """Ask the store in a thread. Raises what it raises."""
        return await asyncio.to_thread(ask, self._store)

    # -- tables --

    async def make(self, body: bytes) -> dict[str, Any]:
        """Open a table by a request's body. Raises MalformedError, RefusedError."""
        kept = Kept(setup=read_setup(body), server_key=next(iter(self.keys)))
        if len(self._tables) >= self.options.max_tables:
            raise RefusedError("full", "this server has as many tables as it may")
        name = secrets.token_hex(8)
        await self.stored(lambda store: store.create_table(name, kept.encoded(), now_ms()))
        table = await self.find(name)
        _log.info("a table", extra={"table": name, "rules": kept.setup.rules})
        return table.description()

    async def find(self, name: str) -> LiveTable:
        """The table, which this process holds. Raises RefusedError, ElsewhereError, StoreError."""
        task = self._tables.get(name)
        if task is None:
            task = self._tables[name] = asyncio.create_task(self._load(name))
            task.add_done_callback(lambda done: self._loaded(name, done))
        return await asyncio.shield(task)

    def _loaded(self, name: str, task: asyncio.Task[LiveTable]) -> None:
        if task.cancelled() or task.exception() is not None:
            self._tables.pop(name, None)

    def forget(self, table: LiveTable) -> None:
        """The table is over, or another's."""
        if self._here(table.name) is table:
            del self._tables[table.name]

    def _here(self, name: str) -> LiveTable | None:
        """The table, if this process has it by now."""
        task = self._tables.get(name)
        loaded = task is not None and task.done() and not task.cancelled() and not task.exception()
        return task.result() if task is not None and loaded else None

    async def _load(self, name: str) -> LiveTable:
        row = await self.stored(lambda store: store.table(name))
        if row is None:
            raise RefusedError("no-table", "there is no such table")
        if row.state == "over":
            raise RefusedError("over", "the game is over")
        self._key_of(row)  # a table that this process cannot play is left to who can
        url = self.url or ""
        row = await self.stored(
            lambda store: store.claim(name, self._owner, url, now_ms(), self._lease_ms)
        )
        if row.owner != self._owner:
            # one that was killed at this address has its tables a while yet: nobody is sent there
            raise ElsewhereError(row.owner_url if row.owner_url != self.url else None)
        table = await self.stored(lambda store: self._resumed(store, row))
        await table.start()
        return table

    def _resumed(self, store: Store, row: TableRow) -> LiveTable:
        people = [Person(key=key, name=name) for _, key, name in store.seats(row.table)]
        kept, hands, dealer = read_kept(row.setup), store.hands(row.table), None
        key = self._key_of(row)
        if hands:
            last = hands[-1].name
            secret = store.secret(last)
            if secret is None:
                raise StoreError(f"the secret of the last hand of table {row.table} is not there")
            dealer = Dealer.resume(store.log(last) or b"", secret, key, policies=self.policies)
        return LiveTable(self, row.table, kept, people, dealer)

    def _key_of(self, row: TableRow) -> SigningKey:
        name = read_kept(row.setup).server_key
        if name not in self.keys:
            raise StoreError(f"table {row.table} was opened under the key {name}, "
                             "which this server does not have")  # fmt: skip
        return self.keys[name]

    # -- what anybody may read --

    async def described(self, name: str) -> dict[str, Any]:
        """TABLE of a table, whoever has it. Raises RefusedError."""
        if table := self._here(name):
            return table.description()
        return await self.stored(lambda store: self._described(store, name))

    def _described(self, store: Store, name: str) -> dict[str, Any]:
        row = store.table(name)
        if row is None:
            raise RefusedError("no-table", "there is no such table")
        people = [Person(key=key, name=one) for _, key, one in store.seats(name)]
        hands = store.hands(name)
        log = store.log(hands[-1].name) if hands else None
        course = _course(row.state, log) if log else Course(row.state)
        return described(name, read_kept(row.setup), people, course)

    async def listed(self, after: str | None) -> list[dict[str, Any]]:
        """TABLE of at most a page of tables."""
        rows = await self.stored(lambda store: store.tables(after, _PAGE))
        return [await self.described(row.table) for row in rows]

    # -- leases --

    @property
    def _lease_ms(self) -> int:
        return int(1000 * self.options.lease)

    async def _keep(self) -> None:
        """Hold what is ours, and take over what nobody holds; for as long as this process lives."""
        while True:
            try:
                held = [one for one in map(self._here, list(self._tables)) if one]
                mine = await self.stored(lambda s: s.renew(self._owner, now_ms(), self._lease_ms))
                for table in held:
                    if table.name not in mine and self._here(table.name) is table:
                        table.drop("another process has this table")
                free = await self.stored(lambda s: s.orphans(now_ms()))
                for name in [*mine, *(row.table for row in free)]:
                    await self._take(name)
            except StoreError as error:
                _log.warning("the store does not answer", extra={"reason": str(error)})
            await asyncio.sleep(self.options.lease / 3)

    async def _take(self, name: str) -> None:
        """Hold a table, if that can be; one that cannot be resumed hides no other."""
        if name in self._tables or len(self._tables) >= self.options.max_tables:
            return
        try:
            await self.find(name)
        except (RefusedError, ElsewhereError):
            pass
        except FairdealError as error:
            _log.error("a table cannot be resumed", extra={"table": name, "reason": str(error)})
        except Exception:  # noqa: BLE001 - a fault of ours at one table ends no other
            _log.exception("a table cannot be resumed", extra={"table": name})


def _course(state: str, data: bytes) -> Course:
    """How far the last hand has come, by its stored log."""
    bodies = [one.message.body for one in read_log(data).entries]
    opens = (one for one in bodies if isinstance(one, Open))
    closes = (one for one in bodies if isinstance(one, Close))
    replaced = [one.seat for one in bodies if isinstance(one, Replace)]
    return Course(state, next(opens, None), next(closes, None), replaced)
