"""Operations: preparing and reading them. :mod:`.state_commits` stores their execution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from attrs import fields, frozen
from sqlalchemy import Connection, LargeBinary, Select, bindparam, insert, select, type_coerce

from adsunify.actor import Actor
from adsunify.errors import Conflict, NotFound
from adsunify.execution.state import REVIEW_MILLISECONDS, OperationStatus, apply_trigger, is_expired
from adsunify.ledger import LedgerEntry
from adsunify.plans.exposure import Spend
from adsunify.plans.records import Plan, add_operation_marks
from adsunify.values.exact_json import Json

from . import events, upsert
from .chains import ChainEnd
from .clock import Clock, new_id
from .ledger import record_entries
from .lists import MATCH_LIST_BY_DIALECT
from .removed_bodies import PlanRemains
from .schema import decompress_text, idempotency_keys, operations
from .scopes import ACTOR_SCOPE, dump_scope, is_in_scope
from .statement import Query, Statement
from .undos import link_undo

CallSpend = tuple[Spend, Spend]
"""The sums of the exposure and of the planned budgets of all operations of a call, in one account."""


@frozen
class OperationDraft:
    """An operation to be prepared.

    ``unified``: its plan comes from a brief, so its entities can be activated together. ``call_spend``: the spend of
    the whole call that prepares it; None if the call prepares only this operation, or a change set, whose members have
    the spend.
    ``resumes``: the end of the chain that it resumes; None if it is the first operation of its chain.
    ``undoes``: the operation that it undoes. ``launch_id``: the launch that it belongs to.
    """

    account_id: str
    plan: Plan
    source_operation_id: str | None = None
    unified: bool = False
    call_spend: CallSpend | None = None
    resumes: ChainEnd | None = None
    undoes: str | None = None
    launch_id: str | None = None

    @property
    def plan_text(self) -> str:
        """The canonical text of the plan, over which its digest is computed."""
        return self.plan.canonical_bytes.decode("ascii")


@frozen
class Idempotency:
    """The caller's idempotency key, and the SHA-256 of the canonical request to which it is bound."""

    key: str
    request_digest: str


@frozen
class PreparedOperations:
    """The operations of one prepare call.

    ``is_replay``: an earlier call with the same key has prepared them. ``created``: the operations that this call has
    prepared, with their plans.
    """

    operation_ids: tuple[str, ...]
    is_replay: bool
    created: tuple[tuple[OperationRecord, Plan], ...] = ()


@frozen
class OperationRecord:
    """An operation as it was read. Times are in milliseconds since 1970.

    Attributes:
        status: the status that callers see. If the lease has expired with no write in flight, it is ``prepared`` with
            ``next_action``; the next claim stores this status.
        is_stalled: whether the lease has expired with a write in flight.
        retry_after: the remaining time to wait in milliseconds; None if there is no wait.
        packed: the compressed plan; None in lists, and if the caller has the plan.
        call_spend: as :attr:`OperationDraft.call_spend`; None also if an older version has prepared the operation.
        chain_id: the id of the first operation of the chain; its own id if the operation resumes none.
        resumes: the operation that it resumes.
        resumed_by: the operation that resumes it.
        undoes: the operation that it undoes.
        undone_by: the operation that undoes it, which may not be executed yet.
        chain_receipts: the number of receipts of the chain when it was prepared; None if it resumes none.
        launch_id: the launch that it belongs to.
        plan_removed_at: when the body of its plan was removed (:mod:`.removed_bodies`); None while it is stored.
        responses_removed_at: when the responses in its receipts were removed; None while they are stored.
        restored_at: when the database was restored from a backup that has the operation in an unfinished state; None
            for other operations.
    """

    id: str
    workspace_id: str
    user_id: str
    credential: str
    account_id: str
    network: str
    action: str
    unified: bool
    status: OperationStatus
    packed: bytes | None
    plan_version: int
    plan_digest: str
    risk: str
    warnings: Sequence[str]
    source_operation_id: str | None
    created_at: int
    updated_at: int
    expires_at: int
    is_expired: bool
    is_stalled: bool
    next_action: bool
    retry_after: int | None
    error: Mapping[str, Json] | None
    fence: int
    executed_by: Mapping[str, Json] | None
    cancelled_by: Mapping[str, Json] | None
    call_spend: CallSpend | None
    chain_id: str
    resumes: str | None
    resumed_by: str | None
    undoes: str | None
    undone_by: str | None
    chain_receipts: int | None
    launch_id: str | None
    plan_removed_at: int | None = None
    responses_removed_at: int | None = None
    restored_at: int | None = None

    @property
    def is_claimed(self) -> bool:
        """Whether an execution has ever claimed the operation. Without a claim there is no attempt."""
        return self.fence > 0

    def read_outline(self) -> Plan:
        """Return the plan to be shown; its outline if its body was removed. Raises ValueError as :meth:`read_plan`."""
        if self.plan_removed_at is None:
            return self.read_plan()
        return PlanRemains.from_packed(self.packed or b"").outline

    def read_plan(self) -> Plan:
        """Return the plan with the mark values of the operation's chain.

        Raises:
            Conflict: ``body_removed``; the body of the plan was removed after its retention.
            ValueError: the stored plan does not match its digest.
        """
        if self.plan_removed_at is not None:
            raise make_body_removed_error("plan")
        return add_operation_marks(
            Plan.from_bytes(decompress_text(self.packed or b"").encode("ascii"), self.plan_digest), self.chain_id
        )


