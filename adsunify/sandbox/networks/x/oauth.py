"""OAuth 1.0a, as the documentation describes it: three legs, and the signature of every request.

A token's secret derives from the token, so it is not stored. Nonces and request tokens are entries of the world's codes
until they expire.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import quote, unquote, urlencode, urlsplit

from adsunify.sandbox.checks import choice, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.x.answers import check_flag, parse_parameters
from adsunify.sandbox.networks.x.tables import LOGIN, SCREEN_NAME, USER_ID, WRITER_PERMISSIONS
from adsunify.sandbox.oauth import (
    build_consent_page,
    build_refusal_page,
    issue_grant,
    require_access_token,
    revoke_grant,
)
from adsunify.sandbox.parsing import InvalidRequest, split_words
from adsunify.sandbox.world import CLIENT_SECRET, AuthorizationCode

MAX_CLOCK_SKEW_SECONDS = 300  # X Ads API refuses a timestamp that is too far off; the limit is our choice
REQUEST_TOKEN_SECONDS = 600
FORM_MEDIA_TYPE = "application/x-www-form-urlencoded"
_REQUIRED_OAUTH_PARAMETERS = frozenset(
    {
        *split_words("""
        oauth_consumer_key oauth_nonce oauth_signature oauth_signature_method oauth_timestamp oauth_version
    """)
    }
)


def authorize_request(request: Request) -> None:
    """Check the signature, the account and the write permission of a call of the ad API."""
    signed = _parse_authorization(request, "oauth_token")
    token = require_access_token(request, signed["oauth_token"])
    _verify_signature(request, signed, derive_token_secret(token.text))
    account = request.find_account(request.path_parameters.get("account", ""))
    if "account" in request.path_parameters and account is None:
        raise InvalidRequest("ACCOUNT_NOT_FOUND", "account_id", "The account is not there, or not yours to see.")
    if request.method == "GET" or "/stats/jobs/" in request.path:
        return
    if "read" in token.scopes:
        raise InvalidRequest("READONLY_CLIENT_APPLICATION", "", "The token may only read.")
    if account is not None and not WRITER_PERMISSIONS & set(account.extra["permissions"]):
        raise InvalidRequest("ACTION_NOT_ALLOWED", "", "The user may not change this account.")


def issue_request_token(request: Request) -> Response:
    """Leg 1: signed with the app only; the callback is an OAuth parameter."""
    signed = _parse_authorization(request, "oauth_callback")
    _verify_signature(request, signed, "")
    query = parse_parameters(request, optional={"x_auth_access_type": choice("read", "write")})
    callback = _check_callback(signed["oauth_callback"])
    token = secrets.token_urlsafe(20)
    request.world.codes[token] = AuthorizationCode(
        client_id=request.world.client_id,
        redirect_uri=callback,
        scopes=(query.get("x_auth_access_type", "write"),),
        challenge=None,
        expires_at=request.now + timedelta(seconds=REQUEST_TOKEN_SECONDS),
    )
    return _build_form_response(
        oauth_token=token, oauth_token_secret=derive_token_secret(token), oauth_callback_confirmed="true"
    )


def show_consent_page(request: Request) -> Response:
    """Leg 2: the consent page."""
    try:
        _parse_consent_query(request)
    except InvalidRequest as problem:
        return build_refusal_page(problem)
    return build_consent_page(request, "Authorize app")


def grant_consent(request: Request) -> Response:
    """The page's one button: back to the callback, with the verifier."""
    try:
        token, code = _parse_consent_query(request)
    except InvalidRequest as problem:
        return build_refusal_page(problem)
    verifier = secrets.token_urlsafe(20)
    request.world.codes[token] = AuthorizationCode(
        code.client_id, code.redirect_uri, code.scopes, verifier, code.expires_at
    )
    back = urlencode({"oauth_token": token, "oauth_verifier": verifier})
    return Response(302, headers={"Location": f"{code.redirect_uri}?{back}"})


