"""Launches and their cells. :mod:`.change_sets` stores their change sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import fields, frozen
from sqlalchemy import Connection, bindparam, insert, select, tuple_, update

from adsunify.actor import Actor
from adsunify.errors import NotFound
from adsunify.ledger import LedgerEntry
from adsunify.values.exact_json import Json

from .clock import Clock
from .ledger import record_entry
from .schema import launch_cells, launches
from .statement import Statement


@frozen
class LaunchRecord:
    """A launch. Times are in milliseconds since 1970.

    ``body`` is the request as JSON text. ``change_set_id`` is the latest change set.
    """

    id: str
    workspace_id: str
    user_id: str
    credential: str
    name: str
    body: str
    change_set_id: str | None
    created_at: int
    updated_at: int


@frozen
class CellRecord:
    """One account of a launch.

    Attributes:
        brief: the merged brief as JSON text; None if it is refused.
        left_out: the paths of the shared brief that the network does not accept.
        issues: why the last attempt to plan it failed, as responses show issues.
        operation_id: the latest operation that creates its entities.
    """

    n: int
    key: str
    account_id: str
    network: str
    brief: str | None
    left_out: Sequence[str]
    issues: Sequence[Mapping[str, Json]]
    operation_id: str | None = None


_INSERT = Statement(insert(launches))
_INSERT_CELL = Statement(insert(launch_cells))
_GET = Statement(select(launches).where(launches.c.id == bindparam("the_id")))
_LOCK = Statement(select(launches.c.change_set_id).where(launches.c.id == bindparam("the_id")).with_for_update())
_PAGE = Statement(
    select(launches)
    .where(
        launches.c.workspace_id == bindparam("of_workspace"),
        tuple_(launches.c.created_at, launches.c.id) < tuple_(bindparam("before_time"), bindparam("before_id")),
    )
    .order_by(launches.c.created_at.desc(), launches.c.id.desc())
    .limit(bindparam("at_most"))
)
_CELL_COLUMNS = [launch_cells.c[field.name] for field in fields(CellRecord)]
_LIST_CELLS = Statement(
    select(*_CELL_COLUMNS).where(launch_cells.c.launch_id == bindparam("of_launch")).order_by(launch_cells.c.n)
)
_LIST_PLACES = Statement(
    select(launch_cells.c.account_id, launch_cells.c.network)
    .where(launch_cells.c.launch_id == bindparam("of_launch"))
    .distinct()
)
_SET_CHANGE_SET = Statement(
    update(launches)
    .where(launches.c.id == bindparam("the_id"))
    .values(change_set_id=bindparam("new_change_set_id"), updated_at=bindparam("now"))
)
_SET_OPERATION = Statement(
    update(launch_cells)
    .where(launch_cells.c.launch_id == bindparam("of_launch"), launch_cells.c.key == bindparam("of_key"))
    .values(operation_id=bindparam("new_operation_id"), issues=bindparam("no_issues", type_=launch_cells.c.issues.type))
)
_SET_ISSUES = Statement(
    update(launch_cells)
    .where(launch_cells.c.launch_id == bindparam("of_launch"), launch_cells.c.key == bindparam("of_key"))
    .values(issues=bindparam("new_issues", type_=launch_cells.c.issues.type))
)

Place = tuple[int, str]
"""The place of a launch in lists: its ``created_at`` and its id."""
FIRST_PLACE: Place = (2**62, "")


def create_launch(
    connection: Connection, actor: Actor, launch: LaunchRecord, cells: Sequence[CellRecord], clock: Clock
) -> None:
    """Store a launch with its cells."""
    _INSERT.execute_each(connection, [{field.name: getattr(launch, field.name) for field in fields(LaunchRecord)}])
    rows = [
        {"launch_id": launch.id, **{field.name: getattr(cell, field.name) for field in fields(CellRecord)}}
        for cell in cells
    ]
    _INSERT_CELL.execute_each(connection, rows)
    after = {"name": launch.name, "cells": len(cells)}
    record_entry(connection, LedgerEntry(launch.workspace_id, actor, "launch", launch.id, after=after), clock)


def lock_launch(connection: Connection, launch_id: str) -> str | None:
    """Lock a launch until the transaction ends, and return the id of its latest change set."""
    latest: str | None = _LOCK.fetch_one(connection, {"the_id": launch_id}).change_set_id
    return latest


def set_change_set(connection: Connection, launch_id: str, change_set_id: str, now: int) -> None:
    """Store the latest change set of a launch."""
    _SET_CHANGE_SET.execute_each(connection, [{"the_id": launch_id, "new_change_set_id": change_set_id, "now": now}])


def set_cell_operations(connection: Connection, launch_id: str, operation_ids: Mapping[str, str]) -> None:
    """Store the operations that create cells, by cell key."""
    rows = [
        {"of_launch": launch_id, "of_key": key, "new_operation_id": id_, "no_issues": []}
        for key, id_ in operation_ids.items()
    ]
    _SET_OPERATION.execute_each(connection, rows)


def set_cell_issues(connection: Connection, launch_id: str, issues: Mapping[str, Sequence[Json]]) -> None:
    """Store why cells could not be planned, by cell key."""
    rows = [{"of_launch": launch_id, "of_key": key, "new_issues": list(each)} for key, each in issues.items()]
    _SET_ISSUES.execute_each(connection, rows)


def get_launch(connection: Connection, actor: Actor, launch_id: str) -> LaunchRecord:
    """Return a launch that the actor may see, if the actor reaches all of its accounts. Raises NotFound."""
    row = _GET.fetch_one_or_none(connection, {"the_id": launch_id})
    if row is None or not _is_visible(connection, actor, row):
        raise NotFound("The launch does not exist, or you may not see it.")
    return LaunchRecord(**row._asdict())


def _is_visible(connection: Connection, actor: Actor, row: Any) -> bool:
    if not actor.can_see(row.workspace_id, row.user_id, row.credential):
        return False
    if actor.scope is None:
        return True
    places = _LIST_PLACES.fetch_all(connection, {"of_launch": row.id})
    return all(actor.can_reach(place.account_id, place.network) for place in places)


def list_launches(
    connection: Connection, actor: Actor, after: Place, limit: int
) -> tuple[list[LaunchRecord], Place | None]:
    """Return launches that the actor may see, newest first, and the place of the next page.

    A page may be short although older launches follow.
    """
    values = {
        "of_workspace": actor.workspace_id,
        "before_time": after[0],
        "before_id": after[1],
        "at_most": limit,
    }
    rows = _PAGE.fetch_all(connection, values)
    following = (rows[-1].created_at, rows[-1].id) if len(rows) == limit else None
    return [LaunchRecord(**row._asdict()) for row in rows if _is_visible(connection, actor, row)], following


def list_cells(connection: Connection, launch_id: str) -> list[CellRecord]:
    """Return the cells of a launch in the order of the request."""
    return [CellRecord(**row._asdict()) for row in _LIST_CELLS.fetch_all(connection, {"of_launch": launch_id})]
