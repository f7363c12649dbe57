"""Applies an edit: checks it against the SETTINGS tables and computes the native changes.

Changes are applied in table order, and locks see the result so far: a strategy that changes in the same edit unlocks
its bid.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Literal

from attrs import field, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.native_money import format_native_amount, is_number, parse_native_amount, to_native_units
from adsunify.adapter.network import NativeEntity, Network, Setting, get_level
from adsunify.adapter.settings import (
    BID_FIELDS,
    _get_minimum,
    find_lock_reason,
    get_display_value,
    get_setting_pointer,
    list_settings,
    to_account_day,
    to_account_time,
)
from adsunify.errors import InvalidInput, Issue, ProviderUnreadable, invalid_input, raise_if_issues
from adsunify.models.base import is_visible
from adsunify.models.error_messages import find_similar
from adsunify.plans.records import Change, Kind, Risk
from adsunify.values.comparison import to_comparable
from adsunify.values.exact_json import Json, loads
from adsunify.values.json_pointer import get_value, set_value, split_pointer
from adsunify.values.money import apply_change, format_decimal, from_units, require_multiple
from adsunify.values.time_formats import TimeFormat


@frozen
class Percentage:
    """A relative change of a money or number field; ``value`` in percent, greater than 0."""

    mode: Literal["increase", "decrease"]
    value: Decimal


@frozen
class Edit:
    """An edit as a caller sends it, in names that all networks share (docs/spec.md, "Edit and bulk-edit fields")."""

    fields: Mapping[str, str | int | Decimal | Percentage] = field(factory=dict)
    targeting: Mapping[str, Json] = field(factory=dict)
    creative: Mapping[str, Json] = field(factory=dict)

    def to_json(self) -> dict[str, Json]:
        """Return the stored form. A percentage is an object."""
        fields = {
            name: {"mode": value.mode, "value": value.value} if isinstance(value, Percentage) else value
            for name, value in self.fields.items()
        }
        return {"fields": fields, "targeting": dict(self.targeting), "creative": dict(self.creative)}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Edit:
        """Read what :meth:`to_json` wrote. Parts may be left out."""
        fields = {
            name: Percentage(field_value["mode"], Decimal(field_value["value"]))
            if isinstance(field_value, Mapping)
            else field_value
            for name, field_value in value.get("fields", {}).items()
        }
        return cls(fields, value.get("targeting") or {}, value.get("creative") or {})


@frozen
class EditResult:
    """The result of an edit's field changes: pointer to native value, and each change for people."""

    native: Mapping[str, Json]
    changes: tuple[Change, ...]

    @property
    def native_by_name(self) -> dict[str, Json]:
        """The native values by name, for entities in which all pointers have one segment."""
        return {pointer.removeprefix("/"): value for pointer, value in self.native.items()}

    @property
    def native_object(self) -> dict[str, Json]:
        """The native values as an object: each value is at its pointer."""
        whole: dict[str, Json] = {}
        for pointer, value in self.native.items():
            set_value(whole, pointer, value)
        return whole


