"""Rate limits: per credential, reads and writes apart; per IP address for requests without a valid credential."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from adsunify.errors import InvalidInput, RateLimited
from adsunify.problem_details import from_problem_details, to_problem_details
from adsunify.service import oauth_server
from adsunify.service.factory import PROXIES_VARIABLE, READS_VARIABLE, WRITES_VARIABLE, open_service
from adsunify.service.rate_limits import (
    MINUTE,
    BucketState,
    RateLimiter,
    RateLimits,
    TokenBuckets,
    find_client_ip,
    ip_bucket,
)
from adsunify.store import agents as kept_agents

from .served import PREFIX, RING, Served

pytestmark = pytest.mark.asyncio(loop_scope="module")
REDIRECT = "https://agent.example/cb"


@asynccontextmanager
async def set_rate_limits(server: Served, **rates: int) -> AsyncIterator[None]:
    """The server with these limits, and fresh buckets."""
    service = server.service
    before = service.rate_limiter
    service.rate_limiter = RateLimiter(RateLimits(**rates), service.counters, service.store.clock.wall)
    try:
        yield
    finally:
        service.rate_limiter = before


# -- buckets ------------------------------------------------------------------------------------------------------


@given(count=st.integers(1, 50), window=st.integers(1, 100_000), start=st.integers(0, 10**13))
async def test_a_bucket_holds_exactly_what_it_says(count: int, window: int, start: int) -> None:
    buckets = TokenBuckets(count, window)
    standing = [buckets.take("a", start) for _ in range(count)]
    assert [state.remaining for state in standing if isinstance(state, BucketState)] == list(range(count - 1, -1, -1))
    wait = buckets.take("a", start)
    assert isinstance(wait, int) and 0 < wait <= window
    assert isinstance(buckets.take("b", start), BucketState)
    if wait > 1:
        assert isinstance(buckets.take("a", start + wait - 1), int)
    assert isinstance(buckets.take("a", start + wait), BucketState)


@given(st.integers(1, 20), st.lists(st.integers(0, 400), max_size=200))
async def test_no_window_holds_more_than_a_full_bucket_and_what_fills_it(count: int, pauses: list[int]) -> None:
    buckets, at, taken = TokenBuckets(count, 1000), 0, []
    for pause in pauses:
        at += pause
        if isinstance(buckets.take("a", at), BucketState):
            taken.append(at)
    for first in taken:
        assert sum(first <= moment < first + 1000 for moment in taken) <= 2 * count


async def test_a_bucket_is_full_again_after_its_window() -> None:
    buckets = TokenBuckets(3, MINUTE)
    assert [buckets.take("a", 0) for _ in range(3)][-1] == BucketState(3, 0, MINUTE)
    assert buckets.take("a", 0) == MINUTE // 3
    assert buckets.take("a", MINUTE) == BucketState(3, 2, MINUTE // 3)


async def test_what_is_given_back_does_not_count() -> None:
    buckets = TokenBuckets(1, MINUTE)
    buckets.give_back("a")
    for _ in range(3):
        assert isinstance(buckets.take("a", 0), BucketState)
        buckets.give_back("a")
    buckets.take("a", 0)
    buckets.reset("a")
    assert isinstance(buckets.take("a", 0), BucketState)


async def test_buckets_are_bounded_and_the_longest_unused_goes_first() -> None:
    buckets = TokenBuckets(1, MINUTE, max_keys=100)
    buckets.take("kept", 0)
    for number in range(10_000):
        buckets.take(str(number), 0)
        assert isinstance(buckets.take("kept", 0), int)
    assert len(buckets) == 100


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("nonsense", "nonsense"),
        ("x" * 1000, "x" * 64),
    ],
)
async def test_what_an_address_is_counted_as(address: str, counted: str) -> None:
    assert ip_bucket(address) == counted


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        (0, ["192.0.2.1"], "peer"),
        (1, [], "peer"),
        (1, ["192.0.2.1"], "192.0.2.1"),
        (1, ["forged, 192.0.2.1"], "192.0.2.1"),
        (1, ["forged", "192.0.2.1"], "192.0.2.1"),
        (2, ["forged, 192.0.2.1, 10.0.0.1"], "192.0.2.1"),
        (2, ["10.0.0.1"], "peer"),
        (1, ["192.0.2.1, "], "peer"),
    ],
)
async def test_who_asks_behind_proxies(proxies: int, forwarded: list[str], expected: str) -> None:
    assert find_client_ip(proxies, "peer", forwarded) == expected


# -- credentials --------------------------------------------------------------------------------------------------


async def test_a_credential_may_read_so_often(empty: Served) -> None:
    async with set_rate_limits(empty, reads=3):
        left = [(await empty.admin.send("GET", "/keys")).headers for _ in range(3)]
        assert [headers["RateLimit-Remaining"] for headers in left] == ["2", "1", "0"]
        assert {headers["RateLimit-Limit"] for headers in left} == {"3"}
        assert [headers["RateLimit-Reset"] for headers in left] == ["20", "40", "60"]
        answer = await empty.admin.send("GET", "/keys")
        assert answer.status_code == 429
        assert answer.json()["code"] == "rate_limited" and answer.json()["outcome"] == "not_applied"
        assert answer.headers["Retry-After"] == answer.headers["RateLimit-Reset"] == "20"
        assert (answer.headers["RateLimit-Limit"], answer.headers["RateLimit-Remaining"]) == ("3", "0")
        assert 19_000 < answer.json()["retryAfterMs"] <= 20_000
        # others, other keys of the same person, and writes are not concerned
        assert (await empty.person("member").send("GET", "/keys")).status_code == 200
        assert (await empty.person("admin", "read").send("GET", "/keys")).status_code == 200
        assert (await empty.admin.send("POST", "/keys", {"name": "x"})).status_code == 201
        empty.hands.pass_(seconds=20)
        assert (await empty.admin.send("GET", "/keys")).status_code == 200


async def test_a_credential_may_write_so_often(empty: Served) -> None:
    async with set_rate_limits(empty, writes=2):
        for _ in range(2):
            assert (await empty.admin.send("POST", "/keys", {"name": "x"})).status_code == 201
        rows = await empty.rows()
        problem = await empty.admin.problem(429, "POST", "/keys", {"name": "x"})
        assert problem["code"] == "rate_limited"
        assert await empty.rows() == rows
        assert (await empty.admin.send("GET", "/keys")).status_code == 200


async def test_what_is_refused_counts_too(empty: Served) -> None:
    async with set_rate_limits(empty, writes=2):
        for _ in range(2):
            assert (await empty.admin.send("POST", "/keys", {})).status_code == 422
        assert (await empty.admin.send("POST", "/keys", {})).status_code == 429


async def test_zero_is_no_limit(empty: Served) -> None:
    async with set_rate_limits(empty, reads=0, writes=0, failures=0, registrations=0):
        for _ in range(5):
            answer = await empty.admin.send("GET", "/keys")
            assert answer.status_code == 200 and "RateLimit-Limit" not in answer.headers
        assert (await empty.caller("garbage").send("GET", "/keys")).status_code == 401


async def test_an_agent_is_told_in_its_own_way(empty: Served) -> None:
    """The tool's result says so, and when to come back; the same bucket as over REST."""
    headers = {
        "Authorization": f"Bearer {empty.people['admin'].tokens['write']}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
    }
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "account", "arguments": {}}}
    async with set_rate_limits(empty, reads=2):
        assert (await empty.admin.send("GET", "/keys")).status_code == 200
        results = [(await empty.http.post("/api/mcp", json=call, headers=headers)).json()["result"] for _ in range(2)]
    assert [result.get("isError", False) for result in results] == [False, True]
    assert results[1]["structuredContent"]["error"]["code"] == "rate_limited"
    assert results[1]["structuredContent"]["error"]["retryAfterMs"] > 0


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "method": "no/such"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_tools", "arguments": {}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"no": "message"},
        [],
        b"no JSON",
    ],
    ids=str,
)
async def test_every_message_of_an_agent_counts(empty: Served, message: Any) -> None:
    """Also in a batch, and when it is refused; the same bucket as over REST."""
    headers = {
        "Authorization": f"Bearer {empty.people['admin'].tokens['write']}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2025-03-26",
    }
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    async with set_rate_limits(empty, reads=5):
        for _ in range(2):
            await empty.http.post("/api/mcp", content=body, headers=headers)
        assert (await empty.admin.send("GET", "/keys")).headers["RateLimit-Remaining"] == "2"
        if isinstance(message, dict):
            answer = await empty.http.post("/api/mcp", json=[message] * 50, headers=headers)
            assert "too many reads" in answer.text or "id" not in message
        else:
            for _ in range(2):
                await empty.http.post("/api/mcp", content=body, headers=headers)
            answer = await empty.http.post("/api/mcp", content=body, headers=headers)
            assert answer.status_code == 429
        assert (await empty.admin.send("GET", "/keys")).status_code == 429


