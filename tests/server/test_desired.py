"""What is wanted as a document: import, diff and apply on every network."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES

from .served import NEVER, Served, brief, connect
from .test_stale_plans import build_path, create_campaign, find_budget, read_fields

pytestmark = pytest.mark.asyncio(loop_scope="module")
networks = pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))


async def diff(server: Served, *entities: dict[str, Any]) -> Any:
    """The differences of a document. Nothing is written."""
    writes = server.networks.writes()
    difference = await server.admin.post("/diff", {"document": {"entities": entities}})
    assert server.networks.writes() == writes
    assert difference["isEmpty"] is not any(difference[name] for name in ("create", "change", "pause", "drifted"))
    return difference


async def import_entities(server: Served, network: str) -> list[dict[str, Any]]:
    entities: list[dict[str, Any]] = await server.admin.get(f"/accounts/{server.accounts[network]}/entities")
    return entities


async def execute_edit(server: Served, network: str, kind: str, entity_id: str, **fields: Any) -> None:
    path = build_path(server, network, kind, entity_id, "edit")
    await server.admin.execute((await server.admin.post(path, {"fields": fields}, 201))["id"])


@networks
async def test_an_import_has_no_difference(server: Served, network: str) -> None:
    ids = await create_campaign(server, network)
    entities = await import_entities(server, network)
    assert set(ids.items()) <= {(entity["kind"], entity["id"]) for entity in entities}
    assert all(
        "name" in entity and entity["status"] in ("active", "paused")
        for entity in entities
        if entity["kind"] == "campaign"
    )
    assert (await diff(server, *entities))["isEmpty"]


@networks
async def test_what_the_file_changes_and_what_somebody_changed_outside(server: Served, network: str) -> None:
    """Our own edit is no drift, even if the file wants something else; an edit of somebody else is."""
    ids = await create_campaign(server, network)
    kind, budget = await find_budget(server, network, ids)
    name = (await read_fields(server, network, kind, ids[kind]))["name"]
    where = {"accountId": server.accounts[network], "kind": kind, "id": ids[kind]}
    ours, theirs, desired_budget = (f"{float(budget) + more:.0f}.00" for more in (10, 20, 30))
    await execute_edit(server, network, kind, ids[kind], budget=ours)
    difference = await diff(server, {**where, "name": name, "budget": desired_budget})
    (changed,) = difference["change"]
    (field,) = changed["fields"]
    assert (changed["entityId"], field["field"], float(field["before"]), field["after"], field["locked"]) == (
        *(ids[kind], "budget", float(ours), desired_budget),
        None,
    )
    assert difference["drifted"] == []
    if network not in server.foreign:
        await connect(server, network, "stranger")
    path = (
        f"/accounts/{server.foreign[network]}/" + build_path(server, network, kind, ids[kind], "edit").split("/", 3)[3]
    )
    outside = server.person("stranger")
    prepared = await outside.post(path, {"fields": {"budget": theirs, "name": f"{name} X"}}, 201)
    await outside.execute(prepared["id"])
    difference = await diff(server, {**where, "name": name, "budget": desired_budget})
    (drifted,) = difference["drifted"]
    planned = {change["field"]: (change["planned"], change["found"]) for change in drifted["fields"]}
    assert planned.keys() == {"name", "budget"}, drifted
    assert planned["name"] == (name, f"{name} X")
    assert [float(amount) for amount in planned["budget"]] == [float(ours), float(theirs)]
    assert {change["field"]: change["after"] for change in difference["change"][0]["fields"]} == {
        "name": name,
        "budget": desired_budget,
    }
    assert (await diff(server, {**where, "name": f"{name} X", "budget": theirs}))["isEmpty"]


async def test_a_status_and_an_entity_that_is_gone(server: Served) -> None:
    ids = await create_campaign(server, "meta")
    where = {"accountId": server.accounts["meta"], "kind": "campaign", "id": ids["campaign"]}
    difference = await diff(server, {**where, "status": "active"})
    assert difference["change"][0]["fields"] == [
        {"field": "status", "before": "paused", "after": "active", "locked": None}
    ]
    difference = await diff(server, {**where, "id": "999999999999999", "name": "Chairs"})
    assert difference["drifted"][0]["fields"] == [{"field": "entity", "planned": "present", "found": "not found"}]


async def test_mistakes_are_answered_with_what_was_meant(server: Served) -> None:
    ids = await create_campaign(server, "meta")
    where = {"accountId": server.accounts["meta"], "kind": "campaign", "id": ids["campaign"]}
    first = "document.entities.0"
    mistakes: dict[str, tuple[dict[str, Any], str, str]] = {
        "a misspelt field": ({**where, "nmae": "A"}, f"{first}.nmae", "Did you mean name?"),
        "a misspelt status": ({**where, "status": "pause"}, f"{first}.status", "Did you mean paused?"),
        "a misspelt kind": ({**where, "kind": "adgroup"}, f"{first}.kind", "Did you mean adGroup?"),
        "a name for an id": ({**where, "accountId": "Chairs"}, f"{first}.accountId", "must be"),
        "an object for a value": ({**where, "name": {"a": 1}}, f"{first}.name", "must be a text"),
    }
    for mistake, (entity, path, words) in mistakes.items():
        problem = await server.admin.problem(422, "POST", "/diff", {"document": {"entities": [entity]}})
        assert [(issue["path"], words in issue["message"]) for issue in problem["issues"]] == [(path, True)], mistake
    twice = {"document": {"entities": [where, where]}}
    assert await server.admin.read_issues("POST", "/diff", twice) == {("document.entities.1", "duplicate")}
    misspelt = await server.admin.problem(422, "POST", "/diff", {"document": {"entites": []}})
    assert "Did you mean entities?" in misspelt["issues"][0]["message"]
    for account in (NEVER, server.foreign["meta"]):
        problem = await server.admin.problem(
            404, "POST", "/diff", {"document": {"entities": [{**where, "accountId": account}]}}
        )
        assert problem["detail"].startswith(f"{first}.accountId: ")


async def apply(server: Served, document: dict[str, Any], **more: Any) -> Any:
    """The change set of a document, when it is prepared."""
    change_set = await server.admin.post("/apply", {"document": document, **more}, 201)
    return await settle(server, change_set)


async def settle(server: Served, change_set: dict[str, Any]) -> Any:
    while change_set["status"] in ("preparing", "running"):
        await server.wait_for_background_tasks()
        change_set = await server.admin.get(f"/change-sets/{change_set['id']}")
    return change_set


async def execute(server: Served, change_set: dict[str, Any]) -> Any:
    assert change_set["status"] == "prepared", change_set
    body = {"confirmed": True, "digest": change_set["digest"]}
    done = await settle(server, await server.admin.post(f"/change-sets/{change_set['id']}/execute", body, 202))
    assert done["status"] == "finished", done
    assert {operation["state"] for operation in done["operations"]} == {"succeeded"}, done
    return done


async def apply_and_execute(server: Served, document: dict[str, Any], **more: Any) -> list[str]:
    """Apply a document; the keys of what was done."""
    done = await execute(server, await apply(server, document, **more))
    return [operation["key"] for operation in done["operations"]]


def make_launch(server: Served, network: str, **more: Any) -> dict[str, Any]:
    account = {"accountId": server.accounts[network], "key": network}
    return {"campaign": brief(network), "accounts": [account], **more}


async def compare(server: Served, document: dict[str, Any], **more: Any) -> Any:
    return await server.admin.post("/diff", {"document": document, **more})


def describe(difference: Any) -> list[Any]:
    """What differs, in short."""
    rows = [
        (entity["kind"], row)
        for name in ("change", "drifted")
        for entity in difference[name]
        for row in entity["fields"]
    ]
    return [
        *rows,
        *difference["create"],
        *difference["pause"],
        *(entity["changed"] for entity in difference["notCompared"]),
    ]


@networks
async def test_a_launch_is_created_renamed_activated_and_paused(server: Served, network: str) -> None:
    """Applying makes the networks agree with the file, and applying again does nothing."""
    document: dict[str, Any] = {"launches": {f"Spring {network}": make_launch(server, network)}}
    launch = document["launches"][f"Spring {network}"]
    difference = await compare(server, document)
    assert [(cell["launch"], cell["key"], cell["blocked"]) for cell in difference["create"]] == [
        (f"Spring {network}", network, None)
    ]
    writes = server.networks.writes()
    prepared = await apply(server, document)
    assert (prepared["action"], prepared["launchId"], server.networks.writes()) == ("apply", None, writes)
    problem = await server.admin.problem(409, "POST", "/apply", {"document": document})
    assert problem["code"] == "run_open"
    await execute(server, prepared)
    difference = await compare(server, document)
    assert difference["isEmpty"], describe(difference)
    assert await server.admin.read_issues("POST", "/apply", {"document": document}) == {("document", "nothing_to_do")}
    launch["campaign"]["name"] += " B"
    launch["status"] = "active"
    difference = await compare(server, document)
    assert difference["create"] == difference["drifted"] == []
    fields = {
        (entity["kind"], row["field"]): row["after"] for entity in difference["change"] for row in entity["fields"]
    }
    assert fields["campaign", "name"] == launch["campaign"]["name"]
    assert "active" in fields.values()
    renamed = await apply_and_execute(server, document)
    assert renamed and all(key.endswith(":edit") for key in renamed)
    (key,) = await apply_and_execute(server, document)
    assert key.endswith(":activate")
    difference = await compare(server, document)
    assert difference["isEmpty"], describe(difference)
    launch["status"] = "paused"
    (key,) = await apply_and_execute(server, document)
    assert key.endswith(":status")
    assert (await compare(server, document))["isEmpty"]


async def test_what_left_the_file_is_paused_and_deleted_only_on_demand(server: Served) -> None:
    first, second = make_launch(server, "meta", status="active"), make_launch(server, "pinterest", status="active")
    document: dict[str, Any] = {"name": "leaving", "launches": {"Leaving one": first, "Leaving two": second}}
    await apply_and_execute(server, document)
    await apply_and_execute(server, document)
    assert (await compare(server, document))["isEmpty"]
    assert (await compare(server, {**document, "name": "renamed file"}))["isEmpty"], "nothing is created twice"
    del document["launches"]["Leaving one"]
    second["accounts"] = []
    other = {**document, "name": "another file"}
    assert (await compare(server, other))["isEmpty"], "a file of another name has not created them"
    difference = await compare(server, document)
    assert [(row["launch"], row["kind"], row["action"]) for row in difference["pause"]] == [
        ("Leaving one", "campaign", "pause"),
        ("Leaving two", "campaign", "pause"),
    ]
    assert len(await apply_and_execute(server, document)) == 2
    assert (await compare(server, document))["isEmpty"]
    difference = await compare(server, document, delete=True)
    assert {row["action"] for row in difference["pause"]} == {"delete"}
    prepared = await apply(server, document, delete=True)
    operations = [await server.admin.get(f"/operations/{row['operationId']}") for row in prepared["operations"]]
    assert {operation["risk"] for operation in operations} == {"destructive"}
    await execute(server, prepared)
    assert (await compare(server, document, delete=True))["isEmpty"]


async def test_members_that_no_read_shows_are_named(server: Served) -> None:
    document: dict[str, Any] = {"launches": {"Uncompared": make_launch(server, "meta")}}
    await apply_and_execute(server, document)
    (cell,) = (await compare(server, document))["notCompared"]
    assert "targeting.countries" in cell["members"] and "name" not in cell["members"] and cell["changed"] == []
    document["launches"]["Uncompared"]["campaign"]["targeting"] = {"countries": ["CA"]}
    difference = await compare(server, document)
    assert difference["notCompared"][0]["changed"] == ["targeting.countries"] and not difference["isEmpty"]
    problem = await server.admin.problem(422, "POST", "/apply", {"document": document})
    assert problem["issues"][0]["code"] == "nothing_to_do"


async def test_a_launch_of_the_api_is_taken_over(server: Served) -> None:
    """Cells of a launch with the same name count as created; one that is only prepared is not created twice."""
    launch = make_launch(server, "meta")
    stored_launch = await server.admin.post("/launches", {"name": "Taken over", **launch}, 201)
    await server.wait_for_background_tasks()
    document = {"launches": {"Taken over": launch}}
    (cell,) = (await compare(server, document))["create"]
    assert stored_launch["launchId"] in cell["blocked"]
    assert await server.admin.read_issues("POST", "/apply", {"document": document}) == {("document", "nothing_to_do")}
    prepared = (await server.admin.get(f"/launches/{stored_launch['launchId']}"))["changeSets"][0]
    await execute(server, prepared)
    assert (await compare(server, document))["isEmpty"]


async def test_an_entity_is_edited_and_paused_when_it_left(server: Served) -> None:
    ids = await create_campaign(server, "google")
    where = {"accountId": server.accounts["google"], "kind": "campaign", "id": ids["campaign"]}
    document = {"name": "entities", "entities": [{**where, "name": f"Edited {ids['campaign']}", "status": "active"}]}
    for word in ("edit", "status"):  # never both at once: an edit may send the status that it read
        (key,) = await apply_and_execute(server, document)
        assert key.endswith(f":{word}")
    assert (await compare(server, document))["isEmpty"]
    document["entities"][0] |= {"name": f"Paused {ids['campaign']}", "status": "paused"}
    for word in ("status", "edit"):
        (key,) = await apply_and_execute(server, document)
        assert key.endswith(f":{word}")
    document["entities"][0]["status"] = "active"
    await apply_and_execute(server, document)
    left = {"name": "entities", "entities": []}
    assert [row["action"] for row in (await compare(server, left))["pause"]] == ["pause"]
    await apply_and_execute(server, left)
    assert (await compare(server, left))["isEmpty"]


async def test_a_change_that_a_network_refuses_makes_the_change_set_invalid(server: Served) -> None:
    ids = await create_campaign(server, "meta")
    where = {"accountId": server.accounts["meta"], "kind": "adGroup", "id": ids["adGroup"]}
    other = {"accountId": server.accounts["meta"], "kind": "campaign", "id": ids["campaign"], "name": "Chairs B"}
    document = {"name": "refused", "entities": [{**where, "budget": "0.01"}, other]}
    refused = await apply(server, document)
    assert refused["status"] == "invalid" and refused["operations"] == []
    assert [issue["path"] for issue in refused["issues"]] == ["document.entities.0.budget"]
    prepared = await apply(server, document, skipInvalid=True)
    assert len(prepared["operations"]) == 1
    await execute(server, prepared)


async def test_an_apply_is_repeated_by_its_key(server: Served) -> None:
    document = {"launches": {"Repeated": make_launch(server, "meta")}}
    key = {"Idempotency-Key": "apply-repeated"}
    first = await server.admin.post("/apply", {"document": document}, 201, **key)
    assert (await server.admin.post("/apply", {"document": document}, 201, **key))["id"] == first["id"]
    other = {"document": {**document, "name": "other"}}
    problem = await server.admin.problem(409, "POST", "/apply", other, headers=key)
    assert problem["code"] == "idempotency_conflict"
    await server.admin.post(f"/change-sets/{first['id']}/cancel", {})
    again = await apply(server, document)
    assert again["id"] != first["id"]
    await execute(server, again)
    assert (await compare(server, document))["isEmpty"]


async def test_an_ad_that_somebody_pauses_is_drift(server: Served) -> None:
    document: dict[str, Any] = {"launches": {"Paused outside": make_launch(server, "meta", status="active")}}
    await apply_and_execute(server, document)
    await apply_and_execute(server, document)
    assert (await compare(server, document))["isEmpty"]
    ads = [entity for entity in server.networks.state.worlds["meta"]._stored_entities.values() if entity.kind == "ad"]
    ad = max(ads, key=lambda entity: entity.created_at)
    outside = server.person("stranger")
    body = {"accountId": server.foreign["meta"], "kind": "ad", "entityIds": [ad.id], "status": "paused"}
    (operation,) = (await outside.post("/bulk-status", body, 201))["operations"]
    await outside.execute(operation["id"])
    difference = await compare(server, document)
    status = {"field": "status", "planned": "active", "found": "paused"}
    assert [(entity["entityId"], entity["fields"]) for entity in difference["drifted"]] == [(ad.id, [status])]
    (key,) = await apply_and_execute(server, document)
    assert key.endswith(":ad:status")
    assert (await compare(server, document))["isEmpty"]


async def test_an_activation_waits_for_the_edits_of_its_cell(server: Served) -> None:
    """An activation that is planned with the old budget would be stale."""
    launch = make_launch(server, "google")
    document: dict[str, Any] = {"launches": {"Waiting": launch}}
    await apply_and_execute(server, document)
    launch["campaign"]["budget"] = {**launch["campaign"]["budget"], "amount": "27"}
    launch["status"] = "active"
    prepared = await apply(server, document)
    assert [exclusion["reason"].split(".")[0] for exclusion in prepared["excluded"]] == ["Its edits are written first"]
    await execute(server, prepared)
    (key,) = await apply_and_execute(server, document)
    assert key.endswith(":activate")
    assert (await compare(server, document))["isEmpty"]


async def test_what_a_created_campaign_keeps(server: Served) -> None:
    """A budget of another period has another meaning, so it is refused and not written as an amount."""
    launch = make_launch(server, "meta")
    document: dict[str, Any] = {"launches": {"Kept": launch}}
    await apply_and_execute(server, document)
    launch["campaign"]["budget"] = {"amount": "600", "currency": "USD", "period": "lifetime"}
    path = "document.launches.Kept.accounts.0.campaign.budget.period"
    for endpoint in ("/diff", "/apply"):
        assert (path, "not_supported") in await server.admin.read_issues("POST", endpoint, {"document": document})


async def test_of_two_applies_at_once_one_is_prepared(both: Served) -> None:
    """On each engine: nothing is created twice."""
    document = {"launches": {"Raced": make_launch(both, "meta")}}
    answers = await asyncio.gather(*(both.admin.send("POST", "/apply", {"document": document}) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
    (change_set,) = [answer.json()["data"] for answer in answers if answer.status_code == 201]
    await execute(both, await settle(both, change_set))
    assert (await compare(both, document))["isEmpty"]
    names = [campaign["name"] for campaign in await both.admin.get(f"/accounts/{both.accounts['meta']}/campaigns")]
    assert names.count(document["launches"]["Raced"]["campaign"]["name"]) == 1


async def test_an_entity_of_a_launch_is_not_wanted_twice(server: Served) -> None:
    """Two edits of one entity would contradict each other. What left a launch may be named as an entity."""
    document: dict[str, Any] = {"name": "twice", "launches": {"Twice": make_launch(server, "meta")}}
    await apply_and_execute(server, document)
    campaign = max(
        (
            candidate
            for candidate in server.networks.state.worlds["meta"]._stored_entities.values()
            if candidate.kind == "campaign"
        ),
        key=lambda candidate: candidate.created_at,
    )
    entity = {"accountId": server.accounts["meta"], "kind": "campaign", "id": campaign.id, "status": "active"}
    document["entities"] = [entity]
    assert await server.admin.read_issues("POST", "/apply", {"document": document}) == {
        ("document.entities.0", "conflict")
    }
    document["launches"] = {}
    difference = await compare(server, document)
    assert difference["pause"] == [] and [row["entityId"] for row in difference["change"]] == [campaign.id]
