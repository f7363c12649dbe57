"""The readable fields of each kind of node: the names that `fields` accepts (from the published descriptions)."""

from collections.abc import Mapping

_CAMPAIGN_FIELDS = """
    account_id adbatch adlabels advantage_state_info bid_constraints bid_strategy boosted_object_id
    brand_lift_studies budget_rebalance_flag budget_remaining budget_schedule_specs buying_type
    campaign_group_active_time can_create_brand_lift_study can_use_spend_cap configured_status created_time
    daily_budget effective_status execution_options frequency_control_specs has_secondary_skadnetwork_reporting id
    is_adset_budget_sharing_enabled is_budget_schedule_enabled is_direct_send_campaign is_message_campaign
    is_meta_moment_maker_enabled is_pca_unified is_reels_trending_ads_enabled is_skadnetwork_attribution issues_info
    iterative_split_test_configs last_budget_toggling_time lifetime_budget name objective pacing_type
    primary_attribution promoted_object recommendations smart_promotion_type source_campaign source_campaign_id
    source_recommendation_type special_ad_categories special_ad_category special_ad_category_country spend_cap
    start_time status stop_time topline_id updated_time
"""
_ADSET_FIELDS = """
    account_id ad_set_goal adlabels adset_schedule anchor_event_attribution_window_days asset_feed_id
    attribution_count_type attribution_spec automatic_manual_state bid_adjustments bid_amount bid_constraints
    bid_info bid_strategy billing_event brand_safety_config budget_remaining campaign campaign_active_time
    campaign_attribution campaign_id configured_status created_time creative_diversity_label
    creative_diversity_score creative_sequence creative_sequence_repetition_pattern daily_budget
    daily_min_spend_target daily_spend_cap destination_type dsa_beneficiary dsa_payor effective_status end_time
    existing_customer_budget_percentage frequency_control_specs full_funnel_exploration_mode id instagram_user_id
    is_ba_skip_delayed_eligible is_budget_schedule_enabled is_dc_follow_optimized is_dynamic_creative
    is_incremental_attribution_enabled is_organic_ad_joint_optimized is_sequenced_conversion_creation issues_info
    learning_stage_info lifetime_budget lifetime_imps lifetime_min_spend_target lifetime_spend_cap
    live_video_ad_campaign_config low_creative_reach max_budget_spend_percentage meta_moment_maker_spec
    min_budget_spend_percentage multi_event_conversion_attribution_window_seconds multi_optimization_goal_weight
    name optimization_goal optimization_sub_event pacing_type placement_soft_opt_out promoted_object recommendations
    recurring_budget_semantics regional_regulated_categories regional_regulation_identities relative_value
    review_feedback rf_prediction_id source_adset source_adset_id special_ad_categories start_time status targeting
    targeting_optimization_types time_based_ad_rotation_id_blocks time_based_ad_rotation_intervals
    trending_topics_spec updated_time use_new_app_click value_rule_set_id value_rules_applied
"""
_AD_FIELDS = """
    account_id ad_active_time ad_review_feedback ad_schedule_end_time ad_schedule_start_time adlabels adset adset_id
    adset_spec audience_id bid_amount bid_info bid_type campaign campaign_id configured_status conversion_domain
    conversion_specs created_time creative creative_asset_groups_spec creative_audience_pairing_persona
    creative_automation_spec dataset_split_specs date_format demolink_hash display_sequence draft_adgroup_id
    effective_status engagement_audience execution_options failed_delivery_checks filename id
    include_demolink_hashes issues_info last_updated_by_app_id name placement preview_shareable_link priority
    recommendations source_ad source_ad_id special_ad_categories status targeting
    tracking_and_conversion_with_defaults tracking_specs updated_time
"""
_ADCREATIVE_FIELDS = """
    account_id actor_id ad_disclaimer_spec adlabels applink_treatment asset_feed_spec authorization_category
    auto_update body branded_content branded_content_sponsor_page_id bundle_folder_id call_to_action
    call_to_action_type categorization_criteria category_media_source collaborative_ads_lsb_image_bank_id
    contextual_multi_ads creative_sourcing_spec degrees_of_freedom_spec destination_set_id destination_spec
    dynamic_ad_voice effective_authorization_category effective_instagram_media_id effective_object_story_id
    enable_direct_install enable_launch_instant_app execution_options existing_post_title facebook_branded_content
    format_transformation_spec generative_asset_spec id image_crops image_file image_hash image_url
    instagram_branded_content instagram_permalink_url instagram_user_id interactive_components_spec is_dco_internal
    link_deep_link_url link_destination_display_url link_og_id link_url marketing_message_structured_spec
    media_optimization_spec media_sourcing_spec messenger_sponsored_message name object_id object_store_url
    object_story_id object_story_spec object_type object_url omnichannel_link_spec page_welcome_message
    photo_album_source_object_story_id place_page_set_id platform_customizations playable_asset_id
    portrait_customizations product_data product_set_id product_suggestion_settings recommender_settings
    regional_regulation_disclaimer_spec source_facebook_post_id source_instagram_media_id status template_url
    template_url_spec thumbnail_id thumbnail_url title url_tags use_page_actor_override video_id
    wamo_whatsapp_identity_spec
"""
_ACCOUNT_FIELDS = """
    account_id account_status age amount_spent attribution_spec balance business business_name business_country_code
    capabilities created_time currency default_dsa_beneficiary default_dsa_payor disable_reason end_advertiser
    end_advertiser_name funding_source funding_source_details id is_personal is_prepay_account
    min_campaign_group_spend_cap min_daily_budget name owner spend_cap timezone_id timezone_name
    timezone_offset_hours_utc tos_accepted user_tasks
"""
_REPORT_FIELDS = """
    account_id async_percent_completion async_status date_start date_stop error_code error_message error_subcode
    error_user_msg error_user_title id is_running level time_completed time_increment time_range time_ref
"""
_INSIGHTS_FIELDS = """
    account_currency account_id account_name action_values actions ad_id ad_name adset_id adset_name buying_type
    campaign_id campaign_name clicks conversion_values conversions cost_per_action_type cost_per_conversion
    cost_per_inline_link_click cost_per_unique_click cpc cpm cpp created_time ctr date_start date_stop frequency
    impressions inline_link_click_ctr inline_link_clicks inline_post_engagement objective optimization_goal
    outbound_clicks purchase_roas reach social_spend spend unique_actions unique_clicks unique_ctr updated_time
    video_30_sec_watched_actions video_avg_time_watched_actions video_p100_watched_actions video_p25_watched_actions
    video_p50_watched_actions video_p75_watched_actions video_play_actions video_thruplay_watched_actions
    website_purchase_roas
"""

