"""The loops that the mapping of reports is measured against come to the adapters' figures."""

from __future__ import annotations

import pytest

from adsunify.adapter.insights import sum_by_day
from adsunify.networks.registry import ADAPTER_PACKAGES

from .loops import load_loop, rows
from .reporting import MAPPINGS


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_a_loop_comes_to_the_figures_of_the_adapter(network: str) -> None:
    native = list(rows(network, 400))
    figures = sum_by_day(MAPPINGS[network](native))
    assert figures and figures == sum_by_day(load_loop(network).parse_days(native))
