"""Normalized daily metrics: read at once, or from a report that is asked for once and resumed."""

from __future__ import annotations

import asyncio
import re
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from adsunify.adapter.insights import NO_CAMPAIGNS_NOTE, QUIET_DAYS_NOTE, UNKNOWN_DAYS_NOTE, DateRange
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.service.reporting.accounts import MAX_DAYS
from adsunify.values.dates import subtract_months
from tests.networks.samples import get_samples

from .served import Served

pytestmark = pytest.mark.asyncio(loop_scope="module")
FIGURES = ("impressions", "clicks", "spend", "conversions", "conversionValue", "videoViews", "reach")
ADDITIVE = FIGURES[:-1]
REPORT = ("POST", "advertising-api.amazon.com", "/reporting/reports")


@pytest.fixture(autouse=True)
def no_faults_left(server: Served) -> None:
    server.networks.state.faults.pending.clear()


async def read_today(server: Served, account: str) -> date:
    zone = (await server.admin.get(f"/accounts/{account}"))["timezone"]
    return server.hands.now().astimezone(ZoneInfo(zone)).date()


async def request_report(server: Served, account: str, start: date, end: date) -> Any:
    return await server.admin.get(f"/accounts/{account}/insights", startDate=str(start), endDate=str(end))


async def finish_report(server: Served, account: str, start: date, end: date) -> Any:
    """Asked again with the same dates until it is there."""
    for _ in range(10):
        report = await request_report(server, account, start, end)
        if report["pending"] is None:
            return report
    raise AssertionError("the report never ends")


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_days_and_totals(server: Served, live: dict[str, str], network: str) -> None:
    account = live[network]
    end = await read_today(server, account) - timedelta(days=1)
    start = end - timedelta(days=6)
    account_row = await server.admin.get(f"/accounts/{account}")
    synced = len(await server.events("analytics.synced"))
    report = await finish_report(server, account, start, end)
    assert (report["accountId"], report["currency"], report["timezone"]) == (account, "USD", account_row["timezone"])
    days = [row["date"] for row in report["rows"]]
    assert days == sorted(set(days)) and days
    assert str(start) <= days[0] and days[-1] <= str(end)
    assert report["nativeRows"]
    coverage = report["coverage"]
    assert (coverage["startDate"], coverage["endDate"], coverage["timezone"]) == (
        str(start),
        str(end),
        account_row["timezone"],
    )
    assert coverage["complete"] is True and coverage["missing"] == []
    assert report["totals"]["spend"] is not None
    for name in ADDITIVE:
        values = [row[name] for row in report["rows"]]
        total = None if None in values else sum(Decimal(value) for value in values)
        assert (None if report["totals"][name] is None else Decimal(report["totals"][name])) == total, name
    (event,) = (await server.events("analytics.synced"))[synced:]
    assert (event.account_id, event.data["what"]) == (account, "insights")


async def test_what_is_not_reported_is_null(server: Served, live: dict[str, str]) -> None:
    """Amazon knows neither reach nor video views: null, never 0."""
    account = live["amazon"]
    end = await read_today(server, account) - timedelta(days=1)
    report = await finish_report(server, account, end - timedelta(days=2), end)
    assert {row["reach"] for row in report["rows"]} == {None}
    assert report["totals"]["reach"] is None


async def test_a_report_is_asked_for_once(server: Served, live: dict[str, str]) -> None:
    account = live["amazon"]
    end = await read_today(server, account) - timedelta(days=2)
    start = end - timedelta(days=3)
    report_count = server.networks.count(*REPORT)
    first = await request_report(server, account, start, end)
    assert first["pending"]["job"] and first["pending"]["status"] and first["pending"]["retryAfterMs"] > 0
    assert (first["rows"], first["nativeRows"]) == ([], [])
    assert first["totals"] == dict.fromkeys(FIGURES)
    assert first["coverage"]["complete"] is False
    assert first["coverage"]["missing"] == [{"startDate": str(start), "endDate": str(end)}]
    second = await request_report(server, account, start, end)
    assert second["pending"] is None or second["pending"]["job"] == first["pending"]["job"]
    synced = len(await server.events("analytics.synced"))
    rows = (await finish_report(server, account, start, end))["rows"]
    assert rows
    for _ in range(3):  # what was read to its end is read again, not asked for again
        assert (await request_report(server, account, start, end))["rows"] == rows
    assert server.networks.count(*REPORT) == report_count + 1
    assert len(await server.events("analytics.synced")) - synced <= 1
    server.hands.pass_(seconds=3_600)
    assert (await request_report(server, account, start, end))["pending"] is not None
    assert server.networks.count(*REPORT) == report_count + 2


