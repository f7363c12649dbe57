"""A world for each test, on each engine: SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from .receiving import Receiver, run_receiver
from .world import World, open_world


@pytest.fixture
def database(migrated_database: str) -> str:
    """A migrated database with nothing in it."""
    return migrated_database


@pytest.fixture
async def shop(database: str) -> AsyncIterator[World]:
    """A workspace with nothing in it."""
    async with open_world(database) as world:
        yield world


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A receiver that answers 204."""
    async with run_receiver() as running_receiver:
        yield running_receiver
