"""PostgreSQL through asyncpg: a transaction per function, first come first served; a write is finished even if nobody
waits for it any more."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import asyncpg
from attrs import define
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool
from sqlalchemy.util import await_only

from adsunify.errors import StoreError
from adsunify.http.deadline import patient_timeout

from .clock import Clock
from .driver import Parameters, Result, Store, StoreFunction, take_notification, to_store_error
from .statement import BoundValues, Query, Statement, T

MAX_CONNECTIONS = 8
"""At most so many for writing, and as many for reading."""
TIMEOUT_SECONDS = 25.0
"""How long a read or a write may take, with the wait for a connection. To drop a dead connection takes 2 s more."""
SERIALIZATION_FAILURE = "40001"
DEADLOCK = "40P01"
CONNECTION_LOST_CLASSES = ("08", "57P")
"""Classes of codes that end the connection."""
BEGIN_STATEMENT = "BEGIN ISOLATION LEVEL READ COMMITTED"
DATABASE_ERRORS = (DBAPIError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
"""What a database that does not do it raises: through SQLAlchemy, through :class:`.statement.Statement`."""

DEFECT_ERRORS = (asyncpg.IntegrityConstraintViolationError, asyncpg.SyntaxOrAccessError)


def _driver_connection(connection: Connection) -> Any:
    """The driver's own connection. BEGIN and COMMIT are said to it: SQLAlchemy thinks that it commits by itself."""
    return connection.connection.driver_connection


