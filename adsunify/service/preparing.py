"""What every prepare call shares: the idempotency key first, then the plans, kept in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from adsunify.actor import Actor
from adsunify.errors import NotFound, refused
from adsunify.execution.state import progress
from adsunify.plans.records import Outputs, Plan, planned
from adsunify.store import operations
from adsunify.store.operations import Draft
from adsunify.values.exact_json import Json

from . import shapes
from .core import Idempotency, Result, Service
from .operations import read, read_all


@frozen
class Source:
    """A create operation that succeeded: its plan, and what each step brought."""

    plan: Plan
    outputs: Mapping[str, Outputs]


async def bound(service: Service, actor: Actor, idempotency: Idempotency | None, many: bool = False) -> Result | None:
    """What the key is bound to, before anything is read from the network; raises Conflict."""
    if idempotency is None:
        return None
    found = await service.store.ask(operations.replayed(actor, idempotency))
    return None if found is None else await _replayed(service, actor, found.operation_ids, many)


async def keep(
    service: Service,
    actor: Actor,
    account_id: str,
    plans: Sequence[Plan],
    idempotency: Idempotency | None,
    source_operation_id: str | None = None,
    many: bool = False,
    unified: bool = False,
) -> Result:
    """Keep the operations with their events and the key, all or nothing."""
    store, drafts = service.store, [Draft(account_id, plan, source_operation_id, unified) for plan in plans]
    if len(drafts) == 1:
        kept = await store.share(operations.preparing(actor, drafts[0], store.clock, idempotency))
    else:
        kept = await store.write(operations.prepare, actor, drafts, store.clock, idempotency)
    if kept.replayed:
        return await _replayed(service, actor, kept.operation_ids, many)
    return _result([shapes.operation(service, record, (), plan) for record, plan in kept.made], False, many)


async def _replayed(service: Service, actor: Actor, ids: Sequence[str], many: bool) -> Result:
    """The operations of the earlier call, as they stand now."""
    return _result([shapes.operation(service, *found) for found in await read_all(service, actor, ids)], True, many)


def _result(shown: list[Json], replayed: bool, many: bool) -> Result:
    return Result({"operations": shown} if many else shown[0], replayed=replayed)


def warned(plan: Plan, warnings: Sequence[str]) -> Plan:
    """The plan with further warnings for the reviewer."""
    if not warnings:
        return plan
    return planned(plan.network, plan.action, plan.account, plan.steps, (*plan.warnings, *warnings), plan.risk)


async def source(service: Service, actor: Actor, account_id: str, operation_id: str) -> Source:
    """The source of an activation; InvalidInput ``source_not_activatable`` for anything else."""
    try:
        record, attempts = await read(service, actor, operation_id)
    except NotFound:
        record, attempts = None, []
    if record is None or not record.unified or record.status != "succeeded" or record.account_id != account_id:
        raise refused(
            "sourceOperationId",
            "source_not_activatable",
            "is no succeeded operation of POST /create of this account in your scope.",
        )
    receipts = [attempt.receipt for attempt in attempts if attempt.receipt is not None]
    return Source(record.plan(), progress(receipts).outputs)
