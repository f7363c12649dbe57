"""The ChatGPT adapter: plans of a brief, of native members and of states, and the outcomes of writes."""

from __future__ import annotations

from typing import Any

import pytest

from adsunify.errors import ProviderNotFound
from adsunify.execution.outcomes import Ambiguous, Applied, Rejected, StepOutcome, Throttled, classify_write
from adsunify.http.messages import Response
from adsunify.models.brief import read_brief
from adsunify.networks.chatgpt import plans
from adsunify.networks.chatgpt.tables import NETWORK
from adsunify.planning import plan_create
from adsunify.plans.records import Step, add_operation_marks
from tests.networks.calls import make_response

from .calls import ACCOUNT, CAMPAIGN, CARD, NOW, find_flow_issues, make_brief, make_page, plan_campaign, run

EVENT: dict[str, Any] = {
    "id": "ces_5",
    "name": "Orders",
    "archived": False,
    "custom_event_name": None,
    "sources": [{"id": "cds_1", "name": "Shop"}],
}


def find_issues(**changes: Any) -> set[tuple[str, str]]:
    return find_flow_issues(plan_create(ACCOUNT, read_brief(make_brief(**changes)), NOW))


# -- create -------------------------------------------------------------------------------------------------------


def test_a_brief_becomes_the_bodies_of_the_documentation() -> None:
    steps = plan_campaign(make_brief()).steps
    assert [(step.key, step.request.method, step.request.url.rpartition("/v1")[2]) for step in steps] == [
        ("campaign", "POST", "/campaigns"),
        ("adGroup", "POST", "/ad_groups"),
        ("ad", "POST", "/ads"),
    ]
    assert [step.request.body for step in steps] == [
        {
            "name": "Autumn boots",
            "status": "paused",
            "bidding_type": "clicks",
            "budget": {"lifetime_spend_limit_micros": 320000000},
            "start_time": 1796083200,
            "end_time": 1797292800,
            "targeting": {"locations": {"countries": ["FR"]}},
        },
        {
            "name": "Autumn boots",
            "status": "paused",
            "bidding_config": {"billing_event_type": "click", "strategy": "fixed_bid", "max_bid_micros": 1850000},
        },
        {"name": "Autumn boots", "status": "paused", "creative": CARD},
    ]
    assert [[binding.to for binding in step.bindings] for step in steps] == [
        [],
        ["/body/campaign_id"],
        ["/body/ad_group_id"],
    ]


def test_creates_carry_the_key_of_their_operation_and_an_upload_none() -> None:
    value = make_brief(creative__existingId=None, creative__imageUrl="https://cdn.example/boots.png")
    plan = add_operation_marks(plan_campaign(value), "0192")
    assert [step.request.headers.get("Idempotency-Key") for step in plan.steps] == [
        None,
        "0192-campaign",
        "0192-adGroup",
        "0192-ad",
    ]
    image, ad = plan.steps[0], plan.steps[-1]
    assert image.request.body == {"image_url": "https://cdn.example/boots.png"}
    assert "file_id" not in ad.request.body["creative"]
    assert ("/body/creative/file_id", "image") in {(binding.to, binding.step) for binding in ad.bindings}


def test_a_bid_for_impressions_is_for_a_single_one() -> None:
    group = plan_campaign(make_brief(goal="awareness", bid="7.125")).steps[1].request.body
    assert group["bidding_config"]["max_bid_micros"] == 7125
    assert group["bidding_config"]["billing_event_type"] == "impression"
    assert find_issues(goal="awareness", bid="7.1255") == {("bid", "over_precision")}


def test_conversions_are_led_by_an_event() -> None:
    value = make_brief(goal="conversions", platform={"conversionEvent": "ces_5", "pixelId": "cds_1"})
    body = plan_campaign(value, ACCOUNT, **{"conversions/event_settings": make_page(EVENT)}).steps[0].request.body
    assert (body["bidding_type"], body["conversion_event_setting_ids"]) == ("conversions", ["ces_5"])


