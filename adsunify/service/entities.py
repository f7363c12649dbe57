"""Native control: list, read and change a network's entities in the network's own terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial

from attrs import evolve, field, frozen

from adsunify.actor import Actor
from adsunify.adapter import flows, hierarchy
from adsunify.adapter import settings as setting_tables
from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit, check_payload_amounts, collect_spend_warnings
from adsunify.adapter.hierarchy import ListQuery, ParsedEntity
from adsunify.adapter.network import Level, get_level
from adsunify.adapter.protocols import Plans
from adsunify.errors import InvalidInput, raise_if_issues
from adsunify.guardrails.exposure import ExposureReader
from adsunify.guardrails.plans import attach_exposure
from adsunify.http.messages import Flow
from adsunify.models.base import ApiModel
from adsunify.models.edit import EditBody
from adsunify.plans.exposure import Exposure
from adsunify.plans.records import Action, Change, Kind, Plan
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import parse_id

from . import cursors, preparation, serializers
from .budgets import with_size_warning
from .core import Idempotency, Service, UseCaseResult
from .network_session import NetworkSession
from .rule_checks import check_plans
from .stale_plans import must_plan_again


@frozen
class Mutation:
    """One native change. ``action`` decides which members are used (docs/spec.md, "Mutation")."""

    action: Action
    kind: Kind
    entity_id: str = ""
    parent_id: str | None = None
    payload: Mapping[str, Json] = field(factory=dict)
    status: str = ""
    edit: Edit = Edit()


PlanFunction = Callable[[Plans, Account, Mutation, datetime], Flow[Plan]]
PLAN_FUNCTIONS: Mapping[Action, PlanFunction] = {
    "create": lambda plans, account, mutation, now: plans.plan_native_create(
        account, mutation.kind, mutation.payload, mutation.parent_id
    ),
    "update": lambda plans, account, mutation, now: plans.plan_update(
        account, mutation.kind, mutation.entity_id, mutation.payload, mutation.parent_id
    ),
    "delete": lambda plans, account, mutation, now: plans.plan_delete(account, mutation.kind, mutation.entity_id),
    "status": lambda plans, account, mutation, now: plans.plan_status(
        account, mutation.kind, mutation.entity_id, mutation.status
    ),
    "edit": lambda plans, account, mutation, now: plans.plan_edit(
        account, mutation.kind, mutation.entity_id, mutation.edit, now
    ),
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
    """List the network's entities of this level. A page may be short; a ``nextCursor`` means that more pages follow.

    ``status`` is a native status that the network declares for this level.
    """
    session = await NetworkSession.load(service, actor, account_id)
    query_key = {"kind": kind, "limit": limit, "parentId": parent_id, "status": status, "search": search}
    position = cursors.decode_cursor(service.ring, account_id, query_key, cursor)
    query = ListQuery(limit, position.native_cursor, parent_id, status, search)
    parent_kind = get_level(session.adapter.network, kind).parent_kind
    if parent_id is not None and parent_kind and cursor is None:  # an earlier page has checked the parent
        await session.run_flow(_read_entity(session, parent_kind, parent_id))
    page = await session.run_flow(session.adapter.reads.list_entities(session.native_account, kind, query))
    rows, following = cursors.page_slice(page.entities, page.cursor, position, limit)
    return UseCaseResult(
        [row.to_json() for row in rows], cursors.encode_cursor(service.ring, account_id, query_key, following)
    )


async def get_entity(service: Service, actor: Actor, *, kind: Kind, account_id: str, entity_id: str) -> Json:
    """Return one native entity as the network shows it."""
    session = await NetworkSession.load(service, actor, account_id)
    entity = await session.run_flow(flows.memoize_reads(read_entity_with_parent(session, kind, entity_id)))
    return entity.to_json()


async def read_entity_settings(service: Service, actor: Actor, *, kind: Kind, account_id: str, entity_id: str) -> Json:
    """List the fields that an edit can change, with current values and lock reasons. Call this before an edit."""
    session = await NetworkSession.load(service, actor, account_id)
    entity = await session.run_flow(_read_editable_entity(session, kind, entity_id))
    return setting_tables.build_settings(
        session.adapter.network, session.native_account, entity_id, entity, service.now()
    )


def _read_entity(session: NetworkSession, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """Read an entity of this kind. Raises ProviderNotFound where the account does not have it."""
    hierarchy.require_valid_id(session.adapter.network, kind, entity_id)
    return (yield from session.adapter.reads.fetch_entity(session.native_account, kind, entity_id))


def _read_editable_entity(session: NetworkSession, kind: Kind, entity_id: str) -> Flow[ParsedEntity]:
    """Read an entity with all that its settings need. Raises ProviderNotFound where the account does not have it."""
    hierarchy.require_valid_id(session.adapter.network, kind, entity_id)
    return (yield from session.adapter.reads.fetch_editable_entity(session.native_account, kind, entity_id))


def read_entity_with_parent(session: NetworkSession, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """Read an entity with its parent, which some networks show only in lists."""
    entity = yield from _read_entity(session, kind, entity_id)
    if entity.parent_id is not None or not get_level(session.adapter.network, kind).parent_kind:
        return entity
    list_entities = partial(session.adapter.reads.list_entities, session.native_account)
    return evolve(entity, parent_id=(yield from hierarchy.fetch_listed_parent(list_entities, kind, entity.id)))


# -- preparing ----------------------------------------------------------------------------------------------------


async def prepare_mutation(
    service: Service, actor: Actor, account_id: str, mutation: Mutation, idempotency: Idempotency | None
) -> UseCaseResult:
    """Prepare one native change. Nothing is written until it is executed."""
    replay = await preparation.find_replay(service, actor, idempotency)
    if replay is not None:
        return replay
    plan = await plan_mutation(service, await NetworkSession.load(service, actor, account_id), mutation)
    return await preparation.save_operations(service, actor, account_id, [plan], idempotency)


async def plan_mutation(service: Service, session: NetworkSession, mutation: Mutation) -> Plan:
    """Plan a native change. Raises InvalidInput if the network does not support it."""
    session.require_active()
    if mutation.payload:
        raise_if_issues(
            check_payload_amounts(session.adapter.network, session.native_account, mutation.kind, mutation.payload)
        )
    now = service.now()
    reader = ExposureReader(await session.make_child_reader(), now)
    plan = await session.run_flow(flows.memoize_reads(_plan_with_exposure(session, mutation, reader, now)))
    changes = [change for step in plan.steps for change in step.changes]
    plan = preparation.with_warnings(
        plan, [*dict.fromkeys(collect_spend_warnings(session.adapter.network, mutation.kind, changes))]
    )
    return await with_size_warning(service, session.account.id, plan)


def _plan_with_exposure(
    session: NetworkSession, mutation: Mutation, reader: ExposureReader, now: datetime
) -> Flow[Plan]:
    plan = yield from _plan_mutation(session, mutation, now)
    if mutation.action == "edit" and must_plan_again(session, mutation.kind, mutation.edit, plan):
        edit = {"kind": mutation.kind, "entityId": mutation.entity_id, **mutation.edit.to_json()}
        plan = evolve(plan, edit=edit)
    return attach_exposure(plan, (yield from _fetch_exposure(reader, mutation, plan)))


def _fetch_exposure(reader: ExposureReader, mutation: Mutation, plan: Plan) -> Flow[Exposure]:
    """Compute the exposure of a change. Pausing and deleting have none, and need no read."""
    kind, entity_id = mutation.kind, mutation.entity_id
    if mutation.action == "create":
        return (yield from reader.fetch_native_create(kind, mutation.payload, mutation.parent_id))
    if mutation.action == "update":
        return (yield from reader.fetch_update(kind, entity_id, mutation.payload))
    if mutation.action == "edit":
        return (yield from reader.fetch_edit(kind, entity_id, mutation.edit, plan))
    if mutation.action == "status" and mutation.status == "active":
        return (yield from reader.fetch_activation(kind, entity_id, is_status_guarded=True))
    return Exposure(reader.account.currency)


def _plan_mutation(session: NetworkSession, mutation: Mutation, now: datetime) -> Flow[Plan]:
    """Plan a change after checking that the account has the entity and the new parent, and that neither is deleted."""
    network = session.adapter.network
    level = get_level(network, mutation.kind)
    entity = None
    if mutation.action == "edit":  # the planner reads the entity, and locks its fields if it is deleted
        hierarchy.require_valid_id(network, mutation.kind, mutation.entity_id)
    elif mutation.action != "create":
        entity = yield from _read_entity(session, mutation.kind, mutation.entity_id)
        hierarchy.require_accepted_action(network, entity, mutation.action, "entityId")
    parent_id = mutation.parent_id or _payload_parent_id(level, mutation.payload)
    if level.parent_kind and parent_id is not None and (entity is None or entity.parent_id != parent_id):
        parent = yield from _read_entity(session, level.parent_kind, parent_id)
        path = "parentId" if mutation.parent_id else f"payload.{level.parent.rpartition('/')[2]}"
        hierarchy.require_accepted_action(network, parent, "create", path)
    plan = yield from PLAN_FUNCTIONS[mutation.action](session.adapter.plans, session.native_account, mutation, now)
    if mutation.action == "edit" and not mutation.edit.fields:
        edited = yield from _read_entity(session, mutation.kind, mutation.entity_id)
        hierarchy.require_accepted_action(network, edited, "edit", "entityId")
    if mutation.action != "status" or entity is None:
        return plan
    return _with_status_before(plan, level, entity, mutation.status)


def _with_status_before(plan: Plan, level: Level, entity: ParsedEntity, status: str) -> Plan:
    """Add the status before to a plan whose adapter does not show it, so that it can be reviewed and undone.

    A status that cannot be set, such as the status of a draft, is a native one.
    """
    native_status = level.writable_statuses.get(entity.status or "", entity.native_status)
    before = entity.status if native_status == entity.native_status else entity.native_status
    change = Change("status", before, status)
    steps = [
        evolve(step, changes=(change,)) if step.kind == entity.kind and not step.changes else step
        for step in plan.steps
    ]
    return evolve(plan, steps=tuple(steps))


def _payload_parent_id(level: Level, payload: Mapping[str, Json]) -> str | None:
    """Return the id of the parent in a native payload, which holds the id or a path that ends with it."""
    path = parse_id(payload.get(level.parent.rpartition("/")[2]))
    return None if path is None else path.rpartition("/")[2]


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
    """Prepare a native creation. Without a status in the payload, the entity is created paused where possible."""
    mutation = Mutation("create", kind, parent_id=parent_id, payload=payload)
    return await prepare_mutation(service, actor, account_id, mutation, idempotency)


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
    """Prepare a native update in the network's own names and units."""
    mutation = Mutation("update", kind, entity_id, parent_id, payload)
    return await prepare_mutation(service, actor, account_id, mutation, idempotency)


