"""The simulated networks and a server in processes of their own, and the two ways to work: a store, and that server."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from attrs import frozen

from .running import Ran, first_line, process, run


@frozen
class Networks:
    """The simulated networks."""

    url: str

    def fault(self, network: str, fault: str, **more: Any) -> None:
        """Tell them to fail."""
        fault_request = {"network": network, "fault": fault, **more}
        httpx.post(f"{self.url}/_sandbox/faults", json=fault_request, trust_env=False).raise_for_status()

    def writes(self, network: str) -> int:
        """How many entities native writes have touched."""
        response = httpx.get(f"{self.url}/_sandbox/writes", params={"network": network}, trust_env=False)
        return len(response.json()["writes"])


@frozen
class Place:
    """Where commands work; ``ads`` runs one there."""

    name: str
    environment: Mapping[str, str]

    def ads(self, *arguments: str, stdin: bytes = b"", **more: str) -> Ran:
        return run(*arguments, stdin=stdin, **{**self.environment, **more})


@pytest.fixture(scope="package")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Networks]:
    with process("sandbox", "--json", log=tmp_path_factory.mktemp("networks") / "log") as sandbox:
        yield Networks(first_line(sandbox)["sandboxUrl"])


@pytest.fixture(scope="package")
def api_server(networks: Networks, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Any]]:
    """A server with an account on every network; its line of JSON, and its ``folder``."""
    folder = tmp_path_factory.mktemp("served")
    where = {"ADSUNIFY_SANDBOX_URL": networks.url, "ADSUNIFY_DATABASE_URL": "sqlite:///served.db"}
    with process("serve", "--sandbox", "--port", "0", "--json", folder=folder, log=folder / "log", **where) as server:
        yield {**first_line(server), "folder": str(folder)}


@pytest.fixture(scope="package")
def place(
    networks: Networks, sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Place]:
    """A migrated store of one's own, by name."""
    folder = tmp_path_factory.mktemp("stores")

    def make_place(name: str) -> Place:
        shutil.copyfile(sqlite_template, folder / f"{name}.db")
        database = f"sqlite:///{folder / name}.db"
        return Place(name, {"ADSUNIFY_DATABASE_URL": database, "ADSUNIFY_SANDBOX_URL": networks.url})

    return make_place


@pytest.fixture(scope="module", params=["store", "server"])
def both(request: pytest.FixtureRequest, place: Callable[[str], Place], api_server: Mapping[str, Any]) -> Place:
    """Each of the two ways."""
    if request.param == "store":
        return place("own")
    return Place("server", {"ADSUNIFY_SERVER": api_server["baseUrl"], "ADSUNIFY_TOKEN": api_server["apiKey"]})
