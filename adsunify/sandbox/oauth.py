"""OAuth: a consent page with one button, codes and tokens. Each network gives paths and parameter names.

Failures are InvalidRequest with the codes `invalid_client` and `invalid_grant` (token calls; their route has the role
"login") and `token_missing`, `token_invalid`, `token_expired` (API calls).
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Collection, Mapping
from datetime import timedelta
from html import escape
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

from attrs import field, frozen

from adsunify.sandbox.checks import Check, choice, record, text
from adsunify.sandbox.network import Request, Response, Route
from adsunify.sandbox.parsing import InvalidRequest, require_unique_names
from adsunify.sandbox.world import CLIENT_SECRET, AuthorizationCode, Token


@frozen
class OAuthConfig:
    """The consent page and the tokens of one network.

    Attributes:
        consent_pages: (host, path) of every consent page.
        required_scopes: the scopes that a request for consent must name.
        optional_scopes: the scopes that it may name. If both lists are empty, the network has no scope parameter.
        required_parameters: further required query parameters of the page with their checks.
        optional_parameters: further optional query parameters of the page with their checks.
        code_seconds: the lifetime of codes.
        access_seconds: the lifetime of access tokens; None means that they do not expire.
        refresh_seconds: the lifetime of refresh tokens; None means that they do not expire.
        rotates_refresh_tokens: a refresh token is replaced when it is used.
        access_prefix: the beginning of an access token ("Atza|").
        has_basic_client: the token endpoint takes client id and secret by `Authorization: Basic`, not in its form.
        token_form: further optional members of the form for a code.
        refresh_form: further optional members of the form for a refresh token.
        token_members: the members of a token response in their order, of `access_token`, `token_type`, `expires_in`,
            `scope` and `refresh_token`.
    """

    consent_pages: tuple[tuple[str, str], ...]
    required_scopes: tuple[str, ...] = ()
    optional_scopes: tuple[str, ...] = ()
    scope_separator: str = " "
    client_id_name: str = "client_id"
    client_secret_name: str = "client_secret"
    response_type: str | None = "code"
    code_name: str = "code"
    pkce: Literal["refused", "optional", "required"] = "optional"
    required_parameters: Mapping[str, Check] = field(factory=dict)
    optional_parameters: Mapping[str, Check] = field(factory=dict)
    code_seconds: int = 600
    access_seconds: int | None = 3600
    issues_refresh_tokens: bool = True
    refresh_seconds: int | None = None
    rotates_refresh_tokens: bool = False
    access_prefix: str = ""
    refresh_prefix: str = ""
    has_basic_client: bool = False
    token_form: Mapping[str, Check] = field(factory=dict)
    refresh_form: Mapping[str, Check] = field(factory=dict)
    token_type: str = "bearer"
    token_members: tuple[str, ...] = ("access_token", "token_type", "expires_in", "refresh_token")


@frozen
class IssuedTokens:
    """New tokens of a grant.

    `refresh` is the refresh token to use next, or None. It is the same as before if refresh tokens do not rotate.
    """

    access: Token
    refresh: Token | None


def consent_routes(login: OAuthConfig) -> tuple[Route, ...]:
    """Return the routes of every consent page: GET shows the page, and POST is its button."""

    def page(request: Request) -> Response:
        try:
            _parse_consent_query(request, login)
        except InvalidRequest as problem:
            return build_refusal_page(problem)
        return build_consent_page(request, "Allow")

    def allow(request: Request) -> Response:
        try:
            parameters = _parse_consent_query(request, login)
        except InvalidRequest as problem:
            return build_refusal_page(problem)
        code = secrets.token_urlsafe(24)
        request.world.codes[code] = AuthorizationCode(
            client_id=parameters[login.client_id_name],
            redirect_uri=parameters["redirect_uri"],
            scopes=tuple(parameters["scope"].split(login.scope_separator)) if "scope" in parameters else (),
            challenge=parameters.get("code_challenge"),
            expires_at=request.now + timedelta(seconds=login.code_seconds),
        )
        target = urlsplit(parameters["redirect_uri"])
        query = [
            *parse_qsl(target.query, keep_blank_values=True),
            (login.code_name, code),
            ("state", parameters["state"]),
        ]
        return Response(302, headers={"Location": target._replace(query=urlencode(query)).geturl()})

    by_host = [((host,), path) for host, path in login.consent_pages]
    return tuple(
        Route(method, hosts, path, handler, role="login")
        for hosts, path in by_host
        for method, handler in (("GET", page), ("POST", allow))
    )


def build_consent_page(request: Request, button: str) -> Response:
    """Build the page that asks for consent, with one button."""
    action = escape(f"/{request.host}{request.path}?{request.raw_query}")
    form = f'<p>{request.world.client_id}</p><button type="submit">{button}</button>'
    return _build_html_response(200, f'<form method="post" action="{action}">{form}</form>')


def build_refusal_page(problem: InvalidRequest) -> Response:
    """Build the page for a request for consent with a wrong query."""
    where, message = escape(problem.where.lstrip("/")), escape(problem.message)
    return _build_html_response(400, f"<p>Refused: {where}: {message}</p>")


def redeem_token_form(request: Request, login: OAuthConfig) -> tuple[dict[str, str], IssuedTokens]:
    """Check the form of a token call and redeem its code or refresh token. Returns the checked form and the tokens.

    Raises InvalidRequest: what the checks of the form raise, `invalid_client` or `invalid_grant`.
    """
    credentials: dict[str, Check] = {}
    client = None
    if login.has_basic_client:
        client = parse_basic_auth(request)
        check_client(request, *client)
    else:
        credentials = {login.client_id_name: text(), login.client_secret_name: text()}
    members = {"grant_type": choice("authorization_code", "refresh_token"), **credentials}
    form: dict[str, str] = request.parse_form()
    if form.get("grant_type") == "refresh_token":
        check = record({**members, "refresh_token": text()}, login.refresh_form)
    else:
        check = record({**members, login.code_name: text(), "redirect_uri": text()}, login.token_form)
    form = check(form, "")
    return form, redeem_grant(request, login, form, client)


def redeem_grant(
    request: Request, login: OAuthConfig, members: Mapping[str, str], client: tuple[str, str] | None = None
) -> IssuedTokens:
    """Redeem the code or refresh token of a token call. `client` is its client id and secret."""
    client = client or (members[login.client_id_name], members[login.client_secret_name])
    if "refresh_token" in members:
        return refresh_tokens(request, login, *client, members["refresh_token"])
    code, redirect_uri = members[login.code_name], members.get("redirect_uri")
    return exchange_code(request, login, *client, code, redirect_uri, members.get("code_verifier"))


def render_tokens(login: OAuthConfig, issued: IssuedTokens) -> dict[str, Any]:
    """Return the members of a token response in the network's order."""
    members = {
        "access_token": issued.access.text,
        "token_type": login.token_type,
        "expires_in": login.access_seconds,
        "scope": " ".join(issued.access.scopes),
        "refresh_token": issued.refresh.text if issued.refresh is not None else None,
    }
    return {name: members[name] for name in login.token_members}


