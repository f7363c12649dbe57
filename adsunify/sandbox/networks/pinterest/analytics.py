"""Analytics, synchronous and by report jobs."""

import base64
import csv
import hashlib
import io
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any

from attrs import frozen

from adsunify.sandbox.checks import Check, array, choice, nullable, record, text
from adsunify.sandbox.figures import divide_figures, sum_figures
from adsunify.sandbox.instants import date_check, iterate_days
from adsunify.sandbox.links import build_signed_query, check_signed_link
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.pinterest.answers import DIGITS_CHECK, parse_query, repeated_values, require_account
from adsunify.sandbox.networks.pinterest.columns import SYNC_COLUMNS, is_job_column
from adsunify.sandbox.networks.pinterest.figures import (
    add_derived_metrics,
    estimate_reach,
    generate_daily_figures,
    get_local_date,
    list_delivering_ads,
)
from adsunify.sandbox.networks.pinterest.tables import STORAGE_HOST
from adsunify.sandbox.parsing import InvalidRequest, fill_keys, serialize_json
from adsunify.sandbox.world import Account, StoredEntity, World

LINK_SECONDS, REPORT_SECONDS = 300, 3600
# By level: the column with the id, and the column with the name.
LEVEL_COLUMNS: Mapping[str, tuple[str, str]] = {
    "account": ("AD_ACCOUNT_ID", "ADVERTISER_ID"),
    "campaign": ("CAMPAIGN_ID", "CAMPAIGN_NAME"),
    "ad_group": ("AD_GROUP_ID", "AD_GROUP_NAME"),
    "ad": ("AD_ID", "AD_NAME"),
}
LEVEL_BY_JOB_LEVEL = {"ADVERTISER": "account", "CAMPAIGN": "campaign", "AD_GROUP": "ad_group", "PIN_PROMOTION": "ad"}
_PARENT_ID_MEMBERS = {"campaign": "campaign_id", "ad_group": "ad_group_id", "ad": "id"}
_WINDOW_DAYS = ("0", "1", "7", "14", "30", "60")
_TIMEZONE_CHECK = choice("PINTEREST_TIME_ZONE", "AD_ACCOUNT_TIME_ZONE")


_check_date = date_check(pattern=r"\d{4}-\d{2}-\d{2}")


def _check_granularity(value: Any, where: str) -> str:
    return str(choice("TOTAL", "DAY", "WEEK", "MONTH")(value, f"{where} (HOUR is not simulated)"))


def _check_columns(value: Any, where: str) -> list[str]:
    columns = str(text()(value, where)).split(",")
    for column in columns:
        choice(*SYNC_COLUMNS)(column, where)
    return columns


def _check_job_column(value: Any, where: str) -> str:
    if not is_job_column(text()(value, where)):
        raise InvalidRequest("value", where, "is not a column of a report", value)
    return str(value)


_REPORT_CHECKS: Mapping[str, Check] = {
    "start_date": _check_date,
    "end_date": _check_date,
    "granularity": _check_granularity,
    "columns": _check_columns,
}
_WINDOW_CHECKS: Mapping[str, Check] = {  # these parameters do not change the figures
    **dict.fromkeys(("click_window_days", "engagement_window_days", "view_window_days"), choice(*_WINDOW_DAYS)),
    "conversion_report_time": choice("TIME_OF_AD_ACTION", "TIME_OF_CONVERSION"),
}
_IDS_CHECK = repeated_values(DIGITS_CHECK)
# By kind of call: the required and optional id parameters.
_CHECKS_BY_LEVEL: Mapping[str, tuple[Mapping[str, Check], Mapping[str, Check]]] = {
    "account": ({}, {}),
    "campaign": ({"campaign_ids": _IDS_CHECK}, {"aggregate_report_rows": choice("false")}),
    "ad_group": ({"ad_group_ids": _IDS_CHECK}, {"aggregate_report_rows": choice("false")}),
    "ad": ({}, {"ad_ids": _IDS_CHECK, "pin_ids": _IDS_CHECK, "campaign_ids": _IDS_CHECK}),
}
_LEVEL_BY_PATH = {"": "account", "campaigns/": "campaign", "ad_groups/": "ad_group", "ads/": "ad"}

