"""Preparing, idempotency, scope, lists and cancelling; and the events of a random life."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest
from attrs import evolve
from sqlalchemy import Connection, func, select, text, update

from adsunify.actor import Actor
from adsunify.errors import Conflict, Forbidden, NotFound, OperationError
from adsunify.execution.state import REVIEW_MILLISECONDS, TRANSITIONS, StateCommit
from adsunify.plans.exposure import Spend
from adsunify.plans.marks import IdempotencyMark
from adsunify.plans.records import add_operation_marks
from adsunify.store import cancellation, operations, schema, webhooks
from adsunify.store.attempts import list_attempts_by_operation
from adsunify.store.events import list_operation_events
from adsunify.store.operations import Idempotency, OperationDraft
from adsunify.store.statement import Statement
from adsunify.values.money import MAX_NATIVE_UNITS

from .world import LEASE, PLAN, World, make_intent, make_receipt, other_credential, plan_of


async def test_what_is_prepared_comes_back_whole(world: World) -> None:
    plan = plan_of("campaign", warnings=("careful",), risk="spend")
    operation = await world.prepare(world.member, plan)
    record = await world.get(operation)
    assert record.read_plan() == plan
    assert (record.status, record.action, record.network) == ("prepared", "create", "meta")
    assert (record.risk, list(record.warnings), record.plan_version) == ("spend", ["careful"], plan.version)
    assert (record.user_id, record.credential) == (world.member.user_id, "session")
    assert record.expires_at == record.created_at + REVIEW_MILLISECONDS
    assert (record.is_expired, record.is_stalled, record.next_action, record.retry_after) == (False, False, False, None)


async def test_the_plan_is_checked_against_its_digest(world: World) -> None:
    operation = await world.prepare()
    assert (await world.get(operation)).read_plan() == PLAN

    def tamper(connection: Connection, plan: str) -> None:
        connection.execute(update(schema.operations).values(plan=plan))

    await world.store.write(tamper, PLAN.canonical_bytes.decode("ascii").replace('"n"', '"m"'))
    with pytest.raises(ValueError, match="digest"):
        (await world.get(operation)).read_plan()
    await world.store.write(lambda connection: connection.execute(text("UPDATE operations SET plan = 'not packed'")))
    with pytest.raises(ValueError, match="packed"):
        (await world.get(operation)).read_plan()


async def test_the_event_of_a_preparation_holds_identifiers_only(world: World) -> None:
    operation = await world.prepare()
    (event,) = await world.store.read(list_operation_events, operation)
    assert event.type == "operation.prepared"
    assert event.data == {
        "operationId": operation,
        "accountId": world.account.id,
        "network": "meta",
        "status": "prepared",
    }


async def test_the_sum_of_a_call_is_stored_with_each_operation(world: World) -> None:
    """A sum may be above the 64 bits of a single amount."""
    call = (Spend(50 * MAX_NATIVE_UNITS, "unbounded"), Spend(1, 2))
    drafts = [OperationDraft(world.account.id, PLAN, call_spend=call)] * 2
    prepared = await world.store.write(operations.prepare_operations, world.admin, drafts, world.clock)
    assert [(await world.get(id_)).call_spend for id_ in prepared.operation_ids] == [call, call]
    assert (await world.get(await world.prepare())).call_spend is None


async def test_a_refused_preparation_leaves_its_key_free(world: World) -> None:
    key = Idempotency("key", "digest")
    with pytest.raises(Exception):  # noqa: B017 - an account that is not there: each engine's own error
        await world.store.write(
            operations.prepare_operations, world.admin, [OperationDraft("missing", PLAN)], world.clock, key
        )
    assert await world.store.run_query(operations.find_by_idempotency_key(world.admin, key)) is None
    drafts = [OperationDraft(world.account.id, PLAN)]
    assert not (await world.store.write(operations.prepare_operations, world.admin, drafts, world.clock, key)).is_replay


async def test_a_key_is_bound_to_workspace_user_and_credential(world: World) -> None:
    drafts = [OperationDraft(world.account.id, PLAN)]
    actors = [world.admin, world.member, other_credential(world.member, "client"), other_credential(world.member, "k")]
    preparations = [
        await world.store.write(operations.prepare_operations, actor, drafts, world.clock, Idempotency("key", f"{n}"))
        for n, actor in enumerate(actors)
    ]
    assert len({preparation.operation_ids for preparation in preparations}) == 4
    for n, actor in enumerate(actors):
        bound = await world.store.run_query(operations.find_by_idempotency_key(actor, Idempotency("key", f"{n}")))
        assert bound is not None
        assert bound.operation_ids == preparations[n].operation_ids
        with pytest.raises(Conflict):
            await world.store.run_query(operations.find_by_idempotency_key(actor, Idempotency("key", "changed")))


async def test_an_expired_operation_keeps_its_key(world: World) -> None:
    drafts, key = [OperationDraft(world.account.id, PLAN)], Idempotency("key", "digest")
    prepared = await world.store.write(operations.prepare_operations, world.admin, drafts, world.clock, key)
    world.hands.pass_(REVIEW_MILLISECONDS)
    assert (await world.get(prepared.operation_ids[0])).is_expired
    again = await world.store.write(operations.prepare_operations, world.admin, drafts, world.clock, key)
    assert (again.operation_ids, again.is_replay) == (prepared.operation_ids, True)


def _count_rows(connection: Connection) -> dict[str, int]:
    tables = (schema.operations, schema.events, schema.idempotency_keys, schema.deliveries)
    return {table.name: connection.execute(select(func.count()).select_from(table)).scalar_one() for table in tables}


async def test_concurrent_preparations_do_not_affect_each_other(world: World) -> None:
    def prepare(key: str | None, digest: str = "digest", account_id: str = world.account.id) -> Any:
        idempotency = None if key is None else Idempotency(key, digest)
        drafts = [OperationDraft(account_id, PLAN)]
        return world.store.write(operations.prepare_operations, world.admin, drafts, world.clock, idempotency)

    bound, before = await prepare("bound"), Counter(await world.store.read(_count_rows))
    results = await asyncio.gather(
        prepare("bound"),
        prepare("bound", "other digest"),
        prepare("missing", account_id="missing"),
        *(prepare(f"key {number % 3}") for number in range(15)),
        prepare(None),
        return_exceptions=True,
    )
    replayed, conflicting, refused, *others = results
    assert (replayed.is_replay, replayed.operation_ids) == (True, bound.operation_ids)
    assert isinstance(conflicting, Conflict)
    assert type(refused).__name__ in ("IntegrityError", "ForeignKeyViolationError")
    assert [preparation.is_replay for preparation in others].count(False) == 4
    assert len({preparation.operation_ids for preparation in others}) == 4
    added = Counter(await world.store.read(_count_rows)) - before
    assert added == {"operations": 4, "events": 4, "idempotency_keys": 3}


async def test_a_preparation_queues_its_notification_in_the_same_transaction(world: World) -> None:
    notified = asyncio.Event()
    world.store.watchers.append(notified.set)
    hook = ("01a20495-0000-7000-8000-000000000001", "https://hooks.example/x", None, ["operation.prepared"])
    await world.store.write(webhooks.create_webhook, world.admin, *hook, world.clock)
    drafts = [OperationDraft(world.account.id, PLAN)] * 3
    await world.store.write(operations.prepare_operations, world.admin, drafts, world.clock)
    await asyncio.wait_for(notified.wait(), 10)
    assert (await world.store.read(_count_rows))["deliveries"] == 3


async def test_the_plan_has_the_marks_of_its_operation(world: World) -> None:
    plain = plan_of("a", "b", warnings=("careful",), risk="spend")
    plan = evolve(plain, steps=tuple(evolve(step, marks=(IdempotencyMark("/body/mark"),)) for step in plain.steps))
    record = await world.get(await world.prepare(plan=plan))
    assert record.read_plan() == add_operation_marks(plan, record.id) != plan
    assert record.plan_digest == plan.digest


async def _list_operations(world: World, actor: Actor) -> list[str]:
    records = await world.store.read(operations.list_operations, actor, world.clock)
    assert all(record.packed is None for record in records)
    return [record.id for record in records]


async def test_scope(world: World) -> None:
    agent = other_credential(world.member, "client user")
    stranger = evolve(world.admin, workspace_id="elsewhere")
    of_admin, of_member, of_agent = [await world.prepare(actor) for actor in (world.admin, world.member, agent)]
    expected = {
        world.admin: [of_agent, of_member, of_admin],
        world.member: [of_agent, of_member],
        agent: [of_agent],
        other_credential(world.admin, "client admin"): [],
        world.viewer: [],
        stranger: [],
    }
    for actor, ids in expected.items():
        assert await _list_operations(world, actor) == ids
        for id_ in (of_admin, of_member, of_agent):
            if id_ in ids:
                assert (await world.get(id_, actor)).id == id_
            else:
                with pytest.raises(NotFound):
                    await world.get(id_, actor)


async def test_lists_give_the_latest_50_newest_first(world: World) -> None:
    drafts = [OperationDraft(world.account.id, PLAN)] * 40
    first = (await world.store.write(operations.prepare_operations, world.admin, drafts, world.clock)).operation_ids
    world.hands.pass_(1)
    second = (await world.store.write(operations.prepare_operations, world.admin, drafts, world.clock)).operation_ids
    newest_first = [*reversed(second), *reversed(first)]
    assert await _list_operations(world, world.admin) == newest_first[:50]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_lists_are_read_off_an_index(world: World) -> None:
    def plan_of_query(connection: Connection, statement: Statement) -> str:
        query = statement.text(connection)
        rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", (1,) * query.count("?"))
        return " ".join(row.detail for row in rows)

    for statement in (operations._LATEST, operations._LATEST_OF_USER, operations._LATEST_OF_CREDENTIAL):
        query_plan = await world.store.read(plan_of_query, statement)
        assert "USING INDEX ix_operations_workspace_id" in query_plan
        assert "TEMP B-TREE" not in query_plan
    assert "USING INDEX ix_operations_running" in await world.store.read(plan_of_query, cancellation._RECOVERABLE)


async def test_attempts_of_many_operations_at_once(world: World) -> None:
    claimed, untouched = await world.prepare(), await world.prepare()
    await world.claim(claimed)
    attempts = await world.store.read(list_attempts_by_operation, [claimed, untouched])
    assert [(attempt.n, attempt.state) for attempt in attempts[claimed]] == [(0, "in_flight")]
    assert attempts[untouched] == []
    assert await world.store.read(list_attempts_by_operation, []) == {}


# -- cancelling ---------------------------------------------------------------------------------------------------


async def _cancel(world: World, operation: str, actor: Actor | None = None) -> str:
    return (await world.store.write(cancellation.cancel_operation, actor or world.admin, operation, world.clock)).status


async def test_the_owner_cancels(world: World) -> None:
    operation = await world.prepare(world.member)
    with pytest.raises(Forbidden):
        await _cancel(world, operation, world.admin)
    with pytest.raises(NotFound):
        await _cancel(world, operation, world.viewer)
    assert await _cancel(world, operation, world.member) == "cancelled"
    assert await _cancel(world, operation, world.member) == "cancelled"
    *_, event = await world.store.read(list_operation_events, operation)
    by = event.data["cancelledBy"]
    assert by == {"userId": world.member.user_id, "credential": "session", "at": "2027-01-15T08:00:00.000Z"}
    assert (await world.get(operation)).cancelled_by == by
    assert await world.events(operation) == ["prepared", "cancelled"]
    assert (await world.claim(operation, world.member)).refusal == "not_prepared"


async def test_what_is_partly_executed_or_expired_can_be_cancelled(world: World) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    with pytest.raises(OperationError) as running:
        await _cancel(world, operation)
    assert running.value.code == "operation_running"
    await world.advance(
        StateCommit(operation, claimed.fence, receipt=make_receipt(0), trigger="hand_back", has_next_action=True)
    )
    world.hands.pass_(REVIEW_MILLISECONDS)
    assert await _cancel(world, operation) == "cancelled"
    record = await world.get(operation)
    assert (record.next_action, record.is_expired) == (False, False)
    assert [attempt.state for attempt in await world.attempts(operation)] == ["applied"]


async def test_what_stalls_cannot_be_cancelled_and_what_idles_can(world: World) -> None:
    stalled, idle = await world.prepare(), await world.prepare()
    await world.claim(stalled)
    await world.advance(StateCommit(idle, None, trigger="claim"))
    world.hands.pass_(LEASE)
    with pytest.raises(OperationError) as refused:
        await _cancel(world, stalled)
    assert refused.value.code == "operation_stalled"
    assert await _cancel(world, idle) == "cancelled"


@pytest.mark.parametrize(("trigger", "code"), [("succeed", "succeeded"), ("lose", "unknown")])
async def test_what_has_ended_cannot_be_cancelled(world: World, trigger: Any, code: str) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    await world.advance(StateCommit(operation, claimed.fence, receipt=make_receipt(0), trigger=trigger))
    with pytest.raises(OperationError) as refused:
        await _cancel(world, operation)
    assert refused.value.code == f"operation_{code}"


# -- random lives -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
async def test_events_are_the_transitions(world: World, seed: int) -> None:
    """Whatever happens in whatever order: one event per change of state, no intent twice, no step without a claim."""
    chance = random.Random(seed)
    plan = plan_of("a", "b", "c")
    ids = [await world.prepare(plan=plan) for _ in range(4)]
    histories = {id_: [("prepared", 0)] for id_ in ids}
    fences: dict[str, list[int]] = {id_: [] for id_ in ids}
    for _ in range(120):
        id_ = chance.choice(ids)
        tries = await world.attempts(id_)
        open_ = [past_attempt for past_attempt in tries if past_attempt.receipt is None]
        n = len({past_attempt.n for past_attempt in tries if past_attempt.state == "applied"})
        fence = chance.choice([*fences[id_], None])
        match chance.randrange(5):
            case 0:
                attempt = 1 + sum(past_attempt.n == n for past_attempt in tries)
                advanced = await world.advance(
                    StateCommit(
                        id_, None, intent=evolve(make_intent(0, attempt, "x"), step_index=min(n, 2)), trigger="claim"
                    )
                )
                if advanced.refusal is None:
                    fences[id_].append(advanced.fence)
            case 1 if fence is not None:
                receipt = (
                    evolve(make_receipt(0, state=chance.choice(["applied", "rejected"])), step_index=0)
                    if open_
                    else None
                )
                if receipt is not None:
                    receipt = evolve(receipt, step_index=open_[0].n, attempt=open_[0].attempt)
                trigger: Any = chance.choice(["hand_back", "succeed", "lose", None])
                await world.advance(StateCommit(id_, fence, receipt=receipt, trigger=trigger))
            case 2 if chance.random() < 0.2:
                with suppress(OperationError):
                    await _cancel(world, id_)
            case 3:
                world.hands.pass_(chance.choice([1, 1_000, LEASE]))
            case 4:
                await world.store.write(cancellation.recover_operations, world.clock)
        row = await world.get(id_)
        if (row.status, row.fence) != histories[id_][-1]:
            histories[id_].append((row.status, row.fence))
    events_by_status = {status: event for (_, _), (status, event) in TRANSITIONS.items() if event}
    for id_, states in histories.items():
        changes = Counter(
            events_by_status[status]
            for status, _ in states
            if status in events_by_status and status not in ("prepared",)
        )
        events = Counter(f"operation.{name}" for name in await world.events(id_))
        assert events.pop("operation.prepared") == 1
        assert events["operation.running"] == len(fences[id_]) == max(fence for _, fence in states)
        assert {name: n for name, n in events.items() if name != "operation.running"} == {
            name: n for name, n in changes.items() if name != "operation.running"
        }
        assert sum(past_attempt.receipt is None for past_attempt in await world.attempts(id_)) <= 1
        assert fences[id_] == sorted(set(fences[id_]))
