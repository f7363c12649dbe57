"""Statistics: synchronous, or as a report with a file on another host."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from adsunify.sandbox.checks import boolean_text, choice, text
from adsunify.sandbox.figures import get_currency_unit, get_share, sum_figures
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.snapchat import answers, figures
from adsunify.sandbox.networks.snapchat.entities import KIND_BY_COLLECTION, PARENT_KINDS
from adsunify.sandbox.networks.snapchat.tables import MICROS, STORAGE_HOST
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

_TYPES = {"campaign": "CAMPAIGN", "adsquad": "AD_SQUAD", "ad": "AD"}
_BREAKDOWNS = {"adaccount": ("campaign", "ad"), "campaign": ("adsquad", "ad"), "adsquad": ("ad",), "ad": ()}
_MAX_RANGES = {"DAY": timedelta(days=31), "HOUR": timedelta(days=7)}
_FINALIZATION_TIME = timedelta(hours=48)
_REPORT_RUN_TIME = timedelta(seconds=1)  # duration of a report (our choice)
_REQUIRED_CHECKS = {"granularity": choice("TOTAL", "DAY", "HOUR", "LIFETIME")}
_OPTIONAL_CHECKS = {
    **answers.PAGING_CHECKS,
    "fields": text(),
    "breakdown": choice("campaign", "adsquad", "ad"),
    "start_time": text(),
    "end_time": text(),
    "omit_empty": boolean_text,
    "swipe_up_attribution_window": choice("1_DAY", "7_DAY", "28_DAY"),
    "view_attribution_window": choice("none", "1_HOUR", "3_HOUR", "6_HOUR", "1_DAY", "7_DAY", "28_DAY"),
    "action_report_time": choice("conversion", "impression"),
    "test": boolean_text,
    "async": boolean_text,
    "async_format": choice("json", "csv"),
}


def get_stats(request: Request) -> Response:
    """GET /adaccounts/{account}/stats."""
    account = answers.require_account(request)
    query = request.parse_query(_REQUIRED_CHECKS, _OPTIONAL_CHECKS)
    bounds = _parse_stats_query(query, account)
    if query.get("async"):
        whole = {name: value for name, value in query.items() if name not in answers.PAGING_CHECKS}
        report = request.world.create("report", account.id, {"wanted": whole}, logged=False)
        return _build_report_response(request, report)
    return answers.build_response(request, _build_stats(request, account, query, bounds))


def get_entity_stats(request: Request) -> Response:
    """GET /campaigns/{id}/stats, /adsquads/{id}/stats and /ads/{id}/stats, of any account that the member may see."""
    kind = KIND_BY_COLLECTION[request.path_parameters["kind"]]
    entity = request.world.find(kind, request.path_parameters["id"])
    if entity is None:
        raise answers.not_found_error(request, kind)
    account = answers.require_permitted_account(request, entity.account)
    query = request.parse_query(_REQUIRED_CHECKS, _OPTIONAL_CHECKS)
    if query.get("async"):
        raise InvalidRequest("stats", "/async", "is for ad accounts")
    bounds = _parse_stats_query(query, account, kind)
    return answers.build_response(request, _build_stats(request, account, query, bounds, entity))


def get_stats_report(request: Request) -> Response:
    """GET /adaccounts/{account}/stats_report: the state of a report."""
    account = answers.require_account(request)
    report = request.world.find("report", request.parse_query({"report_run_id": text()})["report_run_id"], account.id)
    if report is None:
        raise answers.not_found_error(request, "report")
    return _build_report_response(request, report)


def download_report(request: Request) -> Response:
    """The file of a report: the response of `stats`, stored for 7 days."""
    report = request.world.find("report", request.path_parameters["report"])
    if report is None or request.now - report.created_at > timedelta(days=7) or not _is_completed(request, report):
        return Response(404, b"<Error><Code>NoSuchKey</Code></Error>", media_type="application/xml")
    if "Authorization" in request.headers:
        return Response(400, b"<Error><Code>InvalidArgument</Code></Error>", media_type="application/xml")
    account = request.world.accounts[report.account]
    query = report.data["wanted"]
    return answers.build_response(request, _build_stats(request, account, query, _parse_stats_query(query, account)))


def _build_report_response(request: Request, report: StoredEntity) -> Response:
    has_failed = request.get_fault("error_in_200")
    state = "FAILED" if has_failed else "COMPLETED" if _is_completed(request, report) else "RUNNING"
    members = {"report_run_id": report.id, "async_status": state, "ad_account_id": report.account}
    if state == "COMPLETED":
        members["result"] = f"https://{STORAGE_HOST}/snap-async-stats/{report.id}.json"
    return answers.build_response(
        request, {"async_stats_reports": [{"sub_request_status": "success", "async_stats_report": members}]}
    )


def _is_completed(request: Request, report: StoredEntity) -> bool:
    return request.now - report.created_at >= _REPORT_RUN_TIME


def _parse_stats_query(
    query: Mapping[str, Any], account: Account, kind: str = "adaccount"
) -> tuple[datetime, datetime, list[str]]:
    """First and last instant and the fields. Raises InvalidRequest `stats` or `window`."""
    granularity, zone = query["granularity"], account.zone
    fields = query.get("fields", "spend").split(",")
    metrics = figures.DAILY_METRICS + (figures.TOTAL_ONLY_METRICS if granularity in ("TOTAL", "LIFETIME") else ())
    for name in fields:
        if name not in metrics:
            raise InvalidRequest("stats", "/fields", f"{name!r} is not supported with granularity {granularity}")
        if name != "spend" and kind == "adaccount" and "breakdown" not in query:
            raise InvalidRequest("stats", "/fields", "an ad account without breakdown has only spend")
    if "breakdown" in query and query["breakdown"] not in _BREAKDOWNS[kind]:
        raise InvalidRequest("stats", "/breakdown", f"does not go with the stats of an entity of kind {kind}")
    if query.get("async") and query.get("async_format") != "json":
        raise InvalidRequest("stats", "/async_format", "json is required")  # csv is not simulated
    if granularity == "LIFETIME":
        if "start_time" in query or "end_time" in query:
            raise InvalidRequest("stats", "/start_time", "does not go with LIFETIME")
        return datetime(2024, 1, 1, tzinfo=zone), datetime(2100, 1, 1, tzinfo=zone), fields
    if "start_time" not in query or "end_time" not in query:
        raise InvalidRequest("stats", "/start_time", "start_time and end_time are required")
    start, end = (_check_bound(query[name], f"/{name}", granularity, zone) for name in ("start_time", "end_time"))
    if end <= start:
        raise InvalidRequest("stats", "/end_time", "must be after start_time")
    # between instants, not local times: a window with the end of summer time is an hour longer
    if granularity in _MAX_RANGES and end.astimezone(UTC) - start.astimezone(UTC) > _MAX_RANGES[granularity]:
        raise InvalidRequest("window", "/end_time", f"at most {_MAX_RANGES[granularity].days} days with {granularity}")
    return start, end, fields


def _check_bound(value: str, where: str, granularity: str, zone: ZoneInfo) -> datetime:
    """Check a bound: a full hour, and for days the account's local midnight with its offset."""
    instant = answers.INSTANT.check_datetime(value, where)
    local = instant.astimezone(zone)
    if (instant.minute, instant.second, instant.microsecond) != (0, 0, 0):
        raise InvalidRequest("stats", where, "must be a full hour")
    if granularity == "DAY" and (local.hour, local.utcoffset()) != (0, instant.utcoffset()):
        raise InvalidRequest("stats", where, "must be midnight of the ad account's time zone, with its offset")
    return local


