"""Rules between members, and between an entity, its parent and its past."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from adsunify.sandbox.checks import rule_error
from adsunify.sandbox.world import StoredEntity
from adsunify_northway.simulated.answers import INSTANT

_BUDGETS = ("daily_budget_minor", "total_budget_minor")


def check_campaign(data: Mapping[str, Any]) -> None:
    """Check a whole campaign. Raises InvalidRequest."""
    if sum(name in data for name in _BUDGETS) != 1:
        raise rule_error("/daily_budget_minor", "exactly one budget is required")
    if "total_budget_minor" in data and "ends_at" not in data:
        raise rule_error("/ends_at", "is required with a total budget")
    if "ends_at" in data and _parse_instant(data["ends_at"]) <= _parse_instant(data["starts_at"]):
        raise rule_error("/ends_at", "must be after starts_at")


def check_ad_set(data: Mapping[str, Any], campaign: StoredEntity) -> None:
    """Check a whole ad set against its campaign. Raises InvalidRequest."""
    if campaign.data["objective"] == "SALES" and "pixel_id" not in data:
        raise rule_error("/pixel_id", "is required under a SALES campaign")
    age = data["targeting"].get("age")
    if age is not None and age["min"] > age["max"]:
        raise rule_error("/targeting/age", "min must not be above max")


def check_start(data: Mapping[str, Any], old: Mapping[str, Any], now: datetime) -> None:
    """Check that a new start is not in the past, and that a start that has passed is not changed."""
    if "starts_at" not in data or data["starts_at"] == old.get("starts_at"):
        return
    if "starts_at" in old and _parse_instant(old["starts_at"]) <= now:
        raise rule_error("/starts_at", "has passed and cannot be changed")
    if _parse_instant(data["starts_at"]) < now.replace(microsecond=0):
        raise rule_error("/starts_at", "must not be in the past")


def _parse_instant(instant: str) -> datetime:
    return INSTANT.check_datetime(instant, "")
