"""Reading from Pinterest: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy
from adsunify.adapter.account import Account
from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.error_rules import find_read_error
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
    parse_account,
)
from adsunify.adapter.insights import Coverage, DatedValues, Insights, PendingReport, find_report_range
from adsunify.adapter.network import Level, get_level
from adsunify.adapter.reports import download_report, parse_report_rows
from adsunify.adapter.settings import to_account_time
from adsunify.errors import NativeErrorDetails, ProviderError, invalid_input
from adsunify.http.messages import Flow, Request, Response
from adsunify.values.base64url import decode_base64url, encode_base64url
from adsunify.values.dates import split_date_range
from adsunify.values.exact_json import Json, dumps, loads
from adsunify.values.json_pointer import get_objects, get_text, require_id, require_value

from . import native as pinterest
from .tables import AD, AD_GROUP, CAMPAIGN, INTERESTS_CATALOG, KEYWORD, METRICS, NETWORK

# -- accounts -----------------------------------------------------------------------------------------------------


_fetch_rows = partial(fetch_rows, NETWORK, following=pinterest.build_next_request, parse=pinterest.parse_rows)


def _parse_account(row: Mapping[str, Json]) -> DiscoveredAccount:
    return parse_account(NETWORK, row, get_text(row, "/time_zone") or pinterest.UTC_TIMEZONE)


def discover_accounts() -> Flow[list[DiscoveredAccount]]:
    """Read the ad accounts that the user owns or that others share with the user."""
    request = pinterest.build_pairs_request(
        "/ad_accounts", None, ("include_shared_accounts", "true"), *build_full_page_query()
    )
    return [_parse_account(row) for row in (yield from _fetch_rows(request))]


# -- the hierarchy ------------------------------------------------------------------------------------------------


def build_full_page_query() -> list[tuple[str, str]]:
    """Build the query of the first page of a whole list."""
    return pinterest.build_page_pairs(pinterest.PAGE_SIZE, None)


def fetch_tree(account: Account) -> Flow[EntityTree]:
    """Read all active and paused entities; keywords are read by ad group."""
    nodes: list[ParsedEntity] = []
    for level in (CAMPAIGN, AD_GROUP, AD):
        request = pinterest.build_account_pairs_request(
            account, level.path, *pinterest.build_status_filter(*pinterest.LIVE_STATUSES), *build_full_page_query()
        )
        nodes.extend(hierarchy.parse_entity(level, row) for row in (yield from _fetch_rows(request)))
    groups = [node.id for node in nodes if node.kind == AD_GROUP.kind]
    for first in range(0, len(groups), pinterest.PAGE_SIZE):
        some = [("ad_group_ids", group) for group in groups[first : first + pinterest.PAGE_SIZE]]
        request = pinterest.build_account_pairs_request(account, KEYWORD.path, *some, *build_full_page_query())
        nodes.extend(hierarchy.parse_entity(KEYWORD, row) for row in (yield from _fetch_rows(request)))
    return EntityTree(drop_orphans(nodes))


def _get_readable_level(kind: str) -> Level:
    """Return the level of a kind. Keywords have no list and no read request, so they are refused."""
    level = get_level(NETWORK, kind)
    if level is KEYWORD:
        raise invalid_input("kind", "not_supported", "Pinterest's keywords are read in the tree, or as a catalog.")
    return level


def list_entities(account: Account, kind: str, query: ListQuery) -> Flow[EntityPage]:
    """Read one page of a level. A search reads further pages until one has a match."""
    level = _get_readable_level(kind)
    check_query(NETWORK, kind, query)
    statuses = pinterest.LIVE_STATUSES if query.status is None else (query.status,)
    filters = pinterest.build_status_filter(*statuses)
    if query.parent_id is not None:
        filters.append((f"{level.parent.removeprefix('/')}s", query.parent_id))
    by_name = ListQuery(search=query.search)  # the request already filters by status

    def parse_page(response: Response) -> EntityPage:
        entities = (hierarchy.parse_entity(level, row) for row in pinterest.parse_rows(response))
        return EntityPage(tuple(filter(by_name.has_match, entities)), pinterest.parse_next_cursor(response))

    page_pairs = pinterest.build_page_pairs(query.limit, query.cursor)
    request = pinterest.build_account_pairs_request(account, level.path, *filters, *page_pairs)
    return (yield from fetch_entity_page(NETWORK, request, pinterest.build_next_request, parse_page))


def fetch_entity(account: Account, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """Read one entity."""
    level = _get_readable_level(kind)
    url, path = f"/ad_accounts/{{account}}/{level.path}/{{id}}", {"account": account.native_id, "id": entity_id}
    response = yield from fetch_response(NETWORK, pinterest.build_pairs_request(url, path))
    entity = hierarchy.parse_entity(level, require_value(response.body, ""))
    return hierarchy.require_same_entity(NETWORK, level, entity, entity_id)


fetch_editable_entity = fetch_entity


# -- insights -----------------------------------------------------------------------------------------------------

REPORT_COLUMNS = [metric.native.removeprefix("/") for metric in METRICS]
POLL_INTERVAL_MS = 15_000  # milliseconds
RESTATED_DAYS = 30  # Pinterest counts a conversion on the day of its click, up to 30 days before the conversion
TIMEZONE_FIELD, ACCOUNT_TIMEZONE = "reporting_timezone", "AD_ACCOUNT_TIME_ZONE"
UTC_TIMEZONES = (None, pinterest.UTC_TIMEZONE, "Etc/UTC")


def _fetch_days(account: Account, build: Callable[[bool], Request], in_utc: bool | None) -> Flow[tuple[Response, bool]]:
    """Read days in the account's time zone, or in UTC if Pinterest refuses that time zone.

    Args:
        account: the account.
        build: builds the request, for days in the account's time zone if its argument is true.
        in_utc: whether an earlier request of the same report used UTC; None without an earlier request.

    Returns:
        The response, and whether its days are in UTC although the account has another time zone.
    """
    own = account.timezone not in UTC_TIMEZONES and in_utc is not True
    response = yield build(own)
    if own and in_utc is None and response.status == 400 and not pinterest.is_transient(response):
        response, in_utc = (yield build(False)), True
    problem = find_read_error(NETWORK, response)
    if problem is not None:
        raise problem
    return response, bool(in_utc)


def get_report_timezone(account: Account, in_utc: bool) -> str | None:
    """Return the time zone of the days of a report."""
    return pinterest.UTC_TIMEZONE if in_utc else account.timezone


def list_zone_notes(in_utc: bool) -> list[str]:
    """Return the note about the days of a report."""
    return ["Days are those of UTC: the account's own are not to be had."] if in_utc else []


def get_restated_from(now: datetime) -> date:
    """Return the first day whose figures may still change."""
    return now.astimezone(UTC).date() - timedelta(days=RESTATED_DAYS)


def is_synchronous(start: date, now: datetime) -> bool:
    """Return whether the range begins late enough for a synchronous report."""
    return start >= now.astimezone(UTC).date() - timedelta(days=pinterest.SYNC_DAYS)


def fetch_sync_rows(
    account: Account,
    start: date,
    end: date,
    edge: str = "analytics",
    ids: Sequence[tuple[str, str]] = (),
    columns: Sequence[str] = REPORT_COLUMNS,
    in_utc: bool | None = None,
) -> Flow[tuple[list[Mapping[str, Json]], bool]]:
    """Read the rows of a report at once. ``ids`` are the ids of entities as pairs of the query.

    Returns:
        The rows, and whether their days are in UTC (see :func:`_fetch_days`).
    """
    days = (("start_date", start.isoformat()), ("end_date", end.isoformat()))
    query = (*ids, *days, ("granularity", "DAY"), ("columns", ",".join(columns)))

    def build(own: bool) -> Request:
        zone = ((TIMEZONE_FIELD, ACCOUNT_TIMEZONE),) if own else ()
        return pinterest.build_account_pairs_request(account, edge, *query, *zone)

    response, in_utc = yield from _fetch_days(account, build, in_utc)
    require_value(response.body, "", "report")
    return get_objects(response.body, "", "report"), in_utc


def _build_report_request(
    own: bool, *, account: Account, start: date, end: date, members: Mapping[str, Json]
) -> Request:
    """Build the request that creates a report. It changes nothing in the account; a repeat creates another report."""
    body: dict[str, Json] = {
        "start_date": start.isoformat(),
        "end_date": end.isoformat(),
        "granularity": "DAY",
        "level": "ADVERTISER",
        "columns": list(REPORT_COLUMNS),
        "report_format": "JSON",
        **members,
        **({TIMEZONE_FIELD: ACCOUNT_TIMEZONE} if own else {}),
    }
    return evolve(pinterest.build_account_write_request(account, "POST", "reports", body), kind="read")


def start_reports(account: Account, start: date, end: date, **members: Json) -> Flow[tuple[str, bool]]:
    """Start the reports of a range, each of at most 186 days. ``members`` are added to the body, or replace its own.

    Returns:
        The job of all reports, and whether their days are in UTC (see :func:`_fetch_days`).
    """
    tokens: list[str] = []
    in_utc: bool | None = None
    for first, last in split_date_range(start, end, pinterest.REPORT_DAYS):
        build = partial(_build_report_request, account=account, start=first, end=last, members=members)
        response, in_utc = yield from _fetch_days(account, build, in_utc)
        tokens.append(require_id(response.body, "/token", "report"))
    return encode_job(tokens, bool(in_utc)), bool(in_utc)


def encode_job(tokens: Sequence[str], utc: bool) -> str:
    """Return one job for the reports of a range, as base64url without padding.

    It holds the only token, or a JSON list of tokens. An empty first token means that the days are days in UTC and the
    account has another time zone.
    """
    whole = tokens[0] if len(tokens) == 1 and not utc else dumps(["", *tokens] if utc else list(tokens))
    return encode_base64url(whole.encode())


def decode_job(job: str) -> tuple[list[str], bool]:
    """Return the tokens of a job, and whether its days are in UTC. Raises InvalidInput for any other text."""
    try:
        whole = decode_base64url(job).decode()
    except ValueError:
        raise invalid_input(
            "resource", "malformed", "A report is named by the job that its first answer gave."
        ) from None
    try:
        decoded = loads(whole)
    except ValueError:
        decoded = None
    if not isinstance(decoded, list) or not all(isinstance(token, str) for token in decoded):
        return [whole], False
    tokens = [token for token in decoded if token]
    return tokens, len(tokens) < len(decoded)


def _fetch_report_url(account: Account, token: str) -> Flow[tuple[str, str | None]]:
    """Return the state of a report, and the URL of its file; None if the response has no URL."""
    state = (
        yield from fetch_response(NETWORK, pinterest.build_account_pairs_request(account, "reports", ("token", token)))
    ).body
    status = get_text(state, "/report_status") or ""
    if status not in (pinterest.IN_PROGRESS, pinterest.FINISHED):
        reason = get_text(state, "/message") or "ask again"
        raise ProviderError(
            f"Pinterest made no report ({status}): {reason}.", native=NativeErrorDetails(status or None, reason)
        )
    return status, get_text(state, "/url")


def download_rows(url: str | None) -> Flow[list[Mapping[str, Json]]]:
    """Read the rows of a finished report."""
    groups = yield from download_report(url)
    if not isinstance(groups, Mapping):
        return get_objects(groups, "", "report file")
    # The file groups the rows by entity or by day. A row without DATE gets the name of its group.
    return [
        {"DATE": group, **row}
        for group in groups
        for row in get_objects({"rows": groups[group]}, "/rows", "report file")
    ]


def fetch_report_urls(account: Account, tokens: Sequence[str]) -> Flow[list[str | None] | str]:
    """Return the URLs of the files of all reports, or the state of a report that is not finished."""
    urls: list[str | None] = []
    for token in tokens:
        status, url = yield from _fetch_report_url(account, token)
        if status == pinterest.IN_PROGRESS:
            return status
        urls.append(url)
    return urls


def parse_daily_metrics(account: Account, native: Iterable[Mapping[str, Json]], start: date, end: date) -> DatedValues:
    """Return the day of each row of a report, and its figures."""
    return parse_report_rows(METRICS, native, "/DATE")


def fetch_insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Read the account's daily figures: the last 90 days in one request, else from a job that a later call resumes."""
    last_day = max(start, min(end, (to_account_time(account, now) or now).date()))
    native: list[Mapping[str, Json]] = []
    if job is None and is_synchronous(start, now):
        native, in_utc = yield from fetch_sync_rows(account, start, last_day)
    elif job is None:
        job, in_utc = yield from start_reports(account, start, last_day)
        pending = PendingReport(job, pinterest.IN_PROGRESS, POLL_INTERVAL_MS)
        return Insights.from_pending_report(start, end, get_report_timezone(account, in_utc), pending)
    else:
        tokens, in_utc = decode_job(job)
        urls = yield from fetch_report_urls(account, tokens)
        if isinstance(urls, str):
            pending = PendingReport(job, urls, POLL_INTERVAL_MS)
            return Insights.from_pending_report(start, end, get_report_timezone(account, in_utc), pending)
        for url in urls:
            native.extend((yield from download_rows(url)))
    days = list(parse_daily_metrics(account, native, start, end))
    zone, notes = get_report_timezone(account, in_utc), list_zone_notes(in_utc)
    coverage = Coverage(*find_report_range(days, start, end), zone, notes=notes)
    coverage = coverage.mark_provisional(get_restated_from(now))
    return Insights.from_days(days, coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


def fetch_catalog_page(account: Account, resource: str, query: ListQuery) -> Flow[CatalogPage]:
    """Read one page of a catalog. In ``interests``, a search text of digits is an ID; other texts are names."""
    page = yield from catalogs.fetch_catalog_page(NETWORK, account, resource, query)
    search_text = query.search or ""
    if resource != INTERESTS_CATALOG or pinterest.match_digits(search_text):
        return page
    return evolve(page, rows=tuple(row for row in page.rows if search_text.casefold() in row.name.casefold()))