async def test_nothing_else_is_limited(empty: Served) -> None:
    async with set_rate_limits(empty, reads=1, writes=1, failures=1, registrations=1):
        for path in ("/healthz", "/readyz", "/openapi.json", "/docs"):
            assert {(await empty.http.get(path)).status_code for _ in range(5)} == {200}


async def test_a_client_is_told_with_the_same_error() -> None:
    problem = to_problem_details(RateLimited("Too many.", retry_after=1.5, limit=3))
    again = from_problem_details({**problem, "requestId": "x"})
    assert isinstance(again, RateLimited)
    assert (again.retry_after, again.status, again.code) == (1.5, 429, "rate_limited")


# -- those without a credential ----------------------------------------------------------------------------------


async def test_bad_tokens_are_counted_by_address_and_a_good_one_stays_good(empty: Served) -> None:
    async with set_rate_limits(empty, failures=3):
        bad = empty.caller("adu_AAAAAAAA_" + "A" * 43)
        assert [(await bad.send("GET", "/keys")).status_code for _ in range(5)] == [401, 401, 401, 429, 429]
        answer = await bad.send("GET", "/keys")
        assert answer.json()["code"] == "rate_limited" and answer.headers["Retry-After"] == "20"
        assert (await empty.caller(None).send("GET", "/keys")).status_code == 401
        assert (await empty.admin.send("GET", "/keys")).status_code == 200
        mcp = await empty.http.post(
            "/api/mcp",
            json={},
            headers={"Authorization": "Bearer ada_x", "Accept": "application/json, text/event-stream"},
        )
        assert mcp.status_code == 429 and mcp.headers["Retry-After"] == "20"
        form = {"grant_type": "authorization_code", "code": "guessed", "client_id": "x"}
        token = await empty.http.post("/oauth/token", data=form)
        assert token.status_code == 429 and token.json()["code"] == "rate_limited"


