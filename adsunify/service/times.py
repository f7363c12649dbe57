"""Times in the database that are ahead of the machine's clock."""

from __future__ import annotations

from adsunify.store import Store, ahead
from adsunify.store.ahead import Ahead


async def look(store: Store, repair: bool) -> tuple[int, list[Ahead]]:
    """The machine's clock in milliseconds, and the columns with times ahead of it, as they were before a repair."""
    wall = store.clock.wall()
    found = await store.read(ahead.find_ahead, wall)
    if repair and found:
        await store.write(ahead.repair, wall)
    return wall, found
