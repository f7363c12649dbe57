"""The people's pages: HTML without JavaScript, made from the same use cases as the API."""

from __future__ import annotations

from aiohttp import web

from adsunify.service.core import Service
from adsunify.service.signing_in import Tries

from . import access, accounts, connecting, consent, joining, operations
from .rendering import STYLE_PATH, style
from .visiting import Door


def add_routes(app: web.Application, service: Service) -> None:
    """Every page, and their style sheet."""

    async def styled(request: web.Request) -> web.Response:
        return style(request)

    app.router.add_get(STYLE_PATH, styled)
    door = Door(app, service, Tries())
    for pages in (joining, consent, operations, accounts, connecting, access):
        pages.add_pages(door)
