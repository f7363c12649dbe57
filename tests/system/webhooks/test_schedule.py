"""How often, and when: every way in which a receiver can fail, through all the 27 hours of its tries."""

from __future__ import annotations

import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from sqlalchemy import Connection, delete, update

from adsunify.http.retry_after import parse_retry_after
from adsunify.service import webhooks
from adsunify.service.webhook_worker import RETRY_SCHEDULE, backoff_seconds
from adsunify.store import deliveries
from adsunify.store.schema import api_keys, memberships
from adsunify.store.statement import Statement
from tests.databases import LONG_RUN
from tests.unit.http.certificates import Authority

from .receiving import Receiver, reset, run_hostile_server, run_receiver
from .world import World

MINUTE = 60_000


def answers(status: int, **headers: str) -> Callable[[], web.StreamResponse]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda: web.Response(status=status, headers=named)


Failing = tuple[str, Callable[[], int]]
"""The address, and how many requests came there."""


@asynccontextmanager
async def run_failing_receiver(name: str, folder: Path) -> AsyncIterator[Failing]:
    """A receiver that fails in the way of this name."""
    if name == "down":
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        yield f"http://127.0.0.1:{port}/hook", lambda: 0
    elif name == "reset":
        async with run_hostile_server(reset) as hostile:
            yield hostile.url, lambda: hostile.got
    elif name == "tls":
        async with run_receiver(Authority(folder).server("127.0.0.1")) as receiver:
            yield receiver.url, lambda: len(receiver.got)
    else:
        async with run_receiver() as receiver:
            receiver.answer = ANSWERS[name]
            yield receiver.url, lambda: len(receiver.got)


ANSWERS = {
    "500": answers(500),
    "503": answers(503, Retry_After="7"),
    "429": answers(429),
    "408": answers(408),
    "404": answers(404),
    "410": answers(410),
    "302": answers(302, Location="/elsewhere"),
    "308": answers(308, Location="/elsewhere"),
}
ATTEMPTS = {name: 1 if name in ("404", "410") else 8 for name in ("down", "reset", "tls", *ANSWERS)}
REACHED = {name: 0 if name in ("down", "tls") else count for name, count in ATTEMPTS.items()}
"""How many requests a receiver gets; a redirect's target, among them, would be one more."""


@pytest.mark.parametrize(("name", "attempts"), ATTEMPTS.items())
async def test_attempts_and_waits(shop: World, name: str, attempts: int, tmp_path: Path) -> None:
    async with run_failing_receiver(name, tmp_path) as (url, reached), shop.run_worker():
        webhook_id = (await shop.subscribe(url))["webhookId"]
        began = shop.service.store.clock.now()
        (event_id,) = await shop.happen()
        waits: list[float] = []
        for number in range(1, attempts + 1):
            delivery = await shop.wait_for_delivery(webhook_id, "pending", "failed", attempts=number)
            if delivery["nextAttemptAt"] is not None:
                ended = (await shop.attempts(webhook_id, delivery["deliveryId"]))[-1]
                due = _milliseconds(delivery["nextAttemptAt"])
                waits.append((due - _milliseconds(ended["at"]) - ended["durationMs"]) / 1000)
                shop.pass_(due - shop.service.store.clock.now() + 1)
        assert (delivery["status"], delivery["attempts"], delivery["eventId"]) == ("failed", attempts, event_id)
        assert reached() == REACHED[name]
        history = await shop.attempts(webhook_id, delivery["deliveryId"])
    assert [attempt["number"] for attempt in history] == list(range(1, attempts + 1))
    assert {attempt["statusCode"] for attempt in history} == {int(name) if name.isdigit() else None}
    assert all((attempt["error"] is None) == name.isdigit() for attempt in history)
    assert len(waits) == attempts - 1
    for wait, planned in zip(waits, RETRY_SCHEDULE, strict=False):
        least = max(planned * 0.8, 7) if name == "503" else planned * 0.8
        assert least - 0.1 <= wait <= max(planned * 1.2, least) + 0.5
    if attempts == 8:
        hours = (shop.service.store.clock.now() - began) / 3_600_000
        assert 0.8 * 27.58 <= hours <= 1.2 * 27.6


def _milliseconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


@pytest.mark.parametrize(
    ("tries", "retry_after", "least", "most"),
    [(1, None, 4, 6), (1, 1, 4, 6), (1, 7, 7, 7), (1, 3600, 8, 12), (7, None, 28800, 43200), (8, None, None, None)],
)
def test_retry_after_is_honoured_from_once_to_twice_the_wait(
    tries: int, retry_after: float | None, least: float | None, most: float | None
) -> None:
    for drawn in (0.0, 0.5, 1.0):
        wait = backoff_seconds(tries, retry_after, drawn)
        assert (wait is None) == (least is None)
        if wait is not None and least is not None and most is not None:
            assert least <= round(wait, 6) <= most


