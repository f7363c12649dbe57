"""Names, limits and the demo accounts."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import choice
from adsunify.sandbox.oauth import OAuthConfig
from adsunify.sandbox.parsing import parse_names, split_words
from adsunify.sandbox.world import Account

HOST, LOGIN_HOST = "ads-api.reddit.com", "www.reddit.com"
API_HOSTS, LOGIN_HOSTS = (HOST,), (LOGIN_HOST,)
READ_SCOPE, WRITE_SCOPE = "adsread", "adsedit"
LOGIN = OAuthConfig(
    consent_pages=((LOGIN_HOST, "/api/v1/authorize"),),
    required_scopes=(READ_SCOPE,),
    optional_scopes=(
        WRITE_SCOPE,
        "adsconversions",
        "adsdatadeletion",
        "adsleadgendownloader",
        "adsmeasurement:read",
        "adsmeasurement:write",
        "history",
        "read",
    ),
    scope_separator=",",
    pkce="refused",
    required_parameters={"duration": choice("permanent")},  # our choice: without it there is no refresh token
    access_seconds=86400,
    rotates_refresh_tokens=True,  # seen on some live accounts; the sandbox always rotates
    has_basic_client=True,
    token_members=("access_token", "token_type", "expires_in", "scope", "refresh_token"),
)
# Prefixes of the default User-Agents of libraries (the list is our choice).
GENERIC_AGENTS = ("python", "httpx", "aiohttp", "curl", "java", "okhttp", "go-http-client", "node", "axios", "mozilla")

STATUSES = ("ACTIVE", "ARCHIVED", "DELETED", "PAUSED")
EFFECTIVE_STATUSES = split_words("""
    ACTIVE PAUSED AD_GROUP_PAUSED CAMPAIGN_PAUSED ARCHIVED COMPLETED DELETED PENDING_APPROVAL PENDING_BILLING_INFO
    PENDING_ID_VERIFICATION REJECTED PROCESSING MISSING_PERMISSIONS INVALID_DATA_SOURCE
""")
OBJECTIVES = split_words("""
    APP_INSTALLS CATALOG_SALES CLICKS CONVERSIONS IMPRESSIONS LEAD_GENERATION VIDEO_VIEWABLE_IMPRESSIONS BRAND_AWARENESS
    SALES
""")
OPTIMIZATION_GOALS = split_words("""
    ADD_TO_CART ADD_TO_WISHLIST CLICKS LEAD PAGE_VISIT PURCHASE SEARCH SIGN_UP UNKNOWN VIEW_CONTENT LANDING_PAGE_VISIT
    VIDEO_VIEW_6S VIDEO_VIEW_15S MOBILE_CONVERSION_INSTALL MOBILE_CONVERSION_SIGN_UP MOBILE_CONVERSION_ADD_PAYMENT_INFO
    MOBILE_CONVERSION_ADD_TO_CART MOBILE_CONVERSION_PURCHASE MOBILE_CONVERSION_COMPLETED_TUTORIAL
    MOBILE_CONVERSION_LEVEL_ACHIEVED MOBILE_CONVERSION_SPEND_CREDITS MOBILE_CONVERSION_REINSTALL
    MOBILE_CONVERSION_UNLOCK_ACHIEVEMENT MOBILE_CONVERSION_START_TRIAL MOBILE_CONVERSION_SUBSCRIBE
    MOBILE_CONVERSION_ONBOARD_STARTED MOBILE_CONVERSION_FIRST_TIME_PURCHASE
""")
LANGUAGES: Mapping[str, str] = parse_names("""
    AR Arabic, CS Czech, DA Danish, DE German, EL Greek, EN English, ES Spanish, FI Finnish, FR French, HU Hungarian,
    IT Italian, JA Japanese, KO Korean, NL Dutch, NO Norwegian, PL Polish, PT Portuguese, RO Romanian, SV Swedish,
    VI Vietnamese, ZH Chinese
""")
PLATFORMS = ("ALL", "DESKTOP", "MOBILE_NATIVE", "MOBILE_WEB", "MOBILE_WEB_3X", "SHREDTOP")
VIEW_MODES = ("ALL", "CARD", "CLASSIC", "COMPACT", "IMMERSIVE")
POST_TYPES = ("CAROUSEL", "IMAGE", "TEXT", "VIDEO")
FUNDING_CURRENCIES = ("USD", "GBP", "CAD", "EUR", "AUD", "NZD", "SGD", "BRL")

MICROS = 1_000_000
MIN_NAME_LENGTH, MAX_NAME_LENGTH, MAX_URL_LENGTH = 3, 500, 5000
MIN_CPC_BID, MAX_CPC_BID = 3_500_000, 100 * MICROS  # the range of a CPC bid in USD
MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE, MAX_IDS = 1000, 100, 200

_HOME_BUSINESS, _AGENCY_BUSINESS = "3f0c9b52-0001-4f6e-9a51-c0ffee000001", "3f0c9b52-0002-4f6e-9a51-c0ffee000002"
# id, name, the accounts it owns, the accounts shared with it
BUSINESSES: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    (_HOME_BUSINESS, "Demo Home", ("a2_newyork1", "t2_tokyo1", "t2_adelaide1"), ("a2_dublin1",)),
    (_AGENCY_BUSINESS, "Demo Agency", ("a2_dublin1", "t2_london1"), ()),
)


def _make_account(
    native_id: str, name: str, currency: str, timezone: str | None, approval: str = "VALID", **more: Any
) -> Account:
    native: dict[str, Any] = {
        "id": native_id,
        "name": name,
        "business_id": next(business for business, _, owned, _ in BUSINESSES if native_id in owned),
        "currency": currency,
        "time_zone_id": timezone,
        "type": "SELF_SERVE",
        "admin_approval": approval,
        "suspension_reason": None,
        "attribution_type": "ALL_CONVERSION",
        "click_attribution_window": "MONTH",
        "view_attribution_window": "DAY",
        "created_at": "2023-05-02T09:00:00Z",
        "modified_at": "2026-01-02T10:00:00Z",
        **more,
    }
    return Account(native_id, name, currency, timezone or "Etc/UTC", {"native": native})


ACCOUNTS = (
    _make_account("a2_newyork1", "Demo New York", "USD", "America/New_York", type="MANAGED"),
    _make_account("t2_tokyo1", "Demo Tokyo", "JPY", "Asia/Tokyo", "TRUSTED"),
    _make_account("t2_adelaide1", "Demo Adelaide", "AUD", "Australia/Adelaide"),
    _make_account("a2_dublin1", "Demo Dublin", "EUR", None),  # the time zone of an account may be null
    _make_account("t2_london1", "Demo London", "GBP", "Europe/London", "SUSPENDED", suspension_reason="FRAUD"),
)
WRITABLE_APPROVALS = ("VALID", "TRUSTED", "ADMIN")
