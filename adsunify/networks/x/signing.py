"""OAuth 1.0a signatures (RFC 5849, HMAC-SHA1) over a finished request: no clock and no randomness here."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator
from urllib.parse import parse_qsl, quote, urlsplit

from attrs import evolve

from adsunify.connecting import App
from adsunify.wire import Request, filled

METHOD, VERSION = "HMAC-SHA1", "1.0"


def authorized(
    request: Request, app: App, now: int, nonce: str, token: str | None = None, secret: str = "", **more: str
) -> Request:
    """The request with its ``Authorization: OAuth`` header.

    ``now``: milliseconds. ``token`` and ``secret``: of the user, or of the request token; none in the first leg.
    ``more``: further OAuth parameters (``oauth_callback``, ``oauth_verifier``).
    """
    oauth = {
        "oauth_consumer_key": app.client_id,
        "oauth_nonce": nonce,
        "oauth_signature_method": METHOD,
        "oauth_timestamp": str(now // 1000),
        "oauth_version": VERSION,
        **({} if token is None else {"oauth_token": token}),
        **more,
    }
    oauth["oauth_signature"] = _signature(request, oauth, app.client_secret, secret)
    header = ", ".join(f'{name}="{_encoded(oauth[name])}"' for name in sorted(oauth))
    return evolve(request, headers={**request.headers, "Authorization": f"OAuth {header}"})


def nonce_of(value: str) -> str:
    """A nonce for a call that is made once for a value which is itself unique."""
    return hashlib.sha256(value.encode()).hexdigest()


def _encoded(value: str) -> str:
    return quote(value, safe="~")


def _parameters(request: Request) -> Iterator[tuple[str, str]]:
    """The query, and the members of a form; JSON is no part of a signature."""
    if request.query_raw is not None:
        yield from parse_qsl(request.query_raw, keep_blank_values=True)
    else:
        yield from request.query.items()
    if request.encoding == "form" and request.body:
        yield from request.body.items()


def _signature(request: Request, oauth: dict[str, str], client_secret: str, secret: str) -> str:
    pairs = sorted((_encoded(name), _encoded(value)) for name, value in (*_parameters(request), *oauth.items()))
    address = urlsplit(filled(request))
    place = f"{address.scheme}://{address.netloc.lower().removesuffix(':443')}{address.path or '/'}"
    joined = "&".join(f"{name}={value}" for name, value in pairs)
    base = "&".join(_encoded(part) for part in (request.method.upper(), place, joined))
    key = f"{_encoded(client_secret)}&{_encoded(secret)}"
    return base64.b64encode(hmac.new(key.encode(), base.encode(), hashlib.sha1).digest()).decode("ascii")
