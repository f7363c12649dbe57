"""Codes and refresh tokens under attack: in parallel, altered, stolen, late. SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
import os
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pytest
from aiohttp import ClientSession, TCPConnector
from sqlalchemy import select

from adsunify.encryption import make_key_ring
from adsunify.service.oauth_server import ACCESS_PREFIX
from adsunify.store.schema import oauth_tokens
from tests.markers import exhaustive
from tests.pages.browsing import browser, email
from tests.server.oauth import REDIRECT
from tests.server.served import Served, brief

from .agent import Agent, Client, client, request

pytestmark = pytest.mark.asyncio(loop_scope="module")
AT_ONCE = int(os.environ.get("ADSUNIFY_TEST_REDEMPTIONS", "200"))
"""1,000 in the session ``agents``."""


async def has_access(server: Served, token: str) -> bool:
    """Whether an access token is good, at both doors alike."""
    rest = (await server.caller(token).send("GET", "/auth/verify")).status_code
    agents = (await Agent(server, token).post(request("ping"))).status_code
    assert rest == agents and rest in (200, 401)
    return rest == 200


def read_refusal(answer: httpx.Response) -> str:
    assert answer.status_code == 400 and "access_token" not in answer.text, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    error: str = answer.json()["error"]
    return error


async def test_one_code_redeemed_by_everybody_at_once(both: Served) -> None:
    """One gets tokens; and since the others may be thieves (or it is one), what it got is worth nothing."""
    oauth_client = await client(both)
    code = await oauth_client.code()
    form = {
        "grant_type": "authorization_code",
        "client_id": oauth_client.client_id,
        "code": code,
        "redirect_uri": REDIRECT,
        "code_verifier": oauth_client.verifier,
    }
    # aiohttp's client: with hundreds of requests waiting, httpx spends its time on its own queue
    async with ClientSession(both.base_url, connector=TCPConnector(limit=200)) as http:

        async def redeem() -> tuple[int, Any]:
            async with http.post("/oauth/token", data=form) as answer:
                return answer.status, await answer.json()

        answers = await asyncio.gather(*(redeem() for _ in range(AT_ONCE)))
    (tokens,) = [body for status, body in answers if status == 200]
    assert {(status, body["error"]) for status, body in answers if body is not tokens} == {(400, "invalid_grant")}
    assert not await has_access(both, tokens["access_token"])
    assert read_refusal(await oauth_client.refresh(tokens["refresh_token"])) == "invalid_grant"
    assert oauth_client.client_id not in {row["clientId"] for row in await both.admin.get("/connected-agents")}


async def test_a_code_that_is_used_later_again(both: Served) -> None:
    oauth_client = await client(both)
    code = await oauth_client.code()
    tokens = (await oauth_client.redeem(code)).json()
    assert await has_access(both, tokens["access_token"])
    newer = (await oauth_client.refresh(tokens["refresh_token"])).json()
    assert read_refusal(await oauth_client.redeem(code)) == "invalid_grant"
    for pair in (tokens, newer):
        assert not await has_access(both, pair["access_token"])
        assert read_refusal(await oauth_client.refresh(pair["refresh_token"])) == "invalid_grant"


@pytest.mark.parametrize(
    "change",
    [
        {"code_verifier": "A" * 43},
        {"code_verifier": ""},
        {"code_verifier": "the challenge"},
        {"client_id": "another"},
        {"client_id": ""},
        {"redirect_uri": f"{REDIRECT}/more"},
        {"redirect_uri": f"{REDIRECT}?more=1"},
        {"redirect_uri": REDIRECT.replace("callback", "Callback")},
        {"redirect_uri": REDIRECT.replace("http:", "HTTP:")},
        {"redirect_uri": REDIRECT.replace("3333", "3334")},
        {"redirect_uri": REDIRECT.replace("127.0.0.1", "localhost")},
        {"redirect_uri": REDIRECT.replace("callback", "%63allback")},
        {"redirect_uri": quote(REDIRECT, safe="")},
        {"redirect_uri": ""},
        {"code": "x"},
    ],
    ids=str,
)
async def test_whoever_does_not_know_all_gets_nothing(both: Served, change: dict[str, str]) -> None:
    oauth_client = await client(both)
    form = {
        "code": await oauth_client.code(),
        "code_verifier": oauth_client.verifier,
        "redirect_uri": REDIRECT,
    } | change
    if form["code_verifier"] == "the challenge":  # what ``plain`` would have it
        form["code_verifier"] = oauth_client.query["code_challenge"]
    if form.get("client_id") == "another":
        form["client_id"] = (await client(both)).client_id
    assert read_refusal(await oauth_client.ask(grant_type="authorization_code", **form)) == "invalid_grant"


MISSING = {
    "code": "invalid_request",
    "code_verifier": "invalid_grant",
    "redirect_uri": "invalid_grant",
    "client_id": "invalid_grant",
}


async def test_parameters_that_are_left_out(both: Served) -> None:
    oauth_client = await client(both)
    for missing, error in MISSING.items():
        form = {
            "grant_type": "authorization_code",
            "client_id": oauth_client.client_id,
            "code": await oauth_client.code(),
            "code_verifier": oauth_client.verifier,
            "redirect_uri": REDIRECT,
        }
        del form[missing]
        assert read_refusal(await both.http.post("/oauth/token", data=form)) == error
        assert (
            read_refusal(await both.http.post("/oauth/token", data=form | {missing: ""})) == error
        )  # RFC 6749 section 3.2


async def test_a_code_is_over_after_a_minute(both: Served) -> None:
    oauth_client = await client(both)
    codes = [await oauth_client.code(), await oauth_client.code()]
    both.hands.pass_(seconds=50)
    assert "access_token" in (await oauth_client.redeem(codes[1])).json()
    late = await client(both)
    code = await late.code()
    both.hands.pass_(seconds=61)
    assert read_refusal(await late.redeem(code)) == "invalid_grant"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": ""}, "invalid_request"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"resource": "https://elsewhere.example/api/mcp"}, "invalid_target"),
    ],
    ids=str,
)
async def test_no_consent_without_proof(both: Served, change: dict[str, str], error: str) -> None:
    """Told to the client at its own address, by GET, with our name."""
    oauth_client = await client(both, **change)
    async with browser(both) as person:
        await person.sign_in(email("admin"))
        address = f"{both.base_url}/oauth/authorize?{urlencode(oauth_client.query)}"
        answer = await person.http.get(address, follow_redirects=False)
    assert answer.status_code == 303 and answer.headers["Location"].startswith(f"{REDIRECT}?error={error}&")
    assert urlencode({"iss": both.base_url}) in answer.headers["Location"]


@pytest.mark.parametrize(
    "redirect",
    [
        f"{REDIRECT}/more",
        f"{REDIRECT}/../elsewhere",
        f"{REDIRECT}?more=1",
        REDIRECT.replace("callback", "Callback"),
        REDIRECT.replace("callback", "%63allback"),
        REDIRECT.replace("127.0.0.1", "127.0.0.1.evil.example"),
        REDIRECT.replace("127.0.0.1", "evil.example@127.0.0.1"),
        REDIRECT.replace("127.0.0.1", "localhost"),
        REDIRECT.replace("http:", "https:"),
        "https://evil.example/callback",
        "javascript:alert(1)",
        "",
    ],
)
async def test_nobody_is_sent_elsewhere(both: Served, redirect: str) -> None:
    oauth_client = await client(both, redirect_uri=redirect)
    async with browser(both) as person:
        await person.sign_in(email("admin"))
        await person.open("/oauth/authorize?" + urlencode(oauth_client.query), 404)
        assert person.path == "/oauth/authorize"


# -- refresh tokens -----------------------------------------------------------------------------------------------


async def rotate_tokens(oauth_client: Client, tokens: dict[str, Any], times: int) -> list[dict[str, Any]]:
    """All tokens of so many rotations, the first ones first."""
    rotations = [tokens]
    for _ in range(times):
        answer = await oauth_client.refresh(rotations[-1]["refresh_token"])
        assert answer.status_code == 200, answer.text
        rotations.append(answer.json())
    return rotations


@pytest.mark.parametrize("stolen", [0, exhaustive(50), exhaustive(99)])
async def test_an_old_refresh_token_ends_the_family(both: Served, stolen: int) -> None:
    """Rotated a hundred times; within the one request that uses an old one, all of them are worth nothing."""
    oauth_client = await client(both)
    family = await rotate_tokens(oauth_client, await oauth_client.tokens(), 100)
    assert (
        len({tokens["refresh_token"] for tokens in family}) == len({tokens["access_token"] for tokens in family}) == 101
    )
    assert await has_access(both, family[-1]["access_token"])
    both.hands.pass_(seconds=31)
    assert read_refusal(await oauth_client.refresh(family[stolen]["refresh_token"])) == "invalid_grant"
    assert not await has_access(both, family[-1]["access_token"])
    assert not await has_access(both, family[stolen]["access_token"])
    assert read_refusal(await oauth_client.refresh(family[-1]["refresh_token"])) == "invalid_grant"


async def test_refreshes_in_parallel(both: Served) -> None:
    """All get the same pair, and so does one whose answer was lost; it is kept nowhere."""
    for others in (1, 20):
        oauth_client = await client(both)
        tokens = await oauth_client.tokens()
        answers = await asyncio.gather(*(oauth_client.refresh(tokens["refresh_token"]) for _ in range(1 + others)))
        assert {answer.status_code for answer in answers} == {200}
        pair = answers[0].json()
        both.hands.pass_(seconds=20)
        late = (await oauth_client.refresh(tokens["refresh_token"])).json()
        for name in ("access_token", "refresh_token", "scope"):
            assert {answer.json()[name] for answer in answers} == {late[name]}
        assert late["expires_in"] <= pair["expires_in"] - 20
        rows = await both.service.store.read(lambda connection: connection.execute(select(oauth_tokens)).all())
        assert pair["refresh_token"] not in str(rows) and tokens["refresh_token"] not in str(rows)
        assert await has_access(both, pair["access_token"])
        assert (await oauth_client.refresh(pair["refresh_token"])).status_code == 200


@pytest.mark.parametrize("later", ["after the grace", "after the next refresh"])
async def test_a_second_use_ends_the_grant(both: Served, later: str) -> None:
    oauth_client = await client(both)
    tokens = await oauth_client.tokens()
    pair = newest = (await oauth_client.refresh(tokens["refresh_token"])).json()
    if later == "after the grace":
        both.hands.pass_(seconds=31)
    else:
        newest = (await oauth_client.refresh(pair["refresh_token"])).json()
    assert await has_access(both, newest["access_token"])
    assert read_refusal(await oauth_client.refresh(tokens["refresh_token"])) == "invalid_grant"
    assert not await has_access(both, newest["access_token"])
    assert read_refusal(await oauth_client.refresh(newest["refresh_token"])) == "invalid_grant"


async def test_a_used_refresh_token_is_of_no_use_to_others(both: Served) -> None:
    """Not to another client, and not after the grant has ended."""
    oauth_client, thief = await client(both), await client(both)
    tokens = await oauth_client.tokens()
    pair = (await oauth_client.refresh(tokens["refresh_token"])).json()
    assert read_refusal(await thief.refresh(tokens["refresh_token"])) == "invalid_grant"
    assert await has_access(both, pair["access_token"])
    await both.http.post("/oauth/revoke", data={"token": pair["access_token"]})
    assert read_refusal(await oauth_client.refresh(tokens["refresh_token"])) == "invalid_grant"


async def test_the_same_pair_after_a_rotation_of_the_key(both: Served) -> None:
    oauth_client = await client(both)
    tokens = await oauth_client.tokens()
    pair = (await oauth_client.refresh(tokens["refresh_token"])).json()
    before = both.service.ring
    try:
        both.service.ring = make_key_ring(before)
        again = (await oauth_client.refresh(tokens["refresh_token"])).json()
        assert again["refresh_token"] == pair["refresh_token"]
    finally:
        both.service.ring = before


async def test_a_refresh_token_of_another_client(both: Served) -> None:
    oauth_client, thief = await client(both), await client(both)
    tokens = await oauth_client.tokens()
    assert read_refusal(await thief.refresh(tokens["refresh_token"])) == "invalid_grant"
    assert read_refusal(await oauth_client.refresh(tokens["access_token"])) == "invalid_grant"
    assert (await oauth_client.refresh(tokens["refresh_token"])).status_code == 200


async def test_after_a_revocation(both: Served) -> None:
    """By the person, by the client, by another consent: at once, for tokens of both kinds, and for codes on the way."""
    for how in ("person", "client", "consent"):
        oauth_client = await client(both)
        tokens = await oauth_client.tokens()
        waiting = await oauth_client.code() if how == "consent" else None
        if how == "person":
            rows = await both.admin.get("/connected-agents")
            (grant,) = [row["grantId"] for row in rows if row["clientId"] == oauth_client.client_id]
            await both.admin.delete(f"/connected-agents/{grant}")
        elif how == "client":
            await both.http.post("/oauth/revoke", data={"token": tokens["access_token"]})
        assert not await has_access(both, tokens["access_token"])
        assert read_refusal(await oauth_client.refresh(tokens["refresh_token"])) == "invalid_grant"
        if waiting is not None:
            later = await oauth_client.code()
            assert read_refusal(await oauth_client.redeem(waiting)) == "invalid_grant"
            assert "access_token" in (await oauth_client.redeem(later)).json()


async def test_an_execution_ends_with_its_grant(both: Served) -> None:
    """The grant is revoked while the agent executes: the next write is not sent."""
    oauth_client = await client(both)
    agent = Agent(both, (await oauth_client.tokens())["access_token"])
    operation = await agent.prepare_campaign(both.accounts["meta"], brief("meta"))
    writes = both.networks.writes()
    await both.networks.fault("meta", "latency", path="/v26.0/act_1001/campaigns", value=300)
    running = asyncio.create_task(agent.execute(operation))
    while both.networks.writes() == writes and not running.done():
        await asyncio.sleep(0.01)
    await both.http.post("/oauth/revoke", data={"token": agent.token or ""})
    result = await running
    assert result["structuredContent"]["error"]["code"] == "access_lost"
    assert both.networks.writes() == writes + 1
    assert "Written: campaign. Not written: adGroup" in result["content"][0]["text"]


# -- what time ends (last: the clock is not turned back) --------------------------------------------------------------


async def test_a_grant_is_over_after_ninety_days(both: Served) -> None:
    """However often it is refreshed: day by day to the ninetieth, and not on the ninety-first."""
    oauth_client = await client(both)
    tokens = await oauth_client.tokens()
    for _ in range(89):
        both.hands.pass_(days=1)
        tokens = (await oauth_client.refresh(tokens["refresh_token"])).json()
    assert await has_access(both, tokens["access_token"])
    both.hands.pass_(days=1, seconds=1)
    assert not await has_access(both, tokens["access_token"])
    assert read_refusal(await oauth_client.refresh(tokens["refresh_token"])) == "invalid_grant"


async def test_an_access_token_does_not_outlive_its_grant(both: Served) -> None:
    oauth_client = await client(both)
    tokens = await oauth_client.tokens()
    both.hands.pass_(days=89, hours=23, minutes=30)
    fresh = (await oauth_client.refresh(tokens["refresh_token"])).json()["access_token"]
    assert fresh.startswith(ACCESS_PREFIX) and await has_access(both, fresh)
    both.hands.pass_(minutes=31)  # the token's own hour is not over
    assert not await has_access(both, fresh)
