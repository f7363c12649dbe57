"""Two processes, and many tasks of one, race for the same things: each is got once."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from sqlalchemy import Connection, text

from adsunify.errors import Conflict, StoreError
from adsunify.execution.state import CreatedId, StateCommit
from adsunify.store import Clock, Store, consents, open_store, operations, reports
from adsunify.store.operations import Idempotency, OperationDraft, PreparedOperations
from adsunify.store.reports import ReportSubject
from adsunify.store.state_commits import commit_state
from adsunify.values.exact_json import loads

from .world import LEASE, PLAN, World, make_intent, make_receipt

OPERATIONS = 60


async def _another_process(url: str, *arguments: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.unit.store.racer", url, *arguments, stdin=pipe, stdout=pipe
    )
    assert process.stdout is not None
    assert (await process.stdout.readline()).strip() == b"ready"
    return process


async def _start_race(process: asyncio.subprocess.Process) -> dict[str, Any]:
    out, _ = await process.communicate(b"go\n")
    assert process.returncode == 0
    raced: dict[str, Any] = loads(out)
    return raced


async def test_processes_race_for_operations(world: World, url: str) -> None:
    drafts = [OperationDraft(world.account.id, PLAN)] * OPERATIONS
    world.hands.wall, clock = 0, Clock()
    ids = (await world.store.write(operations.prepare_operations, world.admin, drafts, clock)).operation_ids
    who = (world.admin.workspace_id, world.admin.user_id)
    processes = await asyncio.gather(*(_another_process(url, *who, *ids) for _ in range(2)))
    first, second = await asyncio.gather(*(_start_race(process) for process in processes))
    cancelled = 0
    for id_ in ids:
        fences = first[id_][0] + second[id_][0]
        refusals = first[id_][1] + second[id_][1]
        stopped = first[id_][2] or second[id_][2]
        assert fences == ([] if stopped else [1]), "claimed and cancelled, or claimed twice, or neither"
        assert set(refusals) <= {"not_prepared" if stopped else "claimed"}
        events = await world.events(id_)
        assert events == ["prepared", "cancelled" if stopped else "running"]
        assert len(await world.attempts(id_)) == len(fences)
        cancelled += stopped
    assert cancelled < OPERATIONS


async def test_threads_of_two_stores_race_for_operations(world: World, url: str) -> None:
    from .racer import race

    ids = [await world.prepare() for _ in range(10)]
    other = await open_store(url, clock=world.clock)
    first, second = await asyncio.gather(race(world.store, world.admin, ids), race(other, world.admin, ids))
    await other.close()
    for id_ in ids:
        stopped = first[id_][2] or second[id_][2]
        assert first[id_][0] + second[id_][0] == ([] if stopped else [1])


async def test_receipts_race_for_the_same_new_ids(world: World, url: str) -> None:
    """Two processes keep receipts that name the same new entities, in either order: each entity is one step's."""
    other = await open_store(url, clock=world.clock)
    for number in range(10):
        pair = [await world.prepare() for _ in range(2)]
        fences = [(await world.claim(operation)).fence for operation in pair]
        created_ids = [
            CreatedId("ad", f"1{number}"),
            CreatedId("ad", f"2{number}"),
            CreatedId("campaign", f"3{number}"),
        ]
        done = await asyncio.gather(
            *(
                store.write(
                    commit_state,
                    StateCommit(operation, fence, receipt=make_receipt(0), intent=make_intent(1)),
                    world.admin,
                    world.clock,
                    LEASE,
                    created=created,
                )
                for store, operation, fence, created in zip(
                    (world.store, other), pair, fences, (created_ids, created_ids[::-1]), strict=True
                )
            )
        )
        assert {result.refusal for result in done} == {None, "ambiguous"}
        assert sorted([(await world.get(operation)).status for operation in pair]) == ["running", "unknown"]
    await other.close()
    assert await world.store.read(count, "created_entities") == 30


