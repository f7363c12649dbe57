"""The page of alerts: one is made, paused and deleted, and what it does not know is shown."""

from __future__ import annotations

import pytest

from tests.server.served import NEVER, Served, connect

from .browsing import browser, email

pytestmark = pytest.mark.asyncio(loop_scope="module")
FORM = {"name": "Too much", "kind": "spendAbove", "level": "campaign", "amount": "50", "currency": "USD", "days": "7"}


async def test_an_alert_is_made_paused_and_deleted(site: Served) -> None:
    if "meta" not in site.accounts:
        await connect(site, "meta")
    account = site.accounts["meta"]
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        page = await person.open("/alerts")
        assert "This workspace has no alerts" in page.text
        page = await person.send({**FORM, f"account.{account}": "true"}, button="Create the alert")
        assert person.path == "/alerts" and "a campaign spends more than 50.00 USD within 7 days" in page.text
        assert "It was not evaluated yet" in page.text and "never" in page.text
        (alert,) = await site.admin.get("/alerts")
        assert (alert["scope"], alert["days"], alert["active"]) == ({"accountIds": [account]}, 7, True)
        page = await person.send({}, button="Pause Too much")
        assert "paused" in page.text and not (await site.admin.get("/alerts"))[0]["active"]
        await person.send({}, button="Resume Too much")
        assert await site.admin.get("/alerts") == [alert]
        await person.send({}, button="Delete Too much")
        assert await site.admin.get("/alerts") == []


async def test_a_refused_form_keeps_what_was_typed(site: Served) -> None:
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open("/alerts")
        typed = {**FORM, "amount": "fifty", "hours": "5", "entityIds": "1, 2", "network.meta": "true"}
        page = await person.send(typed, button="Create the alert", expected=422)
        fields = page.form("/alerts").fields
        assert {name: fields[name] for name in typed} == typed
        wrong = {element["id"] for _, element in page.elements if element.get("class") == "wrong"}
        assert {"wrong-amount", "wrong-hours"} <= wrong
        assert await site.admin.get("/alerts") == []


@pytest.mark.parametrize("name", ["viewer", "member"])
async def test_only_admins_change_alerts(site: Served, name: str) -> None:
    alert = await site.admin.post("/alerts", {"name": "Refused", "kind": "disapproved"}, 201)
    async with browser(site) as person:
        await person.sign_in(email(name))
        page = await person.open("/alerts")
        assert "an ad is disapproved" in page.text and "Only an admin can create and change alerts" in page.text
        assert [form.action for form in page.forms if form.action.startswith("/alerts")] == []
        csrf = page.form("/sign-out").fields["csrf"]
        for path in ("", f"/{alert['id']}", f"/{alert['id']}/delete", f"/{NEVER}"):
            sent = {"csrf": csrf, "confirmed": "true", "name": "x", "kind": "disapproved"}
            assert (await person.http.post(f"{site.base_url}/alerts{path}", data=sent)).status_code == 403, path
    assert [row["id"] for row in await site.admin.get("/alerts")] == [alert["id"]]
    await site.admin.delete(f"/alerts/{alert['id']}")
