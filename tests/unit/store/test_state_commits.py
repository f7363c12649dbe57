"""The executor's commits: claims, fences, receipts, leases, access and expiry, on both engines."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

import pytest
from attrs import evolve
from sqlalchemy import select

from adsunify.actor import Actor
from adsunify.errors import NotFound
from adsunify.execution.redaction import MAX_ID_LENGTH
from adsunify.execution.state import REVIEW_MILLISECONDS, CreatedId, ObservedStatus, Receipt, StateCommit, read_progress
from adsunify.store import cancellation, connections, keys, people, sessions
from adsunify.store.attempts import list_receipts, save_intent, withdraw_intent
from adsunify.store.clock import MAX_AHEAD_MILLISECONDS
from adsunify.store.events import list_events, list_operation_events
from adsunify.store.schema import steps
from adsunify.store.state_commits import commit_state
from adsunify.values.exact_json import loads

from .world import LEASE, START, World, make_intent, make_receipt, other_credential, plan_of


async def test_n_steps_cost_n_plus_one_commits(world: World) -> None:
    operation = await world.prepare()
    before = world.store.commit_count
    claimed = await world.claim(operation)
    second = await world.advance(StateCommit(operation, claimed.fence, receipt=make_receipt(0), intent=make_intent(1)))
    ended = await world.advance(StateCommit(operation, second.fence, receipt=make_receipt(1), trigger="succeed"))
    assert world.store.commit_count - before == 3
    assert (claimed.refusal, second.refusal, ended.refusal) == (None, None, None)
    assert (await world.get(operation)).status == "succeeded"
    assert await world.events(operation) == ["prepared", "running", "succeeded"]
    receipts, in_flight = await world.store.read(list_receipts, operation)
    assert in_flight == []
    assert read_progress(receipts).outputs == {"campaign": {"id": "101"}, "ad": {"id": "111"}}


async def test_receipts_come_back_as_they_were_kept(world: World) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    receipt = evolve(make_receipt(0), response=loads('{"spend": 12345678901234567890.123456789, "cafe": "\\u00e9"}'))
    await world.advance(
        StateCommit(operation, claimed.fence, receipt=receipt, trigger="hand_back", has_next_action=True)
    )
    (attempt,) = await world.attempts(operation)
    assert attempt.receipt == receipt
    assert (attempt.state, attempt.late, attempt.intent_at) == ("applied", False, claimed.committed_at)


async def test_an_intent_without_a_receipt_is_told(world: World) -> None:
    operation = await world.prepare()
    await world.claim(operation)
    assert await world.store.read(list_receipts, operation) == ([], [make_intent(0).key])
    stored = await world.store.read(lambda connection: connection.execute(select(steps.c.request)).scalar_one())
    assert stored == make_intent(0).request


async def test_only_one_claim_holds(world: World) -> None:
    operation = await world.prepare()
    assert (await world.claim(operation)).fence == 1
    again = await world.claim(operation)
    assert (again.fence, again.refusal) == (0, "claimed")
    assert len(await world.attempts(operation)) == 1


async def test_a_claim_after_a_hand_back_gets_the_next_fence(world: World) -> None:
    operation = await world.prepare()
    first = await world.claim(operation)
    await world.advance(
        StateCommit(operation, first.fence, receipt=make_receipt(0), trigger="hand_back", has_next_action=True)
    )
    handed_back = await world.get(operation)
    assert (handed_back.status, handed_back.next_action) == ("prepared", True)
    second = await world.claim(operation, n=1)
    assert second.fence == 2
    assert not (await world.get(operation)).next_action


async def test_a_claim_on_stale_receipts_is_refused(world: World) -> None:
    """A process that read the receipts before another one executed and handed back would repeat a write."""
    operation = await world.prepare()
    first = await world.claim(operation)
    await world.advance(StateCommit(operation, first.fence, receipt=make_receipt(0), trigger="hand_back"))
    stale = await world.claim(operation, n=0, attempt=1)
    assert (stale.fence, stale.refusal) == (0, "claimed")
    assert (await world.get(operation)).status == "prepared"


async def test_the_wait_that_a_network_asked_for(world: World) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    throttled = make_receipt(0, state="throttled", retry_after=5_000)
    await world.advance(
        StateCommit(
            operation, claimed.fence, receipt=throttled, trigger="hand_back", has_next_action=True, retry_after=5_000
        )
    )
    assert (await world.get(operation)).retry_after == 5_000
    world.hands.pass_(4_999)
    assert (await world.claim(operation, attempt=2)).refusal == "too_early"
    assert (await world.get(operation)).retry_after == 1
    world.hands.pass_(1)
    assert (await world.get(operation)).retry_after is None
    assert (await world.claim(operation, attempt=2)).refusal is None


@pytest.mark.parametrize("status", ["succeed", "lose"])
async def test_what_has_ended_is_not_claimed(world: World, status: Any) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    await world.advance(StateCommit(operation, claimed.fence, receipt=make_receipt(0), trigger=status))
    assert (await world.claim(operation, n=1)).refusal == "not_prepared"


async def test_an_ambiguous_outcome_is_told(world: World) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    lost = make_receipt(0, state="ambiguous")
    error = {"code": "outcome_unknown", "message": "Nobody knows."}
    await world.advance(StateCommit(operation, claimed.fence, receipt=lost, trigger="lose", error=error))
    record = await world.get(operation)
    assert (record.status, record.error, record.next_action) == ("unknown", error, False)
    assert await world.events(operation) == ["prepared", "running", "unknown"]


# -- expiry -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("later", "refused"), [(REVIEW_MILLISECONDS - 1, None), (REVIEW_MILLISECONDS, "expired")])
async def test_a_claim_expires_to_the_millisecond(world: World, later: int, refused: str | None) -> None:
    operation = await world.prepare()
    world.hands.pass_(later)
    assert (await world.claim(operation)).refusal == refused
    assert len(await world.attempts(operation)) == (refused is None)


@pytest.mark.parametrize(("later", "refused"), [(REVIEW_MILLISECONDS - 1, None), (REVIEW_MILLISECONDS, "expired")])
async def test_a_continuation_expires_to_the_millisecond(world: World, later: int, refused: str | None) -> None:
    operation = await world.prepare()
    world.hands.pass_(REVIEW_MILLISECONDS - 1_000)
    claimed = await world.claim(operation)
    world.hands.pass_(later - REVIEW_MILLISECONDS + 1_000)
    change = StateCommit(operation, claimed.fence, receipt=make_receipt(0), intent=make_intent(1))
    assert (await world.advance(change)).refusal == refused
    states = [attempt.state for attempt in await world.attempts(operation)]
    assert states == ["applied"] if refused else ["applied", "in_flight"]
    record = await world.get(operation)
    assert (record.status, record.is_expired) == (("prepared", True) if refused else ("running", False))


async def test_a_clock_set_back_extends_nothing(world: World) -> None:
    operation = await world.prepare()
    world.hands.pass_(REVIEW_MILLISECONDS)
    world.hands.wall -= MAX_AHEAD_MILLISECONDS
    assert (await world.claim(operation)).refusal == "expired"
    world.hands.wall -= 60 * 60_000
    assert (await world.claim(operation)).refusal == "clock"


async def test_an_operation_and_its_attempts_say_who_executed(world: World) -> None:
    def describe_executor(actor: Actor, at: int) -> dict[str, str]:
        instant = datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        return {"userId": actor.user_id, "credential": actor.credential, "at": instant}

    operation = await world.prepare(world.member)
    assert (await world.get(operation)).executed_by is None
    first = await world.claim(operation, world.member)
    world.hands.pass_(1_000)
    await world.advance(StateCommit(operation, first.fence, receipt=make_receipt(0), trigger="hand_back"), world.member)
    assert (await world.get(operation)).executed_by == describe_executor(world.member, START)
    second = await world.claim(operation, world.admin, n=1)
    world.hands.pass_(1_000)
    await world.advance(StateCommit(operation, second.fence, receipt=make_receipt(1), trigger="succeed"), world.admin)
    assert (await world.get(operation)).executed_by == describe_executor(world.admin, START + 1_000)
    executors = [attempt.executed_by for attempt in await world.attempts(operation)]
    assert executors == [describe_executor(world.member, START), describe_executor(world.admin, START + 1_000)]
    event_data = {event.type: event.data for event in await world.store.read(list_operation_events, operation)}
    assert "executedBy" not in event_data["operation.prepared"]
    assert event_data["operation.succeeded"]["executedBy"] == describe_executor(world.admin, START + 1_000)


async def test_an_id_that_another_step_created_makes_the_outcome_unknown(world: World) -> None:
    changes: dict[str, Any]
    for of_step, changes in ((0, {"intent": make_intent(1)}), (1, {"trigger": "succeed"})):
        first, second = await world.prepare(), await world.prepare()
        mine = [CreatedId("ad", f"{of_step}{first}")]
        for operation, refused in ((first, None), (second, "ambiguous")):
            claimed = await world.claim(operation)
            if of_step:
                await world.advance(
                    StateCommit(operation, claimed.fence, receipt=make_receipt(0), intent=make_intent(1))
                )
            change = StateCommit(operation, claimed.fence, receipt=make_receipt(of_step), **changes)
            for _ in range(2):  # nobody learned of the first commit
                done = await world.store.write(commit_state, change, world.admin, world.clock, LEASE, created=mine)
                assert done.refusal == refused
        record = await world.get(second)
        assert record.status == "unknown"
        assert record.error is not None and record.error["code"] == "outcome_unknown"
        *_, last = await world.attempts(second)
        assert (last.n, last.state) == (of_step, "ambiguous")
        assert (await world.events(second))[-1] == "unknown"


# -- access -------------------------------------------------------------------------------------------------------


async def _end_access(world: World, how: str, key_id: str) -> None:
    store, member = world.store, world.member
    if how == "key revoked":
        await store.write(keys.revoke_key, member, key_id, store.clock)
    elif how == "key expired":
        world.hands.pass_(10_000)
    elif how == "member removed":
        await store.write(people.remove_membership, member.workspace_id, member.user_id, store.clock)
    elif how == "role lowered":
        await store.write(people.set_membership, member.workspace_id, member.user_id, "viewer", store.clock)
    elif how == "session ended":
        await store.write(sessions.end_all_sessions, member.user_id)
    elif how == "session expired":
        world.hands.pass_(10_000)
    elif how == "account disconnected":
        await store.write(connections.disconnect, member, world.account.connection_id, store.clock)
    elif how == "token refused":
        await store.write(connections.mark_needs_reauth, world.account.connection_id, store.clock)


LOSSES = [
    "key revoked",
    "key expired",
    "member removed",
    "role lowered",
    "session ended",
    "session expired",
    "account disconnected",
    "token refused",
]


@pytest.mark.parametrize("how", LOSSES)
async def test_access_lost_between_steps_stops_the_next_write(world: World, how: str) -> None:
    store, member = world.store, world.member
    expires = store.clock.now() + 10_000
    key = await store.write(
        keys.create_key, member.workspace_id, member.user_id, "k", "abcdefgh", "00", True, expires, store.clock
    )
    await store.write(sessions.create_session, "hash", member.user_id, None, 10_000, store.clock)
    actor = evolve(member, kind="key", key_id=key.id, credential=key.id)
    if how.startswith("session"):
        actor = evolve(member, session_hash="hash")
    operation = await world.prepare(actor)
    other = await world.prepare(actor)
    claimed = await world.claim(operation, actor)
    assert claimed.refusal is None
    await _end_access(world, how, key.id)
    change = StateCommit(operation, claimed.fence, receipt=make_receipt(0), intent=make_intent(1))
    assert (await world.advance(change, actor)).refusal == "access"
    record = await world.get(operation)
    assert (record.status, record.next_action) == ("prepared", False)
    assert record.error is not None and record.error["code"] == "access_lost"
    assert [(attempt.n, attempt.state) for attempt in await world.attempts(operation)] == [(0, "applied")]
    assert (await world.claim(other, actor)).refusal == "access"


async def test_who_may_execute_what(world: World) -> None:
    agent = other_credential(world.member, "client-1 user-1")
    cases = [
        (world.member, world.member, None),
        (world.member, world.admin, None),
        (world.member, agent, "access"),
        (agent, agent, None),
        (agent, world.member, None),
        (agent, other_credential(world.member, "client-2 user-1"), "access"),
        (world.admin, world.member, "access"),
        (world.member, world.viewer, "access"),
        (world.viewer, world.viewer, "access"),
        (world.member, evolve(world.member, can_write=False), "access"),
    ]
    for owner, caller, refused in cases:
        operation = await world.prepare(owner)
        assert (await world.claim(operation, caller)).refusal == refused, (owner, caller)


async def test_another_workspace_is_not_found(world: World) -> None:
    operation = await world.prepare()
    with pytest.raises(NotFound):
        await world.claim(operation, evolve(world.admin, workspace_id="elsewhere"))
    assert await world.attempts(operation) == []


# -- leases, fences, late receipts --------------------------------------------------------------------------------


async def test_a_lease_that_ran_out_with_nothing_in_flight_is_handed_back(world: World) -> None:
    operation = await world.prepare()
    await world.advance(StateCommit(operation, None, trigger="claim"))
    world.hands.pass_(LEASE - 1)
    assert (await world.get(operation)).status == "running"
    assert (await world.claim(operation)).refusal == "claimed"
    world.hands.pass_(1)
    record = await world.get(operation)
    assert (record.status, record.next_action, record.is_stalled) == ("prepared", True, False)
    second = await world.claim(operation)
    assert (second.fence, second.refusal) == (2, None)
    assert await world.events(operation) == ["prepared", "running", "running"]


async def test_a_lease_that_ran_out_with_a_write_in_flight_stalls(world: World) -> None:
    operation = await world.prepare()
    await world.claim(operation)
    world.hands.pass_(LEASE)
    record = await world.get(operation)
    assert (record.status, record.is_stalled, record.next_action) == ("running", True, False)
    assert (await world.claim(operation, attempt=2)).refusal == "claimed"
    assert await world.store.write(cancellation.recover_operations, world.clock) == []
    assert (await world.get(operation)).status == "running"


async def test_recovery_hands_back_all_that_may_go_on(world: World) -> None:
    idle = await world.prepare()
    stalled = await world.prepare()
    working = await world.prepare()
    await world.advance(StateCommit(idle, None, trigger="claim"))
    await world.claim(stalled)
    world.hands.pass_(LEASE)
    await world.advance(StateCommit(working, None, trigger="claim"))
    assert await world.store.write(cancellation.recover_operations, world.clock) == [idle]


async def test_renewing_prolongs_the_lease(world: World) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    for _ in range(3):
        world.hands.pass_(LEASE - 1)
        assert (await world.advance(StateCommit(operation, claimed.fence, is_renewal=True))).refusal is None
    assert not (await world.get(operation)).is_stalled
    world.hands.pass_(LEASE)
    assert (await world.advance(StateCommit(operation, claimed.fence, is_renewal=True))).refusal == "fenced"


async def test_a_zombie_leaves_its_receipt_but_no_intent(world: World) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    world.hands.pass_(LEASE)
    assert (await world.get(operation)).is_stalled
    late = await world.advance(StateCommit(operation, claimed.fence, receipt=make_receipt(0), intent=make_intent(1)))
    assert late.refusal == "fenced"
    (attempt,) = await world.attempts(operation)
    assert (attempt.state, attempt.late) == ("applied", True)
    record = await world.get(
        operation
    )  # the late receipt makes the outcome known, so the operation can be executed further
    assert (record.status, record.next_action, record.is_stalled) == ("prepared", True, False)
    assert (await world.claim(operation, n=1)).refusal is None


async def test_a_zombie_behind_another_claim_changes_nothing(world: World) -> None:
    operation = await world.prepare()
    zombie = await world.advance(StateCommit(operation, None, trigger="claim"))
    world.hands.pass_(LEASE)
    await world.claim(operation)
    for change in (
        StateCommit(operation, zombie.fence, intent=make_intent(0, 2)),
        StateCommit(operation, zombie.fence, trigger="succeed"),
        StateCommit(operation, zombie.fence, trigger="hand_back"),
        StateCommit(operation, zombie.fence, is_renewal=True),
    ):
        assert (await world.advance(change)).refusal == "fenced"
    assert [(attempt.attempt, attempt.fence) for attempt in await world.attempts(operation)] == [(1, 2)]
    assert (await world.get(operation)).status == "running"
    assert await world.events(operation) == ["prepared", "running", "running"]


async def test_a_late_success_is_a_success(world: World) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    world.hands.pass_(LEASE + 1)
    ended = await world.advance(StateCommit(operation, claimed.fence, receipt=make_receipt(0), trigger="succeed"))
    assert ended.refusal is None
    assert (await world.get(operation)).status == "succeeded"
    assert (await world.attempts(operation))[0].late


async def test_with_a_write_in_flight_nothing_ends(world: World) -> None:
    """A defect of the caller must not make an open write look finished."""
    operation = await world.prepare()
    claimed = await world.claim(operation)
    for change in (
        StateCommit(operation, claimed.fence, trigger="hand_back"),
        StateCommit(operation, claimed.fence, trigger="succeed"),
        StateCommit(operation, claimed.fence, intent=make_intent(1)),
    ):
        assert (await world.advance(change)).refusal == "fenced"
    assert (await world.get(operation)).status == "running"
    assert [attempt.state for attempt in await world.attempts(operation)] == ["in_flight"]


async def test_a_commit_that_was_not_learned_of_may_come_again(world: World) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    for change in (
        StateCommit(operation, claimed.fence, receipt=make_receipt(0), intent=make_intent(1)),
        StateCommit(operation, claimed.fence, receipt=make_receipt(1), trigger="succeed"),
    ):
        for _ in range(2):
            assert (await world.advance(change)).refusal is None
    assert [(attempt.n, attempt.state) for attempt in await world.attempts(operation)] == [
        (0, "applied"),
        (1, "applied"),
    ]
    assert await world.events(operation) == ["prepared", "running", "succeeded"]


async def test_the_first_receipt_stands(world: World) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    await world.advance(StateCommit(operation, claimed.fence, receipt=make_receipt(0), trigger="hand_back"))
    await world.advance(
        StateCommit(operation, claimed.fence, receipt=make_receipt(0, state="ambiguous"), trigger="hand_back")
    )
    assert (await world.attempts(operation))[0].state == "applied"


async def test_a_receipt_without_an_intent_is_a_defect(world: World) -> None:
    operation = await world.prepare()
    claimed = await world.advance(StateCommit(operation, None, trigger="claim"))
    with pytest.raises(LookupError):
        await world.advance(StateCommit(operation, claimed.fence, receipt=make_receipt(0), trigger="succeed"))
    assert (await world.get(operation)).status == "running"


async def test_a_receipt_alone_keeps_the_claim(world: World) -> None:
    """An overlay step reads before its intent: the receipt before it is committed first."""
    operation = await world.prepare()
    claimed = await world.claim(operation)
    world.hands.pass_(LEASE - 1)
    assert (await world.advance(StateCommit(operation, claimed.fence, receipt=make_receipt(0)))).refusal is None
    world.hands.pass_(LEASE - 1)
    assert (await world.advance(StateCommit(operation, claimed.fence, intent=make_intent(1)))).refusal is None


async def test_after_a_receipt_alone_nothing_is_in_flight(world: World) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    await world.advance(StateCommit(operation, claimed.fence, receipt=make_receipt(0)))
    world.hands.pass_(LEASE)
    record = await world.get(operation)
    assert (record.status, record.next_action, record.is_stalled) == ("prepared", True, False)
    assert (await world.claim(operation, n=1)).refusal is None


async def test_a_write_after_a_receipt_alone_is_in_flight(world: World) -> None:
    """Nobody may take it for one that was between two writes when its process ended."""
    operation = await world.prepare()
    claimed = await world.claim(operation)
    await world.advance(StateCommit(operation, claimed.fence, receipt=make_receipt(0)))
    await world.advance(StateCommit(operation, claimed.fence, intent=make_intent(1)))
    world.hands.pass_(LEASE)
    assert (await world.get(operation)).is_stalled
    assert (await world.claim(operation, n=1, attempt=2)).refusal == "claimed"


async def test_a_receipt_that_comes_again_leaves_the_next_write_in_flight(world: World) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    await world.advance(StateCommit(operation, claimed.fence, receipt=make_receipt(0), intent=make_intent(1)))
    assert (await world.advance(StateCommit(operation, claimed.fence, receipt=make_receipt(0)))).refusal == "fenced"
    world.hands.pass_(LEASE)
    assert (await world.get(operation)).is_stalled


async def test_an_intent_that_has_its_receipt_does_not_stand_again(world: World) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    await world.advance(StateCommit(operation, claimed.fence, receipt=make_receipt(0)))
    assert (await world.advance(StateCommit(operation, claimed.fence, intent=make_intent(0)))).refusal == "fenced"
    assert [attempt.state for attempt in await world.attempts(operation)] == ["applied"]


async def test_the_intent_of_another_claim_is_neither_sent_nor_withdrawn(world: World) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    at = world.clock.now()
    assert not await world.store.write(save_intent, operation, claimed.fence + 1, make_intent(0), at, {})
    await world.store.write(withdraw_intent, operation, claimed.fence + 1, make_intent(0), at, world.admin)
    assert [attempt.receipt for attempt in await world.attempts(operation)] == [None]


async def test_a_zombie_does_not_take_the_end_of_another_claim_for_its_own(world: World) -> None:
    operation = await world.prepare()
    first = await world.claim(operation)
    await world.advance(StateCommit(operation, first.fence, receipt=make_receipt(0)))
    world.hands.pass_(LEASE)
    second = await world.claim(operation, n=1)
    end = StateCommit(operation, second.fence, receipt=make_receipt(1, state="throttled"), trigger="hand_back")
    assert (await world.advance(end)).refusal is None
    assert (await world.advance(StateCommit(operation, first.fence, trigger="hand_back"))).refusal == "fenced"


async def test_a_machine_whose_clock_is_behind_follows(world: World) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    await world.advance(StateCommit(operation, claimed.fence, receipt=make_receipt(0), trigger="hand_back"))
    behind = type(world.clock)(lambda: world.hands.wall - 5_000, lambda: world.hands.monotonic)
    change = StateCommit(operation, None, intent=make_intent(1), trigger="claim")
    second = await world.store.write(commit_state, change, world.admin, behind, LEASE)
    assert second.refusal is None
    assert second.committed_at >= claimed.committed_at


async def test_statuses_that_a_receipt_shows_are_told_in_the_same_commit(world: World) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    before = world.store.commit_count
    for n, status in ((0, "paused"), (1, "active")):
        following = {"intent": make_intent(1)} if n == 0 else {"trigger": "succeed"}
        change = StateCommit(operation, claimed.fence, receipt=make_receipt(n), **following)
        statuses = [ObservedStatus("campaign", "c1", status)]
        await world.store.write(commit_state, change, world.admin, world.clock, LEASE, statuses)
    assert world.store.commit_count - before == 2
    events = [
        event
        for event in await world.store.read(list_events, world.admin.workspace_id)
        if "status_changed" in event.type
    ]
    assert [(event.type, event.data["status"], event.operation_id) for event in events] == [
        ("campaign.status_changed", "active", operation)
    ]


async def test_a_receipt_lands_whatever_the_id_that_it_shows(world: World) -> None:
    """An id as long as a receipt may keep, of letters that no compression makes shorter: no index takes it."""
    operation = await world.prepare()
    claimed = await world.claim(operation)
    drawn = random.Random(1)
    wide = "".join(chr(drawn.randrange(0x20000, 0x2A000)) for _ in range(MAX_ID_LENGTH))
    change = StateCommit(operation, claimed.fence, receipt=make_receipt(0), intent=make_intent(1))
    statuses = [ObservedStatus("campaign", wide, "paused"), ObservedStatus("campaign", "c1", "paused")]
    await world.store.write(commit_state, change, world.admin, world.clock, LEASE, statuses)
    assert [attempt.state for attempt in await world.attempts(operation)] == ["applied", "in_flight"]


async def test_items_are_kept_with_the_intent(world: World) -> None:
    operation = await world.prepare(plan=plan_of("keywords"))
    sent = evolve(make_intent(0, key="keywords"), items=(2, 5))
    claimed = await world.advance(StateCommit(operation, None, intent=sent, trigger="claim"))
    receipt = Receipt(0, "keywords", 1, "rejected", http_status=207)
    await world.advance(StateCommit(operation, claimed.fence, receipt=receipt, trigger="hand_back"))
    (attempt,) = await world.attempts(operation)
    assert attempt.items == (2, 5)
    assert attempt.receipt == receipt
