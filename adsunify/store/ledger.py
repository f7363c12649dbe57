"""Records the rows of the ledger, in the transaction of the recorded change. :mod:`.ledger_chain` seals them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, insert

from adsunify.ledger import SUBJECT_TYPES, LedgerEntry, dump_state, hash_content

from .clock import Clock, new_id
from .schema import ledger
from .statement import Statement

CONTENT_COLUMNS = (
    "id",
    "workspace_id",
    "created_at",
    "user_id",
    "credential",
    "kind",
    "account_id",
    "network",
    "subject_type",
    "subject_id",
    "before",
    "after",
)
"""The columns that the hash of a row's content covers, as texts in this order."""

_INSERT = Statement(insert(ledger))


def record_entry(connection: Connection, entry: LedgerEntry, clock: Clock) -> None:
    """Record a change, in the transaction that makes it."""
    record_entries(connection, [entry], clock.now())


def record_entries(connection: Connection, entries: Iterable[LedgerEntry], at: int) -> None:
    """Record changes that were made at the same time ``at``, in milliseconds since 1970."""
    _INSERT.execute_each(connection, [_make_row(entry, at) for entry in entries])


def _make_row(entry: LedgerEntry, at: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": new_id(at),
        "workspace_id": entry.workspace_id,
        "created_at": at,
        "user_id": entry.by.user_id,
        "credential": entry.by.credential,
        "kind": entry.kind,
        "account_id": entry.account_id,
        "network": entry.network,
        "subject_type": SUBJECT_TYPES[entry.kind],
        "subject_id": entry.subject_id,
        "before": dump_state(entry.before),
        "after": dump_state(entry.after),
    }
    content = [row[name] for name in CONTENT_COLUMNS]
    content[CONTENT_COLUMNS.index("created_at")] = str(at)
    return row | {"content_hash": hash_content(content)}
