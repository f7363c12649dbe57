"""Traces as a collector gets them: whose child each span is, what it says, and what it never says."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from aiohttp import web
from attrs import evolve
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from adsunify import AsyncAds, read_brief
from adsunify.errors import InvalidInput, RequestNotSent
from adsunify.http.egress import Egress
from adsunify.http.transport import HttpTransport
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.service.factory import SANDBOX_URL_VARIABLE, open_service
from adsunify.telemetry.otlp import Collector as OtlpCollector
from adsunify.telemetry.settings import ENDPOINT_VARIABLE, HEADERS_VARIABLE, make_tracer, read_telemetry_settings
from adsunify.telemetry.tracing import OPERATION_ID, TRACE_ID
from tests.collector import Collector, run_collector
from tests.system.webhooks.receiving import run_receiver
from tests.unit.http.server import HOST, OK, WRITE, answer_in_turn, serve_script

from .served import RING, Served, brief
from .test_logs import capture_log, parse_lines

pytestmark = pytest.mark.asyncio(loop_scope="module")
TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = {"traceparent": f"00-{TRACE}-{CALLER}-01"}
COLLECTOR_TOKEN = "collector-canary-51c3"
SERVER, CLIENT = 2, 3
"""Kinds of spans in OTLP."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def collector() -> AsyncIterator[Collector]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
        async with run_collector() as collector:
            yield collector


@pytest.fixture(scope="module")
def settings(collector: Collector) -> Mapping[str, str]:
    return {ENDPOINT_VARIABLE: collector.url, HEADERS_VARIABLE: f"api-key={COLLECTOR_TOKEN}"}


def is_about(operation_id: str, name: str) -> Any:
    return lambda span: span.name == name and span.attributes.get("adsunify.operation_id") == operation_id


async def test_a_prepare_and_its_execution_are_two_requests_with_their_native_writes(
    server: Served, collector: Collector
) -> None:
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    with capture_log() as stream:
        prepared = await server.admin.post("/create", body, 201, **PARENT)
        id_ = prepared["id"]
        answer = await server.admin.send("POST", f"/operations/{id_}/execute", {"confirmed": True})
        await server.admin.get(f"/operations/{id_}")
        await server.admin.get("/keys")
    (create,) = await collector.find(is_about(id_, "post_create"))
    assert (create.trace, create.parent, create.kind, create.is_error) == (TRACE, CALLER, SERVER, False)
    assert create.attributes["http.response.status_code"] == 201

    (request,) = await collector.find(is_about(id_, "post_operation_execute"))
    (execution,) = await collector.find(is_about(id_, "execute operation"))
    steps = [step["key"] for step in prepared["plan"]["steps"]]
    writes = await collector.find(is_about(id_, "meta write"), len(steps))
    assert request.parent == "" and request.attributes["adsunify.request_id"] == answer.headers["X-Request-Id"]
    assert execution.parent == request.id and execution.attributes["adsunify.outcome"] == "succeeded"
    assert sorted(span.attributes["adsunify.step_key"] for span in writes) == sorted(steps)
    for span in writes:
        assert (span.trace, span.parent, span.kind) == (request.trace, execution.id, CLIENT)
        assert span.attributes["adsunify.network"] == "meta" and span.attributes["http.response.status_code"] == 200
        assert (
            span.attributes["server.address"] == "graph.facebook.com" and span.attributes["adsunify.native_request_id"]
        )

    commits = [span for span in collector.spans if span.name == "store write" and span.parent == execution.id]
    assert {span.attributes["adsunify.store_function"] for span in commits} == {"commit_state"}
    assert len(commits) > len(steps)

    first, second, third, fourth = parse_lines(stream)
    assert third["operationId"] == id_ and "operationId" not in fourth
    assert (first["traceId"], first["operationId"]) == (TRACE, id_)
    assert (second["traceId"], second["operationId"]) == (request.trace, id_)
    assert collector.headers["api-key"] == COLLECTOR_TOKEN and collector.resources[0]["service.name"] == "adsunify"


async def test_a_refused_native_write_is_an_error(server: Served, collector: Collector) -> None:
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    id_ = (await server.admin.post("/create", body, 201))["id"]
    await server.networks.fault("meta", "status", value=500)
    await server.admin.send("POST", f"/operations/{id_}/execute", {"confirmed": True})
    await server.networks.clear_faults()
    spans = await collector.find(is_about(id_, "meta write"))
    assert spans[0].is_error and spans[0].attributes["error.type"] == "500"
    (execution,) = await collector.find(is_about(id_, "execute operation"))
    assert execution.attributes["adsunify.outcome"] == "unknown"


