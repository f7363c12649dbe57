"""Native control: what a network has at each level is listed, read, and changed in its own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from attrs import evolve, field, frozen

from adsunify.actor import Actor
from adsunify.adapter import flows, hierarchy
from adsunify.adapter import settings as setting_tables
from adsunify.adapter.edits import Edit, check_payload_amounts, collect_spend_warnings
from adsunify.adapter.hierarchy import ListQuery, ParsedEntity
from adsunify.adapter.network import Account, Level, get_level
from adsunify.adapter.protocols import Plans
from adsunify.errors import InvalidInput, raise_if_issues
from adsunify.http.messages import Flow
from adsunify.models.base import ApiModel
from adsunify.models.edit import EditBody
from adsunify.plans.records import Kind, Plan
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import parse_id

from . import cursors, preparation, serializers
from .core import Idempotency, Service, UseCaseResult
from .network_session import NetworkSession


@frozen
class Mutation:
    """One native change: which members count depends on ``action`` (docs/spec.md, "Mutation")."""

    action: str
    kind: Kind
    entity_id: str = ""
    parent_id: str | None = None
    payload: Mapping[str, Json] = field(factory=dict)
    status: str = ""
    edit: Edit = Edit()


LIST_PAGE_SIZE = 500
"""Rows of a page, where a whole list is read."""
PlanFunction = Callable[[Plans, Account, Mutation, datetime], Flow[Plan]]
PLAN_FUNCTIONS: Mapping[str, PlanFunction] = {
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


async def list_entities(
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
) -> UseCaseResult:
    """The network's own entities of this level. A page may be short; ``nextCursor`` says whether there are more.

    ``status`` is a native status that the network's level declares.
    """
    session = await NetworkSession.load(service, actor, account_id)
    asked = {"kind": kind, "limit": limit, "parentId": parent_id, "status": status, "search": search}
    before = cursors.decode_cursor(service.ring, account_id, asked, cursor)
    query = ListQuery(limit, before.native_cursor, parent_id, status, search)
    above = get_level(session.adapter.network, kind).parent_kind
    if parent_id is not None and above and cursor is None:  # a cursor is the account's own: it was asked then
        await session.run_flow(_read_entity(session, above, parent_id))
    page = await session.run_flow(session.adapter.reads.list_entities(session.native_account, kind, query))
    rows, following = cursors.page_slice(page.entities, page.cursor, before, limit)
    return UseCaseResult(
        [row.to_json() for row in rows], cursors.encode_cursor(service.ring, account_id, asked, following)
    )


async def get_entity(service: Service, actor: Actor, *, kind: Kind, account_id: str, entity_id: str) -> Json:
    """One native entity as the network shows it."""
    session = await NetworkSession.load(service, actor, account_id)
    found = await session.run_flow(flows.memoize_reads(_read_entity_with_parent(session, kind, entity_id)))
    return found.to_json()


async def read_entity_settings(service: Service, actor: Actor, *, kind: Kind, account_id: str, entity_id: str) -> Json:
    """What may be edited: current values and lock reasons, and what surrounds them. Read it before an edit."""
    session = await NetworkSession.load(service, actor, account_id)
    network = session.adapter.network
    hierarchy.require_valid_id(network, kind, entity_id)
    found = await session.run_flow(session.adapter.reads.fetch_editable_entity(session.native_account, kind, entity_id))
    return setting_tables.build_settings(network, session.native_account, kind, entity_id, found.native, service.now())


def _read_entity(session: NetworkSession, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """The entity, where the account has it, of this kind; raises ProviderNotFound."""
    hierarchy.require_valid_id(session.adapter.network, kind, entity_id)
    return (yield from session.adapter.reads.fetch_entity(session.native_account, kind, entity_id))


def _read_entity_with_parent(session: NetworkSession, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """The entity with its parent, which some networks tell in their lists only."""
    found = yield from _read_entity(session, kind, entity_id)
    if found.parent_id is not None or not get_level(session.adapter.network, kind).parent_kind:
        return found
    query = ListQuery(LIST_PAGE_SIZE)
    for _ in range(flows.MAX_PAGES):
        page = yield from session.adapter.reads.list_entities(session.native_account, kind, query)
        for row in page.entities:
            if row.id == found.id:
                return evolve(found, parent_id=row.parent_id)
        if page.cursor is None:
            break
        query = evolve(query, cursor=page.cursor)
    return found


# -- preparing ----------------------------------------------------------------------------------------------------


async def prepare_mutation(
    service: Service, actor: Actor, account_id: str, mutation: Mutation, idempotency: Idempotency | None
) -> UseCaseResult:
    """Prepare one native change; nothing is written until it is executed."""
    bound = await preparation.find_replay(service, actor, idempotency)
    if bound is not None:
        return bound
    plan = await plan_mutation(service, await NetworkSession.load(service, actor, account_id), mutation)
    return await preparation.save_operations(service, actor, account_id, [plan], idempotency)


async def plan_mutation(service: Service, session: NetworkSession, mutation: Mutation) -> Plan:
    """The plan of a native change; raises InvalidInput for what the network does not take."""
    session.require_active()
    if mutation.payload:
        raise_if_issues(
            check_payload_amounts(session.adapter.network, session.native_account, mutation.kind, mutation.payload)
        )
    plan = await session.run_flow(flows.memoize_reads(_plan_mutation(session, mutation, service.now())))
    changes = [change for step in plan.steps for change in step.changes]
    return preparation.with_warnings(
        plan, [*dict.fromkeys(collect_spend_warnings(session.adapter.network, mutation.kind, changes))]
    )


def _plan_mutation(session: NetworkSession, asked: Mutation, now: datetime) -> Flow[Plan]:
    """The plan, once the network said that the account has what is changed, and what it is to hang on."""
    one = get_level(session.adapter.network, asked.kind)
    found = None
    if asked.action == "edit":  # it reads the entity itself
        hierarchy.require_valid_id(session.adapter.network, asked.kind, asked.entity_id)
    elif asked.action != "create":
        found = yield from _read_entity(session, asked.kind, asked.entity_id)
    parent_id = asked.parent_id or _payload_parent_id(one, asked.payload)
    if one.parent_kind and parent_id is not None and (found is None or found.parent_id != parent_id):
        yield from _read_entity(session, one.parent_kind, parent_id)
    return (yield from PLAN_FUNCTIONS[asked.action](session.adapter.plans, session.native_account, asked, now))


def _payload_parent_id(one: Level, payload: Mapping[str, Json]) -> str | None:
    """The parent that a native payload names, by its id or by a path that ends in it."""
    said = parse_id(payload.get(one.parent.rpartition("/")[2]))
    return None if said is None else said.rpartition("/")[2]


async def prepare_create(
    service: Service,
    actor: Actor,
    *,
    kind: Kind,
    account_id: str,
    payload: Mapping[str, Json],
    parent_id: str | None,
    idempotency: Idempotency | None,
) -> UseCaseResult:
    """Prepare a native creation. Without a status of its own it is created paused wherever that can be."""
    asked = Mutation("create", kind, parent_id=parent_id, payload=payload)
    return await prepare_mutation(service, actor, account_id, asked, idempotency)


async def prepare_update(
    service: Service,
    actor: Actor,
    *,
    kind: Kind,
    account_id: str,
    entity_id: str,
    payload: Mapping[str, Json],
    parent_id: str | None,
    idempotency: Idempotency | None,
) -> UseCaseResult:
    """Prepare a native update, in the network's own names and units."""
    asked = Mutation("update", kind, entity_id, parent_id, payload)
    return await prepare_mutation(service, actor, account_id, asked, idempotency)


