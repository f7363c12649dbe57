"""Accounts, a brief, and answers of Amazon Ads, for the tests of its adapter."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.models.brief import read_brief
from adsunify.planning import plan
from adsunify.plans.records import Plan
from tests.briefs import change_brief

SELLER = Account("amazon", "1234", "USD", "America/Los_Angeles", {"accountType": "seller", "countryCode": "US"})
VENDOR = evolve(SELLER, extras={"accountType": "vendor", "countryCode": "US"})
PLAIN = Account("amazon", "1234", "USD", "America/Los_Angeles")
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOST = "https://advertising-api.amazon.com"
BRIEF: dict[str, Any] = {
    "name": "Autumn launch",
    "goal": "conversions",
    "budget": {"amount": "35.50", "currency": "USD", "period": "daily"},
    "bid": "0.75",
    "schedule": {"startAt": "2026-12-01T08:00:00Z", "endAt": "2026-12-21T08:00:00Z"},
    "targeting": {"keywords": [{"text": "camping stove"}, {"text": "gas stove", "match": "broad"}]},
    "creative": {},
    "platform": {"sku": "SELLER-SKU-1"},
}


def make_brief(**changes: Any) -> dict[str, Any]:
    return change_brief(BRIEF, changes)


def make_plan(account: Account = SELLER, **changes: Any) -> Plan:
    return plan(read_brief(make_brief(**changes)), account)


CAMPAIGN = {
    "campaignId": "11",
    "name": "Old",
    "state": "ENABLED",
    "targetingType": "MANUAL",
    "startDate": "2026-12-01",
    "budget": {"budgetType": "DAILY", "budget": 20},
    "dynamicBidding": {
        "strategy": "LEGACY_FOR_SALES",
        "placementBidding": [{"placement": "PLACEMENT_TOP", "percentage": 10}],
    },
}
