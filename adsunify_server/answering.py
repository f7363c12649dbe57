"""What every answer has: its id, and a form for errors that suits whoever asked; and what is told of it afterwards."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from time import perf_counter

from aiohttp import web
from aiohttp.typedefs import Middleware

from adsunify.errors import AdsunifyError
from adsunify.problem_details import described
from adsunify.service.authenticating import ASKED, Asked
from adsunify.service.core import Service
from adsunify.service.limiting import source
from adsunify.store.clock import random_bytes

from .logs import TOLD
from .metrics import Requests
from .pages.rendering import rendered
from .problems import encoded_body, problem, refusal, told_by_headers
from .repeated import repeated_header

log = logging.getLogger("adsunify.server")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
API = "/api/"
"""Below this, an error is never a page."""
PLAIN = "identity"
QUIET = ("GET /healthz", "GET /readyz")
"""What is asked every few seconds is told at the level of debugging only."""


def answering(service: Service, requests: Requests) -> Middleware:
    """The one middleware."""

    @web.middleware
    async def answered(request: web.Request, handler: Handler) -> web.StreamResponse:
        begun = perf_counter()
        proxies = service.settings.proxies
        forwarded = request.headers.getall("X-Forwarded-For", ()) if proxies else ()
        asked = Asked(random_bytes().hex(), source(proxies, request.remote, forwarded))
        ASKED.set(asked)
        try:
            answer = await _answer(request, handler, asked.request_id)
        except web.HTTPInternalServerError as failed:
            _finish(request, failed, asked, begun)
            raise
        _finish(request, answer, asked, begun)
        return answer

    def _finish(request: web.Request, answer: web.StreamResponse, asked: Asked, begun: float) -> None:
        answer.headers["X-Request-Id"] = asked.request_id
        answer.headers.setdefault("Cache-Control", "no-store")
        name = requests.name(request.match_info.route)
        seconds = perf_counter() - begun
        requests.count(name, answer.status, seconds)
        level = logging.DEBUG if name in QUIET else logging.INFO
        if log.isEnabledFor(level):
            log.log(level, "answered", extra={TOLD: _told(request, answer, asked, name, seconds)})

    return answered


def _told(
    request: web.Request, answer: web.StreamResponse, asked: Asked, name: str, seconds: float
) -> dict[str, object]:
    """What a log may say of a request: nothing that the caller wrote but the method."""
    resource = request.match_info.route.resource
    return {
        "endpoint": name,
        "method": request.method,
        "route": None if resource is None else resource.canonical,
        "status": answer.status,
        "durationMs": round(seconds * 1000, 1),
        "credential": asked.owner,
        "workspaceId": asked.workspace_id,
    }


async def _answer(request: web.Request, handler: Handler, request_id: str) -> web.StreamResponse:
    try:
        if request.body_exists and not is_plain(request):
            return _trouble(request, encoded_body(), request_id, {"Accept-Encoding": PLAIN})
        repeated = repeated_header(request.headers)
        if repeated is not None:
            return _trouble(request, repeated, request_id)
        return await handler(request)
    except AdsunifyError as error:
        if error.status >= 500:
            log.exception("%s: %s", error.code, error.message)
        return _trouble(request, error, request_id)
    except web.HTTPException as refused:
        allow = {"Allow": refused.headers["Allow"]} if "Allow" in refused.headers else {}
        return _trouble(request, refusal(refused.status), request_id, allow)
    except Exception as failure:
        if isinstance(failure, ConnectionResetError) and request.transport is None:  # the caller went: none is answered
            return _trouble(request, refusal(400), request_id)
        log.exception("failed")
        told = _trouble(request, AdsunifyError("", outcome="unknown"), request_id)
        raise web.HTTPInternalServerError(
            text=told.text, content_type=told.content_type, headers=_kept(told)
        ) from failure


def _kept(answer: web.Response) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name != "Content-Type"}


def _trouble(
    request: web.Request, error: AdsunifyError, request_id: str, headers: dict[str, str] | None = None
) -> web.Response:
    """An error as a page for whoever reads pages, else as problem details."""
    if request.path.startswith(API) or not prefers_page(request):
        return problem(error, request_id, headers)
    told = {**described(error), "requestId": request_id}
    answer = rendered("error.html", error.status, problem=told)
    answer.headers.update({**told_by_headers(error), **(headers or {})})
    return answer


def is_plain(request: web.Request) -> bool:
    """Whether the request names no Content-Encoding. A short compressed body can unpack to a very long one."""
    return all(one.strip().lower() == PLAIN for one in request.headers.getall("Content-Encoding", ()))


def prefers_page(request: web.Request) -> bool:
    """Whether the caller would rather have HTML than JSON, as browsers do."""
    weights: dict[str, float] = {}
    for part in ",".join(request.headers.getall("Accept", ())).split(","):
        name, _, parameters = part.partition(";")
        weight = parameters.replace(" ", "").partition("q=")[2].partition(";")[0]
        weights[name.strip().lower()] = _number(weight)
    return weights.get("text/html", 0) > max(weights.get("application/json", 0), 0)


def _number(weight: str) -> float:
    try:
        return float(weight) if weight else 1.0
    except ValueError:
        return 0.0
