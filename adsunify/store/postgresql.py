"""PostgreSQL through asyncpg: a transaction per function, first come first served, finished even when cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from adsunify.errors import StoreError

from .clock import Clock
from .driver import Parameters, Result, Store, StoreFunction, translated

CONNECTIONS = 8
SERIALIZATION_FAILURE = "40001"
DEADLOCK = "40P01"
LOST = (OSError, TimeoutError)


def _again(error: DBAPIError, committing: bool) -> bool:
    """Whether the transaction surely left nothing behind and a second try may fare better."""
    if getattr(error.orig, "sqlstate", None) in (SERIALIZATION_FAILURE, DEADLOCK):
        return True
    return not committing and (error.connection_invalidated or "cached statement plan" in str(error.orig))


class PostgresStore(Store):
    """A PostgreSQL database, shared by any number of processes and machines."""

    def __init__(self, url: str, clock: Clock, connections: int = CONNECTIONS) -> None:
        import asyncpg

        self.clock = clock
        self._engine: AsyncEngine = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=lambda: asyncpg.connect(url),  # asyncpg reads libpq's URLs itself: sockets, sslmode, service
            pool_size=connections,
            max_overflow=0,
            hide_parameters=True,
        )
        # one snapshot for all statements of a read, as on SQLite; asyncpg says so in its BEGIN, at no extra cost
        self._reading = self._engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._gate = asyncio.Semaphore(connections)
        self._running: set[asyncio.Task[Any]] = set()
        self._open = True

    async def write(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        return await self._finished(self._transaction(True, function, args, kwargs))

    async def read(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        return await self._finished(self._transaction(False, function, args, kwargs))

    async def close(self) -> None:
        self._open = False
        if self._running:
            await asyncio.wait(set(self._running))
        await self._engine.dispose()

    async def _finished(self, work: Coroutine[Any, Any, Result]) -> Result:
        if not self._open:
            work.close()
            raise StoreError("The store is closed.")
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # a cancelled caller does not ask for it; that is no reason to complain

    async def _transaction(
        self, writing: bool, function: Callable[..., Result], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Result:
        engine = self._engine if writing else self._reading
        async with self._gate:
            for last in (False, True):
                committing = False
                try:
                    async with engine.connect() as connection:
                        result = await connection.run_sync(function, *args, **kwargs)
                        if writing:
                            committing = True
                            await connection.commit()
                            self.commits += 1
                        return result
                except DBAPIError as error:
                    if last or not _again(error, committing):
                        raise translated(error) from error
                except LOST as error:
                    raise StoreError(f"The database is not reachable: {type(error).__name__}.") from error
        raise AssertionError("unreachable")
