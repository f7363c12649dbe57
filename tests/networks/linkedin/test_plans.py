"""The LinkedIn adapter: plans as the network documents them, ids from headers, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import check_brief
from adsunify.adapter.flows import run_flow
from adsunify.errors import InvalidInput, ProviderThrottled
from adsunify.execution.outcomes import Ambiguous, Applied, Rejected, Throttled, classify_write
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.models.brief import read_brief
from adsunify.networks.linkedin import plans
from adsunify.networks.linkedin.tables import NETWORK
from adsunify.plans.binding import fill_bindings
from adsunify.plans.records import Plan, Step
from tests.networks.calls import refuse_request

from .calls import ACCOUNT, CRITERIA, GROUP, HEADERS, HOST, NOW, POST, POST_URL, make_brief, make_plan, make_responder

OUTPUTS = {
    "campaign": {"id": "7021", "urn": "urn:li:sponsoredCampaignGroup:7021"},
    "adGroup": {"id": "880011", "urn": "urn:li:sponsoredCampaign:880011"},
    "ad": {"id": "91", "urn": "urn:li:sponsoredCreative:91"},
}


def fill_requests(plan: Plan) -> list[Request]:
    return [fill_bindings(step, OUTPUTS) for step in plan.steps]


def find_issues(value: dict[str, Any], account: Account = ACCOUNT) -> dict[str, str]:
    with pytest.raises(InvalidInput) as refusal:
        check_brief(NETWORK, account, read_brief(value), NOW)
    return {issue.path: issue.code for issue in refusal.value.issues}


# -- create -------------------------------------------------------------------------------------------------------


def test_the_plan_is_what_the_documentation_shows() -> None:
    plan = make_plan()
    assert [step.key for step in plan.steps] == ["campaign", "adGroup", "ad"]
    group, campaign, creative = fill_requests(plan)
    account, window = "urn:li:sponsoredAccount:518121035", {"start": 1793520000000, "end": 1794729600000}
    assert group.body == {"account": account, "name": "Autumn webinar", "status": "ACTIVE", "runSchedule": window}
    assert campaign.body == {
        "account": account,
        "campaignGroup": "urn:li:sponsoredCampaignGroup:7021",
        "name": "Autumn webinar",
        "type": "SPONSORED_UPDATES",
        "status": "PAUSED",
        "objectiveType": "WEBSITE_VISIT",
        "optimizationTargetType": "NONE",
        "costType": "CPC",
        "unitCost": {"amount": "4.50", "currencyCode": "USD"},
        "dailyBudget": {"amount": "40", "currencyCode": "USD"},
        "associatedEntity": "urn:li:organization:7700123",
        "locale": {"country": "US", "language": "en"},
        "runSchedule": window,
        "creativeSelection": "OPTIMIZED",
        "audienceExpansionEnabled": False,
        "offsiteDeliveryEnabled": False,
        "politicalIntent": "NOT_POLITICAL",
        "targetingCriteria": CRITERIA,
    }
    assert creative.body == {
        "campaign": "urn:li:sponsoredCampaign:880011",
        "content": {"reference": POST},
        "intendedStatus": "DRAFT",
        "name": "Autumn webinar",
    }
    paths = ["adCampaignGroups", "adCampaigns", "creatives"]
    assert [build_request_url(request) for request in (group, campaign, creative)] == [
        f"{HOST}/adAccounts/518121035/{path}" for path in paths
    ]
    assert [(request.method, request.headers, request.kind) for request in fill_requests(plan)] == [
        ("POST", HEADERS, "write")
    ] * 3
    assert "campaignGroup" not in plan.steps[1].request.body and "campaign" not in plan.steps[2].request.body


def test_a_group_cannot_be_paused_at_creation_and_the_plan_says_so() -> None:
    plan = make_plan()
    assert "ACTIVE" in plan.steps[0].description and "paused" in plan.steps[1].description
    assert NETWORK.levels[0].initial_status == "" and "paused" in NETWORK.levels[0].note


@pytest.mark.parametrize(
    ("goal", "bid", "expected"),
    [
        ("traffic", None, ("WEBSITE_VISIT", "MAX_CLICK", "CPM", "0")),
        ("traffic", "4.50", ("WEBSITE_VISIT", "NONE", "CPC", "4.50")),
        ("awareness", None, ("BRAND_AWARENESS", "MAX_IMPRESSION", "CPM", "0")),
        ("awareness", "12", ("BRAND_AWARENESS", "NONE", "CPM", "12")),
    ],
)
def test_a_goal_is_an_objective_a_target_and_a_charge(goal: str, bid: str | None, expected: tuple[str, ...]) -> None:
    body = fill_requests(make_plan(goal=goal, bid=bid))[1].body
    actual = (body["objectiveType"], body["optimizationTargetType"], body["costType"], body["unitCost"]["amount"])
    assert actual == expected


def test_a_lifetime_budget_is_paced_and_is_the_only_one() -> None:
    body = fill_requests(make_plan(budget__period="lifetime", budget__amount="0750.500"))[1].body
    assert body["totalBudget"] == {"amount": "750.50", "currencyCode": "USD"}
    assert body["pacingStrategy"] == "LIFETIME" and "dailyBudget" not in body


@pytest.mark.parametrize(
    ("content", "expected_format"),
    [
        ({"media": {"id": "urn:li:image:1"}}, None),
        ({"media": {"id": "urn:li:video:1"}}, "SINGLE_VIDEO"),
        ({"carousel": {"cards": []}}, "CAROUSEL"),
        ({}, None),
    ],
)
def test_the_format_follows_from_the_post(content: Any, expected_format: str | None) -> None:
    post = {"id": POST, "author": "urn:li:organization:7700123", "lifecycleState": "PUBLISHED", "content": content}
    plan = make_plan(post)
    assert fill_requests(plan)[1].body.get("format") == expected_format
    assert plan.warnings == (plans.ACTIVE_GROUP_WARNING,)


def test_a_post_that_cannot_be_read_is_a_warning() -> None:
    assert "video or carousel" in make_plan().warnings[0]
    flow = plans.plan_create(ACCOUNT, read_brief(make_brief()), None)
    forbidden = Response(403, {}, {"status": 403, "code": "ACCESS_DENIED"})
    assert run_flow(flow, make_responder({POST_URL: forbidden})).warnings == make_plan().warnings


def test_another_pages_post_is_a_warning_and_an_unpublished_one_is_refused() -> None:
    other = {"author": "urn:li:organization:1", "lifecycleState": "PUBLISHED"}
    assert "another page" in make_plan(other).warnings[0]
    with pytest.raises(InvalidInput) as refusal:
        make_plan({"lifecycleState": "DRAFT"})
    assert refusal.value.issues[0].path == "creative.existingId"


def test_a_video_in_processing_is_waited_for() -> None:
    post = {"lifecycleState": "PUBLISHED", "content": {"media": {"id": "urn:li:video:5"}}}
    answers: dict[str, Any] = {POST_URL: post, f"{HOST}/videos/urn%3Ali%3Avideo%3A5": {"status": "PROCESSING"}}
    with pytest.raises(ProviderThrottled) as later:
        run_flow(plans.plan_create(ACCOUNT, read_brief(make_brief()), None), make_responder(answers))
    assert (later.value.code, later.value.retry_after) == ("media_processing", 60)
    answers[f"{HOST}/videos/urn%3Ali%3Avideo%3A5"] = {"status": "PROCESSING_FAILED"}
    with pytest.raises(InvalidInput):
        run_flow(plans.plan_create(ACCOUNT, read_brief(make_brief()), None), make_responder(answers))


def test_the_accounts_page_is_the_default() -> None:
    account = evolve(ACCOUNT, extras={"reference": "urn:li:organization:42"})
    body = fill_requests(make_plan(account=account, platform__pageId=None))[1].body
    assert body["associatedEntity"] == "urn:li:organization:42"
    assert find_issues(make_brief(platform__pageId=None)) == {"platform.pageId": "required"}
    member = evolve(ACCOUNT, extras={"reference": "urn:li:person:42"})
    assert find_issues(make_brief(platform__pageId=None), member) == {"platform.pageId": "required"}


def test_enterprise_accounts_create_nothing() -> None:
    account = evolve(ACCOUNT, extras={"type": "ENTERPRISE"})
    assert find_issues(make_brief(), account) == {"account.extras.type": "not_supported"}


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"creative__existingId": "6850000000000000001"}, "creative.existingId"),
        ({"creative__existingId": "urn:li:share:68\n"}, "creative.existingId"),
        ({"platform__pageId": "urn:li:person:1"}, "platform.pageId"),
        ({"platform__brandName": "Tea"}, "platform.brandName"),
        ({"platform__locale": None}, "platform.locale"),
        ({"targeting__native": None}, "targeting.native"),
        ({"targeting": {"countries": ["US"]}}, "targeting.countries"),
        ({"targeting__keywords": [{"text": "tea"}]}, "targeting.keywords"),
        (
            {"budget": {"amount": "900", "currency": "USD", "period": "lifetime"}, "schedule__endAt": None},
            "schedule.endAt",
        ),
        ({"schedule__endAt": "2026-11-02T07:59:59Z"}, "schedule.endAt"),
        ({"schedule__startAt": "2026-10-20T11:59:59Z"}, "schedule.startAt"),
        ({"schedule__startAt": "2026-11-01T08:00:00.0000001Z"}, "schedule.startAt"),
        ({"budget__amount": "40.001"}, "budget.amount"),
        ({"bid": "4.501"}, "bid"),
        ({"name": "网" * 67}, "name"),
    ],
)
def test_what_linkedin_cannot_carry_is_refused_by_its_name(changes: dict[str, Any], path: str) -> None:
    assert path in find_issues(make_brief(**changes))


LOCATIONS = "urn:li:adTargetingFacet:locations"
PLACE = {"or": {LOCATIONS: ["urn:li:geo:1"]}}


@pytest.mark.parametrize(
    "criteria",
    [
        {"include": {"and": []}},
        {"include": {"or": {LOCATIONS: ["urn:li:geo:1"]}}},
        {"include": {"and": [PLACE]}, "keywords": []},
        {"include": {"and": [PLACE, {"and": {}}]}},
        {"include": {"and": [PLACE, {"or": {}}]}},
        {"include": {"and": [{"or": {LOCATIONS: ["US"]}}]}},
        {"include": {"and": [{"or": {"locations": ["urn:li:geo:1"]}}]}},
        {"include": {"and": [{"or": {"urn:li:adTargetingFacet:skills": ["urn:li:skill:1"]}}]}},
        {"include": {"and": [PLACE]}, "exclude": {"or": {LOCATIONS: ["urn:li:geo:1"]}}},
        {"include": {"and": [PLACE]}, "exclude": {"or": {"urn:li:adTargetingFacet:genders": ["urn:li:gender:MALE"]}}},
        {"include": {"and": [PLACE]}, "exclude": {}},
        {
            "include": {
                "and": [
                    PLACE,
                    {"or": {"urn:li:adTargetingFacet:titles": ["urn:li:title:1"]}},
                    {"or": {"urn:li:adTargetingFacet:seniorities": ["urn:li:seniority:1"]}},
                ]
            }
        },
    ],
)
def test_criteria_of_another_form_are_refused(criteria: dict[str, Any]) -> None:
    assert find_issues(make_brief(targeting__native=criteria)) == {"targeting.native": "invalid"}


# -- outcomes -----------------------------------------------------------------------------------------------------


def classify_response(status: int, headers: dict[str, str] | None = None, body: bytes = b"", step: int = 0) -> Any:
    planned_step = make_plan().steps[step]
    return classify_write(
        NETWORK, planned_step, fill_bindings(planned_step, OUTPUTS), Response.from_bytes(status, headers or {}, body)
    )


@pytest.mark.parametrize(
    ("headers", "body", "step"),
    [
        ({"X-RestLi-Id": "7021"}, b"", 0),
        ({"x-linkedin-id": "7021"}, b"", 0),
        ({}, b'{"id": 7021}', 0),
        ({"x-restli-id": "urn:li:sponsoredCreative:7021"}, b"", 2),
        ({"x-restli-id": "urn%3Ali%3AsponsoredCreative%3A7021"}, b"", 2),
    ],
)
def test_the_id_is_in_a_header(headers: dict[str, str], body: bytes, step: int) -> None:
    outcome = classify_response(201, headers, body, step)
    assert isinstance(outcome, Applied)
    kind = ("sponsoredCampaignGroup", "sponsoredCampaign", "sponsoredCreative")[step]
    assert outcome.outputs == {"id": "7021", "urn": f"urn:li:{kind}:7021"}


def test_an_answer_without_an_id_is_open() -> None:
    location = {"location": "/adAccounts/518121035/adCampaignGroups/7021"}
    assert isinstance(classify_response(201, location), Ambiguous)
    assert isinstance(classify_response(201, {"x-restli-id": ""}), Ambiguous)
    assert isinstance(classify_response(201, {"x-restli-id": "7021"}, b"<html>"), Ambiguous)


def test_refusals_are_told_apart() -> None:
    body = b'{"status": 400, "code": "CURRENCY_MISMATCH", "message": "EUR", "serviceErrorCode": 100}'
    outcome = classify_response(400, {"x-li-uuid": "AAX"}, body)
    assert isinstance(outcome, Rejected) and outcome.blame == "input"
    assert (outcome.error.code, outcome.error.message, outcome.error.request_id) == ("CURRENCY_MISMATCH", "EUR", "AAX")
    later = classify_response(429, {}, b'{"status": 429, "message": "Resource level throttle limit"}')
    assert isinstance(later, Throttled) and later.retry_after == 60
    gone = classify_response(
        426, {}, b'{"status": 426, "code": "NONEXISTENT_VERSION", "message": "Requested version 202609"}'
    )
    assert isinstance(gone, Rejected) and gone.blame == "network"
    token = classify_response(401, {}, b'{"status": 401, "serviceErrorCode": 65602, "code": "EXPIRED_ACCESS_TOKEN"}')
    assert isinstance(token, Rejected) and token.blame == "token"
    assert isinstance(classify_response(503, {}, b'{"status": 503}'), Ambiguous)
    assert isinstance(classify_response(200, {}, b'{"status": 400, "code": "NOBODY_KNOWS"}'), Ambiguous)


# -- status, native, delete ---------------------------------------------------------------------------------------


def describe_patch(step: Step) -> tuple[str, str, Any]:
    assert step.request.headers == {**HEADERS, "X-RestLi-Method": "PARTIAL_UPDATE"} and step.can_be_empty
    return (
        step.request.method,
        build_request_url(step.request).removeprefix(f"{HOST}/adAccounts/518121035/"),
        step.request.body["patch"],
    )


def test_an_activation_goes_from_the_leaves_up() -> None:
    plan = run_flow(plans.plan_activate(ACCOUNT, make_plan(), OUTPUTS), refuse_request)
    assert [describe_patch(step) for step in plan.steps] == [
        ("POST", "creatives/urn%3Ali%3AsponsoredCreative%3A91", {"$set": {"intendedStatus": "ACTIVE"}}),
        ("POST", "adCampaigns/880011", {"$set": {"status": "ACTIVE"}}),
        ("POST", "adCampaignGroups/7021", {"$set": {"status": "ACTIVE"}}),
    ]
    assert plan.risk == "spend"
    assert isinstance(
        classify_write(NETWORK, plan.steps[0], plan.steps[0].request, Response.from_bytes(204, {}, b"")), Applied
    )


@pytest.mark.parametrize("entity_id", ["91", "urn:li:sponsoredCreative:91"])
def test_a_creative_is_named_by_its_number_or_its_urn(entity_id: str) -> None:
    plan = run_flow(plans.plan_status(ACCOUNT, "ad", entity_id, "paused"), refuse_request)
    assert describe_patch(plan.steps[0])[1] == "creatives/urn%3Ali%3AsponsoredCreative%3A91"
    assert (plan.steps[0].entity, plan.risk) == ("urn:li:sponsoredCreative:91", "low")


@pytest.mark.parametrize(
    ("kind", "payload", "parent", "added", "risk"),
    [
        ("campaign", {"name": "A"}, None, {"status": "ACTIVE"}, "low"),
        ("campaign", {"name": "A", "totalBudget": {}}, None, {"status": "DRAFT"}, "low"),
        (
            "adGroup",
            {"name": "A"},
            "7021",
            {"status": "PAUSED", "campaignGroup": "urn:li:sponsoredCampaignGroup:7021"},
            "low",
        ),
        ("adGroup", {"name": "A", "status": "ACTIVE"}, "7021", {"status": "ACTIVE"}, "spend"),
        ("ad", {"content": {}}, "88", {"intendedStatus": "DRAFT", "campaign": "urn:li:sponsoredCampaign:88"}, "low"),
    ],
)
def test_a_native_create(kind: Any, payload: Any, parent: str | None, added: Any, risk: str) -> None:
    plan = run_flow(plans.plan_native_create(ACCOUNT, kind, payload, parent), refuse_request)
    body = plan.steps[0].request.body
    assert body.items() >= {**payload, **added}.items() and plan.risk == risk
    assert ("account" in body) == (kind != "ad")


@pytest.mark.parametrize(
    ("kind", "payload", "parent", "path"),
    [
        ("campaign", {"status": "PAUSED"}, None, "payload.status"),
        ("campaign", {"account": "urn:li:sponsoredAccount:1"}, None, "payload.account"),
        ("campaign", {"id": 5}, None, "payload.id"),
        ("campaign", {}, "5", "parentId"),
        ("adGroup", {}, None, "parentId"),
        ("adGroup", {"campaignGroup": "urn:li:sponsoredCampaignGroup:1"}, "2", "parentId"),
        ("ad", {}, "2", "payload.content"),
    ],
)
def test_a_native_create_that_contradicts_is_refused(kind: Any, payload: Any, parent: str | None, path: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        run_flow(plans.plan_native_create(ACCOUNT, kind, payload, parent), refuse_request)
    assert [issue.path for issue in refusal.value.issues] == [path]


def test_a_native_update_sets_and_deletes() -> None:
    plan = run_flow(
        plans.plan_update(ACCOUNT, "campaign", "7021", {"name": "B", "totalBudget": None}, None), refuse_request
    )
    assert describe_patch(plan.steps[0])[2] == {"$set": {"name": "B"}, "$delete": ["totalBudget"]}
    assert plan.risk == "low"


@pytest.mark.parametrize(
    ("extras", "native", "expected"),
    [
        ({}, {"status": "DRAFT"}, ("DELETE", None)),
        ({}, {"status": "PAUSED"}, ("POST", {"patch": {"$set": {"status": "PENDING_DELETION"}}})),
        ({"type": "ENTERPRISE"}, {"status": "DRAFT"}, ("POST", {"patch": {"$set": {"status": "ARCHIVED"}}})),
    ],
)
def test_a_delete_depends_on_the_status(extras: Any, native: Any, expected: Any) -> None:
    account = evolve(ACCOUNT, extras=extras)
    answers = {f"{HOST}/adAccounts/518121035/adCampaignGroups/7021": {**GROUP, **native}}
    plan = run_flow(plans.plan_delete(account, "campaign", "7021"), make_responder(answers))
    (step,) = plan.steps
    assert (step.request.method, step.request.body) == expected
    assert (step.action, step.entity, plan.risk) == ("delete", "7021", "destructive")
    assert step.changes[0].before == native["status"]


def test_the_default_group_is_not_deleted() -> None:
    answers = {f"{HOST}/adAccounts/518121035/adCampaignGroups/7021": {**GROUP, "backfilled": True}}
    with pytest.raises(InvalidInput):
        run_flow(plans.plan_delete(ACCOUNT, "campaign", "7021"), make_responder(answers))


# -- preflight ----------------------------------------------------------------------------------------------------

COUNTS = (
    f"{HOST}/audienceCounts?q=targetingCriteriaV2&targetingCriteria=(include:(and:List("
    "(or:(urn%3Ali%3AadTargetingFacet%3Alocations:List(urn%3Ali%3Ageo%3A103644278))),"
    "(or:(urn%3Ali%3AadTargetingFacet%3AinterfaceLocales:List(urn%3Ali%3Alocale%3Aen_US))))))"
)


@pytest.mark.parametrize(("total", "issues"), [(299, ["targeting.native"]), (300, [])])
def test_the_audience_has_300_members(total: int, issues: list[str]) -> None:
    answers = {COUNTS: {"elements": [{"active": 0, "total": total}]}}
    findings, warnings = run_flow(plans.preflight(ACCOUNT, read_brief(make_brief())), make_responder(answers))
    assert ([issue.path for issue in findings], warnings) == (issues, [])


def test_an_audience_that_is_not_told_is_a_warning() -> None:
    answers = {COUNTS: Response(403, {}, {"status": 403})}
    issues, warnings = run_flow(plans.preflight(ACCOUNT, read_brief(make_brief())), make_responder(answers))
    assert issues == [] and len(warnings) == 1
