"""Rules for objects, beyond the types of their members."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from adsunify.sandbox.checks import rule_error
from adsunify.sandbox.network import AbortRequest, Request
from adsunify.sandbox.networks.snapchat.answers import INSTANT, format_status_error
from adsunify.sandbox.networks.snapchat.entities import find_creative, get_ad_type
from adsunify.sandbox.networks.snapchat.fields import DERIVED_MEMBERS, IMMUTABLE_MEMBERS
from adsunify.sandbox.networks.snapchat.tables import GOALS_BY_OBJECTIVE
from adsunify.sandbox.networks.snapchat.targeting import add_defaults
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

_CONSTRAINT_BY_BUDGET = {"daily_budget_micro": "DAILY_BUDGET", "lifetime_budget_micro": "LIFETIME_BUDGET"}
_SAME_CREATIVE_WINDOW = timedelta(seconds=1)
# Snap Marketing API refuses several ads with one creative within a second; the limit of two is our choice
_MAX_SAME_CREATIVE = 2


def check_immutable(kind: str, old: Mapping[str, Any], new: Mapping[str, Any], now: str) -> None:
    """Check members that are fixed once set (E2023). A PUT that leaves one out changes it, too."""
    for name in IMMUTABLE_MEMBERS[kind]:
        left_out = name in DERIVED_MEMBERS[kind] and name not in new  # the server derives the member
        if old.get(name) != new.get(name) and not left_out:
            raise InvalidRequest("immutable", f"/{name}", f"{name} cannot be changed once set")
    start = old.get("start_time", "")
    if kind == "campaign" and start <= now and start != new["start_time"]:
        raise InvalidRequest("immutable", "/start_time", "start_time cannot be changed once it is past")


def check_campaign(data: dict[str, Any], old: Mapping[str, Any] | None, account: Account, now: str) -> dict[str, Any]:
    """Check a campaign and return it as the network stores it. Raises InvalidRequest."""
    if data["ad_account_id"] != account.id:
        raise rule_error("/ad_account_id", "must be the ad account of the path")
    if "objective" in data and "objective_v2_properties" in data:
        raise rule_error("/objective", "cannot go with objective_v2_properties")
    if "objective" not in data and "objective_v2_properties" not in data:
        # our choice: the documented table of fields does not require it
        raise rule_error("/objective_v2_properties", "is required")
    _check_times(data, old, now)
    signals = data.get("regulations", {}).get("restricted_delivery_signals", False)
    if signals and not account.extra["native"]["regulations"]["restricted_delivery_signals"]:
        raise rule_error("/regulations", "the ad account has not enabled restricted delivery signals")
    return {"buy_model": "AUCTION", **data}


def check_ad_squad(
    data: dict[str, Any], old: Mapping[str, Any] | None, above: StoredEntity, now: str
) -> dict[str, Any]:
    """Check an ad squad and return it as the network stores it. Raises InvalidRequest."""
    _check_times(data, old, now)
    objective = above.data.get("objective_v2_properties", {}).get("objective_v2_type")
    if objective is not None and data["optimization_goal"] not in GOALS_BY_OBJECTIVE[objective]:
        raise rule_error("/optimization_goal", f"does not go with the objective {objective}")
    budget_names = [name for name in _CONSTRAINT_BY_BUDGET if name in data]
    if above.data.get("pacing_level") == "CAMPAIGN":  # Smart Budgets
        if any((old or {}).get(name) != data.get(name) for name in _CONSTRAINT_BY_BUDGET):
            raise rule_error("/daily_budget_micro", "the budget is the campaign's")
    elif len(budget_names) != 1:
        raise rule_error(
            "/daily_budget_micro", "exactly one of daily_budget_micro and lifetime_budget_micro is required"
        )
    elif old is not None and budget_names[0] not in old:
        raise InvalidRequest("immutable", f"/{budget_names[0]}", "the kind of budget cannot be changed once set")
    if "lifetime_budget_micro" in data and "end_time" not in data:
        raise rule_error("/end_time", "is required with lifetime_budget_micro")
    if "ad_scheduling_config" in data and "lifetime_budget_micro" not in data:
        raise rule_error("/ad_scheduling_config", "needs a lifetime budget")
    return {
        "pacing_type": "STANDARD",
        **_complete_bidding(data),
        **_derive_members(budget_names, old),
        "targeting": add_defaults(data["targeting"]),
    }


def _complete_bidding(data: dict[str, Any]) -> dict[str, Any]:
    # the default strategy is our choice
    strategy = data.get("bid_strategy") or ("LOWEST_COST_WITH_MAX_BID" if "bid_micro" in data else "AUTO_BID")
    if strategy == "AUTO_BID" and "bid_micro" in data:
        raise rule_error("/bid_micro", "must not be given with AUTO_BID")
    if strategy != "AUTO_BID" and "bid_micro" not in data:
        raise rule_error("/bid_micro", f"is required with {strategy}")  # our choice: undocumented
    return {**data, "bid_strategy": strategy}


def _derive_members(budget_names: list[str], old: Mapping[str, Any] | None) -> dict[str, Any]:
    members = {"delivery_constraint": _CONSTRAINT_BY_BUDGET[budget_names[0]]} if budget_names else {}
    return {**members, **({"child_ad_type": old["child_ad_type"]} if old and "child_ad_type" in old else {})}


def check_ad(request: Request, data: dict[str, Any], above: StoredEntity) -> None:
    """Check an ad against its creative and its ad squad. Raises InvalidRequest."""
    creative = find_creative(request.world, data["creative_id"])
    if creative is None or creative["ad_account_id"] != above.account:
        raise rule_error("/creative_id", "no such creative in this ad account")
    if creative["packaging_status"] != "SUCCESS":
        raise media_pending_error()
    if creative["review_status"] == "REJECTED":
        raise rule_error("/creative_id", "the creative was rejected")
    if data["type"] != get_ad_type(creative["type"]):
        raise rule_error("/type", f"does not go with a creative of type {creative['type']}")
    if data["type"].startswith("LENS") != (above.data["type"] == "LENS"):
        raise rule_error("/type", f"does not go with an ad squad of type {above.data['type']}")
    if above.data.get("child_ad_type", data["type"]) != data["type"]:
        raise rule_error("/type", f"the ads of this ad squad are of type {above.data['child_ad_type']}")


def check_creative_reuse(request: Request, data: dict[str, Any]) -> None:
    """Refuse several ads with the same creative within one second with 429."""
    since = request.world.now - _SAME_CREATIVE_WINDOW
    same = [
        ad
        for ad in request.world.list_entities("ad")
        if ad.data["creative_id"] == data["creative_id"] and ad.created_at > since
    ]
    if len(same) >= _MAX_SAME_CREATIVE:
        raise AbortRequest(format_status_error(request, 429))


def media_pending_error() -> InvalidRequest:
    """The error for media that is not ready yet. Nothing is applied."""
    return rule_error("/creative_id", "the media of this creative hasn't been uploaded yet")


def _check_times(data: Mapping[str, Any], old: Mapping[str, Any] | None, now: str) -> None:
    end = data.get("end_time")
    if end is None:
        return
    if end <= data.get("start_time", ""):
        raise rule_error("/end_time", "must be after start_time")
    if end <= now and end != (old or {}).get("end_time"):
        raise rule_error("/end_time", "must be in the future")


def format_now(request: Request) -> str:
    """The present instant as stored text."""
    return INSTANT.format(request.now)