# -- statements ---------------------------------------------------------------------------------------------------

_INSERT = Statement(insert(operations))
_SHARED_COLUMNS = [field.name for field in fields(OperationRecord) if field.name in operations.c]
LISTED_COLUMNS = [column for column in operations.c if column.name != "plan"]
"""The columns of a record without its plan, as lists read them."""
_PACKED = type_coerce(operations.c.plan, LargeBinary).label("packed")  # the plan stays compressed until it is read
_GET = Statement(select(*LISTED_COLUMNS, _PACKED).where(operations.c.id == bindparam("the_id")))
_LIST_BY_ID = Statement(
    lambda dialect: select(*LISTED_COLUMNS, _PACKED).where(MATCH_LIST_BY_DIALECT[dialect](operations.c.id, "the_ids"))
)
_LIST_BY_ID_WITHOUT_PLANS = Statement(
    lambda dialect: select(*LISTED_COLUMNS).where(MATCH_LIST_BY_DIALECT[dialect](operations.c.id, "the_ids"))
)


def _limit_to_newest(statement: Select[Any]) -> Select[Any]:
    return (
        statement.where(
            operations.c.workspace_id == bindparam("of_workspace"),
            is_in_scope(ACTOR_SCOPE, operations.c.account_id, operations.c.network),
        )
        .order_by(operations.c.created_at.desc(), operations.c.id.desc())
        .limit(bindparam("at_most"))
    )


_select_newest = _limit_to_newest(select(*LISTED_COLUMNS))
_LATEST = Statement(_select_newest)
_LATEST_OF_USER = Statement(_select_newest.where(operations.c.user_id == bindparam("of_user")))
_LATEST_OF_CREDENTIAL = Statement(_select_newest.where(operations.c.credential == bindparam("of_credential")))

_BIND_KEY = upsert.insert_or_ignore(idempotency_keys, ("workspace_id", "user_id", "credential", "key"))
_FIND_BOUND_KEY = Statement(
    select(idempotency_keys.c.request_digest, idempotency_keys.c.operation_ids).where(
        idempotency_keys.c.workspace_id == bindparam("of_workspace"),
        idempotency_keys.c.user_id == bindparam("of_user"),
        idempotency_keys.c.credential == bindparam("of_credential"),
        idempotency_keys.c.key == bindparam("the_key"),
    )
)

RECOVERED_STATUS = apply_trigger("running", "recover")[0]
"""The status of an operation whose lease has expired with no write in flight."""


# -- preparing ----------------------------------------------------------------------------------------------------


def prepare_operations(
    connection: Connection,
    actor: Actor,
    drafts: Sequence[OperationDraft],
    clock: Clock,
    idempotency: Idempotency | None = None,
) -> PreparedOperations:
    """Store operations, their events, their rows in the ledger, and the idempotency key.

    If the key is already bound to the same request, the result is the operations of that request.

    Raises:
        Conflict: the key is bound to another request; or ``already_undone``.
    """
    at = clock.now()
    ids = tuple(new_id(at) for _ in drafts)
    bound = None if idempotency is None else bind_idempotency_key(connection, actor, idempotency, ids, at)
    if bound is not None:
        return bound
    status, event = apply_trigger(None, "prepare")
    assert event is not None
    records = tuple(_new_record(id_, actor, draft, status, at) for id_, draft in zip(ids, drafts, strict=True))
    _INSERT.execute_each(
        connection, [_record_to_row(record, draft) for record, draft in zip(records, drafts, strict=True)]
    )
    for record in records:
        if record.undoes is not None:
            link_undo(connection, record.undoes, record.id, at)
    events.record_events(connection, [_operation_event(record, event, at) for record in records])
    record_entries(connection, [_make_prepare_entry(record, actor) for record in records], at)
    return PreparedOperations(
        ids, False, tuple((record, draft.plan) for record, draft in zip(records, drafts, strict=True))
    )