@define
class _Attempt:
    """One function: how far it got. Begun, run and ended in one go, at the least cost of switching.

    ``in_transaction``: it is one; else each of its statements is. ``may_be_committed``: what was sent may have been
    committed.
    """

    in_transaction: bool
    may_be_committed: bool = False
    is_connection_lost: bool = False
    has_notification: bool = False

    def run(
        self, connection: Connection, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """``is_connection_lost``, then: the connection is no good any more."""
        raw = _driver_connection(connection)
        try:
            if not self.in_transaction:
                return function(connection, *args, **kwargs)
            await_only(raw.execute(BEGIN_STATEMENT))
            result = function(connection, *args, **kwargs)
            self.may_be_committed = True
            if await_only(raw.execute("COMMIT")) != "COMMIT":  # a statement failed, and its failure was passed over
                raise StoreError("The database gave the transaction up.")
            self.has_notification = take_notification(connection)
        except Exception as error:
            self.is_connection_lost = (
                raw.is_closed() or isinstance(error, OSError) or _sqlstate(error).startswith(CONNECTION_LOST_CLASSES)
            )
            if not self.is_connection_lost and raw.is_in_transaction():
                await_only(raw.execute("ROLLBACK"))
            raise
        return result

    def can_retry(self, error: Exception) -> bool:
        """Whether the transaction surely left nothing behind, and a second try may fare better."""
        if _sqlstate(error) in (SERIALIZATION_FAILURE, DEADLOCK):
            return True
        return not self.may_be_committed and (self.is_connection_lost or "cached statement plan" in str(error))


_read_attempt = partial(_Attempt, in_transaction=False)
_write_attempt = partial(_Attempt, in_transaction=True)


def _sqlstate(error: BaseException) -> str:
    """PostgreSQL's code for what went wrong, empty where it said nothing."""
    native = error.orig if isinstance(error, DBAPIError) else error
    return getattr(native, "sqlstate", None) or ""


def _is_refused(error: BaseException) -> bool:
    """Whether the database said no, so that nothing was done."""
    state = _sqlstate(error) or _sqlstate(error.__cause__ or error)
    return bool(state) and not state.startswith(CONNECTION_LOST_CLASSES)


def _to_store_error(error: BaseException) -> BaseException:
    """The failure as StoreError, and what only a defect can cause as it is. The row of a failure is not repeated."""
    if isinstance(error, (asyncpg.PostgresError, asyncpg.InterfaceError)) and not isinstance(error, DEFECT_ERRORS):
        return StoreError(f"The database did not do it: {error.args[0]}")
    return to_store_error(error)


class _ConnectionPool:
    """Connections that stay open, each serving one function at a time; the functions queue in their order.

    ``tell``: called when one has announced something.
    """

    def __init__(self, url: str, settings: dict[str, str], tell: Callable[[], None]) -> None:
        self._engine = create_async_engine(
            "postgresql+asyncpg://",
            # asyncpg reads libpq's URLs itself: socket directories, sslmode
            async_creator=lambda: asyncpg.connect(url, server_settings=settings),
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
            hide_parameters=True,
        )
        self._notify_watchers = tell
        self._slots = asyncio.Semaphore(MAX_CONNECTIONS)
        self._idle_connections: list[AsyncConnection] = []
        self._closing_tasks: set[asyncio.Task[None]] = set()

    async def run(
        self,
        trying: Callable[[], _Attempt],
        function: Callable[..., Result],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        limited: bool = True,
    ) -> Result:
        """Run the function; StoreError after SECONDS where it is ``limited``.

        An answer that came while the event loop was blocked is read: a claim whose commit nobody learns of is stalled.
        """
        limit: asyncio.Timeout | None = None
        deadline = asyncio.get_running_loop().time() + TIMEOUT_SECONDS if limited else math.inf
        try:
            async with patient_timeout(deadline) as limit, self._slots:
                result: Result = await self._run_with_retry(trying, function, args, kwargs)
                return result
        except DATABASE_ERRORS as error:
            if limit is not None and limit.expired():
                self._discard_idle()  # they may be as dead as this one
                raise StoreError(f"The database did not answer within {TIMEOUT_SECONDS:g} seconds.") from error
            raise _to_store_error(error) from error

    async def _run_with_retry(
        self,
        trying: Callable[[], _Attempt],
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        first = trying()
        try:
            return await self._run_once(first, function, args, kwargs)
        except DATABASE_ERRORS as error:
            if not first.can_retry(error):
                raise
        return await self._run_once(trying(), function, args, kwargs)

    async def _run_once(
        self, trial: _Attempt, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        connection = self._idle_connections.pop() if self._idle_connections else await self._connect()
        try:
            result = await connection.run_sync(trial.run, function, args, kwargs)
        except Exception:
            if trial.is_connection_lost or connection.invalidated:
                self._discard(connection)
                self._discard_idle()  # they were lost with it
            else:
                self._idle_connections.append(connection)  # rolled back, and as good as before
            raise
        except BaseException:
            self._discard(connection)
            raise
        self._idle_connections.append(connection)
        if trial.has_notification:
            self._notify_watchers()
        return result

    async def _connect(self) -> AsyncConnection:
        try:
            return await self._engine.connect()
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise StoreError(f"The database cannot be reached: {type(error).__name__}: {error}") from error

    def _discard(self, connection: AsyncConnection) -> None:
        """Close a connection beside what follows: a server that does not answer takes 2 s of it."""
        task = asyncio.create_task(_close_connection(connection))
        self._closing_tasks.add(task)
        task.add_done_callback(self._closing_tasks.discard)

    def _discard_idle(self) -> None:
        while self._idle_connections:
            self._discard(self._idle_connections.pop())

    async def close(self) -> None:
        """Close for good, when the functions that were asked for have run."""
        for _ in range(MAX_CONNECTIONS):
            await self._slots.acquire()
        self._discard_idle()
        if self._closing_tasks:
            await asyncio.wait(self._closing_tasks)


_Caller = tuple[BoundValues, asyncio.Future[Any]]


class _QueryBatcher:
    """Sends the queries that many callers run within one turn of the event loop to the database in one statement.

    A round trip costs several times what the rows of a query cost: 16 callers at a time would pay 16.
    """

    def __init__(self, pool: _ConnectionPool) -> None:
        self._pool = pool
        self._pending: dict[Statement, list[_Caller]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def submit(self, statement: Statement, values: BoundValues) -> asyncio.Future[Any]:
        """The rows of the statement for these values. All callers of one statement share one round trip."""
        loop = asyncio.get_running_loop()
        if not self._pending:
            loop.call_soon(self._send_pending)
        future: asyncio.Future[Any] = loop.create_future()
        self._pending.setdefault(statement, []).append((values, future))
        return future

    def _send_pending(self) -> None:
        pending, self._pending = self._pending, {}
        for statement, callers in pending.items():
            self._send(statement, callers)

    def _send(self, statement: Statement, callers: Sequence[_Caller]) -> None:
        values = [value for value, _ in callers]
        task = asyncio.create_task(self._pool.run(_read_attempt, statement.fetch_all_batched, (values,), {}))
        self._tasks.add(task)
        task.add_done_callback(partial(self._resolve_callers, statement, callers))

    def _resolve_callers(
        self, statement: Statement, callers: Sequence[_Caller], task: asyncio.Task[list[list[Any]]]
    ) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and len(callers) > 1 and _is_refused(error):  # perhaps for the values of one of them
            for caller in callers:
                self._send(statement, [caller])
            return
        for number, (_, future) in enumerate(callers):
            if future.done():  # the caller was cancelled
                continue
            if task.cancelled():
                future.cancel()
            elif error is not None:
                future.set_exception(error)
            else:
                future.set_result(task.result()[number])

    async def close(self) -> None:
        """Wait for the queries that were submitted."""
        while self._pending or self._tasks:
            await asyncio.wait(self._tasks) if self._tasks else await asyncio.sleep(0)


async def _close_connection(connection: AsyncConnection) -> None:
    await connection.invalidate()  # which gives the server 2 s; closing alone would wait for it without an end
    await connection.close()


_WRITE_SETTINGS = {"idle_in_transaction_session_timeout": str(int(TIMEOUT_SECONDS * 1000))}
"""The server ends a transaction whose client is gone: its locks would stop the next try to keep a receipt."""


class PostgresStore(Store):
    """A PostgreSQL database, shared by any number of processes and machines.

    A read is one statement after the other, each seeing what was committed before it.
    """

    def __init__(self, url: str, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self._writes = _ConnectionPool(url, _WRITE_SETTINGS, tell=self.notify_watchers)
        self._reads = _ConnectionPool(url, {"default_transaction_read_only": "on"}, tell=self.notify_watchers)
        self._query_batcher = _QueryBatcher(self._reads)
        self._running_tasks: set[asyncio.Task[Any]] = set()
        self._is_open = True

    async def _write(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        self._require_open()
        return await self._run_uncancellable(function, args, kwargs)

    async def upgrade(self, function: Callable[[Connection], Result]) -> Result:
        self._require_open()
        return await self._run_uncancellable(function, (), {}, limited=False)

    async def _run_uncancellable(
        self, function: Callable[..., Result], args: tuple[Any, ...], kwargs: dict[str, Any], limited: bool = True
    ) -> Result:
        """Run the function to its end, whatever becomes of the caller."""
        task = asyncio.create_task(self._run_write(function, args, kwargs, limited))
        self._running_tasks.add(task)
        task.add_done_callback(self._forget_task)
        return await asyncio.shield(task)

    async def read(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        self._require_open()
        return await self._reads.run(_read_attempt, function, args, kwargs)

    async def run_query(self, question: Query[T]) -> T:
        self._require_open()
        return question.make_result(await self._query_batcher.submit(question.statement, question.values))

    async def close(self) -> None:
        if not self._is_open:
            return
        self._is_open = False
        if self._running_tasks:
            await asyncio.wait(set(self._running_tasks))
        await self._query_batcher.close()
        await asyncio.gather(self._writes.close(), self._reads.close())

    def _require_open(self) -> None:
        if not self._is_open:
            raise StoreError("The store is closed.")

    async def _run_write(
        self, function: Callable[..., Result], args: tuple[Any, ...], kwargs: dict[str, Any], limited: bool
    ) -> Result:
        result = await self._writes.run(_write_attempt, function, args, kwargs, limited)
        self.commit_count += 1
        return result

    def _forget_task(self, task: asyncio.Task[Any]) -> None:
        self._running_tasks.discard(task)
        if not task.cancelled():
            task.exception()  # a cancelled caller does not ask for it; that is no reason to complain
