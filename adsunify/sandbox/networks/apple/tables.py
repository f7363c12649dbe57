"""Hosts, enumerations, limits and the demo accounts."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.oauth import OAuthConfig
from adsunify.sandbox.parsing import split_words
from adsunify.sandbox.world import Account

API_HOSTS = ("api.ads.apple.com",)
TOKEN_HOST = "appleid.apple.com"

# The log-in has no consent page and no refresh token. The key pair belongs to the demo and protects nothing.
LOGIN = OAuthConfig(
    consent_pages=(),
    access_seconds=3600,
    issues_refresh_tokens=False,
    token_type="Bearer",
    token_members=("access_token", "token_type", "expires_in", "scope"),
)
SCOPE = "searchadsorg"
AUDIENCE = "https://appleid.apple.com"
CLIENT_ID = "SEARCHADS.sandbox-apple"
TEAM_ID = "SEARCHADS.sandbox-team"
KEY_ID = "sandbox-key"
PRIVATE_KEY = """-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYWRzdW5pZnkgc2Fu
ZGJveCBrZXkgb2Ygbm8gdmFsdWWhRANCAAT0S388m4eNA+993L836BtcmJ4fvX9l
tcvTi452qyxkDCUBklawaRVvXQvTqaPhenWz+uB9eUVxrRFbGpJ8SgZl
-----END PRIVATE KEY-----
"""
PUBLIC_KEY = b"""-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE9Et/PJuHjQPvfdy/N+gbXJieH71/
ZbXL04uOdqssZAwlAZJWsGkVb10L06mj4Xp1s/rgfXlFca0RWxqSfEoGZQ==
-----END PUBLIC KEY-----
"""
MAX_SECRET_DAYS = 180

STATUSES = ("ENABLED", "PAUSED")
APP_PROMOTION, BRAND_PROMOTION = "APPSTORE_APP", "BUSINESS_BRAND"
BILLING_EVENTS = ("TAPS", "IMPRESSIONS")
PRICING_MODELS = ("CPT", "CPM", "CPA")
# By bid strategy: the goal, and the types that it can promote.
BID_STRATEGIES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "MANUAL_CPT": ("TAP", (APP_PROMOTION, BRAND_PROMOTION)),
    "MAX_CONVERSIONS": ("INSTALL", (APP_PROMOTION,)),
    "MAX_ENGAGEMENTS": ("TAP", (BRAND_PROMOTION,)),
    "MANUAL_CPM": ("IMPRESSION", (BRAND_PROMOTION,)),
}
BID_GOALS = ("TAP", "INSTALL", "IMPRESSION")
SUPPLY_SOURCES: Mapping[str, str] = {APP_PROMOTION: "APPSTORE", BRAND_PROMOTION: "MAPS"}
SUPPLY_PLACEMENTS: Mapping[str, tuple[str, ...]] = {
    APP_PROMOTION: ("APPSTORE_SEARCH_RESULTS", "APPSTORE_SEARCH_TAB", "APPSTORE_TODAY_TAB", "APPSTORE_PRODUCT_PAGES"),
    BRAND_PROMOTION: ("MAPS_SEARCH_RESULTS", "MAPS_SEARCH_HOME"),
}
MATCH_TYPES: Mapping[str, tuple[str, ...]] = {
    APP_PROMOTION: ("EXACT", "BROAD"),
    BRAND_PROMOTION: ("PHRASE", "CATEGORY"),
}
CREATIVE_TYPES = ("DEFAULT_PRODUCT_PAGE", "CUSTOM_PRODUCT_PAGE", "LOCAL_ADS_SEARCH_CREATIVE")
DESTINATIONS = ("APP_STORE_PRODUCT_PAGE", "LOCAL_ADS_PLACECARD")
CUSTOM_PRODUCT_PAGE = "CUSTOM_PRODUCT_PAGE"
# Currencies without minor units. The documentation names only this one.
ZERO_DECIMAL_CURRENCIES = ("JPY",)
MAX_NAME_LENGTH, MAX_KEYWORD_LENGTH = 200, 80
# documented for campaigns, our choice for other lists; larger values are reduced to it (our choice)
MAX_PAGE_SIZE = 1000
DEFAULT_PAGE_SIZE = 20  # our choice: undocumented
MAX_BULK_ITEMS = 1000  # our choice: the documentation names none
DEFAULT_REPORT_PAGE_SIZE, MAX_REPORT_PAGE_SIZE = 100, 5000
DEMO_APP = "1440000001"
STOREFRONTS = split_words("""
    AE AR AT AU BE BG BR CA CH CL CN CO CZ DE DK EE EG ES FI FR GB GR HK HR HU ID IE IL IN IS IT JP KE KR LT LU LV MT MX
    MY NG NL NO NZ PE PH PK PL PT QA RO SA SE SG SI SK TH TR TW UA US UY VN ZA
""")

ORGANIZATION = {"id": 40669820, "name": "Demo Organization"}
USER = {"userId": 90001, "orgId": ORGANIZATION["id"]}


def _make_account(
    native_id: int,
    name: str,
    currency: str,
    timezone: str,
    *,
    payment: str = "PAYG",
    features: tuple[str, ...] = ("APPSTORE_APP_MANUAL",),
) -> Account:
    provider = {"resourceId": f"cp-{native_id}", "resourceType": "CONTENT_PROVIDER", "resourceName": f"{name} Apps"}
    native: dict[str, Any] = {
        "id": native_id,
        "name": name,
        "orgId": ORGANIZATION["id"],
        "timezone": timezone,
        "currency": currency,
        "paymentModel": payment,
        "systemStatus": "ACTIVE",
        "systemStatusReasons": [],
        "productFeatures": list(features),
        "delegations": [provider] if "APPSTORE_APP_MANUAL" in features else [],
    }
    return Account(str(native_id), name, currency, timezone, {"native": native})


# 7001 is the ad account of the documented example. The last two cannot run the unified format: one pays by invoice, the
# other is for Maps only.
ACCOUNTS = (
    _make_account(7002, "Demo New York", "USD", "America/New_York"),
    _make_account(7003, "Demo Tokyo", "JPY", "Asia/Tokyo"),
    _make_account(7001, "Demo Berlin", "EUR", "Europe/Berlin"),
    _make_account(7004, "Demo Invoice", "GBP", "Europe/London", payment="LOC"),
    _make_account(7005, "Demo Maps", "USD", "America/Los_Angeles", features=("BUSINESS_BRAND_MANUAL",)),
)
