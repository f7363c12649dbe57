"""Change sets: one is open, one process holds the lease, and all operations are stored or none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any

import pytest
from attrs import evolve

from adsunify.errors import Conflict, Forbidden, OperationError
from adsunify.execution.state import REVIEW_MILLISECONDS
from adsunify.launches.digests import compute_change_set_digest
from adsunify.service.launches.actors import dump_actor, load_actor
from adsunify.service.launches.views import read_launch
from adsunify.store import change_set_runs, change_sets, keys, launches, open_store, operations, people, sessions
from adsunify.store.change_set_runs import LeaseLost, PlannedMember, Replaced
from adsunify.store.change_sets import ChangeSetRecord, Claim, NewMember
from adsunify.store.launches import CellRecord, LaunchRecord
from adsunify.store.operations import OperationDraft
from adsunify.store.resumptions import ChainMoved

from .world import LEASE, PLAN, Hands, World

EXPOSURE = {"exposure": {"currency": "USD", "daily": "0", "lifetime": "0"}}
LAUNCH = "01900000-0000-7000-8000-000000000001"


async def make_launch(world: World, count: int = 2) -> None:
    """A launch without a change set."""
    at = world.clock.now()
    actor = world.admin
    record = LaunchRecord(LAUNCH, actor.workspace_id, actor.user_id, actor.credential, "Spring", "{}", None, at, at)
    cells = [CellRecord(n, f"cell{n}", world.account.id, "meta", "{}", [], []) for n in range(count)]
    await world.store.write(launches.create_launch, actor, record, cells, world.clock)


async def begin(world: World, launch_id: str | None = LAUNCH, count: int = 2) -> Claim:
    """A change set that is being prepared."""
    record = change_sets.make_change_set(world.admin, dump_actor(world.admin), launch_id, "create", False, world.clock)
    members = [NewMember(f"cell{n}", world.account.id, "meta", {"do": "create"}) for n in range(count)]
    return await world.store.write(change_sets.create_change_set, world.admin, record, members, LEASE, world.clock)


def plan_members(world: World, count: int = 2, **more: Any) -> list[PlannedMember]:
    draft = OperationDraft(world.account.id, PLAN, unified=True, launch_id=LAUNCH)
    return [PlannedMember(n, f"cell{n}", draft, EXPOSURE, **(more if n == 0 else {})) for n in range(count)]


async def insert(world: World, claim: Claim, planned: Sequence[PlannedMember]) -> ChangeSetRecord:
    await world.store.write(change_set_runs.insert_operations, world.admin, claim, planned, world.clock, {})
    return await read(world, claim)


async def read(world: World, claim: Claim) -> ChangeSetRecord:
    return await world.store.read(change_sets.read_change_set, claim.change_set_id, world.clock)


async def execute(world: World, claim: Claim, digest: str) -> Claim | None:
    identity = dump_actor(world.admin)
    return await world.store.write(
        change_set_runs.begin_execution, world.admin, identity, claim.change_set_id, digest, LEASE, world.clock
    )


async def count_operations(world: World) -> int:
    return len(await world.store.read(operations.list_operations, world.admin, world.clock))


async def test_one_of_many_opens_a_change_set(world: World) -> None:
    await make_launch(world)
    results = await asyncio.gather(*(begin(world) for _ in range(8)), return_exceptions=True)
    refused = [result for result in results if isinstance(result, Conflict)]
    assert len(refused) == 7 and {result.code for result in refused} == {"run_open"}
    (opened,) = [result for result in results if isinstance(result, Claim)]
    record = await world.store.read(launches.get_launch, world.admin, LAUNCH)
    assert record.change_set_id == opened.change_set_id
    free = await asyncio.gather(*(begin(world, None) for _ in range(3)))
    assert len({claim.change_set_id for claim in free}) == 3


async def test_all_operations_are_stored_in_one_transaction(world: World) -> None:
    await make_launch(world)
    claim = await begin(world)
    record = await insert(world, claim, plan_members(world))
    members = await world.store.read(change_sets.list_members, claim.change_set_id)
    stored = [(member.key, str(member.operation_id), str(member.plan_digest)) for member in members]
    assert (record.status, record.digest) == ("prepared", compute_change_set_digest(stored))
    operation_records = [await world.get(id_) for _, id_, _ in stored]
    assert {operation.launch_id for operation in operation_records} == {LAUNCH} and {
        operation.expires_at for operation in operation_records
    } == {record.expires_at}
    cells = await world.store.read(launches.list_cells, LAUNCH)
    assert [cell.operation_id for cell in cells] == [id_ for _, id_, _ in stored]
    with pytest.raises(LeaseLost):  # a second time
        await insert(world, claim, plan_members(world))
    assert await count_operations(world) == 2


async def test_a_replaced_operation_is_cancelled_or_nothing_is_stored(world: World) -> None:
    await make_launch(world)
    old = await world.prepare()
    claim = await begin(world)
    with pytest.raises(ChainMoved):  # it was claimed since it was read
        await insert(world, claim, plan_members(world, replaced=Replaced(old, 1)))
    assert await count_operations(world) == 1 and (await read(world, claim)).status == "preparing"
    await insert(world, claim, plan_members(world, replaced=Replaced(old, 0)))
    assert (await world.get(old)).status == "cancelled" and await count_operations(world) == 3


async def test_a_lease_that_ran_out_is_taken_over_once(world: World, hands: Hands) -> None:
    claim = await begin(world, None)
    assert await world.store.read(change_sets_due, world) == []
    hands.pass_(LEASE - 1)
    assert await world.store.write(change_set_runs.renew_lease, claim, LEASE, world.clock)
    hands.pass_(LEASE + 1)
    assert await world.store.read(change_sets_due, world) == [claim.change_set_id]
    taken = [
        new_claim
        for new_claim in await asyncio.gather(
            *(
                world.store.write(change_set_runs.claim_change_set, claim.change_set_id, LEASE, world.clock)
                for _ in range(4)
            )
        )
        if new_claim is not None
    ]
    assert taken == [Claim(claim.change_set_id, claim.fence + 1)]
    assert not await world.store.write(change_set_runs.renew_lease, claim, LEASE, world.clock)
    with pytest.raises(LeaseLost):
        await insert(world, claim, plan_members(world))
    with pytest.raises(LeaseLost):
        await world.store.write(change_set_runs.end_preparation, claim, "invalid", {}, world.clock)
    error = {"code": "late", "message": "It comes too late."}
    for write in (
        lambda connection: change_set_runs.save_planned(connection, claim, 0, reason="late"),
        lambda connection: change_set_runs.save_error(connection, claim, 0, error),
    ):
        with pytest.raises(LeaseLost):
            await world.store.write(write)
    assert {
        (member.reason, member.error)
        for member in await world.store.read(change_sets.list_members, taken[0].change_set_id)
    } == {(None, None)}
    assert (await insert(world, taken[0], plan_members(world))).status == "prepared"
    assert await world.store.read(change_sets_due, world) == []


def change_sets_due(connection: Any, world: World) -> list[str]:
    return change_set_runs.list_due(connection, world.clock)


async def test_one_of_many_begins_the_execution(world: World, hands: Hands) -> None:
    claim = await begin(world, None)
    digest = str((await insert(world, claim, plan_members(world))).digest)
    assert await execute(world, claim, "another") is None
    begun = [
        execution for execution in await asyncio.gather(*(execute(world, claim, digest) for _ in range(6))) if execution
    ]
    assert len(begun) == 1
    running = await read(world, claim)
    assert (running.status, running.is_open) == ("running", True)
    assert running.executed_by is not None and running.executed_by["userId"] == world.admin.user_id
    error = {"code": "access_lost", "message": "It stopped."}
    await world.store.write(change_set_runs.end_execution, begun[0], "prepared", world.clock, error)
    stopped = await read(world, claim)
    assert (stopped.status, stopped.digest, stopped.error) == ("prepared", digest, error)
    hands.pass_(REVIEW_MILLISECONDS)
    assert (await read(world, claim)).status == "expired"
    assert await execute(world, claim, digest) is None


async def test_cancelling_ends_the_lease_and_the_operations(world: World) -> None:
    claim = await begin(world, None)
    digest = str((await insert(world, claim, plan_members(world))).digest)
    running = await execute(world, claim, digest)
    assert running is not None
    ids = [str(member.operation_id) for member in await world.store.read(change_sets.list_members, claim.change_set_id)]
    await world.claim(ids[0])
    other = evolve(world.admin, user_id=world.member.user_id)  # an admin sees the change sets of all users
    with pytest.raises(Forbidden, match="Only the user"):
        await world.store.write(change_sets.cancel_change_set, other, claim.change_set_id, world.clock)
    await world.store.write(change_sets.cancel_change_set, world.admin, claim.change_set_id, world.clock)
    assert [(await world.get(id_)).status for id_ in ids] == ["running", "cancelled"]
    with pytest.raises(LeaseLost):
        await world.store.write(change_set_runs.end_execution, running, "finished", world.clock)
    assert (await read(world, claim)).status == "cancelled"
    done = await begin(world, None)
    await world.store.write(change_set_runs.end_preparation, done, "invalid", {}, world.clock)
    with pytest.raises(OperationError, match="invalid"):
        await world.store.write(change_sets.cancel_change_set, world.admin, done.change_set_id, world.clock)


async def test_cancelling_leaves_operations_that_begin_at_the_same_time(world: World) -> None:
    """A stop does not fail because an operation was claimed after the stop has read it."""
    claim = await begin(world, None, 8)
    digest = str((await insert(world, claim, plan_members(world, 8))).digest)
    assert await execute(world, claim, digest) is not None
    ids = [str(member.operation_id) for member in await world.store.read(change_sets.list_members, claim.change_set_id)]
    cancelling = world.store.write(change_sets.cancel_change_set, world.admin, claim.change_set_id, world.clock)
    await asyncio.gather(cancelling, *(world.claim(id_) for id_ in reversed(ids)), return_exceptions=True)
    assert (await read(world, claim)).status == "cancelled"
    assert {(await world.get(id_)).status for id_ in ids} <= {"running", "cancelled"}


async def test_an_actor_is_loaded_with_its_present_authority(world: World) -> None:
    """A key that is revoked, a session that ended, and a membership that is over may write nothing."""
    key = await world.store.write(
        keys.create_key, world.admin.workspace_id, world.admin.user_id, "k", "abcdefgh", "hash", True, None, world.clock
    )
    actors = {
        "key": evolve(world.admin, kind="key", credential=key.id, key_id=key.id),
        "session": evolve(world.admin, session_hash="ended"),
        "local": evolve(world.admin, kind="local", credential="local"),
        "viewer": evolve(world.viewer, kind="local", credential="local"),
    }

    async def load() -> set[str]:
        workspace_id = world.admin.workspace_id
        loaded = {
            name: await world.store.read(load_actor, workspace_id, dump_actor(actor), world.clock)
            for name, actor in actors.items()
        }
        return {name for name, actor in loaded.items() if actor is not None}

    assert await load() == {"key", "local"}
    await world.store.write(sessions.create_session, "ended", world.admin.user_id, None, 60_000, world.clock)
    assert await load() == {"key", "local", "session"}
    await world.store.write(keys.revoke_key, world.admin, key.id, world.clock)
    assert await load() == {"local", "session"}
    people_of = (world.admin.workspace_id, world.admin.user_id)
    await world.store.write(people.remove_membership, *people_of, world.clock)
    assert await load() == set()


async def test_a_preparation_that_ends_while_a_launch_is_read_shows_its_issues(
    world: World, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever rows are read first, the preparation ends before the others are read."""
    await make_launch(world)
    claim = await begin(world)
    issue = {"path": "accounts.0.campaign.name", "code": "required", "message": "is required."}

    async def end() -> None:
        store = await open_store(url, clock=world.clock)
        await store.write(change_set_runs.end_preparation, claim, "invalid", {"cell0": [issue]}, world.clock)
        await store.close()

    begun: list[Thread] = []

    def end_after(read_rows: Callable[..., Any]) -> Callable[..., Any]:
        def read_and_end(*arguments: Any) -> Any:
            rows = read_rows(*arguments)
            if not begun:
                begun.append(Thread(target=lambda: asyncio.run(end())))
                begun[0].start()
                begun[0].join()
            return rows

        return read_and_end

    monkeypatch.setattr(launches, "list_cells", end_after(launches.list_cells))
    monkeypatch.setattr(change_sets, "list_change_sets", end_after(change_sets.list_change_sets))
    launch = await world.store.read(read_launch, world.admin, LAUNCH, world.clock)
    (change_set,) = launch.change_sets
    assert change_set.record.status == "preparing" or [len(cell.issues) for cell in launch.cells] == [1, 0]
