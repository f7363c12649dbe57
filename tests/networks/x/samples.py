"""What the suites look up of X."""

from __future__ import annotations

from typing import Any

from tests.networks.samples import Revocation, Samples, TokenRefusal


def add_next_page(answer: dict[str, Any], cursor: str) -> None:
    answer["next_cursor"] = cursor


SAMPLES = Samples(
    formats=frozenset({"existing_promoted_post"}),
    goals=frozenset({"traffic"}),
    periods=frozenset({"daily", "lifetime"}),
    brief_values={
        "targeting.native": {
            "criteria": [{"targeting_type": "GENDER", "targeting_value": "1", "operator_type": "EQ"}],
        },
    },
    consent_code="oauth_verifier",
    revocation=Revocation(method="POST", path="/1.1/oauth/invalidate_token.json"),
    token_refusal=TokenRefusal(
        path="/ads-api.x.com/12/accounts",
        members={"errors": [{"code": "UNAUTHORIZED_ACCESS", "message": "HTTP 401"}]},
    ),
    refreshes_tokens=False,  # OAuth 1.0a
    native_amounts={
        "daily_budget_amount_local_micro": "dailyBudget",
        "total_budget_amount_local_micro": "lifetimeBudget",
        "bid_amount_local_micro": "bid",
    },
    zero_amount=("adGroup", {"daily_budget_amount_local_micro": 0}, "daily_budget_amount_local_micro"),
    targeting_change=("adGroup", {"locations": ["96683cc9126741d1", "6416b8512febefc9"], "genders": ["female"]}),
    odd_ids=frozenset({("campaign", "me"), ("adGroup", "me"), ("ad", "me")}),
    catalog_suffixes={"events": "SPORTS", "tv_shows": "en-US", "bidding_rules": "USD", "analytics_job": "1"},
    first_write_path="/12/accounts/*/campaigns",
    unknown_error={"errors": [{"code": "NOBODY_KNOWS", "message": "?"}], "request": {}},
    quiet_days="zeros",
    quiet_range="gap",  # series that are null throughout are days without data, not days of zeros
    add_next_page=add_next_page,
    bid_strategy_without_limit=("adGroup", "AUTO"),
    bid_removal=("adGroup", {"bid_strategy": "AUTO"}),
)
