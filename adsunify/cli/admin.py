"""``adsunify admin`` and ``adsunify db``: administration of a store."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

import click

from adsunify import encryption
from adsunify.actor import Role
from adsunify.errors import invalid_input
from adsunify.review.names import choose_row
from adsunify.service import accounts, key_rotation, restoring, times, users
from adsunify.service.core import format_timestamp
from adsunify.service.factory import (
    SECRET_KEYS_VARIABLE,
    StoreTask,
    UpgradePlan,
    check_upgrade,
    load_key_ring,
    ring_file_path,
    run_with_store,
    upgrade_database,
)
from adsunify.values.exact_json import Json, dumps

from . import output
from .completion import account_argument
from .options import SecretParam, database_option, json_option
from .progress import show_progress
from .suggestions import Choice, CommandGroup

T = TypeVar("T")
workspace_option = click.option("--workspace", required=True, metavar="NAME", help="The workspace's name.")
email_option = click.option("--email", required=True, help="The person's e-mail address.")
password_option = click.option(
    "--password",
    envvar="ADSUNIFY_PASSWORD",
    show_envvar=True,
    type=SecretParam(),
    help="The password; - asks for it. A person without one gets a new one.",
)


def run_task(database: str, task: StoreTask[T], *, allow_wrong_times: bool = False) -> T:
    """Open and migrate the store, run the task on it, and close it."""
    with show_progress("Working on the database"):
        return asyncio.run(run_with_store(database, task, allow_wrong_times=allow_wrong_times))


@click.group(cls=CommandGroup)
def admin() -> None:
    """Manage workspaces, people, accounts and keys."""


# -- people -------------------------------------------------------------------------------------------------------


@admin.command("init")
@workspace_option
@click.option("--email", required=True, help="The first admin's e-mail address.")
@password_option
@database_option
@json_option
def init(workspace: str, email: str, password: str | None, database: str, as_json: bool) -> None:
    """Create a workspace with its first admin.

    The password and an API key with write access are shown only once. A workspace that has people is refused:
    `adsunify admin user` adds people to it.
    """
    _print_result(run_task(database, lambda store: users.create_workspace(store, workspace, email, password)), as_json)


USER_HELP = """\
Manage the people of a workspace.

\b
add       (the default) add a person, with an API key for the role; secrets are shown only once
role      give a member the role of --role, which also limits the member's keys
password  give a member a new password, shown only once; the member's sessions end
remove    remove a member: sessions, grants and keys there end at once, for good

