"""Reads accounts, entities, reports and catalogs from Northway."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import partial

from adsunify.adapter import catalogs, hierarchy
from adsunify.adapter.account import Account, require_timezone
from adsunify.adapter.flows import fetch_response, fetch_rows
from adsunify.adapter.hierarchy import (
    DiscoveredAccount,
    EntityPage,
    EntityTree,
    ListQuery,
    ParsedEntity,
    check_query,
    drop_orphans,
    fetch_entity_page,
    fetch_lineage,
)
from adsunify.adapter.insights import Coverage, DatedValues, Insights
from adsunify.adapter.network import Level
from adsunify.adapter.reports import parse_report_rows
from adsunify.http.messages import Flow, Request, Response
from adsunify.values.dates import get_timezone, split_date_range
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, require_id, require_object, require_objects

from . import native as northway
from .tables import AD, CAMPAIGN, LEVELS, METRICS, NETWORK

# -- accounts --------------------------------------------------------------------------------------------------------


_fetch_rows = partial(fetch_rows, NETWORK, following=northway.build_next_request, parse=northway.parse_rows)


def _parse_account(row: Mapping[str, Json]) -> DiscoveredAccount:
    native_id = require_id(row, "/id", "advertiser")
    name, currency, timezone = (get_text(row, f"/{member}") for member in ("name", "currency", "tz"))
    return DiscoveredAccount(native_id, name or native_id, currency, timezone, get_text(row, "/state"))


def discover_accounts() -> Flow[list[DiscoveredAccount]]:
    """Read all advertisers of the user."""
    query = northway.build_list_query(northway.MAX_PAGE_SIZE)
    rows = yield from _fetch_rows(northway.build_get_request("advertisers", query))
    return [_parse_account(row) for row in rows]


# -- the hierarchy ---------------------------------------------------------------------------------------------------


def fetch_tree(account: Account) -> Flow[EntityTree]:
    """Read campaigns, ad sets and ads, each to the last page."""
    nodes: list[ParsedEntity] = []
    for level in LEVELS:
        query = northway.build_list_query(northway.MAX_PAGE_SIZE)
        rows = yield from _fetch_rows(northway.build_account_get_request(account, level.path, query))
        nodes += [hierarchy.parse_entity(level, row) for row in rows]
    return EntityTree(drop_orphans(nodes))


def list_entities(account: Account, kind: str, query: ListQuery) -> Flow[EntityPage]:
    """Read one page of a level. A search reads further pages until one has a match.

    Northway filters all levels by parent, campaigns and ad sets by state, and campaigns by name. This function filters
    the rows by state and name again, for the levels where Northway does not.
    """
    level = check_query(NETWORK, kind, query)
    filters = {level.parent.removeprefix("/"): query.parent_id, "state": query.status, "q": query.search}
    if level is AD:
        del filters["state"]
    if level is not CAMPAIGN:
        del filters["q"]
    native_filters = {name: value for name, value in filters.items() if value is not None}

    def parse_page(response: Response) -> EntityPage:
        entities = (hierarchy.parse_entity(level, row) for row in northway.parse_rows(response))
        return EntityPage(tuple(filter(query.has_match, entities)), northway.parse_next_cursor(response))

    page_query = {**northway.build_list_query(query.limit, query.cursor), **native_filters}
    request = northway.build_account_get_request(account, level.path, page_query)
    return (yield from fetch_entity_page(NETWORK, request, northway.build_next_request, parse_page))


def _fetch_level_entity(level: Level, entity_id: str) -> Flow[ParsedEntity]:
    response = yield from fetch_response(NETWORK, northway.build_get_request(f"{level.path}/{{id}}", id=entity_id))
    entity = hierarchy.parse_entity(level, require_object(response.body, "", level.native))
    return hierarchy.require_same_entity(NETWORK, level, entity, entity_id)


def fetch_entity(account: Account, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """Read one entity with any state. Its URL does not name the advertiser, so its owner is checked."""
    return (yield from fetch_lineage(NETWORK, account, kind, entity_id, _fetch_level_entity))[0]


fetch_editable_entity = fetch_entity


# -- insights --------------------------------------------------------------------------------------------------------


def parse_daily_metrics(account: Account, native: Iterable[Mapping[str, Json]], start: date, end: date) -> DatedValues:
    """Return the day of each row of a report, and its figures."""
    return parse_report_rows(METRICS, native, "/day", money_unit=northway.get_money_unit(account))


def _build_report_request(account: Account, first: date, last: date) -> Request:
    query = {"from": first.isoformat(), "to": last.isoformat(), "by": "day"}
    return northway.build_account_get_request(account, "report", query)


def fetch_insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Read days of the account, at most 90 in a request. The figures of the last two days may still change."""
    timezone = require_timezone(account)
    native: list[Mapping[str, Json]] = []
    for first, last in split_date_range(start, end, northway.REPORT_DAYS):
        response = yield from fetch_response(NETWORK, _build_report_request(account, first, last))
        native += require_objects(response.body, "/rows", "report")
    first_provisional = now.astimezone(get_timezone(timezone)).date() - timedelta(days=northway.RESTATED_DAYS)
    provisional = max(start, first_provisional) if end >= first_provisional else None
    coverage = Coverage(start, end, timezone, provisional_from=provisional)
    return Insights.from_days(parse_daily_metrics(account, native, start, end), coverage, NETWORK.missing_day, native)


# -- catalogs --------------------------------------------------------------------------------------------------------


fetch_catalog_page = partial(catalogs.fetch_catalog_page, NETWORK)
