"""Launches over REST: planned in the background, reviewed once, executed once, each cell in exactly one state."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from attrs import evolve

from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.service import api_keys
from adsunify.service.launches import use_cases
from adsunify.store import people, sessions
from adsunify.store.guardrails import freeze_credential
from tests.networks.samples import list_example_briefs

from .served import NEVER, Caller, Served, brief

pytestmark = pytest.mark.asyncio(loop_scope="module")
EXAMPLES = [path for network in ADAPTER_PACKAGES for path in list_example_briefs(network)]
FEW = ("meta", "tiktok", "reddit")


def make_launch(server: Served, networks: Iterable[str], name: str, **more: Any) -> dict[str, Any]:
    """One cell for each network, whose brief is the network's own."""
    accounts = [
        {"accountId": server.accounts[code], "key": code, "campaign": brief(code, name=f"{name} {code}")}
        for code in networks
    ]
    return {"name": name, "campaign": {}, "accounts": accounts, **more}


async def wait(server: Served, path: str, caller: Caller | None = None) -> dict[str, Any]:
    """A launch or a change set after what runs in the background has ended."""
    async with asyncio.timeout(100):
        while True:
            document: dict[str, Any] = await (caller or server.admin).get(path)
            if document["status"] not in ("preparing", "running"):
                return document
            await asyncio.sleep(0.05)


async def prepare(server: Served, body: Mapping[str, Any], caller: Caller | None = None) -> dict[str, Any]:
    """A launch after its preparation."""
    begun = await (caller or server.admin).post("/launches", body, 201)
    assert begun["status"] == "preparing"
    return await wait(server, f"/launches/{begun['launchId']}", caller)


async def change(server: Served, launch: Mapping[str, Any], word: str, **body: Any) -> dict[str, Any]:
    """A change set of a launch after its preparation."""
    begun = await server.admin.post(f"/launches/{launch['launchId']}/{word}", body, 201)
    return await wait(server, f"/change-sets/{begun['id']}")


async def execute(
    server: Served, change_set: Mapping[str, Any], caller: Caller | None = None, launch_id: str | None = None
) -> dict[str, Any]:
    """A change set after its execution; of a launch if that is named."""
    path = f"/change-sets/{change_set['id']}"
    at = path if launch_id is None else f"/launches/{launch_id}"
    await (caller or server.admin).post(f"{at}/execute", {"confirmed": True, "digest": change_set["digest"]}, 202)
    return await wait(server, path)


def count_states(cells: Iterable[Mapping[str, Any]]) -> Counter[str]:
    return Counter(cell["state"] for cell in cells)


async def read_cells(server: Served, launch: Mapping[str, Any]) -> dict[str, str]:
    """The state of each cell."""
    cells = (await server.admin.get(f"/launches/{launch['launchId']}"))["cells"]
    return {cell["key"]: cell["state"] for cell in cells}


# -- all networks -------------------------------------------------------------------------------------------------


