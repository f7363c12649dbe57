"""Creates and updates of campaigns, ad groups and ads: arrays whose items succeed or fail alone.

The answer is a 200 with one item for each object sent. `exceptions` is a list for campaigns and ad groups and a single
object for ads; an object that failed is not applied, and its `data` is null.
"""

from collections.abc import Callable, Mapping
from typing import Any

from adsunify.sandbox.checks import any_value, array
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.pinterest import rules
from adsunify.sandbox.networks.pinterest.answers import ITEM_PROBLEM_CODES, map_error, require_account
from adsunify.sandbox.networks.pinterest.fields import CREATE_CHECKS, UPDATE_CHECKS
from adsunify.sandbox.networks.pinterest.pins import check_exists, find_pin_type
from adsunify.sandbox.networks.pinterest.reads import KIND_BY_COLLECTION, render_entity
from adsunify.sandbox.networks.pinterest.tables import MAX_AD_GROUPS, MAX_ITEMS_PER_WRITE
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

BATCH_FAULTS = frozenset({"partial", "error_in_200"})
# Values of members that a create leaves out.
CREATION_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
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
        "bid_strategy_type": "MAX_BID",  # our choice: a bid is "required" unless the request sets automatic bidding
    },
    "ad": {"status": "ACTIVE"},
}


def create_entities(request: Request) -> Response:
    """POST /ad_accounts/{account}/campaigns, /ad_groups, /ads."""
    return _apply_each(request, _create_entity)


def update_entities(request: Request) -> Response:
    """PATCH /ad_accounts/{account}/campaigns, /ad_groups, /ads: changes only the members that are sent."""
    return _apply_each(request, _update_entity)


def _apply_each(request: Request, apply: Callable[[Request, str, Account, Any, str], StoredEntity]) -> Response:
    request.parse_query()
    kind, account = KIND_BY_COLLECTION[request.path_parameters["entities"]], require_account(request, writing=True)
    body = request.parse_json(array(any_value, 1, MAX_ITEMS_PER_WRITE))
    items = []
    for position, item in enumerate(body):
        try:
            with request.world.savepoint():
                _raise_fault(request, position == len(body) - 1)
                entity = apply(request, kind, account, item, f"/{position}")
        except InvalidRequest as problem:
            if problem.code not in ITEM_PROBLEM_CODES:
                raise
            _, code, message = map_error(problem)
            exception = {"code": code, "message": message}
            items.append({"data": None, "exceptions": exception if kind == "ad" else [exception]})
        else:
            items.append({"data": render_entity(request.world, entity), "exceptions": None if kind == "ad" else []})
    return Response(200, {"items": items})


def _raise_fault(request: Request, last: bool) -> None:
    if request.get_fault("error_in_200") or (last and request.get_fault("partial")):
        raise InvalidRequest("rule", "", "The object could not be saved")
    if request.get_fault("slow_media"):  # a fresh Pin may need a moment before it can be promoted
        raise InvalidRequest("processing", "/pin_id", "the Pin is not ready")


def _create_entity(request: Request, kind: str, account: Account, item: Any, where: str) -> StoredEntity:
    data = {**CREATION_DEFAULTS[kind], **rules.normalize_members(kind, CREATE_CHECKS[kind](item, where), None)}
    rules.check_status(kind, data["status"], None)
    if kind == "campaign":
        _check_same_account(data, account)
        data.setdefault("start_time", int(request.now.timestamp()))
        rules.check_campaign(data, None, request.now)
        return request.world.create("campaign", account.id, data)
    if kind == "ad_group":
        campaign = _require_parent(request, "campaign", data["campaign_id"], account)
        rules.check_ad_group(data, None, campaign.data, account)
        siblings = request.world.list_entities("ad_group", account.id, campaign.id)
        alive = [group for group in siblings if group.data["status"] not in rules.FINAL_STATUSES]
        if campaign.data.get("is_campaign_budget_optimization") and len(alive) >= MAX_AD_GROUPS:
            raise rules.rule_error("campaign_id", f"a campaign budget covers at most {MAX_AD_GROUPS} ad groups")
        return request.world.create("ad_group", account.id, _limit_end_time(data, campaign), parent=campaign.id)
    group = _require_parent(request, "ad_group", data["ad_group_id"], account)
    above = {"campaign_id": group.parent}
    _check_ad(request, data)
    return request.world.create("ad", account.id, {**_drop_ignored_members(data), **above}, parent=group.id)


def _update_entity(request: Request, kind: str, account: Account, item: Any, where: str) -> StoredEntity:
    content = UPDATE_CHECKS[kind](item, where)
    entity = request.world.find(kind, content["id"], account.id)
    if entity is None:
        raise InvalidRequest("missing", "/id", f"{kind} {content['id']} does not exist in this ad account")
    old = entity.data
    changes = rules.normalize_members(kind, {name: value for name, value in content.items() if name != "id"}, old)
    if kind == "campaign":
        _check_same_account(changes, account)
    rules.check_changeable(kind, old, changes)
    rules.check_status(kind, changes.get("status", old["status"]), old)
    data = {**old, **changes}
    if kind == "campaign":
        rules.check_campaign(data, old, request.now)
        changed = request.world.replace(entity, data)
        _limit_child_end_times(request, changed)
        return changed
    if kind == "ad_group":
        campaign = request.world.find("campaign", data["campaign_id"], account.id)
        if campaign is None:
            raise InvalidRequest("missing", "/campaign_id", f"campaign {data['campaign_id']} does not exist")
        rules.check_ad_group(data, old, campaign.data, account)
        return request.world.replace(entity, _limit_end_time(data, campaign))
    if "pin_id" in changes or "creative_type" in changes:
        _check_ad(request, data)
    return request.world.replace(entity, _drop_ignored_members(data))


def _check_same_account(data: Mapping[str, Any], account: Account) -> None:
    if data["ad_account_id"] != account.id:
        raise rules.rule_error("ad_account_id", "must be the ad account of the path")


def _require_parent(request: Request, kind: str, native_id: str, account: Account) -> StoredEntity:
    parent = request.world.find(kind, native_id, account.id)
    if parent is None:
        raise InvalidRequest("missing", f"/{kind}_id", f"{kind} {native_id} does not exist in this ad account")
    if parent.data["status"] in rules.FINAL_STATUSES:
        raise rules.rule_error(f"{kind}_id", f"{kind} {native_id} is {parent.data['status']}")
    return parent


def _check_ad(request: Request, data: Mapping[str, Any]) -> None:
    """Check that the Pin exists and has the type that the ad names (our choice: the type is checked for known Pins)."""
    pin = check_exists(data["pin_id"], "pin", "/pin_id")
    kind = find_pin_type(request, pin)
    if kind is not None and data["creative_type"] != kind:
        raise rules.rule_error("creative_type", f"the Pin is {kind}")


def _drop_ignored_members(data: Mapping[str, Any]) -> dict[str, Any]:
    """Remove the read-only members, which the network ignores."""
    return {name: value for name, value in data.items() if name != "grid_click_type"}


def _limit_end_time(data: Mapping[str, Any], campaign: StoredEntity) -> dict[str, Any]:
    """Replace an end after the campaign's end by the campaign's end. The response has no warning."""
    last, end = campaign.data.get("end_time"), data.get("end_time")
    return {**data, "end_time": last} if end is not None and last is not None and end > last else dict(data)


def _limit_child_end_times(request: Request, campaign: StoredEntity) -> None:
    for group in request.world.list_entities("ad_group", campaign.account, campaign.id):
        if (within := _limit_end_time(group.data, campaign)) != dict(group.data):
            request.world.replace(group, within, logged=False)
