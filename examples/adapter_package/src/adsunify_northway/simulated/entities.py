"""Campaigns, ad sets and ads in answers."""

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
    wanted = {name: query[name] for name in ("state", "campaign_id", "ad_set_id") if name in query}
    has_name = query.get("q", "").lower() in row["name"].lower()
    return has_name and all(row[name] == value for name, value in wanted.items())


def get_entity(request: Request) -> Response:
    """GET /{campaigns|ad_sets|ads}/{id}."""
    request.parse_query()
    return answers.build_response(request, render_entity(request.world, require_entity(request)))


def require_entity(request: Request) -> StoredEntity:
    """The entity of the path. Raises InvalidRequest `absent`."""
    return require(request, tables.KINDS[request.path_parameters["collection"]], request.path_parameters["id"])


def require(request: Request, kind: str, entity_id: str) -> StoredEntity:
    """The entity of a kind and an id. Raises InvalidRequest `absent`."""
    entity = request.world.find(kind, entity_id)
    if entity is None:
        raise answers.absent(kind.replace("_", " "))
    return entity


def render_entity(world: World, entity: StoredEntity) -> dict[str, Any]:
    """An entity in an answer."""
    members: dict[str, Any] = {"id": entity.id, "advertiser_id": entity.account}
    if entity.parent is not None:
        members[tables.PARENT_MEMBERS[entity.kind]] = entity.parent
    if entity.kind == "ad":
        members["review"] = "PENDING" if world.now - entity.created_at < _REVIEW_TIME else "PASSED"
    return {**members, **entity.data}


def get_ancestry(world: World, entity: StoredEntity) -> list[StoredEntity]:
    """The entity and what lies above it, the entity first."""
    line = [entity]
    while (kind := tables.PARENT_KINDS.get(line[-1].kind)) is not None:
        above = world.find(kind, str(line[-1].parent))
        assert above is not None, "a parent is never removed"
        line.append(above)
    return line
