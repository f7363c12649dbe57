"""Reading from Snapchat: connecting, the hierarchy, statistics, catalogs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from functools import lru_cache, partial

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy
from adsunify.adapter.account import Account, require_timezone
from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.flows import fetch_pages, fetch_response, next_page_builder
from adsunify.adapter.hierarchy import (
    MAX_FILTER_PAGES,
    DiscoveredAccount,
    EntityPage,
    EntityTree,
    ListQuery,
    ParsedEntity,
    check_query,
    fetch_lineage,
    parse_account,
)
from adsunify.adapter.insights import Coverage, DatedValues, Insights, PendingReport, find_report_range
from adsunify.adapter.network import Level
from adsunify.adapter.reports import download_report, parse_report_rows
from adsunify.errors import NativeErrorDetails, ProviderError, ProviderNotFound, ProviderUnreadable, invalid_input
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.dates import get_timezone, split_date_range
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_values, get_objects, get_text, get_value, require_id

from . import native as snap
from .settings import PACING_LEVEL_MEMBER
from .tables import METRICS, NETWORK, PLACE_CATALOGS, parse_suffix_country

_build_next_request = next_page_builder("cursor", snap.parse_next_cursor)


# -- accounts -----------------------------------------------------------------------------------------------------


def _parse_organization_account(native: Mapping[str, Json], organization: str) -> DiscoveredAccount:
    account = parse_account(NETWORK, native, get_text(native, "/timezone"), get_text(native, "/status"))
    return evolve(account, extras={"organizationId": organization, **account.extras})


def discover_accounts() -> Flow[list[DiscoveredAccount]]:
    """Read the ad accounts of every organization of the user."""
    request = Request("GET", f"{snap.API_URL}/me/organizations", query={"with_ad_accounts": "true"})
    organizations: list[str] = []
    for response in (yield from fetch_pages(NETWORK, request, _build_next_request)):
        rows = snap.parse_wrapped_rows(response, "organizations", "organization")
        organizations += [require_id(row, "/id", "organization") for row in rows]
    accounts: list[DiscoveredAccount] = []
    for organization in dict.fromkeys(organizations):
        request = Request("GET", f"{snap.API_URL}/organizations/{{id}}/adaccounts", {"id": organization})
        for response in (yield from fetch_pages(NETWORK, request, _build_next_request)):
            rows = snap.parse_wrapped_rows(response, "adaccounts", "adaccount")
            accounts += [_parse_organization_account(row, organization) for row in rows]
    return accounts


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _parse_entities(level: Level, response: Response) -> list[ParsedEntity]:
    rows = snap.parse_wrapped_rows(response, level.path, level.native)
    return [hierarchy.parse_entity(level, row) for row in rows]


def fetch_tree(account: Account) -> Flow[EntityTree]:
    """Read all pages of campaigns, ad squads and ads."""

    def build_request(level: Level) -> Request:
        return snap.build_edge_list_request(level, "adaccounts", account.native_id, snap.MAX_PAGE_SIZE)

    return hierarchy.fetch_tree(NETWORK, build_request, _build_next_request, _parse_entities)


_match_cursor = re.compile(r"([0-9]{2,3})\.([0-9]{1,6})\.(.*)", re.DOTALL).fullmatch


def _parse_page_position(query: ListQuery) -> tuple[int, int, str | None]:
    """Return the size of Snap's page, the number of rows of this page that callers already have, and Snap's cursor.

    Ads API: a page has at least 50 rows. Our pages may be shorter, so our cursor may point into one of Snap's pages.
    """
    if query.cursor is None:
        return max(snap.MIN_PAGE_SIZE, query.limit), 0, None
    match = _match_cursor(query.cursor)
    if match is None or int(match[1]) < snap.MIN_PAGE_SIZE:
        raise invalid_input("cursor", "malformed", "This is no cursor of this list.")
    return int(match[1]), int(match[2]), match[3] or None


def _format_cursor(size: int, offset: int, native: str | None) -> str:
    return f"{size}.{offset}.{native or ''}"


def list_entities(account: Account, kind: str, query: ListQuery) -> Flow[EntityPage]:
    """Read one page of a level. Snap has no filters, so status and search are applied here."""
    level = check_query(NETWORK, kind, query)
    size, offset, cursor = _parse_page_position(query)
    owner = "adaccounts" if query.parent_id is None else snap.PARENTS[kind][0]
    is_deleted = query.status == snap.DELETED
    row_query = evolve(query, status=None) if is_deleted else query
    entities: list[ParsedEntity] = []
    for _ in range(MAX_FILTER_PAGES):
        request = snap.build_edge_list_request(
            level, owner, query.parent_id or account.native_id, size, cursor, with_deleted=is_deleted
        )
        response = yield from fetch_response(NETWORK, request)
        page = _parse_entities(level, response)
        for position, row in enumerate(page[offset:], offset + 1):
            if row_query.has_match(row) and (row.status == "deleted" or not is_deleted):
                entities.append(row)
            if len(entities) == query.limit and position < len(page):
                return EntityPage(tuple(entities), _format_cursor(size, position, cursor))
        following = snap.parse_next_cursor(response)
        if following is None:
            return EntityPage(tuple(entities))
        if following == cursor:
            raise ProviderUnreadable("The list of Snapchat does not end: its cursor repeats.")
        offset, cursor = 0, following
        if len(entities) == query.limit:
            break
    return EntityPage(tuple(entities), _format_cursor(size, offset, cursor))


def _fetch_level_entity(level: Level, entity_id: str) -> Flow[ParsedEntity]:
    response = yield from fetch_response(NETWORK, snap.build_level_entity_request(level, entity_id))
    entities = _parse_entities(level, response)
    if not entities:
        raise ProviderNotFound(f"Snapchat has no {level.native} {entity_id}.")
    return hierarchy.require_same_entity(NETWORK, level, entities[0], entity_id)


def fetch_entity(account: Account, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """Read one entity, and its parents up to the campaign, because only a campaign names its account."""
    return (yield from fetch_lineage(NETWORK, account, kind, entity_id, _fetch_level_entity))[0]


def fetch_editable_entity(account: Account, kind: Kind, entity_id: str) -> Flow[ParsedEntity]:
    """Read the entity. An ad squad also gets its campaign's pacing level, which shows which of them has the budget."""
    entity, *above = yield from fetch_lineage(NETWORK, account, kind, entity_id, _fetch_level_entity)
    if kind != "adGroup":
        return entity
    return evolve(entity, native={**entity.native, PACING_LEVEL_MEMBER: get_value(above[0].native, "/pacing_level")})


