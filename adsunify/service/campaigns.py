"""The unified workflow: validate a brief, prepare its creation, prepare the activation of what was created."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adsunify.actor import Actor
from adsunify.adapter.brief_checks import check, rest
from adsunify.adapter.network import Format
from adsunify.errors import InvalidInput, Issue, NotFound, ProviderError
from adsunify.models.brief import CampaignBrief
from adsunify.models.error_messages import UUID
from adsunify.plans.records import Plan
from adsunify.values.exact_json import Json, loads

from . import preparing, shapes
from .core import Idempotency, Result, Service
from .session import Session


async def validate(service: Service, actor: Actor, *, account_id: str, campaign: CampaignBrief) -> Json:
    """Hold a brief against the network's rules and show the plan it would become; nothing is saved or published."""
    session = await Session.of(service, actor, account_id)
    chosen, plan = await _planned(service, session, campaign)
    return {
        "valid": True,
        "network": plan.network,
        "format": chosen.code,
        "plan": shapes.plan_view(plan),
        "risk": plan.risk,
        "warnings": list(plan.warnings),
    }


async def create(
    service: Service, actor: Actor, *, account_id: str, campaign: CampaignBrief, idempotency: Idempotency | None
) -> Result:
    """Prepare the creation of a campaign: an exact step plan to review. Created entities stay paused."""
    bound = await preparing.bound(service, actor, idempotency)
    if bound is not None:
        return bound
    session = await Session.of(service, actor, account_id)
    _, plan = await _planned(service, session, campaign)
    return await preparing.keep(service, actor, account_id, [plan], idempotency, unified=True)


async def activate(
    service: Service, actor: Actor, *, account_id: str, source_operation_id: str, idempotency: Idempotency | None
) -> Result:
    """Prepare the activation of everything a create operation made, keywords too: leaves first, the campaign last."""
    bound = await preparing.bound(service, actor, idempotency)
    if bound is not None:
        return bound
    session = await Session.of(service, actor, account_id)
    session.needs_active()
    source = await preparing.source(service, actor, account_id, source_operation_id)
    plan = await session.run(session.adapter.plans.plan_activate(session.native, source.plan, source.outputs))
    return await preparing.keep(service, actor, account_id, [plan], idempotency, source_operation_id)


async def _planned(service: Service, session: Session, brief: CampaignBrief) -> tuple[Format, Plan]:
    """The format that the brief is, and the plan with all warnings; raises InvalidInput with paths as in the body."""
    session.needs_active()
    network, plans, now = session.adapter.network, session.adapter.plans, service.now()
    try:
        chosen = check(network, session.native, brief, now)
        plan = await session.run(plans.plan_create(session.native, brief, now))
        issues, warnings = await _preflight(session, brief)
        if issues:
            raise InvalidInput(issues)
    except InvalidInput as problem:
        raise InvalidInput([_below(issue) for issue in problem.issues], code=problem.code) from None
    return chosen, preparing.warned(plan, warnings)


_UUID = re.compile(UUID).fullmatch


async def beside(service: Service, actor: Actor, body: bytes, told: Sequence[Issue]) -> list[Issue]:
    """What the network says of what can be read of a refused body, so that all is told at once; it is not asked."""
    try:
        given = loads(body)
    except ValueError:
        return []
    account_id, campaign = (given.get(name) if isinstance(given, dict) else None for name in ("accountId", "campaign"))
    paths = [issue.path for issue in told]
    if not isinstance(account_id, str) or not isinstance(campaign, dict) or not _UUID(account_id):
        return []
    try:
        session = await Session.of(service, actor, account_id.lower())
    except NotFound:
        return []
    inside = [path.partition(".")[2] for path in paths if path.partition(".")[0] == "campaign"]
    found = rest(session.adapter.network, session.native, campaign, inside, service.now())
    return [_below(issue) for issue in found]


def _below(issue: Issue) -> Issue:
    path = issue.path if issue.path.startswith("account") else f"campaign.{issue.path}" if issue.path else "campaign"
    return Issue(path, issue.code, issue.message)


async def _preflight(session: Session, brief: CampaignBrief) -> tuple[list[Issue], list[str]]:
    try:
        found = await session.run(session.adapter.plans.preflight(session.native, brief))
    except ProviderError as problem:
        return [], [f"The check at the network could not be made: {problem.message}"]
    return found
