"""The Pinterest adapter: figures of campaigns, ad groups and ads."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.entity_reports import ReportQuery
from adsunify.errors import ProviderError, ProviderThrottled, ProviderUnreadable
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.networks.pinterest import reports
from adsunify.networks.pinterest.tables import REPORT_LEVELS
from tests.networks.calls import make_response, run

from .calls import ACCOUNT, BELOW, make_error_response, make_page

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
NEW_YORK = evolve(ACCOUNT, timezone="America/New_York")
LEVELS = {level.kind: level for level in REPORT_LEVELS}
METRICS = (
    *("TOTAL_IMPRESSION", "TOTAL_CLICKTHROUGH", "SPEND_IN_MICRO_DOLLAR", "TOTAL_CONVERSIONS"),
    *("TOTAL_CHECKOUT_VALUE_IN_MICRO_DOLLAR", "TOTAL_VIDEO_MRC_VIEWS", "TOTAL_IMPRESSION_USER"),
)
ROW: dict[str, Any] = {"DATE": "2026-11-01", "TOTAL_IMPRESSION": 4100, "SPEND_IN_MICRO_DOLLAR": 1234567}
EACH_LEVEL = pytest.mark.parametrize(
    ("kind", "native", "path", "ids_name", "columns"),
    [
        ("campaign", "CAMPAIGN", "campaigns", "campaign_ids", ("CAMPAIGN_ID", "CAMPAIGN_NAME")),
        ("adGroup", "AD_GROUP", "ad_groups", "ad_group_ids", ("AD_GROUP_ID", "AD_GROUP_NAME", "CAMPAIGN_ID")),
        ("ad", "PIN_PROMOTION", "ads", "ad_ids", ("AD_ID", "AD_NAME", "AD_GROUP_ID")),
    ],
)


def read_page(
    *answers: Response,
    kind: str = "campaign",
    ids: tuple[str, ...] = (),
    start: date = date(2026, 11, 1),
    account: Account = ACCOUNT,
    cursor: str | None = None,
    job: str | None = None,
) -> tuple[Any, list[Request]]:
    query = ReportQuery(LEVELS[kind], start, date(2026, 11, 3), ids)
    return run(reports.fetch_report_page(account, query, cursor, job, NOW), *answers)


def split_url(request: Request) -> tuple[str, list[tuple[str, str]]]:
    url = urlsplit(build_request_url(request))
    return f"{url.scheme}://{url.netloc}{url.path}", parse_qsl(url.query)


def make_row(campaign_id: Any = "6", **more: Any) -> dict[str, Any]:
    return ROW | {"CAMPAIGN_ID": campaign_id} | more


def make_started_report(token: str) -> Response:
    return make_response({"report_status": "IN_PROGRESS", "token": token})


def make_finished_report(number: int) -> Response:
    return make_response({"report_status": "FINISHED", "url": f"https://files.example/{number}"})


@EACH_LEVEL
def test_ids_are_asked_for_at_once(kind: str, native: str, path: str, ids_name: str, columns: tuple[str, ...]) -> None:
    """Rows of other ids are dropped."""
    values = dict(zip(columns, ("6", "Tea", "5"), strict=False))
    foreign = ROW | {columns[0]: "8"}
    page, (request,) = read_page(make_response([ROW | values, foreign]), kind=kind, ids=("6", "7"))
    url, query = split_url(request)
    assert url == f"{BELOW}/{path}/analytics"
    assert query == [
        (ids_name, "6"),
        (ids_name, "7"),
        ("start_date", "2026-11-01"),
        ("end_date", "2026-11-03"),
        ("granularity", "DAY"),
        ("columns", ",".join((*METRICS, *columns))),
    ]
    (only,) = page.rows
    assert (only.entity_id, only.entity_name, only.parent_id) == ("6", "Tea", "5" if len(columns) == 3 else None)
    assert (only.date, only.impressions, only.spend, only.clicks) == (date(2026, 11, 1), 4100, "1.234567", None)
    assert (len(page.native_rows), page.cursor, page.pending, page.coverage.timezone) == (1, None, None, "UTC")


@EACH_LEVEL
def test_all_entities_are_pages_of_the_list(
    kind: str, native: str, path: str, ids_name: str, columns: tuple[str, ...]
) -> None:
    pages, cursor = [], None
    for ids, bookmark in ((("6", "7"), "B+1"), ((), "B2"), (("8",), None)):
        answers = [make_page(*({"id": entity_id} for entity_id in ids), bookmark=bookmark)]
        answers += [make_response([ROW | {columns[0]: entity_id} for entity_id in ids])] if ids else []
        page, (listing, *rest) = read_page(*answers, kind=kind, cursor=cursor)
        url, query = split_url(listing)
        assert (url, query[:4]) == (
            f"{BELOW}/{path}",
            [*(("entity_statuses", status) for status in ("ACTIVE", "PAUSED", "ARCHIVED")), ("page_size", "250")],
        )
        pages.append(
            (dict(query).get("bookmark"), [split_url(request)[1][: len(ids)] for request in rest], len(page.rows))
        )
        cursor = page.cursor
    assert pages == [
        (None, [[(ids_name, "6"), (ids_name, "7")]], 2),
        ("B+1", [], 0),
        ("B2", [[(ids_name, "8")]], 1),
    ]
    assert cursor is None
    with pytest.raises(ProviderUnreadable, match="cursor repeats"):
        read_page(make_page(bookmark="B"), kind=kind, cursor="0:B")


def test_all_pages_have_days_of_the_same_zone() -> None:
    """The first page decides whether Pinterest reports days of the account; later pages do not fall back."""
    first, requests = read_page(make_page({"id": "6"}, bookmark="B"), make_response([make_row()]), account=NEW_YORK)
    assert ("reporting_timezone", "AD_ACCOUNT_TIME_ZONE") in split_url(requests[1])[1]
    assert first.coverage.timezone == "America/New_York"
    with pytest.raises(ProviderError):
        read_page(make_page({"id": "7"}), make_error_response(1), account=NEW_YORK, cursor=first.cursor)

    utc_page, requests = read_page(
        make_page({"id": "6"}, bookmark="B"), make_error_response(1), make_response([make_row()]), account=NEW_YORK
    )
    assert "reporting_timezone" not in dict(split_url(requests[2])[1])
    assert (utc_page.coverage.timezone, len(utc_page.coverage.notes)) == ("UTC", 1)
    last, requests = read_page(
        make_page({"id": "7"}), make_response([make_row("7")]), account=NEW_YORK, cursor=utc_page.cursor
    )
    assert (split_url(requests[0])[1][-1], last.coverage.timezone) == (("bookmark", "B"), "UTC")
    assert "reporting_timezone" not in dict(split_url(requests[1])[1])


def test_a_request_to_wait_is_not_a_refusal_of_the_zone() -> None:
    wait = make_response({"code": 1, "message": "Retry after 5 seconds"}, 400)
    with pytest.raises(ProviderThrottled) as refusal:
        read_page(wait, ids=("6",), account=NEW_YORK)
    assert refusal.value.retry_after == 5
    with pytest.raises(ProviderError):
        read_page(make_error_response(12), ids=("6",), account=NEW_YORK)


@EACH_LEVEL
@pytest.mark.parametrize("ids", [(), ("6", "7")])
def test_older_days_are_a_job(
    kind: str, native: str, path: str, ids_name: str, columns: tuple[str, ...], ids: tuple[str, ...]
) -> None:
    page, requests = read_page(
        make_started_report("t1"), make_started_report("t2"), kind=kind, ids=ids, start=date(2026, 5, 1)
    )
    assert [(request.method, build_request_url(request), request.kind) for request in requests] == [
        ("POST", f"{BELOW}/reports", "read")
    ] * 2
    assert requests[0].body == {
        "start_date": "2026-05-01",
        "end_date": "2026-11-02",
        "granularity": "DAY",
        "level": native,
        "columns": [*METRICS, *columns],
        "report_format": "JSON",
    } | ({ids_name: list(ids)} if ids else {})
    assert (requests[1].body["start_date"], page.pending.status, page.rows) == ("2026-11-03", "IN_PROGRESS", ())


def test_a_job_is_read_file_by_file() -> None:
    start = date(2026, 5, 1)
    job = read_page(make_started_report("t1"), make_started_report("t2"), start=start)[0].pending.job
    waiting, requests = read_page(
        make_finished_report(1), make_response({"report_status": "IN_PROGRESS"}), start=start, job=job
    )
    assert (waiting.pending.job, len(requests), waiting.cursor) == (job, 2, None)

    file = {"6": [make_row(6), make_row(6, DATE="2026-11-02")], "7": [make_row(7)]}
    first, requests = read_page(
        make_finished_report(1), make_finished_report(2), make_response(file), start=start, ids=("6",), job=job
    )
    assert (build_request_url(requests[2]), requests[2].is_signed) == ("https://files.example/1", False)
    assert [(row.entity_id, row.date.day) for row in first.rows] == [("6", 1), ("6", 2)]
    last, requests = read_page(
        make_finished_report(2), make_response({}), start=start, ids=("6",), job=job, cursor=first.cursor
    )
    assert dict(split_url(requests[0])[1]) == {"token": "t2"}
    assert (last.rows, last.cursor) == ((), None)
    with pytest.raises(ProviderError, match="EXPIRED"):
        read_page(make_response({"report_status": "EXPIRED"}), start=start, job=job)


def test_a_page_after_midnight_stays_at_once() -> None:
    """A later page continues the list, although its first day is too old for a new report at once."""
    page, requests = read_page(
        make_page({"id": "6"}), make_response([make_row()]), start=date(2026, 8, 22), cursor="own 0:B"
    )
    assert ([request.method for request in requests], page.rows[0].entity_id) == (["GET", "GET"], "6")


def test_a_row_without_its_entity_is_refused() -> None:
    for ids in ((), ("6",)):
        with pytest.raises(ProviderUnreadable):
            read_page(*([] if ids else [make_page({"id": "6"})]), make_response([ROW]), ids=ids)
