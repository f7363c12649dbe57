"""Reading from X: connecting by OAuth 1.0a, the hierarchy, places, reports, catalogs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from operator import itemgetter
from urllib.parse import parse_qsl, urlsplit

from attrs import evolve, frozen

from adsunify.adapter import catalogs, hierarchy
from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.flows import ask, pages, settled
from adsunify.adapter.hierarchy import FILTER_PAGES, Entity, FoundAccount, Page, Query, Tree, check_query
from adsunify.adapter.insights import Coverage, DateRange, Days, Insights, Pending
from adsunify.adapter.network import Account, Level, level, timezone_of
from adsunify.adapter.oauth import App, Credentials, RequestToken, authorize_url, trusted
from adsunify.adapter.reports import days, downloaded, joint, separate
from adsunify.errors import NativeError, ProviderError, ProviderNotFound, ProviderUnreadable, TokenRefused, refused
from adsunify.http.messages import Flow, Request
from adsunify.plans.records import Kind
from adsunify.values.dates import utc_text, windows, zone
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import ident, need, read, rows, text

from . import native as x
from .tables import LEVELS, LINE_ITEM, METRICS, NETWORK, POST
from .targeting import instruments, listed, standing

TOKEN_SECRET = "tokenSecret"
"""The member of ``Credentials.extras`` that holds the user token's secret."""
ACCEPTED = "ACCEPTED"


# -- connecting ---------------------------------------------------------------------------------------------------


def _form(request: Request) -> Flow[dict[str, str]]:
    """The members of a form-encoded answer; anything but a 200 is a failure."""
    response = yield from ask(NETWORK, request)
    content = response.body.decode("utf-8", "replace") if isinstance(response.body, bytes) else response.body
    found = dict(parse_qsl(content)) if isinstance(content, str) and response.status == 200 else {}
    if not found.get("oauth_token") or not found.get("oauth_token_secret"):
        raise ProviderUnreadable("X: the token answer has no oauth_token with its secret.")
    return found


def _leg(url: str) -> Request:
    # Signed where it is built: these two are not signed with a user's token. The answers are forms, not JSON.
    return Request("POST", url, nature="read_once", answer="bytes", signed=False)


def request_token(app: App, redirect_uri: str, state: str, now: int) -> Flow[RequestToken]:
    """The first leg. X compares the callback with the registered one, so nothing that varies stands in its query."""
    request = x.authorized(_leg(x.REQUEST_TOKEN), app, now, x.nonce_of(state), oauth_callback=redirect_uri)
    found = yield from _form(request)
    if found.get("oauth_callback_confirmed") != "true":
        raise ProviderUnreadable("X did not confirm the callback address.")
    url = authorize_url(x.CONSENT, oauth_token=found["oauth_token"])
    return RequestToken(url, found["oauth_token"], found["oauth_token_secret"])


def exchange(app: App, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int) -> Flow[Credentials]:
    """The request token, whose secret is ``verifier``, becomes the user's; a callback without verifier is a refusal."""
    token, proof = answer.get("oauth_token", ""), answer.get("oauth_verifier", "")
    if not token or not proof:  # (unverified) a refused consent says denied=<request token>
        raise refused("oauth_verifier", "consent_refused", "X gave no verifier: the consent was refused.")
    leg = _leg(x.ACCESS_TOKEN)
    found = yield from _form(x.authorized(leg, app, now, x.nonce_of(proof), token, verifier, oauth_verifier=proof))
    told = {"userId": found.get("user_id"), "screenName": found.get("screen_name")}
    extras = {TOKEN_SECRET: found["oauth_token_secret"], **{name: one for name, one in told.items() if one}}
    return Credentials(found["oauth_token"], extras=extras)


def refresh(app: App, credentials: Credentials, now: int) -> Flow[Credentials]:
    """The same again: a token lives until the user or the app's owner ends it, and nothing renews it."""
    return (yield from settled(credentials))


