"""What a plan allows to be spent, over REST, on every network."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from sqlalchemy import update

from adsunify.adapter.network import Template
from adsunify.adapter.spend import BUDGET_FIELDS
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.plans.exposure import Exposure, Guard, format_amount
from adsunify.sandbox.world import StoredEntity, World
from adsunify.store.operations import get_operation
from adsunify.store.schema import created_entities
from adsunify.values.exact_json import dumps
from tests.networks.samples import find_case_folder

from .served import Served, brief, data

pytestmark = pytest.mark.asyncio(loop_scope="module")
networks = pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
PATHS = {"campaign": "campaigns", "adGroup": "ad-groups", "ad": "ads"}
NOTHING = ("0", "0")
LATER = "2030-02-20T09:00:00Z"


@pytest.fixture(autouse=True)
def no_faults_left(server: Served) -> None:
    server.networks.state.faults.pending.clear()


def read_exposure(operation: Mapping[str, Any], member: str = "exposure") -> tuple[str, str]:
    exposure = operation["plan"][member]
    assert exposure["currency"] == "USD"
    return exposure["daily"], exposure["lifetime"]


async def create_campaign(server: Served, network: str, **changes: Any) -> Any:
    """A create operation that was executed."""
    body = {"accountId": server.accounts[network], "campaign": brief(network, **changes)}
    return await server.admin.execute((await server.admin.post("/create", body, 201))["id"])


def map_created_ids(operation: Mapping[str, Any]) -> dict[str, str]:
    return {entity["kind"]: entity["entityId"] for entity in operation["created"]}


async def find_budget_kind(server: Served, network: str, creation: Mapping[str, Any]) -> str:
    """The kind of the entity that holds the budget of a campaign: its budget can be edited."""
    for kind, entity_id in map_created_ids(creation).items():
        path = f"/accounts/{server.accounts[network]}/{PATHS[kind]}/{entity_id}/settings"
        fields = {row["field"]: row for row in (await server.admin.get(path))["fields"]}
        if "budget" in fields and fields["budget"]["locked"] is None:
            return kind
    raise AssertionError(f"nothing of {network} has a budget")


async def read_stored_exposure(server: Served, operation_id: str) -> Exposure:
    actor, clock = server.people["admin"].actor, server.service.store.clock
    record = await server.service.store.read(get_operation, actor, operation_id, clock)
    exposure = record.read_plan().exposure
    assert exposure is not None
    return exposure


async def find_guarded_budgets(server: Served, operation_id: str) -> list[Guard]:
    """The budgets that must be the same when the operation is executed."""
    guards = (await read_stored_exposure(server, operation_id)).guards
    return [guard for guard in guards if guard.field in BUDGET_FIELDS and isinstance(guard.value, int)]


def get_spend(network: str) -> tuple[str, str]:
    """The budget of the sample brief, a day and in all. All sample briefs begin and end on the same day as in UTC."""
    members = brief(network)
    amount, schedule = Decimal(members["budget"]["amount"]), members["schedule"]
    first, last = (datetime.fromisoformat(schedule[name]).date() for name in ("startAt", "endAt"))
    days = 1 if members["budget"]["period"] == "lifetime" else (last - first).days + 1
    return f"{amount:.2f}", f"{amount * days:.2f}"


@networks
async def test_a_create_exposes_nothing_and_its_activation_the_whole_budget(server: Served, network: str) -> None:
    account = server.accounts[network]
    creation = await create_campaign(server, network)
    assert (read_exposure(creation), read_exposure(creation, "planned"), creation["risk"]) == (
        NOTHING,
        get_spend(network),
        "low",
    )
    body = {"accountId": account, "sourceOperationId": creation["id"]}
    active = await server.admin.post("/activate", body, 201)
    assert (read_exposure(active), read_exposure(active, "planned"), active["risk"]) == (
        get_spend(network),
        NOTHING,
        "spend",
    )
    (guard,) = await find_guarded_budgets(server, active["id"])
    assert guard.planned is None and format_amount(guard.value, "USD") == get_spend(network)[0]
    for kind, entity_id in map_created_ids(creation).items():
        if (network, kind) == ("x", "ad"):
            continue  # X sets no status of a post
        body = {"accountId": account, "kind": kind, "entityIds": [entity_id]}
        operations = await server.admin.post("/bulk-status", body | {"status": "active"}, 201)
        (operation,) = operations["operations"]
        assert (kind, read_exposure(operation), operation["risk"]) == (kind, get_spend(network), "spend")
        assert await find_guarded_budgets(server, operation["id"]) == [guard]
        (operation,) = (await server.admin.post("/bulk-status", body | {"status": "paused"}, 201))["operations"]
        assert (read_exposure(operation), operation["risk"]) == (NOTHING, "low")
    if network != "outbrain":
        deleted = await server.admin.send(
            "DELETE", f"/accounts/{account}/campaigns/{map_created_ids(creation)['campaign']}"
        )
        assert read_exposure(deleted.json()["data"]) == NOTHING


@networks
async def test_an_edit_exposes_what_it_adds(server: Served, network: str) -> None:
    creation, account = await create_campaign(server, network), server.accounts[network]
    kind = await find_budget_kind(server, network, creation)
    entity_id = map_created_ids(creation)[kind]
    path = f"/accounts/{account}/{PATHS[kind]}/{entity_id}/edit"

    async def edit(**fields: str) -> Any:
        return await server.admin.post(path, {"fields": fields}, 201)

    daily, lifetime = (float(amount) for amount in get_spend(network))
    days = lifetime / daily
    raised = await edit(budget=f"{daily + 50:.0f}")
    more = f"{50 * days:.2f}"
    assert (read_exposure(raised), read_exposure(raised, "planned"), raised["risk"]) == (
        ("50.00", more),
        NOTHING,
        "spend",
    )
    (change,) = (await read_stored_exposure(server, raised["id"])).budgets
    assert (change.kind, change.entity_id, change.field) == (kind, entity_id, "budget")
    assert (change.after or 0) - (change.before or 0) == 50_000_000
    assert [text for text in raised["warnings"] if "more than doubles" in text] == (
        [] if daily > 50 else [f"budget rises by {int(5000 / daily)} %: it more than doubles."]
    )
    assert read_exposure(await edit(name=f"Renamed {network}")) == NOTHING
    if network == "x":
        return  # X has the end on the line item
    later = await edit(endAt="2027-08-01T09:00:00Z" if network == "tiktok" else LATER)
    added = "0" if days == 1 else f"{(31 if network == 'tiktok' else 5) * daily:.2f}"
    assert read_exposure(later) == ("0", added)


def find_end_kinds(network: str) -> list[str]:
    """The kinds of a network whose end can be removed."""
    settings = get_adapter(network).network.settings
    return [row.level for row in settings if row.field == "endAt" and row.can_clear and not isinstance(row.lock, str)]


@pytest.mark.parametrize("network", [code for code in ADAPTER_PACKAGES if len(find_end_kinds(code)) == 1])
async def test_a_removed_end_adds_without_bound(server: Served, network: str) -> None:
    """With an end on two levels, the other one still bounds a daily budget."""
    creation, (kind,) = await create_campaign(server, network), find_end_kinds(network)
    path = f"/accounts/{server.accounts[network]}/{PATHS[kind]}/{map_created_ids(creation)[kind]}/edit"
    operation = await server.admin.post(path, {"fields": {"endAt": ""}}, 201)
    daily, lifetime = get_spend(network)
    if daily == lifetime:  # a lifetime budget
        assert read_exposure(operation) == NOTHING
    else:
        assert (read_exposure(operation), operation["risk"]) == (("0", "unbounded"), "spend")
    assert await read_stored_exposure(server, operation["id"])


async def test_budgets_of_descendants_add_up(server: Served) -> None:
    """Each ad group counts, up to 200 of them. Another ad group with a budget makes the plan stale."""
    creation, account = await create_campaign(server, "meta"), server.accounts["meta"]
    body = {"accountId": account, "sourceOperationId": creation["id"]}
    world = server.networks.state.worlds["meta"]
    first = world.find("adset", map_created_ids(creation)["adGroup"])
    assert first is not None

    def add_ad_groups(count: int) -> list[Any]:
        return [
            world.create("adset", first.account, dict(first.data), parent=first.parent, logged=False)
            for _ in range(count)
        ]

    added = add_ad_groups(2)
    operation = await server.admin.post("/activate", body, 201)
    assert read_exposure(operation) == ("60.00", "1920.00")
    assert {guard.entity_id for guard in await find_guarded_budgets(server, operation["id"])} == {
        first.id,
        *(entity.id for entity in added),
    }
    path = f"/accounts/{account}/ad-groups/{added[1].id}/edit"
    await server.admin.execute((await server.admin.post(path, {"fields": {"budget": "90"}}, 201))["id"])
    problem = await server.admin.problem(400, "POST", f"/operations/{operation['id']}/execute", {"confirmed": True})
    assert problem["code"] == "plan_stale" and added[1].id in problem["detail"]
    add_ad_groups(197)
    assert read_exposure(await server.admin.post("/activate", body, 201)) == ("4070.00", "130240.00")
    add_ad_groups(1)
    assert read_exposure(await server.admin.post("/activate", body, 201)) == ("unknown", "unknown")


async def prepare_activation(server: Served, network: str, creation: Mapping[str, Any]) -> Any:
    body = {"accountId": server.accounts[network], "sourceOperationId": creation["id"]}
    return await server.admin.post("/activate", body, 201)


def find_created(server: Served, network: str, creation: Mapping[str, Any], kind: str) -> tuple[World, StoredEntity]:
    """An entity of an operation at the simulated network."""
    world = server.networks.state.worlds[network]
    (entity,) = (entity for entity in world._stored_entities.values() if entity.id == map_created_ids(creation)[kind])
    return world, entity


def find_ad_group(server: Served, network: str, creation: Mapping[str, Any]) -> tuple[World, StoredEntity]:
    """The ad group at the simulated network."""
    return find_created(server, network, creation, "adGroup")


def make_older(world: World, entity: StoredEntity) -> None:
    """Lists show the entity from now on, also while they do not show yet what was created lately."""
    world.replace(evolve(entity, created_at=entity.created_at - timedelta(days=2)), entity.data, logged=False)


def add_ad_groups(server: Served, network: str, creation: Mapping[str, Any], count: int) -> None:
    """Add copies of an ad group, as somebody does in the network's own pages."""
    world, first = find_ad_group(server, network, creation)
    for _ in range(count):
        world.create(first.kind, first.account, dict(first.data), parent=first.parent, logged=False)


