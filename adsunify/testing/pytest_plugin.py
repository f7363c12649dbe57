"""The fixtures ``ads_sandbox`` and ``ads``.

pytest loads this module by its entry point. The module imports the kit only when a test uses a fixture.
The ini option ``ads_networks`` names the networks whose accounts are connected, separated by blanks; all by default.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from adsunify import Ads

    from .networks import SimulatedNetworks


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ini option ``ads_networks``."""
    parser.addini("ads_networks", "Codes of the networks that ads_sandbox and ads connect (default: all).", "args", [])


@pytest.fixture(scope="session")
def _ads_sandbox_of_session(request: pytest.FixtureRequest) -> Iterator[SimulatedNetworks]:
    from adsunify.testing import sandbox

    with sandbox(*request.config.getini("ads_networks")) as networks:
        yield networks


@pytest.fixture
def ads_sandbox(_ads_sandbox_of_session: SimulatedNetworks) -> Iterator[SimulatedNetworks]:
    """Simulated networks in their start state. The test fails if a fault that it requested did not happen."""
    networks = _ads_sandbox_of_session
    networks.reset()
    yield networks
    if unused := networks.describe_unused_faults():
        pytest.fail(unused, pytrace=False)


@pytest.fixture
def ads(ads_sandbox: SimulatedNetworks) -> Iterator[Ads]:
    """An open client of a new temporary store that is connected to the networks of ``ads_sandbox``."""
    with ads_sandbox.client() as client:
        yield client
