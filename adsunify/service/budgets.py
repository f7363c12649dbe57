"""Warns about a budget far above the largest one of an account."""

from __future__ import annotations

from attrs import evolve

from adsunify.plans.exposure import Exposure, format_amount
from adsunify.plans.records import Plan
from adsunify.store import guardrails
from adsunify.values.money import group_digits

from .core import Service

UNUSUAL_FACTOR = 10
"""A budget gets a warning if it is more than this many times the largest one of its account."""


async def with_size_warning(service: Service, account_id: str, plan: Plan) -> Plan:
    """Return the plan, with a warning if it sets a budget far above the largest one that was read on the account."""
    exposure = plan.exposure
    amounts = [] if exposure is None else list_new_budgets(exposure)
    if exposure is None or not amounts:
        return plan
    largest = await service.store.run_query(guardrails.find_largest_budget(account_id))
    if largest is None or max(amounts) <= UNUSUAL_FACTOR * largest:
        return plan
    new, known = (
        f"{group_digits(format_amount(amount, exposure.currency))} {exposure.currency}"
        for amount in (max(amounts), largest)
    )
    text = f"The budget of {new} is more than ten times the largest one read on this account so far, {known}."
    return evolve(plan, warnings=(*plan.warnings, text), risk="spend" if plan.risk == "low" else plan.risk)


def list_new_budgets(exposure: Exposure) -> list[int]:
    """Return the budgets that a plan raises or creates, in micro-units."""
    raised = [
        change.after
        for change in exposure.budgets
        if change.after is not None and (change.before is None or change.after > change.before)
    ]
    planned = exposure.planned.daily
    return [*raised, planned] if isinstance(planned, int) and planned else raised
