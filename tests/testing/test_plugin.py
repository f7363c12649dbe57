"""The pytest plugin, as the pytest of a user loads it; the example of a user's tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONFIGURATION = """
[pytest]
ads_networks = meta
asyncio_default_fixture_loop_scope = function
filterwarnings = error
"""
CONFTEST = """
import sys

OURS = {name for name in sys.modules if name.partition("_")[0].partition(".")[0] == "adsunify"}
assert OURS == {"adsunify", "adsunify.testing", "adsunify.testing.pytest_plugin"}, OURS
"""
"""Loaded after the plugins, and before the tests import anything."""
UNUSED_FAULT = """
def test_a_fault_that_meets_no_request(ads, ads_sandbox):
    ads_sandbox.fail("meta", "POST", "/adsets", status=429)
    ads_sandbox.fail("meta", "GET", "/campaigns", fault="html")
    assert {account.network for account in ads.accounts.list()} == {"meta"}
"""


@pytest.fixture
def installation(tmp_path: Path) -> Path:
    """A folder with the entry points of the package, as an installation has them."""
    folder = tmp_path / f"adsunify-{PROJECT['version']}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: adsunify\nVersion: {PROJECT['version']}\n")
    points = PROJECT["entry-points"]["pytest11"].items()
    (folder / "entry_points.txt").write_text("[pytest11]\n" + "".join(f"{name} = {path}\n" for name, path in points))
    return tmp_path


def test_the_example_passes_and_an_unused_fault_fails(installation: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "tests", project, ignore=shutil.ignore_patterns("__pycache__"))
    (project / "pytest.ini").write_text(CONFIGURATION)
    (project / "conftest.py").write_text(CONFTEST)
    (project / "test_unused_fault.py").write_text(UNUSED_FAULT)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(installation)])}
    ended = subprocess.run(command, cwd=project, env=environment, text=True, capture_output=True)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert ended.stdout.rstrip().rpartition("\n")[2].startswith("7 passed, 1 error in "), ended.stdout
    assert "No request met the fault: status 429 for POST /adsets of meta." in ended.stdout
    assert "No request met the fault: html for GET /campaigns of meta." in ended.stdout


def test_the_kit_names_the_extra_that_is_missing() -> None:
    code = "import sys; sys.modules['aiohttp'] = None; from adsunify.testing import sandbox"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, text=True, capture_output=True)
    message = (
        "adsunify.errors.MissingExtra: This needs aiohttp, which is not installed: pip install 'adsunify[server]'.\n"
    )
    assert ended.stderr.endswith(message)
