"""The server's clock is 400 days ahead for a moment: keys, signatures and executions go on with the right time."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from attrs import evolve

from adsunify import webhooks
from tests.system.webhooks.receiving import run_receiver

from .served import Served, brief, connect, serve_api

pytestmark = pytest.mark.asyncio(loop_scope="module")
DAY = 24 * 60 * 60 * 1000


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def own_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """A server of its own: what a wrong clock writes stays in the database."""
    async with serve_api(f"sqlite:///{tmp_path_factory.mktemp('clock') / 'served.db'}") as server:
        yield server


async def test_a_moment_of_a_wrong_clock_does_not_last(own_server: Served) -> None:
    account = await connect(own_server, "x")
    key = own_server.caller((await own_server.key("admin", expires_in=30 * DAY))[1])
    body = {"accountId": account, "campaign": brief("x")}
    async with run_receiver() as receiver:
        own_server.service.settings = evolve(own_server.service.settings, webhook_dev_targets=frozenset({receiver.url}))
        own_server.hands.pass_(days=400)
        wrong = await own_server.admin.post("/create", body, 201)
        own_server.hands.pass_(days=-400)
        problem = await own_server.admin.problem(400, "POST", f"/operations/{wrong['id']}/execute", {"confirmed": True})
        assert (problem["code"], problem["outcome"]) == ("clock_ahead", "not_applied")
        assert "adsunify admin clock" in problem["detail"]
        webhook = await key.post("/webhooks", {"url": receiver.url}, 201)
        prepared = await key.post("/create", {"accountId": account, "campaign": brief("x")}, 201)
        assert (await key.execute(prepared["id"]))["status"] == "succeeded"  # X refuses timestamps 5 minutes off
        for delivery in await receiver.count(3):
            webhooks.verify(delivery.body, delivery.headers, webhook["secret"])
