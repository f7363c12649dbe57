"""Connecting a network in a browser: the hosted consent link, and the network's answer to it.

The link is the authority (no sign-in): it is single-use and short-lived. Opening it sets a cookie and goes on to the
network; the callback needs that cookie and the state that went out.
"""

from __future__ import annotations

from aiohttp import web

from adsunify.errors import AdsunifyError
from adsunify.service import connections
from adsunify.service.access import hashed
from adsunify.service.core import Service

from .pages.rendering import notice

COOKIE = "adsunify_connect"
SAFE = {"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"}


def add_routes(app: web.Application, service: Service) -> None:
    """``/connect/<token>`` and ``/connect/callback/<network>``."""

    async def begin(request: web.Request) -> web.StreamResponse:
        try:
            going = await connections.begin(service, request.match_info["token"])
        except AdsunifyError as error:
            return notice(error.status, "This link cannot be used", error.message)
        answer = web.Response(status=303, headers={**SAFE, "Location": going.url})
        secure = service.settings.base_url.startswith("https:")
        answer.set_cookie(
            _cookie(going.state),
            going.cookie,
            max_age=600,
            httponly=True,
            samesite="Lax",
            secure=secure,
            path="/connect",
        )
        return answer

    async def callback(request: web.Request) -> web.StreamResponse:
        network, said = request.match_info["network"], dict(request.query)
        cookie = _cookie(connections.state_of(said))
        try:
            found = await connections.finish(service, network, said, request.cookies.get(cookie, ""))
        except AdsunifyError as error:
            return notice(error.status, "The connection was not made", error.message)
        count = len(found["accounts"])
        answer = notice(200, "Connected", f"{count} ad account{'' if count == 1 else 's'} of {network} connected.")
        answer.del_cookie(cookie, path="/connect")
        return answer

    # no HEAD: links are single-use, and whatever previews them would use them up
    app.router.add_get("/connect/callback/{network}", callback, allow_head=False)
    app.router.add_get("/connect/{token}", begin, allow_head=False)


def _cookie(state: str) -> str:
    """One for each consent: in two tabs there may be two of them."""
    return f"{COOKIE}_{hashed(state)[:16]}"
