"""What the suites look up of TikTok."""

from __future__ import annotations

from typing import Any

from tests.networks.samples import Revocation, Samples, TokenRefusal


def add_next_page(answer: dict[str, Any], cursor: str) -> None:
    number = int(cursor) if cursor.isdigit() else 1
    answer["data"]["page_info"] |= {"page": number, "total_page": 1_000_000}


SAMPLES = Samples(
    formats=frozenset({"video_ad"}),
    goals=frozenset({"traffic"}),
    periods=frozenset({"daily", "lifetime"}),
    # no campaign starts after 2028
    brief_members={"schedule": {"startAt": "2027-06-01T09:00:00Z", "endAt": "2027-07-01T09:00:00Z"}},
    # The least budget of a day counts for every day, also under a lifetime budget.
    brief_values={
        "schedule.startAt": "2027-01-15T09:00:00Z",
        "schedule.endAt": "2027-01-16T09:00:00Z",
        "targeting.native": {"location_ids": ["6252001"]},
    },
    row_conditions={
        "where the account's extra canUseCustomIdentity is false": (
            {"canUseCustomIdentity": "false"},
            {"canUseCustomIdentity": "true"},
        ),
    },
    operation_mark="request_id",
    consent_code="auth_code",
    revocation=Revocation(method="POST", path="/oauth2/revoke_token/"),
    token_refusal=TokenRefusal(
        path="/business-api.tiktok.com/open_api/v1.3/campaign/get/", status=200, members={"code": 40105, "data": {}}
    ),
    native_amounts={"bid_price": "bid", "conversion_bid_price": "bid"},
    zero_amount=("adGroup", {"budget": 0}, "budget"),
    targeting_change=(
        "adGroup",
        {"locations": ["6252001", "6251999"], "languages": ["en"], "genders": ["female"]},
    ),
    first_write_path="/open_api/v1.3/campaign/create/",
    unknown_error={"code": 70707, "message": "?", "data": {}},
    quiet_days="gap",
    add_next_page=add_next_page,
    bid_strategy_without_limit=("adGroup", "BID_TYPE_NO_BID"),
    bid_removal=("adGroup", {"bid_type": "BID_TYPE_NO_BID"}),
)
