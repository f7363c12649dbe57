"""The unified workflow: validate a brief, prepare its creation, prepare its activation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from adsunify.actor import Actor
from adsunify.adapter import flows, hierarchy
from adsunify.adapter.brief_checks import check_brief, check_partial_brief
from adsunify.adapter.formats import Format
from adsunify.errors import InvalidInput, Issue, NotFound, ProviderError
from adsunify.guardrails.children import Creation
from adsunify.guardrails.exposure import ExposureReader, compute_brief_exposure
from adsunify.guardrails.plans import attach_exposure
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief
from adsunify.models.error_messages import UUID_REGEX
from adsunify.plans.records import Plan
from adsunify.values.exact_json import Json, loads

from . import preparation, serializers
from .budgets import with_size_warning
from .core import Idempotency, Service, UseCaseResult
from .network_session import NetworkSession
from .rule_checks import check_plans


async def validate_campaign(service: Service, actor: Actor, *, account_id: str, campaign: CampaignBrief) -> Json:
    """Check a brief against the network's rules and return its plan. Nothing is saved or published."""
    session = await NetworkSession.load(service, actor, account_id)
    chosen, plan = await plan_campaign(service, session, campaign)
    (plan,) = await check_plans(service, actor, account_id, [plan], is_validation=True)
    return {
        "valid": True,
        "network": plan.network,
        "format": chosen.code,
        "plan": serializers.plan_view(plan),
        "risk": plan.risk,
        "warnings": list(plan.warnings),
    }


async def prepare_campaign(
    service: Service, actor: Actor, *, account_id: str, campaign: CampaignBrief, idempotency: Idempotency | None
) -> UseCaseResult:
    """Prepare the creation of a campaign as an exact plan to review. Created entities stay paused."""
    replay = await preparation.find_replay(service, actor, idempotency)
    if replay is not None:
        return replay
    session = await NetworkSession.load(service, actor, account_id)
    _, plan = await plan_campaign(service, session, campaign)
    return await preparation.save_operations(service, actor, account_id, [plan], idempotency, unified=True)


async def prepare_activation(
    service: Service, actor: Actor, *, account_id: str, source_operation_id: str, idempotency: Idempotency | None
) -> UseCaseResult:
    """Prepare the activation of everything that a create operation created, including keywords.

    The plan activates the lowest level first and the campaign last.
    """
    replay = await preparation.find_replay(service, actor, idempotency)
    if replay is not None:
        return replay
    plan, source_id = await plan_activation(service, actor, account_id, source_operation_id)
    return await preparation.save_operations(service, actor, account_id, [plan], idempotency, source_id)


async def plan_activation(
    service: Service, actor: Actor, account_id: str, source_operation_id: str
) -> tuple[Plan, str]:
    """Return the plan of an activation, and the id of the operation whose entities it activates."""
    session = await NetworkSession.load(service, actor, account_id)
    session.require_active()
    source = await preparation.read_activation_source(service, actor, account_id, source_operation_id)
    created = [Creation(kind, entity_id) for kind, entity_id in source.created]
    reader = ExposureReader(await session.make_child_reader(created), service.now())
    plan = await session.run_flow(flows.memoize_reads(_plan_activation(session, source, reader)))
    return plan, source.operation_id


def _plan_activation(
    session: NetworkSession, source: preparation.ActivationSource, reader: ExposureReader
) -> Flow[Plan]:
    """Plan an activation.

    Its exposure is the exposure of the campaign, because all entities spend the campaign's budget.

    Raises InvalidInput ``deleted`` if the network shows that the campaign is deleted, or archived for good.
    """
    adapter, account = session.adapter, session.native_account
    campaign = yield from reader.find_entity("campaign", source.campaign_id)
    if campaign is not None:
        hierarchy.require_accepted_action(adapter.network, campaign, "activate", "sourceOperationId")
    plan = yield from adapter.plans.plan_activate(account, source.plan, source.outputs)
    return attach_exposure(plan, (yield from reader.fetch_activation("campaign", source.campaign_id)))


async def plan_campaign(service: Service, session: NetworkSession, brief: CampaignBrief) -> tuple[Format, Plan]:
    """Return the brief's format, and its plan with all warnings. Raises InvalidInput with paths as in the body."""
    session.require_active()
    network, plans, now = session.adapter.network, session.adapter.plans, service.now()
    try:
        chosen = check_brief(network, session.native_account, brief, now)
        plan = await session.run_flow(plans.plan_create(session.native_account, brief, now))
        plan = attach_exposure(plan, compute_brief_exposure(session.native_account, brief, now))
        issues, warnings = await _run_preflight(session, brief)
        if issues:
            raise InvalidInput(issues)
    except InvalidInput as problem:
        raise InvalidInput(_prefix_brief_paths(problem.issues), code=problem.code) from None
    return chosen, await with_size_warning(service, session.account.id, preparation.with_warnings(plan, warnings))


_UUID = re.compile(UUID_REGEX).fullmatch


async def find_brief_issues(service: Service, actor: Actor, body: bytes, known_issues: Sequence[Issue]) -> list[Issue]:
    """Find further issues in the readable part of a refused body, so that one response reports all issues.

    The checks use the network's tables and send no request. ``known_issues``: the issues found so far.
    """
    try:
        members = loads(body)
    except ValueError:
        return []
    account_id, campaign = (
        members.get(name) if isinstance(members, dict) else None for name in ("accountId", "campaign")
    )
    paths = [issue.path for issue in known_issues]
    if not isinstance(account_id, str) or not isinstance(campaign, dict) or not _UUID(account_id):
        return []
    try:
        session = await NetworkSession.load(service, actor, account_id.lower())
    except NotFound:
        return []
    inside = [path.partition(".")[2] for path in paths if path.partition(".")[0] == "campaign"]
    issues = check_partial_brief(session.adapter.network, session.native_account, campaign, inside, service.now())
    return _prefix_brief_paths(issues)


def _prefix_brief_paths(issues: Iterable[Issue]) -> list[Issue]:
    """Give issues of a brief their paths in the request's body; paths that begin with ``account`` stay."""
    return preparation.prefix_issue_paths(issues, "campaign", lambda member: not member.startswith("account"))


async def _run_preflight(session: NetworkSession, brief: CampaignBrief) -> tuple[list[Issue], list[str]]:
    try:
        preflight = await session.run_flow(session.adapter.plans.preflight(session.native_account, brief))
    except ProviderError as problem:
        return [], [f"The check at the network could not be made: {problem.message}"]
    return preflight