async def refuse_stale(server: Served, operation: Mapping[str, Any]) -> str:
    """The detail of the refusal of an execution. Nothing is written."""
    writes, path = server.networks.writes(), f"/operations/{operation['id']}/execute"
    problem = await server.admin.problem(400, "POST", path, {"confirmed": True})
    assert (problem["code"], problem["outcome"], server.networks.writes()) == ("plan_stale", "not_applied", writes)
    return str(problem["detail"])


@networks
async def test_an_activation_does_not_run_on_another_ad_group(server: Served, network: str) -> None:
    """Where ad groups decide what a campaign can spend, one that somebody adds is not activated with it unseen."""
    creation = await create_campaign(server, network)
    if "adGroup" not in map_created_ids(creation):
        return
    operation = await prepare_activation(server, network, creation)
    add_ad_groups(server, network, creation, 1)
    again = await prepare_activation(server, network, creation)
    has_budget = await find_budget_kind(server, network, creation) == "adGroup"
    assert (read_exposure(again) != read_exposure(operation)) is has_budget
    if has_budget:
        detail = await refuse_stale(server, operation)
        assert detail.startswith(
            f"adGroups of the campaign {map_created_ids(creation)['campaign']} is 2; the plan rests on 1. "
        )
        assert (await server.admin.execute(again["id"]))["status"] == "succeeded"


