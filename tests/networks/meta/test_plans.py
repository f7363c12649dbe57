"""The Meta adapter: plans as the Marketing API documents them, refusals, activation, native writes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.network import split_words
from adsunify.errors import (
    InvalidInput,
)
from adsunify.http.messages import build_request_url
from adsunify.models.brief import read_brief
from adsunify.networks.meta import native, plans, reads
from adsunify.networks.meta.tables import NETWORK
from adsunify.networks.registry import get_adapter
from adsunify.planning import plan
from adsunify.plans.binding import fill_bindings
from adsunify.values.exact_json import dumps, loads
from tests.networks.calls import make_response, run

from .calls import (
    ACCOUNT,
    CONVERSIONS,
    GRAPH,
    LIFETIME,
    NOW,
    find_issues,
    get_body,
    make_brief,
    make_error_response,
    make_plan,
)

# -- create -----------------------------------------------------------------------------------------------------------


def test_the_plan_is_what_the_documentation_shows() -> None:
    plan = make_plan()
    outputs = {"campaign": {"id": "6101"}, "adGroup": {"id": "6102"}, "creative": {"id": "6103"}}
    requests = [fill_bindings(step, outputs) for step in plan.steps]
    assert [build_request_url(request) for request in requests] == [
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
    assert {(request.method, request.encoding, request.kind) for request in requests} == {
        ("POST", "form_json", "write")
    }
    assert (plan.warnings, plan.risk) == ((), "low")


def test_a_bound_member_stands_beside_the_body() -> None:
    plan = make_plan()
    assert "campaign_id" not in plan.get_step("adGroup").request.body
    assert plan.get_step("ad").request.body["creative"] == {}
    assert [binding.to for binding in plan.get_step("ad").bindings] == ["/body/adset_id", "/body/creative/creative_id"]


def test_an_existing_creative_is_not_made_again() -> None:
    plan = make_plan(creative={"existingId": "77"}, platform={})
    assert [step.key for step in plan.steps] == ["campaign", "adGroup", "ad"]
    assert plan.get_step("ad").request.body["creative"] == {"creative_id": "77"}


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
    members = split_words("optimization_goal billing_event destination_type promoted_object bid_strategy bid_amount")
    body = get_body("adGroup", **changes)
    assert tuple(body.get(member) for member in members) == expected


def test_a_lifetime_budget_runs_to_its_end() -> None:
    body = get_body("adGroup", **LIFETIME)
    assert (body["lifetime_budget"], body["end_time"]) == (1850, "2027-03-31T09:00:00+0000")
    assert "daily_budget" not in body


def test_forints_have_no_fraction_and_dinars_have_two_digits() -> None:
    forints = Account("meta", "act_1", "HUF")
    assert get_body("adGroup", forints, budget__currency="HUF", budget__amount="4000", bid=None)["daily_budget"] == 4000
    assert find_issues(forints, budget__currency="HUF", budget__amount="40.5", bid=None) == {"budget.amount"}
    dinars = Account("meta", "act_1", "JOD")
    assert find_issues(dinars, budget__currency="JOD", budget__amount="1.234", bid=None) == {"budget.amount"}


def test_an_undocumented_currency_warns_and_an_unknown_one_is_refused() -> None:
    dirhams = Account("meta", "act_1", "AED")
    assert "AED" in make_plan(dirhams, budget__currency="AED").warnings[0]
    assert find_issues(Account("meta", "act_1", "ISK"), budget__currency="ISK", budget__amount="1.5", bid=None)
    assert find_issues(Account("meta", "act_1", "XOF"), budget__currency="XOF") == {"account.currency"}


def test_locations_go_where_their_type_says() -> None:
    ids = ["region:3847", "city:2418779", "zip:US:94304", "country_group:mercosur", "geo_market:DMA:807"]
    assert get_body("adGroup", targeting={"countries": ["NO"], "locationIds": ids})["targeting"]["geo_locations"] == {
        "countries": ["NO"],
        "regions": [{"key": "3847"}],
        "cities": [{"key": "2418779"}],
        "zips": [{"key": "US:94304"}],
        "country_groups": ["mercosur"],
        "geo_markets": [{"key": "DMA:807"}],
    }


def test_native_targeting_stands_whole() -> None:
    own = {"geo_locations": {"countries": ["US"]}, "age_min": 21, "targeting_automation": {"shared_audiences": 1}}
    assert get_body("adGroup", targeting={"native": own})["targeting"] == own | {
        "targeting_automation": {"advantage_audience": 0, "shared_audiences": 1}
    }
    wide = own | {"targeting_automation": {"advantage_audience": 1}}
    assert get_body("adGroup", targeting={"native": wide})["targeting"] == wide


def test_a_special_category_names_its_countries() -> None:
    body = get_body(
        "campaign",
        platform__specialAdCategories=["HOUSING"],
        targeting={"countries": ["US", "CA"], "locationIds": ["zip:GB:N1", "city:5"]},
    )
    assert body["special_ad_categories"] == ["HOUSING"]
    assert body["special_ad_category_country"] == ["US", "CA", "GB"]
    assert "special_ad_category_country" not in get_body("campaign", platform__specialAdCategories=["NONE"])
    changes: dict[str, Any] = {"platform__specialAdCategories": ["HOUSING"], "targeting": {"locationIds": ["city:5"]}}
    assert find_issues(**changes) == {"targeting.countries"}


def test_ads_in_the_eu_name_who_benefits_and_pays() -> None:
    extras = {"defaultDsaBeneficiary": "Tea Ltd", "defaultDsaPayor": "Tea Holding"}
    known, unset = evolve(ACCOUNT, extras=extras), evolve(ACCOUNT, extras=extras | {"defaultDsaPayor": ""})

    def get_dsa_names(targeting: Mapping[str, Any]) -> tuple[Any, Any]:
        body = get_body("adGroup", known, targeting=targeting)
        return body.get("dsa_beneficiary"), body.get("dsa_payor")

    both = ("Tea Ltd", "Tea Holding")
    assert get_dsa_names({"countries": ["NO", "SE"]}) == both
    assert get_dsa_names({"native": {"geo_locations": {"country_groups": ["worldwide"]}}}) == both
    assert get_dsa_names({"locationIds": ["city:5"]}) == both
    assert get_dsa_names({"locationIds": ["zip:US:94304"]}) == (None, None)
    assert get_dsa_names({"countries": ["NO"]}) == (None, None)
    assert find_issues(unset, targeting={"countries": ["SE"]}) == {"account.extras.defaultDsaPayor"}
    assert make_plan(unset, targeting={"countries": ["NO"]}).warnings == ()
    assert "defaultDsaBeneficiary" in make_plan(targeting={"countries": ["SE"]}).warnings[0]
    assert "dsa_payor" not in get_body("adGroup", targeting={"countries": ["SE"]})


def test_a_start_in_the_past_is_now() -> None:
    assert "past" in make_plan(now=datetime(2027, 4, 1, tzinfo=UTC)).warnings[0]


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
    assert find_issues(**changes) == paths


def test_the_end_may_be_a_second_more_than_a_day_away_and_is_not_past() -> None:
    assert make_plan(schedule__endAt="2027-03-02T08:00:01Z")
    assert find_issues(now=datetime(2028, 1, 1, tzinfo=UTC), schedule__endAt="2027-06-01T00:00:00Z") == {
        "schedule.endAt"
    }


def test_a_budget_under_the_accounts_floor_is_refused() -> None:
    floor = evolve(ACCOUNT, extras={"minDailyBudget": "200"})
    assert find_issues(floor, budget__amount="1.99") == {"budget.amount"}
    assert make_plan(floor, budget__amount="2")
    assert find_issues(floor, budget__amount="59.99", **LIFETIME) == {"budget.amount"}
    assert make_plan(floor, budget__amount="60", **LIFETIME)


@pytest.mark.parametrize("path", sorted(Path("examples/briefs").glob("meta-*.json")), ids=lambda path: path.stem)
def test_every_example_plans(path: Path) -> None:
    example_plan = plan(read_brief(path.read_bytes()), Account("meta", "act_1", "USD", "America/New_York"), now=NOW)
    assert example_plan.steps[-1].key == "ad"
    assert all(step.request.body.get("status", "PAUSED") == "PAUSED" for step in example_plan.steps)
    assert example_plan.warnings == ()


# -- activate, status, native -----------------------------------------------------------------------------------------


def test_activation_goes_from_the_ad_to_the_campaign() -> None:
    source = make_plan()
    outputs = {"campaign": {"id": "6101"}, "adGroup": {"id": "6102"}, "creative": {"id": "6103"}, "ad": {"id": "6104"}}
    plan, requests = run(plans.plan_activate(ACCOUNT, source, outputs))
    assert [(step.key, build_request_url(step.request), step.request.body) for step in plan.steps] == [
        ("activate_ad", f"{GRAPH}/6104", {"status": "ACTIVE"}),
        ("activate_adGroup", f"{GRAPH}/6102", {"status": "ACTIVE"}),
        ("activate_campaign", f"{GRAPH}/6101", {"status": "ACTIVE"}),
    ]
    assert (plan.risk, requests) == ("spend", [])


def test_a_status_is_one_write() -> None:
    plan, _ = run(plans.plan_status(ACCOUNT, "adGroup", "6102", "paused"))
    assert [(build_request_url(step.request), step.request.body) for step in plan.steps] == [
        (f"{GRAPH}/6102", {"status": "PAUSED"})
    ]
    assert plan.risk == "low"
    assert run(plans.plan_status(ACCOUNT, "ad", "1", "active"))[0].risk == "spend"
    with pytest.raises(InvalidInput):
        run(plans.plan_status(ACCOUNT, "ad", "1", "deleted"))


def test_a_native_create_is_paused_unless_it_says_otherwise() -> None:
    for template in NETWORK.templates:
        plan, _ = run(plans.plan_native_create(ACCOUNT, template.kind, template.payload, None))
        assert plan.steps[0].request.body == {"status": "PAUSED", **template.payload}
        assert plan.risk == "low"
    plan, _ = run(plans.plan_native_create(ACCOUNT, "ad", {"name": "A", "status": "ACTIVE"}, "6102"))
    assert plan.steps[0].request.body == {"name": "A", "status": "ACTIVE", "adset_id": "6102"}
    assert plan.risk == "spend"


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
        ({"daily_budget": 900}, "low"),
        ({"status": "ACTIVE"}, "spend"),
        ({"status": "ARCHIVED"}, "destructive"),
    ],
)
def test_an_update_sends_what_changed(payload: dict[str, Any], risk: str) -> None:
    plan, _ = run(plans.plan_update(ACCOUNT, "adGroup", "6102", payload, None))
    assert (build_request_url(plan.steps[0].request), plan.steps[0].request.body) == (f"{GRAPH}/6102", payload)
    assert plan.risk == risk


def test_a_deletion_takes_all_below_with_it() -> None:
    plan, _ = run(plans.plan_delete(ACCOUNT, "campaign", "6101"))
    step = plan.steps[0]
    assert (step.request.method, build_request_url(step.request), step.action) == ("DELETE", f"{GRAPH}/6101", "delete")
    assert plan.risk == "destructive"


def test_a_missing_creative_is_found_before() -> None:
    brief = read_brief(make_brief(creative={"existingId": "77"}, platform={}))
    assert run(plans.preflight(ACCOUNT, brief), make_response({"id": "77", "status": "ACTIVE"}))[0] == ([], [])
    (issues, _), requests = run(plans.preflight(ACCOUNT, brief), make_error_response(100, 33))
    assert ([issue.path for issue in issues], build_request_url(requests[0])) == (
        ["creative.existingId"],
        f"{GRAPH}/77?fields=id%2Cname%2Cstatus",
    )
    assert run(plans.preflight(ACCOUNT, read_brief(make_brief()))) == (([], []), [])


# -- the reference ----------------------------------------------------------------------------------------------------


@pytest.mark.specs
@pytest.mark.skipif("ADSUNIFY_SPECS" not in os.environ, reason="ADSUNIFY_SPECS names no folder of reference data")
def test_names_and_currencies_are_those_of_the_reference() -> None:
    folder = Path(os.environ["ADSUNIFY_SPECS"]) / "meta"
    reference = loads((folder / "marketing-api-v26.json").read_bytes())
    left_out = {"execution_options", "date_format"}
    for kind, node in (("campaign", "campaign"), ("adGroup", "adset"), ("ad", "ad")):
        operations = reference["operations"]
        assert set(operations[f"{node}.create"]["params"]) - left_out == native.CREATE_MEMBERS[kind]
        assert set(operations[f"{node}.update"]["params"]) - left_out == native.UPDATE_MEMBERS[kind]
    for level, fields in zip(NETWORK.levels, ("Campaign", "AdSet", "Ad"), strict=True):
        assert {field.partition("{")[0] for field in level.fields} <= set(reference["objectFields"][fields])
        assert set(level.status_filters) == set(reference["enums"][f"{fields}.EffectiveStatus"])
        assert set(level.unified_statuses) == set(reference["enums"][f"{fields}.Status"])
    assert set(reference["objectFields"]["Targeting"]) == native.TARGETING_MEMBERS
    assert set(native.BID_STRATEGIES) == set(reference["enums"]["AdSet.BidStrategy"])
    assert set(native.SPECIAL_AD_CATEGORIES) == set(reference["enums"]["Campaign.SpecialAdCategories"])
    assert set(native.CONVERSION_EVENTS) < set(reference["enums"]["AdPromotedObject.CustomEventType"])
    offsets = loads((folder / "currency-offsets.json").read_bytes())
    for group, assumed in (("documented", False), ("notSeenInTheDocumentedTable", True)):
        for currency, offset in offsets[group].items():
            unit = native.get_money_unit(Account("meta", "act_1", currency))
            assert (unit.offset, bool(unit.assumption)) == (offset, assumed)


def test_the_adapter_is_registered() -> None:
    adapter = get_adapter("meta")
    assert (adapter.network, adapter.plans, adapter.reads) == (NETWORK, plans, reads)
    assert dumps([level.kind for level in adapter.network.levels]) == '["campaign","adGroup","ad"]'
