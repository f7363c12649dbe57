"""The unified workflow: validate, prepare, activate. What cannot be is refused before anything is saved."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.store.operations import get_operation as get_operation
from tests.networks.samples import get_samples, list_example_briefs

from .served import NEVER, Served, brief, stock_entities

pytestmark = pytest.mark.asyncio(loop_scope="module")
networks = pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))


@pytest.fixture(autouse=True)
def no_faults_left(server: Served) -> None:
    server.networks.state.faults.pending.clear()


def make_request_body(server: Served, network: str, **changes: Any) -> dict[str, Any]:
    return {"accountId": server.accounts[network], "campaign": brief(network, **changes)}


async def create_campaign(server: Served, network: str) -> Any:
    """A create operation that was executed."""
    operation = await server.admin.post("/create", make_request_body(server, network), 201)
    return await server.admin.execute(operation["id"])


# -- validate -----------------------------------------------------------------------------------------------------


def remove_markers(plan: Mapping[str, Any], member: str) -> dict[str, Any]:
    """The plan without that member; it has to be there."""
    assert not member or any(member in step["body"] for step in plan["steps"])
    steps = [{**step, "body": {k: v for k, v in step["body"].items() if k != member}} for step in plan["steps"]]
    return {**plan, "steps": steps}


@networks
async def test_a_valid_brief(server: Served, network: str) -> None:
    before, writes = await server.rows(), server.networks.writes()
    body = make_request_body(server, network)
    validation = await server.admin.post("/validate-campaign", body)
    assert (validation["valid"], validation["network"], validation["risk"]) == (True, network, "low")
    assert validation["plan"]["steps"]
    assert (await server.person("viewer", "read").post("/validate-campaign", body)) == validation
    assert await server.rows() == before and server.networks.writes() == writes
    operation = await server.admin.post("/create", body, 201)  # exactly this is then prepared
    mark = get_samples(network).operation_mark
    if mark is None:
        assert operation["plan"] == validation["plan"]
    else:
        assert remove_markers(operation["plan"], mark) == remove_markers(validation["plan"], mark)
    assert operation["warnings"] == validation["warnings"]


@pytest.mark.parametrize(
    "path", [path for code in ADAPTER_PACKAGES for path in list_example_briefs(code)], ids=lambda path: path.stem
)
async def test_a_preview_has_the_digest_of_the_prepared_plan(server: Served, path: Path) -> None:
    campaign = json.loads(path.read_text())
    campaign["budget"]["currency"] = "USD"
    body = {"accountId": server.accounts[path.stem.split("-")[0]], "campaign": campaign}
    previews = [(await server.admin.post("/validate-campaign", body))["plan"] for _ in range(2)]
    operation = await server.admin.post("/create", body, 201)
    read_again = await server.admin.get(f"/operations/{operation['id']}")
    assert operation["plan"] == read_again["plan"] and previews[0] == previews[1]
    assert operation["plan"]["digest"] == previews[0]["digest"]


async def test_a_preview_of_a_native_change_has_the_digest_of_the_prepared_plan(server: Served) -> None:
    path = f"/accounts/{server.accounts['tiktok']}"
    payload = {"campaign_name": "Leads", "objective_type": "LEAD_GENERATION"}
    preview = await server.admin.post(f"{path}/validate", {"action": "create", "kind": "campaign", "payload": payload})
    operation = await server.admin.post(f"{path}/campaigns", {"payload": payload}, 201)
    assert operation["plan"]["digest"] == preview["plan"]["digest"]
    assert operation["plan"]["steps"][0]["body"]["request_id"] != preview["plan"]["steps"][0]["body"]["request_id"]


@networks
async def test_all_issues_come_at_once(server: Served, network: str) -> None:
    before, reads, samples = await server.rows(), len(server.networks.requests), get_samples(network)
    body = make_request_body(
        server,
        network,
        goal=samples.unsupported_goal,
        budget={"amount": "20", "currency": "EUR", "period": "daily"},
        platform={samples.unsupported_platform_member: "5"},
        schedule={"startAt": "2020-01-01T00:00:00Z", "endAt": "2020-02-01T00:00:00Z"},
    )
    expected = {
        ("campaign.goal", "not_supported"),
        ("campaign.budget.currency", "currency_mismatch"),
        (f"campaign.platform.{samples.unsupported_platform_member}", "not_supported"),
        ("campaign.schedule.endAt", "past"),
    }
    for path in ("/validate-campaign", "/create"):
        assert await server.admin.read_issues("POST", path, body) >= expected
    assert await server.rows() == before
    assert len(server.networks.requests) == reads  # the tables refuse it, before the network is asked


async def test_what_workflows_say_of_political_ads_is_what_is_taken(server: Served) -> None:
    path = "platform.euPoliticalAdvertising"
    for row in await server.admin.get("/workflows"):
        network = row["network"]
        (declaration,) = [field for field in row["inputs"] if field["path"] == path]
        assert declaration["need"] == (
            "required" if get_samples(network).requires_political_declaration else "optional"
        )
        for value in (False, True):
            body = make_request_body(server, network, platform__euPoliticalAdvertising=value)
            answer = await server.admin.send("POST", "/validate-campaign", body)
            taken = f"campaign.{path}" not in {issue["path"] for issue in answer.json().get("issues", ())}
            assert taken is (not declaration["choices"] or value in declaration["choices"]), (network, value)


async def test_issues_say_what_is_accepted(server: Served) -> None:
    problem = await server.admin.problem(422, "POST", "/create", make_request_body(server, "google", goal="awareness"))
    (issue,) = [issue for issue in problem["issues"] if issue["path"] == "campaign.goal"]
    assert "Google Ads" in issue["message"] and "traffic" in issue["message"]
    assert issue["message"] in problem["detail"]


@pytest.mark.parametrize(
    "network", [code for code in ADAPTER_PACKAGES if not get_samples(code).takes_micros_of_every_currency]
)
async def test_money_is_exact_or_refused(server: Served, network: str) -> None:
    body = make_request_body(server, network, budget__amount="20.000001")
    assert {path for path, _ in await server.admin.read_issues("POST", "/create", body)} == {"campaign.budget.amount"}


async def test_what_the_network_does_not_know(server: Served) -> None:
    """The preflight asks the network, and its answer is an issue of the brief."""
    body = make_request_body(server, "meta", creative={"existingId": "missing-1"}, platform={})
    before = await server.rows()
    for path in ("/validate-campaign", "/create"):
        assert {path_ for path_, _ in await server.admin.read_issues("POST", path, body)} == {
            "campaign.creative.existingId"
        }
    assert await server.rows() == before


async def test_a_network_out_of_reach_is_a_warning(server: Served) -> None:
    body = make_request_body(server, "meta", creative={"existingId": "120330"}, platform={})
    await server.networks.fault("meta", "reset_before", times=1000)
    validation = await server.admin.post("/validate-campaign", body)
    assert validation["valid"] is True
    assert any("could not be made" in warning for warning in validation["warnings"])
    operation = await server.admin.post("/create", body, 201)
    assert operation["plan"] == validation["plan"]  # the warning is part of what is reviewed
    assert operation["warnings"] == validation["warnings"]


async def test_an_account_that_is_not_there(server: Served) -> None:
    for path in ("/validate-campaign", "/create"):
        await server.admin.problem(404, "POST", path, {"accountId": NEVER, "campaign": brief("meta")})


# -- create -------------------------------------------------------------------------------------------------------


@networks
async def test_a_prepared_operation(server: Served, network: str) -> None:
    writes = server.networks.writes()
    body, actor = make_request_body(server, network), server.people["admin"].actor
    operation = await server.admin.post("/create", body, 201)
    credential = (await server.admin.get("/auth/verify"))["credential"]
    assert operation["createdBy"] == {"userId": actor.user_id, "credential": credential}
    assert operation["reviewUrl"] == f"{server.base_url}/review/{operation['id']}"
    expected = {
        "status": "prepared",
        "action": "create",
        "network": network,
        "accountId": body["accountId"],
        "expired": False,
        "stalled": False,
        "risk": "low",
        "receipt": {"steps": []},
    }
    assert expected.items() <= operation.items()
    assert not {"nextAction", "retryAfterMs", "sourceOperationId", "error"} & operation.keys()
    keys = [step["key"] for step in operation["plan"]["steps"]]
    assert len(set(keys)) == len(keys) >= 1
    for step in operation["plan"]["steps"]:
        assert step["does"] and step["action"] == "create"
        assert step["path"].startswith("https://")
    assert server.networks.writes() == writes
    assert await server.admin.get(f"/operations/{operation['id']}") == operation
    (event,) = [event for event in await server.events() if event.operation_id == operation["id"]]
    assert event.type == "operation.prepared"
    assert event.data == {
        "operationId": operation["id"],
        "accountId": body["accountId"],
        "network": network,
        "status": "prepared",
    }


@networks
async def test_what_is_created_is_paused(server: Served, network: str) -> None:
    before = {node["id"] for node in (await _tree(server, network))["nodes"]}
    await create_campaign(server, network)
    created_nodes = [node for node in (await _tree(server, network))["nodes"] if node["id"] not in before]
    declared = {level.kind for level in get_adapter(network).network.levels}
    assert {"campaign", "adGroup", "ad"} & declared <= {node["kind"] for node in created_nodes}
    born = {
        level.kind for level in get_adapter(network).network.levels if level.initial_status
    }  # others say why they cannot be
    assert {node["status"] for node in created_nodes if node["kind"] in born} == {"paused"}


async def _tree(server: Served, network: str) -> Any:
    return await server.admin.get(f"/accounts/{server.accounts[network]}/tree")


async def test_no_secret_stands_in_an_operation(server: Served) -> None:
    for network in ADAPTER_PACKAGES:
        operation = await create_campaign(server, network)
        record = await server.service.store.read(
            get_operation, server.people["admin"].actor, operation["id"], server.service.store.clock
        )
        for text in (json.dumps(operation), record.read_plan().canonical_bytes.decode()):
            for token in server.networks.state.worlds[network].tokens:
                assert token not in text
            assert "sandbox-secret" not in text and "Bearer" not in text


# -- activate -----------------------------------------------------------------------------------------------------


@networks
async def test_an_activation(server: Served, network: str) -> None:
    source = await create_campaign(server, network)
    body = {"accountId": server.accounts[network], "sourceOperationId": source["id"]}
    operation = await server.admin.post("/activate", body, 201)
    assert (operation["action"], operation["risk"]) == ("activate", "spend")
    assert operation["sourceOperationId"] == source["id"]
    if len(operation["plan"]["steps"]) > 1:  # leaves first, the campaign last
        assert operation["plan"]["steps"][-1]["kind"] == "campaign"
    others = {node["id"]: node["status"] for node in (await _tree(server, network))["nodes"]}
    assert (await server.admin.execute(operation["id"]))["status"] == "succeeded"
    after = {node["id"]: node["status"] for node in (await _tree(server, network))["nodes"]}
    changed = {id_ for id_, status in after.items() if others[id_] != status}
    created_outputs = json.dumps([step["outputs"] for step in source["receipt"]["steps"]])
    assert changed and all(after[id_] == "active" for id_ in changed)
    assert all(id_.rpartition("~")[2] in created_outputs for id_ in changed)  # nothing else is touched
    again = await server.admin.post("/activate", body, 201)  # a second one may be prepared
    assert again["id"] != operation["id"]


async def test_sources_that_cannot_be_activated(server: Served) -> None:
    account = server.accounts["meta"]
    prepared = await server.admin.post("/create", make_request_body(server, "meta"), 201)
    cancelled = await server.admin.post("/create", make_request_body(server, "meta"), 201)
    await server.admin.post(f"/operations/{cancelled['id']}/cancel", {})
    succeeded = await create_campaign(server, "meta")
    body = {"accountId": account, "sourceOperationId": succeeded["id"]}
    activation = await server.admin.post("/activate", body, 201)
    await server.admin.execute(activation["id"])
    ids = await stock_entities(server, "campaign", 1)
    status = {"accountId": account, "kind": "campaign", "entityIds": ids, "status": "paused"}
    paused = (await server.admin.post("/bulk-status", status, 201))["operations"][0]
    await server.networks.fault("meta", "reset_after", path="/v26.0/act_1001/campaigns")
    unknown = await server.admin.post("/create", make_request_body(server, "meta"), 201)
    await server.admin.problem(400, "POST", f"/operations/{unknown['id']}/execute", {"confirmed": True})
    before = await server.rows()
    refused = {("sourceOperationId", "source_not_activatable")}
    for source in (prepared["id"], cancelled["id"], activation["id"], paused["id"], unknown["id"], NEVER):
        wrong = {"accountId": account, "sourceOperationId": source}
        assert await server.admin.read_issues("POST", "/activate", wrong) == refused
    euros = next(
        row["accountId"] for row in await server.admin.get("/accounts", network="meta") if row["currency"] == "EUR"
    )
    for other in (euros, server.accounts["amazon"]):
        wrong = {"accountId": other, "sourceOperationId": succeeded["id"]}
        assert await server.admin.read_issues("POST", "/activate", wrong) == refused
    # another member does not have it in scope
    assert await server.person("member").read_issues("POST", "/activate", body) == refused
    assert await server.rows() == before


# -- bulk status --------------------------------------------------------------------------------------------------


@networks
@pytest.mark.parametrize("status", ["paused", "active"])
async def test_one_status_for_several(server: Served, network: str, status: str) -> None:
    await create_campaign(server, network)
    await create_campaign(server, network)
    nodes = [node for node in (await _tree(server, network))["nodes"] if node["kind"] == "campaign"]
    ids = [node["id"] for node in nodes if not node["native"].get("backfilled")][-2:]  # LinkedIn's own is not changed
    body = {"accountId": server.accounts[network], "kind": "campaign", "entityIds": ids, "status": status}
    writes = server.networks.writes()
    operations = (await server.admin.post("/bulk-status", body, 201))["operations"]
    assert server.networks.writes() == writes
    assert len({operation["id"] for operation in operations}) == len(ids)
    for operation in operations:
        assert (operation["action"], operation["status"]) == ("status", "prepared")
        assert operation["risk"] == ("spend" if status == "active" else "low")
    batch = await server.admin.post(
        "/operations/execute", {"operationIds": [operation["id"] for operation in operations], "confirmed": True}
    )
    assert [result["status"] for result in batch["results"]] == ["succeeded"] * len(ids)
    tree = await _tree(server, network)
    assert {node["status"] for node in tree["nodes"] if node["id"] in ids} == {status}


async def test_all_or_nothing(server: Served) -> None:
    """What is not there is named by its place, and nothing is prepared."""
    there = await stock_entities(server, "ad", 2)
    ids = [there[0], "nonsense", there[1], "999999999"]
    body = {"accountId": server.accounts["meta"], "kind": "ad", "entityIds": ids, "status": "paused"}
    before = await server.rows()
    problem = await server.admin.problem(404, "POST", "/bulk-status", body)
    assert [(issue["path"], issue["code"]) for issue in problem["issues"]] == [
        ("entityIds.1", "not_found"),
        ("entityIds.3", "not_found"),
    ]
    assert all(ids[number] in problem["issues"][place]["message"] for place, number in enumerate((1, 3)))
    assert await server.rows() == before


async def test_fifty_at_once(server: Served) -> None:
    ids = await stock_entities(server, "ad", 50)
    body = {"accountId": server.accounts["meta"], "kind": "ad", "entityIds": ids, "status": "paused"}
    before = await server.rows()
    operations = (await server.admin.post("/bulk-status", body, 201))["operations"]
    assert [operation["plan"]["steps"][0]["path"].rpartition("/")[2] for operation in operations] == ids
    after = await server.rows()
    assert (after["operations"] - before["operations"], after["events"] - before["events"]) == (50, 50)
