"""A server on each engine whose people can sign in, with an account connected in both workspaces."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from adsunify.service.rate_limits import RateLimiter, RateLimits
from tests.pages.browsing import set_passwords
from tests.server.conftest import database
from tests.server.served import Served, connect, serve_api

__all__ = ["both", "database", "quiet"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def both(database: str) -> AsyncIterator[Served]:
    """A server on each engine, with meta in both workspaces and snapchat in ``shop``."""
    async with serve_api(database) as server:
        await set_passwords(server)
        for person in ("admin", "stranger"):
            await connect(server, "meta", person)
        await connect(server, "snapchat")
        lift_rate_limits(server)
        yield server


def lift_rate_limits(server: Served) -> None:
    """Lift the rate limits: how much these tests ask is not what they try."""
    service = server.service
    service.rate_limiter = RateLimiter(RateLimits(0, 0, 0, 0), service.counters, service.store.clock.wall)


@pytest.fixture(autouse=True)
def quiet(both: Served) -> None:
    """No fault is left over from the test before."""
    both.networks.state.faults.pending.clear()
