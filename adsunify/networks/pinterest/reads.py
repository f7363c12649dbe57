"""Connecting to Pinterest, and what is read from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy
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
)
from adsunify.adapter.insights import Coverage, DatedValues, Insights, PendingReport, find_report_range
from adsunify.adapter.network import Account, Level, get_level
from adsunify.adapter.reports import download_report, parse_report_rows
from adsunify.adapter.settings import to_account_time
from adsunify.errors import NativeErrorDetails, ProviderError, invalid_input
from adsunify.http.messages import Flow, Request, Response
from adsunify.values.base64url import decode_base64url, encode_base64url
from adsunify.values.dates import split_date_range
from adsunify.values.exact_json import Json, dumps, loads
from adsunify.values.json_pointer import get_objects, get_text, get_value, require_id, require_value

from . import native as pinterest
from .tables import AD, AD_GROUP, CAMPAIGN, INTERESTS_CATALOG, KEYWORD, METRICS, NETWORK

# -- accounts -----------------------------------------------------------------------------------------------------


_fetch_rows = partial(fetch_rows, NETWORK, following=pinterest.build_next_request, parse=pinterest.parse_rows)


def _parse_account(row: Mapping[str, Json]) -> DiscoveredAccount:
    native_id, permissions = require_id(row, "/id", "account"), get_value(row, "/permissions")
    extras = {
        "permissions": ",".join(map(str, permissions)) if isinstance(permissions, list) else None,
        "country": get_text(row, "/country"),
        "owner": get_text(row, "/owner/username"),
        "createdTime": get_text(row, "/created_time"),
    }
    return DiscoveredAccount(
        native_id,
        get_text(row, "/name") or native_id,
        get_text(row, "/currency"),
        get_text(row, "/time_zone") or pinterest.UTC_TIMEZONE,
        extras={name: value for name, value in extras.items() if value is not None},
    )


def discover_accounts() -> Flow[list[DiscoveredAccount]]:
    """Read the ad accounts that the user owns, and those that others share."""
    request = pinterest.build_pairs_request(
        "/ad_accounts", None, ("include_shared_accounts", "true"), *_build_full_page_query()
    )
    return [_parse_account(row) for row in (yield from _fetch_rows(request))]


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _build_full_page_query() -> list[tuple[str, str]]:
    return pinterest.build_page_pairs(pinterest.PAGE_SIZE, None)


def fetch_tree(account: Account) -> Flow[EntityTree]:
    """Read all active and paused entities; keywords are read by ad group."""
    nodes: list[ParsedEntity] = []
    for level in (CAMPAIGN, AD_GROUP, AD):
        request = pinterest.build_account_pairs_request(
            account, level.path, *pinterest.build_status_filter(*pinterest.LIVE_STATUSES), *_build_full_page_query()
        )
        nodes.extend(hierarchy.parse_entity(level, row) for row in (yield from _fetch_rows(request)))
    groups = [node.id for node in nodes if node.kind == AD_GROUP.kind]
    for first in range(0, len(groups), pinterest.PAGE_SIZE):
        some = [("ad_group_ids", group) for group in groups[first : first + pinterest.PAGE_SIZE]]
        request = pinterest.build_account_pairs_request(account, KEYWORD.path, *some, *_build_full_page_query())
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
    by_name = ListQuery(search=query.search)  # Pinterest itself filters by status

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
RESTATED_DAYS = 30  # Pinterest counts a conversion on the day of its click, up to 30 days before
TIMEZONE_FIELD, ACCOUNT_TIMEZONE = "reporting_timezone", "AD_ACCOUNT_TIME_ZONE"
UTC_TIMEZONES = (None, pinterest.UTC_TIMEZONE, "Etc/UTC")


def _fetch_in_account_zone(account: Account, request: Request, plain: Request) -> Flow[tuple[Response, str | None]]:
    """Read days in the account's time zone, or in UTC (``plain``) if Pinterest refuses it. Also returns the zone."""
    response = yield request
    zone = account.timezone
    if response.status == 400 and request != plain:
        response, zone = (yield plain), pinterest.UTC_TIMEZONE
    problem = find_read_error(NETWORK, response)
    if problem is not None:
        raise problem
    return response, zone


def _fetch_sync_rows(account: Account, start: date, end: date) -> Flow[tuple[list[Mapping[str, Json]], str | None]]:
    days = (("start_date", start.isoformat()), ("end_date", end.isoformat()))
    query = (*days, ("granularity", "DAY"), ("columns", ",".join(REPORT_COLUMNS)))
    own = () if account.timezone in UTC_TIMEZONES else ((TIMEZONE_FIELD, ACCOUNT_TIMEZONE),)
    request, plain = (pinterest.build_account_pairs_request(account, "analytics", *query, *more) for more in (own, ()))
    response, zone = yield from _fetch_in_account_zone(account, request, plain)
    require_value(response.body, "", "report")
    return get_objects(response.body, "", "report"), zone


