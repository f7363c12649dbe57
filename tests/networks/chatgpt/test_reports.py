"""The reports of OpenAI below the account."""

from __future__ import annotations

from datetime import date
from typing import Any
from urllib.parse import parse_qsl

import pytest

from adsunify.adapter.entity_reports import EntityReportPage, ReportQuery
from adsunify.adapter.flows import run_flow
from adsunify.errors import InvalidInput, ProviderError
from adsunify.http.messages import Request, Response
from adsunify.networks.chatgpt import reports
from adsunify.networks.chatgpt.tables import REPORT_LEVELS
from adsunify.values.exact_json import loads
from tests.networks.calls import make_response

from .calls import ACCOUNT, NOW, Responder, make_page

LEVELS = {level.kind: level for level in REPORT_LEVELS}
FIRST, LAST = date(2026, 11, 16), date(2026, 11, 18)
PARENTS = {"campaign": None, "adGroup": "cmpn_1", "ad": "adgrp_1"}
ABOVE = {
    "campaign": {},
    "adGroup": {"campaign_id": "cmpn_1"},
    "ad": {"campaign_id": "cmpn_1", "ad_group_id": "adgrp_1"},
}


def make_row(kind: str, entity_id: str, day: str, **figures: Any) -> dict[str, Any]:
    native = LEVELS[kind].native
    entity = {**ABOVE[kind], f"{native}_id": entity_id, f"{native}_name": entity_id.upper()}
    return {"id": f"start=1:entity_id={entity_id}:{day}", "readable_time": day, **entity, **figures}


def make_conversions(entity_id: str, day: str, count: int, sales: str | None = None, currency: str = "EUR") -> Any:
    sold = {"order_created_attributed_sales": sales, "order_created_attributed_sales_currency": sales and currency}
    return {"entity_id": entity_id, "date": day, "conversions": count, **sold}


def read_page(
    query: ReportQuery, delivery: Response, conversions: Response, cursor: str | None = None
) -> tuple[EntityReportPage, list[Request]]:
    responder = Responder(**{"ad_account/insights": delivery, "conversions/insights": conversions})
    page: EntityReportPage = run_flow(reports.fetch_report_page(ACCOUNT, query, cursor, None, NOW), responder)
    return page, responder.requests


def make_conversions_response(*rows: Any) -> Response:
    return make_response({"object": "list", "data": rows, "count": len(rows)})


@pytest.mark.parametrize("kind", LEVELS)
def test_a_level_is_read_with_the_conversions_of_its_entities(kind: str) -> None:
    native = LEVELS[kind].native
    query = ReportQuery(LEVELS[kind], FIRST, LAST, ("x_1", "x_2"))
    page, (insights_request, conversions_request) = read_page(
        query,
        make_page(
            make_row(kind, "x_1", "2026-11-16", impressions=700, clicks=22, spend=None),
            make_row(kind, "x_1", "2026-11-17", impressions=500, **{f"{native}_clicks": 14}, spend=7),
            make_row(kind, "x_9", "2026-11-16", impressions=9, clicks=9, spend=9),  # of another entity
        ),
        make_conversions_response(
            make_conversions("x_1", "2026-11-16", 2, "120.50"),
            make_conversions("x_1", "2026-11-17", 1, "9", "USD"),
            make_conversions("x_1", "2026-11-18", 3),
        ),
    )
    same = {"entityId": "x_1", "entityName": "X_1", "parentId": PARENTS[kind], "videoViews": None, "reach": None}
    delivery = {"impressions": 700, "clicks": 22, "spend": None}
    assert [row.to_json() for row in page.rows] == [
        {**same, "date": "2026-11-16", **delivery, "conversions": "2", "conversionValue": "120.5"},
        {**same, "date": "2026-11-17", "impressions": 500, "clicks": 14, "spend": "7"}
        | {"conversions": "1", "conversionValue": None},  # sales in another currency than the account's
        {**same, "date": "2026-11-18", "impressions": None, "clicks": None, "spend": None}
        | {"conversions": "3", "conversionValue": None},  # conversions of a day without impressions
    ]
    assert [row.get("order_created_attributed_sales") for row in page.native_rows] == [None, None, "120.50", "9", None]
    parameters = parse_qsl(insights_request.query_raw or "")
    assert [loads(value) for name, value in parameters if name == "filters[]"] == [
        {"field": f"{native}.id", "operator": "IN", "value": ["x_1", "x_2"]}
    ]
    assert ("aggregation_level", native) in parameters and ("limit", "2000") in parameters
    fields = [value for name, value in parameters if name == "fields[]"]
    assert fields[2:] == [
        *(f"{member.removesuffix('_id')}.id" for member in ABOVE[kind]),
        *(f"{native}.{name}" for name in ("id", "name", "impressions", "clicks", "spend")),
    ]
    assert (conversions_request.body["aggregation_level"], conversions_request.body["entity_ids"]) == (native, ["x_1"])
    assert "group_by_entity" not in conversions_request.body
    assert (page.cursor, page.coverage.is_complete, page.coverage.provisional_from) == (None, True, FIRST)


