"""What the levels of the twelve networks do not reach: a status of two flags that a deletion sets, and its refusals."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from attrs import evolve

from adsunify.adapter import lifecycle
from adsunify.adapter.account import Account
from adsunify.adapter.hierarchy import parse_entity
from adsunify.adapter.network import Level, NativeEntity, PayloadRules
from adsunify.errors import InvalidInput
from adsunify.http.messages import Request
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import Step
from adsunify.values.exact_json import Json

ACCOUNT = Account("toy", "1")


def read_flags(entity: NativeEntity) -> str | None:
    if entity.get("removed") is True:
        return "gone"
    return {True: "on", False: "off"}.get(entity.get("running", ""))


LINE = Level(
    *("campaign", "line", "lines", "/id", "/name", read_flags),
    unified_statuses={"on": "active", "off": "paused", "gone": "deleted"},
    writable_statuses={"active": "on", "paused": "off"},
    initial_status="off",
    status_members={"on": {"running": True}, "off": {"running": False}, "gone": {"removed": True}},
    deletion_statuses={"": "gone"},
    payload=PayloadRules(create=("name", "running")),
)
NETWORK = evolve(get_adapter("reddit").network, title="Toy", levels=(LINE,), settings=())


def build_update_step(account: Account, level: Level, entity_id: str, does: str, members: Mapping[str, Json]) -> Step:
    request = Request("PUT", "https://toy.example/{id}", {"id": entity_id}, body=dict(members), encoding="json")
    return Step(level.kind, level.kind, does, request, "update", entity_id)


@pytest.mark.parametrize(
    ("flags", "native", "unified"),
    [
        ({"running": True, "removed": False}, "on", "active"),
        ({"running": False}, "off", "paused"),
        ({"running": True, "removed": True}, "gone", "deleted"),
        ({"running": "yes"}, None, None),
    ],
)
def test_two_flags_are_read_as_one_status(flags: Mapping[str, Json], native: str | None, unified: str | None) -> None:
    entity = parse_entity(LINE, {"id": "7", **flags})
    assert (entity.native_status, entity.status) == (native, unified)


@pytest.mark.parametrize(("status", "sent"), [("active", {"running": True}), ("paused", {"running": False})])
def test_a_status_is_written_as_its_flag(status: str, sent: Mapping[str, Json]) -> None:
    step = lifecycle.build_status_step(build_update_step, ACCOUNT, LINE, "7", status)
    assert step.request.body == sent


def test_a_deletion_sets_the_status_of_the_table() -> None:
    entity = parse_entity(LINE, {"id": "7", "running": True})
    step = lifecycle.build_deletion_step(build_update_step, ACCOUNT, LINE, entity)
    assert (step.request.body, step.action) == ({"removed": True}, "delete")
    assert [(change.before, change.after) for change in step.changes] == [("on", "gone")]


@pytest.mark.parametrize(
    ("payload", "members", "risk"),
    [
        ({"name": "A"}, {"name": "A", "running": False}, "low"),
        ({"running": True}, {"running": True}, "spend"),
    ],
)
def test_a_native_create_is_off_unless_its_flag_says_otherwise(
    payload: Mapping[str, Json], members: Mapping[str, Json], risk: str
) -> None:
    create = lifecycle.prepare_native_create(NETWORK, LINE, payload, None)
    assert (create.members, create.risk) == (members, risk)


@pytest.mark.parametrize(
    ("payload", "risk"),
    [({"removed": True}, "destructive"), ({"running": True}, "spend"), ({"limit": 1}, "low")],
)
def test_the_risk_of_an_update_follows_from_its_flags_and_amounts(payload: Mapping[str, Json], risk: str) -> None:
    assert lifecycle.assess_payload_risk(LINE, payload) == risk


@pytest.mark.parametrize(("name", "hint"), [("nmae", "Did you mean name?"), ("color", "It accepts name, running.")])
def test_the_refusal_of_an_unknown_member_names_what_is_taken(name: str, hint: str) -> None:
    with pytest.raises(InvalidInput, match=hint):
        lifecycle.prepare_native_create(NETWORK, LINE, {name: 1}, None)
