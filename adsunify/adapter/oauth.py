"""Logins: the authorization-code login as a record, and the requests and flows that connect an account. No I/O.

The ``native.py`` of a network has its :class:`OAuth2` record. With it :class:`AuthorizationCodeLogin` connects,
refreshes, revokes and signs. For another login, the ``reads.py`` of the adapter has functions of the same names
(:class:`adsunify.adapter.protocols.CredentialFlows`).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import quote, urlencode, urlsplit

from attrs import evolve, field, frozen

from adsunify.adapter.flows import fetch_response
from adsunify.adapter.network import Login, Network
from adsunify.errors import PermissionRefused, ProviderError, ProviderUnreadable, TokenRefused, invalid_input
from adsunify.http.messages import Flow, Request
from adsunify.values.base64url import encode_base64url
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value


@frozen
class OAuthClient:
    """The deployment's own application at a network."""

    client_id: str
    client_secret: str = field(repr=False)


NO_OAUTH_CLIENT = OAuthClient("", "")
"""Used in place of an application at networks that issue credentials to the advertiser."""


@frozen
class RequestToken:
    """The first leg of OAuth 1.0a.

    Attributes:
        url: the address of the consent page.
        token: the network sends it back to the redirect address, where it takes the place of ``state``.
        secret: signs the request that exchanges the token.
    """

    url: str
    token: str
    secret: str = field(repr=False)


@frozen
class Credentials:
    """The credentials of a connection, which the store encrypts.

    Attributes:
        access_token: the access token.
        refresh_token: the refresh token; None if the network issues none.
        expires_at: when the access token expires, in milliseconds since 1970; None means never.
        extras: further secrets by name (Apple's key, X's token secret).
    """

    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    expires_at: int | None = None
    extras: Mapping[str, str] = field(factory=dict, repr=False)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON that the store encrypts; members without a value are left out."""
        value: dict[str, Json] = {"accessToken": self.access_token}
        if self.refresh_token is not None:
            value["refreshToken"] = self.refresh_token
        if self.expires_at is not None:
            value["expiresAt"] = self.expires_at
        return value | ({"extras": dict(self.extras)} if self.extras else {})

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Credentials:
        """Read what :meth:`to_json` returned."""
        return cls(value["accessToken"], value.get("refreshToken"), value.get("expiresAt"), value.get("extras", {}))


def build_consent_url(address: str, **query: str) -> str:
    """Return the address of a consent page with ``query``, whose names are the network's."""
    return f"{address}?{urlencode(query, quote_via=quote)}"


def make_code_challenge(verifier: str) -> str:
    """Return the S256 code challenge of a PKCE verifier (RFC 7636)."""
    return encode_base64url(hashlib.sha256(verifier.encode("ascii")).digest())


def fetch_token(network: Network, request: Request, now: int, current: Credentials | None = None) -> Flow[Credentials]:
    """Send a request to the token endpoint and read the tokens of its response.

    Args:
        network: the tables of the network.
        request: the request.
        now: the present, in milliseconds since 1970.
        current: the present credentials. They supply the extras, and the refresh token if the response has none.

    Raises:
        ProviderUnreadable: the response has no access token.
        ProviderError: the network refused the request; the ERRORS table gives the class, such as TokenRefused.
    """
    response = yield from fetch_response(network, request)
    token = get_text(response.body, "/access_token")
    if not token:
        raise ProviderUnreadable(f"{network.title}: the token answer has no access_token.")
    lifetime = get_value(response.body, "/expires_in")
    seconds = int(lifetime) if isinstance(lifetime, int | str) and str(lifetime).isdigit() else None
    refresh_token = get_text(response.body, "/refresh_token") or (current.refresh_token if current else None)
    expires_at = now + seconds * 1000 if seconds is not None else None
    return Credentials(token, refresh_token, expires_at, current.extras if current else {})