async def test_a_report_that_the_network_has_no_more_is_asked_for_anew(server: Served, live: dict[str, str]) -> None:
    account = live["amazon"]
    end = await read_today(server, account) - timedelta(days=4)
    start = end - timedelta(days=3)
    assert (await finish_report(server, account, start, end))["rows"]
    failed, report_count = len(await server.events("sync.failed")), server.networks.count(*REPORT)
    await server.networks.fault("amazon", "status", path="/reporting/reports/", method="GET", value=404, times=1)
    assert (await request_report(server, account, start, end))["pending"] is not None
    assert server.networks.count(*REPORT) == report_count + 1
    assert len(await server.events("sync.failed")) == failed


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_days_that_have_not_begun_are_missing(server: Served, live: dict[str, str], network: str) -> None:
    account = live[network]
    today_ = await read_today(server, account)
    start, end = today_ - timedelta(days=2), today_ + timedelta(days=9)
    synced = len(await server.events("analytics.synced"))
    report = await finish_report(server, account, start, end)
    assert report["coverage"]["complete"] is False
    assert (report["coverage"]["startDate"], report["coverage"]["endDate"]) == (str(start), str(end))
    assert report["coverage"]["missing"][-1] == {"startDate": str(today_ + timedelta(days=1)), "endDate": str(end)}
    assert report["totals"] == dict.fromkeys(FIGURES)
    for event in (await server.events("analytics.synced"))[synced:]:
        assert event.data["endDate"] <= str(today_)


@pytest.mark.parametrize(
    "network", [code for code in ADAPTER_PACKAGES if not get_adapter(code).network.has_report_jobs]
)
async def test_no_report_is_resumed_where_all_is_answered_at_once(server: Served, network: str) -> None:
    path = f"/accounts/{server.accounts[network]}/catalogs/report:abc123"
    await server.admin.problem(404, "GET", path)


async def test_ten_at_once_ask_for_one_report(server: Served, live: dict[str, str]) -> None:
    account = live["amazon"]
    end = await read_today(server, account) - timedelta(days=2)
    start = end - timedelta(days=4)
    report_count = server.networks.count(*REPORT)
    await server.networks.fault("amazon", "latency", path="/reporting/reports", method="POST", value=300)
    reports = await asyncio.gather(*(request_report(server, account, start, end) for _ in range(10)))
    assert server.networks.count(*REPORT) == report_count + 1
    jobs = {report["pending"]["job"] for report in reports if report["pending"] is not None}
    assert len(jobs) == 1 and "" not in jobs


async def test_the_end_of_a_report_is_told_once_however_many_read_it(server: Served, live: dict[str, str]) -> None:
    account = live["amazon"]
    end = await read_today(server, account) - timedelta(days=2)
    start = end - timedelta(days=1)
    assert (await request_report(server, account, start, end))["pending"] is not None
    await server.networks.fault("amazon", "latency", path="/reporting/reports/", method="GET", value=300, times=1000)
    synced = len(await server.events("analytics.synced"))
    reports = await asyncio.gather(*(request_report(server, account, start, end) for _ in range(6)))
    reports += await asyncio.gather(*(request_report(server, account, start, end) for _ in range(6)))
    assert len([report for report in reports if report["pending"] is None]) > 6
    assert len(await server.events("analytics.synced")) == synced + 1


async def test_the_failure_of_a_report_is_told_once_however_many_read_it(server: Served, live: dict[str, str]) -> None:
    account = live["amazon"]
    end = await read_today(server, account) - timedelta(days=2)
    start = end - timedelta(days=6)
    assert (await request_report(server, account, start, end))["pending"] is not None
    failed = len(await server.events("sync.failed"))
    await server.networks.fault("amazon", "status", path="/reporting/reports/", method="GET", value=403, times=1000)
    query = {"startDate": str(start), "endDate": str(end)}
    path = f"/accounts/{account}/insights"
    answers = await asyncio.gather(*(server.admin.send("GET", path, query=query) for _ in range(6)))
    assert [answer.status_code for answer in answers].count(400) > 1
    assert len(await server.events("sync.failed")) == failed + 1


