"""Commits the state of an execution: its claim, its intents, its receipts and its end.

The claim is one conditional UPDATE that returns the fence. Every later commit requires this fence. The conditions are
expressions that two statements share: the UPDATE, and the SELECT that finds the reason if the UPDATE changed nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import (
    BigInteger,
    Boolean,
    Connection,
    Integer,
    Text,
    and_,
    bindparam,
    exists,
    not_,
    or_,
    select,
    update,
)

from adsunify.actor import Actor
from adsunify.errors import NotFound, StoreError
from adsunify.execution.state import (
    LEASE_MILLISECONDS,
    CommitResult,
    CreatedId,
    ObservedStatus,
    OperationStatus,
    StateCommit,
    Trigger,
    apply_trigger,
    build_actor_record,
)
from adsunify.guardrails.windows import SpendBinding, to_hour
from adsunify.ledger import LedgerEntry
from adsunify.store import attempts, events
from adsunify.store.cancellation import recover_operations
from adsunify.store.chains import IS_CHAIN_UNCHANGED, IS_LAST_OF_CHAIN, OUTCOME_CHANGED_MESSAGE
from adsunify.store.clock import Clock
from adsunify.store.created import build_unknown_outcome_error
from adsunify.store.guardrails import bind_windows
from adsunify.store.ledger import record_entries
from adsunify.store.operations import APPROVAL_FACTS, record_rule_event
from adsunify.store.receipts import store_receipt
from adsunify.store.schema import (
    accounts,
    api_keys,
    frozen_credentials,
    grants,
    memberships,
    operations,
    sessions,
    steps,
    workspaces,
)
from adsunify.store.schema.operations import CHAIN_ID
from adsunify.store.scopes import is_in_scope
from adsunify.store.statement import Statement, set_savepoint
from adsunify.store.windows import BEFORE_CLAIM, release_uses
from adsunify.values.exact_json import Json

_RUNNING, _CLAIM_EVENT = apply_trigger("prepared", "claim")

# -- conditions ---------------------------------------------------------------------------------------------------

_NOW = bindparam("now", type_=BigInteger)
_WALL = bindparam("wall", type_=BigInteger)
"""The machine's clock, for the expiry of credentials."""
_IS_UNEXPIRED = operations.c.expires_at > _NOW  # as in execution.state.is_expired
_IS_DUE = or_(operations.c.not_before.is_(None), operations.c.not_before <= _NOW)
_IS_LEASED = operations.c.lease_until > _NOW
_IS_HELD = and_(operations.c.fence == bindparam("held_fence"), operations.c.status == _RUNNING)
_is_own_attempt = and_(steps.c.n == bindparam("own_n"), steps.c.attempt == bindparam("own_attempt"))
_NOTHING_OPEN = not_(
    exists().where(steps.c.operation_id == operations.c.id, steps.c.receipt_at.is_(None), not_(_is_own_attempt))
)
"""No write is in flight, except the write of this change, whose intent the same claim may have stored before."""
_IS_NEW_ATTEMPT = not_(exists().where(steps.c.operation_id == operations.c.id, _is_own_attempt))
"""The attempt does not exist yet, so no other execution ran after the receipts were read."""
_IS_THIS_OPERATION = and_(
    operations.c.id == bindparam("the_id"), operations.c.workspace_id == bindparam("in_workspace")
)

