"""Campaigns, ad groups, ads, keywords and creatives as Apple answers them."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.framework import Account, Answer, Entity, Request, World
from adsunify.sandbox.networks.apple.answers import absent, account_of, answered, written
from adsunify.sandbox.networks.apple.creatives import creative, shown

# Word of the path, and kind.
KINDS: Mapping[str, str] = {
    "campaigns": "campaign", "adgroups": "adGroup", "ads": "ad", "keywords": "keyword", "creatives": "creative",
}  # fmt: skip
ABOVE: Mapping[str, tuple[str, str]] = {
    "adGroup": ("campaign", "campaignId"),
    "ad": ("adGroup", "adGroupId"),
    "keyword": ("adGroup", "adGroupId"),
}
BELOW: Mapping[str, tuple[str, ...]] = {"campaign": ("adGroup",), "adGroup": ("ad", "keyword")}


def show(request: Request) -> Answer:
    """GET of one object. A deleted one is still there and says so (chosen)."""
    request.query()
    account, kind = account_of(request), KINDS[request.slots["word"]]
    if kind == "creative":
        found = creative(request.world, account, int(request.slots["id"]))
        if found is None:
            raise absent("creative")
        return answered({"result": found})
    entity = request.world.find(kind, request.slots["id"], account.id)
    if entity is None:
        raise absent(kind)
    return answered({"result": view(request.world, entity)})


def alive(world: World, account: Account, kind: str, native_id: object) -> Entity:
    """The object, which is not deleted. Problem `absent`."""
    found = world.find(kind, str(native_id), account.id)
    if found is None or "_deleted" in found.data:
        raise absent(kind)
    return found


def view(world: World, entity: Entity) -> dict[str, Any]:
    """An object as it is answered."""
    if entity.kind == "creative":
        return shown(entity)
    data = {name: value for name, value in entity.data.items() if not name.startswith("_")}
    row = {"id": int(entity.id), **data, "deleted": "_deleted" in entity.data}
    if entity.kind != "keyword":
        row |= _system(world, entity)
    return {**row, "creationTime": written(entity.created_at), "modificationTime": written(entity.updated_at)}


def _system(world: World, entity: Entity) -> dict[str, Any]:
    """What Apple makes of the state. The words of the reasons are chosen, except for AD_APPROVAL_PENDING."""
    reasons = [] if entity.data["status"] == "ENABLED" else ["PAUSED_BY_USER"]
    if "_deleted" in entity.data:
        reasons = ["DELETED_BY_USER"]
    now = written(world.now)
    if entity.data.get("startTime", "") > now:
        reasons.append("START_TIME_IN_THE_FUTURE")
    if entity.data.get("endTime", "9") <= now:
        reasons.append("END_TIME_REACHED")
    if entity.kind == "ad" and "_approved" not in entity.data:
        reasons.append("AD_APPROVAL_PENDING")
    above = ABOVE.get(entity.kind)
    while above is not None:
        kind, name = above
        parent = world.find(kind, str(entity.data[name]))
        assert parent is not None
        if parent.data["status"] != "ENABLED":
            reasons.append(f"{kind.upper()}_NOT_RUNNING")
        entity, above = parent, ABOVE.get(kind)
    display = "RUNNING"
    if reasons:
        display = {"DELETED_BY_USER": "DELETED", "PAUSED_BY_USER": "PAUSED"}.get(reasons[0], "ON_HOLD")
    return {
        "systemStatus": "NOT_RUNNING" if reasons else "RUNNING",
        "systemStatusReasons": reasons,
        "systemStatusLimitingReasons": [],
        "displayStatus": display,
    }
