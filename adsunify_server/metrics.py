"""What the server counts, in the text format of Prometheus (exposition format 0.0.4).

It is answered at an address of its own, never beside the API: behind a proxy every caller seems to come from the
machine itself. Labels are words of ours: no id, no address, nothing that a caller chose.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from aiohttp import web
from aiohttp.web_urldispatcher import AbstractRoute
from attrs import define, field

from adsunify.errors import StoreError
from adsunify.service.core import Service
from adsunify.store.gauges import MAX_COUNTED, Gauges, read_gauges

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
DURATION_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""The upper bounds of the duration's buckets."""
NO_ENDPOINT = "none"
"""What a request is called that has no endpoint."""
MetricSample = tuple[Mapping[str, str], float]


@define(eq=False)
class RequestMetrics:
    """Requests since the process began, by what they are called: an operationId, or a method and a route."""

    route_names: dict[AbstractRoute, str] = field(factory=dict)
    status_counts: Counter[tuple[str, int]] = field(factory=Counter)
    duration_counts: dict[str, list[int]] = field(factory=dict)
    total_seconds: dict[str, float] = field(factory=lambda: defaultdict(float))

    def name_route(self, route: AbstractRoute) -> str:
        """What requests at a route are called."""
        name = self.route_names.get(route)
        if name is not None:
            return name
        if route.resource is None:  # made anew for each request that is refused
            return NO_ENDPOINT
        self.route_names[route] = f"{route.method} {route.resource.canonical}"
        return self.route_names[route]

    def count_request(self, name: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self.status_counts[name, status] += 1
        if name not in self.duration_counts:
            self.duration_counts[name] = [0] * (len(DURATION_BUCKETS) + 1)
        self.duration_counts[name][bisect_left(DURATION_BUCKETS, seconds)] += 1
        self.total_seconds[name] += seconds


REQUESTS = web.AppKey("requests", RequestMetrics)


def make_metrics_application(service: Service, requests: RequestMetrics | None) -> web.Application:
    """The application that answers ``/metrics``. ``requests``: None where none are served."""

    async def answer_metrics(request: web.Request) -> web.Response:
        try:
            counted = await service.store.read(read_gauges, service.store.clock.now())
        except StoreError:
            counted = None
        body = render_metrics(service, requests, counted).encode("ascii")
        return web.Response(body=body, headers={"Content-Type": MEDIA_TYPE})

    app = web.Application()
    app.router.add_get("/metrics", answer_metrics)
    return app


def render_metrics(service: Service, requests: RequestMetrics | None, counted: Gauges | None) -> str:
    """All that is counted. ``counted``: what the database says, None where it is away."""
    return "".join(_metric_lines(service, requests, counted))


def _metric_lines(service: Service, requests: RequestMetrics | None, counted: Gauges | None) -> Iterator[str]:
    measured = service.counters
    if requests is not None:
        yield from _request_lines(requests)
    yield from _family_lines(
        "adsunify_network_requests_total",
        "counter",
        "Requests to the networks, by how they ended; lost: nobody knows.",
        [({"network": network, "outcome": ended}, n) for (network, ended), n in measured.network_requests.items()],
    )
    yield from _family_lines(
        "adsunify_executions_total",
        "counter",
        "Calls to execute an operation, by how they ended.",
        [({"network": network, "outcome": ended}, n) for (network, ended), n in measured.executions.items()],
    )
    yield from _family_lines(
        "adsunify_webhook_attempts_total",
        "counter",
        "Attempts to deliver a notification, by what became of them.",
        [({"outcome": ended}, n) for ended, n in measured.delivery_attempts.items()],
    )
    yield from _family_lines(
        "adsunify_limited_total",
        "counter",
        "Requests that a rate limit refused, by limit.",
        [({"limit": name}, n) for name, n in measured.limit_refusals.items()],
    )
    yield from _gauge_lines(
        "adsunify_executions_in_flight", "Executions that this process works on now.", measured.executions_in_flight
    )
    yield from _gauge_lines(
        "adsunify_writes_waiting", "Store writes of this process not durable yet.", service.store.pending_writes
    )
    yield from _gauge_lines(
        "adsunify_database_up", "1 where the database answered this request.", int(counted is not None)
    )
    if counted is None:
        return
    most = f"; {MAX_COUNTED} of a subscription at most"
    yield from _gauge_lines("adsunify_webhook_backlog", f"Notifications waiting for an attempt{most}.", counted.backlog)
    yield from _gauge_lines("adsunify_webhook_due", f"Notifications whose next attempt is due{most}.", counted.due)
    yield from _gauge_lines(
        "adsunify_operations_running", "Operations being executed, by any process, stalled ones too.", counted.running
    )
    yield from _gauge_lines(
        "adsunify_operations_stalled",
        "Operations whose process ended during a native write: a person has to look.",
        counted.stalled,
    )


def _request_lines(requests: RequestMetrics) -> Iterator[str]:
    yield from _family_lines(
        "adsunify_requests_total",
        "counter",
        "Requests answered, by endpoint and status.",
        [({"endpoint": name, "status": str(status)}, n) for (name, status), n in requests.status_counts.items()],
    )
    yield from _head_lines("adsunify_request_seconds", "histogram", "How long requests took, by endpoint.")
    for name, counts in requests.duration_counts.items():
        total = 0
        for bound, count in zip((*map(str, DURATION_BUCKETS), "+Inf"), counts, strict=True):
            total += count
            yield _format_sample("adsunify_request_seconds_bucket", {"endpoint": name, "le": bound}, total)
        yield _format_sample("adsunify_request_seconds_sum", {"endpoint": name}, round(requests.total_seconds[name], 6))
        yield _format_sample("adsunify_request_seconds_count", {"endpoint": name}, total)


def _family_lines(name: str, kind: str, words: str, samples: list[MetricSample]) -> Iterator[str]:
    yield from _head_lines(name, kind, words)
    for labels, value in samples:
        yield _format_sample(name, labels, value)


def _gauge_lines(name: str, words: str, value: int) -> Iterator[str]:
    return _family_lines(name, "gauge", words, [({}, value)])


def _head_lines(name: str, kind: str, words: str) -> Iterator[str]:
    yield f"# HELP {name} {words}\n# TYPE {name} {kind}\n"


def _format_sample(name: str, labels: Mapping[str, str], value: float) -> str:
    written = ",".join(f'{label}="{text}"' for label, text in labels.items())
    return f"{name}{{{written}}} {value}\n" if written else f"{name} {value}\n"