async def test_a_batch_has_an_execution_for_each_operation(server: Served, collector: Collector) -> None:
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    ids = [(await server.admin.post("/create", {**body, "campaign": brief("meta")}, 201))["id"] for _ in range(3)]
    with capture_log() as stream:
        await server.admin.post("/operations/execute", {"operationIds": ids, "confirmed": True})
    for id_ in ids:
        (execution,) = await collector.find(is_about(id_, "execute operation"))
        writes = await collector.find(is_about(id_, "meta write"))
        assert {span.parent for span in writes} == {execution.id}
    assert "operationId" not in parse_lines(stream)[-1]  # the line is about all three


async def test_nothing_of_a_caller_or_a_secret_is_in_any_message(server: Served, collector: Collector) -> None:
    """Every network is read and written; names, links, tokens and secrets of everybody are searched in all bytes."""
    canary = "canary7f3e91d2"
    await server.admin.send("GET", f"/keys?q={canary}")
    await server.caller(f"adu_AbCd1234_{canary}").send("GET", "/keys")
    await server.http.get(
        f"/{canary}?secret={canary}", headers={"tracestate": f"a={canary}", "baggage": canary, **PARENT}
    )
    for network in ADAPTER_PACKAGES:
        body = {"accountId": server.accounts[network], "campaign": brief(network)}
        id_ = (await server.admin.post("/create", body, 201))["id"]
        await server.admin.execute(id_)
        await collector.find(is_about(id_, "execute operation"))
    secrets = {canary, "Garden chairs", "shop.example", "sandbox-secret", COLLECTOR_TOKEN, *RING.values()}
    for person in server.people.values():
        secrets |= {*person.tokens.values()}
    for world in server.networks.state.worlds.values():
        secrets |= {str(token) for token in world.tokens}
    assert len(secrets) > 20
    everything = b"".join(collector.raw)
    assert [secret for secret in secrets if secret.encode() in everything] == []
    assert b"native_request_id" in everything


async def test_probes_make_no_spans_and_an_unsampled_caller_is_respected(server: Served, collector: Collector) -> None:
    trace = "1" * 32
    with capture_log() as stream:
        await server.admin.send("GET", "/keys", headers={"traceparent": f"00-{trace}-{CALLER}-00"})
    assert parse_lines(stream)[0]["traceId"] == trace
    await server.http.get("/readyz")
    await server.admin.send("GET", "/webhooks", headers={"traceparent": "00-nonsense"})
    (malformed,) = await collector.find(lambda span: span.name == "get_webhooks")
    assert malformed.parent == ""
    assert not [span for span in collector.spans if span.trace == trace or "readyz" in span.name]


async def test_a_delivery_is_a_trace_of_its_own_and_carries_no_trace_header(
    server: Served, collector: Collector
) -> None:
    async with run_receiver() as receiver:
        server.service.settings = evolve(server.service.settings, webhook_dev_targets=frozenset([receiver.url]))
        webhook = await server.admin.post("/webhooks", {"url": receiver.url}, 201)
        await server.admin.post(f"/webhooks/{webhook['webhookId']}/test", None, 202)
        (received,) = await receiver.count(1)
        (span,) = await collector.find(lambda span: span.attributes.get("adsunify.webhook_id") == webhook["webhookId"])
        await server.admin.delete(f"/webhooks/{webhook['webhookId']}")
    assert (span.name, span.kind, span.is_error) == ("deliver webhook", CLIENT, False)
    assert span.attributes["adsunify.event_id"] == received.event_id
    assert span.attributes["http.response.status_code"] == 204
    assert not {"traceparent", "tracestate", "baggage"} & {name.lower() for name in received.headers}
    everything = b"".join(collector.raw)
    assert webhook["secret"].encode() not in everything and receiver.url.encode() not in everything


async def test_networks_get_no_trace_header(collector: Collector) -> None:
    tracer = make_tracer(read_telemetry_settings({ENDPOINT_VARIABLE: collector.url}), Egress())
    async with serve_script(answer_in_turn(OK)) as network:
        with tracer.start_span("test"):
            await HttpTransport(network.url).send(WRITE, hosts=(HOST,))
    await tracer.close()
    assert b"trace" not in network.requests[0].lower()


