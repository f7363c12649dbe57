"""Prepares change sets: plans their members in the background, and stores all operations in one transaction."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from attrs import define, evolve, field

from adsunify.actor import Actor
from adsunify.errors import AdsunifyError, Conflict, Forbidden, ProviderThrottled, StoreError
from adsunify.execution.state import REVIEW_MILLISECONDS
from adsunify.service.core import Service
from adsunify.service.rule_checks import check_plans, make_call_part, raise_if_credential_is_frozen
from adsunify.store import change_set_runs, change_sets
from adsunify.store.change_set_runs import PlannedMember
from adsunify.store.change_sets import ChangeSetRecord, Claim, MemberRecord
from adsunify.store.resumptions import ChainMoved
from adsunify.values.exact_json import Json

from .actors import load_actor
from .tasks import STRICT_TASKS, PlannedTask, RefusedTask, describe_refusal, make_refusal, plan_task

PLANS_PER_ACCOUNT = 2
PLANS_PER_NETWORK = 6
"""How many members of an account and of a network are planned at the same time."""
MAX_THROTTLES = 5
THROTTLE_SECONDS = 5.0
MAX_THROTTLE_SECONDS = 60.0
"""How often a member is planned again after the network asked to wait, and the seconds to wait: if the network names
none, and at most."""
MAX_ROUNDS = 5
"""How often the members are planned again because their operations changed before the new ones were stored."""
NO_ACTOR_ERROR: Mapping[str, Json] = {
    "code": "access_lost",
    "message": "The credential that prepared the change set no longer permits it.",
}


@define(eq=False)
class Slots:
    """How many members are worked on at the same time: of one account, and of one network."""

    per_account: int
    per_network: int
    accounts: defaultdict[str, asyncio.Semaphore] = field(init=False)
    networks: defaultdict[str, asyncio.Semaphore] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.accounts = defaultdict(partial(asyncio.Semaphore, self.per_account))
        self.networks = defaultdict(partial(asyncio.Semaphore, self.per_network))


async def run_together(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run works at the same time. If some raise, the others run to their end, and the first exception is raised."""
    for result in await asyncio.gather(*works, return_exceptions=True):
        if result is not None:
            raise result


@define(eq=False)
class _Member:
    """A member while its change set is prepared."""

    record: MemberRecord
    task: Mapping[str, Json]
    planned: PlannedTask | None = None
    is_saved: bool = False
    issues: Sequence[Mapping[str, Json]] = ()
    reason: str | None = None

    @property
    def is_strict(self) -> bool:
        return self.task["do"] in STRICT_TASKS

    def refuse(self, refusal: RefusedTask) -> None:
        """Record that the member is refused or left out."""
        self.planned = None
        self.issues = [issue.to_json() for issue in refusal.issues]
        self.reason = None if self.is_strict else describe_refusal(self.issues)


def _load_member(record: MemberRecord, *, is_current: bool) -> _Member:
    """Make the member of a record. ``is_current``: its stored plan is new enough to be reviewed."""
    assert record.task is not None
    is_planned = is_current and record.plan is not None
    planned = PlannedTask.from_json(str(record.plan), record.draft or {}) if is_planned else None
    is_decided = record.issues is not None or record.reason is not None
    return _Member(record, record.task, planned, is_decided, record.issues or (), record.reason)


async def prepare_members(service: Service, claim: Claim, record: ChangeSetRecord) -> None:
    """Plan the members that are not planned yet, and store their operations.

    Raises:
        LeaseLost: another process works on it, or it was cancelled.
        StoreError: the database failed.
    """
    store = service.store
    records = await store.read(change_sets.list_members, record.id, is_whole=True)
    is_current = store.clock.now() - record.created_at < REVIEW_MILLISECONDS
    members = [_load_member(member_record, is_current=is_current) for member_record in records]
    for _ in range(MAX_ROUNDS):
        actor = await _load_actor(service, record)
        if actor is not None:
            await _plan_members(service, actor, claim, members)
            actor = await _load_actor(service, record)
        if actor is None:
            await store.write(change_set_runs.end_preparation, claim, "cancelled", {}, store.clock, NO_ACTOR_ERROR)
            return
        await _check_guardrails(service, actor, members)
        issues = {member.record.key: member.issues for member in members if member.is_strict and member.issues}
        planned = [_make_planned_member(record, member) for member in members if member.planned is not None]
        if (issues and not record.skip_invalid) or not planned:
            await _end_refused(service, claim, members, issues)
            return
        await _save_refusals(service, claim, members)
        try:
            await store.write(change_set_runs.insert_operations, actor, claim, planned, store.clock, issues)
            return
        except (ChainMoved, Conflict):
            for member in members:
                if member.planned is not None and (not member.is_strict or member.planned.replaced is not None):
                    member.planned = None
    await store.write(change_set_runs.end_preparation, claim, "invalid", {}, store.clock, CHANGING_ERROR)


