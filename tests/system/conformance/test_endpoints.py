"""docs/spec.md, "Endpoints", row by row, against the running server; and no route that they do not know."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from adsunify_server.app import make_application
from tests.server.served import NEVER, PREFIX, brief, connect, make_credentials
from tests.server.test_contract import FROZEN

from .asking import EVERY_ID, Inventory, address, example, make_query
from .forms import Fields
from .spec import ACTIONS, CREDENTIALS, DEFAULT_EVENTS, EDIT, MUTATION, ROWS, Row

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("no_webhooks_left")]


ASKED = tuple(row for row in ROWS if not row.person)
"""What a key may call."""


def each(rows: Iterator[Row] | tuple[Row, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", rows, ids=lambda row: row.name)


# -- the table as a whole -----------------------------------------------------------------------------------------


async def test_no_route_that_the_table_does_not_know(own: Inventory) -> None:
    names = {row.name for row in ROWS}
    assert len(names) == len(ROWS) == 92
    assert names == set(FROZEN.values())
    router = make_application(own.server.service, delivers=False).router
    routes = {(route.method, route.resource.canonical) for route in router.routes() if route.resource is not None}
    under = {(method, path.removeprefix(PREFIX)) for method, path in routes if path.startswith(PREFIX)}
    heads = {name.replace("GET", "HEAD", 1) for name in names if name.startswith("GET")}  # wherever GET is answered
    assert {f"{method} {path}" for method, path in under if method != "*"} == names | heads
    assert {path for method, path in under if method == "*"} <= {row.path for row in ROWS}  # these refuse: see 405
    assert {path for _, path in routes if path.startswith("/api/") and not path.startswith(PREFIX)} == {"/api/mcp"}
    documented = {
        f"{method.upper()} {path.removeprefix(PREFIX)}"
        for path, methods in own.server.schemas.document["paths"].items()
        for method in methods
    }
    assert documented == names


async def test_every_id_can_be_had() -> None:
    assert {name for row in ROWS for name in row.parameters} <= EVERY_ID


# -- what a good call is answered ---------------------------------------------------------------------------------

GOOD: dict[str, dict[str, Any]] = {
    "POST /connections/credentials": make_credentials("chatgpt"),
    "POST /keys": {"name": "reporting", "canWrite": True, "expiresAt": "2030-01-15T09:00:00+05:30"},
    "GET /accounts/{accountId}/insights": {"startDate": "2026-01-01", "endDate": "2026-01-02"},
    "GET /insights": {"startDate": "2026-01-01", "endDate": "2026-01-02"},
    "POST /webhooks": {"url": "https://hooks.example.com/ads"},
    "PATCH /webhooks/{webhookId}": {"active": False},
}
LISTS = {
    "GET /keys",
    "GET /connected-agents",
    "GET /connections",
    "GET /networks",
    "GET /accounts",
    "GET /workflows",
    "GET /accounts/{accountId}/entities",
    "GET /operations",
    "GET /guardrails",
    "GET /guardrails/freezes",
    "GET /alerts",
    "GET /webhooks",
    "GET /webhooks/{webhookId}/deliveries",
    "GET /webhooks/{webhookId}/deliveries/{deliveryId}/attempts",
    *(row.name for row in ROWS if row.pages),
}


@each(ASKED)
async def test_success(own: Inventory, row: Row) -> None:
    """The row's status and the envelope; that the data is what the document says is checked with every answer."""
    answer = await send_good(own, row, await own.ids(row))
    assert answer.status_code == row.status, answer.text
    body = answer.json()
    assert set(body) == ({"data", "page"} if row.pages else {"data"})
    assert isinstance(body["data"], list if row.name in LISTS else dict)
    if row.status == 201 and row.idempotent:
        is_launch = row.path.startswith("/launches") or row.path == "/apply"
        for operation in [] if is_launch else body["data"].get("operations", [body["data"]]):
            assert operation["status"] == "prepared"
            assert operation["reviewUrl"] == f"{own.server.base_url}/review/{operation['id']}"


