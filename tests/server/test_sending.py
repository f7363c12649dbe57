"""What leaves for a network, when, and whose answer comes back."""

from __future__ import annotations

from typing import Any

import httpcore
import pytest

from .repeating import assert_each_receipt_is_its_own
from .served import Served, brief

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_late_copy_of_an_answer_becomes_nobody_elses_receipt(server: Served) -> None:
    """The short form; ``tests/system/crash/test_late_answers.py`` is the long one."""
    assert await assert_each_receipt_is_its_own(server, 2) == 26


@pytest.mark.parametrize(
    ("reviewed", "asleep", "why"),
    [(0, 60, "lease"), (0, 3_600, "lease"), (29 * 60 + 50, 15, "review time")],
    ids=["past the lease", "past both", "past the review time"],
)
async def test_a_write_does_not_leave_where_the_host_slept_while_connecting(
    server: Served, reviewed: int, asleep: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seconds between preparing and executing, and while the connection is made, which stands in the end."""
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    prepared = await server.admin.post("/create", body, 201)
    server.hands.pass_(seconds=reviewed)
    connect = httpcore.AnyIOBackend.connect_tcp

    async def connect_and_sleep(*args: Any, **more: Any) -> Any:
        stream = await connect(*args, **more)
        server.hands.pass_(seconds=asleep)
        return stream

    writes, execute = server.networks.writes(), f"/operations/{prepared['id']}/execute"
    with monkeypatch.context() as patch:
        patch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect_and_sleep)
        await server.admin.send("POST", execute, {"confirmed": True})
    record = await server.admin.get(f"/operations/{prepared['id']}")
    (step,) = record["receipt"]["steps"]
    assert server.networks.writes() == writes
    assert (record["status"], record["error"]["code"], step["state"]) == ("prepared", "not_sent", "throttled")
    assert why in step["error"]["message"]


async def test_a_read_that_x_fails_is_repeated_with_another_nonce(server: Served) -> None:
    """X answers a nonce that it has seen with 401, also where the call before failed."""
    await server.networks.fault("x", "status", value=503)
    before = len(server.networks.requests)
    rows = await server.admin.get(f"/accounts/{server.accounts['x']}/campaigns")
    requests = [request for request in server.networks.requests[before:] if request[1] == "ads-api.x.com"]
    assert rows is not None and len(requests) == 2 and requests[0] == requests[1]
    account = next(
        account for account in await server.admin.get("/accounts") if account["accountId"] == server.accounts["x"]
    )
    assert account["status"] == "active"
