"""``campaign|ad_group|ad.status_changed``: told of what receipts and reads of the hierarchy show, once, on change."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.service.core import format_timestamp
from adsunify.store.events import EventRecord

from .served import Served, brief, connect

pytestmark = pytest.mark.asyncio(loop_scope="module")
NATIVE = ("campaign", "adset", "ad")
"""What Meta's simulation calls the kinds."""
NAMES = {"campaign": "campaign.status_changed", "adGroup": "ad_group.status_changed", "ad": "ad.status_changed"}


async def list_changes(server: Served) -> list[EventRecord]:
    return [event for event in await server.events() if event.type in NAMES.values()]


async def create_campaign(server: Served, network: str) -> tuple[str, Any]:
    """A campaign that was made; the account and the operation."""
    account = server.accounts.get(network) or await connect(server, network)
    body = {"accountId": account, "campaign": brief(network)}
    operation = await server.admin.post("/create", body, 201)
    return account, await execute_operation(server, operation["id"])


async def execute_operation(server: Served, operation_id: str) -> Any:
    while True:
        done = await server.admin.execute(operation_id)
        if done["status"] != "prepared":
            assert done["status"] == "succeeded", done
            return done


async def read_tree(server: Served, account: str) -> dict[tuple[str, str], str]:
    """The unified status of every campaign, ad group and ad in the hierarchy, by kind and id."""
    document = await server.admin.get(f"/accounts/{account}/tree")
    return {(node["kind"], node["id"]): node["status"] for node in document["nodes"] if node["kind"] in NAMES}


def list_status_changes(events: list[EventRecord]) -> list[tuple[str, str, Any, Any]]:
    """Kind, id, status before and status now of each event."""
    return [
        (event.data["kind"], event.data["entityId"], event.data["before"], event.data["status"]) for event in events
    ]


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
async def test_receipts_and_hierarchy_agree(server: Served, network: str) -> None:
    """Made, activated, paused, deleted: an event for each change, none for none; the hierarchy shows nothing new."""
    known = await read_tree(server, server.accounts[network])
    before = len(await list_changes(server))

    account, operation = await create_campaign(server, network)
    assert await list_changes(server) == (await list_changes(server))[:before], (
        "what is seen for the first time is no change"
    )
    after = await read_tree(server, account)
    new = {key: status for key, status in after.items() if key not in known}
    kinds = {level.kind for level in get_adapter(network).network.levels} & NAMES.keys()
    assert {kind for kind, _ in new} == kinds
    assert len(await list_changes(server)) == before, "the hierarchy shows what the receipts said"

    live = await server.admin.post("/activate", {"accountId": account, "sourceOperationId": operation["id"]}, 201)
    await execute_operation(server, live["id"])
    events = (await list_changes(server))[before:]
    switched = {key: status for key, status in new.items() if status != "active"}
    assert sorted(list_status_changes(events)) == sorted(
        (kind, id_, status, "active") for (kind, id_), status in switched.items()
    )
    for event in events:
        assert event.type == NAMES[str(event.data["kind"])]
        assert (event.operation_id, event.account_id, event.data["network"]) == (live["id"], account, network)
    await read_tree(server, account)
    assert len(await list_changes(server)) == before + len(events)

    campaign = next(id_ for kind, id_ in new if kind == "campaign")
    for status, count in (("paused", 1), ("paused", 0), ("active", 1)):
        event_count = len(await list_changes(server))
        body = {"accountId": account, "kind": "campaign", "entityIds": [campaign], "status": status}
        (prepared,) = (await server.admin.post("/bulk-status", body, 201))["operations"]
        await execute_operation(server, prepared["id"])
        fresh = (await list_changes(server))[event_count:]
        assert [(change.data["entityId"], change.data["status"]) for change in fresh] == [(campaign, status)] * count
    await read_tree(server, account)

    event_count = len(await list_changes(server))
    prepared = (await server.admin.send("DELETE", f"/accounts/{account}/campaigns/{campaign}")).json()["data"]
    await execute_operation(server, prepared["id"])
    (gone,) = list_status_changes((await list_changes(server))[event_count:])
    assert gone[:3] == ("campaign", campaign, "active") and gone[3] in ("deleted", "archived")


async def test_a_receipt_and_its_event_are_one(both: Served) -> None:
    """On each engine: the event is as old as the receipt that shows the change, and belongs to its operation."""
    account, operation = await create_campaign(both, "meta")
    before = len(await list_changes(both))
    live = await both.admin.post("/activate", {"accountId": account, "sourceOperationId": operation["id"]}, 201)
    done = await execute_operation(both, live["id"])
    events = (await list_changes(both))[before:]
    assert Counter(event.type for event in events) == dict.fromkeys(NAMES.values(), 1)
    received = sorted(step["receiptAt"] for step in done["receipt"]["steps"])
    assert sorted(format_timestamp(event.created_at) for event in events) == received
    assert {event.operation_id for event in events} == {live["id"]}


async def test_what_somebody_else_changed(both: Served) -> None:
    """On each engine: the next read of the hierarchy tells, once, and of no operation."""
    account, _ = await create_campaign(both, "meta")
    statuses = await read_tree(both, account)
    before = len(await list_changes(both))
    world = both.networks.state.worlds["meta"]
    changed = [(kind, id_) for kind, id_ in statuses if statuses[kind, id_] == "paused"][-2:]
    for _, id_ in changed:
        entity = next(entity for kind in NATIVE for entity in world.list_entities(kind) if entity.id == id_)
        world.replace(entity, {**entity.data, "status": "ACTIVE"})
    for _ in range(2):
        after = await read_tree(both, account)
        assert {after[key] for key in changed} == {"active"}
        events = (await list_changes(both))[before:]
        assert sorted(list_status_changes(events)) == sorted((*key, "paused", "active") for key in changed)
        assert {event.operation_id for event in events} == {None}


async def test_a_refused_write_changes_nothing(both: Served) -> None:
    account, _ = await create_campaign(both, "meta")
    campaign = next(id_ for (kind, id_), status in (await read_tree(both, account)).items() if kind == "campaign")
    before = len(await list_changes(both))
    body = {"accountId": account, "kind": "campaign", "entityIds": [campaign], "status": "active"}
    for fault, value in (("status", 400), ("reset_before", None)):
        (prepared,) = (await both.admin.post("/bulk-status", body, 201))["operations"]
        more = {} if value is None else {"value": value}
        await both.networks.fault("meta", fault, method="POST", **more)
        await both.admin.send("POST", f"/operations/{prepared['id']}/execute", {"confirmed": True})
    assert len(await list_changes(both)) == before
