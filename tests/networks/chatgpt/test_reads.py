"""The ChatGPT adapter: connecting, the hierarchy, reports, catalogs and edits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from adsunify.adapter.edits import Edit, Percentage
from adsunify.adapter.flows import run_flow
from adsunify.adapter.hierarchy import ListQuery, parse_entity
from adsunify.adapter.network import get_level
from adsunify.adapter.oauth import NO_OAUTH_CLIENT, Credentials
from adsunify.adapter.settings import build_settings
from adsunify.errors import InvalidInput, PermissionRefused, ProviderUnreadable, TokenRefused
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.networks.chatgpt import plans, reads
from adsunify.networks.chatgpt.tables import NETWORK
from adsunify.plans.records import Plan
from adsunify.values.exact_json import loads
from tests.networks.calls import make_response

from .calls import ACCOUNT, AD, API, CAMPAIGN, CARD, GROUP, NOW, Responder, find_flow_issues, make_page, run

KEY = "sk-ads-1"
OWNER = {
    "id": "adacct_77",
    "name": "Northwind Ltd",
    "account_name": "Northwind EU",
    "status": "active",
    "timezone": "Europe/Paris",
    "currency_code": "EUR",
    "review": {"status": "approved"},
}

# -- connecting ---------------------------------------------------------------------------------------------------


def exchange_credentials(response: Response, **members: str) -> tuple[Credentials, list[Request]]:
    responder = Responder(ad_account=response)
    return run_flow(reads.fetch_credentials(NO_OAUTH_CLIENT, "", members, "", 0), responder), responder.requests


def test_a_key_is_proven_by_a_read() -> None:
    credentials, (request,) = exchange_credentials(make_response(OWNER), apiKey=KEY)
    assert credentials == Credentials(KEY)
    assert request.headers["Authorization"] == f"Bearer {KEY}" and not request.is_signed
    with pytest.raises(TokenRefused):
        exchange_credentials(make_response({"error": {"message": "No"}}, 401), apiKey=KEY)
    with pytest.raises(PermissionRefused):
        exchange_credentials(make_response({"error": {"message": "No"}}, 403), apiKey=KEY)


@pytest.mark.parametrize("members", [{}, {"apiKey": ""}, {"apiKey": "a b"}, {"apiKey": "a\r\nb"}, {"apiKey": "é"}])
def test_a_malformed_key_is_never_sent(members: Mapping[str, str]) -> None:
    with pytest.raises(InvalidInput) as refusal:
        exchange_credentials(make_response(OWNER), **members)
    assert [issue.path for issue in refusal.value.issues] == ["apiKey"]


def test_a_key_is_never_renewed_and_goes_to_its_host_only() -> None:
    assert run(reads.refresh_credentials(NO_OAUTH_CLIENT, Credentials(KEY), 0)) == Credentials(KEY)
    signed = reads.sign_request(Request("GET", f"{API}/ads"), Credentials(KEY), NO_OAUTH_CLIENT, 0, "")
    assert signed.headers["Authorization"] == f"Bearer {KEY}"
    foreign = Request("GET", "https://elsewhere.example/v1/ads")
    assert reads.sign_request(foreign, Credentials(KEY), NO_OAUTH_CLIENT, 0, "") == foreign


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({}, "active"),
        ({"status": "paused"}, "paused"),
        ({"status": None}, None),
        ({"review": {"status": "in_review"}}, "in_review"),
        ({"account_integrity_review": {"review": {"status": "rejected"}}}, "rejected"),
    ],
)
def test_the_account_of_the_key(change: dict[str, Any], status: str | None) -> None:
    (account,) = run(reads.discover_accounts(), ad_account=make_response(OWNER | change))
    assert (account.native_id, account.name, account.currency, account.timezone) == (
        "adacct_77",
        "Northwind EU",
        "EUR",
        "Europe/Paris",
    )
    assert account.native_status == status


# -- the hierarchy ------------------------------------------------------------------------------------------------

MANY = {
    "campaigns": make_page({"id": "c1", "status": "active"}, {"id": "c2", "status": "paused"}),
    "ad_groups?campaign_id=c1&limit=500": make_page({"id": "g1"}, {"id": "g2"}),
    "ad_groups?campaign_id=c2&limit=500": make_page({"id": "g3"}),
}


def test_the_tree_walks_the_parents() -> None:
    ads = {f"ads?ad_group_id=g{n}&limit=500": make_page({"id": f"a{n}"}) for n in (1, 2, 3)}
    tree = run(reads.fetch_tree(ACCOUNT), **MANY, **ads)
    assert [(node.id, node.parent_id) for node in tree.nodes] == [
        ("c1", None),
        ("c2", None),
        ("g1", "c1"),
        ("g2", "c1"),
        ("g3", "c2"),
        ("a1", "g1"),
        ("a2", "g2"),
        ("a3", "g3"),
    ]


def list_ads(request: Request) -> Response:
    """Seven ads in three groups, the second one empty, in pages of what is asked for."""
    address = build_request_url(request).removeprefix(f"{API}/")
    if not address.startswith("ads?"):
        return Responder(**MANY)(request)
    ad_ids = {"g1": ["a1", "a2", "a3"], "g2": [], "g3": ["a4", "a5", "a6", "a7"]}[request.query["ad_group_id"]]
    first = ad_ids.index(request.query["after"]) + 1 if "after" in request.query else 0
    size = int(request.query["limit"])
    rows = [{"id": ad_id, "name": f"Boots {ad_id}", "status": "active"} for ad_id in ad_ids[first : first + size]]
    return make_page(*rows, more=first + size < len(ad_ids))


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 7, 50])
@pytest.mark.parametrize("search", [None, "BOOTS", "a5"])
def test_a_list_without_a_parent_gives_each_once(limit: int, search: str | None) -> None:
    ads: list[tuple[str, str | None]] = []
    cursor: str | None = None
    for _ in range(20):
        query = ListQuery(limit, cursor, search=search)
        page = run_flow(reads.list_entities(ACCOUNT, "ad", query), list_ads)
        assert len(page.entities) <= limit
        ads += [(entity.id, entity.parent_id) for entity in page.entities]
        cursor = page.cursor
        if cursor is None:
            break
    all_ = [(f"a{n}", "g1" if n < 4 else "g3") for n in range(1, 8)]
    assert ads == ([("a5", "g3")] if search == "a5" else all_) and cursor is None


def test_a_cursor_names_its_parent() -> None:
    page = run_flow(reads.list_entities(ACCOUNT, "ad", ListQuery(2)), list_ads)
    assert page.cursor == "g1.a2"
    assert find_flow_issues(reads.list_entities(ACCOUNT, "adGroup", ListQuery(cursor="c9.x")), **MANY) == {
        ("cursor", "malformed")
    }


def test_another_entity_than_asked_for_is_unreadable() -> None:
    with pytest.raises(ProviderUnreadable):
        run(reads.fetch_entity(ACCOUNT, "ad", "ad_3"), **{"ads/ad_3": make_response(AD)})


# -- insights -----------------------------------------------------------------------------------------------------


def make_row(campaign: str, day: str, **figures: Any) -> dict[str, Any]:
    return {"id": f"r-{campaign}-{day}", "campaign_id": campaign, "readable_time": day, **figures}


def test_two_reports_become_days() -> None:
    delivery = Response.from_bytes(
        200,
        {},
        b'{"has_more":false,"data":['
        b'{"campaign_id":"c1","readable_time":"2026-11-01","impressions":10,"clicks":1,"spend":0.10},'
        b'{"campaign_id":"c2","readable_time":"2026-11-01","impressions":5,"clicks":0,"campaign_spend":0.20},'
        b'{"campaign_id":"c2","readable_time":"2026-11-01","impressions":5,"clicks":0,"campaign_spend":0.20}]}',
    )
    sales = {"order_created_attributed_sales": "9.90", "order_created_attributed_sales_currency": "EUR"}
    conversions = make_response(
        {
            "data": [
                {"date": "2026-11-01", "entity_id": "adacct_77", "conversions": 2, **sales},
                {"date": "2026-11-02", "entity_id": "adacct_77", "conversions": 0},
            ]
        }
    )
    responder = Responder(**{"ad_account/insights": delivery, "conversions/insights": conversions})
    insights = run_flow(reads.fetch_insights(ACCOUNT, date(2026, 11, 1), date(2026, 11, 7), None, NOW), responder)
    assert [row.to_json() for row in insights.rows] == [
        {
            "date": "2026-11-01",
            "impressions": 15,
            "clicks": 1,
            "spend": "0.3",
            "conversions": "2",
            "conversionValue": "9.9",
            "videoViews": None,
            "reach": None,
        }
    ]
    assert insights.coverage.is_complete and insights.coverage.provisional_from == date(2026, 11, 1)
    insights_request, conversions_request = responder.requests
    assert "time_ranges%5B%5D=%7B%22type%22%3A%22date_range%22%2C%22since%22%3A%222026-11-01%22" in build_request_url(
        insights_request
    )
    assert (conversions_request.method, conversions_request.kind) == ("POST", "read")
    assert loads(conversions_request.body["time_ranges"][0]) == {
        "type": "unix_range",
        "start": "1793487600",
        "end": "1794092400",
    }


def test_nothing_is_asked_of_the_future() -> None:
    responder = Responder(**{"ad_account/insights": make_page(), "conversions/insights": make_response({"data": []})})
    insights = run_flow(reads.fetch_insights(ACCOUNT, date(2025, 11, 20), date(2026, 12, 31), None, NOW), responder)
    assert "2025-11-20" in build_request_url(responder.requests[0]) and "2026-11-20" in build_request_url(
        responder.requests[0]
    )
    assert insights.coverage.provisional_from == date(2026, 10, 21) and insights.totals.spend is None


def test_conversions_that_are_not_told_are_null() -> None:
    answers = {
        "ad_account/insights": make_page(make_row("c1", "2026-11-01", impressions=10, clicks=1, spend=1)),
        "conversions/insights": make_response({"error": {"message": "not enabled"}}, 403),
    }
    insights = run(reads.fetch_insights(ACCOUNT, date(2026, 11, 1), date(2026, 11, 1), None, NOW), **answers)
    assert (insights.rows[0].conversions, insights.rows[0].spend, insights.totals.conversions) == (None, "1", None)


# -- catalogs -----------------------------------------------------------------------------------------------------


def test_sources_are_found_at_the_events_where_they_are_not_listed() -> None:
    sources = [{"id": "cds_1", "name": "Shop"}, {"id": "cds_2", "name": None}]
    answers = {
        "conversions/pixels": make_response({"error": "Invalid URL"}, 404),
        "conversions/event_settings": make_page(
            {"id": "ces_1", "sources": sources}, {"id": "ces_2", "sources": sources}
        ),
    }
    page = run(reads.fetch_catalog_page(ACCOUNT, "pixels", ListQuery()), **answers)
    assert [(row.id, row.name) for row in page.rows] == [("cds_1", "Shop"), ("cds_2", "cds_2")]


def test_ids_after_the_colon_keep_their_underscores() -> None:
    page = run(
        reads.fetch_catalog_page(ACCOUNT, "ads:adgrp_4", ListQuery()),
        **{"ads?ad_group_id=adgrp_4&limit=50": make_page(AD)},
    )
    assert [row.id for row in page.rows] == ["ad_2"]
    assert "ios_app" in {row.id for row in run(reads.fetch_catalog_page(ACCOUNT, "platforms", ListQuery())).rows}


# -- settings and edits -------------------------------------------------------------------------------------------

ENTITIES = {"campaign": CAMPAIGN, "adGroup": GROUP, "ad": AD}
PATHS = {"campaign": "campaigns/cmpn_9", "adGroup": "ad_groups/adgrp_4", "ad": "ads/ad_2"}


def make_edit_flow(kind: Any, edit: Edit) -> Any:
    return plans.plan_edit(ACCOUNT, kind, PATHS[kind].rpartition("/")[2], edit, NOW)


def plan_edit(kind: Any, edit: Edit, **changes: Any) -> Plan:
    plan: Plan = run(make_edit_flow(kind, edit), **{PATHS[kind]: make_response(ENTITIES[kind] | changes)})
    return plan


def find_edit_issues(kind: Any, edit: Edit, **changes: Any) -> set[tuple[str, str]]:
    return find_flow_issues(make_edit_flow(kind, edit), **{PATHS[kind]: make_response(ENTITIES[kind] | changes)})


def test_fields_of_a_campaign() -> None:
    plan = plan_edit("campaign", Edit({"budget": "400.5", "endAt": "", "name": "Boots"}))
    assert plan.steps[0].request.body == {
        "name": "Boots",
        "budget": {"lifetime_spend_limit_micros": 400_500_000},
        "end_time": None,
    }
    assert plan.risk == "spend"
    assert plan_edit("campaign", Edit({"budget": Percentage("decrease", Decimal(10))})).risk == "low"
    assert find_edit_issues("campaign", Edit({"name": "ab"})) == {("fields.name", "length")}
    assert find_edit_issues("campaign", Edit({"bid": "1"})) == {("fields.bid", "locked")}
    assert find_edit_issues("campaign", Edit({"endAt": "2026-11-30T00:00:00Z"})) == {("fields.endAt", "order")}
    assert find_edit_issues("campaign", Edit({"name": "Boots"}), status="archived") == {("entityId", "locked")}
    events = Edit({"conversionGoals": "ces_1,ces_2"})
    assert plan_edit("campaign", events).steps[0].request.body == {"conversion_event_setting_ids": ["ces_1", "ces_2"]}
    assert find_edit_issues("campaign", events, bidding_type="conversions") == {("fields.conversionGoals", "locked")}


def test_targeting_is_written_whole_and_without_what_a_read_adds() -> None:
    plan = plan_edit("campaign", Edit(targeting={"devices": [{"id": "ios_app", "name": "iOS"}]}))
    assert plan.steps[0].request.body == {
        "targeting": {"locations": {"include": [{"id": "84"}]}, "platforms": {"included": ["ios_app"]}}
    }
    plan = plan_edit(
        "campaign", Edit(targeting={"locations": [{"id": "FR", "name": "France"}, {"id": "9", "name": "x"}]})
    )
    places = {"countries": ["FR"], "include": [{"id": "9"}]}
    assert plan.steps[0].request.body["targeting"] == {"locations": places, "platforms": {"included": ["web"]}}
    assert find_edit_issues("campaign", Edit(targeting={"locations": []})) == {("targeting.locations", "required")}
    assert find_edit_issues("adGroup", Edit(targeting={"locations": []})) == {("targeting", "not_supported")}


@pytest.mark.parametrize(("value", "micros"), [("7.125", 7125), (Percentage("increase", Decimal("0.01")), 12001)])
def test_a_bid_for_impressions_is_edited_per_thousand(value: Any, micros: int) -> None:
    config = {"billing_event_type": "impression", "strategy": "fixed_bid", "max_bid_micros": 12000, "more": 1}
    (step,) = plan_edit("adGroup", Edit({"bid": value}), bidding_config=config).steps
    expected = {"billing_event_type": "impression", "strategy": "fixed_bid", "max_bid_micros": micros}
    assert step.request.body == {"bidding_config": expected}
    assert step.changes[0].before == "12"
    settings = build_settings(
        NETWORK,
        ACCOUNT,
        "adgrp_4",
        parse_entity(get_level(NETWORK, "adGroup"), {**GROUP, "bidding_config": config}),
        NOW,
    )
    assert {field["field"]: field["value"] for field in settings["fields"]}["bid"] == "12"
    assert find_edit_issues("adGroup", Edit({"bid": "7.1255"}), bidding_config=config) == {
        ("fields.bid", "over_precision")
    }


def test_a_strategy_that_takes_no_bid_locks_it() -> None:
    config = {"billing_event_type": "click", "strategy": "maximize_clicks"}
    assert find_edit_issues("adGroup", Edit({"bid": "1"}), bidding_config=config) == {("fields.bid", "locked")}


def test_a_card_is_written_whole() -> None:
    plan = plan_edit("ad", Edit({"url": "https://northwind.example/sale"}, creative={"headline": "Boots on sale"}))
    card = CARD | {"title": "Boots on sale", "target_url": "https://northwind.example/sale"}
    assert plan.steps[0].request.body == {"creative": card}
    assert len(plan.warnings) == 1
    assert find_edit_issues("ad", Edit(creative={"headline": "ab"})) == {("creative.headline", "invalid")}
    assert find_edit_issues("ad", Edit({"body": "a"}, creative={"body": "b"})) == {("creative.body", "conflict")}
    assert find_edit_issues("ad", Edit(creative={"imageHash": "b"})) == {("creative.imageHash", "not_supported")}


def test_a_new_image_is_brought_first() -> None:
    plan = plan_edit("ad", Edit(creative={"imageUrl": "https://cdn.example/new.png"}))
    image, ad = plan.steps
    assert image.request.body == {"image_url": "https://cdn.example/new.png"}
    assert ad.request.body == {"creative": {name: value for name, value in CARD.items() if name != "file_id"}}
    assert [(binding.to, binding.step) for binding in ad.bindings] == [("/body/creative/file_id", "image")]
    (own,) = plan_edit("ad", Edit(creative={"existingId": "file_9"})).steps
    assert own.request.body == {"creative": CARD | {"file_id": "file_9"}}
