"""What the suites look up of Snapchat."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from tests.networks.samples import LocationType, Samples, TokenRefusal


def add_next_page(answer: dict[str, Any], cursor: str) -> None:
    answer["paging"] = {"next_link": f"https://adsapi.snapchat.com/v1/?cursor={cursor}"}


def make_creative() -> dict[str, str]:
    """A creative of its own: Snapchat takes one only so often within a second."""
    return {"existingId": str(uuid4())}


SAMPLES = Samples(
    formats=frozenset({"existing_creative"}),
    goals=frozenset({"awareness"}),
    periods=frozenset({"daily", "lifetime"}),
    make_creative=make_creative,
    country_in_brief="{lower}",
    revocation=None,
    token_refusal=TokenRefusal(
        path="/adsapi.snapchat.com/v1/me/organizations",
        members={"request_status": "ERROR", "error_code": "E1101"},
        challenge='Bearer error="invalid_token"',
    ),
    native_amounts={
        "daily_budget_micro": "budget",
        "lifetime_budget_micro": "budget",
        "lifetime_spend_cap_micro": "spendCap",
        "bid_micro": "bid",
    },
    zero_amount=("adGroup", {"bid_micro": 0}, "bid_micro"),
    takes_micros_of_every_currency=True,
    targeting_change=("adGroup", {"locations": ["us:region:10150", "us:region:10151"], "genders": ["female"]}),
    targeting_places=("/adsquads/0/targeting",),
    location_types=(LocationType(level="adGroup", location="us:region:5", type="region", wrong_type="country"),),
    country_level="adGroup",
    country_in_edit="{lower}",
    catalog_suffixes=dict.fromkeys(("regions", "metros", "postal_codes", "interests"), "US"),
    first_write_path="/v1/adaccounts/*/campaigns",
    reads_before_changes=True,
    unknown_error={"request_status": "ERROR", "request_id": "?", "error_code": "E9999"},
    native_faults={"error_in_200": "rejected"},
    quiet_days="zeros",
    add_next_page=add_next_page,
    bid_strategy_without_limit=("adGroup", "AUTO_BID"),
    bid_removal=("adGroup", {"bid_strategy": "AUTO_BID", "bid_micro": None}),
)
