"""The Google Ads adapter: one atomic write per plan, as the network documents it, and how its answers are read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.errors import InvalidInput
from adsunify.execution.outcomes import Ambiguous, Applied, Rejected, Throttled, classify_write
from adsunify.http.messages import Response
from adsunify.models.brief import read_brief
from adsunify.networks.google import plans
from adsunify.networks.google.tables import NETWORK
from adsunify.planning import plan

from .calls import (
    ACCOUNT,
    MUTATE,
    NOW,
    RESOURCE_NAMES,
    ROOT,
    find_issues,
    get_operations,
    list_contents,
    make_brief,
    make_error_response,
    make_plan,
    run,
)

# -- create -------------------------------------------------------------------------------------------------------


def test_the_hierarchy_is_one_write_as_the_documentation_shows() -> None:
    plan = make_plan()
    assert [(step.key, step.kind, plan.risk) for step in plan.steps] == [("campaign", "campaign", "low")]
    body = plan.steps[0].request.body
    assert (body["partialFailure"], body["validateOnly"]) == (False, False)
    campaign = {
        "resourceName": f"{ROOT}/campaigns/-2",
        "name": "Garden chairs autumn",
        "status": "PAUSED",
        "advertisingChannelType": "SEARCH",
        "campaignBudget": f"{ROOT}/campaignBudgets/-1",
        "manualCpc": {},
        "networkSettings": {
            "targetGoogleSearch": True,
            "targetSearchNetwork": False,
            "targetContentNetwork": False,
            "targetPartnerSearchNetwork": False,
        },
        "geoTargetTypeSetting": {"positiveGeoTargetType": "PRESENCE"},
        "startDateTime": "2027-03-01 00:00:00",
        "endDateTime": "2027-03-31 23:59:59",
        "containsEuPoliticalAdvertising": "DOES_NOT_CONTAIN_EU_POLITICAL_ADVERTISING",
    }
    budget = {
        "resourceName": f"{ROOT}/campaignBudgets/-1",
        "amountMicros": "12340000",
        "deliveryMethod": "STANDARD",
        "explicitlyShared": False,
    }
    group = {
        "resourceName": f"{ROOT}/adGroups/-3",
        "campaign": f"{ROOT}/campaigns/-2",
        "name": "Garden chairs autumn",
        "type": "SEARCH_STANDARD",
        "status": "PAUSED",
        "cpcBidMicros": "850000",
    }
    paused = {"adGroup": f"{ROOT}/adGroups/-3", "status": "PAUSED"}
    assets = {
        "headlines": [{"text": "Folding Garden Chairs"}, {"text": "Built For Rain"}, {"text": "Free Delivery"}],
        "descriptions": [
            {"text": "Light, strong and easy to store."},
            {"text": "Order today, sit down on Friday."},
        ],
    }
    place = {"geoTargetConstant": "geoTargetConstants/2578"}
    ad = {"finalUrls": ["https://shop.example/chairs"], "responsiveSearchAd": assets}
    assert get_operations(plan) == [
        {"campaignBudgetOperation": {"create": budget}},
        {"campaignOperation": {"create": campaign}},
        {"campaignCriterionOperation": {"create": {"campaign": f"{ROOT}/campaigns/-2", "location": place}}},
        {"adGroupOperation": {"create": group}},
        {
            "adGroupCriterionOperation": {
                "create": {**paused, "keyword": {"text": "folding garden chair", "matchType": "PHRASE"}}
            }
        },
        {"adGroupAdOperation": {"create": {**paused, "ad": ad}}},
    ]


def test_without_a_bid_google_maximizes_clicks() -> None:
    plan = make_plan(bid=None)
    campaign, group = list_contents(plan, "campaign")[0], list_contents(plan, "adGroup")[0]
    assert campaign["targetSpend"] == {}
    assert "manualCpc" not in campaign
    assert "cpcBidMicros" not in group


def test_places_are_named_once_each_and_keywords_in_their_order() -> None:
    words = [{"text": "chair"}, {"text": "chair", "match": "broad"}]
    places = {"countries": ["US", "XK", "NO"], "locationIds": ["geoTargetConstants/2840", "1010826"], "keywords": words}
    plan = make_plan(targeting=places)
    assert [content["location"]["geoTargetConstant"] for content in list_contents(plan, "campaignCriterion")] == [
        f"geoTargetConstants/{location_id}" for location_id in ("2840", "2900", "2578", "1010826")
    ]
    assert [content["keyword"]["matchType"] for content in list_contents(plan, "adGroupCriterion")] == [
        "EXACT",
        "BROAD",
    ]


def test_native_targeting_replaces_the_places_and_may_widen() -> None:
    criteria: list[dict[str, Any]] = [
        {"proximity": {"radius": 5}, "bidModifier": 2},
        {"language": {"languageConstant": "languageConstants/1000"}},
        {"location": {"geoTargetConstant": "geoTargetConstants/2578"}, "negative": True},
    ]
    native = {"campaignCriteria": criteria, "geoTargetTypeSetting": {"positiveGeoTargetType": "SEARCH_INTEREST"}}
    plan = make_plan(targeting__countries=None, targeting__native=native)
    assert list_contents(plan, "campaignCriterion") == [
        {"campaign": f"{ROOT}/campaigns/-2", **criterion} for criterion in criteria
    ]
    assert list_contents(plan, "campaign")[0]["geoTargetTypeSetting"] == {"positiveGeoTargetType": "SEARCH_INTEREST"}


@pytest.mark.parametrize(
    ("now", "starts"),
    [
        (datetime(2027, 3, 1, 4, 59, tzinfo=UTC), "2027-03-01 00:00:00"),  # still 28 February in New York
        (datetime(2027, 3, 1, 5, tzinfo=UTC), None),
        (datetime(2027, 3, 9, tzinfo=UTC), None),
        (None, "2027-03-01 00:00:00"),
    ],
)
def test_a_start_of_today_or_earlier_is_left_out(now: datetime | None, starts: str | None) -> None:
    plan = make_plan(now=now)
    assert list_contents(plan, "campaign")[0].get("startDateTime") == starts
    assert any("from its activation on" in warning for warning in plan.warnings) == (starts is None)


def test_an_end_inside_a_day_serves_through_it_and_none_runs_on() -> None:
    assert list_contents(make_plan(schedule__endAt="2027-04-01T00:00:01-04:00"), "campaign")[0][
        "endDateTime"
    ].startswith("2027-04-01 23:59:59")
    assert "endDateTime" not in list_contents(make_plan(schedule__endAt=None), "campaign")[0]


def test_money_is_a_multiple_of_the_billable_unit() -> None:
    assert find_issues(budget__amount="12.345", bid="0.001") == {"budget.amount", "bid"}
    yen = Account("google", "5550001111", "JPY", "America/New_York")
    money: dict[str, Any] = {"amount": "1200", "currency": "JPY", "period": "daily"}
    yen_plan = plan(read_brief(make_brief(budget=money, bid="85")), yen, now=NOW)
    assert yen_plan.steps[0].request.body["mutateOperations"][0]["campaignBudgetOperation"]["create"][
        "amountMicros"
    ] == ("1200000000")
    assert "1000000 micros are assumed" in yen_plan.warnings[0]
    assert find_issues(yen, budget=money | {"amount": "1200.5"}, bid="85") == {"budget.amount"}
    odd = evolve(ACCOUNT, extras={"billableUnitMicros": "50000"})
    assert find_issues(odd, budget__amount="12.34", bid="0.85") == {"budget.amount"}


def test_the_manager_is_named_only_where_one_is_known() -> None:
    direct = evolve(ACCOUNT, extras={"billableUnitMicros": "10000"})
    assert plan(read_brief(make_brief()), direct).steps[0].request.headers == {}
    assert find_issues(evolve(ACCOUNT, extras={"loginCustomerId": "12\r\nx: y"})) == {"account.extras.loginCustomerId"}


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        ({"platform": {}}, {"platform.euPoliticalAdvertising"}),
        ({"targeting__keywords": None}, {"targeting.keywords"}),
        ({"targeting__countries": None}, {"targeting.countries"}),
        ({"creative__url": None}, {"creative.url"}),
        ({"creative__url": "ftp://shop.example/"}, {"creative.url"}),
        ({"creative__headlines": None}, {"creative.headlines"}),
        ({"creative__headlines": ["One", "Two", "One"]}, {"creative.headlines"}),
        ({"creative__headlines": ["One", "Two", "椅" * 16]}, {"creative.headlines"}),
        ({"creative__descriptions": ["One", "椅" * 46]}, {"creative.descriptions"}),
        ({"creative__headline": "One"}, {"creative.headline"}),
        ({"creative__imageUrl": "https://shop.example/a.png"}, {"creative.imageUrl"}),
        ({"creative": {"existingId": "1"}}, {f"creative.{member}" for member in ("url", "headlines", "descriptions")}),
        ({"goal": "awareness"}, {"goal"}),
        ({"budget__period": "lifetime"}, {"budget.period"}),
        ({"budget__currency": "EUR"}, {"budget.currency"}),
        ({"name": "Garden\nchairs"}, {"name"}),
        ({"platform__pageId": "1"}, {"platform.pageId"}),
        ({"targeting__countries": ["XX"]}, {"targeting.countries.0"}),
        ({"targeting__locationIds": ["2578 OR 1=1"]}, {"targeting.locationIds"}),
        ({"targeting__locationIds": ["customers/1/campaigns/2"]}, {"targeting.locationIds"}),
        ({"targeting__keywords": [{"text": "Chair"}, {"text": "chair "}]}, {"targeting.keywords"}),
        ({"targeting__keywords": [{"text": "a b c d e f g h i j k"}]}, {"targeting.keywords"}),
        ({"targeting__keywords": [{"text": "50% chair"}]}, {"targeting.keywords"}),
        ({"targeting__keywords": [{"text": " "}]}, {"targeting.keywords"}),
    ],
)
def test_what_would_be_dropped_or_is_missing_is_refused(changes: dict[str, Any], paths: set[str]) -> None:
    assert find_issues(**changes) >= paths


LOCATION: dict[str, Any] = {"location": {"geoTargetConstant": "geoTargetConstants/2578"}}


@pytest.mark.parametrize(
    "native",
    [
        {"campaignCriteria": [{"language": {"languageConstant": "languageConstants/1000"}}]},
        {"campaignCriteria": [LOCATION | {"negative": True}]},
        {"campaignCriteria": [LOCATION | {"language": {"languageConstant": "languageConstants/1000"}}]},
        {"campaignCriteria": [LOCATION | {"campaign": f"{ROOT}/campaigns/1"}]},
        {"campaignCriteria": [LOCATION | {"resourceName": "x"}]},
        {"campaignCriteria": [{"keyword": {"text": "chair"}}]},
        {"campaignCriteria": [{"location": "geoTargetConstants/2578"}]},
        {"campaignCriteria": [LOCATION | {"negative": "no"}]},
        {"campaignCriteria": LOCATION},
        {"campaignCriteria": [LOCATION], "networkSettings": {}},
        {"campaignCriteria": [LOCATION], "geoTargetTypeSetting": {"positiveGeoTargetType": "UNKNOWN"}},
        {"geoTargetTypeSetting": {"positiveGeoTargetType": "PRESENCE"}},
    ],
)
def test_native_targeting_is_held_against_what_a_campaign_may_have(native: Mapping[str, Any]) -> None:
    assert find_issues(targeting__countries=None, targeting__native=native) == {"targeting.native"}


def test_political_advertising_is_declared_and_warned_of() -> None:
    plan = make_plan(platform__euPoliticalAdvertising=True)
    assert list_contents(plan, "campaign")[0]["containsEuPoliticalAdvertising"] == "CONTAINS_EU_POLITICAL_ADVERTISING"
    assert "European Union" in plan.warnings[-1]


@pytest.mark.parametrize("path", sorted(Path("examples/briefs").glob("google-*.json")), ids=lambda path: path.stem)
def test_every_example_plans(path: Path) -> None:
    example_plan = plan(read_brief(path.read_bytes()), ACCOUNT, now=NOW)
    creates = [content["create"] for operation in get_operations(example_plan) for content in operation.values()]
    assert all(
        content["status"] == "PAUSED"
        for content in creates
        if "amountMicros" not in content and "location" not in content
    )
    assert len(example_plan.warnings) == 1


# -- preflight ----------------------------------------------------------------------------------------------------


def test_places_that_google_cannot_target_are_refused_before_the_plan() -> None:
    brief = read_brief(make_brief(targeting__countries=["NO", "KP"], targeting__locationIds=["1010826"]))
    constants = [
        {"resourceName": f"geoTargetConstants/{location_id}", "status": "ENABLED"}
        for location_id in ("2578", "1010826")
    ]
    answer = {"results": [{"geoTargetConstant": constant} for constant in constants]}
    (issues, warnings), requests = run(plans.preflight(ACCOUNT, brief), answer, {"results": []})
    assert [issue.path for issue in issues] == ["targeting.countries.1"]
    assert warnings == []
    assert (
        requests[0]
        .body["query"]
        .endswith("IN ('geoTargetConstants/2578', 'geoTargetConstants/2408', 'geoTargetConstants/1010826')")
    )


def test_places_of_native_targeting_are_not_looked_up() -> None:
    brief = read_brief(make_brief(targeting__countries=None, targeting__native={"campaignCriteria": [LOCATION]}))
    result, requests = run(plans.preflight(ACCOUNT, brief), {"results": []})
    assert result == ([], [])
    (names,) = requests
    assert names.body["query"].endswith(f"campaign.name = '{brief.name}' AND campaign.status != 'REMOVED'")


# -- outcomes -----------------------------------------------------------------------------------------------------

RESULTS = ("campaignBudget", "campaign", "campaignCriterion", "adGroup", "adGroupCriterion", "adGroupAd")


def make_results(**changes: Any) -> list[dict[str, Any]]:
    named = dict(zip(RESULTS, RESOURCE_NAMES, strict=True)) | changes
    return [{f"{resource}Result": {"resourceName": named[resource]}} for resource in RESULTS]


def classify_response(body: Any, status: int = 200) -> Any:
    step = make_plan().steps[0]
    return classify_write(NETWORK, step, step.request, Response(status, {}, body))


def test_resource_names_are_kept_in_the_order_of_the_operations() -> None:
    outcome = classify_response({"mutateOperationResponses": make_results()})
    assert isinstance(outcome, Applied)
    assert outcome.outputs == {"resourceNames": RESOURCE_NAMES}


@pytest.mark.parametrize(
    "answers",
    [
        make_results()[:-1],
        [*make_results(), make_results()[0]],
        list(reversed(make_results())),
        make_results(campaign="customers/1/campaigns/88001"),
        make_results(campaign=f"{ROOT}/campaigns/-2"),
        make_results(campaign=f"{ROOT}/adGroups/88001"),
        make_results(campaign=88001),
        make_results(adGroupAd=f"{ROOT}/adGroupAds/61001"),
        [{}, *make_results()[1:]],
        {},
        None,
    ],
)
def test_an_answer_that_names_something_else_leaves_the_outcome_open(answers: Any) -> None:
    assert isinstance(classify_response({"mutateOperationResponses": answers}), Ambiguous)


def test_an_update_is_answered_by_the_name_that_was_sent() -> None:
    (step,) = run(plans.plan_status(ACCOUNT, "campaign", "88001", "paused"))[0].steps

    def classify_update(name: str) -> object:
        body = {"mutateOperationResponses": [{"campaignResult": {"resourceName": name}}]}
        return classify_write(NETWORK, step, step.request, Response(200, {}, body))

    assert isinstance(classify_update(f"{ROOT}/campaigns/88001"), Applied)
    assert isinstance(classify_update(f"{ROOT}/campaigns/88002"), Ambiguous)


@pytest.mark.parametrize(
    ("status", "category", "name", "kind", "blame"),
    [
        (400, "campaignError", "DUPLICATE_CAMPAIGN_NAME", Rejected, "input"),
        (400, "errorOfTomorrow", "NEW", Rejected, "input"),
        (400, "mutateError", "RESOURCE_NOT_FOUND", Rejected, "not_found"),
        (400, "policyFindingError", "POLICY_FINDING", Rejected, "input"),
        (401, "authenticationError", "OAUTH_TOKEN_EXPIRED", Rejected, "token"),
        (403, "authorizationError", "USER_PERMISSION_DENIED", Rejected, "permission"),
        (400, "databaseError", "CONCURRENT_MODIFICATION", Rejected, "network"),
        (400, "resourceCountLimitExceededError", "CAMPAIGN_LIMIT", Rejected, "limit"),
        (429, "quotaError", "RESOURCE_EXHAUSTED", Throttled, None),
        (500, "internalError", "INTERNAL_ERROR", Ambiguous, None),
        (400, "internalError", "TRANSIENT_ERROR", Ambiguous, None),
        (503, "campaignError", "DUPLICATE_CAMPAIGN_NAME", Ambiguous, None),
    ],
)
def test_errors_are_read_by_their_code(
    status: int, category: str, name: str, kind: type[Any], blame: str | None
) -> None:
    place = {"fieldPathElements": [{"fieldName": "mutate_operations", "index": 1}, {"fieldName": "create"}]}
    response = make_error_response(status, {"errorCode": {category: name}, "message": "No.", "location": place})
    outcome = classify_response(response.body, status)
    assert kind is type(outcome)
    assert outcome.error.code == f"{category}.{name}"
    assert outcome.error.request_id == "kT3x"
    assert outcome.error.message.startswith("No. (at mutate_operations.1.create)")
    assert getattr(outcome, "blame", None) == blame


def test_a_quota_says_how_long_to_wait() -> None:
    details = {"quotaErrorDetails": {"rateScope": "ACCOUNT", "retryDelay": "12.5s"}}
    code = {"quotaError": "RESOURCE_TEMPORARILY_EXHAUSTED"}
    outcome = classify_response(
        make_error_response(429, {"errorCode": code, "message": "Slow.", "details": details}).body, 429
    )
    assert (type(outcome), outcome.retry_after) == (Throttled, 12.5)
    outcome = classify_response(
        make_error_response(429, {"errorCode": code, "details": {"quotaErrorDetails": {"retryDelay": "soon"}}}).body,
        429,
    )
    assert outcome.retry_after is None


def test_all_errors_are_told_and_an_undeclared_account_gets_advice() -> None:
    code = {"mutateError": "EU_POLITICAL_ADVERTISING_DECLARATION_REQUIRED"}
    outcome = classify_response(
        make_error_response(400, {"errorCode": code, "message": "Declare."}, {"message": "And more."}).body, 400
    )
    assert outcome.error.message.startswith("Declare. And more. Campaigns of this account")


# -- activate, status, native -------------------------------------------------------------------------------------


def make_enable_operation(collection: str, id_: str) -> dict[str, Any]:
    return {"updateMask": "status", "update": {"resourceName": f"{ROOT}/{collection}/{id_}", "status": "ENABLED"}}


def test_activation_is_one_write_from_the_leaves_to_the_campaign() -> None:
    plan, _ = run(plans.plan_activate(ACCOUNT, make_plan(), {"campaign": {"resourceNames": RESOURCE_NAMES}}))
    assert (plan.action, plan.risk, plan.steps[0].key) == ("activate", "spend", "activate_campaign")
    assert get_operations(plan) == [
        {"adGroupCriterionOperation": make_enable_operation("adGroupCriteria", "99001~41001")},
        {"adGroupAdOperation": make_enable_operation("adGroupAds", "99001~61001")},
        {"adGroupOperation": make_enable_operation("adGroups", "99001")},
        {"campaignOperation": make_enable_operation("campaigns", "88001")},
    ]


def test_a_status_is_one_operation() -> None:
    plan, _ = run(plans.plan_status(ACCOUNT, "ad", "99001~61001", "active"))
    assert (get_operations(plan), plan.risk) == (
        [{"adGroupAdOperation": make_enable_operation("adGroupAds", "99001~61001")}],
        "spend",
    )
    assert run(plans.plan_status(ACCOUNT, "ad", "99001~61001", "paused"))[0].risk == "low"


@pytest.mark.parametrize(
    ("kind", "entity_id", "path"),
    [
        ("campaign", "88001~1", "entityId"),
        ("campaign", "-2", "entityId"),
        ("campaign", "88001 OR 1", "entityId"),
        ("ad", "61001", "entityId"),
        ("ad", "99001~61001~1", "entityId"),
        ("keyword", "99001~41001", "kind"),
        ("campaign", "88001", "status"),
    ],
)
def test_ids_of_other_forms_are_refused(kind: Any, entity_id: str, path: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        run(plans.plan_status(ACCOUNT, kind, entity_id, "archived" if path == "status" else "paused"))
    assert refusal.value.issues[0].path == path


def test_a_delete_removes_by_name() -> None:
    plan, _ = run(plans.plan_delete(ACCOUNT, "adGroup", "99001"))
    assert (get_operations(plan), plan.risk) == (
        [{"adGroupOperation": {"remove": f"{ROOT}/adGroups/99001"}}],
        "destructive",
    )


DECLARED = {"containsEuPoliticalAdvertising": "DOES_NOT_CONTAIN_EU_POLITICAL_ADVERTISING"}


def test_a_native_campaign_brings_its_budget_and_is_paused() -> None:
    payload = {"name": "C", "campaignBudget": {"amountMicros": "5000000"}, **DECLARED}
    plan, _ = run(plans.plan_native_create(ACCOUNT, "campaign", payload, None))
    name = f"{ROOT}/campaignBudgets/-1"
    assert list_contents(plan, "campaignBudget") == [
        {"resourceName": name, "explicitlyShared": False, "amountMicros": "5000000"}
    ]
    assert list_contents(plan, "campaign") == [{"status": "PAUSED", **payload, "campaignBudget": name}]
    shared = payload | {"campaignBudget": RESOURCE_NAMES[0], "status": "ENABLED"}
    plan, _ = run(plans.plan_native_create(ACCOUNT, "campaign", shared, None))
    assert (get_operations(plan), plan.risk) == ([{"campaignOperation": {"create": shared}}], "spend")


def test_a_native_ad_names_its_ad_group() -> None:
    plan, _ = run(plans.plan_native_create(ACCOUNT, "ad", {"ad": {}}, "99001"))
    assert list_contents(plan, "adGroupAd") == [{"status": "PAUSED", "ad": {}, "adGroup": f"{ROOT}/adGroups/99001"}]


@pytest.mark.parametrize(
    ("kind", "payload", "parent", "path"),
    [
        ("campaign", {"campaignBudget": RESOURCE_NAMES[0]}, None, "payload.containsEuPoliticalAdvertising"),
        ("campaign", {**DECLARED}, None, "payload.campaignBudget"),
        ("campaign", {"campaignBudget": "customers/1/campaignBudgets/1", **DECLARED}, None, "payload.campaignBudget"),
        ("campaign", {"campaignBudget": RESOURCE_NAMES[0], **DECLARED}, "1", "parentId"),
        ("adGroup", {"name": "A"}, None, "parentId"),
        ("adGroup", {"campaign": RESOURCE_NAMES[1]}, "2", "parentId"),
        ("adGroup", {"campaign": "customers/1/campaigns/1"}, None, "payload.campaign"),
        ("adGroup", {"resourceName": "x"}, "2", "payload.resourceName"),
        ("adGroup", {"status": "REMOVED"}, "2", "payload.status"),
        ("keyword", {}, "2", "kind"),
    ],
)
def test_a_native_create_names_only_its_own_account(
    kind: Any, payload: dict[str, Any], parent: str | None, path: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        run(plans.plan_native_create(ACCOUNT, kind, payload, parent))
    assert [issue.path for issue in refusal.value.issues] == [path]


def test_a_native_update_masks_its_leaves_and_clears_what_is_null() -> None:
    payload: dict[str, Any] = {
        "networkSettings": {"targetSearchNetwork": True},
        "targetSpend": {},
        "endDateTime": None,
        "labels": [],
    }
    plan, _ = run(plans.plan_update(ACCOUNT, "campaign", "88001", payload, None))
    del payload["endDateTime"]
    assert get_operations(plan) == [
        {
            "campaignOperation": {
                "updateMask": "networkSettings.targetSearchNetwork,targetSpend,endDateTime,labels",
                "update": {"resourceName": f"{ROOT}/campaigns/88001", **payload},
            }
        }
    ]
    assert plan.risk == "low"
    assert run(plans.plan_update(ACCOUNT, "adGroup", "9", {"status": "ENABLED"}, None))[0].risk == "spend"


@pytest.mark.parametrize(
    ("kind", "payload", "parent"),
    [
        ("campaign", {}, None),
        ("campaign", {"name": "x"}, "1"),
        ("campaign", {"status,name": "x"}, None),
        ("campaign", {"networkSettings": {"a.b": 1}}, None),
        ("ad", {"status": "PAUSED"}, "1"),
        ("ad", {"status": "REMOVED"}, None),
    ],
)
def test_a_native_update_of_another_shape_is_refused(kind: Any, payload: dict[str, Any], parent: str | None) -> None:
    with pytest.raises(InvalidInput):
        run(plans.plan_update(ACCOUNT, kind, "99~61" if kind == "ad" else "88001", payload, parent))


def test_every_template_plans_paused() -> None:
    for template in NETWORK.templates:
        parent = None if template.kind == "campaign" else "88001"
        plan, _ = run(plans.plan_native_create(ACCOUNT, template.kind, template.payload, parent))
        assert plan.risk == "low"
        assert plan.steps[0].request.url.format(customer="5550001111") == MUTATE
