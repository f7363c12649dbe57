"""The tables of Outbrain's Amplify API: host, enumerations, limits, currencies, demo marketers."""

from collections.abc import Mapping
from decimal import Decimal
from zoneinfo import ZoneInfo

from adsunify.sandbox.oauth import OAuthConfig
from adsunify.sandbox.parsing import split_words
from adsunify.sandbox.world import Account

HOST = "api.outbrain.com"
API_HOSTS = (HOST,)
BASE_PATH = "/amplify/v0.1"
EASTERN_TIMEZONE = ZoneInfo("America/New_York")  # of all times and report days

# Not OAuth: a user name and a password give a token of 30 days, which cannot be refreshed or revoked.
LOGIN = OAuthConfig(consent_pages=(), access_seconds=30 * 24 * 3600, issues_refresh_tokens=False)
USER_NAME, PASSWORD = "sandbox-outbrain", "sandbox-secret"
TOKEN_HEADER = "OB-TOKEN-V1"

BUDGET_TYPES = ("CAMPAIGN", "MONTHLY", "DAILY")
PACINGS = ("SPEND_ASAP", "AUTOMATIC", "DAILY_TARGET")
OPTIMIZATIONS_BY_OBJECTIVE: Mapping[str, tuple[str, ...]] = {
    "Awareness": ("TRAFFIC",),
    "Traffic": ("TRAFFIC",),
    "Conversions": (
        "CPC",
        "MAX_CONVERSION_FULLY_AUTOMATED",
        "TARGET_CPA_FULLY_AUTOMATED",
        "TARGET_ROAS_FULLY_AUTOMATED",
    ),
    "AppInstalls": (
        "CPC",
        "MAX_CONVERSION_FULLY_AUTOMATED",
        "TARGET_CPA_FULLY_AUTOMATED",
        "TARGET_ROAS_FULLY_AUTOMATED",
    ),
}
CREATIVE_FORMATS = ("Standard", "AppInstall", "Carousel", "Clip")
PLATFORMS = ("DESKTOP", "MOBILE", "TABLET")
OPERATING_SYSTEMS = ("Ios", "MacOs", "Android", "Windows")
BROWSERS = split_words("""
    Safari Opera Chrome UCBrowser InApp Samsung Firefox InternetExplorer Edge Other
""")
ON_AIR_TYPES = ("Scheduled", "StartHour")
PLAY_MODES = ("Once", "Loop")
CROP_TYPES = ("Fill", "Blur", "DominantColor")
CAMPAIGN_EXTRA_FIELDS = split_words("""
    CustomAudience Locations InterestsTargeting BidBySections BlockedSites PlatformTargeting CampaignOptimization
    Scheduling IABCategories CampaignPixels NetworkTargeting VolumeControl
""")
LINK_EXTRA_FIELDS = ("ImageURL", "ImageMetaData", "LogoMetaData")
MAX_NAME_LENGTH = 100
MIN_MONTHLY_DAYS = 30  # the documented monthly minimum, 750, is 30 times the daily one, 25
MAX_CAMPAIGNS_PER_READ, MAX_CAMPAIGNS_PER_WRITE, MAX_LINKS_PER_WRITE = 50, 25, 500
DEFAULT_CAMPAIGN_PAGE_SIZE, MAX_CAMPAIGN_PAGE_SIZE = 25, 50
# our choice: clients use 50 to 100, the reference names no maximum
DEFAULT_LINK_PAGE_SIZE, MAX_LINK_PAGE_SIZE = 25, 100
DEFAULT_REPORT_PAGE_SIZE, MAX_REPORT_PAGE_SIZE, MAX_CONTENT_PAGE_SIZE, MAX_REPORT_YEARS = 10, 500, 1000, 3

# code: name, minimumCpc, maximumCpc, minimumCampaignBudget. The documentation has EUR and the floor of USD; the rest is
# our choice: undocumented
CURRENCIES: Mapping[str, tuple[str, Decimal, Decimal, Decimal]] = {
    "USD": ("US Dollar", Decimal("0.03"), Decimal(10), Decimal(25)),
    "EUR": ("Euro", Decimal("0.02"), Decimal(2), Decimal(22)),
    "GBP": ("British Pound", Decimal("0.02"), Decimal(5), Decimal(20)),
    "JPY": ("Japanese Yen", Decimal(3), Decimal(1000), Decimal(2500)),
}
# Digits after the point; for JPY the documentation has no statement: whole yen (our choice).
CURRENCY_DECIMALS: Mapping[str, int] = {"USD": 2, "EUR": 2, "GBP": 2, "JPY": 0}


def _make_marketer(last: int, name: str, currency: str, *, enabled: bool = True, new: bool = False) -> Account:
    """`new`: a marketer without any budget, whose currency cannot be read."""
    return Account(f"00{last:032x}", name, currency, "America/New_York", {"enabled": enabled, "new": new})


ACCOUNTS = (
    _make_marketer(1, "Demo New York", "USD"),
    _make_marketer(2, "Demo Tokyo", "JPY"),
    _make_marketer(3, "Demo Berlin", "EUR"),
    _make_marketer(4, "Demo Newcomer", "GBP", enabled=False, new=True),
)
