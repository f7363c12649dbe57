"""The server's clock is 400 days ahead for a moment: keys, signatures and executions go on with the right time."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from attrs import evolve

from adsunify import webhooks
from adsunify.store import clock as clock_module
from tests.system.webhooks.receiving import run_receiver

from .served import Served, brief, connect, serve_api

pytestmark = pytest.mark.asyncio(loop_scope="module")
DAY = 24 * 60 * 60 * 1000


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def one(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """A server of its own: what a wrong clock writes stays in the database."""
    before = clock_module._last_id
    async with serve_api(f"sqlite:///{tmp_path_factory.mktemp('clock') / 'served.db'}") as server:
        yield server
    clock_module._last_id = before  # ids made afterwards must not follow those of the far future


async def test_a_moment_of_a_wrong_clock_does_not_last(one: Served) -> None:
    account = await connect(one, "x")
    key = one.caller((await one.key("admin", expires_in=30 * DAY))[1])
    body = {"accountId": account, "campaign": brief("x")}
    async with run_receiver() as receiver:
        one.service.settings = evolve(one.service.settings, webhook_dev_targets=frozenset({receiver.url}))
        one.hands.pass_(days=400)
        wrong = await one.admin.post("/create", body, 201)
        one.hands.pass_(days=-400)
        problem = await one.admin.problem(400, "POST", f"/operations/{wrong['id']}/execute", {"confirmed": True})
        assert (problem["code"], problem["outcome"]) == ("clock_ahead", "not_applied")
        assert "adsunify admin clock" in problem["detail"]
        made = await key.post("/webhooks", {"url": receiver.url}, 201)
        prepared = await key.post("/create", {"accountId": account, "campaign": brief("x")}, 201)
        assert (await key.execute(prepared["id"]))["status"] == "succeeded"  # X refuses timestamps 5 minutes off
        for got in await receiver.count(3):
            webhooks.verify(got.body, got.headers, made["secret"])