async def test_an_activation_does_not_run_on_another_end(server: Served) -> None:
    """At X, the end of a daily budget is that of the ad group that ends last."""
    creation = await create_campaign(server, "x")
    operation = await prepare_activation(server, "x", creation)
    add_ad_groups(server, "x", creation, 1)
    assert "adGroups of the campaign" in await refuse_stale(server, operation)


@networks
async def test_an_ad_group_that_is_not_listed_yet_does_not_lower_the_exposure(server: Served, network: str) -> None:
    """Lists of networks may show an entity minutes after it was created."""
    world = server.networks.state.worlds[network]
    creation = await create_campaign(server, network)
    world.list_delay = timedelta(hours=1)
    try:
        body = {"accountId": server.accounts[network], "sourceOperationId": creation["id"]}
        answer = await server.admin.send("POST", "/activate", body)
    finally:
        world.list_delay = timedelta()
    if answer.status_code == 201:
        amounts = zip(read_exposure(answer.json()["data"]), get_spend(network), strict=True)
        assert all(actual in (expected, "unknown", "unbounded") for actual, expected in amounts)


def add_older_ad_group(server: Served, network: str, creation: Mapping[str, Any]) -> None:
    """Add a copy of an ad group that lists show."""
    world, first = find_ad_group(server, network, creation)
    make_older(world, world.create(first.kind, first.account, dict(first.data), parent=first.parent, logged=False))


@contextmanager
def lagging_lists(server: Served, network: str) -> Iterator[None]:
    world = server.networks.state.worlds[network]
    world.list_delay = timedelta(hours=1)
    try:
        yield
    finally:
        world.list_delay = timedelta()


async def prepare_status(server: Served, network: str, campaign_id: str) -> Any:
    """A prepared activation of one campaign, whatever adsunify knows of it."""
    body = {"accountId": server.accounts[network], "kind": "campaign", "entityIds": [campaign_id], "status": "active"}
    (operation,) = (await server.admin.post("/bulk-status", body, 201))["operations"]
    return operation


async def create_ad_group(server: Served, network: str, campaign_id: str) -> Any:
    """A native creation of a paused ad group that was executed."""
    (template,) = (template for template in get_adapter(network).network.templates if template.kind == "adGroup")
    body = {"payload": list_template_members(template), "parentId": campaign_id}
    path = f"/accounts/{server.accounts[network]}/ad-groups"
    answer = await server.admin.send("POST", path, content=dumps(body).encode())
    return await server.admin.execute(data(answer, 201)["id"])


async def test_an_ad_group_that_is_activated_must_be_listed(server: Served) -> None:
    """An older one is listed, the one that the plan activates is not yet."""
    creation = await create_campaign(server, "meta")
    add_older_ad_group(server, "meta", creation)
    with lagging_lists(server, "meta"):
        operation = await prepare_activation(server, "meta", creation)
    assert read_exposure(operation) == ("unknown", "unknown")
    assert read_exposure(await prepare_activation(server, "meta", creation)) == ("40.00", "1280.00")


