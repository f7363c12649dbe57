"""One served environment for each module of tests."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio

from tests.databases import ENGINES, copy_migrated_database

from .served import Served, brief, connect, serve_api, serve_connected


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def empty(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """A server in whose workspaces nothing is connected."""
    path: Path = tmp_path_factory.mktemp("served") / "served.db"
    shutil.copyfile(sqlite_template, path)
    async with serve_api(f"sqlite:///{path}") as server:
        yield server


@pytest.fixture(scope="session")
def connected_template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Served]:
    """The file of an environment with every network connected, and the environment, which is ended: to be copied."""
    path: Path = tmp_path_factory.mktemp("connected") / "served.db"
    return path, asyncio.run(serve_connected(f"sqlite:///{path}"))


@pytest.fixture(scope="module")
def settings() -> Mapping[str, str]:
    """What the environment of :func:`server` says besides."""
    return {}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(
    connected_template: tuple[Path, Served], settings: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Served]:
    """A server with every network connected, and meta in the other workspace as well."""
    path: Path = tmp_path_factory.mktemp("served") / "served.db"
    shutil.copyfile(connected_template[0], path)
    async with serve_api(f"sqlite:///{path}", settings, connected_template[1]) as server:
        yield server


@pytest.fixture(scope="module", params=ENGINES)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database without rows on each engine."""
    return copy_migrated_database(request.param, request, tmp_path_factory.mktemp("served"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def both(database: str) -> AsyncIterator[Served]:
    """A server on each engine, with meta connected in both workspaces."""
    async with serve_api(database) as server:
        for person in ("admin", "stranger"):
            await connect(server, "meta", person)
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def live(server: Served) -> dict[str, str]:
    """An account on each network, on which a campaign has been active for some days."""
    for network, account in server.accounts.items():
        created = await server.admin.post("/create", {"accountId": account, "campaign": brief(network)}, 201)
        await server.admin.execute(created["id"])
        body = {"accountId": account, "sourceOperationId": created["id"]}
        activation = await server.admin.post("/activate", body, 201)
        assert (await server.admin.execute(activation["id"]))["status"] == "succeeded"
    server.hands.pass_(days=8)
    return server.accounts
