"""The bodies of the Upgraded Smart+ flow (of the published descriptions).

`objective_type` takes TRAFFIC as well. TikTok's reference (state of 2026-11-23) lists APP_PROMOTION, WEB_CONVERSIONS
and LEAD_GENERATION only. No source shows that TRAFFIC is refused, so this simulation accepts it (chosen, unverified).
"""

from collections.abc import Mapping

from adsunify.sandbox.framework import Check, anything, boolean, choice, foreign, listing, number, record, text
from adsunify.sandbox.networks.tiktok.members import ACTIONS, INDUSTRIES, NAME, SWITCH, TARGETING
from adsunify.sandbox.networks.tiktok.places import PLACEMENTS
from adsunify.sandbox.networks.tiktok.shapes import (
    ADVERTISER,
    ID,
    MONEY,
    TEXT,
    each,
    instant,
    one_of,
    request_number,
    web_address,
    words,
)

_GOALS = (
    "ANCHOR_CLICK ANCHOR_CLICK_PURCHASE AUTOMATED_VALUE CLICK CONVERSATION CONVERSION_LEADS CONVERT DESTINATION_VISIT"
    " ENGAGED_VIEW ENGAGED_VIEW_FIFTEEM FOLLOWERS INSTALL IN_APP_EVENT LEAD_GENERATION MESSAGE MT_LIVE_FOLLOW"
    " MT_LIVE_ROOM MT_LIVE_SHOPPING PAGE_VISIT POST_ENGAGEMNT PREFERRED_LEAD PRODUCT_CLICK_IN_LIVE PROFILE_VIEWS REACH"
    " SHOW TRAFFIC_LANDING_PAGE_VIEW VALUE VIDEO_VIEW"
)
_WINDOW = one_of("FOURTEEN_DAYS OFF ONE_DAY SEVEN_DAYS TWENTY_EIGHT_DAYS UNSET")
_TARGETING_SPEC = record(
    optional={**TARGETING, "spc_audience_age": one_of("OVER_EIGHTEEN OVER_TWENTY_FIVE")}  # no brand safety here
)
_TARGETING_SPEC_CREATE = record(
    optional={
        **TARGETING,
        "spc_audience_age": one_of("OVER_EIGHTEEN OVER_TWENTY_FIVE"),
        "app_targeting_type": one_of("PROSPECT RETARGETING"),
    }
)
# Members of an ad group that can be created and updated; an update knows neither bid_type nor the goal.
_AD_GROUP: Mapping[str, Check] = {
    **each(MONEY, "bid_price budget conversion_bid_price min_budget"),
    "roas_bid": number(0),
    **each(boolean, "comment_disabled share_disabled suggestion_audience_enabled"),
    "dayparting": text(336, 336, "[01]+"),
    "schedule_end_time": instant,
    "targeting_optimization_mode": one_of("AUTOMATIC MANUAL"),
}
_AD_GROUP_CREATE: Mapping[str, Check] = {
    **_AD_GROUP,
    "bid_type": one_of("BID_TYPE_CUSTOM BID_TYPE_MAX_CONVERSION BID_TYPE_NO_BID"),
    "budget_mode": one_of("BUDGET_MODE_DAY BUDGET_MODE_DYNAMIC_DAILY_BUDGET BUDGET_MODE_INFINITE BUDGET_MODE_TOTAL"),
    "placement_type": one_of("PLACEMENT_TYPE_AUTOMATIC PLACEMENT_TYPE_NORMAL"),
    "placements": listing(one_of(PLACEMENTS), 1),
    "operation_status": SWITCH,
    "identity_type": one_of("BC_AUTH_TT TT_USER"),
    **each(_WINDOW, "click_attribution_window engaged_view_attribution_window view_attribution_window"),
    "deep_cpabid": MONEY,
    "phone_info": anything,
    "video_download_disabled": boolean,
    **each(
        TEXT,
        """app_id attribution_event_count catalog_authorized_bc_id catalog_id custom_conversion_id deep_bid_type
        deep_funnel_event_source deep_funnel_event_source_id deep_funnel_optimization_event
        deep_funnel_optimization_status identity_authorized_bc_id identity_id message_event_set_id
        messaging_app_account_id messaging_app_type movie_premiere_date open_api_partner optimization_event pixel_id
        product_source promotion_target_type promotion_website_type vbo_window zalo_id_type""",
    ),
}
CREATIVE_INFO = record(
    {"ad_format": one_of("SINGLE_VIDEO CAROUSEL_ADS CATALOG_CAROUSEL")},
    {
        "video_info": record({"video_id": text()}, {"file_name": TEXT}),
        "image_info": listing(record({"web_uri": foreign()})),
        "music_info": record({"music_id": foreign()}),
        "identity_type": one_of("TT_USER BC_AUTH_TT AUTH_CODE CUSTOMIZED_USER"),
        "identity_id": foreign(),
        "identity_authorized_bc_id": foreign(),
        "tiktok_item_id": foreign(),
        "aigc_disclosure_type": one_of("NOT_DECLARED SELF_DISCLOSURE UNSET"),
    },
)
_CONFIGURED: Mapping[str, Check] = {
    "auto_disclaimer_types": listing(one_of("DISCOUNT EMISSION")),
    "call_to_action_id": foreign(),
    "catalog_creative_toggle": boolean,
    "dark_post_status": one_of("ON OFF"),
    "identity_type": choice("CUSTOMIZED_USER"),
    "identity_id": foreign(),
    "utm_params": listing(record({"key": text(), "value": text()})),
    **each(anything, "phone_info tracking_info"),
    "product_ids": listing(TEXT),
    **each(TEXT, "end_card_cta fallback_type product_set_id product_specific_type"),
}
_CONFIGURATION_CREATE = record(optional={**_CONFIGURED, "product_display_field_list": listing(TEXT)})
_AD: Mapping[str, Check] = {
    "creative_list": listing(record({"creative_info": CREATIVE_INFO}), 1, 31),
    "ad_text_list": listing(record({"ad_text": words(100)}), 1, 5),
    "call_to_action_list": listing(record({"call_to_action": one_of(f"{ACTIONS} CHECK_AVAILABILITY")}), 1, 3),
    "landing_page_url_list": listing(record({"landing_page_url": web_address}), 1, 1),
    "deeplink_list": listing(record({}, {"deeplink": TEXT, "deeplink_type": one_of("DEFERRED_DEEPLINK NORMAL")})),
    "interactive_add_on_list": listing(record({"card_id": foreign()})),
    "page_list": listing(record({"page_id": foreign()})),
    "ad_configuration": record(optional=_CONFIGURED),
}
CREATE: Mapping[str, Check] = {
    "campaign": record(
        {
            "advertiser_id": ADVERTISER,
            "request_id": request_number,
            "campaign_name": NAME,
            "objective_type": one_of("TRAFFIC APP_PROMOTION LEAD_GENERATION WEB_CONVERSIONS"),
        },
        {
            "budget": MONEY,
            "budget_mode": one_of("BUDGET_MODE_DYNAMIC_DAILY_BUDGET BUDGET_MODE_TOTAL"),
            "operation_status": SWITCH,
            "special_industries": INDUSTRIES,
            **each(
                boolean,
                """budget_optimize_on catalog_enabled disable_skan_campaign is_advanced_dedicated_campaign
                is_promotional_campaign""",
            ),
            **each(
                TEXT,
                """app_id app_promotion_type bid_align_type campaign_app_profile_page_state campaign_type catalog_type
                open_api_partner po_number postback_window_mode sales_destination""",
            ),
        },
    ),
    "adgroup": record(
        {
            "advertiser_id": ADVERTISER,
            "request_id": request_number,
            "campaign_id": ID,
            "adgroup_name": NAME,
            "promotion_type": one_of(
                "AEO_APK APP_ANDROID APP_IOS LEAD_GENERATION LEAD_GEN_CLICK_TO_CALL"
                " LEAD_GEN_CLICK_TO_SOCIAL_MEDIA_APP_MESSAGE LEAD_GEN_CLICK_TO_TT_DIRECT_MESSAGE LIVE_SHOPPING"
                " MINI_APP PRODUCT_SHOPPING TIKTOK_SHOP VIDEO_SHOPPING WEBSITE WEBSITE_OR_DISPLAY"
            ),
            "optimization_goal": one_of(_GOALS),
            "billing_event": one_of("CPA CPC CPM CPV GD OCPM"),
            "schedule_type": one_of("SCHEDULE_START_END SCHEDULE_FROM_NOW"),
            "schedule_start_time": instant,
            "targeting_spec": _TARGETING_SPEC_CREATE,
        },
        _AD_GROUP_CREATE,  # no pacing
    ),
    "ad": record(
        {"advertiser_id": ADVERTISER, "adgroup_id": ID, "ad_name": NAME},
        {
            **_AD,
            "auto_message_list": listing(record({"auto_message_id": foreign()})),
            "ad_configuration": _CONFIGURATION_CREATE,
            "operation_status": SWITCH,
        },
    ),
}
UPDATE: Mapping[str, Check] = {
    "campaign": record(
        {"advertiser_id": ADVERTISER, "campaign_id": ID}, {"campaign_name": NAME, "budget": MONEY, "po_number": TEXT}
    ),
    "adgroup": record(
        {"advertiser_id": ADVERTISER, "adgroup_id": ID},
        {
            **_AD_GROUP,
            "adgroup_name": NAME,
            "pacing": one_of("PACING_MODE_SMOOTH PACING_MODE_FAST"),
            "schedule_start_time": instant,
            "schedule_type": one_of("SCHEDULE_START_END SCHEDULE_FROM_NOW"),
            "targeting_spec": _TARGETING_SPEC,
        },
    ),
    "ad": record({"advertiser_id": ADVERTISER, "smart_plus_ad_id": ID}, {**_AD, "ad_name": NAME}),
}
