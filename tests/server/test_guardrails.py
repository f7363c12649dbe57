"""Guardrails over HTTP: rules are made, read and changed; they refuse, demand a person, and freeze."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import pytest
from attrs import evolve
from sqlalchemy import Connection, select

from adsunify import AsyncAds
from adsunify.errors import Forbidden, GuardrailRefused
from adsunify.service import guardrails, operations
from adsunify.store.agents import ClientRecord
from adsunify.store.guardrails import find_rules_version, freeze_credential
from adsunify.store.schema import deliveries
from adsunify.values.exact_json import loads

from .oauth import REDIRECT, agent
from .served import NEVER, Caller, Served, brief
from .test_agents import tool
from .test_native import create_campaign

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOTHING = {"daily": None, "lifetime": None}
CONFIRMED = {"confirmed": True}
WHOLE: dict[str, Any] = {
    "name": "Agents start small",
    "scope": {"networks": ["meta"]},
    "currency": "USD",
    "perOperation": {"daily": "50.00", "lifetime": None},
    "perWindow": {"hours": 24, "daily": "200.00", "lifetime": "1000.00"},
    "approvalAbove": {"daily": "25.00", "lifetime": None},
    "maxIncreasePercent": 50,
    "maxBid": "2.50",
    "blockedActions": ["delete"],
    "onBreach": "freeze",
    "otherCurrencies": "allow",
    "active": True,
}


@asynccontextmanager
async def apply_rule(server: Served, **members: Any) -> AsyncIterator[str]:
    """A rule for the time of a test."""
    rule = await server.admin.post("/guardrails", {"name": "For a test", **members}, 201)
    try:
        yield rule["id"]
    finally:
        await server.admin.delete(f"/guardrails/{rule['id']}")
        for freeze in await server.admin.get("/guardrails/freezes"):
            await server.admin.delete(f"/guardrails/freezes/{quote(freeze['credential'], safe='')}")


async def prepare_create(caller: Caller, server: Served, amount: str = "20.50", **members: Any) -> Any:
    """Prepare a campaign of Meta."""
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta", budget__amount=amount)}
    return await caller.post("/create", body, 201, **members)


# -- rules --------------------------------------------------------------------------------------------------------


async def test_a_rule_is_read_as_it_was_written(server: Served) -> None:
    rule = await server.admin.post("/guardrails", WHOLE, 201)
    assert {name: rule[name] for name in WHOLE} == WHOLE
    assert rule["version"] == 1
    path = f"/guardrails/{rule['id']}"
    assert await server.admin.get(path) == rule
    assert await server.admin.get("/guardrails") == [rule]
    assert await server.admin.delete(path) == rule
    await server.admin.problem(404, "GET", path)
    assert await server.admin.get("/guardrails") == []


async def test_a_rule_needs_no_more_than_a_limit(server: Served) -> None:
    async with apply_rule(server, blockedActions=["delete"]) as id_:
        rule = await server.admin.get(f"/guardrails/{id_}")
    assert rule == {
        "id": id_,
        "version": 1,
        "name": "For a test",
        "scope": {},
        "currency": None,
        "perOperation": NOTHING,
        "perWindow": None,
        "approvalAbove": NOTHING,
        "maxIncreasePercent": None,
        "maxBid": None,
        "blockedActions": ["delete"],
        "onBreach": "refuse",
        "otherCurrencies": "refuse",
        "active": True,
    }


@pytest.mark.parametrize(
    ("members", "issues"),
    [
        ({"name": ""}, {("name", "too_short")}),
        ({"name": "\u200b"}, {("name", "blank")}),
        ({"perOperation": {"daily": "5"}}, {("perOperation.lifetime", "required")}),
        ({"perWindow": NOTHING}, {("perWindow.hours", "required")}),
        ({"perWindow": {"hours": 0, **NOTHING}}, {("perWindow.hours", "out_of_range")}),
        ({"perWindow": {"hours": 745, **NOTHING}}, {("perWindow.hours", "out_of_range")}),
        ({"perWindow": {"hours": "24", **NOTHING}}, {("perWindow.hours", "wrong_type")}),
        ({"maxBid": "1000000000000.000001"}, {("maxBid", "too_large")}),
        ({"maxBid": "1e400"}, {("maxBid", "malformed")}),
        ({"maxBid": "NaN"}, {("maxBid", "malformed")}),
        ({"maxBid": "-1"}, {("maxBid", "malformed")}),
        ({"maxBid": 5}, {("maxBid", "wrong_type")}),
        ({"approvalAbove": {"daily": "0.0000001", "lifetime": None}}, {("approvalAbove.daily", "over_precision")}),
        ({"maxIncreasePercent": -1}, {("maxIncreasePercent", "out_of_range")}),
        ({"maxIncreasePercent": "50"}, {("maxIncreasePercent", "wrong_type")}),
        ({"currency": None}, {("currency", "required")}),
        ({"currency": "EUU"}, {("currency", "unknown_currency")}),
        ({"currency": "eur"}, {("currency", "malformed")}),
        ({"blockedActions": ["remove"]}, {("blockedActions.0", "not_a_choice")}),
        ({"blockedActions": ["delete", "delete"]}, {("blockedActions.1", "duplicate")}),
        ({"onBreach": "ban"}, {("onBreach", "not_a_choice")}),
        ({"scope": {"networks": []}}, {("scope.networks", "too_few")}),
        ({"scope": {"networks": ["mета"]}}, {("scope.networks.0", "not_a_choice")}),
        ({"scope": {"accountIds": [NEVER]}}, {("scope.accountIds.0", "not_found")}),
        ({"scope": {"keyIds": [NEVER]}}, {("scope.keyIds.0", "not_found")}),
        ({"scope": {"userIds": [NEVER]}}, {("scope.userIds.0", "not_found")}),
        (
            {"scope": {"clients": [{"clientId": NEVER, "userId": NEVER}]}},
            {("scope.clients.0.clientId", "not_found"), ("scope.clients.0.userId", "not_found")},
        ),
        ({"scope": {"accountId": NEVER}}, {("scope.accountId", "unknown_property")}),
        ({"perOperations": NOTHING}, {("perOperations", "unknown_property")}),
    ],
)
async def test_a_wrong_rule_is_refused(server: Served, members: dict[str, Any], issues: set[tuple[str, str]]) -> None:
    assert await server.admin.read_issues("POST", "/guardrails", WHOLE | members) == issues
    assert await server.admin.get("/guardrails") == []


async def test_a_rule_without_a_limit_is_refused(server: Served) -> None:
    empty = {"name": "Nothing", "currency": "USD", "perOperation": NOTHING, "perWindow": {"hours": 24, **NOTHING}}
    assert await server.admin.read_issues("POST", "/guardrails", empty) == {("", "required")}


@pytest.mark.parametrize(
    ("members", "hint"),
    [
        ({"perOperatoin": NOTHING}, "Did you mean perOperation?"),
        ({"perOperation": {"dayly": "5", "lifetime": None}}, "Did you mean daily?"),
        ({"currency": "EUU"}, "Did you mean EUR?"),
        ({"scope": {"networks": ["gogle"]}}, "Did you mean google?"),
        ({"blockedActions": ["activated"]}, "Did you mean activate?"),
        ({"perOperation": {"daily": "5"}}, "it may be null"),
    ],
)
async def test_an_error_says_what_was_probably_meant(server: Served, members: dict[str, Any], hint: str) -> None:
    problem = await server.admin.problem(422, "POST", "/guardrails", WHOLE | members)
    assert any(hint in issue["message"] for issue in problem["issues"])


async def test_a_change_replaces_what_it_names(server: Served) -> None:
    rule = await server.admin.post("/guardrails", WHOLE, 201)
    path = f"/guardrails/{rule['id']}"

    async def change(**members: Any) -> Any:
        answer = await server.admin.send("PATCH", path, members)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    changed = await change(perOperation={"daily": None, "lifetime": "9"}, active=False)
    assert changed == rule | {"perOperation": {"daily": None, "lifetime": "9.00"}, "active": False, "version": 2}
    changed = await change(perWindow=None, maxBid=None, maxIncreasePercent=None, blockedActions=[], scope={})
    assert (changed["perWindow"], changed["maxBid"], changed["maxIncreasePercent"]) == (None, None, None)
    assert (changed["blockedActions"], changed["scope"], changed["version"]) == ([], {}, 3)
    issues = await server.admin.read_issues("PATCH", path, {"perOperation": NOTHING, "approvalAbove": NOTHING})
    assert issues == {("", "required")}
    assert await server.admin.read_issues("PATCH", path, {"currency": None}) == {("currency", "required")}
    assert await server.admin.read_issues("PATCH", path, {"name": None}) == {("name", "wrong_type")}
    assert await server.admin.get(path) == changed
    await server.admin.delete(path)


async def test_only_admins_change_rules_and_no_agent_reads_them(server: Served) -> None:
    rule = {"name": "No deletions", "blockedActions": ["delete"]}
    async with apply_rule(server, blockedActions=["delete"]) as id_:
        for name, key in (("member", "write"), ("viewer", "write"), ("admin", "read")):
            caller = server.person(name, key)
            assert [row["id"] for row in await caller.get("/guardrails")] == [id_]
            assert (await caller.get(f"/guardrails/{id_}/usage"))["hours"] is None
            for method, path, body in (
                ("POST", "/guardrails", rule),
                ("PATCH", f"/guardrails/{id_}", {"active": False}),
                ("DELETE", f"/guardrails/{id_}", None),
                ("DELETE", f"/guardrails/freezes/{NEVER}", None),
            ):
                assert (await caller.problem(403, method, path, body))["code"] == "admin_required"
        stranger = server.person("stranger")
        assert await stranger.get("/guardrails") == []
        for method, path in (("GET", ""), ("GET", "/usage"), ("DELETE", "")):
            await stranger.problem(404, method, f"/guardrails/{id_}{path}")
        await stranger.problem(404, "PATCH", f"/guardrails/{id_}", {"active": False})


# -- refusing and freezing ----------------------------------------------------------------------------------------


async def test_a_blocked_action_is_neither_prepared_nor_valid(server: Served) -> None:
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    async with apply_rule(server, blockedActions=["create"]) as id_:
        before, event_count = await server.rows(), len(await server.events("rule.triggered"))
        for path in ("/create", "/validate-campaign"):
            problem = await server.admin.problem(403, "POST", path, body)
            assert (problem["code"], problem["outcome"]) == ("guardrail_exceeded", "not_applied")
            (breach,) = problem["guardrails"]
            assert breach == {"guardrailId": id_, "rule": "For a test", "member": "blockedActions"} | dict.fromkeys(
                ("currency", "limit", "used", "asked", "fits")
            )
        events = await server.events("rule.triggered")
        assert len(events) == event_count + 1  # validating records nothing
        assert dict(events[-1].data) == {
            "operationId": None,
            "accountId": server.accounts["meta"],
            "network": "meta",
            "status": "refused",
            "kind": "guardrail",
            "guardrailId": id_,
            "rule": "For a test",
            "member": "blockedActions",
        }
        assert (await server.rows()) == before | {"events": before["events"] + 1}
        mutation = {"action": "status", "kind": "campaign", "entityId": "1", "status": "paused"}
        path = f"/accounts/{server.accounts['meta']}/validate"
        assert (await server.admin.send("POST", path, mutation)).status_code == 404  # another action is not blocked


async def test_a_subscriber_is_told_of_a_refusal(server: Served) -> None:
    url = "http://127.0.0.1:9/rule"
    server.service.settings = evolve(server.service.settings, webhook_dev_targets=frozenset({url}))
    webhook = (await server.admin.post("/webhooks", {"url": url, "events": ["rule.triggered"]}, 201))["webhookId"]
    async with apply_rule(server, name="x" * 100, blockedActions=["create"]):
        body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
        await server.admin.problem(403, "POST", "/create", body)
    (delivery,) = await server.admin.get(f"/webhooks/{webhook}/deliveries")
    assert (delivery["type"], delivery["eventId"]) == ("rule.triggered", (await server.events("rule.triggered"))[-1].id)
    await server.admin.delete(f"/webhooks/{webhook}")


async def test_a_rule_that_was_made_after_the_plan_stops_the_execution(server: Served) -> None:
    operation = await prepare_create(server.admin, server)
    writes = server.networks.writes()
    async with apply_rule(server, blockedActions=["create"]):
        path = f"/operations/{operation['id']}/execute"
        problem = await server.admin.problem(403, "POST", path, CONFIRMED)
        assert (problem["code"], problem["outcome"]) == ("guardrail_exceeded", "not_applied")
        assert problem["operation"]["status"] == "prepared"
        event = (await server.events("rule.triggered"))[-1]
        assert (event.data["operationId"], event.data["status"]) == (operation["id"], "prepared")
        batch = await server.admin.post("/operations/execute", {"operationIds": [operation["id"]], **CONFIRMED})
        assert batch["results"][0]["error"]["guardrails"][0]["member"] == "blockedActions"
    assert server.networks.writes() == writes
    assert (await server.admin.execute(operation["id"]))["status"] == "succeeded"


async def test_a_breach_freezes_the_credential_until_an_admin_lifts_it(server: Served) -> None:
    key_id, secret = await server.key("member")
    caller, other = server.caller(secret), server.person("member")
    operation = await prepare_create(caller, server)
    body = {"accountId": server.accounts["google"], "campaign": brief("google")}
    members = {"blockedActions": ["create"], "scope": {"networks": ["google"]}, "onBreach": "freeze"}
    async with apply_rule(server, **members) as id_:
        await caller.problem(403, "POST", "/validate-campaign", body)
        assert await server.admin.get("/guardrails/freezes") == []  # validating never freezes
        assert (await caller.problem(403, "POST", "/create", body))["code"] == "guardrail_exceeded"
        (freeze,) = await server.admin.get("/guardrails/freezes")
        frozen_at = freeze.pop("frozenAt")
        assert freeze == {"credential": key_id, "guardrailId": id_, "operationId": None}
        for path, more in (("/create", {"accountId": server.accounts["meta"], "campaign": brief("meta")}),):
            problem = await caller.problem(403, "POST", path, more)
            assert problem["code"] == "credential_frozen" and frozen_at in problem["detail"]
        problem = await caller.problem(403, "POST", f"/operations/{operation['id']}/execute", CONFIRMED)
        assert (problem["code"], problem["operation"]["status"]) == ("credential_frozen", "prepared")
        assert (await caller.get(f"/operations/{operation['id']}"))["status"] == "prepared"
        assert (await caller.post(f"/operations/{operation['id']}/cancel", {}))["status"] == "cancelled"
        await prepare_create(other, server)  # another key of the same person
        lifted = await server.admin.delete(f"/guardrails/freezes/{key_id}")
        assert lifted == freeze | {"frozenAt": frozen_at}
        await server.admin.problem(404, "DELETE", f"/guardrails/freezes/{key_id}")
        await prepare_create(caller, server)


async def test_a_frozen_admin_key_makes_no_key_and_lifts_no_freeze(server: Served) -> None:
    key_id, secret = await server.key("admin")
    caller = server.caller(secret)
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    async with apply_rule(server, blockedActions=["create"], scope={"keyIds": [key_id]}, onBreach="freeze") as id_:
        await caller.problem(403, "POST", "/create", body)
        for method, path, sent in (
            ("POST", "/keys", {"name": "twin", "canWrite": True}),
            ("PATCH", f"/guardrails/{id_}", {"scope": {"networks": ["x"]}}),
            ("DELETE", f"/guardrails/{id_}", None),
            ("DELETE", f"/guardrails/freezes/{key_id}", None),
        ):
            assert (await caller.problem(403, method, path, sent))["code"] == "credential_frozen"
        actor = evolve(server.people["admin"].actor, credential=key_id, kind="key")
        with pytest.raises(Forbidden, match="its own freeze"):  # the service checks it as well
            await guardrails.lift_freeze(server.service, actor, credential=key_id)
        assert [freeze["credential"] for freeze in await server.admin.get("/guardrails/freezes")] == [key_id]


async def test_a_frozen_key_is_shown_what_was_written_of_an_operation(server: Served) -> None:
    key_id, secret = await server.key("admin")
    operation = await prepare_create(server.caller(secret), server)
    await server.networks.fault("meta", "status", method="POST", path="/v26.0/act_1001/adsets", value=429)
    await server.admin.execute(operation["id"])
    actor, clock = server.people["admin"].actor, server.service.store.clock
    async with apply_rule(server, blockedActions=["delete"]) as id_:
        await server.service.store.write(freeze_credential, actor.workspace_id, key_id, id_, None, clock)
        path = f"/operations/{operation['id']}/execute"
        problem = await server.caller(secret).problem(403, "POST", path, CONFIRMED)
        assert (problem["code"], problem["outcome"]) == ("credential_frozen", "partly_applied")
        assert problem["appliedSteps"] == ["campaign"]


async def test_a_breach_at_execution_freezes_the_executor(server: Served) -> None:
    key_id, secret = await server.key("admin")
    operation = await prepare_create(server.admin, server)
    async with apply_rule(server, blockedActions=["create"], onBreach="freeze") as id_:
        path = f"/operations/{operation['id']}/execute"
        assert (await server.caller(secret).problem(403, "POST", path, CONFIRMED))["code"] == "guardrail_exceeded"
        (freeze,) = await server.admin.get("/guardrails/freezes")
        assert (freeze["credential"], freeze["guardrailId"], freeze["operationId"]) == (key_id, id_, operation["id"])
    assert (await server.caller(secret).execute(operation["id"]))["status"] == "succeeded"


async def test_a_new_consent_does_not_escape_a_freeze(server: Served) -> None:
    client = await agent(server)
    caller = server.caller((await client.tokens("member"))["access_token"])
    user_id = server.people["member"].actor.user_id
    scope = {"clients": [{"clientId": client.client_id, "userId": user_id}]}
    async with apply_rule(server, blockedActions=["create"], onBreach="freeze", scope=scope):
        await prepare_create(server.person("member"), server)  # the rule is about the agent, not about its user's keys
        body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
        assert (await caller.problem(403, "POST", "/create", body))["code"] == "guardrail_exceeded"
        (freeze,) = await server.admin.get("/guardrails/freezes")
        assert freeze["credential"] == f"{client.client_id}:{user_id}"
        again = server.caller((await client.tokens("member"))["access_token"])
        assert (await again.problem(403, "POST", "/create", body))["code"] == "credential_frozen"
        assert (await again.problem(403, "POST", "/activate", {}))["code"] == "credential_frozen"
        status: dict[str, Any] = {
            "accountId": body["accountId"],
            "kind": "campaign",
            "entityIds": ["1"],
            "status": "paused",
        }
        result = await tool(server, "set_status", str(again.token), **status)
        assert result["structuredContent"]["error"]["code"] == "credential_frozen"
        for path in ("", "/freezes"):
            assert (await again.problem(403, "GET", f"/guardrails{path}"))["code"] == "not_for_agents"
        await server.admin.delete(f"/guardrails/freezes/{freeze['credential']}")
        assert (await again.problem(403, "POST", "/create", body))["code"] == "guardrail_exceeded"


async def test_an_agent_whose_id_is_an_address_is_bound_and_freed(server: Served) -> None:
    """Its freeze is lifted over REST and by the client, whatever characters the address has."""
    url = f"https://agent-maker.example/oauth/{'a' * 400}/client.json;v=1"
    service, user_id = server.service, server.people["member"].actor.user_id
    ends = service.store.clock.wall() + 60_000
    service.client_documents.keep(ClientRecord(url, "Helper", [REDIRECT], 0), ends)
    registered = await agent(server)
    client = evolve(registered, client_id=url, query={**registered.query, "client_id": url})
    caller = server.caller((await client.tokens("member"))["access_token"])
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    scope = {"clients": [{"clientId": url, "userId": user_id}]}
    async with apply_rule(server, blockedActions=["create"], onBreach="freeze", scope=scope):
        await prepare_create(server.person("member"), server)
        for lift in (lift_over_rest, lift_with_client):
            assert (await caller.problem(403, "POST", "/create", body))["code"] == "guardrail_exceeded"
            assert (await caller.problem(403, "POST", "/create", body))["code"] == "credential_frozen"
            (freeze,) = await server.admin.get("/guardrails/freezes")
            assert freeze["credential"] == f"{url}:{user_id}"
            await lift(server, freeze["credential"])
            assert await server.admin.get("/guardrails/freezes") == []


async def lift_over_rest(server: Served, credential: str) -> None:
    await server.admin.delete(f"/guardrails/freezes/{quote(credential, safe='')}")


async def lift_with_client(server: Served, credential: str) -> None:
    async with AsyncAds(server.base_url, token=server.people["admin"].tokens["write"]) as client:
        await client.guardrails.lift(credential)


async def test_a_new_registration_does_not_escape_a_freeze(server: Served) -> None:
    """Another client of the same person needs an admin as long as the freeze lasts; so does a read-only one."""
    actor, clock = server.people["member"].actor, server.service.store.clock
    first, second = await agent(server), await agent(server)
    await first.tokens("member")
    credential = f"{first.client_id}:{actor.user_id}"
    async with apply_rule(server, blockedActions=["create"]) as id_:
        await server.service.store.write(freeze_credential, actor.workspace_id, credential, id_, None, clock)
        before = await server.rows()
        for write in (True, False):
            with pytest.raises(Forbidden, match=r'"Helper".* Ask an admin .* admin@shop\.example') as refusal:
                await second.grant_consent("member", write)
            assert refusal.value.code == "admin_required"
        assert await server.rows() == before
        await first.tokens("member")  # it stays frozen
        await second.tokens("admin")  # the freeze is about another person
        frozen_of_admin = f"{first.client_id}:{server.people['admin'].actor.user_id}"
        await server.service.store.write(freeze_credential, actor.workspace_id, frozen_of_admin, id_, None, clock)
        await second.tokens("admin")
        await server.admin.delete(f"/guardrails/freezes/{credential}")
        await second.tokens("member")


async def test_a_person_is_refused_and_not_frozen(server: Served) -> None:
    person, operation = server.people["member"].actor, await prepare_create(server.person("member"), server)
    async with apply_rule(server, blockedActions=["create"], onBreach="freeze"):
        for _ in range(2):
            with pytest.raises(GuardrailRefused, match="blocks this action"):
                await operations.execute_operation(server.service, person, operation_id=operation["id"], confirmed=True)
        assert await server.admin.get("/guardrails/freezes") == []


# -- amounts ------------------------------------------------------------------------------------------------------


async def execute_creation(server: Served, **members: Any) -> Any:
    """The executed creation of a campaign of Meta, which is paused."""
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta", **members)}
    operation = await server.admin.post("/create", body, 201)
    return await server.admin.execute(operation["id"])


async def prepare_activation(server: Served, source: Any) -> Any:
    body = {"accountId": server.accounts["meta"], "sourceOperationId": source["id"]}
    return await server.admin.post("/activate", body, 201)


async def require_refusal(server: Served, operation: Any, code: str = "guardrail_exceeded") -> list[dict[str, Any]]:
    """The rules by which an execution is refused; nothing is written."""
    writes = server.networks.writes()
    path = f"/operations/{operation['id']}/execute"
    problem = await server.admin.problem(403, "POST", path, CONFIRMED)
    assert (problem["code"], problem["outcome"], server.networks.writes()) == (code, "not_applied", writes)
    assert problem["operation"]["status"] == "prepared"
    return list(problem["guardrails"])


async def approve(server: Served, operation: Any) -> str:
    """Execute as a person who is signed in; the status then."""
    done = await operations.execute_operation(
        server.service, server.people["admin"].actor, operation_id=operation["id"], confirmed=True
    )
    return str(done["status"])


def make_limits(daily: str | None = None, lifetime: str | None = None) -> dict[str, Any]:
    return {"daily": daily, "lifetime": lifetime}


async def test_one_operation_plans_no_more_than_its_limit(server: Served) -> None:
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta", budget__amount="20.50")}
    async with apply_rule(server, currency="USD", perOperation=make_limits("20.49")) as id_:
        for path in ("/create", "/validate-campaign"):
            problem = await server.admin.problem(403, "POST", path, body)
            assert problem["guardrails"] == [
                {
                    "guardrailId": id_,
                    "rule": "For a test",
                    "member": "perOperation.daily",
                    "currency": "USD",
                    "limit": "20.49",
                    "used": None,
                    "asked": "20.50",
                    "fits": "20.49",
                }
            ]
            assert "allows one operation 20.49 USD a day" in problem["detail"]
        answer = await server.admin.send("PATCH", f"/guardrails/{id_}", {"perOperation": make_limits("20.50")})
        assert answer.status_code == 200
        await server.admin.post("/create", body, 201)


async def test_a_window_has_room_for_so_much(server: Served) -> None:
    first, second, third = [await execute_creation(server) for _ in range(3)]
    async with apply_rule(server, currency="USD", perWindow={"hours": 24, **make_limits("50")}) as id_:
        operation = await prepare_activation(server, first)
        assert not any("window" in warning for warning in operation["warnings"])
        other = await prepare_activation(server, second)
        assert (await server.admin.execute(operation["id"]))["status"] == "succeeded"
        assert (await server.admin.execute(other["id"]))["status"] == "succeeded"
        last = await prepare_activation(server, third)
        (warning,) = [warning for warning in last["warnings"] if "window" in warning]
        assert "of which 40.00 is used" in warning and "10.00 would fit" in warning
        (breach,) = await require_refusal(server, last)
        assert {name: breach[name] for name in ("member", "limit", "used", "asked", "fits")} == {
            "member": "perWindow.daily",
            "limit": "50.00",
            "used": "40.00",
            "asked": "20.00",
            "fits": "10.00",
        }
        event = (await server.events("rule.triggered"))[-1]
        assert (event.data["kind"], event.data["member"], event.data["fits"]) == (
            "guardrail",
            "perWindow.daily",
            "10.00",
        )
        usage = await server.admin.get(f"/guardrails/{id_}/usage")
        assert usage["daily"] == {"limit": "50.00", "used": "40.00", "left": "10.00"}
        assert [(use["operationId"], use["daily"], use["unknown"]) for use in usage["uses"]] == [
            (other["id"], "20.00", False),
            (operation["id"], "20.00", False),
        ]
        await server.admin.send("PATCH", f"/guardrails/{id_}", {"perWindow": {"hours": 24, **make_limits("60")}})
        assert (await server.admin.execute(last["id"]))["status"] == "succeeded"


async def test_competing_executions_do_not_share_room(server: Served) -> None:
    sources = [await execute_creation(server) for _ in range(5)]
    async with apply_rule(server, currency="USD", perWindow={"hours": 1, **make_limits("45")}):
        prepared = [await prepare_activation(server, source) for source in sources]
        answers = await asyncio.gather(
            *(server.admin.send("POST", f"/operations/{operation['id']}/execute", CONFIRMED) for operation in prepared)
        )
        assert sorted(answer.status_code for answer in answers) == [200, 200, 403, 403, 403]
        assert {answer.json()["code"] for answer in answers if answer.status_code == 403} == {"guardrail_exceeded"}


async def test_a_full_window_freezes_who_executes(server: Served) -> None:
    source = await execute_creation(server)
    key_id, secret = await server.key("admin")
    window = {"hours": 24, **make_limits("5")}
    async with apply_rule(server, currency="USD", perWindow=window, onBreach="freeze", scope={"keyIds": [key_id]}):
        operation = await prepare_activation(server, source)
        path = f"/operations/{operation['id']}/execute"
        caller = server.caller(secret)
        assert (await caller.problem(403, "POST", path, CONFIRMED))["code"] == "guardrail_exceeded"
        assert (await caller.problem(403, "POST", path, CONFIRMED))["code"] == "credential_frozen"
        (freeze,) = await server.admin.get("/guardrails/freezes")
        assert (freeze["credential"], freeze["operationId"]) == (key_id, operation["id"])
        assert (await server.admin.execute(operation["id"]))["status"] == "succeeded"  # the rule is about one key


async def test_an_amount_without_an_end_does_not_fit_a_lifetime(server: Served) -> None:
    source = await execute_creation(server, schedule={"startAt": "2030-01-15T09:00:00Z"})
    async with apply_rule(server, currency="USD", perWindow={"hours": 24, **make_limits(None, "100000")}):
        operation = await prepare_activation(server, source)
        assert any("an amount without an end" in warning for warning in operation["warnings"])
        (breach,) = await require_refusal(server, operation)
        assert (breach["member"], breach["asked"], breach["fits"]) == ("perWindow.lifetime", "unbounded", None)


async def test_a_person_executes_what_is_above_an_amount(server: Served) -> None:
    source = await execute_creation(server)
    async with apply_rule(server, currency="USD", approvalAbove=make_limits("19.99"), onBreach="freeze"):
        operation = await prepare_activation(server, source)
        (warning,) = [warning for warning in operation["warnings"] if "signed-in person" in warning]
        assert "20.00 USD a day, which is above 19.99" in warning
        (reason,) = await require_refusal(server, operation, "approval_required")
        assert (reason["member"], reason["limit"], reason["asked"]) == ("approvalAbove.daily", "19.99", "20.00")
        result = await tool(server, "execute", str(server.admin.token), operationId=operation["id"], **CONFIRMED)
        content = result["structuredContent"]
        assert (content["approvalRequired"], content["guardrails"], "isError" in result) == (True, [reason], False)
        text = result["content"][0]["text"]
        assert f'"{reason["rule"]}": it exposes or plans 20.00 USD a day, which is above 19.99.' in text
        assert await server.admin.get("/guardrails/freezes") == []  # to need a person is no breach
        assert await approve(server, operation) == "succeeded"


async def test_a_person_executes_what_is_not_known(server: Served) -> None:
    campaign = (await create_campaign(server, "meta"))["campaign"]["id"]
    path = f"/accounts/{server.accounts['meta']}/campaigns/{campaign}"
    async with apply_rule(server, currency="USD", perWindow={"hours": 24, **make_limits("5")}) as id_:
        answer = await server.admin.send("PATCH", path, {"payload": {"iterative_split_test_configs": []}})
        operation = answer.json()["data"]
        assert operation["plan"]["exposure"]["daily"] == "unknown"
        (reason,) = await require_refusal(server, operation, "approval_required")
        assert (reason["member"], reason["asked"]) == ("exposure", "unknown")
        assert await approve(server, operation) == "succeeded"
        usage = await server.admin.get(f"/guardrails/{id_}/usage")
        assert [(use["operationId"], use["daily"], use["unknown"]) for use in usage["uses"]] == [
            (operation["id"], "0", True)
        ]


async def test_two_edits_of_half_are_more_than_half(server: Served) -> None:
    group = (await create_campaign(server, "meta"))["adGroup"]["id"]
    path = f"/accounts/{server.accounts['meta']}/ad-groups/{group}/edit"

    async def edit(amount: str, status: int = 201) -> Any:
        answer = await server.admin.send("POST", path, {"fields": {"budget": amount}})
        assert answer.status_code == status, answer.text
        return answer.json()

    async with apply_rule(server, maxIncreasePercent=50):
        first = (await edit("30.00"))["data"]
        assert (await server.admin.execute(first["id"]))["status"] == "succeeded"
        problem = await edit("45.00", 403)
        (breach,) = problem["guardrails"]
        assert (breach["member"], breach["limit"], breach["asked"], breach["fits"]) == (
            "maxIncreasePercent",
            "30.00",
            "45.00",
            "30.00",
        )
        lower = (await edit("25.00"))["data"]
        assert (await server.admin.execute(lower["id"]))["status"] == "succeeded"
        await edit("30.00")
        server.hands.pass_(hours=26)
        await edit("37.50")
        server.hands.pass_(hours=-26)


async def test_a_lifetime_budget_that_becomes_a_daily_one_cannot_be_compared(server: Served) -> None:
    """The amount is lower, and what can be spent of it is not: a person executes it."""
    body = {"accountId": server.accounts["chatgpt"], "campaign": brief("chatgpt")}  # 600 USD for its life
    creation = await server.admin.execute((await server.admin.post("/create", body, 201))["id"])
    campaign = next(entity["entityId"] for entity in creation["created"] if entity["kind"] == "campaign")
    path = f"/accounts/{body['accountId']}/campaigns/{campaign}"

    async def update(member: str, amount: int) -> Any:
        answer = await server.admin.send("PATCH", path, {"payload": {"budget": {member: amount * 1_000_000}}})
        assert answer.status_code == 201, answer.text
        return answer.json()["data"]

    async with apply_rule(server, maxIncreasePercent=50):
        daily = await update("daily_spend_limit_micros", 500)
        assert float(daily["plan"]["exposure"]["lifetime"]) > 600
        (reason,) = await require_refusal(server, daily, "approval_required")
        assert (reason["member"], reason["asked"]) == ("maxIncreasePercent", "unknown")
        lower = await update("lifetime_spend_limit_micros", 500)
        assert (await server.admin.execute(lower["id"]))["status"] == "succeeded"


async def test_an_edit_that_was_prepared_before_a_decrease_is_stale(server: Served) -> None:
    group = (await create_campaign(server, "meta"))["adGroup"]["id"]
    path = f"/accounts/{server.accounts['meta']}/ad-groups/{group}/edit"
    async with apply_rule(server, maxIncreasePercent=50):
        higher = await server.admin.post(path, {"fields": {"budget": "30.00"}}, 201)
        lower = await server.admin.post(path, {"fields": {"budget": "2.00"}}, 201)
        version = find_rules_version(server.people["admin"].actor.workspace_id)
        before = await server.service.store.run_query(version)
        assert (await server.admin.execute(lower["id"]))["status"] == "succeeded"
        # executions that were evaluated before are evaluated again
        assert await server.service.store.run_query(version) == before + 1
        problem = await server.admin.problem(400, "POST", f"/operations/{higher['id']}/execute", {"confirmed": True})
        assert problem["code"] == "plan_stale"
        refused_again = await server.admin.problem(403, "POST", path, {"fields": {"budget": "30.00"}})
        (breach,) = refused_again["guardrails"]
        assert (breach["member"], breach["asked"], breach["fits"]) == ("maxIncreasePercent", "30.00", "3.00")


async def test_a_bulk_call_counts_as_one_operation(server: Served) -> None:
    groups = [(await create_campaign(server, "meta"))["adGroup"]["id"] for _ in range(2)]
    body = {"accountId": server.accounts["meta"], "kind": "adGroup", "entityIds": groups, "field": "budget"}
    async with apply_rule(server, currency="USD", perOperation=make_limits("15")):
        problem = await server.admin.problem(403, "POST", "/bulk-edit", body | {"mode": "set", "value": 30})
        assert [breach["asked"] for breach in problem["guardrails"]] == ["20.00"]
        await server.admin.post("/bulk-edit", body | {"mode": "set", "value": 27.5}, 201)


async def test_a_bulk_call_counts_as_one_operation_when_it_is_executed(server: Served) -> None:
    """For a rule that was made, and for one that was lowered, after the call was prepared."""
    *groups, alone = [(await create_campaign(server, "meta"))["adGroup"]["id"] for _ in range(3)]
    body = {"accountId": server.accounts["meta"], "kind": "adGroup", "field": "budget", "mode": "set", "value": 30}
    prepared = (await server.admin.post("/bulk-edit", body | {"entityIds": groups}, 201))["operations"]
    (single,) = (await server.admin.post("/bulk-edit", body | {"entityIds": [alone]}, 201))["operations"]
    batch = {"operationIds": [operation["id"] for operation in prepared], **CONFIRMED}
    async with apply_rule(server, currency="USD", perOperation=make_limits("20")) as id_:
        answer = await server.admin.send("PATCH", f"/guardrails/{id_}", {"perOperation": make_limits("19.99")})
        assert answer.status_code == 200
        writes = server.networks.writes()
        for result in (await server.admin.post("/operations/execute", batch))["results"]:
            (breach,) = result["error"]["guardrails"]
            assert (breach["member"], breach["asked"], breach["fits"]) == ("perOperation.daily", "20.00", "19.99")
            assert "All operations of one bulk call count together." in result["error"]["detail"]
        assert server.networks.writes() == writes
        assert (await server.admin.execute(single["id"]))["status"] == "succeeded"
        await server.admin.send("PATCH", f"/guardrails/{id_}", {"perOperation": make_limits("20")})
        done = (await server.admin.post("/operations/execute", batch))["results"]
        assert [result["status"] for result in done] == ["succeeded", "succeeded"]


async def test_an_account_in_another_currency_is_refused_unless_the_rule_allows_it(server: Served) -> None:
    campaign = (await create_campaign(server, "meta"))["campaign"]["id"]
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    pause = {"accountId": server.accounts["meta"], "kind": "campaign", "entityIds": [campaign], "status": "paused"}
    async with apply_rule(server, currency="JPY", perOperation=make_limits("1")) as id_:
        problem = await server.admin.problem(403, "POST", "/create", body)
        assert problem["code"] == "guardrail_currency" and "nothing is converted" in problem["detail"]
        await server.admin.post("/bulk-status", pause, 201)  # what has no amount needs no currency
        await server.admin.send("PATCH", f"/guardrails/{id_}", {"otherCurrencies": "allow"})
        await server.admin.post("/create", body, 201)


async def test_a_key_with_a_scope_makes_rules_inside_it(server: Served) -> None:
    account = server.accounts["meta"]
    body = {"name": "scoped", "canWrite": True, "scope": {"accountIds": [account]}}
    caller = server.caller((await server.admin.post("/keys/scoped", body, 201))["secret"])
    async with apply_rule(server, blockedActions=["delete"]) as everywhere:
        assert await caller.get("/guardrails") == []
        for method, more, change in (("GET", "", None), ("PATCH", "", {"active": False}), ("DELETE", "", None)):
            await caller.problem(404, method, f"/guardrails/{everywhere}{more}", change)
        await caller.problem(404, "GET", f"/guardrails/{everywhere}/usage")
        rule = {"name": "Mine", "blockedActions": ["delete"]}
        assert await caller.read_issues("POST", "/guardrails", rule) == {("scope", "outside_scope")}
        foreign = {"accountIds": [server.accounts["google"]]}
        assert await caller.read_issues("POST", "/guardrails", rule | {"scope": foreign}) == {
            ("scope.accountIds.0", "not_found")
        }
        stored_rule = await caller.post("/guardrails", rule | {"scope": {"accountIds": [account]}}, 201)
        assert await caller.get("/guardrails") == [stored_rule]
        assert await caller.read_issues("PATCH", f"/guardrails/{stored_rule['id']}", {"scope": {}}) == {
            ("scope", "outside_scope")
        }
        await caller.delete(f"/guardrails/{stored_rule['id']}")


async def test_a_key_with_a_scope_reads_no_name_of_a_rule_outside_it(server: Served) -> None:
    """Refusals and warnings have its id instead, and the amounts. Webhooks of such a key have the id as well."""
    source, account = await execute_creation(server), server.accounts["meta"]
    body = {"name": "scoped", "canWrite": True, "scope": {"accountIds": [account]}}
    scoped = server.caller((await server.admin.post("/keys/scoped", body, 201))["secret"])
    url = "http://127.0.0.1:9/scoped"
    server.service.settings = evolve(server.service.settings, webhook_dev_targets=frozenset({url}))
    webhooks = [
        (await caller.post("/webhooks", {"url": url, "events": ["rule.triggered"]}, 201))["webhookId"]
        for caller in (scoped, server.admin)
    ]
    rule: dict[str, Any] = {"name": "Board budget", "currency": "USD"}
    window = {"perWindow": {"hours": 24, **make_limits("5")}, "approvalAbove": make_limits("4")}
    for scope, is_visible in (({}, False), ({"accountIds": [account]}, True)):
        async with apply_rule(server, **rule, scope=scope, perOperation=make_limits("19")) as id_:
            name = rule["name"] if is_visible else id_
            for path, sent in (
                ("/create", {"accountId": account, "campaign": brief("meta")}),
                ("/validate-campaign", {"accountId": account, "campaign": brief("meta")}),
            ):
                problem = await scoped.problem(403, "POST", path, sent)
                (breach,) = problem["guardrails"]
                assert (breach["guardrailId"], breach["rule"]) == (id_, name)
                assert (breach["limit"], breach["asked"], breach["fits"]) == ("19.00", "20.00", "19.00")
                assert f'The guardrail "{name}" allows' in problem["detail"]
                assert is_visible or "Board" not in str(problem)
        bodies = [await server.service.store.read(read_bodies, webhook) for webhook in webhooks]
        assert [[loads(text)["data"]["rule"] for text in texts][-1] for texts in bodies] == [id_, "Board budget"]
        async with apply_rule(server, **rule, scope=scope, **window) as id_:
            name = rule["name"] if is_visible else id_
            operation = await prepare_activation(server, source)
            for caller in (scoped, server.admin):  # a warning is read by others than its maker
                record = await caller.get(f"/operations/{operation['id']}")
                assert sum(f'guardrail "{id_}"' in warning for warning in record["warnings"]) == 2
                assert "Board" not in str(record)
            path = f"/operations/{operation['id']}/execute"
            problem = await scoped.problem(403, "POST", path, CONFIRMED)
            assert (problem["code"], problem["guardrails"][0]["rule"]) == ("approval_required", name)
            await server.admin.send("PATCH", f"/guardrails/{id_}", {"approvalAbove": make_limits()})
            problem = await scoped.problem(403, "POST", path, CONFIRMED)  # the claim refuses it
            (breach,) = problem["guardrails"]
            assert (breach["rule"], breach["member"]) == (name, "perWindow.daily")
            assert (breach["limit"], breach["used"], breach["asked"], breach["fits"]) == ("5.00", "0", "20.00", "5.00")
            assert is_visible or "Board" not in str(problem)
    for webhook in webhooks:
        await server.admin.delete(f"/webhooks/{webhook}")


def read_bodies(connection: Connection, webhook_id: str) -> list[str]:
    """The bodies of a webhook's notifications, oldest first."""
    of_webhook = select(deliveries.c.body).where(deliveries.c.webhook_id == webhook_id).order_by(deliveries.c.id)
    return list(connection.execute(of_webhook).scalars())
