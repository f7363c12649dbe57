"""``blockedActions`` with ``activate`` refuses each way to activate, and no pause."""

from __future__ import annotations

from typing import Any

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES

from .served import Served
from .test_guardrails import apply_rule
from .test_native import build_path, get_campaign

pytestmark = pytest.mark.asyncio(loop_scope="module")
networks = pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
STATUSES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "meta": ({"status": "ACTIVE"}, {"status": "PAUSED"}),
    "google": ({"status": "ENABLED"}, {"status": "PAUSED"}),
    "snapchat": ({"status": "ACTIVE"}, {"status": "PAUSED"}),
    "pinterest": ({"status": "ACTIVE"}, {"status": "PAUSED"}),
    "linkedin": ({"status": "ACTIVE"}, {"status": "PAUSED"}),
    "reddit": ({"configured_status": "ACTIVE"}, {"configured_status": "PAUSED"}),
    "amazon": ({"state": "ENABLED"}, {"state": "PAUSED"}),
    "x": ({"entity_status": "ACTIVE"}, {"entity_status": "PAUSED"}),
    "chatgpt": ({"status": "active"}, {"status": "paused"}),
    "apple": ({"status": "ENABLED"}, {"status": "PAUSED"}),
    "outbrain": ({"enabled": True}, {"enabled": False}),
}
"""The native members that activate and pause a campaign of each network; an update of TikTok takes no status."""


@networks
async def test_a_status_and_a_native_update_do_not_activate(server: Served, network: str) -> None:
    campaign = (await get_campaign(server, network))["campaign"]["id"]
    path = build_path(server, network, "campaign", campaign)
    body = {"accountId": server.accounts[network], "kind": "campaign", "entityIds": [campaign]}
    blocked: list[tuple[str, str, Any]] = [("POST", "/bulk-status", body | {"status": "active"})]
    if network in STATUSES:
        blocked.append(("PATCH", path, {"payload": STATUSES[network][0]}))
    async with apply_rule(server, blockedActions=["activate"]):
        for call in blocked:
            problem = await server.admin.problem(403, *call)
            assert [breach["member"] for breach in problem["guardrails"]] == ["blockedActions"]
            assert "it refuses activate" in problem["detail"]
        await server.admin.post("/bulk-status", body | {"status": "paused"}, 201)
        if network in STATUSES:
            answer = await server.admin.send("PATCH", path, {"payload": STATUSES[network][1]})
            assert answer.status_code == 201, answer.text


@pytest.mark.parametrize(
    ("network", "field", "active", "paused"),
    [("snapchat", "status", "ACTIVE", "PAUSED"), ("x", "entity_status", "ACTIVE", "PAUSED")],
)
async def test_an_edit_of_the_status_does_not_activate(
    server: Served, network: str, field: str, active: str, paused: str
) -> None:
    campaign = (await get_campaign(server, network))["campaign"]["id"]
    path = build_path(server, network, "campaign", campaign, "edit")
    async with apply_rule(server, blockedActions=["activate"]):
        problem = await server.admin.problem(403, "POST", path, {"fields": {field: active}})
        assert [breach["member"] for breach in problem["guardrails"]] == ["blockedActions"]
        answer = await server.admin.send("POST", path, {"fields": {field: paused, "name": "Still paused"}})
        assert answer.status_code in (201, 422) and answer.json().get("code") != "guardrail_exceeded"


async def test_a_native_create_does_not_activate(server: Served) -> None:
    path = f"/accounts/{server.accounts['meta']}/campaigns"
    payload = {"name": "Native", "objective": "OUTCOME_TRAFFIC", "special_ad_categories": ["NONE"]}
    payload |= {"is_adset_budget_sharing_enabled": False}
    async with apply_rule(server, blockedActions=["activate"]):
        problem = await server.admin.problem(403, "POST", path, {"payload": payload | {"status": "ACTIVE"}})
        assert [breach["member"] for breach in problem["guardrails"]] == ["blockedActions"]
        await server.admin.post(path, {"payload": payload}, 201)


async def test_an_activation_is_blocked_where_its_exposure_cannot_be_read(server: Served) -> None:
    nodes = await get_campaign(server, "meta")
    where = f"/v26.0/{nodes['campaign']['id']}/adsets"
    path = build_path(server, "meta", "campaign", nodes["campaign"]["id"])
    async with apply_rule(server, blockedActions=["activate"]):
        await server.networks.fault("meta", "status", value=500, method="GET", path=where, times=20)
        problem = await server.admin.problem(403, "PATCH", path, {"payload": {"status": "ACTIVE"}})
        server.networks.state.faults.pending.clear()
        assert [breach["member"] for breach in problem["guardrails"]] == ["blockedActions"]