def test_pages_of_a_part_and_parts_of_a_range_follow_each_other() -> None:
    query = ReportQuery(LEVELS["ad"], date(2026, 10, 1), date(2026, 11, 20))
    first, requests = read_page(
        query,
        make_page(make_row("ad", "ad_1", "2026-10-01", impressions=5, clicks=1, spend=1), more=True),
        make_conversions_response(make_conversions("ad_1", "2026-10-01", 1), make_conversions("ad_1", "2026-10-02", 4)),
    )
    assert [(row.entity_id, row.date.day, row.conversions) for row in first.rows] == [("ad_1", 1, "1")]
    (days,) = [loads(value) for name, value in parse_qsl(requests[0].query_raw or "") if name == "time_ranges[]"]
    assert (days["since"], days["until"]) == ("2026-10-01", "2026-11-09")
    assert loads(requests[1].body["time_ranges"][0]) == {
        "type": "unix_range",
        "start": "1790805600",
        "end": "1790892000",
    }
    second, requests = read_page(query, make_page(), make_conversions_response(), first.cursor)
    assert parse_qsl(requests[0].query_raw or "")[-1] == ("after", "start=1:entity_id=ad_1:2026-10-01")
    assert (second.rows, len(requests)) == ((), 1)  # no entity, so no conversions are requested
    last, requests = read_page(query, make_page(), make_conversions_response(), second.cursor)
    (days,) = [loads(value) for name, value in parse_qsl(requests[0].query_raw or "") if name == "time_ranges[]"]
    assert (days["since"], days["until"], last.cursor) == ("2026-11-10", "2026-11-20", None)
    assert last.coverage.provisional_from == date(2026, 10, 21)  # a conversion counts on a day up to 30 days before


@pytest.mark.parametrize(("entities", "days", "sizes"), [(50, 40, [50]), (51, 40, [50, 1]), (150, 1, [100, 50])])
def test_a_report_of_conversions_has_at_most_2000_rows(entities: int, days: int, sizes: list[int]) -> None:
    query = ReportQuery(LEVELS["ad"], date(2026, 10, 1), date(2026, 10, days) if days < 32 else date(2026, 11, 9))
    rows = [
        make_row("ad", f"ad_{number}", "2026-10-01", impressions=1, clicks=0, spend=0) for number in range(entities)
    ]
    _, (_, *conversions_request) = read_page(query, make_page(*rows), make_conversions_response())
    assert [len(request.body["entity_ids"]) for request in conversions_request] == sizes


def test_conversions_that_are_not_reported_are_null() -> None:
    row = make_row("campaign", "cmpn_1", "2026-11-20", impressions=1, clicks=0, spend=0)
    today, requests = read_page(
        ReportQuery(LEVELS["campaign"], NOW.date(), NOW.date()), make_page(row), make_conversions_response()
    )
    assert (len(requests), today.rows[0].conversions) == (1, None)  # the day has not ended
    error_response = make_response({"error": {"message": "not enabled"}}, 403)
    page, _ = read_page(ReportQuery(LEVELS["campaign"], FIRST, NOW.date()), make_page(row), error_response)
    assert (page.rows[0].conversions, page.rows[0].spend) == (None, "0")
    assert any("no conversions" in note for note in page.coverage.notes)


def test_a_report_that_does_not_end_or_has_no_such_page_is_refused() -> None:
    query = ReportQuery(LEVELS["ad"], FIRST, LAST)
    row = make_row("ad", "ad_1", "2026-11-16", impressions=1, clicks=0, spend=0)
    with pytest.raises(ProviderError):
        read_page(query, make_page(row, more=True), make_conversions_response(), f"0:{row['id']}")
    with pytest.raises(InvalidInput):
        read_page(query, make_page(row), make_conversions_response(), "1:")
