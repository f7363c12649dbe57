"""Reading from Amazon Ads: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import partial

from attrs import evolve, frozen

from adsunify.adapter import catalogs, hierarchy
from adsunify.adapter.account import Account
from adsunify.adapter.error_rules import find_read_error
from adsunify.adapter.flows import fetch_response
from adsunify.adapter.hierarchy import DiscoveredAccount, EntityPage, EntityTree, ListQuery, ParsedEntity, check_query
from adsunify.adapter.insights import Coverage, DatedValues, DateRange, Insights, PendingReport
from adsunify.adapter.metrics import Metric
from adsunify.adapter.network import Level, get_level
from adsunify.adapter.reports import download_report, join_job_ids, parse_report_rows, split_job_id
from adsunify.adapter.settings import to_account_time
from adsunify.errors import NativeErrorDetails, ProviderError, ProviderNotFound, ProviderUnreadable, invalid_input
from adsunify.http.messages import Flow, Request, Response
from adsunify.values.dates import split_date_range
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects, get_text, get_value, require_id, require_object

from .native import (
    BROAD_MATCH,
    DAILY,
    HOSTS,
    REPORT_COLUMNS,
    REPORT_DAYS,
    REPORT_MEDIA_TYPE,
    REPORTS_PATH,
    SCOPE_HEADER,
    SELLER,
    VENDOR,
    build_level_list_request,
    build_profiles_request,
    get_base_url,
    get_collection_member,
    get_id_filter_member,
    get_profile_name,
    parse_next_cursor,
)
from .tables import LIVE_STATUSES, METRICS, NETWORK, SEARCHABLE_KINDS, STATUS_FILTERS, VENDOR_METRICS

MIN_PAGE_SIZE = 10  # unverified: the smallest page; one client documents 10 to 100
KDP_AUTHOR = "KDP_AUTHOR"
PAYMENT_PROBLEM = "payment problem"
FIRST_POLL_MS, LATER_POLL_MS = 30_000, 60_000  # a report takes up to 3 hours
NO_REASON = "no reason given"
SELLER_WINDOW_DAYS, VENDOR_WINDOW_DAYS = 7, 14
RESTATED_DAYS = 28  # Reporting v3, FAQ: for conversions, which count on the day of the click; 3 days for traffic
_ONE_DAY = timedelta(days=1)
_find_duplicate = re.compile(r"duplicate of\s*:\s*([0-9A-Za-z-]{1,100})").search


# -- accounts -----------------------------------------------------------------------------------------------------


def _get_account_type(profile: Mapping[str, Json]) -> str | None:
    # Authors (KDP) advertise by ASIN, like vendors.
    return VENDOR if get_text(profile, "/accountInfo/subType") == KDP_AUTHOR else get_text(profile, "/accountInfo/type")


def _parse_profile(profile: Mapping[str, Json], region: str) -> DiscoveredAccount:
    extras = {
        "region": region,
        "accountType": _get_account_type(profile) or "",
        "countryCode": get_text(profile, "/countryCode") or "",
    }
    unpaid = get_value(profile, "/accountInfo/validPaymentMethod") is False  # only vendors have this member
    return DiscoveredAccount(
        require_id(profile, "/profileId", "profile"),
        get_profile_name(profile),
        get_text(profile, "/currencyCode"),
        get_text(profile, "/timezone"),
        PAYMENT_PROBLEM if unpaid else None,
        {name: value for name, value in extras.items() if value},
    )


def discover_accounts() -> Flow[list[DiscoveredAccount]]:
    """Read the profiles of all three regions. Each host lists only the profiles of its region."""
    accounts: list[DiscoveredAccount] = []
    for region, name in HOSTS.items():
        response = yield from fetch_response(NETWORK, build_profiles_request(f"https://{name}"))
        accounts.extend(
            _parse_profile(profile, region)
            for profile in get_objects(response.body, "", "list of profiles")
            if _get_account_type(profile) in (SELLER, VENDOR)
        )
    return accounts


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _build_status_filter(*states: str) -> dict[str, Json]:
    # unverified: which states a list without a stateFilter has, so the filter is always sent.
    return {"stateFilter": {"include": list(states)}}


def _build_next_request(request: Request, response: Response) -> Request | None:
    token = parse_next_cursor(response)
    return None if token is None else evolve(request, body={**request.body, "nextToken": token})


def _parse_entities(level: Level, response: Response) -> tuple[ParsedEntity, ...]:
    natives = get_objects(response.body, f"/{get_collection_member(level)}")
    return tuple(hierarchy.parse_entity(level, native) for native in natives)


def fetch_tree(account: Account) -> Flow[EntityTree]:
    """Read all entities that are not archived."""

    def build_request(level: Level) -> Request:
        return build_level_list_request(account, level, _build_status_filter(*LIVE_STATUSES))

    return hierarchy.fetch_tree(NETWORK, build_request, _build_next_request, _parse_entities)


def list_entities(account: Account, kind: str, query: ListQuery) -> Flow[EntityPage]:
    """Read one page of a level's entities."""
    level = check_query(NETWORK, kind, query)
    body = _build_status_filter(query.status) if query.status is not None else _build_status_filter(*LIVE_STATUSES)
    if query.search:
        if kind not in SEARCHABLE_KINDS:
            raise invalid_input(
                "search", "not_supported", f"Amazon Ads searches {' and '.join(SEARCHABLE_KINDS)} by name, no {kind}."
            )
        body["nameFilter"] = {"queryTermMatchType": BROAD_MATCH, "include": [query.search]}
    if query.parent_id is not None:
        body[get_id_filter_member(level.parent)] = {"include": [query.parent_id]}
    if query.cursor is not None:
        body["nextToken"] = query.cursor
    request = build_level_list_request(account, level, body | {"maxResults": query.limit})
    response = yield request
    if response.status == 400 and query.limit < MIN_PAGE_SIZE:
        response = yield build_level_list_request(account, level, body | {"maxResults": MIN_PAGE_SIZE})
    problem = find_read_error(NETWORK, response)
    if problem is not None:
        raise problem
    return EntityPage(_parse_entities(level, response), parse_next_cursor(response))


