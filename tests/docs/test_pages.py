"""The pages as a reader takes them: links lead somewhere, commands are understood, examples are accepted."""

from __future__ import annotations

import json
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from adsunify.answers.webhooks import CreatedWebhook
from adsunify.cli.commands import adsunify
from adsunify.contract.requests import NewWebhook
from adsunify.events import DEFAULT_EVENTS
from adsunify.models.parsing import parse_model
from adsunify.values.exact_json import dumps

ROOT = Path(__file__).parents[2]
WRITTEN = [*(ROOT / "docs").glob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]
PROGRAM = ".venv/bin/adsunify"


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text()
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)


def commands() -> list[list[str]]:
    """Every command line of ours in the pages, without the program's name."""
    every = (block for path in WRITTEN for block in blocks(str(path.relative_to(ROOT)), "console"))
    lines = (line.strip().removeprefix("$ ") for block in every for line in block.splitlines())
    return [shlex.split(line)[1:] for line in lines if line.split(" ")[0] in (PROGRAM, "adsunify")]


def understood(command: click.Command, arguments: list[str], parent: click.Context | None = None) -> None:
    """Parse as the command line does, and do nothing."""
    with command.make_context(command.name, [*arguments], parent=parent) as context:
        if isinstance(command, click.Group):
            rest = [*context._protected_args, *context.args]
            _, found, left = command.resolve_command(context, rest)
            assert found is not None
            understood(found, left, context)


@pytest.mark.parametrize("arguments", commands(), ids=" ".join)
def test_every_command_is_understood(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    try:
        understood(adsunify, arguments)
    except click.exceptions.Exit as shown:  # --version
        assert shown.exit_code == 0


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path: Path) -> None:
    """What a package index shows, or a page includes, has no links of its own place."""
    for target in re.findall(r"\]\(([^)#]+)", path.read_text()):
        assert target.startswith("https://") or (path.parent.name == "docs" and (path.parent / target).is_file())


def test_every_file_that_is_named_is_there() -> None:
    for path in WRITTEN:
        for name in re.findall(r"`((?:deploy|docs|examples|tests)/[\w/.-]+)`", path.read_text()):
            assert (ROOT / name).exists(), f"{path.name}: {name}"


def test_every_page_is_in_the_contents() -> None:
    listed = re.findall(r"^[a-z_]+$", (ROOT / "docs" / "index.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(path.stem for path in (ROOT / "docs").glob("*.md") if path.stem != "index")


def test_a_subscription_is_asked_for_and_answered_as_shown() -> None:
    asked, answered, _ = blocks("docs/webhooks.md", "json")
    assert parse_model(NewWebhook, asked).events is not None
    assert parse_model(NewWebhook, '{"url": "https://hooks.acme.example/adsunify"}').events is None
    shown = json.loads(answered)["data"]
    assert parse_model(CreatedWebhook, dumps(shown)).secret.startswith("whsec_")
    assert shown["events"] == [*DEFAULT_EVENTS]


def test_clients_of_agents_are_set_up_as_shown(tmp_path: Path) -> None:
    shown: list[dict[str, Any]] = [
        json.loads(one)["mcpServers"]["adsunify"] for one in blocks("docs/agents.md", "json")
    ]
    assert [one.get("type", "stdio") for one in shown] == ["http", "http", "stdio", "stdio"]
    assert all(one["url"].endswith("/api/mcp") for one in shown if "url" in one)
    local, remote = (one["args"] for one in shown if "args" in one)
    understood(adsunify, remote)
    arguments = [one.replace("/srv/adsunify", str(tmp_path)) for one in local]
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    ran = subprocess.run(
        [sys.executable, "-m", "adsunify", *arguments], input=f"{dumps(asked)}\n", capture_output=True, text=True
    )
    assert len(json.loads(ran.stdout)["result"]["tools"]) == 7


def headings(page: str) -> set[str]:
    return set(re.findall(r"^#{2,3} (.+)$", (ROOT / "docs" / page).read_text(), re.MULTILINE))


def test_every_heading_that_code_cites_exists() -> None:
    folders = ("adsunify", "adsunify_server", "adsunify_mcp", "tests")
    cited = [
        (path.relative_to(ROOT), page, heading)
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        for page, heading in re.findall(r'docs/(spec\.md|decisions\.md),\s+(?:#\s+)?"([^"\n]+)"', path.read_text())
    ]
    assert len(cited) > 10
    assert [one for one in cited if one[2] not in headings(one[1])] == []


@pytest.mark.parametrize("page", ["architecture.md", "glossary.md"])
def test_every_name_of_the_code_exists(page: str) -> None:
    names = re.findall(r"`(adsunify(?:_server|_mcp)?(?:\.\w+)*)`", (ROOT / "docs" / page).read_text())
    assert names
    for name in dict.fromkeys(names):
        pkgutil.resolve_name(name)