async def test_addresses_are_told_apart_behind_a_proxy(empty: Served) -> None:
    service = empty.service
    before = service.settings
    service.settings = evolve(before, proxies=1)
    try:
        async with set_rate_limits(empty, failures=1):
            bad = empty.caller("garbage")

            async def status(forwarded: str) -> int:
                return (await bad.send("GET", "/keys", headers={"X-Forwarded-For": forwarded})).status_code

            assert [await status("198.51.100.1"), await status("198.51.100.1")] == [401, 429]
            assert [await status("198.51.100.1, 198.51.100.2"), await status("x, 198.51.100.2")] == [401, 429]
    finally:
        service.settings = before


async def test_many_addresses_take_no_more_memory_than_few() -> None:
    limiting = RateLimiter(RateLimits(failures=1), _none(), lambda: 0)
    for number in range(30_000):
        limiting.count_bad_token(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(limiting._failures) == 10_000


def _none() -> Any:
    from adsunify.service.counters import Counters

    return Counters()


async def test_clients_are_registered_so_often(empty: Served) -> None:
    body = {"redirect_uris": [REDIRECT]}
    async with set_rate_limits(empty, registrations=2):
        assert [(await empty.http.post("/oauth/register", json=body)).status_code for _ in range(3)] == [201, 201, 429]
        count = (await empty.rows())["oauth_clients"]
        answer = await empty.http.post("/oauth/register", json=body)
        assert answer.status_code == 429 and answer.headers["Retry-After"] == "1800"
        assert (await empty.rows())["oauth_clients"] == count


async def test_an_unused_client_is_forgotten_and_a_used_one_is_not(both: Served) -> None:
    store, actor = both.service.store, both.people["admin"].actor
    register = {"redirect_uris": [REDIRECT]}
    unused = (await both.http.post("/oauth/register", json=register)).json()["client_id"]
    used = (await both.http.post("/oauth/register", json=register)).json()["client_id"]
    await store.write(kept_agents.create_grant, actor.workspace_id, actor.user_id, used, False, "r", 1000, store.clock)
    both.hands.pass_(milliseconds=oauth_server.UNUSED_CLIENT_MILLISECONDS - 60_000)
    await both.http.post("/oauth/register", json=register)
    assert await store.read(kept_agents.find_client, unused) is not None
    both.hands.pass_(minutes=2)
    await both.http.post("/oauth/register", json=register)
    assert await store.read(kept_agents.find_client, unused) is None
    assert await store.read(kept_agents.find_client, used) is not None


# -- settings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (READS_VARIABLE, "-1"),
        (READS_VARIABLE, "many"),
        (WRITES_VARIABLE, "1000001"),
        (PROXIES_VARIABLE, "11"),
        (PROXIES_VARIABLE, "1.5"),
    ],
)
async def test_a_limit_that_cannot_be_is_refused_at_the_start(tmp_path: Any, name: str, value: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        await open_service(f"sqlite:///{tmp_path / 'a.db'}", {**RING, name: value})
    assert caught.value.issues[0].path == name
    assert not (tmp_path / "a.db").exists()


async def test_limits_are_read_from_the_environment(tmp_path: Any) -> None:
    opened = await open_service(f"sqlite:///{tmp_path / 'a.db'}", {**RING, READS_VARIABLE: "7", PROXIES_VARIABLE: "1"})
    await opened.service.close()
    assert opened.service.settings.rate_limits == RateLimits(reads=7)
    assert opened.service.settings.proxies == 1


async def test_every_endpoint_documents_that_it_may_be_limited(empty: Served) -> None:
    document = empty.schemas.document
    for path, methods in document["paths"].items():
        assert path.startswith(PREFIX)
        for operation in methods.values():
            assert operation["responses"]["429"] == {"$ref": "#/components/responses/Error429"}
    assert {"Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} <= set(
        document["components"]["responses"]["Error429"]["headers"]
    )
