"""The Outbrain adapter: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

import base64
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from adsunify.adapter.hierarchy import ListQuery
from adsunify.adapter.oauth import NO_OAUTH_CLIENT, Credentials
from adsunify.errors import (
    InvalidInput,
    ProviderError,
    ProviderNotFound,
    ProviderThrottled,
    ProviderUnreadable,
    TokenRefused,
)
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.networks.outbrain import reads
from tests.networks.calls import make_response, run

from .calls import ACCOUNT, API, BUDGET, CAMPAIGN, LINK, MARKETER, make_budget, make_campaign, make_link

NIGHT = datetime(2027, 5, 8, 2, tzinfo=UTC)  # the evening of the 7th in New York
NO_BODY = Response.from_bytes(200, {}, b"")


# -- connect ----------------------------------------------------------------------------------------------------------


def exchange_credentials(*answers: Response, **members: str) -> tuple[Any, list[Request]]:
    return run(reads.fetch_credentials(NO_OAUTH_CLIENT, "", members, "", 1000), *answers)


def test_a_password_is_used_once() -> None:
    credentials, (request,) = exchange_credentials(
        make_response({"OB-TOKEN-V1": "t0k"}), username="anne", password="ä:b"
    )
    assert credentials == Credentials("t0k", None, 1000 + 30 * 86_400_000)
    assert build_request_url(request) == f"{API}/login"
    user_and_password = base64.b64decode(request.headers["Authorization"].removeprefix("Basic ")).decode()
    assert (user_and_password, request.kind, request.is_signed) == ("anne:ä:b", "read_once", False)


def test_a_token_is_proven_by_a_read() -> None:
    credentials, (request,) = exchange_credentials(make_response({"marketers": [], "count": 0}), apiKey="t0k")
    assert credentials == Credentials("t0k")
    assert (build_request_url(request), request.headers) == (f"{API}/marketers", {"OB-TOKEN-V1": "t0k"})


@pytest.mark.parametrize("members", [{"apiKey": "wrong"}, {"username": "anne", "password": "wrong"}])
def test_wrong_credentials(members: dict[str, str]) -> None:
    with pytest.raises(TokenRefused):
        exchange_credentials(make_response({"errorMessage": "no"}, 401), **members)
    with pytest.raises(ProviderThrottled) as slow:
        exchange_credentials(make_response({"errorMessage": "no"}, 429, rate_limit_msec_left="60000"), **members)
    assert slow.value.retry_after == 60


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"apiKey": "two words"}, "apiKey"),
        ({"apiKey": "line\nbreak"}, "apiKey"),
        ({"username": "a:b", "password": "c"}, "username"),
        ({"username": "a", "password": "\x00"}, "password"),
        ({"username": "a"}, "password"),
        ({}, "username"),
    ],
)
def test_malformed_credentials_are_not_sent(members: dict[str, str], path: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        exchange_credentials(**members)
    assert [issue.path for issue in refusal.value.issues] == [path]


@pytest.mark.parametrize("body", [{}, {"OB-TOKEN-V1": ""}, {"OB-TOKEN-V1": 5}, {"OB-TOKEN-V1": "a\nb"}, []])
def test_an_answer_without_a_token(body: Any) -> None:
    with pytest.raises(ProviderUnreadable):
        exchange_credentials(make_response(body), username="a", password="b")


def test_tokens_are_neither_renewed_nor_revoked() -> None:
    credentials = Credentials("t0k", None, 5)
    assert run(reads.refresh_credentials(NO_OAUTH_CLIENT, credentials, 1)) == (credentials, [])
    assert run(reads.revoke_credentials(NO_OAUTH_CLIENT, Credentials("t0k"))) == (None, [])


def test_only_outbrain_gets_the_token() -> None:
    for url, headers in ((f"{API}/marketers", {"OB-TOKEN-V1": "t0k"}), ("https://other.example/", {})):
        signed = reads.sign_request(Request("GET", url), Credentials("t0k"), NO_OAUTH_CLIENT, 1, "")
        assert signed.headers == headers


# -- accounts ---------------------------------------------------------------------------------------------------------


def test_the_currency_is_that_of_a_budget() -> None:
    marketers = [{"id": "m1", "name": "Shop", "enabled": True}, {"id": "m2", "name": "New", "enabled": False}]
    accounts, requests = run(
        reads.discover_accounts(),
        make_response({"marketers": marketers}),
        make_response({"count": 1, "budgets": [make_budget(currency="EUR")]}),
        make_response({"count": 0, "budgets": []}),
    )
    assert [(account.native_id, account.currency, account.timezone, account.native_status) for account in accounts] == [
        ("m1", "EUR", "America/New_York", "enabled"),
        ("m2", None, "America/New_York", "disabled"),
    ]
    assert build_request_url(requests[1]) == f"{API}/marketers/m1/budgets"


# -- the hierarchy ----------------------------------------------------------------------------------------------------


def make_campaigns(*ids: str, total: int | None = None, **members: Any) -> Response:
    campaigns = [make_campaign(id=entity_id, name=entity_id, **members) for entity_id in ids]
    return make_response(
        {"count": len(ids), "totalCount": len(ids) if total is None else total, "campaigns": campaigns}
    )


def make_links(*ids: str, total: int | None = None, **members: Any) -> Response:
    links = [make_link(id=entity_id, text=entity_id, **members) for entity_id in ids]
    return make_response(
        {"count": len(ids), "totalCount": len(ids) if total is None else total, "promotedLinks": links}
    )


def test_the_tree_has_two_levels() -> None:
    tree, requests = run(
        reads.fetch_tree(ACCOUNT),
        make_campaigns("a", total=2),
        make_campaigns("b", total=2),
        make_links("x"),
        make_links("y"),
    )
    assert [(node.kind, node.id, node.parent_id, node.status) for node in tree.nodes] == [
        ("campaign", "a", None, "paused"),
        ("campaign", "b", None, "paused"),
        ("ad", "x", "a", "paused"),
        ("ad", "y", "b", "paused"),
    ]
    assert [request.query.get("offset") for request in requests] == ["0", "1", "0", "0"]
    assert requests[0].query["limit"] == "50"


def test_a_list_of_a_hundred_takes_two_calls() -> None:
    first, second = [f"c{n}" for n in range(50)], [f"c{n}" for n in range(50, 100)]
    flow = reads.list_entities(ACCOUNT, "campaign", ListQuery(limit=100))
    page, requests = run(flow, make_campaigns(*first, total=120), make_campaigns(*second, total=120))
    assert len(page.entities) == 100
    assert (page.cursor, [request.query["offset"] for request in requests]) == ("100", ["0", "50"])


def test_what_the_list_cannot_filter_is_filtered_here() -> None:
    flow = reads.list_entities(ACCOUNT, "campaign", ListQuery(limit=1, status="enabled", search="B"))
    page, _ = run(
        flow, make_campaigns("a", total=3), make_campaigns("b", total=3), make_campaigns("b2", total=3, enabled=True)
    )
    assert [entity.id for entity in page.entities] == ["b2"]
    assert page.cursor is None
    archived = reads.list_entities(ACCOUNT, "campaign", ListQuery(status="archived"))
    page, (request,) = run(archived, make_campaigns("a", autoArchived=True))
    assert (page.entities[0].status, request.query["includeArchived"]) == ("archived", "true")


def test_links_are_walked_campaign_by_campaign() -> None:
    names = make_response({"campaigns": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]})
    page, requests = run(
        reads.list_entities(ACCOUNT, "ad", ListQuery(limit=2)), names, make_links("x"), make_links("y", "z")
    )
    assert [entity.id for entity in page.entities] == ["x", "y"]
    assert (page.cursor, build_request_url(requests[1]).partition("?")[0]) == (
        "b.1",
        f"{API}/campaigns/a/promotedLinks",
    )
    rest, requests = run(
        reads.list_entities(ACCOUNT, "ad", ListQuery(limit=2, cursor="b.1")), names, make_links("z", total=2)
    )
    assert [entity.id for entity in rest.entities] == ["z"]
    assert (rest.cursor, requests[1].query["offset"]) == (None, "1")
    own = reads.list_entities(ACCOUNT, "ad", ListQuery(parent_id="a", status="disabled"))
    page, (request,) = run(own, make_links("x"))
    assert (page.entities[0].parent_id, request.query["enabled"]) == ("a", "false")


@pytest.mark.parametrize(("kind", "cursor"), [("campaign", "b.1"), ("campaign", "x"), ("ad", "b.")])
def test_strange_cursors(kind: str, cursor: str) -> None:
    with pytest.raises(InvalidInput):
        run(reads.list_entities(ACCOUNT, kind, ListQuery(cursor=cursor)))


def test_an_entity_is_the_one_that_was_asked_for() -> None:
    answers = make_response(make_link(enabled=True)), make_response(make_campaign())
    entity, (link_request, above) = run(reads.fetch_entity(ACCOUNT, "ad", LINK), *answers)
    assert (entity.id, entity.parent_id, entity.native_status, entity.status) == (LINK, CAMPAIGN, "enabled", "active")
    assert [build_request_url(request) for request in (link_request, above)] == [
        f"{API}/promotedLinks/{LINK}",
        f"{API}/campaigns/{CAMPAIGN}",
    ]
    with pytest.raises(ProviderUnreadable):
        run(reads.fetch_entity(ACCOUNT, "ad", LINK), make_response(make_link(id="another")))
    with pytest.raises(ProviderNotFound):
        run(reads.fetch_entity(ACCOUNT, "campaign", CAMPAIGN), make_response(make_campaign(marketerId="another")))
    with pytest.raises(ProviderNotFound):
        run(
            reads.fetch_entity(ACCOUNT, "ad", LINK),
            make_response(make_link()),
            make_response(make_campaign(marketerId="another")),
        )
    with pytest.raises(ProviderUnreadable):
        run(reads.fetch_entity(ACCOUNT, "campaign", CAMPAIGN), make_response(make_campaign(marketerId=None)))


def test_an_edit_needs_the_budget() -> None:
    entity, requests = run(
        reads.fetch_editable_entity(ACCOUNT, "campaign", CAMPAIGN),
        make_response(make_campaign()),
        make_response(make_budget()),
    )
    assert entity.native["budget"]["amount"] == Decimal("60.5")
    assert build_request_url(requests[1]) == f"{API}/budgets/{BUDGET}"


# -- insights ---------------------------------------------------------------------------------------------------------


def make_day(day: str, **metrics: Any) -> dict[str, Any]:
    return {"metadata": {"fromDate": day}, "metrics": metrics}


def make_report(*days: dict[str, Any], total: int | None = None) -> Response:
    return make_response({"results": list(days), "totalResults": len(days) if total is None else total})


def test_a_report() -> None:
    full = make_day(
        "2027-05-01",
        impressions=Decimal("826217.00"),
        clicks=Decimal("2.0"),
        spend=Decimal("10.30"),
        totalConversions=Decimal("1.5"),
        totalSumValue=7,
        videoPlays=0,
        dstFeeCost=3,
    )
    flow = reads.fetch_insights(ACCOUNT, date(2027, 5, 1), date(2027, 5, 7), None, NIGHT)
    insights, requests = run(
        flow,
        make_report(full, total=2),
        make_report(make_day("2027-05-02", impressions=Decimal("1.5"), clicks=3, spend=0), total=2),
        make_response({"fullDayDate": "2027-05-05"}),
    )
    assert insights.rows[0].to_json() == {
        "date": "2027-05-01",
        "impressions": 826217,
        "clicks": 2,
        "spend": "10.3",
        "conversions": "1.5",
        "conversionValue": "7",
        "videoViews": 0,
        "reach": None,
    }
    second = insights.rows[1]
    assert (second.impressions, second.clicks, second.spend, second.conversions) == (None, 3, "0", None)
    assert (insights.coverage.provisional_from, insights.coverage.timezone) == (date(2027, 5, 6), "America/New_York")
    assert build_request_url(requests[0]) == (
        f"{API}/reports/marketers/{MARKETER}/periodic?from=2027-05-01&to=2027-05-07&breakdown=daily&limit=500&offset=0"
        "&sort=%2BfromDate&includeArchivedCampaigns=true&enabledCampaignsOnly=false&includeVideoStats=true"
    )
    assert requests[1].query["offset"] == "1"


def test_without_a_word_on_freshness_today_is_partial() -> None:
    flow = reads.fetch_insights(ACCOUNT, date(2027, 5, 1), date(2027, 5, 9), None, NIGHT)
    insights, _ = run(flow, make_report(), make_response({"errorMessage": "no"}, 500))
    assert insights.coverage.provisional_from == date(2027, 5, 7)
    assert insights.rows == ()


def test_long_ranges_are_asked_for_in_parts() -> None:
    flow = reads.fetch_insights(ACCOUNT, date(2023, 1, 1), date(2027, 5, 1), None, NIGHT)
    _, requests = run(flow, make_report(), make_report(), make_response({"fullDayDate": "2027-05-05"}))
    assert [(request.query["from"], request.query["to"]) for request in requests[:2]] == [
        ("2023-01-01", "2025-12-30"),
        ("2025-12-31", "2027-05-01"),
    ]


@pytest.mark.parametrize("body", [{"results": 5}, {"results": [{"metadata": {}}]}, {"results": [make_day("soon")]}])
def test_reports_that_cannot_be_read(body: Any) -> None:
    with pytest.raises(ProviderError):
        run(
            reads.fetch_insights(ACCOUNT, date(2027, 5, 1), date(2027, 5, 2), None, NIGHT), make_response(body), NO_BODY
        )


# -- catalogs ---------------------------------------------------------------------------------------------------------


def read_catalog(resource: str, body: Any, **query: Any) -> tuple[list[tuple[str, str]], Request]:
    page, (request,) = run(reads.fetch_catalog_page(ACCOUNT, resource, ListQuery(**query)), make_response(body))
    return [(row.id, row.name) for row in page.rows], request


def test_catalogs() -> None:
    place = {"id": "p1", "name": "York", "canonicalName": "New York, United States", "geoType": "Region"}
    rows, request = read_catalog("locations:new_york", {"geoLocations": [place]})
    assert (rows, request.query["term"]) == ([("p1", "New York, United States")], "new york")
    assert request.query["locationsVersion"] == "V2"
    assert read_catalog("browsers", ["Safari", "Other"])[0] == [("Safari", "Safari"), ("Other", "Other")]
    assert read_catalog("languages", [{"code": "en", "name": "English"}])[0] == [("en", "English")]
    assert read_catalog("budgets", {"budgets": [make_budget()]})[0] == [(BUDGET, "Sleep guide 12345678")]
    assert read_catalog("iab_categories", {"categories": [{"categoryId": 7, "categoryName": "Tea"}]})[0] == [
        ("7", "Tea")
    ]


def test_interests_below_others_are_found() -> None:
    below = {"id": "i2", "name": "Green tea", "canBeTargeted": True}
    tree = {"interests": [{"id": "i1", "name": "Tea", "canBeTargeted": False, "subConcepts": [below]}]}
    rows, request = read_catalog("interests", tree)
    assert (rows, build_request_url(request)) == ([("i2", "Green tea")], f"{API}/interests/all")
    assert (
        build_request_url(read_catalog("interests:tea", tree, limit=5)[1]) == f"{API}/interests/search?term=tea&limit=5"
    )


def test_links_of_a_campaign_come_in_pages() -> None:
    page, _ = run(
        reads.fetch_catalog_page(ACCOUNT, "promoted_links:c1", ListQuery(limit=2)), make_links("a", "b", total=3)
    )
    assert ([row.id for row in page.rows], page.cursor) == (["a", "b"], "2")
    page, (request,) = run(
        reads.fetch_catalog_page(ACCOUNT, "promoted_links:c1", ListQuery(limit=2, cursor="2")), make_links("c", total=3)
    )
    assert (page.cursor, request.query["offset"]) == (None, "2")


def test_segments_may_not_be_offered() -> None:
    with pytest.raises(InvalidInput):
        run(reads.fetch_catalog_page(ACCOUNT, "segments", ListQuery()), make_response({"errorMessage": "no"}, 404))
    with pytest.raises(ProviderNotFound):
        run(reads.fetch_catalog_page(ACCOUNT, "budgets", ListQuery()), make_response({"errorMessage": "no"}, 404))
