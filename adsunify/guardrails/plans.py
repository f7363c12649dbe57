"""The consequences of the exposure of a plan: its risk, its warnings, and the budgets to remember."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from adsunify.adapter.spend import BUDGET_FIELDS
from adsunify.plans.exposure import NO_SPEND, BudgetChange, Exposure
from adsunify.plans.records import Plan


def list_read_budgets(exposure: Exposure | None) -> list[BudgetChange]:
    """Return the budgets that were read for a plan."""
    if exposure is None:
        return []
    changed = {(change.kind, change.entity_id, change.field) for change in exposure.budgets}
    return [
        *exposure.budgets,
        *(
            BudgetChange(guard.kind, guard.entity_id, guard.field, guard.value, guard.value)
            for guard in exposure.guards
            if guard.field in BUDGET_FIELDS
            and isinstance(guard.value, int)
            and (guard.kind, guard.entity_id, guard.field) not in changed
        ),
    ]


def attach_exposure(plan: Plan, exposure: Exposure) -> Plan:
    """Return the plan with its exposure, and with the risk and the warnings that follow from it."""
    is_risky = plan.risk == "low" and exposure.exposure != NO_SPEND
    warnings = [*plan.warnings, *(text for text in collect_warnings(plan, exposure) if text not in plan.warnings)]
    return evolve(plan, exposure=exposure, risk="spend" if is_risky else plan.risk, warnings=tuple(warnings))


def collect_warnings(plan: Plan, exposure: Exposure) -> Iterator[str]:
    """Yield warnings for the reviewer about budgets that more than double, and about an activation without an end."""
    for change in exposure.budgets:
        if change.before and change.after is not None and change.after > 2 * change.before:
            percent = (change.after - change.before) * 100 // change.before
            yield f"{change.field} rises by {percent} %: it more than doubles."
    if exposure.activates and exposure.exposure.lifetime == "unbounded":
        yield "It has no end: it spends until somebody pauses it."