async def prepare_delete(
    service: Service, actor: Actor, *, kind: Kind, account_id: str, entity_id: str, idempotency: Idempotency | None
) -> UseCaseResult:
    """Prepare a native deletion, or the network's equivalent, such as archiving."""
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
    """Prepare an edit of unified fields, targeting or creative. Money is in the account's currency."""
    mutation = Mutation("edit", kind, entity_id, edit=_build_edit(fields, targeting, creative))
    return await prepare_mutation(service, actor, account_id, mutation, idempotency)


def _build_edit(fields: Mapping[str, Json], targeting: ApiModel | None, creative: ApiModel | None) -> Edit:
    return Edit(fields, *({} if part is None else part.to_json() for part in (targeting, creative)))


async def validate_mutation(
    service: Service,
    actor: Actor,
    *,
    account_id: str,
    action: Action,
    kind: Kind,
    entity_id: str | None,
    parent_id: str | None,
    payload: Mapping[str, Json] | None,
    status: str | None,
    edit: EditBody | None,
) -> Json:
    """Check a native change against the network's rules and return its plan. Nothing is stored or written."""
    session = await NetworkSession.load(service, actor, account_id)
    change = Edit() if edit is None else _build_edit(edit.fields, edit.targeting, edit.creative)
    mutation = Mutation(action, kind, entity_id or "", parent_id, payload or {}, status or "", change)
    try:
        plan = await plan_mutation(service, session, mutation)
    except InvalidInput as problem:
        issues = preparation.prefix_issue_paths(problem.issues, "edit", EditBody.model_fields.__contains__)
        raise InvalidInput(issues, code=problem.code) from None
    (plan,) = await check_plans(service, actor, account_id, [plan], is_validation=True)
    return {
        "valid": True,
        "network": plan.network,
        "action": plan.action,
        "plan": serializers.plan_view(plan),
        "risk": plan.risk,
        "warnings": list(plan.warnings),
    }
