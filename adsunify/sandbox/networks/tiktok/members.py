"""The bodies of the manual flow: names, types, required members and enums (from the published descriptions)."""

from collections.abc import Mapping

from adsunify.sandbox.checks import (
    Check,
    any_value,
    array,
    boolean,
    choice,
    external_id,
    integer,
    number,
    one_of,
    record,
    text,
)
from adsunify.sandbox.networks.tiktok.places import OBJECTIVES, PLACEMENTS, PROMOTIONS
from adsunify.sandbox.networks.tiktok.shapes import (
    ADVERTISER_CHECK,
    ID_CHECK,
    MONEY_CHECK,
    TEXT_CHECK,
    check_instant,
    check_request_number,
    check_url,
    counted_text,
)
from adsunify.sandbox.parsing import fill_keys, parse_names

NAME_CHECK = counted_text(512)
SWITCH_CHECK = one_of("ENABLE DISABLE")  # a create does not accept DELETE and FROZEN
STRINGS_CHECK = array(TEXT_CHECK)
OBJECTS_CHECK = array(any_value)
AGE_GROUPS = "AGE_13_17 AGE_18_24 AGE_25_34 AGE_35_44 AGE_45_54 AGE_55_100"
OPTIMIZATION_GOALS = (
    "AUTOMATIC_VALUE_OPTIMIZATION CLICK CONVERSATION CONVERSION_LEADS CONVERT DESTINATION_VISIT ENGAGED_VIEW"
    " ENGAGED_VIEW_FIFTEEN FOLLOWERS GMV INITIATE_CHECKOUTS INSTALL IN_APP_EVENT LEAD_GENERATION MT_LIVE_ROOM"
    " PAGE_VISITS PREFERRED_LEAD PRODUCT_CLICK_IN_LIVE PROFILE_VIEWS PURCHASES REACH SHOW TRAFFIC_LANDING_PAGE_VIEW"
    " VALUE VIDEO_VIEW"
)
CALLS_TO_ACTION = (
    "APPLY_NOW BOOK_NOW CALL_NOW CONTACT_US DOWNLOAD_NOW EXPERIENCE_NOW GET_QUOTE GET_SHOWTIMES GET_TICKETS_NOW"
    " INSTALL_NOW INTERESTED JOIN_THIS_HASHTAG LEARN_MORE LISTEN_NOW ORDER_NOW PLAY_GAME PREORDER_NOW READ_MORE"
    " SEND_MESSAGE SHOOT_WITH_THIS_EFFECT SHOP_NOW SIGN_UP SUBSCRIBE VIEW_NOW VIEW_PROFILE"
    " VIEW_VIDEO_WITH_THIS_EFFECT VISIT_STORE WATCH_LIVE WATCH_NOW"
)
LANGUAGES = parse_names("""
    ar Arabic, bg Bulgarian, bn Bengali, cs Czech, da Danish, de German, el Greek, en English, es Spanish, et Estonian,
    fi Finnish, fr French, he Hebrew, hi Hindi, hr Croatian, hu Hungarian, id Indonesian, it Italian, ja Japanese,
    ko Korean, lt Lithuanian, lv Latvian, ms Malay, nl Dutch, no Norwegian, pl Polish, pt Portuguese, ro Romanian,
    ru Russian, sk Slovak, sl Slovenian, sv Swedish, th Thai, tr Turkish, uk Ukrainian, vi Vietnamese, zh Chinese,
    zh-hant Traditional Chinese
""")
IDENTITY_TYPES = "TT_USER BC_AUTH_TT AUTH_CODE CUSTOMIZED_USER"

