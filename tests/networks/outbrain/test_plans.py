"""The Outbrain adapter: plans as its reference documents them, refusals, outcomes, native writes, preflight."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from attrs import evolve

from adsunify.errors import InvalidInput, ProviderNotFound
from adsunify.execution.outcomes import Ambiguous, Applied, Rejected, StepOutcome, Throttled, classify_write
from adsunify.http.messages import Response, build_request_url
from adsunify.models.brief import read_brief
from adsunify.networks.outbrain import plans
from adsunify.networks.outbrain.tables import NETWORK
from adsunify.plans.binding import fill_bindings
from adsunify.plans.records import Kind, Plan, Step
from tests.networks.calls import make_response, run

from .calls import (
    ACCOUNT,
    API,
    BUDGET,
    CAMPAIGN,
    CRAWLED,
    CURRENCIES,
    EMPTY,
    LIFETIME,
    LINK,
    MARKETER,
    PLACE,
    find_issues,
    make_brief,
    make_campaign,
    make_link,
    make_places,
    make_plan,
)

LINKED = (make_response(make_link()), make_response(make_campaign()))
OUTPUTS = {"budget": {"id": BUDGET}, "campaign": {"id": CAMPAIGN}, "ad": {"id": LINK}}
NORWAY = {"id": PLACE, "geoType": "Country", "code": "NO ", "canonicalName": "Norway"}


# -- create -----------------------------------------------------------------------------------------------------------


def test_the_plan_is_what_the_reference_shows() -> None:
    plan = make_plan()
    requests = [fill_bindings(step, OUTPUTS) for step in plan.steps]
    assert [(request.method, build_request_url(request), request.kind) for request in requests] == [
        ("POST", f"{API}/marketers/{MARKETER}/budgets", "write"),
        ("POST", f"{API}/campaigns", "write"),
        ("POST", f"{API}/campaigns/{CAMPAIGN}/promotedLinks", "write"),
    ]
    budget, below, promoted = (request.body for request in requests)
    assert re.fullmatch("Sleep guide [0-9a-f]{8}", budget.pop("name"))
    assert budget == {
        "amount": Decimal("60.5"),
        "startDate": "2027-05-03",
        "runForever": True,
        "type": "DAILY",
        "pacing": "SPEND_ASAP",
    }
    assert below == {
        "name": "Sleep guide",
        "budgetId": BUDGET,
        "enabled": False,
        "cpc": Decimal("0.42"),
        "objective": "Traffic",
        "creativeFormat": "Standard",
        "campaignOptimization": {"optimizationType": "TRAFFIC"},
        "targeting": {"platform": ["DESKTOP", "MOBILE", "TABLET"], "locations": [PLACE], "locationsVersion": "V2"},
    }
    assert promoted == {
        "url": "https://shop.example/guide",
        "enabled": False,
        "text": "Ten ways to sleep better",
        "description": "Short body",
        "sectionName": "Example Shop",
        "imageMetadata": {"url": "https://shop.example/sleep.jpg"},
    }
    assert plan.risk == "low"


def get_body(plan: Plan, key: str) -> Any:
    return plan.get_step(key).request.body


def test_a_lifetime_budget_is_one_of_the_whole_campaign() -> None:
    body = dict(get_body(make_plan(**LIFETIME), "budget"))
    del body["name"]
    assert body == {
        "amount": Decimal(1800),
        "startDate": "2027-05-03",
        "endDate": "2027-05-31",
        "runForever": False,
        "type": "CAMPAIGN",
        "pacing": "AUTOMATIC",
    }


def test_the_budget_has_a_name_of_its_own_within_the_limit() -> None:
    names = {get_body(make_plan(name="x" * 99 + last), "budget")["name"] for last in "ab"}
    assert len(names) == 2
    assert all(len(name) == 100 and name.startswith("x" * 91 + " ") for name in names)


def test_without_content_the_page_is_crawled() -> None:
    plan = make_plan(**CRAWLED)
    assert {"text", "imageMetadata"}.isdisjoint(get_body(plan, "ad"))
    assert get_body(plan, "ad")["description"] == "Short body"


def test_an_image_of_outbrain_is_named_by_its_id() -> None:
    plan = make_plan(creative__imageUrl=None, creative__imageHash="img-1")
    assert get_body(plan, "ad")["imageMetadata"] == {"id": "img-1"}


def test_awareness_is_bought_by_clicks_too() -> None:
    campaign = get_body(make_plan(goal="awareness"), "campaign")
    assert (campaign["objective"], campaign["cpc"]) == ("Awareness", Decimal("0.42"))
    assert "no CPM" in NETWORK.formats[0].bid_meanings["awareness"]


def test_countries_are_found_by_name() -> None:
    other = {**NORWAY, "id": "x", "geoType": "Region"}
    plan, requests = run(
        plans.plan_create(ACCOUNT, read_brief(make_brief(targeting={"countries": ["NO"]})), None),
        make_places(other, {**NORWAY, "id": "y", "code": "NF"}, NORWAY),
    )
    assert get_body(plan, "campaign")["targeting"]["locations"] == [PLACE]
    (request,) = requests
    assert (request.query["term"], request.query["exactMatch"]) == ("Norway", "true")
    assert (request.query["include"], request.query["locationsVersion"]) == ("Country", "V2")


def test_a_country_that_is_not_found_is_refused() -> None:
    assert find_issues(make_places({**NORWAY, "code": "SE"}), targeting={"countries": ["NO"]}) == {
        "targeting.countries"
    }
    assert find_issues(targeting={"countries": ["QQ"]}) == {"targeting.countries.0"}


def test_native_targeting_is_completed() -> None:
    plan = make_plan(targeting={"native": {"language": "en", "locations": [PLACE]}})
    assert get_body(plan, "campaign")["targeting"] == {
        "platform": ["DESKTOP", "MOBILE", "TABLET"],
        "language": "en",
        "locations": [PLACE],
        "locationsVersion": "V2",
    }
    assert "locationsVersion" not in get_body(make_plan(targeting={"native": {"platform": ["MOBILE"]}}), "campaign")


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        ({"bid": None}, {"bid"}),
        ({"creative__url": None}, {"creative.url"}),
        ({"creative__headline": None}, {"creative.headline"}),
        ({"creative__imageUrl": None}, {"creative.imageUrl"}),
        ({"creative__imageHash": "img-1"}, {"creative.imageHash"}),
        ({"goal": "conversions"}, {"goal"}),
        ({**LIFETIME, "schedule__endAt": None}, {"schedule.endAt"}),
        ({**LIFETIME, "budget__amount": "724.99"}, {"budget.amount"}),
        ({"budget__amount": "24.99"}, {"budget.amount"}),
        ({"budget__amount": "25.001"}, {"budget.amount"}),
        ({"bid": "0.421"}, {"bid"}),
        ({"schedule__startAt": "2027-05-01T03:59:59Z"}, {"schedule.startAt"}),
        ({"targeting__keywords": [{"text": "sleep"}]}, {"targeting.keywords"}),
        ({"targeting": {"native": {"age": [1]}}}, {"targeting.native"}),
        ({"targeting": {"native": {"platform": ["TV"]}}}, {"targeting.native"}),
        ({"targeting": {"native": {"locations": [{"id": "x"}]}}}, {"targeting.native"}),
        ({"platform__pageId": "1"}, {"platform.pageId"}),
        ({"platform__euPoliticalAdvertising": True}, {"platform.euPoliticalAdvertising"}),
    ],
)
def test_what_is_refused_before_anything_is_read(changes: dict[str, Any], paths: set[str]) -> None:
    assert find_issues(**changes) == paths


def test_the_least_budgets_are_taken() -> None:
    assert get_body(make_plan(budget__amount="25"), "budget")["amount"] == 25
    assert get_body(make_plan(**{**LIFETIME, "budget__amount": "725"}), "budget")["amount"] == 725
    assert make_plan(schedule__startAt="2027-05-01T04:00:00Z").steps


def test_a_currency_without_fractions_has_none() -> None:
    yen = evolve(ACCOUNT, currency="JPY")
    assert find_issues(account=yen, budget__currency="JPY", bid="50.5", budget__amount="5000") == {"bid"}
    assert find_issues(account=evolve(ACCOUNT, currency=None)) == {"account.currency"}


def test_warnings_say_what_a_reader_would_not_expect() -> None:
    plain = make_plan().warnings
    assert [warning for warning in plain if "AI" in warning] == list(plain)
    assert any("all locations" in warning for warning in make_plan(targeting={}).warnings)
    warnings = make_plan(schedule__endAt="2027-05-31T09:00:00Z").warnings
    assert any("2027-05-03 through 2027-05-31" in warning for warning in warnings)


# -- preflight --------------------------------------------------------------------------------------------------------


def run_preflight(*names: str, **changes: Any) -> set[str]:
    account = evolve(ACCOUNT, currency=changes.get("budget__currency", "USD"))
    campaigns = make_response({"campaigns": [{"id": str(n), "name": name} for n, name in enumerate(names)]})
    flow = plans.preflight(account, read_brief(make_brief(**changes)))
    sold = account.currency != "CHF"
    (issues, warnings), requests = run(flow, CURRENCIES, *([campaigns] if sold else []))
    assert warnings == []
    names_of = f"{API}/marketers/{MARKETER}/campaigns?fetch=basic&includeArchived=true"
    assert [build_request_url(request) for request in requests[1:]] == ([names_of] if sold else [])
    return {issue.path for issue in issues}


def test_preflight_holds_names_and_bounds() -> None:
    assert run_preflight("Sleep", "Guide") == set()
    assert run_preflight("SLEEP GUIDE") == {"name"}
    assert run_preflight(bid="5.01") == run_preflight(bid="0.02") == {"bid"}
    assert run_preflight(budget__currency="EUR", budget__amount="21.99", bid="2") == {"budget.amount"}
    assert run_preflight(budget__currency="CHF") == {"budget.currency"}


# -- activate, status, delete -----------------------------------------------------------------------------------------


def test_activation_goes_from_leaf_to_root() -> None:
    plan, requests = run(plans.plan_activate(ACCOUNT, make_plan(), OUTPUTS))
    assert [(step.key, build_request_url(step.request), step.request.body) for step in plan.steps] == [
        ("activate_ad", f"{API}/promotedLinks/{LINK}", {"enabled": True}),
        ("activate_campaign", f"{API}/campaigns/{CAMPAIGN}", {"enabled": True}),
    ]
    assert (plan.risk, requests) == ("spend", [])


def test_there_is_no_ad_group() -> None:
    for flow in (
        plans.plan_status(ACCOUNT, "adGroup", "1", "paused"),
        plans.plan_delete(ACCOUNT, "adGroup", "1"),
        plans.plan_native_create(ACCOUNT, "adGroup", {"name": "x"}, None),
    ):
        with pytest.raises(InvalidInput, match="no adGroup"):
            run(flow)


def test_a_campaign_is_archived_and_a_link_is_not_deleted() -> None:
    plan, _ = run(plans.plan_delete(ACCOUNT, "campaign", CAMPAIGN))
    (step,) = plan.steps
    assert (step.request.method, step.request.body, step.action) == ("PUT", {"archived": True}, "delete")
    assert plan.risk == "destructive"
    with pytest.raises(InvalidInput, match="pause it"):
        run(plans.plan_delete(ACCOUNT, "ad", LINK))


# -- native -----------------------------------------------------------------------------------------------------------


def test_native_creation_is_paused_where_it_does_not_say() -> None:
    campaign_ = {"name": "x", "budgetId": BUDGET}
    plan, requests = run(
        plans.plan_native_create(ACCOUNT, "campaign", campaign_, None), make_response({"budgets": [{"id": BUDGET}]})
    )
    assert build_request_url(requests[0]) == f"{API}/marketers/{MARKETER}/budgets"
    with pytest.raises(ProviderNotFound):  # another marketer's: the campaign would be theirs
        run(plans.plan_native_create(ACCOUNT, "campaign", campaign_, None), make_response({"budgets": [{"id": LINK}]}))
    assert plan.steps[0].request.body == {"enabled": False, "name": "x", "budgetId": BUDGET}
    plan, _ = run(plans.plan_native_create(ACCOUNT, "ad", {"url": "https://a.example", "enabled": True}, CAMPAIGN))
    assert build_request_url(plan.steps[0].request) == f"{API}/campaigns/{CAMPAIGN}/promotedLinks"
    assert plan.risk == "spend"


@pytest.mark.parametrize(
    ("kind", "payload", "parent", "path"),
    [
        ("campaign", {"name": "x"}, None, "payload.budgetId"),
        ("campaign", {"budgetId": "1"}, "2", "parentId"),
        ("campaign", {"budgetId": "1", "enabled": "no"}, None, "payload.enabled"),
        ("campaign", {"budgetId": "1", "marketerId": "2"}, None, "payload.marketerId"),
        ("ad", {"url": "https://a.example"}, None, "parentId"),
        ("ad", {"campaignId": "1"}, "2", "parentId"),
    ],
)
def test_native_creations_that_are_refused(kind: Any, payload: dict[str, Any], parent: str | None, path: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        run(plans.plan_native_create(ACCOUNT, kind, payload, parent))
    assert [issue.path for issue in refusal.value.issues] == [path]


def test_a_link_is_updated_where_its_members_are() -> None:
    plan, requests = run(plans.plan_update(ACCOUNT, "ad", LINK, {"enabled": False}, None))
    assert (build_request_url(plan.steps[0].request), requests) == (f"{API}/promotedLinks/{LINK}", [])
    plan, requests = run(plans.plan_update(ACCOUNT, "ad", LINK, {"text": "New", "enabled": True}, None), *LINKED)
    assert build_request_url(plan.steps[0].request) == f"{API}/campaigns/{CAMPAIGN}/promotedLinks/"
    assert plan.steps[0].request.body == [{"id": LINK, "title": "New", "enabled": True}]
    assert (plan.risk, len(requests)) == ("spend", 2)
    wrong: tuple[tuple[Kind, dict[str, Any]], ...] = (
        ("campaign", {"budgetId": "x"}),
        ("ad", {"url": "https://b.example"}),
        ("campaign", {}),
    )
    for kind, payload in wrong:
        with pytest.raises(InvalidInput):
            run(plans.plan_update(ACCOUNT, kind, LINK, payload, None))


# -- outcomes ---------------------------------------------------------------------------------------------------------


def classify_response(step: Step, response: Response) -> StepOutcome:
    return classify_write(NETWORK, step, fill_bindings(step, OUTPUTS), response)


def test_ids_stand_at_the_top() -> None:
    for key, native_id in (("budget", BUDGET), ("campaign", CAMPAIGN), ("ad", LINK)):
        assert classify_response(make_plan().get_step(key), make_response({"id": native_id})) == Applied(
            {"id": native_id}
        )
        assert isinstance(classify_response(make_plan().get_step(key), make_response({"name": "x"})), Ambiguous)
        assert isinstance(classify_response(make_plan().get_step(key), EMPTY), Ambiguous)


def test_an_empty_answer_is_the_success_of_a_switched_link() -> None:
    plan, _ = run(plans.plan_activate(ACCOUNT, make_plan(), OUTPUTS))
    link_, campaign = plan.steps
    assert classify_response(link_, EMPTY) == Applied()
    assert classify_response(link_, make_response({"anything": 1})) == Applied()
    assert isinstance(classify_response(campaign, EMPTY), Ambiguous)
    assert isinstance(classify_response(campaign, make_response({"id": "another"})), Ambiguous)
    assert classify_response(campaign, make_response({"id": CAMPAIGN})) == Applied()


def test_refusals_have_words_and_no_codes() -> None:
    step = make_plan().get_step("budget")
    error_body = {"moreInfo": "POST budgets", "errorMessage": "name is taken"}
    outcome = classify_response(step, make_response(error_body, 400, amplify_request_id="r-1"))
    assert isinstance(outcome, Rejected)
    assert (outcome.error.code, outcome.error.message) == (None, "name is taken: POST budgets")
    assert (outcome.error.request_id, outcome.blame) == ("r-1", "input")
    blames = {401: "token", 403: "permission", 404: "not_found"}
    for status, blame in blames.items():
        judgement = classify_response(step, make_response({"message": "no"}, status))
        assert isinstance(judgement, Rejected)
        assert judgement.blame == blame
    for status in (408, 500, 503):
        assert isinstance(classify_response(step, make_response(error_body, status)), Ambiguous)
    assert isinstance(classify_response(step, make_response(error_body)), Ambiguous)


def test_waits_are_told_in_milliseconds() -> None:
    outcome = classify_response(
        make_plan().get_step("budget"), make_response({"errorMessage": "slow"}, 429, rate_limit_msec_left="1500")
    )
    assert isinstance(outcome, Throttled)
    assert outcome.retry_after == 1.5


def make_item(status: str | None, **members: Any) -> Response:
    return make_response([{"id": LINK, "operationStatus": {"status": status, "reason": ["too long"]}, **members}])


def test_each_item_has_an_outcome_of_its_own() -> None:
    plan, _ = run(plans.plan_update(ACCOUNT, "ad", LINK, {"text": "New"}, None), *LINKED)
    (step,) = plan.steps
    assert isinstance(classify_response(step, make_item("Success")), Applied)
    assert isinstance(classify_response(step, make_item("Success", id=None)), Applied)
    outcome = classify_response(step, make_item("Failure"))
    assert isinstance(outcome, Rejected)
    assert outcome.error.message == "too long"
    for response in (
        make_item("Success", id="another"),
        make_item(None),
        make_item("Perhaps"),
        make_response([]),
        make_response({}),
        EMPTY,
    ):
        assert isinstance(classify_response(step, response), Ambiguous)
