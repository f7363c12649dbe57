"""SQLite: one writer thread with group commit; reads run in the caller's thread.

The writer takes all jobs from its queue, runs each function in its own savepoint, commits once, and then resolves the
callers. So many callers share one sync to disk, and no caller waits for a batch to fill. In WAL mode reads never wait
for the writer. A read takes some microseconds; passing it to a thread would take ten times as long.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from attrs import define, frozen
from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from adsunify.errors import StoreError

from .clock import Clock
from .driver import Parameters, Result, Store, StoreFunction, take_notification, to_store_error
from .statement import Query, T

BUSY_SECONDS = 10
BUSY_PAUSE_SECONDS = 0.02
"""The pause between two attempts at a statement for which SQLite's busy timeout does not apply."""
BATCH_SIZE = 500


@frozen(eq=False)
class _Job:
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


@define
class _JobResult:
    job: _Job
    result: Any = None
    error: BaseException | None = None


class _TransactionLost(Exception):
    """The transaction was lost. ``has_begun``: if False, running its functions one by one would fail as well."""

    def __init__(self, cause: BaseException, has_begun: bool) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.has_begun = has_begun


def _make_engine(path: Path, pragmas: Sequence[str]) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        poolclass=NullPool,
        hide_parameters=True,
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def set_pragmas(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # we begin transactions, so the driver must not
        for pragma in pragmas:
            _set_pragma(connection, pragma)

    return engine


def _set_pragma(connection: sqlite3.Connection, pragma: str) -> None:
    """Set a pragma, and wait for other connections up to the busy timeout.

    While another connection changes the mode of a new file, SQLite answers ``journal_mode = WAL`` with SQLITE_BUSY at
    once. The busy timeout does not apply to this change.
    """
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute(f"PRAGMA {pragma}").fetchall()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                raise
            time.sleep(BUSY_PAUSE_SECONDS)


def _connect(engine: Engine) -> Connection:
    """Open a connection on which we send BEGIN and COMMIT. SQLAlchemy sees one transaction that never ends.

    SQLAlchemy's own transactions would take 60 us each.
    """
    connection = engine.connect()
    connection.begin()
    return connection


def _driver_connection(connection: Connection) -> sqlite3.Connection:
    raw = connection.connection.dbapi_connection
    assert isinstance(raw, sqlite3.Connection)
    return raw


def _discard_connection(connection: Connection | None) -> None:
    if connection is not None:
        connection.invalidate()
        connection.close()


def _resolve_futures(outcomes: Iterable[_JobResult], afterwards: Callable[[], None] | None) -> None:
    for outcome in outcomes:
        future = outcome.job.future
        if future.done():  # the caller was cancelled, but the write is committed
            continue
        if outcome.error is None:
            future.set_result(outcome.result)
        else:
            future.set_exception(outcome.error)
    if afterwards is not None:
        afterwards()


def _resolve_callers(outcomes: Sequence[_JobResult], afterwards: Callable[[], None] | None = None) -> None:
    """Resolve the callers, each in its own event loop, and call ``afterwards`` there."""
    for loop in {outcome.job.loop for outcome in outcomes}:
        mine = [outcome for outcome in outcomes if outcome.job.loop is loop]
        with suppress(RuntimeError):  # a closed loop has no waiting callers
            loop.call_soon_threadsafe(_resolve_futures, mine, afterwards)


class SqliteStore(Store):
    """A SQLite file. Several processes may use one file; one process is faster."""

    def __init__(self, path: Path, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.path = path
        self._is_open = True
        self._job_queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._write_engine = _make_engine(path, ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"))
        self._read_engine = _make_engine(path, ("query_only = ON",))
        self._write_connection: Connection | None = None
        self._read_connection: Connection | None = None
        self._read_lock = threading.Lock()  # only a process with several event loops waits here
        self._writer_thread = threading.Thread(target=self._run_writer, name="adsunify-store-writer", daemon=True)
        self._writer_thread.start()

    async def has_database(self) -> bool:
        """Whether there is a file."""
        return self.path.exists()

    async def _write(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        self._require_open()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        self._job_queue.put(_Job(function, args, kwargs, loop, future))
        return await future

    async def read(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        """Run a function that only reads."""
        return self._read(function, *args, **kwargs)

    async def run_query(self, question: Query[T]) -> T:
        """Run a query."""
        return self._read(question.run)

    def _read(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        self._require_open()
        with self._read_lock:
            try:
                if self._read_connection is None:
                    self._read_connection = _connect(self._read_engine)
                return function(self._read_connection, *args, **kwargs)
            except BaseException as error:
                if isinstance(error, OperationalError | sqlite3.Error):
                    self._close_reader()
                failure = to_store_error(error)
                if failure is error:
                    raise
                raise failure from error

    def _require_open(self) -> None:
        if not self._is_open:
            raise StoreError("The store is closed.")

    async def close(self) -> None:
        """Finish the running functions and close all connections."""
        if self._is_open:
            self._is_open = False
            self._job_queue.put(None)
            await asyncio.to_thread(self._writer_thread.join)
            self._close_reader()

    def _close_reader(self) -> None:
        connection, self._read_connection = self._read_connection, None
        _discard_connection(connection)

    # -- the writer thread --------------------------------------------------------------------------------------

    def _run_writer(self) -> None:
        open_ = True
        while open_ and (first := self._job_queue.get()) is not None:
            batch = [first]
            while len(batch) < BATCH_SIZE and not self._job_queue.empty():  # only this thread takes jobs from the queue
                job = self._job_queue.get()
                if job is None:
                    open_ = False
                    break
                batch.append(job)
            self._commit_jobs(batch)
        self._close_writer()

    def _commit_jobs(self, jobs: Sequence[_Job]) -> None:
        """Run the jobs in one transaction. If the transaction is lost, run each job in a transaction by itself."""
        has_news = False
        try:
            outcomes = self._run_transaction(jobs)
            has_news = self._write_connection is not None and take_notification(self._write_connection)
        except _TransactionLost as broken:
            self._close_writer()
            if broken.has_begun and len(jobs) > 1:
                for job in jobs:
                    self._commit_jobs([job])
                return
            error = to_store_error(broken.cause)
            outcomes = [_JobResult(job, error=error) for job in jobs]
        _resolve_callers(outcomes, self.notify_watchers if has_news else None)

    def _run_transaction(self, jobs: Sequence[_Job]) -> list[_JobResult]:
        began = False
        try:
            if self._write_connection is None:
                self._write_connection = _connect(self._write_engine)
            raw = _driver_connection(self._write_connection)
            raw.execute("BEGIN IMMEDIATE")
            began = True
            outcomes = [self._run_job(self._write_connection, raw, job) for job in jobs]
            raw.execute("COMMIT")
        except _TransactionLost:
            raise
        except BaseException as error:
            raise _TransactionLost(error, began) from error
        self.commit_count += 1
        return outcomes

    def _run_job(self, connection: Connection, raw: sqlite3.Connection, job: _Job) -> _JobResult:
        raw.execute("SAVEPOINT one")
        outcome = _JobResult(job)
        try:
            outcome.result = job.function(connection, *job.args, **job.kwargs)
        except BaseException as error:  # noqa: BLE001 - the caller gets it, after the commit
            outcome.error = to_store_error(error)
        if not raw.in_transaction:  # a full disk rolls back the whole batch despite the savepoint
            raise _TransactionLost(outcome.error or StoreError("The database gave the transaction up."), has_begun=True)
        if outcome.error is not None:
            raw.execute("ROLLBACK TO one")
        raw.execute("RELEASE one")
        return outcome

    def _close_writer(self) -> None:
        connection, self._write_connection = self._write_connection, None
        _discard_connection(connection)
