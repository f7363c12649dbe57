"""The ledger: 100,000 rows with one change, 64 writers, and sealers that are killed. The short form has fewer rows."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, func, select

from adsunify.ledger import LOCAL_AUTHOR, LedgerEntry
from adsunify.service.ledger.verification import verify_ledger
from adsunify.store import Store, open_store
from adsunify.store.ledger import record_entries
from adsunify.store.schema import ledger
from tests.databases import LONG_RUN
from tests.markers import exhaustive
from tests.unit.store.tampering import TAMPERINGS, WORKSPACE, fill_ledger

from . import IS_LONG

ROWS, CHANGED = (100_000, 61_803) if IS_LONG else (10_000, 6_180)
WRITERS, ROWS_OF_WRITER = 64, 40 if IS_LONG else 5
KILLS = 12 if IS_LONG else 3
SEALER = """
import asyncio, sys
from adsunify.store import open_store
from adsunify.store.ledger_chain import seal_rows

async def main():
    store = await open_store(sys.argv[1])
    print("ready", flush=True)
    while True:
        await store.write(seal_rows, sys.argv[2], 3)

asyncio.run(main())
"""
FOUND = (
    "a character of after",
    *map(exhaustive, ("content and its hash", "a deleted row", "two rows in another order", "an inserted row")),
)
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("engine", LONG_RUN, indirect=True)
@pytest.mark.parametrize("name", FOUND)
async def test_one_change_in_many_rows_is_located(migrated_database: str, name: str) -> None:
    store = await open_store(migrated_database)
    await fill_ledger(store, ROWS)
    await store.write(TAMPERINGS[name].change, CHANGED, ROWS)
    result = await verify_ledger(store, WORKSPACE)
    assert result.problem is not None and result.problem.seq == CHANGED
    assert result.checked.seq == CHANGED - 1
    await store.close()


@pytest.mark.parametrize("engine", LONG_RUN, indirect=True)
async def test_64_writers_lose_no_row_while_sealers_are_killed(migrated_database: str) -> None:
    """Every committed row is in the chain once, however often a sealer dies between two statements."""
    store = await open_store(migrated_database)
    writing = asyncio.gather(*(write_rows(store, number) for number in range(WRITERS)))
    for number in range(KILLS):
        await run_sealer(migrated_database, 0.05 + 0.03 * number)
    await writing
    result = await verify_ledger(store, WORKSPACE)
    assert (result.problem, result.checked.seq, result.unsealed) == (None, WRITERS * ROWS_OF_WRITER, 0)
    subjects = await store.read(read_subjects)
    assert subjects == {f"key{number}.{n}": 1 for number in range(WRITERS) for n in range(ROWS_OF_WRITER)}
    await store.close()


async def write_rows(store: Store, number: int) -> None:
    for n in range(ROWS_OF_WRITER):
        entry = LedgerEntry(WORKSPACE, LOCAL_AUTHOR, "key", f"key{number}.{n}")
        await store.write(record_entries, [entry], store.clock.now())


async def run_sealer(url: str, seconds: float) -> None:
    """Seal in another process, and kill it after some time."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process: Any = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SEALER, url, WORKSPACE, stdout=asyncio.subprocess.PIPE, env=environment
    )
    assert await process.stdout.readline() == b"ready\n"
    await asyncio.sleep(seconds)
    assert process.returncode is None
    process.send_signal(signal.SIGKILL)
    await process.wait()


def read_subjects(connection: Connection) -> dict[str, int]:
    """How many sealed rows each subject has."""
    counted = select(ledger.c.subject_id, func.count()).where(ledger.c.seq.is_not(None)).group_by(ledger.c.subject_id)
    return {row[0]: row[1] for row in connection.execute(counted)}