async def send_good(own: Inventory, row: Row, ids: Mapping[str, str]) -> httpx.Response:
    """Send the row's example with these ids."""
    body = GOOD.get(row.name, example(row))
    if body is not None:
        body = dict(body) | {name: value for name, value in ids.items() if name in body}
        body |= {"campaign": brief("meta")} if "campaign" in body else {}
        body |= {"accounts": [{"accountId": ids["accountId"]}]} if "accounts" in body else {}
        body |= {"operationIds": [ids["operationId"]]} if "operationIds" in body else {}
        if row.path == "/apply":
            campaign = {"kind": "campaign", "id": (await own.ids(ROWS_BY_NAME[ENTITY]))["entityId"], "name": "Applied"}
            account = own.server.accounts["meta"]
            body["document"] = {"entities": [{"accountId": account, **campaign}]}
        if "entityIds" in body:
            body["entityIds"] = [await own.ids(ROWS_BY_NAME[ENTITY]) and own.created["entity campaign"]]
        if row.name == "POST /bulk-edit":  # where meta keeps the budget
            body |= {"kind": "adGroup", "entityIds": [await parent(own, ROWS_BY_NAME["POST " + ADS])]}
        if row.method == "POST" and row.path.endswith(("/ad-groups", "/ads")):
            body["parentId"] = await parent(own, row)
    query = GOOD.get(row.name, make_query(row)) if row.method == "GET" else None
    return await own.caller.send(row.method, address(row, ids), body if row.method != "GET" else None, query=query)


ADS = "/accounts/{accountId}/ads"
ENTITY = "GET /accounts/{accountId}/campaigns/{entityId}"
ROWS_BY_NAME = {row.name: row for row in ROWS}


async def parent(own: Inventory, row: Row) -> str:
    above = {"/ad-groups": ENTITY, "/ads": ENTITY.replace("campaigns", "ad-groups")}
    row_above = ROWS_BY_NAME[above["/ads" if row.path.endswith("/ads") else "/ad-groups"]]
    return (await own.ids(row_above))["entityId"]


# -- what is accepted and refused ---------------------------------------------------------------------------------

LEFT_OUT: Any = object()


async def collect_issues(
    own: Inventory, row: Row, body: Any, query: Any = None, **headers: str
) -> tuple[int, set[str]]:
    """Status, and the paths of the issues; the ids in the path are ids of nothing."""
    content = None if body is LEFT_OUT else json.dumps(body, default=float).encode()
    answer = await own.caller.send(
        row.method,
        address(row, {}),
        content=content,
        query=make_query(row) if query is None else query,
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )
    return answer.status_code, {issue["path"] for issue in answer.json().get("issues", ())}


def sample(row: Row) -> Any:
    return LEFT_OUT if row.body is None else example(row)


BODIES = [
    *(
        (row.name, row, row.body)
        for row in ASKED
        if row.body is not None and row.body is not CREDENTIALS["chatgpt, apiKey"]
    ),
    *(
        (f"credentials of {name}", ROWS_BY_NAME["POST /connections/credentials"], body)
        for name, body in CREDENTIALS.items()
    ),
]
bodies = pytest.mark.parametrize(("row", "body"), [case[1:] for case in BODIES], ids=[case[0] for case in BODIES])


@bodies
async def test_the_last_good_values_of_a_body(own: Inventory, row: Row, body: Fields) -> None:
    for value in body.form().good:
        status, paths = await collect_issues(own, row, value)
        # 400: a network refuses a credential; a private key has a form of its own; an empty document changes nothing,
        # and another test has left a change set of a document open
        accepted = (row.status, 400, 404, 409) if row.path == "/apply" else (row.status, 400, 404)
        assert status in accepted or paths in ({"privateKey"}, {"document"}), (value, status, paths)


@bodies
async def test_the_first_bad_values_of_a_body(own: Inventory, row: Row, body: Fields) -> None:
    await own.server.wait_for_background_tasks()  # change sets of earlier tests are prepared in the background
    before = await own.server.rows()
    for value, path in body.form().bad:
        status, paths = await collect_issues(own, row, value)
        assert status == 422, (value, status)
        assert path.replace("/", ".").removeprefix(".") in paths, (value, path, paths)
    assert await own.server.rows() == before


