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
    async with run_receiver() as one:
        both.service.resolve_host = _public
        both.service.settings = evolve(both.service.settings, webhook_dev_targets=frozenset({one.url}))
        yield one
        for left in await both.admin.get("/webhooks"):
            await both.admin.delete(f"/webhooks/{left['webhookId']}")


async def prepare_operation(server: Served) -> Any:
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    return await server.admin.post("/create", body, 201)


async def wait_for_deliveries(server: Served, webhook_id: str, count: int = 1) -> list[Any]:
    """The deliveries, once so many of them are at their end."""
    async with asyncio.timeout(20):
        while True:
            found: list[Any] = await server.admin.get(f"/webhooks/{webhook_id}/deliveries")
            if sum(one["status"] in ("succeeded", "failed") for one in found) >= count:
                return found
            await asyncio.sleep(0.01)


# -- subscriptions ------------------------------------------------------------------------------------------------


async def test_a_subscription(both: Served, receiver: Receiver) -> None:
    made = await both.admin.post("/webhooks", {"url": PUBLIC}, 201)
    assert made["secret"].startswith("whsec_")
    assert made["events"] == [
        "operation.prepared",
        "operation.running",
        "operation.succeeded",
        "operation.unknown",
        "operation.cancelled",
    ]
    assert (made["active"], made["accountId"], made["url"]) == (True, None, PUBLIC)
    (listed,) = await both.admin.get("/webhooks")
    assert listed == {name: value for name, value in made.items() if name != "secret"}
    assert await both.person("stranger").get("/webhooks") == []
    assert await both.person("member").get("/webhooks") == []
    path = f"/webhooks/{made['webhookId']}"
    for caller in (both.person("stranger"), both.person("member")):
        for method, where in (("DELETE", path), ("GET", f"{path}/deliveries")):
            assert (await caller.problem(404, method, where))["code"] == "not_found"
    changed = await both.admin.send("PATCH", path, {"active": False, "events": ["sync.failed"]})
    assert (changed.json()["data"]["active"], changed.json()["data"]["events"]) == (False, ["sync.failed"])
    assert (await both.admin.send("PATCH", path, {})).json()["data"] == changed.json()["data"]
    removed = await both.admin.delete(path)
    assert removed["webhookId"] == made["webhookId"]
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
    made = await both.admin.post("/webhooks", {"url": receiver.url}, 201)
    operation = await prepare_operation(both)
    (got,) = await receiver.count(1)
    now = both.service.store.clock.now() / 1000
    event_id = webhooks.verify(got.body, got.headers, made["secret"], now)
    assert got.event["id"] == event_id
    with pytest.raises(webhooks.WebhookVerificationError):
        webhooks.verify(got.body, got.headers, "whsec_another", now)
    assert got.event["type"] == "operation.prepared"
    assert got.event["data"] == {
        "operationId": operation["id"],
        "accountId": both.accounts["meta"],
        "network": "meta",
        "status": "prepared",
    }
    await both.admin.execute(operation["id"])
    kinds = [one.event["type"] for one in await receiver.count(3)]
    assert sorted(kinds) == ["operation.prepared", "operation.running", "operation.succeeded"]
    shown = await both.admin.get(f"/operations/{operation['id']}")
    credential = (await both.admin.get("/auth/verify"))["credential"]
    by = {"userId": both.people["admin"].actor.user_id, "credential": credential, "at": shown["executedBy"]["at"]}
    assert shown["executedBy"] == by and [one["executedBy"]["credential"] for one in shown["receipt"]["steps"]] == [
        credential
    ] * len(shown["receipt"]["steps"])
    told = {one.event["type"]: one.event["data"].get("executedBy") for one in receiver.got}
    assert told == {"operation.prepared": None, "operation.running": by, "operation.succeeded": by}
    (newest, *_) = await wait_for_deliveries(both, made["webhookId"], 3)
    assert newest["status"] == "succeeded" and newest["nextAttemptAt"] is None
    path = f"/webhooks/{made['webhookId']}/deliveries/{newest['deliveryId']}"
    (attempt,) = await both.admin.get(f"{path}/attempts")
    assert (attempt["number"], attempt["statusCode"], attempt["error"]) == (1, 204, None)