@networks
async def test_an_ad_group_that_adsunify_created_must_be_listed(server: Served, network: str) -> None:
    """An activation that names only the campaign knows as well what was created below it lately."""
    creation = await create_campaign(server, network)
    if "adGroup" not in map_created_ids(creation):
        return
    make_older(*find_created(server, network, creation, "campaign"))
    add_older_ad_group(server, network, creation)
    listed_exposure = read_exposure(await prepare_status(server, network, map_created_ids(creation)["campaign"]))
    with lagging_lists(server, network):
        operation = await prepare_status(server, network, map_created_ids(creation)["campaign"])
    has_budget = await find_budget_kind(server, network, creation) == "adGroup"
    end = "unbounded" if network == "x" else listed_exposure[1]  # at X, the end is that of the ad group that ends last
    assert read_exposure(operation) == (("unknown", "unknown") if has_budget else (listed_exposure[0], end))


@pytest.mark.parametrize("is_parent_known", [True, False])
@pytest.mark.parametrize("network", ["meta", "snapchat", "reddit"])
async def test_an_ad_group_of_another_operation_must_be_listed(
    server: Served, network: str, is_parent_known: bool
) -> None:
    """If no plan names its campaign, the network is asked below which campaign it is."""

    async def create_below(campaign_id: str) -> None:
        await create_ad_group(server, network, campaign_id)
        if not is_parent_known:  # as after a resumption long after the campaign was created
            forget = update(created_entities).where(created_entities.c.network == network).values(parent_id=None)
            await server.service.store.write(lambda connection: connection.execute(forget))

    creation, other = [await create_campaign(server, network) for _ in range(2)]
    campaign_id = map_created_ids(creation)["campaign"]
    make_older(*find_ad_group(server, network, creation))
    await create_below(map_created_ids(other)["campaign"])
    with lagging_lists(server, network):
        operation = await prepare_status(server, network, campaign_id)
    assert read_exposure(operation) == get_spend(network), "it is below another campaign"
    await create_below(campaign_id)
    with lagging_lists(server, network):
        operation = await prepare_status(server, network, campaign_id)
    assert read_exposure(operation) == ("unknown", "unknown")
    operation = await prepare_status(server, network, campaign_id)
    assert "unknown" not in read_exposure(operation) and read_exposure(operation) != get_spend(network)


AD_GROUPS_COUNT = [
    code
    for code in ADAPTER_PACKAGES
    if any((row.level, row.field) == ("adGroup", "endAt") for row in get_adapter(code).network.settings)
]
"""The networks on which the ad groups may have the budgets or the end of a campaign."""


@pytest.mark.parametrize("network", AD_GROUPS_COUNT)
async def test_a_deleted_ad_group_need_not_be_listed(server: Served, network: str) -> None:
    """Some networks do not answer any more for an ad group that was deleted."""
    creation, account = await create_campaign(server, network), server.accounts[network]
    campaign_id = map_created_ids(creation)["campaign"]
    listed_exposure = read_exposure(await prepare_status(server, network, campaign_id))
    make_older(*find_created(server, network, creation, "campaign"))
    make_older(*find_ad_group(server, network, creation))
    added = map_created_ids(await create_ad_group(server, network, campaign_id))["adGroup"]
    deletion = await server.admin.send("DELETE", f"/accounts/{account}/ad-groups/{added}")
    await server.admin.execute(data(deletion, 201)["id"])
    with lagging_lists(server, network):
        operation = await prepare_status(server, network, campaign_id)
    assert read_exposure(operation) == listed_exposure


@pytest.mark.parametrize("network", AD_GROUPS_COUNT)
async def test_ad_groups_of_other_campaigns_are_not_read(server: Served, network: str) -> None:
    """A native creation names the campaign, so no read is needed to know below which one the ad group is."""
    creation, other = [await create_campaign(server, network) for _ in range(2)]
    make_older(*find_created(server, network, creation, "campaign"))
    make_older(*find_ad_group(server, network, creation))
    before = len(server.networks.requests)
    first = await prepare_status(server, network, map_created_ids(creation)["campaign"])
    reads = len(server.networks.requests) - before
    for _ in range(2):
        await create_ad_group(server, network, map_created_ids(other)["campaign"])
    before = len(server.networks.requests)
    with lagging_lists(server, network):
        second = await prepare_status(server, network, map_created_ids(creation)["campaign"])
    assert len(server.networks.requests) - before == reads
    assert read_exposure(second) == read_exposure(first)


async def test_an_ad_group_that_is_not_listed_yet_stops_an_activation(server: Served) -> None:
    """It was created between the preparation and the execution."""
    creation = await create_campaign(server, "meta")
    add_older_ad_group(server, "meta", creation)
    operation = await prepare_activation(server, "meta", creation)
    await create_ad_group(server, "meta", map_created_ids(creation)["campaign"])
    with lagging_lists(server, "meta"):
        detail = await refuse_stale(server, operation)
    number = (
        f"adGroups of the campaign {map_created_ids(creation)['campaign']} is not known, because not all are listed yet"
    )
    assert detail.startswith(f"{number}; the plan rests on 2. ")


