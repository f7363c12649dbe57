"""Every endpoint with every id of another workspace, or outside the caller's scope: 404 as if there were no such thing.

Nothing is changed.

Made from the contract's rows: a new endpoint is tried by itself, with every place in its path or body that takes an id.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import pytest_asyncio
from attrs import evolve

from adsunify.contract import ENDPOINTS
from tests.server.served import NEVER, Person, Served, connect

from .asking import ID_LISTS, MAKERS, OPERATION_IDS, Inventory, ask, example, make_inventory
from .spec import ROWS, Row

pytestmark = pytest.mark.asyncio(loop_scope="module")
OWN_PLACES = ("network", "resource")


def places(row: Row) -> list[str]:
    """Where the row takes ids of a workspace; a network's own ids stand below an account."""
    body = example(row) or {}
    named = [*row.parameters, *(ID_LISTS.get(name, name) for name in row.members)]
    assert {name for name in row.parameters if name not in OWN_PLACES} <= {*MAKERS}, body
    return [name for name in named if name in MAKERS and name != "entityId"]


ASKED = [row for row in ROWS if not row.person]
TRIES = [(row, place) for row in ASKED for place in places(row)]


OF_SCOPES = {"accountIds", "clientId", "keyIds", "userId", "userIds"}
"""Members of ``scope``. tests/server/test_guardrails.py tries those that only guardrails have."""
ISSUES = {
    ("/activate", "sourceOperationId"): "source_not_activatable",
    ("/guardrails", "accountId"): "not_found",
    ("/guardrails/{guardrailId}", "accountId"): "not_found",
    ("/alerts", "accountId"): "not_found",
    ("/alerts/{alertId}", "accountId"): "not_found",
}
"""Places whose ids are 422: the code of the issue. If another id of the request is not there, the answer is 404."""
BORDERS = ("another workspace", "outside the scope")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=BORDERS)
async def apart(both: Served, request: pytest.FixtureRequest) -> tuple[Inventory, Inventory]:
    """What the caller has, and what lies behind a border: the other workspace's, or outside the scope of its key."""
    mine = await make_inventory(both)
    if request.param == "another workspace":
        return mine, await make_inventory(both, "stranger")
    other = both.accounts.get("snapchat") or await connect(both, "snapchat")
    body = {"name": "bound", "canWrite": True, "scope": {"accountIds": [mine.account]}}
    secret = (await both.admin.post("/keys/scoped", body, 201))["secret"]
    both.people["bound"] = Person(both.people["admin"].actor, {"write": secret})
    bound = evolve(mine, person="bound", scope=(mine.account,), created={})
    return bound, evolve(mine, account=other, network="snapchat", created={})


@pytest.fixture(scope="module")
def mine(apart: tuple[Inventory, Inventory]) -> Inventory:
    return apart[0]


@pytest.fixture(scope="module")
def theirs(apart: tuple[Inventory, Inventory]) -> Inventory:
    return apart[1]


async def test_every_id_of_the_contract_is_tried() -> None:
    """One place at least for each row that has an id, and every kind of id."""
    assert {row.name for row, _ in TRIES} == {row.name for row in ASKED if row.ids or set(places(row))}
    assert {place for _, place in TRIES} == set(MAKERS) - {"entityId"}
    assert all(row.name in OPERATION_IDS for row in ROWS)
    models = [model for endpoint in ENDPOINTS for model in (endpoint.query, endpoint.body) if model is not None]
    in_models = set().union(*(uuids(model.model_json_schema()) for model in models))
    assert in_models <= {*MAKERS, *ID_LISTS, *OF_SCOPES}, "a member that no row tries with foreign ids"


def uuids(schema: Any) -> set[str]:
    """The names of the members that are ids or lists of ids, at any depth."""
    if isinstance(schema, list):
        return set().union(*map(uuids, schema))
    if not isinstance(schema, dict):
        return set()
    members = schema.get("properties", {})
    named = {
        name
        for name, member in members.items()
        if "uuid" in (member.get("format"), member.get("items", {}).get("format"))
    }
    return named.union(*(uuids(member_schema) for member_schema in schema.values()))


async def ask_as_text(
    inventory: Inventory, row: Row, ids: dict[str, str], place: str
) -> tuple[int, dict[str, Any], str]:
    """Status and body, and the body as text without what differs from call to call and from id to id."""
    status, body = await ask(inventory.caller, row, ids)
    text = re.sub(r'"requestId": "\w+"', "", json.dumps(body))
    return status, body, text.replace(ids[place], "")


def read_results(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of a batch."""
    data = body.get("data")
    batch_results: list[dict[str, Any]] = data.get("results", []) if isinstance(data, dict) else []
    return batch_results


@pytest.mark.parametrize(("row", "place"), TRIES, ids=lambda value: value.name if isinstance(value, Row) else value)
async def test_an_id_behind_a_border_is_not_there(mine: Inventory, theirs: Inventory, row: Row, place: str) -> None:
    """The same answer as for an id of nothing, word for word; with their other ids beside it, and with ours.

    Those on this side of the border are there.
    """
    own, foreign = await mine.ids(row), await theirs.ids(row)
    await mine.server.wait_for_background_tasks()  # the call before this one may have begun to execute a launch
    await mine.server.wait_for_deliveries()
    before = await mine.server.rows()
    writes, request_count = mine.server.networks.writes(), len(mine.server.networks.requests)
    for beside in (own, foreign):
        status, body, text = await ask_as_text(mine, row, {**beside, place: foreign[place]}, place)
        nothing, _, as_text = await ask_as_text(mine, row, {**beside, place: NEVER}, place)
        assert (status, text) == (nothing, as_text)
        if read_results(body):  # a batch tells of each
            body = read_results(body)[0]["error"]
            status = body["status"]
        code = ISSUES.get((row.path, place))
        if code is not None and (beside is own or row.path in ("/guardrails", "/alerts")):
            assert (status, body["issues"][0]["code"]) == (422, code)
        else:
            assert (status, body["code"], body["outcome"]) == (404, "not_found", "not_applied"), body
    assert await mine.server.rows() == before
    assert (mine.server.networks.writes(), len(mine.server.networks.requests)) == (writes, request_count)
    for inventory, ids_ in ((theirs, foreign), (mine, own)):
        _, body, _ = await ask_as_text(inventory, row, ids_, place)
        assert body.get("code") != "not_found", body
        if row.name == "POST /webhooks":  # nothing answers at its address
            await inventory.caller.delete(f"/webhooks/{body['data']['webhookId']}")


async def test_lists_hold_nothing_behind_a_border(mine: Inventory, theirs: Inventory) -> None:
    for row in ROWS:
        if row.method == "GET" and not row.parameters:
            await mine.ids(row), await theirs.ids(row)
    known = {
        value
        for row in ROWS
        for name, value in (await theirs.ids(row)).items()
        if name in MAKERS and name not in ("entityId",)
    }
    assert len(known) > 15
    for row in ROWS:
        if row.method == "GET" and not row.parameters:
            _, body = await ask(mine.caller, row, {})
            assert not known.intersection(ids(body)), row.name


def ids(value: Any) -> set[str]:
    """Every text below."""
    if isinstance(value, dict):
        return set().union(*map(ids, value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*map(ids, value)) if value else set()
    return {value} if isinstance(value, str) else set()
