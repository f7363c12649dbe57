"""Connecting a network in a browser: the hosted consent link, and the network's answer to it.

The link is the authority (no sign-in): it is single-use and short-lived. It shows a page that names the workspace and
the network. The button of that page uses the link up, sets a cookie and goes on to the network; what previews links
changes nothing. The callback needs that cookie and the state that went out.
"""

from __future__ import annotations

from aiohttp import web

from adsunify.errors import AdsunifyError
from adsunify.service import connections
from adsunify.service.access import hashed
from adsunify.service.core import Service
from adsunify.service.signing_in import Tries

from .pages.rendering import notice
from .pages.visiting import Door, Visit
from .repeated import check_repeated

COOKIE = "adsunify_connect"
TARGETS = "'self' https: http:"
"""Where the form leads: browsers hold every redirect against it, those within the network's pages, too."""
SAFE = {"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"}


def add_routes(app: web.Application, service: Service) -> None:
    """``/connect/<token>`` and ``/connect/callback/<network>``."""
    door = Door(app, service, Tries())

    async def show(visit: Visit) -> web.Response:
        try:
            asked = await connections.invitation(service, visit.path("token"))
        except AdsunifyError as error:
            return _unusable(error)
        answer = visit.page("connect.html", targets=TARGETS, asked=asked)
        answer.headers["Referrer-Policy"] = SAFE["Referrer-Policy"]
        return answer

    async def begin(visit: Visit) -> web.Response:
        try:
            going = await connections.begin(service, visit.path("token"))
        except AdsunifyError as error:
            return _unusable(error)
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
        check_repeated(request.query)
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

    # no HEAD: the network's answer is taken once
    app.router.add_get("/connect/callback/{network}", callback, allow_head=False)
    door.get("/connect/{token}", show, open_=True)
    door.post("/connect/{token}", begin, open_=True)


def _unusable(error: AdsunifyError) -> web.Response:
    return notice(error.status, "This link cannot be used", error.message)


def _cookie(state: str) -> str:
    """One for each consent: in two tabs there may be two of them."""
    return f"{COOKIE}_{hashed(state)[:16]}"
