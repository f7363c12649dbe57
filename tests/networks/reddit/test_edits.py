"""The Reddit adapter: edits and settings, held against what an entity is now."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from adsunify.adapter.edits import Edit, Percentage
from adsunify.adapter.hierarchy import parse_entity
from adsunify.adapter.network import get_level
from adsunify.adapter.settings import build_settings
from adsunify.http.messages import build_request_url
from adsunify.networks.reddit import plans
from adsunify.networks.reddit.tables import NETWORK
from adsunify.plans.records import Plan
from tests.networks.calls import run

from .calls import ACCOUNT, API, NOW, find_flow_issues, make_data_response

CAMPAIGN: Mapping[str, Any] = {
    "id": "101",
    "ad_account_id": "a2_acc1",
    "name": "Autumn launch",
    "configured_status": "ACTIVE",
    "objective": "CLICKS",
    "funding_instrument_id": "4711",
    "is_campaign_budget_optimization": False,
    "spend_cap": None,
}
WHOLE: Mapping[str, Any] = {
    **CAMPAIGN,
    "is_campaign_budget_optimization": True,
    "goal_type": "LIFETIME_SPEND",
    "goal_value": 90_000_000,
}
AD_GROUP: Mapping[str, Any] = {
    "id": "202",
    "ad_account_id": "a2_acc1",
    "campaign_id": "101",
    "name": "Autumn launch",
    "configured_status": "PAUSED",
    "is_campaign_budget_optimization": False,
    "bid_strategy": "MANUAL_BIDDING",
    "bid_type": "CPC",
    "bid_value": 4_000_000,
    "goal_type": "DAILY_SPEND",
    "goal_value": 25_500_000,
    "start_time": "2026-12-01T08:00:00Z",
    "end_time": "2026-12-20T08:00:00Z",
    "schedule": None,
    "conversion_pixel_id": "a2_pixel0001",
    "targeting": {"geolocations": ["US", "CA"], "communities": ["homeimprovement"], "gender": None},
}
AD: Mapping[str, Any] = {
    "id": "303",
    "ad_account_id": "a2_acc1",
    "ad_group_id": "202",
    "name": "Autumn launch",
    "configured_status": "ACTIVE",
    "post_id": "t3_abc123",
    "click_url": None,
}
ENTITIES: Mapping[Any, Mapping[str, Any]] = {"campaign": CAMPAIGN, "adGroup": AD_GROUP, "ad": AD}
PATHS = {"campaign": "campaigns", "adGroup": "ad_groups", "ad": "ads"}


def plan_edit(kind: Any, edit: Edit, **now: Any) -> tuple[Plan, dict[str, Any]]:
    """The plan of an edit of the entity, some of whose members are other ones, and the changed members."""
    entity = {**ENTITIES[kind], **now}
    plan, requests = run(plans.plan_edit(ACCOUNT, kind, entity["id"], edit, NOW), make_data_response(entity))
    address = f"{API}/{PATHS[kind]}/{entity['id']}"
    assert [(request.method, build_request_url(request)) for request in requests] == [("GET", address)]
    (step,) = plan.steps
    assert (step.request.method, build_request_url(step.request)) == ("PATCH", address)
    body: dict[str, Any] = step.request.body["data"]
    return plan, body


def find_edit_issues(kind: Any, edit: Edit, **now: Any) -> set[str]:
    entity = {**ENTITIES[kind], **now}
    return find_flow_issues(plans.plan_edit(ACCOUNT, kind, entity["id"], edit, NOW), make_data_response(entity))


@pytest.mark.parametrize(
    ("kind", "fields", "body", "risk"),
    [
        ("campaign", {"name": "Winter"}, {"name": "Winter"}, "low"),
        ("campaign", {"spendCap": "100"}, {"spend_cap": 100_000_000}, "spend"),
        ("campaign", {"fundingInstrumentId": "4712"}, {"funding_instrument_id": "4712"}, "low"),
        ("adGroup", {"budget": "30"}, {"goal_value": 30_000_000}, "spend"),
        ("adGroup", {"budget": "20.5"}, {"goal_value": 20_500_000}, "low"),
        ("adGroup", {"budget": Percentage("decrease", Decimal(10))}, {"goal_value": 22_950_000}, "low"),
        ("adGroup", {"bid": "4.25"}, {"bid_value": 4_250_000}, "spend"),
        ("adGroup", {"bidStrategy": "MAXIMIZE_VOLUME"}, {"bid_strategy": "MAXIMIZE_VOLUME"}, "spend"),
        ("adGroup", {"endAt": ""}, {"end_time": None}, "low"),
        ("adGroup", {"startAt": "2026-12-02T09:00:00+01:00"}, {"start_time": "2026-12-02T08:00:00Z"}, "low"),
        ("adGroup", {"pixelId": "a2_p2"}, {"conversion_pixel_id": "a2_p2"}, "low"),
        ("ad", {"url": "https://shop.example/"}, {"click_url": "https://shop.example/"}, "low"),
        ("ad", {"previewExpiry": "2026-12-02T09:00:00Z"}, {"preview_expiry": "2026-12-02T09:00:00Z"}, "low"),
    ],
)
def test_fields(kind: Any, fields: dict[str, Any], body: dict[str, Any], risk: str) -> None:
    plan, members = plan_edit(kind, Edit(fields))
    assert (members, plan.risk, plan.warnings) == (body, risk, ())


def test_dayparting_is_taken_away() -> None:
    window = {"start_day": 0, "start_hour": 8, "end_day": 0, "end_hour": 20}
    assert plan_edit("adGroup", Edit({"dayparting": ""}), schedule=[window])[1] == {"schedule": None}


def test_a_budget_of_the_campaign() -> None:
    _, changed_members = plan_edit("campaign", Edit({"budget": "80"}), **WHOLE)
    assert changed_members == {"goal_value": 80_000_000}
    for field in ("budget", "bid", "startAt", "endAt", "pixelId"):
        value = "2026-12-20T08:00:00Z" if field.endswith("At") else "80"
        members = {"is_campaign_budget_optimization": True}
        assert find_edit_issues("adGroup", Edit({field: value}), **members) == {f"fields.{field}"}


def test_a_cap_that_is_taken_away_may_spend_more() -> None:
    plan, members = plan_edit("campaign", Edit({"spendCap": ""}), spend_cap=5_000_000)
    assert (members, plan.risk) == ({"spend_cap": None}, "spend")


@pytest.mark.parametrize(
    ("kind", "field", "value", "native"),
    [
        ("adGroup", "dayparting", [{"start_day": 0, "start_hour": 8, "end_day": 0, "end_hour": 20}], "schedule"),
        ("ad", "clickUrlQueryParameters", [{"name": "utm_source", "value": "r"}], "click_url_query_parameters"),
        ("ad", "eventTrackers", [{"type": "VIEW", "url": "https://t.example/"}], "event_trackers"),
    ],
)
def test_lists_are_json_texts(kind: Any, field: str, value: list[Any], native: str) -> None:
    _, members = plan_edit(kind, Edit({field: json.dumps(value)}))
    assert members == {native: value}
    wrong = ["[", "{}", "[1]", json.dumps([{**value[0], "more": "1"}]), json.dumps([dict.fromkeys(value[0], None)])]
    for text in wrong:
        assert find_edit_issues(kind, Edit({field: text})) == {f"fields.{field}"}


def test_no_more_than_fourteen_parameters() -> None:
    parameter = {"name": "a", "value": "b"}
    plan_edit("ad", Edit({"clickUrlQueryParameters": json.dumps([parameter] * 14)}))
    assert find_edit_issues("ad", Edit({"clickUrlQueryParameters": json.dumps([parameter] * 15)}))


@pytest.mark.parametrize(
    ("kind", "fields", "now"),
    [
        ("campaign", {"name": "ab"}, {}),
        ("campaign", {"name": "a" * 501}, {}),
        ("campaign", {"budget": "5"}, {}),
        ("campaign", {"objective": "SALES"}, {}),
        ("campaign", {"special_ad_categories": "NONE"}, {}),
        ("campaign", {"bid": "5"}, {}),
        ("adGroup", {"budget": "1.0000001"}, {}),
        ("adGroup", {"budget": "5"}, {"goal_type": None}),
        ("adGroup", {"bid": "5"}, {"bid_strategy": "BIDLESS"}),
        ("adGroup", {"bidStrategy": "BIDLESS"}, {}),
        ("adGroup", {"campaign_id": "9"}, {}),
        ("adGroup", {"optimization_goal": "LEAD"}, {}),
        ("adGroup", {"startAt": "2026-12-02T09:00:00Z"}, {"start_time": "2026-11-01T08:00:00Z"}),
        ("adGroup", {"startAt": "2026-12-21T09:00:00Z"}, {}),
        ("adGroup", {"endAt": "2026-11-01T08:00:00Z"}, {}),
        ("adGroup", {"endAt": "2026-12-19T08:00:00.5Z"}, {}),
        ("adGroup", {"name": "Winter"}, {"configured_status": "ARCHIVED"}),
        ("ad", {"name": "Winter"}, {"configured_status": "DELETED"}),
        ("ad", {"url": "shop.example"}, {}),
        ("ad", {"url": "https://shop.example/" + "a" * 5000}, {}),
        ("ad", {"existingId": "job-1"}, {}),
        ("ad", {"bid": "5"}, {}),
    ],
)
def test_fields_that_are_refused(kind: Any, fields: dict[str, Any], now: dict[str, Any]) -> None:
    assert find_edit_issues(kind, Edit(fields), **now) == {f"fields.{name}" for name in fields}


def test_a_strategy_that_needs_a_bid() -> None:
    bidless = {"bid_strategy": "MAXIMIZE_VOLUME", "bid_value": None}
    assert find_edit_issues("adGroup", Edit({"bidStrategy": "MANUAL_BIDDING"}), **bidless) == {"fields.bid"}
    _, members = plan_edit("adGroup", Edit({"bidStrategy": "MANUAL_BIDDING", "bid": "5"}), **bidless)
    assert members == {"bid_strategy": "MANUAL_BIDDING", "bid_value": 5_000_000}


# -- targeting --------------------------------------------------------------------------------------------------------


def test_targeting_is_written_whole() -> None:
    targeting = {
        "locations": [{"id": "US-VA", "name": "Virginia"}],
        "excludedLocations": [{"id": "US-TX", "name": "Texas"}],
        "interests": [{"id": "tech", "name": "Technology"}],
        "languages": [{"id": "EN", "name": "English"}],
        "genders": ["female"],
    }
    plan, members = plan_edit("adGroup", Edit(targeting=targeting))
    assert members == {
        "targeting": {
            "geolocations": ["US-VA"],
            "communities": ["homeimprovement"],
            "gender": "FEMALE",
            "excluded_geolocations": ["US-TX"],
            "interests": ["tech"],
            "languages": ["EN"],
        }
    }
    assert plan.warnings == ()
    changes = {change.field: (change.before, change.after) for change in plan.steps[0].changes}
    assert changes["locations"] == (["US", "CA"], ["US-VA"])
    assert changes["genders"] == (None, "FEMALE")


def test_both_genders_are_no_choice() -> None:
    targeting = {"geolocations": ["US"], "gender": "MALE"}
    _, members = plan_edit("adGroup", Edit(targeting={"genders": ["female", "male"]}), targeting=targeting)
    assert members == {"targeting": {"geolocations": ["US"], "gender": None}}


def test_an_edit_of_what_serves_everywhere_is_warned_of() -> None:
    plan, members = plan_edit("adGroup", Edit(targeting={"interests": [{"id": "tech", "name": "T"}]}), targeting={})
    assert members["targeting"] == {"interests": ["tech"]}
    assert plan.warnings == (plans.WORLDWIDE_WARNING,)


@pytest.mark.parametrize(
    ("targeting", "path"),
    [
        ({"genders": ["female", "unknown"]}, "targeting.genders"),
        ({"locations": []}, "targeting.locations"),
        ({"ageMin": 21}, "targeting.ageMin"),
        ({"ageMax": 44}, "targeting.ageMax"),
        ({"excludedInterests": [{"id": "a", "name": "a"}]}, "targeting.excludedInterests"),
        ({"languages": [{"id": "en", "name": "English"}]}, "targeting.languages"),
        ({"locations": [{"id": "US", "name": "US", "radiusKm": 5}]}, "targeting.locations.0.radiusKm"),
    ],
)
def test_targeting_that_is_refused(targeting: dict[str, Any], path: str) -> None:
    assert find_edit_issues("adGroup", Edit(targeting=targeting)) == {path}


@pytest.mark.parametrize("kind", ["campaign", "ad"])
def test_only_ad_groups_target(kind: Any) -> None:
    edit = Edit({"name": "Winter"}, {"genders": ["male"]})
    assert find_flow_issues(plans.plan_edit(ACCOUNT, kind, "1", edit, NOW)) == {"targeting"}


def test_closed_ad_groups_keep_their_targeting() -> None:
    assert find_edit_issues("adGroup", Edit(targeting={"genders": ["male"]}), configured_status="ARCHIVED") == {
        "targeting"
    }


# -- the post ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("edit", [Edit({"existingId": "t3_new"}), Edit(creative={"existingId": "t3_new"})])
def test_another_post(edit: Edit) -> None:
    plan, members = plan_edit("ad", edit)
    assert members == {"post_id": "t3_new"}
    assert len(plan.warnings) == 1


def test_what_the_post_says_is_fixed() -> None:
    for creative in ({"headline": "New"}, {"body": "New"}):
        paths = {f"creative.{name}" for name in creative}
        assert find_flow_issues(plans.plan_edit(ACCOUNT, "ad", "303", Edit(creative=creative), NOW)) == paths
    assert find_edit_issues("ad", Edit(creative={"existingId": "no"})) == {"creative.existingId"}
    twice = Edit({"url": "https://a.example/"}, creative={"url": "https://b.example/"})
    assert find_flow_issues(plans.plan_edit(ACCOUNT, "ad", "303", twice, NOW)) == {"creative.url"}
    edit = Edit(creative={"existingId": "t3_new"})
    assert find_flow_issues(plans.plan_edit(ACCOUNT, "adGroup", "202", edit, NOW)) == {"creative"}


def test_an_edit_of_nothing() -> None:
    assert find_edit_issues("ad", Edit()) == {"fields"}


# -- settings ---------------------------------------------------------------------------------------------------------


def read_settings(kind: Any, entity: Mapping[str, Any]) -> dict[str, Any]:
    settings = build_settings(NETWORK, ACCOUNT, entity["id"], parse_entity(get_level(NETWORK, kind), entity), NOW)
    return {field["field"]: field for field in settings["fields"]}


def test_settings() -> None:
    group = read_settings("adGroup", AD_GROUP)
    assert (group["budget"]["value"], group["budget"]["period"], group["budget"]["locked"]) == ("25.5", "daily", None)
    assert (group["bid"]["value"], group["bid"]["unit"]) == ("4", "USD")
    assert group["campaign_id"]["locked"]
    campaign = read_settings("campaign", WHOLE)
    assert (campaign["budget"]["value"], campaign["budget"]["period"]) == ("90", "lifetime")
    assert read_settings("campaign", CAMPAIGN)["budget"]["locked"]
    archived = read_settings("ad", {**AD, "configured_status": "ARCHIVED"})
    assert all(field["locked"] for field in archived.values())
