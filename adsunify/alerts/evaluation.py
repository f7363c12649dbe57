"""Decides which entities break an alert. docs/alerts.md has the rules.

Amounts of alerts and budgets are in micro-units, figures in major units. A missing figure is never 0: the result is
unknown, unless the present figures suffice for a breach.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from attrs import evolve, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.hierarchy import ParsedEntity
from adsunify.adapter.network import Network, Setting, get_level
from adsunify.adapter.settings import list_settings
from adsunify.adapter.spend import BUDGET_FIELDS, Moment, read_spend_settings
from adsunify.plans.exposure import format_amount
from adsunify.plans.records import Kind
from adsunify.values.dates import format_utc, get_midnight, get_timezone
from adsunify.values.json_pointer import get_text
from adsunify.values.money import MICROS, format_decimal

from .rules import Alert, AlertBreach, AlertEvaluation, BreachKey, Gap, make_entity_gap
from .windows import DayWindow, FigureState, WindowSums

LATE_DAYS = 7
"""For how many days after its end a window of ``spendAbove`` is evaluated again, with corrected figures."""
WATCHED_DAYS = 30
"""For how many days after its activation ``noDeliveryFor`` watches an entity."""
SETTLING_TIME = timedelta(hours=6)
"""``paceAbove`` evaluates a budget after this part of its time.

Before that, its share is too small for a comparison.
"""
_MICROSECOND = timedelta(microseconds=1)
INCOMPLETE_REASON = "Some days were not synced, or the network has not reported them completely: {first} to {last}."


# -- spendAbove ---------------------------------------------------------------------------------------------------


def list_spend_windows(alert: Alert, today: date, created_on: date) -> tuple[DayWindow, ...]:
    """Return the windows of an evaluation, the latest first. No window ends before the alert was created."""
    length = timedelta(days=(alert.days or 1) - 1)
    ends = (today - timedelta(days=number) for number in range(LATE_DAYS))
    return tuple(DayWindow(end - length, end) for end in ends if end >= min(created_on, today))


def evaluate_spend(alert: Alert, sums: WindowSums, windows: Sequence[DayWindow], state: FigureState) -> AlertEvaluation:
    """Find the entities that have spent more than the amount within a window."""
    amount = Decimal(alert.amount or 0) / MICROS
    breaches: dict[BreachKey, AlertBreach] = {}
    unknown: set[str] = set()
    for key, total in sums.totals.items():
        entity_id, window = key
        if total > amount:
            day = window.last.isoformat()
            allowed = format_amount(alert.amount or 0, alert.currency)
            breaches[entity_id, day] = AlertBreach(day, allowed, format_decimal(total))
        elif key in sums.unknown:
            unknown.add(entity_id)
    open_windows = [window for window in windows if not state.is_complete(window)]
    gaps = [*_make_incomplete_gap(open_windows), *make_entity_gap(NO_SPEND_REASON, unknown)]
    return AlertEvaluation(
        breaches,
        frozenset(unknown),
        frozenset(window.last.isoformat() for window in open_windows),
        tuple(gaps),
        first_period=windows[-1].last.isoformat(),
    )


NO_SPEND_REASON = "The network does not report the spend of {count} entities on some days."


def _make_incomplete_gap(windows: Iterable[DayWindow]) -> list[Gap]:
    """Return the gap of windows with incomplete days; no gap without windows."""
    some = list(windows)
    if not some:
        return []
    first, last = min(window.first for window in some), max(window.last for window in some)
    return [Gap(INCOMPLETE_REASON.format(first=first, last=last))]


# -- noDeliveryFor ------------------------------------------------------------------------------------------------


@frozen
class Activation:
    """An activation by an operation. ``day`` is the day in the account's time zone."""

    at: datetime
    day: date


def list_watched(
    activations: Mapping[str, Activation], alert: Alert, state: FigureState
) -> dict[str, tuple[Activation, DayWindow]]:
    """Return the activations whose waiting hours have passed, with the days since then, by entity."""
    earliest = state.today - timedelta(days=WATCHED_DAYS)
    due = state.read_at - timedelta(hours=alert.hours or 0)
    return {
        entity_id: (activation, DayWindow(activation.day, state.today))
        for entity_id, activation in activations.items()
        if activation.at <= due and earliest <= activation.day <= state.today
    }


