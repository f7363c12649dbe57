"""The Apple adapter: plans as the Platform API documents them, refusals, outcomes, activation, native writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import check_brief
from adsunify.errors import InvalidInput
from adsunify.execution.outcomes import Ambiguous, Applied, Rejected, StepOutcome, Throttled, classify_write
from adsunify.http.messages import Response, build_request_url
from adsunify.models.brief import read_brief
from adsunify.networks.apple import plans
from adsunify.networks.apple.tables import NETWORK
from adsunify.plans.binding import fill_bindings
from adsunify.plans.records import Plan
from tests.networks.calls import make_response, run

from .calls import (
    ACCOUNT,
    API,
    CONTEXT,
    NOW,
    OUTPUTS,
    find_issues,
    make_brief,
    make_entity_response,
    make_error_response,
    make_plan,
)

PAIR = {"bidStrategyType": "MANUAL_CPT", "bidStrategyGoal": "TAP"}
BID = {"amount": "1.35", "currency": "EUR"}


# -- create -------------------------------------------------------------------------------------------------------


def test_the_plan_is_what_the_documentation_shows() -> None:
    plan = make_plan()
    requests = [fill_bindings(step, OUTPUTS) for step in plan.steps]
    assert [(request.method, build_request_url(request), dict(request.headers)) for request in requests] == [
        ("POST", f"{API}/campaigns", CONTEXT),
        ("POST", f"{API}/adgroups", CONTEXT),
        ("POST", f"{API}/keywords/bulk-create", CONTEXT),
        ("POST", f"{API}/ads", CONTEXT),
    ]
    campaign = {
        "name": "Brief name",
        "adAccountId": 7001,
        "promotedObjectType": "APPSTORE_APP",
        "promotedObjectId": "1440000001",
        "billingEvent": "TAPS",
        "status": "PAUSED",
        "startTime": "2027-03-01T08:00:00.000",
        "endTime": "2027-04-01T07:59:59.000",
        "dailyBudget": {"value": {"amount": "45", "currency": "EUR"}},
        "targeting": {
            "supplySource": {"include": ["APPSTORE"]},
            "supplyPlacement": {"include": ["APPSTORE_SEARCH_RESULTS"]},
            "countryOrRegion": {"include": ["DE", "AT"]},
        },
        "bidStrategy": PAIR,
    }
    group = {
        "name": "Brief name - ad group",
        "campaignId": 901,
        "pricingModel": "CPT",
        "status": "PAUSED",
        "startTime": "2027-03-01T08:00:00.000",
        "automatedKeywordsOptIn": False,
        "bidStrategy": PAIR | {"bid": BID},
    }
    keyword = {"adGroupId": 902, "text": "yoga timer", "matchType": "EXACT", "status": "PAUSED", "bid": BID}
    keywords = {"allowPartialSuccess": False, "items": [{"correlationId": 0, "data": keyword}]}
    ad = {"name": "Brief name - ad", "adGroupId": 902, "creativeId": 880001, "status": "PAUSED"}
    assert [request.body for request in requests] == [campaign, group, keywords, ad]
    assert (plan.warnings, plan.risk) == ((), "low")


def test_without_keywords_search_match_chooses() -> None:
    plan = make_plan(targeting__keywords=None)
    assert [step.key for step in plan.steps] == ["campaign", "adGroup", "ad"]
    assert plan.get_step("adGroup").request.body["automatedKeywordsOptIn"] is True
    assert any("Search Match" in warning for warning in plan.warnings)


def test_times_are_utc_to_the_millisecond() -> None:
    plan = make_plan(schedule__startAt="2027-03-01T08:00:00.25+01:00", schedule__endAt=None)
    body = plan.get_step("campaign").request.body
    assert body["startTime"] == "2027-03-01T07:00:00.250"
    assert "endTime" not in body
    past_plan = make_plan(now=NOW, schedule__startAt="2026-11-01T08:00:00Z")
    assert any("past" in warning for warning in past_plan.warnings)


def test_locations_stand_in_the_ad_group() -> None:
    places = ["AdminArea:20039", "Locality:77", "AdminArea:20040"]
    plan = make_plan(targeting__countries=["DE"], targeting__locationIds=places)
    assert plan.get_step("adGroup").request.body["targeting"] == {
        "adminArea": {"include": ["20039", "20040"]},
        "locality": {"include": ["77"]},
    }
    assert find_issues(targeting__locationIds=["AdminArea:1"]) == {"targeting.locationIds"}
    assert find_issues(targeting__countries=["DE"], targeting__locationIds=["1"]) == {"targeting.locationIds"}
    assert "targeting.countries" in find_issues(targeting__countries=None, targeting__locationIds=["AdminArea:1"])


def test_native_targeting_is_split() -> None:
    native = {
        "countryOrRegion": {"include": ["DE"]},
        "supplySource": {"include": ["APPSTORE"]},
        "deviceClass": {"include": ["IPHONE"]},
        "minAge": {"include": ["18"]},
        "daypart": {"include": ["10", "167"]},
    }
    plan = make_plan(targeting={"native": native})
    campaign = plan.get_step("campaign").request.body["targeting"]
    assert campaign["countryOrRegion"] == {"include": ["DE"]} and set(campaign) == {
        *("supplySource", "supplyPlacement", "countryOrRegion")
    }
    assert set(plan.get_step("adGroup").request.body["targeting"]) == {"deviceClass", "minAge", "daypart"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"countryOrRegion": {"include": ["DE"]}, "radius": {"include": ["1"]}},
        {"countryOrRegion": {"include": ["DE"]}, "supplySource": {"include": ["MAPS"]}},
        {"countryOrRegion": {"include": ["DE"]}, "daypart": {"include": [10]}},
        {"countryOrRegion": {"include": ["DE"]}, "daypart": {"include": ["168"]}},
        {"countryOrRegion": {"include": ["DE"]}, "daypart": {"include": ["1"], "exclude": ["2"]}},
        {"countryOrRegion": {"include": ["DE"]}, "minAge": {"include": ["17"]}},
        {"countryOrRegion": {"include": ["DE"]}, "minAge": {"include": ["40"]}, "maxAge": {"include": ["30"]}},
        {"countryOrRegion": {"include": ["DE"]}, "gender": ["M"]},
        {"countryOrRegion": {"include": ["DE"]}, "gender": {"only": ["M"]}},
    ],
)
def test_native_targeting_that_is_refused(wrong: dict[str, Any]) -> None:
    assert find_issues(targeting={"native": wrong}) == {"targeting.native"}


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"bid": None}, "bid"),
        ({"bid": "1.355"}, "bid"),
        ({"goal": "traffic"}, "goal"),
        ({"budget__period": "lifetime"}, "budget.period"),
        ({"budget__currency": "USD"}, "budget.currency"),
        ({"platform": {}}, "platform.appId"),
        ({"platform__appId": "com.example.app"}, "platform.appId"),
        ({"platform__pageId": "1"}, "platform.pageId"),
        ({"creative__existingId": None}, "creative.existingId"),
        ({"creative__existingId": "45812c9b-c296-43d3-c6a0-c5a02f74bf6e"}, "creative.existingId"),
        ({"creative__existingId": "9223372036854775808"}, "creative.existingId"),
        ({"creative__headline": "Yoga"}, "creative.headline"),
        ({"targeting__keywords": [{"text": "yoga", "match": "phrase"}]}, "targeting.keywords"),
        ({"targeting__countries": None}, "targeting.countries"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], path: str) -> None:
    assert find_issues(**changes) == {path}


def test_yen_have_no_fraction() -> None:
    yen = evolve(ACCOUNT, currency="JPY")
    assert find_issues(yen, budget__currency="JPY", bid="100.5", budget__amount="4500") == {"bid"}


@pytest.mark.parametrize(
    "extras",
    [{"paymentModel": "LOC"}, {"productFeatures": "BUSINESS_BRAND_MANUAL"}, {"contentProvider": "false"}],
)
def test_accounts_that_cannot_carry_the_format(extras: dict[str, str]) -> None:
    assert find_issues(evolve(ACCOUNT, extras=extras)) == {f"account.extras.{next(iter(extras))}"}


def test_the_example_plans() -> None:
    for path in Path("examples/briefs").glob("apple-*.json"):
        brief, account = read_brief(path.read_bytes()), Account("apple", "7001", "USD", "America/New_York")
        check_brief(NETWORK, account, brief, NOW)
        plan, _ = run(plans.plan_create(account, brief, NOW))
        assert len(plan.steps) == 4 and plan.warnings == ()


# -- outcomes -----------------------------------------------------------------------------------------------------


def classify_response(plan: Plan, key: str, response: Response) -> StepOutcome:
    step = plan.get_step(key)
    return classify_write(NETWORK, step, fill_bindings(step, OUTPUTS), response)


TWO_KEYWORDS = make_plan(targeting__keywords=[{"text": "yoga"}, {"text": "timer"}])


def make_item(correlation: int, success: bool | None = True, **members: Any) -> dict[str, Any]:
    return {"correlationId": correlation, "operation": "CREATE", "success": success, **members}


BAD = {"code": "INVALID_KEYWORD", "message": "not this one"}


def test_a_campaign_is_made() -> None:
    assert classify_response(TWO_KEYWORDS, "campaign", make_entity_response({"id": 901})) == Applied({"id": "901"})
    assert isinstance(classify_response(TWO_KEYWORDS, "campaign", make_entity_response({})), Ambiguous)


def test_keywords_are_matched_by_correlation() -> None:
    done = classify_response(
        TWO_KEYWORDS,
        "keywords",
        make_response({"result": [make_item(1, result={"id": 12}), make_item(0, result={"id": 11})]}),
    )
    assert isinstance(done, Applied)
    assert done.outputs == {"id": ["11", "12"]}


def test_an_item_that_is_refused_refuses_all() -> None:
    done = classify_response(
        TWO_KEYWORDS, "keywords", make_response({"result": [make_item(0, False, error=BAD), make_item(1, False)]})
    )
    assert isinstance(done, Rejected)
    assert done.error.code == "INVALID_KEYWORD"
    assert [item.state for item in done.items] == ["rejected", "rejected"]
    silent = classify_response(
        TWO_KEYWORDS, "keywords", make_response({"result": [make_item(0, False, error=BAD), make_item(1)]})
    )
    assert isinstance(silent, Rejected)


def test_a_new_id_beside_a_refusal_is_doubt() -> None:
    mixed = make_response({"result": [make_item(0, result={"id": 11}), make_item(1, False, error=BAD)]})
    assert isinstance(classify_response(TWO_KEYWORDS, "keywords", mixed), Ambiguous)
    outer = make_response({"error": BAD, "result": [make_item(0, result={"id": 11}), make_item(1, result={"id": 12})]})
    assert isinstance(classify_response(TWO_KEYWORDS, "keywords", outer), Ambiguous)


def test_a_bulk_that_is_refused_whole() -> None:
    error = {"code": "NOBODY_KNOWS", "message": "x", "details": [{"code": "TOO_MANY_ITEMS", "message": "at most 5"}]}
    done = classify_response(TWO_KEYWORDS, "keywords", make_response({"error": error}))
    assert isinstance(done, Rejected)
    assert done.error.code == "TOO_MANY_ITEMS" and "at most 5" in (done.error.message or "")
    # of one entity nothing is documented
    assert isinstance(classify_response(TWO_KEYWORDS, "campaign", make_response({"error": error})), Ambiguous)


@pytest.mark.parametrize(
    "body",
    [
        {"result": [make_item(0, result={"id": 11})]},
        {"result": [make_item(0, result={"id": 11}), make_item(0, result={"id": 12})]},
        {"result": [make_item(0, result={"id": 11}), make_item(7, result={"id": 12})]},
        {"result": [make_item(0, result={"id": 11}), make_item(1, result={})]},
        {"result": {}},
        {"result": ["x", "y"]},
        {},
        [],
    ],
)
def test_half_an_answer_is_doubt(body: Any) -> None:
    assert isinstance(classify_response(TWO_KEYWORDS, "keywords", make_response(body)), Ambiguous)


def test_what_errors_say() -> None:
    rejection = classify_response(TWO_KEYWORDS, "campaign", make_error_response("VALIDATION_ERROR", 400))
    assert isinstance(rejection, Rejected) and rejection.blame == "input"
    blames = {401: "token", 403: "permission", 404: "not_found"}
    for status, blame in blames.items():
        outcome = classify_response(TWO_KEYWORDS, "campaign", make_error_response("whatever", status))
        assert isinstance(outcome, Rejected) and outcome.blame == blame
    for status in (408, 500, 502, 503, 504):
        assert isinstance(classify_response(TWO_KEYWORDS, "campaign", make_error_response("x", status)), Ambiguous)
    nested = {"error": {"errors": [{"code": "BAD_NAME", "message": "no", "info": {"field": "name"}}]}}
    outcome = classify_response(TWO_KEYWORDS, "campaign", make_response(nested, 400))
    assert isinstance(outcome, Rejected)
    assert (outcome.error.code, outcome.error.message) == ("BAD_NAME", "no (name)")


def test_how_long_to_wait() -> None:
    outcome = classify_response(
        TWO_KEYWORDS, "campaign", make_error_response("rate_limit_exceeded", 429, retry_after="7", ratelimit_reset="9")
    )
    assert isinstance(outcome, Throttled) and outcome.retry_after == 7
    reset = classify_response(
        TWO_KEYWORDS, "campaign", make_error_response("rate_limit_exceeded", 429, ratelimit_reset="9")
    )
    assert isinstance(reset, Throttled) and reset.retry_after == 9


# -- activate and status ------------------------------------------------------------------------------------------


def test_activation_goes_from_the_leaves_to_the_root() -> None:
    plan, _ = run(plans.plan_activate(ACCOUNT, make_plan(), OUTPUTS))
    requests = [(step.request.method, build_request_url(step.request), step.request.body) for step in plan.steps]
    keyword = {"correlationId": 0, "data": {"id": 903, "status": "ENABLED"}}
    assert requests == [
        ("POST", f"{API}/keywords/bulk-update", {"allowPartialSuccess": False, "items": [keyword]}),
        ("PUT", f"{API}/ads/904", {"status": "ENABLED"}),
        ("PUT", f"{API}/adgroups/902", {"status": "ENABLED"}),
        ("PUT", f"{API}/campaigns/901", {"status": "ENABLED"}),
    ]
    assert plan.risk == "spend"
    keywords = plan.steps[0]
    for named, verdict in ((903, Applied), (904, Ambiguous)):
        body = {"result": [{"correlationId": 0, "success": True, "result": {"id": named}}]}
        assert isinstance(classify_write(NETWORK, keywords, keywords.request, make_response(body)), verdict)
    campaign = plan.steps[-1]
    assert isinstance(classify_write(NETWORK, campaign, campaign.request, make_entity_response({"id": 901})), Applied)
    assert isinstance(classify_write(NETWORK, campaign, campaign.request, make_entity_response({"id": 1})), Ambiguous)


def test_activation_without_keywords() -> None:
    less = {key: value for key, value in OUTPUTS.items() if key != "keywords"}
    plan, _ = run(plans.plan_activate(ACCOUNT, make_plan(targeting__keywords=None), less))
    assert [step.key for step in plan.steps] == ["activate_ad", "activate_adGroup", "activate_campaign"]


def test_status_and_deletion() -> None:
    paused, _ = run(plans.plan_status(ACCOUNT, "adGroup", "902", "paused"))
    assert (paused.risk, paused.steps[0].request.body) == ("low", {"status": "PAUSED"})
    active, _ = run(plans.plan_status(ACCOUNT, "ad", "904", "active"))
    assert active.risk == "spend" and active.warnings
    gone, _ = run(plans.plan_delete(ACCOUNT, "campaign", "901"))
    (step,) = gone.steps
    assert (step.request.method, build_request_url(step.request), gone.risk) == (
        "DELETE",
        f"{API}/campaigns/901",
        "destructive",
    )
    assert classify_write(NETWORK, step, step.request, Response(204, {}, None, "empty")) == Applied()
    assert isinstance(classify_write(NETWORK, step, step.request, make_error_response("x", 200)), Ambiguous)


# -- native -------------------------------------------------------------------------------------------------------


def test_templates_are_paused_and_belong_somewhere() -> None:
    for template in NETWORK.templates:
        plan, _ = run(plans.plan_native_create(ACCOUNT, template.kind, template.payload, None))
        assert plan.steps[0].request.body["status"] == "PAUSED" and plan.risk == "low"
    plan, _ = run(plans.plan_native_create(ACCOUNT, "adGroup", {"name": "x"}, "901"))
    assert plan.steps[0].request.body == {"status": "PAUSED", "name": "x", "campaignId": 901}
    active, _ = run(plans.plan_native_create(ACCOUNT, "ad", {"name": "x", "status": "ENABLED", "adGroupId": "9"}, None))
    assert (active.risk, active.steps[0].request.body["adGroupId"]) == ("spend", 9)


@pytest.mark.parametrize(
    ("kind", "payload", "parent", "path"),
    [
        ("campaign", {"adAccountId": 1}, None, "payload.adAccountId"),
        ("campaign", {}, "1", "parentId"),
        ("adGroup", {"name": "x"}, None, "parentId"),
        ("adGroup", {"campaignId": 1}, "2", "parentId"),
        ("adGroup", {}, "abc", "parentId"),
        ("ad", {"status": "ACTIVE", "adGroupId": 1}, None, "payload.status"),
        ("ad", {"id": 1, "adGroupId": 1}, None, "payload.id"),
        ("adGroup", {"campaignId": 1, "bidStrategy": {"bidStrategyType": "MANUAL_CPT"}}, None, "payload.bidStrategy"),
    ],
)
def test_native_payloads_that_are_refused(kind: Any, payload: dict[str, Any], parent: str | None, path: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        run(plans.plan_native_create(ACCOUNT, kind, payload, parent))
    assert {issue.path for issue in refusal.value.issues} == {path}


def test_a_native_update() -> None:
    plan, _ = run(plans.plan_update(ACCOUNT, "campaign", "901", {"name": "Other"}, None))
    assert (plan.risk, plan.steps[0].request.body, plan.steps[0].request.method) == ("low", {"name": "Other"}, "PUT")
    plan, _ = run(plans.plan_update(ACCOUNT, "campaign", "901", {"status": "ENABLED"}, None))
    assert plan.risk == "spend"
    for payload in ({}, {"billingEvent": "TAPS"}, {"promotedObjectId": "5", "name": "x"}):
        with pytest.raises(InvalidInput):
            run(plans.plan_update(ACCOUNT, "campaign", "901", payload, None))


# -- preflight ----------------------------------------------------------------------------------------------------

CREATIVE = {
    "id": 880001,
    "creativeType": "CUSTOM_PRODUCT_PAGE",
    "destination": {"parameters": {"adamId": "1440000001"}},
    "deleted": False,
    "systemStatus": "VALID",
}
APP = {"adamId": "1440000001", "availableStorefronts": ["DE", "AT", "US"]}


def test_a_creative_that_fits() -> None:
    findings, requests = run(
        plans.preflight(ACCOUNT, read_brief(make_brief())), make_entity_response(CREATIVE), make_entity_response(APP)
    )
    assert findings == ([], [])
    assert [build_request_url(request) for request in requests] == [f"{API}/creatives/880001", f"{API}/apps/1440000001"]
    (issues, warnings), _ = run(
        plans.preflight(ACCOUNT, read_brief(make_brief())),
        make_entity_response(CREATIVE | {"systemStatus": "PENDING"}),
        make_entity_response(APP),
    )
    assert not issues and warnings


@pytest.mark.parametrize(
    ("creative", "app", "path"),
    [
        ({"creativeType": "DEFAULT_PRODUCT_PAGE"}, {}, "creative.existingId"),
        ({"destination": {"parameters": {"adamId": "1"}}}, {}, "creative.existingId"),
        ({"deleted": True}, {}, "creative.existingId"),
        ({"systemStatus": "INVALID"}, {}, "creative.existingId"),
        ({}, {"availableStorefronts": ["DE"]}, "targeting.countries"),
    ],
)
def test_what_the_reads_refuse(creative: dict[str, Any], app: dict[str, Any], path: str) -> None:
    flow = plans.preflight(ACCOUNT, read_brief(make_brief()))
    (issues, _), _ = run(flow, make_entity_response(CREATIVE | creative), make_entity_response(APP | app))
    assert [issue.path for issue in issues] == [path]


def test_what_is_not_there() -> None:
    flow = plans.preflight(ACCOUNT, read_brief(make_brief()))
    (issues, _), _ = run(flow, make_error_response("not_found", 404), make_error_response("not_found", 404))
    assert [issue.path for issue in issues] == ["creative.existingId", "platform.appId"]
