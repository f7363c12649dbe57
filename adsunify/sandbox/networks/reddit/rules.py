"""Rules between members, and between an object, its parent and its past."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from adsunify.sandbox.framework import Account, Entity, Problem
from adsunify.sandbox.networks.reddit.answers import moment
from adsunify.sandbox.networks.reddit.fields import OPTIMIZED
from adsunify.sandbox.networks.reddit.tables import LEAST_CLICK, MOST_CLICK

_OWN_SPENDING = ("goal_type", "goal_value", "bid_value")
_REST = timedelta(hours=3)


def refused(name: str, message: str) -> Problem:
    """A rule that the member of this name breaks."""
    return Problem("rule", f"/data/{name}", message)


def campaign(data: Mapping[str, Any]) -> None:
    """A whole campaign. Problem."""
    if data.get("is_campaign_budget_optimization"):
        for name in ("goal_type", "goal_value", "bid_strategy", "bid_type"):  # which ones is chosen
            if data.get(name) is None:
                raise refused(name, "is required with campaign budget optimization")
        if data.get("spend_cap") is not None:
            raise refused("spend_cap", "is allowed only without campaign budget optimization")
        _times(data)
        return
    for name in OPTIMIZED:
        if name in data:
            raise refused(name, "is allowed only with campaign budget optimization")


def ad_group(data: Mapping[str, Any], above: Entity, account: Account) -> None:
    """A whole ad group below its campaign. Problem."""
    if above.data.get("is_campaign_budget_optimization"):
        for name in _OWN_SPENDING:
            if data.get(name) is not None:
                raise refused(name, "stands on the campaign, which optimizes its budget")
        return
    for name in ("goal_type", "goal_value"):
        if name not in data:
            raise refused(name, "is required")
    if "start_time" not in data:
        raise refused("start_time", "must be a valid datetime")
    _times(data)
    _bid(data, account)
    if above.data["objective"] == "CLICKS" and data["bid_type"] != "CPC":  # chosen: no other is documented
        raise refused("bid_type", "must be CPC with the objective CLICKS")


def _bid(data: Mapping[str, Any], account: Account) -> None:
    strategy: str = data["bid_strategy"]
    bid: Any = data.get("bid_value")
    if bid is None and strategy in ("MANUAL_BIDDING", "TARGET_CPX"):
        raise refused("bid_value", f"is required with {strategy}")
    if bid is not None and strategy == "BIDLESS":
        raise refused("bid_value", "does not go with BIDLESS")
    # taken as a hard limit (Reddit Ads API leaves it open), and only in the currency it is stated in
    banded = bid is not None and data["bid_type"] == "CPC" and account.currency == "USD"
    if banded and not LEAST_CLICK <= bid <= MOST_CLICK:
        raise refused("bid_value", "must be between 3500000 and 100000000")


def _times(data: Mapping[str, Any]) -> None:
    if data.get("end_time") is not None:
        if "start_time" not in data:
            raise refused("end_time", "needs start_time")
        if moment(data["end_time"], "") <= moment(data["start_time"], ""):
            raise refused("end_time", "must be after start_time")


def not_past(data: Mapping[str, Any], old: Mapping[str, Any], now: datetime) -> None:
    """A new start lies ahead, and one that has passed stays (both unverified: taken as rules)."""
    if "start_time" not in data or data["start_time"] == old.get("start_time"):
        return
    if "start_time" in old and moment(old["start_time"], "") <= now:
        raise refused("start_time", "has passed and cannot be changed")
    if moment(data["start_time"], "") < now.replace(microsecond=0):
        raise refused("start_time", "must not be in the past")


def ad(data: Mapping[str, Any], post: Mapping[str, Any]) -> None:
    """An ad with its post. Problem."""
    if post["type"] == "TEXT" and "click_url" in data:
        raise refused("click_url", "a text post cannot carry a click URL")


def change(entity: Entity, wanted: Mapping[str, Any], now: datetime) -> None:
    """What may still be done with an object. Problem.

    Nothing but deletion after ARCHIVED, and nothing at all after DELETED. The reported rules of deletion are taken as
    rules: ARCHIVED before, for campaigns; three hours after the last change, for campaigns and ad groups.
    """
    status, target = entity.data["configured_status"], wanted.get("configured_status")
    if status == "DELETED":
        raise refused("configured_status", "the object is deleted")
    if status == "ARCHIVED" and (target != "DELETED" or len(wanted) > 1):
        raise refused("configured_status", "an archived object cannot be changed")
    if target != "DELETED" or entity.kind == "ad":
        return
    if entity.kind == "campaign" and status != "ARCHIVED":
        raise refused("configured_status", "a campaign must be archived before it is deleted")
    if now - entity.updated_at < _REST:
        raise refused("configured_status", "can be deleted three hours after the last change")
