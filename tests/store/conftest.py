"""A migrated database for each test on each engine: a copied SQLite file, an emptied PostgreSQL database."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adsunify.store import Clock, Store, open_store
from adsunify.store.schema import metadata
from tests.postgres import execute

from .world import Hands, World, made

ENGINES = ("sqlite", "postgresql")
_numbers = itertools.count()


async def _migrated(url: str) -> None:
    await (await open_store(url)).close()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    asyncio.run(_migrated(f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def shared_database(postgresql_server: str) -> str:
    """The migrated database that the tests empty one after the other; its URL with ``{name}`` in its place."""
    asyncio.run(execute(postgresql_server, "CREATE DATABASE shared"))
    asyncio.run(_migrated(postgresql_server.format(name="shared")))
    return postgresql_server


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def empty_url(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of its own without any table."""
    if engine == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    url: str = request.getfixturevalue("postgresql_server")
    name = f"empty_{next(_numbers)}"
    asyncio.run(execute(url, f"CREATE DATABASE {name}"))
    return url.format(name=name)


@pytest.fixture
def url(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A migrated database."""
    if engine == "sqlite":
        path = tmp_path / "store.db"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
        return f"sqlite:///{path}"
    server: str = request.getfixturevalue("shared_database")
    emptied = ";".join(f"DELETE FROM {table.name}" for table in reversed(metadata.sorted_tables))
    asyncio.run(execute(server, emptied, "shared"))
    return server.format(name="shared")


@pytest.fixture
def hands() -> Hands:
    """The hands of the clock: a test sets them."""
    return Hands()


@pytest.fixture
async def store(url: str, hands: Hands) -> AsyncIterator[Store]:
    opened = await open_store(url, clock=Clock(lambda: hands.wall, lambda: hands.monotonic))
    yield opened
    await opened.close()


@pytest.fixture
async def world(store: Store, hands: Hands) -> World:
    """A workspace with people and one connected account."""
    return await made(store, hands)
