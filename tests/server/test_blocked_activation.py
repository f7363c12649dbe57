"""``blockedActions`` with ``activate`` refuses each way to activate, and no pause."""

from __future__ import annotations

from typing import Any

import pytest

from adsunify.adapter.lifecycle import get_status_members
from adsunify.adapter.network import get_level
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter

from .served import Served
from .test_guardrails import apply_rule
from .test_native import build_path, get_campaign

pytestmark = pytest.mark.asyncio(loop_scope="module")
networks = pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))


@networks
async def test_a_status_does_not_activate(server: Served, network: str) -> None:
    campaign = (await get_campaign(server, network))["campaign"]["id"]
    body = {"accountId": server.accounts[network], "kind": "campaign", "entityIds": [campaign]}
    async with apply_rule(server, blockedActions=["activate"]):
        await check_refusal(server, "POST", "/bulk-status", body | {"status": "active"})
        await server.admin.post("/bulk-status", body | {"status": "paused"}, 201)


@networks
async def test_a_native_update_of_the_status_does_not_activate(server: Served, network: str) -> None:
    """The rule stops the update where the network takes a status; elsewhere the status is refused without the rule."""
    campaign = (await get_campaign(server, network))["campaign"]["id"]
    path = build_path(server, network, "campaign", campaign)
    activation, pause = (build_status_update(network, status) for status in ("active", "paused"))
    answer = await server.admin.send("PATCH", path, activation)
    async with apply_rule(server, blockedActions=["activate"]):
        if answer.status_code == 201:
            await check_refusal(server, "PATCH", path, activation)
            answer = await server.admin.send("PATCH", path, pause)
            assert answer.status_code == 201, answer.text
        else:
            refused = await server.admin.read_issues("PATCH", path, activation)
            assert {where for where, _ in refused} <= {f"payload.{member}" for member in activation["payload"]}
            await server.admin.problem(422, "PATCH", path, pause)


def build_status_update(network: str, status: str) -> dict[str, Any]:
    """Build a native update that sets a campaign to a unified status. Google's reads have the campaign in an object."""
    level = get_level(get_adapter(network).network, "campaign")
    members = get_status_members(level, level.writable_statuses[status])
    return {"payload": {name.rpartition("/")[2]: value for name, value in members.items()}}


async def check_refusal(server: Served, *call: Any) -> None:
    """Send a request that the rule refuses."""
    problem = await server.admin.problem(403, *call)
    assert [breach["member"] for breach in problem["guardrails"]] == ["blockedActions"]
    assert "it refuses activate" in problem["detail"]


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