async def prepare_delete(
    service: Service, actor: Actor, *, kind: Kind, account_id: str, entity_id: str, idempotency: Idempotency | None
) -> UseCaseResult:
    """Prepare a native deletion, or what the network has in its place."""
    return await prepare_mutation(service, actor, account_id, Mutation("delete", kind, entity_id), idempotency)


async def prepare_edit(
    service: Service,
    actor: Actor,
    *,
    kind: Kind,
    account_id: str,
    entity_id: str,
    fields: Mapping[str, Json],
    targeting: ApiModel | None,
    creative: ApiModel | None,
    idempotency: Idempotency | None,
) -> UseCaseResult:
    """Prepare an edit in unified words: fields, targeting, creative. Money is in the account's currency."""
    asked = Mutation("edit", kind, entity_id, edit=_build_edit(fields, targeting, creative))
    return await prepare_mutation(service, actor, account_id, asked, idempotency)


def _build_edit(fields: Mapping[str, Json], targeting: ApiModel | None, creative: ApiModel | None) -> Edit:
    return Edit(fields, *({} if part is None else part.to_json() for part in (targeting, creative)))


async def validate_mutation(
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
    session = await NetworkSession.load(service, actor, account_id)
    change = Edit() if edit is None else _build_edit(edit.fields, edit.targeting, edit.creative)
    asked = Mutation(action, kind, entity_id or "", parent_id, payload or {}, status or "", change)
    try:
        plan = await plan_mutation(service, session, asked)
    except InvalidInput as problem:
        issues = preparation.prefix_issue_paths(problem.issues, "edit", EditBody.model_fields.__contains__)
        raise InvalidInput(issues, code=problem.code) from None
    return {
        "valid": True,
        "network": plan.network,
        "action": plan.action,
        "plan": serializers.plan_view(plan),
        "risk": plan.risk,
        "warnings": list(plan.warnings),
    }