def apply_edit(
    network: Network,
    account: Account,
    kind: Kind,
    native: Mapping[str, Json],
    edit: Edit,
    now: datetime | None,
) -> EditResult:
    """Apply the ``fields`` of an edit, and the members of its ``creative`` that are fields. Nothing is rounded up.

    Raises:
        InvalidInput: all issues; ``no_change`` for a field that has the value already.
        ProviderUnreadable: the entity has another shape than the table says.
    """
    content = {f"creative.{name}": name for name in edit.creative}
    creative_names = {
        row.field: content[row.path] for row in network.edits if row.level == kind and row.path in content
    }
    creative_names.pop("", None)
    new_values = {**edit.fields, **{field_: edit.creative[name] for field_, name in creative_names.items()}}
    table = list_settings(network, kind)
    now = to_account_time(account, now)
    known = {setting.field for setting in table}
    issues = [unknown_field_issue(network, kind, name, f"fields.{name}") for name in new_values if name not in known]
    result: dict[str, Json] = {}
    amounts: dict[str, str] = {}
    changes: list[Change] = []
    current = deepcopy(dict(native))
    for setting in table:
        if setting.field not in new_values:
            continue
        path = f"fields.{setting.field}"
        reason = find_lock_reason(network, setting, current, now)
        if reason is not None:
            issues.append(Issue(path, "locked", f"{network.title}: {setting.field} is locked: {reason}."))
            continue
        before = get_display_value(network, account, setting, current)
        try:
            value = _to_native_value(network, account, setting, current, new_values[setting.field], path)
            exact = _calculate_exact_amount(network, account, setting, current, new_values[setting.field], path)
            is_cleared = new_values[setting.field] == ""
            if setting.find_error is not None and not is_cleared and (error := setting.find_error(value)) is not None:
                raise invalid_input(path, "invalid", f"{network.title}: {error}.")
            members = {get_setting_pointer(setting, current): value}
            if setting.write is not None and (value is None or not is_cleared):
                members = dict(setting.write(value, current, account))
        except InvalidInput as problem:
            issues.extend(problem.issues)
            continue
        if setting.unit == "money":
            same = [amounts[pointer] for pointer in members if pointer in amounts]
            if same:
                issues.append(Issue(path, "conflict", f"fields.{same[0]} is the same amount; give only one of them."))
                continue
            amounts |= dict.fromkeys(members, setting.field)
        for pointer, new in members.items():
            try:
                set_value(current, pointer, new)
            except (TypeError, ValueError, AttributeError, LookupError):  # a value on the path is not an object
                raise ProviderUnreadable(f"{network.title}: the entity has no place for {setting.field}.") from None
        result.update(members)
        change = Change(setting.field, before, get_display_value(network, account, setting, current), exact)
        try:
            if is_cleared:  # the value that clears a field may differ from the one that a read shows
                require_change(Change(setting.field, before, None), path)
            changes.append(require_change(change, path))
        except InvalidInput as problem:
            issues.extend(problem.issues)
    issues += _find_overwritten_values(network, account, table, current, changes)
    raise_if_issues(_map_issue_path(issue, creative_names) for issue in issues)
    changes += _find_implied_changes(network, account, table, native, current, new_values)
    if "bidStrategy" in new_values:
        changes += _find_dropped_bids(network, account, table, native, current, now)
    return EditResult(result, tuple(changes))


def _find_overwritten_values(
    network: Network, account: Account, table: Iterable[Setting], after: Mapping[str, Json], changes: Iterable[Change]
) -> Iterator[Issue]:
    """Yield an issue for each change whose value another field of the same edit replaces."""
    settings = {setting.field: setting for setting in table}
    for change in changes:
        present = get_display_value(network, account, settings[change.field], after)
        if to_comparable(present) != to_comparable(change.after):
            message = "Another field of the edit sets it to another value; leave one of them out."
            yield Issue(f"fields.{change.field}", "conflict", message)


def _find_implied_changes(
    network: Network,
    account: Account,
    table: Iterable[Setting],
    before: Mapping[str, Json],
    after: Mapping[str, Json],
    names: Container[str],
) -> Iterator[Change]:
    """Yield the changes of fields that the edit does not name, such as a pacing that belongs to a budget type.

    Amounts are left out, because two fields may show the same amount.
    """
    for setting in table:
        if setting.unit == "money" or setting.field in names or isinstance(setting.lock, str):
            continue
        values = [get_display_value(network, account, setting, native) for native in (before, after)]
        if to_comparable(values[0]) != to_comparable(values[1]):
            yield Change(setting.field, values[0], values[1])


