"""Prepares and executes change sets for the process that holds their lease.

A process that prepares or executes a change set holds its lease. If the lease expires, another process takes over with
a new fence. Every write of the lease's holder requires its fence. The lease does not protect against a write that is
sent twice: each operation has its own claim for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen
from sqlalchemy import Connection, bindparam, exists, select, update

from adsunify.actor import Actor
from adsunify.execution.state import build_actor_record
from adsunify.guardrails.plans import list_read_budgets
from adsunify.launches.digests import compute_change_set_digest
from adsunify.launches.states import ChangeSetStatus
from adsunify.values.exact_json import Json

from . import cancellation, guardrails, launches, operations
from .change_sets import Claim, read_change_set, record_change
from .clock import Clock
from .operations import OperationDraft
from .resumptions import ChainMoved, FoundEntities, link_resumption, lock_operation
from .schema import change_set_members, change_sets
from .statement import Statement


@frozen
class Replaced:
    """An operation that a new one replaces, as it was read. It has written nothing.

    ``cell``: the launch and the key of the cell that has the operation, if a file replaces it.
    """

    operation_id: str
    fence: int
    cell: tuple[str, str] | None = None


@frozen
class PlannedMember:
    """A member whose operation is to be stored.

    ``found_entities``: for a resumption, the entities that verdicts found. ``replaced``: the operation to cancel.
    """

    n: int
    key: str
    draft: OperationDraft
    exposure: Mapping[str, Json]
    found_entities: Sequence[FoundEntities] = ()
    replaced: Replaced | None = None


class LeaseLost(Exception):
    """Another process works on the change set, or it was cancelled."""


# -- statements ---------------------------------------------------------------------------------------------------

_THIS = change_sets.c.id == bindparam("the_id")
_MEMBER = (
    change_set_members.c.change_set_id == bindparam("of_change_set"),
    change_set_members.c.n == bindparam("of_n"),
)
_IS_HELD = exists().where(
    change_sets.c.id == change_set_members.c.change_set_id,
    change_sets.c.fence == bindparam("held_fence"),
    change_sets.c.lease_until.is_not(None),
)
_SAVE_PLANNED = Statement(
    update(change_set_members)
    .where(*_MEMBER, _IS_HELD)
    .values(
        plan=bindparam("new_plan", type_=change_set_members.c.plan.type),
        draft=bindparam("new_draft", type_=change_set_members.c.draft.type),
        issues=bindparam("new_issues", type_=change_set_members.c.issues.type),
        reason=bindparam("new_reason"),
    )
    .returning(change_set_members.c.n)
)
_SAVE_OPERATION = Statement(
    update(change_set_members)
    .where(*_MEMBER)
    .values(
        operation_id=bindparam("new_operation_id"),
        plan_digest=bindparam("new_plan_digest"),
        exposure=bindparam("new_exposure", type_=change_set_members.c.exposure.type),
        plan=None,
        draft=None,
    )
)
_SAVE_ERROR = Statement(
    update(change_set_members)
    .where(*_MEMBER, _IS_HELD)
    .values(error=bindparam("new_error", type_=change_set_members.c.error.type))
    .returning(change_set_members.c.n)
)
_DUE = Statement(
    select(change_sets.c.id)
    .where(change_sets.c.lease_until.is_not(None), change_sets.c.lease_until <= bindparam("now"))
    .order_by(change_sets.c.id)
)
_CLAIM = Statement(
    update(change_sets)
    .where(_THIS, change_sets.c.lease_until <= bindparam("now"))
    .values(lease_until=bindparam("new_lease"), fence=change_sets.c.fence + 1)
    .returning(change_sets.c.fence)
)
_HELD = (_THIS, change_sets.c.fence == bindparam("held_fence"), change_sets.c.lease_until.is_not(None))
_RENEW = Statement(
    update(change_sets).where(*_HELD).values(lease_until=bindparam("new_lease")).returning(change_sets.c.id)
)
_END = Statement(
    update(change_sets)
    .where(*_HELD)
    .values(
        status=bindparam("new_status"),
        digest=bindparam("new_digest"),
        error=bindparam("new_error", type_=change_sets.c.error.type),
        expires_at=bindparam("new_expires_at"),
        lease_until=None,
        updated_at=bindparam("now"),
    )
    .returning(change_sets.c.id)
)
_BEGIN = Statement(
    update(change_sets)
    .where(
        _THIS,
        change_sets.c.status == "prepared",
        change_sets.c.digest == bindparam("seen_digest"),
        change_sets.c.expires_at > bindparam("now"),
    )
    .values(
        status="running",
        actor=bindparam("new_actor", type_=change_sets.c.actor.type),
        executed_by=bindparam("new_executed_by", type_=change_sets.c.executed_by.type),
        error=None,
        lease_until=bindparam("new_lease"),
        fence=change_sets.c.fence + 1,
        updated_at=bindparam("now"),
    )
    .returning(change_sets.c.fence)
)


# -- preparing ----------------------------------------------------------------------------------------------------


def save_planned(
    connection: Connection,
    claim: Claim,
    n: int,
    *,
    plan: str | None = None,
    draft: Mapping[str, Json] | None = None,
    issues: Sequence[Mapping[str, Json]] | None = None,
    reason: str | None = None,
) -> None:
    """Store the result of planning a member. Without a result, the member is planned again. Raises LeaseLost."""
    values = {
        "of_change_set": claim.change_set_id,
        "of_n": n,
        "held_fence": claim.fence,
        "new_plan": plan,
        "new_draft": draft,
        "new_issues": issues,
        "new_reason": reason,
    }
    if not _SAVE_PLANNED.fetch_all(connection, values):
        raise LeaseLost


def insert_operations(
    connection: Connection,
    actor: Actor,
    claim: Claim,
    planned: Sequence[PlannedMember],
    clock: Clock,
    issues: Mapping[str, Sequence[Mapping[str, Json]]],
) -> None:
    """Store the operations of a change set, all or none, and make it ``prepared``.

    ``issues``: the issues of the launch's skipped cells, by cell key.

    Raises:
        LeaseLost: another process works on it, or it was cancelled.
        ChainMoved: an operation that is resumed or replaced has changed since it was read.
        Conflict: an operation is undone or resumed already.
    """
    now = clock.now()
    values = {"the_id": claim.change_set_id, "held_fence": claim.fence, "now": now}
    if not _RENEW.fetch_all(connection, values | {"new_lease": now}):
        raise LeaseLost
    record = read_change_set(connection, claim.change_set_id, clock)
    for member in planned:
        _withdraw_replaced(connection, actor, member.replaced, clock)
    prepared = operations.prepare_operations(connection, actor, [member.draft for member in planned], clock)
    for member, (stored, _) in zip(planned, prepared.created, strict=True):
        if member.draft.resumes is not None:
            link_resumption(connection, member.draft, stored.id, member.found_entities, clock)
        if member.replaced is not None and member.replaced.cell is not None:
            launch_id, key = member.replaced.cell
            launches.set_cell_operations(connection, launch_id, {key: stored.id})
    for account_id in dict.fromkeys(member.draft.account_id for member in planned):
        plans = [member.draft.plan for member in planned if member.draft.account_id == account_id]
        budgets = [budget for plan in plans for budget in list_read_budgets(plan.exposure)]
        guardrails.record_budgets(connection, account_id, budgets, now)
    stored_members = [
        (member, stored.id, stored.plan_digest) for member, (stored, _) in zip(planned, prepared.created, strict=True)
    ]
    _SAVE_OPERATION.execute_each(
        connection,
        [
            {
                "of_change_set": record.id,
                "of_n": member.n,
                "new_operation_id": id_,
                "new_plan_digest": digest,
                "new_exposure": member.exposure,
            }
            for member, id_, digest in stored_members
        ],
    )
    digest = compute_change_set_digest([(member.key, id_, plan_digest) for member, id_, plan_digest in stored_members])
    if record.launch_id is not None and record.action == "create":
        launches.set_cell_operations(
            connection, record.launch_id, {member.key: id_ for member, id_, _ in stored_members}
        )
        launches.set_cell_issues(connection, record.launch_id, issues)
    expires_at = prepared.created[0][0].expires_at
    _end(connection, claim, "prepared", now, digest=digest, expires_at=expires_at)
    after = {"status": "prepared", "operations": len(planned), "digest": digest}
    record_change(connection, actor, record, {"status": "preparing"}, after, clock)


def _withdraw_replaced(connection: Connection, actor: Actor, replaced: Replaced | None, clock: Clock) -> None:
    """Cancel the operation that is replaced, so that nobody executes both."""
    if replaced is None:
        return
    if not lock_operation(connection, replaced.operation_id, replaced.fence, clock):
        raise ChainMoved
    (record,) = operations.list_operations_by_id(connection, [replaced.operation_id], clock, has_plans=False).values()
    if record.status == "prepared":
        cancellation.withdraw_operation(connection, actor, record, clock)
    elif record.status != "cancelled":
        raise ChainMoved


def end_preparation(
    connection: Connection,
    claim: Claim,
    status: ChangeSetStatus,
    issues: Mapping[str, Sequence[Mapping[str, Json]]],
    clock: Clock,
    error: Mapping[str, Json] | None = None,
) -> None:
    """End a preparation without operations.

    ``issues``: the issues of the launch's cells, by cell key. Raises LeaseLost.
    """
    record = read_change_set(connection, claim.change_set_id, clock)
    _end(connection, claim, status, clock.now(), error=error)
    if record.launch_id is not None:
        launches.set_cell_issues(connection, record.launch_id, issues)


# -- the lease ----------------------------------------------------------------------------------------------------


def list_due(connection: Connection, clock: Clock) -> list[str]:
    """Return the change sets that are being prepared or executed, and whose lease has expired."""
    return [row.id for row in _DUE.fetch_all(connection, {"now": clock.now()})]


def claim_change_set(connection: Connection, change_set_id: str, lease: int, clock: Clock) -> Claim | None:
    """Take over a change set whose lease has expired. Returns None if another process was faster."""
    now = clock.now()
    row = _CLAIM.fetch_one_or_none(connection, {"the_id": change_set_id, "now": now, "new_lease": now + lease})
    return None if row is None else Claim(change_set_id, row.fence)


def renew_lease(connection: Connection, claim: Claim, lease: int, clock: Clock) -> bool:
    """Prolong the lease; 0 releases it. Returns False if another process holds it, or the change set was cancelled."""
    values = {"the_id": claim.change_set_id, "held_fence": claim.fence, "new_lease": clock.now() + lease}
    return bool(_RENEW.fetch_all(connection, values))


def _end(
    connection: Connection,
    claim: Claim,
    status: ChangeSetStatus,
    now: int,
    *,
    digest: str | None = None,
    expires_at: int | None = None,
    error: Mapping[str, Json] | None = None,
) -> None:
    values = {
        "the_id": claim.change_set_id,
        "held_fence": claim.fence,
        "new_status": status,
        "new_digest": digest,
        "new_error": error,
        "new_expires_at": expires_at,
        "now": now,
    }
    if not _END.fetch_all(connection, values):
        raise LeaseLost


# -- executing ----------------------------------------------------------------------------------------------------


def begin_execution(
    connection: Connection,
    actor: Actor,
    identity: Mapping[str, Json],
    change_set_id: str,
    digest: str,
    lease: int,
    clock: Clock,
) -> Claim | None:
    """Make a prepared change set with this digest ``running``.

    Returns None if it is not prepared or has another digest.
    """
    now = clock.now()
    values = {
        "the_id": change_set_id,
        "seen_digest": digest,
        "new_actor": identity,
        "new_executed_by": build_actor_record(actor.user_id, actor.credential, now),
        "new_lease": now + lease,
        "now": now,
    }
    row = _BEGIN.fetch_one_or_none(connection, values)
    if row is None:
        return None
    record = read_change_set(connection, change_set_id, clock)
    record_change(connection, actor, record, {"status": "prepared"}, {"status": "running", "digest": digest}, clock)
    return Claim(change_set_id, row.fence)


def save_error(connection: Connection, claim: Claim, n: int, error: Mapping[str, Json]) -> None:
    """Store why the execution of a member was refused. Raises LeaseLost."""
    values = {"of_change_set": claim.change_set_id, "of_n": n, "held_fence": claim.fence, "new_error": error}
    if not _SAVE_ERROR.fetch_all(connection, values):
        raise LeaseLost


def end_execution(
    connection: Connection,
    claim: Claim,
    status: ChangeSetStatus,
    clock: Clock,
    error: Mapping[str, Json] | None = None,
) -> None:
    """End an execution: ``finished``, or ``prepared`` if it stopped before all members were executed.

    Raises LeaseLost.
    """
    record = read_change_set(connection, claim.change_set_id, clock)
    _end(connection, claim, status, clock.now(), digest=record.digest, expires_at=record.expires_at, error=error)
