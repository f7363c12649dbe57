"""What edits, native payloads and bulk operations are held against, over REST and every network."""

from __future__ import annotations

from typing import Any

import pytest

from adsunify.networks import adapter

from .served import Served, brief
from .test_native import PATHS, at, made, networks

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def fields(server: Served, network: str, kind: str, entity_id: str) -> list[dict[str, Any]]:
    """The editable fields of an entity."""
    found = await server.admin.get(at(server, network, kind, entity_id, "settings"))
    return [one for one in found["fields"] if one["locked"] is None]


async def ways(server: Served, network: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Path, kind and each editable field of all levels of a new campaign."""
    nodes = await made(server, network)
    return [
        (at(server, network, kind, nodes[kind]["id"]), kind, one)
        for kind in PATHS
        if kind in nodes
        for one in await fields(server, network, kind, nodes[kind]["id"])
    ]


def row(network: str, kind: str, field: str) -> Any:
    return next(one for one in adapter(network).network.settings if (one.level, one.field) == (kind, field))


# -- amounts ------------------------------------------------------------------------------------------------------


@networks
async def test_no_amount_is_set_to_nothing(server: Served, network: str) -> None:
    money = [one for one in await ways(server, network) if row(network, one[1], one[2]["field"]).unit == "money"]
    assert money
    for path, _, one in money:
        edit = {"fields": {one["field"]: "0"}}
        assert [issue for issue, _ in await server.admin.refused("POST", f"{path}/edit", edit)] == [
            f"fields.{one['field']}"
        ]


async def test_a_budget_below_what_a_brief_may_have(server: Served) -> None:
    campaign = brief("meta", budget__amount="0.5")
    body = {"accountId": server.accounts["meta"], "campaign": campaign}
    assert await server.admin.refused("POST", "/create", body) == {("campaign.budget.amount", "too_small")}
    group = (await made(server, "meta"))["adGroup"]["id"]
    path = at(server, "meta", "adGroup", group)
    below = {("fields.budget", "too_small")}
    assert await server.admin.refused("POST", f"{path}/edit", {"fields": {"budget": "0.5"}}) == below
    many = {"accountId": server.accounts["meta"], "kind": "adGroup", "entityIds": [group], "field": "budget"}
    for change in ({"mode": "set", "value": 0.01}, {"mode": "decrease", "value": 99}):
        assert await server.admin.refused("POST", "/bulk-edit", many | change) == {("entityIds/0", "too_small")}
    patch = {"payload": {"daily_budget": 50}}
    assert await server.admin.refused("PATCH", path, patch) == {("payload.daily_budget", "too_small")}


NOTHING = {
    "meta": ("adGroup", {"daily_budget": 0}, "daily_budget"),
    "google": ("adGroup", {"cpcBidMicros": "0"}, "cpcBidMicros"),
    "snapchat": ("adGroup", {"bid_micro": 0}, "bid_micro"),
    "pinterest": ("adGroup", {"bid_in_micro_currency": 0}, "bid_in_micro_currency"),
    "reddit": ("adGroup", {"goal_value": 0}, "goal_value"),
    "apple": ("campaign", {"dailyBudget": {"value": {"amount": "0", "currency": "USD"}}}, "dailyBudget.value.amount"),
    "amazon": ("adGroup", {"defaultBid": 0}, "defaultBid"),
    "x": ("adGroup", {"daily_budget_amount_local_micro": 0}, "daily_budget_amount_local_micro"),
    "chatgpt": ("campaign", {"budget": {"lifetime_spend_limit_micros": 0}}, "budget.lifetime_spend_limit_micros"),
    "tiktok": ("adGroup", {"budget": 0}, "budget"),
    "outbrain": ("campaign", {"cpc": 0}, "cpc"),
}


@pytest.mark.parametrize("network", sorted(NOTHING))
async def test_no_native_amount_is_nothing(server: Served, network: str) -> None:
    kind, payload, member = NOTHING[network]
    path = at(server, network, kind)
    for method, where in (("POST", path), ("PATCH", f"{path}/1")):
        refused = await server.admin.refused(method, where, {"payload": payload})
        assert refused == {(f"payload.{member}", "out_of_range")}
