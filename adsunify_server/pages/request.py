"""A visit to a page: whose session it is, the form that was sent, and what the page answers.

Forms carry a token that only the browser's own cookie can have made, so that no other origin can send one; and each is
good for the workspace that its page showed.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote

from aiohttp import web
from attrs import define

from adsunify.actor import Actor
from adsunify.contract import ENDPOINTS_BY_ID, ApiRequest
from adsunify.errors import AdsunifyError, Forbidden, invalid_input
from adsunify.problem_details import to_problem_details
from adsunify.service import sessions
from adsunify.service.authentication import REQUEST_CONTEXT
from adsunify.service.core import Service
from adsunify.service.dispatch import call_endpoint
from adsunify.service.sessions import SignInThrottle, UserSession
from adsunify.service.tokens import make_token
from adsunify.values.exact_json import Json, dumps_bytes
from adsunify_server.pages.rendering import render_page
from adsunify_server.problems import problem_headers
from adsunify_server.repeated import check_not_repeated

log = logging.getLogger("adsunify.server")
SESSION_COOKIE, VISIT_COOKIE = "adsunify_session", "adsunify_visit"
LOCAL_PATH = re.compile(r"/(?![/\\])[\x21-\x7e]*")
"""An address of this server, and nothing that a browser would take for another's."""
FOREIGN_SITES = ("cross-site", "same-site")
MAX_FIELDS = 200
"""No form of the pages has as many fields."""
FORGED_FORM = (
    "This form did not come from a page of this server, or your session ended meanwhile, or you look at another "
    "workspace by now. Open the page again."
)


