"""What both drivers are: a store runs synchronous functions over a connection, in one transaction each.

A store function takes a :class:`sqlalchemy.Connection` first, never commits, and has no effect outside the database: it
may be run again. It belongs to one of the modules beside this one, or to a use case that calls several of them.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError

from adsunify.errors import StoreError

from .clock import Clock
from .statement import Query, T

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
StoreFunction = Callable[Concatenate[Connection, Parameters], Result]

_NOTIFICATION_KEY = "adsunify.announced"


def notify(connection: Connection) -> None:
    """Say, in a write, that once it is committed there is something to do for the watchers."""
    connection.info[_NOTIFICATION_KEY] = True


def take_notification(connection: Connection) -> bool:
    """Whether something was announced since this was asked last. More may be announced than was committed."""
    return bool(connection.info.pop(_NOTIFICATION_KEY, False))


class Store(ABC):
    """An open database. ``clock`` is the one clock; ``commit_count`` counts the transactions committed by writes,
    ``pending_writes`` the writes that were asked for and are not durable yet.

    ``watchers`` are called after each commit of this process in which :func:`notify` was called.
    """

    clock: Clock
    commit_count: int = 0
    pending_writes: int = 0

    def __init__(self) -> None:
        self.watchers: list[Callable[[], object]] = []

    async def write(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        """Run the function in a transaction; when this returns, what it wrote is durable.

        What the function raises is raised here, and nothing of it was kept. StoreError: the database did not do it, or
        (a connection lost while it committed) nobody knows: read again. Cancelling the caller does not stop the write.
        """
        self.pending_writes += 1
        try:
            return await self._write(function, *args, **kwargs)
        finally:
            self.pending_writes -= 1

    async def upgrade(self, function: Callable[[Connection], Result]) -> Result:
        """As :meth:`write`, however long it takes: migrations change whole tables, and wait for each other."""
        return await self.write(function)

    def notify_watchers(self) -> None:
        """Call the watchers."""
        for watcher in self.watchers:
            watcher()

    @abstractmethod
    async def _write(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        """What :meth:`write` does, on this engine."""

    @abstractmethod
    async def read(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        """Run the function on what is committed; it cannot write. Raises StoreError.

        Each of its statements sees what was committed before it.
        """

    @abstractmethod
    async def run_query(self, question: Query[T]) -> T:
        """The answer to a question. Raises StoreError, and what is raised where the answer is made."""

    @abstractmethod
    async def close(self) -> None:
        """Finish what was begun and let go of the database."""


def to_store_error(error: BaseException) -> BaseException:
    """A failure of the database as StoreError; everything else, and what only a defect can cause, as it is."""
    if isinstance(error, DBAPIError) and not isinstance(error, IntegrityError | ProgrammingError):
        return _store_error(error, error.orig)
    if isinstance(error, OSError | sqlite3.Error) and not isinstance(error, sqlite3.IntegrityError):
        return _store_error(error, error)
    return error


def _store_error(error: BaseException, reason: BaseException | None) -> StoreError:
    """The StoreError that a failure of the database becomes."""
    failure = StoreError(f"The database did not do it: {reason}")
    failure.__cause__ = error
    return failure
