"""Completion of accounts and operations in a shell, through click's own mechanism (docs/daily_work.md).

If the store or the server cannot be reached, there are no completions, and nothing is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import click
from click.shell_completion import CompletionItem

from adsunify.client.options import RemoteOptions
from adsunify.errors import AdsunifyError

from .options import Target, read_target

if TYPE_CHECKING:
    from adsunify.client import Ads

TIMEOUT_SECONDS = 3.0
"""The most seconds that a server may take."""
MAX_OPERATIONS = 50
"""How many of the latest operations are offered as completions."""


class Name(click.ParamType[str]):
    """A parameter that names an object. ``list_items`` returns the names that begin with a text."""

    name = "text"

    def __init__(self, list_items: Callable[[Ads, str], Iterator[CompletionItem]]) -> None:
        self._list_items = list_items

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text; the command resolves it."""
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin with the incomplete one."""
        with suppress(AdsunifyError, OSError), ctx.scope(cleanup=False):
            target = _find_target(ctx)
            if target is not None:
                options = RemoteOptions(timeout=TIMEOUT_SECONDS, max_retries=0) if target.is_remote else RemoteOptions()
                with target.make_client(**options) as client:
                    return list(self._list_items(client, incomplete))
        return []


def _find_target(ctx: click.Context) -> Target | None:
    """Return the store or server of the command; None for an SQLite file that does not exist."""
    if "server" not in ctx.params:
        return None
    target = read_target(*(ctx.params[name] for name in ("database", "server", "token", "workspace")))
    parts = urlsplit(target.url)
    is_missing = parts.scheme == "sqlite" and not Path(unquote(parts.path[1:])).exists()
    return None if is_missing else target


def _list_accounts(client: Ads, incomplete: str) -> Iterator[CompletionItem]:
    for account in client.accounts.list():
        label = f"{account.network}:{account.name or account.native_id}"
        for value in (account.account_id, account.native_id):
            if value.startswith(incomplete) and (incomplete or value == account.account_id):
                yield CompletionItem(value, help=label)


def _list_operations(client: Ads, incomplete: str) -> Iterator[CompletionItem]:
    for operation in islice(client.operations.list(limit=MAX_OPERATIONS), MAX_OPERATIONS):
        if operation.id.startswith(incomplete):
            yield CompletionItem(operation.id, help=f"{operation.action} on {operation.network}, {operation.status}")


ACCOUNT = Name(_list_accounts)
OPERATION = Name(_list_operations)
account_argument = click.argument("account", type=ACCOUNT)
operation_argument = click.argument("operation", type=OPERATION)
