"""What the tests of the TikTok adapter share: a brief, answers as TikTok gives them, and a driver."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import check_brief
from adsunify.adapter.flows import run_flow
from adsunify.errors import InvalidInput
from adsunify.http.messages import Request, Response
from adsunify.models.brief import read_brief
from adsunify.networks.tiktok import plans
from adsunify.networks.tiktok.tables import NETWORK
from adsunify.plans.records import Plan, add_operation_marks
from tests.briefs import change_brief

ACCOUNT = Account("tiktok", "7011112222", "USD", "America/New_York")
SMART = Account("tiktok", "7011112222", "USD", "America/New_York", {"createFlow": "smart_plus"})
BASE = "https://business-api.tiktok.com/open_api/v1.3"
BRIEF: dict[str, Any] = {
    "name": "Autumn shoes",
    "goal": "traffic",
    "budget": {"amount": "640.50", "currency": "USD", "period": "lifetime"},
    "bid": "0.35",
    "schedule": {"startAt": "2026-12-01T09:00:00+01:00", "endAt": "2026-12-21T08:00:00Z"},
    "targeting": {"countries": ["GB"]},
    "creative": {
        "existingId": "v10033g50000abc",
        "body": "New season, same street",
        "url": "https://shop.example/autumn",
    },
    "platform": {"identityId": "6bd1-aa", "identityType": "TT_USER"},
}


def make_brief(**changes: Any) -> dict[str, Any]:
    return change_brief(BRIEF, changes)


def make_response(data: Any = None, code: int = 0, status: int = 200, **more: Any) -> Response:
    body = {"code": code, "message": "OK", "request_id": "R1", "data": {} if data is None else data, **more}
    return Response.from_bytes(status, {}, json.dumps(body).encode())


def make_page(*rows: Any, page: int = 1, pages: int = 1, name: str = "list") -> Response:
    info = {"page": page, "page_size": 10, "total_number": len(rows), "total_page": pages}
    return make_response({name: list(rows), "page_info": info})


VIDEO = {"video_id": "v10033g50000abc", "displayable": True, "allowed_placements": ["PLACEMENT_TIKTOK"]}
USER = {"identity_id": "6bd1-aa", "identity_type": "TT_USER", "available_status": "AVAILABLE", "can_push_video": True}
REGIONS = (
    {"location_id": "2635167", "name": "United Kingdom", "parent_id": "0", "region_code": "GB", "level": "COUNTRY"},
    {"location_id": "2643743", "name": "London", "parent_id": "6269131", "region_code": "GB", "level": "CITY"},
    {"location_id": "6269131", "name": "England", "parent_id": "2635167", "region_code": "GB", "level": "PROVINCE"},
    {"location_id": "2921044", "name": "Germany", "parent_id": "0", "region_code": "DE", "level": "COUNTRY"},
)


class Responder:
    """Answers the reads before a plan, and remembers them."""

    def __init__(self, **answers: Response) -> None:
        self.requests: list[Request] = []
        self.answers = {
            "info": make_page(VIDEO),
            "identity": make_page(USER, name="identity_list"),
            "suggestcover": make_page({"id": "ad-site-i18n-sg/20261101abc", "url": "https://x.example"}),
            "region": make_response({"region_info": list(REGIONS)}),
        } | answers

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        words = request.url.removeprefix(BASE).strip("/").split("/")
        return self.answers[words[0] if words[0] in self.answers else words[-1] if words[-1] != "get" else words[-2]]


def make_plan(
    account: Account = ACCOUNT, operation: str = "", responder: Responder | None = None, **changes: Any
) -> Plan:
    value = read_brief(make_brief(**changes))
    check_brief(NETWORK, account, value)
    return add_operation_marks(run_flow(plans.plan_create(account, value, None), responder or Responder()), operation)


def find_issues(
    account: Account = ACCOUNT, responder: Responder | None = None, now: Any = None, **changes: Any
) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        value = read_brief(make_brief(**changes))
        check_brief(NETWORK, account, value, now)
        run_flow(plans.plan_create(account, value, now), responder or Responder())
    return {issue.path for issue in refusal.value.issues}
