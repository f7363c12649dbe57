"""Stores the verdicts of inspections and settlements. Rows are only added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select

from adsunify.outcomes.verdicts import Evidence, ItemVerdict, StepVerdict

from .clock import Clock, new_id
from .schema import verdicts
from .statement import Statement

_INSERT = Statement(insert(verdicts))
_OF_OPERATION = Statement(
    select(verdicts).where(verdicts.c.operation_id == bindparam("of_operation")).order_by(verdicts.c.id)
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
    valid: dict[tuple[str, int], StepVerdict] = {}
    for row in _OF_OPERATION.fetch_all(connection, {"of_operation": operation_id}):
        verdict = _verdict_from_row(row)
        earlier = valid.get((verdict.step_key, verdict.attempt))
        if earlier is None or earlier.settled_by is None or verdict.settled_by is not None:
            valid[verdict.step_key, verdict.attempt] = verdict
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
