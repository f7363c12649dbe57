"""The aiohttp application: routes made from the contract table, bearer authentication, problem details."""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import AsyncIterator, Callable, Iterable

from aiohttp import web
from multidict import MultiDict

from adsunify.contract import ENDPOINTS, Call, Endpoint
from adsunify.contract.endpoint import PREFIX
from adsunify.errors import refused
from adsunify.service.authenticating import authenticate
from adsunify.service.core import Service
from adsunify.service.delivering import Worker
from adsunify.service.dispatch import call
from adsunify.values.exact_json import json_bytes
from adsunify_mcp import http as mcp

from . import connect, health, oauth, pages, reference
from .answering import Handler, answering
from .metrics import REQUESTS, Requests
from .problems import limits
from .repeated import check_repeated

log = logging.getLogger("adsunify.server")
BODY_BYTES = 1024 * 1024
NO_QUERY: MultiDict[str] = MultiDict()
JSON_TYPES = ("application/json", "application/*", "*/*")


def application(service: Service, *, delivers: bool = True) -> web.Application:
    """The application over an open service; closing it lets writes in flight finish.

    ``delivers``: webhooks are delivered by this process, too.
    """
    requests = Requests()
    app = web.Application(client_max_size=BODY_BYTES, middlewares=[answering(service, requests)])
    app[REQUESTS] = requests
    for endpoint in ENDPOINTS:
        path = re.sub(r"\{(\w+)\}", r"{\1:[^/]+}", endpoint.path)  # any text: what it must be is said by the contract
        handler = _handler(service, endpoint)
        for method in _methods(endpoint):
            requests.names[app.router.add_route(method, PREFIX + path, handler)] = endpoint.operation_id
    for path in dict.fromkeys(endpoint.path for endpoint in ENDPOINTS if not endpoint.parameters):
        allowed = (method for one in ENDPOINTS if one.path == path for method in _methods(one))
        app.router.add_route("*", PREFIX + path, _only(allowed))
    health.add_routes(app, service)
    reference.add_routes(app, service.settings.base_url)
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
        task.add_done_callback(_told_if_failed)
        yield
        worker.stop()
        await task

    return running


def _told_if_failed(task: asyncio.Task[None]) -> None:
    """A defect that ends the worker does not end the server: somebody has to be told."""
    if not task.cancelled() and task.exception() is not None:
        log.error("webhooks are not delivered any more", exc_info=task.exception())


def _methods(endpoint: Endpoint) -> tuple[str, ...]:
    """HEAD is answered wherever GET is: by the same handler; aiohttp leaves the body out."""
    return ("GET", "HEAD") if endpoint.method == "GET" else (endpoint.method,)


def _only(methods: Iterable[str]) -> Handler:
    """Refuses every other method, where the word of a path would also stand in the place of an id."""
    allowed = tuple(methods)

    async def handle(request: web.Request) -> web.StreamResponse:
        raise web.HTTPMethodNotAllowed(request.method, allowed)

    return handle


def _handler(service: Service, endpoint: Endpoint) -> Handler:
    writes = endpoint.access != "read"

    async def handle(request: web.Request) -> web.Response:
        actor = await authenticate(service, request.headers.get("Authorization"))
        standing = service.limiting.admit(actor.credential, writes, service.store.clock.wall())
        _negotiated(request, endpoint)
        answer = await call(service, actor, endpoint, await _asked(request, endpoint))
        headers = {"Idempotency-Replayed": "true"} if answer.replayed else {}
        if standing is not None:
            headers |= limits(standing.limit, standing.remaining, math.ceil(standing.full_in / 1000))
        return web.Response(
            status=answer.status,
            body=json_bytes(answer.envelope()),
            content_type="application/json",
            headers=headers,
        )

    return handle


def _negotiated(request: web.Request, endpoint: Endpoint) -> None:
    accepted = ",".join(request.headers.getall("Accept", []))
    if accepted and not any(part.split(";")[0].strip().lower() in JSON_TYPES for part in accepted.split(",")):
        raise web.HTTPNotAcceptable
    if endpoint.body is not None and request.can_read_body and request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType


async def _asked(request: web.Request, endpoint: Endpoint) -> Call:
    """The call that a request is. What HTTP lets stand there twice is refused, and a body that nothing would read."""
    query = request.query if request.query_string else NO_QUERY
    keys = request.headers.getall("Idempotency-Key", [])
    check_repeated(MultiDict([*query.items(), *(("Idempotency-Key", key) for key in keys)]))
    if endpoint.body is None and request.can_read_body and await request.content.read(1):
        raise refused("", "not_supported", "This endpoint takes no body; send none.")
    body = await _body(request) if endpoint.body is not None else b""
    return Call(dict(request.match_info), dict(query), body, keys[0] if keys else None)


async def _body(request: web.Request) -> bytes:
    length = request.content_length or 0
    if length > BODY_BYTES:  # refused before a byte of it is kept
        raise web.HTTPRequestEntityTooLarge(max_size=BODY_BYTES, actual_size=length)
    try:
        return await request.read()
    except web.RequestPayloadError:
        raise refused("", "malformed_body", "The body is not complete, or not well-formed.") from None
