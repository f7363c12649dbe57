"""A client of a server that is down, slow, overloaded, or cut off: nothing is done twice, and the error says whose."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import pytest
import pytest_asyncio
from attrs import evolve

from adsunify import Ads, AsyncAds
from adsunify.client.http_backend import HttpBackend
from adsunify.client.options import OPTION_NAMES, RequestInfo, ResponseInfo
from adsunify.errors import (
    AdsunifyError,
    InvalidInput,
    NotFound,
    RateLimited,
    ServerConnectionError,
    ServerUnreachable,
    Unauthenticated,
)
from tests.server.served import NEVER, Served, brief

from .conftest import open_client
from .failing import BROKEN, FailingProxy, failing_proxy, find_free_port

pytestmark = pytest.mark.asyncio(loop_scope="module")
DOWN = "http://127.0.0.1:9"


@pytest_asyncio.fixture(loop_scope="module")
async def proxy(server: Served) -> AsyncIterator[FailingProxy]:
    server.networks.state.faults.pending.clear()
    async with failing_proxy(server.base_url) as failing:
        yield failing


@asynccontextmanager
async def remote(server: Served, url: str, **options: Any) -> AsyncIterator[tuple[AsyncAds, list[float]]]:
    """A client whose first attempt waits half a second for an answer, and the waits between its attempts."""
    http_client, waits = httpx.AsyncClient(trust_env=False), list[float]()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    def limit(info: RequestInfo) -> None:
        http_client.timeout = httpx.Timeout(60, read=0.5 if info.attempt == 1 and stalls else 60)

    stalls = options.pop("stalls", False)
    token = server.people["admin"].tokens["write"]
    client_options = {"http_client": http_client, "on_request": limit, **options}
    async with AsyncAds(url, token=token, **client_options) as client:
        assert isinstance(client.backend, HttpBackend)
        client._backend = evolve(client.backend, sleep=sleep)
        yield client, waits


def campaign(server: Served) -> dict[str, Any]:
    return {"accountId": server.accounts["meta"], "campaign": brief("meta")}


async def create(client: AsyncAds, server: Served) -> Mapping[str, Any]:
    return (await client.call("post_create", body=campaign(server)))["data"]


async def execute(client: AsyncAds, operation: Mapping[str, Any]) -> Mapping[str, Any]:
    path = {"operationId": operation["id"]}
    return (await client.call("post_operation_execute", path=path, body={"confirmed": True}))["data"]


async def operations(server: Served) -> set[str]:
    return {row["id"] for row in await server.admin.get("/operations")}


# -- what is repeated ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", BROKEN)
async def test_a_read_is_repeated(server: Served, proxy: FailingProxy, fault: str) -> None:
    proxy.faults = [fault]
    async with remote(server, proxy.url, stalls=fault.startswith("stall")) as (client, waits):
        answer = await client.call("get_account", path={"accountId": server.accounts["meta"]})
    assert answer["data"]["accountId"] == server.accounts["meta"]
    assert (len(proxy.keys), len(waits)) == (2, 1)


@pytest.mark.parametrize("fault", BROKEN)
async def test_a_repeated_prepare_is_one_operation(server: Served, proxy: FailingProxy, fault: str) -> None:
    """Each call has its own key, and each attempt of a call has the same."""
    before = await operations(server)
    proxy.faults = [fault]
    async with remote(server, proxy.url, stalls=fault.startswith("stall")) as (client, _):
        first = await create(client, server)
        await proxy.settle()
        assert await operations(server) - before == {first["id"]}
        second = await create(client, server)
    assert first["id"] != second["id"]
    assert len(proxy.keys) == 3 and proxy.keys[0] == proxy.keys[1] != proxy.keys[2]
    assert all(proxy.keys)


async def test_a_key_of_the_caller_is_used(server: Served, proxy: FailingProxy) -> None:
    proxy.faults = ["reset after"]
    async with remote(server, proxy.url) as (client, _):
        body = campaign(server)
        answers = [await client.call("post_create", body=body, idempotency_key="mine") for _ in range(2)]
    assert answers[0]["data"]["id"] == answers[1]["data"]["id"]
    assert proxy.keys == ["mine"] * 3


@pytest.mark.parametrize("fault", [*BROKEN, "html", "redirect"])
async def test_an_execute_is_not_repeated(server: Served, proxy: FailingProxy, fault: str) -> None:
    """Its outcome is unknown; the operation itself says what was done, and what remains is done on purpose."""
    operation = await server.admin.post("/create", campaign(server), status=201)
    writes = server.networks.writes()
    proxy.faults = [fault]
    async with remote(server, proxy.url, stalls=fault.startswith("stall")) as (client, waits):
        with pytest.raises(ServerUnreachable) as error:
            await execute(client, operation)
        await proxy.settle()
        assert (len(proxy.keys), waits, error.value.outcome) == (1, [], "unknown")
        is_done = fault == "cut" or fault.endswith(" after")
        assert server.networks.writes() == writes + (4 if is_done else 0)
        assert (await execute(client, operation))["status"] == "succeeded"
    assert server.networks.writes() == writes + 4


async def test_an_execute_that_was_refused_by_the_rate_limit_is_repeated(server: Served, proxy: FailingProxy) -> None:
    """The server's own refusal is made before anything is done."""
    writes = server.networks.writes()
    async with remote(server, proxy.url) as (client, waits):
        operation = await create(client, server)
        proxy.faults, proxy.keys = ["limited", "limited"], []
        assert (await execute(client, operation))["status"] == "succeeded"
    assert (len(proxy.keys), server.networks.writes()) == (3, writes + 4)
    assert len(waits) == 2 and min(waits) >= 3.5 and max(waits) <= 4.5


