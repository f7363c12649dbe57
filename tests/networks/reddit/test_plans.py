"""The Reddit adapter: plans as the Ads API documents them, refusals, outcomes, native writes."""

from __future__ import annotations

from typing import Any

import pytest

from adsunify.adapter.network import split_words
from adsunify.errors import ProviderNotFound
from adsunify.execution.outcomes import Ambiguous, Applied, Rejected, Throttled, classify_write
from adsunify.http.messages import Response, build_request_url
from adsunify.models.brief import read_brief
from adsunify.networks.reddit import plans
from adsunify.networks.reddit.tables import NETWORK
from adsunify.plans.binding import fill_bindings
from adsunify.plans.records import Step
from tests.networks.calls import make_response, run

from .calls import (
    ACCOUNT,
    API,
    BELOW,
    NOW,
    OUTPUTS,
    TARGETING,
    find_flow_issues,
    find_issues,
    make_brief,
    make_data_response,
    make_error_response,
    make_page,
    make_plan,
)

# -- create -----------------------------------------------------------------------------------------------------------


def test_the_plan_is_what_the_documentation_shows() -> None:
    plan = make_plan()
    requests = [fill_bindings(step, OUTPUTS) for step in plan.steps]
    assert [(request.method, build_request_url(request), request.kind) for request in requests] == [
        ("POST", f"{BELOW}/campaigns", "write"),
        ("POST", f"{BELOW}/ad_groups", "write"),
        ("POST", f"{BELOW}/ads", "write"),
    ]
    campaign = {
        "name": "Autumn launch",
        "objective": "CLICKS",
        "configured_status": "PAUSED",
        "funding_instrument_id": "4711",
    }
    ad_group = {
        "campaign_id": "101",
        "name": "Autumn launch",
        "configured_status": "PAUSED",
        "conversion_pixel_id": "a2_pixel0001",
        "optimization_goal": "CLICKS",
        "bid_strategy": "MANUAL_BIDDING",
        "bid_type": "CPC",
        "bid_value": 4_000_000,
        "goal_type": "DAILY_SPEND",
        "goal_value": 25_500_000,
        "start_time": "2026-12-01T08:00:00Z",
        "end_time": "2026-12-20T08:00:00Z",
        "targeting": dict(TARGETING),
    }
    ad = {"ad_group_id": "202", "name": "Autumn launch", "configured_status": "PAUSED", "post_id": "t3_abc123"}
    assert [request.body for request in requests] == [{"data": campaign}, {"data": ad_group}, {"data": ad}]
    assert (plan.warnings, plan.risk) == ((), "low")


def test_every_request_names_the_client() -> None:
    for step in make_plan().steps:
        assert step.request.headers["Accept"] == "application/json"
        assert "adsunify" in step.request.headers["User-Agent"]
        assert "Authorization" not in step.request.headers


def test_what_a_step_waits_for_stands_beside_it() -> None:
    plan = make_plan()
    assert "campaign_id" not in plan.get_step("adGroup").request.body["data"]
    assert [binding.to for step in plan.steps for binding in step.bindings] == [
        "/body/data/campaign_id",
        "/body/data/ad_group_id",
    ]


def make_ad_group(**changes: Any) -> dict[str, Any]:
    ad_group: dict[str, Any] = make_plan(**changes).get_step("adGroup").request.body["data"]
    return ad_group


def test_without_a_bid_reddit_bids() -> None:
    ad_group = make_ad_group(bid=None)
    assert ad_group["bid_strategy"] == "MAXIMIZE_VOLUME"
    assert "bid_value" not in ad_group


def test_without_an_end_it_runs_on() -> None:
    assert "end_time" not in make_ad_group(schedule__endAt=None)


def test_six_digits_fit_exactly() -> None:
    assert make_ad_group(budget__amount="20.000001")["goal_value"] == 20_000_001


def test_targeting_is_sent_as_it_is_given() -> None:
    native = {"communities": ["running"], "gender": None, "age_targeting": {"min_age": 21, "max_age": 44}}
    assert make_ad_group(targeting__native=native)["targeting"] == native


