"""Synchronous reports and report tasks."""

import csv
import hashlib
import io
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import Check, array, boolean, choice, json_text, one_of, record, text
from adsunify.sandbox.instants import date_check
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.tiktok import figures, shapes
from adsunify.sandbox.networks.tiktok.answers import build_response, require_account_by_id
from adsunify.sandbox.networks.tiktok.entities import KINDS, is_deleted, list_ancestors
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, EntityKey, StoredEntity

# TikTok API for Business does not name the host of report files; this one is our choice.
DOWNLOAD_HOST = "ads-report-sg.tiktokcdn.example"
LINK_SECONDS = 3600
KIND_BY_LEVEL: Mapping[str, str] = {  # by data level: the kind of the rows
    "AUCTION_ADVERTISER": "advertiser",
    "AUCTION_CAMPAIGN": "campaign",
    "AUCTION_ADGROUP": "adgroup",
    "AUCTION_AD": "ad",
}
# The id dimensions of a kind. The ad_id and the ad_id_v2 of an Upgraded Smart+ ad differ.
ID_DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "advertiser": ("advertiser_id",),
    "campaign": ("campaign_id",),
    "adgroup": ("adgroup_id",),
    "ad": ("ad_id", "ad_id_v2"),
}
# The metrics of a kind that name the subject of a row and its parents
ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "advertiser": (),
    "campaign": ("campaign_name",),
    "adgroup": ("adgroup_name", "campaign_id", "campaign_name"),
    "ad": ("ad_name", "adgroup_id", "adgroup_name", "campaign_id", "campaign_name"),
}
_METRIC_NAMES = " ".join((*figures.METRICS, *ATTRIBUTES["ad"]))
_STATUSES = "STATUS_ALL STATUS_NOT_DELETE STATUS_DELETE"
DAY_DIMENSION, HOUR_DIMENSION = "stat_time_day", "stat_time_hour"
MAX_DAYS = {DAY_DIMENSION: 30, HOUR_DIMENSION: 1, None: 365}
_TASK_STATES = ("QUEUING", "PROCESSING", "SUCCESS")  # the status at the first, second and every later poll


_check_date = date_check("must be YYYY-MM-DD")