def build_token_request(address: str, **form: str) -> Request:
    """Build a form POST to a token endpoint. It is not repeated, because codes and refresh tokens work only once."""
    return Request("POST", address, body=dict(form), encoding="form", kind="read_once", is_signed=False)


def can_sign(network: Network, request: Request) -> bool:
    """Whether the request may get credentials: it needs a signature, and goes over https to a host of the network."""
    address = urlsplit(request.url)
    return request.is_signed and address.scheme == "https" and address.netloc in network.hosts


def add_bearer_token(request: Request, credentials: Credentials) -> Request:
    """Return the request with ``Authorization: Bearer``."""
    return evolve(request, headers={**request.headers, "Authorization": f"Bearer {credentials.access_token}"})


# -- the authorization code ---------------------------------------------------------------------------------------


@frozen(eq=False, kw_only=True)
class OAuth2(Login):
    """An authorization-code login (RFC 6749) as one network does it.

    Attributes:
        consent_url: the consent page.
        token_url: the token endpoint.
        revoke_url: the endpoint that revokes tokens; empty if the network has none.
        scope_separator: joins ``scopes``.
        consent_extras: further members of the consent page's query.
        exchange_members: the members of the form that exchanges the code, in the order of the network's documentation.
        exchange_extras: further members of that form.
        is_client_in_header: the id and secret of the application are sent as HTTP Basic credentials, not in the form.
        headers: headers of every request to these endpoints.
        client_id_header: the header with the application's id in every signed request; empty if not needed.
        revoke_members: the members of the form that revokes a token.
        revoked_tokens: the tokens to revoke. Only the first that the connection has is revoked, unless
            ``is_revoking_all``.
        is_revoking_all: all ``revoked_tokens`` are revoked.
        client_refused_statuses: HTTP statuses of the token endpoint that mean a wrong application id or secret,
            whatever the error code.
        grant_refused_statuses: HTTP statuses of the token endpoint that mean an invalid refresh token, whatever the
            error code.
    """

    kind: Literal["oauth2", "oauth1", "credentials"] = "oauth2"
    consent_url: str
    token_url: str
    revoke_url: str = ""
    scope_separator: str = " "
    consent_extras: Mapping[str, str] = field(factory=dict)
    exchange_members: tuple[str, ...] = ("grant_type", "code", "redirect_uri", "client_id", "client_secret")
    exchange_extras: Mapping[str, str] = field(factory=dict)
    is_client_in_header: bool = False
    headers: Mapping[str, str] = field(factory=dict)
    client_id_header: str = ""
    revoke_members: tuple[str, ...] = ("token", "token_type_hint")
    revoked_tokens: tuple[str, ...] = ("refresh_token", "access_token")
    is_revoking_all: bool = False
    client_refused_statuses: tuple[int, ...] = ()
    grant_refused_statuses: tuple[int, ...] = ()


CLIENT_MEMBERS = ("client_id", "client_secret")


