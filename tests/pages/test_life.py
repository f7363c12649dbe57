"""A whole life on the pages: connect, review, execute, activate, look at the figures, disconnect."""

from __future__ import annotations

from urllib.parse import urljoin

import pytest

from tests.server.served import Served, brief, given, press

from .browsing import browser, email, found

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_whole_life(site: Served) -> None:
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open("/connections")
        await person.send(button="Connect Meta", expected=201)
        link = next(address for text, address in person.page.links.items() if text.startswith("Go to"))
        consent = await person.http.get(link)
        done = await press(person.http, consent)
        person._shown(done, 200)
        assert "Connected" in person.text
        await site.settled()

        await person.open("/accounts")
        assert "USD" in person.text
        accounts = await site.admin.get("/accounts", network="meta")
        account = next(one["accountId"] for one in accounts if one["currency"] == "USD")
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
        assert len(found(person.page, "svg", role="img")) == 2
        assert len([one for one in found(person.page, "rect") if one.get("class") == "mark"]) == 10
        await person.open("/operations")
        assert person.text.count("succeeded") == 2

        await person.open("/connections")
        await person.send(action="/disconnect")
        assert "disconnected" in person.text
        assert urljoin(site.base_url, "/connections") == person.at


async def test_credentials_of_their_own(site: Served) -> None:
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open("/connections")
        await person.follow("Connect Outbrain")
        own = given("outbrain")
        del own["network"]
        form = next(form for form in person.page.forms if own.keys() <= form.fields.keys())
        wrong = dict.fromkeys(own, "not the secret")
        answer = await person.http.post(person.at, data={**form.fields, **wrong})
        assert answer.status_code >= 400 and "not the secret" not in answer.text
        answer = await person.http.post(person.at, data={**form.fields, **own})
        assert answer.status_code == 201 and "connected" in answer.text
        await site.settled()
