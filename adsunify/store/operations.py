"""Operations: prepared once, read in scope, cancelled by their owner. :mod:`.advance` executes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from attrs import fields, frozen
from sqlalchemy import (
    CTE,
    Connection,
    LargeBinary,
    Select,
    Table,
    bindparam,
    column,
    exists,
    func,
    insert,
    not_,
    or_,
    select,
    text,
    type_coerce,
    update,
)

from adsunify.actor import Actor
from adsunify.errors import Conflict, Forbidden, NotFound, OperationError
from adsunify.execution.state import REVIEW_MILLISECONDS, Status, acted_by, expired, transition
from adsunify.plans.records import Plan, of_operation
from adsunify.values.exact_json import Json

from . import events, schema, upsert
from .clock import Clock, new_id
from .driver import Shared
from .schema import idempotency_keys, operations, unpacked
from .statement import Fixed, Question, Statement


@frozen
class Draft:
    """An operation to be prepared. ``unified``: a brief made it, so what it creates can be activated as a whole."""

    account_id: str
    plan: Plan
    source_operation_id: str | None = None
    unified: bool = False

    @property
    def stored(self) -> str:
        """The canonical text of the plan, which has the plan's digest."""
        return self.plan.stored.decode("ascii")


@frozen
class Idempotency:
    """The caller's key, and the SHA-256 of the canonical request that it is bound to."""

    key: str
    request_digest: str


@frozen
class Prepared:
    """The operations of one prepare call; ``replayed``: an earlier call with the same key had made them, not this one.

    ``made``: those that this call made, as they stand, with their plans.
    """

    operation_ids: tuple[str, ...]
    replayed: bool
    made: tuple[tuple[OperationRecord, Plan], ...] = ()


@frozen
class OperationRecord:
    """An operation as it stands at the time it was read. Times in milliseconds.

    ``status`` is what a caller is told: an operation whose lease ran out with no write in flight reads ``prepared``
    with ``next_action`` (the next claim makes it so). ``stalled``: the lease ran out with a write in flight.
    ``retry_after``: the rest of the wait, None where there is none. ``packed`` is the plan, None in lists and
    where the plan is at hand.
    """

    id: str
    workspace_id: str
    user_id: str
    credential: str
    account_id: str
    network: str
    action: str
    unified: bool
    status: Status
    packed: bytes | None
    plan_version: int
    plan_digest: str
    risk: str
    warnings: Sequence[str]
    source_operation_id: str | None
    created_at: int
    updated_at: int
    expires_at: int
    expired: bool
    stalled: bool
    next_action: bool
    retry_after: int | None
    error: Mapping[str, Json] | None
    fence: int
    executed_by: Mapping[str, Json] | None
    cancelled_by: Mapping[str, Json] | None

    @property
    def claimed(self) -> bool:
        """Whether it was ever executed: without a claim there is no attempt."""
        return self.fence > 0

    def plan(self) -> Plan:
        """The plan with the marks of this operation, after its digest was checked (ValueError)."""
        return of_operation(Plan.from_bytes(unpacked(self.packed or b"").encode("ascii"), self.plan_digest), self.id)


# -- statements ---------------------------------------------------------------------------------------------------

_INSERT = Statement(insert(operations))
_SAME = [one.name for one in fields(OperationRecord) if one.name in operations.c]
_COLUMNS = [column for column in operations.c if column.name != "plan"]
_PACKED = type_coerce(operations.c.plan, LargeBinary).label("packed")  # whoever looks into it unpacks it
_GET = Statement(select(*_COLUMNS, _PACKED).where(operations.c.id == bindparam("the_id")))


def _newest_first(statement: Select[Any]) -> Select[Any]:
    return (
        statement.where(operations.c.workspace_id == bindparam("of_workspace"))
        .order_by(operations.c.created_at.desc(), operations.c.id.desc())
        .limit(bindparam("at_most"))
    )


_newest = _newest_first(select(*_COLUMNS))
_LATEST = Statement(_newest)
_LATEST_OF_USER = Statement(_newest.where(operations.c.user_id == bindparam("of_user")))
_LATEST_OF_CREDENTIAL = Statement(_newest.where(operations.c.credential == bindparam("of_credential")))

_BIND_KEY = upsert.insert_once(idempotency_keys, ("workspace_id", "user_id", "credential", "key"))
_BOUND = Statement(
    select(idempotency_keys.c.request_digest, idempotency_keys.c.operation_ids).where(
        idempotency_keys.c.workspace_id == bindparam("of_workspace"),
        idempotency_keys.c.user_id == bindparam("of_user"),
        idempotency_keys.c.credential == bindparam("of_credential"),
        idempotency_keys.c.key == bindparam("the_key"),
    )
)

