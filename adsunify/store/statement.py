"""Fixed statements that are compiled once and run directly on the driver.

SQLAlchemy needs 60 to 100 us to execute a statement, more than the driver and SQLite together. Therefore statements at
module level are a :class:`Statement`; :mod:`.lists` makes a list of values one parameter. Rare statements go through
``connection.execute``. Both can be mixed, because the store begins and ends the transaction on the driver. A read of
one statement is a :class:`Query`, which needs no transaction.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Generic, TypeVar

from attrs import frozen
from sqlalchemy import (
    ARRAY,
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Insert,
    ReturnsRows,
    Text,
    TypeDecorator,
    any_,
    bindparam,
    func,
    select,
)
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.dml import UpdateBase
from sqlalchemy.types import TypeEngine
from sqlalchemy.util import await_only

from adsunify.values.exact_json import dumps

BoundValues = Mapping[str, Any]
SqlStatement = ReturnsRows | UpdateBase
T = TypeVar("T")
_ValueProcessor = Callable[[Any], Any]


@frozen(eq=False)
class _Compiled:
    """A statement compiled for one dialect. ``default_values`` are the values that are part of the statement."""

    text: str
    parameter_names: tuple[str, ...]
    types: tuple[TypeEngine[Any], ...]
    default_values: BoundValues
    bind_processors: tuple[tuple[int, _ValueProcessor], ...]
    result_processors: tuple[tuple[int, _ValueProcessor], ...]
    make_row: Callable[[Sequence[Any]], Any]

    def bind_values(self, values: BoundValues) -> list[Any]:
        """Return the values by position, converted for the driver."""
        all_ = {**self.default_values, **values} if self.default_values else values
        bound = [all_[name] for name in self.parameter_names]
        for position, process in self.bind_processors:
            bound[position] = process(bound[position])
        return bound

    def make_rows(self, rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Convert the rows of the driver to records."""
        if not self.result_processors:
            return [self.make_row(values) for values in rows]
        records = []
        for values in map(list, rows):
            for position, process in self.result_processors:
                values[position] = process(values[position])
            records.append(self.make_row(values))
        return records


class Statement:
    """A fixed statement with ``bindparam`` for its values. Result rows have the names of the columns as attributes.

    Values that the statement does not name are ignored. A row to be inserted may omit nullable columns. If the
    statement differs between dialects, it is given as a function of the dialect's name.
    """

    def __init__(self, statement: SqlStatement | Callable[[str], SqlStatement]) -> None:
        self._statement = statement
        self._compiled: dict[str, _Compiled] = {}

    def fetch_all(self, connection: Connection, values: BoundValues) -> list[Any]:
        """Run the statement and return all rows."""
        compiled = self._compile_for(connection)
        return compiled.make_rows(
            FETCH_BY_DIALECT[connection.dialect.name](connection, compiled.text, compiled.bind_values(values))
        )

    def fetch_one_or_none(self, connection: Connection, values: BoundValues) -> Any:
        """Run the statement and return its only row, or None."""
        rows = self.fetch_all(connection, values)
        return rows[0] if rows else None

    def fetch_one(self, connection: Connection, values: BoundValues) -> Any:
        """Run the statement and return its only row. Raises LookupError if no row matches."""
        rows = self.fetch_all(connection, values)
        if not rows:
            raise LookupError(f"no row was returned by {self.text(connection)}")
        return rows[0]

    def execute_each(self, connection: Connection, rows: Sequence[BoundValues]) -> None:
        """Run the statement for each of these rows, and ignore its results. Without rows nothing is sent."""
        if not rows:
            return
        compiled = self._compile_for(connection)
        EXECUTE_EACH_BY_DIALECT[connection.dialect.name](
            connection, compiled.text, [compiled.bind_values(row) for row in rows]
        )

    def fetch_all_batched(self, connection: Connection, bound_rows: Sequence[BoundValues]) -> list[list[Any]]:
        """Run a SELECT for many sets of values in one round trip, and return the rows of each. PostgreSQL only."""
        if len(bound_rows) == 1:
            return [self.fetch_all(connection, bound_rows[0])]
        compiled = self._compile_for(connection)
        columns = zip(*map(compiled.bind_values, bound_rows), strict=True)
        rows_by_statement: list[list[Any]] = [[] for _ in bound_rows]
        for *row, number in _fetch_postgresql(connection, self.batch_text(connection), list(columns)):
            rows_by_statement[number - 1].append(row)
        return [compiled.make_rows(rows) for rows in rows_by_statement]

    def text(self, connection: Connection) -> str:
        """Return the SQL text that the driver gets."""
        return self._compile_for(connection).text

    def batch_text(self, connection: Connection) -> str:
        """Return the SQL text of :meth:`fetch_all_batched` that the driver gets."""
        return _batch_sql(self._compile_for(connection), connection.dialect)

    def _compile_for(self, connection: Connection) -> _Compiled:
        dialect = connection.dialect
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            statement = self._statement(dialect.name) if callable(self._statement) else self._statement
            compiled = self._compiled[dialect.name] = _compile(statement, dialect)
        return compiled