_key_id, _grant_id = bindparam("by_key", type_=Text), bindparam("by_grant", type_=Text)
_session_hash = bindparam("by_session", type_=Text)
_only_credential = bindparam("only_credential", type_=Text)
_MEMBER = exists().where(
    memberships.c.workspace_id == operations.c.workspace_id,
    memberships.c.user_id == bindparam("by_user"),
    or_(
        memberships.c.role == "admin",
        and_(memberships.c.role == "member", operations.c.user_id == bindparam("by_user")),
    ),
)
_KEY = exists().where(
    is_in_scope(api_keys.c.scope, operations.c.account_id, operations.c.network),
    api_keys.c.id == _key_id,
    api_keys.c.workspace_id == operations.c.workspace_id,
    api_keys.c.user_id == bindparam("by_user"),
    api_keys.c.can_write.is_(True),
    api_keys.c.revoked_at.is_(None),
    or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > _WALL),
)
_GRANT = exists().where(
    is_in_scope(grants.c.scope, operations.c.account_id, operations.c.network),
    grants.c.id == _grant_id,
    grants.c.workspace_id == operations.c.workspace_id,
    grants.c.user_id == bindparam("by_user"),
    grants.c.can_write.is_(True),
    grants.c.revoked_at.is_(None),
    grants.c.expires_at > _WALL,
)
_SESSION = exists().where(
    sessions.c.token_hash == _session_hash,
    sessions.c.user_id == bindparam("by_user"),
    sessions.c.expires_at > _WALL,
)
_ACCOUNT = exists().where(accounts.c.id == operations.c.account_id, accounts.c.status == "active")
_ACCESS = and_(
    _MEMBER,
    _ACCOUNT,
    or_(_key_id.is_(None), _KEY),
    or_(_grant_id.is_(None), _GRANT),
    or_(_session_hash.is_(None), _SESSION),
    or_(_only_credential.is_(None), operations.c.credential == _only_credential),
)
_IS_APPROVED = or_(
    bindparam("by_person", type_=Boolean),
    not_(exists().where(workspaces.c.id == operations.c.workspace_id, workspaces.c.require_approval.is_(True))),
)
"""A signed-in person executes, or the workspace allows programs to execute. It is checked before every write."""
_RULES_VERSION = bindparam("rules_version", type_=Integer)
_IS_EVALUATED = exists().where(
    workspaces.c.id == operations.c.workspace_id, workspaces.c.guardrails_version == _RULES_VERSION
)
"""The operation was evaluated by the present rules of the workspace."""
_IS_NOT_FROZEN = or_(
    _RULES_VERSION == 0,  # a freeze raises the version, so 0 means that nothing was ever frozen
    not_(
        exists().where(
            frozen_credentials.c.workspace_id == operations.c.workspace_id,
            frozen_credentials.c.credential == bindparam("by_credential"),
        )
    ),
)

# -- statements ---------------------------------------------------------------------------------------------------

_EVENT_COLUMNS = (operations.c.fence, operations.c.account_id, operations.c.network, operations.c.executed_by)
"""The columns that the event of a change needs."""

_CLAIM = Statement(
    update(operations)
    .where(
        _IS_THIS_OPERATION,
        operations.c.status == "prepared",
        operations.c.updated_at <= _NOW,  # else another machine's clock is ahead; see _claim_operation
        _IS_UNEXPIRED,
        _IS_DUE,
        _IS_NEW_ATTEMPT,
        IS_LAST_OF_CHAIN,
        IS_CHAIN_UNCHANGED,
        _ACCESS,
        _IS_APPROVED,
        _IS_EVALUATED,
        _IS_NOT_FROZEN,
    )
    .values(
        status=_RUNNING,
        fence=operations.c.fence + 1,
        in_flight=bindparam("new_in_flight"),
        lease_until=bindparam("new_lease"),
        next_action=False,
        not_before=None,
        error=None,
        executed_by=bindparam("new_executed_by", type_=operations.c.executed_by.type),
        updated_at=_NOW,
    )
    .returning(*_EVENT_COLUMNS)
)
_HOLD = (
    update(operations)
    .where(_IS_THIS_OPERATION, _IS_HELD, _IS_LEASED, IS_LAST_OF_CHAIN)
    .values(lease_until=bindparam("new_lease"))
)
_RENEW = Statement(_HOLD.returning(operations.c.fence))
_RECORD_RECEIPT = Statement(
    _HOLD.where(_NOTHING_OPEN).values(in_flight=False, updated_at=_NOW).returning(operations.c.fence)
)
_CONTINUE = Statement(
    _HOLD.where(_NOTHING_OPEN, _IS_UNEXPIRED, IS_CHAIN_UNCHANGED, _ACCESS, _IS_APPROVED)
    .values(in_flight=True, updated_at=_NOW)
    .returning(operations.c.fence)
)
_END = Statement(
    update(operations)
    .where(_IS_THIS_OPERATION, _IS_HELD, _NOTHING_OPEN)
    .values(
        status=bindparam("new_status"),
        in_flight=False,
        lease_until=None,
        next_action=bindparam("new_next_action"),
        not_before=bindparam("new_not_before"),
        error=bindparam("new_error"),
        updated_at=_NOW,
    )
    .returning(*_EVENT_COLUMNS, CHAIN_ID)
)
_READ_CONDITIONS = Statement(
    select(
        operations.c.status,
        operations.c.fence,
        operations.c.updated_at,
        _IS_HELD.label("held"),
        _IS_LEASED.label("leased"),
        _IS_UNEXPIRED.label("unexpired"),
        _IS_DUE.label("due"),
        _IS_NEW_ATTEMPT.label("fresh"),
        IS_LAST_OF_CHAIN.label("last"),
        IS_CHAIN_UNCHANGED.label("unchanged"),
        _ACCESS.label("access"),
        _IS_APPROVED.label("approved"),
        _IS_EVALUATED.label("evaluated"),
        _IS_NOT_FROZEN.label("not_frozen"),
    ).where(_IS_THIS_OPERATION)
)