async def test_only_what_was_subscribed_to(both: Served, receiver: Receiver) -> None:
    other = next(
        one["accountId"] for one in await both.admin.get("/accounts") if one["accountId"] != both.accounts["meta"]
    )
    quiet = await both.admin.post("/webhooks", {"url": receiver.url, "events": ["operation.cancelled"]}, 201)
    elsewhere = await both.admin.post("/webhooks", {"url": receiver.url, "accountId": other}, 201)
    operation = await prepare_operation(both)
    await both.admin.post(f"/operations/{operation['id']}/cancel", {})
    (got,) = await receiver.count(1)
    assert got.event["type"] == "operation.cancelled"
    await wait_for_deliveries(both, quiet["webhookId"])
    assert await both.admin.get(f"/webhooks/{elsewhere['webhookId']}/deliveries") == []


async def test_a_test_and_a_redelivery(both: Served, receiver: Receiver) -> None:
    made = await both.admin.post("/webhooks", {"url": receiver.url}, 201)
    path = f"/webhooks/{made['webhookId']}"
    queued = await both.admin.post(f"{path}/test", {}, 202)
    (got,) = await receiver.count(1)
    assert (got.event["type"], got.event["data"]["operationId"]) == ("webhook.test", None)
    assert got.headers["Service-Event-Id"] == queued["eventId"]
    await wait_for_deliveries(both, made["webhookId"])
    writes = both.networks.writes()
    again = await both.admin.post(f"{path}/deliveries/{queued['deliveryId']}/redeliver", {}, 202)
    assert (again["eventId"], again["status"], again["attempts"]) == (queued["eventId"], "pending", 1)
    first, second = await receiver.count(2)
    assert (second.body, second.headers["Service-Event-Id"]) == (first.body, queued["eventId"])
    await wait_for_deliveries(both, made["webhookId"])
    attempts = await both.admin.get(f"{path}/deliveries/{queued['deliveryId']}/attempts")
    assert [one["number"] for one in attempts] == [1, 2]
    assert both.networks.writes() == writes
    await both.admin.problem(404, "POST", f"{path}/deliveries/{NEVER}/redeliver", {})


async def test_paused_nothing_is_attempted(both: Served, receiver: Receiver) -> None:
    made = await both.admin.post("/webhooks", {"url": receiver.url}, 201)
    path = f"/webhooks/{made['webhookId']}"
    await both.admin.send("PATCH", path, {"active": False})
    await prepare_operation(both)
    queued = await both.admin.post(f"{path}/test", {}, 202)
    await asyncio.sleep(0.2)
    assert receiver.got == []
    assert {(one["status"], one["attempts"]) for one in await both.admin.get(f"{path}/deliveries")} == {("pending", 0)}
    refused = await both.admin.problem(409, "POST", f"{path}/deliveries/{queued['deliveryId']}/redeliver", {})
    assert (refused["code"], refused["outcome"]) == ("delivery_pending", "not_applied")
    await both.admin.send("PATCH", path, {"active": True})
    assert len(await receiver.count(2)) == 2


async def test_a_changed_selection_is_for_the_future(both: Served, receiver: Receiver) -> None:
    made = await both.admin.post("/webhooks", {"url": receiver.url}, 201)
    path = f"/webhooks/{made['webhookId']}"
    await both.admin.send("PATCH", path, {"active": False})
    await prepare_operation(both)
    await both.admin.send("PATCH", path, {"events": ["sync.failed"], "active": True})
    (got,) = await receiver.count(1)
    assert got.event["type"] == "operation.prepared"
    await prepare_operation(both)
    await asyncio.sleep(0.1)
    assert len(receiver.got) == 1


async def test_removed_nothing_more_comes(both: Served, receiver: Receiver) -> None:
    made = await both.admin.post("/webhooks", {"url": receiver.url}, 201)
    await both.admin.send("PATCH", f"/webhooks/{made['webhookId']}", {"active": False})
    await prepare_operation(both)
    await both.admin.delete(f"/webhooks/{made['webhookId']}")
    rows = await both.rows()
    assert (rows["webhooks"], rows["deliveries"], rows["delivery_attempts"]) == (0, 0, 0)