@pytest.mark.parametrize("header", ["10000000", "9" * 30, "9" * 5_000, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_however_long_retry_after_asks_for_it_is_twice_the_wait(header: str) -> None:
    assert backoff_seconds(1, parse_retry_after({"retry-after": header}, time.time()), 0.5) == 2 * RETRY_SCHEDULE[0]


# -- on, off, again, gone -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
async def test_any_2xx_is_taken_for_received(shop: World, receiver: Receiver, status: int) -> None:
    receiver.answer = answers(status)
    webhook_id = (await shop.subscribe(receiver.url))["webhookId"]
    async with shop.run_worker():
        await shop.happen()
        assert (await shop.wait_for_delivery(webhook_id))["status"] == "succeeded"
    assert len(receiver.got) == 1


async def test_paused_no_attempt_is_used_and_nothing_is_lost(shop: World, receiver: Receiver) -> None:
    receiver.answer = answers(500)
    webhook_id = (await shop.subscribe(receiver.url))["webhookId"]

    async def switch(active: bool) -> None:
        await webhooks.update_webhook(
            shop.service, shop.actor, webhook_id=webhook_id, url=None, active=active, events=None
        )

    async with shop.run_worker():
        await shop.happen()
        await shop.wait_for_delivery(webhook_id, "pending", attempts=1)
        await switch(False)
        shop.pass_(30 * 24 * 60 * MINUTE)
        await shop.happen(3)
        shop.pass_(MINUTE)
        assert [delivery["attempts"] for delivery in await shop.deliveries(webhook_id)] == [0, 0, 0, 1]
        assert {delivery["status"] for delivery in await shop.deliveries(webhook_id)} == {"pending"}
        assert len(receiver.got) == 1
        receiver.answer = answers(204)
        await switch(True)
        await shop.wait_until_done(4)
    assert [delivery["attempts"] for delivery in await shop.deliveries(webhook_id)] == [1, 1, 1, 2]
    assert len(receiver.got) == 5


async def test_delivered_again_it_has_eight_new_tries_and_its_old_history(shop: World, receiver: Receiver) -> None:
    receiver.answer = answers(404)
    webhook_id = (await shop.subscribe(receiver.url))["webhookId"]
    async with shop.run_worker():
        (event_id,) = await shop.happen()
        delivery = await shop.wait_for_delivery(webhook_id)
        receiver.answer = answers(500)
        again = await webhooks.redeliver_event(
            shop.service, shop.actor, webhook_id=webhook_id, delivery_id=delivery["deliveryId"]
        )
        assert isinstance(again, dict) and again["eventId"] == event_id
        for number in range(2, 10):
            delivery = await shop.wait_for_delivery(webhook_id, "pending", "failed", attempts=number)
            shop.pass_(24 * 60 * MINUTE)
        assert (delivery["status"], delivery["attempts"]) == ("failed", 9)
    history = await shop.attempts(webhook_id, delivery["deliveryId"])
    assert [attempt["statusCode"] for attempt in history] == [404, *[500] * 8]
    assert {received.event_id for received in receiver.got} == {event_id}
    assert len({received.body for received in receiver.got}) == 1


async def test_removed_nothing_more_comes(shop: World, receiver: Receiver) -> None:
    receiver.answer = answers(500)
    webhook_id = (await shop.subscribe(receiver.url))["webhookId"]
    async with shop.run_worker():
        await shop.happen(2)
        await receiver.count(2)
        await webhooks.remove_webhook(shop.service, shop.actor, webhook_id=webhook_id)
        await shop.happen()
        shop.pass_(30 * 24 * 60 * MINUTE)
    assert len(receiver.got) == 2
    assert await shop.rows() == {"ended": 0, "attempts": 0}


@pytest.mark.parametrize("end", ["revoked", "expired", "member"])
async def test_it_ends_with_whoever_made_it(shop: World, receiver: Receiver, end: str) -> None:
    """What is queued stops at the next claim: the key revoked or expired, or its owner gone from the workspace."""
    receiver.answer = answers(500)
    actor = await shop.key(expires_in=60 * MINUTE)
    webhook_id = (await shop.subscribe(receiver.url, actor))["webhookId"]
    async with shop.run_worker():
        await shop.happen()
        await shop.wait_for_delivery(webhook_id, "pending", attempts=1)
        if end == "revoked":
            revoked = update(api_keys).where(api_keys.c.id == actor.key_id).values(revoked_at=1)
            await shop.service.store.write(lambda connection: connection.execute(revoked) and None)
        elif end == "member":
            gone = delete(memberships).where(memberships.c.user_id == actor.user_id)
            await shop.service.store.write(lambda connection: connection.execute(gone) and None)
        shop.pass_(MINUTE if end != "expired" else 61 * MINUTE)
        delivery = await shop.wait_for_delivery(webhook_id)
    assert (delivery["status"], delivery["attempts"], len(receiver.got)) == ("failed", 1, 1)


# -- a backlog ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", LONG_RUN, indirect=True)
async def test_a_backlog_drains_without_pauses(
    shop: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand are due at once, a hundred batches: no minute passes between them, and no batch is larger than ten."""
    batches: list[int] = []
    take = Statement.fetch_all

    def count_batch(statement: Statement, connection: Connection, values: Mapping[str, Any]) -> list[Any]:
        taken_rows = take(statement, connection, values)
        if statement is deliveries._TAKE:
            batches.append(len(taken_rows))
        return taken_rows

    webhook_id = (await shop.subscribe(receiver.url))["webhookId"]
    expected = {event_id for _ in range(10) for event_id in await shop.happen(100)}
    monkeypatch.setattr(Statement, "fetch_all", count_batch)
    async with shop.run_worker():
        await shop.wait_until_done(1_000, seconds=55)
    assert {received.event_id for received in receiver.got} == expected and len(receiver.got) == 1_000
    assert sum(batches) == 1_000 and max(batches) <= 10
    assert len(await shop.deliveries(webhook_id)) == 100