_JOB_IDS_CHECK = array(DIGITS_CHECK, 1, 500)
_JOB_CHECK = record(
    {
        "start_date": _check_date,
        "end_date": _check_date,
        "granularity": _check_granularity,
        "level": choice(*LEVEL_BY_JOB_LEVEL),
        "columns": array(_check_job_column, 1),
    },
    {
        "report_format": nullable(choice("JSON", "CSV")),
        "primary_sort": nullable(choice("BY_ID", "BY_DATE")),
        "reporting_timezone": nullable(_TIMEZONE_CHECK),
        **fill_keys(nullable(_JOB_IDS_CHECK), "campaign_ids ad_group_ids ad_ids"),
        **{
            name: nullable(choice(*map(int, _WINDOW_DAYS)))
            for name in ("click_window_days", "engagement_window_days", "view_window_days")
        },
        "conversion_report_time": nullable(choice("TIME_OF_AD_ACTION", "TIME_OF_CONVERSION")),
        "attribution_types": nullable(array(choice("INDIVIDUAL", "HOUSEHOLD"))),
    },
)


@frozen
class ReportRequest:
    """The content of a report; `only`: members of an ad, and their allowed ids."""

    start: date
    end: date
    granularity: str
    level: str
    columns: tuple[str, ...]
    zone: str
    only: tuple[tuple[str, tuple[str, ...]], ...] = ()


def get_analytics(request: Request) -> Response:
    """GET .../analytics, .../campaigns/analytics, .../ad_groups/analytics, .../ads/analytics: rows, no envelope."""
    level, account = _LEVEL_BY_PATH[request.path_parameters["of"]], require_account(request)
    required, optional = _CHECKS_BY_LEVEL[level]
    query = parse_query(
        request, {**_REPORT_CHECKS, **required}, **optional, **_WINDOW_CHECKS, reporting_timezone=_TIMEZONE_CHECK
    )
    only = {
        _PARENT_ID_MEMBERS[name.removesuffix("s").removesuffix("_id")]: query[name]
        for name in ("campaign_ids", "ad_group_ids", "ad_ids")
        if name in query
    }
    if "pin_ids" in query:
        only["pin_id"] = query["pin_ids"]
    if level == "ad" and not ("ad_ids" in query) ^ ({"campaign_ids", "pin_ids"} <= query.keys()):
        raise InvalidRequest("required", "/ad_ids", "either ad_ids or both campaign_ids and pin_ids")
    _check_date_range(request, query, 90, 91)
    report = ReportRequest(
        query["start_date"],
        query["end_date"],
        query["granularity"],
        level,
        tuple(query["columns"]),
        _get_report_timezone(account, query),
        tuple((name, tuple(ids)) for name, ids in only.items()),
    )
    return Response(200, [row for _, row in _build_rows(request.world, account, report)])


def create_report_job(request: Request) -> Response:
    """POST .../reports: creates a job. The same request creates another job."""
    request.parse_query()
    account = require_account(request)
    body = {name: value for name, value in request.parse_json(_JOB_CHECK).items() if value is not None}
    _check_date_range(request, body, 914, 186)
    only = [
        (_PARENT_ID_MEMBERS[kind], tuple(body[f"{kind}_ids"])) for kind in _PARENT_ID_MEMBERS if f"{kind}_ids" in body
    ]
    report = ReportRequest(
        body["start_date"],
        body["end_date"],
        body["granularity"],
        LEVEL_BY_JOB_LEVEL[body["level"]],
        tuple(body["columns"]),
        _get_report_timezone(account, body),
        tuple(only),
    )
    options = {"format": body.get("report_format", "JSON"), "sort": body.get("primary_sort", "BY_ID")}
    number = request.world.allocate_id()
    # the token has characters that must be encoded in a query, as the documentation warns
    token = f"{base64.b64encode(hashlib.sha256(number.encode()).digest()).decode()}+/={number}"
    request.world.create("report", account.id, {"wanted": report, "looks": 0, **options}, id=token, logged=False)
    return Response(200, {"report_status": "IN_PROGRESS", "token": token, "message": None})


