"""A visit to a page: whose session it is, the form that was sent, and what the page answers.

Forms carry a token that only the browser's own cookie can have made, so that no other origin can send one; and each is
good for the workspace that its page showed.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote

from aiohttp import web
from attrs import define

from adsunify.actor import Actor
from adsunify.contract import BY_ID, Call
from adsunify.errors import AdsunifyError, Forbidden, refused
from adsunify.problem_details import described
from adsunify.service import signing_in
from adsunify.service.authenticating import ASKED
from adsunify.service.core import Service
from adsunify.service.dispatch import call
from adsunify.service.signing_in import Tries, Visitor
from adsunify.values.exact_json import Json, json_bytes
from adsunify_server.problems import told_by_headers
from adsunify_server.repeated import check_repeated

from .rendering import rendered

log = logging.getLogger("adsunify.server")
SESSION, VISIT = "adsunify_session", "adsunify_visit"
LOCAL = re.compile(r"/(?![/\\])[\x21-\x7e]*")
"""An address of this server, and nothing that a browser would take for another's."""
ELSEWHERE = ("cross-site", "same-site")
MAX_FIELDS = 200
"""No form of the pages has as many fields."""
FORGED = (
    "This form did not come from a page of this server, or your session ended meanwhile, or you look at another "
    "workspace by now. Open the page again."
)


