"""The envelope, the native error shape, authorization, and lists in pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from adsunify.sandbox.checks import Check, integer_text, text
from adsunify.sandbox.instants import InstantFormat
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.reddit import tables
from adsunify.sandbox.oauth import format_oauth_error, require_bearer_token
from adsunify.sandbox.paging import CursorFormat, build_next_url, paginate_from
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account

_REASONS = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    410: "Gone",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
}
# HTTP status by the code of an InvalidRequest; all others are 400.
_STATUS_BY_CODE = {"token_missing": 401, "token_invalid": 401, "token_expired": 401, "access": 403, "absent": 404}
_RATE_RESET_SECONDS = 7


def format_error(request: Request, problem: InvalidRequest) -> Response:
    """A refused request, in the error shape of the log-in or of the API."""
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
    """The response of a bare status: unknown path, or a requested fault. An unsupported verb is 404, not 405."""
    status = 404 if status == 405 else status
    if request.route.role == "login":
        return Response(status, {"message": _REASONS.get(status, "Error"), "error": status})
    body = {"error": {"code": status, "message": _REASONS.get(status, "Error")}}
    return Response(status, body, _build_rate_limit_headers(request) if status == 429 else {})


def _build_rate_limit_headers(request: Request) -> dict[str, str]:
    """The limits in a 429: `t` is the wait. There is no Retry-After (the documentation says "may")."""
    wait = request.get_wait_seconds(_RATE_RESET_SECONDS)
    return {
        "RateLimit-Policy": '"campaign_management";q=200;w=60',
        "RateLimit": f'"campaign_management";r=0;t={wait}',
    }


def _format_login_error(problem: InvalidRequest) -> Response:
    """The error of a token call. A refused client gets a bare 401 (our choice: the documentation allows either)."""
    if problem.code == "invalid_client":
        return Response(401, {"message": "Unauthorized", "error": 401})
    if problem.code == "access":
        return Response(403, {"message": "Forbidden", "error": 403})
    return format_oauth_error(problem, ("invalid_grant",))


def authorize_request(request: Request) -> None:
    """Check the bearer token and its scope, and the headers of every request."""
    check_user_agent(request)
    token = require_bearer_token(request)
    reads = request.method == "GET" or request.path.endswith(("/reports", "/query"))
    scope = tables.READ_SCOPE if reads else tables.WRITE_SCOPE
    if scope not in token.scopes:
        raise InvalidRequest("access", "", f"the scope {scope} was not granted")
    request.require_accept("application/json")


def check_user_agent(request: Request) -> None:
    """Check the User-Agent. Raises InvalidRequest `access` for a generic one, which is blocked."""
    agent = request.headers.get("User-Agent", "").strip().lower()
    if not agent or agent.startswith(tables.GENERIC_AGENTS):
        raise InvalidRequest("access", "User-Agent", "a unique, descriptive User-Agent is required")


def build_response(data: Any, status: int = 200) -> Response:
    """`{"data": ...}`."""
    return Response(status, {"data": data})


def not_found_error(object_name: str) -> InvalidRequest:
    """The error for an unknown path."""
    return InvalidRequest("absent", "", f"no such {object_name}")


def require_account(request: Request, *, writing: bool = False) -> Account:
    """The ad account of the path. Raises InvalidRequest `absent`, or `access` if writes are not allowed."""
    account = request.find_account(request.path_parameters["account"])
    if account is None:
        raise not_found_error("ad account")
    if writing:
        check_account_writable(account)
    return account


def check_account_writable(account: Account) -> None:
    """Raises InvalidRequest `access` for an account that is not approved ("restricted writes")."""
    if account.extra["native"]["admin_approval"] not in tables.WRITABLE_APPROVALS:
        raise InvalidRequest("access", "", "the ad account is restricted")


PAGING_CHECKS: Mapping[str, Check] = {"page.size": integer_text(1, tables.MAX_PAGE_SIZE), "page.token": text()}
_CURSORS = CursorFormat("/page.token", "from:", is_url_safe=True)


def build_page_response(request: Request, rows: Sequence[Any], query: Mapping[str, Any]) -> Response:
    """One page of rows, and the full address of the next one, or null."""
    page, pagination = paginate(request, rows, query)
    return Response(200, {"data": list(page), "pagination": pagination})


def paginate(
    request: Request, rows: Sequence[Any], query: Mapping[str, Any]
) -> tuple[Sequence[Any], dict[str, str | None]]:
    """A page and its `pagination`.

    Raises InvalidRequest for a token of another list. The default size is 100 (our choice).
    """
    page, token = paginate_from(
        rows, query.get("page.token"), query.get("page.size", tables.DEFAULT_PAGE_SIZE), _CURSORS
    )
    return page, {"next_url": build_next_url(request, tables.HOST, "page.token", token) if token else None}


INSTANT = InstantFormat(
    pattern=r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)",
    decimals="seconds",
    suffix="Z",
    message="must be a valid datetime",
    missing_message="must be a valid datetime",
)
