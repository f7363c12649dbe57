"""The members of each kind of object: types and enumerations.

`CREATE` checks an object of a POST and `REPLACE` one of a PUT, which names the whole object: the same members, its
`id`, and read-only members that a client may send back (`DERIVED`).
"""

from collections.abc import Mapping

from adsunify.sandbox.checks import (
    Check,
    any_value,
    array,
    boolean,
    choice,
    external_id,
    integer,
    record,
    text,
    visible_text,
)
from adsunify.sandbox.networks.snapchat import tables
from adsunify.sandbox.networks.snapchat.answers import INSTANT
from adsunify.sandbox.networks.snapchat.targeting import check_targeting
from adsunify.sandbox.parsing import split_words

UUID_PATTERN = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
ID_CHECK = external_id(UUID_PATTERN)
_NAME_CHECK = visible_text(1, tables.MAX_NAME_LENGTH)
_STATUS_CHECK = choice(*tables.STATUSES)
_POSITIONS_CHECK = array(choice(*tables.POSITIONS), 1)

_CAMPAIGN_MEMBERS: tuple[Mapping[str, Check], Mapping[str, Check]] = (
    {"ad_account_id": ID_CHECK, "name": _NAME_CHECK, "status": _STATUS_CHECK, "start_time": INSTANT.check},
    {
        "end_time": INSTANT.check,
        "buy_model": choice("AUCTION", "RESERVED"),
        "objective_v2_properties": record(
            required={"objective_v2_type": choice(*tables.OBJECTIVES)},
            optional={
                "promotion_type": choice(*tables.PROMOTIONS),
                "conversion_location": array(choice(*tables.CONVERSION_LOCATIONS), 1),
            },
        ),
        "objective": choice(*tables.LEGACY_OBJECTIVES),
        "regulations": record(required={"restricted_delivery_signals": boolean}),
        "daily_budget_micro": integer(tables.MIN_SPEND_CAP),
        "lifetime_spend_cap_micro": integer(tables.MIN_SPEND_CAP),
        "measurement_spec": any_value,
        "pacing_level": choice("CAMPAIGN"),
        "shared_properties": any_value,
    },
)
_AD_SQUAD_MEMBERS: tuple[Mapping[str, Check], Mapping[str, Check]] = (
    {
        "campaign_id": ID_CHECK,
        "name": _NAME_CHECK,
        "type": choice("SNAP_ADS", "LENS", "FILTER"),
        "status": _STATUS_CHECK,
        "placement_v2": record(
            required={"config": choice("AUTOMATIC", "CUSTOM")},
            optional={
                "platforms": array(text(), 1),
                "snapchat_positions": _POSITIONS_CHECK,
                "inclusion": any_value,
                "exclusion": any_value,
            },
        ),
        "billing_event": choice("IMPRESSION"),
        "optimization_goal": choice(*tables.ALL_GOALS),
        "targeting": check_targeting,
    },
    {
        "bid_strategy": choice(*tables.BID_STRATEGIES),
        "bid_micro": integer(1),
        "daily_budget_micro": integer(tables.MIN_DAILY_BUDGET),
        "lifetime_budget_micro": integer(tables.MIN_LIFETIME_BUDGET),
        "start_time": INSTANT.check,
        "end_time": INSTANT.check,
        "pacing_type": choice("STANDARD", "ACCELERATED"),
        "conversion_window": choice("SWIPE_28DAY_VIEW_1DAY", "SWIPE_7DAY"),
        "pixel_id": ID_CHECK,
        "cap_and_exclusion_config": any_value,
        "brand_safety_config": record(required={"inventory_option": choice("FULL_INVENTORY", "LIMITED_INVENTORY")}),
        "ad_scheduling_config": any_value,
    },
)
_AD_MEMBERS: tuple[Mapping[str, Check], Mapping[str, Check]] = (
    {
        "ad_squad_id": ID_CHECK,
        "creative_id": ID_CHECK,
        "name": _NAME_CHECK,
        "type": choice(*tables.AD_TYPES),
        "status": _STATUS_CHECK,
    },
    {"paying_advertiser_name": text()},
)
_CREATIVE_MEMBERS: tuple[Mapping[str, Check], Mapping[str, Check]] = (
    {"ad_account_id": ID_CHECK, "name": _NAME_CHECK, "type": choice(*tables.CREATIVE_TYPES)},
    {
        "headline": text(1, tables.MAX_HEADLINE_LENGTH),
        "brand_name": text(1, tables.MAX_BRAND_LENGTH),
        "shareable": boolean,
        "call_to_action": text(),
        "top_snap_media_id": ID_CHECK,
        "web_view_properties": record(required={"url": text()}),
    },
)
# Members that the server derives. A PUT may send them back; a POST must not.
DERIVED_MEMBERS: Mapping[str, Mapping[str, Check]] = {
    "campaign": {},
    "adsquad": {"delivery_constraint": text(), "child_ad_type": choice(*tables.AD_TYPES)},
    "ad": {},
    "creative": {},
}
# Members that are fixed once set; also `start_time` of a campaign once it has passed.
IMMUTABLE_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "campaign": ("ad_account_id", "objective_v2_properties", "objective", "buy_model"),
    "adsquad": ("campaign_id", "optimization_goal", "type", "billing_event", "delivery_constraint", "child_ad_type"),
    "ad": ("ad_squad_id", "creative_id", "type"),
    "creative": ("ad_account_id", "type"),
}
READ_ONLY_MEMBERS = split_words("""
    created_at updated_at created_by_app_id created_by_user last_updated_by_app_id last_updated_by_user delivery_status
    review_status review_status_reasons review_status_details effective_status targeting_reach_status deleted
    render_type creation_state
""")
DEPRECATED_MEMBERS = ("auto_bid", "target_bid", "roas_value_micro")
_MEMBERS_BY_KIND = {
    "campaign": _CAMPAIGN_MEMBERS,
    "adsquad": _AD_SQUAD_MEMBERS,
    "ad": _AD_MEMBERS,
    "creative": _CREATIVE_MEMBERS,
}

CREATE_CHECKS: Mapping[str, Check] = {
    kind: record(required, optional) for kind, (required, optional) in _MEMBERS_BY_KIND.items()
}
REPLACE_CHECKS: Mapping[str, Check] = {
    kind: record({"id": ID_CHECK, **required}, {**optional, **DERIVED_MEMBERS[kind]})
    for kind, (required, optional) in _MEMBERS_BY_KIND.items()
}
