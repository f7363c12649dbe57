"""Idempotency keys: one key, one request, the same operations for ever. SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import httpx
import pytest

from adsunify.contract import ENDPOINTS

from .served import NEVER, Caller, Served, brief, stock_entities
from .test_access import BODIES, make_address

pytestmark = pytest.mark.asyncio(loop_scope="module")
REPLAYED = "Idempotency-Replayed"


def make_request_body(server: Served, **changes: Any) -> dict[str, Any]:
    return {"accountId": server.accounts["meta"], "campaign": brief("meta", **{"name": "Garden chairs", **changes})}


async def send_create(caller: Caller, body: Any, key: str) -> httpx.Response:
    return await caller.send("POST", "/create", body, headers={"Idempotency-Key": key})


async def test_the_same_request_gives_the_same_operation(both: Served) -> None:
    body = make_request_body(both)
    first = await send_create(both.admin, body, "same")
    assert first.status_code == 201 and REPLAYED not in first.headers
    before = await both.rows()
    for again in (
        body,
        {"campaign": dict(reversed(body["campaign"].items())), "accountId": body["accountId"].upper()},
    ):
        replay = await send_create(both.admin, again, "same")
        assert (replay.status_code, replay.headers[REPLAYED]) == (201, "true")
        assert replay.json() == first.json()
    assert await both.rows() == before


async def test_without_a_key_nothing_is_reused(both: Served) -> None:
    body = make_request_body(both)
    first, second = [await both.admin.post("/create", body, 201) for _ in range(2)]
    assert first["id"] != second["id"]
    assert first["plan"]["digest"] == second["plan"]["digest"]


async def test_defaults_are_part_of_the_canonical_request(both: Served) -> None:
    """What is left out and what is spelled out as its default are one request."""
    creative = {"existingId": "120900"}
    short = make_request_body(both, creative=creative, platform=None)
    first = await send_create(both.admin, short, "defaults")
    assert first.status_code == 201
    spelled = await send_create(both.admin, make_request_body(both, creative=creative, platform={}), "defaults")
    assert (spelled.status_code, spelled.json()) == (201, first.json())


async def test_a_changed_request_is_a_conflict(both: Served) -> None:
    other_account = next(
        account["accountId"]
        for account in await both.admin.get("/accounts", network="meta")
        if account["currency"] == "EUR"
    )
    body = make_request_body(both)
    await send_create(both.admin, body, "changed")
    before = await both.rows()
    for changed in (
        make_request_body(both, name="Other chairs"),
        make_request_body(both, budget__amount="20.0"),
        make_request_body(both, schedule__endAt=None),
        {**body, "accountId": other_account},
    ):
        answer = await send_create(both.admin, changed, "changed")
        assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_conflict")
        assert answer.json()["outcome"] == "not_applied"
    bulk = {"accountId": body["accountId"], "kind": "campaign", "entityIds": ["1"], "status": "paused"}
    answer = await both.admin.send("POST", "/bulk-status", bulk, headers={"Idempotency-Key": "changed"})
    assert answer.status_code == 409
    assert await both.rows() == before
    assert (await send_create(both.admin, body, "changed")).headers[REPLAYED] == "true"


async def test_keys_belong_to_workspace_user_and_credential(both: Served) -> None:
    body = make_request_body(both)
    _, second_key = await both.key("admin")
    callers = (both.admin, both.caller(second_key), both.person("member"))
    ids = [(await send_create(caller, body, "whose")).json()["data"]["id"] for caller in callers]
    theirs = {"accountId": both.foreign["meta"], "campaign": body["campaign"]}
    ids.append((await send_create(both.person("stranger"), theirs, "whose")).json()["data"]["id"])
    assert len(set(ids)) == 4
    assert [(await send_create(caller, body, "whose")).json()["data"]["id"] for caller in callers] == ids[:3]


async def test_a_refused_request_binds_nothing(both: Served) -> None:
    before = await both.rows()
    refusals: tuple[tuple[Caller, Any, int], ...] = (
        (both.admin, make_request_body(both, name="x"), 422),
        (both.admin, make_request_body(both, budget__currency="EUR"), 422),
        (both.admin, make_request_body(both, creative__imageHash=None, creative__existingId="missing-1"), 422),
        (both.admin, {**make_request_body(both), "accountId": NEVER}, 404),
        (both.person("admin", "read"), make_request_body(both), 403),
    )
    for caller, body, status in refusals:
        assert (await send_create(caller, body, "free")).status_code == status
    assert await both.rows() == before
    answer = await send_create(both.admin, make_request_body(both), "free")
    assert answer.status_code == 201 and REPLAYED not in answer.headers


IDEMPOTENT_BY_ITSELF = {
    "post_operation_execute",
    "post_operations_execute",
    "post_operation_cancel",
    "post_operation_inspect",
    "post_validate_campaign",
    "post_account_validate",
    "post_launch_execute",
    "post_launch_cancel",
    "post_change_set_execute",
    "post_change_set_cancel",
}
"""docs/spec.md, "Idempotency": here a key is accepted and changes nothing."""


@pytest.mark.parametrize(
    "endpoint",
    [
        endpoint
        for endpoint in ENDPOINTS
        if not (endpoint.takes_idempotency_key or endpoint.needs_person)
        and endpoint.operation_id not in IDEMPOTENT_BY_ITSELF
    ],
    ids=lambda endpoint: endpoint.operation_id,
)
async def test_elsewhere_the_header_is_refused(both: Served, endpoint: Any) -> None:
    before = await both.rows()
    issues = await both.admin.read_issues(
        endpoint.method, make_address(endpoint), BODIES.get(endpoint.operation_id), headers={"Idempotency-Key": "k"}
    )
    assert ("Idempotency-Key", "not_supported") in issues
    assert await both.rows() == before


async def test_a_key_changes_nothing_where_the_request_is_idempotent_by_itself(both: Served) -> None:
    key = {"Idempotency-Key": "one for all"}
    body = make_request_body(both)
    for changed in (body, make_request_body(both)):  # the second brief is another one: the key is not bound
        answer = await both.admin.send("POST", "/validate-campaign", changed, headers=key)
        assert answer.status_code == 200 and REPLAYED not in answer.headers
    change = {"action": "delete", "kind": "campaign", "entityId": "1"}
    answer = await both.admin.send("POST", f"/accounts/{both.accounts['meta']}/validate", change, headers=key)
    assert answer.status_code == 404, answer.text  # there is no such campaign; the key was not the reason
    first, second, third = [(await both.admin.post("/create", make_request_body(both), 201))["id"] for _ in range(3)]
    for _ in range(2):
        answer = await both.admin.send("POST", f"/operations/{first}/execute", {"confirmed": True}, headers=key)
        assert (answer.status_code, answer.json()["data"]["status"]) == (200, "succeeded")
        assert REPLAYED not in answer.headers
    many = {"operationIds": [first, second], "confirmed": True}
    answer = await both.admin.send("POST", "/operations/execute", many, headers=key)
    assert [result["status"] for result in answer.json()["data"]["results"]] == ["succeeded", "succeeded"], answer.text
    answer = await both.admin.send("POST", f"/operations/{third}/cancel", {}, headers=key)
    assert (answer.status_code, answer.json()["data"]["status"]) == (200, "cancelled")
    for bad in ("", "k" * 201):
        issues = await both.admin.read_issues(
            "POST", f"/operations/{third}/cancel", {}, headers={"Idempotency-Key": bad}
        )
        assert ("Idempotency-Key", "length") in issues


async def test_how_long_a_key_is(both: Served) -> None:
    body = make_request_body(both)
    for key in ("k", "k" * 200, "ключ " + "é" * 195):
        assert (await send_create(both.admin, body, key)).status_code == 201
        assert (await send_create(both.admin, body, key)).headers[REPLAYED] == "true"
    for key in ("", "k" * 201):
        headers = {"Idempotency-Key": key}
        assert await both.admin.read_issues("POST", "/create", body, headers=headers) == {("Idempotency-Key", "length")}


async def test_keys_that_are_no_text(both: Served) -> None:
    token = (b"Authorization", f"Bearer {both.people['admin'].tokens['write']}".encode())
    broken = [token, (b"Idempotency-Key", b"\xff\xfe")]
    answer = await both.http.post("/api/v1/ads/create", json=make_request_body(both), headers=broken)
    both.schemas.check("POST", "/create", answer)
    assert [issue["path"] for issue in answer.json()["issues"]] == ["Idempotency-Key"]
    twice = [token, (b"Idempotency-Key", b"a"), (b"Idempotency-Key", b"b")]
    answer = await both.http.post("/api/v1/ads/create", json=make_request_body(both), headers=twice)
    both.schemas.check("POST", "/create", answer)
    assert [issue["code"] for issue in answer.json()["issues"]] == ["repeated"]


async def test_a_replay_reads_nothing_from_the_network(both: Served) -> None:
    """The key is looked up first: a network that is out of reach, or has changed its mind, does not matter."""
    body = make_request_body(both)
    first = await send_create(both.admin, body, "unread")
    request_count = len(both.networks.requests)
    await both.networks.fault("meta", "reset_before", times=5)
    replay = await send_create(both.admin, body, "unread")
    changed = await send_create(both.admin, make_request_body(both, name="Other chairs"), "unread")
    both.networks.state.faults.pending.clear()
    assert (replay.status_code, replay.json()) == (201, first.json())
    assert changed.status_code == 409
    assert len(both.networks.requests) == request_count


async def test_200_at_once_are_one_operation(both: Served) -> None:
    body = make_request_body(both)
    before = Counter(event.type for event in await both.events())
    rows = await both.rows()
    answers = await asyncio.gather(*(send_create(both.admin, body, "stampede") for _ in range(200)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["data"]["id"] for answer in answers}) == 1
    assert sum(REPLAYED not in answer.headers for answer in answers) == 1
    added = {name: count - rows[name] for name, count in (await both.rows()).items() if count != rows[name]}
    assert added == {"operations": 1, "idempotency_keys": 1, "events": 1, "ledger": 1}
    assert Counter(event.type for event in await both.events()) - before == {"operation.prepared": 1}


async def test_two_requests_race_for_a_key(both: Served) -> None:
    """One of them has it, all of the other conflict."""
    bodies = [make_request_body(both, name=f"Chairs {number % 2}") for number in range(40)]
    answers = await asyncio.gather(*(send_create(both.admin, body, "race") for body in bodies))
    won = next(number for number, answer in enumerate(answers) if answer.status_code == 201)
    for number, answer in enumerate(answers):
        assert answer.status_code == (201 if number % 2 == won % 2 else 409)
    assert len({answer.json()["data"]["id"] for answer in answers if answer.status_code == 201}) == 1


async def test_a_bulk_call_binds_the_whole_list(both: Served) -> None:
    ids = await stock_entities(both, "campaign", 3)
    body = {"accountId": both.accounts["meta"], "kind": "campaign", "entityIds": ids, "status": "paused"}

    async def ask(**changes: Any) -> httpx.Response:
        return await both.admin.send("POST", "/bulk-status", body | changes, headers={"Idempotency-Key": "list"})

    first = await ask()
    assert len(first.json()["data"]["operations"]) == 3
    replay = await ask()
    assert (replay.status_code, replay.headers[REPLAYED]) == (201, "true")
    assert replay.json() == first.json()
    for changes in ({"entityIds": ids[:2]}, {"entityIds": ids[::-1]}, {"status": "active"}):
        assert (await ask(**changes)).status_code == 409


async def test_a_key_outlives_what_becomes_of_its_operation(both: Served) -> None:
    """Executed, cancelled or expired: the same operation as it stands now."""
    bodies = {name: make_request_body(both, name=f"Chairs, {name}") for name in ("executed", "cancelled", "expired")}
    ids = {name: (await send_create(both.admin, body, name)).json()["data"]["id"] for name, body in bodies.items()}
    await both.admin.execute(ids["executed"])
    await both.admin.post(f"/operations/{ids['cancelled']}/cancel", {})
    both.hands.pass_(minutes=31)
    replays = {}
    for name, body in bodies.items():
        replay = await send_create(both.admin, body, name)
        assert (replay.status_code, replay.json()["data"]["id"]) == (201, ids[name])
        replays[name] = replay.json()["data"]
    assert {name: (record["status"], record["expired"]) for name, record in replays.items()} == {
        "executed": ("succeeded", False),
        "cancelled": ("cancelled", False),
        "expired": ("prepared", True),
    }
