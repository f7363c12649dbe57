"""Undo on every network: it takes back what an operation wrote, or it is refused and says why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter

from .served import Served, brief
from .test_guardrails import apply_rule
from .test_stale_plans import PATHS, build_path, create_campaign, find_budget, read_fields, set_status

pytestmark = pytest.mark.asyncio(loop_scope="module")
networks = pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))


async def undo(server: Served, operation_id: str) -> dict[str, Any]:
    prepared: dict[str, Any] = await server.admin.post(f"/operations/{operation_id}/undo", {}, 201)
    assert (prepared["status"], prepared["undoes"]) == ("prepared", operation_id)
    assert (await server.admin.get(f"/operations/{operation_id}"))["undoneBy"] == prepared["id"]
    return prepared


async def refuse(server: Served, operation_id: str, status: int) -> dict[str, Any]:
    writes = server.networks.writes()
    problem = await server.admin.problem(status, "POST", f"/operations/{operation_id}/undo", {})
    assert (problem["outcome"], server.networks.writes()) == ("not_applied", writes)
    return problem


async def read_statuses(server: Served, network: str, ids: Mapping[str, str]) -> dict[str, Any]:
    """The status of each created entity; None if it is gone."""
    statuses = {}
    for kind, entity_id in ids.items():
        code, body = await fetch(server, build_path(server, network, kind, entity_id))
        statuses[kind] = body["data"]["status"] if code == 200 else None
    return statuses


async def fetch(server: Served, path: str) -> tuple[int, Any]:
    answer = await server.admin.send("GET", path)
    return answer.status_code, json.loads(answer.content)


@networks
async def test_an_edit_is_taken_back(server: Served, network: str) -> None:
    """A name and a budget: the fields are as before. An undo is undone again."""
    ids = await create_campaign(server, network)
    kind, budget = await find_budget(server, network, ids)
    fields = await read_fields(server, network, kind, ids[kind])
    changed = {"name": f"{fields['name']} B", "budget": f"{float(budget) + 10:.0f}"}
    path = build_path(server, network, kind, ids[kind], "edit")
    done = await server.admin.execute((await server.admin.post(path, {"fields": changed}, 201))["id"])
    undone = await undo(server, done["id"])
    assert undone["plan"]["exposure"] is not None
    await server.admin.execute(undone["id"])
    assert await read_fields(server, network, kind, ids[kind]) == fields
    again = await undo(server, undone["id"])
    await server.admin.execute(again["id"])
    after = await read_fields(server, network, kind, ids[kind])
    assert (after["name"], float(after["budget"])) == (changed["name"], float(changed["budget"]))
    assert (await refuse(server, done["id"], 409))["code"] == "already_undone"


@networks
async def test_what_has_moved_is_not_taken_back(server: Served, network: str) -> None:
    ids = await create_campaign(server, network)
    campaign = ids["campaign"]
    name = (await read_fields(server, network, "campaign", campaign))["name"]
    path = build_path(server, network, "campaign", campaign, "edit")
    first = await server.admin.execute((await server.admin.post(path, {"fields": {"name": f"{name} A"}}, 201))["id"])
    await server.admin.execute((await server.admin.post(path, {"fields": {"name": f"{name} B"}}, 201))["id"])
    problem = await refuse(server, first["id"], 409)
    assert problem["code"] == "moved"
    assert [
        (difference["member"], difference["planned"], difference["found"]) for difference in problem["differences"]
    ] == [("name", f"{name} A", f"{name} B")]
    assert f"{name} B" in problem["detail"]


@networks
async def test_a_status_is_taken_back(server: Served, network: str) -> None:
    ids = await create_campaign(server, network)
    done = await server.admin.execute(await set_status(server, network, ids, "active"))
    before = await read_statuses(server, network, ids)
    undone = await undo(server, done["id"])
    await server.admin.execute(undone["id"])
    after = await read_statuses(server, network, ids)
    assert (
        {kind for kind in ids if before[kind] != after[kind]}
        == {kind for kind in ids if before[kind] == "active" and after[kind] == "paused"}
        != set()
    )
    again = await undo(server, undone["id"])  # the undo of a pause spends, and says so
    assert again["risk"] == "spend" and again["plan"]["exposure"] is not None
    await server.admin.execute(again["id"])
    assert await read_statuses(server, network, ids) == before
    assert (await refuse(server, undone["id"], 409))["code"] == "already_undone"


@networks
async def test_a_create_is_taken_back(server: Served, network: str) -> None:
    """Nothing is left that can spend. A second undo finds nothing."""
    body = {"accountId": server.accounts[network], "campaign": brief(network)}
    done = await server.admin.execute((await server.admin.post("/create", body, 201))["id"])
    ids = {entity["kind"]: entity["entityId"] for entity in done["created"]}
    level = next(level for level in get_adapter(network).network.levels if level.kind == "campaign")
    undone = await undo(server, done["id"])
    assert undone["risk"] == "destructive"
    await server.admin.execute(undone["id"])
    statuses = await read_statuses(server, network, ids)
    assert statuses["campaign"] in (None, "deleted", "archived"), (level.native, statuses)
    assert "active" not in statuses.values()
    assert (await refuse(server, undone["id"], 422))["code"] == "not_reversible"


@networks
async def test_a_create_that_runs_is_not_deleted(server: Served, network: str) -> None:
    body = {"accountId": server.accounts[network], "campaign": brief(network)}
    done = await server.admin.execute((await server.admin.post("/create", body, 201))["id"])
    ids = {entity["kind"]: entity["entityId"] for entity in done["created"]}
    before = await read_statuses(server, network, ids)
    activation = await server.admin.post(
        "/activate", {"accountId": server.accounts[network], "sourceOperationId": done["id"]}, 201
    )
    active = await server.admin.execute(activation["id"])
    paused = [kind for kind, status in (await read_statuses(server, network, ids)).items() if status == "active"]
    assert "campaign" in paused
    problem = await refuse(server, done["id"], 409)
    assert problem["code"] == "moved" and {difference["found"] for difference in problem["differences"]} == {"active"}
    contained = await undo(server, active["id"])
    kinds = [step["kind"] for step in contained["plan"]["steps"] if step["kind"] in PATHS]
    assert kinds == sorted(kinds, key=list(PATHS).index), "the campaign first"
    assert contained["plan"]["exposure"] in (None, {"daily": "0", "lifetime": "0"}) or contained["risk"] == "low"
    await server.admin.execute(contained["id"])
    after = await read_statuses(server, network, ids)
    assert not any(after[kind] == "active" and before[kind] != "active" for kind in ids)
    await server.admin.execute((await undo(server, done["id"]))["id"])
    assert (await read_statuses(server, network, ids))["campaign"] in (None, "deleted", "archived")


@networks
async def test_an_undo_is_prepared_once(server: Served, network: str) -> None:
    """A cancelled undo does not count; what was never executed has nothing to undo."""
    ids = await create_campaign(server, network)
    path = build_path(server, network, "campaign", ids["campaign"], "edit")
    name = (await read_fields(server, network, "campaign", ids["campaign"]))["name"]
    prepared = await server.admin.post(path, {"fields": {"name": f"{name} A"}}, 201)
    assert (await refuse(server, prepared["id"], 422))["code"] == "not_reversible"
    await server.admin.execute(prepared["id"])
    key = {"Idempotency-Key": f"undo-{network}"}
    first = await server.admin.post(f"/operations/{prepared['id']}/undo", {}, 201, **key)
    assert (await server.admin.post(f"/operations/{prepared['id']}/undo", {}, 201, **key))["id"] == first["id"]
    assert (await refuse(server, prepared["id"], 409))["code"] == "already_undone"
    await server.admin.post(f"/operations/{first['id']}/cancel", {})
    second = await undo(server, prepared["id"])
    await server.admin.execute(second["id"])
    assert (await read_fields(server, network, "campaign", ids["campaign"]))["name"] == name


async def test_guardrails_hold_for_an_undo(server: Served) -> None:
    """An action that is blocked; and what the undo of a pause exposes, and of a lower budget."""
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    created = await server.admin.execute((await server.admin.post("/create", body, 201))["id"])
    ids = {entity["kind"]: entity["entityId"] for entity in created["created"]}
    async with apply_rule(server, blockedActions=["delete"]):
        assert (await refuse(server, created["id"], 403))["code"] == "guardrail_exceeded"
    await server.admin.execute(await set_status(server, "meta", ids, "active"))
    lower = {"fields": {"budget": "10"}}
    lowered = await server.admin.post(build_path(server, "meta", "adGroup", ids["adGroup"], "edit"), lower, 201)
    await server.admin.execute(lowered["id"])
    async with apply_rule(server, currency="USD", perOperation={"daily": "5.00", "lifetime": None}):
        assert (await refuse(server, lowered["id"], 403))["code"] == "guardrail_exceeded"
    await server.admin.execute(await set_status(server, "meta", ids, "paused"))
    active = await server.admin.execute(await set_status(server, "meta", ids, "active"))
    paused = await server.admin.execute(await set_status(server, "meta", ids, "paused"))
    async with apply_rule(server, currency="USD", perOperation={"daily": "5.00", "lifetime": None}):
        assert (await refuse(server, paused["id"], 403))["code"] == "guardrail_exceeded"
        assert (await refuse(server, active["id"], 409))["code"] == "moved"
    async with apply_rule(server, currency="USD", approvalAbove={"daily": "5.00", "lifetime": None}):
        undone, writes = await undo(server, paused["id"]), server.networks.writes()
        path = f"/operations/{undone['id']}/execute"
        problem = await server.admin.problem(403, "POST", path, {"confirmed": True})
        assert (problem["code"], server.networks.writes()) == ("approval_required", writes)
