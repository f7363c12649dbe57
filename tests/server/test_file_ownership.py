"""What a file owns, and what it leaves alone: nothing is created twice, and nobody else's campaigns are paused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES

from .served import Served
from .test_desired import apply, apply_and_execute, compare, execute, make_launch
from .test_stale_plans import create_campaign

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def prepare_launch(server: Served, name: str, launch: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A launch of the API with this name after its preparation: its id, and its change set."""
    response = await server.admin.post("/launches", {"name": name, **launch}, 201)
    await server.wait_for_background_tasks()
    whole = await server.admin.get(f"/launches/{response['launchId']}")
    return response["launchId"], whole["changeSets"][0]


async def count_campaigns(server: Served, launch: dict[str, Any]) -> int:
    """How many campaigns the network has with the name of a launch's brief."""
    campaigns = await server.admin.get(f"/accounts/{server.accounts['meta']}/campaigns", limit=100)
    return sum(campaign["name"] == launch["campaign"]["name"] for campaign in campaigns)


async def test_a_file_leaves_alone_what_a_file_with_a_longer_name_created(server: Served) -> None:
    document = {"name": "shop/eu", "launches": {"Longer": make_launch(server, "meta", status="active")}}
    await apply_and_execute(server, document)
    await apply_and_execute(server, document)
    ids = await create_campaign(server, "meta")
    entity = {"accountId": server.accounts["meta"], "kind": "campaign", "id": ids["campaign"], "name": "Shop EU"}
    await apply_and_execute(server, {"name": "shop/eu", "entities": [entity], **document})
    for name in ("shop", "shop/"):
        assert (await compare(server, {"name": name}, delete=True))["isEmpty"]
    assert len((await compare(server, {"name": "shop/eu"}, delete=True))["pause"]) == 2


@pytest.mark.parametrize(
    ("file", "launch"),
    [
        ("a/launches/b", "Odd"),
        (None, "x/launches/y"),
        (None, "x: y/z"),
        (None, "100%"),
        ("/launches/", "/launches/"),
        ("/entities/c", "a:b"),
    ],
)
async def test_what_is_created_is_recognized_under_every_name(server: Served, file: str | None, launch: str) -> None:
    document: dict[str, Any] = {"launches": {launch: make_launch(server, "meta")}}
    if file is not None:
        document["name"] = file
    await apply_and_execute(server, document)
    assert (await compare(server, document))["isEmpty"]


async def test_what_a_file_never_wrote_is_not_paused(server: Served) -> None:
    """An edit that was prepared and not executed makes nothing the file's own."""
    ids = await create_campaign(server, "meta")
    entity = {"accountId": server.accounts["meta"], "kind": "campaign", "id": ids["campaign"], "name": "Never written"}
    prepared = await apply(server, {"name": "never", "entities": [entity]})
    await server.admin.post(f"/change-sets/{prepared['id']}/cancel", {})
    assert (await compare(server, {"name": "never"}, delete=True))["isEmpty"]


async def test_a_launch_that_a_file_has_changed_is_paused_when_it_left_the_file(server: Served) -> None:
    launch = make_launch(server, "meta")
    await execute(server, (await prepare_launch(server, "Adopted", launch))[1])
    await apply_and_execute(server, {"name": "adopt", "launches": {"Adopted": {**launch, "status": "active"}}})
    difference = await compare(server, {"name": "adopt"})
    assert [(entity["launch"], entity["kind"], entity["action"]) for entity in difference["pause"]] == [
        ("Adopted", "campaign", "pause")
    ]


async def test_a_cancelled_launch_does_not_hide_a_created_one_of_the_same_name(server: Served) -> None:
    launch = make_launch(server, "meta")
    await execute(server, (await prepare_launch(server, "Same", launch))[1])
    _, change_set = await prepare_launch(server, "Same", launch)
    await server.admin.post(f"/change-sets/{change_set['id']}/cancel", {})
    assert (await compare(server, {"launches": {"Same": launch}}))["isEmpty"]


