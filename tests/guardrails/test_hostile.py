"""No hostile call gains more than its plan shows: counted by what the simulated networks hold before and after."""

from __future__ import annotations

import random

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES
from tests.markers import exhaustive

from .conftest import MakeStage
from .hostile import CLOCK, Attack, make_rules, send_over_http

ORDINARY = ("meta", "google", "x")
ROUND_CALLS = 13
networks = pytest.mark.parametrize(
    "network", [code if code in ORDINARY else exhaustive(code) for code in ADAPTER_PACKAGES]
)


@pytest.mark.asyncio(loop_scope="module")
@networks
async def test_plans_show_what_networks_gain(make_stage: MakeStage, network: str) -> None:
    """There is no rule here, so the calls raise spending beyond each, and the comparison with the rules finds it."""
    stage = await make_stage(network, "USD", CLOCK)
    attack = Attack(stage, send_over_http(stage.server), random.Random(f"hostile {network}"))
    await attack.set_up()
    for rule in make_rules(network, stage.account):
        await attack.run_round(None, rule, ROUND_CALLS)
    assert not attack.tally.understated, "\n".join(attack.tally.understated)
    assert attack.tally.counts["raises"]
    assert attack.tally.bypasses or network not in ORDINARY
