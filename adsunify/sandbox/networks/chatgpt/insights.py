"""Delivery by day: one row per entity and day, flat, money in major units."""

import hashlib
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from adsunify.sandbox.checks import array, choice, json_text, record, text
from adsunify.sandbox.figures import sum_figures
from adsunify.sandbox.instants import iterate_days
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.chatgpt import figures
from adsunify.sandbox.networks.chatgpt.answers import build_page_response, paging_checks, parse_query, require_account
from adsunify.sandbox.networks.chatgpt.entities import get_ancestry, require_entity
from adsunify.sandbox.networks.chatgpt.tables import KIND_BY_COLLECTION, LEVELS, MICROS
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity, World

_MAX_PAGE_SIZE, _DEFAULT_PAGE_SIZE = 2000, 20
_RETENTION_TIME = timedelta(days=365)
_MAX_RANGE = timedelta(days=5 * 365)
_DAY_CHECK = text(10, 10, r"\d{4}-\d\d-\d\d")
_SECONDS_CHECK = text(1, 12, "[0-9]+")
_RANGE_CHECK = json_text(
    record(
        required={"type": choice("date_range", "unix_range")},
        optional={
            "since": _DAY_CHECK,
            "until": _DAY_CHECK,
            "timezone": text(),
            "start": _SECONDS_CHECK,
            "end": _SECONDS_CHECK,
        },
    )
)
_FILTER_CHECK = json_text(record(required={"field": text(), "operator": choice("IN"), "value": array(text(), 1)}))
_MONEY_METRICS = ("spend", "order_created_attributed_sales")
_CURRENCY_FIELD = "order_created_attributed_sales_currency"
_METADATA_FIELDS = ("readable_time", "timezone")


def get_account_insights(request: Request) -> Response:
    """GET /ad_account/insights. Only daily rows are simulated, and one time range."""
    return _build_insights_response(request, "ad_account", require_account(request).id)


def get_entity_insights(request: Request) -> Response:
    """GET /campaigns/{id}/insights and the like."""
    entity = require_entity(request)
    return _build_insights_response(request, KIND_BY_COLLECTION[request.path_parameters["kind"]], entity.id)


def _build_insights_response(request: Request, scope: str, scope_id: str) -> Response:
    levels = LEVELS[LEVELS.index(scope) :]
    query = parse_query(
        request,
        {"time_granularity": choice("daily")},
        {"aggregation_level": choice(*levels), **paging_checks(_MAX_PAGE_SIZE)},
        {
            "time_ranges": _RANGE_CHECK,
            "fields": text(),
            "includes": choice("zero_impression_items"),
            "filters": _FILTER_CHECK,
        },
    )
    level, account = query.get("aggregation_level", scope), require_account(request)
    if len(query["time_ranges"]) != 1:
        raise InvalidRequest("value", "/time_ranges", "one range is required")
    since, until = parse_period(request.world, account, query["time_ranges"][0])
    keys = _map_row_keys(level, query["fields"] or ["impressions"])
    conditions = _parse_filters(level, query["filters"])
    ads_by_id = {
        native_id: ads
        for native_id, ads in _group_ads(request.world, account, level, scope, scope_id).items()
        if all(
            _get_entity_fact(request.world, account, level, native_id, of, name) in values
            for of, name, values in conditions
        )
    }
    rows = []
    for day in iterate_days(since, until):
        for native_id, ads in ads_by_id.items():
            did = sum_figures((figures.get_ad_figures(request.world, ad, day) for ad in ads), figures.NO_FIGURES)
            if did["impressions"] or query["includes"]:
                rows.append(_build_row(request.world, account, level, native_id, day, did, keys))
    return build_page_response(request, rows, query, default=_DEFAULT_PAGE_SIZE, count=len(rows))


def parse_period(world: World, account: Account, time_range: Mapping[str, str]) -> tuple[date, date]:
    """The days of a time range, the last included. The network stores figures for 365 days. Raises InvalidRequest."""
    where, zone = "/time_ranges", account.zone
    dates = time_range["type"] == "date_range"
    names = ("since", "until") if dates else ("start", "end")
    if {*time_range} - {"type", "timezone" if dates else "type"} != {*names}:
        raise InvalidRequest("value", where, f"a {time_range['type']} has {names[0]} and {names[1]}")
    if dates:
        if time_range.get("timezone", account.timezone) != account.timezone:
            raise InvalidRequest("value", where, f"only {account.timezone} is simulated")
        since, until = (_parse_date(time_range[name]) for name in names)
    else:
        since, until = _parse_unix_range(time_range, zone)
    now = world.get_local_date(account)
    if until < since:
        raise InvalidRequest("value", where, "ends before it starts")
    if until > now:
        raise InvalidRequest("value", where, "must not lie in the future")
    if since < now - _MAX_RANGE:
        raise InvalidRequest("value", where, "must not lie further back than 5 years")
    return max(since, now - _RETENTION_TIME), until


def _parse_date(value: str) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise InvalidRequest("value", "/time_ranges", "is no day") from error


