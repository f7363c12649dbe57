"""Bulk controls: one prepared operation per entity, all of them or none."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from adsunify.actor import Actor
from adsunify.errors import InvalidInput, Issue
from adsunify.steps import Kind, Plan

from . import preparing
from .core import Idempotency, Result, Service
from .session import Session


async def status(
    service: Service,
    actor: Actor,
    *,
    account_id: str,
    kind: Kind,
    entity_ids: Sequence[str],
    status: str,
    idempotency: Idempotency | None,
) -> Result:
    """Prepare one status for up to 50 entities of a kind, each with its own review and receipt."""
    found = await preparing.bound(service, actor, idempotency, many=True)
    if found is not None:
        return found
    repeated = [index for index, one in enumerate(entity_ids) if one in entity_ids[:index]]
    if repeated:
        raise InvalidInput(
            [Issue(f"entityIds/{index}", "duplicate", "stands in the list already.") for index in repeated]
        )
    session = await Session.of(service, actor, account_id)
    session.needs_active()
    plans = await asyncio.gather(
        *(_one(session, kind, index, entity_id, status) for index, entity_id in enumerate(entity_ids))
    )
    issues = [issue for plan in plans if not isinstance(plan, Plan) for issue in plan]
    if issues:
        raise InvalidInput(issues)
    whole = [plan for plan in plans if isinstance(plan, Plan)]
    return await preparing.keep(service, actor, account_id, whole, idempotency, many=True)


async def _one(session: Session, kind: Kind, index: int, entity_id: str, status: str) -> Plan | list[Issue]:
    try:
        return await session.run(session.adapter.plans.plan_status(session.native, kind, entity_id, status))
    except InvalidInput as problem:
        return [Issue(f"entityIds/{index}", issue.code, issue.message) for issue in problem.issues]
