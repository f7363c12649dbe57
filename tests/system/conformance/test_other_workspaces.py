"""Every endpoint with every id of another workspace: 404 as if there were no such thing, and nothing is changed.

Made from the contract's rows: a new endpoint is tried by itself, with every place in its path or body that takes an id.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import pytest_asyncio

from tests.server.served import NEVER, Served

from .asking import MAKERS, OPERATION_IDS, Things, ask, example, things
from .spec import ROWS, Row

pytestmark = pytest.mark.asyncio(loop_scope="module")
OWN_PLACES = ("network", "resource")
LISTED = {"operationIds": "operationId"}
"""Members of a body that hold several ids."""


def places(row: Row) -> list[str]:
    """Where the row takes ids of a workspace; a network's own ids stand below an account."""
    body = example(row) or {}
    named = [*row.parameters, *(LISTED.get(name, name) for name in (row.body.members if row.body is not None else ()))]
    assert {name for name in row.parameters if name not in OWN_PLACES} <= {*MAKERS}, body
    return [name for name in named if name in MAKERS and name != "entityId"]


TRIES = [(row, place) for row in ROWS for place in places(row)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def theirs(both: Served) -> Things:
    """What the admin of the other workspace has."""
    return await things(both, "stranger")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def mine(both: Served) -> Things:
    return await things(both)


async def test_every_id_of_the_contract_is_tried() -> None:
    """One place at least for each row that has an id, and every kind of id."""
    assert {row.name for row, _ in TRIES} == {row.name for row in ROWS if row.ids or set(places(row))}
    assert {place for _, place in TRIES} == set(MAKERS) - {"entityId"}
    assert all(row.name in OPERATION_IDS for row in ROWS)


async def answered(one: Things, row: Row, ids: dict[str, str], place: str) -> tuple[int, dict[str, Any], str]:
    """Status and body, and the body as text without what differs from call to call and from id to id."""
    status, body = await ask(one.caller, row, ids)
    text = re.sub(r'"requestId": "\w+"', "", json.dumps(body))
    return status, body, text.replace(ids[place], "")


def results(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of a batch."""
    data = body.get("data")
    found: list[dict[str, Any]] = data.get("results", []) if isinstance(data, dict) else []
    return found


@pytest.mark.parametrize(("row", "place"), TRIES, ids=lambda one: one.name if isinstance(one, Row) else one)
async def test_an_id_of_another_workspace_is_not_there(mine: Things, theirs: Things, row: Row, place: str) -> None:
    """The same answer as for an id of nothing, word for word; with their other ids beside it, and with ours."""
    own, foreign = await mine.ids(row), await theirs.ids(row)
    await mine.server.delivered()  # the call before this one may have queued a notification
    before = await mine.server.rows()
    writes, asked = mine.server.networks.writes(), len(mine.server.networks.asked)
    for beside in (own, foreign):
        status, body, text = await answered(mine, row, {**beside, place: foreign[place]}, place)
        nothing, _, as_text = await answered(mine, row, {**beside, place: NEVER}, place)
        assert (status, text) == (nothing, as_text)
        if results(body):  # a batch tells of each
            body = results(body)[0]["error"]
            status = body["status"]
        if place == "sourceOperationId" and beside is own:
            assert (status, body["issues"][0]["code"]) == (422, "source_not_activatable")
        else:
            assert (status, body["code"], body["outcome"]) == (404, "not_found", "not_applied"), body
    assert await mine.server.rows() == before
    assert (mine.server.networks.writes(), len(mine.server.networks.asked)) == (writes, asked)
    _, body, _ = await answered(theirs, row, foreign, place)
    assert body.get("code") != "not_found", body


async def test_lists_hold_nothing_of_another_workspace(mine: Things, theirs: Things) -> None:
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
