"""Connecting a network in a browser, connecting it again, and disconnecting."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit, urlunsplit

import httpx
import pytest
from sqlalchemy import select

from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.store.schema import consents, secrets
from adsunify.testing.connecting import FormParser
from tests.networks.samples import get_samples

from .served import Served, brief, connect, consent, make_credentials, press

pytestmark = pytest.mark.asyncio(loop_scope="module")
CONSENTED = [code for code in ADAPTER_PACKAGES if get_adapter(code).network.login.kind != "credentials"]
GIVEN = [code for code in ADAPTER_PACKAGES if code not in CONSENTED]
consented = pytest.mark.parametrize("network", CONSENTED)
"""Networks with a consent page; the others take credentials of a person's own."""


@asynccontextmanager
async def browser() -> AsyncIterator[httpx.AsyncClient]:
    """A browser that goes one step at a time."""
    async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
        yield client


async def begin_consent(server: Served, client: httpx.AsyncClient, network: str = "meta") -> httpx.Response:
    """Open a new link and press its button; the redirect to the network."""
    link = await server.admin.post("/connections/authorize", {"network": network}, 201)
    return await press(client, await client.get(link["url"]), follow=False)


async def allow_consent(server: Served, client: httpx.AsyncClient, network: str = "meta") -> str:
    """The address to which the network sends the browser back after the consent."""
    going = await begin_consent(server, client, network)
    page = await client.get(going.headers["Location"])
    form = page.text.split('action="')[1].split('"')[0].replace("&amp;", "&")
    done = await client.post(f"{server.networks.url}{form}")
    assert done.status_code in (302, 303), done.text
    return done.headers["Location"]


def change_query(url: str, **query: str | None) -> str:
    """The address with members of its query replaced, or (None) removed."""
    parts = urlsplit(url)
    members = {**dict(parse_qsl(parts.query)), **query}
    return urlunsplit(parts._replace(query=urlencode({k: v for k, v in members.items() if v is not None})))


async def read_connections(server: Served) -> tuple[Any, ...]:
    """All that a connection leaves behind."""
    rows = await server.rows()
    return tuple(rows[table] for table in ("connections", "accounts", "secrets", "events"))


# -- the link -----------------------------------------------------------------------------------------------------


async def test_the_link(empty: Served) -> None:
    link = await empty.admin.post("/connections/authorize", {"network": "google"}, 201)
    assert link["url"].startswith(f"{empty.base_url}/connect/")
    token = link["url"].rpartition("/")[2]
    assert len(token) == 43
    left = datetime.fromisoformat(link["expiresAt"]) - empty.hands.now()
    assert timedelta(minutes=9, seconds=50) < left <= timedelta(minutes=10)
    rows = await empty.service.store.read(lambda connection: connection.execute(select(consents)).all())
    assert token not in str(rows)


@consented
async def test_opening_it_goes_to_the_network(empty: Served, network: str) -> None:
    async with browser() as client:
        going = await begin_consent(empty, client, network)
        assert going.status_code == 303
        assert going.headers["Location"].startswith(f"{empty.networks.url}/")
        query = parse_qs(urlsplit(going.headers["Location"]).query)
        if get_adapter(network).network.login.kind == "oauth1":  # all else was said when the token was asked for
            assert list(query) == ["oauth_token"]
        else:
            assert query["redirect_uri"] == [f"{empty.base_url}/connect/callback/{network}"]
            assert query["app_id" if network == "tiktok" else "client_id"] == [f"sandbox-{network}"]
            assert len(query["state"][0]) == 43
        cookie = going.headers["Set-Cookie"]
        for part in ("adsunify_connect_", "HttpOnly", "SameSite=Lax", "Path=/connect", "Max-Age=600"):
            assert part in cookie
        assert going.headers["Cache-Control"] == "no-store"
        assert going.headers["Referrer-Policy"] == "no-referrer"


async def test_a_link_is_used_once(empty: Served) -> None:
    link = await empty.admin.post("/connections/authorize", {"network": "meta"}, 201)
    async with browser() as client:
        page = await client.get(link["url"])
        assert (await press(client, page, follow=False)).status_code == 303
        for again in (await client.get(link["url"]), await press(client, page, follow=False)):
            assert again.status_code == 404
            assert "cannot be used" in again.text and "Content-Security-Policy" in again.headers


