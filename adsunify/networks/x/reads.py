"""Reading from X: connecting by OAuth 1.0a, the hierarchy, places, reports, catalogs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from functools import partial
from urllib.parse import parse_qsl, urlsplit

from attrs import evolve, frozen

from adsunify.adapter import catalogs, hierarchy
from adsunify.adapter.account import Account, require_timezone
from adsunify.adapter.flows import completed_flow, fetch_response
from adsunify.adapter.hierarchy import (
    DiscoveredAccount,
    EntityPage,
    EntityTree,
    ListQuery,
    ParsedEntity,
    check_query,
    fetch_entity_page,
    parse_account,
)
from adsunify.adapter.insights import Coverage, DatedValues, DateRange, Insights, PendingReport
from adsunify.adapter.network import Level, get_level
from adsunify.adapter.oauth import Credentials, OAuthClient, RequestToken, build_consent_url, can_sign
from adsunify.adapter.reports import download_report, join_job_ids, parse_report_rows, split_job_id
from adsunify.errors import (
    NativeErrorDetails,
    ProviderError,
    ProviderNotFound,
    ProviderUnreadable,
    TokenRefused,
    invalid_input,
)
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.dates import format_utc, get_timezone, split_date_range
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects, get_text, get_value, require_id, require_object

from . import native as x
from .tables import LEVELS, LINE_ITEM, METRICS, NETWORK, PROMOTED_POST
from .targeting import fetch_funding_instruments, fetch_native_criteria, fetch_rows

TOKEN_SECRET_EXTRA = "tokenSecret"
"""The member of ``Credentials.extras`` that holds the user token's secret."""
ACCEPTED_STATUS = "ACCEPTED"


# -- connecting ---------------------------------------------------------------------------------------------------


def _fetch_form(request: Request) -> Flow[dict[str, str]]:
    """Return the members of a form-encoded response. Raises ProviderUnreadable for any other status than 200."""
    response = yield from fetch_response(NETWORK, request)
    content = response.body.decode("utf-8", "replace") if isinstance(response.body, bytes) else response.body
    form = dict(parse_qsl(content)) if isinstance(content, str) and response.status == 200 else {}
    if not form.get("oauth_token") or not form.get("oauth_token_secret"):
        raise ProviderUnreadable("X: the token answer has no oauth_token with its secret.")
    return form


def _build_oauth_request(url: str) -> Request:
    # The two token requests are signed before there is a user's token. Their responses are forms, not JSON.
    return Request("POST", url, kind="read_once", response_format="bytes", is_signed=False)


def fetch_request_token(app: OAuthClient, redirect_uri: str, state: str, now: int) -> Flow[RequestToken]:
    """Request a token. X compares the callback with the registered one, so the callback has no state."""
    request = x.authorize_request(
        _build_oauth_request(x.REQUEST_TOKEN_URL), app, now, x.derive_nonce(state), oauth_callback=redirect_uri
    )
    form = yield from _fetch_form(request)
    if form.get("oauth_callback_confirmed") != "true":
        raise ProviderUnreadable("X did not confirm the callback address.")
    url = build_consent_url(x.CONSENT_URL, oauth_token=form["oauth_token"])
    return RequestToken(url, form["oauth_token"], form["oauth_token_secret"])


def fetch_credentials(
    app: OAuthClient, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int
) -> Flow[Credentials]:
    """Exchange the request token for the user's token. ``verifier``: the secret of the request token."""
    token, proof = answer.get("oauth_token", ""), answer.get("oauth_verifier", "")
    # unverified: the callback of a refused consent has the member denied and no oauth_verifier.
    if not token or not proof:
        raise invalid_input("oauth_verifier", "consent_refused", "X gave no verifier: the consent was refused.")
    leg = _build_oauth_request(x.ACCESS_TOKEN_URL)
    form = yield from _fetch_form(
        x.authorize_request(leg, app, now, x.derive_nonce(proof), token, verifier, oauth_verifier=proof)
    )
    members = {"userId": form.get("user_id"), "screenName": form.get("screen_name")}
    extras = {
        TOKEN_SECRET_EXTRA: form["oauth_token_secret"],
        **{name: value for name, value in members.items() if value},
    }
    return Credentials(form["oauth_token"], extras=extras)


