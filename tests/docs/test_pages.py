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


def read_blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text()
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)


def read_commands() -> list[list[str]]:
    """Every command line of ours in the pages, without the program's name."""
    every = (block for path in WRITTEN for block in read_blocks(str(path.relative_to(ROOT)), "console"))
    lines = (line.strip().removeprefix("$ ") for block in every for line in block.splitlines())
    return [shlex.split(line)[1:] for line in lines if line.split(" ")[0] in (PROGRAM, "adsunify")]


def parse_command(command: click.Command, arguments: list[str], parent: click.Context | None = None) -> None:
    """Parse as the command line does, and do nothing."""
    with command.make_context(command.name, [*arguments], parent=parent) as context:
        if isinstance(command, click.Group):
            rest = [*context._protected_args, *context.args]
            _, subcommand, left = command.resolve_command(context, rest)
            assert subcommand is not None
            parse_command(subcommand, left, context)


@pytest.mark.parametrize("arguments", read_commands(), ids=" ".join)
def test_every_command_is_understood(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    try:
        parse_command(adsunify, arguments)
    except click.exceptions.Exit as end:  # --version
        assert end.exit_code == 0


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
    pages = re.findall(r"^[a-z_]+$", (ROOT / "docs" / "index.md").read_text(), re.MULTILINE)
    assert sorted(pages) == sorted(path.stem for path in (ROOT / "docs").glob("*.md") if path.stem != "index")


def test_a_subscription_is_asked_for_and_answered_as_shown() -> None:
    request, answered, _ = read_blocks("docs/webhooks.md", "json")
    assert parse_model(NewWebhook, request).events is not None
    assert parse_model(NewWebhook, '{"url": "https://hooks.acme.example/adsunify"}').events is None
    webhook = json.loads(answered)["data"]
    assert parse_model(CreatedWebhook, dumps(webhook)).secret.startswith("whsec_")
    assert webhook["events"] == [*DEFAULT_EVENTS]


def test_clients_of_agents_are_set_up_as_shown(tmp_path: Path) -> None:
    servers: list[dict[str, Any]] = [
        json.loads(block)["mcpServers"]["adsunify"] for block in read_blocks("docs/agents.md", "json")
    ]
    assert [server.get("type", "stdio") for server in servers] == ["http", "http", "stdio", "stdio"]
    assert all(server["url"].endswith("/api/mcp") for server in servers if "url" in server)
    local, remote = (server["args"] for server in servers if "args" in server)
    parse_command(adsunify, remote)
    arguments = [argument.replace("/srv/adsunify", str(tmp_path)) for argument in local]
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    ran = subprocess.run(
        [sys.executable, "-m", "adsunify", *arguments], input=f"{dumps(request)}\n", capture_output=True, text=True
    )
    assert len(json.loads(ran.stdout)["result"]["tools"]) == 7


def read_headings(page: str) -> set[str]:
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
    assert [citation for citation in cited if citation[2] not in read_headings(citation[1])] == []


@pytest.mark.parametrize("page", ["architecture.md", "glossary.md"])
def test_every_name_of_the_code_exists(page: str) -> None:
    names = re.findall(r"`(adsunify(?:_server|_mcp)?(?:\.\w+)*)`", (ROOT / "docs" / page).read_text())
    assert names
    for name in dict.fromkeys(names):
        pkgutil.resolve_name(name)
