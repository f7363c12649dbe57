"""Deliveries of events to subscriptions, and their attempts.

A delivery is queued in the transaction of its event. A worker that claims a delivery stores the attempt before it sends
anything, and sets the next attempt to the end of its lease. If the worker dies, the lease expires and the delivery is
due again. So every attempt has a row, and no delivery is lost.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from attrs import asdict, frozen
from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Connection,
    Integer,
    Text,
    and_,
    bindparam,
    case,
    cast,
    column,
    func,
    insert,
    literal_column,
    select,
    update,
)

from adsunify.actor import Actor
from adsunify.errors import Conflict, NotFound
from adsunify.ledger import LedgerEntry

from .clock import Clock, new_id
from .driver import notify
from .ledger import record_entry
from .lists import EXPAND_LIST_BY_DIALECT, match_array
from .schema import ExactJson, deliveries, delivery_attempts, secrets, webhooks
from .statement import SqlStatement, Statement
from .webhooks import ENDED_REASON, SECRETS_TABLE, get_webhook, join_authority, require_not_ended

LEASE_MILLISECONDS = 5 * 60 * 1000
MAX_TRIES = 8


@frozen
class DeliveryRecord:
    """The delivery of one event to one subscription. Times are in milliseconds since 1970.

    ``attempts`` counts all attempts; ``tries`` counts the attempts since the delivery was queued last (at most 8).
    While a worker delivers it, ``next_attempt_at`` is the end of the worker's lease.
    """

    id: str
    webhook_id: str
    event_id: str
    type: str
    url: str
    body: str
    status: str
    attempts: int
    tries: int
    next_attempt_at: int | None
    created_at: int


@frozen
class DeliveryAttemptRecord:
    """One attempt: the status of the response, or an error.

    If both are missing, the worker ended before the response.
    """

    number: int
    at: int
    duration_ms: int | None
    status_code: int | None
    error: str | None


@frozen
class ClaimedDelivery:
    """A delivery that the worker must send before ``lease_end`` (milliseconds since 1970).

    ``attempt`` counts all attempts; ``tries`` counts the attempts since the delivery was queued last. ``sealed_secret``
    is the encrypted signing secret.
    """

    id: str
    webhook_id: str
    workspace_id: str
    event_id: str
    url: str
    body: str
    sealed_secret: str | None
    attempt: int
    tries: int
    lease_end: int


@frozen
class AttemptOutcome:
    """The result of an attempt, with the new ``status`` of its delivery and the time of the next attempt, if any."""

    delivery_id: str
    attempt: int
    duration_ms: int
    status_code: int | None
    error: str | None
    status: str
    next_attempt_at: int | None


# -- queueing -----------------------------------------------------------------------------------------------------

_QUEUE = Statement(insert(deliveries))


def make_due_delivery(webhook_id: str, url: str, event_id: str, kind: str, body: str, at: int) -> DeliveryRecord:
    """Make a delivery that is due at once. The caller passes it to :func:`queue_deliveries`."""
    return DeliveryRecord(new_id(at), webhook_id, event_id, kind, url, body, "pending", 0, 0, at, at)


def queue_deliveries(connection: Connection, queued: Sequence[DeliveryRecord]) -> None:
    """Queue deliveries in the transaction of their event."""
    if queued:
        notify(connection)
        _QUEUE.execute_each(connection, [asdict(delivery, recurse=False) for delivery in queued])


# -- deliveries ---------------------------------------------------------------------------------------------------

_LATEST = (
    select(deliveries)
    .where(deliveries.c.webhook_id == bindparam("of_webhook"))
    .order_by(deliveries.c.id.desc())
    .limit(bindparam("at_most"))
)
_DELIVERY = select(deliveries).where(
    deliveries.c.id == bindparam("the_id"), deliveries.c.webhook_id == bindparam("of_webhook")
)
_ATTEMPTS = (
    select(
        delivery_attempts.c.number,
        delivery_attempts.c.at,
        delivery_attempts.c.duration_ms,
        delivery_attempts.c.status_code,
        delivery_attempts.c.error,
    )
    .where(delivery_attempts.c.delivery_id == bindparam("of_delivery"))
    .order_by(delivery_attempts.c.number)
)


def list_deliveries(connection: Connection, actor: Actor, webhook_id: str, limit: int = 100) -> list[DeliveryRecord]:
    """Return the latest deliveries of a subscription, newest first. Raises NotFound."""
    get_webhook(connection, actor, webhook_id)
    rows = connection.execute(_LATEST, {"of_webhook": webhook_id, "at_most": limit}).all()
    return [DeliveryRecord(**row._mapping) for row in rows]


def list_delivery_attempts(
    connection: Connection, actor: Actor, webhook_id: str, delivery_id: str
) -> list[DeliveryAttemptRecord]:
    """Return all attempts of a delivery, oldest first. Raises NotFound."""
    _get_delivery(connection, actor, webhook_id, delivery_id)
    return [
        DeliveryAttemptRecord(**row._mapping)
        for row in connection.execute(_ATTEMPTS, {"of_delivery": delivery_id}).all()
    ]


def requeue_delivery(
    connection: Connection, actor: Actor, webhook_id: str, delivery_id: str, clock: Clock
) -> DeliveryRecord:
    """Queue a finished delivery again with the same event id and 8 new tries. The numbers of its attempts continue.

    Raises:
        NotFound: the caller has no such webhook or delivery.
        Conflict: the delivery is still pending, or its subscription has ended.
    """
    webhook = get_webhook(connection, actor, webhook_id)
    delivery = _get_delivery(connection, actor, webhook_id, delivery_id)
    require_not_ended(connection, webhook, clock)
    if delivery.status in ("pending", "delivering"):
        message = "This notification is not finished. It can be sent again after it has succeeded or failed."
        raise Conflict(message, code="delivery_pending")
    notify(connection)
    connection.execute(
        update(deliveries)
        .where(deliveries.c.id == delivery_id)
        .values(status="pending", tries=0, next_attempt_at=clock.now(), url=webhook.url)
    )
    before, after = {"status": delivery.status}, {"status": "pending"}
    entry = LedgerEntry(webhook.workspace_id, actor, "delivery", delivery_id, webhook.account_id, None, before, after)
    record_entry(connection, entry, clock)
    return _get_delivery(connection, actor, webhook_id, delivery_id)


def _get_delivery(connection: Connection, actor: Actor, webhook_id: str, delivery_id: str) -> DeliveryRecord:
    get_webhook(connection, actor, webhook_id)
    row = connection.execute(_DELIVERY, {"the_id": delivery_id, "of_webhook": webhook_id}).one_or_none()
    if row is None:
        raise NotFound("This webhook has no such delivery.")
    return DeliveryRecord(**row._mapping)


# -- delivering ---------------------------------------------------------------------------------------------------

_ONE: Any = literal_column("1")
"""A literal 1. With a parameter as LIMIT, PostgreSQL would plan the statement again each time."""
_IS_QUEUED = deliveries.c.next_attempt_at.is_not(None)
_later_deliveries = deliveries.alias("later")
_waiting_webhooks = select(
    select(deliveries.c.webhook_id)
    .where(_IS_QUEUED)
    .order_by(deliveries.c.webhook_id)
    .limit(_ONE)
    .scalar_subquery()
    .label("id")
).cte("waiting", recursive=True)
_waiting_webhooks = _waiting_webhooks.union_all(
    select(
        select(_later_deliveries.c.webhook_id)
        .where(
            _later_deliveries.c.next_attempt_at.is_not(None), _later_deliveries.c.webhook_id > _waiting_webhooks.c.id
        )
        .order_by(_later_deliveries.c.webhook_id)
        .limit(_ONE)
        .scalar_subquery()
    ).where(_waiting_webhooks.c.id.is_not(None))
)
"""The subscriptions with waiting deliveries, found with one index step for each subscription.

