"""Stores the receipt of a native write, with the statuses and created entities that it shows."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, select

from adsunify.execution.state import CreatedId, ObservedStatus, Receipt
from adsunify.ledger import Author
from adsunify.store.attempts import save_receipt
from adsunify.store.created import make_ambiguous_receipt, record_created
from adsunify.store.entities import record_statuses
from adsunify.store.schema import accounts, operations
from adsunify.store.statement import Statement

_GET_ACCOUNT = Statement(
    select(accounts.c.id, accounts.c.network, accounts.c.native_id)
    .join(operations, operations.c.account_id == accounts.c.id)
    .where(operations.c.id == bindparam("the_id"))
)


def store_receipt(
    connection: Connection,
    operation_id: str,
    receipt: Receipt,
    at: int,
    observed: Sequence[ObservedStatus],
    created: Sequence[CreatedId],
    by: Author,
) -> Receipt | None:
    """Store a receipt of ``by``, the statuses that it shows and the entities that it reports as created.

    If another step has created one of these entities, the receipt is stored as ambiguous and returned.

    Raises:
        LookupError: the receipt has no intent.
    """
    if not created and not observed:
        save_receipt(connection, operation_id, receipt, at, by)
        return None
    account = _GET_ACCOUNT.fetch_one(connection, {"the_id": operation_id})
    conflicting = record_created(
        connection, account.network, account.native_id, operation_id, receipt.step_index, created, at
    )
    foreign = None if conflicting is None else make_ambiguous_receipt(receipt, conflicting)
    save_receipt(connection, operation_id, foreign or receipt, at, by)
    if foreign is None:
        record_statuses(connection, account.id, observed, at, operation_id)
    return foreign
