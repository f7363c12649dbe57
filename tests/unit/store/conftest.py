"""A migrated database for each test on each engine: a copied SQLite file, an emptied PostgreSQL database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adsunify.store import Clock, Store, open_store
from tests.databases import empty_database

from .world import Hands, World, make_world


@pytest.fixture
def empty_url(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of its own without any table."""
    return empty_database(engine, request, tmp_path)


@pytest.fixture
def url(migrated_database: str) -> str:
    """A migrated database."""
    return migrated_database


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
    return await make_world(store, hands)