async def test_an_error_gives_its_code_and_not_its_text(collector: Collector) -> None:
    tracer = make_tracer(read_telemetry_settings({ENDPOINT_VARIABLE: collector.url}), Egress())
    for name, problem in (("ours", RequestNotSent("hush")), ("other", ValueError("hush"))):
        with pytest.raises(type(problem)), tracer.start_span(name):
            raise problem
    await tracer.close()
    ours, other = (next(span for span in collector.spans if span.name == name) for name in ("ours", "other"))
    assert ours.is_error and ours.attributes == {"error.type": RequestNotSent("").code}
    assert other.is_error and other.attributes == {"error.type": "ValueError"}
    assert b"hush" not in b"".join(collector.raw)


async def test_an_embedded_store_forgets_the_operation_after_its_execution(
    server: Served, collector: Collector
) -> None:
    environment = {**RING, SANDBOX_URL_VARIABLE: server.networks.url, ENDPOINT_VARIABLE: collector.url}
    async with AsyncAds(server.database, workspace="shop", environment=environment) as client:
        account = server.accounts["reddit"]
        prepared = await client.campaigns.create(account, read_brief(brief("reddit")))
        await client.operations.execute(prepared, confirmed=True)
        assert OPERATION_ID.get() is None and TRACE_ID.get() is None
        span_count = len(collector.spans)
        await client.accounts.tree(account)
    (execution,) = await collector.find(is_about(prepared.id, "execute operation"))
    reads = [span for span in collector.spans[span_count:] if span.name == "reddit read"]
    assert execution.parent == "" and not [span for span in reads if "adsunify.operation_id" in span.attributes]


# -- a process ----------------------------------------------------------------------------------------------------


async def test_a_server_process_sends_traces_and_the_metrics_of_its_metrics_page(
    tmp_path: Path, collector: Collector
) -> None:
    arguments = ["serve", "--sandbox", "--json", "--port", "0", "--database", f"sqlite:///{tmp_path / 'a.db'}"]
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "adsunify", *arguments, "--log-format", "json", "--metrics", "0"),
        env={**os.environ, **RING, ENDPOINT_VARIABLE: collector.url},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=1024 * 1024,
    )
    assert child.stdout is not None and child.stderr is not None
    where = (await child.stderr.readline()).decode().split()[-1]
    ready = json.loads(await child.stdout.readline())
    headers = {"Authorization": f"Bearer {ready['apiKey']}"}
    account = next(account["accountId"] for account in ready["accounts"] if account["network"] == "meta")
    api = f"{ready['baseUrl']}/api/v1/ads"
    async with httpx.AsyncClient(trust_env=False, timeout=60, headers=headers) as client:
        response = await client.post(
            f"{api}/create", json={"accountId": account, "campaign": brief("meta")}, headers=PARENT
        )
        id_ = response.json()["data"]["id"]
        await client.post(f"{api}/operations/{id_}/execute", json={"confirmed": True})
        metrics_page = (await client.get(where)).text
    child.send_signal(signal.SIGTERM)
    _, errors = await child.communicate()
    assert child.returncode == 0, errors

    (create,) = await collector.find(is_about(id_, "post_create"))
    (execution,) = await collector.find(is_about(id_, "execute operation"))
    writes = [span for span in collector.spans if is_about(id_, "meta write")(span)]
    assert (create.trace, create.parent) == (TRACE, CALLER)
    assert len(writes) == 4 and {(span.trace, span.parent) for span in writes} == {(execution.trace, execution.id)}
    logged = [json.loads(line) for line in errors.decode().splitlines() if line.startswith("{")]
    assert (TRACE, id_) in {(line.get("traceId"), line.get("operationId")) for line in logged}
    assert ready["apiKey"].encode() not in b"".join(collector.raw)

    metrics = {metric.name: metric for metric in collector.metrics}
    assert {line.split()[2] for line in metrics_page.splitlines() if line.startswith("# TYPE")} == metrics.keys()
    points = metrics["adsunify_requests_total"].sum.data_points
    counted = {
        tuple(sorted((attribute.key, attribute.value.string_value) for attribute in point.attributes)): point.as_double
        for point in points
    }
    assert counted[(("endpoint", "post_create"), ("status", "201"))] == 1
    for point in metrics["adsunify_request_seconds"].histogram.data_points:
        assert (
            sum(point.bucket_counts) == point.count > 0 and len(point.bucket_counts) == len(point.explicit_bounds) + 1
        )
    assert metrics["adsunify_database_up"].gauge.data_points[0].as_double == 1


