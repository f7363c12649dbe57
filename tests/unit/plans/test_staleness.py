"""The plan of an edit, compared with a plan of the same edit that is made later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from adsunify.errors import InvalidInput, Issue, StaleValue
from adsunify.http.messages import Request
from adsunify.plans.records import Change, Overlay, Plan, Step, make_plan
from adsunify.plans.staleness import compare_plans, describe_refusal
from adsunify.testing.contract.cases import Case, Library, read_cases
from adsunify.testing.contract.plans import make_plan_of_case
from tests.networks.samples import list_case_folders

MIN_EDITS = 10
"""How many cases of edits with a plan each network has."""
PLACE = {"kind": "adGroup", "entityId": "7"}


def as_stored(plan: Plan) -> Plan:
    whole = evolve(plan, edit=PLACE)
    return Plan.from_bytes(whole.canonical_bytes, whole.digest)


def plan_edit(body: Any, *changes: Change, **more: Any) -> Plan:
    request = Request("POST", "https://graph.example/7", body=body, encoding="json", kind="write")
    step = Step("adGroup", "adGroup", "Change it.", request, "update", "7", changes=changes, **more)
    return make_plan("meta", "edit", "act_1", [step])


def members(plan: Plan, present: Plan) -> list[tuple[str, Any, Any]]:
    return [
        (difference.member, difference.planned, difference.found)
        for difference in compare_plans(as_stored(plan), present)
    ]


@pytest.mark.parametrize("folder", list_case_folders(), ids=lambda folder: folder.name)
def test_the_same_edit_has_the_same_plan_at_any_time(folder: Path) -> None:
    """With the same answers of the network, and also if the present time is compared with nothing."""
    cases = [case for case in read_cases(folder) if isinstance(case, Case)]
    library, count = Library.from_files(cases), 0
    for case in cases:
        if case.kind != "edit" or case.refuse:
            continue
        try:
            plan = make_plan_of_case(case, library)
        except InvalidInput:
            continue
        timeless = {name: value for name, value in case.input.items() if name != "now"}
        assert members(plan, make_plan_of_case(evolve(case, input=timeless), library)) == [], case.id
        steps = [
            evolve(step, changes=[evolve(change, before="another") for change in step.changes]) for step in plan.steps
        ]
        changed = {change.field for step in plan.steps for change in step.changes}
        assert {name for name, _, _ in members(evolve(plan, steps=tuple(steps)), plan)} == changed, case.id
        count += 1
    assert count >= MIN_EDITS, f"{folder.name} has {count} cases of edits that are planned; it needs {MIN_EDITS}"


def test_values_before_are_compared_by_what_they_mean() -> None:
    plan = plan_edit({}, Change("endAt", "2030-01-01T00:00:00Z", None), Change("countries", ["DE", "US"], ["US"]))
    same = plan_edit({}, Change("endAt", "2030-01-01T01:00:00+01:00", None), Change("countries", ["US", "DE"], ["US"]))
    assert members(plan, same) == []
    other = plan_edit({}, Change("endAt", None, None), Change("bid", "1", None))
    assert members(plan, other) == [
        ("endAt", "2030-01-01T00:00:00Z", None),
        ("countries", ["DE", "US"], None),
        ("bid", None, "1"),
    ]


def test_writes_are_compared_where_the_values_before_agree() -> None:
    """Members of objects by their pointers; an overlay by its own ones."""
    change = Change("genders", [], [1])
    plan = plan_edit({"targeting": {"genders": [1], "geo": {"countries": ["US"]}}}, change)
    beside = plan_edit({"targeting": {"genders": [1], "geo": {"countries": ["US", "CA"]}, "age_min": 30}}, change)
    assert members(plan, beside) == [
        ("/targeting/geo/countries", ["US"], ["US", "CA"]),
        ("/targeting/age_min", None, 30),
    ]
    read = Request("GET", "https://graph.example/7")
    overlays = [Overlay(read, "", "/body", changes={"/a/b": value}, remove=("/c",)) for value in (1, 2)]
    assert members(*(plan_edit({}, change, overlay=overlay) for overlay in overlays)) == [("/a/b", 1, 2)]


def test_a_refusal_says_what_was_found() -> None:
    plan = as_stored(plan_edit({}, Change("budget", "20", "30"), Change("targeting.genders", [], [1])))
    issues = [
        Issue("fields.budget", "no_change", "It has this value already."),
        Issue("targeting.genders", "locked", "It is archived."),
        Issue("entityId", "deleted", "It is deleted."),
    ]
    assert list(describe_refusal(plan, issues)) == [
        StaleValue("adGroup", "7", "budget", "20", "30"),
        StaleValue("adGroup", "7", "targeting.genders", [], "It is archived."),
        StaleValue("adGroup", "7", "entityId", None, "It is deleted."),
    ]
