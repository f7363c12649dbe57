"""Every member of an edit, on every network and level: it changes the plan, or it is refused by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit, Percentage, apply_edit
from adsunify.adapter.flows import run_flow
from adsunify.adapter.network import Setting
from adsunify.adapter.settings import find_lock_reason, get_display_value, list_settings
from adsunify.errors import AdsunifyError, InvalidInput
from adsunify.models.brief import Creative
from adsunify.models.edit import EditTargeting
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.plans.records import ENTITY_KINDS, Kind
from adsunify.testing.contract.cases import Case, Library
from adsunify.testing.contract.conversation import Conversation, UnexpectedRequest
from adsunify.testing.contract.plans import describe_plan, plan_case
from adsunify.values.exact_json import Json, dumps
from adsunify.values.json_pointer import get_value
from tests.networks.samples import LocationType, get_samples, list_own_cases

LEVELS = [
    (code, level.kind)
    for code in ADAPTER_PACKAGES
    for level in get_adapter(code).network.levels
    if level.kind in ENTITY_KINDS
]
NATIVE_UNITS = re.compile("micro|minor|cents?($|_)", re.IGNORECASE)


# -- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_no_field_of_an_edit_carries_a_native_unit(network: str) -> None:
    fields = {setting.field for setting in get_adapter(network).network.settings}
    assert not {field for field in fields if NATIVE_UNITS.search(field)}


@pytest.mark.parametrize(
    ("network", "name", "field"),
    [
        (code, *name_and_field)
        for code in ADAPTER_PACKAGES
        for name_and_field in get_samples(code).native_amounts.items()
    ],
)
def test_a_native_amount_is_refused_with_the_field_to_use(network: str, name: str, field: str) -> None:
    tables = get_adapter(network).network
    levels = {setting.level for setting in tables.settings if setting.field == field and setting.unit == "money"}
    for kind, account, native in list_entities(network):
        if kind not in levels:
            continue
        with pytest.raises(InvalidInput) as refusal:
            apply_edit(tables, account, kind, native, Edit({name: "50000000"}), None)
        (issue,) = refusal.value.issues
        assert (issue.path, issue.code) == (f"fields.{name}", "unknown_field")
        assert "major units" in issue.message and re.search(rf"\b{field}\b", issue.message), issue.message


# -- members ----------------------------------------------------------------------------------------------------------


@cache
def list_edit_cases(network: str, kind: str) -> tuple[Case, ...]:
    """The recorded edits of a level that are planned."""
    cases = (
        case for case in list_own_cases() if case.network == network and case.kind == "edit" and case.refuse is None
    )
    return tuple(
        case for case in cases if case.input["kind"] == kind and "field" not in case.input.get("edit", {"field": ""})
    )


def describe_outcome(case: Case, edit: Mapping[str, Json]) -> Json:
    """The plan of the case with this edit in place of its own; or the paths of a refusal, or what it asks besides."""
    changed_case = evolve(case, input={**case.input, "edit": edit})
    try:
        plan = run_flow(plan_case(changed_case, Library()), Conversation(case.network, case.exchange).answer)
    except UnexpectedRequest:  # it is looked up at the network
        return "asked"
    except InvalidInput as problem:
        return {issue.path for issue in problem.issues}
    return describe_plan(plan)


def set_member(edit: Mapping[str, Json], part: str, name: str, value: Json) -> dict[str, Json]:
    return {**edit, part: {**(edit.get(part) or {}), name: value}}


ITEM = {"id": "zz", "name": "Somewhere"}
SAMPLES: Mapping[str, Json] = {
    "locations": [ITEM],
    "excludedLocations": [ITEM],
    "languages": [ITEM],
    "interests": [ITEM],
    "excludedInterests": [ITEM],
    "devices": [ITEM],
    "placements": [ITEM],
    "ageMin": 34,
    "ageMax": 43,
    "genders": ["unknown"],
}
CREATIVE: Mapping[str, Json] = {
    "existingId": "424242",
    "headline": "Another headline",
    "body": "Another text.",
    "url": "https://another.example/",
    "imageUrl": "https://another.example/a.jpg",
    "imageHash": "another",
    "headlines": ["Another", "And another", "And a third"],
    "descriptions": ["Another text.", "And another."],
}


def test_every_member_of_an_edit_has_a_sample() -> None:
    assert set(SAMPLES) == {member.alias or name for name, member in EditTargeting.model_fields.items()}
    assert set(CREATIVE) == {member.alias or name for name, member in Creative.model_fields.items()}


@pytest.mark.parametrize(("network", "kind"), LEVELS)
def test_every_member_changes_the_plan_or_is_refused(network: str, kind: str) -> None:
    for case in list_edit_cases(network, kind)[:3]:
        edit = case.input["edit"]
        before = describe_outcome(case, edit)
        for part, samples in (("targeting", SAMPLES), ("creative", CREATIVE)):
            for name, value in samples.items():
                after = describe_outcome(case, set_member(edit, part, name, value))
                if isinstance(after, set):
                    own = {path for path in after if path == part or path.startswith(f"{part}.")}
                    assert own, (case.id, part, name, after)
                else:
                    assert after != before, (case.id, part, name)


def list_items(case: Case) -> Iterator[tuple[str, list[Mapping[str, Json]]]]:
    for name, value in (case.input["edit"].get("targeting") or {}).items():
        if isinstance(value, list) and value and isinstance(value[0], Mapping):
            yield name, value


ITEMS = [(case, name) for code, kind in LEVELS for case in list_edit_cases(code, kind) for name, _ in list_items(case)]


@pytest.mark.parametrize(("case", "name"), ITEMS, ids=[f"{case.id}-{name}" for case, name in ITEMS])
def test_every_member_of_an_item_changes_the_plan_or_is_refused(case: Case, name: str) -> None:
    edit = case.input["edit"]
    items = dict(list_items(case))[name]
    plain = [{"id": item["id"], "name": "Somewhere"} for item in items]
    before = describe_outcome(case, set_member(edit, "targeting", name, plain))
    assert not isinstance(before, set), before
    for member, value in (("type", "no such type"), ("radiusKm", 20), ("meta", {"key": "value"}), ("id", "zz")):
        item = {**plain[0], member: value}
        after = describe_outcome(case, set_member(edit, "targeting", name, [item, *plain[1:]]))
        if isinstance(after, set):
            assert all(path.startswith(f"targeting.{name}") for path in after), after
            assert member == "id" or f"targeting.{name}.0.{member}" in after, after
        else:
            assert after != before, member


@pytest.mark.parametrize(
    ("network", "sample"),
    [(code, location_type) for code in ADAPTER_PACKAGES for location_type in get_samples(code).location_types],
    ids=lambda value: value if isinstance(value, str) else value.location,
)
def test_a_type_has_to_be_that_of_the_id(network: str, sample: LocationType) -> None:
    case = list_edit_cases(network, sample.level)[0]
    path = "targeting.locations.0.type"
    for type_, is_refused in ((sample.type, False), (sample.wrong_type, True)):
        items = [{"id": sample.location, "name": "Somewhere", "type": type_}]
        result = describe_outcome(case, {"targeting": {"locations": items}})
        assert (isinstance(result, set) and path in result) is is_refused, result


@pytest.mark.parametrize("network", [code for code in ADAPTER_PACKAGES if get_samples(code).country_level])
def test_a_location_that_names_no_country_is_refused(network: str) -> None:
    samples = get_samples(network)
    case = list_edit_cases(network, samples.country_level)[0]
    path = "targeting.locations.0.id"
    for code, is_refused in (("CA", False), ("ZZ", True), ("UK", True)):
        location = samples.country_in_edit.format(country=code, lower=code.lower())
        result = describe_outcome(case, {"targeting": {"locations": [{"id": location, "name": "Somewhere"}]}})
        assert (isinstance(result, set) and path in result) is is_refused, result


# -- date-only networks -----------------------------------------------------------------------------------------------

DAYS = [
    (code, setting.level)
    for code in ADAPTER_PACKAGES
    for setting in get_adapter(code).network.settings
    if setting.unit == "day"
]


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_only_networks_that_keep_whole_days_have_settings_of_days(network: str) -> None:
    assert (network in dict(DAYS)) == get_adapter(network).network.has_whole_days


@pytest.mark.parametrize(("network", "kind"), dict.fromkeys(DAYS))
@pytest.mark.parametrize("time", ["23:59:59", "00:00:01", "00:00:00.0000001", "00:00:00"])
def test_a_start_is_a_midnight_of_the_account(network: str, kind: str, time: str) -> None:
    attempts = 0
    tables = get_adapter(network).network
    for level_, account, native in list_entities(network):
        (setting,) = (row for row in tables.settings if row.field == "startAt")
        if level_ != kind or account.timezone is None or find_lock_reason(tables, setting, native, None):
            continue
        tables = get_adapter(network).network
        local = ZoneInfo(account.timezone)
        midnights = [datetime(2031, 7, day, tzinfo=local).isoformat() for day in (4, 5)]
        edit = Edit({"startAt": midnights[0].replace("00:00:00", time, 1)})
        if time == "00:00:00":
            result = apply_edit(tables, account, level_, native, edit, None)
            assert [change.after for change in result.changes] == ["2031-07-04"]
        else:
            with pytest.raises(InvalidInput) as refusal:
                apply_edit(tables, account, level_, native, edit, None)
            (issue,) = refusal.value.issues
            assert (issue.path, issue.code) == ("fields.startAt", "over_precision")
            assert all(midnight in issue.message for midnight in midnights), issue.message
        attempts += 1
    assert attempts


@pytest.mark.parametrize(("network", "kind"), dict.fromkeys(DAYS))
def test_an_end_inside_a_day_means_through_that_day_with_a_warning(network: str, kind: str) -> None:
    case = next(
        edit_case
        for edit_case in list_edit_cases(network, kind)
        if "now" in edit_case.input and edit_case.account.timezone
    )
    local = ZoneInfo(case.account.timezone or "UTC")
    for hour, last in ((9, "2031-07-04"), (0, "2031-07-03")):
        end = datetime(2031, 7, 4, hour, tzinfo=local).isoformat()
        plan = run_flow(
            plan_case(evolve(case, input={**case.input, "edit": {"fields": {"endAt": end}}}), Library()),
            Conversation(case.network, case.exchange).answer,
        )
        assert [change.after for step in plan.steps for change in step.changes] == [last]
        assert sum("whole days" in warning and last in warning for warning in plan.warnings) == 1, plan.warnings


# -- no change --------------------------------------------------------------------------------------------------------


@cache
def list_entities(network: str) -> tuple[tuple[Kind, Account, Mapping[str, Json]], ...]:
    """The entities of the recorded settings and edits, as an edit reads them."""
    native_entities: list[tuple[Kind, Account, Mapping[str, Json]]] = []
    for case in list_own_cases():
        if case.network != network or case.kind not in ("settings", "edit"):
            continue
        kind = case.input["kind"]
        flow = get_adapter(network).reads.fetch_editable_entity(case.account, kind, case.input["entityId"])
        try:
            native = run_flow(flow, Conversation(network, case.exchange).answer).native
        except (AdsunifyError, UnexpectedRequest):  # the case is about an entity that cannot be read
            continue
        native_entities.append((kind, case.account, native))
    return tuple(native_entities)


def convert_to_input(setting: Setting, value: Json) -> Any:
    """What a caller would send to set a field to the value that is shown; None where nothing says it."""
    if value is None or value == []:
        return "" if setting.can_clear else None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return dumps(value) if all(isinstance(item, str) for item in value) else None
    return None if isinstance(value, Mapping) else value


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_a_field_set_to_what_it_is_is_refused(network: str) -> None:
    tables, attempts = get_adapter(network).network, 0
    for kind, account, native in list_entities(network):
        for setting in list_settings(tables, kind):
            if setting.field in get_samples(network).fields_of_several_units:  # see the network's own tests
                continue
            value = convert_to_input(setting, get_display_value(tables, account, setting, native))
            if value is None or find_lock_reason(tables, setting, native, None) is not None:
                continue
            with pytest.raises(InvalidInput) as refusal:
                apply_edit(tables, account, kind, native, Edit({setting.field: value}), None)
            codes = {issue.code for issue in refusal.value.issues}
            attempts += codes == {"no_change"}
            assert {issue.path for issue in refusal.value.issues} == {f"fields.{setting.field}"}
    assert attempts > 2


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_a_percentage_that_changes_nothing_is_refused(network: str) -> None:
    tables, codes = get_adapter(network).network, set()
    for kind, account, native in list_entities(network):
        for setting in list_settings(tables, kind):
            if setting.unit == "money" and find_lock_reason(tables, setting, native, None) is None:
                change = Percentage("increase", Decimal("0.0000000001"))
                with pytest.raises(InvalidInput) as refusal:
                    apply_edit(tables, account, kind, native, Edit({setting.field: change}), None)
                codes |= {issue.code for issue in refusal.value.issues}
    assert "no_change" in codes and codes <= {"no_change", "no_current_value", "out_of_range", "too_small"}


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
@pytest.mark.parametrize("name", [" ", "\u200b", "\u3164"])
def test_a_name_that_nobody_can_see_is_refused(network: str, name: str) -> None:
    tables, attempts = get_adapter(network).network, 0
    for kind, account, native in list_entities(network):
        for setting in list_settings(tables, kind):
            if setting.field == "name" and find_lock_reason(tables, setting, native, None) is None:
                with pytest.raises(InvalidInput) as refusal:
                    apply_edit(tables, account, kind, native, Edit({"name": name}), None)
                assert [(issue.path, issue.code) for issue in refusal.value.issues] == [("fields.name", "blank")]
                attempts += 1
    assert attempts


RETARGETED = [
    case
    for code in ADAPTER_PACKAGES
    if get_samples(code).targeting_places
    for kind in ENTITY_KINDS
    for case in list_edit_cases(code, kind)
    if (case.input["edit"].get("targeting") or {})
]


@pytest.mark.parametrize("case", RETARGETED, ids=[case.id for case in RETARGETED])
def test_a_targeting_that_is_written_unchanged_is_refused(case: Case) -> None:
    edit = case.input["edit"]["targeting"]
    plan = run_flow(plan_case(case, Library()), Conversation(case.network, case.exchange).answer)
    body = next(step.request.body for step in plan.steps if step.action == "update")
    places = get_samples(case.network).targeting_places
    current = next((value for place in places if (value := get_value(body, place, None))), None)
    assert current, body
    targeting = get_adapter(case.network).editable_targeting
    assert targeting is not None
    with pytest.raises(InvalidInput) as refusal:
        targeting.merge_targeting(case.input["kind"], current, edit)
    assert {issue.code for issue in refusal.value.issues} == {"no_change"}
    assert {issue.path.partition(".")[0] for issue in refusal.value.issues} == {"targeting"}


@pytest.mark.parametrize(("network", "kind"), LEVELS)
def test_an_edit_of_nothing_is_refused(network: str, kind: str) -> None:
    flow = get_adapter(network).plans.plan_edit(Account(network, "1", "USD", "UTC"), kind, "1", Edit(), None)
    with pytest.raises(InvalidInput) as refusal:
        next(flow)
    assert [issue.code for issue in refusal.value.issues] == ["required"]