# The name of a node type in the error for an unknown field, and its fields.
FIELDS_BY_NODE: Mapping[str, tuple[str, frozenset[str]]] = {
    "campaign": ("Campaign", frozenset(_CAMPAIGN_FIELDS.split())),
    "adset": ("AdSet", frozenset(_ADSET_FIELDS.split())),
    "ad": ("Ad", frozenset(_AD_FIELDS.split())),
    "adcreative": ("AdCreative", frozenset(_ADCREATIVE_FIELDS.split())),
    "account": ("AdAccount", frozenset(_ACCOUNT_FIELDS.split())),
    "report": ("AdReportRun", frozenset(_REPORT_FIELDS.split())),
    "insights": ("AdsInsights", frozenset(_INSIGHTS_FIELDS.split())),
    "user": ("User", frozenset({"id", "name"})),
    "business": ("Business", frozenset({"id", "name"})),
    "page": ("Page", frozenset({"id", "name", "category", "tasks"})),
    "pixel": ("AdsPixel", frozenset({"id", "name", "creation_time", "is_unavailable", "last_fired_time"})),
    "conversion": (
        "CustomConversion",
        frozenset({"id", "name", "creation_time", "custom_event_type", "is_archived", "pixel", "rule"}),
    ),
    "image": (
        "AdImage",
        frozenset({"account_id", "created_time", "hash", "height", "id", "name", "permalink_url", "status"})
        | {"updated_time", "url", "url_128", "width"},
    ),
    "video": ("AdVideo", frozenset({"created_time", "description", "id", "length", "source", "status", "title"})),
    "instagram": ("InstagramUser", frozenset({"id", "profile_pic", "username"})),
    "audience": ("CustomAudience", frozenset({"description", "id", "name", "subtype", "time_created"})),
    "saved_audience": ("SavedAudience", frozenset({"description", "id", "name", "targeting", "time_created"})),
    "minimum_budget": (
        "MinimumBudget",
        frozenset({"currency", "min_daily_budget_high_freq", "min_daily_budget_imp", "min_daily_budget_low_freq"})
        | {"min_daily_budget_video_views"},
    ),
    "dsa_recommendation": ("AdAccountDsaRecommendations", frozenset({"recommendations"})),
}
