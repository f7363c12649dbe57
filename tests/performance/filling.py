"""Databases with many operations in them, filled from inside.

The rows of one operation that was prepared, executed and told of are repeated under other ids, in the order of time,
all by one credential in one workspace and of one account, which is the worst case. Every operation has a step, an
event, an idempotency key, a delivery with its attempt, and an entity that it made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, Table, and_, func, insert, literal, select, text

from adsunify.execution.state import Intent, ObservedStatus, Receipt, StateCommit
from adsunify.store import deliveries, new_id, operations, reports, schema, webhooks
from adsunify.store.deliveries import AttemptOutcome
from adsunify.store.operations import Idempotency, OperationDraft
from adsunify.store.state_commits import commit_state
from adsunify.store.webhooks import WebhookRecord

from .world import World, chain

AT_ONCE = 50_000
PLAN = chain(2)  # about a kilobyte
BEGINNING = 1_700_000_000_000
"""Milliseconds: when the first stored operation was prepared; one more each millisecond."""
PAUSED_EACH = 10
"""For each so many operations one delivery waits, long due, for a subscription that is paused."""
REPORTED_EACH = 10_000
"""For each so many operations one report was asked for and never read: those that were read are forgotten."""
HASTE = ("SET LOCAL synchronous_commit = off", "SET LOCAL session_replication_role = replica")
"""PostgreSQL, while it is filled: no waiting for the disk, and no looking up of what is known to be there."""

Number = ColumnElement[int]
MakeColumn = Callable[[Number, str], ColumnElement[Any]]
"""What a column holds in the i-th row, as the dialect writes it."""


def id_of(tag: int, number: int) -> str:
    """The id of the i-th row of a kind: a time-ordered UUID."""
    at = f"{BEGINNING + number:012x}"
    return f"{at[:8]}-{at[8:]}-7000-8000-{tag:04x}{number:08x}"


def _id(tag: int) -> MakeColumn:
    def make_id(number: Number, dialect: str) -> ColumnElement[Any]:
        at = _hexadecimal(_at(number, dialect), 12, dialect)
        tail = _hexadecimal(number, 8, dialect)
        return func.substr(at, 1, 8) + "-" + func.substr(at, 9, 4) + f"-7000-8000-{tag:04x}" + tail

    return make_id


def _at(number: Number, dialect: str) -> ColumnElement[int]:
    return literal(BEGINNING, BigInteger) + number


def _text(number: Number, dialect: str) -> ColumnElement[str]:
    return literal("number ") + _hexadecimal(number, 8, dialect)


def _hexadecimal(number: Number, digits: int, dialect: str) -> ColumnElement[str]:
    padded_digits: ColumnElement[str] = (
        func.printf(f"%0{digits}x", number)
        if dialect == "sqlite"
        else func.lpad(func.to_hex(number), literal(digits), "0")
    )
    return padded_digits


OPERATION, EVENT, DELIVERY, WAITING, REPORT = range(5)
REPEATED: Mapping[Table, Mapping[str, MakeColumn]] = {
    schema.operations: {"id": _id(OPERATION), "created_at": _at, "updated_at": _at},
    schema.steps: {"operation_id": _id(OPERATION)},
    schema.events: {"id": _id(EVENT), "operation_id": _id(OPERATION), "created_at": _at},
    schema.idempotency_keys: {"key": _text},
    schema.entities: {"native_id": _text},
    schema.deliveries: {"id": _id(DELIVERY), "event_id": _id(EVENT), "created_at": _at},
    schema.delivery_attempts: {"delivery_id": _id(DELIVERY)},
}
"""The columns that differ from row to row."""
LATE: Mapping[str, MakeColumn] = {"id": _id(WAITING), "created_at": _at, "next_attempt_at": _at}
UNREAD: Mapping[str, MakeColumn] = {"id": _id(REPORT), "start_date": _text}
Rows = Mapping[Table, Mapping[str, Any]]


def _repeat(
    connection: Connection, table: Table, row: Mapping[str, Any], other: Mapping[str, MakeColumn], first: int, end: int
) -> None:
    """Insert the row for each number; ``other`` columns are made from it."""
    series = select(literal(first).label("i")).cte("series", recursive=True)
    series = series.union_all(select(series.c.i + 1).where(series.c.i + 1 < literal(end)))
    dialect = connection.dialect.name
    values = [
        other[column.name](series.c.i, dialect) if column.name in other else literal(row[column.name], column.type)
        for column in table.c
    ]
    connection.execute(insert(table).from_select(list(table.c.keys()), select(*values)))


def _fill(connection: Connection, rows: Rows, waiting: Mapping[str, Any], first: int, end: int) -> None:
    if connection.dialect.name == "postgresql":
        for statement in HASTE:
            connection.execute(text(statement))
    for table, other in REPEATED.items():
        _repeat(connection, table, rows[table], other, first, end)
    _repeat(connection, schema.deliveries, waiting, LATE, first // PAUSED_EACH, max(end // PAUSED_EACH, 1))


async def fill(world: World, count: int) -> str:
    """Store so many operations; the subscription that was told of them."""
    store, actor = world.service.store, world.actor
    hook, paused = await subscribe(world), await subscribe(world)
    rows = await _store_life(world, hook.id)
    waiting = {**rows[schema.deliveries], "webhook_id": paused.id, "status": "pending", "attempts": 0, "tries": 0}
    await store.write(webhooks.update_webhook, actor, paused.id, {"active": False}, store.clock)
    for first in range(0, count, AT_ONCE):
        await store.write(_fill, rows, waiting, first, min(first + AT_ONCE, count))
    await store.write(_repeat, schema.reports, rows[schema.reports], UNREAD, 0, max(count // REPORTED_EACH, 1))
    await store.write(_analyze)
    return hook.id


def _analyze(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":  # which does it by itself, in time
        connection.execute(text("ANALYZE"))


async def subscribe(world: World) -> WebhookRecord:
    """A subscription to what is prepared."""
    store, url = world.service.store, "https://hooks.example/"
    id_, kinds = new_id(store.clock.now()), ["operation.prepared"]
    return await store.write(webhooks.create_webhook, world.actor, id_, url, None, kinds, store.clock)


async def _store_life(world: World, hook: str) -> Rows:
    """One operation prepared, executed, and told of: the rows that it left."""
    store, actor, account = world.service.store, world.actor, world.account
    key = Idempotency("key", "0" * 64)
    prepared = await store.write(
        operations.prepare_operations, actor, [OperationDraft(account.id, PLAN)], store.clock, key
    )
    (id_,) = prepared.operation_ids
    step = PLAN.steps[0]
    claim = StateCommit(id_, None, intent=Intent(0, step.key, 1, step.request.to_json()), trigger="claim")
    fence = (await store.write(commit_state, claim, actor, store.clock)).fence
    receipt = Receipt(0, step.key, 1, "applied", 200, "r", {"id": "1200000001"}, response={"id": "1200000001"})
    ended = StateCommit(id_, fence, receipt=receipt, trigger="succeed")
    await store.write(
        commit_state, ended, actor, store.clock, observed=[ObservedStatus("campaign", "1200000001", "paused")]
    )
    while taken := await store.write(deliveries.claim_deliveries, store.clock, 10):
        outcomes = [
            AttemptOutcome(delivery.id, delivery.attempt, 5, 204, None, "succeeded", None) for delivery in taken
        ]
        await store.write(deliveries.record_results, outcomes)
    subject = reports.ReportSubject(account.id, "2030-01-01", "2030-01-31")
    report, _ = await store.write(reports.begin_report, actor.workspace_id, subject, store.clock)
    await store.write(reports.mark_started, report.id, "6012345678901", store.clock)
    return await store.read(_rows, id_, hook)


def _rows(connection: Connection, operation_id: str, hook: str) -> Rows:
    delivery = select(schema.deliveries.c.id).where(schema.deliveries.c.webhook_id == hook)
    which = {
        schema.operations: schema.operations.c.id == operation_id,
        schema.steps: schema.steps.c.operation_id == operation_id,
        schema.events: and_(schema.events.c.operation_id == operation_id, schema.events.c.type == "operation.prepared"),
        schema.idempotency_keys: schema.idempotency_keys.c.key == "key",
        schema.entities: schema.entities.c.native_id == "1200000001",
        schema.deliveries: schema.deliveries.c.webhook_id == hook,
        schema.delivery_attempts: schema.delivery_attempts.c.delivery_id.in_(delivery),
        schema.reports: schema.reports.c.job.is_not(None),
    }
    return {
        table: dict(connection.execute(select(table).where(where)).one()._mapping) for table, where in which.items()
    }
