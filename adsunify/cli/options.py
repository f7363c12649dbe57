"""Options that commands share: the store or server, output, secrets."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Unpack

import click
from attrs import frozen
from click.core import ParameterSource

from adsunify.client import Ads, AsyncAds
from adsunify.client.backends import DATABASE_VARIABLE, SERVER_VARIABLE, TOKEN_VARIABLE
from adsunify.client.options import RemoteOptions
from adsunify.errors import invalid_input
from adsunify.models.error_messages import WEB_PREFIXES, is_web_address

from .output import CSV_KEY
from .progress import show_progress

FORMAT_KEY = "adsunify.format"
"""The member of a command's context that holds which option chose the output format."""
DEFAULT_DATABASE = "sqlite:///adsunify.db"
BRIEF = "BRIEF"
"""The path of issues that concern a whole brief."""


class SecretParam(click.ParamType[str]):
    """A secret. ``-`` prompts for it without echo, or reads a line of standard input.

    Other users of the machine can read arguments in the list of processes.
    """

    name = "secret"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the secret; prompt for it where the value is ``-``."""
        if value != "-" or (ctx is not None and ctx.resilient_parsing):  # a completion must not prompt
            return str(value)
        label = "Secret" if param is None or param.name is None else param.name.capitalize()
        return prompt_secret(label)


def prompt_secret(label: str) -> str:
    """Prompt for a secret without echo; without a terminal, read a line of standard input."""
    if sys.stdin.isatty():
        return str(click.prompt(label, hide_input=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")


brief_argument = click.argument("brief", type=click.Path(dir_okay=False, path_type=Path, exists=True, allow_dash=True))
document_argument = click.argument(
    "file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path, exists=True, allow_dash=True)
)
database_option = click.option(
    "--database",
    envvar=DATABASE_VARIABLE,
    show_envvar=True,
    default=DEFAULT_DATABASE,
    show_default=True,
    help="The store.",
)


def _choose_format(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    """Store whether to print CSV. Raises InvalidInput if two formats are requested."""
    if value and ctx.meta.setdefault(FORMAT_KEY, param.name) != param.name:
        raise invalid_input("--csv", "not_allowed", "cannot be used with --json; pass one of them.")
    if param.name == "as_csv":
        ctx.meta[CSV_KEY] = value
    return value


json_option = click.option("--json", "as_json", is_flag=True, callback=_choose_format, help="Print JSON.")
data_option = click.option(
    "--json",
    "as_json",
    is_flag=True,
    callback=_choose_format,
    help="Print the REST API's data as one JSON document.",
)
csv_option = click.option(
    "--csv",
    "as_csv",
    is_flag=True,
    expose_value=False,
    callback=_choose_format,
    help="Print the table as CSV, with all columns and plain numbers.",
)
idempotency_option = click.option(
    "--idempotency-key", metavar="KEY", help="The same key and request return the same operation."
)


@frozen
class Target:
    """A local store with a workspace, or a server with a token."""

    url: str
    token: str | None
    workspace: str | None

    @property
    def is_remote(self) -> bool:
        """Whether it is a server."""
        return is_web_address(self.url)

    def make_client(self, **options: Unpack[RemoteOptions]) -> Ads:
        """Make a client, which the caller opens with ``with``, so that the caller decides when to show progress."""
        return Ads(self.url, token=self.token, workspace=self.workspace, **options)

    @contextmanager
    def open_client(self, words: str) -> Iterator[Ads]:
        """Open a client, and show what the command does if the block takes long. The block prints nothing."""
        with show_progress(words), self.make_client() as client:
            yield client

    def make_async_client(self) -> AsyncAds:
        """Make an asynchronous client, which the caller opens with ``async with``."""
        return AsyncAds(self.url, token=self.token, workspace=self.workspace)


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a target to a command, which gets it as ``target``.

    Arguments win over the environment; then a server wins over a database.
    """

    @functools.wraps(command)
    def wrapper(database: str, server: str | None, token: str | None, workspace: str | None, **more: Any) -> Any:
        return command(target=read_target(database, server, token, workspace), **more)

    for option in (
        click.option(
            "--workspace",
            metavar="NAME",
            help="The workspace in the store.  [default: the only one; a new store's is local]",
        ),
        click.option(
            "--token",
            envvar=TOKEN_VARIABLE,
            show_envvar=True,
            type=SecretParam(),
            help="The server's bearer token; - asks for it.",
        ),
        click.option(
            "--server", envvar=SERVER_VARIABLE, show_envvar=True, metavar="URL", help="A server, instead of a store."
        ),
        database_option,
    ):
        wrapper = option(wrapper)
    return wrapper


def read_target(database: str, server: str | None, token: str | None, workspace: str | None) -> Target:
    """Return the target of the options of the current command. Raises InvalidInput if they contradict each other."""
    source = click.get_current_context().get_parameter_source
    explicit = {name for name in ("database", "server", "token") if source(name) == ParameterSource.COMMANDLINE}
    if {"database", "server"} <= explicit:
        raise invalid_input("--server", "not_supported", "cannot be used with --database; pass one of them.")
    if server is None or "database" in explicit:
        if "token" in explicit:
            raise invalid_input("--token", "not_supported", "is only for --server, not for a store.")
        return Target(database, None, workspace)
    if not is_web_address(server):
        name = SERVER_VARIABLE if source("server") == ParameterSource.ENVIRONMENT else "--server"
        raise invalid_input(name, "malformed", f"must begin with {' or '.join(WEB_PREFIXES)}.")
    if workspace is not None:
        raise invalid_input(
            "--workspace", "not_supported", "is only for a store; a server's token belongs to a workspace."
        )
    return Target(server, token, None)
