"""A served environment whose people have passwords."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.server.conftest import database
from tests.server.served import Served, serve_api

from .browsing import set_passwords

__all__ = ["both", "database", "site"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """A server in whose workspaces nothing is connected; its people sign in with :data:`browsing.PASSWORD`."""
    path: Path = tmp_path_factory.mktemp("pages") / "pages.db"
    shutil.copyfile(sqlite_template, path)
    async with serve_api(f"sqlite:///{path}") as server:
        await set_passwords(server)
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def both(database: str) -> AsyncIterator[Served]:
    """As :func:`site`, on each engine."""
    async with serve_api(database) as server:
        await set_passwords(server)
        yield server
