"""Reading from Reddit: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import partial

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy
from adsunify.adapter.account import Account, require_timezone
from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.flows import fetch_pages, fetch_response, fetch_rows
from adsunify.adapter.hierarchy import (
    DiscoveredAccount,
    EntityPage,
    EntityTree,
    ListQuery,
    ParsedEntity,
    check_query,
    fetch_entity_page,
    fetch_lineage,
    is_listed,
    parse_account,
)
from adsunify.adapter.insights import Coverage, DatedValues, Insights
from adsunify.adapter.network import Level
from adsunify.adapter.reports import parse_date, parse_report_rows
from adsunify.errors import ProviderError, ProviderUnreadable
from adsunify.http.messages import Flow, Request, Response
from adsunify.values.dates import format_utc, get_midnight, get_timezone
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value, require_id, require_object, require_objects

from . import native as reddit
from .tables import AD, METRICS, NETWORK

# -- accounts -----------------------------------------------------------------------------------------------------

_fetch_rows = partial(fetch_rows, NETWORK, following=reddit.build_next_request, parse=reddit.parse_rows)


def _fetch_business_accounts(business: str) -> Flow[list[Mapping[str, Json]]]:
    """Read the accounts that the business owns or shares or, if Reddit refuses that query, only owned accounts."""
    path = "businesses/{business}/ad_accounts"
    try:
        return (yield from _fetch_rows(reddit.build_query_request(f"{path}/query", {}, {}, business=business)))
    except ProviderError as problem:
        if problem.native.status not in (400, 403, 404):
            raise
    return (yield from _fetch_rows(reddit.build_get_request(path, business=business)))


def discover_accounts() -> Flow[list[DiscoveredAccount]]:
    """Read the distinct ad accounts of all businesses of the user."""
    accounts: dict[str, DiscoveredAccount] = {}
    for business in (yield from _fetch_rows(reddit.build_get_request("me/businesses"))):
        for row in (yield from _fetch_business_accounts(require_id(business, "/id", "business"))):
            timezone = get_text(row, "/time_zone_id") or reddit.UTC_TIMEZONE
            account = parse_account(NETWORK, row, timezone, get_text(row, "/admin_approval"))
            accounts.setdefault(account.native_id, account)
    return list(accounts.values())


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _parse_entity(level: Level, row: Mapping[str, Json]) -> ParsedEntity:
    entity = hierarchy.parse_entity(level, row)
    if not isinstance(get_value(row, level.id), str):  # Ads API v3: all IDs are texts
        raise ProviderUnreadable(f"The id of a {level.native} in the answer is no text.")
    return entity


def _parse_entities(level: Level, response: Response) -> list[ParsedEntity]:
    return [_parse_entity(level, row) for row in reddit.parse_rows(response)]


def _build_list_request(account: Account, level: Level, query: ListQuery) -> Request:
    """Build the request of a list, filtered by parent and, for ads, by status.

    :func:`list_entities` applies all other filters.
    """
    filters = {"page.size": str(query.limit)}
    if query.parent_id is not None:
        filters[level.parent.removeprefix("/")] = query.parent_id
    if query.status is not None and level is AD:
        filters["configured_status"] = query.status
    return reddit.build_account_get_request(account, level.path, **filters)


def fetch_tree(account: Account) -> Flow[EntityTree]:
    """Read all pages of campaigns, ad groups and ads."""
    build_request = partial(_build_list_request, account, query=ListQuery(reddit.MAX_PAGE_SIZE))
    return hierarchy.fetch_tree(NETWORK, build_request, reddit.build_next_request, _parse_entities)


def list_entities(account: Account, kind: str, query: ListQuery) -> Flow[EntityPage]:
    """Read one page of a level. A search reads further pages until one has a match."""
    level = check_query(NETWORK, kind, query)

    def parse_page(response: Response) -> EntityPage:
        matches = (entity for entity in _parse_entities(level, response) if is_listed(level, query, entity))
        return EntityPage(tuple(matches), reddit.parse_next_cursor(response))

    request = reddit.with_cursor(_build_list_request(account, level, query), query.cursor)
    return (yield from fetch_entity_page(NETWORK, request, reddit.build_next_request, parse_page))


def _fetch_level_entity(level: Level, entity_id: str) -> Flow[ParsedEntity]:
    request = reddit.build_get_request(f"{level.path}/{{id}}", id=reddit.ensure_valid_id(entity_id))
    response = yield from fetch_response(NETWORK, request)
    entity = _parse_entity(level, require_object(response.body, "/data", level.native))
    return hierarchy.require_same_entity(NETWORK, level, entity, entity_id)


def fetch_entity(account: Account, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """Read one entity with any status. Its URL does not name the account, so its owner is checked."""
    return (yield from fetch_lineage(NETWORK, account, kind, entity_id, _fetch_level_entity))[0]


fetch_editable_entity = fetch_entity


# -- insights -----------------------------------------------------------------------------------------------------

METRIC_NOTES = [metric.note for metric in METRICS if metric.note]
REPORT_FIELDS = [metric.native.removeprefix("/").upper() for metric in METRICS]
_ONE_DAY, _ONE_HOUR = timedelta(days=1), timedelta(hours=1)


def _format_whole_hour(moment: datetime, *, up: bool = False) -> str:
    """Round an instant down or up to a whole hour, because some time zones have an offset of half an hour."""
    whole = moment.replace(minute=0, second=0, microsecond=0)
    return format_utc(whole + _ONE_HOUR if up and whole < moment else whole)


def build_report_request(
    account: Account, start: date, end: date, entity_breakdowns: Sequence[str] = (), conditions: Sequence[str] = ()
) -> Request:
    """Build the request of the daily figures of the account, or of the entities that meet any of the conditions."""
    timezone = require_timezone(account)
    body: dict[str, Json] = {
        "starts_at": _format_whole_hour(get_midnight(start, timezone)),
        "ends_at": _format_whole_hour(get_midnight(end + _ONE_DAY, timezone), up=True),
        "time_zone_id": timezone,
        "breakdowns": ["DATE", *entity_breakdowns],
        "fields": list(REPORT_FIELDS),
        **({"filter": ",".join(conditions)} if conditions else {}),
    }
    query = {"page.size": str(reddit.MAX_PAGE_SIZE)}
    return reddit.build_query_request("ad_accounts/{account}/reports", query, body, account=account.native_id)


def parse_native_rows(response: Response, start: date, end: date) -> list[Mapping[str, Json]]:
    """Return a page's rows from ``start`` to ``end``. Rounding to whole hours may add rows of a day before or after."""
    dated = [(parse_date(row.get("date")), row) for row in require_objects(response.body, "/data/metrics")]
    return [row for day, row in dated if start <= day <= end]


