"""Served environments as those of the server's tests, without rate limits: each test here asks hundreds of times."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.server.conftest import database
from tests.server.served import Served, serve_api

from .asking import Inventory, make_inventory
from .serving import UNLIMITED

__all__ = ["database"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def own(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Inventory]:
    """What the admin of ``shop`` has, on SQLite."""
    path: Path = tmp_path_factory.mktemp("served") / "served.db"
    async with serve_api(f"sqlite:///{path}", UNLIMITED) as server:
        yield await make_inventory(server)


@pytest_asyncio.fixture(loop_scope="module")
async def no_webhooks_left(own: Inventory) -> AsyncIterator[None]:
    """No subscription outlives a test: nothing is ever sent to the addresses they name."""
    yield
    for webhook in await own.caller.get("/webhooks"):
        await own.caller.delete(f"/webhooks/{webhook['webhookId']}")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def both(database: str) -> AsyncIterator[Served]:
    """A server on each engine."""
    async with serve_api(database, UNLIMITED) as server:
        yield server
