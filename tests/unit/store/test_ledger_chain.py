"""The chain of the ledger: sealing it, also by several at once, and finding what was changed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import Connection, func, select

from adsunify.errors import StoreError
from adsunify.ledger import FIRST_CHAIN_HASH, LOCAL_AUTHOR, ChainLink, LedgerEntry, hash_link
from adsunify.service.ledger.sealing import seal_workspace
from adsunify.service.ledger.verification import verify_ledger
from adsunify.store import Store, open_store
from adsunify.store.ledger import record_entries
from adsunify.store.ledger_chain import list_unsealed_workspaces, seal_rows
from adsunify.store.schema import ledger

from .tampering import OTHER_WORKSPACE, TAMPERINGS, WORKSPACE, fill_ledger, make_invalid_text

ROWS, CHANGED = 12, 5


def entry(n: int) -> LedgerEntry:
    return LedgerEntry(WORKSPACE, LOCAL_AUTHOR, "key", f"key{n}")


def read_chain(connection: Connection) -> list[Any]:
    """The rows in the order in which they must be sealed."""
    ordered = select(ledger).where(ledger.c.workspace_id == WORKSPACE).order_by(ledger.c.created_at, ledger.c.id)
    return list(connection.execute(ordered).all())


async def test_rows_are_numbered_in_their_order_and_chained(store: Store) -> None:
    now = store.clock.now()
    for n, at in enumerate((now + 2, now, now + 1)):
        await store.write(record_entries, [entry(n)], at)
    await fill_ledger(store, 2, OTHER_WORKSPACE)
    assert await store.read(list_unsealed_workspaces) == [WORKSPACE]
    assert [await store.write(seal_rows, WORKSPACE, 2) for _ in range(3)] == [2, 1, 0]
    assert await store.read(list_unsealed_workspaces) == []
    rows = await store.read(read_chain)
    assert [(row.subject_id, row.seq) for row in rows] == [("key1", 1), ("key2", 2), ("key0", 3)]
    before = FIRST_CHAIN_HASH
    for row in rows:
        before = hash_link(before, row.content_hash)
        assert row.chain_hash == before
    await store.write(record_entries, [entry(3)], now)  # a transaction that began earlier may commit later
    result = await verify_ledger(store, WORKSPACE)
    assert (result.problem, result.checked.seq, result.sealed, result.unsealed) == (None, 4, 1, 0)
    assert [(row.subject_id, row.seq) for row in await store.read(read_chain)][:2] == [("key1", 1), ("key3", 4)]


@pytest.mark.parametrize("name", TAMPERINGS)
async def test_a_change_is_found_where_it_is(store: Store, name: str) -> None:
    tampering = TAMPERINGS[name]
    await fill_ledger(store, ROWS)
    intact = await verify_ledger(store, WORKSPACE)
    assert intact.problem is None and intact.checked.seq == ROWS
    await store.write(tampering.change, CHANGED, ROWS)
    for _ in range(2):  # a verification hides nothing
        verification = await verify_ledger(store, WORKSPACE)
        assert verification.problem is not None and verification.problem.seq == tampering.found_at(CHANGED, ROWS), (
            verification
        )


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_bytes_that_are_no_text_are_found(store: Store) -> None:
    await fill_ledger(store, ROWS)
    await store.write(make_invalid_text, CHANGED, ROWS)
    problem = (await verify_ledger(store, WORKSPACE)).problem
    assert problem is not None and problem.seq == CHANGED


async def test_a_known_place_reveals_a_chain_that_was_computed_anew(store: Store) -> None:
    """Who can write to the database can compute all hashes anew. He cannot change a hash that is kept elsewhere."""
    await fill_ledger(store, ROWS)
    known = (await verify_ledger(store, WORKSPACE)).checked
    assert (await verify_ledger(store, WORKSPACE, known)).problem is None
    await store.write(TAMPERINGS["content and its hash"].change, CHANGED, ROWS)

    def compute_anew(connection: Connection) -> None:
        connection.execute(ledger.update().values(seq=None, chain_hash=None))
        TAMPERINGS["no head"].change(connection, CHANGED, ROWS)

    await store.write(compute_anew)
    assert (await verify_ledger(store, WORKSPACE)).problem is None
    problem = (await verify_ledger(store, WORKSPACE, known)).problem
    assert problem is not None and problem.seq == ROWS
    later = ChainLink(ROWS + 3, known.chain_hash)
    missing = (await verify_ledger(store, WORKSPACE, later)).problem
    assert missing is not None and missing.seq == ROWS + 1


async def test_nothing_is_sealed_after_a_changed_head(store: Store) -> None:
    await fill_ledger(store, ROWS)
    await store.write(TAMPERINGS["no head"].change, CHANGED, ROWS)
    await store.write(record_entries, [entry(99)], store.clock.now())
    with pytest.raises(StoreError, match="adsunify ledger verify"):
        await seal_workspace(store, WORKSPACE)
    verification = await verify_ledger(store, WORKSPACE)
    assert (verification.sealed, verification.unsealed) == (0, 1) and verification.problem is not None


async def test_writers_and_sealers_at_once_lose_no_row(migrated_database: str) -> None:
    """Writers and sealers on two stores, which are two processes for the database."""
    stores = [await open_store(migrated_database) for _ in range(2)]
    writers, rows = 16, 10

    async def write_rows(number: int) -> None:
        for n in range(rows):
            store = stores[(number + n) % 2]
            await store.write(record_entries, [entry(number * rows + n)], store.clock.now())

    async def seal(store: Store) -> None:
        while (await store.read(_count_sealed)) < writers * rows:
            await store.write(seal_rows, WORKSPACE, 7)

    await asyncio.gather(*(write_rows(number) for number in range(writers)), *(seal(store) for store in stores * 2))
    result = await verify_ledger(stores[0], WORKSPACE)
    assert (result.problem, result.checked.seq, result.sealed, result.unsealed) == (None, writers * rows, 0, 0)
    subjects = {row.subject_id for row in await stores[0].read(read_chain)}
    assert subjects == {f"key{n}" for n in range(writers * rows)}
    for store in stores:
        await store.close()


def _count_sealed(connection: Connection) -> int:
    return int(connection.execute(select(func.count()).where(ledger.c.seq.is_not(None))).scalar_one())