def refresh_credentials(app: OAuthClient, credentials: Credentials, now: int) -> Flow[Credentials]:
    """Return the same credentials: a token cannot be renewed. It is valid until the user or the app's owner ends it."""
    return (yield from completed_flow(credentials))


def revoke_credentials(app: OAuthClient, credentials: Credentials) -> Flow[None]:
    """Revoke the user's token. A token that is already invalid counts as revoked."""
    try:
        yield from fetch_response(NETWORK, Request("POST", x.REVOKE_URL, kind="read_once"))
    except TokenRefused as problem:
        if problem.native.code != x.INVALID_TOKEN_CODE:
            raise


# -- accounts -----------------------------------------------------------------------------------------------------


def _parse_funded_account(row: Mapping[str, Json], funding: Sequence[Mapping[str, Json]]) -> DiscoveredAccount:
    able = [instrument for instrument in funding if get_value(instrument, "/able_to_fund") is True]
    currency = next((get_text(instrument, "/currency") for instrument in (*able, *funding)), None)
    status = get_text(row, "/approval_status")
    native_status = None if status == ACCEPTED_STATUS else status
    return evolve(parse_account(NETWORK, row, get_text(row, "/timezone"), native_status), currency=currency)


def discover_accounts() -> Flow[list[DiscoveredAccount]]:
    """Read the user's accounts, each with the currency of its funding instruments."""
    accounts = []
    for row in (yield from fetch_rows(NETWORK, x.build_request("GET", "/accounts", {"count": x.PAGE_SIZE}))):
        funding = yield from fetch_funding_instruments(NETWORK, require_id(row, "/id", "account"))
        accounts.append(_parse_funded_account(row, funding))
    return accounts


# -- the hierarchy ------------------------------------------------------------------------------------------------


def fetch_tree(account: Account) -> Flow[EntityTree]:
    """Read campaigns, line items and promoted posts that are not deleted."""
    nodes: list[ParsedEntity] = []
    visible: set[str] = set()
    for level in LEVELS:
        rows = yield from fetch_rows(NETWORK, x.build_account_get_request(account, level.path, count=x.PAGE_SIZE))
        entities = [hierarchy.parse_entity(level, native) for native in rows]
        # X also lists the entities below a deleted one.
        nodes += [node for node in entities if node.parent_id is None or node.parent_id in visible]
        visible = {node.id for node in nodes if node.kind == level.kind}
    return EntityTree(tuple(nodes))


def _build_list_filters(level: Level, query: ListQuery) -> dict[str, str]:
    filters = {"count": str(query.limit)}
    if query.parent_id is not None:
        filters[f"{level.parent.removeprefix('/')}s"] = query.parent_id
    if query.search:
        if level is PROMOTED_POST:
            raise invalid_input(
                "search", "not_supported", "X searches campaigns and line items by name; posts have none."
            )
        filters["q"] = query.search
    if query.status == x.DRAFT:
        filters["with_draft"] = "true"
    if query.status == x.DELETED:
        filters["with_deleted"] = "true"
    if query.cursor is not None:
        filters["cursor"] = query.cursor
    return filters


def list_entities(account: Account, kind: str, query: ListQuery) -> Flow[EntityPage]:
    """Read one page of a level. X does not filter by status, so pages without a match are skipped."""
    level = check_query(NETWORK, kind, query)
    is_deleted = query.status == x.DELETED
    by_status = ListQuery(status=None if is_deleted else query.status)  # the request already searches by name

    def parse_page(response: Response) -> EntityPage:
        # X also hides promoted posts below a deleted line item, and does not mark them as deleted
        rows = [
            row
            for row in x.parse_rows(response)
            if not is_deleted or level is PROMOTED_POST or row.get("deleted") is True
        ]
        entities = (hierarchy.parse_entity(level, row) for row in rows)
        return EntityPage(tuple(filter(by_status.has_match, entities)), x.parse_next_cursor(response))

    request = x.build_account_get_request(account, level.path, **_build_list_filters(level, query))
    return (yield from fetch_entity_page(NETWORK, request, x.build_next_request, parse_page))


