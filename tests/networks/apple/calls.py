"""What the tests of the Apple adapter share: a brief, answers as Apple gives them, a key, and a driver."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import check_brief
from adsunify.errors import InvalidInput
from adsunify.http.messages import Response
from adsunify.models.brief import read_brief
from adsunify.networks.apple import plans
from adsunify.networks.apple.tables import NETWORK
from adsunify.plans.records import Outputs, Plan
from tests.briefs import change_brief
from tests.networks.calls import make_response, run

ACCOUNT = Account("apple", "7001", "EUR", "Europe/Berlin", {"orgId": "40669820", "paymentModel": "PAYG"})
API = "https://api.ads.apple.com/v1"
CONTEXT = {"X-AP-Context": "adAccountId=7001"}
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
BRIEF: dict[str, Any] = {
    "name": "Brief name",
    "goal": "app_installs",
    "budget": {"amount": "45.00", "currency": "EUR", "period": "daily"},
    "bid": "1.35",
    "schedule": {"startAt": "2027-03-01T08:00:00Z", "endAt": "2027-04-01T07:59:59Z"},
    "targeting": {"countries": ["DE", "AT"], "keywords": [{"text": "yoga timer"}]},
    "creative": {"existingId": "880001"},
    "platform": {"appId": "1440000001"},
}
OUTPUTS: Mapping[str, Outputs] = {
    "campaign": {"id": "901"},
    "adGroup": {"id": "902"},
    "keywords": {"id": ["903"]},
    "ad": {"id": "904"},
}
SECRET = ec.derive_private_key(0xAD5, ec.SECP256R1())
KEY = SECRET.private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
).decode()
KEY_MEMBERS = {"clientId": "SEARCHADS.c", "teamId": "SEARCHADS.t", "keyId": "k-1", "privateKey": KEY}


def make_brief(**changes: Any) -> dict[str, Any]:
    return change_brief(BRIEF, changes)


def make_entity_response(entity: Mapping[str, Any]) -> Response:
    return make_response({"result": dict(entity)})


def make_page(*entities: Mapping[str, Any], offset: int = 0, total: int | None = None) -> Response:
    pagination = {"offset": offset, "pageSize": 200, "totalCount": len(entities) if total is None else total}
    return make_response({"result": [dict(entity) for entity in entities], "pagination": pagination})


def make_error_response(code: str, status: int, message: str = "no", **headers: str) -> Response:
    return make_response({"error": {"code": code, "message": message, "details": []}}, status, **headers)


def make_plan(account: Account = ACCOUNT, now: datetime | None = None, **changes: Any) -> Plan:
    brief = read_brief(make_brief(**changes))
    check_brief(NETWORK, account, brief, now)
    plan, requests = run(plans.plan_create(account, brief, now))
    assert isinstance(plan, Plan) and not requests
    return plan


def find_issues(account: Account = ACCOUNT, **changes: Any) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        make_plan(account, **changes)
    return {issue.path for issue in refusal.value.issues}
