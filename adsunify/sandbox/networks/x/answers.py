"""Responses and errors of X, times and ids, and the parameters of a request."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from adsunify.sandbox.checks import Check, record
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.x.tables import LOGIN_HOST, STATUS_BY_CODE
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity, World

Data = dict[str, Any]
NO_CHECKS: Mapping[str, Check] = {}
VERSION_HEADERS = {"x-current-api-version": "12"}
RETRY_AFTER_SECONDS = 7
_CODE_BY_PROBLEM = {
    "required": "MISSING_PARAMETER",
    **dict.fromkeys(("token_missing", "token_invalid", "token_expired", "signature"), "UNAUTHORIZED_ACCESS"),
}
# the code for a bare status: the first one of the table with this status
_CODE_BY_STATUS = {
    400: "INVALID_PARAMETER",
    403: "ACTION_NOT_ALLOWED",
    404: "ROUTE_NOT_FOUND",
    **{status: code for code, status in STATUS_BY_CODE.items() if status not in (400, 403, 404)},
}


def require_account(request: Request) -> Account:
    """The account of an authorized request."""
    account = request.find_account(request.path_parameters["account"])
    assert account is not None  # authorize_request has checked it
    return account


def parse_parameters(
    request: Request, required: Mapping[str, Check] = NO_CHECKS, optional: Mapping[str, Check] = NO_CHECKS
) -> Data:
    """The checked parameters: of the query, and of a form body. The signature check has refused duplicates."""
    parameters = dict(request.query_pairs) | (request.parse_form() if request.body else {})
    checked: Data = record(required, optional)(parameters, "")
    return checked


def build_response(request: Request, data: Any, **beside: Any) -> Response:
    """`{"request": {"params": ...}, "data": ...}` and further members."""
    return Response(200, {"request": {"params": echo_parameters(request)}, **beside, "data": data}, VERSION_HEADERS)


def format_error(request: Request, problem: InvalidRequest) -> Response:
    """The response to a refused request."""
    if request.host == LOGIN_HOST:  # the log-in has numeric codes; 32 and 214 are our choice
        status, code = (
            (401, 89 if problem.code == "token_invalid" else 32) if problem.code in _CODE_BY_PROBLEM else (400, 214)
        )
        return Response(status, {"errors": [{"code": code, "message": problem.message}]})
    error = render_error(problem)
    body = {"errors": [error], "request": {"params": echo_parameters(request)}}
    return Response(
        STATUS_BY_CODE[error["code"]],
        body,
        VERSION_HEADERS | (build_retry_headers(request, 429) if STATUS_BY_CODE[error["code"]] == 429 else {}),
    )


def render_error(problem: InvalidRequest) -> Data:
    """One error object."""
    code = problem.code if problem.code in STATUS_BY_CODE else _CODE_BY_PROBLEM.get(problem.code, "INVALID_PARAMETER")
    error: Data = {"code": code, "message": problem.message}
    if STATUS_BY_CODE[code] in (400, 404):
        name = problem.where.strip("/").replace("/", ".")
        error |= {"parameter": name, "details": "", "value": "" if problem.value is None else str(problem.value)}
    return error


def format_status_error(request: Request, status: int) -> Response:
    """The response of a bare status: unknown path or method, or a requested fault."""
    headers = VERSION_HEADERS | build_retry_headers(request, status)
    if request.host == LOGIN_HOST:
        number = 131 if status >= 500 else 89 if status == 401 else 34  # 89: the token is invalid or expired
        return Response(status, {"errors": [{"code": number, "message": f"HTTP {status}"}]})
    code = _CODE_BY_STATUS.get(status, "INTERNAL_ERROR" if status >= 500 else "INVALID_PARAMETER")
    error = {"code": code, "message": f"HTTP {status}"}
    return Response(status, {"errors": [error], "request": {"params": echo_parameters(request)}}, headers)


def build_retry_headers(request: Request, status: int) -> dict[str, str]:
    """The headers with the time to wait: two resets for a 429 (the account's takes precedence), seconds for a 503."""
    if status == 503:
        return {"retry-after": str(RETRY_AFTER_SECONDS)}
    if status != 429:
        return {}
    now = int(request.now.timestamp())
    return {
        "Date": format_datetime(request.now.astimezone(UTC).replace(microsecond=0), usegmt=True),
        "x-account-rate-limit-limit": "450",
        "x-account-rate-limit-remaining": "0",
        "x-account-rate-limit-reset": str(now + request.get_wait_seconds(RETRY_AFTER_SECONDS)),
        "x-rate-limit-reset": str(now + 900),
    }


def echo_parameters(request: Request) -> dict[str, str]:
    """The parameters as a response echoes them."""
    try:
        return dict(request.query_pairs)
    except InvalidRequest:
        return {}


# -- ids and times ------------------------------------------------------------------------------------------------


def allocate_native_id(world: World) -> str:
    """A new id, in base 36."""
    number, text = int(world.allocate_id()), ""
    while number:
        number, digit = divmod(number, 36)
        text = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + text
    return text


def render_timestamps(entity: StoredEntity) -> Data:
    """The times of creation and of the last change."""
    return {"created_at": format_instant(entity.created_at), "updated_at": format_instant(entity.updated_at)}


def format_instant(instant: datetime) -> str:
    """An instant as X writes it: UTC, whole seconds."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def check_instant(value: Any, where: str) -> str:
    """An ISO 8601 instant with `Z`, `+HH:MM`, `+HHMM` or `+HH`; answers it in UTC."""
    match = re.fullmatch(
        r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(Z|[+-]\d\d(:?\d\d)?)", value if isinstance(value, str) else ""
    )
    if match is None:
        raise InvalidRequest("INVALID_PARAMETER", where, "Expected time in ISO 8601 with an offset", value)
    day, clock, seconds, offset = match[1], match[2], match[3] or ":00", match[4]
    try:
        instant = datetime.fromisoformat(f"{day}T{clock}{seconds}+00:00")
    except ValueError as error:
        raise InvalidRequest("INVALID_PARAMETER", where, "no such time", value) from error
    if offset != "Z":
        digits = offset[1:].replace(":", "").ljust(4, "0")
        away = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        instant += away if offset[0] == "-" else -away
    return format_instant(instant)


def parse_instant(text: str) -> datetime:
    """Parse an instant that `check_instant` has returned."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


# -- checks of parameter texts ------------------------------------------------------------------------------------


def check_flag(value: Any, where: str) -> bool:
    """`true` or `false`."""
    if value not in ("true", "false"):
        raise InvalidRequest("value", where, "must be true or false", value)
    return bool(value == "true")


def comma_separated(item: Check, most: int, separator: str = ",") -> Check:
    """A list joined by commas, each of the `most` items checked by `item`."""

    def check(value: Any, where: str) -> list[Any]:
        if not isinstance(value, str) or not value:
            raise InvalidRequest("value", where, "must be a comma-separated list", value)
        items = value.split(separator)
        if len(items) > most:
            raise InvalidRequest("REQUEST_TOO_COMPLEX", where, f"at most {most} values", len(items))
        return [item(part, where) for part in items]

    return check


def clearable(item: Check) -> Check:
    """Accept the empty value, which clears the member, and what `item` accepts."""
    return lambda value, where: None if value == "" else item(value, where)
