"""The tables of the simulated X Ads network: hosts, enums, limits, error codes, metrics, demo accounts."""

from collections.abc import Mapping

from attrs import frozen

from adsunify.sandbox.oauth import OAuthConfig
from adsunify.sandbox.parsing import split_words
from adsunify.sandbox.world import Account

HOST = "ads-api.x.com"
LOGIN_HOST = "api.x.com"
DOWNLOAD_HOST = "ton.twimg.com"

# access tokens do not expire and cannot be refreshed; the user's id is before the dash
USER_ID, SCREEN_NAME = "1730999", "sandbox_x"
LOGIN = OAuthConfig(
    consent_pages=((LOGIN_HOST, "/oauth/authorize"),),
    access_seconds=None,
    issues_refresh_tokens=False,
    access_prefix=f"{USER_ID}-",
)

# digits after the point; amounts are micros of the currency
CURRENCY_DECIMALS = {"VND": 0, "KRW": 0, "CLP": 0, "JPY": 0, "KWD": 3, "IQD": 3, "BHD": 3, "TND": 3}
MICROS = 1_000_000


def get_smallest_amount(currency: str) -> int:
    """The smallest amount of a currency in micros: every amount is a multiple of it."""
    return MICROS // (1, 10, 100, 1_000)[CURRENCY_DECIMALS.get(currency, 2)]


@frozen
class FundingInstrument:
    """A funding instrument of a fresh world. `problem`: the reason why it cannot fund, or None."""

    id: str
    type: str
    description: str
    currency: str
    problem: str | None = None


def _make_account(
    native_id: str,
    name: str,
    currency: str,
    timezone: str,
    *instruments: FundingInstrument,
    permissions: tuple[str, ...] = ("ACCOUNT_ADMIN", "TWEET_COMPOSER"),
) -> Account:
    return Account(native_id, name, currency, timezone, {"instruments": instruments, "permissions": permissions})


# The account object has no currency: the first instrument that can fund has it.
ACCOUNTS = (
    _make_account(
        "18ce54d4x5t",
        "Demo Outdoor US",
        "USD",
        "America/New_York",
        FundingInstrument("k9x2", "CREDIT_CARD", "Visa ending in 4242", "USD"),
    ),
    _make_account(
        "18ce55gkc1j",
        "Demo Outdoor JP",
        "JPY",
        "Asia/Tokyo",
        FundingInstrument("m4jp7", "CREDIT_LINE", "Credit line Tokyo", "JPY"),
    ),
    _make_account(
        "18ce55pq2eu",
        "Demo Agency EU",
        "EUR",
        "Europe/Berlin",
        FundingInstrument("g7bp1", "CREDIT_CARD", "Expired card in pounds", "GBP", "EXPIRED"),
        FundingInstrument("e2ur5", "CREDIT_LINE", "Credit line Berlin", "EUR"),
        FundingInstrument("a3cl9", "AGENCY_CREDIT_LINE", "Agency line, daily budgets only", "EUR"),
    ),
    _make_account(
        "18ce55vw9gb",
        "Demo Analyst GB",
        "GBP",
        "Europe/London",
        FundingInstrument("l5gb3", "INSERTION_ORDER", "Order 7781", "GBP"),
        permissions=("CAMPAIGN_ANALYST",),
    ),
)
WRITER_PERMISSIONS = frozenset({"ACCOUNT_ADMIN", "AD_MANAGER"})
DAILY_BUDGET_ONLY_TYPE = "AGENCY_CREDIT_LINE"  # some types require a daily budget; the list is our choice

# The posts with these ids belong to promotable users. Every other id of digits is a post of the account's full user.
FULL_USER, REPOSTS_USER = "756201191646691328", "2417045708"
REPOSTED_POST = "1880000000000000002"  # a post of REPOSTS_USER
HIDDEN_REPOST = "1880000000000990017"  # X promotes posts of REPOSTS_USER as hidden reposts
POST_WITHOUT_LINK = "1880000000000000003"  # without website card and link: not for WEBSITE_CLICKS
POSTS: Mapping[str, tuple[str, str]] = {
    "1880000000000000001": (FULL_USER, "Winter sale: ski boots from 89. https://shop.example/boots"),
    REPOSTED_POST: (REPOSTS_USER, "We wear these all winter. https://shop.example/boots"),
    POST_WITHOUT_LINK: (FULL_USER, "Snow is coming."),
}

