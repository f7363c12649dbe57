"""Statements that run straight on the driver do what SQLAlchemy does with them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import Connection, Select, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError, StatementError

from adsunify.store import Store
from adsunify.store.schema import operations, workspaces

from .world import World

ROWS = [{"id": f"w{n}", "name": f"shop {n}", "require_approval": n == 1, "created_at": n} for n in range(3)]
ALL = select(workspaces).where(workspaces.c.created_at >= bindparam("since")).order_by(workspaces.c.id)
SOME = select(workspaces.c.id).where(workspaces.c.id.in_(bindparam("ids", expanding=True))).order_by(workspaces.c.id)


def both(connection: Connection, statement: Select[Any], values: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows, when SQLAlchemy itself runs the statement and when we do: they are the same, names and types too."""
    theirs = [dict(row._mapping) for row in Connection.execute(connection, statement, values).all()]
    ours = [dict(row._mapping) for row in connection.execute(statement, values).all()]
    assert repr(ours) == repr(theirs)
    return ours


async def test_rows_are_the_same_whoever_runs_the_statement(store: Store) -> None:
    await store.write(lambda connection: connection.execute(insert(workspaces), ROWS).all())
    assert await store.read(both, ALL, {"since": 0}) == ROWS
    assert await store.read(both, ALL, {"since": 2}) == ROWS[2:]
    assert await store.read(both, SOME, {"ids": ["w0", "w2", "w9"]}) == [{"id": "w0"}, {"id": "w2"}]


async def test_json_keeps_its_numbers(world: World) -> None:
    operation_id = await world.prepare()
    error = {"amount": Decimal("0.10"), "deep": [1, None, {"x": True}]}

    def kept(connection: Connection) -> Any:
        of_this = operations.c.id == bindparam("the_id")
        changed = update(operations).where(of_this).values(error=bindparam("new_error")).returning(operations.c.error)
        return connection.execute(changed, {"the_id": operation_id, "new_error": error}).scalar_one()

    assert await world.store.write(kept) == error
    (row,) = await world.store.read(both, select(operations), {})
    assert (row["error"], row["next_action"], row["lease_until"]) == (error, False, None)


async def test_a_parameter_that_is_missing_is_not_null(store: Store) -> None:
    with pytest.raises(StatementError, match="since"):
        await store.read(lambda connection: connection.execute(ALL, {}).all())


async def test_what_the_database_refuses_is_told_without_the_values(store: Store) -> None:
    def twice(connection: Connection) -> None:
        connection.execute(delete(workspaces).where(workspaces.c.id == "nobody"))
        connection.execute(insert(workspaces), [ROWS[0], {**ROWS[0], "name": "a secret"}])

    with pytest.raises(IntegrityError) as refusal:
        await store.write(twice)
    assert "a secret" not in str(refusal.value).replace(str(refusal.value.orig), "")
    assert await store.read(lambda connection: connection.execute(select(workspaces)).all()) == []
