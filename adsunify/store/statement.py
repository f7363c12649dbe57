"""Fixed statements, compiled once and run on the driver itself.

SQLAlchemy's own execution costs 60 to 100 us a statement, which is more than the databases' drivers and SQLite itself
take together. A statement that stands in a module is therefore made a :class:`Statement`; one that is put together
inside a function (rarely run, or with a list of values) goes through ``connection.execute``. Both may be mixed: the
driver begins and ends the transaction. A read that is one statement is a :class:`Question`, which needs no transaction.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Generic, TypeVar

from attrs import frozen
from sqlalchemy import Connection, Dialect, Insert, ReturnsRows
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.dml import UpdateBase
from sqlalchemy.types import TypeEngine
from sqlalchemy.util import await_only

Values = Mapping[str, Any]
Fixed = ReturnsRows | UpdateBase
Made = TypeVar("Made")
_Process = Callable[[Any], Any]


@frozen(eq=False)
class _Compiled:
    """A statement in the words of one dialect. ``given``: the values that it brings itself."""

    text: str
    names: tuple[str, ...]
    types: tuple[TypeEngine[Any], ...]
    given: Values
    written: tuple[tuple[int, _Process], ...]
    read: tuple[tuple[int, _Process], ...]
    row: Callable[[Sequence[Any]], Any]

    def bound(self, values: Values) -> list[Any]:
        """The values by position, as the driver takes them."""
        all_ = {**self.given, **values} if self.given else values
        bound = [all_[name] for name in self.names]
        for position, process in self.written:
            bound[position] = process(bound[position])
        return bound

    def rows(self, found: Sequence[Sequence[Any]]) -> list[Any]:
        """What the driver found, as records."""
        if not self.read:
            return [self.row(values) for values in found]
        made = []
        for values in map(list, found):
            for position, process in self.read:
                values[position] = process(values[position])
            made.append(self.row(values))
        return made


class Statement:
    """A statement with ``bindparam`` for what changes. Rows have the columns' names as attributes.

    Values that the statement does not name are not looked at; a row to be inserted may leave nullable columns out.
    Where SQLAlchemy spells it once for each dialect, it is a function of the dialect's name.
    """

    def __init__(self, statement: Fixed | Callable[[str], Fixed]) -> None:
        self._statement = statement
        self._compiled: dict[str, _Compiled] = {}

    def all(self, connection: Connection, values: Values) -> list[Any]:
        """Run it; all rows that it returns."""
        compiled = self._of(connection)
        return compiled.rows(FETCH[connection.dialect.name](connection, compiled.text, compiled.bound(values)))

    def one_or_none(self, connection: Connection, values: Values) -> Any:
        """Run it; the one row that it returns, if any."""
        rows = self.all(connection, values)
        return rows[0] if rows else None

    def one(self, connection: Connection, values: Values) -> Any:
        """Run it; the one row that it surely returns (LookupError)."""
        rows = self.all(connection, values)
        if not rows:
            raise LookupError(f"nothing was found by {self.text(connection)}")
        return rows[0]

    def each(self, connection: Connection, rows: Sequence[Values]) -> None:
        """Run it for each of these; what it returns is not looked at."""
        compiled = self._of(connection)
        EACH[connection.dialect.name](connection, compiled.text, [compiled.bound(row) for row in rows])

    def together(self, connection: Connection, asked: Sequence[Values]) -> list[list[Any]]:
        """The rows for each of these values, asked for at once. PostgreSQL only; it must be a SELECT."""
        if len(asked) == 1:
            return [self.all(connection, asked[0])]
        compiled = self._of(connection)
        columns = zip(*map(compiled.bound, asked), strict=True)
        found: list[list[Any]] = [[] for _ in asked]
        for *row, number in _fetch_postgresql(connection, _together(compiled, connection.dialect), list(columns)):
            found[number - 1].append(row)
        return [compiled.rows(rows) for rows in found]

    def text(self, connection: Connection) -> str:
        """The statement as the driver gets it."""
        return self._of(connection).text

    def _of(self, connection: Connection) -> _Compiled:
        dialect = connection.dialect
        found = self._compiled.get(dialect.name)
        if found is None:
            statement = self._statement(dialect.name) if callable(self._statement) else self._statement
            found = self._compiled[dialect.name] = _compiled(statement, dialect)
        return found


@frozen(eq=False)
class Question(Generic[Made]):
    """A read that is one statement: its values, and what is made of its rows. A store is asked it, with others at once;
    inside of a transaction it is answered :meth:`on` the connection.
    """

    statement: Statement
    values: Values
    made: Callable[[list[Any]], Made]

    def on(self, connection: Connection) -> Made:
        """The answer on this connection."""
        return self.made(self.statement.all(connection, self.values))


def _compiled(statement: Fixed, dialect: Dialect) -> _Compiled:
    compiled = statement.compile(dialect=dialect)
    assert isinstance(compiled, SQLCompiler) and compiled.positiontup is not None
    names = tuple(compiled.positiontup)
    binds = {name: compiled.binds[name] for name in names}
    absent = isinstance(statement, Insert)
    given = {name: bind.effective_value for name, bind in binds.items() if absent or not bind.required}
    columns = statement.exported_columns
    return _Compiled(
        text=compiled.string,
        names=names,
        types=tuple(_of_type(binds[name].type, dialect) for name in names),
        given=given,
        written=_processes([_of_type(binds[name].type, dialect).bind_processor(dialect) for name in names]),
        read=_processes([_of_type(column.type, dialect).result_processor(dialect, None) for column in columns]),
        row=_records([str(name) for name in columns.keys()]),  # noqa: SIM118 - a collection of columns
    )


def _records(names: Sequence[str]) -> Callable[[Sequence[Any]], Any]:
    made: Any = namedtuple("Record", names, rename=True)  # type: ignore[misc] # names are known when it first runs
    make: Callable[[Sequence[Any]], Any] = made._make
    return make


def _of_type(type_: TypeEngine[Any], dialect: Dialect) -> TypeEngine[Any]:
    return type_.dialect_impl(dialect)


def _processes(processes: Sequence[_Process | None]) -> tuple[tuple[int, _Process], ...]:
    return tuple((position, process) for position, process in enumerate(processes) if process is not None)


# -- drivers ------------------------------------------------------------------------------------------------------


def _fetch_sqlite(connection: Connection, text: str, values: Sequence[Any]) -> Sequence[Sequence[Any]]:
    raw: Any = connection.connection.dbapi_connection
    found: Sequence[Sequence[Any]] = raw.execute(text, values).fetchall()
    return found


def _each_sqlite(connection: Connection, text: str, rows: Sequence[Sequence[Any]]) -> None:
    for values in rows:  # executemany takes no RETURNING
        _fetch_sqlite(connection, text, values)


def _fetch_postgresql(connection: Connection, text: str, values: Sequence[Any]) -> Sequence[Sequence[Any]]:
    raw: Any = connection.connection.driver_connection
    found: Sequence[Sequence[Any]] = await_only(raw.fetch(text, *values))
    return found


@cache
def _together(compiled: _Compiled, dialect: Dialect) -> str:
    """A SELECT for many values at once, each given as a column; the last column of a row counts them from 1."""
    columns = ", ".join(f"${number}::{type_.compile(dialect)}[]" for number, type_ in enumerate(compiled.types, 1))
    names = ", ".join(f"value{number}" for number in range(1, len(compiled.types) + 1))
    text = re.sub(r"\$(\d+)", r"asked.value\1", compiled.text)
    return (
        f"SELECT found.*, asked.number FROM unnest({columns}) WITH ORDINALITY AS asked({names}, number), "
        f"LATERAL ({text}) AS found"
    )


def _each_postgresql(connection: Connection, text: str, rows: Sequence[Sequence[Any]]) -> None:
    raw: Any = connection.connection.driver_connection
    if len(rows) == 1:
        await_only(raw.fetch(text, *rows[0]))
    else:
        await_only(raw.executemany(text, rows))


FETCH = {"sqlite": _fetch_sqlite, "postgresql": _fetch_postgresql}
EACH = {"sqlite": _each_sqlite, "postgresql": _each_postgresql}