def evaluate_delivery(
    alert: Alert,
    watched: Mapping[str, tuple[Activation, DayWindow]],
    untimed: Iterable[str],
    sums: WindowSums,
    state: FigureState,
) -> AlertEvaluation:
    """Find the entities without an impression since their activation.

    Args:
        alert: the alert.
        watched: the result of :func:`list_watched`.
        untimed: active entities that no operation has activated.
        sums: the impressions of the watched entities.
        state: the figures.
    """
    breaches: dict[BreachKey, AlertBreach] = {}
    unknown: set[str] = set()
    open_windows = []
    for entity_id, (activation, window) in watched.items():
        if sums.get_total(entity_id, window) > 0:
            continue
        if (entity_id, window) in sums.unknown:
            unknown.add(entity_id)
        elif not state.is_complete(window):
            unknown.add(entity_id)
            open_windows.append(window)
        else:
            hours = (state.read_at - activation.at) // timedelta(hours=1)
            breach = AlertBreach(state.today.isoformat(), str(alert.hours), str(hours))
            breaches[entity_id, format_utc(activation.at)] = breach
    gaps = [
        *make_entity_gap(
            "{count} active entities were activated elsewhere, or too long ago, so their activation has no known time.",
            untimed,
        ),
        *_make_incomplete_gap(open_windows),
        *make_entity_gap(
            "The impressions of {count} entities are not reported for all days.",
            (id_ for id_ in unknown if (id_, watched[id_][1]) in sums.unknown),
        ),
    ]
    return AlertEvaluation(breaches, frozenset(unknown), gaps=tuple(gaps))


def confirm_breaches(
    alert: Alert,
    evaluation: AlertEvaluation,
    lineages: Mapping[str, Sequence[ParsedEntity]],
    activations: Mapping[tuple[str, str], datetime],
    state: FigureState,
) -> AlertEvaluation:
    """Return the evaluation with only the breaches of entities that could deliver for all of the hours.

    An entity delivers if it is active, and so is everything above it. The hours count from the last activation of them
    by an operation.

    Args:
        alert: the alert.
        evaluation: the result of :func:`evaluate_delivery`.
        lineages: each entity with its ancestors, as the network shows them now; empty for a deleted entity.
        activations: the times of activations by operations, by kind and id.
        state: the figures.
    """
    breaches = {}
    for (entity_id, _), breach in evaluation.breaches.items():
        lineage = lineages.get(entity_id, ())
        if not lineage or any(entity.status != "active" for entity in lineage):
            continue
        times = [activations[key] for entity in lineage if (key := (entity.kind, entity.id)) in activations]
        hours = (state.read_at - max(times)) // timedelta(hours=1) if times else 0
        if hours >= (alert.hours or 0):
            breaches[entity_id, format_utc(max(times))] = evolve(breach, actual=str(hours))
    return evolve(evaluation, breaches=breaches)


# -- disapproved --------------------------------------------------------------------------------------------------


def evaluate_reviews(network: Network, alert: Alert, entities: Iterable[ParsedEntity], today: date) -> AlertEvaluation:
    """Find the entities that the network's review has refused, and that are neither archived nor deleted."""
    level = get_level(network, alert.level)
    breaches = {}
    for entity in entities:
        status = get_text(entity.native, level.review_status)
        if status in level.disapproved_statuses and entity.status in ("active", "paused"):
            breaches[entity.id, ""] = AlertBreach(today.isoformat(), None, str(status))
    return AlertEvaluation(breaches)


# -- paceAbove ----------------------------------------------------------------------------------------------------


@frozen
class PacedBudget:
    """A budget of an active entity, with the time in which it is to be spent. ``amount`` is in micro-units."""

    entity_id: str
    amount: int
    start: datetime
    end: datetime
    window: DayWindow

    @property
    def period(self) -> str:
        """The period of a breach: the day of a daily budget, or the start of a lifetime budget."""
        return format_utc(self.start)


@frozen
class PacedBudgets:
    """The budgets of a level, and the entities whose budget cannot be compared, by reason."""

    budgets: tuple[PacedBudget, ...]
    gaps: tuple[Gap, ...]
    unknown_entities: frozenset[str]


