"""Discovery, accounts, the native hierarchy and catalogs."""

from __future__ import annotations

from typing import Any

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from tests.networks.samples import get_samples

from .served import NEVER, Served, brief

pytestmark = pytest.mark.asyncio(loop_scope="module")
networks = pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))


def list_kinds(network: str) -> set[str]:
    return set(get_samples(network).kinds)


# -- discovery ----------------------------------------------------------------------------------------------------


async def test_networks(server: Served) -> None:
    networks = await server.admin.get("/networks")
    assert [row["network"] for row in networks] == list(ADAPTER_PACKAGES)
    for row in networks:
        detail = await server.admin.get(f"/networks/{row['network']}")
        assert row.items() <= detail.items()
        assert row["login"]["kind"] == get_adapter(row["network"]).network.login.kind and row["formats"]


@networks
async def test_workflows_are_those_of_the_network(server: Served, network: str) -> None:
    every = await server.admin.get("/workflows")
    rows, samples = [row for row in every if row["network"] == network], get_samples(network)
    assert {row["format"] for row in rows} == samples.formats
    assert {goal for row in rows for goal in row["goals"]} == samples.goals
    assert {period for row in rows for period in row["periods"]} == samples.periods
    assert (await server.admin.get(f"/networks/{network}"))["workflows"] == rows
    for row in rows:
        paths = {requirement["path"] for requirement in row["inputs"]}
        parts = {path.split(".")[0] for path in paths}
        assert parts and parts <= {"bid", "schedule", "targeting", "creative", "platform"}
    assert {row["network"] for row in every} == set(ADAPTER_PACKAGES)


@networks
async def test_what_a_network_declares(server: Served, network: str) -> None:
    declaration = await server.admin.get(f"/networks/{network}")
    kinds = [level["kind"] for level in declaration["levels"]]
    assert kinds[:1] == ["campaign"] and list_kinds(network) <= set(kinds)
    for level in declaration["levels"]:
        assert level["parentKind"] in (None, *kinds)
    assert {setting["level"] for setting in declaration["settings"]} <= set(kinds)
    assert "spend" in {metric["name"] for metric in declaration["metrics"]}
    assert declaration["catalogs"] and declaration["units"]


# -- accounts -----------------------------------------------------------------------------------------------------


async def test_accounts(server: Served) -> None:
    every = await server.admin.get("/accounts")
    by_network = {code: await server.admin.get("/accounts", network=code) for code in ADAPTER_PACKAGES}
    assert sorted(account["accountId"] for account in every) == sorted(
        account["accountId"] for some in by_network.values() for account in some
    )
    for code, some in by_network.items():
        assert some and {account["network"] for account in some} == {code}
        assert {account["nativeId"] for account in some} <= set(server.networks.state.worlds[code].accounts)
    for account in every:
        assert await server.admin.get(f"/accounts/{account['accountId']}") == account
    await server.admin.problem(404, "GET", f"/accounts/{NEVER}")


async def test_a_workspace_without_accounts(server: Served) -> None:
    await server.add("newcomer", "empty", "admin")
    for path in ("/accounts", "/connections", "/operations"):
        assert await server.person("newcomer").get(path) == []


# -- tree ---------------------------------------------------------------------------------------------------------


async def create_entity(server: Served, network: str) -> tuple[str, str]:
    """A created campaign: the account, and the operation."""
    account = server.accounts[network]
    created = await server.admin.post("/create", {"accountId": account, "campaign": brief(network)}, 201)
    assert (await server.admin.execute(created["id"]))["status"] == "succeeded"
    return account, created["id"]


@networks
async def test_the_tree(server: Served, network: str) -> None:
    account, operation = await create_entity(server, network)
    steps = (await server.admin.get(f"/operations/{operation}"))["receipt"]["steps"]
    document = await server.admin.get(f"/accounts/{account}/tree")
    assert (document["accountId"], document["network"], document["truncated"]) == (account, network, False)
    kinds = [level["kind"] for level in document["levels"]]
    assert document["levels"][0]["parentKey"] is None and all(level["parentKey"] for level in document["levels"][1:])
    seen_ids: set[str] = set()
    for node in document["nodes"]:  # parents first
        assert node["kind"] in kinds
        assert node["parentId"] is None or node["parentId"] in seen_ids
        assert (node["parentId"] is None) == (node["kind"] == "campaign")
        seen_ids.add(node["id"])
    assert list_kinds(network) <= {node["kind"] for node in document["nodes"]}
    ids = {node["id"] for node in document["nodes"]}
    made_ids = [step["outputs"]["id"] for step in steps if step["key"] == "campaign" and "id" in step["outputs"]]
    assert ids >= set(made_ids)


EVENTS = {"campaign": "campaign.status_changed", "adGroup": "ad_group.status_changed", "ad": "ad.status_changed"}


@networks
async def test_a_status_that_changed_is_told_once(server: Served, network: str) -> None:
    account, operation = await create_entity(server, network)
    await server.admin.get(f"/accounts/{account}/tree")
    before = {event_type: len(await server.events(event_type)) for event_type in EVENTS.values()}
    body = {"accountId": account, "sourceOperationId": operation}
    activation = await server.admin.post("/activate", body, 201)
    assert (await server.admin.execute(activation["id"]))["status"] == "succeeded"
    for _ in range(2):
        tree = await server.admin.get(f"/accounts/{account}/tree")
    status = {node["id"]: node["status"] for node in tree["nodes"]}
    paused = {level.kind for level in get_adapter(network).network.levels if level.initial_status}
    for kind, event_type in EVENTS.items():
        if kind not in paused & list_kinds(network):  # an entity that is active from its creation does not change
            assert len(await server.events(event_type)) == before[event_type]
            continue
        (event,) = (await server.events(event_type))[before[event_type] :]
        assert (event.account_id, event.data["network"], event.data["status"]) == (account, network, "active")
        assert event.data["before"] == "paused" and status[event.data["entityId"]] == "active"


