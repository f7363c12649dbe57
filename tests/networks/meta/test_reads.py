"""The Meta adapter: connecting, the hierarchy, insights, catalogs, hostile answers."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from attrs import evolve

from adsunify.adapter.edits import Edit
from adsunify.adapter.entity_reports import ReportQuery
from adsunify.adapter.flows import run_flow
from adsunify.adapter.hierarchy import ListQuery
from adsunify.adapter.oauth import Credentials, OAuthClient
from adsunify.errors import (
    InvalidInput,
    ProviderError,
    ProviderThrottled,
    ProviderUnreadable,
    TokenRefused,
)
from adsunify.http.messages import Flow, Request, Response, build_request_url
from adsunify.models.brief import read_brief
from adsunify.networks.meta import plans, reads, reports
from adsunify.networks.meta.tables import REPORT_LEVELS
from adsunify.values.exact_json import loads
from tests.networks.calls import make_response, run

from .calls import ACCOUNT, APP, GRAPH, NOW, make_brief, make_error_response, make_page

# -- connect ----------------------------------------------------------------------------------------------------------


def test_consent_asks_for_the_scopes() -> None:
    url = reads.build_authorization_url(APP, "https://ads.example/cb", "st", "verifier")
    assert url == (
        "https://www.facebook.com/v26.0/dialog/oauth?client_id=app-1&redirect_uri=https%3A%2F%2Fads.example%2Fcb&state=st"
        "&response_type=code&scope=ads_management%2Cads_read%2Cbusiness_management%2Cpages_show_list"
        "%2Cpages_read_engagement%2Cpages_manage_ads"
    )


def test_a_code_becomes_a_long_lived_token() -> None:
    short = make_response({"access_token": "short", "token_type": "bearer", "expires_in": 5400})
    long = make_response({"access_token": "long", "token_type": "bearer", "expires_in": 5184000})
    credentials, requests = run(
        reads.fetch_credentials(APP, "https://ads.example/cb", {"code": "c"}, "v", 1000), short, long
    )
    assert credentials == Credentials("long", None, 5184001000)
    assert [dict(request.query) for request in requests] == [
        {"client_id": "app-1", "client_secret": "app-secret", "redirect_uri": "https://ads.example/cb", "code": "c"},
        {
            "client_id": "app-1",
            "client_secret": "app-secret",
            "grant_type": "fb_exchange_token",
            "fb_exchange_token": "short",
        },
    ]
    assert [request.kind for request in requests] == ["read_once", "read"]
    assert not any(request.is_signed for request in requests)


def test_a_refresh_exchanges_the_living_token() -> None:
    fresh, requests = run(reads.refresh_credentials(APP, Credentials("old"), 0), make_response({"access_token": "new"}))
    assert (fresh, requests[0].query["fb_exchange_token"]) == (Credentials("new"), "old")
    with pytest.raises(TokenRefused):
        run(reads.refresh_credentials(APP, Credentials("old"), 0), make_error_response(190, 463))


def test_a_revocation_has_to_be_confirmed() -> None:
    _, requests = run(reads.revoke_credentials(APP, Credentials("t")), make_response({"success": True}))
    assert (requests[0].method, build_request_url(requests[0])) == ("DELETE", f"{GRAPH}/me/permissions")
    with pytest.raises(ProviderUnreadable):
        run(reads.revoke_credentials(APP, Credentials("t")), make_response({"success": False}))


def test_only_metas_hosts_see_the_token() -> None:
    request = Request("GET", f"{GRAPH}/me", query={"fields": "id"})
    signed = reads.sign_request(request, Credentials("token"), APP, 0, "n")
    proof = hmac.new(b"app-secret", b"token", hashlib.sha256).hexdigest()
    assert signed.headers == {"Authorization": "Bearer token"}
    assert signed.query == {"fields": "id", "appsecret_proof": proof}
    assert (
        "appsecret_proof" not in reads.sign_request(request, Credentials("token"), OAuthClient("a", ""), 0, "n").query
    )
    for foreign in (
        evolve(request, url="https://graph.facebook.com.example/v26.0/me"),
        evolve(request, url="http://graph.facebook.com/v26.0/me"),
        evolve(request, is_signed=False),
    ):
        assert reads.sign_request(foreign, Credentials("token"), APP, 0, "n") == foreign


# -- accounts and entities --------------------------------------------------------------------------------------------


def test_accounts_are_read_to_the_last_page() -> None:
    first = {
        "id": "act_7007",
        "account_id": "7007",
        "name": "Tea",
        "currency": "EUR",
        "timezone_name": "Europe/Oslo",
        "account_status": 1,
        "min_daily_budget": 100,
        "default_dsa_payor": "Tea Holding",
    }
    accounts, requests = run(
        reads.discover_accounts(), make_page(first, after="C1"), make_page({"id": "act_2", "account_status": 3})
    )
    assert [account.native_id for account in accounts] == ["act_7007", "act_2"]
    assert (accounts[0].currency, accounts[0].timezone, accounts[0].native_status) == ("EUR", "Europe/Oslo", "ACTIVE")
    assert accounts[0].extras == {
        "defaultDsaBeneficiary": "",
        "defaultDsaPayor": "Tea Holding",
        "minDailyBudget": "100",
        "accountStatus": "1",
    }
    assert accounts[1].native_status == "UNSETTLED"
    assert [request.query.get("after") for request in requests] == [None, "C1"]
    assert all(request.url.startswith("https://graph.facebook.com/") for request in requests)


def test_a_cursor_that_repeats_is_refused() -> None:
    with pytest.raises(ProviderUnreadable):
        run(reads.discover_accounts(), make_page(after="C1"), make_page(after="C1"))


def test_the_tree_has_three_levels() -> None:
    tree, requests = run(
        reads.fetch_tree(ACCOUNT),
        make_page({"id": "1", "name": "C", "status": "ACTIVE", "effective_status": "ACTIVE"}),
        make_page({"id": "2", "name": "S", "status": "PAUSED", "campaign_id": "1"}),
        make_page({"id": "3", "name": "A", "status": "NEW_ONE", "adset_id": "2"}, {"id": "4", "adset_id": "gone"}),
    )
    assert [(node.kind, node.id, node.parent_id, node.status) for node in tree.nodes] == [
        ("campaign", "1", None, "active"),
        ("adGroup", "2", "1", "paused"),
        ("ad", "3", "2", None),
    ]
    assert [build_request_url(request) for request in requests] == [
        f"{GRAPH}/act_7007/campaigns?fields=id%2Cname%2Cstatus%2Ceffective_status&limit=100",
        f"{GRAPH}/act_7007/adsets?fields=id%2Cname%2Cstatus%2Ceffective_status%2Ccampaign_id&limit=100",
        f"{GRAPH}/act_7007/ads?fields=id%2Cname%2Cstatus%2Ceffective_status%2Cadset_id&limit=100",
    ]


def test_a_list_is_filtered_by_meta() -> None:
    query = ListQuery(limit=5, cursor="C1", parent_id="6101", status="CAMPAIGN_PAUSED", search="tea")
    page, requests = run(reads.list_entities(ACCOUNT, "adGroup", query), make_page({"id": "2"}, after="C2"))
    assert (page.cursor, [entity.id for entity in page.entities]) == ("C2", ["2"])
    assert requests[0].path == {"owner": "6101"}
    assert requests[0].query["after"] == "C1"
    assert loads(requests[0].query["effective_status"]) == ["CAMPAIGN_PAUSED"]
    assert loads(requests[0].query["filtering"]) == [{"field": "name", "operator": "CONTAIN", "value": "tea"}]
    assert run(reads.list_entities(ACCOUNT, "ad", ListQuery()), make_page({"id": "2"}))[0].cursor is None
    for kind, wrong_query in (
        ("campaign", ListQuery(parent_id="1")),
        ("campaign", ListQuery(status="CAMPAIGN_PAUSED")),
    ):
        with pytest.raises(InvalidInput):
            run(reads.list_entities(ACCOUNT, kind, wrong_query))


def test_an_entity_is_read_by_name() -> None:
    ad = {"id": "6104", "account_id": "7007", "status": "DELETED"}
    entity, requests = run(reads.fetch_entity(ACCOUNT, "ad", "6104"), make_response(ad))
    assert (entity.status, entity.native_status) == ("deleted", "DELETED")
    assert (
        requests[0]
        .query["fields"]
        .endswith("creative{id,name,object_story_spec,thumbnail_url},ad_review_feedback,issues_info,account_id")
    )


# -- insights ---------------------------------------------------------------------------------------------------------

ROW = {
    "date_start": "2026-10-01",
    "date_stop": "2026-10-01",
    "account_currency": "EUR",
    "impressions": "1200",
    "clicks": "31",
    "spend": "12.34",
    "reach": "900",
    "actions": [
        {"action_type": "purchase", "value": "4"},
        {"action_type": "omni_purchase", "value": "3"},
        {"action_type": "video_view", "value": "77"},
    ],
    "action_values": [{"action_type": "omni_purchase", "value": "88.10"}],
}


def fetch_report(
    *answers: Response, start: date = date(2026, 10, 1), job: str | None = None
) -> tuple[Any, list[Request]]:
    return run(reads.fetch_insights(ACCOUNT, start, date(2026, 10, 31), job, NOW), *answers)


def test_insights_are_normalized() -> None:
    bare = {"date_start": "2026-10-02", "impressions": "5", "actions": [{"action_type": "like", "value": "1"}]}
    insights, requests = fetch_report(make_page(ROW, bare))
    assert [row.to_json() for row in insights.rows] == [
        {
            "date": "2026-10-01",
            "impressions": 1200,
            "clicks": 31,
            "spend": "12.34",
            "conversions": "3",
            "conversionValue": "88.1",
            "videoViews": 77,
            "reach": 900,
        },
        {
            "date": "2026-10-02",
            "impressions": 5,
            "clicks": None,
            "spend": None,
            "conversions": None,
            "conversionValue": None,
            "videoViews": None,
            "reach": None,
        },
    ]
    assert (insights.totals.impressions, insights.totals.conversions) == (1205, None)
    assert insights.coverage.is_complete
    assert dict(requests[0].query) == {
        "level": "account",
        "time_increment": "1",
        "time_range": '{"since":"2026-10-01","until":"2026-10-31"}',
        "fields": "date_start,date_stop,account_currency,impressions,clicks,spend,reach,actions,action_values",
        "limit": "500",
    }


@pytest.mark.parametrize(
    "refusal", [make_error_response(100, 1487534), make_error_response(1, 1504018), make_error_response(1, status=500)]
)
def test_too_much_data_becomes_a_report(refusal: Response) -> None:
    running = make_response({"async_status": "Job Running", "async_percent_completion": 40})
    insights, requests = fetch_report(refusal, make_response({"report_run_id": "R1"}), running)
    assert insights.pending.to_json() == {"job": "R1", "status": "Job Running", "retryAfterMs": 15000}
    assert [(request.method, request.url) for request in requests] == [
        ("GET", f"{GRAPH}/{{owner}}/insights"),
        ("POST", f"{GRAPH}/{{account}}/insights"),
        ("GET", f"{GRAPH}/{{id}}"),
    ]
    assert requests[1].kind == "read"


def test_a_long_range_is_a_report_from_the_start() -> None:
    running = make_response({"async_status": "Job Not Started", "async_percent_completion": 0})
    insights, requests = fetch_report(make_response({"report_run_id": "R1"}), running, start=date(2026, 8, 2))
    assert insights.pending.job == "R1"
    assert len(fetch_report(make_page(), start=date(2026, 8, 3))[1]) == 1
    assert requests[0].body["time_range"] == '{"since":"2026-08-02","until":"2026-10-31"}'


def test_a_report_is_resumed_until_it_is_whole() -> None:
    def make_state(status: str, percent: int) -> Response:
        return make_response({"async_status": status, "async_percent_completion": percent, "error_message": "Broken."})

    assert fetch_report(make_state("Job Completed", 99), job="R1")[0].pending.status == "Job Completed"
    insights, requests = fetch_report(
        make_state("Job Completed", 100), make_page(ROW, after="C"), make_page(), job="R1"
    )
    assert (len(insights.rows), insights.pending) == (1, None)
    assert build_request_url(requests[1]) == f"{GRAPH}/R1/insights?limit=500"
    for status in ("Job Failed", "Job Skipped"):
        with pytest.raises(ProviderError, match="Broken"):
            fetch_report(make_state(status, 100), job="R1")


def test_other_failures_of_insights_are_told() -> None:
    with pytest.raises(ProviderThrottled):
        fetch_report(make_error_response(80000))
    with pytest.raises(ProviderUnreadable):
        fetch_report(make_page(ROW | {"spend": "much"}))
    with pytest.raises(ProviderUnreadable):
        fetch_report(make_page(ROW | {"date_start": None}))


# -- catalogs ---------------------------------------------------------------------------------------------------------


def read_catalog(resource: str, answer: Response, search: str | None = None) -> tuple[Any, str]:
    page, requests = run(reads.fetch_catalog_page(ACCOUNT, resource, ListQuery(search=search)), answer)
    return page, build_request_url(requests[0])


def test_catalogs_are_lists_of_the_account() -> None:
    page, url = read_catalog("images", make_page({"hash": "0f1e2d", "name": "Cup"}, after="C"))
    assert [(row.id, row.name) for row in page.rows] == [("0f1e2d", "Cup")]
    assert page.cursor == "C"
    assert url == f"{GRAPH}/act_7007/adimages?fields=hash%2Cname%2Curl%2Cwidth%2Cheight%2Cstatus&limit=50"
    page, url = read_catalog(
        "minimum_budgets", make_response({"data": [{"currency": "EUR", "min_daily_budget_imp": 100}]})
    )
    assert ([row.id for row in page.rows], url) == (["EUR"], f"{GRAPH}/act_7007/minimum_budgets")
    for data in (["Tea Ltd"], [{"recommendations": ["Tea Ltd"]}]):
        page, _ = read_catalog("dsa_recommendations", make_response({"data": data}))
        assert [row.name for row in page.rows] == ["Tea Ltd"]


def test_places_are_searched_and_told_apart_by_type() -> None:
    locations = [
        {"key": "2490299", "name": "New York", "type": "city"},
        {"key": "US:10001", "name": "10001", "type": "zip"},
    ]
    page, url = read_catalog("locations:new_york", make_response({"data": locations}))
    assert [row.id for row in page.rows] == ["city:2490299", "zip:US:10001"]
    types = "%5B%22country%22%2C%22region%22%2C%22city%22%2C%22zip%22%2C%22geo_market%22%5D"
    assert url == f"{GRAPH}/search?type=adgeolocation&q=new%20york&location_types={types}&limit=25"
    assert read_catalog("locations", make_response({"data": []}), "new york")[1] == url
    assert read_catalog("locales", make_response({"data": [{"key": 6, "name": "English (US)"}]}))[0].rows[0].id == "6"
    for resource in ("locations", "interests", "pages:x", "secrets"):
        with pytest.raises(InvalidInput):
            read_catalog(resource, make_response({}))


# -- hostile answers --------------------------------------------------------------------------------------------------

AD_REPORT = ReportQuery(REPORT_LEVELS[-1], date(2026, 10, 1), date(2026, 10, 2))
READERS: list[Callable[[], Flow[Any]]] = [
    lambda: reads.discover_accounts(),
    lambda: reads.fetch_tree(ACCOUNT),
    lambda: reads.list_entities(ACCOUNT, "ad", ListQuery()),
    lambda: reads.fetch_entity(ACCOUNT, "ad", "1"),
    lambda: reads.fetch_insights(ACCOUNT, date(2026, 10, 1), date(2026, 10, 2), None, NOW),
    lambda: reads.fetch_insights(ACCOUNT, date(2026, 10, 1), date(2026, 10, 2), "R1", NOW),
    lambda: reports.fetch_report_page(ACCOUNT, AD_REPORT, None, None, NOW),
    lambda: reports.fetch_report_page(ACCOUNT, AD_REPORT, None, "R1", NOW),
    lambda: reads.fetch_catalog_page(ACCOUNT, "pages", ListQuery()),
    lambda: reads.fetch_catalog_page(ACCOUNT, "locations:x", ListQuery()),
    lambda: reads.fetch_catalog_page(ACCOUNT, "dsa_recommendations", ListQuery()),
    lambda: reads.fetch_credentials(APP, "https://ads.example/cb", {"code": "c"}, "v", 0),
    lambda: reads.refresh_credentials(APP, Credentials("t"), 0),
    lambda: reads.revoke_credentials(APP, Credentials("t")),
    lambda: plans.plan_edit(ACCOUNT, "adGroup", "1", Edit({"name": "B"}, {"interests": []}), NOW),
    lambda: plans.preflight(ACCOUNT, read_brief(make_brief(creative={"existingId": "7"}, platform={}))),
]
HOSTILE = [
    b"",
    b"<html>",
    b"[]",
    b"null",
    b'"text"',
    b'{"data":7}',
    b'{"data":[7]}',
    b'{"data":[{}]}',
    b'{"data":[{"id":[]}]}',
    b'{"data":[{"id":"1","key":{},"date_start":"2026-10-01","actions":{"x":7}}],"paging":7}',
    b'{"data":[{"id":"1","date_start":"2026-10-01","actions":[{"action_type":"purchase","value":{}}]}]}',
    b'{"id":"1","targeting":7}',
    b'{"id":"1","targeting":{"flexible_spec":7}}',
    b'{"error":7}',
    b'{"error":{"code":{},"message":[],"error_data":"[[","is_transient":1}}',
]


@pytest.mark.parametrize("reader", range(len(READERS)))
@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_reader_raises_nothing_but_the_tree(reader: int, status: int) -> None:
    usage = {"x-business-use-case-usage": "[1,{}]", "x-ad-account-usage": '{"a":1}'}
    for body in HOSTILE:
        response, requests = Response.from_bytes(status, usage, body), 0

        def repeat(request: Request, response: Response = response, body: bytes = body) -> Response:
            nonlocal requests
            requests += 1
            assert requests < 50, body
            return response

        with contextlib.suppress(ProviderError, InvalidInput):
            run_flow(READERS[reader](), repeat)
