"""The store's world, here too, each test with a database of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.databases import empty_database
from tests.unit.store.conftest import hands, store, world

__all__ = ["hands", "store", "url", "world"]


@pytest.fixture
def url(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that opening the store migrates."""
    return empty_database(engine, request, tmp_path)
