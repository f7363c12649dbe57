"""Stores the verdicts of inspections and settlements. Rows are only added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen
from sqlalchemy import Connection, bindparam, insert, or_, select

from adsunify.ledger import hash_json
from adsunify.outcomes.verdicts import Evidence, ItemVerdict, StepVerdict
from adsunify.values.exact_json import Json, loads

from .clock import Clock, new_id
from .schema import accounts, operations, steps, verdicts
from .statement import Statement

OPEN_STATES = ("in_flight", "ambiguous")
"""The states of an attempt whose outcome is not in a receipt."""
_INSERT = Statement(insert(verdicts))
_OF_OPERATION = Statement(
    select(verdicts).where(verdicts.c.operation_id == bindparam("of_operation")).order_by(verdicts.c.id)
)

_LIST_ACCOUNTS = Statement(
    select(accounts.c.workspace_id, accounts.c.id).where(
        accounts.c.network == bindparam("network"), accounts.c.native_id == bindparam("native_account")
    )
)
_OPEN_OF_ACCOUNT = Statement(
    select(steps.c.operation_id, steps.c.key, steps.c.attempt, steps.c.request, operations.c.plan)
    .join(operations, operations.c.id == steps.c.operation_id)
    .where(
        operations.c.workspace_id == bindparam("of_workspace"),
        operations.c.account_id == bindparam("of_account"),
        operations.c.id != bindparam("the_id"),
        or_(*(steps.c.state == state for state in OPEN_STATES)),
    )
)


@frozen
class OpenAttempt:
    """An attempt at a step without a receipt that says whether it was applied.

    Attributes:
        request: the request of the attempt, as JSON.
        step: the stored form of the step.
        verdict: its valid verdict; None if there is none.
    """

    request: Json
    step: Json
    verdict: StepVerdict | None


def save_verdicts(connection: Connection, operation_id: str, new_verdicts: Sequence[StepVerdict], clock: Clock) -> None:
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
        for verdict in new_verdicts
    ]
    _INSERT.execute_each(connection, rows)


def list_verdicts(connection: Connection, operation_id: str) -> list[StepVerdict]:
    """Return the valid verdict of each step and attempt: the last settlement, or the last inspection if there is none.

    A verdict is void if its attempt has an unambiguous receipt; the caller checks this.
    """
    rows = _OF_OPERATION.fetch_all(connection, {"of_operation": operation_id})
    return [_verdict_from_row(row) for row in _select_valid_rows(rows)]


def hash_verdicts(verdicts_by_operation: Mapping[str, Iterable[StepVerdict]]) -> str:
    """Return a digest of verdicts by operation. It does not depend on the reasons and the evidence."""
    return hash_json(
        [
            [
                id_,
                verdict.step_key,
                verdict.attempt,
                verdict.verdict,
                dict(verdict.outputs),
                [item.to_json() for item in verdict.items],
            ]
            for id_, verdicts in verdicts_by_operation.items()
            for verdict in sorted(verdicts, key=lambda verdict: (verdict.step_key, verdict.attempt))
        ]
    )


def list_open_attempts(
    connection: Connection, network: str, native_account: str, operation_id: str
) -> list[OpenAttempt]:
    """Return the attempts in doubt or in flight in the account, of all workspaces and all other operations."""
    rows = [
        row
        for account in _LIST_ACCOUNTS.fetch_all(connection, {"network": network, "native_account": native_account})
        for row in _OPEN_OF_ACCOUNT.fetch_all(
            connection, {"of_workspace": account.workspace_id, "of_account": account.id, "the_id": operation_id}
        )
    ]
    latest_verdicts = {
        (id_, verdict.step_key, verdict.attempt): verdict
        for id_ in dict.fromkeys(row.operation_id for row in rows)
        for verdict in list_verdicts(connection, id_)
    }
    return [
        OpenAttempt(
            row.request,
            next(step for step in loads(row.plan)["steps"] if step["key"] == row.key),
            latest_verdicts.get((row.operation_id, row.key, row.attempt)),
        )
        for row in rows
    ]


def _select_valid_rows(rows: Iterable[Any]) -> list[Any]:
    """Return the row of the valid verdict of each operation, step and attempt; ``rows``: verdicts, oldest first."""
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
