"""The parameters of each write with their types and enums (from the published descriptions).

Left out of the published lists: `date_format` (gone in v26) and `adset_spec`, `campaign_spec`, `draft_adgroup_id`,
which would create further objects that are not simulated.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from adsunify.sandbox.checks import (
    Check,
    any_value,
    array,
    boolean,
    check_object,
    choice,
    country_code,
    external_id,
    integer,
    integer_text,
    json_text,
    one_of,
    record,
    text,
    visible_text,
)
from adsunify.sandbox.networks.meta.targeting import TARGETING_CHECK
from adsunify.sandbox.parsing import InvalidRequest, fill_keys


def check_url(value: Any, where: str) -> str:
    """An absolute http or https address."""
    address = text(1, 2083)(value, where)
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", address):
        raise InvalidRequest("value", where, "must be an absolute http or https address", value)
    return str(address)


def check_image_url(value: Any, where: str) -> str:
    """A public address that Meta fetches during the call. One that contains `missing` cannot be fetched."""
    address = check_url(value, where)
    host = urlsplit(address).hostname or ""
    # Meta Marketing API: the address must be public; the meaning of public is our choice
    if "." not in host or re.fullmatch(r"[0-9.]+", host):
        raise InvalidRequest("value", where, "the image could not be downloaded: not a public address", value)
    return str(external_id()(address, where))


def check_datetime(value: Any, where: str) -> datetime:
    """`YYYY-MM-DDTHH:MM:SS` with any offset."""
    shape = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:?[0-9]{2})"
    try:
        return datetime.fromisoformat(text(pattern=shape)(value, where))
    except ValueError as error:
        raise InvalidRequest("value", where, "no such instant", value) from error


def check_end_datetime(value: Any, where: str) -> datetime | None:
    """An instant, or `0` for no end."""
    return None if value == "0" else check_datetime(value, where)


STRING_CHECK, NAME_CHECK, ID_CHECK = text(), visible_text(1, 400), external_id("[0-9]+")
UNSIGNED_CHECK, FLAG_CHECK, OBJECT_CHECK = integer_text(0), json_text(boolean), json_text(check_object)
OBJECTS_CHECK, STRINGS_CHECK = json_text(array(check_object)), json_text(array(text()))

CREATION_STATUS_CHECK = one_of("ACTIVE PAUSED")  # a create accepts only these statuses, at every level
STATUS_CHECK = one_of("ACTIVE PAUSED ARCHIVED DELETED")
BID_STRATEGY_CHECK = one_of("COST_CAP LOWEST_COST_WITHOUT_CAP LOWEST_COST_WITH_BID_CAP LOWEST_COST_WITH_MIN_ROAS")
CATEGORY_CHECK = one_of(
    "CREDIT EMPLOYMENT FINANCIAL_PRODUCTS_SERVICES HOUSING ISSUES_ELECTIONS_POLITICS NONE ONLINE_GAMBLING_AND_GAMING"
)
OBJECTIVE_CHECK = one_of("""
    APP_INSTALLS BRAND_AWARENESS CONVERSIONS EVENT_RESPONSES LEAD_GENERATION LINK_CLICKS LOCAL_AWARENESS MESSAGES
    OFFER_CLAIMS OUTCOME_APP_PROMOTION OUTCOME_AWARENESS OUTCOME_ENGAGEMENT OUTCOME_LEADS OUTCOME_SALES
    OUTCOME_TRAFFIC PAGE_LIKES POST_ENGAGEMENT PRODUCT_CATALOG_SALES REACH STORE_VISITS VIDEO_VIEWS
