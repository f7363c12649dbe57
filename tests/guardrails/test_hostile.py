"""No key raises spending beyond a rule, whatever it writes: counted by what the simulated networks hold.

The short form sends its calls over HTTP. The long one gives the bytes of each body to the service where the server
does, because 100,000 calls over HTTP take hours.
"""

from __future__ import annotations

import random

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES
from tests.markers import exhaustive

from .conftest import MakeStage
from .hostile import Attack
from .hostile_values import CLOCK
from .scale import IS_LONG
from .sending import send_over_http, send_to_service
from .watching import make_rules

NETWORKS = list(ADAPTER_PACKAGES)
CALLS = 100_000 if IS_LONG else 300
ROUND_CALLS = 13
ROUNDS = -(-CALLS // (len(NETWORKS) * ROUND_CALLS))
"""The rounds of each network."""


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("network", NETWORKS)
async def test_no_hostile_call_passes_a_rule(make_stage: MakeStage, network: str) -> None:
    stage = await make_stage(network, "USD", CLOCK)
    send = await send_to_service(stage.server) if IS_LONG else send_over_http(stage.server)
    attack = Attack(stage, send, random.Random(f"hostile {network}"))
    await attack.set_up()
    rules = make_rules(network, stage.account)
    for number in range(ROUNDS):
        rule = rules[(NETWORKS.index(network) + number) % len(rules)]
        await attack.run_round(rule, rule, ROUND_CALLS)
    assert not attack.tally.bypasses, "\n".join(attack.tally.bypasses[:20])
    assert not attack.tally.understated, "\n".join(attack.tally.understated[:20])
    counts = attack.tally.counts
    assert counts["calls"] * len(NETWORKS) >= CALLS
    assert not IS_LONG or (
        counts["raises"] > counts["calls"] // 100 and counts["execute 403"] and counts["prepare 403"]
    )


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("network", [code if code == "meta" else exhaustive(code) for code in NETWORKS])
async def test_plans_show_what_networks_gain(make_stage: MakeStage, network: str) -> None:
    """There is no rule here, so the calls raise spending beyond each, and the comparison with the rules finds it."""
    stage = await make_stage(network, "USD", CLOCK)
    attack = Attack(stage, send_over_http(stage.server), random.Random(f"hostile {network}"))
    await attack.set_up()
    for rule in make_rules(network, stage.account):
        await attack.run_round(None, rule, ROUND_CALLS)
    assert not attack.tally.understated, "\n".join(attack.tally.understated)
    assert attack.tally.counts["raises"]
    assert attack.tally.bypasses or network != "meta"
