"""The support matrix is current, whole, and says when an interface ends."""

from __future__ import annotations

import warnings
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from adsunify.adapter.network import Network
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.review.capabilities import render_capability_matrix
from tests.cli.running import run
from tests.networks.samples import get_samples

ROOT = Path(__file__).parents[2]
AHEAD = timedelta(days=60)
NETWORKS = [get_adapter(code).network for code in ADAPTER_PACKAGES]


def test_all_combinations_stand() -> None:
    found = {one.code: sum(len(form.goals) * len(form.periods) for form in one.formats) for one in NETWORKS}
    samples = {one.code: get_samples(one.code) for one in NETWORKS}
    assert found == {code: len(one.formats) * len(one.goals) * len(one.periods) for code, one in samples.items()}


def test_the_command_prints_it() -> None:
    assert run("networks", "--markdown").out == render_capability_matrix()
    assert "snapchat" in run("networks").out
    assert [one["network"] for one in run("networks", "--json").data["networks"]] == list(ADAPTER_PACKAGES)
    assert [one["network"] for one in run("networks", "x", "--json").data["networks"]] == ["x"]
    assert "funding" in run("networks", "x").out


def ending(networks: list[Network], today: date) -> list[str]:
    """The networks whose interface ends within 60 days, or has ended."""
    return [one.code for one in networks if one.sunset is not None and one.sunset - today <= AHEAD]


def test_an_interface_that_ends_soon_is_told_of() -> None:
    today = datetime.now(UTC).date()
    ended = [one.code for one in NETWORKS if one.sunset is not None and one.sunset <= today]
    assert not ended, "these interfaces answer no longer"
    if soon := ending(NETWORKS, today):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.warn(f"these interfaces end within 60 days: {', '.join(soon)}", stacklevel=1)


@pytest.mark.parametrize(("today", "told"), [("2027-07-16", False), ("2027-07-17", True), ("2027-09-20", True)])
def test_sixty_days_ahead(today: str, told: bool) -> None:
    linkedin = get_adapter("linkedin").network
    assert linkedin.sunset == date(2027, 9, 15)
    assert (ending([linkedin], date.fromisoformat(today)) == ["linkedin"]) is told