""")
OPTIMIZATION_GOAL_CHECK = one_of("""
    ADVERTISER_SILOED_VALUE AD_RECALL_LIFT APP_INSTALLS APP_INSTALLS_AND_OFFSITE_CONVERSIONS AUTOMATIC_OBJECTIVE
    CONVERSATIONS DERIVED_EVENTS ENGAGED_PAGE_VIEWS ENGAGED_USERS EVENT_RESPONSES IMPRESSIONS IN_APP_VALUE
    LANDING_PAGE_VIEWS LEAD_GENERATION LINK_CLICKS MEANINGFUL_CALL_ATTEMPT MESSAGING_APPOINTMENT_CONVERSION
    MESSAGING_DEEP_CONVERSATION_AND_FOLLOW MESSAGING_PURCHASE_CONVERSION NONE OFFSITE_CONVERSIONS PAGE_LIKES
    POST_ENGAGEMENT PROFILE_AND_PAGE_ENGAGEMENT PROFILE_VISIT QUALITY_CALL QUALITY_LEAD REACH REMINDERS_SET
    SUBSCRIBERS THRUPLAY VALUE VISIT_INSTAGRAM_PROFILE
""")
BILLING_EVENT_CHECK = one_of("""
    APP_INSTALLS CLICKS IMPRESSIONS LINK_CLICKS LISTING_INTERACTION NONE OFFER_CLAIMS PAGE_LIKES POST_ENGAGEMENT
    PURCHASE THRUPLAY
""")
DESTINATION_TYPE_CHECK = one_of("""
    APP APPLINKS_AUTOMATIC FACEBOOK FACEBOOK_LIVE FACEBOOK_PAGE IMAGINE INSTAGRAM_DIRECT INSTAGRAM_LIVE
    INSTAGRAM_PROFILE INSTAGRAM_PROFILE_AND_FACEBOOK_PAGE MESSAGING_INSTAGRAM_DIRECT_MESSENGER
    MESSAGING_INSTAGRAM_DIRECT_MESSENGER_WHATSAPP MESSAGING_INSTAGRAM_DIRECT_WHATSAPP MESSAGING_MESSENGER_WHATSAPP
    MESSENGER ON_AD ON_EVENT ON_PAGE ON_POST ON_VIDEO SHOP_AUTOMATIC WEBSITE WHATSAPP
""")
CUSTOM_EVENT_CHECK = one_of("""
    ACHIEVEMENT_UNLOCKED ADD_PAYMENT_INFO ADD_TO_CART ADD_TO_WISHLIST AD_IMPRESSION COMPLETE_REGISTRATION CONTACT
    CONTENT_VIEW CUSTOMIZE_PRODUCT D2_RETENTION D7_RETENTION DONATE FIND_LOCATION INITIATED_CHECKOUT LEAD
    LEVEL_ACHIEVED LISTING_INTERACTION MESSAGING_CONVERSATION_STARTED_7D OTHER PURCHASE RATE SCHEDULE SEARCH
    SERVICE_BOOKING_REQUEST SPENT_CREDITS START_TRIAL SUBMIT_APPLICATION SUBSCRIBE TUTORIAL_COMPLETION