def bind_idempotency_key(
    connection: Connection, actor: Actor, idempotency: Idempotency, ids: Sequence[str], at: int
) -> PreparedOperations | None:
    """Bind a key to the ids that a request creates. Returns the earlier binding if the key is bound to the request.

    Raises:
        Conflict: the key is bound to another request.
    """
    row = {
        "workspace_id": actor.workspace_id,
        "user_id": actor.user_id,
        "credential": actor.credential,
        "key": idempotency.key,
        "request_digest": idempotency.request_digest,
        "operation_ids": list(ids),
        "created_at": at,
    }
    if _BIND_KEY.fetch_all(connection, row):
        return None
    bound = find_by_idempotency_key(actor, idempotency).run(connection)
    assert bound is not None
    return bound


def _new_record(id_: str, actor: Actor, draft: OperationDraft, status: OperationStatus, at: int) -> OperationRecord:
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
        is_expired=False,
        is_stalled=False,
        next_action=False,
        retry_after=None,
        error=None,
        fence=0,
        executed_by=None,
        cancelled_by=None,
        call_spend=draft.call_spend,
        chain_id=id_ if draft.resumes is None else draft.resumes.chain_id,
        resumes=None if draft.resumes is None else draft.resumes.operation_id,
        resumed_by=None,
        undoes=draft.undoes,
        undone_by=None,
        chain_receipts=None if draft.resumes is None else draft.resumes.receipt_count,
        launch_id=draft.launch_id,
    )


def _operation_event(record: OperationRecord, kind: str, at: int) -> dict[str, Any]:
    return events.make_event_row(
        kind,
        record.workspace_id,
        at,
        status=record.status,
        operation_id=record.id,
        account_id=record.account_id,
        network=record.network,
    )


def _make_prepare_entry(record: OperationRecord, actor: Actor) -> LedgerEntry:
    after = {"action": record.action, "status": record.status, "risk": record.risk, "planDigest": record.plan_digest}
    if record.source_operation_id is not None:
        after["sourceOperationId"] = record.source_operation_id
    if record.resumes is not None:
        after["resumes"] = record.resumes
    if record.undoes is not None:
        after["undoes"] = record.undoes
    return LedgerEntry(record.workspace_id, actor, "prepare", record.id, record.account_id, record.network, after=after)


def _record_to_row(record: OperationRecord, draft: OperationDraft) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in _SHARED_COLUMNS}
    call_spend = dump_call_spend(record.call_spend)
    chain_id = None if record.resumes is None else record.chain_id
    return values | {"plan": draft.plan_text, "in_flight": False, "call_spend": call_spend, "chain_id": chain_id}


def find_by_idempotency_key(actor: Actor, idempotency: Idempotency) -> Query[PreparedOperations | None]:
    """Query the operations to which a key is bound; None if the key is free.

    The query raises Conflict if the key is bound to another request.
    """

    def make_result(rows: Sequence[Any]) -> PreparedOperations | None:
        if not rows:
            return None
        if rows[0].request_digest != idempotency.request_digest:
            raise Conflict(
                "This Idempotency-Key is already bound to another request. Repeat that request, or send a new key with "
                "the new request."
            )
        return PreparedOperations(tuple(rows[0].operation_ids), is_replay=True)

    key = {
        "of_workspace": actor.workspace_id,
        "of_user": actor.user_id,
        "of_credential": actor.credential,
        "the_key": idempotency.key,
    }
    return Query(_FIND_BOUND_KEY, key, make_result)


# -- reading ------------------------------------------------------------------------------------------------------


def _record_from_row(row: Any, now: int, packed: bytes | None) -> OperationRecord:
    lapsed = row.status == "running" and row.lease_until <= now
    status: OperationStatus = RECOVERED_STATUS if lapsed and not row.in_flight else row.status
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
        is_expired=prepared and is_expired(row.expires_at, now),
        is_stalled=lapsed and row.in_flight,
        next_action=row.next_action or status != row.status,
        retry_after=row.not_before - now if wait else None,
        error=row.error,
        fence=row.fence,
        executed_by=row.executed_by,
        cancelled_by=row.cancelled_by,
        call_spend=load_call_spend(row.call_spend),
        chain_id=row.chain_id or row.id,
        resumes=row.resumes,
        resumed_by=row.resumed_by,
        undoes=row.undoes,
        undone_by=row.undone_by,
        chain_receipts=row.chain_receipts,
        launch_id=row.launch_id,
        plan_removed_at=row.plan_removed_at,
        responses_removed_at=row.responses_removed_at,
        restored_at=row.restored_at,
    )