CHANGING_ERROR: Mapping[str, Json] = {
    "code": "outcome_changed",
    "message": "The operations that it rests on keep changing. Prepare it again when they have stopped.",
}


async def _load_actor(service: Service, record: ChangeSetRecord) -> Actor | None:
    """Return the actor with its present authority; None if it may not prepare any more."""
    actor = await service.store.read(load_actor, record.workspace_id, record.actor, service.store.clock)
    if actor is not None:
        try:
            await raise_if_credential_is_frozen(service, actor)
        except Forbidden:
            return None
    return actor


async def _end_refused(
    service: Service, claim: Claim, members: Sequence[_Member], issues: Mapping[str, Sequence[Mapping[str, Json]]]
) -> None:
    store = service.store
    await _save_refusals(service, claim, members)
    error = None if issues else {"code": "nothing_to_do", "message": "No member of it can be prepared."}
    await store.write(change_set_runs.end_preparation, claim, "invalid", issues, store.clock, error)


async def _save_refusals(service: Service, claim: Claim, members: Sequence[_Member]) -> None:
    """Store the refusals by guardrails. :func:`_plan_member` does not store them."""
    for member in members:
        if member.planned is None and not member.is_saved:
            await service.store.write(
                change_set_runs.save_planned, claim, member.record.n, issues=member.issues or None, reason=member.reason
            )


# -- planning -----------------------------------------------------------------------------------------------------


async def _plan_members(service: Service, actor: Actor, claim: Claim, members: Sequence[_Member]) -> None:
    slots = Slots(PLANS_PER_ACCOUNT, PLANS_PER_NETWORK)
    open_members = [
        member for member in members if member.planned is None and not member.issues and member.reason is None
    ]
    await run_together([_plan_member(service, actor, claim, member, slots) for member in open_members])


async def _plan_member(service: Service, actor: Actor, claim: Claim, member: _Member, slots: Slots) -> None:
    """Plan a member, and store its plan or why it is refused."""
    stored = member.record
    async with slots.accounts[stored.account_id], slots.networks[stored.network]:
        result = await _plan_with_patience(service, actor, stored.account_id, member.task)
    save, store = partial(change_set_runs.save_planned, claim=claim, n=stored.n), service.store
    if isinstance(result, PlannedTask):
        member.planned = result
        await store.write(save, plan=result.plan.canonical_bytes.decode("ascii"), draft=result.to_json())
    else:
        member.refuse(result)
        member.is_saved = True
        await store.write(save, issues=member.issues, reason=member.reason)


async def _plan_with_patience(
    service: Service, actor: Actor, account_id: str, task: Mapping[str, Json]
) -> PlannedTask | RefusedTask:
    """Plan a task. If the network asks to wait, wait and plan it again."""
    for attempt in range(MAX_THROTTLES + 1):
        try:
            return await plan_task(service, actor, account_id, task)
        except StoreError:
            raise
        except ProviderThrottled as problem:
            if attempt == MAX_THROTTLES:
                return make_refusal(task, problem)
            wait = THROTTLE_SECONDS if problem.retry_after is None else problem.retry_after
            await asyncio.sleep(min(wait, MAX_THROTTLE_SECONDS))
        except AdsunifyError as problem:
            return make_refusal(task, problem)
    raise AssertionError("the last attempt returns")


# -- guardrails and drafts ----------------------------------------------------------------------------------------


async def _check_guardrails(service: Service, actor: Actor, members: Sequence[_Member]) -> None:
    """Check the plans of each account.

    All members are one call for ``perOperation``. Refused members get the reason.
    """
    call = [
        make_call_part(member.record.account_id, member.planned.plan)
        for member in members
        if member.planned is not None
    ]
    groups: dict[tuple[str, str | None], list[_Member]] = {}
    for member in members:
        if member.planned is not None:
            end = member.planned.resumes
            groups.setdefault((member.record.account_id, None if end is None else end.chain_id), []).append(member)
    for (account_id, chain_id), group in groups.items():
        plans = [member.planned.plan for member in group if member.planned is not None]
        try:
            checked = await check_plans(service, actor, account_id, plans, call=call, chain_id=chain_id)
        except Forbidden as problem:
            for member in group:
                member.refuse(make_refusal(member.task, problem))
            continue
        for member, plan in zip(group, checked, strict=True):
            assert member.planned is not None
            member.planned = evolve(member.planned, plan=plan)


def _make_planned_member(record: ChangeSetRecord, member: _Member) -> PlannedMember:
    planned, stored = member.planned, member.record
    assert planned is not None
    draft = planned.make_draft(stored.account_id, planned.plan, record.launch_id)
    view = planned.plan.as_json.get("exposure", {})
    exposure = {"exposure": view.get("exposure"), "planned": view.get("planned")}
    return PlannedMember(stored.n, stored.key, draft, exposure, planned.found_entities, planned.replaced)
