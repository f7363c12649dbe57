"""The Snapchat adapter: figures of campaigns, ad squads and ads."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from adsunify.adapter.entity_reports import ReportQuery
from adsunify.errors import ProviderUnreadable
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.networks.snapchat import reports
from adsunify.networks.snapchat.tables import REPORT_LEVELS
from tests.networks.calls import make_response, run

from .calls import ACCOUNT, AD, API, CAMPAIGN, ID, NOW, SQUAD, wrap_entities

LEVELS = {level.kind: level for level in REPORT_LEVELS}
DAY = "2026-11-01T00:00:00.000Z"
OTHER = "66666666-aaaa-4bbb-8ccc-000000000006"


def read_page(
    *answers: Response,
    kind: str = "campaign",
    ids: tuple[str, ...] = (),
    start: date = date(2026, 11, 1),
    cursor: str | None = None,
) -> tuple[Any, list[Request]]:
    query = ReportQuery(LEVELS[kind], start, date(2026, 11, 2), ids)
    return run(reports.fetch_report_page(ACCOUNT, query, cursor, None, NOW), *answers)


def make_row(day: str = DAY, **figures: int) -> dict[str, Any]:
    return {"start_time": day, "end_time": day, "stats": figures}


def make_stats(
    breakdown: str = "", *entities: tuple[str, list[Any]], cursor: str | None = None, **inner: Any
) -> Response:
    if breakdown:
        items = [{"id": entity, "type": breakdown.upper(), "timeseries": rows} for entity, rows in entities]
        inner["breakdown_stats"] = {breakdown: items}
    body = {
        "request_status": "SUCCESS",
        "timeseries_stats": [{"sub_request_status": "SUCCESS", "timeseries_stat": {"id": ID, **inner}}],
    }
    return make_response(
        body | ({} if cursor is None else {"paging": {"next_link": f"https://x.example/?cursor={cursor}"}})
    )


def make_campaigns(*ids: str, cursor: str | None = None) -> Response:
    """A page of the list of campaigns, the newest first."""
    rows = (
        {"id": campaign_id, "created_at": f"2026-01-0{9 - number}T00:00:00Z"} for number, campaign_id in enumerate(ids)
    )
    return wrap_entities("campaigns", "campaign", *rows, cursor=cursor)


def make_campaign(native_id: str = CAMPAIGN, owner: str = ID) -> Response:
    return wrap_entities(
        "campaigns", "campaign", {"id": native_id, "name": "Tea", "ad_account_id": owner, "status": "PAUSED"}
    )


SQUAD_ANSWER = wrap_entities("adsquads", "adsquad", {"id": SQUAD, "name": "Oslo", "campaign_id": CAMPAIGN})
AD_ANSWER = wrap_entities("ads", "ad", {"id": AD, "name": "Cup", "ad_squad_id": SQUAD})


@pytest.mark.parametrize("kind", ["campaign", "ad"])
def test_all_campaigns_and_ads_are_in_statistics_of_the_account(kind: str) -> None:
    native = [make_row(impressions=10, swipes=2, spend=1_500_000), make_row("2026-11-02T00:00:00.000Z", spend=0)]
    page, (request,) = read_page(make_stats(kind, (CAMPAIGN, native), (OTHER, native)), kind=kind)
    assert build_request_url(request).startswith(
        f"{API}/adaccounts/{ID}/stats?granularity=DAY&breakdown={kind}&fields="
    )
    assert (request.query["start_time"], request.query["end_time"], request.query["omit_empty"]) == (
        "2026-11-01T00:00:00.000+00:00",
        "2026-11-03T00:00:00.000+00:00",
        "false",
    )
    assert [(row.entity_id, row.date.day, row.spend, row.impressions) for row in page.rows] == [
        (CAMPAIGN, 1, "1.5", 10),
        (CAMPAIGN, 2, "0", None),
        (OTHER, 1, "1.5", 10),
        (OTHER, 2, "0", None),
    ]
    assert {(row.entity_name, row.parent_id, row.conversions, row.reach) for row in page.rows} == {(None,) * 4}
    assert (page.cursor, page.coverage.is_complete) == (None, True)


def test_ranges_and_pages_of_the_account() -> None:
    answers = (make_stats("ad", cursor="p2"), make_stats("ad", (AD, [make_row(spend=1)])), make_stats("ad"))
    requests: list[Request] = []
    cursor = None
    for answer in answers:
        page, page_requests = read_page(answer, kind="ad", start=date(2026, 10, 1), cursor=cursor)
        requests, cursor = requests + page_requests, page.cursor
    assert cursor is None
    assert [(request.query["start_time"][:10], request.query.get("cursor")) for request in requests] == [
        ("2026-10-01", None),
        ("2026-10-01", "p2"),
        ("2026-10-31", None),
    ]


def test_ad_squads_are_in_statistics_of_each_campaign() -> None:
    """A page of figures is one campaign. The list is in order of creation, so a new campaign moves no other one."""
    first, requests = read_page(
        make_campaigns(OTHER, CAMPAIGN, cursor="L2"),
        make_stats("adsquad", (SQUAD, [make_row(spend=5)])),
        kind="adGroup",
    )
    assert [build_request_url(request).partition("?")[0] for request in requests] == [
        f"{API}/adaccounts/{ID}/campaigns",
        f"{API}/campaigns/{CAMPAIGN}/stats",
    ]
    assert dict(requests[0].query) == {"limit": "50", "read_deleted_entities": "true"}
    assert requests[1].query["breakdown"] == "adsquad"
    assert [(row.entity_id, row.parent_id, row.spend) for row in first.rows] == [(SQUAD, CAMPAIGN, "0.000005")]

    second, requests = read_page(
        make_campaigns(OTHER, CAMPAIGN, cursor="L2"), make_stats("adsquad"), kind="adGroup", cursor=first.cursor
    )
    assert (requests[1].path["owner"], second.rows) == (OTHER, ())
    third, requests = read_page(make_campaigns(), kind="adGroup", cursor=second.cursor)
    assert (requests[0].query["cursor"], third.rows, third.cursor) == ("L2", (), None)
    with pytest.raises(ProviderUnreadable, match="cursor repeats"):
        read_page(make_campaigns(cursor="L2"), kind="adGroup", cursor=second.cursor)


def test_statistics_of_a_campaign_have_ranges_and_pages() -> None:
    queries, cursor = [], None
    for answer in (make_stats("adsquad", cursor="p2"), make_stats("adsquad"), make_stats("adsquad")):
        page, (_, request) = read_page(
            make_campaigns(CAMPAIGN), answer, kind="adGroup", start=date(2026, 10, 1), cursor=cursor
        )
        queries.append((request.query["start_time"][:10], request.query.get("cursor")))
        cursor = page.cursor
    assert (queries, cursor) == ([("2026-10-01", None), ("2026-10-01", "p2"), ("2026-10-31", None)], None)


@pytest.mark.parametrize(
    ("kind", "path", "native_id", "lineage", "expected"),
    [
        ("campaign", "campaigns", CAMPAIGN, (make_campaign(),), ("Tea", None)),
        ("adGroup", "adsquads", SQUAD, (SQUAD_ANSWER, make_campaign()), ("Oslo", CAMPAIGN)),
        ("ad", "ads", AD, (AD_ANSWER, SQUAD_ANSWER, make_campaign()), ("Cup", SQUAD)),
    ],
)
def test_an_id_is_read_by_itself_once_it_is_of_the_account(
    kind: str, path: str, native_id: str, lineage: tuple[Response, ...], expected: tuple[str | None, ...]
) -> None:
    page, requests = read_page(
        *lineage, make_stats(timeseries=[make_row(spend=7_000_000)]), kind=kind, ids=(native_id,)
    )
    assert build_request_url(requests[-1]).startswith(f"{API}/{path}/{native_id}/stats?granularity=DAY&fields=")
    (only,) = page.rows
    assert (only.entity_id, only.entity_name, only.parent_id, only.spend) == (native_id, *expected, "7")
    assert page.cursor is None


def test_an_id_of_another_account_has_no_rows() -> None:
    """The report continues with the next id, after all ranges of the foreign one."""
    ids, start = (CAMPAIGN, OTHER), date(2026, 10, 1)
    page, requests = read_page(make_campaign(owner=OTHER), ids=ids, start=start)
    assert (page.rows, len(requests), page.coverage.notes) == ((), 1, (reports.UNKNOWN_ID_NOTE,))
    answer = make_stats(timeseries=[make_row("2026-10-02T00:00:00Z", spend=1)])
    page, requests = read_page(make_campaign(OTHER), answer, ids=ids, start=start, cursor=page.cursor)
    assert (requests[1].path["owner"], page.rows[0].entity_id) == (OTHER, OTHER)
    page, requests = read_page(
        make_campaign(OTHER), make_stats(timeseries=[]), ids=ids, start=start, cursor=page.cursor
    )
    assert (requests[1].query["start_time"][:10], page.cursor) == ("2026-10-31", None)
    gone = make_response({"request_status": "ERROR", "debug_message": "No."}, 404)
    assert read_page(gone, ids=(CAMPAIGN,))[0].rows == ()


@pytest.mark.parametrize(
    ("final", "expected"),
    [
        ("2026-10-15T00:00:00.000Z", date(2026, 10, 15)),
        ("2026-10-31T00:00:00.000Z", None),
    ],
)
def test_days_before_the_final_time_may_change(final: str, expected: date | None) -> None:
    """A part that is final as a whole says nothing of the part after it."""
    page, _ = read_page(make_stats("campaign", finalized_data_end_time=final), start=date(2026, 10, 1))
    assert page.coverage.provisional_from == expected
