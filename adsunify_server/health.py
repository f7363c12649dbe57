"""Whether this process lives, and whether it should be asked anything."""

from __future__ import annotations

import asyncio

from aiohttp import web

from adsunify.errors import StoreError
from adsunify.service.core import Service
from adsunify.store.migrate import HEAD, version

SECONDS = 2.0
"""How long the database may take to answer."""


class NotReady(StoreError):
    """Others should be asked meanwhile."""

    default_code = "not_ready"
    title = "Not ready"


def add_routes(app: web.Application, service: Service) -> None:
    """``/healthz``: the process answers. ``/readyz``: so does its database, at this version; no shutdown has begun."""

    async def lives(request: web.Request) -> web.Response:
        return _said("ok")

    async def is_ready(request: web.Request) -> web.Response:
        if service.stopping:
            raise NotReady("The server is shutting down.")
        try:
            found = await asyncio.wait_for(service.store.read(version), SECONDS)
        except TimeoutError:
            raise NotReady(f"The database did not answer within {SECONDS:.0f} s.") from None
        if found != HEAD:
            raise NotReady(f"The database is at migration {found}; this version of adsunify needs {HEAD}.")
        return _said("ready")

    app.router.add_get("/healthz", lives)
    app.router.add_get("/readyz", is_ready)


def _said(status: str) -> web.Response:
    return web.Response(body=f'{{"status":"{status}"}}'.encode("ascii"), content_type="application/json")
