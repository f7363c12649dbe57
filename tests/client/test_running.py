"""The methods of the clients that make several calls: executing operations to their end, and waiting for reports."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from adsunify import Ads, AsyncAds, Operation
from adsunify.answers import Batch, BatchDone, BatchFailed
from adsunify.client.batches import MAX_OPERATIONS
from adsunify.errors import InvalidInput, OperationError, ServerConnectionError
from tests.server.served import NEVER, RING, Served

from .conftest import DOORS, make_brief

pytestmark = pytest.mark.asyncio(loop_scope="module")


# -- one operation ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("door", DOORS)
async def test_execute_continues(server: Served, clients: dict[str, AsyncAds], door: str) -> None:
    """It waits as long as the network asks, and goes on with the same operation."""
    ads, writes = clients[door], server.networks.writes()
    operation = await ads.campaigns.create(server.accounts["amazon"], make_brief("amazon"))
    await server.networks.fault("amazon", "status", path="/sp/adGroups", value=429)
    done = await ads.operations.run(operation, confirmed=True)
    assert done.status == "succeeded"
    assert [step.state for step in done.receipt.steps].count("throttled") == 1
    assert server.networks.writes() == writes + 5


@pytest.mark.parametrize("door", DOORS)
async def test_execute_tells_of_its_progress(server: Served, clients: dict[str, AsyncAds], door: str) -> None:
    ads, reported = clients[door], list[Operation]()
    operation = await ads.campaigns.create(server.accounts["amazon"], make_brief("amazon"))
    await server.networks.fault("amazon", "status", path="/sp/adGroups", value=429)
    done = await ads.operations.run(operation, confirmed=True, progress=reported.append)
    assert done.status == "succeeded"
    assert [(state.id, state.status, state.next_action) for state in reported] == [
        (operation.id, "prepared", "execute")
    ]
    assert reported[0].retry_after_ms, "and why it waits"


@pytest.mark.parametrize("door", DOORS)
async def test_execute_stops_on_unknown(server: Served, clients: dict[str, AsyncAds], door: str) -> None:
    ads = clients[door]
    operation = await ads.campaigns.create(server.accounts["meta"], make_brief("meta"))
    await server.networks.fault("meta", "reset_after", path="/v26.0/act_1001/campaigns")
    with pytest.raises(OperationError) as error:
        await ads.operations.run(operation, confirmed=True)
    assert (error.value.code, error.value.outcome) == ("outcome_unknown", "unknown")
    assert (await ads.operations.get(operation)).status == "unknown"


@pytest.mark.parametrize("door", DOORS)
async def test_insights_wait_for_the_report(
    server: Served, clients: dict[str, AsyncAds], door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(clients[door], "_wait", sleep)
    end = server.hands.now().date() - timedelta(days=5 if door == "local" else 9)
    report = await clients[door].insights.daily(server.accounts["amazon"], end - timedelta(days=2), end)
    assert report.pending is None and report.coverage.complete is True
    assert [row.date for row in report.rows] == [end - timedelta(days=days) for days in (2, 1, 0)]
    assert all(row.spend is None or isinstance(row.spend, Decimal) for row in report.rows)
    assert waits and min(waits) >= 1


# -- several operations -------------------------------------------------------------------------------------------


async def prepare_each(ads: AsyncAds, server: Served, *networks: str) -> list[Operation]:
    return [await ads.campaigns.create(server.accounts[network], make_brief(network)) for network in networks]


def keep_waits(ads: AsyncAds, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waits: list[float] = []
    wait = ads._wait

    async def keep(seconds: float) -> None:
        waits.append(seconds)
        await wait(seconds)

    monkeypatch.setattr(ads, "_wait", keep)
    return waits


@pytest.mark.parametrize("door", DOORS)
async def test_each_of_many_is_continued_until_it_is_over(
    server: Served, clients: dict[str, AsyncAds], door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One succeeds at once, one is refused, one is throttled and continued; the refused one is not executed again."""
    ads, reported_ids = clients[door], list[str]()
    waits = keep_waits(ads, monkeypatch)
    google, refused, amazon = await prepare_each(ads, server, "google", "meta", "amazon")
    writes = server.networks.writes()
    await server.networks.fault("meta", "status", path="/v26.0/act_1001/campaigns", value=400)
    await server.networks.fault("amazon", "status", path="/sp/adGroups", value=429)
    batch = await ads.operations.run_many(
        [google, refused.id, amazon], confirmed=True, progress=lambda operation: reported_ids.append(operation.id)
    )
    first, second, third = batch.results
    assert isinstance(first, BatchDone) and isinstance(second, BatchFailed) and isinstance(third, BatchDone)
    assert [result.operation_id for result in batch.results] == [google.id, refused.id, amazon.id]
    assert (first.status, third.status) == ("succeeded", "succeeded")
    assert third.operation == await ads.operations.get(amazon)
    assert (second.error.code, second.error.outcome) == ("provider_rejected", "not_applied")
    assert set(reported_ids) == {amazon.id} and len(reported_ids) == len(waits) >= 1
    assert server.networks.writes() == writes + 6 + 5  # the entities at Google and at Amazon
    assert Batch.model_validate(batch.to_dict()) == batch


