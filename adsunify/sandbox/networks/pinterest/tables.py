"""Hosts, enumerations, limits and the demo accounts."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import choice, text
from adsunify.sandbox.oauth import OAuthConfig
from adsunify.sandbox.parsing import parse_names, split_words
from adsunify.sandbox.world import Account

API_HOSTS = ("api.pinterest.com",)
CONSENT_HOST = "www.pinterest.com"
# Pinterest API v5 does not name the host of report files: this one is our choice
STORAGE_HOST = "pinterest-reports.s3.us-east-1.amazonaws.com"

SCOPES = ("ads:read", "ads:write", "boards:read", "boards:write", "pins:read", "pins:write", "user_accounts:read")
SECRET_SCOPES = ("boards:read_secret", "boards:write_secret", "pins:read_secret", "pins:write_secret")
DAY_SECONDS = 86400
LOGIN = OAuthConfig(
    consent_pages=((CONSENT_HOST, "/oauth/"),),
    required_scopes=SCOPES,
    optional_scopes=SECRET_SCOPES,
    scope_separator=",",
    pkce="refused",  # Pinterest API v5 documents no PKCE
    code_seconds=600,
    access_seconds=30 * DAY_SECONDS,
    refresh_seconds=60 * DAY_SECONDS,
    # Pinterest API v5: a response has a new refresh_token. That the old one expires immediately is our choice.
    rotates_refresh_tokens=True,
    access_prefix="pina_",
    refresh_prefix="pinr_",
    has_basic_client=True,
    # Apps created before 2025-09-25 need continuous_refresh. This app is younger, so nothing depends on it.
    token_form={"continuous_refresh": choice("true", "false")},
    refresh_form={"scope": text()},
    # The separator of the scopes in a token response (a blank) is our choice.
    token_members=("access_token", "token_type", "expires_in", "scope", "refresh_token"),
)

STATUSES = ("ACTIVE", "PAUSED", "ARCHIVED", "DRAFT", "DELETED_DRAFT")
# The objectives of the create model of 5.28; reads also have LEADS, VIDEO_VIEW, WEB_SESSIONS.
OBJECTIVES = split_words("""
    AWARENESS CONSIDERATION VIDEO_COMPLETION SALES WEB_CONVERSION CATALOG_SALES APP_INSTALL CTV_CONSIDERATION
""")
ENDING_OBJECTIVES = ("WEB_CONVERSION", "CATALOG_SALES")  # creation ends 2027-02-01
# Objectives with the budget on the campaign, and their billable events (the third follows from its name: no event is
# documented for it).
CAMPAIGN_BUDGET_OBJECTIVES = ("AWARENESS", "CONSIDERATION")
BILLABLE_EVENTS: Mapping[str, str] = {
    "AWARENESS": "IMPRESSION",
    "CONSIDERATION": "CLICKTHROUGH",
    "VIDEO_COMPLETION": "VIDEO_V_50_MRC",
}
CREATIVE_TYPES = split_words("""
    REGULAR VIDEO SHOPPING CAROUSEL MAX_VIDEO SHOP_THE_PIN COLLECTION IDEA SHOWCASE QUIZ COLLAGE
    MAX_WIDTH_REGULAR_COLLECTION MAX_WIDTH_VIDEO_COLLECTION APP
""")
MATCH_TYPES = ("BROAD", "PHRASE", "EXACT", "EXACT_NEGATIVE", "PHRASE_NEGATIVE")
WRITER_ROLES = ("OWNER", "ADMIN", "CAMPAIGN_MANAGER")
MAX_ITEMS_PER_WRITE, MAX_IDS, MAX_AD_GROUPS = 30, 250, 70
MICROS = 1_000_000
# Least bid in micros. The documentation gives 100000 for USD and no table, so the others are our choice.
BID_FLOORS = {"JPY": 1_000_000}
DEFAULT_BID_FLOOR = 100_000

# Countries in which ads are sold, with their currency. Pinterest API v5 does not list them: this is a sample.
_COUNTRIES = parse_names("""
    US United States of America/Dollars, CA Canada/Dollars, GB United Kingdom/Pounds, IE Ireland/Euros,
    AU Australia/Dollars, NZ New Zealand/Dollars, FR France/Euros, DE Germany/Euros, AT Austria/Euros,
    CH Switzerland/Francs, BE Belgium/Euros, NL Netherlands/Euros, LU Luxembourg/Euros, ES Spain/Euros,
    PT Portugal/Euros, IT Italy/Euros, MT Malta/Euros, GR Greece/Euros, CY Cyprus/Euros, SE Sweden/Kronor,
    DK Denmark/Kroner, NO Norway/Kroner, FI Finland/Euros, PL Poland/Zloty, CZ Czechia/Koruny, SK Slovakia/Euros,
    HU Hungary/Forint, RO Romania/Lei, BR Brazil/Reais, MX Mexico/Pesos, AR Argentina/Pesos, CL Chile/Pesos,
    CO Colombia/Pesos, JP Japan/Yen, KR South Korea/Won, SG Singapore/Dollars, IL Israel/Shekels, TR Turkey/Lira,
    IN India/Rupees
""")
COUNTRIES = tuple((code, *entry.split("/")) for code, entry in _COUNTRIES.items())

USER = {"id": "745627482937465001", "username": "demotea"}  # the person who consents


def _make_account(
    last: int,
    name: str,
    currency: str,
    timezone: str | None,
    country: str,
    owner: str,
    roles: tuple[str, ...],
    *,
    zone_reports: bool = True,
) -> Account:
    """`zone_reports`: whether reports accept AD_ACCOUNT_TIME_ZONE (formerly a closed beta)."""
    own = owner == USER["username"]
    native: dict[str, Any] = {
        "id": str(549755885170 + last),
        "name": name,
        "owner": {"username": owner, "id": USER["id"] if own else f"74562748293746500{last}"},
        "country": country,
        "currency": currency,
        "permissions": list(roles),
        "created_time": 1_600_000_000 + last,
        "updated_time": 1_700_000_000 + last,
    }
    if timezone is not None:
        native["time_zone"] = timezone
    return Account(native["id"], name, currency, timezone or "UTC", {"native": native, "zone_reports": zone_reports})


ACCOUNTS = (
    _make_account(5, "Demo New York", "USD", "America/New_York", "US", "demotea", ("OWNER",)),
    _make_account(6, "Demo Tokyo", "JPY", "Asia/Tokyo", "JP", "teatokyo", ("ANALYST", "CAMPAIGN_MANAGER")),
    _make_account(7, "Demo Berlin", "EUR", "Europe/Berlin", "DE", "demotea", ("OWNER", "ADMIN"), zone_reports=False),
    _make_account(8, "Demo London", "GBP", None, "GB", "tealondon", ("ANALYST", "FINANCE_VIEW")),
    _make_account(9, "Demo Nowhere", "UNK", "America/New_York", "US", "demotea", ("OWNER",)),
)
