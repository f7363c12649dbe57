"""Analytics at once and by report jobs."""

import base64
import csv
import hashlib
import io
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any

from attrs import frozen

from adsunify.sandbox.framework import (
    Account,
    Answer,
    Check,
    Entity,
    Problem,
    Request,
    World,
    choice,
    listing,
    nullable,
    record,
    text,
    write_json,
)
from adsunify.sandbox.networks.pinterest.answers import DIGITS, account_of, asked, several
from adsunify.sandbox.networks.pinterest.columns import SYNC, in_jobs
from adsunify.sandbox.networks.pinterest.figures import day_of, delivering, drawn, total, with_derived
from adsunify.sandbox.networks.pinterest.tables import STORAGE_HOST

LINK_SECONDS, REPORT_SECONDS = 300, 3600
# Level: the column of its id, and the one of its name.
LEVELS: Mapping[str, tuple[str, str]] = {
    "account": ("AD_ACCOUNT_ID", "ADVERTISER_ID"),
    "campaign": ("CAMPAIGN_ID", "CAMPAIGN_NAME"),
    "ad_group": ("AD_GROUP_ID", "AD_GROUP_NAME"),
    "ad": ("AD_ID", "AD_NAME"),
}
JOB_LEVELS = {"ADVERTISER": "account", "CAMPAIGN": "campaign", "AD_GROUP": "ad_group", "PIN_PROMOTION": "ad"}
_ABOVE = {"campaign": "campaign_id", "ad_group": "ad_group_id", "ad": "id"}
_WINDOW = ("0", "1", "7", "14", "30", "60")
_ZONES = choice("PINTEREST_TIME_ZONE", "AD_ACCOUNT_TIME_ZONE")


def _day(value: Any, where: str) -> date:
    try:
        return date.fromisoformat(text(10, 10, r"\d{4}-\d{2}-\d{2}")(value, where))
    except ValueError as error:
        raise Problem("value", where, "must be a date YYYY-MM-DD", value) from error


def _granularity(value: Any, where: str) -> str:
    return str(choice("TOTAL", "DAY", "WEEK", "MONTH")(value, f"{where} (HOUR is not simulated)"))


def _columns(value: Any, where: str) -> list[str]:
    columns = str(text()(value, where)).split(",")
    for column in columns:
        choice(*SYNC)(column, where)
    return columns


def _job_column(value: Any, where: str) -> str:
    if not in_jobs(text()(value, where)):
        raise Problem("value", where, "is not a column of a report", value)
    return str(value)


_ASKED: Mapping[str, Check] = {
    "start_date": _day, "end_date": _day, "granularity": _granularity, "columns": _columns,
}  # fmt: skip
_WINDOWS: Mapping[str, Check] = {  # the figures do not depend on these
    **dict.fromkeys(("click_window_days", "engagement_window_days", "view_window_days"), choice(*_WINDOW)),
    "conversion_report_time": choice("TIME_OF_AD_ACTION", "TIME_OF_CONVERSION"),
}
_IDS = several(DIGITS)
# Kind of the call: required and optional id parameters.
_CALLS: Mapping[str, tuple[Mapping[str, Check], Mapping[str, Check]]] = {
    "account": ({}, {}),
    "campaign": ({"campaign_ids": _IDS}, {"aggregate_report_rows": choice("false")}),
    "ad_group": ({"ad_group_ids": _IDS}, {"aggregate_report_rows": choice("false")}),
    "ad": ({}, {"ad_ids": _IDS, "pin_ids": _IDS, "campaign_ids": _IDS}),
}
_KINDS = {"": "account", "campaigns/": "campaign", "ad_groups/": "ad_group", "ads/": "ad"}

_MANY_IDS = listing(DIGITS, 1, 500)
_JOB = record(
    {
        "start_date": _day,
        "end_date": _day,
        "granularity": _granularity,
        "level": choice(*JOB_LEVELS),
        "columns": listing(_job_column, 1),
    },
    {
        "report_format": nullable(choice("JSON", "CSV")),
        "primary_sort": nullable(choice("BY_ID", "BY_DATE")),
        "reporting_timezone": nullable(_ZONES),
        "campaign_ids": nullable(_MANY_IDS),
        "ad_group_ids": nullable(_MANY_IDS),
        "ad_ids": nullable(_MANY_IDS),
        **{
            name: nullable(choice(*map(int, _WINDOW)))
            for name in ("click_window_days", "engagement_window_days", "view_window_days")
        },
        "conversion_report_time": nullable(choice("TIME_OF_AD_ACTION", "TIME_OF_CONVERSION")),
        "attribution_types": nullable(listing(choice("INDIVIDUAL", "HOUSEHOLD"))),
    },
)


@frozen
class Wanted:
    """What a report is to hold; `only`: member of an ad, and the ids it must be of."""

    start: date
    end: date
    granularity: str
    level: str
    columns: tuple[str, ...]
    zone: str
    only: tuple[tuple[str, tuple[str, ...]], ...] = ()


