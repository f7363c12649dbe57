"""INSERT ... ON CONFLICT, which SQLAlchemy spells once per dialect."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from sqlalchemy import Column, Table, func

from .statement import SqlStatement, Statement


def insert_or_ignore(table: Table, keys: Sequence[str]) -> Statement:
    """Inserts the row unless the keys are taken; returns the first key column of a row that was inserted."""

    def compile_insert(dialect: str) -> SqlStatement:
        statement: SqlStatement = (
            _dialect_insert(dialect, table).on_conflict_do_nothing(index_elements=keys).returning(table.c[keys[0]])
        )
        return statement

    return Statement(compile_insert)


def insert_or_update(
    table: Table, keys: Sequence[str], changed: Sequence[str], returned: Column[Any], coalesced: Sequence[str] = ()
) -> Statement:
    """Inserts the row, or gives the row with these keys the ``changed`` columns of the new one.

    Columns that are ``known`` change only where the new row has a value.
    """

    def compile_insert(dialect: str) -> SqlStatement:
        insert = _dialect_insert(dialect, table)
        new = insert.excluded
        values = {name: new[name] for name in changed}
        values |= {name: func.coalesce(new[name], table.c[name]) for name in coalesced}
        statement: SqlStatement = insert.on_conflict_do_update(index_elements=keys, set_=values).returning(returned)
        return statement

    return Statement(compile_insert)


def _dialect_insert(dialect: str, table: Table) -> Any:
    """The dialect's own INSERT. A dialect is heavy: the one that is not spoken is never imported."""
    return import_module(f"sqlalchemy.dialects.{dialect}").insert(table)
