"""The Pinterest adapter: connecting, the hierarchy, reports, catalogs."""

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
from adsunify.adapter.entity_reports import ReportQuery
from adsunify.adapter.flows import run_flow
from adsunify.adapter.hierarchy import ListQuery
from adsunify.adapter.oauth import AuthorizationCodeLogin, Credentials
from adsunify.errors import (
    AdsunifyError,
    InvalidInput,
    PermissionRefused,
    ProviderError,
    ProviderNotFound,
    ProviderThrottled,
    ProviderUnreadable,
    TokenRefused,
)
from adsunify.http.messages import Request, build_request_url
from adsunify.networks.pinterest import native, plans, reads, reports, tables
from tests.networks.calls import make_response, run

from .calls import ACCOUNT, API, APP, BELOW, NOW, make_error_response, make_page

LOGIN = AuthorizationCodeLogin(tables.NETWORK, native.LOGIN)

BASIC = "Basic MTIzNDphcHAtc2VjcmV0"
TOKENS = {
    "access_token": "pina_new",
    "token_type": "bearer",
    "expires_in": 2592000,
    "scope": "ads:read",
    "response_type": "authorization_code",
    "refresh_token": "pinr_new",
    "refresh_token_expires_in": 5184000,
}
NEW_YORK = evolve(ACCOUNT, timezone="America/New_York")


# -- connecting -------------------------------------------------------------------------------------------------------


def test_consent() -> None:
    address = urlsplit(LOGIN.build_authorization_url(APP, "https://ads.example/back", "s t", "unused"))
    assert f"{address.scheme}://{address.netloc}{address.path}" == "https://www.pinterest.com/oauth/"
    assert {name: values[0] for name, values in parse_qs(address.query).items()} == {
        "client_id": "1234",
        "redirect_uri": "https://ads.example/back",
        "response_type": "code",
        "scope": "ads:read,ads:write,boards:read,boards:write,pins:read,pins:write,user_accounts:read",
        "state": "s t",
    }


def test_a_code_becomes_tokens() -> None:
    credentials, requests = run(
        LOGIN.fetch_credentials(APP, "https://ads.example/back", {"code": "c"}, "", 1000), make_response(TOKENS)
    )
    assert credentials == Credentials("pina_new", "pinr_new", 1000 + 2592000 * 1000)
    (request,) = requests
    assert (request.method, request.url, request.encoding) == ("POST", f"{API}/oauth/token", "form")
    assert request.headers["Authorization"] == BASIC and not request.is_signed
    assert request.body == {
        "grant_type": "authorization_code",
        "code": "c",
        "redirect_uri": "https://ads.example/back",
        "continuous_refresh": "true",
    }


def test_a_consent_that_was_not_given() -> None:
    with pytest.raises(InvalidInput, match="access_denied"):
        run(LOGIN.fetch_credentials(APP, "https://ads.example/back", {"error": "access_denied"}, "", 0))


def test_refreshing_rotates_the_refresh_token() -> None:
    expired = Credentials("old", "pinr_old", 5)
    credentials, requests = run(LOGIN.refresh_credentials(APP, expired, 0), make_response(TOKENS))
    assert (credentials.access_token, credentials.refresh_token) == ("pina_new", "pinr_new")
    assert requests[0].body == {"grant_type": "refresh_token", "refresh_token": "pinr_old"}
    same, _ = run(LOGIN.refresh_credentials(APP, expired, 0), make_response({"access_token": "a", "expires_in": 1}))
    assert same.refresh_token == "pinr_old"


@pytest.mark.parametrize("answer", [make_error_response(1, 400), make_error_response(2, 401)])
def test_a_refresh_that_is_refused(answer: Any) -> None:
    with pytest.raises(TokenRefused):
        run(LOGIN.refresh_credentials(APP, Credentials("old", "pinr_old"), 0), answer)


def test_a_refresh_that_is_throttled_is_not_refused() -> None:
    with pytest.raises(ProviderThrottled):
        run(LOGIN.refresh_credentials(APP, Credentials("old", "pinr_old"), 0), make_error_response(8, 429))


def test_the_access_token_is_revoked() -> None:
    _, requests = run(LOGIN.revoke_credentials(APP, Credentials("a", "r")), make_response(b"", 204))
    assert (requests[0].url, requests[0].body["token"]) == (f"{API}/oauth/token/revoke", "a")
    with pytest.raises(PermissionRefused):  # a user's token cannot be revoked
        run(LOGIN.revoke_credentials(APP, Credentials("a", "r")), make_error_response(29, 403))


