"""The pages of guardrails: a rule is made, met, changed and lifted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.served import NEVER, Served, brief, connect

from .browsing import browser, email
from .driver import chromium
from .test_browser import check_page, find_account, sign_in

pytestmark = pytest.mark.asyncio(loop_scope="module")
FORM = {"name": "Evening agent", "currency": "USD", "perWindow.hours": "24", "perWindow.daily": "10"}


async def make_rule(site: Served, **members: Any) -> dict[str, Any]:
    """A rule made over REST."""
    rule: dict[str, Any] = await site.admin.post("/guardrails", {"name": "A rule", **members}, 201)
    return rule


async def drop_rules(site: Served) -> None:
    for rule in await site.admin.get("/guardrails"):
        await site.admin.delete(f"/guardrails/{rule['id']}")


async def prepare_activation(site: Served) -> dict[str, Any]:
    """A prepared activation of a campaign with 20 USD a day."""
    if "meta" not in site.accounts:
        await connect(site, "meta")
    body = {"accountId": await find_account(site), "campaign": brief("meta")}
    created = await site.admin.execute((await site.admin.post("/create", body, 201))["id"])
    activation = {"accountId": body["accountId"], "sourceOperationId": created["id"]}
    prepared: dict[str, Any] = await site.admin.post("/activate", activation, 201)
    return prepared


async def test_a_rule_is_made_changed_and_deleted(site: Served) -> None:
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        page = await person.open("/guardrails")
        assert "This workspace has no guardrails" in page.text
        await person.follow("New guardrail")
        page = await person.send(FORM, button="Create the guardrail")
        assert person.path == "/guardrails" and "10.00 USD a day in 24 hours" in page.text
        (rule,) = await site.admin.get("/guardrails")
        assert (rule["name"], rule["perWindow"], rule["active"]) == (
            "Evening agent",
            {"hours": 24, "daily": "10.00", "lifetime": None},
            True,
        )
        await person.follow("Evening agent")
        await person.send({"perWindow.daily": "", "perWindow.lifetime": "500", "blocked.delete": "true"}, button="Save")
        (changed,) = await site.admin.get("/guardrails")
        assert changed["version"] == 2 and changed["blockedActions"] == ["delete"]
        assert changed["perWindow"] == {"hours": 24, "daily": None, "lifetime": "500.00"}
        large = {"perWindow": {"hours": 24, "daily": "1250000", "lifetime": None}}
        await site.admin.send("PATCH", f"/guardrails/{rule['id']}", large)
        page = await person.open("/guardrails")
        assert "1,250,000.00 USD a day in 24 hours" in page.text and "0 of 1,250,000.00 USD a day" in page.text
        await person.follow("Evening agent")
        await person.send({}, button="Delete Evening agent")
        assert await site.admin.get("/guardrails") == []


async def test_a_refused_form_keeps_what_was_typed(site: Served) -> None:
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open("/guardrails/new")
        typed = {
            **FORM,
            "currency": "USS",
            "perWindow.daily": "ten",
            "maxIncreasePercent": "half",
            "network.meta": "true",
        }
        page = await person.send(typed, button="Create the guardrail", expected=422)
        fields = page.form("/guardrails").fields
        assert {name: fields[name] for name in typed} == typed
        wrong = {element["id"] for _, element in page.elements if element.get("class") == "wrong"}
        assert {"wrong-currency", "wrong-perWindow.daily", "wrong-maxIncreasePercent"} <= wrong
        assert await site.admin.get("/guardrails") == []


async def test_a_rule_names_what_it_applies_to(site: Served) -> None:
    verified = await site.admin.get("/auth/verify")
    key = (await site.admin.get("/keys"))[0]
    scope = {"networks": ["meta"], "keyIds": [key["keyId"]], "userIds": [verified["userId"]]}
    rule = await make_rule(site, scope=scope, blockedActions=["delete"])
    try:
        async with browser(site) as person:
            await person.sign_in(email("admin"))
            page = await person.open("/guardrails")
            assert f"Meta; {key['name']}; {email('admin')}" in page.text
            await person.open(f"/guardrails/{rule['id']}")
            await person.send({}, button="Save")
        (same,) = await site.admin.get("/guardrails")
        assert same == {**rule, "version": 2}
    finally:
        await drop_rules(site)


@pytest.mark.parametrize("name", ["viewer", "member"])
async def test_only_admins_change_rules(site: Served, name: str) -> None:
    rule = await make_rule(site, blockedActions=["delete"])
    try:
        async with browser(site) as person:
            await person.sign_in(email(name))
            page = await person.open("/guardrails")
            assert "Only an admin can create and change guardrails" in page.text
            page = await person.open(f"/guardrails/{rule['id']}")
            assert [form.action for form in page.forms if form.action.startswith("/guardrails")] == []
            csrf = page.form("/sign-out").fields["csrf"]
            for path in ("", "/lift", f"/{rule['id']}", f"/{rule['id']}/delete"):
                sent = {"csrf": csrf, "confirmed": "true", "name": "x", "blocked.edit": "true", "credential": NEVER}
                answer = await person.http.post(f"{site.base_url}/guardrails{path}", data=sent)
                assert answer.status_code == 403, path
        assert await site.admin.get("/guardrails") == [rule]
    finally:
        await drop_rules(site)


async def test_warnings_name_rules(site: Served) -> None:
    """The API has the ids of rules in warnings."""
    source = await prepare_activation(site)
    rule = await make_rule(site, name="<Agent>", approvalAbove={"daily": "1", "lifetime": None}, currency="USD")
    body = {name: source[name] for name in ("accountId", "sourceOperationId")}
    prepared = await site.admin.post("/activate", body, 201)
    assert rule["id"] in str(prepared["warnings"]) and rule["name"] not in str(prepared["warnings"])
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        page = await person.open(f"/review/{prepared['id']}")
        assert 'A signed-in person must execute this, by the guardrail "<Agent>":' in page.text
    await drop_rules(site)


@pytest.mark.exhaustive
async def test_a_rule_is_made_met_and_lifted_in_a_browser(site: Served) -> None:
    prepared = await prepare_activation(site)
    _, secret = await site.key("admin")
    robot = site.caller(secret)
    async with chromium() as driver:
        await sign_in(driver, site)
        await driver.press("Guardrails")
        await check_page(driver, "guardrails-empty")
        await driver.press("New guardrail")
        for name, value in FORM.items():
            await driver.type(f'input[name="{name}"]', value)
        await check_page(driver, "guardrail-form")
        await driver.press("Create the guardrail")
        await check_page(driver, "guardrails")

        await driver.open(prepared["reviewUrl"])  # meet it
        assert "20.00 USD more a day" in await driver.read_text()
        await check_page(driver, "exposure")
        writes = site.networks.writes()
        await driver.click("input[name=confirmed]")
        await driver.press("Execute")
        text = await driver.read_text()
        assert "Would fit" in text and "10.00 USD" in text and "Evening agent" in text
        assert site.networks.writes() == writes
        await check_page(driver, "guardrail-met", 403)

        await driver.press("Evening agent")  # make room, but let a person approve
        await driver.run("document.getElementById('perWindow.daily').value = ''")
        await driver.type('input[name="perWindow.daily"]', "100")
        await driver.type('input[name="approvalAbove.daily"]', "15")
        await driver.press("Save")
        problem = await robot.problem(403, "POST", f"/operations/{prepared['id']}/execute", {"confirmed": True})
        assert problem["code"] == "approval_required"
        await driver.open(prepared["reviewUrl"])
        await driver.click("input[name=confirmed]")
        await driver.press("Execute")
        assert "succeeded" in await driver.read_text()
        await driver.press("Guardrails")
        assert "20.00 of 100.00 USD a day" in await driver.read_text()
        await check_page(driver, "guardrails-used")

        await make_rule(site, name="Nothing is deleted", blockedActions=["delete"], onBreach="freeze")
        campaigns = await site.admin.get(f"/accounts/{prepared['accountId']}/campaigns")
        path = f"/accounts/{prepared['accountId']}/campaigns/{campaigns[0]['id']}"
        assert (await robot.problem(403, "DELETE", path))["code"] == "guardrail_exceeded"
        assert (await robot.problem(403, "PATCH", path, {"payload": {"name": "x"}}))["code"] == "credential_frozen"
        await driver.press("Guardrails")
        assert "Frozen credentials" in await driver.read_text()
        await check_page(driver, "guardrails-frozen")
        await driver.unfold("Lift")
        await driver.press("Lift the freeze")
        assert "Frozen credentials" not in await driver.read_text()
        assert (await robot.post(path + "/edit", {"fields": {"name": "Lifted again"}}, 201))["status"] == "prepared"
    await drop_rules(site)
