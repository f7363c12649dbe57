"""What the tests of the Meta adapter share: a brief, answers as Meta gives them, and a driver."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import check_brief
from adsunify.adapter.oauth import OAuthClient
from adsunify.errors import (
    InvalidInput,
)
from adsunify.http.messages import Response
from adsunify.models.brief import read_brief
from adsunify.networks.meta.tables import NETWORK
from adsunify.planning import plan
from adsunify.plans.records import Plan
from tests.briefs import change_brief
from tests.networks.calls import make_response

ACCOUNT = Account("meta", "act_7007", "EUR", "Europe/Oslo")
GRAPH = "https://graph.facebook.com/v26.0"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
APP = OAuthClient("app-1", "app-secret")
BRIEF: dict[str, Any] = {
    "name": "Tea spring",
    "goal": "traffic",
    "budget": {"amount": "18.50", "currency": "EUR", "period": "daily"},
    "bid": "0.42",
    "schedule": {"startAt": "2027-03-01T09:00:00+01:00"},
    "targeting": {"countries": ["NO"]},
    "creative": {
        "headline": "Spring tea",
        "body": "Fresh leaves.",
        "url": "https://tea.example/",
        "imageHash": "0f1e2d",
    },
    "platform": {"pageId": "9009"},
}
LIFETIME: dict[str, Any] = {"budget__period": "lifetime", "schedule__endAt": "2027-03-31T09:00:00Z"}
CONVERSIONS: dict[str, Any] = {
    "goal": "conversions",
    "bid": None,
    "platform__pixelId": "5",
    "platform__conversionEvent": "PURCHASE",
}


def make_brief(**changes: Any) -> dict[str, Any]:
    return change_brief(BRIEF, changes)


def find_issues(account: Account = ACCOUNT, now: datetime | None = None, **changes: Any) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        check_brief(NETWORK, account, read_brief(make_brief(**changes)), now)
    return {issue.path for issue in refusal.value.issues}


def make_plan(account: Account = ACCOUNT, now: datetime | None = None, **changes: Any) -> Plan:
    return plan(read_brief(make_brief(**changes)), account, now=now)


def get_body(key: str, account: Account = ACCOUNT, **changes: Any) -> Any:
    return make_plan(account, **changes).get_step(key).request.body


def make_error_response(code: int, subcode: int | None = None, status: int = 400, **more: Any) -> Response:
    error = {"message": "No.", "type": "OAuthException", "code": code, "fbtrace_id": "Axx", **more}
    return make_response({"error": error | ({} if subcode is None else {"error_subcode": subcode})}, status)


def make_page(*rows: Any, after: str | None = None) -> Response:
    following = {"cursors": {"before": "b", "after": after or "z"}} | (
        {"next": "https://evil.example"} if after else {}
    )
    return make_response({"data": rows, "paging": following})
