"""Alerts through the client: the same over a store and over a server."""

from __future__ import annotations

from decimal import Decimal

import pytest

from adsunify import AlertScope, AsyncAds
from adsunify.errors import InvalidInput, NotFound
from tests.server.served import Served

from .conftest import DOORS

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("door", DOORS)
async def test_an_alert_is_made_changed_and_deleted(server: Served, clients: dict[str, AsyncAds], door: str) -> None:
    client, account = clients[door], server.accounts["meta"]
    scope = AlertScope(account_ids=[account])
    alert = await client.alerts.create(name="Fast", kind="paceAbove", scope=scope, percent=Decimal("120.5"))
    try:
        assert (alert.kind, alert.level, alert.percent) == ("paceAbove", "campaign", Decimal("120.5"))
        assert await client.alerts.list().all() == [alert]
        assert (alert.last_evaluated_at, [gap.account_id for gap in alert.not_evaluated]) == (None, [account])
        changed = await client.alerts.update(alert, active=False, percent=150)
        assert (changed.active, changed.percent, changed.scope.account_ids) == (False, 150, [account])
        with pytest.raises(InvalidInput, match="amount"):
            await client.alerts.update(alert, amount="5")
    finally:
        await client.alerts.delete(alert)
    with pytest.raises(NotFound):
        await client.alerts.delete(alert)
