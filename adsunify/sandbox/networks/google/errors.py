"""Errors in the native shape. An InvalidRequest may have a native code: `campaignError.X`."""

import re
import secrets
from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.google.messages import to_snake_case
from adsunify.sandbox.oauth import format_oauth_error
from adsunify.sandbox.parsing import InvalidRequest

FAILURE_TYPE = "type.googleapis.com/google.ads.googleads.v26.errors.GoogleAdsFailure"
PLAIN_ERROR = None  # an error without a GoogleAdsFailure

# code of the framework -> native code. The documentation names none for a malformed message: INVALID_VALUE is our
# choice.
CODE_BY_PROBLEM: Mapping[str, str | None] = {
    "unreadable": PLAIN_ERROR,
    "media_type": PLAIN_ERROR,
    "token_missing": PLAIN_ERROR,
    "duplicate": "fieldError.INVALID_VALUE",
    "unknown": "fieldError.INVALID_VALUE",
    "type": "fieldError.INVALID_VALUE",
    "value": "fieldError.INVALID_VALUE",
    "required": "requestError.REQUIRED_FIELD_MISSING",
    "header": "headerError.INVALID_LOGIN_CUSTOMER_ID",
    "token_invalid": "authenticationError.OAUTH_TOKEN_INVALID",
    "token_expired": "authenticationError.OAUTH_TOKEN_EXPIRED",
    "missing": "mutateError.RESOURCE_NOT_FOUND",
    "ineligible": "mutateError.RESOURCE_NOT_FOUND",
    "processing": "mutateError.RESOURCE_NOT_FOUND",
}
# native code, or its category -> HTTP status; all others are 400
STATUS_BY_CATEGORY = {
    "authenticationError": 401,
    "authorizationError": 403,
    "quotaError": 429,
    "internalError": 500,
    "mutateError.RESOURCE_NOT_FOUND": 404,
    "databaseError.CONCURRENT_MODIFICATION": 409,
}
# HTTP status -> canonical status, message, and the native code of the fault `status`
ERROR_BY_STATUS: Mapping[int, tuple[str, str, str | None]] = {
    400: ("INVALID_ARGUMENT", "Request contains an invalid argument.", "fieldError.INVALID_VALUE"),
    401: (
        "UNAUTHENTICATED",
        "Request had invalid authentication credentials.",
        "authenticationError.OAUTH_TOKEN_INVALID",
    ),
    403: ("PERMISSION_DENIED", "The caller does not have permission", "authorizationError.USER_PERMISSION_DENIED"),
    404: ("NOT_FOUND", "Requested entity was not found.", "requestError.RESOURCE_NOT_FOUND"),
    409: ("ABORTED", "The operation was aborted.", "databaseError.CONCURRENT_MODIFICATION"),
    429: (
        "RESOURCE_EXHAUSTED",
        "Resource has been exhausted (e.g. check quota).",
        "quotaError.RESOURCE_TEMPORARILY_EXHAUSTED",
    ),
    500: ("INTERNAL", "Internal error encountered.", "internalError.INTERNAL_ERROR"),
    503: ("UNAVAILABLE", "The service is currently unavailable.", "internalError.TRANSIENT_ERROR"),
    504: ("DEADLINE_EXCEEDED", "Deadline expired before operation could complete.", "internalError.DEADLINE_EXCEEDED"),
}
UNKNOWN_ERROR = ("UNKNOWN", "Unknown error.", PLAIN_ERROR)
_RETRY_DELAY_SECONDS = 2
_OAUTH_ERRORS = ("invalid_client", "invalid_grant", "unsupported_grant_type")


def build_response(body: Any, status: int = 200, request_id: str | None = None) -> Response:
    """An answer of the ads API, with its `request-id`."""
    return Response(status, body, {"request-id": request_id or _make_request_id()})


def format_error(request: Request, problem: InvalidRequest) -> Response:
    """The response to a refused request, in the shape of its host."""
    if request.route.role == "login":
        return format_oauth_error(problem, _OAUTH_ERRORS, problem.message)
    code = map_error(problem)
    if code is PLAIN_ERROR:
        return _build_error(401 if problem.code == "token_missing" else 400, problem.message, None, None)
    category = code.partition(".")[0]
    return _build_error(
        STATUS_BY_CATEGORY.get(code, STATUS_BY_CATEGORY.get(category, 400)), None, code, render_error(problem)
    )


def format_status_error(request: Request, status: int) -> Response:
    """The response of a bare status: unknown path, or a requested fault."""
    if request.route.role == "login":
        return Response(status, {"error": "internal_failure" if status >= 500 else "invalid_request"})
    _, message, code = ERROR_BY_STATUS.get(status, UNKNOWN_ERROR)
    if code is PLAIN_ERROR:
        return _build_error(status, message, None, None)
    error: dict[str, Any] = {"errorCode": _build_error_code(code), "message": message}
    if status == 429:
        delay = f"{request.get_wait_seconds(_RETRY_DELAY_SECONDS)}s"
        quota = {"rateScope": "ACCOUNT", "rateName": "Requests per minute", "retryDelay": delay}
        error["details"] = {"quotaErrorDetails": quota}
    return _build_error(status, None, code, error)


def map_error(problem: InvalidRequest) -> str | None:
    """The native code `category.NAME` of an InvalidRequest, or None for an error without a GoogleAdsFailure."""
    return problem.code if "." in problem.code else CODE_BY_PROBLEM[problem.code]


def render_error(problem: InvalidRequest) -> dict[str, Any]:
    """An InvalidRequest as a GoogleAdsError. Its value becomes the `trigger`, or, if it is a mapping, the `details`."""
    error: dict[str, Any] = {"errorCode": _build_error_code(map_error(problem) or ""), "message": problem.message}
    match problem.value:
        case bool():
            error["trigger"] = {"booleanValue": problem.value}
        case int():
            error["trigger"] = {"int64Value": str(problem.value)}
        case str():
            error["trigger"] = {"stringValue": problem.value}
        case Mapping():
            error["details"] = problem.value
    if problem.where.startswith("/"):
        error["location"] = {"fieldPathElements": _build_location(problem.where)}
    return error


def build_partial_failure(errors: list[dict[str, Any]]) -> dict[str, Any]:
    """`partialFailureError` of a 200."""
    return {
        "code": 3,
        "message": "Multiple errors in ‘details’. First error: " + errors[0]["message"],
        "details": [{"@type": FAILURE_TYPE, "errors": errors, "requestId": _make_request_id()}],
    }


def _build_error(status: int, message: str | None, code: str | None, error: Mapping[str, Any] | None) -> Response:
    request_id, (canonical, usual, _) = _make_request_id(), ERROR_BY_STATUS.get(status, UNKNOWN_ERROR)
    body: dict[str, Any] = {"code": status, "message": message or usual, "status": canonical}
    if code is not PLAIN_ERROR:
        body["details"] = [{"@type": FAILURE_TYPE, "errors": [error], "requestId": request_id}]
    return build_response({"error": body}, status, request_id)


def _build_location(where: str) -> list[dict[str, Any]]:
    """A pointer as field path elements; an index of 0 is the default value and left out."""
    elements: list[dict[str, Any]] = []
    for step in where.split("/")[1:]:
        if re.fullmatch("[0-9]+", step) and elements:
            elements[-1] |= {"index": int(step)} if int(step) else {}
        else:
            elements.append({"fieldName": to_snake_case(step)})
    return elements


def _build_error_code(code: str) -> dict[str, str]:
    category, _, name = code.partition(".")
    return {category: name}


def _make_request_id() -> str:
    return secrets.token_urlsafe(16)
