"""What a claim costs the database."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text

from adsunify.store import deliveries

from .receiving import Receiver
from .world import World

CLAIMS = 12
"""PostgreSQL makes up its mind after five."""
PLANS = text("SELECT generic_plans FROM pg_prepared_statements WHERE statement LIKE 'WITH RECURSIVE waiting%'")


def _list_cached_plans(connection: Connection) -> list[int]:
    """How often the question for what is due was asked as it had been planned before."""
    return [row.generic_plans for row in connection.execute(PLANS)]


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_postgresql_plans_the_question_for_what_is_due_once(shop: World, receiver: Receiver) -> None:
    store = shop.service.store
    await shop.subscribe(receiver.url)
    await shop.happen(CLAIMS)
    for _ in range(CLAIMS):
        assert len(await store.write(deliveries.claim_deliveries, store.clock, 1)) == 1
    plans = await store.write(_list_cached_plans)
    assert plans and all(plans), plans