_RECOVERED = transition("running", "recover")[0]
_recoverable = (
    update(operations)
    .where(
        text("status = 'running'"),  # as the index says it: a parameter would not be known to match
        operations.c.lease_until <= bindparam("now"),
        operations.c.in_flight.is_(False),
    )
    .values(status=_RECOVERED, next_action=True, lease_until=None, updated_at=bindparam("now"))
    .returning(operations.c.id)
)
_RECOVERABLE = Statement(_recoverable)
_RECOVER_ONE = Statement(_recoverable.where(operations.c.id == bindparam("the_id")))

_CANCELLED, _CANCEL_EVENT = transition("prepared", "cancel")
_CANCEL = Statement(
    update(operations)
    .where(operations.c.id == bindparam("the_id"), operations.c.status == "prepared")
    .values(
        status=_CANCELLED,
        next_action=False,
        not_before=None,
        cancelled_by=bindparam("new_cancelled_by", type_=operations.c.cancelled_by.type),
        updated_at=bindparam("now"),
    )
    .returning(operations.c.id)
)


_KEPT = {column.name: column.type for column in operations.c if column.name in (*_SAME, "plan", "in_flight")}
_KEY = {name: idempotency_keys.c[name].type for name in ("key", "request_digest", "operation_ids")}
_EVENT = {f"event_{name}": schema.events.c[name].type for name in ("id", "type", "data")}
_GIVEN = {**_KEPT, **_KEY, **_EVENT}


def _keeping(dialect: str) -> Fixed:
    """Keeps many operations with their keys and events; returns the numbers, from 1, of those that it kept.

    Those whose key is bound are not kept, nor those of a workspace where somebody subscribed and has to be told.
    """
    native: Any = import_module(f"sqlalchemy.dialects.{dialect}")
    lists = [bindparam(name, type_=native.ARRAY(type_, dimensions=1)) for name, type_ in _GIVEN.items()]
    names = [column(name, type_) for name, type_ in _GIVEN.items()]
    given = func.unnest(*lists).table_valued(*names, with_ordinality="number").render_derived("given")
    heard = exists().where(schema.webhooks.c.workspace_id == given.c.workspace_id)
    asked = select(given).where(not_(heard)).cte("asked")

    def inserted(table: Table, rows: CTE, **renamed: str) -> Any:
        source = {one.name: renamed.get(one.name, one.name) for one in table.c}
        columns = {name: rows.c[of] for name, of in source.items() if of in rows.c}
        return native.insert(table).from_select(list(columns), select(*columns.values()))

    keyed = select(asked).where(asked.c.key.is_not(None)).cte("keyed")
    bound = inserted(idempotency_keys, keyed).on_conflict_do_nothing().returning(idempotency_keys.c.operation_ids)
    free = asked.c.operation_ids.in_(select(bound.cte("bound").c.operation_ids))
    kept = select(asked).where(or_(asked.c.key.is_(None), free)).cte("kept")
    told = {"id": "event_id", "type": "event_type", "data": "event_data", "operation_id": "id"}
    made = inserted(operations, kept).returning(operations.c.id).cte("made")
    events_ = inserted(schema.events, kept, **told).returning(schema.events.c.id).cte("told")
    found: Fixed = select(kept.c.number).add_cte(made, events_)
    return found


_KEEP_TOGETHER = Statement(_keeping)


# -- preparing ----------------------------------------------------------------------------------------------------


def prepare(
    connection: Connection, actor: Actor, drafts: Sequence[Draft], clock: Clock, idempotency: Idempotency | None = None
) -> Prepared:
    """Keep the operations, their events and the idempotency key in one transaction.

    The same key with the same digest gives the operations it is bound to; with another, Conflict.
    """
    at = clock.now()
    ids = tuple(new_id(at) for _ in drafts)
    if idempotency is not None:
        row = {
            "workspace_id": actor.workspace_id,
            "user_id": actor.user_id,
            "credential": actor.credential,
            "key": idempotency.key,
            "request_digest": idempotency.request_digest,
            "operation_ids": list(ids),
            "created_at": at,
        }
        if not _BIND_KEY.all(connection, row):
            bound = replayed(actor, idempotency).on(connection)
            assert bound is not None
            return bound
    status, event = transition(None, "prepare")
    assert event is not None
    made = tuple(_made(id_, actor, draft, status, at) for id_, draft in zip(ids, drafts, strict=True))
    _INSERT.each(connection, [_row(one, draft) for one, draft in zip(made, drafts, strict=True)])
    events.record(connection, [_event(one, event, at) for one in made])
    return Prepared(ids, False, tuple((one, draft.plan) for one, draft in zip(made, drafts, strict=True)))


