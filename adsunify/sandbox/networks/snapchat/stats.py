"""Statistics: asked for at once, or as a report whose file lies on another host."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from adsunify.sandbox.framework import Account, Answer, Entity, Problem, Request, choice, text
from adsunify.sandbox.networks.snapchat import figures
from adsunify.sandbox.networks.snapchat.answers import PAGING, absent, account_of, answered, moment, paged, truth
from adsunify.sandbox.networks.snapchat.entities import ABOVE, KINDS
from adsunify.sandbox.networks.snapchat.tables import STORAGE_HOST

_LONGEST = {"DAY": timedelta(days=31), "HOUR": timedelta(days=7)}
_FINAL = timedelta(hours=48)
_RUN = timedelta(seconds=1)  # how long a report takes (chosen)
_REQUIRED = {"granularity": choice("TOTAL", "DAY", "HOUR", "LIFETIME")}
_OPTIONAL = {
    **PAGING,
    "fields": text(),
    "breakdown": choice("campaign", "adsquad", "ad"),
    "start_time": text(),
    "end_time": text(),
    "omit_empty": truth,
    "swipe_up_attribution_window": choice("1_DAY", "7_DAY", "28_DAY"),
    "view_attribution_window": choice("none", "1_HOUR", "3_HOUR", "6_HOUR", "1_DAY", "7_DAY", "28_DAY"),
    "action_report_time": choice("conversion", "impression"),
    "test": truth,
    "async": truth,
    "async_format": choice("json", "csv"),
}


def stats(request: Request) -> Answer:
    """GET /adaccounts/{account}/stats."""
    account = account_of(request)
    wanted = request.query(_REQUIRED, _OPTIONAL)
    asked = _checked(wanted, account)
    if wanted.get("async"):
        whole = {name: value for name, value in wanted.items() if name not in PAGING}
        made = request.world.create("report", account.id, {"wanted": whole}, logged=False)
        return _report(request, made)
    return answered(request, _content(request, account, wanted, asked))


def stats_report(request: Request) -> Answer:
    """GET /adaccounts/{account}/stats_report: how far a report is."""
    account = account_of(request)
    found = request.world.find("report", request.query({"report_run_id": text()})["report_run_id"], account.id)
    if found is None:
        raise absent(request, "report")
    return _report(request, found)


def download(request: Request) -> Answer:
    """The file of a report: the answer that `stats` would have given, kept for 7 days."""
    found = request.world.find("report", request.slots["report"])
    if found is None or request.now - found.created_at > timedelta(days=7) or not _done(request, found):
        return Answer(404, b"<Error><Code>NoSuchKey</Code></Error>", media_type="application/xml")
    if "Authorization" in request.headers:
        return Answer(400, b"<Error><Code>InvalidArgument</Code></Error>", media_type="application/xml")
    account = request.world.accounts[found.account]
    wanted = found.data["wanted"]
    return answered(request, _content(request, account, wanted, _checked(wanted, account)))


def _report(request: Request, report: Entity) -> Answer:
    told = request.told("error_in_200")
    state = "FAILED" if told else "COMPLETED" if _done(request, report) else "RUNNING"
    shown = {"report_run_id": report.id, "async_status": state, "ad_account_id": report.account}
    if state == "COMPLETED":
        shown["result"] = f"https://{STORAGE_HOST}/snap-async-stats/{report.id}.json"
    return answered(request, {
        "async_stats_reports": [{"sub_request_status": "success", "async_stats_report": shown}],
    })  # fmt: skip


def _done(request: Request, report: Entity) -> bool:
    return request.now - report.created_at >= _RUN


def _checked(wanted: Mapping[str, Any], account: Account) -> tuple[datetime, datetime, list[str]]:
    """First and last instant and the fields. Problem `stats` or `window`."""
    granularity, zone = wanted["granularity"], ZoneInfo(account.timezone)
    fields = wanted.get("fields", "spend").split(",")
    known = figures.DAILY + (figures.TOTAL_ONLY if granularity in ("TOTAL", "LIFETIME") else ())
    for name in fields:
        if name not in known:
            raise Problem("stats", "/fields", f"{name!r} is not supported with granularity {granularity}")
        if name != "spend" and "breakdown" not in wanted:
            raise Problem("stats", "/fields", "an ad account without breakdown has only spend")
    if wanted.get("async") and wanted.get("async_format") != "json":
        raise Problem("stats", "/async_format", "json is required")  # csv: not needed by the documentation
    if granularity == "LIFETIME":
        if "start_time" in wanted or "end_time" in wanted:
            raise Problem("stats", "/start_time", "does not go with LIFETIME")
        return datetime(2024, 1, 1, tzinfo=zone), datetime(2100, 1, 1, tzinfo=zone), fields
    if "start_time" not in wanted or "end_time" not in wanted:
        raise Problem("stats", "/start_time", "start_time and end_time are required")
    start, end = (_bound(wanted[name], f"/{name}", granularity, zone) for name in ("start_time", "end_time"))
    if end <= start:
        raise Problem("stats", "/end_time", "must be after start_time")
    # between instants, not by the wall clock: a window with the autumn change is an hour longer
    if granularity in _LONGEST and end.astimezone(UTC) - start.astimezone(UTC) > _LONGEST[granularity]:
        raise Problem("window", "/end_time", f"at most {_LONGEST[granularity].days} days with {granularity}")
    return start, end, fields


def _bound(value: str, where: str, granularity: str, zone: ZoneInfo) -> datetime:
    """A bound is a full hour, and for days local midnight of the account with the offset it has there."""
    given = moment(value, where)
    local = given.astimezone(zone)
    if (given.minute, given.second, given.microsecond) != (0, 0, 0):
        raise Problem("stats", where, "must be a full hour")
    if granularity == "DAY" and (local.hour, local.utcoffset()) != (0, given.utcoffset()):
        raise Problem("stats", where, "must be midnight of the ad account's time zone, with its offset")
    return local


def _content(
    request: Request, account: Account, wanted: Mapping[str, Any], asked: tuple[datetime, datetime, list[str]]
) -> dict[str, Any]:
    start, end, _ = asked
    delivering = figures.delivering(request.world, account)
    head: dict[str, Any] = {
        "id": account.id,
        "type": "AD_ACCOUNT",
        "granularity": wanted["granularity"],
        "swipe_up_attribution_window": wanted.get("swipe_up_attribution_window", "28_DAY"),
        "view_attribution_window": wanted.get("view_attribution_window", "1_DAY"),
        "start_time": start.isoformat(timespec="milliseconds"),
        "end_time": end.isoformat(timespec="milliseconds"),
        "finalized_data_end_time": _finalized(request, account),
    }
    paging: dict[str, str] = {}
    words = ("timeseries_stats", "timeseries_stat")
    if wanted["granularity"] in ("TOTAL", "LIFETIME"):
        words = ("total_stats", "total_stat") if wanted["granularity"] == "TOTAL" else ("lifetime_stats",
                                                                                       "lifetime_stat")  # fmt: skip
    if "breakdown" in wanted:
        kind = wanted["breakdown"]
        rows = [{"id": one.id, "kind": one.kind} for one in request.world.entities(KINDS[f"{kind}s"], account.id)]
        page, paging = paged(request, rows, wanted)
        head["breakdown_stats"] = {kind: [
            {"id": row["id"], "type": kind.upper(), **_series(request, account, wanted, asked, [
                one for one in delivering if row["id"] in _line(request, one[0])])}
            for row in page
        ]}  # fmt: skip
    else:
        head |= _series(request, account, wanted, asked, delivering)
    shown = {words[0]: [{"sub_request_status": "success", words[1]: head}]}
    return {**shown, "paging": paging} if paging else shown


def _line(request: Request, ad: Entity) -> tuple[str, ...]:
    """The ids of an ad and of what is above it."""
    line, kind, parent = [ad.id], ABOVE.get(ad.kind), ad.parent
    while kind is not None and parent is not None:
        line.append(parent)
        found = request.world.find(kind, parent)
        assert found is not None
        kind, parent = ABOVE.get(kind), found.parent
    return tuple(line)


def _series(
    request: Request, account: Account, wanted: Mapping[str, Any], asked: tuple[datetime, datetime, list[str]],
    ads: list[tuple[Entity, datetime, datetime]],
) -> dict[str, Any]:  # fmt: skip
    start, end, fields = asked
    granularity, now = wanted["granularity"], request.now
    if granularity in ("TOTAL", "LIFETIME"):
        days = [
            _figures(request, account, ads, a, b) for a, b in _spans("DAY", max(start, _oldest(account)), min(end, now))
        ]
        return {"stats": _named(figures.total(days), fields)}
    rows = []
    for begins, ends in _spans(granularity, start, end):
        if begins > now:
            break
        found = _figures(request, account, ads, begins, ends)
        if any(found.values()) or not wanted.get("omit_empty", True):
            rows.append({
                "start_time": begins.isoformat(timespec="milliseconds"),
                "end_time": ends.isoformat(timespec="milliseconds"),
                "stats": _named(found, fields),
            })  # fmt: skip
    return {"timeseries": rows}


def _oldest(account: Account) -> datetime:
    return datetime(2024, 2, 1, tzinfo=ZoneInfo(account.timezone))


def _named(found: Mapping[str, int], fields: list[str]) -> dict[str, Any]:
    shown = found.get("impressions", 0)
    reach = {"uniques": shown * 6 // 10, "frequency": 1, "attachment_uniques": 0, "attachment_frequency": 0}
    return {name: found.get(name, reach.get(name, 0)) for name in fields}


def _spans(granularity: str, start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """The days (by the wall clock of the zone) or hours from `start` to `end`."""
    zone = start.tzinfo
    while start < end:
        if granularity == "DAY":
            after = datetime.combine(start.date() + timedelta(days=1), datetime.min.time(), zone)
        else:
            after = (start.astimezone(UTC) + timedelta(hours=1)).astimezone(zone)
        yield start, after
        start = after


def _figures(
    request: Request, account: Account, ads: list[tuple[Entity, datetime, datetime]], begins: datetime, ends: datetime
) -> dict[str, int]:
    unit, day, hour = figures.unit_of(account), begins.date(), begins.hour
    found = []
    for ad, first, last in ads if request.world.delivers(day) else ():
        if first < ends and last > begins:
            whole = figures.drawn(ad.id, day.isoformat(), unit)
            found.append(whole if ends - begins > timedelta(hours=1) else figures.hourly(whole, hour))
    return figures.total(found)


def _finalized(request: Request, account: Account) -> str:
    """The last local midnight whose day before it is 48 hours past."""
    zone = ZoneInfo(account.timezone)
    last: date = (request.now - _FINAL).astimezone(zone).date()
    return datetime.combine(last, datetime.min.time(), zone).isoformat(timespec="milliseconds")
