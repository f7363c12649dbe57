"""Sample briefs: a small campaign for each network, from the sample in the adapter's folder."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Any

from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.values.dates import get_midnight, get_timezone
from adsunify.values.exact_json import loads

SAMPLE_FILE = "sample_brief.json"
"""A file in an adapter's folder: the members of a brief other than name, budget and schedule."""
SHARED_MEMBERS: Mapping[str, Any] = {"name": "Garden chairs", "targeting": {}, "creative": {}, "platform": {}}
BUDGETS: Mapping[str, str] = {"daily": "30", "lifetime": "900"}


def load_sample(network: str) -> dict[str, Any]:
    """Return the members of a network's sample brief, without budget and schedule."""
    return {**SHARED_MEMBERS, **loads((files(ADAPTER_PACKAGES[network]) / SAMPLE_FILE).read_bytes())}


def make_brief(network: str, currency: str, timezone: str, now: datetime) -> dict[str, Any]:
    """Make a network's brief for a month from tomorrow: 30 per day, or 900 in total without daily budgets."""
    sample = load_sample(network)
    tables = get_adapter(network).network
    period = "daily" if any("daily" in format_.periods for format_ in tables.formats) else "lifetime"
    start = tomorrow = (now + timedelta(days=1)).replace(microsecond=0)
    if tables.has_whole_days:
        start = get_midnight(tomorrow.astimezone(get_timezone(timezone)).date(), timezone)
    return {
        **sample,
        "budget": {"amount": BUDGETS[period], "currency": currency, "period": period},
        "schedule": {"startAt": _format_instant(start), "endAt": _format_instant(tomorrow + timedelta(days=30))},
    }


def _format_instant(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