def count(connection: Connection, table: str) -> int:
    return int(connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_a_claim_that_waited_behind_a_whole_execution_sends_nothing(world: World) -> None:
    """PostgreSQL shows the row as it is after the wait, and beside it the attempts as they were before."""
    operation = await world.prepare()
    began = asyncio.Event()
    loop = asyncio.get_running_loop()

    def execute_whole(connection: Connection) -> None:
        claim = StateCommit(operation, None, intent=make_intent(0), trigger="claim")
        claimed = commit_state(connection, claim, world.admin, world.clock, LEASE)
        loop.call_soon(began.set)
        connection.execute(text("SELECT pg_sleep(0.5)"))
        end = StateCommit(operation, claimed.fence, receipt=make_receipt(0, state="rejected"), trigger="hand_back")
        commit_state(connection, end, world.admin, world.clock, LEASE)

    first = asyncio.create_task(world.store.write(execute_whole))
    await began.wait()
    with pytest.raises(StoreError):
        await world.claim(operation)
    await first
    record = await world.get(operation)
    assert (record.status, record.fence) == ("prepared", 1)
    assert [attempt.fence for attempt in await world.attempts(operation)] == [1]
    assert (await world.claim(operation, attempt=2)).refusal is None


async def test_one_key_prepares_one_operation(world: World, url: str) -> None:
    other = await open_store(url, clock=world.clock)
    stores = [world.store, other]
    drafts = [OperationDraft(world.account.id, PLAN)] * 2

    async def prepare(n: int, digest: str) -> PreparedOperations:
        key = Idempotency("key", digest)
        return await stores[n % 2].write(operations.prepare_operations, world.member, drafts, world.clock, key)

    same = await asyncio.gather(*(prepare(n, "digest") for n in range(200)))
    assert len({preparation.operation_ids for preparation in same}) == 1
    assert [preparation.is_replay for preparation in same].count(False) == 1
    different = await asyncio.gather(*(prepare(n, "another") for n in range(20)), return_exceptions=True)
    assert all(isinstance(answer, Conflict) for answer in different)
    await other.close()
    assert await world.store.read(count, "operations") == 2
    assert await world.store.read(count, "events") == 3  # the account's, and one for each operation


async def test_different_requests_race_for_one_key(world: World) -> None:
    drafts = [OperationDraft(world.account.id, PLAN)]
    jobs = [
        world.store.write(
            operations.prepare_operations, world.member, drafts, world.clock, Idempotency("key", f"digest {n}")
        )
        for n in range(50)
    ]
    done = await asyncio.gather(*jobs, return_exceptions=True)
    assert sum(isinstance(answer, PreparedOperations) for answer in done) == 1
    assert sum(isinstance(answer, Conflict) for answer in done) == 49
    assert await world.store.read(count, "operations") == 1


async def test_a_consent_is_used_once(world: World, url: str) -> None:
    other = await open_store(url, clock=world.clock)
    admin = world.admin
    await world.store.write(
        consents.create_token,
        "state",
        "hash",
        admin.workspace_id,
        admin.user_id,
        "meta",
        {"a": "b"},
        600_000,
        world.clock,
    )
    stores: list[Store] = [world.store, other]
    used = await asyncio.gather(
        *(stores[n % 2].write(consents.use_token, "state", "hash", world.clock) for n in range(100))
    )
    await other.close()
    assert [consent.data for consent in used if consent is not None] == [{"a": "b"}]


async def test_a_report_is_asked_for_once(world: World, url: str) -> None:
    other = await open_store(url, clock=world.clock)
    stores: list[Store] = [world.store, other]
    requests = await asyncio.gather(
        *(
            stores[n % 2].write(
                reports.begin_report,
                world.admin.workspace_id,
                ReportSubject(world.account.id, "2027-01-01", "2027-01-07"),
                world.clock,
            )
            for n in range(40)
        )
    )
    await other.close()
    assert [mine for _, mine in requests].count(True) == 1
    assert len({report.id for report, _ in requests}) == 1
