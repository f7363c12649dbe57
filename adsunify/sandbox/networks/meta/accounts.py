"""The demo accounts: native facts of each."""

from typing import Any

from adsunify.sandbox.world import Account

# Minor units per major unit of the currencies that the demo accounts use.
MINOR_UNITS_PER_MAJOR = {"USD": 100, "JPY": 1, "EUR": 100, "GBP": 100}
# The least bid: per 1 000 impressions, and per occurrence: 2 and 1 US cents or equivalent.
MIN_BIDS = {"USD": (2, 1), "JPY": (3, 2), "EUR": (2, 1), "GBP": (2, 1)}


def _make_account(
    digits: str, name: str, currency: str, timezone: str, least: int, *, status: int = 1, dsa: str | None, clicks: bool
) -> Account:
    native: dict[str, Any] = {
        "account_status": status,
        "disable_reason": 0,
        "min_daily_budget": least,
        # Meta Marketing API: accounts have a floor for a campaign's spend cap; the amount is our choice: undocumented
        "min_campaign_group_spend_cap": str(100 * least),
        "amount_spent": "0",
        "balance": "0",
        "spend_cap": "0",
        "business": {"id": f"55{digits}", "name": f"{name} Business"},
    }
    if dsa is not None:  # an account without the settings lacks these members: empty fields are left out
        native |= {"default_dsa_beneficiary": dsa, "default_dsa_payor": dsa}
    return Account(f"act_{digits}", name, currency, timezone, {"native": native, "click_billing": clicks})


ACCOUNTS = (
    _make_account("1001", "Demo New York", "USD", "America/New_York", 100, dsa="Demo Tea Inc.", clicks=True),
    _make_account("2002", "Demo Tokyo", "JPY", "Asia/Tokyo", 100, dsa="Demo Tea KK", clicks=True),
    _make_account("7007", "Demo Berlin", "EUR", "Europe/Berlin", 100, dsa="Demo Tea GmbH", clicks=True),
    # a new account in its grace period: no click billing yet, nothing set for the EU
    _make_account("3003", "Demo London", "GBP", "Europe/London", 80, status=9, dsa=None, clicks=False),
)
