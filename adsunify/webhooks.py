"""Signs webhook deliveries for the service and verifies them for receivers. It needs the standard library only.

A delivery has two headers. ``Service-Event-Id`` identifies the event; a redelivery has the same id, so receivers can
deduplicate by it. ``Service-Signature: t=<unix seconds>,v1=<hex>`` holds the signature: HMAC-SHA256, keyed with the
signing secret, over the timestamp, a dot, the event id, a dot, and the bytes of the body. Verify the bytes as received,
before the body is parsed::

    event_id = adsunify.webhooks.verify(body, headers, secret)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from hmac import compare_digest, digest
from time import time

EVENT_ID_HEADER = "Service-Event-Id"
SIGNATURE_HEADER = "Service-Signature"
TOLERANCE_SECONDS = 300

_MALFORMED_MESSAGE = f"{SIGNATURE_HEADER} is malformed; it reads t=<unix seconds>,v1=<hex>"
_MAX_SIGNATURE_LENGTH = 4096  # characters: about fifty signatures
_MAX_EVENT_ID_LENGTH = 200


class WebhookVerificationError(Exception):
    """The delivery does not prove that it comes from the service. The receiver must not act on it."""


def sign(body: bytes, event_id: str, secret: str, timestamp: int) -> str:
    """Return the ``Service-Signature`` header of a delivery.

    Args:
        body: the bytes of the body.
        event_id: the event's id. It must not contain a dot, because a dot ends it in the signed bytes.
        secret: the signing secret of the webhook.
        timestamp: when the delivery is sent, in unix seconds.

    Raises:
        ValueError: ``event_id`` contains a dot, or ``secret`` is empty.
    """
    if "." in event_id or not secret:
        raise ValueError("The event id contains a dot, or the secret is empty.")
    stamp = str(timestamp)
    return f"t={stamp},v1={digest(secret.encode(), f'{stamp}.{event_id}.'.encode() + body, 'sha256').hex()}"


def verify(
    payload: bytes,
    headers: Mapping[str, str],
    secret: str | Iterable[str],
    now: float | datetime | None = None,
) -> str:
    """Verify a delivery and return its event id.

    The header may contain several ``v1`` signatures. One match with one secret suffices.

    Args:
        payload: the bytes of the body, as received.
        headers: the headers of the request; the case of their names is ignored.
        secret: the signing secret, or several secrets while a new one replaces an old one.
        now: the present, in unix seconds or as a datetime with a zone; None means the clock. A timestamp more than 300
            seconds before or after this time is refused.

    Raises:
        WebhookVerificationError: a part of the delivery is missing, malformed, too old or too new, or no secret matches
            the signature. The function raises no other exception.
    """
    if not isinstance(payload, bytes):
        raise WebhookVerificationError("the payload must be the body's bytes, as received")
    try:
        event_id = headers.get(EVENT_ID_HEADER) or _require_header(headers, EVENT_ID_HEADER)
        signature = headers.get(SIGNATURE_HEADER) or _require_header(headers, SIGNATURE_HEADER)
        if not isinstance(event_id, str) or "." in event_id or len(event_id) > _MAX_EVENT_ID_LENGTH:
            raise WebhookVerificationError(f"{EVENT_ID_HEADER} is malformed")
        first, _, rest = signature.partition(",")
        name, _, timestamp = first.partition("=")
        if name != "t" or not timestamp.isdigit():
            raise WebhookVerificationError(_MALFORMED_MESSAGE)
        age = (time() if now is None else _to_unix_seconds(now)) - int(timestamp)
        if not abs(age) <= TOLERANCE_SECONDS:  # "not <=" also refuses NaN
            raise WebhookVerificationError("the timestamp is more than 5 minutes from now")
        candidates = _split_signatures(rest) if "," in rest else (rest,)
        signed = f"{timestamp}.{event_id}.".encode() + payload
        for key in (secret,) if isinstance(secret, str) else secret:
            if not key:
                raise WebhookVerificationError("a secret is empty")
            expected = "v1=" + digest(key.encode(), signed, "sha256").hex()
            for candidate in candidates:  # signatures of other schemes never match
                if compare_digest(expected, candidate):
                    return event_id
    except (
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
    ) as reason:  # a wrong type, or text that cannot be encoded
        raise WebhookVerificationError("a header, a secret or the time given is malformed") from reason
    raise WebhookVerificationError("no signature matches the body and the secret")


def _split_signatures(rest: str) -> list[str]:
    """Split the part after the timestamp into signatures. A second timestamp is refused."""
    if len(rest) > _MAX_SIGNATURE_LENGTH or ",t=" in f",{rest}":
        raise WebhookVerificationError(_MALFORMED_MESSAGE)
    return rest.split(",")


def _require_header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if value is None:
        lower = name.lower()
        value = headers.get(lower)
        if value is None:
            value = next((text for key, text in headers.items() if key.lower() == lower), None)
    if not value:
        raise WebhookVerificationError(f"{name} is missing")
    return value


def _to_unix_seconds(now: float | datetime) -> float:
    if not isinstance(now, datetime):
        return now
    if now.tzinfo is None:
        raise WebhookVerificationError("now is a datetime without a time zone")
    return now.timestamp()
