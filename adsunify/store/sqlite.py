"""SQLite: one writer thread with group commit; reads where they are asked.

The writer drains its queue, runs each function inside a savepoint of its own, commits the batch once and only then
resolves the callers: many callers share one sync to disk, and nobody waits for a batch to fill. A read waits for
nobody (WAL) and takes some microseconds: to hand it to a thread and back would cost ten times as much.
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
from .driver import Parameters, Result, Store, StoreFunction, announced, translated
from .statement import Made, Question

BUSY_SECONDS = 10
BUSY_PAUSE = 0.02
"""Seconds between two tries where SQLite itself does not wait."""
BATCH = 500


@frozen(eq=False)
class _Job:
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


@define
class _Outcome:
    job: _Job
    result: Any = None
    error: BaseException | None = None


class _Broken(Exception):
    """The transaction is gone. ``began`` false: it never stood, so running its functions one by one is no use."""

    def __init__(self, cause: BaseException, began: bool) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.began = began


def _engine(path: Path, pragmas: Sequence[str]) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        poolclass=NullPool,
        hide_parameters=True,
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def connected(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # transactions are begun by us, not guessed by the driver
        for pragma in pragmas:
            _set_pragma(connection, pragma)

    return engine


def _set_pragma(connection: sqlite3.Connection, pragma: str) -> None:
    """Set a pragma, and wait at most BUSY_SECONDS for other connections.

    SQLite answers ``journal_mode = WAL`` with SQLITE_BUSY at once while another connection changes the mode of a new
    file: its busy timeout does not apply to that change.
    """
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute(f"PRAGMA {pragma}").fetchall()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                raise
            time.sleep(BUSY_PAUSE)


def _connected(engine: Engine) -> Connection:
    """A connection for which SQLAlchemy thinks that one transaction never ends: BEGIN and COMMIT are ours.

    SQLAlchemy's own transactions would cost 60 us each.
    """
    connection = engine.connect()
    connection.begin()
    return connection


def _raw(connection: Connection) -> sqlite3.Connection:
    raw = connection.connection.dbapi_connection
    assert isinstance(raw, sqlite3.Connection)
    return raw


def _throw_away(connection: Connection | None) -> None:
    if connection is not None:
        connection.invalidate()
        connection.close()


def _settle(outcomes: Iterable[_Outcome], afterwards: Callable[[], None] | None) -> None:
    for outcome in outcomes:
        future = outcome.job.future
        if future.done():  # cancelled by its caller; the write stands all the same
            continue
        if outcome.error is None:
            future.set_result(outcome.result)
        else:
            future.set_exception(outcome.error)
    if afterwards is not None:
        afterwards()


def _deliver(outcomes: Sequence[_Outcome], afterwards: Callable[[], None] | None = None) -> None:
    """Resolve the callers, each in its loop, and call ``afterwards`` there."""
    for loop in {outcome.job.loop for outcome in outcomes}:
        mine = [outcome for outcome in outcomes if outcome.job.loop is loop]
        with suppress(RuntimeError):  # a closed loop has nobody waiting any more
            loop.call_soon_threadsafe(_settle, mine, afterwards)


class SqliteStore(Store):
    """A database file. Several processes on one file stay correct; one is faster."""

    def __init__(self, path: Path, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.path = path
        self._open = True
        self._writes: SimpleQueue[_Job | None] = SimpleQueue()
        self._writer = _engine(path, ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"))
        self._reader = _engine(path, ("query_only = ON",))
        self._connection: Connection | None = None
        self._reading: Connection | None = None
        self._reads = threading.Lock()  # for event loops in several threads; nobody else waits here
        self._thread = threading.Thread(target=self._write_on, name="adsunify-store-writer", daemon=True)
        self._thread.start()

    async def _write(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        self._must_be_open()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        self._writes.put(_Job(function, args, kwargs, loop, future))
        return await future

    async def read(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        return self._read(function, *args, **kwargs)

    async def ask(self, question: Question[Made]) -> Made:
        return self._read(question.on)

    def _read(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        self._must_be_open()
        with self._reads:
            try:
                if self._reading is None:
                    self._reading = _connected(self._reader)
                return function(self._reading, *args, **kwargs)
            except BaseException as error:
                if isinstance(error, OperationalError | sqlite3.Error):
                    self._stop_reading()
                failure = translated(error)
                if failure is error:
                    raise
                raise failure from error

    def _must_be_open(self) -> None:
        if not self._open:
            raise StoreError("The store is closed.")

    async def close(self) -> None:
        if self._open:
            self._open = False
            self._writes.put(None)
            await asyncio.to_thread(self._thread.join)
            self._stop_reading()

    def _stop_reading(self) -> None:
        connection, self._reading = self._reading, None
        _throw_away(connection)

    # -- the writer thread --------------------------------------------------------------------------------------

    def _write_on(self) -> None:
        open_ = True
        while open_ and (first := self._writes.get()) is not None:
            batch = [first]
            while len(batch) < BATCH and not self._writes.empty():  # nobody else takes from this queue
                job = self._writes.get()
                if job is None:
                    open_ = False
                    break
                batch.append(job)
            self._commit(batch)
        self._discard()

    def _commit(self, jobs: Sequence[_Job]) -> None:
        """Run the jobs in one transaction; where it broke, each in its own."""
        told = False
        try:
            outcomes = self._transaction(jobs)
            told = self._connection is not None and announced(self._connection)
        except _Broken as broken:
            self._discard()
            if broken.began and len(jobs) > 1:
                for job in jobs:
                    self._commit([job])
                return
            error = translated(broken.cause)
            outcomes = [_Outcome(job, error=error) for job in jobs]
        _deliver(outcomes, self.tell if told else None)

    def _transaction(self, jobs: Sequence[_Job]) -> list[_Outcome]:
        began = False
        try:
            if self._connection is None:
                self._connection = _connected(self._writer)
            raw = _raw(self._connection)
            raw.execute("BEGIN IMMEDIATE")
            began = True
            outcomes = [self._run(self._connection, raw, job) for job in jobs]
            raw.execute("COMMIT")
        except _Broken:
            raise
        except BaseException as error:
            raise _Broken(error, began) from error
        self.commits += 1
        return outcomes

    def _run(self, connection: Connection, raw: sqlite3.Connection, job: _Job) -> _Outcome:
        raw.execute("SAVEPOINT one")
        outcome = _Outcome(job)
        try:
            outcome.result = job.function(connection, *job.args, **job.kwargs)
        except BaseException as error:  # noqa: BLE001 - the caller gets it, after the commit
            outcome.error = translated(error)
        if not raw.in_transaction:  # a full disk rolls the whole batch back, whatever the savepoint says
            raise _Broken(outcome.error or StoreError("The database gave the transaction up."), began=True)
        if outcome.error is not None:
            raw.execute("ROLLBACK TO one")
        raw.execute("RELEASE one")
        return outcome

    def _discard(self) -> None:
        connection, self._connection = self._connection, None
        _throw_away(connection)
