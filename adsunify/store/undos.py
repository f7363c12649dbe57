"""Links an operation to the one that undoes it. An operation is undone once."""

from __future__ import annotations

from sqlalchemy import Connection, and_, bindparam, or_, select, update

from adsunify.errors import Conflict

from .clock import Clock
from .schema import operations
from .statement import Statement

_undo = operations.alias("undo")
_IS_VOID = or_(
    _undo.c.status == "cancelled",
    and_(_undo.c.status == "prepared", _undo.c.fence == 0, _undo.c.expires_at <= bindparam("now")),
)
"""The earlier undo was cancelled, or it expired before it wrote anything."""
_IS_FREE = or_(operations.c.undone_by.is_(None), operations.c.undone_by.in_(select(_undo.c.id).where(_IS_VOID)))
_LINK = Statement(
    update(operations)
    .where(operations.c.id == bindparam("the_id"), _IS_FREE)
    .values(undone_by=bindparam("by_id"))
    .returning(operations.c.id)
)
_FIND = Statement(
    select(operations.c.undone_by, _IS_FREE.label("is_free")).where(operations.c.id == bindparam("the_id"))
)


def require_not_undone(connection: Connection, operation_id: str, clock: Clock) -> None:
    """Raise Conflict ``already_undone`` if an undo of the operation was executed, or can still be executed."""
    _require_free(connection, operation_id, clock.now())


def link_undo(connection: Connection, operation_id: str, undo_id: str, now: int) -> None:
    """Record that an operation is undone by another one, which is prepared in the same transaction.

    Raises:
        Conflict: ``already_undone``; an earlier undo was executed, or can still be executed.
    """
    if not _LINK.fetch_all(connection, {"the_id": operation_id, "by_id": undo_id, "now": now}):
        _require_free(connection, operation_id, now)


def _require_free(connection: Connection, operation_id: str, now: int) -> None:
    (row,) = _FIND.fetch_all(connection, {"the_id": operation_id, "now": now})
    if not row.is_free:
        raise Conflict(
            f"The operation {row.undone_by} undoes this one already. Cancel it before you prepare another undo.",
            code="already_undone",
        )
