"""The demo accounts and their currencies."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from attrs import frozen

from adsunify.sandbox.world import Account


@frozen
class Currency:
    """`usd_ratio` scales floors and caps, which are in US dollars; `decimals` counts digits after the point."""

    usd_ratio: int
    decimals: int

    @property
    def min_ad_group_budget(self) -> Decimal:
        """The minimum daily budget of an ad group, in major units."""
        return Decimal(20 * self.usd_ratio)

    @property
    def min_campaign_budget(self) -> Decimal:
        """The minimum budget of a campaign, in major units."""
        return Decimal(50 * self.usd_ratio)

    @property
    def max_daily_budget(self) -> Decimal:
        """The exclusive upper limit of a daily budget, in major units."""
        return Decimal(10_000_000 * self.usd_ratio)


CURRENCIES: Mapping[str, Currency] = {"USD": Currency(1, 2), "JPY": Currency(100, 0), "EUR": Currency(1, 2)}


def _make_account(
    digits: str,
    name: str,
    currency: str,
    timezone: str,
    country: str,
    *,
    native_timezone: str | None = None,
    status: str = "STATUS_ENABLE",
    custom_identity: bool = True,
    ads_only: bool = False,
    quiet_days: bool = False,
) -> Account:
    native: dict[str, Any] = {
        "advertiser_id": digits,
        "name": name,
        "currency": currency,
        "timezone": native_timezone or timezone,
        "display_timezone": timezone,
        "status": status,
        "role": "ROLE_ADVERTISER",
        "country": country,
        "company": f"{name} Company",
        "balance": Decimal(5000),
        "owner_bc_id": BUSINESS_CENTER,
        "advertiser_account_type": "AUCTION",
        "can_use_custom_identity": custom_identity,
        "ads_only_mode": ads_only,
    }
    return Account(digits, name, currency, timezone, {"native": native, "quiet_days": quiet_days})


BUSINESS_CENTER = "7077770001"
TOKYO_ACCOUNT, BERLIN_ACCOUNT, LEGACY_ACCOUNT = "7011113333", "7011114444", "7011115555"
ACCOUNTS = (
    _make_account("7011112222", "Demo New York", "USD", "America/New_York", "US", native_timezone="Etc/GMT+5"),
    _make_account(TOKYO_ACCOUNT, "Demo Tokyo", "JPY", "Asia/Tokyo", "JP"),
    # no more custom identities, dark posts only, and days without any delivery
    _make_account(
        BERLIN_ACCOUNT,
        "Demo Berlin",
        "EUR",
        "Europe/Berlin",
        "DE",
        custom_identity=False,
        ads_only=True,
        quiet_days=True,
    ),
    # it cannot serve now, and has a campaign of the old Smart+
    _make_account(LEGACY_ACCOUNT, "Demo Chicago", "USD", "America/Chicago", "US", status="STATUS_LIMIT"),
)
