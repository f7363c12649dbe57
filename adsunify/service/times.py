"""Finds and repairs times in the database that are ahead of the machine's clock."""

from __future__ import annotations

from adsunify.store import Store, ahead
from adsunify.store.ahead import FutureColumn


async def find_future_times(store: Store, repair: bool) -> tuple[int, list[FutureColumn]]:
    """Return the machine's clock in milliseconds, and the columns that have times ahead of it.

    With ``repair``, these times are repaired after the search.
    """
    wall = store.clock.wall()
    columns = await store.read(ahead.find_future_columns, wall)
    if repair and columns:
        await store.write(ahead.repair_future_times, wall)
    return wall, columns
