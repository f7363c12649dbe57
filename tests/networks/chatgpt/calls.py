"""What the tests of the ChatGPT adapter share: a brief, entities as OpenAI answers them, and a driver."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from adsunify.adapter.account import Account
from adsunify.adapter.flows import run_flow
from adsunify.errors import InvalidInput
from adsunify.http.messages import Flow, Request, Response, build_request_url
from adsunify.models.brief import read_brief
from adsunify.planning import plan_create
from adsunify.plans.records import Plan
from tests.briefs import change_brief
from tests.networks.calls import make_response

ACCOUNT = Account("chatgpt", "adacct_77", "EUR", "Europe/Paris")
API = "https://api.ads.openai.com/v1"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
BRIEF: dict[str, Any] = {
    "name": "Autumn boots",
    "goal": "traffic",
    "budget": {"amount": "320", "currency": "EUR", "period": "lifetime"},
    "bid": "1.85",
    "schedule": {"startAt": "2026-12-01T00:00:00Z", "endAt": "2026-12-15T00:00:00Z"},
    "targeting": {"native": {"locations": {"countries": ["FR"]}}},
    "creative": {
        "headline": "Boots for wet trails",
        "body": "Waterproof pairs from 89 euros.",
        "url": "https://northwind.example/boots",
        "existingId": "file_31",
    },
    "platform": {},
}
CAMPAIGN: dict[str, Any] = {
    "id": "cmpn_9",
    "created_at": 1,
    "name": "Autumn boots",
    "status": "paused",
    "bidding_type": "clicks",
    "budget": {"lifetime_spend_limit_micros": 320_000_000},
    "start_time": 1796083200,
    "end_time": 1797292800,
    "targeting": {
        "locations": {"include": [{"id": "84", "name": "Texas", "type": "region", "country_code": "US"}]},
        "platforms": {"included": ["web"]},
        "custom_audiences": None,
    },
}
GROUP: dict[str, Any] = {
    "id": "adgrp_4",
    "name": "Autumn boots",
    "status": "paused",
    "context_hints": [],
    "bidding_config": {"billing_event_type": "click", "strategy": "fixed_bid", "max_bid_micros": 1_850_000},
}
CARD: dict[str, Any] = {
    "type": "chat_card",
    "title": "Boots for wet trails",
    "body": "Waterproof pairs from 89 euros.",
    "target_url": "https://northwind.example/boots",
    "file_id": "file_31",
}
AD: dict[str, Any] = {
    "id": "ad_2",
    "name": "Autumn boots",
    "status": "paused",
    "review_status": "approved",
    "creative": {**CARD, "image_url": "https://files.example/31"},
}


def make_brief(**changes: Any) -> dict[str, Any]:
    return change_brief(BRIEF, changes)


def make_page(*rows: Mapping[str, Any], more: bool = False) -> Response:
    ids = [row.get("id") for row in rows]
    edges = {"first_id": ids[0] if ids else None, "last_id": ids[-1] if ids else None}
    return make_response({"object": "list", "data": rows, **edges, "has_more": more})


class Responder:
    """Answers by what the address ends with after the API, and keeps the requests."""

    def __init__(self, **answers: Response) -> None:
        self.answers = answers
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        address = build_request_url(request).removeprefix(f"{API}/")
        response = self.answers.get(address) or self.answers.get(address.partition("?")[0])
        assert response is not None, address
        return response


def run(flow: Flow[Any], **answers: Response) -> Any:
    return run_flow(flow, Responder(**answers))


def plan_campaign(value: Mapping[str, Any], account: Account = ACCOUNT, **answers: Response) -> Plan:
    plan: Plan = run(plan_create(account, read_brief(value), NOW), **answers)
    return plan


def find_flow_issues(flow: Flow[Any], **answers: Response) -> set[tuple[str, str]]:
    with pytest.raises(InvalidInput) as refusal:
        run(flow, **answers)
    return {(issue.path, issue.code) for issue in refusal.value.issues}
