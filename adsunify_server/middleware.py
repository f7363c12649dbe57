"""The middleware of every request: its id, the form of its errors, its log line and its metrics."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from time import perf_counter

from aiohttp import web
from aiohttp.typedefs import Middleware

from adsunify.errors import AdsunifyError
from adsunify.problem_details import to_problem_details
from adsunify.service.authentication import REQUEST_CONTEXT, RequestContext
from adsunify.service.core import Service
from adsunify.service.rate_limits import find_client_ip
from adsunify.service.tokens import make_request_id
from adsunify.telemetry.tracing import NO_TRACER, Span
from adsunify_server.logs import LOG_MEMBERS
from adsunify_server.metrics import RequestMetrics
from adsunify_server.pages.rendering import render_page
from adsunify_server.problems import encoded_body_problem, http_problem, problem_headers, problem_response
from adsunify_server.repeated import find_repeated_header

log = logging.getLogger("adsunify.server")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
API_PREFIX = "/api/"
"""Errors below this path are never HTML pages."""
IDENTITY_ENCODING = "identity"
QUIET_ENDPOINTS = ("GET /healthz", "GET /readyz")
"""Endpoints that probes call every few seconds: their requests are logged at the debug level."""


def request_middleware(service: Service, requests: RequestMetrics) -> Middleware:
    """Make the server's middleware."""

    @web.middleware
    async def handle(request: web.Request, handler: Handler) -> web.StreamResponse:
        started_at = perf_counter()
        proxies = service.settings.proxies
        forwarded = request.headers.getall("X-Forwarded-For", ()) if proxies else ()
        context = RequestContext(make_request_id(), find_client_ip(proxies, request.remote, forwarded))
        REQUEST_CONTEXT.set(context)
        name = requests.name_route(request.match_info.route)
        tracer = NO_TRACER if name in QUIET_ENDPOINTS else service.tracer
        with tracer.start_span(name, "server", request.headers.get("traceparent")) as span:
            try:
                answer = await _respond(request, handler, context.request_id)
            except web.HTTPInternalServerError as failure:
                _finish(request, failure, context, started_at, span)
                raise
            _finish(request, answer, context, started_at, span)
        return answer

    def _finish(
        request: web.Request, answer: web.StreamResponse, context: RequestContext, started_at: float, span: Span
    ) -> None:
        answer.headers["X-Request-Id"] = context.request_id
        answer.headers.setdefault("Cache-Control", "no-store")
        name = requests.name_route(request.match_info.route)
        seconds = perf_counter() - started_at
        requests.count_request(name, answer.status, seconds)
        level = logging.DEBUG if name in QUIET_ENDPOINTS else logging.INFO
        if log.isEnabledFor(level):
            log.log(level, "answered", extra={LOG_MEMBERS: _log_members(request, answer, context, name, seconds)})
        if span.is_recording:
            _describe_request(span, request, answer, context)

    return handle


def _log_members(
    request: web.Request, answer: web.StreamResponse, context: RequestContext, name: str, seconds: float
) -> dict[str, object]:
    """Return the members of a request's log line. The method is the only text of the caller in them."""
    resource = request.match_info.route.resource
    return {
        "endpoint": name,
        "method": request.method,
        "route": None if resource is None else resource.canonical,
        "status": answer.status,
        "durationMs": round(seconds * 1000, 1),
        "credential": context.owner,
        "workspaceId": context.workspace_id,
    }


def _describe_request(span: Span, request: web.Request, answer: web.StreamResponse, context: RequestContext) -> None:
    """Set the attributes of a request's span, which resemble its log line."""
    resource = request.match_info.route.resource
    span.set_attributes(
        {
            "http.request.method": request.method,
            "http.route": None if resource is None else resource.canonical,
            "http.response.status_code": answer.status,
            "adsunify.request_id": context.request_id,
            "adsunify.workspace_id": context.workspace_id,
            "adsunify.operation_id": context.operation_id,
        }
    )
    if answer.status >= 500:
        span.set_error(str(answer.status))


async def _respond(request: web.Request, handler: Handler, request_id: str) -> web.StreamResponse:
    try:
        if request.body_exists and not is_uncompressed(request):
            return _error_response(request, encoded_body_problem(), request_id, {"Accept-Encoding": IDENTITY_ENCODING})
        repeated = find_repeated_header(request.headers)
        if repeated is not None:
            return _error_response(request, repeated, request_id)
        return await handler(request)
    except AdsunifyError as error:
        if error.status >= 500:
            log.exception("%s: %s", error.code, error.message)
        return _error_response(request, error, request_id)
    except web.HTTPException as refusal:
        allow = {"Allow": refusal.headers["Allow"]} if "Allow" in refusal.headers else {}
        return _error_response(request, http_problem(refusal.status), request_id, allow)
    except Exception as failure:
        if isinstance(failure, ConnectionResetError) and request.transport is None:  # the caller hung up
            return _error_response(request, http_problem(400), request_id)
        log.exception("failed")
        response = _error_response(request, AdsunifyError("", outcome="unknown"), request_id)
        raise web.HTTPInternalServerError(
            text=response.text, content_type=response.content_type, headers=_copy_headers(response)
        ) from failure


def _copy_headers(answer: web.Response) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name != "Content-Type"}


def _error_response(
    request: web.Request, error: AdsunifyError, request_id: str, headers: dict[str, str] | None = None
) -> web.Response:
    """Return the response to an error: a page for browsers, otherwise problem details."""
    if request.path.startswith(API_PREFIX) or not wants_html(request):
        return problem_response(error, request_id, headers)
    problem = {**to_problem_details(error), "requestId": request_id}
    answer = render_page("error.html", error.status, problem=problem)
    answer.headers.update({**problem_headers(error), **(headers or {})})
    return answer


def is_uncompressed(request: web.Request) -> bool:
    """Whether the request has no Content-Encoding. A short compressed body can unpack to a very long one."""
    return all(
        encoding.strip().lower() == IDENTITY_ENCODING for encoding in request.headers.getall("Content-Encoding", ())
    )


def wants_html(request: web.Request) -> bool:
    """Whether the Accept header prefers HTML to JSON, as browsers do."""
    weights: dict[str, float] = {}
    for part in ",".join(request.headers.getall("Accept", ())).split(","):
        name, _, parameters = part.partition(";")
        weight = parameters.replace(" ", "").partition("q=")[2].partition(";")[0]
        weights[name.strip().lower()] = _parse_weight(weight)
    return weights.get("text/html", 0) > max(weights.get("application/json", 0), 0)


def _parse_weight(weight: str) -> float:
    try:
        return float(weight) if weight else 1.0
    except ValueError:
        return 0.0
