"""The tables of the simulated OpenAI Advertiser API."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from adsunify.sandbox.world import Account

HOST = "api.ads.openai.com"
API_HOSTS = (HOST,)

# By path word: the kind of the object, and the prefix of the ids.
KIND_BY_COLLECTION: Mapping[str, str] = {"campaigns": "campaign", "ad_groups": "ad_group", "ads": "ad"}
ID_PREFIXES: Mapping[str, str] = {"campaign": "cmpn_", "ad_group": "adgrp_", "ad": "ad_", "file": "file_"}
PARENT_KINDS: Mapping[str, str] = {"ad_group": "campaign", "ad": "ad_group"}
PARENT_ID_MEMBERS: Mapping[str, str] = {"ad_group": "campaign_id", "ad": "ad_group_id"}
LEVELS = ("ad_account", "campaign", "ad_group", "ad")
MAX_OBJECTS_PER_KIND = 5000

MICROS = 1_000_000
MIN_BUDGET = 1_000_000
BIDDING_TYPES = ("impressions", "clicks", "conversions")
# By bidding type: the billing event, and the strategy besides fixed_bid (that a maximizing strategy belongs to one
# bidding type is our choice).
BILLING_BY_BIDDING_TYPE: Mapping[str, str] = {"impressions": "impression", "clicks": "click", "conversions": "click"}
BIDDING_TYPE_BY_STRATEGY: Mapping[str, str] = {"maximize_clicks": "clicks", "maximize_conversions": "conversions"}
BID_STRATEGIES = ("fixed_bid", *BIDDING_TYPE_BY_STRATEGY)
PLATFORMS = ("android_app", "android_web", "desktop_web", "ios_app", "ios_web", "web")


@frozen
class CurrencyLimits:
    """Amounts that depend on the currency, in micros: documented for USD (10000), our choice for the others."""

    smallest_unit: int
    min_daily_budget: int
    max_bid: int
    approximate_dollar: int


CURRENCIES: Mapping[str, CurrencyLimits] = {
    "USD": CurrencyLimits(10_000, 5 * MICROS, 100 * MICROS, MICROS),
    "EUR": CurrencyLimits(10_000, 5 * MICROS, 100 * MICROS, MICROS),
    "JPY": CurrencyLimits(MICROS, 500 * MICROS, 10_000 * MICROS, 100 * MICROS),
}


def _make_account(key: str, native: Mapping[str, Any], *, conversions: bool = True, pixels: bool = True) -> Account:
    """`conversions`: whether conversion bidding is enabled there; `pixels`: whether sources can be listed."""
    extra = {"native": dict(native), "key": key, "conversions": conversions, "pixels": pixels}
    return Account(native["id"], native["name"], native["currency_code"], native["timezone"], extra)


_APPROVED_REVIEW = {"status": "approved"}
ACCOUNTS = (
    _make_account(
        "sandbox-chatgpt-key",
        {
            "id": "adacct_1",
            "name": "Demo Tea Ltd",
            "legal_name": "Demo Tea Ltd",
            "account_name": "Demo New York",
            "brand_name": "Demo Tea",
            "url": "https://demo.example",
            "preview_url": None,
            "status": "active",
            "timezone": "America/New_York",
            "currency_code": "USD",
            "review": _APPROVED_REVIEW,
            "account_integrity_review": {"review": _APPROVED_REVIEW},
        },
    ),
    _make_account(
        "sandbox-chatgpt-key-tokyo",
        {
            "id": "adacct_2",
            "name": "Demo Tea KK",
            "legal_name": "Demo Tea KK",
            "account_name": "Demo Tokyo",
            "brand_name": "Demo Tea",
            "url": "https://demo.example/jp",
            "preview_url": None,
            "status": "active",
            "timezone": "Asia/Tokyo",
            "currency_code": "JPY",
            "review": _APPROVED_REVIEW,
        },
        pixels=False,
    ),
    # On this account all optional members are absent, and nothing is approved yet.
    _make_account(
        "sandbox-chatgpt-key-paris",
        {
            "id": "adacct_3",
            "name": "Demo Paris",
            "url": "https://demo.example/fr",
            "preview_url": None,
            "timezone": "Europe/Paris",
            "currency_code": "EUR",
            "review": {"status": "in_review", "reason": "missing_favicon"},
        },
        conversions=False,
    ),
)
KEYS: Mapping[str, Account] = {account.extra["key"]: account for account in ACCOUNTS}
KEY_WITHOUT_ACCESS = "sandbox-chatgpt-key-without-access"

# id -> type, country, region, parent, name, canonical name. The form of the ids is our choice.
PLACES: Mapping[str, tuple[str, str, str | None, str | None, str, str]] = {
    "geo_us": ("country", "US", None, None, "United States", "United States"),
    "geo_us_ny": ("region", "US", "NY", "geo_us", "New York", "New York, United States"),
    "geo_us_ca": ("region", "US", "CA", "geo_us", "California", "California, United States"),
    "geo_us_501": ("dma", "US", "NY", "geo_us_ny", "New York", "New York Market, United States"),
    "geo_us_10001": ("postal_code", "US", "NY", "geo_us_ny", "10001", "10001, New York, United States"),
    "geo_jp": ("country", "JP", None, None, "Japan", "Japan"),
    "geo_jp_13": ("region", "JP", "13", "geo_jp", "Tokyo", "Tokyo, Japan"),
    "geo_fr": ("country", "FR", None, None, "France", "France"),
    "geo_fr_idf": ("region", "FR", "IDF", "geo_fr", "Ile-de-France", "Ile-de-France, France"),
    "geo_fr_ara": ("region", "FR", "ARA", "geo_fr", "Auvergne-Rhone-Alpes", "Auvergne-Rhone-Alpes, France"),
    "geo_gb": ("country", "GB", None, None, "United Kingdom", "United Kingdom"),
    "geo_de": ("country", "DE", None, None, "Germany", "Germany"),
}
# The event settings of every account: id without the number of the account, name, type, custom name, archived, linked.
EVENT_SETTINGS: tuple[tuple[str, str, str, str | None, bool, bool], ...] = (
    ("ces_50", "Purchases", "order_created", None, False, True),
    ("ces_lead", "Leads", "lead_created", None, False, True),
    ("ces_archived", "Old purchases", "order_created", None, True, True),
    ("ces_custom", "Tasting booked", "custom", "tasting_booked", False, True),
    ("ces_unlinked", "Registrations", "registration_completed", None, False, False),
)
# The audiences of every account: id without the number of the account, name, status.
AUDIENCES: tuple[tuple[str, str, str], ...] = (
    ("caud_buyers", "Buyers", "ready"),
    ("caud_visitors", "Visitors of the shop", "ready"),
    ("caud_new", "Uploaded today", "processing"),
)
INTENDED_USES = ("inclusion", "exclusion", "bid_multiplier")
