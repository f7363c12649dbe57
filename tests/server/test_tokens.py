"""Tokens that end, are revoked, or are refused: refreshed in time and once, or a person must connect again."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import Connection, select

from adsunify.errors import StoreError
from adsunify.http.messages import Request, build_request_url
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.service import accounts, network_session
from adsunify.service.factory import open_service
from adsunify.service.network_session import NetworkSession
from adsunify.store import Clock, connections
from adsunify.store.schema import secrets
from tests.networks.samples import get_samples

from .served import RING, Served, brief, connect

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOKEN = {"google": "oauth2.googleapis.com", "amazon": "api.amazon.", "meta": "graph.facebook.com"}


def count_refreshes(server: Served, network: str) -> int:
    """How often the network was asked for tokens so far."""
    path = "/oauth/access_token" if network == "meta" else "/token"
    return server.networks.count("GET" if network == "meta" else "POST", "", path)


def forget(server: Served, network: str, use: str | None = None) -> dict[str, Any]:
    """The network forgets its tokens (of one use: access, refresh); what it knew before."""
    world = server.networks.state.worlds[network]
    before = dict(world.tokens)
    world.tokens = {text: token for text, token in before.items() if use is not None and token.use != use}
    return before


async def read_tree(server: Served, network: str) -> Any:
    return await server.admin.get(f"/accounts/{server.accounts[network]}/tree")


async def list_statuses(server: Served, network: str) -> set[str]:
    account_statuses = {account["status"] for account in await server.admin.get("/accounts", network=network)}
    active = [row["status"] for row in await server.admin.get("/connections") if row["network"] == network]
    return account_statuses | set(active) - {"disconnected"}


@pytest.mark.parametrize("network", ["google", "amazon"])
async def test_a_token_is_refreshed_ahead_of_its_end_and_once(empty: Served, network: str) -> None:
    await connect(empty, network)
    before = count_refreshes(empty, network)
    await read_tree(empty, network)
    empty.hands.pass_(minutes=54)
    await read_tree(empty, network)
    assert count_refreshes(empty, network) == before
    empty.hands.pass_(minutes=2)  # four of its sixty minutes are left
    await asyncio.gather(*(read_tree(empty, network) for _ in range(10)))
    assert count_refreshes(empty, network) == before + 1
    await read_tree(empty, network)
    assert count_refreshes(empty, network) == before + 1
    assert await list_statuses(empty, network) == {"active"}


async def test_a_token_that_cannot_be_refreshed_is_exchanged_while_it_lives(empty: Served) -> None:
    """Meta's 60 days begin again with every exchange; a token that has ended is lost."""
    await connect(empty, "meta")
    before = count_refreshes(empty, "meta")
    for day in (29, 2, 28, 29, 2):
        empty.hands.pass_(days=day)
        await read_tree(empty, "meta")
    assert count_refreshes(empty, "meta") == before + 2
    assert await list_statuses(empty, "meta") == {"active"}


