"""A service over a database with a workspace, whose clock a test sets; subscriptions, events and workers in it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from attrs import define, evolve
from sqlalchemy import Connection, func, select

from adsunify.actor import Actor
from adsunify.service import api_keys, webhooks
from adsunify.service.core import Service
from adsunify.service.factory import SECRET_KEYS_VARIABLE, open_service
from adsunify.service.tokens import hash_token
from adsunify.service.webhook_worker import WebhookWorker
from adsunify.store import Clock, events, keys, people
from adsunify.store.schema import deliveries, delivery_attempts

RING = {SECRET_KEYS_VARIABLE: "test:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}
EVENT = "sync.failed"
"""The event that these tests queue: it belongs to no operation."""
ENDED = ("succeeded", "failed")


@define
class Hands:
    """How many milliseconds the clock is ahead of the machine's."""

    ahead: int = 0

    def milliseconds(self) -> int:
        return time.time_ns() // 1_000_000 + self.ahead


@define
class World:
    """An open service, and its admin's actor."""

    service: Service
    actor: Actor
    hands: Hands

    def allow(self, *urls: str) -> None:
        """Let these addresses be destinations whatever they are."""
        settings = self.service.settings
        self.service.settings = evolve(settings, webhook_dev_targets=settings.webhook_dev_targets | {*urls})

    async def subscribe(self, url: str, actor: Actor | None = None) -> dict[str, Any]:
        """A subscription to :data:`EVENT`, with its secret."""
        self.allow(url)
        webhook: Any = await webhooks.create_webhook(
            self.service, actor or self.actor, url=url, account_id=None, events=[EVENT]
        )
        return dict(webhook)

    async def happen(self, count: int = 1) -> list[str]:
        """Let the event happen so often; its ids."""
        clock = self.service.store.clock
        rows = [
            events.make_event_row(EVENT, self.actor.workspace_id, clock.now(), status="failed", more={"what": "tree"})
            for _ in range(count)
        ]
        await self.service.store.write(events.record_events, rows)
        return [str(UUID(row["id"])) for row in rows]

    def pass_(self, milliseconds: int) -> None:
        """Let time pass, and have workers look at the clock."""
        self.hands.ahead += milliseconds
        for watcher in self.service.store.watchers:
            watcher()

    @asynccontextmanager
    async def run_worker(self, patient: bool = True) -> AsyncIterator[WebhookWorker]:
        """A worker, while the block lasts. Not ``patient``: what is in flight then is cut off."""
        worker = WebhookWorker(self.service)
        running = asyncio.create_task(worker.run())
        try:
            yield worker
        finally:
            worker.stop()
            while not patient and not running.done():
                for task in worker.sending_tasks:
                    task.cancel()
                await asyncio.sleep(0.01)
            await running

    async def deliveries(self, webhook_id: str) -> list[Any]:
        """The latest 100, newest first, as the answers show them."""
        rows: list[Any] = await webhooks.list_deliveries(self.service, self.actor, webhook_id=webhook_id)
        return rows

    async def attempts(self, webhook_id: str, delivery_id: str) -> list[Any]:
        rows: list[Any] = await webhooks.list_attempts(
            self.service, self.actor, webhook_id=webhook_id, delivery_id=delivery_id
        )
        return rows

    async def wait_for_delivery(self, webhook_id: str, *statuses: str, attempts: int = 0, seconds: float = 20) -> Any:
        """The one delivery of a subscription, once its status is one of these after so many attempts."""
        async with asyncio.timeout(seconds):
            while True:
                await asyncio.sleep(0.002)  # a read of SQLite gives way to nobody
                (delivery,) = await self.deliveries(webhook_id)
                if delivery["status"] in (statuses or ENDED) and delivery["attempts"] >= attempts:
                    return delivery

    async def wait_until_done(self, count: int, seconds: float = 60) -> None:
        """Wait until so many deliveries have ended."""
        async with asyncio.timeout(seconds):
            while (await self.service.store.read(_count_deliveries)).get("ended", 0) < count:
                await asyncio.sleep(0.01)

    async def rows(self) -> dict[str, int]:
        """How many deliveries have ended, and how many attempts there are."""
        counted: dict[str, int] = await self.service.store.read(_count_deliveries)
        return counted

    async def key(self, expires_in: int | None = None) -> Actor:
        """The admin through a key of its own. ``expires_in``: milliseconds."""
        clock = self.service.store.clock
        prefix, secret = api_keys.make_api_key()
        ends = None if expires_in is None else clock.now() + expires_in
        key = await self.service.store.write(
            keys.create_key,
            self.actor.workspace_id,
            self.actor.user_id,
            "key",
            prefix,
            hash_token(secret),
            True,
            ends,
            clock,
        )
        return evolve(self.actor, credential=key.id, kind="key", key_id=key.id)


def _count_deliveries(connection: Connection) -> dict[str, int]:
    ended = select(func.count()).where(deliveries.c.status.in_(ENDED))
    attempts = select(func.count()).select_from(delivery_attempts)
    return {
        "ended": connection.execute(ended).scalar_one(),
        "attempts": connection.execute(attempts).scalar_one(),
    }


@asynccontextmanager
async def open_world(database: str, targets: Sequence[str] = ()) -> AsyncIterator[World]:
    """Open the service over a database that is migrated already, or not yet."""
    hands = Hands()
    clock = Clock(hands.milliseconds, lambda: 0)
    service = (await open_service(database, RING, clock=clock, webhook_dev_targets=targets)).service

    def make_admin(connection: Connection) -> Actor:
        home = people.ensure_workspace(connection, "shop", clock)
        person = people.ensure_user(connection, "admin@shop.example", clock)
        people.set_membership(connection, home.id, person.id, "admin", clock)
        return Actor(home.id, person.id, "session", "admin", True, "session")

    try:
        yield World(service, await service.store.write(make_admin), hands)
    finally:
        await service.close()