def make_body_removed_error(part: Literal["plan", "responses"]) -> Conflict:
    """Make the error of a call that needs a part of an operation that was removed after its retention."""
    return Conflict(
        f"This needs the {part} of the operation, which retention has removed. The operation, its receipt and its "
        "digest can still be read. Prepare a new change of the entities instead.",
        code="body_removed",
    )


def dump_call_spend(call: CallSpend | None) -> Json:
    """Return the stored form: exposure and planned budgets, each with its daily and its lifetime amount."""
    return None if call is None else [[spend.daily, spend.lifetime] for spend in call]


def load_call_spend(stored: Json) -> CallSpend | None:
    """Read the stored form of :func:`dump_call_spend`."""
    if stored is None:
        return None
    exposed, planned = (Spend(*amounts) for amounts in stored)
    return exposed, planned


def find_operation(actor: Actor, operation_id: str, clock: Clock) -> Query[OperationRecord]:
    """Query an operation that the actor may see. The query raises NotFound for all others."""

    def make_result(rows: Sequence[Any]) -> OperationRecord:
        if not rows or not _can_see(actor, rows[0]):
            raise NotFound("The operation does not exist, or you may not see it.")
        clock.observe(rows[0].updated_at)
        return _record_from_row(rows[0], clock.now(), rows[0].packed)

    return Query(_GET, {"the_id": operation_id}, make_result)


def _can_see(actor: Actor, row: Any) -> bool:
    is_visible = actor.can_see(row.workspace_id, row.user_id, row.credential)
    return is_visible and actor.can_reach(row.account_id, row.network)


def get_operation(connection: Connection, actor: Actor, operation_id: str, clock: Clock) -> OperationRecord:
    """Return the result of :func:`find_operation`."""
    return find_operation(actor, operation_id, clock).run(connection)


def list_operations(connection: Connection, actor: Actor, clock: Clock, limit: int = 50) -> list[OperationRecord]:
    """Return the latest operations that the actor may see, newest first, without their plans."""
    values = {
        "of_workspace": actor.workspace_id,
        "of_user": actor.user_id,
        "of_credential": actor.credential,
        "of_scope": dump_scope(actor),
        "at_most": limit,
    }
    if actor.kind == "agent":
        statement = _LATEST_OF_CREDENTIAL
    else:
        statement = _LATEST if actor.role == "admin" else _LATEST_OF_USER
    rows = statement.fetch_all(connection, values)
    now = clock.now()
    return [make_listed_record(row, now) for row in rows]


def make_listed_record(row: Any, now: int) -> OperationRecord:
    """Make the record of a row of :data:`LISTED_COLUMNS`, without its plan. ``now`` is in milliseconds since 1970."""
    return _record_from_row(row, now, None)


def list_operations_by_id(
    connection: Connection, operation_ids: Sequence[str], clock: Clock, *, has_plans: bool
) -> dict[str, OperationRecord]:
    """Return operations by id without a check of access. ``has_plans``: the records have their packed plans."""
    if not operation_ids:
        return {}
    now = clock.now()
    statement = _LIST_BY_ID if has_plans else _LIST_BY_ID_WITHOUT_PLANS
    rows = statement.fetch_all(connection, {"the_ids": list(operation_ids)})
    return {row.id: _record_from_row(row, now, row.packed if has_plans else None) for row in rows}


APPROVAL_FACTS: Mapping[str, Json] = {"kind": "approval", "rule": "require_approval"}
"""The members of the event ``rule.triggered`` about the approval rule."""


def record_rule_event(connection: Connection, operation_id: str, clock: Clock, facts: Mapping[str, Json]) -> None:
    """Record that a rule stopped an execution. The operation stays prepared.

    ``facts`` are members of the event's data: ``kind`` is the kind of the rule, and ``rule`` is its name.
    """
    row = _GET.fetch_one(connection, {"the_id": operation_id})
    event_row = events.make_event_row(
        "rule.triggered",
        row.workspace_id,
        clock.now(),
        status="prepared",
        operation_id=row.id,
        account_id=row.account_id,
        network=row.network,
        more=facts,
    )
    events.record_events(connection, [event_row])