@pytest.mark.parametrize("end", ["revoked", "expired"])
async def test_it_ends_with_its_key(both: Served, receiver: Receiver, end: str) -> None:
    key_id, secret = await both.key("admin", expires_in=3_600_000 if end == "expired" else None)
    made = await both.caller(secret).post("/webhooks", {"url": receiver.url}, 201)
    await both.admin.post(f"/webhooks/{made['webhookId']}/test", {}, 202)
    await receiver.count(1)
    if end == "revoked":
        await both.admin.delete(f"/keys/{key_id}")
    else:
        both.hands.pass_(hours=2)
    await require_nothing_queued(both, made["webhookId"])
    assert len(receiver.got) == 1
    assert (made["status"], made["endedReason"]) == ("active", None)
    await require_shown_as_ended(both, made["webhookId"], f"key_{end}")


async def test_what_was_queued_before_the_end_fails(both: Served, receiver: Receiver) -> None:
    key_id, secret = await both.key("admin")
    made = await both.caller(secret).post("/webhooks", {"url": receiver.url}, 201)
    path = f"/webhooks/{made['webhookId']}"
    await both.admin.send("PATCH", path, {"active": False})
    await both.admin.post(f"{path}/test", {}, 202)
    await both.admin.delete(f"/keys/{key_id}")
    await both.admin.send("PATCH", path, {"active": True})
    (found,) = await wait_for_deliveries(both, made["webhookId"])
    assert (found["status"], found["attempts"]) == ("failed", 0)
    assert receiver.got == []


async def require_nothing_queued(both: Served, webhook_id: str) -> None:
    """For a subscription that has ended: neither events, nor a test, nor a delivery again."""
    path = f"/webhooks/{webhook_id}"
    before = [one["deliveryId"] for one in await both.admin.get(f"{path}/deliveries")]
    await prepare_operation(both)
    for asked in (f"{path}/test", f"{path}/deliveries/{before[0]}/redeliver"):
        problem = await both.admin.problem(409, "POST", asked, {})
        assert (problem["code"], problem["outcome"]) == ("webhook_ended", "not_applied")
    assert [one["deliveryId"] for one in await both.admin.get(f"{path}/deliveries")] == before


async def require_shown_as_ended(both: Served, webhook_id: str, reason: str) -> None:
    """In the list, after a change, which does not revive it, and when it is removed."""
    path = f"/webhooks/{webhook_id}"
    (listed,) = [one for one in await both.admin.get("/webhooks") if one["webhookId"] == webhook_id]
    changed = (await both.admin.send("PATCH", path, {"active": True})).json()["data"]
    for one in (listed, changed, await both.admin.delete(path)):
        assert (one["status"], one["endedReason"], one["active"]) == ("ended", reason, True)


async def test_it_ends_with_its_owners_membership(both: Served) -> None:
    await both.add("leaver", "shop", "member")
    made = await both.person("leaver").post("/webhooks", {"url": PUBLIC}, 201)
    paused = await both.admin.send("PATCH", f"/webhooks/{made['webhookId']}", {"active": False})
    assert (paused.json()["data"]["status"], paused.json()["data"]["endedReason"]) == ("paused", None)
    await both.admin.send("PATCH", f"/webhooks/{made['webhookId']}", {"active": True})
    await remove_member(both.service.store, "shop", "leaver@shop.example")
    await require_shown_as_ended(both, made["webhookId"], "membership_ended")


@pytest.mark.parametrize("end", ["revoked", "expired"])
async def test_it_ends_with_its_agents_grant(both: Served, receiver: Receiver, end: str) -> None:
    """Agents make none any more; those that they made before are still there."""
    helper = await agent(both)
    tokens = await helper.tokens()
    caller = await authenticate(both.service, f"Bearer {tokens['access_token']}")
    made: Any = await service.create_webhook(both.service, caller, url=receiver.url, account_id=None, events=None)
    await both.admin.post(f"/webhooks/{made['webhookId']}/test", {}, 202)
    await receiver.count(1)
    await helper.tokens()  # a new consent is the same agent's
    await both.admin.post(f"/webhooks/{made['webhookId']}/test", {}, 202)
    await receiver.count(2)
    if end == "revoked":
        for grant in await both.admin.get("/connected-agents"):
            if grant["revokedAt"] is None:
                await both.admin.delete(f"/connected-agents/{grant['grantId']}")
    else:
        both.hands.pass_(days=91)
    await require_nothing_queued(both, made["webhookId"])
    assert len(receiver.got) == 2
    await require_shown_as_ended(both, made["webhookId"], f"grant_{end}")


