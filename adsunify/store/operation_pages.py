"""Pages of operations, newest first, with filters.

Each page looks at no more than :data:`MAX_EXAMINED` entries of one index, whatever the filters are and however many
operations there are. So a page may be short although older operations match.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import frozen
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Text,
    TextClause,
    and_,
    bindparam,
    case,
    or_,
    select,
    text,
    tuple_,
)

from adsunify.actor import Actor
from adsunify.execution.state import OperationStatus

from .clock import Clock
from .operations import LISTED_COLUMNS, RECOVERED_STATUS, OperationRecord, make_listed_record
from .schema import operations
from .scopes import ACTOR_SCOPE, dump_scope, is_in_scope
from .statement import Statement

MAX_EXAMINED = 1000
"""The maximum number of index entries that one page looks at."""
MAX_TIME = 2**62
"""A time in milliseconds after all others."""

Place = tuple[int, str]
"""The place of an operation in lists: its ``created_at`` and its id."""


@frozen
class OperationFilter:
    """Selects the operations of a list. None selects all.

    Attributes:
        status: the status that callers see, as in :class:`OperationRecord`.
        account_id: the id of the ad account.
        network: the code of the network.
        action: the action of the plan.
        created_by: the id of the user, or the credential, that prepared it.
        since: prepared at this time or later, in milliseconds since 1970.
        until: prepared before this time, in milliseconds since 1970.
    """

    status: OperationStatus | None = None
    account_id: str | None = None
    network: str | None = None
    action: str | None = None
    created_by: str | None = None
    since: int = 0
    until: int = MAX_TIME


# -- statements ---------------------------------------------------------------------------------------------------

_PLACE = tuple_(operations.c.created_at, operations.c.id)


def is_given(name: str) -> ColumnElement[bool]:
    """Return the condition that a parameter is not None."""
    return bindparam(name, type_=Text).is_not(None)


def equals_if_given(value: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """Return the condition that a value equals a parameter. It is true if the parameter is None."""
    return or_(~is_given(name), value == bindparam(name, type_=Text))


_SHOWN_STATUS = case(
    (
        and_(
            operations.c.status == "running",
            operations.c.lease_until <= bindparam("now"),
            operations.c.in_flight.is_(False),
        ),
        RECOVERED_STATUS,
    ),
    else_=operations.c.status,
)
"""The status that callers see."""
_IS_SELECTED = and_(
    is_in_scope(ACTOR_SCOPE, operations.c.account_id, operations.c.network),
    equals_if_given(operations.c.user_id, "of_user"),
    equals_if_given(operations.c.credential, "of_credential"),
    equals_if_given(operations.c.account_id, "of_account"),
    equals_if_given(operations.c.network, "of_network"),
    equals_if_given(operations.c.action, "of_action"),
    equals_if_given(_SHOWN_STATUS, "of_status"),
    or_(
        ~is_given("of_creator"),
        operations.c.user_id == bindparam("of_creator", type_=Text),
        operations.c.credential == bindparam("of_creator", type_=Text),
    ),
)

IndexName = Literal["unknown", "running", "credential", "account", "user", "workspace"]
_INDEX_CONDITIONS: Mapping[IndexName, tuple[ColumnElement[bool] | TextClause, ...]] = {
    "unknown": (text("status = 'unknown'"),),  # literals, because partial indexes do not match a parameter
    "running": (text("status = 'running'"),),
    "credential": (operations.c.credential == bindparam("of_credential"),),
    "account": (operations.c.account_id == bindparam("of_account"),),
    "user": (operations.c.user_id == bindparam("of_user"),),
    "workspace": (),
}
"""By index: the condition that makes the rows of a page the entries of this index, in its order."""


def _order_newest_first(selected: Select[Any], index: IndexName) -> Select[Any]:
    return selected.where(
        operations.c.workspace_id == bindparam("of_workspace"),
        *_INDEX_CONDITIONS[index],
        tuple_(bindparam("before_time"), bindparam("before_id")) > _PLACE,
    ).order_by(operations.c.created_at.desc(), operations.c.id.desc())


FIND_LAST_EXAMINED = {
    index: Statement(
        _order_newest_first(select(operations.c.created_at, operations.c.id), index)
        .where(operations.c.created_at >= bindparam("since"))
        .limit(1)
        .offset(bindparam("examined_before"))
    )
    for index in _INDEX_CONDITIONS
}
"""By index: finds the last entry that a page looks at."""
SELECT_PAGE = {
    index: Statement(
        _order_newest_first(select(*LISTED_COLUMNS), index)
        .where(tuple_(bindparam("last_time"), bindparam("last_id")) <= _PLACE, _IS_SELECTED)
        .limit(bindparam("at_most"))
    )
    for index in _INDEX_CONDITIONS
}
"""By index: selects the rows of a page."""


# -- reading ------------------------------------------------------------------------------------------------------


def list_operation_page(
    connection: Connection, actor: Actor, filter_: OperationFilter, after: Place | None, limit: int, clock: Clock
) -> tuple[list[OperationRecord], Place | None]:
    """Return operations that the actor may see, newest first, without their plans, and the place of the next page.

    Args:
        connection: a connection to the store.
        actor: the actor that requests the list.
        filter_: selects the operations.
        after: the place that an earlier page returned; None for the first page.
        limit: the maximum number of operations.
        clock: the clock of the store.
    """
    now, index = clock.now(), _choose_index(actor, filter_)
    before_time, before_id = min((filter_.until, ""), after or (MAX_TIME, ""))
    values = {
        "of_workspace": actor.workspace_id,
        "of_user": None if actor.kind == "agent" or actor.role == "admin" else actor.user_id,
        "of_credential": actor.credential if actor.kind == "agent" else None,
        "of_scope": dump_scope(actor),
        "of_account": filter_.account_id,
        "of_network": filter_.network,
        "of_action": filter_.action,
        "of_status": filter_.status,
        "of_creator": filter_.created_by,
        "since": filter_.since,
        "before_time": before_time,
        "before_id": before_id,
        "now": now,
        "at_most": limit + 1,
        "examined_before": MAX_EXAMINED - 1,
    }
    last = FIND_LAST_EXAMINED[index].fetch_one_or_none(connection, values)
    last_place = (filter_.since, "") if last is None else (last.created_at, last.id)
    rows = SELECT_PAGE[index].fetch_all(connection, {**values, "last_time": last_place[0], "last_id": last_place[1]})
    records = [make_listed_record(row, now) for row in rows[:limit]]
    if len(rows) > limit:
        return records, (records[-1].created_at, records[-1].id)
    return records, None if last is None else last_place


def _choose_index(actor: Actor, filter_: OperationFilter) -> IndexName:
    """Return the index that has the fewest entries outside the filter."""
    if filter_.status == "unknown" or filter_.status == "running":
        return filter_.status
    if actor.kind == "agent":
        return "credential"
    if filter_.account_id is not None:
        return "account"
    return "workspace" if actor.role == "admin" else "user"
