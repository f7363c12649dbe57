"""Prepares operations that resume others.

Only one UPDATE can link an operation to the one that resumes it. The UPDATE requires that no other operation resumes it
already, and that it was not executed, inspected or settled after its receipts and verdicts were read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen
from sqlalchemy import Connection, and_, bindparam, not_, select, update

from adsunify.actor import Actor
from adsunify.errors import Conflict
from adsunify.execution.state import CreatedId

from .attempts import StepAttempt
from .chains import IS_LAST_OF_CHAIN, ChainEnd, find_last_of_chain, list_chain, lock_chain, make_resumed_error
from .clock import Clock
from .created import record_created
from .operations import Idempotency, OperationDraft, PreparedOperations, prepare_operations
from .schema import accounts, operations
from .statement import Statement
from .verdicts import hash_verdicts, list_verdicts

_IS_IDLE = not_(and_(operations.c.status == "running", operations.c.lease_until > bindparam("now")))
_CARRY_ON = Statement(
    update(operations)
    .where(
        operations.c.id == bindparam("the_id"),
        operations.c.fence == bindparam("seen_fence"),
        operations.c.status != "succeeded",
        operations.c.restored_at.is_(None),
        IS_LAST_OF_CHAIN,
        _IS_IDLE,
    )
    .values(resumed_by=bindparam("new_resumed_by"), updated_at=bindparam("now"))
    .returning(operations.c.id)
)
_LOCK = Statement(
    update(operations)
    .where(
        operations.c.id == bindparam("the_id"),
        operations.c.fence == bindparam("seen_fence"),
        IS_LAST_OF_CHAIN,
        _IS_IDLE,
    )
    .values(updated_at=bindparam("now"))
    .returning(operations.c.id)
)
_GET_ACCOUNT = Statement(
    select(accounts.c.network, accounts.c.native_id).where(accounts.c.id == bindparam("the_account"))
)


@frozen
class FoundEntities:
    """Entities that a verdict found. Step ``n`` of the operation created them, but no receipt names them."""

    operation_id: str
    n: int
    step_key: str
    created: Sequence[CreatedId]


class ChainMoved(Exception):
    """The chain has changed since it was read: an operation was executed, or a receipt or a verdict has arrived."""


def prepare_resumption(
    connection: Connection,
    actor: Actor,
    draft: OperationDraft,
    found_entities: Sequence[FoundEntities],
    clock: Clock,
    idempotency: Idempotency | None = None,
) -> PreparedOperations:
    """Store an operation that resumes another one. The other one cannot be executed or cancelled any more.

    Args:
        connection: the connection.
        actor: the actor that prepares it.
        draft: the operation; ``draft.resumes`` is the end of the chain that it resumes, as it was read.
        found_entities: the entities that verdicts found. They count as created by their steps from now on.
        clock: the clock.
        idempotency: the caller's idempotency key.

    Raises:
        Conflict: ``already_resumed``; ``outcome_undecided`` if another operation has created an entity in
            ``found_entities``; or the key is bound to another request.
        ChainMoved: the chain was changed after it was read.
    """
    prepared = prepare_operations(connection, actor, [draft], clock, idempotency)
    if not prepared.is_replay:
        link_resumption(connection, draft, prepared.operation_ids[0], found_entities, clock)
    return prepared


def link_resumption(
    connection: Connection,
    draft: OperationDraft,
    operation_id: str,
    found_entities: Sequence[FoundEntities],
    clock: Clock,
) -> None:
    """Link a stored operation to the one that it resumes. Arguments and errors: :func:`prepare_resumption`."""
    end = draft.resumes
    assert end is not None
    values = {
        "the_id": end.operation_id,
        "seen_fence": end.fence,
        "new_resumed_by": operation_id,
        "now": clock.now(),
    }
    lock_chain(connection, end.chain_id)
    if not _CARRY_ON.fetch_all(connection, values):
        raise_if_resumed(connection, end)
        raise ChainMoved
    chain = list_chain(connection, end.chain_id)
    verdicts_by_operation = {id_: list_verdicts(connection, id_) for id_ in chain}
    if (_count_receipts(chain), hash_verdicts(verdicts_by_operation)) != (end.receipt_count, end.verdict_digest):
        raise ChainMoved
    if any(step.created for step in found_entities):
        account = _GET_ACCOUNT.fetch_one(connection, {"the_account": draft.account_id})
        for step in sorted(found_entities, key=lambda step: (step.operation_id, step.n)):
            creation = (step.operation_id, step.n, step.created, clock.now())
            if record_created(connection, account.network, account.native_id, *creation):
                raise Conflict(
                    f"The entity that was found for step {step.step_key} belongs to another operation by now. Inspect "
                    "this operation again.",
                    code="outcome_undecided",
                )


def lock_operation(connection: Connection, operation_id: str, fence: int, clock: Clock) -> bool:
    """Lock an operation for this transaction. Returns False if it was claimed or resumed after it was read."""
    values = {"the_id": operation_id, "seen_fence": fence, "now": clock.now()}
    return bool(_LOCK.fetch_all(connection, values))


def _count_receipts(chain: Mapping[str, Sequence[StepAttempt]]) -> int:
    return sum(attempt.receipt_at is not None for attempts in chain.values() for attempt in attempts)


def raise_if_resumed(connection: Connection, end: ChainEnd) -> None:
    """Raise Conflict ``already_resumed`` if another operation resumes the operation."""
    last = find_last_of_chain(connection, end.chain_id)
    if last != end.operation_id:
        raise make_resumed_error(last)