def test_warnings() -> None:
    assert make_plan(now=NOW).warnings == ()
    assert len(make_plan(now=NOW, schedule__startAt="2026-11-20T11:59:59Z").warnings) == 1
    assert make_plan(targeting__native={"interests": ["tech"]}).warnings == (plans.WORLDWIDE_WARNING,)


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        ({"creative": {}}, {"creative.existingId"}),
        ({"creative": {"existingId": "job-17"}}, {"creative.existingId"}),
        ({"creative": {"existingId": "t3_"}}, {"creative.existingId"}),
        ({"creative": {"existingId": "t3_a/b"}}, {"creative.existingId"}),
        ({"platform": {}}, {"platform.fundingInstrumentId", "platform.pixelId"}),
        ({"targeting": {}}, {"targeting.native"}),
        ({"targeting": {"native": {}}}, {"targeting.native"}),
        ({"targeting": {"countries": ["US"]}}, {"targeting.native", "targeting.countries"}),
        ({"targeting": {"locationIds": ["US-VA"]}}, {"targeting.native", "targeting.locationIds"}),
        ({"targeting": {"native": {"geolocations": ["US"]}, "keywords": [{"text": "a"}]}}, {"targeting.keywords"}),
        ({"goal": "awareness"}, {"goal"}),
        ({"budget__period": "lifetime"}, {"budget.period"}),
        ({"budget__currency": "EUR"}, {"budget.currency"}),
        ({"platform__specialAdCategories": ["NONE"]}, {"platform.specialAdCategories"}),
        ({"platform__euPoliticalAdvertising": True}, {"platform.euPoliticalAdvertising"}),
        ({"platform__pageId": "1"}, {"platform.pageId"}),
        ({"schedule__startAt": "2026-12-01T08:00:00.5Z"}, {"schedule.startAt"}),
        ({"schedule__endAt": "2026-12-20T08:00:00.000001Z"}, {"schedule.endAt"}),
    ],
)
def test_refusals(changes: dict[str, Any], paths: set[str]) -> None:
    assert find_issues(**changes) == paths


def test_a_fraction_of_nothing_is_a_whole_second() -> None:
    assert make_ad_group(schedule__startAt="2026-12-01T08:00:00.000Z")["start_time"] == "2026-12-01T08:00:00Z"


@pytest.mark.parametrize("name", split_words("headline body url imageUrl imageHash headlines descriptions"))
def test_a_post_brings_its_own_content(name: str) -> None:
    values: dict[str, Any] = {
        "headlines": ["One", "Two", "Three"],
        "descriptions": ["One", "Two"],
        **dict.fromkeys(("url", "imageUrl"), "https://shop.example/"),
    }
    changes: dict[str, Any] = {f"creative__{name}": values.get(name, "text")}
    assert find_issues(**changes) == {f"creative.{name}"}


@pytest.mark.parametrize(
    "native",
    [
        {"geolocation": ["US"]},
        {"geolocations": "US"},
        {"geolocations": ["US", 5]},
        {"geolocations": ["US"] * 20_001},
        {"interests": ["i"] * 201},
        {"platforms": ["DESKTOP_LEGACY"]},
        {"languages": ["en"]},
        {"communities": ["r/running"]},
        {"communities": ["t5_2qh1i"]},
        {"keywords": [{"text": "shoes"}]},
        {"devices": [{"type": "TABLET"}]},
        {"devices": [{"type": "MOBILE", "model": "x"}]},
        {"devices": {"type": "MOBILE"}},
        {"gender": "female"},
        {"expand_targeting": "true"},
        {"age_targeting": 21},
    ],
)
def test_targeting_that_reddit_does_not_know(native: dict[str, Any]) -> None:
    assert find_issues(targeting__native=native) == {"targeting.native"}


# -- what an answer says ----------------------------------------------------------------------------------------------


def classify_response(step: Step, response: Response) -> object:
    return classify_write(NETWORK, step, fill_bindings(step, OUTPUTS), response)


