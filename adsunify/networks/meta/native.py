"""Meta's own words: addresses, enums, names; and how it says amounts, errors, waits, instants and pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache

from adsunify.adapter.network import Account, Found, Unit, currency_of, is_number, words
from adsunify.errors import InvalidInput, ProviderError, refused
from adsunify.http.messages import Request, Response
from adsunify.values.dates import instant, utc_text
from adsunify.values.exact_json import Json, loads
from adsunify.values.json_pointer import found_at, need, read, rows, text

VERSION = "v26.0"
HOST = "graph.facebook.com"
CONSENT_HOST = "www.facebook.com"
GRAPH = f"https://{HOST}/{VERSION}"
CONSENT = f"https://{CONSENT_HOST}/{VERSION}/dialog/oauth"
PAGE = 100

ACTIVE, PAUSED, ARCHIVED, DELETED = "ACTIVE", "PAUSED", "ARCHIVED", "DELETED"
BORN = (ACTIVE, PAUSED)  # Marketing API: a create accepts no other status, at every level
UNCAPPED, BID_CAP, COST_CAP = "LOWEST_COST_WITHOUT_CAP", "LOWEST_COST_WITH_BID_CAP", "COST_CAP"
ROAS_FLOOR = "LOWEST_COST_WITH_MIN_ROAS"
STRATEGIES = (UNCAPPED, BID_CAP, COST_CAP, ROAS_FLOOR)
CAPPED = (BID_CAP, COST_CAP)  # these need a bid_amount
CALL_TO_ACTION = "LEARN_MORE"
AUCTION = "AUCTION"
NO_CATEGORY = "NONE"
WORLDWIDE = "worldwide"
NO_END = 0  # Marketing API, ad set: end_time 0 runs on
KEEP_AUDIENCE = 0  # targeting_automation.advantage_audience: 1 would let Meta widen the targeting
ROAS_SCALE = 10_000  # bid_constraints.roas_average_floor counts ten-thousandths
NAME_LENGTH = 400  # (unverified)
INVALID = "100"  # the code of a refused parameter or field
_OF_NODE = re.compile(r"nonexisting field \([^()]{0,200}\) on node type \((\w{1,100})\)")
FIRST_WAIT = 60.0  # seconds, where a rate error comes without a figure

SCOPES = (
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
# Without OTHER: it needs a custom_event_str, which a brief has no member for.
CONVERSION_EVENTS = words(
    "PURCHASE ADD_TO_CART ADD_TO_WISHLIST ADD_PAYMENT_INFO INITIATED_CHECKOUT COMPLETE_REGISTRATION LEAD CONTENT_VIEW"
    " SEARCH CONTACT CUSTOMIZE_PRODUCT DONATE FIND_LOCATION SCHEDULE START_TRIAL SUBMIT_APPLICATION SUBSCRIBE"
)
EU = frozenset(words("AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE"))
EU_TERRITORIES = frozenset(words("AX GF GP MQ RE YT MF"))  # (unverified) more may be associated
DSA = {"defaultDsaBeneficiary": "dsa_beneficiary", "defaultDsaPayor": "dsa_payor"}  # account extra to parameter
CITY_RADIUS = (17, 80)  # (unverified) kilometers
GENDERS = {"male": 1, "female": 2}
DEVICES = ("mobile", "desktop")
PLACEMENTS = ("facebook", "instagram", "audience_network", "messenger", "threads")

OFFSETS = {  # native units to one major unit; Marketing API "Currency codes"
    100: """
        ARS AUD BDT BGN BHD BOB BRL CAD CHF CNY CZK DKK DZD EGP EUR GBP GTQ HKD HNL HRK ILS INR JOD KES LTL
        LVL MOP MXN MYR NGN NIO NOK NZD PEN PHP PKR PLN QAR RON RSD RUB SAR SEK SGD SKK THB TRY USD ZAR
    """,
    1: "CLP COP CRC HUF IDR ISK JPY KRW PYG TWD",
}
UNSEEN_OFFSETS = {100: "AED LKR UAH UYU", 1: "VND"}  # (unverified) not in that table

# The names that a write may carry: those of the reference without execution_options (validate_only would write nothing
# and answer success) and date_format (removed in v26.0).
_CAMPAIGN = frozenset(
    words("""
    adlabels bid_strategy budget_schedule_specs buying_type daily_budget frequency_control_specs
    is_adset_budget_sharing_enabled is_budget_schedule_enabled is_direct_send_campaign is_message_campaign
    is_meta_moment_maker_enabled is_pca_unified is_reels_trending_ads_enabled is_skadnetwork_attribution
    iterative_split_test_configs lifetime_budget name objective pacing_type promoted_object smart_promotion_type
    source_campaign_id special_ad_categories special_ad_category_country spend_cap start_time status stop_time
    topline_id
    """)
)
_AD_SET = frozenset(
    words("""
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
_AD = frozenset(
    words("""
    ad_schedule_end_time ad_schedule_start_time adlabels adset_id adset_spec audience_id bid_amount
    conversion_domain creative creative_asset_groups_spec creative_audience_pairing_persona creative_automation_spec
    dataset_split_specs display_sequence draft_adgroup_id engagement_audience include_demolink_hashes name priority
    source_ad_id status tracking_specs
    """)
)
CREATE_NAMES = {"campaign": _CAMPAIGN, "adGroup": _AD_SET, "ad": _AD}
UPDATE_NAMES = {
    "campaign": _CAMPAIGN.difference(words("buying_type source_campaign_id topline_id")).union(
        words("adset_bid_amounts adset_budgets budget_rebalance_flag migrate_to_advantage_plus special_ad_category")
    ),
    "adGroup": _AD_SET.difference(
        words("attribution_count_type budget_source budget_split_set_id campaign_id is_dynamic_creative line_number"),
        words("source_adset_id topline_id"),
    ).union(["account_id"]),
    "ad": _AD.difference(words("adset_id dataset_split_specs source_ad_id")),
}
# Amounts: whether one is raised is known only where it was read before.
MONEY_NAMES = frozenset(
    words("""
    daily_budget lifetime_budget bid_amount bid_constraints spend_cap daily_spend_cap lifetime_spend_cap
    daily_min_spend_target lifetime_min_spend_target adset_budgets adset_bid_amounts
    """)
)
TARGETING_NAMES = frozenset(
    words("""
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

_OFFSET = {code: offset for offset, codes in OFFSETS.items() for code in codes.split()}
_UNSEEN = {code: offset for offset, codes in UNSEEN_OFFSETS.items() for code in codes.split()}


def unit(account: Account) -> Unit:
    """The minor unit that Meta counts the account's currency in; InvalidInput for a currency of neither table."""
    return _unit(currency_of(account))


@cache
def _unit(currency: str) -> Unit:
    if currency in _OFFSET:
        return Unit(_OFFSET[currency])
    if currency in _UNSEEN:
        offset = _UNSEEN[currency]
        return Unit(
            offset, assumed=f"Meta's currency table was not seen to hold {currency}: {offset} to one is assumed."
        )
    raise refused("account.currency", "currency_not_supported", f"Meta has no minor unit for {currency}.")


def native_time(moment: datetime) -> str:
    """An instant as Meta takes it."""
    return utc_text(moment, "offset")


def moment(value: Json) -> datetime | None:
    """An instant as Meta writes it (in the account's zone, with its offset), None where it is none."""
    try:
        return instant(value) if isinstance(value, str) else None
    except InvalidInput:
        return None


# -- requests -----------------------------------------------------------------------------------------------------


def node(entity_id: str, fields: str) -> Request:
    """A read of one object; without fields Meta answers its id only."""
    return Request("GET", f"{GRAPH}/{{id}}", {"id": entity_id}, {"fields": fields})


def edge(owner: str, name: str, query: Mapping[str, str]) -> Request:
    """A read of a list that hangs on an object."""
    return Request("GET", f"{GRAPH}/{{owner}}/{name}", {"owner": owner}, query)


def paged(fields: str, limit: int, cursor: str | None) -> dict[str, str]:
    """The query of a list."""
    return {"fields": fields, "limit": str(limit)} | ({} if cursor is None else {"after": cursor})


# -- answers ------------------------------------------------------------------------------------------------------

OWNER = "account_id"


def owner(entity: Mapping[str, Json]) -> str | None:
    """The account that an entity says it is of, as accounts are named."""
    digits = text(entity, f"/{OWNER}")
    return None if digits is None else f"act_{digits}"


def of_another_node(problem: ProviderError, node_type: str) -> bool:
    """Whether a read was refused because the id is a node's of another type: it has not all of the fields."""
    said = _OF_NODE.search(problem.native.message or "")
    return problem.native.code == INVALID and said is not None and said[1] != node_type


def listed(response: Response) -> list[Mapping[str, Json]]:
    """The rows of a list. An empty list has its ``data`` too (Graph API): without it the answer is unreadable."""
    need(response.body, "/data")
    return rows(response.body, "/data")


def next_cursor(response: Response) -> str | None:
    """The cursor of the next page. ``paging.next`` itself carries the token and is never followed."""
    return text(response.body, "/paging/cursors/after") if read(response.body, "/paging/next") else None


ADVICE = {"100/2446404": "The account may not be billed by link clicks yet: prepare the brief again without a bid."}
TRANSIENT = "transient"


def error(response: Response) -> Found | None:
    """The native error: codes ``code/subcode``, ``code``, and ``transient`` where Meta says so."""
    headers = response.headers
    request_id = headers.get("x-fb-trace-id") or headers.get("x-fb-request-id")
    native = read(response.body, "/error") if response.state == "json" else None
    if not isinstance(native, Mapping):
        return Found(request_id=request_id) if response.status >= 400 else None
    code, subcode = text(native, "/code"), text(native, "/error_subcode")
    codes = [f"{code}/{subcode}"] if code and subcode else []
    codes += [code] if code else []
    codes += [TRANSIENT] if native.get("is_transient") is True else []
    said = [text(native, f"/{name}") for name in ("message", "error_user_title", "error_user_msg")]
    said += [_blamed(native), *(ADVICE.get(one) for one in codes)]
    message = ""
    for one in said:
        message += f" {one}" if one and one not in message else ""
    return Found(tuple(codes), message.strip() or None, text(native, "/fbtrace_id") or request_id)


def _blamed(native: Mapping[str, Json]) -> str | None:
    """The parameters that an error blames; ``error_data`` may be an object or the JSON text of one."""
    data = native.get("error_data")
    if isinstance(data, str):
        data = _json(data)
    fields = [path for path in found_at(data, "/blame_field_specs/*/*") if isinstance(path, str)]
    return f"({', '.join(fields)})" if fields else None


def _json(written: str) -> Json:
    try:
        return loads(written)
    except ValueError:
        return None


def wait(response: Response) -> float | None:
    """Seconds until the account may go on, from the usage headers."""
    business = _json(response.headers.get("x-business-use-case-usage", ""))  # minutes
    account = _json(response.headers.get("x-ad-account-usage", ""))  # seconds
    minutes = [figure for figure in found_at(business, "/*/*/estimated_time_to_regain_access") if is_number(figure)]
    seconds = [figure for figure in found_at(account, "/reset_time_duration") if is_number(figure)]
    longest = max([60 * figure for figure in minutes] + seconds, default=0)
    if longest > 0:
        return float(longest)
    return None if "retry-after" in response.headers else FIRST_WAIT
