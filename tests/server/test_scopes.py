"""Keys and agents that are bound to networks and accounts: how they are made, and what they reach at each door.

``tests/system/conformance/test_other_workspaces.py`` tries each row of the contract with what lies outside a scope.
"""

from __future__ import annotations

from typing import Any

import pytest
import pytest_asyncio
from attrs import evolve

from adsunify import AsyncAds, KeyScope, NotFound
from adsunify.answers import ScopeView
from tests.databases import LONG_RUN, copy_migrated_database

from .oauth import Client, agent
from .served import NEVER, Caller, Served, brief, connect, make_credentials
from .test_agents import tool

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module", params=LONG_RUN)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    return copy_migrated_database(request.param, request, tmp_path_factory.mktemp("served"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(both: Served) -> Served:
    """Meta, which :func:`both` connects, and Snapchat."""
    await connect(both, "snapchat")
    return both


async def make_key(server: Served, scope: dict[str, Any] | None, caller: Caller | None = None) -> Caller:
    """A write-enabled key of an admin with this scope; without one it is made with plain ``POST /keys``."""
    body: dict[str, Any] = {"name": "bound", "canWrite": True}
    path, more = ("/keys", {}) if scope is None else ("/keys/scoped", {"scope": scope})
    return server.caller((await (caller or server.admin).post(path, body | more, 201))["secret"])


async def read_scope(caller: Caller) -> Any:
    return (await caller.get("/auth/verify"))["scope"]


async def list_networks(caller: Caller) -> set[str]:
    return {account["network"] for account in await caller.get("/accounts")}


async def prepare(server: Served, network: str, caller: Caller | None = None, **headers: str) -> str:
    body = {"accountId": server.accounts[network], "campaign": brief(network)}
    return str((await (caller or server.admin).post("/create", body, 201, **headers))["id"])


# -- keys ---------------------------------------------------------------------------------------------------------


async def test_a_key_shows_its_scope(shop: Served) -> None:
    scope = {"networks": ["meta"], "accountIds": [shop.accounts["meta"]]}
    scoped_key = await shop.admin.post("/keys/scoped", {"name": "bound", "scope": scope}, 201)
    assert (scoped_key["scope"], scoped_key["canWrite"]) == (scope, False)
    scopes = {key["keyId"]: key["scope"] for key in await shop.admin.get("/keys")}
    assert scopes[scoped_key["keyId"]] == scope and None in scopes.values()
    assert await read_scope(shop.caller(scoped_key["secret"])) == scope
    assert await read_scope(shop.admin) is None
    upper = {"accountIds": [shop.accounts["meta"].upper()]}
    assert (await read_scope(await make_key(shop, upper)))["accountIds"] == [shop.accounts["meta"]]


async def test_a_key_reaches_what_is_inside(shop: Served) -> None:
    for scope in ({"networks": ["meta"]}, {"accountIds": [shop.accounts["meta"]]}):
        key = await make_key(shop, scope)
        assert await list_networks(key) == {"meta"}
        assert await key.get("/accounts", network="snapchat") == []
        assert {connection["network"] for connection in await key.get("/connections")} == {"meta"}
        done = await key.execute(await prepare(shop, "meta", key))
        assert done["status"] == "succeeded"
        assert done["id"] in {operation["id"] for operation in await key.get("/operations")}
    (active_connection,) = [
        connection for connection in await key.get("/connections") if connection["status"] == "active"
    ]
    assert active_connection["accounts"] == [shop.accounts["meta"]]  # the login reaches further accounts


