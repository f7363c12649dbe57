"""The Meta adapter: plans as the Marketing API documents them, refusals, edits, outcomes, and reads page by page."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from adsunify import editing
from adsunify.brief import read_brief
from adsunify.checks import check
from adsunify.connecting import App, Credentials
from adsunify.editing import Edit, Percentage
from adsunify.errors import (
    InvalidInput,
    ProviderError,
    ProviderNotFound,
    ProviderThrottled,
    ProviderUnreadable,
    TokenRefused,
)
from adsunify.network import Account, words
from adsunify.networks import adapter
from adsunify.networks.meta import native, plans, reads
from adsunify.networks.meta.tables import NETWORK
from adsunify.outcomes import Ambiguous, Applied, Rejected, Throttled, outcome
from adsunify.planning import plan
from adsunify.reading import Query, drive
from adsunify.steps import Plan, Step, bound
from adsunify.wire import Flow, Json, Request, Response, dumps, filled, loads

ACCOUNT = Account("meta", "act_7007", "EUR", "Europe/Oslo")
GRAPH = "https://graph.facebook.com/v26.0"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
APP = App("app-1", "app-secret")
BRIEF: dict[str, Any] = {
    "name": "Tea spring",
    "goal": "traffic",
    "budget": {"amount": "18.50", "currency": "EUR", "period": "daily"},
    "bid": "0.42",
    "schedule": {"startAt": "2027-03-01T09:00:00+01:00"},
    "targeting": {"countries": ["NO"]},
    "creative": {
        "headline": "Spring tea",
        "body": "Fresh leaves.",
        "url": "https://tea.example/",
        "imageHash": "0f1e2d",
    },
    "platform": {"pageId": "9009"},
}
LIFETIME = {"budget__period": "lifetime", "schedule__endAt": "2027-03-31T09:00:00Z"}
CONVERSIONS = {
    "goal": "conversions",
    "bid": None,
    "platform__pixelId": "5",
    "platform__conversionEvent": "PURCHASE",
}


def brief(**changes: Any) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(json.dumps(BRIEF))
    for path, new in changes.items():
        *way, last = path.split("__")
        holder = value
        for part in way:
            holder = holder[part]
        if new is None:
            holder.pop(last, None)
        else:
            holder[last] = new
    return value


def issues_of(account: Account = ACCOUNT, now: datetime | None = None, **changes: Any) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        check(NETWORK, account, read_brief(brief(**changes)), now)
    return {issue.path for issue in refusal.value.issues}


def created(account: Account = ACCOUNT, now: datetime | None = None, **changes: Any) -> Plan:
    return plan(read_brief(brief(**changes)), account, now=now)


def body_of(key: str, account: Account = ACCOUNT, **changes: Any) -> Any:
    return created(account, **changes).step(key).request.body


def json_answer(body: Any, status: int = 200, **headers: str) -> Response:
    lower = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response.of(status, lower, body if isinstance(body, bytes) else json.dumps(body).encode())


def failing(code: int, subcode: int | None = None, status: int = 400, **more: Any) -> Response:
    error = {"message": "No.", "type": "OAuthException", "code": code, "fbtrace_id": "Axx", **more}
    return json_answer({"error": error | ({} if subcode is None else {"error_subcode": subcode})}, status)


def run(flow: Flow[Any], *answers: Response) -> tuple[Any, list[Request]]:
    """The flow's result from these answers in order, and what it asked for."""
    asked: list[Request] = []
    left = list(answers)

    def answer(request: Request) -> Response:
        asked.append(request)
        return left.pop(0)

    return drive(flow, answer), asked


# -- create -------------------------------------------------------------------------------------------------------


def test_the_plan_is_what_the_documentation_shows() -> None:
    made = created()
    outputs = {"campaign": {"id": "6101"}, "adGroup": {"id": "6102"}, "creative": {"id": "6103"}}
    requests = [bound(step, outputs) for step in made.steps]
    assert [filled(request) for request in requests] == [
        f"{GRAPH}/act_7007/campaigns",
        f"{GRAPH}/act_7007/adsets",
        f"{GRAPH}/act_7007/adcreatives",
        f"{GRAPH}/act_7007/ads",
    ]
    link = "https://tea.example/"
    assert [request.body for request in requests] == [
        {
            "name": "Tea spring",
            "objective": "OUTCOME_TRAFFIC",
            "status": "PAUSED",
            "buying_type": "AUCTION",
            "special_ad_categories": [],
            "is_adset_budget_sharing_enabled": False,
        },
        {
            "name": "Tea spring",
            "campaign_id": "6101",
            "status": "PAUSED",
            "optimization_goal": "LINK_CLICKS",
            "billing_event": "LINK_CLICKS",
            "destination_type": "WEBSITE",
            "bid_strategy": "LOWEST_COST_WITH_BID_CAP",
            "bid_amount": 42,
            "daily_budget": 1850,
            "start_time": "2027-03-01T08:00:00+0000",
            "targeting": {
                "geo_locations": {"countries": ["NO"]},
                "targeting_automation": {"advantage_audience": 0},
            },
        },
        {
            "name": "Tea spring",
            "object_story_spec": {
                "page_id": "9009",
                "link_data": {
                    "link": link,
                    "message": "Fresh leaves.",
                    "name": "Spring tea",
                    "image_hash": "0f1e2d",
                    "call_to_action": {"type": "LEARN_MORE", "value": {"link": link}},
                },
            },
        },
        {"name": "Tea spring", "adset_id": "6102", "creative": {"creative_id": "6103"}, "status": "PAUSED"},
    ]
    assert {(request.method, request.encoding, request.nature) for request in requests} == {
        ("POST", "form_json", "write")
    }
    assert (made.warnings, made.risk) == ((), "low")


def test_a_bound_member_stands_beside_the_body() -> None:
    made = created()
    assert "campaign_id" not in made.step("adGroup").request.body
    assert made.step("ad").request.body["creative"] == {}
    assert [binding.to for binding in made.step("ad").bindings] == ["/body/adset_id", "/body/creative/creative_id"]


