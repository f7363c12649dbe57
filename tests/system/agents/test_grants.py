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


async def works(server: Served, token: str) -> bool:
    """Whether an access token is good, at both doors alike."""
    rest = (await server.caller(token).send("GET", "/auth/verify")).status_code
    agents = (await Agent(server, token).post(request("ping"))).status_code
    assert rest == agents and rest in (200, 401)
    return rest == 200


def refused(answer: httpx.Response) -> str:
    assert answer.status_code == 400 and "access_token" not in answer.text, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    error: str = answer.json()["error"]
    return error


async def test_one_code_redeemed_by_everybody_at_once(both: Served) -> None:
    """One gets tokens; and since the others may be thieves (or it is one), what it got is worth nothing."""
    one = await client(both)
    code = await one.code()
    form = {
        "grant_type": "authorization_code",
        "client_id": one.client_id,
        "code": code,
        "redirect_uri": REDIRECT,
        "code_verifier": one.verifier,
    }
    # aiohttp's client: with hundreds of requests waiting, httpx spends its time on its own queue
    async with ClientSession(both.base_url, connector=TCPConnector(limit=200)) as http:

        async def redeem() -> tuple[int, Any]:
            async with http.post("/oauth/token", data=form) as answer:
                return answer.status, await answer.json()

        answers = await asyncio.gather(*(redeem() for _ in range(AT_ONCE)))
    (tokens,) = [told for status, told in answers if status == 200]
    assert {(status, told["error"]) for status, told in answers if told is not tokens} == {(400, "invalid_grant")}
    assert not await works(both, tokens["access_token"])
    assert refused(await one.refresh(tokens["refresh_token"])) == "invalid_grant"
    assert one.client_id not in {row["clientId"] for row in await both.admin.get("/connected-agents")}


async def test_a_code_that_is_used_later_again(both: Served) -> None:
    one = await client(both)
    code = await one.code()
    tokens = (await one.redeem(code)).json()
    assert await works(both, tokens["access_token"])
    newer = (await one.refresh(tokens["refresh_token"])).json()
    assert refused(await one.redeem(code)) == "invalid_grant"
    for made in (tokens, newer):
        assert not await works(both, made["access_token"])
        assert refused(await one.refresh(made["refresh_token"])) == "invalid_grant"


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
    one = await client(both)
    form = {"code": await one.code(), "code_verifier": one.verifier, "redirect_uri": REDIRECT} | change
    if form["code_verifier"] == "the challenge":  # what ``plain`` would have it
        form["code_verifier"] = one.query["code_challenge"]
    if form.get("client_id") == "another":
        form["client_id"] = (await client(both)).client_id
    assert refused(await one.ask(grant_type="authorization_code", **form)) == "invalid_grant"


MISSING = {
    "code": "invalid_request",
    "code_verifier": "invalid_grant",
    "redirect_uri": "invalid_grant",
    "client_id": "invalid_grant",
}


async def test_parameters_that_are_left_out(both: Served) -> None:
    one = await client(both)
    for missing, told in MISSING.items():
        form = {
            "grant_type": "authorization_code",
            "client_id": one.client_id,
            "code": await one.code(),
            "code_verifier": one.verifier,
            "redirect_uri": REDIRECT,
        }
        del form[missing]
        assert refused(await both.http.post("/oauth/token", data=form)) == told
        assert refused(await both.http.post("/oauth/token", data=form | {missing: ""})) == told  # RFC 6749 section 3.2


async def test_a_code_is_over_after_a_minute(both: Served) -> None:
    one = await client(both)
    codes = [await one.code(), await one.code()]
    both.hands.pass_(seconds=50)
    assert "access_token" in (await one.redeem(codes[1])).json()
    late = await client(both)
    code = await late.code()
    both.hands.pass_(seconds=61)
    assert refused(await late.redeem(code)) == "invalid_grant"


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
    one = await client(both, **change)
    async with browser(both) as person:
        await person.sign_in(email("admin"))
        address = f"{both.base_url}/oauth/authorize?{urlencode(one.query)}"
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
    one = await client(both, redirect_uri=redirect)
    async with browser(both) as person:
        await person.sign_in(email("admin"))
        await person.open("/oauth/authorize?" + urlencode(one.query), 404)
        assert person.path == "/oauth/authorize"


# -- refresh tokens -----------------------------------------------------------------------------------------------


async def rotated(one: Client, tokens: dict[str, Any], times: int) -> list[dict[str, Any]]:
    """All tokens of so many rotations, the first ones first."""
    found = [tokens]
    for _ in range(times):
        answer = await one.refresh(found[-1]["refresh_token"])
        assert answer.status_code == 200, answer.text
        found.append(answer.json())
    return found


@pytest.mark.parametrize("stolen", [0, exhaustive(50), exhaustive(99)])
async def test_an_old_refresh_token_ends_the_family(both: Served, stolen: int) -> None:
    """Rotated a hundred times; within the one request that uses an old one, all of them are worth nothing."""
    one = await client(both)
    family = await rotated(one, await one.tokens(), 100)
    assert len({made["refresh_token"] for made in family}) == len({made["access_token"] for made in family}) == 101
    assert await works(both, family[-1]["access_token"])
    both.hands.pass_(seconds=31)
    assert refused(await one.refresh(family[stolen]["refresh_token"])) == "invalid_grant"
    assert not await works(both, family[-1]["access_token"])
    assert not await works(both, family[stolen]["access_token"])
    assert refused(await one.refresh(family[-1]["refresh_token"])) == "invalid_grant"


