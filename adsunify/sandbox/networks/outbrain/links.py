"""Promoted links. People review them; only pending ones can be edited."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import (
    Check,
    any_value,
    boolean,
    boolean_text,
    choice,
    comma_separated,
    external_id,
    number,
    record,
    rule_error,
    text,
)
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.outbrain import answers, tables
from adsunify.sandbox.networks.outbrain.budgets import allocate_native_id
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import StoredEntity, World

_REVIEW_TIME = timedelta(hours=1)  # our choice: undocumented
_MAX_LINKS = 30_000
_URL_PATTERN = r"https?://[^\s/]+\S*"
_EXTERNAL_ID = external_id(r"[0-9A-Za-z_-]+")


def _check_reachable_url(value: Any, where: str) -> str:
    """A URL that can be crawled. A URL with `missing` cannot be crawled. The review rejects a URL with `ineligible`."""
    address: str = text(1, None, _URL_PATTERN)(value, where)
    if "missing" in address:
        raise InvalidRequest("missing", where, "cannot be crawled")
    return address


_IMAGE_CHECK = record(
    optional={
        "id": _EXTERNAL_ID,
        "url": _check_reachable_url,
        "playMode": choice(*tables.PLAY_MODES),
        "cropSettings": any_value,
        "cropType": choice(*tables.CROP_TYPES),
        "aiGenerated": boolean,
        "stream": any_value,
    },
    exactly_one=(("id", "url"),),
)
_LOGO_CHECK = record(optional={"id": _EXTERNAL_ID, "url": _check_reachable_url}, exactly_one=(("id", "url"),))
_ADJUSTMENT_CHECK = number(-1, 10, places=3)
_CONTENT_MEMBERS: Mapping[str, Check] = {
    "sectionName": text(),
    "description": text(),
    "imageMetadata": _IMAGE_CHECK,
    "logoMetadata": _LOGO_CHECK,
    "callToAction": record(required={"type": text()}),
    "cpcAdjustment": _ADJUSTMENT_CHECK,
    "metaData": any_value,
}
CREATE_CHECK = record(
    required={"url": _check_reachable_url, "enabled": boolean}, optional={**_CONTENT_MEMBERS, "text": text()}
)
# Only this call names the headline `title`.
_UPDATE_ITEM_CHECK = record(required={"id": text()}, optional={**_CONTENT_MEMBERS, "title": text(), "enabled": boolean})
# `enabled` is documented, `cpcAdjustment` is our choice
_ALWAYS_EDITABLE_MEMBERS = frozenset({"enabled", "cpcAdjustment"})
_APPROVAL_STATUSES = ("APPROVED", "PENDING", "REJECTED")
_EXTRAS_CHECK = {"extraFields": comma_separated(choice(*tables.LINK_EXTRA_FIELDS))}
_LIST_CHECKS: Mapping[str, Check] = {
    **_EXTRAS_CHECK,
    **answers.PAGING.make_checks(tables.MAX_LINK_PAGE_SIZE),
    "enabled": boolean_text,
    "statuses": comma_separated(choice(*_APPROVAL_STATUSES)),
}


def create_link(request: Request) -> Response:
    """POST /campaigns/{id}/promotedLinks."""
    extras = request.parse_query({}, _EXTRAS_CHECK).get("extraFields", ())
    campaign = answers.require_entity(request, "campaign", request.path_parameters["id"])
    return answers.build_response(
        request, render_link(request.world, _create_link(request, campaign, request.parse_json()), extras)
    )


def create_links(request: Request) -> Response:
    """POST /campaigns/{id}/multiplePromotedLinks: creates each link alone; the response is a 200."""
    campaign = answers.require_entity(request, "campaign", request.path_parameters["id"])
    request.parse_query()
    return answers.apply_each(
        request,
        tables.MAX_LINKS_PER_WRITE,
        lambda item: render_link(request.world, _create_link(request, campaign, item), ()),
    )


def update_links(request: Request) -> Response:
    """PUT /campaigns/{id}/promotedLinks/: updates content and status of each link alone; the response is a 200."""
    campaign = answers.require_entity(request, "campaign", request.path_parameters["id"])
    request.parse_query()
    return answers.apply_each(
        request,
        tables.MAX_LINKS_PER_WRITE,
        lambda item: render_link(request.world, _update_link(request, campaign, item), ()),
    )


def set_links_enabled(request: Request) -> Response:
    """PUT /promotedLinks/{ids}: all or none (our choice); the response is empty."""
    request.parse_query()
    ids = answers.split_ids(request.path_parameters["ids"], tables.MAX_LINKS_PER_WRITE)
    body = request.parse_json(record(required={"enabled": boolean}))
    for link in [answers.require_entity(request, "promotedLink", link_id) for link_id in ids]:
        request.world.replace(link, {**link.data, **body})
    return answers.build_response(request, None)


def _create_link(request: Request, campaign: StoredEntity, item: Any) -> StoredEntity:
    members = CREATE_CHECK(item, "")
    if len(request.world.list_entities("promotedLink", parent=campaign.id)) >= _MAX_LINKS:
        raise rule_error("", f"a campaign has at most {_MAX_LINKS} promoted links")
    # absent members are crawled: immediately in this simulation, later on the real network
    crawled = {"text": "Crawled headline", "imageMetadata": {"url": "https://images.example/crawled.jpg"}}
    native_id = allocate_native_id(request.world, "03")
    return request.world.create(
        "promotedLink", campaign.account, {**crawled, **members}, parent=campaign.id, id=native_id
    )


def _update_link(request: Request, campaign: StoredEntity, item: Any) -> StoredEntity:
    members = _UPDATE_ITEM_CHECK(item, "")
    link = request.world.find("promotedLink", members.pop("id"))
    if link is None or link.parent != campaign.id:
        raise InvalidRequest("absent", "/id", "no such promoted link in this campaign")
    if not members.keys() <= _ALWAYS_EDITABLE_MEMBERS and not get_approval(request.world, link)["isEditable"]:
        raise rule_error("", "only a pending promoted link can be edited")
    if "title" in members:
        members["text"] = members.pop("title")
    return request.world.replace(link, {**link.data, **members})


def get_link(request: Request) -> Response:
    """GET /promotedLinks/{id}."""
    extras = request.parse_query({}, _EXTRAS_CHECK).get("extraFields", ())
    return answers.build_response(
        request,
        render_link(
            request.world, answers.require_entity(request, "promotedLink", request.path_parameters["ids"]), extras
        ),
    )


def list_links(request: Request) -> Response:
    """GET /campaigns/{id}/promotedLinks."""
    query = request.parse_query({}, _LIST_CHECKS)
    campaign, world = answers.require_entity(request, "campaign", request.path_parameters["id"]), request.world
    links = [
        link
        for link in world.list_entities("promotedLink", parent=campaign.id)
        if query.get("enabled", link.data["enabled"]) == link.data["enabled"]
        and get_approval(world, link)["status"].upper() in query.get("statuses", _APPROVAL_STATUSES)
    ]
    rows = [
        render_link(world, link, query.get("extraFields", ()))
        for link in answers.PAGING.slice(links, query, tables.DEFAULT_LINK_PAGE_SIZE)
    ]
    return answers.build_response(request, {"count": len(rows), "totalCount": len(links), "promotedLinks": rows})


def get_approval(world: World, link: StoredEntity) -> dict[str, Any]:
    """The result of the review: at first pending. A URL with `processing` stays pending; `ineligible` is rejected."""
    address, reasons = link.data["url"], []
    status = "Approved" if link.data.get("_seeded") or world.now - link.created_at >= _REVIEW_TIME else "Pending"
    if "processing" in address:
        status = "Pending"
    if world.is_refused(link) or ("ineligible" in address and status == "Approved"):
        status, reasons = "Rejected", ["Content does not meet the guidelines"]
    return {"status": status, "reasons": reasons, "isEditable": status == "Pending"}


def render_link(world: World, link: StoredEntity, extras: Collection[str]) -> dict[str, Any]:
    """A promoted link in a response."""
    data = {
        name: value
        for name, value in link.data.items()
        if not name.startswith("_") and name not in ("imageMetadata", "logoMetadata")
    }
    review = get_approval(world, link)
    campaign = world.find("campaign", str(link.parent))
    assert campaign is not None, "campaigns are never removed"
    reason = (
        "PROMOTED_LINK_DISABLED"
        if not data["enabled"]
        else "CAMPAIGN_DISABLED"
        if not campaign.data["enabled"]
        else review["status"].upper()
        if review["status"] != "Approved"
        else ""
    )
    members = {
        "id": link.id,
        "campaignId": link.parent,
        **data,
        "archived": False,
        "creationTime": answers.format_instant(link.created_at),
        "lastModified": answers.format_instant(link.updated_at),
        "status": review["status"].upper(),
        "approvalStatus": review,
        "onAirStatus": {"onAir": not reason, "reason": reason or "ON_AIR"},
        "cpc": campaign.data["cpc"] * (1 + Decimal(data.get("cpcAdjustment", 0))),
    }
    image = link.data["imageMetadata"]
    if "ImageURL" in extras:
        members["imageUrl"] = image.get("url", "https://images.example/stored.jpg")
    if "ImageMetaData" in extras:
        members["imageMetadata"] = dict(image)
    if "LogoMetaData" in extras and "logoMetadata" in link.data:
        members["logoMetadata"] = dict(link.data["logoMetadata"])
    return members
