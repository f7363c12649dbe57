"""The client secret of Apple's token endpoint: a JWT signed ES256, made without clock or randomness."""

from __future__ import annotations

import base64

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from adsunify.errors import refused
from adsunify.wire import Json, dumps

AUDIENCE = "https://appleid.apple.com"
LIFETIME = 5 * 60
"""Seconds. Apple takes less than 180 days; each secret serves one request."""
_HALF = 32  # bytes of each of the two numbers of a P-256 signature


def private_key(pem: str) -> ec.EllipticCurvePrivateKey:
    """The key of a PEM text, ``BEGIN EC PRIVATE KEY`` or ``BEGIN PRIVATE KEY``.

    Raises InvalidInput at ``privateKey`` for what is no unencrypted EC P-256 key; nothing of it is told.
    """
    try:
        found = serialization.load_pem_private_key(pem.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):  # no PEM; encrypted; a curve that nobody knows
        found = None
    if not isinstance(found, ec.EllipticCurvePrivateKey) or not isinstance(found.curve, ec.SECP256R1):
        raise refused("privateKey", "malformed", "must be an EC P-256 private key in PEM form, without a password.")
    return found


def client_secret(client_id: str, team_id: str, key_id: str, pem: str, now: int) -> str:
    """The signed secret. ``now``: milliseconds. Raises InvalidInput as :func:`private_key`.

    The signature's own random number follows from key and text (RFC 6979): equal input, equal secret.
    """
    issued = now // 1000
    header = {"alg": "ES256", "kid": key_id}
    claims = {"iss": team_id, "sub": client_id, "aud": AUDIENCE, "iat": issued, "exp": issued + LIFETIME}
    signed = f"{_part(header)}.{_part(claims)}"
    algorithm = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)
    # JOSE takes the two numbers as they are, one after the other, not the DER that cryptography makes.
    numbers = decode_dss_signature(private_key(pem).sign(signed.encode("ascii"), algorithm))
    return f"{signed}.{_text(b''.join(number.to_bytes(_HALF, 'big') for number in numbers))}"


def _part(value: Json) -> str:
    return _text(dumps(value).encode())


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")
