"""Computes from the SETTINGS tables how much an entity may spend.

Three fields of a level hold budgets (:data:`BUDGET_FIELDS`), two hold caps (:data:`CAP_FIELDS`), and ``startAt`` and
``endAt`` say when it may spend. Amounts are micro-units of the account's currency (docs/guardrails.md, "What a plan can
spend"). A value that is present and cannot be read is ``unknown``, never 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Literal
from zoneinfo import ZoneInfo

from attrs import evolve, field, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.formats import Period
from adsunify.adapter.native_money import MoneyUnit, is_number
from adsunify.adapter.network import NativeEntity, Network, Setting
from adsunify.adapter.settings import get_display_value, get_setting_pointer
from adsunify.errors import InvalidInput
from adsunify.plans.exposure import NO_SPEND, PERIOD_FIELD, UNKNOWN_SPEND, Amount, Spend
from adsunify.plans.records import Change, Kind
from adsunify.values.dates import get_timezone, parse_instant, to_local_days
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value
from adsunify.values.money import MAX_NATIVE_UNITS, MICROS

BUDGET_FIELDS: Mapping[str, Period | None] = {"budget": None, "dailyBudget": "daily", "lifetimeBudget": "lifetime"}
"""The fields that hold budgets, with their period. The period of ``budget`` is that of its setting."""
CAP_FIELDS = ("spendCap", "dailyCap")
DATE_FIELDS = ("startAt", "endAt")
Moment = date | datetime | Literal["unknown"] | None
"""A day of the account (included in an end), an instant (excluded from an end), or None for no start or no end."""
_match_digits = re.compile(r"[0-9]{1,30}", re.ASCII).fullmatch
_match_decimal = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?", re.ASCII).fullmatch


@frozen
class EntityBudget:
    """A budget of an entity. ``amount`` is None if the field is not set."""

    period: Period
    amount: Amount | None


@frozen
class SpendSettings:
    """The settings of one entity that decide how much it may spend.

    Attributes:
        budgets: the budgets by field.
        caps: the caps by field. They never count as budgets: the removal of a cap lets an entity spend more, not less.
        start: when it starts to spend; None: at once.
        end: when it stops; None: never.
    """

    budgets: Mapping[str, EntityBudget] = field(factory=dict)
    caps: Mapping[str, Amount | None] = field(factory=dict)
    start: Moment = None
    end: Moment = None

    @property
    def has_budget(self) -> bool:
        """Whether a budget is set, or is present and cannot be read."""
        return any(budget.amount is not None for budget in self.budgets.values())

    def only_reduces(self, before: SpendSettings) -> bool:
        """Whether an entity with these settings spends at most what it can spend with the settings ``before``.

        Each budget stays or falls within its period, and so do caps; a start stays or is later, an end stays or is
        earlier. No budget is set, removed or moved, and no cap is lifted. A value that cannot be read must not change.
        """
        names = {*before.budgets, *self.budgets}
        return (
            all(_is_reduced(before.budgets.get(name), self.budgets.get(name)) for name in names)
            and not is_cap_lifted(before, self)
            and (self.start == before.start or _is_bound(before.start, self.start))
            and (self.end == before.end or _is_bound(before.end, self.end, is_end=True))
        )

    def list_values(self) -> Iterator[tuple[str, str | int | None]]:
        """Yield each setting with its value: an amount, the period of a budget, or a start or an end as text."""
        for name, budget in self.budgets.items():
            yield name, budget.amount
            if BUDGET_FIELDS[name] is None and budget.amount is not None:
                yield PERIOD_FIELD, budget.period
        yield from self.caps.items()
        for name, moment in zip(DATE_FIELDS, (self.start, self.end), strict=True):
            yield name, moment if moment is None or isinstance(moment, str) else moment.isoformat()

    @property
    def has_daily_budget(self) -> bool:
        """Whether a budget counts for each day, so that the end decides how much may be spent in all."""
        return any(budget.amount is not None and budget.period == "daily" for budget in self.budgets.values())


# -- reading ------------------------------------------------------------------------------------------------------


def read_spend_settings(network: Network, account: Account, kind: Kind, native: NativeEntity) -> SpendSettings:
    """Read the settings of an entity, or of a payload that has the form of one."""
    budgets: dict[str, EntityBudget] = {}
    caps: dict[str, Amount | None] = {}
    dates: dict[str, Moment] = {}
    pointers: set[str] = set()
    for setting in network.settings:
        if setting.level != kind:
            continue
        if setting.field in BUDGET_FIELDS and setting.unit == "money":
            pointer = get_setting_pointer(setting, native)
            budget = None if pointer in pointers else _read_budget(network, account, setting, pointer, native)
            if budget is not None:
                pointers.add(pointer)
                budgets[setting.field] = budget
        elif setting.field in CAP_FIELDS and setting.unit == "money" and not _is_always_locked(setting):
            caps[setting.field] = read_amount(network, account, setting, native)
        elif setting.field in DATE_FIELDS:
            dates[setting.field] = _read_moment(network, account, setting, native)
    caps = {name: cap for name, cap in caps.items() if not _is_budget_pointer(network, kind, name, native, pointers)}
    return SpendSettings(budgets, caps, dates.get("startAt"), dates.get("endAt"))


def _is_always_locked(setting: Setting) -> bool:
    return isinstance(setting.lock, str)


def _is_budget_pointer(
    network: Network, kind: Kind, field_: str, native: NativeEntity, pointers: Iterable[str]
) -> bool:
    """Whether the value of a cap is the budget's value, as that of Snapchat's ``dailyCap`` under Smart Budgets."""
    return any(
        setting.level == kind and setting.field == field_ and get_setting_pointer(setting, native) in pointers
        for setting in network.settings
    )


def _read_budget(
    network: Network, account: Account, setting: Setting, pointer: str, native: NativeEntity
) -> EntityBudget | None:
    """Read a budget; None if the setting is no budget of this entity."""
    fixed = BUDGET_FIELDS[setting.field]
    if fixed is not None:
        return EntityBudget(fixed, read_amount(network, account, setting, native))
    if setting.counted_period is not None:
        period = setting.counted_period(native)
        return None if period is None else EntityBudget(period, read_amount(network, account, setting, native))
    period = setting.period(native) if callable(setting.period) else setting.period
    if period is not None:
        return EntityBudget(period, read_amount(network, account, setting, native))
    return None if is_unset_amount(get_value(native, pointer)) else EntityBudget("daily", "unknown")


def read_amount(network: Network, account: Account, setting: Setting, native: NativeEntity) -> Amount | None:
    """Read the amount of a setting; None if it is not set."""
    value = get_value(native, get_setting_pointer(setting, native))
    if is_unset_amount(value):
        return None
    try:
        if setting.read is None:
            return parse_amount(network.get_money_unit(account), value)
        amount = setting.read(native, account)
        return parse_major_amount(amount) if isinstance(amount, str) else "unknown"
    except InvalidInput:  # the account's currency is not known
        return "unknown"


def is_unset_amount(value: Json) -> bool:
    """Whether a native value says that there is no amount. Networks write null, an empty text or 0."""
    return (
        value in (None, "") or (is_number(value) and value == 0) or (isinstance(value, str) and not value.strip("0."))
    )


def parse_amount(unit: MoneyUnit, native: Json) -> Amount:
    """Parse a native amount to micro-units, rounded up. Every form but plain digits is ``unknown``."""
    text = native if isinstance(native, str) else format(Decimal(native), "f") if is_number(native) else ""
    if unit.form in ("major", "major_text"):
        return parse_major_amount(text)
    whole, _, fraction = text.partition(".")
    if not _match_digits(whole) or fraction.strip("0"):
        return "unknown"
    return _bound_amount(-(-int(whole) * MICROS // unit.offset))


def parse_major_amount(text: str) -> Amount:
    """Parse a decimal number of major units to micro-units, rounded up; ``unknown`` for other texts and for 0."""
    if not _match_decimal(text):
        return "unknown"
    whole, _, fraction = text.partition(".")
    digits = fraction.ljust(6, "0")
    return _bound_amount(int(whole + digits[:6]) + (1 if digits[6:].strip("0") else 0))


def _bound_amount(micros: int) -> Amount:
    """Return the amount; ``unbounded`` if it does not fit into 64 bits, which is more than every limit allows."""
    if micros <= 0:
        return "unknown"
    return micros if micros <= MAX_NATIVE_UNITS else "unbounded"


def _read_moment(network: Network, account: Account, setting: Setting, native: NativeEntity) -> Moment:
    value = get_value(native, get_setting_pointer(setting, native))
    if is_unset_amount(value) or value == setting.cleared:
        return None
    return parse_moment(get_display_value(network, account, setting, native))


def parse_moment(value: Json) -> Moment:
    """Parse a day (YYYY-MM-DD) or an instant as settings and changes show it; ``unknown`` for other values."""
    if not isinstance(value, str):
        return "unknown"
    try:
        return parse_instant(value) if "T" in value else date.fromisoformat(value)
    except (InvalidInput, ValueError):
        return "unknown"


# -- changes ------------------------------------------------------------------------------------------------------


def apply_changes(settings: SpendSettings, changes: Iterable[Change]) -> SpendSettings:
    """Return the settings after the changes of an edit, whose values are in major units or ISO 8601."""
    for change in changes:
        amount = None if change.after is None else parse_major_amount(str(change.after))
        if change.field in settings.budgets:
            budget = evolve(settings.budgets[change.field], amount=amount)
            settings = evolve(settings, budgets={**settings.budgets, change.field: budget})
        elif change.field in CAP_FIELDS and "budget" in settings.budgets and change.field not in settings.caps:
            budget = evolve(settings.budgets["budget"], amount=amount)  # cap and budget have the same native value
            settings = evolve(settings, budgets={**settings.budgets, "budget": budget})
        elif change.field in settings.caps:
            settings = evolve(settings, caps={**settings.caps, change.field: amount})
        elif change.field in DATE_FIELDS:
            moment = None if change.after in (None, "") else parse_moment(change.after)
            is_start = change.field == "startAt"
            settings = evolve(settings, start=moment) if is_start else evolve(settings, end=moment)
    return settings


def is_cap_lifted(before: SpendSettings, after: SpendSettings) -> bool:
    """Whether a cap is removed or raised, or changed to or from a value that cannot be read."""
    for name, cap in before.caps.items():
        new = after.caps.get(name)
        if cap is None or cap == new:
            continue
        if not isinstance(cap, int) or not isinstance(new, int) or new > cap:
            return True
    return False


def find_highest_amount(amounts: Iterable[Amount]) -> Amount | None:
    """Return the highest amount; ``unknown`` if one is unknown; None without an amount."""
    all_amounts = list(amounts)
    numbers = [amount for amount in all_amounts if isinstance(amount, int)]
    if len(numbers) < len(all_amounts):
        return "unknown" if "unknown" in all_amounts else "unbounded"
    return max(numbers, default=None)


def is_at_most(amount: Amount | None, limit: Amount | None) -> bool:
    """Whether both are known amounts, and the first is not higher."""
    return isinstance(amount, int) and isinstance(limit, int) and amount <= limit


def _is_reduced(before: EntityBudget | None, after: EntityBudget | None) -> bool:
    """Whether a budget stays, or falls within its period."""
    if after is None or after.amount is None:
        return before is None or before.amount is None
    return before is not None and (
        before == after or (before.period == after.period and is_at_most(after.amount, before.amount))
    )


def _is_bound(before: Moment, after: Moment, *, is_end: bool = False) -> bool:
    """Whether a start is set or moves later, or an end is set or moves earlier. Days and instants are not compared."""
    if before is None or not isinstance(after, date):
        return before is None and isinstance(after, date)
    if not isinstance(before, date) or type(before) is not type(after):
        return False
    return after <= before if is_end else before <= after


# -- arithmetic ---------------------------------------------------------------------------------------------------


def compute_spend(settings: SpendSettings, timezone: str | None, now: datetime | None) -> Spend:
    """Return how much the budgets of an entity allow from now on.

    A daily budget counts for each day of the account from the later of today and the start to the end, both included. A
    lifetime budget counts in full. With both, the lower amount counts.

    Args:
        settings: the settings of the entity. Start and end may come from another level.
        timezone: the IANA name of the account's time zone; None if it is not known.
        now: the present; None: nothing is compared with it.
    """
    amounts: dict[Period, Amount] = {
        budget.period: budget.amount for budget in settings.budgets.values() if budget.amount is not None
    }
    if not amounts:
        return NO_SPEND
    if "unknown" in amounts.values():
        return UNKNOWN_SPEND
    daily, lifetime = amounts.get("daily"), amounts.get("lifetime")
    if daily is None:
        return Spend(lifetime or 0, lifetime or 0)
    total = _multiply_amount(daily, count_days(settings.start, settings.end, timezone, now))
    return Spend(daily, total) if lifetime is None else Spend(_get_lower(daily, lifetime), _get_lower(total, lifetime))


def count_days(start: Moment, end: Moment, timezone: str | None, now: datetime | None) -> Amount:
    """Return on how many days of the account an entity may spend: ``unbounded`` without an end, 0 if it has ended."""
    if end is None:
        return "unbounded"
    zone = _find_zone(timezone)
    if "unknown" in (start, end) or zone is None:
        return "unknown"
    if now is not None and isinstance(end, datetime) and end <= now:
        return 0
    last = to_local_days(end, end, zone.key)[1] if isinstance(end, datetime) else end
    firsts = [
        moment.astimezone(zone).date() if isinstance(moment, datetime) else moment
        for moment in (start, now)
        if isinstance(moment, date)
    ]
    if not firsts or not isinstance(last, date):
        return "unknown"
    return max(0, (last - max(firsts)).days + 1)


def find_common_run(line: Sequence[SpendSettings], timezone: str | None) -> SpendSettings:
    """Return the last entity's settings with the latest start and the earliest end of all entities of the line."""
    *_, last = line
    starts = _sort_moments([settings.start for settings in line if settings.start is not None], timezone)
    ends = _sort_moments([settings.end for settings in line if settings.end is not None], timezone)
    return evolve(last, start=starts[-1] if starts else None, end=ends[0] if ends else None)