async def test_a_new_key_lies_within_the_scope_of_its_maker(shop: Served) -> None:
    meta, snapchat = shop.accounts["meta"], shop.accounts["snapchat"]
    of_network = await make_key(shop, {"networks": ["meta", "google"]})
    assert await read_scope(await make_key(shop, None, of_network)) == {"networks": ["meta", "google"]}
    narrower = await make_key(shop, {"accountIds": [meta]}, of_network)
    assert await read_scope(narrower) == {"networks": ["meta", "google"], "accountIds": [meta]}
    assert await read_scope(await make_key(shop, {"networks": ["meta"]}, narrower)) == {
        "networks": ["meta"],
        "accountIds": [meta],
    }
    body = {"name": "wider", "scope": {"networks": ["meta", "snapchat"]}}
    assert await of_network.read_issues("POST", "/keys/scoped", body) == {("scope.networks.1", "outside_scope")}
    for caller, account in ((of_network, snapchat), (narrower, snapchat), (shop.admin, NEVER)):
        problem = await caller.problem(404, "POST", "/keys/scoped", body | {"scope": {"accountIds": [meta, account]}})
        assert problem["detail"].startswith("scope.accountIds.1: ") and account not in problem["detail"]
    of_others = {"accountIds": [str((await shop.person("stranger").get("/accounts"))[0]["accountId"])]}
    await shop.admin.problem(404, "POST", "/keys/scoped", body | {"scope": of_others})


@pytest.mark.parametrize(
    ("scope", "issue"),
    [
        (None, ("scope", "required")),
        ({}, ("scope", "required")),
        ({"networks": []}, ("scope.networks", "too_few")),
        ({"accountIds": []}, ("scope.accountIds", "too_few")),
        ({"networks": ["myspace"]}, ("scope.networks.0", "not_a_choice")),
        ({"networks": ["meta", "meta"]}, ("scope.networks.1", "duplicate")),
        ({"networks": ["meta"], "users": []}, ("scope.users", "unknown_property")),
    ],
)
async def test_a_scope_says_something(shop: Served, scope: Any, issue: tuple[str, str]) -> None:
    body = {"name": "x"} | ({} if scope is None else {"scope": scope})
    assert await shop.admin.read_issues("POST", "/keys/scoped", body) == {issue}


async def test_an_account_must_be_in_both(shop: Served) -> None:
    scope = {"networks": ["google"], "accountIds": [shop.accounts["meta"]]}
    body = {"name": "nothing", "scope": scope}
    assert await shop.admin.read_issues("POST", "/keys/scoped", body) == {("scope.accountIds.0", "conflict")}


async def test_a_scoped_key_ends_no_wider_key(shop: Served) -> None:
    wide = await shop.admin.post("/keys", {"name": "wide"}, 201)
    key = await make_key(shop, {"networks": ["meta"]})
    child = await key.post("/keys", {"name": "child"}, 201)
    assert {row["scope"] is None for row in await key.get("/keys")} == {False}
    await key.problem(404, "DELETE", f"/keys/{wide['keyId']}")
    assert (await key.delete(f"/keys/{child['keyId']}"))["revokedAt"] is not None
    verified = await key.get("/auth/verify")
    assert (await key.delete(f"/keys/{verified['credential']}"))["revokedAt"] is not None


# -- connecting ---------------------------------------------------------------------------------------------------


async def test_connecting_beyond_the_scope_is_refused(shop: Served) -> None:
    before = await shop.rows()
    request_count = len(shop.networks.requests)
    of_network = await make_key(shop, {"networks": ["meta", "chatgpt"]})
    of_account = await make_key(shop, {"accountIds": [shop.accounts["meta"]]})
    for caller, body in (
        (of_network, {"network": "snapchat"}),
        (of_account, {"network": "meta"}),
        (of_account, {"network": "snapchat"}),
    ):
        problem = await caller.problem(403, "POST", "/connections/authorize", body)
        assert problem["code"] == "outside_scope"
    problem = await of_account.problem(403, "POST", "/connections/credentials", make_credentials("chatgpt"))
    assert (problem["code"], problem["outcome"]) == ("outside_scope", "not_applied")
    assert await shop.rows() == before | {name: before[name] + 2 for name in ("api_keys", "ledger")}
    assert len(shop.networks.requests) == request_count
    await of_network.post("/connections/authorize", {"network": "meta"}, 201)
    chatgpt_connection = await of_network.post("/connections/credentials", make_credentials("chatgpt"), 201)
    assert {connection["network"] for connection in await of_network.get("/connections")} == {"meta", "chatgpt"}
    (account,) = chatgpt_connection["accounts"]
    part = await make_key(shop, {"accountIds": [shop.accounts["meta"]]})
    (active_connection,) = [
        connection for connection in await part.get("/connections") if connection["status"] == "active"
    ]
    problem = await part.problem(403, "DELETE", f"/connections/{active_connection['connectionId']}")
    assert problem["code"] == "outside_scope" and len(shop.networks.requests) > request_count
    whole = await make_key(shop, {"accountIds": [account]})
    assert (await whole.delete(f"/connections/{chatgpt_connection['connectionId']}"))["status"] == "disconnected"
    assert (await shop.admin.get(f"/accounts/{shop.accounts['meta']}"))["status"] == "active"


