"""What is not installed is said in a sentence, and every command explains itself without it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.markers import exhaustive

from .test_help import DOCUMENTED

WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

missing = sys.argv.pop(1).split(",")
sys.meta_path.insert(0, Missing())
from adsunify.cli import main
main()
"""
SERVER = "aiohttp,jinja2,prometheus_client"


def run(missing: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command where packages are missing."""
    command = [sys.executable, "-c", WITHOUT, missing, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("missing", ["click", exhaustive("rich")])
def test_without_the_command_line(tmp_path: Path, missing: str) -> None:
    ran = run(missing, "--help", folder=tmp_path)
    message = f"This needs {missing}, which is not installed: pip install 'adsunify[cli]'.\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", message)


EVERY_HELP = """
for name in {names}:
    sys.argv = ["adsunify", *name.split(), "--help"]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, name
"""


def test_every_command_explains_itself_without_the_server(tmp_path: Path) -> None:
    names = sorted({"", *DOCUMENTED})
    code = WITHOUT.removesuffix("main()\n") + EVERY_HELP.format(names=names)
    ran = subprocess.run([sys.executable, "-c", code, SERVER], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count("Usage: ") == len(names)


NEEDING = ["serve --sandbox", "serve", "demo", "sandbox", "webhooks listen", "connect meta"]


@pytest.mark.parametrize("arguments", [NEEDING[0], *map(exhaustive, NEEDING[1:])])
def test_what_needs_the_server_says_so(arguments: str, tmp_path: Path) -> None:
    ran = run(SERVER, *arguments.split(), folder=tmp_path)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "This needs aiohttp, which is not installed: pip install 'adsunify[server]'.\n"


def test_what_does_without_the_server(tmp_path: Path) -> None:
    ran = run(SERVER, "accounts", "--json", folder=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "[]\n"), ran.stderr


def test_without_the_driver_of_postgresql(tmp_path: Path) -> None:
    ran = run("asyncpg", "db", "upgrade", "--database", "postgresql://nobody@127.0.0.1:1/none", folder=tmp_path)
    message = "This needs asyncpg, which is not installed: pip install 'adsunify[postgres]'.\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", message)


def test_a_defect_is_not_taken_for_something_that_is_not_installed(tmp_path: Path) -> None:
    ran = run("orjson", "accounts", folder=tmp_path)
    assert ran.returncode == 1 and "Traceback" in ran.stderr


def test_a_collector_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADSUNIFY_OTEL_ENDPOINT", "http://127.0.0.1:4318")
    ran = run("opentelemetry", "serve", "--port", "0", "--database", "sqlite:///a.db", folder=tmp_path)
    assert (
        ran.returncode == 1
        and "This needs opentelemetry, which is not installed: pip install 'adsunify[otel]'" in ran.stderr
    )
    assert not (tmp_path / "a.db").exists()
