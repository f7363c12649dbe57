"""A write whose answer was lost, on the pages: a person settles it, and prepares the rest."""

from __future__ import annotations

import pytest

from tests.server.served import Served

from .browsing import browser, email
from .test_access import prepare_operation

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_person_settles_and_writes_the_rest(site: Served) -> None:
    id_ = await prepare_operation(site)
    await site.networks.fault("meta", "reset_before", path="/v26.0/act_1001/campaigns", method="POST")
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(f"/review/{id_}")
        await person.send({"confirmed": "true"}, action="/execute", expected=400)
        await person.send({}, action="/resume", expected=409)
        await person.send({"entityId": "999999999"}, action="/settle", button="It was done", expected=422)
        await person.open(f"/review/{id_}")
        await person.send({}, action="/settle", button="It was not done")
        await person.send({}, action="/resume")
        assert "carries on with" in person.text and person.path != f"/review/{id_}"
        await person.send({"confirmed": "true"}, action="/execute")
        assert "succeeded" in person.text
    (settled,) = [row for row in await site.admin.get("/ledger", kind="settlement") if row["subject"]["id"] == id_]
    assert settled["actor"] == {"userId": site.people["admin"].actor.user_id, "credential": "session"}
    assert settled["after"]["verdict"] == "not_applied"