def find_widest_run(settings: SpendSettings, others: Sequence[SpendSettings], timezone: str | None) -> SpendSettings:
    """Return the settings with the latest end of other entities and, without a start, their earliest start.

    If one of the other entities has no end, the settings are returned unchanged.
    """
    if not others or any(other.end is None for other in others):
        return settings
    ends = _sort_moments([other.end for other in others], timezone)
    starts = _sort_moments([other.start for other in others], timezone) if settings.start is None else [settings.start]
    return evolve(settings, start=starts[0], end=ends[-1])


def _sort_moments(moments: Iterable[Moment], timezone: str | None) -> list[Moment]:
    """Return the moments in their order. If one is ``unknown``, or else None, the list has only this value."""
    every = list(moments)
    for other in ("unknown", None):
        if other in every:
            return [other]
    return [
        *sorted(
            (moment for moment in every if isinstance(moment, date)), key=lambda moment: _get_order(moment, timezone)
        )
    ]


def _get_order(moment: date, timezone: str | None) -> str:
    """Return a text that orders days and instants: a day comes after each of its instants."""
    if not isinstance(moment, datetime):
        return f"{moment.isoformat()}~"
    return moment.astimezone(_find_zone(timezone) or UTC).isoformat()


def _find_zone(timezone: str | None) -> ZoneInfo | None:
    """Return the account's time zone; None if its name is not known or not valid."""
    try:
        return None if timezone is None else get_timezone(timezone)
    except InvalidInput:
        return None


def _multiply_amount(amount: Amount, count: Amount) -> Amount:
    if isinstance(amount, int) and isinstance(count, int):
        product = amount * count
        return product if product <= MAX_NATIVE_UNITS else "unbounded"
    return "unknown" if "unknown" in (amount, count) else "unbounded"


def _get_lower(first: Amount, second: Amount) -> Amount:
    if "unknown" in (first, second):
        return "unknown"
    return min((amount for amount in (first, second) if isinstance(amount, int)), default="unbounded")