@define(eq=False)
class Visit:
    """One request of a browser. ``secret``: the cookie that form tokens are made from; ``fresh``: to be set yet."""

    request: web.Request
    service: Service
    tries: Tries
    visitor: Visitor | None
    secret: str
    fresh: bool
    form: Mapping[str, str]

    @classmethod
    async def of(cls, service: Service, tries: Tries, request: web.Request) -> Visit:
        """The visit that a request is."""
        token = request.cookies.get(cookie_name(service, SESSION), "")
        visitor = await signing_in.visitor(service, token) if token else None
        secret = token if visitor is not None else request.cookies.get(cookie_name(service, VISIT), "")
        return cls(request, service, tries, visitor, secret or secrets.token_urlsafe(32), not secret, {})

    @property
    def csrf(self) -> str:
        """The token that a form of this browser carries; in another workspace it would do something else."""
        home = None if self.visitor is None else self.visitor.home
        text = "form" if home is None else f"form {home.workspace_id}"
        return hmac.new(self.secret.encode("utf-8", "replace"), text.encode("utf-8"), hashlib.sha256).hexdigest()

    @property
    def person(self) -> Visitor:
        """Who is signed in; the door let nobody else through."""
        assert self.visitor is not None
        return self.visitor

    @property
    def actor(self) -> Actor:
        """The person as a caller; raises Forbidden where he belongs to no workspace."""
        return self.person.actor

    @property
    def source(self) -> str:
        """The network address of the browser."""
        asked = ASKED.get()
        return "" if asked is None else asked.source

    def count(self) -> None:
        """Count the visit of a person who is signed in, and say whose it is. Raises RateLimited."""
        if self.visitor is None:
            return
        asked, home = ASKED.get(), self.visitor.home
        if asked is not None:
            asked.owner, asked.workspace_id = self.visitor.user_id, None if home is None else home.workspace_id
        now = self.service.store.clock.wall()
        self.service.limiting.admit(self.visitor.user_id, self.request.method == "POST", now)

    def path(self, name: str) -> str:
        """A variable part of the address."""
        return self.request.match_info[name]

    async def read_form(self) -> None:
        """Read the form that was sent; raises Forbidden for one that is not of our own pages."""
        if self.request.content_type != "application/x-www-form-urlencoded":
            raise Forbidden(FORGED)
        if self.request.headers.get("Sec-Fetch-Site") in ELSEWHERE:
            raise Forbidden(FORGED)
        try:
            if (await self.request.read()).count(b"&") > MAX_FIELDS:
                raise Forbidden(FORGED)
            sent = await self.request.post()
        except (ValueError, LookupError, web.RequestPayloadError):  # no text, or in no encoding that there is
            raise Forbidden(FORGED) from None
        check_repeated(sent)
        self.form = stored({name: value for name, value in sent.items() if isinstance(value, str)})
        if self.fresh or not hmac.compare_digest(self.form.get("csrf", "").encode("utf-8"), self.csrf.encode("ascii")):
            raise Forbidden(FORGED)

    def confirmed(self) -> None:
        """Raise InvalidInput where the form lacks the person's word."""
        if self.form.get("confirmed") != "true":
            raise refused("confirmed", "required", "must be ticked: nothing is written without your word.")

    async def ask(self, operation_id: str, body: Json = None, *, query: Any = None, **path: str) -> Any:
        """Call a use case of the contract as the person, under its access rule; the data of the answer."""
        sent = b"" if body is None else json_bytes(body)
        answer = await call(self.service, self.actor, BY_ID[operation_id], Call(path, query or {}, sent))
        return answer.data

    def page(self, template: str, status: int = 200, **values: Any) -> web.Response:
        """A page, with the cookie that its forms need."""
        answer = rendered(template, status, visit=self, **values)
        if self.fresh:
            self.set_cookie(answer, VISIT, self.secret, None)
        if self.service.settings.base_url.startswith("https:"):
            answer.headers["Strict-Transport-Security"] = "max-age=31536000"
        return answer

    def to(self, address: str) -> web.Response:
        """Go on to another address, by GET."""
        return web.Response(status=303, headers={"Location": address, "Cache-Control": "no-store"})

    def failed(self, error: AdsunifyError) -> web.Response:
        """The page that an error is."""
        return self.telling(error, "error.html", problem=described(error))

    def telling(self, error: AdsunifyError, template: str, **values: Any) -> web.Response:
        """A page that tells an error, with the status and the headers of it."""
        answer = self.page(template, error.status, **values)
        answer.headers.update(told_by_headers(error))
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
        answer = self.to(address)
        self.set_cookie(answer, SESSION, token, signing_in.SESSION_MILLISECONDS // 1000)
        return answer


Answer = Callable[[Visit], Awaitable[web.Response]]


@define(eq=False)
class Door:
    """Where pages are hung: each behind sessions, form tokens, and errors told as pages."""

    app: web.Application
    service: Service
    tries: Tries

    def get(self, path: str, answer: Answer, *, open_: bool = False) -> None:
        """A page, also answered to HEAD. ``open_``: also for whoever is not signed in."""
        self.app.router.add_get(path, self._handler(answer, open_))

    def post(self, path: str, answer: Answer, *, open_: bool = False) -> None:
        """What a form does."""
        self.app.router.add_post(path, self._handler(answer, open_))

    def _handler(self, answer: Answer, open_: bool) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            visit = await Visit.of(self.service, self.tries, request)
            try:
                visit.count()
                check_repeated(request.query)
                if request.method == "POST":
                    await visit.read_form()
                if visit.visitor is None and not open_:
                    return visit.to(f"/sign-in?next={quote(request.path_qs, safe='/')}")
                return await answer(visit)
            except AdsunifyError as error:
                if error.status >= 500:
                    log.exception("%s: %s", error.code, error.message)
                return visit.failed(error)

        return handle


def cookie_name(service: Service, name: str) -> str:
    """On https, a name that only this very host can set."""
    return f"__Host-{name}" if service.settings.base_url.startswith("https:") else name


def stored(values: Mapping[str, str]) -> Mapping[str, str]:
    """The values, which every database can keep and look for; raises InvalidInput."""
    for name, value in values.items():
        if "\x00" in value:
            raise refused(name, "malformed", "must be text without NUL.")
    return values


def local(address: str) -> str:
    """An address to go to after signing in: one of this server, or the first page."""
    return address if LOCAL.fullmatch(address) else "/operations"