async def test_every_combination_from_the_brief_to_its_undo(server: Served) -> None:
    """One launch: created, activated, paused and undone with one confirmation each; a second call writes nothing."""
    accounts = []
    for path in EXAMPLES:
        example = json.loads(path.read_text())
        budget = {**example["budget"], "currency": "USD"}
        campaign = {**example, "name": f"Launch {len(accounts)}", "budget": budget}
        accounts.append(
            {"accountId": server.accounts[path.stem.split("-")[0]], "key": path.stem[:60], "campaign": campaign}
        )
    launch = await prepare(server, {"name": "Everything", "campaign": {}, "accounts": accounts})
    assert launch["status"] == "prepared", [cell["issues"] for cell in launch["cells"] if cell["issues"]]
    assert len(EXAMPLES) >= 45 and count_states(launch["cells"]) == {"prepared": len(EXAMPLES)}
    assert sum(total["cells"] for total in launch["totals"]) == len(EXAMPLES)
    (created,) = launch["changeSets"]
    assert len({row["operationId"] for row in created["operations"]}) == len(EXAMPLES)
    operations = [await server.admin.get(f"/operations/{row['operationId']}") for row in created["operations"]]
    assert {operation["launchId"] for operation in operations} == {launch["launchId"]}
    assert {operation["expiresAt"] for operation in operations} == {created["expiresAt"]}

    done = await execute(server, created, launch_id=launch["launchId"])
    assert (done["status"], count_states(done["operations"])) == ("finished", {"succeeded": len(EXAMPLES)}), done
    write_count = server.networks.writes()
    again = await execute(server, created)
    assert (again["status"], server.networks.writes()) == ("finished", write_count)
    whole = await server.admin.get(f"/launches/{launch['launchId']}")
    assert all({entity["kind"] for entity in cell["created"]} >= {"campaign"} for cell in whole["cells"])

    for word in ("activate", "pause", "undo"):
        prepared = await change(server, launch, word)
        assert (prepared["status"], prepared["action"]) == ("prepared", word), prepared
        if word != "undo":
            assert prepared["excluded"] == []
        finished = await execute(server, prepared)
        states = count_states(finished["operations"])
        assert (finished["status"], set(states)) == ("finished", {"succeeded"}), finished
    assert (
        len({row["digest"] for row in (await server.admin.get(f"/launches/{launch['launchId']}"))["changeSets"]}) == 4
    )


# -- preparing ----------------------------------------------------------------------------------------------------


async def test_an_invalid_cell_stops_the_launch_or_is_skipped(server: Served) -> None:
    body = make_launch(server, FEW, "Mixed")
    body["accounts"][0]["campaign"]["budget"]["amount"] = "-1"  # refused by the brief
    body["accounts"][1]["campaign"]["budget"]["amount"] = "20.005"  # refused by the network's rules
    operations = (await server.rows())["operations"]
    launch = await prepare(server, body)
    assert (launch["status"], count_states(launch["cells"])) == ("invalid", {"invalid": 2, "cancelled": 1}), launch[
        "cells"
    ]
    assert (await server.rows())["operations"] == operations
    issues = {issue["path"] for cell in launch["cells"] for issue in cell["issues"]}
    assert all(path.startswith(("accounts.0.campaign.", "accounts.1.campaign.")) for path in issues), issues
    (refused,) = launch["changeSets"]
    assert refused["digest"] is None and refused["operations"] == []
    problem = await server.admin.problem(
        409, "POST", f"/change-sets/{refused['id']}/execute", {"confirmed": True, "digest": "0" * 64}
    )
    assert problem["code"] == "digest_changed"
    assert (await change(server, launch, "prepare"))["status"] == "invalid"
    prepared = await change(server, launch, "prepare", skipInvalid=True)
    assert [row["key"] for row in prepared["operations"]] == [FEW[2]]
    assert await read_cells(server, launch) == {FEW[0]: "skipped", FEW[1]: "skipped", FEW[2]: "prepared"}
    await server.admin.post(f"/launches/{launch['launchId']}/cancel", {})


async def test_a_launch_has_one_open_change_set(server: Served) -> None:
    launch = await prepare(server, make_launch(server, FEW, "Open"))
    for word in ("activate", "pause", "undo", "prepare"):
        problem = await server.admin.problem(409, "POST", f"/launches/{launch['launchId']}/{word}", {})
        assert (problem["code"], problem["outcome"]) == ("run_open", "not_applied")
    cancelled = await server.admin.post(f"/launches/{launch['launchId']}/cancel", {})
    assert (cancelled["status"], count_states(cancelled["operations"])) == ("cancelled", {"cancelled": 3})
    assert cancelled == await server.admin.post(f"/change-sets/{cancelled['id']}/cancel", {})
    problem = await server.admin.problem(
        400, "POST", f"/change-sets/{cancelled['id']}/execute", {"confirmed": True, "digest": cancelled["digest"]}
    )
    assert problem["code"] == "operation_cancelled"
    begun = await asyncio.gather(
        *(server.admin.send("POST", f"/launches/{launch['launchId']}/prepare", {}) for _ in range(5))
    )
    assert sorted(answer.status_code for answer in begun) == [201, 409, 409, 409, 409]
    anew = await wait(server, f"/launches/{launch['launchId']}")
    assert count_states(anew["cells"]) == {"prepared": 3} and anew["changeSets"][-1]["digest"] != cancelled["digest"]
    await execute(server, anew["changeSets"][-1])
    assert (await server.admin.problem(400, "POST", f"/launches/{launch['launchId']}/cancel", {}))["code"] == (
        "change_set_closed"
    )
    nothing = await change(server, launch, "prepare")
    assert (nothing["status"], len(nothing["excluded"])) == ("invalid", 3)


