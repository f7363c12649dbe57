"""Synchronous reports and report tasks."""

import csv
import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import Check, array, boolean, choice, json_text, one_of, record, text
from adsunify.sandbox.instants import date_check
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.tiktok import figures, shapes
from adsunify.sandbox.networks.tiktok.answers import build_response, require_account_by_id
from adsunify.sandbox.networks.tiktok.entities import get_secondary_status, list_ancestors
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

# TikTok API for Business does not name the host of report files; this one is chosen.
DOWNLOAD_HOST = "ads-report-sg.tiktokcdn.example"
LINK_SECONDS = 3600
ID_DIMENSIONS: Mapping[str, str] = {  # data level: its id dimension
    "AUCTION_ADVERTISER": "advertiser_id",
    "AUCTION_CAMPAIGN": "campaign_id",
    "AUCTION_ADGROUP": "adgroup_id",
    "AUCTION_AD": "ad_id",
}
DAY_DIMENSION, HOUR_DIMENSION = "stat_time_day", "stat_time_hour"
MAX_DAYS = {DAY_DIMENSION: 30, HOUR_DIMENSION: 1, None: 365}
_TASK_STATES = ("QUEUING", "PROCESSING", "SUCCESS")  # status at the first, second and every later look


_check_date = date_check("must be YYYY-MM-DD")


def _parameter_checks(lists: bool) -> tuple[dict[str, Check], dict[str, Check]]:
    """Parameters of a report: in a query the lists are JSON text, in a body they are lists."""

    def of(inner: Check) -> Check:
        return inner if lists else json_text(inner)

    required = {"report_type": choice("BASIC"), "dimensions": of(array(text(), 1, 4))}
    optional = {
        "advertiser_id": shapes.ADVERTISER_CHECK,
        "advertiser_ids": of(array(shapes.ADVERTISER_CHECK, 1, 5)),
        "service_type": choice("AUCTION"),
        "data_level": one_of(" ".join(ID_DIMENSIONS)),
        "metrics": of(array(one_of(" ".join(figures.METRICS)), 1)),
        "start_date": _check_date,
        "end_date": _check_date,
        "order_field": one_of(" ".join(figures.METRICS)),
        "order_type": one_of("ASC DESC"),
    }
    return required, optional


_SYNC_CHECKS, _OPTIONAL_SYNC_CHECKS = _parameter_checks(lists=False)
_TASK_CHECK = record(
    _parameter_checks(lists=True)[0],
    {
        **_parameter_checks(lists=True)[1],
        "output_format": one_of("CSV_STRING CSV_DOWNLOAD"),
        "file_name": text(1, 255, r"[^/\t\x08@#$%^&*()\[\]]+"),
        "enable_report_title_translation": boolean,
    },
)
_TASK_ID_CHECKS: dict[str, Check] = {"advertiser_id": shapes.ADVERTISER_CHECK, "task_id": shapes.ID_CHECK}


def get_integrated_report(request: Request) -> Response:
    """GET /report/integrated/get/. Other report types, filters, lifetime and total metrics are not simulated."""
    query = request.parse_query(_SYNC_CHECKS, {**_OPTIONAL_SYNC_CHECKS, **shapes.paging_checks(1000)})
    _check_request(request, query)
    return build_response(shapes.paginate(_build_rows(request, query), query))


def create_task(request: Request) -> Response:
    """POST /report/task/create/: creates a report task."""
    request.parse_query()
    body = request.parse_json(_TASK_CHECK)
    account = _check_request(request, body)[0]
    task = request.world.create("report", account.id, {"asked": body, "looks": 0}, logged=False)
    return build_response({"task_id": task.id})


def check_task(request: Request) -> Response:
    """GET /report/task/check/: each call finds the next state."""
    task = _require_task(request, request.parse_query(_TASK_ID_CHECKS))
    looks = task.data["looks"]
    state = "CANCELED" if looks < 0 else _TASK_STATES[min(looks, len(_TASK_STATES) - 1)]
    if looks >= 0:
        request.world.replace(task, {**task.data, "looks": looks + 1}, logged=False)
    return build_response({"status": state, "message": ""})


