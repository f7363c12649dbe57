"""Connecting to X, signing, lists, and the figures of an account."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from attrs import evolve

from adsunify.adapter.flows import run_flow
from adsunify.adapter.hierarchy import ListQuery
from adsunify.adapter.insights import NO_CAMPAIGNS_NOTE, DateRange, Insights, MetricValues
from adsunify.adapter.oauth import Credentials, OAuthClient
from adsunify.errors import InvalidInput, ProviderError, ProviderNotFound, ProviderUnreadable
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.networks.x import reads
from adsunify.networks.x.native import authorize_request
from tests.networks.calls import make_responder, round_trip_json

from .calls import ACCOUNT, API, BASE, CAMPAIGN, LINE_ITEM, NOW

APP = OAuthClient("xvz1evFS4wEEPTGEFPHBog", "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw")
TOKEN, SECRET = "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb", "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE"
CREDENTIALS = Credentials(TOKEN, extras={reads.TOKEN_SECRET_EXTRA: SECRET})
SECONDS = 1318622958


def parse_oauth_header(request: Request) -> dict[str, str]:
    scheme, _, pairs = request.headers["Authorization"].partition(" ")
    assert scheme == "OAuth"
    return {name: value.strip('"') for name, _, value in (pair.partition("=") for pair in pairs.split(", "))}


# -- signing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "signature"),
    [("api.twitter.com", "hCtSmYh%2BiHYCEqBWrE7C7hYmtUk%3D"), ("api.x.com", "Ls93hJiZbQ3akF3HF3x1Bz8%2FzU4%3D")],
)
def test_the_documented_example(host: str, signature: str) -> None:
    request = Request(
        "POST",
        f"https://{host}/1.1/statuses/update.json",
        query={"include_entities": "true"},
        body={"status": "Hello Ladies + Gentlemen, a signed OAuth request!"},
        encoding="form",
    )
    nonce = "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg"
    parameters = parse_oauth_header(authorize_request(request, APP, SECONDS * 1000, nonce, TOKEN, SECRET))
    assert parameters.pop("oauth_signature") == signature
    assert parameters == {
        "oauth_consumer_key": APP.client_id,
        "oauth_nonce": nonce,
        "oauth_signature_method": "HMAC-SHA1",
        "oauth_timestamp": str(SECONDS),
        "oauth_token": TOKEN,
        "oauth_version": "1.0",
    }


def test_json_is_no_part_of_a_signature_and_the_query_is() -> None:
    def sign(**changes: Any) -> str:
        request = Request("POST", f"{BASE}/campaigns", query={"name": "A, b:c~é"}, kind="write")
        return parse_oauth_header(reads.sign_request(evolve(request, **changes), CREDENTIALS, APP, 1, "n"))[
            "oauth_signature"
        ]

    assert sign() == sign(body=[{"a": 1}], encoding="json")
    assert sign() != sign(query={"name": "A, b:c~e"})
    assert sign() != sign(method="PUT")


def test_only_declared_hosts_are_signed_for() -> None:
    for url, signed in (("https://ton.twimg.com/a", True), ("http://ads-api.x.com/12/a", True), (f"{BASE}/a", False)):
        request = Request("GET", url, is_signed=signed)
        assert reads.sign_request(request, CREDENTIALS, APP, 1, "n") == request


# -- connecting ---------------------------------------------------------------------------------------------------


def make_form_response(text: str) -> Response:
    return Response(200, {}, text.encode(), "bytes")


def test_the_first_leg_gives_the_consent_page() -> None:
    requests: list[Request] = []
    url = "https://api.x.com/oauth/request_token"
    answers = {
        f"POST {url}": make_form_response("oauth_token=rt1&oauth_token_secret=rs1&oauth_callback_confirmed=true")
    }
    flow = reads.fetch_request_token(APP, "https://ads.example/connect/callback/x", "st+te", SECONDS * 1000)
    request_token = run_flow(flow, make_responder(answers, requests))
    assert (request_token.url, request_token.token) == ("https://api.x.com/oauth/authorize?oauth_token=rt1", "rt1")
    assert request_token.secret == "rs1"
    assert "rs1" not in repr(request_token)
    parameters = parse_oauth_header(requests[0])
    assert "oauth_token" not in parameters
    assert parameters["oauth_nonce"] == hashlib.sha256(b"st+te").hexdigest()
    assert parameters["oauth_callback"] == "https%3A%2F%2Fads.example%2Fconnect%2Fcallback%2Fx"
    assert (requests[0].is_signed, requests[0].kind) == (False, "read_once")


@pytest.mark.parametrize(
    "answer",
    [
        make_form_response("oauth_token=rt1&oauth_token_secret=rs1&oauth_callback_confirmed=false"),
        make_form_response("oauth_token=rt1&oauth_callback_confirmed=true"),
        Response(201, {}, b"oauth_token=rt1&oauth_token_secret=rs1&oauth_callback_confirmed=true", "bytes"),
        Response(200, {}, None, "empty"),
        make_form_response("<html>"),
    ],
)
def test_a_first_leg_that_is_not_confirmed_is_refused(answer: Response) -> None:
    flow = reads.fetch_request_token(APP, "https://ads.example/x", "state", 1)
    with pytest.raises(ProviderUnreadable):
        run_flow(flow, lambda request: answer)


def test_the_last_leg_is_signed_with_the_request_token() -> None:
    requests: list[Request] = []
    url = "https://api.x.com/oauth/access_token"
    tokens = make_form_response("oauth_token=7-ut&oauth_token_secret=us&user_id=7&screen_name=shop")
    answer = {"oauth_token": "rt1", "oauth_verifier": "v1", "state": "state"}
    credentials = run_flow(
        reads.fetch_credentials(APP, "", answer, "rs1", 1000), make_responder({f"POST {url}": tokens}, requests)
    )
    assert credentials == Credentials("7-ut", extras={"tokenSecret": "us", "userId": "7", "screenName": "shop"})
    parameters = parse_oauth_header(requests[0])
    assert (parameters["oauth_token"], parameters["oauth_verifier"]) == ("rt1", "v1")
    expected = authorize_request(
        Request("POST", url), APP, 1000, parameters["oauth_nonce"], "rt1", "rs1", oauth_verifier="v1"
    )
    assert parse_oauth_header(expected)["oauth_signature"] == parameters["oauth_signature"]


@pytest.mark.parametrize("answer", [{"denied": "rt1"}, {"oauth_token": "rt1"}, {}])
def test_a_callback_without_verifier_is_a_refusal(answer: Mapping[str, str]) -> None:
    with pytest.raises(InvalidInput, match="refused"):
        run_flow(reads.fetch_credentials(APP, "", answer, "rs1", 1), make_responder({}))


def test_there_is_nothing_to_refresh() -> None:
    assert run_flow(reads.refresh_credentials(APP, CREDENTIALS, 1), make_responder({})) == CREDENTIALS


def test_revoking_a_dead_token_is_done() -> None:
    def make_error_response(status: int, code: Any) -> Response:
        return Response(
            status, {}, round_trip_json({"errors": [{"code": code, "message": "Invalid or expired token."}]})
        )

    url = "POST https://api.x.com/1.1/oauth/invalidate_token.json"
    run_flow(reads.revoke_credentials(APP, CREDENTIALS), make_responder({url: {"access_token": TOKEN}}))
    run_flow(reads.revoke_credentials(APP, CREDENTIALS), make_responder({url: make_error_response(401, 89)}))
    for status, code in ((401, 32), (403, 89)):
        with pytest.raises(ProviderError):
            run_flow(
                reads.revoke_credentials(APP, CREDENTIALS), make_responder({url: make_error_response(status, code)})
            )


def test_the_currency_is_that_of_the_first_instrument_able_to_fund() -> None:
    row = {"id": "abc12", "name": "Shop", "timezone": "Europe/Paris", "approval_status": "ACCEPTED"}
    funding = [
        {"id": "a", "able_to_fund": False, "currency": "USD"},
        {"id": "b", "able_to_fund": True, "currency": "EUR"},
    ]
    answers = {
        f"GET {API}/accounts?count=1000": {"data": [row], "next_cursor": "c"},
        f"GET {API}/accounts?count=1000&cursor=c": {
            "data": [
                {**row, "id": "zz", "approval_status": "UNDER_REVIEW", "timezone_switch_at": "2026-01-01T05:00:00Z"}
            ]
        },
        f"GET {BASE}/funding_instruments": {"data": funding},
        f"GET {API}/accounts/zz/funding_instruments": {"data": []},
    }
    first_account, second_account = run_flow(reads.discover_accounts(), make_responder(answers))
    assert (first_account.currency, first_account.native_status, first_account.extras) == ("EUR", None, {})
    assert (second_account.currency, second_account.native_status) == (None, "UNDER_REVIEW")
    assert second_account.extras == {"timezoneSwitchAt": "2026-01-01T05:00:00Z"}


# -- lists --------------------------------------------------------------------------------------------------------


def test_the_tree_joins_three_lists() -> None:
    answers = {
        f"GET {BASE}/campaigns?count=1000": {"data": [CAMPAIGN], "next_cursor": None},
        f"GET {BASE}/line_items?count=1000": {"data": [LINE_ITEM]},
        f"GET {BASE}/promoted_tweets?count=1000": {
            "data": [{"id": "p1", "line_item_id": "9cqz1", "tweet_id": "1", "entity_status": "ACTIVE"}]
        },
    }
    nodes = run_flow(reads.fetch_tree(ACCOUNT), make_responder(answers)).nodes
    assert [(node.kind, node.id, node.parent_id, node.status) for node in nodes] == [
        ("campaign", "8wku2", None, "paused"),
        ("adGroup", "9cqz1", "8wku2", "paused"),
        ("ad", "p1", "9cqz1", "active"),
    ]


def test_a_status_is_filtered_here_page_by_page() -> None:
    first = f"GET {BASE}/line_items?campaign_ids=8wku2&count=2&q=Sale"
    answers = {
        first: {"data": [LINE_ITEM], "next_cursor": "b"},
        f"{first}&cursor=b": {"data": [{**LINE_ITEM, "id": "x", "entity_status": "ACTIVE"}], "next_cursor": "c"},
    }
    query = ListQuery(limit=2, parent_id="8wku2", status="ACTIVE", search="Sale")
    page = run_flow(reads.list_entities(ACCOUNT, "adGroup", query), make_responder(answers))
    assert ([entity.id for entity in page.entities], page.cursor) == (["x"], "c")


def test_a_missing_entity_is_not_found() -> None:
    gone = Response(404, {}, "not JSON", "unreadable")
    with pytest.raises(ProviderNotFound):
        run_flow(reads.fetch_entity(ACCOUNT, "campaign", "1"), lambda request: gone)


@pytest.mark.parametrize(
    ("resource", "address"),
    [
        ("geo_locations", f"{API}/targeting_criteria/locations?count=50&location_type=COUNTRIES"),
        ("geo_locations:US", f"{API}/targeting_criteria/locations?count=50&country_code=US&location_type=REGIONS"),
        (
            "geo_locations:US-POSTAL_CODES",
            f"{API}/targeting_criteria/locations?count=50&country_code=US&location_type=POSTAL_CODES",
        ),
        ("interests:ski_boots", f"{API}/targeting_criteria/interests?count=50&q=ski%20boots"),
        (
            "events:MUSIC_AND_ENTERTAINMENT",
            f"{API}/targeting_criteria/events?count=50&event_types=MUSIC_AND_ENTERTAINMENT",
        ),
        ("tv_shows:en-US", f"{API}/targeting_criteria/tv_shows?count=50&locale=en-US"),
        ("posts:77", f"{BASE}/tweets?count=50&timeline_type=ALL&trim_user=true&tweet_type=PUBLISHED&user_id=77"),
        ("bidding_rules:eur", f"{API}/bidding_rules?currency=EUR"),
        ("analytics_job:123", f"{API}/stats/jobs/accounts/abc12?job_ids=123"),
    ],
)
def test_catalogs_are_asked_for(resource: str, address: str) -> None:
    requests: list[Request] = []
    assert (
        run_flow(
            reads.fetch_catalog_page(ACCOUNT, resource, ListQuery()),
            make_responder({f"GET {address}": {"data": []}}, requests),
        ).rows
        == ()
    )
    assert [build_request_url(request) for request in requests] == [address]


def test_placements_stand_together() -> None:
    answer = {"data": [{"product_type": "PROMOTED_TWEETS", "placements": [["ALL_ON_TWITTER"], ["A", "B"]]}]}
    address = f"GET {API}/line_items/placements?product_type=PROMOTED_TWEETS"
    page = run_flow(reads.fetch_catalog_page(ACCOUNT, "placements", ListQuery()), make_responder({address: answer}))
    assert [row.id for row in page.rows] == ["ALL_ON_TWITTER", "A,B"]


# -- figures ------------------------------------------------------------------------------------------------------

CAMPAIGNS = f"GET {BASE}/campaigns?count=1000&with_deleted=true"
MAIN = {
    "impressions": [5210, 4980],
    "clicks": [61, 57],
    "url_clicks": [40, 38],
    "billed_charge_local_micro": [18_340_000, 17_925_000],
    "video_total_views": None,
}
WEB = {
    "conversion_purchases": {"metric": [1, 2], "sale_amount": [5, 6], "assisted": None},
    "conversion_sign_ups": {"metric": [None, 1]},
    "conversion_custom": {"metric": None},
}


def make_stats(id_: str, metrics: Mapping[str, Any]) -> dict[str, Any]:
    return {"data": [{"id": id_, "id_data": [{"segment": None, "metrics": metrics}]}]}


def make_empty_stats(id_: str) -> dict[str, Any]:
    return make_stats(id_, {"impressions": None, "clicks": None})


def select_metrics(request: Request) -> Mapping[str, Any]:
    if request.query["placement"] != "ALL_ON_TWITTER":
        return {"impressions": None}
    return WEB if request.query["metric_groups"] == "WEB_CONVERSION" else MAIN


def fetch_insights(start: date, end: date, answer: Any, job: str | None = None, now: datetime = NOW) -> Insights:
    return run_flow(reads.fetch_insights(ACCOUNT, start, end, job, now), answer)


def test_a_few_days_are_asked_for_at_once() -> None:
    requests: list[Request] = []

    def answer(request: Request) -> Response:
        requests.append(request)
        if build_request_url(request) == CAMPAIGNS.removeprefix("GET "):
            campaigns = [{"id": "c7", "currency": "USD"}, {"id": "other", "currency": "EUR"}]
            return Response(200, {}, {"data": campaigns})
        assert request.url.endswith("/stats/accounts/{account}")
        return Response(200, {}, round_trip_json(make_stats("c7", select_metrics(request))))

    insights = fetch_insights(date(2026, 10, 1), date(2026, 10, 2), answer)
    assert [
        (row.date.day, row.impressions, row.clicks, row.spend, row.conversions, row.video_views)
        for row in insights.rows
    ] == [
        (1, 5210, 61, "18.34", "1", None),
        (2, 4980, 57, "17.925", "3", None),
    ]
    assert (insights.totals.impressions, insights.totals.spend, insights.totals.video_views) == (10190, "36.265", None)
    assert insights.native_rows[0]["url_clicks"] == 40
    assert insights.native_rows[0]["conversion_purchases"]["sale_amount"] == 5
    queries = [request.query for request in requests[1:]]
    assert len(queries) == 6
    assert {query["placement"] for query in queries} == {"ALL_ON_TWITTER", "SPOTLIGHT", "TREND"}
    assert {query["metric_groups"] for query in queries} == {"ENGAGEMENT,BILLING,VIDEO", "WEB_CONVERSION"}
    # New York is 5 hours behind on the day of the request, 4 on the days asked for: the former counts.
    assert {(query["start_time"], query["end_time"]) for query in queries} == {
        ("2026-10-01T05:00:00Z", "2026-10-03T05:00:00Z")
    }
    assert {query["entity_ids"] for query in queries} == {"c7"}
    assert insights.coverage.provisional_from is None
    assert insights.coverage.is_complete


def test_more_days_are_reports_that_are_begun_once_and_resumed() -> None:
    report_queries: dict[str, Mapping[str, str]] = {}

    def start_reports(request: Request) -> Response:
        if request.method == "GET":
            return Response(200, {}, {"data": [{"id": "c7", "currency": "USD"}]})
        assert (request.method, request.kind) == ("POST", "read_once")
        report_queries[f"9007199254740993{len(report_queries)}"] = request.query
        return Response(200, {}, {"data": {"id": 1, "id_str": list(report_queries)[-1], "status": "PROCESSING"}})

    start, end = date(2026, 8, 1), date(2026, 11, 18)
    waiting = fetch_insights(start, end, start_reports)
    assert waiting.pending is not None
    assert len(report_queries) == 12  # two windows of at most 90 days, three placements, two groups
    assert sorted({query["start_time"] for query in report_queries.values()}) == [
        "2026-08-01T05:00:00Z",
        "2026-10-30T05:00:00Z",
    ]
    status = "PROCESSING"

    def resume_reports(request: Request) -> Response:
        if request.url.startswith("https://ton.twimg.com/"):
            assert not request.is_signed
            query = report_queries[request.url.rpartition("/")[2].removesuffix(".json.gz")]
            first = Request("GET", "", query=query)
            body = json.dumps(make_stats("c7", select_metrics(first))).encode()
            return Response(200, {}, gzip.compress(body), "bytes")
        assert parse_qs(urlsplit(build_request_url(request)).query)["job_ids"] == [",".join(report_queries)]
        jobs = [
            {"id": 1, "id_str": id_, "status": status, "url": f"https://ton.twimg.com/r/{id_}.json.gz", **query}
            for id_, query in report_queries.items()
        ]
        return Response(200, {}, {"data": jobs, "next_cursor": "never followed"})

    unfinished = fetch_insights(start, end, resume_reports, waiting.pending.job)
    assert unfinished.pending is not None
    assert unfinished.pending.job == waiting.pending.job
    status = "SUCCESS"
    insights = fetch_insights(start, end, resume_reports, waiting.pending.job)
    assert [(row.date.isoformat(), row.impressions) for row in insights.rows] == [
        ("2026-08-01", 5210),
        ("2026-08-02", 4980),
        ("2026-10-30", 5210),
        ("2026-10-31", 4980),
    ]
    assert insights.coverage.provisional_from == date(2026, 11, 6)
    status = "FAILED"
    with pytest.raises(ProviderError, match="FAILED"):
        fetch_insights(start, end, resume_reports, waiting.pending.job)


def resume_report(job: Mapping[str, Any], file: Response | None = None) -> Insights:
    def answer(request: Request) -> Response:
        if request.url.startswith(API):
            return Response(200, {}, round_trip_json({"data": [job]}))
        assert file is not None
        return file

    return fetch_insights(date(2026, 10, 1), date(2026, 10, 2), answer, "5")


JOB = {
    "id_str": "5",
    "status": "SUCCESS",
    "placement": "ALL_ON_TWITTER",
    "start_time": "2026-10-01T04:00:00Z",
    "end_time": "2026-10-03T04:00:00Z",
    "url": "https://ton.twimg.com/5.json.gz",
}


def test_a_change_of_the_clocks_does_not_move_days() -> None:
    file = Response(200, {}, gzip.compress(json.dumps(make_stats("c7", MAIN)).encode()), "bytes")
    assert [row.date.day for row in resume_report(JOB, file).rows] == [1, 2]


@pytest.mark.parametrize(
    ("job", "file"),
    [
        ({"url": "https://ton.twimg.com.evil.example/5"}, None),
        ({"url": "http://ton.twimg.com/5"}, None),
        ({"start_time": "soon"}, None),
        ({}, Response(200, {}, b"\x1f\x8bcut", "bytes")),
        ({}, Response(200, {}, b"<html>", "bytes")),
        ({}, Response(403, {}, None, "empty")),
        ({}, Response(200, {}, b'{"data": [{"id": "c", "id_data": [{"metrics": {"clicks": ["a"]}}]}]}', "bytes")),
        ({}, Response(200, {}, b'{"data": [{"id": "c", "id_data": [{"metrics": 5}]}]}', "bytes")),
    ],
)
def test_a_report_that_cannot_be_read_is_told(job: Mapping[str, Any], file: Response | None) -> None:
    with pytest.raises(ProviderUnreadable):
        resume_report({**JOB, **job}, file)


def test_many_campaigns_are_narrowed_to_those_with_activity() -> None:
    requests: list[Request] = []
    campaigns = [{"id": f"c{number}", "currency": "USD"} for number in range(21)]

    def answer(request: Request) -> Response:
        requests.append(request)
        if "/campaigns" in request.url:
            return Response(200, {}, round_trip_json({"data": campaigns}))
        if "active_entities" in request.url:
            return Response(200, {}, round_trip_json({"data": [{"entity_id": "c3", "placements": ["ALL_ON_TWITTER"]}]}))
        return Response(200, {}, round_trip_json(make_stats("c3", select_metrics(request))))

    insights = fetch_insights(date(2026, 11, 19), date(2026, 11, 20), answer)
    assert [row.impressions for row in insights.rows] == [5210, 4980]
    assert insights.coverage.provisional_from == date(2026, 11, 19)
    window, *rest = [request.query for request in requests[1:]]
    assert (window["start_time"], window["end_time"]) == ("2026-11-19T05:00:00Z", "2026-11-20T13:00:00Z")
    assert [(query["entity_ids"], query["placement"]) for query in rest] == [("c3", "ALL_ON_TWITTER")] * 2


def test_an_account_without_campaigns_delivered_nothing() -> None:
    insights = fetch_insights(
        date(2026, 1, 1), datetime(2026, 11, 1, tzinfo=UTC).date(), make_responder({CAMPAIGNS: {"data": []}})
    )
    assert (insights.rows, insights.totals, insights.coverage.is_complete, insights.coverage.missing_ranges) == (
        (),
        MetricValues(),
        True,
        (),
    )
    assert NO_CAMPAIGNS_NOTE in insights.coverage.notes


def test_campaigns_in_another_currency_are_no_proof_that_nothing_was_delivered() -> None:
    foreign = {CAMPAIGNS: {"data": [{"id": "c1", "currency": "JPY"}]}}
    insights = fetch_insights(date(2026, 11, 1), date(2026, 11, 2), make_responder(foreign))
    assert (insights.rows, insights.coverage.is_complete) == ((), False)
    assert insights.coverage.missing_ranges == (DateRange(date(2026, 11, 1), date(2026, 11, 2)),)
