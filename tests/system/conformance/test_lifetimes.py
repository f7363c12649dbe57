"""docs/spec.md, "Limits": 30 minutes for review, 90 days for an agent, 30 days for a token of Outbrain's login."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from tests.server.served import brief, make_credentials
from tests.server.test_oauth import agent

from .asking import Inventory

pytestmark = pytest.mark.asyncio(loop_scope="module")


def measure_interval(early: str, late: str) -> timedelta:
    return datetime.fromisoformat(late) - datetime.fromisoformat(early)


async def test_operation_review_expiry(own: Inventory) -> None:
    operation = await own.caller.get(f"/operations/{await own.prepare_operation()}")
    assert measure_interval(operation["createdAt"], operation["expiresAt"]) == timedelta(minutes=30)
    late, cancelled = await own.prepare_operation(), await own.prepare_operation()
    own.server.hands.pass_(minutes=29, seconds=50)
    assert (await own.caller.execute(operation["id"]))["status"] == "succeeded"
    assert (await own.caller.get(f"/operations/{late}"))["expired"] is False
    own.server.hands.pass_(seconds=11)
    writes = own.server.networks.writes()
    problem = await own.caller.problem(400, "POST", f"/operations/{late}/execute", {"confirmed": True})
    assert (problem["code"], problem["outcome"]) == ("operation_expired", "not_applied")
    operation_data = await own.caller.get(f"/operations/{late}")
    assert (operation_data["status"], operation_data["expired"]) == ("prepared", True)
    assert (await own.caller.post(f"/operations/{cancelled}/cancel", {}))["status"] == "cancelled"
    assert (await own.caller.execute(operation["id"]))["status"] == "succeeded"  # a replay, at any time
    assert own.server.networks.writes() == writes


async def test_operation_review_expiry_of_continuations(own: Inventory) -> None:
    """A continuation is under the expiry of its review, not of its last call."""
    operation = await own.prepare_operation()
    own.server.hands.pass_(minutes=29)
    await own.server.networks.fault("meta", "status", method="POST", path="/v26.0/act_1001/campaigns", value=429)
    back = await own.caller.execute(operation)
    assert (back["status"], back["nextAction"]) == ("prepared", "execute")
    own.server.hands.pass_(minutes=1, seconds=1, milliseconds=back["retryAfterMs"])
    problem = await own.caller.problem(400, "POST", f"/operations/{operation}/execute", {"confirmed": True})
    assert problem["code"] == "operation_expired"


async def test_idempotency_keys_outlive_the_expiry(own: Inventory) -> None:
    body = {"accountId": own.account, "campaign": brief("meta")}
    first = await own.caller.post("/create", body, 201, **{"Idempotency-Key": "for good"})
    own.server.hands.pass_(days=1)
    assert (await own.caller.post("/create", body, 201, **{"Idempotency-Key": "for good"}))["id"] == first["id"]


async def test_agent_grant_lifetime(own: Inventory) -> None:
    oauth_client = await agent(own.server)
    tokens = await oauth_client.tokens()
    (grant,) = await own.caller.get("/connected-agents")
    assert measure_interval(grant["createdAt"], grant["expiresAt"]) == timedelta(days=90)
    own.server.hands.pass_(days=89, hours=23)
    renewed = await oauth_client.refresh(tokens["refresh_token"])
    assert renewed.status_code == 200, renewed.text
    caller = own.server.caller(renewed.json()["access_token"])
    await caller.get("/auth/verify")
    own.server.hands.pass_(hours=1, seconds=1)
    await caller.problem(401, "GET", "/auth/verify")
    refused = await oauth_client.refresh(renewed.json()["refresh_token"])
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")


async def test_outbrain_login_token(own: Inventory) -> None:
    login = make_credentials("outbrain")
    assert set(login) == {"network", "username", "password"}
    connection = await own.caller.post("/connections/credentials", login, 201)
    lifetime = measure_interval(connection["createdAt"], connection["expiresAt"])
    assert timedelta(days=30) - timedelta(minutes=1) < lifetime <= timedelta(days=30) + timedelta(minutes=1)
