"""The ledger over the API: what it lists, its filters and pages, and who may read it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from adsunify.contract import ENDPOINTS
from adsunify.ledger import KIND_DESCRIPTIONS, SUBJECT_TYPES
from adsunify.service.ledger.sealing import LedgerSealer

from .oauth import agent
from .served import Caller, Served, brief

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def read_all(caller: Caller, **query: Any) -> list[Any]:
    """The rows of all pages, newest first."""
    rows: list[Any] = []
    while True:
        answer = await caller.send("GET", "/ledger", query=query)
        assert answer.status_code == 200, answer.text
        rows += answer.json()["data"]
        query["cursor"] = answer.json()["page"]["nextCursor"]
        if query["cursor"] is None:
            return rows


async def prepare(caller: Caller, account_id: str, network: str) -> Any:
    return await caller.post("/create", {"accountId": account_id, "campaign": brief(network)}, 201)


async def test_a_change_is_listed_with_who_made_it_and_sealed_later(server: Served) -> None:
    operation = await prepare(server.admin, server.accounts["meta"], "meta")
    await server.admin.execute(operation["id"])
    rows = [row for row in await read_all(server.admin) if row["subject"]["id"] == operation["id"]]
    steps = len(operation["plan"]["steps"])
    assert [row["kind"] for row in rows] == [*["receipt"] * steps, "execute", "prepare"]
    prepared = rows[-1]
    assert prepared["actor"] == operation["createdBy"] and prepared["at"] == operation["createdAt"]
    assert (prepared["accountId"], prepared["network"]) == (server.accounts["meta"], "meta")
    assert prepared["after"]["planDigest"] == operation["plan"]["digest"] and prepared["before"] is None
    await LedgerSealer(server.service).seal_all()
    sealed = await read_all(server.admin)
    assert all(row["seq"] is not None and len(row["chainHash"]) == 64 for row in sealed)
    assert {row["contentHash"] for row in rows} < {row["contentHash"] for row in sealed}


async def test_filters_and_pages(server: Served) -> None:
    meta, x = server.accounts["meta"], server.accounts["x"]
    first = await prepare(server.admin, x, "x")
    server.hands.pass_(seconds=5)
    second = await prepare(server.person("member"), meta, "meta")
    await server.admin.post(f"/operations/{first['id']}/cancel", {})
    ids = {first["id"], second["id"]}

    async def find(**query: str) -> set[tuple[str, str]]:
        rows = [row for row in await read_all(server.admin, **query) if row["subject"]["id"] in ids]
        return {(row["kind"], row["subject"]["id"]) for row in rows}

    of_first, of_second = {("prepare", first["id"]), ("cancel", first["id"])}, {("prepare", second["id"])}
    assert await find() == of_first | of_second
    assert await find(network="x") == await find(accountId=x) == of_first
    assert await find(kind="prepare") == {("prepare", id_) for id_ in ids}
    assert await find(actor=second["createdBy"]["userId"]) == of_second
    assert await find(actor=first["createdBy"]["credential"]) == of_first
    assert await find(since=second["createdAt"], kind="prepare") == of_second
    assert await find(until=second["createdAt"]) == {("prepare", first["id"])}
    assert await find(kind="cancel", network="meta") == set()
    everything = await read_all(server.admin)
    assert await read_all(server.admin, limit="1") == everything and len(everything) > 10
    assert all((later["at"], later["id"]) > (row["at"], row["id"]) for later, row in pairwise(everything))


async def test_what_a_query_must_be(server: Served) -> None:
    for _ in range(2):
        await prepare(server.admin, server.accounts["meta"], "meta")
    cursor = (await server.admin.send("GET", "/ledger", query={"limit": "1"})).json()["page"]["nextCursor"]
    day = "2030-01-02T00:00:00Z"
    for query, issue in (
        ({"kind": "change"}, ("kind", "not_a_choice")),
        ({"since": "yesterday"}, ("since", "malformed")),
        ({"since": day, "until": day}, ("until", "order")),
        ({"cursor": cursor, "kind": "prepare"}, ("cursor", "malformed")),
        ({"limit": "101"}, ("limit", "out_of_range")),
    ):
        assert await server.admin.read_issues("GET", "/ledger", query=query) == {issue}, query
    operations = (await server.admin.send("GET", "/operations", query={"limit": "1"})).json()["page"]["nextCursor"]
    assert await server.admin.read_issues("GET", "/ledger", query={"cursor": operations}) == {("cursor", "malformed")}


async def test_only_admins_read_it_and_no_agent(server: Served) -> None:
    for name in ("viewer", "member"):
        assert (await server.person(name).problem(403, "GET", "/ledger"))["code"] == "admin_required"
    token = (await (await agent(server)).tokens("admin"))["access_token"]
    assert (await server.caller(token).problem(403, "GET", "/ledger"))["code"] == "not_for_agents"
    reader = server.person("admin", "read")
    assert await read_all(reader) == await read_all(server.admin)
    own = {row["id"] for row in await read_all(server.person("stranger"))}
    assert own and own.isdisjoint(row["id"] for row in await read_all(server.admin))


async def test_a_scope_bounds_what_is_read(server: Served) -> None:
    meta, x = server.accounts["meta"], server.accounts["x"]
    for account, network in ((meta, "meta"), (x, "x")):
        await prepare(server.admin, account, network)
    for scope, networks in (({"accountIds": [x]}, {"x"}), ({"networks": ["x"]}, {"x"})):
        key = await server.admin.post("/keys/scoped", {"name": "auditor", "scope": scope}, 201)
        rows = await read_all(server.caller(key["secret"]))
        assert {row["network"] for row in rows} == networks
        if "accountIds" in scope:
            assert {row["accountId"] for row in rows} == {x}


async def test_the_answer_names_every_kind() -> None:
    """The clients' types and the schema list the kinds and the types of subjects again."""
    from adsunify.answers import LedgerEntry, LedgerSubject

    properties = LedgerEntry.model_json_schema()["properties"]
    assert properties["kind"]["enum"] == list(KIND_DESCRIPTIONS) == list(SUBJECT_TYPES)
    types = LedgerSubject.model_json_schema()["properties"]["type"]["enum"]
    assert set(types) == set(SUBJECT_TYPES.values())
    assert "get_ledger" in {endpoint.operation_id for endpoint in ENDPOINTS}
