"""Pages for people: HTML without JavaScript, over the same use cases as the API."""

from __future__ import annotations

from aiohttp import web

from adsunify.service.core import Service
from adsunify.service.sessions import SignInThrottle

from . import (
    access,
    accounts,
    alerts,
    auth,
    batches,
    briefs,
    connections,
    entities,
    guardrails,
    insights,
    launches,
    ledger,
    oauth_server,
    operations,
    webhooks,
)
from .rendering import ASSETS
from .request import PageRouter


def add_routes(app: web.Application, service: Service) -> None:
    """Add every page, the style sheet and the icon."""
    for asset in ASSETS.values():
        app.router.add_get(asset.path, asset.serve)
    router = PageRouter(app, service, SignInThrottle(processes=service.settings.processes))
    for pages in (
        auth,
        oauth_server,
        operations,
        batches,
        accounts,
        entities,
        briefs,
        launches,
        insights,
        connections,
        guardrails,
        alerts,
        access,
        webhooks,
        ledger,
    ):
        pages.add_pages(router)