def test_signing() -> None:
    request = Request("GET", f"{BELOW}/ads")
    signed = LOGIN.sign_request(request, Credentials("secret"), APP, 0, "n")
    assert signed.headers["Authorization"] == "Bearer secret"
    for other in (Request("GET", "https://files.example/report.json"), evolve(request, is_signed=False)):
        assert LOGIN.sign_request(other, Credentials("secret"), APP, 0, "n") == other


def test_accounts_of_every_page() -> None:
    first = {
        "id": "1",
        "name": "One",
        "currency": "JPY",
        "time_zone": "Asia/Tokyo",
        "country": "JP",
        "owner": {"username": "tea"},
        "permissions": ["OWNER", "ADMIN"],
        "created_time": 1600000000,
    }
    accounts, requests = run(
        reads.discover_accounts(), make_page(first, bookmark="x="), make_page({"id": "2", "currency": "USD"})
    )
    assert [build_request_url(request) for request in requests] == [
        f"{API}/ad_accounts?include_shared_accounts=true&page_size=250",
        f"{API}/ad_accounts?include_shared_accounts=true&page_size=250&bookmark=x%3D",
    ]
    assert [(account.native_id, account.name, account.currency, account.timezone) for account in accounts] == [
        ("1", "One", "JPY", "Asia/Tokyo"),
        ("2", "2", "USD", "UTC"),
    ]
    assert accounts[0].extras == {
        "permissions": "OWNER,ADMIN",
        "country": "JP",
        "owner": "tea",
        "createdTime": "1600000000",
    }
    assert accounts[1].extras == {}


# -- the hierarchy ----------------------------------------------------------------------------------------------------


def test_the_tree_asks_for_keywords_by_ad_groups() -> None:
    groups = [{"id": str(number), "campaign_id": "1", "name": "G", "status": "PAUSED"} for number in range(1000, 1251)]
    tree, requests = run(
        reads.fetch_tree(ACCOUNT),
        make_page({"id": "1", "name": "C", "status": "ACTIVE"}),
        make_page(*groups),
        make_page({"id": "3", "ad_group_id": "1000", "campaign_id": "1", "name": "A", "status": "DRAFT"}),
        make_page({"id": "4", "parent_id": "1000", "parent_type": "ad_group", "value": "tent"}),
        make_page(),
    )
    live = "entity_statuses=ACTIVE&entity_statuses=PAUSED&page_size=250"
    assert build_request_url(requests[0]) == f"{BELOW}/campaigns?{live}"
    requested_group_ids = [
        parse_qs(urlsplit(build_request_url(request)).query)["ad_group_ids"] for request in requests[3:]
    ]
    assert [len(group_ids) for group_ids in requested_group_ids] == [250, 1]
    nodes = {(node.kind, node.id): node for node in tree.nodes}
    assert (nodes["adGroup", "1000"].parent_id, nodes["ad", "3"].parent_id) == ("1", "1000")
    assert (nodes["keyword", "4"].parent_id, nodes["keyword", "4"].name) == ("1000", "tent")
    assert (nodes["ad", "3"].status, nodes["ad", "3"].native_status) == ("paused", "DRAFT")


def test_no_ad_groups_no_keywords() -> None:
    assert run(reads.fetch_tree(ACCOUNT), make_page(), make_page(), make_page())[0].nodes == ()


def test_a_cursor_that_repeats_ends() -> None:
    with pytest.raises(ProviderUnreadable):
        run(reads.fetch_tree(ACCOUNT), make_page(bookmark="a"), make_page(bookmark="a"))
    with pytest.raises(ProviderUnreadable):  # half of a surrogate pair, which no address can carry
        run(reads.discover_accounts(), make_page(bookmark="\ud800"))


def test_a_list_by_parent_and_status() -> None:
    query = ListQuery(limit=5, cursor="b", parent_id="77", status="ARCHIVED")
    page, requests = run(reads.list_entities(ACCOUNT, "ad", query), make_page({"id": "1", "name": "A"}, bookmark="c"))
    assert (
        build_request_url(requests[0]) == f"{BELOW}/ads?entity_statuses=ARCHIVED&ad_group_ids=77&page_size=5&bookmark=b"
    )
    assert (page.cursor, [entity.id for entity in page.entities]) == ("c", ["1"])


