"""The members of the bodies and their types. Rules between them: `rules`.

Unknown members are refused on every level, although only the schema of ads implies `additionalProperties: false`.
"""

import re
from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import (
    Check,
    any_value,
    array,
    boolean,
    choice,
    country_code,
    external_id,
    integer,
    nullable,
    record,
    text,
    visible_text,
)
from adsunify.sandbox.networks.reddit import tables
from adsunify.sandbox.networks.reddit.answers import INSTANT
from adsunify.sandbox.parsing import InvalidRequest, split_words

ID_CHECK = text(pattern=r"[0-9]+")
POST_ID_CHECK = external_id(r"t3_\w+")
_NAME_CHECK = visible_text(tables.MIN_NAME_LENGTH, tables.MAX_NAME_LENGTH)
_STATUS_CHECK = choice(*tables.STATUSES)
_MICROS_CHECK = integer(0)
_LOCATION_CHECK = external_id(r"[A-Z]{2}([:-]\S+)?")
_IDS_CHECK = array(external_id())
_WORD_CHECK = text(1, None, r"[A-Z0-9_]+")


def _check_location(value: Any, where: str) -> str:
    """A country, or a place in one: `US`, `US:TX` ..."""
    place = str(_LOCATION_CHECK(value, where))
    if re.match("[A-Z]{2}", place):  # an id made elsewhere may have any form
        country_code(place[:2], where)
    return place


def _check_community(value: Any, where: str) -> str:
    """The name of a subreddit without `r/`; an id (`t5_...`) is refused."""
    if isinstance(value, str) and re.match("t5_", value):
        raise InvalidRequest("value", where, "must be a community name, not an id", value)
    return str(external_id(r"\w{2,50}")(value, where))


TARGETING_CHECK = record(
    optional={
        "geolocations": array(_check_location, 0, 20000),
        "excluded_geolocations": array(_check_location, 0, 20000),
        "communities": array(_check_community),
        "excluded_communities": array(_check_community),
        "interests": array(external_id(), 0, 200),
        "excluded_interests": array(external_id(), 0, 200),
        "keywords": array(text(), 0, 1000),
        "excluded_keywords": array(text(), 0, 2000),
        "custom_audience_ids": _IDS_CHECK,
        "excluded_custom_audience_ids": _IDS_CHECK,
        "devices": array(
            record(
                {"type": choice("DESKTOP", "MOBILE")},
                {
                    "os": nullable(choice("ANDROID", "IOS")),
                    "min_version": nullable(text()),
                    "max_version": nullable(text()),
                    "label_map": any_value,
                },
            ),
            0,
            100,
        ),
        "platforms": array(choice(*tables.PLATFORMS), 0, 7),
        "locations": array(choice("FEED", "COMMENTS_PAGE")),
        "carriers": array(_WORD_CHECK, 0, 100),
        "languages": array(choice(*tables.LANGUAGES)),
        "gender": nullable(choice("FEMALE", "MALE")),
        "expand_targeting": boolean,
        "view_modes": array(choice(*tables.VIEW_MODES), 0, 5),
        "suppression_event_types": array(_WORD_CHECK),
    }
)
_WINDOW_CHECK = record(
    {"start_day": integer(0, 6), "start_hour": integer(0, 24), "end_day": integer(0, 6), "end_hour": integer(0, 24)}
)
_SCHEDULE_CHECK = nullable(array(_WINDOW_CHECK, 1))
_SPENDING_MEMBERS: dict[str, Check] = {
    "goal_type": choice("DAILY_SPEND", "LIFETIME_SPEND"),
    "goal_value": _MICROS_CHECK,
    "bid_value": nullable(_MICROS_CHECK),
    "optimization_goal": nullable(choice(*tables.OPTIMIZATION_GOALS)),
    "view_through_conversion_type": choice("SEVEN_DAY_CLICKS", "SEVEN_DAY_CLICKS_ONE_DAY_VIEW"),
    "start_time": INSTANT.check,
    "end_time": nullable(INSTANT.check),
    "schedule": _SCHEDULE_CHECK,
}
# Members that only campaigns that optimize their budget may have
OPTIMIZED_MEMBERS: dict[str, Check] = {
    **_SPENDING_MEMBERS,
    "bid_strategy": choice("BIDLESS", "MAXIMIZE_VOLUME", "TARGET_CPX"),
    "bid_type": choice("CPC", "CPM", "CPV6"),
    "conversion_pixel_id": external_id(),
}
_CAMPAIGN_MEMBERS: dict[str, Check] = {
    "name": _NAME_CHECK,
    "configured_status": _STATUS_CHECK,
    "funding_instrument_id": nullable(external_id()),
    "spend_cap": nullable(_MICROS_CHECK),
    **OPTIMIZED_MEMBERS,
}
_AD_GROUP_MEMBERS: dict[str, Check] = {
    "name": _NAME_CHECK,
    "configured_status": _STATUS_CHECK,
    "conversion_pixel_id": external_id(),
    "bid_strategy": choice("BIDLESS", "MANUAL_BIDDING", "MAXIMIZE_VOLUME", "TARGET_CPX"),
    "bid_type": choice("CPC", "CPM", "CPV", "CPV6"),
    **_SPENDING_MEMBERS,
    "targeting": nullable(TARGETING_CHECK),
}
_AD_MEMBERS: dict[str, Check] = {
    "name": _NAME_CHECK,
    "configured_status": _STATUS_CHECK,
    "post_id": POST_ID_CHECK,
    "click_url": text(1, tables.MAX_URL_LENGTH, r"https?://\S+"),
    "click_url_query_parameters": array(record({"name": text(), "value": text(0)}), 0, 14),
    "event_trackers": array(record({"type": choice("CLICK", "VIEW"), "url": text(1, None, r"https://\S+")})),
    "preview_expiry": INSTANT.check,
    "products": array(any_value, 0, 6),
}