""")
CALL_TO_ACTION_CHECK = one_of("""
    ADD_TO_CART APPLY_NOW ASK_ABOUT_SERVICES ASK_A_QUESTION ASK_FOR_MORE_INFO ASK_US AUDIO_CALL BOOK_A_CONSULTATION
    BOOK_NOW BOOK_TRAVEL BROWSE_SHOP BUY BUY_ACTIVITY_TICKETS BUY_NOW BUY_TICKETS BUY_VIA_MESSAGE CALL CALL_ME
    CALL_NOW CHAT_NOW CHAT_WITH_US CONFIRM CONTACT CONTACT_US DONATE DONATE_NOW DOWNLOAD EVENT_RSVP FIND_A_GROUP
    FIND_OUT_MORE FIND_YOUR_GROUPS FOLLOW_NEWS_STORYLINE FOLLOW_PAGE FOLLOW_USER GET_A_QUOTE GET_DETAILS
    GET_DIRECTIONS GET_IN_TOUCH GET_OFFER GET_OFFER_VIEW GET_PROMOTIONS GET_QUOTE GET_SHOWTIMES GET_STARTED
    INQUIRE_NOW INSTALL_APP INSTALL_MOBILE_APP JOIN_CHANNEL JOIN_LIVE_VIDEO LEARN_MORE LIKE_PAGE LISTEN_MUSIC
    LISTEN_NOW MAKE_AN_APPOINTMENT MESSAGE_PAGE MOBILE_DOWNLOAD NO_BUTTON OPEN_INSTANT_APP OPEN_LINK ORDER_NOW
    PAY_TO_ACCESS PLAY_GAME PLAY_GAME_ON_FACEBOOK PURCHASE_GIFT_CARDS RAISE_MONEY RECORD_NOW REFER_FRIENDS
    REQUEST_TIME SAY_THANKS SEE_MORE SEE_SHOP SELL_NOW SEND_A_GIFT SEND_GIFT_MONEY SEND_UPDATES SHARE SHOP_NOW
    SHOP_WITH_AI SIGN_UP SOTTO_SUBSCRIBE START_A_CHAT START_ORDER STREAM_NOW SUBSCRIBE SWIPE_UP_PRODUCT
    SWIPE_UP_SHOP TRY_DEMO TRY_ON_WITH_AI UPDATE_APP USE_APP USE_MOBILE_APP VIDEO_ANNOTATION VIDEO_CALL VIEW_CART
    VIEW_CHANNEL VIEW_IN_CART VIEW_PRODUCT VISIT_PAGES_FEED VISIT_WEBSITE WATCH_LIVE_VIDEO WATCH_MORE WATCH_NOW
    WATCH_VIDEO WHATSAPP_MESSAGE WOODHENGE_SUPPORT
