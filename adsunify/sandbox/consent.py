"""OAuth pieces: a consent page with one button, codes, tokens. Paths, parameter names and answers are the network's.

Failures are Problems with the codes `invalid_client`, `invalid_grant`, `invalid_request` (token calls; the network's
`problem` hook sees `request.route.role == "login"`) and `token_missing`, `token_invalid`, `token_expired` (API calls).
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from datetime import timedelta
from html import escape
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

from attrs import field, frozen

from adsunify.sandbox.checks import Check, choice, record, text
from adsunify.sandbox.native import Answer, Request, Route
from adsunify.sandbox.reading import Problem, single
from adsunify.sandbox.world import CLIENT_SECRET, Code, Token


@frozen
class Login:
    """How one network's consent and tokens look.

    pages: (host, path) of every consent page. needed / allowed: scopes that must / may be asked for; both empty = the
    network has no scope parameter. required / optional: further query parameters of the page with their checks.
    Lifetimes in seconds; `refresh_seconds` None = no end; `refreshes` False = no refresh tokens; `rotates` = a refresh
    token is replaced when it is used. Prefixes stand before the random part of a token ("Atza|").
    """

    pages: tuple[tuple[str, str], ...]
    needed: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    scope_separator: str = " "
    client_id_name: str = "client_id"
    response_type: str | None = "code"
    code_name: str = "code"
    pkce: Literal["refused", "optional", "required"] = "optional"
    required: Mapping[str, Check] = field(factory=dict)
    optional: Mapping[str, Check] = field(factory=dict)
    code_seconds: int = 600
    access_seconds: int | None = 3600
    refreshes: bool = True
    refresh_seconds: int | None = None
    rotates: bool = False
    access_prefix: str = ""
    refresh_prefix: str = ""


@frozen
class Issued:
    """Fresh tokens of a grant. `refresh` is the one to keep using (the same again where nothing rotates), or None."""

    access: Token
    refresh: Token | None


def consent_routes(login: Login) -> tuple[Route, ...]:
    """GET (the page) and POST (its one button) of every consent page."""

    def page(request: Request) -> Answer:
        try:
            _asked(request, login)
        except Problem as problem:
            return _html(400, f"<p>Refused: {escape(problem.where.lstrip('/'))}: {escape(problem.message)}</p>")
        action = escape(f"/{request.host}{request.path}?{request.raw_query}")
        button = '<button type="submit">Allow</button>'
        return _html(200, f'<form method="post" action="{action}"><p>{request.world.client_id}</p>{button}</form>')

    def allow(request: Request) -> Answer:
        try:
            asked = _asked(request, login)
        except Problem as problem:
            return _html(400, f"<p>Refused: {escape(problem.where.lstrip('/'))}: {escape(problem.message)}</p>")
        code = secrets.token_urlsafe(24)
        request.world.codes[code] = Code(
            client_id=asked[login.client_id_name],
            redirect_uri=asked["redirect_uri"],
            scopes=tuple(asked["scope"].split(login.scope_separator)) if "scope" in asked else (),
            challenge=asked.get("code_challenge"),
            expires_at=request.now + timedelta(seconds=login.code_seconds),
        )
        target = urlsplit(asked["redirect_uri"])
        query = [*parse_qsl(target.query, keep_blank_values=True), (login.code_name, code), ("state", asked["state"])]
        return Answer(302, headers={"Location": target._replace(query=urlencode(query)).geturl()})

    by_host = [((host,), path) for host, path in login.pages]
    return tuple(
        Route(method, hosts, path, handler, role="login")
        for hosts, path in by_host
        for method, handler in (("GET", page), ("POST", allow))
    )


def exchange(
    request: Request, login: Login, client_id: str, client_secret: str, code: str,
    redirect_uri: str | None, code_verifier: str | None = None,
) -> Issued:  # fmt: skip
    """Redeem a code, once. `redirect_uri` None where the network does not send it again. Problem as above."""
    client(request, client_id, client_secret)
    kept = request.world.codes.get(code)
    if kept is None or kept.expires_at <= request.now or kept.client_id != client_id:
        raise Problem("invalid_grant", login.code_name, "the code is unknown, used or expired")
    if redirect_uri not in (None, kept.redirect_uri):
        raise Problem("invalid_grant", "redirect_uri", "is not the one of the consent")
    if (kept.challenge is None) != (code_verifier is None):
        raise Problem("invalid_grant", "code_verifier", "goes with the code_challenge of the consent")
    if kept.challenge is not None and code_verifier is not None:
        digest = hashlib.sha256(code_verifier.encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != kept.challenge:
            raise Problem("invalid_grant", "code_verifier", "does not match the code_challenge")
    del request.world.codes[code]
    return grant(request, login, kept.scopes)


def grant(request: Request, login: Login, scopes: tuple[str, ...]) -> Issued:
    """Tokens of a new grant (also for networks that log in without a code)."""
    world, name = request.world, secrets.token_urlsafe(8)
    access = world.issue("access", name, scopes, login.access_seconds, login.access_prefix)
    if not login.refreshes:
        return Issued(access, None)
    return Issued(access, world.issue("refresh", name, scopes, login.refresh_seconds, login.refresh_prefix))


def refresh(request: Request, login: Login, client_id: str, client_secret: str, refresh_token: str) -> Issued:
    """A new access token (and refresh token, where they rotate). Problem as above."""
    client(request, client_id, client_secret)
    world, kept = request.world, request.world.tokens.get(refresh_token)
    if kept is None or kept.use != "refresh" or _over(kept, request):
        raise Problem("invalid_grant", "refresh_token", "the refresh token is unknown, revoked or expired")
    access = world.issue("access", kept.grant, kept.scopes, login.access_seconds, login.access_prefix)
    if not login.rotates:
        return Issued(access, kept)
    del world.tokens[refresh_token]
    return Issued(access, world.issue("refresh", kept.grant, kept.scopes, login.refresh_seconds, login.refresh_prefix))


def lengthen(request: Request, access_token: str, seconds: int | None, prefix: str = "") -> Token:
    """Another access token of the grant of one that still holds (Meta's fb_exchange_token). Problem as `valid`."""
    kept = valid(request, access_token)
    return request.world.issue("access", kept.grant, kept.scopes, seconds, prefix)


def revoke(request: Request, token: str) -> bool:
    """Kill the whole grant that a token belongs to; False where there is no such token."""
    kept = request.world.tokens.get(token)
    if kept is not None:
        request.world.revoke(kept.grant)
    return kept is not None


def client(request: Request, client_id: str, client_secret: str) -> None:
    """Check the app's credentials. Problem `invalid_client`."""
    given = f"{client_id}:{client_secret}".encode()
    if not hmac.compare_digest(given, f"{request.world.client_id}:{CLIENT_SECRET}".encode()):
        raise Problem("invalid_client", "client_id", "unknown client or wrong secret")


def basic(request: Request) -> tuple[str, str]:
    """Client id and secret of `Authorization: Basic`. Problem `invalid_client`."""
    scheme, _, encoded = request.headers.get("Authorization", "").partition(" ")
    try:
        client_id, colon, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        scheme, client_id, colon, secret = "", "", "", ""
    if scheme != "Basic" or not colon:
        raise Problem("invalid_client", "Authorization", "must be Basic client_id:client_secret")
    return client_id, secret


def bearer(request: Request) -> Token:
    """The valid access token of `Authorization: Bearer`. Problem `token_missing`, or as `valid`."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme != "Bearer" or not token:
        raise Problem("token_missing", "Authorization", "must be Bearer and an access token")
    return valid(request, token)


def valid(request: Request, access_token: str) -> Token:
    """The access token of this text. Problem `token_invalid` (unknown or revoked) or `token_expired`."""
    kept = request.world.tokens.get(access_token)
    if kept is None or kept.use != "access":
        raise Problem("token_invalid", "Authorization", "the access token is unknown or revoked")
    if _over(kept, request):
        raise Problem("token_expired", "Authorization", "the access token has expired")
    return kept


def _over(token: Token, request: Request) -> bool:
    return token.expires_at is not None and token.expires_at <= request.now


def _asked(request: Request, login: Login) -> dict[str, str]:
    """The checked query of the consent page. Problem."""
    required: dict[str, Check] = {
        login.client_id_name: choice(request.world.client_id),
        "redirect_uri": _redirect_uri,
        "state": text(),
        **login.required,
    }
    optional = dict(login.optional)
    if login.response_type is not None:
        required["response_type"] = choice(login.response_type)
    if login.needed or login.allowed:
        required["scope"] = _scope(login)
    if login.pkce != "refused":
        challenge = {"code_challenge": text(43, 43, "[A-Za-z0-9_-]+"), "code_challenge_method": choice("S256")}
        (required if login.pkce == "required" else optional).update(challenge)
    asked: dict[str, str] = record(required, optional)(single(request.pairs), "")
    if ("code_challenge" in asked) != ("code_challenge_method" in asked):
        raise Problem("required", "code_challenge_method", "goes with code_challenge")
    return asked


def _scope(login: Login) -> Check:
    def check(value: str, where: str) -> str:
        asked = value.split(login.scope_separator)
        if not {*login.needed} <= {*asked} <= {*login.needed, *login.allowed}:
            raise Problem("value", where, f"must name {', '.join(login.needed)}; may name {', '.join(login.allowed)}")
        return value

    return check


def _redirect_uri(value: str, where: str) -> str:
    parts = urlsplit(value)
    loopback = parts.hostname in ("127.0.0.1", "localhost", "::1")
    if not parts.hostname or parts.fragment or parts.scheme not in (("http", "https") if loopback else ("https",)):
        raise Problem("value", where, "must be an absolute https address (http on loopback) without a fragment", value)
    return value


def _html(status: int, content: str) -> Answer:
    page = f"<!doctype html><html><head><title>Consent</title></head><body>{content}</body></html>"
    return Answer(status, page.encode(), media_type="text/html; charset=utf-8")
