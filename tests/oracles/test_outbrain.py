"""Outbrain: addresses, members, enums and limits are those of its published tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import parse_qs, urlsplit

import pytest

from adsunify.adapter.network import Template
from adsunify.http.messages import Request, build_request_url
from adsunify.networks.outbrain import native, targeting
from adsunify.networks.registry import get_adapter
from adsunify.values.exact_json import Json

from .sources import Exchange, Write, exchanges, get_name, writes
from .tables import choices, find_template, leaves, unknown_values, wrong_values

NETWORK = get_adapter("outbrain").network
WRITES, READS = writes("outbrain"), exchanges("outbrain")

UNTABLED = (
    *("/marketers/{id}/conversionEvents", "/marketers/{id}/segments"),
    *("/reports/marketers/{id}/campaigns/periodic", "/reports/marketers/{id}/campaigns/{id}/periodicContent"),
)
"""Addresses that the documentation has and the table has not."""

BUDGET = {"type": "budgetType", "pacing": "pacing"}
CAMPAIGN = {
    "objective": "objective",
    "creativeFormat": "creativeFormat",
    "onAirType": "onAirType",
    "targeting/platform/*": "platform",
    "targeting/operatingSystems/*": "operatingSystems",
    "targeting/browsers/*": "browsers",
}
LINK = {"imageMetadata/playMode": "playMode", "imageMetadata/cropType": "cropType"}
ENUMS: Mapping[str, Mapping[str, str]] = {
    "POST /marketers/{id}/budgets": BUDGET,
    "PUT /budgets/{id}": BUDGET,
    "POST /campaigns": CAMPAIGN,
    "PUT /campaigns/{id}": CAMPAIGN,
    "POST /campaigns/{id}/promotedLinks": LINK,
    "PUT /campaigns/{id}/promotedLinks/": LINK,
    "PUT /promotedLinks/{ids}": {},
}
"""Members that have an enum, by operation."""

LISTS = ("locations", "excludedLocations")
TARGETING = (
    *(f"targeting/{name}/*" for name in LISTS),
    *("targeting/locationsVersion", "targeting/language", "targeting/excludeAdBlockUsers"),
    *("targeting/interests/ids/*", "targeting/interests/op", "targeting/network/**"),
)
"""The targeting that is written; the documentation has ``locationsVersion`` and ``interests`` beside the table's."""

TRACKING = ("prefixTrackingCode/prefix", "prefixTrackingCode/encode")
"""In the documentation also when a campaign is made."""

PICTURES = ("imageMetadata", "logoMetadata")
REPORT = {"breakdown": ("daily", "weekly", "monthly")}
VIDEO = ("videoPlays",)
"""Figures that ``includeVideoStats`` adds."""

Spec = Callable[[str], Json]


@pytest.fixture
def tables(spec: Spec) -> Json:
    return spec("outbrain/amplify-v0.1-tables.json")


def operation(tables: Json, request: Request) -> str | None:
    """Method and template of a request."""
    path = build_request_url(request).partition("?")[0].removeprefix(tables["server"])
    template = find_template([path_ for method, path_ in tables["endpoints"] if method == request.method], path)
    return None if template is None else f"{request.method} {template}"


def members(tables: Json, called: str) -> list[str]:
    """The members that an operation takes, without what is said of them."""
    objects = tables["objects"]
    link = [*objects["PromotedLinkCreate"]["mandatory"], *objects["PromotedLinkCreate"]["optional"]]
    declarations = {
        "POST /marketers/{id}/budgets": objects["BudgetCreate"],
        "PUT /budgets/{id}": objects["BudgetUpdatable"],
        "POST /campaigns": objects["CampaignCreate"],
        "PUT /campaigns/{id}": objects["CampaignUpdatable"],
        "POST /campaigns/{id}/promotedLinks": link,
        "PUT /campaigns/{id}/promotedLinks/": ["id", "title", *link],
        "PUT /promotedLinks/{ids}": ["enabled", "archived"],
    }[called]
    return [name.partition("<")[0].partition(" ")[0] for name in declarations]


