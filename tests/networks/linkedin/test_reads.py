"""Reading from LinkedIn: connecting, Rest.li lists, the hierarchy, reports, catalogs."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from adsunify.adapter.flows import run_flow
from adsunify.adapter.hierarchy import ListQuery
from adsunify.adapter.oauth import AuthorizationCodeLogin, Credentials, OAuthClient
from adsunify.errors import InvalidInput, ProviderError, ProviderUnreadable, TokenRefused
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.networks.linkedin import native, reads, tables
from tests.networks.calls import refuse_request, round_trip_json

from .calls import ACCOUNT, CAMPAIGN, GROUP, HEADERS, HOST, make_responder

LOGIN = AuthorizationCodeLogin(tables.NETWORK, native.LOGIN)

APP = OAuthClient("client", "secret")
OWN = f"{HOST}/adAccounts/518121035"
LIVE = "List(ACTIVE,PAUSED,DRAFT)"
CREATIVE = {
    "id": "urn:li:sponsoredCreative:91",
    "campaign": "urn:li:sponsoredCampaign:880011",
    "intendedStatus": "DRAFT",
    "name": "Autumn",
}


# -- connecting ---------------------------------------------------------------------------------------------------


def test_the_consent_page_names_scopes_with_blanks_and_no_challenge() -> None:
    url = LOGIN.build_authorization_url(APP, "https://ads.example/callback", "state", "verifier")
    assert url.startswith("https://www.linkedin.com/oauth/v2/authorization?")
    assert "response_type=code" in url and "client_id=client" in url
    assert "scope=rw_ads%20r_ads_reporting%20r_organization_social" in url and "challenge" not in url


def test_a_code_becomes_a_token_with_or_without_a_refresh_token() -> None:
    requests: list[Request] = []
    answers: dict[str, Any] = {"https://www.linkedin.com/oauth/v2/accessToken": {"access_token": "a", "expires_in": 60}}
    flow = LOGIN.fetch_credentials(APP, "https://ads.example/callback", {"code": "c"}, "", 1_000)
    credentials = run_flow(flow, make_responder(answers, requests))
    assert (credentials.access_token, credentials.refresh_token, credentials.expires_at) == ("a", None, 61_000)
    assert requests[0].kind == "read_once" and not requests[0].is_signed
    assert set(requests[0].body) == {"grant_type", "code", "redirect_uri", "client_id", "client_secret"}
    assert run_flow(LOGIN.refresh_credentials(APP, credentials, 1_000), refuse_request) == credentials
    refreshed = run_flow(LOGIN.refresh_credentials(APP, Credentials("old", "r"), 1_000), make_responder(answers))
    assert (refreshed.access_token, refreshed.refresh_token) == ("a", "r")


def test_a_refused_refresh_blames_the_token() -> None:
    error_response = Response(400, {}, {"error": "invalid_grant", "error_description": "expired"})
    answers = {"https://www.linkedin.com/oauth/v2/accessToken": error_response}
    with pytest.raises(TokenRefused):
        run_flow(LOGIN.refresh_credentials(APP, Credentials("old", "r"), 0), make_responder(answers))
    with pytest.raises(InvalidInput, match="user_cancelled_login"):
        run_flow(LOGIN.fetch_credentials(APP, "", {"error": "user_cancelled_login"}, "", 0), refuse_request)


def test_both_tokens_are_revoked_whatever_becomes_of_the_first() -> None:
    revoked_tokens: list[str] = []

    def answer(request: Request) -> Response:
        revoked_tokens.append(request.body["token"])
        if len(revoked_tokens) == 1:
            raise ProviderError("gone")
        return Response(200, {}, None, "empty")

    with pytest.raises(ProviderError, match="gone"):
        run_flow(LOGIN.revoke_credentials(APP, Credentials("a", "r")), answer)
    assert revoked_tokens == ["r", "a"]


def test_only_linkedins_hosts_get_the_token() -> None:
    signed = LOGIN.sign_request(Request("GET", f"{HOST}/adAccounts", headers=HEADERS), Credentials("t"), APP, 0, "")
    assert signed.headers == {**HEADERS, "Authorization": "Bearer t"}
    assert (
        "Authorization"
        not in LOGIN.sign_request(Request("GET", "https://x.example/"), Credentials("t"), APP, 0, "").headers
    )


# -- accounts and entities ----------------------------------------------------------------------------------------


def test_accounts_of_all_pages() -> None:
    first = {
        "elements": [
            {"id": 1, "name": "A", "currency": "EUR", "status": "ACTIVE", "reference": "urn:li:organization:4"}
        ],
        "metadata": {"nextPageToken": "a(b),c"},
    }
    second = {"elements": [{"id": 2, "name": "B", "currency": "USD", "status": "CANCELED", "type": "ENTERPRISE"}]}
    url, requests = f"{HOST}/adAccounts?q=search&pageSize=500", list[Request]()
    accounts = run_flow(
        reads.discover_accounts(), make_responder({url: first, f"{url}&pageToken=a%28b%29%2Cc": second}, requests)
    )
    assert [
        (account.native_id, account.currency, account.timezone, account.native_status, dict(account.extras))
        for account in accounts
    ] == [
        ("1", "EUR", "UTC", "ACTIVE", {"reference": "urn:li:organization:4"}),
        ("2", "USD", "UTC", "CANCELED", {"type": "ENTERPRISE"}),
    ]
    assert all(request.headers == HEADERS for request in requests)


def test_the_tree_asks_for_creatives_by_twenty_campaigns() -> None:
    campaigns = [{**CAMPAIGN, "id": number} for number in range(880011, 880011 + 21)]
    requests: list[Request] = []

    def answer(request: Request) -> Response:
        requests.append(request)
        kind = request.url.rpartition("/")[2]
        if kind == "creatives":
            return Response(200, {}, round_trip_json({"elements": [CREATIVE] if len(requests) == 3 else []}))
        return Response(200, {}, round_trip_json({"elements": [GROUP] if kind == "adCampaignGroups" else campaigns}))

    tree = run_flow(reads.fetch_tree(ACCOUNT), answer)
    assert build_request_url(requests[0]) == (
        f"{OWN}/adCampaignGroups?q=search&search=(status:(values:{LIVE}))&pageSize=1000&sortOrder=ASCENDING"
    )
    assert build_request_url(requests[3]) == (
        f"{OWN}/creatives?q=criteria&campaigns=List(urn%3Ali%3AsponsoredCampaign%3A880031)"
        f"&intendedStatuses={LIVE}&pageSize=100&sortOrder=ASCENDING"
    )
    assert requests[3].headers == {**HEADERS, "X-RestLi-Method": "FINDER"}
    assert max(len(build_request_url(request)) for request in requests) < 4_000
    nodes = {node.kind: (node.id, node.parent_id, node.status) for node in tree.nodes if node.id != "880012"}
    assert nodes["campaign"] == ("7021", None, "active")
    assert nodes["ad"] == ("urn:li:sponsoredCreative:91", "880011", "paused")
    assert len(tree.nodes) == 1 + 21 + 1


def test_a_list_is_filtered_by_parent_and_status_and_searched_here() -> None:
    url = (
        f"{OWN}/adCampaigns?q=search&search=(campaignGroup:(values:List(urn%3Ali%3AsponsoredCampaignGroup%3A7021)),"
        "status:(values:List(PAUSED)))&pageSize=25&pageToken=next%3A1&sortOrder=ASCENDING"
    )
    body = {"elements": [CAMPAIGN, {**CAMPAIGN, "id": 5, "name": "Tea"}], "metadata": {"nextPageToken": "p"}}
    query = ListQuery(25, "next:1", "7021", "PAUSED", "WEBINAR")
    page = run_flow(reads.list_entities(ACCOUNT, "adGroup", query), make_responder({url: body}))
    assert ([entity.id for entity in page.entities], page.cursor) == (["880011"], "p")


def test_a_list_without_elements_is_unreadable() -> None:
    with pytest.raises(ProviderUnreadable):
        run_flow(reads.list_entities(ACCOUNT, "campaign", ListQuery()), lambda request: Response(200, {}, {}))


@pytest.mark.parametrize("entity_id", ["91", "urn:li:sponsoredCreative:91"])
def test_one_creative_by_number_or_urn(entity_id: str) -> None:
    answers = {f"{OWN}/creatives/urn%3Ali%3AsponsoredCreative%3A91": CREATIVE}
    entity = run_flow(reads.fetch_entity(ACCOUNT, "ad", entity_id), make_responder(answers))
    assert (entity.id, entity.parent_id, entity.native_status) == ("urn:li:sponsoredCreative:91", "880011", "DRAFT")


# -- insights -----------------------------------------------------------------------------------------------------

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
FIELDS = (
    "dateRange,pivotValues,impressions,clicks,costInLocalCurrency,externalWebsiteConversions,"
    "conversionValueInLocalCurrency,videoViews"
)


def make_report_url(start: str, end: str, fields: str) -> str:
    days = ",".join(
        f"{name}:(year:{bound.year},month:{bound.month},day:{bound.day})"
        for name, bound in (("start", date.fromisoformat(start)), ("end", date.fromisoformat(end)))
    )
    return (
        f"{HOST}/adAnalytics?q=analytics&pivot=ACCOUNT&timeGranularity=DAILY&dateRange=({days})"
        f"&accounts=List(urn%3Ali%3AsponsoredAccount%3A518121035)&fields={fields}"
    )


def make_row(year: int, month: int, day: int, **figures: Any) -> dict[str, Any]:
    return {"dateRange": {"start": {"year": year, "month": month, "day": day}}, **figures}


def test_a_report_is_exact_and_silent_where_linkedin_is() -> None:
    rows = [make_row(2026, 10, 2, impressions=1200, clicks=14, costInLocalCurrency="20.130000000000000782")]
    url = make_report_url("2026-10-01", "2026-10-31", f"{FIELDS},approximateMemberReach")
    flow = reads.fetch_insights(ACCOUNT, date(2026, 10, 1), date(2026, 10, 31), None, NOW)
    insights = run_flow(flow, make_responder({url: {"elements": rows}}))
    assert [row.to_json() for row in insights.rows] == [
        {
            "date": "2026-10-02",
            "impressions": 1200,
            "clicks": 14,
            "spend": "20.13",
            "conversions": None,
            "conversionValue": None,
            "videoViews": None,
            "reach": None,
        }
    ]
    assert (insights.coverage.is_complete, insights.coverage.timezone, insights.pending) == (False, "UTC", None)


def test_reach_is_left_out_of_long_ranges_and_days_without_activity_are_missing() -> None:
    url = make_report_url("2026-04-01", "2026-10-31", FIELDS)
    flow = reads.fetch_insights(ACCOUNT, date(2026, 4, 1), date(2026, 10, 31), None, NOW)
    insights = run_flow(flow, make_responder({url: {"elements": [make_row(2026, 4, 1, impressions=1)]}}))
    assert not insights.coverage.is_complete and insights.totals.impressions is None
    assert [gap.to_json() for gap in insights.coverage.missing_ranges] == [
        {"startDate": "2026-04-02", "endDate": "2026-10-31"}
    ]


def test_an_answer_that_was_cut_off_is_not_complete() -> None:
    url = make_report_url("2026-10-01", "2026-10-31", f"{FIELDS},approximateMemberReach")
    flow = reads.fetch_insights(ACCOUNT, date(2026, 10, 1), date(2026, 10, 31), None, NOW)
    insights = run_flow(flow, make_responder({url: {"elements": [make_row(2026, 10, 1, impressions=1)] * 15_000}}))
    assert not insights.coverage.is_complete


@pytest.mark.parametrize("start", [{}, {"year": 2026, "month": 13, "day": 1}, {"year": True, "month": 1, "day": 1}])
def test_a_row_without_a_day_is_unreadable(start: Any) -> None:
    flow = reads.fetch_insights(ACCOUNT, date(2026, 10, 1), date(2026, 10, 2), None, NOW)
    with pytest.raises(ProviderUnreadable):
        run_flow(flow, lambda request: Response(200, {}, {"elements": [{"dateRange": {"start": start}}]}))


# -- catalogs -----------------------------------------------------------------------------------------------------


def test_a_typeahead_needs_its_text() -> None:
    url = (
        f"{HOST}/adTargetingEntities?q=typeahead&facet=urn%3Ali%3AadTargetingFacet%3Alocations"
        "&query=new%20york%2C%20us&queryVersion=QUERY_USES_URNS"
    )
    answers = {url: {"elements": [{"urn": "urn:li:geo:1", "name": "New York"}]}}
    flow = reads.fetch_catalog_page(ACCOUNT, "typeahead:locations", ListQuery(search="new york, us"))
    assert [row.id for row in run_flow(flow, make_responder(answers)).rows] == ["urn:li:geo:1"]
    with pytest.raises(InvalidInput) as refusal:
        run_flow(reads.fetch_catalog_page(ACCOUNT, "typeahead:locations", ListQuery()), refuse_request)
    assert refusal.value.issues[0].path == "search"


def test_pages_by_offset_end_where_the_list_does() -> None:
    url = f"{HOST}/posts?q=author&author=urn%3Ali%3Aorganization%3A7700123&count=2&start={{}}&sortBy=LAST_MODIFIED"
    full = {"elements": [{"id": "urn:li:share:1"}, {"id": "urn:li:share:2"}], "paging": {"start": 0, "count": 2}}
    last = {"elements": [{"id": "urn:li:share:3"}], "paging": {"start": 2, "count": 2}}
    answer = make_responder({url.format(0): full, url.format(2): last})
    first = run_flow(reads.fetch_catalog_page(ACCOUNT, "posts:7700123", ListQuery(limit=2)), answer)
    assert first.cursor == "2"
    assert (
        run_flow(reads.fetch_catalog_page(ACCOUNT, "posts:7700123", ListQuery(limit=2, cursor="2")), answer).cursor
        is None
    )
