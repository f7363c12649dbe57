"""One served environment for each module of tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from adsunify.networks import ADAPTER_PACKAGES
from tests.databases import ENGINES, empty_database

from .served import Served, connect, served


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def empty(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """A server in whose workspaces nothing is connected."""
    path: Path = tmp_path_factory.mktemp("served") / "served.db"
    async with served(f"sqlite:///{path}") as one:
        yield one


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(empty: Served) -> Served:
    """A server with every network connected, and meta in the other workspace as well."""
    for network in ADAPTER_PACKAGES:
        await connect(empty, network)
    await connect(empty, "meta", "stranger")
    return empty


@pytest.fixture(scope="module", params=ENGINES)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An empty database on each engine."""
    return empty_database(request.param, request, tmp_path_factory.mktemp("served"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def both(database: str) -> AsyncIterator[Served]:
    """A server on each engine, with meta connected in both workspaces."""
    async with served(database) as one:
        for person in ("admin", "stranger"):
            await connect(one, "meta", person)
        yield one
