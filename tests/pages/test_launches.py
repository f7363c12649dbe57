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

from .browsing import Browser, browser, email, find_elements
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


async def send_file(person: Browser, document: Mapping[str, Any], button: str, expected: int = 200) -> None:
    await person.open("/launches/new")
    await person.send({"document": format_yaml(document)}, action="/launches/new", button=button, expected=expected)


async def follow(site: Served, person: Browser, kind: str) -> dict[str, Any]:
    """The launch or the change set of the page, after what runs in the background, and the page anew."""
    document = await wait_for(site, f"/{kind}/{person.path.rpartition('/')[2]}")
    await person.open(person.path)
    return document


async def test_a_launch_from_a_file_is_reviewed_executed_activated_and_undone(site: Served) -> None:
    document = make_document(await find_accounts(site, *FEW), "From a file")
    writes = site.networks.writes()
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await send_file(person, document, "Check")
        assert "The launch is valid. Nothing is prepared yet" in person.text
        await send_file(person, document, "Prepare")
        await follow(site, person, "launches")
        assert "This creates 3 campaigns on 3 networks, all paused." in person.text and site.networks.writes() == writes
        await person.follow("Review and execute")
        assert "Money" in person.text and "60.00 USD a day" in person.text and "Built for rain" in person.text
        cells = [link for link in find_elements(person.page, "a") if link.get("href", "").startswith("/review/")]
        assert len(cells) == 3, "each cell opens its plan"
        digest = person.page.form("/execute").fields["digest"]
        csrf = person.page.form("/execute").fields["csrf"]
        for sent in ({"digest": digest}, {"digest": "another", "confirmed": "true"}, {"confirmed": "true"}):
            answer = await person.http.post(f"{person.at}/execute", data={**sent, "csrf": csrf})
            assert answer.status_code in (409, 422), sent
        assert site.networks.writes() == writes
        await person.send({"confirmed": "true"}, action="/execute")
        await follow(site, person, "change-sets")
        assert "succeeded 3" in person.text and not [
            form for form in person.page.forms if form.action.endswith("/execute")
        ]
        await person.follow("Back to the launch")
        for button, words in (("Activate", "activates 3"), ("Pause", "pauses 3")):
            launch = person.path
            await person.send(action=f"/{button.lower()}", button=button)
            prepared = await follow(site, person, "change-sets")
            assert prepared["status"] == "prepared" and f"This {words} campaigns" in person.text
            assert ("Built for rain" in person.text) is (button == "Activate"), "what begins to run, in words"
            await person.send({"confirmed": "true"}, action="/execute")
            assert (await follow(site, person, "change-sets"))["status"] == "finished"
            await person.open(launch)
        await person.send(action="/undo", button="Undo")
        await follow(site, person, "change-sets")
        await person.send(action="/cancel", button="Cancel")
        assert "cancelled" in person.text and person.path.startswith("/change-sets/")


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

    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await apply()
        await person.open("/launches")
        await person.follow("Review what it changes")
        assert "20.00 USD a day" in person.text and ", once active" in person.text and "Built for rain" in person.text
        await person.send({"confirmed": "true"}, action="/execute")
        assert {row["state"] for row in (await follow(site, person, "change-sets"))["operations"]} == {"succeeded"}
        first["campaign"]["budget"] |= {"amount": "25"}
        document["launches"]["File two"] = second
        changed = await apply()
        assert [row["key"] for row in changed["operations"]][1] == "pages/launches/File two/cell-2"
        await person.open("/launches")
        await person.follow("Review what it changes")
        assert "5.00 USD more a day" in person.text and "budget: 20.00 USD → 25.00 USD" in person.text, (
            "the money of an edit"
        )
        assert "Built for rain" in person.text, "the texts of what is created"
        await person.send(action="/cancel", button="Cancel")
        page = await person.open("/launches")
        assert "Review what it changes" not in page.links


async def test_invalid_cells_are_listed_and_left_out(site: Served) -> None:
    document = make_document(await find_accounts(site, *FEW), "Half of it", goal="nothing")
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await send_file(person, document, "Check", 422)
        assert "accounts.0.campaign.goal" in person.text
        fields = person.page.form("/launches/new").fields
        assert fields["by"] == "file"
        await send_file(person, document, "Prepare")
        await follow(site, person, "launches")
        assert "Nothing is prepared, because cells are invalid" in person.text and "goal: " in person.text
        await person.send({"skipInvalid": "true"}, action="/prepare")
        change_set = await follow(site, person, "change-sets")
        assert change_set["status"] == "prepared" and len(change_set["operations"]) == 2
        await person.send(action="/cancel", button="Cancel")


