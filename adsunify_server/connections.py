"""Connects a network in a browser: the hosted consent link, and the callback from the network.

The link is the authority: it needs no sign-in, works once, and is short-lived. It shows a page that names the workspace
and the network. The button of that page uses the link up, sets a cookie and redirects to the network; a program that
previews links changes nothing. The callback needs that cookie and the state of the redirect.
"""

from __future__ import annotations

from aiohttp import web

from adsunify.errors import AdsunifyError
from adsunify.networks.registry import get_adapter
from adsunify.service import connections
from adsunify.service.core import Service
from adsunify.service.sessions import SignInThrottle
from adsunify.service.tokens import hash_token

from .pages.rendering import render_notice
from .pages.request import PageRequest, PageRouter
from .repeated import check_not_repeated

COOKIE_PREFIX = "adsunify_connect"
FORM_TARGETS = "'self' https: http:"
"""The addresses to which the form may lead.

Browsers check every redirect against them, also redirects between the network's pages.
"""
SECURITY_HEADERS = {"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"}


def add_routes(app: web.Application, service: Service) -> None:
    """Add ``/connect/<token>`` and ``/connect/callback/<network>``."""
    router = PageRouter(app, service, SignInThrottle(processes=service.settings.processes))

    async def show(visit: PageRequest) -> web.Response:
        try:
            invitation = await connections.read_consent_invitation(service, visit.path_parameter("token"))
        except AdsunifyError as error:
            return _invalid_link_page(error)
        answer = visit.render_page("connect.html", targets=FORM_TARGETS, invitation=invitation)
        answer.headers["Referrer-Policy"] = SECURITY_HEADERS["Referrer-Policy"]
        return answer

    async def begin(visit: PageRequest) -> web.Response:
        try:
            redirect = await connections.start_consent(service, visit.path_parameter("token"))
        except AdsunifyError as error:
            return _invalid_link_page(error)
        answer = web.Response(status=303, headers={**SECURITY_HEADERS, "Location": redirect.url})
        secure = service.settings.base_url.startswith("https:")
        answer.set_cookie(
            _cookie_name(redirect.state),
            redirect.browser_cookie,
            max_age=600,
            httponly=True,
            samesite="Lax",
            secure=secure,
            path="/connect",
        )
        return answer

    async def finish(request: web.Request) -> web.StreamResponse:
        check_not_repeated(request.query)
        network, parameters = request.match_info["network"], dict(request.query)
        cookie = _cookie_name(connections.read_state(parameters))
        try:
            connection = await connections.finish_consent(service, network, parameters, request.cookies.get(cookie, ""))
        except AdsunifyError as error:
            return render_notice(error.status, "The network was not connected", error.message)
        count, title = len(connection["accounts"]), get_adapter(network).network.title
        answer = render_notice(200, "Connected", f"{count} ad account{'' if count == 1 else 's'} of {title} connected.")
        answer.del_cookie(cookie, path="/connect")
        return answer

    # no HEAD: the callback works once
    app.router.add_get("/connect/callback/{network}", finish, allow_head=False)
    router.add_get("/connect/{token}", show, open_=True)
    router.add_post("/connect/{token}", begin, open_=True)


def _invalid_link_page(error: AdsunifyError) -> web.Response:
    return render_notice(error.status, "This link cannot be used", error.message)


def _cookie_name(state: str) -> str:
    """Return the cookie's name. It differs for each consent, because two tabs may show two consents."""
    return f"{COOKIE_PREFIX}_{hash_token(state)[:16]}"
