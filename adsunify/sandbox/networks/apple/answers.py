"""Envelopes, the native error shapes, authorization and pages."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from adsunify.sandbox.checks import text
from adsunify.sandbox.instants import InstantFormat
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.oauth import format_oauth_error, require_bearer_token
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account

# Code of an InvalidRequest: HTTP status and Apple's code. All others are VALIDATION_ERROR.
_ERRORS_BY_CODE: Mapping[str, tuple[int, str]] = {
    "token_missing": (401, "unauthorized"),
    "token_invalid": (401, "unauthorized"),
    "token_expired": (401, "unauthorized"),
    "forbidden": (403, "forbidden"),
    "absent": (404, "not_found"),
    "unreadable": (400, "bad_request"),
    "duplicate": (400, "bad_request"),
    "header": (400, "bad_request"),
    "media_type": (415, "bad_request"),
}
_CODES_BY_STATUS = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    429: "rate_limit_exceeded",
}
_RATE_LIMIT, _RATE_LIMIT_RESET_SECONDS, _RETRY_AFTER_SECONDS = 1000, 60, 7
_OAUTH_ERRORS = ("invalid_client", "unsupported_grant_type", "invalid_scope")
# These calls have no X-AP-Context; all others name their ad account.
_PATHS_WITHOUT_ACCOUNT = re.compile(r"/v1/(me|acls|orgs/[^/]+|advertiser-resources)")


def build_response(body: Any, status: int = 200) -> Response:
    """An answer with the headers that every response carries."""
    return Response(status, body, _build_headers())


def _build_headers(remaining: int = _RATE_LIMIT - 1) -> dict[str, str]:
    return {
        "RateLimit-Limit": str(_RATE_LIMIT),
        "RateLimit-Remaining": str(remaining),
        "RateLimit-Reset": str(_RATE_LIMIT_RESET_SECONDS),
    }


def format_error(request: Request, problem: InvalidRequest) -> Response:
    """The response to a refused request."""
    if request.route.role == "login":  # log-in errors have the shape of OAuth (unverified)
        return format_oauth_error(problem, _OAUTH_ERRORS, client_status=400)
    status, _ = map_error(problem)
    return build_response({"error": render_error(problem)}, status)


def map_error(problem: InvalidRequest) -> tuple[int, str]:
    """HTTP status and Apple's code for a failed check."""
    return _ERRORS_BY_CODE.get(problem.code, (400, "VALIDATION_ERROR"))


def render_error(problem: InvalidRequest) -> dict[str, Any]:
    """The content of `error`. A 404 has the second documented shape (our choice)."""
    status, code = map_error(problem)
    if status == 404:
        return {"errors": [{"code": code, "message": problem.message}]}
    field = problem.where.strip("/").replace("/", ".")
    details = [{"code": problem.code.upper(), "message": problem.message, "info": {"field": field}}] if field else []
    return {"code": code, "message": f"{field}: {problem.message}" if field else problem.message, "details": details}


def format_status_error(request: Request, status: int) -> Response:
    """The response of a bare status: unknown path or method, or a requested fault."""
    code = _CODES_BY_STATUS.get(status, "internal_server_error" if status >= 500 else "bad_request")
    error = {"code": code, "message": f"HTTP {status}", "details": []}
    if status == 429:
        return Response(status, {"error": error}, {**_build_headers(0), "Retry-After": str(_RETRY_AFTER_SECONDS)})
    return Response(status, {"error": error}, _build_headers())


def authorize_request(request: Request) -> None:
    """Check the bearer token, and the context of calls for an ad account."""
    require_bearer_token(request)
    if not _PATHS_WITHOUT_ACCOUNT.fullmatch(request.path):
        require_account(request)


def require_account(request: Request) -> Account:
    """The ad account of X-AP-Context. Raises InvalidRequest `header`, or `forbidden` if the user has no role there."""
    context = request.require_header("X-AP-Context", text(pattern=r"adAccountId=[1-9][0-9]*"))
    account = request.find_account(context.partition("=")[2])
    if account is None:
        raise InvalidRequest("forbidden", "", "no role in this ad account")
    return account


def not_found_error(object_name: str) -> InvalidRequest:
    """The error for an object that does not exist."""
    return InvalidRequest("absent", "", f"{object_name} not found")


INSTANT = InstantFormat(
    pattern=r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}",
    decimals="milliseconds",
    suffix="",
    message="must be yyyy-MM-dd'T'HH:mm:ss.SSS, UTC without a suffix",
    missing_message="is no instant",
)


def paginate(
    rows: Sequence[Mapping[str, Any]], offset: int, size: int, *, total: bool = True
) -> tuple[list[Mapping[str, Any]], dict[str, int]]:
    """One page and its `pagination`; `totalCount` only if requested."""
    pagination = {"offset": offset, "pageSize": size}
    return list(rows[offset : offset + size]), {**pagination, "totalCount": len(rows)} if total else pagination
