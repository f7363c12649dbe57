"""Settings and edits of LinkedIn: whole objects replaced, locks by status and date, criteria laid over."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit, Percentage
from adsunify.adapter.flows import run_flow
from adsunify.adapter.settings import build_settings
from adsunify.errors import InvalidInput, ProviderUnreadable
from adsunify.networks.linkedin import plans, reads
from adsunify.networks.linkedin.tables import NETWORK
from adsunify.plans.records import Plan

from .calls import ACCOUNT, CAMPAIGN, GROUP, HOST, NOW, make_responder

PATHS = {"campaign": "adCampaignGroups/7021", "adGroup": "adCampaigns/880011"}
NATIVE = {"campaign": GROUP, "adGroup": CAMPAIGN}
FACET = "urn:li:adTargetingFacet:"


def plan_edit(kind: Any, edit: Edit, account: Account = ACCOUNT, **native: Any) -> Plan:
    answers = {f"{HOST}/adAccounts/518121035/{PATHS[kind]}": {**NATIVE[kind], **native}}
    return run_flow(plans.plan_edit(account, kind, PATHS[kind].partition("/")[2], edit, NOW), make_responder(answers))


def get_patch(plan: Plan) -> Any:
    return plan.steps[0].request.body["patch"]


def find_edit_issues(kind: Any, edit: Edit, account: Account = ACCOUNT, **native: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as refusal:
        plan_edit(kind, edit, account, **native)
    return {issue.path: issue.code for issue in refusal.value.issues}


def read_settings(kind: Any, account: Account = ACCOUNT, **native: Any) -> Mapping[str, Mapping[str, Any]]:
    answers = {f"{HOST}/adAccounts/518121035/{PATHS[kind]}": {**NATIVE[kind], **native}}
    entity_id = PATHS[kind].partition("/")[2]
    entity = run_flow(reads.fetch_editable_entity(account, kind, entity_id), make_responder(answers))
    settings = build_settings(NETWORK, account, entity_id, entity, NOW)
    return {row["field"]: row for row in settings["fields"]}


# -- money --------------------------------------------------------------------------------------------------------


def test_a_budget_is_the_one_in_use_and_its_noise_is_cut() -> None:
    assert (read_settings("adGroup")["budget"]["value"], read_settings("adGroup")["budget"]["period"]) == (
        "40",
        "daily",
    )
    plan = plan_edit("adGroup", Edit({"budget": Percentage("increase", Decimal("10"))}))
    assert get_patch(plan) == {"$set": {"dailyBudget": {"amount": "44", "currencyCode": "USD"}}}
    assert plan.risk == "spend" and plan.steps[0].changes[0].before == "40"
    total: dict[str, Any] = {"dailyBudget": None, "totalBudget": {"amount": "900.0000", "currencyCode": "USD"}}
    lower = plan_edit("adGroup", Edit({"budget": "800.5"}), **total)
    assert get_patch(lower) == {"$set": {"totalBudget": {"amount": "800.5", "currencyCode": "USD"}}}
    assert lower.risk == "low"
    assert find_edit_issues("adGroup", Edit({"budget": "800.505"})) == {"fields.budget": "over_precision"}


def test_a_campaign_without_a_budget_has_none_to_edit() -> None:
    assert find_edit_issues("adGroup", Edit({"budget": "5"}), dailyBudget=None) == {"fields.budget": "locked"}


def test_a_bid_is_written_with_what_it_belongs_to() -> None:
    plan = plan_edit("adGroup", Edit({"bid": "5.25"}))
    assert get_patch(plan) == {
        "$set": {
            "unitCost": {"amount": "5.25", "currencyCode": "USD"},
            "costType": "CPC",
            "optimizationTargetType": "NONE",
        }
    }
    automated: dict[str, Any] = {"optimizationTargetType": "MAX_CLICK", "costType": "CPM"}
    assert find_edit_issues("adGroup", Edit({"bid": "5.25"}), **automated) == {"fields.bid": "locked"}


def test_a_strategy_takes_its_charge_along() -> None:
    plan = plan_edit("adGroup", Edit({"bidStrategy": "MAX_CLICK"}))
    assert get_patch(plan)["$set"] == {
        "optimizationTargetType": "MAX_CLICK",
        "costType": "CPM",
        "unitCost": {"amount": "0", "currencyCode": "USD"},
    }
    assert plan.risk == "spend"
    automated: dict[str, Any] = {"optimizationTargetType": "MAX_CLICK", "costType": "CPM"}
    assert find_edit_issues("adGroup", Edit({"bidStrategy": "NONE"}), **automated) == {"fields.bid": "required"}
    manual_plan = plan_edit("adGroup", Edit({"bidStrategy": "NONE", "bid": "3"}), **automated)
    assert get_patch(manual_plan)["$set"] == {
        "optimizationTargetType": "NONE",
        "costType": "CPC",
        "unitCost": {"amount": "3", "currencyCode": "USD"},
    }
    assert find_edit_issues("adGroup", Edit({"bidStrategy": "MAX_REACH"})) == {"fields.bidStrategy": "choice"}
    plural = plan_edit("adGroup", Edit({"bidStrategy": "MAX_CLICK"}), objectiveType="WEBSITE_VISITS")
    assert get_patch(plural)["$set"]["costType"] == "CPM"


def test_a_groups_cap_needs_an_end() -> None:
    assert find_edit_issues("campaign", Edit({"spendCap": "500"})) == {"fields.spendCap": "required"}
    plan = plan_edit("campaign", Edit({"spendCap": "500", "endAt": "2026-12-01T00:00:00Z"}))
    assert get_patch(plan)["$set"] == {
        "runSchedule": {"start": 1793520000000, "end": 1796083200000},
        "totalBudget": {"amount": "500", "currencyCode": "USD"},
    }
    freed = plan_edit("campaign", Edit({"spendCap": ""}), totalBudget={"amount": "5", "currencyCode": "USD"})
    assert get_patch(freed) == {"$delete": ["totalBudget"]} and freed.risk == "spend"


# -- schedule -----------------------------------------------------------------------------------------------------


def test_a_schedule_is_replaced_whole() -> None:
    assert read_settings("adGroup")["endAt"]["value"] == "2026-11-15T08:00:00Z"
    plan = plan_edit("adGroup", Edit({"endAt": "2026-11-20T08:00:00.250Z"}))
    assert get_patch(plan) == {"$set": {"runSchedule": {"start": 1793520000000, "end": 1795161600250}}}
    assert plan.steps[0].changes[0].after == "2026-11-20T08:00:00.250Z"
    assert get_patch(plan_edit("adGroup", Edit({"endAt": ""}))) == {"$set": {"runSchedule": {"start": 1793520000000}}}


@pytest.mark.parametrize(
    ("fields", "native", "issues"),
    [
        ({"endAt": "2026-11-20T08:00:00.0001Z"}, {}, {"fields.endAt": "over_precision"}),
        ({"endAt": "2026-11-01T08:00:00Z"}, {}, {"fields.endAt": "order"}),
        ({"endAt": "2026-11-02T07:00:00Z"}, {}, {"fields.endAt": "too_short"}),
        ({"startAt": "2026-10-01T08:00:00Z"}, {}, {"fields.startAt": "past"}),
        ({"startAt": "2026-11-02T08:00:00Z"}, {"runSchedule": {"start": 1760000000000}}, {"fields.startAt": "locked"}),
        ({"endAt": ""}, {"dailyBudget": None, "totalBudget": {"amount": "5"}}, {"fields.endAt": "required"}),
    ],
)
def test_a_schedule_that_linkedin_would_refuse(fields: Any, native: Any, issues: Any) -> None:
    assert find_edit_issues("adGroup", Edit(fields), **native) == issues


def test_a_past_start_does_not_lock_the_end() -> None:
    plan = plan_edit("adGroup", Edit({"endAt": "2026-11-20T08:00:00Z"}), runSchedule={"start": 1760000000000})
    assert get_patch(plan)["$set"]["runSchedule"]["start"] == 1760000000000


# -- locks --------------------------------------------------------------------------------------------------------


def test_what_is_locked_says_why() -> None:
    enterprise = evolve(ACCOUNT, extras={"type": "ENTERPRISE"})
    assert {name for name, row in read_settings("campaign", enterprise).items() if row["locked"] is None} == {"name"}
    assert not {name for name, row in read_settings("campaign", backfilled=True).items() if row["locked"] is None}
    assert not {name for name, row in read_settings("adGroup", status="CANCELED").items() if row["locked"] is None}
    free = {name for name, row in read_settings("adGroup").items() if row["locked"] is None}
    selection = {"creativeSelection", "audienceExpansion", "audienceNetwork"}
    assert free == {"name", "budget", "startAt", "endAt", "bidStrategy", "bid"} | selection


def test_a_switch_is_a_switch() -> None:
    assert get_patch(plan_edit("adGroup", Edit({"audienceNetwork": "true"}))) == {
        "$set": {"offsiteDeliveryEnabled": True}
    }
    assert find_edit_issues("adGroup", Edit({"audienceNetwork": "yes"})) == {"fields.audienceNetwork": "choice"}
    assert find_edit_issues("adGroup", Edit({"name": "网" * 67})) == {"fields.name": "too_long"}
    assert find_edit_issues("adGroup", Edit()) == {"fields": "required"}
    assert find_edit_issues("adGroup", Edit(creative={"url": "https://shop.example"})) == {"creative": "not_supported"}


# -- targeting ----------------------------------------------------------------------------------------------------


def make_places(*ids: str, **more: Any) -> list[dict[str, Any]]:
    return [{"id": entity_id, "name": entity_id, **more} for entity_id in ids]


def plan_criteria(edit: Mapping[str, Any], **native: Any) -> Any:
    return get_patch(plan_edit("adGroup", Edit(targeting=edit), **native))["$set"]["targetingCriteria"]


def test_places_are_replaced_where_they_stand() -> None:
    assert plan_criteria({"locations": make_places("urn:li:geo:1", "urn:li:geo:2")}) == {
        "include": {
            "and": [
                {"or": {f"{FACET}locations": ["urn:li:geo:1", "urn:li:geo:2"]}},
                {"or": {f"{FACET}interfaceLocales": ["urn:li:locale:en_US"]}},
            ]
        }
    }


def test_what_was_not_there_is_added_and_what_is_empty_goes() -> None:
    criteria = plan_criteria(
        {
            "languages": [],
            "interests": make_places("urn:li:interest:5"),
            "excludedLocations": make_places("urn:li:geo:9"),
        }
    )
    assert criteria == {
        "include": {
            "and": [
                {"or": {f"{FACET}locations": ["urn:li:geo:103644278"]}},
                {"or": {f"{FACET}interests": ["urn:li:interest:5"]}},
            ]
        },
        "exclude": {"or": {f"{FACET}locations": ["urn:li:geo:9"]}},
    }
    cleared = plan_criteria({"excludedLocations": []}, targetingCriteria=criteria)
    assert cleared == {"include": criteria["include"]}


def test_ages_meet_the_borders_of_the_ranges() -> None:
    criteria = plan_criteria({"ageMin": 25, "ageMax": 54, "genders": ["female"]})
    members = criteria["include"]["and"][2:]
    assert {"or": {f"{FACET}ageRanges": ["urn:li:ageRange:(25,34)", "urn:li:ageRange:(35,54)"]}} in members
    assert {"or": {f"{FACET}genders": ["urn:li:gender:FEMALE"]}} in members
    older = plan_criteria({"ageMin": 35}, targetingCriteria=criteria)
    assert {"or": {f"{FACET}ageRanges": ["urn:li:ageRange:(35,54)"]}} in older["include"]["and"]
    open_ended = plan_criteria({"ageMin": 55})
    assert {"or": {f"{FACET}ageRanges": ["urn:li:ageRange:(55,2147483647)"]}} in open_ended["include"]["and"]


@pytest.mark.parametrize(
    ("edit", "issues"),
    [
        ({"ageMin": 20}, {"targeting.ageMin": "choice"}),
        ({"ageMin": 35, "ageMax": 24}, {"targeting.ageMin": "order"}),
        ({"genders": ["unknown"]}, {"targeting.genders": "not_supported"}),
        ({"locations": make_places("103644278")}, {"targeting.locations.0.id": "invalid"}),
        ({"locations": make_places("urn:li:geo:1", radiusKm=5)}, {"targeting.locations.0.radiusKm": "not_supported"}),
        ({"locations": []}, {"targeting.locations": "required"}),
        ({"devices": make_places("mobile")}, {"targeting.devices": "not_supported"}),
        ({"excludedLocations": make_places("urn:li:geo:103644278")}, {"targeting": "invalid"}),
    ],
)
def test_targeting_that_linkedin_has_not(edit: Any, issues: Any) -> None:
    assert find_edit_issues("adGroup", Edit(targeting=edit)) == issues


def test_targeting_belongs_to_campaigns() -> None:
    assert find_edit_issues("campaign", Edit(targeting={"locations": make_places("urn:li:geo:1")})) == {
        "targeting": "not_supported"
    }
    with pytest.raises(ProviderUnreadable):
        plan_edit("adGroup", Edit(targeting={"locations": make_places("urn:li:geo:1")}), targetingCriteria=None)
