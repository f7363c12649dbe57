"""A whole life on the pages: connect, review, execute, activate, look at the figures, disconnect."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from urllib.parse import urljoin

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES
from tests.server.served import Served, brief, connect, make_credentials

from .browsing import browser, email, find_elements

pytestmark = pytest.mark.asyncio(loop_scope="module")
EXTRA: Mapping[str, tuple[str, ...]] = {}
"""Amounts beside budget and bid that a network is sent."""


async def test_a_whole_life(site: Served) -> None:
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open("/connections")
        await person.send(button="Connect Meta", expected=201)
        await person.follow("Continue")
        await person.send(button="Continue to Meta")
        await person.send(button="Allow")
        assert "Connected" in person.text
        await site.wait_for_background_tasks()

        await person.open("/accounts")
        assert "USD" in person.text
        accounts = await site.admin.get("/accounts", network="meta")
        account = next(row["accountId"] for row in accounts if row["currency"] == "USD")
        prepared = await site.admin.post("/create", {"accountId": account, "campaign": brief("meta")}, 201)
        await person.open(prepared["reviewUrl"])
        for step in prepared["plan"]["steps"]:
            assert step["does"] in person.text and step["path"] in person.text
        assert "daily_budget" in person.text and "2000" in person.text
        writes = site.networks.writes()
        await person.send(action="/execute", expected=422)  # not ticked
        assert site.networks.writes() == writes
        await person.open(prepared["reviewUrl"])
        await person.send({"confirmed": "true"}, action="/execute")
        assert person.path == f"/review/{prepared['id']}" and "succeeded" in person.text
        assert site.networks.writes() > writes

        await person.send(button="Prepare the activation")
        assert "risk: spend" in person.text and "to active" in person.text
        await person.send({"confirmed": "true"}, action="/execute")
        assert "succeeded" in person.text

        await person.open(f"/accounts/{account}")
        assert "active" in person.text and "ad group" in person.text
        await person.open(f"/accounts/{account}/insights?startDate=2026-11-01&endDate=2026-11-10")
        assert len(find_elements(person.page, "svg", role="group")) == 2
        assert len([element for element in find_elements(person.page, "rect") if element.get("class") == "mark"]) == 10
        await person.open("/operations")
        assert len(find_elements(person.page, "span", **{"class": "status succeeded"})) == 2

        await person.open("/connections")
        await person.send(action="/disconnect")
        assert "disconnected" in person.text
        assert urljoin(site.base_url, "/connections") == person.at


async def test_credentials_of_their_own(site: Served) -> None:
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open("/connections")
        await person.follow("Connect Outbrain")
        own = make_credentials("outbrain")
        del own["network"]
        form = next(form for form in person.page.forms if own.keys() <= form.fields.keys())
        wrong = dict.fromkeys(own, "not the secret")
        answer = await person.http.post(person.at, data={**form.fields, **wrong})
        assert answer.status_code >= 400 and "not the secret" not in answer.text
        answer = await person.http.post(person.at, data={**form.fields, **own})
        assert answer.status_code == 201 and "connected" in answer.text
        await site.wait_for_background_tasks()


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_a_review_says_the_budget_in_the_accounts_money(site: Served, network: str) -> None:
    """Whatever units the network counts in."""
    account = await connect(site, network)
    campaign = brief(network)
    prepared = await site.admin.post("/create", {"accountId": account, "campaign": campaign}, 201)
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(prepared["reviewUrl"])
        texts = [words for words in person.page.words if words.strip().endswith(" USD")]
    amounts = {Decimal(words.split()[-2]) for words in texts if words.split()[-2].replace(".", "").isdigit()}
    expected = {Decimal(campaign["budget"]["amount"]), *([Decimal(campaign["bid"])] if "bid" in campaign else [])}
    assert expected <= amounts and amounts <= expected | set(map(Decimal, EXTRA.get(network, ()))), (
        amounts,
        person.text,
    )


async def test_an_edit_shows_before_and_after(site: Served) -> None:
    account = await connect(site, "meta")
    operation = await site.admin.post("/create", {"accountId": account, "campaign": brief("meta")}, 201)
    await site.admin.execute(operation["id"])
    tree = await site.admin.get(f"/accounts/{account}/tree")
    group = next(node["id"] for node in tree["nodes"] if node["kind"] == "adGroup")
    edit = await site.admin.post(f"/accounts/{account}/ad-groups/{group}/edit", {"fields": {"budget": "25.50"}}, 201)
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(edit["reviewUrl"])
        assert "Before After budget 20.00 USD 25.50 USD" in person.text and "risk: spend" in person.text
        assert "What will be changed" in person.text and "will start to run" not in person.text
        await person.send(button="Cancel")
        assert "cancelled" in person.text and not person.page.forms[1:]
