"""Campaigns, ad groups, ads, keywords and creatives as Apple shows them."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.apple.answers import INSTANT, build_response, not_found_error, require_account
from adsunify.sandbox.networks.apple.creatives import find_creative, render_creative
from adsunify.sandbox.world import Account, StoredEntity, World

# The kind of the objects, by their word in the path.
KIND_BY_COLLECTION: Mapping[str, str] = {
    "campaigns": "campaign",
    "adgroups": "adGroup",
    "ads": "ad",
    "keywords": "keyword",
    "creatives": "creative",
}
PARENT_KINDS: Mapping[str, tuple[str, str]] = {
    "adGroup": ("campaign", "campaignId"),
    "ad": ("adGroup", "adGroupId"),
    "keyword": ("adGroup", "adGroupId"),
}
CHILD_KINDS: Mapping[str, tuple[str, ...]] = {"campaign": ("adGroup",), "adGroup": ("ad", "keyword")}


def get_entity(request: Request) -> Response:
    """GET of one object. A deleted object is still returned, with `deleted` (our choice)."""
    request.parse_query()
    account, kind = require_account(request), KIND_BY_COLLECTION[request.path_parameters["word"]]
    if kind == "creative":
        creative = find_creative(request.world, account, int(request.path_parameters["id"]))
        if creative is None:
            raise not_found_error("creative")
        return build_response({"result": creative})
    entity = request.world.find(kind, request.path_parameters["id"], account.id)
    if entity is None:
        raise not_found_error(kind)
    return build_response({"result": render_entity(request.world, entity)})


def require_live_entity(world: World, account: Account, kind: str, native_id: object) -> StoredEntity:
    """The object. Raises InvalidRequest `absent` if it does not exist or is deleted."""
    entity = world.find(kind, str(native_id), account.id)
    if entity is None or "_deleted" in entity.data:
        raise not_found_error(kind)
    return entity


def render_entity(world: World, entity: StoredEntity) -> dict[str, Any]:
    """An object in a response."""
    if entity.kind == "creative":
        return render_creative(entity)
    data = {name: value for name, value in entity.data.items() if not name.startswith("_")}
    row = {"id": int(entity.id), **data, "deleted": "_deleted" in entity.data}
    if entity.kind != "keyword":
        row |= _derive_system_status(world, entity)
    return {
        **row,
        "creationTime": INSTANT.format(entity.created_at),
        "modificationTime": INSTANT.format(entity.updated_at),
    }


def _derive_system_status(world: World, entity: StoredEntity) -> dict[str, Any]:
    """The states that Apple derives. The names of the reasons are our choice, except for AD_APPROVAL_PENDING."""
    reasons = [] if entity.data["status"] == "ENABLED" else ["PAUSED_BY_USER"]
    if "_deleted" in entity.data:
        reasons = ["DELETED_BY_USER"]
    now = INSTANT.format(world.now)
    if entity.data.get("startTime", "") > now:
        reasons.append("START_TIME_IN_THE_FUTURE")
    if entity.data.get("endTime", "9") <= now:
        reasons.append("END_TIME_REACHED")
    if entity.kind == "ad" and "_approved" not in entity.data:
        reasons.append("AD_APPROVAL_PENDING")
    above = PARENT_KINDS.get(entity.kind)
    while above is not None:
        kind, name = above
        parent = world.find(kind, str(entity.data[name]))
        assert parent is not None
        if parent.data["status"] != "ENABLED":
            reasons.append(f"{kind.upper()}_NOT_RUNNING")
        entity, above = parent, PARENT_KINDS.get(kind)
    display = "RUNNING"
    if reasons:
        display = {"DELETED_BY_USER": "DELETED", "PAUSED_BY_USER": "PAUSED"}.get(reasons[0], "ON_HOLD")
    return {
        "systemStatus": "NOT_RUNNING" if reasons else "RUNNING",
        "systemStatusReasons": reasons,
        "systemStatusLimitingReasons": [],
        "displayStatus": display,
    }
