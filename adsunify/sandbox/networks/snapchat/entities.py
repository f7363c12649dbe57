"""Campaigns, ad squads, ads and creatives as the network answers them, and what it makes of their state."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from adsunify.sandbox.framework import Answer, Entity, Problem, Request, World
from adsunify.sandbox.networks.snapchat.answers import (
    PAGING,
    absent,
    answered,
    listed,
    permitted,
    truth,
    written,
)
from adsunify.sandbox.networks.snapchat.fields import ID
from adsunify.sandbox.networks.snapchat.tables import ACCOUNTS, TYPE_OF_AD

# path word -> word of one object
KINDS: Mapping[str, str] = {"campaigns": "campaign", "adsquads": "adsquad", "ads": "ad", "creatives": "creative"}
ABOVE: Mapping[str, str] = {"adsquad": "campaign", "ad": "adsquad"}
PARENT_KEY: Mapping[str, str] = {
    "campaign": "ad_account_id", "adsquad": "campaign_id", "ad": "ad_squad_id", "creative": "ad_account_id",
}  # fmt: skip
_REVIEW = timedelta(seconds=60)  # chosen
_REACH = timedelta(seconds=5)  # chosen
_BY = {"created_by_app_id": "sandbox", "created_by_user": "demo@tea.example"}


def show(request: Request) -> Answer:
    """GET /{kind}/{id}. A deleted one is there only with `read_deleted_entities=true`."""
    wanted = request.query({}, _reading(request.slots["kind"]))
    kind = KINDS[request.slots["kind"]]
    if kind == "creative":
        found = creative(request.world, request.slots["id"])
        if found is None:
            raise absent(request, "creative")
        permitted(request, str(found["ad_account_id"]))
        return answered(request, {"creatives": [{"sub_request_status": "success", "creative": found}]})
    entity = request.world.find(kind, request.slots["id"])
    if entity is None or ("_deleted" in entity.data and not wanted.get("read_deleted_entities")):
        raise absent(request, kind)
    permitted(request, entity.account)
    shown = view(request.world, entity, placement=bool(wanted.get("return_placement_v2")))
    return answered(request, {request.slots["kind"]: [{"sub_request_status": "success", kind: shown}]})


def list_all(request: Request) -> Answer:
    """GET of a list below an ad account, a campaign or an ad squad."""
    wanted = request.query({}, {**PAGING, **_reading(request.slots["kind"])})
    word = request.slots["kind"]
    kind, above, id_above = KINDS[word], request.slots["above"], request.slots["id"]
    if above == "adaccounts":
        account_id = permitted(request, id_above).id
        found = request.world.entities(kind, account_id)
    else:
        parent = request.world.find(KINDS[above], id_above)
        if parent is None:
            raise absent(request, KINDS[above])
        permitted(request, parent.account)
        found = [one for one in request.world.entities(kind, parent.account) if _below(request.world, one, parent)]
    alive = [one for one in found if "_deleted" not in one.data or wanted.get("read_deleted_entities")]
    rows = [view(request.world, one, placement=bool(wanted.get("return_placement_v2"))) for one in alive]
    return listed(request, word, kind, rows, wanted)


def _below(world: World, entity: Entity, parent: Entity) -> bool:
    if entity.parent == parent.id:
        return True
    kind = ABOVE.get(entity.kind)
    above = world.find(kind, str(entity.parent)) if kind is not None else None
    return above is not None and above.parent == parent.id


def _reading(word: str) -> dict[str, Any]:
    more = {"return_placement_v2": truth} if word == "adsquads" else {}
    return {"read_deleted_entities": truth, **more}


def view(world: World, entity: Entity, *, placement: bool = True) -> dict[str, Any]:
    """An object as it is answered. `placement_v2` only where it was asked for."""
    data = {name: value for name, value in entity.data.items() if not name.startswith("_")}
    if not placement:
        data.pop("placement_v2", None)
    shown = {
        "id": entity.id,
        "updated_at": written(entity.updated_at),
        "created_at": written(entity.created_at),
        **data,
    }
    if "_deleted" in entity.data:
        shown["deleted"] = True
    if entity.kind == "creative":
        return {**shown, "review_status": entity.data["_review"], "packaging_status": entity.data["_packaging"]}
    shown |= {**_BY, "creation_state": "PUBLISHED", "delivery_status": delivery(world, entity)}
    if entity.kind == "adsquad":
        computed = world.now - entity.updated_at >= _REACH
        shown["targeting_reach_status"] = "VALID" if computed else "PENDING"
    if entity.kind == "ad":
        shown |= {"render_type": "STATIC", "review_status": review(world, entity)}
        shown["review_status_reasons"] = []
    return shown


def review(world: World, ad: Entity) -> str:
    """The review of an ad: it begins after creation."""
    return "APPROVED" if world.now - ad.created_at >= _REVIEW else "PENDING"


def delivery(world: World, entity: Entity) -> list[str]:
    """Why an object cannot deliver, or VALID."""
    why = _own_state(world.now, entity)
    kind, parent, above = ABOVE.get(entity.kind), entity.parent, []
    while kind is not None:
        found = world.find(kind, str(parent))
        assert found is not None
        above.append(found)
        kind, parent = ABOVE.get(kind), found.parent
    if any("_deleted" in one.data for one in above):
        why.append("INVALID_EFFECTIVE_DELETED")
    if any(one.data["status"] != "ACTIVE" for one in above):
        why.append("INVALID_NOT_EFFECTIVE_ACTIVE")
    if entity.kind == "ad" and review(world, entity) == "PENDING":
        why.append("INVALID_PENDING_REVIEW_STATUS")
    if entity.kind == "adsquad" and not any(
        ad.data["status"] == "ACTIVE" and "_deleted" not in ad.data
        for ad in world.entities("ad", entity.account, entity.id)
    ):
        why.append("INVALID_AD_SQUAD_HAS_NO_ACTIVE_ADS")
    return why or ["VALID"]


def _own_state(now: datetime, entity: Entity) -> list[str]:
    why = [] if entity.data["status"] == "ACTIVE" else ["INVALID_NOT_ACTIVE"]
    if entity.data.get("start_time", "") > written(now):
        why.append("INVALID_START_TIME")
    if entity.data.get("end_time", "9") <= written(now):
        why.append("INVALID_END_TIME")
    return why


def creative(world: World, native_id: str) -> dict[str, Any] | None:
    """A creative by its id. Any well-formed id that is not of here belongs to the first demo account (chosen).

    `missing` in it: there is none. `ineligible`: it was rejected. `processing`: it is still being packaged.
    """
    if (known := world.find("creative", native_id)) is not None:
        return view(world, known)
    review_status, packaging = "APPROVED", "SUCCESS"
    try:
        ID(native_id, "")
    except Problem as problem:
        if problem.code not in ("ineligible", "processing"):
            return None
        review_status = "REJECTED" if problem.code == "ineligible" else "APPROVED"
        packaging = "PENDING" if problem.code == "processing" else "SUCCESS"
    return {
        "id": native_id,
        "updated_at": "2026-01-02T10:00:00.000Z",
        "created_at": "2026-01-02T10:00:00.000Z",
        "ad_account_id": ACCOUNTS[0].id,
        "name": "Creative from elsewhere",
        "type": "WEB_VIEW",
        "headline": "Tea and more",
        "brand_name": "Demo Tea",
        "shareable": True,
        "review_status": review_status,
        "packaging_status": packaging,
    }


def type_of_ad(creative_type: str) -> str | None:
    """The ad type that goes with a creative type; None for PREVIEW, which cannot be promoted."""
    return None if creative_type == "PREVIEW" else TYPE_OF_AD.get(creative_type, creative_type)
