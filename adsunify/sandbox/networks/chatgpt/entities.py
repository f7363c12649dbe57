"""Reads of campaigns, ad groups and ads: single objects and lists."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import choice, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.chatgpt import answers, tables
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import StoredEntity, World

REVIEW_SECONDS = 300  # OpenAI Advertiser API: a review usually takes minutes; the number is our choice
_INCLUDE_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "campaign": ("serving_issues",),
    "ad_group": ("serving_issues", "bid_too_low"),
    "ad": ("serving_issues",),
}


def list_entities(request: Request) -> Response:
    """GET of a list. Ad groups and ads need their parent, as the documentation says.

    Archived objects are included (our choice).
    """
    kind, account = tables.KIND_BY_COLLECTION[request.path_parameters["kind"]], answers.require_account(request)
    required = {tables.PARENT_ID_MEMBERS[kind]: text()} if kind in tables.PARENT_ID_MEMBERS else {}
    query = answers.parse_query(
        request, required, {**answers.LIST_CHECKS, "name": text(3)}, {"include": choice(*_INCLUDE_OPTIONS[kind])}
    )
    parent = None
    if kind in tables.PARENT_KINDS:
        parent = query[tables.PARENT_ID_MEMBERS[kind]]
        if request.world.find(tables.PARENT_KINDS[kind], parent, account.id) is None:
            raise answers.not_found_error(tables.PARENT_KINDS[kind])
    rows = [
        render_entity(request.world, entity, query["include"])
        for entity in request.world.list_entities(kind, account.id, parent)
    ]
    if "name" in query:
        rows = [row for row in rows if row["name"].lower() == query["name"].lower()]
    return answers.build_page_response(request, rows, query)


def get_entity(request: Request) -> Response:
    """GET of one object, without an envelope."""
    entity = require_entity(request)
    query = answers.parse_query(request, {}, {}, {"include": choice(*_INCLUDE_OPTIONS[entity.kind])})
    return answers.build_response(request, render_entity(request.world, entity, query["include"]))


def require_entity(request: Request) -> StoredEntity:
    """The object of the path. Raises InvalidRequest `missing`."""
    kind = tables.KIND_BY_COLLECTION[request.path_parameters["kind"]]
    entity = request.world.find(kind, request.path_parameters["id"], answers.require_account(request).id)
    if entity is None:
        raise answers.not_found_error(kind)
    return entity


def get_ancestry(world: World, ad: StoredEntity) -> tuple[StoredEntity, StoredEntity, StoredEntity]:
    """An ad, its ad group and its campaign."""
    group = world.find("ad_group", str(ad.parent))
    assert group is not None, "an ad has an ad group"
    campaign = world.find("campaign", str(group.parent))
    assert campaign is not None, "an ad group has a campaign"
    return ad, group, campaign


def get_review(world: World, ad: StoredEntity) -> dict[str, str]:
    """The state of the review of an ad: every new creative starts a review."""
    if world.is_refused(ad):
        return {"status": "rejected", "reason": "crawler_404"}
    if world.now.timestamp() < ad.data["_submitted"] + REVIEW_SECONDS:
        return {"status": "in_review"}
    if "ineligible" in ad.data["creative"]["target_url"]:  # our choice: undocumented
        return {"status": "rejected", "reason": "crawler_404"}
    return {"status": "approved"}


def render_entity(world: World, entity: StoredEntity, include: list[str] | None = None) -> dict[str, Any]:
    """An object in a response. It does not name the parent. Members that start with `_` belong to the sandbox."""
    data: dict[str, Any] = {name: value for name, value in entity.data.items() if not name.startswith("_")}
    whole = {
        "id": entity.id,
        "created_at": int(entity.created_at.timestamp()),
        "updated_at": int(entity.updated_at.timestamp()),
        **data,
    }
    if entity.kind == "campaign" and data.get("targeting") is not None:
        whole["targeting"] = _expand_locations(data["targeting"])
    if entity.kind == "ad":
        file = data["creative"]["file_id"]
        whole["creative"] = {**data["creative"], "image_url": f"https://files.oaiusercontent.example/{file}"}
        whole["review"] = get_review(world, entity)
        whole["review_status"] = whole["review"]["status"]
    if include and "serving_issues" in include:
        whole["serving_issues"] = [{"code": code} for code in _list_serving_issues(world, entity)]
    if include and "bid_too_low" in include:
        whole["bid_too_low"] = _is_bid_too_low(world, entity)
    return whole


def _expand_locations(targeting: Mapping[str, Any]) -> dict[str, Any]:
    """Each place of `include` with its known members."""
    places = targeting.get("locations", {}).get("include")
    if places is None:
        return dict(targeting)
    return {
        **targeting,
        "locations": {**targeting["locations"], "include": [_render_place(place["id"]) for place in places]},
    }


def _render_place(native_id: str) -> dict[str, Any]:
    kind, country, region, _, name, _ = tables.PLACES.get(native_id, ("region", "US", None, None, native_id, native_id))
    return {"id": native_id, "name": name, "type": kind, "country_code": country, "region_code": region}


def _list_serving_issues(world: World, entity: StoredEntity) -> list[str]:
    """The reasons why the entity does not serve, from itself up to the campaign."""
    above: list[StoredEntity] = [entity]
    while (parent := above[-1].parent) is not None:
        next_one = world.find(tables.PARENT_KINDS[above[-1].kind], parent)
        assert next_one is not None, "a parent stays"
        above.append(next_one)
    codes = [f"{ancestor.kind}_not_active" for ancestor in above if ancestor.data["status"] != "active"]
    campaign, now = above[-1].data, world.now.timestamp()
    if (campaign["start_time"] or 0) > now:
        codes.append("campaign_not_started")
    if campaign["end_time"] is not None and campaign["end_time"] <= now:
        codes.append("campaign_ended")
    if entity.kind == "ad" and (status := get_review(world, entity)["status"]) != "approved":
        codes.append("ad_in_review" if status == "in_review" else "ad_rejected")
    return codes


def _is_bid_too_low(world: World, entity: StoredEntity) -> bool:
    """Whether a bid is below a hundredth of a dollar (our choice)."""
    bid = entity.data["bidding_config"].get("max_bid_micros")
    campaign = world.find("campaign", str(entity.parent))
    assert campaign is not None, "an ad group has a campaign"
    clicks = campaign.data["bidding_type"] != "impressions"
    least = tables.CURRENCIES[world.accounts[entity.account].currency].approximate_dollar // 100
    return bid is not None and clicks and bid < least


def check_not_archived(entity: StoredEntity) -> None:
    """Raises InvalidRequest for an archived object, which cannot change."""
    if entity.data["status"] == "archived":
        raise InvalidRequest("rule", "/status", f"The {entity.kind} is archived and cannot be changed.")
