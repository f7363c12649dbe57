"""Creates and updates of campaigns, ad groups and ads: arrays whose items succeed or fail alone.

The answer is a 200 with one item for each object sent. `exceptions` is a list for campaigns and ad groups and a single
object for ads; of an object that failed nothing is applied and `data` is null.
"""

from collections.abc import Callable, Mapping
from typing import Any

from adsunify.sandbox.framework import Account, Answer, Entity, Problem, Request, anything, listing
from adsunify.sandbox.networks.pinterest.answers import ITEM_CODES, account_of, native
from adsunify.sandbox.networks.pinterest.fields import CREATE, UPDATE
from adsunify.sandbox.networks.pinterest.pins import exists, known_type
from adsunify.sandbox.networks.pinterest.reads import KINDS, native_view
from adsunify.sandbox.networks.pinterest.rules import (
    GONE,
    check_ad_group,
    check_campaign,
    check_changeable,
    check_status,
    given,
    refused,
)
from adsunify.sandbox.networks.pinterest.tables import MOST_AD_GROUPS, MOST_PER_WRITE

FAULTS = frozenset({"partial", "error_in_200"})
# What the network makes of what is left out.
BORN: Mapping[str, Mapping[str, Any]] = {
    "campaign": {
        "status": "ACTIVE",
        "is_performance_plus": False,
        "is_automated_campaign": False,
        "is_flexible_daily_budgets": False,
        "intended_promotion_type": "STANDARD_AD",
    },
    "ad_group": {
        "status": "ACTIVE",
        "budget_type": "DAILY",
        "pacing_delivery_type": "STANDARD",
        "placement_group": "ALL",
        "auto_targeting_enabled": True,
        "is_creative_optimization": False,
        "bid_strategy_type": "MAX_BID",  # chosen: a bid is "required" unless bidding is said to be automatic
    },
    "ad": {"status": "ACTIVE"},
}


def create(request: Request) -> Answer:
    """POST /ad_accounts/{account}/campaigns, /ad_groups, /ads."""
    return _each(request, _create)


def update(request: Request) -> Answer:
    """PATCH of the same: only what is given changes."""
    return _each(request, _update)


def _each(request: Request, apply: Callable[[Request, str, Account, Any, str], Entity]) -> Answer:
    request.query()
    kind, account = KINDS[request.slots["entities"]], account_of(request, writing=True)
    sent = request.json(listing(anything, 1, MOST_PER_WRITE))
    items = []
    for position, item in enumerate(sent):
        try:
            with request.world.savepoint():
                _fail_as_told(request, position == len(sent) - 1)
                entity = apply(request, kind, account, item, f"/{position}")
        except Problem as problem:
            if problem.code not in ITEM_CODES:
                raise
            _, code, message = native(problem)
            exception = {"code": code, "message": message}
            items.append({"data": None, "exceptions": exception if kind == "ad" else [exception]})
        else:
            items.append({"data": native_view(entity, request.now), "exceptions": None if kind == "ad" else []})
    return Answer(200, {"items": items})


def _fail_as_told(request: Request, last: bool) -> None:
    if request.told("error_in_200") or (last and request.told("partial")):
        raise Problem("rule", "", "The object could not be saved")
    if request.told("slow_media"):  # a fresh Pin may need a moment before it can be promoted
        raise Problem("processing", "/pin_id", "the Pin is not ready")


def _create(request: Request, kind: str, account: Account, item: Any, where: str) -> Entity:
    data = {**BORN[kind], **given(kind, CREATE[kind](item, where), None)}
    check_status(kind, data["status"], None)
    if kind == "campaign":
        _same_account(data, account)
        data.setdefault("start_time", int(request.now.timestamp()))
        check_campaign(data, None, request.now)
        return request.world.create("campaign", account.id, data)
    if kind == "ad_group":
        campaign = _parent(request, "campaign", data["campaign_id"], account)
        check_ad_group(data, None, campaign.data, account)
        siblings = request.world.entities("ad_group", account.id, campaign.id)
        alive = [group for group in siblings if group.data["status"] not in GONE]
        if campaign.data.get("is_campaign_budget_optimization") and len(alive) >= MOST_AD_GROUPS:
            raise refused("campaign_id", f"a campaign budget covers at most {MOST_AD_GROUPS} ad groups")
        return request.world.create("ad_group", account.id, _within(data, campaign), parent=campaign.id)
    group = _parent(request, "ad_group", data["ad_group_id"], account)
    above = {"campaign_id": group.parent}
    _check_ad(request, data)
    return request.world.create("ad", account.id, {**_written(data), **above}, parent=group.id)


def _update(request: Request, kind: str, account: Account, item: Any, where: str) -> Entity:
    sent = UPDATE[kind](item, where)
    entity = request.world.find(kind, sent["id"], account.id)
    if entity is None:
        raise Problem("missing", "/id", f"{kind} {sent['id']} does not exist in this ad account")
    old = entity.data
    changes = given(kind, {name: value for name, value in sent.items() if name != "id"}, old)
    if kind == "campaign":
        _same_account(changes, account)
    check_changeable(kind, old, changes)
    check_status(kind, changes.get("status", old["status"]), old)
    data = {**old, **changes}
    if kind == "campaign":
        check_campaign(data, old, request.now)
        changed = request.world.put(entity, data)
        _cut_children(request, changed)
        return changed
    if kind == "ad_group":
        campaign = request.world.find("campaign", data["campaign_id"], account.id)
        if campaign is None:
            raise Problem("missing", "/campaign_id", f"campaign {data['campaign_id']} does not exist")
        check_ad_group(data, old, campaign.data, account)
        return request.world.put(entity, _within(data, campaign))
    if "pin_id" in changes or "creative_type" in changes:
        _check_ad(request, data)
    return request.world.put(entity, _written(data))


def _same_account(data: Mapping[str, Any], account: Account) -> None:
    if data["ad_account_id"] != account.id:
        raise refused("ad_account_id", "must be the ad account of the path")


def _parent(request: Request, kind: str, native_id: str, account: Account) -> Entity:
    parent = request.world.find(kind, native_id, account.id)
    if parent is None:
        raise Problem("missing", f"/{kind}_id", f"{kind} {native_id} does not exist in this ad account")
    if parent.data["status"] in GONE:
        raise refused(f"{kind}_id", f"{kind} {native_id} is {parent.data['status']}")
    return parent


def _check_ad(request: Request, data: Mapping[str, Any]) -> None:
    """The Pin exists, and the ad names its type (chosen: refused where a Pin that is known here is of another)."""
    pin = exists(data["pin_id"], "pin", "/pin_id")
    kind = known_type(request, pin)
    if kind is not None and data["creative_type"] != kind:
        raise refused("creative_type", f"the Pin is {kind}")


def _written(data: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is read-only and ignored."""
    return {name: value for name, value in data.items() if name != "grid_click_type"}


def _within(data: Mapping[str, Any], campaign: Entity) -> dict[str, Any]:
    """Where the ends clash the one of the campaign silently wins."""
    last, end = campaign.data.get("end_time"), data.get("end_time")
    return {**data, "end_time": last} if end is not None and last is not None and end > last else dict(data)


def _cut_children(request: Request, campaign: Entity) -> None:
    for group in request.world.entities("ad_group", campaign.account, campaign.id):
        if (within := _within(group.data, campaign)) != dict(group.data):
            request.world.put(group, within, logged=False)
