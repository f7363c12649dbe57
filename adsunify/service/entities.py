"""Native control: what a network has at each level is listed, read, and changed in its own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from attrs import evolve, field, frozen

from adsunify.actor import Actor
from adsunify.adapter import flows, hierarchy
from adsunify.adapter import settings as setting_tables
from adsunify.adapter.edits import Edit, eased, payload_issues
from adsunify.adapter.hierarchy import Entity, Query
from adsunify.adapter.network import Account, Level, level
from adsunify.errors import InvalidInput, Issue, refuse
from adsunify.http.messages import Flow
from adsunify.models.base import WireModel
from adsunify.models.edit import EditBody
from adsunify.networks import Plans
from adsunify.plans.records import Kind, Plan
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import identifier

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


LISTED = 500
"""Rows of a page, where a whole list is read."""
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
    above = level(session.adapter.network, kind).parent_kind
    if parent_id is not None and above and cursor is None:  # a cursor is the account's own: it was asked then
        await session.run(_of_account(session, above, parent_id))
    page = await session.run(session.adapter.reads.entities(session.native, kind, query))
    rows, following = cursors.cut(page.entities, page.cursor, before, limit)
    return Result([row.to_json() for row in rows], cursors.signed(service.ring, account_id, asked, following))


async def get(service: Service, actor: Actor, *, kind: Kind, account_id: str, entity_id: str) -> Json:
    """One native entity as the network shows it."""
    session = await Session.of(service, actor, account_id)
    found = await session.run(flows.remembered(_whole(session, kind, entity_id)))
    return found.to_json()


async def settings(service: Service, actor: Actor, *, kind: Kind, account_id: str, entity_id: str) -> Json:
    """What may be edited: current values and lock reasons, and what surrounds them. Read it before an edit."""
    session = await Session.of(service, actor, account_id)
    network = session.adapter.network
    hierarchy.known(network, kind, entity_id)
    found = await session.run(session.adapter.reads.editable(session.native, kind, entity_id))
    return setting_tables.settings(network, session.native, kind, entity_id, found.native, service.now())


def _of_account(session: Session, kind: str, entity_id: str) -> Flow[Entity]:
    """The entity, where the account has it, of this kind; raises ProviderNotFound."""
    hierarchy.known(session.adapter.network, kind, entity_id)
    return (yield from session.adapter.reads.entity(session.native, kind, entity_id))


def _whole(session: Session, kind: str, entity_id: str) -> Flow[Entity]:
    """The entity with its parent, which some networks tell in their lists only."""
    found = yield from _of_account(session, kind, entity_id)
    if found.parent_id is not None or not level(session.adapter.network, kind).parent_kind:
        return found
    query = Query(LISTED)
    for _ in range(flows.MAX_PAGES):
        page = yield from session.adapter.reads.entities(session.native, kind, query)
        for row in page.entities:
            if row.id == found.id:
                return evolve(found, parent_id=row.parent_id)
        if page.cursor is None:
            break
        query = evolve(query, cursor=page.cursor)
    return found


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
    plan = await session.run(flows.remembered(_planned(session, mutation, service.now())))
    changes = [change for step in plan.steps for change in step.changes]
    return preparing.warned(plan, [*dict.fromkeys(eased(session.adapter.network, mutation.kind, changes))])


def _planned(session: Session, asked: Mutation, now: datetime) -> Flow[Plan]:
    """The plan, once the network said that the account has what is changed, and what it is to hang on."""
    one = level(session.adapter.network, asked.kind)
    found = None
    if asked.action == "edit":  # it reads the entity itself
        hierarchy.known(session.adapter.network, asked.kind, asked.entity_id)
    elif asked.action != "create":
        found = yield from _of_account(session, asked.kind, asked.entity_id)
    parent_id = asked.parent_id or _named_parent(one, asked.payload)
    if one.parent_kind and parent_id is not None and (found is None or found.parent_id != parent_id):
        yield from _of_account(session, one.parent_kind, parent_id)
    return (yield from PLANNING[asked.action](session.adapter.plans, session.native, asked, now))


def _named_parent(one: Level, payload: Mapping[str, Json]) -> str | None:
    """The parent that a native payload names, by its id or by a path that ends in it."""
    said = identifier(payload.get(one.parent.rpartition("/")[2]))
    return None if said is None else said.rpartition("/")[2]


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
        plan = await planned(service, session, asked)
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
