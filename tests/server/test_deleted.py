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
child_levels = pytest.mark.parametrize(("network", "kind"), [level for level in LEVELS if level[1] != "campaign"])


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
    deleted_entity: dict[str, Any] = answer.json()["data"]
    assert deleted_entity["status"] in ("deleted", "archived")
    return deleted_entity


def accepts(network: str, entity: dict[str, Any], action: Action) -> bool:
    """Whether the network's tables say that it accepts the action on the entity that is shown."""
    level = get_level(get_adapter(network).network, entity["kind"])
    return is_action_accepted(level, entity["status"], entity["nativeStatus"], action)


@levels
async def test_a_deleted_entity_is_not_changed(server: Served, network: str, kind: str) -> None:
    """Refused when it is prepared, unless the tables say that the network accepts it, and all settings are locked."""
    node = (await create_campaign(server, network))[kind]
    path = build_path(server, network, kind, node["id"])
    deleted_entity = await delete_entity(server, network, kind, node)
    rows, writes = await server.rows(), server.networks.writes()
    body = {"accountId": server.accounts[network], "kind": kind, "entityIds": [node["id"]]}
    changes: list[tuple[Action, str, str, Any, tuple[str, str]]] = [
        ("status", "POST", "/bulk-status", {**body, "status": "active"}, ("entityIds.0", "deleted")),
        ("status", "POST", "/bulk-status", {**body, "status": "paused"}, ("entityIds.0", "deleted")),
        ("delete", "DELETE", path, None, ("entityId", "deleted")),
    ]
    for action, method, address, content, issue in changes:
        if deleted_entity is None:
            await server.admin.problem(404, method, address, content)
        elif not accepts(network, deleted_entity, action):
            assert await server.admin.read_issues(method, address, content) == {issue}
    edit = {"fields": {"name": "Renamed chairs"}}
    if deleted_entity is None:
        await server.admin.problem(404, "POST", f"{path}/edit", edit)
    elif not accepts(network, deleted_entity, "edit"):
        ((place, code),) = await server.admin.read_issues("POST", f"{path}/edit", edit)
        assert place in ("fields.name", "entityId") and code in ("locked", "not_supported")
        settings = await server.admin.get(f"{path}/settings")
        assert settings["fields"] and all(setting["locked"] for setting in settings["fields"])
    assert (await server.rows(), server.networks.writes()) == (rows, writes)


@child_levels
async def test_nothing_is_created_below_a_deleted_entity(server: Served, network: str, kind: str) -> None:
    nodes = await create_campaign(server, network)
    parent = next(node for node in nodes.values() if node["id"] == nodes[kind]["parentId"])
    deleted_parent = await delete_entity(server, network, parent["kind"], parent)
    writes = server.networks.writes()
    body = {"payload": {"name": "Chairs"}, "parentId": parent["id"]}
    if deleted_parent is None:
        await server.admin.problem(404, "POST", build_path(server, network, kind), body)
    elif not accepts(network, deleted_parent, "create"):
        assert await server.admin.read_issues("POST", build_path(server, network, kind), body) == {
            ("parentId", "deleted")
        }
    assert server.networks.writes() == writes


@child_levels
async def test_a_tree_shows_no_entity_without_its_parent(server: Served, network: str, kind: str) -> None:
    """Lists choose by an entity's own status, and a parent that they leave out can be read by its id."""
    nodes = await create_campaign(server, network)
    parent = next(node for node in nodes.values() if node["id"] == nodes[kind]["parentId"])
    deleted_parent = await delete_entity(server, network, parent["kind"], parent)
    tree = (await server.admin.get(f"/accounts/{server.accounts[network]}/tree"))["nodes"]
    assert {node["parentId"] for node in tree} - {None} <= {node["id"] for node in tree}
    rows = await server.admin.get(build_path(server, network, kind))
    if any(row["id"] == nodes[kind]["id"] for row in rows) and deleted_parent is not None:
        parent_row = await server.admin.get(build_path(server, network, parent["kind"], parent["id"]))
        assert parent_row["status"] == deleted_parent["status"]


@networks
async def test_a_deleted_campaign_is_not_activated(server: Served, network: str) -> None:
    """Refused when it is prepared, if the network shows that the campaign is deleted."""
    body = {"accountId": server.accounts[network], "campaign": brief(network)}
    source = await execute_operation(server, await server.admin.post("/create", body, 201))
    (campaign,) = [entity for entity in source["created"] if entity["kind"] == "campaign"]
    deleted_campaign = await delete_entity(server, network, "campaign", {"id": campaign["entityId"]})
    activation = {"accountId": server.accounts[network], "sourceOperationId": source["id"]}
    if deleted_campaign is None:
        prepared = await server.admin.post("/activate", activation, 201)
        assert prepared["plan"]["exposure"]["daily"] == "unknown"
    elif not accepts(network, deleted_campaign, "status"):
        assert await server.admin.read_issues("POST", "/activate", activation) == {("sourceOperationId", "deleted")}
