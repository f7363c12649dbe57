"""INSERT ... ON CONFLICT, which SQLAlchemy spells once per dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, Table, func
from sqlalchemy.dialects import postgresql, sqlite

from .statement import Statement


def insert_once(table: Table, keys: Sequence[str]) -> Statement:
    """Inserts the row unless the keys are taken; returns the first key column of a row that was inserted."""
    returned = table.c[keys[0]]
    return Statement(
        spelled={
            "sqlite": sqlite.insert(table).on_conflict_do_nothing(index_elements=keys).returning(returned),
            "postgresql": postgresql.insert(table).on_conflict_do_nothing(index_elements=keys).returning(returned),
        }
    )


def insert_or_update(
    table: Table, keys: Sequence[str], changed: Sequence[str], returned: Column[Any], known: Sequence[str] = ()
) -> Statement:
    """Inserts the row, or gives the row with these keys the ``changed`` columns of the new one.

    Columns that are ``known`` change only where the new row has a value.
    """
    lite, postgres = sqlite.insert(table), postgresql.insert(table)

    def values(new: Any) -> dict[str, Any]:
        return {name: new[name] for name in changed} | {name: func.coalesce(new[name], table.c[name]) for name in known}

    return Statement(
        spelled={
            "sqlite": lite.on_conflict_do_update(index_elements=keys, set_=values(lite.excluded)).returning(returned),
            "postgresql": postgres.on_conflict_do_update(index_elements=keys, set_=values(postgres.excluded)).returning(
                returned
            ),
        }
    )
