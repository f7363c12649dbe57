"""Campaigns, ad groups and ads as they are read: one and lists."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.framework import Answer, Entity, Problem, Request, World, choice, text
from adsunify.sandbox.networks.chatgpt.answers import LIST, absent, account_of, answered, asked, listed
from adsunify.sandbox.networks.chatgpt.tables import ABOVE, CURRENCIES, KINDS, PARENT_KEY, PLACES

REVIEW_SECONDS = 300  # OpenAI Advertiser API: usually minutes; how many is chosen
_INCLUDES: Mapping[str, tuple[str, ...]] = {
    "campaign": ("serving_issues",),
    "ad_group": ("serving_issues", "bid_too_low"),
    "ad": ("serving_issues",),
}


def list_all(request: Request) -> Answer:
    """GET of a list. Below the account it needs its parent, as the document marks it, and holds what is
    archived too (chosen)."""
    kind, account = KINDS[request.slots["kind"]], account_of(request)
    required = {PARENT_KEY[kind]: text()} if kind in PARENT_KEY else {}
    wanted = asked(request, required, {**LIST, "name": text(3)}, {"include": choice(*_INCLUDES[kind])})
    parent = None
    if kind in ABOVE:
        parent = wanted[PARENT_KEY[kind]]
        if request.world.find(ABOVE[kind], parent, account.id) is None:
            raise absent(ABOVE[kind])
    rows = [view(request.world, one, wanted["include"]) for one in request.world.entities(kind, account.id, parent)]
    if "name" in wanted:
        rows = [row for row in rows if row["name"].lower() == wanted["name"].lower()]
    return listed(request, rows, wanted)


def show(request: Request) -> Answer:
    """GET of one object, bare."""
    entity = found(request)
    wanted = asked(request, {}, {}, {"include": choice(*_INCLUDES[entity.kind])})
    return answered(request, view(request.world, entity, wanted["include"]))


def found(request: Request) -> Entity:
    """The object of the path. Problem `missing`."""
    kind = KINDS[request.slots["kind"]]
    entity = request.world.find(kind, request.slots["id"], account_of(request).id)
    if entity is None:
        raise absent(kind)
    return entity


def line(world: World, ad: Entity) -> tuple[Entity, Entity, Entity]:
    """An ad, its ad group and its campaign."""
    group = world.find("ad_group", str(ad.parent))
    assert group is not None, "an ad has an ad group"
    campaign = world.find("campaign", str(group.parent))
    assert campaign is not None, "an ad group has a campaign"
    return ad, group, campaign


def review(world: World, ad: Entity) -> dict[str, str]:
    """Where the review of an ad stands: it starts with every creative that is sent."""
    if world.now.timestamp() < ad.data["_submitted"] + REVIEW_SECONDS:
        return {"status": "in_review"}
    if "ineligible" in ad.data["creative"]["target_url"]:  # chosen
        return {"status": "rejected", "reason": "crawler_404"}
    return {"status": "approved"}


def view(world: World, entity: Entity, include: list[str] | None = None) -> dict[str, Any]:
    """An object as it is answered. The parent is not in it; what starts with `_` is the sandbox's own."""
    data: dict[str, Any] = {name: value for name, value in entity.data.items() if not name.startswith("_")}
    whole = {
        "id": entity.id,
        "created_at": int(entity.created_at.timestamp()),
        "updated_at": int(entity.updated_at.timestamp()),
        **data,
    }
    if entity.kind == "campaign" and data.get("targeting") is not None:
        whole["targeting"] = _expanded(data["targeting"])
    if entity.kind == "ad":
        file = data["creative"]["file_id"]
        whole["creative"] = {**data["creative"], "image_url": f"https://files.oaiusercontent.example/{file}"}
        whole["review"] = review(world, entity)
        whole["review_status"] = whole["review"]["status"]
    if include and "serving_issues" in include:
        whole["serving_issues"] = [{"code": code} for code in _issues(world, entity)]
    if include and "bid_too_low" in include:
        whole["bid_too_low"] = _bid_too_low(world, entity)
    return whole


def _expanded(targeting: Mapping[str, Any]) -> dict[str, Any]:
    """Each place of `include` with what is known about it."""
    places = targeting.get("locations", {}).get("include")
    if places is None:
        return dict(targeting)
    return {**targeting, "locations": {**targeting["locations"], "include": [_place(one["id"]) for one in places]}}


def _place(native_id: str) -> dict[str, Any]:
    kind, country, region, _, name, _ = PLACES.get(native_id, ("region", "US", None, None, native_id, native_id))
    return {"id": native_id, "name": name, "type": kind, "country_code": country, "region_code": region}


def _issues(world: World, entity: Entity) -> list[str]:
    """Why nothing is served, from here up to the campaign."""
    above: list[Entity] = [entity]
    while (parent := above[-1].parent) is not None:
        next_one = world.find(ABOVE[above[-1].kind], parent)
        assert next_one is not None, "a parent stays"
        above.append(next_one)
    codes = [f"{one.kind}_not_active" for one in above if one.data["status"] != "active"]
    campaign, now = above[-1].data, world.now.timestamp()
    if (campaign["start_time"] or 0) > now:
        codes.append("campaign_not_started")
    if campaign["end_time"] is not None and campaign["end_time"] <= now:
        codes.append("campaign_ended")
    if entity.kind == "ad" and (status := review(world, entity)["status"]) != "approved":
        codes.append("ad_in_review" if status == "in_review" else "ad_rejected")
    return codes


def _bid_too_low(world: World, entity: Entity) -> bool:
    """Below a hundredth of a dollar (chosen)."""
    bid = entity.data["bidding_config"].get("max_bid_micros")
    campaign = world.find("campaign", str(entity.parent))
    assert campaign is not None, "an ad group has a campaign"
    clicks = campaign.data["bidding_type"] != "impressions"
    least = CURRENCIES[world.accounts[entity.account].currency].about_a_dollar // 100
    return bid is not None and clicks and bid < least


def not_archived(entity: Entity) -> None:
    """Problem where an object is archived: that is final."""
    if entity.data["status"] == "archived":
        raise Problem("rule", "/status", f"The {entity.kind} is archived and cannot be changed.")