def read_paced_budgets(
    network: Network, account: Account, kind: Kind, entities: Iterable[ParsedEntity], state: FigureState
) -> PacedBudgets:
    """Read the budgets of active entities, each with the time in which it is to be spent."""
    budgets: list[PacedBudget] = []
    refused: dict[str, list[str]] = {}
    timezone = account.timezone or "UTC"
    midnight = get_midnight(state.today, timezone)
    next_midnight = get_midnight(state.today + timedelta(days=1), timezone)
    has_entities = has_budget = False
    for entity in entities:
        if entity.status != "active":
            continue
        has_entities = True
        settings = read_spend_settings(network, account, kind, entity.native)
        for field, budget in settings.budgets.items():
            if budget.amount is None:
                continue
            has_budget = True
            reason = None
            if not isinstance(budget.amount, int) or not _has_known_period(network, kind, field, entity):
                reason = "The budget of {count} entities is not a daily or lifetime amount that can be read."
            elif budget.period == "daily":
                window = DayWindow(state.today, state.today)
                budgets.append(PacedBudget(entity.id, budget.amount, midnight, next_midnight, window))
            else:
                start, end = _to_start(settings.start, timezone), _to_end(settings.end, timezone)
                if start is None or end is None or end <= start:
                    reason = "{count} entities have a lifetime budget without a start and an end of their own."
                else:
                    first = start.astimezone(get_timezone(timezone)).date()
                    if first <= state.today:
                        window = DayWindow(first, state.today)
                        budgets.append(PacedBudget(entity.id, budget.amount, start, end, window))
            if reason is not None:
                refused.setdefault(reason, []).append(entity.id)
    gaps = [gap for reason, ids in refused.items() for gap in make_entity_gap(reason, ids)]
    if has_entities and not has_budget:
        gaps.append(Gap("No active entity of this level has a budget of its own. Look at the other level."))
    return PacedBudgets(tuple(budgets), tuple(gaps), frozenset(id_ for ids in refused.values() for id_ in ids))


def _has_known_period(network: Network, kind: Kind, field: str, entity: ParsedEntity) -> bool:
    """Whether a budget is for one day or for all time. Outbrain's monthly budgets only count as daily ones."""
    setting = next(candidate for candidate in list_settings(network, kind) if candidate.field == field)
    return BUDGET_FIELDS[field] is not None or _get_period(setting, entity) in ("daily", "lifetime")


def _get_period(setting: Setting, entity: ParsedEntity) -> str | None:
    return setting.period(entity.native) if callable(setting.period) else setting.period


def _to_start(moment: Moment, timezone: str) -> datetime | None:
    if isinstance(moment, datetime):
        return moment
    return get_midnight(moment, timezone) if isinstance(moment, date) else None


def _to_end(moment: Moment, timezone: str) -> datetime | None:
    if isinstance(moment, datetime):
        return moment
    return get_midnight(moment + timedelta(days=1), timezone) if isinstance(moment, date) else None


def evaluate_pace(alert: Alert, paced: PacedBudgets, sums: WindowSums, state: FigureState) -> AlertEvaluation:
    """Find the budgets with more spend than the given percentage of the budget's share for the elapsed time."""
    percent = Fraction(alert.percent or 0)
    breaches: dict[BreachKey, AlertBreach] = {}
    unknown = set(paced.unknown_entities)
    unreported: set[str] = set()
    early: set[str] = set()
    open_windows = []
    for budget in paced.budgets:
        elapsed = min(state.read_at, budget.end) - budget.start
        if elapsed < SETTLING_TIME:
            early.add(budget.entity_id)
            continue
        share = Fraction(elapsed // _MICROSECOND, (budget.end - budget.start) // _MICROSECOND)
        spent_percent = (
            Fraction(sums.get_total(budget.entity_id, budget.window)) * MICROS * 100 / (budget.amount * share)
        )
        if spent_percent > percent:
            breaches[budget.entity_id, budget.period] = AlertBreach(
                state.today.isoformat(), format_decimal(alert.percent or 0), _format_percent(spent_percent)
            )
        elif (budget.entity_id, budget.window) in sums.unknown:
            unreported.add(budget.entity_id)
        elif not state.is_complete(budget.window):
            unknown.add(budget.entity_id)
            open_windows.append(budget.window)
    gaps = [
        *paced.gaps,
        *make_entity_gap("The budgets of {count} entities began less than 6 hours ago, or later.", early),
        *_make_incomplete_gap(open_windows),
        *make_entity_gap(NO_SPEND_REASON, unreported),
    ]
    return AlertEvaluation(breaches, frozenset(unknown | unreported | early), gaps=tuple(gaps))


def _format_percent(value: Fraction) -> str:
    """Format a percentage with one digit, rounded up, so that a breach never shows the allowed percentage."""
    tenths = -(-value.numerator * 10 // value.denominator)
    return format_decimal(Decimal(tenths) / 10)