def wrongs(tables: Json, called: str, body: Mapping[str, Json]) -> list[str]:
    """What the tables do not know of an object that is written."""
    enums = {place: tables["enums"][name] for place, name in ENUMS[called].items()}
    if "campaignOptimization" in body and body.get("objective") in tables["enums"]["objective"]:
        enums["campaignOptimization/optimizationType"] = tables["enums"]["objective"][body["objective"]]
    known = members(tables, called)
    image = [f"{name}/{member}" for name in PICTURES for member in tables["objects"]["ImageMetadataInput"]]
    free = [name.replace(".", "/") for name in known if name not in (*PICTURES, "targeting")]
    free += image if "imageMetadata" in known else []
    if "/campaigns" in called and "promotedLinks" not in called:
        free += [*TARGETING, *TRACKING, "campaignOptimization/optimizationType"]
    messages = wrong_values(body, enums, free)
    return messages + (["name is longer than 100"] if len(body.get("name", "")) > 100 else [])


def objects_of(body: Json) -> list[Mapping[str, Json]]:
    return body if isinstance(body, list) else [body]


def test_there_is_something_to_hold(tables: Json) -> None:
    assert {operation(tables, write.request) for write in WRITES} == set(ENUMS)
    assert READS


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_a_write_is_in_the_tables(write: Write, tables: Json) -> None:
    called = operation(tables, write.request)
    assert called is not None, f"{write.request.method} {build_request_url(write.request)}"
    for body in objects_of(write.body):
        assert wrongs(tables, called, body) == []
    if called == "POST /campaigns/{id}/promotedLinks":
        assert set(tables["objects"]["PromotedLinkCreate"]["mandatory"]) <= set(write.body)


@pytest.mark.parametrize(
    ("called", "change", "says"),
    [
        ("POST /marketers/{id}/budgets", {"type": "LIFETIME"}, "type: LIFETIME"),
        ("POST /marketers/{id}/budgets", {"pacing": "STANDARD"}, "pacing: STANDARD"),
        ("POST /marketers/{id}/budgets", {"name": "x" * 101}, "name is longer than 100"),
        ("POST /campaigns", {"objective": "traffic"}, "objective: traffic"),
        ("POST /campaigns", {"campaignOptimization": {"optimizationType": "CPC"}}, "optimizationType: CPC"),
        ("POST /campaigns", {"targeting": {"platform": ["Mobile"]}}, "targeting/platform/*: Mobile"),
        ("POST /campaigns", {"targeting": {"towns": ["x"]}}, "targeting/towns/* stands in no table"),
        ("POST /campaigns", {"archived": True}, "archived stands in no table"),
        ("POST /campaigns/{id}/promotedLinks", {"title": "Sleep"}, "title stands in no table"),
        ("POST /campaigns/{id}/promotedLinks", {"imageMetadata": {"hash": "x"}}, "imageMetadata/hash stands"),
        ("PUT /budgets/{id}", {"name": "Other"}, "name stands in no table"),
        ("PUT /promotedLinks/{ids}", {"text": "Other"}, "text stands in no table"),
    ],
)
def test_what_is_wrong_is_found(called: str, change: Mapping[str, Json], says: str, tables: Json) -> None:
    write = next(write for write in WRITES if operation(tables, write.request) == called)
    assert any(says in problem for problem in wrongs(tables, called, {**objects_of(write.body)[0], **change}))


@pytest.mark.parametrize("template", NETWORK.templates, ids=lambda template: template.kind)
def test_a_template_is_in_the_tables(template: Template, tables: Json) -> None:
    called = {"campaign": "POST /campaigns", "ad": "POST /campaigns/{id}/promotedLinks"}[template.kind]
    assert wrongs(tables, called, dict(template.payload)) == []


# -- reads ---------------------------------------------------------------------------------------------------------


def read_wrongs(tables: Json, called: str, query: Mapping[str, list[str]]) -> list[str]:
    """Parameters whose value the tables do not know."""
    enums, limits = tables["enums"], tables["limits"]
    known = {
        "include": enums["geoType"],
        "fetch": enums["fetch"],
        "breakdown": REPORT["breakdown"],
        "extraFields": enums["promotedLinkExtraFields" if "romotedLinks" in called else "campaignExtraFields"],
    }
    wrong = [
        f"{name}: {value}"
        for name, values in known.items()
        for text in query.get(name, ())
        for value in text.split(",")
        if value not in values
    ]
    most = {
        "GET /marketers/{id}/campaigns": limits["campaignListLimitMax"],
        "GET /reports/marketers/{id}/periodic": limits["reportLimitMax"],
    }.get(called)
    return wrong + [f"limit: {limit}" for limit in query.get("limit", ()) if most is not None and int(limit) > most]


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_a_read_is_in_the_tables(exchange: Exchange, tables: Json) -> None:
    called = operation(tables, exchange.request)
    if called is None:
        assert (
            find_template(
                UNTABLED, build_request_url(exchange.request).partition("?")[0].removeprefix(tables["server"])
            )
            is not None
        )
        return
    assert read_wrongs(tables, called, parse_qs(urlsplit(build_request_url(exchange.request)).query)) == []