def test_outcomes_of_a_create() -> None:
    step = make_plan().get_step("campaign")
    assert classify_response(step, make_data_response({"id": "101"}, 201)) == Applied({"id": "101"})
    for answer in (
        make_data_response({"id": 101}, 201),
        make_data_response({"id": ""}, 201),
        make_data_response({}, 201),
        make_response({"id": "101"}, 201),
        make_response(b"", 201),
        make_response(b"<html>", 201),
        make_error_response(500),
        make_error_response(503),
        make_response({"error": {"code": 400, "message": "Bad Request"}}, 200),
        make_response({"error": {"code": 400, "message": "?"}, "data": {"id": "101"}}, 400),
    ):
        assert isinstance(classify_response(step, answer), Ambiguous), answer


@pytest.mark.parametrize(("status", "blame"), [(400, "input"), (401, "token"), (403, "permission"), (404, "not_found")])
def test_refusals_are_surely_not_applied(status: int, blame: str) -> None:
    outcome = classify_response(make_plan().get_step("campaign"), make_error_response(status))
    assert isinstance(outcome, Rejected)
    assert (outcome.blame, outcome.error.code, outcome.error.message) == (blame, str(status), "No.")


def test_a_refusal_names_its_members_and_is_cut() -> None:
    fields = [{"field": f"data/fields/{n}", "message": "x" * 10_000} for n in range(50)]
    outcome = classify_response(
        make_plan().get_step("campaign"), make_error_response(400, "Bad Request", fields=fields)
    )
    assert isinstance(outcome, Rejected)
    message = outcome.error.message or ""
    assert message.startswith("Bad Request; data/fields/0: xxx")
    assert len(message) < 2_000


@pytest.mark.parametrize("body", [{"errors": [{"code": 7, "message": "No."}]}, {"errors": ["No."]}])
def test_other_forms_of_errors(body: Any) -> None:
    outcome = classify_response(make_plan().get_step("campaign"), make_response(body, 400))
    assert isinstance(outcome, Rejected)
    assert outcome.error.message == "No."


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"ratelimit": '"write";r=0;t=42'}, 42.0),
        ({"ratelimit": '"write";r=0;t=42, "day";r=7;t=9000'}, 42.0),
        ({"ratelimit": '"write";r=3;t=5'}, 5.0),
        ({"ratelimit": '"write";r=0;t=42', "retry_after": "7"}, 42.0),
        ({"retry_after": "7"}, 7.0),
        ({"ratelimit": '"write";r=0'}, None),
        ({"ratelimit": "soon"}, None),
        ({}, None),
    ],
)
def test_a_limit_says_when_it_opens(headers: dict[str, str], seconds: float | None) -> None:
    answer = make_response({"error": {"code": 429, "message": "Too Many Requests"}}, 429, **headers)
    outcome = classify_response(make_plan().get_step("campaign"), answer)
    assert isinstance(outcome, Throttled)
    assert outcome.retry_after == seconds


# -- status -----------------------------------------------------------------------------------------------------------


def test_activation_goes_from_the_ad_up() -> None:
    plan, _ = run(plans.plan_activate(ACCOUNT, make_plan(), OUTPUTS))
    assert [(step.key, step.request.method, build_request_url(step.request)) for step in plan.steps] == [
        ("activate_ad", "PATCH", f"{API}/ads/303"),
        ("activate_adGroup", "PATCH", f"{API}/ad_groups/202"),
        ("activate_campaign", "PATCH", f"{API}/campaigns/101"),
    ]
    assert all(step.request.body == {"data": {"configured_status": "ACTIVE"}} for step in plan.steps)
    assert plan.risk == "spend"


def test_a_change_is_good_when_the_answer_names_the_same_entity() -> None:
    plan, _ = run(plans.plan_status(ACCOUNT, "ad", "303", "paused"))
    (step,) = plan.steps
    assert step.request.body == {"data": {"configured_status": "PAUSED"}}
    assert plan.risk == "low"
    assert classify_response(step, make_data_response({"id": "303"})) == Applied({})
    for other in (
        make_data_response({"id": "304"}),
        make_data_response({"id": 303}),
        make_data_response({}),
        make_response(b""),
    ):
        assert isinstance(classify_response(step, other), Ambiguous)


@pytest.mark.parametrize("entity_id", ["101/ads", "a?b", "..", ""])
def test_an_id_that_is_none(entity_id: str) -> None:
    assert find_flow_issues(plans.plan_status(ACCOUNT, "ad", entity_id, "paused")) == {"entityId"}
    assert find_flow_issues(plans.plan_delete(ACCOUNT, "ad", entity_id)) == {"entityId"}