async def test_the_same_key_prepares_once(server: Served) -> None:
    body, headers = make_launch(server, FEW, "Key"), {"Idempotency-Key": "spring-1"}
    answers = [await server.admin.send("POST", "/launches", body, headers=headers) for _ in range(2)]
    ids = {answer.json()["data"]["launchId"] for answer in answers}
    assert len(ids) == 1 and [answer.headers.get("Idempotency-Replayed") for answer in answers] == [None, "true"]
    problem = await server.admin.problem(409, "POST", "/launches", {**body, "name": "Other"}, headers=headers)
    assert problem["code"] == "idempotency_conflict"
    launch = await wait(server, f"/launches/{ids.pop()}")
    await server.admin.post(f"/launches/{launch['launchId']}/cancel", {})
    at = f"/launches/{launch['launchId']}/prepare"
    twice = [await server.admin.send("POST", at, {}, headers=headers | {"Idempotency-Key": "spring-2"}) for _ in "ab"]
    assert len({answer.json()["data"]["id"] for answer in twice}) == 1
    await wait(server, f"/launches/{launch['launchId']}")


async def test_guardrails_count_all_cells_as_one_call(server: Served) -> None:
    """Of one account and of several, if the rule limits them. A rule of one network counts only its cells."""
    body = make_launch(server, ("meta", "meta", "tiktok"), "Rule")
    for n, account in enumerate(body["accounts"]):
        account |= {"key": str(n), "campaign": {**account["campaign"], "name": f"Rule {n}"}}
    amounts = [float(account["campaign"]["budget"]["amount"]) for account in body["accounts"]]
    exceeded = {"0": ["guardrail_exceeded"], "1": ["guardrail_exceeded"], "2": []}
    for networks, limit, expected in (
        (["meta", "tiktok"], sum(amounts) - 1, {**exceeded, "2": ["guardrail_exceeded"]}),
        (["meta", "tiktok"], sum(amounts), {key: [] for key in exceeded}),
        (["meta"], sum(amounts[:2]) - 1, exceeded),
    ):
        rule = {
            "name": "Small",
            "currency": "USD",
            "scope": {"networks": networks},
            "perOperation": {"daily": f"{limit:.2f}", "lifetime": None},
        }
        guardrail = await server.admin.post("/guardrails", rule, 201)
        try:
            launch = await prepare(server, body)
        finally:
            await server.admin.delete(f"/guardrails/{guardrail['id']}")
        codes = {cell["key"]: [issue["code"] for issue in cell["issues"]] for cell in launch["cells"]}
        assert codes == expected and (launch["status"] == "prepared") is not any(codes.values()), launch
        if launch["status"] == "prepared":
            await server.admin.post(f"/launches/{launch['launchId']}/cancel", {})


