"""What the suites look up of LinkedIn."""

from __future__ import annotations

from typing import Any

from tests.networks.samples import LocationType, Revocation, Samples, TokenRefusal


def add_next_page(answer: dict[str, Any], cursor: str) -> None:
    answer["metadata"] = {"nextPageToken": cursor}


SAMPLES = Samples(
    formats=frozenset({"sponsored_post"}),
    goals=frozenset({"traffic", "awareness"}),
    periods=frozenset({"daily", "lifetime"}),
    takes_political_ads=True,
    brief_values={
        "creative.existingId": "urn:li:share:6850000000000000001",
        "targeting.native": {"include": {"and": [{"or": {"urn:li:adTargetingFacet:locations": ["urn:li:geo:1"]}}]}},
    },
    row_conditions={
        "where the account's extra reference names no organization": (
            {"reference": "urn:li:person:1"},
            {"reference": "urn:li:organization:1"},
        ),
    },
    # each token is revoked for itself
    revocation=Revocation(method="POST", path="/oauth/v2/revoke", requests=2),
    token_refusal=TokenRefusal(
        path="/api.linkedin.com/rest/adAccounts", members={"serviceErrorCode": 65602, "status": 401}
    ),
    native_amounts={"dailyBudget": "budget", "totalBudget": "budget", "unitCost": "bid"},
    zero_amount=None,
    targeting_change=("adGroup", {"locations": ["urn:li:geo:101355337", "urn:li:geo:101282230"]}),
    targeting_places=("/patch/$set/targetingCriteria",),
    location_types=(LocationType(level="adGroup", location="urn:li:geo:103644278", type="geo", wrong_type="country"),),
    catalog_suffixes={
        "targeting_entities": "seniorities",
        "typeahead": "locations?search=berlin",
        "posts": "7700123",
    },
    restricted_catalogs=frozenset({"pages"}),
    first_write_path="/rest/adAccounts/*/adCampaignGroups",
    # the id is in a header
    empty_answers=frozenset({"create", "activate"}),
    unknown_error={"status": 400, "code": "NOBODY_KNOWS", "message": "?"},
    quiet_days="gap",
    add_next_page=add_next_page,
    bid_strategy_without_limit=("adGroup", "MAX_CLICK"),
    bid_removal=("adGroup", {"optimizationTargetType": "MAX_CLICK", "costType": "CPM"}),
)
