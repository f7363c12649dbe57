"""Logins: an authorization-code login as a record, and the requests and flows of connecting, without I/O.

The :class:`OAuth2` of a network stands in its ``native.py``; :class:`AuthorizationCodeLogin` connects, refreshes,
revokes and signs by it. A network with another login has functions of the same names in its ``reads.py``
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
"""In place of an application at networks that people connect with credentials of their own."""


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
    """What a connection keeps in the vault. ``expires_at``: milliseconds since 1970, None = does not expire.

    ``extras``: further secrets of a network by name (Apple's key, X's token secret).
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
    """The address of a consent page with its query; names are given as the network spells them."""
    return f"{address}?{urlencode(query, quote_via=quote)}"


def make_code_challenge(verifier: str) -> str:
    """The S256 code challenge of a PKCE verifier (RFC 7636)."""
    return encode_base64url(hashlib.sha256(verifier.encode("ascii")).digest())


def fetch_token(network: Network, request: Request, now: int, current: Credentials | None = None) -> Flow[Credentials]:
    """Send a request to the token endpoint and read the tokens in its answer; ``now`` in milliseconds.

    ``current`` supplies the refresh token if the answer has none, and the extras. Raises ProviderUnreadable for an
    answer without an access token, TokenRefused and the other ProviderErrors as the network's ERRORS say.
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
    """A form POST to a token endpoint. It is never repeated: a code or a rotating refresh token works once."""
    return Request("POST", address, body=dict(form), encoding="form", kind="read_once", is_signed=False)


def can_sign(network: Network, request: Request) -> bool:
    """Whether the request may carry credentials: it asks for them, over https, at a host that the network declares."""
    address = urlsplit(request.url)
    return request.is_signed and address.scheme == "https" and address.netloc in network.hosts


def add_bearer_token(request: Request, credentials: Credentials) -> Request:
    """The request with ``Authorization: Bearer``."""
    return evolve(request, headers={**request.headers, "Authorization": f"Bearer {credentials.access_token}"})


# -- the authorization code ---------------------------------------------------------------------------------------


@frozen(eq=False, kw_only=True)
class OAuth2(Login):
    """An authorization-code login (RFC 6749) as one network does it.

    ``consent_url``, ``token_url``, ``revoke_url``: the three endpoints; without a ``revoke_url`` the network has no
    request that revokes. ``scopes`` are joined by ``scope_separator``. ``consent_extras``, ``exchange_extras``: members
    that only this network wants in the consent page's query and in the exchange of the code. ``exchange_members``,
    ``revoke_members``: the members of those forms in the order of the network's documentation.

    ``is_client_in_header``: the app's id and secret are sent as HTTP Basic credentials and not in the form; ``headers``
    are sent with every request to the token endpoints. ``client_id_header``: a header with the app's id in every signed
    request.

    ``revoked_tokens``: the tokens to revoke, the first that the connection has; all of them with ``is_revoking_all``.
    ``client_refused_statuses``: the HTTP statuses of the token endpoint that mean a wrong app id or secret.
    ``grant_refused_statuses``: those that mean a refresh token that is not valid any more. Both count whatever code the
    answer has.
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
    """The :class:`~adsunify.adapter.protocols.AuthorizationFlows` of a network whose ``login`` is an OAuth2 record."""

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
            except ProviderError as problem:  # the other token is revoked all the same
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
        """The members of a form in the order of ``names``, the app's among them where the form holds them."""
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
