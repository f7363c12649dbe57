"""Snapchat: enums, pairs of types, delivery statuses and report fields are those of its published tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import parse_qs, urlsplit

import pytest

from adsunify.adapter.network import Template
from adsunify.http.messages import build_request_url
from adsunify.networks.registry import get_adapter
from adsunify.networks.snapchat import native, reads
from adsunify.values.exact_json import Json

from .sources import Exchange, Write, exchanges, get_name, writes
from .tables import choices, leaves, statuses, unknown_values, wrong_values

NETWORK = get_adapter("snapchat").network
WRITES, READS = writes("snapchat"), exchanges("snapchat")
STATS = [exchange for exchange in READS if urlsplit(build_request_url(exchange.request)).path.endswith("/stats")]

ENUMS: Mapping[str, Mapping[str, str]] = {
    "campaigns": {
        "status": "status",
        "buy_model": "buy_model",
        "objective_v2_properties/objective_v2_type": "objective_v2_type",
    },
    "adsquads": {
        "status": "status",
        "type": "adsquad_type",
        "billing_event": "billing_event",
        "bid_strategy": "bid_strategy",
        "optimization_goal": "optimization_goal",
        "pacing_type": "pacing_type",
        "placement_v2/config": "placement_v2.config",
        "placement_v2/snapchat_positions/*": "placement_v2.snapchat_positions",
        "delivery_constraint": "delivery_constraint",
        "child_ad_type": "child_ad_type",
    },
    "ads": {"status": "status", "type": "ad_type"},
}
"""Members that have an enum, by what is written."""

FREE: Mapping[str, tuple[str, ...]] = {
    "campaigns": (
        *("id", "ad_account_id", "name", "start_time", "end_time", "daily_budget_micro", "lifetime_spend_cap_micro"),
        "regulations/restricted_delivery_signals",
    ),
    "adsquads": (
        *("id", "campaign_id", "name", "start_time", "end_time", "bid_micro"),
        *("daily_budget_micro", "lifetime_budget_micro", "targeting/**"),
    ),
    "ads": ("id", "ad_squad_id", "creative_id", "name"),
}
"""The other members that the reference has."""

PLACES: Mapping[str, tuple[str, ...]] = {
    "geos": ("country_code", "operation", "region_id/*", "metro_id/*", "postal_code/*"),
    "demographics": ("gender", "languages/*", "min_age", "max_age", "age_groups/*", "operation"),
    "interests": ("category_id/*", "operation"),
    "devices": ("os_type", "operation"),
    "segments": ("segment_id/*", "operation"),
}
"""The members of each part of the targeting; a flag stands in no list."""

READ_ENUMS: Mapping[str, Mapping[str, str]] = {
    "campaign": ENUMS["campaigns"],
    "adsquad": ENUMS["adsquads"],
    "ad": {**ENUMS["ads"], "review_status": "review_status"},
    "creative": {"type": "creative_type", "review_status": "review_status"},
    "media": {"media_status": "media_status"},
}

Spec = Callable[[str], Json]


def wrongs(data: Json, kind: str, entity: Json) -> list[str]:
    """What the tables do not know of an entity that is written."""
    messages = wrong_values(entity, {place: data[name] for place, name in ENUMS[kind].items()}, FREE[kind])
    for place, value in leaves(entity.get("targeting", {})):
        part, _, member = place.partition("/*/")
        if (member and member not in PLACES.get(part, ())) or (not member and place not in native.TARGETING_MEMBERS):
            messages.append(f"targeting/{place} stands in no table")
        elif member == "operation" and value not in ("INCLUDE", "EXCLUDE"):
            messages.append(f"targeting/{place}: {value}")
    return messages


def entities(write: Write) -> tuple[str, list[Json]]:
    ((kind, rows),) = write.body.items()
    return kind, rows


def test_there_is_something_to_hold() -> None:
    assert {entities(write)[0] for write in WRITES if write.body is not None} == set(ENUMS)
    assert READS
    assert STATS


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_a_write_is_in_the_tables(write: Write, spec: Spec) -> None:
    if write.request.method == "DELETE":
        assert write.body is None
        return
    kind, rows = entities(write)
    assert urlsplit(build_request_url(write.request)).path.endswith(f"/{kind}")
    assert len(rows) == 1
    assert wrongs(spec("snapchat/enums.json"), kind, rows[0]) == []


@pytest.mark.parametrize(
    ("kind", "change", "says"),
    [
        ("campaigns", {"status": "ENABLED"}, "status: ENABLED"),
        ("campaigns", {"objective_v2_properties": {"objective_v2_type": "REACH"}}, "objective_v2_type: REACH"),
        ("campaigns", {"objective": "BRAND_AWARENESS"}, "objective stands in no table"),
        ("adsquads", {"optimization_goal": "CLICKS"}, "optimization_goal: CLICKS"),
        ("adsquads", {"targeting": {"geos": [{"country": "us"}]}}, "targeting/geos/*/country"),
        ("adsquads", {"targeting": {"geos": [{"country_code": "us", "operation": "NOT"}]}}, "operation: NOT"),
        ("ads", {"type": "WEB_VIEW"}, "type: WEB_VIEW"),
    ],
)
def test_what_is_wrong_is_found(kind: str, change: Mapping[str, Json], says: str, spec: Spec) -> None:
    write = next(write for write in WRITES if write.request.method == "POST" and entities(write)[0] == kind)
    messages = wrongs(spec("snapchat/enums.json"), kind, {**entities(write)[1][0], **change})
    assert any(says in problem for problem in messages)


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_a_goal_is_one_of_its_objective(write: Write, spec: Spec) -> None:
    """The unified format has one objective."""
    goals = spec("snapchat/enums.json")["goals_by_objective"][native.AWARENESS]
    if write.body is not None and entities(write)[0] == "adsquads":
        assert {squad["optimization_goal"] for squad in entities(write)[1] if "optimization_goal" in squad} <= set(
            goals
        )


@pytest.mark.parametrize("template", NETWORK.templates, ids=lambda template: template.kind)
def test_a_template_is_in_the_tables(template: Template, spec: Spec) -> None:
    kind = {"campaign": "campaigns", "adGroup": "adsquads", "ad": "ads"}[template.kind]
    assert wrongs(spec("snapchat/enums.json"), kind, dict(template.payload)) == []


# -- reads ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exchange", STATS, ids=get_name)
def test_a_report_is_in_the_tables(exchange: Exchange, spec: Spec) -> None:
    data = spec("snapchat/enums.json")
    assert report_wrongs(data, parse_qs(urlsplit(build_request_url(exchange.request)).query)) == []


def report_wrongs(data: Json, query: Mapping[str, list[str]]) -> list[str]:
    """Values of a report's parameters that the tables do not know."""
    known = {name.removeprefix("stats."): values for name, values in data.items() if name.startswith("stats.")}
    wrong = [f"{name}: {value}" for name in known for value in query.get(name, ()) if value not in known[name]]
    return wrong + unknown_values(query["fields"][0].split(","), known["fields_daily"])


