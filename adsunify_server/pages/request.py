"""A request of a browser: its session, its form, and the responses that pages give.

Forms carry a token that is derived from the browser's cookie, so that no other origin can send a form. A token is valid
for the workspace that the page showed.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from aiohttp import web
from attrs import define, field

from adsunify.actor import Actor
from adsunify.contract import ENDPOINTS_BY_ID, ApiRequest, ApiResponse
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
"""Matches a path of this server. Browsers never read a matching text as an address of another host."""
FOREIGN_SITES = ("cross-site", "same-site")
FOLLOW = "follow"
"""The member of a query that lets a page reload by itself while something happens."""
MAX_FIELDS = 2000
"""The maximum number of fields of a form. No form of the pages sends so many: a ticked account is one field."""
FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")
"""The media types of forms: without a file, and with a file."""
FORGED_FORM = (
    "The form was not accepted: it did not come from a page of this server, your session has ended, or you have "
    "switched to another workspace. Open the page again."
)


@define(eq=False)
class PageRequest:
    """One request of a browser.

    ``secret`` is the cookie from which form tokens are made. ``is_new_secret`` means that the response must set the
    cookie. ``files`` has the content of each file that the person has chosen, by field.
    """

    request: web.Request
    service: Service
    sign_in_throttle: SignInThrottle
    user_session: UserSession | None
    secret: str
    is_new_secret: bool
    form: Mapping[str, str]
    files: Mapping[str, bytes] = field(factory=dict)

    @classmethod
    async def load(cls, service: Service, tries: SignInThrottle, request: web.Request) -> PageRequest:
        """Read the session and the cookie of a request."""
        token = request.cookies.get(cookie_name(service, SESSION_COOKIE), "")
        visitor = await sessions.find_user_session(service, token) if token else None
        secret = token if visitor is not None else request.cookies.get(cookie_name(service, VISIT_COOKIE), "")
        return cls(request, service, tries, visitor, secret or make_token(), not secret, {})

    @property
    def csrf_token(self) -> str:
        """The token of forms in this browser, for the workspace that the page shows."""
        home = None if self.user_session is None else self.user_session.membership
        text = "form" if home is None else f"form {home.workspace_id}"
        return hmac.new(self.secret.encode("utf-8", "replace"), text.encode("utf-8"), hashlib.sha256).hexdigest()

    @property
    def signed_in_session(self) -> UserSession:
        """The session, on a page that requires a session."""
        assert self.user_session is not None
        return self.user_session

    @property
    def actor(self) -> Actor:
        """The person as an actor. Raises Forbidden where the person belongs to no workspace."""
        return self.signed_in_session.actor

    @property
    def client_ip(self) -> str:
        """The IP address of the browser."""
        context = REQUEST_CONTEXT.get()
        return "" if context is None else context.client_ip

    @property
    def is_sandbox(self) -> bool:
        """Whether the server talks to simulated networks."""
        return self.service.settings.sandbox_url is not None

    @property
    def is_following(self) -> bool:
        """Whether the person lets the page reload by itself (WCAG 2.2, 2.2.2: the page also has a link to stop it)."""
        return self.request.query.get(FOLLOW) == "yes"

    @property
    def own_address(self) -> str:
        """The path and the query of the page, without the member that lets it reload by itself."""
        query = {name: value for name, value in self.request.query.items() if name != FOLLOW}
        return f"{self.request.path}?{urlencode(query)}"

    def add_following(self, address: str) -> str:
        """Return the address with the member that lets the page reload by itself."""
        return f"{address}{'&' if '?' in address else '?'}{FOLLOW}=yes"

    def count_request(self) -> None:
        """Count the request of a signed-in person, and name the person in the log. Raises RateLimited."""
        if self.user_session is None:
            return
        context, home = REQUEST_CONTEXT.get(), self.user_session.membership
        if context is not None:
            context.owner, context.workspace_id = self.user_session.user_id, None if home is None else home.workspace_id
        is_write = self.request.method == "POST"
        self.service.rate_limiter.admit_request(self.user_session.user_id, is_write=is_write)

    def path_parameter(self, name: str) -> str:
        """Return a variable part of the path."""
        return self.request.match_info[name]

    async def read_form(self) -> None:
        """Read the form. Raises Forbidden where it does not come from one of our pages."""
        if self.request.content_type not in FORM_TYPES:
            raise Forbidden(FORGED_FORM)
        if self.request.headers.get("Sec-Fetch-Site") in FOREIGN_SITES:
            raise Forbidden(FORGED_FORM)
        try:
            if self.request.content_type == FORM_TYPES[0] and (await self.request.read()).count(b"&") > MAX_FIELDS:
                raise Forbidden(FORGED_FORM)
            fields = await self.request.post()
        except (ValueError, LookupError, web.RequestPayloadError):  # not text, or an unknown encoding
            raise Forbidden(FORGED_FORM) from None
        check_not_repeated(fields)
        self.form = check_storable({name: value for name, value in fields.items() if isinstance(value, str)})
        self.files = {name: field.file.read() for name, field in fields.items() if isinstance(field, web.FileField)}
        if self.is_new_secret or not hmac.compare_digest(
            self.form.get("csrf", "").encode("utf-8"), self.csrf_token.encode("ascii")
        ):
            raise Forbidden(FORGED_FORM)

    def list_ticked(self, kind: str) -> list[str]:
        """Return the values of the ticked boxes of a kind. Each box is a field, because no field may be repeated."""
        return [name.removeprefix(f"{kind}.") for name in self.form if name.startswith(f"{kind}.")]

    def require_confirmed(self) -> None:
        """Raise InvalidInput where the person did not confirm."""
        if self.form.get("confirmed") != "true":
            raise invalid_input(
                "confirmed", "required", "must be ticked; nothing is written without your confirmation."
            )

    async def call_endpoint(self, operation_id: str, body: Json = None, *, query: Any = None, **path: str) -> Any:
        """Call an endpoint of the contract as the person, under its access rule; returns the data of the response."""
        return (await self._call(operation_id, body, query or {}, path)).data

    async def read_pages(
        self, operation_id: str, most: int, *, query: Mapping[str, str], **path: str
    ) -> AsyncIterator[ApiResponse]:
        """Call an endpoint again for each following page of its response, for at most so many pages."""
        cursor: dict[str, str] = {}
        for _ in range(most):
            page = await self._call(operation_id, None, {**query, **cursor}, path)
            yield page
            if page.next_cursor is None:
                return
            cursor = {"cursor": page.next_cursor}

    async def _call(
        self, operation_id: str, body: Json, query: Mapping[str, str], path: Mapping[str, str]
    ) -> ApiResponse:
        raw_body = b"" if body is None else dumps_bytes(body)
        endpoint = ENDPOINTS_BY_ID[operation_id]
        return await call_endpoint(self.service, self.actor, endpoint, ApiRequest(path, query, raw_body))

    def render_page(self, template: str, status: int = 200, **values: Any) -> web.Response:
        """Render a page, with the cookie that its forms need."""
        answer = render_page(template, status, visit=self, **values)
        if self.is_new_secret:
            self.set_cookie(answer, VISIT_COOKIE, self.secret, None)
        if self.service.settings.base_url.startswith("https:"):
            answer.headers["Strict-Transport-Security"] = "max-age=31536000"
        return answer

    def redirect(self, address: str) -> web.Response:
        """Redirect to another address with GET."""
        return web.Response(status=303, headers={"Location": address, "Cache-Control": "no-store"})

    def render_error(self, error: AdsunifyError) -> web.Response:
        """Render the page of an error."""
        return self.render_problem(error, "error.html", problem=to_problem_details(error))

    def render_problem(self, error: AdsunifyError, template: str, **values: Any) -> web.Response:
        """Render a page that shows an error, with the error's status and headers."""
        answer = self.render_page(template, error.status, **values)
        answer.headers.update(problem_headers(error))
        return answer

    def set_cookie(self, answer: web.StreamResponse, name: str, value: str, seconds: int | None) -> None:
        """Set one of our cookies. ``seconds`` None: the browser deletes it when it closes."""
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
        """Set the cookie of a new session and redirect."""
        answer = self.redirect(address)
        self.set_cookie(answer, SESSION_COOKIE, token, sessions.SESSION_MILLISECONDS // 1000)
        return answer


PageHandler = Callable[[PageRequest], Awaitable[web.Response]]


@define(eq=False)
class PageRouter:
    """Registers pages. Their handlers check sessions and form tokens, and show errors as pages."""

    app: web.Application
    service: Service
    sign_in_throttle: SignInThrottle

    def add_get(self, path: str, answer: PageHandler, *, open_: bool = False) -> None:
        """Add a page, also for HEAD. ``open_``: whether it needs no session."""
        self.app.router.add_get(path, self._make_handler(answer, open_))

    def add_post(self, path: str, answer: PageHandler, *, open_: bool = False) -> None:
        """Add the handler of a form. ``open_``: whether it needs no session."""
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
    """Return the full name of a cookie. With https it has a prefix that only this host can set."""
    return f"__Host-{name}" if service.settings.base_url.startswith("https:") else name


def check_storable(values: Mapping[str, str]) -> Mapping[str, str]:
    """Return the values. Raises InvalidInput for NUL characters, which not every database can store."""
    for name, value in values.items():
        if "\x00" in value:
            raise invalid_input(name, "malformed", "must not hold a NUL character.")
    return values


def local_path_or_default(address: str) -> str:
    """Return the address to open after signing in where it is a path of this server, else the first page."""
    return address if LOCAL_PATH.fullmatch(address) else "/operations"