async def test_an_execute_that_did_not_reach_the_server_is_repeated(server: Served) -> None:
    """A refused connection: nothing was sent. The server starts during the wait."""
    operation = await server.admin.post("/create", campaign(server), status=201)
    writes, port = server.networks.writes(), find_free_port()
    async with AsyncExitStack() as later, remote(server, f"http://127.0.0.1:{port}") as (client, waits):
        with pytest.raises(ServerConnectionError, match="nothing was sent") as error:
            await execute(client, operation)
        assert (error.value.outcome, len(waits), server.networks.writes()) == ("not_applied", 2, writes)

        async def start_server(seconds: float) -> None:
            await later.enter_async_context(failing_proxy(server.base_url, port))

        assert isinstance(client.backend, HttpBackend)
        client._backend = evolve(client.backend, sleep=start_server)
        assert (await execute(client, operation))["status"] == "succeeded"
    assert server.networks.writes() == writes + 4


async def test_keys_and_webhooks_are_not_made_twice(server: Served, proxy: FailingProxy) -> None:
    keys = len(await server.admin.get("/keys"))
    proxy.faults = ["reset after"]
    async with remote(server, proxy.url) as (client, _):
        with pytest.raises(ServerConnectionError) as error:
            await client.call("post_keys", body={"name": "made once", "canWrite": False})
    assert (error.value.outcome, len(proxy.keys)) == ("unknown", 1)
    assert len(await server.admin.get("/keys")) == keys + 1


async def test_a_validation_is_repeated(server: Served, proxy: FailingProxy) -> None:
    proxy.faults = ["reset after", "cut"]
    body = campaign(server)
    async with remote(server, proxy.url) as (client, _):
        assert (await client.call("post_validate_campaign", body=body))["data"]["valid"] is True
        proxy.faults = ["reset after"] * 3
        with pytest.raises(ServerConnectionError) as error:
            await client.call("post_validate_campaign", body=body)
    assert error.value.outcome == "not_applied"


# -- what is raised at the end ------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["reset after", "cut", "502 after", "503 seconds", "429 date", "html", "redirect"])
async def test_the_error_names_the_server(server: Served, proxy: FailingProxy, fault: str) -> None:
    proxy.faults = [fault] * 6
    async with remote(server, proxy.url) as (client, _):
        for operation_id, outcome in (("get_auth_verify", "not_applied"), ("post_create", "unknown")):
            proxy.keys = []
            with pytest.raises(ServerUnreachable) as error:
                if operation_id == "post_create":
                    await create(client, server)
                else:
                    await client.call(operation_id)
            assert len(proxy.keys) == (1 if fault in ("html", "redirect") else 3)
            assert f"the adsunify server at {proxy.url}" in error.value.message
            assert "network" not in error.value.message and server.people["admin"].tokens["write"] not in str(error)
            assert (error.value.code, error.value.outcome) == ("server_unreachable", outcome)
            assert isinstance(error.value, ConnectionError) is (fault in ("reset after", "cut"))


