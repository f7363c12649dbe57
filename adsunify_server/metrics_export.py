"""Sends the metrics of ``/metrics`` to a collector over OTLP/HTTP, once a minute. Needs the extra ``otel``."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

from prometheus_client.metrics_core import Metric

from adsunify.service.core import Service
from adsunify.telemetry.settings import read_telemetry_settings

from .metrics import RequestMetrics, ServiceCollector

INTERVAL_SECONDS = 60.0
CUMULATIVE = 2
"""``AGGREGATION_TEMPORALITY_CUMULATIVE`` of OTLP: a counter counts from the start of the process."""
PATH = "/v1/metrics"


@asynccontextmanager
async def exported_metrics(
    service: Service, requests: RequestMetrics | None, environment: Mapping[str, str]
) -> AsyncIterator[None]:
    """Send metrics while the block runs, and once more at its end. Without a collector nothing is sent.

    ``requests``: None in a process that serves no requests.
    """
    settings = read_telemetry_settings(environment)
    if settings is None:
        yield
        return
    from adsunify.telemetry.otlp import Collector  # part of an extra

    collector = Collector(settings.endpoint, settings.headers, service.transport.egress)
    figures, started_at = ServiceCollector(service, requests), time.time_ns()

    async def send() -> None:
        await figures.read_database()
        content = encode_metrics(figures.collect(), collector.resource.attributes, started_at, time.time_ns())
        await asyncio.to_thread(collector.send, PATH, content)

    async def send_regularly() -> None:
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            await send()

    task = asyncio.create_task(send_regularly())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait((task,))
        await send()
        collector.close()


def encode_metrics(metrics: Iterable[Metric], resource: Mapping[str, Any], started_at: int, now: int) -> bytes:
    """Return the OTLP message of metrics. ``started_at`` and ``now`` are in nanoseconds since 1970."""
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

    message = ExportMetricsServiceRequest()
    group = message.resource_metrics.add()
    _add_attributes(group.resource.attributes, resource)
    scope = group.scope_metrics.add()
    scope.scope.name = "adsunify"
    for metric in metrics:
        target = scope.metrics.add(name=metric.name, description=metric.documentation)
        if metric.type == "histogram":
            _add_histogram(target.histogram, metric, started_at, now)
            continue
        points = target.gauge.data_points
        if metric.type == "counter":
            target.name, points = f"{metric.name}_total", target.sum.data_points
            target.sum.aggregation_temporality, target.sum.is_monotonic = CUMULATIVE, True
        for sample in metric.samples:
            point = points.add(start_time_unix_nano=started_at, time_unix_nano=now, as_double=sample.value)
            _add_attributes(point.attributes, sample.labels)
    content: bytes = message.SerializeToString()
    return content


def _add_histogram(target: Any, metric: Metric, started_at: int, now: int) -> None:
    """Add the points of a histogram. Buckets of Prometheus include all lower buckets; buckets of OTLP do not."""
    target.aggregation_temporality = CUMULATIVE
    buckets: dict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = defaultdict(list)
    sums: dict[tuple[tuple[str, str], ...], float] = {}
    for sample in metric.samples:
        labels = tuple((name, value) for name, value in sample.labels.items() if name != "le")
        if sample.name.endswith("_bucket"):
            buckets[labels].append((float(sample.labels["le"]), sample.value))
        elif sample.name.endswith("_sum"):
            sums[labels] = sample.value
    for labels, cumulative in buckets.items():
        counts = [0.0, *(count for _, count in cumulative)]
        point = target.data_points.add(
            start_time_unix_nano=started_at, time_unix_nano=now, count=int(counts[-1]), sum=sums[labels]
        )
        point.explicit_bounds.extend([bound for bound, _ in cumulative[:-1]])
        point.bucket_counts.extend([int(upper - lower) for lower, upper in pairwise(counts)])
        _add_attributes(point.attributes, dict(labels))


def _add_attributes(target: Any, attributes: Mapping[str, Any]) -> None:
    for name, value in attributes.items():
        target.add(key=name).value.string_value = str(value)
