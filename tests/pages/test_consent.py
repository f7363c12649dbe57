"""Consent for agents: who asks, where the answer goes, and what a person may allow."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from adsunify.adapter.oauth import make_code_challenge
from adsunify.service.users import add_member, create_workspace
from adsunify.store.guardrails import freeze_credential, lift_freeze
from tests.server.served import NEVER, Served, connect

from .browsing import Browser, Page, browser, email

pytestmark = pytest.mark.asyncio(loop_scope="module")
BACK = "https://agent.example/callback?kept=1"
VERIFIER = "v" * 43


async def make_consent_address(site: Served, redirect: str = BACK, name: str = "Helper", **changes: str | None) -> str:
    """The address at which a newly registered client asks; ``changes`` replace members, None leaves one out."""
    answer = await site.http.post("/oauth/register", json={"client_name": name, "redirect_uris": [redirect]})
    query: dict[str, str | None] = {
        "response_type": "code",
        "client_id": answer.json()["client_id"],
        "redirect_uri": redirect,
        "code_challenge": make_code_challenge(VERIFIER),
        "code_challenge_method": "S256",
        "scope": "ads:read ads:write",
        "state": "a&b",
        **changes,
    }
    return "/oauth/authorize?" + urlencode({key: value for key, value in query.items() if value is not None})


async def decide(person: Browser, decision: str, **values: str) -> dict[str, str]:
    """Press a button of the consent and return what the client receives."""
    assert person.answer is not None
    sent = {**person.page.forms[-1].fields, "decision": decision, **values}
    answer = await person.http.post(person.at, data=sent, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    going = answer.headers["Location"]
    assert going.startswith("https://agent.example/callback?")
    answer_query = {name: value[0] for name, value in parse_qs(urlsplit(going).query).items()}
    assert (answer_query.pop("kept"), answer_query.pop("state"), answer_query.pop("iss")) == (
        "1",
        "a&b",
        person.base_url,
    )
    return answer_query


async def exchange_code(site: Served, address: str, code: str) -> dict[str, Any]:
    """What a code is exchanged for."""
    client = parse_qs(urlsplit(address).query)["client_id"][0]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK, "client_id": client}
    answer = await site.http.post("/oauth/token", data={**form, "code_verifier": VERIFIER})
    tokens: dict[str, Any] = answer.json()
    return tokens


async def test_it_shows_who_asks_and_where_the_answer_goes(site: Served) -> None:
    consent_address = await make_consent_address(site, name="<script>alert(1)</script>")
    async with browser(site) as person:
        await person.open(consent_address)
        assert person.path == "/sign-in"
        await person.send({"email": email("member"), "password": "correct horse"})
        assert person.path == "/oauth/authorize"
        assert "<script>alert(1)</script>" in person.text and BACK in person.text
        assert "member" in person.text and "shop" in person.text
        assert person.answer is not None
        policy = person.answer.headers["Content-Security-Policy"]
        assert "form-action 'self' https://agent.example;" in policy


@pytest.mark.parametrize(
    ("redirect", "target"),
    [
        ("http://127.0.0.1:4711/x", "http://127.0.0.1:4711"),
        ("http://[::1]:4711/x", "http:"),
        ("https://x.example;script-src 'unsafe-inline'/y", "https:"),
    ],
)
async def test_a_callback_cannot_write_the_policy(site: Served, redirect: str, target: str) -> None:
    async with browser(site) as person:
        await person.sign_in(email("member"))
        await person.open(await make_consent_address(site, redirect))
        assert person.answer is not None
        policy = person.answer.headers["Content-Security-Policy"]
        assert f"form-action 'self' {target};" in policy and "script-src" not in policy


@pytest.mark.parametrize(
    ("name", "scope", "chosen", "granted"),
    [
        ("member", "ads:read ads:write", None, "ads:read"),  # read-only is the default
        ("member", "ads:read ads:write", "write", "ads:read ads:write"),
        ("member", "ads:read", None, "ads:read"),
        ("admin", "ads:read ads:write", "write", "ads:read ads:write"),
        ("viewer", "ads:read ads:write", None, "ads:read"),
    ],
)
async def test_what_is_allowed(site: Served, name: str, scope: str, chosen: str | None, granted: str) -> None:
    consent_address = await make_consent_address(site, scope=scope)
    async with browser(site) as person:
        await person.sign_in(email(name))
        await person.open(consent_address)
        form = person.page.forms[-1]
        offered = {"read", "write"} if name != "viewer" and "write" in scope else {"read"}
        assert form.offered["access"] == offered and form.fields["access"] == "read"
        answer = await decide(person, "allow", **({"access": chosen} if chosen else {}))
        tokens = await exchange_code(site, consent_address, answer["code"])
        assert tokens["scope"] == granted
        verified = await site.caller(tokens["access_token"]).get("/auth/verify")
        assert (verified["kind"], verified["workspace"]) == ("agent", "shop")
        await person.open("/connected-agents")
        words = "read and write" if "write" in granted else "read"
        assert f"Helper {words}" in person.text
        while any(form.action.endswith("/revoke") for form in person.page.forms):
            await person.send(action="/revoke")
        await site.caller(tokens["access_token"]).problem(401, "GET", "/auth/verify")


@pytest.mark.parametrize("name", ["admin", "member"])
async def test_a_new_application_beside_a_frozen_one(site: Served, name: str) -> None:
    """The page names the frozen one. Only an admin can allow the new one; others read who can help."""
    first, second = [await make_consent_address(site, name=title) for title in ("<b>Frozen</b>", "Again")]
    actor, clock = site.people[name].actor, site.service.store.clock
    async with browser(site) as person:
        await person.sign_in(email(name))
        await person.open(first)
        await decide(person, "allow", access="write")
        client_id = parse_qs(urlsplit(first).query)["client_id"][0]
        credential = f"{client_id}:{actor.user_id}"
        await site.service.store.write(freeze_credential, actor.workspace_id, credential, NEVER, None, clock)
        await person.open(second)
        assert (
            'Workspace shop: A guardrail has frozen an application that acts for you: "<b>Frozen</b>".' in person.text
        )
        if name == "admin":
            assert "code" in await decide(person, "allow", access="write")
        else:
            assert "Ask an admin to lift the freeze: admin@shop.example." in person.text
            assert "workspaceId" not in person.page.forms[-1].fields
            sent = {**person.page.forms[-1].fields, "decision": "allow", "workspaceId": actor.workspace_id}
            answer = await person.http.post(person.at, data=sent, follow_redirects=False)
            assert answer.status_code == 403 and "Ask an admin" in answer.text
            assert (await decide(person, "deny"))["error"] == "access_denied"
        await person.open(first)  # a new consent does not lift its freeze, so it needs no notice
        assert "A guardrail has frozen" not in person.text
        await site.service.store.write(lift_freeze, actor, credential, clock)


async def test_what_was_not_offered_is_not_given(site: Served) -> None:
    """A form that was changed by hand: writing for a viewer, writing that was not asked for, a foreign workspace."""
    async with browser(site) as person:
        await person.sign_in(email("viewer"))
        await person.open(await make_consent_address(site))
        sent = {**person.page.forms[-1].fields, "decision": "allow"}
        answer = await person.http.post(person.at, data={**sent, "access": "write"}, follow_redirects=False)
        assert answer.status_code == 403 and "A viewer cannot allow writing." in answer.text
        foreign = site.people["stranger"].actor.workspace_id
        answer = await person.http.post(person.at, data={**sent, "workspaceId": foreign}, follow_redirects=False)
        assert answer.status_code == 403
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        consent_address = await make_consent_address(site, scope="ads:read")
        await person.open(consent_address)
        parameters = await decide(person, "allow", access="write")
        assert (await exchange_code(site, consent_address, parameters["code"]))["scope"] == "ads:read"


async def test_one_of_several_workspaces(site: Served) -> None:
    await create_workspace(site.service.store, "bakery", "ann@bakery.example", None)
    membership = await add_member(site.service.store, "bakery", email("member"), "viewer", None)
    consent_address = await make_consent_address(site)
    async with browser(site) as person:
        await person.sign_in(email("member"))
        await person.open(consent_address)
        assert len(person.page.forms[-1].offered["workspaceId"]) == 2
        answer = await decide(person, "allow", workspaceId=str(membership["workspaceId"]))
        agent = site.caller((await exchange_code(site, consent_address, answer["code"]))["access_token"])
        assert (await agent.get("/auth/verify"))["workspace"] == "bakery"


async def test_all_accounts_unless_some_are_ticked(site: Served) -> None:
    """The page says it, and offers the connected accounts of each workspace."""
    meta, snapchat = await connect(site, "meta"), await connect(site, "snapchat")
    consent_address = await make_consent_address(site)
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(consent_address)
        assert "all ad accounts of the workspace, also those that are connected later" in person.text
        form = person.page.forms[-1]
        boxes = {name.removeprefix("account.") for name in form.offered if name.startswith("account.")}
        assert {meta, snapchat} < boxes and not any(name.startswith("account.") for name in form.fields)
        answer = await decide(person, "allow")
        wide = site.caller((await exchange_code(site, consent_address, answer["code"]))["access_token"])
        assert (await wide.get("/auth/verify"))["scope"] is None
        await person.open("/connected-agents")
        assert "Helper read all accounts" in person.text
        await person.open(consent_address)
        answer = await decide(person, "allow", **{f"account.{meta}": "true"})
        narrow = site.caller((await exchange_code(site, consent_address, answer["code"]))["access_token"])
        assert (await narrow.get("/auth/verify"))["scope"] == {"accountIds": [meta]}
        assert [row["accountId"] for row in await narrow.get("/accounts")] == [meta]
        await wide.problem(401, "GET", "/accounts")
        name = (await narrow.get(f"/accounts/{meta}"))["name"]
        await person.open("/connected-agents")
        assert f"Helper read {name} " in person.text


async def test_ticks_of_another_workspace_do_not_allow_everything(site: Served) -> None:
    account = site.accounts.get("meta") or await connect(site, "meta")
    await create_workspace(site.service.store, "kiosk", "kim@kiosk.example", None)
    membership = await add_member(site.service.store, "kiosk", email("admin"), "admin", None)
    before = await site.rows()
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(await make_consent_address(site))
        assert "Accounts of shop:" in person.text and "Accounts of kiosk:" not in person.text
        grants = (await site.rows())["grants"]
        for ticked in (account, "x", NEVER):
            sent = {**person.page.forms[-1].fields, "decision": "allow", f"account.{ticked}": "true"}
            answer = await person.http.post(
                person.at, data={**sent, "workspaceId": str(membership["workspaceId"])}, follow_redirects=False
            )
            assert (
                answer.status_code == 403
                and "None of the ticked accounts is connected in the chosen workspace." in answer.text
            )
        fields = Page(answer.text).forms[-1].fields
        assert fields["workspaceId"] == membership["workspaceId"]
        sent = {**person.page.forms[-1].fields, "decision": "allow", f"account.{account}": "true"}
        answer = await person.http.post(person.at, data={**sent, "workspaceId": "x"}, follow_redirects=False)
        assert answer.status_code == 403
    assert (await site.rows())["grants"] == grants == before["grants"]


async def test_not_allowed(site: Served) -> None:
    async with browser(site) as person:
        await person.sign_in(email("member"))
        await person.open(await make_consent_address(site))
        answer = await decide(person, "deny")
        assert answer["error"] == "access_denied" and "code" not in answer


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"scope": "everything"}, "invalid_scope"),
        ({"resource": "https://other.example"}, "invalid_target"),
    ],
)
async def test_the_client_is_told_what_is_wrong(site: Served, changes: dict[str, str | None], error: str) -> None:
    async with browser(site) as person:
        await person.sign_in(email("member"))
        consent_address = await make_consent_address(site, **changes)
        answer = await person.http.get(site.base_url + consent_address, follow_redirects=False)
    assert answer.status_code == 303
    assert parse_qs(urlsplit(answer.headers["Location"]).query)["error"] == [error]


@pytest.mark.parametrize(
    "changes",
    [{"client_id": "x"}, {"client_id": None}, {"redirect_uri": "https://evil.example/"}, {"redirect_uri": None}],
)
async def test_nobody_is_sent_to_an_unknown_address(site: Served, changes: dict[str, str | None]) -> None:
    async with browser(site) as person:
        await person.sign_in(email("member"))
        await person.open(await make_consent_address(site, **changes), 404)


async def test_an_address_given_twice(site: Served) -> None:
    async with browser(site) as person:
        await person.sign_in(email("member"))
        await person.open(await make_consent_address(site) + "&redirect_uri=https%3A%2F%2Fevil.example", 422)
