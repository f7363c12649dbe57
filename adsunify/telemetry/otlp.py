"""Sends spans to a collector over OTLP/HTTP, with the SDK of OpenTelemetry. Needs the extra ``otel``.

The requests go over httpx, as all others: they use the authorities of the deployment, and no environment variables.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextvars import Token
from importlib.metadata import version
from types import TracebackType
from typing import Self
from uuid import uuid4

import httpx
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from adsunify.errors import AdsunifyError
from adsunify.http.egress import Egress

from .tracing import TRACE_ID, Attributes, Span, SpanKind, Tracer

log = logging.getLogger("adsunify.telemetry")
SEND_SECONDS = 10.0
INSTANCE_ID = str(uuid4())
"""Distinguishes the processes of a deployment."""
CONTENT_TYPE = "application/x-protobuf"
KINDS = {"server": trace.SpanKind.SERVER, "client": trace.SpanKind.CLIENT, "internal": trace.SpanKind.INTERNAL}
_propagator = TraceContextTextMapPropagator()


class Collector:
    """Sends protobuf messages to a collector, from any thread. A message that is not accepted is dropped.

    ``endpoint`` is the address of the collector without a trailing slash.
    """

    def __init__(self, endpoint: str, headers: Mapping[str, str], egress: Egress) -> None:
        self._endpoint = endpoint
        self._http = httpx.Client(
            trust_env=False,
            verify=egress.tls,
            timeout=SEND_SECONDS,
            headers={**headers, "Content-Type": CONTENT_TYPE, "User-Agent": "adsunify"},
        )
        self._is_failing = False
        self.resource = Resource(
            {
                "service.name": "adsunify",
                "service.version": version("adsunify"),
                "service.instance.id": INSTANCE_ID,
            }
        ).merge(OTELResourceDetector().detect())

    def send(self, path: str, content: bytes) -> bool:
        """Send a message and return whether it was accepted. The first failure of an outage is logged."""
        try:
            status = self._http.post(self._endpoint + path, content=content).status_code
            reason = None if status < 300 else f"status {status}"
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            reason = str(problem) or type(problem).__name__
        if reason is not None and not self._is_failing:
            log.warning("The collector at %s does not accept telemetry: %s", self._endpoint, reason)
        self._is_failing = reason is not None
        return reason is None

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


class _CollectorSpanExporter(SpanExporter):
    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        content = encode_spans(spans).SerializeToString()
        return SpanExportResult.SUCCESS if self._collector.send("/v1/traces", content) else SpanExportResult.FAILURE


class OtlpTracer(Tracer):
    """Makes spans that a thread sends to a collector in batches."""

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        self._provider = TracerProvider(resource=collector.resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(_CollectorSpanExporter(collector)))
        self._tracer = self._provider.get_tracer("adsunify", version("adsunify"))

    def start_span(self, name: str, kind: SpanKind = "internal", traceparent: str | None = None) -> Span:
        """Start a span within the span of the task or of the caller."""
        parent = None if traceparent is None else _propagator.extract({"traceparent": traceparent})
        return _OtlpSpan(self._tracer, name, kind, parent)

    async def close(self) -> None:
        """Send the spans that have ended, and stop."""
        await asyncio.to_thread(self._provider.shutdown)
        self.collector.close()


class _OtlpSpan(Span):
    """A span of the SDK, current in the task while its block runs."""

    def __init__(self, tracer: trace.Tracer, name: str, kind: SpanKind, parent: Context | None) -> None:
        self._span = tracer.start_span(name, context=parent, kind=KINDS[kind])
        self.is_recording = self._span.is_recording()
        self._context_token: Token[Context] | None = None
        self._id_token: Token[str | None] | None = None

    def set_attributes(self, attributes: Attributes) -> None:
        self._span.set_attributes({name: value for name, value in attributes.items() if value is not None})

    def set_error(self, kind: str) -> None:
        self._span.set_attribute("error.type", kind)
        self._span.set_status(trace.StatusCode.ERROR)

    def __enter__(self) -> Self:
        self._context_token = otel_context.attach(trace.set_span_in_context(self._span))
        self._id_token = TRACE_ID.set(trace.format_trace_id(self._span.get_span_context().trace_id))
        return self

    def __exit__(
        self, type_: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the span. An exception gives it the code of the error, never its text."""
        if problem is not None:
            self.set_error(problem.code if isinstance(problem, AdsunifyError) else type(problem).__name__)
        self._span.end()
        assert self._context_token is not None and self._id_token is not None
        TRACE_ID.reset(self._id_token)
        otel_context.detach(self._context_token)