async def test_a_limit_on_the_executor_counts_all_cells(server: Served) -> None:
    """Somebody else prepared the launch, so only its execution is limited; also one of a single operation of it."""
    launch = await prepare(server, make_launch(server, ("meta", "tiktok"), "Executor"))
    (change_set,) = launch["changeSets"]
    amounts = [float(row["planned"]["daily"]) for row in change_set["operations"]]
    key_id, secret = await server.key("admin")
    limits = {"daily": f"{sum(amounts) - 1:.2f}", "lifetime": None}
    rule = {"name": "Key", "currency": "USD", "scope": {"keyIds": [key_id]}, "perOperation": limits}
    guardrail = await server.admin.post("/guardrails", rule, 201)
    writes = server.networks.writes()
    try:
        at = f"/operations/{change_set['operations'][0]['operationId']}/execute"
        problem = await server.caller(secret).problem(403, "POST", at, {"confirmed": True})
        done = await execute(server, change_set, server.caller(secret))
    finally:
        await server.admin.delete(f"/guardrails/{guardrail['id']}")
    assert problem["code"] == "guardrail_exceeded"
    assert [row["error"]["code"] for row in done["operations"]] == ["guardrail_exceeded"] * 2, done
    assert (count_states(done["operations"]), server.networks.writes()) == ({"refused": 2}, writes)


async def test_each_cell_takes_its_room_from_a_window(server: Served) -> None:
    """A window without room for all activations: each one's review says so, and so many run as it has room for."""
    body = make_launch(server, ["meta", "meta", "meta", "tiktok"], "Window")
    for n, account in enumerate(body["accounts"]):
        budget = {**account["campaign"]["budget"], "amount": "30", "period": "daily"}
        account |= {"key": str(n), "campaign": {**account["campaign"], "name": f"Window {n}", "budget": budget}}
    launch = await prepare(server, body)
    await execute(server, launch["changeSets"][0])
    window = {"hours": 24, "daily": "100", "lifetime": None}
    guardrail = await server.admin.post("/guardrails", {"name": "Window", "currency": "USD", "perWindow": window}, 201)
    try:
        activation = await change(server, launch, "activate")
        operations = [await server.admin.get(f"/operations/{row['operationId']}") for row in activation["operations"]]
        done = await execute(server, activation)
    finally:
        await server.admin.delete(f"/guardrails/{guardrail['id']}")
    assert all("Until there is room" in " ".join(operation["warnings"]) for operation in operations)
    assert (done["status"], count_states(done["operations"])) == ("finished", {"succeeded": 3, "refused": 1}), done
    assert {row["error"]["code"] for row in done["operations"] if "error" in row} == {"guardrail_exceeded"}


# -- who ----------------------------------------------------------------------------------------------------------


async def test_a_scope_bounds_the_accounts_and_what_is_seen(server: Served) -> None:
    scoped_key = await server.admin.post(
        "/keys/scoped", {"name": "m", "canWrite": True, "scope": {"networks": ["meta"]}}, 201
    )
    scoped = server.caller(scoped_key["secret"])
    problem = await scoped.problem(404, "POST", "/launches", make_launch(server, FEW, "Scope"))
    assert "accounts.1.accountId" in problem["detail"]
    own = await prepare(server, make_launch(server, ["meta"], "Scoped"), scoped)
    others = await prepare(server, make_launch(server, FEW, "Whole"))
    assert {row["launchId"] for row in await scoped.get("/launches")} & {own["launchId"], others["launchId"]} == {
        own["launchId"]
    }
    for caller in (scoped, server.person("member"), server.person("stranger")):
        for path in (f"/launches/{others['launchId']}", f"/change-sets/{others['changeSets'][0]['id']}"):
            await caller.problem(404, "GET", path)
            await caller.problem(404, "POST", f"{path}/cancel", {})
    page = await server.admin.send("GET", "/launches", query={"limit": 1})
    assert [row["launchId"] for row in page.json()["data"]] == [others["launchId"]]
    following = await server.admin.get("/launches", limit=1, cursor=page.json()["page"]["nextCursor"])
    assert [row["launchId"] for row in following] == [own["launchId"]]
    missing = {**make_launch(server, ["meta"], "Nobody"), "accounts": [{"accountId": NEVER}]}
    await server.admin.problem(404, "POST", "/launches", missing)