@pytest.mark.parametrize("network", ["meta", "snapchat", "reddit"])
async def test_a_campaign_without_listed_ad_groups_is_not_known(server: Served, network: str) -> None:
    creation, world = await create_campaign(server, network), server.networks.state.worlds[network]
    ids = [map_created_ids(creation)["campaign"]]
    body = {"accountId": server.accounts[network], "kind": "campaign", "entityIds": ids, "status": "active"}
    world.list_delay = timedelta(hours=1)
    try:
        (operation,) = (await server.admin.post("/bulk-status", body, 201))["operations"]
    finally:
        world.list_delay = timedelta()
    assert read_exposure(operation) == ("unknown", "unknown")


async def test_a_raise_below_another_limit_is_no_decrease(server: Served) -> None:
    """A daily budget above the lifetime budget exposes nothing as long as the lifetime budget stays."""
    budget = {"amount": "50.00", "currency": "USD", "period": "lifetime"}
    creation = await create_campaign(server, "x", budget=budget)
    campaign = f"/accounts/{server.accounts['x']}/campaigns/{map_created_ids(creation)['campaign']}"

    async def update(daily: int) -> Any:
        payload = {"daily_budget_amount_local_micro": daily * 1_000_000}
        return data(await server.admin.send("PATCH", campaign, {"payload": payload}), 201)

    await server.admin.execute((await update(50))["id"])
    raises = [await update(1000) for _ in range(2)]
    assert [read_exposure(operation) for operation in raises] == [NOTHING, NOTHING]
    lifetime = await server.admin.post(f"{campaign}/edit", {"fields": {"lifetimeBudget": "9000"}}, 201)
    await server.admin.execute(lifetime["id"])
    assert "lifetimeBudget of the campaign" in await refuse_stale(server, raises[0])
    await server.networks.fault("x", "status", value=500, method="GET", times=20)
    writes = server.networks.writes()
    answer = await server.admin.send("POST", f"/operations/{raises[1]['id']}/execute", {"confirmed": True})
    assert answer.status_code >= 400 and answer.json()["outcome"] == "not_applied"
    assert server.networks.writes() == writes


@pytest.mark.parametrize("network", ["meta", "snapchat"])
async def test_a_campaign_that_is_gone_is_named(server: Served, network: str) -> None:
    """The list of its ad groups is refused as well."""
    creation = await create_campaign(server, network)
    operation = await prepare_activation(server, network, creation)
    world, group = find_ad_group(server, network, creation)
    lost = [
        world.find(kind, id_)
        for kind, id_ in (("ad", map_created_ids(creation)["ad"]), ("campaign", group.parent or ""))
    ]
    for entity in (group, *lost):
        assert entity is not None
        world.remove(entity, logged=False)
    assert f"entity of the campaign {group.parent} is not found" in await refuse_stale(server, operation)


async def test_more_ad_groups_than_are_counted_are_named(server: Served) -> None:
    creation = await create_campaign(server, "meta")
    operation = await prepare_activation(server, "meta", creation)
    add_ad_groups(server, "meta", creation, 200)
    number = f"adGroups of the campaign {map_created_ids(creation)['campaign']} is more than 200; the plan rests on 1."
    detail = await refuse_stale(server, operation)
    assert detail.startswith(f"{number} ") and "not found" not in detail


async def test_an_end_that_is_moved_from_the_past_adds_the_whole_budget(server: Served) -> None:
    creation = await create_campaign(server, "amazon")
    path = f"/accounts/{server.accounts['amazon']}/campaigns/{map_created_ids(creation)['campaign']}"
    world = server.networks.state.worlds["amazon"]
    campaign = world.find("campaign", map_created_ids(creation)["campaign"])
    assert campaign is not None
    world.replace(campaign, {**campaign.data, "startDate": "2020-01-01", "endDate": "2020-02-01"}, logged=False)
    raised = await server.admin.post(f"{path}/edit", {"fields": {"budget": "30"}}, 201)
    assert read_exposure(raised) == ("10.00", "0")
    zone = ZoneInfo((await server.admin.get(f"/accounts/{server.accounts['amazon']}"))["timezone"])
    today = server.service.now().astimezone(zone).date()
    end = (today + timedelta(days=9)).isoformat()
    moved = await server.admin.post(f"{path}/edit", {"fields": {"endAt": end}}, 201)
    assert read_exposure(moved) == ("20.00", "200.00")


async def test_a_read_that_fails_makes_the_exposure_unknown(server: Served) -> None:
    creation = await create_campaign(server, "meta")
    path = f"/v26.0/{map_created_ids(creation)['campaign']}/adsets"
    await server.networks.fault("meta", "status", value=500, method="GET", path=path, times=20)
    body = {"accountId": server.accounts["meta"], "sourceOperationId": creation["id"]}
    operation = await server.admin.post("/activate", body, 201)
    assert (read_exposure(operation), operation["risk"]) == (("unknown", "unknown"), "spend")


OTHER_LEVELS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "pinterest": ("campaign", "/v5/ad_accounts/*/ad_groups*", {"daily_spend_cap": 15_000_000}),
    "linkedin": ("adGroup", "/rest/*/adCampaignGroups/*", {"dailyBudget": {"amount": "15", "currencyCode": "USD"}}),
    "x": ("campaign", "/12/accounts/*/line_items*", {"daily_budget_amount_local_micro": 15_000_000}),
    "apple": ("campaign", "/v1/adgroups/query", {"dailyBudget": {"value": {"amount": "15", "currency": "USD"}}}),
}
"""Networks with ends on two levels: the kind with the budget, where the other level is read, and a lower budget."""


