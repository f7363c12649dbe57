"""Errors as responses: RFC 9457 problem details with the id of the request."""

from __future__ import annotations

import math
from collections.abc import Mapping

from aiohttp import web

from adsunify.errors import AdsunifyError, OperationError, ProviderThrottled, RateLimited, Unauthenticated
from adsunify.problem_details import to_problem_details
from adsunify.values.exact_json import dumps_bytes

MEDIA_TYPE = "application/problem+json"

HTTP_PROBLEMS: Mapping[int, tuple[str, str, str]] = {
    400: ("malformed_request", "Malformed request", "The server cannot read this as an HTTP request."),
    404: ("not_found", "Not found", "No page or endpoint has this address."),
    405: ("method_not_allowed", "Method not allowed", "This address does not accept this method."),
    406: ("not_acceptable", "Not acceptable", "Responses are application/json, which the Accept header excludes."),
    413: ("body_too_large", "Body too large", "The request body is larger than 1 MiB."),
    415: ("unsupported_media_type", "Unsupported media type", "The request body must be application/json."),
}
"""Refusals of the HTTP layer: status -> code, title and detail."""


def http_problem(status: int) -> AdsunifyError:
    """Return the error of a refusal by the HTTP layer. Raises KeyError for a status that has none."""
    code, title, detail = HTTP_PROBLEMS[status]
    error = AdsunifyError(detail, code=code)
    error.status, error.title = status, title
    return error


def encoded_body_problem() -> AdsunifyError:
    """Return the error of a request body that has a Content-Encoding."""
    error = http_problem(415)
    error.message = "The request body has a Content-Encoding. Send it without compression."
    return error


def problem_response(error: AdsunifyError, request_id: str, headers: Mapping[str, str] | None = None) -> web.Response:
    """Return the response to an error."""
    more = {**problem_headers(error), **(headers or {})}
    if isinstance(error, Unauthenticated):
        more["WWW-Authenticate"] = 'Bearer realm="adsunify"'
    body = dumps_bytes({**to_problem_details(error), "requestId": request_id})
    return web.Response(status=error.status, body=body, content_type=MEDIA_TYPE, headers=more)


def problem_headers(error: AdsunifyError) -> dict[str, str]:
    """Return the ``Retry-After`` and rate limit headers of an error; empty for other errors."""
    if not isinstance(error, ProviderThrottled | RateLimited | OperationError) or error.retry_after is None:
        return {}
    seconds = math.ceil(error.retry_after)
    if isinstance(error, RateLimited) and error.limit is not None:
        return {"Retry-After": str(seconds), **rate_limit_headers(error.limit, 0, seconds)}
    return {"Retry-After": str(seconds)}


def rate_limit_headers(limit: int, remaining: int, seconds: int) -> dict[str, str]:
    """Return the headers of a rate limit: the limit, what is left of it, and the seconds until more is available."""
    return {
        "RateLimit-Limit": str(limit),
        "RateLimit-Remaining": str(remaining),
        "RateLimit-Reset": str(seconds),
    }