CommitRefusal = Literal[
    "claimed",
    "fenced",
    "expired",
    "too_early",
    "access",
    "frozen",
    "approval",
    "rules_changed",
    "guardrail",
    "not_prepared",
    "clock",
    "ambiguous",
    "resumed",
    "outcome_changed",
]

_STOP_REASONS = {
    "expired": ("operation_expired", "The review time of 30 minutes ended before the next native write."),
    "access": ("access_lost", "The credential, the membership or the account no longer permits the next native write."),
    "approval": ("approval_required", "The remaining steps must be executed by a signed-in person."),
    "outcome_changed": ("outcome_changed", OUTCOME_CHANGED_MESSAGE),
    "fenced": ("lease_lost", "The execution was interrupted for longer than its lease."),
}


def commit_state(
    connection: Connection,
    change: StateCommit,
    actor: Actor,
    clock: Clock,
    lease: int = LEASE_MILLISECONDS,
    observed: Sequence[ObservedStatus] = (),
    created: Sequence[CreatedId] = (),
    binding: SpendBinding | None = None,
) -> CommitResult:
    """Commit one change of an execution.

    A receipt is stored in any case. An intent is stored only if the result has no ``refusal``. If the intent is refused
    although the claim is valid (access, expiry, an expired lease), the operation becomes ``prepared`` again in the same
    transaction.

    A change may be repeated after the connection was lost during the commit. If the first commit succeeded, the
    repetition changes nothing and has the same result; a repeated claim has the refusal ``claimed``.

    Args:
        connection: the connection.
        change: the change.
        actor: the actor that executes the operation.
        clock: the clock.
        lease: the milliseconds after which others may regard the claim as lost.
        observed: the statuses that the receipt shows.
        created: the entities that the receipt reports as created. If another step has created one of them, the receipt
            becomes ambiguous.
        binding: the amounts that a claim adds to the windows of guardrails (:func:`.guardrails.bind_windows`); None
            means that the workspace has no guardrail.

    Raises:
        NotFound: the actor may not see the operation.
        LookupError: the receipt has no intent.
        StoreError: the claim waited while another one made the same attempt.
    """
    now = clock.now()
    foreign = None
    if change.receipt is not None:
        foreign = store_receipt(connection, change.operation_id, change.receipt, now, observed, created, actor)
    values: dict[str, Any] = {
        "the_id": change.operation_id,
        "in_workspace": actor.workspace_id,
        "held_fence": change.fence,
        "by_user": actor.user_id,
        "by_key": actor.key_id,
        "by_grant": actor.grant_id,
        "by_session": actor.session_hash,
        "only_credential": actor.credential if actor.kind == "agent" else None,
        "by_person": actor.can_approve,
        "by_credential": actor.credential,
        "rules_version": 0 if binding is None else binding.rules_version,
        "new_lease": now + lease,
        "now": now,
        "wall": clock.wall(),
        "own_n": -1 if change.intent is None else change.intent.step_index,
        "own_attempt": -1 if change.intent is None else change.intent.attempt,
    }
    if foreign is not None:
        _end_execution(connection, values | {"own_n": -1}, "lose", False, None, build_unknown_outcome_error(foreign))
        return CommitResult(change.fence or 0, now, "ambiguous")
    if change.fence is None:
        claimed = _claim_operation(connection, change, actor, clock, values, binding)
        if claimed.refusal is not None or change.trigger in (None, "claim"):
            return claimed
        values |= {"held_fence": claimed.fence, "now": claimed.committed_at}
    if change.is_renewal:
        return _update_if_held(connection, _RENEW, values)
    if change.trigger is not None and change.trigger != "claim":
        wait = None if change.retry_after is None else values["now"] + change.retry_after
        return _end_execution(connection, values, change.trigger, change.has_next_action, wait, change.error)
    if change.intent is None:
        return _hand_back_if_refused(
            connection, change, _update_if_held(connection, _RECORD_RECEIPT, values), values, actor, clock
        )
    if not actor.can_operate:
        return _hand_back_if_refused(
            connection, change, CommitResult(values["held_fence"], now, "access"), values, actor, clock
        )
    result = _update_if_held(connection, _CONTINUE, values)
    if result.refusal is None and not attempts.save_intent(
        connection,
        change.operation_id,
        result.fence,
        change.intent,
        now,
        build_actor_record(actor.user_id, actor.credential, now),
    ):
        result = CommitResult(result.fence, now, "fenced")
    return _hand_back_if_refused(connection, change, result, values, actor, clock)