def test_a_status_that_cannot_be_set() -> None:
    assert find_flow_issues(plans.plan_status(ACCOUNT, "ad", "303", "archived")) == {"status"}


# -- native -----------------------------------------------------------------------------------------------------------


def test_native_create() -> None:
    plan, _ = run(plans.plan_native_create(ACCOUNT, "adGroup", {"name": "Group"}, "101"))
    (step,) = plan.steps
    assert build_request_url(step.request) == f"{BELOW}/ad_groups"
    assert step.request.body == {"data": {"campaign_id": "101", "configured_status": "PAUSED", "name": "Group"}}
    assert (step.parent, plan.risk) == ("101", "low")


def test_a_native_create_may_be_active() -> None:
    payload = {"name": "Campaign", "objective": "SALES", "configured_status": "ACTIVE"}
    plan, _ = run(plans.plan_native_create(ACCOUNT, "campaign", payload, None))
    assert plan.steps[0].request.body == {"data": payload}
    assert plan.risk == "spend"


@pytest.mark.parametrize(
    ("kind", "payload", "parent", "paths"),
    [
        ("campaign", {"name": "a", "special_ad_categories": ["NONE"]}, None, {"payload.special_ad_categories"}),
        ("campaign", {"name": "a", "id": "1"}, None, {"payload.id"}),
        ("campaign", {"name": "a"}, "1", {"parentId"}),
        ("adGroup", {"name": "a"}, None, {"parentId"}),
        ("adGroup", {"name": "a", "campaign_id": "2"}, "1", {"parentId"}),
        ("adGroup", {"name": "a", "campaign_id": 2}, "1", {"parentId"}),
        ("adGroup", {"name": "a", "campaign_id": [1]}, "1", {"payload.campaign_id"}),
        ("ad", {"name": "a", "campaign_id": "1"}, "2", {"payload.campaign_id"}),
        ("ad", {"name": "a", "configured_status": "LIVE"}, "2", {"payload.configured_status"}),
        ("adGroup", {"name": "a", "targeting": {"place": ["US"]}}, "2", {"payload.targeting"}),
        ("adGroup", {"name": "a", "targeting": ["US"]}, "2", {"payload.targeting"}),
    ],
)
def test_native_creates_that_are_refused(kind: Any, payload: Any, parent: str | None, paths: set[str]) -> None:
    assert find_flow_issues(plans.plan_native_create(ACCOUNT, kind, payload, parent)) == paths


@pytest.mark.parametrize(
    ("payload", "risk"),
    [
        ({"name": "New"}, "low"),
        ({"goal_value": 1}, "low"),
        ({"configured_status": "ACTIVE"}, "spend"),
        ({"configured_status": "PAUSED"}, "low"),
        ({"configured_status": "ARCHIVED"}, "destructive"),
    ],
)
def test_native_update(payload: dict[str, Any], risk: str) -> None:
    plan, _ = run(plans.plan_update(ACCOUNT, "adGroup", "202", payload, None))
    (step,) = plan.steps
    assert (step.request.method, build_request_url(step.request)) == ("PATCH", f"{API}/ad_groups/202")
    assert step.request.body == {"data": payload}
    assert plan.risk == risk


@pytest.mark.parametrize(
    ("kind", "payload", "parent", "paths"),
    [
        ("adGroup", {}, None, {"payload"}),
        ("adGroup", {"campaign_id": "1"}, None, {"payload.campaign_id"}),
        ("ad", {"ad_group_id": "1"}, None, {"payload.ad_group_id"}),
        ("ad", {"effective_status": "ACTIVE"}, None, {"payload.effective_status"}),
        ("campaign", {"objective": "SALES"}, None, {"payload.objective"}),
        ("adGroup", {"goal_type": "LIFETIME_SPEND"}, None, {"payload.goal_type"}),
        ("campaign", {"name": "New"}, "1", {"parentId"}),
    ],
)
def test_native_updates_that_are_refused(kind: Any, payload: Any, parent: str | None, paths: set[str]) -> None:
    assert find_flow_issues(plans.plan_update(ACCOUNT, kind, "1", payload, parent)) == paths