def analytics(request: Request) -> Answer:
    """GET .../analytics, .../campaigns/analytics, .../ad_groups/analytics, .../ads/analytics: rows, no envelope."""
    level, account = _KINDS[request.slots["of"]], account_of(request)
    required, optional = _CALLS[level]
    given = asked(request, {**_ASKED, **required}, **optional, **_WINDOWS, reporting_timezone=_ZONES)
    only = {_ABOVE[name.removesuffix("s").removesuffix("_id")]: given[name] for name in (
        "campaign_ids", "ad_group_ids", "ad_ids") if name in given}  # fmt: skip
    if "pin_ids" in given:
        only["pin_id"] = given["pin_ids"]
    if level == "ad" and not ("ad_ids" in given) ^ ({"campaign_ids", "pin_ids"} <= given.keys()):
        raise Problem("required", "/ad_ids", "either ad_ids or both campaign_ids and pin_ids")
    _check_range(request, given, 90, 91)
    wanted = Wanted(
        given["start_date"], given["end_date"], given["granularity"], level, tuple(given["columns"]),
        _zone(account, given), tuple((name, tuple(ids)) for name, ids in only.items()),
    )  # fmt: skip
    return Answer(200, [row for _, row in _rows(request.world, account, wanted)])


def create_job(request: Request) -> Answer:
    """POST .../reports: a job. Asking again only makes another one."""
    request.query()
    account = account_of(request)
    given = {name: value for name, value in request.json(_JOB).items() if value is not None}
    _check_range(request, given, 914, 186)
    only = [(_ABOVE[kind], tuple(given[f"{kind}_ids"])) for kind in _ABOVE if f"{kind}_ids" in given]
    wanted = Wanted(
        given["start_date"], given["end_date"], given["granularity"], JOB_LEVELS[given["level"]],
        tuple(given["columns"]), _zone(account, given), tuple(only),
    )  # fmt: skip
    how = {"format": given.get("report_format", "JSON"), "sort": given.get("primary_sort", "BY_ID")}
    number = request.world.allocate()
    # of characters that have to be encoded in a query, as the documentation warns
    token = f"{base64.b64encode(hashlib.sha256(number.encode()).digest()).decode()}+/={number}"
    request.world.create("report", account.id, {"wanted": wanted, "looks": 0, **how}, id=token, logged=False)
    return Answer(200, {"report_status": "IN_PROGRESS", "token": token, "message": None})


def look(request: Request) -> Answer:
    """GET .../reports?token=: IN_PROGRESS at the first look, then FINISHED with a fresh link, EXPIRED after an hour."""
    account = account_of(request)
    job = request.world.find("report", asked(request, {"token": text()})["token"], account.id)
    status, url, size = "DOES_NOT_EXIST", None, None
    if job is not None:
        job = request.world.put(job, {**job.data, "looks": job.data["looks"] + 1}, logged=False)
        if request.told("error_in_200"):
            status = "FAILED"
        elif (request.now - job.created_at).total_seconds() > REPORT_SECONDS:
            status = "EXPIRED"
        elif job.data["looks"] < 2:
            status = "IN_PROGRESS"
        else:
            status, url = "FINISHED", _link(job, int(request.now.timestamp()) + LINK_SECONDS)
            size = len(_content(request.world, account, job))
    return Answer(200, {"report_status": status, "url": url, "size": size})


def download(request: Request) -> Answer:
    """The signed link at the storage host: in time, unaltered, and without credentials."""
    if "Authorization" in request.headers:
        return _denied(400, "InvalidArgument", "Only one auth mechanism allowed")
    given = dict(request.pairs)
    name, expires = request.slots["report"], given.get("X-Amz-Expires", "")
    job = next((job for job in request.world.entities("report") if _name(job) == name), None)
    if job is None or given != _signature(name, expires):
        return _denied(403, "SignatureDoesNotMatch", "The request signature does not match")
    if int(expires) <= request.now.timestamp():
        return _denied(403, "AccessDenied", "Request has expired")
    content = _content(request.world, request.world.accounts[job.account], job)
    return Answer(200, content, media_type="text/csv" if job.data["format"] == "CSV" else "application/octet-stream")


def ready(request: Request) -> Answer:
    """GET /resources/metrics_ready_state: whether a UTC day is final (plain figures after a day, others after two)."""
    age = (day_of(request.now.timestamp(), "UTC") - asked(request, {"date": _day})["date"]).days
    return Answer(200, {"conversion_metrics_ready": age > 2, "non_conversion_metrics_ready": age > 1})


def _zone(account: Account, given: Mapping[str, Any]) -> str:
    if given.get("reporting_timezone", "PINTEREST_TIME_ZONE") == "PINTEREST_TIME_ZONE":
        return "UTC"
    if not account.extra["zone_reports"]:
        raise Problem("value", "/reporting_timezone", "is not available to this ad account")
    return account.timezone


def _check_range(request: Request, given: Mapping[str, Any], back: int, longest: int) -> None:
    """Counted in UTC days, whatever the zone of the report."""
    start, end = given["start_date"], given["end_date"]
    if start > end:
        raise Problem("value", "/end_date", "must not be before start_date")
    if start < day_of(request.now.timestamp(), "UTC") - timedelta(days=back):
        raise Problem("value", "/start_date", f"cannot be more than {back} days back from today")
    if (end - start).days >= longest:
        raise Problem("value", "/end_date", f"must lie within {longest} days from start_date on")


