"""Parses ``Retry-After`` (RFC 9110, 10.2.3: a number of seconds, or a date) and other dates in headers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_SECONDS = 1e9
"""The longest wait that is returned. Callers convert it to milliseconds and dates, which must not overflow."""


def parse_retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the seconds that a response asks to wait, from 0 to 1e9; None if there is no readable ``Retry-After``.

    Args:
        headers: names in lower case, or a mapping that ignores case.
        now: seconds since 1970. A date in ``Retry-After`` is compared with the ``Date`` header of the response, or with
            ``now`` if the response has no ``Date``. If both are missing, the date is not readable.
    """
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return min(float(value), MAX_SECONDS)
    until = parse_http_date(value)
    sent_at = parse_http_date(headers.get("date", ""))
    if sent_at is None:
        sent_at = now
    if until is None or sent_at is None:
        return None
    return min(max(0.0, until - sent_at), MAX_SECONDS)


def parse_http_date(value: str) -> float | None:
    """Return the seconds since 1970 of an HTTP date; None if it is not readable.

    A date without a zone is UTC (RFC 9110, 5.6.7).
    """
    try:
        date: datetime = parsedate_to_datetime(value)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
