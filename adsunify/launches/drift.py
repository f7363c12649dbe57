"""Compares the wanted values of an entity with the values that adsunify wrote last and with the present values.

A field of the file that differs from the network is a change. It has drifted as well if the present value is not the
value that adsunify wrote last: somebody changed it outside adsunify. Values are compared by their meaning, so ``25``
equals ``25.00``, and the order of a list does not count. The module reads nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation

from attrs import frozen

from adsunify.adapter.account import Account
from adsunify.adapter.network import Network, Setting, SettingUnit
from adsunify.adapter.settings import list_settings, to_account_day
from adsunify.errors import InvalidInput
from adsunify.plans.records import Change, Kind
from adsunify.values.comparison import to_comparable
from adsunify.values.dates import parse_instant
from adsunify.values.exact_json import Json

STATUS_FIELD = "status"
"""The field of a file that holds the unified status. It is no setting."""


@frozen
class Drift:
    """A field that somebody changed outside adsunify: the value that adsunify wrote last, and the present value."""

    field: str
    planned: Json
    found: Json


@frozen
class EntityComparison:
    """The differences of one entity. A change leads from the present value to the value of the file."""

    changes: tuple[Change, ...] = ()
    drifted: tuple[Drift, ...] = ()


def compare_entity(
    network: Network,
    account: Account,
    kind: Kind,
    wanted_fields: Mapping[str, Json],
    written_fields: Mapping[str, Json],
    current_fields: Mapping[str, Json],
) -> EntityComparison:
    """Compare the fields of the file with an entity.

    Args:
        network: the tables of the network.
        account: the account of the entity.
        kind: the kind of the entity.
        wanted_fields: field -> the value of the file. Only these fields are compared.
        written_fields: field -> the value that adsunify wrote last, of the fields for which that is known.
        current_fields: field -> the value that the network holds, as
            :func:`~adsunify.adapter.settings.get_display_value` returns it.
    """
    settings = {setting.field: setting for setting in list_settings(network, kind)}
    changes: list[Change] = []
    drifted: list[Drift] = []
    for name, value in wanted_fields.items():
        setting, present = settings.get(name), current_fields.get(name)
        if has_same_meaning(network, account, setting, value, present):
            continue
        changes.append(Change(name, present, value))
        if name in written_fields and not has_same_meaning(network, account, setting, written_fields[name], present):
            drifted.append(Drift(name, written_fields[name], present))
    return EntityComparison(tuple(changes), tuple(drifted))


def has_same_meaning(network: Network, account: Account, setting: Setting | None, first: Json, second: Json) -> bool:
    """Whether two values of a field mean the same. ``setting`` is None for the status."""
    meanings = [_parse_value(network, account, setting, value) for value in (first, second)]
    return meanings[0] == meanings[1]


def _parse_value(network: Network, account: Account, setting: Setting | None, value: Json) -> object:
    """Return a value in comparable form. A malformed value is returned unchanged, so it differs from all others."""
    if value is None or value in ("", []):
        return None
    if setting is None:
        return value
    if setting.unit == "day":
        return _parse_day(network, account, setting, value)
    parse = _PARSERS.get(setting.unit)
    return to_comparable(value) if parse is None else parse(value)


def _parse_day(network: Network, account: Account, setting: Setting, value: Json) -> object:
    try:
        return to_account_day(network, account, setting.field, str(value), setting.field)
    except InvalidInput:
        return value


def _parse_number(value: Json) -> object:
    if isinstance(value, bool):
        return str(value)
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return value
    return number if number.is_finite() else value


def _parse_instant(value: Json) -> object:
    try:
        return parse_instant(str(value))
    except InvalidInput:
        return value


def _parse_flag(value: Json) -> object:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else value


def _parse_list(value: Json) -> object:
    items = value.split(",") if isinstance(value, str) else value
    return frozenset(str(item).strip() for item in items) if isinstance(items, list | tuple) else value


def _parse_text(value: Json) -> object:
    return str(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value


_PARSERS: Mapping[SettingUnit, Callable[[Json], object]] = {
    "money": _parse_number,
    "number": _parse_number,
    "instant": _parse_instant,
    "flag": _parse_flag,
    "list": _parse_list,
    "text": _parse_text,
    "choice": _parse_text,
}
"""Unit of a setting -> the function that returns a value in comparable form."""
