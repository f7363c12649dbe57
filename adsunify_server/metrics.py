"""The metrics of a server or a worker, which prometheus-client writes in the text format of Prometheus (0.0.4).

``/metrics`` has a separate port, because behind a proxy every request seems to come from the machine itself. The values
of labels are a fixed vocabulary: they never hold an id, an address or text that a caller chose.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import get_args

from aiohttp import web
from aiohttp.web_urldispatcher import AbstractRoute
from attrs import define, field
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from adsunify.errors import StoreError
from adsunify.service.core import Service
from adsunify.service.counters import JobName
from adsunify.service.monitoring import MAX_COUNTED, Gauges, count_pending_writes, read_gauges

DURATION_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""The upper bounds of the duration's buckets."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
DATABASE_TIMEOUT_SECONDS = 5.0
"""How long the database may take to answer. Prometheus waits 10 s, and would learn nothing from a later answer."""
NO_ENDPOINT = "none"
"""The name of requests without an endpoint."""


@define(eq=False)
class RequestMetrics:
    """Requests since the process began, by name: an operationId, or a method and a route."""

    route_names: dict[AbstractRoute, str] = field(factory=dict)
    status_counts: Counter[tuple[str, int]] = field(factory=Counter)
    duration_counts: dict[str, list[int]] = field(factory=dict)
    total_seconds: dict[str, float] = field(factory=lambda: defaultdict(float))

    def name_route(self, route: AbstractRoute) -> str:
        """Return the name under which requests at a route are counted."""
        name = self.route_names.get(route)
        if name is not None:
            return name
        if route.resource is None:  # aiohttp makes a new route for each refused request
            return NO_ENDPOINT
        self.route_names[route] = f"{route.method} {route.resource.canonical}"
        return self.route_names[route]

    def count_request(self, name: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self.status_counts[name, status] += 1
        if name not in self.duration_counts:
            self.duration_counts[name] = [0] * (len(DURATION_BUCKETS) + 1)
        self.duration_counts[name][bisect_left(DURATION_BUCKETS, seconds)] += 1
        self.total_seconds[name] += seconds


REQUESTS = web.AppKey("requests", RequestMetrics)


@define(eq=False)
class ServiceCollector(Collector):
    """Reads the counters of one service for prometheus-client. ``requests``: None in a process that serves no requests.

    ``gauges``: the figures that :meth:`read_database` read last, None where the database did not answer.
    """

    service: Service
    requests: RequestMetrics | None
    gauges: Gauges | None = None

    async def read_database(self) -> None:
        """Read the figures of the database, because :meth:`collect` cannot wait for them."""
        try:
            self.gauges = await asyncio.wait_for(read_gauges(self.service), DATABASE_TIMEOUT_SECONDS)
        except (StoreError, TimeoutError):
            self.gauges = None

    def collect(self) -> Iterator[Metric]:
        """Yield every metric. Metrics of the database are left out if it did not answer."""
        counters = self.service.counters
        if self.requests is not None:
            yield from _collect_requests(self.requests)
        yield _make_counter(
            "adsunify_network_requests_total",
            "Requests to the networks, by outcome. lost: no response arrived, so the outcome is not known.",
            ("network", "outcome"),
            counters.network_requests.items(),
        )
        yield _make_counter(
            "adsunify_executions_total",
            "Calls to execute an operation, by outcome.",
            ("network", "outcome"),
            counters.executions.items(),
        )
        yield _make_counter(
            "adsunify_webhook_attempts_total",
            "Attempts to deliver a notification, by outcome.",
            ("outcome",),
            (((outcome,), count) for outcome, count in counters.delivery_attempts.items()),
        )
        yield _make_counter(
            "adsunify_limited_total",
            "Requests that a rate limit refused, by limit.",
            ("limit",),
            (((limit,), count) for limit, count in counters.limit_refusals.items()),
        )
        yield _make_counter(
            "adsunify_job_failures_total",
            "Jobs beside requests that a defect ended; each begins again after a pause.",
            ("name",),
            # A job without a failure has the value 0, so that Prometheus sees the increase at the first failure.
            (((name,), counters.job_failures[name]) for name in get_args(JobName)),
        )
        yield GaugeMetricFamily(
            "adsunify_executions_in_flight",
            "Executions in progress in this process.",
            counters.executions_in_flight,
        )
        yield GaugeMetricFamily(
            "adsunify_writes_waiting",
            "Store writes of this process that are not durable yet.",
            count_pending_writes(self.service),
        )
        yield GaugeMetricFamily(
            "adsunify_database_up", "1 where the database answered this request.", int(self.gauges is not None)
        )
        if self.gauges is not None:
            yield from _collect_gauges(self.gauges)


def make_metrics_application(service: Service, requests: RequestMetrics | None) -> web.Application:
    """Make the application that answers ``/metrics``. ``requests``: None in a process that serves no requests."""
    collector = ServiceCollector(service, requests)
    registry = CollectorRegistry()
    registry.register(collector)

    async def answer_metrics(request: web.Request) -> web.Response:
        await collector.read_database()
        return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE})

    app = web.Application()
    app.router.add_get("/metrics", answer_metrics)
    return app


def _collect_requests(requests: RequestMetrics) -> Iterator[Metric]:
    yield _make_counter(
        "adsunify_requests_total",
        "Requests answered, by endpoint and status.",
        ("endpoint", "status"),
        (((endpoint, str(status)), count) for (endpoint, status), count in requests.status_counts.items()),
    )
    seconds = HistogramMetricFamily(
        "adsunify_request_seconds", "Duration of requests, by endpoint.", labels=("endpoint",)
    )
    bounds = (*map(str, DURATION_BUCKETS), "+Inf")
    for endpoint, counts in requests.duration_counts.items():
        buckets = list(zip(bounds, accumulate(counts), strict=True))
        seconds.add_metric((endpoint,), buckets, requests.total_seconds[endpoint])
    yield seconds


def _collect_gauges(gauges: Gauges) -> Iterator[Metric]:
    most = f"; {MAX_COUNTED} of a subscription at most"
    yield GaugeMetricFamily("adsunify_webhook_backlog", f"Notifications waiting for an attempt{most}.", gauges.backlog)
    yield GaugeMetricFamily(
        "adsunify_webhook_due", f"Notifications of active subscriptions whose next attempt is due{most}.", gauges.due
    )
    yield GaugeMetricFamily(
        "adsunify_operations_running", "Running operations of all processes, including stalled ones.", gauges.running
    )
    yield GaugeMetricFamily(
        "adsunify_operations_stalled",
        "Operations whose process ended during a native write; a person must check them.",
        gauges.stalled,
    )


def _make_counter(
    name: str, words: str, labels: Sequence[str], counts: Iterable[tuple[Sequence[str], int]]
) -> CounterMetricFamily:
    """Make the metric of a counter. ``counts``: the values of ``labels``, in their order, each with its count."""
    counter = CounterMetricFamily(name, words, labels=labels)
    for values, count in counts:
        counter.add_metric(values, count)
    return counter
