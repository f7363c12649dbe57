"""What the suites look up of Pinterest."""

from __future__ import annotations

from typing import Any

from tests.networks.samples import LocationType, Revocation, Samples, TokenRefusal


def add_next_page(answer: dict[str, Any], cursor: str) -> None:
    answer["bookmark"] = cursor


SAMPLES = Samples(
    formats=frozenset({"image_pin", "existing_pin"}),
    goals=frozenset({"traffic", "awareness"}),
    periods=frozenset({"daily", "lifetime"}),
    unsupported_platform_member="pageId",
    country_in_brief="{country}",
    # tokens of system users end; one of a user runs out
    revocation=Revocation(method="POST", path="/oauth/token/revoke", ends_tokens=False),
    token_refusal=TokenRefusal(
        path="/api.pinterest.com/v5/ad_accounts", members={"code": 2, "message": "Authentication failed."}
    ),
    native_amounts={
        "daily_spend_cap": "budget",
        "lifetime_spend_cap": "budget",
        "budget_in_micro_currency": "budget",
        "bid_in_micro_currency": "bid",
    },
    zero_amount=("adGroup", {"bid_in_micro_currency": 0}, "bid_in_micro_currency"),
    takes_micros_of_every_currency=True,
    targeting_change=("adGroup", {"locations": ["GB", "US-CA"], "genders": ["female"]}),
    targeting_places=("/0/targeting_spec",),
    location_types=(LocationType(level="adGroup", location="US-CA", type="region", wrong_type="country"),),
    country_level="adGroup",
    country_in_edit="{country}",
    first_write_path="/v5/pins",
    unknown_error={"code": 987654, "message": "?"},
    quiet_days="gap",
    add_next_page=add_next_page,
    bid_strategy_without_limit=("adGroup", "AUTOMATIC_BID"),
    bid_removal=("adGroup", {"bid_strategy_type": "AUTOMATIC_BID"}),
)
