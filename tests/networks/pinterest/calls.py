"""What the tests of the Pinterest adapter share: a brief, answers as Pinterest gives them, and a driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import check_brief
from adsunify.adapter.oauth import OAuthClient
from adsunify.errors import InvalidInput
from adsunify.http.messages import Response
from adsunify.models.brief import read_brief
from adsunify.networks.pinterest.tables import NETWORK
from adsunify.planning import plan
from adsunify.plans.records import Outputs, Plan
from tests.briefs import change_brief
from tests.networks.calls import make_response

API = "https://api.pinterest.com/v5"
ACCOUNT = Account("pinterest", "549755885175", "USD", "UTC")
BELOW = f"{API}/ad_accounts/549755885175"
NOW = datetime(2026, 10, 20, 12, tzinfo=UTC)
APP = OAuthClient("1234", "app-secret")
PIN_ID = "394205773611545468"
OUTPUTS: Mapping[str, Outputs] = {
    "pin": {"id": PIN_ID},
    "campaign": {"id": "626735565838"},
    "adGroup": {"id": "2680060704746"},
    "keywords": {"id": ["1", "2"]},
    "ad": {"id": "687195134316"},
}
BRIEF: Mapping[str, Any] = {
    "name": "Autumn kit",
    "goal": "traffic",
    "budget": {"amount": "25.00", "currency": "USD", "period": "daily"},
    "bid": "0.85",
    "schedule": {"startAt": "2026-11-01T08:00:00Z", "endAt": "2026-11-15T09:00:00+01:00"},
    "targeting": {"countries": ["US", "CA"], "keywords": [{"text": "camping kit", "match": "phrase"}]},
    "creative": {
        "headline": "Autumn kit",
        "body": "Everything for a weekend.",
        "url": "https://shop.example/kit",
        "imageUrl": "https://cdn.example/kit.jpg",
    },
    "platform": {"boardId": "730146114520000001"},
}
EXISTING: Mapping[str, Any] = {"creative": {"existingId": PIN_ID}, "platform": {}}


def make_brief(**changes: Any) -> dict[str, Any]:
    return change_brief(BRIEF, changes)


def make_plan(
    *, account: Account = ACCOUNT, now: datetime | None = None, lookups: Sequence[Any] = (), **changes: Any
) -> Plan:
    return plan(read_brief(make_brief(**changes)), account, now=now, lookups=lookups)


def find_issues(*, account: Account = ACCOUNT, now: datetime | None = None, **changes: Any) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        check_brief(NETWORK, account, read_brief(make_brief(**changes)), now)
    return {issue.path for issue in refusal.value.issues}


def make_error_response(code: int, status: int = 400) -> Response:
    return make_response({"code": code, "message": "No."}, status)


def make_page(*items: Any, bookmark: str | None = None) -> Response:
    return make_response({"items": items, "bookmark": bookmark})
