"""Webhooks are made, changed, tested, followed and deleted on their pages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from attrs import evolve

from adsunify.events import DEFAULT_EVENTS
from tests.server.served import NEVER, Served

from .browsing import browser, email

pytestmark = pytest.mark.asyncio(loop_scope="module")
HOOK, OTHER = "http://127.0.0.1:9/hook", "http://127.0.0.1:9/other"
"""Nobody listens there."""


@pytest.fixture(autouse=True)
def allow_local_hooks(site: Served) -> Iterator[None]:
    """The server may deliver to this machine."""
    before = site.service.settings
    site.service.settings = evolve(before, webhook_dev_targets=frozenset({HOOK, OTHER}))
    yield
    site.service.settings = before


async def test_a_webhook_is_made_changed_tested_and_deleted(site: Served) -> None:
    async with browser(site) as person:
        await person.sign_in(email("member"))
        page = await person.open("/webhooks")
        assert "This workspace has no webhooks" in page.text
        ticked = {name for name in page.form("/webhooks").fields if name.startswith("event.")}
        assert ticked == {f"event.{name}" for name in DEFAULT_EVENTS}
        page = await person.send({"url": HOOK, "event.sync.failed": "true"}, button="Create the webhook", expected=201)
        secret = next(word for word in page.text.split() if word.startswith("whsec_"))
        page = await person.open("/webhooks")
        assert secret not in page.text and HOOK in page.text
        await person.follow(HOOK)
        (webhook,) = await site.person("member").get("/webhooks")
        assert person.path == f"/webhooks/{webhook['webhookId']}" and "Nothing has been sent" in person.text
        assert set(webhook["events"]) == {*DEFAULT_EVENTS, "sync.failed"}

        await person.send(button="Send a test")
        await person.follow("webhook.test")
        address = person.at
        async with asyncio.timeout(60):
            while "Next attempt" not in (await person.open(address)).text or "No attempt" in person.text:
                await asyncio.sleep(0.05)
        assert "pending" in person.text and "127.0.0.1:9" in person.text

        await person.open(f"/webhooks/{webhook['webhookId']}")
        assert "paused" in (await person.send(button="Pause")).text
        page = await person.send({"url": OTHER}, button="Save")
        assert OTHER in page.text
        (webhook,) = await site.person("member").get("/webhooks")
        assert (webhook["url"], webhook["active"]) == (OTHER, False)
        await person.send(button="Resume")
        await person.send(button="Delete this webhook")
        assert person.path == "/webhooks" and await site.person("member").get("/webhooks") == []


async def test_a_finished_delivery_is_sent_again(site: Served) -> None:
    webhook = await site.admin.post("/webhooks", {"url": HOOK}, 201)
    path = f"/webhooks/{webhook['webhookId']}"
    delivery = (await site.admin.post(f"{path}/test", {}, 202))["deliveryId"]
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        async with asyncio.timeout(100):
            while (await site.admin.get(f"{path}/deliveries"))[0]["status"] != "failed":
                site.hands.pass_(hours=11)  # to the next attempt
                for wake in site.service.store.watchers:
                    wake()
                await asyncio.sleep(0.1)
        await person.open(f"{path}/deliveries/{delivery}")
        before = len(await site.admin.get(f"{path}/deliveries/{delivery}/attempts"))
        await person.send(button="Deliver again")
        assert person.path == f"{path}/deliveries/{delivery}"
        async with asyncio.timeout(60):
            while len(await site.admin.get(f"{path}/deliveries/{delivery}/attempts")) == before:
                await asyncio.sleep(0.05)
    await site.admin.delete(path)


async def test_a_refused_form_keeps_what_was_typed(site: Served) -> None:
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open("/webhooks")
        typed = {"url": "http://example.com/hook", "event.sync.failed": "true"}
        page = await person.send(typed, button="Create the webhook", expected=422)
        assert typed.items() <= page.form("/webhooks").fields.items()
        assert "url" in page.text and await site.admin.get("/webhooks") == []
        await person.open(f"/webhooks/{NEVER}", 404)


async def test_a_viewer_changes_nothing(site: Served) -> None:
    webhook = await site.admin.post("/webhooks", {"url": HOOK}, 201)
    async with browser(site) as person:
        await person.sign_in(email("viewer"))
        page = await person.open("/webhooks")
        csrf = page.form("/sign-out").fields["csrf"]
        assert {form.action for form in page.forms} == {"/sign-out"}
        for path in (
            "",
            f"/{webhook['webhookId']}",
            f"/{webhook['webhookId']}/test",
            f"/{webhook['webhookId']}/delete",
        ):
            sent = {"csrf": csrf, "confirmed": "true", "url": OTHER, "active": "false"}
            answer = await person.http.post(f"{site.base_url}/webhooks{path}", data=sent)
            assert answer.status_code == 403, path
    assert [row["webhookId"] for row in await site.admin.get("/webhooks")] == [webhook["webhookId"]]
    await site.admin.delete(f"/webhooks/{webhook['webhookId']}")
