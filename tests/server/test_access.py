"""Who may do what: every endpoint against every kind of credential, and ids of another workspace everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest

from adsunify.contract import ENDPOINTS, Endpoint
from adsunify.contract.endpoint import Access
from adsunify.store import people
from adsunify.store.guardrails import freeze_credential

from .served import NEVER, Caller, Served, brief

pytestmark = pytest.mark.asyncio(loop_scope="module")

BODIES: dict[str, Any] = {
    "post_keys": {"name": "spare"},
    "post_keys_scoped": {"name": "spare", "scope": {"networks": ["meta"]}},
    "post_connections_authorize": {"network": "meta"},
    "post_connections_credentials": {"network": "chatgpt", "apiKey": "of no value"},
    "post_validate_campaign": {"accountId": NEVER, "campaign": brief("meta")},
    **{name: {"document": {"entities": []}} for name in ("post_diff", "post_apply")},
    "post_create": {"accountId": NEVER, "campaign": brief("meta")},
    "post_activate": {"accountId": NEVER, "sourceOperationId": NEVER},
    "post_operation_execute": {"confirmed": True},
    "post_operations_execute": {"operationIds": [NEVER], "confirmed": True},
    "post_operation_inspect": {},
    "post_operation_cancel": {},
    "post_operation_undo": {},
    "post_operation_resume": {},
    "post_operation_settle": {"step": "campaign", "verdict": "not_applied"},
    "post_launches": {"name": "Spring", "campaign": brief("meta"), "accounts": [{"accountId": NEVER}]},
    **{f"post_launch_{word}": {} for word in ("activate", "pause", "undo", "prepare", "cancel")},
    "post_change_set_cancel": {},
    "post_launch_execute": {"confirmed": True, "digest": "0" * 64},
    "post_change_set_execute": {"confirmed": True, "digest": "0" * 64},
    "post_guardrails": {"name": "No deletions", "blockedActions": ["delete"], "active": False},
    "patch_guardrail": {"active": False},
    "post_alerts": {"name": "Refused ads", "kind": "disapproved", "active": False},
    "patch_alert": {"active": False},
    "post_webhooks": {"url": "https://hooks.example.com/ads"},
    "patch_webhook": {"active": False},
    "post_webhook_test": {},
    "post_webhook_delivery_redeliver": {},
    "post_bulk_status": {"accountId": NEVER, "kind": "campaign", "entityIds": ["1"], "status": "paused"},
    "post_bulk_edit": {
        "accountId": NEVER,
        "kind": "campaign",
        "entityIds": ["1"],
        "field": "budget",
        "mode": "increase",
        "value": 10,
    },
    "post_account_validate": {"action": "delete", "kind": "campaign", "entityId": "1"},
    **{
        f"{method}_account_{kind}": {"payload": {"name": "Chairs"}}
        for method, names in (("post", ("campaigns", "ad_groups", "ads")), ("patch", ("campaign", "ad_group", "ad")))
        for kind in names
    },
    **{f"post_account_{kind}_edit": {"fields": {"name": "Chairs"}} for kind in ("campaign", "ad_group", "ad")},
}
DAYS = {"startDate": "2026-01-01", "endDate": "2026-01-02"}
QUERIES: dict[str, dict[str, str]] = {"get_account_insights": DAYS, "get_insights": DAYS}
ACCESS: dict[str, Access] = {
    "post_keys": "admin",
    "post_keys_scoped": "admin",
    "delete_key": "owner",
    "post_connections_authorize": "admin",
    "post_connections_credentials": "admin",
    "delete_connection": "admin",
    **dict.fromkeys(("post_guardrails", "patch_guardrail", "delete_guardrail"), "admin"),
    "delete_guardrails_freeze": "admin",
    **dict.fromkeys(("post_alerts", "patch_alert", "delete_alert"), "admin"),
    "get_ledger": "auditor",
    "post_create": "write",
    "post_activate": "write",
    "post_operation_execute": "write",
    "post_operations_execute": "write",
    "post_operation_cancel": "write",
    "post_operation_undo": "write",
    "post_operation_resume": "write",
    "post_operation_settle": "write",
    "post_bulk_status": "write",
    "post_apply": "write",
    **{f"post_launch_{word}": "write" for word in ("activate", "pause", "undo", "prepare", "execute", "cancel")},
    **dict.fromkeys(("post_launches", "post_change_set_execute", "post_change_set_cancel"), "write"),
    "post_webhooks": "write",
    "patch_webhook": "write",
    "delete_webhook": "write",
    "post_webhook_test": "write",
    "post_webhook_delivery_redeliver": "write",
    "post_bulk_edit": "write",
    **{f"post_account_{name}": "write" for name in ("campaigns", "ad_groups", "ads")},
    **{f"post_account_{name}_edit": "write" for name in ("campaign", "ad_group", "ad")},
    **{
        f"{method}_account_{name}": "write" for method in ("patch", "delete") for name in ("campaign", "ad_group", "ad")
    },
}
"""docs/spec.md, "Access": whatever is not named here reads."""

MAY: dict[tuple[str, str], set[Access]] = {
    ("viewer", "read"): {"read"},
    ("viewer", "write"): {"read"},
    ("member", "read"): {"read"},
    ("member", "write"): {"read", "write"},
    ("admin", "read"): {"read", "auditor"},
    ("admin", "write"): {"read", "write", "admin", "auditor"},
}
IDS = (
    *("accountId", "sourceOperationId", "operationId", "connectionId", "keyId", "webhookId", "deliveryId", "grantId"),
    *("guardrailId", "alertId", "launchId", "changeSetId"),
)


def parametrize_endpoints(endpoints: Iterable[Endpoint]) -> pytest.MarkDecorator:
    """A test for each of these endpoints."""
    return pytest.mark.parametrize("endpoint", endpoints, ids=lambda endpoint: endpoint.operation_id)


def takes_id(endpoint: Endpoint) -> bool:
    """Whether an id of the workspace stands in its path or body."""
    return not {*endpoint.parameters, *BODIES.get(endpoint.operation_id, ())}.isdisjoint(IDS)


each = parametrize_endpoints(ENDPOINTS)


def make_address(endpoint: Endpoint, **ids: str) -> str:
    """The endpoint's path with ids of nothing, or those given."""
    values = {"network": "meta", "resource": "pages", "entityId": "1"} | ids
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], NEVER), endpoint.path)