async def test_accounts_of_a_file_have_names(site: Served) -> None:
    accounts = await find_accounts(site, "meta")
    account = await site.admin.get(f"/accounts/{accounts['meta']}")
    document = make_document({"meta": f"meta:{account['name']}"}, "By its name")
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await send_file(person, document, "Check")
        assert "The launch is valid" in person.text
        for text, message in (
            (format_yaml(make_document({"meta": f"meta:{account['name']}s"}, "Misspelt")), "Did you mean meta:"),
            ("name: [", "line 1"),
            ("", "must be chosen or pasted"),
        ):
            await person.open("/launches/new")
            await person.send({"document": text}, action="/launches/new", button="Check", expected=422)
            assert message in person.text
        files = {"file": ("launch.yaml", format_yaml(document).encode())}
        csrf = person.page.form("/launches/new").fields["csrf"]
        answer = await person.http.post(
            f"{site.base_url}/launches/new", data={"csrf": csrf, "by": "file", "act": "prepare"}, files=files
        )
        assert answer.status_code == 200 and "The launch is valid" in answer.text, "an uploaded file is checked first"


async def test_a_launch_is_written_in_the_form(site: Served) -> None:
    accounts = await find_accounts(site, "meta", "pinterest")
    shared = {
        name: value for name, value in to_fields(brief("meta")).items() if name not in ("name", "creative.imageHash")
    }
    fields = {f"campaign.{path}": value for path, value in shared.items()}
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open("/launches/new")
        await person.send(action="/launches/new", button="Continue", expected=422)
        assert "Tick at least one account" in person.text
        await person.open("/launches/new")
        await person.send({f"account.{id_}": "true" for id_ in accounts.values()}, button="Continue")
        assert "New launch on 2 accounts" in person.text and "Only for Pinterest" in person.text
        await person.send(button="Check", expected=422)
        assert find_elements(person.page, "div", id="wrong-name") and "see the fields below" in person.text
        own = to_fields(brief("pinterest"))
        board = {"campaign.platform.boardId": own["platform.boardId"]}
        present = person.page.form("/launches/new")
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
        await person.send(values, button="Check")
        assert "The launch is valid" in person.text
        await person.send(button="Continue as a file")
        assert "utm_source" in person.text and "by: even" in person.text
        await person.send(button="Prepare", action="/launches/new")
        launch = await follow(site, person, "launches")
        assert launch["status"] == "prepared", launch
        assert {cell["planned"]["daily"] for cell in launch["cells"]} == {"50.00"}
        await person.follow("Review and execute")
        await person.send(action="/cancel", button="Cancel")


async def test_a_sample_launch_of_every_network_works(site: Served) -> None:
    """On simulated networks an empty workspace leads to a launch that can be executed."""
    await find_accounts(site, *ADAPTER_PACKAGES)
    assert site.service.settings.sandbox_url is not None
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open("/launches")
        await person.follow("Try a sample launch")
        await person.send(button="Prepare", action="/launches/new")
        launch = await follow(site, person, "launches")
        assert launch["status"] == "prepared" and len(launch["cells"]) == 5
        await person.follow("Review and execute")
        await person.send({"confirmed": "true"}, action="/execute")
        assert {row["state"] for row in (await follow(site, person, "change-sets"))["operations"]} == {"succeeded"}


async def test_a_server_of_real_networks_has_no_sample(site: Served) -> None:
    before = site.service.settings
    site.service.settings = evolve(before, sandbox_url=None)
    try:
        async with browser(site) as person:
            await person.sign_in(email("admin"))
            for path in ("/launches", "/launches/new?sample=1"):
                page = await person.open(path)
                assert "sample" not in page.text
    finally:
        site.service.settings = before


async def test_an_empty_workspace_leads_to_a_connection(site: Served) -> None:
    async with browser(site) as person:
        await person.sign_in(email("stranger", "other"))
        for path in ("/operations", "/launches", "/accounts"):
            await person.open(path)
            assert person.page.links["Connect a network"] == "/connections"


async def test_a_viewer_prepares_nothing(site: Served) -> None:
    launch = await prepare(site, make_document(await find_accounts(site, "meta"), "Not for viewers"))
    async with browser(site) as person:
        await person.sign_in(email("viewer"))
        page = await person.open("/launches/new")
        assert {form.action for form in page.forms} == {"/sign-out"} and "You are a viewer" in page.text
        csrf = page.form("/sign-out").fields["csrf"]
        set_ = launch["changeSets"][-1]
        for path in (
            "/launches/new",
            *(f"/launches/{launch['launchId']}/{word}" for word in ("activate", "pause", "undo", "prepare")),
            *(f"/change-sets/{set_['id']}/{word}" for word in ("execute", "cancel")),
        ):
            sent = {"csrf": csrf, "confirmed": "true", "digest": set_["digest"], "by": "file"}
            answer = await person.http.post(site.base_url + path, data=sent)
            assert answer.status_code == 403, path
        await person.open(f"/launches/{launch['launchId']}", 404)  # as through the API: not in the viewer's scope
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
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        for path in (f"/launches/{launch['launchId']}", f"/change-sets/{set_}"):
            await person.open(path)
            assert person.answer is not None
            table_rows = re.findall(r"<tr>(?:(?!</tr>).)*/review/.*?</tr>", person.answer.text, re.DOTALL)
            assert len(table_rows) == len(rows)
            size = sum(len(row.encode()) for row in table_rows)
            whole = len(person.answer.content) + size * (MAX_LAUNCH_ACCOUNTS - len(rows)) // len(rows)
            assert whole < 200_000, (path, whole)
        await person.send(action="/cancel", button="Cancel")
