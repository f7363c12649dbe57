"""What edits, native payloads and bulk operations are held against, over REST and every network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.values.exact_json import dumps
from tests.networks.samples import get_samples

from .served import Served, brief
from .test_native import PATHS, build_path, create_campaign, execute_operation, get_campaign, networks

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def list_editable_fields(server: Served, network: str, kind: str, entity_id: str) -> list[dict[str, Any]]:
    """The editable fields of an entity."""
    settings = await server.admin.get(build_path(server, network, kind, entity_id, "settings"))
    return [setting for setting in settings["fields"] if setting["locked"] is None]


async def list_field_paths(server: Served, network: str, goal: str = "") -> list[tuple[str, str, dict[str, Any]]]:
    """Path, kind and each editable field of all levels of a campaign."""
    nodes = await get_campaign(server, network, goal)
    return [
        (build_path(server, network, kind, nodes[kind]["id"]), kind, setting)
        for kind in PATHS
        if kind in nodes
        for setting in await list_editable_fields(server, network, kind, nodes[kind]["id"])
    ]


def find_setting(network: str, kind: str, field: str) -> Any:
    return next(
        setting for setting in get_adapter(network).network.settings if (setting.level, setting.field) == (kind, field)
    )


# -- amounts ------------------------------------------------------------------------------------------------------


@networks
async def test_no_amount_is_set_to_nothing(server: Served, network: str) -> None:
    money = [
        way
        for way in await list_field_paths(server, network)
        if find_setting(network, way[1], way[2]["field"]).unit == "money"
    ]
    assert money
    for path, _, setting in money:
        edit = {"fields": {setting["field"]: "0"}}
        assert [issue for issue, _ in await server.admin.read_issues("POST", f"{path}/edit", edit)] == [
            f"fields.{setting['field']}"
        ]


async def test_a_budget_below_what_a_brief_may_have(server: Served) -> None:
    campaign = brief("meta", budget__amount="0.5")
    body = {"accountId": server.accounts["meta"], "campaign": campaign}
    assert await server.admin.read_issues("POST", "/create", body) == {("campaign.budget.amount", "too_small")}
    group = (await get_campaign(server, "meta"))["adGroup"]["id"]
    path = build_path(server, "meta", "adGroup", group)
    below = {("fields.budget", "too_small")}
    assert await server.admin.read_issues("POST", f"{path}/edit", {"fields": {"budget": "0.5"}}) == below
    many = {"accountId": server.accounts["meta"], "kind": "adGroup", "entityIds": [group], "field": "budget"}
    for change in ({"mode": "set", "value": 0.01}, {"mode": "decrease", "value": 99}):
        assert await server.admin.read_issues("POST", "/bulk-edit", many | change) == {("entityIds.0", "too_small")}
    patch = {"payload": {"daily_budget": 50}}
    assert await server.admin.read_issues("PATCH", path, patch) == {("payload.daily_budget", "too_small")}


@pytest.mark.parametrize("network", [code for code in ADAPTER_PACKAGES if get_samples(code).zero_amount])
async def test_no_native_amount_is_nothing(server: Served, network: str) -> None:
    sample = get_samples(network).zero_amount
    assert sample is not None
    kind, payload, member = sample
    path = build_path(server, network, kind)
    for method, where in (("POST", path), ("PATCH", f"{path}/1")):
        refused = await server.admin.read_issues(method, where, {"payload": payload})
        assert refused == {(f"payload.{member}", "out_of_range")}


# -- bulk edits ---------------------------------------------------------------------------------------------------


async def prepare_ad_group(server: Served) -> dict[str, Any]:
    """What a bulk edit of an ad group of Meta needs besides the change; its budget is 25, its bid 0.75."""
    nodes = await create_campaign(server, "meta")
    path = build_path(server, "meta", "adGroup", nodes["adGroup"]["id"], "edit")
    fields = {"budget": "25", "bidStrategy": "LOWEST_COST_WITH_BID_CAP", "bid": "0.75"}
    await server.admin.execute((await server.admin.post(path, {"fields": fields}, 201))["id"])
    return {"accountId": server.accounts["meta"], "kind": "adGroup", "entityIds": [nodes["adGroup"]["id"]]}


async def test_numbers_are_read_as_they_were_written(server: Served) -> None:
    many = await prepare_ad_group(server) | {"field": "budget", "mode": "set"}
    for text in ("30.00000000000000000001", "0.1000000000000000055511151231257827", "1000000000.0000000000001"):
        body = f'{dumps(many)[:-1]},"value":{text}}}'.encode()
        refused_issues = await server.admin.read_issues("POST", "/bulk-edit", content=body)
        assert {path for path, _ in refused_issues} <= {"value", "entityIds.0"}, refused_issues


async def test_the_plan_of_a_percentage_shows_the_exact_figure(server: Served) -> None:
    many = await prepare_ad_group(server)
    for field, value, before, after, exact in (
        ("budget", 33.333, "25", "33.33", "33.33325"),
        ("bid", 15, "0.75", "0.86", "0.8625"),
    ):
        change = {"field": field, "mode": "increase", "value": value}
        (operation,) = (await server.admin.post("/bulk-edit", many | change, 201))["operations"]
        expected = {"field": field, "before": before, "after": after, "exact": exact}
        assert operation["plan"]["steps"][0]["changes"] == [expected]
        again = await server.admin.get(f"/operations/{operation['id']}")
        assert again["plan"]["steps"][0]["changes"] == [expected]


async def test_equal_numbers_are_one_request(server: Served) -> None:
    many = await prepare_ad_group(server) | {"field": "budget", "mode": "set"}
    key = {"Idempotency-Key": "equal-numbers"}
    bodies = [f'{dumps(many)[:-1]},"value":{text}}}'.encode() for text in ("30", "30.0", "3e1")]
    answers = [await server.admin.send("POST", "/bulk-edit", content=content, headers=key) for content in bodies]
    assert [answer.status_code for answer in answers] == [201, 201, 201]
    assert len({answer.json()["data"]["operations"][0]["id"] for answer in answers}) == 1


@networks
async def test_a_bulk_edit_changes_money_and_numbers(server: Served, network: str) -> None:
    node = (await get_campaign(server, network))["campaign"]
    many = {"accountId": server.accounts[network], "kind": "campaign", "entityIds": [node["id"]], "field": "name"}
    problem = await server.admin.problem(422, "POST", "/bulk-edit", many | {"mode": "set", "value": 5})
    (issue,) = problem["issues"]
    assert (issue["path"], issue["code"]) == ("field", "not_supported")
    money = [
        setting.field
        for setting in get_adapter(network).network.settings
        if (setting.level, setting.unit) == ("campaign", "money")
    ]
    assert all(field in issue["message"] for field in money if find_setting(network, "campaign", field).lock is None)


@networks
async def test_a_bulk_edit_names_the_field_of_a_native_amount(server: Served, network: str) -> None:
    rows = get_adapter(network).network.settings
    name, field = next(iter(get_samples(network).native_amounts.items()))
    kind = next(setting.level for setting in rows if setting.field == field and setting.unit == "money")
    node = (await get_campaign(server, network))[kind]["id"]
    many = {"accountId": server.accounts[network], "kind": kind, "entityIds": [node], "field": name}
    bulk = await server.admin.problem(422, "POST", "/bulk-edit", many | {"mode": "set", "value": 5})
    path = build_path(server, network, kind, node, "edit")
    single = await server.admin.problem(422, "POST", path, {"fields": {name: 5}})
    (issue,) = bulk["issues"]
    assert (issue["path"], issue["code"]) == ("field", "unknown_field")
    assert [entry | {"path": "field"} for entry in single["issues"]] == [issue]


async def test_a_bulk_edit_that_changes_nothing(server: Served) -> None:
    many = await prepare_ad_group(server)
    other = (await create_campaign(server, "meta"))["adGroup"]["id"]
    many |= {"entityIds": [other, *many["entityIds"]], "field": "bid", "mode": "set", "value": 0.75}
    fields = {"bidStrategy": "LOWEST_COST_WITH_BID_CAP", "bid": "0.80"}
    await execute_operation(
        server, await server.admin.post(build_path(server, "meta", "adGroup", other, "edit"), {"fields": fields}, 201)
    )
    problem = await server.admin.problem(422, "POST", "/bulk-edit", many)
    assert [(issue["path"], issue["code"]) for issue in problem["issues"]] == [("entityIds.1", "no_change")]
    assert problem["issues"][0]["message"].startswith("fields.bid: ")


# -- plans and lists ----------------------------------------------------------------------------------------------


@networks
async def test_a_plan_shows_what_earlier_steps_fill_in(server: Served, network: str) -> None:
    body = {"accountId": server.accounts[network], "campaign": brief(network)}
    operation = await server.admin.post("/create", body, 201)
    seen_keys: set[str] = set()
    bindings = []
    for step in operation["plan"]["steps"]:
        assert seen_keys.issuperset(binding["step"] for binding in step["bindings"])
        assert all(binding["to"].startswith(("/body/", "/path/", "/query/")) for binding in step["bindings"])
        bindings += step["bindings"]
        seen_keys.add(step["key"])
    assert bindings or len(seen_keys) == 1


CAN_TARGET = [
    code
    for code in ADAPTER_PACKAGES
    if any(setting.path == "targeting.locations" for setting in get_adapter(code).network.edits)
]


def make_targeting(parts: Mapping[str, list[str]]) -> dict[str, Any]:
    """The targeting of an edit with these ids."""
    return {
        name: ids if name == "genders" else [{"id": id_, "name": "Any name"} for id_ in ids]
        for name, ids in parts.items()
    }


@pytest.mark.parametrize("network", CAN_TARGET)
async def test_a_targeting_is_written_once(server: Served, network: str) -> None:
    change = get_samples(network).targeting_change
    assert change is not None, "the samples lack targeting_change: the adapter says that targeting can be edited"
    kind, parts = change
    path = build_path(server, network, kind, (await create_campaign(server, network))[kind]["id"], "edit")
    items = {name: ids for name, ids in parts.items() if name != "genders"}
    twice = {name: [*ids, ids[0]] for name, ids in items.items()}
    assert await server.admin.read_issues("POST", path, {"targeting": make_targeting(twice)}) == {
        (f"targeting.{name}.{len(ids)}", "duplicate") for name, ids in items.items()
    }
    first = await server.admin.post(path, {"targeting": make_targeting(parts)}, 201)
    await execute_operation(server, first)
    for again in (parts, {name: ids[::-1] for name, ids in parts.items()}):
        assert await server.admin.read_issues("POST", path, {"targeting": make_targeting(again)}) == {
            (f"targeting.{name}", "no_change") for name in parts
        }


async def test_an_id_in_two_spellings_stands_twice(server: Served) -> None:
    targeting = make_targeting({"locations": ["2578", "geoTargetConstants/2578"]})
    campaign = (await get_campaign(server, "google"))["campaign"]["id"]
    path = build_path(server, "google", "campaign", campaign, "edit")
    assert await server.admin.read_issues("POST", path, {"targeting": targeting}) == {
        ("targeting.locations.1", "duplicate")
    }


async def test_nothing_stands_twice_in_a_list(server: Served) -> None:
    campaign = brief("meta", targeting={"countries": ["US", "US"]})
    body = {"accountId": server.accounts["meta"], "campaign": campaign}
    assert await server.admin.read_issues("POST", "/create", body) == {("campaign.targeting.countries.1", "duplicate")}
    node = (await get_campaign(server, "meta"))["adGroup"]
    path = build_path(server, "meta", "adGroup", node["id"], "edit")
    place = {"id": "country:US", "name": "United States"}
    targeting = {"genders": ["female", "female"], "locations": [place], "excludedLocations": [place]}
    assert await server.admin.read_issues("POST", path, {"targeting": targeting}) == {
        ("targeting.genders.1", "duplicate"),
        ("targeting.excludedLocations.0", "conflict"),
    }


@networks
async def test_a_list_takes_the_native_statuses_that_it_shows(server: Served, network: str) -> None:
    nodes = await get_campaign(server, network)
    for kind in [kind for kind in PATHS if kind in nodes]:
        path = build_path(server, network, kind)
        filters = next(level for level in get_adapter(network).network.levels if level.kind == kind).status_filters
        problem = await server.admin.problem(422, "GET", path, query={"status": "NO_STATUS"})
        assert all(status in problem["issues"][0]["message"] for status in filters)
        status = nodes[kind]["nativeStatus"]
        rows = await server.admin.get(path, status=status, limit="100")
        assert nodes[kind]["id"] in [row["id"] for row in rows]


TOGETHER = {"budgetType": {"budget": "5000"}}
"""What has to be changed with a field, whatever is chosen for it."""


GOALS = [(network, goal) for network in ADAPTER_PACKAGES for goal in get_adapter(network).network.formats[0].goals]


@pytest.mark.parametrize(
    ("network", "goal"), [pair for pair in GOALS if pair[1] != "conversions" or pair[0] == "amazon"]
)
async def test_every_choice_that_is_offered_is_taken(server: Served, network: str, goal: str) -> None:
    for path, kind, setting in await list_field_paths(server, network, goal):
        if find_setting(network, kind, setting["field"]).unit != "choice":
            continue
        assert setting["choices"]
        for choice in setting["choices"]:
            fields = {setting["field"]: choice, **TOGETHER.get(setting["field"], {})}
            answer = await server.admin.send("POST", f"{path}/edit", {"fields": fields})
            refusals = {(issue["path"], issue["code"]) for issue in answer.json().get("issues", ())}
            own = f"fields.{setting['field']}"
            needed = {(place, code) for place, code in refusals if code == "required" and place != own}
            unchanged = {(place, code) for place, code in refusals if code == "no_change"}
            assert answer.status_code == 201 or refusals == needed | unchanged, answer.text


@networks
async def test_a_list_that_is_written_back_is_no_change(server: Served, network: str) -> None:
    for path, _, setting in await list_field_paths(server, network):
        if not isinstance(setting["value"], list) or not setting["value"]:
            continue
        for text in (",".join(setting["value"]), ", ".join(setting["value"]), dumps(setting["value"])):
            answer = await server.admin.send("POST", f"{path}/edit", {"fields": {setting["field"]: text}})
            issues = [(issue["path"], issue["code"]) for issue in answer.json()["issues"]]
            assert issues == [(f"fields.{setting['field']}", "no_change")], answer.text


async def test_a_limit_that_is_taken_away_is_warned_of(server: Served) -> None:
    campaign = (await get_campaign(server, "google"))["campaign"]["id"]
    path = build_path(server, "google", "campaign", campaign, "edit")
    for end, words in (("", "taken away"), ("2030-12-31", "later")):
        plan = await server.admin.post(path, {"fields": {"endAt": end}}, 201)
        assert sum(words in warning for warning in plan["warnings"]) == 1
    earlier = await server.admin.post(path, {"fields": {"endAt": "2030-02-01"}}, 201)
    assert not any("spends" in warning for warning in earlier["warnings"])
    (group_id,) = (await prepare_ad_group(server))["entityIds"]
    strategy = {"fields": {"bidStrategy": "LOWEST_COST_WITHOUT_CAP"}}
    plan = await server.admin.post(build_path(server, "meta", "adGroup", group_id, "edit"), strategy, 201)
    assert plan["risk"] == "spend"
    assert plan["warnings"] == ["bid 0.75 is taken away: it limits nothing any more."]


# -- all issues at once -------------------------------------------------------------------------------------------

ROUNDS: list[tuple[str, dict[str, Any], set[str]]] = [
    ("meta", {"name": "ab", "budget__currency": "EUR"}, {"name", "budget.currency"}),
    (
        "meta",
        {
            "targeting": {"countries": ["US"], "keywords": [{"text": "chairs"}]},
            "creative__url": "ftp://shop.example",
            "schedule": {"startAt": "2030-01-15T09:00:00Z", "endAt": "2030-01-15T10:00:00Z"},
        },
        {"targeting.keywords", "creative.url", "schedule.endAt"},
    ),
    ("google", {"creative__existingId": "1"}, {"creative.headlines", "creative.descriptions", "creative.existingId"}),
    ("reddit", {"name": "ab", "targeting": {"countries": ["us"]}, "bid": "0.0000001"}, {"name", "bid"}),
]


@pytest.mark.parametrize(("network", "changes", "paths"), ROUNDS)
async def test_all_issues_come_at_once(server: Served, network: str, changes: dict[str, Any], paths: set[str]) -> None:
    body = {"accountId": server.accounts[network], "campaign": brief(network, **changes)}
    for path in ("/validate-campaign", "/create"):
        refused = await server.admin.read_issues("POST", path, body)
        assert {f"campaign.{member}" for member in paths} <= {place for place, _ in refused}


WRONG: list[dict[str, Any]] = [
    {"name": "ab"},
    {"goal": "fame"},
    {"goal": "app_installs"},
    {"budget": "20"},
    {"budget__amount": "0.0000001"},
    {"budget__period": "weekly"},
    {"schedule": None},
    {"schedule": {"startAt": "tomorrow"}},
    {"schedule": {"startAt": "2030-01-15T09:00:00Z", "endAt": "2030-01-14T09:00:00Z"}},
    {"targeting": {"countries": ["us"], "keywords": [{"text": ""}]}},
    {"targeting": {"native": {"x": 1}}},
    {"targeting": {"locationIds": ["us:city:1", "10150"]}},
    {"creative": {"existingId": 5, "headlines": ["a"]}},
    {"platform": {"locale": "en"}},
    {"bid": "x"},
    {"unknown": 1},
]


@networks
@pytest.mark.parametrize(
    "seconds", [WRONG[:1], pytest.param(WRONG[1:], marks=pytest.mark.exhaustive)], ids=["one", "all"]
)
async def test_whatever_is_wrong_with_a_brief_is_told(
    server: Served, network: str, seconds: list[dict[str, Any]]
) -> None:
    for first in WRONG:
        for second in seconds:
            other, changed = brief(network, **second), {member.split("__")[0] for member in second}
            both = brief(network, **first) | {name: value for name, value in other.items() if name in changed}
            body = {"accountId": server.accounts[network], "campaign": both}
            answer = await server.admin.send("POST", "/validate-campaign", body)
            assert answer.status_code in (200, 422), answer.text
            if answer.status_code == 422:
                issues = [(issue["path"], issue["code"]) for issue in answer.json()["issues"]]
                assert len(set(issues)) == len(issues)