@define(eq=False)
class PageRequest:
    """One request of a browser. ``secret``: the cookie that form tokens are made from; ``is_new_secret``: to be set
    yet.
    """

    request: web.Request
    service: Service
    sign_in_throttle: SignInThrottle
    user_session: UserSession | None
    secret: str
    is_new_secret: bool
    form: Mapping[str, str]

    @classmethod
    async def load(cls, service: Service, tries: SignInThrottle, request: web.Request) -> PageRequest:
        """The visit that a request is."""
        token = request.cookies.get(cookie_name(service, SESSION_COOKIE), "")
        visitor = await sessions.find_user_session(service, token) if token else None
        secret = token if visitor is not None else request.cookies.get(cookie_name(service, VISIT_COOKIE), "")
        return cls(request, service, tries, visitor, secret or make_token(), not secret, {})

    @property
    def csrf_token(self) -> str:
        """The token that a form of this browser carries; in another workspace it would do something else."""
        home = None if self.user_session is None else self.user_session.membership
        text = "form" if home is None else f"form {home.workspace_id}"
        return hmac.new(self.secret.encode("utf-8", "replace"), text.encode("utf-8"), hashlib.sha256).hexdigest()

    @property
    def signed_in_session(self) -> UserSession:
        """Who is signed in; the door let nobody else through."""
        assert self.user_session is not None
        return self.user_session

    @property
    def actor(self) -> Actor:
        """The person as a caller; raises Forbidden where he belongs to no workspace."""
        return self.signed_in_session.actor

    @property
    def client_ip(self) -> str:
        """The network address of the browser."""
        context = REQUEST_CONTEXT.get()
        return "" if context is None else context.client_ip

    def count_request(self) -> None:
        """Count the visit of a person who is signed in, and say whose it is. Raises RateLimited."""
        if self.user_session is None:
            return
        context, home = REQUEST_CONTEXT.get(), self.user_session.membership
        if context is not None:
            context.owner, context.workspace_id = self.user_session.user_id, None if home is None else home.workspace_id
        is_write = self.request.method == "POST"
        self.service.rate_limiter.admit_request(self.user_session.user_id, is_write=is_write)

    def path_parameter(self, name: str) -> str:
        """A variable part of the address."""
        return self.request.match_info[name]

    async def read_form(self) -> None:
        """Read the form that was sent; raises Forbidden for one that is not of our own pages."""
        if self.request.content_type != "application/x-www-form-urlencoded":
            raise Forbidden(FORGED_FORM)
        if self.request.headers.get("Sec-Fetch-Site") in FOREIGN_SITES:
            raise Forbidden(FORGED_FORM)
        try:
            if (await self.request.read()).count(b"&") > MAX_FIELDS:
                raise Forbidden(FORGED_FORM)
            fields = await self.request.post()
        except (ValueError, LookupError, web.RequestPayloadError):  # no text, or in no encoding that there is
            raise Forbidden(FORGED_FORM) from None
        check_not_repeated(fields)
        self.form = check_storable({name: value for name, value in fields.items() if isinstance(value, str)})
        if self.is_new_secret or not hmac.compare_digest(
            self.form.get("csrf", "").encode("utf-8"), self.csrf_token.encode("ascii")
        ):
            raise Forbidden(FORGED_FORM)

    def require_confirmed(self) -> None:
        """Raise InvalidInput where the form lacks the person's word."""
        if self.form.get("confirmed") != "true":
            raise invalid_input("confirmed", "required", "must be ticked: nothing is written without your word.")

    async def call_endpoint(self, operation_id: str, body: Json = None, *, query: Any = None, **path: str) -> Any:
        """Call a use case of the contract as the person, under its access rule; the data of the answer."""
        raw_body = b"" if body is None else dumps_bytes(body)
        answer = await call_endpoint(
            self.service, self.actor, ENDPOINTS_BY_ID[operation_id], ApiRequest(path, query or {}, raw_body)
        )
        return answer.data

    def render_page(self, template: str, status: int = 200, **values: Any) -> web.Response:
        """A page, with the cookie that its forms need."""
        answer = render_page(template, status, visit=self, **values)
        if self.is_new_secret:
            self.set_cookie(answer, VISIT_COOKIE, self.secret, None)
        if self.service.settings.base_url.startswith("https:"):
            answer.headers["Strict-Transport-Security"] = "max-age=31536000"
        return answer

    def redirect(self, address: str) -> web.Response:
        """Go on to another address, by GET."""
        return web.Response(status=303, headers={"Location": address, "Cache-Control": "no-store"})

    def render_error(self, error: AdsunifyError) -> web.Response:
        """The page that an error is."""
        return self.render_problem(error, "error.html", problem=to_problem_details(error))

    def render_problem(self, error: AdsunifyError, template: str, **values: Any) -> web.Response:
        """A page that tells an error, with the status and the headers of it."""
        answer = self.render_page(template, error.status, **values)
        answer.headers.update(problem_headers(error))
        return answer

    def set_cookie(self, answer: web.StreamResponse, name: str, value: str, seconds: int | None) -> None:
        """Set one of our cookies; ``seconds`` None: until the browser is closed."""
        secure = self.service.settings.base_url.startswith("https:")
        answer.set_cookie(
            cookie_name(self.service, name),
            value,
            max_age=seconds,
            httponly=True,
            samesite="Lax",
            secure=secure,
            path="/",
        )

    def begin_session(self, token: str, address: str) -> web.Response:
        """Go on with a new session."""
        answer = self.redirect(address)
        self.set_cookie(answer, SESSION_COOKIE, token, sessions.SESSION_MILLISECONDS // 1000)
        return answer


PageHandler = Callable[[PageRequest], Awaitable[web.Response]]


@define(eq=False)
class PageRouter:
    """Where pages are hung: each behind sessions, form tokens, and errors told as pages."""

    app: web.Application
    service: Service
    sign_in_throttle: SignInThrottle

    def add_get(self, path: str, answer: PageHandler, *, open_: bool = False) -> None:
        """A page, also answered to HEAD. ``open_``: also for whoever is not signed in."""
        self.app.router.add_get(path, self._make_handler(answer, open_))

    def add_post(self, path: str, answer: PageHandler, *, open_: bool = False) -> None:
        """What a form does."""
        self.app.router.add_post(path, self._make_handler(answer, open_))

    def _make_handler(self, answer: PageHandler, open_: bool) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            visit = await PageRequest.load(self.service, self.sign_in_throttle, request)
            try:
                visit.count_request()
                check_not_repeated(request.query)
                if request.method == "POST":
                    await visit.read_form()
                if visit.user_session is None and not open_:
                    return visit.redirect(f"/sign-in?next={quote(request.path_qs, safe='/')}")
                return await answer(visit)
            except AdsunifyError as error:
                if error.status >= 500:
                    log.exception("%s: %s", error.code, error.message)
                return visit.render_error(error)

        return handle


def cookie_name(service: Service, name: str) -> str:
    """On https, a name that only this very host can set."""
    return f"__Host-{name}" if service.settings.base_url.startswith("https:") else name


def check_storable(values: Mapping[str, str]) -> Mapping[str, str]:
    """The values, which every database can keep and look for; raises InvalidInput."""
    for name, value in values.items():
        if "\x00" in value:
            raise invalid_input(name, "malformed", "must be text without NUL.")
    return values


def local_path_or_default(address: str) -> str:
    """An address to go to after signing in: one of this server, or the first page."""
    return address if LOCAL_PATH.fullmatch(address) else "/operations"
