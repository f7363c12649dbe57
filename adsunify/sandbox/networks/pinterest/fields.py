"""The members of campaigns, ad groups, ads and Pins: names, types, enumerations (description 5.28).

`CREATE` and `UPDATE` hold a check per kind. Members that the description calls nullable may be null.
`rules.normalize_members` defines the meaning of null.
"""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import (
    Check,
    any_value,
    array,
    boolean,
    check_object,
    choice,
    external_id,
    integer,
    nullable,
    number,
    record,
    text,
    visible_text,
)
from adsunify.sandbox.networks.pinterest.tables import CREATIVE_TYPES, OBJECTIVES, STATUSES
from adsunify.sandbox.networks.pinterest.targeting import TARGETING_CHECK
from adsunify.sandbox.parsing import InvalidRequest

# Unix SECONDS from 2001 to 2100: milliseconds are refused.
_TIMESTAMP_CHECK = integer(1_000_000_000, 4_102_444_800)
_MICROS_CHECK = integer(1)
_URL_CHECK = text(8, 2048, r"https?://[^\s/]+\S*")
_TRACKING_EVENTS = ("audience_verification", "buyable_button", "click", "engagement", "impression")
_TRACKING_CHECK = record(
    optional=dict.fromkeys(_TRACKING_EVENTS, nullable(array(text(8, 2000, r"https?://\S+"), 0, 3)))
)
_EXTERNAL_ID = external_id(r"\d+")


def _own_id(*prefixes: str) -> Check:
    """An id of the sandbox. The prefixed forms of requests (AG123, C123) are accepted and become plain digits."""

    def check(value: Any, where: str) -> str:
        native_id = str(text(1, 20, rf"({'|'.join(prefixes)})?\d+" if prefixes else r"\d+")(value, where))
        return native_id.lstrip("AGC")

    return check


def _fill_nullable(names: str, check: Check) -> dict[str, Check]:
    return {name: nullable(check) for name in names.split()}


_GOAL_METADATA_CHECK = record(
    optional={
        "conversion_tag_v3_goal_metadata": record(
            optional={
                "attribution_windows": any_value,
                "conversion_event": choice(
                    "PAGE_VISIT",
                    "SIGNUP",
                    "CHECKOUT",
                    "CUSTOM",
                    "VIEW_CATEGORY",
                    "SEARCH",
                    "ADD_TO_CART",
                    "WATCH_VIDEO",
                    "LEAD",
                    "APP_INSTALL",
                ),
                "conversion_tag_id": _EXTERNAL_ID,
                "cpa_goal_value_in_micro_currency": text(pattern=r"\d+"),  # a digit STRING
                "is_roas_optimized": nullable(boolean),
                "learning_mode_type": nullable(choice("NOT_ACTIVE", "ACTIVE")),
                "reporting_event": text(),
            }
        ),
        "frequency_goal_metadata": record(
            {
                "frequency": integer(2, 20),
                "timerange": choice(
                    "THIRTY_DAY", "DAY", "SEVEN_DAY", "TWENTY_MINUTE", "TEN_MINUTE", "TWENTY_FOUR_HOUR"
                ),
            }
        ),
        "scrollup_goal_metadata": record(optional={"scrollup_goal_value_in_micro_currency": text(pattern=r"\d+")}),
    }
)

