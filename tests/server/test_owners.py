"""Whose an entity is: what another account of the same connection has is not there, nor is what is no such thing.

On every network and level, through every endpoint that takes an entity's id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.values.exact_json import dumps
from tests.networks.samples import get_samples

from .served import Served
from .test_native import LEVELS, PATHS, get_campaign, highest_levels, levels, networks

pytestmark = pytest.mark.asyncio(loop_scope="module")
ONE_ACCOUNT = ("chatgpt",)
"""Where a credential reaches one account only."""
Ask = tuple[str, str, Any]


@pytest.fixture(scope="module")
def settings() -> Mapping[str, str]:
    """The server may be asked without end."""
    return {"ADSUNIFY_WRITES_PER_MINUTE": "0"}


def list_requests(account: str, kind: str, entity_id: str) -> list[Ask]:
    """Method, path and body of every request that names the entity."""
    path = f"/accounts/{account}/{PATHS[kind]}/{quote(entity_id, safe='')}"
    edit, payload = {"fields": {"name": "Somebody else's"}}, {"name": "Somebody else's"}
    bulk = {"accountId": account, "kind": kind, "entityIds": [entity_id]}
    named = {"kind": kind, "entityId": entity_id}
    changes = ({"action": "update", "payload": payload}, {"action": "delete"}, {"action": "edit", "edit": edit})
    changes += ({"action": "status", "status": "active"},)
    addressed: list[Ask] = [
        ("GET", path, None),
        ("GET", f"{path}/settings", None),
        ("POST", f"{path}/edit", edit),
        ("PATCH", path, {"payload": payload}),
        ("DELETE", path, None),
    ]
    return [
        *(addressed if entity_id not in (".", "..") else []),  # these a client takes out of an address
        *(("POST", "/bulk-status", {**bulk, "status": status}) for status in ("active", "paused")),
        ("POST", "/bulk-edit", {**bulk, "field": "budget", "mode": "set", "value": 30}),
        *(("POST", f"/accounts/{account}/validate", {**named, **change}) for change in changes),
    ]


def list_requests_below(account: str, kind: str, parent_id: str) -> list[Ask]:
    """Every request that names the entity as the parent of one of this kind."""
    path, payload = f"/accounts/{account}/{PATHS[kind]}", {"name": "Below somebody else's"}
    create = {"action": "create", "kind": kind, "payload": payload, "parentId": parent_id}
    return [
        ("GET", f"{path}?parentId={quote(parent_id, safe='')}", None),
        ("POST", path, {"payload": payload, "parentId": parent_id}),
        ("POST", f"/accounts/{account}/validate", create),
    ]


def list_kinds_below(network: str, kind: str) -> list[str]:
    return [
        level.kind for level in get_adapter(network).network.levels if level.parent_kind == kind and level.kind in PATHS
    ]


async def require_not_found(server: Served, requests: list[Ask]) -> None:
    """Each is answered 404, and nothing is kept or written."""
    rows, writes, wrong = (await server.rows())["operations"], server.networks.writes(), []
    for method, path, body in requests:
        answer = await server.admin.send(method, path, body)
        if answer.status_code != 404 or answer.json()["code"] != "provider_not_found":
            wrong.append((method, path, body, answer.status_code, answer.text[:300]))
    assert not wrong, "\n".join(map(str, wrong))
    assert ((await server.rows())["operations"], server.networks.writes()) == (rows, writes)


async def list_other_accounts(server: Served, network: str) -> list[str]:
    """The other accounts of the connection."""
    accounts = await server.admin.get("/accounts", network=network)
    own = next(account for account in accounts if account["accountId"] == server.accounts[network])
    other_accounts = [
        account["accountId"]
        for account in accounts
        if account["connectionId"] == own["connectionId"] and account is not own and account["status"] == "active"
    ]
    assert bool(other_accounts) is (network not in ONE_ACCOUNT)
    return other_accounts


@highest_levels
async def test_another_accounts_entity_is_not_there(server: Served, network: str, kind: str) -> None:
    node = (await get_campaign(server, network))[kind]
    for account in (await list_other_accounts(server, network))[:2]:
        await require_not_found(server, list_requests(account, kind, node["id"]))
        for child in list_kinds_below(network, kind):
            await require_not_found(server, list_requests_below(account, child, node["id"]))


@highest_levels
async def test_an_entity_of_another_kind_is_not_there(server: Served, network: str, kind: str) -> None:
    account = server.accounts[network]
    for other, node in (await get_campaign(server, network)).items():
        if other != kind:
            await require_not_found(server, list_requests(account, kind, node["id"]))
            for child in list_kinds_below(network, kind):
                await require_not_found(server, list_requests_below(account, child, node["id"]))


MALFORMED: list[Callable[[str], str]] = [
    lambda entity_id: "act_1001",
    lambda entity_id: "me",
    lambda entity_id: "..",
    lambda entity_id: f"{entity_id}/",
    lambda entity_id: f" {entity_id}",
    lambda entity_id: f"{entity_id} ",
    lambda entity_id: f"{entity_id}?fields=id",
    lambda entity_id: f"{entity_id},{entity_id}",
    lambda entity_id: f"{entity_id}' OR 1=1",
    lambda entity_id: "１２３",
]


@highest_levels
async def test_what_is_no_id_is_asked_of_no_network(server: Served, network: str, kind: str) -> None:
    """Each id goes through a third of the requests; over the networks, through all of them."""
    account, own_id = server.accounts[network], (await get_campaign(server, network))[kind]["id"]
    request_count = len(server.networks.requests)
    for number, change in enumerate(MALFORMED, list(ADAPTER_PACKAGES).index(network)):
        entity_id = change(own_id)
        if (kind, entity_id) in get_samples(network).odd_ids:
            continue
        requests = [*list_requests(account, kind, entity_id)]
        for child in list_kinds_below(network, kind):
            requests += list_requests_below(account, child, entity_id)
        await require_not_found(server, requests[number % 3 :: 3])
    assert len(server.networks.requests) == request_count
    for method, path, body in list_requests(account, kind, f"{own_id}\n"):
        assert (await server.admin.send(method, path, body)).status_code in (404, 422)
    assert len(server.networks.requests) == request_count


@levels
async def test_which_of_many_is_not_there(server: Served, network: str, kind: str) -> None:
    own_id = (await get_campaign(server, network))[kind]["id"]
    last = max(index for index, letter in enumerate(own_id) if letter.isdigit())
    missing = own_id[:last] + {"9": "8"}.get(own_id[last], "9") + own_id[last + 1 :]
    if not get_samples(network).has_dense_ids:  # far from every other one's
        missing = missing[: last - 3] + "9999"[: last + 1] + missing[last + 1 :] if last > 3 else missing
    body = {"accountId": server.accounts[network], "kind": kind, "entityIds": [own_id, missing]}
    fields = [
        setting.field
        for setting in get_adapter(network).network.settings
        if setting.level == kind and setting.unit == "money"
    ]
    changes = [("/bulk-status", {"status": "paused"})]
    changes += [("/bulk-edit", {"field": name, "mode": "set", "value": 30}) for name in fields[:1]]
    for path, more in changes:
        problem = await server.admin.problem(404, "POST", path, {**body, **more})
        assert [issue["path"] for issue in problem["issues"]] == ["entityIds.1"], problem
        assert missing in problem["detail"]


@networks
async def test_below_which_parent_a_payload_names(server: Served, network: str) -> None:
    """The native member that names the parent counts as ``parentId`` does."""
    nodes = await get_campaign(server, network)
    for _, kind in [pair for pair in LEVELS if pair[0] == network and pair[1] in nodes]:
        level = next(each for each in get_adapter(network).network.levels if each.kind == kind)
        if not level.parent_kind:
            continue
        member = level.parent.rpartition("/")[2]
        payload = {"name": "Below somebody else's", member: nodes[kind]["native"].get(member)}
        if payload[member] is None:  # where it is nested deeper, or only lists show it
            payload[member] = nodes[level.parent_kind]["id"]
        for account in (await list_other_accounts(server, network))[:1]:
            await require_not_found(server, [("POST", f"/accounts/{account}/{PATHS[kind]}", {"payload": payload})])


async def test_another_marketers_budget_is_not_there(server: Served) -> None:
    """A campaign of Outbrain is of the marketer of its budget, which alone is named."""
    budget = (await server.admin.get(f"/accounts/{server.accounts['outbrain']}/catalogs/budgets"))[0]["id"]
    template = next(template for template in get_adapter("outbrain").network.templates if template.kind == "campaign")
    body = {"payload": {**json.loads(dumps(dict(template.payload))), "budgetId": budget}}
    for account in await list_other_accounts(server, "outbrain"):
        await require_not_found(server, [("POST", f"/accounts/{account}/campaigns", body)])


@pytest.mark.parametrize("kind", ["adGroup", "ad"])
async def test_every_read_says_the_parent(server: Served, kind: str) -> None:
    for network in ADAPTER_PACKAGES:
        if (network, kind) in LEVELS:
            node = (await get_campaign(server, network))[kind]
            path = f"/accounts/{server.accounts[network]}/{PATHS[kind]}/{node['id']}"
            assert (await server.admin.get(path))["parentId"] == node["parentId"] is not None, network
