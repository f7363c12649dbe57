"""Workers that die at every point of a delivery: nothing is lost, and what comes twice has the same id.

The small version; ``python -m tests.system.webhooks`` (``nox -s webhooks``) has four thousand events on four workers.
"""

from __future__ import annotations

import pytest

from .crashing import crash_workers
from .world import World

WORKERS = {"sqlite": 2, "postgresql": 3}


@pytest.mark.exhaustive
async def test_killed_workers_lose_nothing(shop: World, database: str, engine: str) -> None:
    happened = await crash_workers(shop, database, events=400, workers=WORKERS[engine], kills=5, after=10)
    assert happened["attempts"] >= happened["arrived"] >= happened["events"]


pytestmark = pytest.mark.timeout(300)