def _fetch_listed_entity(account: Account, level: Level, entity_id: str) -> Flow[ParsedEntity]:
    body = _build_status_filter(*STATUS_FILTERS) | {
        get_id_filter_member(level): {"include": [entity_id]},
        "includeExtendedDataFields": True,
    }
    response = yield from fetch_response(NETWORK, build_level_list_request(account, level, body))
    for entity in _parse_entities(level, response):
        if entity.id == entity_id:
            return entity
    raise ProviderNotFound(f"Amazon Ads has no {level.native} {entity_id} in this profile.")


def fetch_entity(account: Account, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """Read one entity, archived or not. An entity has no URL, so the list is filtered by the entity's ID."""
    return (yield from _fetch_listed_entity(account, get_level(NETWORK, kind), entity_id))


fetch_editable_entity = fetch_entity


# -- insights -----------------------------------------------------------------------------------------------------


@frozen
class ReportType:
    """A type of report: the texts in its name and in ``reportTypeId``, the groups of its rows, and their columns."""

    name: str
    id: str
    groups: tuple[str, ...]
    columns: tuple[str, ...]


ACCOUNT_REPORT = ReportType("insights", "spCampaigns", ("campaign",), REPORT_COLUMNS)


def _build_report_job_request(account: Account, report_type: ReportType, days: DateRange) -> Request:
    """Build the request that creates a report. A repeat creates nothing: Amazon returns the ID of the first report."""
    configuration = {
        "adProduct": "SPONSORED_PRODUCTS",
        "reportTypeId": report_type.id,
        "groupBy": list(report_type.groups),
        "timeUnit": DAILY,
        "format": "GZIP_JSON",
        "columns": list(report_type.columns),
    }
    body = {
        "name": f"{report_type.name} {days.start}..{days.end}",
        "startDate": days.start.isoformat(),
        "endDate": days.end.isoformat(),
        "configuration": configuration,
    }
    headers = {"Content-Type": REPORT_MEDIA_TYPE, SCOPE_HEADER: account.native_id}
    return Request("POST", get_base_url(account) + REPORTS_PATH, headers=headers, body=body, encoding="json")


def _create_report(account: Account, report_type: ReportType, days: DateRange) -> Flow[Mapping[str, Json]]:
    """Create a report, or find an identical earlier report. Returns the report's ``reportId`` and ``status``."""
    response = yield _build_report_job_request(account, report_type, days)
    if response.status == 425:  # "The Request is a duplicate of : <reportId>": the first report is used
        match = _find_duplicate(get_text(response.body, "/detail") or get_text(response.body, "/details") or "")
        if match is None:
            raise ProviderUnreadable("Amazon Ads refused a duplicate report without naming the first.")
        return {"reportId": match.group(1), "status": None}
    problem = find_read_error(NETWORK, response)
    if problem is not None:
        raise problem
    return {"reportId": require_id(response.body, "/reportId", "report"), "status": get_text(response.body, "/status")}


def _fetch_report_state(account: Account, report: str) -> Flow[Mapping[str, Json]]:
    url, headers = get_base_url(account) + REPORTS_PATH + "/{reportId}", {SCOPE_HEADER: account.native_id}
    response = yield from fetch_response(NETWORK, Request("GET", url, path={"reportId": report}, headers=headers))
    return {**require_object(response.body, "", "report"), "reportId": report}


def create_reports(account: Account, report_type: ReportType, start: date, end: date) -> Flow[list[Mapping[str, Json]]]:
    """Create the reports of a range, in order of their days. Returns the state of each."""
    states: list[Mapping[str, Json]] = []
    for days in split_report_days(start, end):
        states += [(yield from _create_report(account, report_type, days))]
    return states


def fetch_report_states(account: Account, job: str) -> Flow[list[Mapping[str, Json]]]:
    """Read the state of each report of a job, in order of their days. Raises ProviderError if all have failed."""
    states: list[Mapping[str, Json]] = []
    for report in split_job_id(job):
        states += [(yield from _fetch_report_state(account, report))]
    if all(has_failed(state) for state in states):
        failure = get_text(states[0], "/failureReason") or NO_REASON
        raise ProviderError(
            f"Amazon Ads made no report: {failure}.", native=NativeErrorDetails(get_text(states[0], "/status"), failure)
        )
    return states


def find_unfinished_report(states: Iterable[Mapping[str, Json]]) -> Mapping[str, Json] | None:
    """Return the state of the first report that is neither finished nor has failed."""
    return next(
        (state for state in states if get_text(state, "/status") != "COMPLETED" and not has_failed(state)), None
    )


def make_pending_report(states: Sequence[Mapping[str, Json]], retry_after_ms: int) -> PendingReport:
    """Return the job of the reports of a range."""
    status = get_text(find_unfinished_report(states) or states[0], "/status") or "PENDING"
    return PendingReport(join_job_ids([state["reportId"] for state in states]), status, retry_after_ms)


def has_failed(state: Mapping[str, Json]) -> bool:
    """Return whether Amazon will never finish the report."""
    # unverified: a failed report has the status FAILED; the documentation only has failureReason.
    return get_text(state, "/status") == "FAILED" or bool(get_text(state, "/failureReason"))


def describe_failure(state: Mapping[str, Json], days: DateRange) -> str:
    """Return a note about a report that has failed."""
    return f"The report of {days.start} to {days.end} failed: {get_text(state, '/failureReason') or NO_REASON}."


def fetch_report_rows(state: Mapping[str, Json]) -> Flow[list[Mapping[str, Json]]]:
    """Download the rows of a finished report."""
    return get_objects((yield from download_report(get_text(state, "/url"))), "", "report file")


def _parse_day_or_none(value: Json, at: str) -> date | None:
    try:
        return date.fromisoformat(get_text(value, at) or "")
    except ValueError:
        return None


def split_report_days(start: date, end: date, count: int | None = None) -> list[DateRange]:
    """Return the days of each report. ``count``: the number of reports, if it is known."""
    pieces = [DateRange(*piece) for piece in split_date_range(start, end, REPORT_DAYS)]
    if count is None:
        return pieces
    return pieces[-count:] if count <= len(pieces) else [DateRange(start, end)] * count


def get_metrics(account: Account) -> tuple[Metric, ...]:
    """Return the metrics. Their conversion window depends on the type of the account."""
    return VENDOR_METRICS if account.extras.get("accountType") == VENDOR else METRICS


def list_metric_notes(account: Account) -> list[str]:
    """Return the distinct notes of the metrics."""
    return [note for note in {metric.note: None for metric in get_metrics(account)} if note]


def find_restated_day(account: Account, now: datetime) -> date:
    """Return the first day whose figures Amazon may still change. It depends on the account's conversion window."""
    window = VENDOR_WINDOW_DAYS if get_metrics(account) is VENDOR_METRICS else SELLER_WINDOW_DAYS
    return (to_account_time(account, now) or now).date() - timedelta(days=RESTATED_DAYS + window)


def parse_daily_metrics(account: Account, native: Iterable[Mapping[str, Json]], start: date, end: date) -> DatedValues:
    """Return the day of each row of a report, and its figures."""
    return parse_report_rows(get_metrics(account), native, "/date")


def fetch_insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Read daily figures from reports of at most 31 days each. All reports of a range are one job.

    Only days with activity have a row.
    """
    if job is None:
        states = yield from create_reports(account, ACCOUNT_REPORT, start, end)
    else:
        states = yield from fetch_report_states(account, job)
    if find_unfinished_report(states) is not None:
        pending = make_pending_report(states, FIRST_POLL_MS if job is None else LATER_POLL_MS)
        return Insights.from_pending_report(start, end, account.timezone, pending)
    native: list[Mapping[str, Json]] = []
    covered: list[DateRange] = []
    notes = list_metric_notes(account)
    for state, part in zip(states, split_report_days(start, end, len(states)), strict=True):
        # The caller may resume a job without its dates, so the dates of the report are used.
        days = DateRange(
            _parse_day_or_none(state, "/startDate") or part.start, _parse_day_or_none(state, "/endDate") or part.end
        )
        if has_failed(state):
            notes.append(describe_failure(state, days))
        else:
            native.extend((yield from fetch_report_rows(state)))
            covered.append(days)
    if covered and not start <= covered[0].start <= covered[-1].end <= end:
        start, end = covered[0].start, covered[-1].end
    coverage = Coverage(start, end, account.timezone, notes=notes).mark_provisional(find_restated_day(account, now))
    return Insights.from_days(parse_daily_metrics(account, native, start, end), coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


fetch_catalog_page = partial(catalogs.fetch_catalog_page, NETWORK)
