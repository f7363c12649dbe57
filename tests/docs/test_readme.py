"""The README from top to bottom, as a new user: every snippet and command in it runs."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
SNIPPETS = [code for language, code in BLOCKS if language == "python"]
COMMANDS = [
    line.removeprefix("$ ")
    for language, code in BLOCKS
    if language == "console"
    for line in code.splitlines()
    if line.startswith("$ ")
]
OURS = [command for command in COMMANDS if command.startswith(".venv/bin/adsunify")]
SESSIONS = [session for command in COMMANDS for session in re.findall(r"nox -s (\w+)", command)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the examples in it, as a fresh clone has."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def test_every_block_is_known() -> None:
    assert {language for language, _ in BLOCKS} == {"python", "console"}
    assert len(SNIPPETS) >= 2
    assert len(OURS) >= 4
    installing = [command for command in COMMANDS if command not in OURS]
    assert all("nox -s" in command or command == ".venv/bin/pip install '.[all]'" for command in installing)


@pytest.mark.parametrize("code", SNIPPETS, ids=[f"snippet {number}" for number in range(1, len(SNIPPETS) + 1)])
def test_snippet_runs(code: str, folder: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=100)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout


@pytest.mark.parametrize("command", OURS)
def test_command_runs(command: str, folder: Path) -> None:
    arguments = shlex.split(command)[1:]
    ran = subprocess.run(
        [sys.executable, "-m", "adsunify", *arguments], cwd=folder, capture_output=True, text=True, timeout=100
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout


@pytest.mark.parametrize("session", SESSIONS)
def test_session_exists(session: str) -> None:
    assert f"\ndef {session}(" in (ROOT / "noxfile.py").read_text()


def test_every_variable_is_documented() -> None:
    code = "".join(path.read_text() for path in (ROOT / "adsunify" / "service").glob("*.py"))
    for name in re.findall(r'= "(ADSUNIFY_\w+)"', code):
        assert f"`{name}`" in TEXT
