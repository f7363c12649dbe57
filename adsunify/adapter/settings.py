"""Settings of an entity, read from the SETTINGS tables: current values, and the reasons why one is locked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime

from adsunify.adapter.network import (
    Account,
    Entity,
    Network,
    Setting,
    counted,
    level,
    timezone_of,
)
from adsunify.plans.records import Kind
from adsunify.values.dates import first_day, instant, local_days, utc_text, zone
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import read
from adsunify.values.money import major

BIDS = ("bid", "targetCpa", "bidCeiling")
"""What a bid strategy may hold as a limit."""
Lock = Callable[[Entity, datetime | None], str | None]
Moment = Callable[[Json], datetime | None]


def settings_of(network: Network, kind: Kind) -> tuple[Setting, ...]:
    """The SETTINGS rows of a level; InvalidInput where the network has no such level."""
    level(network, kind)
    return tuple(setting for setting in network.settings if setting.level == kind)


def place(setting: Setting, native: Mapping[str, Json]) -> str:
    """The pointer to the setting's value in this entity."""
    return setting.native(native) if callable(setting.native) else setting.native


def lock_reason(setting: Setting, native: Mapping[str, Json], now: datetime | None) -> str | None:
    """Why the field cannot be changed on this entity, None where it can."""
    return setting.lock(native, now) if callable(setting.lock) else setting.lock


def local_time(account: Account, now: datetime | None) -> datetime | None:
    """The same instant in the account's time zone, so that its date is the account's; as it is where none is known."""
    return now if now is None or account.timezone is None else now.astimezone(zone(account.timezone))


def _whole_day(network: Network, account: Account, field_: str, value: str, path: str) -> str:
    """The account's day that a date or an instant names as ``startAt`` or ``endAt``, as a date.

    A start is the first instant of its day; an end inside a day means through that day, and at midnight through the day
    before.
    """
    if _day(value) is not None:
        return value
    moment = instant(value, path)
    timezone = timezone_of(account)
    if field_ == "startAt":
        return first_day(value, path, network.title, timezone).isoformat()
    _, last = local_days(moment, moment, timezone)
    return str(last)


def _day(text: str) -> date | None:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    return found if found.isoformat() == text else None  # the long form only: no 20300115, no 2030-W03-2


def shown(network: Network, account: Account, setting: Setting, native: Mapping[str, Json]) -> Json:
    """The current value for people: money in major units, as text."""
    if setting.read is not None:
        return setting.read(native, account)
    value = read(native, place(setting, native))
    if setting.unit == "money" and value is not None:
        unit = network.unit(account)
        count = counted(unit, value)
        return None if count is None else major(count, unit.offset)
    return value


def settings(
    network: Network, account: Account, kind: Kind, entity_id: str, native: Mapping[str, Json], now: datetime | None
) -> dict[str, Json]:
    """The editable fields with current values and lock reasons, and what surrounds them (the contract's "Shapes")."""
    one = level(network, kind)
    now = local_time(account, now)
    fields: list[dict[str, Json]] = []
    for setting in settings_of(network, kind):
        row: dict[str, Json] = {
            "field": setting.field,
            "value": shown(network, account, setting, native),
            "unit": account.currency if setting.unit == "money" else setting.unit,
            "locked": lock_reason(setting, native, now),
        }
        period = setting.period(native) if callable(setting.period) else setting.period
        limits = {
            "period": period,
            "choices": list(setting.choices if setting.offered is None else setting.offered(native)),
            "min": _least(setting, native, account),
            "max": setting.maximum,
        }
        row |= {name: value for name, value in limits.items() if value}
        fields.append(row)
    surroundings = {
        part: {pointer.lstrip("/"): read(native, pointer) for pointer in one.shows.get(part, ())}
        for part in ("targeting", "bidding", "creative")
    }
    notes = [setting.note for setting in settings_of(network, kind) if setting.note]
    return {"entityId": entity_id, "kind": kind, "fields": fields, **surroundings, "notes": notes}


def started(moment: Moment, member: str) -> Lock:
    """The lock of a start: once it has passed. ``moment`` reads what the network writes there."""

    def lock(entity: Entity, now: datetime | None) -> str | None:
        start = moment(entity.get(member))
        return "it has started" if now is not None and start is not None and start <= now else None

    return lock


def shown_instant(moment: Moment, member: str) -> Callable[[Entity, Account], Json]:
    """How a setting shows an instant to people: in UTC; None where ``moment`` finds none."""

    def show(entity: Entity, account: Account) -> Json:
        found = moment(entity.get(member))
        return None if found is None else utc_text(found)

    return show


def _least(setting: Setting, native: Mapping[str, Json], account: Account) -> str:
    return setting.minimum(native, account) if callable(setting.minimum) else setting.minimum