def _build_stats(
    request: Request,
    account: Account,
    query: Mapping[str, Any],
    bounds: tuple[datetime, datetime, list[str]],
    subject: StoredEntity | None = None,
) -> dict[str, Any]:
    """The stats of an account, or of an entity below it (`subject`)."""
    start, end, _ = bounds
    delivering = figures.list_delivering_ads(request.world, account)
    delivering_by_id: dict[str, list[tuple[StoredEntity, datetime, datetime]]] = {}
    for item in delivering:
        for native_id in _get_ancestor_ids(request, item[0]):
            delivering_by_id.setdefault(native_id, []).append(item)
    head: dict[str, Any] = {
        "id": subject.id if subject else account.id,
        "type": _TYPES[subject.kind] if subject else "AD_ACCOUNT",
        "granularity": query["granularity"],
        "swipe_up_attribution_window": query.get("swipe_up_attribution_window", "28_DAY"),
        "view_attribution_window": query.get("view_attribution_window", "1_DAY"),
        "start_time": start.isoformat(timespec="milliseconds"),
        "end_time": end.isoformat(timespec="milliseconds"),
        "finalized_data_end_time": _format_finalized_until(request, account),
    }
    paging: dict[str, str] = {}
    words = ("timeseries_stats", "timeseries_stat")
    if query["granularity"] in ("TOTAL", "LIFETIME"):
        words = (
            ("total_stats", "total_stat") if query["granularity"] == "TOTAL" else ("lifetime_stats", "lifetime_stat")
        )
    if "breakdown" in query:
        kind = query["breakdown"]
        rows = [
            {"id": entity.id, "kind": entity.kind}
            for entity in request.world.list_entities(kind, account.id)
            if subject is None or subject.id in _get_ancestor_ids(request, entity)
        ]
        page, paging = answers.paginate(request, rows, query)
        head["breakdown_stats"] = {
            kind: [
                {
                    "id": row["id"],
                    "type": _TYPES[kind],
                    **_build_series(request, account, query, bounds, delivering_by_id.get(row["id"], [])),
                }
                for row in page
            ]
        }
    else:
        ads = delivering_by_id.get(subject.id, []) if subject else delivering
        head |= _build_series(request, account, query, bounds, ads)
    members = {words[0]: [{"sub_request_status": "success", words[1]: head}]}
    return {**members, "paging": paging} if paging else members


