"""Names, limits and the demo accounts."""

from collections.abc import Mapping

from adsunify.sandbox.checks import text
from adsunify.sandbox.oauth import OAuthConfig
from adsunify.sandbox.world import Account

HOST, LOGIN_HOST = "api.northway.example", "login.northway.example"
API_HOSTS = (HOST,)
LOGIN = OAuthConfig(
    consent_pages=((LOGIN_HOST, "/oauth/authorize"),),
    required_scopes=("ads.read", "ads.write"),
    pkce="required",
    access_seconds=3600,
    rotates_refresh_tokens=True,
    has_basic_client=True,
    token_form={"code_verifier": text(43, 128)},
)
STATES = ("LIVE", "HELD", "ARCHIVED")
ID_PREFIXES: Mapping[str, str] = {"campaign": "cmp", "ad_set": "set", "ad": "ad"}
KINDS: Mapping[str, str] = {"campaigns": "campaign", "ad_sets": "ad_set", "ads": "ad"}
PARENT_MEMBERS: Mapping[str, str] = {"ad_set": "campaign_id", "ad": "ad_set_id"}
PARENT_KINDS: Mapping[str, str] = {"ad_set": "campaign", "ad": "ad_set"}
MIN_DAILY_BUDGET, MIN_TOTAL_BUDGET = 500, 2000
MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE = 100, 25
MAX_REPORT_DAYS, HISTORY_DAYS = 90, 730

ACCOUNTS = (
    Account("adv_81", "Garden Ltd", "EUR", "Europe/Berlin", {"state": "OPEN"}),
    Account("adv_82", "Niwa KK", "JPY", "Asia/Tokyo", {"state": "OPEN"}),
    Account("adv_83", "Yard Inc", "USD", "America/New_York", {"state": "OPEN"}),
    Account("adv_84", "Park Ltd", "GBP", "Europe/London", {"state": "REVIEW"}),
)
