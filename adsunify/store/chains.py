"""Chains: operations of which each resumes the one before it.

At most one operation resumes another one, so a chain has one last operation. Only the last one can be claimed or
cancelled. It can be claimed, and sends its next write, only if nothing new became known about the older operations
since it was prepared.
"""

from __future__ import annotations

from attrs import frozen
from sqlalchemy import Connection, and_, bindparam, exists, func, not_, or_, select

from adsunify.errors import Conflict

from .attempts import StepAttempt, list_attempts_by_operation
from .schema import operations, steps, verdicts
from .statement import Statement


@frozen
class ChainEnd:
    """The last operation of a chain and the state of the chain, as the operation that resumes it expects them.

    ``receipt_count``: the number of receipts of all operations of the chain. Receipts are only added, so a different
    number means that a receipt has arrived in the meantime. ``verdict_digest``: the digest of their valid verdicts.
    """

    operation_id: str
    chain_id: str
    fence: int
    receipt_count: int
    verdict_digest: str


# -- conditions ---------------------------------------------------------------------------------------------------

_of_chain = operations.alias("of_chain")
IS_LAST_OF_CHAIN = operations.c.resumed_by.is_(None)
"""No other operation resumes the operation."""
_CHAIN_RECEIPTS = (
    select(func.count())
    .select_from(_of_chain.join(steps, steps.c.operation_id == _of_chain.c.id))
    .where(
        or_(_of_chain.c.id == operations.c.chain_id, _of_chain.c.chain_id == operations.c.chain_id),
        _of_chain.c.id != operations.c.id,
        steps.c.receipt_at.is_not(None),
    )
    .correlate(operations)
    .scalar_subquery()
)
_earlier = verdicts.alias("earlier")
_HAS_NEW_FIND = (
    exists()
    .where(
        or_(
            verdicts.c.operation_id == operations.c.chain_id,
            verdicts.c.operation_id.in_(
                select(_of_chain.c.id).where(_of_chain.c.chain_id == operations.c.chain_id).correlate(operations)
            ),
        ),
        verdicts.c.operation_id != operations.c.id,
        verdicts.c.verdict == "applied",
        verdicts.c.at > operations.c.created_at,
        not_(
            exists()
            .where(
                _earlier.c.operation_id == verdicts.c.operation_id,
                _earlier.c.key == verdicts.c.key,
                _earlier.c.attempt == verdicts.c.attempt,
                _earlier.c.verdict == "applied",
                _earlier.c.at <= operations.c.created_at,
            )
            .correlate(operations, verdicts)
        ),
    )
    .correlate(operations)
)
IS_CHAIN_UNCHANGED = or_(
    operations.c.chain_id.is_(None), and_(operations.c.chain_receipts == _CHAIN_RECEIPTS, not_(_HAS_NEW_FIND))
)
"""Since the operation was prepared, nothing new became known of an older operation of the chain.

No receipt has arrived, and no inspection has found an applied write.
"""

OUTCOME_CHANGED_MESSAGE = (
    "After this operation was prepared, a late answer to an earlier operation of its chain arrived, or an inspection "
    "found a write of it. So the plan is out of date, and nothing more is sent. Resume this operation: that prepares "
    "what is still to be written."
)

_LIST_CHAIN = Statement(
    select(operations.c.id, operations.c.resumed_by).where(
        or_(operations.c.id == bindparam("of_chain"), operations.c.chain_id == bindparam("of_chain"))
    )
)
_LOCK_CHAIN = Statement(select(operations.c.id).where(operations.c.id == bindparam("of_chain")).with_for_update())


def lock_chain(connection: Connection, chain_id: str) -> None:
    """Lock a chain for this transaction. Without it, PostgreSQL could link an operation while a verdict is stored."""
    _LOCK_CHAIN.fetch_all(connection, {"of_chain": chain_id})


def list_chain(connection: Connection, chain_id: str) -> dict[str, list[StepAttempt]]:
    """Return the operations of a chain with their attempts, oldest first, without responses."""
    return list_attempts_by_operation(connection, _list_ids(connection, chain_id))


def find_last_of_chain(connection: Connection, chain_id: str) -> str:
    """Return the id of the last operation of a chain."""
    return _list_ids(connection, chain_id)[-1]


def _list_ids(connection: Connection, chain_id: str) -> list[str]:
    """Return the ids of a chain in order. An operation that is being prepared is not part of it yet."""
    next_ids = {row.id: row.resumed_by for row in _LIST_CHAIN.fetch_all(connection, {"of_chain": chain_id})}
    ids = [chain_id]
    while next_ids[ids[-1]] is not None:
        ids.append(next_ids[ids[-1]])
    return ids


def make_resumed_error(last_id: str) -> Conflict:
    """Make the error of a call that needs the last operation of a chain."""
    return Conflict(f"Operation {last_id} carries on with this one. Continue with that one.", code="already_resumed")