def test_an_existing_creative_is_not_made_again() -> None:
    made = created(creative={"existingId": "77"}, platform={})
    assert [step.key for step in made.steps] == ["campaign", "adGroup", "ad"]
    assert made.step("ad").request.body["creative"] == {"creative_id": "77"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"bid": None}, ("LINK_CLICKS", "IMPRESSIONS", "WEBSITE", None, "LOWEST_COST_WITHOUT_CAP", None)),
        (
            {"goal": "awareness"},
            ("REACH", "IMPRESSIONS", None, {"page_id": "9009"}, "LOWEST_COST_WITH_BID_CAP", 42),
        ),
        (
            CONVERSIONS,
            (
                "OFFSITE_CONVERSIONS",
                "IMPRESSIONS",
                "WEBSITE",
                {"pixel_id": "5", "custom_event_type": "PURCHASE"},
                "LOWEST_COST_WITHOUT_CAP",
                None,
            ),
        ),
    ],
)
def test_a_goal_decides_what_is_bought(changes: Mapping[str, Any], expected: tuple[Any, ...]) -> None:
    members = words("optimization_goal billing_event destination_type promoted_object bid_strategy bid_amount")
    body = body_of("adGroup", **changes)
    assert tuple(body.get(member) for member in members) == expected


def test_a_lifetime_budget_runs_to_its_end() -> None:
    body = body_of("adGroup", **LIFETIME)
    assert (body["lifetime_budget"], body["end_time"]) == (1850, "2027-03-31T09:00:00+0000")
    assert "daily_budget" not in body


def test_forints_have_no_fraction_and_dinars_have_two_digits() -> None:
    forints = Account("meta", "act_1", "HUF")
    assert body_of("adGroup", forints, budget__currency="HUF", budget__amount="4000", bid=None)["daily_budget"] == 4000
    assert issues_of(forints, budget__currency="HUF", budget__amount="40.5", bid=None) == {"budget.amount"}
    dinars = Account("meta", "act_1", "JOD")
    assert issues_of(dinars, budget__currency="JOD", budget__amount="1.234", bid=None) == {"budget.amount"}


def test_an_undocumented_currency_warns_and_an_unknown_one_is_refused() -> None:
    dirhams = Account("meta", "act_1", "AED")
    assert "AED" in created(dirhams, budget__currency="AED").warnings[0]
    assert issues_of(Account("meta", "act_1", "ISK"), budget__currency="ISK", budget__amount="1.5", bid=None)
    assert issues_of(Account("meta", "act_1", "XOF"), budget__currency="XOF") == {"account.currency"}


def test_locations_go_where_their_type_says() -> None:
    ids = ["region:3847", "city:2418779", "zip:US:94304", "country_group:mercosur", "geo_market:DMA:807"]
    assert body_of("adGroup", targeting={"countries": ["NO"], "locationIds": ids})["targeting"]["geo_locations"] == {
        "countries": ["NO"],
        "regions": [{"key": "3847"}],
        "cities": [{"key": "2418779"}],
        "zips": [{"key": "US:94304"}],
        "country_groups": ["mercosur"],
        "geo_markets": [{"key": "DMA:807"}],
    }


def test_native_targeting_stands_whole() -> None:
    own = {"geo_locations": {"countries": ["US"]}, "age_min": 21, "targeting_automation": {"shared_audiences": 1}}
    assert body_of("adGroup", targeting={"native": own})["targeting"] == own | {
        "targeting_automation": {"advantage_audience": 0, "shared_audiences": 1}
    }
    wide = own | {"targeting_automation": {"advantage_audience": 1}}
    assert body_of("adGroup", targeting={"native": wide})["targeting"] == wide


def test_a_special_category_names_its_countries() -> None:
    body = body_of(
        "campaign",
        platform__specialAdCategories=["HOUSING"],
        targeting={"countries": ["US", "CA"], "locationIds": ["zip:GB:N1", "city:5"]},
    )
    assert body["special_ad_categories"] == ["HOUSING"]
    assert body["special_ad_category_country"] == ["US", "CA", "GB"]
    assert "special_ad_category_country" not in body_of("campaign", platform__specialAdCategories=["NONE"])
    changes = {"platform__specialAdCategories": ["HOUSING"], "targeting": {"locationIds": ["city:5"]}}
    assert issues_of(**changes) == {"targeting.countries"}


def test_ads_in_the_eu_name_who_benefits_and_pays() -> None:
    extras = {"defaultDsaBeneficiary": "Tea Ltd", "defaultDsaPayor": "Tea Holding"}
    known, unset = evolve(ACCOUNT, extras=extras), evolve(ACCOUNT, extras=extras | {"defaultDsaPayor": ""})

    def named(targeting: Mapping[str, Any]) -> tuple[Any, Any]:
        body = body_of("adGroup", known, targeting=targeting)
        return body.get("dsa_beneficiary"), body.get("dsa_payor")

    both = ("Tea Ltd", "Tea Holding")
    assert named({"countries": ["NO", "SE"]}) == both
    assert named({"native": {"geo_locations": {"country_groups": ["worldwide"]}}}) == both
    assert named({"locationIds": ["city:5"]}) == both
    assert named({"locationIds": ["zip:US:94304"]}) == (None, None)
    assert named({"countries": ["NO"]}) == (None, None)
    assert issues_of(unset, targeting={"countries": ["SE"]}) == {"account.extras.defaultDsaPayor"}
    assert created(unset, targeting={"countries": ["NO"]}).warnings == ()
    assert "defaultDsaBeneficiary" in created(targeting={"countries": ["SE"]}).warnings[0]
    assert "dsa_payor" not in body_of("adGroup", targeting={"countries": ["SE"]})


