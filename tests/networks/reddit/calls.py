"""What the tests of the Reddit adapter share: a brief, answers as Reddit gives them, and a driver."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import check_brief
from adsunify.adapter.oauth import OAuthClient
from adsunify.errors import InvalidInput
from adsunify.http.messages import Flow, Response
from adsunify.models.brief import read_brief
from adsunify.networks.reddit.tables import NETWORK
from adsunify.planning import plan
from adsunify.plans.records import Outputs, Plan
from tests.briefs import change_brief
from tests.networks.calls import make_response, run

API = "https://ads-api.reddit.com/api/v3"
ACCOUNT = Account("reddit", "a2_acc1", "USD", "America/New_York")
BELOW = f"{API}/ad_accounts/a2_acc1"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
APP = OAuthClient("1234", "app-secret")
OUTPUTS: Mapping[str, Outputs] = {"campaign": {"id": "101"}, "adGroup": {"id": "202"}, "ad": {"id": "303"}}
TARGETING: Mapping[str, Any] = {
    "geolocations": ["US", "CA"],
    "communities": ["homeimprovement"],
    "locations": ["FEED", "COMMENTS_PAGE"],
}
BRIEF: Mapping[str, Any] = {
    "name": "Autumn launch",
    "goal": "traffic",
    "budget": {"amount": "25.50", "currency": "USD", "period": "daily"},
    "bid": "4.00",
    "schedule": {"startAt": "2026-12-01T08:00:00Z", "endAt": "2026-12-20T09:00:00+01:00"},
    "targeting": {"native": TARGETING},
    "creative": {"existingId": "t3_abc123"},
    "platform": {"fundingInstrumentId": "4711", "pixelId": "a2_pixel0001"},
}


def make_brief(**changes: Any) -> dict[str, Any]:
    return change_brief(BRIEF, changes)


def make_plan(*, account: Account = ACCOUNT, now: datetime | None = None, **changes: Any) -> Plan:
    return plan(read_brief(make_brief(**changes)), account, now=now)


def find_issues(*, account: Account = ACCOUNT, now: datetime | None = None, **changes: Any) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        check_brief(NETWORK, account, read_brief(make_brief(**changes)), now)
    return {issue.path for issue in refusal.value.issues}


def make_data_response(value: Any, status: int = 200) -> Response:
    return make_response({"data": value}, status)


def make_page(*rows: Any, following: str | None = None) -> Response:
    return make_response({"data": rows, "pagination": {"next_url": following}})


def make_error_response(status: int, message: str = "No.", **more: Any) -> Response:
    return make_response({"error": {"code": status, "message": message, **more}}, status)


def find_flow_issues(flow: Flow[Any], *answers: Response) -> set[str]:
    """The paths of the issues with which a flow refuses."""
    with pytest.raises(InvalidInput) as refusal:
        run(flow, *answers)
    return {issue.path for issue in refusal.value.issues}
