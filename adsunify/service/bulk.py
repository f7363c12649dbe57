"""Bulk controls: one prepared operation per entity; all are prepared or none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from decimal import Decimal

from adsunify.actor import Actor
from adsunify.adapter.edits import Edit, Percentage, unknown_field_issue
from adsunify.adapter.network import Network
from adsunify.adapter.settings import list_bulk_fields
from adsunify.errors import InvalidInput, Issue, ProviderNotFound, raise_if_issues
from adsunify.plans.records import Kind, Plan

from . import entities, preparation
from .core import Idempotency, Service, UseCaseResult
from .entities import Mutation
from .network_session import NetworkSession


async def bulk_status(
    service: Service,
    actor: Actor,
    *,
    account_id: str,
    kind: Kind,
    entity_ids: Sequence[str],
    status: str,
    idempotency: Idempotency | None,
) -> UseCaseResult:
    """Prepare one status for up to 50 entities of a kind. Each entity gets an operation with its own review."""
    mutations = [Mutation("status", kind, entity_id, status=status) for entity_id in entity_ids]
    return await _prepare_mutations(service, actor, account_id, mutations, idempotency)


async def bulk_edit(
    service: Service,
    actor: Actor,
    *,
    account_id: str,
    kind: Kind,
    entity_ids: Sequence[str],
    field: str,
    mode: str,
    value: Decimal,
    idempotency: Idempotency | None,
) -> UseCaseResult:
    """Prepare one money or number setting for up to 50 entities of a kind. Percentages are computed exactly.

    ``bid`` is the bid of each entity's own strategy. Money is rounded to the network's unit toward the lower spend.
    """
    changed = value if mode == "set" else Percentage("increase" if mode == "increase" else "decrease", value)
    mutations = [Mutation("edit", kind, entity_id, edit=Edit({field: changed})) for entity_id in entity_ids]
    return await _prepare_mutations(service, actor, account_id, mutations, idempotency)


async def _prepare_mutations(
    service: Service, actor: Actor, account_id: str, mutations: Sequence[Mutation], idempotency: Idempotency | None
) -> UseCaseResult:
    replay = await preparation.find_replay(service, actor, idempotency, many=True)
    if replay is not None:
        return replay
    entity_ids = [mutation.entity_id for mutation in mutations]
    repeated = [index for index, id_ in enumerate(entity_ids) if id_ in entity_ids[:index]]
    if repeated:
        raise InvalidInput(
            [Issue(f"entityIds.{index}", "duplicate", "appears in the list before.") for index in repeated]
        )
    session = await NetworkSession.load(service, actor, account_id)
    session.require_active()
    plans = await asyncio.gather(
        *(_plan_mutation(service, session, index, mutation) for index, mutation in enumerate(mutations))
    )
    missing = [issue for plan in plans if isinstance(plan, ProviderNotFound) for issue in plan.issues]
    if missing:
        raise ProviderNotFound(" ".join(f"{issue.path}: {issue.message}" for issue in missing), issues=missing)
    raise_if_issues(_find_field_issues(session.adapter.network, mutations[0]))
    issues = [issue for plan in plans if isinstance(plan, InvalidInput) for issue in plan.issues]
    if issues:
        raise InvalidInput(issues)
    complete = [plan for plan in plans if isinstance(plan, Plan)]
    return await preparation.save_operations(service, actor, account_id, complete, idempotency, many=True)


def _find_field_issues(network: Network, mutation: Mutation) -> Iterator[Issue]:
    """Yield an issue for each field that is not money or a number: a bulk edit does not change it.

    For a native name of an amount the issue names the unified field, as in a single edit.
    """
    if not mutation.edit.fields:
        return
    accepted = list_bulk_fields(network, mutation.kind)
    for name in mutation.edit.fields:
        if name in accepted:
            continue
        issue = unknown_field_issue(network, mutation.kind, name, "field")
        if issue.code == "not_supported":  # a single edit accepts it
            message = f"{network.title} takes these for a {mutation.kind}: {', '.join(accepted) or 'none'}."
            issue = Issue("field", "not_supported", message)
        yield issue


async def _plan_mutation(
    service: Service, session: NetworkSession, index: int, mutation: Mutation
) -> Plan | InvalidInput | ProviderNotFound:
    """Return the plan, or the error of this mutation with the path of its entity in the list."""
    path = f"entityIds.{index}"
    try:
        return await entities.plan_mutation(service, session, mutation)
    except InvalidInput as problem:
        return InvalidInput(
            [
                Issue(path, issue.code, issue.message if issue.path == "entityId" else f"{issue.path}: {issue.message}")
                for issue in problem.issues
            ]
        )
    except ProviderNotFound as problem:
        issue = Issue(path, "not_found", f"{mutation.entity_id} was not found. {problem.message}")
        return ProviderNotFound(issue.message, issues=[issue])
