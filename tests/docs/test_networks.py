"""The support matrix is current, whole, and says when an interface ends."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.review.capabilities import render_capability_matrix
from tests.cli.running import run
from tests.networks.samples import get_samples

from .sunsets import list_warnings

ROOT = Path(__file__).parents[2]
NETWORKS = [get_adapter(code).network for code in ADAPTER_PACKAGES]


def test_all_combinations_stand() -> None:
    combinations = {
        network.code: sum(len(form.goals) * len(form.periods) for form in network.formats) for network in NETWORKS
    }
    samples = {network.code: get_samples(network.code) for network in NETWORKS}
    assert combinations == {
        code: len(sample.formats) * len(sample.goals) * len(sample.periods) for code, sample in samples.items()
    }


def test_the_command_prints_it() -> None:
    assert run("networks", "--markdown").out == render_capability_matrix()
    assert "snapchat" in run("networks").out
    assert [network["network"] for network in run("networks", "--json").data["networks"]] == list(ADAPTER_PACKAGES)
    assert [network["network"] for network in run("networks", "x", "--json").data["networks"]] == ["x"]
    assert "funding" in run("networks", "x").out


def test_each_network_has_a_sunset() -> None:
    assert [network.code for network in NETWORKS if network.sunset is None] == []
    assert [
        network.code for network in NETWORKS if network.sunset is not None and not network.sunset.basis.endswith(".")
    ] == []


@pytest.mark.parametrize(
    ("today", "words"), [("2027-06-16", None), ("2027-06-17", "in 90 days"), ("2027-09-15", "has passed")]
)
def test_a_sunset_is_announced_90_days_before(today: str, words: str | None) -> None:
    linkedin = get_adapter("linkedin").network
    assert linkedin.sunset is not None and linkedin.sunset.day == date(2027, 9, 15)
    sentences = list(list_warnings([linkedin], date.fromisoformat(today)))
    assert len(sentences) == (words is not None)
    assert words is None or f"the projected sunset 2027-09-15 {words}" in sentences[0]
