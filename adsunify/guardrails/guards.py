"""The values of one entity that a change depends on, and the budgets that it changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adsunify.adapter.hierarchy import ParsedEntity
from adsunify.adapter.spend import SpendSettings, is_at_most
from adsunify.plans.exposure import BudgetChange, Guard
from adsunify.values.money import MAX_NATIVE_UNITS

STATUS_FIELD = "status"
"""The name of the unified status among guarded values."""


def list_named_guards(
    entity: ParsedEntity, before: SpendSettings, after: SpendSettings, named: Iterable[str]
) -> tuple[Guard, ...]:
    """Return a guard for each value of an entity that a change names."""
    old, new = dict(before.list_values()), dict(after.list_values())
    return tuple(
        Guard(entity.kind, entity.id, name, old.get(name), planned if isinstance(planned, int) else None)
        for name in named
        if (planned := new.get(name)) is not None or name in old
    )


def list_budget_changes(entity: ParsedEntity, before: SpendSettings, after: SpendSettings) -> Iterator[BudgetChange]:
    """Yield the budgets that differ. An amount that cannot be read is left out: it makes the exposure unknown.

    An amount that does not fit into 64 bits counts as the largest that does. If a lifetime budget becomes a daily one,
    the lifetime budget ends and a daily budget without an earlier value begins, because their amounts cannot be
    compared.
    """
    for field in dict.fromkeys((*before.budgets, *after.budgets)):
        old, new = (
            None if field not in settings.budgets else settings.budgets[field].amount for settings in (before, after)
        )
        new = MAX_NATIVE_UNITS if new == "unbounded" else new
        if isinstance(old, str) or isinstance(new, str):
            continue
        if new is not None and _becomes_daily(field, before, after):
            yield BudgetChange(entity.kind, entity.id, field, old, None)
            yield BudgetChange(entity.kind, entity.id, f"{field}/daily", None, new)
        elif old != new:
            yield BudgetChange(entity.kind, entity.id, field, old, new)


def _becomes_daily(field: str, before: SpendSettings, after: SpendSettings) -> bool:
    """Whether an amount for a lifetime becomes one for each day, and no amount for a lifetime limits it as before."""
    old, new = before.budgets.get(field), after.budgets.get(field)
    if old is None or new is None or (old.period, new.period) != ("lifetime", "daily") or old.amount is None:
        return False
    return not any(
        budget.period == "lifetime" and is_at_most(budget.amount, old.amount) for budget in after.budgets.values()
    )