def _claim_operation(
    connection: Connection,
    change: StateCommit,
    actor: Actor,
    clock: Clock,
    values: dict[str, Any],
    binding: SpendBinding | None,
) -> CommitResult:
    by = build_actor_record(actor.user_id, actor.credential, values["now"])
    values |= {"held_fence": 0, "new_in_flight": change.intent is not None, "new_executed_by": by}
    lease = values["new_lease"] - values["now"]
    while (row := _try_claim(connection, values, binding) if actor.can_operate else None) is None:
        conditions = _read_conditions(connection, values)
        reason = _claim_refusal(conditions, actor, clock)
        if reason == "claimed" and recover_operations(connection, clock, change.operation_id):
            continue  # it is ``prepared`` again, so it can be claimed now
        if reason == "approval":
            record_rule_event(connection, change.operation_id, clock, APPROVAL_FACTS)
        if reason is not None:
            return CommitResult(0, values["now"], reason)
        # all conditions hold now: another machine's clock is ahead, or another claim has ended in the meantime
        clock.observe(conditions.updated_at)
        values["now"] = clock.now()
        values["new_lease"] = values["now"] + lease
        values["new_executed_by"] = build_actor_record(actor.user_id, actor.credential, values["now"])
    if binding is not None and binding.uses:
        breach = bind_windows(connection, actor, change.operation_id, binding, values["now"], clock)
        if breach == "rules_changed":
            return CommitResult(0, values["now"], breach)
        if breach is not None:
            return CommitResult(0, values["now"], "guardrail", breach)
    _record_event(connection, values, row, _CLAIM_EVENT, _RUNNING)
    stale = {"allowStale": True} if binding is not None and binding.allows_stale else {}
    entry = LedgerEntry(
        actor.workspace_id,
        actor,
        "execute",
        change.operation_id,
        row.account_id,
        row.network,
        before={"status": "prepared"},
        after={"status": _RUNNING, "fence": row.fence, **stale},
    )
    record_entries(connection, [entry], values["now"])
    intent = change.intent
    if intent is not None and not attempts.save_intent(
        connection, change.operation_id, row.fence, intent, values["now"], values["new_executed_by"]
    ):
        # on PostgreSQL, a claim that waited for another one sees the new row but the old attempts
        raise StoreError(f"Another execution has made attempt {intent.attempt} at step {intent.step_index}.")
    return CommitResult(row.fence, values["now"])


def _try_claim(connection: Connection, values: Mapping[str, Any], binding: SpendBinding | None) -> Any:
    if binding is not None and binding.uses:
        set_savepoint(connection, BEFORE_CLAIM)
    return _CLAIM.fetch_one_or_none(connection, values)


def _read_conditions(connection: Connection, values: dict[str, Any]) -> Any:
    row = _READ_CONDITIONS.fetch_one_or_none(connection, values)
    if row is None:
        raise NotFound("The operation does not exist, or you may not see it.")
    return row


