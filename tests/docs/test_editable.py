"""What the documentation calls editable and locked, held against what the checks accept of an edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit, apply_edit
from adsunify.adapter.flows import run_flow
from adsunify.adapter.settings import find_lock_reason, list_settings
from adsunify.errors import AdsunifyError, InvalidInput
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.plans.records import Kind
from adsunify.testing.contract.conversation import Conversation
from adsunify.values.exact_json import Json
from tests.networks.samples import list_own_cases

PAGE = (Path(__file__).parents[2] / "docs" / "networks.md").read_text()
LINE_ITEM = {"objective": "REACH", "daily_budget_amount_local_micro": 20_000_000}
"""What no recorded line item of X has: a budget of its own, and an objective that takes a frequency cap."""


def read_fields(heading: str) -> dict[tuple[str, str], dict[str, str]]:
    """Network and level to the fields of the table below a heading, each with the reason, if the table has one."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")][2:]
    fields_by_level: dict[tuple[str, str], dict[str, str]] = {}
    for network, level, fields, *reason in rows:
        fields_by_level.setdefault((network, level), {}).update(dict.fromkeys(fields.split(", "), "".join(reason)))
    return fields_by_level


@cache
def read_entities() -> Mapping[tuple[str, str], list[tuple[Account, Mapping[str, Json]]]]:
    """The entities of the recorded cases, as an edit reads them."""
    entities_by_level: dict[tuple[str, str], list[tuple[Account, Mapping[str, Json]]]] = {}
    for case in list_own_cases():
        if case.kind not in ("settings", "edit"):
            continue
        kind, network = case.input["kind"], case.network
        flow = get_adapter(network).reads.fetch_editable_entity(case.account, kind, case.input["entityId"])
        try:
            native = run_flow(flow, Conversation(network, case.exchange).answer).native
        except AdsunifyError:  # the case is about an entity that cannot be read
            continue
        entities_by_level.setdefault((network, kind), []).append((case.account, native))
        if (network, kind) == ("x", "adGroup"):
            entities_by_level[network, kind].append((case.account, {**native, **LINE_ITEM}))
    return entities_by_level


def list_refusals(
    network: str, kind: Kind, account: Account, native: Mapping[str, Json], field: str, value: str = "1"
) -> Iterator[str]:
    """The codes with which an edit of one field is refused at that field."""
    try:
        apply_edit(get_adapter(network).network, account, kind, native, Edit({field: value}), None)
    except InvalidInput as problem:
        yield from (issue.code for issue in problem.issues if issue.path == f"fields.{field}")


LEVELS = sorted(read_fields("Editable fields") | read_fields("Locked fields"))


def test_every_setting_stands_in_one_of_the_tables() -> None:
    tables = read_fields("Editable fields"), read_fields("Locked fields")
    for code in ADAPTER_PACKAGES:
        network = get_adapter(code).network
        for level in network.levels:
            there = [name for table in tables for name in table.get((code, level.kind), ())]
            assert sorted(there) == sorted(setting.field for setting in network.settings if setting.level == level.kind)


@pytest.mark.parametrize(("network", "kind"), LEVELS)
def test_an_edit_takes_what_is_editable_and_refuses_what_is_locked(network: str, kind: Kind) -> None:
    editable = read_fields("Editable fields").get((network, kind), {})
    locked = read_fields("Locked fields").get((network, kind), {})
    known = read_entities()[network, kind]
    for field in editable:
        tries = ((*entity, value) for entity in known for value in ("1", ""))  # some can be cleared only
        answers = (set(list_refusals(network, kind, account, native, field, value)) for account, native, value in tries)
        assert any(not codes & {"locked", "not_supported"} for codes in answers), f"{field} is locked everywhere"
    tables = get_adapter(network).network
    settings = {setting.field: setting for setting in list_settings(tables, kind)}
    for field, reason in locked.items():
        for account, native in known:
            assert list(list_refusals(network, kind, account, native, field)) == ["locked"], field
            assert find_lock_reason(tables, settings[field], native, None) == reason
