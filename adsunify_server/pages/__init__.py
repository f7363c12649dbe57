"""The people's pages: HTML without JavaScript, made from the same use cases as the API."""

from __future__ import annotations

from aiohttp import web

from adsunify.service.core import Service
from adsunify.service.signing_in import Tries

from . import access, accounts, connecting, consent, joining, operations
from .rendering import ASSETS
from .visiting import Door


def add_routes(app: web.Application, service: Service) -> None:
    """Every page, their style sheet and icon."""
    for asset in ASSETS.values():
        app.router.add_get(asset.path, asset.answer)
    door = Door(app, service, Tries())
    for pages in (joining, consent, operations, accounts, connecting, access):
        pages.add_pages(door)