So the statement does not scan the deliveries of subscriptions that are paused or full.
"""
_due_at = (
    select(deliveries.c.next_attempt_at)
    .where(deliveries.c.webhook_id == webhooks.c.id, _IS_QUEUED)
    .order_by(deliveries.c.next_attempt_at)
    .limit(_ONE)
    .scalar_subquery()
)
_NEXT_WEBHOOKS = Statement(
    lambda dialect: (
        join_authority(
            select(
                webhooks.c.id,
                webhooks.c.workspace_id,
                secrets.c.sealed,
                ENDED_REASON.is_(None).label("lives"),
                _due_at.label("due_at"),
            ).join(_waiting_webhooks, _waiting_webhooks.c.id == webhooks.c.id)
        )
        .outerjoin(secrets, and_(secrets.c.table_name == SECRETS_TABLE, secrets.c.row_id == webhooks.c.id))
        .where(webhooks.c.active, webhooks.c.id.not_in(EXPAND_LIST_BY_DIALECT[dialect]("full")))
        .order_by("due_at")
        .limit(bindparam("at_most"))
    )
)
_may_attempt = and_(bindparam("lives", type_=Boolean), deliveries.c.tries < MAX_TRIES)
_attempt_increment = case((_may_attempt, 1), else_=0)
_INSERT_ATTEMPTS = Statement(insert(delivery_attempts))


def _take_due_sql(dialect: str) -> SqlStatement:
    """Build the statement that claims the due deliveries of a subscription.

    Deliveries without tries left become ``failed`` and are not due again. On PostgreSQL the statement also inserts
    the attempts.
    """
    due = (
        select(deliveries.c.id)
        .where(deliveries.c.webhook_id == bindparam("of_webhook"), deliveries.c.next_attempt_at <= bindparam("now"))
        .order_by(deliveries.c.next_attempt_at)
        .limit(select(bindparam("at_most", type_=Integer)).scalar_subquery())  # so no plan is cached
        .with_for_update(skip_locked=True)  # SQLite ignores this lock: it has one writer
        .cte("due")
    )
    taking = (
        update(deliveries)
        .values(
            status=case((_may_attempt, "delivering"), else_="failed"),
            attempts=deliveries.c.attempts + _attempt_increment,
            tries=deliveries.c.tries + _attempt_increment,
            next_attempt_at=case((_may_attempt, bindparam("lease_end", type_=BigInteger))),
        )
        .returning(
            deliveries.c.id,
            deliveries.c.event_id,
            deliveries.c.url,
            deliveries.c.body,
            deliveries.c.attempts,
            deliveries.c.tries,
            deliveries.c.next_attempt_at,
        )
    )

    if dialect == "sqlite":
        return taking.where(deliveries.c.id.in_(select(due.c.id)))
    claimed = taking.where(match_array(deliveries.c.id, select(due.c.id))).cte("taken")
    begun = select(claimed.c.id, claimed.c.attempts, bindparam("now", type_=BigInteger)).where(
        claimed.c.next_attempt_at.is_not(None)
    )
    begin = insert(delivery_attempts).from_select(["delivery_id", "number", "at"], begun)
    return select(claimed).add_cte(begin.cte("begun"))


_TAKE = Statement(_take_due_sql)
_END_ATTEMPT = Statement(
    update(delivery_attempts)
    .where(delivery_attempts.c.delivery_id == bindparam("the_id"), delivery_attempts.c.number == bindparam("the"))
    .values(duration_ms=bindparam("new_duration"), status_code=bindparam("new_code"), error=bindparam("new_error"))
)


def _record_results_sql(dialect: str) -> SqlStatement:
    """Build the statement that stores the result of an attempt.

    On PostgreSQL it stores the results of all attempts at once, because a round trip takes longer than ten rows.
    """
    if dialect == "sqlite":
        return (
            update(deliveries)
            .where(
                deliveries.c.id == bindparam("the_id"),
                deliveries.c.status == "delivering",
                deliveries.c.attempts == bindparam("the"),
            )
            .values(status=bindparam("new_status"), next_attempt_at=bindparam("new_next"))
        )
    results = func.json_to_recordset(cast(bindparam("ended", type_=ExactJson), JSON)).table_valued(
        column("the_id", Text),
        column("the", Integer),
        column("new_duration", Integer),
        column("new_code", Integer),
        column("new_error", Text),
        column("new_status", Text),
        column("new_next", BigInteger),
    )
    ended = select(results.render_derived("told", with_types=True)).cte("ended")
    end = (
        update(delivery_attempts)
        .where(
            match_array(delivery_attempts.c.delivery_id, select(ended.c.the_id)),
            delivery_attempts.c.delivery_id == ended.c.the_id,
            delivery_attempts.c.number == ended.c.the,
        )
        .values(duration_ms=ended.c.new_duration, status_code=ended.c.new_code, error=ended.c.new_error)
    )
    return (
        update(deliveries)
        .where(
            match_array(deliveries.c.id, select(ended.c.the_id)),
            deliveries.c.id == ended.c.the_id,
            deliveries.c.status == "delivering",
            deliveries.c.attempts == ended.c.the,
        )
        .values(status=ended.c.new_status, next_attempt_at=ended.c.new_next)
        .add_cte(end.cte("attempts"))
    )


_RECORD_RESULTS = Statement(_record_results_sql)


def claim_deliveries(
    connection: Connection,
    clock: Clock,
    limit: int,
    room: Mapping[str, int] = MappingProxyType({}),
    each: int = 10,
    lease: int = LEASE_MILLISECONDS,
    batches: int = 1,
) -> list[ClaimedDelivery]:
    """Claim due deliveries, and store an attempt for each of them before it is sent.

    A due delivery fails here if its subscription has ended, or if workers that died used up its tries.

    Args:
        connection: the connection.
        clock: the clock.
        limit: the maximum number of deliveries of a batch.
        room: the maximum number for each subscription.
        each: the maximum number for each subscription that is not in ``room``.
        lease: the milliseconds after which other workers may take over the deliveries.
        batches: the number of batches to claim.
    """
    now, remaining, claimed = clock.now(), limit * batches, list[ClaimedDelivery]()
    full = [webhook_id for webhook_id, count in room.items() if count <= 0]
    for webhook in _NEXT_WEBHOOKS.fetch_all(connection, {"full": full, "at_most": remaining, "now": clock.wall()}):
        free = min(remaining, room.get(webhook.id, each))
        while webhook.due_at <= now and free > 0:
            values = {"of_webhook": webhook.id, "now": now, "at_most": min(limit, free), "lives": webhook.lives}
            rows = _TAKE.fetch_all(connection, {**values, "lease_end": now + lease})
            claimed += [_claimed_from_row(row, webhook) for row in rows if row.next_attempt_at is not None]
            remaining -= len(rows)
            free = free - len(rows) if len(rows) == limit else 0
    if claimed and connection.dialect.name == "sqlite":
        _INSERT_ATTEMPTS.execute_each(
            connection, [{"delivery_id": delivery.id, "number": delivery.attempt, "at": now} for delivery in claimed]
        )
    return claimed


def _claimed_from_row(row: Any, webhook: Any) -> ClaimedDelivery:
    return ClaimedDelivery(
        id=row.id,
        webhook_id=webhook.id,
        workspace_id=webhook.workspace_id,
        event_id=row.event_id,
        url=row.url,
        body=row.body,
        sealed_secret=webhook.sealed,
        attempt=row.attempts,
        tries=row.tries,
        lease_end=row.next_attempt_at,
    )


def record_results(connection: Connection, ended: Sequence[AttemptOutcome]) -> None:
    """Store the results of attempts.

    If a delivery was claimed again in the meantime, only the attempt's row changes.
    """
    rows = [
        {
            "the_id": result.delivery_id,
            "the": result.attempt,
            "new_duration": result.duration_ms,
            "new_code": result.status_code,
            "new_error": result.error,
            "new_status": result.status,
            "new_next": result.next_attempt_at,
        }
        for result in sorted(ended, key=attrgetter("delivery_id"))  # one order for all writers prevents deadlocks
    ]
    if connection.dialect.name == "sqlite":
        _END_ATTEMPT.execute_each(connection, rows)
        _RECORD_RESULTS.execute_each(connection, rows)
    else:
        _RECORD_RESULTS.fetch_all(connection, {"ended": rows})
    if any(result.next_attempt_at is not None for result in ended):
        notify(connection)


def find_next_due(connection: Connection, clock: Clock, full: Collection[str] = ()) -> int | None:
    """Return when the next delivery is due (milliseconds), or None. ``full`` subscriptions are ignored."""
    row = _NEXT_WEBHOOKS.fetch_one_or_none(connection, {"full": list(full), "at_most": 1, "now": clock.wall()})
    return None if row is None else int(row.due_at)
