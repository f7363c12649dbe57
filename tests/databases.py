"""Databases on each engine: ones without tables, and migrated ones, which are copied, or emptied after each test."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from pathlib import Path

import pytest

from .postgres import execute

ENGINES = ("sqlite", "postgresql")
LONG_RUN = ("sqlite", pytest.param("postgresql", marks=pytest.mark.exhaustive))
"""The engines of a test that takes long: the second one is left to the session ``exhaustive``."""
SHARED = "shared"
TEMPLATE = "template_of_tests"
_numbers = itertools.count()


def empty_database(engine: str, request: pytest.FixtureRequest, folder: Path) -> str:
    """The URL of a new database without any table; one of SQLite lies in ``folder``."""
    name = f"empty_{next(_numbers)}"
    if engine == "sqlite":
        return f"sqlite:///{folder / name}.db"
    server: str = request.getfixturevalue("postgresql_server")
    asyncio.run(execute(server, f"CREATE DATABASE {name}"))
    return server.format(name=name)


def copy_migrated_database(engine: str, request: pytest.FixtureRequest, folder: Path) -> str:
    """The URL of a new migrated database without rows; one of SQLite lies in ``folder``."""
    name = f"migrated_{next(_numbers)}"
    if engine == "sqlite":
        shutil.copyfile(request.getfixturevalue("sqlite_template"), folder / f"{name}.db")
        return f"sqlite:///{folder / name}.db"
    server: str = request.getfixturevalue("postgresql_template")
    asyncio.run(execute(server, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}"))
    return server.format(name=name)


async def _migrate_database(url: str) -> None:
    from adsunify.store import open_store  # most tests need no store

    await (await open_store(url)).close()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated file, to be copied."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    asyncio.run(_migrate_database(f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def postgresql_template(postgresql_server: str) -> str:
    """The URL of the server, with ``{name}``, after it has got the migrated database that is copied."""
    asyncio.run(execute(postgresql_server, f"CREATE DATABASE {TEMPLATE}"))
    asyncio.run(_migrate_database(postgresql_server.format(name=TEMPLATE)))
    return postgresql_server


@pytest.fixture(scope="session")
def shared_database(postgresql_server: str) -> str:
    """The migrated database that tests empty one after the other; its server's URL with ``{name}``."""
    asyncio.run(execute(postgresql_server, f"CREATE DATABASE {SHARED}"))
    asyncio.run(_migrate_database(postgresql_server.format(name=SHARED)))
    return postgresql_server


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def migrated_database(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A migrated database with nothing in it; its URL."""
    if engine == "sqlite":
        path = tmp_path / "store.db"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
        return f"sqlite:///{path}"
    from adsunify.store.schema import metadata

    server: str = request.getfixturevalue("shared_database")
    emptied = ";".join(f"DELETE FROM {table.name}" for table in reversed(metadata.sorted_tables))
    asyncio.run(execute(server, emptied, SHARED))
    return server.format(name=SHARED)
