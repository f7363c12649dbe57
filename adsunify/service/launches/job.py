"""Works on change sets under their leases, so that another process takes over the change sets of a killed process."""

from __future__ import annotations

import asyncio
import logging

from attrs import define

from adsunify.errors import StoreError
from adsunify.service.core import Service
from adsunify.store import change_set_runs, change_sets
from adsunify.store.change_set_runs import LeaseLost
from adsunify.store.change_sets import Claim

from .execution import execute_members
from .preparation import prepare_members

POLL_SECONDS = 2.0
"""The wait between two searches for change sets whose lease has expired."""
_LOGGER = logging.getLogger("adsunify.worker")


def begin_work(service: Service, claim: Claim) -> None:
    """Prepare or execute a change set in the background."""
    service.run_in_background(work_on_change_set(service, claim))


async def work_on_change_set(service: Service, claim: Claim) -> None:
    """Prepare or execute a change set, and renew its lease until the work has ended or another process has the lease.

    If the service is closed or the database fails, the lease is released, and another process takes over.
    """
    store, lease = service.store, service.settings.lease
    work = asyncio.create_task(_work(service, claim))
    try:
        while not (await asyncio.wait((work,), timeout=lease / 3000))[0]:
            if not await store.write(change_set_runs.renew_lease, claim, lease, store.clock):
                return
        work.result()
    except LeaseLost:
        return
    except StoreError as problem:
        _LOGGER.warning("a change set was not finished: %s", problem.message)
    finally:
        if not work.done():
            work.cancel()
            await asyncio.wait((work,))
            await store.write(change_set_runs.renew_lease, claim, 0, store.clock)


async def _work(service: Service, claim: Claim) -> None:
    record = await service.store.read(change_sets.read_change_set, claim.change_set_id, service.store.clock)
    if record.status == "preparing":
        await prepare_members(service, claim, record)
    elif record.status == "running":
        await execute_members(service, claim, record)


@define(eq=False)
class LaunchJob:
    """Takes over change sets whose lease has expired. Any number of processes may run it on one database."""

    service: Service

    async def run(self) -> None:
        """Take over until the task is cancelled. If the database does not answer, try again later."""
        while True:
            await asyncio.sleep(POLL_SECONDS)  # first: a program that ends at once takes over nothing
            try:
                await self.take_over()
            except StoreError as problem:
                _LOGGER.warning("change sets were not looked for: %s", problem.message)

    async def take_over(self) -> None:
        """Begin to work on every change set whose lease has expired."""
        store = self.service.store
        for change_set_id in await store.read(change_set_runs.list_due, store.clock):
            lease = self.service.settings.lease
            claim = await store.write(change_set_runs.claim_change_set, change_set_id, lease, store.clock)
            if claim is not None:
                begin_work(self.service, claim)