def _build_zoned_report_request(account: Account, start: date, end: date, own: bool) -> Request:
    """Build the request that creates a report. It changes nothing in the account; a repeat creates another report."""
    body: dict[str, Json] = {
        "start_date": start.isoformat(),
        "end_date": end.isoformat(),
        "granularity": "DAY",
        "level": "ADVERTISER",
        "columns": list(REPORT_COLUMNS),
        "report_format": "JSON",
        **({TIMEZONE_FIELD: ACCOUNT_TIMEZONE} if own else {}),
    }
    return evolve(pinterest.build_account_write_request(account, "POST", "reports", body), kind="read")


def _start_reports(account: Account, start: date, end: date) -> Flow[tuple[list[str], str | None]]:
    """Start the reports of a range, each of at most 186 days. Returns their tokens and the time zone of their days."""
    tokens: list[str] = []
    zone = account.timezone
    for first, last in split_date_range(start, end, pinterest.REPORT_DAYS):
        own = zone not in UTC_TIMEZONES
        request, plain = (
            _build_zoned_report_request(account, first, last, in_account_zone)
            for in_account_zone in (own, own and bool(tokens))
        )
        response, here = yield from _fetch_in_account_zone(account, request, plain)
        zone = here
        tokens.append(require_id(response.body, "/token", "report"))
    return tokens, zone


def encode_job(tokens: Sequence[str], utc: bool) -> str:
    """Return one job for the reports of a range, as base64url without padding.

    It holds the only token, or a JSON list of tokens. An empty first token means that the days are days in UTC and the
    account has another time zone.
    """
    whole = tokens[0] if len(tokens) == 1 and not utc else dumps(["", *tokens] if utc else list(tokens))
    return encode_base64url(whole.encode())


def decode_job(job: str) -> tuple[list[str], bool]:
    """Return the tokens of a job, and whether its days are days in UTC. Raises InvalidInput for any other text."""
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
    """Return the state of a report, and the URL of its file."""
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


def _download_rows(url: str | None) -> Flow[list[Mapping[str, Json]]]:
    """Read the rows of a finished report."""
    groups = yield from download_report(url)
    if not isinstance(groups, Mapping):
        return get_objects(groups, "", "report file")
    # The file groups the rows by entity or by day.
    return [
        {"DATE": group, **row}
        for group in groups
        for row in get_objects({"rows": groups[group]}, "/rows", "report file")
    ]


def _fetch_job_rows(account: Account, tokens: Sequence[str]) -> Flow[list[Mapping[str, Json]] | str]:
    """Return the rows of all reports, or the state of a report that is not finished."""
    urls: list[str | None] = []
    for token in tokens:
        status, url = yield from _fetch_report_url(account, token)
        if status == pinterest.IN_PROGRESS:
            return status
        urls.append(url)
    native: list[Mapping[str, Json]] = []
    for url in urls:
        native.extend((yield from _download_rows(url)))
    return native


def parse_daily_metrics(account: Account, native: Iterable[Mapping[str, Json]], start: date, end: date) -> DatedValues:
    """Return the day of each row of a report, and its figures."""
    return parse_report_rows(METRICS, native, "/DATE")


def fetch_insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Read days of the account: the last 90 days in one request, earlier ones by reports that a later call resumes."""
    today = now.astimezone(UTC).date()
    last_day = max(start, min(end, (to_account_time(account, now) or now).date()))
    if job is None and start >= today - timedelta(days=pinterest.SYNC_DAYS):
        native, zone = yield from _fetch_sync_rows(account, start, last_day)
    else:
        if job is None:
            tokens, zone = yield from _start_reports(account, start, last_day)
            utc = zone != account.timezone
            pending = PendingReport(encode_job(tokens, utc), pinterest.IN_PROGRESS, POLL_INTERVAL_MS)
            return Insights.from_pending_report(start, end, zone, pending)
        tokens, utc = decode_job(job)
        zone = pinterest.UTC_TIMEZONE if utc else account.timezone
        rows = yield from _fetch_job_rows(account, tokens)
        if isinstance(rows, str):
            return Insights.from_pending_report(start, end, zone, PendingReport(job, rows, POLL_INTERVAL_MS))
        native = rows
    days = list(parse_daily_metrics(account, native, start, end))
    notes = [] if zone == account.timezone else ["Days are those of UTC: the account's own are not to be had."]
    coverage = Coverage(*find_report_range(days, start, end), zone, notes=notes)
    coverage = coverage.mark_provisional(today - timedelta(days=RESTATED_DAYS))
    return Insights.from_days(days, coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


def fetch_catalog_page(account: Account, resource: str, query: ListQuery) -> Flow[CatalogPage]:
    """Read one page of a catalog. In ``interests`` a search for digits is for an ID, any other for a name."""
    page = yield from catalogs.fetch_catalog_page(NETWORK, account, resource, query)
    sought = query.search or ""
    if resource != INTERESTS_CATALOG or pinterest.match_digits(sought):
        return page
    return evolve(page, rows=tuple(row for row in page.rows if sought.casefold() in row.name.casefold()))