@frozen
class AuthorizationCodeLogin:
    """The :class:`~adsunify.adapter.protocols.AuthorizationFlows` of a network with an :class:`OAuth2` record."""

    network: Network
    login: OAuth2

    def build_authorization_url(self, app: OAuthClient, redirect_uri: str, state: str, verifier: str) -> str:
        """Return the address of the consent page. ``verifier`` is the PKCE code verifier."""
        query = {
            "client_id": app.client_id,
            "redirect_uri": redirect_uri,
            "state": state,
            "response_type": "code",
            "scope": self.login.scope_separator.join(self.login.scopes),
            **self.login.consent_extras,
        }
        if self.login.has_pkce:
            query |= {"code_challenge": make_code_challenge(verifier), "code_challenge_method": "S256"}
        return build_consent_url(self.login.consent_url, **query)

    def fetch_credentials(
        self, app: OAuthClient, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int
    ) -> Flow[Credentials]:
        """Exchange the code for tokens.

        ``answer`` is the query of the redirect, ``now`` milliseconds since 1970. Raises InvalidInput without a code.
        """
        if not answer.get("code"):
            reasons = [answer[name].rstrip(".") for name in ("error", "error_description") if answer.get(name)]
            message = f"{self.network.title} gave no code: {', '.join(reasons) or 'no reason'}."
            raise invalid_input("code", "required", message)
        members = {"grant_type": "authorization_code", "code": answer["code"], "redirect_uri": redirect_uri}
        form = {**self._select_members(app, self.login.exchange_members, members), **self.login.exchange_extras}
        if self.login.has_pkce:
            form["code_verifier"] = verifier
        return (yield from self._fetch_token(self._build_request(app, self.login.token_url, form), now))

    def refresh_credentials(self, app: OAuthClient, credentials: Credentials, now: int) -> Flow[Credentials]:
        """Exchange the refresh token, if there is one. Raises TokenRefused if the network has ended the grant."""
        if credentials.refresh_token is None:
            return credentials
        members = {"grant_type": "refresh_token", "refresh_token": credentials.refresh_token}
        form = self._select_members(app, (*members, *CLIENT_MEMBERS), members)
        request = self._build_request(app, self.login.token_url, form)
        try:
            return (yield from self._fetch_token(request, now, credentials))
        except ProviderError as problem:
            if problem.native.status in self.login.grant_refused_statuses:
                raise TokenRefused(problem.message, native=problem.native) from problem
            raise

    def revoke_credentials(self, app: OAuthClient, credentials: Credentials) -> Flow[None]:
        """Revoke the tokens, as far as the network can. Raises the first ProviderError after all were tried."""
        tokens = {"refresh_token": credentials.refresh_token, "access_token": credentials.access_token}
        names = [name for name in self.login.revoked_tokens if self.login.revoke_url and tokens[name] is not None]
        problems: list[ProviderError] = []
        for name in names if self.login.is_revoking_all else names[:1]:
            members = {"token": tokens[name] or "", "token_type_hint": name}
            form = self._select_members(app, self.login.revoke_members, members)
            try:
                yield from fetch_response(self.network, self._build_request(app, self.login.revoke_url, form))
            except ProviderError as problem:  # the next token must still be revoked
                problems.append(problem)
        if problems:
            raise problems[0]

    def sign_request(
        self, request: Request, credentials: Credentials, app: OAuthClient, now: int, nonce: str
    ) -> Request:
        """Add the access token to a request, if it goes to a host of the network."""
        if not can_sign(self.network, request):
            return request
        if self.login.client_id_header:
            request = evolve(request, headers={**request.headers, self.login.client_id_header: app.client_id})
        return add_bearer_token(request, credentials)

    def _select_members(self, app: OAuthClient, names: tuple[str, ...], members: Mapping[str, str]) -> dict[str, str]:
        """Return the form's members in the order of ``names``, which may include the application's id and secret."""
        client = (
            {} if self.login.is_client_in_header else {"client_id": app.client_id, "client_secret": app.client_secret}
        )
        values = {**members, **client}
        return {name: values[name] for name in names if name in values}

    def _build_request(self, app: OAuthClient, address: str, form: Mapping[str, str]) -> Request:
        headers = dict(self.login.headers)
        if self.login.is_client_in_header:
            pair = base64.b64encode(f"{app.client_id}:{app.client_secret}".encode()).decode("ascii")
            headers["Authorization"] = f"Basic {pair}"
        return evolve(build_token_request(address, **form), headers=headers)

    def _fetch_token(self, request: Request, now: int, current: Credentials | None = None) -> Flow[Credentials]:
        try:
            return (yield from fetch_token(self.network, request, now, current))
        except ProviderError as problem:
            if problem.native.status in self.login.client_refused_statuses:
                message = f"{self.network.title} refuses the app's client id and secret."
                raise PermissionRefused(message, native=problem.native) from problem
            raise