def _parse_unix_range(time_range: Mapping[str, str], zone: ZoneInfo) -> tuple[date, date]:
    start, end = (datetime.fromtimestamp(int(time_range[name]), zone) for name in ("start", "end"))
    if start.time() != time() or end.time() != time():
        raise InvalidRequest("value", "/time_ranges", "must be full days in the time zone of the account")
    return start.date(), end.date() - timedelta(days=1)


def _map_row_keys(level: str, fields: list[str]) -> dict[str, tuple[str, str | None]]:
    """Map the row's key for each requested field to the member and the level that the field names."""
    keys_by_field: dict[str, tuple[str, tuple[str, str | None]]] = {}
    for name in _METADATA_FIELDS:
        keys_by_field[f"metadata.{name}"] = keys_by_field[name] = (name, (name, None))
    for name in (*figures.METRICS, _CURRENCY_FIELD):
        keys_by_field[f"{level}.{name}"] = keys_by_field[name] = (name, (name, None))
    for above in LEVELS[: LEVELS.index(level) + 1]:
        for name in ("id", "name"):
            keys_by_field[f"{above}.{name}"] = keys_by_field[f"{above}_{name}"] = (f"{above}_{name}", (name, above))
    keys = {}
    for field in fields:
        if field not in keys_by_field:
            raise InvalidRequest("value", "/fields", f"Unknown field '{field}' at level {level}")
        keys[keys_by_field[field][0]] = keys_by_field[field][1]
    return keys


def _parse_filters(level: str, filters: list[dict[str, Any]]) -> list[tuple[str, str, list[str]]]:
    """The level, member and values of every filter: ids of this level and of the levels above, and `campaign.status`.

    All filters have to match. An id that does not exist matches no row (our choice).
    """
    levels = LEVELS[: LEVELS.index(level) + 1]
    members = {f"{above}.id": (above, "id") for above in levels}
    if "campaign" in levels:
        members["campaign.status"] = ("campaign", "status")
    for condition in filters:
        if condition["field"] not in members:
            raise InvalidRequest("value", "/filters", f"'{condition['field']}' is no filter at level {level}")
    return [(*members[condition["field"]], condition["value"]) for condition in filters]


def _group_ads(world: World, account: Account, level: str, scope: str, scope_id: str) -> dict[str, list[StoredEntity]]:
    """The ads of every object of the level, below the scope. Objects without ads have an empty list."""
    if level == "ad_account":
        ads_by_id: dict[str, list[StoredEntity]] = {account.id: []}
    else:
        ads_by_id = {
            entity.id: []
            for entity in world.list_entities(level, account.id)
            if scope_id in _list_ancestor_ids(world, entity)
        }
    for ad in world.list_entities("ad", account.id):
        ids = dict(zip(reversed(LEVELS), (*(entity.id for entity in get_ancestry(world, ad)), account.id), strict=True))
        if ids[scope] == scope_id:
            ads_by_id[ids[level]].append(ad)
    return ads_by_id


def _list_ancestor_ids(world: World, entity: StoredEntity) -> set[str]:
    """The ids of an object, of its ancestors and of the account."""
    ids = {entity.id, entity.account}
    if entity.kind == "ad":
        return ids | {ancestor.id for ancestor in get_ancestry(world, entity)}
    return ids | ({entity.parent} if entity.parent is not None else set())


def _build_row(
    world: World,
    account: Account,
    level: str,
    native_id: str,
    day: date,
    did: Mapping[str, int],
    keys: Mapping[str, tuple[str, str | None]],
) -> dict[str, Any]:
    zone = account.zone
    identity = hashlib.sha256(f"{native_id} {day} {sorted(keys)}".encode()).hexdigest()[:24]
    row: dict[str, Any] = {
        "id": f"ins_{identity}",  # the id depends on the requested fields, too
        "start_time": int(datetime.combine(day, time(), zone).timestamp()),
        "end_time": int(datetime.combine(day + timedelta(days=1), time(), zone).timestamp()),
    }
    sold = did["conversions"] > 0
    for key, (name, of) in keys.items():
        if of is not None:
            row[key] = _get_entity_fact(world, account, level, native_id, of, name)
        elif name == "readable_time":
            row[key] = day.isoformat()
        elif name == "timezone":
            row[key] = account.timezone
        elif name == _CURRENCY_FIELD:
            row[key] = account.currency if sold else None
        elif name in _MONEY_METRICS:
            row[key] = Decimal(did[name]) / MICROS
        else:
            row[key] = did[name]
    return row


def _get_entity_fact(world: World, account: Account, level: str, native_id: str, of: str, name: str) -> str:
    """The id, name or status of a row's object, or of an ancestor."""
    kind, at = level, native_id
    while kind != of and kind != "campaign" and of != "ad_account":
        entity = world.find(kind, at)
        assert entity is not None, "a row has an object"
        kind, at = LEVELS[LEVELS.index(kind) - 1], str(entity.parent)
    if of == "ad_account":
        return account.id if name == "id" else account.name
    entity = world.find(kind, at)
    assert entity is not None, "a row has an object"
    return entity.id if name == "id" else str(entity.data["name"])
