"""What the tests of the store play with: a clock with hands, some people, an account, plans, receipts."""

from __future__ import annotations

from typing import Any

from attrs import define, evolve

from adsunify.actor import Actor
from adsunify.execution.state import CommitResult, Intent, Receipt, StateCommit
from adsunify.guardrails.windows import SpendBinding
from adsunify.http.messages import Request
from adsunify.plans.records import Plan, Risk, Step, make_plan
from adsunify.store import Clock, Store, connections, new_id, operations, people
from adsunify.store.attempts import StepAttempt, list_attempts
from adsunify.store.connections import AccountRecord, DiscoveredAccountRow
from adsunify.store.events import list_operation_events
from adsunify.store.operations import OperationDraft, OperationRecord
from adsunify.store.state_commits import commit_state

START = 1_800_000_000_000
LEASE = 30_000
MINUTE = 60_000


@define
class Hands:
    """Where the wall clock and the monotonic clock stand, in milliseconds."""

    wall: int = START
    monotonic: int = 5_000

    def pass_(self, milliseconds: int) -> None:
        self.wall += milliseconds
        self.monotonic += milliseconds


def plan_of(*keys: str, warnings: tuple[str, ...] = (), risk: Risk = "low") -> Plan:
    """A plan with one step per key."""
    request = Request("POST", "https://graph.example/campaigns", body={"name": "n"}, encoding="json", kind="write")
    steps = [Step(key, "campaign", f"create {key}", request) for key in keys]
    return make_plan("meta", "create", "act_1", steps, warnings, risk)


PLAN = plan_of("campaign", "ad")


def make_intent(n: int = 0, attempt: int = 1, key: str | None = None) -> Intent:
    return Intent(n, key or PLAN.steps[n].key, attempt, {"method": "POST", "url": "https://graph.example"})


def make_receipt(n: int = 0, attempt: int = 1, state: Any = "applied", **more: Any) -> Receipt:
    outputs = {"id": f"1{n}{attempt}"} if state == "applied" else {}
    return Receipt(
        n, PLAN.steps[n].key, attempt, state, http_status=200, outputs=outputs, response={"id": f"1{n}"}, **more
    )


@define
class World:
    """One workspace. ``admin`` made everything; ``member`` and ``viewer`` are other users with sessions."""

    store: Store
    hands: Hands
    admin: Actor
    member: Actor
    viewer: Actor
    account: AccountRecord

    @property
    def clock(self) -> Clock:
        return self.store.clock

    async def prepare(self, actor: Actor | None = None, plan: Plan = PLAN) -> str:
        drafts = [OperationDraft(self.account.id, plan)]
        prepared = await self.store.write(operations.prepare_operations, actor or self.admin, drafts, self.clock)
        return prepared.operation_ids[0]

    async def advance(
        self, change: StateCommit, actor: Actor | None = None, binding: SpendBinding | None = None
    ) -> CommitResult:
        return await self.store.write(commit_state, change, actor or self.admin, self.clock, LEASE, binding=binding)

    async def claim(
        self,
        operation_id: str,
        actor: Actor | None = None,
        n: int = 0,
        attempt: int = 1,
        binding: SpendBinding | None = None,
    ) -> CommitResult:
        change = StateCommit(operation_id, None, intent=make_intent(n, attempt), trigger="claim")
        return await self.advance(change, actor, binding)

    async def get(self, operation_id: str, actor: Actor | None = None) -> OperationRecord:
        return await self.store.read(operations.get_operation, actor or self.admin, operation_id, self.clock)

    async def attempts(self, operation_id: str) -> list[StepAttempt]:
        return await self.store.read(list_attempts, operation_id)

    async def events(self, operation_id: str) -> list[str]:
        return [
            event.type.removeprefix("operation.")
            for event in await self.store.read(list_operation_events, operation_id)
        ]


async def make_world(store: Store, hands: Hands) -> World:
    def people_of(connection: Any, clock: Clock) -> list[Actor]:
        workspace = people.ensure_workspace(connection, "shop", clock)
        actors = []
        for role in ("admin", "member", "viewer"):
            user = people.ensure_user(connection, f"{role}@shop.example", clock)
            people.set_membership(connection, workspace.id, user.id, role, clock)
            actors.append(Actor(workspace.id, user.id, "session", role, True, "session"))
        return actors

    admin, member, viewer = await store.write(people_of, store.clock)
    account = await connect(store, admin)
    return World(store, hands, admin, member, viewer, account)


async def connect(store: Store, actor: Actor, *rows: DiscoveredAccountRow, network: str = "meta") -> AccountRecord:
    """Connect accounts; the first of them."""
    accounts = rows or (DiscoveredAccountRow("act_1", "Shop", "USD", "America/New_York"),)
    connected = await store.write(
        connections.save_connection,
        actor,
        new_id(store.clock.now()),
        network,
        accounts,
        {"accessToken": "sealed"},
        None,
        store.clock,
    )
    return connected[0]


def other_credential(actor: Actor, credential: str, kind: Any = "agent") -> Actor:
    """The same user through another door."""
    return evolve(actor, credential=credential, kind=kind)
