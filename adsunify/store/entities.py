"""The last known status of campaigns, ad groups and ads, and the events of their changes."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, select, update

from adsunify.execution.state import ObservedStatus
from adsunify.plans.records import Kind

from . import events, upsert
from .lists import MATCH_LIST_BY_DIALECT
from .schema import accounts, entities
from .statement import Statement

STATUS_EVENTS = {"campaign": "campaign.status_changed", "adGroup": "ad_group.status_changed", "ad": "ad.status_changed"}
LOOKUP_BATCH_SIZE = 500
MAX_ID_LENGTH = 250
"""The maximum length of an id (docs/spec.md, "Limits").

Statuses of longer ids are ignored: they could exceed the limit of an index and so prevent the commit of a receipt.
"""


_ACCOUNT = Statement(select(accounts.c.workspace_id, accounts.c.network).where(accounts.c.id == bindparam("the_id")))
_FIND_STATUSES = Statement(
    lambda dialect: select(entities.c.kind, entities.c.native_id, entities.c.status).where(
        entities.c.account_id == bindparam("of_account"),
        MATCH_LIST_BY_DIALECT[dialect](entities.c.kind, "of_kinds"),  # avoids a scan of the account
        MATCH_LIST_BY_DIALECT[dialect](entities.c.native_id, "of_ids"),
    )
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
    .values(
        status=bindparam("new_status"),
        seen_at=bindparam("now"),
        activated_at=bindparam("new_activated_at", type_=entities.c.activated_at.type),
    )
    .returning(entities.c.native_id)
)
_LIST_ACTIVE = Statement(
    select(entities.c.native_id, entities.c.activated_at)
    .where(
        entities.c.account_id == bindparam("of_account"),
        entities.c.kind == bindparam("of_kind"),
        entities.c.status == "active",
    )
    .order_by(entities.c.native_id)
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
    recorded. ``activated_at`` of an entity is the time at which a receipt made it active; it is unknown for other
    activations.

    Args:
        connection: the connection.
        account_id: the account.
        observed: the statuses.
        at: the time in milliseconds since 1970.
        operation_id: the operation whose receipt shows the statuses; None for a read.

    Returns:
        The number of events.
    """
    changed: list[tuple[Kind, str, str]] = []
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
        rows = _FIND_STATUSES.fetch_all(connection, values)
        known_statuses = {(row.kind, row.native_id): row.status for row in rows}
        first = [
            {
                "account_id": account_id,
                "kind": kind,
                "native_id": id_,
                "status": newest[kind, id_],
                "seen_at": at,
                "activated_at": _get_activation_time(newest[kind, id_], at, operation_id),
            }
            for kind, id_ in some
            if (kind, id_) not in known_statuses
        ]
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
                "new_activated_at": _get_activation_time(status, at, operation_id),
            }
            if status != before and _UPDATE_STATUS.fetch_all(connection, change):
                changed.append((kind, id_, before))
    if changed:
        account = _ACCOUNT.fetch_one(connection, {"the_id": account_id})
        event_rows = [
            events.make_event_row(
                STATUS_EVENTS[kind],
                account.workspace_id,
                at,
                status=newest[kind, id_],
                operation_id=operation_id,
                account_id=account_id,
                network=account.network,
                more={"kind": kind, "entityId": id_, "before": before},
            )
            for kind, id_, before in changed
        ]
        events.record_events(connection, event_rows)
    return len(changed)


def _get_activation_time(status: str, at: int, operation_id: str | None) -> int | None:
    """Return the time of an activation by an operation; None for every other status and for reads."""
    return at if status == "active" and operation_id is not None else None


def list_activations(connection: Connection, account_id: str, kind: Kind) -> dict[str, int | None]:
    """Return the entities of a level whose last known status is active, with the time of their activation.

    The time is in milliseconds since 1970. It is None if no operation has activated the entity.
    """
    rows = _LIST_ACTIVE.fetch_all(connection, {"of_account": account_id, "of_kind": kind})
    return {row.native_id: row.activated_at for row in rows}
