"""A server whose network to PostgreSQL is cut."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from adsunify.service import execution
from adsunify.store import postgresql
from tests.databases import empty_database
from tests.postgres import Partition

from .served import brief, connect, serve_api


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return empty_database("postgresql", request, tmp_path)


async def test_a_receipt_lands_though_the_connections_to_the_database_are_cut(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network applies the write while nothing reaches the database: the commit ends, and a later one keeps it.

    What is read afterwards for the answer may be refused on another cut connection; the receipt is there then.
    """
    socket_folder = parse_qs(urlsplit(url).query)["host"][0]
    partition = Partition(socket_folder)
    proxy = await asyncio.start_unix_server(partition, tmp_path / ".s.PGSQL.5432")
    async with serve_api(url.replace(socket_folder, str(tmp_path))) as server:
        account = await connect(server, "meta")
        prepared = await server.admin.post("/create", {"accountId": account, "campaign": brief("meta")}, 201)
        monkeypatch.setattr(execution, "EVIDENCE_PAUSE_SECONDS", 0.0)
        await server.networks.fault("meta", "latency", method="POST", path="/v26.0/act_*/campaigns", value=500)
        path, writes = f"/operations/{prepared['id']}/execute", server.networks.writes()
        executing = asyncio.create_task(server.admin.send("POST", path, {"confirmed": True}))
        async with asyncio.timeout(60):
            while server.networks.writes() == writes:
                await asyncio.sleep(0.01)
            partition.cut()
            monkeypatch.setattr(postgresql, "TIMEOUT_SECONDS", 3.0)
            assert (await executing).status_code in (200, 503)
        done = await server.admin.execute(prepared["id"])
        assert done["status"] == "succeeded"
        assert {(step["attempt"], step["state"]) for step in done["receipt"]["steps"]} == {(1, "applied")}
        assert server.networks.writes() == writes + len(done["plan"]["steps"])
    proxy.close()
    await partition.end()
