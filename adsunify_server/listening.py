"""The listener: what aiohttp itself refuses, before any handler, is told as problem details like everything else."""

from __future__ import annotations

import gc
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from uuid import uuid4

from aiohttp import web

from adsunify.errors import AdsunifyError

from .problems import problem, refusal

log = logging.getLogger("adsunify.server")
LINE_BYTES = 32 * 1024
"""The longest request line: a native id, a cursor and a search, every character of them percent-encoded."""
Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Runner(web.AppRunner):
    """Runs the application. ``shutdown_seconds``: how long requests in flight may take to finish."""

    def __init__(self, app: web.Application, shutdown_seconds: float) -> None:
        super().__init__(app, access_log=None, shutdown_timeout=shutdown_seconds)

    async def setup(self) -> None:
        """Get ready. What was made for that stays: the collector need not walk through it while requests wait."""
        await super().setup()
        gc.collect()
        gc.freeze()

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        handler = partial(_expected, made.request_handler)
        return _Listener(handler, request_factory=made.request_factory, access_log=None, max_line_size=LINE_BYTES)


class _Listener(web.Server):
    def __call__(self) -> web.RequestHandler:
        return _Connection(self, loop=self._loop, **self._kwargs)


class _Connection(web.RequestHandler):
    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """aiohttp's own words repeat what was sent, which may be a token: neither the caller nor the log gets them."""
        if request.writer.output_size > 0:
            raise ConnectionError("An answer is on its way already.")
        if status < 500:
            return _refused(refusal(400))
        log.error("A request failed outside of its handler.", exc_info=exc)
        return _refused(AdsunifyError("", outcome="unknown"))


async def _expected(handler: Handler, request: web.BaseRequest) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPExpectationFailed:
        return _refused(refusal(400))


def _refused(error: AdsunifyError) -> web.StreamResponse:
    request_id = uuid4().hex
    answer = problem(error, request_id, {"X-Request-Id": request_id, "Cache-Control": "no-store"})
    answer.force_close()
    return answer
