"""Which entities of a list may be the planned one, and which items an entity decides."""

from __future__ import annotations

import pytest
from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.hierarchy import ParsedEntity
from adsunify.networks.registry import get_adapter
from adsunify.outcomes.changes import judge_update
from adsunify.outcomes.deciding import ItemDecision, refuse_shared_entities
from adsunify.outcomes.planned import PlannedEntity
from adsunify.outcomes.search import judge_candidates, list_candidates
from adsunify.plans.records import make_plan
from adsunify.values.exact_json import Json
from tests.unit.execution.driving import create

META = get_adapter("meta").network
CAMPAIGN = META.levels[0]
PLANNED = PlannedEntity(None, "campaign", CAMPAIGN, {"name": "Tea", "objective": "OUTCOME_SALES"})
INTENT_AT = 1_800_000_000_000
"""2027-01-15T08:00:00Z."""


def judge(planned: PlannedEntity, **members: Json) -> str:
    native = {"id": "1", "name": "Tea", "objective": "OUTCOME_SALES", **members}
    entity = ParsedEntity("campaign", "1", None, str(native["name"]), "paused", "PAUSED", native)
    return judge_candidates(planned, list_candidates(META, planned, [entity], INTENT_AT, INTENT_AT)).verdict


@pytest.mark.parametrize("created", [None, "soon", 7])
def test_an_entity_without_a_readable_time_of_creation_is_not_missing(created: Json) -> None:
    assert judge(PLANNED, created_time=created) == "undecided"


def test_a_child_of_a_new_parent_is_not_too_old() -> None:
    """The clock of the network may be far behind; below a parent that the operation created this does not matter."""
    before = {"created_time": "2027-01-15T07:00:00+0000"}
    assert judge(PLANNED, **before) == "not_applied"
    assert judge(evolve(PLANNED, is_parent_new=True), **before) == "applied"


@pytest.mark.parametrize(
    ("name", "created", "verdict"),
    [
        ("Tea", "2027-01-15T08:00:01+0000", "applied"),
        ("Tea", "2027-01-15T08:03:00+0000", "undecided"),
        (" tea\u200b", "2027-01-15T09:00:00+0000", "undecided"),
        ("Coffee", "2027-01-15T08:00:01+0000", "undecided"),
        ("Coffee", "2027-01-15T09:00:00+0000", "not_applied"),
    ],
)
def test_names_that_the_network_or_a_person_changed(name: str, created: str, verdict: str) -> None:
    assert judge(PLANNED, name=name, created_time=created) == verdict


def test_one_entity_decides_one_item() -> None:
    twins = [ItemDecision(index, "applied", "It agrees.", "7") for index in range(2)]
    other = ItemDecision(2, "applied", "It agrees.", "8")
    assert [decision.verdict for decision in refuse_shared_entities([*twins, other])] == [
        "undecided",
        "undecided",
        "applied",
    ]


def test_an_update_is_applied_only_if_every_value_is_shown() -> None:
    """A member that stays as it was says nothing about one that the read does not show."""
    step = evolve(create("one"), action="update")
    planned = evolve(PLANNED, members={"name": "Tea", "hidden": "new"}, entity_id="1")
    entity = ParsedEntity("campaign", "1", None, "Tea", "paused", "PAUSED", {"id": "1", "name": "Tea"})
    plan = make_plan("meta", "update", "1001", [step])
    account = Account("meta", "1001")
    assert judge_update(META, account, plan, step, planned, entity).verdict == "undecided"
    complete_entity = evolve(entity, native={**entity.native, "hidden": "new"})
    assert judge_update(META, account, plan, step, planned, complete_entity).verdict == "applied"
