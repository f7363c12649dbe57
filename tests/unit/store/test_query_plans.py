"""No statement walks through a table that grows with every operation, on the engine that tells how it will be run."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module

import pytest
from sqlalchemy import Connection, Delete, Select, Update

from adsunify import store
from adsunify.store import operations
from adsunify.store.statement import Statement

from .world import World

OF_EXECUTIONS = "operations|steps|events|idempotency_keys|entities|deliveries|delivery_attempts"
GROWING = f"{OF_EXECUTIONS}|guardrail_uses|guardrail_hours|budgets|figure_reads|figures|staged_figures"
WALK = re.compile(rf"SCAN ({GROWING})\b")
LISTED = re.compile(r"\(__\[POSTCOMPILE_\w+\]\)")
WALKS = {
    "gauges._OPERATIONS": "SCAN operations USING INDEX ix_operations_running",  # holds those that run
    "deliveries._NEXT_WEBHOOKS": "SCAN deliveries USING COVERING INDEX ix_deliveries_due",  # one step
}
"""Full scans that are accepted, each with its reason."""


def statements(connection: Connection) -> Iterator[tuple[str, str]]:
    """Every statement that stands in a module of the store: where, and its text."""
    for module in pkgutil.iter_modules(store.__path__):
        for name, statement in vars(import_module(f"{store.__name__}.{module.name}")).items():
            if isinstance(statement, Statement):
                yield f"{module.name}.{name}", statement.text(connection)
            elif isinstance(statement, Select | Update | Delete):
                yield f"{module.name}.{name}", LISTED.sub("(?)", str(statement.compile(dialect=connection.dialect)))


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_no_statement_walks_through_a_table_that_grows(world: World) -> None:
    def list_walks(connection: Connection) -> dict[str, str]:
        details = {}
        for name, query in statements(connection):
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", (1,) * query.count("?")):
                if WALK.match(row.detail):
                    details[name] = row.detail
        return details

    assert await world.store.read(list_walks) == WALKS


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_sets_of_values_are_looked_up_by_the_index(world: World) -> None:
    """Also while the table is new: PostgreSQL keeps the plan of a prepared statement while the table grows."""

    def explain(connection: Connection) -> str:
        text = operations._FIND_BOUND_KEY.batch_text(connection)
        many = re.sub(r"\$\d+", "ARRAY(SELECT generate_series(1, 50)::VARCHAR)", text)
        return "\n".join(row[0] for row in connection.exec_driver_sql(f"EXPLAIN {many}"))

    plan = await world.store.read(explain)
    assert "Index Scan using" in plan, plan
    assert "Hash" not in plan, plan
    assert "Seq Scan" not in plan, plan
