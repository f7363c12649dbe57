"""Reporting v3: create, poll (PENDING, PROCESSING, COMPLETED), cancel, download."""

import gzip
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from adsunify.sandbox.checks import array, choice, record, text
from adsunify.sandbox.instants import date_check
from adsunify.sandbox.links import build_signed_query, check_signed_link
from adsunify.sandbox.network import AbortRequest, Request, Response
from adsunify.sandbox.networks.amazon.answers import require_account
from adsunify.sandbox.networks.amazon.columns import REPORT_TYPES, ReportType
from adsunify.sandbox.networks.amazon.rows import build_rows
from adsunify.sandbox.networks.amazon.tables import REPORT_MEDIA_TYPE, STORAGE_HOST
from adsunify.sandbox.parsing import InvalidRequest, serialize_json
from adsunify.sandbox.world import StoredEntity, World

MAX_DAYS, MAX_DAYS_BACK = 31, 95  # the days of one report, and the days of history
LINK_SECONDS = 3600
# the status of a job at the first, second and every later poll
_REPORT_STATUSES = ("PENDING", "PROCESSING", "COMPLETED")


def _check_report_type(value: Any, where: str) -> str:
    if not isinstance(value, str) or value not in REPORT_TYPES:
        raise InvalidRequest("value", where, "configuration reportTypeId is unknown or invalid", value)
    return value


_CONFIGURATION_CHECK = record(
    required={
        "adProduct": choice("SPONSORED_PRODUCTS"),
        "reportTypeId": _check_report_type,
        "groupBy": array(text(), 1),
        "timeUnit": choice("DAILY", "SUMMARY"),
        "format": choice("GZIP_JSON"),
        "columns": array(text(), 1),
    },
    optional={"filters": array(record({"field": text(), "values": array(text(), 1)}))},
)


def _check_date(value: Any, where: str) -> str:
    return str(date_check("must be YYYY-MM-DD")(value, where))


_REPORT_CHECK = record(
    required={"startDate": _check_date, "endDate": _check_date, "configuration": _CONFIGURATION_CHECK},
    optional={"name": text(0)},
)


def create_report(request: Request) -> Response:
    """`POST /reporting/reports`. 425 while an identical request exists, COMPLETED ones included (our reading)."""
    body, account = request.parse_json(_REPORT_CHECK, REPORT_MEDIA_TYPE), require_account(request)
    request.parse_query()
    _check_date_range(body, request.get_local_date(account))
    _check_columns(body["configuration"])
    for job in request.world.list_entities("report", account.id):
        if job.data["request"] == body:
            detail = f"The Request is a duplicate of : {job.id}"
            raise AbortRequest(Response(425, {"code": "425", "detail": detail}))  # `detail`, as in the documentation
    data = {"request": body, "looks": 0}
    job = request.world.create("report", account.id, data, id=str(uuid.uuid4()), logged=False)
    return Response(200, _render_report(request.world, job, "PENDING"))


def get_report(request: Request) -> Response:
    """`GET /reporting/reports/{reportId}`: each poll advances the job; each COMPLETED answer has a fresh link."""
    job = _require_report(request)
    if request.get_fault("error_in_200"):
        return Response(200, {**_render_report(request.world, job, "FAILED"), "failureReason": "Internal error"})
    status = _REPORT_STATUSES[min(job.data["looks"], len(_REPORT_STATUSES) - 1)]
    job = request.world.replace(job, {**job.data, "looks": job.data["looks"] + 1}, logged=False)
    return Response(200, _render_report(request.world, job, status))


def cancel_report(request: Request) -> Response:
    """`DELETE /reporting/reports/{reportId}`: cancels a pending job (400 for any other job is our choice)."""
    job = _require_report(request)
    if job.data["looks"] > 1:
        raise InvalidRequest("state", "reportId", "only a PENDING report can be cancelled")
    request.world.remove(job, logged=False)
    return Response(200, _render_report(request.world, job, "CANCELLED"))


def download_report(request: Request) -> Response:
    """Serve a pre-signed link of the storage host. It must be unaltered, valid, and called without credentials."""
    job = request.world.find("report", request.path_parameters["report"])
    check_signed_link(request, job.id if job is not None else None)
    assert job is not None
    return Response(200, _encode_report(request.world, job), media_type="binary/octet-stream")


