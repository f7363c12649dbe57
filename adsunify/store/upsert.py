"""INSERT ... ON CONFLICT, which SQLAlchemy spells once per dialect."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from sqlalchemy import Column, Table, func

from .statement import Fixed, Statement


def insert_once(table: Table, keys: Sequence[str]) -> Statement:
    """Inserts the row unless the keys are taken; returns the first key column of a row that was inserted."""

    def spelled(dialect: str) -> Fixed:
        made: Fixed = _insert(dialect, table).on_conflict_do_nothing(index_elements=keys).returning(table.c[keys[0]])
        return made

    return Statement(spelled)


def insert_or_update(
    table: Table, keys: Sequence[str], changed: Sequence[str], returned: Column[Any], known: Sequence[str] = ()
) -> Statement:
    """Inserts the row, or gives the row with these keys the ``changed`` columns of the new one.

    Columns that are ``known`` change only where the new row has a value.
    """

    def spelled(dialect: str) -> Fixed:
        insert = _insert(dialect, table)
        new = insert.excluded
        values = {name: new[name] for name in changed}
        values |= {name: func.coalesce(new[name], table.c[name]) for name in known}
        made: Fixed = insert.on_conflict_do_update(index_elements=keys, set_=values).returning(returned)
        return made

    return Statement(spelled)


def _insert(dialect: str, table: Table) -> Any:
    """The dialect's own INSERT. A dialect is heavy: the one that is not spoken is never imported."""
    return import_module(f"sqlalchemy.dialects.{dialect}").insert(table)
