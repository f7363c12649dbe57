"""The table of commands, and the entry point of the command line."""

from __future__ import annotations

import codecs
import io
import os
import sys
from importlib import import_module

import click

from adsunify import __version__
from adsunify.errors import AdsunifyError, InvalidInput, invalid_input

from .suggestions import CommandGroup

COMMANDS = {
    "connect": "connections",
    "disconnect": "connections",
    "accounts": "workflow",
    "campaigns": "entities",
    "ad-groups": "entities",
    "ads": "entities",
    "tree": "entities",
    "catalog": "entities",
    "validate": "workflow",
    "create": "workflow",
    "activate": "workflow",
    "pause": "changes",
    "unpause": "changes",
    "edit": "changes",
    "bulk-edit": "changes",
    "delete": "changes",
    "launch": "launches",
    "diff": "desired",
    "apply": "desired",
    "import": "desired:import_",
    "change-set": "change_sets",
    "operations": "workflow",
    "execute": "executing",
    "cancel": "workflow",
    "undo": "workflow",
    "inspect": "workflow",
    "resume": "resuming",
    "settle": "resuming",
    "insights": "insights",
    "guardrails": "guardrails",
    "alerts": "alerts",
    "webhooks": "webhooks",
    "networks": "networks",
    "plan": "plan",
    "demo": "demo",
    "prove": "proving",
    "serve": "serve",
    "worker": "serve",
    "mcp": "agents",
    "sandbox": "serve",
    "keys": "keys",
    "ledger": "ledger",
    "maintain": "maintain",
    "admin": "admin",
    "db": "admin",
}
"""Command -> its module. A name after a colon is the function, if it differs from the command's name.

The modules import only what the command needs.
"""
SECTIONS = {
    "Daily work": (
        *("connect", "disconnect", "accounts", "campaigns", "ad-groups", "ads", "tree", "catalog"),
        *("validate", "create", "activate", "pause", "unpause", "edit", "bulk-edit", "delete"),
        *("launch", "diff", "apply", "import", "change-set"),
        *("operations", "execute", "cancel", "undo", "inspect", "resume", "settle"),
        *("insights", "guardrails", "alerts", "webhooks", "networks", "plan"),
    ),
    "Running it": ("demo", "prove", "serve", "worker", "mcp", "sandbox", "keys", "ledger", "maintain", "admin", "db"),
}
UNKNOWN_MESSAGE = (
    "UNKNOWN: it is not known whether the change was made. Nothing is sent again automatically. Read the operation "
    "with `adsunify operations`; `adsunify resume` prepares only what is not written."
)


class LazyGroup(CommandGroup):
    """The commands of the table, imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        function = name or cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(f".{module}", __package__), function)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands of the help page in their sections."""
        for title, names in SECTIONS.items():
            with formatter.section(title):
                commands = [(name, self.get_command(ctx, name)) for name in names]
                formatter.write_dl(
                    [(name, command.get_short_help_str(80)) for name, command in commands if command is not None]
                )


@click.command(
    cls=LazyGroup,
    epilog="Exit codes: 0 success; 1 failure, refusal by the network, or unknown outcome; 2 refused input.",
)
@click.version_option(__version__, prog_name="adsunify")
def adsunify() -> None:
    """One advertising API over many ad networks."""


ESCAPE_HANDLER = "adsunify-escaped"


def _escape_unencodable(problem: UnicodeError) -> tuple[str, int]:
    """Replace characters that the encoding lacks with JSON escapes, so that JSON stays valid and readable."""
    assert isinstance(problem, UnicodeEncodeError)
    units = problem.object[problem.start : problem.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(*[iter(units)] * 2, strict=True)), problem.end


def _configure_streams() -> None:
    """Prevent an unencodable name or a closed stream from ending a command half way."""
    if sys.stdin is None:  # the caller closed it
        sys.stdin = io.TextIOWrapper(io.BytesIO())
    codecs.register_error(ESCAPE_HANDLER, _escape_unencodable)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=ESCAPE_HANDLER)


def _is_undecodable(word: str) -> bool:
    """Whether an argument holds bytes that are not text; file names may hold them."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return "sqlite:" not in word and not os.path.lexists(word)
    return False


def run_command_line() -> None:
    """Run the command line. Our errors and those of the operating system become a sentence on stderr."""
    _configure_streams()
    try:
        if any(map(_is_undecodable, sys.argv[1:])):
            raise invalid_input("arguments", "malformed", "must be valid text; one of them has bytes that are not.")
        adsunify(prog_name="adsunify")
    except InvalidInput as problem:
        from .output import print_message

        for issue in problem.issues:
            print_message(f"{issue.path}: {issue.message}" if issue.path else issue.message)
        sys.exit(2)
    except AdsunifyError as problem:
        from .output import print_message

        print_message(problem.message)
        if problem.outcome == "unknown":
            print_message(UNKNOWN_MESSAGE)
        sys.exit(1)
    except OSError as problem:  # such as a file that cannot be read, or a full disk
        from .output import print_message

        print_message(f"System error: {problem}")
        sys.exit(1)
