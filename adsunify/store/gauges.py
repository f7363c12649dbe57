"""What a person who watches the whole database wants to know, from indexes that hold only what is open."""

from __future__ import annotations

from typing import Any

from attrs import frozen
from sqlalchemy import ColumnElement, Connection, bindparam, func, literal_column, select, text

from .schema import deliveries, operations, webhooks
from .statement import Statement

MAX_COUNTED = 1_000
"""So many notifications are counted of each subscription: whoever scrapes is not kept waiting by a million of them."""


def _count_waiting(*conditions: ColumnElement[bool]) -> Any:
    """How many of its notifications wait, added up over the subscriptions."""
    waiting = (
        select(literal_column("1"))
        .where(deliveries.c.webhook_id == webhooks.c.id, deliveries.c.next_attempt_at.is_not(None), *conditions)
        .order_by(deliveries.c.next_attempt_at)  # as the index has them: PostgreSQL would walk through the table
        .limit(literal_column(str(MAX_COUNTED)))
        .correlate(webhooks)
        .subquery()
    )
    return func.coalesce(func.sum(select(func.count()).select_from(waiting).scalar_subquery()), 0)


_DELIVERIES = Statement(
    select(
        _count_waiting().label("backlog"),
        _count_waiting(deliveries.c.next_attempt_at <= bindparam("now")).label("due"),
    ).select_from(webhooks)
)
_OPERATIONS = Statement(
    select(
        func.count().label("running"),
        func.count().filter(operations.c.lease_until <= bindparam("now"), operations.c.in_flight).label("stalled"),
    ).where(text("status = 'running'"))  # as the index says it: a parameter would not be known to match
)


@frozen
class Gauges:
    """``backlog``: notifications waiting for an attempt, ``due`` of them by now; at most :data:`MAX_COUNTED` of a
    subscription are counted. ``stalled``: of the ``running`` operations, those whose lease ran out with a write in
    flight.
    """

    backlog: int
    due: int
    running: int
    stalled: int


def read_gauges(connection: Connection, now: int) -> Gauges:
    """How things stand at ``now``, over all workspaces."""
    waiting = _DELIVERIES.fetch_one(connection, {"now": now})
    executed = _OPERATIONS.fetch_one(connection, {"now": now})
    return Gauges(int(waiting.backlog), int(waiting.due), executed.running, executed.stalled)