The last admin of a workspace can neither be removed nor get a lower role.
"""


@admin.command("user", help=USER_HELP)
@click.argument("action", default="add", type=Choice(["add", "role", "password", "remove"]))
@workspace_option
@email_option
@click.option("--role", type=Choice(["viewer", "member", "admin"]), help="The role.  [default: member]")
@password_option
@database_option
@json_option
def user(
    action: str, workspace: str, email: str, role: Role | None, password: str | None, database: str, as_json: bool
) -> None:
    """Add a person to a workspace, change a role, replace a password, or remove a member."""
    if action == "role" and role is None:
        raise invalid_input("--role", "required", "is required with role: viewer, member or admin.")
    tasks: dict[str, StoreTask[dict[str, Json]]] = {
        "add": lambda store: users.add_member(store, workspace, email, role or "member", password),
        "role": lambda store: users.change_role(store, workspace, email, role or "member"),
        "password": lambda store: users.reset_password(store, workspace, email, password),
        "remove": lambda store: users.remove_member(store, workspace, email),
    }
    _print_result(run_task(database, tasks[action]), as_json)


@admin.command("workspace")
@click.option("--workspace", metavar="NAME", help="The workspace's name; optional where there is only one.")
@click.option(
    "--require-approval/--no-require-approval",
    "required",
    default=None,
    help="Whether a person must approve an operation before it is executed.",
)
@database_option
@json_option
def workspace_(workspace: str | None, required: bool | None, database: str, as_json: bool) -> None:
    """Show or change the rules of a workspace."""
    _print_result(run_task(database, lambda store: users.set_approval_rule(store, workspace, required)), as_json)


@admin.command("account")
@account_argument
@click.argument("extras", nargs=-1, metavar="[K=V]...")
@click.option("--unset", multiple=True, metavar="K", help="Restore the value that the network reported on connecting.")
@database_option
@json_option
def account_(account: str, extras: tuple[str, ...], unset: tuple[str, ...], database: str, as_json: bool) -> None:
    """Set the extras of an ad account.

    Extras are native facts that plans for ACCOUNT need. `adsunify networks NETWORK` lists the extras of a network;
    others are refused.
    """
    changes: dict[str, str | None] = dict.fromkeys(unset)
    for assignment in extras:
        name, equals, value = assignment.partition("=")
        if not equals or name in changes:
            raise invalid_input(name, "malformed", "must be written K=V, once for each K.")
        changes[name] = value
    if not changes:
        raise invalid_input("K=V", "required", "is required: an extra to set, or --unset K.")

    async def change_extras(store: Any) -> Json:
        account_id = choose_row(account, await accounts.list_all_accounts(store))
        return await accounts.set_account_extras(store, account_id, changes)

    updated = run_task(database, change_extras)
    output.print_result(updated, as_json, [output.accounts_table([updated]), _extras_table(updated)])


def _extras_table(account: Mapping[str, Json]) -> output.TextTable:
    return output.make_table((output.Column("extra"), output.Column("value")), account["extras"].items())


@admin.command("clock")
@click.option("--repair", is_flag=True, help="Set these times to the present. Stop all servers first.")
@database_option
@json_option
@click.pass_context
def clock(ctx: click.Context, repair: bool, database: str, as_json: bool) -> None:
    """Show times in the database that are ahead of this machine's clock.

    A wrong clock wrote them. They prevent servers from starting and operations from being executed. Make sure that this
    machine's clock is right, then repair them with --repair. Rows that were created ahead of time keep their lifetime,
    counted from the present; operations that were prepared ahead of time expire. Receipts and delivery attempts keep
    their recorded times. Exit code 1: times are ahead.
    """
    wall, columns = run_task(database, partial(times.find_future_times, repair=repair), allow_wrong_times=True)
    report = {
        "clock": format_timestamp(wall),
        "ahead": [
            {
                "table": column.table,
                "column": column.column,
                "rows": column.rows,
                "latest": format_timestamp(column.latest),
            }
            for column in columns
        ],
        "repaired": repair,
    }
    if as_json:
        click.echo(dumps(report))
    else:
        click.echo(f"This machine's clock says {report['clock']}.")
        for column in columns:
            click.echo(
                f"{column.table}.{column.column}: {column.rows} ahead, the latest at {format_timestamp(column.latest)}"
            )
        if not columns:
            click.echo("No time in the database is ahead of it.")
        elif repair:
            click.echo("They were set to the present.")
    ctx.exit(1 if columns and not repair else 0)


def _print_result(result: dict[str, Json], as_json: bool) -> None:
    if as_json:
        click.echo(dumps(result))
        return
    for name, value in result.items():
        text = value if isinstance(value, str) else dumps(value)
        click.echo(f"{name:16} {'(unchanged)' if value is None else text}")


# -- keys ---------------------------------------------------------------------------------------------------------


@admin.group("keys", cls=CommandGroup)
def keys() -> None:
    """Manage the key ring that encrypts credentials."""


@keys.command("new")
@database_option
@json_option
def new(database: str, as_json: bool) -> None:
    """Create a new key for the front of the ring, or the first key.

    Where the ring is the file beside an SQLite database, the key is added to the file: restart the server, then run
    `adsunify admin keys rotate`. Where the ring is ADSUNIFY_SECRET_KEYS, or there is no ring yet, the key is shown only
    once, for you to add it.
    """
    ring, file = os.environ.get(SECRET_KEYS_VARIABLE), ring_file_path(database)
    if ring:
        encryption.parse_key_ring(ring)
    elif file is not None and file.exists():
        _print_result({"newest": encryption.add_key(file).newest_id, "file": str(file)}, as_json)
        return
    ((id_, key),) = encryption.make_key_ring().keys.items()
    _print_result({"newest": id_, "key": encryption.format_key(id_, key)}, as_json)
    if ring:
        place = f"in front of the others in {SECRET_KEYS_VARIABLE}"
    else:
        nowhere = SECRET_KEYS_VARIABLE if file is None else f"{SECRET_KEYS_VARIABLE}, and no file {file}"
        click.echo(f"There is no key ring yet: no {nowhere}.", err=True)
        place = f"into {SECRET_KEYS_VARIABLE} wherever adsunify runs"
    click.echo(f"Put the key {place}, and keep it: connections do not work without it.", err=True)


@keys.command("rotate")
@click.option(
    "--batch",
    default=key_rotation.BATCH_SIZE,
    show_default=True,
    type=click.IntRange(1, 10_000),
    help="Secrets per transaction.",
)
@database_option
@json_option
@click.pass_context
def rotate(ctx: click.Context, batch: int, database: str, as_json: bool) -> None:
    """Encrypt every stored secret again, with the newest key.

    Servers can keep running if all of them already have the new key; SECURITY.md says how. The command can be stopped
    at any time and started again. After it, the older keys can be removed from the ring. Exit code 1: some secrets
    could not be decrypted; keep the older keys.
    """
    ring = load_key_ring(database, os.environ)
    words = "Encrypting the secrets again"
    with show_progress(words) as progress:

        def update_progress(done: int, total: int) -> None:
            progress.describe(f"{words}: {done:,} of {total:,}")

        result = asyncio.run(
            run_with_store(database, lambda store: key_rotation.rotate_keys(store, ring, update_progress, batch))
        )
    unused_keys = [id_ for id_, count in result.remaining.items() if not count]
    if as_json:
        click.echo(dumps(result.to_json()))
    else:
        click.echo(
            f"{result.reencrypted} secrets were encrypted again; {result.under_newest} are now under {result.newest}."
        )
        if unused_keys and not result.unreadable:
            click.echo(
                f"No secret is under {', '.join(unused_keys)} any more. Remove it from the ring of every server."
            )
    for secret in result.unreadable:
        click.echo(f"No key of the ring decrypts {secret}", err=True)
    ctx.exit(1 if result.unreadable else 0)


# -- the database -------------------------------------------------------------------------------------------------


@click.group(cls=CommandGroup)
def db() -> None:
    """Manage the database."""


UPGRADE_NEEDED_EXIT_CODE = 3


@db.command("upgrade")
@click.option("--check", is_flag=True, help="Show what an upgrade would do, and change nothing.")
@click.option("--expanding", is_flag=True, help="Refuse if servers of the old version would have to be stopped first.")
@database_option
@json_option
@click.pass_context
def upgrade(ctx: click.Context, check: bool, expanding: bool, database: str, as_json: bool) -> None:
    """Upgrade the database to this version's schema.

    `adsunify serve` and all other commands run expanding migrations too: servers of older versions keep working.
    Only this command, without --expanding, runs contracting migrations: stop these servers first. With --check the
    exit code is 3 if migrations are missing, and 0 if none is.
    """
    plan = asyncio.run(check_upgrade(database))
    if not check:
        with show_progress("Upgrading the database"):
            asyncio.run(upgrade_database(database, run_contracting=not expanding))
    if as_json:
        click.echo(dumps(_upgrade_to_json(plan, is_upgraded=not check)))
    else:
        for line in _describe_upgrade(plan) if check else ["The database is up to date."]:
            click.echo(line)
    ctx.exit(UPGRADE_NEEDED_EXIT_CODE if check and plan.migrations else 0)


def _upgrade_to_json(plan: UpgradePlan, is_upgraded: bool) -> dict[str, Json]:
    return {
        "migration": plan.version,
        "newestMigration": plan.head_version,
        "upgraded": is_upgraded,
        "migrations": [
            {"migration": migration.version, "kind": migration.kind, "summary": migration.summary}
            for migration in plan.migrations
        ],
        "serversMayKeepServing": plan.version is not None and not plan.contracting,
        "oldestMigrationOfServers": plan.oldest_version,
    }


def _describe_upgrade(plan: UpgradePlan) -> Iterator[str]:
    place = "The database is empty." if plan.version is None else f"The database is at migration {plan.version}."
    yield f"{place} This version of adsunify has migration {plan.head_version}."
    if plan.version is None:
        yield f"An upgrade creates its tables with {len(plan.migrations)} migrations."
        return
    for migration in plan.migrations:
        yield f"  {migration.version}  {migration.kind:11}  {migration.summary}"
    if not plan.migrations:
        yield "No migration is missing."
    elif plan.contracting:
        yield f"Stop all servers and workers of versions before migration {plan.oldest_version}, then upgrade."
    else:
        yield "All migrations are expanding: servers and workers may keep running during the upgrade."
    when = "After the upgrade, servers" if plan.migrations else "Servers"
    yield f"{when} of versions from migration {plan.oldest_version} on may use the database."


@db.command("restored")
@click.option("--confirmed", is_flag=True, help="Mark the operations. Without it, the command is refused.")
@database_option
@json_option
def mark_restored(database: str, confirmed: bool, as_json: bool) -> None:
    """Tell a database that it was restored from a backup, before a server starts with it.

    The backup holds operations as prepared that may have been executed after it. They become unknown, so that nobody
    executes them again, and no operation that had not succeeded can be resumed. Open change sets are cancelled, and all
    sessions end. Keys and agents' grants that were revoked after the backup are valid again: revoke them again.
    """
    if not confirmed:
        message = "is required: it cannot be taken back. Never use it on a database that was not restored."
        raise invalid_input("--confirmed", "required", message)
    _print_result(run_task(database, restoring.mark_restored), as_json)
