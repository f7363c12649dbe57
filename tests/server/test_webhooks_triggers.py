"""Every event but ``rule.triggered``: what makes it happen, and that it reaches who subscribed, with the right ids."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio
from attrs import define, evolve

from adsunify import webhooks
from adsunify.events import EVENT_DESCRIPTIONS
from tests.system.webhooks.receiving import Received, Receiver, run_receiver

from .served import Served, brief, connect

pytestmark = pytest.mark.asyncio(loop_scope="module")
NETWORK = "meta"


@define
class Listener:
    """A subscription to everything. ``secret`` signs what it gets."""

    server: Served
    receiver: Receiver
    secret: str
    read: int = 0

    async def next(self, kind: str) -> dict[str, Any]:
        """The data of the next notification of this kind; those before it are passed over."""
        async with asyncio.timeout(20):
            while True:
                while self.read < len(self.receiver.got):
                    self.read += 1
                    event = self.check_event(self.receiver.got[self.read - 1])
                    if event["type"] == kind:
                        data: dict[str, Any] = event["data"]
                        return data
                await asyncio.sleep(0.005)

    def check_event(self, delivery: Received) -> Any:
        now = self.server.service.store.clock.now() / 1000
        event_id = webhooks.verify(delivery.body, delivery.headers, self.secret, now)
        event = delivery.event
        assert event["id"] == event_id and event["apiVersion"] == "1.1.0" and event["createdAt"].endswith("Z")
        assert event["workspaceId"] == self.server.people["admin"].actor.workspace_id
        assert {"operationId", "accountId", "network", "status"} <= event["data"].keys()
        return event

    def forget(self) -> None:
        """What came so far is not waited for."""
        self.read = len(self.receiver.got)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def listener(empty: Served) -> AsyncIterator[Listener]:
    async with run_receiver() as receiver:
        settings = evolve(empty.service.settings, webhook_dev_targets=frozenset({receiver.url}))
        empty.service.settings = settings
        webhook = await empty.admin.post("/webhooks", {"url": receiver.url, "events": list(EVENT_DESCRIPTIONS)}, 201)
        yield Listener(empty, receiver, webhook["secret"])


async def get_account(server: Served) -> str:
    return server.accounts.get(NETWORK) or await connect(server, NETWORK)


async def prepare_operation(server: Served) -> tuple[str, str]:
    """The account and the id of a prepared operation."""
    account = await get_account(server)
    operation = await server.admin.post("/create", {"accountId": account, "campaign": brief(NETWORK)}, 201)
    return account, operation["id"]


Trigger = Callable[[Served, Listener], Awaitable[dict[str, Any]]]
"""Makes the event happen; returns what its data must say."""


async def cause_prepared(server: Served, listener: Listener) -> dict[str, Any]:
    account, operation = await prepare_operation(server)
    return {"operationId": operation, "accountId": account, "status": "prepared"}


async def cause_running(server: Served, listener: Listener) -> dict[str, Any]:
    account, operation = await prepare_operation(server)
    await server.admin.execute(operation)
    return {"operationId": operation, "accountId": account, "status": "running"}


async def cause_succeeded(server: Served, listener: Listener) -> dict[str, Any]:
    return {**await cause_running(server, listener), "status": "succeeded"}


async def cause_unknown(server: Served, listener: Listener) -> dict[str, Any]:
    account, operation = await prepare_operation(server)
    await server.networks.fault(NETWORK, "reset_after", method="POST")
    await server.admin.problem(400, "POST", f"/operations/{operation}/execute", {"confirmed": True})
    return {"operationId": operation, "accountId": account, "status": "unknown"}


async def cause_cancelled(server: Served, listener: Listener) -> dict[str, Any]:
    account, operation = await prepare_operation(server)
    await server.admin.post(f"/operations/{operation}/cancel", {})
    return {"operationId": operation, "accountId": account, "status": "cancelled"}


async def _reconnect(server: Served, listener: Listener) -> None:
    for connection in await server.admin.get("/connections"):
        await server.admin.delete(f"/connections/{connection['connectionId']}")
    listener.forget()
    server.accounts[NETWORK] = await connect(server, NETWORK)


async def cause_connected(server: Served, listener: Listener) -> dict[str, Any]:
    await _reconnect(server, listener)
    return {"operationId": None, "status": "active"}


async def cause_synced(server: Served, listener: Listener) -> dict[str, Any]:
    """Of an account that is new: another one of the same network, in a workspace where it was not."""
    listener.forget()
    account = await connect(server, "google")
    return {"operationId": None, "accountId": account, "network": "google", "status": "active"}


async def cause_disconnected(server: Served, listener: Listener) -> dict[str, Any]:
    await get_account(server)
    listener.forget()
    account = await server.admin.get(f"/accounts/{server.accounts[NETWORK]}")
    await server.admin.delete(f"/connections/{account['connectionId']}")
    del server.accounts[NETWORK]
    return {"operationId": None, "status": "disconnected"}


async def cause_needs_reauth(server: Served, listener: Listener) -> dict[str, Any]:
    account = await get_account(server)
    listener.forget()
    tokens = server.networks.state.worlds[NETWORK].tokens
    before = dict(tokens)
    tokens.clear()
    await server.admin.problem(400, "GET", f"/accounts/{account}/tree")
    tokens.update(before)
    return {"operationId": None, "status": "needs_reauth"}


async def _list_days(server: Served, account: str) -> dict[str, str]:
    end = server.hands.now().date() - timedelta(days=3)
    return {"startDate": str(end - timedelta(days=2)), "endDate": str(end)}


async def cause_figures(server: Served, listener: Listener) -> dict[str, Any]:
    account = await get_account(server)
    days = await _list_days(server, account)
    report = await server.admin.get(f"/accounts/{account}/insights", **days)
    while report["pending"] is not None:
        report = await server.admin.get(f"/accounts/{account}/insights", **days)
    assert report["coverage"]["complete"] is True
    return {"operationId": None, "accountId": account, "status": "active", "what": "insights", **days}


async def cause_sync_failure(server: Served, listener: Listener) -> dict[str, Any]:
    account = server.accounts.get("amazon") or await connect(server, "amazon")
    await server.networks.fault("amazon", "status", path="/reporting/reports", value=403, times=1000)
    query = await _list_days(server, account)
    await server.admin.problem(400, "GET", f"/accounts/{account}/insights", query=query)
    server.networks.state.faults.pending.clear()
    return {"operationId": None, "accountId": account, "network": "amazon", "what": "insights"}


async def _activate_campaign(server: Served, listener: Listener, kind: str) -> dict[str, Any]:
    account, operation = await prepare_operation(server)
    await server.admin.execute(operation)
    live = await server.admin.post("/activate", {"accountId": account, "sourceOperationId": operation}, 201)
    listener.forget()
    await server.admin.execute(live["id"])
    return {"operationId": live["id"], "accountId": account, "kind": kind, "before": "paused", "status": "active"}


async def cause_campaign_change(server: Served, listener: Listener) -> dict[str, Any]:
    return await _activate_campaign(server, listener, "campaign")


async def cause_ad_group_change(server: Served, listener: Listener) -> dict[str, Any]:
    return await _activate_campaign(server, listener, "adGroup")


async def cause_ad_change(server: Served, listener: Listener) -> dict[str, Any]:
    return await _activate_campaign(server, listener, "ad")


TRIGGERS: dict[str, Trigger] = {
    "operation.prepared": cause_prepared,
    "operation.running": cause_running,
    "operation.succeeded": cause_succeeded,
    "operation.unknown": cause_unknown,
    "operation.cancelled": cause_cancelled,
    "account.connected": cause_connected,
    "account.ads.initial_sync_completed": cause_synced,
    "account.disconnected": cause_disconnected,
    "account.needs_reauth": cause_needs_reauth,
    "analytics.synced": cause_figures,
    "sync.failed": cause_sync_failure,
    "campaign.status_changed": cause_campaign_change,
    "ad_group.status_changed": cause_ad_group_change,
    "ad.status_changed": cause_ad_change,
}


async def test_every_event_has_one() -> None:
    assert TRIGGERS.keys() == EVENT_DESCRIPTIONS.keys() - {"rule.triggered"}


@pytest.mark.parametrize("kind", TRIGGERS)
async def test_a_trigger(empty: Served, listener: Listener, kind: str) -> None:
    listener.forget()
    expected = {"network": NETWORK, **await TRIGGERS[kind](empty, listener)}
    await empty.wait_for_background_tasks()
    while True:
        data = await listener.next(kind)
        if all(data.get(name) == value for name, value in expected.items() if name in ("operationId", "accountId")):
            break
    assert {name: data.get(name) for name in expected} == expected
    if kind == "account.needs_reauth":
        await _reconnect(empty, listener)