async def test_a_doubt_stays(server: Served, proxy: FailingProxy) -> None:
    """The last attempt certainly did nothing, but an earlier one may have prepared the operation."""
    for faults in (["reset after", "revoked"], ["502 after", "limited", "limited"], ["cut", "html"]):
        before = await operations(server)
        proxy.faults = faults
        async with remote(server, proxy.url) as (client, _):
            with pytest.raises(AdsunifyError) as error:
                await create(client, server)
        assert error.value.outcome == "unknown", faults
        assert len(await operations(server) - before) == 1
    proxy.faults = ["limited", "revoked"]
    async with remote(server, proxy.url) as (client, _):
        with pytest.raises(Unauthenticated) as error:
            await create(client, server)
    assert error.value.outcome == "not_applied"


async def test_the_request_id(server: Served, proxy: FailingProxy) -> None:
    """An error has the id under which the server logged the request."""
    responses: list[ResponseInfo] = []
    async with remote(server, proxy.url, on_response=responses.append, max_retries=0) as (client, _):
        with pytest.raises(NotFound) as error:
            await client.call("get_account", path={"accountId": NEVER})
        assert error.value.request_id == responses[0].request_id and error.value.request_id
        proxy.faults = ["limited"]
        with pytest.raises(RateLimited) as limited:
            await client.call("get_networks")
        assert limited.value.request_id == "from-the-server"
        proxy.faults = ["reset"]
        with pytest.raises(ServerConnectionError) as lost:
            await client.call("get_networks")
        assert lost.value.request_id is None


# -- waiting ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["503 seconds", "429 seconds", "429 date"])
async def test_it_waits_as_long_as_it_is_asked_to(server: Served, proxy: FailingProxy, fault: str) -> None:
    proxy.faults = [fault]
    async with remote(server, proxy.url) as (client, waits):
        await client.call("get_networks")
    assert len(waits) == 1 and 7 <= waits[0] <= 7.5


@pytest.mark.parametrize("timeout", [5, 5.0, httpx.Timeout(60)])
async def test_it_does_not_wait_beyond_the_deadline(server: Served, proxy: FailingProxy, timeout: Any) -> None:
    """5 s end before 7 s have passed; with limits of each phase, no attempt begins after 120 s."""
    proxy.faults = ["429 later"] if isinstance(timeout, httpx.Timeout) else ["429 seconds"]
    async with remote(server, proxy.url, timeout=timeout) as (client, waits):
        with pytest.raises(ServerUnreachable, match="HTTP 429"):
            await client.call("get_networks")
    assert (waits, len(proxy.keys)) == ([], 1)


async def test_a_call_ends_at_its_deadline(server: Served, proxy: FailingProxy) -> None:
    """Also where each byte of the answer arrives in time."""
    proxy.faults = ["trickle"] * 3
    async with remote(server, proxy.url, timeout=1) as (client, _):
        with pytest.raises(ServerConnectionError, match="adsunify server") as error:
            await client.call("get_networks")
    assert (error.value.outcome, len(proxy.keys)) == ("not_applied", 1)


async def test_as_many_attempts_as_allowed(server: Served, proxy: FailingProxy) -> None:
    for retries in (0, 1, 3):
        proxy.faults, proxy.keys = ["reset"] * 4, []
        async with remote(server, proxy.url, max_retries=retries) as (client, waits):
            with pytest.raises(ServerConnectionError):
                await client.call("get_networks")
        assert (len(proxy.keys), len(waits)) == (retries + 1, retries)


# -- hooks, log, HTTP client --------------------------------------------------------------------------------------


