"""Promoted links. People review them; only what is pending can be edited."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from adsunify.sandbox.framework import (
    Answer,
    Check,
    Entity,
    Problem,
    Request,
    World,
    anything,
    boolean,
    choice,
    foreign,
    number,
    record,
    text,
)
from adsunify.sandbox.networks.outbrain.answers import (
    answered,
    each,
    found,
    page,
    paging,
    refused,
    split_ids,
    truth,
    words,
    written,
)
from adsunify.sandbox.networks.outbrain.budgets import native_id
from adsunify.sandbox.networks.outbrain.tables import (
    CROP_TYPES,
    LINK_EXTRAS,
    LINK_PAGE,
    MOST_LINK_PAGE,
    MOST_LINKS_WRITTEN,
    PLAY_MODES,
)

_REVIEW = timedelta(hours=1)  # chosen
_MOST_LINKS = 30_000
_ADDRESS = r"https?://[^\s/]+\S*"
_ELSEWHERE = foreign(r"[0-9A-Za-z_-]+")


def _reachable(value: Any, where: str) -> str:
    """An address that can be crawled, which `missing` cannot. `ineligible` is for the review to find."""
    address: str = text(1, None, _ADDRESS)(value, where)
    if "missing" in address:
        raise Problem("missing", where, "cannot be crawled")
    return address


_IMAGE = record(
    optional={
        "id": _ELSEWHERE,
        "url": _reachable,
        "playMode": choice(*PLAY_MODES),
        "cropSettings": anything,
        "cropType": choice(*CROP_TYPES),
        "aiGenerated": boolean,
        "stream": anything,
    },
    exactly_one=(("id", "url"),),
)
_LOGO = record(optional={"id": _ELSEWHERE, "url": _reachable}, exactly_one=(("id", "url"),))
_ADJUSTMENT = number(-1, 10, places=3)
_CONTENT: Mapping[str, Check] = {
    "sectionName": text(), "description": text(), "imageMetadata": _IMAGE, "logoMetadata": _LOGO,
    "callToAction": record(required={"type": text()}), "cpcAdjustment": _ADJUSTMENT, "metaData": anything,
}  # fmt: skip
CREATE = record(required={"url": _reachable, "enabled": boolean}, optional={**_CONTENT, "text": text()})
# The headline is `title` here and nowhere else.
_UPDATE_ITEM = record(required={"id": text()}, optional={**_CONTENT, "title": text(), "enabled": boolean})
_ALWAYS = frozenset({"enabled", "cpcAdjustment"})  # the first by the documentation, the second chosen
_STATUSES = ("APPROVED", "PENDING", "REJECTED")
_EXTRAS = {"extraFields": words(*LINK_EXTRAS)}
_LIST: Mapping[str, Check] = {
    **_EXTRAS, **paging(MOST_LINK_PAGE), "enabled": truth, "statuses": words(*_STATUSES),
}  # fmt: skip


def create(request: Request) -> Answer:
    """POST /campaigns/{id}/promotedLinks."""
    extras = request.query({}, _EXTRAS).get("extraFields", ())
    campaign = found(request, "campaign", request.slots["id"])
    return answered(request, view(request.world, _made(request, campaign, request.json()), extras))


def create_several(request: Request) -> Answer:
    """POST /campaigns/{id}/multiplePromotedLinks: each alone, all inside one 200."""
    campaign = found(request, "campaign", request.slots["id"])
    request.query()
    return each(request, MOST_LINKS_WRITTEN, lambda item: view(request.world, _made(request, campaign, item), ()))


def update_several(request: Request) -> Answer:
    """PUT /campaigns/{id}/promotedLinks/: content and status, each link alone, all inside one 200."""
    campaign = found(request, "campaign", request.slots["id"])
    request.query()
    return each(request, MOST_LINKS_WRITTEN, lambda item: view(request.world, _changed(request, campaign, item), ()))


def set_enabled(request: Request) -> Answer:
    """PUT /promotedLinks/{ids}: all or none (chosen), and nothing is answered."""
    request.query()
    ids = split_ids(request.slots["ids"], MOST_LINKS_WRITTEN)
    given = request.json(record(required={"enabled": boolean}))
    for link in [found(request, "promotedLink", one) for one in ids]:
        request.world.put(link, {**link.data, **given})
    return answered(request, None)


def _made(request: Request, campaign: Entity, item: Any) -> Entity:
    given = CREATE(item, "")
    if len(request.world.entities("promotedLink", parent=campaign.id)) >= _MOST_LINKS:
        raise refused("", f"a campaign has at most {_MOST_LINKS} promoted links")
    # what is left out is crawled: at once here, though the real network may take its time
    crawled = {"text": "Crawled headline", "imageMetadata": {"url": "https://images.example/crawled.jpg"}}
    made = native_id(request.world, "03")
    return request.world.create("promotedLink", campaign.account, {**crawled, **given}, parent=campaign.id, id=made)


def _changed(request: Request, campaign: Entity, item: Any) -> Entity:
    given = _UPDATE_ITEM(item, "")
    link = request.world.find("promotedLink", given.pop("id"))
    if link is None or link.parent != campaign.id:
        raise Problem("absent", "/id", "no such promoted link in this campaign")
    if not given.keys() <= _ALWAYS and not approval(request.world, link)["isEditable"]:
        raise refused("", "only a pending promoted link can be edited")
    if "title" in given:
        given["text"] = given.pop("title")
    return request.world.put(link, {**link.data, **given})


def show(request: Request) -> Answer:
    """GET /promotedLinks/{id}."""
    extras = request.query({}, _EXTRAS).get("extraFields", ())
    return answered(request, view(request.world, found(request, "promotedLink", request.slots["ids"]), extras))


def list_all(request: Request) -> Answer:
    """GET /campaigns/{id}/promotedLinks."""
    wanted = request.query({}, _LIST)
    campaign, world = found(request, "campaign", request.slots["id"]), request.world
    kept = [one for one in world.entities("promotedLink", parent=campaign.id)
            if wanted.get("enabled", one.data["enabled"]) == one.data["enabled"]
            and approval(world, one)["status"].upper() in wanted.get("statuses", _STATUSES)]  # fmt: skip
    rows = [view(world, one, wanted.get("extraFields", ())) for one in page(kept, wanted, LINK_PAGE)]
    return answered(request, {"count": len(rows), "totalCount": len(kept), "promotedLinks": rows})


def approval(world: World, link: Entity) -> dict[str, Any]:
    """The review: pending first; `processing` in the address keeps it so, `ineligible` is rejected."""
    address, reasons = link.data["url"], []
    status = "Approved" if link.data.get("_seeded") or world.now - link.created_at >= _REVIEW else "Pending"
    if "processing" in address:
        status = "Pending"
    if "ineligible" in address and status == "Approved":
        status, reasons = "Rejected", ["Content does not meet the guidelines"]
    return {"status": status, "reasons": reasons, "isEditable": status == "Pending"}


def view(world: World, link: Entity, extras: Collection[str]) -> dict[str, Any]:
    """A promoted link as it is answered."""
    data = {name: value for name, value in link.data.items()
            if not name.startswith("_") and name not in ("imageMetadata", "logoMetadata")}  # fmt: skip
    review = approval(world, link)
    campaign = world.find("campaign", str(link.parent))
    assert campaign is not None, "campaigns are never removed"
    why = ("PROMOTED_LINK_DISABLED" if not data["enabled"] else "CAMPAIGN_DISABLED" if not campaign.data["enabled"]
           else review["status"].upper() if review["status"] != "Approved" else "")  # fmt: skip
    shown = {
        "id": link.id,
        "campaignId": link.parent,
        **data,
        "archived": False,
        "creationTime": written(link.created_at),
        "lastModified": written(link.updated_at),
        "status": review["status"].upper(),
        "approvalStatus": review,
        "onAirStatus": {"onAir": not why, "reason": why or "ON_AIR"},
        "cpc": campaign.data["cpc"] * (1 + Decimal(data.get("cpcAdjustment", 0))),
    }
    image = link.data["imageMetadata"]
    if "ImageURL" in extras:
        shown["imageUrl"] = image.get("url", "https://images.example/stored.jpg")
    if "ImageMetaData" in extras:
        shown["imageMetadata"] = dict(image)
    if "LogoMetaData" in extras and "logoMetadata" in link.data:
        shown["logoMetadata"] = dict(link.data["logoMetadata"])
    return shown