@pytest.mark.parametrize("network", list(OTHER_LEVELS))
async def test_a_decrease_needs_no_read_of_another_level(server: Served, network: str) -> None:
    """The other level counts for a raise only: a read of it that fails makes the raise unknown."""
    kind, read, payload = OTHER_LEVELS[network]
    creation = await create_campaign(server, network, schedule={"startAt": "2030-01-15T05:00:00Z"})
    path = f"/accounts/{server.accounts[network]}/{PATHS[kind]}/{map_created_ids(creation)[kind]}"
    await server.networks.fault(network, "status", value=500, path=read, times=100)
    raised = await server.admin.post(f"{path}/edit", {"fields": {"budget": "30"}}, 201)
    assert read_exposure(raised) == ("unknown", "unknown")
    assert read_exposure(await server.admin.post(f"{path}/edit", {"fields": {"budget": "15"}}, 201)) == NOTHING
    native = await server.admin.send("PATCH", path, {"payload": payload})
    assert read_exposure(native.json()["data"]) == NOTHING


async def test_an_activation_without_an_end_warns(server: Served) -> None:
    creation = await create_campaign(server, "google", schedule={"startAt": "2030-01-15T05:00:00Z"})
    assert read_exposure(creation, "planned") == ("20.00", "unbounded")
    body = {"accountId": server.accounts["google"], "sourceOperationId": creation["id"]}
    operation = await server.admin.post("/activate", body, 201)
    assert read_exposure(operation) == ("20.00", "unbounded")
    text = "It has no end: it spends until somebody pauses it."
    assert text in operation["warnings"]
    path = f"/accounts/{server.accounts['google']}/campaigns"
    status = {"payload": {"status": "ENABLED"}}  # a native update that activates
    update = await server.admin.send("PATCH", f"{path}/{map_created_ids(creation)['campaign']}", status)
    assert text in update.json()["data"]["warnings"]
    raised = await server.admin.post(
        f"{path}/{map_created_ids(creation)['campaign']}/edit", {"fields": {"budget": "21"}}, 201
    )
    assert read_exposure(raised) == ("1.00", "unbounded") and text not in raised["warnings"]


async def find_shared_campaign(server: Served, network: str) -> dict[str, dict[str, Any]]:
    """A campaign of the network that no test changes: its entities by kind."""
    nodes = server.campaigns.setdefault((network, "exposure"), {})
    if not nodes:
        nodes.update({entity["kind"]: entity for entity in (await create_campaign(server, network))["created"]})
    return nodes


UPDATES = [
    pytest.param(code, case, id=f"{code}-{number}")
    for code in ADAPTER_PACKAGES
    for number, case in enumerate(json.loads((find_case_folder(code) / "exposure" / "native_updates.json").read_text()))
]
"""Native updates of a campaign with a budget of 20 USD a day, and what they expose a day and in all."""


@pytest.mark.parametrize(("network", "case"), UPDATES)
async def test_a_native_update(server: Served, network: str, case: dict[str, Any]) -> None:
    kind, expected = case["kind"], tuple(case["exposure"])
    ids = {kind: node["entityId"] for kind, node in (await find_shared_campaign(server, network)).items()}
    path = f"/accounts/{server.accounts[network]}/{PATHS[kind]}/{ids[kind]}"
    answer = await server.admin.send("PATCH", path, {"payload": case["payload"]})
    assert answer.status_code == 201, answer.text
    operation = answer.json()["data"]
    assert read_exposure(operation) == expected
    assert operation["risk"] == ("low" if expected == NOTHING else "spend")


def list_template_members(template: Template) -> dict[str, Any]:
    """The payload of a template without the members that name a parent."""
    parents = ("campaign_id", "adgroup_id", "ad_group_id", "adset_id", "campaignId", "adGroupId")
    others = ("campaignGroup", "campaign", "line_item_id", "ad_squad_id")
    return {name: value for name, value in template.payload.items() if name not in (*parents, *others)}


@networks
async def test_templates_of_native_creates(server: Served, network: str) -> None:
    """A paused create exposes nothing, whatever it plans. Outbrain's campaign has the budget of another object."""
    ids = map_created_ids(await create_campaign(server, network))
    for template in get_adapter(network).network.templates:
        parent = {"adGroup": ids.get("campaign"), "ad": ids.get("adGroup", ids.get("campaign"))}.get(template.kind)
        if (network, template.kind) in (("outbrain", "campaign"), ("x", "ad"), ("apple", "ad")):
            continue
        body = {"action": "create", "kind": template.kind, "payload": list_template_members(template)}
        content = dumps(body | ({"parentId": parent} if parent else {})).encode()
        path = f"/accounts/{server.accounts[network]}/validate"
        answer = await server.admin.send("POST", path, content=content)
        assert answer.status_code == 200, answer.text
        operation = answer.json()["data"]
        assert (template.kind, read_exposure(operation)) == (template.kind, NOTHING)
        assert "unknown" not in read_exposure(operation, "planned")


