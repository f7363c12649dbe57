"""An operation that was not written completely is resumed: what is missing is sent once, and nothing twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve
from sqlalchemy import update

from adsunify.actor import Actor
from adsunify.errors import Conflict, InvalidInput
from adsunify.execution.executor import ExecutionLimits
from adsunify.execution.state import REVIEW_MILLISECONDS, Intent, Receipt, build_actor_record
from adsunify.outcomes.verdicts import StepVerdict
from adsunify.service.outcomes.resumption import plan_resumption, resume_operation
from adsunify.service.outcomes.settlement import settle_step
from adsunify.service.preparation import save_resumption
from adsunify.store import attempts
from adsunify.store.resumptions import ChainMoved
from adsunify.store.schema import operations
from adsunify.store.verdicts import save_verdicts

from .served import Served
from .test_guardrails import apply_rule
from .test_operations import CREATES, networks, prepare_campaign

pytestmark = pytest.mark.asyncio(loop_scope="module")


def get_person(server: Served) -> Actor:
    return server.people["admin"].actor


async def lose(server: Served, network: str = "meta", fault: str = "reset_before") -> str:
    """An operation whose first write has no answer."""
    operation = await prepare_campaign(server, network)
    await server.networks.fault(network, fault, method="POST", path=CREATES[network])
    await server.admin.problem(400, "POST", f"/operations/{operation}/execute", {"confirmed": True})
    assert (await server.admin.get(f"/operations/{operation}"))["status"] == "unknown"
    return operation


async def settle(server: Served, operation: str, verdict: Any, entity_id: str | None = None, step: str = "") -> Any:
    step = step or (await server.admin.get(f"/operations/{operation}"))["plan"]["steps"][0]["key"]
    return await settle_step(
        server.service,
        get_person(server),
        operation_id=operation,
        step=step,
        verdict=verdict,
        entity_id=entity_id,
    )


async def resume(server: Served, operation: str) -> Any:
    return await server.admin.post(f"/operations/{operation}/resume", {}, 201)


async def finish(server: Served, operation: str) -> Any:
    while (record := await server.admin.execute(operation)).get("nextAction") == "execute":
        server.hands.pass_(milliseconds=record.get("retryAfterMs", 0))
    return record


# -- carrying on --------------------------------------------------------------------------------------------------


@networks
async def test_what_a_person_refuted_is_sent_once(server: Served, network: str) -> None:
    operation = await lose(server, network)
    problem = await server.admin.problem(409, "POST", f"/operations/{operation}/resume", {})
    assert (problem["code"], problem["operationId"]) == ("outcome_undecided", operation)
    assert "settle" in problem["detail"]
    await settle(server, operation, "not_applied")
    before = len(server.networks.state.writes)
    tail = await resume(server, operation)
    assert (tail["resumes"], tail["status"], "carried" in tail["plan"]) == (operation, "prepared", False)
    assert len(server.networks.state.writes) == before
    done = await finish(server, tail["id"])
    assert done["status"] == "succeeded"
    old = await server.admin.get(f"/operations/{operation}")
    assert (old["status"], old["resumedBy"]) == ("unknown", tail["id"])
    assert [step["key"] for step in done["plan"]["steps"]] == [step["key"] for step in old["plan"]["steps"]]


async def test_what_is_applied_is_carried_and_not_sent(server: Served) -> None:
    """The first steps are written; the network refuses one, and the operation expires."""
    operation = await prepare_campaign(server)
    await server.networks.fault("meta", "status", method="POST", path="/v26.0/act_1001/adsets", value=400)
    await server.admin.problem(400, "POST", f"/operations/{operation}/execute", {"confirmed": True})
    half = await server.admin.get(f"/operations/{operation}")
    write_counts = Counter(row["id"] for row in server.networks.state.writes)
    server.hands.pass_(milliseconds=REVIEW_MILLISECONDS)
    tail = await resume(server, operation)
    (first,) = [step for step in half["receipt"]["steps"] if step["state"] == "applied"]
    assert tail["plan"]["carried"] == {first["key"]: {"outputs": first["outputs"], "items": []}}
    assert tail["plan"]["digest"] != half["plan"]["digest"]
    assert tail["created"] == half["created"] != []
    done = await finish(server, tail["id"])
    assert done["status"] == "succeeded"
    assert first["key"] not in {step["key"] for step in done["receipt"]["steps"]}
    after = Counter(row["id"] for row in server.networks.state.writes)
    assert all(after[id_] == count for id_, count in write_counts.items())
    body = {"accountId": done["accountId"], "sourceOperationId": operation}
    activation = await server.admin.post("/activate", body, 201)
    assert activation["sourceOperationId"] == tail["id"]
    assert (await finish(server, activation["id"]))["status"] == "succeeded"


async def test_a_settled_entity_is_used_by_the_later_steps(server: Served) -> None:
    operation = await lose(server, fault="reset_after")
    campaign = next(row["id"] for row in reversed(server.networks.state.writes) if row["kind"] == "campaign")
    settled = await settle(server, operation, "applied", campaign)
    assert (settled["entityId"], settled["settledBy"]["userId"]) == (campaign, get_person(server).user_id)
    tail = await resume(server, operation)
    done = await finish(server, tail["id"])
    assert (done["status"], done["created"][0]["entityId"]) == ("succeeded", campaign)
    campaigns = [row["id"] for row in server.networks.state.writes if row["kind"] == "campaign"]
    assert campaigns.count(campaign) == 1


async def test_a_chain_of_three(server: Served) -> None:
    """A resumption expires and is resumed."""
    operation = await lose(server)
    await settle(server, operation, "not_applied")
    second = await resume(server, operation)
    server.hands.pass_(milliseconds=REVIEW_MILLISECONDS)
    third = await resume(server, second["id"])
    assert (third["resumes"], (await finish(server, third["id"]))["status"]) == (second["id"], "succeeded")
    problem = await server.admin.problem(409, "POST", f"/operations/{operation}/resume", {})
    assert problem["code"] == "already_resumed" and third["id"] in problem["detail"]


# -- refusals -----------------------------------------------------------------------------------------------------


async def test_what_needs_no_resumption(server: Served) -> None:
    operation = await prepare_campaign(server)
    path = f"/operations/{operation}/resume"
    assert (await server.admin.problem(422, "POST", path, {}))["code"] == "nothing_to_resume"
    await finish(server, operation)
    assert (await server.admin.problem(422, "POST", path, {}))["code"] == "nothing_to_resume"
    cancelled = await prepare_campaign(server)
    await server.admin.post(f"/operations/{cancelled}/cancel", {})
    problem = await server.admin.problem(422, "POST", f"/operations/{cancelled}/resume", {})
    assert problem["code"] == "nothing_to_resume"


async def test_of_many_at_once_exactly_one_resumes(server: Served) -> None:
    operation = await lose(server)
    await settle(server, operation, "not_applied")

    async def attempt() -> str:
        try:
            response = await resume_operation(
                server.service, get_person(server), operation_id=operation, idempotency=None
            )
        except Conflict as refusal:
            assert refusal.code == "already_resumed"
            return refusal.code
        return str(response.data["id"])

    answers = await asyncio.gather(*(attempt() for _ in range(64)))
    assert Counter(answers)["already_resumed"] == 63
    (tail,) = {answer for answer in answers if answer != "already_resumed"}
    writes = server.networks.writes()
    problem = await server.admin.problem(409, "POST", f"/operations/{operation}/execute", {"confirmed": True})
    assert (problem["code"], server.networks.writes()) == ("already_resumed", writes)
    assert tail in problem["detail"]
    assert (await finish(server, tail))["status"] == "succeeded"


async def test_an_idempotency_key_returns_the_same_resumption(server: Served) -> None:
    operation = await lose(server)
    await settle(server, operation, "not_applied")
    headers = {"Idempotency-Key": "resume-once"}
    first = await server.admin.post(f"/operations/{operation}/resume", {}, 201, **headers)
    assert (await server.admin.post(f"/operations/{operation}/resume", {}, 201, **headers))["id"] == first["id"]


async def test_a_late_receipt_stops_the_resumption(server: Served) -> None:
    """The answer of the old operation lands after the new one was prepared: that one sends nothing."""
    operation = await prepare_campaign(server)
    key = (await server.admin.get(f"/operations/{operation}"))["plan"]["steps"][0]["key"]
    store = server.service.store
    now = store.clock.now()
    intent = Intent(0, key, 1, {"method": "POST"})
    await store.write(
        attempts.save_intent, operation, 1, intent, now, build_actor_record(get_person(server).user_id, "session", now)
    )
    values = {"status": "running", "fence": 1, "in_flight": True, "lease_until": now - 1}
    statement = update(operations).where(operations.c.id == operation).values(**values).returning(operations.c.id)
    await store.write(lambda connection: connection.execute(statement).all())
    await settle(server, operation, "not_applied")
    tail = await resume(server, operation)
    late = Receipt(0, key, 1, "applied", outputs={"id": "77"})
    await store.write(attempts.save_receipt, operation, late, store.clock.now(), get_person(server))
    writes = server.networks.writes()
    problem = await server.admin.problem(400, "POST", f"/operations/{tail['id']}/execute", {"confirmed": True})
    assert (problem["code"], server.networks.writes()) == ("outcome_changed", writes)
    fresh = await resume(server, tail["id"])
    assert fresh["plan"]["carried"] == {key: {"outputs": {"id": "77"}, "items": []}}


@pytest.mark.parametrize(("verdict", "used"), [("not_applied", "0"), ("applied", "20.00")])
async def test_a_settlement_gives_a_window_back_what_was_not_written(server: Served, verdict: str, used: str) -> None:
    """An outcome that is not known stays counted until a person says that nothing was written."""
    source = await prepare_campaign(server, "meta")
    created = await finish(server, source)
    body = {"accountId": created["accountId"], "sourceOperationId": source}
    activation = (await server.admin.post("/activate", body, 201))["id"]
    window = {"hours": 24, "daily": "100", "lifetime": None}
    async with apply_rule(server, currency="USD", perWindow=window) as rule:

        async def read_used() -> str:
            return str((await server.admin.get(f"/guardrails/{rule}/usage"))["daily"]["used"])

        await server.networks.fault("meta", "reset_before", method="POST", path="/v26.0/*")
        await server.admin.problem(400, "POST", f"/operations/{activation}/execute", {"confirmed": True})
        assert (await server.admin.get(f"/operations/{activation}"))["status"] == "unknown"
        assert await read_used() == "20.00"
        await settle(server, activation, verdict)
        assert await read_used() == used
        tail = await resume(server, activation)
        assert (await finish(server, tail["id"]))["status"] == "succeeded"
        assert await read_used() == "20.00"


# -- who settles, and what ----------------------------------------------------------------------------------------


async def test_only_a_person_settles(server: Served) -> None:
    operation = await lose(server)
    body = {"step": "campaign", "verdict": "not_applied"}
    problem = await server.admin.problem(403, "POST", f"/operations/{operation}/settle", body)
    assert problem["code"] == "person_required"


async def test_what_a_person_says_is_checked(server: Served) -> None:
    operation = await lose(server)
    for entity, code in ((None, "missing"), ("no id", "malformed"), ("999999999", "not_found")):
        with pytest.raises(InvalidInput) as refusal:
            await settle(server, operation, "applied", entity)
        assert refusal.value.issues[0].code == code
    with pytest.raises(InvalidInput, match="in doubt"):
        await settle_step(
            server.service, get_person(server), operation_id=operation, step="nothing", verdict="not_applied"
        )
    with pytest.raises(InvalidInput, match="left out"):
        await settle(server, operation, "not_applied", "1")


@pytest.mark.parametrize(
    ("network", "path", "kind"), [("tiktok", CREATES["tiktok"], "campaign"), ("chatgpt", "/v1/ad_groups", "adGroup")]
)
async def test_a_mark_refuses_a_double_after_a_wrong_verdict(
    server: Served, network: str, path: str, kind: str
) -> None:
    """The write landed, a person says that it did not: the network recognises the mark of the first operation."""
    operation = await prepare_campaign(server, network)
    await server.networks.fault(network, "reset_after", method="POST", path=path)
    await server.admin.problem(400, "POST", f"/operations/{operation}/execute", {"confirmed": True})
    created = [row["id"] for row in server.networks.state.writes if row["network"] == network]
    await settle(server, operation, "not_applied", step=kind)
    tail = await resume(server, operation)
    await server.admin.send("POST", f"/operations/{tail['id']}/execute", {"confirmed": True})
    later = [row for row in server.networks.state.writes if row["network"] == network][len(created) :]
    again = {row["id"] for row in later if row["id"] not in created and row["kind"] in (kind, "ad_group", "adgroup")}
    record = await server.admin.get(f"/operations/{tail['id']}")
    states = {step["key"]: step["state"] for step in record["receipt"]["steps"]}
    assert (kind in states, again) == (True, set())


# -- what an inspection finds -------------------------------------------------------------------------------------


async def test_a_write_that_landed_is_found_and_carried(server: Served) -> None:
    """Nobody settles: the resumption inspects, and finds the campaign whose answer was lost."""
    operation = await lose(server, fault="reset_after")
    campaign = next(row["id"] for row in reversed(server.networks.state.writes) if row["kind"] == "campaign")
    write_count = len(server.networks.state.writes)
    tail = await resume(server, operation)
    assert tail["plan"]["carried"]["campaign"]["outputs"] == {"id": campaign}
    assert tail["created"] == [{"kind": "campaign", "entityId": campaign, "stepKey": "campaign"}]
    assert (await finish(server, tail["id"]))["status"] == "succeeded"
    later = [row["kind"] for row in server.networks.state.writes[write_count:]]
    assert "campaign" not in later and "ad" in later


async def lose_from_sight(server: Served) -> tuple[str, str]:
    """An operation whose campaign was created, but two inspections did not find it; and the id of the campaign."""
    operation = await lose(server, fault="reset_after")
    campaign = next(row["id"] for row in reversed(server.networks.state.writes) if row["kind"] == "campaign")
    server.networks.state.worlds["meta"].list_delay = timedelta(days=1)
    await server.admin.post(f"/operations/{operation}/inspect", {})
    server.hands.pass_(milliseconds=901_000)
    inspected = await server.admin.post(f"/operations/{operation}/inspect", {})
    assert inspected["steps"][0]["verdict"] == "not_applied"
    return operation, campaign


@pytest.mark.parametrize("is_expired", [False, True])
async def test_a_resumption_reads_again(server: Served, is_expired: bool) -> None:
    """The lists show the campaign later, also one of the first operation while the second one is resumed."""
    operation, campaign = await lose_from_sight(server)
    if is_expired:
        operation = (await resume(server, operation))["id"]
        server.hands.pass_(milliseconds=REVIEW_MILLISECONDS)
    server.networks.state.worlds["meta"].list_delay = timedelta()
    tail = await resume(server, operation)
    assert tail["plan"]["carried"]["campaign"]["outputs"] == {"id": campaign}
    assert (await finish(server, tail["id"]))["status"] == "succeeded"
    campaigns = [row["id"] for row in server.networks.state.writes if row["kind"] == "campaign"]
    assert campaigns[-1] == campaign


async def test_two_attempts_of_a_chain_are_no_rivals(server: Served) -> None:
    """The campaign of the second operation, whose answer is lost as well, is not the first one's."""
    operation = await lose(server)
    for milliseconds in (0, 901_000):
        server.hands.pass_(milliseconds=milliseconds)
        await server.admin.post(f"/operations/{operation}/inspect", {})
    tail = await resume(server, operation)
    await server.networks.fault("meta", "reset_after", method="POST", path=CREATES["meta"])
    await server.admin.problem(400, "POST", f"/operations/{tail['id']}/execute", {"confirmed": True})
    campaign = next(row["id"] for row in reversed(server.networks.state.writes) if row["kind"] == "campaign")
    last = await resume(server, tail["id"])
    assert last["plan"]["carried"]["campaign"]["outputs"] == {"id": campaign}


