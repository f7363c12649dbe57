"""Floods: memory stays flat, excess requests are refused, and good ones are answered.

``nox -s floods`` asks as often as it takes to see a leak; here it is a fraction of that.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from io import BytesIO
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from tests.server.served import brief

from .flooding import AT_ONCE, Flooded, run_flooded_server

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(1800)]

LONG = os.environ.get("ADSUNIFY_FLOODS") == "long"
TOKENS, BODIES, CLIENTS, BATCHES, BATCH = (10_000, 1_000, 10_000, 50, 50) if LONG else (1_300, 40, 80, 5, 10)
ROUNDS = 3 if LONG else 1
TWO_MEGABYTES = 2 * 1024 * 1024
FLAT = AT_ONCE * 1024
"""KiB: what a server may hold more after a flood than after the beginning of it. The allocator keeps what the bodies,
each of a mebibyte at most, took when most of them happened to be there at once; of a leak there would be a hundred
times as much."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Flooded]:
    async with run_flooded_server(tmp_path_factory.mktemp("floods")) as flooded_server:
        yield flooded_server


async def usual(server: Flooded) -> float:
    """How slow good requests are beside as many good ones."""
    headers = {"Authorization": f"Bearer {server.token}"}
    statuses = await server.flood(1_000, lambda _: server.status("GET", "/api/v1/ads/networks", headers=headers))
    assert set(statuses) == {200}
    return server.slowest()


