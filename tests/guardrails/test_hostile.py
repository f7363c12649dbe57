"""No key raises spending beyond a rule, whatever it writes: counted by what the simulated networks hold.

The short form sends its calls over HTTP. The long one gives the bytes of each body to the service where the server
does, because 100,000 calls over HTTP take hours.
"""

from __future__ import annotations

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES
from tests.markers import exhaustive

from .conftest import MakeStage
from .hostile import Attack
from .hostile_values import CLOCK
from .scale import IS_LONG
from .watching import make_rules

NETWORKS = list(ADAPTER_PACKAGES)
ORDINARY = ("meta", "google", "x", "outbrain")
"""The networks of the ordinary run: budgets of ad groups, of campaigns, above the ends, and apart from campaigns."""
CALLS = -(-100_000 // len(NETWORKS)) if IS_LONG else 300 // len(ORDINARY)
"""The calls against each network."""
ROUND_CALLS = 13
ROUNDS = -(-CALLS // ROUND_CALLS)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("network", [code if code in ORDINARY else exhaustive(code) for code in NETWORKS])
async def test_no_hostile_call_passes_a_rule(make_stage: MakeStage, network: str) -> None:
    stage = await make_stage(network, "USD", CLOCK)
    attack = await Attack.begin(stage, f"hostile {network}", over_http=not IS_LONG)
    rules = make_rules(network, stage.account, attack.key_id)
    for number in range(ROUNDS):
        rule = rules[(NETWORKS.index(network) + number) % len(rules)]
        await attack.run_round(rule, rule, ROUND_CALLS)
    assert not attack.tally.bypasses, "\n".join(attack.tally.bypasses[:20])
    assert not attack.tally.understated, "\n".join(attack.tally.understated[:20])
    counts = attack.tally.counts
    assert counts["calls"] >= CALLS
    assert not IS_LONG or (
        counts["raises"] > counts["calls"] // 100 and counts["execute 403"] and counts["prepare 403"]
    )


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("network", [code if code == "meta" else exhaustive(code) for code in NETWORKS])
async def test_plans_show_what_networks_gain(make_stage: MakeStage, network: str) -> None:
    """There is no rule here, so the calls raise spending beyond each, and the comparison with the rules finds it."""
    stage = await make_stage(network, "USD", CLOCK)
    attack = await Attack.begin(stage, f"hostile {network}", over_http=True)
    for rule in make_rules(network, stage.account, attack.key_id):
        await attack.run_round(None, rule, ROUND_CALLS)
    assert not attack.tally.understated, "\n".join(attack.tally.understated)
    assert attack.tally.counts["raises"]
    assert attack.tally.bypasses or network != "meta"


@pytest.mark.asyncio(loop_scope="module")
async def test_a_percentage_bounds_an_amount_beyond_64_bits(make_stage: MakeStage) -> None:
    stage = await make_stage("reddit", "USD", CLOCK)
    attack = await Attack.begin(stage, "64 bits", over_http=True)
    (rule,) = [
        candidate.body
        for candidate in make_rules("reddit", stage.account, attack.key_id)
        if len(candidate.body) == 4 and candidate.factor
    ]
    created = await stage.server.admin.post("/guardrails", rule, 201)
    answer = await stage.send({"update": "paused.adGroup", "payload": {"goal_value": 2**63}})
    await stage.server.admin.delete(f"/guardrails/{created['id']}")
    assert (answer.status_code, answer.json()["code"]) == (403, "guardrail_exceeded")