async def test_a_settlement_after_the_plan_is_not_lost(server: Served) -> None:
    """A launch plans the rest of its cells in the background; a person settles one of them before they are stored."""
    operation, campaign = await lose_from_sight(server)
    planned = await plan_resumption(server.service, get_person(server), operation)
    await settle(server, operation, "applied", campaign)
    with pytest.raises(ChainMoved):
        await save_resumption(server.service, get_person(server), planned, None)
    tail = await resume(server, operation)
    assert tail["plan"]["carried"]["campaign"]["outputs"] == {"id": campaign}


async def test_a_write_that_is_found_late_stops_the_resumption(server: Served) -> None:
    """Two inspections miss the campaign, and a third finds it before the new operation is executed."""
    operation, campaign = await lose_from_sight(server)
    tail = await resume(server, operation)
    server.networks.state.worlds["meta"].list_delay = timedelta()
    server.hands.pass_(milliseconds=1000)
    inspected = await server.admin.post(f"/operations/{operation}/inspect", {})
    assert inspected["steps"][0]["verdict"] == "applied"
    writes = server.networks.writes()
    problem = await server.admin.problem(400, "POST", f"/operations/{tail['id']}/execute", {"confirmed": True})
    assert (problem["code"], server.networks.writes()) == ("outcome_changed", writes)
    fresh = await resume(server, tail["id"])
    assert fresh["plan"]["carried"]["campaign"]["outputs"] == {"id": campaign}
    await server.admin.post(f"/operations/{operation}/inspect", {})  # finds the same again
    assert (await finish(server, fresh["id"]))["status"] == "succeeded"


