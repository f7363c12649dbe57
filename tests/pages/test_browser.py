"""The pages in a real Chromium: a whole life, consent for an agent, and what other origins cannot do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from aiohttp import web
from attrs import evolve

from adsunify.adapter.oauth import make_code_challenge
from tests.server.served import Served, brief, connect

from .browsing import PASSWORD, email
from .driver import CUT, Chromium, chromium

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.exhaustive]
TAB = "\ue004"


SHOWN = """
return [...document.querySelectorAll('td')].filter(cell => cell.textContent.trim() === arguments[0]).map(cell => {
  const box = cell.getBoundingClientRect();
  return box.width > 0 && box.left >= 0 && box.right <= innerWidth;
})"""
"""Whether the cells with a text stand within the window."""


async def seen(one: Chromium, name: str, status: int = 200) -> None:
    """Hold the page against what every page must be in a browser. ``status``: of the page's answer."""
    own = await one.run("return location.origin")
    await one.legible()
    for width in (390, 900, 1200):
        await one.width(width)
        assert await one.run("return document.documentElement.scrollWidth <= innerWidth"), (name, width)
        assert width == 900 or await one.run(CUT) == [], (name, width)  # there, wide tables scroll
    assert await one.run("return (document.querySelector('.bar')?.offsetHeight ?? 0) < 70"), name  # in one row
    assert await one.run("return document.scripts.length") == 0
    complaints = [said for said in await one.complaints() if said.startswith(own)]
    assert [said for said in complaints if f"status of {status} " not in said] == []


async def sign_in(one: Chromium, site: Served, name: str = "admin") -> None:
    """Sign in, with the keyboard alone."""
    await one.open(f"{site.base_url}/sign-in")
    await one.type("#email", email(name))
    await one.keys(TAB + PASSWORD)
    await one.go("main button")
    assert await one.at() == f"{site.base_url}/operations"


