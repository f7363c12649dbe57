"""The commands that people script against: all of them are there, and each explains itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from adsunify.cli.commands import COMMANDS, SECTIONS, adsunify

from .running import ROOT, run

LAUNCH_COMMANDS = ("create", "list", "show", "execute", "activate", "pause", "undo", "prepare", "cancel")
DOCUMENTED = {
    *("demo", "plan", "prove", "serve", "sandbox", "worker", "mcp", "db upgrade"),
    *(
        "admin init",
        "admin user",
        "admin account",
        "admin workspace",
        "admin clock",
        "admin keys new",
        "admin keys rotate",
    ),
    *("disconnect", "campaigns", "ad-groups", "ads", "tree", "catalog"),
    *("pause", "unpause", "edit", "bulk-edit", "delete"),
    *("networks", "connect", "accounts", "validate", "create", "activate", "operations", "execute", "cancel", "undo"),
    "inspect",
    *("resume", "settle"),
    *(f"webhooks {name}" for name in ("list", "create", "delete", "deliveries", "test")),
    *(
        "keys list",
        "keys create",
        "keys revoke",
        "insights",
        "insights export",
        "insights sync",
        "webhooks listen",
        "webhooks verify",
    ),
    *("diff", "apply", "import"),
    *(f"change-set {name}" for name in ("show", "execute", "cancel")),
    *("ledger export", "ledger verify", "maintain", "db restored"),
    *(f"guardrails {name}" for name in ("list", "show", "create", "update", "delete", "usage", "freezes", "lift")),
    *(f"alerts {name}" for name in ("list", "add", "change", "remove")),
    *(f"launch {name}" for name in LAUNCH_COMMANDS),
}
"""The fixed list: nobody's script breaks."""
WITHOUT_JSON = {"worker", "mcp", "insights export", "ledger export"}
"""Commands that have nothing to tell, or speak another protocol."""
ANYWHERE = {
    *(
        "connect",
        "accounts",
        "validate",
        "create",
        "activate",
        "operations",
        "execute",
        "cancel",
        "undo",
        "inspect",
        "insights",
        "mcp",
    ),
    *("disconnect", "campaigns", "ad-groups", "ads", "tree", "catalog"),
    *("pause", "unpause", "edit", "bulk-edit", "delete"),
    *("insights export", "keys list", "keys create", "keys revoke"),
    *(f"webhooks {name}" for name in ("list", "create", "delete", "deliveries", "test")),
    *("connect", "accounts", "validate", "create", "activate", "operations", "execute", "cancel", "insights", "mcp"),
    *("resume", "settle", "diff", "apply", "import", "insights export", "keys list", "keys create"),
    *(f"guardrails {name}" for name in ("list", "show", "create", "update", "delete", "usage", "freezes", "lift")),
    *(f"alerts {name}" for name in ("list", "add", "change", "remove")),
    *(f"launch {name}" for name in LAUNCH_COMMANDS),
    *(f"change-set {name}" for name in ("show", "execute", "cancel")),
}


def walk_commands(command: click.Command, name: str = "") -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield name, command
        for child, subcommand in getattr(command, "subcommands", {}).items():
            yield f"{name} {child}", subcommand
        return
    context = click.Context(command)
    for child_name in command.list_commands(context):
        subcommand = command.get_command(context, child_name)
        assert subcommand is not None
        yield from walk_commands(subcommand, f"{name} {child_name}".strip())


LEAVES = dict(walk_commands(adsunify))


def test_the_commands_are_those_that_are_documented() -> None:
    assert set(LEAVES) == DOCUMENTED
    assert [name for names in SECTIONS.values() for name in names] == list(COMMANDS)
    help_text = run("--help").out
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", help_text, re.MULTILINE)
    assert "Exit codes" in help_text


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_each_command_explains_itself(name: str) -> None:
    command = LEAVES[name]
    ran = run(*name.split(), "--help")
    assert ran.code == 0 and ran.err == ""
    first = (command.help or "").split("\n")[0]
    assert first.endswith(".") and len(first) > 15
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help or parameter.name in ("role", "log_level"), f"{name} --{parameter.name}"
            assert parameter.opts[0] in ran.out
    options = {option for parameter in command.params for option in parameter.opts}
    assert ("--json" in options) is (name not in WITHOUT_JSON)
    assert ({"--database", "--server", "--token", "--workspace"} <= options) is (name in ANYWHERE)


def test_the_readme_names_every_daily_command() -> None:
    text = (ROOT / "README.md").read_text()
    for name in SECTIONS["Daily work"]:
        assert f"adsunify {name}" in text or f"`{name}`" in text, name


def test_no_option_takes_a_secret_only_from_the_command_line() -> None:
    secret = {"token", "password", "secret"}
    options = [
        (name, parameter)
        for name, command in LEAVES.items()
        for parameter in command.params
        if parameter.name in secret
    ]
    assert len(options) > 10
    for name, parameter in options:
        assert parameter.envvar is not None, name
        assert parameter.type.name == "secret", name


def test_what_the_environment_may_say_is_said() -> None:
    for name, command in LEAVES.items():
        for parameter in command.params:
            if isinstance(parameter, click.Option) and parameter.envvar is not None:
                assert parameter.show_envvar, f"{name} --{parameter.name}"
