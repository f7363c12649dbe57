"""PostgreSQL through asyncpg: a transaction per function, first come first served, finished even when cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import asyncpg
from attrs import define
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from adsunify.errors import StoreError

from .clock import Clock
from .driver import Parameters, Result, Store, StoreFunction, translated

CONNECTIONS = 8
"""At most so many for writing, and as many for reading."""
SERIALIZATION_FAILURE = "40001"
DEADLOCK = "40P01"


@define
class _Try:
    """One transaction: how far it got. Begun, run and ended in one go, at the least cost of switching."""

    committing: bool = False

    def run(
        self, connection: Connection, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        with connection.begin() as transaction:
            result = function(connection, *args, **kwargs)
            self.committing = True
            transaction.commit()
        return result

    def left_nothing(self, error: DBAPIError | OSError) -> bool:
        """Whether the transaction surely left nothing behind, and a second try may fare better."""
        if isinstance(error, OSError):
            return not self.committing
        if getattr(error.orig, "sqlstate", None) in (SERIALIZATION_FAILURE, DEADLOCK):
            return True
        return not self.committing and (error.connection_invalidated or "cached statement plan" in str(error.orig))


class _Lane:
    """Connections that stay open, each serving one function at a time; the functions queue in their order."""

    def __init__(self, url: str, settings: dict[str, str], isolation: str) -> None:
        self._engine = create_async_engine(
            "postgresql+asyncpg://",
            # asyncpg reads libpq's URLs itself: socket directories, sslmode
            async_creator=lambda: asyncpg.connect(url, server_settings=settings),
            poolclass=NullPool,
            isolation_level=isolation,
            hide_parameters=True,
        )
        self._gate = asyncio.Semaphore(CONNECTIONS)
        self._idle: list[AsyncConnection] = []

    async def run(self, function: Callable[..., Result], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
        async with self._gate:
            try:
                result: Result = await self._twice(function, args, kwargs)
            except (DBAPIError, OSError) as error:
                raise translated(error) from error
            return result

    async def _twice(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        first = _Try()
        try:
            return await self._once(first, function, args, kwargs)
        except (DBAPIError, OSError) as error:
            if not first.left_nothing(error):
                raise
        return await self._once(_Try(), function, args, kwargs)

    async def _once(
        self, trial: _Try, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        connection = self._idle.pop() if self._idle else await self._connected()
        try:
            result = await connection.run_sync(trial.run, function, args, kwargs)
        except Exception as error:
            if connection.invalidated or isinstance(error, OSError):
                await _thrown_away(connection)
                await self.close()  # those that wait were lost with it
            else:
                self._idle.append(connection)  # rolled back, and as good as before
            raise
        except BaseException:
            await _thrown_away(connection)
            raise
        self._idle.append(connection)
        return result

    async def _connected(self) -> AsyncConnection:
        try:
            return await self._engine.connect()
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise StoreError(f"The database cannot be reached: {type(error).__name__}: {error}") from error

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().close()


async def _thrown_away(connection: AsyncConnection) -> None:
    await connection.invalidate()
    await connection.close()


class PostgresStore(Store):
    """A PostgreSQL database, shared by any number of processes and machines.

    A read is one statement after the other, each seeing what was committed before it.
    """

    def __init__(self, url: str, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self._writes = _Lane(url, {}, "READ COMMITTED")
        self._reads = _Lane(url, {"default_transaction_read_only": "on"}, "AUTOCOMMIT")
        self._running: set[asyncio.Task[Any]] = set()
        self._open = True

    async def _write(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        return await self._finished(self._committed(function, args, kwargs))

    async def read(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        return await self._finished(self._reads.run(function, args, kwargs))

    async def close(self) -> None:
        self._open = False
        if self._running:
            await asyncio.wait(set(self._running))
        await self._writes.close()
        await self._reads.close()

    async def _committed(
        self, function: Callable[..., Result], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Result:
        result = await self._writes.run(function, args, kwargs)
        self.commits += 1
        return result

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
