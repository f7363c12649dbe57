"""Describes the limits of a guardrail in words. ``rule`` is a guardrail as responses show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from adsunify.values.exact_json import Json
from adsunify.values.money import format_decimal, group_digits

PERIODS = (("daily", "a day"), ("lifetime", "in all"))


def describe_limits(rule: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Yield each limit of a rule: its subject and its amounts."""
    currency, window = rule["currency"], rule["perWindow"]
    hours = "" if window is None else f" in {window['hours']} hours"
    for label, limits, more in (
        ("one operation", rule["perOperation"], ""),
        ("all together", window, hours),
        ("approval above", rule["approvalAbove"], ""),
    ):
        parts = (
            []
            if limits is None
            else [
                f"{group_digits(limits[name])} {currency} {words}"
                for name, words in PERIODS
                if limits[name] is not None
            ]
        )
        if parts:
            yield label, " and ".join(parts) + more
    if rule["maxIncreasePercent"] is not None:
        yield "growth in a day", f"{format_decimal(rule['maxIncreasePercent'])} %"
    if rule["maxBid"] is not None:
        yield "highest bid", f"{group_digits(rule['maxBid'])} {currency}"
    if rule["blockedActions"]:
        yield "blocked", ", ".join(rule["blockedActions"])