def get_report_job(request: Request) -> Response:
    """GET .../reports?token=: IN_PROGRESS at the first poll, then FINISHED with a fresh link, EXPIRED after an hour."""
    account = require_account(request)
    job = request.world.find("report", parse_query(request, {"token": text()})["token"], account.id)
    status, url, size = "DOES_NOT_EXIST", None, None
    if job is not None:
        job = request.world.replace(job, {**job.data, "looks": job.data["looks"] + 1}, logged=False)
        if request.get_fault("error_in_200"):
            status = "FAILED"
        elif (request.now - job.created_at).total_seconds() > REPORT_SECONDS:
            status = "EXPIRED"
        elif job.data["looks"] < 2:
            status = "IN_PROGRESS"
        else:
            status, url = "FINISHED", _build_link(job, int(request.now.timestamp()) + LINK_SECONDS)
            size = len(_encode_report(request.world, account, job))
    return Response(200, {"report_status": status, "url": url, "size": size})


def download_report(request: Request) -> Response:
    """The signed link of the storage host: valid for a time, unaltered, and without credentials."""
    name = request.path_parameters["report"]
    job = next((job for job in request.world.list_entities("report") if _get_file_name(job) == name), None)
    check_signed_link(request, name if job is not None else None)
    assert job is not None
    content = _encode_report(request.world, request.world.accounts[job.account], job)
    return Response(200, content, media_type="text/csv" if job.data["format"] == "CSV" else "application/octet-stream")


def get_metrics_readiness(request: Request) -> Response:
    """GET /resources/metrics_ready_state: whether a UTC day is final (after one day or two)."""
    age = (get_local_date(request.now.timestamp(), "UTC") - parse_query(request, {"date": _check_date})["date"]).days
    return Response(200, {"conversion_metrics_ready": age > 2, "non_conversion_metrics_ready": age > 1})


def _get_report_timezone(account: Account, parameters: Mapping[str, Any]) -> str:
    if parameters.get("reporting_timezone", "PINTEREST_TIME_ZONE") == "PINTEREST_TIME_ZONE":
        return "UTC"
    if not account.extra["zone_reports"]:
        raise InvalidRequest("value", "/reporting_timezone", "is not available to this ad account")
    return account.timezone


def _check_date_range(request: Request, parameters: Mapping[str, Any], back: int, longest: int) -> None:
    """Check the range in UTC days, whatever the time zone of the report."""
    start, end = parameters["start_date"], parameters["end_date"]
    if start > end:
        raise InvalidRequest("value", "/end_date", "must not be before start_date")
    if start < get_local_date(request.now.timestamp(), "UTC") - timedelta(days=back):
        raise InvalidRequest("value", "/start_date", f"cannot be more than {back} days back from today")
    if (end - start).days >= longest:
        raise InvalidRequest("value", "/end_date", f"must lie within {longest} days from start_date on")