def unknown_field_issue(network: Network, kind: Kind, name: str, path: str) -> Issue:
    """Make the issue of a field that the level does not have.

    For a native name of an amount the message names the field to use; otherwise it lists all fields.
    """
    own = list_settings(network, kind)
    native = get_level(network, kind).native
    fields = sorted(setting.field for setting in own)
    similar = find_similar(name, fields)
    hint = "" if similar is None else f" Did you mean {similar}?"
    accepted = f"{network.title} has these fields on the level {native}: {', '.join(fields)}."
    plain = Issue(path, "not_supported", f"{accepted}{hint}")
    if any(setting.field == name for setting in network.settings):
        return plain
    for settings in (own, network.settings):
        names = dict.fromkeys(
            setting.field if setting in own else f"{setting.field} of the {get_level(network, setting.level).native}"
            for setting in settings
            if setting.unit == "money" and not isinstance(setting.lock, str) and name in list_native_names(setting)
        )
        if names:
            message = (
                f"This is {network.title}'s own name. An edit takes the amount in major units of the account's "
                f'currency ("12.50"), under the name {" or ".join(names)}.'
            )
            return Issue(path, "unknown_field", message)
    return plain


def list_native_names(setting: Setting) -> frozenset[str]:
    """Return the native names of a setting's amount, and its native pointer joined by dots."""
    if not isinstance(setting.native, str) or not setting.native:
        return frozenset(setting.native_names)
    names = split_pointer(setting.native)
    return frozenset((*setting.native_names, names[-1], ".".join(names)))


def require_change(change: Change, path: str, essence: Callable[[Json], Json] = lambda value: value) -> Change:
    """Return the change. Raises InvalidInput ``no_change`` if its values before and after are equal.

    ``essence`` removes from a native value what a write does not set.
    """
    if to_comparable(essence(change.before)) == to_comparable(essence(change.after)):
        raise invalid_input(path, "no_change", "It has this value already; leave it out, or give another value.")
    return change


def _find_dropped_bids(
    network: Network,
    account: Account,
    table: Iterable[Setting],
    before: Mapping[str, Json],
    after: Mapping[str, Json],
    now: datetime | None,
) -> Iterator[Change]:
    """Yield the amounts that a change of the bid strategy makes ineffective."""
    for setting in table:
        if (
            setting.field not in BID_FIELDS
            or find_lock_reason(network, setting, before, now)
            or not find_lock_reason(network, setting, after, now)
        ):
            continue
        amount = get_display_value(network, account, setting, before)
        if amount is not None:
            yield Change(setting.field, amount, None)


def collect_spend_warnings(network: Network, kind: Kind, changes: Iterable[Change]) -> Iterator[str]:
    """Yield warnings for the reviewer about limits of spend that an edit removes or raises."""
    money = {setting.field for setting in list_settings(network, kind) if setting.unit == "money"}
    for change in changes:
        if change.before is None:
            continue
        if change.field in money and change.after is None:
            yield f"{change.field} {change.before} is taken away: it limits nothing any more."
        elif change.field == "endAt" and change.after is None:
            yield "The end is taken away: it spends until somebody pauses it."
        elif change.field == "endAt" and str(change.after) > str(change.before):
            yield f"The end is later than {change.before}: it spends for longer."


def _map_issue_path(issue: Issue, creative_names: Mapping[str, str]) -> Issue:
    """Return the issue with the path of the member of ``creative`` that the caller sent for the field."""
    name = creative_names.get(issue.path.removeprefix("fields."))
    return issue if name is None else issue._replace(path=f"creative.{name}")


def check_start_end(
    time: TimeFormat,
    before: NativeEntity,
    changed: Mapping[str, Json],
    members: tuple[str, str],
    now: datetime | None,
) -> Iterator[Issue]:
    """Yield what is wrong with the start and the end after an edit.

    ``members`` are the names of both in the entity.
    """
    after = {**before, **changed}
    start, end = (time.parse(after.get(name)) for name in members)
    is_end_changed = members[1] in changed
    if is_end_changed and end is not None and now is not None and end <= now:
        yield Issue("fields.endAt", "past", "The end lies in the past.")
    elif not changed.keys().isdisjoint(members) and start is not None and end is not None and end <= start:
        path = "fields.endAt" if is_end_changed else "fields.startAt"
        yield Issue(path, "order", "The end must be after the start.")


