"""What the tests of the Snapchat adapter share: a brief, answers as Snap gives them, and a driver."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from adsunify.adapter.account import Account
from adsunify.adapter.oauth import OAuthClient
from adsunify.errors import InvalidInput
from adsunify.http.messages import Response
from adsunify.models.brief import read_brief
from adsunify.planning import plan_create
from adsunify.plans.records import Plan
from tests.briefs import change_brief
from tests.networks.calls import make_response, run

ID = "11111111-aaaa-4bbb-8ccc-000000000001"
CAMPAIGN, SQUAD, AD, CREATIVE = (f"{n}{n}{n}{n}{n}{n}{n}{n}-aaaa-4bbb-8ccc-00000000000{n}" for n in (2, 3, 5, 4))
ACCOUNT = Account("snapchat", ID, "GBP", "Europe/London", {"organizationId": "org-1"})
API = "https://adsapi.snapchat.com/v1"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
APP = OAuthClient("app-1", "app-secret")
BRIEF: dict[str, Any] = {
    "name": "Winter launch",
    "goal": "awareness",
    "budget": {"amount": "900.00", "currency": "GBP", "period": "lifetime"},
    "bid": "4.25",
    "schedule": {"startAt": "2026-12-01T09:00:00+01:00", "endAt": "2026-12-20T22:59:00Z"},
    "targeting": {"countries": ["GB"]},
    "creative": {"existingId": CREATIVE},
    "platform": {},
}


def make_brief(**changes: Any) -> dict[str, Any]:
    return change_brief(BRIEF, changes)


def wrap_entities(plural: str, name: str, *entities: Mapping[str, Any], cursor: str | None = None) -> Response:
    """A success with entities, as Snap gives them; the next link names the host that its samples name."""
    body: dict[str, Any] = {"request_status": "SUCCESS", "request_id": "req-1"}
    if cursor is not None:
        body["paging"] = {"next_link": f"https://adsapisc.appspot.com/v1/x?cursor={cursor}&limit=50"}
    return make_response(
        body | {plural: [{"sub_request_status": "success", name: dict(entity)} for entity in entities]}
    )


def make_item_error(plural: str, reason: str, status: int = 200) -> Response:
    item = {"sub_request_status": "ERROR", "sub_request_error_reason": reason}
    return make_response({"request_status": "ERROR", "request_id": "req-2", plural: [item]}, status)


def make_creative(**members: Any) -> Response:
    entity = {"id": CREATIVE, "ad_account_id": ID, "type": "WEB_VIEW", "review_status": "APPROVED", **members}
    return wrap_entities("creatives", "creative", {name: value for name, value in entity.items() if value is not None})


def make_plan(
    account: Account = ACCOUNT, now: datetime | None = None, creative_response: Response | None = None, **changes: Any
) -> Plan:
    plan, _ = run(plan_create(account, read_brief(make_brief(**changes)), now), creative_response or make_creative())
    assert isinstance(plan, Plan)
    return plan


def find_issues(account: Account = ACCOUNT, creative_response: Response | None = None, **changes: Any) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        make_plan(account, creative_response=creative_response, **changes)
    return {issue.path for issue in refusal.value.issues}
