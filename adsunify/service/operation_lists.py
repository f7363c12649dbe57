"""Lists of operations: the latest ones, and pages with filters."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.errors import invalid_input
from adsunify.execution.state import OperationStatus
from adsunify.plans.records import Action
from adsunify.store import attempts, connections, operations
from adsunify.store.attempts import StepAttempt
from adsunify.store.clock import Clock
from adsunify.store.operation_pages import MAX_TIME, OperationFilter, Place, list_operation_page
from adsunify.store.operations import OperationRecord
from adsunify.values.dates import parse_instant
from adsunify.values.exact_json import Json, dumps, loads

from . import cursors, serializers
from .core import Service, UseCaseResult
from .cursors import Position

PAGE_SIZE = 50
"""How many operations a page has by default."""
ListedOperation = tuple[OperationRecord, list[StepAttempt]]


async def list_operations(
    service: Service,
    actor: Actor,
    *,
    cursor: str | None = None,
    limit: int | None = None,
    status: OperationStatus | None = None,
    account_id: str | None = None,
    network: str | None = None,
    action: Action | None = None,
    created_by: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> UseCaseResult:
    """List operations in your scope, newest first, without plan bodies. Without parameters it lists the latest 50.

    With any parameter it lists one page. A page may be short or empty; a ``nextCursor`` means that older operations may
    follow. ``createdBy`` is a user's id or a credential. ``since`` is included, ``until`` is not. An ``accountId`` that
    the workspace does not have is 404.
    """
    filters = {
        "status": status,
        "account_id": account_id,
        "network": network,
        "action": action,
        "created_by": created_by,
        "since": since,
        "until": until,
    }
    set_filters = {name: value for name, value in filters.items() if value is not None}
    if cursor is None and limit is None and not set_filters:
        latest = await service.store.read(_list_latest, actor, service.store.clock)
        return UseCaseResult(_to_json(service, latest), is_page=False)
    position = cursors.decode_cursor(service.ring, actor.workspace_id, set_filters, cursor)
    after = None if position.native_cursor is None else tuple(loads(position.native_cursor))
    first = 0 if since is None else to_milliseconds(since, "since")
    end = MAX_TIME if until is None else to_milliseconds(until, "until")
    if first >= end:
        raise invalid_input("until", "order", "must be after since.")
    filter_ = OperationFilter(status, account_id, network, action, created_by, first, end)
    rows, following = await service.store.read(
        _list_page, actor, filter_, after, limit or PAGE_SIZE, service.store.clock
    )
    next_position = None if following is None else Position(dumps(list(following)))
    next_cursor = cursors.encode_cursor(service.ring, actor.workspace_id, set_filters, next_position)
    return UseCaseResult(_to_json(service, rows), next_cursor)


def to_milliseconds(instant: str, path: str) -> int:
    """Return the first whole millisecond at an instant or after it. The rows of lists are dated in milliseconds."""
    return -((datetime(1970, 1, 1, tzinfo=UTC) - parse_instant(instant, path)) // timedelta(milliseconds=1))


def _to_json(service: Service, rows: Sequence[ListedOperation]) -> list[Json]:
    return [serializers.operation_to_json(service, record, step_attempts) for record, step_attempts in rows]


def _list_latest(connection: Connection, actor: Actor, clock: Clock) -> list[ListedOperation]:
    return _add_attempts(connection, operations.list_operations(connection, actor, clock))


def _list_page(
    connection: Connection, actor: Actor, filter_: OperationFilter, after: Place | None, limit: int, clock: Clock
) -> tuple[list[ListedOperation], Place | None]:
    if filter_.account_id is not None:
        connections.get_account(connection, actor, filter_.account_id)
    records, following = list_operation_page(connection, actor, filter_, after, limit, clock)
    return _add_attempts(connection, records), following


def _add_attempts(connection: Connection, records: Sequence[OperationRecord]) -> list[ListedOperation]:
    step_attempts = attempts.list_attempts_by_operation(
        connection, [record.id for record in records if record.is_claimed]
    )
    return [(record, step_attempts.get(record.id, [])) for record in records]