def test_a_search_reads_on_until_something_is_found() -> None:
    query, tea, kit = ListQuery(limit=1, search="KIT"), {"id": "1", "name": "Tea"}, {"id": "2", "name": "Autumn kit"}
    answers = make_page(tea, bookmark="b"), make_page(kit, bookmark="c")
    page, requests = run(reads.list_entities(ACCOUNT, "campaign", query), *answers)
    assert ([entity.id for entity in page.entities], page.cursor, len(requests)) == (["2"], "c", 2)
    endless = [make_page(tea, bookmark=f"b{number}") for number in range(20)]
    page, _ = run(reads.list_entities(ACCOUNT, "campaign", query), *endless)
    assert (page.entities, page.cursor) == ((), "b19")


@pytest.mark.parametrize("kind", ["keyword", "creative"])
def test_what_is_not_listed(kind: str) -> None:
    with pytest.raises(InvalidInput):
        run(reads.list_entities(ACCOUNT, kind, ListQuery()))


# -- insights ---------------------------------------------------------------------------------------------------------

TODAY = datetime(2026, 11, 21, 12, tzinfo=UTC)
ROW = {"DATE": "2026-11-01", "AD_ACCOUNT_ID": "1", "SPEND_IN_MICRO_DOLLAR": 1234567, "TOTAL_IMPRESSION": 4100}
COLUMNS = (
    "TOTAL_IMPRESSION,TOTAL_CLICKTHROUGH,SPEND_IN_MICRO_DOLLAR,TOTAL_CONVERSIONS,TOTAL_CHECKOUT_VALUE_IN_MICRO_DOLLAR,"
    "TOTAL_VIDEO_MRC_VIEWS,TOTAL_IMPRESSION_USER"
)


def parse_query(request: Request) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(build_request_url(request)).query).items()}


def test_the_last_days_at_once() -> None:
    flow = reads.fetch_insights(ACCOUNT, date(2026, 8, 23), date(2026, 11, 21), None, TODAY)
    insights, requests = run(flow, make_response([ROW, {**ROW, "DATE": "2026-11-02", "TOTAL_IMPRESSION": None}]))
    assert parse_query(requests[0]) == {
        "start_date": "2026-08-23",
        "end_date": "2026-11-21",
        "granularity": "DAY",
        "columns": COLUMNS,
    }
    assert [(row.date.day, row.impressions, row.spend, row.clicks) for row in insights.rows] == [
        (1, 4100, "1.234567", None),
        (2, None, "1.234567", None),
    ]
    assert (insights.totals.spend, insights.coverage.is_complete, insights.coverage.timezone) == (None, False, "UTC")
    gaps = [(gap.start, gap.end) for gap in insights.coverage.missing_ranges]
    assert gaps == [(date(2026, 8, 23), date(2026, 10, 31)), (date(2026, 11, 3), date(2026, 11, 21))]


def test_days_of_the_account_or_else_of_utc() -> None:
    days = date(2026, 11, 1), date(2026, 11, 2)
    insights, requests = run(reads.fetch_insights(NEW_YORK, *days, None, TODAY), make_response([ROW]))
    assert parse_query(requests[0])["reporting_timezone"] == "AD_ACCOUNT_TIME_ZONE"
    assert insights.coverage.timezone == "America/New_York"
    insights, requests = run(
        reads.fetch_insights(NEW_YORK, *days, None, TODAY), make_error_response(1, 400), make_response([ROW])
    )
    assert "reporting_timezone" not in parse_query(requests[1])
    assert insights.coverage.timezone == "UTC" and insights.coverage.notes
    with pytest.raises(ProviderError):
        run(reads.fetch_insights(ACCOUNT, *days, None, TODAY), make_error_response(1, 400))


def test_days_to_come_are_not_asked_for() -> None:
    flow = reads.fetch_insights(ACCOUNT, date(2026, 11, 20), date(2026, 12, 31), None, TODAY)
    assert parse_query(run(flow, make_response([]))[1][0])["end_date"] == "2026-11-21"