def find_unsettled_day(responses: Iterable[Response], timezone: str, now: datetime) -> date:
    """Return the first day whose figures may still change, from the time of Reddit's last update."""
    updated = [reddit.TIME.parse(get_value(response.body, "/data/metrics_updated_at")) for response in responses]
    settled = min([now, *(moment for moment in updated if moment is not None)]) - timedelta(hours=reddit.SETTLING_HOURS)
    return settled.astimezone(get_timezone(timezone)).date()


def parse_daily_metrics(account: Account, native: Iterable[Mapping[str, Json]], start: date, end: date) -> DatedValues:
    """Return the day of each row of a report, and its figures."""
    return parse_report_rows(METRICS, native, "/date")


def fetch_insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Read the account's daily figures in one request. Reddit may change the figures of a day for some hours."""
    timezone = require_timezone(account)
    answers = yield from fetch_pages(NETWORK, build_report_request(account, start, end), reddit.build_next_request)
    native = [row for answer in answers for row in parse_native_rows(answer, start, end)]
    coverage = Coverage(start, end, timezone, notes=METRIC_NOTES)
    coverage = coverage.mark_provisional(find_unsettled_day(answers, timezone, now))
    return Insights.from_days(parse_daily_metrics(account, native, start, end), coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


def fetch_catalog_page(account: Account, resource: str, query: ListQuery) -> Flow[CatalogPage]:
    """Read one page of a catalog. For places in a country, Reddit itself applies the search text."""
    name, _, suffix = resource.partition(":")
    if name == "geolocations" and suffix and query.search:
        resource, query = f"{resource} {query.search}", evolve(query, search=None)
    return (yield from catalogs.fetch_catalog_page(NETWORK, account, resource, query))
