"""Which members the bodies have, and of what type. Rules between them: `rules`.

Everything unknown is refused on every level, though `additionalProperties: false` is said of ads only by omission.
"""

import re
from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.framework import (
    Check,
    Problem,
    anything,
    boolean,
    choice,
    country_code,
    foreign,
    integer,
    listing,
    nullable,
    record,
    text,
    visible,
)
from adsunify.sandbox.networks.reddit.answers import instant
from adsunify.sandbox.networks.reddit.tables import (
    LANGUAGES,
    LEAST_NAME,
    LONGEST_ADDRESS,
    LONGEST_NAME,
    OBJECTIVES,
    OPTIMIZATION_GOALS,
    PLATFORMS,
    STATUSES,
    VIEW_MODES,
)

ID = text(pattern=r"[0-9]+")
POST = foreign(r"t3_\w+")
_NAME = visible(LEAST_NAME, LONGEST_NAME)
_STATUS = choice(*STATUSES)
_MICROS = integer(0)
_PLACE = foreign(r"[A-Z]{2}([:-]\S+)?")
_IDS = listing(foreign())
_WORD = text(1, None, r"[A-Z0-9_]+")


def _where(value: Any, where: str) -> str:
    """A country, or a place of one: `US`, `US:TX` ..."""
    place = str(_PLACE(value, where))
    if re.match("[A-Z]{2}", place):  # an id made elsewhere may have any form
        country_code(place[:2], where)
    return place


def _community(value: Any, where: str) -> str:
    """The name of a subreddit without `r/`; an id (`t5_...`) is none."""
    if isinstance(value, str) and re.match("t5_", value):
        raise Problem("value", where, "must be a community name, not an id", value)
    return str(foreign(r"\w{2,50}")(value, where))


TARGETING = record(
    optional={
        "geolocations": listing(_where, 0, 20000),
        "excluded_geolocations": listing(_where, 0, 20000),
        "communities": listing(_community),
        "excluded_communities": listing(_community),
        "interests": listing(foreign(), 0, 200),
        "excluded_interests": listing(foreign(), 0, 200),
        "keywords": listing(text(), 0, 1000),
        "excluded_keywords": listing(text(), 0, 2000),
        "custom_audience_ids": _IDS,
        "excluded_custom_audience_ids": _IDS,
        "devices": listing(
            record(
                {"type": choice("DESKTOP", "MOBILE")},
                {"os": nullable(choice("ANDROID", "IOS")), "min_version": nullable(text()),
                 "max_version": nullable(text()), "label_map": anything},
            ), 0, 100),
        "platforms": listing(choice(*PLATFORMS), 0, 7),
        "locations": listing(choice("FEED", "COMMENTS_PAGE")),
        "carriers": listing(_WORD, 0, 100),
        "languages": listing(choice(*LANGUAGES)),
        "gender": nullable(choice("FEMALE", "MALE")),
        "expand_targeting": boolean,
        "view_modes": listing(choice(*VIEW_MODES), 0, 5),
        "suppression_event_types": listing(_WORD),
    }
)  # fmt: skip
_WINDOW = record(
    {"start_day": integer(0, 6), "start_hour": integer(0, 24), "end_day": integer(0, 6), "end_hour": integer(0, 24)}
)
_SCHEDULE = nullable(listing(_WINDOW, 1))
_SPENDING: dict[str, Check] = {
    "goal_type": choice("DAILY_SPEND", "LIFETIME_SPEND"),
    "goal_value": _MICROS,
    "bid_value": nullable(_MICROS),
    "optimization_goal": nullable(choice(*OPTIMIZATION_GOALS)),
    "view_through_conversion_type": choice("SEVEN_DAY_CLICKS", "SEVEN_DAY_CLICKS_ONE_DAY_VIEW"),
    "start_time": instant,
    "end_time": nullable(instant),
    "schedule": _SCHEDULE,
}
# Only where the campaign optimizes its budget itself (step 1)
OPTIMIZED: dict[str, Check] = {
    **_SPENDING,
    "bid_strategy": choice("BIDLESS", "MAXIMIZE_VOLUME", "TARGET_CPX"),
    "bid_type": choice("CPC", "CPM", "CPV6"),
    "conversion_pixel_id": foreign(),
}
_CAMPAIGN: dict[str, Check] = {
    "name": _NAME,
    "configured_status": _STATUS,
    "funding_instrument_id": nullable(foreign()),
    "spend_cap": nullable(_MICROS),
    **OPTIMIZED,
}
_AD_GROUP: dict[str, Check] = {
    "name": _NAME,
    "configured_status": _STATUS,
    "conversion_pixel_id": foreign(),
    "bid_strategy": choice("BIDLESS", "MANUAL_BIDDING", "MAXIMIZE_VOLUME", "TARGET_CPX"),
    "bid_type": choice("CPC", "CPM", "CPV", "CPV6"),
    **_SPENDING,
    "targeting": nullable(TARGETING),
}
_AD: dict[str, Check] = {
    "name": _NAME,
    "configured_status": _STATUS,
    "post_id": POST,
    "click_url": text(1, LONGEST_ADDRESS, r"https?://\S+"),
    "click_url_query_parameters": listing(record({"name": text(), "value": text(0)}), 0, 14),
    "event_trackers": listing(record({"type": choice("CLICK", "VIEW"), "url": text(1, None, r"https://\S+")})),
    "preview_expiry": instant,
    "products": listing(anything, 0, 6),
}


