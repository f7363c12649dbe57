"""The command line. Exit codes: 0 done; 1 failed, or the network refused; 2 the input was refused."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from adsunify import __version__
from adsunify.errors import AdsunifyError, InvalidInput

COMMANDS = {
    "demo": "demo",
    "plan": "plan",
    "networks": "networks",
    "serve": "serve",
    "worker": "serve",
    "mcp": "agents",
    "sandbox": "serve",
    "admin": "admin",
    "db": "admin",
}
"""Command to the module that holds it: a command imports only what it needs."""


class Commands(click.Group):
    """The commands of the table, imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f".{COMMANDS[cmd_name]}", __name__), cmd_name)
        return command


@click.command(cls=Commands)
@click.version_option(__version__, prog_name="adsunify")
def adsunify() -> None:
    """One advertising API over 12 ad networks."""


def main() -> None:
    """Run the command line; every error of ours is a sentence on stderr."""
    try:
        adsunify(standalone_mode=True)
    except InvalidInput as problem:
        for issue in problem.issues:
            click.echo(f"{issue.path}: {issue.message}" if issue.path else issue.message, err=True)
        sys.exit(2)
    except AdsunifyError as problem:
        click.echo(problem.message, err=True)
        sys.exit(1)
