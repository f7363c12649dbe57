"""An account, a brief, and answers of X, for the tests of its adapter."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from adsunify.adapter.account import Account
from adsunify.adapter.flows import run_flow
from adsunify.models.brief import read_brief
from adsunify.planning import plan_create
from adsunify.plans.records import Plan
from tests.briefs import change_brief
from tests.networks.calls import make_responder

ACCOUNT = Account("x", "abc12", "USD", "America/New_York")
NOW = datetime(2026, 11, 20, 12, 30, tzinfo=UTC)
API = "https://ads-api.x.com/12"
BASE = f"{API}/accounts/abc12"
FRANCE = f"{API}/targeting_criteria/locations?country_code=FR&location_type=COUNTRIES"
BRIEF: dict[str, Any] = {
    "name": "Winter sale",
    "goal": "traffic",
    "budget": {"amount": "42.50", "currency": "USD", "period": "daily"},
    "schedule": {"startAt": "2026-12-01T09:00:00Z"},
    "targeting": {"locationIds": ["0a1b2c3d4e5f6071"], "keywords": [{"text": "ski boots", "match": "phrase"}]},
    "creative": {"existingId": "1166476031668015104"},
    "platform": {"fundingInstrumentId": "k9x2"},
}


def make_brief(**changes: Any) -> dict[str, Any]:
    return change_brief(BRIEF, changes)


def make_plan(answers: Mapping[str, Any] | None = None, now: datetime | None = None, **changes: Any) -> Plan:
    return run_flow(plan_create(ACCOUNT, read_brief(make_brief(**changes)), now), make_responder(answers or {}))


CAMPAIGN: dict[str, Any] = {
    "id": "8wku2",
    "name": "Winter sale",
    "entity_status": "PAUSED",
    "funding_instrument_id": "k9x2",
    "currency": "USD",
    "budget_optimization": "LINE_ITEM",
    "daily_budget_amount_local_micro": 42_500_000,
    "total_budget_amount_local_micro": None,
    "purchase_order_number": None,
    "deleted": False,
}
LINE_ITEM: dict[str, Any] = {
    "id": "9cqz1",
    "campaign_id": "8wku2",
    "name": "Winter sale",
    "entity_status": "PAUSED",
    "objective": "WEBSITE_CLICKS",
    "goal": "LINK_CLICKS",
    "product_type": "PROMOTED_TWEETS",
    "placements": ["ALL_ON_TWITTER"],
    "bid_strategy": "AUTO",
    "bid_amount_local_micro": None,
    "pay_by": "IMPRESSION",
    "start_time": "2026-12-01T09:00:00Z",
    "end_time": None,
    "daily_budget_amount_local_micro": None,
    "total_budget_amount_local_micro": None,
}
