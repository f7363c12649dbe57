"""Hosts, enumerations, limits and the demo accounts."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.oauth import OAuthConfig
from adsunify.sandbox.parsing import split_words
from adsunify.sandbox.world import Account

API_HOSTS = ("adsapi.snapchat.com",)
ACCOUNTS_HOST = "accounts.snapchat.com"
# the documentation does not name the download host: this one is our choice
STORAGE_HOST = "storage.googleapis.com"
# samples show other hosts in next_link: a client that follows it unchanged fails
NEXT_LINK_HOST = "adsapi-internal.snapchat.example"

LOGIN = OAuthConfig(
    consent_pages=((ACCOUNTS_HOST, "/login/oauth2/authorize"),),
    required_scopes=("snapchat-marketing-api",),
    optional_scopes=("snapchat-offline-conversions-api", "snapchat-profile-api"),
    pkce="refused",
    access_seconds=3600,
    refresh_seconds=None,
    # Snap Marketing API: refresh tokens may rotate. Here they always do, and the old one expires immediately.
    rotates_refresh_tokens=True,
    token_type="Bearer",
    token_members=("access_token", "token_type", "expires_in", "refresh_token", "scope"),
)

STATUSES = ("ACTIVE", "PAUSED")
OBJECTIVES = ("AWARENESS_AND_ENGAGEMENT", "TRAFFIC", "SALES", "LEADS", "APP_PROMOTION")
PROMOTIONS = ("APP_INSTALL", "APP_REENGAGEMENT", "PROMOTE_PLACES", "PROMOTE_SHOWS")
CONVERSION_LOCATIONS = ("APP", "CALL", "LEAD_FORM", "PUBLIC_PROFILE", "TEXT", "WEB")
LEGACY_OBJECTIVES = split_words("""
    BRAND_AWARENESS APP_CONVERSION APP_INSTALL CATALOG_SALES ENGAGEMENT LEAD_GENERATION VIDEO_VIEW WEB_CONVERSION
    PROMOTE_STORIES PROMOTE_PLACES
""")
# The optimization goals of an objective. The documentation has variants of every objective but the first; the goals of
# all variants are joined here.
GOALS_BY_OBJECTIVE: Mapping[str, tuple[str, ...]] = {
    "AWARENESS_AND_ENGAGEMENT": ("IMPRESSIONS", "SWIPES", "STORY_OPENS", "USES", "VIDEO_VIEWS", "VIDEO_VIEWS_15_SEC"),
    "TRAFFIC": ("SWIPES", "PIXEL_PAGE_VIEW", "LANDING_PAGE_VIEW"),
    "LEADS": ("SWIPES", "LEAD_FORM_SUBMISSIONS"),
    "SALES": split_words("""
        SWIPES STORY_OPENS PIXEL_PURCHASE PIXEL_SIGNUP PIXEL_ADD_TO_CART PIXEL_PAGE_VIEW LANDING_PAGE_VIEW
    """),
    "APP_PROMOTION": ("IMPRESSIONS", "SWIPES", "APP_INSTALLS", "APP_PURCHASE", "APP_SIGNUP", "APP_ADD_TO_CART"),
}
ALL_GOALS = split_words("""
    IMPRESSIONS SWIPES APP_INSTALLS VIDEO_VIEWS VIDEO_VIEWS_15_SEC USES STORY_OPENS PIXEL_PAGE_VIEW PIXEL_ADD_TO_CART
    LANDING_PAGE_VIEW LEAD_FORM_SUBMISSIONS PIXEL_PURCHASE PIXEL_SIGNUP APP_ADD_TO_CART APP_PURCHASE APP_SIGNUP
    APP_REENGAGE_OPEN APP_REENGAGE_PURCHASE
""")
BID_STRATEGIES = ("AUTO_BID", "LOWEST_COST_WITH_MAX_BID", "TARGET_COST")
POSITIONS = split_words("""
    INTERSTITIAL_USER INTERSTITIAL_CONTENT INTERSTITIAL_SPOTLIGHT INSTREAM PUBLIC_STORIES_INSTREAM CHAT_FEED FEED CAMERA
    POST_CAPTURE_CAROUSEL
""")
AD_TYPES = split_words("""
    SNAP_AD APP_INSTALL REMOTE_WEBPAGE DEEP_LINK STORY AD_TO_LENS AD_TO_CALL AD_TO_MESSAGE FILTER LENS LENS_WEB_VIEW
    LENS_APP_INSTALL LENS_DEEP_LINK COLLECTION LEAD_GENERATION REMINDER
""")
# The ad type of a creative type, if the names differ. PREVIEW has none.
AD_TYPE_BY_CREATIVE_TYPE: Mapping[str, str] = {"WEB_VIEW": "REMOTE_WEBPAGE", "COMPOSITE": "STORY"}
CREATIVE_TYPES = split_words("""
    SNAP_AD APP_INSTALL WEB_VIEW DEEP_LINK AD_TO_LENS AD_TO_CALL AD_TO_MESSAGE PREVIEW COMPOSITE LENS LENS_WEB_VIEW
    LENS_APP_INSTALL LENS_DEEP_LINK COLLECTION LEAD_GENERATION REMINDER
""")

MICROS = 1_000_000
MIN_DAILY_BUDGET, MIN_LIFETIME_BUDGET, MIN_SPEND_CAP = 5 * MICROS, 5 * MICROS, 20 * MICROS  # the second is our choice
MAX_NAME_LENGTH, MAX_HEADLINE_LENGTH, MAX_BRAND_LENGTH = 375, 34, 32
MAX_BATCH_SIZES = {"campaigns": 30, "adsquads": 30, "ads": 30, "creatives": 10}
MIN_PAGE_SIZE, MAX_PAGE_SIZE = 50, 1000

ORGANIZATIONS = (
    ("99999999-aaaa-4bbb-8ccc-000000000001", "Demo Organization"),
    ("99999999-aaaa-4bbb-8ccc-000000000002", "Demo Partner Organization"),
)
USER = {
    "id": "88888888-aaaa-4bbb-8ccc-000000000001",
    "email": "demo@tea.example",
    "display_name": "Demo Tea",
    "organization_id": ORGANIZATIONS[0][0],
}


def _make_account(
    last: int,
    name: str,
    currency: str,
    timezone: str,
    organization: int = 0,
    *,
    writes: bool = True,
    signals: bool = False,
) -> Account:
    """`writes`: whether the member has a role other than `reports`."""
    native: dict[str, Any] = {
        "id": f"11111111-aaaa-4bbb-8ccc-{last:012}",
        "updated_at": "2026-01-02T10:00:00.000Z",
        "created_at": "2024-01-02T10:00:00.000Z",
        "name": name,
        "type": "DIRECT" if writes else "PARTNER",
        "status": "ACTIVE",
        "organization_id": ORGANIZATIONS[organization][0],
        "funding_source_ids": [f"77777777-aaaa-4bbb-8ccc-{last:012}"],
        "currency": currency,
        "timezone": timezone,
        "advertiser": name,
        "billing_type": "REVOLVING" if writes else "IO",
        "regulations": {"restricted_delivery_signals": signals},
    }
    return Account(native["id"], name, currency, timezone, {"native": native, "writes": writes})


ACCOUNTS = (
    _make_account(1, "Demo New York", "USD", "America/New_York"),
    _make_account(2, "Demo Tokyo", "JPY", "Asia/Tokyo"),
    _make_account(3, "Demo Berlin", "EUR", "Europe/Berlin", signals=True),
    _make_account(4, "Demo London", "GBP", "Europe/London", 1, writes=False),
)