@consented
async def test_looking_at_a_link_changes_nothing(empty: Served, network: str) -> None:
    """What previews links opens them; the page names the workspace and the network."""
    link = await empty.admin.post("/connections/authorize", {"network": network}, 201)
    before, request_count = await empty.rows(), len(empty.networks.requests)
    async with browser() as preview:
        for method in ("GET", "HEAD", "GET"):
            page = await preview.request(method, link["url"])
        assert (page.status_code == 200 and "Set-Cookie" in page.headers) or preview.cookies
        assert "<strong>shop</strong>" in page.text and get_adapter(network).network.title in page.text
        assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
        assert page.headers["Referrer-Policy"] == "no-referrer"
    assert (await empty.rows(), len(empty.networks.requests)) == (before, request_count)
    async with browser() as client:
        assert (await press(client, await client.get(link["url"]), follow=False)).status_code == 303


async def test_only_the_button_of_its_page_uses_a_link_up(empty: Served) -> None:
    """A form of another site lacks the cookie, or its token; it brings nobody into a consent that he did not see."""
    link = await empty.admin.post("/connections/authorize", {"network": "meta"}, 201)
    async with browser() as victim, browser() as thief:
        form = FormParser()
        form.feed((await thief.get(link["url"])).text)
        before = await empty.rows()
        assert (await victim.post(link["url"], data=form.fields)).status_code == 403
        page = await victim.get(link["url"])
        for fields in ({}, form.fields):
            assert (await victim.post(link["url"], data=fields)).status_code == 403
        own = FormParser()
        own.feed(page.text)
        answer = await victim.post(link["url"], data=own.fields, headers={"Sec-Fetch-Site": "cross-site"})
        assert answer.status_code == 403
        assert await empty.rows() == before
        assert (await press(victim, page, follow=False)).status_code == 303


async def test_a_link_lives_ten_minutes(empty: Served) -> None:
    links = [await empty.admin.post("/connections/authorize", {"network": "meta"}, 201) for _ in range(2)]
    async with browser() as client:
        empty.hands.pass_(minutes=9, seconds=50)
        page = await client.get(links[1]["url"])
        assert (await press(client, await client.get(links[0]["url"]), follow=False)).status_code == 303
        empty.hands.pass_(seconds=11)
        assert (await client.get(links[1]["url"])).status_code == 404
        assert (await press(client, page, follow=False)).status_code == 404


@pytest.mark.parametrize("token", ["x", "callback", "A" * 43, "%00", "<script>"])
async def test_what_is_no_link(empty: Served, token: str) -> None:
    async with browser() as client:
        page = await client.get(f"{empty.base_url}/connect/{token}")
    assert page.status_code == 404
    assert "<script>" not in page.text


# -- the way back -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_a_whole_round(empty: Served, network: str) -> None:
    if network in CONSENTED:
        page = await consent(empty, network)
        assert page.status_code == 200 and "connected" in page.text
        answer_text = page.text
    else:
        answer_text = json.dumps(await empty.admin.post("/connections/credentials", make_credentials(network), 201))
    await empty.wait_for_background_tasks()
    accounts = await empty.admin.get("/accounts", network=network)
    connection = next(
        connection for connection in await empty.admin.get("/connections") if connection["network"] == network
    )
    assert connection["status"] == "active"
    assert sorted(connection["accounts"]) == sorted(account["accountId"] for account in accounts)
    assert {account["connectionId"] for account in accounts} == {connection["connectionId"]}
    assert {account["status"] for account in accounts} == {"active"}
    for account in accounts:
        assert await empty.admin.get(f"/accounts/{account['accountId']}") == account
        event_types = [event.type for event in await empty.events() if event.account_id == account["accountId"]]
        assert event_types == ["account.connected", "account.ads.initial_sync_completed"]
    answers = json.dumps([accounts, await empty.admin.get("/connections"), [vars_(e) for e in await empty.events()]])
    sealed_secrets = await empty.service.store.read(lambda open_: open_.execute(select(secrets.c.sealed)).all())
    for token in empty.networks.state.worlds[network].tokens:
        assert token not in answers and token not in answer_text and token not in str(sealed_secrets)