@pytest.mark.parametrize(
    ("change", "pixel", "refusal"),
    [
        ({"id": "ces_6"}, "cds_1", ("platform.conversionEvent", "not_found")),
        ({"archived": True}, "cds_1", ("platform.conversionEvent", "ineligible")),
        ({"custom_event_name": "tea"}, "cds_1", ("platform.conversionEvent", "ineligible")),
        ({"sources": []}, "cds_1", ("platform.conversionEvent", "ineligible")),
        ({}, "cds_2", ("platform.pixelId", "conflict")),
    ],
)
def test_an_event_that_cannot_lead(change: dict[str, Any], pixel: str, refusal: tuple[str, str]) -> None:
    value = read_brief(make_brief(goal="conversions", platform={"conversionEvent": "ces_5", "pixelId": pixel}))
    answers = {"conversions/event_settings": make_page(EVENT | change)}
    assert find_flow_issues(plan_create(ACCOUNT, value, NOW), **answers) == {refusal}


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"goal": "app_installs"}, ("goal", "not_supported")),
        ({"budget__period": "daily"}, ("budget.period", "not_supported")),
        ({"budget__amount": "0.99"}, ("budget.amount", "too_small")),
        ({"bid": None}, ("bid", "required")),
        ({"creative__headline": "ab"}, ("creative.headline", "invalid")),
        ({"creative__headline": "x" * 51}, ("creative.headline", "invalid")),
        ({"creative__body": "x" * 101}, ("creative.body", "invalid")),
        ({"creative__url": None}, ("creative.url", "required")),
        ({"creative__imageUrl": "https://a.example/b.png"}, ("creative.existingId", "conflict")),
        ({"platform__conversionEvent": "ces_5"}, ("platform.conversionEvent", "not_supported")),
        ({"platform__pageId": "1"}, ("platform.pageId", "not_supported")),
        ({"schedule__startAt": "2026-12-01T00:00:00.5Z"}, ("schedule.startAt", "over_precision")),
        ({"schedule__endAt": "2101-01-01T00:00:00Z"}, ("schedule.endAt", "out_of_range")),
        ({"targeting": {"countries": ["FR"]}}, ("targeting.countries", "not_supported")),
        ({"targeting": {}}, ("targeting.native", "required")),
        ({"targeting__native": {"budget": {}}}, ("targeting.native", "invalid")),
        ({"targeting__native": {"locations": {"include": [{"id": "1", "x": 1}]}}}, ("targeting.native", "invalid")),
        ({"targeting__native": {"platforms": {"included": []}}}, ("targeting.native", "invalid")),
    ],
)
def test_what_is_refused(changes: dict[str, Any], refusal: tuple[str, str]) -> None:
    assert refusal in find_issues(**changes)


def test_serving_everywhere_is_said() -> None:
    assert plan_campaign(make_brief()).warnings == ()
    plan = plan_campaign(make_brief(targeting__native={"platforms": {"included": ["web"]}}))
    assert any("all locations" in warning for warning in plan.warnings)


# -- states, native -----------------------------------------------------------------------------------------------


def test_activation_goes_from_leaf_to_root() -> None:
    source = plan_campaign(make_brief())
    outputs = {"campaign": {"id": "cmpn_9"}, "adGroup": {"id": "adgrp_4"}, "ad": {"id": "ad_2"}}
    plan = run(plans.plan_activate(ACCOUNT, source, outputs))
    assert [(step.request.path["id"], step.request.url.rpartition("/")[2]) for step in plan.steps] == [
        ("ad_2", "activate"),
        ("adgrp_4", "activate"),
        ("cmpn_9", "activate"),
    ]
    assert {step.request.encoding for step in plan.steps} == {"none"} and plan.risk == "spend"


def test_what_is_archived_stays_so() -> None:
    gone = {"campaigns/cmpn_9": make_response(CAMPAIGN | {"status": "archived"})}
    for flow in (
        plans.plan_status(ACCOUNT, "campaign", "cmpn_9", "active"),
        plans.plan_update(ACCOUNT, "campaign", "cmpn_9", {"name": "Boots"}, None),
        plans.plan_delete(ACCOUNT, "campaign", "cmpn_9"),
    ):
        assert find_flow_issues(flow, **gone) == {("entityId", "locked")}
    with pytest.raises(ProviderNotFound):
        run(plans.plan_delete(ACCOUNT, "campaign", "cmpn_9"), **{"campaigns/cmpn_9": make_response({}, 404)})


