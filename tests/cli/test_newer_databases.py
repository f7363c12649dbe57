"""Servers of this version on a database that a newer version has upgraded: before they start, and while they run."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from adsunify.store import open_store
from tests.unit.store.newer import DROP_COLUMN, NEXT_VERSION, newer_version

from .running import first_line, process, run


async def _upgrade(database: str) -> None:
    await (await open_store(database, run_contracting=True)).close()


def _get(base_url: str, path: str, key: str) -> int:
    return httpx.get(f"{base_url}{path}", headers={"Authorization": f"Bearer {key}"}, trust_env=False).status_code


@pytest.fixture
def where(tmp_path: Path) -> tuple[str, str]:
    return "--database", f"sqlite:///{tmp_path / 'ads.db'}"


def test_servers_of_this_version_on_an_expanded_and_a_contracted_database(
    where: tuple[str, str], tmp_path: Path
) -> None:
    workspace = run("admin", "init", "--workspace", "shop", "--email", "a@x.example", "--json", *where).data
    key = workspace["apiKey"]
    serve = ("serve", "--port", "0", "--json", *where)
    with process(*serve, log=tmp_path / "running.log") as running:
        urls = [first_line(running)["baseUrl"]]
        with newer_version(tmp_path):
            asyncio.run(_upgrade(where[1]))
        checked = run("db", "upgrade", "--check", *where)
        assert checked.code == 0 and f"is at migration {NEXT_VERSION}." in checked.out
        with process(*serve, log=tmp_path / "started.log") as started:
            urls.append(first_line(started)["baseUrl"])
            for url in urls:
                assert (_get(url, "/readyz", key), _get(url, "/api/v1/ads/operations", key)) == (200, 200)
            with newer_version(tmp_path, "contracting", DROP_COLUMN, after=1):
                asyncio.run(_upgrade(where[1]))
            assert [_get(url, "/readyz", key) for url in urls] == [503, 503]
    for command in (("db", "upgrade", "--check"), ("accounts",)):
        refused = run(*command, *where)
        assert refused.code == 1 and "A newer version of adsunify has upgraded the database" in refused.err
