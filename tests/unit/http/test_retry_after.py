"""``Retry-After``: a number of seconds or a date, and nothing else."""

from __future__ import annotations

import time
from email.utils import formatdate

import httpx
import pytest

from adsunify.adapter.error_rules import read_retry_delay
from adsunify.http.messages import Response
from adsunify.http.retry_after import MAX_SECONDS, parse_retry_after
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter

NOW = 784111777.0
"""Sun, 06 Nov 1994 08:49:37 GMT."""


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        (" 120 ", 120),
        (formatdate(NOW + 120, usegmt=True), 120),
        (formatdate(NOW - 120, usegmt=True), 0),
        ("9" * 5_000, MAX_SECONDS),
        ("Fri, 31 Dec 9999 23:59:59 GMT", MAX_SECONDS),
        *((text, None) for text in ("", "soon", "-5", "1e3", "1.5", "٣", "Thu, 99 Foo 2026 00:00:00 GMT")),
    ],
)
def test_a_number_or_a_date_is_read(value: str, seconds: float | None) -> None:
    assert parse_retry_after({"retry-after": value}, NOW) == seconds


def test_a_date_counts_from_the_date_of_the_answer() -> None:
    """The two come from one clock; ours may be wrong."""
    headers = httpx.Headers({"Retry-After": formatdate(NOW + 60, usegmt=True), "Date": formatdate(NOW, usegmt=True)})
    assert parse_retry_after(headers) == parse_retry_after(headers, NOW + 1_000) == 60
    assert parse_retry_after({"retry-after": headers["retry-after"]}) is None
    assert parse_retry_after({}, NOW) is None


def test_a_date_without_a_zone_is_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert parse_retry_after({"retry-after": "Sun Nov  6 08:49:37 1994"}, NOW - 60) == 60
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_an_unreadable_header_counts_as_none_on_every_network(network: str) -> None:
    def read(headers: dict[str, str]) -> float | None:
        return read_retry_delay(get_adapter(network).network, Response(429, headers, {}))

    assert read({"retry-after": "soon"}) == read({})