def issue_access_token(request: Request) -> Response:
    """Leg 3: signed with the request token; the verifier is a parameter. A request token is valid once."""
    signed = _parse_authorization(request, "oauth_token", optional="oauth_verifier")
    token = signed["oauth_token"]
    code = _find_request_token(request, token)
    if code is None:
        raise InvalidRequest("token_invalid", "oauth_token", "Invalid or expired token.")
    _verify_signature(request, signed, derive_token_secret(token))
    parameters = parse_parameters(request, optional={"oauth_verifier": text()})
    verifier = signed.get("oauth_verifier") or parameters.get("oauth_verifier") or ""
    if code.challenge is None or not hmac.compare_digest(verifier.encode(), code.challenge.encode()):
        raise InvalidRequest(
            "signature", "oauth_verifier", "Error processing your OAuth request: Invalid oauth_verifier"
        )
    del request.world.codes[token]
    access = issue_grant(request, LOGIN, code.scopes).access.text
    return _build_form_response(
        oauth_token=access, oauth_token_secret=derive_token_secret(access), user_id=USER_ID, screen_name=SCREEN_NAME
    )


def invalidate_token(request: Request) -> Response:
    """`POST /1.1/oauth/invalidate_token.json`, signed with the token to invalidate."""
    signed = _parse_authorization(request, "oauth_token")
    token = require_access_token(request, signed["oauth_token"])
    _verify_signature(request, signed, derive_token_secret(token.text))
    parse_parameters(request)
    revoke_grant(request, token.text)
    return Response(200, {"access_token": token.text})


def derive_token_secret(token: str) -> str:
    """The secret of a request or access token."""
    return hashlib.sha256(f"the secret of {token}".encode()).hexdigest()[:45]


# -- signatures ---------------------------------------------------------------------------------------------------


def percent_encode(value: str) -> str:
    """RFC 3986: all but `A-Za-z0-9-._~` is percent-encoded."""
    return quote(value, safe="")


def _parse_authorization(request: Request, further: str, optional: str | None = None) -> dict[str, str]:
    """The values of `Authorization: OAuth k="v", ...`: the six of every request, and one further parameter."""
    scheme, _, parameters = request.headers.get("Authorization", "").partition(" ")
    if scheme != "OAuth":
        raise InvalidRequest("token_missing", "Authorization", "This request is not properly authenticated")
    values: dict[str, str] = {}
    for part in parameters.split(","):
        pair = re.fullmatch(r'([a-z_]+)="([^"]*)"', part.strip())
        if pair is None or pair[1] in values or percent_encode(unquote(pair[2])) != pair[2]:
            raise InvalidRequest(
                "signature", "Authorization", "OAuth values are percent-encoded, quoted, and stand once"
            )
        values[pair[1]] = unquote(pair[2])
    if set(values) - {optional} != _REQUIRED_OAUTH_PARAMETERS | {further}:
        raise InvalidRequest(
            "signature", "Authorization", f"takes {', '.join(sorted(_REQUIRED_OAUTH_PARAMETERS | {further}))}"
        )
    return values


def _verify_signature(request: Request, signed: dict[str, str], token_secret: str) -> None:
    """Check the app, method, version, time, signature and nonce of a request. Raises InvalidRequest `signature`."""
    expected = {
        "oauth_consumer_key": request.world.client_id,
        "oauth_signature_method": "HMAC-SHA1",
        "oauth_version": "1.0",
    }
    for name, value in expected.items():
        if signed[name] != value:
            raise InvalidRequest("signature", name, f"{name} is not accepted")
    at = signed["oauth_timestamp"]
    if not re.fullmatch("[0-9]{1,12}", at) or abs(int(at) - request.now.timestamp()) > MAX_CLOCK_SKEW_SECONDS:
        raise InvalidRequest("signature", "oauth_timestamp", "Timestamp out of bounds.")
    if not re.fullmatch(r"[\x21-\x7e]+", signed["oauth_nonce"]):
        raise InvalidRequest("signature", "oauth_nonce", "a nonce is printable ASCII")
    key = f"{percent_encode(CLIENT_SECRET)}&{percent_encode(token_secret)}"
    digest = hmac.new(key.encode(), _build_base_string(request, signed).encode(), hashlib.sha1).digest()
    if not hmac.compare_digest(base64.b64encode(digest), signed["oauth_signature"].encode()):
        raise InvalidRequest("signature", "oauth_signature", "Could not authenticate you.")
    _use_nonce(request, f"nonce {signed.get('oauth_token', '')} {signed['oauth_nonce']}")