@each(tuple(row for row in ASKED if row.method == "GET"))
async def test_queries(own: Inventory, row: Row) -> None:
    good = {} if row.query is None else dict(row.query.example)
    assert await collect_issues(own, row, LEFT_OUT, good | {"unknown": "1"}) == (422, {"unknown"})
    for name, member in (row.query.members if row.query is not None else {}).items():
        for value in member.form.good:
            status, _ = await collect_issues(own, row, LEFT_OUT, good | {name: value})
            assert status in (row.status, 404), (name, value)
        for value, rest in member.form.bad:
            assert await collect_issues(own, row, LEFT_OUT, good | {name: value}) == (422, {name + rest}), value
        if member.required:
            missing = {key: value for key, value in good.items() if key != name}
            assert await collect_issues(own, row, LEFT_OUT, missing) == (422, {name})


@each(tuple(row for row in ASKED if row.method != "GET"))
async def test_a_write_takes_no_query(own: Inventory, row: Row) -> None:
    status, paths = await collect_issues(own, row, sample(row), {"unknown": "1"})
    assert status == 422 and "unknown" in paths


@each(tuple(row for row in ASKED if row.ids))
async def test_ids_in_the_path_are_uuids(own: Inventory, row: Row) -> None:
    for name in row.ids:
        for id_ in ("x", NEVER[:-1], NEVER + "0", NEVER.replace("-", ""), f"%7B{NEVER}%7D", "%20"):
            answer = await own.caller.send(row.method, address(row, {name: id_}), example(row), query=make_query(row))
            assert answer.status_code == 422, (name, id_)
            assert {issue["path"] for issue in answer.json()["issues"]} == {name}


@each(ASKED)
async def test_where_an_idempotency_key_is_accepted(own: Inventory, row: Row) -> None:
    """1 to 200 characters where the contract says so; elsewhere refused, never ignored."""
    good, bad = ("k", "k" * 200, "clé 🗝"), ("", "k" * 201)
    for key in (*good, *bad):
        status, paths = await collect_issues(own, row, sample(row), Idempotency_Key=key)
        if (row.idempotent or row.ignores_key) and key in good:
            assert status != 422 or "Idempotency-Key" not in paths, key
        else:
            assert status == 422 and "Idempotency-Key" in paths, (key, status)


@pytest.mark.parametrize("action", ACTIONS)
async def test_members_of_a_mutation(own: Inventory, action: str) -> None:
    """docs/spec.md, "Mutation": each action takes its members, and no others."""
    row = ROWS_BY_NAME["POST /accounts/{accountId}/validate"]
    required, optional = ACTIONS[action]
    base = {"action": action, "kind": "campaign"}
    assert row.body is MUTATION
    for members in (required, required | optional):
        assert await collect_issues(own, row, base | members) == (404, set())
    for name in required:
        without = {key: value for key, value in required.items() if key != name}
        assert await collect_issues(own, row, base | without) == (422, {name})
    every = {name: value for mine, more in ACTIONS.values() for name, value in {**mine, **more}.items()}
    for name in every.keys() - required.keys() - optional.keys():
        assert await collect_issues(own, row, base | required | {name: every[name]}) == (422, {name})


# -- defaults -----------------------------------------------------------------------------------------------------


async def test_a_key_does_not_write_unless_told(own: Inventory) -> None:
    assert (await own.caller.post("/keys", {"name": "reading"}, 201))["canWrite"] is False


async def test_a_webhook_hears_of_operations_unless_told(own: Inventory) -> None:
    webhook = await own.caller.post("/webhooks", {"url": "https://hooks.example.com/ads"}, 201)
    assert (webhook["events"], webhook["active"], webhook["accountId"]) == (DEFAULT_EVENTS, True, None)


