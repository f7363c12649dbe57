"""The Pinterest adapter: plans as the API description shows them, refusals, native writes, and what answers say."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from adsunify.adapter.account import Account
from adsunify.errors import InvalidInput, ProviderNotFound
from adsunify.execution.outcomes import Ambiguous, Applied, Rejected, StepOutcome, Throttled, classify_write
from adsunify.http.messages import Response, build_request_url
from adsunify.models.brief import read_brief
from adsunify.networks.pinterest import plans
from adsunify.networks.pinterest.tables import NETWORK
from adsunify.plans.binding import fill_bindings
from adsunify.plans.records import Step
from tests.networks.calls import make_response, run

from .calls import (
    ACCOUNT,
    API,
    BELOW,
    EXISTING,
    NOW,
    OUTPUTS,
    PIN_ID,
    find_issues,
    make_brief,
    make_error_response,
    make_page,
    make_plan,
)

# -- create -----------------------------------------------------------------------------------------------------------


def test_the_plan_is_what_the_documentation_shows() -> None:
    plan = make_plan()
    requests = [fill_bindings(step, OUTPUTS) for step in plan.steps]
    assert [(request.method, build_request_url(request)) for request in requests] == [
        ("POST", f"{API}/pins?ad_account_id=549755885175"),
        ("POST", f"{BELOW}/campaigns"),
        ("POST", f"{BELOW}/ad_groups"),
        ("POST", f"{BELOW}/keywords"),
        ("POST", f"{BELOW}/ads"),
    ]
    assert [request.body for request in requests] == [
        {
            "board_id": "730146114520000001",
            "title": "Autumn kit",
            "description": "Everything for a weekend.",
            "link": "https://shop.example/kit",
            "media_source": {"source_type": "image_url", "url": "https://cdn.example/kit.jpg"},
        },
        [
            {
                "ad_account_id": "549755885175",
                "name": "Autumn kit",
                "objective_type": "CONSIDERATION",
                "status": "PAUSED",
                "is_campaign_budget_optimization": True,
                "is_flexible_daily_budgets": False,
                "daily_spend_cap": 25000000,
                "start_time": 1793520000,
                "end_time": 1794729600,
            }
        ],
        [
            {
                "campaign_id": "626735565838",
                "name": "Autumn kit",
                "status": "PAUSED",
                "billable_event": "CLICKTHROUGH",
                "bid_strategy_type": "MAX_BID",
                "bid_in_micro_currency": 850000,
                "budget_type": "CBO_ADGROUP",
                "pacing_delivery_type": "STANDARD",
                "placement_group": "ALL",
                "auto_targeting_enabled": False,
                "targeting_spec": {"LOCATION": ["US", "CA"]},
            }
        ],
        {"parent_id": "2680060704746", "keywords": [{"match_type": "PHRASE", "value": "camping kit"}]},
        [
            {
                "ad_group_id": "2680060704746",
                "pin_id": PIN_ID,
                "creative_type": "REGULAR",
                "name": "Autumn kit",
                "status": "PAUSED",
                "destination_url": "https://shop.example/kit",
            }
        ],
    ]
    assert {(request.encoding, request.kind) for request in requests} == {("json", "write")}
    assert plan.risk == "low"
    assert "board" in plan.warnings[0]


def test_awareness_without_a_bid_for_a_lifetime() -> None:
    plan = make_plan(
        goal="awareness", bid=None, budget__period="lifetime", targeting__keywords=None, creative__url=None
    )
    assert [step.key for step in plan.steps] == ["pin", "campaign", "adGroup", "ad"]
    campaign, group, ad = (plan.get_step(key).request.body[0] for key in ("campaign", "adGroup", "ad"))
    assert campaign["objective_type"] == "AWARENESS"
    assert campaign["lifetime_spend_cap"] == 25000000 and "daily_spend_cap" not in campaign
    assert (group["billable_event"], group["bid_strategy_type"]) == ("IMPRESSION", "AUTOMATIC_BID")
    assert "bid_in_micro_currency" not in group
    assert "destination_url" not in ad and "link" not in plan.get_step("pin").request.body


def test_a_start_in_the_past_is_a_warning() -> None:
    late = make_plan(schedule={"startAt": "2026-10-01T00:00:00Z"}, now=NOW)
    assert any("past" in warning for warning in late.warnings)
    assert "end_time" not in late.get_step("campaign").request.body[0]


@pytest.mark.parametrize(
    ("targeting", "spec"),
    [
        ({"countries": ["US", "GB"], "locationIds": ["501", "US"]}, {"LOCATION": ["US", "GB", "501"]}),
        ({"locationIds": ["US-CA", "BE-VOV", "807"]}, {"GEO": ["US-CA", "BE-VOV"], "LOCATION": ["807"]}),
        ({"locationIds": ["US-94107", "US-10001"]}, {"GEO": ["US-94107", "US-10001"]}),
        (
            {"native": {"GEO": ["US-CA"], "MINIMUM_AGE": "25", "MAXIMUM_AGE": "65+", "GENDER": ["female"]}},
            {"GEO": ["US-CA"], "MINIMUM_AGE": "25", "MAXIMUM_AGE": "65+", "GENDER": ["female"]},
        ),
    ],
)
def test_geography(targeting: Any, spec: Any) -> None:
    assert make_plan(targeting=targeting).get_step("adGroup").request.body[0]["targeting_spec"] == spec


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"targeting": {}}, "targeting.countries"),
        ({"targeting": {"locationIds": ["city:1"]}}, "targeting.locationIds"),
        ({"targeting": {"locationIds": ["US-94107", "US-CA"]}}, "targeting.locationIds"),
        ({"targeting": {"native": {"GENDER": ["male"]}}}, "targeting.native"),
        ({"targeting": {"native": {"LOCATION": ["US"], "RADIUS": ["5"]}}}, "targeting.native"),
        ({"targeting": {"native": {"LOCATION": "US"}}}, "targeting.native"),
        ({"targeting": {"native": {"LOCATION": ["US"], "MINIMUM_AGE": "18"}}}, "targeting.native"),
        ({"targeting": {"native": {"LOCATION": ["US"], "MINIMUM_AGE": "40", "MAXIMUM_AGE": "30"}}}, "targeting.native"),
        (
            {
                "targeting": {
                    "native": {"LOCATION": ["US"], "MINIMUM_AGE": "18", "MAXIMUM_AGE": "65+", "AGE_BUCKET": []}
                }
            },
            "targeting.native",
        ),
        ({"targeting": {"native": {"LOCATION": ["US"], "AGE_BUCKET": ["13-17"]}}}, "targeting.native"),
        ({"targeting__keywords": [{"text": "Tent"}, {"text": "tent", "match": "exact"}]}, "targeting.keywords"),
        ({"budget__period": "lifetime", "schedule__endAt": None}, "schedule.endAt"),
        ({"schedule__startAt": "2026-11-01T08:00:00.0000001Z"}, "schedule.startAt"),
        ({"schedule__endAt": "2026-11-15T08:00:00.5Z"}, "schedule.endAt"),
        ({"goal": "conversions"}, "goal"),
        ({"creative__headline": "x" * 101}, "creative.headline"),
        ({"creative__body": "x" * 801}, "creative.body"),
        ({"creative__headline": None, "creative__body": None}, "creative.headline"),
        ({"creative__url": None}, "creative.url"),
        ({"creative__url": "https://shop.example/" + "x" * 2048}, "creative.url"),
        ({"creative__imageUrl": None}, "creative.imageUrl"),
        ({"creative__imageHash": "0f"}, "creative.imageHash"),
        ({"platform": {}}, "platform.boardId"),
        ({"platform__boardId": "AG1"}, "platform.boardId"),
        ({"platform__pageId": "1"}, "platform.pageId"),
        ({"platform__euPoliticalAdvertising": True}, "platform.euPoliticalAdvertising"),
        ({"creative": {"existingId": "abc"}, "platform": {}}, "creative.existingId"),
        ({"creative": {"existingId": PIN_ID}}, "platform.boardId"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], path: str) -> None:
    assert path in find_issues(**changes)


def test_zeros_of_a_second_are_no_fraction() -> None:
    assert make_plan(schedule={"startAt": "2026-11-01T08:00:00.000Z"}).get_step("campaign")


def test_micros_of_every_currency() -> None:
    yen = make_plan(account=evolve(ACCOUNT, currency="JPY"), budget={**make_brief()["budget"], "currency": "JPY"})
    assert yen.get_step("campaign").request.body[0]["daily_spend_cap"] == 25000000
    assert make_plan(budget__amount="20.000001").get_step("campaign").request.body[0]["daily_spend_cap"] == 20000001


@pytest.mark.parametrize(
    ("account", "path"),
    [
        (evolve(ACCOUNT, currency="UNK"), "account.currency"),
        (evolve(ACCOUNT, extras={"permissions": "ANALYST,FINANCE_VIEW"}), "account.permissions"),
        (evolve(ACCOUNT, extras={"permissions": ""}), "account.permissions"),
    ],
)
def test_accounts_that_take_no_writes(account: Account, path: str) -> None:
    assert path in find_issues(account=account)
    for flow in (
        plans.plan_status(account, "campaign", "1", "paused"),
        plans.plan_native_create(account, "ad", {"ad_group_id": "1"}, None),
    ):
        with pytest.raises(InvalidInput) as refusal:
            run(flow)
        assert [issue.path for issue in refusal.value.issues] == [path]


# -- an existing pin --------------------------------------------------------------------------------------------------


def plan_existing_pin(*answers: Response) -> Any:
    return run(plans.plan_create(ACCOUNT, read_brief(make_brief(**EXISTING)), None), *answers)


@pytest.mark.parametrize(("native", "frozen"), [("VIDEO", "VIDEO"), (None, "REGULAR"), ("IDEA", "IDEA")])
def test_the_type_of_an_existing_pin_is_frozen(native: str | None, frozen: str) -> None:
    plan, requests = plan_existing_pin(make_response({"id": PIN_ID, "creative_type": native, "is_owner": True}))
    assert [build_request_url(request) for request in requests] == [f"{API}/pins/{PIN_ID}?ad_account_id=549755885175"]
    assert [step.key for step in plan.steps] == ["campaign", "adGroup", "keywords", "ad"]
    ad = plan.get_step("ad").request.body[0]
    assert (ad["pin_id"], ad["creative_type"], "destination_url" in ad) == (PIN_ID, frozen, False)
    assert plan.warnings == ()


def test_another_users_pin_is_a_warning() -> None:
    plan, _ = plan_existing_pin(make_response({"id": PIN_ID, "creative_type": "REGULAR", "is_owner": False}))
    assert "another user" in plan.warnings[0]


@pytest.mark.parametrize(
    "answer", [make_response({"id": PIN_ID, "creative_type": "SHOPPING"}), make_error_response(50, 404)]
)
def test_a_pin_that_cannot_be_promoted(answer: Response) -> None:
    with pytest.raises(InvalidInput) as refusal:
        plan_existing_pin(answer)
    assert [issue.path for issue in refusal.value.issues] == ["creative.existingId"]


def test_a_pin_that_cannot_be_read_is_taken_for_a_plain_one() -> None:
    for plan in (
        plan_existing_pin(make_error_response(29, 403))[0],
        plan_existing_pin(make_error_response(500, 503))[0],
        make_plan(**EXISTING),
    ):
        assert plan.get_step("ad").request.body[0]["creative_type"] == "REGULAR"
        assert "could not be read" in plan.warnings[0]


def test_the_preflight_asks_where_ads_are_sold() -> None:
    flow = plans.preflight(ACCOUNT, read_brief(make_brief()))
    (issues, warnings), requests = run(flow, make_page({"code": "US", "name": "United States"}))
    assert ([issue.path for issue in issues], warnings) == (["targeting.countries.1"], [])
    assert build_request_url(requests[0]) == f"{API}/resources/ad_account_countries"
    assert run(plans.preflight(ACCOUNT, read_brief(make_brief(targeting={"locationIds": ["501"]}))))[0] == ([], [])
    (issues, _), _ = run(
        plans.preflight(ACCOUNT, read_brief(make_brief())), make_page({"code": ["US"]}, {"code": "CA"})
    )
    assert [issue.path for issue in issues] == ["targeting.countries.0"]


# -- activate, status, delete, native ---------------------------------------------------------------------------------


def test_the_campaign_is_activated_last() -> None:
    plan, _ = run(plans.plan_activate(ACCOUNT, make_plan(), OUTPUTS))
    assert [(step.request.method, build_request_url(step.request), step.request.body) for step in plan.steps] == [
        ("PATCH", f"{BELOW}/ads", [{"id": "687195134316", "status": "ACTIVE"}]),
        ("PATCH", f"{BELOW}/ad_groups", [{"id": "2680060704746", "status": "ACTIVE"}]),
        (
            *("PATCH", f"{BELOW}/campaigns"),
            [{"id": "626735565838", "ad_account_id": "549755885175", "status": "ACTIVE"}],
        ),
    ]
    assert plan.risk == "spend"


@pytest.mark.parametrize(("native", "expected_status"), [("PAUSED", "ARCHIVED"), ("DRAFT", "DELETED_DRAFT")])
def test_deleting_follows_what_it_is(native: str, expected_status: str) -> None:
    plan, requests = run(plans.plan_delete(ACCOUNT, "adGroup", "5"), make_response({"id": "5", "status": native}))
    assert build_request_url(requests[0]) == f"{BELOW}/ad_groups/5"
    (step,) = plan.steps
    assert (step.request.method, step.request.body) == ("PATCH", [{"id": "5", "status": expected_status}])
    assert (step.action, plan.risk, step.changes[0].before) == ("delete", "destructive", native)


def test_deleting_what_is_not_there() -> None:
    with pytest.raises(ProviderNotFound):
        run(plans.plan_delete(ACCOUNT, "ad", "5"), make_error_response(404, 404))


def describe_native_create(kind: Any, payload: dict[str, Any], parent: str | None = None) -> Any:
    plan, _ = run(plans.plan_native_create(ACCOUNT, kind, payload, parent))
    return plan.steps[0].request.body, plan.risk


def test_native_creates() -> None:
    assert describe_native_create("campaign", {"name": "N"}) == (
        [{"name": "N", "status": "PAUSED", "ad_account_id": "549755885175"}],
        "low",
    )
    assert describe_native_create("adGroup", {"status": "DRAFT"}, "7") == (
        [{"status": "DRAFT", "campaign_id": "7"}],
        "low",
    )
    assert describe_native_create("ad", {"status": "ACTIVE", "ad_group_id": "7"}, "7")[1] == "spend"


@pytest.mark.parametrize(
    ("kind", "payload", "parent", "path"),
    [
        ("campaign", {"status": "ARCHIVED"}, None, "payload.status"),
        ("campaign", {"ad_account_id": "1"}, None, "payload.ad_account_id"),
        ("campaign", {}, "1", "parentId"),
        ("adGroup", {}, None, "parentId"),
        ("ad", {"ad_group_id": "1"}, "2", "parentId"),
    ],
)
def test_native_creates_that_are_refused(kind: Any, payload: dict[str, Any], parent: str | None, path: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        describe_native_create(kind, payload, parent)
    assert [issue.path for issue in refusal.value.issues] == [path]


@pytest.mark.parametrize(
    ("payload", "risk"),
    [
        ({"name": "N"}, "low"),
        ({"status": "ACTIVE"}, "spend"),
        ({"daily_spend_cap": 1}, "low"),
        ({"status": "ARCHIVED"}, "destructive"),
    ],
)
def test_native_updates(payload: dict[str, Any], risk: str) -> None:
    plan, _ = run(plans.plan_update(ACCOUNT, "campaign", "5", payload, None))
    assert plan.steps[0].request.body == [{"id": "5", "ad_account_id": "549755885175", **payload}]
    assert plan.risk == risk


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        ({}, "payload"),
        ({"id": "6", "name": "New"}, "payload.id"),
        ({"status": "RUNNING"}, "payload.status"),
        ({"targeting_spec": {}, "targeting_spec_operations": []}, "payload.targeting_spec_operations"),
    ],
)
def test_native_updates_that_are_refused(payload: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        run(plans.plan_update(ACCOUNT, "adGroup", "5", payload, None))
    assert [issue.path for issue in refusal.value.issues] == [path]


# -- what answers say -------------------------------------------------------------------------------------------------

PLAN = make_plan(targeting__keywords=[{"text": "Tent"}, {"text": "camping kit", "match": "phrase"}])


def classify_response(key: str, answer: Response) -> StepOutcome:
    step: Step = PLAN.get_step(key)
    return classify_write(NETWORK, step, fill_bindings(step, OUTPUTS), answer)


EXCEPTION = {"code": 2, "message": "Advertiser not found."}


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ({"data": {"id": "7"}, "exceptions": []}, Applied),
        ({"data": {"id": "7"}, "exceptions": None}, Applied),
        ({"data": {"id": "7"}}, Applied),
        ({"data": None, "exceptions": [EXCEPTION]}, Rejected),
        ({"data": None, "exceptions": EXCEPTION}, Rejected),
        ({"exceptions": EXCEPTION}, Rejected),
        ({"data": {"id": "7"}, "exceptions": [EXCEPTION]}, Ambiguous),
        ({"data": None, "exceptions": []}, Ambiguous),
        ({"data": {"id": None}, "exceptions": []}, Ambiguous),
        ({"data": None, "exceptions": "no"}, Ambiguous),
        ({}, Ambiguous),
        ("?", Ambiguous),
    ],
)
@pytest.mark.parametrize("key", ["campaign", "adGroup", "ad"])
def test_an_item(key: str, item: Any, kind: type) -> None:
    outcome = classify_response(key, make_response({"items": [item]}))
    assert isinstance(outcome, kind)
    if isinstance(outcome, Applied):
        assert outcome.outputs == {"id": "7"}
    if isinstance(outcome, Rejected):
        assert (outcome.error.code, outcome.error.message) == ("2", "Advertiser not found.")


@pytest.mark.parametrize("body", [{}, {"items": []}, {"items": None}, {"items": {}}, [], {"items": [{}, {}]}])
def test_items_that_are_missing_leave_it_open(body: Any) -> None:
    assert isinstance(classify_response("campaign", make_response(body)), Ambiguous)


def test_a_change_is_of_what_was_sent() -> None:
    plan, _ = run(plans.plan_status(ACCOUNT, "ad", "5", "active"))
    (step,) = plan.steps
    for answered_id, kind in (("5", Applied), ("6", Ambiguous)):
        assert isinstance(
            classify_write(NETWORK, step, step.request, make_response({"items": [{"data": {"id": answered_id}}]})), kind
        )


TENT = {"id": "11", "match_type": "EXACT", "value": "tent"}
KIT = {"id": "12", "match_type": "PHRASE", "value": "camping kit"}


def test_keywords_are_known_by_match_and_words() -> None:
    outcome = classify_response("keywords", make_response({"keywords": [KIT, TENT], "errors": []}))
    assert isinstance(outcome, Applied)
    assert outcome.outputs == {"id": ["11", "12"]}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"keywords": [KIT], "errors": [{"data": {**TENT, "id": None}, "error_messages": ["No."]}]}, Rejected),
        ({"keywords": [KIT], "errors": [{"data": TENT, "error_messages": ["No."]}]}, Ambiguous),
        ({"keywords": [KIT], "errors": [{"data": {**TENT, "id": None}, "error_messages": 5}]}, Rejected),
        ({"keywords": [KIT]}, Ambiguous),
        ({"keywords": [KIT, {**TENT, "id": None}]}, Ambiguous),
        ({"keywords": [KIT, TENT, TENT]}, Ambiguous),
        ({"keywords": [KIT, TENT, {**TENT, "value": "stove"}]}, Ambiguous),
        ({"keywords": None, "errors": []}, Ambiguous),
        ({"keywords": [KIT, TENT], "errors": {}}, Applied),
        ({"keywords": [KIT, TENT], "errors": "?"}, Ambiguous),
    ],
)
def test_keywords_in_part(body: Any, kind: type) -> None:
    outcome = classify_response("keywords", make_response(body))
    assert isinstance(outcome, kind)
    if isinstance(outcome, Rejected):
        assert outcome.outputs == {"id": ["12"]}


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (make_response({"id": PIN_ID}, 201), Applied),
        (make_response({"id": PIN_ID}), Applied),
        (make_response({"board_id": "1"}, 201), Ambiguous),
        (make_response({"code": 1, "message": "?"}), Ambiguous),
        (make_error_response(1, 400), Rejected),
        (make_error_response(2, 401), Rejected),
        (make_error_response(29, 403), Rejected),
        (make_error_response(40, 404), Rejected),
        (make_error_response(409, 409), Rejected),
        (make_error_response(8, 429), Throttled),
        (make_error_response(500, 500), Ambiguous),
    ],
)
def test_a_pin(answer: Response, kind: type) -> None:
    assert isinstance(classify_response("pin", answer), kind)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 60.0),
        ({"x_ratelimit_reset": "12"}, 12.0),
        ({"x_ratelimit_reset": "1793520000"}, 60.0),
        ({"retry_after": "7"}, 7.0),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float) -> None:
    outcome = classify_response("pin", make_response({"code": 8, "message": "Slow down."}, 429, **headers))
    assert isinstance(outcome, Throttled)
    assert outcome.retry_after == seconds


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["items", "data", "id", "exceptions", "keywords", "errors", "error_messages", "code", "value"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(JSON, st.sampled_from(["pin", "campaign", "keywords", "ad"]), st.sampled_from([200, 201, 400, 403, 429]))
def test_no_answer_raises(body: Any, key: str, status: int) -> None:
    assert isinstance(classify_response(key, make_response(body, status)), Applied | Rejected | Throttled | Ambiguous)
