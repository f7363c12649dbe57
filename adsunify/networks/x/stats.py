"""Daily figures of X: asked for per campaign, placement and group of metrics, and added up per day of the account.

Up to 7 days are answered at once; more are reports, made one job each and downloaded as compressed files.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from operator import itemgetter
from urllib.parse import urlsplit

from attrs import evolve, frozen

from adsunify.errors import InvalidInput, NativeError, ProviderError, ProviderNotFound, ProviderUnreadable, refused
from adsunify.insights import Coverage, DateRange, Days, Insights, Pending
from adsunify.network import Account, timezone_of
from adsunify.reading import ask, pages
from adsunify.reporting import days, inflated
from adsunify.schedule import instant, utc_text, windows, zone
from adsunify.wire import Flow, Json, Request, canonical, ident, loads, need, read, rows, text

from . import native as x
from .tables import METRICS, NETWORK

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


# -- days ---------------------------------------------------------------------------------------------------------


def _offset(account: Account, now: datetime) -> timedelta:
    """X counts all days of a request by the account's offset from UTC of today."""
    return now.astimezone(zone(timezone_of(account))).utcoffset() or timedelta()


def _midnight(day_: date, offset: timedelta) -> str:
    return utc_text(datetime(day_.year, day_.month, day_.day, tzinfo=timezone(offset)))


def _day_of(native: str | None, offset: timedelta) -> date:
    """The day that begins at this native midnight; six hours forgive a change of the clocks since it was asked for."""
    try:
        moment = instant(native or "")
    except InvalidInput:
        raise ProviderUnreadable("X: the report does not say its days.") from None
    return (moment + offset + timedelta(hours=6)).date()


# -- what is asked for --------------------------------------------------------------------------------------------


def _campaigns(account: Account, start: date, offset: timedelta, now: datetime) -> Flow[dict[str, list[str]]]:
    """The campaigns to ask about, by placement: deleted ones too, without those paid in another currency."""
    asked = x.of_account(account, "campaigns", with_deleted="true", count=x.PAGE)
    answers = yield from pages(NETWORK, asked, x.following)
    found = [one for answer in answers for one in rows(answer.body, "/data")]
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
        end = hour if until == last else _midnight(until + _DAY, offset)
        yield {"entity": "CAMPAIGN", "start_time": _midnight(first, offset), "end_time": end}


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
                            "start_time": _midnight(first, offset),
                            "end_time": _midnight(last + _DAY, offset),
                            "granularity": "DAY",
                            "placement": placement,
                            "metric_groups": groups,
                        },
                    )


# -- what is answered ---------------------------------------------------------------------------------------------

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
        known = sums.setdefault(day_, {"date": day_})
        for name, count in figures.items():
            if count is not None:
                known[name] = known.get(name, 0) + count
    return days(_SUMS, sums.values(), "", itemgetter("date"))


def _insights(
    account: Account,
    days: DateRange,
    found: Mapping[Key, Mapping[str, Json]],
    now: datetime,
    missing: Sequence[DateRange] = (),
    notes: Sequence[str] = (),
) -> Insights:
    today = now.astimezone(zone(timezone_of(account))).date()
    restated = today - timedelta(days=RESTATED_DAYS)
    provisional = max(days.start, restated) if days.end >= restated else None
    said = [*(metric.note for metric in METRICS if metric.note), *notes]
    switched = account.extras.get("timezoneSwitchAt", "")[:10]
    if switched and days.start.isoformat() <= switched <= days.end.isoformat():
        said.append(f"The account changed its time zone at {switched}: that day has a gap.")
    coverage = Coverage(days.start, days.end, account.timezone, not missing, provisional, tuple(missing), said)
    native = [found[key] for key in sorted(found)]
    return Insights.of(reported(native), coverage, native)


# -- jobs ---------------------------------------------------------------------------------------------------------


@frozen
class _Job:
    id: str
    status: str
    days: DateRange
    placement: str
    url: str


def _joint(ids: Sequence[str]) -> str:
    """One job for all reports of a range."""
    return ids[0] if len(ids) == 1 else base64.urlsafe_b64encode(canonical(list(ids))).rstrip(b"=").decode("ascii")


def _single(job: str) -> list[str]:
    try:
        ids = loads(base64.urlsafe_b64decode(job + "=" * (-len(job) % 4)))
    except ValueError:
        return [job]
    return ids if isinstance(ids, list) and ids and all(isinstance(one, str) and one for one in ids) else [job]


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
        first, end = (_day_of(text(one, at), offset) for at in ("/start_time", "/end_time"))
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
    response = yield Request("GET", job.url, answer="bytes", signed=False)
    if not response.ok:
        raise ProviderUnreadable(f"X: the report could not be fetched ({response.status}).")
    content = response.body
    if isinstance(content, bytes):
        try:
            content = loads(inflated(content))
        except ValueError:
            raise ProviderUnreadable("X: the report is not JSON.") from None
    return content


def _resumed(account: Account, start: date, end: date, job: str, now: datetime) -> Flow[Insights]:
    jobs = yield from _jobs(account, _single(job), _offset(account, now))
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
    return _insights(account, DateRange(start, end), found, now, tuple(lost), notes)


# -- insights -----------------------------------------------------------------------------------------------------


def insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Days of the account from the figures of its campaigns, deleted ones too."""
    if job is not None:
        return (yield from _resumed(account, start, end, job, now))
    offset = _offset(account, now)
    campaigns = yield from _campaigns(account, start, offset, now)
    at_once = list(_queries(campaigns, start, end, SYNC_DAYS, offset))
    if not at_once or ((end - start).days < SYNC_DAYS and len(at_once) <= SYNC_REQUESTS):
        found: dict[Key, dict[str, Json]] = {}
        for first, query in at_once:
            request = x.call("GET", "/stats/accounts/{account}", query, account=account.native_id)
            answer = yield from ask(NETWORK, request)
            _collect(found, answer.body, first, query["placement"])
        return _insights(account, DateRange(start, end), found, now)
    reports = list(_queries(campaigns, start, end, JOB_DAYS, offset))
    if len(reports) > JOBS_AT_ONCE:
        message = (
            f"X makes at most {JOBS_AT_ONCE} reports at a time, and these days need {len(reports)}; ask for fewer."
        )
        raise refused("startDate", "too_many_reports", message)
    ids = []
    for _, query in reports:
        ids.append((yield from _begun(account, query)))
    return Insights.waiting(start, end, account.timezone, Pending(_joint(ids), UNFINISHED[0], POLL))
