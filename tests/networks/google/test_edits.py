"""Edits of Google Ads campaigns, ad groups and ads: what was read, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from adsunify.adapter.edits import Edit, Percentage
from adsunify.adapter.settings import build_settings
from adsunify.errors import (
    ProviderUnreadable,
)
from adsunify.networks.google import plans, reads
from adsunify.networks.google.tables import NETWORK

from .calls import (
    ACCOUNT,
    AD,
    CAMPAIGN,
    NOW,
    ROOT,
    find_flow_issues,
    get_operations,
    list_contents,
    make_rows,
    plan_campaign_edit,
    plan_edit,
    read_queries,
    run,
)

BUDGET = f"{ROOT}/campaignBudgets/77001"
NORWAY = {"type": "LOCATION", "criterionId": "2578", "location": {"geoTargetConstant": "geoTargetConstants/2578"}}
SWEDEN = {"type": "LOCATION", "criterionId": "2752", "location": {"geoTargetConstant": "geoTargetConstants/2752"}}
ENGLISH = {"type": "LANGUAGE", "criterionId": "1000", "language": {"languageConstant": "languageConstants/1000"}}


def make_campaign(**changes: Any) -> dict[str, Any]:
    """The campaign with other members of its own; ``budget`` changes those of its budget."""
    budget = changes.pop("budget", {})
    return {"campaign": CAMPAIGN["campaign"] | changes, "campaignBudget": CAMPAIGN["campaignBudget"] | budget}


# -- edits --------------------------------------------------------------------------------------------------------


def test_budget_and_campaign_are_changed_in_one_write() -> None:
    plan = plan_campaign_edit(fields={"name": "Winter", "budget": "15", "endAt": "2027-04-11T00:00:00-04:00"})
    assert get_operations(plan) == [
        {
            "campaignBudgetOperation": {
                "updateMask": "amountMicros",
                "update": {"resourceName": BUDGET, "amountMicros": "15000000"},
            }
        },
        {
            "campaignOperation": {
                "updateMask": "name,endDateTime",
                "update": {
                    "resourceName": f"{ROOT}/campaigns/88001",
                    "name": "Winter",
                    "endDateTime": "2027-04-10 23:59:59",
                },
            }
        },
    ]
    assert plan.risk == "spend"
    assert [(change.field, change.before, change.after) for change in plan.steps[0].changes] == [
        ("name", "Garden chairs autumn", "Winter"),
        ("budget", "12.34", "15"),
        ("endAt", "2027-03-31", "2027-04-10"),
    ]


def test_an_end_is_cleared_by_a_mask_without_a_value() -> None:
    (content,) = list_contents(plan_campaign_edit(fields={"endAt": ""}), "campaign", "update")
    assert content == {"resourceName": f"{ROOT}/campaigns/88001"}


def test_a_percentage_is_cut_to_the_billable_unit() -> None:
    plan = plan_campaign_edit(fields={"budget": Percentage("increase", Decimal("33.333"))})
    assert list_contents(plan, "campaignBudget", "update")[0]["amountMicros"] == "16450000"


def test_a_changed_strategy_takes_its_amount_in_the_same_edit() -> None:
    plan = plan_campaign_edit(fields={"bidStrategy": "maximizeConversions", "targetCpa": "5"})
    (operation,) = get_operations(plan)
    assert operation["campaignOperation"] == {
        "updateMask": "maximizeConversions.targetCpaMicros",
        "update": {
            "resourceName": f"{ROOT}/campaigns/88001",
            "maximizeConversions": {"targetCpaMicros": "5000000"},
        },
    }
    assert plan.risk == "spend"
    assert (
        list_contents(plan_campaign_edit(fields={"bidStrategy": "targetSpend"}), "campaign", "update")[0]["targetSpend"]
        == {}
    )


def test_the_same_strategy_keeps_what_it_holds() -> None:
    native = make_campaign(biddingStrategyType="TARGET_SPEND", targetSpend={"cpcBidCeilingMicros": "900000"})
    assert find_flow_issues(lambda: plan_campaign_edit(native, fields={"bidStrategy": "targetSpend"})) == [
        ("fields.bidStrategy", "no_change")
    ]
    plan = plan_campaign_edit(native, fields={"bid": Percentage("decrease", Decimal(50))})
    assert list_contents(plan, "campaign", "update")[0]["targetSpend"] == {"cpcBidCeilingMicros": "450000"}
    assert find_flow_issues(lambda: plan_campaign_edit(native, fields={"bid": "1", "bidCeiling": "2"})) == [
        ("fields.bid", "conflict")
    ]


@pytest.mark.parametrize(
    ("native", "fields", "issue"),
    [
        (
            make_campaign(budget={"explicitlyShared": True, "referenceCount": "2"}),
            {"budget": "9"},
            ("budget", "locked"),
        ),
        (make_campaign(budget={"period": "CUSTOM_PERIOD"}), {"budget": "9"}, ("budget", "locked")),
        (make_campaign(status="REMOVED"), {"name": "x"}, ("name", "locked")),
        (make_campaign(biddingStrategy="x"), {"bidStrategy": "targetSpend"}, ("bidStrategy", "locked")),
        (make_campaign(), {"targetCpa": "9"}, ("targetCpa", "locked")),
        (make_campaign(), {"targetRoas": "2"}, ("targetRoas", "locked")),
        (make_campaign(), {"spendCap": "9"}, ("spendCap", "locked")),
        (make_campaign(startDateTime="2026-11-20 00:00:00"), {"startAt": "2027-01-01"}, ("startAt", "locked")),
        (make_campaign(), {"startAt": "2026-11-19"}, ("startAt", "past")),
        (make_campaign(), {"startAt": "2027-04-01"}, ("startAt", "order")),
        (make_campaign(), {"endAt": "2027-02-28"}, ("endAt", "order")),
        (make_campaign(startDateTime=None), {"endAt": "2026-11-19"}, ("endAt", "past")),
        (make_campaign(), {"budget": "9.999"}, ("budget", "over_precision")),
        (make_campaign(), {"name": "a\nb"}, ("name", "invalid")),
        (make_campaign(), {"bidStrategy": "magic"}, ("bidStrategy", "choice")),
    ],
)
def test_what_the_campaign_does_not_allow_is_refused(
    native: Mapping[str, Any], fields: Mapping[str, Any], issue: tuple[str, str]
) -> None:
    assert find_flow_issues(lambda: plan_campaign_edit(native, fields=fields)) == [(f"fields.{issue[0]}", issue[1])]


def test_a_shared_budget_with_one_campaign_is_not_locked() -> None:
    assert plan_campaign_edit(
        make_campaign(budget={"explicitlyShared": True, "referenceCount": "1"}), fields={"budget": "9"}
    )


def test_goals_that_change_are_one_operation_each() -> None:
    goals: list[dict[str, Any]] = [
        {"category": "PURCHASE", "origin": "WEBSITE", "biddable": True},
        {"category": "SIGNUP", "origin": "APP"},
    ]
    plan = plan_campaign_edit(goals=goals, fields={"conversionGoals": "SIGNUP~APP"})
    assert list_contents(plan, "campaignConversionGoal", "update") == [
        {"resourceName": f"{ROOT}/campaignConversionGoals/88001~PURCHASE~WEBSITE", "biddable": False},
        {"resourceName": f"{ROOT}/campaignConversionGoals/88001~SIGNUP~APP", "biddable": True},
    ]
    assert find_flow_issues(lambda: plan_campaign_edit(goals=goals, fields={"conversionGoals": "LEAD~APP"})) == [
        ("fields.conversionGoals", "choice")
    ]


def make_item(id_: str, **more: Any) -> dict[str, Any]:
    return {"id": id_, "name": id_, **more}


def test_places_are_made_and_removed() -> None:
    targeting = {"locations": [make_item("geoTargetConstants/2578"), make_item("2208")], "languages": []}
    plan = plan_campaign_edit(criteria=[NORWAY, SWEDEN, ENGLISH], targeting=targeting)
    assert get_operations(plan) == [
        {
            "campaignCriterionOperation": {
                "create": {
                    "campaign": f"{ROOT}/campaigns/88001",
                    "location": {"geoTargetConstant": "geoTargetConstants/2208"},
                }
            }
        },
        {"campaignCriterionOperation": {"remove": f"{ROOT}/campaignCriteria/88001~2752"}},
        {"campaignCriterionOperation": {"remove": f"{ROOT}/campaignCriteria/88001~1000"}},
    ]
    assert "all of them" in plan.warnings[0]


def test_what_excludes_stands_apart() -> None:
    plan = plan_campaign_edit(criteria=[NORWAY], targeting={"excludedLocations": [make_item("1010826")]})
    assert list_contents(plan, "campaignCriterion") == [
        {
            "campaign": f"{ROOT}/campaigns/88001",
            "negative": True,
            "location": {"geoTargetConstant": "geoTargetConstants/1010826"},
        }
    ]


@pytest.mark.parametrize(
    ("targeting", "paths"),
    [
        ({"locations": []}, {"targeting.locations"}),
        ({"locations": [make_item("2578", radiusKm=5)]}, {"targeting.locations.0.radiusKm"}),
        ({"locations": [make_item("2578) OR (1")]}, {"targeting.locations.0.id"}),
        ({"excludedLocations": [make_item("2578")]}, {"targeting.excludedLocations"}),
        (
            {"locations": [make_item("5")], "excludedLocations": [make_item("5")]},
            {"targeting.locations", "targeting.excludedLocations"},
        ),
    ],
)
def test_places_that_cannot_be_so_are_refused(targeting: Mapping[str, Any], paths: set[str]) -> None:
    assert {
        path for path, _ in find_flow_issues(lambda: plan_campaign_edit(criteria=[NORWAY], targeting=targeting))
    } == paths


def test_places_are_locked_until_the_declaration_is_there() -> None:
    native = make_campaign(containsEuPoliticalAdvertising="UNSPECIFIED")
    targeting = {"locations": [make_item("2578"), make_item("2752")]}
    assert find_flow_issues(lambda: plan_campaign_edit(native, [NORWAY], targeting=targeting)) == [
        ("targeting.locations", "locked")
    ]
    declared = {"euPoliticalAdvertising": "DOES_NOT_CONTAIN_EU_POLITICAL_ADVERTISING"}
    plan = plan_campaign_edit(native, [NORWAY], targeting=targeting, fields=declared)
    assert [next(iter(operation)) for operation in get_operations(plan)] == [
        "campaignOperation",
        "campaignCriterionOperation",
    ]


def test_targeting_and_texts_stand_where_they_belong() -> None:
    def find_edit_issues(kind: Any, entity_id: str, **edit: Any) -> list[tuple[str, str]]:
        return find_flow_issues(lambda: run(plans.plan_edit(ACCOUNT, kind, entity_id, Edit(**edit), NOW)))

    assert find_edit_issues("adGroup", "99001", targeting={"locations": []}) == [("targeting", "not_supported")]
    assert find_edit_issues("campaign", "88001", targeting={"ageMin": 18}) == [("targeting.ageMin", "not_supported")]
    assert find_edit_issues("campaign", "88001", creative={"url": "https://x.example/"}) == [
        ("creative", "not_supported")
    ]
    assert find_edit_issues("ad", "99001~61001", creative={"body": "x"}) == [("creative.body", "not_supported")]
    assert find_edit_issues("ad", "99001~61001", creative={"url": "x"}, fields={"url": "y"}) == [
        ("creative.url", "conflict")
    ]


def test_an_ad_group_takes_a_bid_only_under_manual_bidding() -> None:
    native = {"adGroup": {"id": "99001", "campaign": f"{ROOT}/campaigns/88001", "cpcBidMicros": "850000"}}
    plan = plan_edit("adGroup", "99001", native, make_rows(CAMPAIGN), fields={"bid": "0.95"})
    assert list_contents(plan, "adGroup", "update") == [
        {"resourceName": f"{ROOT}/adGroups/99001", "cpcBidMicros": "950000"}
    ]
    assert (plan.risk, len(plan.warnings)) == ("spend", 1)
    automatic = make_rows(make_campaign(biddingStrategyType="TARGET_SPEND"))
    assert find_flow_issues(lambda: plan_edit("adGroup", "99001", native, automatic, fields={"bid": "0.95"})) == [
        ("fields.bid", "locked")
    ]


def test_texts_are_replaced_whole_and_pins_stay() -> None:
    texts = {"headlines": ["One", "Two, too", "Three"], "url": "https://shop.example/new"}
    plan = plan_edit("ad", "99001~61001", AD, creative=texts, fields={"path1": "chairs"})
    assert get_operations(plan) == [
        {
            "adOperation": {
                "updateMask": "responsiveSearchAd.headlines,responsiveSearchAd.path1,finalUrls",
                "update": {
                    "resourceName": f"{ROOT}/ads/61001",
                    "responsiveSearchAd": {
                        "path1": "chairs",
                        "headlines": [
                            {"text": "One", "pinnedField": "HEADLINE_1"},
                            {"text": "Two, too"},
                            {"text": "Three"},
                        ],
                    },
                    "finalUrls": ["https://shop.example/new"],
                },
            }
        }
    ]


def test_texts_are_held_against_the_limits_and_the_type_of_the_ad() -> None:
    def find_edit_issues(native: Mapping[str, Any], **edit: Any) -> list[tuple[str, str]]:
        return find_flow_issues(lambda: plan_edit("ad", "99001~61001", native, **edit))

    assert find_edit_issues(AD, creative={"headlines": ["One", "One", "Two"]}) == [("creative.headlines", "invalid")]
    assert find_edit_issues(AD, fields={"descriptions": "One"}) == [("fields.descriptions", "invalid")]
    assert find_edit_issues(AD, fields={"path1": "椅" * 8}) == [("fields.path1", "too_long")]
    other = {"adGroupAd": AD["adGroupAd"] | {"ad": AD["adGroupAd"]["ad"] | {"type": "IMAGE_AD"}}}
    assert find_edit_issues(other, creative={"url": "https://x.example/"}) == [("creative.url", "locked")]


@pytest.mark.parametrize("junk", [None, 5, "x", []])
def test_an_entity_that_is_not_made_of_objects_is_unreadable(junk: Any) -> None:
    with pytest.raises(ProviderUnreadable):
        plan_campaign_edit(make_campaign(maximizeConversions=junk), fields={"name": "x"})


def test_settings_show_what_stands_there() -> None:
    goals = make_rows({"campaignConversionGoal": {"category": "A", "origin": "B", "biddable": True}})
    answers = (make_rows(CAMPAIGN), make_rows(CAMPAIGN), make_rows({"campaignCriterion": NORWAY}), goals)
    entity, requests = run(reads.fetch_editable_entity(ACCOUNT, "campaign", "88001"), *answers)
    settings = build_settings(NETWORK, ACCOUNT, "88001", entity, NOW)
    values = {field["field"]: (field["value"], field["locked"] is None) for field in settings["fields"]}
    assert values["budget"] == ("12.34", True)
    assert values["startAt"] == ("2027-03-01", True)
    assert values["bidStrategy"] == ("manualCpc", True)
    assert values["targetCpa"] == (None, False)
    assert values["conversionGoals"] == (["A~B"], True)
    assert settings["targeting"] == {"campaignCriteria": [NORWAY]}
    assert read_queries(requests)[2].endswith(
        "campaign.id = 88001 AND campaign_criterion.type IN ('LOCATION', 'LANGUAGE')"
    )