def _build_rows(world: World, account: Account, report: ReportRequest) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row with the id of its subject. There is no row if every requested column is 0 or missing."""
    last = min(report.end, get_local_date(world.now.timestamp(), report.zone))
    ads = {
        ad.id: ad
        for ad in world.list_entities("ad", account.id)
        if all(_get_member(ad, name) in ids for name, ids in report.only)
    }
    spans = {ad.id: (first, final) for ad, first, final in list_delivering_ads(world, account, report.zone)}
    lineages = world.list_lineages(account.id, [*LEVEL_COLUMNS][1:])
    for start, period in _split_periods(report, last):
        subjects: dict[str, list[Mapping[str, int]]] = {}
        examples: dict[str, StoredEntity] = {}
        for day in filter(world.delivers, period):
            earlier = generate_daily_figures(account, account.id, day, report.zone)
            parts = divide_figures(earlier, lineages, day)
            for ad in ads.values():
                many = [parts["ad", ad.id]] if ("ad", ad.id) in parts else []
                if ad.id in spans and spans[ad.id][0] <= day <= spans[ad.id][1]:
                    many.append(generate_daily_figures(account, ad.id, day, report.zone))
                subject = account.id if report.level == "account" else _get_member(ad, _PARENT_ID_MEMBERS[report.level])
                examples[subject] = ad
                subjects.setdefault(subject, []).extend(many)
        for subject, days in subjects.items():
            total = sum_figures(days)
            if report.level != "account" and "TOTAL_IMPRESSION_USER" in total:
                total["TOTAL_IMPRESSION_USER"] = estimate_reach(total["IMPRESSION_1"], subject, start)
            figures = add_derived_metrics(total) if days else {}
            measured = {name: figures[name] for name in report.columns if name in figures}
            if not any(measured.values()):
                continue
            naming = _build_name_columns(world, account, report.level, examples[subject])
            row: dict[str, Any] = {} if start is None else {"DATE": start.isoformat()}
            row |= {LEVEL_COLUMNS[report.level][0]: subject}
            yield subject, row | {name: naming[name] for name in report.columns if name in naming} | measured


def _split_periods(report: ReportRequest, last: date) -> Iterator[tuple[date | None, list[date]]]:
    """The date of a row (None for TOTAL) and its days."""
    days = list(iterate_days(report.start, last))
    if report.granularity == "TOTAL":
        yield None, days
        return
    periods: dict[date, list[date]] = {}
    for day in days:
        back = {"DAY": 0, "WEEK": day.weekday(), "MONTH": day.day - 1}[report.granularity]
        periods.setdefault(day - timedelta(days=back), []).append(day)
    yield from periods.items()


def _get_member(ad: StoredEntity, name: str) -> str:
    return ad.id if name == "id" else str(ad.data[name])


def _build_name_columns(world: World, account: Account, level: str, ad: StoredEntity) -> dict[str, Any]:
    """The columns that name the subject of a row."""
    columns: dict[str, Any] = {"AD_ACCOUNT_ID": account.id, "ADVERTISER_ID": account.id}
    levels = [*LEVEL_COLUMNS]
    for kind in levels[1 : levels.index(level) + 1]:
        entity = world.find(kind, _get_member(ad, _PARENT_ID_MEMBERS[kind]))
        assert entity is not None
        identity, name = LEVEL_COLUMNS[kind]
        columns |= {identity: entity.id, name: entity.data.get("name")}
        if kind == "campaign":
            columns |= {"CAMPAIGN_OBJECTIVE_TYPE": entity.data["objective_type"]}
            columns |= {"CAMPAIGN_ENTITY_STATUS": entity.data["status"]}
        if kind == "ad":
            columns |= {"PIN_PROMOTION_ID": entity.id, "PIN_ID": entity.data["pin_id"]}
    return columns


def _encode_report(world: World, account: Account, job: StoredEntity) -> bytes:
    """JSON: an object of lists of rows, by id or by date. CSV: lines, with 0 for missing values."""
    report: ReportRequest = job.data["wanted"]
    rows = list(_build_rows(world, account, report))
    if job.data["format"] == "CSV":
        out = io.StringIO()
        names = list(dict.fromkeys([*(rows[0][1] if rows else ()), *report.columns]))
        writer = csv.DictWriter(out, names, restval="0", lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for _, row in rows)
        return out.getvalue().encode()
    grouped: dict[str, list[dict[str, Any]]] = {}
    for subject, row in rows:
        by_id = job.data["sort"] == "BY_ID" or "DATE" not in row
        grouped.setdefault(subject if by_id else row["DATE"], []).append(row)
    return serialize_json(grouped).encode()


def _get_file_name(job: StoredEntity) -> str:
    return hashlib.sha256(job.id.encode()).hexdigest()[:32]


def _build_link(job: StoredEntity, expires: int) -> str:
    name = _get_file_name(job)
    query = build_signed_query(name, expires)
    return f"https://{STORAGE_HOST}/async_reporting_v3/{name}/metrics_report.txt?{query}"