# -- insights -----------------------------------------------------------------------------------------------------

STATS_FIELDS = "impressions,swipes,spend,video_views,conversion_purchases,conversion_purchases_value"
STATS_DAYS = 30  # Ads API: at most 31 times 24 hours with the granularity DAY; 31 days are longer if clocks go back
FINALIZATION_DELAY = timedelta(hours=48)
COMPLETED_STATE, FAILED_STATE = "COMPLETED", "FAILED"  # unverified: the names of these states
POLL_INTERVAL_MS = 15_000  # milliseconds
_ONE_DAY = timedelta(days=1)


def _format_midnight(day: date, timezone: str) -> str:
    """Return the first instant of a local day, with the UTC offset of that time."""
    return datetime.combine(day, time(), get_timezone(timezone)).isoformat(timespec="milliseconds")


def build_stats_request(
    account: Account, first: date, last: date, owner: str, owner_id: str, breakdown: str | None
) -> Request:
    """Build the request for statistics by days of an entity, or of each entity below it with a ``breakdown``.

    Ads API: without a breakdown, Snap returns only the spend of an account, and refuses other fields (error E1008).
    """
    timezone = require_timezone(account)
    query = {
        "granularity": "DAY",
        **({} if breakdown is None else {"breakdown": breakdown}),
        "fields": STATS_FIELDS,
        "start_time": _format_midnight(first, timezone),
        "end_time": _format_midnight(last + _ONE_DAY, timezone),
        "omit_empty": "false",
        "swipe_up_attribution_window": "28_DAY",
        "view_attribution_window": "1_DAY",
    }
    return Request("GET", f"{snap.API_URL}/{owner}/{{owner}}/stats", {"owner": owner_id}, query)


def _parse_series(body: Json) -> Iterator[Mapping[str, Json]]:
    """Yield the rows of statistics: one per campaign and day or, without a breakdown, one per day."""
    for statistics in parse_statistics(body):
        yield from parse_own_series(statistics)
        yield from parse_breakdown(statistics, "campaign")


def parse_statistics(body: Json) -> list[Mapping[str, Json]]:
    """Return the statistics in a response, one for each requested entity."""
    return get_objects(body, "/timeseries_stats", "statistics")