async def test_a_default_is_the_same_as_its_value(own: Inventory) -> None:
    """What is left out and what is written out are one canonical request: the same idempotency key, no conflict."""
    server = own.server
    google, snapchat = await connect(server, "google"), await connect(server, "snapchat")
    words = brief("google", targeting__keywords=[{"text": "folding garden chair"}])
    exact = words | {
        "targeting": words["targeting"] | {"keywords": [{"text": "folding garden chair", "match": "exact"}]}
    }
    plain = brief("snapchat")
    adset = (await own.ids(ROWS_BY_NAME["GET /accounts/{accountId}/ad-groups/{entityId}"]))["entityId"]
    aims = {"targeting": {"ageMin": 21, "ageMax": 50}}
    for number, (path, short, long) in enumerate(
        (
            ("/create", {"accountId": google, "campaign": words}, {"accountId": google, "campaign": exact}),
            ("/create", {"accountId": snapchat, "campaign": plain}, {"accountId": snapchat, "campaign": plain | EMPTY}),
            (f"/accounts/{own.account}/ad-groups/{adset}/edit", aims, aims | {"fields": {}}),
        )
    ):
        key = {"Idempotency-Key": f"default {number}"}
        first = await own.caller.send("POST", path, short, headers=key)
        again = await own.caller.send("POST", path, long, headers=key)
        assert (first.status_code, again.status_code) == (201, 201), (first.text, again.text)
        assert again.headers["Idempotency-Replayed"] == "true"
        assert again.json()["data"]["id"] == first.json()["data"]["id"]


EMPTY: dict[str, Any] = {"platform": {}}


# -- the document says the same -----------------------------------------------------------------------------------


def schema(own: Inventory, row: Row) -> tuple[str, dict[str, Any]]:
    """The pointer to the schema of the row's body, and its request body in the document."""
    located = own.server.schemas.operation(row.method, PREFIX + address(row, {}))
    assert located is not None
    pointer, operation = located
    return f"{pointer}/requestBody/content/application~1json/schema", operation.get("requestBody", {})


@bodies
async def test_the_document_accepts_and_refuses_the_same_bodies(own: Inventory, row: Row, body: Fields) -> None:
    pointer, described = schema(own, row)
    validator = own.server.schemas.validator(pointer)
    for value in body.form().good:
        assert validator.is_valid(value) or value == {}, value
    for value, path in body.form().bad:
        assert not validator.is_valid(value) or beyond_schemas(value) or body is MUTATION, (value, path)
    may_be_left_out = not any(member.required for member in body.members.values()) and body is not EDIT
    assert described["required"] is not may_be_left_out


def beyond_schemas(value: Any) -> bool:
    """Whether what is wrong with it is nothing that a schema says: U+0000, no day of the calendar, no URI, zero."""
    if isinstance(value, dict):
        return any(map(beyond_schemas, value.values())) or any(map(beyond_schemas, value))
    return any(map(beyond_schemas, value)) if isinstance(value, list) else value in BEYOND


BEYOND = ("a\0b", "0", "0.00", "2030-02-30T09:00:00Z", "2031-02-29T00:00:00Z", "hooks", "")


@bodies
async def test_the_document_tells_the_defaults(own: Inventory, row: Row, body: Fields) -> None:
    pointer, _ = schema(own, row)
    validator = own.server.schemas.validator(pointer)
    resolved = validator._resolver.lookup(validator.schema["$ref"])
    top = resolved.contents
    while "$ref" in top:
        resolved = resolved.resolver.lookup(top["$ref"])
        top = resolved.contents
    for name, member in body.members.items():
        if member.default is not None:
            for variant in top.get("oneOf", (top,)):
                described = variant["properties"].get(name, {"default": member.default})
                assert described.get("default") == member.default, name


@each(tuple(row for row in ASKED if row.query is not None))
async def test_the_document_tells_the_queries(own: Inventory, row: Row) -> None:
    located = own.server.schemas.operation(row.method, PREFIX + address(row, {}))
    assert located is not None and row.query is not None
    parameters = {parameter["name"]: parameter for parameter in located[1]["parameters"] if parameter["in"] == "query"}
    assert set(parameters) == set(row.query.members)
    for name, member in row.query.members.items():
        assert parameters[name]["required"] is member.required
        default = parameters[name]["schema"].get("default")
        assert (None if default is None else str(default)) == member.default
