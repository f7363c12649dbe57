"""Signed webhooks: subscriptions, what reaches a receiver and when, and where the server never calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from attrs import evolve

from adsunify import webhooks
from adsunify.service import webhooks as service
from adsunify.service.authentication import authenticate
from adsunify.service.users import remove_member
from adsunify.service.webhook_worker import WebhookWorker
from adsunify.store import deliveries
from adsunify.store import webhooks as stored
from tests.system.webhooks.receiving import Receiver, run_receiver

from .oauth import agent
from .served import NEVER, Served, brief

pytestmark = pytest.mark.asyncio(loop_scope="module")
PUBLIC = "https://hooks.example.com/ads"


async def _public(host: str) -> list[str]:
    return {"hooks.example.com": ["93.184.216.34"], "inside.example.com": ["10.0.0.7"]}.get(host, [])


@pytest_asyncio.fixture(loop_scope="module")
async def receiver(both: Served) -> AsyncIterator[Receiver]:
    """A receiver that the server may call although it is on loopback."""
    async with run_receiver() as receiver:
        both.service.resolve_host = _public
        both.service.settings = evolve(both.service.settings, webhook_dev_targets=frozenset({receiver.url}))
        yield receiver
        for left in await both.admin.get("/webhooks"):
            await both.admin.delete(f"/webhooks/{left['webhookId']}")


async def prepare_operation(server: Served) -> Any:
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    return await server.admin.post("/create", body, 201)


async def wait_for_deliveries(server: Served, webhook_id: str, count: int = 1) -> list[Any]:
    """The deliveries, once so many of them are at their end."""
    async with asyncio.timeout(20):
        while True:
            deliveries: list[Any] = await server.admin.get(f"/webhooks/{webhook_id}/deliveries")
            if sum(delivery["status"] in ("succeeded", "failed") for delivery in deliveries) >= count:
                return deliveries
            await asyncio.sleep(0.01)


# -- subscriptions ------------------------------------------------------------------------------------------------


async def test_a_subscription(both: Served, receiver: Receiver) -> None:
    webhook = await both.admin.post("/webhooks", {"url": PUBLIC}, 201)
    assert webhook["secret"].startswith("whsec_")
    assert webhook["events"] == [
        "operation.prepared",
        "operation.running",
        "operation.succeeded",
        "operation.unknown",
        "operation.cancelled",
    ]
    assert (webhook["active"], webhook["accountId"], webhook["url"]) == (True, None, PUBLIC)
    (listed_webhook,) = await both.admin.get("/webhooks")
    assert listed_webhook == {name: value for name, value in webhook.items() if name != "secret"}
    assert await both.person("stranger").get("/webhooks") == []
    assert await both.person("member").get("/webhooks") == []
    path = f"/webhooks/{webhook['webhookId']}"
    for caller in (both.person("stranger"), both.person("member")):
        for method, where in (("DELETE", path), ("GET", f"{path}/deliveries")):
            assert (await caller.problem(404, method, where))["code"] == "not_found"
    changed = await both.admin.send("PATCH", path, {"active": False, "events": ["sync.failed"]})
    assert (changed.json()["data"]["active"], changed.json()["data"]["events"]) == (False, ["sync.failed"])
    assert (await both.admin.send("PATCH", path, {})).json()["data"] == changed.json()["data"]
    removed = await both.admin.delete(path)
    assert removed["webhookId"] == webhook["webhookId"]
    assert await both.admin.get("/webhooks") == []
    await both.admin.problem(404, "DELETE", path)


REFUSED: list[tuple[Any, set[tuple[str, str]]]] = [
    ({}, {("url", "required")}),
    ({"url": "https://" + "a" * 2000 + ".example.com"}, {("url", "too_long")}),
    ({"url": PUBLIC, "events": []}, {("events", "too_few")}),
    ({"url": PUBLIC, "events": ["operation.prepared"] * 2}, {("events", "duplicate")}),
    ({"url": PUBLIC, "events": ["operation.created"]}, {("events.0", "not_a_choice")}),
    ({"url": PUBLIC, "accountId": "1"}, {("accountId", "malformed")}),
    *(
        ({"url": url}, {("url", "destination_refused")})
        for url in (
            "http://hooks.example.com/ads",
            "https://hooks.example.com:8443/ads",
            "https://user@hooks.example.com/ads",
            "https://hooks.example.com/ads#part",
            "https://127.0.0.1/",
            "https://[::1]/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://localhost/",
            "https://inside.example.com/",
            "https://nowhere.example.com/",
            "https:\\\\hooks.example.com/",
        )
    ),
]


@pytest.mark.parametrize(("body", "issues"), REFUSED)
async def test_what_is_no_subscription(
    both: Served, receiver: Receiver, body: Any, issues: set[tuple[str, str]]
) -> None:
    before = await both.rows()
    assert await both.admin.read_issues("POST", "/webhooks", body) == issues
    assert await both.rows() == before


async def test_an_account_that_is_not_there(both: Served, receiver: Receiver) -> None:
    for account in (NEVER, both.foreign["meta"]):
        await both.admin.problem(404, "POST", "/webhooks", {"url": PUBLIC, "accountId": account})


# -- what is delivered --------------------------------------------------------------------------------------------


async def test_what_reaches_a_receiver(both: Served, receiver: Receiver) -> None:
    webhook = await both.admin.post("/webhooks", {"url": receiver.url}, 201)
    operation = await prepare_operation(both)
    (delivery,) = await receiver.count(1)
    now = both.service.store.clock.now() / 1000
    event_id = webhooks.verify(delivery.body, delivery.headers, webhook["secret"], now)
    assert delivery.event["id"] == event_id
    with pytest.raises(webhooks.WebhookVerificationError):
        webhooks.verify(delivery.body, delivery.headers, "whsec_another", now)
    assert delivery.event["type"] == "operation.prepared"
    assert delivery.event["data"] == {
        "operationId": operation["id"],
        "accountId": both.accounts["meta"],
        "network": "meta",
        "status": "prepared",
    }
    await both.admin.execute(operation["id"])
    kinds = [sent.event["type"] for sent in await receiver.count(3)]
    assert sorted(kinds) == ["operation.prepared", "operation.running", "operation.succeeded"]
    record = await both.admin.get(f"/operations/{operation['id']}")
    credential = (await both.admin.get("/auth/verify"))["credential"]
    by = {"userId": both.people["admin"].actor.user_id, "credential": credential, "at": record["executedBy"]["at"]}
    assert record["executedBy"] == by and [step["executedBy"]["credential"] for step in record["receipt"]["steps"]] == [
        credential
    ] * len(record["receipt"]["steps"])
    executors = {sent.event["type"]: sent.event["data"].get("executedBy") for sent in receiver.got}
    assert executors == {"operation.prepared": None, "operation.running": by, "operation.succeeded": by}
    (newest, *_) = await wait_for_deliveries(both, webhook["webhookId"], 3)
    assert newest["status"] == "succeeded" and newest["nextAttemptAt"] is None
    path = f"/webhooks/{webhook['webhookId']}/deliveries/{newest['deliveryId']}"
    (attempt,) = await both.admin.get(f"{path}/attempts")
    assert (attempt["number"], attempt["statusCode"], attempt["error"]) == (1, 204, None)


async def test_only_what_was_subscribed_to(both: Served, receiver: Receiver) -> None:
    other = next(
        account["accountId"]
        for account in await both.admin.get("/accounts")
        if account["accountId"] != both.accounts["meta"]
    )
    quiet = await both.admin.post("/webhooks", {"url": receiver.url, "events": ["operation.cancelled"]}, 201)
    elsewhere = await both.admin.post("/webhooks", {"url": receiver.url, "accountId": other}, 201)
    operation = await prepare_operation(both)
    await both.admin.post(f"/operations/{operation['id']}/cancel", {})
    (delivery,) = await receiver.count(1)
    assert delivery.event["type"] == "operation.cancelled"
    await wait_for_deliveries(both, quiet["webhookId"])
    assert await both.admin.get(f"/webhooks/{elsewhere['webhookId']}/deliveries") == []


async def test_a_test_and_a_redelivery(both: Served, receiver: Receiver) -> None:
    webhook = await both.admin.post("/webhooks", {"url": receiver.url}, 201)
    path = f"/webhooks/{webhook['webhookId']}"
    queued = await both.admin.post(f"{path}/test", {}, 202)
    (delivery,) = await receiver.count(1)
    assert (delivery.event["type"], delivery.event["data"]["operationId"]) == ("webhook.test", None)
    assert delivery.headers["Service-Event-Id"] == queued["eventId"]
    await wait_for_deliveries(both, webhook["webhookId"])
    writes = both.networks.writes()
    again = await both.admin.post(f"{path}/deliveries/{queued['deliveryId']}/redeliver", {}, 202)
    assert (again["eventId"], again["status"], again["attempts"]) == (queued["eventId"], "pending", 1)
    first, second = await receiver.count(2)
    assert (second.body, second.headers["Service-Event-Id"]) == (first.body, queued["eventId"])
    await wait_for_deliveries(both, webhook["webhookId"])
    attempts = await both.admin.get(f"{path}/deliveries/{queued['deliveryId']}/attempts")
    assert [attempt["number"] for attempt in attempts] == [1, 2]
    assert both.networks.writes() == writes
    await both.admin.problem(404, "POST", f"{path}/deliveries/{NEVER}/redeliver", {})


async def test_paused_nothing_is_attempted(both: Served, receiver: Receiver) -> None:
    webhook = await both.admin.post("/webhooks", {"url": receiver.url}, 201)
    path = f"/webhooks/{webhook['webhookId']}"
    await both.admin.send("PATCH", path, {"active": False})
    await prepare_operation(both)
    queued = await both.admin.post(f"{path}/test", {}, 202)
    await asyncio.sleep(0.2)
    assert receiver.got == []
    assert {(row["status"], row["attempts"]) for row in await both.admin.get(f"{path}/deliveries")} == {("pending", 0)}
    refused = await both.admin.problem(409, "POST", f"{path}/deliveries/{queued['deliveryId']}/redeliver", {})
    assert (refused["code"], refused["outcome"]) == ("delivery_pending", "not_applied")
    await both.admin.send("PATCH", path, {"active": True})
    assert len(await receiver.count(2)) == 2


async def test_a_changed_selection_is_for_the_future(both: Served, receiver: Receiver) -> None:
    webhook = await both.admin.post("/webhooks", {"url": receiver.url}, 201)
    path = f"/webhooks/{webhook['webhookId']}"
    await both.admin.send("PATCH", path, {"active": False})
    await prepare_operation(both)
    await both.admin.send("PATCH", path, {"events": ["sync.failed"], "active": True})
    (delivery,) = await receiver.count(1)
    assert delivery.event["type"] == "operation.prepared"
    await prepare_operation(both)
    await asyncio.sleep(0.1)
    assert len(receiver.got) == 1


async def test_removed_nothing_more_comes(both: Served, receiver: Receiver) -> None:
    webhook = await both.admin.post("/webhooks", {"url": receiver.url}, 201)
    await both.admin.send("PATCH", f"/webhooks/{webhook['webhookId']}", {"active": False})
    await prepare_operation(both)
    await both.admin.delete(f"/webhooks/{webhook['webhookId']}")
    rows = await both.rows()
    assert (rows["webhooks"], rows["deliveries"], rows["delivery_attempts"]) == (0, 0, 0)


@pytest.mark.parametrize("end", ["revoked", "expired"])
async def test_it_ends_with_its_key(both: Served, receiver: Receiver, end: str) -> None:
    key_id, secret = await both.key("admin", expires_in=3_600_000 if end == "expired" else None)
    webhook = await both.caller(secret).post("/webhooks", {"url": receiver.url}, 201)
    await both.admin.post(f"/webhooks/{webhook['webhookId']}/test", {}, 202)
    await receiver.count(1)
    if end == "revoked":
        await both.admin.delete(f"/keys/{key_id}")
    else:
        both.hands.pass_(hours=2)
    await require_nothing_queued(both, webhook["webhookId"])
    assert len(receiver.got) == 1
    assert (webhook["status"], webhook["endedReason"]) == ("active", None)
    await require_shown_as_ended(both, webhook["webhookId"], f"key_{end}")


async def test_what_was_queued_before_the_end_fails(both: Served, receiver: Receiver) -> None:
    key_id, secret = await both.key("admin")
    webhook = await both.caller(secret).post("/webhooks", {"url": receiver.url}, 201)
    path = f"/webhooks/{webhook['webhookId']}"
    await both.admin.send("PATCH", path, {"active": False})
    await both.admin.post(f"{path}/test", {}, 202)
    await both.admin.delete(f"/keys/{key_id}")
    await both.admin.send("PATCH", path, {"active": True})
    (delivery,) = await wait_for_deliveries(both, webhook["webhookId"])
    assert (delivery["status"], delivery["attempts"]) == ("failed", 0)
    assert receiver.got == []


async def require_nothing_queued(both: Served, webhook_id: str) -> None:
    """For a subscription that has ended: neither events, nor a test, nor a delivery again."""
    path = f"/webhooks/{webhook_id}"
    before = [row["deliveryId"] for row in await both.admin.get(f"{path}/deliveries")]
    await prepare_operation(both)
    for request_path in (f"{path}/test", f"{path}/deliveries/{before[0]}/redeliver"):
        problem = await both.admin.problem(409, "POST", request_path, {})
        assert (problem["code"], problem["outcome"]) == ("webhook_ended", "not_applied")
    assert [row["deliveryId"] for row in await both.admin.get(f"{path}/deliveries")] == before


async def require_shown_as_ended(both: Served, webhook_id: str, reason: str) -> None:
    """In the list, after a change, which does not revive it, and when it is removed."""
    path = f"/webhooks/{webhook_id}"
    (listed_webhook,) = [row for row in await both.admin.get("/webhooks") if row["webhookId"] == webhook_id]
    changed = (await both.admin.send("PATCH", path, {"active": True})).json()["data"]
    for row in (listed_webhook, changed, await both.admin.delete(path)):
        assert (row["status"], row["endedReason"], row["active"]) == ("ended", reason, True)


async def test_it_ends_with_its_owners_membership(both: Served) -> None:
    await both.add("leaver", "shop", "member")
    webhook = await both.person("leaver").post("/webhooks", {"url": PUBLIC}, 201)
    paused = await both.admin.send("PATCH", f"/webhooks/{webhook['webhookId']}", {"active": False})
    assert (paused.json()["data"]["status"], paused.json()["data"]["endedReason"]) == ("paused", None)
    await both.admin.send("PATCH", f"/webhooks/{webhook['webhookId']}", {"active": True})
    await remove_member(both.service.store, "shop", "leaver@shop.example")
    await require_shown_as_ended(both, webhook["webhookId"], "membership_ended")


@pytest.mark.parametrize("end", ["revoked", "expired"])
async def test_it_ends_with_its_agents_grant(both: Served, receiver: Receiver, end: str) -> None:
    """Agents make none any more; those that they made before are still there."""
    helper = await agent(both)
    tokens = await helper.tokens()
    caller = await authenticate(both.service, f"Bearer {tokens['access_token']}")
    webhook: Any = await service.create_webhook(both.service, caller, url=receiver.url, account_id=None, events=None)
    await both.admin.post(f"/webhooks/{webhook['webhookId']}/test", {}, 202)
    await receiver.count(1)
    await helper.tokens()  # a new consent is the same agent's
    await both.admin.post(f"/webhooks/{webhook['webhookId']}/test", {}, 202)
    await receiver.count(2)
    if end == "revoked":
        for grant in await both.admin.get("/connected-agents"):
            if grant["revokedAt"] is None:
                await both.admin.delete(f"/connected-agents/{grant['grantId']}")
    else:
        both.hands.pass_(days=91)
    await require_nothing_queued(both, webhook["webhookId"])
    assert len(receiver.got) == 2
    await require_shown_as_ended(both, webhook["webhookId"], f"grant_{end}")


# -- trouble ------------------------------------------------------------------------------------------------------


async def test_a_worker_that_died_loses_nothing(both: Served, receiver: Receiver) -> None:
    webhook = await both.admin.post("/webhooks", {"url": receiver.url}, 201)
    path = f"/webhooks/{webhook['webhookId']}"
    await both.admin.send("PATCH", path, {"active": False})
    queued = await both.admin.post(f"{path}/test", {}, 202)

    def claim_and_die(connection: Any) -> int:
        """Another worker claims it, and is never heard of again."""
        stored.update_webhook(
            connection, both.people["admin"].actor, webhook["webhookId"], {"active": True}, both.service.store.clock
        )
        return len(deliveries.claim_deliveries(connection, both.service.store.clock, 10))

    assert await both.service.store.write(claim_and_die) == 1
    await asyncio.sleep(0.1)
    assert receiver.got == []
    (delivery,) = await both.admin.get(f"{path}/deliveries")
    assert (delivery["status"], delivery["attempts"]) == ("delivering", 1)
    both.hands.pass_(minutes=5, seconds=1)
    await both.admin.send("PATCH", path, {"active": True})
    (received,) = await receiver.count(1)
    assert received.headers["Service-Event-Id"] == queued["eventId"]
    await wait_for_deliveries(both, webhook["webhookId"])
    attempts = await both.admin.get(f"{path}/deliveries/{queued['deliveryId']}/attempts")
    assert [(attempt["number"], attempt["statusCode"]) for attempt in attempts] == [(1, None), (2, 204)]


async def test_rebinding_reaches_nobody(both: Served, receiver: Receiver) -> None:
    """The name was public when it was registered, and leads inside when it is called."""
    webhook = await both.admin.post("/webhooks", {"url": PUBLIC}, 201)

    async def inside(host: str) -> list[str]:
        return ["127.0.0.1"]

    both.service.resolve_host = inside
    path = f"/webhooks/{webhook['webhookId']}"
    queued = await both.admin.post(f"{path}/test", {}, 202)
    async with asyncio.timeout(20):
        while not (attempts := await both.admin.get(f"{path}/deliveries/{queued['deliveryId']}/attempts")) or (
            attempts[0]["durationMs"] is None
        ):
            await asyncio.sleep(0.01)
    assert attempts[0]["statusCode"] is None and "not public" in attempts[0]["error"]
    assert receiver.got == []


async def test_several_workers_share_the_work(both: Served, receiver: Receiver) -> None:
    webhook = await both.admin.post("/webhooks", {"url": receiver.url}, 201)
    path = f"/webhooks/{webhook['webhookId']}"
    await both.admin.send("PATCH", path, {"active": False})
    queued = [(await both.admin.post(f"{path}/test", {}, 202))["eventId"] for _ in range(60)]
    workers = [WebhookWorker(both.service) for _ in range(3)]
    running = [asyncio.create_task(worker.run()) for worker in workers]
    try:
        await both.admin.send("PATCH", path, {"active": True})
        await receiver.count(60)
        await wait_for_deliveries(both, webhook["webhookId"], 60)
    finally:
        for worker in workers:
            worker.stop()
        await asyncio.gather(*running)
    assert sorted(delivery.headers["Service-Event-Id"] for delivery in receiver.got) == sorted(queued)


async def test_no_secret_is_kept_in_the_open(both: Served, receiver: Receiver) -> None:
    webhook = await both.admin.post("/webhooks", {"url": receiver.url}, 201)
    secret = webhook["secret"].removeprefix("whsec_")
    webhooks_json = json.dumps(await both.admin.get("/webhooks"))
    assert secret not in webhooks_json
    if both.database.startswith("sqlite"):
        path = Path(both.database.removeprefix("sqlite:///"))
        for file in path.parent.glob(f"{path.name}*"):
            assert secret.encode() not in file.read_bytes() or file.suffix == ".keys"
