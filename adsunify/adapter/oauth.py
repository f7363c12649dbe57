"""Connecting accounts: what OAuth networks share, as requests and flows without I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from attrs import evolve, field, frozen

from adsunify.adapter.flows import fetch_response
from adsunify.adapter.network import Network
from adsunify.errors import ProviderUnreadable
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
    """The first leg of OAuth 1.0a: the consent page's address, the token that comes back in place of a state, and what
    proves then that it is ours."""

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
        value: dict[str, Json] = {"accessToken": self.access_token}
        if self.refresh_token is not None:
            value["refreshToken"] = self.refresh_token
        if self.expires_at is not None:
            value["expiresAt"] = self.expires_at
        return value | ({"extras": dict(self.extras)} if self.extras else {})

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Credentials:
        return cls(value["accessToken"], value.get("refreshToken"), value.get("expiresAt"), value.get("extras", {}))


def build_consent_url(address: str, **query: str) -> str:
    """The address of a consent page with its query; names are given as the network spells them."""
    return f"{address}?{urlencode(query, quote_via=quote)}"


def make_code_challenge(verifier: str) -> str:
    """The S256 code challenge of a PKCE verifier (RFC 7636)."""
    return encode_base64url(hashlib.sha256(verifier.encode("ascii")).digest())


def fetch_token(network: Network, request: Request, now: int, kept: Credentials | None = None) -> Flow[Credentials]:
    """Ask the token endpoint and read its answer; ``kept`` supplies a refresh token that the answer leaves out.

    ``now`` in milliseconds. Raises TokenRefused and the other ProviderErrors as the network's ERRORS say.
    """
    response = yield from fetch_response(network, request)
    token = get_text(response.body, "/access_token")
    if not token:
        raise ProviderUnreadable(f"{network.title}: the token answer has no access_token.")
    lifetime = get_value(response.body, "/expires_in")
    seconds = int(lifetime) if isinstance(lifetime, int | str) and str(lifetime).isdigit() else None
    refresh_token = get_text(response.body, "/refresh_token") or (kept.refresh_token if kept is not None else None)
    expires_at = now + seconds * 1000 if seconds is not None else None
    return Credentials(token, refresh_token, expires_at, kept.extras if kept is not None else {})


def refresh_access_token(
    network: Network, address: str, app: OAuthClient, credentials: Credentials, now: int
) -> Flow[Credentials]:
    """Ask the token endpoint for a new access token, the app's secret standing in the form; ``now`` in milliseconds.

    Without a refresh token there is nothing to ask for: the same credentials again.
    """
    if credentials.refresh_token is None:
        return credentials
    request = build_token_request(
        address,
        grant_type="refresh_token",
        refresh_token=credentials.refresh_token or "",
        client_id=app.client_id,
        client_secret=app.client_secret,
    )
    return (yield from fetch_token(network, request, now, credentials))


def build_token_request(address: str, **form: str) -> Request:
    """A form POST to a token endpoint. It may not be repeated: codes and rotating refresh tokens are used up."""
    return Request("POST", address, body=dict(form), encoding="form", kind="read_once", is_signed=False)


def can_sign(network: Network, request: Request) -> bool:
    """Whether the request may carry credentials: it asks for them, over https, at a host that the network declares."""
    address = urlsplit(request.url)
    return request.is_signed and address.scheme == "https" and address.netloc in network.hosts


def add_bearer_token(request: Request, credentials: Credentials, **headers: str) -> Request:
    """The request with ``Authorization: Bearer`` and further headers (underscores in names stand for dashes)."""
    added = {name.replace("_", "-"): value for name, value in headers.items()}
    authorization = {"Authorization": f"Bearer {credentials.access_token}"}
    return evolve(request, headers={**request.headers, **authorization, **added})