async def test_a_report_is_resumed_through_its_catalog(server: Served, live: dict[str, str]) -> None:
    account = live["amazon"]
    end = await read_today(server, account) - timedelta(days=2)
    start = end - timedelta(days=5)
    report_count = server.networks.count(*REPORT)
    pending = await request_report(server, account, start, end)
    path = f"/accounts/{account}/catalogs/report:{pending['pending']['job']}"
    synced = len(await server.events("analytics.synced"))
    for _ in range(10):
        answer = await server.admin.send("GET", path)
        assert "page" not in answer.json()
        report = answer.json()["data"]
        assert (report["coverage"]["startDate"], report["coverage"]["endDate"]) == (str(start), str(end))
        if report["pending"] is None:
            break
        assert report["pending"]["job"] == pending["pending"]["job"]
    assert report["rows"] and report["accountId"] == account
    assert len(await server.events("analytics.synced")) == synced + 1
    assert server.networks.count(*REPORT) == report_count + 1
    again = await server.admin.get(path)  # what was read to its end can be read again
    assert again["rows"] == report["rows"]


@pytest.mark.parametrize(
    "network", [code for code in ADAPTER_PACKAGES if get_adapter(code).network.history is not None]
)
async def test_days_before_the_history_are_refused(server: Served, live: dict[str, str], network: str) -> None:
    """Every network alike: 422 at ``startDate`` with the earliest day, and no request goes out."""
    path, history = f"/accounts/{live[network]}/insights", get_adapter(network).network.history
    assert history is not None
    today_ = await read_today(server, live[network])
    query = {"startDate": str(subtract_months(today_, 60)), "endDate": str(subtract_months(today_, 48))}
    request_count = len(server.networks.requests)
    (issue,) = (await server.admin.problem(422, "GET", path, query=query))["issues"]
    assert (issue["path"], issue["code"]) == ("startDate", "too_early")
    earliest = date.fromisoformat(re.findall(r"\d{4}-\d{2}-\d{2}", issue["message"])[0])
    assert abs((subtract_months(today_, history.months) - timedelta(days=history.days) - earliest).days) <= 1
    for end in (earliest, earliest + timedelta(days=30)):
        query = {"startDate": str(earliest - timedelta(days=1)), "endDate": str(end)}
        assert await server.admin.read_issues("GET", path, query=query) == {("startDate", "too_early")}
    assert len(server.networks.requests) == request_count
    assert (await finish_report(server, live[network], earliest, earliest + timedelta(days=1)))["coverage"]


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
@pytest.mark.parametrize(("back", "first", "last"), [(6, 2, 2), (5, 0, 3)], ids=["one day", "the whole range"])
async def test_days_without_delivery(
    server: Served, live: dict[str, str], back: int, first: int, last: int, network: str
) -> None:
    """The network delivers on every day of the range but one, and then on none of them.

    The networks' documentation says what the report has for them (docs/decisions.md, "Reporting").
    """
    account = live[network]
    start = await read_today(server, account) - timedelta(days=back)
    period = DateRange(start, start + timedelta(days=back - 1 if first else last))
    days = [str(day) for day in period.iterate_days()]
    quiet = days[first : last + 1]
    await server.networks.quiet(network, *quiet)
    try:
        report = await finish_report(server, account, period.start, period.end)
    finally:
        await server.networks.quiet(network)
    samples = get_samples(network)
    answer = samples.quiet_range or samples.quiet_days if quiet == days else samples.quiet_days
    rows, coverage = {row["date"]: row for row in report["rows"]}, report["coverage"]
    assert sorted(rows) == (days if answer == "zeros" else [day for day in days if day not in quiet])
    assert {day for day in rows if not rows[day]["impressions"]} == ({*quiet} if answer == "zeros" else set())
    gaps = [{"startDate": quiet[0], "endDate": quiet[-1]}] if answer == "gap" else []
    assert (coverage["complete"], coverage["missing"]) == (answer != "gap", gaps)
    assert [note for note in coverage["notes"] if note in (UNKNOWN_DAYS_NOTE, QUIET_DAYS_NOTE)] == {
        "gap": [UNKNOWN_DAYS_NOTE],
        "zero": [QUIET_DAYS_NOTE],
        "zeros": [],
    }[answer]
    impressions = None if answer == "gap" or not rows else sum(row["impressions"] for row in rows.values())
    assert report["totals"]["impressions"] == impressions
    for day in quiet if answer == "zeros" else ():
        assert (rows[day]["impressions"], rows[day]["clicks"], Decimal(rows[day]["spend"])) == (0, 0, 0)