def revoke(app: App, credentials: Credentials) -> Flow[None]:
    """Ends the user's token; one that is dead already is as good."""
    try:
        yield from ask(NETWORK, Request("POST", x.INVALIDATE, nature="read_once"))
    except TokenRefused as problem:
        if problem.native.code != x.DEAD_TOKEN:
            raise


# -- accounts -----------------------------------------------------------------------------------------------------


def _account(row: Mapping[str, Json], funding: Sequence[Mapping[str, Json]]) -> FoundAccount:
    native_id, status = ident(row, "/id", "account"), text(row, "/approval_status")
    able = [one for one in funding if read(one, "/able_to_fund") is True]
    currency = next((text(one, "/currency") for one in (*able, *funding)), None)
    switched = text(row, "/timezone_switch_at")
    return FoundAccount(
        native_id,
        text(row, "/name") or native_id,
        currency,
        text(row, "/timezone"),
        None if status == ACCEPTED else status,
        {"timezoneSwitchAt": switched} if switched else {},
    )


def accounts() -> Flow[list[FoundAccount]]:
    """The accounts of the user, each with the currency of its funding."""
    found = []
    for row in (yield from listed(NETWORK, x.call("GET", "/accounts", {"count": x.PAGE}))):
        funding = yield from instruments(NETWORK, ident(row, "/id", "account"))
        found.append(_account(row, funding))
    return found


# -- the hierarchy ------------------------------------------------------------------------------------------------


def tree(account: Account) -> Flow[Tree]:
    """Campaigns, line items and promoted posts that are not deleted."""
    nodes: list[Entity] = []
    shown: set[str] = set()
    for one in LEVELS:
        found = yield from listed(NETWORK, x.of_account(account, one.path, count=x.PAGE))
        read_ = [hierarchy.entity(one, native) for native in found]
        # X still lists what lies below a deleted entity, at every level under it.
        nodes += [node for node in read_ if node.parent_id is None or node.parent_id in shown]
        shown = {node.id for node in nodes if node.kind == one.kind}
    return Tree(tuple(nodes))


def _filters(one: Level, query: Query) -> dict[str, str]:
    asked = {"count": str(query.limit)}
    if query.parent_id is not None:
        asked[f"{one.parent.removeprefix('/')}s"] = query.parent_id
    if query.search:
        if one is POST:
            raise refused("search", "not_supported", "X searches campaigns and line items by name; posts have none.")
        asked["q"] = query.search
    if query.status == x.DRAFT:
        asked["with_draft"] = "true"
    return asked


def entities(account: Account, kind: str, query: Query) -> Flow[Page]:
    """One page of a level's entities. X filters no status: pages without a fitting one are passed over."""
    one = check_query(NETWORK, kind, query)
    request, cursor = x.of_account(account, one.path, **_filters(one, query)), query.cursor
    fitting: tuple[Entity, ...] = ()
    for _ in range(FILTER_PAGES):
        asked = request if cursor is None else evolve(request, query={**request.query, "cursor": cursor})
        response = yield from ask(NETWORK, asked)
        found = (hierarchy.entity(one, native) for native in rows(response.body, "/data"))
        fitting = tuple(node for node in found if query.status in (None, node.native_status))
        cursor = x.next_cursor(response)
        if fitting or cursor is None:
            break
    return Page(fitting, cursor)


def entity(account: Account, kind: str, entity_id: str) -> Flow[Entity]:
    """One entity that is not deleted."""
    one = level(NETWORK, kind)
    path = f"/accounts/{{account}}/{one.path}/{{id}}"
    response = yield from ask(NETWORK, x.call("GET", path, {}, account=account.native_id, id=entity_id))
    native = need(response.body, "/data", one.native)
    if not isinstance(native, Mapping):
        raise ProviderUnreadable(f"X: the {one.native} is no object.")
    return hierarchy.entity(one, native)


def editable(account: Account, kind: Kind, entity_id: str) -> Flow[Entity]:
    """The entity, a line item with its targeting criteria."""
    found = yield from entity(account, kind, entity_id)
    if kind != LINE_ITEM.kind:
        return found
    targeting = yield from standing(NETWORK, account, entity_id)
    return evolve(found, native={**found.native, "targeting_criteria": targeting})