def vars_(event: Any) -> Any:
    return [event.type, event.data]


@consented
async def test_the_browser_that_began_must_come_back(empty: Served, network: str) -> None:
    """Without the cookie, or with another's: refused, and no token is made. The browser that began still finishes."""
    before = await read_connections(empty)
    async with browser() as owner, browser() as stranger, browser() as other:
        address = await allow_consent(empty, owner, network)
        await begin_consent(empty, other, network)
        cookies = dict(owner.cookies)
        tokens = set(empty.networks.state.worlds[network].tokens)
        for client in (stranger, other, stranger):
            page = await client.get(address)
            assert page.status_code == 404 and "was not connected" in page.text
            assert "in which you opened the link" in page.text
        assert await read_connections(empty) == before
        assert set(empty.networks.state.worlds[network].tokens) == tokens
        assert (await owner.get(address)).status_code == 200
        await empty.wait_for_background_tasks()
        connected = await read_connections(empty)
        for client in (stranger, owner):
            for name, value in cookies.items():
                client.cookies.set(name, value)
            assert (await client.get(address)).status_code == 404
    assert await read_connections(empty) == connected


async def test_of_callbacks_at_once_one_counts(empty: Served) -> None:
    async with browser() as client:
        address = await allow_consent(empty, client)
        pages = await asyncio.gather(*(client.get(address) for _ in range(8)))
    assert sorted(page.status_code for page in pages) == [200, *[404] * 7]
    await empty.wait_for_background_tasks()


async def test_two_consents_at_once(empty: Served) -> None:
    """In two tabs of one browser: each answer finds the cookie that its own link set."""
    async with browser() as client:
        for address in [await allow_consent(empty, client, network) for network in ("meta", "amazon", "meta", "x")]:
            assert (await client.get(address)).status_code == 200
        assert {cookie.name for cookie in client.cookies.jar} == {"adsunify_visit"}
    await empty.wait_for_background_tasks()


async def test_the_state_must_be_ours(empty: Served) -> None:
    before = await read_connections(empty)
    async with browser() as client:
        address = await allow_consent(empty, client)
        for wrong in (
            change_query(address, state="A" * 43),
            change_query(address, state=None),
            change_query(address, state=""),
            address.replace("/callback/meta", "/callback/google"),
        ):
            assert (await client.get(wrong)).status_code == 404
    assert await read_connections(empty) == before


async def test_an_answer_counts_once(empty: Served) -> None:
    async with browser() as client:
        address = await allow_consent(empty, client, "amazon")
        cookies = dict(client.cookies)
        assert (await client.get(address)).status_code == 200
        await empty.wait_for_background_tasks()
        before = await read_connections(empty)
        for name, value in cookies.items():
            client.cookies.set(name, value)
        assert (await client.get(address)).status_code == 404
    assert await read_connections(empty) == before


async def test_an_answer_that_comes_too_late(empty: Served) -> None:
    before = await read_connections(empty)
    async with browser() as client:
        address = await allow_consent(empty, client)
        empty.hands.pass_(minutes=10, seconds=1)
        assert (await client.get(address)).status_code == 404
    assert await read_connections(empty) == before


async def test_a_refused_consent(empty: Served) -> None:
    before = await read_connections(empty)
    async with browser() as client:
        address = await allow_consent(empty, client)
        refused = change_query(address, code=None, error="access_denied", error_description="<b>no</b>")
        page = await client.get(refused)
        assert page.status_code == 422 and "refused on the network" in page.text and "<b>no</b>" not in page.text
        assert (await client.get(address)).status_code == 404
    assert await read_connections(empty) == before


@consented
async def test_a_forged_code(empty: Served, network: str) -> None:
    before = await read_connections(empty)
    async with browser() as client:
        for code in ("forged", None):
            address = await allow_consent(empty, client, network)
            page = await client.get(change_query(address, **{get_samples(network).consent_code: code}))
            assert page.status_code in (400, 422), page.text
    assert await read_connections(empty) == before


