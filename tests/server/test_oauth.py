"""OAuth for agents: registration, codes, tokens, and what ends a grant. The consent is given behind its page."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest
from attrs import evolve

from adsunify.errors import Forbidden, NotFound
from adsunify.service import oauth_server
from adsunify.service.client_metadata import OAuthError
from adsunify.store import people

from .oauth import REDIRECT, agent
from .served import Served, brief

pytestmark = pytest.mark.asyncio(loop_scope="module")


# -- metadata and registration ------------------------------------------------------------------------------------


async def test_metadata(empty: Served) -> None:
    server = (await empty.http.get("/.well-known/oauth-authorization-server")).json()
    assert server["issuer"] == empty.base_url
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["authorization_response_iss_parameter_supported"] is True
    resource = (await empty.http.get("/.well-known/oauth-protected-resource/api/mcp")).json()
    assert resource["resource"] == f"{empty.base_url}/api/mcp"
    assert resource["authorization_servers"] == [server["issuer"]]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "invalid_redirect_uri"),
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://a.example/#part"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://a.example/cb"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["javascript:alert(1)"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://user@a.example/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://127.0.0.1.evil.example/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": [REDIRECT], "client_name": "a\nb"}, "invalid_request"),
        *(
            ({"redirect_uris": [REDIRECT], "client_name": name}, "invalid_request")
            for name in (
                *("", " ", "\u3164", "Goo\u200bgle", "Goo\u3164gle", "\u2800", "a\ufe0f", "a\u115f", "a\u034fb"),
                *(
                    "\u202eelgooG",
                    "a\u2066b",
                    "\u200fa",
                    "a\U000e0100",
                    "\u0301a",
                    "x\u0301\u0302\u0303",
                    "Z" + "\u0335" * 40,
                ),
            )
        ),
        ({"redirect_uris": [REDIRECT], "x": [0] * 60_000}, "invalid_request"),
        ({"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "client_secret_basic"}, "invalid_request"),
    ],
)
async def test_what_cannot_be_registered(empty: Served, body: Any, error: str) -> None:
    answer = await empty.http.post("/oauth/register", json=body)
    assert (answer.status_code, answer.json()["error"]) == (400, error)


async def test_a_registration_names_a_member_once(empty: Served) -> None:
    body = f'{{"redirect_uris": ["{REDIRECT}"], "redirect_uris": ["https://evil.example/"]}}'
    before = await empty.rows()
    answer = await empty.http.post("/oauth/register", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert await empty.rows() == before


# -- consent ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge": "A" * 42}, "invalid_request"),
        ({"code_challenge": "A" * 42 + "="}, "invalid_request"),
        ({"code_challenge": "é" * 43}, "invalid_request"),
        ({"scope": "ads:read admin"}, "invalid_scope"),
        ({"resource": "https://elsewhere.example/api/mcp"}, "invalid_target"),
    ],
)
async def test_what_is_no_request_for_consent(empty: Served, change: dict[str, str], error: str) -> None:
    client = await agent(empty, **change)
    with pytest.raises(OAuthError) as refused:
        await oauth_server.read_authorization_request(empty.service, client.query)
    assert refused.value.error == error
    assert f"error={error}" in oauth_server.refusal_url(empty.service, client.query, refused.value)


@pytest.mark.parametrize(
    "redirect",
    [
        "http://127.0.0.1:3333/callback/more",
        "http://127.0.0.1:3333/Callback",
        "http://127.0.0.1:3333/callback?x=1",
        "http://localhost:3333/callback",
        "https://127.0.0.1:3333/callback",
        "https://evil.example/callback",
        "",
    ],
)
async def test_nobody_is_sent_to_another_address(empty: Served, redirect: str) -> None:
    client = await agent(empty, redirect_uri=redirect)
    with pytest.raises(NotFound):
        await oauth_server.read_authorization_request(empty.service, client.query)


async def test_a_loopback_address_has_any_port(empty: Served) -> None:
    client = await agent(empty, redirect_uri="http://127.0.0.1:51234/callback")
    assert (await oauth_server.read_authorization_request(empty.service, client.query)).client.name == "Helper"


async def test_who_may_consent(empty: Served) -> None:
    client = await agent(empty)
    authorization = await oauth_server.read_authorization_request(empty.service, client.query)
    viewer, stranger = empty.people["viewer"].actor, empty.people["stranger"].actor
    with pytest.raises(Forbidden):
        await oauth_server.grant_consent(empty.service, authorization, viewer.user_id, viewer.workspace_id, write=True)
    with pytest.raises(Forbidden):
        await oauth_server.grant_consent(
            empty.service, authorization, stranger.user_id, viewer.workspace_id, write=False
        )
    assert (await client.tokens("viewer", write=False))["scope"] == "ads:read"


# -- codes --------------------------------------------------------------------------------------------------------


async def test_a_code_gives_tokens_once(empty: Served) -> None:
    client = await agent(empty)
    code = await client.code()
    answers = await asyncio.gather(*(client.redeem(code) for _ in range(200)))
    assert sorted({answer.status_code for answer in answers}) == [200, 400]
    (good,) = [answer.json() for answer in answers if answer.status_code == 200]
    assert {answer.json()["error"] for answer in answers if answer.status_code == 400} == {"invalid_grant"}
    # the second use was a theft: the tokens of the first are worth nothing any more
    assert (await empty.caller(good["access_token"]).send("GET", "/auth/verify")).status_code == 401
    assert (await client.refresh(good["refresh_token"])).status_code == 400


@pytest.mark.parametrize(
    "change",
    [
        {"code_verifier": "A" * 43},
        {"code_verifier": ""},
        {"redirect_uri": "http://127.0.0.1:3334/callback"},
        {"client_id": "00000000-0000-7000-8000-000000000000"},
        {"code": "x"},
    ],
)
async def test_a_code_is_good_for_its_client_only(empty: Served, change: dict[str, str]) -> None:
    client = await agent(empty)
    form = {"code": await client.code()} | change
    code = form.pop("code")
    answer = await client.redeem(code, **form)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


async def test_a_code_lives_a_minute(empty: Served) -> None:
    client = await agent(empty)
    code = await client.code()
    empty.hands.pass_(seconds=61)
    assert (await client.redeem(code)).json()["error"] == "invalid_grant"


async def test_other_resources_and_kinds(empty: Served) -> None:
    client = await agent(empty)
    answer = await client.redeem(await client.code(), resource="https://elsewhere.example/")
    assert answer.json()["error"] == "invalid_target"
    assert (await client.ask(grant_type="password")).json()["error"] == "unsupported_grant_type"
    twice = await empty.http.post(
        "/oauth/token",
        content=b"grant_type=refresh_token&grant_type=refresh_token",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert twice.json()["error"] == "invalid_request"


@pytest.mark.parametrize(
    "body",
    [
        b"grant_type=authorization_code&code=%FF",
        b"grant_type=authorization_code&code=\xff",
        b"grant_type=authorization_code&code=x&client_id=%00",
        b"&".join(b"a%d=1" % number for number in range(60)),
    ],
)
async def test_what_is_no_form(empty: Served, body: bytes) -> None:
    for path in ("/oauth/token", "/oauth/revoke"):
        for kind in ("application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=nothing"):
            answer = await empty.http.post(path, content=body, headers={"Content-Type": kind})
            assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("token", {"refresh_token": "x"}),
        ("token", {"grant_type": "authorization_code"}),
        ("token", {"grant_type": "authorization_code", "code": ""}),
        ("token", {"grant_type": "refresh_token"}),
        ("revoke", {"access_token": "x"}),
        ("revoke", {"token": ""}),
    ],
)
async def test_what_is_missing_is_said(empty: Served, path: str, form: dict[str, str]) -> None:
    """A misspelled parameter is refused, so that a client does not believe that its grant has ended."""
    answer = await empty.http.post(f"/oauth/{path}", data={"client_id": "x", **form})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


# -- tokens -------------------------------------------------------------------------------------------------------


async def test_both_doors(server: Served) -> None:
    client = await agent(server)
    tokens = await client.tokens("member")
    caller = server.caller(tokens["access_token"])
    who = await caller.get("/auth/verify")
    assert (who["kind"], who["role"], who["canWrite"]) == ("agent", "ads_mcp", True)
    operation = await caller.post("/create", {"accountId": server.accounts["meta"], "campaign": brief("meta")}, 201)
    assert [row["id"] for row in await caller.get("/operations")] == [operation["id"]]
    headers = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {tokens['access_token']}"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert (await server.http.post("/api/mcp", json=message, headers=headers)).status_code == 200
    # its person sees the operation, too; nobody's other agent does
    assert (await server.person("member").get(f"/operations/{operation['id']}"))["id"] == operation["id"]
    other = await (await agent(server)).tokens("member")
    await server.caller(other["access_token"]).problem(404, "GET", f"/operations/{operation['id']}")


async def test_read_only_stays_read_only(server: Served) -> None:
    tokens = await (await agent(server)).tokens(write=False)
    assert tokens["scope"] == "ads:read"
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    await server.caller(tokens["access_token"]).problem(403, "POST", "/create", body)


async def test_an_access_token_lives_an_hour(server: Served) -> None:
    client = await agent(server)
    tokens = await client.tokens()
    server.hands.pass_(minutes=59, seconds=50)
    assert (await server.caller(tokens["access_token"]).send("GET", "/auth/verify")).status_code == 200
    server.hands.pass_(seconds=11)
    assert (await server.caller(tokens["access_token"]).send("GET", "/auth/verify")).status_code == 401
    assert (await client.refresh(tokens["refresh_token"])).status_code == 200


async def test_refresh_tokens_rotate(empty: Served) -> None:
    client = await agent(empty)
    tokens = first = await client.tokens()
    for _ in range(20):
        answer = await client.refresh(tokens["refresh_token"])
        assert answer.status_code == 200
        tokens = answer.json()
    assert (await empty.caller(tokens["access_token"]).send("GET", "/auth/verify")).status_code == 200
    assert (await client.refresh(first["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await client.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await empty.caller(tokens["access_token"]).send("GET", "/auth/verify")).status_code == 401


async def test_two_refreshes_at_once(empty: Served) -> None:
    client = await agent(empty)
    tokens = await client.tokens()
    answers = await asyncio.gather(*(client.refresh(tokens["refresh_token"]) for _ in range(2)))
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
    assert 3590 <= answers[0].json()["expires_in"] <= 3600


async def test_a_token_is_good_for_what_it_is(empty: Served) -> None:
    tokens = await (await agent(empty)).tokens()
    assert (await empty.caller(tokens["refresh_token"]).send("GET", "/auth/verify")).status_code == 401
    before = empty.service.settings
    try:
        empty.service.settings = evolve(before, base_url="https://elsewhere.example")
        assert (await empty.caller(tokens["access_token"]).send("GET", "/auth/verify")).status_code == 401
    finally:
        empty.service.settings = before


# -- what ends a grant --------------------------------------------------------------------------------------------


async def test_grants_are_listed_and_revoked(server: Served) -> None:
    client = await agent(server)
    tokens = await client.tokens("member")
    caller = server.caller(tokens["access_token"])
    (grant,) = [
        row for row in await server.person("member").get("/connected-agents") if row["clientId"] == client.client_id
    ]
    assert (grant["clientName"], grant["canWrite"]) == ("Helper", True)
    path = f"/connected-agents/{grant['grantId']}"
    for stranger in ("stranger", "admin"):
        await server.person(stranger).problem(404, "DELETE", path)
    operation = await caller.post("/create", {"accountId": server.accounts["meta"], "campaign": brief("meta")}, 201)
    await server.person("member").delete(path)
    await caller.problem(401, "POST", f"/operations/{operation['id']}/execute", {"confirmed": True})
    assert (await client.refresh(tokens["refresh_token"])).status_code == 400
    assert grant["grantId"] not in {row["grantId"] for row in await server.person("member").get("/connected-agents")}


async def test_a_new_consent_replaces_the_old(empty: Served) -> None:
    client = await agent(empty)
    old = await client.tokens()
    new = await client.tokens(write=False)
    assert (await empty.caller(old["access_token"]).send("GET", "/auth/verify")).status_code == 401
    assert (await empty.caller(new["access_token"]).send("GET", "/auth/verify")).status_code == 200


async def test_membership_and_time_end_it(empty: Served) -> None:
    await empty.add("leaving", "shop", "member")
    client = await agent(empty)
    tokens = await client.tokens("leaving")
    actor = empty.people["leaving"].actor
    await empty.service.store.write(
        people.remove_membership, actor.workspace_id, actor.user_id, empty.service.store.clock
    )
    assert (await empty.caller(tokens["access_token"]).send("GET", "/auth/verify")).status_code == 401
    assert (await client.refresh(tokens["refresh_token"])).status_code == 400
    two = await agent(empty)
    tokens = await two.tokens()
    empty.hands.pass_(days=90, seconds=1)
    assert (await two.refresh(tokens["refresh_token"])).status_code == 400


async def test_revocation_by_the_client(empty: Served) -> None:
    client = await agent(empty)
    tokens = await client.tokens()
    assert (await empty.http.post("/oauth/revoke", data={"token": "unknown"})).status_code == 200
    assert (await empty.http.post("/oauth/revoke", data={"token": tokens["refresh_token"]})).status_code == 200
    assert (await empty.caller(tokens["access_token"]).send("GET", "/auth/verify")).status_code == 401


async def test_an_agent_is_told_who_it_is_and_when_it_ends(empty: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The token ends within the hour and is renewed; the grant ends for good."""
    tokens = await (await agent(empty)).tokens()
    verification = await empty.caller(tokens["access_token"]).get("/auth/verify")
    (grant,) = [
        grant for grant in await empty.admin.get("/connected-agents") if grant["grantId"] == verification["grantId"]
    ]
    assert (verification["kind"], verification["role"]) == ("agent", "ads_mcp")
    assert (verification["clientId"], verification["clientName"]) == (grant["clientId"], grant["clientName"])
    assert verification["grantExpiresAt"] == grant["expiresAt"]
    left = datetime.fromisoformat(verification["expiresAt"]) - empty.service.now()
    assert timedelta(minutes=50) < left <= timedelta(hours=1)
    monkeypatch.setattr(oauth_server, "GRANT_MILLISECONDS", 10 * 60 * 1000)
    short = await empty.caller((await (await agent(empty)).tokens())["access_token"]).get("/auth/verify")
    assert short["expiresAt"] == short["grantExpiresAt"]  # a token does not outlive its grant