def cancel_task(request: Request) -> Response:
    """POST /report/task/cancel/: cancels an unfinished task."""
    request.parse_query()
    task = _require_task(request, request.parse_json(record(_TASK_ID_CHECKS)))
    if not 0 <= task.data["looks"] < len(_TASK_STATES):
        raise InvalidRequest("value", "/task_id", "only a task that is queued or processed can be canceled")
    request.world.replace(task, {**task.data, "looks": -1}, logged=False)
    return build_response({"task_id": task.id})


def download_task(request: Request) -> Response:
    """GET /report/task/download/: CSV_STRING is the text, CSV_DOWNLOAD a link that is valid for an hour."""
    task = _require_task(request, request.parse_query(_TASK_ID_CHECKS))
    if task.data["looks"] < len(_TASK_STATES):
        raise InvalidRequest("not_ready", "/task_id", "the report is not ready")
    parameters = task.data["asked"]
    if parameters.get("output_format", "CSV_STRING") == "CSV_STRING":
        return Response(200, _encode_csv(request, parameters), media_type="text/csv")
    ends = str(int((request.now + timedelta(seconds=LINK_SECONDS)).timestamp()))
    name = parameters.get("file_name", f"report-{task.id}")
    link = f"https://{DOWNLOAD_HOST}/reports/{task.id}.csv?x-expires={ends}&x-signature={_sign_link(task.id, ends)}"
    return build_response({"download_url": link, "file_name": f"{name}.csv", "output_format": "CSV_DOWNLOAD"})


def download_file(request: Request) -> Response:
    """The file on the download host, which needs the signed link and refuses credentials."""
    if "Access-Token" in request.headers or "Authorization" in request.headers:
        return Response(400, b"unexpected credentials", media_type="text/plain")
    query = dict(request.query_pairs)
    ends = query.get("x-expires", "")
    task = request.world.find("report", request.path_parameters["task"])
    if task is None or query != {"x-expires": ends, "x-signature": _sign_link(task.id, ends)}:
        return Response(403, b"signature does not match", media_type="text/plain")
    if int(ends) <= request.now.timestamp():
        return Response(403, b"link has expired", media_type="text/plain")
    return Response(200, _encode_csv(request, task.data["asked"]), media_type="text/csv")


def _require_task(request: Request, parameters: Mapping[str, Any]) -> StoredEntity:
    account = require_account_by_id(request, parameters["advertiser_id"])
    task = request.world.find("report", parameters["task_id"], account.id)
    if task is None:
        raise InvalidRequest("missing", "/task_id", f"task {parameters['task_id']} does not exist")
    return task


def _check_request(request: Request, parameters: Mapping[str, Any]) -> list[Account]:
    """Check the parameters of a report and return its accounts. Raises InvalidRequest."""
    ids = parameters.get("advertiser_ids") or [parameters[name] for name in ("advertiser_id",) if name in parameters]
    if not ids:
        raise InvalidRequest("required", "/advertiser_id", "advertiser_id or advertiser_ids is required")
    for name in ("data_level", "start_date", "end_date"):
        if name not in parameters:
            raise InvalidRequest("required", f"/{name}", "is required for a BASIC report")
    subject, period = _check_dimensions(parameters)
    if "currency" in parameters.get("metrics", ()) and subject != "advertiser_id":
        raise InvalidRequest("value", "/metrics", "currency goes with advertiser_id")
    first, last = parameters["start_date"], parameters["end_date"]
    if last < first:
        raise InvalidRequest("value", "/end_date", "must not be before start_date")
    if (last - first).days + 1 > MAX_DAYS[period]:
        raise InvalidRequest("value", "/end_date", f"at most {MAX_DAYS[period]} days with these dimensions")
    return [require_account_by_id(request, account_id) for account_id in ids]