def preparing(actor: Actor, draft: Draft, clock: Clock, idempotency: Idempotency | None = None) -> Shared[Prepared]:
    """As :func:`prepare`, for one operation; where nobody subscribed, and the key is free, many are kept at once."""

    def offered() -> tuple[dict[str, Any], Prepared]:
        at = clock.now()
        id_ = new_id(at)
        status, event = transition(None, "prepare")
        assert event is not None
        made = _made(id_, actor, draft, status, at)
        told = _event(made, event, at)
        values = _row(made, draft) | {f"event_{name}": told[name] for name in ("id", "type", "data")}
        if idempotency is not None:
            values |= {"key": idempotency.key, "request_digest": idempotency.request_digest, "operation_ids": [id_]}
        return values, Prepared((id_,), False, ((made, draft.plan),))

    def alone(connection: Connection) -> Prepared:
        return prepare(connection, actor, [draft], clock, idempotency)

    return Shared(offered, _keep_together, alone)


def _keep_together(connection: Connection, asked: Sequence[Mapping[str, Any]]) -> list[bool]:
    order = sorted(range(len(asked)), key=lambda one: asked[one].get("key") or "")  # or two could wait for each other
    columns = {name: [asked[one].get(name) for one in order] for name in _GIVEN}
    kept = {order[row.number - 1] for row in _KEEP_TOGETHER.all(connection, columns)}
    return [one in kept for one in range(len(asked))]


def _made(id_: str, actor: Actor, draft: Draft, status: Status, at: int) -> OperationRecord:
    return OperationRecord(
        id=id_,
        workspace_id=actor.workspace_id,
        user_id=actor.user_id,
        credential=actor.credential,
        account_id=draft.account_id,
        network=draft.plan.network,
        action=draft.plan.action,
        unified=draft.unified,
        status=status,
        packed=None,
        plan_version=draft.plan.version,
        plan_digest=draft.plan.digest,
        risk=draft.plan.risk,
        warnings=draft.plan.warnings,
        source_operation_id=draft.source_operation_id,
        created_at=at,
        updated_at=at,
        expires_at=at + REVIEW_MILLISECONDS,
        expired=False,
        stalled=False,
        next_action=False,
        retry_after=None,
        error=None,
        fence=0,
        executed_by=None,
        cancelled_by=None,
    )


def _event(made: OperationRecord, kind: str, at: int) -> dict[str, Any]:
    return events.event_row(
        kind,
        made.workspace_id,
        at,
        status=made.status,
        operation_id=made.id,
        account_id=made.account_id,
        network=made.network,
    )


def _row(made: OperationRecord, draft: Draft) -> dict[str, Any]:
    return {name: getattr(made, name) for name in _SAME} | {"plan": draft.stored, "in_flight": False}


def replayed(actor: Actor, idempotency: Idempotency) -> Question[Prepared | None]:
    """What the key is bound to, None where it is free; Conflict where it is bound to another request."""

    def made(rows: Sequence[Any]) -> Prepared | None:
        if not rows:
            return None
        if rows[0].request_digest != idempotency.request_digest:
            raise Conflict(
                "This Idempotency-Key is already bound to another request. Send the request it was first used with, "
                "or a new key for the new one."
            )
        return Prepared(tuple(rows[0].operation_ids), replayed=True)

    key = {
        "of_workspace": actor.workspace_id,
        "of_user": actor.user_id,
        "of_credential": actor.credential,
        "the_key": idempotency.key,
    }
    return Question(_BOUND, key, made)


# -- reading ------------------------------------------------------------------------------------------------------


def _record(row: Any, now: int, packed: bytes | None) -> OperationRecord:
    lapsed = row.status == "running" and row.lease_until <= now
    status: Status = _RECOVERED if lapsed and not row.in_flight else row.status
    prepared = status == "prepared"
    wait = row.not_before is not None and row.not_before > now and prepared
    return OperationRecord(
        id=row.id,
        workspace_id=row.workspace_id,
        user_id=row.user_id,
        credential=row.credential,
        account_id=row.account_id,
        network=row.network,
        action=row.action,
        unified=row.unified,
        status=status,
        packed=packed,
        plan_version=row.plan_version,
        plan_digest=row.plan_digest,
        risk=row.risk,
        warnings=tuple(row.warnings),
        source_operation_id=row.source_operation_id,
        created_at=row.created_at,
        updated_at=row.updated_at,
        expires_at=row.expires_at,
        expired=prepared and expired(row.expires_at, now),
        stalled=lapsed and row.in_flight,
        next_action=row.next_action or status != row.status,
        retry_after=row.not_before - now if wait else None,
        error=row.error,
        fence=row.fence,
        executed_by=row.executed_by,
        cancelled_by=row.cancelled_by,
    )