@pytest.mark.parametrize("permissions", ["OWNER", "ANALYST"])
def test_older_days_are_reports(permissions: str) -> None:
    """A report is a POST that changes nothing: a user who may only read the account gets it, too."""
    account = evolve(ACCOUNT, extras={"permissions": permissions})
    start, end = date(2026, 3, 1), date(2026, 10, 31)
    answers = (
        make_response({"report_status": "IN_PROGRESS", "token": f"t/{number}=", "message": None}) for number in (1, 2)
    )
    insights, requests = run(reads.fetch_insights(account, start, end, None, TODAY), *answers)
    assert [(request.method, build_request_url(request), request.kind) for request in requests] == [
        ("POST", f"{BELOW}/reports", "read")
    ] * 2
    assert requests[0].body == {
        "start_date": "2026-03-01",
        "end_date": "2026-09-02",
        "granularity": "DAY",
        "level": "ADVERTISER",
        "columns": COLUMNS.split(","),
        "report_format": "JSON",
    }
    assert requests[1].body["start_date"] == "2026-09-03"
    assert insights.pending is not None and insights.rows == ()
    job = insights.pending.job
    unfinished, requests = run(
        reads.fetch_insights(ACCOUNT, start, end, job, TODAY),
        make_response({"report_status": "FINISHED", "url": "https://files.example/1"}),
        make_response({"report_status": "IN_PROGRESS", "url": None}),
    )
    assert unfinished.pending.job == job
    assert [parse_query(request)["token"] for request in requests] == ["t/1=", "t/2="]
    done, requests = run(
        reads.fetch_insights(ACCOUNT, start, end, job, TODAY),
        make_response({"report_status": "FINISHED", "url": "https://files.example/1?sig=a%2Fb"}),
        make_response({"report_status": "FINISHED", "url": "https://files.example/2"}),
        make_response({"549755885175": [{**ROW, "DATE": "2026-03-01"}]}),
        make_response({"2026-10-01": [{"SPEND_IN_MICRO_DOLLAR": 5}]}),
    )
    assert [(build_request_url(request), request.is_signed) for request in requests[2:]] == [
        ("https://files.example/1?sig=a%2Fb", False),
        ("https://files.example/2", False),
    ]
    assert [(row.date, row.spend) for row in done.rows] == [
        (date(2026, 3, 1), "1.234567"),
        (date(2026, 10, 1), "0.000005"),
    ]
    assert (done.pending, len(done.coverage.missing_ranges)) == (None, 2)


def test_a_report_in_days_of_utc_stays_one() -> None:
    start, end = date(2026, 7, 1), date(2026, 10, 31)
    started = make_response({"report_status": "IN_PROGRESS", "token": "t"})
    insights, requests = run(
        reads.fetch_insights(NEW_YORK, start, end, None, TODAY), make_error_response(1, 400), started
    )
    assert [request.body.get("reporting_timezone") for request in requests] == ["AD_ACCOUNT_TIME_ZONE", None]
    done, _ = run(
        reads.fetch_insights(NEW_YORK, start, end, insights.pending.job, TODAY),
        make_response({"report_status": "FINISHED", "url": "https://files.example/1"}),
        make_response({}),
    )
    assert done.coverage.timezone == "UTC"


def test_reports_of_a_long_range_have_days_of_one_zone() -> None:
    start, end = date(2025, 3, 1), date(2026, 10, 31)
    tokens = [make_response({"report_status": "IN_PROGRESS", "token": f"t{number}"}) for number in range(4)]
    insights, requests = run(
        reads.fetch_insights(NEW_YORK, start, end, None, TODAY), make_error_response(1, 400), *tokens
    )
    assert [request.body.get("reporting_timezone") for request in requests] == ["AD_ACCOUNT_TIME_ZONE", *[None] * 4]
    assert (reads.decode_job(insights.pending.job)[1], insights.coverage.timezone) == (True, "UTC")


@pytest.mark.parametrize("status", ["FAILED", "EXPIRED", "CANCELLED", "DOES_NOT_EXIST", "?"])
def test_a_report_that_failed(status: str) -> None:
    flow = reads.fetch_insights(ACCOUNT, date(2026, 3, 1), date(2026, 4, 1), reads.encode_job(["t"], False), TODAY)
    with pytest.raises(ProviderError, match="made no report"):
        run(flow, make_response({"report_status": status, "url": None}))


def test_an_address_that_is_not_safe() -> None:
    flow = reads.fetch_insights(ACCOUNT, date(2026, 3, 1), date(2026, 4, 1), reads.encode_job(["t"], False), TODAY)
    with pytest.raises(ProviderUnreadable):
        run(flow, make_response({"report_status": "FINISHED", "url": "http://files.example/1"}))


@given(st.lists(st.text(min_size=1, max_size=9), min_size=1, max_size=5), st.booleans())
def test_a_job_names_its_reports(tokens: list[str], utc: bool) -> None:
    if len(tokens) == 1 and tokens[0].startswith("["):
        return  # no token of Pinterest's is a JSON list
    job = reads.encode_job(tokens, utc)
    assert job.replace("-", "").replace("_", "").isalnum() and job.isascii()
    assert reads.decode_job(job) == (tokens, utc)


# -- catalogs ---------------------------------------------------------------------------------------------------------


def read_catalog(resource: str, *answers: Any, **query: Any) -> Any:
    return run(reads.fetch_catalog_page(ACCOUNT, resource, ListQuery(**query)), *answers)