def check_payload_amounts(
    network: Network, account: Account, kind: Kind, payload: Mapping[str, Json]
) -> Iterator[Issue]:
    """Check the budget and the bid of a native payload against the SETTINGS rows that an edit uses."""
    try:
        unit = network.get_money_unit(account)
    except InvalidInput:  # amounts cannot be checked without the account's currency
        return
    for setting in list_settings(network, kind):
        if setting.unit != "money" or setting.field not in ("budget", "bid"):
            continue
        at = get_setting_pointer(setting, payload)
        if at.startswith(f"/{get_level(network, kind).native}/"):  # a row of Google holds several levels
            at = at.removeprefix(f"/{get_level(network, kind).native}")
        count = parse_native_amount(unit, get_value(payload, at)) if at else None
        if count is None or (setting.is_zero_unset and not count):
            continue
        path = "payload" + at.replace("/", ".")
        try:
            if count <= 0:
                raise invalid_input(path, "out_of_range", "must be greater than 0.")
            require_multiple(count, unit.step, unit.offset, path)
            _ensure_within_limits(setting, payload, account, Decimal(from_units(count, unit.offset)), path)
        except InvalidInput as problem:
            yield from problem.issues


def assess_risk(network: Network, kind: Kind, changes: Iterable[Change]) -> Risk:
    """Return ``spend`` if an amount of money is raised, set for the first time, or removed; else ``low``."""
    money = {setting.field for setting in list_settings(network, kind) if setting.unit == "money"}
    for change in changes:
        if change.field in money and not (
            change.before is not None and change.after is not None and Decimal(change.after) <= Decimal(change.before)
        ):
            return "spend"
    return "low"


def only_lowers_amounts(network: Network, kind: Kind, edit: Edit, changes: Sequence[Change]) -> bool:
    """Whether an edit does nothing but lower amounts of money to amounts that it names."""
    money = {setting.field for setting in list_settings(network, kind) if setting.unit == "money"}
    return bool(changes) and all(
        change.field in money
        and change.field in edit.fields
        and not isinstance(edit.fields[change.field], Percentage)
        and None not in (change.before, change.after)
        and Decimal(change.after) < Decimal(change.before)
        for change in changes
    )


def _to_native_value(
    network: Network, account: Account, setting: Setting, native: Mapping[str, Json], value: Json, path: str
) -> Json:
    """Return a new value in native units, checked against the row's limits."""
    if isinstance(value, Percentage):
        return _apply_percentage(network, account, setting, native, value, path)
    if value == "":
        if not setting.can_clear:
            raise invalid_input(path, "required", f"{setting.field} cannot be cleared.")
        return setting.cleared
    plain = format(value, "f") if isinstance(value, Decimal) else str(value)
    if setting.unit == "money":
        unit = network.get_money_unit(account)
        count = to_native_units(unit, plain, path)
        if not count:  # as in a brief: some networks read 0 as "no limit"
            raise invalid_input(path, "out_of_range", "must be greater than 0.")
        _ensure_within_limits(setting, native, account, Decimal(plain), path)
        return format_native_amount(unit, count)
    if setting.unit == "number":
        try:
            number = Decimal(plain)
        except InvalidOperation:
            raise invalid_input(path, "type", f"{setting.field} is a number.") from None
        if not number.is_finite():
            raise invalid_input(path, "type", f"{setting.field} is a number.")
        _ensure_within_limits(setting, native, account, number, path)
        return int(number) if number == number.to_integral_value() else number
    if setting.unit == "instant" and network.time is not None:
        return network.time.format(network.time.parse_text(plain, path, network.title))
    if setting.unit == "day":
        return to_account_day(network, account, setting.field, plain, path)
    if setting.unit == "choice" and plain not in setting.choices:
        raise invalid_input(path, "choice", f"{setting.field} is one of {', '.join(setting.choices)}.")
    if setting.unit == "flag":
        if plain not in ("true", "false"):
            raise invalid_input(path, "choice", f"{setting.field} is true or false.")
        return plain == "true"
    if setting.unit == "list":
        items = [str(item) for item in value] if isinstance(value, list | tuple) else _parse_list(plain)
        current = get_display_value(network, account, setting, native)
        if isinstance(current, list) and items == _parse_list(",".join(map(str, current))):
            return current  # the caller sent the displayed list back unchanged; its texts may contain commas
        if setting.choices and any(part not in setting.choices for part in items):
            message = f"{setting.field} takes a comma-separated list of {', '.join(setting.choices)}."
            raise invalid_input(path, "choice", message)
        return items
    if not is_visible(plain):
        raise invalid_input(path, "blank", f"{setting.field} must have at least one visible character.")
    if setting.max_length and len(plain) > setting.max_length:
        raise invalid_input(path, "too_long", f"{setting.field} has at most {setting.max_length} characters.")
    return plain


