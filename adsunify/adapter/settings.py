"""Settings of an entity, from the SETTINGS tables: current values, and the reasons why a setting is locked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from typing import Any

from attrs import evolve

from adsunify.adapter.account import Account, require_timezone
from adsunify.adapter.hierarchy import ParsedEntity, is_action_accepted
from adsunify.adapter.native_money import parse_native_amount
from adsunify.adapter.network import (
    EditMember,
    Level,
    NativeEntity,
    Network,
    Setting,
    get_level,
    read_native_status,
    read_status,
    split_words,
)
from adsunify.errors import invalid_input
from adsunify.plans.records import Kind
from adsunify.values.dates import get_timezone, parse_instant, parse_start_day, to_local_days
from adsunify.values.exact_json import Json, dumps, loads
from adsunify.values.json_pointer import get_value
from adsunify.values.money import from_units
from adsunify.values.time_formats import TimeFormat

BID_FIELDS = ("bid", "targetCpa", "bidCeiling")
"""The fields that limit a bid under some bid strategies."""
Lock = Callable[[NativeEntity, datetime | None], str | None]


def list_settings(network: Network, kind: Kind) -> tuple[Setting, ...]:
    """Return the SETTINGS rows of a level. Raises InvalidInput if the network has no such level."""
    get_level(network, kind)
    return tuple(setting for setting in network.settings if setting.level == kind)


def list_bulk_fields(network: Network, kind: Kind) -> list[str]:
    """Return the fields of a level that a bulk edit changes: amounts and numbers that are not always locked."""
    return [
        setting.field
        for setting in list_settings(network, kind)
        if setting.unit in ("money", "number") and setting.is_bulk_editable and not isinstance(setting.lock, str)
    ]


def get_setting_pointer(setting: Setting, native: Mapping[str, Json]) -> str:
    """Return the pointer to the value of the setting in this entity."""
    return setting.native(native) if callable(setting.native) else setting.native


def find_lock_reason(
    network: Network, setting: Setting, native: Mapping[str, Json], now: datetime | None
) -> str | None:
    """Return why the field cannot be changed on this entity; None if it can."""
    own_reason = setting.lock(native, now) if callable(setting.lock) else setting.lock
    return own_reason or find_closed_reason(get_level(network, setting.level), native)


def find_closed_reason(level: Level, native: Mapping[str, Json]) -> str | None:
    """Return why an entity cannot be edited because of its status; None if it can."""
    status = read_status(level, native)
    is_accepted = is_action_accepted(level, status, read_native_status(level, native), "edit")
    return None if is_accepted else f"it is {status}"


def to_account_time(account: Account, now: datetime | None) -> datetime | None:
    """Return the instant in the account's time zone, so that its date is the account's.

    Without a time zone of the account it is returned unchanged.
    """
    return now if now is None or account.timezone is None else now.astimezone(get_timezone(account.timezone))


def to_account_day(network: Network, account: Account, field_: str, value: str, path: str) -> str:
    """Return the account's day (YYYY-MM-DD) of a date or an instant that is given for ``startAt`` or ``endAt``.

    A start must be the first instant of its day. An end inside a day means through that day, and an end at midnight
    means through the day before.
    """
    if _parse_iso_date(value) is not None:
        return value
    moment = parse_instant(value, path)
    timezone = require_timezone(account)
    if field_ == "startAt":
        return parse_start_day(value, path, network.title, timezone).isoformat()
    _, last = to_local_days(moment, moment, timezone)
    return str(last)


def _parse_iso_date(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if day.isoformat() == text else None  # fromisoformat also accepts 20300115 and 2030-W03-2


def get_display_value(network: Network, account: Account, setting: Setting, native: Mapping[str, Json]) -> Json:
    """Return the current value for people: money in major units, as text; an instant in UTC."""
    if setting.read is not None:
        return setting.read(native, account)
    value = get_value(native, get_setting_pointer(setting, native))
    if setting.unit == "money" and value is not None:
        unit = network.get_money_unit(account)
        count = parse_native_amount(unit, value)
        return None if count is None else from_units(count, unit.offset)
    if setting.unit == "instant" and network.time is not None:
        return network.time.format_for_people(value)
    return value


def build_settings(
    network: Network, account: Account, entity_id: str, entity: ParsedEntity, now: datetime | None
) -> dict[str, Json]:
    """Return the editable fields with values and lock reasons, and their context (docs/spec.md, "Shapes").

    ``entity_id`` is the id in the request. The id of ``entity`` may have another form.

    All fields are locked if the network accepts no edit in the entity's status.
    """
    level, native = get_level(network, entity.kind), entity.native
    now = to_account_time(account, now)
    settings = [setting for setting in network.settings if setting.level == level.kind]
    fields: list[dict[str, Json]] = []
    for setting in settings:
        row: dict[str, Json] = {
            "field": setting.field,
            "value": get_display_value(network, account, setting, native),
            "unit": account.currency if setting.unit == "money" else setting.unit,
            "locked": find_lock_reason(network, setting, native, now),
        }
        period = setting.period(native) if callable(setting.period) else setting.period
        limits = {
            "period": period,
            "choices": list(setting.choices if setting.list_choices is None else setting.list_choices(native)),
            "min": _get_minimum(setting, native, account),
            "max": setting.maximum,
        }
        row |= {name: value for name, value in limits.items() if value}
        fields.append(row)
    surroundings = {
        part: {pointer.lstrip("/"): get_value(native, pointer) for pointer in level.settings_context.get(part, ())}
        for part in ("targeting", "bidding", "creative")
    }
    notes = [setting.note for setting in settings if setting.note]
    return {"entityId": entity_id, "kind": entity.kind, "fields": fields, **surroundings, "notes": notes}


# -- building the tables ------------------------------------------------------------------------------------------


def start_lock(time: TimeFormat, member: str) -> Lock:
    """Make the lock for a start in the past. ``time`` reads the member ``member`` of the entity."""

    def lock(entity: NativeEntity, now: datetime | None) -> str | None:
        start = time.parse(entity.get(member))
        return "it has started" if now is not None and start is not None and start <= now else None

    return lock


def first_lock(*locks: Lock) -> Lock:
    """Make the lock that has the first reason of several."""
    return lambda entity, now: next((reason for lock in locks if (reason := lock(entity, now))), None)


def add_common_lock(common: Lock, *settings: Setting) -> tuple[Setting, ...]:
    """Add the lock ``common`` to all settings. A setting that is always locked keeps its own reason."""

    def join(setting: Setting) -> Setting:
        if isinstance(setting.lock, str):
            return setting
        return evolve(setting, lock=common if setting.lock is None else first_lock(common, setting.lock))

    return tuple(map(join, settings))


def locked_settings(level: Kind, names: str, reason: str) -> list[Setting]:
    """Build the settings that are always locked. ``names``: native members; a dot separates nested names."""
    return [Setting(level, name, f"/{name.replace('.', '/')}", lock=reason) for name in split_words(names)]


def targeting_members(
    level: Kind, names: Iterable[str], parse_type: Callable[[str], str | None], radius_types: tuple[str, ...] = ()
) -> list[EditMember]:
    """Build the EDITS rows of a targeting. ``parse_type`` and ``radius_types`` apply to the members with places."""
    return [
        EditMember(level, f"targeting.{name}", parse_type=parse_type, radius_types=radius_types)
        if name in ("locations", "excludedLocations")
        else EditMember(level, f"targeting.{name}")
        for name in names
    ]


def json_setting(
    level: Kind,
    field: str,
    native: str,
    is_valid: Callable[[Json], bool],
    form: str,
    *,
    shows_empty: bool = True,
    **cells: Any,
) -> Setting:
    """Build the setting of an object or a list that is shown and given as JSON text.

    Args:
        level: the level.
        field: the name of the field.
        native: the pointer to the object or the list.
        is_valid: whether an edit may set this value. It may raise InvalidInput with a reason of its own.
        form: describes the accepted text.
        shows_empty: an empty object or list is shown as JSON text, and not as no value.
        cells: other members of the row.
    """

    def read(entity: NativeEntity, account: Account) -> Json:
        value = get_value(entity, native)
        return dumps(value) if value or (shows_empty and value is not None) else None

    def write(text: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
        if text is None:  # None clears the field
            return {native: None}
        try:
            value = loads(text)
        except ValueError:
            value = None
        if not is_valid(value):
            raise invalid_input(f"fields.{field}", "invalid", f"{field} is the JSON text of {form}.")
        return {native: value}

    return Setting(level, field, native, read=read, write=write, **cells)


def _get_minimum(setting: Setting, native: Mapping[str, Json], account: Account) -> str:
    return setting.minimum(native, account) if callable(setting.minimum) else setting.minimum
