"""One server for all networks, whose clock the tests set. A network is connected when a test first asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from attrs import evolve

from tests.server.served import Served, connect, serve_api
from tests.system.conformance.serving import UNLIMITED

from .acting import Stage, set_clock

MakeStage = Callable[[str, str, str], Awaitable[Stage]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """A server in whose workspaces nothing is connected."""
    path: Path = tmp_path_factory.mktemp("guardrails") / "guardrails.db"
    async with serve_api(f"sqlite:///{path}", UNLIMITED) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="module")
async def make_stage(site: Served) -> AsyncIterator[MakeStage]:
    """Return the stage of a network, at an instant, in its first account of a currency; what it makes is removed."""
    stored = {}

    async def make(network: str, currency: str, clock: str) -> Stage:
        set_clock(site, clock)
        if network not in site.accounts:
            await connect(site, network)
        world = site.networks.state.worlds[network]
        stored[network] = dict(world._stored_entities)
        accounts = await site.admin.get("/accounts", network=network)
        account = next(row["accountId"] for row in accounts if row["currency"] == currency)
        return Stage(site, network, account)

    yield make
    for network, entities in stored.items():
        worlds = site.networks.state.worlds
        worlds[network] = evolve(worlds[network], stored_entities=entities)