@pytest.mark.parametrize("name", ["Adé", "Ade\u0301", "Trợ lý", "助手", "مساعد", "ผู้ช่วย", "A 🦊"])
async def test_names_of_all_scripts_are_taken(empty: Served, name: str) -> None:
    registration = await empty.http.post("/oauth/register", json={"client_name": name, "redirect_uris": [REDIRECT]})
    assert registration.status_code == 201 and registration.json()["client_name"] == name


@pytest.mark.parametrize("door", ["REST", "MCP"])
async def test_a_read_only_agent_ends_no_other_grant(empty: Served, door: str) -> None:
    reader, other = await agent(empty), await agent(empty)
    token, other_token = (await reader.tokens(write=False))["access_token"], (await other.tokens())["access_token"]
    rows = await empty.admin.get("/connected-agents")
    grants = {row["clientId"]: row["grantId"] for row in rows}
    path = f"/connected-agents/{grants[other.client_id]}"
    if door == "REST":
        for caller in (empty.caller(token), empty.person("admin", "read")):
            problem = await caller.problem(403, "DELETE", path)
            assert problem["code"] == "write_required"
    else:
        arguments = {"operationId": "delete_connected_agent", "path": {"grantId": grants[other.client_id]}}
        call = {"name": "call_tool", "arguments": arguments}
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        answer = await empty.http.post("/api/mcp", json=message, headers=headers)
        assert answer.json()["result"]["structuredContent"]["error"]["code"] == "write_required"
    assert (await empty.caller(other_token).send("GET", "/auth/verify")).status_code == 200
    ended = await empty.caller(token).send("DELETE", f"/connected-agents/{grants[reader.client_id]}")
    assert ended.status_code == 200
    assert (await empty.caller(token).send("GET", "/auth/verify")).status_code == 401
    assert (await empty.person("viewer", "read").send("GET", "/connected-agents")).status_code == 200