async def test_a_revoked_key_stops_the_execution_and_the_rest_stays_prepared(server: Served) -> None:
    launch = await prepare(server, make_launch(server, ADAPTER_PACKAGES, "Revoked"))
    (change_set,) = launch["changeSets"]
    key_id, secret = await server.key("admin")
    body = {"confirmed": True, "digest": change_set["digest"]}
    for network in ADAPTER_PACKAGES:
        await server.networks.fault(network, "latency", value=400, times=1)
    await server.caller(secret).post(f"/change-sets/{change_set['id']}/execute", body, 202)
    await api_keys.revoke_key(server.service, server.people["admin"].actor, key_id=key_id)
    stopped = await wait(server, f"/change-sets/{change_set['id']}")
    await server.networks.clear_faults()
    assert (stopped["status"], stopped["error"]["code"]) == ("prepared", "access_lost"), stopped
    states = count_states(stopped["operations"])
    assert states["prepared"] and set(states) <= {"prepared", "succeeded", "refused"}, states
    done = await execute(server, change_set)
    assert done["status"] == "finished" and "error" not in done
    assert count_states(done["operations"])["succeeded"] == len(ADAPTER_PACKAGES) - states["refused"], done


async def test_a_frozen_key_executes_nothing(server: Served) -> None:
    launch = await prepare(server, make_launch(server, ["meta"], "Frozen"))
    (change_set,) = launch["changeSets"]
    key_id, secret = await server.key("admin")
    workspace, clock = server.people["admin"].actor.workspace_id, server.service.store.clock
    await server.service.store.write(freeze_credential, workspace, key_id, NEVER, None, clock)
    body = {"confirmed": True, "digest": change_set["digest"]}
    problem = await server.caller(secret).problem(403, "POST", f"/change-sets/{change_set['id']}/execute", body)
    assert problem["code"] == "credential_frozen"
    cancelled = await server.caller(secret).post(f"/change-sets/{change_set['id']}/cancel", {})
    assert cancelled["status"] == "cancelled"


async def test_a_person_must_execute_where_the_workspace_says_so(server: Served) -> None:
    launch = await prepare(server, make_launch(server, ["meta", "reddit"], "Approved"))
    (change_set,) = launch["changeSets"]
    actor, store = server.people["admin"].actor, server.service.store
    body = {"confirmed": True, "digest": change_set["digest"]}
    await store.write(people.set_require_approval, actor.workspace_id, True, store.clock)
    try:
        problem = await server.admin.problem(403, "POST", f"/change-sets/{change_set['id']}/execute", body)
        assert problem["code"] == "approval_required" and change_set["reviewUrl"] in problem["detail"]
        await store.write(sessions.create_session, "hash", actor.user_id, actor.workspace_id, 60_000, store.clock)
        person = evolve(actor, session_hash="hash")
        await use_cases.execute_change_set(server.service, person, change_set_id=change_set["id"], **body)
        done = await wait(server, f"/change-sets/{change_set['id']}")
    finally:
        await store.write(people.set_require_approval, actor.workspace_id, False, store.clock)
    assert (done["status"], count_states(done["operations"])) == ("finished", {"succeeded": 2}), done
    assert done["executedBy"]["credential"] == "session"


async def test_a_cell_that_a_guardrail_leaves_to_a_person_waits_for_one(server: Served) -> None:
    rule = {
        "name": "Look first",
        "currency": "USD",
        "scope": {"networks": ["meta"]},
        "approvalAbove": {"daily": "5", "lifetime": None},
    }
    guardrail = await server.admin.post("/guardrails", rule, 201)
    try:
        launch = await prepare(server, make_launch(server, ["meta", "reddit"], "Waiting"))
        (change_set,) = launch["changeSets"]
        waiting = await execute(server, change_set)
        states = {row["key"]: row["state"] for row in waiting["operations"]}
        assert (waiting["status"], waiting["error"]["code"]) == ("prepared", "approval_required")
        assert states == {"meta": "prepared", "reddit": "succeeded"}
        actor, store = server.people["admin"].actor, server.service.store
        await store.write(sessions.create_session, "person", actor.user_id, actor.workspace_id, 60_000, store.clock)
        person = evolve(actor, session_hash="person")
        body = {"confirmed": True, "digest": change_set["digest"]}
        await use_cases.execute_change_set(server.service, person, change_set_id=change_set["id"], **body)
        done = await wait(server, f"/change-sets/{change_set['id']}")
        assert (done["status"], count_states(done["operations"])) == ("finished", {"succeeded": 2}), done
    finally:
        await server.admin.delete(f"/guardrails/{guardrail['id']}")