def test_a_start_in_the_past_is_now() -> None:
    assert "past" in created(now=datetime(2027, 4, 1, tzinfo=UTC)).warnings[0]


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        ({"platform__pageId": None}, {"platform.pageId"}),
        ({"creative__url": None}, {"creative.url"}),
        ({"creative__body": None}, {"creative.body"}),
        ({"creative__headline": None}, {"creative.headline"}),
        ({"creative__imageHash": None}, {"creative.imageUrl"}),
        ({"creative__imageUrl": "https://tea.example/a.jpg"}, {"creative.imageHash"}),
        ({"creative__url": "ftp://tea.example/"}, {"creative.url"}),
        ({"targeting": {}}, {"targeting.countries"}),
        ({"targeting__locationIds": ["planet:3"]}, {"targeting.locationIds"}),
        ({"targeting__locationIds": ["zip:NO:0150"]}, {"targeting.locationIds.0"}),
        ({"targeting": {"native": {"age_min": 21}}}, {"targeting.native"}),
        ({"targeting": {"native": {"geo_locations": {"countries": ["NO"]}, "campaign_id": 1}}}, {"targeting.native"}),
        ({"targeting__keywords": [{"text": "tea"}]}, {"targeting.keywords"}),
        ({"budget__period": "lifetime"}, {"schedule.endAt"}),
        ({"schedule__endAt": "2027-03-02T08:00:00Z"}, {"schedule.endAt"}),
        ({"platform__pixelId": "5"}, {"platform.pixelId"}),
        ({"platform__boardId": "5"}, {"platform.boardId"}),
        ({"platform__euPoliticalAdvertising": True}, {"platform.euPoliticalAdvertising"}),
        ({"platform__specialAdCategories": ["CRYPTO"]}, {"platform.specialAdCategories"}),
        (CONVERSIONS | {"bid": "1"}, {"bid"}),
        (CONVERSIONS | {"platform__conversionEvent": "OTHER"}, {"platform.conversionEvent"}),
        (CONVERSIONS | {"platform__pixelId": None}, {"platform.pixelId"}),
        ({"goal": "app_installs"}, {"goal"}),
        ({"creative": {"existingId": "7"}}, {"platform.pageId"}),
        ({"creative": {"existingId": "7"}, "goal": "awareness", "platform": {}}, {"platform.pageId"}),
        ({"budget__amount": "18.505"}, {"budget.amount"}),
        ({"budget__currency": "USD"}, {"budget.currency"}),
    ],
)
def test_what_would_be_dropped_or_is_missing_is_refused(changes: dict[str, Any], paths: set[str]) -> None:
    assert issues_of(**changes) == paths


def test_the_end_may_be_a_second_more_than_a_day_away_and_is_not_past() -> None:
    assert created(schedule__endAt="2027-03-02T08:00:01Z")
    assert issues_of(now=datetime(2028, 1, 1, tzinfo=UTC), schedule__endAt="2027-06-01T00:00:00Z") == {"schedule.endAt"}


def test_a_budget_under_the_accounts_floor_is_refused() -> None:
    floor = evolve(ACCOUNT, extras={"minDailyBudget": "200"})
    assert issues_of(floor, budget__amount="1.99") == {"budget.amount"}
    assert created(floor, budget__amount="2")
    assert issues_of(floor, budget__amount="59.99", **LIFETIME) == {"budget.amount"}
    assert created(floor, budget__amount="60", **LIFETIME)


@pytest.mark.parametrize("path", sorted(Path("examples/briefs").glob("meta-*.json")), ids=lambda path: path.stem)
def test_every_example_plans(path: Path) -> None:
    made = plan(read_brief(path.read_bytes()), Account("meta", "act_1", "USD", "America/New_York"), now=NOW)
    assert made.steps[-1].key == "ad"
    assert all(step.request.body.get("status", "PAUSED") == "PAUSED" for step in made.steps)
    assert made.warnings == ()


# -- activate, status, native -------------------------------------------------------------------------------------


def test_activation_goes_from_the_ad_to_the_campaign() -> None:
    source = created()
    outputs = {"campaign": {"id": "6101"}, "adGroup": {"id": "6102"}, "creative": {"id": "6103"}, "ad": {"id": "6104"}}
    made, asked = run(plans.plan_activate(ACCOUNT, source, outputs))
    assert [(step.key, filled(step.request), step.request.body) for step in made.steps] == [
        ("activate_ad", f"{GRAPH}/6104", {"status": "ACTIVE"}),
        ("activate_adGroup", f"{GRAPH}/6102", {"status": "ACTIVE"}),
        ("activate_campaign", f"{GRAPH}/6101", {"status": "ACTIVE"}),
    ]
    assert (made.risk, asked) == ("spend", [])


def test_a_status_is_one_write() -> None:
    made, _ = run(plans.plan_status(ACCOUNT, "adGroup", "6102", "paused"))
    assert [(filled(step.request), step.request.body) for step in made.steps] == [
        (f"{GRAPH}/6102", {"status": "PAUSED"})
    ]
    assert made.risk == "low"
    assert run(plans.plan_status(ACCOUNT, "ad", "1", "active"))[0].risk == "spend"
    with pytest.raises(InvalidInput):
        run(plans.plan_status(ACCOUNT, "ad", "1", "deleted"))


def test_a_native_create_is_paused_unless_it_says_otherwise() -> None:
    for template in NETWORK.templates:
        made, _ = run(plans.plan_native_create(ACCOUNT, template.kind, template.payload, None))
        assert made.steps[0].request.body == {"status": "PAUSED", **template.payload}
        assert made.risk == "low"
    made, _ = run(plans.plan_native_create(ACCOUNT, "ad", {"name": "A", "status": "ACTIVE"}, "6102"))
    assert made.steps[0].request.body == {"name": "A", "status": "ACTIVE", "adset_id": "6102"}
    assert made.risk == "spend"


