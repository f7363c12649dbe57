"""Statements straight on the driver: compiled once, bound by position.

To run a statement that was compiled before, SQLAlchemy needs fifty microseconds, and SQLite ten for most of ours. What
is special (an IN of any length, text, DDL) is left to SQLAlchemy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen
from sqlalchemy import Connection, Delete, Executable, Insert, Select, Update
from sqlalchemy.engine.result import IteratorResult, SimpleResultMetaData
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler

Values = Sequence[Any]
Convert = Callable[[Any], Any]
MOST = 1000
"""So many statements are remembered: the store has fewer, all of them made when its modules are imported."""


@frozen(eq=False)
class Prepared:
    """A statement as the driver takes it.

    ``places``: for each placeholder the name of its parameter (or None, and the statement's own value, converted) and
    how a value is converted. ``columns``: positions of the columns that are converted on their way out.
    """

    text: str
    places: tuple[tuple[str | None, Any, Convert | None], ...]
    metadata: SimpleResultMetaData
    columns: tuple[tuple[int, Convert], ...]

    def bound(self, parameters: Mapping[str, Any]) -> Values:
        """The values of the placeholders, in their order."""
        return [
            own if name is None else parameters[name] if convert is None else convert(parameters[name])
            for name, own, convert in self.places
        ]

    def read(self, row: Values) -> Values:
        """A row, its columns converted."""
        if not self.columns:
            return row
        values = list(row)
        for position, convert in self.columns:
            values[position] = convert(values[position])
        return tuple(values)


class Rows(IteratorResult[Any]):
    """What came back, as SQLAlchemy gives it; ``rowcount``: the rows that were changed."""

    rowcount = 0


class DirectConnection(Connection):
    """A connection that runs plain statements itself."""

    def execute(self, statement: Executable, parameters: Any = None, **more: Any) -> Any:
        """As SQLAlchemy's."""
        several = parameters if isinstance(parameters, list) else [parameters or {}]
        if more or not several or not isinstance(statement, Select | Insert | Update | Delete):
            return super().execute(statement, parameters, **more)
        prepared = self._prepared(statement, tuple(several[0]))
        if prepared is None:
            return super().execute(statement, parameters)
        rows: list[Values] = []
        found = Rows(prepared.metadata, iter(rows))
        for one in several:
            count, fetched = self._executed(prepared.text, prepared.bound(one))
            rows += map(prepared.read, fetched)
            found.rowcount += count
        return found

    def _executed(self, text: str, values: Values) -> tuple[int, Sequence[Values]]:
        """Run a statement on the driver: how many rows it changed, and the rows it returned."""
        try:
            cursor = self.connection.cursor()
            cursor.execute(text, values)
            return cursor.rowcount, cursor.fetchall() if cursor.description else ()
        except self.dialect.loaded_dbapi.Error as error:
            lost = self.dialect.is_disconnect(error, self.connection, None)
            if lost:
                self.invalidate(error)
            raise DBAPIError.instance(
                text,
                None,
                error,
                self.dialect.loaded_dbapi.Error,
                hide_parameters=True,
                connection_invalidated=lost,
                dialect=self.dialect,
            ) from error

    def _prepared(self, statement: Executable, names: tuple[str, ...]) -> Prepared | None:
        key = (id(statement), self.dialect.name, names)
        found = _known.get(key)
        if found is None:
            if len(_known) >= MOST:
                _known.clear()
            found = _known[key] = statement, _compiled(statement, names, self)
        return found[1]


_known: dict[tuple[int, str, tuple[str, ...]], tuple[Executable, Prepared | None]] = {}
"""By id of the statement, which is kept so that its id stays its own; dialect; names of the parameters."""


def _compiled(statement: Any, names: Sequence[str], connection: Connection) -> Prepared | None:
    """The statement for these parameters; None where its text depends on their values."""
    dialect = connection.dialect
    compiled = statement.compile(dialect=dialect, column_keys=list(names) or None)
    assert isinstance(compiled, SQLCompiler)
    if compiled.post_compile_params or compiled.literal_execute_params or compiled.insert_prefetch:
        return None
    places: list[tuple[str | None, Any, Convert | None]] = []
    for place in compiled.positiontup or ():
        bind = compiled.binds[place]
        convert = bind.type.dialect_impl(dialect).bind_processor(dialect)
        if bind.key in names:
            places.append((bind.key, None, convert))
        elif bind.required:
            return None  # SQLAlchemy says what is missing
        else:
            places.append((None, bind.effective_value if convert is None else convert(bind.effective_value), None))
    found = compiled._result_columns
    convert_out = [column.type.dialect_impl(dialect).result_processor(dialect, None) for column in found]
    return Prepared(
        str(compiled),
        tuple(places),
        SimpleResultMetaData([column.keyname for column in found]),
        tuple((position, one) for position, one in enumerate(convert_out) if one is not None),
    )
