"""The Meta adapter: edits held against what they change, and what an answer to a write says."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from adsunify.adapter import settings
from adsunify.adapter.edits import Edit, Percentage
from adsunify.adapter.hierarchy import parse_entity
from adsunify.adapter.network import get_level
from adsunify.errors import (
    InvalidInput,
    ProviderError,
    ProviderNotFound,
    ProviderUnreadable,
)
from adsunify.execution.outcomes import Ambiguous, Applied, Rejected, Throttled, classify_write
from adsunify.http.messages import Response
from adsunify.networks.meta import plans
from adsunify.networks.meta.tables import NETWORK
from adsunify.plans.records import Plan, Step
from adsunify.values.exact_json import Json
from tests.networks.calls import make_response, run

from .calls import ACCOUNT, NOW, make_error_response, make_plan

# -- edit -------------------------------------------------------------------------------------------------------------

AD_SET: dict[str, Any] = {
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


def plan_edit(kind: Any, entity: Mapping[str, Json], **parts: Any) -> Plan:
    flow = plans.plan_edit(ACCOUNT, kind, str(entity["id"]), Edit(**parts), NOW)
    plan: Plan = run(flow, make_response({**entity, "account_id": "7007"}))[0]
    return plan


def find_edit_issues(kind: Any, entity: Mapping[str, Json], **parts: Any) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        plan_edit(kind, entity, **parts)
    return {issue.path for issue in refusal.value.issues}


def test_an_edit_shows_before_and_after() -> None:
    plan = plan_edit("adGroup", AD_SET, fields={"name": "Tea", "budget": "20", "endAt": "2027-04-01T00:00:00+02:00"})
    step = plan.steps[0]
    assert step.request.body == {"name": "Tea", "daily_budget": 2000, "end_time": "2027-03-31T22:00:00+0000"}
    assert [(change.field, change.before, change.after) for change in step.changes] == [
        ("name", "Tea spring", "Tea"),
        ("budget", "18.5", "20"),
        ("endAt", None, "2027-03-31T22:00:00Z"),
    ]
    assert plan.risk == "spend"
    assert plan_edit("adGroup", AD_SET, fields={"budget": "18"}).risk == "low"


def test_a_percentage_is_cut_to_the_lower_spend() -> None:
    plan = plan_edit("adGroup", AD_SET, fields={"budget": Percentage("increase", Decimal("0.1"))})
    assert plan.steps[0].request.body == {"daily_budget": 1851}
    assert plan_edit("adGroup", LIFELONG, fields={"budget": Percentage("increase", Decimal(10))}).steps[
        0
    ].request.body == {"lifetime_budget": 55000}


def test_a_bid_comes_with_its_strategy() -> None:
    assert find_edit_issues("adGroup", AD_SET, fields={"bid": "0.5"}) == {"fields.bid"}
    assert find_edit_issues("adGroup", AD_SET, fields={"bidStrategy": "COST_CAP"}) == {"fields.bid"}
    assert plan_edit("adGroup", AD_SET, fields={"bid": "0.5", "bidStrategy": "COST_CAP"}).steps[0].request.body == {
        "bid_strategy": "COST_CAP",
        "bid_amount": 50,
    }
    floor = {"bidStrategy": "LOWEST_COST_WITH_MIN_ROAS", "roasFloor": "1.5"}
    assert plan_edit("adGroup", AD_SET, fields=floor).steps[0].request.body["bid_constraints"] == {
        "roas_average_floor": 15000
    }
    assert find_edit_issues("adGroup", AD_SET, fields=floor | {"roasFloor": "1.23456"}) == {"fields.roasFloor"}
    assert find_edit_issues("adGroup", AD_SET, fields={"bidStrategy": floor["bidStrategy"]}) == {"fields.roasFloor"}


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
    assert find_edit_issues(kind, entity, fields=fields) == (paths or {f"fields.{name}" for name in fields})


def test_an_end_can_be_taken_away_from_a_daily_budget() -> None:
    ending = AD_SET | {"end_time": "2027-03-31T09:00:00+0200"}
    assert plan_edit("adGroup", ending, fields={"endAt": ""}).steps[0].request.body == {"end_time": 0}
    assert plan_edit("adGroup", LIFELONG, fields={"budget": "440"}).steps[0].request.body == {"lifetime_budget": 44000}


def test_targeting_is_read_merged_and_written_whole() -> None:
    targeting = {
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
    plan = plan_edit("adGroup", AD_SET, targeting=targeting)
    assert plan.steps[0].request.body == {
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
    assert plan.steps[0].changes[0].before == AD_SET["targeting"]["geo_locations"]
    assert AD_SET["targeting"]["age_min"] == 21


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
            {"locations": [{"id": "5", "name": "R"}], "languages": [{"id": "en", "name": "E"}]},
            {"targeting.locations.0.id", "targeting.languages"},
        ),
        (
            "adGroup",
            {"locations": [{"id": "region:5", "name": "R", "radiusKm": 20}]},
            {"targeting.locations.0.radiusKm"},
        ),
        ("adGroup", {"locations": [{"id": "city:5", "name": "R", "radiusKm": 81}]}, {"targeting.locations.0.radiusKm"}),
    ],
)
def test_targeting_that_cannot_be_said_is_refused(kind: Any, targeting: dict[str, Any], paths: set[str]) -> None:
    assert find_edit_issues(kind, AD_SET, targeting=targeting) == paths


def test_an_ad_can_be_given_another_creative() -> None:
    ad = {"id": "6104", "status": "PAUSED", "creative": {"id": "6103"}}
    plan = plan_edit("ad", ad, creative={"existingId": "77"})
    assert plan.steps[0].request.body == {"creative": {"creative_id": "77"}}
    assert plan.steps[0].changes[0].before == "6103"
    assert "review" in plan.warnings[0]
    assert find_edit_issues("ad", ad, creative={"headline": "New"}) == {"creative.headline"}
    assert find_edit_issues("adGroup", AD_SET, creative={"existingId": "77"}) == {"creative"}
    assert find_edit_issues("ad", ad) == {"fields"}


def test_an_edit_of_what_is_not_there_is_not_found() -> None:
    with pytest.raises(ProviderNotFound):
        run(plans.plan_edit(ACCOUNT, "ad", "1", Edit({"name": "B"}), NOW), make_error_response(100, 33))


REFUSED_FIELD = "(#100) Tried accessing nonexisting field (objective) on node type ({})"


@pytest.mark.parametrize(
    ("answer", "raised"),
    [
        (make_response({"id": "6101", "account_id": "7008"}), ProviderNotFound),
        (make_response({"id": "6101"}), ProviderUnreadable),
        (make_response({"error": {"message": REFUSED_FIELD.format("AdSet"), "code": 100}}, 400), ProviderNotFound),
        (make_response({"error": {"message": REFUSED_FIELD.format("Campaign"), "code": 100}}, 400), ProviderError),
    ],
)
def test_an_edit_of_what_is_not_the_accounts(answer: Response, raised: type[ProviderError]) -> None:
    with pytest.raises(ProviderError) as problem:
        run(plans.plan_edit(ACCOUNT, "campaign", "6101", Edit({"name": "B"}), NOW), answer)
    assert type(problem.value) is raised


def test_settings_show_the_budget_in_use() -> None:
    adgroup_settings = settings.build_settings(
        NETWORK, ACCOUNT, "6102", parse_entity(get_level(NETWORK, "adGroup"), LIFELONG), NOW
    )
    by_name = {row["field"]: row for row in adgroup_settings["fields"]}
    assert by_name["budget"] == {
        "field": "budget",
        "value": "500",
        "unit": "EUR",
        "locked": None,
        "period": "lifetime",
    }
    assert by_name["endAt"]["value"] == "2027-03-31T07:00:00Z"
    assert by_name["campaign_id"]["locked"]
    assert adgroup_settings["targeting"] == {"targeting": AD_SET["targeting"]}


# -- outcomes ---------------------------------------------------------------------------------------------------------

CREATE = make_plan().get_step("campaign")
CHANGE: Step = run(plans.plan_status(ACCOUNT, "ad", "1", "paused"))[0].steps[0]


def classify_response(response: Response, step: Step = CREATE) -> Any:
    return classify_write(NETWORK, step, step.request, response)


def test_a_create_is_done_with_an_id_and_a_change_with_success() -> None:
    assert classify_response(make_response({"id": "6101"})) == Applied({"id": "6101"})
    assert classify_response(make_response({"success": True}), CHANGE) == Applied({})
    assert isinstance(classify_response(make_response({"success": True})), Ambiguous)
    assert isinstance(classify_response(make_response({"success": False}), CHANGE), Ambiguous)
    assert isinstance(classify_response(make_response({"success": "true"}), CHANGE), Ambiguous)


@pytest.mark.parametrize(
    ("response", "blame"),
    [
        (make_error_response(190, 463), "token"),
        (make_error_response(102, status=401), "token"),
        (make_error_response(294), "permission"),
        (make_error_response(10, status=403), "permission"),
        (make_error_response(368, 1390008), "permission"),
        (make_error_response(100, 33), "not_found"),
        (make_error_response(803), "not_found"),
        (make_error_response(100, 2446404), "input"),
        (make_error_response(2635), "input"),
        (make_error_response(1487809), "limit"),
        (make_error_response(555), "input"),
    ],
)
def test_surely_not_done(response: Response, blame: str) -> None:
    outcome = classify_response(response)
    assert isinstance(outcome, Rejected)
    assert outcome.blame == blame


@pytest.mark.parametrize(("code", "subcode"), [(4, 1504022), (17, 1885172), (32, None), (341, None), (613, 1487632)])
def test_too_fast_is_too_fast_even_where_it_is_transient(code: int, subcode: int | None) -> None:
    assert classify_response(make_error_response(code, subcode, is_transient=True)).retry_after == 60
    assert isinstance(classify_response(make_error_response(80004, status=200)), Throttled)


@pytest.mark.parametrize(
    "response",
    [
        make_error_response(1),
        make_error_response(2),
        make_error_response(777, is_transient=True),
        make_error_response(100, status=500),
        make_error_response(777, status=200),
        make_response(b"<html>"),
        make_response(b'{"id":"61'),
        make_response(b""),
        make_response({}),
        make_response({"id": ""}),
        make_response({"id": 6101}),
        make_response([]),
    ],
)
def test_doubt_is_doubt(response: Response) -> None:
    assert isinstance(classify_response(response), Ambiguous)


def test_waits_are_read_from_the_usage_headers() -> None:
    body = {"error": {"code": 80004, "message": "Slow down."}}
    business = '{"7007":[{"type":"ads_management","call_count":100,"estimated_time_to_regain_access":3}]}'
    account = '{"acc_id_util_pct":100,"reset_time_duration":90}'
    assert classify_response(make_response(body, 400, x_business_use_case_usage=business)).retry_after == 180
    assert classify_response(make_response(body, 400, x_ad_account_usage=account)).retry_after == 90
    assert classify_response(make_response(body, 400, x_ad_account_usage="{")).retry_after == 60
    assert classify_response(make_response(body, 400, retry_after="7")).retry_after == 7


def test_an_error_says_what_is_wrong() -> None:
    blamed = '{"blame_field_specs":[["daily_budget"]]}'
    more: dict[str, Any] = {"error_user_title": "Too low", "error_user_msg": "Raise it.", "error_data": blamed}
    error = classify_response(make_error_response(100, 1, **more)).error
    assert (error.code, error.message, error.request_id) == ("100/1", "No. Too low Raise it. (daily_budget)", "Axx")
    assert "without a bid" in classify_response(make_error_response(100, 2446404)).error.message