# -- executing ----------------------------------------------------------------------------------------------------


async def test_another_digest_executes_nothing(server: Served) -> None:
    launch = await prepare(server, make_launch(server, FEW, "Digest"))
    writes = server.networks.writes()
    for at in (f"/launches/{launch['launchId']}", f"/change-sets/{launch['changeSets'][0]['id']}"):
        problem = await server.admin.problem(409, "POST", f"{at}/execute", {"confirmed": True, "digest": "f" * 64})
        assert problem["code"] == "digest_changed"
        refused = await server.admin.read_issues("POST", f"{at}/execute", {"confirmed": False, "digest": "f" * 64})
        assert refused == {("confirmed", "not_a_choice")}
    assert server.networks.writes() == writes
    await server.admin.post(f"/launches/{launch['launchId']}/cancel", {})


async def test_unknown_and_refused_cells_end_alone_and_are_prepared_again_safely(server: Served) -> None:
    launch = await prepare(server, make_launch(server, FEW, "Faults"))
    await server.networks.fault("meta", "reset_after", method="POST", path="/v26.0/act_1001/campaigns")
    await server.networks.fault("reddit", "status", method="POST", value=400)
    done = await execute(server, launch["changeSets"][0])
    await server.networks.clear_faults()
    states = {row["key"]: row["state"] for row in done["operations"]}
    assert (done["status"], states) == (
        "finished",
        {"meta": "unknown", "tiktok": "succeeded", "reddit": "refused"},
    ), done
    write_count = server.networks.writes()
    assert (await execute(server, launch["changeSets"][0]))["status"] == "finished"
    assert server.networks.writes() == write_count
    for word in ("activate", "pause", "undo"):
        partial = await change(server, launch, word)
        assert [row["key"] for row in partial["operations"]] == ["tiktok"], partial
        assert {row["key"] for row in partial["excluded"]} == {"meta", "reddit"} and partial["issues"] == []
        await server.admin.post(f"/launches/{launch['launchId']}/cancel", {})
    anew = await change(server, launch, "prepare")
    excluded = {row["key"]: row["reason"] for row in anew["excluded"]}
    assert anew["status"] == "prepared" and "tiktok" in excluded, anew
    for row in anew["operations"]:
        operation = await server.admin.get(f"/operations/{row['operationId']}")
        assert ("resumes" in operation) == (row["key"] == "meta"), operation
    old = next(row["operationId"] for row in done["operations"] if row["key"] == "reddit")
    assert (await server.admin.get(f"/operations/{old}"))["status"] == "cancelled"
    finished = await execute(server, anew)
    assert set(count_states(finished["operations"])) == {"succeeded"}
    expected = {key: "unknown" if key in excluded and key != "tiktok" else "succeeded" for key in FEW}
    assert await read_cells(server, launch) == expected


async def test_half_of_a_cell_is_resumed(server: Served) -> None:
    launch = await prepare(server, make_launch(server, ["meta"], "Half"))
    await server.networks.fault("meta", "status", method="POST", path="/v26.0/act_1001/adsets", value=400)
    done = await execute(server, launch["changeSets"][0])
    await server.networks.clear_faults()
    assert [row["state"] for row in done["operations"]] == ["refused"]
    campaigns = server.networks.count("POST", "facebook", "/campaigns")
    anew = await change(server, launch, "prepare")
    assert [row["state"] for row in (await execute(server, anew))["operations"]] == ["succeeded"]
    assert server.networks.count("POST", "facebook", "/campaigns") == campaigns
    assert await read_cells(server, launch) == {"meta": "succeeded"}


