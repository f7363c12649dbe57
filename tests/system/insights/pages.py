"""Reports of a level on the networks that have one, as the bytes of the networks' responses.

A page is made when the adapter requests it, and is not held. The rows of a day are those of
``tests/networks/<code>/reporting.py``; the members around them are those of the networks' documentation, as in the
cases ``report-*.json`` of each network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from time import perf_counter
from typing import Any

from attrs import define, field, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.entity_reports import EntityReportPage, ReportQuery
from adsunify.http.messages import Flow, Request, Response
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.values.exact_json import dumps_bytes
from tests.networks.modules import load_network_module
from tests.performance.loops import FIRST, Row, load_loop

REPORT_ZONE = "America/New_York"
LEVEL = "campaign"
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
DISTINCT_FIGURES = 100_000
JOB_URL = "https://reports.example/file"
PAGES = 3
"""How many pages a report has, on networks that page by a cursor."""


@frozen
class Part:
    """A day of an entity. ``row``: the figures, as the network reports them."""

    entity: int
    day: date
    row: Row


@define
class Source:
    """Makes the pages of a network's reports.

    Attributes:
        network: the network's code.
        count: the rows so far.
        page: the pages so far.
        parts: the rows of the last page.
        seconds: how long the pages took to be made.
    """

    network: str
    count: int = 0
    page: int = 0
    parts: list[Part] = field(factory=list)
    seconds: float = 0.0

    @property
    def days(self) -> list[date]:
        """The days of a report."""
        return [FIRST + timedelta(number) for number in range(load_report(self.network).days)]

    def take(self, entities: int) -> list[Part]:
        """Return all days of so many further entities, one entity after the other."""
        loop, days = load_loop(self.network), self.days
        first = self.count // len(days)
        self.parts = []
        for entity in range(first, first + entities):
            number = entity * len(days) % DISTINCT_FIGURES
            if hasattr(loop, "DAYS_MEMBER"):
                rows = loop.make_row(number, FIRST.isoformat())[loop.DAYS_MEMBER]
            else:
                rows = [loop.make_row(number + more, day.isoformat()) for more, day in enumerate(days)]
            self.parts += [Part(entity, day, row) for day, row in zip(days, rows, strict=True)]
        self.count += len(self.parts)
        self.page += 1
        return self.parts

    @property
    def is_last_page(self) -> bool:
        return self.page % PAGES == 0

    def make_body(self, request: Request) -> bytes:
        """Return the body of the response to a request."""
        start = perf_counter()
        body = dumps_bytes(load_report(self.network).answer(request, self))
        self.seconds += perf_counter() - start
        return body


Answer = Callable[[Request, Source], Any]
Respond = Callable[[Request, bytes], Response]


@frozen
class SimulatedReport:
    """A report of a level.

    Attributes:
        days: the days of a report.
        answer: returns the JSON of the response to a request.
        extras: those of the account.
    """

    days: int
    answer: Answer
    extras: Mapping[str, str] = field(factory=dict)


def list_reporting_networks() -> list[str]:
    """List the networks that report figures below the account."""
    return [code for code in ADAPTER_PACKAGES if get_adapter(code).reports is not None]


def load_report(network: str) -> SimulatedReport:
    """``REPORT`` of ``tests/networks/<code>/reporting.py``."""
    report: SimulatedReport = load_network_module(network, "reporting", "REPORT").REPORT
    return report


def make_response(request: Request, content: bytes) -> Response:
    """Return the response as the transport makes it."""
    return Response.from_bytes(200, {}, content, request.response_format)


def read_pages(source: Source, rows: int, respond: Respond = make_response) -> Iterator[EntityReportPage]:
    """Yield the pages of reports until they have so many rows. ``respond`` makes the response of the bytes."""
    network, adapter = source.network, get_adapter(source.network)
    assert adapter.reports is not None
    level = next(level for level in adapter.network.report_levels if level.kind == LEVEL)
    query = ReportQuery(level, source.days[0], source.days[-1])
    account = Account(network, "1000001", "USD", REPORT_ZONE, load_report(network).extras)
    cursor, job = None, None
    while cursor is not None or source.count < rows:
        flow = adapter.reports.fetch_report_page(account, query, cursor, job, NOW)
        page = _run(flow, source, respond)
        cursor, job = page.cursor, None if page.pending is None else page.pending.job
        if page.pending is None:
            yield page


def _run(flow: Flow[EntityReportPage], source: Source, respond: Respond) -> EntityReportPage:
    try:
        request = next(flow)
        while True:
            assert isinstance(request, Request)
            request = flow.send(respond(request, source.make_body(request)))
    except StopIteration as end:
        page: EntityReportPage = end.value
        return page