def _rows(world: World, account: Account, wanted: Wanted) -> Iterator[tuple[str, dict[str, Any]]]:
    """Id of the subject and row. No row where every column asked for is 0 or missing."""
    last = min(wanted.end, day_of(world.now.timestamp(), wanted.zone))
    ads = [
        one
        for one in delivering(world, account, wanted.zone)
        if all(_member(one[0], name) in ids for name, ids in wanted.only)
    ]
    for start, period in _periods(wanted, last):
        days = [day for day in period if world.delivers(day)]
        subjects: dict[str, list[dict[str, int]]] = {}
        if wanted.level == "account" and not wanted.only:
            subjects[account.id] = [drawn(account, account.id, day, wanted.zone) for day in days]
        examples: dict[str, Entity] = {}
        for ad, first, final in ads:
            subject = account.id if wanted.level == "account" else _member(ad, _ABOVE[wanted.level])
            examples[subject] = ad
            many = [drawn(account, ad.id, day, wanted.zone) for day in days if first <= day <= final]
            subjects.setdefault(subject, []).extend(many)
        for subject, many in subjects.items():
            figures = with_derived(total(many)) if many else {}
            measured = {name: figures[name] for name in wanted.columns if name in figures}
            if not any(measured.values()):
                continue
            naming = _naming(world, account, wanted.level, examples.get(subject))
            row: dict[str, Any] = {} if start is None else {"DATE": start.isoformat()}
            row |= {LEVELS[wanted.level][0]: subject}
            yield subject, row | {name: naming[name] for name in wanted.columns if name in naming} | measured


def _periods(wanted: Wanted, last: date) -> Iterator[tuple[date | None, list[date]]]:
    """The day a row is dated with (none for TOTAL) and the days in it."""
    days = [wanted.start + timedelta(days=offset) for offset in range((last - wanted.start).days + 1)]
    if wanted.granularity == "TOTAL":
        yield None, days
        return
    found: dict[date, list[date]] = {}
    for day in days:
        back = {"DAY": 0, "WEEK": day.weekday(), "MONTH": day.day - 1}[wanted.granularity]
        found.setdefault(day - timedelta(days=back), []).append(day)
    yield from found.items()


def _member(ad: Entity, name: str) -> str:
    return ad.id if name == "id" else str(ad.data[name])


def _naming(world: World, account: Account, level: str, ad: Entity | None) -> dict[str, Any]:
    """The columns that say what a row is about."""
    made: dict[str, Any] = {"AD_ACCOUNT_ID": account.id, "ADVERTISER_ID": account.id}
    levels = [*LEVELS]
    for kind in levels[1 : levels.index(level) + 1] if ad is not None else ():
        assert ad is not None
        entity = world.find(kind, _member(ad, _ABOVE[kind]))
        assert entity is not None
        identity, name = LEVELS[kind]
        made |= {identity: entity.id, name: entity.data.get("name")}
        if kind == "campaign":
            made |= {"CAMPAIGN_OBJECTIVE_TYPE": entity.data["objective_type"]}
            made |= {"CAMPAIGN_ENTITY_STATUS": entity.data["status"]}
        if kind == "ad":
            made |= {"PIN_PROMOTION_ID": entity.id, "PIN_ID": entity.data["pin_id"]}
    return made


def _content(world: World, account: Account, job: Entity) -> bytes:
    """JSON: an object of lists of rows, by id or by date. CSV: lines, with 0 for what is missing."""
    wanted: Wanted = job.data["wanted"]
    rows = list(_rows(world, account, wanted))
    if job.data["format"] == "CSV":
        out = io.StringIO()
        names = list(dict.fromkeys([*(rows[0][1] if rows else ()), *wanted.columns]))
        writer = csv.DictWriter(out, names, restval="0", lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for _, row in rows)
        return out.getvalue().encode()
    grouped: dict[str, list[dict[str, Any]]] = {}
    for subject, row in rows:
        by_id = job.data["sort"] == "BY_ID" or "DATE" not in row
        grouped.setdefault(subject if by_id else row["DATE"], []).append(row)
    return write_json(grouped).encode()


def _name(job: Entity) -> str:
    return hashlib.sha256(job.id.encode()).hexdigest()[:32]


def _link(job: Entity, expires: int) -> str:
    query = "&".join(f"{name}={value}" for name, value in _signature(_name(job), str(expires)).items())
    return f"https://{STORAGE_HOST}/async_reporting_v3/{_name(job)}/metrics_report.txt?{query}"


def _signature(name: str, expires: str) -> dict[str, str]:
    digest = hashlib.sha256(f"{name} {expires}".encode()).hexdigest()
    return {"X-Amz-Expires": expires, "X-Amz-Signature": digest}


def _denied(status: int, code: str, message: str) -> Answer:
    """Storage answers errors in XML."""
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return Answer(status, body.encode(), media_type="application/xml")
