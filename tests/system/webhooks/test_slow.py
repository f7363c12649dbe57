"""Receivers that take their time, or take all they can get: they hold up nobody but themselves."""

from __future__ import annotations

import asyncio
import gzip
from contextlib import AsyncExitStack
from typing import Any

import pytest

from adsunify.http.backend import NetworkStream
from adsunify.service import webhook_worker
from adsunify.service.webhook_worker import MAX_RESPONSE_BYTES

from .receiving import (
    Hostile,
    Misbehaviour,
    endless_body,
    run_hostile_server,
    run_receiver,
    slow_body,
    slow_head,
    stay_silent,
)
from .world import World

TIMEOUT = 0.6
SLOW: dict[str, Misbehaviour] = {"silent": stay_silent, "slow head": slow_head}


@pytest.fixture
def short_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_worker, "TIMEOUT_SECONDS", TIMEOUT)


@pytest.mark.parametrize("name", SLOW)
async def test_an_attempt_ends_in_time(shop: World, short_timeout: None, name: str) -> None:
    async with run_hostile_server(SLOW[name]) as hostile, shop.run_worker():
        webhook_id = (await shop.subscribe(hostile.url))["webhookId"]
        await shop.happen()
        delivery = await shop.wait_for_delivery(webhook_id, "pending", attempts=1)
        (attempt,) = await shop.attempts(webhook_id, delivery["deliveryId"])
    assert hostile.got == 1
    assert TIMEOUT * 1000 - 50 <= attempt["durationMs"] <= (TIMEOUT + 1) * 1000
    assert attempt["statusCode"] is None and "did not answer" in attempt["error"]


async def test_of_an_endless_answer_no_more_than_64_kib_are_read(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    reading = NetworkStream.read

    async def count_bytes(stream: NetworkStream, *args: Any, **more: Any) -> bytes:
        data = await reading(stream, *args, **more)
        read.append(len(data))
        return data

    monkeypatch.setattr(NetworkStream, "read", count_bytes)
    async with run_hostile_server(endless_body) as hostile, shop.run_worker():
        webhook_id = (await shop.subscribe(hostile.url))["webhookId"]
        await shop.happen()
        delivery = await shop.wait_for_delivery(webhook_id)
        (attempt,) = await shop.attempts(webhook_id, delivery["deliveryId"])
    assert (delivery["status"], attempt["statusCode"]) == ("succeeded", 200)
    assert 32 * 1024 < sum(read) <= MAX_RESPONSE_BYTES


def _answer_badly(head: str, body: bytes) -> Misbehaviour:
    """200 with these headers, a body that does not fit them, and the end of the connection."""

    async def act(hostile: Hostile, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n".encode() + body)
        await writer.drain()
        await asyncio.sleep(0.05)

    return act


BODIES: dict[str, Misbehaviour] = {
    "slow": slow_body,
    "truncated": _answer_badly("Content-Length: 100", b"ok"),
    "no gzip": _answer_badly("Content-Encoding: gzip", b"ok"),
    "half a gzip": _answer_badly("Content-Encoding: gzip", gzip.compress(b"ok" * 100)[:-9]),
    "an unknown encoding": _answer_badly("Content-Encoding: br", b"ok"),
    "broken chunks": _answer_badly("Transfer-Encoding: chunked", b"nonsense\r\n"),
    "too long when inflated": _answer_badly("Content-Encoding: gzip", gzip.compress(b" " * 10_000_000)),
}


@pytest.mark.parametrize("name", BODIES)
async def test_any_2xx_is_an_acknowledgement_whatever_its_body(shop: World, short_timeout: None, name: str) -> None:
    async with run_hostile_server(BODIES[name]) as hostile, shop.run_worker():
        webhook_id = (await shop.subscribe(hostile.url))["webhookId"]
        await shop.happen()
        delivery = await shop.wait_for_delivery(webhook_id)
        (attempt,) = await shop.attempts(webhook_id, delivery["deliveryId"])
    assert (delivery["status"], attempt["statusCode"], attempt["error"], hostile.got) == ("succeeded", 200, None, 1)


async def test_the_others_do_not_wait(shop: World) -> None:
    """As many receivers that never answer as ones that do, each with several events waiting."""
    count, each = 12, 8
    async with AsyncExitStack() as stack:
        slow = [await stack.enter_async_context(run_hostile_server(stay_silent)) for _ in range(count)]
        good = [await stack.enter_async_context(run_receiver()) for _ in range(count)]
        for endpoint in (*slow, *good):
            await shop.subscribe(endpoint.url)
        await shop.happen(each)
        await stack.enter_async_context(shop.run_worker(patient=False))
        for receiver in good:
            await receiver.count(each, seconds=webhook_worker.TIMEOUT_SECONDS - 2)
        assert all(endpoint.got <= webhook_worker.INITIAL_CONCURRENCY for endpoint in slow)


async def test_who_does_not_answer_gets_one_attempt_at_a_time(shop: World, short_timeout: None) -> None:
    async with (
        run_hostile_server(stay_silent) as slow,
        run_receiver() as good,
        shop.run_worker(patient=False) as worker,
    ):
        dead, alive = [(await shop.subscribe(endpoint.url))["webhookId"] for endpoint in (slow, good)]
        await shop.happen(30)
        await good.count(30)
        await asyncio.sleep(TIMEOUT * 3)
        assert worker.concurrency_limits[dead] == 1 and worker.in_flight_counts[dead] <= 1
        assert worker.concurrency_limits[alive] > webhook_worker.INITIAL_CONCURRENCY
        assert slow.got <= webhook_worker.INITIAL_CONCURRENCY + 4


async def test_a_quick_receiver_gets_more_at_once_but_never_all(shop: World) -> None:
    """More is claimed for it than it is sent at once, so that it need not wait for the database."""
    open_, most = 0, 0

    async def soon(hostile: Hostile, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal open_, most
        open_ += 1
        most = max(most, open_)
        await asyncio.sleep(0.02)
        open_ -= 1
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        await writer.drain()
        await reader.read()  # it closes

    async with run_hostile_server(soon) as receiver, shop.run_worker() as worker:
        webhook_id = (await shop.subscribe(receiver.url))["webhookId"]
        await shop.happen(400)
        await shop.wait_until_done(400)
        assert (
            worker.concurrency_limits[webhook_id]
            == webhook_worker.MAX_CONCURRENCY
            > webhook_worker.MAX_CONCURRENT_SENDS
        )
        assert not worker.in_flight_counts and receiver.got == 400
    assert webhook_worker.INITIAL_CONCURRENCY < most <= webhook_worker.MAX_CONCURRENT_SENDS
