"""What the suites look up of Amazon Ads."""

from __future__ import annotations

from typing import Any

from tests.networks.samples import Samples, TokenRefusal


def add_next_page(answer: dict[str, Any], cursor: str) -> None:
    answer["nextToken"] = cursor


SAMPLES = Samples(
    formats=frozenset({"product_ads"}),
    goals=frozenset({"conversions"}),
    periods=frozenset({"daily"}),
    timezone="America/Los_Angeles",
    # a midnight there
    brief_members={"schedule": {"startAt": "2030-01-15T08:00:00Z", "endAt": "2030-02-15T09:00:00Z"}},
    row_conditions={
        "where the account's extra accountType is not known": ({}, {"accountType": "seller"}),
        "where the account's extra accountType is seller": ({"accountType": "seller"}, {"accountType": "vendor"}),
        "where the account's extra accountType is vendor": ({"accountType": "vendor"}, {"accountType": "seller"}),
    },
    revocation=None,
    token_refusal=TokenRefusal(
        method="POST",
        path="/advertising-api.amazon.com/sp/campaigns/list",
        members={"code": "UNAUTHORIZED"},
    ),
    first_read_path="/sp/campaigns/list",
    native_amounts={"defaultBid": "bid"},
    zero_amount=("adGroup", {"defaultBid": 0}, "defaultBid"),
    first_write_path="/sp/campaigns",
    entity_reads=("POST", "/*/list"),
    unknown_error={"code": "NOBODY_KNOWS", "message": "?"},
    native_faults={"partial": "rejected", "error_in_200": "throttled"},
    quiet_days="gap",
    add_next_page=add_next_page,
    bid_strategy_without_limit=("campaign", "AUTO_FOR_SALES"),
    bid_removal=("campaign", {"dynamicBidding": {"strategy": "AUTO_FOR_SALES"}}),
)
