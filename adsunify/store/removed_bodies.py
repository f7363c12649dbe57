"""Removes the bodies of plans, requests and responses of operations that ended long ago.

The operations, their receipts, digests and states stay. A removed plan is replaced by its :class:`PlanRemains`.
An operation keeps its plan as long as the plan may still be needed: another operation can resume it, it is part of a
chain or of a change set, its outcome is not known, or it came back from a backup.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen
from sqlalchemy import ColumnElement, Connection, and_, exists, not_, or_, update

from adsunify.plans.records import Plan
from adsunify.values.exact_json import Json, dumps, loads

from .migrate import raise_oldest_version
from .schema import change_set_members, decompress_text, operations, steps
from .verdicts import OPEN_STATES

REMOVED_SINCE = "0022"
"""The migration of the first version that can read an operation without its plan."""
_HAS_ATTEMPTS = exists().where(steps.c.operation_id == operations.c.id)
_IS_IN_DOUBT = exists().where(
    steps.c.operation_id == operations.c.id, or_(steps.c.receipt_at.is_(None), steps.c.state.in_(OPEN_STATES))
)
_HAS_RESPONSES = exists().where(steps.c.operation_id == operations.c.id, steps.c.response.is_not(None))
_IS_IN_CHAIN = or_(
    operations.c.chain_id.is_not(None), operations.c.resumes.is_not(None), operations.c.resumed_by.is_not(None)
)
_IS_IN_CHANGE_SET = or_(
    operations.c.launch_id.is_not(None), exists().where(change_set_members.c.operation_id == operations.c.id)
)


@frozen
class PlanRemains:
    """The rest of a removed plan: its outline, and the created entities as responses show them.

    The created entities are stored because only the removed bodies say of which kinds they are.
    """

    outline: Plan
    created: Sequence[Json]

    def to_text(self) -> str:
        """Return the stored text."""
        return dumps({"outline": self.outline.as_json, "created": self.created})

    @classmethod
    def from_packed(cls, packed: bytes) -> PlanRemains:
        """Read a stored text, which is compressed."""
        value = loads(decompress_text(packed))
        return cls(Plan.from_json(value["outline"]), value["created"])


def _has_ended(before: int) -> ColumnElement[bool]:
    """Make the condition that an operation ended by ``before`` (milliseconds), and no write of it is in doubt."""
    is_expired = and_(operations.c.status == "prepared", operations.c.expires_at <= before)
    return and_(
        operations.c.updated_at <= before,
        or_(operations.c.status.in_(("succeeded", "cancelled")), is_expired),
        operations.c.in_flight.is_(False),
        operations.c.restored_at.is_(None),
        not_(_IS_IN_DOUBT),
    )


def is_plan_removable(before: int) -> ColumnElement[bool]:
    """Make the condition that the plan of an operation can be removed. ``before``: milliseconds since 1970.

    An incomplete operation can be resumed, so it keeps its plan unless none of its writes was ever sent.
    """
    return and_(
        operations.c.plan_removed_at.is_(None),
        _has_ended(before),
        or_(operations.c.status == "succeeded", not_(_HAS_ATTEMPTS)),
        not_(_IS_IN_CHAIN),
        not_(_IS_IN_CHANGE_SET),
    )


def are_responses_removable(before: int) -> ColumnElement[bool]:
    """Make the condition that the responses of an operation can be removed. ``before``: milliseconds since 1970."""
    return and_(_has_ended(before), _HAS_RESPONSES)


def remove_plan(connection: Connection, operation_id: str, remains: PlanRemains, before: int, now: int) -> bool:
    """Replace the plan of an operation by its remains, and remove the requests of its attempts.

    Returns:
        False if the plan is not removable any more; then nothing changes.
    """
    raise_oldest_version(connection, REMOVED_SINCE)
    replaced = connection.execute(
        update(operations)
        .where(operations.c.id == operation_id, is_plan_removable(before))
        .values(plan=remains.to_text(), plan_removed_at=now)
        .returning(operations.c.id)
    ).all()
    if replaced:
        connection.execute(update(steps).where(steps.c.operation_id == operation_id).values(request={}))
    return bool(replaced)


def remove_responses(connection: Connection, operation_ids: Sequence[str], now: int) -> None:
    """Remove the responses of operations for which :func:`are_responses_removable` holds in this transaction."""
    connection.execute(update(operations).where(operations.c.id.in_(operation_ids)).values(responses_removed_at=now))
    connection.execute(update(steps).where(steps.c.operation_id.in_(operation_ids)).values(response=None))