@pytest.mark.parametrize(
    ("resource", "address"),
    [
        ("boards", f"{API}/boards?ad_account_id=549755885175&privacy=ALL&page_size=250"),
        ("board_pins:77", f"{API}/boards/77/pins?ad_account_id=549755885175&page_size=50"),
        ("pins", f"{API}/pins?ad_account_id=549755885175&page_size=50"),
        ("audiences", f"{BELOW}/audiences?page_size=50"),
        ("conversion_tags", f"{BELOW}/conversion_tags"),
        ("ads", f"{BELOW}/ads?entity_statuses=ACTIVE&entity_statuses=PAUSED&page_size=50"),
        ("keywords:6", f"{BELOW}/keywords?ad_group_id=6&page_size=50"),
    ],
)
def test_lists(resource: str, address: str) -> None:
    page, requests = read_catalog(resource, make_page({"id": "1"}, bookmark="b"))
    assert build_request_url(requests[0]) == address
    assert [row.id for row in page.rows] == ["1"]


def test_what_targeting_can_name() -> None:
    page, requests = read_catalog(
        "locations", make_response([{"807": "U.S.: San Francisco"}, {"US": "United States", "CA": "Canada"}])
    )
    assert build_request_url(requests[0]) == f"{API}/resources/targeting/LOCATION"
    assert [(row.id, row.name) for row in page.rows] == [
        ("807", "U.S.: San Francisco"),
        ("US", "United States"),
        ("CA", "Canada"),
    ]
    page, _ = read_catalog("countries", make_page({"code": "US", "name": "United States"}))
    assert [(row.id, row.name) for row in page.rows] == [("US", "United States")]


def test_interests_by_name_or_number() -> None:
    options = make_response([{"1": "Food"}, {"2": "Drinks"}])
    assert [row.id for row in read_catalog("interests", options, search="drin")[0].rows] == ["2"]
    page, requests = read_catalog("interests:945", make_response({"id": "945", "name": "Dress", "level": 2}))
    assert build_request_url(requests[0]) == f"{API}/resources/targeting/interests/945"
    assert [(row.id, row.name) for row in page.rows] == [("945", "Dress")]


def test_ids_are_digits() -> None:
    for resource in ("board_pins:tea", "keywords:tea"):
        with pytest.raises(ProviderNotFound):
            read_catalog(resource)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["items", "id", "AD_ID", "bookmark", "DATE", "report_status", "url", "token", "code", "access_token"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
AD_REPORT = ReportQuery(tables.REPORT_LEVELS[-1], date(2026, 11, 1), date(2026, 11, 2))
READERS = (
    lambda: reads.discover_accounts(),
    lambda: reads.fetch_tree(ACCOUNT),
    lambda: reads.list_entities(ACCOUNT, "ad", ListQuery(search="x")),
    lambda: reads.fetch_editable_entity(ACCOUNT, "adGroup", "6"),
    lambda: LOGIN.fetch_credentials(APP, "https://ads.example", {"code": "c"}, "", 0),
    lambda: reads.fetch_insights(NEW_YORK, date(2026, 11, 1), date(2026, 11, 2), None, TODAY),
    lambda: reads.fetch_insights(NEW_YORK, date(2026, 3, 1), date(2026, 4, 2), None, TODAY),
    lambda: reads.fetch_insights(NEW_YORK, date(2026, 3, 1), date(2026, 4, 2), "dA", TODAY),
    lambda: reports.fetch_report_page(NEW_YORK, AD_REPORT, None, None, TODAY),
    lambda: reports.fetch_report_page(NEW_YORK, evolve(AD_REPORT, entity_ids=("6",)), None, "dA", TODAY),
    lambda: reads.fetch_catalog_page(ACCOUNT, "boards", ListQuery()),
    lambda: reads.fetch_catalog_page(ACCOUNT, "interests", ListQuery(search="x")),
    lambda: plans.plan_edit(ACCOUNT, "adGroup", "6", Edit({"bid": "1"}, {"ageMin": 20, "ageMax": 30}), NOW),
    lambda: plans.plan_delete(ACCOUNT, "ad", "6"),
)


@given(JSON, st.sampled_from(READERS), st.sampled_from([200, 200, 200, 400, 404, 500]))
def test_readers_raise_nothing_but_our_errors(body: Any, reader: Any, status: int) -> None:
    answer = make_response(json.loads(json.dumps(body)), status)
    with suppress(AdsunifyError):
        run_flow(reader(), lambda request: answer)
