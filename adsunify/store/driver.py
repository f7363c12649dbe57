"""The interface of both drivers: a store runs synchronous functions over a connection, each in one transaction.

The first parameter of a store function is a :class:`sqlalchemy.Connection`. The function never commits and has no
effect outside the database, so the store may run it again. It is in one of the modules of this package, or in a use
case that calls several of them.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from attrs import frozen
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError

from adsunify.errors import StoreError
from adsunify.telemetry.tracing import NO_TRACER, TRACE_ID, Tracer

from .clock import Clock
from .statement import Query, T

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
StoreFunction = Callable[Concatenate[Connection, Parameters], Result]

_NOTIFICATION_KEY = "adsunify.announced"


def notify(connection: Connection) -> None:
    """Request, inside a write, that the store calls its watchers after the commit."""
    connection.info[_NOTIFICATION_KEY] = True


def take_notification(connection: Connection) -> bool:
    """Whether :func:`notify` was called since the last call. A transaction that calls it may still be rolled back."""
    return bool(connection.info.pop(_NOTIFICATION_KEY, False))


@frozen
class DatabaseTimeouts:
    """The timeouts of a PostgreSQL, in seconds. They do not apply to migrations. SQLite has a busy timeout instead.

    Attributes:
        statement: the longest time of one statement.
        lock: the longest time that a statement waits for a lock.
        idle: how long a transaction may wait for its next statement before the server ends the connection.
    """

    statement: int = 20
    lock: int = 10
    idle: int = 25


DEFAULT_TIMEOUTS = DatabaseTimeouts()


class Store(ABC):
    """An open database.

    Attributes:
        clock: the clock of all store functions.
        commit_count: the number of committed write transactions.
        pending_writes: the number of requested writes that are not durable yet.
        watchers: functions that are called after each commit of this process in which :func:`notify` was called.
        tracer: makes a span for each write that belongs to a trace.
    """

    clock: Clock
    commit_count: int = 0
    pending_writes: int = 0
    tracer: Tracer = NO_TRACER

    def __init__(self) -> None:
        self.watchers: list[Callable[[], object]] = []

    async def write(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        """Run the function in a transaction. When the call returns, its changes are durable.

        If the function raises, nothing is stored and its exception is raised here. Cancelling the caller does not stop
        the write.

        Raises:
            StoreError: the database failed. If the connection was lost during the commit, the changes may be stored;
                the caller must read again.
        """
        self.pending_writes += 1
        try:
            if TRACE_ID.get() is None:
                return await self._write(function, *args, **kwargs)
            with self.tracer.start_span("store write") as span:
                span.set_attributes({"adsunify.store_function": getattr(function, "__name__", None)})
                return await self._write(function, *args, **kwargs)
        finally:
            self.pending_writes -= 1

    async def upgrade(self, function: Callable[[Connection], Result], in_transaction: bool = True) -> Result:
        """Run the function as :meth:`write` does, without a time limit. Migrations change whole tables.

        Without ``in_transaction`` each statement is its own transaction on PostgreSQL. SQLite always uses one
        transaction.
        """
        return await self.write(function)

    def notify_watchers(self) -> None:
        """Call all watchers."""
        for watcher in self.watchers:
            watcher()

    async def has_database(self) -> bool:
        """Whether there is a database. A write creates the missing file of SQLite."""
        return True

    @abstractmethod
    async def _write(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        """Run :meth:`write` on this engine."""

    @abstractmethod
    async def read(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        """Run a function that only reads. Each of its statements sees all earlier commits.

        Raises:
            StoreError: the database failed.
        """

    @abstractmethod
    async def run_query(self, question: Query[T]) -> T:
        """Run a query and return its result.

        Raises:
            StoreError: the database failed. The query itself may raise other errors.
        """

    @abstractmethod
    async def close(self) -> None:
        """Finish the running functions and close all connections."""


def to_store_error(error: BaseException) -> BaseException:
    """Convert a failure of the database to StoreError. Other errors, and errors of a defect, are returned unchanged."""
    if isinstance(error, DBAPIError) and not isinstance(error, IntegrityError | ProgrammingError):
        return _store_error(error, error.orig)
    if isinstance(error, OSError | sqlite3.Error) and not isinstance(error, sqlite3.IntegrityError):
        return _store_error(error, error)
    return error


def _store_error(error: BaseException, reason: BaseException | None) -> StoreError:
    """Make the StoreError of a failure of the database."""
    failure = StoreError(f"The database failed: {reason}")
    failure.__cause__ = error
    return failure
