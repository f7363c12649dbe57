"""The example receivers, each as the process a reader would start, with real deliveries from a worker of ours."""

from __future__ import annotations

import asyncio
import os
import socket
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from adsunify.service import webhooks
from adsunify.webhooks import EVENT_ID_HEADER, SIGNATURE_HEADER, sign

from .world import World

EXAMPLES = Path(__file__).parents[3] / "examples" / "receivers"
FRAMEWORKS = sorted(path.stem.removesuffix("_receiver") for path in EXAMPLES.glob("*_receiver.py"))


@pytest.fixture(params=["sqlite"])
def engine(request: pytest.FixtureRequest) -> str:
    """A receiver knows no database of ours."""
    return str(request.param)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


@asynccontextmanager
async def run_example(framework: str, port: int, secret: str, inbox: Path) -> AsyncIterator[None]:
    """The example as a process, once it listens."""
    command = [sys.executable, str(EXAMPLES / f"{framework}_receiver.py")]
    environment = {**os.environ, "WEBHOOK_SECRET": secret, "INBOX": str(inbox), "PORT": str(port)}
    quiet = asyncio.subprocess.DEVNULL
    child = await asyncio.create_subprocess_exec(*command, env=environment, stdout=quiet, stderr=quiet)
    try:
        async with asyncio.timeout(60):
            while True:
                assert child.returncode is None, "the example ended"
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(0.05)
                    continue
                writer.close()
                break
        yield
    finally:
        if child.returncode is None:
            child.terminate()
        await child.wait()


def read_inbox(inbox: Path) -> list[Any]:
    """The ids and bodies in the receiver's inbox."""
    with closing(sqlite3.connect(inbox)) as database:
        return database.execute("SELECT id, body FROM events ORDER BY rowid").fetchall()


def test_the_four_frameworks() -> None:
    assert FRAMEWORKS == ["aiohttp", "django", "fastapi", "flask"]


@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_an_example_receiver(shop: World, framework: str, tmp_path: Path) -> None:
    port, inbox = _free_port(), tmp_path / "inbox.db"
    url = f"http://127.0.0.1:{port}/hook"
    webhook = await shop.subscribe(url)
    async with run_example(framework, port, webhook["secret"], inbox), shop.run_worker():
        (event_id,) = await shop.happen()
        delivery = await shop.wait_for_delivery(webhook["webhookId"])
        (attempt,) = await shop.attempts(webhook["webhookId"], delivery["deliveryId"])
        assert (delivery["status"], attempt["statusCode"]) == ("succeeded", 204)
        ((id_, body),) = read_inbox(inbox)
        assert id_ == event_id

        await webhooks.redeliver_event(
            shop.service, shop.actor, webhook_id=webhook["webhookId"], delivery_id=delivery["deliveryId"]
        )
        assert (await shop.wait_for_delivery(webhook["webhookId"], "succeeded", attempts=2))["status"] == "succeeded"
        assert read_inbox(inbox) == [(event_id, body)], "what came twice is kept once"

        now = shop.service.store.clock.now() // 1000
        good = {EVENT_ID_HEADER: event_id, SIGNATURE_HEADER: sign(body, event_id, webhook["secret"], now)}
        async with httpx.AsyncClient(trust_env=False) as client:
            assert (await client.post(url, content=body, headers=good)).status_code == 204
            for content, headers in (
                (body + b" ", good),
                (body, {**good, EVENT_ID_HEADER: "another"}),
                (body, {**good, SIGNATURE_HEADER: sign(body, event_id, "another", now)}),
                (body, {**good, SIGNATURE_HEADER: sign(body, event_id, webhook["secret"], now - 301)}),
                (body, {}),
            ):
                assert (await client.post(url, content=content, headers=headers)).status_code == 400
            assert (await client.get(url)).status_code == 405
        assert read_inbox(inbox) == [(event_id, body)]


@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_a_receiver_with_another_secret_refuses(shop: World, framework: str, tmp_path: Path) -> None:
    port, inbox = _free_port(), tmp_path / "inbox.db"
    webhook = await shop.subscribe(f"http://127.0.0.1:{port}/hook")
    async with run_example(framework, port, "whsec_of_somebody_else", inbox), shop.run_worker():
        await shop.happen()
        delivery = await shop.wait_for_delivery(webhook["webhookId"])
    (attempt,) = await shop.attempts(webhook["webhookId"], delivery["deliveryId"])
    assert (delivery["status"], delivery["attempts"], attempt["statusCode"]) == ("failed", 1, 400)
    assert read_inbox(inbox) == []
