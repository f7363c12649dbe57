"""What can be done with a deleted entity: it is shown, and nothing of it can be changed."""

from __future__ import annotations

from typing import Any

import pytest

from adsunify.adapter.hierarchy import is_action_accepted
from adsunify.adapter.network import get_level
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import Action

from .served import Served, brief
from .test_native import LEVELS, build_path, create_campaign, execute_operation, levels, networks

pytestmark = pytest.mark.asyncio(loop_scope="module")
child_levels = pytest.mark.parametrize(("network", "kind"), [one for one in LEVELS if one[1] != "campaign"])


async def delete_entity(server: Served, network: str, kind: str, node: dict[str, Any]) -> dict[str, Any] | None:
    """Delete an entity, if the network deletes this level; what the network shows of it then. None if nothing."""
    path = build_path(server, network, kind, node["id"])
    answer = await server.admin.send("DELETE", path)
    if answer.status_code == 422:
        assert {issue["code"] for issue in answer.json()["issues"]} == {"not_supported"}
        unchanged: dict[str, Any] = await server.admin.get(path)
        return unchanged
    await execute_operation(server, answer.json()["data"])
    answer = await server.admin.send("GET", path)
    if answer.status_code == 404:
        return None
    shown: dict[str, Any] = answer.json()["data"]
    assert shown["status"] in ("deleted", "archived")
    return shown


def accepts(network: str, shown: dict[str, Any], action: Action) -> bool:
    """Whether the network's tables say that it accepts the action on the entity that is shown."""
    level = get_level(get_adapter(network).network, shown["kind"])
    return is_action_accepted(level, shown["status"], shown["nativeStatus"], action)


@levels
async def test_a_deleted_entity_is_not_changed(server: Served, network: str, kind: str) -> None:
    """Refused when it is prepared, unless the tables say that the network accepts it, and all settings are locked."""
    node = (await create_campaign(server, network))[kind]
    path = build_path(server, network, kind, node["id"])
    shown = await delete_entity(server, network, kind, node)
    rows, writes = await server.rows(), server.networks.writes()
    body = {"accountId": server.accounts[network], "kind": kind, "entityIds": [node["id"]]}
    changes: list[tuple[Action, str, str, Any, tuple[str, str]]] = [
        ("status", "POST", "/bulk-status", {**body, "status": "active"}, ("entityIds.0", "deleted")),
        ("status", "POST", "/bulk-status", {**body, "status": "paused"}, ("entityIds.0", "deleted")),
        ("delete", "DELETE", path, None, ("entityId", "deleted")),
    ]
    for action, method, address, content, issue in changes:
        if shown is None:
            await server.admin.problem(404, method, address, content)
        elif not accepts(network, shown, action):
            assert await server.admin.read_issues(method, address, content) == {issue}
    edit = {"fields": {"name": "Renamed chairs"}}
    if shown is None:
        await server.admin.problem(404, "POST", f"{path}/edit", edit)
    elif not accepts(network, shown, "edit"):
        ((place, code),) = await server.admin.read_issues("POST", f"{path}/edit", edit)
        assert place in ("fields.name", "entityId") and code in ("locked", "not_supported")
        settings = await server.admin.get(f"{path}/settings")
        assert settings["fields"] and all(one["locked"] for one in settings["fields"])
    assert (await server.rows(), server.networks.writes()) == (rows, writes)


@child_levels
async def test_nothing_is_created_below_a_deleted_entity(server: Served, network: str, kind: str) -> None:
    nodes = await create_campaign(server, network)
    parent = next(one for one in nodes.values() if one["id"] == nodes[kind]["parentId"])
    shown = await delete_entity(server, network, parent["kind"], parent)
    writes = server.networks.writes()
    body = {"payload": {"name": "Chairs"}, "parentId": parent["id"]}
    if shown is None:
        await server.admin.problem(404, "POST", build_path(server, network, kind), body)
    elif not accepts(network, shown, "create"):
        assert await server.admin.read_issues("POST", build_path(server, network, kind), body) == {
            ("parentId", "deleted")
        }
    assert server.networks.writes() == writes


@child_levels
async def test_a_tree_shows_no_entity_without_its_parent(server: Served, network: str, kind: str) -> None:
    """Lists choose by an entity's own status, and a parent that they leave out can be read by its id."""
    nodes = await create_campaign(server, network)
    parent = next(one for one in nodes.values() if one["id"] == nodes[kind]["parentId"])
    shown = await delete_entity(server, network, parent["kind"], parent)
    tree = (await server.admin.get(f"/accounts/{server.accounts[network]}/tree"))["nodes"]
    assert {one["parentId"] for one in tree} - {None} <= {one["id"] for one in tree}
    listed = await server.admin.get(build_path(server, network, kind))
    if any(one["id"] == nodes[kind]["id"] for one in listed) and shown is not None:
        found = await server.admin.get(build_path(server, network, parent["kind"], parent["id"]))
        assert found["status"] == shown["status"]


@networks
async def test_a_deleted_campaign_is_not_activated(server: Served, network: str) -> None:
    """Refused when it is prepared, if the network shows that the campaign is deleted."""
    body = {"accountId": server.accounts[network], "campaign": brief(network)}
    source = await execute_operation(server, await server.admin.post("/create", body, 201))
    (campaign,) = [one for one in source["created"] if one["kind"] == "campaign"]
    shown = await delete_entity(server, network, "campaign", {"id": campaign["entityId"]})
    activation = {"accountId": server.accounts[network], "sourceOperationId": source["id"]}
    if shown is None:
        prepared = await server.admin.post("/activate", activation, 201)
        assert prepared["plan"]["exposure"]["daily"] == "unknown"
    elif not accepts(network, shown, "status"):
        assert await server.admin.read_issues("POST", "/activate", activation) == {("sourceOperationId", "deleted")}