@pytest.mark.parametrize("network", GIVEN)
async def test_wrong_credentials(empty: Served, network: str) -> None:
    before = await read_connections(empty)
    assert get_samples(network).wrong_credentials, "an error of the samples: there is nothing wrong to try"
    wrong = make_credentials(network, **get_samples(network).wrong_credentials)
    problem = await empty.admin.problem(400, "POST", "/connections/credentials", wrong)
    assert problem["code"] == "provider_token_refused"
    assert "mistaken" not in json.dumps(problem)
    assert await read_connections(empty) == before


async def test_a_network_that_fails_in_between(empty: Served) -> None:
    before = await read_connections(empty)
    async with browser() as client:
        address = await allow_consent(empty, client)
        await empty.networks.fault("meta", "status", path="/v26.0/oauth/access_token", value=500, times=10)
        assert (await client.get(address)).status_code == 400
        empty.networks.state.faults.pending.clear()
    assert await read_connections(empty) == before


@pytest.mark.exhaustive
async def test_a_first_tree_that_cannot_be_read(empty: Served) -> None:
    """Three tries, then it has failed; the accounts are connected nevertheless."""
    empty.networks.state.faults.pending.clear()
    await empty.networks.fault("amazon", "status", path="/sp/campaigns/list", value=500, times=1000)
    await connect(empty, "amazon", "stranger")
    empty.networks.state.faults.pending.clear()
    failed = await empty.events("sync.failed", "stranger")
    accounts = await empty.person("stranger").get("/accounts", network="amazon")
    assert {event.account_id for event in failed} == {account["accountId"] for account in accounts}
    assert {event.data["what"] for event in failed} == {"tree"}
    assert not await empty.events("account.ads.initial_sync_completed", "stranger")


@pytest.mark.parametrize(("network", "host"), [("outbrain", "outbrain"), ("chatgpt", "openai")])
async def test_an_account_that_moved_or_went_before_its_first_tree_was_read(
    empty: Served, network: str, host: str
) -> None:
    """Nothing has failed: another connection reads it, or none can."""
    person, failed = empty.person("stranger"), len(await empty.events("sync.failed", "stranger"))
    read_count = empty.networks.count("GET", host, "campaigns")
    await empty.networks.fault(network, "status", path="/*campaigns*", value=403, times=1000)
    connection = await person.post("/connections/credentials", make_credentials(network), 201)
    async with asyncio.timeout(10):
        while empty.networks.count("GET", host, "campaigns") < read_count + len(connection["accounts"]):
            await asyncio.sleep(0.01)
    if network == "outbrain":
        again = await person.post("/connections/credentials", make_credentials(network), 201)
        assert again["accounts"] == connection["accounts"]
    else:
        await person.send("DELETE", f"/connections/{connection['connectionId']}")
    empty.networks.state.faults.pending.clear()
    await empty.wait_for_background_tasks()
    assert len(await empty.events("sync.failed", "stranger")) == failed


# -- again, and no more -------------------------------------------------------------------------------------------


