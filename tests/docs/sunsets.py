"""Lists the networks that end the used version of their API within 90 days: ``python -m tests.docs.sunsets``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta

from adsunify.adapter.network import Network
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter

WARNING_PERIOD = timedelta(days=90)


def list_warnings(networks: Iterable[Network], today: date) -> Iterator[str]:
    """Yield a sentence for each network whose sunset is at most 90 days ahead, or has passed."""
    for network in networks:
        sunset = network.sunset
        if sunset is None or sunset.day - today > WARNING_PERIOD:
            continue
        kind = "projected" if sunset.is_projected else "announced"
        days = (sunset.day - today).days
        when = f"in {days} days" if days > 0 else "has passed"
        yield f"{network.code} {network.version}: the {kind} sunset {sunset.day} {when}. {sunset.basis}"


def main() -> int:
    """Print the warnings; returns 1 if there is one."""
    networks = [get_adapter(code).network for code in ADAPTER_PACKAGES]
    warnings = list(list_warnings(networks, datetime.now(UTC).date()))
    for sentence in warnings:
        print(f"WARNING: {sentence}")
    if not warnings:
        print(f"No network has a sunset within {WARNING_PERIOD.days} days.")
    return 1 if warnings else 0


if __name__ == "__main__":
    sys.exit(main())
