"""What differs between a file, what was written last and what a network holds."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adsunify.adapter.account import Account
from adsunify.adapter.network import Setting
from adsunify.adapter.settings import list_settings
from adsunify.launches.drift import STATUS_FIELD, compare_entity, has_same_meaning
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.plans.records import ENTITY_KINDS, Kind

ACCOUNT = Account("meta", "1", "USD", "Europe/Berlin")
INSTANTS = ["2030-01-15T09:00:00Z", "2030-02-15T09:00:00Z"]
VALUES: dict[str, Any] = {
    "money": st.decimals(1, 9999, places=2).map(str),
    "number": st.integers(1, 99),
    "instant": st.sampled_from(INSTANTS),
    "day": st.sampled_from(["2030-01-15", "2030-02-15"]),
    "flag": st.booleans(),
    "list": st.lists(st.sampled_from("ABC"), unique=True),
}
"""Values of settings, by their unit."""
LEVELS = [
    (code, kind)
    for code in ADAPTER_PACKAGES
    for kind in ENTITY_KINDS
    if any(setting.level == kind for setting in get_adapter(code).network.settings)
]


def draw_fields(rows: list[Setting]) -> st.SearchStrategy[dict[str, Any]]:
    values = {
        setting.field: st.none() | VALUES.get(setting.unit, st.sampled_from(["A", "B", "25"])) for setting in rows
    }
    return st.fixed_dictionaries({}, optional={**values, STATUS_FIELD: st.sampled_from(["active", "paused"])})


@pytest.mark.parametrize(("code", "kind"), LEVELS)
@settings(max_examples=15)
@given(data=st.data())
def test_a_change_is_what_differs_and_drift_is_what_nobody_here_wrote(code: str, kind: Kind, data: Any) -> None:
    network = get_adapter(code).network
    rows = {setting.field: setting for setting in list_settings(network, kind)}
    desired, last_written, actual = (data.draw(draw_fields([*rows.values()])) for _ in range(3))
    compared = compare_entity(network, ACCOUNT, kind, desired, last_written, actual)
    assert compare_entity(network, ACCOUNT, kind, actual, last_written, actual).changes == ()
    assert compare_entity(network, ACCOUNT, kind, desired, actual, actual).drifted == ()

    def has_difference(name: str, value: Any, other: Any) -> bool:
        return not has_same_meaning(network, ACCOUNT, rows.get(name), value, other)

    changed = {change.field: change for change in compared.changes}
    assert changed.keys() == {name for name in desired if has_difference(name, desired[name], actual.get(name))}
    assert all((change.before, change.after) == (actual.get(name), desired[name]) for name, change in changed.items())
    assert {drift.field for drift in compared.drifted} == {
        name for name in changed if name in last_written and has_difference(name, last_written[name], actual.get(name))
    }


@pytest.mark.parametrize(
    ("unit", "value", "other", "is_same"),
    [
        ("money", "25", Decimal("25.00"), True),
        ("money", "25.00", "25.01", False),
        ("money", 0, None, False),
        ("number", "7", 7, True),
        ("instant", "2030-01-15T09:00:00Z", "2030-01-15T10:00:00+01:00", True),
        ("instant", "2030-01-15T09:00:00Z", "2030-01-15T09:00:01Z", False),
        ("day", "2030-01-15", "2030-01-15T00:00:00+01:00", True),
        ("flag", True, "true", True),
        ("flag", True, False, False),
        ("list", ["a", "b"], "b, a", True),
        ("list", [], None, True),
        ("text", 25, "25", True),
        ("text", "Chairs", "chairs", False),
        ("text", "", None, True),
    ],
)
def test_values_are_compared_by_what_they_mean(unit: Any, value: Any, other: Any, is_same: bool) -> None:
    setting = Setting("campaign", "startAt" if unit == "day" else "field", "/field", unit=unit)
    network = get_adapter("google" if unit == "day" else "meta").network
    assert has_same_meaning(network, ACCOUNT, setting, value, other) is is_same
    assert has_same_meaning(network, ACCOUNT, setting, other, value) is is_same