def test_a_wrong_read_is_found(tables: Json) -> None:
    query = {"extraFields": ["Locations,Targeting"], "limit": ["51"], "fetch": ["some"]}
    messages = read_wrongs(tables, "GET /marketers/{id}/campaigns", query)
    assert messages == ["fetch: some", "extraFields: Targeting", "limit: 51"]
    assert read_wrongs(tables, "GET /locations/search", {"include": ["Town"]}) == ["include: Town"]


SHOWN = {
    "objective": "objective",
    "creativeFormat": "creativeFormat",
    "contentType": "contentType",
    "approvalStatus/status": "approvalStatus",
    "geoType": "geoType",
    "type": "budgetType",
    "pacing": "pacing",
    "budget/type": "budgetType",
    "budget/pacing": "pacing",
}


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_a_recorded_answer_is_in_the_tables(exchange: Exchange, tables: Json) -> None:
    body = exchange.response.body if exchange.response.state == "json" and exchange.response.is_ok else None
    if not isinstance(body, Mapping):
        return
    for row in [body, *(row for rows in body.values() if isinstance(rows, list) for row in rows)]:
        for place, value in leaves(row if isinstance(row, Mapping) else {}):
            if place in SHOWN and value is not None:
                assert value in tables["enums"][SHOWN[place]], place
        figures = row.get("metrics", {}) if isinstance(row, Mapping) else {}
        assert unknown_values(figures, {*tables["objects"]["Metrics"], *VIDEO}) == []


# -- tables --------------------------------------------------------------------------------------------------------


def test_values_are_the_tables(tables: Json) -> None:
    enums = tables["enums"]
    assert set(native.BUDGET_TYPES) == set(enums["budgetType"])
    assert set(native.PACING_TYPES) == set(enums["pacing"])
    assert {name: set(types) for name, types in native.OPTIMIZATIONS.items()} == {
        name: set(types) for name, types in enums["objective"].items()
    }
    assert set(targeting.PLATFORMS) == set(enums["platform"])
    assert set(targeting.OPERATING_SYSTEMS) == set(enums["operatingSystems"])
    assert set(targeting.BROWSERS) == set(enums["browsers"])
    assert unknown_values(native.OBJECTIVES.values(), enums["objective"]) == []
    assert native.STANDARD_FORMAT in enums["creativeFormat"]
    assert unknown_values(native.EXTRA_CAMPAIGN_FIELDS.split(","), enums["campaignExtraFields"]) == []


def test_limits_are_the_tables(tables: Json) -> None:
    limits, least = tables["limits"], tables["limits"]["minBudgetUSD"]
    assert tables["server"] == native.API_URL
    assert tables["authHeader"] == native.TOKEN_HEADER
    assert tables["tokenDays"] == native.TOKEN_LIFETIME_DAYS
    assert limits["campaignListLimitMax"] == native.MAX_PAGE_SIZE
    assert limits["reportLimitMax"] == native.REPORT_PAGE_SIZE
    assert limits["reportHistoryYears"] * 365 == native.REPORT_DAYS
    assert (least["DAILY"], least["MONTHLY"]) == (native.MIN_BUDGETS_USD["DAILY"], native.MIN_BUDGETS_USD["MONTHLY"])
    assert least["CAMPAIGN"] == f"{native.MIN_BUDGETS_USD['CAMPAIGN']} x days"


CHOSEN = {"platform": "platform", "browsers": "browsers", "operatingSystems": "operatingSystems"}


def test_settings_choose_from_the_tables(tables: Json) -> None:
    places = {"objective": "objective", "type": "budgetType", "pacing": "pacing", **CHOSEN}
    for place, values in choices(NETWORK).items():
        if place == "ad/enabled":
            continue  # our own words: natively it is a flag
        assert set(values) == set(tables["enums"][places[place.rpartition("/")[2]]]), place


def test_metrics_exist(tables: Json) -> None:
    metrics = (metric.native.removeprefix("/metrics/") for metric in NETWORK.metrics)
    assert unknown_values(metrics, {*tables["objects"]["Metrics"], *VIDEO}) == []
