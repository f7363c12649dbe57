"""Figures of X below the account."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from adsunify.adapter.entity_reports import EntityReportPage, ReportQuery
from adsunify.adapter.flows import run_flow
from adsunify.errors import ProviderUnreadable
from adsunify.http.messages import Request, Response
from adsunify.networks.x import reports
from adsunify.networks.x.tables import REPORT_LEVELS
from tests.networks.calls import make_response

from .calls import ACCOUNT, NOW

LEVELS = {level.kind: level for level in REPORT_LEVELS}
LISTS = {"campaigns": "campaign_ids", "line_items": "line_item_ids", "promoted_tweets": "promoted_tweet_ids"}
ACCOUNT_LISTS: Mapping[str, list[dict[str, Any]]] = {
    "campaigns": [
        {"id": "c1", "name": "Autumn", "currency": "USD"},
        {"id": "c2", "name": "Spring", "currency": "EUR"},
    ],
    "line_items": [
        {"id": "l1", "name": "Boots", "campaign_id": "c1", "currency": "USD"},
        {"id": "l2", "name": "Hats", "campaign_id": "c1", "deleted": True},
        {"id": "l3", "name": "Shoes", "campaign_id": "c2"},
    ],
    "promoted_tweets": [
        {"id": "p1", "line_item_id": "l1", "tweet_id": "91"},
        {"id": "p2", "line_item_id": "l2", "tweet_id": "92", "deleted": True},
        {"id": "p3", "line_item_id": "l3", "tweet_id": "93"},
    ],
}
MAIN: Mapping[str, Mapping[str, Any]] = {
    "ALL_ON_TWITTER": {"impressions": [5210, 0, None], "billed_charge_local_micro": [18_340_000, 0, None]},
    "SPOTLIGHT": {"impressions": [5, None, None], "billed_charge_local_micro": None},
    "TREND": {"impressions": None},
}
WEB = {"conversion_purchases": {"metric": [2, 0, 0]}, "conversion_custom": {"metric": None}}


class Network:
    """Answers lists, activity and figures, and keeps the requests."""

    def __init__(
        self,
        lists: Mapping[str, list[dict[str, Any]]] = ACCOUNT_LISTS,
        page_size: int = 100,
        answered_id: str | None = None,
    ) -> None:
        self.lists, self.page_size, self.answered_id = lists, page_size, answered_id
        self.list_requests: list[tuple[str, dict[str, str]]] = []
        self.stats: list[dict[str, str]] = []

    def answer(self, request: Request) -> Response:
        path, query = request.url.rpartition("/")[2], dict(request.query)
        assert request.method == "GET"
        if path in LISTS:
            self.list_requests.append((path, query))
            return self.list_entities(path, query)
        self.stats.append(query)
        if path == "active_entities":
            return make_response({"data": [{"entity_id": "l7", "placements": ["TREND"]}]})
        return make_response({"data": [self.make_series(id_, query) for id_ in query["entity_ids"].split(",")]})

    def list_entities(self, path: str, query: Mapping[str, str]) -> Response:
        ids = query.get(LISTS[path], "").split(",")
        rows = [row for row in self.lists[path] if ids == [""] or row["id"] in ids]
        start = int(query.get("cursor", 0))
        end = start + self.page_size
        following = str(end) if end < len(rows) else None
        return make_response({"data": rows[start:end], "next_cursor": following})

    def make_series(self, id_: str, query: Mapping[str, str]) -> dict[str, Any]:
        if query["metric_groups"] == "WEB_CONVERSION":
            metrics: Mapping[str, Any] = WEB if query["placement"] == "ALL_ON_TWITTER" else {}
        else:
            metrics = MAIN[query["placement"]]
        return {"id": self.answered_id or id_, "id_data": [{"segment": None, "metrics": metrics}]}


def read_page(
    network: Network,
    kind: str,
    *entity_ids: str,
    start: date = date(2026, 11, 16),
    end: date = date(2026, 11, 18),
    cursor: str | None = None,
) -> EntityReportPage:
    query = ReportQuery(LEVELS[kind], start, end, entity_ids)
    return run_flow(reports.fetch_report_page(ACCOUNT, query, cursor, None, NOW), network.answer)


@pytest.mark.parametrize(
    ("kind", "path", "entity", "expected"),
    [
        ("campaign", "campaigns", "CAMPAIGN", [("c1", "Autumn", None)]),
        ("adGroup", "line_items", "LINE_ITEM", [("l1", "Boots", "c1"), ("l2", "Hats", "c1")]),
        ("ad", "promoted_tweets", "PROMOTED_TWEET", [("p1", None, "l1"), ("p2", None, "l2")]),
    ],
)
def test_a_page_has_the_entities_of_a_list_in_the_currency_of_the_account(
    kind: str, path: str, entity: str, expected: list[tuple[Any, ...]]
) -> None:
    network = Network()
    page = read_page(network, kind)
    assert network.list_requests[0] == (path, {"count": "200", "with_deleted": "true"})
    assert len(network.stats) == 6
    assert {(query["entity"], query["entity_ids"]) for query in network.stats} == {
        (entity, ",".join(id_ for id_, *_ in expected))
    }
    assert {(query["start_time"], query["end_time"]) for query in network.stats} == {
        ("2026-11-16T05:00:00Z", "2026-11-19T05:00:00Z")
    }
    assert {(query["placement"], query["metric_groups"]) for query in network.stats} == {
        (placement, groups)
        for placement in ("ALL_ON_TWITTER", "SPOTLIGHT", "TREND")
        for groups in ("ENGAGEMENT,BILLING,VIDEO", "WEB_CONVERSION")
    }
    figures: list[tuple[str, dict[str, Any]]] = [
        ("2026-11-16", {"impressions": 5215, "spend": "18.34", "conversions": "2"}),
        ("2026-11-17", {"impressions": 0, "spend": "0", "conversions": "0"}),
        ("2026-11-18", {"impressions": None, "spend": None, "conversions": "0"}),
    ]
    silent = {"clicks": None, "conversionValue": None, "videoViews": None, "reach": None}
    assert [row.to_json() for row in page.rows] == [
        {"date": day, "entityId": id_, "entityName": name, "parentId": parent, **known, **silent}
        for id_, name, parent in expected
        for day, known in figures
    ]
    assert (page.cursor, page.pending, page.coverage.is_complete) == (None, None, True)
    assert page.coverage.provisional_from == date(2026, 11, 16)


def test_named_entities_are_the_only_ones_of_a_request() -> None:
    network = Network()
    page = read_page(network, "adGroup", "l1", "other")
    (list_request,) = network.list_requests
    assert list_request == ("line_items", {"count": "200", "with_deleted": "true", "line_item_ids": "l1,other"})
    assert {query["entity_ids"] for query in network.stats} == {"l1"}
    assert {row.entity_id for row in page.rows} == {"l1"}
    empty = read_page(network, "adGroup", "other")
    assert (empty.rows, empty.cursor) == ((), None)


def test_the_currency_of_a_post_is_that_of_its_line_item() -> None:
    network = Network()
    read_page(network, "ad", "p1")
    assert [path for path, _ in network.list_requests] == ["promoted_tweets", "line_items"]
    assert network.list_requests[1][1]["line_item_ids"] == "l1"
    assert read_page(network, "ad", "p3").rows == ()


def test_a_cursor_leads_over_the_pages_of_the_list_and_then_to_the_next_week() -> None:
    network = Network({**ACCOUNT_LISTS, "line_items": ACCOUNT_LISTS["line_items"][:2]}, page_size=1)
    pages = [read_page(network, "adGroup", start=date(2026, 11, 5), end=date(2026, 11, 14))]
    while pages[-1].cursor is not None:
        pages.append(
            read_page(network, "adGroup", start=date(2026, 11, 5), end=date(2026, 11, 14), cursor=pages[-1].cursor)
        )
    windows = list(
        dict.fromkeys((query["entity_ids"], query["start_time"], query["end_time"]) for query in network.stats)
    )
    assert windows == [
        ("l1", "2026-11-05T05:00:00Z", "2026-11-12T05:00:00Z"),
        ("l2", "2026-11-05T05:00:00Z", "2026-11-12T05:00:00Z"),
        ("l1", "2026-11-12T05:00:00Z", "2026-11-15T05:00:00Z"),
        ("l2", "2026-11-12T05:00:00Z", "2026-11-15T05:00:00Z"),
    ]
    keys = [(row.date, row.entity_id) for page in pages for row in page.rows]
    assert len(keys) == len(set(keys)) == 12
    assert [page.finished_days is not None for page in pages] == [False, False, False, True]
    assert all(page.coverage.start == date(2026, 11, 5) for page in pages)


def test_a_large_page_is_narrowed_to_the_entities_with_activity() -> None:
    items = [{"id": f"l{number}", "campaign_id": "c1", "currency": "USD"} for number in range(21)]
    network = Network({"line_items": items})
    page = read_page(network, "adGroup")
    window, *stats = network.stats
    assert (window["entity"], window["start_time"]) == ("LINE_ITEM", "2026-11-16T05:00:00Z")
    assert {(query["entity_ids"], query["placement"]) for query in stats} == {("l7", "TREND")}
    assert page.rows == ()


def test_figures_of_other_entities_are_left_out_and_rows_without_an_id_unreadable() -> None:
    network = Network({"campaigns": [{"id": "c1", "name": "Autumn", "currency": "USD"}]}, answered_id="c9")
    assert read_page(network, "campaign").rows == ()
    assert len(network.stats) == 6
    with pytest.raises(ProviderUnreadable):
        read_page(Network({"campaigns": [{"name": "Autumn", "currency": "USD"}]}), "campaign")
