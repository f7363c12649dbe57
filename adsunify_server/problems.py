"""Errors as answers: RFC 9457 problem details with the id of the request."""

from __future__ import annotations

import math
from collections.abc import Mapping

from aiohttp import web

from adsunify.errors import AdsunifyError, OperationError, ProviderThrottled, RateLimited, Unauthenticated
from adsunify.problem_details import to_problem_details
from adsunify.values.exact_json import dumps_bytes

MEDIA_TYPE = "application/problem+json"

HTTP_PROBLEMS: Mapping[int, tuple[str, str, str]] = {
    400: ("malformed_request", "Malformed request", "This is no HTTP request that the server can read."),
    404: ("not_found", "Not found", "There is nothing at this address."),
    405: ("method_not_allowed", "Method not allowed", "This address does not take this method."),
    406: ("not_acceptable", "Not acceptable", "Answers are application/json; the Accept header excludes it."),
    413: ("body_too_large", "Body too large", "The request body is larger than 1 MiB."),
    415: ("unsupported_media_type", "Unsupported media type", "A request body is application/json."),
}
"""What the HTTP layer itself refuses: status to code, title and sentence."""


def http_problem(status: int) -> AdsunifyError:
    """The error that a refusal of the HTTP layer is; KeyError where it is none that can be."""
    code, title, detail = HTTP_PROBLEMS[status]
    error = AdsunifyError(detail, code=code)
    error.status, error.title = status, title
    return error


def encoded_body_problem() -> AdsunifyError:
    """The error of a request body with a Content-Encoding."""
    error = http_problem(415)
    error.message = "The request body has a Content-Encoding. Send it without compression."
    return error


def problem_response(error: AdsunifyError, request_id: str, headers: Mapping[str, str] | None = None) -> web.Response:
    """The answer to an error."""
    more = {**problem_headers(error), **(headers or {})}
    if isinstance(error, Unauthenticated):
        more["WWW-Authenticate"] = 'Bearer realm="adsunify"'
    body = dumps_bytes({**to_problem_details(error), "requestId": request_id})
    return web.Response(status=error.status, body=body, content_type=MEDIA_TYPE, headers=more)


def problem_headers(error: AdsunifyError) -> dict[str, str]:
    """What the headers of an answer say about an error: when to come back."""
    if not isinstance(error, ProviderThrottled | RateLimited | OperationError) or error.retry_after is None:
        return {}
    seconds = math.ceil(error.retry_after)
    if isinstance(error, RateLimited) and error.limit is not None:
        return {"Retry-After": str(seconds), **rate_limit_headers(error.limit, 0, seconds)}
    return {"Retry-After": str(seconds)}


def rate_limit_headers(limit: int, remaining: int, seconds: int) -> dict[str, str]:
    """The headers of a rate limit: what is allowed at once, what is left of it, seconds until there is more."""
    return {
        "RateLimit-Limit": str(limit),
        "RateLimit-Remaining": str(remaining),
        "RateLimit-Reset": str(seconds),
    }
