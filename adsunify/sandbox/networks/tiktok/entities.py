"""Shared by campaigns, ad groups and ads of both flows: names, look-up and state."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from adsunify.sandbox.network import Request
from adsunify.sandbox.networks.tiktok.shapes import parse_instant
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity, World

MANUAL_FLOW, SMART_FLOW, LEGACY_SMART_FLOW = "MANUAL", "UPGRADED_SMART_PLUS", "SMART_PLUS"
KINDS = ("campaign", "adgroup", "ad")
REVIEW_TIME = timedelta(seconds=60)  # how long a new ad is in review (the time is our choice)
_KIND_NAMES = {"campaign": "campaign", "adgroup": "ad group", "ad": "ad"}


def get_automation_type(smart: bool) -> str:
    """The `campaign_automation_type` of entities of a flow."""
    return SMART_FLOW if smart else MANUAL_FLOW


def get_id_name(kind: str, smart: bool = False) -> str:
    """The name of the id of a kind; an ad of Upgraded Smart+ has a different one."""
    return "smart_plus_ad_id" if smart and kind == "ad" else f"{kind}_id"


def require_entity(
    request: Request, account: Account, kind: str, entity_id: str, smart: bool, where: str
) -> StoredEntity:
    """An entity of this account and flow that is not deleted. Raises InvalidRequest."""
    entity = request.world.find(kind, entity_id)
    if entity is None:
        raise InvalidRequest("missing", where, f"{_KIND_NAMES[kind]} {entity_id} does not exist")
    if entity.account != account.id:
        raise InvalidRequest("other_advertiser", where, f"{_KIND_NAMES[kind]} {entity_id} is another advertiser's")
    if entity.data["campaign_automation_type"] != get_automation_type(smart):
        flow = entity.data["campaign_automation_type"]
        raise InvalidRequest("value", where, f"the {_KIND_NAMES[kind]} is {flow} and cannot be written here")
    if is_deleted(request.world, entity):
        raise InvalidRequest("value", where, f"the {_KIND_NAMES[kind]} is deleted")
    return entity


def list_ancestors(world: World, entity: StoredEntity) -> list[StoredEntity]:
    """The parents, the nearest first."""
    parents = {"ad": "adgroup", "adgroup": "campaign"}
    chain: list[StoredEntity] = []
    while entity.kind in parents and entity.parent is not None:
        parent = world.find(parents[entity.kind], entity.parent)
        assert parent is not None
        chain.append(parent)
        entity = parent
    return chain


def is_deleted(world: World, entity: StoredEntity) -> bool:
    """Whether the entity or a parent is deleted."""
    return any(ancestor.data["operation_status"] == "DELETE" for ancestor in (entity, *list_ancestors(world, entity)))


def get_secondary_status(request: Request, entity: StoredEntity) -> str:
    """The effective state. The order of the reasons is our choice: switches, account, refusal, schedule, review."""
    prefix, now = f"{entity.kind.upper()}_STATUS", request.now
    parents = list_ancestors(request.world, entity)
    for switch in ("DELETE", "DISABLE"):
        if entity.data["operation_status"] == switch:
            return f"{prefix}_{switch}"
        for parent in parents:
            if parent.data["operation_status"] == switch:
                return f"{prefix}_{parent.kind.upper()}_{switch}"
    account = request.find_account(entity.account)
    if account is not None and account.extra["native"]["status"] != "STATUS_ENABLE":
        return f"{prefix}_ADVERTISER_AUDIT_DENY"
    if entity.kind == "campaign":
        return "CAMPAIGN_STATUS_ENABLE"
    if request.world.is_refused(entity):
        return f"{prefix}_AUDIT_DENY"
    group = entity if entity.kind == "adgroup" else parents[0]
    if (state := _get_schedule_status(group.data, now)) is not None:
        return "AD_STATUS_DONE" if (entity.kind, state) == ("ad", "TIME_DONE") else f"{prefix}_{state}"
    if entity.kind == "ad" and now - parse_instant(entity.data["_review_from"]) < REVIEW_TIME:
        return "AD_STATUS_AUDIT"
    return f"{prefix}_DELIVERY_OK"


def get_primary_status(secondary: str) -> str:
    """The roll-up that lists can be filtered by."""
    if secondary.endswith("_DELETE"):
        return "STATUS_DELETE"
    if secondary.endswith("_DISABLE"):
        return "STATUS_DISABLE"
    if secondary.endswith(("_TIME_DONE", "_STATUS_DONE")):
        return "STATUS_TIME_DONE"
    return "STATUS_DELIVERY_OK" if secondary.endswith(("_DELIVERY_OK", "_STATUS_ENABLE")) else "STATUS_NOT_DELIVERY"


def _get_schedule_status(group: Mapping[str, Any], now: datetime) -> str | None:
    if "schedule_end_time" in group and parse_instant(group["schedule_end_time"]) <= now:
        return "TIME_DONE"
    return "NOT_START" if parse_instant(group["schedule_start_time"]) > now else None
