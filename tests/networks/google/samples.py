"""What the suites look up of Google Ads."""

from __future__ import annotations

from typing import Any

from tests.networks.samples import Revocation, Samples, TokenRefusal


def add_next_page(answer: dict[str, Any], cursor: str) -> None:
    answer["nextPageToken"] = cursor


SAMPLES = Samples(
    formats=frozenset({"responsive_search_ad"}),
    goals=frozenset({"traffic"}),
    periods=frozenset({"daily"}),
    takes_political_ads=True,
    requires_political_declaration=True,
    timezone="America/New_York",
    # a midnight there
    brief_members={"schedule": {"startAt": "2030-01-15T05:00:00Z", "endAt": "2030-02-15T09:00:00Z"}},
    revocation=Revocation(method="POST", path="/revoke"),
    token_refusal=TokenRefusal(
        path="/googleads.googleapis.com/v26/customers:listAccessibleCustomers",
        members={"error.code": 401, "error.status": "UNAUTHENTICATED"},
    ),
    first_read_path="/v*googleAds:search*",
    native_amounts={
        "amountMicros": "budget",
        "targetCpaMicros": "targetCpa",
        "cpcBidCeilingMicros": "bidCeiling",
        "cpcBidMicros": "bid",
    },
    zero_amount=("adGroup", {"cpcBidMicros": "0"}, "cpcBidMicros"),
    targeting_change=("campaign", {"locations": ["2578", "2752"], "languages": ["1000", "1001"]}),
    missing_ids={"ad": "1~999999999"},
    first_write_path="/v*googleAds:mutate",
    entity_reads=("POST", "/*:search*"),
    creates_in_one_write=True,
    unknown_error={"error": {"code": 400, "message": "?", "status": "NOBODY_KNOWS"}},
    # an atomic request cannot have been done in part
    native_faults={"partial": "unknown", "error_in_200": "rejected"},
    quiet_days="zero",
    add_next_page=add_next_page,
    bid_strategy_without_limit=("campaign", "targetSpend"),
    bid_removal=("campaign", {"targetSpend": {}}),
)
