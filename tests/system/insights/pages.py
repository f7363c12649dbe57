"""Reports of a level on twelve networks, as the bytes of the networks' responses.

A page is made when the adapter requests it, and is not held. The rows of a day are those of
``tests/networks/<code>/reporting.py``; the members around them are those of the networks' documentation, as in the
cases ``report-*.json`` of each network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from time import perf_counter
from typing import Any
from zoneinfo import ZoneInfo

from attrs import define, field, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.entity_reports import EntityReportPage, ReportQuery
from adsunify.http.messages import Flow, Request, Response
from adsunify.networks.registry import get_adapter
from adsunify.values.exact_json import dumps_bytes, loads
from tests.performance.loops import FIRST, Row, load_loop

ZONE = "America/New_York"
LEVEL = "campaign"
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
DISTINCT_FIGURES = 100_000
_JOB_URL = "https://reports.example/file"
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
        return [FIRST + timedelta(number) for number in range(REPORTS[self.network].days)]

    def take(self, entities: int) -> list[Part]:
        """Return all days of so many further entities, one entity after the other."""
        loop, days = load_loop(self.network), self.days
        first = self.count // len(days)
        self.parts = []
        for entity in range(first, first + entities):
            number = entity * len(days) % DISTINCT_FIGURES
            if hasattr(loop, "DAYS_IN_ROW"):
                rows = loop.make_row(number, FIRST.isoformat())["granularMetrics"]
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
        body = dumps_bytes(REPORTS[self.network].answer(request, self))
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


def make_response(request: Request, content: bytes) -> Response:
    """Return the response as the transport makes it."""
    return Response.from_bytes(200, {}, content, request.response_format)


def read_pages(source: Source, rows: int, respond: Respond = make_response) -> Iterator[EntityReportPage]:
    """Yield the pages of reports until they have so many rows. ``respond`` makes the response of the bytes."""
    network, adapter = source.network, get_adapter(source.network)
    assert adapter.reports is not None
    level = next(level for level in adapter.network.report_levels if level.kind == LEVEL)
    query = ReportQuery(level, source.days[0], source.days[-1])
    account = Account(network, "1000001", "USD", ZONE, REPORTS[network].extras)
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


# -- the networks -------------------------------------------------------------------------------------------------


def _answer_meta(request: Request, source: Source) -> Any:
    rows = [
        {"campaign_id": f"{120_210_000_000_000 + part.entity}", "campaign_name": f"Campaign {part.entity}", **part.row}
        for part in source.take(16)
    ]
    paging: dict[str, Any] = {"cursors": {"before": "MA", "after": f"M{source.page}"}}
    if not source.is_last_page:
        paging["next"] = "https://graph.facebook.com/v26.0/act_1000001/insights?after=M"
    return {"data": rows, "paging": paging}


def _answer_google(request: Request, source: Source) -> Any:
    rows = [
        {
            "campaign": {"resourceName": f"customers/1000001/campaigns/{part.entity}", "id": f"{part.entity}"}
            | {"name": f"Campaign {part.entity}"},
            **part.row,
        }
        for part in source.take(320)
    ]
    figures = ["impressions", "clicks", "costMicros", "conversions", "conversionsValue", "videoTrueviewViews"]
    fields = ["segments.date", "campaign.id", "campaign.name", *(f"metrics.{name}" for name in figures)]
    page = {} if source.is_last_page else {"nextPageToken": f"page{source.page}"}
    return {"results": rows, **page, "fieldMask": ",".join(fields)}


def _answer_tiktok(request: Request, source: Source) -> Any:
    rows = [
        {
            "dimensions": {"campaign_id": f"{1_800_000_000_000_000 + part.entity}", **part.row["dimensions"]},
            "metrics": {"campaign_name": f"Campaign {part.entity}", **part.row["metrics"]},
        }
        for part in source.take(33)
    ]
    number = (source.page - 1) % PAGES + 1
    paging = {"page": number, "page_size": 1000, "total_number": 990 * PAGES, "total_page": PAGES}
    return {"code": 0, "message": "OK", "request_id": "1", "data": {"list": rows, "page_info": paging}}


def _answer_amazon(request: Request, source: Source) -> Any:
    if request.url == _JOB_URL:
        return [
            {**part.row, "campaignId": part.entity + 1, "campaignName": f"Campaign {part.entity}"}
            for part in source.take(400)
        ]
    return {"reportId": "report-1", "status": "PENDING" if request.method == "POST" else "COMPLETED", "url": _JOB_URL}


def _answer_pinterest(request: Request, source: Source) -> Any:
    if request.url == _JOB_URL:
        file: dict[str, list[Row]] = {}
        for part in source.take(300):
            names = {"CAMPAIGN_ID": str(part.entity), "CAMPAIGN_NAME": f"Campaign {part.entity}"}
            file.setdefault(str(part.entity), []).append({**names, **part.row})
        return file
    if request.method == "POST":
        return {"report_status": "IN_PROGRESS", "token": "token-1", "message": ""}
    return {"report_status": "FINISHED", "url": _JOB_URL, "size": 900}


def _answer_linkedin(request: Request, source: Source) -> Any:
    rows = [
        {"pivotValues": [f"urn:li:sponsoredCampaignGroup:{part.entity + 1}"], **part.row} for part in source.take(450)
    ]
    return {"paging": {"start": 0, "count": 10, "links": []}, "elements": rows}


def _answer_reddit(request: Request, source: Source) -> Any:
    rows = [{"campaign_id": f"{1_765_284_275_707_641_803 + part.entity}", **part.row} for part in source.take(32)]
    url = f"https://ads-api.reddit.com/api/v3/ad_accounts/1000001/reports?page.size=1000&page.token=t{source.page}"
    pagination = {"next_url": None if source.is_last_page else url, "previous_url": None}
    updated = "2026-11-20T02:16:44.167000+00:00"
    return {"data": {"metrics": rows, "metrics_updated_at": updated}, "pagination": pagination}


def _answer_outbrain(request: Request, source: Source) -> Any:
    if request.url.endswith("fullDay"):
        return {"fullDayDate": "2026-11-30", "modificationTime": "2026-12-01 07:41:02"}
    entries: dict[int, dict[str, Any]] = {}
    for part in source.take(301):
        entry = entries.setdefault(part.entity, {"campaignId": f"{part.entity:034x}", "results": []})
        entry["results"].append(part.row)
    return {"campaignResults": [{**entry, "totalResults": len(source.days)} for entry in entries.values()]}


def _answer_snapchat(request: Request, source: Source) -> Any:
    entities: dict[int, dict[str, Any]] = {}
    for part in source.take(200):
        names = {"id": f"22222222-aaaa-4bbb-8ccc-{part.entity:012d}", "type": "CAMPAIGN", "granularity": "DAY"}
        entity = entities.setdefault(part.entity, {**names, "timeseries": []})
        start = datetime.combine(part.day, time(), ZoneInfo(ZONE)).isoformat(timespec="milliseconds")
        entity["timeseries"].append({"start_time": start, "end_time": start, "stats": part.row["stats"]})
    statistic = {
        "id": "1000001",
        "type": "AD_ACCOUNT",
        "breakdown_stats": {"campaign": list(entities.values())},
        "finalized_data_end_time": "2026-11-18T00:00:00.000-05:00",
    }
    link = f"https://adsapi.snapchat.com/v1/adaccounts/1000001/stats?cursor=c{source.page}"
    paging = {} if source.is_last_page else {"paging": {"next_link": link}}
    stats = [{"sub_request_status": "SUCCESS", "timeseries_stat": statistic}]
    return {"request_status": "SUCCESS", "request_id": "1", "timeseries_stats": stats, **paging}


def _answer_apple(request: Request, source: Source) -> Any:
    if "/reports/" not in request.url:
        campaigns = [{"id": 1, "name": "Campaign 1", "deleted": False}, {"id": 2, "name": "Campaign 2"}]
        return {"result": campaigns, "pagination": {"totalCount": 2, "offset": 0, "pageSize": 1000}}
    rows: dict[int, dict[str, Any]] = {}
    for part in source.take(300):
        names = {"id": part.entity + 1, "name": f"Campaign {part.entity}", "adAccountId": 1_000_001}
        rows.setdefault(part.entity, {"metadata": names, "granularMetrics": []})["granularMetrics"].append(part.row)
    offset = request.body["pagination"]["offset"]
    total = offset + (len(rows) if source.is_last_page else len(rows) + 1)
    pagination = {"totalCount": total, "offset": offset, "pageSize": 1000}
    return {"result": {"rows": list(rows.values())}, "pagination": pagination}


def _answer_chatgpt(request: Request, source: Source) -> Any:
    if request.url.endswith("/conversions/insights"):
        return {"object": "list", "data": list(_list_chatgpt_conversions(request, source))}
    rows = [
        {
            "id": f"start={part.day}:entity_id=cmpn_{part.entity}",
            "campaign_id": f"cmpn_{part.entity}",
            "campaign_name": f"Campaign {part.entity}",
            **part.row,
        }
        for part in source.take(50)
    ]
    return {"object": "list", "data": rows, "has_more": not source.is_last_page, "last_id": rows[-1]["id"]}


def _list_chatgpt_conversions(request: Request, source: Source) -> Iterator[Row]:
    """Yield the conversions of the entities and days of a request."""
    days = loads(request.body["time_ranges"][0])
    ids, zone = set(request.body["entity_ids"]), ZoneInfo(ZONE)
    first, last = (datetime.fromtimestamp(int(days[name]), zone).date() for name in ("start", "end"))
    for part in source.parts:
        if f"cmpn_{part.entity}" in ids and first <= part.day < last:
            yield {
                "entity_id": f"cmpn_{part.entity}",
                "date": part.day.isoformat(),
                "conversions": part.entity % 9,
                "order_created_attributed_sales": f"{part.entity % 1000}.50",
                "order_created_attributed_sales_currency": "USD",
            }


def _answer_x(request: Request, source: Source) -> Any:
    if "/stats/" not in request.url:
        entities = sorted({part.entity for part in source.take(200)})
        rows = [{"id": f"c{entity:09}", "name": f"Campaign {entity}", "currency": "USD"} for entity in entities]
        return {"data": rows, "next_cursor": None}
    if request.url.endswith("/active_entities"):
        ids = dict.fromkeys(f"c{part.entity:09}" for part in source.parts)
        return {"data": [{"entity_id": id_, "placements": ["ALL_ON_TWITTER"]} for id_ in ids]}
    days: dict[str, list[Row]] = {id_: [] for id_ in request.query["entity_ids"].split(",")}
    for part in source.parts:
        if f"c{part.entity:09}" in days:
            days[f"c{part.entity:09}"].append(part.row)
    is_conversion = request.query["metric_groups"] == "WEB_CONVERSION"
    names = [name for name in source.parts[0].row if name not in ("date", "campaign_id")]
    chosen = [name for name in names if name.startswith("conversion_") is is_conversion]
    data = [
        {"id": id_, "id_data": [{"segment": None, "metrics": {name: _make_series(rows, name) for name in chosen}}]}
        for id_, rows in days.items()
    ]
    return {"data_type": "stats", "time_series_length": len(source.days), "data": data}


def _make_series(rows: list[Row], name: str) -> Any:
    values = [row[name] for row in rows]
    if not isinstance(values[0], dict):
        return values
    return {member: [value[member] for value in values] for member in values[0]}


REPORTS = {
    "amazon": SimulatedReport(31, _answer_amazon, {"region": "NA", "accountType": "seller"}),
    "apple": SimulatedReport(30, _answer_apple),
    "chatgpt": SimulatedReport(40, _answer_chatgpt),
    "google": SimulatedReport(31, _answer_google),
    "linkedin": SimulatedReport(31, _answer_linkedin),
    "meta": SimulatedReport(31, _answer_meta),
    "outbrain": SimulatedReport(30, _answer_outbrain),
    "pinterest": SimulatedReport(31, _answer_pinterest),
    "reddit": SimulatedReport(31, _answer_reddit),
    "snapchat": SimulatedReport(30, _answer_snapchat),
    "tiktok": SimulatedReport(30, _answer_tiktok),
    "x": SimulatedReport(7, _answer_x),
}