# -- trouble ------------------------------------------------------------------------------------------------------


async def test_a_worker_that_died_loses_nothing(both: Served, receiver: Receiver) -> None:
    made = await both.admin.post("/webhooks", {"url": receiver.url}, 201)
    path = f"/webhooks/{made['webhookId']}"
    await both.admin.send("PATCH", path, {"active": False})
    queued = await both.admin.post(f"{path}/test", {}, 202)

    def claim_and_die(connection: Any) -> int:
        """Another worker claims it, and is never heard of again."""
        stored.update_webhook(
            connection, both.people["admin"].actor, made["webhookId"], {"active": True}, both.service.store.clock
        )
        return len(deliveries.claim_deliveries(connection, both.service.store.clock, 10))

    assert await both.service.store.write(claim_and_die) == 1
    await asyncio.sleep(0.1)
    assert receiver.got == []
    (delivery,) = await both.admin.get(f"{path}/deliveries")
    assert (delivery["status"], delivery["attempts"]) == ("delivering", 1)
    both.hands.pass_(minutes=5, seconds=1)
    await both.admin.send("PATCH", path, {"active": True})
    (got,) = await receiver.count(1)
    assert got.headers["Service-Event-Id"] == queued["eventId"]
    await wait_for_deliveries(both, made["webhookId"])
    attempts = await both.admin.get(f"{path}/deliveries/{queued['deliveryId']}/attempts")
    assert [(one["number"], one["statusCode"]) for one in attempts] == [(1, None), (2, 204)]


async def test_rebinding_reaches_nobody(both: Served, receiver: Receiver) -> None:
    """The name was public when it was registered, and leads inside when it is called."""
    made = await both.admin.post("/webhooks", {"url": PUBLIC}, 201)

    async def inside(host: str) -> list[str]:
        return ["127.0.0.1"]

    both.service.resolve_host = inside
    path = f"/webhooks/{made['webhookId']}"
    queued = await both.admin.post(f"{path}/test", {}, 202)
    async with asyncio.timeout(20):
        while not (found := await both.admin.get(f"{path}/deliveries/{queued['deliveryId']}/attempts")) or (
            found[0]["durationMs"] is None
        ):
            await asyncio.sleep(0.01)
    assert found[0]["statusCode"] is None and "not public" in found[0]["error"]
    assert receiver.got == []


async def test_several_workers_share_the_work(both: Served, receiver: Receiver) -> None:
    made = await both.admin.post("/webhooks", {"url": receiver.url}, 201)
    path = f"/webhooks/{made['webhookId']}"
    await both.admin.send("PATCH", path, {"active": False})
    queued = [(await both.admin.post(f"{path}/test", {}, 202))["eventId"] for _ in range(60)]
    workers = [WebhookWorker(both.service) for _ in range(3)]
    running = [asyncio.create_task(worker.run()) for worker in workers]
    try:
        await both.admin.send("PATCH", path, {"active": True})
        await receiver.count(60)
        await wait_for_deliveries(both, made["webhookId"], 60)
    finally:
        for worker in workers:
            worker.stop()
        await asyncio.gather(*running)
    assert sorted(one.headers["Service-Event-Id"] for one in receiver.got) == sorted(queued)


async def test_no_secret_is_kept_in_the_open(both: Served, receiver: Receiver) -> None:
    made = await both.admin.post("/webhooks", {"url": receiver.url}, 201)
    secret = made["secret"].removeprefix("whsec_")
    listed = json.dumps(await both.admin.get("/webhooks"))
    assert secret not in listed
    if both.database.startswith("sqlite"):
        path = Path(both.database.removeprefix("sqlite:///"))
        for file in path.parent.glob(f"{path.name}*"):
            assert secret.encode() not in file.read_bytes() or file.suffix == ".keys"
