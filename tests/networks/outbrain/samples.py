"""What the suites look up of Outbrain."""

from __future__ import annotations

from typing import Any

from tests.networks.samples import Samples, TokenRefusal


def add_next_page(answer: dict[str, Any], cursor: str) -> None:
    answer |= {"campaigns": [{"id": "1"}], "totalCount": 1_000_000}


SAMPLES = Samples(
    formats=frozenset({"promoted_link", "crawled_link"}),
    goals=frozenset({"traffic", "awareness"}),
    periods=frozenset({"daily", "lifetime"}),
    kinds=frozenset({"campaign", "ad"}),
    brief_members={
        # a midnight of the account
        "schedule": {"startAt": "2030-01-15T05:00:00Z", "endAt": "2030-02-15T09:00:00Z"},
        # 25 a day is the least
        "budget": {"amount": "30", "currency": "USD", "period": "daily"},
    },
    # The least budget counts for every day, also under a lifetime budget.
    brief_values={"schedule.endAt": "2030-01-15T21:00:00Z", "targeting.native": {"platform": ["DESKTOP"]}},
    operation_mark="name",
    credentials=(("apiKey",), ("username", "password")),
    wrong_credentials={"password": "mistaken"},
    revocation=None,
    token_refusal=TokenRefusal(path="/api.outbrain.com/amplify/v0.1/marketers", members={"errorMessage": "HTTP 401"}),
    refreshes_tokens=False,  # a token of 30 days
    native_amounts={"cpc": "bid", "amount": "budget"},
    zero_amount=("campaign", {"cpc": 0}, "cpc"),
    targeting_change=(
        "campaign",
        {"locations": ["f7f2ba0d7b5e1f3e1c0f0a1a2b3c4d5e"], "devices": ["MOBILE", "DESKTOP"]},
    ),
    has_dense_ids=True,
    parent_catalog=("budgetId", "budgets"),
    first_write_path="/amplify/v0.1/marketers/*/budgets",
    # nothing is said of a link that is switched on
    empty_answers=frozenset({"activate"}),
    unknown_error={"moreInfo": "?", "errorMessage": "?"},
    counts_pages=True,
    quiet_days="gap",
    add_next_page=add_next_page,
    bid_kind="campaign",
    bid_removal=("campaign", {"campaignOptimization": {"optimizationType": "MAX_CONVERSION_FULLY_AUTOMATED"}}),
)
