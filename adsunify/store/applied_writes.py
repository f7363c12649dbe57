"""The receipts of an account's changes. They show the values that adsunify wrote last to an entity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen
from sqlalchemy import Connection, LargeBinary, bindparam, select, type_coerce

from adsunify.execution.state import Receipt
from adsunify.plans.records import Plan

from .removed_bodies import PlanRemains
from .schema import decompress_text, operations, steps
from .statement import Statement

MAX_WRITES = 5000
"""How many receipts are read, the newest first. Older writes count as not made by adsunify."""
_LIST_WRITES = Statement(
    select(
        operations.c.id,
        operations.c.plan_digest,
        operations.c.plan_removed_at,
        type_coerce(operations.c.plan, LargeBinary).label("packed"),
        steps.c.receipt,
    )
    .join(steps, steps.c.operation_id == operations.c.id)
    .where(
        operations.c.workspace_id == bindparam("of_workspace"),
        operations.c.account_id == bindparam("of_account"),
        steps.c.receipt_at.is_not(None),
        steps.c.state == "applied",
    )
    .order_by(steps.c.receipt_at.desc(), operations.c.id.desc(), steps.c.n.desc())
    .limit(MAX_WRITES)
)


@frozen
class AppliedWrite:
    """One step that a network applied: its operation, the plan, and the receipt without the response.

    ``is_outline``: whether ``plan`` is only the outline of a plan that was removed after its retention.
    """

    operation_id: str
    plan: Plan
    receipt: Receipt
    is_outline: bool


def list_applied_writes(connection: Connection, workspace_id: str, account_id: str) -> list[AppliedWrite]:
    """Return the newest applied steps of an account, oldest first."""
    rows = _LIST_WRITES.fetch_all(connection, {"of_workspace": workspace_id, "of_account": account_id})
    plans: dict[str, Plan] = {}
    return [_make_write(row, plans) for row in reversed(rows)]


def _make_write(row: Any, plans: dict[str, Plan]) -> AppliedWrite:
    is_outline = row.plan_removed_at is not None
    if row.id not in plans:
        plans[row.id] = (
            PlanRemains.from_packed(row.packed).outline
            if is_outline
            else Plan.from_bytes(decompress_text(row.packed).encode("ascii"), row.plan_digest)
        )
    receipt: Mapping[str, Any] = {**row.receipt, "response": None}
    return AppliedWrite(row.id, plans[row.id], Receipt.from_json(receipt), is_outline)