# -- insights -----------------------------------------------------------------------------------------------------

PLACEMENTS = (x.EVERYWHERE, "SPOTLIGHT", "TREND")  # figures of a campaign are those of all three together
GROUPS = ("ENGAGEMENT,BILLING,VIDEO", "WEB_CONVERSION")  # conversions want a request of their own
IDS_A_REQUEST = 20
SYNC_DAYS, JOB_DAYS, ACTIVITY_DAYS = 7, 90, 90
SYNC_REQUESTS = 120  # of 250 in 15 minutes
JOBS_AT_ONCE = 100
POLL = 30_000  # milliseconds
SUCCESS, UNFINISHED = "SUCCESS", ("PROCESSING", "QUEUED")  # (unverified) any other word is a failure
RESTATED_DAYS = 14  # spend may change for 14 days, other figures for one
_COUNTED = tuple(evolve(metric, unit="count") for metric in METRICS)
_SUMS = tuple(evolve(metric, native=f"/{metric.name}", read=None) for metric in METRICS)
_DAY = timedelta(days=1)


def _campaigns(account: Account, start: date, offset: timedelta, now: datetime) -> Flow[dict[str, list[str]] | None]:
    """The campaigns to ask about, by placement: deleted ones too, without those paid in another currency.

    None where the account has no campaign of any kind.
    """
    asked = x.of_account(account, "campaigns", with_deleted="true", count=x.PAGE)
    answers = yield from pages(NETWORK, asked, x.following)
    found = [one for answer in answers for one in rows(answer.body, "/data")]
    if not found:
        return None
    own = [one for one in found if account.currency is None or text(one, "/currency") in (None, account.currency)]
    ids = [ident(one, "/id", "campaign") for one in own]
    if len(ids) <= IDS_A_REQUEST:
        return {placement: ids for placement in PLACEMENTS if ids}
    active: dict[str, set[str]] = {placement: set() for placement in PLACEMENTS}
    for window in _activity(start, offset, now):
        request = x.call("GET", "/stats/accounts/{account}/active_entities", window, account=account.native_id)
        answer = yield from ask(NETWORK, request)
        for one in rows(answer.body, "/data"):
            named = read(one, "/placements")
            known = [name for name in named if name in PLACEMENTS] if isinstance(named, list) else []
            for placement in known or PLACEMENTS:
                active[placement].add(ident(one, "/entity_id", "activity"))
    narrowed = {placement: [one for one in ids if one in active[placement]] for placement in PLACEMENTS}
    return {placement: chosen for placement, chosen in narrowed.items() if chosen}


def _activity(start: date, offset: timedelta, now: datetime) -> Iterator[dict[str, str]]:
    """Up to now: a late change of what was billed is filed under the hour in which it was recorded."""
    last = (now.astimezone(timezone(offset))).date()
    hour = utc_text(now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1))
    for first, until in windows(min(start, last), last, ACTIVITY_DAYS):
        end = hour if until == last else x.midnight(until + _DAY, offset)
        yield {"entity": "CAMPAIGN", "start_time": x.midnight(first, offset), "end_time": end}


def _queries(
    campaigns: Mapping[str, Sequence[str]], start: date, end: date, days: int, offset: timedelta
) -> Iterator[tuple[date, dict[str, str]]]:
    """The parameters of each request with its first day."""
    for first, last in windows(start, end, days):
        for placement, ids in campaigns.items():
            for at in range(0, len(ids), IDS_A_REQUEST):
                for groups in GROUPS:
                    yield (
                        first,
                        {
                            "entity": "CAMPAIGN",
                            "entity_ids": ",".join(ids[at : at + IDS_A_REQUEST]),
                            "start_time": x.midnight(first, offset),
                            "end_time": x.midnight(last + _DAY, offset),
                            "granularity": "DAY",
                            "placement": placement,
                            "metric_groups": groups,
                        },
                    )


Key = tuple[str, str, str]


