"""What the suites look up of Reddit."""

from __future__ import annotations

from typing import Any

from tests.networks.samples import Revocation, Samples, TokenRefusal


def add_next_page(answer: dict[str, Any], cursor: str) -> None:
    answer["pagination"] = {"next_url": f"https://ads-api.reddit.com/api/v3/campaigns?page.token={cursor}"}


SAMPLES = Samples(
    formats=frozenset({"existing_post"}),
    goals=frozenset({"traffic"}),
    periods=frozenset({"daily"}),
    brief_values={"creative.existingId": "t3_abc123", "targeting.native": {"geolocations": ["US"]}},
    revocation=Revocation(method="POST", path="/api/v1/revoke_token"),
    token_refusal=TokenRefusal(
        path="/ads-api.reddit.com/api/v3/me/businesses",
        members={"error.code": 401, "error.message": "Unauthorized"},
    ),
    native_amounts={"goal_value": "budget", "spend_cap": "spendCap", "bid_value": "bid"},
    zero_amount=("adGroup", {"goal_value": 0}, "goal_value"),
    takes_micros_of_every_currency=True,
    targeting_change=("adGroup", {"locations": ["US-VA", "US-NY"], "languages": ["EN", "DE"]}),
    targeting_places=("/data/targeting",),
    odd_ids=frozenset({("ad", "act_1001"), ("ad", "me")}),
    first_write_path="/api/v3/ad_accounts/*/campaigns",
    unknown_error={"error": {"code": 987654, "message": "?"}},
    quiet_days="zero",
    add_next_page=add_next_page,
    bid_strategy_without_limit=("adGroup", "MAXIMIZE_VOLUME"),
    bid_removal=("adGroup", {"bid_strategy": "MAXIMIZE_VOLUME"}),
)
