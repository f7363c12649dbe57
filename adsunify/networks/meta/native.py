"""Meta's API: addresses, enums, limits and member names, and how amounts, errors, pages and delays are read.

Sources, for Marketing API v26.0 (released 2026-07-29): developers.facebook.com, below ``docs/``
(graph-api/changelog/version26.0, graph-api/guides/error-handling, marketing-apis/rate-limiting,
marketing-api/reference/ad-creative-object-story-spec), below ``documentation/ads-commerce/marketing-api/``
(reference/ad-campaign, reference/ad-campaign-group, bidding, currencies, insights/best-practices,
insights/error-codes) and ``documentation/facebook-login/guides/access-tokens/get-long-lived``; its blog of 2023-05-16
(beneficiary and payer in the EU) and 2026-07-29 (v26.0). Names, types and enums: PyPI package facebook-business 26.0.3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, partial

from attrs import evolve

from adsunify.adapter.account import Account, require_currency
from adsunify.adapter.native_money import MoneyUnit, is_number
from adsunify.adapter.network import ParsedError, split_words
from adsunify.errors import ProviderError, invalid_input
from adsunify.http.messages import Request, Response
from adsunify.http.retry_after import parse_retry_after
from adsunify.values.dates import format_utc
from adsunify.values.exact_json import Json, loads
from adsunify.values.json_pointer import find_values, get_text, get_value, require_objects
from adsunify.values.time_formats import TimeFormat, parse_iso_time

VERSION = "v26.0"
HOST = "graph.facebook.com"
CONSENT_HOST = "www.facebook.com"
API_URL = f"https://{HOST}/{VERSION}"
CONSENT_URL = f"https://{CONSENT_HOST}/{VERSION}/dialog/oauth"
PAGE_SIZE = 100

ACTIVE, PAUSED, ARCHIVED, DELETED = "ACTIVE", "PAUSED", "ARCHIVED", "DELETED"
UNCAPPED, BID_CAP, COST_CAP = "LOWEST_COST_WITHOUT_CAP", "LOWEST_COST_WITH_BID_CAP", "COST_CAP"
ROAS_FLOOR = "LOWEST_COST_WITH_MIN_ROAS"
BID_STRATEGIES = (UNCAPPED, BID_CAP, COST_CAP, ROAS_FLOOR)
CAPPED_BID_STRATEGIES = (BID_CAP, COST_CAP)  # the strategies that need a bid_amount
CALL_TO_ACTION = "LEARN_MORE"
AUCTION = "AUCTION"
NO_CATEGORY = "NONE"
WORLDWIDE = "worldwide"
NO_END = 0  # Marketing API: an ad set with end_time 0 has no end
NO_AUDIENCE_EXPANSION = 0  # targeting_automation.advantage_audience; 1 lets Meta widen the targeting
ROAS_SCALE = 10_000  # bid_constraints.roas_average_floor for a return of 1
MAX_NAME_LENGTH = 400  # unverified: the longest name, in characters
INVALID_PARAMETER_CODE = "100"  # Meta refused a parameter or a field
_NODE_TYPE_PATTERN = re.compile(r"nonexisting field \([^()]{0,200}\) on node type \((\w{1,100})\)")
DEFAULT_RETRY_DELAY = 60.0  # seconds, for a rate error that names no time

OAUTH_SCOPES = (
    "ads_management",
    "ads_read",
    "business_management",
    "pages_show_list",
    "pages_read_engagement",
    "pages_manage_ads",
)
ACCOUNT_STATUS = {
    "1": "ACTIVE",
    "2": "DISABLED",
    "3": "UNSETTLED",
    "7": "PENDING_RISK_REVIEW",
    "8": "PENDING_SETTLEMENT",
    "9": "IN_GRACE_PERIOD",
    "100": "PENDING_CLOSURE",
    "101": "CLOSED",
    "201": "ANY_ACTIVE",
    "202": "ANY_CLOSED",
}
SPECIAL_AD_CATEGORIES = (
    "HOUSING",
    "EMPLOYMENT",
    "CREDIT",
    "FINANCIAL_PRODUCTS_SERVICES",
    "ISSUES_ELECTIONS_POLITICS",
    "ONLINE_GAMBLING_AND_GAMING",
    NO_CATEGORY,
)
# OTHER is left out: it needs a custom_event_str, for which a brief has no member.
CONVERSION_EVENTS = split_words(
    "PURCHASE ADD_TO_CART ADD_TO_WISHLIST ADD_PAYMENT_INFO INITIATED_CHECKOUT COMPLETE_REGISTRATION LEAD CONTENT_VIEW"
    " SEARCH CONTACT CUSTOMIZE_PRODUCT DONATE FIND_LOCATION SCHEDULE START_TRIAL SUBMIT_APPLICATION SUBSCRIBE"
)
EU_COUNTRIES = frozenset(
    split_words("AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE")
)
EU_TERRITORIES = frozenset(split_words("AX GF GP MQ RE YT MF"))  # unverified: no other territory counts as the EU
DSA_MEMBERS = {"defaultDsaBeneficiary": "dsa_beneficiary", "defaultDsaPayor": "dsa_payor"}  # account extra -> parameter
CITY_RADIUS = (17, 80)  # unverified: the smallest and largest radius around a city, in kilometers
GENDERS = {"male": 1, "female": 2}
DEVICE_PLATFORMS = ("mobile", "desktop")
PUBLISHER_PLATFORMS = ("facebook", "instagram", "audience_network", "messenger", "threads")

CURRENCY_OFFSETS = {  # native units in one major unit; Marketing API, "Currencies"
    100: """
        ARS AUD BDT BGN BHD BOB BRL CAD CHF CNY CZK DKK DZD EGP EUR GBP GTQ HKD HNL HRK ILS INR JOD KES LTL
        LVL MOP MXN MYR NGN NIO NOK NZD PEN PHP PKR PLN QAR RON RSD RUB SAR SEK SGD SKK THB TRY USD ZAR
    """,
    1: "CLP COP CRC HUF IDR ISK JPY KRW PYG TWD",
}
# unverified: the offsets of AED, LKR, UAH, UYU and VND, which were not seen in the table of currencies.
UNVERIFIED_CURRENCY_OFFSETS = {100: "AED LKR UAH UYU", 1: "VND"}

# The members that a write may have: those of the reference, except execution_options (with validate_only Meta writes
# nothing and answers success) and date_format (removed in v26.0).
_CAMPAIGN_MEMBERS = frozenset(
    split_words("""
    adlabels bid_strategy budget_schedule_specs buying_type daily_budget frequency_control_specs
    is_adset_budget_sharing_enabled is_budget_schedule_enabled is_direct_send_campaign is_message_campaign
    is_meta_moment_maker_enabled is_pca_unified is_reels_trending_ads_enabled is_skadnetwork_attribution
    iterative_split_test_configs lifetime_budget name objective pacing_type promoted_object smart_promotion_type
    source_campaign_id special_ad_categories special_ad_category_country spend_cap start_time status stop_time
    topline_id
    """)
)
_AD_SET_MEMBERS = frozenset(
    split_words("""
    ad_set_goal adlabels adset_schedule attribution_count_type attribution_spec automatic_manual_state
    bid_adjustments bid_amount bid_constraints bid_strategy billing_event budget_schedule_specs budget_source
    budget_split_set_id campaign_attribution campaign_id campaign_spec creative_sequence
    creative_sequence_repetition_pattern daily_budget daily_imps daily_min_spend_target daily_spend_cap
    destination_type dsa_beneficiary dsa_payor end_time existing_customer_budget_percentage frequency_control_specs
    full_funnel_exploration_mode is_ba_skip_delayed_eligible is_budget_schedule_enabled is_dc_follow_optimized
    is_dynamic_creative is_incremental_attribution_enabled is_sac_cfca_terms_certified
    is_sequenced_conversion_creation lifetime_budget lifetime_imps lifetime_min_spend_target lifetime_spend_cap
    line_number live_video_ad_campaign_config max_budget_spend_percentage meta_moment_maker_spec
    min_budget_spend_percentage multi_event_conversion_attribution_window_seconds multi_optimization_goal_weight
    name optimization_goal optimization_sub_event pacing_type placement_soft_opt_out promoted_object
    rb_prediction_id regional_regulated_categories regional_regulation_identities relative_value rf_prediction_id
    source_adset_id start_time status targeting time_based_ad_rotation_id_blocks time_based_ad_rotation_intervals
    time_start time_stop topline_id trending_topics_spec tune_for_category value_rule_set_id value_rules_applied
    """)
)
_AD_MEMBERS = frozenset(
    split_words("""
    ad_schedule_end_time ad_schedule_start_time adlabels adset_id adset_spec audience_id bid_amount
    conversion_domain creative creative_asset_groups_spec creative_audience_pairing_persona creative_automation_spec
    dataset_split_specs display_sequence draft_adgroup_id engagement_audience include_demolink_hashes name priority
    source_ad_id status tracking_specs
    """)
)
CREATE_MEMBERS = {"campaign": _CAMPAIGN_MEMBERS, "adGroup": _AD_SET_MEMBERS, "ad": _AD_MEMBERS}
UPDATE_MEMBERS = {
    "campaign": _CAMPAIGN_MEMBERS.difference(split_words("buying_type source_campaign_id topline_id")).union(
        split_words(
            "adset_bid_amounts adset_budgets budget_rebalance_flag migrate_to_advantage_plus special_ad_category"
        )
    ),
    "adGroup": _AD_SET_MEMBERS.difference(
        split_words(
            "attribution_count_type budget_source budget_split_set_id campaign_id is_dynamic_creative line_number"
        ),
        split_words("source_adset_id topline_id"),
    ).union(["account_id"]),
    "ad": _AD_MEMBERS.difference(split_words("adset_id dataset_split_specs source_ad_id")),
}
# Members that do not affect how much may be spent. Budgets, bids, dates and status are computed (PayloadRules).
NEUTRAL_MEMBERS = frozenset(
    split_words("""
    account_id ad_format adlabels attribution_count_type attribution_spec
    bid_constraints billing_event buying_type conversion_domain
    creative destination_type display_sequence dsa_beneficiary dsa_payor engagement_audience frequency_control_specs
    include_demolink_hashes is_adset_budget_sharing_enabled=false is_dynamic_creative
    is_incremental_attribution_enabled is_skadnetwork_attribution name objective optimization_goal
    optimization_sub_event pacing_type placement_soft_opt_out promoted_object regional_regulated_categories
    regional_regulation_identities smart_promotion_type special_ad_categories special_ad_category
    special_ad_category_country targeting tracking_specs tune_for_category
    """)
)
TARGETING_MEMBERS = frozenset(
    split_words("""
    adgroup_id age_max age_min age_range alternate_auto_targeting_option app_install_state
    audience_network_positions behaviors brand_safety_content_filter_levels catalog_based_targeting cities
    college_years connections contextual_targeting_categories countries country country_groups custom_audiences
    device_platforms direct_install_devices dynamic_audience_ids education_majors education_schools
    education_statuses effective_audience_network_positions effective_brand_safety_content_filter_levels
    effective_device_platforms effective_facebook_positions effective_instagram_positions
    effective_messenger_positions effective_publisher_platforms effective_threads_positions
    effective_whatsapp_positions engagement_specs ethnic_affinity exclude_reached_since
    excluded_brand_safety_content_types excluded_connections excluded_custom_audiences excluded_dynamic_audience_ids
    excluded_engagement_specs excluded_geo_locations excluded_mobile_device_model excluded_product_audience_specs
    excluded_publisher_categories excluded_publisher_list_ids excluded_user_device exclusions facebook_positions
    family_statuses fb_deal_id flexible_spec friends_of_connections genders generation geo_locations home_ownership
    home_type home_value household_composition income industries instagram_positions install_state_application
    instream_video_skippable_excluded interested_in interests is_whatsapp_destination_ad keywords life_events
    locales messenger_positions moms net_worth office_type place_page_set_ids political_views politics
    product_audience_specs prospecting_audience publisher_platforms radius regions relationship_statuses
    site_category subscriber_universe targeting_automation targeting_optimization targeting_relaxation_types
    threads_positions user_adclusters user_age_unknown user_device user_event user_os whatsapp_positions
    wireless_carrier work_employers work_positions zips
    """)
)


# -- money and time -----------------------------------------------------------------------------------------------

_OFFSET_BY_CURRENCY = {code: offset for offset, codes in CURRENCY_OFFSETS.items() for code in codes.split()}
_UNVERIFIED_OFFSET_BY_CURRENCY = {
    code: offset for offset, codes in UNVERIFIED_CURRENCY_OFFSETS.items() for code in codes.split()
}


def get_money_unit(account: Account) -> MoneyUnit:
    """Return Meta's minor unit of the account's currency. Raises InvalidInput for a currency without a known offset."""
    return _get_currency_unit(require_currency(account))


@cache
def _get_currency_unit(currency: str) -> MoneyUnit:
    if currency in _OFFSET_BY_CURRENCY:
        return MoneyUnit(_OFFSET_BY_CURRENCY[currency])
    if currency in _UNVERIFIED_OFFSET_BY_CURRENCY:
        offset = _UNVERIFIED_OFFSET_BY_CURRENCY[currency]
        return MoneyUnit(
            offset, assumption=f"Meta's currency table was not seen to hold {currency}: {offset} to one is assumed."
        )
    raise invalid_input("account.currency", "currency_not_supported", f"Meta has no minor unit for {currency}.")


TIME = TimeFormat(parse_iso_time, partial(format_utc, style="offset"))


# -- requests -----------------------------------------------------------------------------------------------------


def build_node_request(entity_id: str, fields: str) -> Request:
    """Build the read of one object. Without ``fields`` Meta returns the ID only."""
    return Request("GET", f"{API_URL}/{{id}}", {"id": entity_id}, {"fields": fields})


def build_edge_request(owner: str, name: str, query: Mapping[str, str]) -> Request:
    """Build the read of a list that belongs to an object."""
    return Request("GET", f"{API_URL}/{{owner}}/{name}", {"owner": owner}, query)


def build_fields_query(fields: str, limit: int, cursor: str | None) -> dict[str, str]:
    """Build the query of a list."""
    return {"fields": fields, "limit": str(limit)} | ({} if cursor is None else {"after": cursor})


# -- answers ------------------------------------------------------------------------------------------------------

OWNER_MEMBER = "account_id"


def get_owner_account(entity: Mapping[str, Json]) -> str | None:
    """Return the ID of the account that an entity names, in the form ``act_<digits>``."""
    digits = get_text(entity, f"/{OWNER_MEMBER}")
    return None if digits is None else f"act_{digits}"


def is_node_type_error(problem: ProviderError, node_type: str) -> bool:
    """Return whether Meta refused a read because the ID belongs to a node of another type, which lacks some fields."""
    match = _NODE_TYPE_PATTERN.search(problem.native.message or "")
    return problem.native.code == INVALID_PARAMETER_CODE and match is not None and match[1] != node_type


def parse_rows(response: Response) -> list[Mapping[str, Json]]:
    """Return the rows of a list. Raises ProviderUnreadable without ``data``, which even an empty list has."""
    return require_objects(response.body, "/data")


def parse_next_cursor(response: Response) -> str | None:
    """Return the cursor of the next page. ``paging.next`` contains the access token and is never followed."""
    return get_text(response.body, "/paging/cursors/after") if get_value(response.body, "/paging/next") else None


ERROR_ADVICE = {
    "100/2446404": "The account may not be billed by link clicks yet: prepare the brief again without a bid."
}
TRANSIENT_CODE = "transient"


def parse_error(response: Response) -> ParsedError | None:
    """Return the error, with the codes ``code/subcode``, ``code``, and ``transient`` if Meta flags it as transient."""
    headers = response.headers
    request_id = headers.get("x-fb-trace-id") or headers.get("x-fb-request-id")
    native = get_value(response.body, "/error") if response.state == "json" else None
    if not isinstance(native, Mapping):
        return ParsedError(request_id=request_id) if response.status >= 400 else None
    code, subcode = get_text(native, "/code"), get_text(native, "/error_subcode")
    codes = [f"{code}/{subcode}"] if code and subcode else []
    codes += [code] if code else []
    codes += [TRANSIENT_CODE] if native.get("is_transient") is True else []
    texts = [get_text(native, f"/{name}") for name in ("message", "error_user_title", "error_user_msg")]
    texts += [_parse_blamed_parameters(native), *(ERROR_ADVICE.get(part) for part in codes)]
    message = ""
    for part in texts:
        message += f" {part}" if part and part not in message else ""
    return ParsedError(tuple(codes), message.strip() or None, get_text(native, "/fbtrace_id") or request_id)


def _parse_blamed_parameters(native: Mapping[str, Json]) -> str | None:
    """Return the parameters that an error blames. ``error_data`` is an object or the JSON text of one."""
    data = native.get("error_data")
    if isinstance(data, str):
        data = _parse_json(data)
    fields = [path for path in find_values(data, "/blame_field_specs/*/*") if isinstance(path, str)]
    return f"({', '.join(fields)})" if fields else None


def _parse_json(text: str) -> Json:
    try:
        return loads(text)
    except ValueError:
        return None


def parse_retry_delay(response: Response) -> float | None:
    """Return the seconds until the account may send requests again, from the usage headers."""
    business = _parse_json(response.headers.get("x-business-use-case-usage", ""))  # minutes
    account = _parse_json(response.headers.get("x-ad-account-usage", ""))  # seconds
    minutes = [figure for figure in find_values(business, "/*/*/estimated_time_to_regain_access") if is_number(figure)]
    seconds = [figure for figure in find_values(account, "/reset_time_duration") if is_number(figure)]
    longest = max([60 * figure for figure in minutes] + seconds, default=0)
    if longest > 0:
        return float(longest)
    return DEFAULT_RETRY_DELAY if parse_retry_after(response.headers) is None else None


def build_validation_request(request: Request) -> Request:
    """Build the request that only validates a create: with validate_only Meta writes nothing and answers success."""
    return evolve(request, body={**request.body, "execution_options": ["validate_only"]})
