"""The tables of the simulated Amazon Ads network: hosts, media types, marketplaces, demo profiles, limits."""

from collections.abc import Mapping
from decimal import Decimal

from attrs import frozen

from adsunify.sandbox.checks import text
from adsunify.sandbox.oauth import OAuthConfig
from adsunify.sandbox.world import Account

# a profile is reachable only at the host of its region
REGION_BY_HOST = {
    "advertising-api.amazon.com": "NA",
    "advertising-api-eu.amazon.com": "EU",
    "advertising-api-fe.amazon.com": "FE",
}
HOSTS = tuple(REGION_BY_HOST)
STORAGE_HOST = "offline-report-storage-us-east-1-prod.s3.amazonaws.com"  # our choice: none is documented
TOKEN_HOSTS = ("api.amazon.com", "api.amazon.co.uk", "api.amazon.co.jp")
CLIENT_HEADER = "Amazon-Advertising-API-ClientId"
SCOPE_HEADER = "Amazon-Advertising-API-Scope"

# codes are valid once, for 5 minutes; refresh tokens do not expire or rotate; the prefix is part of a token
LOGIN = OAuthConfig(
    consent_pages=(
        ("www.amazon.com", "/ap/oa"),
        ("eu.account.amazon.com", "/ap/oa"),
        ("apac.account.amazon.com", "/ap/oa"),
    ),
    required_scopes=("advertising::campaign_management",),
    optional_scopes=("advertising::test:create_account",),
    pkce="optional",
    code_seconds=300,
    access_seconds=3600,
    access_prefix="Atza|",
    refresh_prefix="Atzr|",
    token_form={"code_verifier": text(43, 128)},
)

PORTFOLIO_MEDIA_TYPE = "application/vnd.spPortfolio.v3+json"
USAGE_MEDIA_TYPE = "application/vnd.spcampaignbudgetusage.v1+json"
RECOMMENDATION_MEDIA_TYPE = "application/vnd.spkeywordsrecommendation.v5+json"
METADATA_REQUEST_MEDIA_TYPE = "application/vnd.productmetadatarequest.v1+json"
METADATA_RESPONSE_MEDIA_TYPE = "application/vnd.productmetadataresponse.v1+json"
REPORT_MEDIA_TYPE = "application/vnd.createasyncreportrequest.v3+json"


@frozen
class Marketplace:
    """Limits of one marketplace in major units (marketplace limits); `places`: digits after the point.

    `locale`: the one foreign language in which keywords may be given (description of nativeLanguageLocale), if any.
    """

    id: str
    bid_limits: tuple[Decimal, Decimal]
    budget_limits: tuple[Decimal, Decimal]
    decimals: int
    locale: str | None = None


MARKETPLACES: Mapping[str, Marketplace] = {
    "US": Marketplace("ATVPDKIKX0DER", (Decimal("0.02"), Decimal(1000)), (Decimal(1), Decimal(1_000_000)), 2, "zh_CN"),
    "DE": Marketplace("A1PA6795UKMFR9", (Decimal("0.02"), Decimal(1000)), (Decimal(1), Decimal(1_000_000)), 2, "en_GB"),
    "JP": Marketplace("A1VC38T7YXB528", (Decimal(2), Decimal(100_000)), (Decimal(100), Decimal(21_000_000)), 0),
}

# One profile per region. The seller of JP has no `accountInfo.name` (may be missing for sellers), and its id does not
# fit into a binary double: a client that reads the 64-bit integer as a double gets another id.
ACCOUNTS = (
    Account(
        "3301234567890121",
        "Demo Seller US",
        "USD",
        "America/Los_Angeles",
        {"region": "NA", "type": "seller", "country": "US", "native": "A2DEMOSELLERUS", "named": True},
    ),
    Account(
        "3301234567890122",
        "Demo Vendor DE",
        "EUR",
        "Europe/Paris",
        {"region": "EU", "type": "vendor", "country": "DE", "native": "ENTITYDEMOVENDORDE", "named": True},
    ),
    Account(
        "9123456789012345",
        "Demo Seller JP",
        "JPY",
        "Asia/Tokyo",
        {"region": "FE", "type": "seller", "country": "JP", "native": "A2DEMOSELLERJP", "named": False},
    ),
)

MAX_NAME_LENGTH = {"seller": 128, "vendor": 116}  # campaign names
MAX_AD_GROUP_NAME_LENGTH = 255
MAX_KEYWORD_LENGTH, MAX_KEYWORD_WORDS = 80, 10
MAX_ITEMS = 1000  # in one request array, and on one page
# The documentation lists the signs and says "selected ranges" of scripts; the exact code points are our choice: Latin-1
# and Extended-A letters, kana, kanji with their iteration mark, Devanagari, Tamil, Arabic.
NAME_CHARACTER_CLASS = (
    r"A-Za-z0-9 \-$\"'&()*+,./:;=?|"
    r"\u00C0-\u017F\u3005\u3040-\u30FF\u4E00-\u9FFF\u0900-\u097F\u0B80-\u0BFF\u0600-\u06FF"
)