@asynccontextmanager
async def elsewhere(page: str, host: str = "127.0.0.1") -> AsyncIterator[str]:
    """A page of another origin; its address."""

    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=page, content_type="text/html")

    app = web.Application()
    app.router.add_get("/{anything:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://{host}:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


async def account(site: Served) -> str:
    """The account in US dollars at meta."""
    accounts = await site.admin.get("/accounts", network="meta")
    return str(next(one["accountId"] for one in accounts if one["currency"] == "USD"))


async def test_a_whole_life(site: Served) -> None:
    async with chromium() as one:
        await one.open(f"{site.base_url}/operations")
        assert urlsplit(await one.at()).path == "/sign-in"
        await seen(one, "sign-in")
        await sign_in(one, site)
        (cookie,) = [one_ for one_ in await one.cookies() if one_["name"] == "adsunify_session"]
        assert cookie["httpOnly"] and cookie["sameSite"] == "Lax"
        await one.keys(TAB)
        assert await one.run("return document.activeElement.textContent") == "Skip to the content"
        await seen(one, "operations-empty")
        await one.press("Connect a network")  # the first page is no dead end
        assert await one.at() == f"{site.base_url}/connections"
        await seen(one, "connections")
        await one.press("Connect Meta")
        await seen(one, "link")
        await one.press("Continue")
        assert "shop" in await one.text()
        await seen(one, "connect")
        await one.press("Continue to Meta")
        assert (await one.at()).startswith(site.networks.url)
        await one.go("button")
        assert "Connected" in await one.text() and (await one.at()).startswith(f"{site.base_url}/connect/callback/meta")
        await site.wait_for_background_tasks()

        body = {"accountId": await account(site), "campaign": brief("meta")}
        body["campaign"]["name"] = "Garden chairs of spring, for terraces and balconies, second try (Europe)"
        prepared = await site.admin.post("/create", body, 201)
        await one.open(prepared["reviewUrl"])
        await seen(one, "review")
        assert "Create the campaign, paused." in await one.text()
        assert "https://graph.facebook.com" not in await one.text()  # folded away
        await one.unfold("The native request")
        assert "https://graph.facebook.com" in await one.text()
        writes = site.networks.writes()
        await one.click("form[action$=execute] button")  # the browser itself asks for the tick
        assert site.networks.writes() == writes and await one.at() == prepared["reviewUrl"]
        await one.click("input[name=confirmed]")
        await one.press("Execute")
        assert "succeeded" in await one.text() and "Receipt" in await one.text()
        assert site.networks.writes() > writes
        await seen(one, "receipt")

        await one.press("Prepare the activation")
        assert "risk: spend" in await one.text()
        await seen(one, "activation")
        await one.click("input[name=confirmed]")
        await one.press("Execute")
        assert "succeeded" in await one.text()

        done = await site.admin.get(f"/operations/{prepared['id']}")
        campaign = f"/accounts/{body['accountId']}/campaigns/{done['receipt']['steps'][0]['outputs']['id']}"
        deletion = (await site.admin.send("DELETE", campaign)).json()["data"]
        await one.open(deletion["reviewUrl"])
        await seen(one, "deletion")
        await one.open(f"{site.base_url}/accounts")
        await seen(one, "accounts")
        await one.width(390)
        long = "x" * 60  # a name without a place to break at
        await one.run("for (const one of document.querySelectorAll('.name a')) one.append(arguments[0])", long)
        shown = await one.run(SHOWN, "Meta")
        assert shown and all(shown)  # each account says whose it is
        await one.open(f"{site.base_url}/accounts/{body['accountId']}")
        await seen(one, "account")
        await one.go("main a[href$='/insights']")
        assert await one.count("svg.plot") == 2 and await one.count("svg rect.mark") >= 20
        assert await one.run("return document.querySelector('svg rect.mark').getBoundingClientRect().height") > 0
        await seen(one, "insights")
        for name in ("operations", "keys", "connected-agents", "webhooks", "people"):
            await one.open(f"{site.base_url}/{name}")
            await seen(one, name)

        await one.open(f"{site.base_url}/connections")
        await one.unfold("Disconnect")
        await one.press("Disconnect Meta")
        assert "disconnected" in await one.text()
        assert {found["status"] for found in await site.admin.get("/accounts", network="meta")} == {"disconnected"}
        await one.click("button[popovertarget=person]")
        await one.press("Sign out")
        await one.open(prepared["reviewUrl"])
        assert urlsplit(await one.at()).path == "/sign-in"


async def test_an_agent_is_allowed_and_revoked(site: Served) -> None:
    """The browser lets the consent's answer go to the client's address, and only there. A tick narrows the access."""
    account_id = await connect(site, "snapchat")
    async with chromium() as one, elsewhere("<p>Thank you</p>") as client:
        registered = await site.http.post(
            "/oauth/register", json={"client_name": "A <b>helper</b>", "redirect_uris": [client]}
        )
        verifier = "v" * 43
        query = {
            "response_type": "code",
            "client_id": registered.json()["client_id"],
            "redirect_uri": client,
            "code_challenge": make_code_challenge(verifier),
            "code_challenge_method": "S256",
            "scope": "ads:read ads:write",
            "state": "mine",
        }
        address = f"{site.base_url}/oauth/authorize?{urlencode(query)}"
        await one.open(address)
        await one.type("#email", email("member"))
        await one.type("#password", PASSWORD)
        await one.go("main button")
        assert client in await one.text() and "A <b>helper</b>" in await one.text()
        assert await one.run("return document.querySelector('input[name=access]:checked').value") == "read"
        await seen(one, "consent")
        await one.go("button[value=deny]")
        assert parse_qs(urlsplit(await one.at()).query)["error"] == ["access_denied"]
        await one.open(address)
        assert "all ad accounts of the workspace" in await one.text()
        assert await one.run("return document.querySelectorAll('input[type=checkbox]:checked').length") == 0
        await one.click(f"input[name='account.{account_id}']")
        await one.go("button[value=allow]")
        assert (await one.at()).startswith(client) and "Thank you" in await one.text()
        answer = parse_qs(urlsplit(await one.at()).query)
        assert answer["state"] == ["mine"]
        form = {
            "grant_type": "authorization_code",
            "code": answer["code"][0],
            "redirect_uri": client,
            "client_id": query["client_id"],
            "code_verifier": verifier,
        }
        token = (await site.http.post("/oauth/token", data=form)).json()
        assert token["scope"] == "ads:read"
        agent = site.caller(token["access_token"])
        assert (await agent.get("/auth/verify"))["scope"] == {"accountIds": [account_id]}
        assert [found["accountId"] for found in await agent.get("/accounts")] == [account_id]
        await one.open(f"{site.base_url}/connected-agents")
        await seen(one, "agents")
        await one.unfold("Revoke")
        await one.press("Revoke A")
        await agent.problem(401, "GET", "/auth/verify")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_nothing_can_be_framed_or_forged(site: Served, host: str) -> None:
    """Another port is another origin of the same site, and gets its cookies sent; another name is another site."""
    async with chromium() as one:
        await sign_in(one, site)
        frames = "".join(
            f'<iframe id="f{number}" src="{site.base_url}{path}"></iframe>'
            for number, path in enumerate(("/operations", "/sign-in", "/keys", "/connect/x"))
        )
        async with elsewhere(frames, host) as page:
            await one.open(page)
            for number in range(4):
                await one.frame(f"#f{number}")
                assert "adsunify" not in await one.text()
                assert await one.count("main form") == 0
                await one.frame(None)
        before = len(await site.admin.get("/keys"))
        forged = (
            f'<form method="post" action="{site.base_url}/keys"><input name="name" value="mine">'
            '<input name="csrf" value="x"><input name="days" value=""><button>Win a prize</button></form>'
        )
        async with elsewhere(forged, host) as page:
            await one.open(page)
            await one.press("Win a prize")
            assert "did not come from a page of this server" in await one.text()
        assert len(await site.admin.get("/keys")) == before


async def test_a_refused_change_fits_a_phone(site: Served) -> None:
    """The network's own words have no place to break at."""
    account_id = site.accounts.get("meta") or await connect(site, "meta")
    prepared = await site.admin.post("/create", {"accountId": account_id, "campaign": brief("meta")}, 201)
    await site.networks.fault("meta", "status", path="/v26.0/act_*/adsets", method="POST", value=400)
    try:
        await site.admin.problem(400, "POST", f"/operations/{prepared['id']}/execute", {"confirmed": True})
    finally:
        site.networks.state.faults.pending.clear()
    long = "x" * 120
    async with chromium() as one:
        await sign_in(one, site)
        await one.open(prepared["reviewUrl"])
        said = ".notice p, .receipt td:nth-child(2)"
        await one.run("for (const one of document.querySelectorAll(arguments[0])) one.append(arguments[1])", said, long)
        await seen(one, "refused")


async def test_only_what_is_configured_is_offered(site: Served) -> None:
    settings = site.service.settings
    site.service.settings = evolve(settings, apps={"meta": settings.apps["meta"]})
    try:
        async with chromium() as one:
            await sign_in(one, site)
            await one.open(f"{site.base_url}/connections")
            text = await one.text()
            assert "Connect Meta" in text and "Connect Apple" in text  # credentials need no application
            assert "Connect Google" not in text and "This server has no application at Google" in text
            await seen(one, "connections-unconfigured")
    finally:
        site.service.settings = settings


async def test_the_reference_and_an_error(site: Served) -> None:
    """Both are pages like the others: legible, at every width, without a script."""
    async with chromium() as one:
        await one.open(f"{site.base_url}/docs")
        await seen(one, "reference")
        await one.open(f"{site.base_url}/nothing")
        assert "No page or endpoint has this address." in await one.text()
        await one.legible()