def _data(required: Mapping[str, Check], optional: Mapping[str, Check]) -> Check:
    others = {name: check for name, check in optional.items() if name not in required}
    return record(required={"data": record(required, others)})


def _of(members: Mapping[str, Check], *names: str) -> dict[str, Check]:
    return {name: members[name] for name in names}


CREATE: Mapping[str, Check] = {
    "campaign": _data(
        {"name": _NAME, "objective": choice(*OBJECTIVES)},
        {**_CAMPAIGN, "is_campaign_budget_optimization": nullable(boolean)},
    ),
    "ad_group": _data(
        {"campaign_id": ID, **_of(_AD_GROUP, "name", "conversion_pixel_id", "bid_strategy", "bid_type")},
        _AD_GROUP,
    ),
    "ad": _data(
        {"ad_group_id": ID, **_of(_AD, "name", "post_id")},
        {**_AD, "profile_id": foreign(r"t2_\w+")},
    ),
}
# Read-only, or not to be changed after creation: a body that names one is refused.
LOCKED: Mapping[str, tuple[str, ...]] = {
    "campaign": (
        "objective", "is_campaign_budget_optimization", "goal_type", "view_through_conversion_type",
        "optimization_goal", "special_ad_categories",
    ),
    "ad_group": (
        "campaign_id", "optimization_goal", "campaign_objective_type", "is_campaign_budget_optimization", "goal_type",
        "view_through_conversion_type",
    ),
    "ad": ("ad_group_id", "campaign_id", "profile_id"),
}  # fmt: skip
READ_ONLY: Mapping[str, tuple[str, ...]] = {
    "campaign": ("id", "ad_account_id", "special_ad_categories", "effective_status", "created_at", "modified_at"),
    "ad_group": (
        "id", "ad_account_id", "campaign_objective_type", "is_campaign_budget_optimization", "effective_status",
        "created_at", "modified_at",
    ),
    "ad": (
        "id", "ad_account_id", "campaign_id", "effective_status", "rejection_reason", "delivery_status", "preview_url",
        "created_at", "modified_at",
    ),
}  # fmt: skip
CHANGE: Mapping[str, Check] = {
    kind: _data({}, {name: check for name, check in members.items() if name not in LOCKED[kind]})
    for kind, members in (("campaign", _CAMPAIGN), ("ad_group", _AD_GROUP), ("ad", _AD))
}