def _check_dimensions(parameters: Mapping[str, Any]) -> tuple[str, str | None]:
    """The id dimension and the time dimension. Raises InvalidRequest."""
    dimensions, subject = parameters["dimensions"], ID_DIMENSIONS[parameters["data_level"]]
    periods = [dimension for dimension in dimensions if dimension in (DAY_DIMENSION, HOUR_DIMENSION)]
    for position, dimension in enumerate(dimensions):
        if dimension in dimensions[:position] or (dimension not in periods and dimension != subject):
            message = f"with {parameters['data_level']} there are {subject}, {DAY_DIMENSION} and {HOUR_DIMENSION}, once"
            raise InvalidRequest("value", f"/dimensions/{position}", message, dimension)
    if len(periods) > 1:
        raise InvalidRequest("value", "/dimensions", "only one time dimension")
    return subject, periods[0] if periods else None


def _build_rows(request: Request, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All rows; without `order_field` the newest day first (chosen: TikTok guarantees no order)."""
    subject, period = _check_dimensions(parameters)
    metrics = parameters.get("metrics", ["spend", "impressions"])
    rows = []
    for account in _check_request(request, parameters):
        today = request.get_local_date(account)
        last = min(parameters["end_date"], today)
        for name, ads in _list_subjects(request, account, subject):
            parts: dict[str, list[Mapping[str, int]]] = {}
            for ad, first_day in ads:
                for day in filter(
                    request.world.delivers,
                    figures.list_delivery_days(account, max(parameters["start_date"], first_day), last),
                ):
                    for label, share in _split_periods(day, period):
                        key = f"{ad} {label}" if period == HOUR_DIMENSION else ad
                        parts.setdefault(label, []).append(figures.generate_daily_counts(account, key, day, share))
            for label, together in parts.items():
                keys = {subject: name, **({period: label} if period else {})}
                row = {dimension: keys[dimension] for dimension in parameters["dimensions"]}
                rows.append(
                    {
                        "dimensions": row,
                        "metrics": figures.render_metrics(account, figures.sum_counts(together), metrics),
                    }
                )
    if (field := parameters.get("order_field")) in metrics:
        rows.sort(key=lambda row: _get_sort_key(row["metrics"][field]), reverse=parameters.get("order_type") != "ASC")
    return rows


def _split_periods(day: date, period: str | None) -> Iterator[tuple[str, int]]:
    match period:
        case "stat_time_day":
            yield f"{day} 00:00:00", 1
        case "stat_time_hour":
            yield from ((f"{day} {hour:02}:00:00", 24) for hour in range(24))
        case _:
            yield "", 1


def _list_subjects(
    request: Request, account: Account, subject: str
) -> Iterator[tuple[str, Sequence[tuple[str, date]]]]:
    """Each row subject with its ads and the day of their creation; the account needs no ads."""
    if subject == "advertiser_id":
        yield account.id, [("", date.min)]
        return
    kind, zone = subject.removesuffix("_id"), account.zone
    together: dict[str, list[tuple[str, date]]] = {}
    for ad in request.world.list_entities("ad", account.id):
        if get_secondary_status(request, ad) == "AD_STATUS_DELIVERY_OK":
            chain = {ancestor.kind: ancestor.id for ancestor in (ad, *list_ancestors(request.world, ad))}
            chain["ad"] = ad.data.get("_ad_id", ad.id)
            start = shapes.parse_instant(list_ancestors(request.world, ad)[0].data["schedule_start_time"])
            first_day = max(ad.created_at, start).astimezone(zone).date()
            together.setdefault(chain[kind], []).append((ad.id, first_day))
    yield from together.items()


def _get_sort_key(value: str) -> Decimal:
    return Decimal(-1) if value == "-" else Decimal(value)


def _encode_csv(request: Request, parameters: Mapping[str, Any]) -> bytes:
    """Native names in the head line (as with enable_report_title_translation false)."""
    buffer = io.StringIO()
    metrics = parameters.get("metrics", ["spend", "impressions"])
    table = csv.writer(buffer, lineterminator="\n")
    table.writerow([*parameters["dimensions"], *metrics])
    for row in _build_rows(request, parameters):
        table.writerow([*row["dimensions"].values(), *row["metrics"].values()])
    return buffer.getvalue().encode()


def _sign_link(task: str, ends: str) -> str:
    return hashlib.sha256(f"{task} {ends}".encode()).hexdigest()
