"""Seals the ledger: gives its rows their numbers and chained hashes, apart from the transactions that insert them."""

from __future__ import annotations

import asyncio
import logging

from attrs import define

from adsunify.errors import StoreError
from adsunify.service.core import Service
from adsunify.store import Store
from adsunify.store.ledger_chain import list_unsealed_workspaces, seal_rows

SEAL_SECONDS = 30.0
"""The wait between two searches for rows that are not sealed."""
BATCH_SIZE = 500
"""The maximum number of rows that one transaction seals, so that other writers do not wait long."""
_LOGGER = logging.getLogger("adsunify.worker")


async def seal_workspace(store: Store, workspace_id: str) -> int:
    """Seal the rows of a workspace, and return their number. Rows that are inserted during the call may stay unsealed.

    Raises:
        StoreError: the database failed. Rows that were sealed before stay sealed, and another call goes on after them.
    """
    total = 0
    while (sealed := await store.write(seal_rows, workspace_id, BATCH_SIZE)) == BATCH_SIZE:
        total += sealed
    return total + sealed


@define(eq=False)
class LedgerSealer:
    """Seals the ledgers of all workspaces. Any number of workers may run it on one database."""

    service: Service

    async def run(self) -> None:
        """Seal until the task is cancelled. If the database does not answer, try again later."""
        while True:
            await asyncio.sleep(SEAL_SECONDS)
            try:
                await self.seal_all()
            except StoreError as problem:
                _LOGGER.warning("the ledger was not sealed: %s", problem.message)

    async def seal_all(self) -> None:
        """Seal the rows of all workspaces once."""
        for workspace_id in await self.service.store.read(list_unsealed_workspaces):
            await seal_workspace(self.service.store, workspace_id)
