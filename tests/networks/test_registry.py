"""Adapters and simulated networks are found by their folders; finding them imports none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from adsunify import networks
from adsunify.networks.registry import ADAPTER_PACKAGES, PUBLISHED_ORDER, get_adapter
from adsunify.sandbox.networks import load_networks
from adsunify.testing.connecting import get_sandbox_credentials

TOYS = {
    "adapters/zoo/__init__.py": "ADAPTER = 'the adapter'",
    "adapters/zoo/tables.py": "",
    "adapters/bee/__init__.py": "ADAPTER = 'another'",
    "adapters/no_adapter.py": "",
    "simulated/zoo/__init__.py": "NETWORK = 'the simulated network'",
}
SCRIPT = """
import sys
import adsunify.sandbox.networks
from adsunify.networks import registry

adsunify.networks.__path__.append("adapters")
adsunify.sandbox.networks.__path__.append("simulated")
print(*registry.ADAPTER_PACKAGES)
print(*(name for name in sys.modules if name.startswith("adsunify.networks.")))
print(registry.get_adapter("zoo"), adsunify.sandbox.networks.load_networks()["zoo"])
"""


def test_every_folder_is_a_network() -> None:
    folders = {path.parent.name for place in networks.__path__ for path in Path(place).glob("*/__init__.py")}
    assert set(ADAPTER_PACKAGES) == folders == set(load_networks())
    assert {code: get_adapter(code).network.code for code in folders} == {code: code for code in folders}
    assert {code: network.code for code, network in load_networks().items()} == {code: code for code in folders}


@pytest.mark.parametrize("code", ADAPTER_PACKAGES)
def test_credentials_connect_where_there_is_no_consent_page(code: str) -> None:
    login, sandbox_credentials = get_adapter(code).network.login, get_sandbox_credentials(code)
    assert bool(login.credentials) == (login.kind == "credentials") == bool(sandbox_credentials)
    assert not sandbox_credentials or {*sandbox_credentials} in [
        {member.name for member in members} for members in login.credentials
    ]


def test_a_network_is_added_by_its_folders(tmp_path: Path) -> None:
    for name, text in TOYS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-c", SCRIPT]
    lines = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split("\n")
    others = {*ADAPTER_PACKAGES, "bee", "zoo"} - {*PUBLISHED_ORDER}
    assert lines[0].split() == [*PUBLISHED_ORDER, *sorted(others)]
    assert lines[1:3] == ["adsunify.networks.registry", "the adapter the simulated network"]
