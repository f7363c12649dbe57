"""The envelope, the native error shape, the guard, and lists in pages."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from adsunify.sandbox.framework import (
    Account,
    Check,
    InvalidRequest,
    Request,
    Response,
    integer_text,
    require_bearer_token,
    text,
)
from adsunify.sandbox.networks.reddit.tables import (
    DEFAULT_PAGE_SIZE,
    GENERIC_AGENTS,
    HOST,
    MAX_PAGE_SIZE,
    READ_SCOPE,
    WRITABLE_APPROVALS,
    WRITE_SCOPE,
)

_REASONS = {
    400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 410: "Gone", 429: "Too Many Requests",
    500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable",
}  # fmt: skip
# Statuses of problems; what is not here is a 400.
_STATUS_BY_CODE = {"token_missing": 401, "token_invalid": 401, "token_expired": 401, "access": 403, "absent": 404}
# What a told 429 says of the limits: `t` is the wait; a Retry-After does not come along ("may").
_RATE_LIMIT_HEADERS = {
    "RateLimit-Policy": '"campaign_management";q=200;w=60',
    "RateLimit": '"campaign_management";r=0;t=7',
}


def format_error(request: Request, problem: InvalidRequest) -> Response:
    """A refused request, in the shape of the log-in or of the API."""
    if request.route.role == "login":
        return _format_login_error(problem)
    status = _STATUS_BY_CODE.get(problem.code, 400)
    error: dict[str, Any] = {"code": status, "message": _REASONS[status]}
    if status == 400:
        place = problem.where.strip("/") or ("data" if problem.code in ("unreadable", "type") else "")
        error["fields"] = [{"field": place, "message": problem.message}]
    elif problem.message:
        error["message"] = f"{_REASONS[status]}: {problem.message}"
    return Response(status, {"error": error})


def format_status_error(request: Request, status: int) -> Response:
    """A bare status: a told fault, or an unknown path. An unsupported verb is 404, not 405."""
    status = 404 if status == 405 else status
    if request.route.role == "login":
        return Response(status, {"message": _REASONS.get(status, "Error"), "error": status})
    body = {"error": {"code": status, "message": _REASONS.get(status, "Error")}}
    return Response(status, body, _RATE_LIMIT_HEADERS if status == 429 else {})


def _format_login_error(problem: InvalidRequest) -> Response:
    """OAuth's own words; a refused client is a bare 401 (chosen: the documentation allows either)."""
    if problem.code == "invalid_client":
        return Response(401, {"message": "Unauthorized", "error": 401})
    if problem.code == "access":
        return Response(403, {"message": "Forbidden", "error": 403})
    code = problem.code if problem.code == "invalid_grant" else "invalid_request"
    return Response(400, {"error": code})


def authorize_request(request: Request) -> None:
    """The bearer token and its scope, and the headers that every request has."""
    check_user_agent(request)
    token = require_bearer_token(request)
    reads = request.method == "GET" or request.path.endswith(("/reports", "/query"))
    needed = READ_SCOPE if reads else WRITE_SCOPE
    if needed not in token.scopes:
        raise InvalidRequest("access", "", f"the scope {needed} was not granted")
    request.require_accept("application/json")


def check_user_agent(request: Request) -> None:
    """A User-Agent of one's own. Problem `access`: a generic one is blocked."""
    agent = request.headers.get("User-Agent", "").strip().lower()
    if not agent or agent.startswith(GENERIC_AGENTS):
        raise InvalidRequest("access", "User-Agent", "a unique, descriptive User-Agent is required")


def build_response(data: Any, status: int = 200) -> Response:
    """`{"data": ...}`."""
    return Response(status, {"data": data})


def not_found_error(what: str) -> InvalidRequest:
    """What is raised for a path that leads to nothing."""
    return InvalidRequest("absent", "", f"no such {what}")


def require_account(request: Request, *, writing: bool = False) -> Account:
    """The ad account of the path. Problem `absent`, or `access` where nothing may be written in it."""
    account = request.find_account(request.path_parameters["account"])
    if account is None:
        raise not_found_error("ad account")
    if writing:
        check_account_writable(account)
    return account


def check_account_writable(account: Account) -> None:
    """Problem `access` for an account that is not approved ("restricted writes")."""
    if account.extra["native"]["admin_approval"] not in WRITABLE_APPROVALS:
        raise InvalidRequest("access", "", "the ad account is restricted")


PAGING_CHECKS: Mapping[str, Check] = {"page.size": integer_text(1, MAX_PAGE_SIZE), "page.token": text()}


def build_page_response(request: Request, rows: Sequence[Any], wanted: Mapping[str, Any]) -> Response:
    """One page of rows, and the full address of the next one, or null."""
    page, pagination = paginate(request, rows, wanted)
    return Response(200, {"data": list(page), "pagination": pagination})


def paginate(
    request: Request, rows: Sequence[Any], wanted: Mapping[str, Any]
) -> tuple[Sequence[Any], dict[str, str | None]]:
    """A page and its `pagination`. Problem where the token is not one of ours. Without a size: 100 (chosen)."""
    first, size = 0, wanted.get("page.size", DEFAULT_PAGE_SIZE)
    if "page.token" in wanted:
        first = _decode_page_token(wanted["page.token"])
    last = first + size
    if last >= len(rows):
        return rows[first:], {"next_url": None}
    query = [(name, value) for name, value in request.query_pairs if name != "page.token"]
    query.append(("page.token", base64.urlsafe_b64encode(f"from:{last}".encode()).decode()))
    return rows[first:last], {"next_url": f"https://{HOST}{request.path}?{urlencode(query)}"}


def _decode_page_token(token: str) -> int:
    try:
        found = re.fullmatch(r"from:(\d{1,9})", base64.urlsafe_b64decode(token).decode())
    except (binascii.Error, ValueError):
        found = None
    if found is None:
        raise InvalidRequest("value", "/page.token", "is not one of this list")
    return int(found[1])


_INSTANT_PATTERN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)")


def check_datetime(value: Any, where: str) -> datetime:
    """An ISO 8601 instant with an offset or Z."""
    try:
        if isinstance(value, str) and _INSTANT_PATTERN.fullmatch(value):
            return datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidRequest("value", where, "must be a valid datetime", value) from error
    raise InvalidRequest("value", where, "must be a valid datetime", value)


def check_instant(value: Any, where: str) -> str:
    """A `moment` as it is kept and answered: UTC in seconds."""
    return format_instant(check_datetime(value, where))


def format_instant(at: datetime) -> str:
    """UTC, in seconds, with Z."""
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
