"""Seeded changes of every network are applied and undone.

The simulated network then holds what it held before, or the undo is refused and has written nothing. An undo of what
somebody has changed since is refused.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.testing import sandbox
from adsunify.values.network_codes import ExternalNetwork
from tests.outcomes.changes import count_outcomes, list_outcomes

IS_LONG = os.environ.get("ADSUNIFY_OUTCOMES") == "long"
CHANGES = 840 if IS_LONG else 20
"""How many changes of each network are applied: more than 10,000 of all networks in the long form."""
BRIEFS = 45 if IS_LONG else 1
SEED = int(os.environ.get("ADSUNIFY_OUTCOMES_SEED", "16"))
PART = 120
"""How many changes are applied with one set of entities."""


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
def test_an_undo_restores_or_is_refused(network: str) -> None:
    code = ExternalNetwork(network)
    outcomes = []
    for number, count in enumerate([PART] * (CHANGES // PART) + [CHANGES % PART] * bool(CHANGES % PART)):
        with sandbox(code) as networks:
            outcomes += list_outcomes(networks, code, SEED + number, count, BRIEFS)
    for (action, result), times in sorted(count_outcomes(outcomes).items()):
        print(f"{network}, seed {SEED}: {action}: {result}: {times}")
    reasons = Counter(outcome.reason for outcome in outcomes if outcome.result == "not_reversible")
    for reason, times in reasons.most_common():
        print(f"{network}, seed {SEED}: not_reversible: {times}: {reason}")
    assert [str(outcome) for outcome in outcomes if outcome.fault] == []
    assert sum(outcome.result == "undone" for outcome in outcomes) >= CHANGES // 4
    assert any(outcome.result == "moved" for outcome in outcomes)