def _claim_refusal(conditions: Any, actor: Actor, clock: Clock) -> CommitRefusal | None:
    if conditions.status not in ("prepared", _RUNNING):
        return "not_prepared"
    if clock.is_ahead(conditions.updated_at):
        return "clock"
    if conditions.status == _RUNNING:
        return "claimed"
    if not conditions.last:
        return "resumed"
    if not conditions.unexpired:
        return "expired"
    if not conditions.unchanged:
        return "outcome_changed"
    if not conditions.due:
        return "too_early"
    if not conditions.access or not actor.can_operate:
        return "access"
    if not conditions.not_frozen:
        return "frozen"
    if not conditions.approved:
        return "approval"
    if not conditions.evaluated:
        return "rules_changed"
    return None if conditions.fresh else "claimed"


def _update_if_held(connection: Connection, statement: Statement, values: dict[str, Any]) -> CommitResult:
    """Run a statement that requires the claim. If it changed nothing, find the reason.

    The reason ``fenced`` means that the claim or its lease is lost, or (a defect) that another write is in flight.
    """
    fence, now = values["held_fence"], values["now"]
    if statement.fetch_all(connection, values):
        return CommitResult(fence, now)
    conditions = _read_conditions(connection, values)
    reason: CommitRefusal = "fenced"
    if conditions.held and conditions.leased and conditions.last:
        failed: dict[CommitRefusal, bool] = {
            "expired": not conditions.unexpired,
            "outcome_changed": not conditions.unchanged,
            "access": not conditions.access,
            "approval": not conditions.approved,
        }
        reason = next((name for name, is_failed in failed.items() if is_failed), reason)
    return CommitResult(fence, now, reason)


def _hand_back_if_refused(
    connection: Connection,
    change: StateCommit,
    result: CommitResult,
    values: dict[str, Any],
    actor: Actor,
    clock: Clock,
) -> CommitResult:
    """Return the result. If it is a refusal, make the operation ``prepared`` again.

    The UPDATE requires the fence and that no write is in flight. If an earlier attempt at this commit stored the
    intent, its write was never sent, because its caller saw an error. So the intent is closed.
    """
    if result.refusal is not None:
        if change.intent is not None:
            attempts.withdraw_intent(connection, change.operation_id, result.fence, change.intent, values["now"], actor)
        code, message = _STOP_REASONS[result.refusal]
        again = result.refusal == "fenced"  # only the lease has expired, so the caller may execute again
        _end_execution(connection, values | {"own_n": -1}, "hand_back", again, None, {"code": code, "message": message})
        if result.refusal == "approval":
            record_rule_event(connection, change.operation_id, clock, APPROVAL_FACTS)
    return result


def _end_execution(
    connection: Connection,
    values: dict[str, Any],
    trigger: Trigger,
    next_action: bool,
    not_before: int | None,
    error: Mapping[str, Json] | None,
) -> CommitResult:
    status, event = apply_trigger(_RUNNING, trigger)
    ended = {
        "new_status": status,
        "new_next_action": next_action,
        "new_not_before": not_before,
        "new_error": error,
    }
    row = _END.fetch_one_or_none(connection, values | ended)
    if row is None:
        conditions = _read_conditions(connection, values)
        # only the holder of a fence can end it, so this claim has committed this end before, but saw an error
        is_ended = conditions.fence == values["held_fence"] and conditions.status == status
        return CommitResult(values["held_fence"], values["now"], None if is_ended else "fenced")
    if trigger == "hand_back":
        release_uses(connection, [row.chain], to_hour(values["now"]))
    _record_event(connection, values, row, event, status)
    return CommitResult(row.fence, values["now"])


def _record_event(
    connection: Connection, values: dict[str, Any], row: Any, event: str | None, status: OperationStatus
) -> None:
    if event is not None:
        event_row = events.make_event_row(
            event,
            values["in_workspace"],
            values["now"],
            status=status,
            operation_id=values["the_id"],
            account_id=row.account_id,
            network=row.network,
            more={"executedBy": row.executed_by},
        )
        events.record_events(connection, [event_row])