async def test_hooks_and_log(server: Served, proxy: FailingProxy, caplog: pytest.LogCaptureFixture) -> None:
    """They tell of each attempt, and hold no token, no body and no query."""
    sent, received = list[RequestInfo](), list[ResponseInfo]()
    proxy.faults, body = ["reset"], campaign(server)
    path = f"/api/v1/ads/accounts/{server.accounts['meta']}/catalogs/locales"
    with caplog.at_level(logging.DEBUG, "adsunify"):
        async with remote(server, proxy.url, on_request=sent.append, on_response=received.append) as (client, _):
            await client.call(
                "get_account_catalog",
                path={"accountId": server.accounts["meta"], "resource": "locales"},
                query={"search": "secret-words"},
            )
            await client.call("post_create", body=body)
    about = ("get_account_catalog", "GET", path)
    assert sent[:2] == [RequestInfo(*about, 1), RequestInfo(*about, 2)]
    assert [(response.operation_id, response.attempt, response.status) for response in received] == [
        ("get_account_catalog", 1, None),
        ("get_account_catalog", 2, 200),
        ("post_create", 1, 201),
    ]
    assert all(response.elapsed > 0 for response in received)
    assert [response.request_id is None for response in received] == [True, False, False]
    lines = [record.getMessage() for record in caplog.records if record.name == "adsunify"]
    assert any(path in line and "attempt 2: status 200" in line for line in lines)
    for secret in (server.people["admin"].tokens["write"], "secret-words", body["campaign"]["name"]):
        assert not any(secret in line for line in lines)


async def test_an_http_client_of_the_caller(server: Served, proxy: FailingProxy) -> None:
    """Its headers are sent; its credentials and its redirects are not used; it is closed with the client."""
    own = httpx.AsyncClient(
        headers={"X-Company": "acme"}, auth=("me", "secret"), follow_redirects=True, trust_env=False
    )
    requests: list[httpx.Request] = []

    async def keep(request: httpx.Request) -> None:
        requests.append(request)

    own.event_hooks["request"].append(keep)
    proxy.faults = ["", "redirect"]
    async with remote(server, proxy.url, http_client=own, on_request=lambda info: None) as (client, _):
        await client.call("get_networks")
        with pytest.raises(ServerUnreachable, match="HTTP 307"):
            await client.call("get_networks")
    assert own.is_closed and len(requests) == 2
    assert requests[0].headers["X-Company"] == "acme"
    assert requests[0].headers["Authorization"] == f"Bearer {server.people['admin'].tokens['write']}"


async def test_without_awaiting(server: Served, proxy: FailingProxy) -> None:
    """Ads takes the same options; its HTTP client is an asynchronous one, too."""
    received: list[ResponseInfo] = []
    own = httpx.AsyncClient(trust_env=False)

    def work() -> None:
        token = server.people["admin"].tokens["write"]
        with Ads(proxy.url, token=token, http_client=own, on_response=received.append, max_retries=1) as ads:
            ads.call("get_networks")

    proxy.faults = ["reset"]
    await asyncio.to_thread(work)
    assert [response.status for response in received] == [None, 200] and own.is_closed


async def test_calls_with_other_options(server: Served, proxy: FailingProxy) -> None:
    """They use the connections, the hooks and the token of the client, which keeps its options."""
    received: list[ResponseInfo] = []
    async with remote(server, proxy.url, on_response=received.append) as (client, waits):
        careful = client.with_options(max_retries=0)
        for ads, attempts in ((careful, 1), (client, 3), (careful.with_options(max_retries=1), 2)):
            proxy.faults, proxy.keys = ["reset"] * attempts, []
            with pytest.raises(ServerConnectionError):
                await ads.accounts.list().all()
            assert len(proxy.keys) == attempts
        assert (len(received), len(waits)) == (6, 3)
        proxy.faults, proxy.keys = ["trickle"], []
        with pytest.raises(ServerConnectionError, match="No response in time"):
            await client.with_options(timeout=1).networks.get("meta")
        assert len(proxy.keys) == 1
        with pytest.raises(RuntimeError, match="open already"):
            await careful.open()
        assert (await careful.auth.verify()) == (await client.auth.verify())
    with pytest.raises(RuntimeError, match="closed"):
        await careful.auth.verify()


