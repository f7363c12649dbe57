"""An answer that names an entity of another operation is never taken for the answer to this one."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, select

from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.store.schema import created_entities

from .served import Served, brief

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATHS = {"campaign": "campaigns", "adGroup": "ad-groups", "ad": "ads"}


def read_kinds(connection: Connection, operation_id: str) -> set[str]:
    condition = created_entities.c.operation_id == operation_id
    return set(connection.execute(select(created_entities.c.kind).where(condition)).scalars())


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_an_id_of_another_operation_makes_the_outcome_unknown(server: Served, network: str) -> None:
    """The network forgets what it made, and gives its ids again."""
    account, worlds = server.accounts[network], server.networks.state.worlds
    tokens = worlds[network].tokens
    worlds[network] = server.networks.state.networks[network].create_world(server.hands.now)
    worlds[network].tokens = tokens
    first = await server.admin.post("/create", {"accountId": account, "campaign": brief(network)}, 201)
    done = await server.admin.execute(first["id"])
    assert done["status"] == "succeeded"
    levels = {level.kind for level in get_adapter(network).network.levels}
    created_kinds = levels & {"campaign", "adGroup", "ad"}
    assert await server.service.store.read(read_kinds, first["id"]) == created_kinds
    assert {entity["kind"] for entity in done["created"]} == created_kinds and first["created"] == []
    assert all("created" not in operation for operation in await server.admin.get("/operations"))
    steps = {step["key"] for step in done["plan"]["steps"] if step["action"] == "create"}
    for entity in done["created"]:
        rows = await server.admin.get(f"/accounts/{account}/{PATHS[entity['kind']]}")
        (entity_row,) = [row for row in rows if row["id"] == entity["entityId"]]
        assert entity_row["kind"] == entity["kind"] and entity["stepKey"] in steps
    worlds[network] = server.networks.state.networks[network].create_world(server.hands.now)
    worlds[network].tokens = tokens
    second = await server.admin.post("/create", {"accountId": account, "campaign": brief(network)}, 201)
    problem = await server.admin.problem(400, "POST", f"/operations/{second['id']}/execute", {"confirmed": True})
    assert (problem["code"], problem["outcome"]) == ("outcome_unknown", "unknown"), problem
    record = await server.admin.get(f"/operations/{second['id']}")
    *_, last = record["receipt"]["steps"]
    assert (record["status"], last["state"], last["outputs"]) == ("unknown", "ambiguous", {})
    assert "another" in last["error"]["message"]
    assert await server.service.store.read(read_kinds, second["id"]) <= {"campaign"}