async def test_a_collector_that_hangs_does_not_keep_a_server_serving(tmp_path: Path) -> None:
    """At SIGTERM the server stops at once; the last metrics follow, with the last requests in them."""
    has_asked, may_answer, counts = asyncio.Event(), asyncio.Event(), []

    async def hang(request: web.Request) -> web.Response:
        message = ExportMetricsServiceRequest.FromString(await request.read())
        metrics = {metric.name: metric for metric in message.resource_metrics[0].scope_metrics[0].metrics}
        counts.extend(point.as_double for point in metrics["adsunify_requests_total"].sum.data_points)
        has_asked.set()
        await may_answer.wait()
        return web.Response()

    app = web.Application()
    app.router.add_post("/v1/metrics", hang)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "adsunify", "serve", "--json", "--port", "0"),
        *("--database", f"sqlite:///{tmp_path / 'a.db'}"),
        env={**os.environ, **RING, ENDPOINT_VARIABLE: f"http://127.0.0.1:{runner.addresses[0][1]}"},
        stdout=asyncio.subprocess.PIPE,
    )
    assert child.stdout is not None
    url = json.loads(await child.stdout.readline())["baseUrl"]
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        assert (await client.get(f"{url}/healthz")).status_code == 200
        child.send_signal(signal.SIGTERM)
        await asyncio.wait_for(has_asked.wait(), 60)
        with pytest.raises(httpx.ConnectError):
            await client.get(f"{url}/healthz")
    may_answer.set()
    assert await child.wait() == 0 and counts == [1]
    await runner.cleanup()


async def test_a_collector_that_redirects_accepts_nothing(collector: Collector) -> None:
    """No redirect is followed, because the headers hold a token."""
    settings = read_telemetry_settings({ENDPOINT_VARIABLE: collector.url})
    assert settings is not None
    sender = OtlpCollector(settings.endpoint, settings.headers, Egress())
    try:
        with capture_log(level=logging.WARNING) as stream:
            assert await asyncio.to_thread(sender.send, "/v1/traces", b"")
            collector.status = 308
            assert not await asyncio.to_thread(sender.send, "/v1/traces", b"")
    finally:
        collector.status = 200
        sender.close()
    (line,) = parse_lines(stream)
    assert "does not accept telemetry: status 308" in line["message"]


SERVE_AND_LIST = """
import asyncio, sys
from adsunify.cli.serve import running_server

async def run():
    async with running_server(sys.argv[1], "127.0.0.1", 0):
        pass

asyncio.run(run())
print([name for name in sys.modules if "opentelemetry" in name or "protobuf" in name])
"""


async def test_without_a_collector_opentelemetry_is_not_loaded(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'a.db'}"
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVE_AND_LIST, database, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await child.communicate()
    assert output == b"[]\n"


async def test_a_collector_that_is_down_is_logged_once_and_delays_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
    environment = {**RING, ENDPOINT_VARIABLE: "http://127.0.0.1:9"}
    with capture_log(level=logging.WARNING) as stream:
        service = (await open_service(f"sqlite:///{tmp_path / 'a.db'}", environment)).service
        for _ in range(3):
            with service.tracer.start_span("test"):
                pass
            await asyncio.sleep(0.1)
        await service.close()
    assert [line["message"].partition(": ")[0] for line in parse_lines(stream)] == [
        "The collector at http://127.0.0.1:9 does not accept telemetry"
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(
            (ENDPOINT_VARIABLE, text)
            for text in ("collector:4318", "grpc://a", "http://me:hush@a", "http://a?hush", "http://")
        ),
        *((HEADERS_VARIABLE, text) for text in ("hush", "api key=hush", "=hush", "api-key=", "api-key=hush\n")),
    ],
)
async def test_a_wrong_setting_is_named_and_not_repeated(name: str, text: str) -> None:
    with pytest.raises(InvalidInput, match=name) as problem:
        read_telemetry_settings({ENDPOINT_VARIABLE: "http://127.0.0.1:4318", name: text})
    assert "hush" not in str(problem.value)
