"""Chains: operations of which each carries on with the one before it.

At most one operation carries on with another one, so a chain has one last operation. Only that one can be claimed or
cancelled, and only if no older operation has got a receipt since it was prepared.
"""

from __future__ import annotations

from attrs import frozen
from sqlalchemy import Connection, bindparam, func, or_, select

from adsunify.errors import Conflict

from .attempts import StepAttempt, list_attempts_by_operation
from .schema import operations, steps
from .statement import Statement


@frozen
class ChainEnd:
    """The last operation of a chain, and its chain, as a new operation carries on with them.

    ``receipt_count``: the number of receipts of all operations of the chain. Receipts are only added, so another number
    means that one has arrived since.
    """

    operation_id: str
    chain_id: str
    fence: int
    receipt_count: int


# -- conditions ---------------------------------------------------------------------------------------------------

_of_chain = operations.alias("of_chain")
IS_LAST_OF_CHAIN = operations.c.resumed_by.is_(None)
"""No other operation carries on with the operation."""
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
HAS_CHAIN_RECEIPTS = or_(operations.c.chain_id.is_(None), operations.c.chain_receipts == _CHAIN_RECEIPTS)
"""No receipt of an older operation of the chain has arrived since the operation was prepared."""

_LIST_CHAIN = Statement(
    select(operations.c.id, operations.c.resumed_by).where(
        or_(operations.c.id == bindparam("of_chain"), operations.c.chain_id == bindparam("of_chain"))
    )
)


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
