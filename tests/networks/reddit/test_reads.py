"""The Reddit adapter: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from adsunify.adapter.edits import Edit
from adsunify.adapter.flows import run_flow
from adsunify.adapter.hierarchy import ListQuery
from adsunify.adapter.oauth import AuthorizationCodeLogin, Credentials
from adsunify.errors import (
    AdsunifyError,
    InvalidInput,
    PermissionRefused,
    ProviderNotFound,
    ProviderThrottled,
    ProviderUnreadable,
    TokenRefused,
)
from adsunify.http.messages import Request, build_request_url
from adsunify.networks.reddit import native, plans, reads, tables
from tests.networks.calls import make_response, run

from .calls import ACCOUNT, API, APP, BELOW, NOW, find_flow_issues, make_data_response, make_error_response, make_page

LOGIN = AuthorizationCodeLogin(tables.NETWORK, native.LOGIN)

BASIC = "Basic MTIzNDphcHAtc2VjcmV0"
TOKENS = {
    "access_token": "new-access",
    "token_type": "bearer",
    "expires_in": 86400,
    "scope": "adsread adsedit",
    "refresh_token": "new-refresh",
}
OLD_CREDENTIALS = Credentials("old-access", "old-refresh", 5)

# -- connecting -------------------------------------------------------------------------------------------------------


def test_consent() -> None:
    address = urlsplit(LOGIN.build_authorization_url(APP, "https://ads.example/back", "s t", "unused"))
    assert f"{address.scheme}://{address.netloc}{address.path}" == "https://www.reddit.com/api/v1/authorize"
    assert {name: values[0] for name, values in parse_qs(address.query).items()} == {
        "client_id": "1234",
        "response_type": "code",
        "state": "s t",
        "redirect_uri": "https://ads.example/back",
        "duration": "permanent",
        "scope": "adsread,adsedit",
    }


def test_the_code_becomes_tokens() -> None:
    flow = LOGIN.fetch_credentials(APP, "https://ads.example/back", {"code": "c1"}, "", 1_000)
    credentials, (request,) = run(flow, make_response(TOKENS))
    assert credentials == Credentials("new-access", "new-refresh", 86_401_000)
    assert (request.method, request.url) == ("POST", "https://www.reddit.com/api/v1/access_token")
    assert (request.encoding, request.kind, request.is_signed) == ("form", "read_once", False)
    assert request.body == {
        "grant_type": "authorization_code",
        "code": "c1",
        "redirect_uri": "https://ads.example/back",
    }
    assert request.headers["Authorization"] == BASIC
    assert "adsunify" in request.headers["User-Agent"]


def test_no_code() -> None:
    assert find_flow_issues(LOGIN.fetch_credentials(APP, "https://a.example", {"error": "access_denied"}, "", 0)) == {
        "code"
    }


def test_refreshing() -> None:
    credentials, (request,) = run(LOGIN.refresh_credentials(APP, OLD_CREDENTIALS, 1_000), make_response(TOKENS))
    assert credentials.refresh_token == "new-refresh"
    assert request.body == {"grant_type": "refresh_token", "refresh_token": "old-refresh"}
    tokens = {name: value for name, value in TOKENS.items() if name != "refresh_token"}
    assert (
        run(LOGIN.refresh_credentials(APP, OLD_CREDENTIALS, 1_000), make_response(tokens))[0].refresh_token
        == "old-refresh"
    )


@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [
        ({"error": "invalid_grant"}, 400, TokenRefused),
        ({"error": "invalid_grant"}, 200, TokenRefused),
        ({"error": "invalid_client"}, 400, PermissionRefused),
        ({"error": 401, "message": "Unauthorized"}, 401, PermissionRefused),
        ({"error": "temporarily_unavailable"}, 503, ProviderUnreadable),
        ({"token_type": "bearer"}, 200, ProviderUnreadable),
        ({"error": 429, "message": "Too Many Requests"}, 429, ProviderThrottled),
    ],
)
def test_refreshes_that_fail(body: Any, status: int, problem: type[AdsunifyError]) -> None:
    with pytest.raises(problem):
        run(LOGIN.refresh_credentials(APP, OLD_CREDENTIALS, 0), make_response(body, status))


def test_revoking() -> None:
    _, (request,) = run(LOGIN.revoke_credentials(APP, OLD_CREDENTIALS), make_response(b"", 204))
    assert (request.method, request.url) == ("POST", "https://www.reddit.com/api/v1/revoke_token")
    assert request.body == {"token": "old-refresh", "token_type_hint": "refresh_token"}
    assert request.headers["Authorization"] == BASIC
    _, (request,) = run(LOGIN.revoke_credentials(APP, Credentials("a")), make_response(b"", 200))
    assert request.body == {"token": "a", "token_type_hint": "access_token"}


@pytest.mark.parametrize(
    ("url", "signed"),
    [
        (f"{API}/me/businesses", True),
        ("http://ads-api.reddit.com/api/v3/me/businesses", False),
        ("https://ads-api.reddit.com.evil.example/api/v3/me/businesses", False),
    ],
)
def test_only_reddit_gets_the_token(url: str, signed: bool) -> None:
    request = LOGIN.sign_request(Request("GET", url), Credentials("secret"), APP, 0, "")
    assert request.headers == ({"Authorization": "Bearer secret"} if signed else {})


# -- accounts ---------------------------------------------------------------------------------------------------------

ROW = {
    "id": "a2_one",
    "name": "One",
    "currency": "EUR",
    "time_zone_id": "Europe/Berlin",
    "admin_approval": "VALID",
    "business_id": "b1",
    "type": "MANAGED",
    "suspension_reason": None,
}


def test_accounts_of_every_business() -> None:
    following = f"{API}/businesses/b1/ad_accounts/query?page.token=2"
    accounts, requests = run(
        reads.discover_accounts(),
        make_page({"id": "b1"}, {"id": "b2"}),
        make_page(ROW, following=following),
        make_page({"id": "t2_two", "currency": "USD", "time_zone_id": None, "admin_approval": "SUSPENDED"}),
        make_error_response(404),
        make_page(ROW),
    )
    assert [(request.method, build_request_url(request), request.kind, request.body) for request in requests] == [
        ("GET", f"{API}/me/businesses", "read", None),
        ("POST", f"{API}/businesses/b1/ad_accounts/query", "read", {"data": {}}),
        ("POST", following, "read", {"data": {}}),
        ("POST", f"{API}/businesses/b2/ad_accounts/query", "read", {"data": {}}),
        ("GET", f"{API}/businesses/b2/ad_accounts", "read", None),
    ]
    first_account, second_account = accounts
    assert (
        first_account.native_id,
        first_account.name,
        first_account.currency,
        first_account.timezone,
        first_account.native_status,
    ) == (*("a2_one", "One", "EUR", "Europe/Berlin", "VALID"),)
    assert first_account.extras == {"businessId": "b1", "type": "MANAGED"}
    assert (second_account.native_id, second_account.name, second_account.timezone, second_account.native_status) == (
        "t2_two",
        "t2_two",
        "Etc/UTC",
        "SUSPENDED",
    )


def test_a_token_that_is_refused_is_told() -> None:
    with pytest.raises(TokenRefused):
        run(reads.discover_accounts(), make_page({"id": "b1"}), make_error_response(401))


# -- the hierarchy ----------------------------------------------------------------------------------------------------


def make_campaign(number: int, status: str = "ACTIVE", name: str = "Autumn") -> dict[str, Any]:
    return {"id": str(number), "ad_account_id": "a2_acc1", "name": f"{name} {number}", "configured_status": status}


def test_the_tree() -> None:
    following = f"{BELOW}/campaigns?page.size=1000&page.token=2"
    tree, requests = run(
        reads.fetch_tree(ACCOUNT),
        make_page(make_campaign(1), following=following),
        make_page(make_campaign(2, "PAUSED")),
        make_page({"id": "11", "campaign_id": "1", "name": "Group", "configured_status": "ARCHIVED"}),
        make_page({"id": "111", "ad_group_id": "11", "name": "Ad", "configured_status": "NEW"}),
    )
    assert [build_request_url(request) for request in requests] == [
        f"{BELOW}/campaigns?page.size=1000",
        following,
        f"{BELOW}/ad_groups?page.size=1000",
        f"{BELOW}/ads?page.size=1000",
    ]
    assert [(node.kind, node.id, node.parent_id, node.status) for node in tree.nodes] == [
        ("campaign", "1", None, "active"),
        ("campaign", "2", None, "paused"),
        ("adGroup", "11", "1", "archived"),
        ("ad", "111", "11", None),
    ]


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/api/v3/ad_accounts/a2_acc1/campaigns",
        "https://ads-api.reddit.com@evil.example/api/v3/x",
        "https://ads-api.reddit.com:8443/api/v3/x",
        "http://ads-api.reddit.com/api/v3/x",
        "https://ads-api.reddit.com/api/v2/x",
        "https://ads-api.reddit.com/api/v3/../../x",
        "https://ads-api.reddit.com/api/v3/%2e%2e/x",
        "https://ads-api.reddit.com/api/v3/x\n",
        "/api/v3/x",
        "https://[",
        7,
    ],
)
def test_a_next_page_stays_at_reddit(address: Any) -> None:
    with pytest.raises(ProviderUnreadable):
        run(reads.fetch_tree(ACCOUNT), make_response({"data": [], "pagination": {"next_url": address}}))
    if isinstance(address, str):
        assert find_flow_issues(reads.list_entities(ACCOUNT, "ad", ListQuery(cursor=address))) == {"cursor"}


def test_a_cursor_is_one_of_its_own_list() -> None:
    other = ListQuery(cursor=f"{API}/ad_accounts/a2_other/ads?page.token=2")
    assert find_flow_issues(reads.list_entities(ACCOUNT, "ad", other)) == {"cursor"}


def test_a_list_that_never_ends() -> None:
    following = f"{BELOW}/campaigns?page.token=2"
    page = make_page(make_campaign(1), following=following)
    with pytest.raises(ProviderUnreadable):
        run(reads.fetch_tree(ACCOUNT), page, page)


def test_a_page_leaves_out_what_is_closed() -> None:
    following = f"{BELOW}/campaigns?page.size=3&page.token=2"
    answer = make_page(make_campaign(1, "ARCHIVED"), make_campaign(2), make_campaign(3, "DELETED"), following=following)
    page, (request,) = run(reads.list_entities(ACCOUNT, "campaign", ListQuery(limit=3)), answer)
    assert build_request_url(request) == f"{BELOW}/campaigns?page.size=3"
    assert ([entity.id for entity in page.entities], page.cursor) == (["2"], following)
    page, (request,) = run(reads.list_entities(ACCOUNT, "campaign", ListQuery(cursor=following)), make_page())
    assert (build_request_url(request), page.cursor) == (following, None)


def test_reddit_filters_ads_by_status_and_we_the_rest() -> None:
    query = ListQuery(parent_id="11", status="PAUSED")
    _, (request,) = run(reads.list_entities(ACCOUNT, "ad", query), make_page())
    assert build_request_url(request) == f"{BELOW}/ads?page.size=50&ad_group_id=11&configured_status=PAUSED"
    rows = [{**make_campaign(n, status), "campaign_id": "1"} for n, status in ((11, "PAUSED"), (12, "ACTIVE"))]
    page, (request,) = run(reads.list_entities(ACCOUNT, "adGroup", evolve(query, parent_id="1")), make_page(*rows))
    assert build_request_url(request) == f"{BELOW}/ad_groups?page.size=50&campaign_id=1"
    assert [entity.id for entity in page.entities] == ["11"]


def test_a_search_goes_on_until_something_is_found() -> None:
    second, third = (f"{BELOW}/campaigns?page.token={n}" for n in (2, 3))
    pages = (make_page(make_campaign(1), following=second), make_page(make_campaign(2, name="WINTER"), following=third))
    page, requests = run(reads.list_entities(ACCOUNT, "campaign", ListQuery(search="winter")), *pages)
    assert ([entity.id for entity in page.entities], page.cursor, len(requests)) == (["2"], third, 2)


@pytest.mark.parametrize(
    ("kind", "query", "path"),
    [
        ("campaign", ListQuery(parent_id="1"), "parentId"),
        ("campaign", ListQuery(status="PENDING_APPROVAL"), "status"),
        ("keyword", ListQuery(), "kind"),
    ],
)
def test_lists_that_are_refused(kind: str, query: ListQuery, path: str) -> None:
    assert find_flow_issues(reads.list_entities(ACCOUNT, kind, query)) == {path}


def test_one_entity() -> None:
    entity, (request,) = run(reads.fetch_entity(ACCOUNT, "campaign", "1"), make_data_response(make_campaign(1)))
    assert (entity.id, entity.native_status, build_request_url(request)) == ("1", "ACTIVE", f"{API}/campaigns/1")
    for other in (make_campaign(2), {**make_campaign(1), "id": 1}):
        with pytest.raises(ProviderUnreadable):
            run(reads.fetch_entity(ACCOUNT, "campaign", "1"), make_data_response(other))
    with pytest.raises(ProviderNotFound):
        run(
            reads.fetch_entity(ACCOUNT, "campaign", "1"),
            make_data_response({**make_campaign(1), "ad_account_id": "a2_other"}),
        )
    with pytest.raises(ProviderNotFound):
        run(reads.fetch_entity(ACCOUNT, "campaign", "1"), make_error_response(404))
    group = make_data_response({"id": "2", "campaign_id": "1"})  # what does not say whose it is, its campaign does
    assert run(reads.fetch_entity(ACCOUNT, "adGroup", "2"), group, make_data_response(make_campaign(1)))[0].id == "2"
    with pytest.raises(ProviderNotFound):
        run(
            reads.fetch_entity(ACCOUNT, "adGroup", "2"),
            group,
            make_data_response({**make_campaign(1), "ad_account_id": "a2_other"}),
        )


# -- insights ---------------------------------------------------------------------------------------------------------


def make_report(*rows: Any, following: str | None = None, updated: str | None = None) -> Any:
    body = {"data": {"metrics": rows, "metrics_updated_at": updated}, "pagination": {"next_url": following}}
    return make_response(json.dumps(body).encode())


def fetch_insights(start: date, end: date, *answers: Any, zone: str = "America/New_York") -> Any:
    return run(reads.fetch_insights(evolve(ACCOUNT, timezone=zone), start, end, None, NOW), *answers)


def test_the_report_that_is_asked_for() -> None:
    _, (request,) = fetch_insights(date(2026, 11, 1), date(2026, 11, 7), make_report())
    assert (request.method, build_request_url(request), request.kind) == (
        "POST",
        f"{BELOW}/reports?page.size=1000",
        "read",
    )
    assert request.body == {
        "data": {
            "starts_at": "2026-11-01T04:00:00Z",  # the clocks change that night
            "ends_at": "2026-11-08T05:00:00Z",
            "time_zone_id": "America/New_York",
            "breakdowns": ["DATE"],
            "fields": [
                "IMPRESSIONS",
                "CLICKS",
                "SPEND",
                "REACH",
                "VIDEO_VIEWABLE_IMPRESSIONS",
                "KEY_CONVERSION_TOTAL_COUNT",
                "CONVERSION_PURCHASE_TOTAL_VALUE",
            ],
        }
    }


def test_half_hours_are_taken_in_whole() -> None:
    _, (request,) = fetch_insights(date(2026, 11, 1), date(2026, 11, 1), make_report(), zone="Asia/Kolkata")
    body = request.body["data"]
    assert (body["starts_at"], body["ends_at"]) == ("2026-10-31T18:00:00Z", "2026-11-01T19:00:00Z")


def test_figures() -> None:
    row = {
        "date": "2026-11-02",
        "impressions": 1200,
        "clicks": 30,
        "spend": 4_500_001,
        "reach": 900,
        "video_viewable_impressions": None,
        "key_conversion_total_count": 3,
        "conversion_purchase_total_value": 12_345,
    }
    outside = {**row, "date": "2026-10-31"}
    following = f"{BELOW}/reports?page.size=1000&page.token=2"
    insights, requests = fetch_insights(
        date(2026, 11, 1),
        date(2026, 11, 3),
        make_report(outside, row, following=following),
        make_report({"date": "2026-11-03", "impressions": 1, "spend": 0}),
    )
    assert (requests[1].method, build_request_url(requests[1]), requests[1].body) == (
        "POST",
        following,
        requests[0].body,
    )
    first, second = [row.to_json() for row in insights.rows]
    assert first == {
        "date": "2026-11-02",
        "impressions": 1200,
        "clicks": 30,
        "spend": "4.500001",
        "conversions": "3",
        "conversionValue": "123.45",
        "videoViews": None,
        "reach": 900,
    }
    assert (second["date"], second["spend"], second["clicks"]) == ("2026-11-03", "0", None)
    assert insights.totals.impressions == 1201
    assert (insights.totals.clicks, insights.totals.reach) == (None, None)
    assert len(insights.native_rows) == 2
    assert (insights.coverage.is_complete, insights.coverage.provisional_from) == (True, None)


def test_what_is_not_settled_yet() -> None:
    insights, _ = fetch_insights(date(2026, 11, 18), date(2026, 11, 20), make_report(updated="2026-11-20T06:00:00Z"))
    assert insights.coverage.provisional_from == date(2026, 11, 19)  # 00:00 UTC is the evening before in New York
    insights, _ = fetch_insights(date(2026, 11, 18), date(2026, 11, 20), make_report(updated="soon"))
    assert insights.coverage.provisional_from == date(2026, 11, 20)


@pytest.mark.parametrize(
    "row", [{}, {"date": "soon"}, {"date": "2026-11-02", "conversion_purchase_total_value": "1e9"}, {"date": 5}]
)
def test_rows_that_cannot_be_read(row: dict[str, Any]) -> None:
    with pytest.raises(ProviderUnreadable):
        fetch_insights(date(2026, 11, 1), date(2026, 11, 3), make_report(row))


# -- catalogs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("resource", "search", "address"),
    [
        ("businesses", None, f"{API}/me/businesses"),
        ("funding_instruments", None, f"{BELOW}/funding_instruments?mode=SELECTABLE"),
        ("pixels", None, f"{BELOW}/pixels"),
        ("profiles", None, f"{BELOW}/profiles"),
        ("posts:t2_abc_d", None, f"{API}/profiles/t2_abc_d/posts?source=PROMOTED"),
        ("structured_posts:t2_abc", None, f"{API}/profiles/t2_abc/structured_posts"),
        ("geolocations", None, f"{API}/targeting/geolocations"),
        ("geolocations:US", None, f"{API}/targeting/geolocations?country=US"),
        ("geolocations:US", "San Jose", f"{API}/targeting/geolocations?country=US&cities_search=San%20Jose"),
        ("geolocations", "San Jose", f"{API}/targeting/geolocations?cities_search=San%20Jose"),
        ("geolocations:US", "90210", f"{API}/targeting/geolocations?country=US&postal_code=90210"),
        ("communities", "garden", f"{API}/targeting/communities/search?query=garden"),
        ("communities:garden", None, f"{API}/targeting/communities/search?query=garden"),
        ("interests", None, f"{API}/targeting/interests"),
        ("languages", None, f"{API}/targeting/languages"),
        ("time_zones", None, f"{API}/time_zones"),
        ("apps", None, f"{BELOW}/apps"),
    ],
)
def test_what_catalogs_ask_for(resource: str, search: str | None, address: str) -> None:
    page, (request,) = run(reads.fetch_catalog_page(ACCOUNT, resource, ListQuery(search=search)), make_page())
    assert (build_request_url(request), page.rows, page.cursor) == (address, (), None)


def test_rows_of_catalogs() -> None:
    following = f"{BELOW}/funding_instruments?page.token=2"
    answer = make_page({"id": "4711", "currency": "USD"}, {"id": "4712", "name": "Card"}, following=following)
    page, _ = run(reads.fetch_catalog_page(ACCOUNT, "funding_instruments", ListQuery()), answer)
    assert ([(row.id, row.name) for row in page.rows], page.cursor) == ([("4711", "USD"), ("4712", "Card")], following)
    page, (request,) = run(
        reads.fetch_catalog_page(ACCOUNT, "funding_instruments", ListQuery(cursor=following)), make_page()
    )
    assert build_request_url(request) == following
    page, _ = run(
        reads.fetch_catalog_page(ACCOUNT, "languages", ListQuery()), make_page({"value": "EN", "name": "English"})
    )
    assert [(row.id, row.name) for row in page.rows] == [("EN", "English")]
    page, _ = run(
        reads.fetch_catalog_page(ACCOUNT, "communities", ListQuery(search="garden")), make_page({"name": "gardening"})
    )
    assert [(row.id, row.name) for row in page.rows] == [("gardening", "gardening")]


def test_the_job_of_a_post() -> None:
    answer = make_data_response({"id": "job_1", "status": "SUCCESS", "post_id": "t3_new"})
    page, (request,) = run(reads.fetch_catalog_page(ACCOUNT, "post_job:job_1", ListQuery()), answer)
    assert build_request_url(request) == f"{API}/structured_posts/jobs/job_1"
    (row,) = page.rows
    assert (row.id, row.name, row.native["post_id"]) == ("job_1", "SUCCESS", "t3_new")


@pytest.mark.parametrize("resource", ["communities", "posts", "post_job", "pixels:x", "conversions"])
def test_catalogs_that_are_refused(resource: str) -> None:
    assert find_flow_issues(reads.fetch_catalog_page(ACCOUNT, resource, ListQuery())) == {"resource"}


# -- whatever the answer is -------------------------------------------------------------------------------------------

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["data", "id", "name", "error", "errors", "fields", "metrics", "pagination", "next_url"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
READERS = [
    lambda: reads.discover_accounts(),
    lambda: reads.fetch_tree(ACCOUNT),
    lambda: reads.list_entities(ACCOUNT, "ad", ListQuery()),
    lambda: reads.fetch_entity(ACCOUNT, "ad", "1"),
    lambda: reads.fetch_insights(
        ACCOUNT, date(2026, 11, 1), date(2026, 11, 3), None, datetime(2026, 11, 20, tzinfo=UTC)
    ),
    lambda: reads.fetch_catalog_page(ACCOUNT, "funding_instruments", ListQuery()),
    lambda: reads.fetch_catalog_page(ACCOUNT, "post_job:1", ListQuery()),
    lambda: LOGIN.refresh_credentials(APP, OLD_CREDENTIALS, 0),
    lambda: plans.plan_edit(ACCOUNT, "adGroup", "1", Edit({"budget": "5"}, {"genders": ["male"]}), NOW),
    lambda: plans.plan_delete(ACCOUNT, "ad", "1"),
]


@given(st.sampled_from(READERS), ANYTHING, st.sampled_from([200, 201, 400, 401, 404, 429, 500]))
def test_readers_raise_only_errors_of_ours(reader: Any, body: Any, status: int) -> None:
    answer = make_response(body, status)
    with suppress(AdsunifyError):
        run_flow(reader(), lambda request: answer)


def test_an_unknown_kind() -> None:
    with pytest.raises(InvalidInput):
        run(reads.fetch_entity(ACCOUNT, "keyword", "1"))
