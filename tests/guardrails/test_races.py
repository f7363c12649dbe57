"""Processes race for the room of windows, and some are killed: exactly as many operations run as fit."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest
from attrs import evolve
from sqlalchemy import Connection, text

from adsunify.actor import Actor
from adsunify.encryption import make_key_ring
from adsunify.guardrails.rules import Guardrail, Limits, Window
from adsunify.guardrails.windows import SpendBinding, WindowUse
from adsunify.http.messages import Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.exposure import Exposure, Spend
from adsunify.plans.records import Plan, Step, make_plan
from adsunify.sandbox.server import RunningSandbox, sandbox_thread
from adsunify.service import campaigns
from adsunify.service.core import Service
from adsunify.service.factory import SECRET_KEYS_VARIABLE, open_service
from adsunify.service.sandbox_workspace import create_sandbox_admin
from adsunify.store import Store, connections, guardrails, new_id, open_store, operations, people
from adsunify.store.connections import AccountRecord, DiscoveredAccountRow
from adsunify.store.operations import OperationDraft
from adsunify.store.schema import decompress_text
from adsunify.testing.connecting import connect_sandbox_network
from tests.networks.samples import list_example_briefs
from tests.system.crash.child import Job

from .racing import (
    KEY,
    ClaimRace,
    ExecutionRace,
    claim_operation,
    race_claims,
    race_executions,
    run_processes,
)
from .scale import IS_LONG

PROCESSES = 8 if IS_LONG else 3
OPERATIONS = 10_000 if IS_LONG else 180
KILLS_EACH = 3 if IS_LONG else 1
FITTING = OPERATIONS // 5
"""How many operations the window of the rule for all of them fits."""
FITTING_EVEN = FITTING // 3
"""How many the window of the rule for every second of them fits."""
AMOUNT = 12_340_000
EXECUTIONS = 500 if IS_LONG else 24
FITTING_EXECUTIONS = EXECUTIONS // 4
ENVIRONMENT = {SECRET_KEYS_VARIABLE: make_key_ring().to_text()}
BRIEF = next(path for path in list_example_briefs("meta") if path.stem == "meta-existing_creative-traffic-daily")
REQUEST = Request("POST", "https://graph.example/campaigns", body={"name": "n"}, encoding="json", kind="write")
PLAN = make_plan("meta", "create", "act_1", [Step(KEY, "campaign", "create", REQUEST)], (), "low")


def make_workspace(connection: Connection, store: Store) -> tuple[Actor, AccountRecord]:
    workspace = people.ensure_workspace(connection, "shop", store.clock)
    user = people.ensure_user(connection, "ann@shop.example", store.clock)
    people.set_membership(connection, workspace.id, user.id, "admin", store.clock)
    actor = Actor(workspace.id, user.id, "local", "admin", True, "local")
    discovered = (DiscoveredAccountRow("act_1", "Shop", "USD", "UTC"),)
    connection_id = new_id(store.clock.now())
    secrets = {"accessToken": "sealed"}
    accounts = connections.save_connection(
        connection, actor, connection_id, "meta", discovered, secrets, None, store.clock
    )
    return actor, accounts[0]


async def make_race(store: Store, url: str) -> tuple[ClaimRace, list[Guardrail]]:
    """Prepare the operations, and make a rule for all of them and one for every second."""
    actor, account = await store.write(make_workspace, store)
    ids: list[str] = []
    while len(ids) < OPERATIONS:
        drafts = [OperationDraft(account.id, PLAN)] * min(500, OPERATIONS - len(ids))
        ids += (await store.write(operations.prepare_operations, actor, drafts, store.clock)).operation_ids
    rules = []
    for fitting in (FITTING, FITTING_EVEN):
        window = Window(744, Limits(fitting * AMOUNT + AMOUNT - 1, None))
        draft = Guardrail("", "", 0, "r", currency="USD", per_window=window)
        rules.append(await store.write(guardrails.create_guardrail, actor, draft, store.clock))
    uses = [WindowUse(rule.id, 1, 744, Limits(0, 0), AMOUNT, 2 * AMOUNT) for rule in rules]
    bindings = {id_: SpendBinding(2, id_, tuple(uses[: 1 + (n % 2 == 0)])) for n, id_ in enumerate(ids)}
    rejected = frozenset(id_ for n, id_ in enumerate(ids) if n % 7 == 3)
    return ClaimRace(url, actor, bindings, rejected), rules


def read_rows(connection: Connection, statement: str, **values: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in connection.execute(text(statement), values)]


async def test_exactly_as_many_operations_run_as_fit(migrated_database: str) -> None:
    store = await open_store(migrated_database)
    race, (rule, even) = await make_race(store, migrated_database)
    dice = random.Random(7)
    order = list(race.bindings)
    dice.shuffle(order)
    races = []
    for number in range(PROCESSES):
        own = order[number::PROCESSES]
        shared = order[(number + 1) % PROCESSES :: PROCESSES][: len(own) // 10]  # two processes claim each of these
        races.append(ClaimRace(race.url, race.actor, {id_: race.bindings[id_] for id_ in own + shared}, race.rejected))
    refusals = await run_processes(race_claims, races, KILLS_EACH, dice)
    assert refusals.keys() <= {None, "guardrail", "claimed", "not_prepared"}
    assert refusals["guardrail"] > 0

    # a process that gave back last may have left room: as many run as fit
    for id_, binding in race.bindings.items():
        if len(binding.uses) == 1 and id_ not in race.rejected:
            last = await claim_operation(store, race, id_)
            if last == "guardrail":
                break
    assert last == "guardrail"

    ran = await store.read(read_rows, "SELECT operation_id FROM steps WHERE state != 'rejected'")
    uses = "SELECT chain_id, daily, lifetime FROM guardrail_uses WHERE rule_id = :rule"
    counted = await store.read(read_rows, uses, rule=rule.id)
    assert len(counted) == FITTING
    assert sorted(row[0] for row in ran) == sorted(row[0] for row in counted), "what ran is counted, and nothing else"
    counted_even = await store.read(read_rows, uses, rule=even.id)
    assert len(counted_even) <= FITTING_EVEN
    assert {row[0] for row in counted_even} == {row[0] for row in counted if len(race.bindings[str(row[0])].uses) == 2}
    for window_rule, rows in ((rule, counted), (even, counted_even)):
        usage = await store.read(guardrails.read_usage, window_rule.id, store.clock)
        assert (usage.daily, usage.lifetime) == (AMOUNT * len(rows), 2 * AMOUNT * len(rows))
    claims = await store.read(read_rows, "SELECT count(*) FROM events WHERE type = 'operation.running'")
    attempts = await store.read(read_rows, "SELECT count(*) FROM steps")
    assert claims == attempts
    await store.close()


@pytest.fixture(scope="module")
def sandbox() -> Iterator[RunningSandbox]:
    with sandbox_thread() as running:
        yield running


async def prepare_executions(service: Service, actor: Actor) -> tuple[list[str], Guardrail]:
    """Prepare creations that expose an amount, and make a rule whose window fits some of them."""
    account = await connect_sandbox_network(service, actor, "meta")
    brief = {**json.loads(BRIEF.read_text()), "name": "Race"}
    first = await campaigns.prepare_campaign(
        service,
        actor,
        account_id=account["accountId"],
        campaign=CampaignBrief.model_validate(brief),
        idempotency=None,
    )
    store = service.store
    record = await store.read(operations.get_operation, actor, str(first.data["id"]), store.clock)
    plan = Plan.from_bytes(decompress_text(record.packed or b"").encode(), record.plan_digest)
    exposed = evolve(plan, exposure=Exposure("USD", Spend(AMOUNT, "unbounded")))
    drafts = [OperationDraft(account["accountId"], exposed)] * EXECUTIONS
    ids = (await store.write(operations.prepare_operations, actor, drafts, store.clock)).operation_ids
    window = Window(744, Limits(FITTING_EXECUTIONS * AMOUNT, None))
    draft = Guardrail("", "", 0, "r", currency="USD", per_window=window)
    return list(ids), await store.write(guardrails.create_guardrail, actor, draft, store.clock)


async def test_exactly_as_many_executions_write_as_fit(migrated_database: str, sandbox: RunningSandbox) -> None:
    """The whole service: what a window refuses never reaches the network."""
    opened = await open_service(migrated_database, ENVIRONMENT, sandbox_url=sandbox.url)
    service = opened.service
    actor, _ = await create_sandbox_admin(service)
    ids, rule = await prepare_executions(service, actor)
    before = len(sandbox.state.writes)
    dice = random.Random(11)
    job = Job(migrated_database, ENVIRONMENT, sandbox.url, actor, "")
    races = []
    for number in range(PROCESSES):
        order = ids[number::PROCESSES] + ids[(number + 1) % PROCESSES :: PROCESSES]  # each in two processes
        races.append(ExecutionRace(job, tuple(order)))
    refusals = await run_processes(race_executions, races, KILLS_EACH, dice)
    assert refusals.keys() <= {None, "running", "operation_stalled", "guardrail_exceeded"}
    assert refusals["guardrail_exceeded"] > 0

    uses = await service.store.read(read_rows, "SELECT chain_id FROM guardrail_uses", rule=rule.id)
    assert len(uses) == FITTING_EXECUTIONS
    claimed = await service.store.read(read_rows, "SELECT DISTINCT operation_id FROM steps")
    assert sorted(claimed) == sorted(uses), "what a window counts was sent, or was killed on the way"
    succeeded = await service.store.read(read_rows, "SELECT id FROM operations WHERE status = 'succeeded'")
    assert set(succeeded) <= set(uses)
    campaigns_made = [row for row in sandbox.state.writes[before:] if row["kind"] == "campaign"]
    assert len(succeeded) <= len(campaigns_made) <= FITTING_EXECUTIONS
    usage = await service.store.read(guardrails.read_usage, rule.id, service.store.clock)
    assert usage.daily == FITTING_EXECUTIONS * AMOUNT
    await service.close()
