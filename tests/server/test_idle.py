"""What a server that nobody asked anything has not imported: it would cost every process memory and a slower start."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from adsunify.store import open_store

IDLE = """
import asyncio, sys
from adsunify.cli.serve import running_server

async def idle():
    async with running_server(sys.argv[1], "127.0.0.1", 0):
        print(*sys.modules)

asyncio.run(idle())
"""
DEAR = (
    "adsunify.networks.apple",
    "adsunify.networks.meta",
    "adsunify.sandbox",
    "alembic",
    "asyncpg",
    "cryptography",
    "jinja2",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.ext.asyncio",
)


@pytest.fixture(scope="module")
def imported_modules(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """The modules of a server on a migrated SQLite database."""
    database = f"sqlite:///{tmp_path_factory.mktemp('idle') / 'idle.db'}"

    async def migrate() -> None:
        await (await open_store(database)).close()

    asyncio.run(migrate())
    command = [sys.executable, "-c", IDLE, database]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    return frozenset(done.stdout.split())


@pytest.mark.parametrize("module", DEAR)
def test_an_idle_server_has_not_imported(imported_modules: frozenset[str], module: str) -> None:
    assert "adsunify_server.app" in imported_modules
    assert module not in imported_modules
