"""No key raises spending beyond a rule, whatever it writes: counted by what the simulated networks hold."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES
from tests.server.served import connect, served
from tests.system.conformance.serving import UNLIMITED

from .acting import Stage, set_clock
from .conftest import MakeStage
from .hostile import CLOCK, Attack, make_rules, send_over_http, send_to_service

networks = pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
ROUND_CALLS = 13
CALLS = 100_000
"""The calls of the long run, shared by the networks."""


@pytest.mark.asyncio(loop_scope="module")
@networks
async def test_no_hostile_call_passes_a_rule(make_stage: MakeStage, network: str) -> None:
    """Over HTTP: two rounds for each network, in turn under each of the rules."""
    stage = await make_stage(network, "USD", CLOCK)
    attack = Attack(stage, send_over_http(stage.server), random.Random(f"hostile {network}"))
    await attack.set_up()
    rules = make_rules(network, stage.account)
    for number in range(2):
        rule = rules[(list(ADAPTER_PACKAGES).index(network) * 2 + number) % len(rules)]
        await attack.run_round(rule, rule, ROUND_CALLS)
    assert not attack.tally.bypasses, "\n".join(attack.tally.bypasses)
    assert attack.tally.counts["calls"] == 2 * ROUND_CALLS


@pytest.mark.asyncio(loop_scope="module")
async def test_the_same_calls_pass_where_there_is_no_rule(make_stage: MakeStage) -> None:
    """The calls raise spending, and the comparison finds it."""
    stage = await make_stage("meta", "USD", CLOCK)
    attack = Attack(stage, send_over_http(stage.server), random.Random("hostile meta"))
    await attack.set_up()
    for rule in make_rules("meta", stage.account):
        bypasses = len(attack.tally.bypasses)
        await attack.run_round(None, rule, 2 * ROUND_CALLS)
        assert len(attack.tally.bypasses) > bypasses
    assert attack.tally.counts["raises"]


@pytest.mark.exhaustive
@pytest.mark.timeout(3600)
@networks
async def test_no_hostile_call_passes_a_rule_in_the_long_run(tmp_path: Path, network: str) -> None:
    """Without HTTP between the key and the service: the bytes of each body go where the server gives them."""
    calls = CALLS // len(ADAPTER_PACKAGES) + 1
    async with served(f"sqlite:///{tmp_path / 'hostile.db'}", UNLIMITED) as server:
        set_clock(server, CLOCK)
        stage = Stage(server, network, await connect(server, network))
        attack = Attack(stage, await send_to_service(server), random.Random(f"long {network}"))
        await attack.set_up()
        rules = make_rules(network, stage.account)
        for number in range(-(-calls // ROUND_CALLS)):
            rule = rules[number % len(rules)]
            await attack.run_round(rule, rule, ROUND_CALLS)
    print(network, dict(sorted(attack.tally.counts.items())))
    assert not attack.tally.bypasses, "\n".join(attack.tally.bypasses[:20])
    assert attack.tally.counts["calls"] >= calls and attack.tally.counts["raises"] > calls // 100
