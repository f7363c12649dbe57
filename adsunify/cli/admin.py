"""``adsunify admin`` and ``adsunify db``: set-up and upkeep of a store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import click

from adsunify.actor import Role
from adsunify.service import people
from adsunify.service.opening import DATABASE
from adsunify.store import Store, open_store
from adsunify.wire import Json, dumps

T = TypeVar("T")
DEFAULT_DATABASE = "sqlite:///adsunify.db"
database_option = click.option(
    "--database", envvar=DATABASE, default=DEFAULT_DATABASE, show_default=True, help="Where everything is kept."
)
password_option = click.option(
    "--password", envvar="ADSUNIFY_PASSWORD", help="The password; one is made for whoever has none."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def with_store(database: str, work: Callable[[Store], Awaitable[T]]) -> T:
    """Open (and migrate) the store, do the work, close it."""

    async def run() -> T:
        store = await open_store(database)
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())


@click.group()
def admin() -> None:
    """Set up workspaces and people."""


@admin.command("init")
@click.option("--workspace", required=True, help="The workspace's name.")
@click.option("--email", required=True, help="The first admin's e-mail address.")
@password_option
@database_option
@json_option
def init(workspace: str, email: str, password: str | None, database: str, as_json: bool) -> None:
    """Make a workspace with its first admin and a write-enabled API key, all shown this once."""
    made = with_store(database, lambda store: people.add(store, workspace, email, "admin", password))
    _show(made, as_json)


@admin.command("user")
@click.option("--workspace", required=True, help="The workspace's name.")
@click.option("--email", required=True, help="The person's e-mail address.")
@click.option("--role", type=click.Choice(["viewer", "member", "admin"]), default="member", show_default=True)
@password_option
@database_option
@json_option
def user(workspace: str, email: str, role: Role, password: str | None, database: str, as_json: bool) -> None:
    """Add a person to a workspace, with an API key that may do what the role may, all shown this once."""
    made = with_store(database, lambda store: people.add(store, workspace, email, role, password))
    _show(made, as_json)


def _show(made: dict[str, Json], as_json: bool) -> None:
    if as_json:
        click.echo(dumps(made))
        return
    for name, value in made.items():
        click.echo(f"{name:12} {'(as it was)' if value is None else value}")


@click.group()
def db() -> None:
    """Look after the database."""


@db.command("upgrade")
@database_option
def upgrade(database: str) -> None:
    """Bring the database to this version's schema (serve does so too)."""

    async def nothing(store: Store) -> None:
        return None

    with_store(database, nothing)
    click.echo("The database is up to date.")