def _parameter_checks(lists: bool) -> tuple[dict[str, Check], dict[str, Check]]:
    """Parameters of a report: in a query the lists are JSON text, in a body they are lists."""

    def check_list(inner: Check) -> Check:
        return inner if lists else json_text(inner)

    filter_checks = {"field_name": text(), "filter_type": choice("IN"), "filter_value": text()}
    required = {"report_type": choice("BASIC"), "dimensions": check_list(array(text(), 1, 4))}
    optional = {
        "advertiser_id": shapes.ADVERTISER_CHECK,
        "advertiser_ids": check_list(array(shapes.ADVERTISER_CHECK, 1, 5)),
        "service_type": choice("AUCTION"),
        "data_level": one_of(" ".join(KIND_BY_LEVEL)),
        "metrics": check_list(array(one_of(_METRIC_NAMES), 1)),
        "filtering": check_list(array(record(filter_checks), 1)),
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
    """GET /report/integrated/get/. Other report types, lifetime and total metrics are not simulated."""
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
    polls = task.data["looks"]
    state = "CANCELED" if polls < 0 else _TASK_STATES[min(polls, len(_TASK_STATES) - 1)]
    if polls >= 0:
        request.world.replace(task, {**task.data, "looks": polls + 1}, logged=False)
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
    kind = KIND_BY_LEVEL[parameters["data_level"]]
    _, period = _check_dimensions(parameters)
    related = {*figures.METRICS, *ATTRIBUTES[kind]} - ({"currency"} if kind != "advertiser" else set())
    for position, metric in enumerate(parameters.get("metrics", ())):
        if metric not in related:
            message = "Conflict occurs. The input params including metrics and dimensions have no relation."
            raise InvalidRequest("value", f"/metrics/{position}", message)
    _parse_filters(parameters)
    first, last = parameters["start_date"], parameters["end_date"]
    if last < first:
        raise InvalidRequest("value", "/end_date", "must not be before start_date")
    if (last - first).days + 1 > MAX_DAYS[period]:
        raise InvalidRequest("value", "/end_date", f"at most {MAX_DAYS[period]} days with these dimensions")
    return [require_account_by_id(request, account_id) for account_id in ids]


def _check_dimensions(parameters: Mapping[str, Any]) -> tuple[str, str | None]:
    """The id dimension and the time dimension. Raises InvalidRequest."""
    dimensions, level = parameters["dimensions"], parameters["data_level"]
    subjects = ID_DIMENSIONS[KIND_BY_LEVEL[level]]
    periods = [dimension for dimension in dimensions if dimension in (DAY_DIMENSION, HOUR_DIMENSION)]
    named = [dimension for dimension in dimensions if dimension in subjects]
    for position, dimension in enumerate(dimensions):
        if dimension in dimensions[:position] or dimension not in (*periods, *named[:1]):
            message = f"with {level} there are {' or '.join(subjects)}, {DAY_DIMENSION} and {HOUR_DIMENSION}, each once"
            raise InvalidRequest("value", f"/dimensions/{position}", message, dimension)
    if len(periods) > 1:
        raise InvalidRequest("value", "/dimensions", "only one time dimension")
    if not named and {*parameters.get("metrics", ())} & {*ATTRIBUTES["ad"]}:
        raise InvalidRequest("value", "/metrics", "names and parents go with an id dimension")
    return named[0] if named else subjects[0], periods[0] if periods else None


def _parse_filters(parameters: Mapping[str, Any]) -> Mapping[str, list[str]]:
    """The values by the name of the field. Raises InvalidRequest."""
    kind = KIND_BY_LEVEL[parameters["data_level"]]
    kinds = [*ID_DIMENSIONS][1 : [*ID_DIMENSIONS].index(kind) + 1]
    id_fields = [dimension.replace("_id", "_ids") for name in kinds for dimension in ID_DIMENSIONS[name]]
    status_fields = [f"{kind}_status"] if kinds else []
    filters: dict[str, list[str]] = {}
    for position, condition in enumerate(parameters.get("filtering", ())):
        name, where = condition["field_name"], f"/filtering/{position}"
        if name in filters or name not in (*id_fields, *status_fields):
            raise InvalidRequest("value", f"{where}/field_name", "is no filter of this data level, or is there twice")
        values = array(one_of(_STATUSES), 1, 1) if name in status_fields else array(shapes.ID_CHECK, 1, 100)
        filters[name] = json_text(values)(condition["filter_value"], f"{where}/filter_value")
    return filters


def _build_rows(request: Request, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All rows; without `order_field` the newest day first (our choice: TikTok guarantees no order)."""
    subject, period = _check_dimensions(parameters)
    metrics = parameters.get("metrics", ["spend", "impressions"])
    rows = []
    for account in _check_request(request, parameters):
        last = min(parameters["end_date"], request.get_local_date(account))
        subjects = _list_subjects(request, account, parameters)
        lineages = request.world.list_lineages(account.id, KINDS)
        parts: dict[EntityKey, dict[str, list[figures.Counts]]] = {key: {} for key in subjects}
        for day in filter(request.world.delivers, figures.list_delivery_days(account, parameters["start_date"], last)):
            for label, share in _split_periods(day, period):
                hour = f" {label}" if period == HOUR_DIMENSION else ""
                whole = figures.generate_daily_counts(account, hour, day, share)
                by_key = (
                    {("advertiser", account.id): whole}
                    if parameters["data_level"] == "AUCTION_ADVERTISER"
                    else figures.divide_counts(whole, lineages, day)
                )
                for key in by_key.keys() & parts.keys():
                    parts[key].setdefault(label, []).append(by_key[key])
        for key, attributes in subjects.items():
            for label, together in parts[key].items():
                keys = {subject: attributes[subject], **({period: label} if period else {})}
                counted = [name for name in metrics if name in figures.METRICS]
                values = {**attributes, **figures.render_metrics(account, figures.sum_counts(together), counted)}
                rows.append(
                    {
                        "dimensions": {dimension: keys[dimension] for dimension in parameters["dimensions"]},
                        "metrics": {name: values[name] for name in metrics},
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
    request: Request, account: Account, parameters: Mapping[str, Any]
) -> Mapping[EntityKey, Mapping[str, str]]:
    """Everything that can have rows, with the values of its id dimensions and attributes.

    Deleted entities are left out unless a filter names their status. The account has rows whatever it contains.
    """
    kind, filters = KIND_BY_LEVEL[parameters["data_level"]], _parse_filters(parameters)
    if kind == "advertiser":
        return {(kind, account.id): {"advertiser_id": account.id}}
    [status] = filters.get(f"{kind}_status", ["STATUS_NOT_DELETE"])
    subjects = {}
    for entity in request.world.list_entities(kind, account.id):
        deleted = is_deleted(request.world, entity)
        if status != "STATUS_ALL" and deleted != (status == "STATUS_DELETE"):
            continue
        attributes: dict[str, str] = {}
        for member in (entity, *list_ancestors(request.world, entity)):
            attributes[f"{member.kind}_id"] = member.data.get("_ad_id", member.id)
            attributes[f"{member.kind}_name"] = member.data.get(f"{member.kind}_name", "")
        if kind == "ad":
            attributes["ad_id_v2"] = entity.id
        if all(
            attributes[name.replace("_ids", "_id")] in values
            for name, values in filters.items()
            if name != f"{kind}_status"
        ):
            subjects[kind, entity.id] = attributes
    return subjects


def _get_sort_key(value: str) -> Decimal:
    return Decimal(-1) if value == "-" else Decimal(value)


def _encode_csv(request: Request, parameters: Mapping[str, Any]) -> bytes:
    """Return the rows as CSV, with native names in the header (as with enable_report_title_translation false)."""
    buffer = io.StringIO()
    metrics = parameters.get("metrics", ["spend", "impressions"])
    table = csv.writer(buffer, lineterminator="\n")
    table.writerow([*parameters["dimensions"], *metrics])
    for row in _build_rows(request, parameters):
        table.writerow([*row["dimensions"].values(), *row["metrics"].values()])
    return buffer.getvalue().encode()


def _sign_link(task: str, ends: str) -> str:
    return hashlib.sha256(f"{task} {ends}".encode()).hexdigest()
