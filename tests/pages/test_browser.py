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


async def check_page(driver: Chromium, name: str, status: int = 200) -> None:
    """Hold the page against what every page must be in a browser. ``status``: of the page's answer."""
    own = await driver.run("return location.origin")
    await driver.check_contrast()
    for width in (390, 900, 1200):
        await driver.set_width(width)
        assert await driver.run("return document.documentElement.scrollWidth <= innerWidth"), (name, width)
        assert width == 900 or await driver.run(CUT) == [], (name, width)  # there, wide tables scroll
    assert await driver.run("return (document.querySelector('.bar')?.offsetHeight ?? 0) < 70"), name  # in one row
    assert await driver.run("return document.scripts.length") == 0
    complaints = [complaint for complaint in await driver.read_log() if complaint.startswith(own)]
    assert [complaint for complaint in complaints if f"status of {status} " not in complaint] == []


async def sign_in(driver: Chromium, site: Served, name: str = "admin") -> None:
    """Sign in, with the keyboard alone."""
    await driver.open(f"{site.base_url}/sign-in")
    await driver.type("#email", email(name))
    await driver.press_keys(TAB + PASSWORD)
    await driver.go("main button")
    assert await driver.get_address() == f"{site.base_url}/operations"


@asynccontextmanager
async def serve_page(page: str, host: str = "127.0.0.1") -> AsyncIterator[str]:
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


async def find_account(site: Served) -> str:
    """The account in US dollars at meta."""
    accounts = await site.admin.get("/accounts", network="meta")
    return str(next(account["accountId"] for account in accounts if account["currency"] == "USD"))


async def test_a_whole_life(site: Served) -> None:
    async with chromium() as driver:
        await driver.open(f"{site.base_url}/operations")
        assert urlsplit(await driver.get_address()).path == "/sign-in"
        await check_page(driver, "sign-in")
        await sign_in(driver, site)
        (cookie,) = [cookie for cookie in await driver.get_cookies() if cookie["name"] == "adsunify_session"]
        assert cookie["httpOnly"] and cookie["sameSite"] == "Lax"
        await driver.press_keys(TAB)
        assert await driver.run("return document.activeElement.textContent") == "Skip to the content"
        await check_page(driver, "operations-empty")
        await driver.press("Connect a network")  # the first page is no dead end
        assert await driver.get_address() == f"{site.base_url}/connections"
        await check_page(driver, "connections")
        await driver.press("Connect Meta")
        await check_page(driver, "link")
        await driver.press("Continue")
        assert "shop" in await driver.read_text()
        await check_page(driver, "connect")
        await driver.press("Continue to Meta")
        assert (await driver.get_address()).startswith(site.networks.url)
        await driver.go("button")
        assert "Connected" in await driver.read_text() and (await driver.get_address()).startswith(
            f"{site.base_url}/connect/callback/meta"
        )
        await site.wait_for_background_tasks()

        body = {"accountId": await find_account(site), "campaign": brief("meta")}
        body["campaign"]["name"] = "Garden chairs of spring, for terraces and balconies, second try (Europe)"
        prepared = await site.admin.post("/create", body, 201)
        await driver.open(prepared["reviewUrl"])
        await check_page(driver, "review")
        assert "Create the campaign, paused." in await driver.read_text()
        assert "https://graph.facebook.com" not in await driver.read_text()  # folded away
        await driver.unfold("The native request")
        assert "https://graph.facebook.com" in await driver.read_text()
        writes = site.networks.writes()
        await driver.click("form[action$=execute] button")  # the browser itself asks for the tick
        assert site.networks.writes() == writes and await driver.get_address() == prepared["reviewUrl"]
        await driver.click("input[name=confirmed]")
        await driver.press("Execute")
        assert "succeeded" in await driver.read_text() and "Receipt" in await driver.read_text()
        assert site.networks.writes() > writes
        await check_page(driver, "receipt")

        await driver.press("Prepare the activation")
        assert "risk: spend" in await driver.read_text()
        await check_page(driver, "activation")
        await driver.click("input[name=confirmed]")
        await driver.press("Execute")
        assert "succeeded" in await driver.read_text()

        done = await site.admin.get(f"/operations/{prepared['id']}")
        campaign = f"/accounts/{body['accountId']}/campaigns/{done['receipt']['steps'][0]['outputs']['id']}"
        deletion = (await site.admin.send("DELETE", campaign)).json()["data"]
        await driver.open(deletion["reviewUrl"])
        await check_page(driver, "deletion")
        await driver.open(f"{site.base_url}/accounts")
        await check_page(driver, "accounts")
        await driver.set_width(390)
        long = "x" * 60  # a name without a place to break at
        await driver.run("for (const name of document.querySelectorAll('.name a')) name.append(arguments[0])", long)
        visible = await driver.run(SHOWN, "Meta")
        assert visible and all(visible)  # each account says whose it is
        await driver.open(f"{site.base_url}/accounts/{body['accountId']}")
        await check_page(driver, "account")
        await driver.go("main a[href$='/insights']")
        assert await driver.count("svg.plot") == 2 and await driver.count("svg rect.mark") >= 20
        assert await driver.run("return document.querySelector('svg rect.mark').getBoundingClientRect().height") > 0
        await check_page(driver, "insights")
        for name in ("operations", "keys", "connected-agents", "webhooks", "people"):
            await driver.open(f"{site.base_url}/{name}")
            await check_page(driver, name)

        await driver.open(f"{site.base_url}/connections")
        await driver.unfold("Disconnect")
        await driver.press("Disconnect Meta")
        assert "disconnected" in await driver.read_text()
        assert {row["status"] for row in await site.admin.get("/accounts", network="meta")} == {"disconnected"}
        await driver.click("button[popovertarget=person]")
        await driver.press("Sign out")
        await driver.open(prepared["reviewUrl"])
        assert urlsplit(await driver.get_address()).path == "/sign-in"