# -- what changes between prepare and execute ----------------------------------------------------------------------


@networks
async def test_an_activation_does_not_run_on_another_budget(server: Served, network: str) -> None:
    """The budgets that an activation counts are read again before its first write, and nothing else is."""
    creation, account = await create_campaign(server, network), server.accounts[network]
    body = {"accountId": account, "sourceOperationId": creation["id"]}
    active = await server.admin.post("/activate", body, 201)
    unchanged = await server.admin.post("/activate", body, 201)
    kind = await find_budget_kind(server, network, creation)
    path = f"/accounts/{account}/{PATHS[kind]}/{map_created_ids(creation)[kind]}/edit"
    fields = {"budget": f"{float(get_spend(network)[0]) + 50:.0f}"}
    edit = await server.admin.post(path, {"fields": fields}, 201)
    assert (await server.admin.execute(unchanged["id"]))["status"] == "succeeded"
    assert (await server.admin.execute(edit["id"]))["status"] == "succeeded"
    writes = server.networks.writes()
    problem = await server.admin.problem(400, "POST", f"/operations/{active['id']}/execute", {"confirmed": True})
    assert (problem["code"], problem["outcome"], problem["operation"]["status"]) == (
        *("plan_stale", "not_applied"),
        "prepared",
    )
    assert f"budget of the {kind}" in problem["detail"] and f"rests on {get_spend(network)[0]} USD" in problem["detail"]
    assert server.networks.writes() == writes
    request_count = len(server.networks.requests)
    paused = {
        "accountId": account,
        "kind": "campaign",
        "entityIds": [map_created_ids(creation)["campaign"]],
        "status": "paused",
    }
    (operation,) = (await server.admin.post("/bulk-status", paused, 201))["operations"]
    reads = len(server.networks.requests) - request_count
    await server.admin.execute(operation["id"])
    assert (
        len(server.networks.requests) - request_count - reads <= 2
    )  # the write, and a read of a network that replaces objects


def move_to_lifetime(native: Mapping[str, Any]) -> dict[str, Any]:
    """The entity with the amount of its daily budget for its whole life."""
    if "daily_budget" in native:  # Meta
        return {**native, "lifetime_budget": native["daily_budget"], "daily_budget": "0"}
    if "goal_type" in native:  # Reddit
        return {**native, "goal_type": "LIFETIME_SPEND"}
    return {**native, "type": "CAMPAIGN"}  # Outbrain


@pytest.mark.parametrize(
    ("network", "kind", "native"),
    [("meta", "adGroup", "adset"), ("reddit", "adGroup", "ad_group"), ("outbrain", "campaign", "budget")],
)
async def test_what_rests_on_a_budget_does_not_run_on_its_amount_for_another_period(
    server: Served, network: str, kind: str, native: str
) -> None:
    """Prepared on an amount for a lifetime: the same amount a day allows far more."""
    creation, account = await create_campaign(server, network), server.accounts[network]
    world = server.networks.state.worlds[network]
    stored_budget = world.list_entities(native)[-1]
    daily = dict(stored_budget.data)
    world.replace(stored_budget, move_to_lifetime(daily), logged=False)
    amount = get_spend(network)[0]
    active = await server.admin.post("/activate", {"accountId": account, "sourceOperationId": creation["id"]}, 201)
    assert read_exposure(active) == (amount, amount)
    path = f"/accounts/{account}/{PATHS[kind]}/{map_created_ids(creation)[kind]}/edit"
    raised = await server.admin.post(path, {"fields": {"budget": f"{float(amount) + 950:.0f}"}}, 201)
    assert read_exposure(raised) == ("950.00", "950.00")
    world.replace(stored_budget, daily, logged=False)
    for operation in (active, raised):
        problem = await server.admin.problem(400, "POST", f"/operations/{operation['id']}/execute", {"confirmed": True})
        assert problem["code"] == "plan_stale"
        (difference,) = [difference for difference in problem["differences"] if difference["member"] == "budgetType"]
        assert (difference["planned"], difference["found"]) == ("lifetime", "daily")


@networks
async def test_raises_that_were_prepared_together_do_not_add_up(server: Served, network: str) -> None:
    """Each was computed without the other: a higher budget, and a later end."""
    creation, account = await create_campaign(server, network), server.accounts[network]
    kind = await find_budget_kind(server, network, creation)
    path = f"/accounts/{account}/{PATHS[kind]}/{map_created_ids(creation)[kind]}"
    raised = {"budget": f"{float(get_spend(network)[0]) + 50:.0f}"}
    first = await server.admin.post(f"{path}/edit", {"fields": raised}, 201)
    second = await server.admin.post(f"{path}/edit", {"fields": {"budget": f"{float(raised['budget']) + 1:.0f}"}}, 201)
    assert (await server.admin.execute(first["id"]))["status"] == "succeeded"
    writes = server.networks.writes()
    problem = await server.admin.problem(400, "POST", f"/operations/{second['id']}/execute", {"confirmed": True})
    assert (problem["code"], server.networks.writes()) == ("plan_stale", writes)