async def test_refreshes_in_parallel(both: Served) -> None:
    """All get the same pair, and so does one whose answer was lost; it is kept nowhere."""
    for others in (1, 20):
        one = await client(both)
        tokens = await one.tokens()
        answers = await asyncio.gather(*(one.refresh(tokens["refresh_token"]) for _ in range(1 + others)))
        assert {answer.status_code for answer in answers} == {200}
        pair = answers[0].json()
        both.hands.pass_(seconds=20)
        late = (await one.refresh(tokens["refresh_token"])).json()
        for name in ("access_token", "refresh_token", "scope"):
            assert {answer.json()[name] for answer in answers} == {late[name]}
        assert late["expires_in"] <= pair["expires_in"] - 20
        kept = await both.service.store.read(lambda connection: connection.execute(select(oauth_tokens)).all())
        assert pair["refresh_token"] not in str(kept) and tokens["refresh_token"] not in str(kept)
        assert await works(both, pair["access_token"])
        assert (await one.refresh(pair["refresh_token"])).status_code == 200


@pytest.mark.parametrize("later", ["after the grace", "after the next refresh"])
async def test_a_second_use_ends_the_grant(both: Served, later: str) -> None:
    one = await client(both)
    tokens = await one.tokens()
    pair = newest = (await one.refresh(tokens["refresh_token"])).json()
    if later == "after the grace":
        both.hands.pass_(seconds=31)
    else:
        newest = (await one.refresh(pair["refresh_token"])).json()
    assert await works(both, newest["access_token"])
    assert refused(await one.refresh(tokens["refresh_token"])) == "invalid_grant"
    assert not await works(both, newest["access_token"])
    assert refused(await one.refresh(newest["refresh_token"])) == "invalid_grant"


async def test_a_used_refresh_token_is_of_no_use_to_others(both: Served) -> None:
    """Not to another client, and not after the grant has ended."""
    one, thief = await client(both), await client(both)
    tokens = await one.tokens()
    pair = (await one.refresh(tokens["refresh_token"])).json()
    assert refused(await thief.refresh(tokens["refresh_token"])) == "invalid_grant"
    assert await works(both, pair["access_token"])
    await both.http.post("/oauth/revoke", data={"token": pair["access_token"]})
    assert refused(await one.refresh(tokens["refresh_token"])) == "invalid_grant"


async def test_the_same_pair_after_a_rotation_of_the_key(both: Served) -> None:
    one = await client(both)
    tokens = await one.tokens()
    pair = (await one.refresh(tokens["refresh_token"])).json()
    before = both.service.ring
    try:
        both.service.ring = make_key_ring(before)
        again = (await one.refresh(tokens["refresh_token"])).json()
        assert again["refresh_token"] == pair["refresh_token"]
    finally:
        both.service.ring = before


async def test_a_refresh_token_of_another_client(both: Served) -> None:
    one, thief = await client(both), await client(both)
    tokens = await one.tokens()
    assert refused(await thief.refresh(tokens["refresh_token"])) == "invalid_grant"
    assert refused(await one.refresh(tokens["access_token"])) == "invalid_grant"
    assert (await one.refresh(tokens["refresh_token"])).status_code == 200


async def test_after_a_revocation(both: Served) -> None:
    """By the person, by the client, by another consent: at once, for tokens of both kinds, and for codes on the way."""
    for how in ("person", "client", "consent"):
        one = await client(both)
        tokens = await one.tokens()
        waiting = await one.code() if how == "consent" else None
        if how == "person":
            rows = await both.admin.get("/connected-agents")
            (grant,) = [row["grantId"] for row in rows if row["clientId"] == one.client_id]
            await both.admin.delete(f"/connected-agents/{grant}")
        elif how == "client":
            await both.http.post("/oauth/revoke", data={"token": tokens["access_token"]})
        assert not await works(both, tokens["access_token"])
        assert refused(await one.refresh(tokens["refresh_token"])) == "invalid_grant"
        if waiting is not None:
            later = await one.code()
            assert refused(await one.redeem(waiting)) == "invalid_grant"
            assert "access_token" in (await one.redeem(later)).json()


async def test_an_execution_ends_with_its_grant(both: Served) -> None:
    """The grant is revoked while the agent executes: the next write is not sent."""
    one = await client(both)
    agent = Agent(both, (await one.tokens())["access_token"])
    operation = await agent.created(both.accounts["meta"], brief("meta"))
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
    one = await client(both)
    tokens = await one.tokens()
    for _ in range(89):
        both.hands.pass_(days=1)
        tokens = (await one.refresh(tokens["refresh_token"])).json()
    assert await works(both, tokens["access_token"])
    both.hands.pass_(days=1, seconds=1)
    assert not await works(both, tokens["access_token"])
    assert refused(await one.refresh(tokens["refresh_token"])) == "invalid_grant"


async def test_an_access_token_does_not_outlive_its_grant(both: Served) -> None:
    one = await client(both)
    tokens = await one.tokens()
    both.hands.pass_(days=89, hours=23, minutes=30)
    fresh = (await one.refresh(tokens["refresh_token"])).json()["access_token"]
    assert fresh.startswith(ACCESS_PREFIX) and await works(both, fresh)
    both.hands.pass_(minutes=31)  # the token's own hour is not over
    assert not await works(both, fresh)
