"""A thirteenth network touches three folders: with them alone, every suite of the networks runs it, and passes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import tests.networks
from adsunify.networks.registry import PUBLISHED_ORDER
from tests.networks.samples import MissingSamples, get_samples

from .toy import MODEL, REPOSITORY, TOY, make_environment, write_toy

EXAMPLES = 5
"""A test whose ids name more networks than this is one of all networks; others name some as examples."""
IMPORTED_EARLY = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
"""The hook of the folder imports adsunify before pytest finds the plugin of the test kit in it."""
DOCUMENTS = "tests/docs/"
"""Documents are generated (``nox -s tables``): those here know the networks of this repository."""
IGNORED = ("tests/oracles", "tests/typing", "tests/system/thirteenth", DOCUMENTS)
SUITES = ("tests", "tests/system/crash", *(f"--ignore={path}" for path in IGNORED))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy network, in a folder of its own."""
    path = tmp_path_factory.mktemp("thirteenth")
    write_toy(path)
    return path


def run_pytest(folder: Path, *arguments: str) -> str:
    """What a pytest prints that knows the toy; the assertion fails where a test does."""
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", IMPORTED_EARLY, *arguments)
    done = subprocess.run(command, cwd=REPOSITORY, env=make_environment(folder), capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def find_networks(ids: str) -> Iterator[tuple[str, set[str]]]:
    """The tests of a collection, each with the networks that its ids name."""
    networks: Mapping[str, set[str]] = defaultdict(set)
    for test, parameters in re.findall(r"^(tests/\S+::[^\s\[]+)\[(.*)\]$", ids, re.MULTILINE):
        words = set(re.findall(r"[a-z]+", parameters))
        networks[test].update(words.intersection((*PUBLISHED_ORDER, TOY)))
    yield from networks.items()


def test_a_fact_that_samples_lack_is_named(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(folder / "cases" / TOY, tmp_path / "lacking")
    samples = tmp_path / "lacking" / "samples.py"
    samples.write_text(re.sub(r"    first_write_path=.*\n", "", samples.read_text()))
    monkeypatch.setattr(tests.networks, "__path__", [*tests.networks.__path__, str(tmp_path)])
    with pytest.raises(MissingSamples, match=f"{samples}: .*'first_write_path'"):
        get_samples("lacking")


def test_the_cases_and_tables_of_a_thirteenth_network_are_tested(folder: Path) -> None:
    suites = ("tests/networks/test_cases.py", "tests/networks/test_shape.py", "tests/cases/test_tables.py")
    run_pytest(folder, *suites, "--network", TOY, "-m", "not exhaustive")


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
def test_every_suite_of_the_networks_runs_a_thirteenth(folder: Path) -> None:
    """Each test that runs on the model, and on others, runs on its copy."""
    collected = dict(find_networks(run_pytest(folder, "--collect-only", "-q", "-o", "addopts=", *SUITES)))
    everywhere = {test for test, networks in collected.items() if len(networks) > EXAMPLES and MODEL in networks}
    assert len(everywhere) > 100, "the ids of tests no longer name networks"
    forgetful = sorted(test for test in everywhere if TOY not in collected[test] and not test.startswith(DOCUMENTS))
    assert not forgetful, "these tests list networks by name: parametrise them over ADAPTER_PACKAGES"


@pytest.mark.exhaustive
@pytest.mark.timeout(3600)
def test_a_thirteenth_network_passes_every_suite(folder: Path) -> None:
    """The tests of the copy, and those that take all networks at once (``tests/selection.py``)."""
    distributed = ("-n", "2", "--dist", "loadfile", "-o", "timeout=900")
    run_pytest(folder, *SUITES, *distributed, "--network", TOY)
