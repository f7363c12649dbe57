"""The last status seen of campaigns, ad groups and ads, and the events that tell of a change."""

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
"""docs/spec.md, "Limits". A longer id could exceed an index, and a status is stored with a receipt, which must land."""


_ACCOUNT = Statement(select(accounts.c.workspace_id, accounts.c.network).where(accounts.c.id == bindparam("the_id")))
_FIND_STATUSES = select(entities.c.kind, entities.c.native_id, entities.c.status).where(
    entities.c.account_id == bindparam("of_account"),
    entities.c.kind.in_(bindparam("of_kinds", expanding=True)),  # else all of the account's would be walked through
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
    """Keep the statuses seen and record an event for each that is not the last one known; how many those were.

    What is seen for the first time changes nothing. Two who see the same change tell of it once.
    """
    account = _ACCOUNT.fetch_one(connection, {"the_id": account_id})
    event_rows: list[dict[str, Any]] = []
    newest = {
        (observation.kind, observation.id): observation.status
        for observation in observed
        if len(observation.id) <= MAX_ID_LENGTH
    }
    keys = sorted(newest)  # one order for all, or two could wait on each other
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
