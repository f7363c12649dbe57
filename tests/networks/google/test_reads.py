"""What is read from Google Ads: queries, pages, reports, catalogs, connecting."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from attrs import evolve

from adsunify.adapter.hierarchy import ListQuery
from adsunify.adapter.oauth import AuthorizationCodeLogin, Credentials
from adsunify.errors import (
    PermissionRefused,
    ProviderError,
    ProviderNotFound,
    TokenRefused,
)
from adsunify.http.messages import Request, Response
from adsunify.networks.google import native, reads, tables

from .calls import (
    ACCOUNT,
    AD,
    APP,
    CAMPAIGN,
    ROOT,
    find_flow_issues,
    make_error_response,
    make_rows,
    read_queries,
    run,
)

LOGIN = AuthorizationCodeLogin(tables.NETWORK, native.LOGIN)

NORWAY = {"type": "LOCATION", "criterionId": "2578", "location": {"geoTargetConstant": "geoTargetConstants/2578"}}


# -- the hierarchy ------------------------------------------------------------------------------------------------


def test_a_list_is_paged_by_the_last_id() -> None:
    page, requests = run(reads.list_entities(ACCOUNT, "campaign", ListQuery(limit=1, cursor="7")), make_rows(CAMPAIGN))
    assert read_queries(requests)[0].endswith(
        " FROM campaign WHERE campaign.status != 'REMOVED' AND campaign.id > 7 ORDER BY campaign.id LIMIT 1"
    )
    assert (page.cursor, [(entity.id, entity.status, entity.parent_id) for entity in page.entities]) == (
        "88001",
        [("88001", "paused", None)],
    )
    page, _ = run(reads.list_entities(ACCOUNT, "campaign", ListQuery(limit=2)), make_rows(CAMPAIGN))
    assert page.cursor is None


def test_filters_are_allow_listed_and_texts_escaped() -> None:
    list_query = ListQuery(limit=5, parent_id="88001", status="PAUSED", search="50% 'o_f[f]\\")
    _, requests = run(reads.list_entities(ACCOUNT, "adGroup", list_query), {"fieldMask": ""})
    assert read_queries(requests)[0].endswith(
        " FROM ad_group WHERE campaign.id = 88001 AND ad_group.status = 'PAUSED'"
        " AND ad_group.name LIKE '%50[%] \\'o[_]f[[]f[]]\\\\%' ORDER BY ad_group.id LIMIT 5"
    )

    def list_groups(query: ListQuery) -> Any:
        return run(reads.list_entities(ACCOUNT, "adGroup", query))

    for wrong in (
        ListQuery(parent_id="1 OR 1=1"),
        ListQuery(status="PAUSED' OR '"),
        ListQuery(cursor="1; x"),
        ListQuery(search="a\nb"),
    ):
        assert find_flow_issues(partial(list_groups, wrong))
    assert find_flow_issues(lambda: run(reads.list_entities(ACCOUNT, "campaign", ListQuery(parent_id="1")))) == [
        ("parentId", "not_supported")
    ]


def make_ad(number: int, headline: str) -> dict[str, Any]:
    texts = {"headlines": [{"text": headline}]}
    return {"adGroupAd": {"resourceName": f"{ROOT}/adGroupAds/99001~{number}", "ad": {"responsiveSearchAd": texts}}}


def test_ads_are_searched_on_our_side_page_by_page() -> None:
    pages = [
        make_rows(make_ad(1, "Chair"), make_ad(2, "Table")),
        make_rows(make_ad(3, "Lamp"), make_ad(4, "Red chair")),
    ]
    query = ListQuery(limit=2, parent_id="99001", search="CHAIR")
    first, _ = run(reads.list_entities(ACCOUNT, "ad", query), pages[0])
    assert ([entity.id for entity in first.entities], first.cursor) == (["99001~1"], "2")
    second, requests = run(reads.list_entities(ACCOUNT, "ad", evolve(query, search="red")), pages[0], pages[1])
    assert ([(entity.id, entity.parent_id, entity.name) for entity in second.entities], second.cursor) == (
        [("99001~4", "99001", None)],
        "4",
    )
    assert "ad_group_ad.ad.id > 2 ORDER BY ad_group_ad.ad.id LIMIT 2" in read_queries(requests)[1]
    none, requests = run(reads.list_entities(ACCOUNT, "ad", evolve(query, search="x")), *[pages[0]] * 20)
    assert (none.entities, none.cursor) == ((), "2")


def test_one_entity_is_asked_for_by_its_numbers() -> None:
    entity, requests = run(reads.fetch_entity(ACCOUNT, "ad", "99001~61001"), make_rows(AD))
    assert read_queries(requests)[0].endswith(
        " FROM ad_group_ad WHERE ad_group.id = 99001 AND ad_group_ad.ad.id = 61001"
    )
    assert (entity.id, entity.parent_id, entity.status) == ("99001~61001", "99001", "active")
    with pytest.raises(ProviderNotFound):
        run(reads.fetch_entity(ACCOUNT, "campaign", "1"), {"fieldMask": ""})


def test_the_tree_is_parents_first_without_what_is_removed() -> None:
    group = {"adGroup": {"id": "99001", "name": "G", "status": "ENABLED", "campaign": f"{ROOT}/campaigns/88001"}}
    orphan = {"adGroup": {"id": "99002", "campaign": f"{ROOT}/campaigns/1"}}
    keyword = {"resourceName": f"{ROOT}/adGroupCriteria/99001~1", "status": "PAUSED", "keyword": {"text": "chair"}}
    removed = {"resourceName": f"{ROOT}/adGroupCriteria/99001~2", "status": "REMOVED"}
    keywords = make_rows({"adGroupCriterion": keyword}, {"adGroupCriterion": removed})
    places = make_rows({"campaignCriterion": NORWAY | {"resourceName": f"{ROOT}/campaignCriteria/88001~2578"}})
    second = Response(200, {}, make_rows(AD))
    answers = (make_rows(CAMPAIGN), make_rows(group, orphan), make_rows(nextPageToken="t"), second, keywords, places)
    tree, requests = run(reads.fetch_tree(ACCOUNT), *answers)
    assert [(node.kind, node.id, node.parent_id, node.name) for node in tree.nodes] == [
        ("campaign", "88001", None, "Garden chairs autumn"),
        ("adGroup", "99001", "88001", "G"),
        ("ad", "99001~61001", "99001", None),
        ("keyword", "99001~1", "99001", "chair"),
    ]
    assert tree.nodes[0].native["campaignCriteria"][0]["criterionId"] == "2578"
    assert requests[3].body == {"query": requests[2].body["query"], "pageToken": "t"}


# -- insights -----------------------------------------------------------------------------------------------------

MASK = (
    "segments.date,customer.currencyCode,metrics.impressions,metrics.clicks,metrics.costMicros,metrics.conversions,"
    "metrics.conversionsValue,metrics.videoTrueviewViews"
)
LATER = datetime(2027, 3, 1, 12, tzinfo=UTC)


def make_days(*rows: Mapping[str, Any], mask: str = MASK, **more: Any) -> dict[str, Any]:
    return {"results": list(rows), "fieldMask": mask, **more}


def test_figures_that_were_selected_and_left_out_are_zero() -> None:
    metrics = {"impressions": "120", "costMicros": "4500001", "conversions": Decimal("1.5")}
    answer = make_days({"segments": {"date": "2027-01-02"}, "metrics": metrics})
    flow = reads.fetch_insights(ACCOUNT, date(2027, 1, 1), date(2027, 1, 3), None, LATER)
    insights, requests = run(flow, answer)
    assert read_queries(requests)[0].endswith(
        " FROM customer WHERE segments.date BETWEEN '2027-01-01' AND '2027-01-03' ORDER BY segments.date"
    )
    (row,) = insights.rows
    assert (row.impressions, row.clicks, row.spend, row.conversions) == (120, 0, "4.500001", "1.5")
    assert (row.conversion_value, row.video_views, row.reach) == ("0", 0, None)
    assert (insights.coverage.is_complete, insights.coverage.missing_ranges) == (True, ())


def test_a_figure_that_was_not_selected_is_not_zero() -> None:
    answer = make_days({"segments": {"date": "2027-01-02"}, "metrics": {}}, mask="segments.date,metrics.clicks")
    insights, _ = run(reads.fetch_insights(ACCOUNT, date(2027, 1, 2), date(2027, 1, 2), None, LATER), answer)
    assert (insights.rows[0].impressions, insights.rows[0].clicks) == (None, 0)


def test_the_days_of_the_longest_conversion_window_are_provisional() -> None:
    """A conversion counts on the day of its click, which may be 90 days before."""
    flow = reads.fetch_insights(ACCOUNT, date(2024, 2, 1), date(2027, 2, 28), None, LATER)
    insights, requests = run(flow, make_days(nextPageToken="t"), make_days())
    assert "BETWEEN '2024-02-01'" in read_queries(requests)[0]
    assert (insights.coverage.is_complete, insights.coverage.provisional_from) == (
        True,
        LATER.date() - timedelta(days=90),
    )
    assert insights.totals.impressions is None


# -- catalogs -----------------------------------------------------------------------------------------------------


def test_geo_targets_are_suggested_for_a_text() -> None:
    place = {"geoTargetConstant": {"id": "1010826", "canonicalName": "Bergen,Norway"}}
    answer = {"geoTargetConstantSuggestions": [place]}
    page, (request,) = run(reads.fetch_catalog_page(ACCOUNT, "geo_targets:new_york", ListQuery()), answer)
    assert request.body == {"locale": "en", "locationNames": {"names": ["new york"]}}
    assert [(row.id, row.name) for row in page.rows] == [("1010826", "Bergen,Norway")]
    assert find_flow_issues(lambda: run(reads.fetch_catalog_page(ACCOUNT, "geo_targets", ListQuery()))) == [
        ("resource", "catalog_suffix")
    ]


def test_catalogs_that_are_queries_follow_the_page_token() -> None:
    row = {"currencyConstant": {"code": "USD", "name": "US Dollar"}}
    page, (request,) = run(
        reads.fetch_catalog_page(ACCOUNT, "currencies", ListQuery(cursor="t")), make_rows(row, nextPageToken="u")
    )
    assert request.body["pageToken"] == "t"
    assert ([(row.id, row.name) for row in page.rows], page.cursor) == ([("USD", "US Dollar")], "u")


# -- connecting ---------------------------------------------------------------------------------------------------


def make_client(id_: str, **more: Any) -> dict[str, Any]:
    own = {"id": id_, "descriptiveName": f"Shop {id_}", "currencyCode": "USD", "timeZone": "Europe/Oslo"}
    return {"customerClient": own | {"status": "ENABLED"} | more}


def test_accounts_are_kept_under_their_own_root_where_they_have_one() -> None:
    unit = make_rows({"currencyConstant": {"code": "USD", "billableUnitMicros": "10000"}})
    closed = make_error_response(
        403, {"errorCode": {"authorizationError": "CUSTOMER_NOT_ENABLED"}, "message": "Closed."}
    )
    accounts, requests = run(
        reads.discover_accounts(),
        {"resourceNames": ["customers/9", "customers/8", "customers/5"]},
        make_rows(
            make_client("9", manager=True), make_client("5"), make_client("6", testAccount=True, currencyCode="x'y")
        ),
        closed,
        make_rows(make_client("5")),
        unit,
    )
    assert [(account.native_id, dict(account.extras)) for account in accounts] == [
        ("5", {"loginCustomerId": "5", "testAccount": "false", "billableUnitMicros": "10000"}),
        ("6", {"loginCustomerId": "9", "testAccount": "true"}),
    ]
    assert "login-customer-id" not in requests[0].headers
    assert [request.headers["login-customer-id"] for request in requests[1:]] == ["9", "8", "5", "5"]


def test_another_refusal_of_a_root_is_told() -> None:
    code = {"authorizationError": "CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION"}
    with pytest.raises(PermissionRefused, match="test accounts only"):
        run(
            reads.discover_accounts(), {"resourceNames": ["customers/9"]}, make_error_response(403, {"errorCode": code})
        )


def test_consent_and_tokens() -> None:
    query = parse_qs(urlsplit(LOGIN.build_authorization_url(APP, "https://ads.example/cb", "s", "v" * 50)).query)
    assert (query["access_type"], query["prompt"], query["code_challenge_method"]) == (
        ["offline"],
        ["consent"],
        ["S256"],
    )
    tokens = {"access_token": "at", "expires_in": 3599, "refresh_token": "rt", "token_type": "Bearer"}
    credentials, (token_request,) = run(
        LOGIN.fetch_credentials(APP, "https://ads.example/cb", {"code": "c"}, "v" * 50, 1000), tokens
    )
    assert (credentials.refresh_token, credentials.expires_at) == ("rt", 3_600_000)
    assert (token_request.kind, token_request.is_signed, token_request.body["code_verifier"]) == (
        "read_once",
        False,
        "v" * 50,
    )
    renewed, _ = run(LOGIN.refresh_credentials(APP, credentials, 0), {"access_token": "new", "expires_in": 3599})
    assert (renewed.access_token, renewed.refresh_token) == ("new", "rt")
    with pytest.raises(TokenRefused):
        run(LOGIN.refresh_credentials(APP, credentials, 0), Response(400, {}, {"error": "invalid_grant"}))


def test_the_refresh_token_is_revoked() -> None:
    credentials = Credentials("at", "rt")
    _, requests = run(LOGIN.revoke_credentials(APP, credentials), Response(200, {}, None, "empty"))
    assert requests[0].body == {"token": "rt"}
    with pytest.raises(ProviderError):
        run(LOGIN.revoke_credentials(APP, credentials), Response(503, {}, {}))


def test_credentials_go_to_google_only() -> None:
    credentials = Credentials("at")

    def sign_headers(url: str) -> Mapping[str, str]:
        return LOGIN.sign_request(Request("GET", url), credentials, APP, 0, "n").headers

    assert sign_headers("https://googleads.googleapis.com/v26/x") == {"Authorization": "Bearer at"}
    assert sign_headers("https://googleads.googleapis.com.example/v26/x") == {}
    assert sign_headers("http://googleads.googleapis.com/v26/x") == {}
