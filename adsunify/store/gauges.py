"""What a person who watches the whole database wants to know, from indexes that hold only what is open."""

from __future__ import annotations

from attrs import frozen
from sqlalchemy import Connection, bindparam, func, select

from .schema import deliveries, operations

_DELIVERIES = select(func.count(), func.count().filter(deliveries.c.next_attempt_at <= bindparam("now"))).where(
    deliveries.c.next_attempt_at.is_not(None)
)
_OPERATIONS = select(
    func.count(),
    func.count().filter(operations.c.lease_until <= bindparam("now"), operations.c.in_flight),
).where(operations.c.status == "running")


@frozen
class Gauges:
    """``backlog``: notifications waiting for an attempt, ``due`` of them by now. ``stalled``: of the ``running``
    operations, those whose lease ran out with a write in flight."""

    backlog: int
    due: int
    running: int
    stalled: int


def gauges(connection: Connection, now: int) -> Gauges:
    """How things stand at ``now``, over all workspaces."""
    backlog, due = connection.execute(_DELIVERIES, {"now": now}).one()
    running, stalled = connection.execute(_OPERATIONS, {"now": now}).one()
    return Gauges(backlog, due, running, stalled)
