"""Pages of the ledger, with filters: the newest rows first, or all sealed rows in the order of their numbers."""

from __future__ import annotations

from typing import Any

from attrs import fields, frozen
from sqlalchemy import Connection, Select, and_, bindparam, or_, select, tuple_

from adsunify.actor import Actor

from .operation_pages import MAX_EXAMINED, MAX_TIME, Place, equals_if_given, is_given
from .schema import ledger
from .scopes import ACTOR_SCOPE, dump_scope, is_in_scope
from .statement import Statement

__all__ = ["MAX_TIME", "LedgerFilter", "LedgerRow", "list_newest_rows", "list_sealed_rows"]


@frozen
class LedgerRow:
    """A row of the ledger. ``seq`` and ``chain_hash`` are None until it is sealed.

    ``created_at`` is in milliseconds since 1970. ``before`` and ``after`` are the stored JSON texts.
    """

    id: str
    created_at: int
    user_id: str | None
    credential: str
    kind: str
    account_id: str | None
    network: str | None
    subject_type: str
    subject_id: str
    before: str | None
    after: str | None
    content_hash: str
    seq: int | None
    chain_hash: str | None


@frozen
class LedgerFilter:
    """Selects the rows of a list. None selects all.

    Attributes:
        account_id: the id of the ad account.
        network: the code of the network.
        actor: the id of the user who made the change, or the credential.
        kind: the kind of the change.
        since: recorded at this time or later, in milliseconds since 1970.
        until: recorded before this time, in milliseconds since 1970.
    """

    account_id: str | None = None
    network: str | None = None
    actor: str | None = None
    kind: str | None = None
    since: int = 0
    until: int = MAX_TIME


# -- statements ---------------------------------------------------------------------------------------------------

_COLUMNS = [ledger.c[field.name] for field in fields(LedgerRow)]
_PLACE = tuple_(ledger.c.created_at, ledger.c.id)
_OF_WORKSPACE = ledger.c.workspace_id == bindparam("of_workspace")
_IS_SELECTED = and_(
    equals_if_given(ledger.c.account_id, "of_account"),
    equals_if_given(ledger.c.network, "of_network"),
    equals_if_given(ledger.c.kind, "of_kind"),
    or_(
        ~is_given("of_actor"),
        equals_if_given(ledger.c.user_id, "of_actor"),
        equals_if_given(ledger.c.credential, "of_actor"),
    ),
    ledger.c.created_at >= bindparam("since"),
    ledger.c.created_at < bindparam("until"),
)


def _order_newest_first(selected: Select[Any]) -> Select[Any]:
    return selected.where(_OF_WORKSPACE, tuple_(bindparam("before_time"), bindparam("before_id")) > _PLACE).order_by(
        ledger.c.created_at.desc(), ledger.c.id.desc()
    )


_FIND_LAST_EXAMINED = Statement(
    _order_newest_first(select(ledger.c.created_at, ledger.c.id))
    .where(ledger.c.created_at >= bindparam("since"))
    .limit(1)
    .offset(MAX_EXAMINED - 1)
)
_SELECT_NEWEST = Statement(
    _order_newest_first(select(*_COLUMNS))
    .where(
        tuple_(bindparam("last_time"), bindparam("last_id")) <= _PLACE,
        is_in_scope(ACTOR_SCOPE, ledger.c.account_id, ledger.c.network),
        _IS_SELECTED,
    )
    .limit(bindparam("at_most"))
)
_SELECT_SEALED = Statement(
    select(*_COLUMNS)
    .where(_OF_WORKSPACE, ledger.c.seq > bindparam("after"), ledger.c.seq <= bindparam("last"), _IS_SELECTED)
    .order_by(ledger.c.seq)
    .limit(bindparam("at_most"))
)


# -- reading ------------------------------------------------------------------------------------------------------


def list_newest_rows(
    connection: Connection, actor: Actor, filter_: LedgerFilter, after: Place | None, limit: int
) -> tuple[list[LedgerRow], Place | None]:
    """Return rows in the actor's scope, newest first, and the place of the next page.

    A page looks at no more than :data:`.operation_pages.MAX_EXAMINED` rows, so it may be short although older rows
    match.

    Args:
        connection: a connection to the store.
        actor: the actor that requests the list.
        filter_: selects the rows.
        after: the place that an earlier page returned; None for the first page.
        limit: the maximum number of rows.
    """
    before_time, before_id = min((filter_.until, ""), after or (MAX_TIME, ""))
    values = {
        **_filter_values(actor.workspace_id, filter_),
        "of_scope": dump_scope(actor),
        "before_time": before_time,
        "before_id": before_id,
        "at_most": limit + 1,
    }
    last = _FIND_LAST_EXAMINED.fetch_one_or_none(connection, values)
    last_place = (filter_.since, "") if last is None else (last.created_at, last.id)
    newest_rows = _SELECT_NEWEST.fetch_all(connection, {**values, "last_time": last_place[0], "last_id": last_place[1]})
    rows = [LedgerRow(*row) for row in newest_rows[:limit]]
    if len(newest_rows) > limit:
        return rows, (rows[-1].created_at, rows[-1].id)
    return rows, None if last is None else last_place


def list_sealed_rows(
    connection: Connection, workspace_id: str, filter_: LedgerFilter, after: int, last: int, limit: int
) -> list[LedgerRow]:
    """Return sealed rows in the order of their numbers, from ``after`` (excluded) to ``last`` (included)."""
    values = {**_filter_values(workspace_id, filter_), "after": after, "last": last, "at_most": limit}
    return [LedgerRow(*row) for row in _SELECT_SEALED.fetch_all(connection, values)]


def _filter_values(workspace_id: str, filter_: LedgerFilter) -> dict[str, Any]:
    return {
        "of_workspace": workspace_id,
        "of_account": filter_.account_id,
        "of_network": filter_.network,
        "of_kind": filter_.kind,
        "of_actor": filter_.actor,
        "since": filter_.since,
        "until": filter_.until,
    }
