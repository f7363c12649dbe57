"""A world for each test, on each engine: a copied SQLite file, an emptied PostgreSQL database."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adsunify.store import open_store
from adsunify.store.schema import metadata
from tests.postgres import execute

from .receiving import Receiver, receiving
from .world import World, world

ENGINES = ("sqlite", "postgresql")
SHARED = "webhooks"


async def _migrated(url: str) -> None:
    await (await open_store(url)).close()


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file, to be copied."""
    path = tmp_path_factory.mktemp("webhooks") / "template.db"
    asyncio.run(_migrated(f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def shared(postgresql_server: str) -> str:
    """A migrated PostgreSQL database, which the tests empty one after the other; its URL with ``{name}``."""
    asyncio.run(execute(postgresql_server, f"CREATE DATABASE {SHARED}"))
    asyncio.run(_migrated(postgresql_server.format(name=SHARED)))
    return postgresql_server


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def database(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A migrated database with nothing in it."""
    if engine == "sqlite":
        path = tmp_path / "webhooks.db"
        shutil.copyfile(request.getfixturevalue("template"), path)
        return f"sqlite:///{path}"
    server: str = request.getfixturevalue("shared")
    emptied = ";".join(f"DELETE FROM {table.name}" for table in reversed(metadata.sorted_tables))
    asyncio.run(execute(server, emptied, SHARED))
    return server.format(name=SHARED)


@pytest.fixture
async def shop(database: str) -> AsyncIterator[World]:
    """A workspace with nothing in it."""
    async with world(database) as one:
        yield one


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A receiver that answers 204."""
    async with receiving() as one:
        yield one
