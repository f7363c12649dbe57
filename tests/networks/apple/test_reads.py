"""The Apple adapter: connecting with a key, the hierarchy, reports, catalogs, edits."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from adsunify.adapter.edits import Edit, Percentage
from adsunify.adapter.hierarchy import ListQuery, parse_entity
from adsunify.adapter.insights import NO_CAMPAIGNS_NOTE, QUIET_DAYS_NOTE, DateRange, MetricValues
from adsunify.adapter.network import get_level
from adsunify.adapter.oauth import NO_OAUTH_CLIENT, Credentials
from adsunify.adapter.settings import build_settings
from adsunify.errors import InvalidInput, ProviderUnreadable, TokenRefused
from adsunify.http.messages import Flow, Request, build_request_url
from adsunify.networks.apple import plans, reads
from adsunify.networks.apple.tables import NETWORK
from tests.networks.calls import make_response, run

from .calls import (
    ACCOUNT,
    API,
    CONTEXT,
    KEY,
    KEY_MEMBERS,
    NOW,
    SECRET,
    make_entity_response,
    make_error_response,
    make_page,
)

MILLISECONDS = 1_793_000_000_123


# -- connect ------------------------------------------------------------------------------------------------------


def decode_part(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def make_token_response(value: str = "t-1") -> Any:
    body = {"access_token": value, "token_type": "Bearer", "expires_in": 3600, "scope": "searchadsorg"}
    return make_response(body)


def test_a_key_becomes_a_token() -> None:
    credentials, (request,) = run(
        reads.fetch_credentials(NO_OAUTH_CLIENT, "", KEY_MEMBERS, "", MILLISECONDS), make_token_response()
    )
    assert credentials == Credentials("t-1", None, MILLISECONDS + 3_600_000, KEY_MEMBERS)
    assert (request.method, request.url, request.encoding, request.is_signed) == (
        "POST",
        "https://appleid.apple.com/auth/oauth2/token",
        "form",
        False,
    )
    secret = request.body["client_secret"]
    assert request.body == {
        "grant_type": "client_credentials",
        "client_id": "SEARCHADS.c",
        "client_secret": secret,
        "scope": "searchadsorg",
    }
    header, claims, signature = secret.split(".")
    assert json.loads(decode_part(header)) == {"alg": "ES256", "kid": "k-1"}
    payload = json.loads(decode_part(claims))
    issued = MILLISECONDS // 1000
    assert payload == {
        "iss": "SEARCHADS.t",
        "sub": "SEARCHADS.c",
        "aud": "https://appleid.apple.com",
        "iat": issued,
        "exp": payload["exp"],
    }
    assert issued < payload["exp"] <= issued + 3600
    raw = decode_part(signature)
    assert len(raw) == 64
    der = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    SECRET.public_key().verify(der, f"{header}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))


def test_equal_input_gives_an_equal_secret() -> None:
    bodies = [
        run(reads.fetch_credentials(NO_OAUTH_CLIENT, "", KEY_MEMBERS, "", MILLISECONDS), make_token_response())[1][
            0
        ].body
        for _ in range(2)
    ]
    assert bodies[0] == bodies[1]


def test_a_refresh_asks_with_the_key_again() -> None:
    expired = Credentials("old", None, MILLISECONDS, KEY_MEMBERS)
    credentials, (request,) = run(
        reads.refresh_credentials(NO_OAUTH_CLIENT, expired, MILLISECONDS + 5000), make_token_response("t-2")
    )
    assert (credentials.access_token, credentials.extras, credentials.expires_at) == (
        "t-2",
        KEY_MEMBERS,
        MILLISECONDS + 3_605_000,
    )
    assert request.body["grant_type"] == "client_credentials"
    for status in (400, 401):
        with pytest.raises(TokenRefused):
            run(
                reads.refresh_credentials(NO_OAUTH_CLIENT, expired, MILLISECONDS),
                make_response({"error": "invalid_client"}, status),
            )


def encode_key(key: Any, form: Any = serialization.PrivateFormat.PKCS8, lock: Any = None) -> str:
    pem: bytes = key.private_bytes(serialization.Encoding.PEM, form, lock or serialization.NoEncryption())
    return pem.decode()


def test_both_forms_of_a_key_are_taken() -> None:
    traditional = encode_key(SECRET, serialization.PrivateFormat.TraditionalOpenSSL)
    assert "BEGIN EC PRIVATE KEY" in traditional and "BEGIN PRIVATE KEY" in KEY
    run(
        reads.fetch_credentials(NO_OAUTH_CLIENT, "", KEY_MEMBERS | {"privateKey": traditional}, "", MILLISECONDS),
        make_token_response(),
    )


@pytest.mark.parametrize(
    "wrong",
    [
        "x",
        KEY[:80],
        encode_key(rsa.generate_private_key(65537, 2048)),
        encode_key(ec.derive_private_key(5, ec.SECP384R1())),
        encode_key(SECRET, lock=serialization.BestAvailableEncryption(b"word")),
        SECRET.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode(),
    ],
)
def test_what_is_no_key(wrong: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        run(reads.fetch_credentials(NO_OAUTH_CLIENT, "", KEY_MEMBERS | {"privateKey": wrong}, "", MILLISECONDS))
    assert [issue.path for issue in refusal.value.issues] == ["privateKey"]
    assert wrong not in str(refusal.value) or wrong == "x"


def test_what_is_missing_is_named() -> None:
    with pytest.raises(InvalidInput) as refusal:
        run(reads.fetch_credentials(NO_OAUTH_CLIENT, "", {"clientId": "c", "keyId": ""}, "", MILLISECONDS))
    assert [issue.path for issue in refusal.value.issues] == ["teamId", "keyId", "privateKey"]


def test_only_apple_gets_the_token() -> None:
    credentials = Credentials("t-1")
    own = reads.sign_request(Request("GET", f"{API}/me"), credentials, NO_OAUTH_CLIENT, 0, "")
    assert own.headers["Authorization"] == "Bearer t-1"
    for url in ("https://api.ads.apple.com.example/v1/me", "http://api.ads.apple.com/v1/me"):
        assert (
            "Authorization" not in reads.sign_request(Request("GET", url), credentials, NO_OAUTH_CLIENT, 0, "").headers
        )


# -- accounts -----------------------------------------------------------------------------------------------------


def test_accounts() -> None:
    acls = {"acls": [{"adAccount": {"id": 7001, "name": "Tea", "orgId": 4}, "roles": ["API Account Manager"]}]}
    acls["acls"].append({"adAccount": {"id": 7002, "name": "Maps", "orgId": 4}, "roles": []})
    whole = {
        "id": 7001,
        "name": "Tea",
        "orgId": 4,
        "timezone": "Europe/Berlin",
        "currency": "EUR",
        "paymentModel": "PAYG",
        "systemStatus": "ACTIVE",
        "productFeatures": ["APPSTORE_APP_MANUAL"],
        "delegations": [{"resourceType": "CONTENT_PROVIDER", "resourceId": "1"}],
    }
    (tea, maps), requests = run(
        reads.discover_accounts(),
        make_entity_response(acls),
        make_entity_response(whole),
        make_error_response("forbidden", 403),
    )
    assert (tea.native_id, tea.name, tea.currency, tea.timezone, tea.native_status) == (
        *("7001", "Tea", "EUR", "Europe/Berlin", "ACTIVE"),
    )
    assert tea.extras == {
        "orgId": "4",
        "paymentModel": "PAYG",
        "productFeatures": "APPSTORE_APP_MANUAL",
        "contentProvider": "true",
    }
    assert (maps.native_id, maps.name, maps.currency) == ("7002", "Maps", None)
    assert [(build_request_url(request), dict(request.headers)) for request in requests] == [
        (f"{API}/acls", {}),
        (f"{API}/ad-accounts/7001", CONTEXT),
        (f"{API}/ad-accounts/7002", {"X-AP-Context": "adAccountId=7002"}),
    ]
    assert run(reads.discover_accounts(), make_entity_response({"acls": []}))[0] == []


# -- the hierarchy ------------------------------------------------------------------------------------------------

CAMPAIGN: dict[str, Any] = {
    "id": 901,
    "name": "Tea",
    "status": "ENABLED",
    "startTime": "2026-12-01T08:00:00.000",
    "dailyBudget": {"value": {"amount": "45.00", "currency": "EUR"}},
    "targeting": {"supplySource": {"include": ["APPSTORE"]}, "countryOrRegion": {"include": ["DE"]}},
    "bidStrategy": {"bidStrategyType": "MANUAL_CPT", "bidStrategyGoal": "TAP"},
}
GROUP: dict[str, Any] = {
    "id": 902,
    "campaignId": 901,
    "name": "Group",
    "status": "PAUSED",
    "bidStrategy": {
        "bidStrategyType": "MANUAL_CPT",
        "bidStrategyGoal": "TAP",
        "bid": {"amount": "1.00", "currency": "EUR"},
    },
    "targeting": {"deviceClass": {"include": ["IPHONE"]}, "adminArea": {"include": ["1"], "exclude": ["2"]}},
}
AD = {"id": 904, "campaignId": 901, "adGroupId": 902, "name": "Ad", "status": "PAUSED", "creativeId": 5}
WORD = {"id": 903, "campaignId": 901, "adGroupId": 902, "text": "tea", "status": "PAUSED"}


def test_the_tree() -> None:
    second = CAMPAIGN | {"id": 911}
    tree, requests = run(
        reads.fetch_tree(ACCOUNT),
        make_page(CAMPAIGN, total=2),
        make_page(second, offset=1, total=2),
        make_page(GROUP),
        make_page(AD),
        make_page(WORD),
        make_page(),
    )
    assert [(node.kind, node.id, node.parent_id, node.name, node.status) for node in tree.nodes] == [
        ("campaign", "901", None, "Tea", "active"),
        ("campaign", "911", None, "Tea", "active"),
        ("adGroup", "902", "901", "Group", "paused"),
        ("ad", "904", "902", "Ad", "paused"),
        ("keyword", "903", "902", "tea", "paused"),
    ]
    assert {request.kind for request in requests} == {"read"}
    assert [request.body["pagination"]["offset"] for request in requests] == [0, 1, 0, 0, 0, 0]
    assert [request.body.get("filters") for request in requests[4:]] == [
        [{"field": "campaignId", "operator": "EQUALS", "value": number}] for number in (901, 911)
    ]


def test_lists() -> None:
    page, (request,) = run(
        reads.list_entities(ACCOUNT, "adGroup", ListQuery(limit=1, parent_id="901", status="PAUSED")),
        make_page(GROUP, total=3),
    )
    assert [row.id for row in page.entities] == ["902"] and page.cursor == "1"
    assert build_request_url(request) == f"{API}/adgroups/query"
    assert request.body == {
        "filters": [
            {"field": "campaignId", "operator": "EQUALS", "value": 901},
            {"field": "status", "operator": "EQUALS", "value": "PAUSED"},
        ],
        "pagination": {"offset": 0, "pageSize": 1, "fetchTotalCount": True},
    }
    _, (request,) = run(reads.list_entities(ACCOUNT, "campaign", ListQuery(search="tea", cursor="4")), make_page())
    assert request.body["filters"] == [{"field": "name", "operator": "LIKE", "value": "tea", "ignoreCase": True}]
    assert request.body["pagination"]["offset"] == 4


def test_ads_are_searched_here() -> None:
    ads = [AD | {"id": number, "name": name} for number, name in enumerate(["Tea", "x", "tea", "TEA"], 1)]
    first, _ = run(
        reads.list_entities(ACCOUNT, "ad", ListQuery(limit=2, search="tea")),
        make_page(*ads[:2], total=4),
        make_page(*ads[2:], total=4),
    )
    assert [row.id for row in first.entities] == ["1", "3"] and first.cursor == "3"
    rest, _ = run(
        reads.list_entities(ACCOUNT, "ad", ListQuery(limit=2, search="tea", cursor="3")),
        make_page(ads[3], offset=3, total=4),
    )
    assert [row.id for row in rest.entities] == ["4"] and rest.cursor is None


def test_one_entity() -> None:
    entity, (request,) = run(
        reads.fetch_entity(ACCOUNT, "campaign", "901"), make_entity_response(CAMPAIGN | {"deleted": True})
    )
    assert (entity.status, build_request_url(request), dict(request.headers)) == (
        "deleted",
        f"{API}/campaigns/901",
        CONTEXT,
    )
    for wrong in (
        make_entity_response(CAMPAIGN | {"id": 1}),
        make_response({}),
        make_response({"result": []}),
        make_error_response("x", 200),
    ):
        with pytest.raises(ProviderUnreadable):
            run(reads.fetch_entity(ACCOUNT, "campaign", "901"), wrong)


# -- insights -----------------------------------------------------------------------------------------------------


def make_day(day: str, taps: int | None, spend: str, installs: int) -> dict[str, Any]:
    figures = {"date": day, "impressions": 10, "localSpend": {"amount": spend, "currency": "EUR"}}
    return figures | {"totalInstalls": installs} | ({} if taps is None else {"taps": taps})


def make_report(*rows: dict[str, Any]) -> Any:
    return make_response(
        {"result": {"rows": list(rows)}, "pagination": {"offset": 0, "pageSize": 1000, "totalCount": len(rows)}}
    )


START, END = date(2026, 11, 1), date(2026, 11, 3)
ROWS = (
    {
        "metadata": {"id": 11},
        "granularMetrics": [make_day("2026-11-01", 3, "1.10", 1), make_day("2026-11-02", 1, "0.20", 0)],
    },
    {
        "metadata": {"id": 12},
        "granularMetrics": [make_day("2026-11-01", 2, "0.90", 2), make_day("2026-11-02", None, "1", 0)],
    },
)


def test_days_are_summed_over_the_campaigns() -> None:
    insights, (list_request, report_request) = run(
        reads.fetch_insights(ACCOUNT, START, END, None, NOW), make_page({"id": 11}, {"id": 12}), make_report(*ROWS)
    )
    assert list_request.body["filters"] == [{"field": "deleted", "operator": "IN", "value": [True, False]}]
    assert (build_request_url(report_request), report_request.kind) == (f"{API}/reports/apps/campaigns/query", "read")
    assert report_request.body == {
        "timeRange": {"start": "2026-11-01", "end": "2026-11-03", "timeZone": "ORTZ", "granularity": "DAILY"},
        "filters": [{"field": "campaignId", "operator": "IN", "value": ["11", "12"]}],
        "fields": ["impressions", "taps", "localSpend", "totalInstalls", "tapInstalls", "viewInstalls"],
        "pagination": {"offset": 0, "pageSize": 1000},
    }
    rows = [(row.date.day, row.impressions, row.clicks, row.spend, row.conversions, row.reach) for row in insights.rows]
    assert rows == [(1, 20, 5, "2", "3", None), (2, 20, None, "1.2", "0", None)]
    assert insights.coverage.missing_ranges == (DateRange(END, END),)  # of a day without a row nothing is known
    assert insights.totals == MetricValues()


def test_one_day_is_told_by_the_totals() -> None:
    row = {"metadata": {"id": 11}, "totalMetrics": {"impressions": 7, "taps": 1}}
    insights, requests = run(
        reads.fetch_insights(ACCOUNT, START, START, None, NOW), make_page({"id": 11}), make_report(row)
    )
    assert "granularity" not in requests[1].body["timeRange"]
    assert [(row.date, row.impressions, row.spend) for row in insights.rows] == [(START, 7, None)]


def test_a_report_that_takes_one_campaign_only() -> None:
    insights, requests = run(
        reads.fetch_insights(ACCOUNT, START, END, None, NOW),
        *(
            make_page({"id": 11}, {"id": 12}),
            make_error_response("VALIDATION_ERROR", 400),
            make_report(ROWS[0]),
            make_report(ROWS[1]),
        ),
    )
    assert [request.body["filters"][0]["operator"] for request in requests[1:]] == ["IN", "EQUALS", "EQUALS"]
    assert [request.body["filters"][0]["value"] for request in requests[2:]] == ["11", "12"]
    assert insights.rows[0].clicks == 5


def test_without_campaigns_nothing_is_asked() -> None:
    insights, requests = run(reads.fetch_insights(ACCOUNT, START, END, None, NOW), make_page())
    assert (insights.rows, len(requests), insights.coverage.is_complete) == ((), 1, True)
    assert (insights.coverage.missing_ranges, insights.coverage.notes[-2:]) == (
        (),
        [NO_CAMPAIGNS_NOTE, QUIET_DAYS_NOTE],
    )


def test_what_lies_ahead_is_not_asked() -> None:
    later = datetime(2026, 11, 2, 23, 30, tzinfo=UTC)  # the 3rd in Berlin
    insights, _ = run(reads.fetch_insights(ACCOUNT, START, END, None, later), make_page())
    assert insights.coverage.provisional_from == END
    insights, _ = run(reads.fetch_insights(ACCOUNT, START, date(2026, 11, 4), None, later), make_page())
    assert list(insights.coverage.missing_ranges) == [DateRange(date(2026, 11, 4), date(2026, 11, 4))]
    insights, requests = run(
        reads.fetch_insights(ACCOUNT, START, date(2026, 11, 9), None, later), make_page({"id": 11}), make_report()
    )
    assert requests[1].body["timeRange"]["end"] == "2026-11-03"
    insights, requests = run(reads.fetch_insights(ACCOUNT, date(2026, 12, 1), date(2026, 12, 2), None, later))
    assert (insights.rows, requests) == ((), [])


# -- catalogs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("resource", "method", "address"),
    [
        ("creatives", "POST", "/creatives/query"),
        ("product_pages:1440000001", "POST", "/product-pages/query"),
        ("apps:yoga_timer", "GET", "/search/apps?query=yoga%20timer&returnOwnedApps=true"),
        ("app:1440000001", "GET", "/apps/1440000001"),
        ("eligibility:1440000001", "POST", "/eligibilities/apps/query"),
        ("locations:de-bay", "GET", "/search/geo?supplySource=APPSTORE&countrycode=DE&query=bay&offset=0&pageSize=50"),
        ("locations:DE", "GET", "/search/geo?supplySource=APPSTORE&countrycode=DE&offset=0&pageSize=50"),
        ("supported_languages", "POST", "/metadata/apps/supported-languages/query"),
        ("keywords:902", "POST", "/keywords/query"),
        ("accounts_resources", "GET", "/advertiser-resources?resourceType=CONTENT_PROVIDER"),
    ],
)
def test_catalogs(resource: str, method: str, address: str) -> None:
    single = resource.startswith("app:")
    reply = make_entity_response({"adamId": "1440000001", "name": "Yoga"}) if single else make_page()
    _, (request,) = run(reads.fetch_catalog_page(ACCOUNT, resource, ListQuery()), reply)
    assert (request.method, build_request_url(request)) == (method, API + address)
    assert dict(request.headers) == ({} if resource == "accounts_resources" else CONTEXT)


def test_locations_are_named_by_their_dimension() -> None:
    row = {"id": "20039", "entity": "AdminArea", "displayName": "Bayern, Germany"}
    page, _ = run(reads.fetch_catalog_page(ACCOUNT, "locations:DE", ListQuery(limit=1)), make_page(row, total=4))
    assert [(row.id, row.name) for row in page.rows] == [("AdminArea:20039", "Bayern, Germany")]
    assert page.cursor == "1"


@pytest.mark.parametrize("resource", ["product_pages:tea", "locations:Germany", "locations:DE-x", "keywords", "apps"])
def test_catalogs_that_are_not_asked(resource: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        run(reads.fetch_catalog_page(ACCOUNT, resource, ListQuery()))
    assert refusal.value.issues[0].path == "resource"


# -- edits --------------------------------------------------------------------------------------------------------


def plan_edit(kind: Any, entity: dict[str, Any], *more: Any, **parts: Any) -> Any:
    plan, _ = run(
        plans.plan_edit(ACCOUNT, kind, str(entity["id"]), Edit(**parts), NOW), make_entity_response(entity), *more
    )
    return plan


def test_a_campaign_is_edited() -> None:
    fields = {
        "budget": Percentage("increase", Decimal(10)),
        "endAt": "2027-01-01T00:00:00+01:00",
        "countries": "DE, AT",
    }
    plan = plan_edit("campaign", CAMPAIGN, fields=fields)
    (step,) = plan.steps
    assert (step.request.method, build_request_url(step.request), plan.risk) == ("PUT", f"{API}/campaigns/901", "spend")
    assert step.request.body == {
        "dailyBudget": {"value": {"amount": "49.5", "currency": "EUR"}},
        "endTime": "2026-12-31T23:00:00.000",
        "targeting": CAMPAIGN["targeting"] | {"countryOrRegion": {"include": ["DE", "AT"]}},
    }
    assert [(change.field, change.before, change.after) for change in step.changes] == [
        ("budget", "45", "49.5"),
        ("endAt", None, "2026-12-31T23:00:00.000Z"),
        ("countries", ["DE"], ["DE", "AT"]),
    ]
    lower = plan_edit("campaign", CAMPAIGN, fields={"budget": "40"})
    assert lower.risk == "low"


def test_the_pair_goes_with_the_bid() -> None:
    plan = plan_edit("adGroup", GROUP, fields={"bid": "1.20"})
    pair = {"bidStrategyType": "MANUAL_CPT", "bidStrategyGoal": "TAP"}
    assert plan.steps[0].request.body == {"bidStrategy": pair | {"bid": {"amount": "1.2", "currency": "EUR"}}}
    assert plan.risk == "spend"
    inherits = {name: value for name, value in GROUP.items() if name != "bidStrategy"}
    plan = plan_edit("adGroup", inherits, make_entity_response(CAMPAIGN), fields={"bid": "1.20"})
    assert plan.steps[0].request.body["bidStrategy"] == pair | {"bid": {"amount": "1.2", "currency": "EUR"}}
    automatic = GROUP | {"bidStrategy": {"bidStrategyType": "MAX_CONVERSIONS", "bidStrategyGoal": "INSTALL"}}
    with pytest.raises(InvalidInput) as refusal:
        plan_edit("adGroup", automatic, fields={"bid": "1.20"})
    assert refusal.value.issues[0].code == "locked"


def test_a_strategy_is_changed_whole() -> None:
    bidding = CAMPAIGN | {"bidStrategy": GROUP["bidStrategy"]}
    plan = plan_edit("campaign", bidding, fields={"bidStrategy": "MAX_CONVERSIONS"})
    assert plan.steps[0].request.body == {
        "bidStrategy": {"bidStrategyType": "MAX_CONVERSIONS", "bidStrategyGoal": "INSTALL"}
    }
    assert plan.risk == "spend" and plan.warnings


def test_search_match_warns() -> None:
    plan = plan_edit("adGroup", GROUP, fields={"searchMatch": "true"})
    assert plan.steps[0].request.body == {"automatedKeywordsOptIn": True} and plan.warnings


def test_targeting_is_laid_over_the_whole() -> None:
    targeting = {
        "locations": [{"id": "Locality:9", "name": "Berlin"}],
        "genders": ["female"],
        "ageMin": 20,
        "ageMax": 60,
        "devices": [],
    }
    plan = plan_edit("adGroup", GROUP, targeting=targeting)
    assert plan.steps[0].request.body["targeting"] == {
        "deviceClass": {"include": []},
        "adminArea": {"include": [], "exclude": ["2"]},
        "locality": {"include": ["9"]},
        "gender": {"include": ["F"]},
        "minAge": {"include": ["20"]},
        "maxAge": {"include": ["60"]},
    }
    without_end = plan_edit("adGroup", GROUP | {"targeting": {"maxAge": {"include": ["60"]}}}, targeting={"ageMax": 65})
    assert without_end.steps[0].request.body["targeting"] == {"maxAge": {"include": []}}
    plan = plan_edit("campaign", CAMPAIGN, targeting={"locations": [{"id": "FR", "name": "France"}]})
    assert plan.steps[0].request.body["targeting"]["countryOrRegion"] == {"include": ["FR"]}


@pytest.mark.parametrize(
    ("kind", "entity", "parts", "path"),
    [
        ("campaign", CAMPAIGN, {"fields": {"endAt": "2026-11-01T00:00:00Z"}}, "fields.endAt"),
        ("campaign", CAMPAIGN, {"fields": {"startAt": "x"}}, "fields.startAt"),
        ("campaign", CAMPAIGN, {"fields": {"countries": "de"}}, "fields.countries"),
        ("campaign", CAMPAIGN, {"fields": {"billingEvent": "TAPS"}}, "fields.billingEvent"),
        ("campaign", CAMPAIGN, {"fields": {"lifetimeBudget": "5"}}, "fields.lifetimeBudget"),
        ("campaign", CAMPAIGN | {"deleted": True}, {"fields": {"name": "x"}}, "fields.name"),
        ("campaign", CAMPAIGN, {"targeting": {"locations": []}}, "targeting.locations"),
        ("campaign", CAMPAIGN, {"targeting": {"genders": ["male"]}}, "targeting.genders"),
        ("adGroup", GROUP, {"targeting": {"genders": ["unknown"]}}, "targeting.genders"),
        ("adGroup", GROUP, {"targeting": {"ageMin": 13}}, "targeting.ageMin"),
        ("adGroup", GROUP, {"targeting": {"ageMin": 40, "ageMax": 30}}, "targeting.ageMin"),
        ("adGroup", GROUP, {"targeting": {"devices": [{"id": "ANDROID", "name": "A"}]}}, "targeting.devices.0.id"),
        ("ad", AD, {"fields": {"creativeId": "6"}}, "fields.creativeId"),
        ("ad", AD, {"targeting": {"genders": ["male"]}}, "targeting"),
    ],
)
def test_edits_that_are_refused(kind: Any, entity: dict[str, Any], parts: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        plan_edit(kind, entity, **parts)
    assert {issue.path for issue in refusal.value.issues} == {path}


def test_an_ad_keeps_its_creative() -> None:
    with pytest.raises(InvalidInput) as refusal:
        run(plans.plan_edit(ACCOUNT, "ad", "904", Edit(creative={"existingId": "6"}), NOW))
    assert refusal.value.issues[0].path == "creative"


def test_settings() -> None:
    settings = build_settings(NETWORK, ACCOUNT, "901", parse_entity(get_level(NETWORK, "campaign"), CAMPAIGN), NOW)
    fields = {row["field"]: row for row in settings["fields"]}
    assert (fields["budget"]["value"], fields["budget"]["unit"], fields["budget"]["period"]) == ("45", "EUR", "daily")
    assert fields["startAt"]["value"] == "2026-12-01T08:00:00.000Z"
    assert fields["promotedObjectId"]["locked"] and fields["name"]["locked"] is None
    assert settings["bidding"]["bidStrategy"] == CAMPAIGN["bidStrategy"]


@pytest.mark.parametrize("body", [[], {}, {"result": None}, {"result": 5}, {"result": {"x": 1}}, {"result": [5]}, "x"])
def test_readers_raise_nothing_of_their_own(body: Any) -> None:
    reply = make_response(body)
    flows: list[Callable[[], Flow[Any]]] = [
        lambda: reads.discover_accounts(),
        lambda: reads.fetch_tree(ACCOUNT),
        lambda: reads.list_entities(ACCOUNT, "ad", ListQuery()),
        lambda: reads.fetch_entity(ACCOUNT, "ad", "904"),
        lambda: reads.fetch_insights(ACCOUNT, START, END, None, NOW),
        lambda: reads.fetch_catalog_page(ACCOUNT, "creatives", ListQuery()),
        lambda: reads.refresh_credentials(NO_OAUTH_CLIENT, Credentials("", extras=KEY_MEMBERS), 0),
        lambda: plans.plan_edit(ACCOUNT, "adGroup", "902", Edit(fields={"bid": "1"}), NOW),
    ]
    for flow in flows:
        try:
            result, _ = run(flow(), reply)
        except ProviderUnreadable:
            continue
        assert not getattr(result, "rows", ())
