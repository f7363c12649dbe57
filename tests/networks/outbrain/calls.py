"""What the tests of the Outbrain adapter share: a brief, answers as Outbrain gives them, and a driver."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from adsunify.adapter.account import Account
from adsunify.errors import InvalidInput
from adsunify.http.messages import Response
from adsunify.models.brief import read_brief
from adsunify.planning import plan_create
from adsunify.plans.records import Plan, add_operation_marks
from tests.briefs import change_brief
from tests.networks.calls import make_response, run

MARKETER, BUDGET, CAMPAIGN, LINK = (f"00{digit * 32}" for digit in "1234")
PLACE = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
ACCOUNT = Account("outbrain", MARKETER, "USD", "America/New_York")
API = "https://api.outbrain.com/amplify/v0.1"
NOW = datetime(2027, 5, 1, 12, tzinfo=UTC)
BRIEF: dict[str, Any] = {
    "name": "Sleep guide",
    "goal": "traffic",
    "budget": {"amount": "60.50", "currency": "USD", "period": "daily"},
    "bid": "0.42",
    "schedule": {"startAt": "2027-05-03T04:00:00Z"},
    "targeting": {"locationIds": [PLACE]},
    "creative": {
        "url": "https://shop.example/guide",
        "headline": "Ten ways to sleep better",
        "body": "Short body",
        "imageUrl": "https://shop.example/sleep.jpg",
    },
    "platform": {"brandName": "Example Shop"},
}
CRAWLED: dict[str, Any] = {"creative__headline": None, "creative__imageUrl": None}
LIFETIME: dict[str, Any] = {
    "budget": {"amount": "1800", "currency": "USD", "period": "lifetime"},
    "schedule__endAt": "2027-06-01T04:00:00Z",
}


def make_brief(**changes: Any) -> dict[str, Any]:
    return change_brief(BRIEF, changes)


EMPTY = Response.from_bytes(200, {}, b"")
CURRENCIES = make_response(
    {
        "currencies": [
            {
                "name": "US Dollar",
                "code": "USD",
                "minimumCpc": Decimal("0.03"),
                "maximumCpc": 5,
                "minimumCampaignBudget": 25,
            },
            {
                "name": "Euro",
                "code": "EUR",
                "minimumCpc": Decimal("0.02"),
                "maximumCpc": 2,
                "minimumCampaignBudget": 22,
            },
        ]
    }
)


def make_campaign(**members: Any) -> dict[str, Any]:
    return {
        "id": CAMPAIGN,
        "name": "Sleep guide",
        "marketerId": MARKETER,
        "enabled": False,
        "cpc": Decimal("0.42"),
        "minimumCpc": Decimal("0.03"),
        "objective": "Traffic",
        "campaignOptimization": {"optimizationType": "TRAFFIC"},
        "budget": {"id": BUDGET},
        "targeting": {"platform": ["DESKTOP"], "locations": [{"id": PLACE, "name": "Norway"}], "shown": 1},
        **members,
    }


def make_budget(**members: Any) -> dict[str, Any]:
    return {
        "id": BUDGET,
        "name": "Sleep guide 12345678",
        "amount": Decimal("60.50"),
        "currency": "USD",
        "shared": False,
        "startDate": "2027-05-03",
        "runForever": True,
        "type": "DAILY",
        "pacing": "SPEND_ASAP",
        **members,
    }


def make_link(**members: Any) -> dict[str, Any]:
    return {
        "id": LINK,
        "campaignId": CAMPAIGN,
        "text": "Ten ways to sleep better",
        "url": "https://shop.example/guide",
        "enabled": False,
        "approvalStatus": {"status": "Pending", "isEditable": True},
        **members,
    }


def make_plan(*answers: Response, account: Account = ACCOUNT, now: datetime | None = NOW, **changes: Any) -> Plan:
    plan, _ = run(plan_create(account, read_brief(make_brief(**changes)), now), *answers)
    assert isinstance(plan, Plan)
    return add_operation_marks(plan)


def find_issues(*answers: Response, account: Account = ACCOUNT, **changes: Any) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        make_plan(*answers, account=account, **changes)
    return {issue.path for issue in refusal.value.issues}


def make_places(*locations: Mapping[str, Any]) -> Response:
    return make_response({"geoLocations": list(locations)})