async def test_nobody_settles_with_the_entity_of_another_operation(server: Served) -> None:
    other = (await finish(server, await prepare_campaign(server)))["created"]
    campaign = next(entity["entityId"] for entity in other if entity["kind"] == "campaign")
    operation = await lose(server)
    with pytest.raises(InvalidInput, match="no other write"):
        await settle(server, operation, "applied", campaign)
    problem = await server.admin.problem(409, "POST", f"/operations/{operation}/resume", {})
    assert problem["code"] == "outcome_undecided"


@pytest.mark.parametrize("fault", ["html", "empty", "truncate", "reset_before"])
async def test_a_list_that_cannot_be_read_decides_nothing(server: Served, fault: str) -> None:
    operation = await lose(server)
    await server.admin.post(f"/operations/{operation}/inspect", {})
    server.hands.pass_(milliseconds=901_000)
    await server.networks.fault("meta", fault, method="GET", path="/v26.0/act_1001/campaigns", times=9)
    inspected = await server.admin.post(f"/operations/{operation}/inspect", {})
    assert inspected["steps"][0]["verdict"] == "undecided"
    await server.networks.clear_faults()


async def test_an_id_of_another_kind_claims_nothing(server: Served) -> None:
    """Networks number their kinds apart: an ad group with the id of the campaign is another entity."""
    operation, other = await lose(server, fault="reset_after"), await prepare_campaign(server)
    campaign = next(row["id"] for row in reversed(server.networks.state.writes) if row["kind"] == "campaign")
    await server.networks.fault("meta", "reset_before", method="POST", path="/v26.0/act_1001/adsets")
    await server.admin.problem(400, "POST", f"/operations/{other}/execute", {"confirmed": True})
    verdict = StepVerdict("adGroup", 1, "applied", "It agrees.", {"id": campaign})
    await server.service.store.write(save_verdicts, other, [verdict], server.service.store.clock)
    inspected = await server.admin.post(f"/operations/{operation}/inspect", {})
    step = inspected["steps"][0]
    assert (step["verdict"], step["entityId"]) == ("applied", campaign)


