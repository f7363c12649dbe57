"""What each kind of object is made of: members, types and enumerations.

`CREATE` checks an object of a POST and `REPLACE` one of a PUT, which names the whole object: the same members, its
`id`, and what only the server sets and a reader may send back unchanged (`DERIVED`).
"""

from collections.abc import Mapping

from adsunify.sandbox.framework import (
    Check,
    anything,
    boolean,
    choice,
    foreign,
    integer,
    listing,
    record,
    text,
    visible,
)
from adsunify.sandbox.networks.snapchat.answers import instant
from adsunify.sandbox.networks.snapchat.tables import (
    AD_TYPES,
    ALL_GOALS,
    BID_STRATEGIES,
    CONVERSION_LOCATIONS,
    CREATIVE_TYPES,
    LEAST_CAP,
    LEAST_DAILY,
    LEAST_LIFETIME,
    LEGACY_OBJECTIVES,
    LONGEST_BRAND,
    LONGEST_HEADLINE,
    LONGEST_NAME,
    OBJECTIVES,
    POSITIONS,
    PROMOTIONS,
    STATUSES,
)
from adsunify.sandbox.networks.snapchat.targeting import targeting

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
ID = foreign(UUID)
_NAME = visible(1, LONGEST_NAME)
_STATUS = choice(*STATUSES)
_POSITIONS = listing(choice(*POSITIONS), 1)

_CAMPAIGN: tuple[Mapping[str, Check], Mapping[str, Check]] = (
    {"ad_account_id": ID, "name": _NAME, "status": _STATUS, "start_time": instant},
    {
        "end_time": instant,
        "buy_model": choice("AUCTION", "RESERVED"),
        "objective_v2_properties": record(
            required={"objective_v2_type": choice(*OBJECTIVES)},
            optional={
                "promotion_type": choice(*PROMOTIONS),
                "conversion_location": listing(choice(*CONVERSION_LOCATIONS), 1),
            },
        ),
        "objective": choice(*LEGACY_OBJECTIVES),
        "regulations": record(required={"restricted_delivery_signals": boolean}),
        "daily_budget_micro": integer(LEAST_CAP),
        "lifetime_spend_cap_micro": integer(LEAST_CAP),
        "measurement_spec": anything,
        "pacing_level": choice("CAMPAIGN"),
        "shared_properties": anything,
    },
)
_AD_SQUAD: tuple[Mapping[str, Check], Mapping[str, Check]] = (
    {
        "campaign_id": ID,
        "name": _NAME,
        "type": choice("SNAP_ADS", "LENS", "FILTER"),
        "status": _STATUS,
        "placement_v2": record(
            required={"config": choice("AUTOMATIC", "CUSTOM")},
            optional={
                "platforms": listing(text(), 1),
                "snapchat_positions": _POSITIONS,
                "inclusion": anything,
                "exclusion": anything,
            },
        ),
        "billing_event": choice("IMPRESSION"),
        "optimization_goal": choice(*ALL_GOALS),
        "targeting": targeting,
    },
    {
        "bid_strategy": choice(*BID_STRATEGIES),
        "bid_micro": integer(1),
        "daily_budget_micro": integer(LEAST_DAILY),
        "lifetime_budget_micro": integer(LEAST_LIFETIME),
        "start_time": instant,
        "end_time": instant,
        "pacing_type": choice("STANDARD", "ACCELERATED"),
        "conversion_window": choice("SWIPE_28DAY_VIEW_1DAY", "SWIPE_7DAY"),
        "pixel_id": ID,
        "cap_and_exclusion_config": anything,
        "brand_safety_config": record(required={"inventory_option": choice("FULL_INVENTORY", "LIMITED_INVENTORY")}),
        "ad_scheduling_config": anything,
    },
)
_AD: tuple[Mapping[str, Check], Mapping[str, Check]] = (
    {"ad_squad_id": ID, "creative_id": ID, "name": _NAME, "type": choice(*AD_TYPES), "status": _STATUS},
    {"paying_advertiser_name": text()},
)
_CREATIVE: tuple[Mapping[str, Check], Mapping[str, Check]] = (
    {"ad_account_id": ID, "name": _NAME, "type": choice(*CREATIVE_TYPES)},
    {
        "headline": text(1, LONGEST_HEADLINE),
        "brand_name": text(1, LONGEST_BRAND),
        "shareable": boolean,
        "call_to_action": text(),
        "top_snap_media_id": ID,
        "web_view_properties": record(required={"url": text()}),
    },
)
# What the server derives and answers, and no reader need drop before a PUT (not sent at creation).
DERIVED: Mapping[str, Mapping[str, Check]] = {
    "campaign": {},
    "adsquad": {"delivery_constraint": text(), "child_ad_type": choice(*AD_TYPES)},
    "ad": {},
    "creative": {},
}
# Set once and then fixed; `start_time` of a campaign besides, once it is past.
LOCKED: Mapping[str, tuple[str, ...]] = {
    "campaign": ("ad_account_id", "objective_v2_properties", "objective", "buy_model"),
    "adsquad": ("campaign_id", "optimization_goal", "type", "billing_event", "delivery_constraint", "child_ad_type"),
    "ad": ("ad_squad_id", "creative_id", "type"),
    "creative": ("ad_account_id", "type"),
}
READ_ONLY = (
    "created_at", "updated_at", "created_by_app_id", "created_by_user", "last_updated_by_app_id",
    "last_updated_by_user", "delivery_status", "review_status", "review_status_reasons", "review_status_details",
    "effective_status", "targeting_reach_status", "deleted", "render_type", "creation_state",
)  # fmt: skip
DEPRECATED = ("auto_bid", "target_bid", "roas_value_micro")
_MEMBERS = {"campaign": _CAMPAIGN, "adsquad": _AD_SQUAD, "ad": _AD, "creative": _CREATIVE}

CREATE: Mapping[str, Check] = {kind: record(required, optional) for kind, (required, optional) in _MEMBERS.items()}
REPLACE: Mapping[str, Check] = {
    kind: record({"id": ID, **required}, {**optional, **DERIVED[kind]})
    for kind, (required, optional) in _MEMBERS.items()
}
