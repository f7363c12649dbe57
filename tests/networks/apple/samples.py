"""What the suites look up of Apple Ads."""

from __future__ import annotations

from typing import Any

from tests.networks.samples import LocationType, Samples, TokenRefusal


def add_next_page(answer: dict[str, Any], cursor: str) -> None:
    answer |= {"result": [{"id": 1}], "pagination": {"totalCount": 1_000_000}}


SAMPLES = Samples(
    formats=frozenset({"custom_product_page"}),
    goals=frozenset({"app_installs"}),
    periods=frozenset({"daily"}),
    unsupported_goal="traffic",
    brief_values={
        "targeting.locationIds": ["AdminArea:20039"],
        "targeting.native": {"countryOrRegion": {"include": ["US"]}},
    },
    credentials=(("clientId", "teamId", "keyId", "privateKey"),),
    wrong_credentials={"keyId": "mistaken"},
    revocation=None,
    token_refusal=TokenRefusal(
        path="/api.ads.apple.com/v1/me", members={"error.code": "unauthorized", "error.details": []}
    ),
    key_refusal_path="/auth/oauth2/token",
    native_amounts={"dailyBudget": "budget"},
    zero_amount=(
        "campaign",
        {"dailyBudget": {"value": {"amount": "0", "currency": "USD"}}},
        "dailyBudget.value.amount",
    ),
    targeting_change=("campaign", {"locations": ["US", "CA"]}),
    targeting_places=("/targeting", "/0/targeting"),
    location_types=(
        LocationType(level="campaign", location="US", type="country", wrong_type="AdminArea"),
        LocationType(level="adGroup", location="Locality:20041", type="Locality", wrong_type="AdminArea"),
    ),
    country_level="campaign",
    country_in_edit="{country}",
    catalog_suffixes={
        "locations": "US",
        **dict.fromkeys(("product_pages", "app", "eligibility", "keywords"), "1440000001"),
    },
    first_write_path="/v1/campaigns",
    # Without a result it would refuse a bulk request as a whole. Only keywords are written in bulk.
    unknown_error={"error": {"code": "NOBODY_KNOWS", "message": "?", "details": []}, "result": []},
    counts_pages=True,
    quiet_days="gap",
    add_next_page=add_next_page,
    bid_strategy_without_limit=("campaign", "MAX_CONVERSIONS"),
    bid_removal=("campaign", {"bidStrategy": {"bidStrategyType": "MAX_CONVERSIONS", "bidStrategyGoal": "INSTALL"}}),
)