async def send_request(caller: Caller, endpoint: Endpoint, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
    answer = await caller.send(
        endpoint.method,
        path,
        BODIES.get(endpoint.operation_id) if body is None else body,
        query=QUERIES.get(endpoint.operation_id),
    )
    content: dict[str, Any] = answer.json()
    return answer.status_code, content


@each
async def test_without_a_valid_token_nothing_is_answered(empty: Served, endpoint: Endpoint) -> None:
    before = await empty.rows()
    expired_id, expired = await empty.key("admin", expires_in=0)
    revoked_id, revoked = await empty.key("admin")
    await empty.admin.delete(f"/keys/{revoked_id}")
    good = empty.people["admin"].tokens["write"]
    other_secret = good[:13] + empty.people["member"].tokens["write"][13:]
    for token in ("garbage", "adu_AAAAAAAA_" + "A" * 43, good[:-1], good + "A", other_secret, "é", expired, revoked):
        status, problem = await send_request(empty.caller(token), endpoint, make_address(endpoint))
        assert (status, problem["code"]) == (401, "unauthenticated"), token
        assert token not in str(problem)
    status, problem = await send_request(empty.caller(None), endpoint, make_address(endpoint))
    assert (status, problem["code"]) == (401, "token_missing")
    after = await empty.rows()
    assert {name: after[name] - before[name] for name in after if after[name] != before[name]} == {
        "api_keys": 2,
        "ledger": 3,
    }
    assert expired_id != revoked_id


async def test_401_says_how(empty: Served) -> None:
    for headers in ({}, {"Authorization": "Basic abc"}, {"Authorization": "Bearer"}, {"Authorization": "Bearer a b"}):
        answer = await empty.caller(None).send("GET", "/keys", headers=headers)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="adsunify"'


async def test_the_scheme_is_named_in_any_case(empty: Served) -> None:
    token = empty.people["viewer"].tokens["read"]
    answer = await empty.caller(None).send("GET", "/keys", headers={"Authorization": f"bearer {token}"})
    assert answer.status_code == 200


@each
async def test_what_each_role_and_key_may(empty: Served, endpoint: Endpoint) -> None:
    needed = ACCESS.get(endpoint.operation_id, "read")
    assert endpoint.access == needed
    for (name, kind), may in MAY.items():
        before = await empty.rows()
        status, body = await send_request(empty.person(name, kind), endpoint, make_address(endpoint))
        if needed in may | {"owner"} and not endpoint.needs_person:
            assert status not in (401, 403), (name, kind, body)
        else:
            lacking = "admin_required" if needed in ("admin", "auditor") else "write_required"
            code = "person_required" if needed in may else lacking
            assert (status, body["code"], body["outcome"]) == (403, code, "not_applied"), (name, kind)
            assert await empty.rows() == before


@each
async def test_a_frozen_admin_key_only_reads_and_cancels(empty: Served, endpoint: Endpoint) -> None:
    """What needs no role is answered as for a read-only key."""
    actor, clock = empty.people["admin"].actor, empty.service.store.clock
    key_id, secret = await empty.key("admin")
    await empty.service.store.write(freeze_credential, actor.workspace_id, key_id, NEVER, None, clock)
    before = await empty.rows()
    status, body = await send_request(empty.caller(secret), endpoint, make_address(endpoint, credential=key_id))
    if endpoint.method_name != "cancel" and endpoint.access in ("write", "admin"):
        code = "person_required" if endpoint.needs_person else "credential_frozen"
        assert (status, body["code"], body["outcome"]) == (403, code, "not_applied")
    else:
        assert status not in (401, 403), body
    assert await empty.rows() == before


async def test_a_frozen_key_ends_itself_and_no_other_key(empty: Served) -> None:
    actor, clock = empty.people["admin"].actor, empty.service.store.clock
    (key_id, secret), (other_id, _) = await empty.key("admin"), await empty.key("admin")
    await empty.service.store.write(freeze_credential, actor.workspace_id, key_id, NEVER, None, clock)
    caller = empty.caller(secret)
    assert (await caller.problem(403, "DELETE", f"/keys/{other_id}"))["code"] == "write_required"
    assert (await caller.delete(f"/keys/{key_id}"))["revokedAt"] is not None


async def test_access_comes_before_input(empty: Served) -> None:
    problem = await empty.person("viewer").problem(403, "POST", "/create", {"nonsense": 1})
    assert "issues" not in problem


async def test_a_key_is_worth_its_owners_role_of_now(empty: Served) -> None:
    store, actor = empty.service.store, empty.people["member"].actor
    caller = empty.person("member")
    body = {"accountId": NEVER, "campaign": brief("meta")}
    await caller.problem(404, "POST", "/create", body)
    await store.write(people.set_membership, actor.workspace_id, actor.user_id, "viewer", store.clock)
    await caller.problem(403, "POST", "/create", body)
    await store.write(people.remove_membership, actor.workspace_id, actor.user_id, store.clock)
    await caller.problem(401, "GET", "/keys")
    await store.write(people.set_membership, actor.workspace_id, actor.user_id, "member", store.clock)
    await caller.problem(404, "POST", "/create", body)


# -- another workspace --------------------------------------------------------------------------------------------


@parametrize_endpoints([endpoint for endpoint in ENDPOINTS if takes_id(endpoint) and not endpoint.needs_person])
async def test_ids_of_another_workspace_are_not_found(server: Served, endpoint: Endpoint) -> None:
    """404 wherever an id stands, in the path or in the body; nothing is said about what exists elsewhere."""
    theirs = await list_foreign_ids(server)
    ids = {name: value for name, value in theirs.items() if name in endpoint.parameters}
    body = BODIES.get(endpoint.operation_id)
    changed = body | {"accountId": theirs["accountId"]} if body is not None and "accountId" in body else body
    before = await server.rows()
    status, problem = await send_request(server.admin, endpoint, make_address(endpoint, **ids), changed)
    assert status == 404, problem
    missing_status, missing = await send_request(server.admin, endpoint, make_address(endpoint), body)
    assert (missing_status, missing["detail"]) == (404, problem["detail"])
    assert await server.rows() == before


async def list_foreign_ids(server: Served) -> dict[str, str]:
    """Ids of everything that the other workspace has."""
    stranger = server.person("stranger")
    if "operationId" not in server.foreign:
        account = server.foreign["meta"]
        created = await stranger.post("/create", {"accountId": account, "campaign": brief("meta")}, 201)
        server.foreign["operationId"] = created["id"]
        rule = {"name": "Theirs", "blockedActions": ["delete"]}
        server.foreign["guardrailId"] = (await stranger.post("/guardrails", rule, 201))["id"]
        alert = {"name": "Theirs", "kind": "disapproved"}
        server.foreign["alertId"] = (await stranger.post("/alerts", alert, 201))["id"]
    return {
        "operationId": server.foreign["operationId"],
        "sourceOperationId": server.foreign["operationId"],
        "accountId": server.foreign["meta"],
        "connectionId": (await stranger.get("/connections"))[0]["connectionId"],
        "keyId": (await stranger.get("/keys"))[0]["keyId"],
        "guardrailId": server.foreign["guardrailId"],
        "alertId": server.foreign["alertId"],
    }


async def test_a_batch_says_not_found_for_each_foreign_operation(server: Served) -> None:
    theirs = (await list_foreign_ids(server))["operationId"]
    batch = await server.admin.post("/operations/execute", {"operationIds": [theirs, NEVER], "confirmed": True})
    assert [result["operationId"] for result in batch["results"]] == [theirs, NEVER]
    assert {result["error"]["code"] for result in batch["results"]} == {"not_found"}


async def test_a_foreign_source_is_not_activatable(server: Served) -> None:
    theirs = (await list_foreign_ids(server))["operationId"]
    body = {"accountId": server.accounts["meta"], "sourceOperationId": theirs}
    assert await server.admin.read_issues("POST", "/activate", body) == {
        ("sourceOperationId", "source_not_activatable")
    }


async def test_lists_show_the_own_workspace_only(server: Served) -> None:
    await list_foreign_ids(server)
    for path, name in (("/keys", "keyId"), ("/connections", "connectionId"), ("/accounts", "accountId")):
        mine = {row[name] for row in await server.admin.get(path)}
        theirs = {row[name] for row in await server.person("stranger").get(path)}
        assert mine and theirs and not mine & theirs
    assert (await list_foreign_ids(server))["operationId"] not in {
        operation["id"] for operation in await server.admin.get("/operations")
    }


async def test_who_sees_and_executes_whose_operations(server: Served) -> None:
    """A member those of his user whatever the key, an admin all; a cancel is the owner's alone."""
    account = server.accounts["meta"]
    body = {"accountId": account, "campaign": brief("meta")}
    by_admin = (await server.admin.post("/create", body, 201))["id"]
    by_member = (await server.person("member").post("/create", body, 201))["id"]
    _, second = await server.key("member")
    for caller, visible_ids in (
        (server.admin, {by_admin, by_member}),
        (server.person("member"), {by_member}),
        (server.caller(second), {by_member}),
        (server.person("member", "read"), {by_member}),
        (server.person("viewer"), set()),
        (server.person("stranger"), set()),
    ):
        listed_ids = {row["id"] for row in await caller.get("/operations")} & {by_admin, by_member}
        assert listed_ids == visible_ids
        for operation_id in (by_admin, by_member):
            answer = await caller.send("GET", f"/operations/{operation_id}")
            assert answer.status_code == (200 if operation_id in visible_ids else 404)
    await server.person("member").problem(404, "POST", f"/operations/{by_admin}/execute", {"confirmed": True})
    await server.person("member").problem(404, "POST", f"/operations/{by_admin}/cancel", {})
    problem = await server.admin.problem(403, "POST", f"/operations/{by_member}/cancel", {})
    assert problem["code"] == "forbidden"
    assert (await server.admin.get(f"/operations/{by_member}"))["status"] == "prepared"
    assert (await server.admin.execute(by_member))["status"] == "succeeded"
    await server.caller(second).problem(404, "POST", f"/operations/{by_admin}/execute", {"confirmed": True})