async def test_the_review_time_ends_while_cells_are_written(server: Served) -> None:
    """What is left expires and nothing more is written; preparing anew resumes what was begun.

    The clock advances by less than a lease of 30 seconds at a time, so that no execution counts as interrupted.
    """
    body = make_launch(server, ["meta"] * 8, "Late")
    for n, account in enumerate(body["accounts"]):
        account |= {"key": str(n), "campaign": {**account["campaign"], "name": f"Late {n}"}}
    launch = await prepare(server, body)
    (change_set,) = launch["changeSets"]
    campaigns = server.networks.count("POST", "facebook", "/campaigns")
    await server.networks.fault("meta", "latency", value=300, times=40)
    server.hands.pass_(minutes=29, seconds=30)
    confirmed = {"confirmed": True, "digest": change_set["digest"]}
    await server.admin.post(f"/change-sets/{change_set['id']}/execute", confirmed, 202)
    while server.networks.count("POST", "facebook", "/campaigns") == campaigns:
        await asyncio.sleep(0.01)
    for _ in range(2):
        server.hands.pass_(seconds=20)
        await asyncio.sleep(0.5)  # for the answers that are on their way
    done = await wait(server, f"/change-sets/{change_set['id']}")
    await server.networks.clear_faults()
    assert done["status"] == "finished" and set(count_states(done["operations"])) <= {"expired", "succeeded"}, done
    anew = await change(server, launch, "prepare")
    assert (await execute(server, anew))["status"] == "finished"
    assert set((await read_cells(server, launch)).values()) == {"succeeded"}
    assert server.networks.count("POST", "facebook", "/campaigns") == campaigns + 8


async def test_a_stop_while_cells_are_written(server: Served) -> None:
    """What has begun ends; nothing else begins, also if the stop meets operations that begin just then."""
    body = make_launch(server, ["meta"] * 12, "Stop")
    for n, account in enumerate(body["accounts"]):
        account |= {"key": str(n), "campaign": {**account["campaign"], "name": f"Stop {n}"}}
    launch = await prepare(server, body)
    (change_set,) = launch["changeSets"]
    campaigns = server.networks.count("POST", "facebook", "/campaigns")
    confirmed = {"confirmed": True, "digest": change_set["digest"]}
    await server.admin.post(f"/change-sets/{change_set['id']}/execute", confirmed, 202)
    while server.networks.count("POST", "facebook", "/campaigns") == campaigns:
        await asyncio.sleep(0.001)
    stopped = await server.admin.post(f"/change-sets/{change_set['id']}/cancel", {})
    assert stopped["status"] == "cancelled"
    await server.wait_for_background_tasks()
    states = count_states((await server.admin.get(f"/launches/{launch['launchId']}"))["cells"])
    assert set(states) <= {"succeeded", "cancelled"} and states["succeeded"], states
    anew = await change(server, launch, "prepare")
    if states["cancelled"]:
        await execute(server, anew)
    assert set((await read_cells(server, launch)).values()) == {"succeeded"}
    assert server.networks.count("POST", "facebook", "/campaigns") == campaigns + 12


async def test_an_expired_change_set_is_prepared_anew(server: Served) -> None:
    launch = await prepare(server, make_launch(server, FEW, "Expired"))
    (change_set,) = launch["changeSets"]
    server.hands.pass_(minutes=31)
    assert (await server.admin.get(f"/launches/{launch['launchId']}"))["status"] == "expired"
    assert set((await read_cells(server, launch)).values()) == {"expired"}
    body = {"confirmed": True, "digest": change_set["digest"]}
    problem = await server.admin.problem(400, "POST", f"/change-sets/{change_set['id']}/execute", body)
    assert problem["code"] == "operation_expired"
    anew = await change(server, launch, "prepare")
    assert count_states(anew["operations"]) == {"prepared": 3} and anew["digest"] != change_set["digest"]
    assert count_states((await execute(server, anew))["operations"]) == {"succeeded": 3}
