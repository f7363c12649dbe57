"""Campaigns are searched, filtered, paused, activated and edited; each change leads to its review."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify_server.pages.entities import KINDS
from tests.server.served import Served, brief, connect

from .browsing import Page, browser, email, find_elements

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def create(site: Served, network: str, name: str) -> tuple[str, str]:
    """A created campaign: its account and its id."""
    account = site.accounts.get(network) or await connect(site, network)
    body = {"accountId": account, "campaign": {**brief(network), "name": name}}
    operation = await site.admin.execute((await site.admin.post("/create", body, 201))["id"])
    return account, next(entity["entityId"] for entity in operation["created"] if entity["kind"] == "campaign")


def list_names(page: Page) -> list[str]:
    """The ids of the entities that can be ticked."""
    return [element["name"].removeprefix("entity.") for element in find_elements(page, "input", type="checkbox")]


async def read(site: Served, operation: str) -> Mapping[str, Any]:
    operation_rows: Mapping[str, Any] = await site.admin.get(f"/operations/{operation}")
    return operation_rows


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_every_level_of_every_network_is_shown(site: Served, network: str) -> None:
    """Each entity of each level has its page, and its links lead somewhere."""
    account, campaign = await create(site, network, f"Shown on {network}")
    kinds = {level.kind for level in get_adapter(network).network.levels}
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        page = await person.open(f"/accounts/{account}")
        assert find_elements(page, "a", href=f"/accounts/{account}/campaigns/{quote(campaign)}")
        for word, kind in KINDS.items():
            page = await person.open(f"/accounts/{account}/{word}", 200 if kind in kinds else 422)
            if kind not in kinds:
                continue
            entities = [link for link in page.links.values() if link.startswith(f"/accounts/{account}/{word}/")]
            assert entities, word
            await person.open(entities[0])
            if "Prepare the change" in person.text:
                await person.send(button="Prepare the change", expected=422)
                assert "Change a field first" in person.text
            below = next((link for text, link in person.page.links.items() if text.endswith("below it")), None)
            if below is not None:
                assert "?parent=" in below
                await person.open(below)


async def test_campaigns_are_searched_and_filtered(site: Served) -> None:
    account, first = await create(site, "meta", "Terrace chairs")
    _, second = await create(site, "meta", "Balcony tables")
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(f"/accounts/{account}/campaigns")
        assert {first, second} <= set(list_names(person.page))
        await person.send({"search": "terrace"}, button="Show")
        assert first in list_names(person.page) and second not in list_names(person.page)
        for status, holds in (("paused", True), ("active", False)):
            await person.send({"search": "terrace", "status": status}, button="Show")
            assert (first in list_names(person.page)) is holds
        await person.open(f"/accounts/{account}/campaigns?search=nothing-has-this-name")
        assert "Nothing was found" in person.text


async def test_a_campaign_is_paused_and_activated(site: Served) -> None:
    account, campaign = await create(site, "pinterest", "Paused and activated")
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        for button, status in (("Activate", "active"), ("Pause", "paused")):
            await person.open(f"/accounts/{account}/campaigns?search=Paused+and+activated")
            await person.send(button=f"{button} Paused and activated")
            assert person.path.startswith("/review/") and "prepared" in person.text
            assert (await site.admin.get(f"/accounts/{account}/campaigns/{campaign}"))["status"] != status
            await person.send({"confirmed": "true"}, action="/execute")
            assert "succeeded" in person.text
            assert (await site.admin.get(f"/accounts/{account}/campaigns/{campaign}"))["status"] == status


async def test_ticked_campaigns_are_activated_together(site: Served) -> None:
    account, first = await create(site, "pinterest", "Ticked one")
    _, second = await create(site, "pinterest", "Ticked two")
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(f"/accounts/{account}/campaigns")
        await person.send(button="Activate the ticked", expected=422)
        assert "Tick the rows" in person.text
        await person.send({f"entity.{first}": "true", f"entity.{second}": "true"}, button="Activate the ticked")
        assert person.path == "/reviews" and person.text.count("Activate Ticked") == 2
        assert (
            person.text.count("status: paused → active") == 2
            and person.text.count("This can spend 20.00 USD more") == 2
        )
        assert "Execute 2 operations" in person.text
        at, csrf = person.at, person.page.form("/reviews/execute").fields["csrf"]
        ids = person.page.form("/reviews/execute").fields["open"]
        for wrong in ({"open": ids}, {"open": "1", "confirmed": "true"}, {"confirmed": "true"}):
            answer = await person.http.post(f"{site.base_url}/reviews/execute", data={**wrong, "csrf": csrf})
            assert answer.status_code == 422, wrong
        await site.networks.fault("pinterest", "status", method="PATCH", path="/v5/ad_accounts/*/campaigns", value=400)
        await person.send({"confirmed": "true"}, action="/reviews/execute")
        states = [(await read(site, id_))["status"] for id_ in ids.split(",")]
        assert sorted(states) == ["prepared", "succeeded"] and "Execute 1 operation" in person.text
        await person.open(at)
        await person.send({"confirmed": "true"}, action="/reviews/execute")
        assert (
            person.path == "/reviews" and [form.action for form in person.page.forms if "reviews" in form.action] == []
        )
        assert {(await read(site, id_))["status"] for id_ in ids.split(",")} == {"succeeded"}


async def test_several_operations_are_reviewed_by_those_who_may_see_them(site: Served) -> None:
    account, first = await create(site, "pinterest", "Not for strangers")
    body = {"accountId": account, "kind": "campaign", "entityIds": [first], "status": "active"}
    (operation,) = (await site.admin.post("/bulk-status", body, 201))["operations"]
    async with browser(site) as person:
        await person.sign_in(email("stranger", "other"))
        await person.open(f"/reviews?operations={operation['id']}", 404)
        await person.open("/reviews?operations=nonsense", 422)
        await person.open("/reviews")
        assert "names no operation" in person.text
        csrf = person.page.form("/sign-out").fields["csrf"]
        sent = {"csrf": csrf, "confirmed": "true", "open": operation["id"], "operations": operation["id"]}
        assert (await person.http.post(f"{site.base_url}/reviews/execute", data=sent)).status_code == 404
    assert (await read(site, operation["id"]))["status"] == "prepared"


async def test_a_budget_is_edited(site: Served) -> None:
    account, campaign = await create(site, "google", "Budget")
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(f"/accounts/{account}/campaigns/{campaign}")
        before = person.page.form(f"/campaigns/{campaign}").fields["field.budget"]
        await person.send({"field.budget": "a lot"}, button="Prepare the change", expected=422)
        assert find_elements(person.page, "p", id="wrong-budget")
        assert person.page.form(f"/campaigns/{campaign}").fields["field.budget"] == "a lot"
        await person.send({"field.budget": "1234.50"}, button="Prepare the change")
        operation = await read(site, person.path.rpartition("/")[2])
        (change,) = [change for step in operation["plan"]["steps"] for change in step["changes"]]
        assert (change["field"], Decimal(change["after"])) == ("budget", Decimal("1234.50"))
        assert Decimal(change["before"]) == Decimal(before)
        assert "1,234.50 USD" in person.text


async def test_a_viewer_changes_nothing(site: Served) -> None:
    account, campaign = await create(site, "meta", "Not for viewers")
    async with browser(site) as person:
        await person.sign_in(email("viewer"))
        for path in (f"/accounts/{account}/campaigns", f"/accounts/{account}/campaigns/{campaign}"):
            page = await person.open(path)
            assert {form.action for form in page.forms if form.method == "post"} == {"/sign-out"}
            sent = {"csrf": page.form("/sign-out").fields["csrf"], "only": f"active:{campaign}", "field.name": "x"}
            assert (await person.http.post(site.base_url + path, data=sent)).status_code == 403