async def under(
    server: Flooded, name: str, first: int, times: int, ask: Callable[[int], Awaitable[int]]
) -> tuple[Counter[int], Counter[int]]:
    """Flood, and say what it cost: memory beyond that of the ``first`` requests, and good requests' time.

    The long form holds that time, in three rounds, against what it is beside as many good requests: at most twice as
    long. How often which status was answered, at first and afterwards.
    """
    begun = await server.flood(first, ask)
    before, statuses, ratios = server.resident(), Counter[int](), []
    for _ in range(ROUNDS):
        usually = await usual(server) if LONG else 0.0
        statuses += await server.flood(times // ROUNDS, ask)
        if LONG:
            ratios.append(server.slowest() / usually)
    more = server.resident() - before
    print(
        f"{name}: {dict(statuses)}, {more} KiB more, p99 of good ones: {[round(ratio, 2) for ratio in ratios]} of usual"
    )
    assert more < FLAT
    assert not ratios or median(ratios) < 2
    return begun, statuses


async def test_bad_tokens(server: Flooded) -> None:
    """Each another one: none is remembered."""
    numbers = count()

    async def ask(_: int) -> int:
        number = next(numbers)
        token = f"adu_{number:08d}_{'x' * 43}" if number % 2 else f"ada_{number:043d}"
        return await server.status("GET", "/api/v1/ads/keys", headers={"Authorization": f"Bearer {token}"})

    first, statuses = await under(server, "bad tokens", 150, TOKENS, ask)
    assert set(first + statuses) == {401, 429}
    assert statuses[429] > 0


async def test_bodies_that_are_too_large(server: Flooded) -> None:
    """With their length, and without. The server reads them to their end, because clients read the answer after it."""
    large = b" " * TWO_MEGABYTES
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(32):
            yield large[: TWO_MEGABYTES // 32]

    async def ask(number: int) -> int:
        body = chunks() if number % 2 else BytesIO(large)
        return await server.status("POST", "/api/v1/ads/validate-campaign", data=body, headers=headers)

    first, statuses = await under(server, "large bodies", AT_ONCE, BODIES, ask)
    assert set(first + statuses) == {413}


async def test_clients_that_register(server: Flooded) -> None:
    """As many as there may be in an hour, and one more for each minute that it takes."""
    body = {"client_name": "A flood", "redirect_uris": ["https://flood.example/cb"]}
    first, statuses = await under(
        server, "registrations", 10, CLIENTS, lambda _: server.status("POST", "/oauth/register", json=body)
    )
    assert first == {201: 10}
    assert set(statuses) == {201, 429} and 50 <= statuses[201] < 60


async def test_large_batches_at_once(server: Flooded) -> None:
    """Each operation is executed, and written once."""
    account = server.accounts["meta"]
    created = await server.good("POST", "/create", {"accountId": account, "campaign": brief("meta")})
    await server.good("POST", f"/operations/{created['id']}/execute", {"confirmed": True})
    campaigns = await server.good("GET", f"/accounts/{account}/campaigns")
    path = f"/accounts/{account}/campaigns/{campaigns[0]['id']}"

    async def prepare_batch(number: int) -> list[str]:
        updates = [
            await server.good("PATCH", path, {"payload": {"name": f"Batch {number}, {index}"}})
            for index in range(BATCH)
        ]
        return [update["id"] for update in updates]

    async def execute_batch(ids: list[str]) -> list[str]:
        """Execute all, as often as it is asked for; how each ended."""
        ended: dict[str, str] = {}
        while len(ended) < len(ids):
            rest = [id_ for id_ in ids if id_ not in ended]
            batch = await server.good("POST", "/operations/execute", {"operationIds": rest, "confirmed": True})
            for result in batch["results"]:
                if result.get("operation", {}).get("nextAction") != "execute":
                    ended[result["operationId"]] = result.get("status") or result["error"]["code"]
        return list(ended.values())

    async def ask(number: int) -> int:
        ended.update(await execute_batch(batches[number]))
        return 200

    ended: Counter[str] = Counter()
    writes_before = await writes(server)
    batches = [await prepare_batch(number) for number in range(BATCHES)]
    await server.flood(BATCHES, ask, BATCHES)
    before = server.resident()
    batches = [await prepare_batch(number) for number in range(BATCHES, 2 * BATCHES)]
    statuses = await server.flood(BATCHES, ask, BATCHES)
    assert ended == {"succeeded": 2 * BATCHES * BATCH}
    assert await writes(server) - writes_before == 2 * BATCHES * BATCH
    more = server.resident() - before
    print(f"batches: {dict(statuses)}, {more} KiB more, p99 of good ones {1000 * server.slowest():.0f} ms")
    assert more < FLAT


def hostile(account: str) -> list[tuple[str, Any]]:
    """Path and body of what a read-only credential may send, of nearly a mebibyte each."""
    ping = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

    def make_validation(**wrong: Any) -> tuple[str, Any]:
        return "/api/v1/ads/validate-campaign", {"accountId": account, "campaign": {**brief("meta"), **wrong}}

    return [
        ("/api/mcp", [ping] * 8_000),
        ("/api/mcp", [ping] * 50),
        make_validation(targeting={"countries": [1] * 300_000}),
        make_validation(targeting={"countries": [1] * 49_000}),
        make_validation(targeting={"native": {"a": [1.5] * 49_000}}),
        make_validation(**{str(index): 1 for index in range(49_000)}),
    ]


@pytest.mark.exhaustive
async def test_large_bodies_beside_executes(server: Flooded) -> None:
    """Writes of other people end as they would, and the process keeps answering."""
    account = server.accounts["meta"]
    created = await server.good("POST", "/create", {"accountId": account, "campaign": brief("meta")})
    await server.good("POST", f"/operations/{created['id']}/execute", {"confirmed": True})
    campaigns = await server.good("GET", f"/accounts/{account}/campaigns")
    path = f"/accounts/{account}/campaigns/{campaigns[0]['id']}"
    prepared = [await server.good("PATCH", path, {"payload": {"name": f"Beside {index}"}}) for index in range(3)]
    async with aiohttp.ClientSession() as http:
        fault = {"network": "meta", "fault": "latency", "method": "POST", "value": 3_000, "times": 3}
        async with http.post(f"{server.sandbox}/_sandbox/faults", json=fault) as response:
            assert response.status == 200
    executing = [
        asyncio.create_task(server.good("POST", f"/operations/{operation['id']}/execute", {"confirmed": True}))
        for operation in prepared
    ]
    headers = {
        "Authorization": f"Bearer {server.token}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-03-26",
    }
    answers: list[int] = []
    alive = 0

    async def attack(path: str, body: Any) -> None:
        while not all(task.done() for task in executing):
            async with server.http.post(path, json=body, headers=headers) as answer:
                answers.append(len(await answer.read()))

    async def look() -> None:
        nonlocal alive
        while not all(task.done() for task in executing):
            alive += await server.status("GET", "/healthz") == 200

    await asyncio.gather(look(), *(attack(*path_and_body) for path_and_body in hostile(account)))
    assert {(await task)["status"] for task in executing} == {"succeeded"}
    assert alive > 3 and len(answers) > 3
    assert max(answers) < 1024 * 1024


LEASE_SECONDS = 2


@pytest.mark.exhaustive
async def test_a_process_that_stands_still_during_three_executes(tmp_path: Path) -> None:
    """Their leases end and their answers come while it stands still: each is read, and nothing is sent twice.

    Executing on sends only the steps that are not written.
    """
    async with run_flooded_server(tmp_path, ADSUNIFY_LEASE_SECONDS=str(LEASE_SECONDS)) as server:
        account = server.accounts["meta"]
        operations = [
            (await server.good("POST", "/create", {"accountId": account, "campaign": brief("meta")}))["id"]
            for _ in range(4)
        ]

        async def execute(id_: str) -> str:
            operation = await server.good("POST", f"/operations/{id_}/execute", {"confirmed": True})
            while operation["status"] == "prepared" and operation["nextAction"] == "execute":
                operation = await server.good("POST", f"/operations/{id_}/execute", {"confirmed": True})
            return str(operation["status"])

        assert await execute(operations.pop()) == "succeeded"
        each = await writes(server)
        async with aiohttp.ClientSession() as http:
            fault = {
                "network": "meta",
                "fault": "latency",
                "method": "POST",
                "value": 1_000 * LEASE_SECONDS,
                "times": 3,
            }
            async with http.post(f"{server.sandbox}/_sandbox/faults", json=fault) as response:
                assert response.status == 200
        executing = [asyncio.create_task(execute(id_)) for id_ in operations]
        while await writes(server) < each + len(operations):  # the networks have applied them, and answer later
            await asyncio.sleep(0.01)
        os.kill(server.pid, signal.SIGSTOP)
        await asyncio.sleep(2 * LEASE_SECONDS)
        os.kill(server.pid, signal.SIGCONT)
        assert await asyncio.gather(*executing) == ["succeeded"] * len(operations)
        assert await writes(server) == each * (1 + len(operations))
        assert await server.status("GET", "/healthz") == 200


async def writes(server: Flooded) -> int:
    """How many native writes the networks have seen."""
    async with aiohttp.ClientSession() as http, http.get(f"{server.sandbox}/_sandbox/writes") as answer:
        return len((await answer.json())["writes"])