def test_a_wrong_report_is_found(spec: Spec) -> None:
    data = spec("snapchat/enums.json")
    query = {"granularity": ["DAILY"], "view_attribution_window": ["2_DAY"], "fields": ["spend,clicks,uniques"]}
    assert report_wrongs(data, query) == ["granularity: DAILY", "view_attribution_window: 2_DAY", "clicks", "uniques"]


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_a_recorded_entity_is_in_the_tables(exchange: Exchange, spec: Spec) -> None:
    data = spec("snapchat/enums.json")
    body = exchange.response.body if exchange.response.state == "json" and exchange.response.is_ok else None
    lists = [value for value in body.values() if isinstance(value, list)] if isinstance(body, Mapping) else []
    for row in (row for rows in lists for row in rows if isinstance(row, Mapping)):
        for kind, enums in READ_ENUMS.items():
            for place, value in leaves(row.get(kind, {})):
                if place in enums and value is not None:
                    assert value in data[enums[place]], (kind, place)
                if place == "delivery_status/*":
                    of_kind = data["delivery_status"].get(kind, [])
                    assert value in {*data["delivery_status"]["common"], *of_kind}, kind


# -- tables --------------------------------------------------------------------------------------------------------


def test_values_are_the_tables(spec: Spec) -> None:
    data = spec("snapchat/enums.json")
    for kind in ("campaign", "adGroup", "ad"):
        assert statuses(NETWORK, kind) == set(data["status"])
    assert set(native.BID_STRATEGIES) == set(data["bid_strategy"])
    assert set(native.PACING_TYPES) == set(data["pacing_type"])
    assert native.AWARENESS in data["objective_v2_type"]
    assert native.REVIEW_REJECTED in data["review_status"]
    assert native.IMPRESSIONS in data["goals_by_objective"][native.AWARENESS]


def test_the_type_of_an_ad_is_its_creatives(spec: Spec) -> None:
    data = spec("snapchat/enums.json")
    pairs = data["creative_type_to_ad_type"]
    assert {creative_type: pairs[creative_type] for creative_type in native.AD_TYPES} == dict(native.AD_TYPES)
    assert set(native.AD_TYPES) | set(native.UNSUPPORTED_CREATIVE_TYPES) >= set(pairs)
    assert not set(native.AD_TYPES) & set(native.UNSUPPORTED_CREATIVE_TYPES)
    assert (
        unknown_values(
            {*native.AD_TYPES, *native.UNSUPPORTED_CREATIVE_TYPES, *native.PLAIN_CREATIVE_TYPES}, LENSES | set(pairs)
        )
        == []
    )


LENSES = {"LENS_WEB_VIEW"}
"""A creative type that stands in the list of types, and has no pair."""


def test_settings_choose_from_the_tables(spec: Spec) -> None:
    data = spec("snapchat/enums.json")
    for place, values in choices(NETWORK).items():
        kind, _, name = place.partition("/")
        path = {"campaign": "campaigns", "adGroup": "adsquads", "ad": "ads"}[kind]
        assert unknown_values(values, data[ENUMS[path][name]]) == [], place


def test_metrics_are_asked_for(spec: Spec) -> None:
    field_names = reads.STATS_FIELDS.split(",")
    assert unknown_values(field_names, spec("snapchat/enums.json")["stats.fields_daily"]) == []
    assert unknown_values((metric.native.removeprefix("/stats/") for metric in NETWORK.metrics), field_names) == []
