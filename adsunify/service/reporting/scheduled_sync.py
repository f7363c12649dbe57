"""The job of a worker that syncs the daily figures that are due, and deletes old versions after their retention."""

from __future__ import annotations

import asyncio
import logging
from datetime import date, timedelta

from attrs import define

from adsunify.errors import StoreError
from adsunify.service.core import Service
from adsunify.store import connections, kept_figures
from adsunify.store.kept_figures import FigureSubject

from .keeping import list_accounts, list_levels, sync_accounts

CHECK_SECONDS = 900.0
"""The wait between two checks for due syncs. Failed syncs are repeated then."""
HOUR_MILLISECONDS = 3_600_000
DELETION_MILLISECONDS = 24 * HOUR_MILLISECONDS
"""The wait between two deletions of old versions, which go through all stored days."""
DELETED_DAYS = 7
"""The days whose old versions one transaction deletes."""
_LOGGER = logging.getLogger("adsunify.worker")


@define(eq=False)
class ScheduledSync:
    """Syncs each level of each connected account again after ``Settings.insights_sync_hours``; 0 switches it off.

    Any number of workers may run it on one database: an account that one worker has synced is not due for the others.
    """

    service: Service
    deleted_at: int = 0

    async def run(self) -> None:
        """Sync and delete until the task is cancelled. If the database does not answer, try again later."""
        settings = self.service.settings
        if not settings.insights_sync_hours and not settings.insights_retention_days:
            return
        while True:
            try:
                await self.sync_due()
                if self.service.store.clock.now() - self.deleted_at >= DELETION_MILLISECONDS:
                    await self.delete_old_versions()
                    self.deleted_at = self.service.store.clock.now()
            except StoreError as problem:
                _LOGGER.warning("daily figures were not synced: %s", problem.message)
            await asyncio.sleep(CHECK_SECONDS)

    async def sync_due(self) -> None:
        """Sync the levels that are due."""
        store, hours = self.service.store, self.service.settings.insights_sync_hours
        if not hours:
            return
        before = store.clock.now() - hours * HOUR_MILLISECONDS
        subjects = []
        for account in await list_accounts(self.service):
            reads = {
                level: await store.read(kept_figures.find_last_read, FigureSubject(account.id, level))
                for level in list_levels(account)
            }
            due = [level for level, read_at in reads.items() if read_at is None or read_at <= before]
            if due:
                subjects.append((account, due))
        async for result in sync_accounts(self.service, subjects):
            members = {"accountId": result.account.id, "level": result.level, "versions": result.versions}
            if result.error is None:
                _LOGGER.info("daily figures: %s", result.state, extra={"members": members})
            else:
                _LOGGER.warning("daily figures: %s", result.error.message, extra={"members": members})

    async def delete_old_versions(self) -> None:
        """Delete versions that were replaced before the retention."""
        store, retention = self.service.store, self.service.settings.insights_retention_days
        if not retention:
            return
        before = store.clock.now() - retention * 24 * HOUR_MILLISECONDS
        for account in await store.read(connections.list_all_accounts):
            for level in list_levels(account):
                subject = FigureSubject(account.id, level)
                days = await store.read(kept_figures.find_kept_days, subject)
                if days is None:
                    continue
                first, last = map(date.fromisoformat, days)
                while first <= last:
                    end = min(first + timedelta(days=DELETED_DAYS - 1), last)
                    some_days = first.isoformat(), end.isoformat()
                    await store.write(kept_figures.delete_old_versions, subject, some_days, before)
                    first = end + timedelta(days=1)