def fetch_entity(account: Account, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """Read one entity that is not deleted."""
    level = get_level(NETWORK, kind)
    path = f"/accounts/{{account}}/{level.path}/{{id}}"
    response = yield from fetch_response(
        NETWORK, x.build_request("GET", path, {}, account=account.native_id, id=entity_id)
    )
    entity = hierarchy.parse_entity(level, require_object(response.body, "/data", level.native))
    return hierarchy.require_same_entity(NETWORK, level, entity, entity_id)


def fetch_editable_entity(account: Account, kind: Kind, entity_id: str) -> Flow[ParsedEntity]:
    """Read the entity; a line item gets its targeting criteria."""
    entity = yield from fetch_entity(account, kind, entity_id)
    if kind != LINE_ITEM.kind:
        return entity
    targeting = yield from fetch_native_criteria(NETWORK, account, entity_id)
    return evolve(entity, native={**entity.native, "targeting_criteria": targeting})


# -- insights -----------------------------------------------------------------------------------------------------

PLACEMENTS = (x.ALL_PLACEMENTS, "SPOTLIGHT", "TREND")  # a campaign's figures are the sums over all three
METRIC_GROUPS = ("ENGAGEMENT,BILLING,VIDEO", "WEB_CONVERSION")  # conversions need a separate request
CAMPAIGN_ENTITY = "CAMPAIGN"
MAX_IDS_PER_REQUEST = 20
SYNC_DAYS, JOB_DAYS, ACTIVITY_DAYS = 7, 90, 90
SYNC_REQUESTS = 120  # X allows 250 requests in 15 minutes
MAX_OPEN_JOBS = 100
POLL_INTERVAL_MS = 30_000  # milliseconds
SUCCESS_STATE, UNFINISHED_STATES = "SUCCESS", ("PROCESSING", "QUEUED")  # unverified: all other states are failures
RESTATED_DAYS = 14  # spend may change for 14 days, other figures for one
_COUNT_METRICS = tuple(evolve(metric, unit="count") for metric in METRICS)
SUM_METRICS = tuple(evolve(metric, native=f"/{metric.name}", read=None) for metric in METRICS)
_ONE_DAY = timedelta(days=1)


def fetch_active_ids(
    account: Account, entity: str, ids: Sequence[str], start: date, offset: timedelta, now: datetime
) -> Flow[dict[str, list[str]]]:
    """Return the IDs to report on, by placement: all, or only active ones if there are too many for one request."""
    if len(ids) <= MAX_IDS_PER_REQUEST:
        return {placement: list(ids) for placement in PLACEMENTS if ids}
    active: dict[str, set[str]] = {placement: set() for placement in PLACEMENTS}
    for window in _build_activity_queries(entity, start, offset, now):
        request = x.build_request("GET", "/stats/accounts/{account}/active_entities", window, account=account.native_id)
        answer = yield from fetch_response(NETWORK, request)
        for item in get_objects(answer.body, "/data"):
            placements = get_value(item, "/placements")
            known = [name for name in placements if name in PLACEMENTS] if isinstance(placements, list) else []
            for placement in known or PLACEMENTS:
                active[placement].add(require_id(item, "/entity_id", "activity"))
    narrowed = {placement: [item for item in ids if item in active[placement]] for placement in PLACEMENTS}
    return {placement: chosen for placement, chosen in narrowed.items() if chosen}


def _build_activity_queries(entity: str, start: date, offset: timedelta, now: datetime) -> Iterator[dict[str, str]]:
    """Yield the queries up to now: X lists a late change of a billed amount under the hour in which it was recorded."""
    last = (now.astimezone(timezone(offset))).date()
    hour = format_utc(now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1))
    for first, until in split_date_range(min(start, last), last, ACTIVITY_DAYS):
        end = hour if until == last else x.format_midnight(until + _ONE_DAY, offset)
        yield {"entity": entity, "start_time": x.format_midnight(first, offset), "end_time": end}


