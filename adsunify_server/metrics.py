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
from adsunify.store.gauges import MOST, Gauges, gauges

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""The upper bounds of the duration's buckets."""
NOWHERE = "none"
"""What a request is called that has no endpoint."""
Sample = tuple[Mapping[str, str], float]


@define(eq=False)
class Requests:
    """Requests since the process began, by what they are called: an operationId, or a method and a route."""

    names: dict[AbstractRoute, str] = field(factory=dict)
    statuses: Counter[tuple[str, int]] = field(factory=Counter)
    durations: dict[str, list[int]] = field(factory=dict)
    seconds: dict[str, float] = field(factory=lambda: defaultdict(float))

    def name(self, route: AbstractRoute) -> str:
        """What requests at a route are called."""
        name = self.names.get(route)
        if name is not None:
            return name
        if route.resource is None:  # made anew for each request that is refused
            return NOWHERE
        self.names[route] = f"{route.method} {route.resource.canonical}"
        return self.names[route]

    def count(self, name: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self.statuses[name, status] += 1
        if name not in self.durations:
            self.durations[name] = [0] * (len(SECONDS) + 1)
        self.durations[name][bisect_left(SECONDS, seconds)] += 1
        self.seconds[name] += seconds


REQUESTS = web.AppKey("requests", Requests)


def metrics(service: Service, requests: Requests | None) -> web.Application:
    """The application that answers ``/metrics``. ``requests``: None where none are served."""

    async def answer(request: web.Request) -> web.Response:
        try:
            counted = await service.store.read(gauges, service.store.clock.now())
        except StoreError:
            counted = None
        body = exposition(service, requests, counted).encode("ascii")
        return web.Response(body=body, headers={"Content-Type": MEDIA_TYPE})

    app = web.Application()
    app.router.add_get("/metrics", answer)
    return app


def exposition(service: Service, requests: Requests | None, counted: Gauges | None) -> str:
    """All that is counted. ``counted``: what the database says, None where it is away."""
    return "".join(_lines(service, requests, counted))


def _lines(service: Service, requests: Requests | None, counted: Gauges | None) -> Iterator[str]:
    measured = service.measured
    if requests is not None:
        yield from _requests(requests)
    yield from _family(
        "adsunify_network_requests_total",
        "counter",
        "Requests to the networks, by how they ended; lost: nobody knows.",
        [({"network": network, "outcome": ended}, n) for (network, ended), n in measured.requests.items()],
    )
    yield from _family(
        "adsunify_executions_total",
        "counter",
        "Calls to execute an operation, by how they ended.",
        [({"network": network, "outcome": ended}, n) for (network, ended), n in measured.executions.items()],
    )
    yield from _family(
        "adsunify_webhook_attempts_total",
        "counter",
        "Attempts to deliver a notification, by what became of them.",
        [({"outcome": ended}, n) for ended, n in measured.attempts.items()],
    )
    yield from _family(
        "adsunify_limited_total",
        "counter",
        "Requests that a rate limit refused, by limit.",
        [({"limit": name}, n) for name, n in measured.limited.items()],
    )
    yield from _gauge("adsunify_executions_in_flight", "Executions that this process works on now.", measured.executing)
    yield from _gauge("adsunify_writes_waiting", "Store writes of this process not durable yet.", service.store.waiting)
    yield from _gauge("adsunify_database_up", "1 where the database answered this request.", int(counted is not None))
    if counted is None:
        return
    most = f"; {MOST} of a subscription at most"
    yield from _gauge("adsunify_webhook_backlog", f"Notifications waiting for an attempt{most}.", counted.backlog)
    yield from _gauge("adsunify_webhook_due", f"Notifications whose next attempt is due{most}.", counted.due)
    yield from _gauge(
        "adsunify_operations_running", "Operations being executed, by any process, stalled ones too.", counted.running
    )
    yield from _gauge(
        "adsunify_operations_stalled",
        "Operations whose process ended during a native write: a person has to look.",
        counted.stalled,
    )


def _requests(requests: Requests) -> Iterator[str]:
    yield from _family(
        "adsunify_requests_total",
        "counter",
        "Requests answered, by endpoint and status.",
        [({"endpoint": name, "status": str(status)}, n) for (name, status), n in requests.statuses.items()],
    )
    yield from _head("adsunify_request_seconds", "histogram", "How long requests took, by endpoint.")
    for name, counts in requests.durations.items():
        total = 0
        for bound, count in zip((*map(str, SECONDS), "+Inf"), counts, strict=True):
            total += count
            yield _line("adsunify_request_seconds_bucket", {"endpoint": name, "le": bound}, total)
        yield _line("adsunify_request_seconds_sum", {"endpoint": name}, round(requests.seconds[name], 6))
        yield _line("adsunify_request_seconds_count", {"endpoint": name}, total)


def _family(name: str, kind: str, words: str, samples: list[Sample]) -> Iterator[str]:
    yield from _head(name, kind, words)
    for labels, value in samples:
        yield _line(name, labels, value)


def _gauge(name: str, words: str, value: int) -> Iterator[str]:
    return _family(name, "gauge", words, [({}, value)])


def _head(name: str, kind: str, words: str) -> Iterator[str]:
    yield f"# HELP {name} {words}\n# TYPE {name} {kind}\n"


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    written = ",".join(f'{label}="{text}"' for label, text in labels.items())
    return f"{name}{{{written}}} {value}\n" if written else f"{name} {value}\n"
