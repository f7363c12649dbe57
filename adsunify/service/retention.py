"""Deletes rows after their retention, kind by kind, in small transactions beside running servers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence

from attrs import define, evolve, frozen
from sqlalchemy import Connection

from adsunify.errors import StoreError
from adsunify.service.core import Service
from adsunify.service.serializers import make_plan_remains
from adsunify.store import Store, attempts, operations
from adsunify.store.clock import Clock
from adsunify.store.removed_bodies import PlanRemains, remove_plan
from adsunify.store.retention import RULES, RetentionKind, RetentionRule, delete_due_page, find_due_page
from adsunify.values.exact_json import Json

DAY_MILLISECONDS = 24 * 60 * 60 * 1000
HOUR_SECONDS = 3600.0
PLANS_PER_TRANSACTION = 50
"""How many plans are read, and then removed in one transaction."""
_LOGGER = logging.getLogger("adsunify.worker")


@frozen
class MaintenanceResult:
    """The result of one run for one kind.

    Attributes:
        kind: the kind.
        days: its retention in days; 0 keeps everything.
        count: how many rows were deleted, or how many operations lost a body; for a dry run, how many would be deleted
        or lose a body.
    """

    kind: RetentionKind
    days: int
    count: int = 0

    def to_json(self) -> dict[str, Json]:
        """Return the result as the command line prints it."""
        return {"kind": self.kind, "days": self.days, "count": self.count}


def describe_rules() -> str:
    """Return a line for each kind: its name, the default of its retention, and the data that is deleted."""
    return "\n".join(f"{rule.kind:12} {rule.days:3} days  {rule.removes}" for rule in RULES)


async def delete_due(
    store: Store,
    days: Mapping[RetentionKind, int],
    *,
    is_dry_run: bool = False,
    announce: Callable[[MaintenanceResult], None] = lambda result: None,
) -> list[MaintenanceResult]:
    """Delete everything whose retention is over.

    It can be stopped and started at any time, and several runs at the same time do no harm.

    Args:
        store: the store.
        days: the retention of each kind in days; 0 keeps everything.
        is_dry_run: only count.
        announce: called after each page with the result so far.

    Raises:
        StoreError: the database failed. What was deleted before stays deleted.
    """
    results = []
    for rule in RULES:
        result = MaintenanceResult(rule.kind, days[rule.kind])
        before = store.clock.wall() - result.days * DAY_MILLISECONDS
        after: str | None = ""
        while result.days and after is not None:
            after, count = await _handle_page(store, rule, after, before, is_dry_run)
            result = evolve(result, count=result.count + count)
            announce(result)
            await asyncio.sleep(0)
        results.append(result)
    return results


async def _handle_page(
    store: Store, rule: RetentionRule, after: str, before: int, is_dry_run: bool
) -> tuple[str | None, int]:
    """Handle one page of a rule. Returns its last key, None after the last page, and how many rows were due."""
    if not is_dry_run and rule.kind != "plans":
        page = await store.write(delete_due_page, rule, after, before, store.clock.wall())
        return page.last_key, len(page.due)
    page = await store.read(find_due_page, rule, after, before)
    if is_dry_run:
        return page.last_key, len(page.due)
    parts = [
        page.due[start : start + PLANS_PER_TRANSACTION] for start in range(0, len(page.due), PLANS_PER_TRANSACTION)
    ]
    removed = 0
    for ids in parts:
        remains = await store.read(_read_remains, ids, store.clock)
        removed += await store.write(_remove_plans, remains, before, store.clock.wall())
    return page.last_key, removed


def _read_remains(connection: Connection, ids: Sequence[str], clock: Clock) -> dict[str, PlanRemains]:
    """Return the parts of the plans of operations that are not removed.

    A plan that does not match its digest is left as it is.
    """
    records = operations.list_operations_by_id(connection, ids, clock, has_plans=True)
    step_attempts = attempts.list_attempts_by_operation(connection, ids)
    remains = {}
    for id_, record in records.items():
        try:
            remains[id_] = make_plan_remains(record, step_attempts[id_])
        except ValueError as damage:
            _LOGGER.warning("the plan of operation %s is kept: %s", id_, damage)
    return remains


def _remove_plans(connection: Connection, remains: Mapping[str, PlanRemains], before: int, now: int) -> int:
    return sum(remove_plan(connection, id_, plan_remains, before, now) for id_, plan_remains in remains.items())


@define(eq=False)
class MaintenanceJob:
    """Deletes due rows every ``Settings.maintenance_hours``; 0 switches it off.

    Any number of workers may run it on one database.
    """

    service: Service

    async def run(self) -> None:
        """Delete until the task is cancelled. If the database does not answer, try again after the pause."""
        settings = self.service.settings
        while settings.maintenance_hours:
            try:
                for result in await delete_due(self.service.store, settings.retention_days):
                    if result.count:
                        _LOGGER.info("retention", extra={"members": result.to_json()})
            except StoreError as problem:
                _LOGGER.warning("retention has not run to its end: %s", problem.message)
            await asyncio.sleep(settings.maintenance_hours * HOUR_SECONDS)
