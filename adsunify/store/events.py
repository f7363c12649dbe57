"""The outbox: an event is recorded, and queued for its subscribers, in the transaction of the reported change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from attrs import frozen
from sqlalchemy import Connection, bindparam, exists, insert, select

from adsunify.events import build_event_body
from adsunify.execution.state import build_operation_event_data
from adsunify.values.exact_json import Json, dumps

from . import deliveries, schema, webhooks
from .clock import new_id
from .schema import events
from .statement import Statement

_HAS_SUBSCRIBERS = exists().where(schema.webhooks.c.workspace_id == bindparam("of_workspace"))
"""Whether the workspace has subscriptions. The INSERT of the event returns it, which saves a query in most cases."""
_INSERT = Statement(insert(events).returning(_HAS_SUBSCRIBERS.label("heard")))
_LATEST = Statement(
    select(events)
    .where(events.c.workspace_id == bindparam("of_workspace"))
    .order_by(events.c.id.desc())
    .limit(bindparam("at_most"))
)
_OF_OPERATION = Statement(
    select(events).where(events.c.operation_id == bindparam("of_operation")).order_by(events.c.created_at, events.c.id)
)


@frozen
class EventRecord:
    """One event. ``data`` holds identifiers only. Times are in milliseconds since 1970."""

    id: str
    workspace_id: str
    type: str
    operation_id: str | None
    account_id: str | None
    data: Mapping[str, Json]
    created_at: int


def make_event_row(
    kind: str,
    workspace_id: str,
    at: int,
    *,
    status: str,
    operation_id: str | None = None,
    account_id: str | None = None,
    network: str | None = None,
    more: Mapping[str, Json] | None = None,
) -> dict[str, Any]:
    """Make the row of an event. The caller passes it to :func:`record_events`."""
    return {
        "id": new_id(at),
        "workspace_id": workspace_id,
        "type": kind,
        "operation_id": operation_id,
        "account_id": account_id,
        "data": build_operation_event_data(operation_id, account_id, network, status) | dict(more or {}),
        "created_at": at,
    }


def record_events(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Record events of one workspace (rows from :func:`make_event_row`), and queue them for their subscribers."""
    if not rows:
        return
    assert all(row["workspace_id"] == rows[0]["workspace_id"] for row in rows), "the events of one workspace"
    first, *others = [{**row, "of_workspace": row["workspace_id"]} for row in rows]
    heard = _INSERT.fetch_one(connection, first).heard
    _INSERT.execute_each(connection, others)
    if not heard:
        return
    queued = [
        deliveries.make_due_delivery(
            subscription.id,
            subscription.url,
            row["id"],
            row["type"],
            notification_body(row if subscription.scope is None else _hide_rule_name(row)),
            row["created_at"],
        )
        for subscription in webhooks.list_subscriptions(connection, rows[0]["workspace_id"], rows[0]["created_at"])
        for row in rows
        if row["type"] in subscription.events
        and subscription.account_id in (None, row["account_id"])
        and (subscription.scope is None or subscription.scope.has_account(row["account_id"], row["data"]["network"]))
    ]
    deliveries.queue_deliveries(connection, queued)


def _hide_rule_name(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the row of an event with the id of its rule in place of the name, which a scope may hide."""
    id_ = row["data"].get("guardrailId") or row["data"].get("alertId")
    return row if id_ is None else {**row, "data": {**row["data"], "rule": id_}}


def notification_body(row: Mapping[str, Any]) -> str:
    """Return the body of a notification as text. All attempts send the same bytes."""
    at = datetime.fromtimestamp(row["created_at"] / 1000, UTC)
    return dumps(build_event_body(row["id"], row["type"], at, row["workspace_id"], row["data"]))


def list_events(connection: Connection, workspace_id: str, limit: int = 100) -> list[EventRecord]:
    """Return the latest events of a workspace, newest first."""
    return _events_from_rows(_LATEST.fetch_all(connection, {"of_workspace": workspace_id, "at_most": limit}))


def list_operation_events(connection: Connection, operation_id: str) -> list[EventRecord]:
    """Return the events of an operation, oldest first."""
    return _events_from_rows(_OF_OPERATION.fetch_all(connection, {"of_operation": operation_id}))


def _events_from_rows(rows: Sequence[Any]) -> list[EventRecord]:
    return [EventRecord(**row._asdict()) for row in rows]