def find(actor: Actor, operation_id: str, clock: Clock) -> Question[OperationRecord]:
    """An operation in the actor's scope. Raises NotFound, also for what exists elsewhere."""

    def made(rows: Sequence[Any]) -> OperationRecord:
        if not rows or not actor.sees(rows[0].workspace_id, rows[0].user_id, rows[0].credential):
            raise NotFound("There is no such operation in your scope.")
        clock.saw(rows[0].updated_at)
        return _record(rows[0], clock.now(), rows[0].packed)

    return Question(_GET, {"the_id": operation_id}, made)


def get(connection: Connection, actor: Actor, operation_id: str, clock: Clock) -> OperationRecord:
    """The answer to :func:`find`."""
    return find(actor, operation_id, clock).on(connection)


def latest(connection: Connection, actor: Actor, clock: Clock, limit: int = 50) -> list[OperationRecord]:
    """The latest operations in the actor's scope, newest first, without their plans."""
    scope = {"of_workspace": actor.workspace_id, "at_most": limit}
    if actor.kind == "agent":
        rows = _LATEST_OF_CREDENTIAL.all(connection, scope | {"of_credential": actor.credential})
    elif actor.role == "admin":
        rows = _LATEST.all(connection, scope)
    else:
        rows = _LATEST_OF_USER.all(connection, scope | {"of_user": actor.user_id})
    now = clock.now()
    return [_record(row, now, None) for row in rows]


RULE = "require_approval"
"""The one rule of a workspace so far, as its event names it."""


def stopped_by_rule(connection: Connection, operation_id: str, clock: Clock) -> None:
    """Record that the workspace's rule stopped an execution, which left the operation prepared."""
    row = _GET.one(connection, {"the_id": operation_id})
    told = events.event_row(
        "rule.triggered",
        row.workspace_id,
        clock.now(),
        status="prepared",
        operation_id=row.id,
        account_id=row.account_id,
        network=row.network,
        more={"rule": RULE},
    )
    events.record(connection, [told])


# -- cancelling and recovering ------------------------------------------------------------------------------------


def cancel(connection: Connection, actor: Actor, operation_id: str, clock: Clock) -> OperationRecord:
    """Cancel one's own prepared operation; one that is cancelled stays so.

    Raises NotFound, Forbidden (another user's), OperationError ``operation_<status>`` or ``operation_stalled``.
    """
    found = get(connection, actor, operation_id, clock)
    if found.user_id != actor.user_id:
        raise Forbidden("Only the user who prepared an operation can cancel it.")
    now = clock.now()
    recover(connection, clock, operation_id)
    by = acted_by(actor.user_id, actor.credential, now)
    if not _CANCEL.all(connection, {"the_id": operation_id, "now": now, "new_cancelled_by": by}):
        found = get(connection, actor, operation_id, clock)
        if found.status == _CANCELLED:
            return found
        state = "stalled" if found.stalled else found.status
        raise OperationError(
            f"Only a prepared operation can be cancelled; this one is {state}.",
            code=f"operation_{state}",
            outcome="applied" if state == "succeeded" else "unknown",
        )
    assert _CANCEL_EVENT is not None
    events.record(
        connection,
        [
            events.event_row(
                _CANCEL_EVENT,
                found.workspace_id,
                now,
                status=_CANCELLED,
                operation_id=found.id,
                account_id=found.account_id,
                network=found.network,
                more={"cancelledBy": by},
            )
        ],
    )
    return get(connection, actor, operation_id, clock)


def recover(connection: Connection, clock: Clock, operation_id: str | None = None) -> list[str]:
    """Hand back what runs on a lease that ran out with no write in flight; the ids of what was handed back.

    An operation with a write in flight is left ``running``: nobody knows what became of the write.
    """
    if operation_id is None:
        rows = _RECOVERABLE.all(connection, {"now": clock.now()})
    else:
        rows = _RECOVER_ONE.all(connection, {"now": clock.now(), "the_id": operation_id})
    return [row.id for row in rows]
