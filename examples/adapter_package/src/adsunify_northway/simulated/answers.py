"""The native error shape, authorization, and lists in pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from adsunify.sandbox.checks import Check, integer_text, text
from adsunify.sandbox.instants import InstantFormat
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.oauth import format_oauth_error, require_bearer_token
from adsunify.sandbox.paging import CursorFormat, paginate_after
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account
from adsunify_northway.simulated import tables

# status and native code by the code of an InvalidRequest; all others are 400 INVALID_FIELD
_ERRORS: Mapping[str, tuple[int, str]] = {
    "token_missing": (401, "TOKEN_REVOKED"),
    "token_invalid": (401, "TOKEN_REVOKED"),
    "token_expired": (401, "TOKEN_EXPIRED"),
    "access": (403, "NO_ACCESS"),
    "absent": (404, "NOT_FOUND"),
}
# the native code of a response that is known only by its status
_STATUS_CODES: Mapping[int, str] = {
    400: "INVALID_FIELD",
    401: "TOKEN_REVOKED",
    403: "NO_ACCESS",
    404: "NOT_FOUND",
    409: "CONFLICT",
    429: "SLOW_DOWN",
}


def _trace(request: Request) -> dict[str, str]:
    return {"X-Northway-Trace": str(request.stable_id)}


def build_response(request: Request, body: Any, status: int = 200) -> Response:
    """Make a native response with the id of its request."""
    return Response(status, body, _trace(request))


def format_error(request: Request, problem: InvalidRequest) -> Response:
    """Make the response to a refused request. Token calls answer as RFC 6749 says (chosen)."""
    if request.route.role == "login":
        return format_oauth_error(problem, ("invalid_grant", "invalid_client"))
    status, code = _ERRORS.get(problem.code, (400, "INVALID_FIELD"))
    error = {"code": code, "message": problem.message or code}
    place = problem.where.strip("/").replace("/", ".")
    return build_response(request, {"error": error | ({"field": place} if status == 400 and place else {})}, status)


def format_status_error(request: Request, status: int) -> Response:
    """Make the response of a bare status: unknown path or method, or a requested fault."""
    headers = _trace(request) | ({"Retry-After": "7"} if status == 429 else {})
    code = _STATUS_CODES.get(status)
    body = {"error": {"code": code or "ERROR", "message": code or "Error"}}
    return Response(status, body, headers)


def authorize_request(request: Request) -> None:
    """Check the bearer token."""
    require_bearer_token(request)


def make_absent_error(what: str) -> InvalidRequest:
    """Return the error of an unknown object."""
    return InvalidRequest("absent", "", f"no such {what}")


def require_advertiser(request: Request) -> Account:
    """Return the advertiser of the path. Raises InvalidRequest `access` for an unknown one (chosen: 403, not 404)."""
    account = request.find_account(request.path_parameters["advertiser"])
    if account is None:
        raise InvalidRequest("access", "", "no right on this advertiser")
    return account


def check_writable(account: Account) -> None:
    """Raises InvalidRequest `access` for an advertiser that is not OPEN."""
    if account.extra["state"] != "OPEN":
        raise InvalidRequest("access", "", "the advertiser is not open")


PAGING_CHECKS: Mapping[str, Check] = {"limit": integer_text(1, tables.MAX_PAGE_SIZE), "after": text()}
_CURSORS = CursorFormat("/after", "after:", is_url_safe=True)


def build_page(
    request: Request, rows: Sequence[Mapping[str, Any]], query: Mapping[str, Any], key: str = "id"
) -> Response:
    """Make one page of rows."""
    named = [{"id": row[key], "row": row} for row in rows]
    page, after = paginate_after(named, query.get("after"), query.get("limit", tables.DEFAULT_PAGE_SIZE), _CURSORS)
    return build_response(request, {"items": [entry["row"] for entry in page], "after": after})


INSTANT = InstantFormat(
    pattern=r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
    decimals="seconds",
    suffix="Z",
    message="must be RFC 3339 in UTC",
    missing_message="must be RFC 3339 in UTC",
)