async def test_calls_with_other_options_without_awaiting(server: Served, proxy: FailingProxy) -> None:
    def work() -> None:
        ads = Ads(proxy.url, token=server.people["admin"].tokens["write"])
        with pytest.raises(RuntimeError, match="open the client first"):
            ads.with_options(max_retries=0)
        with ads:
            careful = ads.with_options(max_retries=0)
            with pytest.raises(ServerConnectionError):
                careful.accounts.list().all()
            assert careful.accounts.list().all() == ads.accounts.list().all() != []
        with pytest.raises(RuntimeError, match="open the client first"):
            careful.accounts.list().all()

    proxy.faults = ["reset"]
    await asyncio.to_thread(work)


# -- options that are refused -------------------------------------------------------------------------------------


async def hook(info: RequestInfo) -> None:
    """A coroutine function, which nobody would await."""


@pytest.mark.parametrize(
    ("options", "names", "text"),
    [
        ({"timeout": None}, ["timeout"], "seconds above 0"),
        ({"timeout": 0}, ["timeout"], "seconds above 0"),
        ({"timeout": True}, ["timeout"], "httpx.Timeout"),
        ({"timeout": "5"}, ["timeout"], "httpx.Timeout"),
        ({"timeout": float("nan"), "max_retries": -1}, ["timeout", "max_retries"], "from 0 to 10"),
        ({"max_retries": 1.0}, ["max_retries"], "whole number"),
        ({"http_client": httpx.Client}, ["http_client"], "httpx.AsyncClient, also for Ads"),
        ({"on_request": hook}, ["on_request"], "not a coroutine function"),
        ({"on_response": 5}, ["on_response"], "a function"),
        ({"proxy": "socks5://me:hush@proxy.example"}, ["proxy"], "http or https address of a proxy"),
        ({"proxy": None}, ["proxy"], "http or https address of a proxy"),
        ({"ca_file": "/nowhere.pem"}, ["ca_file"], "/nowhere.pem cannot be read: No such file"),
        ({"ca_file": __file__}, ["ca_file"], "no certificate in PEM"),
        ({"http_client": httpx.AsyncClient(), "proxy": "http://a", "ca_file": "b"}, ["proxy", "ca_file"], "combined"),
        ({"timeot": 5}, ["timeot"], "Did you mean timeout?"),
        ({"cookies": 5}, ["cookies"], "Options are timeout, max_retries"),
    ],
)
async def test_options_that_are_refused(options: dict[str, Any], names: list[str], text: str) -> None:
    with pytest.raises(InvalidInput) as error:
        async with AsyncAds(DOWN, token="t", **options):
            pass
    assert [issue.path for issue in error.value.issues] == names
    assert text in str(error.value) and "hush" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "name", "text"),
    [
        ({"timeout": 0}, "timeout", "seconds above 0"),
        ({"max_retries": None}, "max_retries", "whole number"),
        ({"max_retry": 1}, "max_retry", "Did you mean max_retries?"),
        ({"proxy": "http://proxy.example"}, "proxy", "only for a new client. Calls take timeout and max_retries."),
    ],
)
async def test_options_that_no_call_takes(options: Any, name: str, text: str) -> None:
    async with AsyncAds(DOWN, token="t") as client:
        with pytest.raises(InvalidInput) as error:
            client.with_options(**options)
    assert [issue.path for issue in error.value.issues] == [name]
    assert text in str(error.value)


async def test_calls_of_a_local_store_have_no_options(server: Served) -> None:
    async with open_client(server, "local") as client:
        with pytest.raises(InvalidInput, match="timeout: is only for a server"):
            client.with_options(timeout=5)


@pytest.mark.parametrize("name", OPTION_NAMES)
async def test_a_local_store_has_no_such_options(name: str) -> None:
    options: Any = {name: 5}
    with pytest.raises(InvalidInput) as error:
        async with AsyncAds("sqlite:///never.db", environment={}, **options):
            pass
    assert [(issue.path, issue.code) for issue in error.value.issues] == [(name, "not_supported")]
    assert "only for a server" in str(error.value)
