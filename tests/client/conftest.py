"""A server with every network connected, and its database, which a client may also open itself."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from adsunify.networks import ADAPTERS
from tests.server.served import Served, connect, served


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    path = tmp_path_factory.mktemp("client") / "ads.db"
    async with served(f"sqlite:///{path}") as one:
        for network in ADAPTERS:
            await connect(one, network)
        yield one
