"""INSERT ... ON CONFLICT, for which SQLAlchemy has a class in each dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from sqlalchemy import Column, Select, Table, func

from .statement import SqlStatement, Statement


def insert_or_ignore(table: Table, keys: Sequence[str]) -> Statement:
    """Make a statement that inserts a row unless its keys exist, and returns the first key of an inserted row."""

    def compile_insert(dialect: str) -> SqlStatement:
        statement: SqlStatement = (
            _dialect_insert(dialect, table).on_conflict_do_nothing(index_elements=keys).returning(table.c[keys[0]])
        )
        return statement

    return Statement(compile_insert)


def insert_or_update(
    table: Table, keys: Sequence[str], changed: Sequence[str], returned: Column[Any], coalesced: Sequence[str] = ()
) -> Statement:
    """Make a statement that inserts a row, or updates the ``changed`` columns of the row with the same keys.

    ``coalesced`` columns are updated only if the new row has a value.
    """

    def compile_insert(dialect: str) -> SqlStatement:
        insert = _dialect_insert(dialect, table)
        new = insert.excluded
        values = {name: new[name] for name in changed}
        values |= {name: func.coalesce(new[name], table.c[name]) for name in coalesced}
        statement: SqlStatement = insert.on_conflict_do_update(index_elements=keys, set_=values).returning(returned)
        return statement

    return Statement(compile_insert)


def insert_or_combine(
    table: Table,
    keys: Sequence[str],
    combine: Callable[[Any], Mapping[str, Any]],
    source: Callable[[str], Select[Any]] | None = None,
) -> Statement:
    """Make a statement that inserts a row, or combines it with the row that has the same keys.

    Args:
        table: the table.
        keys: the columns of the primary key.
        combine: gets the columns of the new row, and returns the expressions of the updated columns.
        source: makes the SELECT of the rows for a dialect; None means that the caller gives the row.
    """

    def compile_insert(dialect: str) -> SqlStatement:
        insert = _dialect_insert(dialect, table)
        if source is not None:
            insert = insert.from_select([column.name for column in table.c], source(dialect))
        statement: SqlStatement = insert.on_conflict_do_update(index_elements=keys, set_=combine(insert.excluded))
        return statement

    return Statement(compile_insert)


def _dialect_insert(dialect: str, table: Table) -> Any:
    """Return the dialect's INSERT. Dialects take long to import, so only the one in use is imported."""
    return import_module(f"sqlalchemy.dialects.{dialect}").insert(table)
