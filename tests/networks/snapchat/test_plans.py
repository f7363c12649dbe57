"""The Snapchat adapter: plans as the Ads API documents them, refusals, outcomes, native writes, edits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.network import split_words
from adsunify.errors import InvalidInput, ProviderNotFound, ProviderThrottled, ProviderUnreadable
from adsunify.execution.outcomes import Ambiguous, Applied, Rejected, Throttled, classify_write
from adsunify.http.messages import Response, build_request_url
from adsunify.models.brief import read_brief
from adsunify.networks.snapchat import plans
from adsunify.networks.snapchat.native import READ_ONLY_MEMBERS
from adsunify.networks.snapchat.tables import NETWORK
from adsunify.planning import plan_create
from adsunify.plans.binding import apply_overlay, fill_bindings
from adsunify.plans.records import Plan, Step
from tests.networks.calls import make_response, run

from .calls import (
    ACCOUNT,
    AD,
    API,
    CAMPAIGN,
    CREATIVE,
    ID,
    NOW,
    SQUAD,
    find_issues,
    make_creative,
    make_item_error,
    make_plan,
    wrap_entities,
)

OUTPUTS = {"campaign": {"id": CAMPAIGN}, "adGroup": {"id": SQUAD}, "ad": {"id": AD}}
TIMES = {"start_time": "2026-12-01T08:00:00.000Z", "end_time": "2026-12-20T22:59:00.000Z"}
US: dict[str, Any] = {"targeting__countries": ["US"]}
LOCALE: dict[str, Any] = {"platform__locale": {"country": "US", "language": "en"}}


# -- create -----------------------------------------------------------------------------------------------------------


def test_the_plan_is_what_the_documentation_shows() -> None:
    plan = make_plan()
    requests = [fill_bindings(step, OUTPUTS) for step in plan.steps]
    assert [(request.method, build_request_url(request), request.kind) for request in requests] == [
        ("POST", f"{API}/adaccounts/{ID}/campaigns", "write"),
        ("POST", f"{API}/campaigns/{CAMPAIGN}/adsquads", "write"),
        ("POST", f"{API}/adsquads/{SQUAD}/ads", "write"),
    ]
    campaign = {
        "ad_account_id": ID,
        "name": "Winter launch",
        "status": "PAUSED",
        "buy_model": "AUCTION",
        **TIMES,
        "objective_v2_properties": {"objective_v2_type": "AWARENESS_AND_ENGAGEMENT"},
    }
    squad = {
        "campaign_id": CAMPAIGN,
        "name": "Winter launch",
        "type": "SNAP_ADS",
        "status": "PAUSED",
        "placement_v2": {"config": "AUTOMATIC"},
        "billing_event": "IMPRESSION",
        "optimization_goal": "IMPRESSIONS",
        "bid_strategy": "LOWEST_COST_WITH_MAX_BID",
        "bid_micro": 4250000,
        "lifetime_budget_micro": 900000000,
        **TIMES,
        "targeting": {"geos": [{"country_code": "gb"}]},
    }
    ad = {
        "ad_squad_id": SQUAD,
        "creative_id": CREATIVE,
        "name": "Winter launch",
        "type": "REMOTE_WEBPAGE",
        "status": "PAUSED",
    }
    assert [request.body for request in requests] == [{"campaigns": [campaign]}, {"adsquads": [squad]}, {"ads": [ad]}]
    assert (plan.warnings, plan.risk) == ((), "low")


def test_what_a_step_waits_for_stands_beside_it() -> None:
    squad = make_plan().get_step("adGroup")
    assert build_request_url(squad.request) == f"{API}/campaigns/{{campaign_id}}/adsquads"
    assert "campaign_id" not in squad.request.body["adsquads"][0]
    assert [binding.to for binding in squad.bindings] == ["/path/campaign_id", "/body/adsquads/0/campaign_id"]


def make_squad(**changes: Any) -> Mapping[str, Any]:
    squad: Mapping[str, Any] = make_plan(**changes).get_step("adGroup").request.body["adsquads"][0]
    return squad


def test_without_a_bid_snap_bids() -> None:
    squad = make_squad(bid=None)
    assert squad["bid_strategy"] == "AUTO_BID"
    assert "bid_micro" not in squad


def test_a_daily_budget_needs_no_end() -> None:
    squad = make_squad(budget__period="daily", schedule__endAt=None)
    assert squad["daily_budget_micro"] == 900_000_000
    assert {"lifetime_budget_micro", "end_time"}.isdisjoint(squad)
    assert find_issues(schedule__endAt=None) == {"schedule.endAt"}


@pytest.mark.parametrize("period", ["daily", "lifetime"])
def test_a_budget_has_a_floor(period: str) -> None:
    assert find_issues(budget__amount="4.999999", budget__period=period) == {"budget.amount"}
    assert make_squad(budget__amount="5", budget__period=period)[f"{period}_budget_micro"] == 5_000_000


def test_micros_are_held_exactly_and_yen_have_them_too() -> None:
    assert make_squad(budget__amount="5.000001")["lifetime_budget_micro"] == 5_000_001
    yen = evolve(ACCOUNT, currency="JPY")
    assert make_squad(account=yen, budget__currency="JPY")["lifetime_budget_micro"] == 900_000_000


@pytest.mark.parametrize(
    ("changes", "geos"),
    [
        ({"targeting__countries": ["GB"]}, [{"country_code": "gb"}]),
        (
            {"targeting__countries": None, "targeting__locationIds": ["us:region:1", "us:region:2", "us:metro:3"]},
            [{"country_code": "us", "region_id": ["1", "2"]}, {"country_code": "us", "metro_id": ["3"]}],
        ),
        (
            {"targeting__countries": None, "targeting__locationIds": ["us:postal:10001"]},
            [{"country_code": "us", "postal_code": ["10001"]}],
        ),
        (
            {"targeting__countries": ["US"], "targeting__locationIds": ["ca:region:9"], **LOCALE},
            [
                {"country_code": "us", "operation": "INCLUDE"},
                {"country_code": "ca", "region_id": ["9"], "operation": "INCLUDE"},
            ],
        ),
    ],
)
def test_places(changes: Mapping[str, Any], geos: list[Any]) -> None:
    assert make_squad(**changes)["targeting"]["geos"] == geos


def test_several_countries_need_one_language() -> None:
    assert find_issues(targeting__countries=["US", "CA"]) == {"platform.locale"}
    targeting = make_squad(targeting__countries=["US", "CA"], **LOCALE)["targeting"]
    assert targeting["demographics"] == [{"languages": ["en"]}]
    assert make_squad(**US, **LOCALE)["targeting"]["demographics"] == [{"languages": ["en"]}]


def test_a_locale_is_of_a_country_that_is_targeted() -> None:
    assert find_issues(**LOCALE) == {"platform.locale"}
    assert find_issues(targeting={"native": {"geos": [{"country_code": "us"}]}}, **LOCALE) == {"platform.locale"}


@pytest.mark.parametrize(
    ("targeting", "path"),
    [
        ({}, "targeting.countries"),
        ({"locationIds": ["1014221"]}, "targeting.locationIds"),
        ({"locationIds": ["US:region:1"]}, "targeting.locationIds"),
        ({"countries": ["US"], "locationIds": ["us:region:1"]}, "targeting.locationIds"),
        ({"locationIds": ["us", "us:metro:1"]}, "targeting.locationIds"),
        ({"countries": ["US"], "keywords": [{"text": "tea"}]}, "targeting.keywords"),
        ({"native": {"demographics": [{"gender": "MALE"}]}}, "targeting.native"),
        ({"native": {"geos": [{"country_code": "us"}], "cities": []}}, "targeting.native"),
    ],
)
def test_targeting_that_is_refused(targeting: Mapping[str, Any], path: str) -> None:
    assert find_issues(targeting=targeting) == {path}


def test_native_targeting_goes_as_it_is() -> None:
    native = {"geos": [{"country_code": "us"}], "interests": [{"category_id": ["SLC_1"]}]}
    plan = make_plan(targeting={"native": native})
    assert plan.get_step("adGroup").request.body["adsquads"][0]["targeting"] == native
    assert "auto_expansion_options" in plan.warnings[0]


def test_special_ad_categories() -> None:
    categories: dict[str, Any] = {"platform__specialAdCategories": ["HOUSING"]}
    campaign = make_plan(**categories).get_step("campaign").request.body["campaigns"][0]
    assert campaign["regulations"] == {"restricted_delivery_signals": True}
    off = evolve(ACCOUNT, extras={"restrictedDeliverySignals": "false"})
    assert find_issues(off, **categories) == {"platform.specialAdCategories"}
    assert find_issues(platform__specialAdCategories=["POLITICS"]) == {"platform.specialAdCategories"}


@pytest.mark.parametrize("member", split_words("headline body url imageUrl imageHash"))
def test_an_existing_creative_brings_its_own(member: str) -> None:
    content: dict[str, Any] = {f"creative__{member}": "https://tea.example/"}
    assert find_issues(**content) == {f"creative.{member}"}


@pytest.mark.parametrize(
    ("kind", "type_", "warned"),
    [("SNAP_AD", "SNAP_AD", 0), ("COMPOSITE", "STORY", 0), ("WEB_VIEW", "REMOTE_WEBPAGE", 0), ("REMINDER",) * 2 + (1,)],
)
def test_the_ad_is_called_as_its_creative_demands(kind: str, type_: str, warned: int) -> None:
    plan = make_plan(creative_response=make_creative(type=kind))
    assert plan.get_step("ad").request.body["ads"][0]["type"] == type_
    assert len(plan.warnings) == warned


@pytest.mark.parametrize(
    "members",
    [
        {"type": "LENS"},
        {"type": "APP_INSTALL"},
        {"type": "PREVIEW"},
        {"ad_account_id": "other"},
        {"review_status": "REJECTED"},
        {"packaging_status": "FAILED"},
    ],
)
def test_a_creative_that_cannot_be_promoted_is_refused(members: Mapping[str, Any]) -> None:
    assert find_issues(creative_response=make_creative(**members)) == {"creative.existingId"}


def test_a_creative_that_is_not_there_is_refused() -> None:
    assert find_issues(creative_response=make_response({"request_status": "ERROR"}, 404)) == {"creative.existingId"}


def test_a_creative_that_is_being_packaged_is_waited_for() -> None:
    with pytest.raises(ProviderThrottled) as later:
        make_plan(creative_response=make_creative(packaging_status="PENDING"))
    assert (later.value.code, later.value.retry_after) == ("media_processing", 5.0)


def test_a_start_in_the_past_is_sent_with_a_warning() -> None:
    plan = make_plan(now=datetime(2026, 12, 2, tzinfo=UTC))
    assert plan.get_step("campaign").request.body["campaigns"][0]["start_time"] == TIMES["start_time"]
    assert len(plan.warnings) == 1


@pytest.mark.parametrize("path", sorted(Path("examples/briefs").glob("snapchat-*.json")), ids=lambda path: path.stem)
def test_the_example_briefs_plan(path: Path) -> None:
    account = Account("snapchat", ID, "USD", "Etc/UTC")
    plan, _ = run(plan_create(account, read_brief(path.read_bytes()), NOW), make_creative())
    assert [step.key for step in plan.steps] == ["campaign", "adGroup", "ad"]


# -- outcomes ---------------------------------------------------------------------------------------------------------


def classify_response(step: Step, answer: Response) -> Any:
    return classify_write(NETWORK, step, step.request, answer)


def test_a_success_is_one_on_both_levels_with_an_id() -> None:
    step = make_plan().get_step("campaign")
    assert classify_response(step, wrap_entities("campaigns", "campaign", {"id": CAMPAIGN})) == Applied(
        {"id": CAMPAIGN}, classify_response(step, wrap_entities("campaigns", "campaign", {"id": CAMPAIGN})).items
    )
    for body in (
        {"campaigns": [{"sub_request_status": "SUCCESS", "campaign": {"id": CAMPAIGN}}]},
        {"request_status": "SUCCESS", "campaigns": [{"campaign": {"id": CAMPAIGN}}]},
        {"request_status": "SUCCESS", "campaigns": [{"sub_request_status": "SUCCESS", "campaign": {}}]},
        {"request_status": "PARTIAL", "campaigns": [{"sub_request_status": "SUCCESS", "campaign": {"id": CAMPAIGN}}]},
        {"request_status": "SUCCESS", "campaigns": []},
        {"request_status": "ERROR", "error_code": "E9999"},
    ):
        assert isinstance(classify_response(step, make_response(body)), Ambiguous), body


def test_a_refused_item_inside_a_success() -> None:
    step = make_plan().get_step("campaign")
    outcome = classify_response(step, make_item_error("campaigns", "Error code: E2004, message: name is too long"))
    assert isinstance(outcome, Rejected)
    assert (outcome.error.code, outcome.error.request_id) == ("E2004", "req-2")
    assert isinstance(classify_response(step, make_item_error("campaigns", "the objective is not available")), Rejected)


def test_an_error_beside_an_id_tells_nothing() -> None:
    item = {"sub_request_status": "ERROR", "sub_request_error_reason": "E2004", "campaign": {"id": CAMPAIGN}}
    step = make_plan().get_step("campaign")
    assert isinstance(
        classify_response(step, make_response({"request_status": "ERROR", "campaigns": [item]})), Ambiguous
    )


def test_what_is_not_ready_may_go_later() -> None:
    step = make_plan().get_step("ad")
    for status in (200, 400):
        outcome = classify_response(
            step, make_item_error("ads", "The media of the creative hasn't been uploaded yet", status)
        )
        assert isinstance(outcome, Throttled)
        assert outcome.retry_after == 5.0


@pytest.mark.parametrize(("headers", "seconds"), [({}, None), ({"retry_after": "7"}, 7.0)])
def test_too_many_requests(headers: Mapping[str, str], seconds: float | None) -> None:
    outcome = classify_response(make_plan().get_step("ad"), make_response({"request_status": "ERROR"}, 429, **headers))
    assert isinstance(outcome, Throttled)
    assert outcome.retry_after == seconds


@pytest.mark.parametrize(("status", "blame"), [(400, "input"), (401, "token"), (403, "permission"), (404, "not_found")])
def test_refusals_by_status(status: int, blame: str) -> None:
    body = {"request_status": "ERROR", "error_code": "E2001", "debug_message": "No.", "request_id": "req-3"}
    outcome = classify_response(make_plan().get_step("ad"), make_response(body, status))
    assert isinstance(outcome, Rejected)
    assert (outcome.blame, outcome.error.code, outcome.error.message) == (blame, "E2001", "No.")


# -- status and activation --------------------------------------------------------------------------------------------

READ = {
    "id": CAMPAIGN,
    "ad_account_id": ID,
    "name": "Winter launch",
    "status": "PAUSED",
    "daily_budget_micro": 25_000_000,
    **dict.fromkeys(READ_ONLY_MEMBERS, "x"),
}


def test_activation_goes_from_the_leaf_to_the_root() -> None:
    plan, requests = run(plans.plan_activate(ACCOUNT, make_plan(), OUTPUTS))
    assert (requests, plan.risk) == ([], "spend")
    assert [(step.key, step.request.method, build_request_url(step.request)) for step in plan.steps] == [
        ("activate_ad", "PUT", f"{API}/adsquads/{SQUAD}/ads"),
        ("activate_adGroup", "PUT", f"{API}/campaigns/{CAMPAIGN}/adsquads"),
        ("activate_campaign", "PUT", f"{API}/adaccounts/{ID}/campaigns"),
    ]
    assert [build_request_url(step.overlay.read_request) for step in plan.steps if step.overlay] == [
        f"{API}/ads/{AD}",
        f"{API}/adsquads/{SQUAD}?return_placement_v2=true",
        f"{API}/campaigns/{CAMPAIGN}",
    ]


def test_an_update_replaces_the_whole_as_it_was_read() -> None:
    plan, _ = run(plans.plan_status(ACCOUNT, "campaign", CAMPAIGN, "active"))
    step = plan.steps[0]
    request = apply_overlay(step, step.request, wrap_entities("campaigns", "campaign", READ))
    members = {name: value for name, value in READ.items() if name not in READ_ONLY_MEMBERS}
    assert request.body == {"campaigns": [members | {"status": "ACTIVE"}]}
    assert isinstance(
        classify_write(NETWORK, step, request, wrap_entities("campaigns", "campaign", READ | {"status": "ACTIVE"})),
        Applied,
    )
    other = wrap_entities("campaigns", "campaign", {"id": SQUAD})
    assert isinstance(classify_write(NETWORK, step, request, other), Ambiguous)


def test_the_status_of_an_ad_squad_is_set_under_its_campaign() -> None:
    squad = wrap_entities("adsquads", "adsquad", {"id": SQUAD, "campaign_id": CAMPAIGN})
    campaign = wrap_entities("campaigns", "campaign", {"id": CAMPAIGN, "ad_account_id": ID})
    plan, requests = run(plans.plan_status(ACCOUNT, "adGroup", SQUAD, "paused"), squad, campaign)
    assert [build_request_url(request) for request in requests] == [
        f"{API}/adsquads/{SQUAD}?return_placement_v2=true",
        f"{API}/campaigns/{CAMPAIGN}",
    ]
    assert build_request_url(plan.steps[0].request) == f"{API}/campaigns/{CAMPAIGN}/adsquads"
    assert plan.risk == "low"
    with pytest.raises(ProviderNotFound):
        run(plans.plan_status(ACCOUNT, "adGroup", SQUAD, "paused"), make_response({"request_status": "ERROR"}, 404))
    with pytest.raises(ProviderUnreadable):
        run(plans.plan_status(ACCOUNT, "adGroup", SQUAD, "paused"), wrap_entities("adsquads", "adsquad", {"id": SQUAD}))


# -- native -----------------------------------------------------------------------------------------------------------


def find_flow_issues(flow: Any, *answers: Response) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        run(flow, *answers)
    return {issue.path for issue in refusal.value.issues}


def test_a_native_entity_is_wrapped_paused_and_put_under_its_parent() -> None:
    plan, _ = run(plans.plan_native_create(ACCOUNT, "adGroup", {"name": "A"}, CAMPAIGN))
    assert build_request_url(plan.steps[0].request) == f"{API}/campaigns/{CAMPAIGN}/adsquads"
    assert plan.steps[0].request.body == {"adsquads": [{"campaign_id": CAMPAIGN, "status": "PAUSED", "name": "A"}]}
    plan, _ = run(plans.plan_native_create(ACCOUNT, "campaign", {"name": "A", "status": "ACTIVE"}, None))
    assert plan.steps[0].request.body == {"campaigns": [{"ad_account_id": ID, "status": "ACTIVE", "name": "A"}]}
    assert plan.risk == "spend"


def test_native_payloads_that_are_refused() -> None:
    native = plans.plan_native_create
    assert find_flow_issues(native(ACCOUNT, "ad", {"name": "A"}, None)) == {"parentId"}
    assert find_flow_issues(native(ACCOUNT, "ad", {"ad_squad_id": "1"}, "2")) == {"parentId"}
    assert find_flow_issues(native(ACCOUNT, "campaign", {}, "2")) == {"parentId"}
    assert find_flow_issues(native(ACCOUNT, "campaign", {"ad_account_id": "2"}, None)) == {"payload.ad_account_id"}
    assert find_flow_issues(native(ACCOUNT, "campaign", {"status": "DELETED"}, None)) == {"payload.status"}
    payload = {"id": "1", "delivery_status": []}
    issues = find_flow_issues(plans.plan_update(ACCOUNT, "campaign", CAMPAIGN, payload, None))
    assert issues == {"payload.id", "payload.delivery_status"}
    assert find_flow_issues(plans.plan_update(ACCOUNT, "campaign", CAMPAIGN, {}, None)) == {"payload"}


def test_a_native_update_is_laid_over_member_by_member() -> None:
    plan, requests = run(plans.plan_update(ACCOUNT, "adGroup", SQUAD, {"bid_micro": 1, "a/b~": None}, CAMPAIGN))
    step = plan.steps[0]
    assert (requests, plan.risk) == ([], "low")
    read = wrap_entities("adsquads", "adsquad", {"id": SQUAD, "campaign_id": CAMPAIGN, "bid_micro": 9})
    body = apply_overlay(step, step.request, read).body["adsquads"][0]
    assert body == {"id": SQUAD, "campaign_id": CAMPAIGN, "bid_micro": 1, "a/b~": None}


@pytest.mark.parametrize(
    ("body", "applied"),
    [
        ({"request_status": "SUCCESS"}, True),
        ({"request_status": "success", "request_id": "r"}, True),
        ({}, False),
        ({"request_status": "PARTIAL"}, False),
        ({"request_status": True}, False),
    ],
)
def test_a_deletion_is_believed_by_its_status_alone(body: Any, applied: bool) -> None:
    plan, _ = run(plans.plan_delete(ACCOUNT, "ad", AD))
    assert (plan.steps[0].request.method, build_request_url(plan.steps[0].request)) == ("DELETE", f"{API}/ads/{AD}")
    assert plan.risk == "destructive"
    restored = Plan.from_bytes(plan.canonical_bytes, plan.digest)
    assert isinstance(classify_response(restored.steps[0], make_response(body)), Applied if applied else Ambiguous)


def test_a_deletion_that_is_refused_inside_a_success() -> None:
    plan, _ = run(plans.plan_delete(ACCOUNT, "ad", AD))
    assert isinstance(
        classify_response(plan.steps[0], make_item_error("ads", "Error code: E2002, message: no")), Rejected
    )
