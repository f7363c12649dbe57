"""Edits at X: fields of a campaign or line item, and the targeting of a line item as one batch."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from adsunify.adapter.edits import Edit, Percentage
from adsunify.adapter.flows import run_flow
from adsunify.adapter.settings import build_settings
from adsunify.errors import InvalidInput
from adsunify.http.messages import build_request_url
from adsunify.networks.x import plans, reads
from adsunify.networks.x.tables import NETWORK
from adsunify.plans.records import Plan
from tests.networks.calls import make_responder

from .calls import ACCOUNT, API, BASE, CAMPAIGN, LINE_ITEM, NOW

CRITERIA = f"GET {BASE}/targeting_criteria?count=1000&line_item_ids=9cqz1"


def make_criterion(id_: str, type_: str, value: str, operator: str = "EQ") -> dict[str, str]:
    return {"id": id_, "targeting_type": type_, "targeting_value": value, "operator_type": operator}


TARGETING_CRITERIA = [
    make_criterion("t1", "LOCATION", "fr"),
    make_criterion("t2", "LOCATION", "de"),
    make_criterion("t3", "LOCATION", "paris", "NE"),
    make_criterion("t4", "PHRASE_KEYWORD", "ski boots"),
    make_criterion("t5", "AGE", "AGE_25_TO_49"),
]


def plan_edit(kind: Any, native: dict[str, Any], criteria: list[Any] | None = None, **parts: Any) -> Plan:
    answers: dict[str, Any] = {
        f"GET {BASE}/campaigns/8wku2": {"data": native},
        f"GET {BASE}/line_items/9cqz1": {"data": native},
        CRITERIA: {"data": (criteria or [])[:2], "next_cursor": "more"},
        f"{CRITERIA}&cursor=more": {"data": (criteria or [])[2:], "next_cursor": None},
    }
    return run_flow(plans.plan_edit(ACCOUNT, kind, native["id"], Edit(**parts), NOW), make_responder(answers))


def find_edit_issues(kind: Any, native: dict[str, Any], **parts: Any) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        plan_edit(kind, native, **parts)
    return {issue.path for issue in refusal.value.issues}


# -- fields -------------------------------------------------------------------------------------------------------


def test_a_budget_is_raised_in_micros() -> None:
    plan = plan_edit("campaign", CAMPAIGN, fields={"budget": Percentage("increase", Decimal(10)), "name": "New"})
    (step,) = plan.steps
    assert (
        build_request_url(step.request) == f"{BASE}/campaigns/8wku2?daily_budget_amount_local_micro=46750000&name=New"
    )
    assert [(change.field, change.before, change.after) for change in step.changes] == [
        ("name", "Winter sale", "New"),
        ("budget", "42.5", "46.75"),
    ]
    assert plan.risk == "spend"
    assert plan_edit("campaign", CAMPAIGN, fields={"budget": "40"}).risk == "low"


def test_the_budget_is_the_one_in_use() -> None:
    lifetime = CAMPAIGN | {"daily_budget_amount_local_micro": None, "total_budget_amount_local_micro": 750_000_000}
    plan = plan_edit("campaign", lifetime, fields={"budget": "700"})
    assert plan.steps[0].request.query == {"total_budget_amount_local_micro": "700000000"}
    assert find_edit_issues("campaign", lifetime, fields={"lifetimeBudget": "1"}) == {"fields.lifetimeBudget"}
    both = plan_edit("campaign", CAMPAIGN, fields={"lifetimeBudget": "750"})
    assert both.steps[0].request.query == {"total_budget_amount_local_micro": "750000000"}
    assert find_edit_issues("campaign", CAMPAIGN, fields={"lifetimeBudget": "40"}) == {"fields.budget"}
    assert find_edit_issues("adGroup", LINE_ITEM, fields={"budget": "1"}) == {"fields.budget"}


def test_activating_by_an_edit_spends() -> None:
    assert plan_edit("campaign", CAMPAIGN, fields={"entity_status": "ACTIVE"}).risk == "spend"


def test_a_strategy_unlocks_its_bid() -> None:
    plan = plan_edit("adGroup", LINE_ITEM, fields={"bid": "0.75", "bidStrategy": "MAX"})
    assert plan.steps[0].request.query == {"bid_amount_local_micro": "750000", "bid_strategy": "MAX"}


def test_the_end_is_sent_in_utc_and_taken_away_by_an_empty_value() -> None:
    plan = plan_edit("adGroup", LINE_ITEM, fields={"endAt": "2026-12-31T10:00:00+01:00"})
    assert plan.steps[0].request.query == {"end_time": "2026-12-31T09:00:00Z"}
    ended = LINE_ITEM | {"end_time": "2026-12-31T09:00:00Z"}
    assert build_request_url(plan_edit("adGroup", ended, fields={"endAt": ""}).steps[0].request).endswith(
        "/9cqz1?end_time="
    )


@pytest.mark.parametrize(
    ("kind", "native", "fields", "path"),
    [
        ("campaign", CAMPAIGN, {"startAt": "2026-12-01T09:00:00Z"}, "startAt"),
        ("campaign", CAMPAIGN, {"currency": "EUR"}, "currency"),
        ("campaign", CAMPAIGN, {"budget": "40.005"}, "budget"),
        ("campaign", CAMPAIGN, {"purchase_order_number": "1" * 51}, "purchase_order_number"),
        ("adGroup", LINE_ITEM, {"bid": "1"}, "bid"),
        ("adGroup", LINE_ITEM, {"bidStrategy": "MAX"}, "bid"),
        ("adGroup", LINE_ITEM, {"bidStrategy": "TARGET", "bid": "1"}, "bidStrategy"),
        ("adGroup", LINE_ITEM | {"objective": "REACH"}, {"bidStrategy": "MAX", "bid": "1"}, "bidStrategy"),
        ("adGroup", LINE_ITEM | {"objective": "REACH"}, {"frequencyCap": "3"}, "duration_in_days"),
        ("adGroup", LINE_ITEM, {"frequencyCap": "3", "duration_in_days": "7"}, "frequencyCap"),
        ("adGroup", LINE_ITEM, {"endAt": "2026-11-01T09:00:00Z"}, "endAt"),
        ("adGroup", LINE_ITEM, {"endAt": "2026-12-01T09:00:00Z"}, "endAt"),
        ("adGroup", LINE_ITEM, {"placements": "TWITTER_SEARCH"}, "placements"),
        ("adGroup", LINE_ITEM, {"goal": "SITE_VISITS"}, "goal"),
    ],
)
def test_what_is_locked_or_contradicts_is_refused(kind: Any, native: Any, fields: Any, path: str) -> None:
    assert f"fields.{path}" in find_edit_issues(kind, native, fields=fields)


def test_a_post_is_neither_edited_nor_swapped() -> None:
    assert find_edit_issues("ad", {"id": "1"}, creative={"existingId": "2"}) == {"creative"}
    with pytest.raises(InvalidInput, match="delete it"):
        run_flow(plans.plan_update(ACCOUNT, "ad", "1", {"tweet_id": "2"}, None), make_responder({}))


# -- targeting ----------------------------------------------------------------------------------------------------


def test_only_the_kinds_that_are_named_are_compared() -> None:
    targeting = {"locations": [{"id": "de", "name": "Germany"}, {"id": "es", "name": "Spain"}], "ageMin": 35}
    (step,) = plan_edit("adGroup", LINE_ITEM, TARGETING_CRITERIA, targeting={**targeting, "ageMax": 54}).steps
    assert build_request_url(step.request) == f"{API}/batch/accounts/abc12/targeting_criteria"
    assert step.request.body == [
        {
            "operation_type": "Create",
            "params": {
                "line_item_id": "9cqz1",
                "targeting_type": type_,
                "targeting_value": value,
                "operator_type": "EQ",
            },
        }
        for type_, value in (("LOCATION", "es"), ("AGE", "AGE_35_TO_54"))
    ] + [{"operation_type": "Delete", "params": {"targeting_criterion_id": id_}} for id_ in ("t1", "t5")]
    assert [(change.field, change.before, change.after) for change in step.changes] == [
        ("locations", ["fr", "de"], ["de", "es"]),
        ("age", ["AGE_25_TO_49"], ["AGE_35_TO_54"]),
    ]


def test_an_age_of_65_sets_no_upper_end() -> None:
    (step,) = plan_edit("adGroup", LINE_ITEM, TARGETING_CRITERIA, targeting={"ageMin": 35, "ageMax": 65}).steps
    assert [(change.field, change.before, change.after) for change in step.changes] == [
        ("age", ["AGE_25_TO_49"], ["AGE_OVER_35"])
    ]


def test_fields_and_targeting_are_two_steps() -> None:
    plan = plan_edit(
        "adGroup", LINE_ITEM, TARGETING_CRITERIA, fields={"name": "New"}, targeting={"genders": ["female"]}
    )
    assert [step.key for step in plan.steps] == ["adGroup", "targeting"]


def test_taking_all_targeting_away_is_warned_of() -> None:
    plan = plan_edit("adGroup", LINE_ITEM, TARGETING_CRITERIA[2:3], targeting={"excludedLocations": []})
    assert "worldwide" in plan.warnings[0]


@pytest.mark.parametrize(
    ("targeting", "path"),
    [
        ({"locations": []}, "targeting.locations"),
        ({"ageMin": 30}, "targeting.ageMin"),
        ({"genders": ["unknown"]}, "targeting.genders"),
        ({"placements": [{"id": "TWITTER_SEARCH", "name": "S"}]}, "targeting.placements"),
        ({"locations": [{"id": "fr", "name": "F", "radiusKm": 5}]}, "targeting.locations.0.radiusKm"),
        ({"interests": [{"id": str(number), "name": "I"} for number in range(501)]}, "targeting"),
    ],
)
def test_targeting_that_cannot_be_said_is_refused(targeting: Any, path: str) -> None:
    assert find_edit_issues("adGroup", LINE_ITEM, targeting=targeting) == {path}


def test_targeting_stands_on_line_items() -> None:
    assert find_edit_issues("campaign", CAMPAIGN, targeting={"ageMin": 18}) == {"targeting"}


def test_an_edit_that_changes_nothing_is_refused() -> None:
    assert find_edit_issues("adGroup", LINE_ITEM, targeting={"genders": []}) == {"targeting.genders"}


# -- settings -----------------------------------------------------------------------------------------------------


def test_settings_show_the_targeting_and_what_is_locked() -> None:
    answers = {
        f"GET {BASE}/line_items/9cqz1": {"data": LINE_ITEM},
        CRITERIA: {"data": TARGETING_CRITERIA, "next_cursor": None},
    }
    entity = run_flow(reads.fetch_editable_entity(ACCOUNT, "adGroup", "9cqz1"), make_responder(answers))
    settings = build_settings(NETWORK, ACCOUNT, "9cqz1", entity, NOW)
    assert settings["targeting"]["targeting_criteria"] == TARGETING_CRITERIA
    fields = {field["field"]: field for field in settings["fields"]}
    assert "AUTO" in fields["bid"]["locked"]
    assert fields["name"]["locked"] is None
