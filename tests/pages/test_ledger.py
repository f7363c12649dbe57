"""The page of the ledger: who changed what, with filters; only for admins."""

from __future__ import annotations

import pytest

from tests.server.served import Served, brief, connect

from .browsing import browser, email

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_an_admin_reads_and_filters(site: Served) -> None:
    account = site.accounts.get("meta") or await connect(site, "meta")
    body = {"accountId": account, "campaign": brief("meta")}
    operation = await site.person("member").post("/create", body, 201)
    key = await site.admin.post("/keys", {"name": "<b>reporting</b>"}, 201)
    async with browser(site) as admin:
        await admin.sign_in(email("admin"))
        page = await admin.open("/ledger")
        assert operation["id"] in page.text and key["keyId"] in page.text and email("member") in page.text
        assert "<b>reporting</b>" in page.text  # as text, and not as a tag
        page = await admin.open("/ledger?kind=prepare&network=meta")
        assert operation["id"] in page.text and key["keyId"] not in page.text
        assert "No row was found" in (await admin.open("/ledger?until=2001-01-01")).text
        page = await admin.open("/ledger?actor=" + site.people["member"].actor.user_id)
        assert operation["id"] in page.text and key["keyId"] not in page.text


async def test_others_do_not_see_it(site: Served) -> None:
    async with browser(site) as member:
        await member.sign_in(email("member"))
        page = await member.open("/operations")
        assert "Ledger" not in page.links
        await member.open("/ledger", 403)
