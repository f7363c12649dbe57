"""The X adapter: plans as X documents them, what is refused, and answers to writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import check_brief
from adsunify.adapter.flows import run_flow
from adsunify.errors import InvalidInput
from adsunify.execution.outcomes import Ambiguous, Applied, Rejected, StepOutcome, Throttled, classify_write
from adsunify.http.messages import Response, build_request_url
from adsunify.models.brief import read_brief
from adsunify.networks.x import plans
from adsunify.networks.x.tables import NETWORK
from adsunify.plans.binding import fill_bindings
from adsunify.plans.records import Plan
from tests.networks.calls import make_responder, round_trip_json

from .calls import ACCOUNT, API, BASE, FRANCE, NOW, make_brief, make_plan

OUTPUTS: Mapping[str, Any] = {"campaign": {"id": "8wku2"}, "adGroup": {"id": "9cqz1"}}


def plan_native_create(kind: Any, payload: dict[str, Any], parent_id: str | None = None) -> Plan:
    return run_flow(plans.plan_native_create(ACCOUNT, kind, payload, parent_id), make_responder({}))


def find_issues(value: Mapping[str, Any], account: Account = ACCOUNT) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        check_brief(NETWORK, account, read_brief(value))
    return {issue.path for issue in refusal.value.issues}


# -- create -------------------------------------------------------------------------------------------------------


def test_the_plan_is_what_the_documentation_shows() -> None:
    plan = make_plan()
    assert [step.key for step in plan.steps] == ["campaign", "adGroup", "targeting", "ad"]
    requests = [fill_bindings(step, OUTPUTS) for step in plan.steps]
    campaign = (
        "budget_optimization=LINE_ITEM&daily_budget_amount_local_micro=42500000"
        "&entity_status=PAUSED&funding_instrument_id=k9x2&name=Winter%20sale"
    )
    # What is bound comes last; the order of a query means nothing.
    line_item = (
        "bid_strategy=AUTO&entity_status=PAUSED&goal=LINK_CLICKS&name=Winter%20sale"
        "&objective=WEBSITE_CLICKS&placements=ALL_ON_TWITTER&product_type=PROMOTED_TWEETS"
        "&start_time=2026-12-01T09%3A00%3A00Z&campaign_id=8wku2"
    )
    assert [build_request_url(request) for request in requests] == [
        f"{BASE}/campaigns?{campaign}",
        f"{BASE}/line_items?{line_item}",
        f"{API}/batch/accounts/abc12/targeting_criteria",
        f"{BASE}/promoted_tweets?tweet_ids=1166476031668015104&line_item_id=9cqz1",
    ]
    criterion = {"line_item_id": "9cqz1", "operator_type": "EQ"}
    assert [request.body for request in requests] == [
        None,
        None,
        [
            {
                "operation_type": "Create",
                "params": {**criterion, "targeting_type": "LOCATION", "targeting_value": "0a1b2c3d4e5f6071"},
            },
            {
                "operation_type": "Create",
                "params": {**criterion, "targeting_type": "PHRASE_KEYWORD", "targeting_value": "ski boots"},
            },
        ],
        None,
    ]
    assert {(request.method, request.kind) for request in requests} == {("POST", "write")}
    assert [warning for warning in plan.warnings if "cannot" in warning or "never pauses" in warning]


def test_a_bid_is_a_maximum_and_a_lifetime_budget_the_total() -> None:
    plan = make_plan(
        bid="0.75",
        budget__period="lifetime",
        budget__amount="750",
        schedule={"startAt": "2026-12-01T10:00:00+01:00", "endAt": "2026-12-31T09:00:00.0Z"},
    )
    campaign, line_item = (plan.get_step(key).request.query for key in ("campaign", "adGroup"))
    assert campaign["total_budget_amount_local_micro"] == "750000000"
    assert "daily_budget_amount_local_micro" not in campaign
    assert (line_item["bid_strategy"], line_item["bid_amount_local_micro"]) == ("MAX", "750000")
    assert (line_item["start_time"], line_item["end_time"]) == ("2026-12-01T09:00:00Z", "2026-12-31T09:00:00Z")
    assert "pay_by" not in line_item


def test_countries_are_looked_up_before_the_plan_is_frozen() -> None:
    row = {"country_code": "FR", "targeting_value": "f3bfc7dcc928977f", "name": "France"}
    other = {"country_code": "GF", "targeting_value": "1", "name": "French Guiana"}
    plan = make_plan({f"GET {FRANCE}": {"data": [other, row]}}, targeting={"countries": ["FR"]})
    assert plan.get_step("targeting").request.body[0]["params"]["targeting_value"] == "f3bfc7dcc928977f"
    with pytest.raises(InvalidInput) as refusal:
        make_plan({f"GET {FRANCE}": {"data": [other]}}, targeting={"countries": ["FR"]})
    assert [issue.path for issue in refusal.value.issues] == ["targeting.countries.0"]


def test_without_targeting_there_is_no_step_but_a_warning() -> None:
    plan = make_plan(targeting={})
    assert [step.key for step in plan.steps] == ["campaign", "adGroup", "ad"]
    assert "all users worldwide" in plan.warnings[0]


def test_keywords_are_appended_to_native_criteria() -> None:
    gender = {"targeting_type": "GENDER", "targeting_value": "2", "operator_type": "EQ"}
    plan = make_plan(targeting={"native": {"criteria": [gender]}, "keywords": [{"text": "ski"}]})
    types = [criterion["params"]["targeting_type"] for criterion in plan.get_step("targeting").request.body]
    assert types == ["GENDER", "EXACT_KEYWORD"]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"creative__existingId": "12a"}, "creative.existingId"),
        ({"creative": {}}, "creative.existingId"),
        ({"platform": {}}, "platform.fundingInstrumentId"),
        ({"platform__fundingInstrumentId": "K9"}, "platform.fundingInstrumentId"),
        ({"platform__pageId": "1"}, "platform.pageId"),
        ({"goal": "awareness"}, "goal"),
        ({"budget__period": "lifetime"}, "schedule.endAt"),
        ({"budget__amount": "42.505"}, "budget.amount"),
        ({"bid": "0.755"}, "bid"),
        ({"targeting": {"native": {"criteria": [{"targeting_type": "GENDER"}]}}}, "targeting.native"),
        (
            {
                "targeting": {
                    "native": {
                        "criteria": [
                            {
                                "targeting_type": "GENDER",
                                "targeting_value": "1",
                                "operator_type": "EQ",
                                "line_item_id": "1",
                            }
                        ]
                    }
                }
            },
            "targeting.native",
        ),
    ],
)
def test_what_x_cannot_carry_is_refused(changes: dict[str, Any], path: str) -> None:
    assert path in find_issues(make_brief(**changes))


def test_a_batch_is_never_split() -> None:
    row = {"targeting_type": "FOLLOWERS_OF_USER", "operator_type": "EQ"}
    criteria = [{**row, "targeting_value": str(number)} for number in range(500)]
    whole = make_brief(targeting={"native": {"criteria": criteria}})
    check_brief(NETWORK, ACCOUNT, read_brief(whole))
    assert find_issues({**whole, "targeting": {**whole["targeting"], "keywords": [{"text": "ski"}]}}) == {
        "targeting.native"
    }


def test_the_denomination_is_the_currency_s() -> None:
    for currency, good, bad in (("JPY", "100", "100.5"), ("KWD", "1.125", "1.1255"), ("EUR", "1.25", "1.255")):
        account = evolve(ACCOUNT, currency=currency)
        check_brief(NETWORK, account, read_brief(make_brief(budget__currency=currency, budget__amount=good)))
        assert find_issues(make_brief(budget__currency=currency, budget__amount=bad), account) == {"budget.amount"}


def test_preflight_asks_for_the_instrument_and_the_post() -> None:
    post = f"{BASE}/tweets?timeline_type=ALL&trim_user=true&tweet_ids=1166476031668015104&tweet_type=PUBLISHED"
    others = [
        {"user_id": "1", "promotable_user_type": "FULL"},
        {"user_id": "2", "promotable_user_type": "RETWEETS_ONLY"},
    ]
    answers: dict[str, Any] = {
        f"GET {BASE}/funding_instruments?funding_instrument_ids=k9x2": {
            "data": [{"id": "k9x2", "able_to_fund": True, "currency": "USD"}]
        },
        f"GET {post}": {"data": []},
        f"GET {BASE}/promotable_users?count=1000": {"data": others},
        f"GET {post}&user_id=2": {"data": [{"tweet_id": "1166476031668015104"}]},
    }
    brief = read_brief(make_brief())
    assert run_flow(plans.preflight(ACCOUNT, brief), make_responder(answers)) == ([], [])
    answers[f"GET {post}&user_id=2"] = {"data": []}
    answers[f"GET {BASE}/funding_instruments?funding_instrument_ids=k9x2"]["data"][0]["able_to_fund"] = False
    issues, _ = run_flow(plans.preflight(ACCOUNT, brief), make_responder(answers))
    assert [issue.path for issue in issues] == ["platform.fundingInstrumentId", "creative.existingId"]


# -- the life of what was made ------------------------------------------------------------------------------------


def test_the_line_item_is_activated_before_the_campaign() -> None:
    plan = run_flow(plans.plan_activate(ACCOUNT, make_plan(), {**OUTPUTS, "ad": {"id": "1"}}), make_responder({}))
    assert [build_request_url(step.request) for step in plan.steps] == [
        f"{BASE}/line_items/9cqz1?entity_status=ACTIVE",
        f"{BASE}/campaigns/8wku2?entity_status=ACTIVE",
    ]
    assert plan.risk == "spend"


@pytest.mark.parametrize("status", ["active", "paused"])
def test_a_post_has_no_settable_status(status: str) -> None:
    with pytest.raises(InvalidInput, match="pause the line item or delete"):
        run_flow(plans.plan_status(ACCOUNT, "ad", "1", status), make_responder({}))


def test_a_native_create_is_paused_where_it_can_be() -> None:
    payload = {"name": "A, b", "campaign_id": "8wku2", "objective": "REACH", "product_type": "PROMOTED_TWEETS"}
    more = {"placements": ["TWITTER_SEARCH", "TWITTER_TIMELINE"], "start_time": "2026-12-01T09:00:00Z"}
    plan = plan_native_create("adGroup", payload | more | {"standard_delivery": False})
    query = plan.steps[0].request.query
    assert (query["entity_status"], query["standard_delivery"]) == ("PAUSED", "false")
    assert query["placements"] == "TWITTER_SEARCH,TWITTER_TIMELINE"
    assert plan.risk == "low"
    assert plan_native_create("adGroup", payload | more | {"entity_status": "ACTIVE"}).risk == "spend"
    assert plan_native_create("ad", {"tweet_ids": ["1"]}, "9cqz1").risk == "spend"
    for wrong, path in (({"campaign_id": "other"}, "parentId"), ({"account_id": "1"}, "payload.account_id")):
        with pytest.raises(InvalidInput) as refusal:
            plan_native_create("adGroup", payload | more | wrong, "8wku2")
        assert refusal.value.issues[0].path == path


def test_several_posts_are_all_to_be_answered() -> None:
    step = plan_native_create("ad", {"line_item_id": "9cqz1", "tweet_ids": ["1", "2"]}).steps[0]
    assert classify_write(NETWORK, step, step.request, make_response({"data": [{"id": "a"}, {"id": "b"}]})) == Applied(
        {"id": "a", "id2": "b"}
    )
    assert isinstance(classify_write(NETWORK, step, step.request, make_response({"data": [{"id": "a"}]})), Ambiguous)


def test_deleting_is_promised_to_be_told() -> None:
    plan = run_flow(plans.plan_delete(ACCOUNT, "ad", "1efwlo"), make_responder({}))
    (step,) = plan.steps
    assert (step.request.method, build_request_url(step.request)) == ("DELETE", f"{BASE}/promoted_tweets/1efwlo")
    done = {"data": {"id": "1efwlo", "deleted": True}}
    assert isinstance(classify_write(NETWORK, step, step.request, make_response(done)), Applied)
    assert isinstance(classify_write(NETWORK, step, step.request, make_response({"data": {"id": "1efwlo"}})), Ambiguous)
    assert plan.risk == "destructive"


# -- outcomes -----------------------------------------------------------------------------------------------------


def make_response(body: Any) -> Response:
    return Response(200, {}, round_trip_json(body))


def classify_batch(response: Response) -> StepOutcome:
    step = make_plan().get_step("targeting")
    return classify_write(NETWORK, step, fill_bindings(step, OUTPUTS), response)


def make_error_body(code: str) -> dict[str, Any]:
    return {"errors": [{"code": code, "message": "No.", "parameter": "name"}], "request": {}}


def test_a_batch_answers_in_the_order_sent() -> None:
    outcome = classify_batch(make_response({"data": [{"id": "t1"}, {"id": "t2"}]}))
    assert isinstance(outcome, Applied)
    assert outcome.outputs == {"id": ["t1", "t2"]}


def test_a_batch_with_an_error_is_not_applied_at_all() -> None:
    entry = [{"code": "INVALID_PARAMETER", "message": "No.", "parameter": "targeting_value"}]
    for status in (200, 400):
        outcome = classify_batch(Response(status, {}, round_trip_json({"data": [], "operation_errors": [[], entry]})))
        assert isinstance(outcome, Rejected)
        assert outcome.error.code == "INVALID_PARAMETER"
    both = classify_batch(make_response({"data": [{"id": "t1"}], "operation_errors": [[], entry]}))
    assert isinstance(both, Ambiguous)


@pytest.mark.parametrize("data", [[], [{"id": "t1"}], [{"id": "t1"}, {}], [{"id": "t1"}, {"id": "t1"}]])
def test_a_batch_that_tells_less_than_was_sent_is_ambiguous(data: list[Any]) -> None:
    assert isinstance(classify_batch(make_response({"data": data})), Ambiguous)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "INVALID_PARAMETER", Rejected),
        (401, "UNAUTHORIZED_ACCESS", Rejected),
        (403, "UNAUTHORIZED_CLIENT_APPLICATION", Rejected),
        (404, "LINE_ITEM_NOT_FOUND", Rejected),
        (423, "LOCK_ACQUISITION_TIMEOUT", Throttled),
        (429, "TOO_MANY_REQUESTS", Throttled),
        (408, "CANCELLED_REQUEST", Ambiguous),
        (500, "INTERNAL_ERROR", Ambiguous),
        (503, "OVER_CAPACITY", Ambiguous),
    ],
)
def test_errors_are_judged_as_the_table_says(status: int, code: str, kind: type[StepOutcome]) -> None:
    step = make_plan().get_step("campaign")
    assert type(classify_write(NETWORK, step, step.request, Response(status, {}, make_error_body(code)))) is kind


def test_the_wait_is_until_the_account_s_allowance_is_renewed() -> None:
    date = {"date": "Fri, 20 Nov 2026 12:00:00 GMT"}
    resets = {"x-rate-limit-reset": "1795177000", "x-account-rate-limit-reset": str(1795176000 + 90)}
    step = make_plan().get_step("campaign")

    def get_wait(status: int, headers: Mapping[str, str]) -> float | None:
        outcome = classify_write(
            NETWORK, step, step.request, Response(status, headers, make_error_body("TOO_MANY_REQUESTS"))
        )
        assert isinstance(outcome, Throttled)
        return outcome.retry_after

    assert get_wait(429, date | resets) == 90
    assert get_wait(429, resets) == get_wait(429, date) == 60
    assert get_wait(423, {}) == 5
    assert get_wait(429, date | {"x-rate-limit-reset": "1"}) == 1


def test_a_start_in_the_past_is_told() -> None:
    plan = make_plan(now=NOW, schedule={"startAt": "2026-11-01T09:00:00Z"})
    assert any("past" in warning for warning in plan.warnings)
