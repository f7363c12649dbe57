"""An OTLP/HTTP collector on 127.0.0.1, which decodes what it gets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from attrs import define, field
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@define
class CollectedSpan:
    """A span as it arrived. ``parent`` is empty for the root of a trace."""

    name: str
    trace: str
    id: str
    parent: str
    kind: int
    is_error: bool
    attributes: dict[str, Any]


@define
class Collector:
    """``raw``: the bytes of all messages; ``headers``: those of the last one. ``status`` is what it answers."""

    url: str = ""
    status: int = 200
    spans: list[CollectedSpan] = field(factory=list)
    metrics: list[Any] = field(factory=list)
    resources: list[dict[str, Any]] = field(factory=list)
    raw: list[bytes] = field(factory=list)
    headers: dict[str, str] = field(factory=dict)

    async def handle(self, request: web.Request) -> web.Response:
        """Take one message."""
        body = await request.read()
        self.raw.append(body)
        self.headers = dict(request.headers)
        if request.path == "/v1/traces":
            self._take_spans(ExportTraceServiceRequest.FromString(body))
        else:
            assert request.path == "/v1/metrics"
            message = ExportMetricsServiceRequest.FromString(body)
            self.metrics = [
                metric
                for group in message.resource_metrics
                for scope in group.scope_metrics
                for metric in scope.metrics
            ]
        return web.Response(status=self.status)

    def _take_spans(self, message: Any) -> None:
        for group in message.resource_spans:
            self.resources.append(read_attributes(group.resource.attributes))
            for span in (span for scope in group.scope_spans for span in scope.spans):
                assert not span.events and not span.links and not span.trace_state
                self.spans.append(
                    CollectedSpan(
                        span.name,
                        span.trace_id.hex(),
                        span.span_id.hex(),
                        span.parent_span_id.hex(),
                        span.kind,
                        span.status.code == 2,
                        read_attributes(span.attributes),
                    )
                )

    async def find(self, is_match: Callable[[CollectedSpan], bool], count: int = 1) -> list[CollectedSpan]:
        """Wait until so many spans are as wanted."""
        async with asyncio.timeout(30):
            while len(matches := [span for span in self.spans if is_match(span)]) < count:
                await asyncio.sleep(0.02)
        return matches


def read_attributes(attributes: Any) -> dict[str, Any]:
    return {attribute.key: getattr(attribute.value, attribute.value.WhichOneof("value")) for attribute in attributes}


@asynccontextmanager
async def run_collector() -> AsyncIterator[Collector]:
    collector = Collector()
    app = web.Application()
    app.router.add_post("/{anything:.*}", collector.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        collector.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield collector
    finally:
        await runner.cleanup()
