"""Cancels prepared operations, and makes operations ``prepared`` again whose lease has expired."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, text, update

from adsunify.actor import Actor
from adsunify.errors import Forbidden, OperationError
from adsunify.execution.state import apply_trigger, build_actor_record
from adsunify.guardrails.windows import to_hour
from adsunify.ledger import LedgerEntry

from . import events
from .chains import IS_LAST_OF_CHAIN, find_last_of_chain, make_resumed_error
from .clock import Clock
from .ledger import record_entry
from .operations import RECOVERED_STATUS, OperationRecord, get_operation
from .schema import operations
from .schema.operations import CHAIN_ID
from .statement import Statement
from .windows import release_uses

_recoverable = (
    update(operations)
    .where(
        text("status = 'running'"),  # a literal, because a partial index does not match a parameter
        operations.c.lease_until <= bindparam("now"),
        operations.c.in_flight.is_(False),
    )
    .values(status=RECOVERED_STATUS, next_action=True, lease_until=None, updated_at=bindparam("now"))
    .returning(operations.c.id, CHAIN_ID)
)
_RECOVERABLE = Statement(_recoverable)
_RECOVER_ONE = Statement(_recoverable.where(operations.c.id == bindparam("the_id")))

_CANCELLED_STATUS, _CANCEL_EVENT = apply_trigger("prepared", "cancel")
_CANCEL = Statement(
    update(operations)
    .where(operations.c.id == bindparam("the_id"), operations.c.status == "prepared", IS_LAST_OF_CHAIN)
    .values(
        status=_CANCELLED_STATUS,
        next_action=False,
        not_before=None,
        cancelled_by=bindparam("new_cancelled_by", type_=operations.c.cancelled_by.type),
        updated_at=bindparam("now"),
    )
    .returning(operations.c.id)
)


def cancel_operation(connection: Connection, actor: Actor, operation_id: str, clock: Clock) -> OperationRecord:
    """Cancel a prepared operation of this user. A cancelled operation stays unchanged.

    Raises:
        Conflict: ``already_resumed``.
        NotFound: the actor may not see such an operation.
        Forbidden: another user has prepared it.
        OperationError: ``operation_<status>`` or ``operation_stalled``; the operation is not prepared.
    """
    record = get_operation(connection, actor, operation_id, clock)
    if record.user_id != actor.user_id:
        raise Forbidden("Only the user who prepared an operation can cancel it.")
    return withdraw_operation(connection, actor, record, clock)


def withdraw_operation(connection: Connection, actor: Actor, record: OperationRecord, clock: Clock) -> OperationRecord:
    """Cancel a prepared operation of any user. Raises as :func:`cancel_operation`."""
    operation_id, now = record.id, clock.now()
    recover_operations(connection, clock, operation_id)  # also releases its amounts if it wrote nothing
    by = build_actor_record(actor.user_id, actor.credential, now)
    if not _CANCEL.fetch_all(connection, {"the_id": operation_id, "now": now, "new_cancelled_by": by}):
        record = get_operation(connection, actor, operation_id, clock)
        if record.status == _CANCELLED_STATUS:
            return record
        if record.status == "prepared":  # another operation resumes it
            raise make_resumed_error(find_last_of_chain(connection, record.chain_id))
        state = "stalled" if record.is_stalled else record.status
        raise OperationError(
            f"Only a prepared operation can be cancelled; this one is {state}.",
            code=f"operation_{state}",
            outcome="applied" if state == "succeeded" else "unknown",
        )
    assert _CANCEL_EVENT is not None
    events.record_events(
        connection,
        [
            events.make_event_row(
                _CANCEL_EVENT,
                record.workspace_id,
                now,
                status=_CANCELLED_STATUS,
                operation_id=record.id,
                account_id=record.account_id,
                network=record.network,
                more={"cancelledBy": by},
            )
        ],
    )
    entry = LedgerEntry(
        record.workspace_id,
        actor,
        "cancel",
        record.id,
        record.account_id,
        record.network,
        before={"status": "prepared"},
        after={"status": _CANCELLED_STATUS},
    )
    record_entry(connection, entry, clock)
    return get_operation(connection, actor, operation_id, clock)


def recover_operations(connection: Connection, clock: Clock, operation_id: str | None = None) -> list[str]:
    """Make operations ``prepared`` again whose lease has expired with no write in flight, and return their ids.

    An operation with a write in flight stays ``running``, because the outcome of the write is not known.
    """
    now = clock.now()
    if operation_id is None:
        rows = _RECOVERABLE.fetch_all(connection, {"now": now})
    else:
        rows = _RECOVER_ONE.fetch_all(connection, {"now": now, "the_id": operation_id})
    if rows:
        release_uses(connection, {row.chain for row in rows}, to_hour(now))
    return [row.id for row in rows]
