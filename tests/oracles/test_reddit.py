"""Reddit: enums, report fields, time zones and currencies are those of its published tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

import pytest

from adsunify.adapter.account import Account
from adsunify.adapter.network import Template
from adsunify.http.messages import build_request_url
from adsunify.networks.reddit import native, reads, targeting
from adsunify.networks.registry import get_adapter
from adsunify.values.exact_json import Json

from .sources import Exchange, Write, exchanges, get_name, writes
from .tables import choices, leaves, statuses, unknown_values, wrong_values

NETWORK = get_adapter("reddit").network
WRITES, READS = writes("reddit"), exchanges("reddit")
REPORTS = [exchange for exchange in READS if urlsplit(build_request_url(exchange.request)).path.endswith("/reports")]

AIM = {"optimization_goal": "ad_group.optimization_goal", "goal_type": "ad_group.goal_type"}
ENUMS: Mapping[str, Mapping[str, str]] = {
    "campaigns": {
        **AIM,
        "configured_status": "configured_status",
        "objective": "campaign.objective",
        "bid_strategy": "campaign.bid_strategy",
        "bid_type": "campaign.bid_type",
    },
    "ad_groups": {
        **AIM,
        "configured_status": "configured_status",
        "bid_strategy": "ad_group.bid_strategy",
        "bid_type": "ad_group.bid_type",
        "view_through_conversion_type": "ad_group.view_through_conversion_type",
        "targeting/gender": "targeting.gender",
        "targeting/locations/*": "targeting.locations",
        "targeting/platforms/*": "targeting.platforms",
        "targeting/view_modes/*": "targeting.view_modes",
        "targeting/languages/*": "targeting.languages",
        "targeting/carriers/*": "targeting.carriers",
    },
    "ads": {"configured_status": "configured_status"},
}
"""Members that have an enum, by what is written."""

SPEND = ("goal_value", "bid_value", "start_time", "end_time", "conversion_pixel_id", "schedule/**")
FREE: Mapping[str, tuple[str, ...]] = {
    "campaigns": ("name", "funding_instrument_id", "spend_cap", "is_campaign_budget_optimization", *SPEND),
    "ad_groups": (
        *("name", "campaign_id", *SPEND, "targeting/age_targeting/min_age", "targeting/age_targeting/max_age"),
        *("targeting/expand_targeting", "targeting/devices/**"),
        *(
            f"targeting/{name}/*"
            for name in ("geolocations", "excluded_geolocations", "interests", "keywords", "excluded_keywords")
        ),
        *("targeting/communities/*", "targeting/excluded_communities/*"),
    ),
    "ads": (
        *("name", "ad_group_id", "post_id", "click_url", "preview_expiry", "event_trackers/**"),
        *("click_url_query_parameters/*/name", "click_url_query_parameters/*/value"),
    ),
}
"""The other members that the reference has."""

SHOWN: Mapping[str, str] = {
    "effective_status": "effective_status",
    "rejection_reason": "ad.rejection_reason",
    "admin_approval": "ad_account.admin_approval",
    "suspension_reason": "ad_account.suspension_reason",
    "time_zone_id": "time_zone_id",
    "attribution_type": "ad_account.attribution_type",
    "click_attribution_window": "ad_account.click_attribution_window",
}
"""Members that are only read."""

Spec = Callable[[str], Json]


@pytest.fixture
def enums(spec: Spec) -> Json:
    """The tables; the objectives are those before and after the migration of 2026-09-30."""
    tables = dict(spec("reddit/enums.json")["enums"])
    tables["campaign.objective"] = [*tables["campaign.objective"], *tables["campaign.objective.added_2026_09_30"]]
    return tables


def kind_of(sample: Write | Exchange) -> str | None:
    path = urlsplit(build_request_url(sample.request)).path
    return next((name for name in ENUMS if f"/{name}" in path), None)


def wrongs(enums: Json, kind: str, entity: Json) -> list[str]:
    """What the tables do not know of an entity that is written."""
    return wrong_values(entity, {place: enums[name] for place, name in ENUMS[kind].items()}, FREE[kind])


def test_there_is_something_to_hold() -> None:
    assert {kind_of(write) for write in WRITES} == set(ENUMS)
    assert READS
    assert REPORTS


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_a_write_is_in_the_tables(write: Write, enums: Json) -> None:
    kind = kind_of(write)
    assert kind is not None
    assert write.request.method in ("POST", "PATCH")
    assert set(write.body) == {"data"}
    assert wrongs(enums, kind, write.body["data"]) == []


@pytest.mark.parametrize(
    ("kind", "change", "says"),
    [
        ("campaigns", {"objective": "TRAFFIC"}, "objective: TRAFFIC"),
        ("campaigns", {"configured_status": "ENABLED"}, "configured_status: ENABLED"),
        ("campaigns", {"colour": "red"}, "colour stands in no table"),
        ("ad_groups", {"bid_strategy": "AUTO"}, "bid_strategy: AUTO"),
        ("ad_groups", {"goal_type": "DAILY"}, "goal_type: DAILY"),
        ("ad_groups", {"targeting": {"languages": ["en"]}}, "targeting/languages/*: en"),
        ("ad_groups", {"targeting": {"towns": ["x"]}}, "targeting/towns/* stands in no table"),
        ("ads", {"status": "PAUSED"}, "status stands in no table"),
    ],
)
def test_what_is_wrong_is_found(kind: str, change: Mapping[str, Json], says: str, enums: Json) -> None:
    write = next(write for write in WRITES if write.request.method == "POST" and kind_of(write) == kind)
    assert says in wrongs(enums, kind, {**write.body["data"], **change})


@pytest.mark.parametrize("template", NETWORK.templates, ids=lambda template: template.kind)
def test_a_template_is_in_the_tables(template: Template, enums: Json) -> None:
    kind = {"campaign": "campaigns", "adGroup": "ad_groups", "ad": "ads"}[template.kind]
    assert wrongs(enums, kind, dict(template.payload)) == []


# -- reads ---------------------------------------------------------------------------------------------------------


def report_wrongs(enums: Json, report: Mapping[str, Json]) -> list[str]:
    """Values of a report that the tables do not know."""
    return [
        *unknown_values(report["fields"], enums["report.fields"]),
        *unknown_values(report["breakdowns"], enums["report.breakdowns"]),
        *unknown_values([report["time_zone_id"]], enums["time_zone_id"]),
    ]


@pytest.mark.parametrize("exchange", REPORTS, ids=get_name)
def test_a_report_is_in_the_tables(exchange: Exchange, enums: Json) -> None:
    assert set(exchange.body) == {"data"}
    assert report_wrongs(enums, exchange.body["data"]) == []


def test_a_wrong_report_is_found(enums: Json) -> None:
    report = {"fields": ["SPEND", "COST"], "breakdowns": ["DAY"], "time_zone_id": "Europe/Bern"}
    assert report_wrongs(enums, report) == ["COST", "DAY", "Europe/Bern"]


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_a_recorded_entity_is_in_the_tables(exchange: Exchange, enums: Json) -> None:
    body = exchange.response.body if exchange.response.state == "json" and exchange.response.is_ok else None
    data = body.get("data") if isinstance(body, Mapping) else None
    for row in data if isinstance(data, list) else [data]:
        of_kind = ENUMS.get(kind_of(exchange) or "", {})
        for place, value in leaves(row if isinstance(row, Mapping) else {}):
            table = {**SHOWN, **of_kind}.get(place)
            if table is not None and value is not None:
                assert value in enums[table], place


# -- tables --------------------------------------------------------------------------------------------------------


def test_values_are_the_tables(enums: Json) -> None:
    for kind in ("campaign", "adGroup", "ad"):
        assert statuses(NETWORK, kind) == set(enums["configured_status"])
    assert unknown_values(native.BID_STRATEGIES, enums["ad_group.bid_strategy"]) == []
    assert native.CLICKS in enums["campaign.objective"]
    assert native.CLICKS in enums["ad_group.optimization_goal"]
    assert native.CPC in enums["ad_group.bid_type"]
    assert {native.DAILY_SPEND, native.LIFETIME_SPEND} == set(enums["ad_group.goal_type"])
    assert native.UTC_TIMEZONE in enums["time_zone_id"]


def test_targeting_is_the_tables(enums: Json) -> None:
    assert set(targeting.LANGUAGES) == set(enums["targeting.languages"])
    assert set(targeting.GENDERS.values()) == set(enums["targeting.gender"])
    for name, values in targeting.MEMBER_CHOICES.items():
        # a value that stands in the list, and is not supported
        assert set(values) == set(enums[f"targeting.{name}"]) - {"DESKTOP_LEGACY"}, name


def test_settings_choose_from_the_tables(enums: Json) -> None:
    for place, values in choices(NETWORK).items():
        kind, _, name = place.partition("/")
        path = {"campaign": "campaigns", "adGroup": "ad_groups", "ad": "ads"}[kind]
        assert unknown_values(values, enums[ENUMS[path][name]]) == [], place


def test_metrics_are_asked_for(enums: Json) -> None:
    assert unknown_values(reads.REPORT_FIELDS, enums["report.fields"]) == []
    assert {metric.native.removeprefix("/").upper() for metric in NETWORK.metrics} <= set(reads.REPORT_FIELDS)


def test_every_currency_has_a_unit(enums: Json) -> None:
    """Those that can pay, at least; money is in micros of any."""
    assert {
        NETWORK.get_money_unit(Account("reddit", "t2_1", code)).offset for code in enums["funding_instrument.currency"]
    } == {1_000_000}