def parse_own_series(statistics: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    """Return the rows of the requested entity itself: one per day. The rows do not name the entity."""
    return get_objects(statistics, "/timeseries_stat/timeseries", "statistics")


def parse_breakdown(statistics: Mapping[str, Json], name: str) -> Iterator[Mapping[str, Json]]:
    """Yield the rows of the entities below the requested one: one per entity and day, with the id of the entity."""
    for entity in get_objects(statistics, f"/timeseries_stat/breakdown_stats/{name}", "statistics"):
        for row in get_objects(entity, "/timeseries", "statistics"):
            yield {"id": entity.get("id"), "type": entity.get("type"), **row}


def _parse_local_time(value: Json, timezone: str) -> datetime | None:
    moment = snap.TIME.parse(value)
    return None if moment is None else moment.astimezone(get_timezone(timezone))


def parse_zoned_day(value: Json, timezone: str) -> date:
    """Return the local day of an instant. Raises ProviderUnreadable if the value is not an instant."""
    day = _parse_local_date(value, timezone) if isinstance(value, str) and len(value) <= MAX_TIME_LENGTH else None
    if day is None:
        raise ProviderUnreadable("A row of the statistics has no day.")
    return day


MAX_TIME_LENGTH = 64
"""The longest text, in characters, that the cache below stores."""


@lru_cache(1000)  # the rows of all campaigns have the same days
def _parse_local_date(text: str, timezone: str) -> date | None:
    moment = _parse_local_time(text, timezone)
    return None if moment is None else moment.date()


def find_finalized_from(bodies: Sequence[Json], timezone: str, now: datetime) -> date:
    """Return the first day whose figures may still change."""
    ends = [_parse_local_time(at, timezone) for body in bodies for at in find_values(body, _FINALIZED_POINTER)]
    known = [end for end in ends if end is not None]
    return min(known).date() if known else (now - FINALIZATION_DELAY).astimezone(get_timezone(timezone)).date()


_FINALIZED_POINTER = "/timeseries_stats/*/timeseries_stat/finalized_data_end_time"


def _fetch_report(account: Account, job: str) -> Flow[Json | PendingReport]:
    """Return the statistics of a report that was started elsewhere, or a pending report."""
    url = f"{snap.API_URL}/adaccounts/{{account}}/stats_report"
    request = Request("GET", url, {"account": account.native_id}, {"report_run_id": job})
    response = yield from fetch_response(NETWORK, request)
    reports = snap.parse_wrapped_rows(response, "async_stats_reports", "async_stats_report")
    status = get_text(reports, "/0/async_status") or ""
    if status == FAILED_STATE:
        raise ProviderError(
            f"Snapchat made no report ({status}).", native=NativeErrorDetails(status, "The report failed.")
        )
    if status != COMPLETED_STATE:
        return PendingReport(job, status, POLL_INTERVAL_MS)
    return (yield from download_report(get_text(reports, "/0/result")))


def parse_daily_metrics(account: Account, native: Iterable[Mapping[str, Json]], start: date, end: date) -> DatedValues:
    """Return the day of each row of a report, and its figures."""
    return parse_report_rows(
        METRICS, native, "/start_time", partial(parse_zoned_day, timezone=require_timezone(account))
    )


def fetch_insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Read the account's daily figures, summed over its campaigns. No report job is started; a given one is read."""
    timezone = require_timezone(account)
    bodies: list[Json] = []
    if job is not None:
        body = yield from _fetch_report(account, job)
        if isinstance(body, PendingReport):
            return Insights.from_pending_report(start, end, timezone, body)
        bodies.append(body)
    for first, last in split_date_range(start, end, STATS_DAYS) if job is None else ():
        request = build_stats_request(account, first, last, "adaccounts", account.native_id, "campaign")
        answers = yield from fetch_pages(NETWORK, request, _build_next_request)
        bodies += [answer.body for answer in answers]
    native = [row for body in bodies for row in _parse_series(body)]
    days = list(parse_daily_metrics(account, native, start, end))
    notes = [metric.note for metric in METRICS if metric.note]
    coverage = Coverage(*find_report_range(days, start, end), timezone, notes=notes)
    coverage = coverage.mark_provisional(find_finalized_from(bodies, timezone, now))
    return Insights.from_days(days, coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


def fetch_catalog_page(account: Account, resource: str, query: ListQuery) -> Flow[CatalogPage]:
    """Read one page of a catalog. The IDs of places are those that a brief accepts."""
    page = yield from catalogs.fetch_catalog_page(NETWORK, account, resource, query)
    name, _, suffix = resource.partition(":")
    if name not in PLACE_CATALOGS:
        return page
    before = f"{parse_suffix_country(suffix or query.search or '')}:{PLACE_CATALOGS[name]}:"
    return evolve(page, rows=tuple(evolve(row, id=before + row.id) for row in page.rows))