_CAMPAIGN_MEMBERS: Mapping[str, Check] = {
    "ad_account_id": _own_id(),
    "name": visible_text(1, 255),
    "objective_type": choice(*OBJECTIVES),
    "status": choice(*STATUSES),
    "is_performance_plus": boolean,
    "intended_promotion_type": choice("LEGACY", "STANDARD_AD", "CATALOG"),
    **_fill_nullable(
        """is_automated_campaign is_campaign_budget_optimization is_flexible_daily_budgets is_ltv_optimized
            is_top_of_search""",
        boolean,
    ),
    **_fill_nullable("daily_spend_cap lifetime_spend_cap default_ad_group_budget_in_micro_currency", _MICROS_CHECK),
    **_fill_nullable("start_time end_time", _TIMESTAMP_CHECK),
    "order_line_id": nullable(_EXTERNAL_ID),
    "tracking_urls": nullable(_TRACKING_CHECK),
    "bid_options": nullable(check_object),
}
_AD_GROUP_MEMBERS: Mapping[str, Check] = {
    "campaign_id": _own_id("C"),
    "name": visible_text(1, 255),
    "status": choice(*STATUSES),
    "billable_event": choice("CLICKTHROUGH", "IMPRESSION", "VIDEO_V_50_MRC"),
    "budget_type": choice("DAILY", "LIFETIME", "CBO_ADGROUP"),
    "pacing_delivery_type": choice("STANDARD", "ACCELERATED"),
    "placement_group": choice("ALL", "SEARCH", "BROWSE", "OTHER"),
    "lifetime_frequency_cap": integer(1),
    "bid_strategy_type": nullable(choice("AUTOMATIC_BID", "MAX_BID", "TARGET_AVG")),
    **_fill_nullable("bid_in_micro_currency budget_in_micro_currency", _MICROS_CHECK),
    **_fill_nullable("start_time end_time", _TIMESTAMP_CHECK),
    **_fill_nullable("auto_targeting_enabled is_creative_optimization", boolean),
    "bid_multiplier": number(0, 10),
    "targeting_spec": TARGETING_CHECK,
    "targeting_template_ids": nullable(array(_EXTERNAL_ID, 0, 1)),
    "tracking_urls": nullable(_TRACKING_CHECK),
    "optimization_goal_metadata": nullable(_GOAL_METADATA_CHECK),
    "promotion_application_level": nullable(choice("NONE", "ITEM", "AD_GROUP")),
    "promotion_id": nullable(_EXTERNAL_ID),
    "promotion_ids": nullable(array(_EXTERNAL_ID)),
}
_CALLS_TO_ACTION = """
    GET_OFFER LEARN_MORE ORDER_NOW SHOP_NOW SIGN_UP SUBSCRIBE BUY_NOW CONTACT_US GET_QUOTE VISIT_SITE APPLY_NOW BOOK_NOW
    REQUEST_DEMO REGISTER_NOW FIND_A_DEALER ADD_TO_CART WATCH_NOW READ_MORE BUY_TICKETS DONATE_NOW DOWNLOAD EXPLORE_MORE
    FIND_A_LOCATION FIND_RETAILERS GET_DEAL GET_RECIPE GET_SHOWTIMES ON_SALE PLAY_GAME TRY_IT TAKE_A_PEEK
"""
_AD_MEMBERS: Mapping[str, Check] = {
    "ad_group_id": _own_id("AG"),
    "pin_id": text(),  # checked later, as the id of an object made elsewhere
    "creative_type": choice(*CREATIVE_TYPES),
    "name": nullable(text(0, 255)),
    "status": choice(*STATUSES),
    **_fill_nullable("""destination_url click_tracking_url view_tracking_url disclosure_url""", _URL_CHECK),
    **_fill_nullable("android_deep_link ios_deep_link", text()),
    **_fill_nullable("carousel_android_deep_links carousel_destination_urls carousel_ios_deep_links", array(text())),
    "customizable_cta_type": nullable(choice(*_CALLS_TO_ACTION.split())),
    "disclosure_type": nullable(
        choice(
            "NO_DISCLOSURE",
            "PRESCRIBING_INFORMATION",
            "PRESCRIBING_INFORMATION_BOX_WARNING",
            "IMPORTANT_SAFETY_INFO",
            "MED_GUIDE",
            "PATIENT_INFORMATION",
        )
    ),
    "grid_click_type": nullable(
        choice("CLOSEUP", "DIRECT_TO_DESTINATION")
    ),  # read-only: values in a request are ignored
    **_fill_nullable("is_carting is_pin_deleted is_removable", boolean),
    "lead_form_id": nullable(_EXTERNAL_ID),
    "quiz_pin_data": nullable(check_object),
    "tracking_urls": nullable(_TRACKING_CHECK),
}


def _pick_members(names: str, members: Mapping[str, Check]) -> dict[str, Check]:
    return {name: members[name] for name in names.split()}


REQUIRED_MEMBERS: Mapping[str, str] = {
    "campaign": "ad_account_id name objective_type",
    "ad_group": "campaign_id name billable_event",
    "ad": "ad_group_id pin_id creative_type",
}
MEMBERS_BY_KIND: Mapping[str, Mapping[str, Check]] = {
    "campaign": _CAMPAIGN_MEMBERS,
    "ad_group": _AD_GROUP_MEMBERS,
    "ad": _AD_MEMBERS,
}
CREATE_CHECKS: Mapping[str, Check] = {
    kind: record(_pick_members(REQUIRED_MEMBERS[kind], members), members) for kind, members in MEMBERS_BY_KIND.items()
}
_ID_CHECK = {"id": _own_id()}
UPDATE_CHECKS: Mapping[str, Check] = {
    "campaign": record(
        {**_ID_CHECK, "ad_account_id": _own_id()},
        # objective_type may be null; -1 removes the end
        {
            **_CAMPAIGN_MEMBERS,
            "objective_type": nullable(choice(*OBJECTIVES)),
            "end_time": lambda value, where: -1 if value == -1 else nullable(_TIMESTAMP_CHECK)(value, where),
        },
    ),
    # targeting_spec_operations (SET, ADD, REMOVE) are not simulated: they are refused as unknown
    "ad_group": record(
        _ID_CHECK,
        {
            **_AD_GROUP_MEMBERS,
            # null removes a bid, and the list ["0"] removes a template
            "lifetime_frequency_cap": nullable(integer(1)),
        },
    ),
    "ad": record(_ID_CHECK, _AD_MEMBERS),
}

_IMAGE_CHECKS: Mapping[str, Check] = {
    "image_url": record({"source_type": choice("image_url"), "url": _URL_CHECK}, {"is_standard": boolean}),
    "image_base64": record(
        {
            "source_type": choice("image_base64"),
            "content_type": choice("image/jpeg", "image/png"),
            "data": text(pattern=r"[a-zA-Z0-9+/=]+"),
        },
        {"is_standard": boolean},
    ),
}


def _check_media_source(value: Any, where: str) -> Any:
    kind: Any = check_object(value, where).get("source_type")
    if kind not in _IMAGE_CHECKS:
        raise InvalidRequest(
            "value", f"{where}/source_type", f"must be one of {', '.join(_IMAGE_CHECKS)} (others: not simulated)"
        )
    return _IMAGE_CHECKS[kind](value, where)


PIN_CHECK = record(
    {"board_id": text(), "media_source": _check_media_source},
    {
        "title": nullable(text(0, 100)),
        "description": nullable(text(0, 800)),
        "link": nullable(_URL_CHECK),
        "alt_text": nullable(text(0, 500)),
        "board_section_id": nullable(text()),
        "dominant_color": nullable(text(pattern="#[0-9A-Fa-f]{6}")),
        "parent_pin_id": nullable(_EXTERNAL_ID),
        "sponsor_id": nullable(_EXTERNAL_ID),
    },
)
