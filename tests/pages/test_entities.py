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

from .browsing import Page, browser, email, found

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def create(site: Served, network: str, name: str) -> tuple[str, str]:
    """A created campaign: its account and its id."""
    account = site.accounts.get(network) or await connect(site, network)
    body = {"accountId": account, "campaign": {**brief(network), "name": name}}
    made = await site.admin.execute((await site.admin.post("/create", body, 201))["id"])
    return account, next(one["entityId"] for one in made["created"] if one["kind"] == "campaign")


def list_names(page: Page) -> list[str]:
    """The ids of the entities that can be ticked."""
    return [one["name"].removeprefix("entity.") for one in found(page, "input", type="checkbox")]


async def read(site: Served, operation: str) -> Mapping[str, Any]:
    shown: Mapping[str, Any] = await site.admin.get(f"/operations/{operation}")
    return shown


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_every_level_of_every_network_is_shown(site: Served, network: str) -> None:
    """Each entity of each level has its page, and its links lead somewhere."""
    account, campaign = await create(site, network, f"Shown on {network}")
    kinds = {level.kind for level in get_adapter(network).network.levels}
    async with browser(site) as one:
        await one.sign_in(email("admin"))
        page = await one.open(f"/accounts/{account}")
        assert found(page, "a", href=f"/accounts/{account}/campaigns/{quote(campaign)}")
        for word, kind in KINDS.items():
            page = await one.open(f"/accounts/{account}/{word}", 200 if kind in kinds else 422)
            if kind not in kinds:
                continue
            entities = [link for link in page.links.values() if link.startswith(f"/accounts/{account}/{word}/")]
            assert entities, word
            await one.open(entities[0])
            if "Prepare the change" in one.text:
                await one.send(button="Prepare the change", expected=422)
                assert "Change a field first" in one.text
            below = next((link for text, link in one.page.links.items() if text.endswith("below it")), None)
            if below is not None:
                assert "?parent=" in below
                await one.open(below)


async def test_campaigns_are_searched_and_filtered(site: Served) -> None:
    account, first = await create(site, "meta", "Terrace chairs")
    _, second = await create(site, "meta", "Balcony tables")
    async with browser(site) as one:
        await one.sign_in(email("admin"))
        await one.open(f"/accounts/{account}/campaigns")
        assert {first, second} <= set(list_names(one.page))
        await one.send({"search": "terrace"}, button="Show")
        assert first in list_names(one.page) and second not in list_names(one.page)
        for status, holds in (("paused", True), ("active", False)):
            await one.send({"search": "terrace", "status": status}, button="Show")
            assert (first in list_names(one.page)) is holds
        await one.open(f"/accounts/{account}/campaigns?search=nothing-has-this-name")
        assert "Nothing was found" in one.text


async def test_a_campaign_is_paused_and_activated(site: Served) -> None:
    account, campaign = await create(site, "pinterest", "Paused and activated")
    async with browser(site) as one:
        await one.sign_in(email("admin"))
        for button, status in (("Activate", "active"), ("Pause", "paused")):
            await one.open(f"/accounts/{account}/campaigns?search=Paused+and+activated")
            await one.send(button=f"{button} Paused and activated")
            assert one.path.startswith("/review/") and "prepared" in one.text
            assert (await site.admin.get(f"/accounts/{account}/campaigns/{campaign}"))["status"] != status
            await one.send({"confirmed": "true"}, action="/execute")
            assert "succeeded" in one.text
            assert (await site.admin.get(f"/accounts/{account}/campaigns/{campaign}"))["status"] == status


