"""Lists of operations: the latest 50, and pages with filters."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest

from .served import Served, brief

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def read_pages(server: Served, **query: Any) -> list[list[str]]:
    """The ids of each page, until no cursor follows."""
    pages: list[list[str]] = []
    while True:
        answer = await server.admin.send("GET", "/operations", query=query)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        pages.append([row["id"] for row in page["data"]])
        query["cursor"] = page["page"]["nextCursor"]
        if query["cursor"] is None:
            return pages


async def test_without_a_query_the_latest_50_are_listed(server: Served) -> None:
    """The envelope has no page, and each operation is as on a page."""
    account = server.accounts["meta"]
    body = {"accountId": account, "campaign": brief("meta")}
    operation_ids = [(await server.admin.post("/create", body, 201))["id"] for _ in range(52)]
    newest_first = operation_ids[::-1]
    plain, paged = [
        (await server.admin.send("GET", "/operations", query=query)).json() for query in (None, {"limit": "50"})
    ]
    assert set(plain) == {"data"} and set(paged) == {"data", "page"}
    assert plain["data"] == paged["data"] and [row["id"] for row in plain["data"]] == newest_first[:50]
    pages = await read_pages(server, limit="20")
    assert [len(page) for page in pages[:2]] == [20, 20] and [*chain(*pages)][:52] == newest_first


async def test_filters(server: Served) -> None:
    meta, x = server.accounts["meta"], server.accounts["x"]
    first = await server.admin.post("/create", {"accountId": x, "campaign": brief("x")}, 201)
    server.hands.pass_(seconds=5)
    second = await server.person("member").post("/create", {"accountId": meta, "campaign": brief("meta")}, 201)
    await server.admin.post(f"/operations/{first['id']}/cancel", {})
    ids = {first["id"], second["id"]}

    async def find(**query: str) -> set[str]:
        return ids & {*chain(*await read_pages(server, **query))}

    assert await find(status="cancelled") == await find(network="x") == await find(accountId=x) == {first["id"]}
    assert await find(status="prepared") == await find(network="meta") == {second["id"]}
    assert await find(action="create") == ids and await find(action="edit") == set()
    assert await find(createdBy=second["createdBy"]["userId"]) == {second["id"]}
    assert await find(createdBy=second["createdBy"]["credential"]) == {second["id"]}
    assert await find(since=second["createdAt"]) == {second["id"]}
    assert await find(until=second["createdAt"], since=first["createdAt"]) == {first["id"]}
    assert await find(status="cancelled", network="meta", createdBy="nobody") == set()


async def test_what_a_query_must_be(server: Served) -> None:
    cursor = (await server.admin.send("GET", "/operations", query={"limit": "1"})).json()["page"]["nextCursor"]
    instants = {"since": "2030-01-02T00:00:00Z", "until": "2030-01-02T00:00:00Z"}
    for query, issue in (
        ({"status": "expired"}, ("status", "not_a_choice")),
        ({"since": "yesterday"}, ("since", "malformed")),
        ({"since": "2030-02-30T00:00:00Z"}, ("since", "no_such_date")),
        (instants, ("until", "order")),
        ({"cursor": cursor, "status": "prepared"}, ("cursor", "malformed")),
        ({"cursor": "x"}, ("cursor", "malformed")),
        ({"limit": "101"}, ("limit", "out_of_range")),
        ({"colour": "red"}, ("colour", "unknown_property")),
    ):
        issues = await server.admin.read_issues("GET", "/operations", query=query)
        assert issues == {issue}, query
    assert (await server.person("stranger").read_issues("GET", "/operations", query={"cursor": cursor})) == {
        ("cursor", "malformed")
    }
