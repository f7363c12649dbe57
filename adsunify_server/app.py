"""The aiohttp application: routes made from the contract table, bearer authentication, problem details."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import AsyncIterator, Callable, Iterable

from aiohttp import web
from multidict import MultiDict

from adsunify.contract import ENDPOINTS, ApiRequest, Endpoint
from adsunify.contract.endpoint import PREFIX
from adsunify.errors import invalid_input
from adsunify.service.authentication import authenticate
from adsunify.service.core import Service
from adsunify.service.dispatch import call_endpoint
from adsunify.service.jobs import keep_running
from adsunify.service.launches.job import LaunchJob
from adsunify.service.ledger.sealing import LedgerSealer
from adsunify.service.webhook_worker import WebhookWorker
from adsunify.values.exact_json import dumps_bytes
from adsunify_mcp import http as mcp

from . import connections, health, oauth_server, pages, reference
from .metrics import REQUESTS, RequestMetrics
from .middleware import Handler, request_middleware
from .problems import rate_limit_headers
from .repeated import check_not_repeated

MAX_BODY_BYTES = 1024 * 1024
NO_QUERY: MultiDict[str] = MultiDict()
JSON_TYPES = ("application/json", "application/*", "*/*")


def make_application(service: Service, *, delivers: bool = True) -> web.Application:
    """Make the application of an open service.

    Closing the application lets writes in flight finish. ``delivers``: whether this process delivers webhooks.
    """
    requests = RequestMetrics()
    app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[request_middleware(service, requests)])
    app[REQUESTS] = requests
    for endpoint in ENDPOINTS:
        path = re.sub(r"\{(\w+)\}", r"{\1:[^/]+}", endpoint.path)  # any text, because the contract checks it
        handler = _make_handler(service, endpoint)
        for method in _http_methods(endpoint):
            requests.route_names[app.router.add_route(method, PREFIX + path, handler)] = endpoint.operation_id
    for path in dict.fromkeys(endpoint.path for endpoint in ENDPOINTS if not endpoint.parameters):
        allowed = (method for other in ENDPOINTS if other.path == path for method in _http_methods(other))
        app.router.add_route("*", PREFIX + path, _make_method_refuser(allowed))
    health.add_routes(app, service)
    reference.add_routes(app, service.settings.base_url)
    connections.add_routes(app, service)
    mcp.add_routes(app, service)
    oauth_server.add_routes(app, service)
    pages.add_routes(app, service)
    if delivers:
        app.cleanup_ctx.append(_webhook_worker_context(service))
    return app


def _webhook_worker_context(service: Service) -> Callable[[web.Application], AsyncIterator[None]]:
    async def run_worker(app: web.Application) -> AsyncIterator[None]:
        worker = WebhookWorker(service)
        delivering = asyncio.create_task(keep_running(service, "webhooks", worker.run))
        sealing = asyncio.create_task(keep_running(service, "ledger", LedgerSealer(service).run))
        launching = asyncio.create_task(keep_running(service, "launches", LaunchJob(service).run))
        yield
        worker.stop()
        sealing.cancel()
        launching.cancel()
        await asyncio.wait((delivering, sealing, launching))

    return run_worker


def _http_methods(endpoint: Endpoint) -> tuple[str, ...]:
    """The methods of an endpoint. HEAD has the handler of GET; aiohttp leaves the body out."""
    return ("GET", "HEAD") if endpoint.method == "GET" else (endpoint.method,)


def _make_method_refuser(methods: Iterable[str]) -> Handler:
    """Make a handler that answers 405, for paths that would otherwise match another path's id parameter."""
    allowed = tuple(methods)

    async def handle(request: web.Request) -> web.StreamResponse:
        raise web.HTTPMethodNotAllowed(request.method, allowed)

    return handle


def _make_handler(service: Service, endpoint: Endpoint) -> Handler:
    is_write = endpoint.method != "GET" and endpoint.access != "read"

    async def handle(request: web.Request) -> web.Response:
        actor = await authenticate(service, request.headers.get("Authorization"))
        bucket = service.rate_limiter.admit_request(actor.credential, is_write=is_write)
        _check_media_types(request, endpoint)
        answer = await call_endpoint(service, actor, endpoint, await _read_api_request(request, endpoint))
        headers = {"Idempotency-Replayed": "true"} if answer.is_replay else {}
        if bucket is not None:
            headers |= rate_limit_headers(bucket.limit, bucket.remaining, math.ceil(bucket.full_in_milliseconds / 1000))
        return web.Response(
            status=answer.status,
            body=dumps_bytes(answer.to_envelope()),
            content_type="application/json",
            headers=headers,
        )

    return handle


def _check_media_types(request: web.Request, endpoint: Endpoint) -> None:
    accepted = ",".join(request.headers.getall("Accept", []))
    if accepted and not any(part.split(";")[0].strip().lower() in JSON_TYPES for part in accepted.split(",")):
        raise web.HTTPNotAcceptable
    if endpoint.body is not None and request.can_read_body and request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType


async def _read_api_request(request: web.Request, endpoint: Endpoint) -> ApiRequest:
    """Read the call of a request. Raises InvalidInput for repeated parameters, and for a body that is not read."""
    query = request.query if request.query_string else NO_QUERY
    keys = request.headers.getall("Idempotency-Key", [])
    check_not_repeated(MultiDict([*query.items(), *(("Idempotency-Key", key) for key in keys)]))
    if endpoint.body is None and request.can_read_body and await request.content.read(1):
        raise invalid_input("", "not_supported", "This endpoint does not accept a body.")
    body = await _read_body(request) if endpoint.body is not None else b""
    return ApiRequest(dict(request.match_info), dict(query), body, keys[0] if keys else None)


async def _read_body(request: web.Request) -> bytes:
    length = request.content_length or 0
    if length > MAX_BODY_BYTES:  # refused before any of it is read
        raise web.HTTPRequestEntityTooLarge(max_size=MAX_BODY_BYTES, actual_size=length)
    try:
        return await request.read()
    except web.RequestPayloadError:
        raise invalid_input("", "malformed_body", "The body is incomplete or malformed.") from None
