"""Liveness and readiness probes of a server process."""

from __future__ import annotations

import asyncio

from aiohttp import web

from adsunify.errors import StoreError
from adsunify.service.core import Service
from adsunify.service.monitoring import read_schema_state

DATABASE_TIMEOUT_SECONDS = 2.0
"""How long the database may take to answer."""


class NotReadyError(StoreError):
    """The server cannot answer now; send requests to another server."""

    default_code = "not_ready"
    title = "Not ready"


def add_routes(app: web.Application, service: Service) -> None:
    """Add ``/healthz`` and ``/readyz``.

    ``/healthz`` answers while the process runs. ``/readyz`` answers 503 while the server shuts down, where the database
    does not answer, and where this version of adsunify cannot use the database's schema.
    """

    async def report_liveness(request: web.Request) -> web.Response:
        return _status_response("ok")

    async def report_readiness(request: web.Request) -> web.Response:
        if service.is_stopping:
            raise NotReadyError("The server is shutting down.")
        try:
            state = await asyncio.wait_for(read_schema_state(service), DATABASE_TIMEOUT_SECONDS)
        except TimeoutError:
            raise NotReadyError(f"The database did not answer within {DATABASE_TIMEOUT_SECONDS:.0f} s.") from None
        if (mismatch := state.explain_mismatch()) is not None:
            raise NotReadyError(mismatch)
        return _status_response("ready")

    app.router.add_get("/healthz", report_liveness)
    app.router.add_get("/readyz", report_readiness)


def _status_response(status: str) -> web.Response:
    return web.Response(body=f'{{"status":"{status}"}}'.encode("ascii"), content_type="application/json")
