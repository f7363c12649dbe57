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
from .driver import Parameters, Result, Shared, Store, StoreFunction, announced, translated
from .statement import Made, Question, Values

CONNECTIONS = 8
"""At most so many for writing, and as many for reading."""
SECONDS = 25.0
"""How long a read or a write may take, with the wait for a connection. To drop a dead connection takes 2 s more."""
SERIALIZATION_FAILURE = "40001"
DEADLOCK = "40P01"
GONE = ("08", "57P")
"""Classes of codes that end the connection."""
BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
FAILURES = (DBAPIError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
"""What a database that does not do it raises: through SQLAlchemy, through :class:`.statement.Statement`."""

DEFECTS = (asyncpg.IntegrityConstraintViolationError, asyncpg.SyntaxOrAccessError)


def _raw(connection: Connection) -> Any:
    """The driver's own connection. BEGIN and COMMIT are said to it: SQLAlchemy thinks that it commits by itself."""
    return connection.connection.driver_connection


@define
class _Try:
    """One function: how far it got. Begun, run and ended in one go, at the least cost of switching.

    ``transaction``: it is one; else each of its statements is. ``committing``: what was sent may have been committed.
    """

    transaction: bool
    committing: bool = False
    lost: bool = False
    announced: bool = False

    def run(
        self, connection: Connection, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """``lost``, then: the connection is no good any more."""
        raw = _raw(connection)
        try:
            if not self.transaction:
                self.committing = self.committing and not raw.is_closed()  # as one is that waited too long
                return function(connection, *args, **kwargs)
            await_only(raw.execute(BEGIN))
            result = function(connection, *args, **kwargs)
            self.committing = True
            if await_only(raw.execute("COMMIT")) != "COMMIT":  # a statement failed, and its failure was passed over
                raise StoreError("The database gave the transaction up.")
            self.announced = announced(connection)
        except Exception as error:
            self.lost = raw.is_closed() or isinstance(error, OSError) or _state(error).startswith(GONE)
            if not self.lost and raw.is_in_transaction():
                await_only(raw.execute("ROLLBACK"))
            raise
        return result

    def left_nothing(self, error: Exception) -> bool:
        """Whether the transaction surely left nothing behind, and a second try may fare better."""
        if _state(error) in (SERIALIZATION_FAILURE, DEADLOCK):
            return True
        return not self.committing and (self.lost or "cached statement plan" in str(error))


_READING = partial(_Try, transaction=False)
_WRITING = partial(_Try, transaction=True)
_SHARING = partial(_Try, transaction=False, committing=True)


def _state(error: BaseException) -> str:
    """PostgreSQL's code for what went wrong, empty where it said nothing."""
    native = error.orig if isinstance(error, DBAPIError) else error
    return getattr(native, "sqlstate", None) or ""


def _refused(error: BaseException) -> bool:
    """Whether the database said no, so that nothing was done."""
    state = _state(error) or _state(error.__cause__ or error)
    return bool(state) and not state.startswith(GONE)


def _told(error: BaseException) -> BaseException:
    """The failure as StoreError, and what only a defect can cause as it is. The row of a failure is not repeated."""
    if isinstance(error, (asyncpg.PostgresError, asyncpg.InterfaceError)) and not isinstance(error, DEFECTS):
        return StoreError(f"The database did not do it: {error.args[0]}")
    return translated(error)


class _Lane:
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
        self._tell = tell
        self._gate = asyncio.Semaphore(CONNECTIONS)
        self._idle: list[AsyncConnection] = []
        self._dropping: set[asyncio.Task[None]] = set()

    async def run(
        self,
        trying: Callable[[], _Try],
        function: Callable[..., Result],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        limited: bool = True,
    ) -> Result:
        """Run the function; StoreError after SECONDS where it is ``limited``.

        An answer that came while the event loop was blocked is read: a claim whose commit nobody learns of is stalled.
        """
        limit: asyncio.Timeout | None = None
        deadline = asyncio.get_running_loop().time() + SECONDS if limited else math.inf
        try:
            async with patient_timeout(deadline) as limit, self._gate:
                result: Result = await self._twice(trying, function, args, kwargs)
                return result
        except FAILURES as error:
            if limit is not None and limit.expired():
                self._drop_idle()  # they may be as dead as this one
                raise StoreError(f"The database did not answer within {SECONDS:g} seconds.") from error
            raise _told(error) from error

    async def _twice(
        self, trying: Callable[[], _Try], function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        first = trying()
        try:
            return await self._once(first, function, args, kwargs)
        except FAILURES as error:
            if not first.left_nothing(error):
                raise
        return await self._once(trying(), function, args, kwargs)

    async def _once(
        self, trial: _Try, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        connection = self._idle.pop() if self._idle else await self._connected()
        try:
            result = await connection.run_sync(trial.run, function, args, kwargs)
        except Exception:
            if trial.lost or connection.invalidated:
                self._drop(connection)
                self._drop_idle()  # they were lost with it
            else:
                self._idle.append(connection)  # rolled back, and as good as before
            raise
        except BaseException:
            self._drop(connection)
            raise
        self._idle.append(connection)
        if trial.announced:
            self._tell()
        return result

    async def _connected(self) -> AsyncConnection:
        try:
            return await self._engine.connect()
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise StoreError(f"The database cannot be reached: {type(error).__name__}: {error}") from error

    def _drop(self, connection: AsyncConnection) -> None:
        """Close a connection beside what follows: a server that does not answer takes 2 s of it."""
        task = asyncio.create_task(_closed(connection))
        self._dropping.add(task)
        task.add_done_callback(self._dropping.discard)

    def _drop_idle(self) -> None:
        while self._idle:
            self._drop(self._idle.pop())

    async def end(self) -> None:
        """Close for good, when the functions that were asked for have run."""
        for _ in range(CONNECTIONS):
            await self._gate.acquire()
        self._drop_idle()
        if self._dropping:
            await asyncio.wait(self._dropping)


_Together = Callable[[Connection, Sequence[Values]], Sequence[Any]]
_Caller = tuple[Values, asyncio.Future[Any]]


class _Turn:
    """What many callers want within one turn of the event loop goes to the database at once.

    A round trip costs several times what its answer does: 16 callers at a time would pay 16. ``done``: called when
    something was.
    """

    def __init__(self, lane: _Lane, trying: Callable[[], _Try], done: Callable[[], None]) -> None:
        self._lane = lane
        self._trying = trying
        self._done = done
        self._wanted: dict[_Together, list[_Caller]] = {}
        self._sent: set[asyncio.Task[Any]] = set()

    def want(self, together: _Together, values: Values) -> asyncio.Future[Any]:
        """What ``together`` has for these values; it is run once for all that want it."""
        loop = asyncio.get_running_loop()
        if not self._wanted:
            loop.call_soon(self._send_all)
        future: asyncio.Future[Any] = loop.create_future()
        self._wanted.setdefault(together, []).append((values, future))
        return future

    def _send_all(self) -> None:
        wanted, self._wanted = self._wanted, {}
        for together, callers in wanted.items():
            self._send(together, callers)

    def _send(self, together: _Together, callers: Sequence[_Caller]) -> None:
        values = [one for one, _ in callers]
        task = asyncio.create_task(self._lane.run(self._trying, together, (values,), {}))
        self._sent.add(task)
        task.add_done_callback(partial(self._settle, together, callers))

    def _settle(self, together: _Together, callers: Sequence[_Caller], task: asyncio.Task[Sequence[Any]]) -> None:
        self._sent.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and len(callers) > 1 and _refused(error):  # perhaps for what one of them gave
            for caller in callers:
                self._send(together, [caller])
            return
        if error is None and not task.cancelled():
            self._done()
        for number, (_, future) in enumerate(callers):
            if future.done():  # nobody waits for it any more
                continue
            if task.cancelled():
                future.cancel()
            elif error is not None:
                future.set_exception(error)
            else:
                future.set_result(task.result()[number])

    async def end(self) -> None:
        """Wait for what was wanted."""
        while self._wanted or self._sent:
            await asyncio.wait(self._sent) if self._sent else await asyncio.sleep(0)


async def _closed(connection: AsyncConnection) -> None:
    await connection.invalidate()  # which gives the server 2 s; closing alone would wait for it without an end
    await connection.close()


_ABANDONED = {"idle_in_transaction_session_timeout": str(int(SECONDS * 1000))}
"""The server ends a transaction whose client is gone: its locks would stop the next try to keep a receipt."""


class PostgresStore(Store):
    """A PostgreSQL database, shared by any number of processes and machines.

    A read is one statement after the other, each seeing what was committed before it.
    """

    def __init__(self, url: str, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self._writes = _Lane(url, _ABANDONED, tell=self.tell)
        self._reads = _Lane(url, {"default_transaction_read_only": "on"}, tell=self.tell)
        self._asking = _Turn(self._reads, _READING, lambda: None)
        self._sharing = _Turn(self._writes, _SHARING, self._count)
        self._running: set[asyncio.Task[Any]] = set()
        self._open = True

    async def _write(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        self._must_be_open()
        return await self._finished(function, args, kwargs)

    async def upgrade(self, function: Callable[[Connection], Result]) -> Result:
        self._must_be_open()
        return await self._finished(function, (), {}, limited=False)

    async def _finished(
        self, function: Callable[..., Result], args: tuple[Any, ...], kwargs: dict[str, Any], limited: bool = True
    ) -> Result:
        """Run the function to its end, whatever becomes of the caller."""
        task = asyncio.create_task(self._committed(function, args, kwargs, limited))
        self._running.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    async def read(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        self._must_be_open()
        return await self._reads.run(_READING, function, args, kwargs)

    async def ask(self, question: Question[Made]) -> Made:
        self._must_be_open()
        return question.made(await self._asking.want(question.statement.together, question.values))

    async def share(self, shared: Shared[Result]) -> Result:
        self._must_be_open()
        self.waiting += 1
        try:
            values, result = shared.offered()
            if await self._sharing.want(shared.together, values):
                return result
            return await self._finished(shared.alone, (), {})
        finally:
            self.waiting -= 1

    async def close(self) -> None:
        if not self._open:
            return
        self._open = False
        await self._sharing.end()
        await asyncio.sleep(0)  # whom that did not serve goes on alone
        if self._running:
            await asyncio.wait(set(self._running))
        await self._asking.end()
        await asyncio.gather(self._writes.end(), self._reads.end())

    def _must_be_open(self) -> None:
        if not self._open:
            raise StoreError("The store is closed.")

    async def _committed(
        self, function: Callable[..., Result], args: tuple[Any, ...], kwargs: dict[str, Any], limited: bool
    ) -> Result:
        result = await self._writes.run(_WRITING, function, args, kwargs, limited)
        self._count()
        return result

    def _count(self) -> None:
        self.commits += 1

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # a cancelled caller does not ask for it; that is no reason to complain