OWN = {"id": "101", "ad_account_id": "a2_acc1"}


@pytest.mark.parametrize(
    ("now", "status_after", "warned"),
    [("ACTIVE", "ARCHIVED", 1), ("PAUSED", "ARCHIVED", 1), ("ARCHIVED", "DELETED", 0)],
)
def test_deleting_archives_first(now: str, status_after: str, warned: int) -> None:
    plan, requests = run(
        plans.plan_delete(ACCOUNT, "campaign", "101"), make_data_response({**OWN, "configured_status": now})
    )
    assert [(request.method, build_request_url(request)) for request in requests] == [("GET", f"{API}/campaigns/101")]
    (step,) = plan.steps
    assert (step.request.method, build_request_url(step.request), step.action) == (
        "PATCH",
        f"{API}/campaigns/101",
        "delete",
    )
    assert step.request.body == {"data": {"configured_status": status_after}}
    assert [(change.before, change.after) for change in step.changes] == [(now, status_after)]
    assert (plan.risk, len(plan.warnings)) == ("destructive", warned)


def test_what_cannot_be_deleted() -> None:
    with pytest.raises(ProviderNotFound):
        run(plans.plan_delete(ACCOUNT, "campaign", "101"), make_error_response(404))
    with pytest.raises(ProviderNotFound):
        run(
            plans.plan_delete(ACCOUNT, "campaign", "101"),
            make_data_response({"id": "101", "ad_account_id": "a2_other"}),
        )


# -- preflight --------------------------------------------------------------------------------------------------------

POST = make_data_response({"id": "t3_abc123"})
SERVABLE = {"id": "4711", "is_servable": True, "currency": "USD"}
INSTRUMENTS, PIXELS = make_page(SERVABLE), make_page({"id": "a2_pixel0001"})


def run_preflight(*answers: Response) -> tuple[set[tuple[str, str]], int, list[str]]:
    (issues, warnings), requests = run(plans.preflight(ACCOUNT, read_brief(make_brief())), *answers)
    return (
        {(issue.path, issue.code) for issue in issues},
        len(warnings),
        [build_request_url(request) for request in requests],
    )


def test_preflight() -> None:
    addresses = [f"{API}/posts/t3_abc123", f"{BELOW}/funding_instruments?mode=ALL", f"{BELOW}/pixels"]
    assert run_preflight(POST, INSTRUMENTS, PIXELS) == (set(), 0, addresses)


def test_preflight_looks_on_every_page() -> None:
    following = f"{BELOW}/funding_instruments?mode=ALL&page.token=p2"
    issues, warnings, addresses = run_preflight(POST, make_page({"id": "1"}, following=following), INSTRUMENTS, PIXELS)
    assert (issues, warnings, addresses[2]) == (set(), 0, following)


@pytest.mark.parametrize(
    ("answers", "issues", "warnings"),
    [
        ((make_error_response(404), POST, INSTRUMENTS, PIXELS), set(), 0),
        (
            (make_error_response(404), make_error_response(404), INSTRUMENTS, PIXELS),
            {("creative.existingId", "not_found")},
            0,
        ),
        ((make_error_response(403), INSTRUMENTS, PIXELS), set(), 1),
        ((make_error_response(503), make_error_response(400), make_error_response(429)), set(), 3),
        (
            (POST, make_page(), make_page()),
            {("platform.fundingInstrumentId", "not_found"), ("platform.pixelId", "not_found")},
            0,
        ),
        (
            (POST, make_page({**SERVABLE, "is_servable": False, "reasons_not_servable": ["EXPIRED"]}), PIXELS),
            {("platform.fundingInstrumentId", "ineligible")},
            0,
        ),
        (
            (POST, make_page({**SERVABLE, "currency": "EUR"}), PIXELS),
            {("platform.fundingInstrumentId", "currency_mismatch")},
            0,
        ),
    ],
)
def test_preflight_findings(answers: Any, issues: set[tuple[str, str]], warnings: int) -> None:
    assert run_preflight(*answers)[:2] == (issues, warnings)
