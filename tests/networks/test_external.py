"""Adapters and simulated networks of other distributions: found by entry points, checked when they are loaded."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import adsunify.networks
import adsunify.sandbox.networks
from adsunify.networks.registry import ADAPTER_PACKAGES
from tests.system.thirteenth.toy import MODEL, TOY, copy_renamed, make_environment

LIST_NETWORKS = "from adsunify.networks.registry import ADAPTER_PACKAGES; print(*ADAPTER_PACKAGES)"
OTHERS = [code for code in ADAPTER_PACKAGES if code != TOY]
"""The networks of the repository, also in a process to which ``tests/system/thirteenth`` has added the toy."""
LOAD = f"""
from adsunify.networks.registry import get_adapter
from adsunify.sandbox.networks import load_networks
print(get_adapter("{TOY}").network.title, load_networks()["{TOY}"].code)
"""

SCOPE = f"""
from adsunify import Ads, RuleScope
with Ads("sqlite:///rules.db") as client:
    rule = client.guardrails.create(name="Toy", scope=RuleScope(networks=["{TOY}"]), blocked_actions=["delete"])
    print(*rule.scope.networks)
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of installed packages with a distribution whose adapter is a copy of the model."""
    package = tmp_path / f"{TOY}_adapter"
    copy_renamed(Path(adsunify.networks.__path__[0], MODEL), package)
    copy_renamed(Path(adsunify.sandbox.networks.__path__[0], MODEL), package / "simulated")
    init = package / "__init__.py"
    init.write_text(f"{init.read_text()}\nAPI_VERSION = 1\n")
    for path in (package / "simulated").glob("*.py"):
        path.write_text(path.read_text().replace(f"adsunify.sandbox.networks.{TOY}", f"{TOY}_adapter.simulated"))
    for path in package.glob("*.py"):
        path.write_text(path.read_text().replace(f"adsunify.networks.{TOY}", f"{TOY}_adapter"))
    install_adapter(tmp_path, TOY, f"{TOY}_adapter")
    return tmp_path


def install_adapter(site: Path, code: str, package: str) -> None:
    """Write the metadata of an installed distribution with the entry points of a network."""
    folder = site / f"adsunify_{package}-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: adsunify-{package}\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(
        f"[adsunify.networks]\n{code} = {package}\n\n[adsunify.sandboxes]\n{code} = {package}.simulated\n"
    )


def run_python(site: Path, adapters: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment: Mapping[str, str] = {**make_environment(site), "ADSUNIFY_ADAPTERS": adapters}
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True)


def test_a_named_adapter_and_its_simulated_network_are_loaded(site: Path) -> None:
    assert run_python(site, TOY, "-c", LIST_NETWORKS).stdout.split() == [*OTHERS, TOY]
    loaded = run_python(site, TOY, "-c", LOAD)
    assert loaded.stdout.split() == [TOY.capitalize(), TOY], loaded.stderr


def test_a_guardrail_applies_to_a_network_of_another_distribution(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site)
    process = run_python(site, TOY, "-c", SCOPE)
    assert process.stdout.split() == [TOY], process.stderr
    assert "scope.networks.0: must be one of" in run_python(site, "", "-c", SCOPE).stderr


def test_an_installed_adapter_that_is_not_named_is_not_loaded(site: Path) -> None:
    (site / f"{TOY}_adapter" / "__init__.py").write_text("raise SystemExit('imported')")
    assert run_python(site, "", "-c", LIST_NETWORKS).stdout.split() == OTHERS


@pytest.mark.parametrize(
    ("adapters", "message"),
    [
        ("zebra", f"No installed package has an entry point zebra in the group adsunify.networks. Installed: {TOY}."),
        ("meta", "meta is a network of adsunify itself; choose another code."),
        ("Zebra-1", "'Zebra-1' must be 1 to 20 letters from a to z."),
    ],
)
def test_a_code_that_cannot_be_loaded_is_refused(site: Path, adapters: str, message: str) -> None:
    process = run_python(site, adapters, "-m", "adsunify", "networks")
    assert (process.returncode, process.stderr.strip()) == (2, f"ADSUNIFY_ADAPTERS: {message}")


def test_two_adapters_of_one_code_are_refused(site: Path) -> None:
    install_adapter(site, TOY, "another")
    process = run_python(site, TOY, "-m", "adsunify", "networks")
    assert f"Several packages are an adapter of {TOY}: another, {TOY}_adapter." in process.stderr


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("__init__.py", "API_VERSION = 1", "", "API_VERSION is None; this version of adsunify takes adapters of"),
        ("__init__.py", "API_VERSION = 1", "ADAPTER = None", "ADAPTER is missing, or is not an adsunify.adapter"),
        ("__init__.py", "    authorization=", "    credentials=reads, authorization=", "exactly one of authorization,"),
        ("plans.py", "def plan_delete(", "def delete(", "plans.plan_delete is missing"),
        (
            *("plans.py", "def plan_delete(account: Account, kind: Kind, ", "def plan_delete(account: Account, "),
            "plans.plan_delete takes (account, entity_id); it must take (account, kind, entity_id)",
        ),
        ("native.py", f'CODE = "{TOY}"', 'CODE = "zoo"', "the code of its NETWORK is 'zoo'; it must be the name of"),
        ("tables.py", "from adsunify.", "import no_such_module\nfrom adsunify.", "cannot be imported: No module named"),
    ],
)
def test_what_an_adapter_lacks_is_named(site: Path, file: str, old: str, new: str, message: str) -> None:
    path = site / f"{TOY}_adapter" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    process = run_python(site, TOY, "-m", "adsunify", "networks", TOY)
    assert process.returncode == 2
    assert message in process.stderr
