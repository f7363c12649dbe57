"""The aiohttp application: routes made from the contract table, bearer authentication, problem details."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import uuid4

from aiohttp import web

from adsunify.contract import ENDPOINTS, Call, Endpoint, call
from adsunify.contract.endpoint import PREFIX
from adsunify.errors import AdsunifyError, InvalidInput, Issue, refused
from adsunify.service.authenticating import authenticate
from adsunify.service.core import Service
from adsunify.service.delivering import Worker
from adsunify.wire import dumps
from adsunify_mcp import http as mcp

from . import connect, oauth, pages
from .openapi import document
from .problems import MEDIA_TYPE, problem, refusal

log = logging.getLogger("adsunify.server")
BODY_BYTES = 1024 * 1024
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
JSON_TYPES = ("application/json", "application/*", "*/*")


def application(service: Service, *, delivers: bool = True) -> web.Application:
    """The application over an open service; closing it lets writes in flight finish.

    ``delivers``: webhooks are delivered by this process, too.
    """
    app = web.Application(client_max_size=BODY_BYTES, middlewares=[answered])
    for endpoint in ENDPOINTS:
        path = re.sub(r"\{(\w+)\}", r"{\1:[^/]+}", endpoint.path)  # any text: what it must be is said by the contract
        app.router.add_route(endpoint.method, PREFIX + path, _handler(service, endpoint))
    openapi = dumps(document(service.settings.base_url)).encode("ascii")
    app.router.add_get("/openapi.json", _fixed(openapi))
    app.router.add_get("/healthz", _fixed(b'{"status":"ok"}'))
    connect.add_routes(app, service)
    mcp.add_routes(app, service)
    oauth.add_routes(app, service)
    pages.add_routes(app, service)
    if delivers:
        app.cleanup_ctx.append(_delivering(service))
    return app


def _delivering(service: Service) -> Callable[[web.Application], AsyncIterator[None]]:
    async def running(app: web.Application) -> AsyncIterator[None]:
        worker = Worker(service)
        task = asyncio.create_task(worker.run())
        yield
        worker.stop()
        await task

    return running


def _fixed(body: bytes) -> Handler:
    async def handle(request: web.Request) -> web.Response:
        return web.Response(body=body, content_type="application/json")

    return handle


@web.middleware
async def answered(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Gives every answer its id, and turns errors into problem details."""
    request_id = uuid4().hex
    answer = await _answer(request, handler, request_id)
    answer.headers["X-Request-Id"] = request_id
    answer.headers.setdefault("Cache-Control", "no-store")
    return answer


async def _answer(request: web.Request, handler: Handler, request_id: str) -> web.StreamResponse:
    try:
        return await handler(request)
    except AdsunifyError as error:
        if error.status >= 500:
            log.exception("%s: %s", request_id, error.message)
        return problem(error, request_id)
    except web.HTTPException as refused_:
        allow = {"Allow": refused_.headers["Allow"]} if "Allow" in refused_.headers else {}
        return problem(refusal(refused_.status), request_id, allow)
    except Exception as failure:
        log.exception("%s failed", request_id)
        told = problem(AdsunifyError("", outcome="unknown"), request_id)
        headers = {"X-Request-Id": request_id, "Cache-Control": "no-store"}
        raise web.HTTPInternalServerError(text=told.text, content_type=MEDIA_TYPE, headers=headers) from failure


def _handler(service: Service, endpoint: Endpoint) -> Handler:
    async def handle(request: web.Request) -> web.Response:
        actor = await authenticate(service, request.headers.get("Authorization"))
        _negotiated(request, endpoint)
        answer = await call(service, actor, endpoint, await _asked(request, endpoint))
        return web.Response(
            status=answer.status,
            body=dumps(answer.envelope()).encode("ascii"),
            content_type="application/json",
            headers={"Idempotency-Replayed": "true"} if answer.replayed else None,
        )

    return handle


def _negotiated(request: web.Request, endpoint: Endpoint) -> None:
    accepted = ",".join(request.headers.getall("Accept", []))
    if accepted and not any(part.split(";")[0].strip().lower() in JSON_TYPES for part in accepted.split(",")):
        raise web.HTTPNotAcceptable
    if endpoint.body is not None and request.can_read_body and request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType


async def _asked(request: web.Request, endpoint: Endpoint) -> Call:
    """The call that a request is. What HTTP lets stand there twice is refused."""
    twice = [name for name in request.query if len(request.query.getall(name)) > 1]
    keys = request.headers.getall("Idempotency-Key", [])
    if twice or len(keys) > 1:
        names = dict.fromkeys([*twice, *(["Idempotency-Key"] if len(keys) > 1 else [])])
        raise InvalidInput([Issue(name, "repeated", "must be given once.") for name in names])
    body = await _body(request) if endpoint.body is not None else b""
    return Call(dict(request.match_info), dict(request.query), body, keys[0] if keys else None)


async def _body(request: web.Request) -> bytes:
    try:
        return await request.read()
    except web.RequestPayloadError:
        raise refused("", "malformed_body", "The body is not what its Content-Encoding says.") from None