def _get_ancestor_ids(request: Request, entity: StoredEntity) -> tuple[str, ...]:
    """The ids of an entity and of its ancestors."""
    line, kind, parent = [entity.id], PARENT_KINDS.get(entity.kind), entity.parent
    while kind is not None and parent is not None:
        line.append(parent)
        ancestor = request.world.find(kind, parent)
        assert ancestor is not None
        kind, parent = PARENT_KINDS.get(kind), ancestor.parent
    return tuple(line)


def _build_series(
    request: Request,
    account: Account,
    query: Mapping[str, Any],
    bounds: tuple[datetime, datetime, list[str]],
    ads: list[tuple[StoredEntity, datetime, datetime]],
) -> dict[str, Any]:
    start, end, fields = bounds
    granularity, now = query["granularity"], request.now
    if granularity in ("TOTAL", "LIFETIME"):
        days = [
            _sum_figures(request, account, ads, a, b)
            for a, b in _split_range("DAY", max(start, _get_oldest_instant(account)), min(end, now))
        ]
        return {"stats": _select_metrics(sum_figures(days), fields)}
    rows = []
    for begins, ends in _split_range(granularity, start, end):
        if begins > now:
            break
        total = _sum_figures(request, account, ads, begins, ends)
        if any(total.values()) or not query.get("omit_empty", True):
            rows.append(
                {
                    "start_time": begins.isoformat(timespec="milliseconds"),
                    "end_time": ends.isoformat(timespec="milliseconds"),
                    "stats": _select_metrics(total, fields),
                }
            )
    return {"timeseries": rows}


def _get_oldest_instant(account: Account) -> datetime:
    return datetime(2024, 2, 1, tzinfo=account.zone)


def _select_metrics(total: Mapping[str, int], fields: list[str]) -> dict[str, Any]:
    impressions = total.get("impressions", 0)
    reach = {"uniques": impressions * 6 // 10, "frequency": 1, "attachment_uniques": 0, "attachment_frequency": 0}
    return {name: total.get(name, reach.get(name, 0)) for name in fields}


def _split_range(granularity: str, start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """The days (by local time) or hours from `start` to `end`."""
    zone = start.tzinfo
    while start < end:
        if granularity == "DAY":
            after = datetime.combine(start.date() + timedelta(days=1), datetime.min.time(), zone)
        else:
            after = (start.astimezone(UTC) + timedelta(hours=1)).astimezone(zone)
        yield start, after
        start = after


def _sum_figures(
    request: Request,
    account: Account,
    ads: list[tuple[StoredEntity, datetime, datetime]],
    begins: datetime,
    ends: datetime,
) -> dict[str, int]:
    unit, day, hour = MICROS * get_currency_unit(account.currency), begins.date(), begins.hour
    parts = []
    for ad, first, last in ads if request.world.delivers(day) else ():
        if first < ends and last > begins:
            whole = figures.generate_daily_figures(ad.id, day.isoformat(), unit)
            parts.append(whole if ends - begins > timedelta(hours=1) else get_share(whole, hour, hour + 1, 24))
    return sum_figures(parts)


def _format_finalized_until(request: Request, account: Account) -> str:
    """The last local midnight that is at least 48 hours past."""
    zone = account.zone
    last: date = (request.now - _FINALIZATION_TIME).astimezone(zone).date()
    return datetime.combine(last, datetime.min.time(), zone).isoformat(timespec="milliseconds")
