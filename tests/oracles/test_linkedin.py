"""LinkedIn: enums, facets and codes of errors are those of its published tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import unquote, urlsplit

import pytest

from adsunify.adapter.network import Template
from adsunify.http.messages import build_request_url
from adsunify.networks.linkedin import native, targeting
from adsunify.networks.registry import get_adapter
from adsunify.values.exact_json import Json

from .sources import Exchange, Write, exchanges, get_name, writes
from .tables import choices, leaves, statuses, unknown_values, wrong_values

NETWORK = get_adapter("linkedin").network
WRITES, READS = writes("linkedin"), exchanges("linkedin")

ENUMS: Mapping[str, Mapping[str, str]] = {
    "adCampaignGroups": {"status": "campaignGroup.status"},
    "adCampaigns": {
        "status": "campaign.status",
        "type": "campaign.type",
        "objectiveType": "campaign.objectiveType",
        "costType": "campaign.costType",
        "politicalIntent": "campaign.politicalIntent",
        "creativeSelection": "campaign.creativeSelection",
        "pacingStrategy": "campaign.pacingStrategy",
        "format": "campaign.format.sponsoredUpdates",
        "optimizationTargetType": "campaign.optimizationTargetType",
    },
    "creatives": {"intendedStatus": "creative.intendedStatus"},
}
"""Members that have an enum, by what is written."""

AMOUNTS = tuple(f"{name}/{part}" for name in ("dailyBudget", "totalBudget") for part in ("amount", "currencyCode"))
SCHEDULE = ("runSchedule/start", "runSchedule/end")
FREE: Mapping[str, tuple[str, ...]] = {
    "adCampaignGroups": ("account", "name", *SCHEDULE, *AMOUNTS),
    "adCampaigns": (
        *("account", "campaignGroup", "name", "associatedEntity", "locale/country", "locale/language", *SCHEDULE),
        *(*AMOUNTS, "unitCost/amount", "unitCost/currencyCode"),
        *("audienceExpansionEnabled", "offsiteDeliveryEnabled", "targetingCriteria/**"),
    ),
    "creatives": ("campaign", "name", "content/reference"),
}
"""The other members that the reference has."""

FACET = re.compile(r"urn:li:adTargetingFacet:(\w+)")
DELETABLE = {"runSchedule", "totalBudget", "dailyBudget", "unitCost", "pacingStrategy"}
GATEWAY = {
    *("EXPIRED_ACCESS_TOKEN", "REVOKED_ACCESS_TOKEN", "INVALID_ACCESS_TOKEN", "65600", "65601", "65602"),
    *("invalid_grant", "invalid_client", "NONEXISTENT_VERSION", "VERSION_MISSING"),
    *("ACCESS_DENIED", "QUERY_PARAM_NOT_ALLOWED"),
}
"""Codes of the login and the gateway, documented apart, which the registry of the three resources leaves out."""

Spec = Callable[[str], Json]


def resource(url: str) -> str:
    return next(name for name in ENUMS if f"/{name}" in urlsplit(url).path)


def wrongs(data: Json, kind: str, body: Json, *, created: bool) -> list[str]:
    """What the tables do not know of a body."""
    enums = {place: data[name] for place, name in ENUMS[kind].items()}
    if kind == "adCampaignGroups" and created:
        enums["status"] = data["campaignGroup.status.onCreate"]
    if kind == "adCampaigns" and body.get("objectiveType") in data["campaign.optimizationTargetType.byObjective"]:
        of_objective = data["campaign.optimizationTargetType.byObjective"][body["objectiveType"]]
        enums["optimizationTargetType"] = of_objective
    messages = wrong_values(body, enums, FREE[kind])
    facets = {facet for place, _ in leaves(body.get("targetingCriteria", {})) for facet in FACET.findall(place)}
    return messages + unknown_values(facets, data["targetingFacets"])


def test_there_is_something_to_hold() -> None:
    assert {resource(build_request_url(write.request)) for write in WRITES} == set(ENUMS)
    assert READS


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_a_write_is_in_the_tables(write: Write, spec: Spec) -> None:
    data, kind = spec("linkedin/enums.json"), resource(build_request_url(write.request))
    if write.request.method == "DELETE":
        assert write.body is None
        return
    assert write.request.method == "POST"
    patched = write.request.headers.get(native.METHOD_HEADER) == native.PARTIAL_UPDATE
    assert patched == (set(write.body) == {"patch"})
    if not patched:
        assert wrongs(data, kind, write.body, created=True) == []
        return
    patch = write.body["patch"]
    assert set(patch) <= {"$set", "$delete"}
    assert wrongs(data, kind, patch.get("$set", {}), created=False) == []
    assert set(patch.get("$delete", ())) <= DELETABLE


@pytest.mark.parametrize(
    ("kind", "change", "says"),
    [
        ("adCampaignGroups", {"status": "PAUSED"}, "status: PAUSED"),
        ("adCampaigns", {"objectiveType": "WEBSITE_VISITS"}, "objectiveType: WEBSITE_VISITS"),
        ("adCampaigns", {"optimizationTargetType": "MAX_REACH", "objectiveType": "WEBSITE_VISIT"}, "MAX_REACH"),
        ("adCampaigns", {"colour": "red"}, "colour stands in no table"),
        ("adCampaigns", {"targetingCriteria": {"or": {"urn:li:adTargetingFacet:towns": ["urn:li:geo:1"]}}}, "towns"),
        ("creatives", {"intendedStatus": "LIVE"}, "intendedStatus: LIVE"),
    ],
)
def test_what_is_wrong_is_found(kind: str, change: Mapping[str, Json], says: str, spec: Spec) -> None:
    write = next(write for write in WRITES if build_request_url(write.request).endswith(f"/{kind}"))
    messages = wrongs(spec("linkedin/enums.json"), kind, {**write.body, **change}, created=True)
    assert any(says in problem for problem in messages)


@pytest.mark.parametrize("template", NETWORK.templates, ids=lambda template: template.kind)
def test_a_template_is_in_the_tables(template: Template, spec: Spec) -> None:
    kind = {"campaign": "adCampaignGroups", "adGroup": "adCampaigns", "ad": "creatives"}[template.kind]
    assert wrongs(spec("linkedin/enums.json"), kind, dict(template.payload), created=True) == []


# -- reads ---------------------------------------------------------------------------------------------------------

QUERIED = {
    "pivot": "adAnalytics.pivot.operational",
    "timeGranularity": "adAnalytics.timeGranularity",
    "intendedStatuses": "creative.intendedStatus",
    "status": "campaign.status",
}


def list_enumerated_parameters(url: str) -> list[tuple[str, list[str]]]:
    """The enumerated parameters of an address, with their values."""
    query = unquote(urlsplit(url).query)
    matches = [
        (name, re.search(rf"(?:^|[&(,]){name}(?:=|:\(values:)(?:List\(([^)]*)\)|(\w+))", query)) for name in QUERIED
    ]
    return [(name, (match.group(1) or match.group(2)).split(",")) for name, match in matches if match is not None]


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_a_read_is_in_the_tables(exchange: Exchange, spec: Spec) -> None:
    data, url = spec("linkedin/enums.json"), build_request_url(exchange.request)
    for name, values in list_enumerated_parameters(url):
        table = "campaignGroup.status" if name == "status" and "/adCampaignGroups" in url else QUERIED[name]
        assert unknown_values(values, data[table]) == []
    assert unknown_values(FACET.findall(unquote(urlsplit(url).query)), data["targetingFacets"]) == []


def test_reads_ask_for_all_of_them() -> None:
    assert {
        name for exchange in READS for name, _ in list_enumerated_parameters(build_request_url(exchange.request))
    } == set(QUERIED)
    assert list_enumerated_parameters("https://h/?search=(status:(values:List(LIVE,PAUSED)))") == [
        ("status", ["LIVE", "PAUSED"])
    ]


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_a_recorded_entity_is_in_the_tables(exchange: Exchange, spec: Spec) -> None:
    data = spec("linkedin/enums.json")
    path = urlsplit(build_request_url(exchange.request)).path
    kind = next((name for name in ENUMS if f"/{name}" in path), None)
    body = exchange.response.body if exchange.response.state == "json" and exchange.response.is_ok else None
    if kind is None or not isinstance(body, Mapping):
        return
    for row in body.get("elements", [body]):
        for place, value in leaves(row):
            if place in ENUMS[kind]:
                assert value in data[ENUMS[kind][place]], place


# -- tables --------------------------------------------------------------------------------------------------------


def test_values_are_the_tables(spec: Spec) -> None:
    data = spec("linkedin/enums.json")
    assert statuses(NETWORK, "campaign") == set(data["campaignGroup.status"])
    assert statuses(NETWORK, "adGroup") == set(data["campaign.status"])
    assert statuses(NETWORK, "ad") == set(data["creative.intendedStatus"])
    assert native.INITIAL_GROUP_STATUS in data["campaignGroup.status.onCreate"]
    assert set(native.POLITICAL_INTENT.values()) == set(data["campaign.politicalIntent"])
    of_objective = data["campaign.optimizationTargetType.byObjective"]
    assert {name: set(targets) for name, targets in native.OPTIMIZATION_TARGETS.items()} == {
        name: set(of_objective[name]) for name in native.OPTIMIZATION_TARGETS
    }
    costs = {cost for targets in native.OPTIMIZATION_TARGETS.values() for cost in targets.values()}
    assert unknown_values(costs, data["campaign.costType"]) == []
    assert unknown_values(native.BID_TARGETS, data["campaign.optimizationTargetType"]) == []


def test_settings_choose_from_the_tables(spec: Spec) -> None:
    data = spec("linkedin/enums.json")
    for place, values in choices(NETWORK).items():
        kind, _, name = place.partition("/")
        assert kind == "adGroup"
        assert unknown_values(values, data[ENUMS["adCampaigns"][name]]) == [], place


def test_facets_exist(spec: Spec) -> None:
    facet_names = [
        *targeting.PLACE_FACETS,
        *targeting.INCLUDE_ONLY_FACETS,
        *(facet for pair in targeting.CONFLICTING_FACETS for facet in pair),
    ]
    facets = {facet.removeprefix(native.FACET_URN) for facet in facet_names}
    assert unknown_values(facets, spec("linkedin/enums.json")["targetingFacets"]) == []


def test_codes_of_errors_exist(spec: Spec) -> None:
    known = {row["code"] for row in spec("linkedin/error-codes.json")["codes"]}
    assert not known & GATEWAY
    assert unknown_values((code for rule in NETWORK.errors for code in rule.codes), known | GATEWAY) == []


def test_the_version_is_that_of_the_tables(spec: Spec) -> None:
    first, last = spec("linkedin/enums.json")["version"].split("-")
    assert first <= native.VERSION <= last