@pytest.mark.parametrize(
    ("kind", "payload", "parent", "path"),
    [
        ("campaign", {"name": "A", "execution_options": ["validate_only"]}, None, "payload.execution_options"),
        ("campaign", {"name": "A", "colour": "red"}, None, "payload.colour"),
        ("campaign", {"name": "A", "status": "ARCHIVED"}, None, "payload.status"),
        ("campaign", {"name": "A"}, "1", "parentId"),
        ("adGroup", {"name": "A"}, None, "parentId"),
        ("adGroup", {"name": "A", "campaign_id": "1"}, "2", "parentId"),
    ],
)
def test_a_native_create_is_held_against_the_reference(
    kind: Any, payload: dict[str, Any], parent: str | None, path: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        run(plans.plan_native_create(ACCOUNT, kind, payload, parent))
    assert [issue.path for issue in refusal.value.issues] == [path]


@pytest.mark.parametrize(
    ("payload", "risk"),
    [
        ({"name": "B"}, "low"),
        ({"daily_budget": 900}, "spend"),
        ({"status": "ACTIVE"}, "spend"),
        ({"status": "ARCHIVED"}, "destructive"),
    ],
)
def test_an_update_sends_what_changed(payload: dict[str, Any], risk: str) -> None:
    made, _ = run(plans.plan_update(ACCOUNT, "adGroup", "6102", payload, None))
    assert (filled(made.steps[0].request), made.steps[0].request.body) == (f"{GRAPH}/6102", payload)
    assert made.risk == risk


def test_a_deletion_takes_all_below_with_it() -> None:
    made, _ = run(plans.plan_delete(ACCOUNT, "campaign", "6101"))
    step = made.steps[0]
    assert (step.request.method, filled(step.request), step.action) == ("DELETE", f"{GRAPH}/6101", "delete")
    assert made.risk == "destructive"


def test_a_missing_creative_is_found_before() -> None:
    given = read_brief(brief(creative={"existingId": "77"}, platform={}))
    assert run(plans.preflight(ACCOUNT, given), json_answer({"id": "77", "status": "ACTIVE"}))[0] == ([], [])
    (issues, _), asked = run(plans.preflight(ACCOUNT, given), failing(100, 33))
    assert ([issue.path for issue in issues], filled(asked[0])) == (
        ["creative.existingId"],
        f"{GRAPH}/77?fields=id%2Cname%2Cstatus",
    )
    assert run(plans.preflight(ACCOUNT, read_brief(brief()))) == (([], []), [])


# -- edit ---------------------------------------------------------------------------------------------------------

AD_SET = {
    "id": "6102",
    "name": "Tea spring",
    "campaign_id": "6101",
    "status": "PAUSED",
    "daily_budget": "1850",
    "lifetime_budget": "0",
    "budget_remaining": "1850",
    "bid_strategy": "LOWEST_COST_WITHOUT_CAP",
    "start_time": "2027-03-01T09:00:00+0100",
    "targeting": {
        "geo_locations": {"countries": ["NO"], "location_types": ["home"]},
        "age_min": 21,
        "flexible_spec": [{"behaviors": [{"id": "1"}], "interests": [{"id": "2"}]}, {"interests": [{"id": "3"}]}],
        "targeting_automation": {"advantage_audience": 0},
    },
}
LIFELONG = AD_SET | {
    "daily_budget": "0",
    "lifetime_budget": "50000",
    "budget_remaining": "10000",
    "end_time": "2027-03-31T09:00:00+0200",
}


def edit(kind: Any, entity: Mapping[str, Json], **parts: Any) -> Plan:
    flow = plans.plan_edit(ACCOUNT, kind, "6102", Edit(**parts), NOW)
    made: Plan = run(flow, json_answer(entity))[0]
    return made


def edit_issues(kind: Any, entity: Mapping[str, Json], **parts: Any) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        edit(kind, entity, **parts)
    return {issue.path for issue in refusal.value.issues}


def test_an_edit_shows_before_and_after() -> None:
    made = edit("adGroup", AD_SET, fields={"name": "Tea", "budget": "20", "endAt": "2027-04-01T00:00:00+02:00"})
    step = made.steps[0]
    assert step.request.body == {"name": "Tea", "daily_budget": 2000, "end_time": "2027-03-31T22:00:00+0000"}
    assert [(change.field, change.before, change.after) for change in step.changes] == [
        ("name", "Tea spring", "Tea"),
        ("budget", "18.5", "20"),
        ("endAt", None, "2027-03-31T22:00:00Z"),
    ]
    assert made.risk == "spend"
    assert edit("adGroup", AD_SET, fields={"budget": "18"}).risk == "low"


def test_a_percentage_is_cut_to_the_lower_spend() -> None:
    made = edit("adGroup", AD_SET, fields={"budget": Percentage("increase", Decimal("0.1"))})
    assert made.steps[0].request.body == {"daily_budget": 1851}
    assert edit("adGroup", LIFELONG, fields={"budget": Percentage("increase", Decimal(10))}).steps[0].request.body == {
        "lifetime_budget": 55000
    }


def test_a_bid_comes_with_its_strategy() -> None:
    assert edit_issues("adGroup", AD_SET, fields={"bid": "0.5"}) == {"fields.bid"}
    assert edit_issues("adGroup", AD_SET, fields={"bidStrategy": "COST_CAP"}) == {"fields.bid"}
    assert edit("adGroup", AD_SET, fields={"bid": "0.5", "bidStrategy": "COST_CAP"}).steps[0].request.body == {
        "bid_strategy": "COST_CAP",
        "bid_amount": 50,
    }
    floor = {"bidStrategy": "LOWEST_COST_WITH_MIN_ROAS", "roasFloor": "1.5"}
    assert edit("adGroup", AD_SET, fields=floor).steps[0].request.body["bid_constraints"] == {
        "roas_average_floor": 15000
    }
    assert edit_issues("adGroup", AD_SET, fields=floor | {"roasFloor": "1.23456"}) == {"fields.roasFloor"}
    assert edit_issues("adGroup", AD_SET, fields={"bidStrategy": floor["bidStrategy"]}) == {"fields.roasFloor"}


@pytest.mark.parametrize(
    ("kind", "entity", "fields", "paths"),
    [
        ("campaign", {"id": "1", "status": "PAUSED"}, {"budget": "5"}, {"fields.budget"}),
        ("campaign", {"id": "1", "status": "PAUSED"}, {"objective": "X", "colour": "red"}, None),
        ("campaign", {"id": "1", "status": "ARCHIVED"}, {"name": "B"}, {"fields.name"}),
        ("adGroup", AD_SET | {"daily_budget": "0"}, {"budget": "5"}, {"fields.budget"}),
        ("adGroup", AD_SET | {"start_time": "2026-11-20T12:00:00+0000"}, {"startAt": "2027-01-01T00:00:00Z"}, None),
        ("adGroup", AD_SET, {"endAt": "2027-03-01T10:00:00+01:00"}, {"fields.endAt"}),
        ("adGroup", AD_SET, {"endAt": "2026-11-01T00:00:00Z"}, {"fields.endAt"}),
        ("adGroup", LIFELONG, {"endAt": ""}, {"fields.endAt"}),
        ("adGroup", LIFELONG, {"budget": "439.99"}, {"fields.budget"}),
        ("adGroup", AD_SET, {"optimization_goal": "REACH"}, {"fields.optimization_goal"}),
        ("ad", {"id": "1"}, {"adset_id": "3"}, {"fields.adset_id"}),
    ],
)
def test_locks_and_limits_hold(kind: Any, entity: Any, fields: dict[str, Any], paths: set[str] | None) -> None:
    assert edit_issues(kind, entity, fields=fields) == (paths or {f"fields.{name}" for name in fields})


def test_an_end_can_be_taken_away_from_a_daily_budget() -> None:
    ending = AD_SET | {"end_time": "2027-03-31T09:00:00+0200"}
    assert edit("adGroup", ending, fields={"endAt": ""}).steps[0].request.body == {"end_time": 0}
    assert edit("adGroup", LIFELONG, fields={"budget": "440"}).steps[0].request.body == {"lifetime_budget": 44000}


def test_targeting_is_read_merged_and_written_whole() -> None:
    wanted = {
        "locations": [
            {"id": "city:5", "name": "Oslo", "radiusKm": Decimal(25)},
            {"id": "country:SE", "name": "Sweden"},
        ],
        "excludedLocations": [{"id": "region:9", "name": "Skåne"}],
        "interests": [{"id": "8", "name": "Tea"}],
        "languages": [{"id": "6", "name": "English"}],
        "ageMax": 40,
        "genders": ["female"],
        "devices": [{"id": "mobile", "name": "Mobile"}],
    }
    made = edit("adGroup", AD_SET, targeting=wanted)
    assert made.steps[0].request.body == {
        "targeting": {
            "age_min": 21,
            "targeting_automation": {"advantage_audience": 0},
            "geo_locations": {
                "location_types": ["home"],
                "cities": [{"key": "5", "radius": 25, "distance_unit": "kilometer"}],
                "countries": ["SE"],
            },
            "excluded_geo_locations": {"regions": [{"key": "9"}]},
            "flexible_spec": [{"behaviors": [{"id": "1"}], "interests": [{"id": "8", "name": "Tea"}]}],
            "locales": [6],
            "age_max": 40,
            "genders": [2],
            "device_platforms": ["mobile"],
        }
    }
    assert made.steps[0].changes[0].before == AD_SET["targeting"]["geo_locations"]  # type: ignore[index]
    assert AD_SET["targeting"]["age_min"] == 21  # type: ignore[index]


@pytest.mark.parametrize(
    ("kind", "targeting", "paths"),
    [
        ("campaign", {"ageMin": 18}, {"targeting"}),
        ("adGroup", {"ageMax": 20}, {"targeting.ageMin"}),
        ("adGroup", {"genders": ["unknown"]}, {"targeting.genders"}),
        ("adGroup", {"excludedInterests": [{"id": "1", "name": "A"}]}, {"targeting.excludedInterests"}),
        ("adGroup", {"placements": [{"id": "whatsapp", "name": "W"}]}, {"targeting.placements"}),
        ("adGroup", {"locations": []}, {"targeting.locations"}),
        ("adGroup", {"locations": [{"id": "5", "name": "?"}]}, {"targeting.locations.0.id"}),
        (
            "adGroup",
            {"locations": [{"id": "region:5", "name": "R", "radiusKm": 20}], "languages": [{"id": "en", "name": "E"}]},
            {"targeting.locations.0.radiusKm", "targeting.languages"},
        ),
        ("adGroup", {"locations": [{"id": "city:5", "name": "R", "radiusKm": 81}]}, {"targeting.locations.0.radiusKm"}),
    ],
)
def test_targeting_that_cannot_be_said_is_refused(kind: Any, targeting: dict[str, Any], paths: set[str]) -> None:
    assert edit_issues(kind, AD_SET, targeting=targeting) == paths


def test_an_ad_can_be_given_another_creative() -> None:
    ad = {"id": "6104", "status": "PAUSED", "creative": {"id": "6103"}}
    made = edit("ad", ad, creative={"existingId": "77"})
    assert made.steps[0].request.body == {"creative": {"creative_id": "77"}}
    assert made.steps[0].changes[0].before == "6103"
    assert "review" in made.warnings[0]
    assert edit_issues("ad", ad, creative={"headline": "New"}) == {"creative"}
    assert edit_issues("adGroup", AD_SET, creative={"existingId": "77"}) == {"creative"}
    assert edit_issues("ad", ad) == {"fields"}


def test_an_edit_of_what_is_not_there_is_not_found() -> None:
    with pytest.raises(ProviderNotFound):
        run(plans.plan_edit(ACCOUNT, "ad", "1", Edit({"name": "B"}), NOW), failing(100, 33))


def test_settings_show_the_budget_in_use() -> None:
    told = editing.settings(NETWORK, ACCOUNT, "adGroup", "6102", LIFELONG, NOW)
    by_name = {row["field"]: row for row in told["fields"]}
    assert by_name["budget"] == {
        "field": "budget",
        "value": "500",
        "unit": "EUR",
        "locked": None,
        "period": "lifetime",
    }
    assert by_name["endAt"]["value"] == "2027-03-31T07:00:00Z"
    assert by_name["campaign_id"]["locked"]
    assert told["targeting"] == {"targeting": AD_SET["targeting"]}


# -- outcomes -----------------------------------------------------------------------------------------------------

CREATE = created().step("campaign")
CHANGE: Step = run(plans.plan_status(ACCOUNT, "ad", "1", "paused"))[0].steps[0]


def said(response: Response, step: Step = CREATE) -> Any:
    return outcome(NETWORK, step, step.request, response)


def test_a_create_is_done_with_an_id_and_a_change_with_success() -> None:
    assert said(json_answer({"id": "6101"})) == Applied({"id": "6101"})
    assert said(json_answer({"success": True}), CHANGE) == Applied({})
    assert isinstance(said(json_answer({"success": True})), Ambiguous)
    assert isinstance(said(json_answer({"success": False}), CHANGE), Ambiguous)
    assert isinstance(said(json_answer({"success": "true"}), CHANGE), Ambiguous)


@pytest.mark.parametrize(
    ("response", "blame"),
    [
        (failing(190, 463), "token"),
        (failing(102, status=401), "token"),
        (failing(294), "permission"),
        (failing(10, status=403), "permission"),
        (failing(368, 1390008), "permission"),
        (failing(100, 33), "not_found"),
        (failing(803), "not_found"),
        (failing(100, 2446404), "input"),
        (failing(2635), "input"),
        (failing(1487809), "limit"),
        (failing(555), "input"),
    ],
)
def test_surely_not_done(response: Response, blame: str) -> None:
    told = said(response)
    assert isinstance(told, Rejected)
    assert told.blame == blame


@pytest.mark.parametrize(("code", "subcode"), [(4, 1504022), (17, 1885172), (32, None), (341, None), (613, 1487632)])
def test_too_fast_is_too_fast_even_where_it_is_transient(code: int, subcode: int | None) -> None:
    assert said(failing(code, subcode, is_transient=True)).retry_after == 60
    assert isinstance(said(failing(80004, status=200)), Throttled)


@pytest.mark.parametrize(
    "response",
    [
        failing(1),
        failing(2),
        failing(777, is_transient=True),
        failing(100, status=500),
        failing(777, status=200),
        json_answer(b"<html>"),
        json_answer(b'{"id":"61'),
        json_answer(b""),
        json_answer({}),
        json_answer({"id": ""}),
        json_answer([]),
    ],
)
def test_doubt_is_doubt(response: Response) -> None:
    assert isinstance(said(response), Ambiguous)


def test_waits_are_read_from_the_usage_headers() -> None:
    body = {"error": {"code": 80004, "message": "Slow down."}}
    business = '{"7007":[{"type":"ads_management","call_count":100,"estimated_time_to_regain_access":3}]}'
    account = '{"acc_id_util_pct":100,"reset_time_duration":90}'
    assert said(json_answer(body, 400, x_business_use_case_usage=business)).retry_after == 180
    assert said(json_answer(body, 400, x_ad_account_usage=account)).retry_after == 90
    assert said(json_answer(body, 400, x_ad_account_usage="{")).retry_after == 60
    assert said(json_answer(body, 400, retry_after="7")).retry_after == 7


def test_an_error_says_what_is_wrong() -> None:
    blamed = '{"blame_field_specs":[["daily_budget"]]}'
    more = {"error_user_title": "Too low", "error_user_msg": "Raise it.", "error_data": blamed}
    error = said(failing(100, 1, **more)).error
    assert (error.code, error.message, error.request_id) == ("100/1", "No. Too low Raise it. (daily_budget)", "Axx")
    assert "without a bid" in said(failing(100, 2446404)).error.message


# -- connect ------------------------------------------------------------------------------------------------------


def test_consent_asks_for_the_scopes() -> None:
    url = reads.authorize_url(APP, "https://ads.example/cb", "st", "verifier")
    assert url == (
        "https://www.facebook.com/v26.0/dialog/oauth?client_id=app-1&redirect_uri=https%3A%2F%2Fads.example%2Fcb&state=st"
        "&response_type=code&scope=ads_management%2Cads_read%2Cbusiness_management%2Cpages_show_list"
        "%2Cpages_read_engagement%2Cpages_manage_ads"
    )


def test_a_code_becomes_a_long_lived_token() -> None:
    short = json_answer({"access_token": "short", "token_type": "bearer", "expires_in": 5400})
    long = json_answer({"access_token": "long", "token_type": "bearer", "expires_in": 5184000})
    found, asked = run(reads.exchange(APP, "https://ads.example/cb", {"code": "c"}, "v", 1000), short, long)
    assert found == Credentials("long", None, 5184001000)
    assert [dict(request.query) for request in asked] == [
        {"client_id": "app-1", "client_secret": "app-secret", "redirect_uri": "https://ads.example/cb", "code": "c"},
        {
            "client_id": "app-1",
            "client_secret": "app-secret",
            "grant_type": "fb_exchange_token",
            "fb_exchange_token": "short",
        },
    ]
    assert [request.nature for request in asked] == ["read_once", "read"]
    assert not any(request.signed for request in asked)


def test_a_refresh_exchanges_the_living_token() -> None:
    fresh, asked = run(reads.refresh(APP, Credentials("old"), 0), json_answer({"access_token": "new"}))
    assert (fresh, asked[0].query["fb_exchange_token"]) == (Credentials("new"), "old")
    with pytest.raises(TokenRefused):
        run(reads.refresh(APP, Credentials("old"), 0), failing(190, 463))


def test_a_revocation_has_to_be_confirmed() -> None:
    _, asked = run(reads.revoke(APP, Credentials("t")), json_answer({"success": True}))
    assert (asked[0].method, filled(asked[0])) == ("DELETE", f"{GRAPH}/me/permissions")
    with pytest.raises(ProviderUnreadable):
        run(reads.revoke(APP, Credentials("t")), json_answer({"success": False}))


def test_only_metas_hosts_see_the_token() -> None:
    request = Request("GET", f"{GRAPH}/me", query={"fields": "id"})
    signed = reads.sign(request, Credentials("token"), APP, 0, "n")
    proof = hmac.new(b"app-secret", b"token", hashlib.sha256).hexdigest()
    assert signed.headers == {"Authorization": "Bearer token"}
    assert signed.query == {"fields": "id", "appsecret_proof": proof}
    assert "appsecret_proof" not in reads.sign(request, Credentials("token"), App("a", ""), 0, "n").query
    for foreign in (
        evolve(request, url="https://graph.facebook.com.example/v26.0/me"),
        evolve(request, url="http://graph.facebook.com/v26.0/me"),
        evolve(request, signed=False),
    ):
        assert reads.sign(foreign, Credentials("token"), APP, 0, "n") == foreign


# -- accounts and entities ----------------------------------------------------------------------------------------


def page_of(*rows: Any, after: str | None = None) -> Response:
    following = {"cursors": {"before": "b", "after": after or "z"}} | (
        {"next": "https://evil.example"} if after else {}
    )
    return json_answer({"data": rows, "paging": following})


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
    found, asked = run(reads.accounts(), page_of(first, after="C1"), page_of({"id": "act_2", "account_status": 3}))
    assert [one.native_id for one in found] == ["act_7007", "act_2"]
    assert (found[0].currency, found[0].timezone, found[0].native_status) == ("EUR", "Europe/Oslo", "ACTIVE")
    assert found[0].extras == {
        "defaultDsaBeneficiary": "",
        "defaultDsaPayor": "Tea Holding",
        "minDailyBudget": "100",
        "accountStatus": "1",
    }
    assert found[1].native_status == "UNSETTLED"
    assert [request.query.get("after") for request in asked] == [None, "C1"]
    assert all(request.url.startswith("https://graph.facebook.com/") for request in asked)


def test_a_cursor_that_repeats_is_refused() -> None:
    with pytest.raises(ProviderUnreadable):
        run(reads.accounts(), page_of(after="C1"), page_of(after="C1"))


def test_the_tree_has_three_levels() -> None:
    found, asked = run(
        reads.tree(ACCOUNT),
        page_of({"id": "1", "name": "C", "status": "ACTIVE", "effective_status": "ACTIVE"}),
        page_of({"id": "2", "name": "S", "status": "PAUSED", "campaign_id": "1"}),
        page_of({"id": "3", "name": "A", "status": "NEW_ONE", "adset_id": "2"}, {"id": "4", "adset_id": "gone"}),
    )
    assert [(node.kind, node.id, node.parent_id, node.status) for node in found.nodes] == [
        ("campaign", "1", None, "active"),
        ("adGroup", "2", "1", "paused"),
        ("ad", "3", "2", None),
    ]
    assert [filled(request) for request in asked] == [
        f"{GRAPH}/act_7007/campaigns?fields=id%2Cname%2Cstatus%2Ceffective_status&limit=100",
        f"{GRAPH}/act_7007/adsets?fields=id%2Cname%2Cstatus%2Ceffective_status%2Ccampaign_id&limit=100",
        f"{GRAPH}/act_7007/ads?fields=id%2Cname%2Cstatus%2Ceffective_status%2Cadset_id&limit=100",
    ]


def test_a_list_is_filtered_by_meta() -> None:
    query = Query(limit=5, cursor="C1", parent_id="6101", status="CAMPAIGN_PAUSED", search="tea")
    page, asked = run(reads.entities(ACCOUNT, "adGroup", query), page_of({"id": "2"}, after="C2"))
    assert (page.cursor, [one.id for one in page.entities]) == ("C2", ["2"])
    assert asked[0].path == {"owner": "6101"}
    assert asked[0].query["after"] == "C1"
    assert loads(asked[0].query["effective_status"]) == ["CAMPAIGN_PAUSED"]
    assert loads(asked[0].query["filtering"]) == [{"field": "name", "operator": "CONTAIN", "value": "tea"}]
    assert run(reads.entities(ACCOUNT, "ad", Query()), page_of({"id": "2"}))[0].cursor is None
    for kind, refused in (("campaign", Query(parent_id="1")), ("campaign", Query(status="CAMPAIGN_PAUSED"))):
        with pytest.raises(InvalidInput):
            run(reads.entities(ACCOUNT, kind, refused))


def test_an_entity_is_read_by_name() -> None:
    found, asked = run(reads.entity(ACCOUNT, "ad", "6104"), json_answer({"id": "6104", "status": "DELETED"}))
    assert (found.status, found.native_status) == ("deleted", "DELETED")
    assert (
        asked[0]
        .query["fields"]
        .endswith("creative{id,name,object_story_spec,thumbnail_url},ad_review_feedback,issues_info")
    )


# -- insights -----------------------------------------------------------------------------------------------------

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


def report(*answers: Response, start: date = date(2026, 10, 1), job: str | None = None) -> tuple[Any, list[Request]]:
    return run(reads.insights(ACCOUNT, start, date(2026, 10, 31), job, NOW), *answers)


def test_insights_are_normalized() -> None:
    bare = {"date_start": "2026-10-02", "impressions": "5", "actions": [{"action_type": "like", "value": "1"}]}
    found, asked = report(page_of(ROW, bare))
    assert [row.to_json() for row in found.rows] == [
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
    assert (found.totals.impressions, found.totals.conversions) == (1205, None)
    assert found.coverage.complete
    assert dict(asked[0].query) == {
        "level": "account",
        "time_increment": "1",
        "time_range": '{"since":"2026-10-01","until":"2026-10-31"}',
        "fields": "date_start,date_stop,account_currency,impressions,clicks,spend,reach,actions,action_values",
        "limit": "500",
    }


@pytest.mark.parametrize("refusal", [failing(100, 1487534), failing(1, 1504018), failing(1, status=500)])
def test_too_much_data_becomes_a_report(refusal: Response) -> None:
    running = json_answer({"async_status": "Job Running", "async_percent_completion": 40})
    found, asked = report(refusal, json_answer({"report_run_id": "R1"}), running)
    assert found.pending.to_json() == {"job": "R1", "status": "Job Running", "retryAfterMs": 15000}
    assert [(request.method, request.url) for request in asked] == [
        ("GET", f"{GRAPH}/{{owner}}/insights"),
        ("POST", f"{GRAPH}/{{account}}/insights"),
        ("GET", f"{GRAPH}/{{id}}"),
    ]
    assert asked[1].nature == "read"


def test_a_long_range_is_a_report_from_the_start() -> None:
    running = json_answer({"async_status": "Job Not Started", "async_percent_completion": 0})
    found, asked = report(json_answer({"report_run_id": "R1"}), running, start=date(2026, 8, 2))
    assert found.pending.job == "R1"
    assert len(report(page_of(), start=date(2026, 8, 3))[1]) == 1
    assert asked[0].body["time_range"] == '{"since":"2026-08-02","until":"2026-10-31"}'


def test_a_report_is_resumed_until_it_is_whole() -> None:
    def state(status: str, percent: int) -> Response:
        return json_answer({"async_status": status, "async_percent_completion": percent, "error_message": "Broken."})

    assert report(state("Job Completed", 99), job="R1")[0].pending.status == "Job Completed"
    found, asked = report(state("Job Completed", 100), page_of(ROW, after="C"), page_of(), job="R1")
    assert (len(found.rows), found.pending) == (1, None)
    assert filled(asked[1]) == f"{GRAPH}/R1/insights?limit=500"
    for status in ("Job Failed", "Job Skipped"):
        with pytest.raises(ProviderError, match="Broken"):
            report(state(status, 100), job="R1")


def test_older_days_than_37_months_are_missing() -> None:
    done = json_answer({"async_status": "Job Completed", "async_percent_completion": 100})
    found, asked = report(json_answer({"report_run_id": "R1"}), done, page_of(ROW), start=date(2023, 10, 1))
    assert loads(asked[0].body["time_range"])["since"] == "2023-10-20"
    assert found.coverage.to_json()["missing"] == [{"startDate": "2023-10-01", "endDate": "2023-10-19"}]
    assert not found.coverage.complete


def test_other_failures_of_insights_are_told() -> None:
    with pytest.raises(ProviderThrottled):
        report(failing(80000))
    with pytest.raises(ProviderUnreadable):
        report(page_of(ROW | {"spend": "much"}))
    with pytest.raises(ProviderUnreadable):
        report(page_of(ROW | {"date_start": None}))


# -- catalogs -----------------------------------------------------------------------------------------------------


def listed(resource: str, answer: Response, search: str | None = None) -> tuple[Any, str]:
    page, asked = run(reads.catalog(ACCOUNT, resource, Query(search=search)), answer)
    return page, filled(asked[0])


def test_catalogs_are_lists_of_the_account() -> None:
    page, url = listed("images", page_of({"hash": "0f1e2d", "name": "Cup"}, after="C"))
    assert [(row.id, row.name) for row in page.rows] == [("0f1e2d", "Cup")]
    assert page.cursor == "C"
    assert url == f"{GRAPH}/act_7007/adimages?fields=hash%2Cname%2Curl%2Cwidth%2Cheight%2Cstatus&limit=50"
    page, url = listed("minimum_budgets", json_answer({"data": [{"currency": "EUR", "min_daily_budget_imp": 100}]}))
    assert ([row.id for row in page.rows], url) == (["EUR"], f"{GRAPH}/act_7007/minimum_budgets")
    for data in (["Tea Ltd"], [{"recommendations": ["Tea Ltd"]}]):
        page, _ = listed("dsa_recommendations", json_answer({"data": data}))
        assert [row.name for row in page.rows] == ["Tea Ltd"]


def test_places_are_searched_and_told_apart_by_type() -> None:
    found = [
        {"key": "2490299", "name": "New York", "type": "city"},
        {"key": "US:10001", "name": "10001", "type": "zip"},
    ]
    page, url = listed("locations:new_york", json_answer({"data": found}))
    assert [row.id for row in page.rows] == ["city:2490299", "zip:US:10001"]
    types = "%5B%22country%22%2C%22region%22%2C%22city%22%2C%22zip%22%2C%22geo_market%22%5D"
    assert url == f"{GRAPH}/search?type=adgeolocation&q=new%20york&location_types={types}&limit=25"
    assert listed("locations", json_answer({}), "new york")[1] == url
    assert listed("locales", json_answer({"data": [{"key": 6, "name": "English (US)"}]}))[0].rows[0].id == "6"
    for resource in ("locations", "interests", "pages:x", "secrets"):
        with pytest.raises(InvalidInput):
            listed(resource, json_answer({}))


# -- hostile answers ----------------------------------------------------------------------------------------------

READERS: list[Callable[[], Flow[Any]]] = [
    lambda: reads.accounts(),
    lambda: reads.tree(ACCOUNT),
    lambda: reads.entities(ACCOUNT, "ad", Query()),
    lambda: reads.entity(ACCOUNT, "ad", "1"),
    lambda: reads.insights(ACCOUNT, date(2026, 10, 1), date(2026, 10, 2), None, NOW),
    lambda: reads.insights(ACCOUNT, date(2026, 10, 1), date(2026, 10, 2), "R1", NOW),
    lambda: reads.catalog(ACCOUNT, "pages", Query()),
    lambda: reads.catalog(ACCOUNT, "locations:x", Query()),
    lambda: reads.catalog(ACCOUNT, "dsa_recommendations", Query()),
    lambda: reads.exchange(APP, "https://ads.example/cb", {"code": "c"}, "v", 0),
    lambda: reads.refresh(APP, Credentials("t"), 0),
    lambda: reads.revoke(APP, Credentials("t")),
    lambda: plans.plan_edit(ACCOUNT, "adGroup", "1", Edit({"name": "B"}, {"interests": []}), NOW),
    lambda: plans.preflight(ACCOUNT, read_brief(brief(creative={"existingId": "7"}, platform={}))),
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
@pytest.mark.parametrize("body", HOSTILE)
@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_reader_raises_nothing_but_the_tree(reader: int, body: bytes, status: int) -> None:
    answer = Response.of(status, {"x-business-use-case-usage": "[1,{}]", "x-ad-account-usage": '{"a":1}'}, body)
    asked = 0

    def repeated(request: Request) -> Response:
        nonlocal asked
        asked += 1
        assert asked < 50
        return answer

    with contextlib.suppress(ProviderError, InvalidInput):
        drive(READERS[reader](), repeated)


# -- the reference ------------------------------------------------------------------------------------------------


@pytest.mark.skipif("ADSUNIFY_SPECS" not in os.environ, reason="ADSUNIFY_SPECS names no folder of reference data")
def test_names_and_currencies_are_those_of_the_reference() -> None:
    folder = Path(os.environ["ADSUNIFY_SPECS"]) / "meta"
    reference = loads((folder / "marketing-api-v26.json").read_bytes())
    left_out = {"execution_options", "date_format"}
    for kind, node in (("campaign", "campaign"), ("adGroup", "adset"), ("ad", "ad")):
        operations = reference["operations"]
        assert set(operations[f"{node}.create"]["params"]) - left_out == native.CREATE_NAMES[kind]
        assert set(operations[f"{node}.update"]["params"]) - left_out == native.UPDATE_NAMES[kind]
    for one, fields in zip(NETWORK.levels, ("Campaign", "AdSet", "Ad"), strict=True):
        assert {field.partition("{")[0] for field in one.fields} <= set(reference["objectFields"][fields])
        assert set(one.filters) == set(reference["enums"][f"{fields}.EffectiveStatus"])
        assert set(one.states) == set(reference["enums"][f"{fields}.Status"])
    assert set(reference["objectFields"]["Targeting"]) == native.TARGETING_NAMES
    assert set(native.STRATEGIES) == set(reference["enums"]["AdSet.BidStrategy"])
    assert set(native.SPECIAL_AD_CATEGORIES) == set(reference["enums"]["Campaign.SpecialAdCategories"])
    assert set(native.CONVERSION_EVENTS) < set(reference["enums"]["AdPromotedObject.CustomEventType"])
    offsets = loads((folder / "currency-offsets.json").read_bytes())
    for group, assumed in (("documented", False), ("notSeenInTheDocumentedTable", True)):
        for currency, offset in offsets[group].items():
            unit = native.unit(Account("meta", "act_1", currency))
            assert (unit.offset, bool(unit.assumed)) == (offset, assumed)


def test_the_adapter_is_registered() -> None:
    one = adapter("meta")
    assert (one.network, one.plans, one.reads) == (NETWORK, plans, reads)
    assert dumps([level.kind for level in one.network.levels]) == '["campaign","adGroup","ad"]'
