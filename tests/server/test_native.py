"""Native control over REST: lists, entities, settings, and native changes that are prepared, reviewed and executed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.values.exact_json import dumps
from tests.networks.samples import get_samples

from .served import NEVER, Served, brief

pytestmark = pytest.mark.asyncio(loop_scope="module")
networks = pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
PATHS = {"campaign": "campaigns", "adGroup": "ad-groups", "ad": "ads"}
LEVELS = [
    (network, kind)
    for network in ADAPTER_PACKAGES
    for kind in PATHS
    if any(level.kind == kind for level in get_adapter(network).network.levels)
]
levels = pytest.mark.parametrize(("network", "kind"), LEVELS)
highest_levels = pytest.mark.parametrize(
    ("network", "kind"),
    [pair if pair[1] == "campaign" else pytest.param(*pair, marks=pytest.mark.exhaustive) for pair in LEVELS],
)
"""All levels; those below the campaign are left to the session ``exhaustive``."""


async def create_campaign(server: Served, network: str, goal: str = "") -> dict[str, dict[str, Any]]:
    """Create a campaign; what was made, by kind, as the tree shows it."""
    account = server.accounts[network]
    before = {node["id"] for node in (await server.admin.get(f"/accounts/{account}/tree"))["nodes"]}
    body = {"accountId": account, "campaign": brief(network, **({"goal": goal} if goal else {}))}
    operation = await server.admin.post("/create", body, 201)
    done = await server.admin.execute(operation["id"])
    assert done["status"] == "succeeded"
    nodes = (await server.admin.get(f"/accounts/{account}/tree"))["nodes"]
    return {node["kind"]: node for node in nodes if node["id"] not in before}


async def get_campaign(server: Served, network: str, goal: str = "") -> dict[str, dict[str, Any]]:
    """The nodes of a campaign that is created once: for tests that change nothing at the network."""
    if (network, goal) not in server.campaigns:
        server.campaigns[network, goal] = await create_campaign(server, network, goal)
    return server.campaigns[network, goal]


def build_path(server: Served, network: str, kind: str, *more: str) -> str:
    return "/".join((f"/accounts/{server.accounts[network]}/{PATHS[kind]}", *more))


async def execute_operation(server: Served, operation: dict[str, Any]) -> dict[str, Any]:
    operation_row: dict[str, Any] = await server.admin.execute(operation["id"])
    assert operation_row["status"] == "succeeded", operation_row
    return operation_row


# -- reading ------------------------------------------------------------------------------------------------------


@levels
async def test_lists_and_entities_agree_with_the_tree(server: Served, network: str, kind: str) -> None:
    node = (await get_campaign(server, network))[kind]
    path, rows, cursor = build_path(server, network, kind), [], None
    for _ in range(50):
        answer = await server.admin.send("GET", path, query={"limit": "1"} | ({"cursor": cursor} if cursor else {}))
        assert answer.status_code == 200, answer.text
        assert len(answer.json()["data"]) <= 1
        rows += answer.json()["data"]
        cursor = answer.json()["page"]["nextCursor"]
        if cursor is None:
            break
    ids = [row["id"] for row in rows]
    assert len(set(ids)) == len(ids) and node["id"] in ids
    entity = await server.admin.get(f"{path}/{node['id']}")
    assert (entity["kind"], entity["id"], entity["name"], entity["status"]) == (
        kind,
        node["id"],
        node["name"],
        node["status"],
    )


@levels
async def test_what_is_not_there(server: Served, network: str, kind: str) -> None:
    problem = await server.admin.problem(
        404, "GET", build_path(server, network, kind, get_samples(network).missing_ids.get(kind, "999999999999999"))
    )
    assert problem["code"] in ("provider_not_found", "not_found")


async def test_cursors_are_of_their_list(server: Served) -> None:
    for _ in range(2):
        await create_campaign(server, "meta")
    path = build_path(server, "meta", "campaign")
    answer = await server.admin.send("GET", path, query={"limit": "1"})
    cursor = answer.json()["page"]["nextCursor"]
    assert cursor
    refused = {("cursor", "malformed")}
    assert await server.admin.read_issues("GET", path, query={"limit": "2", "cursor": cursor}) == refused
    ads = build_path(server, "meta", "ad")
    assert await server.admin.read_issues("GET", ads, query={"limit": "1", "cursor": cursor}) == refused
    assert await server.admin.read_issues("GET", path, query={"limit": "1", "cursor": cursor[:-2] + "AA"}) == refused


@pytest.mark.parametrize(
    ("query", "issue"),
    [
        ({"limit": "0"}, ("limit", "out_of_range")),
        ({"limit": "101"}, ("limit", "out_of_range")),
        ({"limit": "ten"}, ("limit", "wrong_type")),
        ({"status": "NOT_A_STATUS"}, ("status", "choice")),
        ({"unknown": "1"}, ("unknown", "unknown_property")),
        ({"cursor": "x"}, ("cursor", "malformed")),
    ],
)
async def test_queries_that_are_refused(server: Served, query: dict[str, str], issue: tuple[str, str]) -> None:
    assert await server.admin.read_issues("GET", build_path(server, "meta", "campaign"), query=query) == {issue}


@networks
async def test_a_level_that_the_network_does_not_have(server: Served, network: str) -> None:
    for kind in PATHS:
        if (network, kind) not in LEVELS:
            path = build_path(server, network, kind)
            assert await server.admin.read_issues("GET", path) == {("kind", "level_not_supported")}
            assert await server.admin.read_issues("GET", f"{path}/1") == {("kind", "level_not_supported")}
            native = {"payload": {"name": "Chairs"}}
            assert await server.admin.read_issues("POST", path, native) == {("kind", "level_not_supported")}


@levels
async def test_settings(server: Served, network: str, kind: str) -> None:
    node = (await get_campaign(server, network))[kind]
    settings = await server.admin.get(build_path(server, network, kind, node["id"], "settings"))
    declared = [setting.field for setting in get_adapter(network).network.settings if setting.level == kind]
    assert [field_row["field"] for field_row in settings["fields"]] == declared
    assert (settings["entityId"], settings["kind"]) == (node["id"], kind)


# -- changing -----------------------------------------------------------------------------------------------------


@levels
async def test_a_rename(server: Served, network: str, kind: str) -> None:
    node = (await create_campaign(server, network))[kind]
    path = build_path(server, network, kind, node["id"])
    fields = (await server.admin.get(f"{path}/settings"))["fields"]
    if not any(field_row["field"] == "name" and field_row["locked"] is None for field_row in fields):
        assert (await server.admin.problem(422, "POST", f"{path}/edit", {"fields": {"name": "Renamed chairs"}}))[
            "issues"
        ]
        return
    writes = server.networks.writes()
    operation = await server.admin.post(f"{path}/edit", {"fields": {"name": "Renamed chairs"}}, 201)
    assert (operation["action"], operation["status"]) == ("edit", "prepared")
    assert server.networks.writes() == writes
    changes = [change for step in operation["plan"]["steps"] for change in step["changes"]]
    assert {"field": "name", "before": node["name"], "after": "Renamed chairs"} in changes
    await execute_operation(server, operation)
    assert (await server.admin.get(path))["name"] == "Renamed chairs"


@networks
async def test_a_raised_budget(server: Served, network: str) -> None:
    nodes = await create_campaign(server, network)
    for kind in ("campaign", "adGroup"):
        if kind not in nodes:
            continue
        path = build_path(server, network, kind, nodes[kind]["id"])
        fields = {field_row["field"]: field_row for field_row in (await server.admin.get(f"{path}/settings"))["fields"]}
        budget = fields.get("budget")
        if budget is None or budget["locked"] is not None or budget["value"] is None:
            continue
        body = {
            "accountId": server.accounts[network],
            "kind": kind,
            "entityIds": [nodes[kind]["id"]],
            "field": "budget",
            "mode": "increase",
            "value": 10,
        }
        (operation,) = (await server.admin.post("/bulk-edit", body, 201))["operations"]
        assert (operation["action"], operation["risk"]) == ("edit", "spend")
        await execute_operation(server, operation)
        after = {field_row["field"]: field_row for field_row in (await server.admin.get(f"{path}/settings"))["fields"]}[
            "budget"
        ]["value"]
        assert float(after) == pytest.approx(float(budget["value"]) * 1.1, rel=0.01)
        return
    pytest.fail("no budget can be raised on any level")


@levels
async def test_a_deletion(server: Served, network: str, kind: str) -> None:
    node = (await create_campaign(server, network))[kind]
    path = build_path(server, network, kind, node["id"])
    answer = await server.admin.send("DELETE", path)
    if answer.status_code == 422:  # the network has no such thing, and says so
        assert answer.json()["issues"]
        return
    operation = answer.json()["data"]
    assert (answer.status_code, operation["action"], operation["risk"]) == (201, "delete", "destructive")
    await execute_operation(server, operation)
    gone = await server.admin.send("GET", path)
    assert gone.status_code == 404 or gone.json()["data"]["status"] in ("deleted", "archived")


@networks
async def test_a_native_creation_and_its_update(server: Served, network: str) -> None:
    templates = {template.kind: template for template in get_adapter(network).network.templates}
    assert "campaign" in templates
    path = build_path(server, network, "campaign")
    payload = json.loads(dumps(dict(templates["campaign"].payload)))
    if (parent := get_samples(network).parent_catalog) is not None:
        member, resource = parent
        rows = await server.admin.get(f"/accounts/{server.accounts[network]}/catalogs/{resource}")
        payload[member] = rows[0]["id"]
    operation = await server.admin.post(path, {"payload": payload}, 201)
    assert (operation["action"], operation["risk"]) == ("create", "low")
    done = await execute_operation(server, operation)
    again = await server.admin.read_issues(
        "POST", "/activate", {"accountId": server.accounts[network], "sourceOperationId": done["id"]}
    )
    assert again == {("sourceOperationId", "source_not_activatable")}


@networks
async def test_mutations_are_validated_without_a_trace(server: Served, network: str) -> None:
    node = (await get_campaign(server, network))["campaign"]
    account = server.accounts[network]
    rows, writes = await server.rows(), server.networks.writes()
    change = {"action": "status", "kind": "campaign", "entityId": node["id"], "status": "paused"}
    validation = await server.admin.post(f"/accounts/{account}/validate", change)
    assert (validation["valid"], validation["network"], validation["action"]) == (True, network, "status")
    assert validation["plan"]["steps"]
    assert await server.rows() == rows
    assert server.networks.writes() == writes


MUTATIONS: list[tuple[Any, set[tuple[str, str]]]] = [
    ({}, {("action", "required"), ("kind", "required")}),
    ({"action": "create", "kind": "campaign"}, {("payload", "required")}),
    ({"action": "update", "kind": "ad", "payload": {}}, {("entityId", "required")}),
    ({"action": "delete", "kind": "ad", "entityId": "1", "status": "paused"}, {("status", "conflict")}),
    ({"action": "status", "kind": "ad", "entityId": "1"}, {("status", "required")}),
    ({"action": "status", "kind": "ad", "entityId": "1", "status": "archived"}, {("status", "not_a_choice")}),
    ({"action": "edit", "kind": "ad", "entityId": "1", "edit": {}}, {("edit", "required")}),
    ({"action": "delete", "kind": "keyword", "entityId": "1"}, {("kind", "not_a_choice")}),
    ({"action": "delete", "kind": "ad", "entityId": ""}, {("entityId", "too_short")}),
    (
        {"action": "edit", "kind": "campaign", "entityId": "1", "edit": {"fields": {"nonsense": "1"}}},
        {("edit.fields.nonsense", "not_supported")},
    ),
]


@pytest.mark.parametrize(("body", "issues"), MUTATIONS)
async def test_mutations_that_are_refused(server: Served, body: Any, issues: set[tuple[str, str]]) -> None:
    if body.get("edit", {}).get("fields"):
        body = {**body, "entityId": (await get_campaign(server, "meta"))["campaign"]["id"]}
    path = f"/accounts/{server.accounts['meta']}/validate"
    assert await server.admin.read_issues("POST", path, body) == issues
    assert (
        await server.admin.problem(
            404,
            "POST",
            f"/accounts/{NEVER}/validate",
            {
                **MUTATION,
            },
        )
    )["code"]


MUTATION = {"action": "delete", "kind": "campaign", "entityId": "1"}

EDITS: list[tuple[Any, set[tuple[str, str]]]] = [
    ({}, {("", "required")}),
    ({"fields": {"name": None}}, {("fields.name", "wrong_type")}),
    ({"fields": {"name": True}}, {("fields.name", "wrong_type")}),
    ({"fields": {"name": ["x"]}}, {("fields.name", "wrong_type")}),
    ({"fields": {"x" * 61: "y"}}, {(f"fields.{'x' * 60}", "length")}),
    ({"fields": {"name": "x" * 5001}}, {("fields.name", "length")}),
    ({"unknown": 1}, {("unknown", "unknown_property"), ("", "required")}),
    ({"targeting": {"ageMin": 12}}, {("targeting.ageMin", "out_of_range")}),
    ({"targeting": {"ageMax": 66}}, {("targeting.ageMax", "out_of_range")}),
    ({"targeting": {"ageMin": 40, "ageMax": 30}}, {("targeting.ageMax", "out_of_range")}),
    ({"targeting": {"genders": ["other"]}}, {("targeting.genders.0", "not_a_choice")}),
    ({"targeting": {"locations": [{"id": "1"}]}}, {("targeting.locations.0.name", "required")}),
    (
        {"targeting": {"locations": [{"id": "x" * 301, "name": "y", "radiusKm": 1001}]}},
        {("targeting.locations.0.id", "too_long"), ("targeting.locations.0.radiusKm", "out_of_range")},
    ),
    ({"targeting": {"languages": [{"id": "1", "name": "x"}] * 501}}, {("targeting.languages", "too_many")}),
    ({"creative": {"headline": ""}}, {("creative.headline", "too_short")}),
]


@pytest.mark.parametrize(("body", "issues"), EDITS)
async def test_edits_that_are_refused(server: Served, body: Any, issues: set[tuple[str, str]]) -> None:
    path = build_path(server, "meta", "campaign", "1", "edit")
    before = await server.rows()
    assert await server.admin.read_issues("POST", path, body) == issues
    assert await server.rows() == before


BULK = {"kind": "campaign", "entityIds": ["1"], "field": "budget", "mode": "set", "value": 1}


@pytest.mark.parametrize(
    ("change", "issue"),
    [
        ({"value": 0}, ("value", "out_of_range")),
        ({"value": -1}, ("value", "out_of_range")),
        ({"value": 1_000_000_001}, ("value", "out_of_range")),
        ({"value": "1"}, ("value", "wrong_type")),
        ({"value": True}, ("value", "wrong_type")),
        ({"mode": "double"}, ("mode", "not_a_choice")),
        ({"field": ""}, ("field", "too_short")),
        ({"field": "x" * 61}, ("field", "too_long")),
        ({"entityIds": []}, ("entityIds", "too_few")),
        ({"entityIds": [str(n) for n in range(51)]}, ("entityIds", "too_many")),
        ({"entityIds": ["1", "1"]}, ("entityIds.1", "duplicate")),
    ],
)
async def test_bulk_edits_that_are_refused(server: Served, change: dict[str, Any], issue: tuple[str, str]) -> None:
    body = {"accountId": server.accounts["meta"], **BULK, **change}
    assert await server.admin.read_issues("POST", "/bulk-edit", body) == {issue}


async def test_a_bulk_edit_is_all_or_nothing(server: Served) -> None:
    good = (await get_campaign(server, "meta"))["campaign"]["id"]
    before = await server.rows()
    body = {"accountId": server.accounts["meta"], **BULK, "entityIds": [good]}
    assert await server.admin.read_issues("POST", "/bulk-edit", body) == {("entityIds.0", "locked")}
    assert await server.rows() == before


async def test_a_key_reuses_a_prepared_edit(server: Served) -> None:
    node = (await get_campaign(server, "meta"))["campaign"]
    path = build_path(server, "meta", "campaign", node["id"], "edit")
    first = await server.admin.post(path, {"fields": {"name": "Once only"}}, 201, **{"Idempotency-Key": "edit-once"})
    again = await server.admin.post(path, {"fields": {"name": "Once only"}}, 201, **{"Idempotency-Key": "edit-once"})
    assert again["id"] == first["id"]
    other = await server.admin.send(
        "POST", path, {"fields": {"name": "Another"}}, headers={"Idempotency-Key": "edit-once"}
    )
    assert other.status_code == 409