def build_stats_queries(
    entity: str, ids_by_placement: Mapping[str, Sequence[str]], start: date, end: date, days: int, offset: timedelta
) -> Iterator[tuple[date, dict[str, str]]]:
    """Yield the parameters of each request, with its first day. ``days``: the most days of a request."""
    for first, last in split_date_range(start, end, days):
        for placement, ids in ids_by_placement.items():
            for at in range(0, len(ids), MAX_IDS_PER_REQUEST):
                for groups in METRIC_GROUPS:
                    yield (
                        first,
                        {
                            "entity": entity,
                            "entity_ids": ",".join(ids[at : at + MAX_IDS_PER_REQUEST]),
                            "start_time": x.format_midnight(first, offset),
                            "end_time": x.format_midnight(last + _ONE_DAY, offset),
                            "granularity": "DAY",
                            "placement": placement,
                            "metric_groups": groups,
                        },
                    )


MetricsKey = tuple[str, str, str]


def _split_days(metrics: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Return the figures of each day. A metric is a series or an object of series. Absent figures are left out."""
    parts = {name: _split_days(item) if isinstance(item, Mapping) else item for name, item in metrics.items()}
    series = [(name, values) for name, values in parts.items() if isinstance(values, list)]
    days: list[dict[str, Json]] = [{} for _ in range(max((len(values) for _, values in series), default=0))]
    for name, values in series:
        for figures, value in zip(days, values, strict=False):  # a series may have fewer days
            if value is not None and value != {}:
                figures[name] = value
    return days


def _collect_days(
    rows: dict[MetricsKey, dict[str, Json]], body: Json, entity: str, first: date, placement: str
) -> None:
    """Add the days of one response; a metric without a value is left out."""
    for series_of_entity in get_objects(body, "/data", "report"):
        id_ = require_id(series_of_entity, "/id", "report")
        for part in get_objects(series_of_entity, "/id_data", "report"):
            days = _split_days(require_object(part, "/metrics", "report"))
            if len(days) > JOB_DAYS:
                raise ProviderUnreadable("X: the metrics of the report are no days.")
            for index, figures in enumerate(days):
                if figures:
                    day = (first + index * _ONE_DAY).isoformat()
                    row = {"date": day, get_id_column(entity): id_, "placement": placement}
                    rows.setdefault((day, id_, placement), row).update(figures)


def get_id_column(entity: str) -> str:
    """Return the member of a native row with the ID of an entity of this type, such as ``line_item_id``."""
    return f"{entity.lower()}_id"


def fetch_stats_rows(
    account: Account, entity: str, queries: Iterable[tuple[date, Mapping[str, str]]]
) -> Flow[list[Mapping[str, Json]]]:
    """Read figures synchronously: a row for each day, entity and placement, in this order."""
    rows: dict[MetricsKey, dict[str, Json]] = {}
    for first, query in queries:
        request = x.build_request("GET", "/stats/accounts/{account}", query, account=account.native_id)
        answer = yield from fetch_response(NETWORK, request)
        _collect_days(rows, answer.body, entity, first, query["placement"])
    return _sort_rows(rows)


def _sort_rows(rows: Mapping[MetricsKey, Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    return [rows[key] for key in sorted(rows)]


def sum_figures(native: Iterable[Mapping[str, Json]], members: Sequence[str]) -> list[dict[str, Json]]:
    """Group the native rows by the values of ``members``, and return one row with the sums of each group.

    A sum is left out, and not 0, if no row of the group has the figure. The sums are for SUM_METRICS.
    """
    rows = list(native)
    sums: dict[tuple[Json, ...], dict[str, Json]] = {}
    for row, (_, figures) in zip(rows, parse_report_rows(_COUNT_METRICS, rows, "/date"), strict=True):
        key = tuple(map(row.get, members))
        if key not in sums:
            sums[key] = dict(zip(members, key, strict=True))
        known = sums[key]
        for name, count in figures.items():
            if count is not None:
                known[name] = known.get(name, 0) + count
    return list(sums.values())


def parse_daily_metrics(account: Account, native: Iterable[Mapping[str, Json]], start: date, end: date) -> DatedValues:
    """Return each day and its figures. If no row has a metric, its sum is None and not 0."""
    return parse_report_rows(SUM_METRICS, sum_figures(native, ("date",)), "/date")


def build_coverage(
    account: Account,
    days: DateRange,
    now: datetime,
    missing: Sequence[DateRange] = (),
    notes: Sequence[str] = (),
) -> Coverage:
    """Return the coverage of a report. Figures may change for 14 days."""
    today = now.astimezone(get_timezone(require_timezone(account))).date()
    texts = [*(metric.note for metric in METRICS if metric.note), *notes]
    switched = account.extras.get("timezoneSwitchAt", "")[:10]
    if switched and days.start.isoformat() <= switched <= days.end.isoformat():
        texts.append(f"The account changed its time zone at {switched}: that day has a gap.")
    coverage = Coverage(days.start, days.end, account.timezone, not missing, missing_ranges=tuple(missing), notes=texts)
    return coverage.mark_provisional(today - timedelta(days=RESTATED_DAYS))


def _build_insights(account: Account, native: Sequence[Mapping[str, Json]], coverage: Coverage) -> Insights:
    days = parse_daily_metrics(account, native, coverage.start, coverage.end)
    return Insights.from_days(days, coverage, NETWORK.missing_day, native)


@frozen
class _Job:
    id: str
    status: str
    days: DateRange
    placement: str
    url: str


def _start_job(account: Account, query: Mapping[str, str]) -> Flow[str]:
    # The request changes nothing in the account. It is never repeated, since an account has at most 100 jobs.
    path = "/stats/jobs/accounts/{account}"
    response = yield from fetch_response(
        NETWORK, x.build_request("POST", path, query, nature="read_once", account=account.native_id)
    )
    return require_id(response.body, "/data/id_str", "report")


def _fetch_jobs(account: Account, ids: Sequence[str], offset: timedelta) -> Flow[list[_Job]]:
    response = yield from fetch_response(NETWORK, x.build_job_states_request(account, ",".join(ids)))
    states = {require_id(state, "/id_str", "report"): state for state in get_objects(response.body, "/data")}
    if any(id_ not in states for id_ in ids):
        raise ProviderNotFound("X does not know the report any more; ask for the days again.")
    jobs = []
    for id_ in ids:
        state = states[id_]
        first, end = (x.parse_midnight_day(get_text(state, at), offset) for at in ("/start_time", "/end_time"))
        if not first < end:
            raise ProviderUnreadable("X: the report ends before it begins.")
        status, placement, url = (get_text(state, at) or "" for at in ("/status", "/placement", "/url"))
        jobs.append(_Job(id_, status, DateRange(first, end - _ONE_DAY), placement, url))
    return jobs


def _download_job(job: _Job) -> Flow[Json]:
    """Download the JSON of a finished report, without credentials."""
    address = urlsplit(job.url)
    if address.scheme != "https" or address.netloc != x.DOWNLOAD_HOST:
        raise ProviderUnreadable(f"X: a finished report lies on another host than {x.DOWNLOAD_HOST}.")
    return (yield from download_report(job.url))


def _resume_insights(account: Account, start: date, end: date, job: str, now: datetime) -> Flow[Insights]:
    jobs = yield from _fetch_jobs(account, split_job_id(job), x.get_utc_offset(account, now))
    unfinished = next((item for item in jobs if item.status in UNFINISHED_STATES), None)
    if unfinished is not None:
        return Insights.from_pending_report(
            start, end, account.timezone, PendingReport(job, unfinished.status, POLL_INTERVAL_MS)
        )
    failed = [item for item in jobs if item.status != SUCCESS_STATE]
    if len(failed) == len(jobs):
        raise ProviderError(f"X made no report ({failed[0].status}).", native=NativeErrorDetails(failed[0].status))
    rows: dict[MetricsKey, dict[str, Json]] = {}
    failed_days = {item.days: None for item in failed}  # the sums of these days would lack figures
    for item in jobs:
        if item.days not in failed_days:
            _collect_days(rows, (yield from _download_job(item)), CAMPAIGN_ENTITY, item.days.start, item.placement)
    first, last = min(item.days.start for item in jobs), max(item.days.end for item in jobs)
    if not start <= first <= last <= end:  # the caller resumed a job without its dates
        start, end = first, last
    notes = [f"The report of {days.start} to {days.end} failed." for days in failed_days]
    return _build_insights(
        account, _sort_rows(rows), build_coverage(account, DateRange(start, end), now, tuple(failed_days), notes)
    )


def fetch_insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Read the account's daily figures: the sums over its campaigns, deleted campaigns included.

    There is a request for each group of campaigns, placement and group of metrics. A few days of a few campaigns are
    read directly. For more, each request creates a report, which is downloaded as a compressed file.
    """
    if job is not None:
        return (yield from _resume_insights(account, start, end, job, now))
    offset = x.get_utc_offset(account, now)
    list_request = x.build_account_get_request(account, "campaigns", with_deleted="true", count=x.PAGE_SIZE)
    campaigns = yield from fetch_rows(NETWORK, list_request)
    if not campaigns:
        return Insights.without_campaigns(build_coverage(account, DateRange(start, end), now))
    # Campaigns in another currency than the account's are left out.
    ids = [
        require_id(item, "/id", "campaign")
        for item in campaigns
        if account.currency is None or get_text(item, "/currency") in (None, account.currency)
    ]
    ids_by_placement = yield from fetch_active_ids(account, CAMPAIGN_ENTITY, ids, start, offset, now)
    at_once = list(build_stats_queries(CAMPAIGN_ENTITY, ids_by_placement, start, end, SYNC_DAYS, offset))
    if not at_once or ((end - start).days < SYNC_DAYS and len(at_once) <= SYNC_REQUESTS):
        native = yield from fetch_stats_rows(account, CAMPAIGN_ENTITY, at_once)
        return _build_insights(account, native, build_coverage(account, DateRange(start, end), now))
    reports = list(build_stats_queries(CAMPAIGN_ENTITY, ids_by_placement, start, end, JOB_DAYS, offset))
    if len(reports) > MAX_OPEN_JOBS:
        message = (
            f"X makes at most {MAX_OPEN_JOBS} reports at a time, and these days need {len(reports)}; ask for fewer."
        )
        raise invalid_input("startDate", "too_many_reports", message)
    ids = []
    for _, query in reports:
        ids.append((yield from _start_job(account, query)))
    return Insights.from_pending_report(
        start, end, account.timezone, PendingReport(join_job_ids(ids), UNFINISHED_STATES[0], POLL_INTERVAL_MS)
    )


# -- catalogs -----------------------------------------------------------------------------------------------------


fetch_catalog_page = partial(catalogs.fetch_catalog_page, NETWORK)


def sign_request(request: Request, credentials: Credentials, app: OAuthClient, now: int, nonce: str) -> Request:
    """Sign the request by OAuth 1.0a with the app's and the user's secrets."""
    if not can_sign(NETWORK, request):
        return request
    secret = credentials.extras.get(TOKEN_SECRET_EXTRA, "")
    return x.authorize_request(request, app, now, nonce, credentials.access_token, secret)
