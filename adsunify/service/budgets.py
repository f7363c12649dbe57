"""Budgets around a plan: the values on which an activation rests, and the largest budget of an account."""

from __future__ import annotations

from attrs import evolve

from adsunify.actor import Actor
from adsunify.adapter import flows
from adsunify.errors import OperationError
from adsunify.guardrails.exposure import ExposureReader
from adsunify.plans.exposure import Exposure, format_amount
from adsunify.plans.records import Plan
from adsunify.store import guardrails
from adsunify.store.operations import OperationRecord

from .core import Service
from .network_session import NetworkSession

UNUSUAL_FACTOR = 10
"""A budget above so many times the largest one of its account gets a warning."""
STALE_ADVICE = "Cancel the operation and prepare the change again, so that the new value is reviewed."


async def with_size_warning(service: Service, account_id: str, plan: Plan) -> Plan:
    """Return the plan, with a warning if it sets a budget far above the largest one that was read on the account."""
    exposure = plan.exposure
    amounts = [] if exposure is None else list_new_budgets(exposure)
    if exposure is None or not amounts:
        return plan
    largest = await service.store.read(guardrails.find_largest_budget, account_id)
    if largest is None or max(amounts) <= UNUSUAL_FACTOR * largest:
        return plan
    new, known = (
        f"{format_amount(amount, exposure.currency)} {exposure.currency}" for amount in (max(amounts), largest)
    )
    text = f"The budget of {new} is more than ten times the largest one read on this account so far, {known}."
    return evolve(plan, warnings=(*plan.warnings, text), risk="spend" if plan.risk == "low" else plan.risk)


def list_new_budgets(exposure: Exposure) -> list[int]:
    """Return the budgets that a plan raises or sets up, in micro-units."""
    raised = [
        change.after
        for change in exposure.budgets
        if change.after is not None and (change.before is None or change.after > change.before)
    ]
    planned = exposure.planned.daily
    return [*raised, planned] if isinstance(planned, int) and planned else raised


async def require_planned_values(service: Service, actor: Actor, record: OperationRecord) -> None:
    """Read the values again on which the exposure of a plan rests, before its first write.

    Plans without guards read nothing. Nothing is read for an account that is not active: the claim refuses it.

    Raises:
        OperationError: ``plan_stale``; a value differs from the plan. Nothing was written.
        ProviderError: the values cannot be read.
    """
    exposure = record.read_plan().exposure
    if exposure is None or not exposure.guards:
        return
    session = await NetworkSession.load(service, actor, record.account_id)
    if session.account.status != "active":
        return
    reader = ExposureReader(session.adapter, session.native_account, service.now())
    found = await session.run_flow(flows.memoize_reads(reader.fetch_guarded_values(exposure.guards)))
    for guard in exposure.guards:
        present = found.get((guard.kind, guard.entity_id, guard.field))
        if not guard.is_kept(present):
            planned, now = (_format(value, exposure.currency) for value in (guard.value, present))
            text = f"{guard.field} of the {guard.kind} {guard.entity_id} is {now}; the plan rests on {planned}."
            raise OperationError(f"{text} {STALE_ADVICE}", code="plan_stale")


def _format(value: str | int | None, currency: str | None) -> str:
    if value is None:
        return "not set"
    return f"{format_amount(value, currency)} {currency}" if isinstance(value, int) else value
