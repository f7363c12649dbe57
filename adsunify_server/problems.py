"""Errors on the wire: RFC 9457 problem details, one table, one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from adsunify.errors import AdsunifyError, InvalidInput, OperationError, ProviderError
from adsunify.wire import dumps

MEDIA_TYPE = "application/problem+json"

HTTP_PROBLEMS: Mapping[int, tuple[str, str]] = {
    404: ("not_found", "There is nothing at this address."),
    405: ("method_not_allowed", "This address does not take this method."),
    406: ("not_acceptable", "Answers are application/json; the Accept header excludes it."),
    413: ("body_too_large", "The request body is larger than 1 MiB."),
    415: ("unsupported_media_type", "A request body is application/json."),
    500: ("internal_error", "Something failed here. Read the operation before doing anything else."),
    503: ("shutting_down", "The server is shutting down."),
}
"""Status to code and sentence, for what the HTTP layer itself refuses."""

TITLES: Mapping[int, str] = {
    405: "Method not allowed",
    406: "Not acceptable",
    413: "Body too large",
    415: "Unsupported media type",
    500: "Internal error",
    503: "Unavailable",
    404: "Not found",
}


def problem(error: AdsunifyError, request_id: str, headers: Mapping[str, str] | None = None) -> web.Response:
    """The answer to an error of ours."""
    body: dict[str, Any] = {
        "type": f"urn:adsunify:problem:{error.code}",
        "title": error.title,
        "status": error.status,
        "detail": error.message,
        "code": error.code,
        "outcome": error.outcome,
        "requestId": request_id,
    }
    if isinstance(error, InvalidInput):
        body["issues"] = [issue.to_json() for issue in error.issues]
    if isinstance(error, ProviderError | OperationError) and error.native is not None:
        body["network"] = error.native.to_json()
    if isinstance(error, OperationError) and error.operation is not None:
        body["operationId"] = error.operation["id"]
        body["operation"] = error.operation
    return _answer(error.status, body, headers or {})


def http_problem(status: int, request_id: str, headers: Mapping[str, str] | None = None) -> web.Response:
    """The answer to what the HTTP layer refuses."""
    code, detail = HTTP_PROBLEMS[status]
    body = {
        "type": f"urn:adsunify:problem:{code}",
        "title": TITLES[status],
        "status": status,
        "detail": detail,
        "code": code,
        "outcome": "unknown" if status == 500 else "not_applied",
        "requestId": request_id,
    }
    return _answer(status, body, headers or {})


def _answer(status: int, body: Mapping[str, Any], headers: Mapping[str, str]) -> web.Response:
    return web.Response(
        status=status,
        body=dumps(body).encode("ascii"),
        content_type=MEDIA_TYPE,
        headers={"X-Request-Id": body["requestId"], "Cache-Control": "no-store", **headers},
    )