# Targeting of both flows.
TARGETING_MEMBERS: Mapping[str, Check] = {
    "location_ids": array(ID_CHECK),
    "zipcode_ids": array(external_id()),
    "languages": array(choice(*LANGUAGES)),
    "gender": one_of("GENDER_UNLIMITED GENDER_MALE GENDER_FEMALE"),
    "age_groups": array(one_of(AGE_GROUPS)),
    "spending_power": one_of("ALL HIGH"),
    "household_income": array(one_of("TOP5 TOP10 TOP10_25 TOP25_50")),
    **fill_keys(
        array(external_id()),
        """audience_ids excluded_audience_ids interest_category_ids interest_keyword_ids
        purchase_intention_keyword_ids device_model_ids carrier_ids isp_ids included_pangle_audience_package_ids
        excluded_pangle_audience_package_ids blocked_pangle_app_ids""",
    ),
    "actions": array(
        record(
            {},
            {
                "action_category_ids": STRINGS_CHECK,
                "action_period": integer(0),
                "action_scene": one_of("CREATOR_RELATED HASHTAG_RELATED VIDEO_RELATED"),
                "video_user_actions": array(
                    one_of("COMMENTED FOLLOWING LIKED SHARED VIEW_HASHTAG VIEW_HOMEPAGE WATCHED_TO_END")
                ),
            },
        )
    ),
    "operating_systems": array(one_of("ANDROID IOS"), 0, 1),
    **fill_keys(TEXT_CHECK, "min_android_version min_ios_version"),
    "device_price_ranges": array(integer(0, 10000), 0, 2),
    "network_types": array(one_of("WIFI 2G 3G 4G 5G")),
    "saved_audience_id": external_id(),
    **fill_keys(boolean, "smart_audience_enabled smart_interest_behavior_enabled"),
}
# Members of an ad group that can be created and updated.
_AD_GROUP_MEMBERS: Mapping[str, Check] = {
    **TARGETING_MEMBERS,
    "adgroup_name": NAME_CHECK,
    **fill_keys(MONEY_CHECK, "budget bid_price conversion_bid_price deep_cpa_bid roas_bid next_day_retention"),
    **fill_keys(number(0), "frequency frequency_schedule"),
    "bid_type": one_of("BID_TYPE_NO_BID BID_TYPE_CUSTOM"),
    "pacing": one_of("PACING_MODE_SMOOTH PACING_MODE_FAST"),
    "schedule_type": one_of("SCHEDULE_START_END SCHEDULE_FROM_NOW"),
    **fill_keys(check_instant, "schedule_start_time schedule_end_time"),
    "dayparting": text(336, 336, "[01]+"),
    "brand_safety_type": one_of("EXPANDED_INVENTORY LIMITED_INVENTORY NO_BRAND_SAFETY STANDARD_INVENTORY THIRD_PARTY"),
    **fill_keys(STRINGS_CHECK, "category_exclusion_ids contextual_tag_ids"),
    **fill_keys(OBJECTS_CHECK, "excluded_custom_actions included_custom_actions search_keywords"),
    "audience_rule": any_value,
    "shopping_ads_retargeting_actions_days": integer(0),
    **fill_keys(
        boolean,
        "automated_keywords_enabled comment_disabled is_hfss is_lhf_compliance search_result_enabled share_disabled",
    ),
    **fill_keys(
        TEXT_CHECK,
        """audience_type catalog_authorized_bc_id deep_bid_type deep_funnel_event_source deep_funnel_event_source_id
        deep_funnel_optimization_event deep_funnel_optimization_status ios14_targeting secondary_optimization_event
        shopping_ads_retargeting_custom_audience_relation shopping_ads_retargeting_type vertical_sensitivity_id""",
    ),
}
# Members of a creative that can be created and updated.
_CREATIVE_MEMBERS: Mapping[str, Check] = {
    "ad_name": NAME_CHECK,
    "ad_format": one_of("SINGLE_VIDEO SINGLE_IMAGE CAROUSEL CAROUSEL_ADS CATALOG_CAROUSEL LIVE_CONTENT"),
    "identity_type": one_of(IDENTITY_TYPES),
    "identity_id": external_id(),
    "identity_authorized_bc_id": external_id(),
    "video_id": text(),  # the module `identities` checks the id
    "image_ids": array(external_id()),
    "music_id": external_id(),
    "tiktok_item_id": external_id(),
    "ad_text": counted_text(100),
    "ad_texts": array(counted_text(100)),
    "call_to_action": one_of(CALLS_TO_ACTION),
    "call_to_action_id": external_id(),
    **fill_keys(
        check_url,
        """landing_page_url click_tracking_url impression_tracking_url playable_url video_view_tracking_url
        brand_safety_vast_url viewability_vast_url""",
    ),
    "dark_post_status": one_of("ON OFF"),
    **fill_keys(integer(0), "carousel_image_index page_id page_image_index tracking_pixel_id"),
    **fill_keys(boolean, "creative_authorized instant_product_page_used promotional_music_disabled"),
    **fill_keys(STRINGS_CHECK, "item_group_ids sku_ids tracking_offline_event_set_ids"),
    **fill_keys(OBJECTS_CHECK, "deeplink_utm_params disclaimer_clickable_texts"),
    "utm_params": array(record({"key": text(), "value": text()})),
    "disclaimer_text": any_value,
    **fill_keys(
        TEXT_CHECK,
        """aigc_disclosure_type app_name avatar_icon_web_uri brand_safety_postbid_partner card_id cpp_url creative_type
        deeplink deeplink_type disclaimer_type display_name dynamic_destination dynamic_format end_card_cta
        fallback_type item_duet_status item_stitch_status product_set_id product_specific_type
        shopping_ads_deeplink_type shopping_ads_fallback_type shopping_ads_video_package_id tracking_app_id
        vertical_video_strategy viewability_postbid_partner""",
    ),
}
CREATIVE_CREATE_MEMBERS: Mapping[str, Check] = {
    **_CREATIVE_MEMBERS,
    "operation_status": SWITCH_CHECK,
    **fill_keys(STRINGS_CHECK, "auto_disclaimer_types product_display_field_list vehicle_ids"),
    "showcase_products": OBJECTS_CHECK,
    **fill_keys(
        TEXT_CHECK,
        """auto_message_id catalog_id deeplink_format_type phone_number phone_region_calling_code phone_region_code
        schedule_id tiktok_page_category tracking_message_event_set_id""",
    ),
}
CREATIVE_UPDATE_MEMBERS: Mapping[str, Check] = {**_CREATIVE_MEMBERS, "vast_moat_enabled": boolean}
PATCHABLE_MEMBERS = (  # members of an update with `patch_update`
    "ad_name",
    "identity_id",
    "identity_type",
    "identity_authorized_bc_id",
    "video_id",
    "image_ids",
    "music_id",
    "tiktok_item_id",
    "ad_text",
)
INDUSTRIES_CHECK = array(one_of("HOUSING EMPLOYMENT CREDIT"), 0, 3)

