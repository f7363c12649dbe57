"""Stores the verdicts of inspections and settlements. Rows are only added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, and_, bindparam, insert, select

from adsunify.outcomes.verdicts import Evidence, ItemVerdict, StepVerdict

from .clock import Clock, new_id
from .schema import accounts, operations, steps, verdicts
from .statement import Statement

OPEN_STATES = ("in_flight", "ambiguous")
"""The states of an attempt whose outcome no receipt says."""
_INSERT = Statement(insert(verdicts))
_OF_OPERATION = Statement(
    select(verdicts).where(verdicts.c.operation_id == bindparam("of_operation")).order_by(verdicts.c.id)
)

_OF_ACCOUNT = Statement(
    select(verdicts, steps.c.state)
    .join(operations, operations.c.id == verdicts.c.operation_id)
    .join(accounts, accounts.c.id == operations.c.account_id)
    .join(
        steps,
        and_(
            steps.c.operation_id == verdicts.c.operation_id,
            steps.c.key == verdicts.c.key,
            steps.c.attempt == verdicts.c.attempt,
        ),
    )
    .where(accounts.c.network == bindparam("network"), accounts.c.native_id == bindparam("native_account"))
    .order_by(verdicts.c.id)
)


def save_verdicts(connection: Connection, operation_id: str, given: Sequence[StepVerdict], clock: Clock) -> None:
    """Add verdicts of an operation, all with the present time."""
    at = clock.now()
    rows = [
        {
            "id": new_id(at),
            "operation_id": operation_id,
            "key": verdict.step_key,
            "attempt": verdict.attempt,
            "verdict": verdict.verdict,
            "outputs": {name: id_ if isinstance(id_, str) else list(id_) for name, id_ in verdict.outputs.items()},
            "items": [item.to_json() for item in verdict.items],
            "evidence": [read.to_json() for read in verdict.evidence],
            "reason": verdict.reason,
            "settled_by": verdict.settled_by,
            "at": at,
        }
        for verdict in given
    ]
    _INSERT.execute_each(connection, rows)


def list_verdicts(connection: Connection, operation_id: str) -> list[StepVerdict]:
    """Return the valid verdict of each step and attempt: the last settlement, or the last inspection if there is none.

    A verdict is void if its attempt has a receipt that is not ambiguous; the caller compares them.
    """
    rows = _OF_OPERATION.fetch_all(connection, {"of_operation": operation_id})
    return [_verdict_from_row(row) for row in _select_valid_rows(rows)]


def list_claims(connection: Connection, network: str, native_account: str, operation_id: str, key: str) -> list[str]:
    """Return the ids that valid verdicts of all workspaces name as created in the account.

    The verdicts of this operation's own step are left out.
    """
    rows = _OF_ACCOUNT.fetch_all(connection, {"network": network, "native_account": native_account})
    claims: list[str] = []
    for row in _select_valid_rows(rows):
        if row.state in OPEN_STATES and (row.operation_id, row.key) != (operation_id, key):
            verdict = _verdict_from_row(row)
            if verdict.verdict == "applied":
                claims += [id_ for ids in verdict.outputs.values() for id_ in ([ids] if isinstance(ids, str) else ids)]
            claims += [item.id for item in verdict.items if item.id is not None]
    return claims


def _select_valid_rows(rows: Iterable[Any]) -> list[Any]:
    """Return the row of the valid verdict of each operation, step and attempt; ``rows`` has the oldest first."""
    valid: dict[tuple[str, str, int], Any] = {}
    for row in rows:
        subject = (row.operation_id, row.key, row.attempt)
        earlier = valid.get(subject)
        if earlier is None or earlier.settled_by is None or row.settled_by is not None:
            valid[subject] = row
    return list(valid.values())


def _verdict_from_row(row: Any) -> StepVerdict:
    return StepVerdict(
        step_key=row.key,
        attempt=row.attempt,
        verdict=row.verdict,
        reason=row.reason,
        outputs=row.outputs,
        items=tuple(ItemVerdict.from_json(item) for item in row.items),
        evidence=tuple(Evidence.from_json(read) for read in row.evidence),
        settled_by=row.settled_by,
    )
