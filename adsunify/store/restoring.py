"""Marks the rows of a restored database that may have changed between the backup and the restore.

An operation that is prepared in the backup may have been executed after the backup, and an operation that can be
resumed may have been resumed. Executing either operation again could write twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from attrs import frozen
from sqlalchemy import Connection, delete, or_, select, update

from adsunify.execution.state import apply_trigger
from adsunify.launches.states import OPEN_STATUSES, apply_change_set_trigger
from adsunify.ledger import Author, LedgerEntry

from .clock import MAX_AHEAD_MILLISECONDS, Clock
from .events import make_event_row, record_events
from .ledger import record_entries
from .migrate import raise_oldest_version
from .schema import change_sets, events, operations, sessions

UNKNOWN_STATUS, UNKNOWN_EVENT = apply_trigger("prepared", "restore")
RESTORED_CODE = "database_restored"
RESTORED_MESSAGE = (
    "The database was restored from a backup. It is not known whether the operation was executed between the backup "
    "and the restore."
)
HEEDED_SINCE = "0022"
"""The migration of the first version that does not resume operations that were restored from a backup."""
PAGE_SIZE = 500
_GET_WORKSPACE = attrgetter("workspace_id")


@frozen
class RestoredCounts:
    """The numbers of marked rows.

    Attributes:
        unknown: the operations that could still be executed; their status is ``unknown`` now.
        unresumable: the operations that cannot be resumed any more, including the unknown ones.
        change_sets: the open change sets that were cancelled.
        sessions: the sessions that were ended.
    """

    unknown: int
    unresumable: int
    change_sets: int
    sessions: int


def mark_restored(connection: Connection, by: Author, clock: Clock) -> RestoredCounts:
    """Mark everything that may have changed after the backup. No server may run. A second call changes nothing.

    Operations that had not expired by the last event of the backup become ``unknown``. All that have not succeeded
    cannot be resumed. Open change sets are cancelled. Sessions end, because some of them may have ended already.
    """
    raise_oldest_version(connection, HEEDED_SINCE)
    now = clock.now()
    newest = connection.execute(select(events.c.created_at).order_by(events.c.id.desc()).limit(1)).scalar()
    backup = min(newest or 0, now) - MAX_AHEAD_MILLISECONDS  # the clocks of servers may differ
    could_run = operations.c.status == "prepared", operations.c.expires_at > backup
    executable = connection.execute(
        update(operations)
        .where(or_(operations.c.status == "running", could_run[0] & could_run[1]), operations.c.restored_at.is_(None))
        .values(
            status=UNKNOWN_STATUS,
            in_flight=False,
            lease_until=None,
            next_action=False,
            not_before=None,
            error={"code": RESTORED_CODE, "message": RESTORED_MESSAGE},
            updated_at=now,
        )
        .returning(operations.c.id, operations.c.workspace_id, operations.c.account_id, operations.c.network)
    ).all()
    for workspace_id, rows in groupby(sorted(executable, key=_GET_WORKSPACE), key=_GET_WORKSPACE):
        _record_unknown(connection, workspace_id, list(rows), by, now)
    unresumable = connection.execute(
        update(operations)
        .where(operations.c.status != "succeeded", operations.c.restored_at.is_(None))
        .values(restored_at=now)
    ).rowcount
    cancelled = 0
    for status in OPEN_STATUSES:
        cancelled += connection.execute(
            update(change_sets)
            .where(change_sets.c.status == status)
            .values(
                status=apply_change_set_trigger(status, "cancel"),
                fence=change_sets.c.fence + 1,
                lease_until=None,
                updated_at=now,
            )
        ).rowcount
    return RestoredCounts(len(executable), unresumable, cancelled, connection.execute(delete(sessions)).rowcount)


def _record_unknown(connection: Connection, workspace_id: str, rows: Sequence[Any], by: Author, now: int) -> None:
    """Record operations of one workspace that became unknown: with an event, and in the ledger."""
    assert UNKNOWN_EVENT is not None
    after = {"status": UNKNOWN_STATUS}
    for start in range(0, len(rows), PAGE_SIZE):
        page = rows[start : start + PAGE_SIZE]
        event_rows = [
            make_event_row(
                UNKNOWN_EVENT,
                workspace_id,
                now,
                status=UNKNOWN_STATUS,
                operation_id=row.id,
                account_id=row.account_id,
                network=row.network,
            )
            for row in page
        ]
        record_events(connection, event_rows)
        entries = [
            LedgerEntry(workspace_id, by, "restore", row.id, row.account_id, row.network, after=after) for row in page
        ]
        record_entries(connection, entries, now)
