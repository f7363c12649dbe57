"""One served environment for each module of tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from adsunify.networks import ADAPTERS

from .served import Served, connect, served


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def empty(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """A server in whose workspaces nothing is connected."""
    path: Path = tmp_path_factory.mktemp("served") / "served.db"
    async with served(f"sqlite:///{path}") as one:
        yield one


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(empty: Served) -> Served:
    """A server with every network connected in both workspaces."""
    for network in ADAPTERS:
        await connect(empty, network)
        await connect(empty, network, "stranger")
    return empty