MAX_CAMPAIGNS_PER_ACCOUNT = 8_000  # 200 by default, up to 8,000 on request: these accounts have 8,000
MAX_LINE_ITEMS_PER_CAMPAIGN = 100
MAX_JOBS_IN_PROGRESS = 100
MAX_FILTER_IDS = 200  # ids of a filter

STATUSES = ("ACTIVE", "PAUSED", "DRAFT")
# objective -> its goals, the default first. The documentation gives those of WEBSITE_CLICKS; the others are our choice.
GOALS: Mapping[str, tuple[str, ...]] = {
    "WEBSITE_CLICKS": ("LINK_CLICKS", "SITE_VISITS", "WEBSITE_CONVERSIONS"),
    "REACH": ("MAX_REACH", "REACH_WITH_ENGAGEMENT"),
    "ENGAGEMENTS": ("ENGAGEMENT",),
    "FOLLOWERS": ("FOLLOWERS",),
    "VIDEO_VIEWS": ("VIDEO_VIEW", "VIEW_3S_100PCT", "VIEW_6S", "VIEW_15S"),
    "PREROLL_VIEWS": ("PREROLL", "PREROLL_STARTS"),
    "APP_INSTALLS": ("APP_CLICKS", "APP_INSTALLS", "APP_PURCHASES"),
    "APP_ENGAGEMENTS": ("APP_CLICKS",),
}
ALL_GOALS = tuple(goal for goals in GOALS.values() for goal in goals)
OBJECTIVES_WITHOUT_MAX_BID = frozenset({"REACH", "FOLLOWERS"})  # they refuse the bid strategy MAX
# they accept frequency caps
FREQUENCY_CAP_OBJECTIVES = frozenset({"REACH", "ENGAGEMENTS", "VIDEO_VIEWS", "PREROLL_VIEWS"})
BID_STRATEGIES = ("AUTO", "MAX", "TARGET")
PAY_BY_OPTIONS = ("APP_CLICK", "IMPRESSION", "LINK_CLICK")
AUDIENCE_EXPANSIONS = ("BROAD", "DEFINED", "EXPANDED")
PLACEMENTS: Mapping[str, tuple[str, ...]] = {
    "PROMOTED_TWEETS": split_words("""
        ALL_ON_TWITTER PUBLISHER_NETWORK TAP_BANNER TAP_FULL TAP_FULL_LANDSCAPE TAP_NATIVE TAP_MRECT TWITTER_PROFILE
        TWITTER_REPLIES TWITTER_SEARCH TWITTER_TIMELINE
    """),
    "PROMOTED_ACCOUNT": ("ALL_ON_TWITTER", "TWITTER_TIMELINE"),
    "MEDIA": ("ALL_ON_TWITTER", "PUBLISHER_NETWORK"),
}
ALL_PLACEMENTS = PLACEMENTS["PROMOTED_TWEETS"]

OPERATORS = ("EQ", "NE", "GTE", "LT")
AGES = split_words("""
    AGE_13_TO_24 AGE_13_TO_34 AGE_13_TO_49 AGE_13_TO_54 AGE_OVER_13 AGE_18_TO_34 AGE_18_TO_49 AGE_18_TO_54 AGE_OVER_18
    AGE_21_TO_34 AGE_21_TO_49 AGE_21_TO_54 AGE_OVER_21 AGE_25_TO_49 AGE_25_TO_54 AGE_OVER_25 AGE_35_TO_49 AGE_35_TO_54
    AGE_OVER_35 AGE_OVER_50
""")
# targeting type -> pattern of its values (where none is documented, anything printable)
TARGETING_VALUE_PATTERNS: Mapping[str, str] = {
    **dict.fromkeys(
        split_words("""
            DEVICE EVENT CAMPAIGN_ENGAGEMENT CAMPAIGN_ENGAGEMENT_LOOKALIKE CONVERSATION ENGAGEMENT_TYPE
            FOLLOWERS_OF_USER INTEREST LIVE_TV_EVENT NETWORK_ACTIVATION_DURATION NETWORK_OPERATOR PLATFORM_VERSION
            SIMILAR_TO_FOLLOWERS_OF_USER TV_SHOW USER_ENGAGEMENT USER_ENGAGEMENT_LOOKALIKE WIFI_ONLY CUSTOM_AUDIENCE
            CUSTOM_AUDIENCE_EXPANDED APP_STORE_CATEGORY APP_STORE_CATEGORY_LOOKALIKE APP_LIST
        """),
        r"\S+",
    ),
    **dict.fromkeys(("BROAD_KEYWORD", "EXACT_KEYWORD", "PHRASE_KEYWORD", "UNORDERED_KEYWORD"), r"\S(.*\S)?"),
    "LOCATION": "[0-9a-f]{16}",
    "LANGUAGE": "[a-z]{2}(-[a-z]{2})?",
    "GENDER": "[12]",
    "PLATFORM": "[0-4]",
    "AGE": "|".join(AGES),
}
KEYWORD_TYPES = frozenset({"BROAD_KEYWORD", "EXACT_KEYWORD", "PHRASE_KEYWORD", "UNORDERED_KEYWORD"})
# the maximum number of criteria of these types per line item
MAX_CRITERIA: tuple[tuple[frozenset[str], int], ...] = (
    (frozenset({"LOCATION"}), 2_000),
    (KEYWORD_TYPES, 1_000),
    (frozenset({"INTEREST"}), 100),
    (frozenset({"AGE"}), 1),
    (frozenset({"EVENT"}), 1),
)

