"""Native control: what a network has at each level is listed, read, and changed in its own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from attrs import field, frozen

from adsunify import editing
from adsunify.actor import Actor
from adsunify.change import EditBody
from adsunify.editing import Edit, payload_issues
from adsunify.errors import InvalidInput, Issue, refuse
from adsunify.network import Account
from adsunify.networks import Plans
from adsunify.reading import Query
from adsunify.steps import Kind, Plan, of_operation
from adsunify.validation import WireModel
from adsunify.wire import Flow, Json

from . import cursors, preparing, shapes
from .core import Idempotency, Result, Service
from .session import Session


@frozen
class Mutation:
    """One native change: which members count depends on ``action`` (the contract's "Mutation")."""

    action: str
    kind: Kind
    entity_id: str = ""
    parent_id: str | None = None
    payload: Mapping[str, Json] = field(factory=dict)
    status: str = ""
    edit: Edit = Edit()


Planning = Callable[[Plans, Account, Mutation, datetime], Flow[Plan]]
PLANNING: Mapping[str, Planning] = {
    "create": lambda plans, account, asked, now: plans.plan_native_create(
        account, asked.kind, asked.payload, asked.parent_id
    ),
    "update": lambda plans, account, asked, now: plans.plan_update(
        account, asked.kind, asked.entity_id, asked.payload, asked.parent_id
    ),
    "delete": lambda plans, account, asked, now: plans.plan_delete(account, asked.kind, asked.entity_id),
    "status": lambda plans, account, asked, now: plans.plan_status(account, asked.kind, asked.entity_id, asked.status),
    "edit": lambda plans, account, asked, now: plans.plan_edit(account, asked.kind, asked.entity_id, asked.edit, now),
}


# -- reading ------------------------------------------------------------------------------------------------------


async def list_(
    service: Service,
    actor: Actor,
    *,
    kind: Kind,
    account_id: str,
    limit: int,
    cursor: str | None,
    parent_id: str | None,
    status: str | None,
    search: str | None,
) -> Result:
    """The network's own entities of this level. A page may be short; ``nextCursor`` says whether there are more.

    ``status`` is a native status that the network's level declares.
    """
    session = await Session.of(service, actor, account_id)
    asked = {"kind": kind, "limit": limit, "parentId": parent_id, "status": status, "search": search}
    before = cursors.unsigned(service.ring, account_id, asked, cursor)
    query = Query(limit, before.native, parent_id, status, search)
    page = await session.run(session.adapter.reads.entities(session.native, kind, query))
    rows, following = cursors.cut(page.entities, page.cursor, before, limit)
    return Result([row.to_json() for row in rows], cursors.signed(service.ring, account_id, asked, following))


async def get(service: Service, actor: Actor, *, kind: Kind, account_id: str, entity_id: str) -> Json:
    """One native entity as the network shows it."""
    session = await Session.of(service, actor, account_id)
    found = await session.run(session.adapter.reads.entity(session.native, kind, entity_id))
    return found.to_json()


async def settings(service: Service, actor: Actor, *, kind: Kind, account_id: str, entity_id: str) -> Json:
    """What may be edited: current values and lock reasons, and what surrounds them. Read it before an edit."""
    session = await Session.of(service, actor, account_id)
    network = session.adapter.network
    found = await session.run(session.adapter.reads.editable(session.native, kind, entity_id))
    return editing.settings(network, session.native, kind, entity_id, found.native, service.now())


# -- preparing ----------------------------------------------------------------------------------------------------


async def prepare(
    service: Service, actor: Actor, account_id: str, mutation: Mutation, idempotency: Idempotency | None
) -> Result:
    """Prepare one native change; nothing is written until it is executed."""
    bound = await preparing.bound(service, actor, idempotency)
    if bound is not None:
        return bound
    plan = await planned(service, await Session.of(service, actor, account_id), mutation)
    return await preparing.keep(service, actor, account_id, [plan], idempotency)


async def planned(service: Service, session: Session, mutation: Mutation) -> Plan:
    """The plan of a native change; raises InvalidInput for what the network does not take."""
    session.needs_active()
    if mutation.payload:
        refuse(payload_issues(session.adapter.network, session.native, mutation.kind, mutation.payload))
    planning = PLANNING[mutation.action]
    return await session.run(planning(session.adapter.plans, session.native, mutation, service.now()))


async def create(
    service: Service,
    actor: Actor,
    *,
    kind: Kind,
    account_id: str,
    payload: Mapping[str, Json],
    parent_id: str | None,
    idempotency: Idempotency | None,
) -> Result:
    """Prepare a native creation. Without a status of its own it is created paused wherever that can be."""
    asked = Mutation("create", kind, parent_id=parent_id, payload=payload)
    return await prepare(service, actor, account_id, asked, idempotency)


async def update(
    service: Service,
    actor: Actor,
    *,
    kind: Kind,
    account_id: str,
    entity_id: str,
    payload: Mapping[str, Json],
    parent_id: str | None,
    idempotency: Idempotency | None,
) -> Result:
    """Prepare a native update, in the network's own names and units."""
    asked = Mutation("update", kind, entity_id, parent_id, payload)
    return await prepare(service, actor, account_id, asked, idempotency)


async def delete(
    service: Service, actor: Actor, *, kind: Kind, account_id: str, entity_id: str, idempotency: Idempotency | None
) -> Result:
    """Prepare a native deletion, or what the network has in its place."""
    return await prepare(service, actor, account_id, Mutation("delete", kind, entity_id), idempotency)


async def edit(
    service: Service,
    actor: Actor,
    *,
    kind: Kind,
    account_id: str,
    entity_id: str,
    fields: Mapping[str, Json],
    targeting: WireModel | None,
    creative: WireModel | None,
    idempotency: Idempotency | None,
) -> Result:
    """Prepare an edit in unified words: fields, targeting, creative. Money is in the account's currency."""
    asked = Mutation("edit", kind, entity_id, edit=_edit(fields, targeting, creative))
    return await prepare(service, actor, account_id, asked, idempotency)


def _edit(fields: Mapping[str, Json], targeting: WireModel | None, creative: WireModel | None) -> Edit:
    return Edit(fields, *({} if part is None else part.to_json() for part in (targeting, creative)))


async def validate(
    service: Service,
    actor: Actor,
    *,
    account_id: str,
    action: str,
    kind: Kind,
    entity_id: str | None,
    parent_id: str | None,
    payload: Mapping[str, Json] | None,
    status: str | None,
    edit: EditBody | None,
) -> Json:
    """Hold a native change against the network's rules and show its plan; nothing is stored or written."""
    session = await Session.of(service, actor, account_id)
    change = Edit() if edit is None else _edit(edit.fields, edit.targeting, edit.creative)
    asked = Mutation(action, kind, entity_id or "", parent_id, payload or {}, status or "", change)
    try:
        plan = of_operation(await planned(service, session, asked))
    except InvalidInput as problem:
        raise InvalidInput([_below(issue) for issue in problem.issues], code=problem.code) from None
    return {
        "valid": True,
        "network": plan.network,
        "action": plan.action,
        "plan": shapes.plan_view(plan),
        "risk": plan.risk,
        "warnings": list(plan.warnings),
    }


def _below(issue: Issue) -> Issue:
    inside = issue.path.partition(".")[0] in ("fields", "targeting", "creative")
    return Issue(f"edit.{issue.path}" if inside else issue.path, issue.code, issue.message)
