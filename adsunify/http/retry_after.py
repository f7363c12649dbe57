"""The one reader of ``Retry-After`` (RFC 9110, 10.2.3: a number of seconds, or a date) and of dates in headers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_SECONDS = 1e9
"""A longer wait is returned as this: callers turn the seconds into milliseconds and dates."""


def parse_retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the seconds that an answer asks to wait, from 0 to 1e9; None where it asks for nothing readable.

    ``headers``: names in lower case, or a mapping that ignores case. A date is compared with the answer's own ``Date``
    header; without one, with ``now`` (seconds since 1970); without that, it is not readable.
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
    """Return the seconds since 1970 of an HTTP date, None where it is not readable.

    A date without a zone is UTC (RFC 9110, 5.6.7).
    """
    try:
        date: datetime = parsedate_to_datetime(value)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
