"""Signatures of webhook deliveries: what the service sends, and what a receiver checks. Standard library only.

A delivery carries two headers: ``Service-Event-Id`` (deduplicate on it; a redelivery repeats it) and
``Service-Signature: t=<unix seconds>,v1=<hex>``, where the hex is HMAC-SHA256 under the signing secret over the
timestamp, a dot, the event id, a dot, and the body's bytes. Verify the bytes as received, before anything reads them::

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
_MAX_SIGNATURE_LENGTH = 4096  # characters: room for some fifty signatures
_MAX_EVENT_ID_LENGTH = 200


class WebhookVerificationError(Exception):
    """The delivery is not proven to come from the service: do not act on it."""


def sign(body: bytes, event_id: str, secret: str, timestamp: int) -> str:
    """The ``Service-Signature`` of a delivery sent at ``timestamp`` (unix seconds).

    ``event_id`` has no dot: a dot ends it in the signed bytes. Raises ValueError for one that has, and for an empty
    secret.
    """
    if "." in event_id or not secret:
        raise ValueError("an event id has no dot, and a secret is not empty")
    stamp = str(timestamp)
    return f"t={stamp},v1={digest(secret.encode(), f'{stamp}.{event_id}.'.encode() + body, 'sha256').hex()}"


def verify(
    payload: bytes,
    headers: Mapping[str, str],
    secret: str | Iterable[str],
    now: float | datetime | None = None,
) -> str:
    """Check a delivery and return its event id.

    ``payload`` is the body's bytes as received; names in ``headers`` count in any case. ``secret`` may be several while
    one replaces another, and the header may carry several ``v1``: one match suffices. A timestamp more than 300
    seconds from ``now`` (unix seconds or an aware datetime; default: the clock) is refused on either side.

    Raises WebhookVerificationError, and nothing else, for whatever is missing, malformed, out of time or not signed
    with a secret given.
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
        if not abs(age) <= TOLERANCE_SECONDS:  # this way round nan is refused, too
            raise WebhookVerificationError("the timestamp is more than 5 minutes from now")
        candidates = _split_signatures(rest) if "," in rest else (rest,)
        signed = f"{timestamp}.{event_id}.".encode() + payload
        for key in (secret,) if isinstance(secret, str) else secret:
            if not key:
                raise WebhookVerificationError("a secret is empty")
            expected = "v1=" + digest(key.encode(), signed, "sha256").hex()
            for candidate in candidates:  # those of other schemes are never equal
                if compare_digest(expected, candidate):
                    return event_id
    except (TypeError, ValueError, AttributeError, ArithmeticError) as reason:  # of another type, or not encodable
        raise WebhookVerificationError("a header, a secret or the time given is malformed") from reason
    raise WebhookVerificationError("no signature matches the body and the secret")


def _split_signatures(rest: str) -> list[str]:
    """What follows the timestamp; a second timestamp is none of it."""
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
        raise WebhookVerificationError("the time given has no zone")
    return now.timestamp()
