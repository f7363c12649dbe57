"""Lists of the ledger's rows: pages of the API, and the export of all sealed rows."""

from __future__ import annotations

from collections.abc import AsyncIterator

from adsunify.actor import Actor
from adsunify.errors import invalid_input
from adsunify.ledger import LedgerKind
from adsunify.service import cursors
from adsunify.service.core import Service, UseCaseResult, format_timestamp
from adsunify.service.cursors import Position
from adsunify.service.operation_lists import to_milliseconds
from adsunify.store import Store
from adsunify.store.connections import get_account
from adsunify.store.ledger_chain import get_head
from adsunify.store.ledger_pages import MAX_TIME, LedgerFilter, LedgerRow, list_newest_rows, list_sealed_rows
from adsunify.values.exact_json import Json, dumps, loads

from .sealing import seal_workspace

EXPORT_PAGE_SIZE = 500
"""How many rows an export reads at once."""


async def list_entries(
    service: Service,
    caller: Actor,
    *,
    cursor: str | None,
    limit: int,
    account_id: str | None,
    network: str | None,
    actor: str | None,
    kind: LedgerKind | None,
    since: str | None,
    until: str | None,
) -> UseCaseResult:
    """List the ledger of the workspace, newest first: who changed what, with which credential, and when.

    A page may be short or empty; a ``nextCursor`` means that older rows may follow. ``actor`` is a user's id or a
    credential. ``since`` is included, ``until`` is not. A credential with a scope sees the rows of its accounts and
    networks only. An ``accountId`` that the workspace does not have is 404. Rows are never deleted. `adsunify ledger
    verify` checks their hashes.
    """
    filters = {
        "account_id": account_id,
        "network": network,
        "actor": actor,
        "kind": kind,
        "since": since,
        "until": until,
    }
    set_filters = {name: value for name, value in filters.items() if value is not None}
    position = cursors.decode_cursor(service.ring, caller.workspace_id, ["ledger", set_filters], cursor)
    after = None if position.native_cursor is None else tuple(loads(position.native_cursor))
    filter_ = make_filter(account_id, network, actor, kind, since, until)
    if account_id is not None:
        await service.store.read(get_account, caller, account_id)
    rows, following = await service.store.read(list_newest_rows, caller, filter_, after, limit)
    next_position = None if following is None else Position(dumps(list(following)))
    next_cursor = cursors.encode_cursor(service.ring, caller.workspace_id, ["ledger", set_filters], next_position)
    return UseCaseResult([entry_to_json(row) for row in rows], next_cursor)


def make_filter(
    account_id: str | None = None,
    network: str | None = None,
    actor: str | None = None,
    kind: LedgerKind | None = None,
    since: str | None = None,
    until: str | None = None,
) -> LedgerFilter:
    """Make a filter of rows. ``since`` and ``until`` are instants of ISO 8601. Raises InvalidInput."""
    first = 0 if since is None else to_milliseconds(since, "since")
    end = MAX_TIME if until is None else to_milliseconds(until, "until")
    if first >= end:
        raise invalid_input("until", "order", "must be after since.")
    return LedgerFilter(account_id, network, actor, kind, first, end)


async def export_entries(store: Store, workspace_id: str, filter_: LedgerFilter) -> AsyncIterator[list[Json]]:
    """Seal the ledger of a workspace, and yield its rows in the order of their numbers, page by page.

    Rows that are inserted during the export are left out. Raises StoreError.
    """
    await seal_workspace(store, workspace_id)
    head, after = await store.read(get_head, workspace_id), 0
    while after < head.seq:
        rows = await store.read(list_sealed_rows, workspace_id, filter_, after, head.seq, EXPORT_PAGE_SIZE)
        yield [entry_to_json(row) for row in rows]
        after = head.seq if len(rows) < EXPORT_PAGE_SIZE else rows[-1].seq or head.seq


def entry_to_json(row: LedgerRow) -> dict[str, Json]:
    """Return a row as responses show it."""
    return {
        "id": row.id,
        "seq": row.seq,
        "at": format_timestamp(row.created_at),
        "kind": row.kind,
        "actor": {"userId": row.user_id, "credential": row.credential},
        "accountId": row.account_id,
        "network": row.network,
        "subject": {"type": row.subject_type, "id": row.subject_id},
        "before": None if row.before is None else loads(row.before),
        "after": None if row.after is None else loads(row.after),
        "contentHash": row.content_hash,
        "chainHash": row.chain_hash,
    }
