"""Marks a database as restored from a backup."""

from __future__ import annotations

from functools import partial

from adsunify.ledger import LOCAL_AUTHOR
from adsunify.store import Store
from adsunify.store.restoring import mark_restored as mark_rows
from adsunify.values.exact_json import Json


async def mark_restored(store: Store) -> dict[str, Json]:
    """Mark the rows that may have changed after the backup (:func:`adsunify.store.restoring.mark_restored`).

    Returns:
        How many operations, change sets and sessions were marked, as the command line prints it.
    """
    counts = await store.upgrade(partial(mark_rows, by=LOCAL_AUTHOR, clock=store.clock))
    return {
        "unknownOperations": counts.unknown,
        "unresumableOperations": counts.unresumable,
        "cancelledChangeSets": counts.change_sets,
        "endedSessions": counts.sessions,
    }
