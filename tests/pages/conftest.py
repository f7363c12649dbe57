"""A served environment whose people have passwords."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.postgres import execute
from tests.server.served import Served, served

from .browsing import with_passwords

_numbers = itertools.count()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """A server in whose workspaces nothing is connected; its people sign in with :data:`browsing.PASSWORD`."""
    path: Path = tmp_path_factory.mktemp("pages") / "pages.db"
    async with served(f"sqlite:///{path}") as one:
        await with_passwords(one)
        yield one


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An empty database on each engine."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('pages') / 'pages.db'}"
    url: str = request.getfixturevalue("postgresql_server")
    name = f"pages_{next(_numbers)}"
    asyncio.run(execute(url, f"CREATE DATABASE {name}"))
    return url.format(name=name)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def both(database: str) -> AsyncIterator[Served]:
    """As :func:`site`, on each engine."""
    async with served(database) as one:
        await with_passwords(one)
        yield one