async def test_a_budget_and_an_end_that_were_prepared_together_do_not_add_up(server: Served) -> None:
    creation, account = await create_campaign(server, "meta"), server.accounts["meta"]
    path = f"/accounts/{account}/ad-groups/{map_created_ids(creation)['adGroup']}/edit"
    raised = await server.admin.post(path, {"fields": {"budget": "1000"}}, 201)
    longer = await server.admin.post(path, {"fields": {"endAt": "2034-02-15T09:00:00Z"}}, 201)
    earlier = await server.admin.post(path, {"fields": {"endAt": "2030-02-01T09:00:00Z"}}, 201)
    assert (await server.admin.execute(raised["id"]))["status"] == "succeeded"
    problem = await server.admin.problem(400, "POST", f"/operations/{longer['id']}/execute", {"confirmed": True})
    assert problem["code"] == "plan_stale" and "budget of the adGroup" in problem["detail"]
    assert (await server.admin.execute(earlier["id"]))["status"] == "succeeded"  # it lowers what can be spent


@pytest.mark.parametrize(
    ("method", "body"),
    [
        ("edit", {"fields": {"budget": "999"}}),
        ("native", {"payload": {"daily_budget": 100_000}}),
        ("native", {"payload": {"end_time": "2030-02-15T09:00:00Z"}}),
    ],
)
async def test_a_decrease_never_raises_what_somebody_has_lowered(
    server: Served, method: str, body: dict[str, Any]
) -> None:
    creation, account = await create_campaign(server, "meta"), server.accounts["meta"]
    path = f"/accounts/{account}/ad-groups/{map_created_ids(creation)['adGroup']}"
    high = await server.admin.post(f"{path}/edit", {"fields": {"budget": "1000"}}, 201)
    assert (await server.admin.execute(high["id"]))["status"] == "succeeded"

    async def prepare() -> str:
        if method == "edit":
            return str((await server.admin.post(f"{path}/edit", body, 201))["id"])
        return str((await server.admin.send("PATCH", path, body)).json()["data"]["id"])

    stale, lowered = await prepare(), {"budget": "5", "endAt": "2030-02-01T09:00:00Z"}
    assert read_exposure(await server.admin.get(f"/operations/{stale}")) == NOTHING
    emergency = await server.admin.post(f"{path}/edit", {"fields": lowered}, 201)
    assert (await server.admin.execute(emergency["id"]))["status"] == "succeeded"
    problem = await server.admin.problem(400, "POST", f"/operations/{stale}/execute", {"confirmed": True})
    assert problem["code"] == "plan_stale"


async def test_a_decrease_from_a_budget_that_was_raised_since_is_executed(server: Served) -> None:
    """An emergency is not stopped."""
    creation, account = await create_campaign(server, "meta"), server.accounts["meta"]
    path = f"/accounts/{account}/ad-groups/{map_created_ids(creation)['adGroup']}/edit"
    decrease = await server.admin.post(path, {"fields": {"budget": "10"}}, 201)
    higher = await server.admin.post(path, {"fields": {"budget": "50"}}, 201)
    assert (await server.admin.execute(higher["id"]))["status"] == "succeeded"
    assert (await server.admin.execute(decrease["id"]))["status"] == "succeeded"


async def test_a_resumed_activation_reads_its_budgets_again(server: Served) -> None:
    creation, account = await create_campaign(server, "meta"), server.accounts["meta"]
    active = await server.admin.post("/activate", {"accountId": account, "sourceOperationId": creation["id"]}, 201)
    await server.networks.fault("meta", "status", path="/v26.0/*", method="POST", value=429, times=1)
    first = await server.admin.post(f"/operations/{active['id']}/execute", {"confirmed": True})
    assert first["status"] == "prepared" and first["nextAction"] == "execute"
    path = f"/accounts/{account}/ad-groups/{map_created_ids(creation)['adGroup']}/edit"
    raised = await server.admin.post(path, {"fields": {"budget": "1000"}}, 201)
    server.hands.pass_(seconds=60)
    assert (await server.admin.execute(raised["id"]))["status"] == "succeeded"
    problem = await server.admin.problem(400, "POST", f"/operations/{active['id']}/execute", {"confirmed": True})
    assert problem["code"] == "plan_stale"


async def test_a_budget_above_ten_times_the_largest_one_warns(server: Served) -> None:
    creation, account = await create_campaign(server, "amazon"), server.accounts["amazon"]
    path = f"/accounts/{account}/campaigns/{map_created_ids(creation)['campaign']}/edit"
    await server.admin.post(path, {"fields": {"budget": "21"}}, 201)  # the account's budget is known from here on
    text = "more than ten times the largest one read on this account"
    for amount, is_unusual in (("200", False), ("40000", True)):
        operation = await server.admin.post(path, {"fields": {"budget": amount}}, 201)
        assert any(text in warning for warning in operation["warnings"]) == is_unusual
        planned = brief("amazon", budget={"amount": amount, "currency": "USD", "period": "daily"})
        preview = await server.admin.post("/validate-campaign", {"accountId": account, "campaign": planned})
        assert any(text in warning for warning in preview["warnings"]) == is_unusual
        assert preview["risk"] == ("spend" if is_unusual else "low")
