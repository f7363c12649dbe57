"""Finds and repairs stored times that are ahead of the machine's clock. A wrong clock has written them.

The times of receipts (``steps``), of delivery attempts and of the ledger are not changed. They are evidence, and no
decision depends on them.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen
from sqlalchemy import BigInteger, Column, Connection, Table, func, select, update

from adsunify.execution.redaction import MAX_RETRY_DELAY_MS
from adsunify.execution.state import MAX_LEASE_MILLISECONDS
from adsunify.guardrails.windows import to_hour

from . import schema
from .clock import MAX_AHEAD_MILLISECONDS
from .connections import REFRESH_MILLISECONDS
from .guardrails import repair_future_budgets
from .windows import repair_future_hours

EVIDENCE_TABLES = (schema.steps, schema.delivery_attempts, schema.ledger, schema.ledger_heads)
MAX_AHEAD = {
    schema.operations.c.lease_until: MAX_LEASE_MILLISECONDS,
    schema.change_sets.c.lease_until: MAX_LEASE_MILLISECONDS,
    schema.operations.c.not_before: MAX_RETRY_DELAY_MS,
    schema.connections.c.refreshing_until: REFRESH_MILLISECONDS,
    schema.deliveries.c.next_attempt_at: 24 * 60 * 60 * 1000,
}
"""Columns with times in the future, such as leases -> how far ahead of the clock each may be, in milliseconds."""
EXPIRY_COLUMN = "expires_at"
"""Its distance from ``created_at`` stays the same: a repair moves both."""


@frozen
class FutureColumn:
    """A column that has times ahead of the clock: the number of rows, and the latest time in milliseconds."""

    table: str
    column: str
    rows: int
    latest: int


def find_future_columns(connection: Connection, now: int) -> list[FutureColumn]:
    """Return the columns that have times ahead of ``now``, the machine's clock in milliseconds."""
    future_columns = []
    for column, limit in _list_time_limits(now):
        rows, latest = connection.execute(select(func.count(), func.max(column)).where(column > limit)).one()
        if rows:
            future_columns.append(FutureColumn(column.table.name, column.name, rows, latest))
    return future_columns


def repair_future_times(connection: Connection, now: int) -> None:
    """Set every time that is ahead of the clock to ``now``.

    A row with a ``created_at`` ahead of the clock keeps its lifetime, counted from ``now``. Operations and change sets
    expire instead, because their plans were made for another day.
    """
    limits = dict(_list_time_limits(now))
    for table in schema.metadata.sorted_tables:
        created, expires = table.c.get("created_at"), table.c.get(EXPIRY_COLUMN)
        if created is not None and expires is not None:
            new = now if table in (schema.operations, schema.change_sets) else expires - (created - now)
            connection.execute(
                update(table).where(created > limits[created], expires > now).values({EXPIRY_COLUMN: new})
            )
    for column, limit in limits.items():
        table = column.table
        assert isinstance(table, Table)
        connection.execute(update(table).where(column > limit).values({column.name: now}))
    repair_future_hours(connection, to_hour(now))
    repair_future_budgets(connection, to_hour(now))


def _list_time_limits(now: int) -> Iterator[tuple[Column[int], int]]:
    """Yield every column of times except :data:`EXPIRY_COLUMN`, with the latest time that it may have."""
    for table in schema.metadata.sorted_tables:
        if table not in EVIDENCE_TABLES:
            for column in table.c:
                if isinstance(column.type, BigInteger) and column.name != EXPIRY_COLUMN:
                    yield column, now + MAX_AHEAD_MILLISECONDS + MAX_AHEAD.get(column, 0)
