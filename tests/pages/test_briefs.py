"""A campaign is written in a form, whose fields are those of the network's tables."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, update

from adsunify.models.yaml_text import format_yaml
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.store.schema import accounts
from adsunify.values.exact_json import dumps
from tests.server.served import Served, brief, connect

from .browsing import Page, browser, email, find_elements
from .driver import CUT, chromium
from .test_browser import sign_in

pytestmark = pytest.mark.asyncio(loop_scope="module")


def to_fields(campaign: dict[str, Any]) -> dict[str, str]:
    """The fields of the form for a brief."""
    fields: dict[str, str] = {}
    for part, value in campaign.items():
        members = (
            {f"{part}.{name}": member for name, member in value.items()} if isinstance(value, dict) else {part: value}
        )
        for path, content in members.items():
            if path == "targeting.keywords":
                content = "\n".join(f"{word['text']} | {word.get('match', 'exact')}" for word in content)
            elif isinstance(content, list):
                content = "\n".join(content)
            fields[path] = content if isinstance(content, str) else dumps(content)
    return fields


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_a_campaign_is_written_in_the_form_of_its_network(site: Served, network: str) -> None:
    account = site.accounts.get(network) or await connect(site, network)
    campaign = brief(network)
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(f"/accounts/{account}/create")
        page = await person.send({**to_fields(campaign), "name": "x"}, action="/create", button="Check", expected=422)
        assert find_elements(page, "div", id="wrong-name") and find_elements(
            page, "input", id="name", **{"aria-invalid": "true"}
        )
        await person.send(to_fields(campaign), action="/create", button="Check")
        assert "The brief is valid" in person.text
        await person.send(to_fields(campaign), action="/create", button="Prepare")
        assert person.path.startswith("/review/") and campaign["name"] in person.text


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_the_example_of_a_start_is_accepted(site: Served, network: str) -> None:
    """Also by networks that store whole days, in the time zone of the account."""
    account = site.accounts.get(network) or await connect(site, network)
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(f"/accounts/{account}/create")
        (example,) = re.findall(r"such as (20[0-9T:Z+-]+)", person.text)
        campaign = brief(network)
        campaign["schedule"] = {**campaign["schedule"], "startAt": example}
        if "endAt" in campaign["schedule"]:
            campaign["schedule"]["endAt"] = (datetime.fromisoformat(example) + timedelta(days=30)).isoformat()
        await person.send(to_fields(campaign), action="/create", button="Check")
        assert "The brief is valid" in person.text


WHOLE_DAYS = [network for network in ADAPTER_PACKAGES if get_adapter(network).network.has_whole_days]


@pytest.mark.parametrize("network", WHOLE_DAYS)
async def test_a_form_opens_without_a_usable_time_zone(site: Served, network: str) -> None:
    """The time zone of an account is stored as the network sends it; an example of a midnight needs a known one."""
    account = site.accounts.get(network) or await connect(site, network)
    known = (await site.admin.get(f"/accounts/{account}"))["timezone"]
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        try:
            await site.service.store.write(set_timezone, account, "Mars/Base")
            await person.open(f"/accounts/{account}/create")
        finally:
            await site.service.store.write(set_timezone, account, known)
        assert "midnight in the time zone of the account" in person.text and "such as 20" not in person.text


def set_timezone(connection: Connection, account_id: str, timezone: str) -> None:
    connection.execute(update(accounts).where(accounts.c.id == account_id).values(timezone=timezone))


@pytest.mark.parametrize("form", ["json", "yaml"])
async def test_a_brief_is_uploaded(site: Served, form: str) -> None:
    """The file fills in the form and is checked; what is wrong is shown at its field."""
    account = site.accounts.get("google") or await connect(site, "google")
    campaign = brief("google")
    write = dumps if form == "json" else format_yaml
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        address = (await person.open(f"/accounts/{account}/create")).form("/create").action
        sent = {"csrf": person.page.form("/create").fields["csrf"], "act": "upload"}

        async def upload(content: str) -> httpx.Response:
            return await person.http.post(site.base_url + address, data=sent, files={"file": ("brief", content)})

        answer = await upload(write(campaign))
        assert answer.status_code == 200 and "The brief is valid" in answer.text
        filled = Page(answer.text).form("/create", "Prepare").fields
        assert to_fields(campaign).items() <= filled.items()
        answer = await upload(write({**campaign, "goal": "fame", "targetting": {}}))
        page = Page(answer.text)
        assert answer.status_code == 422 and find_elements(page, "div", id="wrong-goal") and "targetting" in page.text
        answer = await upload("{")
        assert answer.status_code == 422 and "must be valid JSON" in answer.text


async def test_a_campaign_is_typed_in_a_real_browser(site: Served) -> None:
    """Wrong input shows its issue beside the field; the form and the review in words fit a desk and a phone."""
    async with chromium() as driver:
        await sign_in(driver, site)
        for network in ("google", "meta", "pinterest"):
            account = site.accounts.get(network) or await connect(site, network)
            campaign = brief(network)
            fields = to_fields(campaign)
            await driver.open(f"{site.base_url}/accounts/{account}/create")
            await driver.run("document.getElementById('budget.currency').value = ''")
            for path, text in {**fields, "name": "x"}.items():
                css = f"[id='{path}']"
                if await driver.count(f"select{css}"):
                    await driver.run("document.getElementById(arguments[0]).value = arguments[1]", path, text)
                else:
                    await driver.type(css, text)
            await driver.press("Check")
            assert await driver.count(".wrong[id='wrong-name']") == 1 and await driver.count(".wrong") == 1
            for width in (1280, 390):
                await driver.set_width(width)
                assert await driver.run(CUT) == []
            await driver.check_contrast()
            await driver.type("[id='name']", campaign["name"])
            await driver.press("Prepare")
            assert "/review/" in await driver.get_address() and "In words" in await driver.read_text()
            for width in (1280, 390):
                await driver.set_width(width)
                assert await driver.run(CUT) == []
            await driver.check_contrast()
