"""The Snapchat adapter: settings and edits."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from adsunify.adapter.edits import Edit, Percentage
from adsunify.adapter.settings import build_settings
from adsunify.errors import InvalidInput, ProviderError, ProviderNotFound, ProviderUnreadable
from adsunify.http.messages import Response, build_request_url
from adsunify.networks.snapchat import plans, reads
from adsunify.networks.snapchat.tables import NETWORK
from adsunify.plans.binding import apply_overlay
from adsunify.plans.records import Plan
from tests.networks.calls import make_response, run

from .calls import ACCOUNT, AD, API, CAMPAIGN, ID, NOW, SQUAD, make_item_error, wrap_entities

READ = {
    "id": CAMPAIGN,
    "ad_account_id": ID,
    "name": "Winter launch",
    "status": "PAUSED",
    "daily_budget_micro": 25_000_000,
}
SQUAD_READ = {
    "id": SQUAD,
    "campaign_id": CAMPAIGN,
    "name": "Winter launch",
    "status": "PAUSED",
    "bid_strategy": "LOWEST_COST_WITH_MAX_BID",
    "bid_micro": 4_250_000,
    "lifetime_budget_micro": 900_000_000,
    "start_time": "2026-12-01T08:00:00.000Z",
    "end_time": "2026-12-20T22:59:00.000Z",
    "targeting": {"geos": [{"country_code": "gb"}], "demographics": [{"gender": "MALE", "min_age": "18"}]},
}
TABLES: Mapping[str, tuple[str, str]] = {
    "campaign": ("campaigns", "campaign"),
    "adGroup": ("adsquads", "adsquad"),
    "ad": ("ads", "ad"),
}


def plan_edit(kind: Any, entity: Mapping[str, Any], change: Edit, **campaign: Any) -> tuple[Plan, Mapping[str, Any]]:
    """The plan of an edit, and what it would send."""
    answer = wrap_entities(*TABLES[kind], entity)
    above = (
        [wrap_entities("campaigns", "campaign", {"id": CAMPAIGN, "ad_account_id": ID, **campaign})]
        if kind == "adGroup"
        else []
    )
    plan, _ = run(plans.plan_edit(ACCOUNT, kind, str(entity["id"]), change, NOW), answer, *above)
    step = plan.steps[0]
    return plan, apply_overlay(step, step.request, answer).body[TABLES[kind][0]][0]


def find_edit_issues(kind: Any, entity: Mapping[str, Any], change: Edit, **campaign: Any) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        plan_edit(kind, entity, change, **campaign)
    return {issue.path for issue in refusal.value.issues}


def test_fields_of_an_ad_squad() -> None:
    changes = {"name": "New", "budget": "1000.5", "bid": "5", "endAt": "2026-12-24T00:00:00Z", "pacing": "ACCELERATED"}
    plan, body = plan_edit("adGroup", SQUAD_READ, Edit(changes))
    expected = {
        "name": "New",
        "lifetime_budget_micro": 1_000_500_000,
        "bid_micro": 5_000_000,
        "end_time": "2026-12-24T00:00:00.000Z",
        "pacing_type": "ACCELERATED",
    }
    assert body == SQUAD_READ | expected
    assert plan.risk == "spend"
    values = {change.field: (change.before, change.after) for change in plan.steps[0].changes}
    assert (values["budget"], values["bid"]) == (("900", "1000.5"), ("4.25", "5"))


def test_an_automatic_bid_drops_the_bid() -> None:
    _, body = plan_edit("adGroup", SQUAD_READ, Edit({"bidStrategy": "AUTO_BID"}))
    assert body["bid_strategy"] == "AUTO_BID"
    assert "bid_micro" not in body
    automatic = {**SQUAD_READ, "bid_strategy": "AUTO_BID", "bid_micro": None}
    assert find_edit_issues("adGroup", automatic, Edit({"bid": "5"})) == {"fields.bid"}
    assert find_edit_issues("adGroup", automatic, Edit({"bidStrategy": "TARGET_COST"})) == {"fields.bid"}
    _, body = plan_edit("adGroup", automatic, Edit({"bidStrategy": "TARGET_COST", "bid": "5"}))
    assert (body["bid_strategy"], body["bid_micro"]) == ("TARGET_COST", 5_000_000)


def test_a_percentage_is_cut_toward_the_lower_spend() -> None:
    plan, body = plan_edit("adGroup", SQUAD_READ, Edit({"bid": Percentage("decrease", Decimal("33.3333333"))}))
    assert body["bid_micro"] == 2_833_333
    assert plan.risk == "low"


def test_under_smart_budgets_the_campaign_has_the_budget() -> None:
    change = Edit({"budget": "30"})
    assert find_edit_issues("adGroup", SQUAD_READ, change, pacing_level="CAMPAIGN") == {"fields.budget"}
    assert find_edit_issues("campaign", READ, change) == {"fields.budget"}
    smart = {**READ, "pacing_level": "CAMPAIGN"}
    assert plan_edit("campaign", smart, change)[1]["daily_budget_micro"] == 30_000_000
    assert plan_edit("campaign", smart, Edit({"dailyCap": "40"}))[1]["daily_budget_micro"] == 40_000_000


def test_caps_of_a_campaign() -> None:
    _, body = plan_edit("campaign", READ, Edit({"dailyCap": "20", "spendCap": "500"}))
    assert (body["daily_budget_micro"], body["lifetime_spend_cap_micro"]) == (20_000_000, 500_000_000)
    assert find_edit_issues("campaign", READ, Edit({"spendCap": "19.99"})) == {"fields.spendCap"}
    plan, body = plan_edit("campaign", READ, Edit({"dailyCap": ""}))
    assert "daily_budget_micro" not in body
    assert plan.risk == "spend"


def test_a_status_that_is_set_by_an_edit_may_spend() -> None:
    plan, _ = run(
        plans.plan_edit(ACCOUNT, "ad", AD, Edit({"status": "ACTIVE"}), NOW),
        wrap_entities("ads", "ad", {"id": AD, "ad_squad_id": SQUAD}),
        wrap_entities("adsquads", "adsquad", SQUAD_READ),
        wrap_entities("campaigns", "campaign", READ),
    )
    assert plan.risk == "spend"


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"endAt": ""}, "fields.endAt"),
        ({"endAt": "2026-11-01T00:00:00Z"}, "fields.endAt"),
        ({"startAt": "2027-01-01T00:00:00Z"}, "fields.startAt"),
        ({"optimization_goal": "SWIPES"}, "fields.optimization_goal"),
        ({"budget": "4.99"}, "fields.budget"),
        ({"objective": "X"}, "fields.objective"),
        ({}, "fields"),
    ],
)
def test_edits_of_an_ad_squad_that_are_refused(fields: Mapping[str, Any], path: str) -> None:
    assert path in find_edit_issues("adGroup", SQUAD_READ, Edit(fields))


def make_items(*ids: str) -> list[dict[str, Any]]:
    return [{"id": entity_id, "name": entity_id} for entity_id in ids]


def test_targeting_is_laid_into_what_is_there() -> None:
    change = Edit(
        targeting={
            "locations": make_items("gb:region:7"),
            "excludedLocations": make_items("gb:metro:8"),
            "languages": make_items("en"),
            "genders": ["female", "male"],
            "ageMax": 34,
            "interests": make_items("SLC_1"),
            "excludedInterests": make_items("SLC_2"),
            "devices": make_items("iOS"),
        }
    )
    plan, body = plan_edit("adGroup", SQUAD_READ, change)
    assert body["targeting"] == {
        "geos": [
            {"country_code": "gb", "region_id": ["7"], "operation": "INCLUDE"},
            {"country_code": "gb", "metro_id": ["8"], "operation": "EXCLUDE"},
        ],
        "demographics": [{"languages": ["en"], "min_age": "18", "max_age": "34"}],
        "interests": [
            {"category_id": ["SLC_1"], "operation": "INCLUDE"},
            {"category_id": ["SLC_2"], "operation": "EXCLUDE"},
        ],
        "devices": [{"os_type": "iOS"}],
    }
    assert plan.steps[0].changes[0].before == [{"country_code": "gb"}]


@pytest.mark.parametrize(
    ("targeting", "path"),
    [
        ({"locations": []}, "targeting.locations"),
        ({"locations": make_items("London")}, "targeting.locations.0.id"),
        ({"locations": make_items("gb", "gb:region:1")}, "targeting.locations.1.id"),
        ({"locations": [{"id": "gb", "name": "GB", "radiusKm": 3}]}, "targeting.locations.0.radiusKm"),
        ({"locations": make_items("gb", "us")}, "targeting.languages"),
        ({"genders": ["unknown"]}, "targeting.genders"),
        ({"ageMax": 17}, "targeting.ageMin"),
        ({"placements": make_items("FEED")}, "targeting.placements"),
    ],
)
def test_targeting_edits_that_are_refused(targeting: Mapping[str, Any], path: str) -> None:
    assert find_edit_issues("adGroup", SQUAD_READ, Edit(targeting=targeting)) == {path}


def test_what_cannot_be_edited_where() -> None:
    assert find_edit_issues("campaign", READ, Edit(targeting={"genders": ["male"]})) == {"targeting"}
    assert find_edit_issues("ad", {"id": AD}, Edit(creative={"headline": "x"})) == {"creative"}
    started = {**READ, "start_time": "2026-01-01T00:00:00.000Z"}
    assert find_edit_issues("campaign", started, Edit({"startAt": "2027-01-01T00:00:00Z"})) == {"fields.startAt"}


def test_settings_show_money_and_locks() -> None:
    answers = (
        wrap_entities("adsquads", "adsquad", SQUAD_READ),
        wrap_entities("campaigns", "campaign", READ | {"pacing_level": "CAMPAIGN"}),
    )
    entity, requests = run(reads.fetch_editable_entity(ACCOUNT, "adGroup", SQUAD), *answers)
    assert [build_request_url(request) for request in requests][1] == f"{API}/campaigns/{CAMPAIGN}"
    settings = build_settings(NETWORK, ACCOUNT, SQUAD, entity, NOW)
    fields = {field["field"]: field for field in settings["fields"]}
    assert (fields["budget"]["value"], fields["budget"]["period"], fields["budget"]["unit"]) == (
        "900",
        "lifetime",
        "GBP",
    )
    assert "Smart Budgets" in fields["budget"]["locked"]
    assert settings["targeting"]["targeting"] == SQUAD_READ["targeting"]


@pytest.mark.parametrize(
    ("campaign", "raised"),
    [
        (make_response({}, 500), ProviderError),
        (wrap_entities("campaigns", "campaign", READ | {"ad_account_id": AD}), ProviderNotFound),
        (wrap_entities("campaigns", "campaign", {"id": CAMPAIGN}), ProviderUnreadable),
    ],
)
def test_an_ad_squad_whose_account_is_not_told_as_ours(campaign: Response, raised: type[ProviderError]) -> None:
    with pytest.raises(raised):
        run(
            reads.fetch_editable_entity(ACCOUNT, "adGroup", SQUAD),
            wrap_entities("adsquads", "adsquad", SQUAD_READ),
            campaign,
        )


def test_a_refused_read_is_an_error_of_ours() -> None:
    with pytest.raises(ProviderError):
        run(reads.fetch_entity(ACCOUNT, "campaign", CAMPAIGN), make_item_error("campaigns", "Error code: E1001"))