METRICS: Mapping[str, tuple[str, ...]] = {
    "ENGAGEMENT": split_words("""
        engagements impressions retweets replies likes follows card_engagements clicks app_clicks url_clicks
        qualified_impressions carousel_swipes
    """),
    "BILLING": ("billed_engagements", "billed_charge_local_micro"),
    "VIDEO": split_words("""
        video_total_views video_views_25 video_views_50 video_views_75 video_views_100 video_cta_clicks
        video_content_starts video_3s100pct_views video_6s_views video_15s_views
    """),
    "WEB_CONVERSION": split_words("""
        conversion_purchases conversion_sign_ups conversion_site_visits conversion_downloads conversion_custom
        conversion_add_to_carts conversion_checkouts_initiated conversion_content_views
        conversion_payment_info_additions conversion_add_to_wishlists conversion_searches conversion_landing_page_views
        conversion_subscriptions
    """),
    "MOBILE_CONVERSION": ("mobile_conversion_installs", "mobile_conversion_re_engages"),
    "LIFE_TIME_VALUE_MOBILE_CONVERSION": ("mobile_conversion_lifetime_value_purchases",),
}
CONVERSION_PARTS = split_words("""
    metric post_view post_engagement assisted order_quantity order_quantity_view order_quantity_engagement sale_amount
    sale_amount_view sale_amount_engagement
""")

# the error table: code -> HTTP status
STATUS_BY_CODE: Mapping[str, int] = {
    **dict.fromkeys(
        split_words("""
            INVALID_PARAMETER MISSING_PARAMETER EXCLUSIVE_PARAMETERS INCLUSIVE_PARAMETERS INVALID_DENOMINATION
            INVALID_TWEET INVALID_TIME_WINDOW INVALID_FUNDING_INSTRUMENT INVALID_TARGETING_TYPE TOO_MANY_CAMPAIGNS
            TOO_MANY_LINE_ITEMS REQUEST_TOO_COMPLEX
        """),
        400,
    ),
    "UNAUTHORIZED_ACCESS": 401,
    **dict.fromkeys(("READONLY_CLIENT_APPLICATION", "ACTION_NOT_ALLOWED", "ACCOUNT_NOT_FOUND"), 403),
    **dict.fromkeys(
        split_words("""
            CAMPAIGN_NOT_FOUND LINE_ITEM_NOT_FOUND PROMOTED_TWEET_NOT_FOUND TARGETING_CRITERION_NOT_FOUND
            FUNDING_INSTRUMENT_NOT_FOUND TWEET_NOT_FOUND PROMOTABLE_USER_NOT_FOUND NOT_FOUND ROUTE_NOT_FOUND
        """),
        404,
    ),
    "METHOD_NOT_ALLOWED": 405,
    "CANCELLED_REQUEST": 408,
    "LOCK_ACQUISITION_TIMEOUT": 423,
    "TOO_MANY_REQUESTS": 429,
    "INTERNAL_ERROR": 500,
    "SERVICE_UNAVAILABLE": 503,
}
