"""PostgreSQL through asyncpg. Each function runs in one transaction, in the order of the calls.

A write is finished even if its caller is cancelled.
"""

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
from .driver import DatabaseTimeouts, Parameters, Result, Store, StoreFunction, take_notification, to_store_error
from .statement import BoundValues, Query, Statement, T
from .urls import make_malformed_url_error

MAX_CONNECTIONS = 8
"""The maximum number of connections for writing, and also for reading."""
TIMEOUT_SECONDS = 25.0
"""The maximum time of a read or a write, including the wait for a connection.

Closing a dead connection takes 2 s more.
"""
SERIALIZATION_FAILURE = "40001"
DEADLOCK = "40P01"
CONNECTION_LOST_CLASSES = ("08", "57P")
"""The SQLSTATE classes after which the connection cannot be used."""
BEGIN_STATEMENT = "BEGIN ISOLATION LEVEL READ COMMITTED"
DATABASE_ERRORS = (DBAPIError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
"""The exceptions of a failing database, through SQLAlchemy and through :class:`.statement.Statement`."""

TIMEOUT_MESSAGES = {
    "55P03": "Another transaction held a lock for too long, so the database gave up waiting",
    "57014": "The database cancelled a statement that took too long",
}
"""SQLSTATE of a timeout of the server -> its description. The transaction was rolled back."""
TIMEOUT_SETTINGS = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
UNLIMIT_STATEMENTS = "; ".join(f"SET {name} = 0" for name in TIMEOUT_SETTINGS)
LIMIT_STATEMENTS = "; ".join(f"RESET {name}" for name in TIMEOUT_SETTINGS)
"""Switch the timeouts of a connection off and on again, around a function that may take long."""

DEFECT_ERRORS = (asyncpg.IntegrityConstraintViolationError, asyncpg.SyntaxOrAccessError)


def _driver_connection(connection: Connection) -> Any:
    """Return asyncpg's connection. We send BEGIN and COMMIT to it directly; SQLAlchemy runs in autocommit mode."""
    return connection.connection.driver_connection


@define
class _Attempt:
    """One run of a function, and its progress. Begin, function and commit run in one greenlet, which is fastest.

    ``in_transaction``: the function runs in a transaction; otherwise each statement is its own transaction.
    ``is_limited``: the timeouts of the server apply. ``may_be_committed``: the changes may be stored.
    """

    in_transaction: bool
    is_limited: bool = True
    may_be_committed: bool = False
    is_connection_lost: bool = False
    has_notification: bool = False

    def run(
        self, connection: Connection, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run the function on a connection.

        Afterwards ``is_connection_lost`` says whether the connection is unusable.
        """
        if self.is_limited:
            return self._run(connection, function, args, kwargs)
        raw = _driver_connection(connection)
        await_only(raw.execute(UNLIMIT_STATEMENTS))
        try:
            return self._run(connection, function, args, kwargs)
        finally:
            if not raw.is_closed():
                await_only(raw.execute(LIMIT_STATEMENTS))

    def _run(
        self, connection: Connection, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        raw = _driver_connection(connection)
        try:
            if not self.in_transaction:
                return function(connection, *args, **kwargs)
            await_only(raw.execute(BEGIN_STATEMENT))
            result = function(connection, *args, **kwargs)
            self.may_be_committed = True
            if await_only(raw.execute("COMMIT")) != "COMMIT":  # because the function ignored a failed statement
                raise StoreError("The database gave the transaction up.")
            self.has_notification = take_notification(connection)
        except Exception as error:
            self.is_connection_lost = (
                raw.is_closed()
                or isinstance(error, (OSError, asyncpg.InternalClientError))  # the latter: a broken protocol
                or _sqlstate(error).startswith(CONNECTION_LOST_CLASSES)
            )
            if not self.is_connection_lost and raw.is_in_transaction():
                self.is_connection_lost = True  # stays True if ROLLBACK fails
                await_only(raw.execute("ROLLBACK"))
                self.is_connection_lost = False
            raise
        return result

    def can_retry(self, error: Exception) -> bool:
        """Whether the transaction certainly stored nothing, and a second attempt may succeed."""
        if _sqlstate(error) in (SERIALIZATION_FAILURE, DEADLOCK):
            return True
        return not self.may_be_committed and (self.is_connection_lost or "cached statement plan" in str(error))


_read_attempt = partial(_Attempt, in_transaction=False)
_write_attempt = partial(_Attempt, in_transaction=True)


def _sqlstate(error: BaseException) -> str:
    """Return PostgreSQL's SQLSTATE of an error; empty if the error has no SQLSTATE."""
    native = error.orig if isinstance(error, DBAPIError) else error
    return getattr(native, "sqlstate", None) or ""


def _is_refused(error: BaseException) -> bool:
    """Whether the database refused the statement for its values. A timeout does not count."""
    state = _sqlstate(error) or _sqlstate(error.__cause__ or error)
    return bool(state) and not state.startswith(CONNECTION_LOST_CLASSES) and state not in TIMEOUT_MESSAGES


def _to_store_error(error: BaseException) -> BaseException:
    """Convert a failure to StoreError without the values of the row. Errors of a defect are returned unchanged."""
    timeout = TIMEOUT_MESSAGES.get(_sqlstate(error))
    if timeout is not None:
        native = error.orig if isinstance(error, DBAPIError) else error
        return StoreError(f"{timeout} ({native}).")
    driver_errors = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
    if isinstance(error, driver_errors) and not isinstance(error, DEFECT_ERRORS):
        return StoreError(f"The database failed: {error.args[0]}")
    return to_store_error(error)


class _ConnectionPool:
    """A pool of open connections. Each connection runs one function at a time; functions wait in order.

    ``tell`` is called after a commit in which :func:`notify` was called.
    """

    def __init__(self, url: str, settings: dict[str, str], tell: Callable[[], None]) -> None:
        self._engine = create_async_engine(
            "postgresql+asyncpg://",
            # asyncpg itself parses libpq's URLs, with socket directories and sslmode
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
        """Run the function. If ``limited``, raise StoreError after :data:`TIMEOUT_SECONDS`.

        The timeout tolerates a blocked event loop. Otherwise a claim could be committed without its caller knowing,
        and the operation would be stalled.
        """
        limit: asyncio.Timeout | None = None
        deadline = asyncio.get_running_loop().time() + TIMEOUT_SECONDS if limited else math.inf
        try:
            async with patient_timeout(deadline) as limit, self._slots:
                result: Result = await self._run_with_retry(trying, function, args, kwargs)
                return result
        except DATABASE_ERRORS as error:
            if limit is not None and limit.expired():
                self._discard_idle()  # the other connections may be dead as well
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
                self._discard_idle()  # the other connections were lost at the same time
            else:
                self._idle_connections.append(connection)  # it is rolled back, so it can be used again
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
        except ValueError:  # its message repeats a part of the URL, which may hold the password
            raise make_malformed_url_error() from None

    def _discard(self, connection: AsyncConnection) -> None:
        """Close a connection in the background, because that takes 2 s if the server does not answer."""
        task = asyncio.create_task(_close_connection(connection))
        self._closing_tasks.add(task)
        task.add_done_callback(self._closing_tasks.discard)

    def _discard_idle(self) -> None:
        while self._idle_connections:
            self._discard(self._idle_connections.pop())

    async def close(self) -> None:
        """Close all connections after the requested functions have run."""
        for _ in range(MAX_CONNECTIONS):
            await self._slots.acquire()
        self._discard_idle()
        if self._closing_tasks:
            await asyncio.wait(self._closing_tasks)


_Caller = tuple[BoundValues, asyncio.Future[Any]]


class _QueryBatcher:
    """Sends the queries that many callers run within one turn of the event loop to the database in one statement.

    A round trip takes several times longer than the query itself.
    """

    def __init__(self, pool: _ConnectionPool) -> None:
        self._pool = pool
        self._pending: dict[Statement, list[_Caller]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def submit(self, statement: Statement, values: BoundValues) -> asyncio.Future[Any]:
        """Return a future of the rows of the statement. All callers of one statement share one round trip."""
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
        if error is not None and len(callers) > 1 and _is_refused(error):  # perhaps because of one caller's values
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
    await connection.invalidate()  # waits at most 2 s; close() alone would wait without a limit
    await connection.close()


def _make_server_settings(timeouts: DatabaseTimeouts) -> dict[str, str]:
    """Return the settings of a connection.

    The server ends a transaction whose client is gone. Otherwise the locks of the transaction would block the next
    attempt to store a receipt.
    """
    return {
        "statement_timeout": f"{timeouts.statement}s",
        "lock_timeout": f"{timeouts.lock}s",
        "idle_in_transaction_session_timeout": f"{timeouts.idle}s",
    }


class PostgresStore(Store):
    """A PostgreSQL database, shared by any number of processes and machines.

    Each statement of a read sees all earlier commits.
    """

    def __init__(self, url: str, clock: Clock, timeouts: DatabaseTimeouts) -> None:
        super().__init__()
        self.clock = clock
        settings = _make_server_settings(timeouts)
        self._writes = _ConnectionPool(url, settings, tell=self.notify_watchers)
        reading = {**settings, "default_transaction_read_only": "on"}
        self._reads = _ConnectionPool(url, reading, tell=self.notify_watchers)
        self._query_batcher = _QueryBatcher(self._reads)
        self._running_tasks: set[asyncio.Task[Any]] = set()
        self._is_open = True

    async def _write(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        self._require_open()
        return await self._run_uncancellable(_write_attempt, function, args, kwargs)

    async def upgrade(self, function: Callable[[Connection], Result], in_transaction: bool = True) -> Result:
        """Run the function as a write without a time limit, in one transaction or in one for each statement."""
        self._require_open()
        attempt = partial(_Attempt, in_transaction=in_transaction, is_limited=False)
        return await self._run_uncancellable(attempt, function, (), {}, limited=False)

    async def _run_uncancellable(
        self,
        attempt: Callable[[], _Attempt],
        function: Callable[..., Result],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        limited: bool = True,
    ) -> Result:
        """Run the function to its end, even if the caller is cancelled."""
        task = asyncio.create_task(self._run_write(attempt, function, args, kwargs, limited))
        self._running_tasks.add(task)
        task.add_done_callback(self._forget_task)
        return await asyncio.shield(task)

    async def read(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        """Run a function that only reads."""
        self._require_open()
        return await self._reads.run(_read_attempt, function, args, kwargs)

    async def run_query(self, question: Query[T]) -> T:
        """Run a query together with the other queries of this turn of the event loop."""
        self._require_open()
        return question.make_result(await self._query_batcher.submit(question.statement, question.values))

    async def close(self) -> None:
        """Finish the running functions and close all connections."""
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
        self,
        attempt: Callable[[], _Attempt],
        function: Callable[..., Result],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        limited: bool,
    ) -> Result:
        result = await self._writes.run(attempt, function, args, kwargs, limited)
        self.commit_count += 1
        return result

    def _forget_task(self, task: asyncio.Task[Any]) -> None:
        self._running_tasks.discard(task)
        if not task.cancelled():
            task.exception()  # otherwise asyncio warns if the caller was cancelled