async def test_a_write_that_did_not_land_is_decided_by_two_inspections(server: Served) -> None:
    operation = await lose(server)
    problem = await server.admin.problem(409, "POST", f"/operations/{operation}/resume", {})
    assert problem["code"] == "outcome_undecided"
    server.hands.pass_(milliseconds=901_000)
    tail = await resume(server, operation)
    assert "carried" not in tail["plan"]
    assert (await finish(server, tail["id"]))["status"] == "succeeded"


async def test_a_creation_that_is_whole_by_verdict_is_activated(server: Served) -> None:
    """The answer to the last step is lost: nothing is left to resume, and the campaign can be activated."""
    operation, settings = await prepare_campaign(server), server.service.settings
    server.service.settings = evolve(settings, limits=ExecutionLimits(max_steps=3))
    assert (await server.admin.execute(operation))["nextAction"] == "execute"
    server.service.settings = settings
    await server.networks.fault("meta", "reset_after", method="POST", path="/v26.0/act_1001/ads")
    await server.admin.problem(400, "POST", f"/operations/{operation}/execute", {"confirmed": True})
    body = {"accountId": server.accounts["meta"], "sourceOperationId": operation}
    refused = await server.admin.problem(422, "POST", "/activate", body)
    assert refused["issues"][0]["code"] == "source_not_activatable"
    problem = await server.admin.problem(422, "POST", f"/operations/{operation}/resume", {})
    assert problem["code"] == "nothing_to_resume"
    activation = await server.admin.post("/activate", body, 201)
    assert (await finish(server, activation["id"]))["status"] == "succeeded"


