"""The members of the bodies and their types. Rules between them: `rules`."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import (
    Check,
    array,
    choice,
    country_code,
    external_id,
    integer,
    record,
    text,
    visible_text,
)
from adsunify.sandbox.parsing import InvalidRequest
from adsunify_northway.simulated import tables
from adsunify_northway.simulated.answers import INSTANT

_AGE = integer(18, 65)
TARGETING_CHECK = record(
    {"countries": array(country_code, 1, 50)},
    {"age": record({"min": _AGE, "max": _AGE}), "genders": array(choice("f", "m", "x"), 1)},
)


def _check_bid(value: Any, where: str) -> dict[str, Any]:
    """`{"mode": "AUTO"}`, or CAP with its amount."""
    bid: dict[str, Any] = record({"mode": choice("AUTO", "CAP")}, {"cap_minor": integer(1)})(value, where)
    if (bid["mode"] == "CAP") != ("cap_minor" in bid):
        raise InvalidRequest("value", f"{where}/cap_minor", "goes with the mode CAP")
    return bid


_NAME = visible_text(1, 120)
_STATE = choice(*tables.STATES)
_MEMBERS: Mapping[str, Mapping[str, Check]] = {
    "campaign": {
        "name": _NAME,
        "objective": choice("VISITS", "SALES"),
        "state": _STATE,
        "daily_budget_minor": integer(tables.MIN_DAILY_BUDGET),
        "total_budget_minor": integer(tables.MIN_TOTAL_BUDGET),
        "starts_at": INSTANT.check,
        "ends_at": INSTANT.check,
    },
    "ad_set": {
        "name": _NAME,
        "state": _STATE,
        "targeting": TARGETING_CHECK,
        "bid": _check_bid,
        "pixel_id": external_id("px_[0-9]+"),
    },
    "ad": {
        "name": _NAME,
        "state": _STATE,
        "headline": visible_text(1, 40),
        "body": visible_text(1, 160),
        "url": text(1, 1000, r"https://\S+"),
        "image_url": external_id(r"https://\S+"),
        "cta": choice("LEARN_MORE", "SHOP_NOW", "SIGN_UP"),
    },
}
# members that a create requires (chosen: the documentation only lists the members)
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "campaign": ("name", "objective", "starts_at"),
    "ad_set": ("name", "targeting", "bid"),
    "ad": ("name", "headline", "body", "url", "image_url", "cta"),
}
_FIXED = ("objective", "pixel_id")


def _create_check(kind: str) -> Check:
    members = {**_MEMBERS[kind], "state": choice("LIVE", "HELD")}
    required = {name: members.pop(name) for name in _REQUIRED[kind]}
    return record(required, members)


CREATE_CHECKS: Mapping[str, Check] = {kind: _create_check(kind) for kind in _MEMBERS}
UPDATE_CHECKS: Mapping[str, Check] = {
    kind: record(optional={name: check for name, check in members.items() if name not in _FIXED})
    for kind, members in _MEMBERS.items()
}
