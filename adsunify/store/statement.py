"""Fixed statements, compiled once and run on the driver itself.

SQLAlchemy's own execution costs 60 to 100 us a statement, which is more than the databases' drivers and SQLite itself
take together. A statement that stands in a module is therefore made a :class:`Statement`; one that is put together
inside a function (rarely run, or with a list of values) goes through ``connection.execute``. Both may be mixed: the
driver begins and ends the transaction. A read that is one statement is a :class:`Query`, which needs no transaction.
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

BoundValues = Mapping[str, Any]
SqlStatement = ReturnsRows | UpdateBase
T = TypeVar("T")
_ValueProcessor = Callable[[Any], Any]


@frozen(eq=False)
class _Compiled:
    """A statement in the words of one dialect. ``default_values``: the values that it brings itself."""

    text: str
    parameter_names: tuple[str, ...]
    types: tuple[TypeEngine[Any], ...]
    default_values: BoundValues
    bind_processors: tuple[tuple[int, _ValueProcessor], ...]
    result_processors: tuple[tuple[int, _ValueProcessor], ...]
    make_row: Callable[[Sequence[Any]], Any]

    def bind_values(self, values: BoundValues) -> list[Any]:
        """The values by position, as the driver takes them."""
        all_ = {**self.default_values, **values} if self.default_values else values
        bound = [all_[name] for name in self.parameter_names]
        for position, process in self.bind_processors:
            bound[position] = process(bound[position])
        return bound

    def make_rows(self, rows: Sequence[Sequence[Any]]) -> list[Any]:
        """What the driver found, as records."""
        if not self.result_processors:
            return [self.make_row(values) for values in rows]
        records = []
        for values in map(list, rows):
            for position, process in self.result_processors:
                values[position] = process(values[position])
            records.append(self.make_row(values))
        return records


class Statement:
    """A statement with ``bindparam`` for what changes. Rows have the columns' names as attributes.

    Values that the statement does not name are not looked at; a row to be inserted may leave nullable columns out.
    Where SQLAlchemy spells it once for each dialect, it is a function of the dialect's name.
    """

    def __init__(self, statement: SqlStatement | Callable[[str], SqlStatement]) -> None:
        self._statement = statement
        self._compiled: dict[str, _Compiled] = {}

    def fetch_all(self, connection: Connection, values: BoundValues) -> list[Any]:
        """Run it; all rows that it returns."""
        compiled = self._compile_for(connection)
        return compiled.make_rows(
            FETCH_BY_DIALECT[connection.dialect.name](connection, compiled.text, compiled.bind_values(values))
        )

    def fetch_one_or_none(self, connection: Connection, values: BoundValues) -> Any:
        """Run it; the one row that it returns, if any."""
        rows = self.fetch_all(connection, values)
        return rows[0] if rows else None

    def fetch_one(self, connection: Connection, values: BoundValues) -> Any:
        """Run it; the one row that it surely returns (LookupError)."""
        rows = self.fetch_all(connection, values)
        if not rows:
            raise LookupError(f"nothing was found by {self.text(connection)}")
        return rows[0]

    def execute_each(self, connection: Connection, rows: Sequence[BoundValues]) -> None:
        """Run it for each of these; what it returns is not looked at."""
        compiled = self._compile_for(connection)
        EXECUTE_EACH_BY_DIALECT[connection.dialect.name](
            connection, compiled.text, [compiled.bind_values(row) for row in rows]
        )

    def fetch_all_batched(self, connection: Connection, bound_rows: Sequence[BoundValues]) -> list[list[Any]]:
        """The rows for each of these values, asked for at once. PostgreSQL only; it must be a SELECT."""
        if len(bound_rows) == 1:
            return [self.fetch_all(connection, bound_rows[0])]
        compiled = self._compile_for(connection)
        columns = zip(*map(compiled.bind_values, bound_rows), strict=True)
        rows_by_statement: list[list[Any]] = [[] for _ in bound_rows]
        for *row, number in _fetch_postgresql(connection, _batch_sql(compiled, connection.dialect), list(columns)):
            rows_by_statement[number - 1].append(row)
        return [compiled.make_rows(rows) for rows in rows_by_statement]

    def text(self, connection: Connection) -> str:
        """The statement as the driver gets it."""
        return self._compile_for(connection).text

    def _compile_for(self, connection: Connection) -> _Compiled:
        dialect = connection.dialect
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            statement = self._statement(dialect.name) if callable(self._statement) else self._statement
            compiled = self._compiled[dialect.name] = _compile(statement, dialect)
        return compiled


@frozen(eq=False)
class Query(Generic[T]):
    """A read that is one statement: its values, and what is made of its rows. A store is asked it, with others at once;
    inside of a transaction it is answered :meth:`on` the connection.
    """

    statement: Statement
    values: BoundValues
    make_result: Callable[[list[Any]], T]

    def run(self, connection: Connection) -> T:
        """The answer on this connection."""
        return self.make_result(self.statement.fetch_all(connection, self.values))


def _compile(statement: SqlStatement, dialect: Dialect) -> _Compiled:
    compiled = statement.compile(dialect=dialect)
    assert isinstance(compiled, SQLCompiler) and compiled.positiontup is not None
    names = tuple(compiled.positiontup)
    binds = {name: compiled.binds[name] for name in names}
    absent = isinstance(statement, Insert)
    defaults = {name: bind.effective_value for name, bind in binds.items() if absent or not bind.required}
    columns = statement.exported_columns
    return _Compiled(
        text=compiled.string,
        parameter_names=names,
        types=tuple(_dialect_type(binds[name].type, dialect) for name in names),
        default_values=defaults,
        bind_processors=_list_processors(
            [_dialect_type(binds[name].type, dialect).bind_processor(dialect) for name in names]
        ),
        result_processors=_list_processors(
            [_dialect_type(column.type, dialect).result_processor(dialect, None) for column in columns]
        ),
        make_row=_make_row_factory([str(name) for name in columns.keys()]),  # noqa: SIM118 - a collection of columns
    )


def _make_row_factory(names: Sequence[str]) -> Callable[[Sequence[Any]], Any]:
    record_type: Any = namedtuple("Record", names, rename=True)  # type: ignore[misc] # names are known when it first runs
    make: Callable[[Sequence[Any]], Any] = record_type._make
    return make


def _dialect_type(type_: TypeEngine[Any], dialect: Dialect) -> TypeEngine[Any]:
    return type_.dialect_impl(dialect)


def _list_processors(processes: Sequence[_ValueProcessor | None]) -> tuple[tuple[int, _ValueProcessor], ...]:
    return tuple((position, process) for position, process in enumerate(processes) if process is not None)


# -- drivers ------------------------------------------------------------------------------------------------------


def _fetch_sqlite(connection: Connection, text: str, values: Sequence[Any]) -> Sequence[Sequence[Any]]:
    raw: Any = connection.connection.dbapi_connection
    rows: Sequence[Sequence[Any]] = raw.execute(text, values).fetchall()
    return rows


def _execute_each_sqlite(connection: Connection, text: str, rows: Sequence[Sequence[Any]]) -> None:
    for values in rows:  # executemany takes no RETURNING
        _fetch_sqlite(connection, text, values)


def _fetch_postgresql(connection: Connection, text: str, values: Sequence[Any]) -> Sequence[Sequence[Any]]:
    raw: Any = connection.connection.driver_connection
    rows: Sequence[Sequence[Any]] = await_only(raw.fetch(text, *values))
    return rows


@cache
def _batch_sql(compiled: _Compiled, dialect: Dialect) -> str:
    """A SELECT for many values at once, each given as a column; the last column of a row counts them from 1."""
    columns = ", ".join(f"${number}::{type_.compile(dialect)}[]" for number, type_ in enumerate(compiled.types, 1))
    names = ", ".join(f"value{number}" for number in range(1, len(compiled.types) + 1))
    text = re.sub(r"\$(\d+)", r"asked.value\1", compiled.text)
    return (
        f"SELECT found.*, asked.number FROM unnest({columns}) WITH ORDINALITY AS asked({names}, number), "
        f"LATERAL ({text}) AS found"
    )


def _execute_each_postgresql(connection: Connection, text: str, rows: Sequence[Sequence[Any]]) -> None:
    raw: Any = connection.connection.driver_connection
    if len(rows) == 1:
        await_only(raw.fetch(text, *rows[0]))
    else:
        await_only(raw.executemany(text, rows))


FETCH_BY_DIALECT = {"sqlite": _fetch_sqlite, "postgresql": _fetch_postgresql}
EXECUTE_EACH_BY_DIALECT = {"sqlite": _execute_each_sqlite, "postgresql": _execute_each_postgresql}
