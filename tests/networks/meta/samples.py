"""What the suites look up of Meta."""

from __future__ import annotations

from typing import Any

from tests.networks.samples import LocationType, Revocation, Samples, TokenRefusal


def add_next_page(answer: dict[str, Any], cursor: str) -> None:
    answer["paging"] = {"cursors": {"after": cursor}, "next": f"https://graph.facebook.com/?after={cursor}"}


SAMPLES = Samples(
    formats=frozenset({"page_link_ad", "existing_creative"}),
    goals=frozenset({"traffic", "awareness", "conversions"}),
    periods=frozenset({"daily", "lifetime"}),
    country_in_brief="country:{country}",
    revocation=Revocation(method="DELETE", path="/me/permissions"),
    token_refusal=TokenRefusal(
        path="/graph.facebook.com/v26.0/me", members={"error.code": 190, "error.type": "OAuthException"}
    ),
    native_amounts={
        "daily_budget": "budget",
        "lifetime_budget": "budget",
        "spend_cap": "spendCap",
        "bid_amount": "bid",
    },
    zero_amount=("adGroup", {"daily_budget": 0}, "daily_budget"),
    targeting_change=(
        "adGroup",
        {"locations": ["country:US", "country:CA"], "devices": ["mobile"], "genders": ["female"]},
    ),
    targeting_places=("/targeting",),
    location_types=(LocationType(level="adGroup", location="country:US", type="country", wrong_type="city"),),
    country_level="adGroup",
    country_in_edit="country:{country}",
    first_write_path="/v26.0/act_1001/campaigns",
    unknown_error={"error": {"message": "?", "type": "OAuthException", "code": 987654}},
    quiet_days="zero",
    add_next_page=add_next_page,
    bid_strategy_without_limit=("adGroup", "LOWEST_COST_WITHOUT_CAP"),
    bid_removal=("campaign", {"bid_strategy": "LOWEST_COST_WITHOUT_CAP"}),
)