async def test_connecting_again_keeps_the_accounts(empty: Served) -> None:
    await connect(empty, "meta")
    before = {row["accountId"]: row["connectionId"] for row in await empty.admin.get("/accounts", network="meta")}
    await connect(empty, "meta")
    after = {row["accountId"]: row["connectionId"] for row in await empty.admin.get("/accounts", network="meta")}
    assert before.keys() == after.keys()
    assert set(before.values()).isdisjoint(after.values())
    states = {connection["connectionId"]: connection["status"] for connection in await empty.admin.get("/connections")}
    assert {states[connection_id] for connection_id in before.values()} == {"disconnected"}
    assert {states[connection_id] for connection_id in after.values()} == {"active"}
    account = next(iter(after))
    assert [e.type for e in await empty.events("account.ads.initial_sync_completed") if e.account_id == account]
    assert (await empty.admin.get(f"/accounts/{account}/tree"))["accountId"] == account


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_disconnecting(empty: Served, network: str) -> None:
    account = await connect(empty, network)
    created = await empty.admin.post("/create", {"accountId": account, "campaign": brief(network)}, 201)
    connection = next(
        row["connectionId"]
        for row in await empty.admin.get("/connections")
        if row["network"] == network and row["status"] == "active"
    )
    alive = set(empty.networks.state.worlds[network].tokens)
    request_count = len(empty.networks.requests)
    gone = await empty.admin.delete(f"/connections/{connection}")
    assert (gone["connectionId"], gone["status"]) == (connection, "disconnected")
    requests = [(method, path.partition("?")[0]) for method, _, path in empty.networks.requests[request_count:]]
    revocation = get_samples(network).revocation
    if revocation is None:
        assert requests == []
    else:
        expected = [(revocation.method, True)] * revocation.requests
        assert [(method, path.endswith(revocation.path)) for method, path in requests] == expected
        assert bool(alive - set(empty.networks.state.worlds[network].tokens)) == revocation.ends_tokens
    accounts = await empty.admin.get("/accounts", network=network)
    assert {(row["status"], row["connectionId"]) for row in accounts} == {("disconnected", None)}
    events = [event.account_id for event in await empty.events("account.disconnected")]
    assert set(gone["accounts"]) == {row["accountId"] for row in accounts} <= set(events)
    rows = await empty.service.store.read(
        lambda open_: open_.execute(select(secrets).where(secrets.c.row_id == connection)).all()
    )
    assert rows == []
    # nothing is read or prepared through it any more, and what was prepared is not executed
    body = {"accountId": account, "campaign": brief(network)}
    for path, asked_for in (
        ("/create", body),
        ("/validate-campaign", body),
        ("/bulk-status", {"accountId": account, "kind": "campaign", "entityIds": ["1"], "status": "paused"}),
    ):
        assert await empty.admin.read_issues("POST", path, asked_for) == {("accountId", "account_disconnected")}
    day = empty.hands.now().date() - timedelta(days=2)  # it has passed in the timezone of every account
    for path in ("tree", "campaigns", f"insights?startDate={day}&endDate={day}"):
        refused = await empty.admin.read_issues("GET", f"/accounts/{account}/{path}")
        assert refused == {("accountId", "account_disconnected")}
    writes = empty.networks.writes()
    problem = await empty.admin.problem(400, "POST", f"/operations/{created['id']}/execute", {"confirmed": True})
    assert problem["code"] == "account_disconnected"
    assert empty.networks.writes() == writes
    # again: nothing happens
    events_before = await empty.rows()
    assert await empty.admin.delete(f"/connections/{connection}") == gone
    assert await empty.rows() == events_before
    # and back
    assert await connect(empty, network) == account
    assert (await empty.admin.execute(created["id"]))["status"] == "succeeded"


async def test_disconnecting_from_a_network_out_of_reach(empty: Served) -> None:
    account = await connect(empty, "meta")
    connection = (await empty.admin.get(f"/accounts/{account}"))["connectionId"]
    await empty.networks.fault("meta", "reset_before", path="/v26.0/me/permissions", times=10)
    assert (await empty.admin.delete(f"/connections/{connection}"))["status"] == "disconnected"
    empty.networks.state.faults.pending.clear()
    assert (await empty.admin.get(f"/accounts/{account}"))["status"] == "disconnected"


async def test_two_workspaces_share_nothing(empty: Served) -> None:
    """The same native account in two workspaces is two accounts; one goes, the other stays."""
    mine, theirs = await connect(empty, "google"), await connect(empty, "google", "stranger")
    assert mine != theirs
    connection = (await empty.person("stranger").get(f"/accounts/{theirs}"))["connectionId"]
    await empty.person("stranger").delete(f"/connections/{connection}")
    assert (await empty.admin.get(f"/accounts/{mine}"))["status"] == "active"
    assert (await empty.admin.get(f"/accounts/{mine}/tree"))["network"] == "google"


async def test_times_are_instants(empty: Served) -> None:
    for connection in await empty.admin.get("/connections"):
        assert datetime.fromisoformat(connection["createdAt"]).tzinfo == UTC
        assert connection["expiresAt"] is None or datetime.fromisoformat(connection["expiresAt"]).tzinfo == UTC
