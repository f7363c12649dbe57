"""Clients of simulated networks whose store is a database of either engine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from attrs import evolve
from sqlalchemy import Connection, delete, insert, select

from adsunify import Ads
from adsunify.store import open_store
from adsunify.store.schema import metadata
from adsunify.testing import SimulatedNetworks
from adsunify.testing.clients import SimulatedAds

Rows = Mapping[str, Sequence[Mapping[str, Any]]]


@contextmanager
def open_client(networks: SimulatedNetworks, database: str) -> Iterator[Ads]:
    """Open a client whose store is this migrated database. It has the same accounts as every client of the networks."""
    store = networks._copy_store()
    asyncio.run(copy_rows(store.database, database))
    with SimulatedAds(evolve(store, database=database)) as ads:
        yield ads


async def copy_rows(source: str, target: str) -> None:
    """Replace the rows of a database by those of another one, which may have another engine."""
    rows: Rows = {}
    for url in (source, target):
        # the replaced rows may be of a sandbox whose clock was ahead
        store = await open_store(url, allow_wrong_times=True)
        try:
            rows = await store.read(read_rows) if url == source else await store.write(replace_rows, rows)
        finally:
            await store.close()


def read_rows(connection: Connection) -> Rows:
    """Read every table."""
    tables = metadata.sorted_tables
    return {table.name: [dict(row) for row in connection.execute(select(table)).mappings()] for table in tables}


def replace_rows(connection: Connection, rows: Rows) -> Rows:
    """Delete the rows of every table, and insert others."""
    for table in reversed(metadata.sorted_tables):
        connection.execute(delete(table))
    for table in metadata.sorted_tables:
        if rows[table.name]:
            connection.execute(insert(table), list(rows[table.name]))
    return rows
