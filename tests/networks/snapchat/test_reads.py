"""The Snapchat adapter: connecting, the hierarchy, statistics, catalogs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from attrs import evolve

from adsunify.adapter.flows import run_flow
from adsunify.adapter.hierarchy import ListQuery
from adsunify.adapter.oauth import AuthorizationCodeLogin, Credentials
from adsunify.errors import (
    InvalidInput,
    ProviderError,
    ProviderNotFound,
    ProviderUnreadable,
    TokenRefused,
)
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.networks.snapchat import native, reads, tables
from tests.networks.calls import make_response, run

from .calls import ACCOUNT, AD, API, APP, CAMPAIGN, ID, NOW, SQUAD, wrap_entities

LOGIN = AuthorizationCodeLogin(tables.NETWORK, native.LOGIN)

# -- connect ----------------------------------------------------------------------------------------------------------


def test_consent() -> None:
    url = LOGIN.build_authorization_url(APP, "https://ads.example/back", "s1", "v")
    assert url == (
        "https://accounts.snapchat.com/login/oauth2/authorize?client_id=app-1"
        "&redirect_uri=https%3A%2F%2Fads.example%2Fback&state=s1&response_type=code&scope=snapchat-marketing-api"
    )


def test_the_code_becomes_tokens() -> None:
    answer = make_response({"access_token": "a", "refresh_token": "r", "token_type": "Bearer", "expires_in": 3600})
    credentials, requests = run(
        LOGIN.fetch_credentials(APP, "https://ads.example/back", {"code": "c"}, "v", 1_000), answer
    )
    assert credentials == Credentials("a", "r", 3_601_000)
    assert (requests[0].encoding, requests[0].kind, requests[0].is_signed) == ("form", "read_once", False)
    assert "code_verifier" not in requests[0].body
    with pytest.raises(InvalidInput, match="access_denied"):
        run(LOGIN.fetch_credentials(APP, "https://ads.example/back", {"error": "access_denied"}, "v", 1_000))


@pytest.mark.parametrize(("more", "refresh_token"), [({}, "old"), ({"refresh_token": "new"}, "new")])
def test_a_refresh_token_may_rotate(more: Mapping[str, str], refresh_token: str) -> None:
    answer = make_response({"access_token": "b", "expires_in": 1800, **more})
    credentials, requests = run(LOGIN.refresh_credentials(APP, Credentials("a", "old", 1), 1_000), answer)
    assert credentials == Credentials("b", refresh_token, 1_801_000)
    assert requests[0].body["refresh_token"] == "old"


def test_a_refresh_that_is_refused() -> None:
    with pytest.raises(TokenRefused):
        run(LOGIN.refresh_credentials(APP, Credentials("a", "old"), 0), make_response({"error": "invalid_grant"}, 400))


def test_only_snaps_own_hosts_get_the_token() -> None:
    credentials = Credentials("secret")
    signed = LOGIN.sign_request(Request("GET", f"{API}/me"), credentials, APP, 0, "n")
    assert signed.headers == {"Authorization": "Bearer secret"}
    for request in (
        Request("GET", "https://adsapisc.appspot.com/v1/me"),
        Request("GET", "http://adsapi.snapchat.com/v1/me"),
        Request("GET", f"{API}/me", is_signed=False),
    ):
        assert LOGIN.sign_request(request, credentials, APP, 0, "n") == request


def test_accounts_of_every_organization() -> None:
    account = {"id": ID, "name": "Tea", "currency": "GBP", "timezone": "Europe/London", "status": "PAUSED"}
    accounts, requests = run(
        reads.discover_accounts(),
        wrap_entities("organizations", "organization", {"id": "org-1"}, {"id": "org-2"}),
        wrap_entities("adaccounts", "adaccount", account | {"regulations": {"restricted_delivery_signals": True}}),
        wrap_entities("adaccounts", "adaccount"),
    )
    assert [build_request_url(request) for request in requests][1:] == [
        f"{API}/organizations/org-{n}/adaccounts" for n in (1, 2)
    ]
    (discovered_account,) = accounts
    assert (
        discovered_account.native_id,
        discovered_account.currency,
        discovered_account.timezone,
        discovered_account.native_status,
    ) == (ID, "GBP", "Europe/London", "PAUSED")
    assert discovered_account.extras == {"organizationId": "org-1", "restrictedDeliverySignals": "true"}


# -- the hierarchy ----------------------------------------------------------------------------------------------------


def make_campaigns(*numbers: int, cursor: str | None = None, **members: Any) -> Response:
    rows = [{"id": str(n), "name": f"Tea {n}", "status": "PAUSED" if n % 2 else "ACTIVE", **members} for n in numbers]
    return wrap_entities("campaigns", "campaign", *rows, cursor=cursor)


def test_the_tree_is_read_to_its_last_page() -> None:
    tree, requests = run(
        reads.fetch_tree(ACCOUNT),
        make_campaigns(1, cursor="c2"),
        make_campaigns(2, deleted=True),
        wrap_entities("adsquads", "adsquad", {"id": SQUAD, "campaign_id": "1", "status": "ACTIVE"}),
        wrap_entities("ads", "ad", {"id": AD, "ad_squad_id": SQUAD, "status": "PAUSED"}),
    )
    assert [(node.kind, node.parent_id, node.status) for node in tree.nodes] == [
        ("campaign", None, "paused"),
        ("campaign", None, "deleted"),
        ("adGroup", "1", "active"),
        ("ad", SQUAD, "paused"),
    ]
    assert [build_request_url(request).removeprefix(f"{API}/adaccounts/{ID}/") for request in requests] == [
        "campaigns?limit=1000",
        "campaigns?limit=1000&cursor=c2",
        "adsquads?return_placement_v2=true&limit=1000",
        "ads?limit=1000",
    ]


def list_ids(page: Any) -> list[str]:
    return [entity.id for entity in page.entities]


def test_our_pages_may_be_smaller_than_snaps() -> None:
    answers = {None: make_campaigns(*range(50), cursor="n"), "n": make_campaigns(50, 51)}
    campaign_ids: list[str] = []
    cursor, calls = None, 0
    while calls == 0 or cursor is not None:
        requests: list[Request] = []

        def answer(request: Request, requests: list[Request] = requests) -> Response:
            requests.append(request)
            return answers[request.query.get("cursor")]

        page = run_flow(reads.list_entities(ACCOUNT, "campaign", ListQuery(20, cursor)), answer)
        assert {request.query["limit"] for request in requests} == {"50"}
        campaign_ids += list_ids(page)
        cursor, calls = page.cursor, calls + 1
    assert campaign_ids == [str(n) for n in range(52)]
    assert calls == 3


def test_status_and_search_are_looked_for_here() -> None:
    page, _ = run(reads.list_entities(ACCOUNT, "campaign", ListQuery(50, status="PAUSED")), make_campaigns(1, 2, 3))
    assert list_ids(page) == ["1", "3"]
    page, _ = run(reads.list_entities(ACCOUNT, "campaign", ListQuery(50, search="TEA 2")), make_campaigns(1, 2, 3))
    assert list_ids(page) == ["2"]
    with pytest.raises(InvalidInput):
        run(reads.list_entities(ACCOUNT, "campaign", ListQuery(50, status="paused")))


def test_a_filtered_list_reads_no_more_than_twenty_pages() -> None:
    pages = [make_campaigns(2, cursor=f"c{n}") for n in range(20)]
    page, requests = run(reads.list_entities(ACCOUNT, "campaign", ListQuery(50, status="PAUSED")), *pages)
    assert (list_ids(page), len(requests)) == ([], 20)
    _, requests = run(
        reads.list_entities(ACCOUNT, "campaign", ListQuery(50, page.cursor, status="PAUSED")), make_campaigns(1)
    )
    assert requests[0].query["cursor"] == "c19"


def test_a_list_of_a_parent() -> None:
    _, requests = run(reads.list_entities(ACCOUNT, "ad", ListQuery(50, parent_id=SQUAD)), wrap_entities("ads", "ad"))
    assert build_request_url(requests[0]) == f"{API}/adsquads/{SQUAD}/ads?limit=50"
    with pytest.raises(InvalidInput):
        run(reads.list_entities(ACCOUNT, "campaign", ListQuery(50, parent_id=SQUAD)))


@pytest.mark.parametrize("cursor", ["", "x", "49.0.", "50.-1.", "50.0"])
def test_a_cursor_of_somebodys_making_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidInput):
        run(reads.list_entities(ACCOUNT, "campaign", ListQuery(50, cursor)))


@pytest.mark.parametrize("link", ["https://adsapi.snapchat.com/v1/x?limit=50", "https://[::1/x?cursor=1", 7])
def test_a_link_without_a_cursor_is_no_link(link: Any) -> None:
    body = {"request_status": "SUCCESS", "paging": {"next_link": link}, "campaigns": []}
    with pytest.raises(ProviderUnreadable):
        run(reads.list_entities(ACCOUNT, "campaign", ListQuery()), make_response(body))


def test_a_cursor_that_repeats_does_not_end() -> None:
    with pytest.raises(ProviderUnreadable):
        run(
            reads.list_entities(ACCOUNT, "campaign", ListQuery()),
            make_campaigns(1, cursor="c"),
            make_campaigns(2, cursor="c"),
        )


def test_one_entity() -> None:
    own = {"id": CAMPAIGN, "ad_account_id": ID, "name": "A"}
    entity, requests = run(
        reads.fetch_entity(ACCOUNT, "campaign", CAMPAIGN), wrap_entities("campaigns", "campaign", own)
    )
    assert (entity.id, entity.name, build_request_url(requests[0])) == (CAMPAIGN, "A", f"{API}/campaigns/{CAMPAIGN}")
    with pytest.raises(ProviderNotFound):
        run(reads.fetch_entity(ACCOUNT, "campaign", CAMPAIGN), make_response({"request_status": "ERROR"}, 404))
    with pytest.raises(ProviderUnreadable):
        run(reads.fetch_entity(ACCOUNT, "campaign", CAMPAIGN), wrap_entities("campaigns", "campaign", {"id": "other"}))


# -- insights ---------------------------------------------------------------------------------------------------------


def make_stats(*campaigns_: list[dict[str, Any]], final: str | None = None, cursor: str | None = None) -> Response:
    series = [{"id": str(n), "type": "CAMPAIGN", "timeseries": rows} for n, rows in enumerate(campaigns_)]
    inner = {"id": ID, "granularity": "DAY", "breakdown_stats": {"campaign": series}}
    inner |= {} if final is None else {"finalized_data_end_time": final}
    body: dict[str, Any] = {"request_status": "SUCCESS"}
    if cursor:
        inner["paging"] = {"next_link": f"https://elsewhere.example/v1?cursor={cursor}"}
    return make_response(body | {"timeseries_stats": [{"sub_request_status": "SUCCESS", "timeseries_stat": inner}]})


def make_stat(day: str, **figures: int) -> dict[str, Any]:
    return {"start_time": day, "end_time": day, "stats": figures}


def fetch_insights(*answers: Response, start: str = "2026-11-01", end: str = "2026-11-02", **more: Any) -> Any:
    account = evolve(ACCOUNT, timezone=more.pop("timezone", "Europe/London"))
    job, now = more.pop("job", None), more.pop("now", NOW)
    return run(reads.fetch_insights(account, date.fromisoformat(start), date.fromisoformat(end), job, now), *answers)


def test_campaigns_are_summed_by_local_day() -> None:
    first = make_stat("2026-11-01T00:00:00.000Z", impressions=10, swipes=2, spend=1_500_000, conversion_purchases=1)
    second = make_stat("2026-11-01T00:00:00.000Z", impressions=5, swipes=0, spend=250_000)
    insights, requests = fetch_insights(make_stats([first], [second, make_stat("2026-11-02T00:00:00.000Z", spend=0)]))
    assert [row.date.isoformat() for row in insights.rows] == ["2026-11-01", "2026-11-02"]
    row = insights.rows[0]
    assert (row.impressions, row.clicks, row.spend, row.conversions, row.reach) == (15, 2, "1.75", None, None)
    assert (insights.rows[1].impressions, insights.rows[1].spend) == (None, "0")
    query = {name: value[0] for name, value in parse_qs(urlsplit(build_request_url(requests[0])).query).items()}
    assert query == {
        "granularity": "DAY",
        "breakdown": "campaign",
        "fields": "impressions,swipes,spend,video_views,conversion_purchases,conversion_purchases_value",
        "start_time": "2026-11-01T00:00:00.000+00:00",
        "end_time": "2026-11-03T00:00:00.000+00:00",
        "omit_empty": "false",
        "swipe_up_attribution_window": "28_DAY",
        "view_attribution_window": "1_DAY",
    }


def test_each_bound_has_the_offset_of_its_own_day() -> None:
    _, requests = fetch_insights(make_stats(), start="2026-10-24", end="2026-10-25", timezone="Europe/Berlin")
    query = requests[0].query
    assert (query["start_time"], query["end_time"]) == (
        "2026-10-24T00:00:00.000+02:00",
        "2026-10-26T00:00:00.000+01:00",
    )


def test_a_day_is_one_of_the_account() -> None:
    insights, _ = fetch_insights(
        make_stats([make_stat("2026-11-01T08:00:00.000Z", spend=1)]), timezone="America/Los_Angeles"
    )
    assert [row.date.isoformat() for row in insights.rows] == ["2026-11-01"]


def test_long_ranges_are_asked_for_in_windows_and_pages() -> None:
    insights, requests = fetch_insights(
        make_stats(cursor="p2"),
        make_stats([make_stat("2026-09-05T00:00:00Z", spend=7)]),
        make_stats(),
        start="2026-09-01",
        end="2026-10-15",
    )
    assert [
        (request.query["start_time"][:10], request.query["end_time"][:10], request.query.get("cursor"))
        for request in requests
    ] == [
        ("2026-09-01", "2026-10-01", None),
        ("2026-09-01", "2026-10-01", "p2"),
        ("2026-10-01", "2026-10-16", None),
    ]
    assert {urlsplit(request.url).netloc for request in requests} == {"adsapi.snapchat.com"}
    assert [row.spend for row in insights.rows] == ["0.000007"]


@pytest.mark.parametrize(
    ("final", "now", "expected"),
    [
        ("2026-11-02T00:00:00.000Z", NOW, "2026-11-02"),
        ("2026-11-09T00:00:00.000Z", NOW, None),
        ("2026-10-01T00:00:00.000Z", NOW, "2026-11-01"),
        (None, datetime(2026, 11, 4, 12, tzinfo=UTC), "2026-11-02"),
        (None, NOW, None),
    ],
)
def test_what_may_still_change(final: str | None, now: datetime, expected: str | None) -> None:
    insights, _ = fetch_insights(make_stats(final=final), now=now)
    provisional = insights.coverage.provisional_from
    assert (None if provisional is None else provisional.isoformat()) == expected


def make_report(status: str, **more: str) -> Response:
    return wrap_entities(
        "async_stats_reports", "async_stats_report", {"report_run_id": "7", "async_status": status, **more}
    )


def test_a_report_is_resumed() -> None:
    insights, requests = fetch_insights(make_report("RUNNING"), job="7")
    assert (insights.pending.job, insights.pending.status) == ("7", "RUNNING")
    assert build_request_url(requests[0]) == f"{API}/adaccounts/{ID}/stats_report?report_run_id=7"
    content = json.dumps(make_stats([make_stat("2026-11-01T00:00:00Z", spend=2_000_000)]).body).encode()
    file = Response.from_bytes(200, {}, content, "bytes")
    insights, requests = fetch_insights(make_report("COMPLETED", result="https://files.example/7.json"), file, job="7")
    assert (insights.pending, [row.spend for row in insights.rows]) == (None, ["2"])
    assert (requests[1].is_signed, requests[1].response_format) == (False, "bytes")
    with pytest.raises(ProviderError, match="FAILED"):
        fetch_insights(make_report("FAILED"), job="7")
    for result in ("http://files.example/7", ""):
        with pytest.raises(ProviderUnreadable):
            fetch_insights(make_report("COMPLETED", result=result), job="7")
    with pytest.raises(ProviderUnreadable):
        fetch_insights(
            make_report("COMPLETED", result="https://x.example/"),
            Response.from_bytes(200, {}, b"<html>", "bytes"),
            job="7",
        )


# -- catalogs ---------------------------------------------------------------------------------------------------------


def make_dimensions(*rows: Mapping[str, Any]) -> Response:
    return make_response({"request_status": "SUCCESS", "targeting_dimensions": list(rows)})


@pytest.mark.parametrize(
    ("resource", "answer", "address", "row"),
    [
        (
            "regions:US",
            {"region": {"region": {"id": 7, "name": "Ohio"}}},
            "geo/us/region?limit=50",
            ("us:region:7", "Ohio"),
        ),
        ("metros:us", {"metro": {"id": "5", "name": "NY"}}, "geo/us/metro?limit=50", ("us:metro:5", "NY")),
        ("postal_codes:US", {"postal_code": {"code": "1"}}, "geo/us/postal_code?limit=50", ("us:postal:1", "1")),
        ("countries", {"country": {"country": {"code": "GB", "name": "UK"}}}, "geo/country?limit=50", ("gb", "UK")),
        ("languages", {"languages": {"id": "en", "name": "English"}}, "demographics/languages", ("en", "English")),
        ("interests:US", {"scls": {"id": "SLC_1", "name": "Tea"}}, "interests/scls?country_code=us", ("SLC_1", "Tea")),
    ],
)
def test_targeting_catalogs(resource: str, answer: Any, address: str, row: tuple[str, str]) -> None:
    page, requests = run(reads.fetch_catalog_page(ACCOUNT, resource, ListQuery()), make_dimensions(answer))
    assert [(row.id, row.name) for row in page.rows] == [row]
    assert build_request_url(requests[0]) == f"{API}/targeting/{address}"


def test_catalogs_of_the_account() -> None:
    page, requests = run(
        reads.fetch_catalog_page(ACCOUNT, "creatives", ListQuery(5)),
        wrap_entities("creatives", "creative", {"id": "1", "name": "A", "type": "WEB_VIEW"}, cursor="n"),
    )
    assert (page.rows[0].native["type"], page.cursor, requests[0].query) == ("WEB_VIEW", "n", {"limit": "50"})
    page, requests = run(
        reads.fetch_catalog_page(ACCOUNT, "funding_sources", ListQuery()),
        wrap_entities("fundingsources", "fundingsource", {"id": "9", "type": "CREDIT_CARD"}),
    )
    assert (page.rows[0].name, build_request_url(requests[0])) == (
        "CREDIT_CARD",
        f"{API}/organizations/org-1/fundingsources?limit=50",
    )


@pytest.mark.parametrize("resource", ["regions", "regions:USA", "regions:u1", "nothing"])
def test_catalogs_that_are_refused(resource: str) -> None:
    with pytest.raises(InvalidInput):
        run(reads.fetch_catalog_page(ACCOUNT, resource, ListQuery()))
    with pytest.raises(InvalidInput):
        run(reads.fetch_catalog_page(evolve(ACCOUNT, extras={}), "funding_sources", ListQuery()))


def test_a_row_of_another_type_is_unreadable() -> None:
    with pytest.raises(ProviderUnreadable):
        run(reads.fetch_catalog_page(ACCOUNT, "genders", ListQuery()), make_dimensions({"age_group": {"id": "1"}}))