_CAMPAIGN_CREATE_MEMBERS: Mapping[str, Check] = {
    "request_id": check_request_number,
    "bid_type": one_of("BID_TYPE_NO_BID BID_TYPE_CUSTOM"),
    "budget": MONEY_CHECK,
    "budget_mode": one_of("BUDGET_MODE_INFINITE BUDGET_MODE_DAY BUDGET_MODE_DYNAMIC_DAILY_BUDGET BUDGET_MODE_TOTAL"),
    "roas_bid": MONEY_CHECK,
    "operation_status": SWITCH_CHECK,
    "optimization_goal": one_of(OPTIMIZATION_GOALS),
    "special_industries": INDUSTRIES_CHECK,
    **fill_keys(
        boolean,
        """budget_optimize_on catalog_enabled disable_skan_campaign is_advanced_dedicated_campaign is_search_campaign
        rta_bid_enabled rta_product_selection_enabled""",
    ),
    **fill_keys(
        TEXT_CHECK,
        """app_id app_promotion_type campaign_app_profile_page_state campaign_product_source campaign_type deep_bid_type
        internal_channel plugin_partner po_number postback_window_mode rf_campaign_type rta_id sales_destination
        virtual_objective_type""",
    ),
}
_AD_GROUP_CREATE_MEMBERS: Mapping[str, Check] = {
    **_AD_GROUP_MEMBERS,
    "request_id": check_request_number,
    "operation_status": SWITCH_CHECK,
    "promotion_type": one_of(PROMOTIONS),
    "placement_type": one_of("PLACEMENT_TYPE_NORMAL PLACEMENT_TYPE_AUTOMATIC"),
    "placements": array(one_of(PLACEMENTS), 1),
    "identity_type": one_of(IDENTITY_TYPES),
    "app_config": OBJECTS_CHECK,
    "tiktok_subplacements": STRINGS_CHECK,
    **fill_keys(boolean, "skip_learning_phase video_download_disabled"),
    **fill_keys(
        TEXT_CHECK,
        """adgroup_app_profile_page_state app_id attribution_event_count bid_display_mode brand_safety_partner
        catalog_id click_attribution_window creative_material_mode custom_conversion_id engaged_view_attribution_window
        identity_authorized_bc_id identity_id message_event_set_id messaging_app_account_id messaging_app_type
        optimization_event phone_number phone_region_calling_code phone_region_code pixel_id product_source
        promotion_target_type promotion_website_type shopping_ads_type statistic_type store_authorized_bc_id store_id
        vbo_window view_attribution_window""",
    ),
}
CREATE_CHECKS: Mapping[str, Check] = {
    "campaign": record(
        {"advertiser_id": ADVERTISER_CHECK, "campaign_name": NAME_CHECK, "objective_type": one_of(OBJECTIVES)},
        _CAMPAIGN_CREATE_MEMBERS,
    ),
    # the models also require budget and budget_mode, but with CBO the campaign has the budget: see `rules`
    "adgroup": record(
        {
            "advertiser_id": ADVERTISER_CHECK,
            "campaign_id": ID_CHECK,
            "adgroup_name": NAME_CHECK,
            "billing_event": one_of("CPC CPM CPV GD OCPC OCPM"),
            "optimization_goal": one_of(OPTIMIZATION_GOALS),
            "pacing": _AD_GROUP_MEMBERS["pacing"],
            "schedule_type": _AD_GROUP_MEMBERS["schedule_type"],
            "schedule_start_time": check_instant,
        },
        {**_AD_GROUP_CREATE_MEMBERS, "budget_mode": _CAMPAIGN_CREATE_MEMBERS["budget_mode"]},
    ),
    "ad": record(
        {
            "advertiser_id": ADVERTISER_CHECK,
            "adgroup_id": ID_CHECK,
            "creatives": array(record(optional=CREATIVE_CREATE_MEMBERS), 1, 20),
        }
    ),
}
UPDATE_CHECKS: Mapping[str, Check] = {
    "campaign": record(
        {"advertiser_id": ADVERTISER_CHECK, "campaign_id": ID_CHECK},
        {
            "campaign_name": NAME_CHECK,
            "budget": MONEY_CHECK,
            "po_number": TEXT_CHECK,
            "special_industries": INDUSTRIES_CHECK,
        },
    ),
    "adgroup": record(
        {"advertiser_id": ADVERTISER_CHECK, "adgroup_id": ID_CHECK},
        {
            **_AD_GROUP_MEMBERS,
            **fill_keys(boolean, "auto_targeting_enabled exclude_age_under_eighteen"),
            "targeting_expansion": any_value,
        },
    ),
    "ad": record(
        {
            "advertiser_id": ADVERTISER_CHECK,
            "adgroup_id": ID_CHECK,
            "creatives": array(record({"ad_id": ID_CHECK}, CREATIVE_UPDATE_MEMBERS), 1, 20),
        },
        {"patch_update": boolean},
    ),
}
# Every name of an entity except the computed ones (`reads`).
STORED_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "campaign": (
        "campaign_name",
        "objective_type",
        *(name for name in _CAMPAIGN_CREATE_MEMBERS if name != "request_id"),
    ),
    "adgroup": (
        "adgroup_name",
        "billing_event",
        "optimization_goal",
        "budget_mode",
        "auto_targeting_enabled",
        "exclude_age_under_eighteen",
        "targeting_expansion",
        *(name for name in _AD_GROUP_CREATE_MEMBERS if name not in ("request_id", "adgroup_name")),
    ),
    "ad": (*CREATIVE_CREATE_MEMBERS, "vast_moat_enabled"),
}
