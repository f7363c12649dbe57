"""A PostgreSQL in which another connection holds a lock: calls end in time, and no receipt is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest
from sqlalchemy import text

from adsunify.errors import InvalidInput, StoreError
from adsunify.service import execution
from adsunify.service.factory import TIMEOUT_VARIABLES, read_database_timeouts
from adsunify.store import DatabaseTimeouts, open_store
from tests.databases import copy_migrated_database

from .served import Served, brief, connect, serve_api

SECOND = {TIMEOUT_VARIABLES["lock"]: "1"}


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Any) -> str:
    return copy_migrated_database("postgresql", request, tmp_path)


@asynccontextmanager
async def hold_lock(url: str, statement: str) -> AsyncIterator[None]:
    """Another connection has run the statement in a transaction that goes on."""
    holder = await asyncpg.connect(url)
    try:
        async with holder.transaction():
            await holder.execute(statement)
            yield
    finally:
        await holder.close()


async def prepare_campaign(server: Served) -> Any:
    account = server.accounts.get("meta") or await connect(server, "meta")
    return await server.admin.post("/create", {"accountId": account, "campaign": brief("meta")}, 201)


def lock_row(id_: str) -> str:
    return f"SELECT 1 FROM operations WHERE id = '{id_}' FOR UPDATE"


async def test_an_execution_that_cannot_claim_writes_nothing(url: str, caplog: pytest.LogCaptureFixture) -> None:
    async with serve_api(url, SECOND) as server:
        prepared = await prepare_campaign(server)
        path, writes = f"/operations/{prepared['id']}/execute", server.networks.writes()
        async with hold_lock(url, lock_row(prepared["id"])):
            problem = await server.admin.problem(503, "POST", path, {"confirmed": True})
        assert (problem["code"], problem["outcome"]) == ("store_unavailable", "unknown")
        assert "held a lock for too long" in caplog.text and server.networks.writes() == writes
        done = await server.admin.execute(prepared["id"])
        assert done["status"] == "succeeded"
        assert server.networks.writes() == writes + len(done["plan"]["steps"])


async def test_a_receipt_waits_for_a_lock_and_is_kept(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The network has applied the write while another connection holds the operation: the receipt is tried again."""
    refusals = []
    async with serve_api(url, SECOND) as server:
        prepared = await prepare_campaign(server)
        store = server.service.store
        write = store._write

        async def observe(*args: Any, **kwargs: Any) -> Any:
            try:
                return await write(*args, **kwargs)
            except StoreError as refusal:
                refusals.append(refusal.message)
                raise

        monkeypatch.setattr(store, "_write", observe)
        monkeypatch.setattr(execution, "EVIDENCE_PAUSE_SECONDS", 0.0)
        writes = server.networks.writes()
        await server.networks.fault("meta", "latency", method="POST", path="/v26.0/act_*/campaigns", value=500)
        executing = asyncio.create_task(server.admin.execute(prepared["id"]))
        async with asyncio.timeout(60):
            while server.networks.writes() == writes:
                await asyncio.sleep(0.01)
            async with hold_lock(url, lock_row(prepared["id"])):
                while len(refusals) < 2:
                    await asyncio.sleep(0.01)
            done = await executing
        assert all("lock" in message for message in refusals)
        assert done["status"] == "succeeded"
        assert [(step["attempt"], step["state"]) for step in done["receipt"]["steps"]] == [
            (1, "applied") for _ in done["plan"]["steps"]
        ]
        assert server.networks.writes() == writes + len(done["plan"]["steps"])


async def test_a_preparation_that_waits_for_a_lock_stores_nothing(url: str) -> None:
    async with serve_api(url, SECOND) as server:
        await prepare_campaign(server)
        body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
        before = await server.rows()
        key = {"Idempotency-Key": "one"}
        async with hold_lock(url, "LOCK TABLE operations IN SHARE MODE"):
            problem = await server.admin.problem(503, "POST", "/create", body, headers=key)
        assert (problem["code"], problem["outcome"]) == ("store_unavailable", "not_applied")
        assert await server.rows() == before
        first = await server.admin.post("/create", body, 201, **key)
        assert (await server.admin.post("/create", body, 201, **key))["id"] == first["id"]


async def test_a_read_that_waits_for_a_lock_ends(url: str) -> None:
    async with serve_api(url, SECOND) as server:
        prepared = await prepare_campaign(server)
        async with hold_lock(url, "LOCK TABLE operations IN ACCESS EXCLUSIVE MODE"):
            paths = ["/operations", f"/operations/{prepared['id']}"] * 3
            answers = await asyncio.gather(*(server.admin.problem(503, "GET", path) for path in paths))
            assert {answer["code"] for answer in answers} == {"store_unavailable"}
        assert (await server.admin.get(f"/operations/{prepared['id']}"))["status"] == "prepared"


async def test_a_statement_ends_in_time_and_a_migration_does_not(url: str) -> None:
    store = await open_store(url, timeouts=DatabaseTimeouts(statement=1, lock=1, idle=1))
    sleep = text("SELECT pg_sleep(2.5)")
    with pytest.raises(StoreError, match="took too long"):
        await store.write(lambda connection: connection.execute(sleep) and None)
    with pytest.raises(StoreError, match="took too long"):
        await store.read(lambda connection: connection.execute(sleep) and None)
    await store.upgrade(lambda connection: connection.execute(sleep) and None)
    limits = {
        name: await store.write(lambda connection, name=name: connection.exec_driver_sql(f"SHOW {name}").scalar_one())
        for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    }
    await store.close()
    assert set(limits.values()) == {"1s"}  # a migration changes its own transaction only


@pytest.mark.parametrize("seconds", ["0", "26", "soon"])
@pytest.mark.parametrize("variable", TIMEOUT_VARIABLES.values())
def test_a_timeout_without_sense_is_refused(variable: str, seconds: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_database_timeouts({variable: seconds})
    assert refused.value.issues[0].path == variable
    assert read_database_timeouts({}) == DatabaseTimeouts()
