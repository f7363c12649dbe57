"""Attempts at the steps of an operation: the intent before each native write, and the receipt after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen
from sqlalchemy import Connection, ScalarSelect, and_, bindparam, exists, not_, select, update

from adsunify.errors import NativeErrorDetails
from adsunify.execution.state import Intent, Receipt, StepState
from adsunify.ledger import Author, LedgerEntry, hash_json
from adsunify.values.exact_json import Json

from . import upsert
from .ledger import record_entries
from .schema import operations, steps
from .statement import Statement


@frozen
class StepAttempt:
    """One attempt at a step. Times are in milliseconds since 1970.

    Attributes:
        items: the positions in the planned array that the attempt sends; None if the step has no items.
        receipt: the receipt, without ``response`` in lists; None while the intent is open.
        late: whether the receipt arrived after the claim was lost.
        executed_by: the record of the actor that executed the attempt; None for attempts from before migration 0007.
    """

    operation_id: str
    n: int
    attempt: int
    key: str
    fence: int
    state: StepState
    items: tuple[int, ...] | None
    intent_at: int
    receipt_at: int | None
    receipt: Receipt | None
    late: bool
    executed_by: Mapping[str, Json] | None

    @property
    def may_be_applied(self) -> bool:
        """Whether a write of the attempt was applied, or may have been. One applied item is enough."""
        return self.receipt is None or not {"applied", "ambiguous"}.isdisjoint(self._states)

    @property
    def is_applied(self) -> bool:
        """Whether a write of the attempt was applied, according to its receipt. One applied item is enough."""
        return "applied" in self._states

    @property
    def _states(self) -> list[StepState]:
        return [] if self.receipt is None else [self.receipt.state, *(item.state for item in self.receipt.items)]


_INSERT = upsert.insert_or_ignore(steps, ("operation_id", "n", "attempt"))
_OPEN: Json = {"state": "in_flight"}
"""The state of an attempt in the ledger before its receipt."""
_IS_HELD = exists().where(
    operations.c.id == steps.c.operation_id,
    operations.c.fence == steps.c.fence,
    operations.c.status == "running",
    operations.c.lease_until > bindparam("now"),
)


def _select_of_operation(name: str) -> ScalarSelect[Any]:
    """Return a column of the operation of a step."""
    return select(operations.c[name]).where(operations.c.id == steps.c.operation_id).scalar_subquery()


_SAVE_RECEIPT = Statement(
    update(steps)
    .where(
        steps.c.operation_id == bindparam("of_operation"),
        steps.c.n == bindparam("of_n"),
        steps.c.attempt == bindparam("of_attempt"),
        steps.c.receipt_at.is_(None),
    )
    .values(
        state=bindparam("new_state"),
        receipt=bindparam("new_receipt"),
        response=bindparam("new_response"),
        receipt_at=bindparam("now"),
        late=not_(_IS_HELD),
    )
    .returning(
        steps.c.late, *(_select_of_operation(name).label(name) for name in ("workspace_id", "account_id", "network"))
    )
)
_FIND = Statement(
    select(steps.c.fence, steps.c.receipt_at).where(
        and_(
            steps.c.operation_id == bindparam("of_operation"),
            steps.c.n == bindparam("of_n"),
            steps.c.attempt == bindparam("of_attempt"),
        )
    )
)
_OF_OPERATION = Statement(
    select(*(column for column in steps.c if column.name != "request"))
    .where(steps.c.operation_id == bindparam("of_operation"))
    .order_by(steps.c.n, steps.c.attempt)
)
_OF_OPERATIONS = (
    select(*(column for column in steps.c if column.name not in ("request", "response")))
    .where(steps.c.operation_id.in_(bindparam("of_operations", expanding=True)))
    .order_by(steps.c.operation_id, steps.c.n, steps.c.attempt)
)


def save_intent(
    connection: Connection, operation_id: str, fence: int, intent: Intent, at: int, executed_by: Mapping[str, Json]
) -> bool:
    """Store an intent.

    Returns False if another claim stored it or it has a receipt; then the caller must not send the write. The same
    claim may store an intent without a receipt again, because it may not know whether its first commit succeeded.
    """
    row = {
        "operation_id": operation_id,
        "n": intent.step_index,
        "attempt": intent.attempt,
        "key": intent.key,
        "fence": fence,
        "state": "in_flight",
        "items": None if intent.items is None else list(intent.items),
        "request": intent.request,
        "intent_at": at,
        "late": False,
        "executed_by": executed_by,
    }
    if _INSERT.fetch_all(connection, row):
        return True
    key = {"of_operation": operation_id, "of_n": intent.step_index, "of_attempt": intent.attempt}
    saved = _FIND.fetch_one(connection, key)
    return bool(saved.fence == fence and saved.receipt_at is None)


def withdraw_intent(connection: Connection, operation_id: str, fence: int, intent: Intent, at: int, by: Author) -> None:
    """Close an intent that this claim stored. Its write was certainly not sent, because the commit seemed to fail."""
    key = {"of_operation": operation_id, "of_n": intent.step_index, "of_attempt": intent.attempt}
    saved = _FIND.fetch_one_or_none(connection, key)
    if saved is not None and saved.fence == fence and saved.receipt_at is None:
        error = NativeErrorDetails(message="The execution stopped before the request was sent.")
        save_receipt(
            connection,
            operation_id,
            Receipt(intent.step_index, intent.key, intent.attempt, "throttled", error=error),
            at,
            by,
        )


def save_receipt(connection: Connection, operation_id: str, receipt: Receipt, at: int, by: Author) -> None:
    """Store the receipt of an attempt, whatever the state of the operation. A second receipt is ignored.

    The ledger records the digest of the receipt with its response.

    Raises:
        LookupError: the attempt has no intent.
    """
    key = {"of_operation": operation_id, "of_n": receipt.step_index, "of_attempt": receipt.attempt}
    receipt_json = receipt.to_json()
    digest = hash_json(receipt_json)
    response = receipt_json.pop("response")
    row = key | {"new_state": receipt.state, "new_receipt": receipt_json, "new_response": response, "now": at}
    saved = _SAVE_RECEIPT.fetch_one_or_none(connection, row)
    if saved is not None:
        where = (saved.account_id, saved.network)
        after = {
            "step": receipt.key,
            "attempt": receipt.attempt,
            "state": receipt.state,
            "late": bool(saved.late),
            "digest": digest,
        }
        entry = LedgerEntry(saved.workspace_id, by, "receipt", operation_id, *where, before=_OPEN, after=after)
        record_entries(connection, [entry], at)
    elif not _FIND.fetch_all(connection, key):
        raise LookupError(f"operation {operation_id} has no attempt {receipt.attempt} at step {receipt.step_index}")


def list_attempts(connection: Connection, operation_id: str) -> list[StepAttempt]:
    """Return all attempts of an operation, in the order of steps and attempts."""
    rows = _OF_OPERATION.fetch_all(connection, {"of_operation": operation_id})
    return [_attempt_from_row(row, row.response) for row in rows]


def list_attempts_by_operation(connection: Connection, operation_ids: Sequence[str]) -> dict[str, list[StepAttempt]]:
    """Return the attempts of several operations by operation id, without responses."""
    attempts_by_operation: dict[str, list[StepAttempt]] = {id_: [] for id_ in operation_ids}
    if operation_ids:
        for row in connection.execute(_OF_OPERATIONS, {"of_operations": list(operation_ids)}).all():
            attempts_by_operation[row.operation_id].append(_attempt_from_row(row, None))
    return attempts_by_operation


def list_receipts(connection: Connection, operation_id: str) -> tuple[list[Receipt], list[str]]:
    """Return the receipts of an operation, and the keys of the steps whose intent has no receipt.

    Both are in the order of steps and attempts.
    """
    attempts = list_attempts(connection, operation_id)
    return (
        [attempt.receipt for attempt in attempts if attempt.receipt is not None],
        [attempt.key for attempt in attempts if attempt.receipt is None],
    )


def _attempt_from_row(row: Any, response: Json) -> StepAttempt:
    receipt = None if row.receipt is None else Receipt.from_json({**row.receipt, "response": response})
    return StepAttempt(
        operation_id=row.operation_id,
        n=row.n,
        attempt=row.attempt,
        key=row.key,
        fence=row.fence,
        state=row.state,
        items=None if row.items is None else tuple(row.items),
        intent_at=row.intent_at,
        receipt_at=row.receipt_at,
        receipt=receipt,
        late=row.late,
        executed_by=row.executed_by,
    )
