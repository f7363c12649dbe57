"""What a person judges a change by: names, money and time, where ids go in, and what became of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import update

from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.review.content import describe_content
from adsunify.service.retention import delete_due
from adsunify.store.retention import RULES, RetentionKind
from adsunify.store.schema import operations
from tests.server.served import Served, brief, connect

from .browsing import Page, browser, email, find_elements

pytestmark = pytest.mark.asyncio(loop_scope="module")
PLACES_BY_ID = ("google", "linkedin", "tiktok", "x", "outbrain")
"""Networks that name a country by an id of theirs."""
PERIODS = {"daily": "per day", "lifetime": "in total"}


async def create_campaign(
    site: Served, network: str, name: str = "admin", **changes: Any
) -> tuple[Mapping[str, Any], Any]:
    """A brief, and the succeeded operation that created it."""
    account = site.accounts.get(network) or await connect(site, network)
    campaign_brief = brief(network, **changes)
    operation = await site.person(name).post("/create", {"accountId": account, "campaign": campaign_brief}, 201)
    done = await site.person(name).execute(operation["id"])
    assert done["status"] == "succeeded", done
    return campaign_brief, done


async def prepare_activation(site: Served, source: Mapping[str, Any]) -> Any:
    """The prepared activation of what an operation created."""
    body = {"accountId": source["accountId"], "sourceOperationId": source["id"]}
    return await site.admin.post("/activate", body, 201)


async def open_review(site: Served, operation: Mapping[str, Any], name: str = "admin", workspace: str = "shop") -> Page:
    """The review page of an operation."""
    async with browser(site) as person:
        await person.sign_in(email(name, workspace))
        return await person.open(operation["reviewUrl"])


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_an_activation_says_what_begins_to_spend(site: Served, network: str) -> None:
    """Names, the budget with its period, and the time: from what is stored, without asking the network."""
    campaign_brief, source = await create_campaign(site, network)
    prepared = await prepare_activation(site, source)
    before = len(site.networks.requests)
    text = (await open_review(site, prepared)).text
    assert len(site.networks.requests) == before
    assert text.count(campaign_brief["name"]) >= 2  # in the heading and in the table
    budget = campaign_brief["budget"]
    assert f"{budget['amount']}.00 USD {PERIODS[budget['period']]}" in text
    start, end = (campaign_brief["schedule"][name][:4] for name in ("startAt", "endAt"))
    assert re.search(rf"\d+ \w{{3}} {start}.* to \d+ \w{{3}} {end}", text), text
    (brought,) = [step["outputs"] for step in source["receipt"]["steps"] if step["key"] == "campaign"]
    native = next(iter(brought.values()))
    assert (native if isinstance(native, str) else native[1].rpartition("/")[2]) in text
    facts = [fact.text for facts in describe_content(source["plan"]).values() for fact in facts if fact.is_plain]
    assert all(fact in text for fact in facts), "what begins to run, in words"


@pytest.mark.parametrize(
    "network",
    [
        network
        for network in ADAPTER_PACKAGES
        if any("lifetime" in ad_format.periods for ad_format in get_adapter(network).network.formats)
    ],
)
async def test_a_budget_for_all_days_is_told_as_such(site: Served, network: str) -> None:
    account = site.accounts.get(network) or await connect(site, network)
    campaign_brief = brief(network, budget__amount="2000", budget__period="lifetime")
    prepared = await site.admin.post("/create", {"accountId": account, "campaign": campaign_brief}, 201)
    text = (await open_review(site, prepared)).text
    assert "2,000.00 USD in total" in text and "per day" not in text


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_a_create_is_reviewed_in_words(site: Served, network: str) -> None:
    """The texts, the link, the picture and the keywords of the brief stand above the plan."""
    account = site.accounts.get(network) or await connect(site, network)
    campaign_brief = brief(network)
    prepared = await site.admin.post("/create", {"accountId": account, "campaign": campaign_brief}, 201)
    text = (await open_review(site, prepared)).text
    words = text.partition("In words ")[2].partition("What will be created")[0]
    creative, targeting = campaign_brief["creative"], campaign_brief["targeting"]
    expected = [creative[name] for name in ("headline", "body", "url", "imageUrl", "imageHash") if name in creative]
    expected += [*creative.get("headlines", ()), *creative.get("descriptions", ())]
    expected += [keyword["text"] for keyword in targeting.get("keywords", ())]
    assert [part for part in expected if part not in words] == [], words
    if "US" in targeting.get("countries", ()) and network not in PLACES_BY_ID:
        assert "United States (" in words


async def test_a_change_made_since_is_told(site: Served) -> None:
    _, source = await create_campaign(site, "meta")
    group = next(step["outputs"]["id"] for step in source["receipt"]["steps"] if step["key"] == "adGroup")
    path = f"/accounts/{source['accountId']}/ad-groups/{group}/edit"
    edit = await site.admin.post(path, {"fields": {"budget": "500"}}, 201)
    prepared = await prepare_activation(site, source)
    assert "500.00" not in (await open_review(site, prepared)).text  # prepared only: not written
    await site.admin.execute(edit["id"])
    page = await open_review(site, prepared)
    assert "Changed since" in page.text and "budget 20.00 USD to 500.00 USD" in page.text
    assert "500.00 USD per day" in page.text and "20.00 USD per day" not in page.text
    assert "This can spend 20.00 USD more a day, 640.00 USD more in all." in page.text  # what was planned
    problem = await site.admin.problem(400, "POST", f"/operations/{prepared['id']}/execute", {"confirmed": True})
    assert problem["code"] == "plan_stale"
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(f"/review/{prepared['id']}")
        assert "allowStale" not in str(person.page.forms)
        await person.send({"confirmed": "true"}, action="/execute", expected=400)
        assert "In the plan At the network now budget ad group" in person.text
        await person.send({"confirmed": "true"}, action="/execute", button="Execute the plan as it is")
        assert "succeeded" in person.text
    prepared = await prepare_activation(site, source)
    assert "This can spend 500.00 USD more a day" in (await open_review(site, prepared)).text
    await site.admin.execute(prepared["id"])
    site.hands.pass_(seconds=2)
    later = await site.admin.post(path, {"fields": {"budget": "700"}}, 201)
    await site.admin.execute(later["id"])
    text = (await open_review(site, prepared)).text
    assert "500.00 USD per day" in text and "700.00" not in text  # as it was set to run
    assert f"/review/{edit['id']}" in page.links.values()


async def test_what_is_deleted_is_told_with_all_below_it(site: Served) -> None:
    _, source = await create_campaign(site, "meta")
    campaign, group = (step["outputs"]["id"] for step in source["receipt"]["steps"][:2])
    for path, kinds in (
        (f"campaigns/{campaign}", ["campaign", "ad group", "ad"]),
        (f"ad-groups/{group}", ["ad group", "ad"]),
    ):
        answer = await site.admin.send("DELETE", f"/accounts/{source['accountId']}/{path}")
        page = await open_review(site, answer.json()["data"])
        table = page.text.partition("What will be changed")[2].partition("What will be written")[0]
        assert [
            kind for kind in ("campaign", "ad group", "ad") if f"{kind} {get_source_name(source)}" in table
        ] == kinds


def get_source_name(source: Mapping[str, Any]) -> str:
    """The name that a create operation of meta gives its campaign."""
    return str(source["plan"]["steps"][0]["body"]["name"])


async def test_a_status_says_whose_it_is(site: Served) -> None:
    campaign_brief, source = await create_campaign(site, "meta")
    campaign = source["receipt"]["steps"][0]["outputs"]["id"]
    body = {"accountId": source["accountId"], "kind": "campaign", "entityIds": [campaign], "status": "active"}
    (prepared,) = (await site.admin.post("/bulk-status", body, 201))["operations"]
    text = (await open_review(site, prepared)).text
    assert campaign_brief["name"] in text and "20.00 USD per day" in text


async def test_what_is_not_known_is_said(site: Served) -> None:
    """A campaign that another workspace created: only its id is stored."""
    campaign_brief, source = await create_campaign(site, "meta")
    account = await connect(site, "meta", "stranger")
    campaign = source["receipt"]["steps"][0]["outputs"]["id"]
    body = {"accountId": account, "kind": "campaign", "entityIds": [campaign], "status": "active"}
    (prepared,) = (await site.person("stranger").post("/bulk-status", body, 201))["operations"]
    page = await open_review(site, prepared, "stranger", "other")
    assert campaign_brief["name"] not in page.text
    assert f"Only the id of the campaign {campaign} is known here" in page.text
    assert f"/accounts/{account}" in page.links.values()


async def test_the_operations_are_told_apart_by_name(site: Served) -> None:
    campaign_brief, source = await create_campaign(site, "meta")
    await prepare_activation(site, source)
    campaign = source["receipt"]["steps"][0]["outputs"]["id"]
    body = {"accountId": source["accountId"], "kind": "campaign", "entityIds": [campaign], "status": "paused"}
    await site.admin.post("/bulk-status", body, 201)
    group = source["receipt"]["steps"][1]["outputs"]["id"]
    path = f"/accounts/{source['accountId']}/ad-groups"
    assert (await site.admin.send("DELETE", f"{path}/{group}")).status_code == 201
    payload = {"name": f"{campaign_brief['name']} two", "campaign_id": campaign}
    await site.admin.post(path, {"payload": payload, "parentId": campaign}, 201)
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        links = list((await person.open("/operations")).links)
    name = campaign_brief["name"]
    expected = {f"Create {name}", f"Activate {name}", f"Pause {name}", f"Delete ad group {name}"}
    assert expected | {f"Create ad group {name} two"} <= set(links), links


async def test_what_was_created_long_ago_has_its_name(site: Served) -> None:
    campaign_brief, source = await create_campaign(site, "google")
    ids = source["receipt"]["steps"][0]["outputs"]["resourceNames"]
    campaign = ids[1].rpartition("/")[2]
    await fill_latest_operations(site)
    for kind, id_ in (("campaign", campaign), ("ad", ids[-1].rpartition("/")[2])):
        body = {"accountId": source["accountId"], "kind": kind, "entityIds": [id_], "status": "active"}
        await site.admin.post("/bulk-status", body, 201)
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        links = set((await person.open("/operations")).links)
        assert {f"Activate {campaign_brief['name']}", f"Activate ad of {campaign_brief['name']}"} <= links, links
        assert f"Create {campaign_brief['name']}" not in links
        await person.follow(f"Activate ad of {campaign_brief['name']}")
        assert "20.00 USD per day" in person.text


async def fill_latest_operations(site: Served) -> None:
    """Prepare so much that nothing else is among the latest."""
    account = site.accounts.get("meta") or await connect(site, "meta")
    for _ in range(50):
        await site.admin.post("/create", {"accountId": account, "campaign": brief("meta")}, 201)


async def test_older_operations_are_found(site: Served) -> None:
    """By the link to older ones, and by filters; a filter stays on the pages that follow."""
    campaign_brief, _ = await create_campaign(site, "tiktok")
    await fill_latest_operations(site)
    name = f"Create {campaign_brief['name']}"
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        assert name not in (await person.open("/operations")).links
        while name not in person.page.links:
            await person.follow("Older")
        assert "Newest" in person.page.links
        assert name in (await person.open("/operations?status=succeeded&network=tiktok&since=2020-01-01")).links
        assert name not in (await person.open("/operations?status=succeeded&network=x")).links
        assert "No operation was found" in (await person.open("/operations?until=2020-01-01")).text
        await person.open("/operations?action=create")
        assert "action=create" in person.page.links["Older"]
        await person.open("/operations?since=soon", 422)


async def test_a_step_shows_where_earlier_ids_go_in(site: Served) -> None:
    account = site.accounts.get("meta") or await connect(site, "meta")
    prepared = await site.admin.post("/create", {"accountId": account, "campaign": brief("meta")}, 201)
    text = (await open_review(site, prepared)).text
    for binding in ("campaign_id ← id of step 1", "adset_id ← id of step 2", "creative.creative_id ← id of step 3"):
        assert binding in text, text
    assert "The native request: POST ad" not in text
    done = await site.admin.execute(prepared["id"])
    ids = [step["outputs"]["id"] for step in done["receipt"]["steps"]]
    text = (await open_review(site, prepared)).text
    assert f"campaign_id ← id of step 1, which is {ids[0]}" in text


async def test_an_unknown_outcome_is_said_once(site: Served) -> None:
    account = site.accounts.get("meta") or await connect(site, "meta")
    prepared = await site.admin.post("/create", {"accountId": account, "campaign": brief("meta")}, 201)
    await site.networks.fault("meta", "reset_after", path="/v26.0/act_*/adsets", method="POST")
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(prepared["reviewUrl"])
        await person.send({"confirmed": "true"}, action="/execute", expected=400)
        at_once = person.page
        later = await person.open(prepared["reviewUrl"])
    for page in (at_once, later):
        assert page.text.lower().count("is not known whether") == 1, page.text
        assert "It is not known whether step 2 was written" in page.text
        assert len(find_elements(page, "div", role="alert")) == 1
        assert "Check the account before you prepare anything" in page.text
        assert "The network says" not in page.text and "cannot do this" not in page.text
        assert "What was to be written" in page.text and "What will be written" not in page.text
        assert f"/accounts/{account}" in page.links.values()


async def test_a_stalled_operation_is_told_likewise(site: Served) -> None:
    """Its process died during a write."""
    account = site.accounts.get("meta") or await connect(site, "meta")
    prepared = await site.admin.post("/create", {"accountId": account, "campaign": brief("meta")}, 201)
    values = {"status": "running", "fence": 1, "in_flight": True, "lease_until": site.service.store.clock.now() - 1}
    statement = update(operations).where(operations.c.id == prepared["id"]).values(**values).returning(operations.c.id)
    await site.service.store.write(lambda connection: connection.execute(statement).all())
    page = await open_review(site, prepared)
    assert (
        page.text.lower().count("is not known whether") == 1
        and "It is not known whether step 1 was written" in page.text
    )
    assert "the server stopped before a response arrived" in page.text and "What was to be written" in page.text
    assert not [form for form in page.forms if form.action.endswith("/execute")]


async def test_a_refusal_is_the_networks_own(site: Served) -> None:
    account = site.accounts.get("meta") or await connect(site, "meta")
    prepared = await site.admin.post("/create", {"accountId": account, "campaign": brief("meta")}, 201)
    await site.networks.fault("meta", "status", path="/v26.0/act_*/campaigns", method="POST", value=400)
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(prepared["reviewUrl"])
        await person.send({"confirmed": "true"}, action="/execute", expected=400)
        assert "cannot do this" not in person.text and "The network says" in person.text
        assert len(find_elements(person.page, "div", role="alert")) == 1
        assert "What will be written" in person.text


async def test_a_failed_activation_is_contained_on_its_page(site: Served) -> None:
    """The network refuses the campaign, after the ad and the ad group were set active."""
    _, source = await create_campaign(site, "meta")
    operation = await prepare_activation(site, source)
    campaign = next(entity["entityId"] for entity in source["created"] if entity["kind"] == "campaign")
    await site.networks.fault("meta", "status", method="POST", path=f"/v26.0/{campaign}", value=400)
    await site.admin.problem(400, "POST", f"/operations/{operation['id']}/execute", {"confirmed": True})
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(operation["reviewUrl"])
        await person.send({}, action="/undo")
        assert "an earlier operation" in person.text
        assert [form for form in person.page.forms if form.action.endswith("/execute")]
    undo = (await site.admin.get(f"/operations/{operation['id']}"))["undoneBy"]
    steps = (await site.admin.get(f"/operations/{undo}"))["plan"]["steps"]
    assert [step["kind"] for step in steps] == ["adGroup", "ad"]


async def test_the_plan_is_told_in_the_words_of_its_state(site: Served) -> None:
    _, source = await create_campaign(site, "meta")
    text = (await open_review(site, source)).text
    assert "What was written" in text and "What will be written" not in text
    assert re.search(rf'Executed .* by {re.escape(email("admin", "shop"))} with API key "write"', text)
    prepared = await prepare_activation(site, source)
    text = (await open_review(site, prepared)).text
    assert "What will be written" in text and "This can spend" in text
    await site.admin.post(f"/operations/{prepared['id']}/cancel", {})
    text = (await open_review(site, prepared)).text
    assert "This can spend" not in text
    assert "What would have been written" in text and "will start to run" not in text
    assert re.search(rf'Cancelled .* by {re.escape(email("admin", "shop"))} with API key "write"', text)


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_an_operation_without_bodies_is_still_reviewed(site: Served, network: str) -> None:
    """Retention has removed the bodies. The page says so, and offers nothing that needs them."""
    _, source = await create_campaign(site, network)
    activated = await site.admin.execute((await prepare_activation(site, source))["id"])
    days: dict[RetentionKind, int] = {rule.kind: 1 if rule.is_body else 0 for rule in RULES}
    site.hands.pass_(days=1)
    await delete_due(site.service.store, days)
    for operation in (source, activated):
        page = await open_review(site, operation)
        assert "were removed" in page.text and "the end of their retention" in page.text
        assert all(step["does"] in page.text for step in operation["plan"]["steps"])
        assert operation["plan"]["digest"][:12] in page.text
        assert not any(form.action.startswith("/review/") for form in page.forms)
