"""What the server counts: read as Prometheus reads it, with no id and nothing that a caller wrote."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from aiohttp import web
from attrs import evolve
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Connection, update

from adsunify.contract import ENDPOINTS
from adsunify.errors import StoreError
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.service.core import Service
from adsunify.store.schema import operations
from adsunify_server import metrics
from adsunify_server.metrics import DURATION_BUCKETS, RequestMetrics, make_metrics_application

from .served import Served, brief

pytestmark = pytest.mark.asyncio(loop_scope="module")

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def parse_metrics(text: str) -> Samples:
    """The samples of an exposition, as prometheus-client's parser reads them: no family and no sample comes twice."""
    families = list(text_string_to_metric_families(text))
    assert len({family.name for family in families}) == len(families)
    assert all(family.documentation and family.type in ("counter", "gauge", "histogram") for family in families)
    assert text.count("# TYPE ") == len(families)
    read = [
        ((sample.name, frozenset(sample.labels.items())), sample.value)
        for family in families
        for sample in family.samples
    ]
    assert len(dict(read)) == len(read)
    return dict(read)


@asynccontextmanager
async def serve_metrics(service: Service, requests: RequestMetrics | None) -> AsyncIterator[httpx.AsyncClient]:
    """A client at the address where the metrics are answered."""
    runner = web.AppRunner(make_metrics_application(service, requests), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
            yield client
    finally:
        await runner.cleanup()


async def scrape_metrics(server: Served) -> Samples:
    async with serve_metrics(server.service, server.requests) as client:
        answer = await client.get("/metrics")
        assert (
            answer.status_code == 200 and answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        )
        assert (await client.get("/anything")).status_code == 404
        return parse_metrics(answer.text)


def get_sample(samples: Samples, name: str, **labels: str) -> float:
    return samples.get((name, frozenset(labels.items())), 0.0)


async def test_requests_are_counted_by_endpoint(empty: Served) -> None:
    before = await scrape_metrics(empty)
    await empty.admin.send("GET", "/keys")
    await empty.admin.send("POST", "/keys", {})
    await empty.http.get("/nowhere/adu_AAAAAAAA_secret")
    await empty.http.get("/sign-in")
    after = await scrape_metrics(empty)

    def compute_increase(name: str, **labels: str) -> float:
        return get_sample(after, name, **labels) - get_sample(before, name, **labels)

    assert compute_increase("adsunify_requests_total", endpoint="get_keys", status="200") == 1
    assert compute_increase("adsunify_requests_total", endpoint="post_keys", status="422") == 1
    assert compute_increase("adsunify_requests_total", endpoint="none", status="404") == 1
    assert compute_increase("adsunify_requests_total", endpoint="GET /sign-in", status="200") == 1
    assert compute_increase("adsunify_request_seconds_count", endpoint="get_keys") == 1
    assert compute_increase("adsunify_request_seconds_bucket", endpoint="get_keys", le="+Inf") == 1
    assert compute_increase("adsunify_request_seconds_sum", endpoint="get_keys") > 0


async def test_buckets_add_up() -> None:
    requests = RequestMetrics()
    for seconds in (0.004, 0.005, 0.006, 0.3, 31.0):
        requests.count_request("x", 200, seconds)
    counts = dict(zip((*DURATION_BUCKETS, None), requests.duration_counts["x"], strict=True))
    assert (counts[0.005], counts[0.01], counts[0.5], counts[None]) == (2, 1, 1, 1)


async def test_what_goes_to_the_networks_is_counted(both: Served) -> None:
    before = await scrape_metrics(both)
    account = both.accounts["meta"]
    operation = await both.admin.post("/create", {"accountId": account, "campaign": brief("meta")}, 201)
    await both.admin.execute(operation["id"])
    await both.networks.fault("meta", "reset_after", path="/v26.0/act_1001/campaigns")
    operation = await both.admin.post("/create", {"accountId": account, "campaign": brief("meta")}, 201)
    await both.admin.send("POST", f"/operations/{operation['id']}/execute", {"confirmed": True})
    after = await scrape_metrics(both)

    def compute_increase(name: str, **labels: str) -> float:
        return get_sample(after, name, network="meta", **labels) - get_sample(before, name, network="meta", **labels)

    assert compute_increase("adsunify_network_requests_total", outcome="2xx") > 0
    assert compute_increase("adsunify_network_requests_total", outcome="lost") == 1
    assert compute_increase("adsunify_executions_total", outcome="succeeded") == 1
    assert compute_increase("adsunify_executions_total", outcome="unknown") == 1
    assert get_sample(after, "adsunify_executions_in_flight") == 0
    assert get_sample(after, "adsunify_writes_waiting") == 0


async def test_stalled_operations_and_backlogs_are_seen(both: Served) -> None:
    body = {"accountId": both.accounts["meta"], "campaign": brief("meta")}
    operation = await both.admin.post("/create", body, 201)

    def stall_operation(connection: Connection, lease: int) -> None:
        connection.execute(
            update(operations)
            .where(operations.c.id == operation["id"])
            .values(status="running", in_flight=True, lease_until=lease)
        )

    before = await scrape_metrics(both)
    now = both.service.store.clock.now()
    await both.service.store.write(stall_operation, now + 60_000)
    working = await scrape_metrics(both)
    await both.service.store.write(stall_operation, now - 1)
    after = await scrape_metrics(both)
    names = ("adsunify_operations_running", "adsunify_operations_stalled")
    assert [get_sample(working, name) - get_sample(before, name) for name in names] == [1, 0]
    assert [get_sample(after, name) - get_sample(before, name) for name in names] == [1, 1]
    url = "http://127.0.0.1:9/hooks"
    both.service.settings = evolve(both.service.settings, webhook_dev_targets=frozenset({url}))
    await both.admin.post("/webhooks", {"url": url}, 201)
    webhook = (await both.admin.get("/webhooks"))[0]
    await both.admin.send("PATCH", f"/webhooks/{webhook['webhookId']}", {"active": False})
    await both.admin.post(f"/webhooks/{webhook['webhookId']}/test", {}, 202)
    assert (
        get_sample(await scrape_metrics(both), "adsunify_webhook_backlog")
        == get_sample(after, "adsunify_webhook_backlog") + 1
    )


async def test_labels_are_words_of_ours(both: Served) -> None:
    """Whatever was asked in this module: no id, no secret, no address, no path as it was written."""
    ids = {endpoint.operation_id for endpoint in ENDPOINTS}
    for _, labels in await scrape_metrics(both):
        for name, text in labels:
            if name == "endpoint":
                assert text in ids | {"none"} or re.fullmatch(
                    r"(GET|POST|OPTIONS|HEAD|\*) [/a-z0-9_.{}\[\]^+:A-Z-]+", text
                )
            elif name == "network":
                assert text in ADAPTER_PACKAGES
            elif name in ("status", "le"):
                assert re.fullmatch(r"[0-9.]+|\+Inf", text)
            else:
                assert name in ("outcome", "limit", "name") and re.fullmatch("[a-z0-9_]+", text)


async def test_a_database_that_is_away_is_told(empty: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def raise_store_error(*_: object, **__: object) -> None:
        raise StoreError("away")

    assert get_sample(await scrape_metrics(empty), "adsunify_database_up") == 1
    monkeypatch.setattr(type(empty.service.store), "read", raise_store_error)
    samples = await scrape_metrics(empty)
    assert samples["adsunify_database_up", frozenset()] == 0
    assert ("adsunify_webhook_backlog", frozenset()) not in samples


async def test_a_database_that_hangs_is_told_before_prometheus_gives_up(
    empty: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(metrics, "read_gauges", hang)
    monkeypatch.setattr(metrics, "DATABASE_TIMEOUT_SECONDS", 0.05)
    samples = await scrape_metrics(empty)
    assert samples["adsunify_database_up", frozenset()] == 0
    assert ("adsunify_webhook_backlog", frozenset()) not in samples


async def test_a_worker_serves_no_requests(empty: Served) -> None:
    async with serve_metrics(empty.service, None) as client:
        samples = parse_metrics((await client.get("/metrics")).text)
    assert not any(name.startswith("adsunify_request") for name, _ in samples)


async def test_they_are_not_beside_the_api(empty: Served) -> None:
    answer: Any = await empty.http.get("/metrics")
    assert answer.status_code == 404
