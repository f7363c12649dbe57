"""Campaigns, ad sets and ads in responses."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from adsunify.sandbox.checks import Check, choice, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.world import StoredEntity, World
from adsunify_northway.simulated import answers, tables

_REVIEW_TIME = timedelta(seconds=60)  # chosen
_STATE = choice(*tables.STATES)
_FILTERS: Mapping[str, Mapping[str, Check]] = {
    "campaign": {"state": _STATE, "q": text()},
    "ad_set": {"state": _STATE, "campaign_id": text()},
    "ad": {"ad_set_id": text()},
}


def list_entities(request: Request) -> Response:
    """GET /advertisers/{advertiser}/{campaigns|ad_sets|ads}: oldest first, with every state (chosen)."""
    kind = tables.KINDS[request.path_parameters["collection"]]
    account = answers.require_advertiser(request)
    query = request.parse_query({}, {**answers.PAGING_CHECKS, **_FILTERS[kind]})
    rows = [render_entity(request.world, entity) for entity in request.world.list_entities(kind, account.id)]
    return answers.build_page(request, [row for row in rows if _is_match(row, query)], query)


def _is_match(row: Mapping[str, Any], query: Mapping[str, Any]) -> bool:
    filters = {name: query[name] for name in ("state", "campaign_id", "ad_set_id") if name in query}
    has_name = query.get("q", "").lower() in row["name"].lower()
    return has_name and all(row[name] == value for name, value in filters.items())


def get_entity(request: Request) -> Response:
    """GET /{campaigns|ad_sets|ads}/{id}."""
    request.parse_query()
    return answers.build_response(request, render_entity(request.world, require_entity(request)))


def require_entity(request: Request) -> StoredEntity:
    """Return the entity of the path. Raises InvalidRequest `absent`."""
    return find_entity(request, tables.KINDS[request.path_parameters["collection"]], request.path_parameters["id"])


def find_entity(request: Request, kind: str, entity_id: str) -> StoredEntity:
    """Return the entity of a kind and an id. Raises InvalidRequest `absent`."""
    entity = request.world.find(kind, entity_id)
    if entity is None:
        raise answers.make_absent_error(kind.replace("_", " "))
    return entity


def render_entity(world: World, entity: StoredEntity) -> dict[str, Any]:
    """Return an entity as a response shows it."""
    members: dict[str, Any] = {"id": entity.id, "advertiser_id": entity.account}
    if entity.parent is not None:
        members[tables.PARENT_MEMBERS[entity.kind]] = entity.parent
    if entity.kind == "ad":
        members["review"] = "PENDING" if world.now - entity.created_at < _REVIEW_TIME else "PASSED"
    return {**members, **entity.data}


def get_ancestry(world: World, entity: StoredEntity) -> list[StoredEntity]:
    """Return the entity, its parent and its grandparent, if they exist."""
    ancestry = [entity]
    while (kind := tables.PARENT_KINDS.get(ancestry[-1].kind)) is not None:
        parent = world.find(kind, str(ancestry[-1].parent))
        assert parent is not None, "a parent is never removed"
        ancestry.append(parent)
    return ancestry