async def test_a_database_that_is_gone_for_a_moment_loses_no_refreshed_token(
    empty: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refresh token that is kept may be used up: a second use would be taken for a theft."""
    await connect(empty, "amazon")
    before = count_refreshes(empty, "amazon")
    empty.hands.pass_(minutes=56)
    finish, left = connections.finish_refresh, [StoreError("gone"), StoreError("still gone")]

    def fail_first_save(connection: Connection, *arguments: Any) -> bool:
        if left:
            raise left.pop()
        return finish(connection, *arguments)

    monkeypatch.setattr(connections, "finish_refresh", fail_first_save)
    monkeypatch.setattr(network_session, "SAVE_PAUSE_SECONDS", 0.0, raising=False)
    for _ in range(2):
        await read_tree(empty, "amazon")
    assert count_refreshes(empty, "amazon") == before + 1
    assert await list_statuses(empty, "amazon") == {"active"}


async def test_two_processes_refresh_once(empty: Served) -> None:
    await connect(empty, "google")
    before = count_refreshes(empty, "google")
    clock = Clock(empty.hands.milliseconds, lambda: 0)
    opened = await open_service(empty.database, RING, sandbox_url=empty.networks.url, clock=clock)
    try:
        actor, account = empty.people["admin"].actor, empty.accounts["google"]
        services = [empty.service, opened.service] * 4
        for rounds in range(1, 11):
            empty.hands.pass_(minutes=56)
            await asyncio.gather(
                *(accounts.read_account_tree(service, actor, account_id=account) for service in services)
            )
            assert count_refreshes(empty, "google") == before + rounds
    finally:
        await opened.service.close()


async def test_a_refresh_that_fails_does_not_matter_while_the_token_lives(empty: Served) -> None:
    await connect(empty, "google")
    empty.hands.pass_(minutes=57)
    await empty.networks.fault("google", "status", path="/token", value=500, times=1000)
    await read_tree(empty, "google")
    empty.hands.pass_(minutes=4)
    problem = await empty.admin.problem(400, "GET", f"/accounts/{empty.accounts['google']}/tree")
    assert (problem["code"], problem["outcome"]) == ("provider_unreadable", "not_applied")
    empty.networks.state.faults.pending.clear()
    await read_tree(empty, "google")
    assert await list_statuses(empty, "google") == {"active"}


@pytest.mark.parametrize("network", ["google", "amazon"])
async def test_a_read_whose_token_is_refused_refreshes_and_is_repeated(empty: Served, network: str) -> None:
    await connect(empty, network)
    forget(empty, network, "access")
    before = count_refreshes(empty, network)
    assert (await read_tree(empty, network))["network"] == network
    assert count_refreshes(empty, network) == before + 1
    assert await list_statuses(empty, network) == {"active"}


async def test_a_refresh_is_not_cut(empty: Served) -> None:
    """The tokens that a refresh brings are stored, even if its caller has gone."""
    await connect(empty, "amazon")
    session = await NetworkSession.load(empty.service, empty.people["admin"].actor, empty.accounts["amazon"])
    stored_secrets = await empty.service.store.read(_read_secrets, session.account.connection_id)
    empty.hands.pass_(minutes=56)
    before = count_refreshes(empty, "amazon")
    await empty.networks.fault("amazon", "latency", path="/auth/o2/token", value=200)
    asking = asyncio.create_task(session.load_credentials())
    while count_refreshes(empty, "amazon") == before:
        await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert empty.service.shielded_tasks
    await asyncio.wait(empty.service.shielded_tasks)
    assert await empty.service.store.read(_read_secrets, session.account.connection_id) != stored_secrets
    await read_tree(empty, "amazon")
    assert count_refreshes(empty, "amazon") == before + 1


def _read_secrets(connection: Any, connection_id: str) -> Any:
    return connection.execute(select(secrets.c.sealed).where(secrets.c.row_id == connection_id)).scalar_one()


@pytest.mark.parametrize("network", list(TOKEN))
async def test_a_revoked_grant_needs_a_person(empty: Served, network: str) -> None:
    account = await connect(empty, network)
    created = await empty.admin.post("/create", {"accountId": account, "campaign": brief(network)}, 201)
    event_count = len(await empty.events("account.needs_reauth"))
    forget(empty, network)
    for _ in range(2):
        problem = await empty.admin.problem(400, "GET", f"/accounts/{account}/tree")
        assert (problem["code"], problem["outcome"]) == ("provider_token_refused", "not_applied")
        assert problem["network"]["message"]
    assert await list_statuses(empty, network) == {"needs_reauth"}
    events = (await empty.events("account.needs_reauth"))[event_count:]
    of_network = {row["accountId"] for row in await empty.admin.get("/accounts", network=network)}
    assert sorted(str(event.account_id) for event in events) == sorted(of_network)  # each of them once
    assert {(event.data["status"], event.data["network"]) for event in events} == {("needs_reauth", network)}
    body = {"accountId": account, "campaign": brief(network)}
    assert await empty.admin.read_issues("POST", "/create", body) == {("accountId", "account_needs_reauth")}
    writes = empty.networks.writes()
    answer = await empty.admin.send("POST", f"/operations/{created['id']}/execute", {"confirmed": True})
    assert (answer.status_code, answer.json()["code"]) == (403, "access_lost")
    assert answer.json()["operation"]["status"] == "prepared"
    assert empty.networks.writes() == writes
    connected = len(await empty.events("account.connected"))
    assert await connect(empty, network) == account
    assert await list_statuses(empty, network) == {"active"}
    back = (await empty.events("account.connected"))[connected:]
    assert {event.account_id for event in back} == of_network
    assert (await empty.admin.execute(created["id"]))["status"] == "succeeded"


async def test_a_refusal_that_passes_is_told_twice(empty: Served) -> None:
    """The network takes the token again: the same event, with the status of now."""
    account = await connect(empty, "google")
    before = forget(empty, "google")
    await empty.admin.problem(400, "GET", f"/accounts/{account}/tree")
    event_count = len(await empty.events("account.needs_reauth"))
    empty.networks.state.worlds["google"].tokens = {t: token for t, token in before.items() if token.use == "refresh"}
    await read_tree(empty, "google")
    assert await list_statuses(empty, "google") == {"active"}
    back = (await empty.events("account.needs_reauth"))[event_count:]
    assert {event.data["status"] for event in back} == {"active"}
    assert account in {event.account_id for event in back}


async def test_a_token_that_is_taken_again_needs_no_refresh(empty: Served) -> None:
    account = await connect(empty, "google")
    before = forget(empty, "google")
    await empty.admin.problem(400, "GET", f"/accounts/{account}/tree")
    empty.networks.state.worlds["google"].tokens = before
    refresh_count = count_refreshes(empty, "google")
    await read_tree(empty, "google")
    assert (await list_statuses(empty, "google"), count_refreshes(empty, "google")) == ({"active"}, refresh_count)
    assert (await empty.events("account.needs_reauth"))[-1].data["status"] == "active"


async def test_a_write_whose_token_is_refused_is_handed_back_once(empty: Served) -> None:
    """A new intent with the refreshed token, never a silent repetition."""
    account = await connect(empty, "amazon")
    created = await empty.admin.post("/create", {"accountId": account, "campaign": brief("amazon")}, 201)
    forget(empty, "amazon", "access")
    writes, before = empty.networks.writes(), count_refreshes(empty, "amazon")
    back = await empty.admin.execute(created["id"])
    assert (back["status"], back["nextAction"]) == ("prepared", "execute")
    assert back["error"]["code"] == "provider_token_refused"
    assert [step["state"] for step in back["receipt"]["steps"]] == ["rejected"]
    assert (empty.networks.writes(), count_refreshes(empty, "amazon")) == (writes, before + 1)
    done = await empty.admin.execute(created["id"])
    assert done["status"] == "succeeded"
    assert [(step["key"], step["attempt"]) for step in done["receipt"]["steps"]][:2] == [
        ("campaign", 1),
        ("campaign", 2),
    ]


async def test_a_refreshed_token_that_is_refused_again_is_confirmed_by_a_read(empty: Served) -> None:
    account = await connect(empty, "amazon")
    created = await empty.admin.post("/create", {"accountId": account, "campaign": brief("amazon")}, 201)
    await empty.networks.fault("amazon", "status", path="/sp/campaigns", value=401, times=2)
    assert (await empty.admin.execute(created["id"]))["nextAction"] == "execute"
    problem = await empty.admin.problem(400, "POST", f"/operations/{created['id']}/execute", {"confirmed": True})
    assert (problem["code"], problem["outcome"]) == ("provider_token_refused", "not_applied")
    assert await list_statuses(empty, "amazon") == {"active"}  # the read was answered: the token is alive
    again = await empty.admin.post("/create", {"accountId": account, "campaign": brief("amazon")}, 201)
    await empty.networks.fault("amazon", "status", path="/sp/campaigns", value=401, times=2)
    await empty.networks.fault("amazon", "status", path="/v2/profiles", value=401, times=10)
    await empty.admin.execute(again["id"])
    await empty.admin.problem(400, "POST", f"/operations/{again['id']}/execute", {"confirmed": True})
    empty.networks.state.faults.pending.clear()
    assert await list_statuses(empty, "amazon") == {"needs_reauth"}


# -- one refusal is no proof --------------------------------------------------------------------------------------


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_one_refused_write_leaves_the_account_active(empty: Served, network: str) -> None:
    """Nothing was refused by a refresh, and the cheap read is answered: the answer may say that one can go on."""
    await connect(empty, network)
    created = await empty.admin.post("/create", {"accountId": empty.accounts[network], "campaign": brief(network)}, 201)
    await empty.networks.fault(network, "status", method="POST", value=401)
    back = await empty.admin.execute(created["id"])
    assert (back["status"], back["nextAction"]) == ("prepared", "execute")
    assert back["error"]["code"] == "provider_token_refused"
    assert await list_statuses(empty, network) == {"active"}
    assert (await empty.admin.execute(created["id"]))["status"] == "succeeded"


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_a_dead_token_is_confirmed_and_nothing_says_to_go_on(empty: Served, network: str) -> None:
    await connect(empty, network)
    created = await empty.admin.post("/create", {"accountId": empty.accounts[network], "campaign": brief(network)}, 201)
    forget(empty, network)
    if path := get_samples(network).key_refusal_path:
        await empty.networks.fault(network, "status", path=path, value=401, times=10)
    problem = await empty.admin.problem(400, "POST", f"/operations/{created['id']}/execute", {"confirmed": True})
    empty.networks.state.faults.pending.clear()
    assert (problem["code"], problem["outcome"]) == ("provider_token_refused", "not_applied")
    assert "nextAction" not in problem["operation"]
    assert await list_statuses(empty, network) == {"needs_reauth"}
    problem = await empty.admin.problem(403, "POST", f"/operations/{created['id']}/execute", {"confirmed": True})
    assert problem["code"] == "access_lost" and "Connect the account again" in problem["detail"]


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_a_read_that_is_refused_twice_is_confirmed_by_another(empty: Served, network: str) -> None:
    """Networks answer 401 to what a user may not do, too: the account stays active while it can be listed."""
    await connect(empty, network)
    session = await NetworkSession.load(empty.service, empty.people["admin"].actor, empty.accounts[network])
    request = next(session.adapter.reads.fetch_tree(session.native_account))
    assert isinstance(request, Request)
    path = get_samples(network).first_read_path or urlsplit(build_request_url(request)).path
    await empty.networks.fault(network, "status", path=path, value=401, times=2)
    problem = await empty.admin.problem(400, "GET", f"/accounts/{empty.accounts[network]}/tree")
    empty.networks.state.faults.pending.clear()
    assert problem["code"] == "provider_token_refused"
    assert await list_statuses(empty, network) == {"active"}