async def test_an_agent_is_allowed_and_revoked(site: Served) -> None:
    """The browser lets the consent's answer go to the client's address, and only there. A tick narrows the access."""
    account_id = await connect(site, "snapchat")
    async with chromium() as driver, serve_page("<p>Thank you</p>") as client:
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
        await driver.open(address)
        await driver.type("#email", email("member"))
        await driver.type("#password", PASSWORD)
        await driver.go("main button")
        assert client in await driver.read_text() and "A <b>helper</b>" in await driver.read_text()
        assert await driver.run("return document.querySelector('input[name=access]:checked').value") == "read"
        await check_page(driver, "consent")
        await driver.go("button[value=deny]")
        assert parse_qs(urlsplit(await driver.get_address()).query)["error"] == ["access_denied"]
        await driver.open(address)
        assert "all ad accounts of the workspace" in await driver.read_text()
        assert await driver.run("return document.querySelectorAll('input[type=checkbox]:checked').length") == 0
        await driver.click(f"input[name='account.{account_id}']")
        await driver.go("button[value=allow]")
        assert (await driver.get_address()).startswith(client) and "Thank you" in await driver.read_text()
        answer = parse_qs(urlsplit(await driver.get_address()).query)
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
        assert [row["accountId"] for row in await agent.get("/accounts")] == [account_id]
        await driver.open(f"{site.base_url}/connected-agents")
        await check_page(driver, "agents")
        await driver.unfold("Revoke")
        await driver.press("Revoke A")
        await agent.problem(401, "GET", "/auth/verify")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_nothing_can_be_framed_or_forged(site: Served, host: str) -> None:
    """Another port is another origin of the same site, and gets its cookies sent; another name is another site."""
    async with chromium() as driver:
        await sign_in(driver, site)
        frames = "".join(
            f'<iframe id="f{number}" src="{site.base_url}{path}"></iframe>'
            for number, path in enumerate(("/operations", "/sign-in", "/keys", "/connect/x"))
        )
        async with serve_page(frames, host) as page:
            await driver.open(page)
            for number in range(4):
                await driver.enter_frame(f"#f{number}")
                assert "adsunify" not in await driver.read_text()
                assert await driver.count("main form") == 0
                await driver.enter_frame(None)
        before = len(await site.admin.get("/keys"))
        forged = (
            f'<form method="post" action="{site.base_url}/keys"><input name="name" value="mine">'
            '<input name="csrf" value="x"><input name="days" value=""><button>Win a prize</button></form>'
        )
        async with serve_page(forged, host) as page:
            await driver.open(page)
            await driver.press("Win a prize")
            assert "did not come from a page of this server" in await driver.read_text()
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
    async with chromium() as driver:
        await sign_in(driver, site)
        await driver.open(prepared["reviewUrl"])
        selector = ".notice p, .receipt td:nth-child(2)"
        await driver.run(
            "for (const element of document.querySelectorAll(arguments[0])) element.append(arguments[1])",
            selector,
            long,
        )
        await check_page(driver, "refused")


async def test_only_what_is_configured_is_offered(site: Served) -> None:
    settings = site.service.settings
    site.service.settings = evolve(settings, apps={"meta": settings.apps["meta"]})
    try:
        async with chromium() as driver:
            await sign_in(driver, site)
            await driver.open(f"{site.base_url}/connections")
            text = await driver.read_text()
            assert "Connect Meta" in text and "Connect Apple" in text  # credentials need no application
            assert "Connect Google" not in text and "This server has no application at Google" in text
            await check_page(driver, "connections-unconfigured")
    finally:
        site.service.settings = settings


async def test_the_reference_and_an_error(site: Served) -> None:
    """Both are pages like the others: legible, at every width, without a script."""
    async with chromium() as driver:
        await driver.open(f"{site.base_url}/docs")
        await check_page(driver, "reference")
        await driver.open(f"{site.base_url}/nothing")
        assert "No page or endpoint has this address." in await driver.read_text()
        await driver.check_contrast()