def _at(series: Json, index: int) -> Json:
    """One day of a metric: of a series, or of each series of an object of them."""
    if isinstance(series, Mapping):
        whole = {name: _at(one, index) for name, one in series.items()}
        return whole if any(one is not None for one in whole.values()) else None
    return series[index] if isinstance(series, list) and index < len(series) else None


def _length(metrics: Mapping[str, Json]) -> int:
    series = [one for value in metrics.values() for one in (value.values() if isinstance(value, Mapping) else [value])]
    return max((len(one) for one in series if isinstance(one, list)), default=0)


def _collect(found: dict[Key, dict[str, Json]], body: Json, first: date, placement: str) -> None:
    """Adds the days of one answer; a metric without a figure is left out."""
    for campaign in rows(body, "/data", "report"):
        id_ = ident(campaign, "/id", "report")
        for part in rows(campaign, "/id_data", "report"):
            metrics = need(part, "/metrics", "report")
            if not isinstance(metrics, Mapping) or _length(metrics) > JOB_DAYS:
                raise ProviderUnreadable("X: the metrics of the report are no days.")
            for index in range(_length(metrics)):
                told = {name: _at(series, index) for name, series in metrics.items()}
                known = {name: value for name, value in told.items() if value is not None}
                if known:
                    day_ = (first + index * _DAY).isoformat()
                    row = {"date": day_, "campaign_id": id_, "placement": placement}
                    found.setdefault((day_, id_, placement), row).update(known)


def reported(native: Iterable[Mapping[str, Json]]) -> Days:
    """Each day and its figures. X leaves out what there was none of: a sum is of what was told, never 0 for none."""
    sums: dict[date, dict[str, Json]] = {}
    for day_, figures in days(_COUNTED, native, "/date"):
        if day_ not in sums:
            sums[day_] = {**figures, "date": day_}
            continue
        known = sums[day_]
        for name, count in figures.items():
            if count is not None:
                had = known[name]
                known[name] = count if had is None else had + count
    return days(_SUMS, sums.values(), "", itemgetter("date"))


def _coverage(
    account: Account,
    days: DateRange,
    now: datetime,
    missing: Sequence[DateRange] = (),
    notes: Sequence[str] = (),
) -> Coverage:
    today = now.astimezone(zone(timezone_of(account))).date()
    restated = today - timedelta(days=RESTATED_DAYS)
    provisional = max(days.start, restated) if days.end >= restated else None
    said = [*(metric.note for metric in METRICS if metric.note), *notes]
    switched = account.extras.get("timezoneSwitchAt", "")[:10]
    if switched and days.start.isoformat() <= switched <= days.end.isoformat():
        said.append(f"The account changed its time zone at {switched}: that day has a gap.")
    return Coverage(days.start, days.end, account.timezone, not missing, provisional, tuple(missing), said)


def _insights(found: Mapping[Key, Mapping[str, Json]], coverage: Coverage) -> Insights:
    native = [found[key] for key in sorted(found)]
    return Insights.of(reported(native), coverage, NETWORK.missing_day, native)


@frozen
class _Job:
    id: str
    status: str
    days: DateRange
    placement: str
    url: str


def _begun(account: Account, query: Mapping[str, str]) -> Flow[str]:
    # It changes nothing in the account, but an account has 100 at a time: never asked for twice.
    path = "/stats/jobs/accounts/{account}"
    response = yield from ask(NETWORK, x.call("POST", path, query, nature="read_once", account=account.native_id))
    return ident(response.body, "/data/id_str", "report")


def _jobs(account: Account, ids: Sequence[str], offset: timedelta) -> Flow[list[_Job]]:
    response = yield from ask(NETWORK, x.job_states(account, ",".join(ids)))
    found = {ident(one, "/id_str", "report"): one for one in rows(response.body, "/data")}
    if any(id_ not in found for id_ in ids):
        raise ProviderNotFound("X does not know the report any more; ask for the days again.")
    jobs = []
    for id_ in ids:
        one = found[id_]
        first, end = (x.day_of(text(one, at), offset) for at in ("/start_time", "/end_time"))
        if not first < end:
            raise ProviderUnreadable("X: the report ends before it begins.")
        status, placement, url = (text(one, at) or "" for at in ("/status", "/placement", "/url"))
        jobs.append(_Job(id_, status, DateRange(first, end - _DAY), placement, url))
    return jobs


