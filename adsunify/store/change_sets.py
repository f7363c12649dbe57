"""Change sets: the units of review and execution. :mod:`.change_set_runs` prepares and executes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from attrs import evolve, fields, frozen
from sqlalchemy import Connection, bindparam, insert, or_, select, update

from adsunify.actor import Actor
from adsunify.errors import Conflict, Forbidden, NotFound, OperationError
from adsunify.launches.states import OPEN_STATUSES, ChangeSetAction, ChangeSetStatus
from adsunify.ledger import LedgerEntry
from adsunify.values.exact_json import Json, dumps, loads

from . import cancellation, launches, operations
from .clock import Clock, new_id
from .ledger import record_entry
from .schema import change_set_members, change_sets
from .schema import operations as operation_rows
from .statement import Statement


@frozen
class ChangeSetRecord:
    """A change set as it was read. Times are in milliseconds since 1970.

    Attributes:
        status: ``expired`` if it is prepared and its review time is over.
        actor: the actor that prepares or executes it, as :mod:`adsunify.service.launches.actors` writes it.
        error: why its preparation or its last execution stopped.
        expires_at: when its operations expire; None before they are prepared.
    """

    id: str
    workspace_id: str
    user_id: str
    credential: str
    launch_id: str | None
    action: ChangeSetAction
    status: ChangeSetStatus
    skip_invalid: bool
    actor: Mapping[str, Json]
    digest: str | None
    executed_by: Mapping[str, Json] | None
    error: Mapping[str, Json] | None
    created_at: int
    updated_at: int
    expires_at: int | None
    fence: int

    @property
    def is_open(self) -> bool:
        """Whether it is being prepared or executed, or can still be executed."""
        return self.status in OPEN_STATUSES


@frozen
class NewMember:
    """A member of a new change set.

    ``task``: the task to plan; ``issues``: issues that are known before it is planned.
    """

    key: str
    account_id: str
    network: str
    task: Mapping[str, Json]
    issues: Sequence[Mapping[str, Json]] | None = None
    reason: str | None = None


@frozen
class MemberRecord:
    """A member of a change set.

    Attributes:
        task: the task to plan; None in lists, as are ``plan`` and ``draft``.
        plan: the text of its plan, until its operation is stored.
        draft: the other members of its :class:`OperationDraft`, as JSON.
        issues: why it is refused.
        reason: why the change set leaves it out.
        exposure: the exposure and the planned budgets of its plan, as responses show them.
        error: why its execution was refused: ``code`` and ``message``.
        is_planned: whether it has a plan and its operation is not stored yet.
    """

    n: int
    key: str
    account_id: str
    network: str
    task: Mapping[str, Json] | None
    plan: str | None
    draft: Mapping[str, Json] | None
    issues: Sequence[Mapping[str, Json]] | None
    reason: str | None
    operation_id: str | None
    plan_digest: str | None
    exposure: Mapping[str, Json] | None
    error: Mapping[str, Json] | None
    is_planned: bool


@frozen
class Claim:
    """The right to work on a change set, as long as the lease is renewed."""

    change_set_id: str
    fence: int


# -- statements ---------------------------------------------------------------------------------------------------

_INSERT = Statement(insert(change_sets))
_INSERT_MEMBER = Statement(insert(change_set_members))
_THIS = change_sets.c.id == bindparam("the_id")
_GET = Statement(select(change_sets).where(_THIS))
_OF_LAUNCH = Statement(
    select(change_sets).where(change_sets.c.launch_id == bindparam("of_launch")).order_by(change_sets.c.id)
)
_LONG_COLUMNS = ("task", "plan", "draft")
_IS_PLANNED = change_set_members.c.plan.is_not(None).label("is_planned")
_MEMBER_COLUMNS = [
    *(change_set_members.c[field.name] for field in fields(MemberRecord) if field.name in change_set_members.c),
    _IS_PLANNED,
]
_OF_CHANGE_SET = change_set_members.c.change_set_id == bindparam("of_change_set")
_MEMBERS = Statement(select(*_MEMBER_COLUMNS).where(_OF_CHANGE_SET).order_by(change_set_members.c.n))
_LISTED_MEMBERS = Statement(
    select(*(column for column in _MEMBER_COLUMNS if column.name not in _LONG_COLUMNS))
    .where(_OF_CHANGE_SET)
    .order_by(change_set_members.c.n)
)
_PLACES = Statement(
    select(change_set_members.c.account_id, change_set_members.c.network).where(_OF_CHANGE_SET).distinct()
)
_OF_CHAIN = Statement(
    select(change_set_members.c.change_set_id)
    .join(operation_rows, operation_rows.c.id == change_set_members.c.operation_id)
    .where(or_(operation_rows.c.id == bindparam("of_chain"), operation_rows.c.chain_id == bindparam("of_chain")))
    .order_by(operation_rows.c.id)
    .limit(1)
)
_CANCEL = Statement(
    update(change_sets)
    .where(_THIS, or_(*(change_sets.c.status == status for status in OPEN_STATUSES)))
    .values(status="cancelled", lease_until=None, fence=change_sets.c.fence + 1, updated_at=bindparam("now"))
    .returning(change_sets.c.id)
)


# -- preparing ----------------------------------------------------------------------------------------------------


def create_change_set(
    connection: Connection,
    actor: Actor,
    record: ChangeSetRecord,
    members: Sequence[NewMember],
    lease: int,
    clock: Clock,
) -> Claim:
    """Store a change set that is being prepared, and return the claim to prepare it.

    Raises:
        Conflict: ``run_open``; the launch has an open change set.
    """
    now = clock.now()
    if record.launch_id is not None:
        latest_id = launches.lock_launch(connection, record.launch_id)
        latest = None if latest_id is None else _read_record(connection, latest_id, now)
        if latest is not None and latest.is_open:
            raise Conflict(
                f"The change set {latest.id} of this launch is {latest.status}. Execute or cancel it first.",
                code="run_open",
            )
    row = {field.name: getattr(record, field.name) for field in fields(ChangeSetRecord)}
    _INSERT.execute_each(connection, [row | {"lease_until": now + lease}])
    if record.launch_id is not None:
        launches.set_change_set(connection, record.launch_id, record.id, now)
    rows = [
        {
            "change_set_id": record.id,
            "n": n,
            "key": member.key,
            "account_id": member.account_id,
            "network": member.network,
            "task": dumps(member.task),
            "issues": member.issues,
            "reason": member.reason,
        }
        for n, member in enumerate(members)
    ]
    _INSERT_MEMBER.execute_each(connection, rows)
    after = {"action": record.action, "status": record.status, "members": len(members)}
    record_change(connection, actor, record, None, after, clock)
    return Claim(record.id, record.fence)


def make_change_set(
    actor: Actor,
    identity: Mapping[str, Json],
    launch_id: str | None,
    action: ChangeSetAction,
    skip_invalid: bool,
    clock: Clock,
) -> ChangeSetRecord:
    """Make the record of a new change set. ``identity``: the stored form of the actor."""
    now = clock.now()
    return ChangeSetRecord(
        id=new_id(now),
        workspace_id=actor.workspace_id,
        user_id=actor.user_id,
        credential=actor.credential,
        launch_id=launch_id,
        action=action,
        status="preparing",
        skip_invalid=skip_invalid,
        actor=identity,
        digest=None,
        executed_by=None,
        error=None,
        created_at=now,
        updated_at=now,
        expires_at=None,
        fence=1,
    )


# -- cancelling -------------------------------------------------------------------------------------


def cancel_change_set(connection: Connection, actor: Actor, change_set_id: str, clock: Clock) -> None:
    """Cancel an open change set and its prepared operations.

    Applied changes stay, and writes in flight are not stopped.

    Raises:
        NotFound: the actor may not see it.
        Forbidden: another user has prepared it.
        OperationError: it has ended.
    """
    now = clock.now()
    record = get_change_set(connection, actor, change_set_id, clock)
    if record.user_id != actor.user_id:
        raise Forbidden("Only the user who prepared a change set can cancel it.")
    if record.status != "cancelled":
        if not _CANCEL.fetch_all(connection, {"the_id": change_set_id, "now": now}):
            status = get_change_set(connection, actor, change_set_id, clock).status
            raise OperationError(
                f"Only an open change set can be cancelled; this one is {status}.", code="change_set_closed"
            )
        record_change(connection, actor, record, {"status": record.status}, {"status": "cancelled"}, clock)
    ids = [member.operation_id for member in list_members(connection, change_set_id) if member.operation_id is not None]
    for operation in operations.list_operations_by_id(connection, ids, clock, has_plans=False).values():
        if operation.status == "prepared" and operation.resumed_by is None:
            with suppress(OperationError, Conflict):  # it was claimed or resumed after it was read, so it has begun
                cancellation.withdraw_operation(connection, actor, operation, clock)


def record_change(
    connection: Connection, actor: Actor, record: ChangeSetRecord, before: Json, after: Json, clock: Clock
) -> None:
    """Record a change of a change set in the ledger."""
    entry = LedgerEntry(record.workspace_id, actor, "change_set", record.id, before=before, after=after)
    record_entry(connection, entry, clock)


# -- reading ------------------------------------------------------------------------------------------------------


def get_change_set(connection: Connection, actor: Actor, change_set_id: str, clock: Clock) -> ChangeSetRecord:
    """Return a change set that the actor may see, all of whose accounts the actor reaches. Raises NotFound."""
    row = _GET.fetch_one_or_none(connection, {"the_id": change_set_id})
    if row is None or not _is_visible(connection, actor, row):
        raise NotFound("The change set does not exist, or you may not see it.")
    return _make_record(row, clock.now())


def read_change_set(connection: Connection, change_set_id: str, clock: Clock) -> ChangeSetRecord:
    """Return a change set without a check of access."""
    return _read_record(connection, change_set_id, clock.now())


def list_change_sets(connection: Connection, launch_id: str, clock: Clock) -> list[ChangeSetRecord]:
    """Return the change sets of a launch, oldest first."""
    rows = _OF_LAUNCH.fetch_all(connection, {"of_launch": launch_id})
    return [_make_record(row, clock.now()) for row in rows]


def find_change_set_id(connection: Connection, chain_id: str) -> str | None:
    """Return the change set of the first operation of a chain that is in a change set; None if no operation is."""
    row = _OF_CHAIN.fetch_one_or_none(connection, {"of_chain": chain_id})
    return None if row is None else str(row.change_set_id)


def list_members(connection: Connection, change_set_id: str, *, is_whole: bool = False) -> list[MemberRecord]:
    """Return the members of a change set. ``is_whole``: with their tasks and plans, which take long to read."""
    values = {"of_change_set": change_set_id}
    if is_whole:
        rows = _MEMBERS.fetch_all(connection, values)
        return [MemberRecord(**row._asdict() | {"task": loads(row.task)}) for row in rows]
    nothing: dict[str, Any] = dict.fromkeys(_LONG_COLUMNS)
    return [MemberRecord(**row._asdict() | nothing) for row in _LISTED_MEMBERS.fetch_all(connection, values)]


def _is_visible(connection: Connection, actor: Actor, row: Any) -> bool:
    if not actor.can_see(row.workspace_id, row.user_id, row.credential):
        return False
    if actor.scope is None:
        return True
    places = _PLACES.fetch_all(connection, {"of_change_set": row.id})
    return all(actor.can_reach(place.account_id, place.network) for place in places)


def _read_record(connection: Connection, change_set_id: str, now: int) -> ChangeSetRecord:
    return _make_record(_GET.fetch_one(connection, {"the_id": change_set_id}), now)


def _make_record(row: Any, now: int) -> ChangeSetRecord:
    record = ChangeSetRecord(**{field.name: getattr(row, field.name) for field in fields(ChangeSetRecord)})
    is_over = record.status == "prepared" and record.expires_at is not None and record.expires_at <= now
    return evolve(record, status="expired") if is_over else record