# -- operations ---------------------------------------------------------------------------------------------------


async def test_nothing_outside_is_written(shop: Served) -> None:
    """In a batch each operation has its own answer."""
    inside, outside = await prepare(shop, "meta"), await prepare(shop, "snapchat")
    key = await make_key(shop, {"networks": ["meta"]})
    writes = shop.networks.count("POST", "snapchat")
    batch = {"operationIds": [outside, inside], "confirmed": True}
    first, second = (await key.post("/operations/execute", batch))["results"]
    assert (first["error"]["status"], first["error"]["code"]) == (404, "not_found")
    assert second["status"] == "succeeded"
    await key.problem(404, "POST", f"/operations/{outside}/cancel", {})
    assert shop.networks.count("POST", "snapchat") == writes
    assert (await shop.admin.get(f"/operations/{outside}"))["status"] == "prepared"


# -- webhooks -----------------------------------------------------------------------------------------------------


async def test_a_webhook_gets_what_its_key_reaches(shop: Served) -> None:
    """A webhook of another key is there only if it is for an account inside."""
    target = f"{shop.base_url}/healthz"
    shop.service.settings = evolve(shop.service.settings, webhook_dev_targets=frozenset({target}))
    meta, snapchat = shop.accounts["meta"], shop.accounts["snapchat"]
    key = await make_key(shop, {"networks": ["snapchat"]})
    await key.problem(404, "POST", "/webhooks", {"url": target, "accountId": meta})
    own, wide, one_inside, one_outside = [
        (await caller.post("/webhooks", {"url": target} | more, 201))["webhookId"]
        for caller, more in (
            (key, {}),
            (shop.admin, {}),
            (shop.admin, {"accountId": snapchat}),
            (shop.admin, {"accountId": meta}),
        )
    ]
    for network in ("meta", "snapchat"):
        await prepare(shop, network)
    queued = [len(await shop.admin.get(f"/webhooks/{id_}/deliveries")) for id_ in (own, wide, one_inside, one_outside)]
    assert queued == [1, 2, 1, 1]
    assert [webhook["webhookId"] for webhook in await key.get("/webhooks")] == [own, one_inside]
    for hidden in (wide, one_outside):
        await key.problem(404, "GET", f"/webhooks/{hidden}/deliveries")
        await key.problem(404, "PATCH", f"/webhooks/{hidden}", {"active": False})
    for id_ in (own, wide, one_inside, one_outside):
        await shop.admin.delete(f"/webhooks/{id_}")


# -- agents -------------------------------------------------------------------------------------------------------


async def allow_accounts(
    server: Served, accounts: list[str] | None, client: Client | None = None
) -> tuple[Client, Any]:
    """A client that the admin allowed for these accounts, and its tokens."""
    client = client or await agent(server)
    return client, await client.tokens(accounts=accounts)


async def test_a_grant_keeps_its_scope(shop: Served) -> None:
    meta = shop.accounts["meta"]
    client, tokens = await allow_accounts(shop, [meta])
    for _ in range(2):
        caller = shop.caller(tokens["access_token"])
        assert await read_scope(caller) == {"accountIds": [meta]}
        assert [account["accountId"] for account in await caller.get("/accounts")] == [meta]
        await caller.problem(404, "GET", f"/accounts/{shop.accounts['snapchat']}/tree")
        tokens = (await client.refresh(tokens["refresh_token"])).json()
    caller = shop.caller(tokens["access_token"])
    (agent_row,) = await caller.get("/connected-agents")
    assert (agent_row["clientId"], agent_row["scope"]) == (client.client_id, {"accountIds": [meta]})
    _, wide = await allow_accounts(shop, None)
    assert {str(row["scope"]) for row in await shop.admin.get("/connected-agents")} >= {"None", str(agent_row["scope"])}
    grant = next(row for row in await shop.admin.get("/connected-agents") if row["scope"] is None)
    await caller.problem(404, "DELETE", f"/connected-agents/{grant['grantId']}")
    assert await list_networks(shop.caller(wide["access_token"])) >= {"meta", "snapchat"}


