"""What both drivers are: a store runs synchronous functions over a connection, in one transaction each.

A store function takes a :class:`sqlalchemy.Connection` first, never commits, and has no effect outside the database: it
may be run again. It belongs to one of the modules beside this one, or to a use case that calls several of them.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Concatenate, Generic, ParamSpec, TypeVar

from attrs import frozen
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError

from adsunify.errors import StoreError

from .clock import Clock
from .statement import Made, Question, Values

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
StoreFunction = Callable[Concatenate[Connection, Parameters], Result]


@frozen(eq=False)
class Shared(Generic[Result]):
    """A write that PostgreSQL can do for many callers by one statement, which needs no transaction.

    ``offered`` makes a caller's values, and what the result is if they are kept. ``together`` runs it with the values
    of the callers, and says whose were kept. For whom they were not, ``alone`` does it, or raises why not.
    """

    offered: Callable[[], tuple[Values, Result]]
    together: Callable[[Connection, Sequence[Values]], Sequence[bool]]
    alone: Callable[[Connection], Result]


_ANNOUNCED = "adsunify.announced"


def announce(connection: Connection) -> None:
    """Say, in a write, that once it is committed there is something to do for the watchers."""
    connection.info[_ANNOUNCED] = True


def announced(connection: Connection) -> bool:
    """Whether something was announced since this was asked last. More may be announced than was committed."""
    return bool(connection.info.pop(_ANNOUNCED, False))


class Store(ABC):
    """An open database. ``clock`` is the one clock; ``commits`` counts the transactions committed by writes,
    ``waiting`` the writes that were asked for and are not durable yet.

    ``watchers`` are called after each commit of this process in which :func:`announce` was called.
    """

    clock: Clock
    commits: int = 0
    waiting: int = 0

    def __init__(self) -> None:
        self.watchers: list[Callable[[], object]] = []

    async def write(
        self, function: StoreFunction[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        """Run the function in a transaction; when this returns, what it wrote is durable.

        What the function raises is raised here, and nothing of it was kept. StoreError: the database did not do it, or
        (a connection lost while it committed) nobody knows: read again. Cancelling the caller does not stop the write.
        """
        self.waiting += 1
        try:
            return await self._write(function, *args, **kwargs)
        finally:
            self.waiting -= 1

    async def upgrade(self, function: Callable[[Connection], Result]) -> Result:
        """As :meth:`write`, however long it takes: migrations change whole tables, and wait for each other."""
        return await self.write(function)

    async def share(self, shared: Shared[Result]) -> Result:
        """As :meth:`write`. SQLite's commits are shared anyway."""
        return await self.write(shared.alone)

    def tell(self) -> None:
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
    async def ask(self, question: Question[Made]) -> Made:
        """The answer to a question. Raises StoreError, and what is raised where the answer is made."""

    @abstractmethod
    async def close(self) -> None:
        """Finish what was begun and let go of the database."""


def translated(error: BaseException) -> BaseException:
    """A failure of the database as StoreError; everything else, and what only a defect can cause, as it is."""
    if isinstance(error, DBAPIError) and not isinstance(error, IntegrityError | ProgrammingError):
        return _unavailable(error, error.orig)
    if isinstance(error, OSError | sqlite3.Error) and not isinstance(error, sqlite3.IntegrityError):
        return _unavailable(error, error)
    return error


def _unavailable(error: BaseException, reason: BaseException | None) -> StoreError:
    """The StoreError that a failure of the database becomes."""
    failure = StoreError(f"The database did not do it: {reason}")
    failure.__cause__ = error
    return failure
