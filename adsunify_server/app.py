"""The aiohttp application: routes made from the contract table, bearer authentication, problem details."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from uuid import uuid4

from aiohttp import web

from adsunify.contract import ENDPOINTS, Call, Endpoint, call
from adsunify.contract.endpoint import PREFIX
from adsunify.errors import AdsunifyError, StoreError
from adsunify.service import access
from adsunify.service.core import Service
from adsunify.wire import dumps

from . import connect
from .openapi import document
from .problems import MEDIA_TYPE, http_problem, problem

log = logging.getLogger("adsunify.server")
BODY_BYTES = 1024 * 1024
REQUEST_ID = web.RequestKey("request_id", str)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
JSON_TYPES = ("application/json", "application/*", "*/*", "")


def application(service: Service) -> web.Application:
    """The application over an open service; closing it lets writes in flight finish."""
    app = web.Application(client_max_size=BODY_BYTES, middlewares=[refusals])
    for endpoint in ENDPOINTS:
        app.router.add_route(endpoint.method, PREFIX + endpoint.path, _handler(service, endpoint))
    openapi = dumps(document(service.settings.base_url)).encode("ascii")
    app.router.add_get("/openapi.json", _fixed(openapi))
    app.router.add_get("/healthz", _fixed(b'{"status":"ok"}'))
    connect.add_routes(app, service)
    return app


def _fixed(body: bytes) -> Handler:
    async def handle(request: web.Request) -> web.Response:
        return web.Response(body=body, content_type="application/json")

    return handle


@web.middleware
async def refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """What the HTTP layer refuses, and what fails here, as problem details."""
    request_id = uuid4().hex
    request[REQUEST_ID] = request_id
    try:
        return await handler(request)
    except AdsunifyError as error:
        if isinstance(error, StoreError):
            log.exception("%s %s", request_id, error.message)
        headers = {"WWW-Authenticate": 'Bearer realm="adsunify"'} if error.status == 401 else {}
        return problem(error, request_id, headers)
    except web.HTTPException as refusal:
        if refusal.status < 400:
            raise
        headers = {"Allow": refusal.headers["Allow"]} if "Allow" in refusal.headers else {}
        return http_problem(refusal.status, request_id, headers)
    except Exception as failure:
        log.exception("%s failed", request_id)
        answer = http_problem(500, request_id)
        raise web.HTTPInternalServerError(
            body=answer.body, content_type=MEDIA_TYPE, headers={"X-Request-Id": request_id}
        ) from failure


def _handler(service: Service, endpoint: Endpoint) -> Handler:
    async def handle(request: web.Request) -> web.Response:
        actor = await access.authenticate(service, request.headers.get("Authorization"))
        _negotiated(request, endpoint)
        asked = Call(
            path=dict(request.match_info),
            query=_query(request),
            body=await request.read() if endpoint.body is not None else b"",
            idempotency_key=request.headers.get("Idempotency-Key"),
        )
        answer = await call(service, actor, endpoint, asked)
        headers = {"X-Request-Id": request[REQUEST_ID], "Cache-Control": "no-store"}
        if answer.replayed:
            headers["Idempotency-Replayed"] = "true"
        return web.Response(
            status=answer.status,
            body=dumps(answer.envelope()).encode("ascii"),
            content_type="application/json",
            headers=headers,
        )

    return handle


def _negotiated(request: web.Request, endpoint: Endpoint) -> None:
    accepted = [part.split(";")[0].strip().lower() for part in request.headers.get("Accept", "").split(",")]
    if not any(one in JSON_TYPES for one in accepted):
        raise web.HTTPNotAcceptable
    if endpoint.body is not None and request.can_read_body and request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType


def _query(request: web.Request) -> dict[str, str]:
    """The query; a parameter given twice is refused by its second name, which no endpoint has."""
    query: dict[str, str] = {}
    for name, value in request.query.items():
        query[name if name not in query else f"{name} (repeated)"] = value
    return query
