"""The exchange of a client secret (a JWT) for an access token."""

import base64
import binascii
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from adsunify.sandbox.checks import choice, integer, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.apple import tables
from adsunify.sandbox.oauth import issue_grant, render_tokens
from adsunify.sandbox.parsing import InvalidRequest, parse_json

_TOKEN_FORM = record(required={"grant_type": text(), "client_id": text(), "client_secret": text(), "scope": text()})
_JWT_HEADER_CHECK = record(required={"alg": choice("ES256"), "kid": choice(tables.KEY_ID)})
_JWT_CLAIMS_CHECK = record(
    required={
        "iss": choice(tables.TEAM_ID),
        "sub": choice(tables.CLIENT_ID),
        "aud": choice(tables.AUDIENCE),
        "iat": integer(0),
        "exp": integer(0),
    }
)
_MAX_CLOCK_SKEW = timedelta(minutes=1)  # how far the client's clock may be ahead (our choice)


def issue_token(request: Request) -> Response:
    """POST /auth/oauth2/token."""
    request.parse_query()
    form = request.parse_form(_TOKEN_FORM)
    if form["grant_type"] != "client_credentials":
        raise InvalidRequest("unsupported_grant_type", "grant_type", "must be client_credentials")
    if form["scope"] != tables.SCOPE:
        raise InvalidRequest("invalid_scope", "scope", f"must be {tables.SCOPE}")
    try:
        choice(tables.CLIENT_ID)(form["client_id"], "client_id")
        _verify_client_secret(form["client_secret"], request.now)
    except InvalidRequest as problem:
        raise InvalidRequest("invalid_client", problem.where, problem.message) from problem
    issued = issue_grant(request, tables.LOGIN, (tables.SCOPE,))
    return Response(200, render_tokens(tables.LOGIN, issued))


def _verify_client_secret(secret: str, now: datetime) -> None:
    """Check header, claims, times and signature of a client secret. Raises InvalidRequest."""
    parts = secret.split(".")
    if len(parts) != 3:
        raise InvalidRequest("value", "client_secret", "must be a JWT")
    header, claims, signature = (_decode_base64url(part) for part in parts)
    _JWT_HEADER_CHECK(parse_json(header), "client_secret/header")
    claim_values: dict[str, Any] = _JWT_CLAIMS_CHECK(parse_json(claims), "client_secret")
    issued, expires = (datetime.fromtimestamp(min(claim_values[name], 10**11), UTC) for name in ("iat", "exp"))
    if issued > now + _MAX_CLOCK_SKEW:
        raise InvalidRequest("value", "client_secret/iat", "must not be in the future")
    if expires <= now:
        raise InvalidRequest("value", "client_secret/exp", "must be in the future")
    if not timedelta(0) < expires - issued < timedelta(days=tables.MAX_SECRET_DAYS):
        raise InvalidRequest("value", "client_secret/exp", f"must be less than {tables.MAX_SECRET_DAYS} days after iat")
    if len(signature) != 64:
        raise InvalidRequest("value", "client_secret", "the signature must be r and s, 64 bytes (JOSE, not DER)")
    key = load_pem_public_key(tables.PUBLIC_KEY)
    assert isinstance(key, ec.EllipticCurvePublicKey)
    der = encode_dss_signature(int.from_bytes(signature[:32]), int.from_bytes(signature[32:]))
    try:
        key.verify(der, f"{parts[0]}.{parts[1]}".encode(), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature as error:
        raise InvalidRequest("value", "client_secret", "the signature is not of this key") from error


def _decode_base64url(part: str) -> bytes:
    """base64url without padding."""
    if "=" in part or "+" in part or "/" in part:
        raise InvalidRequest("value", "client_secret", "must be base64url without padding")
    try:
        return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequest("value", "client_secret", "must be base64url") from error
