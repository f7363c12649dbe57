"""Launches on pages: made in a form or as a file, reviewed, executed, activated, and prepared again."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve

from adsunify.models.launch import MAX_LAUNCH_ACCOUNTS
from adsunify.models.yaml_text import format_yaml
from adsunify.networks.registry import ADAPTER_PACKAGES
from tests.server.served import Served, brief, connect
from tests.server.test_launches import prepare
from tests.server.test_launches import wait as wait_for

from .browsing import Browser, browser, email, found
from .test_briefs import to_fields

pytestmark = pytest.mark.asyncio(loop_scope="module")
FEW = ("meta", "pinterest", "google")
CELLS_PER_NETWORK = 50 if os.environ.get("ADSUNIFY_LAUNCHES") == "long" else 2


async def find_accounts(site: Served, *networks: str) -> dict[str, str]:
    """The account of each network."""
    return {code: site.accounts.get(code) or await connect(site, code) for code in networks}


def make_document(accounts: Mapping[str, str], name: str, **wrong: Any) -> dict[str, Any]:
    """A launch with the brief of each network; ``wrong`` are members of the first one."""
    cells: list[dict[str, Any]] = [
        {"accountId": id_, "key": code, "campaign": brief(code, name=f"{name} {code}")}
        for code, id_ in accounts.items()
    ]
    cells[0]["campaign"] |= wrong
    return {"name": name, "campaign": {}, "accounts": cells}


async def send_file(one: Browser, document: Mapping[str, Any], button: str, expected: int = 200) -> None:
    await one.open("/launches/new")
    await one.send({"document": format_yaml(document)}, action="/launches/new", button=button, expected=expected)


async def follow(site: Served, one: Browser, kind: str) -> dict[str, Any]:
    """The launch or the change set of the page, after what runs in the background, and the page anew."""
    shown = await wait_for(site, f"/{kind}/{one.path.rpartition('/')[2]}")
    await one.open(one.path)
    return shown


async def test_a_launch_from_a_file_is_reviewed_executed_activated_and_undone(site: Served) -> None:
    document = make_document(await find_accounts(site, *FEW), "From a file")
    writes = site.networks.writes()
    async with browser(site) as one:
        await one.sign_in(email("admin"))
        await send_file(one, document, "Check")
        assert "The launch is valid. Nothing is prepared yet" in one.text
        await send_file(one, document, "Prepare")
        await follow(site, one, "launches")
        assert "This creates 3 campaigns on 3 networks, all paused." in one.text and site.networks.writes() == writes
        await one.follow("Review and execute")
        assert "Money" in one.text and "60.00 USD a day" in one.text and "Built for rain" in one.text
        cells = [one for one in found(one.page, "a") if one.get("href", "").startswith("/review/")]
        assert len(cells) == 3, "each cell opens its plan"
        digest = one.page.form("/execute").fields["digest"]
        csrf = one.page.form("/execute").fields["csrf"]
        for sent in ({"digest": digest}, {"digest": "another", "confirmed": "true"}, {"confirmed": "true"}):
            answer = await one.http.post(f"{one.at}/execute", data={**sent, "csrf": csrf})
            assert answer.status_code in (409, 422), sent
        assert site.networks.writes() == writes
        await one.send({"confirmed": "true"}, action="/execute")
        await follow(site, one, "change-sets")
        assert "succeeded 3" in one.text and not [form for form in one.page.forms if form.action.endswith("/execute")]
        await one.follow("Back to the launch")
        for button, words in (("Activate", "activates 3"), ("Pause", "pauses 3")):
            launch = one.path
            await one.send(action=f"/{button.lower()}", button=button)
            prepared = await follow(site, one, "change-sets")
            assert prepared["status"] == "prepared" and f"This {words} campaigns" in one.text
            assert ("Built for rain" in one.text) is (button == "Activate"), "what begins to run, in words"
            await one.send({"confirmed": "true"}, action="/execute")
            assert (await follow(site, one, "change-sets"))["status"] == "finished"
            await one.open(launch)
        await one.send(action="/undo", button="Undo")
        await follow(site, one, "change-sets")
        await one.send(action="/cancel", button="Cancel")
        assert "cancelled" in one.text and one.path.startswith("/change-sets/")


async def test_the_changes_of_a_file_are_reviewed_and_executed(site: Served) -> None:
    """The page of launches leads to them: the money of each change, and the texts of what is created."""
    account = (await find_accounts(site, "meta"))["meta"]
    first, second = (
        {"campaign": brief("meta", name=f"Of a file {n}"), "accounts": [{"accountId": account, "key": f"cell-{n}"}]}
        for n in (1, 2)
    )
    document: dict[str, Any] = {"name": "pages", "launches": {"File one": first}}

    async def apply() -> dict[str, Any]:
        begun = await site.admin.post("/apply", {"document": document}, 201)
        return await wait_for(site, f"/change-sets/{begun['id']}")

    async with browser(site) as one:
        await one.sign_in(email("admin"))
        await apply()
        await one.open("/launches")
        await one.follow("Review what it changes")
        assert "20.00 USD a day" in one.text and ", once active" in one.text and "Built for rain" in one.text
        await one.send({"confirmed": "true"}, action="/execute")
        assert {row["state"] for row in (await follow(site, one, "change-sets"))["operations"]} == {"succeeded"}
        first["campaign"]["budget"] |= {"amount": "25"}
        document["launches"]["File two"] = second
        changed = await apply()
        assert [row["key"] for row in changed["operations"]][1] == "pages/launches/File two/cell-2"
        await one.open("/launches")
        await one.follow("Review what it changes")
        assert "5.00 USD more a day" in one.text and "budget: 20.00 USD → 25.00 USD" in one.text, "the money of an edit"
        assert "Built for rain" in one.text, "the texts of what is created"
        await one.send(action="/cancel", button="Cancel")
        page = await one.open("/launches")
        assert "Review what it changes" not in page.links


async def test_invalid_cells_are_listed_and_left_out(site: Served) -> None:
    document = make_document(await find_accounts(site, *FEW), "Half of it", goal="nothing")
    async with browser(site) as one:
        await one.sign_in(email("admin"))
        await send_file(one, document, "Check", 422)
        assert "accounts.0.campaign.goal" in one.text
        kept = one.page.form("/launches/new").fields
        assert kept["by"] == "file"
        await send_file(one, document, "Prepare")
        await follow(site, one, "launches")
        assert "Nothing is prepared, because cells are invalid" in one.text and "goal: " in one.text
        await one.send({"skipInvalid": "true"}, action="/prepare")
        shown = await follow(site, one, "change-sets")
        assert shown["status"] == "prepared" and len(shown["operations"]) == 2
        await one.send(action="/cancel", button="Cancel")


async def test_accounts_of_a_file_have_names(site: Served) -> None:
    accounts = await find_accounts(site, "meta")
    account = await site.admin.get(f"/accounts/{accounts['meta']}")
    document = make_document({"meta": f"meta:{account['name']}"}, "By its name")
    async with browser(site) as one:
        await one.sign_in(email("admin"))
        await send_file(one, document, "Check")
        assert "The launch is valid" in one.text
        for text, message in (
            (format_yaml(make_document({"meta": f"meta:{account['name']}s"}, "Misspelt")), "Did you mean meta:"),
            ("name: [", "line 1"),
            ("", "must be chosen or pasted"),
        ):
            await one.open("/launches/new")
            await one.send({"document": text}, action="/launches/new", button="Check", expected=422)
            assert message in one.text
        files = {"file": ("launch.yaml", format_yaml(document).encode())}
        csrf = one.page.form("/launches/new").fields["csrf"]
        answer = await one.http.post(
            f"{site.base_url}/launches/new", data={"csrf": csrf, "by": "file", "act": "prepare"}, files=files
        )
        assert answer.status_code == 200 and "The launch is valid" in answer.text, "an uploaded file is checked first"


async def test_a_launch_is_written_in_the_form(site: Served) -> None:
    accounts = await find_accounts(site, "meta", "pinterest")
    shared = {
        name: value for name, value in to_fields(brief("meta")).items() if name not in ("name", "creative.imageHash")
    }
    fields = {f"campaign.{path}": value for path, value in shared.items()}
    async with browser(site) as one:
        await one.sign_in(email("admin"))
        await one.open("/launches/new")
        await one.send(action="/launches/new", button="Continue", expected=422)
        assert "Tick at least one account" in one.text
        await one.open("/launches/new")
        await one.send({f"account.{id_}": "true" for id_ in accounts.values()}, button="Continue")
        assert "New launch on 2 accounts" in one.text and "Only for Pinterest" in one.text
        await one.send(button="Check", expected=422)
        assert found(one.page, "div", id="wrong-name") and "see the fields below" in one.text
        own = to_fields(brief("pinterest"))
        board = {"campaign.platform.boardId": own["platform.boardId"]}
        present = one.page.form("/launches/new")
        if "campaign.platform.boardId" not in present.fields:
            board = {"networks.pinterest.platform.boardId": own["platform.boardId"]}
        values = {
            name: value
            for name, value in {**fields, **board}.items()
            if name in present.fields or name in present.offered
        }
        missing = {f"networks.meta.{name.removeprefix('campaign.')}": value for name, value in fields.items()}
        values |= {name: value for name, value in missing.items() if name in present.fields}
        values |= {
            "name": "In the form",
            "nameTemplate": "{launch}, {network}",
            "split": "even",
            "urlParameters": "utm_source = {network}",
            "campaign.budget.amount": "100",
            "campaign.creative.imageUrl": own["creative.imageUrl"],
        }
        await one.send(values, button="Check")
        assert "The launch is valid" in one.text
        await one.send(button="Continue as a file")
        assert "utm_source" in one.text and "by: even" in one.text
        await one.send(button="Prepare", action="/launches/new")
        launch = await follow(site, one, "launches")
        assert launch["status"] == "prepared", launch
        assert {cell["planned"]["daily"] for cell in launch["cells"]} == {"50.00"}
        await one.follow("Review and execute")
        await one.send(action="/cancel", button="Cancel")


async def test_a_sample_launch_of_every_network_works(site: Served) -> None:
    """On simulated networks an empty workspace leads to a launch that can be executed."""
    await find_accounts(site, *ADAPTER_PACKAGES)
    assert site.service.settings.sandbox_url is not None
    async with browser(site) as one:
        await one.sign_in(email("admin"))
        await one.open("/launches")
        await one.follow("Try a sample launch")
        await one.send(button="Prepare", action="/launches/new")
        launch = await follow(site, one, "launches")
        assert launch["status"] == "prepared" and len(launch["cells"]) == 5
        await one.follow("Review and execute")
        await one.send({"confirmed": "true"}, action="/execute")
        assert {row["state"] for row in (await follow(site, one, "change-sets"))["operations"]} == {"succeeded"}


async def test_a_server_of_real_networks_has_no_sample(site: Served) -> None:
    before = site.service.settings
    site.service.settings = evolve(before, sandbox_url=None)
    try:
        async with browser(site) as one:
            await one.sign_in(email("admin"))
            for path in ("/launches", "/launches/new?sample=1"):
                page = await one.open(path)
                assert "sample" not in page.text
    finally:
        site.service.settings = before


async def test_an_empty_workspace_leads_to_a_connection(site: Served) -> None:
    async with browser(site) as one:
        await one.sign_in(email("stranger", "other"))
        for path in ("/operations", "/launches", "/accounts"):
            await one.open(path)
            assert one.page.links["Connect a network"] == "/connections"


async def test_a_viewer_prepares_nothing(site: Served) -> None:
    launch = await prepare(site, make_document(await find_accounts(site, "meta"), "Not for viewers"))
    async with browser(site) as one:
        await one.sign_in(email("viewer"))
        page = await one.open("/launches/new")
        assert {form.action for form in page.forms} == {"/sign-out"} and "You are a viewer" in page.text
        csrf = page.form("/sign-out").fields["csrf"]
        set_ = launch["changeSets"][-1]
        for path in (
            "/launches/new",
            *(f"/launches/{launch['launchId']}/{word}" for word in ("activate", "pause", "undo", "prepare")),
            *(f"/change-sets/{set_['id']}/{word}" for word in ("execute", "cancel")),
        ):
            sent = {"csrf": csrf, "confirmed": "true", "digest": set_["digest"], "by": "file"}
            answer = await one.http.post(site.base_url + path, data=sent)
            assert answer.status_code == 403, path
        await one.open(f"/launches/{launch['launchId']}", 404)  # as through the API: not in the viewer's scope
    await site.admin.post(f"/change-sets/{set_['id']}/cancel", {})


async def test_the_pages_of_600_cells_stay_small(site: Served) -> None:
    """Issues, warnings and long names of 600 cells make no page of 200 kB, before the execution and after it.

    ``nox -s launches`` prepares all of them; the ordinary run prepares some, and adds the bytes of the other rows.
    """
    accounts = await find_accounts(site, *ADAPTER_PACKAGES)
    rows = [
        {
            "accountId": accounts[code],
            "key": f"a-long-key-of-a-cell-{code}-{n:03}",
            "campaign": brief(code, name=f"Garden chairs of spring, for terraces and balconies {code} {n}"),
        }
        for code in ADAPTER_PACKAGES
        for n in range(CELLS_PER_NETWORK)
    ]
    async with asyncio.timeout(110):
        begun = await site.admin.post("/launches", {"name": "Large", "campaign": {}, "accounts": rows}, 201)
        launch = await wait_for(site, f"/launches/{begun['launchId']}")
    assert len(launch["cells"]) == len(rows) and launch["status"] == "prepared"
    set_ = launch["changeSets"][-1]["id"]
    async with browser(site) as one:
        await one.sign_in(email("admin"))
        for path in (f"/launches/{launch['launchId']}", f"/change-sets/{set_}"):
            await one.open(path)
            assert one.answer is not None
            shown = re.findall(r"<tr>(?:(?!</tr>).)*/review/.*?</tr>", one.answer.text, re.DOTALL)
            assert len(shown) == len(rows)
            size = sum(len(row.encode()) for row in shown)
            whole = len(one.answer.content) + size * (MAX_LAUNCH_ACCOUNTS - len(rows)) // len(rows)
            assert whole < 200_000, (path, whole)
        await one.send(action="/cancel", button="Cancel")
