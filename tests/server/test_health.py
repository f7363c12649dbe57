"""Whether the server lives, and whether it should be asked anything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, text

from adsunify.errors import StoreError
from adsunify.problem_details import PROBLEM_CODES
from adsunify.service.factory import open_service
from adsunify.store.migrate import HEAD_VERSION
from adsunify_server import health

from .served import RING, Served

pytestmark = pytest.mark.asyncio(loop_scope="module")


def check_not_ready(answer: httpx.Response, code: str = "not_ready") -> dict[str, Any]:
    """The problem of a 503, held against what is documented."""
    assert answer.status_code == 503
    assert answer.headers["Content-Type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert (problem["code"], PROBLEM_CODES[problem["code"]][0]) == (code, 503)
    assert problem["requestId"] == answer.headers["X-Request-Id"]
    return problem


async def test_it_lives_and_is_ready(both: Served) -> None:
    for path, status in (("/healthz", "ok"), ("/readyz", "ready")):
        answer = await both.http.get(path)
        assert (answer.status_code, answer.json()) == (200, {"status": status})
        assert answer.headers["Cache-Control"] == "no-store"


NEXT_VERSION = f"{int(HEAD_VERSION) + 1:04d}"


@pytest.mark.parametrize(("number", "oldest"), [("0001", HEAD_VERSION), (NEXT_VERSION, NEXT_VERSION)])
async def test_a_database_of_another_version(both: Served, number: str, oldest: str) -> None:
    async with set_schema_version(both, number, oldest):
        check_not_ready(await both.http.get("/readyz"))
        assert (await both.http.get("/healthz")).status_code == 200
    assert (await both.http.get("/readyz")).status_code == 200


async def test_a_newer_version_of_the_database_that_this_one_can_use(both: Served) -> None:
    async with set_schema_version(both, NEXT_VERSION, HEAD_VERSION):
        assert (await both.http.get("/readyz")).status_code == 200


@asynccontextmanager
async def set_schema_version(served: Served, number: str, oldest: str) -> AsyncIterator[None]:
    """The database says that it is of this version, and which versions may use it."""

    def record(connection: Connection, number: str, oldest: str) -> None:
        statement = text("UPDATE alembic_version SET version_num = :number, oldest_version = :oldest")
        connection.execute(statement, {"number": number, "oldest": oldest})

    await served.service.store.write(record, number, oldest)
    try:
        yield
    finally:
        await served.service.store.write(record, HEAD_VERSION, HEAD_VERSION)


async def test_a_database_that_is_away(empty: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def raise_store_error(*_: object, **__: object) -> None:
        raise StoreError("away")

    monkeypatch.setattr(type(empty.service.store), "read", raise_store_error)
    check_not_ready(await empty.http.get("/readyz"), "store_unavailable")
    assert (await empty.http.get("/healthz")).status_code == 200


async def test_a_database_that_does_not_answer(empty: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def wait_for_timeout(*_: object, **__: object) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(health, "DATABASE_TIMEOUT_SECONDS", 0.01)
    monkeypatch.setattr(type(empty.service.store), "read", wait_for_timeout)
    check_not_ready(await empty.http.get("/readyz"))


async def test_while_it_shuts_down(empty: Served) -> None:
    empty.service.is_stopping = True
    try:
        check_not_ready(await empty.http.get("/readyz"))
        assert (await empty.http.get("/healthz")).status_code == 200
    finally:
        empty.service.is_stopping = False


async def test_a_service_is_closed_where_the_database_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a key was used last is no reason to keep connections open."""
    service = (await open_service(f"sqlite:///{tmp_path / 'a.db'}", RING)).service
    service.key_usage.record_use("key", 0)

    async def raise_store_error(*_: object, **__: object) -> None:
        raise StoreError("away")

    monkeypatch.setattr(service.store, "write", raise_store_error)
    await service.close()
    with pytest.raises(StoreError, match="closed"):
        await service.store.read(lambda connection: connection.execute(text("SELECT 1")))