def _data_check(required: Mapping[str, Check], optional: Mapping[str, Check]) -> Check:
    optional_members = {name: check for name, check in optional.items() if name not in required}
    return record(required={"data": record(required, optional_members)})


def _pick_members(members: Mapping[str, Check], *names: str) -> dict[str, Check]:
    return {name: members[name] for name in names}


CREATE_CHECKS: Mapping[str, Check] = {
    "campaign": _data_check(
        {"name": _NAME_CHECK, "objective": choice(*tables.OBJECTIVES)},
        {**_CAMPAIGN_MEMBERS, "is_campaign_budget_optimization": nullable(boolean)},
    ),
    "ad_group": _data_check(
        {
            "campaign_id": ID_CHECK,
            **_pick_members(_AD_GROUP_MEMBERS, "name", "conversion_pixel_id", "bid_strategy", "bid_type"),
        },
        _AD_GROUP_MEMBERS,
    ),
    "ad": _data_check(
        {"ad_group_id": ID_CHECK, **_pick_members(_AD_MEMBERS, "name", "post_id")},
        {**_AD_MEMBERS, "profile_id": external_id(r"t2_\w+")},
    ),
}
# Read-only, or fixed after creation: a body with such a member is refused.
IMMUTABLE_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "campaign": split_words("""
        objective is_campaign_budget_optimization goal_type view_through_conversion_type optimization_goal
        special_ad_categories
    """),
    "ad_group": split_words("""
        campaign_id optimization_goal campaign_objective_type is_campaign_budget_optimization goal_type
        view_through_conversion_type
    """),
    "ad": ("ad_group_id", "campaign_id", "profile_id"),
}
READ_ONLY: Mapping[str, tuple[str, ...]] = {
    "campaign": ("id", "ad_account_id", "special_ad_categories", "effective_status", "created_at", "modified_at"),
    "ad_group": split_words("""
        id ad_account_id campaign_objective_type is_campaign_budget_optimization effective_status created_at modified_at
    """),
    "ad": split_words("""
        id ad_account_id campaign_id effective_status rejection_reason delivery_status preview_url created_at
        modified_at
    """),
}
UPDATE_CHECKS: Mapping[str, Check] = {
    kind: _data_check({}, {name: check for name, check in members.items() if name not in IMMUTABLE_MEMBERS[kind]})
    for kind, members in (("campaign", _CAMPAIGN_MEMBERS), ("ad_group", _AD_GROUP_MEMBERS), ("ad", _AD_MEMBERS))
}