def format_oauth_error(
    problem: InvalidRequest, codes: Collection[str], description: str | None = None, client_status: int = 401
) -> Response:
    """Build the error of a token call (RFC 6749, section 5.2). A code outside of `codes` becomes `invalid_request`.

    `client_status` is the HTTP status of `invalid_client`. All other errors are 400.
    """
    code = problem.code if problem.code in codes else "invalid_request"
    body = {"error": code, **({} if description is None else {"error_description": description})}
    return Response(client_status if code == "invalid_client" else 400, body)


def exchange_code(
    request: Request,
    login: OAuthConfig,
    client_id: str,
    client_secret: str,
    code: str,
    redirect_uri: str | None,
    code_verifier: str | None = None,
) -> IssuedTokens:
    """Redeem a code, once. `redirect_uri` is None if the token call has no such parameter. Raises InvalidRequest."""
    check_client(request, client_id, client_secret)
    authorization = request.world.codes.get(code)
    if authorization is None or authorization.expires_at <= request.now or authorization.client_id != client_id:
        raise InvalidRequest("invalid_grant", login.code_name, "the code is unknown, used or expired")
    if redirect_uri not in (None, authorization.redirect_uri):
        raise InvalidRequest("invalid_grant", "redirect_uri", "is not the one of the consent")
    if (authorization.challenge is None) != (code_verifier is None):
        raise InvalidRequest("invalid_grant", "code_verifier", "goes with the code_challenge of the consent")
    if authorization.challenge is not None and code_verifier is not None:
        digest = hashlib.sha256(code_verifier.encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != authorization.challenge:
            raise InvalidRequest("invalid_grant", "code_verifier", "does not match the code_challenge")
    del request.world.codes[code]
    return issue_grant(request, login, authorization.scopes)


def issue_grant(request: Request, login: OAuthConfig, scopes: tuple[str, ...]) -> IssuedTokens:
    """Issue the tokens of a new grant, also for networks whose login has no code."""
    world, name = request.world, secrets.token_urlsafe(8)
    access = world.issue_token("access", name, scopes, login.access_seconds, login.access_prefix)
    if not login.issues_refresh_tokens:
        return IssuedTokens(access, None)
    return IssuedTokens(access, world.issue_token("refresh", name, scopes, login.refresh_seconds, login.refresh_prefix))


def refresh_tokens(
    request: Request, login: OAuthConfig, client_id: str, client_secret: str, refresh_token: str
) -> IssuedTokens:
    """Issue a new access token, and a new refresh token if they rotate. Raises InvalidRequest."""
    check_client(request, client_id, client_secret)
    world, token = request.world, request.world.tokens.get(refresh_token)
    if token is None or token.use != "refresh" or _is_expired(token, request):
        raise InvalidRequest("invalid_grant", "refresh_token", "the refresh token is unknown, revoked or expired")
    access = world.issue_token("access", token.grant, token.scopes, login.access_seconds, login.access_prefix)
    if not login.rotates_refresh_tokens:
        return IssuedTokens(access, token)
    del world.tokens[refresh_token]
    return IssuedTokens(
        access, world.issue_token("refresh", token.grant, token.scopes, login.refresh_seconds, login.refresh_prefix)
    )


def extend_token(request: Request, access_token: str, seconds: int | None, prefix: str = "") -> Token:
    """Issue another access token for the grant of a valid one (Meta's fb_exchange_token). Raises InvalidRequest."""
    token = require_access_token(request, access_token)
    return request.world.issue_token("access", token.grant, token.scopes, seconds, prefix)


def revoke_grant(request: Request, token: str) -> bool:
    """Revoke all tokens of the grant of a token. Returns False if the token is unknown."""
    found_token = request.world.tokens.get(token)
    if found_token is not None:
        request.world.revoke_grant(found_token.grant)
    return found_token is not None


def check_client(request: Request, client_id: str, client_secret: str) -> None:
    """Check the credentials of the application. Raises InvalidRequest `invalid_client`."""
    credentials = f"{client_id}:{client_secret}".encode()
    if not hmac.compare_digest(credentials, f"{request.world.client_id}:{CLIENT_SECRET}".encode()):
        raise InvalidRequest("invalid_client", "client_id", "unknown client or wrong secret")


def parse_basic_auth(request: Request) -> tuple[str, str]:
    """Return client id and secret of `Authorization: Basic`. Raises InvalidRequest `invalid_client`."""
    scheme, _, encoded = request.headers.get("Authorization", "").partition(" ")
    try:
        client_id, colon, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        scheme, client_id, colon, secret = "", "", "", ""
    if scheme != "Basic" or not colon:
        raise InvalidRequest("invalid_client", "Authorization", "must be Basic client_id:client_secret")
    return client_id, secret


def require_bearer_token(request: Request) -> Token:
    """Return the valid access token of `Authorization: Bearer`. Raises InvalidRequest."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme != "Bearer" or not token:
        raise InvalidRequest("token_missing", "Authorization", "must be Bearer and an access token")
    return require_access_token(request, token)


def require_access_token(request: Request, access_token: str) -> Token:
    """Return the access token with this text.

    Raises InvalidRequest `token_invalid` (unknown or revoked) or `token_expired`.
    """
    token = request.world.tokens.get(access_token)
    if token is None or token.use != "access":
        raise InvalidRequest("token_invalid", "Authorization", "the access token is unknown or revoked")
    if _is_expired(token, request):
        raise InvalidRequest("token_expired", "Authorization", "the access token has expired")
    return token


def _is_expired(token: Token, request: Request) -> bool:
    return token.expires_at is not None and token.expires_at <= request.now


def _parse_consent_query(request: Request, login: OAuthConfig) -> dict[str, str]:
    """Return the checked query of the consent page. Raises InvalidRequest."""
    required: dict[str, Check] = {
        login.client_id_name: choice(request.world.client_id),
        "redirect_uri": _check_redirect_uri,
        "state": text(),
        **login.required_parameters,
    }
    optional = dict(login.optional_parameters)
    if login.response_type is not None:
        required["response_type"] = choice(login.response_type)
    if login.required_scopes or login.optional_scopes:
        required["scope"] = _scope_check(login)
    if login.pkce != "refused":
        challenge = {"code_challenge": text(43, 43, "[A-Za-z0-9_-]+"), "code_challenge_method": choice("S256")}
        (required if login.pkce == "required" else optional).update(challenge)
    query: dict[str, str] = record(required, optional)(require_unique_names(request.query_pairs), "")
    if ("code_challenge" in query) != ("code_challenge_method" in query):
        raise InvalidRequest("required", "code_challenge_method", "goes with code_challenge")
    return query


def _scope_check(login: OAuthConfig) -> Check:
    def check(value: str, where: str) -> str:
        scopes = value.split(login.scope_separator)
        if not {*login.required_scopes} <= {*scopes} <= {*login.required_scopes, *login.optional_scopes}:
            raise InvalidRequest(
                "value",
                where,
                f"must name {', '.join(login.required_scopes)}; may name {', '.join(login.optional_scopes)}",
            )
        return value

    return check


def _check_redirect_uri(value: str, where: str) -> str:
    parts = urlsplit(value)
    loopback = parts.hostname in ("127.0.0.1", "localhost", "::1")
    if not parts.hostname or parts.fragment or parts.scheme not in (("http", "https") if loopback else ("https",)):
        raise InvalidRequest(
            "value", where, "must be an absolute https address (http on loopback) without a fragment", value
        )
    return value


def _build_html_response(status: int, content: str) -> Response:
    page = f"<!doctype html><html><head><title>Consent</title></head><body>{content}</body></html>"
    return Response(status, page.encode(), media_type="text/html; charset=utf-8")