async def test_many_at_a_server_that_stops(
    server: Served, clients: dict[str, AsyncAds], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The results so far are kept; the operations of the lost call have its error."""
    ads, calls = clients["remote"], list[Sequence[Any]]()
    google, amazon = await prepare_each(ads, server, "google", "amazon")
    await server.networks.fault("amazon", "status", path="/sp/adGroups", value=429)
    execute_many = ads.operations.execute_many

    async def execute_once(operations: Sequence[Operation | str], *, confirmed: Any, allow_stale: bool) -> Batch:
        calls.append(operations)
        if len(calls) > 1:
            raise ServerConnectionError("The connection was lost.", outcome="unknown")
        return await execute_many(operations, confirmed=confirmed, allow_stale=allow_stale)

    monkeypatch.setattr(ads.operations, "execute_many", execute_once)
    batch = await ads.operations.run_many([google, amazon], confirmed=True)
    done, lost = batch.results
    assert calls == [[google.id, amazon.id], [amazon.id]]
    assert isinstance(done, BatchDone) and done.status == "succeeded"
    assert isinstance(lost, BatchFailed)
    assert (lost.error.code, lost.error.outcome) == ("server_unreachable", "unknown")


async def test_more_than_a_call_takes(
    clients: dict[str, AsyncAds], server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are executed with several calls, and the results are in their order."""
    ads, sizes = clients["local"], list[int]()
    (google,) = await prepare_each(ads, server, "google")
    execute_many = ads.operations.execute_many

    async def execute(operations: Sequence[Operation | str], *, confirmed: Any, allow_stale: bool) -> Batch:
        sizes.append(len(operations))
        return await execute_many(operations, confirmed=confirmed, allow_stale=allow_stale)

    monkeypatch.setattr(ads.operations, "execute_many", execute)
    missing = [f"00000000-0000-7000-8000-{number:012}" for number in range(MAX_OPERATIONS)]
    batch = await ads.operations.run_many([*missing, google], confirmed=True)
    assert sizes == [MAX_OPERATIONS, 1]
    assert [result.operation_id for result in batch.results] == [*missing, google.id]
    *failed, done = batch.results
    assert {result.error.code for result in failed if isinstance(result, BatchFailed)} == {"not_found"}
    assert isinstance(done, BatchDone) and done.status == "succeeded"
    assert (await ads.operations.run_many([], confirmed=True)).results == []


async def test_many_without_a_result(clients: dict[str, AsyncAds]) -> None:
    wrong: Any
    for wrong in ([NEVER, 5], NEVER, [NEVER, NEVER]):
        with pytest.raises(InvalidInput, match="operationIds"):
            await clients["remote"].operations.run_many(wrong, confirmed=True)
    unconfirmed: Any = False
    with pytest.raises(InvalidInput, match="confirmed"):
        await clients["local"].operations.run_many([NEVER], confirmed=unconfirmed)
    async with AsyncAds("http://127.0.0.1:9", token="t", max_retries=0) as ads:
        with pytest.raises(ServerConnectionError):
            await ads.operations.run_many([NEVER], confirmed=True)


async def test_many_without_awaiting(server: Served, clients: dict[str, AsyncAds]) -> None:
    operations = await prepare_each(clients["remote"], server, "google", "amazon")
    await server.networks.fault("amazon", "status", path="/sp/adGroups", value=429)

    def work() -> list[str | None]:
        with Ads(server.base_url, token=server.people["admin"].tokens["write"]) as ads:
            results = ads.operations.run_many(operations, confirmed=True).results
        return [result.status if isinstance(result, BatchDone) else None for result in results]

    assert await asyncio.to_thread(work) == ["succeeded", "succeeded"]


# -- Ctrl-C -------------------------------------------------------------------------------------------------------


INTERRUPTED = """
import signal, sys
from adsunify import Ads

signal.signal(signal.SIGINT, signal.default_int_handler)  # where the tests run in the background it is ignored

database, sandbox, ring, operation = sys.argv[1:]
environment = {"ADSUNIFY_SANDBOX_URL": sandbox, "ADSUNIFY_SECRET_KEYS": ring}
with Ads(database, workspace="shop", environment=environment) as ads:
    print("open", flush=True)
    ads.operations.run(operation, confirmed=True)
"""


async def test_ctrl_c_waits_for_the_write_in_flight(server: Served, clients: dict[str, AsyncAds]) -> None:
    """Its receipt is kept, no other write is begun, and what remains is handed back."""
    operation = await clients["remote"].campaigns.create(server.accounts["meta"], make_brief("meta"))
    writes = server.networks.writes()
    await server.networks.fault("meta", "latency", path="/v26.0/act_1001/campaigns", value=1500)
    (ring,) = RING.values()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", INTERRUPTED, server.database, server.networks.url, ring, operation.id,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    while server.networks.writes() == writes:
        assert process.returncode is None
        await asyncio.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = await process.communicate()
    assert process.returncode != 0 and b"KeyboardInterrupt" in errors
    stopped = await clients["remote"].operations.get(operation)
    assert (stopped.status, stopped.next_action, stopped.stalled) == ("prepared", "execute", False)
    assert [(step.key, step.state) for step in stopped.receipt.steps] == [("campaign", "applied")]
    assert server.networks.writes() == writes + 1
    assert (await clients["remote"].operations.run(operation, confirmed=True)).status == "succeeded"
    assert server.networks.writes() == writes + 4
