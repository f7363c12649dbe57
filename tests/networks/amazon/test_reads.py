"""The Amazon Ads adapter: preflight, connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adsunify.adapter.account import Account
from adsunify.adapter.flows import completed_flow, run_flow
from adsunify.adapter.hierarchy import ListQuery
from adsunify.adapter.oauth import AuthorizationCodeLogin, Credentials, OAuthClient
from adsunify.errors import (
    AdsunifyError,
    InvalidInput,
    PermissionRefused,
    ProviderError,
    ProviderNotFound,
    ProviderUnreadable,
)
from adsunify.execution.outcomes import Ambiguous, Applied, Rejected, Throttled, classify_write
from adsunify.http.messages import Request, Response
from adsunify.models.brief import read_brief
from adsunify.networks.amazon import native, plans, reads, tables
from adsunify.networks.amazon.native import MARKETPLACES
from adsunify.networks.amazon.tables import NETWORK
from adsunify.networks.registry import get_adapter
from adsunify.planning import plan
from adsunify.plans.binding import fill_bindings
from adsunify.values.exact_json import dumps, dumps_canonical
from tests.networks.calls import make_responder, refuse_request

from .calls import BRIEF, CAMPAIGN, HOST, NOW, PLAIN, SELLER, VENDOR, make_brief, make_plan

LOGIN = AuthorizationCodeLogin(tables.NETWORK, native.LOGIN)
TOKENS = "POST https://api.amazon.com/auth/o2/token"

# -- preflight ----------------------------------------------------------------------------------------------------


def run_preflight(products: Any, overall: str = "ELIGIBLE", **changes: Any) -> tuple[Any, list[Request]]:
    requests: list[Request] = []
    answers = {
        f"POST {HOST}/product/metadata": {"ProductMetadataList": products},
        f"POST {HOST}/eligibility/product/list": {
            "productResponseList": [
                {
                    "productDetails": {"asin": "B000000001"},
                    "overallStatus": overall,
                    "eligibilityStatusList": [{"name": "OUT_OF_STOCK", "message": "No stock."}],
                }
            ]
        },
    }
    return run_flow(
        plans.preflight(SELLER, read_brief(make_brief(**changes))), make_responder(answers, requests)
    ), requests


def test_preflight_asks_by_asin() -> None:
    (issues, warnings), requests = run_preflight([{"asin": "B000000001", "sku": "SELLER-SKU-1"}])
    assert (issues, warnings) == ([], [])
    assert [request.body for request in requests] == [
        {"adType": "SP", "skus": ["SELLER-SKU-1"], "checkEligibility": True, "pageIndex": 0, "pageSize": 1},
        {"adType": "sp", "productDetailsList": [{"asin": "B000000001", "sku": "SELLER-SKU-1"}]},
    ]
    assert requests[0].headers["Accept"] == "application/vnd.productmetadataresponse.v1+json"
    _, requests = run_preflight([], platform={"asin": "B000000001"})
    assert [request.body for request in requests] == [{"adType": "sp", "productDetailsList": [{"asin": "B000000001"}]}]


def test_preflight_refuses_and_warns() -> None:
    (issues, _), _ = run_preflight([])
    assert [issue.path for issue in issues] == ["platform.sku"]
    products = [{"asin": "B000000001"}]
    (issues, _), _ = run_preflight(products, "INELIGIBLE")
    assert "No stock." in issues[0].message
    (issues, warnings), _ = run_preflight(products, "ELIGIBLE_WITH_WARNING")
    assert not issues
    assert "No stock." in warnings[0]


# -- connecting ---------------------------------------------------------------------------------------------------


def test_consent_and_tokens() -> None:
    app = OAuthClient("client", "secret")
    url = LOGIN.build_authorization_url(app, "https://me.example/back", "state", "v" * 43)
    assert url.startswith("https://www.amazon.com/ap/oa?client_id=client&")
    assert "&scope=advertising%3A%3Acampaign_management" in url
    assert "code_challenge_method=S256" in url
    requests: list[Request] = []
    token = {"access_token": "Atza|new", "token_type": "bearer", "expires_in": 3600, "refresh_token": "Atzr|1"}
    answer = make_responder({TOKENS: token}, requests)
    credentials = run_flow(
        LOGIN.fetch_credentials(app, "https://me.example/back", {"code": "c"}, "v" * 43, 1000), answer
    )
    assert credentials == Credentials("Atza|new", "Atzr|1", 3_601_000)
    assert requests[0].body["code_verifier"] == "v" * 43
    assert (requests[0].encoding, requests[0].kind, requests[0].is_signed) == ("form", "read_once", False)
    assert run_flow(LOGIN.refresh_credentials(app, credentials, 0), answer).refresh_token == "Atzr|1"
    assert requests[1].body["grant_type"] == "refresh_token"
    with pytest.raises(InvalidInput, match="denied"):
        run_flow(LOGIN.fetch_credentials(app, "", {"error_description": "denied"}, "v", 0), refuse_request)
    for code, kind in (("invalid_grant", "TokenRefused"), ("invalid_client", "PermissionRefused")):
        error_response = Response(400, {}, {"error": code, "error_description": "No."})
        with pytest.raises(ProviderError) as refusal:
            run_flow(LOGIN.refresh_credentials(app, credentials, 0), make_responder({TOKENS: error_response}))
        assert type(refusal.value).__name__ == kind
    assert run_flow(LOGIN.revoke_credentials(app, credentials), refuse_request) is None


def test_credentials_go_to_amazon_only() -> None:
    app, credentials = OAuthClient("client", "secret"), Credentials("Atza|1")
    own = LOGIN.sign_request(Request("GET", f"{HOST}/v2/profiles"), credentials, app, 0, "")
    assert own.headers == {
        "Amazon-Advertising-API-ClientId": "client",
        "Authorization": "Bearer Atza|1",
    }
    for url, signed in ((f"{HOST}/x", False), ("https://files.example/x", True), ("http://" + HOST[8:], True)):
        request = Request("GET", url, is_signed=signed)
        assert LOGIN.sign_request(request, credentials, app, 0, "") == request


def test_profiles_of_three_regions() -> None:
    profile = {
        "profileId": 9007199254740993,
        "countryCode": "DE",
        "currencyCode": "EUR",
        "timezone": "Europe/Paris",
        "accountInfo": {"id": "A1", "type": "seller"},
    }
    author = profile | {
        "profileId": 2,
        "accountInfo": {
            "id": "A2",
            "type": "vendor",
            "subType": "KDP_AUTHOR",
            "name": "Ann",
            "validPaymentMethod": False,
        },
    }
    agency = profile | {"profileId": 3, "accountInfo": {"id": "A3", "type": "agency"}}
    requests: list[Request] = []
    query = "/v2/profiles?profileTypeFilter=seller%2Cvendor"
    answers = {
        f"GET {HOST}{query}": [],
        f"GET https://advertising-api-eu.amazon.com{query}": [profile, author, agency],
        f"GET https://advertising-api-fe.amazon.com{query}": [],
    }
    accounts = run_flow(reads.discover_accounts(), make_responder(answers, requests))
    assert [(account.native_id, account.name, account.native_status, account.extras) for account in accounts] == [
        ("9007199254740993", "A1 DE", None, {"region": "EU", "accountType": "seller", "countryCode": "DE"}),
        ("2", "Ann", "payment problem", {"region": "EU", "accountType": "vendor", "countryCode": "DE"}),
    ]
    assert all("Amazon-Advertising-API-Scope" not in request.headers for request in requests)


# -- the hierarchy ------------------------------------------------------------------------------------------------


def test_the_tree_reads_all_pages() -> None:
    def list_campaigns(request: Request) -> Any:
        if "nextToken" in request.body:
            return {"campaigns": [CAMPAIGN | {"campaignId": "12", "state": "ENABLING"}]}
        return {"campaigns": [CAMPAIGN], "nextToken": "more"}

    answers = {
        f"POST {HOST}/sp/campaigns/list": list_campaigns,
        f"POST {HOST}/sp/adGroups/list": {"adGroups": [{"adGroupId": "2", "campaignId": "11", "name": "g"}]},
        f"POST {HOST}/sp/productAds/list": {"productAds": [{"adId": "3", "adGroupId": "2", "state": "PAUSED"}]},
        f"POST {HOST}/sp/keywords/list": {
            "keywords": [{"keywordId": 4, "adGroupId": "2", "keywordText": "stove", "state": "OTHER"}]
        },
    }
    requests: list[Request] = []
    nodes = run_flow(reads.fetch_tree(SELLER), make_responder(answers, requests)).nodes
    assert [(node.kind, node.id, node.parent_id, node.name, node.status) for node in nodes] == [
        ("campaign", "11", None, "Old", "active"),
        ("campaign", "12", None, "Old", "active"),
        ("adGroup", "2", "11", "g", None),
        ("ad", "3", "2", None, "paused"),
        ("keyword", "4", "2", "stove", None),
    ]
    assert requests[1].body == {"stateFilter": {"include": ["ENABLED", "PAUSED"]}, "nextToken": "more"}
    assert {request.kind for request in requests} == {"read"}


def test_lists_filter_natively() -> None:
    requests: list[Request] = []
    answer = make_responder({f"POST {HOST}/sp/adGroups/list": {"adGroups": [], "nextToken": "t2"}}, requests)
    query = ListQuery(limit=20, cursor="t1", parent_id="11", status="ARCHIVED", search="Old")
    assert run_flow(reads.list_entities(SELLER, "adGroup", query), answer).cursor == "t2"
    assert requests[0].body == {
        "stateFilter": {"include": ["ARCHIVED"]},
        "nameFilter": {"queryTermMatchType": "BROAD_MATCH", "include": ["Old"]},
        "campaignIdFilter": {"include": ["11"]},
        "nextToken": "t1",
        "maxResults": 20,
    }
    for kind, query in (
        ("ad", ListQuery(search="x")),
        ("campaign", ListQuery(status="ENABLING")),
        ("campaign", ListQuery(parent_id="1")),
    ):
        with pytest.raises(InvalidInput):
            run_flow(reads.list_entities(SELLER, kind, query), refuse_request)


def test_a_page_that_is_too_small_is_asked_for_again() -> None:
    requests: list[Request] = []

    def list_campaigns(request: Request) -> Any:
        small = request.body["maxResults"] < 10
        return Response(400, {}, {"code": "INVALID_ARGUMENT", "message": "maxResults"}) if small else {"campaigns": []}

    answer = make_responder({f"POST {HOST}/sp/campaigns/list": list_campaigns}, requests)
    assert run_flow(reads.list_entities(SELLER, "campaign", ListQuery(limit=3)), answer).entities == ()
    assert [request.body["maxResults"] for request in requests] == [3, 10]


def test_one_entity() -> None:
    answer = make_responder({f"POST {HOST}/sp/campaigns/list": {"campaigns": [CAMPAIGN | {"state": "ARCHIVED"}]}})
    assert run_flow(reads.fetch_entity(SELLER, "campaign", "11"), answer).status == "archived"
    with pytest.raises(ProviderNotFound):
        run_flow(reads.fetch_entity(SELLER, "campaign", "12"), answer)
    refusal = Response(403, {}, {"message": "Endpoint has been deprecated"})
    with pytest.raises(PermissionRefused, match="deprecated"):
        run_flow(reads.fetch_entity(SELLER, "campaign", "12"), lambda request: refusal)


# -- insights -----------------------------------------------------------------------------------------------------

ROWS = [
    {"date": "2026-11-01", "campaignId": 1, "impressions": 10, "clicks": 1, "cost": Decimal("0.1"), "purchases7d": 1}
    | {"sales7d": Decimal("9.99"), "purchases14d": 2, "sales14d": 20},
    {"date": "2026-11-01", "campaignId": 2, "impressions": 5, "clicks": 0, "cost": Decimal("0.2"), "purchases7d": 0}
    | {"sales7d": 0, "purchases14d": 0, "sales14d": 0},
    {"date": "2026-11-03", "campaignId": 1, "impressions": 1, "clicks": None, "cost": 0, "sales7d": 0},
]
FILE = "https://storage.example/report.json.gz?signature=a%2Fb"


def make_report(day: str, *, file: Any = ROWS, **state: Any) -> dict[str, Any]:
    content = file if isinstance(file, bytes) else gzip.compress(dumps(file).encode())
    states = {"status": "COMPLETED", "url": FILE} | state
    return {
        f"GET {HOST}/reporting/reports/{day}": states,
        f"GET {FILE}": Response(200, {}, content, "bytes"),
    }


def read_insights(answers: Any, job: str | None = "r1", account: Account = SELLER, **days: date) -> Any:
    start, end = days.get("start", date(2026, 11, 1)), days.get("end", date(2026, 11, 15))
    return run_flow(reads.fetch_insights(account, start, end, job, NOW), make_responder(answers))


REPORT_COLUMNS = (
    "date campaignId campaignName campaignStatus impressions clicks cost purchases7d sales7d purchases14d sales14d"
)


def test_a_report_is_asked_for_and_pending() -> None:
    requests: list[Request] = []
    answers = {f"POST {HOST}/reporting/reports": {"reportId": "r1", "status": "PENDING"}}
    insights = run_flow(
        reads.fetch_insights(SELLER, date(2026, 11, 1), date(2026, 11, 15), None, NOW),
        make_responder(answers, requests),
    )
    assert insights.to_json()["pending"] == {"job": "r1", "status": "PENDING", "retryAfterMs": 30000}
    assert requests[0].headers == {
        "Content-Type": "application/vnd.createasyncreportrequest.v3+json",
        "Amazon-Advertising-API-Scope": "1234",
    }
    assert requests[0].body == {
        "name": "insights 2026-11-01..2026-11-15",
        "startDate": "2026-11-01",
        "endDate": "2026-11-15",
        "configuration": {
            "adProduct": "SPONSORED_PRODUCTS",
            "reportTypeId": "spCampaigns",
            "groupBy": ["campaign"],
            "timeUnit": "DAILY",
            "format": "GZIP_JSON",
            "columns": REPORT_COLUMNS.split(),
        },
    }


def test_a_duplicate_report_is_the_first_one() -> None:
    duplicate = Response(425, {}, {"code": "425", "detail": "The Request is a duplicate of : r1"})
    answers = {f"POST {HOST}/reporting/reports": duplicate} | make_report("r1")
    pending = read_insights(answers, None).pending
    assert pending is not None
    assert pending.job == "r1"
    unnamed = Response(425, {}, {"code": "425", "detail": "?"})
    with pytest.raises(ProviderUnreadable):
        read_insights({f"POST {HOST}/reporting/reports": unnamed}, None)


def test_a_finished_report_is_summed_by_day() -> None:
    insights = read_insights(make_report("r1")).to_json()
    assert [(row["date"], row["impressions"], row["clicks"], row["spend"]) for row in insights["rows"]] == [
        ("2026-11-01", 15, 1, "0.3"),
        ("2026-11-03", 1, None, "0"),
    ]
    assert [(row["conversions"], row["conversionValue"]) for row in insights["rows"]] == [("1", "9.99"), (None, "0")]
    assert insights["rows"][0]["videoViews"] is None
    assert set(insights["totals"].values()) == {None}
    assert insights["coverage"]["complete"] is False
    assert {"startDate": "2026-11-02", "endDate": "2026-11-02"} in insights["coverage"]["missing"]
    assert insights["coverage"]["timezone"] == "America/Los_Angeles"
    vendor = read_insights(make_report("r1"), account=VENDOR).to_json()
    assert (vendor["rows"][0]["conversions"], vendor["rows"][0]["conversionValue"]) == ("2", "20")


def test_the_file_is_fetched_without_credentials() -> None:
    requests: list[Request] = []
    run_flow(
        reads.fetch_insights(SELLER, date(2026, 11, 1), date(2026, 11, 2), "r1", NOW),
        make_responder(make_report("r1"), requests),
    )
    assert (requests[1].is_signed, requests[1].response_format, requests[1].headers) == (False, "bytes", {})


@pytest.mark.parametrize(
    "file",
    [
        gzip.compress(b"[]", mtime=0)[:-4],
        gzip.compress(b"[]", mtime=0) + b"more",
        gzip.compress(b"not JSON", mtime=0),
        gzip.compress(b'{"rows": []}', mtime=0),
        gzip.compress(b'[{"date": "soon"}]', mtime=0),
        gzip.compress(b'[{"date": "2026-11-01", "clicks": "many"}]', mtime=0),
        gzip.compress(b"null", mtime=0),
        b"\x1f\x8bdamaged",
        b"<html>",
        gzip.compress(b" " * (64 * 1024 * 1024 + 1), mtime=0),
    ],
)
def test_a_file_that_is_no_report_is_unreadable(file: bytes) -> None:
    with pytest.raises(ProviderUnreadable):
        read_insights(make_report("r1", file=file))


def test_a_file_inflated_on_the_way_is_read_as_it_is() -> None:
    assert read_insights(make_report("r1", file=dumps(ROWS).encode())).rows


@pytest.mark.parametrize("url", ["http://storage.example/x", "", None, 7])
def test_a_file_without_a_safe_address_is_not_fetched(url: Any) -> None:
    with pytest.raises(ProviderUnreadable):
        read_insights(make_report("r1", url=url))


def test_long_ranges_are_several_reports_under_one_job() -> None:
    requests: list[Request] = []
    names: Iterator[int] = iter(range(1, 9))
    answers = {
        f"POST {HOST}/reporting/reports": lambda request: {"reportId": f"r{next(names)}", "status": "PROCESSING"},
        f"GET {HOST}/reporting/reports/r1": {"status": "COMPLETED", "url": FILE},
        f"GET {HOST}/reporting/reports/r2": {"status": "PENDING"},
        f"GET {HOST}/reporting/reports/r3": {"status": "COMPLETED", "url": FILE},
    }
    start, end = date(2026, 8, 17), date(2026, 10, 18)
    first = run_flow(reads.fetch_insights(SELLER, start, end, None, NOW), make_responder(answers, requests))
    assert [(request.body["startDate"], request.body["endDate"]) for request in requests] == [
        ("2026-08-17", "2026-09-16"),
        ("2026-09-17", "2026-10-17"),
        ("2026-10-18", "2026-10-18"),
    ]
    job = first.pending.job if first.pending else ""
    assert job.replace("-", "").replace("_", "").isalnum()
    second = run_flow(reads.fetch_insights(SELLER, start, end, job, NOW), make_responder(answers))
    assert second.to_json()["pending"] == {"job": job, "status": "PENDING", "retryAfterMs": 60000}
    answers[f"GET {HOST}/reporting/reports/r2"] = {"status": "WITHDRAWN", "failureReason": "too large"}
    answers[f"GET {FILE}"] = Response(200, {}, gzip.compress(b"[]"), "bytes")
    last = run_flow(reads.fetch_insights(SELLER, start, end, job, NOW), make_responder(answers)).to_json()
    assert last["pending"] is None
    assert last["coverage"]["complete"] is False
    assert last["coverage"]["missing"] == [{"startDate": "2026-08-17", "endDate": "2026-10-18"}]
    assert any("too large" in note for note in last["coverage"]["notes"])


def test_a_job_resumed_without_its_dates_takes_the_reports_own() -> None:
    today = NOW.date()
    answers = make_report("r1", startDate="2026-11-01", endDate="2026-11-05")
    insights = read_insights(answers, start=today, end=today).to_json()
    assert (insights["coverage"]["startDate"], insights["coverage"]["endDate"]) == ("2026-11-01", "2026-11-05")


NAMES = [
    "index",
    "errors",
    "errorType",
    "errorValue",
    "rangeError",
    "reason",
    "keywordId",
    "campaignId",
    "adId",
    "code",
]
NAMES += ["status", "url", "reportId", "date", "campaigns", "productAds", "accountInfo", "type", "success", "error"]

# -- catalogs and tables ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("resource", "call", "answer", "row"),
    [
        ("profiles", "GET /v2/profiles?profileTypeFilter=seller%2Cvendor", [{"profileId": 1}], ("1", "")),
        (
            "products:B000000001",
            "POST /product/metadata",
            {"ProductMetadataList": [{"asin": "B000000001", "title": "Stove"}]},
            ("B000000001", "Stove"),
        ),
        ("products", "POST /product/metadata", {"ProductInfoList": [{"asin": "B1"}]}, ("B1", "B1")),
        (
            "product_eligibility:B000000001",
            "POST /eligibility/product/list",
            {"productResponseList": [{"productDetails": {"asin": "B1"}, "overallStatus": "ELIGIBLE"}]},
            ("B1", "ELIGIBLE"),
        ),
        (
            "keyword_suggestions:B000000001",
            "POST /sp/targets/keywords/recommendations",
            {"keywordTargetList": [{"keyword": "stove", "bidInfo": [{"matchType": "EXACT", "bid": 75}]}]},
            ("stove", "stove"),
        ),
        ("portfolios", "POST /portfolios/list", {"portfolios": [{"portfolioId": "1", "name": "P"}]}, ("1", "P")),
        (
            "campaign_budget_usage:11",
            "POST /sp/campaigns/budget/usage",
            {"success": [{"campaignId": "11", "budgetUsagePercent": Decimal("12.5")}], "error": []},
            ("11", "12.5"),
        ),
    ],
)
def test_catalogs(resource: str, call: str, answer: Any, row: tuple[str, str]) -> None:
    method, path = call.split(" ")
    page = run_flow(
        reads.fetch_catalog_page(SELLER, resource, ListQuery()), make_responder({f"{method} {HOST}{path}": answer})
    )
    assert [(row.id, row.name) for row in page.rows] == [row]


def test_products_are_searched_and_paged() -> None:
    requests: list[Request] = []
    answer = make_responder(
        {f"POST {HOST}/product/metadata": {"ProductMetadataList": [], "cursorToken": "c2"}}, requests
    )
    page = run_flow(
        reads.fetch_catalog_page(SELLER, "products", ListQuery(limit=20, cursor="c1", search="stove")), answer
    )
    assert page.cursor == "c2"
    assert requests[0].body == {
        "adType": "SP",
        "checkEligibility": True,
        "checkItemDetails": True,
        "pageIndex": 0,
        "pageSize": 20,
        "searchStr": "stove",
        "cursorToken": "c1",
    }


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "x", "2026-11-01", "https://x", "COMPLETED"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
)


@given(body=ODD, status=st.sampled_from([200, 207, 400, 401, 404, 425, 429, 500]))
def test_no_answer_breaks_the_reading(body: Any, status: int) -> None:
    answer = Response(status, {}, body)
    flows: list[Any] = [
        reads.discover_accounts(),
        reads.fetch_tree(SELLER),
        reads.fetch_entity(SELLER, "ad", "5"),
        plans.preflight(SELLER, read_brief(BRIEF)),
    ]
    flows += [
        reads.list_entities(SELLER, "adGroup", ListQuery(limit=3)),
        reads.fetch_catalog_page(SELLER, "products", ListQuery()),
    ]
    flows += [reads.fetch_insights(SELLER, NOW.date(), NOW.date(), job, NOW) for job in (None, "r1")]
    flows += [LOGIN.fetch_credentials(OAuthClient("a", "b"), "", {"code": "c"}, "v", 0)]
    for flow in flows:
        with suppress(AdsunifyError):
            run_flow(flow, lambda request: answer)
    for step in make_plan().steps:
        request = fill_bindings(step, {"campaign": {"id": "11"}, "adGroup": {"id": "22"}})
        for wrapped in (body, {"keywords": body, "campaigns": body}, {"keywords": {"error": body, "success": body}}):
            outcome = classify_write(NETWORK, step, request, Response(status, {}, wrapped))
            assert isinstance(outcome, Ambiguous | Applied | Rejected | Throttled)


def test_the_tables_hang_together() -> None:
    assert get_adapter("amazon").network is NETWORK
    for path in Path("examples/briefs").glob("amazon-*.json"):
        assert plan(read_brief(path.read_bytes()), PLAIN).steps
    for template in NETWORK.templates:
        assert dumps_canonical(dict(template.payload))
    assert run_flow(completed_flow(1), refuse_request) == 1
    assert all(
        Decimal(low) < Decimal(high or "Infinity")
        for marketplace in MARKETPLACES.values()
        for low, high in (marketplace.bid_limits,)
    )