async def test_a_cancelled_apply_does_not_hide_a_launch_that_created_the_cell(server: Served) -> None:
    launch = make_launch(server, "meta")
    document = {"launches": {"Later": launch}}
    prepared = await apply(server, document)
    await server.admin.post(f"/change-sets/{prepared['id']}/cancel", {})
    await execute(server, (await prepare_launch(server, "Later", launch))[1])
    assert (await compare(server, document))["isEmpty"]


@pytest.mark.parametrize("is_refused", [True, False], ids=["refused", "cancelled"])
async def test_a_cell_that_a_file_creates_is_not_created_by_its_launch(server: Served, is_refused: bool) -> None:
    """The cell of the launch has the operation of the file, so preparing the launch again creates nothing."""
    name = f"Passed on {is_refused}"
    launch = make_launch(server, "meta")
    launch_id, change_set = await prepare_launch(server, name, launch)
    if is_refused:
        await server.networks.fault("meta", "status", method="POST", value=400)
        body = {"confirmed": True, "digest": change_set["digest"]}
        await server.admin.post(f"/change-sets/{change_set['id']}/execute", body, 202)
        await server.wait_for_background_tasks()
        await server.networks.clear_faults()
    else:
        await server.admin.post(f"/change-sets/{change_set['id']}/cancel", {})
    await apply_and_execute(server, {"launches": {name: launch}})
    (cell,) = (await server.admin.get(f"/launches/{launch_id}"))["cells"]
    assert cell["state"] == "succeeded" and cell["created"]
    again = await server.admin.post(f"/launches/{launch_id}/prepare", {}, 201)
    await server.wait_for_background_tasks()
    again = await server.admin.get(f"/change-sets/{again['id']}")
    assert (again["status"], again["operations"]) == ("invalid", [])
    assert again["excluded"] == [{"key": "meta", "reason": "It is created already."}]
    assert await count_campaigns(server, launch) == 1


async def test_a_cell_that_a_launch_is_preparing_is_not_created_by_a_file(server: Served) -> None:
    """Before the networks are read, and while they are read."""
    first = {"name": "beside", "launches": {"Read": make_launch(server, "meta")}}
    await apply_and_execute(server, first)
    launch = make_launch(server, "meta")
    document = {"name": "beside", "launches": {**first["launches"], "Beside": launch}}
    await server.networks.fault("meta", "latency", value=700, times=20)
    applying = asyncio.create_task(server.admin.send("POST", "/apply", {"document": document}))
    await asyncio.sleep(0.3)
    stored_launch = await server.admin.post("/launches", {"name": "Beside", **launch}, 201)
    answer = await applying
    await server.networks.clear_faults()
    assert (answer.status_code, answer.json()["code"]) == (409, "run_open"), answer.text
    await server.wait_for_background_tasks()
    await server.networks.fault("meta", "latency", value=700, times=20)
    await server.admin.post(f"/launches/{stored_launch['launchId']}/cancel", {})
    again = await server.admin.post(f"/launches/{stored_launch['launchId']}/prepare", {}, 201)
    assert again["status"] == "preparing"
    (cell,) = (await compare(server, document))["create"]
    await server.networks.clear_faults()
    assert stored_launch["launchId"] in cell["blocked"]
    await server.wait_for_background_tasks()
    await execute(server, await server.admin.get(f"/change-sets/{again['id']}"))
    assert (await compare(server, document))["isEmpty"] and await count_campaigns(server, launch) == 1


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_what_left_a_file_is_deleted_from_the_root_to_the_campaign(server: Served, network: str) -> None:
    """LinkedIn creates its campaign group active; it is deleted when the campaign below it is gone."""
    document = {"name": "deleting", "launches": {f"Deleted {network}": make_launch(server, network)}}
    await apply_and_execute(server, document)
    left = {"name": "deleting"}
    assert (await compare(server, left))["isEmpty"]
    deleted = []
    for _ in range(2 if network == "linkedin" else 1):
        deleted += await apply_and_execute(server, left, delete=True)
    kinds = ["adGroup", "campaign"] if network == "linkedin" else ["campaign"]
    assert [key.split(":")[-2] for key in deleted] == kinds
    assert (await compare(server, left, delete=True))["isEmpty"]