def test_a_deletion_archives() -> None:
    plan = run(plans.plan_delete(ACCOUNT, "campaign", "cmpn_9"), **{"campaigns/cmpn_9": make_response(CAMPAIGN)})
    (step,) = plan.steps
    assert step.request.url.endswith("/campaigns/{id}/archive") and plan.risk == "destructive"
    assert (step.changes[0].before, step.changes[0].after) == ("paused", "archived")
    unseen = run(plans.plan_delete(ACCOUNT, "campaign", "cmpn_9"), **{"campaigns/cmpn_9": make_response({}, 500)})
    assert unseen.steps[0].request == step.request and len(unseen.warnings) == 2


def test_a_member_without_a_name_is_no_parent() -> None:
    """A campaign has no parent's member that could be fixed; what the platform thinks of the name is its affair."""
    flow = plans.plan_update(ACCOUNT, "campaign", "cmpn_9", {"": [], "name": "Boots"}, None)
    assert next(flow).method == "GET"


def test_native_members_of_a_child() -> None:
    plan = run(plans.plan_native_create(ACCOUNT, "adGroup", {"name": "Boots"}, "cmpn_9"))
    assert plan.steps[0].request.body == {"campaign_id": "cmpn_9", "status": "paused", "name": "Boots"}
    assert [mark.form for mark in plan.steps[0].marks] == ["key"] and plan.risk == "low"
    active = run(plans.plan_native_create(ACCOUNT, "campaign", {"name": "Boots", "status": "active"}, None))
    assert active.risk == "spend"
    other = plans.plan_native_create(ACCOUNT, "ad", {"ad_group_id": "adgrp_5"}, "adgrp_4")
    assert find_flow_issues(other) == {("parentId", "conflict")}
    assert find_flow_issues(plans.plan_native_create(ACCOUNT, "ad", {"name": "Boots"}, None)) == {
        ("parentId", "required")
    }


# -- outcomes -----------------------------------------------------------------------------------------------------


def classify_response(step: Step, response: Response) -> StepOutcome:
    return classify_write(NETWORK, step, step.request, response)


REFUSAL = {"error": {"message": "No", "type": "invalid_request_error", "param": "name", "code": "invalid_type"}}
PAGE = b"<!doctype html><html>error code: 1010</html>"


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (make_response({"id": "cmpn_9", "status": "paused"}), Applied),
        (make_response({"id": 9}), Ambiguous),
        (make_response({}), Ambiguous),
        (make_response(REFUSAL), Ambiguous),
        (make_response(REFUSAL, 400), Rejected),
        (make_response(REFUSAL, 409), Ambiguous),
        (make_response(REFUSAL, 422), Rejected),
        (make_response({"error": "Too many requests"}, 429), Throttled),
        (make_response(REFUSAL, 503), Ambiguous),
        (Response.from_bytes(200, {}, PAGE), Ambiguous),
        (Response.from_bytes(403, {}, PAGE), Rejected),
        (Response.from_bytes(404, {}, PAGE), Ambiguous),
        (Response.from_bytes(429, {}, PAGE), Throttled),
    ],
)
def test_outcomes_of_a_create(response: Response, kind: type) -> None:
    assert type(classify_response(plan_campaign(make_brief()).steps[0], response)) is kind


def test_a_conflict_depends_on_the_action() -> None:
    flow = plans.plan_update(ACCOUNT, "campaign", "cmpn_9", {"name": "Boots"}, None)
    (step,) = run(flow, **{"campaigns/cmpn_9": make_response(CAMPAIGN)}).steps
    assert isinstance(classify_response(step, make_response(REFUSAL, 409)), Rejected)
    assert isinstance(classify_response(step, make_response({"id": "cmpn_8"})), Ambiguous)
    assert isinstance(classify_response(step, make_response({"id": "cmpn_9"})), Applied)


def test_a_refusal_keeps_its_words_and_a_throttled_write_waits() -> None:
    step = plan_campaign(make_brief()).steps[0]
    outcome = classify_response(step, make_response(REFUSAL, 400, x_request_id="req_1"))
    assert isinstance(outcome, Rejected)
    assert (outcome.error.code, outcome.error.message, outcome.error.request_id) == (
        "invalid_type",
        "No (name)",
        "req_1",
    )
    waits = [
        classify_response(step, make_response({}, 429)),
        classify_response(step, make_response({}, 429, retry_after="17")),
    ]
    assert [outcome.retry_after for outcome in waits if isinstance(outcome, Throttled)] == [5.0, 17.0]
