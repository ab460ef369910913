"""Everything that is stored goes through here: many tables' entries in one durable transaction.

A write returns when the store has it, and not before; nothing is broadcast until then. While the
store cannot be written (it is away, full, read-only) writes wait and are tried again in order.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from fairdeal.server.metrics import Metrics
from fairdeal.server.store import Store, StoreUnavailable, Write

_log = logging.getLogger("fairdeal.server")
_FIRST_WAIT: Final = 0.05
_LONGEST_WAIT: Final = 1.0
_BATCH: Final = 512
#: seconds between two transactions, in which many tables' entries come together
_GATHER: Final = 0.004

Results = Sequence[Exception | None]
_Waiting = tuple[Write, "asyncio.Future[None]"]


class Writer:
    """One thread that writes, in batches of whatever has come in meanwhile."""

    def __init__(self, store: Store, metrics: Metrics) -> None:
        self._store, self._metrics = store, metrics
        self._waiting: list[_Waiting] = []
        self._work = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "fairdeal-writer")
        #: why the last attempt failed, or nothing
        self.trouble = ""

    async def write(self, write: Write) -> None:
        """Return once it is durable. Raises StoreConflict if another process wrote there."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((write, done))
        self._work.set()
        await done

    async def flush(self, seconds: float = 5.0) -> None:
        """Wait for what waits, for so long at most."""
        waiting = [done for _, done in self._waiting]
        if waiting:
            await asyncio.wait(waiting, timeout=seconds)
        if self._waiting:
            _log.warning("writes are given up", extra={"writes": len(self._waiting)})

    def close(self) -> None:
        """End the thread, once `run` has ended."""
        self._thread.shutdown()

    async def run(self) -> None:
        """Write what comes, until this is cancelled."""
        loop, wait, ended = asyncio.get_running_loop(), _FIRST_WAIT, 0.0
        while True:
            if not self._waiting:
                self._work.clear()
                await self._work.wait()
            await asyncio.sleep(ended + _GATHER - loop.time())
            batch = self._waiting[:_BATCH]
            began = loop.time()
            results = await loop.run_in_executor(self._thread, self._attempt, batch)
            ended = loop.time()
            self._metrics.written.observe(ended - began)
            del self._waiting[: len(batch)]
            again = list(_answer(batch, results))
            self._waiting[:0] = again
            wait = await self._pause(wait, results) if again else self._fine()

    def _attempt(self, batch: list[_Waiting]) -> Results:
        try:
            return self._store.write([write for write, _ in batch])
        except Exception as error:  # noqa: BLE001 - it is each write's own answer
            return [error] * len(batch)

    async def _pause(self, wait: float, results: Results) -> float:
        trouble = next(str(one) for one in results if isinstance(one, StoreUnavailable))
        if not self.trouble:
            _log.error("the store cannot be written", extra={"reason": trouble})
        self.trouble = trouble
        self._metrics.store_failures.inc()
        await asyncio.sleep(wait)
        return min(2 * wait, _LONGEST_WAIT)

    def _fine(self) -> float:
        if self.trouble:
            _log.warning("the store can be written again")
        self.trouble = ""
        return _FIRST_WAIT


def _answer(batch: list[_Waiting], results: Results) -> list[_Waiting]:
    """Tell whoever waits; what must be tried again is returned."""
    again = []
    for (write, done), result in zip(batch, results, strict=True):
        if isinstance(result, StoreUnavailable):
            again.append((write, done))
        elif done.done():  # whoever wrote it does not wait any more
            continue
        elif result is None:
            done.set_result(None)
        else:
            done.set_exception(result)
    return again