def _parse_list(plain: str) -> list[str]:
    """Return the items of a list that is written as JSON or separated by commas."""
    try:
        items = loads(plain) if plain.startswith("[") else None
    except ValueError:
        items = None
    if isinstance(items, list) and all(isinstance(item, str) for item in items):
        return items
    return [part.strip() for part in plain.split(",") if part.strip()]


def _apply_percentage(
    network: Network, account: Account, setting: Setting, native: Mapping[str, Json], change: Percentage, path: str
) -> Json:
    if setting.unit == "number":
        return _apply_percentage_to_number(account, setting, native, change, path)
    if setting.unit != "money":
        raise invalid_input(path, "not_supported", f"{setting.field} cannot be changed by a percentage.")
    unit = network.get_money_unit(account)
    before = parse_native_amount(unit, get_value(native, get_setting_pointer(setting, native)))
    if before is None:
        raise invalid_input(path, "no_current_value", f"{setting.field} has no amount to change by a percentage.")
    count, _ = apply_change(before, change.mode, change.value, unit.offset, path, step=unit.step)
    _ensure_within_limits(setting, native, account, Decimal(from_units(count, unit.offset)), path)
    return format_native_amount(unit, count)


def _calculate_exact_amount(
    network: Network, account: Account, setting: Setting, native: Mapping[str, Json], change: Json, path: str
) -> str | None:
    """Return the exact result of a percentage, before it is cut to the network's unit."""
    if not isinstance(change, Percentage) or setting.unit != "money":
        return None
    unit = network.get_money_unit(account)
    before = parse_native_amount(unit, get_value(native, get_setting_pointer(setting, native)))
    return (
        None
        if before is None
        else format_decimal(apply_change(before, change.mode, change.value, unit.offset, path)[1])
    )


def _apply_percentage_to_number(
    account: Account, setting: Setting, native: Mapping[str, Json], change: Percentage, path: str
) -> Json:
    """Return the exactly changed number. A whole number must stay whole."""
    before = (
        setting.read(native, account)
        if setting.read is not None
        else get_value(native, get_setting_pointer(setting, native))
    )
    if not is_number(before):
        raise invalid_input(path, "no_current_value", f"{setting.field} has no number to change by a percentage.")
    percent = 100 + (change.value if change.mode == "increase" else -change.value)
    number = Decimal(before) * percent / 100
    if number <= 0:
        raise invalid_input(path, "too_small", f"{setting.field} would be {number:f}; it has to be more than 0.")
    if isinstance(before, int) and number != number.to_integral_value():
        raise invalid_input(
            path, "over_precision", f"{setting.field} would be {number.normalize():f}; it is a whole number."
        )
    _ensure_within_limits(setting, native, account, number, path)
    return int(number) if number == number.to_integral_value() else number.normalize()


def _ensure_within_limits(
    setting: Setting, native: Mapping[str, Json], account: Account, number: Decimal, path: str
) -> None:
    least = _get_minimum(setting, native, account)
    if least and number < Decimal(least):
        raise invalid_input(path, "too_small", f"{setting.field} is at least {least}.")
    if setting.maximum and number > Decimal(setting.maximum):
        raise invalid_input(path, "too_large", f"{setting.field} is at most {setting.maximum}.")
