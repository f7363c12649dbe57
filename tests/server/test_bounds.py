"""What a server remembers is bounded by its size, and what takes long leaves the event loop."""

from __future__ import annotations

import asyncio
import gc
import json
from typing import Any

import pytest

from adsunify.service import dispatch, serializers

from .served import NEVER, Served, brief

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_plans_are_remembered_up_to_a_number_of_bytes(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large ones are not kept at all; the one that was read longest ago goes first."""
    views = serializers.PlanViewCache(100_000)
    monkeypatch.setattr(serializers, "PLAN_VIEWS", views)
    campaign = brief("meta")
    native = {"geo_locations": {"countries": ["US"]}, "flexible_spec": ["x" * 50] * 4_000}
    large = {**campaign, "targeting": {"native": native}}
    body = {"accountId": server.accounts["meta"], "campaign": large}
    operation = await server.admin.post("/create", body, 201)
    for _ in range(2):
        whole = await server.admin.get(f"/operations/{operation['id']}")
        assert len(json.dumps(whole)) > 200_000
    assert views.cached_bytes == 0
    sizes = []
    for number in range(40):
        body = {"accountId": server.accounts["meta"], "campaign": {**campaign, "name": f"Remembered {number}"}}
        operation = await server.admin.post("/create", body, 201)
        again = [await server.admin.get(f"/operations/{operation['id']}") for _ in range(2)]
        assert again[0] == again[1] and again[0]["plan"] == operation["plan"]
        sizes.append(views.cached_bytes)
    assert 0 < max(sizes) <= 100_000
    assert sizes[0] * len(sizes) > 100_000  # there were more


async def test_a_large_body_is_read_beside_other_requests(empty: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server goes on answering while a body is read, however long that takes."""
    loop, begun, read_call = asyncio.get_running_loop(), asyncio.Event(), dispatch.parse_request
    answered: asyncio.Future[None] = loop.create_future()

    def slow(*arguments: Any) -> Any:
        loop.call_soon_threadsafe(begun.set)
        asyncio.run_coroutine_threadsafe(asyncio.wait_for(asyncio.shield(answered), 30), loop).result()
        return read_call(*arguments)

    monkeypatch.setattr(dispatch, "parse_request", slow)
    body = {"payload": {"a": [1] * 10_000}}
    reading = asyncio.create_task(empty.admin.send("POST", f"/accounts/{NEVER}/campaigns", body))
    await begun.wait()
    for path in ("/healthz", "/openapi.json", "/readyz"):
        assert (await empty.http.get(path)).status_code == 200
    answered.set_result(None)
    assert (await reading).status_code == 404


async def test_no_lock_is_kept_for_what_nobody_works_on(server: Served) -> None:
    """One for each connection and workspace of the past would stay for ever."""
    operation = await server.admin.post(
        "/create", {"accountId": server.accounts["snapchat"], "campaign": brief("snapchat")}, 201
    )
    await server.admin.execute(operation["id"])
    gc.collect()
    assert dict(server.service.execution_slots) == {} and dict(server.service.refresh_locks) == {}
