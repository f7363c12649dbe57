"""Seeded changes of every network are applied and undone.

The simulated network then holds what it held before, or the undo is refused and has written nothing. An undo of what
somebody has changed since is refused.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from adsunify.errors import ProviderNotFound
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.testing import sandbox
from adsunify.values.network_codes import ExternalNetwork
from tests.databases import ENGINES
from tests.outcomes.changes import count_outcomes, get_resource, list_outcomes
from tests.outcomes.engines import open_client
from tests.outcomes.matrix import get_network, list_briefs, load_brief

from . import IS_LONG

CHANGES = 840 if IS_LONG else 10
"""How many changes of each network are applied: in the long form more than 10,000 of all networks on each engine."""
BRIEFS = 45 if IS_LONG else 1
SEED = int(os.environ.get("ADSUNIFY_OUTCOMES_SEED", "16"))
RESULTS = ("undone", "moved", "not_reversible", "not applied")
"""What comes of a change, unless the network refuses the undo when it is executed."""
PART = 120
"""How many changes are applied with one set of entities."""


CASES = [
    (engine, network)
    for n, network in enumerate(ADAPTER_PACKAGES)
    for engine in (ENGINES if IS_LONG else ENGINES[n % 2 :][:1])
]
"""The engines and networks of the changes: in the short form one engine for each network."""


@pytest.mark.parametrize(("engine", "network"), CASES)
def test_an_undo_restores_or_is_refused(network: str, migrated_database: str) -> None:
    code = ExternalNetwork(network)
    outcomes = []
    for number, count in enumerate([PART] * (CHANGES // PART) + [CHANGES % PART] * bool(CHANGES % PART)):
        with sandbox(code) as networks, open_client(networks, migrated_database) as ads:
            outcomes += list_outcomes(networks, ads, code, SEED + number, count, BRIEFS)
    for (action, result), times in sorted(count_outcomes(outcomes).items()):
        print(f"{network}, seed {SEED}: {action}: {result}: {times}")
    reasons = Counter(outcome.reason for outcome in outcomes if outcome.result == "not_reversible")
    for reason, times in reasons.most_common():
        print(f"{network}, seed {SEED}: not_reversible: {times}: {reason}")
    assert [str(outcome) for outcome in outcomes if outcome.fault] == []
    assert sum(outcome.result == "undone" for outcome in outcomes) >= CHANGES // 4
    assert any(outcome.result == "moved" for outcome in outcomes)
    refused = [outcome for outcome in outcomes if outcome.result not in RESULTS]
    assert len(refused) <= max(1, CHANGES // 50), f"the network refuses undos: {[*map(str, refused)]}"


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", list_briefs(True), ids=lambda path: path.stem)
def test_an_undone_creation_leaves_nothing_that_can_spend(path: Path, migrated_database: str) -> None:
    """The campaign is gone or archived, and nothing below it is active that was not before."""
    with sandbox(get_network(path)) as networks, open_client(networks, migrated_database) as ads:
        account = networks.account(get_network(path))
        done = ads.operations.run(ads.campaigns.create(account, load_brief(path, account)), confirmed=True)
        ads.operations.run(ads.operations.undo(done.id), confirmed=True)
        statuses = {}
        for entity in done.created:
            try:
                statuses[entity.kind] = get_resource(ads, entity.kind).get(account, entity.entity_id).status
            except ProviderNotFound:
                statuses[entity.kind] = None
    assert statuses["campaign"] in (None, "deleted", "archived"), statuses
    assert "active" not in statuses.values()
