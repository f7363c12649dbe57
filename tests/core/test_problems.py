"""How long to wait goes over the wire and comes back."""

from __future__ import annotations

from adsunify.errors import ProviderThrottled
from adsunify.problems import CODES, described, error_from


def test_a_wait_survives_the_wire() -> None:
    asked = ProviderThrottled("The video is being processed.", code="media_processing", retry_after=2.5)
    told = described(asked)
    assert told["retryAfterMs"] == 2500
    assert told["code"] in CODES
    again = error_from(told)
    assert isinstance(again, ProviderThrottled) and again.retry_after == 2.5
