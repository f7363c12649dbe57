"""Signatures of webhook deliveries: what the service sends, and what a receiver checks. Standard library only.

A delivery carries two headers: ``Service-Event-Id`` (deduplicate on it; a redelivery repeats it) and
``Service-Signature: t=<unix seconds>,v1=<hex>``, where the hex is HMAC-SHA256 under the signing secret over the
timestamp, a dot, the event id, a dot, and the body's bytes. Verify the bytes as received, before anything reads them::

    event_id = adsunify.webhooks.verify(body, headers, secret)
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from hmac import compare_digest, digest

EVENT_ID = "Service-Event-Id"
SIGNATURE = "Service-Signature"
TOLERANCE_SECONDS = 300

_LONGEST_SIGNATURE = 4096  # characters: room for some fifty signatures
_LONGEST_EVENT_ID = 200
_LONGEST_TIMESTAMP = 12


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
        event_id, signature = _header(headers, EVENT_ID), _header(headers, SIGNATURE)
        timestamp, given = _parts(signature)
        clock = time.time() if now is None else _seconds(now)
        if not -TOLERANCE_SECONDS <= clock - int(timestamp) <= TOLERANCE_SECONDS:
            raise WebhookVerificationError("the timestamp is more than 5 minutes from now")
        if "." in event_id or not 0 < len(event_id) <= _LONGEST_EVENT_ID:
            raise WebhookVerificationError(f"{EVENT_ID} is malformed")
        signed = f"{timestamp}.{event_id}.".encode() + payload
        for key in (secret,) if isinstance(secret, str) else secret:
            if not key:
                raise WebhookVerificationError("a secret is empty")
            expected = digest(key.encode(), signed, "sha256").hex()
            for one in given:
                if compare_digest(expected, one):
                    return event_id
    except (TypeError, ValueError, AttributeError, ArithmeticError) as reason:  # of another type, or not encodable
        raise WebhookVerificationError("a header, a secret or the time given is malformed") from reason
    raise WebhookVerificationError("no signature matches the body and the secret")


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if value is None:
        lower = name.lower()
        value = headers.get(lower)
        if value is None:
            value = next((text for key, text in headers.items() if key.lower() == lower), None)
    if not isinstance(value, str):
        raise WebhookVerificationError(f"{name} is missing")
    return value


def _parts(signature: str) -> tuple[str, list[str]]:
    """The timestamp, and every ``v1``; parts of other schemes are left alone."""
    timestamp = ""
    given = []
    if len(signature) <= _LONGEST_SIGNATURE and signature.isascii():
        for part in signature.split(","):
            scheme, _, value = part.partition("=")
            if scheme == "v1":
                given.append(value)
            elif scheme == "t":
                timestamp = value if not timestamp else "twice"
    if not timestamp.isdigit() or len(timestamp) > _LONGEST_TIMESTAMP or not given:
        raise WebhookVerificationError(f"{SIGNATURE} is malformed; it reads t=<unix seconds>,v1=<hex>")
    return timestamp, given


def _seconds(now: float | datetime) -> float:
    if not isinstance(now, datetime):
        return now
    if now.tzinfo is None:
        raise WebhookVerificationError("the time given has no zone")
    return now.timestamp()
