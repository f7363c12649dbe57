"""Values at a network that change between the preparation of a change and its execution, on every network."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve
from sqlalchemy import Connection, select

from adsunify.errors import PlanStale
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.plans.records import Carried
from adsunify.service.stale_plans import require_planned_values
from adsunify.store.operations import get_operation
from adsunify.store.schema import ledger
from adsunify.values.exact_json import loads
from tests.markers import exhaustive
from tests.networks.samples import get_samples

from .served import Caller, Served, brief

pytestmark = pytest.mark.asyncio(loop_scope="module")
networks = pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
PATHS = {"campaign": "campaigns", "adGroup": "ad-groups", "ad": "ads"}
WITHOUT_DELETION = ("outbrain",)


@pytest.fixture(autouse=True)
def no_faults_left(server: Served) -> None:
    server.networks.state.faults.pending.clear()


async def create_campaign(server: Served, network: str) -> dict[str, str]:
    """The ids of a created campaign and what is below it, by kind."""
    body = {"accountId": server.accounts[network], "campaign": brief(network)}
    done = await server.admin.execute((await server.admin.post("/create", body, 201))["id"])
    return {entity["kind"]: entity["entityId"] for entity in done["created"]}


def build_path(server: Served, network: str, kind: str, entity_id: str, *more: str) -> str:
    return "/".join(("", "accounts", server.accounts[network], PATHS[kind], entity_id, *more))


async def read_fields(server: Served, network: str, kind: str, entity_id: str) -> dict[str, Any]:
    settings = await server.admin.get(build_path(server, network, kind, entity_id, "settings"))
    return {row["field"]: row["value"] for row in settings["fields"] if row["locked"] is None}


async def find_budget(server: Served, network: str, ids: Mapping[str, str]) -> tuple[str, str]:
    """The kind of the entity with the budget, and the budget."""
    for kind, entity_id in ids.items():
        budget = (await read_fields(server, network, kind, entity_id)).get("budget")
        if budget is not None:
            return kind, budget
    raise AssertionError(f"nothing of {network} has a budget")


def find_paused_kind(network: str) -> str:
    """The highest kind of which a create makes a paused entity."""
    levels = get_adapter(network).network.levels
    return next(level.kind for level in levels if level.unified_statuses.get(level.initial_status) == "paused")


async def set_status(server: Served, network: str, ids: Mapping[str, str], status: str) -> str:
    kind = find_paused_kind(network)
    body = {"accountId": server.accounts[network], "kind": kind, "entityIds": [ids[kind]], "status": status}
    (operation,) = (await server.admin.post("/bulk-status", body, 201))["operations"]
    return str(operation["id"])


async def require_stale(server: Served, operation_id: str, caller: Caller | None = None) -> dict[tuple[str, str], Any]:
    """The differences of a refused execution, by kind and member. Nothing is written, and the operation stays."""
    writes, path = server.networks.writes(), f"/operations/{operation_id}/execute"
    problem = await (caller or server.admin).problem(400, "POST", path, {"confirmed": True})
    assert (problem["code"], problem["outcome"], problem["operation"]["status"]) == (
        *("plan_stale", "not_applied"),
        "prepared",
    )
    assert server.networks.writes() == writes
    for difference in problem["differences"][:5]:
        assert f"{difference['member']} of the {difference['kind']} {difference['entityId']} is " in problem["detail"]
    return {
        (difference["kind"], difference["member"]): (difference["planned"], difference["found"])
        for difference in problem["differences"]
    }


def read_executions(connection: Connection, operation_id: str) -> list[Any]:
    """What the ledger says of the executions of an operation."""
    conditions = (ledger.c.subject_id == operation_id, ledger.c.kind == "execute")
    return [loads(after) for after in connection.execute(select(ledger.c.after).where(*conditions)).scalars()]


async def execute_stale(server: Served, operation_id: str) -> None:
    body = {"confirmed": True, "allowStale": True}
    assert (await server.admin.post(f"/operations/{operation_id}/execute", body))["status"] == "succeeded"


@networks
async def test_an_edit_of_what_has_changed_is_refused(server: Served, network: str) -> None:
    """A name and a budget, each changed since; an edit of what nobody has changed is executed."""
    ids = await create_campaign(server, network)
    campaign = ids["campaign"]
    name = (await read_fields(server, network, "campaign", campaign))["name"]
    kind, budget = await find_budget(server, network, ids)
    edits = build_path(server, network, "campaign", campaign, "edit")
    budgets = build_path(server, network, kind, ids[kind], "edit")
    higher = [f"{float(budget) + amount:.0f}" for amount in (10, 20)]
    renamed, other, same = [await server.admin.post(edits, {"fields": {"name": f"{name} {n}"}}, 201) for n in "ABC"]
    raised = await server.admin.post(budgets, {"fields": {"budget": higher[0]}}, 201)
    await server.admin.execute(other["id"])
    await server.admin.execute((await server.admin.post(budgets, {"fields": {"budget": higher[1]}}, 201))["id"])
    assert await require_stale(server, renamed["id"]) == {("campaign", "name"): (name, f"{name} B")}
    amounts = (await require_stale(server, raised["id"]))[kind, "budget"]
    assert [float(amount) for amount in amounts] == [float(budget), float(higher[1])]
    await execute_stale(server, renamed["id"])
    assert (await read_fields(server, network, "campaign", campaign))["name"] == f"{name} A"
    batch = {"operationIds": [same["id"], raised["id"]], "confirmed": True}
    refused = (await server.admin.post("/operations/execute", batch))["results"]
    assert {answer["error"]["code"] for answer in refused} == {"plan_stale"}
    done = (await server.admin.post("/operations/execute", batch | {"allowStale": True}))["results"]
    assert [answer["status"] for answer in done] == ["succeeded", "succeeded"]


@networks
async def test_a_percentage_is_of_the_value_that_was_reviewed(server: Served, network: str) -> None:
    """A second change by the same percentage, up or down, was computed without the first."""
    ids = await create_campaign(server, network)
    kind, _ = await find_budget(server, network, ids)
    body = {"accountId": server.accounts[network], "kind": kind, "entityIds": [ids[kind]], "field": "budget"}
    for mode, value in (("increase", 50), ("decrease", 10)):
        first, second = [
            (await server.admin.post("/bulk-edit", body | {"mode": mode, "value": value}, 201))["operations"][0]["id"]
            for _ in range(2)
        ]
        assert (await server.admin.execute(first))["status"] == "succeeded"
        ((place, (planned, actual)),) = (await require_stale(server, second)).items()
        assert place == (kind, "budget") and float(planned) != float(actual)


@networks
async def test_an_activation_of_what_has_changed_is_refused(server: Served, network: str) -> None:
    """A budget that was raised since, and a status."""
    ids = await create_campaign(server, network)
    kind, budget = await find_budget(server, network, ids)
    first, second = [await set_status(server, network, ids, "active") for _ in range(2)]
    edit = {"fields": {"budget": f"{float(budget) + 10:.0f}"}}
    raised = await server.admin.post(build_path(server, network, kind, ids[kind], "edit"), edit, 201)
    await server.admin.execute(raised["id"])
    ((place, (planned, actual)),) = (await require_stale(server, first)).items()
    assert place == (kind, "budget") and float(planned) + 10 == float(actual)
    await execute_stale(server, first)
    status = (find_paused_kind(network), "status")
    assert (await require_stale(server, second))[status] == ("paused", "active")
    third = await set_status(server, network, ids, "active")
    assert (await server.admin.execute(third))["status"] == "succeeded"  # it was active when it was prepared


@networks
async def test_what_is_deleted_is_not_changed(server: Served, network: str) -> None:
    if network in WITHOUT_DELETION:
        return
    ids = await create_campaign(server, network)
    kind = find_paused_kind(network)
    path = build_path(server, network, kind, ids[kind])
    active = await set_status(server, network, ids, "active")
    renamed = await server.admin.post(f"{path}/edit", {"fields": {"name": "Another"}}, 201)
    deletion = (await server.admin.send("DELETE", path)).json()["data"]
    assert (await server.admin.execute(deletion["id"]))["status"] == "succeeded"
    differences = await require_stale(server, active)
    planned, present = differences.get((kind, "status")) or differences[kind, "entity"]
    assert (planned, present) == ("present", "not found") or present in ("archived", "deleted")
    (((named, member), (_, reason)),) = (await require_stale(server, renamed["id"])).items()
    assert named == kind and member in ("entity", "entityId", "name")
    assert any(word in reason for word in ("not found", "archived", "deleted", "removed"))


@pytest.mark.parametrize("network", [exhaustive(code) if code == "x" else code for code in ADAPTER_PACKAGES])
async def test_reads_that_fail_stop_no_emergency(server: Served, network: str) -> None:
    """A pause and a lower budget are written; a raise says that nothing can be compared."""
    ids = await create_campaign(server, network)
    kind, budget = await find_budget(server, network, ids)
    path = build_path(server, network, kind, ids[kind], "edit")

    async def prepare(more: int) -> str:
        edit = {"fields": {"budget": f"{float(budget) + more:.0f}"}}
        return str((await server.admin.post(path, edit, 201))["id"])

    await server.admin.execute(await prepare(50))
    lower, higher = await prepare(40), await prepare(60)
    paused = await set_status(server, network, ids, "paused")
    samples = get_samples(network)
    method, read_path = samples.entity_reads
    await server.networks.fault(network, "status", value=503, times=1000, method=method, path=read_path)
    problem = await server.admin.problem(400, "POST", f"/operations/{higher}/execute", {"confirmed": True})
    assert problem["code"] == "provider_unreadable" and "allowStale" in problem["detail"]
    assert problem["operation"]["status"] == "prepared"
    for emergency in (paused, lower):
        done = await server.admin.execute(emergency)
        assert done["status"] == "succeeded" or (
            samples.reads_before_changes and done["error"]["code"] == "provider_unreadable"
        )


async def test_a_write_does_not_undo_what_somebody_has_changed_beside(server: Served) -> None:
    """Meta replaces the whole targeting. A change of another part of it is no value of the edit, but would be lost."""
    group = (await create_campaign(server, "meta"))["adGroup"]
    edit = build_path(server, "meta", "adGroup", group, "edit")
    genders, ages = [
        await server.admin.post(edit, {"targeting": targeting}, 201)
        for targeting in ({"genders": ["female"]}, {"ageMin": 30})
    ]
    assert (await server.admin.execute(ages["id"]))["status"] == "succeeded"
    assert await require_stale(server, genders["id"]) == {("adGroup", "/targeting/age_min"): (None, 30)}


async def test_a_stale_plan_under_guardrails_needs_a_person(server: Served) -> None:
    """What it exposes is not known, because nothing was compared."""
    ids = await create_campaign(server, "meta")
    rule = {"name": "Small", "currency": "USD", "perOperation": {"daily": "100.00", "lifetime": None}}
    guardrail = await server.admin.post("/guardrails", rule, 201)
    try:
        active = await set_status(server, "meta", ids, "active")
        path, body = f"/operations/{active}/execute", {"confirmed": True, "allowStale": True}
        problem = await server.admin.problem(403, "POST", path, body)
        assert problem["code"] == "approval_required" and problem["operation"]["status"] == "prepared"
        assert (await server.admin.execute(active))["status"] == "succeeded"
        paused = await set_status(server, "meta", ids, "paused")
        assert (await server.admin.post(f"/operations/{paused}/execute", body))["status"] == "succeeded"
        assert await server.service.store.read(read_executions, active) == [{"status": "running", "fence": 1}]
        (executed,) = await server.service.store.read(read_executions, paused)
        assert executed["allowStale"] is True
    finally:
        await server.admin.delete(f"/guardrails/{guardrail['id']}")


async def test_what_is_a_decrease(server: Served) -> None:
    """A lower budget is written while the network asks to wait for reads; with another name it is compared."""
    group = (await create_campaign(server, "meta"))["adGroup"]
    path = build_path(server, "meta", "adGroup", group, "edit")
    lower, both = [
        (await server.admin.post(path, {"fields": fields}, 201))["id"]
        for fields in ({"budget": "15"}, {"budget": "15", "name": "Lower"})
    ]
    await server.networks.fault("meta", "status", method="GET", path="/*", value=429, times=1000)
    problem = await server.admin.problem(400, "POST", f"/operations/{both}/execute", {"confirmed": True})
    assert problem["code"] == "provider_throttled"
    assert (await server.admin.execute(lower))["status"] == "succeeded"


async def test_what_an_earlier_operation_has_applied_is_not_compared(server: Served) -> None:
    """It has changed the values itself, so a resumed plan has no edit that is planned again."""
    campaign = (await create_campaign(server, "meta"))["campaign"]
    path = build_path(server, "meta", "campaign", campaign, "edit")
    first, second = [await server.admin.post(path, {"fields": {"name": name}}, 201) for name in ("One", "Two")]
    await server.admin.execute(first["id"])
    actor, store = server.people["admin"].actor, server.service.store
    record = await store.read(get_operation, actor, second["id"], store.clock)
    with pytest.raises(PlanStale):
        await require_planned_values(server.service, actor, record)
    plan = evolve(record.read_plan(), carried={"campaign": Carried({"id": campaign})}, edit=None)
    resumed = evolve(record, packed=zlib.compress(plan.canonical_bytes), plan_digest=plan.digest)
    await require_planned_values(server.service, actor, resumed)
