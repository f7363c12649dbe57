"""Fixed statements, run on the driver itself: the same values come back, and failures raise the usual errors."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import Column, Connection, MetaData, Table, Text, bindparam, insert, select, update

from adsunify.store import Store
from adsunify.store.schema import oauth_clients, workspaces
from adsunify.store.statement import Statement

INSERT = Statement(insert(workspaces))
NAMED = Statement(select(workspaces).where(workspaces.c.name == bindparam("the_name")))
RENAME = Statement(
    update(workspaces)
    .where(workspaces.c.name == bindparam("before"), workspaces.c.require_approval.is_(True))
    .values(name=bindparam("after"), require_approval=False)
    .returning(workspaces.c.id, workspaces.c.require_approval)
)


def row(name: str) -> dict[str, Any]:
    values = {"require_approval": True, "created_at": 1 << 40, "guardrails_version": 0}
    return {"id": f"id of {name}", "name": name, **values}


def keep(connection: Connection, *names: str) -> None:
    INSERT.execute_each(connection, [row(name) for name in names])


async def test_rows_have_names_and_the_types_of_their_columns(store: Store) -> None:
    await store.write(keep, "a", "b")
    stored_row = await store.read(NAMED.fetch_one, {"the_name": "b"})
    assert stored_row._asdict() == row("b")
    assert stored_row.require_approval is True
    assert await store.read(NAMED.fetch_one_or_none, {"the_name": "c"}) is None
    with pytest.raises(LookupError, match="FROM workspaces"):
        await store.read(NAMED.fetch_one, {"the_name": "c"})


async def test_a_statement_brings_its_own_values(store: Store) -> None:
    await store.write(keep, "a")
    change = {"before": "a", "after": "z", "nobody asks for": 1}
    assert [tuple(renamed) for renamed in await store.write(RENAME.fetch_all, change)] == [("id of a", False)]
    assert await store.write(RENAME.fetch_all, change) == []


async def test_exact_json_goes_in_and_comes_out(store: Store) -> None:
    statement = Statement(insert(oauth_clients).returning(oauth_clients.c.redirect_uris))
    value: Mapping[str, Any] = {"exact": Decimal("1.10"), "large": 1 << 70, "text": "ä"}
    client_row = {"id": "1", "name": "n", "redirect_uris": value, "created_at": 1}
    assert (await store.write(statement.fetch_one, client_row)).redirect_uris == value


async def test_without_rows_nothing_is_sent(store: Store) -> None:
    missing = Statement(insert(Table("no_such_table", MetaData(), Column("name", Text))))
    await store.write(missing.execute_each, [])  # a database that gets the statement refuses it


async def test_a_value_that_is_not_given_is_a_defect(store: Store) -> None:
    with pytest.raises(KeyError, match="the_name"):
        await store.read(NAMED.fetch_all, {})


async def test_statements_of_both_kinds_share_their_transaction(store: Store) -> None:
    def keep_both_and_fail(connection: Connection) -> None:
        keep(connection, "a")
        connection.execute(insert(workspaces), row("b"))
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        await store.write(keep_both_and_fail)
    for name in ("a", "b"):
        assert await store.read(NAMED.fetch_all, {"the_name": name}) == []


async def test_a_taken_key_is_a_defect_of_its_caller_alone(store: Store) -> None:
    await store.write(keep, "a")
    done = await asyncio.gather(store.write(keep, "a"), store.write(keep, "b"), return_exceptions=True)
    assert [isinstance(outcome, Exception) for outcome in done] == [True, False]
    assert type(done[0]).__name__ in ("IntegrityError", "UniqueViolationError")
    await store.write(keep, "c")
    assert await store.read(NAMED.fetch_one, {"the_name": "b"})