def _build_base_string(request: Request, signed: dict[str, str]) -> str:
    pairs = [
        (percent_encode(name), percent_encode(value)) for name, value in signed.items() if name != "oauth_signature"
    ]
    pairs += _iterate_query(request)
    if (
        request.headers.get("Content-Type", "").partition(";")[0].strip().lower() == FORM_MEDIA_TYPE
    ):  # JSON is not signed
        pairs += [(percent_encode(name), percent_encode(value)) for name, value in request.parse_form().items()]
    if len({name for name, _ in pairs}) != len(pairs):
        raise InvalidRequest("signature", "oauth_signature", "no parameter may stand twice")
    address = percent_encode(f"https://{request.host}{request.path}")
    return f"{request.method}&{address}&{percent_encode('&'.join(f'{name}={value}' for name, value in sorted(pairs)))}"


def _iterate_query(request: Request) -> Iterator[tuple[str, str]]:
    """The query as sent. The signature covers RFC 3986 encoding, so a bare comma or colon breaks it."""
    for part in request.raw_query.split("&") if request.raw_query else ():
        name, _, value = part.partition("=")
        if percent_encode(unquote(name)) != name or percent_encode(unquote(value)) != value:
            raise InvalidRequest("signature", "oauth_signature", "Could not authenticate you.")
        yield name, value


def _use_nonce(request: Request, nonce: str) -> None:
    codes = request.world.codes
    while codes and (first := next(iter(codes.items())))[1].expires_at <= request.now:
        del codes[first[0]]
    if nonce in codes:
        raise InvalidRequest("signature", "oauth_nonce", "The nonce was used before.")
    # after twice the allowed clock skew no request with this nonce has a valid timestamp
    until = request.now + timedelta(seconds=2 * MAX_CLOCK_SKEW_SECONDS + 1)
    codes[nonce] = AuthorizationCode(request.world.client_id, "", (), None, until)


# -- the consent page ---------------------------------------------------------------------------------------------


def _parse_consent_query(request: Request) -> tuple[str, AuthorizationCode]:
    optional = {"force_login": check_flag, "screen_name": text()}
    query: dict[str, str] = request.parse_query({"oauth_token": text()}, optional)
    code = _find_request_token(request, query["oauth_token"])
    if code is None or code.challenge is not None:
        raise InvalidRequest("value", "oauth_token", "the request token is unknown, used or over")
    return query["oauth_token"], code


def _find_request_token(request: Request, token: str) -> AuthorizationCode | None:
    """The request token of this text: one with a callback, unlike a nonce, and not expired."""
    code = request.world.codes.get(token)
    return code if code is not None and code.redirect_uri and code.expires_at > request.now else None


def _check_callback(value: str) -> str:
    """A callback that may be registered.

    It has no query, because a variable part would not match the registered one.
    """
    parts = urlsplit(value)
    loopback = parts.hostname in ("127.0.0.1", "localhost", "::1")
    schemes = ("http", "https") if loopback else ("https",)
    if not parts.hostname or parts.query or parts.fragment or parts.scheme not in schemes:
        raise InvalidRequest("value", "oauth_callback", "Callback URL not approved for this client application.")
    return value


def _build_form_response(**values: str) -> Response:
    return Response(200, urlencode(values).encode(), media_type=f"{FORM_MEDIA_TYPE}; charset=utf-8")
