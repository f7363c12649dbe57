"""``adsunify maintain`` and a worker that does the same: what is due goes, and the numbers say so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, func, insert, select

from adsunify.service.factory import MAINTENANCE_HOURS_VARIABLE
from adsunify.store import Store, open_store
from adsunify.store.retention import RULES
from adsunify.store.schema import sessions, users

from .conftest import Place
from .running import process

DAY = 24 * 60 * 60 * 1000


@pytest.fixture
def shop(place: Callable[[str], Place], tmp_path: Path) -> Place:
    """A store with a workspace, and a session that expired 31 days ago."""
    shop_store = place(tmp_path.name)
    assert shop_store.ads("admin", "init", "--workspace", "shop", "--email", "ada@shop.example", "--json").data

    def add(connection: Connection) -> None:
        user_id = connection.execute(select(users.c.id)).scalar_one()
        expired = time.time_ns() // 1_000_000 - 31 * DAY
        row = {"token_hash": "old", "user_id": user_id, "created_at": expired - DAY, "expires_at": expired}
        connection.execute(insert(sessions), row)

    use_store(shop_store, lambda store: store.write(add))
    return shop_store


def use_store(shop: Place, work: Callable[[Store], Any]) -> Any:
    async def run() -> Any:
        store = await open_store(shop.environment["ADSUNIFY_DATABASE_URL"])
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())


def count(shop: Place) -> int:
    counted = select(func.count()).select_from(sessions)
    number: int = use_store(shop, lambda store: store.read(lambda connection: connection.execute(counted).scalar_one()))
    return number


def test_what_is_due_is_counted_and_deleted(shop: Place) -> None:
    expected = {rule.kind: (rule.days, int(rule.kind == "sessions")) for rule in RULES}
    for options, is_dry, left in ((("--dry-run",), True, 1), ((), False, 0)):
        done = shop.ads("maintain", "--json", *options).data
        assert done["dryRun"] is is_dry
        assert {result["kind"]: (result["days"], result["count"]) for result in done["results"]} == expected
        assert count(shop) == left
    assert {result["count"] for result in shop.ads("maintain", "--json").data["results"]} == {0}


def test_the_periods_are_settings(shop: Place) -> None:
    ran = shop.ads("maintain", ADSUNIFY_SESSIONS_RETENTION_DAYS="32")
    assert ran.code == 0 and "sessions" in ran.out and count(shop) == 1
    assert shop.ads("maintain", ADSUNIFY_SESSIONS_RETENTION_DAYS="0").code == 0 and count(shop) == 1
    refused = shop.ads("maintain", ADSUNIFY_SESSIONS_RETENTION_DAYS="soon")
    assert refused.code and "ADSUNIFY_SESSIONS_RETENTION_DAYS" in refused.err and count(shop) == 1
    assert shop.ads("maintain", ADSUNIFY_SESSIONS_RETENTION_DAYS="31").code == 0 and count(shop) == 0


def test_a_worker_does_it_where_it_is_told(shop: Place) -> None:
    settings = {**shop.environment, MAINTENANCE_HOURS_VARIABLE: "24"}
    with process("worker", **settings):
        until = time.monotonic() + 60
        while count(shop) and time.monotonic() < until:
            time.sleep(0.1)
    assert count(shop) == 0


def test_a_worker_deletes_nothing_by_itself(shop: Place) -> None:
    with process("worker", **shop.environment) as worker:
        assert worker.stdout is not None and "Delivering" in worker.stdout.readline()
    assert count(shop) == 1


def test_a_database_is_marked_as_restored_only_on_purpose(shop: Place) -> None:
    refused = shop.ads("db", "restored")
    assert refused.code and "--confirmed" in refused.err and count(shop) == 1
    done = shop.ads("db", "restored", "--confirmed", "--json").data
    assert done == {"unknownOperations": 0, "unresumableOperations": 0, "cancelledChangeSets": 0, "endedSessions": 1}
