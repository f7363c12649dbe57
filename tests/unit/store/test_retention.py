"""Each kind is deleted when its retention is over, and not one millisecond before; what must stay stays."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, text, update

from adsunify.errors import Conflict
from adsunify.execution.state import StateCommit
from adsunify.plans.records import Plan
from adsunify.service.retention import DAY_MILLISECONDS, delete_due
from adsunify.store import Clock, new_id, open_store, operations, retention, schema
from adsunify.store.removed_bodies import PlanRemains
from adsunify.store.retention import RULES, RetentionKind

from .world import PLAN, START, World, make_intent, make_receipt

DAYS: dict[RetentionKind, int] = {rule.kind: 10 for rule in RULES}
AGE = 10 * DAY_MILLISECONDS


def only(kind: RetentionKind) -> dict[RetentionKind, int]:
    return {rule.kind: 10 if rule.kind == kind else 0 for rule in RULES}


async def add(world: World, table: Any, **row: Any) -> None:
    await world.store.write(lambda connection: connection.execute(insert(table).values(**row)) and None)


async def keys(world: World, table: Any) -> list[str]:
    key = next(iter(table.primary_key))
    return await world.store.read(lambda connection: list(connection.execute(select(key).order_by(key)).scalars()))


async def run(world: World, kind: RetentionKind, **more: Any) -> int:
    results = await delete_due(world.store, only(kind), **more)
    return sum(result.count for result in results)


async def add_client(world: World, client_id: str = "client") -> None:
    await add(world, schema.oauth_clients, id=client_id, name="Agent", redirect_uris=[], created_at=START)


async def add_grant(world: World, id_: str, client_id: str = "client", **more: Any) -> None:
    await add(
        world,
        schema.grants,
        **{
            "id": id_,
            "workspace_id": world.admin.workspace_id,
            "user_id": world.admin.user_id,
            "client_id": client_id,
            "can_write": False,
            "resource": "https://ads.example/api/mcp",
            "created_at": START,
            "expires_at": START + 100 * DAY_MILLISECONDS,
            **more,
        },
    )


async def add_token(world: World, token_hash: str, grant_id: str, expires_at: int) -> None:
    row = {"token_hash": token_hash, "grant_id": grant_id, "kind": "refresh", "created_at": START}
    await add(world, schema.oauth_tokens, **row, expires_at=expires_at)


async def _tokens(world: World) -> Any:
    await add_client(world)
    await add_grant(world, "grant")
    for token_hash, expires_at in (("due", START), ("later", START + 1)):
        await add_token(world, token_hash, "grant", expires_at)
    return schema.oauth_tokens


async def _sessions(world: World) -> Any:
    for token_hash, expires_at in (("due", START), ("later", START + 1)):
        row = {"token_hash": token_hash, "user_id": world.admin.user_id, "created_at": 0}
        await add(world, schema.sessions, **row, expires_at=expires_at)
    return schema.sessions


async def _consents(world: World) -> Any:
    owner = {"workspace_id": world.admin.workspace_id, "user_id": world.admin.user_id}
    for token_hash, expires_at in (("due", START), ("later", START + 1)):
        row = {"token_hash": token_hash, "purpose": "link", "network": "meta", "data": {}, "created_at": 0}
        await add(world, schema.consents, **owner, **row, expires_at=expires_at)
    return schema.consents


async def _invitations(world: World) -> Any:
    owner = {"workspace_id": world.admin.workspace_id, "user_id": world.admin.user_id}
    for token_hash, expires_at in (("due", START), ("later", START + 1)):
        row = {"token_hash": token_hash, "email": "a@b.example", "role": "member", "created_at": 0}
        await add(world, schema.invitations, **owner, **row, expires_at=expires_at)
    return schema.invitations


async def _grants(world: World) -> Any:
    await add_client(world)
    await add_grant(world, "due", revoked_at=START)
    await add_grant(world, "later", revoked_at=START + 1)
    await add_token(world, "token", "due", START + 90 * DAY_MILLISECONDS)
    return schema.grants


async def add_webhook(world: World) -> str:
    id_ = new_id(world.clock.now())
    owner = {"workspace_id": world.admin.workspace_id, "user_id": world.admin.user_id, "credential": "session"}
    row = {"id": id_, "url": "https://a.example/", "events": [], "active": True, "created_at": START}
    await add(world, schema.webhooks, **owner, **row)
    return id_


async def add_delivery(world: World, id_: str, webhook: str, status: str, *attempts: int) -> None:
    row = {"id": id_, "webhook_id": webhook, "event_id": id_, "type": "t", "url": "https://a.example/", "body": "{}"}
    counts = {"attempts": len(attempts), "tries": len(attempts)}
    due = {"next_attempt_at": START} if status in ("pending", "delivering") else {}
    await add(world, schema.deliveries, **row, **counts, **due, status=status, created_at=START - DAY_MILLISECONDS)
    for number, at in enumerate(attempts, 1):
        await add(world, schema.delivery_attempts, delivery_id=id_, number=number, at=at)


async def _deliveries(world: World) -> Any:
    webhook = await add_webhook(world)
    await add_delivery(world, "due", webhook, "failed", START - 1, START)
    await add_delivery(world, "later", webhook, "succeeded", START - 1, START + 1)
    return schema.deliveries


@pytest.mark.parametrize("stock", [_tokens, _sessions, _consents, _invitations, _grants, _deliveries])
async def test_rows_go_at_the_end_of_their_retention(world: World, stock: Callable[[World], Any]) -> None:
    kind: Any = stock.__name__.removeprefix("_")
    table = await stock(world)
    world.hands.pass_(AGE - 1)
    assert await run(world, kind) == 0 and await keys(world, table) == ["due", "later"]
    world.hands.pass_(1)
    assert await run(world, kind, is_dry_run=True) == 1 and await keys(world, table) == ["due", "later"]
    assert await run(world, kind) == 1 and await keys(world, table) == ["later"]
    assert await run(world, kind) == 0
    world.hands.pass_(1)
    assert await run(world, kind) == 1 and await keys(world, table) == []


async def test_zero_days_keep_everything(world: World) -> None:
    await _sessions(world)
    world.hands.pass_(1000 * AGE)
    results = await delete_due(world.store, {rule.kind: 0 for rule in RULES})
    assert [(result.days, result.count) for result in results] == [(0, 0)] * len(RULES)
    assert await keys(world, schema.sessions) == ["due", "later"]


async def test_notifications_that_wait_stay_however_old_they_are(world: World) -> None:
    webhook = await add_webhook(world)
    await add_delivery(world, "pending", webhook, "pending", START)
    await add_delivery(world, "delivering", webhook, "delivering", START)
    world.hands.pass_(1000 * AGE)
    assert await run(world, "deliveries") == 0
    assert await keys(world, schema.deliveries) == ["delivering", "pending"]


async def test_the_grant_of_a_frozen_client_stays(world: World) -> None:
    """A client without a grant is deleted, and the consent page would no longer name it."""
    await add_client(world, "good")
    await add_client(world, "bad")
    await add_grant(world, "grant-of-bad", "bad", revoked_at=START)
    await add_grant(world, "grant-of-good", "good", revoked_at=START)
    frozen = {"workspace_id": world.admin.workspace_id, "credential": f"bad:{world.admin.user_id}"}
    await add(world, schema.frozen_credentials, **frozen, rule_id="rule", created_at=START)
    world.hands.pass_(AGE)
    assert await run(world, "grants") == 1
    assert await keys(world, schema.grants) == ["grant-of-bad"]


async def test_many_rows_are_deleted_in_small_transactions(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await _sessions(world)
    for number in range(12):
        row = {"token_hash": f"n{number:02}", "user_id": world.admin.user_id, "created_at": 0, "expires_at": START}
        await add(world, schema.sessions, **row)
    world.hands.pass_(AGE)
    rule = next(rule for rule in RULES if rule.kind == "sessions")
    before, after, sizes = world.clock.wall() - AGE, "", []
    while True:
        page = await world.store.write(retention.delete_due_page, rule, after, before, 0, 5)
        if page.last_key is None:
            break
        after = page.last_key
        sizes.append(len(page.due))
    assert sum(sizes) == 13 and max(sizes) <= 5
    assert await keys(world, schema.sessions) == ["later"]


# -- bodies of operations -----------------------------------------------------------------------------------------


async def succeed(world: World, plan: Plan = PLAN) -> str:
    """Execute an operation with one step."""
    id_ = await world.prepare(plan=plan)
    await finish(world, id_, len(plan.steps))
    return id_


async def finish(world: World, id_: str, count: int) -> None:
    fence = (await world.claim(id_)).fence
    for n in range(1, count):
        change = StateCommit(id_, fence, receipt=make_receipt(n - 1), intent=make_intent(n))
        assert (await world.advance(change)).refusal is None
    change = StateCommit(id_, fence, receipt=make_receipt(count - 1), trigger="succeed")
    assert (await world.advance(change)).refusal is None


async def bodies(world: World, id_: str) -> tuple[bool, bool, bool]:
    """Whether the plan, the requests and the responses of an operation are there."""

    def read(connection: Connection) -> tuple[bool, bool, bool]:
        rows = connection.execute(select(schema.steps).where(schema.steps.c.operation_id == id_)).all()
        plan = operations.list_operations_by_id(connection, [id_], world.clock, has_plans=True)[id_]
        return (
            plan.plan_removed_at is None,
            all(row.request != {} for row in rows),
            all(row.response is not None for row in rows),
        )

    return await world.store.read(read)


async def test_the_bodies_of_an_operation_go_at_the_end_of_their_retention(world: World) -> None:
    id_ = await succeed(world)
    receipts = [attempt.receipt for attempt in await world.attempts(id_)]
    world.hands.pass_(AGE - 1)
    assert [result.count for result in await delete_due(world.store, DAYS)] == [0] * len(RULES)
    assert await bodies(world, id_) == (True, True, True)
    world.hands.pass_(1)
    assert await run(world, "plans", is_dry_run=True) == 1 and await run(world, "responses", is_dry_run=True) == 1
    assert await bodies(world, id_) == (True, True, True)
    assert await run(world, "plans") == 1
    assert await bodies(world, id_) == (False, False, True)
    assert await run(world, "responses") == 1
    assert await bodies(world, id_) == (False, False, False)
    assert [result.count for result in await delete_due(world.store, DAYS)] == [0] * len(RULES)
    record = await world.get(id_)
    assert record.plan_digest == PLAN.digest and record.plan_removed_at == record.responses_removed_at == START + AGE
    remaining_receipts = [attempt.receipt for attempt in await world.attempts(id_)]
    assert [
        (receipt.outputs, receipt.http_status, receipt.state, receipt.response)
        for receipt in remaining_receipts
        if receipt
    ] == [(receipt.outputs, receipt.http_status, receipt.state, None) for receipt in receipts if receipt]
    outline = PlanRemains.from_packed(record.packed or b"").outline
    assert [(step.key, step.description, step.request.body) for step in outline.steps] == [
        (step.key, step.description, None) for step in PLAN.steps
    ]
    with pytest.raises(Conflict, match="retention"):
        record.read_plan()


async def test_what_was_never_sent_loses_its_plan(world: World) -> None:
    cancelled, expired = await world.prepare(), await world.prepare()
    await world.store.write(operations_cancel, world, cancelled)
    world.hands.pass_(AGE)
    assert await run(world, "plans") == 1
    assert await bodies(world, cancelled) == (False, True, True)
    world.hands.pass_(30 * 60 * 1000)
    assert await run(world, "plans") == 1
    assert await bodies(world, expired) == (False, True, True)


def operations_cancel(connection: Connection, world: World, id_: str) -> None:
    from adsunify.store.cancellation import cancel_operation

    cancel_operation(connection, world.admin, id_, world.clock)


async def _make_in_flight(world: World) -> str:
    id_ = await world.prepare()
    await world.claim(id_)
    return id_


async def _make_unknown(world: World) -> str:
    id_ = await world.prepare()
    fence = (await world.claim(id_)).fence
    change = StateCommit(id_, fence, receipt=make_receipt(state="ambiguous"), trigger="lose")
    assert (await world.advance(change)).refusal is None
    return id_


async def _make_partly_written(world: World) -> str:
    id_ = await world.prepare()
    fence = (await world.claim(id_)).fence
    assert (await world.advance(StateCommit(id_, fence, receipt=make_receipt(), trigger="hand_back"))).refusal is None
    return id_


async def _make_rejected(world: World) -> str:
    id_ = await world.prepare()
    fence = (await world.claim(id_)).fence
    change = StateCommit(id_, fence, receipt=make_receipt(state="rejected"), trigger="hand_back")
    assert (await world.advance(change)).refusal is None
    return id_


async def _make_cancelled_after_a_write(world: World) -> str:
    id_ = await _make_partly_written(world)
    await world.store.write(operations_cancel, world, id_)
    return id_


async def _update_operation(world: World, **values: Any) -> str:
    id_ = await succeed(world)
    await world.store.write(
        lambda connection: (
            connection.execute(update(schema.operations).where(schema.operations.c.id == id_).values(**values)) and None
        )
    )
    return id_


async def _make_member_of_launch(world: World) -> str:
    return await _update_operation(world, launch_id="launch")


async def _make_resumed(world: World) -> str:
    return await _update_operation(world, resumed_by="another")


async def _make_resuming(world: World) -> str:
    return await _update_operation(world, resumes="another", chain_id="another", chain_receipts=0)


async def _make_member_of_file(world: World) -> str:
    """A member of a change set."""
    id_, change_set = await succeed(world), new_id(START)
    owner = {"workspace_id": world.admin.workspace_id, "user_id": world.admin.user_id, "credential": "session"}
    state = {"status": "succeeded", "skip_invalid": False, "actor": {}, "fence": 0}
    times = {"created_at": START, "updated_at": START}
    await add(world, schema.change_sets, id=change_set, action="apply", **owner, **state, **times)
    member = {"change_set_id": change_set, "n": 0, "key": "k", "account_id": world.account.id, "network": "meta"}
    await add(world, schema.change_set_members, **member, task="{}", operation_id=id_)
    return id_


NEEDED_PARTS = {
    _make_in_flight: (True, True),
    _make_unknown: (True, True),
    _make_partly_written: (True, False),
    _make_rejected: (True, False),
    _make_cancelled_after_a_write: (True, False),
    _make_member_of_launch: (True, False),
    _make_member_of_file: (True, False),
    _make_resumed: (True, False),
    _make_resuming: (True, False),
}
"""What makes an operation -> whether its plan is kept, and whether its responses are."""


@pytest.mark.parametrize("make", NEEDED_PARTS, ids=lambda make: make.__name__)
async def test_a_plan_that_is_still_needed_stays(world: World, make: Callable[[World], Any]) -> None:
    id_ = await make(world)
    world.hands.pass_(1000 * AGE)
    await delete_due(world.store, DAYS)
    has_plan, has_requests, has_responses = await bodies(world, id_)
    responses = [attempt.receipt.response for attempt in await world.attempts(id_) if attempt.receipt is not None]
    assert (has_plan, has_requests) == (True, True)
    assert all(response is not None for response in responses) is (NEEDED_PARTS[make][1] or not responses), (
        has_responses
    )
    assert (await world.get(id_)).read_plan().digest == PLAN.digest


async def test_a_damaged_plan_is_kept_as_evidence(world: World) -> None:
    id_ = await _update_operation(world, plan_digest="0" * 64)
    world.hands.pass_(AGE)
    assert await run(world, "plans") == 0
    assert (await bodies(world, id_))[0]


async def test_executions_run_beside(world: World) -> None:
    """Operations are prepared and executed while others lose their bodies; each ends as it should."""
    old = [await succeed(world) for _ in range(20)]
    world.hands.pass_(AGE)

    async def work() -> list[str]:
        return [await succeed(world) for _ in range(20)]

    async def keep_deleting() -> None:
        for _ in range(5):
            await delete_due(world.store, DAYS)

    new, *_ = await asyncio.gather(work(), keep_deleting(), keep_deleting())
    assert {(await bodies(world, id_))[0] for id_ in old} == {False}
    assert [(await world.get(id_)).status for id_ in new] == ["succeeded"] * 20
    assert {await bodies(world, id_) for id_ in new} == {(True, True, True)}


CHILD = """
import asyncio, sys
from adsunify.service.retention import delete_due
from adsunify.store import Clock, open_store
from adsunify.store.retention import RULES

