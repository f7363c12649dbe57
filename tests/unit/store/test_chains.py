"""An operation carries on with another one: exactly one does, on what the receipts say, and windows count both once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve
from sqlalchemy import Connection, text
from sqlalchemy.util import await_only

from adsunify.actor import Actor
from adsunify.errors import AdsunifyError, Conflict
from adsunify.execution.state import REVIEW_MILLISECONDS, CommitResult, CreatedId, StateCommit
from adsunify.outcomes.verdicts import StepVerdict, VerdictName
from adsunify.plans.records import Carried, Plan
from adsunify.store import cancellation
from adsunify.store.chains import ChainEnd, find_last_of_chain, list_chain, lock_chain
from adsunify.store.operations import OperationDraft
from adsunify.store.resumptions import ChainMoved, FoundEntities, prepare_resumption
from adsunify.store.state_commits import commit_state
from adsunify.store.verdicts import hash_verdicts, list_verdicts, save_verdicts

from .test_windows import Rules
from .world import LEASE, PLAN, World, make_intent, make_receipt

CARRIED = {"campaign": Carried({"id": "101"})}


async def read_end(world: World, operation: str) -> ChainEnd:
    """The end of a chain as it is now."""
    record = await world.get(operation)
    chain = await world.store.read(list_chain, record.chain_id)
    count = sum(attempt.receipt is not None for attempts in chain.values() for attempt in attempts)
    verdicts = {id_: await world.store.read(list_verdicts, id_) for id_ in chain}
    return ChainEnd(operation, record.chain_id, record.fence, count, hash_verdicts(verdicts))


async def resume(
    world: World,
    end: ChainEnd,
    plan: Plan = PLAN,
    entities: Sequence[FoundEntities] = (),
    actor: Actor | None = None,
) -> str:
    draft = OperationDraft(world.account.id, plan, resumes=end)
    prepared = await world.store.write(prepare_resumption, actor or world.admin, draft, entities, world.clock)
    return prepared.operation_ids[0]


async def resume_now(world: World, operation: str, plan: Plan = PLAN) -> str:
    return await resume(world, await read_end(world, operation), plan)


async def lose(world: World, operation: str) -> None:
    """The outcome of the second step is not known."""
    claimed = await world.claim(operation)
    second = await world.advance(StateCommit(operation, claimed.fence, receipt=make_receipt(0), intent=make_intent(1)))
    await world.advance(
        StateCommit(operation, second.fence, receipt=make_receipt(1, state="ambiguous"), trigger="lose")
    )


async def test_a_chain_knows_its_operations(world: World) -> None:
    first = await world.prepare()
    await lose(world, first)
    second = await resume_now(world, first, evolve(PLAN, carried=CARRIED))
    third = await resume_now(world, second)
    records = [await world.get(operation) for operation in (first, second, third)]
    assert [record.chain_id for record in records] == [first] * 3
    assert [record.resumes for record in records] == [None, first, second]
    assert [record.resumed_by for record in records] == [second, third, None]
    assert [record.status for record in records] == ["unknown", "prepared", "prepared"]
    assert await world.store.read(find_last_of_chain, first) == third
    assert list(await world.store.read(list_chain, first)) == [first, second, third]
    assert records[1].read_plan().carried == CARRIED
    assert await world.events(second) == ["prepared"]


async def test_of_many_at_once_exactly_one_resumes(world: World) -> None:
    first = await world.prepare()
    await lose(world, first)
    end = await read_end(world, first)

    async def attempt() -> str:
        try:
            return await resume(world, end)
        except Conflict as refusal:
            assert refusal.code == "already_resumed"
            return refusal.message

    answers = await asyncio.gather(*(attempt() for _ in range(64)))
    (winner,) = (answer for answer in answers if "carries on" not in answer)
    assert {answer for answer in answers if answer != winner} == {
        f"Operation {winner} carries on with this one. Continue with that one."
    }
    assert list(await world.store.read(list_chain, first)) == [first, winner]


async def test_what_was_resumed_is_neither_executed_nor_cancelled(world: World) -> None:
    first = await world.prepare()
    claimed = await world.claim(first)
    await world.advance(StateCommit(first, claimed.fence, receipt=make_receipt(0), trigger="hand_back"))
    await resume_now(world, first)
    assert (await world.claim(first, n=1)).refusal == "resumed"
    with pytest.raises(Conflict, match="carries on") as refusal:
        await world.store.write(cancellation.cancel_operation, world.admin, first, world.clock)
    assert refusal.value.code == "already_resumed"
    assert (await world.get(first)).status == "prepared"
    assert len(await world.attempts(first)) == 1


async def test_what_was_executed_meanwhile_is_not_resumed(world: World) -> None:
    """A resumption rests on what was read; another execution since then may have written more."""
    first = await world.prepare()
    claimed = await world.claim(first)
    await world.advance(StateCommit(first, claimed.fence, receipt=make_receipt(0), trigger="hand_back"))
    end = await read_end(world, first)
    again = await world.claim(first, n=1)
    await world.advance(StateCommit(first, again.fence, receipt=make_receipt(1), trigger="hand_back"))
    with pytest.raises(ChainMoved):
        await resume(world, end)
    assert (await world.get(first)).resumed_by is None
    assert list(await world.store.read(list_chain, first)) == [first]


async def test_a_live_execution_is_not_resumed(world: World) -> None:
    first = await world.prepare()
    await world.claim(first)
    end = await read_end(world, first)
    with pytest.raises(ChainMoved):
        await resume(world, end)
    world.hands.pass_(LEASE)
    assert (await world.get(first)).is_stalled
    assert (await world.get(await resume(world, end))).resumes == first


async def test_a_success_is_not_resumed(world: World) -> None:
    first = await world.prepare()
    claimed = await world.claim(first)
    await world.advance(StateCommit(first, claimed.fence, receipt=make_receipt(0), trigger="succeed"))
    with pytest.raises(ChainMoved):
        await resume_now(world, first)


# -- late receipts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["applied", "rejected", "ambiguous"])
async def test_a_late_receipt_stops_the_operation_that_does_not_know_of_it(world: World, state: Any) -> None:
    first = await world.prepare()
    claimed = await world.claim(first)
    world.hands.pass_(LEASE)
    stale = await resume_now(world, first)
    late = StateCommit(first, claimed.fence, receipt=make_receipt(0, state=state), intent=make_intent(1))
    assert (await world.advance(late)).refusal == "fenced"
    assert (await world.claim(stale)).refusal == "outcome_changed"
    assert await world.attempts(stale) == []
    fresh = await resume_now(world, stale)
    assert (await world.claim(fresh)).refusal is None


@pytest.mark.parametrize("state", ["applied", "throttled", "ambiguous"])
async def test_a_late_receipt_stops_the_operation_in_the_middle(world: World, state: Any) -> None:
    """The older operation may have applied the step that the newer one is about to send."""
    first = await world.prepare()
    claimed = await world.claim(first)
    world.hands.pass_(LEASE)
    running = await resume_now(world, first)
    again = await world.claim(running)
    await world.advance(StateCommit(first, claimed.fence, receipt=make_receipt(0, state=state), trigger="hand_back"))
    change = StateCommit(running, again.fence, receipt=make_receipt(0), intent=make_intent(1))
    assert (await world.advance(change)).refusal == "outcome_changed"
    assert [attempt.state for attempt in await world.attempts(running)] == ["applied"]
    stopped = await world.get(running)
    assert (stopped.status, stopped.next_action, (stopped.error or {})["code"]) == (
        "prepared",
        False,
        "outcome_changed",
    )
    assert (await world.claim(running, n=1)).refusal == "outcome_changed"
    fresh = await resume_now(world, running)
    assert (await world.claim(fresh, n=1)).refusal is None


@pytest.mark.parametrize("wait", [0, LEASE, REVIEW_MILLISECONDS, 100 * REVIEW_MILLISECONDS])
async def test_an_older_operation_never_continues(world: World, wait: int) -> None:
    """Neither the first nor the second of three operations claims or stores an intent, however late it is."""
    first = await world.prepare()
    claims = [(first, await world.claim(first))]
    world.hands.pass_(LEASE)
    second = await resume_now(world, first)
    claims.append((second, await world.claim(second)))
    world.hands.pass_(LEASE)
    third = await resume_now(world, second)
    world.hands.pass_(wait)
    for operation, claimed in claims:
        intent = StateCommit(
            operation, claimed.fence, receipt=make_receipt(0, state="throttled"), intent=make_intent(1)
        )
        assert (await world.advance(intent)).refusal == "fenced"
        assert (await world.claim(operation, n=1)).refusal == "resumed"
        assert [attempt.n for attempt in await world.attempts(operation)] == [0]
    assert (await world.get(third)).status == "prepared"


async def test_a_woken_execution_sends_nothing_after_it_was_resumed(world: World) -> None:
    """Its machine's clock is behind, so that its lease looks alive."""
    first = await world.prepare()
    claimed = await world.claim(first)
    end = await read_end(world, first)
    world.hands.pass_(LEASE)
    await resume(world, end)
    world.hands.pass_(-LEASE // 2)
    change = StateCommit(first, claimed.fence, receipt=make_receipt(0), intent=make_intent(1))
    assert (await world.advance(change)).refusal == "fenced"
    assert (await world.advance(StateCommit(first, claimed.fence, is_renewal=True))).refusal == "fenced"
    assert [attempt.n for attempt in await world.attempts(first)] == [0]


async def test_a_receipt_between_the_reading_and_the_resumption(world: World) -> None:
    first = await world.prepare()
    claimed = await world.claim(first)
    world.hands.pass_(LEASE)
    end = await read_end(world, first)
    await world.advance(StateCommit(first, claimed.fence, receipt=make_receipt(0), trigger="lose"))
    with pytest.raises(ChainMoved):
        await resume(world, end)


@pytest.mark.parametrize("verdict", ["applied", "undecided"])
async def test_a_verdict_between_the_reading_and_the_resumption(world: World, verdict: VerdictName) -> None:
    """The new operation would send a step again that was applied, or may have been."""
    first = await world.prepare()
    await lose(world, first)
    missing = StepVerdict("ad", 1, "not_applied", "Two complete reads say so.")
    await world.store.write(save_verdicts, first, [missing], world.clock)
    end = await read_end(world, first)
    again = evolve(missing, reason="Three reads say so.")
    await world.store.write(save_verdicts, first, [again], world.clock)  # says the same
    assert (await read_end(world, first)) == end
    outputs = {"id": "77"} if verdict == "applied" else {}
    await world.store.write(save_verdicts, first, [evolve(missing, verdict=verdict, outputs=outputs)], world.clock)
    with pytest.raises(ChainMoved):
        await resume(world, end)
    assert (await world.get(first)).resumed_by is None


async def test_an_expired_resumption_is_resumed(world: World) -> None:
    first = await world.prepare()
    await lose(world, first)
    second = await resume_now(world, first)
    world.hands.pass_(REVIEW_MILLISECONDS)
    assert (await world.claim(second)).refusal == "expired"
    third = await resume_now(world, second)
    assert (await world.claim(third)).refusal is None


# -- entities that verdicts found -----------------------------------------------------------------------------------


async def test_a_found_entity_belongs_to_one_operation(world: World) -> None:
    """Two operations are in doubt, and one entity fits both: the second one to claim it stays undecided."""
    first, other = [await world.prepare() for _ in range(2)]
    for operation in (first, other):
        await lose(world, operation)
    entities = [FoundEntities(operation, 1, "ad", (CreatedId("ad", "77"),)) for operation in (first, other)]
    await resume(world, await read_end(world, first), entities=entities[:1])
    with pytest.raises(Conflict) as refusal:
        await resume(world, await read_end(world, other), entities=entities[1:])
    assert refusal.value.code == "outcome_undecided"
    assert (await world.get(other)).resumed_by is None


@pytest.mark.parametrize("is_same_step", [True, False])
async def test_the_steps_of_a_chain_may_report_one_entity(world: World, is_same_step: bool) -> None:
    """The same step of two operations of a chain has one idempotency key, so the network may answer with one id."""
    first = await world.prepare()
    claimed = await world.claim(first)
    world.hands.pass_(LEASE)
    second = await resume_now(world, first)
    again = await world.claim(second, n=0 if is_same_step else 1)

    async def report(operation: str, fence: int, n: int) -> Any:
        change = StateCommit(operation, fence, receipt=make_receipt(n), trigger="succeed")
        created = [CreatedId("campaign", "55")]
        return await world.store.write(commit_state, change, world.admin, world.clock, LEASE, created=created)

    assert (await report(second, again.fence, 0 if is_same_step else 1)).refusal is None
    assert (await report(first, claimed.fence, 0)).refusal == (None if is_same_step else "ambiguous")


# -- windows ------------------------------------------------------------------------------------------------------


@pytest.fixture
def rules(world: World) -> Rules:
    return Rules(world, [])


async def bind_chain(rules: Rules, operation: str, daily: int) -> Any:
    chain_id = (await rules.world.get(operation)).chain_id
    return await rules.world.claim(operation, binding=await rules.bind(chain_id, daily))


async def test_a_window_counts_a_chain_once(rules: Rules) -> None:
    world = rules.world
    await rules.add(daily=100)
    first, claimed = await rules.claim_new(60)
    await world.advance(StateCommit(first, claimed.fence, receipt=make_receipt(0, state="ambiguous"), trigger="lose"))
    second = await resume_now(world, first)
    assert (await bind_chain(rules, second, 60)).refusal is None
    assert await rules.read_usage() == (60, 0)
    assert [use.operation_id for use in await rules.uses()] == [first]


async def test_a_chain_gives_back_what_none_of_it_has_written(rules: Rules) -> None:
    world = rules.world
    await rules.add(daily=100)
    first, claimed = await rules.claim_new(60)
    await rules.end(first, claimed, state="rejected")
    assert await rules.read_usage() == (0, 0)
    second = await resume_now(world, first)
    again = await bind_chain(rules, second, 60)
    assert await rules.read_usage() == (60, 0)
    await rules.end(second, again, state="rejected")
    assert await rules.read_usage() == (0, 0)


@pytest.mark.parametrize("state", ["applied", "ambiguous"])
async def test_a_chain_keeps_what_an_older_operation_may_have_written(rules: Rules, state: Any) -> None:
    world = rules.world
    await rules.add(daily=100)
    first, claimed = await rules.claim_new(60)
    await world.advance(StateCommit(first, claimed.fence, receipt=make_receipt(0, state=state), trigger="lose"))
    second = await resume_now(world, first)
    again = await bind_chain(rules, second, 60)
    await rules.end(second, again, state="rejected")
    await world.store.write(cancellation.cancel_operation, world.admin, second, world.clock)
    assert await rules.read_usage() == (60, 0)


async def test_a_crashed_resumption_gives_back(rules: Rules) -> None:
    world = rules.world
    await rules.add(daily=100)
    first, claimed = await rules.claim_new(60)
    await rules.end(first, claimed, state="rejected")
    second = await resume_now(world, first)
    again = await bind_chain(rules, second, 60)
    await world.advance(StateCommit(second, again.fence, receipt=make_receipt(0, state="throttled")))
    world.hands.pass_(LEASE)
    assert await world.store.write(cancellation.recover_operations, world.clock) == [second]
    assert await rules.read_usage() == (0, 0)


@pytest.mark.parametrize("begins", ["the claim", "the recovery"])
async def test_a_late_recovery_takes_nothing_from_the_claim_of_a_resumption(
    rules: Rules, engine: str, begins: str
) -> None:
    """A resumed operation is recovered, and its resumption is claimed: the one waits for the lock of the other."""
    world, store = rules.world, rules.world.store
    await rules.add(daily=100)
    first = await world.prepare()
    claim = StateCommit(first, None, trigger="claim")
    await world.advance(claim, binding=await rules.bind(first, 60))
    world.hands.pass_(LEASE)  # its process has ended
    second = await resume_now(world, first)
    binding, is_waited_for = await rules.bind(first, 60), asyncio.Event()

    def hold(connection: Connection, mine: str) -> None:
        """Keep the locks of the transaction that begins; SQLite has one writer."""
        if mine == begins and engine == "postgresql":
            await_only(is_waited_for.wait())

    def claim_second(connection: Connection) -> CommitResult:
        change = StateCommit(second, None, intent=make_intent(), trigger="claim")
        result = commit_state(connection, change, world.admin, world.clock, LEASE, binding=binding)
        hold(connection, "the claim")
        return result

    def recover(connection: Connection) -> list[str]:
        recovered = cancellation.recover_operations(connection, world.clock)
        hold(connection, "the recovery")
        return recovered

    works: list[Any] = [claim_second, recover] if begins == "the claim" else [recover, claim_second]
    tasks = [asyncio.create_task(store.write(works[0]))]
    while engine == "postgresql" and not await store.read(is_held):
        await asyncio.sleep(0.01)
    tasks.append(asyncio.create_task(store.write(works[1])))
    while engine == "postgresql" and not await store.read(is_locked):
        await asyncio.sleep(0.01)
    is_waited_for.set()
    results = dict(zip([begins, "other"], await asyncio.gather(*tasks), strict=True))
    claimed = results["the claim"] if begins == "the claim" else results["other"]
    assert claimed.refusal is None
    assert await rules.read_usage() == (60, 0)


def is_held(connection: Connection) -> bool:
    """Whether a transaction of PostgreSQL has written and waits for its caller."""
    idle = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND backend_xid IS NOT NULL"
    return bool(connection.execute(text(idle)).scalar())


def is_locked(connection: Connection) -> bool:
    """Whether a transaction of PostgreSQL waits for a lock of another one."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    return bool(connection.execute(text(waiting)).scalar())


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
@pytest.mark.parametrize("begins", ["the verdict", "the resumption"])
async def test_a_verdict_and_a_resumption_at_the_same_moment(world: World, begins: str) -> None:
    """Of two open transactions the second waits, so a resumption never overlooks a verdict. SQLite has one writer."""
    first = await world.prepare()
    await lose(world, first)
    second = await resume_now(world, first)
    await lose(world, second)
    missing = StepVerdict("ad", 1, "not_applied", "Two complete reads say so.")
    await world.store.write(save_verdicts, second, [missing], world.clock)
    end, may_end = await read_end(world, second), asyncio.Event()

    def save(connection: Connection) -> None:
        lock_chain(connection, first)
        verdict = evolve(missing, verdict="applied", outputs={"id": "77"})
        save_verdicts(connection, second, [verdict], world.clock)
        if begins == "the verdict":
            await_only(may_end.wait())

    def link(connection: Connection) -> None:
        draft = OperationDraft(world.account.id, PLAN, resumes=end)
        prepare_resumption(connection, world.admin, draft, (), world.clock)
        if begins == "the resumption":
            await_only(may_end.wait())

    tasks = [asyncio.create_task(world.store.write(save if begins == "the verdict" else link))]
    while not await world.store.read(is_held):
        await asyncio.sleep(0.01)
    tasks.append(asyncio.create_task(world.store.write(link if begins == "the verdict" else save)))
    while not (tasks[1].done() or await world.store.read(is_locked)):
        await asyncio.sleep(0.01)
    assert not tasks[1].done()
    may_end.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert list(map(type, results)) == [type(None), ChainMoved if begins == "the verdict" else type(None)]
    assert ((await world.get(second)).resumed_by is None) is (begins == "the verdict")


async def test_errors_are_of_the_api(world: World) -> None:
    first = await world.prepare()
    await lose(world, first)
    await resume_now(world, first)
    with pytest.raises(AdsunifyError) as refusal:
        await resume_now(world, first)
    assert (refusal.value.status, refusal.value.code) == (409, "already_resumed")