async def test_a_budget_that_was_raised_meanwhile_stops_a_resumed_activation(server: Served) -> None:
    """Values that the carried steps have not changed are compared, so the exposure of the chain holds."""
    source = await prepare_campaign(server)
    created = (await finish(server, source))["created"]
    body = {"accountId": server.accounts["meta"], "sourceOperationId": source}
    activation = (await server.admin.post("/activate", body, 201))["id"]
    steps = (await server.admin.get(f"/operations/{activation}"))["plan"]["steps"]
    ad_set = next(entity["entityId"] for entity in created if entity["kind"] == "adGroup")
    await server.networks.fault("meta", "status", method="POST", path=f"/v26.0/{ad_set}", value=400)
    await server.admin.problem(400, "POST", f"/operations/{activation}/execute", {"confirmed": True})
    server.hands.pass_(milliseconds=REVIEW_MILLISECONDS)
    tail = await resume(server, activation)
    assert 0 < len(tail["plan"]["carried"]) < len(steps)
    path = f"/accounts/{server.accounts['meta']}/ad-groups/{ad_set}/edit"
    raised = await server.admin.post(path, {"fields": {"budget": "900"}}, 201)
    await finish(server, raised["id"])
    problem = await server.admin.problem(400, "POST", f"/operations/{tail['id']}/execute", {"confirmed": True})
    assert problem["code"] == "plan_stale"