class _TextList(TypeDecorator[Sequence[str]]):
    """A list of texts as one value: an array on PostgreSQL, a JSON text on SQLite."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(ARRAY(Text) if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: Sequence[str] | None, dialect: Dialect) -> Any:
        return value if value is None or dialect.name == "postgresql" else dumps(list(value))


def is_one_of(dialect: str, column: Column[str], name: str) -> ColumnElement[bool]:
    """Make the condition that a column equals one of the texts of a parameter, which is a list."""
    values: Any = bindparam(name, type_=_TextList)
    if dialect == "postgresql":
        return column == any_(values)
    return column.in_(select(func.json_each(values).table_valued("value").c.value))


def set_savepoint(connection: Connection, name: str) -> None:
    """Set a savepoint. It ends with the transaction."""
    FETCH_BY_DIALECT[connection.dialect.name](connection, f"SAVEPOINT {name}", ())


def roll_back_to_savepoint(connection: Connection, name: str) -> None:
    """Undo everything since the savepoint, and release the locks taken since."""
    FETCH_BY_DIALECT[connection.dialect.name](connection, f"ROLLBACK TO SAVEPOINT {name}", ())


@frozen(eq=False)
class Query(Generic[T]):
    """A read of one statement: the statement, its values, and the function that makes the result from the rows.

    :meth:`Store.run_query` combines concurrent queries. Inside a transaction :meth:`run` executes it.
    """

    statement: Statement
    values: BoundValues
    make_result: Callable[[list[Any]], T]

    def run(self, connection: Connection) -> T:
        """Run the query on a connection and return its result."""
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
    for values in rows:  # executemany does not support RETURNING
        _fetch_sqlite(connection, text, values)


def _fetch_postgresql(connection: Connection, text: str, values: Sequence[Any]) -> Sequence[Sequence[Any]]:
    raw: Any = connection.connection.driver_connection
    rows: Sequence[Sequence[Any]] = await_only(raw.fetch(text, *values))
    return rows


@cache
def _batch_sql(compiled: _Compiled, dialect: Dialect) -> str:
    """Build a SELECT for many sets of values.

    Each value is a column, and the last column of a row is the number of its set. ``OFFSET 0`` makes PostgreSQL look up
    each set by the index, instead of joining all sets with the whole table. PostgreSQL would choose that join while the
    table is small, and keep it in a cached plan while the table grows.
    """
    columns = ", ".join(f"${number}::{type_.compile(dialect)}[]" for number, type_ in enumerate(compiled.types, 1))
    names = ", ".join(f"value{number}" for number in range(1, len(compiled.types) + 1))
    text = re.sub(r"\$(\d+)", r"asked.value\1", compiled.text)
    return (
        f"SELECT found.*, asked.number FROM unnest({columns}) WITH ORDINALITY AS asked({names}, number), "
        f"LATERAL (SELECT * FROM ({text}) AS row OFFSET 0) AS found"
    )


def _execute_each_postgresql(connection: Connection, text: str, rows: Sequence[Sequence[Any]]) -> None:
    raw: Any = connection.connection.driver_connection
    if len(rows) == 1:
        await_only(raw.fetch(text, *rows[0]))
    else:
        await_only(raw.executemany(text, rows))


FETCH_BY_DIALECT = {"sqlite": _fetch_sqlite, "postgresql": _fetch_postgresql}
EXECUTE_EACH_BY_DIALECT = {"sqlite": _execute_each_sqlite, "postgresql": _execute_each_postgresql}