async def main(url, wall):
    store = await open_store(url, clock=Clock(lambda: wall, lambda: 0))
    print("begun", flush=True)
    while True:
        await delete_due(store, {rule.kind: 10 for rule in RULES}, announce=lambda one: print(one.count, flush=True))

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


async def test_a_process_that_is_killed_loses_nothing(world: World, url: str) -> None:
    ids = [await succeed(world) for _ in range(150)]
    world.hands.pass_(AGE)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CHILD, url, str(world.hands.wall), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    while not (await process.stdout.readline()).strip().isdigit():
        pass
    process.send_signal(signal.SIGKILL)
    await process.wait()
    await delete_due(world.store, DAYS)
    assert {await bodies(world, id_) for id_ in ids} == {(False, False, False)}
    assert {(await world.get(id_)).plan_digest for id_ in ids} == {PLAN.digest}
    assert [len(await world.attempts(id_)) for id_ in ids] == [len(PLAN.steps)] * 150


async def test_nothing_else_changes(world: World) -> None:
    """Operations, receipts, idempotency keys, events and the ledger have as many rows as before."""
    for _ in range(3):
        await succeed(world)
    await world.prepare()
    tables = (schema.operations, schema.steps, schema.events, schema.idempotency_keys, schema.ledger)

    async def count() -> list[int]:
        return [
            len(await world.store.read(lambda connection, table=table: connection.execute(select(table)).all()))
            for table in tables
        ]

    before = await count()
    world.hands.pass_(1000 * AGE)
    await delete_due(world.store, DAYS)
    assert await count() == before


async def test_a_second_opening_reads_what_stays(world: World, url: str) -> None:
    id_ = await succeed(world)
    world.hands.pass_(AGE)
    await delete_due(world.store, DAYS)
    store = await open_store(url, clock=Clock(lambda: world.hands.wall, lambda: 0))
    record = await store.read(operations.get_operation, world.admin, id_, store.clock)
    await store.close()
    assert record.status == "succeeded" and record.plan_removed_at is not None


async def test_older_versions_are_refused_once_a_plan_is_removed(world: World) -> None:
    """They would take the outline for a damaged plan."""
    id_ = await succeed(world)
    oldest = text("SELECT oldest_version FROM alembic_version")

    async def read_oldest() -> str:
        return str(await world.store.read(lambda connection: connection.execute(oldest).scalar_one()))

    lowered = text("UPDATE alembic_version SET oldest_version = '0018'")
    await world.store.write(lambda connection: connection.execute(lowered) and None)
    world.hands.pass_(AGE)
    await run(world, "responses")
    assert await read_oldest() == "0018"
    await run(world, "plans")
    assert not (await bodies(world, id_))[0] and await read_oldest() == "0022"