async def test_a_consent_for_an_account_of_others_is_refused(shop: Served) -> None:
    theirs = str((await shop.person("stranger").get("/accounts"))[0]["accountId"])
    client, before = await agent(shop), await shop.rows()
    for account in (theirs, NEVER):
        with pytest.raises(NotFound):
            await client.grant_consent("admin", True, [account])
    assert await shop.rows() == before


async def test_a_consent_for_no_account_reaches_nothing(shop: Served) -> None:
    _, tokens = await allow_accounts(shop, [])
    assert await shop.caller(tokens["access_token"]).get("/accounts") == []


async def test_a_narrower_consent_does_not_repeat_what_is_now_outside(shop: Served) -> None:
    """An agent's credential is the same over consents, and so are its idempotency keys and its operations."""
    client, tokens = await allow_accounts(shop, None)
    caller = shop.caller(tokens["access_token"])
    body = {"accountId": shop.accounts["snapchat"], "campaign": brief("snapchat")}
    operation_id = (await caller.post("/create", body, 201, **{"Idempotency-Key": "again"}))["id"]
    _, tokens = await allow_accounts(shop, [shop.accounts["meta"]], client)
    caller = shop.caller(tokens["access_token"])
    await caller.problem(404, "POST", "/create", body, headers={"Idempotency-Key": "again"})
    await caller.problem(404, "GET", f"/operations/{operation_id}")
    await caller.problem(404, "POST", f"/operations/{operation_id}/execute", {"confirmed": True})
    assert await caller.get("/operations") == []


async def test_tools_reach_what_rest_reaches(shop: Served) -> None:
    meta, snapchat = shop.accounts["meta"], shop.accounts["snapchat"]
    operation = await prepare(shop, "snapchat")
    _, tokens = await allow_accounts(shop, [meta])
    key = await make_key(shop, {"accountIds": [meta]})
    writes = shop.networks.writes()
    for token in (tokens["access_token"], key.token):
        accounts = (await tool(shop, "account", token))["structuredContent"]["data"]
        assert [account["accountId"] for account in accounts] == [meta]
        status = {"accountId": snapchat, "kind": "campaign", "entityIds": ["1"], "status": "paused"}
        mutation = {"action": "delete", "kind": "campaign", "entityId": "1"}
        calls: dict[str, dict[str, Any]] = {
            "account": {"accountId": snapchat},
            "operation": {"operationId": operation},
            "execute": {"operationId": operation, "confirmed": True},
            "set_status": status,
            "prepare": {"accountId": snapchat, "mutation": mutation},
            "call_tool": {"operationId": "get_account_tree", "path": {"accountId": snapchat}},
        }
        for name, arguments in calls.items():
            result = await tool(shop, name, str(token), **arguments)
            assert result["isError"] is True, name
            assert result["structuredContent"]["error"]["code"] == "not_found", name
    assert shop.networks.writes() == writes


# -- the SDK ------------------------------------------------------------------------------------------------------


async def test_the_client_makes_scoped_keys(shop: Served) -> None:
    meta = shop.accounts["meta"]
    async with AsyncAds(shop.base_url, token=shop.people["admin"].tokens["write"]) as client:
        key = await client.keys.create_scoped(name="sdk", scope=KeyScope(account_ids=[meta]))
    assert isinstance(key.scope, ScopeView)
    assert (key.scope.account_ids, key.scope.networks) == ([meta], None)
    async with AsyncAds(shop.base_url, token=key.secret) as client:
        assert [account.account_id async for account in client.accounts.list()] == [meta]
        with pytest.raises(NotFound):
            await client.accounts.get(shop.accounts["snapchat"])
        verified = await client.auth.verify()
    assert verified.scope == key.scope
