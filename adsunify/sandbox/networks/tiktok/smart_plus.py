"""The bodies of the Upgraded Smart+ flow (of the published descriptions).

`objective_type` takes TRAFFIC as well. TikTok's reference (state of 2026-11-23) lists APP_PROMOTION, WEB_CONVERSIONS
and LEAD_GENERATION only. No source shows that TRAFFIC is refused, so this simulation accepts it (our choice,
unverified).
"""

from collections.abc import Mapping

from adsunify.sandbox.checks import Check, any_value, array, boolean, choice, external_id, number, one_of, record, text
from adsunify.sandbox.networks.tiktok import members, shapes
from adsunify.sandbox.networks.tiktok.places import PLACEMENTS
from adsunify.sandbox.parsing import fill_keys

_OPTIMIZATION_GOALS = (
    "ANCHOR_CLICK ANCHOR_CLICK_PURCHASE AUTOMATED_VALUE CLICK CONVERSATION CONVERSION_LEADS CONVERT DESTINATION_VISIT"
    " ENGAGED_VIEW ENGAGED_VIEW_FIFTEEM FOLLOWERS INSTALL IN_APP_EVENT LEAD_GENERATION MESSAGE MT_LIVE_FOLLOW"
    " MT_LIVE_ROOM MT_LIVE_SHOPPING PAGE_VISIT POST_ENGAGEMNT PREFERRED_LEAD PRODUCT_CLICK_IN_LIVE PROFILE_VIEWS REACH"
    " SHOW TRAFFIC_LANDING_PAGE_VIEW VALUE VIDEO_VIEW"
)
_WINDOW_CHECK = one_of("FOURTEEN_DAYS OFF ONE_DAY SEVEN_DAYS TWENTY_EIGHT_DAYS UNSET")
_TARGETING_SPEC_CHECK = record(
    optional={
        **members.TARGETING_MEMBERS,
        "spc_audience_age": one_of("OVER_EIGHTEEN OVER_TWENTY_FIVE"),
    }  # Smart+ has no brand safety members
)
_TARGETING_SPEC_CREATE_CHECK = record(
    optional={
        **members.TARGETING_MEMBERS,
        "spc_audience_age": one_of("OVER_EIGHTEEN OVER_TWENTY_FIVE"),
        "app_targeting_type": one_of("PROSPECT RETARGETING"),
    }
)
# Members of an ad group that can be created and updated; an update accepts neither bid_type nor the goal.
_AD_GROUP_MEMBERS: Mapping[str, Check] = {
    **fill_keys(shapes.MONEY_CHECK, "bid_price budget conversion_bid_price min_budget"),
    "roas_bid": number(0),
    **fill_keys(boolean, "comment_disabled share_disabled suggestion_audience_enabled"),
    "dayparting": text(336, 336, "[01]+"),
    "schedule_end_time": shapes.check_instant,
    "targeting_optimization_mode": one_of("AUTOMATIC MANUAL"),
}
_AD_GROUP_CREATE_MEMBERS: Mapping[str, Check] = {
    **_AD_GROUP_MEMBERS,
    "bid_type": one_of("BID_TYPE_CUSTOM BID_TYPE_MAX_CONVERSION BID_TYPE_NO_BID"),
    "budget_mode": one_of("BUDGET_MODE_DAY BUDGET_MODE_DYNAMIC_DAILY_BUDGET BUDGET_MODE_INFINITE BUDGET_MODE_TOTAL"),
    "placement_type": one_of("PLACEMENT_TYPE_AUTOMATIC PLACEMENT_TYPE_NORMAL"),
    "placements": array(one_of(PLACEMENTS), 1),
    "operation_status": members.SWITCH_CHECK,
    "identity_type": one_of("BC_AUTH_TT TT_USER"),
    **fill_keys(_WINDOW_CHECK, "click_attribution_window engaged_view_attribution_window view_attribution_window"),
    "deep_cpabid": shapes.MONEY_CHECK,
    "phone_info": any_value,
    "video_download_disabled": boolean,
    **fill_keys(
        shapes.TEXT_CHECK,
        """app_id attribution_event_count catalog_authorized_bc_id catalog_id custom_conversion_id deep_bid_type
        deep_funnel_event_source deep_funnel_event_source_id deep_funnel_optimization_event
        deep_funnel_optimization_status identity_authorized_bc_id identity_id message_event_set_id
        messaging_app_account_id messaging_app_type movie_premiere_date open_api_partner optimization_event pixel_id
        product_source promotion_target_type promotion_website_type vbo_window zalo_id_type""",
    ),
}
CREATIVE_INFO_CHECK = record(
    {"ad_format": one_of("SINGLE_VIDEO CAROUSEL_ADS CATALOG_CAROUSEL")},
    {
        "video_info": record({"video_id": text()}, {"file_name": shapes.TEXT_CHECK}),
        "image_info": array(record({"web_uri": external_id()})),
        "music_info": record({"music_id": external_id()}),
        "identity_type": one_of("TT_USER BC_AUTH_TT AUTH_CODE CUSTOMIZED_USER"),
        **fill_keys(external_id(), "identity_id identity_authorized_bc_id tiktok_item_id"),
        "aigc_disclosure_type": one_of("NOT_DECLARED SELF_DISCLOSURE UNSET"),
    },
)
_CONFIGURATION_MEMBERS: Mapping[str, Check] = {
    "auto_disclaimer_types": array(one_of("DISCOUNT EMISSION")),
    "call_to_action_id": external_id(),
    "catalog_creative_toggle": boolean,
    "dark_post_status": one_of("ON OFF"),
    "identity_type": choice("CUSTOMIZED_USER"),
    "identity_id": external_id(),
    "utm_params": array(record({"key": text(), "value": text()})),
    **fill_keys(any_value, "phone_info tracking_info"),
    "product_ids": array(shapes.TEXT_CHECK),
    **fill_keys(shapes.TEXT_CHECK, "end_card_cta fallback_type product_set_id product_specific_type"),
}
_CONFIGURATION_CREATE_CHECK = record(
    optional={**_CONFIGURATION_MEMBERS, "product_display_field_list": array(shapes.TEXT_CHECK)}
)
_AD_MEMBERS: Mapping[str, Check] = {
    "creative_list": array(record({"creative_info": CREATIVE_INFO_CHECK}), 1, 31),
    "ad_text_list": array(record({"ad_text": shapes.counted_text(100)}), 1, 5),
    "call_to_action_list": array(
        record({"call_to_action": one_of(f"{members.CALLS_TO_ACTION} CHECK_AVAILABILITY")}), 1, 3
    ),
    "landing_page_url_list": array(record({"landing_page_url": shapes.check_url}), 1, 1),
    "deeplink_list": array(
        record({}, {"deeplink": shapes.TEXT_CHECK, "deeplink_type": one_of("DEFERRED_DEEPLINK NORMAL")})
    ),
    "interactive_add_on_list": array(record({"card_id": external_id()})),
    "page_list": array(record({"page_id": external_id()})),
    "ad_configuration": record(optional=_CONFIGURATION_MEMBERS),
}
CREATE_CHECKS: Mapping[str, Check] = {
    "campaign": record(
        {
            "advertiser_id": shapes.ADVERTISER_CHECK,
            "request_id": shapes.check_request_number,
            "campaign_name": members.NAME_CHECK,
            "objective_type": one_of("TRAFFIC APP_PROMOTION LEAD_GENERATION WEB_CONVERSIONS"),
        },
        {
            "budget": shapes.MONEY_CHECK,
            "budget_mode": one_of("BUDGET_MODE_DYNAMIC_DAILY_BUDGET BUDGET_MODE_TOTAL"),
            "operation_status": members.SWITCH_CHECK,
            "special_industries": members.INDUSTRIES_CHECK,
            **fill_keys(
                boolean,
                """budget_optimize_on catalog_enabled disable_skan_campaign is_advanced_dedicated_campaign
                is_promotional_campaign""",
            ),
            **fill_keys(
                shapes.TEXT_CHECK,
                """app_id app_promotion_type bid_align_type campaign_app_profile_page_state campaign_type catalog_type
                open_api_partner po_number postback_window_mode sales_destination""",
            ),
        },
    ),
    "adgroup": record(
        {
            "advertiser_id": shapes.ADVERTISER_CHECK,
            "request_id": shapes.check_request_number,
            "campaign_id": shapes.ID_CHECK,
            "adgroup_name": members.NAME_CHECK,
            "promotion_type": one_of(
                "AEO_APK APP_ANDROID APP_IOS LEAD_GENERATION LEAD_GEN_CLICK_TO_CALL"
                " LEAD_GEN_CLICK_TO_SOCIAL_MEDIA_APP_MESSAGE LEAD_GEN_CLICK_TO_TT_DIRECT_MESSAGE LIVE_SHOPPING"
                " MINI_APP PRODUCT_SHOPPING TIKTOK_SHOP VIDEO_SHOPPING WEBSITE WEBSITE_OR_DISPLAY"
            ),
            "optimization_goal": one_of(_OPTIMIZATION_GOALS),
            "billing_event": one_of("CPA CPC CPM CPV GD OCPM"),
            "schedule_type": one_of("SCHEDULE_START_END SCHEDULE_FROM_NOW"),
            "schedule_start_time": shapes.check_instant,
            "targeting_spec": _TARGETING_SPEC_CREATE_CHECK,
        },
        _AD_GROUP_CREATE_MEMBERS,  # Smart+ has no member `pacing`
    ),
    "ad": record(
        {"advertiser_id": shapes.ADVERTISER_CHECK, "adgroup_id": shapes.ID_CHECK, "ad_name": members.NAME_CHECK},
        {
            **_AD_MEMBERS,
            "auto_message_list": array(record({"auto_message_id": external_id()})),
            "ad_configuration": _CONFIGURATION_CREATE_CHECK,
            "operation_status": members.SWITCH_CHECK,
        },
    ),
}
UPDATE_CHECKS: Mapping[str, Check] = {
    "campaign": record(
        {"advertiser_id": shapes.ADVERTISER_CHECK, "campaign_id": shapes.ID_CHECK},
        {"campaign_name": members.NAME_CHECK, "budget": shapes.MONEY_CHECK, "po_number": shapes.TEXT_CHECK},
    ),
    "adgroup": record(
        {"advertiser_id": shapes.ADVERTISER_CHECK, "adgroup_id": shapes.ID_CHECK},
        {
            **_AD_GROUP_MEMBERS,
            "adgroup_name": members.NAME_CHECK,
            "pacing": one_of("PACING_MODE_SMOOTH PACING_MODE_FAST"),
            "schedule_start_time": shapes.check_instant,
            "schedule_type": one_of("SCHEDULE_START_END SCHEDULE_FROM_NOW"),
            "targeting_spec": _TARGETING_SPEC_CHECK,
        },
    ),
    "ad": record(
        {"advertiser_id": shapes.ADVERTISER_CHECK, "smart_plus_ad_id": shapes.ID_CHECK},
        {**_AD_MEMBERS, "ad_name": members.NAME_CHECK},
    ),
}
