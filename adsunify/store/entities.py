"""The last known status of campaigns, ad groups and ads, and the events of their changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from adsunify.execution.state import ObservedStatus

from . import events, upsert
from .schema import accounts, entities
from .statement import Statement

STATUS_EVENTS = {"campaign": "campaign.status_changed", "adGroup": "ad_group.status_changed", "ad": "ad.status_changed"}
LOOKUP_BATCH_SIZE = 500
MAX_ID_LENGTH = 250
"""The maximum length of an id (docs/spec.md, "Limits").

Statuses of longer ids are ignored: they could exceed the limit of an index and so prevent the commit of a receipt.
"""


_ACCOUNT = Statement(select(accounts.c.workspace_id, accounts.c.network).where(accounts.c.id == bindparam("the_id")))
_FIND_STATUSES = select(entities.c.kind, entities.c.native_id, entities.c.status).where(
    entities.c.account_id == bindparam("of_account"),
    entities.c.kind.in_(bindparam("of_kinds", expanding=True)),  # without it the whole account would be scanned
    entities.c.native_id.in_(bindparam("of_ids", expanding=True)),
)
_INSERT_FIRST = upsert.insert_or_ignore(entities, ("account_id", "kind", "native_id"))
_UPDATE_STATUS = Statement(
    update(entities)
    .where(
        entities.c.account_id == bindparam("of_account"),
        entities.c.kind == bindparam("of_kind"),
        entities.c.native_id == bindparam("of_id"),
        entities.c.status == bindparam("before"),
    )
    .values(status=bindparam("new_status"), seen_at=bindparam("now"))
    .returning(entities.c.native_id)
)


def record_statuses(
    connection: Connection,
    account_id: str,
    observed: Iterable[ObservedStatus],
    at: int,
    operation_id: str | None = None,
) -> int:
    """Store observed statuses, and record an event for each one that differs from the last known status.

    A status that is observed for the first time has no event. If two callers observe the same change, one event is
    recorded.

    Returns:
        The number of events.
    """
    account = _ACCOUNT.fetch_one(connection, {"the_id": account_id})
    event_rows: list[dict[str, Any]] = []
    newest = {
        (observation.kind, observation.id): observation.status
        for observation in observed
        if len(observation.id) <= MAX_ID_LENGTH
    }
    keys = sorted(newest)  # all writers use one order, which prevents deadlocks
    for start in range(0, len(keys), LOOKUP_BATCH_SIZE):
        some = keys[start : start + LOOKUP_BATCH_SIZE]
        values = {
            "of_account": account_id,
            "of_kinds": sorted({kind for kind, _ in some}),
            "of_ids": [id_ for _, id_ in some],
        }
        rows = connection.execute(_FIND_STATUSES, values).all()
        known_statuses = {(row.kind, row.native_id): row.status for row in rows}
        first = [
            {"account_id": account_id, "kind": kind, "native_id": id_, "status": newest[kind, id_], "seen_at": at}
            for kind, id_ in some
            if (kind, id_) not in known_statuses
        ]
        if first:
            _INSERT_FIRST.execute_each(connection, first)
        for (kind, id_), before in sorted(known_statuses.items()):
            status = newest.get((kind, id_), before)
            change = {
                "of_account": account_id,
                "of_kind": kind,
                "of_id": id_,
                "before": before,
                "new_status": status,
                "now": at,
            }
            if status != before and _UPDATE_STATUS.fetch_all(connection, change):
                event_rows.append(
                    events.make_event_row(
                        STATUS_EVENTS[kind],
                        account.workspace_id,
                        at,
                        status=status,
                        operation_id=operation_id,
                        account_id=account_id,
                        network=account.network,
                        more={"kind": kind, "entityId": id_, "before": before},
                    )
                )
    events.record_events(connection, event_rows)
    return len(event_rows)
