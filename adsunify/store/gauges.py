"""Gauges over the whole database for monitoring. They are read from partial indexes of unfinished rows."""

from __future__ import annotations

from typing import Any

from attrs import frozen
from sqlalchemy import ColumnElement, Connection, bindparam, func, literal_column, select, text

from .schema import deliveries, operations, webhooks
from .statement import Statement

MAX_COUNTED = 1_000
"""The maximum number of notifications that are counted for a subscription, so that a scrape stays fast."""


def _count_waiting(*conditions: ColumnElement[bool]) -> Any:
    """Build the sum of waiting notifications over all subscriptions."""
    waiting = (
        select(literal_column("1"))
        .where(deliveries.c.webhook_id == webhooks.c.id, deliveries.c.next_attempt_at.is_not(None), *conditions)
        .order_by(deliveries.c.next_attempt_at)  # in the order of the index; otherwise PostgreSQL scans the table
        .limit(literal_column(str(MAX_COUNTED)))
        .correlate(webhooks)
        .subquery()
    )
    return func.coalesce(func.sum(select(func.count()).select_from(waiting).scalar_subquery()), 0)


_DELIVERIES = Statement(
    select(
        _count_waiting().label("backlog"),
        _count_waiting(deliveries.c.next_attempt_at <= bindparam("now"), webhooks.c.active).label("due"),
    ).select_from(webhooks)
)
_OPERATIONS = Statement(
    select(
        func.count().label("running"),
        func.count().filter(operations.c.lease_until <= bindparam("now"), operations.c.in_flight).label("stalled"),
    ).where(text("status = 'running'"))  # a literal, because a partial index does not match a parameter
)


@frozen
class Gauges:
    """Gauges of the database.

    Attributes:
        backlog: notifications that wait for an attempt, at most :data:`MAX_COUNTED` of each subscription.
        due: the waiting notifications that are due now, without the notifications of paused subscriptions.
        running: running operations.
        stalled: running operations whose lease has expired with a write in flight.
    """

    backlog: int
    due: int
    running: int
    stalled: int


def read_gauges(connection: Connection, now: int) -> Gauges:
    """Read the gauges over all workspaces. ``now`` is in milliseconds since 1970."""
    waiting = _DELIVERIES.fetch_one(connection, {"now": now})
    executed = _OPERATIONS.fetch_one(connection, {"now": now})
    return Gauges(int(waiting.backlog), int(waiting.due), executed.running, executed.stalled)