""")

PROMOTED_OBJECT_CHECK = record(
    optional={
        **fill_keys(
            any_value,
            """
            ads_signal_source_type application_id boosted_product_set_id conversion_goal_id
            custom_attribution_source_ids dataset_split_id dataset_split_ids event_id full_funnel_objective
            fundraiser_campaign_id is_catalog_user_acknowledged job_listing_id lead_ads_custom_event_str
            lead_ads_custom_event_type lead_ads_follow_up_event lead_ads_form_event_source_type
            lead_ads_offsite_conversion_type lead_ads_quality_volume_setting lead_ads_selected_pixel_id
            live_video_destination mcme_conversion_id multi_event_product object_store_url object_store_urls offer_id
            offline_conversion_data_set_id offsite_conversion_event_id omnichannel_object
            optimization_product_set_id passback_application_id passback_pixel_id pixel_aggregation_rule pixel_rule
            place_page_set place_page_set_id product_item_id product_set product_set_optimization retention_days
            smart_pse_enabled smart_pse_setting value_semantic_type variation whats_app_business_phone_number_id
            whatsapp_phone_number
        """,
        ),
        **fill_keys(
            ID_CHECK, "page_id pixel_id custom_conversion_id instagram_actor_id product_catalog_id product_set_id"
        ),
        "custom_event_type": CUSTOM_EVENT_CHECK,
        "custom_event_str": STRING_CHECK,
    }
)
LINK_DATA_CHECK = record(
    required={"link": check_url},
    optional={
        **fill_keys(
            any_value,
            """
            ad_context additional_image_index app_link_spec attachment_style automated_product_tags
            boosted_product_set_id branded_content_shared_to_sponsor_status branded_content_sponsor_page_id
            collection_thumbnails customization_rules_spec event_id force_single_link format_option image_crops
            image_layer_specs image_overlay_spec is_local_expansion multi_share_end_card multi_share_optimized
            offer_id page_welcome_message post_click_configuration preferred_image_tags preferred_video_tags
            retailer_item_ids show_multiple_images smart_pse_enabled static_fallback_spec
            use_flexible_image_aspect_ratio
        """,
        ),
        **fill_keys(STRING_CHECK, "message name caption description"),
        "child_attachments": array(check_object, 2),
        "picture": check_image_url,
        "image_hash": external_id("[0-9A-Za-z_-]+"),
        "call_to_action": record(
            required={"type": CALL_TO_ACTION_CHECK},
            optional={
                "value": record(
                    optional={
                        **fill_keys(
                            any_value,
                            """
                    android_url app_destination app_link application event_id ios_url land_on_whatsapp_catalog
                    land_on_whatsapp_profile lead_gen_form_id link_caption link_format object_store_urls page
                    product_link whatsapp_number
                """,
                        ),
                        "link": check_url,
                    }
                )
            },
        ),
    },
    exactly_one=(
        ("picture", "image_hash", "child_attachments"),
    ),  # Meta Marketing API allows at most one of them; that one is required is our choice
)
STORY_CHECK = record(
    required={"page_id": ID_CHECK},
    optional={
        "link_data": LINK_DATA_CHECK,
        "instagram_user_id": ID_CHECK,
        "product_data": array(check_object),
        "whats_app_business_phone_number": STRING_CHECK,
        **fill_keys(check_object, "photo_data template_data text_data video_data"),
    },
    exactly_one=(("link_data", "photo_data", "template_data", "text_data", "video_data"),),
)

_CAMPAIGN_MEMBERS: Mapping[str, Check] = {
    "name": NAME_CHECK,
    "objective": OBJECTIVE_CHECK,
    "bid_strategy": BID_STRATEGY_CHECK,
    "special_ad_categories": json_text(array(CATEGORY_CHECK)),
    "special_ad_category_country": json_text(array(country_code)),
    "smart_promotion_type": one_of("GUIDED_CREATION SMART_APP_PROMOTION"),
    "promoted_object": json_text(PROMOTED_OBJECT_CHECK),
    "pacing_type": STRINGS_CHECK,
    "execution_options": json_text(array(one_of("include_recommendations validate_only"))),
    **fill_keys(UNSIGNED_CHECK, "daily_budget lifetime_budget spend_cap"),
    **fill_keys(check_datetime, "start_time stop_time"),
    **fill_keys(OBJECTS_CHECK, "adlabels budget_schedule_specs frequency_control_specs iterative_split_test_configs"),
    **fill_keys(
        FLAG_CHECK,
        """
        is_adset_budget_sharing_enabled is_budget_schedule_enabled is_direct_send_campaign is_message_campaign
        is_meta_moment_maker_enabled is_pca_unified is_reels_trending_ads_enabled is_skadnetwork_attribution
    """,
    ),
}
_ADSET_MEMBERS: Mapping[str, Check] = {
    "name": NAME_CHECK,
    "optimization_goal": OPTIMIZATION_GOAL_CHECK,
    "billing_event": BILLING_EVENT_CHECK,
    "destination_type": DESTINATION_TYPE_CHECK,
    "bid_strategy": BID_STRATEGY_CHECK,
    "bid_amount": integer_text(0),
    "bid_constraints": json_text(record(optional={"roas_average_floor": integer(1)})),
    "promoted_object": json_text(PROMOTED_OBJECT_CHECK),
    "targeting": json_text(TARGETING_CHECK),
    "start_time": check_datetime,
    "end_time": check_end_datetime,
    "execution_options": json_text(array(one_of("include_recommendations validate_only"))),
    "automatic_manual_state": one_of("AUTOMATIC MANUAL UNSET"),
    "creative_sequence_repetition_pattern": one_of("FULL_SEQUENCE LAST_AD"),
    "full_funnel_exploration_mode": one_of("EXTENDED_EXPLORATION LIMITED_EXPLORATION NONE_EXPLORATION"),
    "multi_optimization_goal_weight": one_of("BALANCED PREFER_EVENT PREFER_INSTALL UNDEFINED"),
    "optimization_sub_event": one_of("""
        NONE POST_INTERACTION TRAVEL_INTENT TRAVEL_INTENT_BUCKET_01 TRAVEL_INTENT_BUCKET_02 TRAVEL_INTENT_BUCKET_03
        TRAVEL_INTENT_BUCKET_04 TRAVEL_INTENT_BUCKET_05 TRAVEL_INTENT_NO_DESTINATION_INTENT TRIP_CONSIDERATION
        VIDEO_SOUND_ON
    """),
    "regional_regulated_categories": json_text(array(choice(*(str(n) for n in range(28) if n != 23)))),
    "tune_for_category": CATEGORY_CHECK,
    "relative_value": text(pattern=r"[0-9]+(\.[0-9]+)?"),
    "time_based_ad_rotation_id_blocks": json_text(array(array(integer(0)))),
    "time_based_ad_rotation_intervals": json_text(array(integer(0))),
    **fill_keys(check_datetime, "time_start time_stop"),
    **fill_keys(STRINGS_CHECK, "creative_sequence pacing_type"),
    **fill_keys(STRING_CHECK, "dsa_beneficiary dsa_payor rb_prediction_id rf_prediction_id value_rule_set_id"),
    **fill_keys(
        OBJECTS_CHECK, "adlabels adset_schedule attribution_spec budget_schedule_specs frequency_control_specs"
    ),
    **fill_keys(
        OBJECT_CHECK,
        """
        ad_set_goal bid_adjustments campaign_attribution live_video_ad_campaign_config meta_moment_maker_spec
        placement_soft_opt_out regional_regulation_identities trending_topics_spec
    """,
    ),
    **fill_keys(
        UNSIGNED_CHECK,
        """
        daily_budget daily_imps daily_min_spend_target daily_spend_cap existing_customer_budget_percentage
        lifetime_budget lifetime_imps lifetime_min_spend_target lifetime_spend_cap max_budget_spend_percentage
        min_budget_spend_percentage multi_event_conversion_attribution_window_seconds
    """,
    ),
    **fill_keys(
        FLAG_CHECK,
        """
        is_ba_skip_delayed_eligible is_budget_schedule_enabled is_dc_follow_optimized
        is_incremental_attribution_enabled is_sac_cfca_terms_certified is_sequenced_conversion_creation
        value_rules_applied
    """,
    ),
}
_AD_MEMBERS: Mapping[str, Check] = {
    "name": NAME_CHECK,
    # the native parameter also accepts whole creatives; only the documented members are simulated
    "creative": json_text(record(required={"creative_id": ID_CHECK})),
    "bid_amount": integer_text(0),
    "execution_options": json_text(array(one_of("include_recommendations synchronous_ad_review validate_only"))),
    "adlabels": OBJECTS_CHECK,
    **fill_keys(STRING_CHECK, "audience_id conversion_domain"),
    **fill_keys(UNSIGNED_CHECK, "display_sequence priority"),
    **fill_keys(check_datetime, "ad_schedule_end_time ad_schedule_start_time"),
    **fill_keys(FLAG_CHECK, "engagement_audience include_demolink_hashes"),
    **fill_keys(json_text(any_value), "creative_asset_groups_spec creative_automation_spec tracking_specs"),
    "creative_audience_pairing_persona": OBJECT_CHECK,
}

CREATE_CHECKS: Mapping[str, tuple[str, Mapping[str, Check]]] = {  # the required names, and all names
    "campaign": (
        "name objective special_ad_categories",
        {
            **_CAMPAIGN_MEMBERS,
            "status": CREATION_STATUS_CHECK,
            "buying_type": one_of("AUCTION RESERVED"),
            **fill_keys(STRING_CHECK, "source_campaign_id topline_id"),
        },
    ),
    "adset": (
        "name campaign_id optimization_goal billing_event targeting",
        {
            **_ADSET_MEMBERS,
            "status": CREATION_STATUS_CHECK,
            "campaign_id": ID_CHECK,
            "attribution_count_type": one_of("ALL_CONVERSIONS FIRST_CONVERSION"),
            "budget_source": one_of("NONE RMN"),
            "line_number": UNSIGNED_CHECK,
            "is_dynamic_creative": FLAG_CHECK,
            **fill_keys(STRING_CHECK, "budget_split_set_id source_adset_id topline_id"),
        },
    ),
    "ad": (
        "name adset_id creative",
        {
            **_AD_MEMBERS,
            "status": CREATION_STATUS_CHECK,
            "adset_id": ID_CHECK,
            "source_ad_id": STRING_CHECK,
            "dataset_split_specs": OBJECTS_CHECK,
        },
    ),
    "adcreative": (
        "",
        {
            "name": NAME_CHECK,
            "object_story_spec": json_text(STORY_CHECK),
            "execution_options": json_text(array(one_of("validate_only"))),
            "applink_treatment": one_of(
                "automatic deeplink_with_appstore_fallback deeplink_with_web_fallback web_only"
            ),
            "authorization_category": one_of("NONE POLITICAL POLITICAL_WITH_DIGITALLY_CREATED_MEDIA"),
            "categorization_criteria": one_of("brand category product_type"),
            "category_media_source": one_of("CATEGORY MIXED PRODUCTS_COLLAGE PRODUCTS_SLIDESHOW"),
            "dynamic_ad_voice": one_of("DYNAMIC STORY_OWNER"),
            **fill_keys(UNSIGNED_CHECK, "actor_id object_id"),
            **fill_keys(OBJECTS_CHECK, "adlabels format_transformation_spec"),
            **fill_keys(FLAG_CHECK, "enable_launch_instant_app is_dco_internal use_page_actor_override"),
            **fill_keys(external_id(), "object_story_id source_instagram_media_id source_facebook_post_id"),
            **fill_keys(
                OBJECT_CHECK,
                """
                ad_disclaimer_spec asset_feed_spec branded_content call_to_action contextual_multi_ads
                creative_sourcing_spec degrees_of_freedom_spec destination_spec facebook_branded_content
                generative_asset_spec image_crops instagram_branded_content interactive_components_spec
                marketing_message_structured_spec media_optimization_spec media_sourcing_spec omnichannel_link_spec
                platform_customizations portrait_customizations product_suggestion_settings recommender_settings
                regional_regulation_disclaimer_spec wamo_whatsapp_identity_spec
            """,
            ),
            **fill_keys(
                STRING_CHECK,
                """
                body branded_content_sponsor_page_id bundle_folder_id destination_set_id existing_post_title
                image_file image_hash image_url instagram_permalink_url instagram_user_id link_og_id link_url
                object_type object_url page_welcome_message place_page_set_id playable_asset_id product_set_id
                template_url template_url_spec thumbnail_url title url_tags
            """,
            ),
        },
    ),
}
UPDATE_CHECKS: Mapping[str, Mapping[str, Check]] = {
    "campaign": {
        **_CAMPAIGN_MEMBERS,
        "status": STATUS_CHECK,
        "special_ad_category": CATEGORY_CHECK,
        "adset_budgets": OBJECTS_CHECK,
        "adset_bid_amounts": OBJECT_CHECK,
        **fill_keys(FLAG_CHECK, "budget_rebalance_flag migrate_to_advantage_plus"),
    },
    "adset": {**_ADSET_MEMBERS, "status": STATUS_CHECK, "account_id": STRING_CHECK},
    "ad": {**_AD_MEMBERS, "status": STATUS_CHECK},
    "adcreative": {
        "name": NAME_CHECK,
        "adlabels": OBJECTS_CHECK,
        "account_id": STRING_CHECK,
        "status": one_of("ACTIVE DELETED IN_PROCESS WITH_ISSUES"),
    },
}