def _file(job: _Job) -> Flow[Json]:
    """The JSON of a finished report. It lies on a host that gets no credentials."""
    address = urlsplit(job.url)
    if address.scheme != "https" or address.netloc != x.DOWNLOAD_HOST:
        raise ProviderUnreadable(f"X: a finished report lies on another host than {x.DOWNLOAD_HOST}.")
    return (yield from downloaded(job.url))


def _resumed(account: Account, start: date, end: date, job: str, now: datetime) -> Flow[Insights]:
    jobs = yield from _jobs(account, separate(job), x.offset_of(account, now))
    unfinished = next((one for one in jobs if one.status in UNFINISHED), None)
    if unfinished is not None:
        return Insights.waiting(start, end, account.timezone, Pending(job, unfinished.status, POLL))
    failed = [one for one in jobs if one.status != SUCCESS]
    if len(failed) == len(jobs):
        raise ProviderError(f"X made no report ({failed[0].status}).", native=NativeError(failed[0].status))
    found: dict[Key, dict[str, Json]] = {}
    lost = {one.days: None for one in failed}  # a part of a sum is no sum
    for one in jobs:
        if one.days not in lost:
            _collect(found, (yield from _file(one)), one.days.start, one.placement)
    first, last = min(one.days.start for one in jobs), max(one.days.end for one in jobs)
    if not start <= first <= last <= end:  # resumed without its dates: the reports name theirs
        start, end = first, last
    notes = [f"The report of {days.start} to {days.end} failed." for days in lost]
    return _insights(found, _coverage(account, DateRange(start, end), now, tuple(lost), notes))


def insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Days of the account from the figures of its campaigns, deleted ones too.

    They are asked for per campaign, placement and group of metrics. A few days of a few campaigns are answered at once;
    more are reports, made one job each and downloaded as compressed files.
    """
    if job is not None:
        return (yield from _resumed(account, start, end, job, now))
    offset = x.offset_of(account, now)
    campaigns = yield from _campaigns(account, start, offset, now)
    if campaigns is None:  # Ads API, analytics: figures are those of campaigns, deleted and paused ones included
        return Insights.without_campaigns(_coverage(account, DateRange(start, end), now))
    at_once = list(_queries(campaigns, start, end, SYNC_DAYS, offset))
    if not at_once or ((end - start).days < SYNC_DAYS and len(at_once) <= SYNC_REQUESTS):
        found: dict[Key, dict[str, Json]] = {}
        for first, query in at_once:
            request = x.call("GET", "/stats/accounts/{account}", query, account=account.native_id)
            answer = yield from ask(NETWORK, request)
            _collect(found, answer.body, first, query["placement"])
        return _insights(found, _coverage(account, DateRange(start, end), now))
    reports = list(_queries(campaigns, start, end, JOB_DAYS, offset))
    if len(reports) > JOBS_AT_ONCE:
        message = (
            f"X makes at most {JOBS_AT_ONCE} reports at a time, and these days need {len(reports)}; ask for fewer."
        )
        raise refused("startDate", "too_many_reports", message)
    ids = []
    for _, query in reports:
        ids.append((yield from _begun(account, query)))
    return Insights.waiting(start, end, account.timezone, Pending(joint(ids), UNFINISHED[0], POLL))


# -- catalogs -----------------------------------------------------------------------------------------------------


def catalog(account: Account, resource: str, query: Query) -> Flow[CatalogPage]:
    """One page of a catalog."""
    return (yield from catalogs.catalog(NETWORK, account, resource, query))


def sign(request: Request, credentials: Credentials, app: App, now: int, nonce: str) -> Request:
    """The OAuth 1.0a signature of the request, by the app and the user's token."""
    if not trusted(NETWORK, request):
        return request
    secret = credentials.extras.get(TOKEN_SECRET, "")
    return x.authorized(request, app, now, nonce, credentials.access_token, secret)
