"""What the suites look up of ChatGPT ads."""

from __future__ import annotations

from typing import Any

from tests.networks.samples import LocationType, Samples, TokenRefusal


def add_next_page(answer: dict[str, Any], cursor: str) -> None:
    answer |= {"has_more": True, "last_id": cursor}


SAMPLES = Samples(
    formats=frozenset({"chat_card"}),
    goals=frozenset({"traffic", "awareness", "conversions"}),
    periods=frozenset({"lifetime"}),
    brief_members={"budget": {"amount": "600", "currency": "USD", "period": "lifetime"}},
    brief_values={"targeting.native": {"locations": {"countries": ["US"]}}},
    operation_mark="",
    credentials=(("apiKey",),),
    wrong_credentials={"apiKey": "mistaken"},
    revocation=None,
    token_refusal=TokenRefusal(
        path="/api.ads.openai.com/v1/ad_account",
        members={"error.type": "invalid_request_error", "error.code": "invalid_api_key", "error.param": None},
    ),
    refreshes_tokens=False,  # an API key
    key_refusal_path="/v1/",
    native_amounts={
        "daily_spend_limit_micros": "budget",
        "lifetime_spend_limit_micros": "budget",
        "max_bid_micros": "bid",
    },
    zero_amount=(
        "campaign",
        {"budget": {"lifetime_spend_limit_micros": 0}},
        "budget.lifetime_spend_limit_micros",
    ),
    takes_micros_of_every_currency=True,
    fields_of_several_units=frozenset({"bid"}),
    targeting_change=("campaign", {"locations": ["country:DE", "country:FR"]}),
    targeting_places=("/targeting",),
    location_types=(LocationType(level="campaign", location="US", type="country", wrong_type="city"),),
    country_level="campaign",
    country_in_edit="{country}",
    first_write_path="/v1/upload",
    unknown_error={"error": {"message": "?", "type": "nobody_knows", "param": None, "code": "nobody_knows"}},
    quiet_days="zero",
    add_next_page=add_next_page,
    bid_removal=("adGroup", {"bidding_config": {"billing_event_type": "click", "strategy": "maximize_clicks"}}),
)