def _check_date_range(body: Mapping[str, Any], day: date) -> None:
    start, end = date.fromisoformat(body["startDate"]), date.fromisoformat(body["endDate"])
    if end < start:
        raise InvalidRequest("value", "/endDate", "endDate must not be before startDate", body["endDate"])
    if (end - start).days + 1 > MAX_DAYS:
        raise InvalidRequest("value", "/endDate", f"at most {MAX_DAYS} days per report", body["endDate"])
    if start < day - timedelta(days=MAX_DAYS_BACK):
        raise InvalidRequest("value", "/startDate", f"at most {MAX_DAYS_BACK} days back", body["startDate"])


def _check_columns(configuration: Mapping[str, Any]) -> None:
    report: ReportType = REPORT_TYPES[configuration["reportTypeId"]]
    groups, columns = configuration["groupBy"], configuration["columns"]
    _check_values("invalid groupBy values", "/configuration/groupBy", groups, sorted(report.groups))
    column_names = report.columns.union(*(report.groups[group].columns for group in groups))
    _check_values("columns includes invalid values", "/configuration/columns", columns, sorted(column_names))
    # DAILY requires the column `date` and refuses startDate and endDate. SUMMARY refuses `date` (our conclusion).
    daily = configuration["timeUnit"] == "DAILY"
    refused = {"startDate", "endDate"} if daily else {"date"}
    if (daily and "date" not in columns) or refused & set(columns):
        message = f"{configuration['timeUnit']} does not go with these columns"
        raise InvalidRequest("value", "/configuration/columns", message)
    for condition in configuration.get("filters", []):
        _check_filter(report, groups, condition)


def _check_values(problem: str, where: str, values: Sequence[str], allowed: Sequence[str]) -> None:
    """Check that all values are allowed.

    The messages are Amazon's, except the one for a value that appears twice (our choice).
    """
    invalid = [value for value in values if value not in allowed]
    if invalid:
        message = f"configuration {problem}: ({', '.join(invalid)}). Allowed values: ({', '.join(allowed)})"
        raise InvalidRequest("value", where, message)
    if len({*values}) < len(values):
        raise InvalidRequest("value", where, f"{where} has a value twice")


def _check_filter(report: ReportType, groups: Sequence[str], condition: Mapping[str, Any]) -> None:
    """Check a filter. Every groupBy of the report must have it, so a report with two groupBys accepts no filter."""
    field = condition["field"]
    for group in groups:
        filters = report.groups[group].filters
        if field not in filters or not {*condition["values"]} <= {*filters[field]}:
            allowed = "; ".join(f"field: {name}, values: {', '.join(values)}" for name, values in filters.items())
            raise InvalidRequest(
                "value",
                "/configuration/filters",
                f"configuration filters includes fields: ({field}) which are invalid for groupBys: {group}. "
                f"Allowed filters for groupBy {group}: ({allowed})",
            )


def _require_report(request: Request) -> StoredEntity:
    request.parse_query()
    job = request.world.find("report", request.path_parameters["report"], require_account(request).id)
    if job is None:
        raise InvalidRequest("not_found", "reportId", "no such report of this profile")
    return job


def _render_report(world: World, job: StoredEntity, status: str) -> dict[str, Any]:
    """The job as Amazon shows it. Unknown values are null; only a COMPLETED job has a link."""
    completed = status == "COMPLETED"
    ends = world.now + timedelta(seconds=LINK_SECONDS)
    query = build_signed_query(job.id, int(ends.timestamp()))
    body = job.data["request"]
    return {
        "reportId": job.id,
        "name": body.get("name"),
        "status": status,
        "startDate": body["startDate"],
        "endDate": body["endDate"],
        "configuration": body["configuration"],
        "createdAt": job.created_at.isoformat(),
        "updatedAt": job.updated_at.isoformat(),
        "generatedAt": world.now.isoformat() if completed else None,
        "url": f"https://{STORAGE_HOST}/reports/{job.id}.json.gz?{query}" if completed else None,
        "urlExpiresAt": datetime.fromtimestamp(int(ends.timestamp()), UTC).isoformat() if completed else None,
        "fileSize": len(_encode_report(world, job)) if completed else None,
        "failureReason": None,
    }


def _encode_report(world: World, job: StoredEntity) -> bytes:
    """Encode the rows as they are at the download, so figures of earlier reports can change."""
    account = world.accounts[job.account]
    return gzip.compress(serialize_json(build_rows(world, account, job.data["request"])).encode(), mtime=0)