@networks
async def test_a_tree_that_cannot_be_read(server: Served, network: str) -> None:
    account = server.accounts[network]
    before = await server.rows()
    await server.networks.fault(network, "status", value=500, times=1000)
    problem = await server.admin.problem(400, "GET", f"/accounts/{account}/tree")
    assert (problem["code"], problem["outcome"]) == ("provider_unreadable", "not_applied")
    assert problem["network"]["status"] == 500
    server.networks.state.faults.pending.clear()
    for fault, code in (("html", "provider_unreadable"), ("reset_before", "connection_lost")):
        await server.networks.fault(network, fault, times=1000)
        problem = await server.admin.problem(400, "GET", f"/accounts/{account}/tree")
        assert (problem["code"], problem["outcome"]) == (code, "not_applied")
        server.networks.state.faults.pending.clear()
    assert await server.rows() == before


@pytest.mark.exhaustive
async def test_a_throttled_read_says_how_long(server: Served) -> None:
    await server.networks.fault("amazon", "status", value=429, times=1000)
    answer = await server.admin.send("GET", f"/accounts/{server.accounts['amazon']}/tree")
    server.networks.state.faults.pending.clear()
    assert (answer.status_code, answer.json()["code"]) == (400, "provider_throttled")
    assert int(answer.headers.get("Retry-After", "1")) >= 1


# -- catalogs -----------------------------------------------------------------------------------------------------


async def list_id_pages(server: Served, path: str, **query: Any) -> list[list[str]]:
    """The ids of all pages of a catalog."""
    id_pages, cursor = [], None
    while True:
        more = query | ({} if cursor is None else {"cursor": cursor})
        body = (await server.admin.send("GET", path, query=more)).json()
        id_pages.append([row["id"] for row in body["data"]])
        cursor = body["page"]["nextCursor"]
        if cursor is None:
            return id_pages


@networks
async def test_every_declared_catalog_answers(server: Served, network: str) -> None:
    account, samples = server.accounts[network], get_samples(network)
    for catalog in get_adapter(network).network.catalogs:
        path = f"/accounts/{account}/catalogs/{catalog.resource}"
        sought = samples.catalog_suffixes.get(catalog.resource, "tea")
        answer = await server.admin.send("GET", path if catalog.suffix != "required" else f"{path}:{sought}")
        if catalog.resource in samples.restricted_catalogs:
            assert answer.json()["code"] == "provider_permission_refused"
        else:
            assert answer.status_code in (200, 404), answer.text
        if catalog.suffix == "required":
            assert await server.admin.read_issues("GET", path) == {("resource", "catalog_suffix")}
        if catalog.suffix == "none":
            assert await server.admin.read_issues("GET", f"{path}:tea") == {("resource", "catalog_suffix")}
    path = f"/accounts/{account}/catalogs/nothing"
    assert await server.admin.read_issues("GET", path) == {("resource", "catalog_not_supported")}


@pytest.mark.parametrize(
    ("network", "resource"), [("google", "languages"), ("amazon", "products"), ("meta", "locales")]
)
async def test_pages_are_no_longer_than_asked_for(server: Served, network: str, resource: str) -> None:
    """Whether the network has pages or not: the cursors lead through everything once."""
    path = f"/accounts/{server.accounts[network]}/catalogs/{resource}"
    (whole,) = await list_id_pages(server, path, limit=100)
    assert len(whole) > 3 and len(set(whole)) == len(whole)
    for limit in (1, 2, 3):
        id_pages = await list_id_pages(server, path, limit=limit)
        assert [id_ for page in id_pages for id_ in page] == whole
        assert max(len(page) for page in id_pages) == limit


async def test_a_cursor_is_good_for_its_list_only(server: Served) -> None:
    path = f"/accounts/{server.accounts['google']}/catalogs/languages"
    cursor = (await server.admin.send("GET", path, query={"limit": 2})).json()["page"]["nextCursor"]
    assert (await server.admin.send("GET", path, query={"limit": 2, "cursor": cursor})).status_code == 200
    other = next(
        account["accountId"]
        for account in await server.admin.get("/accounts", network="google")
        if account["accountId"] != server.accounts["google"]
    )
    wrong: list[tuple[str, dict[str, Any]]] = [
        (path, {"limit": 3}),
        (path, {"limit": 2, "search": "e"}),
        (path.replace("languages", "currencies"), {"limit": 2}),
        (path.replace(server.accounts["google"], other), {"limit": 2}),
    ]
    for address, query in wrong:
        issues = await server.admin.read_issues("GET", address, query=query | {"cursor": cursor})
        assert issues == {("cursor", "malformed")}, query
    other_first = "B" if cursor[0] == "A" else "A"
    for forged in ("x", "é", cursor[:-2], other_first + cursor[1:], cursor + "A", "null", "="):
        issues = await server.admin.read_issues("GET", path, query={"limit": 2, "cursor": forged})
        assert issues == {("cursor", "malformed")}, forged


async def test_search(server: Served) -> None:
    languages = f"/accounts/{server.accounts['google']}/catalogs/languages"
    rows = (await server.admin.send("GET", languages, query={"search": "GERM"})).json()["data"]
    assert [row["name"] for row in rows] == ["German"]
    interests = f"/accounts/{server.accounts['meta']}/catalogs/interests"
    by_suffix = (await server.admin.send("GET", f"{interests}:tea")).json()["data"]
    by_search = (await server.admin.send("GET", interests, query={"search": "tea"})).json()["data"]
    assert by_suffix and by_suffix == by_search