async def test_an_account_without_campaigns_is_complete(server: Served) -> None:
    """Apple's report names campaigns: without one there is nothing to ask for, and nothing was delivered."""
    accounts = await server.admin.get("/accounts", network="apple")
    (account,) = [row["accountId"] for row in accounts if row["nativeId"] == "7004"]
    synced = len(await server.events("analytics.synced"))
    end = await read_today(server, account) - timedelta(days=1)
    report = await finish_report(server, account, end - timedelta(days=6), end)
    assert (report["rows"], report["coverage"]["complete"], report["coverage"]["missing"]) == ([], True, [])
    assert NO_CAMPAIGNS_NOTE in report["coverage"]["notes"]
    assert len(await server.events("analytics.synced")) == synced + 1


async def test_a_long_range_of_meta_is_a_report(server: Served, live: dict[str, str]) -> None:
    account = live["meta"]
    end = await read_today(server, account) - timedelta(days=1)
    start = end - timedelta(days=200)
    before = server.networks.count("POST", "graph.facebook.com", "/insights")
    first = await request_report(server, account, start, end)
    assert first["pending"] is not None
    assert (await finish_report(server, account, start, end))["rows"]
    assert server.networks.count("POST", "graph.facebook.com", "/insights") == before + 1


async def test_several_reports_are_one_job(server: Served, live: dict[str, str]) -> None:
    """More days than one report holds: the job is still one string that a path can carry."""
    account = live["amazon"]
    end = await read_today(server, account) - timedelta(days=1)
    start = end - timedelta(days=60)
    report_count = server.networks.count(*REPORT)
    pending = (await request_report(server, account, start, end))["pending"]
    assert server.networks.count(*REPORT) == report_count + 2
    report = await server.admin.get(f"/accounts/{account}/catalogs/report:{pending['job']}")
    assert report["pending"] is None or report["pending"]["job"] == pending["job"]
    assert (await finish_report(server, account, start, end))["coverage"]["complete"] is True
    assert server.networks.count(*REPORT) == report_count + 2


@pytest.mark.parametrize("job", ["nothing", "00000000-0000-4000-8000-000000000000", "W10", "bm90aGluZw"])
@pytest.mark.parametrize("network", ["amazon", "meta"])
async def test_a_job_that_is_none(server: Served, network: str, job: str) -> None:
    before = await server.rows()
    answer = await server.admin.send("GET", f"/accounts/{server.accounts[network]}/catalogs/report:{job}")
    assert answer.status_code in (400, 404), answer.text
    assert {k: v for k, v in (await server.rows()).items() if k != "events"} == {
        k: v for k, v in before.items() if k != "events"
    }


@pytest.mark.parametrize("network", [code for code in ADAPTER_PACKAGES if get_adapter(code).network.has_report_jobs])
async def test_a_job_of_another_account(server: Served, live: dict[str, str], network: str) -> None:
    """Its figures would be shown as this account's, in this account's currency: one token reads both at the network."""
    account = live[network]
    end = await read_today(server, account) - timedelta(days=1)
    start = end - timedelta(days=93)
    pending = (await request_report(server, account, start, end))["pending"]
    others = await server.admin.get("/accounts", network=network)
    other = next(row["accountId"] for row in others if row["accountId"] != account)
    synced, path = len(await server.events("analytics.synced")), f"/accounts/{other}/catalogs/report:{pending['job']}"
    await server.admin.problem(404, "GET", path)
    await finish_report(server, account, start, end)
    await server.admin.problem(404, "GET", path)
    assert {event.account_id for event in (await server.events("analytics.synced"))[synced:]} <= {account}


async def test_a_report_that_cannot_be_asked_for_leaves_nothing(server: Served, live: dict[str, str]) -> None:
    account = live["amazon"]
    end = await read_today(server, account) - timedelta(days=3)
    before = await server.rows()
    await server.networks.fault("amazon", "status", path="/reporting/reports", value=503, times=1000)
    path = f"/accounts/{account}/insights"
    query = {"startDate": str(end - timedelta(days=1)), "endDate": str(end)}
    problem = await server.admin.problem(400, "GET", path, query=query)
    assert (problem["code"], problem["outcome"]) == ("provider_unreadable", "not_applied")
    assert await server.rows() == before
    server.networks.state.faults.pending.clear()
    assert (await request_report(server, account, end - timedelta(days=1), end))["pending"] is not None


