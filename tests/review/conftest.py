"""The store's world, here too, each test with a database of its own."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest

from tests.postgres import execute
from tests.store.conftest import engine, hands, store, world

__all__ = ["engine", "hands", "store", "url", "world"]

_numbers = itertools.count()


@pytest.fixture
def url(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that opening the store migrates."""
    if engine == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    server: str = request.getfixturevalue("postgresql_server")
    name = f"review_{next(_numbers)}"
    asyncio.run(execute(server, f"CREATE DATABASE {name}"))
    return server.format(name=name)
