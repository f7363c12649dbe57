"""Upgrades the schema of an open store, also while servers use the database."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from itertools import takewhile

from attrs import frozen

from adsunify.errors import StoreError

from .driver import Store
from .migrate import (
    HEAD_VERSION,
    Migration,
    MigrationBlocked,
    SchemaState,
    find_oldest_version,
    list_migrations,
    read_schema_state,
    run_migrations,
)

PAUSE_SECONDS = 0.1
"""The pause until the next check while another process migrates."""
LOCK_PAUSE_SECONDS = 1.0
"""The pause after a table could not be locked. Requests can use the table during the pause."""
LOCK_ATTEMPTS = 60


@frozen
class UpgradePlan:
    """The steps of an upgrade of a database.

    Attributes:
        version: the newest migration of the database; None if it is empty.
        head_version: the newest migration of this version of adsunify.
        migrations: the migrations that an upgrade runs, in this order.
        oldest_version: the oldest version of the schema whose servers may use the database after the upgrade.
    """

    version: str | None
    head_version: str
    migrations: Sequence[Migration]
    oldest_version: str

    @property
    def contracting(self) -> Sequence[Migration]:
        """The migrations before which servers of older versions must be stopped.

        None for an empty database, which has no servers.
        """
        return (
            []
            if self.version is None
            else [migration for migration in self.migrations if migration.kind == "contracting"]
        )


def plan_upgrade(state: SchemaState) -> UpgradePlan:
    """Plan the upgrade of a database.

    Raises:
        StoreError: a newer version of adsunify has migrated the database, and this version cannot use it.
    """
    if not state.is_outdated and (mismatch := state.explain_mismatch()) is not None:
        raise StoreError(mismatch)
    migrations = list_migrations()
    pending = [migration for migration in migrations if migration.version > (state.version or "")]
    oldest = state.oldest_version or find_oldest_version(migrations, HEAD_VERSION)
    return UpgradePlan(state.version, HEAD_VERSION, pending, oldest)


async def upgrade_schema(store: Store, *, run_contracting: bool) -> None:
    """Run the missing migrations. Migrations in a transaction are stored together or not at all.

    On PostgreSQL a migration waits half a second for the lock of a table, and tries again after a pause. So requests to
    that table wait, and none fails.

    Raises:
        StoreError: a newer version of adsunify has migrated the database, and this version cannot use it; a migration
            is contracting, and ``run_contracting`` is false; or a table stayed locked.
    """
    blocked, was_empty = 0, False
    while True:
        state = await store.read(read_schema_state)
        if state.explain_mismatch() is None:
            return
        plan = plan_upgrade(state)
        was_empty = was_empty or plan.version is None  # an empty database has no servers
        if plan.contracting and not run_contracting and not was_empty:
            raise _contracting_error(plan)
        batch = _take_batch(plan.migrations)
        try:
            await store.upgrade(partial(run_migrations, before=state, migrations=batch), batch[0].in_transaction)
        except MigrationBlocked as lock:
            blocked += not lock.by_migration
            if blocked == LOCK_ATTEMPTS:
                raise _locked_error(batch) from lock
            await asyncio.sleep(PAUSE_SECONDS if lock.by_migration else LOCK_PAUSE_SECONDS)


def _take_batch(migrations: Sequence[Migration]) -> Sequence[Migration]:
    """Return the next migrations that run in one transaction; only the first one if it runs without a transaction."""
    return list(takewhile(lambda migration: migration.in_transaction, migrations)) or migrations[:1]


def _contracting_error(plan: UpgradePlan) -> StoreError:
    versions = ", ".join(migration.version for migration in plan.contracting)
    return StoreError(
        f"The database is at migration {plan.version}, and this version of adsunify needs {plan.head_version}. Servers "
        f"of older versions cannot use the database after migration {versions}. Stop all servers and workers before "
        f"migration {plan.oldest_version}, then run `adsunify db upgrade`. `adsunify db upgrade --check` shows what it "
        "does."
    )


def _locked_error(migrations: Sequence[Migration]) -> StoreError:
    return StoreError(
        f"Migration {migrations[0].version} could not get the lock of a table in {LOCK_ATTEMPTS} attempts, because "
        "other transactions held it. Nothing was changed by it. Find long transactions in pg_stat_activity, end them, "
        "and run `adsunify db upgrade` again."
    )