async def test_a_report_that_passes_out_of_reach_goes_on(server: Served, live: dict[str, str]) -> None:
    account = live["amazon"]
    end = await read_today(server, account) - timedelta(days=3)
    start = end - timedelta(days=2)
    report_count = server.networks.count(*REPORT)
    job = (await request_report(server, account, start, end))["pending"]["job"]
    await server.networks.fault("amazon", "status", path="/reporting/reports/", value=503, times=1000)
    query = {"startDate": str(start), "endDate": str(end)}
    await server.admin.problem(400, "GET", f"/accounts/{account}/insights", query=query)
    server.networks.state.faults.pending.clear()
    report = await request_report(server, account, start, end)
    assert report["pending"] is None or report["pending"]["job"] == job
    await finish_report(server, account, start, end)
    assert server.networks.count(*REPORT) == report_count + 1


async def test_a_refused_report_has_failed_for_good(server: Served, live: dict[str, str]) -> None:
    account = live["amazon"]
    end = await read_today(server, account) - timedelta(days=3)
    failed, rows = len(await server.events("sync.failed")), await server.rows()
    await server.networks.fault("amazon", "status", path="/reporting/reports", value=403, times=1000)
    query = {"startDate": str(end - timedelta(days=25)), "endDate": str(end)}
    problem = await server.admin.problem(400, "GET", f"/accounts/{account}/insights", query=query)
    assert problem["outcome"] == "not_applied" and problem["network"]["status"] == 403
    (event,) = (await server.events("sync.failed"))[failed:]
    assert (event.account_id, event.data["what"]) == (account, "insights")
    assert (await server.rows())["reports"] == rows["reports"]


async def test_the_order_of_the_days(server: Served) -> None:
    path = f"/accounts/{server.accounts['meta']}/insights"
    query = {"startDate": "2026-02-02", "endDate": "2026-02-01"}
    before = await server.rows()
    assert await server.admin.read_issues("GET", path, query=query) == {("endDate", "order")}
    assert await server.rows() == before


async def test_a_range_is_bounded(server: Served) -> None:
    """The networks report a month or so at a time: without a bound one call would become thousands of theirs."""
    path = f"/accounts/{server.accounts['outbrain']}/insights"
    request_count = len(server.networks.requests)
    for start, end in (("0001-01-01", "9999-12-31"), ("2023-01-01", str(date(2023, 1, 1) + timedelta(days=MAX_DAYS)))):
        query = {"startDate": start, "endDate": end}
        assert await server.admin.read_issues("GET", path, query=query) == {("endDate", "range_too_long")}
    assert len(server.networks.requests) == request_count
    last = date(2023, 1, 1) + timedelta(days=MAX_DAYS - 1)
    assert (await request_report(server, server.accounts["outbrain"], date(2023, 1, 1), last))["coverage"]


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
async def test_no_day_is_too_early_to_be_refused(server: Served, network: str) -> None:
    """The first midnight of the calendar is none in UTC, and no network has figures of the last millennium."""
    for account in await server.admin.get("/accounts", network=network):
        path = f"/accounts/{account['accountId']}/insights"
        for start, end in (("0001-01-01", "0001-01-02"), ("1999-12-31", "2000-01-02")):
            issues = await server.admin.read_issues("GET", path, query={"startDate": start, "endDate": end})
            assert issues == {("startDate", "too_early")}
        answer = await server.admin.send("GET", path, query={"startDate": "2000-01-01", "endDate": "2000-01-02"})
        assert answer.status_code in (200, 400, 422), answer.text


async def test_today_is_the_accounts_own(server: Served) -> None:
    """When it is tomorrow in Tokyo, tomorrow can be asked for there, and not in New York."""
    now = server.hands.now()
    server.hands.pass_(seconds=((20 - now.hour) % 24) * 3600)  # about 20 o'clock UTC: 5 in Tokyo
    tomorrow = server.hands.now().date() + timedelta(days=1)
    accounts = {
        account["currency"]: account["accountId"] for account in await server.admin.get("/accounts", network="meta")
    }
    assert (await request_report(server, accounts["JPY"], tomorrow, tomorrow))["timezone"] == "Asia/Tokyo"
    query = {"startDate": str(tomorrow), "endDate": str(tomorrow)}
    issues = await server.admin.read_issues("GET", f"/accounts/{accounts['USD']}/insights", query=query)
    assert issues == {("startDate", "future")}