async def test_ticked_campaigns_are_activated_together(site: Served) -> None:
    account, first = await create(site, "pinterest", "Ticked one")
    _, second = await create(site, "pinterest", "Ticked two")
    async with browser(site) as one:
        await one.sign_in(email("admin"))
        await one.open(f"/accounts/{account}/campaigns")
        await one.send(button="Activate the ticked", expected=422)
        assert "Tick the rows" in one.text
        await one.send({f"entity.{first}": "true", f"entity.{second}": "true"}, button="Activate the ticked")
        assert one.path == "/reviews" and one.text.count("Activate Ticked") == 2
        assert one.text.count("status: paused → active") == 2 and one.text.count("This can spend 20.00 USD more") == 2
        assert "Execute 2 operations" in one.text
        at, csrf = one.at, one.page.form("/reviews/execute").fields["csrf"]
        ids = one.page.form("/reviews/execute").fields["open"]
        for wrong in ({"open": ids}, {"open": "1", "confirmed": "true"}, {"confirmed": "true"}):
            answer = await one.http.post(f"{site.base_url}/reviews/execute", data={**wrong, "csrf": csrf})
            assert answer.status_code == 422, wrong
        await site.networks.fault("pinterest", "status", method="PATCH", path="/v5/ad_accounts/*/campaigns", value=400)
        await one.send({"confirmed": "true"}, action="/reviews/execute")
        states = [(await read(site, id_))["status"] for id_ in ids.split(",")]
        assert sorted(states) == ["prepared", "succeeded"] and "Execute 1 operation" in one.text
        await one.open(at)
        await one.send({"confirmed": "true"}, action="/reviews/execute")
        assert one.path == "/reviews" and [form.action for form in one.page.forms if "reviews" in form.action] == []
        assert {(await read(site, id_))["status"] for id_ in ids.split(",")} == {"succeeded"}


async def test_several_operations_are_reviewed_by_those_who_may_see_them(site: Served) -> None:
    account, first = await create(site, "pinterest", "Not for strangers")
    body = {"accountId": account, "kind": "campaign", "entityIds": [first], "status": "active"}
    (operation,) = (await site.admin.post("/bulk-status", body, 201))["operations"]
    async with browser(site) as one:
        await one.sign_in(email("stranger", "other"))
        await one.open(f"/reviews?operations={operation['id']}", 404)
        await one.open("/reviews?operations=nonsense", 422)
        await one.open("/reviews")
        assert "names no operation" in one.text
        csrf = one.page.form("/sign-out").fields["csrf"]
        sent = {"csrf": csrf, "confirmed": "true", "open": operation["id"], "operations": operation["id"]}
        assert (await one.http.post(f"{site.base_url}/reviews/execute", data=sent)).status_code == 404
    assert (await read(site, operation["id"]))["status"] == "prepared"


async def test_a_budget_is_edited(site: Served) -> None:
    account, campaign = await create(site, "google", "Budget")
    async with browser(site) as one:
        await one.sign_in(email("admin"))
        await one.open(f"/accounts/{account}/campaigns/{campaign}")
        before = one.page.form(f"/campaigns/{campaign}").fields["field.budget"]
        await one.send({"field.budget": "a lot"}, button="Prepare the change", expected=422)
        assert found(one.page, "p", id="wrong-budget")
        assert one.page.form(f"/campaigns/{campaign}").fields["field.budget"] == "a lot"
        await one.send({"field.budget": "1234.50"}, button="Prepare the change")
        operation = await read(site, one.path.rpartition("/")[2])
        (change,) = [change for step in operation["plan"]["steps"] for change in step["changes"]]
        assert (change["field"], Decimal(change["after"])) == ("budget", Decimal("1234.50"))
        assert Decimal(change["before"]) == Decimal(before)
        assert "1,234.50 USD" in one.text


async def test_a_viewer_changes_nothing(site: Served) -> None:
    account, campaign = await create(site, "meta", "Not for viewers")
    async with browser(site) as one:
        await one.sign_in(email("viewer"))
        for path in (f"/accounts/{account}/campaigns", f"/accounts/{account}/campaigns/{campaign}"):
            page = await one.open(path)
            assert {form.action for form in page.forms if form.method == "post"} == {"/sign-out"}
            sent = {"csrf": page.form("/sign-out").fields["csrf"], "only": f"active:{campaign}", "field.name": "x"}
            assert (await one.http.post(site.base_url + path, data=sent)).status_code == 403
