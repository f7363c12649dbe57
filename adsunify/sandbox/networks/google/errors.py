"""Errors in the native shape. A Problem of ours has a native code: `campaignError.X`."""

import re
import secrets
from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.framework import Answer, Problem, Request
from adsunify.sandbox.networks.google.messages import snake

FAILURE = "type.googleapis.com/google.ads.googleads.v26.errors.GoogleAdsFailure"
PLAIN = None  # an error without a GoogleAdsFailure

# what the framework finds -> native code. The documentation names none for a malformed message: INVALID_VALUE is our
# choice.
FOUND: Mapping[str, str | None] = {
    "unreadable": PLAIN, "media_type": PLAIN, "token_missing": PLAIN,
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
}  # fmt: skip
# native code, or its category -> HTTP status; 400 else
STATUSES = {
    "authenticationError": 401, "authorizationError": 403, "quotaError": 429, "internalError": 500,
    "mutateError.RESOURCE_NOT_FOUND": 404, "databaseError.CONCURRENT_MODIFICATION": 409,
}  # fmt: skip
# HTTP status -> canonical status, message, and the native code of a fault that is told as a bare status
CANONICAL: Mapping[int, tuple[str, str, str | None]] = {
    400: ("INVALID_ARGUMENT", "Request contains an invalid argument.", "fieldError.INVALID_VALUE"),
    401: ("UNAUTHENTICATED", "Request had invalid authentication credentials.",
          "authenticationError.OAUTH_TOKEN_INVALID"),
    403: ("PERMISSION_DENIED", "The caller does not have permission", "authorizationError.USER_PERMISSION_DENIED"),
    404: ("NOT_FOUND", "Requested entity was not found.", "requestError.RESOURCE_NOT_FOUND"),
    409: ("ABORTED", "The operation was aborted.", "databaseError.CONCURRENT_MODIFICATION"),
    429: ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).",
          "quotaError.RESOURCE_TEMPORARILY_EXHAUSTED"),
    500: ("INTERNAL", "Internal error encountered.", "internalError.INTERNAL_ERROR"),
    503: ("UNAVAILABLE", "The service is currently unavailable.", "internalError.TRANSIENT_ERROR"),
    504: ("DEADLINE_EXCEEDED", "Deadline expired before operation could complete.", "internalError.DEADLINE_EXCEEDED"),
}  # fmt: skip
OTHER = ("UNKNOWN", "Unknown error.", PLAIN)
RETRY = {"quotaErrorDetails": {"rateScope": "ACCOUNT", "rateName": "Requests per minute", "retryDelay": "2s"}}
# the OAuth hosts have their own words (RFC 6749): framework code -> HTTP status and error
LOGIN_ERRORS = {"invalid_client": (401, "invalid_client"), "invalid_grant": (400, "invalid_grant"),
                "unsupported_grant_type": (400, "unsupported_grant_type")}  # fmt: skip


def answer(body: Any, status: int = 200, request_id: str | None = None) -> Answer:
    """An answer of the ads API, with its `request-id`."""
    return Answer(status, body, {"request-id": request_id or _request_id()})


def problem(request: Request, problem: Problem) -> Answer:
    """Any refusal, in the shape of the host that refuses."""
    if request.route.role == "login":
        status, error = LOGIN_ERRORS.get(problem.code, (400, "invalid_request"))
        return Answer(status, {"error": error, "error_description": problem.message})
    code = native(problem)
    if code is PLAIN:
        return _error(401 if problem.code == "token_missing" else 400, problem.message, None, None)
    category = code.partition(".")[0]
    return _error(STATUSES.get(code, STATUSES.get(category, 400)), None, code, described(problem))


def failure(request: Request, status: int) -> Answer:
    """A bare status: an unknown path, or a told fault."""
    if request.route.role == "login":
        return Answer(status, {"error": "internal_failure" if status >= 500 else "invalid_request"})
    _, message, code = CANONICAL.get(status, OTHER)
    if code is PLAIN:
        return _error(status, message, None, None)
    error: dict[str, Any] = {"errorCode": _code(code), "message": message}
    return _error(status, None, code, {**error, "details": RETRY} if status == 429 else error)


def native(problem: Problem) -> str | None:
    """The native code `category.NAME` of a Problem, or None where the answer carries no GoogleAdsFailure."""
    return problem.code if "." in problem.code else FOUND[problem.code]


def described(problem: Problem) -> dict[str, Any]:
    """A Problem as a GoogleAdsError. Its value is the `trigger`, or, as a mapping, the `details`."""
    error: dict[str, Any] = {"errorCode": _code(native(problem) or ""), "message": problem.message}
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
        error["location"] = {"fieldPathElements": _location(problem.where)}
    return error


def partial_failure(errors: list[dict[str, Any]]) -> dict[str, Any]:
    """`partialFailureError` of a 200."""
    return {
        "code": 3,
        "message": "Multiple errors in ‘details’. First error: " + errors[0]["message"],
        "details": [{"@type": FAILURE, "errors": errors, "requestId": _request_id()}],
    }


def _error(status: int, message: str | None, code: str | None, error: Mapping[str, Any] | None) -> Answer:
    request_id, (canonical, usual, _) = _request_id(), CANONICAL.get(status, OTHER)
    body: dict[str, Any] = {"code": status, "message": message or usual, "status": canonical}
    if code is not PLAIN:
        body["details"] = [{"@type": FAILURE, "errors": [error], "requestId": request_id}]
    return answer({"error": body}, status, request_id)


def _location(where: str) -> list[dict[str, Any]]:
    """A pointer as field path elements; an index of 0 is a default value, and left out."""
    elements: list[dict[str, Any]] = []
    for step in where.split("/")[1:]:
        if re.fullmatch("[0-9]+", step) and elements:
            elements[-1] |= {"index": int(step)} if int(step) else {}
        else:
            elements.append({"fieldName": snake(step)})
    return elements


def _code(code: str) -> dict[str, str]:
    category, _, name = code.partition(".")
    return {category: name}


def _request_id() -> str:
    return secrets.token_urlsafe(16)
