"""Whether this process lives, and whether it should be asked anything."""

from __future__ import annotations

import asyncio

from aiohttp import web

from adsunify.errors import StoreError
from adsunify.service.core import Service
from adsunify.store.migrate import HEAD_VERSION, read_version

DATABASE_TIMEOUT_SECONDS = 2.0
"""How long the database may take to answer."""


class NotReadyError(StoreError):
    """Others should be asked meanwhile."""

    default_code = "not_ready"
    title = "Not ready"


def add_routes(app: web.Application, service: Service) -> None:
    """``/healthz``: the process answers. ``/readyz``: so does its database, at this version; no shutdown has begun."""

    async def report_liveness(request: web.Request) -> web.Response:
        return _status_response("ok")

    async def report_readiness(request: web.Request) -> web.Response:
        if service.is_stopping:
            raise NotReadyError("The server is shutting down.")
        try:
            found = await asyncio.wait_for(service.store.read(read_version), DATABASE_TIMEOUT_SECONDS)
        except TimeoutError:
            raise NotReadyError(f"The database did not answer within {DATABASE_TIMEOUT_SECONDS:.0f} s.") from None
        if found != HEAD_VERSION:
            raise NotReadyError(f"The database is at migration {found}; this version of adsunify needs {HEAD_VERSION}.")
        return _status_response("ready")

    app.router.add_get("/healthz", report_liveness)
    app.router.add_get("/readyz", report_readiness)


def _status_response(status: str) -> web.Response:
    return web.Response(body=f'{{"status":"{status}"}}'.encode("ascii"), content_type="application/json")
