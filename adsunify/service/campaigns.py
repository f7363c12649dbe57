"""The unified workflow: validate a brief, prepare its creation, prepare the activation of what was created."""

from __future__ import annotations

from adsunify.actor import Actor
from adsunify.brief import CampaignBrief
from adsunify.checks import check
from adsunify.errors import InvalidInput, Issue, ProviderError
from adsunify.networks import Adapter, adapter
from adsunify.steps import Plan
from adsunify.wire import Json

from . import preparing, shapes
from .core import Idempotency, Result, Service
from .session import Session


async def validate(service: Service, actor: Actor, *, account_id: str, campaign: CampaignBrief) -> Json:
    """Hold a brief against the network's rules and show the plan it would become; nothing is saved or published."""
    session = await Session.of(service, actor, account_id)
    one = adapter(session.account.network)
    plan, warnings = await _planned(service, session, one, campaign)
    return {
        "valid": True,
        "network": one.network.code,
        "format": check(one.network, session.native, campaign).code,
        "plan": shapes.plan_view(plan),
        "risk": plan.risk,
        "warnings": [*plan.warnings, *warnings],
    }


async def create(
    service: Service, actor: Actor, *, account_id: str, campaign: CampaignBrief, idempotency: Idempotency | None
) -> Result:
    """Prepare the creation of a campaign: an exact step plan to review. Created entities stay paused."""
    bound = await preparing.bound(service, actor, idempotency)
    if bound is not None:
        return bound
    session = await Session.of(service, actor, account_id)
    one = adapter(session.account.network)
    plan, warnings = await _planned(service, session, one, campaign)
    return await preparing.keep(service, actor, account_id, [preparing.warned(plan, warnings)], idempotency)


async def activate(
    service: Service, actor: Actor, *, account_id: str, source_operation_id: str, idempotency: Idempotency | None
) -> Result:
    """Prepare the activation of everything a create operation made, keywords too: leaves first, the campaign last."""
    bound = await preparing.bound(service, actor, idempotency)
    if bound is not None:
        return bound
    session = await Session.of(service, actor, account_id)
    source = await preparing.source(service, actor, account_id, source_operation_id)
    one = adapter(session.account.network)
    plan = await session.run(one.plans.plan_activate(session.native, source.plan, source.outputs))
    return await preparing.keep(service, actor, account_id, [plan], idempotency, source_operation_id)


async def _planned(service: Service, session: Session, one: Adapter, brief: CampaignBrief) -> tuple[Plan, list[str]]:
    """The plan and the preflight's warnings; raises InvalidInput with paths below ``campaign``."""
    try:
        check(one.network, session.native, brief, service.now())
        session.needs_active()
        plan = await session.run(one.plans.plan_create(session.native, brief, service.now()))
        issues, warnings = await _preflight(session, one, brief)
        if issues:
            raise InvalidInput(issues)
    except InvalidInput as problem:
        raise InvalidInput([_below(issue) for issue in problem.issues], code=problem.code) from None
    return plan, warnings


def _below(issue: Issue) -> Issue:
    path = issue.path if issue.path.startswith("account") else f"campaign.{issue.path}" if issue.path else "campaign"
    return Issue(path, issue.code, issue.message)


async def _preflight(session: Session, one: Adapter, brief: CampaignBrief) -> tuple[list[Issue], list[str]]:
    try:
        found: tuple[list[Issue], list[str]] = await session.run(one.plans.preflight(session.native, brief))
    except ProviderError as problem:
        return [], [f"The check at the network could not be made: {problem.message}"]
    return found
